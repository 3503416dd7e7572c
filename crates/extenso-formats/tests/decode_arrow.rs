//! Files of Arrow as values: eager, traced, narrowed, saved and loaded.

use extenso_core::{ExtensionType, Tensor, Value, ops as core_ops};
use extenso_ext::{MaskedTensor, RaggedTensor, StructTensor, to_literal};
use extenso_formats::arrow::write_ipc;
use extenso_formats::{FieldSpec as F, OnError, ops, struct_spec};
use extenso_graph::{Function, NodeKind, save};
use extenso_types::{DType, Dim, Nest, Shape, Spec, TensorSpec};

fn scalar(dtype: DType) -> F {
    F::Scalar(dtype, vec![])
}

/// Records with every kind of field.
fn spec() -> Spec {
    let item = F::Record(vec![("price", scalar(DType::F32)), ("sku", F::Optional(Box::new(scalar(DType::String))))]);
    struct_spec([
        ("id", scalar(DType::I64)),
        ("items", F::List(Box::new(item))),
        ("at", F::Scalar(DType::F64, vec![2])),
        ("paid", F::Optional(Box::new(scalar(DType::Bool)))),
    ])
    .expect("a spec")
}

const FULL: &str = r#"{"id":1,"items":[{"price":0.5,"sku":"a"},{"price":2.0,"sku":null}],"at":[1.0,2.0],"paid":true}"#;
const BARE: &str = r#"{"id":2,"items":[],"at":[0.0,0.5],"paid":null}"#;

fn records(texts: &[&str]) -> Value {
    let texts = Tensor::strings(&[texts.len()], texts).expect("texts");
    ops::parse_json(&texts.into(), &spec(), OnError::Raise).expect("parsed").value
}

fn file(texts: &[&str], stream: bool) -> Vec<u8> {
    write_ipc(&records(texts), stream).expect("a file")
}

/// A file of two records, a stream of none, and a stream of one.
fn files() -> Tensor {
    Tensor::byte_strings(&[3], &[file(&[FULL, BARE], false), file(&[], true), file(&[BARE], true)]).expect("files")
}

fn shown(value: &Value) -> String {
    to_literal(value).map_or_else(|e| e.to_string(), |literal| literal.to_string())
}

fn rows_of_files() -> String {
    let rows = Tensor::from_vec(vec![2_i64, 0, 1]);
    shown(&RaggedTensor::from_row_lengths(records(&[FULL, BARE, BARE]), &rows).expect("rows").into_value())
}

#[test]
fn files_are_rows_of_their_records() {
    let decoded = ops::decode_arrow(&files().into(), &spec()).expect("decoded");
    assert_eq!(shown(&decoded), rows_of_files());
    let one: Value = Tensor::byte_strings(&[], &[file(&[FULL, BARE], false)]).expect("a file").into();
    assert_eq!(shown(&ops::decode_arrow(&one, &spec()).expect("decoded")), shown(&records(&[FULL, BARE])));
    let none: Value = Tensor::byte_strings::<&[u8]>(&[0], &[]).expect("no files").into();
    assert_eq!(shown(&ops::decode_arrow(&none, &spec()).expect("decoded")), "[]");
}

#[test]
fn a_missing_file_gives_missing_rows() {
    let mask = Tensor::bools(&[3], &[true, true, false]).expect("a mask");
    let x = MaskedTensor::new(files(), mask).expect("masked").into_value();
    let decoded = ops::decode_arrow(&x, &spec()).expect("decoded");
    let rows = shown(&records(&[FULL, BARE]));
    assert_eq!(shown(&decoded), format!("[{rows}, [], None]"));
}

#[test]
fn what_is_no_file_is_named() {
    let cut = file(&[FULL], true);
    let x: Value =
        Tensor::byte_strings(&[2], &[&file(&[BARE], false)[..], &cut[..cut.len() / 2]]).expect("files").into();
    let error = ops::decode_arrow(&x, &spec()).expect_err("cut").to_string();
    assert!(error.starts_with("decode_arrow: row 1") && error.contains("malformed"), "{error}");
    let other = struct_spec([("id", scalar(DType::String))]).expect("a spec");
    let error = ops::decode_arrow(&files().into(), &other).expect_err("another type").to_string();
    assert!(error.starts_with("decode_arrow: row 0") && error.contains("'id'"), "{error}");
    let error = ops::decode_arrow(&Tensor::from_vec(vec![1_i32]).into(), &spec()).expect_err("numbers").to_string();
    assert_eq!(error, "decode_arrow: the argument is i32[1].\nWanted: strings or bytes.");
}

fn of_bytes() -> Nest<Spec> {
    Nest::Leaf(TensorSpec::new(DType::Bytes, Shape::new([Dim::any()])).into())
}

#[test]
fn only_needed_columns_of_files_are_decoded() {
    let f = Function::new("prices", |args| {
        let rows = RaggedTensor::from_value(&ops::decode_arrow(args.leaves()[0].1, &spec())?)?;
        let records = StructTensor::from_value(rows.values())?;
        Ok(Nest::Leaf(core_ops::sum(records.select(["items", "price"])?, -1, false)?))
    });
    let f = f.concrete(&of_bytes()).expect("traced");
    let decode = |kind: &NodeKind| matches!(kind, NodeKind::Op(op, _) if op.name == "decode_arrow");
    let node = f.graph().nodes.iter().find(|node| decode(&node.kind)).expect("the node");
    assert_eq!(node.outputs.len(), 2, "{}", f.graph());
    // A column that nobody needs may be missing.
    let items =
        StructTensor::from_value(&records(&[FULL, BARE])).expect("records").field("items").expect("there").clone();
    let few = StructTensor::from_fields(Shape::known(&[2]), [("items", items)]).expect("records").into_value();
    let x = Tensor::byte_strings(&[1], &[write_ipc(&few, false).expect("a file")]).expect("files");
    let sums = f.call(&Nest::Leaf(x.into())).expect("ran");
    assert_eq!(sums.leaves()[0].1.to_string(), "[2.5, 0.0]");
}

#[test]
fn a_saved_graph_with_files_runs_where_it_is_loaded() {
    extenso_formats::init().expect("known");
    let f = Function::new("again", |args| Ok(Nest::Leaf(ops::decode_arrow(args.leaves()[0].1, &spec())?)));
    let bytes = save::to_bytes(&[f.concrete(&of_bytes()).expect("traced")]).expect("saved");
    let module = save::from_bytes(bytes.clone()).expect("loaded");
    assert_eq!(save::to_bytes(&module.functions).expect("saved"), bytes);
    let loaded = module.function("again").expect("there").call(&Nest::Leaf(files().into())).expect("ran");
    assert_eq!(shown(loaded.leaves()[0].1), rows_of_files());
}
