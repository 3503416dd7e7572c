//! Times, decimals and bytes of one width in JSON and CSV by a spec: exact both ways, eager and in a graph, and refused where they do not fit.

use extenso_core::{ExtensionType, Tensor, TypeSpec, Value};
use extenso_ext::{
    Bool8Tensor, CategoricalTensor, DateTensor, DecimalTensor, DurationTensor, FixedBytesTensor, JsonTensor,
    StructSpec, StructTensor, TimeTensor, TimestampTensor, to_literal,
};
use extenso_formats::csv::{CsvOptions, encode_csv, read_csv};
use extenso_formats::{OnError, Rows, decode_ndjson, encode_ndjson, ops, run_records};
use extenso_graph::Function;
use extenso_types::{Dim, Nest, Result, Segment, Shape, Spec, TensorSpec};

/// The spec of a batch with a field for each of these values, for any number of rows.
fn spec_of(fields: Vec<(&str, Value)>) -> Spec {
    let rows = Dim::any();
    let any = |value: Value| rows_of(value.spec().expect("a spec"), rows);
    let fields: Vec<(&str, Spec)> = fields.into_iter().map(|(name, value)| (name, any(value))).collect();
    Spec::from(StructSpec::new(1, fields).expect("a record").serialize())
}

fn rows_of(spec: Spec, rows: Dim) -> Spec {
    match spec {
        Spec::Tensor(t) => {
            let dims = t.shape.dims().expect("known").iter().skip(1).copied();
            TensorSpec::new(t.dtype, Shape::new(std::iter::once(rows).chain(dims))).into()
        }
        Spec::Partition(_) => panic!("no rows here"),
        Spec::Ext(mut ext) => {
            let parts = std::mem::take(&mut ext_mut(&mut ext).components);
            // A vocabulary has a size of its own.
            let own = |s: &Segment| if *s == Segment::component("categories") { Dim::any() } else { rows };
            let open = |(s, part)| (Segment::clone(&s), rows_of(part, own(&s)));
            ext_mut(&mut ext).components = parts.into_iter().map(open).collect();
            Spec::Ext(ext)
        }
    }
}

fn ext_mut(ext: &mut std::sync::Arc<extenso_types::ExtSpec>) -> &mut extenso_types::ExtSpec {
    std::sync::Arc::make_mut(ext)
}

fn one_each() -> Spec {
    let i64s = || Tensor::from_vec(vec![0_i64]);
    let words = Tensor::strings(&[1], &["w"]).expect("words");
    let zoned = |unit, zone| TimestampTensor::new(i64s(), unit, zone).expect("times").into_value();
    spec_of(vec![
        ("utc", zoned("ms", Some("UTC"))),
        ("zone", zoned("s", Some("+05:30"))),
        ("named", zoned("ns", Some("Europe/Berlin"))),
        ("local", zoned("us", None)),
        ("day", DateTensor::new(Tensor::from_vec(vec![0_i32]), "d").expect("days").into_value()),
        ("day_ms", DateTensor::new(i64s(), "ms").expect("days").into_value()),
        ("time", TimeTensor::new(i64s(), "us").expect("times").into_value()),
        ("second", TimeTensor::new(Tensor::from_vec(vec![0_i32]), "s").expect("times").into_value()),
        ("took", DurationTensor::new(i64s(), "ms").expect("durations").into_value()),
        ("price", DecimalTensor::parse(&["0"], 10, 2).expect("decimals").into_value()),
        ("wide", DecimalTensor::parse(&["0"], 60, 30).expect("decimals").into_value()),
        ("id", cells(16, Some("uuid"))),
        ("mac", cells(6, None)),
        ("digest", cells(40, None)),
        ("doc", JsonTensor::new(Tensor::strings(&[1], &["1"]).expect("texts")).expect("JSON").into_value()),
        ("word", CategoricalTensor::new(Tensor::from_vec(vec![0_i32]), words, false).expect("categories").into_value()),
        ("flag", Bool8Tensor::new(Tensor::new::<i8>(&[1], &[0]).expect("bytes")).expect("booleans").into_value()),
    ])
}

fn cells(width: usize, kind: Option<&str>) -> Value {
    let cells = Tensor::new::<u8>(&[1, width], &vec![0; width]).expect("bytes");
    FixedBytesTensor::new(cells, kind).expect("bytes").into_value()
}

const GIVEN: &str = r#"{"utc": "2001-02-03T04:05:06.500Z", "zone": "1970-01-01T00:00:00Z", "named": "1970-01-01T01:00:00.000000001+01:00", "local": "1969-12-31 23:59:59.999999", "day": "2000-02-29", "day_ms": "1969-12-31", "time": "23:59:59.000001", "second": "00:00:01", "took": "PT1.5S", "price": 12.5, "wide": "-1e-30", "id": "01234567-89AB-cdef-0123-456789abcdef", "mac": "AAECLCIK", "digest": "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEyMzQ1Njc4OQ", "doc": "{\"a\": [1]}", "word": "b", "flag": true}"#;
const WRITTEN: &str = r#"{"utc":"2001-02-03T04:05:06.500Z","zone":"1970-01-01T05:30:00+05:30","named":"1970-01-01T00:00:00.000000001Z[Europe/Berlin]","local":"1969-12-31T23:59:59.999999","day":"2000-02-29","day_ms":"1969-12-31","time":"23:59:59.000001","second":"00:00:01","took":"1500ms","price":"12.50","wide":"-0.000000000000000000000000000001","id":"01234567-89ab-cdef-0123-456789abcdef","mac":"AAECLCIK","digest":"MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEyMzQ1Njc4OQ==","doc":"{\"a\": [1]}","word":"b","flag":true}"#;

fn shown(value: &Value) -> String {
    to_literal(value).expect("a literal").to_string()
}

#[test]
fn what_is_written_is_what_was_read() {
    let spec = one_each();
    let value = decode_ndjson(GIVEN.as_bytes(), &spec, OnError::Raise).expect("reads").value;
    assert!(value.spec().expect("a spec").is_subtype_of(&spec));
    let lines = encode_ndjson(&Nest::Leaf(value.clone())).expect("writes");
    assert_eq!(std::str::from_utf8(&lines).expect("text").trim_end(), WRITTEN);
    let again = decode_ndjson(&lines, &spec, OnError::Raise).expect("reads").value;
    assert_eq!(shown(&again), shown(&value));
    let table = encode_csv(&Nest::Leaf(value.clone()), b',').expect("writes");
    let again = read_csv(&table, &CsvOptions { spec: Some(spec), ..CsvOptions::default() }).expect("reads").value;
    assert_eq!(shown(&again), shown(&value));
}

#[test]
fn the_ops_read_and_write_them_too() {
    let spec = one_each();
    let again = move |x: &Value| ops::encode_json(&ops::parse_json(x, &spec, OnError::Raise)?.value);
    let given: Value = Tensor::strings(&[2], &[GIVEN, WRITTEN]).expect("texts").into();
    let wanted = Value::from(Tensor::strings(&[2], &[WRITTEN, WRITTEN]).expect("texts")).to_string();
    assert_eq!(again(&given).expect("again").to_string(), wanted);
    let f = Function::new("again", move |args| Ok(Nest::Leaf(again(args.leaves()[0].1)?)));
    assert_eq!(f.call(Nest::Leaf(given)).expect("ran").leaves()[0].1.to_string(), wanted);
}

#[test]
fn lists_masks_and_axes_of_them_are_read() {
    let price = || DecimalTensor::parse(&["1.10", "2"], 10, 2).expect("decimals").into_value();
    let value = StructTensor::from_fields(
        Shape::known(&[2]),
        vec![
            (
                "each",
                extenso_ext::RaggedTensor::from_row_lengths(price(), &Tensor::from_vec(vec![2_i64, 0]))
                    .expect("rows")
                    .into_value(),
            ),
            (
                "maybe",
                extenso_ext::MaskedTensor::new(price(), Tensor::bools(&[2], &[true, false]).expect("bits"))
                    .expect("masked")
                    .into_value(),
            ),
            (
                "pair",
                DateTensor::new(Tensor::new::<i32>(&[2, 2], &[0, 1, 2, 3]).expect("days"), "d")
                    .expect("days")
                    .into_value(),
            ),
        ],
    );
    let value = value.expect("records").into_value();
    let lines = encode_ndjson(&Nest::Leaf(value.clone())).expect("writes");
    let wanted = "{\"each\":[\"1.10\",\"2.00\"],\"maybe\":\"1.10\",\"pair\":[\"1970-01-01\",\"1970-01-02\"]}\n{\"each\":[],\"maybe\":null,\"pair\":[\"1970-01-03\",\"1970-01-04\"]}\n";
    assert_eq!(std::str::from_utf8(&lines).expect("text"), wanted);
    let again = decode_ndjson(&lines, &value.spec().expect("a spec"), OnError::Raise).expect("reads").value;
    assert_eq!(shown(&again), shown(&value));
}

#[test]
fn a_function_over_lines_reads_the_times_that_it_needs() {
    let took = Function::new("took", |args| {
        let record = StructTensor::from_value(args.leaves()[0].1)?;
        Ok(Nest::Leaf(DurationTensor::from_value(record.field("took")?)?.values().clone().into()))
    });
    let concrete = took.concrete(&Nest::Leaf(one_each())).expect("traced");
    let rows: Rows<Nest<Value>> =
        run_records(&concrete, b"{\"took\": \"-2s\", \"day\": 5}", OnError::Raise).expect("ran");
    assert_eq!(rows.value.leaves()[0].1.to_string(), "[-2000]");
}

#[test]
fn what_does_not_fit_is_named() -> Result<()> {
    let spec = one_each();
    let check = |name: &str, given: &str, wanted: &str| {
        let from = WRITTEN.find(&format!("\"{name}\":")).expect("there") + name.len() + 3;
        let to = from + WRITTEN[from..].find([',', '}']).expect("an end");
        let line = format!("{}{given}{}", &WRITTEN[..from], &WRITTEN[to..]);
        let error = decode_ndjson(line.as_bytes(), &spec, OnError::Raise).expect_err(given).to_string();
        assert!(error.contains(&format!("row 0, byte {from}, '{name}': ")) && error.contains(wanted), "{error}");
    };
    check(
        "utc",
        "\"2001-02-03T04:05:06\"",
        "the string \"2001-02-03T04:05:06\" came.\nWanted: a time of RFC 3339 with its zone",
    );
    check("utc", "5", "the number 5 came.");
    check("local", "\"2001-02-03T04:05:06Z\"", "a time without a zone");
    check("day", "\"2001-02-29\"", "Wanted: a date, such as \"2001-02-03\".");
    check("second", "\"00:00:00.5\"", "in whole seconds");
    check("took", "null", "Wanted: a duration");
    check(
        "price",
        "1.001",
        "the number 1.001 came.\nWanted: a decimal number of 10 digits, 2 of them behind the point, or its text.",
    );
    check("price", "123456789", "a decimal number");
    check("id", "\"0123\"", "Wanted: a uuid, such as");
    check("mac", "\"AAECLCI=\"", "the string \"AAECLCI=\" came.\nWanted: a base64 string of 6 bytes.");
    check("mac", "6", "a base64 string of 6 bytes");
    check("digest", "{}", "a base64 string of 40 bytes");
    let rows = decode_ndjson(b"{\"day\": \"no\"}", &spec, OnError::Default)?;
    assert_eq!((rows.bad.count(), shown(&rows.value).contains("\"1970-01-01\"")), (1, true));
    Ok(())
}

#[test]
fn categories_booleans_of_eight_bits_and_json_are_written_by_the_op_as_into_a_file() {
    let words = || Tensor::strings(&[2], &["a", "b"]).expect("words");
    let codes = Tensor::new::<i8>(&[3], &[1, 0, 1]).expect("codes");
    let word = CategoricalTensor::new(codes, words(), false).expect("categories").into_value();
    let bits = Tensor::new::<i8>(&[3], &[1, 0, 7]).expect("bytes");
    let flag = Bool8Tensor::new(bits).expect("booleans").into_value();
    let json = JsonTensor::new(Tensor::strings(&[3], &["[1]", "{}", "2"]).expect("texts")).expect("JSON").into_value();
    let there = Tensor::bools(&[3], &[true, false, true]).expect("bits");
    let maybe = extenso_ext::MaskedTensor::new(word.clone(), there).expect("masked").into_value();
    let lengths = Tensor::from_vec(vec![2_i64, 0, 1]);
    let each = extenso_ext::RaggedTensor::from_row_lengths(word.clone(), &lengths).expect("rows").into_value();
    let fields = [("word", word), ("flag", flag), ("json", json), ("maybe", maybe), ("each", each)];
    let value = StructTensor::from_fields(Shape::known(&[3]), fields).expect("records").into_value();
    let wanted = [
        r#"{"word":"b","flag":true,"json":"[1]","maybe":"b","each":["b","a"]}"#,
        r#"{"word":"a","flag":false,"json":"{}","maybe":null,"each":[]}"#,
        r#"{"word":"b","flag":true,"json":"2","maybe":"b","each":["b"]}"#,
    ];
    let lines = encode_ndjson(&Nest::Leaf(value.clone())).expect("writes");
    assert_eq!(String::from_utf8(lines).expect("text"), wanted.map(|line| format!("{line}\n")).concat());
    let wanted = Value::from(Tensor::strings(&[3], &wanted).expect("texts")).to_string();
    assert_eq!(ops::encode_json(&value).expect("writes").to_string(), wanted);
    let f = Function::new("texts", |args| Ok(Nest::Leaf(ops::encode_json(args.leaves()[0].1)?)));
    assert_eq!(f.call(Nest::Leaf(value)).expect("ran").leaves()[0].1.to_string(), wanted);
}

#[test]
fn a_time_outside_of_the_day_is_not_written() {
    for (unit, day) in [("s", 86_400_i64), ("ms", 86_400_000), ("us", 86_400_000_000), ("ns", 86_400_000_000_000)] {
        let write = |counts: [i64; 2]| {
            let counts = Tensor::from_vec(counts.to_vec());
            let counts = match unit {
                "s" | "ms" => extenso_core::ops::cast(counts, extenso_types::DType::I32).expect("cast"),
                _ => counts.into(),
            };
            let time = TimeTensor::new(counts.tensor().expect("counts").clone(), unit).expect("times").into_value();
            let mask = Tensor::bools(&[2], &[true, false]).expect("a mask");
            let masked = extenso_ext::MaskedTensor::new(time.clone(), mask).expect("masked").into_value();
            let rows = |time| {
                let inner = StructTensor::from_fields(Shape::known(&[2]), [("t", time)]).expect("records").into_value();
                let outer = StructTensor::from_fields(Shape::known(&[2]), [("at", inner)]).expect("records");
                Nest::Leaf(outer.into_value())
            };
            [rows(time), rows(masked)]
        };
        let [times, masked] = write([day - 1, 0]);
        assert!(encode_ndjson(&times).is_ok() && encode_csv(&times, b',').is_ok());
        drop(masked);
        for count in [-1, day] {
            let [times, masked] = write([0, count]);
            let wanted = format!("row 1, 'at.t': the time of day {count} is outside of the day");
            for error in [encode_ndjson(&times).map(drop), encode_csv(&times, b',').map(drop)] {
                let error = error.expect_err(&wanted).to_string();
                assert!(error.contains(&wanted), "{error}");
            }
            // What is missing is not written.
            assert!(encode_ndjson(&masked).is_ok() && encode_csv(&masked, b',').is_ok());
        }
    }
}
