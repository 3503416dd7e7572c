//! Arrow decoded to a spec: what drifts in a source, and what does not.

use arrow_array::builder::{Int16Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Float32Type;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, Float32Array, Int16Array, Int64Array, StringArray, StructArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field};
use extenso_ext::to_literal;
use extenso_formats::arrow::{from_arrow_as, to_arrow};
use extenso_formats::{FieldSpec, struct_spec};
use extenso_types::{DType, Spec};
use std::sync::Arc;

fn scalar(dtype: DType) -> FieldSpec {
    FieldSpec::Scalar(dtype, vec![])
}

fn optional(inner: FieldSpec) -> FieldSpec {
    FieldSpec::Optional(Box::new(inner))
}

fn list(inner: FieldSpec) -> FieldSpec {
    FieldSpec::List(Box::new(inner))
}

fn one(name: &'static str, field: FieldSpec) -> Spec {
    struct_spec([(name, field)]).expect("a spec")
}

fn records(columns: Vec<(&str, ArrayRef)>) -> StructArray {
    StructArray::try_from(columns).expect("columns of one length")
}

fn reads(array: &dyn Array, spec: &Spec, text: &str) {
    let value = from_arrow_as(array, spec).expect("comes in");
    assert_eq!(to_literal(&value).expect("a literal").to_string(), text);
}

fn refuses(array: &dyn Array, spec: &Spec, parts: &[&str]) {
    let error = from_arrow_as(array, spec).expect_err("does not fit").to_string();
    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
}

#[test]
fn a_source_may_have_more_fields_and_lack_optional_ones() {
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let odd: ArrayRef = Arc::new(arrow_array::NullArray::new(2));
    let rows = records(vec![("odd", odd), ("id", ids)]);
    let spec = struct_spec([
        ("id", scalar(DType::I64)),
        ("tags", optional(list(scalar(DType::String)))),
        ("who", optional(FieldSpec::Record(vec![("name", scalar(DType::String))]))),
    ]);
    reads(
        &rows,
        &spec.expect("a spec"),
        r#"[{"id": 1, "tags": None, "who": None}, {"id": 2, "tags": None, "who": None}]"#,
    );
    refuses(&rows, &one("score", scalar(DType::F32)), &["no column 'score'", "odd, id", "f32"]);
}

#[test]
fn numbers_are_widened_where_that_is_exact() {
    let small: ArrayRef = Arc::new(Int16Array::from(vec![-7, 8]));
    let rows = records(vec![("x", small)]);
    reads(&rows, &one("x", scalar(DType::I64)), r#"[{"x": -7}, {"x": 8}]"#);
    reads(&rows, &one("x", scalar(DType::F32)), r#"[{"x": -7.0}, {"x": 8.0}]"#);
    refuses(&rows, &one("x", scalar(DType::U64)), &["'x'", "Int16", "u64"]);
    refuses(&rows, &one("x", scalar(DType::I8)), &["'x'", "Int16", "i8"]);
    refuses(&rows, &one("x", scalar(DType::F16)), &["'x'", "Int16", "f16"]);
    refuses(&rows, &one("x", scalar(DType::String)), &["'x'", "Int16", "string"]);
    refuses(&rows, &one("x", list(scalar(DType::I64))), &["'x'", "Int16", "RaggedTensor"]);
}

#[test]
fn a_null_that_somebody_sees_is_an_error_with_its_row_and_path() {
    let mut lists = ListBuilder::new(Int16Builder::new());
    lists.append_value([Some(1)]);
    lists.append_value([]);
    lists.append_value([Some(2), None]);
    let rows = records(vec![("n", Arc::new(lists.finish()) as ArrayRef)]);
    let spec = one("n", list(scalar(DType::I16)));
    refuses(&rows, &spec, &["row 2, 'n[*]'", "null", "masked"]);
    reads(&rows, &one("n", list(optional(scalar(DType::I16)))), r#"[{"n": [1]}, {"n": []}, {"n": [2, None]}]"#);
    // The null is outside the slice.
    reads(&rows.slice(0, 2), &spec, r#"[{"n": [1]}, {"n": []}]"#);
}

#[test]
fn a_null_under_a_null_is_seen_by_nobody() {
    let names: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None]));
    let field = Arc::new(Field::new("name", DataType::Utf8, true));
    let nulls = NullBuffer::from(vec![true, false]);
    let who = StructArray::try_new(vec![field].into(), vec![names], Some(nulls)).expect("a struct");
    let rows = records(vec![("who", Arc::new(who) as ArrayRef)]);
    let inner = FieldSpec::Record(vec![("name", scalar(DType::String))]);
    reads(&rows, &one("who", optional(inner.clone())), r#"[{"who": {"name": "a"}}, {"who": None}]"#);
    refuses(&rows, &one("who", inner), &["row 1, 'who'"]);
}

#[test]
fn a_nullable_source_without_nulls_is_plain_and_shared() {
    let numbers = Float32Array::from(vec![Some(0.5), Some(1.5)]);
    let rows = records(vec![("x", Arc::new(numbers.clone()) as ArrayRef)]);
    let value = from_arrow_as(&rows, &one("x", scalar(DType::F32))).expect("comes in");
    let out = to_arrow(&value).expect("goes out");
    let out = out.as_struct().column(0).as_primitive::<Float32Type>();
    assert_eq!(out.values().as_ptr(), numbers.values().as_ptr());
    reads(&rows, &one("x", optional(scalar(DType::F32))), r#"[{"x": 0.5}, {"x": 1.5}]"#);
}

#[test]
fn lists_of_one_size_are_axes_or_rows_as_the_spec_says() {
    let items: ArrayRef = Arc::new(Int16Array::from(vec![1, 2, 3, 4, 5, 6]));
    let field = Arc::new(Field::new("item", DataType::Int16, true));
    let lists = FixedSizeListArray::try_new(field, 2, items, None).expect("lists");
    let rows = records(vec![("x", Arc::new(lists) as ArrayRef)]);
    let text = r#"[{"x": [3, 4]}, {"x": [5, 6]}]"#;
    for field in [FieldSpec::Scalar(DType::I64, vec![2]), list(scalar(DType::I64))] {
        reads(&rows.slice(1, 2), &one("x", field), text);
    }
    refuses(&rows, &one("x", FieldSpec::Scalar(DType::I64, vec![3])), &["'x'", "a list of 2", "lists of 3"]);
    let mut lists = ListBuilder::new(Int16Builder::new());
    lists.append_value([Some(3), Some(4)]);
    lists.append_value([Some(5), Some(6)]);
    let rows = records(vec![("x", Arc::new(lists.finish()) as ArrayRef)]);
    reads(&rows, &one("x", FieldSpec::Scalar(DType::I64, vec![2])), text);
}
