//! Dictionaries of several parts by a spec: the value is of the spec, whatever words each part has.
#![cfg(feature = "ipc")]

use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray, StructArray};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, FieldRef, Schema};
use extenso_core::TypeSpec;
use extenso_ext::{CategoricalTensorSpec, StructSpec, masked_spec, to_literal};
use extenso_formats::arrow::{ArrowOptions, from_chunks, read_ipc};
use extenso_types::{DType, Dim, ExtSpec, Result, Segment, Shape, Spec, StaticValue, TensorSpec};
use std::sync::Arc;

fn vector(dtype: DType) -> TensorSpec {
    TensorSpec::new(dtype, Shape::new([Dim::any()]))
}

fn records(codes: DType, ordered: bool, masked: bool) -> Spec {
    let parts = [(Segment::Itself, codes), (Segment::component("categories"), DType::String)];
    let field = Spec::from(ExtSpec {
        def: CategoricalTensorSpec::def().clone(),
        static_data: StaticValue::map([("ordered".to_string(), StaticValue::Bool(ordered))]),
        components: parts.map(|(part, dtype)| (part, vector(dtype).into())).into(),
    });
    let field = if masked { masked_spec(&field).expect("a mask") } else { field };
    StructSpec::new(1, [("c", field)]).expect("records").serialize().into()
}

/// Records with one dictionary: its words, and a code for each record.
fn part(words: &[&str], codes: &[Option<i32>], ordered: bool) -> StructArray {
    let keys = Int32Array::from(codes.to_vec());
    let column = DictionaryArray::<Int32Type>::try_new(keys, Arc::new(StringArray::from(words.to_vec())));
    let column: ArrayRef = Arc::new(column.expect("a dictionary"));
    let field = Field::new("c", column.data_type().clone(), true).with_dict_is_ordered(ordered);
    StructArray::from(vec![(Arc::new(field), column)])
}

fn read(parts: &[StructArray], spec: &Spec) -> Result<String> {
    let field: FieldRef = Arc::new(Field::new("", parts[0].data_type().clone(), false));
    let chunks: Vec<ArrayRef> = parts.iter().map(|part| Arc::new(part.clone()) as ArrayRef).collect();
    let options = ArrowOptions { spec: Some(spec.clone()), ..ArrowOptions::default() };
    let value = from_chunks(&field, &chunks, &options)?.value;
    assert!(spec.accepts(&value.spec()?, &mut extenso_types::Bindings::default()), "{}", value.spec()?);
    Ok(to_literal(&value)?.to_string())
}

#[test]
fn parts_with_words_of_their_own_are_a_value_of_the_spec() {
    let parts = [part(&["x"], &[Some(0)], false), part(&["y", "x"], &[Some(0), Some(1)], false)];
    let all = r#"[{"c": "x"}, {"c": "y"}, {"c": "x"}]"#;
    for codes in [DType::I8, DType::I32, DType::U16, DType::I64] {
        for masked in [false, true] {
            assert_eq!(read(&parts, &records(codes, false, masked)).expect("read"), all, "{codes}, {masked}");
        }
    }
    let parts = [part(&["x"], &[Some(0), None], false), part(&["y"], &[None, Some(0)], false)];
    let all = r#"[{"c": "x"}, {"c": None}, {"c": None}, {"c": "y"}]"#;
    assert_eq!(read(&parts, &records(DType::I32, false, true)).expect("read"), all);
}

#[test]
fn an_order_of_words_is_kept_where_it_is_one() {
    let spec = records(DType::I32, true, false);
    let parts = [part(&["x"], &[Some(0)], true), part(&["x", "a"], &[Some(1)], true)];
    assert_eq!(read(&parts, &spec).expect("read"), r#"[{"c": "x"}, {"c": "a"}]"#);
    let parts = [part(&["x"], &[Some(0)], true), part(&["a", "x"], &[Some(1)], true)];
    let error = read(&parts, &spec).expect_err("two orders").to_string();
    assert!(error.contains("'c'") && error.contains("several orders"), "{error}");
    // Who asks for no order gets none.
    assert_eq!(read(&parts, &records(DType::I8, false, false)).expect("read"), r#"[{"c": "x"}, {"c": "x"}]"#);
}

#[test]
fn more_words_than_the_codes_count_are_an_error() {
    let words = |first: usize| (first..first + 100).map(|i| i.to_string()).collect::<Vec<_>>();
    let part_of = |first| {
        let words = words(first);
        part(&words.iter().map(String::as_str).collect::<Vec<_>>(), &[Some(99)], false)
    };
    let error = read(&[part_of(0), part_of(100)], &records(DType::I8, false, false)).expect_err("too many").to_string();
    assert!(error.contains("'c'") && error.contains("200 categories came"), "{error}");
    assert!(read(&[part_of(0), part_of(28)], &records(DType::I8, false, false)).is_ok());
}

#[test]
fn dictionaries_that_a_stream_replaces_are_of_the_spec() {
    let parts = [part(&["x"], &[Some(0), None], false), part(&["y"], &[Some(0)], false)];
    let DataType::Struct(fields) = parts[0].data_type() else { panic!("records") };
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &Schema::new(fields.clone())).expect("a writer");
    parts.iter().for_each(|part| writer.write(&RecordBatch::from(part.clone())).expect("written"));
    writer.finish().expect("finished");
    drop(writer);
    let spec = records(DType::I16, false, true);
    let options = ArrowOptions { spec: Some(spec.clone()), ..ArrowOptions::default() };
    let value = read_ipc(bytes.into(), &options).expect("read").value;
    assert!(spec.accepts(&value.spec().expect("a spec"), &mut extenso_types::Bindings::default()));
    assert_eq!(to_literal(&value).expect("read").to_string(), r#"[{"c": "x"}, {"c": None}, {"c": "y"}]"#);
}
