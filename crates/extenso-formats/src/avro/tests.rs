//! Laws of Avro: what is written is read; bytes from outside give a value or an error, and no more memory than they are worth.

mod hostile;

use super::put::{put_long, put_text};
use super::{AvroCodec, AvroOptions, encode_avro, read_avro};
use crate::arrow::from_arrow;
use crate::{FieldSpec, OnError, struct_spec};
use arrow_array::types::Int16Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Date64Array, Decimal128Array, Decimal256Array,
    DictionaryArray, DurationMillisecondArray, FixedSizeBinaryArray, FixedSizeListArray, Float16Array, Float32Array,
    Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, IntervalMonthDayNanoArray, LargeStringArray,
    ListArray, StructArray, Time32MillisecondArray, Time32SecondArray, Time64MicrosecondArray, Time64NanosecondArray,
    TimestampMicrosecondArray, TimestampNanosecondArray, TimestampSecondArray, UInt8Array, UInt16Array, UInt32Array,
    UInt64Array, UnionArray,
};
use arrow_buffer::{IntervalMonthDayNano, i256};
use arrow_schema::{DataType, Field};
use extenso_core::{ExtensionType, Value};
use extenso_ext::to_literal;
use extenso_types::{DType, Nest, Path, Result, Spec};
use half::f16;
use std::sync::Arc;

const MAGIC: &[u8] = b"Obj\x01";

const CODECS: [AvroCodec; 4] = [AvroCodec::Null, AvroCodec::Deflate, AvroCodec::Snappy, AvroCodec::Zstd];

/// A file of one block, and what stands in the header beside the schema.
fn file(schema: &str, codec: &str, rows: i64, data: &[u8]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    put_long(2, &mut out);
    for (key, value) in [("avro.schema", schema), ("avro.codec", codec)] {
        put_text(key.as_bytes(), &mut out);
        put_text(value.as_bytes(), &mut out);
    }
    put_long(0, &mut out);
    let marker = [7; 16];
    out.extend_from_slice(&marker);
    put_long(rows, &mut out);
    put_text(data, &mut out);
    out.extend_from_slice(&marker);
    out
}

fn record(fields: &str) -> String {
    format!(r#"{{"type":"record","name":"r","fields":[{fields}]}}"#)
}

fn longs(numbers: &[i64]) -> Vec<u8> {
    let mut out = Vec::new();
    numbers.iter().for_each(|number| put_long(*number, &mut out));
    out
}

fn text(value: &Value) -> String {
    to_literal(value).expect("a literal").to_string()
}

fn read(bytes: &[u8], options: &AvroOptions) -> Result<String> {
    read_avro(bytes, options).map(|rows| text(&rows.value))
}

fn check(schema: &str, rows: i64, data: &[u8], wanted: &str) {
    let read = read(&file(schema, "null", rows, data), &AvroOptions::default());
    assert_eq!(read.map_err(|e| e.to_string()), Ok(wanted.to_string()), "{schema}");
}

fn check_refused(bytes: &[u8], options: &AvroOptions, wanted: &str) {
    let error = read(bytes, options).expect_err(wanted).to_string();
    assert!(error.contains(wanted), "{error}");
}

fn paths(paths: &[&str]) -> AvroOptions {
    let paths: Vec<Path> = paths.iter().map(|path| path.parse().expect("a path")).collect();
    AvroOptions { paths: Some(paths), ..AvroOptions::default() }
}

fn with_spec(spec: Spec) -> AvroOptions {
    AvroOptions { spec: Some(spec), ..AvroOptions::default() }
}

/// Columns of every type that a value has, of three rows.
fn columns() -> Vec<(&'static str, ArrayRef)> {
    let floats = ["-0.0", "1.5", "NaN"].map(|text| text.parse::<f64>().expect("a float"));
    let halves = floats.map(f16::from_f64);
    let list = |values: Vec<Option<Vec<Option<i32>>>>| {
        ListArray::from_iter_primitive::<arrow_array::types::Int32Type, _, _>(values)
    };
    let pairs = FixedSizeListArray::new(
        Arc::new(Field::new("item", DataType::Float64, false)),
        2,
        Arc::new(Float64Array::from(vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0])),
        None,
    );
    let inner = StructArray::from(vec![(
        Arc::new(Field::new("a b", DataType::Utf8, true)),
        Arc::new(arrow_array::StringArray::from(vec![Some("x"), None, Some("")])) as ArrayRef,
    )]);
    let words: DictionaryArray<Int16Type> = vec!["red", "green", "red"].into_iter().collect();
    let decimals = Decimal128Array::from(vec![-1, 0, 12345]).with_precision_and_scale(10, 2).expect("digits");
    let wide = Decimal256Array::from(vec![i256::MIN >> 4, i256::from_i128(-129), i256::MAX >> 4]);
    let narrow = Decimal256Array::from(vec![i256::from_i128(1); 3]).with_precision_and_scale(3, 0).expect("digits");
    vec![
        ("bool", Arc::new(BooleanArray::from(vec![true, false, true]))),
        ("i8", Arc::new(Int8Array::from(vec![i8::MIN, 0, i8::MAX]))),
        ("i16", Arc::new(Int16Array::from(vec![i16::MIN, 0, i16::MAX]))),
        ("i32", Arc::new(Int32Array::from(vec![i32::MIN, 0, i32::MAX]))),
        ("i64", Arc::new(Int64Array::from(vec![i64::MIN, 0, i64::MAX]))),
        ("u8", Arc::new(UInt8Array::from(vec![0, 1, u8::MAX]))),
        ("u16", Arc::new(UInt16Array::from(vec![0, 1, u16::MAX]))),
        ("u32", Arc::new(UInt32Array::from(vec![0, 1, u32::MAX]))),
        ("u64", Arc::new(UInt64Array::from(vec![0, 1, u64::MAX]))),
        ("f16", Arc::new(Float16Array::from(halves.to_vec()))),
        ("f32", Arc::new(Float32Array::from(vec![-0.0, 1e-45, f32::INFINITY]))),
        ("f64", Arc::new(Float64Array::from(floats.to_vec()))),
        ("string", Arc::new(LargeStringArray::from(vec!["", "ß", "日本"]))),
        ("bytes", Arc::new(BinaryArray::from(vec![&b""[..], b"\xff\x00", b"a"]))),
        ("fixed", Arc::new(FixedSizeBinaryArray::try_from_iter([b"abc", b"def", b"\0\0\0"].iter()).expect("bytes"))),
        ("date", Arc::new(Date32Array::from(vec![-1, 0, 20_000]))),
        ("date64", Arc::new(Date64Array::from(vec![-86_400_000, 0, 86_400_000]))),
        ("seconds", Arc::new(Time32SecondArray::from(vec![0, 1, 86_399]))),
        ("millis", Arc::new(Time32MillisecondArray::from(vec![0, 1, 86_399_999]))),
        ("micros", Arc::new(Time64MicrosecondArray::from(vec![0, 1, 2]))),
        ("nanos", Arc::new(Time64NanosecondArray::from(vec![0, 1, 2]))),
        ("at", Arc::new(TimestampMicrosecondArray::from(vec![i64::MIN, 0, i64::MAX]).with_timezone("UTC"))),
        ("there", Arc::new(TimestampNanosecondArray::from(vec![-1, 0, 1]).with_timezone("Europe/Berlin"))),
        ("local", Arc::new(TimestampSecondArray::from(vec![-1, 0, 1]))),
        ("span", Arc::new(DurationMillisecondArray::from(vec![-1, 0, 1]))),
        ("months", Arc::new(IntervalMonthDayNanoArray::from(vec![IntervalMonthDayNano::new(-1, 2, i64::MIN); 3]))),
        ("decimal", Arc::new(decimals)),
        ("wide", Arc::new(wide.with_precision_and_scale(76, 4).expect("digits"))),
        ("narrow", Arc::new(narrow)),
        ("words", Arc::new(words)),
        ("pairs", Arc::new(pairs)),
        ("list", Arc::new(list(vec![Some(vec![Some(1), Some(2)]), Some(vec![]), Some(vec![Some(-3)])]))),
        ("holes", Arc::new(list(vec![Some(vec![Some(1), None]), None, Some(vec![])]))),
        ("maybe", Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]))),
        ("inner", Arc::new(inner)),
    ]
}

fn batch() -> Value {
    let columns = columns();
    let fields = columns.iter().map(|(name, array)| {
        let nullable = array.null_count() > 0;
        (Arc::new(Field::new(*name, array.data_type().clone(), nullable)), array.clone())
    });
    from_arrow(&StructArray::from(fields.collect::<Vec<_>>())).expect("a value")
}

#[test]
fn what_is_written_is_read_by_every_codec() {
    let value = batch();
    let spec = value.spec().expect("a spec");
    for codec in CODECS {
        let bytes = encode_avro(&Nest::Leaf(value.clone()), codec).expect("writes");
        for options in [AvroOptions::default(), with_spec(spec.clone())] {
            let again = read_avro(&bytes[..], &options).expect("reads").value;
            assert_eq!(text(&again), text(&value), "{codec:?}");
            // The widths of offsets, too.
            assert_eq!(again.spec().expect("a spec").to_string(), spec.to_string(), "{codec:?}");
        }
    }
}

#[test]
fn every_field_is_read_alone() {
    let value = batch();
    let bytes = encode_avro(&Nest::Leaf(value.clone()), AvroCodec::Deflate).expect("writes");
    let rows = extenso_ext::StructTensor::from_value(&value).expect("records");
    for (name, _) in columns() {
        let alone = read_avro(&bytes[..], &paths(&[name])).expect("reads").value;
        let alone = extenso_ext::StructTensor::from_value(&alone).expect("records");
        assert_eq!(alone.field_names().collect::<Vec<_>>(), [name]);
        assert_eq!(text(alone.field(name).expect("a field")), text(rows.field(name).expect("a field")), "{name}");
    }
}

#[test]
fn the_types_of_avro_are_what_the_table_says() {
    let field = |of: &str| record(&format!(r#"{{"name":"x","type":{of}}}"#));
    let of = |of: &str, rows: i64, data: &[u8], wanted: &str| check(&field(of), rows, data, wanted);
    of(r#""long""#, 2, &longs(&[1, -1]), r#"[{"x": 1}, {"x": -1}]"#);
    of(r#"{"type":"boolean"}"#, 2, &[0, 1], r#"[{"x": False}, {"x": True}]"#);
    of(r#"["null","long"]"#, 2, &[&longs(&[1, 5])[..], &longs(&[0])].concat(), r#"[{"x": 5}, {"x": None}]"#);
    of(r#"["long","null"]"#, 2, &[&longs(&[0, 5])[..], &longs(&[1])].concat(), r#"[{"x": 5}, {"x": None}]"#);
    of(r#"["long"]"#, 1, &longs(&[0, 5]), r#"[{"x": 5}]"#);
    of(r#""null""#, 2, &[], r#"[{"x": None}, {"x": None}]"#);
    of(r#"["null"]"#, 1, &[0], r#"[{"x": None}]"#);
    of(r#"{"type":"enum","name":"e","symbols":["A","B"]}"#, 2, &longs(&[1, 0]), r#"[{"x": "B"}, {"x": "A"}]"#);
    of(r#"{"type":"array","items":"int"}"#, 2, &longs(&[2, 7, 8, 1, 9, 0, 0]), r#"[{"x": [7, 8, 9]}, {"x": []}]"#);
    // A count that is negative has the number of bytes behind it.
    of(r#"{"type":"array","items":"int"}"#, 1, &longs(&[-2, 2, 7, 8, 0]), r#"[{"x": [7, 8]}]"#);
    let entries = [&longs(&[1])[..], b"\x02a", &longs(&[5]), &longs(&[0])].concat();
    of(r#"{"type":"map","values":"long"}"#, 1, &entries, r#"[{"x": [{"key": "a", "value": 5}]}]"#);
    of(
        r#"["null","long","string"]"#,
        3,
        &[&longs(&[1, 5, 0, 2])[..], b"\x02a"].concat(),
        r#"[{"x": 5}, {"x": None}, {"x": "a"}]"#,
    );
    of(
        r#"{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}"#,
        1,
        b"\x04\xff\x38",
        r#"[{"x": "-2.00"}]"#,
    );
    // A logical type that does not fit is none.
    of(r#"{"type":"int","logicalType":"timestamp-millis"}"#, 1, &longs(&[7]), r#"[{"x": 7}]"#);
    let uuid = [&[72][..], b"123e4567-e89b-12d3-a456-426614174000"].concat();
    of(r#"{"type":"string","logicalType":"uuid"}"#, 1, &uuid, r#"[{"x": "123e4567-e89b-12d3-a456-426614174000"}]"#);
    check(
        r#"{"type":"array","items":"double"}"#,
        1,
        &[&longs(&[1])[..], &2.5_f64.to_le_bytes(), &longs(&[0])].concat(),
        "[[2.5]]",
    );
    check(&record(""), 3, &[], "[{}, {}, {}]");
}

#[test]
fn a_union_of_one_type_is_one_again() {
    for offsets in [None, Some(vec![1, 0].into())] {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), None]));
        let fields = [(3, Arc::new(Field::new("n", DataType::Int64, true)))].into_iter().collect();
        let union = UnionArray::try_new(fields, vec![3_i8, 3].into(), offsets, vec![numbers]).expect("a union");
        let field = Arc::new(Field::new("u", union.data_type().clone(), true));
        let rows = StructArray::from(vec![(field, Arc::new(union) as ArrayRef)]);
        let value = crate::arrow::from_arrow(&rows).expect("a value");
        let bytes = encode_avro(&Nest::Leaf(value.clone()), AvroCodec::Null).expect("writes");
        for options in [AvroOptions::default(), with_spec(value.spec().expect("a spec"))] {
            let again = read_avro(&bytes[..], &options).expect("reads").value;
            assert_eq!((text(&again), again.spec().expect("a spec")), (text(&value), value.spec().expect("a spec")));
        }
    }
    // Of other writers it is the type.
    check(&record(r#"{"name":"u","type":["null","long"]}"#), 2, &longs(&[1, 7, 0]), r#"[{"u": 7}, {"u": None}]"#);
}

#[test]
fn a_union_is_read_as_the_types_that_are_wanted() {
    let inner = r#"{"type":"record","name":"i","fields":[{"name":"a","type":"long"},{"name":"b","type":"string"}]}"#;
    let schema = record(&format!(r#"{{"name":"u","type":["string",{inner},"long"]}}"#));
    let rows = [&longs(&[0])[..], b"\x02s", &longs(&[1, 5]), b"\x02t", &longs(&[2, 7])].concat();
    let bytes = file(&schema, "null", 3, &rows);
    let whole = r#"[{"u": "s"}, {"u": {"a": 5, "b": "t"}}, {"u": 7}]"#;
    assert_eq!(read(&bytes, &AvroOptions::default()).expect("reads"), whole);
    assert_eq!(read(&bytes, &paths(&["u.i.a"])).expect("reads"), r#"[{"u": None}, {"u": {"a": 5}}, {"u": None}]"#);
    let all = read_avro(&bytes[..], &AvroOptions::default()).expect("reads").value.spec().expect("a spec");
    assert_eq!(read(&bytes, &with_spec(all.clone())).expect("reads"), whole);
    let part = crate::project::Wanted::of_paths(paths(&["u.string", "u.i.b"]).paths.as_deref());
    let part = part.and_then(|wanted| wanted.of(&all)).expect("a part");
    check_refused(&bytes, &with_spec(part), "row 2, 'u[0]': null came");
    check_refused(&bytes, &paths(&["u.double"]), "there is no 'u.double'.\nWanted: one of string, i, long");
}

/// A list that links to its rest.
const LINKED: &str =
    r#"{"type":"record","name":"n.Node","fields":[{"name":"v","type":"long"},{"name":"next","type":["null","Node"]}]}"#;

#[test]
fn a_record_that_holds_itself_is_followed_as_far_as_is_asked() {
    let bytes = file(LINKED, "null", 2, &longs(&[1, 1, 2, 1, 3, 0, 4, 0]));
    check_refused(&bytes, &AvroOptions::default(), "'next': record Node holds itself");
    assert_eq!(read(&bytes, &paths(&["v"])).expect("reads"), r#"[{"v": 1}, {"v": 4}]"#);
    let wanted = r#"[{"v": 1, "next": {"v": 2}}, {"v": 4, "next": None}]"#;
    assert_eq!(read(&bytes, &paths(&["v", "next.v"])).expect("reads"), wanted);
    let deep: Vec<i64> = (0..2000).flat_map(|i| [i, i64::from(i < 1999)]).collect();
    check_refused(&file(LINKED, "null", 1, &longs(&deep)), &paths(&["v"]), "nests too deep");
}

#[test]
fn a_schema_that_drifts_is_read_by_the_spec() {
    let schema = record(
        r#"{"name":"old","type":{"type":"map","values":{"type":"array","items":"string"}}},{"name":"n","type":"int"},
           {"name":"deep","type":{"type":"array","items":{"type":"record","name":"d","fields":[{"name":"a","type":"float"},{"name":"b","type":"bytes"}]}}}"#,
    );
    let old = [&longs(&[1])[..], b"\x02k", &longs(&[1]), b"\x02v", &longs(&[0, 0])].concat();
    let deep = [&longs(&[1])[..], &1.5_f32.to_le_bytes(), b"\x04\xff\xff", &longs(&[0])].concat();
    let bytes = file(&schema, "null", 1, &[old, longs(&[-3]), deep].concat());
    let scalar = |dtype| FieldSpec::Scalar(dtype, vec![]);
    let inner = |a| FieldSpec::List(Box::new(FieldSpec::Record(vec![a])));
    let optional = FieldSpec::Optional(Box::new(scalar(DType::String)));
    let spec = struct_spec([("n", scalar(DType::F64)), ("deep", inner(("a", scalar(DType::F64)))), ("new", optional)]);
    let wanted = r#"[{"n": -3.0, "deep": [{"a": 1.5}], "new": None}]"#;
    assert_eq!(read(&bytes, &with_spec(spec.expect("a spec"))).expect("reads"), wanted);
    let refused = |field, wanted: &str| {
        check_refused(&bytes, &with_spec(struct_spec([field]).expect("a spec")), wanted);
    };
    refused(("m", scalar(DType::F64)), "there is no column 'm'; there are: old, n, deep");
    refused(("deep", inner(("c", scalar(DType::F64)))), "there is no column 'deep[*].c'; there are: a, b");
    refused(("n", scalar(DType::I16)), "'n' has the Arrow type Int32.\nWanted: i16");
    check_refused(&bytes, &paths(&["deep[*].c"]), "there is no 'deep[*].c'.\nWanted: one of a, b");
}

#[test]
fn a_row_that_does_not_fit_is_left_out_or_replaced() {
    let schema = record(r#"{"name":"s","type":"string"},{"name":"l","type":{"type":"array","items":["null","long"]}}"#);
    let row = |s: &[u8], l: &[i64]| [&[u8::try_from(s.len() * 2).expect("short")], s, &longs(l)].concat();
    let rows = [row(b"a", &[1, 1, 7, 0]), row(b"\xff", &[1, 1, 8, 0]), row(b"c", &[2, 0, 1, 9, 0]), row(b"d", &[0])];
    let bytes = file(&schema, "null", 4, &rows.concat());
    check_refused(&bytes, &AvroOptions::default(), "'s': a string is not UTF-8");
    let policy = |on_error, spec: Option<Spec>| {
        let read = read_avro(&bytes[..], &AvroOptions { spec, on_error, ..AvroOptions::default() }).expect("reads");
        (text(&read.value), read.bad.rows)
    };
    let (skipped, bad) = policy(OnError::Skip, None);
    assert_eq!(skipped, r#"[{"s": "a", "l": [7]}, {"s": "c", "l": [None, 9]}, {"s": "d", "l": []}]"#);
    assert_eq!(bad, [1]);
    let (filled, _) = policy(OnError::Default, None);
    assert!(filled.contains(r#"{"s": "", "l": []}"#), "{filled}");
    // A null in a list that has none is found behind, by the spec.
    let list = FieldSpec::List(Box::new(FieldSpec::Scalar(DType::I64, vec![])));
    let spec = struct_spec([("s", FieldSpec::Scalar(DType::String, vec![])), ("l", list)]).expect("a spec");
    let (skipped, bad) = policy(OnError::Skip, Some(spec.clone()));
    assert_eq!((skipped.as_str(), bad), (r#"[{"s": "a", "l": [7]}, {"s": "d", "l": []}]"#, vec![1, 2]));
    let (filled, bad) = policy(OnError::Default, Some(spec));
    let wanted = r#"[{"s": "a", "l": [7]}, {"s": "", "l": []}, {"s": "", "l": []}, {"s": "d", "l": []}]"#;
    assert_eq!((filled.as_str(), bad), (wanted, vec![1, 2]));
}

#[test]
fn blocks_side_by_side_are_those_of_one_reader() {
    use super::{Reader, Want};
    let schema = record(
        r#"{"name":"n","type":["null","long"]},{"name":"s","type":{"type":"array","items":"string"}},{"name":"u","type":["int","string","null"]},
           {"name":"b","type":"boolean"},{"name":"e","type":{"type":"enum","name":"e","symbols":["x","y"]}}"#,
    );
    let row = |i: i64| {
        let mut row = if i % 3 == 0 { longs(&[0]) } else { longs(&[1, i]) };
        row.extend(longs(&[2]));
        for _ in 0..2 {
            put_text(format!("s{i}").as_bytes(), &mut row);
        }
        row.extend(longs(&[0]));
        match i % 4 {
            0 => row.extend(longs(&[0, i])),
            1 => row.extend(longs(&[2])),
            _ => {
                row.extend(longs(&[1]));
                put_text(b"t", &mut row);
            }
        }
        row.push(u8::from(i % 2 == 0));
        // The last one of some is no symbol.
        row.extend(longs(&[if i % 50 == 49 { 5 } else { i % 2 }]));
        row
    };
    let mut bytes = file(&schema, "null", 0, &[]);
    let empty = bytes.split_off(bytes.len() - 18);
    let marker = empty[2..].to_vec();
    for block in 0..40 {
        let rows: Vec<u8> = (block * 7..block * 7 + 7).flat_map(row).collect();
        put_long(7, &mut bytes);
        put_text(&rows, &mut bytes);
        bytes.extend(&marker);
    }
    for on_error in [OnError::Raise, OnError::Skip, OnError::Default] {
        let told = |batch: Result<Option<super::Batch>>| {
            let batch = batch.map_err(|e| e.to_string())?;
            Ok::<_, String>(batch.map(|batch| {
                let bad: Vec<_> = batch.bad.iter().map(|bad| (bad.row, bad.offset, bad.error.to_string())).collect();
                (batch.rows.to_data(), batch.count, bad)
            }))
        };
        for end in [bytes.len(), bytes.len() - 5, bytes.len() - 200] {
            let open = || Reader::open(&bytes[..end], Want::All, on_error).expect("opens");
            let together = extenso_core::with_threads(3, || told(open().all(Want::All)));
            assert!(together == told(open().next(usize::MAX)), "{on_error:?}, {end}");
        }
    }
}

#[test]
fn a_packed_file_is_the_file_in_it() {
    use std::io::{Read, Write};
    let value = Nest::dict([("x", Nest::Leaf(extenso_core::Tensor::from_vec(vec![1_i64, 2]).into()))]);
    let plain = encode_avro(&value, AvroCodec::Null).expect("writes");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).expect("packs");
    let gzip = gzip.finish().expect("packs");
    let zstd = zstd::encode_all(&plain[..], 1).expect("packs");
    for bytes in [&plain, &gzip, &zstd] {
        assert_eq!(read(bytes, &AvroOptions::default()).expect("reads"), r#"[{"x": 1}, {"x": 2}]"#);
    }
    check_refused(&gzip[..gzip.len() - 9], &AvroOptions::default(), "the gzip data is malformed");
    let bomb = zstd::encode_all(std::io::repeat(0).take(70 << 20), 1).expect("packs");
    check_refused(&bomb, &AvroOptions::default(), "of zstd hold more than");
}

#[test]
fn a_row_says_where_it_is_wrong() {
    let schema = record(r#"{"name":"a","type":{"type":"array","items":{"type":"enum","name":"e","symbols":["x"]}}}"#);
    let bytes = file(&schema, "null", 2, &longs(&[0, 2, 0, 5, 0]));
    let at = bytes.len() - 16 - 2;
    check_refused(&bytes, &AvroOptions::default(), &format!("row 1, byte {at}, 'a[1]': the number 5 of a symbol came"));
}

#[test]
fn names_and_words_that_avro_does_not_take_are_kept() {
    let words: DictionaryArray<Int16Type> =
        vec![Some("New York"), None, Some("a"), Some("New York")].into_iter().collect();
    let words = (Arc::new(Field::new("w", words.data_type().clone(), true)), Arc::new(words) as ArrayRef);
    let value = from_arrow(&StructArray::from(vec![words])).expect("a value");
    let spec = value.spec().expect("a spec");
    let bytes = encode_avro(&Nest::Leaf(value.clone()), AvroCodec::Null).expect("writes");
    let wanted = r#"[{"w": "New York"}, {"w": None}, {"w": "a"}, {"w": "New York"}]"#;
    assert_eq!(read(&bytes, &AvroOptions::default()).expect("reads"), wanted);
    let options = AvroOptions { spec: Some(spec), ..AvroOptions::default() };
    let again = read_avro(&bytes[..], &options).expect("reads").value;
    let leaves = |value: &Value| {
        let mut leaves = Vec::new();
        value.push_leaves(&mut leaves).expect("leaves");
        format!("{leaves:?}")
    };
    assert_eq!(leaves(&again), leaves(&value));
    let column = |name: &str| {
        (Arc::new(Field::new(name, DataType::Int64, false)), Arc::new(Int64Array::from(vec![1])) as ArrayRef)
    };
    let rows = StructArray::from(["a b", "a-b", "1", "ß", "a_b"].map(column).to_vec());
    let bytes = encode_avro(&Nest::Leaf(from_arrow(&rows).expect("a value")), AvroCodec::Null).expect("writes");
    let wanted = r#"[{"a b": 1, "a-b": 1, "1": 1, "ß": 1, "a_b": 1}]"#;
    assert_eq!(read(&bytes, &AvroOptions::default()).expect("reads"), wanted);
}
