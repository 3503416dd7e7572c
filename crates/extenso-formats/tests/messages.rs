//! What messages do not have: values of one number by two names, entries without a value, records of a list that are missing.
#![cfg(feature = "proto")]

use extenso_ext::to_literal;
use extenso_formats::proto::{Enums, MessageType, Messages, Schema};
use extenso_formats::{ProtobufOptions, encode_proto, encode_proto_json, read_json, read_proto};
use extenso_types::Nest;

const TEXT: &str = "syntax = 'proto3';
    enum Kind { option allow_alias = true; NONE = 0; NOTHING = 0; BOOK = 1; VOLUME = 1; TOME = 1; NULL = 0; }
    message M { Kind kind = 1; repeated Kind kinds = 2; map<string, int32> counts = 3; map<string, Item> items = 4;
        repeated Item list = 5; }
    message Item { int32 n = 1; }";

fn message() -> MessageType {
    Schema::from_text(TEXT).and_then(|schema| schema.message("M")).expect("a message")
}

fn of_json(text: &str) -> Nest<extenso_core::Value> {
    Nest::Leaf(read_json(text.as_bytes(), &Default::default()).expect("reads").value)
}

#[test]
fn a_number_of_several_names_has_the_first() {
    let options = ProtobufOptions { enums: Enums::Names, ..ProtobufOptions::default() };
    let rows = read_proto(Messages::Each(&[b"\x08\x01\x12\x02\x00\x01"]), &message(), &options).expect("reads");
    let read = to_literal(&rows.value).expect("a literal").to_string();
    assert!(read.contains(r#""kind": "BOOK", "kinds": ["NONE", "BOOK"]"#), "{read}");
    let lines = encode_proto_json(&of_json(r#"{"kind": 1, "kinds": [0, 1]}"#), &message()).expect("writes");
    assert_eq!(lines.escape_ascii().to_string().replace('\\', ""), r#"{"kind":"BOOK","kinds":["NONE","BOOK"]}n"#);
    // Each of the names is read.
    let given = of_json(r#"{"kinds": ["TOME", "NULL"]}"#);
    let wire = encode_proto(&given, &message()).expect("writes");
    assert_eq!(wire.data().expect("data").text_at(0).expect("a text"), b"\x12\x02\x01\x00");
}

#[test]
fn an_entry_without_its_key_or_value_is_refused() {
    for (text, wanted) in [
        (
            r#"{"counts": [{"key": "a", "value": 1}, {"key": "b", "value": null}]}"#,
            "'counts[1].value': an entry has no value",
        ),
        (
            r#"{"counts": [{"key": "a", "value": 1}, {"key": null, "value": 2}]}"#,
            "'counts[1].key': an entry has no key",
        ),
        (
            r#"{"items": [{"key": "a", "value": {"n": 1}}, {"key": "b", "value": null}]}"#,
            "'items[1].value': an entry has no value",
        ),
    ] {
        let error = encode_proto(&of_json(text), &message()).expect_err(wanted).to_string();
        assert!(error.contains(wanted), "{error}");
        assert!(encode_proto_json(&of_json(text), &message()).is_err());
    }
}

#[test]
fn a_missing_record_of_a_list_is_told_of_as_one() {
    let error = encode_proto(&of_json(r#"{"list": [{"n": 1}, null]}"#), &message()).expect_err("missing").to_string();
    assert!(error.contains("'list': message Item is given") && error.contains("may be missing"), "{error}");
    let error = encode_proto(&of_json(r#"{"list": [1]}"#), &message()).expect_err("no record").to_string();
    assert!(
        error.contains("'list': no struct is written as message Item") && error.contains("Wanted: a struct"),
        "{error}"
    );
}
