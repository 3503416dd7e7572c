//! Laws of reading and writing.

use super::*;
use crate::{OnError, read_json};
use extenso_core::{ExtensionType, Tensor, Value};
use extenso_ext::to_literal;
use extenso_types::{Nest, Path};

const ROWS: &str = r#"{"id": 1, "user": {"name": "a", "age": 7}, "items": [{"sku": "x", "price": 2.5, "tags": ["p", null]}, {"sku": "y", "price": 1.5, "tags": []}]}
{"id": 2, "user": {"name": "b", "age": null}, "items": []}
{"id": 3, "user": {"name": "", "age": 9}, "items": [{"sku": "", "price": 0.0, "tags": ["q"]}]}
"#;

fn file(rows: &str) -> ParquetSource {
    let value = read_json(rows.as_bytes(), &Default::default()).expect("reads").value;
    encode_parquet(&Nest::Leaf(value)).expect("writes").into()
}

fn literal(source: &ParquetSource, options: &ParquetOptions) -> String {
    let read = read_parquet(source, options).unwrap_or_else(|e| panic!("{e}"));
    to_literal(&read.value).expect("a literal").to_string()
}

fn paths(paths: &[&str]) -> Option<Vec<Path>> {
    Some(paths.iter().map(|path| path.parse().expect("a path")).collect())
}

#[test]
fn what_was_written_is_read() {
    let value = read_json(ROWS.as_bytes(), &Default::default()).expect("reads").value;
    let bytes: ParquetSource = encode_parquet(&Nest::Leaf(value.clone())).expect("writes").into();
    let spec = crate::infer_spec(ROWS.as_bytes(), &Default::default()).expect("a spec");
    let options = ParquetOptions { spec: Some(spec), ..ParquetOptions::default() };
    let read = read_parquet(&bytes, &options).expect("reads").value;
    assert_eq!(read.spec().expect("a spec"), value.spec().expect("a spec"));
    assert_eq!(to_literal(&read).expect("a literal"), to_literal(&value).expect("a literal"));
}

#[test]
fn only_the_wanted_leaves_are_read() {
    let source = file(ROWS);
    for (wanted, values) in [
        (&["items[*].price"][..], &[("items[*].price", 4)][..]),
        (&["user.age", "id"], &[("id", 3), ("user.age", 3)]),
        (&["items[*].tags"], &[("items[*].tags[*]", 5)]),
    ] {
        let read =
            read_parquet(&source, &ParquetOptions { paths: paths(wanted), ..Default::default() }).expect("reads");
        let visited: Vec<(String, usize)> = read.visited.iter().map(|(path, n)| (path.to_string(), *n)).collect();
        let values: Vec<(String, usize)> = values.iter().map(|(path, n)| (path.to_string(), *n)).collect();
        assert_eq!(visited, values);
        let whole = read_json(ROWS.as_bytes(), &crate::JsonOptions { paths: paths(wanted), ..Default::default() });
        assert_eq!(to_literal(&read.value), to_literal(&whole.expect("reads").value));
    }
}

/// Two rows, `{id: 1, m: {k: {x: 1, y: 2}}}` and `{id: 2, m: {}}`, of which `m` is a map, once in a struct and once not.
fn maps() -> ParquetSource {
    use arrow_array::{Array, ArrayRef, Int64Array, MapArray, RecordBatch, StringArray, StructArray};
    use std::sync::Arc;
    let column = |values: &[i64]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
    let value = StructArray::try_from(vec![("x", column(&[1])), ("y", column(&[2]))]).expect("a record");
    let keys = Arc::new(StringArray::from(vec!["k"])) as ArrayRef;
    let entries = StructArray::try_from(vec![("key", keys), ("value", Arc::new(value) as ArrayRef)]).expect("entries");
    let field = arrow_schema::Field::new("entries", entries.data_type().clone(), false);
    let offsets = arrow_buffer::OffsetBuffer::from_lengths([1, 0]);
    let map: ArrayRef = Arc::new(MapArray::new(Arc::new(field), offsets, entries, None, false));
    let inside: ArrayRef = Arc::new(StructArray::try_from(vec![("m", map.clone())]).expect("a record"));
    let batch = RecordBatch::try_from_iter([("m", map), ("id", column(&[1, 2])), ("r", inside)]).expect("columns");
    let mut bytes = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).expect("a writer");
    writer.write(&batch).and_then(|()| writer.close()).expect("writes");
    bytes.into()
}

#[test]
fn of_a_map_both_halves_are_read_where_one_is_wanted() {
    let source = maps();
    for (wanted, read, value) in [
        (&["m[*].value.x"][..], &["m[*].key", "m[*].value.x"][..], r#"[{"m": [{"value": {"x": 1}}]}, {"m": []}]"#),
        (&["m[*].key"], &["m[*].key", "m[*].value.x"], r#"[{"m": [{"key": "k"}]}, {"m": []}]"#),
        (
            &["r.m[*].value.y", "id"],
            &["id", "r.m[*].key", "r.m[*].value.y"],
            r#"[{"id": 1, "r": {"m": [{"value": {"y": 2}}]}}, {"id": 2, "r": {"m": []}}]"#,
        ),
        (&["id"], &["id"], r#"[{"id": 1}, {"id": 2}]"#),
    ] {
        let rows =
            read_parquet(&source, &ParquetOptions { paths: paths(wanted), ..Default::default() }).expect("reads");
        assert_eq!(rows.visited.iter().map(|(path, _)| path.to_string()).collect::<Vec<_>>(), read);
        assert_eq!(to_literal(&rows.value).expect("a literal").to_string(), value);
    }
}

#[test]
fn a_spec_takes_the_half_of_a_map_that_it_has() {
    let rows = |rows: &str| crate::infer_spec(rows.as_bytes(), &Default::default()).expect("a spec");
    for (record, wanted) in [
        (r#"{"m": [{"value": {"y": 1}}]}"#, r#"[{"m": [{"value": {"y": 2}}]}, {"m": []}]"#),
        (r#"{"m": [{"key": "a"}]}"#, r#"[{"m": [{"key": "k"}]}, {"m": []}]"#),
        (
            r#"{"id": 1, "r": {"m": [{"key": "a"}]}}"#,
            r#"[{"id": 1, "r": {"m": [{"key": "k"}]}}, {"id": 2, "r": {"m": []}}]"#,
        ),
    ] {
        let options = ParquetOptions { spec: Some(rows(record)), ..Default::default() };
        assert_eq!(literal(&maps(), &options), wanted);
    }
}

#[test]
fn a_missing_column_is_told_with_those_of_the_file() {
    let spec = crate::infer_spec(br#"{"id": 1, "user": {"email": "x"}}"#, &Default::default()).expect("a spec");
    let error = read_parquet(&file(ROWS), &ParquetOptions { spec: Some(spec), ..Default::default() });
    let error = error.expect_err("no such column").to_string();
    assert!(error.contains("there is no column 'user.email'; there are: name, age."), "{error}");
    let spec = crate::infer_spec(br#"{"key": 1}"#, &Default::default()).expect("a spec");
    let error = read_parquet(&file(ROWS), &ParquetOptions { spec: Some(spec), ..Default::default() });
    let error = error.expect_err("no such column").to_string();
    assert!(error.contains("there is no column 'key'; there are: id, user, items."), "{error}");
}

#[test]
fn a_path_that_leads_nowhere_is_named() {
    let source = file(ROWS);
    for (path, wanted) in [
        ("nothing", "paths: there is no 'nothing'.\nWanted: one of id, user, items."),
        ("items.price", "'items' is a list, and the path goes on with 'price'"),
        ("id.x", "'id' is a column of type Int64, and the path goes on"),
    ] {
        let error = read_parquet(&source, &ParquetOptions { paths: paths(&[path]), ..Default::default() });
        let error = error.expect_err("no such path").to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn blocks_are_the_whole() {
    // Fields that may not be null, in records that may be, in lists and not.
    let inside = r#"{"c": [null, {"f": {"g": 1, "s": "x", "l": [1], "t": true}}], "d": null}
{"c": [], "d": {"f": {"g": 2, "l": []}}}
{"c": [null, null], "d": null}
"#;
    for rows in [ROWS, inside] {
        let source = file(rows);
        let whole = literal(&source, &ParquetOptions::default());
        for rows in 1..5 {
            let blocks = read_parquet_blocks(&source, rows, ParquetOptions::default()).expect("opens");
            let texts: Vec<String> =
                blocks.map(|b| to_literal(&b.expect("a block").value).expect("one").to_string()).collect();
            let joined = texts.iter().map(|text| &text[1..text.len() - 1]).collect::<Vec<_>>().join(", ");
            assert_eq!(format!("[{joined}]"), whole);
        }
    }
}

#[test]
fn a_codec_that_is_not_read_is_named() {
    use parquet::basic::{BrotliLevel, Compression};
    use parquet::file::metadata::{ParquetMetaDataReader, ParquetMetaDataWriter};
    let value = read_json(ROWS.as_bytes(), &Default::default()).expect("reads").value;
    let mut bytes = encode_parquet(&Nest::Leaf(value)).expect("writes");
    let read = ParquetMetaDataReader::new().parse_and_finish(&bytes::Bytes::from(bytes.clone())).expect("a file");
    let mut columns = Vec::new();
    for column in read.row_group(0).columns() {
        let brotli = Compression::BROTLI(BrotliLevel::default());
        let odd = column.column_path().string() == "user.name";
        let column = column.clone().into_builder().set_compression(if odd { brotli } else { column.compression() });
        columns.push(column.build().expect("a column"));
    }
    let group = read.row_group(0).clone().into_builder().set_column_metadata(columns);
    let odd = read.into_builder().set_row_groups(vec![group.build().expect("a row group")]).build();
    ParquetMetaDataWriter::new(&mut bytes, &odd).finish().expect("writes");
    let source: ParquetSource = bytes.into();
    let error = read_parquet(&source, &ParquetOptions::default()).expect_err("a codec").to_string();
    assert!(error.contains("column 'user.name' is packed by Brotli"), "{error}");
    let error = read_parquet_blocks(&source, 1, ParquetOptions::default()).err().expect("a codec").to_string();
    assert!(error.contains("column 'user.name' is packed by Brotli"), "{error}");
    let others = ParquetOptions { paths: paths(&["id", "user.age"]), ..Default::default() };
    assert!(literal(&source, &others).starts_with(r#"[{"id": 1, "user": {"age": 7}}"#));
}

#[test]
fn row_groups_are_chosen_and_pruned() {
    let mut writer = ParquetWriter::new(Vec::new());
    for group in 0..3 {
        let rows: String = (0..4).map(|i| format!("{{\"x\": {}, \"s\": \"k{}\"}}\n", group * 10 + i, group)).collect();
        let value = read_json(rows.as_bytes(), &Default::default()).expect("reads").value;
        writer.write(&Nest::Leaf(value)).expect("writes");
        writer.end_group().expect("writes");
    }
    let source: ParquetSource = writer.finish().expect("a file").into();
    let of = |row_groups: Option<Vec<usize>>, prune: Vec<Condition>| {
        let options = ParquetOptions { row_groups, prune, paths: paths(&["x"]), ..Default::default() };
        read_parquet(&source, &options)
            .map(|read| to_literal(&read.value).expect("a literal").to_string().matches('x').count())
    };
    let when = |path: &str, sign: &str, literal: Literal| Condition {
        path: path.parse().expect("a path"),
        comparison: sign.parse().expect("a sign"),
        literal,
    };
    assert_eq!(of(Some(vec![2, 0]), vec![]).expect("reads"), 8);
    assert!(of(Some(vec![3]), vec![]).expect_err("no such group").to_string().contains("row_groups: row group 3"));
    for (condition, rows) in [
        (when("x", "==", Literal::Int(12)), 4),
        (when("x", "==", Literal::Int(7)), 0),
        (when("x", "<", Literal::Int(10)), 4),
        (when("x", "<=", Literal::Int(10)), 8),
        (when("x", ">", Literal::Int(13)), 4),
        (when("x", "!=", Literal::Int(13)), 12),
        (when("x", "<", Literal::Float(10.5)), 8),
        (when("x", "<=", Literal::Float(9.5)), 4),
        (when("x", ">", Literal::Float(13.5)), 4),
        (when("x", "==", Literal::Float(12.0)), 4),
        (when("x", "==", Literal::Float(1e300)), 0),
        (when("x", ">", Literal::Float(f64::NEG_INFINITY)), 12),
        (when("s", "==", Literal::Text(b"k1".to_vec())), 4),
        (when("s", "!=", Literal::Text(b"k1".to_vec())), 8),
        (when("s", ">=", Literal::Text(b"k1".to_vec())), 8),
    ] {
        assert_eq!(of(None, vec![condition.clone()]).expect("reads"), rows, "{condition:?}");
    }
    let odd = of(None, vec![when("x", "==", Literal::Text(b"7".to_vec()))]).expect_err("a string").to_string();
    assert!(odd.contains("prune: column 'x' is Int64, which does not compare with '7'"), "{odd}");
}

#[test]
fn row_groups_with_nan_and_halves_are_pruned_by_what_may_fit() {
    let mut writer = ParquetWriter::new(Vec::new());
    for rows in [[1.0, f64::NAN], [1.0, 1.0], [2.0, 3.0]] {
        let x = Value::from(Tensor::from_vec(rows.to_vec()));
        let half = extenso_core::ops::cast(&x, extenso_types::DType::F16).expect("halves");
        writer.write(&Nest::dict([("x", Nest::Leaf(x)), ("half", Nest::Leaf(half))])).expect("writes");
        writer.end_group().expect("writes");
    }
    let source: ParquetSource = writer.finish().expect("a file").into();
    for (sign, number, rows) in [("!=", 1.0, 6), ("==", 1.0, 4), ("<", 2.0, 4), (">", 1.5, 2), (">=", 4.0, 0)] {
        for path in ["x", "half"] {
            let literal = Literal::Float(number);
            let comparison = sign.parse().expect("a sign");
            let condition = Condition { path: path.parse().expect("a path"), comparison, literal };
            let options = ParquetOptions { prune: vec![condition], paths: paths(&["x"]), ..Default::default() };
            let read = to_literal(&read_parquet(&source, &options).expect("reads").value).expect("a literal");
            assert_eq!(read.to_string().matches('x').count(), rows, "{path} {sign} {number}");
        }
    }
}

#[test]
fn row_groups_are_pruned_by_times_and_decimals() {
    use extenso_ext::{DateTensor, DecimalTensor, FixedBytesTensor, TimestampTensor};
    let mut writer = ParquetWriter::new(Vec::new());
    for group in 0..3_i64 {
        let days = DateTensor::new(Tensor::from_vec(vec![11_000 + i32::try_from(group).expect("few")]), "d");
        let at = TimestampTensor::new(Tensor::from_vec(vec![group * 3_600_000_000]), "us", Some("UTC"));
        let local = TimestampTensor::new(Tensor::from_vec(vec![group * 3_600_000]), "ms", None);
        let price = |digits, scale| DecimalTensor::parse(&[format!("{}", (group - 1) * 100)], digits, scale);
        let id = FixedBytesTensor::new(Tensor::new::<u8>(&[1, 2], &[200, group as u8]).expect("bytes"), None);
        let value = Nest::dict([
            ("x", Nest::Leaf(Tensor::from_vec(vec![group]).into())),
            ("day", Nest::Leaf(days.expect("days").into_value())),
            ("at", Nest::Leaf(at.expect("times").into_value())),
            ("local", Nest::Leaf(local.expect("times").into_value())),
            ("small", Nest::Leaf(price(8, 2).expect("decimals").into_value())),
            ("price", Nest::Leaf(price(18, 4).expect("decimals").into_value())),
            ("wide", Nest::Leaf(price(60, 20).expect("decimals").into_value())),
            ("id", Nest::Leaf(id.expect("bytes").into_value())),
        ]);
        writer.write(&value).expect("writes");
        writer.end_group().expect("writes");
    }
    let source: ParquetSource = writer.finish().expect("a file").into();
    let of = |path: &str, sign: &str, literal: Literal| {
        let condition =
            Condition { path: path.parse().expect("a path"), comparison: sign.parse().expect("a sign"), literal };
        let options = ParquetOptions { prune: vec![condition], paths: paths(&["x"]), ..Default::default() };
        read_parquet(&source, &options).map(|read| to_literal(&read.value).expect("a literal").to_string())
    };
    let check = |path: &str, sign: &str, text: &str, wanted: &[i64]| {
        let found = of(path, sign, Literal::Text(text.as_bytes().to_vec())).expect("reads");
        let wanted: Vec<String> = wanted.iter().map(|x| format!("{{\"x\": {x}}}")).collect();
        assert_eq!(found, format!("[{}]", wanted.join(", ")), "{path} {sign} {text}");
    };
    check("day", "==", "2000-02-14", &[1]);
    check("day", ">", "2000-02-13", &[1, 2]);
    check("at", "<", "1970-01-01T02:00:00+01:00", &[0]);
    check("at", ">=", "1970-01-01T01:00:00Z", &[1, 2]);
    check("local", "!=", "1970-01-01T01:00:00", &[0, 2]);
    for price in ["small", "price", "wide"] {
        check(price, "==", "1e2", &[2]);
        check(price, "<", "0.000000000000000000000000001", &[0, 1]);
        check(price, ">", "-100", &[1, 2]);
    }
    for (path, literal, wanted) in [
        ("day", Literal::Text(b"2000-02-30".to_vec()), "Wanted: a date, such as \"2001-02-03\", or a count"),
        ("at", Literal::Text(b"1970-01-01T01:00:00".to_vec()), "a time of RFC 3339 with its zone"),
        ("price", Literal::Text(b"ten".to_vec()), "Wanted: a decimal number, an integer or text"),
        ("price", Literal::Float(1.5), "Wanted: a decimal number, an integer or text"),
        ("id", Literal::Text(b"abc".to_vec()), "Wanted: 2 bytes"),
    ] {
        let error = of(path, "==", literal).expect_err(wanted).to_string();
        assert!(error.contains(&format!("prune: column '{path}' is")) && error.contains(wanted), "{error}");
    }
    assert_eq!(of("price", ">=", Literal::Int(100)).expect("reads"), "[{\"x\": 2}]");
    assert_eq!(of("id", "==", Literal::Text(vec![200, 1])).expect("reads"), "[{\"x\": 1}]");
}

#[test]
fn rows_that_do_not_fit_are_told_of() {
    let source = file("{\"x\": 1}\n{\"x\": null}\n{\"x\": 3}\n");
    let spec = crate::infer_spec(b"{\"x\": 1}", &Default::default()).expect("a spec");
    let read =
        |on_error| read_parquet(&source, &ParquetOptions { spec: Some(spec.clone()), on_error, ..Default::default() });
    let error = read(OnError::Raise).expect_err("a null").to_string();
    assert!(error.contains('x') && error.contains("null") && error.contains("row 1"), "{error}");
    let skipped = read(OnError::Skip).expect("reads");
    assert_eq!(to_literal(&skipped.value).expect("one").to_string(), r#"[{"x": 1}, {"x": 3}]"#);
    assert_eq!(skipped.bad.rows, [1]);
    let filled = read(OnError::Default).expect("reads");
    assert_eq!(to_literal(&filled.value).expect("one").to_string(), r#"[{"x": 1}, {"x": 0}, {"x": 3}]"#);
    assert!(filled.bad.defaulted.get(1) && !filled.bad.defaulted.get(0));
}

#[test]
fn leaves_of_one_record_are_put_together_again() {
    // Structs that may be missing, of which some are, none is, and all are; lists in them and around them.
    for rows in [
        r#"{"r": {"a": 1, "l": [{"x": 1, "y": null}], "b": null}} {"r": null} {"r": {"a": 2, "l": [], "b": {"c": 1}}}"#,
        r#"{"r": {"a": 1, "l": [{"x": 1, "y": 2}], "b": {"c": 0}}} {"r": {"a": 2, "l": [], "b": {"c": 1}}}"#,
        r#"{"r": null, "s": [{"x": {"y": 1, "z": [1]}, "w": 1}, {"x": null, "w": 2}]} {"r": null, "s": []}"#,
    ] {
        let rows = rows.replace("} {\"r\"", "}\n{\"r\"");
        let value = read_json(rows.as_bytes(), &Default::default()).expect("reads").value;
        let spec = crate::infer_spec(rows.as_bytes(), &Default::default()).expect("a spec");
        let source: ParquetSource = encode_parquet(&Nest::Leaf(value.clone())).expect("writes").into();
        let options = ParquetOptions { spec: Some(spec), ..Default::default() };
        assert_eq!(literal(&source, &options), to_literal(&value).expect("a literal").to_string());
    }
}

#[test]
fn files_of_no_rows_have_columns() {
    let value = read_json(ROWS.as_bytes(), &Default::default()).expect("reads").value;
    let none = extenso_core::ops::take(value, extenso_core::Tensor::from_vec(Vec::<i64>::new()), 0).expect("no rows");
    let source: ParquetSource = encode_parquet(&Nest::Leaf(none)).expect("writes").into();
    let read = read_parquet(&source, &ParquetOptions::default()).expect("reads").value;
    assert!(read.spec().expect("a spec").to_string().contains("items"), "{}", read.spec().expect("a spec"));
}

#[test]
fn flipped_bytes_give_an_error_or_a_value() {
    let value = read_json(ROWS.as_bytes(), &Default::default()).expect("reads").value;
    let bytes = encode_parquet(&Nest::Leaf(value)).expect("writes");
    for at in 0..bytes.len() {
        for flip in [0x01_u8, 0x80, 0xff] {
            let mut odd = bytes.clone();
            odd[at] ^= flip;
            let _ = read_parquet(&odd.into(), &ParquetOptions::default());
        }
    }
    for end in 0..bytes.len() {
        let error = read_parquet(&bytes[..end].to_vec().into(), &ParquetOptions::default()).expect_err("cut short");
        assert!(error.is_data(), "{error}");
    }
}

/// A column of seconds, clocks of seconds and dates of milliseconds, plain, missing, in lists, in lists and records that may be missing, and as
/// categories.
fn times(seconds: i64, day: i64) -> Nest<extenso_core::Value> {
    use extenso_ext::{
        CategoricalTensor, DateTensor, MaskedTensor, RaggedTensor, StructTensor, TimeTensor, TimestampTensor,
    };
    let of = |counts: [i64; 3]| Tensor::from_vec(counts.to_vec());
    let bits = |bits: [bool; 3]| Tensor::from_bits(&[3], bits.into_iter().collect()).expect("bits");
    let clock = TimeTensor::new(Tensor::from_vec(vec![0_i32, 1, 86_399]), "s").expect("times").into_value();
    let date = DateTensor::new(of([0, day, -2 * 86_400_000]), "ms").expect("dates").into_value();
    let at = |zone| TimestampTensor::new(of([-1, 0, seconds]), "s", zone).expect("times").into_value();
    // What is missing may be anything.
    let odd = TimestampTensor::new(of([i64::MAX, 0, seconds]), "s", None).expect("times").into_value();
    let hidden = MaskedTensor::new(odd.clone(), bits([false, true, true])).expect("masked").into_value();
    let gone = RaggedTensor::from_row_lengths(odd.clone(), &of([1, 1, 1])).expect("rows").into_value();
    let gone = MaskedTensor::new(gone, bits([false, true, true])).expect("masked").into_value();
    let codes = Tensor::new::<i8>(&[3], &[2, 1, 2]).expect("codes");
    let words = CategoricalTensor::new(codes, odd, false).expect("categories").into_value();
    let lists = RaggedTensor::from_row_lengths(at(None), &of([2, 0, 1])).expect("rows").into_value();
    let fields = [("clock", clock.clone()), ("date", date.clone())];
    let record = StructTensor::from_fields(extenso_types::Shape::known(&[3]), fields).expect("a record").into_value();
    let record = MaskedTensor::new(record, bits([true, false, true])).expect("masked").into_value();
    let columns = [("at", at(Some("Europe/Berlin"))), ("clock", clock), ("date", date), ("lists", lists)];
    let columns = columns.into_iter().chain([("hidden", hidden), ("record", record), ("gone", gone), ("words", words)]);
    Nest::dict(columns.map(|(name, value)| (name, Nest::Leaf(value))))
}

#[test]
fn times_of_units_that_parquet_lacks_are_read_as_they_were_written() {
    let value = times(1_700_000_000, 86_400_000);
    let source: ParquetSource = encode_parquet(&value).expect("writes").into();
    let bytes = bytes::Bytes::from(encode_parquet(&value).expect("writes"));
    let file = parquet::file::metadata::ParquetMetaDataReader::new().parse_and_finish(&bytes).expect("a file");
    let file = file.file_metadata().schema_descr();
    let read = read_parquet(&source, &ParquetOptions::default()).expect("reads").value;
    let specs = value.leaves().into_iter().map(|(_, value)| value.spec().expect("a spec").to_string());
    let fields = <extenso_ext::StructTensor as extenso_core::ExtensionType>::from_value(&read).expect("records");
    for ((name, value), spec) in value.leaves().iter().map(|(at, value)| (at.to_string(), *value)).zip(specs) {
        let again = fields.field(&name).expect("a field");
        // Items that nobody sees are not written, and neither are words.
        if !matches!(&*name, "gone" | "words") {
            assert_eq!(again.spec().expect("a spec").to_string(), spec, "{name}");
        }
        assert_eq!(to_literal(again).expect("a literal"), to_literal(value).expect("a literal"), "{name}");
    }
    let stored = |leaf: usize| file.column(leaf).logical_type_ref().cloned();
    assert!((0..file.num_columns()).all(|leaf| stored(leaf).is_some()));
    let blocks = read_parquet_blocks(&source, 2, ParquetOptions::default()).expect("opens");
    let texts = blocks.map(|b| to_literal(&b.expect("a block").value).expect("one").to_string()).collect::<Vec<_>>();
    let joined = texts.iter().map(|text| &text[1..text.len() - 1]).collect::<Vec<_>>().join(", ");
    assert_eq!(format!("[{joined}]"), to_literal(&read).expect("one").to_string());
    let kept = |path: &str, literal: Literal| {
        let comparison = "==".parse().expect("a sign");
        let condition = Condition { path: path.parse().expect("a path"), comparison, literal };
        let options = ParquetOptions { prune: vec![condition], ..ParquetOptions::default() };
        self::literal(&source, &options) != "[]"
    };
    let count = |path, count| kept(path, Literal::Int(count));
    assert!(count("at", 1_700_000_000) && count("date", 86_400_000));
    assert!(!count("at", 1_700_000_001) && !count("date", 2 * 86_400_000));
    let text = |path, text: &str| kept(path, Literal::Text(text.as_bytes().to_vec()));
    assert!(text("at", "2023-11-14T22:13:20Z") && text("date", "1970-01-02"));
    assert!(!text("at", "2023-11-14T22:13:21Z") && !text("date", "1970-01-03"));
}

#[test]
fn times_that_parquet_does_not_hold_are_refused() {
    let error = encode_parquet(&times(i64::MAX / 999, 0)).expect_err("too late").to_string();
    assert!(error.contains("column 'at'") && error.contains("milliseconds"), "{error}");
    let error = encode_parquet(&times(0, 1)).expect_err("no day").to_string();
    assert!(error.contains("column 'date'") && error.contains("Wanted: whole days"), "{error}");
}

#[test]
fn a_panic_of_the_reader_is_an_error() {
    let error = guarded::<(), String>(|| std::panic::panic_any("odd pages")).expect_err("a panic");
    assert!(error.is_data() && error.to_string().starts_with("the Parquet data is malformed: odd pages"), "{error}");
    assert!(guarded::<(), String>(|| std::panic::panic_any(7)).is_err());
}

#[test]
fn columns_that_nest_too_deep_are_refused_before_they_are_followed() {
    // Field 2, a list of the schema's elements; of each, field 5 is the number of its children.
    let groups = 1500_u16;
    let length = [0x80 | (groups & 0x7f) as u8, (groups >> 7) as u8];
    let metadata = [vec![0x29, 0xfc, length[0], length[1]], [0x55, 2, 0].repeat(groups.into()), vec![0]].concat();
    let tail = u32::try_from(metadata.len()).expect("short").to_le_bytes();
    let file = [&b"PAR1"[..], &metadata, &tail, b"PAR1"].concat();
    let deep = (0..800).fold(Value::from(Tensor::from_vec(vec![1])), |value, _| {
        let fields = [("a", value)];
        extenso_ext::StructTensor::from_fields(extenso_types::Shape::known(&[1]), fields)
            .expect("a record")
            .into_value()
    });
    let read = read_parquet(&file.into(), &ParquetOptions::default()).map(drop);
    let written = encode_parquet(&Nest::Leaf(deep.clone())).map(drop);
    for refused in [read, written, encode_parquet(&Nest::dict([("x", Nest::Leaf(deep))])).map(drop)] {
        let error = refused.expect_err("too deep").to_string();
        assert!(error.contains("nest too deep") && error.contains("at most 6"), "{error}");
    }
}

#[test]
fn columns_of_records_and_lists_are_put_together_whatever_their_number() {
    let names: String =
        (0..9).map(|i| format!("\"c{i}\": [{{\"a\": {i}, \"b\": {{\"x\": 1, \"y\": null}}}}], ")).collect();
    let rows = format!("{{{names}\"z\": 1}}\n{{{names}\"z\": 2}}\n");
    let value = read_json(rows.as_bytes(), &Default::default()).expect("reads").value;
    let wanted = to_literal(&value).expect("a literal").to_string();
    assert_eq!(literal(&file(&rows), &ParquetOptions::default()), wanted);
}
