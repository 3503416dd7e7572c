//! Functions over records that need a part of them: what is needed comes out as when all is decoded, under every policy.

use crate::outcomes::Outcomes;
use extenso_core::ExtensionType;
use extenso_ext::StructTensor;
use extenso_formats::{FieldSpec as F, OnError, Runner, encode_ndjson, run_lines, struct_spec};
use extenso_graph::{Concrete, Function};
use extenso_types::{DType, Nest, Result};
use std::sync::{Arc, LazyLock};

/// A function that needs some fields, and one that needs all; both give those fields.
static FUNCTIONS: LazyLock<Vec<Arc<Concrete>>> = LazyLock::new(|| {
    let scalar = |dtype| F::Scalar(dtype, vec![]);
    let item = F::Record(vec![("price", scalar(DType::F32)), ("sku", scalar(DType::String))]);
    let spec = struct_spec([
        ("id", scalar(DType::I64)),
        ("items", F::List(Box::new(item))),
        ("name", F::Optional(Box::new(scalar(DType::String)))),
        ("flags", F::Scalar(DType::Bool, vec![2])),
    ]);
    let spec = Nest::Leaf(spec.expect("a record"));
    let fields: [&[&str]; 3] = [&["id"], &["name", "items"], &["id", "items", "name", "flags"]];
    let made = fields.iter().map(|names| {
        let names = *names;
        let f = Function::new("part", move |records| {
            let records = StructTensor::from_value(records.leaves()[0].1)?;
            let parts: Result<Vec<_>> =
                names.iter().map(|name| Ok((*name, Nest::Leaf(records.field(name)?.clone())))).collect();
            Ok(Nest::dict(parts?))
        });
        f.concrete(&spec).expect("traces")
    });
    made.collect()
});

pub fn corpus() -> Vec<Vec<u8>> {
    let rows = [
        r#"{"id": 1, "items": [{"price": 0.5, "sku": "a"}, {"price": 2, "sku": ""}], "name": "ß", "flags": [true, false]}"#,
        r#"{"flags": [false, false], "name": null, "items": [], "id": -9223372036854775808}"#,
        r#"{"id": 3, "items": [], "flags": [true, true], "more": {"deep": [[{"x": "\u00e9"}]]}}"#,
        r#"{"id": "bad", "items": [], "name": "", "flags": [true]}"#,
    ];
    let lines = |rows: &[&str], end: &str| rows.join(end).into_bytes();
    vec![
        lines(&rows[..2], "\n"),
        lines(&rows, "\r\n"),
        lines(&rows[2..], "\n\n"),
        format!("[{}]", rows[..3].join(", ")).into_bytes(),
        rows[0].as_bytes().to_vec(),
    ]
}

pub fn run(bytes: &[u8], outcomes: &mut Outcomes) {
    for policy in [OnError::Raise, OnError::Skip, OnError::Default] {
        for function in FUNCTIONS.iter() {
            let mut runner = Runner::new(function).expect("records express it");
            let Some(rows) = outcomes.of("run", runner.run(bytes, policy)) else { continue };
            let text = encode_ndjson(&rows.value).expect("what was read can be written");
            for bad in rows.bad.first {
                outcomes.of::<()>("row", Err(bad.error));
            }
            outcomes.value("run", format!("{} of {} rows are bad", rows.bad.rows.len(), text.len()));
            let mut blocks = Vec::new();
            let array = bytes.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'[');
            if !array && run_lines(function, bytes, &mut blocks, policy, 64, &mut |_| {}).is_ok() {
                assert_eq!(blocks, text, "the blocks together are the whole");
            }
        }
    }
}
