//! Types with a meaning, by a spec, in every format: what was written is read as the components that it had, plain, missing, in lists and
//! in members of a oneof. The tables say which field or feature holds which type.
#![cfg(all(feature = "proto", feature = "parquet", feature = "avro"))]

use extenso_core::{ExtensionType, Tensor, Value};
use extenso_ext::{
    Bool8Tensor, CategoricalTensor, DateTensor, DecimalTensor, DurationTensor, FixedBytesTensor, JsonTensor,
    MaskedTensor, RaggedTensor, StructTensor, TimeTensor, TimestampTensor, spelled,
};
use extenso_formats::arrow::{
    ArrowOptions, from_arrow_field, from_arrow_field_as, read_ipc, to_arrow_field, write_ipc,
};
use extenso_formats::csv::{CsvOptions, encode_csv, read_csv};
use extenso_formats::proto::{Example, ExampleOptions, MessageType, Messages, Schema, encode_examples, read_examples};
use extenso_formats::{
    AvroOptions, OnError, ParquetOptions, ProtobufOptions, decode_ndjson, encode_avro, encode_ndjson, encode_parquet,
    encode_proto, encode_proto_json, read_avro, read_parquet, read_proto, read_proto_json,
};
use extenso_types::{Nest, Result, Shape, Spec};

/// A type, three values of which the second is its default, and the fields of messages that hold it.
type Case = (&'static str, Value, &'static [&'static str]);

const STAMP: &str = "google.protobuf.Timestamp";
const TOOK: &str = "google.protobuf.Duration";

fn cases() -> Vec<Case> {
    let i64s = |numbers: [i64; 3]| Tensor::from_vec(numbers.to_vec());
    let i32s = |numbers: [i32; 3]| Tensor::from_vec(numbers.to_vec());
    let stamps = |numbers, unit, zone| TimestampTensor::new(i64s(numbers), unit, zone).expect("times").into_value();
    let decimals = |texts: [&str; 3], precision, scale| {
        DecimalTensor::parse(&texts, precision, scale).expect("decimals").into_value()
    };
    let cells = |width: usize, kind| {
        let bytes: Vec<u8> = (0..3 * width).map(|i| if i / width == 1 { 0 } else { (i * 37 + 200) as u8 }).collect();
        let cells = Tensor::new::<u8>(&[3, width], &bytes).expect("bytes");
        FixedBytesTensor::new(cells, kind).expect("bytes").into_value()
    };
    let words = |codes: [i8; 3], words: &[&str]| {
        let words = Tensor::strings(&[words.len()], words).expect("words");
        let codes = Tensor::new::<i8>(&[3], &codes).expect("codes");
        CategoricalTensor::new(codes, words, false).expect("categories").into_value()
    };
    vec![
        ("utc", stamps([981_173_106_500, 0, -1], "ms", Some("UTC")), &[STAMP, "string", "int64", "sfixed64"]),
        ("ahead", stamps([981_173_106, 0, -1], "s", Some("+05:30")), &[STAMP, "string", "int64"]),
        ("named", stamps([i64::MAX, 0, i64::MIN], "ns", Some("Europe/Berlin")), &[STAMP, "string", "sint64"]),
        ("local", stamps([7, 0, -1_000_001], "us", None), &["string", "int64"]),
        ("day", DateTensor::new(i32s([11_016, 0, -1]), "d").expect("days").into_value(), &["string", "int32", "int64"]),
        (
            "day_ms",
            DateTensor::new(i64s([86_400_000, 0, -86_400_000]), "ms").expect("days").into_value(),
            &["string", "int64"],
        ),
        (
            "time",
            TimeTensor::new(i64s([86_399_000_001, 0, 1]), "us").expect("times").into_value(),
            &["string", "uint64"],
        ),
        (
            "second",
            TimeTensor::new(i32s([86_399, 0, 1]), "s").expect("times").into_value(),
            &["string", "uint32", "fixed32"],
        ),
        (
            "took",
            DurationTensor::new(i64s([1_500, 0, -7]), "ms").expect("durations").into_value(),
            &[TOOK, "string", "int64"],
        ),
        ("price", decimals(["12.50", "0", "-0.01"], 10, 2), &["string"]),
        ("wide", decimals(["1e30", "0", "-1e-30"], 70, 30), &["string"]),
        ("id", cells(16, Some("uuid")), &["string", "bytes"]),
        ("mac", cells(6, None), &["bytes"]),
        ("digest", cells(40, None), &["bytes"]),
        (
            "json",
            JsonTensor::new(Tensor::strings(&[3], &["{\"a\": 1}", "", "[]"]).expect("texts"))
                .expect("JSON")
                .into_value(),
            &["string"],
        ),
        ("word", words([0, 0, 1], &["b", "a"]), &["string", "Word"]),
        (
            "flag",
            Bool8Tensor::new(Tensor::new::<i8>(&[3], &[1, 0, 1]).expect("bytes")).expect("booleans").into_value(),
            &["bool"],
        ),
    ]
}

/// The dtypes, shapes and elements of a value's leaves.
fn components(value: &Value) -> Vec<String> {
    let mut leaves = Vec::new();
    value.push_leaves(&mut leaves).expect("leaves");
    leaves.iter().map(|leaf| format!("{} {leaf}", leaf.spec().expect("a spec"))).collect()
}

fn record(fields: Vec<(&'static str, Value)>) -> Value {
    StructTensor::from_fields(Shape::known(&[3]), fields).expect("records").into_value()
}

fn masked(values: &Value) -> Value {
    let there = Tensor::bools(&[3], &[true, false, true]).expect("bits");
    MaskedTensor::new(values.clone(), there).expect("masked").into_value()
}

fn listed(values: Value) -> Value {
    RaggedTensor::from_row_lengths(values, &Tensor::from_vec(vec![2_i64, 0, 1])).expect("rows").into_value()
}

fn check(what: &str, value: &Value, again: impl FnOnce(&Nest<Value>, &Spec) -> Result<Value>) {
    let spec = value.spec().expect("a spec");
    let read = again(&Nest::Leaf(value.clone()), &spec).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(components(&read), components(value), "{what}");
    assert_eq!(read.spec().expect("a spec").to_string(), spec.to_string(), "{what}");
}

fn each(tensor: &Tensor) -> Vec<Vec<u8>> {
    let dense = tensor.data().expect("data");
    (0..dense.len()).map(|i| dense.text_at(i).expect("a text").to_vec()).collect()
}

#[test]
fn text_and_columns_hold_every_type() {
    for (name, values, _) in cases() {
        let flat = record(vec![("plain", values.clone()), ("maybe", masked(&values))]);
        check(&format!("{name} in CSV"), &flat, |value, spec| {
            let options = CsvOptions { spec: Some(spec.clone()), ..CsvOptions::default() };
            Ok(read_csv(&encode_csv(value, b',')?, &options)?.value)
        });
        let deep = record(vec![
            ("plain", values.clone()),
            ("maybe", masked(&values)),
            ("each", listed(values.clone())),
            ("some", listed(masked(&values))),
            ("all", masked(&record(vec![("inner", values.clone()), ("maybe", masked(&values))]))),
        ]);
        check(&format!("{name} in JSON"), &deep, |value, spec| {
            Ok(decode_ndjson(&encode_ndjson(value)?, spec, OnError::Raise)?.value)
        });
        check(&format!("{name} in Arrow"), &deep, |value, spec| {
            let (field, array) = to_arrow_field(value.leaves()[0].1)?;
            from_arrow_field_as(&field, array.as_ref(), spec)
        });
        check(&format!("{name} in IPC"), &deep, |value, spec| {
            let options = ArrowOptions { spec: Some(spec.clone()), ..ArrowOptions::default() };
            Ok(read_ipc(write_ipc(value.leaves()[0].1, false)?.into(), &options)?.value)
        });
        check(&format!("{name} in Parquet"), &deep, |value, spec| {
            let options = ParquetOptions { spec: Some(spec.clone()), ..ParquetOptions::default() };
            Ok(read_parquet(&encode_parquet(value)?.into(), &options)?.value)
        });
        check(&format!("{name} in Avro"), &deep, |value, spec| {
            let options = AvroOptions { spec: Some(spec.clone()), ..AvroOptions::default() };
            Ok(read_avro(&encode_avro(value, Default::default())?[..], &options)?.value)
        });
    }
}

#[test]
fn columns_of_text_are_read_as_what_they_spell() {
    for (name, values, _) in cases().into_iter().filter(|(name, ..)| *name != "json") {
        let text = spelled(&values).expect("texts");
        let given = record(vec![("plain", text.clone()), ("maybe", masked(&text)), ("some", listed(masked(&text)))]);
        let wanted =
            record(vec![("plain", values.clone()), ("maybe", masked(&values)), ("some", listed(masked(&values)))]);
        let spec = wanted.spec().expect("a spec");
        let given = Nest::Leaf(given);
        let arrow = || {
            let (field, array) = to_arrow_field(given.leaves()[0].1)?;
            from_arrow_field_as(&field, array.as_ref(), &spec)
        };
        let parquet = || {
            let options = ParquetOptions { spec: Some(spec.clone()), ..ParquetOptions::default() };
            Ok(read_parquet(&encode_parquet(&given)?.into(), &options)?.value)
        };
        let avro = || {
            let options = AvroOptions { spec: Some(spec.clone()), ..AvroOptions::default() };
            Ok(read_avro(&encode_avro(&given, Default::default())?[..], &options)?.value)
        };
        for (format, read) in [("Arrow", arrow()), ("Parquet", parquet()), ("Avro", avro())] {
            let read = read.unwrap_or_else(|e| panic!("{name} in {format}: {e}"));
            assert_eq!(components(&read), components(&wanted), "{name} in {format}");
        }
    }
}

#[test]
fn texts_that_spell_nothing_are_told_of_with_their_rows() {
    let texts: Value = Tensor::strings(&[3], &["2001-02-03", "soon", "2001-02-04"]).expect("texts").into();
    let (field, array) = to_arrow_field(&record(vec![("day", texts)])).expect("an array");
    let day = DateTensor::new(Tensor::from_vec(vec![0_i32]), "d").expect("days").into_value();
    let spec = opened(
        StructTensor::from_fields(Shape::known(&[1]), vec![("day", day)])
            .expect("records")
            .into_value()
            .spec()
            .expect("a spec"),
        false,
    );
    let error = from_arrow_field_as(&field, array.as_ref(), &spec).expect_err("no date").to_string();
    assert!(error.contains("row 1, 'day': the string \"soon\" came.\nWanted: a date, such as"), "{error}");
    let file = encode_parquet(&Nest::Leaf(from_arrow_field(&field, array.as_ref()).expect("a value"))).expect("writes");
    for (on_error, wanted) in [(OnError::Skip, "i32[2] [11356, 11357]"), (OnError::Default, "i32[3] [11356, 0, 11357]")]
    {
        let options = ParquetOptions { spec: Some(spec.clone()), on_error, ..ParquetOptions::default() };
        let rows = read_parquet(&file.clone().into(), &options).expect("reads");
        assert_eq!((components(&rows.value).concat().as_str(), rows.bad.rows), (wanted, vec![1]));
    }
}

#[test]
fn decimals_are_read_in_any_digits_that_hold_them() {
    let decimals = |texts: &[&str], precision, scale| {
        let value = DecimalTensor::parse(texts, precision, scale).expect("decimals").into_value();
        StructTensor::from_fields(Shape::known(&[texts.len()]), vec![("d", value)]).expect("records").into_value()
    };
    let read_of = |value: &Value, (most, of): (i64, i64), precision, scale| -> Result<Value> {
        let spec = opened(decimals(&["0"], precision, scale).spec()?, false);
        let (field, array) = to_arrow_field(value)?;
        let arrow = from_arrow_field_as(&field, array.as_ref(), &spec)?;
        let value = Nest::Leaf(value.clone());
        let options = ParquetOptions { spec: Some(spec.clone()), ..ParquetOptions::default() };
        // Parquet has no negative scales, and no more places than digits.
        let parquet = if (0..=most).contains(&of) {
            read_parquet(&encode_parquet(&value)?.into(), &options)?.value
        } else {
            arrow.clone()
        };
        let options = AvroOptions { spec: Some(spec), ..AvroOptions::default() };
        let avro = read_avro(&encode_avro(&value, Default::default())?[..], &options)?.value;
        assert_eq!(components(&parquet), components(&arrow));
        assert_eq!(components(&avro), components(&arrow));
        Ok(arrow)
    };
    let texts = ["12.50", "-0.25", "0"];
    let given = decimals(&texts, 10, 2);
    let read = |value: &Value, precision, scale| read_of(value, (10, 2), precision, scale);
    for (precision, scale) in [(10, 2), (11, 2), (12, 4), (38, 20), (39, 2), (76, 60), (4, 2)] {
        let wanted = decimals(&texts, precision, scale);
        assert_eq!(
            components(&read(&given, precision, scale).expect("reads")),
            components(&wanted),
            "{precision}, {scale}"
        );
    }
    let error = read(&given, 10, 1).expect_err("a digit more").to_string();
    assert!(
        error.contains(
            "row 1, 'd': the decimal -0.25 came.\nWanted: a decimal number of 10 digits, 1 of them behind the point"
        ),
        "{error}"
    );
    let error = read(&given, 3, 2).expect_err("a digit more").to_string();
    assert!(error.contains("row 0, 'd': the decimal 12.50 came"), "{error}");
    // Avro has no such scales, and is read as what was written.
    for (texts, precision, scale) in [(["1200", "-300", "0"], 3, -2), (["9e70", "0", "-9e70"], 6, -70)] {
        let given = decimals(&texts, precision, scale);
        assert_eq!(
            components(&read_of(&given, (precision, scale), precision, scale).expect("reads")),
            components(&given),
            "{precision}, {scale}"
        );
    }
    let error =
        encode_avro(&Nest::Leaf(decimals(&["0"], 10, -70)), Default::default()).expect_err("too many").to_string();
    assert!(error.contains("'d' is a decimal of 10 digits and a scale of -70.\nWanted: at most 76 digits"), "{error}");
}

#[test]
fn categories_by_other_codes_are_brought_to_those_of_the_spec() {
    let words = |codes: Tensor, ordered| {
        let words = Tensor::strings(&[3], &["x", "y", "z"]).expect("words");
        let value = CategoricalTensor::new(codes, words, ordered).expect("categories").into_value();
        StructTensor::from_fields(Shape::known(&[2]), vec![("w", value)]).expect("records").into_value()
    };
    let given = words(Tensor::from_vec(vec![2_i32, 0]), false);
    let (field, array) = to_arrow_field(&given).expect("an array");
    let read = |spec: &Spec| from_arrow_field_as(&field, array.as_ref(), spec);
    let narrow = words(Tensor::new::<u8>(&[2], &[2, 0]).expect("codes"), false);
    assert_eq!(components(&read(&narrow.spec().expect("a spec")).expect("reads")), components(&narrow));
    let ordered = words(Tensor::from_vec(vec![2_i32, 0]), true);
    assert!(read(&ordered.spec().expect("a spec")).is_err());
}

fn row_of(field: &str) -> MessageType {
    let text = format!(
        "syntax = 'proto3';
        import 'google/protobuf/timestamp.proto'; import 'google/protobuf/duration.proto';
        enum Word {{ a = 0; b = 1; }}
        message Inner {{ {field} inner = 1; optional {field} maybe = 2; }}
        message Row {{
            {field} plain = 1; optional {field} maybe = 2; repeated {field} each = 3; {field} bare = 4; Inner all = 5;
            map<string, {field}> at = 6;
        }}"
    );
    Schema::from_text(&text).and_then(|schema| schema.message("Row")).expect("a message")
}

#[test]
fn fields_of_messages_hold_every_type() {
    for (name, values, fields) in cases() {
        for field in fields {
            let row = row_of(field);
            let entries = record(vec![
                ("key", Tensor::strings(&[3], &["x", "y", "x"]).expect("keys").into()),
                ("value", values.clone()),
            ]);
            let value = record(vec![
                ("plain", values.clone()),
                ("maybe", masked(&values)),
                ("each", listed(values.clone())),
                ("all", masked(&record(vec![("inner", values.clone()), ("maybe", masked(&values))]))),
                ("at", listed(entries)),
            ]);
            let of = |spec: &Spec| ProtobufOptions { spec: Some(spec.clone()), ..ProtobufOptions::default() };
            check(&format!("{name} in {field}"), &value, |value, spec| {
                let messages = each(&encode_proto(value, &row)?);
                let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
                Ok(read_proto(Messages::Each(&messages), &row, &of(spec))?.value)
            });
            check(&format!("{name} in the JSON of {field}"), &value, |value, spec| {
                Ok(read_proto_json(&encode_proto_json(value, &row)?, &row, &of(spec))?.value)
            });
        }
    }
}

#[test]
fn examples_hold_every_type() {
    for (name, values, _) in cases() {
        let value =
            record(vec![("plain", values.clone()), ("maybe", masked(&values)), ("each", listed(values.clone()))]);
        check(&format!("{name} in examples"), &value, |value, spec| {
            let messages = each(&encode_examples(value, Example::Plain)?);
            let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
            let options =
                ExampleOptions { spec: spec.clone(), paths: None, example: Example::Plain, on_error: OnError::Raise };
            Ok(read_examples(Messages::Each(&messages), &options)?.value)
        });
    }
}

#[test]
fn what_a_field_cannot_hold_is_refused_both_ways() {
    let all = cases();
    let values = |name: &str| {
        all.iter().find(|(known, ..)| *known == name).map(|(_, values, _)| values.clone()).expect("a case")
    };
    let check = |name: &str, field: &str, wanted: &str| {
        let value = record(vec![("plain", values(name))]);
        let (row, spec) = (row_of(field), value.spec().expect("a spec"));
        let options = ProtobufOptions { spec: Some(spec), ..ProtobufOptions::default() };
        for found in [
            encode_proto(&Nest::Leaf(value), &row).map(drop),
            read_proto(Messages::Each(&[]), &row, &options).map(drop),
        ] {
            let error = found.expect_err(name).to_string();
            assert!(error.contains("'plain'") && error.contains(wanted), "{error}");
        }
    };
    check("local", STAMP, "a field of strings or integers");
    check("took", STAMP, "a field of google.protobuf.Duration, a string, or integers");
    check("utc", "double", "a field of google.protobuf.Timestamp, a string, or integers");
    check("utc", "Word", "a field of google.protobuf.Timestamp");
    check("price", "int64", "a field of strings");
    check("mac", "string", "a field of bytes");
    check("id", "int64", "a field of strings or bytes");
    check("flag", "int32", "a field of kind int32");
}

#[test]
fn a_time_in_parts_is_the_last_of_each() {
    let row = row_of(STAMP);
    let at = TimestampTensor::new(Tensor::from_vec(vec![0_i64]), "ms", Some("UTC")).expect("times").into_value();
    let value = StructTensor::from_fields(Shape::known(&[1]), vec![("plain", at)]).expect("records").into_value();
    let read = |bytes: &[u8]| {
        let options = ProtobufOptions { spec: Some(value.spec().expect("a spec")), ..ProtobufOptions::default() };
        let read = read_proto(Messages::Each(&[bytes]), &row, &options).map(|rows| components(&rows.value).concat());
        read.unwrap_or_else(|e| e.to_string())
    };
    let check = |bytes: &[u8], wanted: &str| {
        let found = read(bytes);
        assert!(found.contains(wanted), "{found}");
    };
    check(b"\x0a\x02\x08\x07", "[7000]");
    check(b"\x0a\x00", "[0]");
    check(b"\x0a\x02\x08\x07\x0a\x04\x10\x80\x89\x7a", "[7002]");
    check(b"\x0a\x04\x08\x07\x08\x05\x0a\x02\x08\x02", "[2000]");
    check(b"", "'plain': the field is missing");
    check(
        b"\x0a\x02\x10\x01",
        "0 s and 1 ns came.\nWanted: a time of RFC 3339 with its zone, such as \"2001-02-03T04:05:06Z\", in whole milliseconds",
    );
    check(b"\x0a\x0b\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "0 s and -1 ns came");
    check(b"\x0a\x02\x0d\x01", "Wanted: a varint");
    check(b"\x0a\x05\x08", "a length of 5 bytes stands here");
}

#[test]
fn texts_that_say_nothing_are_refused_with_their_place() {
    let row = row_of("string");
    let price = DecimalTensor::parse(&["0"], 10, 2).expect("decimals").into_value();
    let value = StructTensor::from_fields(Shape::known(&[1]), vec![("plain", price)]).expect("records").into_value();
    let options = ProtobufOptions { spec: Some(value.spec().expect("a spec")), ..ProtobufOptions::default() };
    let refused = |bytes: &[u8], wanted: &str| {
        let error = read_proto(Messages::Each(&[bytes]), &row, &options).expect_err(wanted).to_string();
        assert!(error.contains(wanted), "{error}");
    };
    refused(
        b"\x0a\x05\"1.0\"",
        "row 0, byte 2, 'plain': the string \"\\\"1.0\\\"\" came.\nWanted: a decimal number of 10 digits",
    );
    refused(b"\x0a\x00", "the string \"\" came");
    refused(b"", "the field is missing");
    let error = read_proto_json(b"{\"plain\": 1.5}", &row, &options).expect_err("a number").to_string();
    assert!(error.contains("row 0, byte 10, 'plain': the number 1.5 came"), "{error}");
}

#[test]
fn categories_are_those_that_are_there_in_the_order_in_which_they_come() {
    let spec = |size: Option<usize>, codes: &str| {
        let words = Tensor::strings(&[size.unwrap_or(2)], &vec!["w"; size.unwrap_or(2)]).expect("words");
        let codes = if codes == "i8" { Tensor::new::<i8>(&[1], &[0]) } else { Tensor::new::<u16>(&[1], &[0]) };
        let value = CategoricalTensor::new(codes.expect("codes"), words, false).expect("categories").into_value();
        let value = StructTensor::from_fields(Shape::known(&[1]), vec![("w", value)]).expect("records").into_value();
        opened(value.spec().expect("a spec"), size.is_none())
    };
    let lines = |words: &[String]| words.iter().map(|word| format!("{{\"w\": \"{word}\"}}\n")).collect::<String>();
    let read = |words: &[String], spec: &Spec| {
        let read = decode_ndjson(lines(words).as_bytes(), spec, OnError::Raise);
        read.map_or_else(|e| e.to_string(), |rows| components(&rows.value).join(" "))
    };
    let few = ["b", "a", "b", "", "a"].map(String::from);
    assert_eq!(read(&few, &spec(None, "i8")), "i8[5] [0, 1, 0, 2, 1] string[3] [\"b\", \"a\", \"\"]");
    assert_eq!(read(&[], &spec(None, "i8")), "i8[0] [] string[0] []");
    assert!(
        read(&few, &spec(Some(4), "i8")).contains("'w': 3 categories came.\nWanted: 4."),
        "{}",
        read(&few, &spec(Some(4), "i8"))
    );
    let many: Vec<String> = (0..129).map(|i| format!("w{i}")).collect();
    assert!(read(&many, &spec(None, "i8")).contains("129 categories came.\nWanted: at most 128, which i8 counts."));
    assert!(read(&many, &spec(None, "u16")).contains("string[129]"));
    // A row that is left out adds no category.
    let rows =
        decode_ndjson(b"{\"w\": \"x\"}\n{\"w\": 1}\n{\"w\": \"y\"}", &spec(None, "i8"), OnError::Skip).expect("reads");
    assert_eq!(components(&rows.value).join(" "), "i8[2] [0, 1] string[2] [\"x\", \"y\"]");
}

/// The spec for any number of rows, and of categories.
fn opened(spec: Spec, categories: bool) -> Spec {
    match spec {
        Spec::Tensor(t) => {
            let dims = t.shape.dims().expect("known").iter().skip(1).copied();
            extenso_types::TensorSpec::new(t.dtype, Shape::new(std::iter::once(extenso_types::Dim::any()).chain(dims)))
                .into()
        }
        Spec::Partition(_) => panic!("no rows here"),
        Spec::Ext(ext) => {
            let mut ext = (*ext).clone();
            for (segment, part) in &mut ext.components {
                if categories || *segment != extenso_types::Segment::component("categories") {
                    *part = opened(part.clone(), categories);
                }
            }
            Spec::from(ext)
        }
    }
}
