//! Files of Arrow as values: eager, traced, narrowed, saved and loaded.
#![cfg(feature = "ipc")]

mod support;

use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, RecordBatch, RunArray, StructArray, UnionArray};
use arrow_data::ArrayData;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, Fields, Schema};
use extenso_core::{ExtensionType, Tensor, Value, ops as core_ops};
use extenso_ext::{CategoricalTensor, DateTensor, MaskedTensor, RaggedTensor, StructTensor};
use extenso_formats::arrow::{
    ArrowOptions, IpcCompression, from_chunks, read_ipc, to_arrow_field, write_ipc, write_ipc_compressed,
};
use extenso_formats::{FieldSpec as F, OnError, ops, struct_spec};
use extenso_graph::{Function, NodeKind, save};
use extenso_types::{DType, Nest, Shape};
use std::sync::Arc;
use support::{BARE, FULL, scalar, shown, spec, vector_of};

fn records(texts: &[&str]) -> Value {
    ops::parse_json(&support::texts(texts), &spec(), OnError::Raise).expect("parsed").value
}

fn file(texts: &[&str], stream: bool) -> Vec<u8> {
    write_ipc(&records(texts), stream).expect("a file")
}

/// A file of two records, a stream of none, and a stream of one.
fn files() -> Tensor {
    Tensor::byte_strings(&[3], &[file(&[FULL, BARE], false), file(&[], true), file(&[BARE], true)]).expect("files")
}

fn rows_of_files() -> String {
    let rows = Tensor::from_vec(vec![2_i64, 0, 1]);
    shown(&RaggedTensor::from_row_lengths(records(&[FULL, BARE, BARE]), &rows).expect("rows").into_value())
}

#[test]
fn files_are_rows_of_their_records() {
    let decoded = ops::decode_arrow(&files().into(), &spec(), OnError::Raise).expect("decoded").value;
    assert_eq!(shown(&decoded), rows_of_files());
    let one: Value = Tensor::byte_strings(&[], &[file(&[FULL, BARE], false)]).expect("a file").into();
    assert_eq!(
        shown(&ops::decode_arrow(&one, &spec(), OnError::Raise).expect("decoded").value),
        shown(&records(&[FULL, BARE]))
    );
    let none: Value = Tensor::byte_strings::<&[u8]>(&[0], &[]).expect("no files").into();
    assert_eq!(shown(&ops::decode_arrow(&none, &spec(), OnError::Raise).expect("decoded").value), "[]");
}

#[test]
fn many_rows_without_a_bit_each_are_read_again() {
    for n in [1, 16_384, 16_385, 100_000] {
        let x: Value = Tensor::new::<f32>(&[n, 0], &[]).expect("rows of nothing").into();
        let options = ArrowOptions::default();
        for stream in [false, true] {
            let bytes = write_ipc(&x, stream).expect("written");
            assert_eq!(shown(&read_ipc(bytes.into(), &options).expect("read").value), shown(&x), "{n}, {stream}");
            let bytes = write_ipc_compressed(&x, stream, Some(IpcCompression::Zstd)).expect("written");
            assert_eq!(shown(&read_ipc(bytes.into(), &options).expect("read").value), shown(&x), "{n}, {stream}");
        }
    }
}

#[test]
fn a_missing_file_gives_missing_rows() {
    let mask = Tensor::bools(&[3], &[true, true, false]).expect("a mask");
    let x = MaskedTensor::new(files(), mask).expect("masked").into_value();
    let decoded = ops::decode_arrow(&x, &spec(), OnError::Raise).expect("decoded").value;
    let rows = shown(&records(&[FULL, BARE]));
    assert_eq!(shown(&decoded), format!("[{rows}, [], None]"));
}

#[test]
fn what_is_no_file_is_named() {
    let cut = file(&[FULL], true);
    let x: Value =
        Tensor::byte_strings(&[2], &[&file(&[BARE], false)[..], &cut[..cut.len() / 2]]).expect("files").into();
    let error = ops::decode_arrow(&x, &spec(), OnError::Raise).expect_err("cut").to_string();
    assert!(error.starts_with("decode_arrow: row 1") && error.contains("malformed"), "{error}");
    let other = struct_spec([("id", scalar(DType::String))]).expect("a spec");
    let error = ops::decode_arrow(&files().into(), &other, OnError::Raise).expect_err("another type").to_string();
    assert!(error.starts_with("decode_arrow: row 0") && error.contains("'id'"), "{error}");
    let error = ops::decode_arrow(&Tensor::from_vec(vec![1_i32]).into(), &spec(), OnError::Raise)
        .expect_err("numbers")
        .to_string();
    assert_eq!(error, "decode_arrow: the argument is i32[1].\nWanted: strings or bytes.");
}

#[test]
fn only_needed_columns_of_files_are_decoded() {
    let f = Function::new("prices", |args| {
        let rows = RaggedTensor::from_value(&ops::decode_arrow(args.leaves()[0].1, &spec(), OnError::Raise)?.value)?;
        let records = StructTensor::from_value(rows.values())?;
        Ok(Nest::Leaf(core_ops::sum(records.select(["items", "price"])?, -1, false)?))
    });
    let f = f.concrete(&vector_of(DType::Bytes)).expect("traced");
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
    let f = Function::new("again", |args| {
        Ok(Nest::Leaf(ops::decode_arrow(args.leaves()[0].1, &spec(), OnError::Raise)?.value))
    });
    let bytes = save::to_bytes(&[f.concrete(&vector_of(DType::Bytes)).expect("traced")]).expect("saved");
    let module = save::from_bytes(bytes.clone()).expect("loaded");
    assert_eq!(save::to_bytes(&module.functions).expect("saved"), bytes);
    let loaded = module.function("again").expect("there").call(&Nest::Leaf(files().into())).expect("ran");
    assert_eq!(shown(loaded.leaves()[0].1), rows_of_files());
}

/// A file of three records, of which the second has no `id`.
fn with_a_bad_record() -> Vec<u8> {
    let optional = struct_spec([("id", F::Optional(Box::new(scalar(DType::I64))))]).expect("a spec");
    let texts = Tensor::strings(&[3], &[r#"{"id":1}"#, r#"{"id":null}"#, r#"{"id":3}"#]).expect("texts");
    let records = ops::parse_json(&texts.into(), &optional, OnError::Raise).expect("parsed").value;
    write_ipc(&records, false).expect("a file")
}

#[test]
fn bad_records_are_left_out_or_hold_defaults() {
    let spec = struct_spec([("id", scalar(DType::I64))]).expect("a spec");
    let files: Value = Tensor::byte_strings(&[2], &[with_a_bad_record(), with_a_bad_record()]).expect("files").into();
    let check = |on_error, value: &str, bad: &str| {
        let eager = ops::decode_arrow(&files, &spec, on_error).expect("decoded");
        assert_eq!((shown(&eager.value), shown(&eager.bad)), (value.to_string(), bad.to_string()));
        let of = spec.clone();
        let f = Function::new("decode", move |args| {
            let parsed = ops::decode_arrow(args.leaves()[0].1, &of, on_error)?;
            Ok(Nest::Tuple(vec![Nest::Leaf(parsed.value), Nest::Leaf(parsed.bad)]))
        });
        let traced =
            f.concrete(&vector_of(DType::Bytes)).expect("traced").call(&Nest::Leaf(files.clone())).expect("ran");
        let traced: Vec<String> = traced.leaves().into_iter().map(|(_, value)| shown(value)).collect();
        assert_eq!(traced, [value, bad]);
    };
    let rows = r#"[{"id": 1}, {"id": 0}, {"id": 3}]"#;
    check(OnError::Default, &format!("[{rows}, {rows}]"), "[[False, True, False], [False, True, False]]");
    let rows = r#"[{"id": 1}, {"id": 3}]"#;
    check(OnError::Skip, &format!("[{rows}, {rows}]"), "[1, 1]");
    let error = ops::decode_arrow(&files, &spec, OnError::Raise).expect_err("a null").to_string();
    assert!(error.starts_with("decode_arrow: row 0: row 1, 'id': null came."), "{error}");
}

#[test]
fn categories_of_times_are_read_by_the_spec_of_them() {
    let dates = |days: &[i32]| DateTensor::new(Tensor::from_vec(days.to_vec()), "d").expect("dates").into_value();
    let finer = DateTensor::new(Tensor::from_vec(vec![86_400_000_i64, 172_800_000]), "ms").expect("dates").into_value();
    let of =
        |codes: Tensor, words: Value| CategoricalTensor::new(codes, words, false).expect("categories").into_value();
    let places = Tensor::new::<i8>(&[3], &[1, 0, 1]).expect("codes");
    let wide = Tensor::from_vec(vec![1_i64, 0, 1]);
    let value = of(places.clone(), dates(&[1, 2]));
    let (field, array) = to_arrow_field(&value).expect("goes out");
    for wanted in [value, of(wide, dates(&[1, 2])), of(places, finer), dates(&[2, 1, 2])] {
        let spec = wanted.spec().expect("a spec");
        let options = ArrowOptions { spec: Some(spec.clone()), ..ArrowOptions::default() };
        let read = from_chunks(&field, std::slice::from_ref(&array), &options).expect("reads").value;
        assert_eq!((shown(&read), read.spec().expect("a spec")), (shown(&wanted), spec));
    }
}

#[test]
fn fields_that_say_that_they_have_no_nulls_are_read_where_their_nulls_are_those_of_what_they_hold() {
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None]));
    let union = [(0, Arc::new(Field::new("n", DataType::Int64, true)))].into_iter().collect();
    let union = UnionArray::try_new(union, vec![0_i8, 0].into(), None, vec![numbers.clone()]).expect("a union");
    let runs = RunArray::try_new(&Int32Array::from(vec![1, 2]), &numbers).expect("runs");
    let arrays: [ArrayRef; 2] = [Arc::new(union), Arc::new(runs)];
    for array in arrays {
        let inner: Fields = vec![Field::new("f", array.data_type().clone(), false)].into();
        let data = ArrayData::builder(DataType::Struct(inner)).len(2).add_child_data(array.to_data()).build();
        let rows = StructArray::from(data.expect("rows"));
        let schema = Arc::new(Schema::new(vec![Field::new("s", rows.data_type().clone(), false)]));
        let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(rows)]).expect("a batch");
        let mut writer = StreamWriter::try_new(Vec::new(), &schema).expect("a writer");
        writer.write(&batch).expect("writes");
        let bytes = writer.into_inner().expect("a stream");
        let read = read_ipc(bytes.into(), &ArrowOptions::default()).expect("reads").value;
        assert_eq!(shown(&read), r#"[{"s": {"f": 1}}, {"s": {"f": None}}]"#);
    }
}
