//! Laws of what is found by looking: it is the spec of the value that the reader of the format gives, whatever the blocks are.

use super::*;
use crate::arrow::{ArrowOptions, read_ipc, write_ipc};
use crate::ops::any_rows;
use crate::parquet::{ParquetOptions, read_parquet};
use extenso_types::Spec;

/// So many rows as there are in more than one block of Parquet.
const MANY: usize = 1 << 11;

fn found(bytes: &[u8], block: usize, asked: &Asked) -> Result<String> {
    let options = SourceOptions { block, ..SourceOptions::default() };
    spec_of_reader(Box::new(Cursor::new(bytes.to_vec())), &options, asked).map(|spec| spec.to_string())
}

fn check(bytes: &[u8], asked: &Asked, wanted: &Spec) {
    let wanted = any_rows(wanted).to_string();
    for block in [1, 1 << 10, BLOCK] {
        for bytes in [bytes.to_vec(), gzip(bytes)] {
            assert_eq!(found(&bytes, block, asked).expect("a spec"), wanted, "blocks of {block}");
        }
    }
}

/// Each kind of field, with what is missing in the last row alone.
fn rows() -> String {
    let usual = |i: usize| {
        format!(
            r#"{{"id": {i}, "on": true, "name": "n{i}", "at": {{"x": 0.5, "y": [1, 2]}}, "items": [{{"price": 2.5, "tags": ["a"]}}], "none": null}}"#
        )
    };
    let odd = r#"{"id": null, "on": false, "name": null, "at": {"x": null, "y": null}, "items": [{"price": null, "tags": null}, null], "none": null}"#;
    let lines: Vec<String> = (0..MANY).map(usual).chain([odd.to_string()]).collect();
    lines.join("\n")
}

#[test]
fn what_is_found_is_the_spec_of_what_is_read() {
    let rows = rows();
    let part = || vec!["items[*].price".parse().expect("a path"), "at".parse().expect("a path")];
    for sample in [None, Some(1), Some(3), Some(MANY), Some(MANY + 1)] {
        for paths in [None, Some(part())] {
            let asked = Asked { paths: paths.clone(), sample };
            let text: Vec<&str> = rows.lines().take(sample.unwrap_or(usize::MAX)).collect();
            let options = crate::JsonOptions { paths: paths.clone(), ..Default::default() };
            let value = crate::read_json(text.join("\n").as_bytes(), &options).expect("reads").value;
            check(rows.as_bytes(), &asked, &value.spec().expect("a spec"));

            let whole = crate::read_json(rows.as_bytes(), &Default::default()).expect("reads").value;
            let first = crate::read_json(text.join("\n").as_bytes(), &Default::default()).expect("reads").value;
            // What is masked in the whole is a column with nulls, of which the first rows may have none.
            let encoded = |value: &Value| crate::encode_parquet(&Nest::Leaf(value.clone())).expect("writes");
            let options = ParquetOptions { paths: paths.clone(), ..Default::default() };
            let read = read_parquet(&encoded(&first).into(), &options).expect("reads").value;
            check(&encoded(&whole), &asked, &read.spec().expect("a spec"));

            let encoded =
                |value: &Value| crate::encode_avro(&Nest::Leaf(value.clone()), Default::default()).expect("writes");
            let options = crate::AvroOptions { paths: paths.clone(), ..Default::default() };
            let read = crate::read_avro(&encoded(&first)[..], &options).expect("reads").value;
            check(&encoded(&whole), &asked, &read.spec().expect("a spec"));

            for stream in [false, true] {
                let encoded = |value: &Value| write_ipc(value, stream).expect("writes");
                let options = ArrowOptions { paths: paths.clone(), ..Default::default() };
                let read = read_ipc(encoded(&first).into(), &options).expect("reads").value;
                check(&encoded(&whole), &asked, &read.spec().expect("a spec"));
            }
        }
    }
}

#[test]
fn a_table_is_looked_at_in_blocks() {
    let rows: String = (0..10_000).map(|i| format!("{i},{}\n", if i == 9_000 { "x" } else { "1" })).collect();
    let table = format!("a,b\n{rows}");
    let read = crate::csv::read_csv(table.as_bytes(), &Default::default()).expect("reads").value;
    let options = SourceOptions { format: Some(Format::Csv), ..SourceOptions::default() };
    let spec = |sample| {
        let asked = Asked { paths: None, sample };
        spec_of_reader(Box::new(Cursor::new(table.clone())), &options, &asked).expect("a spec").to_string()
    };
    assert_eq!(spec(None), any_rows(&read.spec().expect("a spec")).to_string());
    assert_eq!(spec(Some(9_000)), "StructTensor(a: i64[?], b: i64[?], rank=1)");
    assert_eq!(spec(Some(9_001)), "StructTensor(a: i64[?], b: string[?], rank=1)");
}

#[test]
fn what_has_no_spec_says_so() {
    let check = |bytes: &[u8], asked: &Asked, wanted: &[&str]| {
        let error = found(bytes, BLOCK, asked).expect_err("no spec").to_string();
        assert!(wanted.iter().all(|wanted| error.contains(wanted)), "{error}");
    };
    let asked = |paths: &str, sample| Asked { paths: Some(vec![paths.parse().expect("a path")]), sample };
    let value = crate::read_json(ROWS.as_bytes(), &Default::default()).expect("reads").value;
    let parquet = crate::encode_parquet(&Nest::Leaf(value)).expect("writes");
    check(b"", &Asked::default(), &["infer_spec: there are no records"]);
    check(ROWS.as_bytes(), &asked("id", Some(0)), &["infer_spec: sample: ", "at least one"]);
    check(b"{\"a\": 1}\n{\"a\": [2]}", &Asked::default(), &["infer_spec: row 1, byte 15, 'a'"]);
    check(ROWS.as_bytes(), &asked("ids", None), &["infer_spec: ", "ids"]);
    check(&parquet, &asked("ids", None), &["infer_spec: paths: ", "ids"]);
    check(&parquet[..100], &Asked::default(), &["infer_spec: ", "Parquet"]);
    let options = SourceOptions { format: Some(Format::Protobuf), ..SourceOptions::default() };
    let error = spec_of_reader(Box::new(std::io::empty()), &options, &Asked::default()).expect_err("no content");
    assert!(error.to_string().contains("nothing says of which"), "{error}");
}
