//! Texts that are records as ops: eager, traced, narrowed, saved and loaded.
#![cfg(feature = "proto")]

mod support;

use extenso_core::attrs::Axes;
use extenso_core::{ExtensionType, Tensor, Value, ops as core_ops};
use extenso_ext::{MaskedTensor, RaggedTensor, StructTensor, constant};
use extenso_formats::proto::{Optionals, Schema};
use extenso_formats::{FieldSpec as F, OnError, ProtobufOptions, ops, struct_spec};
use extenso_graph::{Function, NodeKind, cond, save};
use extenso_types::{DType, Dim, Nest, Shape, Spec, TensorSpec};
use support::{BARE, FULL, scalar, shown, spec, texts, vector_of};

fn parse(x: &Value) -> Value {
    ops::parse_json(x, &spec(), OnError::Raise).expect("parsed").value
}

#[test]
fn what_is_encoded_parses_as_it_was() {
    let x = texts(&[FULL, BARE]);
    assert_eq!(shown(&ops::encode_json(&parse(&x)).expect("encoded")), shown(&x));
}

#[test]
fn every_value_belongs_to_a_row() {
    let mut leaves = Vec::new();
    parse(&texts(&[FULL, BARE, FULL])).push_leaves(&mut leaves).expect("leaves");
    let rows: Vec<bool> =
        leaves.iter().filter_map(|leaf| leaf.partition().ok()).map(|rows| rows.covers_all()).collect();
    assert!(!rows.is_empty() && rows.iter().all(|covers| *covers), "{rows:?}");
}

#[test]
fn records_have_the_axes_of_their_texts() {
    let flat = texts(&[FULL, BARE, FULL]);
    let one = Value::from(Tensor::strings(&[], &[BARE]).expect("a text"));
    assert_eq!(shown(&ops::encode_json(&parse(&one)).expect("a text")), format!("{BARE:?}"));
    let rows = RaggedTensor::from_row_lengths(flat.clone(), &Tensor::from_vec(vec![1_i64, 0, 2])).expect("rows");
    let parsed = parse(&rows.into_value());
    assert_eq!(shown(&parsed.clone()).matches("\"id\"").count(), 3);
    assert!(RaggedTensor::from_value(&parsed).is_ok());
    assert_eq!(shown(&ops::encode_json(&parsed).expect("texts")), format!("[[{FULL:?}], [], [{BARE:?}, {FULL:?}]]"));
    let square = Tensor::strings(&[2, 2], &[FULL, BARE, BARE, FULL]).expect("texts");
    let parsed = parse(&square.into());
    assert_eq!(
        shown(&ops::encode_json(&parsed).expect("texts")),
        format!("[[{FULL:?}, {BARE:?}], [{BARE:?}, {FULL:?}]]")
    );
}

#[test]
fn dense_records_of_dense_texts_stay_dense() {
    let spec = struct_spec([("id", scalar(DType::I64)), ("tag", F::Optional(Box::new(scalar(DType::String))))]);
    let square = Tensor::strings(&[2, 2], &[r#"{"id":1}"#, r#"{"id":2,"tag":"b"}"#, r#"{"id":3}"#, r#"{"id":4}"#]);
    let parsed =
        ops::parse_json(&square.expect("texts").into(), &spec.expect("a spec"), OnError::Raise).expect("parsed");
    let records = StructTensor::from_value(&parsed.value).expect("records");
    assert_eq!(
        (records.shape(), shown(records.field("tag").expect("a field"))),
        (&Shape::known(&[2, 2]), r#"[[None, "b"], [None, None]]"#.to_string())
    );
    assert_eq!(ops::encode_json(&parsed.value).expect("texts").spec().expect("a spec").to_string(), "string[2, 2]");
}

#[test]
fn missing_texts_are_missing_records() {
    let mask = Tensor::bools(&[3], &[true, false, true]).expect("a mask");
    let x = MaskedTensor::new(texts(&[FULL, "no record", BARE]), mask).expect("masked").into_value();
    let parsed = parse(&x);
    assert!(MaskedTensor::from_value(&parsed).is_ok());
    assert_eq!(shown(&ops::encode_json(&parsed).expect("texts")), format!("[{FULL:?}, None, {BARE:?}]"));
    let rows = RaggedTensor::from_row_lengths(texts(&["x", FULL]), &Tensor::from_vec(vec![1_i64, 1])).expect("rows");
    let mask = Tensor::bools(&[2], &[false, true]).expect("a mask");
    let x = MaskedTensor::new(rows.into_value(), mask).expect("masked").into_value();
    assert_eq!(shown(&ops::encode_json(&parse(&x)).expect("texts")), format!("[None, [{FULL:?}]]"));
}

#[test]
fn values_that_are_no_records_give_a_text_for_each_item() {
    let check = |x: Value, wanted: &str| assert_eq!(shown(&ops::encode_json(&x).expect("texts")), wanted);
    check(constant(vec![vec![1, 2], vec![]]).expect("rows"), r#"["[1,2]", "[]"]"#);
    check(constant(vec![Some(1.5), None]).expect("masked"), r#"["1.5", None]"#);
    check(Tensor::new(&[2, 2], &[1_i64, 2, 3, 4]).expect("dense").into(), r#"["[1,2]", "[3,4]"]"#);
    check(Tensor::scalar(7_u8).into(), r#""7""#);
    check(constant(vec![vec![Some(1), None], vec![Some(2), Some(3)]]).expect("masked"), r#"["[1,null]", "[2,3]"]"#);
    check(texts(&["a\"b"]), r#"["\"a\\\"b\""]"#);
}

#[test]
fn a_bad_text_is_named_or_gives_defaults() {
    let x = texts(&[BARE, r#"{"id":3,"items":[{"price":"x"}],"at":[0,0]}"#, ""]);
    let error = ops::parse_json(&x, &spec(), OnError::Raise).expect_err("a bad row").to_string();
    assert!(error.contains("parse_json: row 1, byte 26, 'items[0].price': the string \"x\" came."), "{error}");
    let parsed = ops::parse_json(&x, &spec(), OnError::Default).expect("defaults");
    assert_eq!(parsed.bad.to_string(), "[False, True, True]");
    assert!(shown(&parsed.value).ends_with(r#"{"id": 0, "items": [], "at": [0.0, 0.0], "paid": None}]"#));
    let error = ops::parse_json(&x, &spec(), OnError::Skip).expect_err("no place").to_string();
    assert!(error.contains("Wanted: 'raise' or 'default'."), "{error}");
}

#[test]
fn arguments_that_do_not_fit_are_named() {
    let check = |x: Value, spec: &Spec, text: &str| {
        let error = ops::parse_json(&x, spec, OnError::Raise).expect_err(text).to_string();
        assert!(error.contains(text), "{error}");
    };
    check(
        Tensor::from_vec(vec![1, 2]).into(),
        &spec(),
        "parse_json: the argument is i32[2].\nWanted: strings or bytes.",
    );
    check(texts(&["1"]), &TensorSpec::new(DType::I64, Shape::scalar()).into(), "the records as outer axis");
    let unknown = TensorSpec::new(DType::I64, Shape::new([Dim::any(), Dim::any()]));
    check(texts(&["1"]), &unknown.into(), "known sizes behind it");
}

/// The function of texts that uses two leaves.
fn totals() -> Function {
    Function::new("totals", |args| {
        let texts = args.leaves()[0].1.clone();
        let records = StructTensor::from_value(&ops::parse_json(&texts, &spec(), OnError::Raise)?.value)?;
        let prices = records.select(["items", "price"])?;
        Ok(Nest::Tuple(vec![
            Nest::Leaf(extenso_core::ops::sum(prices, -1, false)?),
            Nest::Leaf(records.field("id")?.clone()),
        ]))
    })
}

#[test]
fn only_needed_leaves_of_texts_are_decoded() {
    let f = totals().concrete(&vector_of(DType::String)).expect("traced");
    let parse = f.graph().nodes.iter().find(|node| matches!(node.kind, NodeKind::Op(op, _) if op.name == "parse_json"));
    assert_eq!(parse.expect("the node").outputs.len(), 3, "{}", f.graph());
    // What is not needed is checked for syntax alone.
    let x = texts(&[r#"{"id":1,"items":[{"price":0.5,"sku":7},{"price":2}],"at":"none","paid":[]}"#]);
    let results = f.call(&Nest::Leaf(x.clone())).expect("ran");
    assert_eq!(results.leaves()[0].1.to_string(), "[2.5]");
    let error = totals().call(Nest::Leaf(texts(&[r#"{"id":1,"items":[],"at":]}"#]))).expect_err("no JSON").to_string();
    assert!(error.contains("parse_json: row 0, byte 24, 'at': this is not JSON"), "{error}");
}

#[test]
fn only_needed_leaves_are_decoded_in_branches() {
    let f = Function::new("some", |args| {
        let parsed = || {
            let records = parse_of(args.leaves()[0].1)?;
            Ok(Nest::Leaf(StructTensor::from_value(&records)?.field("id")?.clone()))
        };
        let any = core_ops::greater(
            core_ops::sum(core_ops::string_length(args.leaves()[0].1, "byte")?, Axes::All, false)?,
            1,
        )?;
        cond(&any, parsed, || Ok(Nest::Leaf(Tensor::from_vec(vec![0_i64]).into())))
    });
    let odd = texts(&[r#"{"id":7,"items":"none","at":1,"paid":[]}"#]);
    let read = f.call(Nest::Leaf(odd)).expect("ran");
    assert_eq!(read.leaves()[0].1.to_string(), "[7]");
    let untaken = f.call(Nest::Leaf(texts(&[""]))).expect("ran");
    assert_eq!(untaken.leaves()[0].1.to_string(), "[0]");
}

#[test]
fn a_saved_graph_with_texts_runs_where_it_is_loaded() {
    extenso_formats::init().expect("known");
    let x = texts(&[FULL, BARE]);
    let f = Function::new("again", |args| {
        let records = parse_of(args.leaves()[0].1)?;
        Ok(Nest::Leaf(ops::encode_json(&records)?))
    });
    let bytes = save::to_bytes(&[f.concrete(&vector_of(DType::String)).expect("traced")]).expect("saved");
    let module = save::from_bytes(bytes.clone()).expect("loaded");
    assert_eq!(save::to_bytes(&module.functions).expect("saved"), bytes);
    let loaded = module.function("again").expect("there").call(&Nest::Leaf(x.clone())).expect("ran");
    assert_eq!(shown(loaded.leaves()[0].1), shown(&x));
}

fn parse_of(x: &Value) -> extenso_types::Result<Value> {
    Ok(ops::parse_json(x, &spec(), OnError::Raise)?.value)
}

const ITEMS: &str = r#"
    syntax = "proto3";
    import "google/protobuf/timestamp.proto";
    message Item { int64 id = 1; optional float price = 2; repeated string tags = 3; google.protobuf.Timestamp at = 4; }
"#;

#[test]
fn one_record_of_unknown_sizes_is_written_as_the_one_of_known_ones() {
    let one = Value::from(Tensor::strings(&[], &[FULL]).expect("a text"));
    let f = Function::new("one", |args| Ok(Nest::Leaf(ops::encode_json(&parse_of(args.leaves()[0].1)?)?)));
    let written = f.call(Nest::Leaf(one)).expect("ran");
    assert_eq!(shown(written.leaves()[0].1), format!("{FULL:?}"));
}

#[test]
fn messages_parse_encode_save_and_load() {
    extenso_formats::init().expect("known");
    let item = Schema::from_text(ITEMS).expect("a schema").message("Item").expect("the message");
    let options = ProtobufOptions { optionals: Optionals::Masked, ..ProtobufOptions::default() };
    let raw: [&[u8]; 3] = [b"\x08\x07\x1a\x01a\x22\x02\x08\x05", b"", b"\x15\0\0\0\x3f\x1a\x01b\x1a\x00"];
    let x: Value = Tensor::byte_strings(&[3], &raw).expect("messages").into();
    let again = move |x: &Value| {
        let parsed = ops::parse_proto(x, &item, &options)?.value;
        ops::encode_proto(&parsed, &item)
    };
    assert_eq!(shown(&again(&x).expect("again")), shown(&x));
    let f = Function::new("again", move |args| Ok(Nest::Leaf(again(args.leaves()[0].1)?)));
    let bytes_spec = Nest::Leaf(Spec::from(TensorSpec::new(DType::Bytes, Shape::new([Dim::any()]))));
    let bytes = save::to_bytes(&[f.concrete(&bytes_spec).expect("traced")]).expect("saved");
    let module = save::from_bytes(bytes.clone()).expect("loaded");
    assert_eq!(save::to_bytes(&module.functions).expect("saved"), bytes);
    let loaded = module.function("again").expect("there").call(&Nest::Leaf(x.clone())).expect("ran");
    assert_eq!(shown(loaded.leaves()[0].1), shown(&x));
}

#[test]
fn a_bad_message_is_named() {
    let item = Schema::from_text(ITEMS).expect("a schema").message("Item").expect("the message");
    let x: Value = Tensor::byte_strings(&[2], &[&b""[..], b"\x08"]).expect("messages").into();
    let error = ops::parse_proto(&x, &item, &ProtobufOptions::default()).expect_err("cut").to_string();
    assert!(error.contains("parse_proto: row 1, byte 1, 'id': the message ends in a varint"), "{error}");
    let missing = ProtobufOptions { spec: Some(spec()), ..ProtobufOptions::default() };
    let error = ops::parse_proto(&x, &item, &missing).expect_err("no such field").to_string();
    assert!(error.contains("parse_proto") && error.contains("message Item has no field 'items'"), "{error}");
    let error = ops::encode_proto(&texts(&["a"]), &item).expect_err("no records").to_string();
    assert!(error.contains("no struct is written as message Item"), "{error}");
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let rows: Vec<String> = (0..4000).map(|i| FULL.replace("\"id\":1", &format!("\"id\":{i}"))).collect();
    let x = texts(&rows.iter().map(String::as_str).collect::<Vec<_>>());
    let on = |threads| extenso_core::with_threads(threads, || ops::encode_json(&parse(&x)).map(|x| shown(&x)));
    assert_eq!(on(1).expect("one"), on(2).expect("two"));
    assert_eq!(on(2).expect("two"), shown(&x));
}
