//! IPC files and streams of Arrow: bytes to rows, and rows that were read to bytes that give the same rows.

use crate::outcomes::Outcomes;
use arrow_buffer::Buffer;
use extenso_core::{ExtensionType, Tensor, Value};
use extenso_ext::{CategoricalTensor, DecimalTensor, Literal, TimestampTensor, constant, to_literal};
use extenso_formats::arrow::{ArrowOptions, read_ipc, write_ipc};
use extenso_formats::{FieldSpec, OnError, struct_spec};
use extenso_types::DType;

pub const DICTIONARY: &[&[u8]] =
    &[b"ARROW1\0\0", b"\xff\xff\xff\xff", b"\0\0\0\x80", b"ARROW:extension:name", b"extenso:value", b"arrow.uuid"];

fn values() -> Vec<Value> {
    let record = |id: i64, tags: Vec<&str>| {
        Literal::record([("id", Literal::Int(id)), ("tags", Literal::from(tags)), ("x", Literal::from(None::<f64>))])
    };
    let records = constant(Literal::List(vec![record(1, vec!["a", "größe"]), record(2, vec![])]));
    let words = Tensor::strings(&[2], &["a", "b"]).expect("strings");
    let codes = Tensor::new::<i8>(&[3], &[1, 0, 1]).expect("codes");
    let stamps = TimestampTensor::new(Tensor::from_vec(vec![0_i64, 7]), "ms", Some("UTC"));
    vec![
        records.expect("records"),
        constant(vec![vec![1.5], vec![]]).expect("rows"),
        CategoricalTensor::new(codes, words, false).expect("categories").into_value(),
        DecimalTensor::parse(&["1.5", "-2"], 10, 1).expect("decimals").into_value(),
        stamps.expect("times").into_value(),
    ]
}

pub fn corpus() -> Vec<Vec<u8>> {
    let write = |value: &Value| [false, true].map(|stream| write_ipc(value, stream).expect("a value that is written"));
    values().iter().flat_map(write).collect()
}

pub fn run(bytes: &[u8], outcomes: &mut Outcomes) {
    let spec = struct_spec([
        ("id", FieldSpec::Scalar(DType::I64, vec![])),
        ("x", FieldSpec::Optional(Box::new(FieldSpec::Scalar(DType::F64, vec![])))),
    ]);
    let typed = ArrowOptions { spec: spec.ok(), on_error: OnError::Default, ..ArrowOptions::default() };
    let read = |options: &ArrowOptions| read_ipc(Buffer::from_slice_ref(bytes), options);
    outcomes.of("read_ipc as", read(&typed));
    let Some(rows) = outcomes.of("read_ipc", read(&ArrowOptions::default())) else { return };
    outcomes.value("read_ipc", rows.value.spec().expect("a spec"));
    let Ok(text) = to_literal(&rows.value) else { return };
    let Some(again) = outcomes.of("write_ipc", write_ipc(&rows.value, false)) else { return };
    let again = read_ipc(again.into(), &ArrowOptions::default()).expect("what was written is read");
    let again = to_literal(&again.value).expect("what was shown is shown");
    assert_eq!(again.to_string(), text.to_string(), "what was written is what was read");
}
