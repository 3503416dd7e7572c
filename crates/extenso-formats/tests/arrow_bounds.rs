//! What few bytes of Arrow's files may ask for.
#![cfg(feature = "parquet")]

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Int32Array, Int64Array, ListViewArray, NullArray, RecordBatch, RunArray, StringArray,
};
use arrow_array::{DictionaryArray, LargeListArray, StringViewArray, StructArray, builder::StringViewBuilder};
use arrow_buffer::{BooleanBuffer, OffsetBuffer};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field};
use extenso_core::{ExtensionType, Tensor};
use extenso_ext::StructTensor;
use extenso_formats::arrow::{
    ArrowOptions, IpcCompression, from_arrow, from_arrow_as, read_ipc, write_ipc, write_ipc_compressed,
};
use extenso_formats::source::run_bytes;
use extenso_formats::{FieldSpec, ParquetOptions, SourceOptions, encode_parquet, read_parquet, struct_spec};
use extenso_graph::Function;
use extenso_types::{DType, Dim, Error, Nest};
use std::sync::Arc;

/// Rows that all have the same items.
fn rows_of(items: ArrayRef, rows: usize) -> ArrayRef {
    let size = i32::try_from(items.len()).expect("few");
    let field = Arc::new(Field::new("item", items.data_type().clone(), true));
    Arc::new(ListViewArray::new(field, vec![0; rows].into(), vec![size; rows].into(), items, None))
}

fn numbers(n: i64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(0..n))
}

/// Views of one long text.
fn texts(len: usize, rows: usize) -> ArrayRef {
    let mut builder = StringViewBuilder::new();
    let block = builder.append_block("x".repeat(len).into_bytes().into());
    let len = u32::try_from(len).expect("few");
    (0..rows).for_each(|_| builder.try_append_view(block, 0, len).expect("a view"));
    let views: StringViewArray = builder.finish();
    Arc::new(views)
}

/// One long text, in one run.
fn run(len: usize, rows: i32) -> ArrayRef {
    let text = StringArray::from(vec!["x".repeat(len)]);
    Arc::new(RunArray::<Int32Type>::try_new(&Int32Array::from(vec![rows]), &text).expect("a run"))
}

fn stream(column: &ArrayRef, batches: usize) -> Vec<u8> {
    let rows = RecordBatch::try_from_iter([("x", column.clone())]).expect("rows");
    let mut writer = StreamWriter::try_new(Vec::new(), &rows.schema()).expect("a stream");
    (0..batches).for_each(|_| writer.write(&rows).expect("a batch"));
    writer.into_inner().expect("written")
}

fn read(bytes: Vec<u8>) -> Result<String, Error> {
    read_ipc(bytes.into(), &ArrowOptions::default()).map(|rows| rows.value.spec().expect("a spec").to_string())
}

#[test]
fn items_that_share_bytes_in_a_file_are_bounded_and_in_memory_are_not() {
    let below = rows_of(numbers(300), 300);
    let hostile = [
        rows_of(numbers(3000), 3000),
        rows_of(below, 100),
        texts(100_000, 1000),
        rows_of(texts(1000, 300), 300),
        run(5000, 16_000),
        Arc::new(StructArray::try_from(vec![("a", texts(100_000, 1000))]).expect("records")),
        Arc::new(DictionaryArray::new(Int32Array::from(vec![0]), rows_of(numbers(3000), 3000))),
    ];
    for column in hostile {
        let bytes = stream(&column, 1);
        assert!(bytes.len() < 200_000, "{}", bytes.len());
        let error = read(bytes).expect_err("too much");
        assert!(error.is_data() && error.to_string().contains("items that share their bytes take more"), "{error}");
        assert_eq!(from_arrow(column.as_ref()).map(|_| ()), Ok(()), "{}", column.data_type());
    }
    // What no batch asks for alone, all of them do.
    let few = rows_of(numbers(1000), 1000);
    assert!(read(stream(&few, 7)).is_ok());
    assert!(read(stream(&few, 12)).is_err());
    for column in [rows_of(numbers(10), 3), texts(20, 5), run(5, 100)] {
        let rows = StructArray::try_from(vec![("x", column.clone())]).expect("records");
        let value = from_arrow(&rows).expect("comes in");
        assert_eq!(read(stream(&column, 1)), Ok(value.spec().expect("a spec").to_string()));
    }
}

/// One number, in one run.
fn number_run(rows: i32) -> ArrayRef {
    let ends = Int32Array::from(vec![rows]);
    Arc::new(RunArray::<Int32Type>::try_new(&ends, &Int64Array::from(vec![7])).expect("a run"))
}

#[test]
fn long_runs_are_read_within_a_stated_bound() {
    let long = number_run(10_000_000);
    let inside: ArrayRef = Arc::new(StructArray::try_from(vec![("a", long.clone())]).expect("records"));
    let words = run(3, 10_000_000);
    for column in [long.clone(), inside, words] {
        let bytes = stream(&column, 1);
        assert!(bytes.len() < 2000);
        read(bytes).expect("a run is honest");
    }
    let rows = read_ipc(stream(&long, 1).into(), &ArrowOptions::default()).expect("read").value;
    let numbers = StructTensor::from_value(&rows).expect("records").field("x").expect("a field").clone();
    let numbers = numbers.tensor().expect("dense").as_slice::<i64>().expect("integers").to_vec();
    assert!(numbers.len() == 10_000_000 && numbers.iter().all(|n| *n == 7));
    for (column, batches) in [(number_run(20_000_000), 1), (long, 4), (run(20, 10_000_000), 1), (run(1, 20_000_000), 1)]
    {
        let bytes = stream(&column, batches);
        assert!(bytes.len() < 3000);
        let error = read(bytes).expect_err("a bomb");
        assert!(error.is_data() && error.to_string().contains("at most"), "{error}");
    }
}

#[test]
fn what_packs_well_and_what_is_null_is_read_within_a_stated_bound() {
    let zeros = |n: usize| extenso_core::Value::from(Tensor::from_vec(vec![0_i64; n]));
    for n in [9 << 20, 40 << 20] {
        let bytes = write_ipc_compressed(&zeros(n), true, Some(IpcCompression::Zstd)).expect("written");
        assert!(bytes.len() < 1 << 16, "{}", bytes.len());
        let read = read_ipc(bytes.into(), &ArrowOptions::default()).expect("reads").value;
        assert_eq!(read.tensor().expect("dense").data().expect("data").len(), n);
    }
    let nulls = |n: usize| -> ArrayRef { Arc::new(NullArray::new(n)) };
    for n in [20_000, 10_000_000] {
        assert!(read(stream(&nulls(n), 1)).is_ok());
    }
    let error = read(stream(&nulls(10_000_000), 4)).expect_err("a bomb").to_string();
    assert!(error.contains("runs of numbers and nulls say 320000000 bytes"), "{error}");
}

#[test]
fn a_column_that_is_missing_is_told_with_those_that_there_are() {
    let rows = StructArray::try_from(vec![("x", numbers(2)), ("y", numbers(2))]).expect("records");
    let value = from_arrow(&rows).expect("comes in");
    let bytes = write_ipc(&value, false).expect("a file");
    let spec = struct_spec([("a", FieldSpec::Scalar(DType::I64, vec![]))]).expect("a spec");
    let options = ArrowOptions { spec: Some(spec.clone()), ..ArrowOptions::default() };
    let parquet = encode_parquet(&Nest::Leaf(value)).expect("a file");
    let columns = ParquetOptions { spec: Some(spec.clone()), ..ParquetOptions::default() };
    let function =
        Function::new("a", |args| Ok(Nest::Leaf(StructTensor::from_value(args.leaves()[0].1)?.field("a")?.clone())));
    let function = function.concrete(&Nest::Leaf(spec)).expect("traced");
    let run = |bytes: &[u8]| run_bytes(&function, bytes, &SourceOptions::default()).map(|_| ());
    let errors = [
        run(&bytes),
        run(&parquet),
        read_ipc(bytes.into(), &options).map(|_| ()),
        read_parquet(&parquet.into(), &columns).map(|_| ()),
    ];
    for error in errors {
        let error = error.expect_err("no column").to_string();
        assert!(error.starts_with("there is no column 'a'; there are: x, y.\nWanted: i64[?]."), "{error}");
    }
}

#[test]
fn a_field_of_nested_records_that_is_missing_is_told_with_those_that_there_are() {
    let inner = || StructArray::try_from(vec![("x", numbers(2)), ("y", numbers(2))]).expect("records");
    let field = Arc::new(Field::new("item", inner().data_type().clone(), true));
    let ends = arrow_buffer::OffsetBuffer::new(vec![0, 1, 2].into());
    let lists: ArrayRef = Arc::new(arrow_array::ListArray::new(field, ends, Arc::new(inner()), None));
    let scalar = || FieldSpec::Scalar(DType::I64, vec![]);
    let wanted = || FieldSpec::Record(vec![("y", scalar()), ("a", scalar())]);
    for (name, column, wanted, path) in [
        ("r", Arc::new(inner()) as ArrayRef, wanted(), "r.a"),
        ("l", lists, FieldSpec::List(Box::new(wanted())), "l[*].a"),
    ] {
        let rows = StructArray::try_from(vec![(name, column)]).expect("records");
        let value = from_arrow(&rows).expect("comes in");
        let spec = Some(struct_spec([(name, wanted)]).expect("a spec"));
        let bytes = write_ipc(&value, false).expect("a file");
        let of_ipc = read_ipc(bytes.into(), &ArrowOptions { spec: spec.clone(), ..ArrowOptions::default() });
        let parquet = encode_parquet(&Nest::Leaf(value)).expect("a file");
        let of_parquet = read_parquet(&parquet.into(), &ParquetOptions { spec, ..ParquetOptions::default() });
        for error in [of_ipc.map(|_| ()), of_parquet.map(|_| ())] {
            let error = error.expect_err("no column").to_string();
            assert!(error.contains(&format!("there is no column '{path}'; there are: x, y.")), "{error}");
        }
    }
}

#[test]
fn nulls_beside_data_are_as_many_as_that_has_items() {
    let rows = (1 << 24) + 1;
    let bits: ArrayRef = Arc::new(BooleanArray::new(BooleanBuffer::new_set(rows), None));
    let nulls: ArrayRef = Arc::new(NullArray::new(rows));
    let alone = StructArray::from(vec![(Arc::new(Field::new("n", DataType::Null, true)), nulls.clone())]);
    let error = from_arrow(&alone).expect_err("nulls alone").to_string();
    assert!(error.contains("a null array has 16777217 items"), "{error}");
    let named = StructArray::from(vec![
        (Arc::new(Field::new("a", DataType::Boolean, false)), bits),
        (Arc::new(Field::new("n", DataType::Null, true)), nulls),
    ]);
    let spec = from_arrow(&named).expect("a value").spec().expect("a spec").to_string();
    assert!(spec.contains("n: MaskedTensor(f64[16777217]"), "{spec}");
}

#[test]
fn missing_values_without_end_are_an_error() {
    let optional = |dims| FieldSpec::Optional(Box::new(FieldSpec::Scalar(DType::F64, dims)));
    let of_nulls = |rows: usize| {
        let spec = optional(vec![]).spec(Dim::Known(rows)).expect("a spec");
        from_arrow_as(&NullArray::new(rows), &spec)
    };
    assert_eq!(extenso_ext::to_literal(&of_nulls(2).expect("a few")).expect("shown").to_string(), "[None, None]");
    for rows in [1 << 58, usize::MAX] {
        assert!(of_nulls(rows).is_err(), "{rows} rows");
    }
    let field = Arc::new(Field::new("item", DataType::Null, true));
    let items: ArrayRef = Arc::new(NullArray::new(1 << 58));
    let lists = LargeListArray::new(field, OffsetBuffer::new(vec![0, 1 << 58].into()), items, None);
    let spec = FieldSpec::List(Box::new(optional(vec![]))).spec(Dim::Known(1)).expect("a spec");
    assert!(from_arrow_as(&lists, &spec).is_err());
    let rows = StructArray::try_from(vec![("x", numbers(2))]).expect("records");
    for (size, fits) in [(3, true), (1 << 40, false), (1 << 60, false)] {
        let spec = struct_spec([("x", FieldSpec::Scalar(DType::I64, vec![])), ("y", optional(vec![size]))]);
        assert_eq!(from_arrow_as(&rows, &spec.expect("a spec")).is_ok(), fits, "a missing column of {size}");
    }
}
