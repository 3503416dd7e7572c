//! TensorFlow's examples to records, whole and in part, under every policy.

use crate::outcomes::Outcomes;
use extenso_formats::proto::{Example, ExampleOptions, Messages};
use extenso_formats::{FieldSpec as F, OnError, read_examples, struct_spec};
use extenso_types::{DType, Path, Spec};
use std::sync::LazyLock;

pub const DICTIONARY: &[&[u8]] = &[
    b"\x0a\x0c\x0a\x01a\x12\x07\x1a\x05\x0a\x03\x01\x02\x03",
    b"\x0a\x01a",
    b"\x12\x04\x12\x02\x0a\x00",
    b"\x1a\x02\x08\x07",
    b"context",
];

static SPECS: LazyLock<[(Example, Spec); 2]> = LazyLock::new(|| {
    let scalar = |dtype| F::Scalar(dtype, vec![]);
    let list = |item| F::List(Box::new(item));
    let features = || {
        vec![
            ("a", list(scalar(DType::I16))),
            ("b", F::Optional(Box::new(F::Scalar(DType::F64, vec![2])))),
            ("c", F::Optional(Box::new(list(scalar(DType::String))))),
        ]
    };
    let steps = features().into_iter().map(|(name, feature)| (name, list(feature))).collect();
    let sequence = [("context", F::Record(features())), ("feature_lists", F::Record(steps))];
    let plain = struct_spec(features()).expect("a record");
    [(Example::Plain, plain), (Example::Sequence, struct_spec(sequence).expect("a record"))]
});

pub fn corpus() -> Vec<Vec<u8>> {
    let plain: &[u8] = b"\x0a\x2e\x0a\x0c\x0a\x01a\x12\x07\x1a\x05\x0a\x03\x01\x02\x03\x0a\x11\x0a\x01b\x12\x0c\x12\x0a\x0a\x08\0\0\x80\x3f\0\0\0\x40\
        \x0a\x0b\x0a\x01c\x12\x06\x0a\x04\x0a\x02\xc3\x9f";
    let steps: &[u8] =
        b"\x12\x19\x0a\x17\x0a\x01a\x12\x12\x0a\x07\x1a\x05\x0a\x03\x01\x02\x03\x0a\x07\x1a\x05\x0a\x03\x01\x02\x03";
    vec![plain.to_vec(), steps.to_vec(), [plain, steps].concat(), Vec::new()]
}

pub fn run(bytes: &[u8], outcomes: &mut Outcomes) {
    let each = [bytes, b"", bytes];
    for (example, spec) in SPECS.iter() {
        for on_error in [OnError::Raise, OnError::Skip, OnError::Default] {
            let read = |paths: Option<Vec<Path>>| {
                let options = ExampleOptions { spec: spec.clone(), paths, example: *example, on_error };
                read_examples(Messages::Each(&each), &options)
            };
            let Some(rows) = outcomes.of("examples", read(None)) else { continue };
            outcomes.value("examples", rows.bad.count());
            for bad in rows.bad.first {
                outcomes.of::<()>("row", Err(bad.error));
            }
            for part in ["a", "c", "context.b", "feature_lists.a"] {
                outcomes.of("part", read(Some(vec![part.parse().expect("a path")])));
            }
        }
    }
}
