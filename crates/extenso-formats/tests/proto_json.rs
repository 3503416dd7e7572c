//! The JSON form of messages, case by case: what is read as what, what is written, and what is refused.
#![cfg(feature = "proto")]

use extenso_core::{ExtensionType, Tensor, Value};
use extenso_ext::{StructTensor, to_literal};
use extenso_formats::proto::{Enums, MessageType, Messages, Optionals, Schema};
use extenso_formats::{
    OnError, ProtobufOptions, encode_proto, encode_proto_json, ops, read_json, read_proto, read_proto_json,
};
use extenso_graph::Function;
use extenso_graph::save::{from_bytes, to_bytes};
use extenso_types::{Nest, Path};

const TEXT: &str = r#"
    syntax = "proto3";
    import "google/protobuf/timestamp.proto"; import "google/protobuf/duration.proto"; import "google/protobuf/wrappers.proto";
    import "google/protobuf/struct.proto"; import "google/protobuf/field_mask.proto"; import "google/protobuf/any.proto";
    enum Kind { OTHER = 0; BOOK = 1; ALSO = 5; }
    message All {
        int32 a_number = 1; int64 long = 2; uint64 big = 3; float f = 4; double d = 5; bool b = 6; string s = 7; bytes raw = 8;
        Kind kind = 9; optional int32 maybe = 10; repeated int64 many = 11; map<string, int64> by_name = 12;
        map<int32, Kind> by_number = 13; map<bool, Inner> by_flag = 14; Inner inner = 15;
        oneof one { int32 x = 16; string y = 17; }
        string named = 18 [json_name = "otherName"];
    }
    message Inner { sint32 n = 1; }
    message Times { google.protobuf.Timestamp at = 1; google.protobuf.Duration took = 2; google.protobuf.FieldMask mask = 3; }
    message Wrapped { google.protobuf.Int64Value i = 1; google.protobuf.StringValue s = 2; google.protobuf.BoolValue b = 3; }
    message Free { google.protobuf.Struct record = 1; google.protobuf.Value value = 2; google.protobuf.ListValue list = 3; }
    message Held { google.protobuf.Any detail = 1; }
"#;

fn message(name: &str) -> MessageType {
    Schema::from_text(TEXT).and_then(|schema| schema.message(name)).expect("a message")
}

fn options(paths: &[&str]) -> ProtobufOptions {
    let paths = (!paths.is_empty()).then(|| paths.iter().map(|path| path.parse::<Path>().expect("a path")).collect());
    ProtobufOptions { paths, optionals: Optionals::Masked, depth: Some(6), ..ProtobufOptions::default() }
}

/// Reading the JSON of these paths gives this literal; and so does what is written of it, in both forms.
fn check(name: &str, json: &str, paths: &[&str], wanted: &str) {
    let (message, options) = (message(name), options(paths));
    let rows = read_proto_json(json.as_bytes(), &message, &options).unwrap_or_else(|e| panic!("{json}: {e}"));
    assert_eq!(to_literal(&rows.value).expect("a literal").to_string(), wanted, "{json}");
    let spec = rows.value.spec().expect("a spec").to_string();
    let value = Nest::Leaf(rows.value);
    let lines = encode_proto_json(&value, &message).expect("writes");
    let again = read_proto_json(&lines, &message, &options).expect("reads").value;
    assert_eq!(to_literal(&again).expect("a literal").to_string(), wanted, "{}", lines.escape_ascii());
    let wire = encode_proto(&value, &message).expect("writes");
    let bytes = wire.data().expect("data").text_at(0).expect("a text");
    let again = read_proto(Messages::Each(&[bytes]), &message, &options).expect("reads").value;
    assert_eq!(again.spec().expect("a spec").to_string(), spec, "{json}");
    assert_eq!(to_literal(&again).expect("a literal").to_string(), wanted, "{json}");
}

#[test]
fn every_form_of_a_scalar_is_read() {
    for json in
        [r#"{"aNumber": 7}"#, r#"{"a_number": "7"}"#, r#"{"aNumber": 7.0}"#, r#"{"aNumber": "70e-1", "other": [{}]}"#]
    {
        check("All", json, &["a_number"], r#"[{"a_number": 7}]"#);
    }
    let long = r#"{"long": "-9223372036854775808", "big": 18446744073709551}"#;
    check("All", long, &["long", "big"], r#"[{"long": -9223372036854775808, "big": 18446744073709551}]"#);
    check("All", r#"{"f": "NaN", "d": "-Infinity"}"#, &["f", "d"], r#"[{"f": nan, "d": -inf}]"#);
    check("All", r#"{"f": "0.5", "d": 1e300, "b": true}"#, &["f", "d", "b"], r#"[{"f": 0.5, "d": 1e300, "b": True}]"#);
    for json in [r#"{"raw": "-_8="}"#, r#"{"raw": "+/8"}"#] {
        check("All", json, &["raw"], r#"[{"raw": b"\xfb\xff"}]"#);
    }
    for json in [r#"{"kind": "BOOK"}"#, r#"{"kind": 1}"#] {
        check("All", json, &["kind"], r#"[{"kind": 1}]"#);
    }
    check("All", r#"{"kind": 77}"#, &["kind"], r#"[{"kind": 77}]"#);
    check("All", r#"{"otherName": "a"}"#, &["named"], r#"[{"named": "a"}]"#);
    check("All", r#"{"named": "a\u00e9"}"#, &["named"], r#"[{"named": "aé"}]"#);
}

#[test]
fn null_and_nothing_are_no_value() {
    let wanted = r#"[{"a_number": 0, "maybe": None, "many": [], "by_name": [], "inner": None, "x": None, "y": None}]"#;
    let paths = ["a_number", "maybe", "many", "by_name", "inner", "x", "y"];
    for json in
        ["{}", r#"{"aNumber": null, "maybe": null, "many": null, "byName": null, "inner": null, "x": null, "y": null}"#]
    {
        check("All", json, &paths, wanted);
    }
    check("All", r#"{"maybe": 0, "inner": {}}"#, &["maybe", "inner"], r#"[{"maybe": 0, "inner": {"n": 0}}]"#);
    check("All", r#"{"x": null, "y": "b"}"#, &["x", "y"], r#"[{"x": None, "y": "b"}]"#);
}

#[test]
fn maps_are_objects() {
    let json =
        r#"{"byName": {"b": "2", "a": 1}, "byNumber": {"-7": "BOOK"}, "byFlag": {"true": {"n": 3}, "false": {}}}"#;
    check(
        "All",
        json,
        &["by_name", "by_number", "by_flag"],
        r#"[{"by_name": [{"key": "b", "value": 2}, {"key": "a", "value": 1}], "by_number": [{"key": -7, "value": 1}], "by_flag": [{"key": True, "value": {"n": 3}}, {"key": False, "value": {"n": 0}}]}]"#,
    );
    let read = read_proto_json(json.as_bytes(), &message("All"), &options(&[r#"by_name["a"]"#, r#"by_name["c"]"#]));
    let wanted = r#"[{"by_name": {"a": 1, "c": None}}]"#;
    assert_eq!(to_literal(&read.expect("reads").value).expect("a literal").to_string(), wanted);
}

#[test]
fn times_masks_and_wrappers_have_forms_of_their_own() {
    check(
        "Times",
        r#"{"at": "1969-12-31T23:59:59.5Z", "took": "-1.5s", "mask": "fooBar.x,b"}"#,
        &[],
        r#"[{"at": {"seconds": -1, "nanos": 500000000}, "took": {"seconds": -1, "nanos": -500000000}, "mask": {"paths": ["foo_bar.x", "b"]}}]"#,
    );
    check("Times", r#"{"mask": ""}"#, &["mask"], r#"[{"mask": {"paths": []}}]"#);
    let wrapped = r#"[{"i": {"value": 7}, "s": {"value": ""}, "b": None}]"#;
    check("Wrapped", r#"{"i": "7", "s": "", "b": null}"#, &[], wrapped);
}

#[test]
fn any_values_are_read_as_the_messages_that_they_are() {
    let value = |what: &str, is: &str| {
        let mut fields = ["null_value", "number_value", "string_value", "bool_value"].map(|name| (name, "None"));
        fields.iter_mut().filter(|(name, _)| *name == what).for_each(|field| field.1 = is);
        fields.map(|(name, is)| format!("\"{name}\": {is}")).join(", ")
    };
    let paths = ["value.null_value", "value.number_value", "value.string_value", "value.bool_value"];
    for (json, what, is) in [
        ("null", "null_value", "0"),
        ("1.5", "number_value", "1.5"),
        ("\"a\"", "string_value", "\"a\""),
        ("true", "bool_value", "True"),
        ("[1]", "list_value", ""),
    ] {
        let rows = read_proto_json(format!("{{\"value\": {json}}}").as_bytes(), &message("Free"), &options(&paths));
        let wanted = format!("[{{\"value\": {{{}}}}}]", value(what, is));
        assert_eq!(to_literal(&rows.expect("reads").value).expect("a literal").to_string(), wanted, "{json}");
    }
    let free = message("Free");
    let options = ProtobufOptions { depth: Some(9), ..options(&[]) };
    let line = "{\"record\":{\"a\":{\"b\":[1.0,null]},\"c\":\"x\"},\"value\":[true],\"list\":[{},\"y\"]}\n";
    let rows = read_proto_json(line.as_bytes(), &free, &options).expect("reads");
    let written = encode_proto_json(&Nest::Leaf(rows.value), &free).expect("writes");
    assert_eq!(String::from_utf8(written).expect("text"), line);
}

#[test]
fn a_value_that_goes_on_beyond_the_depth_does_not_fit() {
    let free = message("Free");
    let rows = "{\"value\":{\"a\":{\"b\":1.0}}}\n{\"value\":2.0}\n{\"list\":[[1.0]]}\n";
    for depth in 2..12 {
        for optionals in [Optionals::Masked, Optionals::Rows] {
            let options =
                ProtobufOptions { optionals, depth: Some(depth), on_error: OnError::Skip, ..Default::default() };
            let read = read_proto_json(rows.as_bytes(), &free, &options).expect("skips");
            let fits = |row: usize| !read.bad.rows.contains(&row);
            assert_eq!([fits(0), fits(1), fits(2)], [depth > 5, true, depth > 2], "{depth}");
            assert!(read.bad.first.iter().all(|bad| bad.error.to_string().contains("Give a larger `depth`")));
            let paths = Some(["value", "list"].map(|path| path.parse().expect("a path")).to_vec());
            let part = read_proto_json(rows.as_bytes(), &free, &ProtobufOptions { paths, ..options }).expect("skips");
            assert_eq!(part.bad.rows, read.bad.rows, "{depth}");
            let written = encode_proto_json(&Nest::Leaf(read.value), &free).expect("writes");
            let kept = rows.lines().enumerate().filter(|(row, _)| fits(*row)).map(|(_, line)| format!("{line}\n"));
            assert_eq!(String::from_utf8(written).expect("text"), kept.collect::<String>());
        }
    }
    let options = ProtobufOptions { optionals: Optionals::Masked, depth: Some(3), ..ProtobufOptions::default() };
    let error = read_proto_json(rows.as_bytes(), &free, &options).expect_err("too deep").to_string();
    let place = "row 0, byte 14, 'value.struct_value.fields[0].value': the value goes on beyond the depth";
    assert!(error.contains(place), "{error}");

    // What paths leave out of a value may go on.
    for (path, fits) in [("value", false), ("value.struct_value", false), ("value.number_value", true), ("list", true)]
    {
        let paths = Some(vec![path.parse().expect("a path")]);
        let read = read_proto_json(rows.as_bytes(), &free, &ProtobufOptions { paths, ..options.clone() });
        assert_eq!(read.is_ok(), fits, "{path}");
    }

    // The op says the same, eager and in a graph that uses a part of the record.
    let texts: Vec<&str> = rows.lines().collect();
    let texts: Value = Tensor::strings(&[3], &texts).expect("texts").into();
    let read = |x: &Value, depth: usize| {
        let options = ProtobufOptions { depth: Some(depth), ..options.clone() };
        ops::parse_proto_json(x, &message("Free"), &options).map(|parsed| parsed.value)
    };
    let error = read(&texts, 3).expect_err("too deep").to_string();
    assert!(error.starts_with("parse_proto_json: ") && error.contains(place), "{error}");
    for (name, fits) in [("value", false), ("list", true)] {
        let of_graph = options.clone();
        let part = Function::new("part", move |args| {
            let records = ops::parse_proto_json(args.leaves()[0].1, &message("Free"), &of_graph)?.value;
            Ok(Nest::Leaf(StructTensor::from_value(&records)?.field(name)?.clone()))
        });
        let ran = part.call(Nest::Leaf(texts.clone())).map(|_| ()).map_err(|e| e.to_string());
        assert_eq!(ran.is_ok(), fits, "{ran:?}");
        assert!(fits || ran.is_err_and(|error| error.contains("goes on beyond the depth")));
    }
    for (path, fits) in [("value", false), ("value.number_value", true), ("list", true)] {
        let paths = Some(vec![path.parse().expect("a path")]);
        let options = ProtobufOptions { paths, ..options.clone() };
        let read = ops::parse_proto_json(&texts, &message("Free"), &options);
        assert_eq!(read.is_ok(), fits, "{path}");
        let part = Function::new("part", move |args| {
            Ok(Nest::Leaf(ops::parse_proto_json(args.leaves()[0].1, &message("Free"), &options)?.value))
        });
        let spec = Nest::Leaf(texts.spec().expect("a spec"));
        let bytes = to_bytes(&[part.concrete(&spec).expect("traces")]).expect("saved");
        let loaded = from_bytes(bytes.clone()).expect("loaded").functions;
        assert_eq!(to_bytes(&loaded).expect("saved"), bytes);
        assert_eq!(loaded[0].call(&Nest::Leaf(texts.clone())).is_ok(), fits, "{path}");
    }
    read(&texts, 11).expect("deep enough");
}

#[test]
fn an_any_is_read_by_the_name_of_its_message() {
    let json = r#"{"detail": {"n": 7, "@type": "type.googleapis.com/Inner"}}
{"detail": {"@type": "x/google.protobuf.Duration", "value": "2s"}}
{"detail": {}}
{}"#;
    let paths = [r#"detail["[Inner]"].n"#, r#"detail["[google.protobuf.Duration]"].seconds"#, "detail.type_url"];
    let rows = read_proto_json(json.as_bytes(), &message("Held"), &options(&paths)).expect("reads");
    let text = to_literal(&rows.value).expect("a literal").to_string();
    for wanted in
        [r#""[Inner]": {"n": 7}"#, r#""[google.protobuf.Duration]": {"seconds": 2}"#, "type.googleapis.com/Inner"]
    {
        assert!(text.contains(wanted), "{text}");
    }
}

#[test]
fn an_any_is_bytes_of_a_message_that_the_descriptor_knows() {
    let any =
        r#"{"@type":"type.googleapis.com/google.protobuf.Any","value":{"@type":"type.googleapis.com/Inner","n":1}}"#;
    let lines = [
        r#"{"detail":{"@type":"type.googleapis.com/Inner","n":7}}"#.to_string(),
        r#"{"detail":{"@type":"x/google.protobuf.Duration","value":"2s"}}"#.to_string(),
        r#"{"detail":{"@type":"type.googleapis.com/Inner"}}"#.to_string(),
        format!(r#"{{"detail":{any}}}"#),
        "{\"detail\":{}}".to_string(),
        "{}".to_string(),
    ];
    let text = lines.join("\n") + "\n";
    let rows = read_proto_json(text.as_bytes(), &message("Held"), &options(&[])).expect("reads");
    let shown = to_literal(&rows.value).expect("a literal").to_string();
    assert!(shown.contains(r#""type_url": "type.googleapis.com/Inner", "value": b"\x08\x0e""#), "{shown}");
    assert_eq!(
        String::from_utf8(encode_proto_json(&Nest::Leaf(rows.value), &message("Held")).expect("writes")),
        Ok(text)
    );
    // An array may have its records on several lines.
    let spread = "[\n{\"detail\": {\n\"n\": 7,\n\"@type\": \"x/Inner\"}}]";
    let rows = read_proto_json(spread.as_bytes(), &message("Held"), &options(&[])).expect("reads");
    assert!(to_literal(&rows.value).expect("a literal").to_string().contains(r#"b"\x08\x0e""#));

    let deep = (0..40).fold(r#"{"@type":"x/Inner","n":1}"#.to_string(), |inner, _| {
        format!(r#"{{"@type":"x/google.protobuf.Any","value":{inner}}}"#)
    });
    for (json, wanted) in [
        (r#"{"detail": {"@type": "x/Other", "n": 7}}"#, "an Any holds a message 'Other'"),
        (r#"{"detail": {"@type": "x/Inner", "n": "a"}}"#, "'n'"),
        (r#"{"detail": {"@type": "x/google.protobuf.Duration"}}"#, "the Any has no value"),
        (&format!(r#"{{"detail": {deep}}}"#), "hold each other"),
    ] {
        let error = read_proto_json(json.as_bytes(), &message("Held"), &options(&[])).expect_err(json).to_string();
        assert!(error.contains("row 0") && error.contains("'detail'") && error.contains(wanted), "{json}: {error}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    for (json, place, wanted) in [
        (r#"{"aNumber": 1.5}"#, "byte 12, 'a_number'", "an integer that fits i32"),
        (r#"{"aNumber": 2147483648}"#, "'a_number'", "an integer that fits i32"),
        (r#"{"aNumber": " 7"}"#, "'a_number'", "an integer that fits i32"),
        (r#"{"aNumber": true}"#, "'a_number'", "an integer that fits i32"),
        (r#"{"f": 1e39}"#, "'f'", "a number that fits f32"),
        (r#"{"b": "true"}"#, "'b'", "true or false"),
        (r#"{"raw": "?"}"#, "'raw'", "a base64 string"),
        (r#"{"kind": "NONE"}"#, "'kind'", "a name or a number of the enum"),
        (r#"{"many": [1, null]}"#, "'many[1]'", "a value"),
        (r#"{"many": 1}"#, "'many'", "a list"),
        (r#"{"byName": {"a": 1, "b": 2, "a": 3}}"#, "'by_name'", "each key once"),
        (r#"{"byName": {"a": null}}"#, "'by_name[0].value'", "a value"),
        (r#"{"byNumber": {"x": 1}}"#, "'by_number[0].key'", "an integer that fits i32"),
        (r#"{"aNumber": 1, "a_number": 2}"#, "'a_number'", "each field once"),
        (r#"{"x": 1, "y": "a"}"#, "'y'", "one at most"),
        (r#"{"inner": [1]}"#, "'inner'", "a message"),
        (r#"{"inner": {"n": 1}"#, "row 0", "JSON"),
        (r#"[{}, {"s": 1}]"#, "row 1, byte 11, 's'", "a string"),
    ] {
        let error = read_proto_json(json.as_bytes(), &message("All"), &options(&[])).expect_err(json).to_string();
        assert!(error.contains(place) && error.contains(wanted), "{json}: {error}");
    }
    for (json, wanted) in [
        (r#"{"at": "1970-01-01"}"#, "RFC 3339"),
        (r#"{"took": 5}"#, "a duration in seconds"),
        (r#"{"mask": "foo_bar"}"#, "without underscores"),
        (r#"{"mask": "a,"}"#, "none of them empty"),
    ] {
        let error = read_proto_json(json.as_bytes(), &message("Times"), &options(&[])).expect_err(json).to_string();
        assert!(error.contains(wanted), "{json}: {error}");
    }
    let skip = ProtobufOptions { on_error: OnError::Skip, enums: Enums::Names, ..options(&["kind"]) };
    let rows = read_proto_json(b"{\"kind\": \"X\"}\n{\"kind\": \"BOOK\"}", &message("All"), &skip).expect("skips");
    assert_eq!(
        (rows.bad.rows, to_literal(&rows.value).expect("a literal").to_string()),
        (vec![0], r#"[{"kind": "BOOK"}]"#.into())
    );
}

#[test]
fn a_key_of_an_any_that_comes_twice_is_refused() {
    let inner = r#"{"detail": {"@type": "x/Inner", "n": 1, "@type": "x/Inner"}}"#;
    let seconds = r#"{"detail": {"@type": "x/google.protobuf.Duration", "value": "1s", "value": "2s"}}"#;
    for (json, key) in [(inner, "@type"), (seconds, "value")] {
        let paths = options(&[r#"detail["[Inner]"].n"#, r#"detail["[google.protobuf.Duration]"].seconds"#]);
        let error = read_proto_json(json.as_bytes(), &message("Held"), &paths).expect_err("twice").to_string();
        assert!(error.contains(&format!("the key \"{key}\" came a second time")), "{error}");
    }
}

#[test]
fn an_any_is_written_by_the_message_that_it_holds() {
    let paths =
        [r#"detail["[Inner]"]"#, r#"detail["[google.protobuf.Duration]"]"#, r#"detail["[Held]"].detail["[Inner]"].n"#];
    let json = r#"{"detail": {"@type": "type.googleapis.com/Inner", "n": 7}}
{"detail": {"@type": "type.googleapis.com/google.protobuf.Duration", "value": "2s"}}
{"detail": {"@type": "type.googleapis.com/Inner"}}
{"detail": {"@type": "type.googleapis.com/Held", "detail": {"@type": "type.googleapis.com/Inner", "n": 8}}}
{"detail": {}}
{}"#;
    for optionals in [Optionals::Masked, Optionals::Rows] {
        let paths = if optionals == Optionals::Masked {
            paths.map(str::to_string)
        } else {
            paths.map(|path| {
                path.replacen("detail[", "detail[*][", 1)
                    .replacen("].d", "][*].d", 1)
                    .replacen("\"].n", "\"][*].n", 1)
                    .replacen(".detail[", ".detail[*][", 1)
            })
        };
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let (message, options) = (message("Held"), ProtobufOptions { optionals, ..options(&paths) });
        let value = read_proto_json(json.as_bytes(), &message, &options).expect("reads").value;
        let wanted = to_literal(&value).expect("a literal").to_string();
        let value = Nest::Leaf(value);
        let lines = encode_proto_json(&value, &message).expect("writes");
        let normal = String::from_utf8(lines.clone()).expect("text").replace("\":", "\": ").replace(",\"", ", \"");
        assert_eq!(normal.lines().collect::<Vec<_>>(), json.lines().collect::<Vec<_>>());
        let wire = encode_proto(&value, &message).expect("writes");
        let rows: Vec<&[u8]> = (0..6).map(|i| wire.data().expect("data").text_at(i).expect("a text")).collect();
        assert_eq!(rows[0], b"\x0a\x1f\x0a\x19type.googleapis.com/Inner\x12\x02\x08\x0e");
        let again = [
            read_proto_json(&lines, &message, &options).expect("reads").value,
            read_proto(Messages::Each(&rows), &message, &options).expect("reads").value,
        ];
        again.iter().for_each(|again| assert_eq!(to_literal(again).expect("a literal").to_string(), wanted));
    }
}

#[test]
fn a_list_that_is_missing_is_written_as_no_items() {
    let rows = br#"{"many": [1], "by_name": null}
{"many": null, "by_name": [{"key": "a", "value": 2}]}"#;
    let value = Nest::Leaf(read_json(rows, &Default::default()).expect("reads").value);
    let lines = encode_proto_json(&value, &message("All")).expect("writes");
    assert_eq!(lines, b"{\"many\":[\"1\"]}\n{\"byName\":{\"a\":\"2\"}}\n");
    let wire = encode_proto(&value, &message("All")).expect("writes");
    let text = |i| wire.data().expect("data").text_at(i).expect("a text").to_vec();
    assert_eq!((text(0), text(1)), (b"\x5a\x01\x01".to_vec(), b"\x62\x05\x0a\x01a\x10\x02".to_vec()));
}

#[test]
fn an_any_of_two_messages_is_refused() {
    let paths = [r#"detail["[Inner]"].n"#, "detail.type_url"];
    let json = r#"{"detail": {"@type": "x/Inner", "n": 7}}"#;
    let value = read_proto_json(json.as_bytes(), &message("Held"), &options(&paths)).expect("reads").value;
    let error = encode_proto(&Nest::Leaf(value), &message("Held")).expect_err("two").to_string();
    assert!(error.contains("'[Inner]' says what the Any holds, and 'type_url' is given too"), "{error}");
}

#[test]
fn texts_are_parsed_and_written_in_a_saved_graph() {
    extenso_formats::init().expect("known");
    let (held, options) = (message("All"), options(&["a_number", "many", "kind"]));
    let lines = [r#"{"aNumber":7,"kind":"BOOK","many":["1","2"]}"#, "{}"];
    let x: Value = Tensor::strings(&[2], &lines).expect("texts").into();
    let again = move |x: &Value| ops::encode_proto_json(&ops::parse_proto_json(x, &held, &options)?.value, &held);
    let wanted = Value::from(Tensor::strings(&[2], &lines).expect("texts")).to_string();
    assert_eq!(again(&x).expect("again").to_string(), wanted);
    let f = Function::new("again", move |args| Ok(Nest::Leaf(again(args.leaves()[0].1)?)));
    let bytes = to_bytes(&[f.concrete(&Nest::Leaf(x.spec().expect("a spec"))).expect("traced")]).expect("saved");
    let loaded = from_bytes(bytes.clone()).expect("loaded");
    assert_eq!(to_bytes(&loaded.functions).expect("saved"), bytes);
    let ran = loaded.function("again").expect("there").call(&Nest::Leaf(x)).expect("ran");
    assert_eq!(ran.leaves()[0].1.to_string(), wanted);
    let odd: Value = Tensor::strings(&[1], &[r#"{"aNumber": "x"}"#]).expect("texts").into();
    let error =
        ops::parse_proto_json(&odd, &message("All"), &self::options(&["a_number"])).expect_err("odd").to_string();
    assert!(error.starts_with("parse_proto_json: row 0, byte 12, 'a_number'"), "{error}");
}

#[test]
fn a_graph_reads_the_fields_that_it_uses() {
    let (held, options) = (message("All"), options(&[]));
    let f = Function::new("number", move |args| {
        let parsed = ops::parse_proto_json(args.leaves()[0].1, &held, &options)?.value;
        Ok(Nest::Leaf(StructTensor::from_value(&parsed)?.field("a_number")?.clone()))
    });
    // The other field is odd, and nobody needs it.
    let x: Value = Tensor::strings(&[1], &[r#"{"aNumber": 7, "many": 8}"#]).expect("texts").into();
    assert_eq!(f.call(Nest::Leaf(x)).expect("ran").leaves()[0].1.to_string(), "[7]");
}
