//! Values of a user's type in files and streams of Arrow, and as columns.
#![cfg(feature = "parquet")]
// Without messages, the format is all that the options of a sink say.
#![allow(clippy::needless_update)]

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Int64Array, StructArray};
use arrow_schema::{DataType, Field, FieldRef, Fields};
use extenso_core::{ExtensionType, Tensor, Value};
use extenso_derive::ExtensionType;
use extenso_ext::{MaskedTensor, RaggedTensor, StructTensor};
use extenso_formats::arrow::{ArrowOptions, from_chunks, read_ipc, to_arrow_field, write_ipc};
use extenso_formats::source::{Format, SinkOptions, open_sink};
use extenso_formats::{OnError, ParquetOptions, encode_parquet, ops, read_parquet};
use extenso_types::{Dim, Nest, Shape};
use std::sync::Arc;

/// A type without a component that holds the value itself, which knows no op.
#[derive(ExtensionType, Clone)]
#[extenso(name = "tests/Money")]
struct Money {
    amount: Tensor,
    #[extenso(static)]
    currency: String,
}

fn money(amounts: &[f64]) -> Value {
    Money { amount: Tensor::from_vec(amounts.to_vec()), currency: "EUR".into() }.into_value()
}

fn amounts(value: &Value) -> String {
    let money = Money::from_value(value).expect("money");
    format!("{} {}", money.amount, money.currency)
}

/// Rows of money by itself, in lists, under a mask, and in records.
fn columns(a: &[f64]) -> Vec<(&'static str, Value)> {
    let n = a.len();
    let lengths = Tensor::from_vec(vec![1_i64; n]);
    let listed = RaggedTensor::from_row_lengths(money(a), &lengths).expect("rows").into_value();
    let there: Vec<bool> = (0..n).map(|i| i % 2 == 0).collect();
    let masked = MaskedTensor::new(money(a), Tensor::bools(&[n], &there).expect("a mask")).expect("masked");
    let inner = StructTensor::from_fields(Shape::known(&[n]), [("m", money(a))]).expect("records").into_value();
    vec![("m", money(a)), ("listed", listed), ("masked", masked.into_value()), ("inner", inner)]
}

fn chunk(a: &[f64]) -> (FieldRef, ArrayRef) {
    let columns = columns(a).into_iter().map(|(name, value)| {
        let (field, array) = to_arrow_field(&value).expect("goes out");
        (Arc::new(field.as_ref().clone().with_name(name)), array)
    });
    let (fields, arrays): (Vec<FieldRef>, Vec<ArrayRef>) = columns.unzip();
    let rows = StructArray::new(Fields::from(fields), arrays, None);
    (Arc::new(Field::new("", DataType::Struct(rows.fields().clone()), false)), Arc::new(rows))
}

fn checked(value: &Value) {
    let rows = StructTensor::from_value(value).expect("records");
    let field = |name: &str| rows.field(name).expect("a field").clone();
    let wanted = "[1.5, 2.5, 3.5] EUR";
    assert_eq!(amounts(&field("m")), wanted);
    assert_eq!(amounts(RaggedTensor::from_value(&field("listed")).expect("rows").values()), wanted);
    let masked = MaskedTensor::from_value(&field("masked")).expect("masked");
    assert_eq!((amounts(masked.values()), masked.mask().to_string()), (wanted.into(), "[True, False, True]".into()));
    let inner = StructTensor::from_value(&field("inner")).expect("records");
    assert_eq!(amounts(inner.field("m").expect("a field")), wanted);
}

#[test]
fn chunks_of_a_type_that_knows_no_op_are_one_value() {
    let (field, first) = chunk(&[1.5, 2.5]);
    let (_, second) = chunk(&[3.5]);
    let chunks = [first, second];
    let read = from_chunks(&field, &chunks, &ArrowOptions::default()).expect("one value").value;
    checked(&read);
    let spec = Some(read.spec().expect("a spec"));
    checked(&from_chunks(&field, &chunks, &ArrowOptions { spec, ..ArrowOptions::default() }).expect("one value").value);
    let paths = Some(vec!["m".parse().expect("a path")]);
    let few = from_chunks(&field, &chunks, &ArrowOptions { paths, ..ArrowOptions::default() }).expect("one value");
    let few = StructTensor::from_value(&few.value).expect("records");
    assert_eq!(few.field_names().collect::<Vec<_>>(), ["m"]);
}

#[test]
fn a_column_of_a_type_that_knows_no_op_has_the_rows_of_its_array() {
    let dict = |a: &[f64]| Nest::dict([("m", Nest::Leaf(money(a))), ("x", Nest::Leaf(money(a)))]);
    let of = |value: &Value, wanted: &str| {
        let rows = StructTensor::from_value(value).expect("records");
        rows.fields().iter().for_each(|(_, field)| assert_eq!(amounts(field), wanted));
    };
    let file = encode_parquet(&dict(&[1.5, 2.5])).expect("a file");
    of(&read_parquet(&file.into(), &ParquetOptions::default()).expect("read").value, "[1.5, 2.5] EUR");
    let mut out = Vec::new();
    let options = SinkOptions { format: Some(Format::Arrow), ..SinkOptions::default() };
    let mut sink = open_sink(&options, Box::new(&mut out)).expect("a sink");
    sink.write(&dict(&[1.5])).and_then(|()| sink.write(&dict(&[2.5]))).expect("writes");
    sink.finish().expect("a file");
    of(&read_ipc(out.into(), &ArrowOptions::default()).expect("read").value, "[1.5, 2.5] EUR");
    let records = |shape, x| StructTensor::from_fields(shape, [("m", money(&[1.5, 2.5])), ("x", x)]);
    let open = records(Shape::new([Dim::any()]), money(&[1.5, 2.5])).expect("records").into_value();
    let bytes = write_ipc(&open, false).expect("a file");
    of(&read_ipc(bytes.into(), &ArrowOptions::default()).expect("read").value, "[1.5, 2.5] EUR");
    let odd = records(Shape::known(&[3]), Tensor::from_vec(vec![1_i64, 2, 3]).into());
    let error = odd.expect_err("2 of 3").to_string();
    assert!(error.contains("field 'm': the outer shape is [2, ...], and that of the records [3]"), "{error}");
    let odd = Nest::dict([("m", Nest::Leaf(money(&[1.5]))), ("x", Nest::Leaf(money(&[1.5, 2.5])))]);
    let error = encode_parquet(&odd).expect_err("1 and 2").to_string();
    assert!(error.contains("'x' has 2 rows, and 'm' has 1"), "{error}");
}

#[test]
fn values_of_a_type_by_themselves_are_one_column_that_says_of_which() {
    let value = Nest::Leaf(money(&[1.5, 2.5]));
    let through = |format| {
        let mut out = Vec::new();
        let options = SinkOptions { format: Some(format), ..SinkOptions::default() };
        let mut sink = open_sink(&options, Box::new(&mut out)).expect("a sink");
        sink.write(&value).and_then(|()| sink.finish()).expect("writes");
        out
    };
    let arrow = |format| read_ipc(through(format).into(), &ArrowOptions::default()).expect("reads").value;
    let parquet = read_parquet(&through(Format::Parquet).into(), &ParquetOptions::default()).expect("reads").value;
    #[cfg(feature = "avro")]
    let avro = extenso_formats::read_avro(&through(Format::Avro)[..], &Default::default()).expect("reads").value;
    for read in [
        arrow(Format::Arrow),
        arrow(Format::Arrows),
        parquet,
        #[cfg(feature = "avro")]
        avro,
    ] {
        let rows = StructTensor::from_value(&read).expect("records");
        assert_eq!(amounts(rows.field("value").expect("a column")), "[1.5, 2.5] EUR");
    }
}

fn records(a: &[f64]) -> Value {
    StructTensor::from_fields(Shape::known(&[a.len()]), columns(a)).expect("records").into_value()
}

#[test]
fn files_of_a_type_that_knows_no_op_are_one_value() {
    let files =
        [records(&[1.5, 2.5]), records(&[]), records(&[3.5])].map(|rows| write_ipc(&rows, false).expect("written"));
    let files: Value = Tensor::byte_strings(&[3], &files).expect("files").into();
    let spec = records(&[0.0]).spec().expect("a spec");
    for on_error in [OnError::Raise, OnError::Skip, OnError::Default] {
        let decoded = ops::decode_arrow(&files, &spec, on_error).expect("decoded").value;
        checked(RaggedTensor::from_value(&decoded).expect("rows").values());
    }
}

#[test]
fn bad_rows_of_a_type_that_knows_no_op_are_left_out_or_filled() {
    let (field, array) = chunk(&[1.5, 2.5, 3.5]);
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]));
    let (mut fields, mut arrays) = (array.as_struct().fields().to_vec(), array.as_struct().columns().to_vec());
    fields.push(Arc::new(Field::new("id", DataType::Int64, true)));
    arrays.push(ids);
    let rows = StructArray::new(Fields::from(fields), arrays, None);
    let field = Arc::new(field.as_ref().clone().with_data_type(DataType::Struct(rows.fields().clone())));
    let mut wanted = columns(&[0.0]);
    wanted.push(("id", Tensor::from_vec(vec![0_i64]).into()));
    let spec =
        StructTensor::from_fields(Shape::known(&[1]), wanted).expect("records").into_value().spec().expect("a spec");
    for (on_error, wanted) in [(OnError::Skip, "[1.5, 3.5] EUR"), (OnError::Default, "[1.5, 0.0, 3.5] EUR")] {
        let options = ArrowOptions { spec: Some(spec.clone()), on_error, ..ArrowOptions::default() };
        let read = from_chunks(&field, &[Arc::new(rows.clone()) as ArrayRef], &options).expect("read");
        let money = StructTensor::from_value(&read.value).expect("records").field("m").expect("a field").clone();
        assert_eq!((amounts(&money), read.bad.rows.clone()), (wanted.to_string(), vec![1]));
    }
}

#[test]
fn nulls_are_given_to_who_asks_for_them_where_all_is_missing() {
    use arrow_array::{Array, Float64Array, NullArray, StructArray};
    let wanted = Field::new("a", DataType::Null, true);
    let given = |values: Vec<Option<f64>>| {
        let (fields, columns) = (Field::new("a", DataType::Float64, true), Float64Array::from(values));
        let rows = StructArray::from(vec![(Arc::new(fields), Arc::new(columns) as ArrayRef)]);
        let field = Arc::new(Field::new("", rows.data_type().clone(), false));
        let asked_for = Field::new_struct("", vec![wanted.clone()], false);
        extenso_formats::arrow::asked(field, Arc::new(rows), &asked_for).1.data_type().clone()
    };
    let of = |data_type: DataType| DataType::Struct(vec![Field::new("a", data_type, true)].into());
    assert_eq!(given(vec![None, None]), of(DataType::Null));
    assert_eq!(given(vec![]), of(DataType::Null));
    assert_eq!(given(vec![None, Some(1.0)]), of(DataType::Float64));
    // What was read of nulls goes out as nulls.
    let value = extenso_formats::arrow::from_arrow(&NullArray::new(3)).expect("nulls");
    let (field, array) = to_arrow_field(&value).expect("an array");
    let (_, again) = extenso_formats::arrow::asked(field, array, &wanted);
    assert_eq!((again.data_type(), again.len()), (&DataType::Null, 3));
}
