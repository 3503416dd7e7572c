//! Arrow in and out: the same addresses, sliced or not, with nulls at every level.

use arrow_array::builder::{Float32Builder, ListBuilder, StringBuilder, StructBuilder};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float32Array, Int8Array, StringArray, StructArray, cast::AsArray,
    types::Float32Type,
};
use arrow_schema::{DataType, Field};
use extenso_core::{ExtensionType, Value, ops};
use extenso_ext::{CategoricalTensor, Literal, MaskedTensor, RaggedTensor, TimestampTensor, constant, to_literal};
use extenso_formats::arrow::{from_arrow, from_arrow_as, to_arrow};
use extenso_formats::{FieldSpec, encode_ndjson, struct_spec};
use extenso_graph::Function;
use extenso_types::{DType, Nest};
use std::sync::Arc;

/// `list<struct<name: utf8, amount: f32>>` with null lists, null structs, null names and null amounts.
fn sample() -> ArrayRef {
    let fields = vec![Field::new("name", DataType::Utf8, true), Field::new("amount", DataType::Float32, true)];
    let children: Vec<Box<dyn arrow_array::builder::ArrayBuilder>> =
        vec![Box::new(StringBuilder::new()), Box::new(Float32Builder::new())];
    let mut lists = ListBuilder::new(StructBuilder::new(fields, children));
    for row in 0..40_usize {
        for item in 0..row % 4 {
            let structs = lists.values();
            let name = (item != 1).then(|| format!("n{row}.{item}"));
            structs.field_builder::<StringBuilder>(0).expect("strings").append_option(name);
            let amount = (row % 3 != 0).then_some(0.5);
            structs.field_builder::<Float32Builder>(1).expect("floats").append_option(amount);
            structs.append((row + item) % 5 != 0);
        }
        lists.append(row % 7 != 0);
    }
    std::sync::Arc::new(lists.finish())
}

fn addresses(array: &dyn Array) -> Vec<Option<(usize, usize)>> {
    let list = array.as_list::<i32>();
    let records = list.values().as_struct();
    let validity = |array: &dyn Array| {
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0)?;
        Some((nulls.inner().values().as_ptr().addr(), nulls.inner().offset()))
    };
    let names = records.column(0).as_string::<i32>();
    let amounts = records.column(1).as_primitive::<Float32Type>();
    vec![
        Some((list.offsets().as_ptr().addr(), 0)),
        validity(list),
        validity(records),
        Some((names.offsets().as_ptr().addr(), 0)),
        Some((names.values().as_ptr().addr(), 0)),
        validity(names),
        Some((amounts.values().as_ptr().addr(), 0)),
        validity(amounts),
    ]
}

#[test]
fn zero_copy_means_the_same_address() {
    let whole = sample();
    for array in [whole.clone(), whole.slice(3, 20), whole.slice(9, 30).slice(8, 1)] {
        let value = from_arrow(&array).expect("comes in");
        let out = to_arrow(&value).expect("goes out");
        assert_eq!(addresses(&out), addresses(&array));
        assert!(addresses(&out)[2..].iter().all(Option::is_some), "the sample has nulls below the lists");
        assert_eq!(&out, &array);
    }
}

#[test]
fn a_sliced_list_keeps_its_partition_as_it_stands() {
    let whole = sample();
    let value = from_arrow(&whole.slice(5, 7)).expect("comes in");
    let masked = MaskedTensor::from_value(&value).expect("null lists");
    let ragged = RaggedTensor::from_value(masked.values()).expect("lists");
    let lengths = ops::row_lengths(ragged.partition()).expect("lengths");
    assert_eq!(lengths.to_string(), "[1, 2, 3, 0, 1, 2, 3]");
}

#[test]
fn a_traced_function_passes_validity_on_as_it_stands() {
    let numbers: Float32Array = (0..100_u8).map(|i| (i % 3 > 0).then(|| f32::from(i))).collect();
    let negative = Function::new("negative", |args| Ok(Nest::Leaf(ops::negative(args.leaves()[0].1)?)));
    // Offsets within a byte, at its border, and after it.
    for (start, len) in [(0, 100), (3, 20), (8, 5), (61, 39)] {
        let array = numbers.slice(start, len);
        let value = from_arrow(&array).expect("comes in");
        let result = negative.call(Nest::Leaf(value)).expect("runs");
        let out = to_arrow(result.leaves()[0].1).expect("goes out");
        let (nulls, given) = (out.nulls().expect("nulls").inner(), array.nulls().expect("nulls").inner());
        assert_eq!(nulls.values().as_ptr(), given.values().as_ptr(), "from {start}");
        assert_eq!((nulls.offset(), nulls.len()), (start, len));
        let wanted: Float32Array = array.iter().map(|number| number.map(|v| -v)).collect();
        assert_eq!(out.as_primitive::<Float32Type>(), &wanted);
    }
    assert_eq!(negative.traces().len(), 1);
}

#[test]
fn every_integer_of_time_keeps_its_buffer() {
    let dates = arrow_array::Date32Array::from(vec![1, 2]);
    let stamps = arrow_array::TimestampMillisecondArray::from(vec![Some(1), None]).with_timezone("UTC");
    let decimals = arrow_array::Decimal128Array::from(vec![15, -20]).with_precision_and_scale(10, 1).expect("decimals");
    let address = |array: &dyn Array| array.to_data().buffers()[0].as_ptr().addr();
    for array in [Arc::new(dates) as ArrayRef, Arc::new(stamps), Arc::new(decimals)] {
        let value = from_arrow(&array).expect("comes in");
        let out = to_arrow(&value).expect("goes out");
        assert_eq!((&out, address(&out)), (&array, address(&array)));
    }
}

#[test]
fn bytes_that_no_string_uses_need_not_be_text() {
    let bytes = arrow_buffer::Buffer::from(&b"\xffab\x80"[..]);
    let offsets = arrow_buffer::Buffer::from_slice_ref([1_i32, 2, 3]);
    let data = arrow_data::ArrayData::builder(DataType::Utf8).len(2).add_buffer(offsets).add_buffer(bytes);
    let array = arrow_array::make_array(data.build().expect("the strings are text"));
    let value = from_arrow(&array).expect("comes in");
    assert_eq!(value.to_string(), "[\"a\", \"b\"]");
    assert_eq!(&to_arrow(&value).expect("goes out"), &array);
}

#[test]
fn axes_without_elements_keep_their_sizes() {
    for dims in [&[2, 3, 0][..], &[2, 0, 3], &[0, 2, 0], &[4, 0, 0]] {
        let value = extenso_core::Tensor::new::<f32>(dims, &[]).expect("no elements").into();
        let array = to_arrow(&value).expect("goes out");
        assert_eq!(array.len(), dims[0]);
        let again = from_arrow(&array).expect("comes in");
        assert_eq!(again.spec().expect("a spec"), value.spec().expect("a spec"));
    }
}

#[test]
fn an_element_of_a_word_that_is_null_is_missing_and_no_word_is_null() {
    let check = |words: &[Option<&str>], codes: &[Option<i8>], text: &str, there: &str, left: &str| {
        let words: ArrayRef = Arc::new(StringArray::from(words.to_vec()));
        let array = DictionaryArray::new(Int8Array::from(codes.to_vec()), words);
        let value = from_arrow(&array).expect("comes in");
        assert_eq!(to_literal(&value).expect("a literal").to_string(), text);
        let masked = MaskedTensor::from_value(&value).expect("masked");
        let categories = CategoricalTensor::from_value(masked.values()).expect("categories");
        assert_eq!((masked.mask().to_string().as_str(), categories.categories().to_string().as_str()), (there, left));
        assert_eq!(categories.codes().dtype(), DType::I8);
        let optional = FieldSpec::Optional(Box::new(FieldSpec::Scalar(DType::String, vec![])));
        let rows = StructArray::try_from(vec![("w", Arc::new(array) as ArrayRef)]).expect("rows");
        let texts = from_arrow_as(&rows, &struct_spec([("w", optional)]).expect("a spec")).expect("strings");
        let lines = |value: Value| encode_ndjson(&Nest::Leaf(value)).expect("written");
        assert_eq!(lines(from_arrow(&rows).expect("comes in")), lines(texts));
    };
    check(&[Some("a"), None], &[Some(0), Some(1), None], r#"["a", None, None]"#, "[True, False, False]", r#"["a"]"#);
    let words = [None, Some("a"), None, Some("b")];
    let codes = [Some(3), Some(2), Some(1), Some(0), Some(3)];
    let text = r#"["b", None, "a", None, "b"]"#;
    check(&words, &codes, text, "[True, False, True, False, True]", r#"["a", "b"]"#);
    check(&[None], &[Some(0), None], "[None, None]", "[False, False]", r#"[""]"#);
}

#[test]
fn what_is_missing_in_lists_of_one_size_goes_out_and_comes_back() {
    let item = |a: Option<i64>| a.map_or(Literal::None, |a| Literal::record([("a", Literal::Int(a))]));
    let rows = [[Some(1), None], [None, Some(2)]].map(|row| Literal::List(row.map(item).into()));
    let records = constant(Literal::List(rows.into())).expect("records");
    let texts = constant(vec![vec![Some("a"), None], vec![None, Some("b")]]).expect("texts");
    let stamps =
        MaskedTensor::from_value(&constant(vec![vec![Some(1_i64), None], vec![None, Some(2)]]).expect("counts"));
    let stamps = stamps.and_then(|counts| {
        let times = TimestampTensor::new(counts.values().tensor()?.clone(), "s", Some("UTC"))?;
        MaskedTensor::new(times.into_value(), counts.mask().clone())
    });
    for value in [records, texts, stamps.expect("times").into_value()] {
        let array = to_arrow(&value).expect("goes out");
        assert_eq!((array.len(), array.null_count()), (2, 0));
        assert_eq!(array.as_fixed_size_list().values().null_count(), 2);
        let again = from_arrow(&array).expect("comes in");
        let literal = |value: &Value| to_literal(value).expect("a literal").to_string();
        assert_eq!(literal(&again), literal(&value));
    }
}

#[test]
fn what_the_field_of_a_dictionary_names_is_the_type_of_its_words() {
    let ids = arrow_array::FixedSizeBinaryArray::try_from_iter([[1_u8; 16], [2; 16]].into_iter()).expect("bytes");
    let yes: ArrayRef = Arc::new(Int8Array::from(vec![0, 1]));
    for (words, name, wanted) in
        [(Arc::new(ids) as ArrayRef, "arrow.uuid", "uuid"), (yes, "arrow.bool8", "Bool8Tensor")]
    {
        let codes = DictionaryArray::new(Int8Array::from(vec![1, 0, 1]), words);
        let named = [("ARROW:extension:name".to_string(), name.to_string())];
        let field = Field::new("", codes.data_type().clone(), true).with_metadata(named.into());
        let value = extenso_formats::arrow::from_arrow_field(&Arc::new(field), &codes).expect("comes in");
        let words = CategoricalTensor::from_value(&value).expect("categories").categories().spec().expect("a spec");
        assert!(words.to_string().contains(wanted), "{words}");
    }
}
