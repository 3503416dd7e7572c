//! Messages to records, and descriptors to specs: a part of a message is what it is in the whole, under every policy.

use crate::outcomes::Outcomes;
use extenso_core::ExtensionType;
use extenso_ext::{StructTensor, to_literal};
use extenso_formats::proto::{Enums, MessageType, Messages, Oneofs, Optionals, Schema};
use extenso_formats::{OnError, ProtobufOptions, encode_proto, proto_spec, read_proto};
use extenso_types::{Nest, Path};
use std::sync::LazyLock;

const TEXT: &str = "syntax = 'proto2';
    enum Kind { NONE = 0; BOOK = 3; }
    message All {
        optional double a = 1; optional float b = 2; optional int32 c = 3; optional int64 d = 4; optional uint32 e = 5;
        optional sint32 f = 6; optional sint64 g = 7; optional fixed32 h = 8; optional sfixed64 i = 9; optional bool j = 10;
        optional string k = 11; optional bytes l = 12; optional Kind m = 13; optional Inner n = 14;
        repeated float o = 21; repeated sint64 p = 22; repeated bool q = 23; repeated string r = 24; repeated Kind s = 25;
        repeated Inner t = 26;
        oneof one { int32 u = 31; string v = 32; Inner w = 33; }
        map<string, int64> x = 34;
        optional group Y = 35 { optional Inner inner = 1; repeated int32 z = 2; }
    }
    message Inner { optional int64 id = 1; optional Inner2 deep = 2; repeated Inner2 many = 3; }
    message Inner2 { optional string name = 1; repeated uint32 numbers = 2; }";

static MESSAGE: LazyLock<MessageType> =
    LazyLock::new(|| Schema::from_text(TEXT).and_then(|schema| schema.message("All")).expect("a message"));

/// The fields that are read alone.
const PARTS: [&str; 6] = ["k", "n.deep", "t[*].many", "u", "w", "y.z"];

pub const DICTIONARY: &[&[u8]] = &[
    b"\x72\x04\x12\x02\x0a\x00",
    b"\x72\x00",
    b"\xd2\x01\x06\x1a\x04\x12\x02\x01\x02",
    b"\x8a\x02\x02\x08\x01",
    b"\xf8\x01\x01",
    b"\x82\x02\x01a",
    b"\x9b\x02\x10\x05\x9c\x02",
    b"\x9b\x02",
    b"\x9c\x02",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\xaa\x01\x04\0\0\x80\x3f",
];

pub fn corpus() -> Vec<Vec<u8>> {
    let all: &[u8] = b"\x09\0\0\0\0\0\0\xf0\x3f\x15\0\0\0\x40\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x20\x07\x28\x08\x30\x09\x38\x0a\
        \x45\x01\0\0\0\x49\x01\0\0\0\0\0\0\0\x50\x01\x5a\x03\xc3\x9f!\x62\x02\xff\xfe\x68\x03";
    let lists: &[u8] =
        b"\xaa\x01\x08\0\0\x80\x3f\0\0\0\x40\xb0\x01\x05\xb2\x01\x02\x01\x02\xb8\x01\x01\xc2\x01\x01a\xc2\x01\x00\
        \xca\x01\x02\x00\x03\xd2\x01\x02\x08\x01\xd2\x01\x06\x1a\x04\x12\x02\x01\x02";
    let merged: &[u8] = b"\x72\x02\x08\x01\x72\x05\x12\x03\x0a\x01a\x72\x04\x12\x02\x10\x07";
    let one: &[u8] = b"\xf8\x01\x05\x82\x02\x01b\x8a\x02\x02\x08\x02\x8a\x02\x02\x08\x03\x92\x02\x05\x0a\x01k\x10\x07";
    let groups: &[u8] = b"\x9b\x02\x0a\x02\x08\x01\x10\x05\x12\x02\x06\x07\x9c\x02\xa3\x06\x08\x01\xa4\x06";
    let parts = [all, lists, merged, one, groups];
    parts.iter().map(|part| part.to_vec()).chain([parts.concat()]).collect()
}

fn masked(on_error: OnError) -> ProtobufOptions {
    ProtobufOptions { optionals: Optionals::Masked, on_error, ..ProtobufOptions::default() }
}

pub fn run(bytes: &[u8], outcomes: &mut Outcomes) {
    let each: [&[u8]; 3] = [b"\x18\x01", bytes, b"\x5a\x01b"];
    let sources = [Messages::Each(&each), Messages::Delimited(bytes), Messages::TfRecord(bytes)];
    for source in sources {
        for on_error in [OnError::Raise, OnError::Skip, OnError::Default] {
            let Some(rows) = outcomes.of("read", read_proto(source, &MESSAGE, &masked(on_error))) else { continue };
            outcomes.value("read", rows.bad.count());
            for bad in rows.bad.first {
                outcomes.of::<()>("row", Err(bad.error));
            }
            let whole = to_literal(&rows.value).expect("a literal").to_string();
            let written =
                encode_proto(&Nest::Leaf(rows.value.clone()), &MESSAGE).expect("what was read can be written");
            check_again(&written, &whole);
            if on_error == OnError::Raise {
                check_parts(source, &rows.value, &whole);
                let names = ProtobufOptions { enums: Enums::Names, ..masked(on_error) };
                outcomes.of("names", read_proto(source, &MESSAGE, &names));
                let unions = ProtobufOptions { oneofs: Oneofs::Union, optionals: Optionals::Rows, ..masked(on_error) };
                let union = read_proto(source, &MESSAGE, &unions).expect("the members were read").value;
                let union = encode_proto(&Nest::Leaf(union), &MESSAGE).expect("what was read can be written");
                check_again(&union, &whole);
            }
        }
    }
}

/// What was written reads as what was read.
fn check_again(written: &extenso_core::Tensor, whole: &str) {
    let dense = written.data().expect("data");
    let messages: Vec<&[u8]> = (0..dense.len()).map(|i| dense.text_at(i).expect("bytes")).collect();
    let again = read_proto(Messages::Each(&messages), &MESSAGE, &masked(OnError::Raise)).expect("reads").value;
    assert_eq!(to_literal(&again).expect("a literal").to_string(), *whole);
}

/// What is read alone is what the whole has.
fn check_parts(source: Messages<'_>, value: &extenso_core::Value, whole: &str) {
    let all = StructTensor::from_value(value).expect("records");
    for part in PARTS {
        let path: Path = part.parse().expect("a path");
        let options = ProtobufOptions { paths: Some(vec![path.clone()]), ..masked(OnError::Raise) };
        let alone = read_proto(source, &MESSAGE, &options).expect("the whole was read").value;
        let alone = StructTensor::from_value(&alone).expect("records");
        let [alone, all] = [&alone, &all].map(|records| {
            let value = records.field_value(&path).expect("the path leads there");
            to_literal(&value).expect("a literal").to_string()
        });
        assert_eq!(alone, all, "{part} of {whole}");
    }
}

pub const WORDS: &[&[u8]] = &[
    b"\x0a",
    b"\x12",
    b"M",
    b".M",
    b"\x22",
    b"\x18\x01",
    b"\x20\x03",
    b"\x28\x0b",
    b"\x32\x02.M",
    b"\x1a\x01f",
    b"\x50\x00",
];

pub fn descriptors() -> Vec<Vec<u8>> {
    let tree: &[u8] = b"\x0a\x23\x0a\x01f\x22\x1e\x0a\x01M\x12\x08\x0a\x01a\x18\x01\x20\x01\x28\x05\x12\x0f\x0a\x01b\x18\x02\x20\x03\x28\x0b\x32\x02.M\x3a\x00";
    let plain: &[u8] = b"\x0a\x10\x0a\x01f\x22\x0b\x0a\x01M\x12\x06\x0a\x01a\x18\x01\x20\x01";
    let imports: &[u8] = b"\x0a\x08\x0a\x01g\x1a\x01f\x50\x00\x0a\x0b\x0a\x01h\x1a\x01g\x1a\x01f\x50\x00";
    vec![tree.to_vec(), plain.to_vec(), [plain, imports].concat(), Vec::new()]
}

pub fn run_descriptor(bytes: &[u8], outcomes: &mut Outcomes) {
    if let Some(schema) = outcomes.of("descriptor", Schema::from_descriptor_set(bytes)) {
        let Some(message) = outcomes.of("message", schema.message("M")) else { return };
        for depth in [None, Some(0), Some(2)] {
            let options = ProtobufOptions { depth, ..masked(OnError::Raise) };
            let Some(spec) = outcomes.of("spec", proto_spec(&message, &options)) else { continue };
            outcomes.value("spec", &spec);
            let source = Messages::Each(&[b"", b"\x08\x01"]);
            outcomes.of("read", read_proto(source, &message, &options));
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        outcomes.of("text", Schema::from_text(text));
    }
}
