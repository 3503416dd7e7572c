//! Messages in their JSON form to records, under every policy; what was read is written in both forms, and is the same in both.

use crate::outcomes::Outcomes;
use extenso_core::Value;
use extenso_ext::to_literal;
use extenso_formats::proto::{MessageType, Messages, Oneofs, Optionals, Schema};
use extenso_formats::{OnError, ProtobufOptions, encode_proto, encode_proto_json, read_proto, read_proto_json};
use extenso_types::Nest;
use std::sync::LazyLock;

const TEXT: &str = r#"
    syntax = "proto3";
    import "google/protobuf/timestamp.proto"; import "google/protobuf/duration.proto"; import "google/protobuf/wrappers.proto";
    import "google/protobuf/struct.proto"; import "google/protobuf/field_mask.proto"; import "google/protobuf/any.proto";
    enum Kind { OTHER = 0; BOOK = 1; }
    message All {
        int32 a_number = 1; uint64 big = 2; float f = 3; double d = 4; bool b = 5; string s = 6; bytes raw = 7; Kind kind = 8;
        optional int32 maybe = 9; repeated int64 many = 10; map<string, int64> by_name = 11; map<bool, Inner> by_flag = 12;
        oneof one { int32 x = 13; string y = 14; Inner z = 15; }
        google.protobuf.Timestamp at = 16; google.protobuf.Duration took = 17; google.protobuf.FieldMask mask = 18;
        google.protobuf.Int64Value wrapped = 19;
    }
    message Free { google.protobuf.Value free = 1; }
    message Inner { sint32 n = 1; }
    message Held { google.protobuf.Any detail = 1; }"#;

static MESSAGES: LazyLock<[(MessageType, Option<&str>); 3]> = LazyLock::new(|| {
    let schema = Schema::from_text(TEXT).expect("a schema");
    let message = |name: &str| schema.message(name).expect("a message");
    [(message("All"), None), (message("Held"), Some(r#"detail["[Inner]"]"#)), (message("Free"), None)]
});

pub const DICTIONARY: &[&[u8]] = &[
    b"null",
    b"\"NaN\"",
    b"\"7\"",
    b"1e2",
    b"-0",
    b"18446744073709551616",
    b"\"AQ==\"",
    b"\"BOOK\"",
    b"\"2001-02-03T04:05:06.5Z\"",
    b"\"1.5s\"",
    b"\"a,b.fooBar\"",
    b"{\"@type\":\"x/Inner\"",
    b"\"aNumber\":",
    b"\"a_number\":",
    b"\"free\":[[[[",
    b"}\n{",
    b"\xff",
];

pub fn corpus() -> Vec<Vec<u8>> {
    let lines = [
        r#"{"aNumber": 7, "big": "18446744073709551615", "f": "NaN", "d": 1e300, "b": true, "s": "\u00e9", "raw": "-_8=", "kind": "BOOK"}"#,
        r#"{"maybe": null, "many": ["1", 2.0], "byName": {"a": 1, "": "-2"}, "byFlag": {"true": {"n": 3}}, "z": {"n": "4"}}"#,
        r#"{"at": "2001-02-03T04:05:06.5Z", "took": "-1.5s", "mask": "a,b.fooBar", "wrapped": "7"}"#,
        r#"{"free": [1, "a", {"b": null}]}"#,
        r#"{"detail": {"n": 7, "@type": "type.googleapis.com/Inner"}}"#,
        "{}",
    ];
    lines.iter().map(|line| line.as_bytes().to_vec()).chain([lines.join("\n").into_bytes()]).collect()
}

pub fn run(bytes: &[u8], outcomes: &mut Outcomes) {
    for (message, path) in MESSAGES.iter() {
        for on_error in [OnError::Raise, OnError::Skip, OnError::Default] {
            for oneofs in [Oneofs::Members, Oneofs::Union] {
                let paths = path.map(|path| vec![path.parse().expect("a path")]);
                let options = ProtobufOptions { paths, oneofs, on_error, depth: Some(4), ..ProtobufOptions::default() };
                let options = ProtobufOptions { optionals: Optionals::Masked, ..options };
                let Some(rows) = outcomes.of("read", read_proto_json(bytes, message, &options)) else { continue };
                outcomes.value("read", rows.bad.count());
                for bad in rows.bad.first {
                    outcomes.of::<()>("row", Err(bad.error));
                }
                back(&rows.value, message, &ProtobufOptions { on_error: OnError::Raise, ..options });
            }
        }
    }
}

/// What was read is what is read of both forms that are written of it.
fn back(value: &Value, message: &MessageType, options: &ProtobufOptions) {
    let (literal, nest) = (shown(value), Nest::Leaf(value.clone()));
    let wire = encode_proto(&nest, message).expect("what was read can be written");
    let dense = wire.data().expect("data");
    let messages: Vec<&[u8]> = (0..dense.len()).map(|i| dense.text_at(i).expect("bytes")).collect();
    let again = read_proto(Messages::Each(&messages), message, options).expect("what was written can be read");
    assert_eq!(shown(&again.value), literal, "the wire form is the same");
    if message.name() == "Free" {
        // What lies deeper than was read is no value, which JSON has not: it is written as null.
        return;
    }
    let lines = encode_proto_json(&nest, message).expect("what was read can be written");
    let again = read_proto_json(&lines, message, options).expect("what was written can be read");
    assert_eq!(shown(&again.value), literal, "the JSON form is the same");
}

fn shown(value: &Value) -> String {
    to_literal(value).expect("a literal").to_string()
}
