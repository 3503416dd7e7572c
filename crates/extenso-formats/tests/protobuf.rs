//! Messages against prost-reflect, which reads them into objects: whole ones, merged ones, cut ones and damaged ones.
#![cfg(feature = "proto")]

use extenso_core::{ExtensionType, ops};
use extenso_ext::{Literal, StructTensor, to_literal};
use extenso_formats::proto::{Enums, MessageType, Messages, Optionals, Schema};
use extenso_formats::{
    OnError, ProtobufOptions, encode_proto, encode_proto_json, proto_spec, read_proto, read_proto_json, run_proto,
};
use extenso_graph::Function;
use extenso_graph::save::{from_bytes, to_bytes};
use extenso_types::{Nest, Result};
use prost_reflect::prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, ReflectMessage, Value};

const FIELDS: &str = "
    enum Color { RED = 0; GREEN = 1; BLUE = -7; }
    message All {
        optional double a = 1; optional float b = 2; optional int32 c = 3; optional int64 d = 4; optional uint32 e = 5;
        optional uint64 f = 6; optional sint32 g = 7; optional sint64 h = 8; optional fixed32 i = 9; optional fixed64 j = 10;
        optional sfixed32 k = 11; optional sfixed64 l = 12; optional bool m = 13; optional string n = 14; optional bytes o = 15;
        optional Color p = 16; optional Inner q = 1000;
        repeated double ra = 21; repeated float rb = 22; repeated int32 rc = 23; repeated int64 rd = 24; repeated uint32 re = 25;
        repeated uint64 rf = 26; repeated sint32 rg = 27; repeated sint64 rh = 28; repeated fixed32 ri = 29; repeated fixed64 rj = 30;
        repeated sfixed32 rk = 31; repeated sfixed64 rl = 32; repeated bool rm = 33; repeated string rn = 34; repeated bytes ro = 35;
        repeated Color rp = 36; repeated Inner rq = 536870911;
        oneof one { int32 x = 200; string y = 201; Inner z = 202; }
    }
    message Inner { optional int64 id = 1; optional Leaf leaf = 2; repeated Leaf leaves = 3; optional string name = 4; }
    message Leaf { repeated sint32 numbers = 1; optional bool flag = 2; }
";

/// The same fields, in both syntaxes: numbers are unpacked in the one and packed in the other.
fn texts() -> [String; 2] {
    [format!("syntax = 'proto2'; {FIELDS}"), format!("syntax = 'proto3'; {FIELDS}")]
}

/// The message for us, and for the oracle.
fn types(text: &str) -> (MessageType, MessageDescriptor) {
    let set = protox_set(text);
    let ours = Schema::from_descriptor_set(&set).and_then(|s| s.message("All")).expect("a schema");
    let pool = DescriptorPool::decode(set.as_slice()).expect("a schema");
    (ours, pool.get_message_by_name("All").expect("a message"))
}

fn protox_set(text: &str) -> Vec<u8> {
    let file = protox::file::File::from_source("all.proto", text).expect("a file");
    let mut pool = DescriptorPool::new();
    pool.add_file_descriptor_proto(file.file_descriptor_proto().clone()).expect("a schema");
    pool.encode_to_vec()
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n
    }

    /// Small numbers as often as large ones.
    fn number(&mut self) -> u64 {
        let shift = self.below(64);
        self.next() >> shift
    }
}

fn message(of: &MessageDescriptor, r: &mut Random, depth: usize) -> DynamicMessage {
    let mut message = DynamicMessage::new(of.clone());
    for field in of.fields() {
        if r.below(3) == 0 || (depth == 0 && matches!(field.kind(), Kind::Message(_))) {
            continue;
        }
        let value = if field.is_list() {
            Value::List((0..r.below(4)).map(|_| value(&field, r, depth)).collect())
        } else {
            value(&field, r, depth)
        };
        message.set_field(&field, value);
    }
    message
}

fn value(field: &FieldDescriptor, r: &mut Random, depth: usize) -> Value {
    let n = r.number();
    match field.kind() {
        Kind::Double => Value::F64(f64::from_bits(n)),
        Kind::Float => Value::F32(f32::from_bits(n as u32)),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(n as i32),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(n as i64),
        Kind::Uint32 | Kind::Fixed32 => Value::U32(n as u32),
        // Literals, by which we compare, have no larger integers.
        Kind::Uint64 | Kind::Fixed64 => Value::U64(n >> 1),
        Kind::Bool => Value::Bool(n % 2 == 1),
        Kind::String => Value::String("aß\u{1F600}".repeat(r.below(3))),
        Kind::Bytes => Value::Bytes(vec![0xff; r.below(4)].into()),
        Kind::Enum(_) => Value::EnumNumber([0, 1, -7][r.below(3)]),
        Kind::Message(inner) => Value::Message(self::message(&inner, r, depth - 1)),
    }
}

/// What the oracle read, as we show it.
fn shown(message: &DynamicMessage) -> Literal {
    let of = message.descriptor();
    let fields = of.fields().map(|field| {
        let there = !field.supports_presence() || message.has_field(&field);
        let value = if there { literal(&message.get_field(&field)) } else { Literal::None };
        (field.name().to_string(), value)
    });
    Literal::Record(fields.collect())
}

fn literal(value: &Value) -> Literal {
    match value {
        Value::Bool(v) => Literal::Bool(*v),
        Value::I32(v) | Value::EnumNumber(v) => Literal::Int((*v).into()),
        Value::I64(v) => Literal::Int(*v),
        Value::U32(v) => Literal::Int((*v).into()),
        Value::U64(v) => i64::try_from(*v).map_or(Literal::Unsigned(*v), Literal::Int),
        Value::F32(v) => Literal::Float((*v).into()),
        Value::F64(v) => Literal::Float(*v),
        Value::String(v) => Literal::Str(v.clone()),
        Value::Bytes(v) => Literal::Bytes(v.to_vec()),
        Value::Message(v) => shown(v),
        Value::List(v) => Literal::List(v.iter().map(literal).collect()),
        Value::Map(_) => Literal::None,
    }
}

fn masked() -> ProtobufOptions {
    ProtobufOptions { optionals: Optionals::Masked, ..ProtobufOptions::default() }
}

fn ours(bytes: &[u8], of: &MessageType) -> Result<String> {
    let rows = read_proto(Messages::Each(&[bytes]), of, &masked())?;
    Ok(to_literal(&rows.value)?.to_string())
}

fn theirs(bytes: &[u8], of: &MessageDescriptor) -> Option<String> {
    let message = DynamicMessage::decode(of.clone(), bytes).ok()?;
    Some(Literal::List(vec![shown(&message)]).to_string())
}

/// Both read the same, or both refuse.
fn check_same(bytes: &[u8], ours: &MessageType, theirs: &MessageDescriptor) {
    let (came, wanted) = (self::ours(bytes, ours), self::theirs(bytes, theirs));
    match (came, wanted) {
        (Ok(came), Some(wanted)) => assert_eq!(came, wanted, "{}", bytes.escape_ascii()),
        (Err(_), None) => {}
        (came, wanted) => panic!("{}\n  ours: {came:?}\n  theirs: {wanted:?}", bytes.escape_ascii()),
    }
}

#[test]
fn messages_are_read_as_the_oracle_reads_them() {
    for text in texts() {
        let (ours, theirs) = types(&text);
        let mut r = Random(7);
        for _ in 0..150 {
            // Several messages in one are merged: the last number, all parts of a message, the last member of a oneof.
            let parts = 1 + r.below(3);
            let bytes: Vec<u8> = (0..parts).flat_map(|_| message(&theirs, &mut r, 3).encode_to_vec()).collect();
            check_same(&bytes, &ours, &theirs);
        }
    }
}

#[test]
fn what_was_written_is_what_was_read() {
    for text in texts() {
        let (ours, theirs) = types(&text);
        let mut r = Random(17);
        let messages: Vec<Vec<u8>> = (0..60).map(|_| message(&theirs, &mut r, 3).encode_to_vec()).collect();
        let rows: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        for optionals in [Optionals::Masked, Optionals::Rows] {
            for enums in [Enums::Numbers, Enums::Names] {
                let options = ProtobufOptions { optionals, enums, ..ProtobufOptions::default() };
                let read = read_proto(Messages::Each(&rows), &ours, &options).expect("reads").value;
                let written = encode_proto(&Nest::Leaf(read), &ours).expect("writes");
                for (i, row) in rows.iter().enumerate() {
                    let bytes = written.data().expect("data").text_at(i).expect("bytes");
                    assert_eq!(self::theirs(bytes, &theirs), self::theirs(row, &theirs), "{}", row.escape_ascii());
                }
            }
        }
    }
}

#[test]
fn the_json_form_of_messages_gives_the_same_value() {
    for text in texts() {
        let (ours, theirs) = types(&text);
        let mut r = Random(19);
        let messages: Vec<Vec<u8>> = (0..80).map(|_| message(&theirs, &mut r, 3).encode_to_vec()).collect();
        let rows: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        for optionals in [Optionals::Masked, Optionals::Rows] {
            for enums in [Enums::Numbers, Enums::Names] {
                let options = ProtobufOptions { optionals, enums, ..ProtobufOptions::default() };
                let read = read_proto(Messages::Each(&rows), &ours, &options).expect("reads").value;
                let lines = encode_proto_json(&Nest::Leaf(read.clone()), &ours).expect("writes");
                let again = read_proto_json(&lines, &ours, &options).expect("reads").value;
                assert_eq!(again.spec().expect("a spec").to_string(), read.spec().expect("a spec").to_string());
                assert_eq!(
                    to_literal(&again).expect("a literal").to_string(),
                    to_literal(&read).expect("a literal").to_string()
                );
                assert_eq!(encode_proto_json(&Nest::Leaf(again), &ours).expect("writes"), lines);
            }
        }
    }
}

#[test]
fn every_cut_and_change_of_the_json_form_is_a_value_or_an_error() {
    let (ours, theirs) = types(&texts()[1]);
    let mut r = Random(23);
    for _ in 0..40 {
        let bytes = message(&theirs, &mut r, 2).encode_to_vec();
        let read = read_proto(Messages::Each(&[&bytes]), &ours, &masked()).expect("reads").value;
        let line = encode_proto_json(&Nest::Leaf(read), &ours).expect("writes");
        for _ in 0..60 {
            let mut line = line.clone();
            let at = r.below(line.len());
            match r.below(3) {
                0 => line.truncate(at),
                1 => line[at] ^= 1 << r.below(8),
                _ => line.insert(at, b"\"[]{},:0-nt"[r.below(11)]),
            }
            drop(read_proto_json(&line, &ours, &masked()));
        }
    }
}

#[test]
fn every_cut_of_a_message_is_read_as_the_oracle_reads_it() {
    for text in texts() {
        let (ours, theirs) = types(&text);
        let mut r = Random(11);
        let bytes = [message(&theirs, &mut r, 3), message(&theirs, &mut r, 2)].map(|m| m.encode_to_vec()).concat();
        for end in 0..bytes.len() {
            check_same(&bytes[..end], &ours, &theirs);
        }
    }
}

#[test]
fn a_damaged_message_is_read_as_the_oracle_reads_it_or_refused() {
    let (ours, theirs) = types(&texts()[1]);
    let mut r = Random(13);
    for _ in 0..1500 {
        let mut bytes = message(&theirs, &mut r, 2).encode_to_vec();
        for _ in 0..=r.below(3) {
            let at = r.below(bytes.len().max(1));
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << r.below(8);
            }
        }
        if let Ok(came) = self::ours(&bytes, &ours) {
            assert_eq!(Some(came), self::theirs(&bytes, &theirs), "{}", bytes.escape_ascii());
        }
    }
}

#[test]
fn only_needed_leaves_of_a_message_are_decoded() {
    let (ours, _) = types(&texts()[0]);
    let spec = proto_spec(&ours, &masked()).expect("a spec");
    let part = Function::new("part", |args| {
        let rows = StructTensor::from_value(args.leaves()[0].1)?;
        let ids = rows.field_value(&"rq[*].id".parse()?)?;
        Ok(Nest::dict([("ids", Nest::Leaf(ids)), ("twice", Nest::Leaf(ops::multiply(rows.field("rd")?, 2)?))]))
    });
    let f = part.concrete(&Nest::Leaf(spec)).expect("traces");
    let module = from_bytes(to_bytes(&[f]).expect("saves")).expect("loads");
    let f = module.function("part").expect("there");
    let required: Vec<String> = f.required_paths().iter().map(ToString::to_string).collect();
    assert_eq!(required, ["rd[*]", "rq[*].id"]);
    // The string, which nobody needs, is no UTF-8, and the number of 32 bits no varint of so many.
    let rows: [&[u8]; 2] =
        [b"\x72\x01\xff\x18\xff\xff\xff\xff\xff\x01\xc0\x01\x05", b"\xfa\xff\xff\xff\x0f\x02\x08\x07"];
    let ran = run_proto(f, Messages::Each(&rows), &ours, OnError::Raise).expect("runs");
    let visited: Vec<String> = ran.visited.iter().map(|(path, n)| format!("{path}: {n}")).collect();
    assert_eq!(visited, ["rd[*]: 1", "rd@row_splits: 2", "rq[*].id: 1", "rq[*].id@mask: 1", "rq@row_splits: 2"]);
    let shown: Vec<String> =
        ran.value.leaves().iter().map(|(_, v)| to_literal(v).expect("a literal").to_string()).collect();
    assert_eq!(shown, ["[[], [7]]", "[[10], []]"]);
}
