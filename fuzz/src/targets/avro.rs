//! Avro files: whole, in part, under every policy, and as the source of a run.

use crate::outcomes::Outcomes;
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, Decimal128Array, DictionaryArray, Int64Array, LargeStringArray, StructArray, TimestampMicrosecondArray,
    UnionArray,
};
use arrow_schema::{DataType, Field, UnionFields};
use extenso_core::{ExtensionType, Value};
use extenso_ext::{StructTensor, to_literal};
use extenso_formats::arrow::from_arrow;
use extenso_formats::{AvroCodec, AvroOptions, JsonOptions, OnError, encode_avro, read_avro, read_json};
use extenso_types::{Nest, Path};
use std::sync::Arc;

pub const DICTIONARY: &[&[u8]] = &[
    b"Obj\x01",
    b"avro.schema",
    b"avro.codec",
    b"deflate",
    b"snappy",
    b"zstandard",
    b"\"null\"",
    b"[\"null\",\"long\"]",
    b"{\"type\":\"array\",\"items\":\"null\"}",
    b"{\"type\":\"map\",\"values\":\"row\"}",
    b"{\"type\":\"fixed\",\"name\":\"f\",\"size\":99999999}",
    b"\"arrowFixedSize\":9999999",
    b"\"logicalType\":\"decimal\",\"precision\":4",
    b"\xfe\xff\xff\xff\x0f",
    b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
];

const ROWS: &str = r#"{"id": 1, "user": {"name": "a", "age": 7}, "items": [{"sku": "x", "price": 2.5, "tags": ["p"]}, {"sku": "y", "price": 1.5, "tags": []}]}
{"id": 2, "user": {"name": "ß", "age": null}, "items": []}
{"id": 3, "user": {"name": "", "age": 9}, "items": [{"sku": "", "price": 0.0, "tags": ["q", "r"]}]}
"#;

/// A list that links to its rest, with two values.
const LINKED: &[u8] = b"Obj\x01\x02\x16avro.schema\xc8\x01{\"type\":\"record\",\"name\":\"N\",\"fields\":[{\"name\":\"id\",\"type\":\"long\"},{\"name\":\"x\",\"type\":[\"null\",\"N\"]}]}\x00MMMMMMMMMMMMMMMM\x04\x0c\x02\x02\x04\x00\x06\x00MMMMMMMMMMMMMMMM";

pub fn corpus() -> Vec<Vec<u8>> {
    let value = |rows: &str| read_json(rows.as_bytes(), &JsonOptions::default()).expect("reads").value;
    let written = |value: Value, codec| encode_avro(&Nest::Leaf(value), codec).expect("writes");
    vec![
        written(value(ROWS), AvroCodec::Null),
        written(value(ROWS), AvroCodec::Deflate),
        written(value(ROWS), AvroCodec::Snappy),
        written(value("{\"x\": 1}\n{\"x\": null}\n"), AvroCodec::Zstd),
        written(value("{\"x\": 1}\n{\"x\": null}\n"), AvroCodec::Null),
        written(typed(), AvroCodec::Null),
        LINKED.to_vec(),
    ]
}

/// Times, decimals, words and a union.
fn typed() -> Value {
    let words: DictionaryArray<Int8Type> = vec![Some("a"), Some("b"), None].into_iter().collect();
    let fields = [Field::new("n", DataType::Int64, true), Field::new("s", DataType::LargeUtf8, true)];
    let fields = UnionFields::try_new([0, 1], fields).expect("fields");
    let children: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![Some(1), None, Some(0)])),
        Arc::new(LargeStringArray::from(vec!["", "", "x"])),
    ];
    let union = UnionArray::try_new(fields, vec![0, 0, 1].into(), None, children).expect("a union");
    let rows: Vec<(&str, ArrayRef)> = vec![
        ("at", Arc::new(TimestampMicrosecondArray::from(vec![0, -1, 1]).with_timezone("UTC"))),
        ("price", Arc::new(Decimal128Array::from(vec![1, -1, 500]).with_precision_and_scale(5, 2).expect("digits"))),
        ("words", Arc::new(words)),
        ("union", Arc::new(union)),
    ];
    from_arrow(&StructArray::try_from(rows).expect("records")).expect("a value")
}

pub fn run(bytes: &[u8], outcomes: &mut Outcomes) {
    let whole = outcomes.of("whole", read_avro(bytes, &AvroOptions::default()));
    if let Some(rows) = &whole {
        let spec = rows.value.spec().expect("a spec");
        outcomes.value("whole", spec.clone());
        let file = encode_avro(&Nest::Leaf(rows.value.clone()), AvroCodec::Null);
        if let Some(file) = outcomes.of("written", file) {
            let again = read_avro(&file[..], &AvroOptions::default()).expect("what was written is read").value;
            // As text, in which what is no number is equal to itself; a value that is no record comes back as the field of one.
            let text = |value: &Value| to_literal(value).map(|literal| literal.to_string());
            let records = StructTensor::from_value(&again).expect("records");
            let same = |value: &Value| text(value) == text(&rows.value);
            let same = same(&again) || records.field("value").is_ok_and(same);
            assert!(same, "what was written is what was read");
        }
        let options = AvroOptions { spec: Some(spec), ..AvroOptions::default() };
        outcomes.of("by its spec", read_avro(bytes, &options));
    }
    for on_error in [OnError::Skip, OnError::Default] {
        outcomes.of("policy", read_avro(bytes, &AvroOptions { on_error, ..AvroOptions::default() }));
    }
    for path in ["id", "items[*].price", "user", "x"] {
        let path: Path = path.parse().expect("a path");
        outcomes.of("part", read_avro(bytes, &AvroOptions { paths: Some(vec![path]), ..AvroOptions::default() }));
    }
}
