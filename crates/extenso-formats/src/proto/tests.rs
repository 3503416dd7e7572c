//! What messages are read as, and refused.

use super::{
    Enums, Framing, MessageType, Messages, Oneofs, Optionals, ProtobufOptions, Schema, proto_spec, read_proto,
};
use crate::{FieldSpec as F, OnError, struct_spec};
use extenso_core::{Tensor, join_text};
use extenso_ext::to_literal;
use extenso_types::{DType, Nest, Path, Result, Spec};

const SHOP: &str = "syntax = 'proto2'; package shop;
    enum Kind { NONE = 0; BOOK = 3; }
    message Item { optional int64 sku = 1; optional double price = 2; }
    message Order {
        required int32 id = 1;
        optional string note = 2;
        repeated uint32 counts = 3;
        repeated Item items = 4;
        optional Item gift = 5;
        optional Kind kind = 6;
        repeated Kind kinds = 7;
        oneof pay { int32 card = 8; string bank = 9; Item swap = 10; }
        map<string, int32> stock = 11;
        optional group Extra = 12 { optional int32 x = 1; }
        repeated float vector = 13 [packed = true];
    }
    message Plain {
        required int32 id = 1;
        optional string note = 2;
        repeated uint32 counts = 3;
        repeated Item items = 4;
        optional Item gift = 5;
        optional Kind kind = 6;
        repeated Kind kinds = 7;
        map<string, int32> stock = 11;
        repeated float vector = 13 [packed = true];
    }
    message Tree { optional int32 value = 1; repeated Tree children = 2; }
    message Empty {}
    message HasEmpty { optional Empty nothing = 1; }";

pub fn message(name: &str) -> MessageType {
    Schema::from_text(SHOP).and_then(|schema| schema.message(name)).expect("a message")
}

pub fn masked(paths: &[&str]) -> ProtobufOptions {
    let paths = paths.iter().map(|path| path.parse().expect("a path")).collect::<Vec<Path>>();
    let paths = (!paths.is_empty()).then_some(paths);
    ProtobufOptions { optionals: Optionals::Masked, paths, ..ProtobufOptions::default() }
}

fn text(bytes: &[u8], options: &ProtobufOptions) -> Result<String> {
    let rows = read_proto(Messages::Each(&[bytes]), &message("shop.Order"), options)?;
    Ok(to_literal(&rows.value)?.to_string())
}

/// The parts of one order at these paths.
pub fn check(bytes: &[u8], paths: &[&str], wanted: &str) {
    let came = text(bytes, &masked(paths)).unwrap_or_else(|e| panic!("{}: {e}", bytes.escape_ascii()));
    assert_eq!(came, format!("[{wanted}]"), "{}", bytes.escape_ascii());
}

pub fn check_refused(bytes: &[u8], paths: &[&str], wanted: &str) {
    let error = text(bytes, &masked(paths)).expect_err(wanted).to_string();
    assert!(error.starts_with(wanted), "wanted: {wanted}\n  came: {error}");
}

fn check_spec(name: &str, options: &ProtobufOptions, wanted: &str) {
    let spec = proto_spec(&message(name), options).map_or_else(|e| e.to_string(), |spec| spec.to_string());
    assert!(spec.contains(wanted), "wanted: {wanted}\n  came: {spec}");
}

#[test]
fn of_a_field_that_comes_twice_the_last_holds_and_messages_are_merged() {
    check(b"\x08\x01\x12\x01a\x12\x02bc\x08\x02", &["id", "note"], r#"{"id": 2, "note": "bc"}"#);
    let two = b"\x2a\x02\x08\x07\x08\x01\x2a\x0b\x08\x09\x11\0\0\0\0\0\0\xf0\x3f";
    check(two, &["gift"], r#"{"gift": {"sku": 9, "price": 1.0}}"#);
    check(b"\x2a\x02\x08\x07\x2a\x00\x2a\x00", &["gift"], r#"{"gift": {"sku": 7, "price": None}}"#);
    check(b"", &["gift", "note"], r#"{"note": None, "gift": None}"#);
}

#[test]
fn packed_and_unpacked_numbers_are_read_alike() {
    check(b"\x18\x01\x1a\x03\x02\x96\x01\x18\x04\x1a\x00", &["counts"], r#"{"counts": [1, 2, 150, 4]}"#);
    check(b"\x6a\x04\0\0\x80\x3f\x6d\0\0\0\x40", &["vector"], r#"{"vector": [1.0, 2.0]}"#);
    check_refused(b"\x6a\x03\0\0\0", &["vector"], "row 0, byte 2, 'vector[*]': 3 bytes of packed numbers stand here");
    check_refused(b"\x1a\x02\x01\x80", &["counts"], "row 0, byte 4, 'counts[*]': the message ends in a varint");
}

#[test]
fn the_member_of_a_oneof_that_came_last_is_there() {
    let all = ["card", "bank", "swap"];
    check(b"\x40\x07\x4a\x01b", &all, r#"{"card": None, "bank": "b", "swap": None}"#);
    check(b"\x4a\x01b\x40\x07", &all, r#"{"card": 7, "bank": None, "swap": None}"#);
    // A member that nobody needs excludes the others too.
    check(b"\x40\x07\x4a\x01b", &["card"], r#"{"card": None}"#);
    // What was merged before is gone.
    let swapped = b"\x52\x02\x08\x05\x52\x02\x08\x06\x40\x01\x52\x09\x11\0\0\0\0\0\0\xf0\x3f";
    check(swapped, &all, r#"{"card": None, "bank": None, "swap": {"sku": None, "price": 1.0}}"#);
    check(b"\x52\x02\x08\x05\x52\x02\x08\x06\x40\x01", &all, r#"{"card": 1, "bank": None, "swap": None}"#);
}

#[test]
fn enums_are_numbers_or_names_and_a_closed_one_has_no_others() {
    check(b"\x30\x03\x38\x03\x3a\x02\x00\x03", &["kind", "kinds"], r#"{"kind": 3, "kinds": [3, 0, 3]}"#);
    let names = |paths: &[&str]| ProtobufOptions { enums: Enums::Names, ..masked(paths) };
    let came = text(b"\x30\x03\x38\x03\x38\x00", &names(&["kind", "kinds"])).expect("reads");
    assert_eq!(came, r#"[{"kind": "BOOK", "kinds": ["BOOK", "NONE"]}]"#);
    check(b"\x30\x05\x38\x03\x38\x05", &["kind", "kinds"], r#"{"kind": None, "kinds": [3]}"#);
    let open = Schema::from_text("syntax = 'proto3'; enum E { A = 0; B = 1; BELOW = -2; } message M { E e = 1; }");
    let open = open.and_then(|schema| schema.message("M")).expect("a message");
    let read = |bytes: &[u8], enums| {
        let options = ProtobufOptions { enums, ..ProtobufOptions::default() };
        let rows = read_proto(Messages::Each(&[bytes]), &open, &options);
        rows.map_or_else(|e| e.to_string(), |rows| to_literal(&rows.value).expect("a literal").to_string())
    };
    assert_eq!(read(b"", Enums::Names), r#"[{"e": "A"}]"#);
    assert_eq!(read(b"\x08\x09", Enums::Numbers), r#"[{"e": 9}]"#);
    assert!(read(b"\x08\x09", Enums::Names).starts_with("row 0, byte 1, 'e': the number 9 came, which has no name"));
}

#[test]
fn a_number_that_a_closed_enum_does_not_have_leaves_maps_and_oneofs_as_they_are() {
    let text = "syntax = 'proto2'; enum E { A = 1; B = 2; } message M { map<string, E> m = 1; optional int32 n = 2;
        oneof one { E e = 3; int32 i = 4; } repeated E r = 5; }";
    let message = Schema::from_text(text).and_then(|schema| schema.message("M")).expect("a message");
    let read = |bytes: &[u8], options: &ProtobufOptions| {
        let rows = read_proto(Messages::Each(&[bytes]), &message, options);
        rows.map_or_else(|e| e.to_string(), |rows| to_literal(&rows.value).expect("a literal").to_string())
    };
    // The second entry is of a number that the enum does not have; the third says none, and is the first value.
    let entries = b"\x0a\x05\x0a\x01a\x10\x02\x0a\x05\x0a\x01b\x10\x09\x0a\x03\x0a\x01c";
    let found = read(entries, &masked(&["m"]));
    assert_eq!(found, r#"[{"m": [{"key": "a", "value": 2}, {"key": "c", "value": 1}]}]"#);
    assert_eq!(read(entries, &masked(&["m[*].key"])), r#"[{"m": [{"key": "a"}, {"key": "c"}]}]"#);
    let known = r#"{"e": None, "i": 7}"#;
    assert_eq!(read(b"\x20\x07\x18\x09", &masked(&["e", "i"])), format!("[{known}]"));
    assert_eq!(read(b"\x20\x07\x18\x09", &masked(&["i"])), r#"[{"i": 7}]"#);
    assert_eq!(read(b"\x20\x07\x18\x02", &masked(&["i"])), r#"[{"i": None}]"#);
    assert_eq!(read(b"\x18\x09", &masked(&["e", "i"])), r#"[{"e": None, "i": None}]"#);
    let union = ProtobufOptions { oneofs: Oneofs::Union, ..masked(&["one"]) };
    assert_eq!(read(b"\x18\x09", &union), r#"[{"one": None}]"#);
    assert_eq!(read(b"\x18\x02\x18\x09", &union), r#"[{"one": 2}]"#);
    let rows = crate::read_json(br#"{"r": [1, 9]}"#, &Default::default()).expect("reads").value;
    let errors = [
        super::encode_proto(&Nest::Leaf(rows.clone()), &message).map(drop).expect_err("an unknown number").to_string(),
        super::encode_proto_json(&Nest::Leaf(rows), &message).map(drop).expect_err("an unknown number").to_string(),
    ];
    for error in errors {
        assert!(error.contains("the number 9 stands here, which the closed enum does not have"), "{error}");
    }
}

#[test]
fn a_map_is_a_list_of_keys_and_values() {
    let entries = b"\x5a\x05\x0a\x01a\x10\x07\x5a\x02\x10\x02\x5a\x00";
    let wanted = r#"{"stock": [{"key": "a", "value": 7}, {"key": "", "value": 2}, {"key": "", "value": 0}]}"#;
    check(entries, &["stock"], wanted);
}

#[test]
fn groups_are_messages_and_unknown_ones_are_read_over() {
    check(b"\x63\x08\x05\x64", &["extra"], r#"{"extra": {"x": 5}}"#);
    check(b"\xa3\x01\xab\x01\x0a\x01\xff\xac\x01\xa4\x01\x08\x02", &["id"], r#"{"id": 2}"#);
    check_refused(b"\x63\x08\x05", &["extra"], "row 0, byte 3, 'extra': the message ends in a varint");
    check_refused(b"\xa3\x01\xac\x01", &["id"], "row 0, byte 2: group 21 ends in group 20");
    check_refused(b"\x08\x01\x64", &["id"], "row 0, byte 2: group 12 ends, and did not begin");
    let deep = [[0xa3, 0x01].repeat(200), [0xa4, 0x01].repeat(200)].concat();
    check_refused(&deep, &["id"], "row 0, byte 200: groups nest too deep");
}

#[test]
fn what_is_no_message_is_refused_with_its_place() {
    check_refused(b"\x08", &["id"], "row 0, byte 1, 'id': the message ends in a varint");
    check_refused(
        &[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02],
        &["id"],
        "row 0, byte 1, 'id': a varint is longer than 64 bits",
    );
    check_refused(&[[0x08].as_slice(), &[0x80; 20]].concat(), &["id"], "row 0, byte 1, 'id': a varint is longer");
    check_refused(b"\x12\x05ab", &["note"], "row 0, byte 1, 'note': a length of 5 bytes stands here, and 2 are left");
    let endless = [b"\x12".as_slice(), &[0xff; 9], b"\x01"].concat();
    check_refused(&endless, &["note"], "row 0, byte 1, 'note': a length of 18446744073709551615 bytes");
    check_refused(b"\x12\x03a\xffb", &["note"], "row 0, byte 3, 'note': byte 0xff is not UTF-8.");
    check_refused(
        b"\x22\x04\x08\x01\x11\x00",
        &["items"],
        "row 0, byte 6, 'items[0].price': the message ends 1 bytes into 8",
    );
    check_refused(b"\x0d\0\0\0\0", &["id"], "row 0, byte 0, 'id': 4 bytes came.\nWanted: a varint.");
    check_refused(b"\x00", &["id"], "row 0, byte 0: a field has number 0");
    check_refused(b"\x0e", &["id"], "row 0, byte 0: a field has wire type 6");
    check_refused(b"", &["id"], "row 0, byte 0, 'id': the field is missing");
    check(b"\x12\x03a\xffb\x08\x01", &["id"], r#"{"id": 1}"#);
}

#[test]
fn the_spec_says_how_a_field_is_read() {
    let read = |fields: Vec<(&'static str, F)>, bytes: &[u8]| {
        let spec = Some(struct_spec(fields).expect("a spec"));
        let read = text(bytes, &ProtobufOptions { spec, ..ProtobufOptions::default() });
        read.unwrap_or_else(|e| e.to_string())
    };
    let scalar = |dtype| F::Scalar(dtype, vec![]);
    let list = |item| F::List(Box::new(item));
    assert_eq!(read(vec![("id", scalar(DType::I8))], b"\x08\x7f"), r#"[{"id": 127}]"#);
    assert!(
        read(vec![("id", scalar(DType::I8))], b"\x08\x80\x01")
            .contains("the number 128 came.\nWanted: an integer that fits i8")
    );
    assert_eq!(read(vec![("id", scalar(DType::F64))], b"\x08\x7f"), r#"[{"id": 127.0}]"#);
    assert!(read(vec![("id", scalar(DType::F32))], b"").starts_with("'id': a field of kind int32 is read as f32"));
    assert_eq!(read(vec![("note", list(scalar(DType::String)))], b"\x12\x01a"), r#"[{"note": ["a"]}]"#);
    assert_eq!(read(vec![("note", list(scalar(DType::String)))], b""), r#"[{"note": []}]"#);
    assert!(
        read(vec![("note", scalar(DType::String))], b"").starts_with("row 0, byte 0, 'note': the field is missing")
    );
    assert_eq!(
        read(vec![("vector", F::Scalar(DType::F32, vec![2]))], b"\x6a\x08\0\0\x80\x3f\0\0\0\x40"),
        r#"[{"vector": [1.0, 2.0]}]"#
    );
    assert!(
        read(vec![("vector", F::Scalar(DType::F32, vec![2]))], b"")
            .starts_with("row 0, byte 0, 'vector': 0 values came.\nWanted: 2 values")
    );
    assert!(read(vec![("counts", scalar(DType::U32))], b"").starts_with("'counts': a repeated field is read as u32"));
    assert!(read(vec![("gift", scalar(DType::U32))], b"").starts_with("'gift': a message shop.Item is read as u32"));
    // What the descriptor does not have may be missing, and must not be wanted otherwise.
    let newer = vec![("id", scalar(DType::I32)), ("newer", F::Optional(Box::new(scalar(DType::F32))))];
    assert_eq!(read(newer, b"\x08\x01"), r#"[{"id": 1, "newer": None}]"#);
    assert!(
        read(vec![("newer", scalar(DType::F32))], b"")
            .starts_with("'newer': message shop.Order has no field 'newer'; it has: id, note")
    );
}

#[test]
fn bad_messages_are_raised_left_out_or_filled() {
    let rows: [&[u8]; 3] = [b"\x08\x01\x22\x02\x08\x05", b"\x08\x02\x22\x02\x08\x05\x22\x02\x08", b"\x08\x03"];
    for (on_error, wanted) in [
        (OnError::Skip, r#"[{"id": 1, "items": [{"sku": 5}]}, {"id": 3, "items": []}]"#),
        (OnError::Default, r#"[{"id": 1, "items": [{"sku": 5}]}, {"id": 0, "items": []}, {"id": 3, "items": []}]"#),
    ] {
        let options = ProtobufOptions { on_error, ..masked(&["id", "items[*].sku"]) };
        let (offsets, bytes) = join_text(rows.iter().copied());
        let texts = Tensor::from_text(DType::Bytes, &[3], offsets, bytes).expect("texts");
        for source in [Messages::Each(&rows), Messages::Texts(texts.data().expect("data"))] {
            let read = read_proto(source, &message("shop.Order"), &options).expect("reads");
            assert_eq!(to_literal(&read.value).expect("a literal").to_string(), wanted);
            assert_eq!(read.bad.rows, [1]);
            assert_eq!((read.bad.first[0].offset, read.bad.first[0].path.to_string()), (Some(7), "items".into()));
        }
    }
    let numbers = Tensor::from_vec(vec![1_i64]);
    let error = read_proto(Messages::Texts(numbers.data().expect("data")), &message("shop.Order"), &masked(&["id"]));
    assert!(error.expect_err("numbers are no messages").to_string().contains("string or bytes"));
}

#[test]
fn files_are_lengths_and_messages() {
    let read = |source: Messages<'_>, on_error| {
        let options = ProtobufOptions { on_error, ..masked(&["id"]) };
        read_proto(source, &message("shop.Order"), &options).map_or_else(
            |e| e.to_string(),
            |rows| format!("{} {:?}", to_literal(&rows.value).expect("a literal"), rows.bad.rows),
        )
    };
    assert_eq!(
        read(Messages::of_file(b"\x02\x08\x01\x02\x08\x02", None), OnError::Raise),
        r#"[{"id": 1}, {"id": 2}] []"#
    );
    assert!(
        read(Messages::Delimited(b"\x02\x08\x01\x03\x08"), OnError::Skip)
            .starts_with("row 1, byte 3: a length of 3 bytes stands here, and 1 are left")
    );
}

/// Records as TensorFlow writes them: a length, its checksum, the message, its checksum.
const RECORDS: &[u8] = b"\x02\x00\x00\x00\x00\x00\x00\x00\x78\x27\x0b\x34\x08\x01\x14\x27\x56\x11\x02\x00\x00\x00\x00\x00\x00\x00\x78\x27\x0b\x34\x08\x02\x75\x05\xbe\x2b";

#[test]
fn the_checksums_of_records_are_checked() {
    let read = |bytes: &[u8], on_error| {
        let options = ProtobufOptions { on_error, ..masked(&["id"]) };
        let rows = read_proto(Messages::of_file(bytes, None), &message("shop.Order"), &options);
        rows.map_or_else(
            |e| e.to_string(),
            |rows| format!("{} {:?}", to_literal(&rows.value).expect("a literal"), rows.bad.rows),
        )
    };
    assert!(matches!(Messages::of_file(RECORDS, None), Messages::TfRecord(_)));
    assert_eq!(read(RECORDS, OnError::Raise), r#"[{"id": 1}, {"id": 2}] []"#);
    let change = |at: usize| {
        let mut bytes = RECORDS.to_vec();
        bytes[at] ^= 1;
        bytes
    };
    assert!(read(&change(13), OnError::Raise).starts_with("row 0, byte 12: the checksum of the message is wrong"));
    assert_eq!(read(&change(13), OnError::Skip), r#"[{"id": 2}] [0]"#);
    assert_eq!(read(&change(14), OnError::Default), r#"[{"id": 0}, {"id": 2}] [0]"#);
    assert!(read(&change(18), OnError::Skip).starts_with("row 1, byte 18: the checksum of a length is wrong"));
    let zlib = Messages::TfRecord(b"\x78\x9c\xcbH\xcd\xc9\xc9\x07\0\x06,\x02\x15");
    let error = read_proto(zlib, &message("shop.Order"), &masked(&["id"])).expect_err("packed").to_string();
    assert!(error.contains("without compression") && error.contains("zlib"), "{error}");
    assert!(!read(&change(18), OnError::Skip).contains("zlib"));
    assert!(read(&RECORDS[..30], OnError::Skip).starts_with("row 1, byte 30: the file ends in a record"));
}

/// Nothing of a file says that it is of TFRecords, if not even its first checksum is whole.
#[test]
fn a_record_cut_in_its_first_bytes_is_no_message() {
    for len in [1, 2, 5, 8, 16, 255, 256, 65536] {
        let mut file = Vec::new();
        Framing::TfRecord.put(&vec![8; len], &mut file);
        for (cut, on_error) in
            (1..12).flat_map(|cut| [OnError::Raise, OnError::Skip, OnError::Default].map(|on_error| (cut, on_error)))
        {
            // Zeros alone are messages without fields, as those that hold defaults alone are written.
            let options = ProtobufOptions { on_error, ..masked(&["note"]) };
            let rows = read_proto(Messages::of_file(&file[..cut], None), &message("shop.Order"), &options);
            assert_eq!(rows.is_ok(), file[..cut].iter().all(|byte| *byte == 0), "{len} bytes, cut at {cut}: {rows:?}");
            assert!(rows.is_ok() || rows.is_err_and(|e| e.to_string().starts_with("row ")));
        }
    }
    // A number that is 0 is no sign of a length.
    assert_eq!(Framing::of_head(b"\x05\x0d\0\0\0\0"), Framing::Delimited);
    assert_eq!(Framing::of_head(b"\x09\x09\0\0\0\0\0\0\0\0"), Framing::Delimited);
}

#[test]
fn specs_follow_the_descriptor() {
    check_spec(
        "shop.Order",
        &masked(&["id", "gift.sku"]),
        "StructTensor(id: i32[?], gift: MaskedTensor(StructTensor(sku: MaskedTensor(i64[?]",
    );
    check_spec("shop.Order", &ProtobufOptions::default(), "note: RaggedTensor([*]: string[?]");
    check_spec("shop.Order", &masked(&["nothing"]), "there is no 'nothing'.\nWanted: one of id, note, counts");
    check_spec("shop.Tree", &masked(&[]), "'children': message shop.Tree holds itself");
    check_spec(
        "shop.Tree",
        &ProtobufOptions { depth: Some(1), ..masked(&[]) },
        "children: RaggedTensor([*]: StructTensor(value: MaskedTensor(i32[?], @mask: bool[?]), rank=1)",
    );
    check_spec(
        "shop.Tree",
        &masked(&["children[*].children[*].value"]),
        "children: RaggedTensor([*]: StructTensor(children: RaggedTensor",
    );
    // What cannot hold itself is followed to its end.
    let chain =
        "message A { optional int32 x = 4; optional B b = 1; optional A rec = 3; } message B { optional C c = 1; }
        message C { optional int32 y = 1; }";
    let chain = Schema::from_text(chain).and_then(|schema| schema.message("A")).expect("a schema");
    let spec = proto_spec(&chain, &ProtobufOptions { depth: Some(1), ..masked(&[]) }).expect("a spec").to_string();
    assert_eq!(
        (spec.matches("y: ").count(), spec.matches("x: ").count(), spec.matches("rec: ").count()),
        (2, 2, 1),
        "{spec}"
    );
    let empty = "StructTensor(@records: bool[?, 0], rank=1)";
    check_spec("shop.Empty", &masked(&[]), empty);
    check_spec(
        "shop.HasEmpty",
        &masked(&[]),
        &format!("StructTensor(nothing: MaskedTensor({empty}, @mask: bool[?]), rank=1)"),
    );
}

#[test]
fn what_is_no_descriptor_is_refused() {
    let refused = |schema: Result<Schema>| schema.expect_err("no schema").to_string();
    assert!(refused(Schema::from_text("message M { int32 }")).starts_with("descriptor: "));
    assert!(refused(Schema::from_text("import 'other.proto';")).contains("other.proto"));
    assert!(refused(Schema::from_descriptor_set(b"\x0a\x05")).starts_with("descriptor: "));
    // What the fuzzer found: a syntax that is none.
    let lying = b"\n+\"\x1d\n\x01G\n\x01G\x12\x06\n\x01a\x18\xbb\x01\n\r\n\x01>\"\x03\n\x01m\n\x03\n\x01f\n\x01E\n\x01\x05\n\x01M\n\x01M\n\x06b\x01@\n\x01A";
    assert!(refused(Schema::from_descriptor_set(lying)).contains("has syntax '@"));
    let empty = b"\x0a\x05\x0a\x01f\x62\x00";
    assert!(refused(Schema::from_descriptor_set(empty)).starts_with("descriptor: file 'f' has syntax ''"));
    let edition = b"\x0a\x0d\x0a\x01f\x62\x08editions";
    assert!(refused(Schema::from_descriptor_set(edition)).starts_with("descriptor: file 'f' has an edition"));
    let text = "/* a */ // b\nedition = '2023'; message M {}";
    assert!(refused(Schema::from_text(text)).starts_with("descriptor: the file has an edition"));
    let deep = format!("{}{}", "message M {".repeat(20_000), "}".repeat(20_000));
    assert!(refused(Schema::from_text(&deep)).starts_with("descriptor: "));
    let options = format!("option (x) = {}{};", "{ a: ".repeat(20_000), "}".repeat(20_000));
    assert!(refused(Schema::from_text(&options)).starts_with("descriptor: "));
}

/// What a spec gives where the records are one column of another type.
#[test]
fn a_spec_that_is_no_record_is_refused() {
    let spec: Spec =
        extenso_types::TensorSpec::new(DType::I64, extenso_types::Shape::new([extenso_types::Dim::any()])).into();
    let error = text(b"", &ProtobufOptions { spec: Some(spec), ..ProtobufOptions::default() }).expect_err("no record");
    assert!(error.to_string().starts_with("a message shop.Order is read as i64.\nWanted: a struct"), "{error}");
}

const EXTENDED: &str = "syntax = 'proto2'; package shop;
    import 'google/protobuf/any.proto';
    message Item { optional int64 sku = 1; extensions 100 to 200; }
    extend Item { optional string note = 100; repeated int32 sizes = 101; }
    message Box {
        map<string, int32> stock = 1;
        map<int64, Item> items = 2;
        map<bool, string> names = 3;
        optional google.protobuf.Any detail = 4;
        optional Item item = 5;
    }";

/// The parts of one box at these paths.
fn check_box(bytes: &[u8], paths: &[&str], wanted: &str) {
    let message = Schema::from_text(EXTENDED).and_then(|schema| schema.message("shop.Box")).expect("a message");
    let rows = read_proto(Messages::Each(&[bytes]), &message, &masked(paths));
    let came = rows.map_or_else(|e| e.to_string(), |rows| to_literal(&rows.value).expect("a literal").to_string());
    assert_eq!(came, wanted, "{}", bytes.escape_ascii());
}

#[test]
fn a_path_leads_to_the_value_of_a_map_at_a_key() {
    let stock = b"\x0a\x05\x0a\x01a\x10\x07\x0a\x05\x0a\x01b\x10\x08\x0a\x05\x0a\x01a\x10\x09\x0a\x03\x0a\x01c";
    check_box(stock, &["stock[\"a\"]", "stock.c", "stock.d"], r#"[{"stock": {"a": 9, "c": 0, "d": None}}]"#);
    check_box(b"", &["stock[\"a\"]"], r#"[{"stock": {"a": None}}]"#);
    let items = b"\x12\x06\x08\x05\x12\x02\x08\x07\x12\x04\x08\x05\x12\x00\x12\x04\x12\x02\x08\x01";
    check_box(
        items,
        &["items[\"5\"]", "items[\"0\"].sku"],
        r#"[{"items": {"5": {"sku": None, "[shop.note]": None, "[shop.sizes]": []}, "0": {"sku": 1}}}]"#,
    );
    check_box(
        b"\x1a\x05\x08\x01\x12\x01y",
        &["names.true", "names.false"],
        r#"[{"names": {"true": "y", "false": None}}]"#,
    );
    check_box(
        b"\x0a\x02\x08\x01",
        &["stock.a"],
        "row 0, byte 2, 'stock': a varint came.\nWanted: a length and bytes. Check that the descriptor is the one of the writer.",
    );
}

#[test]
fn extensions_are_members_by_their_full_name() {
    let item = b"\x2a\x0c\x08\x07\xa2\x06\x01n\xa8\x06\x01\xa8\x06\x02";
    check_box(item, &["item"], r#"[{"item": {"sku": 7, "[shop.note]": "n", "[shop.sizes]": [1, 2]}}]"#);
    check_box(item, &["item[\"[shop.note]\"]"], r#"[{"item": {"[shop.note]": "n"}}]"#);
}

#[test]
fn an_any_is_cast_to_the_type_that_a_path_names() {
    let detail = b"\x22\x18\x0a\x12type.a.b/shop.Item\x12\x02\x08\x07";
    let paths = ["detail[\"[shop.Item]\"].sku", "detail[\"[shop.Box]\"].stock.a"];
    check_box(detail, &paths, r#"[{"detail": {"[shop.Item]": {"sku": 7}, "[shop.Box]": None}}]"#);
    check_box(b"", &paths, r#"[{"detail": None}]"#);
}
