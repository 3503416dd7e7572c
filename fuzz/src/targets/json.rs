//! NDJSON to records of several specs, and back: what was read, written and read again is the same text.

use crate::outcomes::Outcomes;
use extenso_core::{ExtensionType, Tensor, TypeSpec, Value};
use extenso_ext::{DateTensor, DecimalTensor, DurationTensor, MaskedTensor, StructSpec, TimeTensor, TimestampTensor};
use extenso_formats::{FieldSpec as F, OnError, decode_ndjson, encode_ndjson, struct_spec};
use extenso_types::{DType, Dim, ExtSpec, Nest, Result, Segment, Shape, Spec, TensorSpec};
use std::sync::LazyLock;

pub const DICTIONARY: &[&[u8]] = &[
    b"null",
    b"true",
    b"1e400",
    b"-0.0",
    b"9223372036854775808",
    b"1e-400",
    b"\"NaN\"",
    b"\"\\ud800\"",
    b"\\u0000",
    b"[[[[[[[[",
    b"]]]]",
    b"{\"a\":",
    b"}\n{",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"AQID",
    b"\"id\":",
    b"\"items\":[{\"price\":",
    b"0.1e",
    b"1_0",
    b"T00:00:00Z",
    b"+23:59",
    b"-0001-",
    b"P1DT2H",
    b".000000001",
    b"e-3",
];

/// The specs that every input is read as.
static SPECS: LazyLock<Vec<Spec>> = LazyLock::new(|| {
    let numbers = [
        DType::Bool,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
        DType::String,
        DType::Bytes,
    ];
    let one_each = numbers.iter().map(|d| (d.name(), F::Scalar(*d, vec![])));
    let item = F::Record(vec![("price", F::Scalar(DType::F32, vec![])), ("sku", F::Scalar(DType::String, vec![]))]);
    let nested = [
        ("id", F::Scalar(DType::I64, vec![])),
        ("embedding", F::Scalar(DType::F32, vec![2, 2])),
        ("items", F::List(Box::new(item.clone()))),
        ("maybe", F::Optional(Box::new(F::List(Box::new(F::Optional(Box::new(item))))))),
    ];
    let optional = numbers.iter().map(|d| (d.name(), F::Optional(Box::new(F::List(Box::new(F::Scalar(*d, vec![])))))));
    let specs = [struct_spec(one_each), struct_spec(nested), struct_spec(optional), times()];
    specs.into_iter().map(|spec| spec.expect("a record")).collect()
});

/// Times and decimals, each of which may be missing.
pub fn times() -> Result<Spec> {
    let (i64s, i32s) = (|| Tensor::from_vec(vec![0_i64]), || Tensor::from_vec(vec![0_i32]));
    let rows = Dim::any();
    let fields = [
        ("at", TimestampTensor::new(i64s(), "ns", Some("+05:30"))?.into_value()),
        ("local", TimestampTensor::new(i64s(), "s", None)?.into_value()),
        ("day", DateTensor::new(i32s(), "d")?.into_value()),
        ("time", TimeTensor::new(i64s(), "us")?.into_value()),
        ("took", DurationTensor::new(i64s(), "ms")?.into_value()),
        ("price", DecimalTensor::parse(&["0"], 12, 3)?.into_value()),
        ("wide", DecimalTensor::parse(&["0"], 70, -2)?.into_value()),
    ];
    let optional = |(name, value): (&'static str, Value)| {
        let value = MaskedTensor::new(value, Tensor::bools(&[1], &[true])?)?.into_value();
        Ok((name, of_rows(value.spec()?, rows)))
    };
    let fields: Result<Vec<_>> = fields.into_iter().map(optional).collect();
    Ok(Spec::from(StructSpec::new(1, fields?)?.serialize()))
}

/// The spec of as many rows.
fn of_rows(spec: Spec, rows: Dim) -> Spec {
    match spec {
        Spec::Tensor(t) => {
            let inner = t.shape.dims().unwrap_or_default().iter().skip(1).copied();
            TensorSpec::new(t.dtype, Shape::new(std::iter::once(rows).chain(inner))).into()
        }
        Spec::Partition(p) => Spec::Partition(p),
        Spec::Ext(ext) => {
            let part = |(segment, part): &(Segment, Spec)| (segment.clone(), of_rows(part.clone(), rows));
            let components = ext.components.iter().map(part).collect();
            ExtSpec { def: ext.def.clone(), static_data: ext.static_data.clone(), components }.into()
        }
    }
}

pub fn corpus() -> Vec<Vec<u8>> {
    let lines = [
        r#"{"bool": true, "i8": -128, "i16": 1, "i32": 2, "i64": -9223372036854775808, "u8": 255, "u16": 3, "u32": 4, "u64": 18446744073709551615, "f16": 0.5, "bf16": 1e3, "f32": 16777217, "f64": 0.1, "string": "größe\n\u00e9\ud83d\ude00", "bytes": "AQID/w=="}"#,
        r#"{"id": 1, "embedding": [[1, 2], [3, 4.5]], "items": [{"price": 2, "sku": "a"}, {"price": 3.5, "sku": ""}], "maybe": null}"#,
        r#"{"id": 9007199254740993, "embedding": [[0, 0], [0, 0]], "items": [], "maybe": [null, {"price": "Infinity", "sku": "x"}]}"#,
        r#"{"bool": [true, false], "f64": [1, 2.5, "NaN"], "string": [], "u64": null, "unknown": {"deep": [[[1]]]}}"#,
        r#"{"at": "2001-02-03T04:05:06.5Z", "local": "1969-12-31T23:59:59", "day": "2000-02-29", "time": "23:59:59.000001", "took": "PT1.5S", "price": -12.5e0, "wide": "1234500"}"#,
        r#"{"at": "-0001-01-01T00:00:00+05:30", "took": "-7s", "price": "0.001"}"#,
        r"{}",
    ];
    let deep = format!("{{\"unknown\": {}{}}}", "[".repeat(2000), "]".repeat(2000));
    let mut corpus: Vec<Vec<u8>> = lines.iter().map(|line| format!("{line}\n").into_bytes()).collect();
    corpus.push(lines[1..3].join("\n").into_bytes());
    corpus.push(deep.into_bytes());
    corpus
}

pub fn run(bytes: &[u8], outcomes: &mut Outcomes) {
    for spec in SPECS.iter() {
        for policy in [OnError::Raise, OnError::Skip, OnError::Default] {
            let Some(rows) = outcomes.of("decode", decode_ndjson(bytes, spec, policy)) else { continue };
            outcomes.value("decode", rows.value.spec().expect("a spec"));
            for bad in rows.bad.first {
                outcomes.of::<()>("row", Err(bad.error));
            }
            let text = encode_ndjson(&Nest::Leaf(rows.value)).expect("what was read can be written");
            let again = decode_ndjson(&text, spec, OnError::Raise).expect("what was written can be read");
            let twice = encode_ndjson(&Nest::Leaf(again.value)).expect("what was read can be written");
            assert_eq!(text, twice, "reading what was written gives the same");
        }
    }
}
