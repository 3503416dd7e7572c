//! Oneofs as unions: the same records as with a field for each member, in both forms of messages, narrowed, and back.
#![cfg(all(feature = "proto", feature = "ipc"))]

use extenso_core::{ExtensionType, Tensor, Value, ops as core_ops};
use extenso_ext::{MaskedTensor, RaggedTensor, StructTensor, UnionTensor, to_literal};
use extenso_formats::arrow::{ArrowOptions, read_ipc, write_ipc};
use extenso_formats::proto::{Enums, MessageType, Messages, Oneofs, Optionals, Schema};
use extenso_formats::{
    OnError, ProtobufOptions, encode_ndjson, encode_proto, encode_proto_json, ops, proto_spec, read_proto,
    read_proto_json, run_proto,
};
use extenso_graph::Function;
use extenso_graph::save::{from_bytes, to_bytes};
use extenso_types::{Nest, Path, Result};

const TEXT: &str = "
    syntax = 'proto2';
    import 'google/protobuf/struct.proto';
    enum Kind { NONE = 0; BOOK = 3; }
    message Event {
        optional int64 id = 1;
        oneof what { string text = 2; int32 code = 3; Item item = 4; Kind kind = 5; group Pair = 6 { optional bool a = 1; } }
        repeated Event parts = 7;
        oneof other { bytes raw = 8; double number = 9; }
        optional google.protobuf.Value free = 10;
    }
    message Item { optional string sku = 1; repeated float prices = 2; optional int32 n = 3; }
";

fn event() -> MessageType {
    Schema::from_text(TEXT).and_then(|schema| schema.message("Event")).expect("a schema")
}

/// One of each member; a message in two parts; a member after another; a number that the enum has not; none.
const EVENTS: [&[u8]; 10] = [
    b"\x08\x01\x12\x01a",
    b"\x18\x07\x08\x02",
    b"\x22\x0b\x0a\x01s\x12\x04\0\0\x20\x40\x18\x05\x22\x02\x18\x06",
    b"\x28\x03",
    b"\x33\x08\x01\x34",
    b"\x22\x02\x18\x01\x12\x01b",
    b"\x12\x01c\x22\x02\x18\x02\x42\x01r",
    b"\x28\x02",
    b"",
    b"\x3a\x05\x12\x03abc\x3a\x00\x49\0\0\0\0\0\0\xe0\x3f",
];

fn options(optionals: Optionals, paths: &[&str]) -> ProtobufOptions {
    let paths = (!paths.is_empty()).then(|| paths.iter().map(|path| path.parse().expect("a path")).collect());
    ProtobufOptions { oneofs: Oneofs::Union, depth: Some(3), optionals, paths, ..ProtobufOptions::default() }
}

fn read(options: &ProtobufOptions) -> Value {
    read_proto(Messages::Each(&EVENTS), &event(), options).expect("reads").value
}

fn shown(value: &Value) -> String {
    to_literal(value).expect("a literal").to_string()
}

fn field(value: &Value, path: &str) -> Value {
    let path: Path = path.parse().expect("a path");
    StructTensor::from_value(value).and_then(|records| records.field_value(&path)).expect("a field")
}

#[test]
fn the_member_that_is_there_is_the_element() {
    let wanted = r#"[["a"], [7], [{"sku": ["s"], "prices": [2.5], "n": [6]}], [3], [{"a": [True]}], ["b"], [{"sku": [], "prices": [], "n": [2]}], [], [], []]"#;
    assert_eq!(shown(&field(&read(&options(Optionals::Rows, &["what"])), "what")), wanted);
    let masked = read(&options(Optionals::Masked, &["what.text", "what.code", "other"]));
    assert_eq!(shown(&field(&masked, "what")), r#"["a", 7, None, None, None, "b", None, None, None, None]"#);
    assert_eq!(shown(&field(&masked, "other")), r#"[None, None, None, None, None, None, b"r", None, None, 0.5]"#);
    let all = shown(&read(&options(Optionals::Rows, &["parts[*].what"])));
    assert!(all.ends_with(r#"{"parts": [{"what": ["abc"]}, {"what": []}]}]"#), "{all}");
    let names = ProtobufOptions { enums: Enums::Names, ..options(Optionals::Masked, &["what.kind"]) };
    assert_eq!(
        shown(&field(&read(&names), "what")),
        r#"[None, None, None, "BOOK", None, None, None, None, None, None]"#
    );
}

#[test]
fn a_member_of_a_union_is_the_field_that_it_was() {
    let members = ProtobufOptions { oneofs: Oneofs::Members, ..options(Optionals::Masked, &[]) };
    let (alone, joined) = (read(&members), read(&options(Optionals::Masked, &[])));
    for name in ["text", "code", "item", "kind"] {
        let union = MaskedTensor::from_value(&field(&joined, "what")).expect("masked");
        let child = UnionTensor::from_value(union.values()).and_then(|union| union.child(name)).expect("a child");
        let child = MaskedTensor::from_value(&child).expect("masked");
        let there = core_ops::logical_and(child.mask(), union.mask()).expect("both");
        let there = there.tensor().expect("bits").clone();
        let child = MaskedTensor::new(child.values().clone(), there).expect("masked").into_value();
        assert_eq!(shown(&child), shown(&field(&alone, name)), "{name}");
    }
}

#[test]
fn unions_are_written_as_they_were_read() {
    let message = event();
    for optionals in [Optionals::Rows, Optionals::Masked] {
        let options = options(optionals, &[]);
        let value = Nest::Leaf(read(&options));
        let (written, lines) = (encode_proto(&value, &message), encode_proto_json(&value, &message));
        let (written, lines) = (written.expect("writes"), lines.expect("writes"));
        let bytes: Vec<&[u8]> =
            (0..EVENTS.len()).map(|i| written.data().expect("data").text_at(i).expect("bytes")).collect();
        let again = [
            read_proto(Messages::Each(&bytes), &message, &options).expect("reads").value,
            read_proto_json(&lines, &message, &options).expect("reads").value,
        ];
        for again in again {
            let Nest::Leaf(value) = &value else { panic!("one value") };
            assert_eq!(shown(&again), shown(value));
            assert_eq!(again.spec().expect("a spec").to_string(), value.spec().expect("a spec").to_string());
        }
    }
}

#[test]
fn a_member_without_fields_is_there_or_not() {
    let text = "syntax = 'proto3'; message Stop {} message Move { int32 x = 1; }
        message Step { oneof what { Stop stop = 1; Move move = 2; Stop wait = 3; } repeated Step then = 4; }";
    let message = Schema::from_text(text).and_then(|schema| schema.message("Step")).expect("a schema");
    let steps: [&[u8]; 6] =
        [b"\x0a\x00", b"\x12\x02\x08\x07", b"", b"\x1a\x00", b"\x0a\x00\x1a\x02\x08\x01", b"\x22\x02\x1a\x00\x22\x00"];
    let spec_of = |optionals, paths: &[&str]| self::options(optionals, paths);
    for (optionals, wanted) in [
        (Optionals::Rows, r#"[[{}], [{"x": 7}], [], [{}], [{}], []]"#),
        (Optionals::Masked, r#"[{}, {"x": 7}, None, {}, {}, None]"#),
    ] {
        let options = spec_of(optionals, &["what", "then[*].what"]);
        let value = read_proto(Messages::Each(&steps), &message, &options).expect("reads").value;
        assert_eq!(shown(&field(&value, "what")), wanted);
        let written = encode_proto(&Nest::Leaf(value.clone()), &message).expect("writes");
        let bytes: Vec<&[u8]> = (0..6).map(|i| written.data().expect("data").text_at(i).expect("bytes")).collect();
        assert_eq!((bytes[0], bytes[2], bytes[4]), (&b"\x0a\x00"[..], &b""[..], &b"\x1a\x00"[..]));
        let lines = encode_proto_json(&Nest::Leaf(value.clone()), &message).expect("writes");
        let text = String::from_utf8_lossy(&lines).into_owned();
        assert_eq!(
            text.lines().collect::<Vec<_>>()[..4],
            [r#"{"stop":{}}"#, r#"{"move":{"x":7}}"#, "{}", r#"{"wait":{}}"#]
        );
        let texts: Value = Tensor::byte_strings(&[6], &bytes).expect("messages").into();
        let again = [
            read_proto(Messages::Each(&bytes), &message, &options).expect("reads").value,
            read_proto_json(&lines, &message, &options).expect("reads").value,
            ops::parse_proto(&texts, &message, &options).expect("parses").value,
        ];
        for again in again {
            assert_eq!(shown(&again), shown(&value));
            assert_eq!(again.spec().expect("a spec").to_string(), value.spec().expect("a spec").to_string());
        }
        let arrow = ArrowOptions { spec: Some(value.spec().expect("a spec")), ..ArrowOptions::default() };
        let again = read_ipc(write_ipc(&value, false).expect("writes").into(), &arrow).expect("reads").value;
        assert_eq!(shown(&again), shown(&value));
        let what = match optionals {
            Optionals::Rows => RaggedTensor::from_value(&field(&value, "what")).expect("rows").values().clone(),
            Optionals::Masked => MaskedTensor::from_value(&field(&value, "what")).expect("masked").values().clone(),
        };
        let waits = UnionTensor::from_value(&what).and_then(|union| union.child("wait")).expect("a child");
        let there =
            if optionals == Optionals::Rows { "[None, None, {}, {}]" } else { "[None, None, None, {}, {}, None]" };
        assert_eq!(shown(&waits), there);
    }
}

#[test]
fn unions_go_through_files_of_arrow_by_their_own_spec() {
    for optionals in [Optionals::Rows, Optionals::Masked] {
        let value = read(&options(optionals, &[]));
        let spec = value.spec().expect("a spec");
        let arrow = ArrowOptions { spec: Some(spec.clone()), ..ArrowOptions::default() };
        let again = read_ipc(write_ipc(&value, false).expect("writes").into(), &arrow).expect("reads").value;
        assert_eq!(shown(&again), shown(&value));
        assert_eq!(again.spec().expect("a spec").to_string(), spec.to_string());
    }
}

#[test]
fn any_value_of_json_is_a_union() {
    let lines = br#"{"free": null}
{"free": [1, "a", {"b": true}]}
{"free": 2.5}
{}"#;
    let of = |paths: &[&str]| ProtobufOptions { depth: Some(7), ..options(Optionals::Masked, paths) };
    let value = read_proto_json(lines, &event(), &of(&["free"])).expect("reads").value;
    let wanted = r#"[{"free": {"kind": 0}}, {"free": {"kind": {"values": [{"kind": 1.0}, {"kind": "a"}, {"kind": {"fields": [{"key": "b", "value": {"kind": True}}]}}]}}}, {"free": {"kind": 2.5}}, {"free": None}]"#;
    assert_eq!(shown(&value), wanted);
    let again = encode_proto_json(&Nest::Leaf(value), &event()).expect("writes");
    assert_eq!(
        String::from_utf8_lossy(&again).lines().collect::<Vec<_>>(),
        [r#"{"free":null}"#, r#"{"free":[1.0,"a",{"b":true}]}"#, r#"{"free":2.5}"#, "{}"]
    );
}

#[test]
fn the_element_is_written_as_json() {
    let value = read(&options(Optionals::Masked, &["id", "what.text", "what.item.n"]));
    let lines = String::from_utf8(encode_ndjson(&Nest::Leaf(value)).expect("writes")).expect("text");
    let wanted = [r#"{"id":1,"what":"a"}"#, r#"{"id":2,"what":null}"#, r#"{"id":null,"what":{"n":6}}"#];
    assert_eq!(lines.lines().take(3).collect::<Vec<_>>(), wanted);
}

#[test]
fn a_graph_decodes_the_alternative_that_it_uses() {
    extenso_formats::init().expect("known");
    let (message, options) = (event(), options(Optionals::Rows, &[]));
    let text = |value: &Value| -> Result<Value> {
        let what = RaggedTensor::from_value(&StructTensor::from_value(value)?.field_value(&"what".parse()?)?)?;
        UnionTensor::from_value(what.values())?.child("text")
    };
    let wanted = r#"["a", None, None, None, None, "b", None]"#;
    let direct = Function::new("text", move |args| Ok(Nest::Leaf(text(args.leaves()[0].1)?)));
    let spec = proto_spec(&message, &options).expect("a spec");
    let concrete = direct.concrete(&Nest::Leaf(spec)).expect("traced");
    let rows = run_proto(&concrete, Messages::Each(&EVENTS), &message, OnError::Raise).expect("ran");
    assert_eq!(shown(rows.value.leaves()[0].1), wanted);
    let visited: Vec<String> = rows.visited.iter().map(|(path, _)| path.to_string()).collect();
    assert_eq!(visited, ["what[*]", "what[*][0]"]);

    let x: Value = Tensor::byte_strings(&[EVENTS.len()], &EVENTS).expect("messages").into();
    let parse = Function::new("parse", move |args| {
        Ok(Nest::Leaf(text(&ops::parse_proto(args.leaves()[0].1, &message, &options)?.value)?))
    });
    let concrete = parse.concrete(&Nest::Leaf(x.spec().expect("a spec"))).expect("traced");
    let bytes = to_bytes(&[concrete]).expect("saved");
    let loaded = from_bytes(bytes).expect("loaded");
    let results = loaded.function("parse").expect("there").call(&Nest::Leaf(x)).expect("ran");
    assert_eq!(shown(results.leaves()[0].1), wanted);
}

#[test]
fn what_does_not_fit_is_named() {
    let message = event();
    let refused = |options: &ProtobufOptions, text: &str| {
        let error = read_proto(Messages::Each(&EVENTS), &message, options).expect_err(text).to_string();
        assert!(error.contains(text), "{error}");
    };
    refused(
        &options(Optionals::Masked, &["what.nothing"]),
        "there is no 'what.nothing'.\nWanted: one of text, code, item, kind, pair.",
    );
    let spec = proto_spec(&message, &options(Optionals::Masked, &["what.text", "id"])).expect("a spec");
    let elsewhere = Schema::from_text("message Event { optional int64 id = 1; oneof what { string name = 2; } }");
    let elsewhere = elsewhere.and_then(|schema| schema.message("Event")).expect("a schema");
    let options = ProtobufOptions { spec: Some(spec), ..ProtobufOptions::default() };
    let error = read_proto(Messages::Each(&EVENTS), &elsewhere, &options).expect_err("no such member").to_string();
    assert!(error.contains("'what.text': oneof Event.what has no member 'text'.\nWanted: one of name."), "{error}");
    let cut: [&[u8]; 1] = [b"\x22\x02\x18"];
    let error =
        read_proto(Messages::Each(&cut), &message, &self::options(Optionals::Rows, &[])).expect_err("cut").to_string();
    assert!(error.contains("row 0, byte 1, 'item'"), "{error}");
}
