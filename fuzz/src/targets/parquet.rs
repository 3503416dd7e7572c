//! Parquet files: whole, in part, in blocks, and with conditions on statistics.

use crate::outcomes::Outcomes;
use extenso_ext::to_literal;
use extenso_formats::parquet::{Comparison, Condition, Literal};
use extenso_formats::{
    JsonOptions, ParquetOptions, ParquetWriter, encode_parquet, read_json, read_parquet, read_parquet_blocks,
};
use extenso_types::{Nest, Path};

pub const DICTIONARY: &[&[u8]] =
    &[b"PAR1", b"\xff\xff\xff\xff\x0f", b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x19\xfc"];

const ROWS: &str = r#"{"id": 1, "user": {"name": "a", "age": 7}, "items": [{"sku": "x", "price": 2.5, "tags": ["p"]}, {"sku": "y", "price": 1.5, "tags": []}]}
{"id": 2, "user": {"name": "ß", "age": null}, "items": []}
{"id": 3, "user": {"name": "", "age": 9}, "items": [{"sku": "", "price": 0.0, "tags": ["q", "r"]}]}
"#;

pub fn corpus() -> Vec<Vec<u8>> {
    let value = |rows: &str| read_json(rows.as_bytes(), &JsonOptions::default()).expect("reads").value;
    let whole = encode_parquet(&Nest::Leaf(value(ROWS))).expect("writes");
    let small = encode_parquet(&Nest::Leaf(value("{\"x\": 1}\n{\"x\": null}\n"))).expect("writes");
    let mut groups = ParquetWriter::new(Vec::new());
    for _ in 0..3 {
        groups.write(&Nest::Leaf(value(ROWS))).and_then(|()| groups.end_group()).expect("writes");
    }
    let text = encode_parquet(&Nest::Leaf(value("{\"s\": \"abc\", \"b\": true, \"l\": [[1], []]}"))).expect("writes");
    vec![whole, small, groups.finish().expect("a file"), text]
}

pub fn run(bytes: &[u8], outcomes: &mut Outcomes) {
    let source = bytes.to_vec().into();
    let whole = outcomes.of("whole", read_parquet(&source, &ParquetOptions::default()));
    if let Some(rows) = &whole {
        outcomes.value("whole", rows.value.spec().expect("a spec"));
        let file = encode_parquet(&Nest::Leaf(rows.value.clone()));
        if let Some(file) = outcomes.of("written", file) {
            let again = read_parquet(&file.into(), &ParquetOptions::default()).expect("what was written is read");
            // As text, in which what is no number is equal to itself.
            let text = |value| to_literal(value).map(|literal| literal.to_string());
            assert_eq!(text(&again.value), text(&rows.value), "what was written is what was read");
        }
    }
    for path in ["id", "items[*].price", "user", "x"] {
        let path: Path = path.parse().expect("a path");
        let condition = Condition { path: path.clone(), comparison: Comparison::Less, literal: Literal::Int(2) };
        let options = ParquetOptions { paths: Some(vec![path]), prune: vec![condition], ..ParquetOptions::default() };
        outcomes.of("part", read_parquet(&source, &options));
    }
    let Some(blocks) = outcomes.of("blocks", read_parquet_blocks(&source, 2, ParquetOptions::default())) else {
        return;
    };
    for block in blocks.take(8) {
        outcomes.of("block", block);
    }
}
