//! Specs inferred from JSON, parts of records by path, policies, blocks and files.

use extenso_core::{Tensor, Value};
use extenso_ext::{Literal, constant, to_literal};
use extenso_formats::{
    JsonOptions, OnError, encode_ndjson, infer_spec, read_json, read_json_blocks, read_json_file, write_json,
};
use extenso_types::{Nest, Path};
use std::io::{Seek, Write};

/// A short text of a spec: `?` behind what is optional, lists in brackets.
fn short(text: &str) -> String {
    let text =
        text.replace(", @mask: bool[?])", "?").replace(", @row_splits: partition<i64>[? rows of ? values])", "]");
    let text = text.replace("RaggedTensor([*]: ", "[").replace("MaskedTensor(", "").replace("[?]", "");
    text.replace("StructTensor", "").replace(", rank=1)", ")")
}

fn options() -> JsonOptions {
    JsonOptions::default()
}

fn check_spec(rows: &str, wanted: &str) {
    let spec = infer_spec(rows.as_bytes(), &options());
    let came = spec.map_or_else(|e| e.to_string(), |spec| short(&spec.to_string()));
    assert_eq!(came, wanted, "{rows}");
}

fn check_refused(rows: &str, how: &JsonOptions, wanted: &[&str]) {
    let error = match read_json(rows.as_bytes(), how) {
        Ok(rows) => panic!("{}", literal(&rows.value)),
        Err(error) => error.to_string(),
    };
    assert!(wanted.iter().all(|part| error.contains(part)), "{rows}\n  came: {error}");
}

fn literal(value: &Value) -> String {
    to_literal(value).expect("a literal").to_string()
}

/// What the rows are read as without a spec.
fn check_read(rows: &str, wanted: &str) {
    let spec = infer_spec(rows.as_bytes(), &options()).unwrap_or_else(|e| panic!("{rows}: {e}"));
    let rows = read_json(rows.as_bytes(), &options()).unwrap_or_else(|e| panic!("{rows}: {e}"));
    assert_eq!((literal(&rows.value).as_str(), rows.bad.count()), (wanted, 0));
    assert!(rows.value.spec().expect("a spec").is_subtype_of(&spec), "the value is of the spec");
}

#[test]
fn scalars_have_the_dtype_that_holds_all_of_them() {
    check_spec(r#"{"a": true, "b": 1, "c": 1.5, "d": "x"}"#, "(a: bool, b: i64, c: f64, d: string)");
    check_spec("{\"a\": 1}\n{\"a\": 2.0}\n{\"a\": -3}", "(a: f64)");
    check_spec("{\"a\": 1}\n{\"a\": 1e2}", "(a: f64)");
    check_spec("{\"a\": -9223372036854775808}\n{\"a\": 9223372036854775807}", "(a: i64)");
    check_spec("{\"a\": 1}\n{\"a\": 18446744073709551615}", "(a: u64)");
    check_spec("{\"a\": 0.5}\n{\"a\": 18446744073709551616}\n{\"a\": -1}", "(a: f64)");
    check_spec("{\"a\": \"NaN\"}\n{\"a\": 1}", "(a: f64)");
    check_spec("{\"a\": 0.5}\n{\"a\": 9007199254740992}\n{\"a\": -18446744073709551616}", "(a: f64)");
    check_spec("{\"a\": 1}\n{\"a\": \"-Infinity\"}", "(a: f64)");
    check_spec("{\"a\": \"NaN\"}\n{\"a\": \"nan\"}", "(a: string)");
    check_spec("{\"a\": \"Infinity\"}", "(a: string)");
    let largest = read_json(b"{\"a\": 18446744073709551615}", &options()).expect("reads").value;
    assert_eq!(encode_ndjson(&Nest::Leaf(largest)).expect("writes"), b"{\"a\":18446744073709551615}\n");
    check_read("{\"a\": 9007199254740993}", "[{\"a\": 9007199254740993}]");
    check_read("{\"a\": 1.5}\n{\"a\": 123456789012345680000}", "[{\"a\": 1.5}, {\"a\": 1.2345678901234568e20}]");
}

#[test]
fn integers_that_no_dtype_holds_are_refused() {
    let beyond = ["row 1, byte 15, 'x.y': an integer came that fits neither i64 nor u64", "f64, which rounds"];
    check_refused("{}\n{\"x\": {\"y\": 18446744073709551616}}", &options(), &beyond);
    let both = ["row 0, byte 6, 'x': an integer above i64 came, and one below zero in row 1."];
    check_refused("{\"x\": 9223372036854775808}\n{\"x\": -1}", &options(), &both);
    check_refused("{\"x\": 1e999}", &options(), &["row 0, byte 6, 'x': the number 1e999 came.", "fits f64"]);
}

#[test]
fn lists_are_ragged_and_what_may_be_missing_is_masked() {
    check_spec("{\"a\": [1, 2]}\n{\"a\": [3, 4]}", "(a: [i64])");
    check_spec("{\"a\": [[1], [2.5]]}\n{\"a\": []}", "(a: [[f64]])");
    check_spec("{\"a\": 1}\n{\"a\": null}\n{\"b\": 2}", "(a: i64?, b: i64?)");
    check_spec("{\"a\": [1, null]}\n{\"a\": null}", "(a: [i64?]?)");
    check_spec("{\"a\": {\"x\": 1}}\n{\"a\": {\"y\": \"\"}}\n{}", "(a: (x: i64?, y: string?)?)");
    check_spec("{\"a\": [{\"x\": 1}, {\"x\": 2}]}\n{\"a\": [{\"x\": 3, \"y\": true}]}", "(a: [(x: i64, y: bool?)])");
    check_read(
        "{\"b\": [[1], null]}\n{\"a\": \"x\"}",
        "[{\"b\": [[1], None], \"a\": None}, {\"b\": None, \"a\": \"x\"}]",
    );
}

#[test]
fn what_was_never_seen_is_as_constant_makes_it() {
    check_spec("{\"a\": null}\n{\"a\": null}", "(a: f64?)");
    check_spec("{\"a\": []}\n{\"a\": [[], []]}", "(a: [[f64]])");
    check_spec(
        "{\"a\": {}, \"b\": 1, \"c\": {\"d\": {}}}",
        "(a: (@records: bool[?, 0]), b: i64, c: (d: (@records: bool[?, 0])))",
    );
    check_read("{\"a\": null, \"b\": [], \"c\": {}}", "[{\"a\": None, \"b\": [], \"c\": {}}]");
    check_read("{}\n{}", "[{}, {}]");
    check_read("{\"a\": [{}, {}]}\n{\"a\": []}", "[{\"a\": [{}, {}]}, {\"a\": []}]");
    check_refused(" \n", &options(), &["infer_spec: there are no records", "Give a spec"]);
    check_refused("[]", &options(), &["there are no records"]);
    check_refused("{\"\": 1}", &options(), &["the name of a field is empty"]);
}

#[test]
fn values_of_two_kinds_are_refused_with_both_rows() {
    let rows = "{\"a\": [1]}\n\n{\"a\": []}\n{\"a\": [2, \"x\"]}";
    check_refused(
        rows,
        &options(),
        &["row 2, byte 32, 'a[1]': the string \"x\" came.\nWanted: a number, as in row 0."],
    );
    check_refused("{\"a\": [1, true]}", &options(), &["'a[1]': true came.\nWanted: a number, as before."]);
    check_refused(
        "{\"a\": {}}\n{\"a\": []}",
        &options(),
        &["row 1, byte 16, 'a': a list came.\nWanted: a record, as in row 0."],
    );
    for (rows, place) in [
        ("{\"a\": 9007199254740993}\n{\"a\": 0.5}", "row 0, byte 6, 'a'"),
        ("{\"a\": [0.5, -9007199254740993]}", "row 0, byte 12, 'a[*]'"),
        ("{\"a\": \"NaN\"}\n{\"a\": 18446744073709551617}", "row 1, byte 19, 'a'"),
    ] {
        check_refused(rows, &options(), &[place, "an integer came that f64 does not hold", "Give a spec with f64"]);
    }
    check_refused("{\"a\": \"NaN\"}\n{\"a\": true}", &options(), &["row 1", "true came", "a string, as in row 0"]);
    check_refused("{\"a\": 1}\n[1]", &options(), &["row 1, byte 9: a list came.\nWanted: a record, as in row 0."]);
    check_refused("{\"a\": 1}\nnull", &options(), &["row 1, byte 9: null came.\nWanted: a record in each row."]);
    check_refused("5", &options(), &["row 0, byte 0: a number came.\nWanted: a record in each row."]);
    check_refused("{\"a\": 1, \"b\": 2, \"a\": 1}", &options(), &["the key \"a\" came a second time"]);
    check_refused("{\"a\": \"\\ud800\"}", &options(), &["row 0", "this is not JSON"]);
    check_refused("{\"a\": 1}\n{\"a\": }", &options(), &["row 1, byte 15, 'a': this is not JSON"]);
    check_refused("[{\"a\": 1}, {\"a\": 2]", &options(), &["row 1, byte 18: this is not JSON"]);
    check_refused("[{\"a\": 1}] 2", &options(), &["this is not JSON: trailing characters"]);
}

#[test]
fn a_later_row_that_contradicts_the_sample_says_so() {
    let rows = "{\"a\": 1}\n{\"a\": 2}\n{\"a\": 2.5}\n{\"a\": 3}\n{\"a\":";
    let sample = |n| JsonOptions { sample: Some(n), ..options() };
    let hint = "The spec was inferred from the first 2 records. Raise `sample`, or give a spec.";
    check_refused(
        rows,
        &sample(2),
        &["row 2, byte 24, 'a': the number 2.5 came.\nWanted: an integer that fits i64.", hint],
    );
    let error = read_json(rows.as_bytes(), &sample(4)).expect_err("broken off").to_string();
    assert!(error.contains("row 4") && !error.contains("sample"), "{error}");
    check_refused("{\"a\": 1}\n{}", &sample(1), &["row 1, byte 9, 'a': the field is missing", "first 1 records"]);
    check_refused(rows, &sample(0), &["sample: the sample has 0 records"]);
}

#[test]
fn nesting_and_fields_are_bounded() {
    let nested = |n: usize| format!("{{\"a\": {}{}}}", "[".repeat(n), "]".repeat(n));
    assert!(infer_spec(nested(59).as_bytes(), &options()).is_ok());
    check_refused(&nested(60), &options(), &["row 0", "the record nests too deep.\nWanted: at most 60 levels"]);
    for deep in ["[", "{\"a\":", "[{\"a\":"] {
        check_refused(&format!("{{\"a\": {}", deep.repeat(100_000)), &options(), &["row 0", "too deep"]);
        check_refused(&deep.repeat(100_000), &options(), &["too deep"]);
    }
    // Each level optional: the deepest spec there is can be read and written.
    let deepest = format!("{}\n{}", nested(59), "{}")
        + &(1..59).map(|n| format!("\n{{\"a\": {}null{}}}", "[".repeat(n), "]".repeat(n))).collect::<String>();
    let rows = read_json(deepest.as_bytes(), &options()).expect("reads");
    assert_eq!(rows.bad.count(), 0);
    let wide = |n: usize| (0..n).map(|i| format!("{{\"k{i}\": 1}}\n")).collect::<String>();
    assert!(infer_spec(wide(4_000).as_bytes(), &options()).is_ok());
    check_refused(
        &wide(10_000),
        &options(),
        &["together are 100000000, almost all of them missing", "if the keys are data"],
    );
    check_refused(&wide(10_001), &options(), &["row 10000", "more than 10000 fields", "if the keys are data"]);
    let skip = JsonOptions { on_error: OnError::Skip, ..options() };
    let one: String = (0..10_001).map(|i| format!(", \"k{i}\": 1")).collect();
    let spec = infer_spec(format!("{{\"a\": 1}}\n{{\"a\": 2{one}}}").as_bytes(), &skip).expect("infers").to_string();
    assert_eq!(short(&spec), "(a: i64)", "the last row is passed over");
}

#[test]
fn paths_read_a_part_whatever_the_rest_is() {
    let rows = "{\"id\": 1, \"items\": [{\"price\": 2, \"sku\": 1}], \"x\": 5}\n\
                {\"x\": \"odd\", \"items\": [{\"sku\": \"a\", \"price\": 0.5}], \"x\": [], \"id\": 2}\n";
    let parts = |paths: &[&str]| JsonOptions {
        paths: Some(paths.iter().map(|path| path.parse::<Path>().expect("a path")).collect()),
        ..options()
    };
    let read = read_json(rows.as_bytes(), &parts(&["items[*].price", "id"])).expect("reads");
    assert_eq!(literal(&read.value), r#"[{"id": 1, "items": [{"price": 2.0}]}, {"id": 2, "items": [{"price": 0.5}]}]"#);
    check_refused(rows, &parts(&["items[*].sku"]), &["'items[0].sku': the string \"a\" came"]);
    check_refused(
        rows,
        &parts(&["items[*].weight"]),
        &["there is no 'items[*].weight'", "a field of these records, of which none was seen"],
    );
    check_refused(rows, &parts(&["items.price"]), &["'items' is a list"]);
    check_refused(&rows.replace("\"odd\"", "odd"), &parts(&["id"]), &["row 1", "this is not JSON"]);
    // With a spec, too.
    let spec = infer_spec(rows.as_bytes(), &parts(&["id", "items[*].price"])).expect("infers");
    let given = JsonOptions { spec: Some(spec), ..parts(&["id"]) };
    let read = read_json(rows.as_bytes(), &given).expect("reads");
    assert_eq!(literal(&read.value), r#"[{"id": 1}, {"id": 2}]"#);
}

#[test]
fn bad_rows_are_reported_from_lines_and_arrays_alike() {
    let records = [r#"{"a": 1, "b": ["x"]}"#, r#"{"a": "no", "c": 1}"#, r#"{"b": []}"#, r#"[]"#];
    for (input, row_starts) in [(records.join("\n"), [21, 51]), (format!("[{}]", records.join(",")), [22, 52])] {
        for policy in [OnError::Skip, OnError::Default] {
            let how = JsonOptions { on_error: policy, ..options() };
            let rows = read_json(input.as_bytes(), &how).expect("no policy fails");
            let zero = "{\"a\": None, \"b\": []}";
            let wanted = match policy {
                OnError::Skip => "[{\"a\": 1, \"b\": [\"x\"]}, {\"a\": None, \"b\": []}]".to_string(),
                _ => format!("[{{\"a\": 1, \"b\": [\"x\"]}}, {zero}, {zero}, {zero}]"),
            };
            assert_eq!((literal(&rows.value), rows.bad.rows.as_slice()), (wanted, &[1, 3][..]));
            let starts: Vec<Option<usize>> = rows.bad.first.iter().map(|bad| bad.offset).collect();
            assert_eq!(starts, [Some(row_starts[0] + 6), Some(row_starts[1])]);
        }
    }
}

#[test]
fn a_row_that_is_passed_over_leaves_no_trace_in_the_spec() {
    let skip = JsonOptions { on_error: OnError::Skip, ..options() };
    let rows = "{\"a\": 1, \"b\": [1]}\n{\"new\": 1, \"a\": 2.5, \"b\": \"x\"}\n{\"a\": 2, \"b\": [2]";
    let spec = infer_spec(rows.as_bytes(), &skip).expect("infers");
    assert_eq!(short(&spec.to_string()), "(a: i64, b: [i64])");
}

#[test]
fn blocks_together_are_the_whole() {
    let lines: Vec<String> = (0..10).map(|i| format!("{{\"i\": {i}, \"l\": [{}]}}", "1,".repeat(i) + "2")).collect();
    blocks_are_the_whole(&format!("\u{feff}{}\n\n", lines.join("\n \r\n")));
    blocks_are_the_whole(&format!("\u{feff}\n [{}]\n", lines.join(" ,\n")));
    assert!(read_json_blocks(&b""[..], 0, options()).is_err());
}

/// Of lines, and of the items of an array.
fn blocks_are_the_whole(text: &str) {
    for rows in [1, 3, 10, 11] {
        let blocks = read_json_blocks(text.as_bytes(), rows, options()).expect("blocks");
        let texts: Vec<String> = blocks.map(|b| literal(&b.expect("a block").value)).collect();
        assert_eq!(texts.len(), 10_usize.div_ceil(rows));
        let joined: Vec<&str> = texts.iter().map(|text| &text[1..text.len() - 1]).collect();
        assert_eq!(
            format!("[{}]", joined.join(", ")),
            literal(&read_json(text.as_bytes(), &options()).expect("reads").value)
        );
    }
    let odd = text.replace("\"i\": 7", "\"i\": \"7\"");
    let whole =
        read_json(odd.as_bytes(), &JsonOptions { sample: Some(2), ..options() }).expect_err("a string").to_string();
    let mut blocks = read_json_blocks(odd.as_bytes(), 2, options()).expect("blocks");
    let error = blocks.by_ref().find_map(Result::err).expect("a string").to_string();
    assert!(error == whole && error.contains("row 7") && error.contains("first 2 records") && blocks.next().is_none());
    let skip = JsonOptions { on_error: OnError::Skip, ..options() };
    let bad: Vec<usize> =
        read_json_blocks(odd.as_bytes(), 4, skip).expect("blocks").flat_map(|b| b.expect("a block").bad.rows).collect();
    assert_eq!(bad, [7]);
    for (cut, end) in [(text.trim_end().len() - 1, ""), (text.len(), "]"), (text.len(), "{")] {
        let broken = format!("{}{end}", &text[..cut]);
        let [whole, last] = [
            read_json(broken.as_bytes(), &JsonOptions { sample: Some(3), ..options() }).err(),
            read_json_blocks(broken.as_bytes(), 3, options()).expect("blocks").find_map(Result::err),
        ];
        assert_eq!(last.map(|e| e.to_string()), whole.map(|e| e.to_string()), "{broken}");
    }
    let read = |source: &mut (dyn std::io::BufRead + Send)| -> Vec<String> {
        read_json_blocks(source, 4, options()).expect("blocks").map(|b| literal(&b.expect("a block").value)).collect()
    };
    // Whatever a source has at hand.
    let whole = read(&mut text.as_bytes());
    for room in [1, 2, 5] {
        assert_eq!(read(&mut std::io::BufReader::with_capacity(room, text.as_bytes())), whole);
    }
}

#[test]
fn an_array_without_records_is_one_block() {
    let spec = Some(infer_spec(b"{\"i\": 1}", &options()).expect("a spec"));
    for text in ["[]", " [ ] ", "", "\n"] {
        let blocks = read_json_blocks(text.as_bytes(), 2, JsonOptions { spec: spec.clone(), ..options() });
        let blocks: Vec<String> = blocks.expect("blocks").map(|b| literal(&b.expect("a block").value)).collect();
        assert_eq!(blocks, ["[]"], "{text:?}");
        let error = read_json_blocks(text.as_bytes(), 2, options()).expect("blocks").next().expect("a block");
        let error = error.expect_err("no records").to_string();
        assert_eq!(error, read_json(text.as_bytes(), &options()).expect_err("no records").to_string());
    }
}

#[test]
fn what_was_written_is_read_with_the_spec_that_is_inferred() {
    let rows =
        "{\"a\": 0.1, \"b\": [1, null], \"c\": {\"d\": \"\\u0000ß\"}}\n{\"a\": \"NaN\", \"b\": [], \"c\": null}\n";
    let value = read_json(rows.as_bytes(), &options()).expect("reads").value;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rows.ndjson");
    write_json(&Nest::Leaf(value.clone()), &path).expect("writes");
    let text = std::fs::read(&path).expect("there");
    assert_eq!(literal(&read_json(&text, &options()).expect("reads").value), literal(&value));
    assert!(write_json(&Nest::Leaf(value), folder.path().join("no/such")).is_err_and(|e| e.is_io()));
}

#[test]
fn no_row_is_left_out_of_what_is_written() {
    let text = |nest: &Nest<Value>| encode_ndjson(nest).map(|text| String::from_utf8(text).expect("text"));
    let strings = |items: &[&str]| Value::from(Tensor::strings(&[items.len()], items).expect("strings"));
    let pair = |b| Nest::dict([("a", Nest::Leaf(Tensor::from_vec(vec![1, 2]).into())), ("b", Nest::Leaf(b))]);
    assert_eq!(text(&pair(strings(&["x", "y"]))).expect("two rows"), "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y\"}\n");
    for odd in [strings(&["x"]), strings(&["x", "y", "z"]), constant(vec![vec![1]]).expect("a list")] {
        let error = text(&pair(odd)).expect_err("another number of rows").to_string();
        assert!(error.contains("and 'a' has 2.\nWanted: one number of rows"), "{error}");
    }
    let bare = constant(vec![Literal::Record(vec![]), Literal::Record(vec![])]).expect("records without fields");
    assert_eq!(text(&Nest::Leaf(bare)).expect("two rows"), "{}\n{}\n");
}

#[test]
fn a_packed_input_is_unpacked() {
    check_refused("\u{1f}", &options(), &["this is not JSON"]);
    let error = read_json(b"\x1f\x8b\x08", &options()).expect_err("gzip").to_string();
    assert!(error.contains("the gzip data is malformed"), "{error}");
    let packed = zstd::encode_all(&b"{\"a\": 1}\n"[..], 1).expect("packs");
    assert_eq!(literal(&read_json(&packed, &options()).expect("reads").value), "[{\"a\": 1}]");
    let blocks = read_json_blocks(&packed[..], 1, options()).expect("blocks");
    assert_eq!(blocks.map(|block| literal(&block.expect("a block").value)).collect::<String>(), "[{\"a\": 1}]");
}

#[test]
fn records_are_the_array_that_a_path_leads_to() {
    let text = br#" {"ok": true, "data": {"pages": [{"rows": []}, {"rows": [{"id": 1}, {"id": "x"}, {"id": 3, "more": {}}]}], "n": 2}} "#;
    let read = |text: &[u8], path: &str, on_error| {
        let items = Some(path.parse::<Path>().expect("a path"));
        let read = read_json(text, &JsonOptions { items, on_error, ..JsonOptions::default() });
        read.map_or_else(|e| e.to_string(), |rows| to_literal(&rows.value).expect("a literal").to_string())
    };
    let check = |text: &[u8], path: &str, on_error, wanted: &str| {
        let found = read(text, path, on_error);
        assert!(found.contains(wanted), "{path}: {found}");
    };
    let rows = "data.pages[1].rows";
    check(text, rows, OnError::Skip, r#"[{"id": 1, "more": None}, {"id": 3, "more": {}}]"#);
    check(text, "data.pages", OnError::Skip, r#"[{"rows": []}"#);
    let at = text.windows(3).position(|part| part == b"\"x\"").expect("there");
    check(text, rows, OnError::Raise, &format!("row 1, byte {at}, 'id'"));
    check(br#"[{"a": [{"x": 1}]}]"#, "[0].a", OnError::Raise, r#"[{"x": 1}]"#);
    check(text, "data.rows", OnError::Raise, "there is no 'data.rows'.\nWanted: one of pages, n.");
    check(text, "data.pages[2]", OnError::Raise, "there is no 'data.pages[2]'.\nWanted: a place below 2.");
    check(text, "data.n.rows", OnError::Raise, "'data.n' is no object, and the path goes on with 'rows'");
    check(text, "data.pages.rows", OnError::Raise, "'data.pages' is a list, and the path goes on with 'rows'");
    check(text, "data.pages[*]", OnError::Raise, "fields and places alone");
    check(text, "data", OnError::Raise, "an array of records");
    check(&text[..40], rows, OnError::Raise, "items: byte");
    check(br#"{"a": [], "a": [{"x": 1}]}"#, "a", OnError::Raise, "the key \"a\" came a second time");
    check(br#"{"a": [1]} x"#, "a", OnError::Raise, "items: byte");
    let options = JsonOptions { items: Some(rows.parse().expect("a path")), ..JsonOptions::default() };
    let error = read_json_blocks(&text[..], 1, options.clone()).map(drop).expect_err("no lines").to_string();
    assert!(error.contains("items: a path to the records is given"), "{error}");
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(text).and_then(|()| file.rewind()).expect("writes");
    let options = JsonOptions { on_error: OnError::Skip, ..options };
    assert_eq!(read_json_file(file, &options).expect("reads").bad.rows, [1]);
}

#[test]
fn what_stands_in_the_place_of_records_is_said() {
    for (value, came) in [("null", "null"), (" {}", "a record"), ("7", "the number 7")] {
        let options = JsonOptions { items: Some("data".parse().expect("a path")), ..options() };
        let text = format!("{{\"data\":{value}}}");
        let error = read_json(text.as_bytes(), &options).expect_err("no records").to_string();
        assert!(error.contains(&format!("{came} came.\nWanted: an array of records")), "{error}");
    }
}
