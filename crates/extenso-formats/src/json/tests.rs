//! What JSON is read as, written as, and refused.

mod laws;
mod random;

use super::{Decoder, encode_lines};
use crate::columns::{Column, Decoded, OnError, TextVec};
use crate::plan::{ColumnId, Field, Plan};
use extenso_core::with_threads;
use extenso_types::DType;
use std::io::{self, BufReader, Cursor, Read};

pub fn scalar(dtype: DType, id: u32) -> Plan {
    Plan::Scalar { dtype, column: ColumnId(id) }
}

pub fn text(dtype: DType, id: u32) -> Plan {
    Plan::Text { dtype, index: DType::I32, column: ColumnId(id) }
}

pub fn list(offsets: Option<u32>, item: Plan) -> Plan {
    Plan::List { offsets: offsets.map(ColumnId), index: DType::I32, size: None, item: Box::new(item) }
}

pub fn optional(validity: Option<u32>, inner: Plan) -> Plan {
    Plan::Optional { validity: validity.map(ColumnId), inner: Box::new(inner) }
}

pub fn record<const N: usize>(fields: [(&str, Plan); N]) -> Plan {
    Plan::Record { fields: fields.into_iter().map(|(name, plan)| Field::new(name, plan)).collect() }
}

pub fn decode(plan: &Plan, input: &[u8], on_error: OnError) -> extenso_types::Result<Decoded> {
    Decoder::new(plan).expect("a plan").lines(input, on_error)
}

/// The columns of these lines, as text: bit for bit but for the payloads of NaNs.
pub fn read(plan: &Plan, input: &str) -> String {
    let decoded = decode(plan, input.as_bytes(), OnError::Raise).unwrap_or_else(|e| panic!("{input}: {e}"));
    format!("{:?}", decoded.columns.as_slice())
}

fn check_refused(plan: &Plan, input: impl AsRef<[u8]>, message: &str) {
    let error = decode(plan, input.as_ref(), OnError::Raise).expect_err(message).to_string();
    assert!(error.starts_with(message), "wanted: {message}\n  came: {error}");
}

/// What a scalar of this dtype reads `json` as; none if it refuses.
fn one(dtype: DType, json: &str) -> Option<Column> {
    let plan = if dtype.is_numeric() || dtype == DType::Bool { scalar(dtype, 0) } else { text(dtype, 0) };
    let columns = Decoder::new(&plan).expect("a plan").one(json.as_bytes()).ok()?;
    columns.into_vec().pop()
}

fn strings(items: &[&[u8]]) -> Column {
    let mut texts = TextVec::new(DType::I32).expect("i32");
    items.iter().for_each(|item| assert!(texts.push(item)));
    Column::Text(texts)
}

#[test]
fn integers_are_exact_and_refuse_what_does_not_fit() {
    assert_eq!(one(DType::U64, "18446744073709551615"), Some(Column::U64(vec![u64::MAX])));
    assert_eq!(one(DType::U64, "9223372036854775808"), Some(Column::U64(vec![1 << 63])));
    assert_eq!(one(DType::I64, "-9223372036854775808"), Some(Column::I64(vec![i64::MIN])));
    assert_eq!(one(DType::I64, "9223372036854775807"), Some(Column::I64(vec![i64::MAX])));
    assert_eq!(one(DType::I8, "-128"), Some(Column::I8(vec![-128])));
    assert_eq!(one(DType::U8, "-0"), Some(Column::U8(vec![0])));
    let long = "9".repeat(10_000);
    let refused =
        ["1.5", "1.0", "1e300", "1e2", "9223372036854775808", "\"1\"", "null", "true", "01", "+1", "-", "NaN"];
    for json in refused.into_iter().chain([&*long]) {
        assert_eq!(one(DType::I64, json), None, "{json}");
    }
    for (dtype, json) in
        [(DType::I8, "128"), (DType::U8, "-1"), (DType::U64, "18446744073709551616"), (DType::U32, "4294967296")]
    {
        assert_eq!(one(dtype, json), None, "{dtype} {json}");
    }
}

#[test]
fn floats_round_once_and_carry_non_finite_names() {
    assert_eq!(one(DType::F64, "9007199254740993"), Some(Column::F64(vec![9007199254740992.0])));
    assert_eq!(one(DType::F32, "1.00000005960464477540"), Some(Column::F32(vec![1.0 + f32::EPSILON])));
    assert_eq!(one(DType::F32, "18446744073709551615"), Some(Column::F32(vec![u64::MAX as f32])));
    assert_eq!(format!("{:?}", one(DType::F64, "-0")), "Some(F64([-0.0]))");
    assert_eq!(format!("{:?}", one(DType::F16, "\"NaN\"")), "Some(F16([NaN]))");
    assert_eq!(one(DType::F32, "\"-Infinity\""), Some(Column::F32(vec![f32::NEG_INFINITY])));
    for json in
        ["NaN", "Infinity", "-Infinity", "\"inf\"", "\"1.5\"", "1e999", "3.5e38", "null", "1.", ".5", "1e", "--1"]
    {
        assert_eq!(one(DType::F32, json), None, "{json}");
    }
}

#[test]
fn strings_are_unicode_and_byte_strings_base64() {
    assert_eq!(one(DType::String, r#""a\n\u00e9\ud83d\ude00\"ö""#), Some(strings(&["a\né😀\"ö".as_bytes()])));
    assert_eq!(one(DType::Bytes, r#""+\/-_""#), Some(strings(&[&[0xfb, 0xff, 0xbf]])));
    for json in [r#""\ud800""#, r#""\ud800\u0041""#, r#""\udc00""#, "\"\u{1}\"", r#""\x""#, "\"a", "1", "'a'", "\"\n\""]
    {
        assert_eq!(one(DType::String, json), None, "{json}");
    }
    assert_eq!(one(DType::Bytes, "\"*\""), None);
    for skipped in [&b"{\"x\": \"\xff\"}"[..], br#"{"x": "\ud800"}"#, b"{\"\xc3\": 1}"] {
        assert!(decode(&record([("a", optional(Some(0), Plan::Skip))]), skipped, OnError::Raise).is_err());
    }
}

#[test]
fn absent_values_leave_defaults() {
    let inner = record([("x", scalar(DType::F32, 2)), ("t", list(Some(3), text(DType::String, 4)))]);
    let plan = record([("id", scalar(DType::I64, 0)), ("user", optional(Some(1), inner))]);
    let input = "{\"id\":1,\"user\":{\"t\":[\"a\",\"b\"],\"x\":1.5}}\n{\"user\":null,\"id\":2}\n{\"id\":3}\n";
    let wanted = "[I64([1, 2, 3]), Bits(Bits { bytes: [1], len: 3 }), F32([1.5, 0.0, 0.0]), Offsets(I32([0, 2, 2, 2])), \
                  Text(TextVec { offsets: I32([0, 1, 2]), bytes: [97, 98] })]";
    assert_eq!(read(&plan, input), wanted);
    let unmarked = record([("x", optional(None, Plan::Fixed { size: 2, item: Box::new(scalar(DType::U8, 0)) }))]);
    assert_eq!(read(&unmarked, "{}\n{\"x\":[1,2]}\n{\"x\":null}"), "[U8([0, 0, 1, 2, 0, 0])]");
}

#[test]
fn lines_may_be_blank_or_end_as_on_windows() {
    let plan = record([("a", scalar(DType::I8, 0))]);
    assert_eq!(read(&plan, "\u{feff}\n{\"a\":1}\r\n  \r\n\t{ \"a\" : 2 }"), "[I8([1, 2])]");
    assert_eq!(read(&plan, ""), "[I8([])]");
    check_refused(&plan, "{\"a\":\n1}", "row 0, byte 5, 'a': this is not JSON");
    check_refused(&plan, "{\"a\":1}{\"a\":2}", "row 0, byte 7: this is not JSON: trailing characters");
    let mut decoder = Decoder::new(&plan).expect("a plan");
    assert!(decoder.one(b"\xef\xbb\xbf{\n\"a\":\n1}\n").is_ok() && decoder.one(b"").is_err());
    let array = decoder.array(b" [{\"a\":1},\n {\"a\":2}] ", OnError::Raise).expect("an array");
    assert_eq!((array.rows, format!("{:?}", array.columns.as_slice())), (2, "[I8([1, 2])]".into()));
    let error = decoder.array(b"[{\"a\":1},{\"a\":[]}]", OnError::Raise).expect_err("a list").to_string();
    assert!(error.starts_with("row 1, byte 14, 'a': a list came"), "{error}");
}

#[test]
fn errors_name_row_byte_path_what_came_and_what_was_wanted() {
    let item = record([("item_id", scalar(DType::I32, 2)), ("item name", text(DType::String, 3))]);
    let user = record([("history", list(Some(1), item))]);
    let plan = record([("id", scalar(DType::I64, 0)), ("user", user)]);
    let good = "{\"id\":1,\"user\":{\"history\":[]}}\n";
    let check = |history: &str, message: &str| {
        check_refused(&plan, format!("{good}{{\"id\":1,\"user\":{{\"history\":[{history}]}}}}"), message);
    };
    check(
        r#"{"item_id":1,"item name":"a"},{"item_id":"abc","item name":"a"}"#,
        "row 1, byte 99, 'user.history[1].item_id': the string \"abc\" came.\nWanted: an integer that fits i32.",
    );
    check(r#"{"item_id":3000000000}"#, "row 1, byte 69, 'user.history[0].item_id': the number 3000000000 came.");
    check(
        r#"{"item_id":1}"#,
        "row 1, byte 58, 'user.history[0].\"item name\"': the field is missing.\nWanted: a value.",
    );
    check(r#"{"item_id":1,"item_id":1}"#, "row 1, byte 81, 'user.history[0]': the key \"item_id\" came a second time.");
    check(r#"{"item_id":1,"other":[1,}"#, "row 1, byte 82, 'user.history[0]': this is not JSON: expected value.");
    check("{\"item_id\":x}", "row 1, byte 69, 'user.history[0].item_id': this is not JSON: no value starts here.");
    check("3", "row 1, byte 58, 'user.history[0]': the number 3 came.\nWanted: a record.");
    check_refused(&plan, b"{\"id\": \"\xff\"}", "row 0, byte 8: byte 0xff is not UTF-8.");
    let fixed = Plan::Fixed { size: 2, item: Box::new(scalar(DType::F64, 0)) };
    check_refused(&fixed, "[1]", "row 0, byte 0: a list of 1 items came.\nWanted: 2 items.");
    check_refused(&fixed, "[1,2,3]", "row 0, byte 0: a list of more items came.\nWanted: 2 items.");
    check_refused(&fixed, "[1,\"ä\"]", "row 0, byte 3, '[1]': the string \"ä\" came.\nWanted: a number that fits f64,");
}

#[test]
fn bad_rows_leave_no_trace_and_are_counted() {
    let plan = record([
        ("a", scalar(DType::U8, 0)),
        ("b", list(Some(1), text(DType::String, 2))),
        ("c", scalar(DType::Bool, 3)),
    ]);
    let good = r#"{"a":7,"b":["x","yz"],"c":true}"#;
    let bad = [
        "{",
        "{\"a\":1,\"b\":[\"q\",\"r\"],\"c\":3}",
        "{\"a\":1,\"b\":[\"q\",4]}",
        "[]",
        "\u{1}",
        "{\"a\":1,\"b\":[]}",
    ];
    let rows: Vec<&str> = bad.into_iter().flat_map(|bad| [good, bad]).collect();
    let input = rows.join("\n");
    let skipped = decode(&plan, input.as_bytes(), OnError::Skip).expect("skip never fails");
    assert_eq!(format!("{:?}", skipped.columns.as_slice()), read(&plan, &[good; 6].join("\n")));
    let places: Vec<usize> = skipped.bad.first.iter().map(|bad| bad.row).collect();
    assert_eq!((skipped.rows, skipped.bad.count(), places), (6, 6, vec![1, 3, 5, 7, 9, 11]));
    assert!(skipped.bad.first.iter().all(|bad| bad.error.to_string().starts_with(&format!(
        "row {}, byte {}",
        bad.row,
        bad.offset.unwrap_or(0)
    ))));
    let filled = decode(&plan, input.as_bytes(), OnError::Default).expect("default never fails");
    let wanted = [good, r#"{"a":0,"b":[],"c":false}"#].join("\n").repeat(6).replace("}{", "}\n{");
    assert_eq!(format!("{:?}", filled.columns.as_slice()), read(&plan, &wanted));
    assert_eq!((filled.rows, filled.bad.count(), filled.bad.defaulted.len()), (12, 6, 12));
    assert!((0..12).all(|i| filled.bad.defaulted.get(i) == (i % 2 == 1)));
    let many = decode(&plan, "x\n".repeat(1000).as_bytes(), OnError::Skip).expect("skip never fails");
    assert_eq!((many.rows, many.bad.count(), many.bad.first.len()), (0, 1000, crate::columns::MAX_REPORTED));
}

#[test]
fn depth_is_bounded_and_quick_to_refuse() {
    let plan = record([("a", scalar(DType::I8, 0))]);
    let nested = |n: usize| format!("{{\"x\":{}{},\"a\":1}}", "[".repeat(n), "]".repeat(n));
    assert_eq!(read(&plan, &nested(128)), "[I8([1])]");
    check_refused(&plan, nested(129), "row 0, byte 133: a value that nobody needs nests too deep");
    for deep in ["[".repeat(100_000), "{\"x\":".repeat(100_000), "[{\"a\":".repeat(100_000)] {
        assert!(decode(&plan, deep.as_bytes(), OnError::Raise).is_err());
        assert!(decode(&plan, format!("{{\"x\":{deep}").as_bytes(), OnError::Raise).is_err());
    }
}

#[test]
fn a_row_that_ends_too_early_is_told_of_at_its_end() {
    let plan = record([("a", scalar(DType::I64, 0))]);
    let input = b"{\"a\":1}\n{\"a\":\n{\"a\":3}\n";
    check_refused(&plan, input, "row 1, byte 13, 'a': ");
    check_refused(&plan, b"{\"a\":1}\n{\"a\":", "row 1, byte 13, 'a': ");
    let skipped = decode(&plan, input, OnError::Skip).expect("reads");
    assert_eq!((skipped.bad.rows, skipped.bad.first[0].offset), (vec![1], Some(13)));
}

#[test]
fn skipped_fields_cost_no_column() {
    let plan = record([
        ("a", Plan::Skip),
        ("b", list(None, Plan::Skip)),
        ("c", list(Some(0), Plan::Skip)),
        ("d", optional(None, record([("x", Plan::Skip)]))),
        ("e", optional(Some(1), list(None, Plan::Skip))),
    ]);
    let input = "{\"a\":{\"b\":[1]},\"b\":3,\"c\":[1,[2],{}],\"e\":4}\n{\"c\":[],\"e\":null,\"d\":[]}";
    assert_eq!(read(&plan, input), "[Offsets(I32([0, 3, 3])), Bits(Bits { bytes: [1], len: 2 })]");
    // A known key is known although nobody needs it.
    check_refused(&plan, "{\"a\":1,\"a\":2}", "row 0, byte 11: the key \"a\" came a second time");
    // What is read over still has to be JSON.
    for bad in ["[1,]", "{\"a\"}", "tru", "01", "\"\\q\"", "[1}", "nul", "1.e3"] {
        assert!(decode(&plan, format!("{{\"a\":{bad},\"c\":[]}}").as_bytes(), OnError::Raise).is_err(), "{bad}");
    }
}

#[test]
fn slices_of_partitions_and_of_bits_are_written_in_place() {
    use crate::columns::{BitsRef, ColumnRef, OffsetsRef, TextRef};
    let plan = record([("f", optional(Some(0), scalar(DType::F32, 1))), ("l", list(Some(2), text(DType::String, 3)))]);
    let columns = [
        ColumnRef::Bits(BitsRef { bytes: &[0b0101_0000, 0b1], offset: 6, len: 3 }),
        ColumnRef::F32(&[0.1, 2.0, f32::NAN]),
        ColumnRef::Offsets(OffsetsRef::I32(&[1, 3, 3, 4])),
        ColumnRef::Text(TextRef { offsets: OffsetsRef::I32(&[0, 9, 10, 10, 12]), bytes: b"garbage\xff!\"\x01\n" }),
    ];
    let mut out = Vec::new();
    encode_lines(&plan, &columns, 3, &mut out).expect("columns");
    let wanted = "{\"f\":0.1,\"l\":[\"\\\"\",\"\"]}\n{\"f\":null,\"l\":[]}\n{\"f\":\"NaN\",\"l\":[\"\\u0001\\n\"]}\n";
    assert_eq!(String::from_utf8(out).expect("UTF-8"), wanted);
}

#[test]
fn columns_that_do_not_fit_are_refused_before_anything_is_written() {
    use crate::columns::{ColumnRef, OffsetsRef, TextRef};
    let plan = record([("l", list(Some(0), text(DType::String, 1)))]);
    let check = |ends: &[i32], texts: &[i32], bytes: &[u8], message: &str| {
        let text = TextRef { offsets: OffsetsRef::I32(texts), bytes };
        let columns = [ColumnRef::Offsets(OffsetsRef::I32(ends)), ColumnRef::Text(text)];
        let mut out = Vec::new();
        let error = encode_lines(&plan, &columns, 2, &mut out).expect_err(message).to_string();
        assert!(error.contains(message) && out.is_empty(), "{error}");
    };
    check(&[0, 1], &[0, 1], b"a", "encode: 'l': offset 2 is missing");
    check(&[-1, 0, 1], &[0, 1], b"a", "negative");
    check(&[0, 2, 1], &[0, 1, 1], b"a", "offset 2 is 1, the one before it 2");
    check(&[0, 1, 3], &[0, 1, 1], b"a", "encode: 'l[*]': offset 3 is missing");
    check(&[0, 1, 2], &[0, 1, 9], b"a", "the offsets end at 9, the bytes at 1");
    check(&[0, 1, 2], &[0, 1, 2], b"a\xff", "not UTF-8");
    check(&[0, 1, 2], &[0, 1, 2], "ä".as_bytes(), "offset 1 cuts a character");
    let mut out = Vec::new();
    assert!(encode_lines(&plan, &[], 0, &mut out).is_err());
    assert!(encode_lines(&plan, &[ColumnRef::U8(&[]), ColumnRef::U8(&[])], 0, &mut out).is_err());
    assert!(encode_lines(&scalar(DType::U8, 0), &[ColumnRef::U8(&[1])], 2, &mut out).is_err());
    assert!(
        encode_lines(&list(Some(0), Plan::Skip), &[ColumnRef::Offsets(OffsetsRef::I32(&[0]))], 0, &mut out).is_err()
    );
}

/// A source that fails behind its first bytes.
struct Broken(Cursor<Vec<u8>>);

impl Read for Broken {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.0.read(out)? {
            0 => Err(io::Error::other("the wire was cut")),
            n => Ok(n),
        }
    }
}

#[test]
fn a_source_that_fails_halfway_is_an_error_under_every_policy() {
    let plan = record([("id", scalar(DType::I64, 0))]);
    let text: Vec<u8> = (0..200_000).flat_map(|row| format!("{{\"id\": {row}}}\n").into_bytes()).collect();
    for on_error in [OnError::Raise, OnError::Skip, OnError::Default] {
        for threads in [1, 2, 5] {
            let source = Box::new(BufReader::new(Broken(Cursor::new(text.clone()))));
            let mut decoder = Decoder::new(&plan).expect("a plan");
            let read = with_threads(threads, || decoder.stream(source, text.len(), on_error));
            assert!(read.expect_err("a broken source").to_string().contains("the wire was cut"), "{threads} threads");
        }
    }
}

#[test]
fn an_array_that_is_streamed_is_the_array_that_is_held() {
    let plan = record([("id", scalar(DType::I64, 0))]);
    let item = |row: usize| if row % 50_000 == 7 { "{\"id\": \"],\"}".into() } else { format!("{{\"id\": {row}}}") };
    let items = (0..150_000).map(item).collect::<Vec<_>>().join(", ");
    for text in
        ["[]".into(), " [ ] ".into(), format!("\u{feff}[{items}]\n"), format!("[{items}, "), format!("[{items} 1]")]
    {
        for on_error in [OnError::Raise, OnError::Skip, OnError::Default] {
            let source = Box::new(BufReader::new(text.as_bytes()));
            let streamed = Decoder::new(&plan).expect("a plan").stream(source, text.len(), on_error);
            let held = Decoder::new(&plan).expect("a plan").array(text.as_bytes(), on_error);
            match (streamed, held) {
                (Ok(streamed), Ok(held)) => assert_eq!(streamed, held),
                (streamed, held) => assert_eq!(streamed.map(|_| ()), held.map(|_| ()), "{on_error:?}"),
            }
        }
    }
    // What stands behind it is told before the rest is read.
    let text = format!("[{{\"id\": 1}}] x{}", " ".repeat(1 << 20)).into_bytes();
    let source = Box::new(BufReader::new(Broken(Cursor::new(text.clone()))));
    let error =
        Decoder::new(&plan).expect("a plan").stream(source, text.len(), OnError::Skip).expect_err("text behind");
    assert!(error.to_string().contains("byte 12"), "{error}");
}
