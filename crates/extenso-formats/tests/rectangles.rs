//! Records that are rectangular by their own spec, masked as a whole or inside, in lists and out of them: what was written is read as the
//! components that it had, from every format that can say so.
#![cfg(all(feature = "proto", feature = "parquet", feature = "avro"))]

use extenso_core::{ExtensionType, Tensor, Value};
use extenso_ext::{CategoricalTensor, DateTensor, MaskedTensor, RaggedTensor, StructTensor};
use extenso_formats::arrow::{
    ArrowOptions, from_arrow_field, from_arrow_field_as, read_ipc, to_arrow_field, write_ipc,
};
use extenso_formats::proto::{Messages, Schema};
use extenso_formats::{
    AvroOptions, FieldSpec, OnError, ParquetOptions, ProtobufOptions, decode_ndjson, encode_avro, encode_ndjson,
    encode_parquet, encode_proto, encode_proto_json, read_avro, read_parquet, read_proto, read_proto_json, struct_spec,
};
use extenso_types::{DType, Nest, Result, Shape, Spec};

fn components(value: &Value) -> Vec<String> {
    let mut leaves = Vec::new();
    value.push_leaves(&mut leaves).expect("leaves");
    leaves.iter().map(|leaf| format!("{} {leaf}", leaf.spec().expect("a spec"))).collect()
}

fn check(what: &str, value: &Value, again: impl FnOnce(&Nest<Value>, &Spec) -> Result<Value>) {
    let spec = value.spec().expect("a spec");
    let read = again(&Nest::Leaf(value.clone()), &spec).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(components(&read), components(value), "{what}");
    assert_eq!(read.spec().expect("a spec").to_string(), spec.to_string(), "{what}");
}

fn numbers(dims: &[usize], zeros: &[usize]) -> Value {
    let n: usize = dims.iter().product();
    let all: Vec<i64> = (0..n).map(|i| if zeros.contains(&i) { 0 } else { i as i64 + 1 }).collect();
    Tensor::new::<i64>(dims, &all).expect("numbers").into()
}

fn days(dims: &[usize], zeros: &[usize]) -> Value {
    let n: usize = dims.iter().product();
    let all: Vec<i32> = (0..n).map(|i| if zeros.contains(&i) { 0 } else { i as i32 + 1 }).collect();
    DateTensor::new(Tensor::new::<i32>(dims, &all).expect("days"), "d").expect("days").into_value()
}

fn masked(values: Value, dims: &[usize], there: &[bool]) -> Value {
    MaskedTensor::new(values, Tensor::bools(dims, there).expect("bits")).expect("masked").into_value()
}

fn record(dims: &[usize], fields: Vec<(&'static str, Value)>) -> Value {
    StructTensor::from_fields(Shape::known(dims), fields).expect("records").into_value()
}

fn listed(values: Value, lengths: &[i64]) -> Value {
    RaggedTensor::from_row_lengths(values, &Tensor::from_vec(lengths.to_vec())).expect("rows").into_value()
}

/// Each shape with its name, in three rows.
fn shapes() -> Vec<(&'static str, Value)> {
    let words = || {
        let words = Tensor::strings(&[2], &["b", "a"]).expect("words");
        let codes = Tensor::new::<i8>(&[3, 2], &[0, 1, 0, 0, 1, 0]).expect("codes");
        CategoricalTensor::new(codes, words, false).expect("categories").into_value()
    };
    let pairs = |zeros: &[usize]| record(&[3, 2], vec![("x", numbers(&[3, 2], zeros)), ("day", days(&[3, 2], zeros))]);
    let each = [true, false, true, true, false, true];
    vec![
        ("tensors in lists", listed(numbers(&[4, 2], &[]), &[3, 0, 1])),
        ("tensors of tensors in lists", listed(numbers(&[4, 2, 3], &[]), &[3, 0, 1])),
        ("times in lists", listed(days(&[4, 2], &[]), &[0, 4, 0])),
        ("lists of a size", numbers(&[3, 2, 2], &[])),
        ("words of a size", words()),
        ("a missing tensor", masked(numbers(&[3, 2], &[2, 3]), &[3], &[true, false, true])),
        ("a missing time of a size", masked(days(&[3, 2], &[2, 3]), &[3], &[true, false, true])),
        ("missing elements", masked(numbers(&[3, 2], &[1, 4]), &[3, 2], &each)),
        ("missing times", masked(days(&[3, 2], &[1, 4]), &[3, 2], &each)),
        ("records of a size", pairs(&[])),
        ("records with tensors", record(&[3, 2], vec![("x", numbers(&[3, 2, 2], &[]))])),
        (
            "records with missing fields",
            record(
                &[3, 2],
                vec![("x", masked(numbers(&[3, 2], &[1, 4]), &[3, 2], &each)), ("y", numbers(&[3, 2], &[]))],
            ),
        ),
        ("missing records of a size", masked(pairs(&[1, 4]), &[3, 2], &each)),
        ("records of a size that are missing as one", masked(pairs(&[2, 3]), &[3], &[true, false, true])),
        (
            "records of a size in lists",
            listed(record(&[4, 2], vec![("x", numbers(&[4, 2], &[])), ("day", days(&[4, 2], &[]))]), &[3, 0, 1]),
        ),
        (
            "missing records of a size in lists",
            listed(masked(record(&[3, 2], vec![("x", numbers(&[3, 2], &[1, 4]))]), &[3, 2], &each), &[2, 0, 1]),
        ),
        (
            "records of a size in such",
            record(
                &[3, 2],
                vec![("in", record(&[3, 2, 2], vec![("x", numbers(&[3, 2, 2], &[]))])), ("y", numbers(&[3, 2], &[]))],
            ),
        ),
    ]
}

#[test]
fn rectangles_are_read_from_every_format() {
    let mut odd = Vec::new();
    for (name, value) in shapes() {
        let rows = record(&[3], vec![("v", value), ("id", numbers(&[3], &[]))]);
        let mut check = |what: &str, again: &dyn Fn(&Nest<Value>, &Spec) -> Result<Value>| {
            let all = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                check(&format!("{name} in {what}"), &rows, again)
            }));
            if all.is_err() {
                odd.push(format!("{name} in {what}"));
            }
        };
        check("JSON", &|value, spec| Ok(decode_ndjson(&encode_ndjson(value)?, spec, OnError::Raise)?.value));
        check("Arrow", &|value, spec| {
            let (field, array) = to_arrow_field(value.leaves()[0].1)?;
            from_arrow_field_as(&field, array.as_ref(), spec)
        });
        check("IPC", &|value, spec| {
            let options = ArrowOptions { spec: Some(spec.clone()), ..ArrowOptions::default() };
            Ok(read_ipc(write_ipc(value.leaves()[0].1, false)?.into(), &options)?.value)
        });
        check("Parquet", &|value, spec| {
            let options = ParquetOptions { spec: Some(spec.clone()), ..ParquetOptions::default() };
            Ok(read_parquet(&encode_parquet(value)?.into(), &options)?.value)
        });
        check("Avro", &|value, spec| {
            let options = AvroOptions { spec: Some(spec.clone()), ..AvroOptions::default() };
            Ok(read_avro(&encode_avro(value, Default::default())?[..], &options)?.value)
        });
    }
    assert_eq!(odd, Vec::<String>::new());
}

#[test]
fn repeated_messages_are_records_of_a_size() {
    let text = "syntax = 'proto3'; message Pair { int64 x = 1; optional int64 y = 2; repeated int64 z = 3; }
        message Row { int64 id = 1; repeated Pair v = 2; repeated List w = 3; } message List { repeated Pair v = 1; }";
    let row = Schema::from_text(text).and_then(|schema| schema.message("Row")).expect("a message");
    let y = masked(numbers(&[3, 2], &[1, 4]), &[3, 2], &[true, false, true, true, false, true]);
    let pairs = record(&[3, 2], vec![("x", numbers(&[3, 2], &[])), ("y", y), ("z", numbers(&[3, 2, 2], &[]))]);
    let inner = record(&[4, 2], vec![("x", numbers(&[4, 2], &[]))]);
    let lists = listed(record(&[4], vec![("v", inner)]), &[3, 0, 1]);
    let value = record(&[3], vec![("v", pairs), ("id", numbers(&[3], &[])), ("w", lists)]);
    let of = |spec: &Spec| ProtobufOptions { spec: Some(spec.clone()), ..ProtobufOptions::default() };
    check("messages", &value, |value, spec| {
        let messages = encode_proto(value, &row)?;
        let messages: Vec<Vec<u8>> =
            (0..3).map(|i| messages.data().expect("data").text_at(i).expect("bytes").to_vec()).collect();
        let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        Ok(read_proto(Messages::Each(&messages), &row, &of(spec))?.value)
    });
    check("the JSON of messages", &value, |value, spec| {
        Ok(read_proto_json(&encode_proto_json(value, &row)?, &row, &of(spec))?.value)
    });
}

#[test]
fn an_axis_of_size_zero_loses_no_row() {
    let number = |sizes: &[usize]| FieldSpec::Scalar(DType::I64, sizes.to_vec());
    let item = FieldSpec::Record(vec![("e", number(&[0])), ("n", number(&[]))]);
    let spec = struct_spec([("a", number(&[0, 2])), ("items", FieldSpec::List(Box::new(item)))]).expect("a spec");
    let text = "{\"a\":[],\"items\":[{\"e\":[],\"n\":1},{\"e\":[],\"n\":2}]}\n{\"a\":[],\"items\":[]}\n";
    let value = decode_ndjson(text.as_bytes(), &spec, OnError::Raise).expect("reads").value;
    assert_eq!(String::from_utf8(encode_ndjson(&Nest::Leaf(value)).expect("writes")).expect("text"), text);
    // No other field says how many rows there are.
    let alone = struct_spec([("a", number(&[0]))]).expect("a spec");
    let value = decode_ndjson(b"{\"a\":[]}\n{\"a\":[]}\n", &alone, OnError::Raise).expect("reads").value;
    assert_eq!(value.spec().expect("a spec").to_string(), "StructTensor(a: i64[2, 0], rank=1)");
}

#[test]
fn lists_of_one_size_come_from_arrow_as_axes_whatever_they_hold() {
    let words = Tensor::strings(&[2], &["b", "a"]).expect("words");
    let codes = Tensor::new::<i8>(&[3, 2], &[0, 1, 0, 0, 1, 0]).expect("codes");
    let words = CategoricalTensor::new(codes, words, false).expect("categories").into_value();
    let pairs = record(&[3, 2], vec![("x", numbers(&[3, 2], &[])), ("day", days(&[3, 2], &[]))]);
    let inner = masked(days(&[3, 2], &[1]), &[3, 2], &[true, false, true, true, true, true]);
    for value in [days(&[3, 2], &[]), days(&[2, 2, 3], &[]), days(&[0, 2], &[]), words, pairs, inner] {
        let (field, array) = to_arrow_field(&value).expect("goes out");
        let read = from_arrow_field(&field, array.as_ref()).expect("comes in");
        assert_eq!(components(&read), components(&value));
        assert_eq!(to_arrow_field(&read).expect("goes out").1.data_type(), array.data_type());
    }
    // Rows inside have no size.
    let rows = record(&[6], vec![("l", listed(numbers(&[9], &[]), &[2, 0, 3, 1, 1, 2]))]);
    let rows = to_arrow_field(&rows).expect("goes out").1;
    let item = std::sync::Arc::new(arrow_schema::Field::new("item", rows.data_type().clone(), true));
    let lists = arrow_array::FixedSizeListArray::new(item, 2, rows, None);
    let field = std::sync::Arc::new(arrow_schema::Field::new("", arrow_array::Array::data_type(&lists).clone(), true));
    let read = from_arrow_field(&field, &lists).expect("comes in");
    let text = extenso_ext::to_literal(&read).expect("a literal").to_string();
    assert_eq!(text, r#"[[{"l": [1, 2]}, {"l": []}], [{"l": [3, 4, 5]}, {"l": [6]}], [{"l": [7]}, {"l": [8, 9]}]]"#);
    let again = to_arrow_field(&read).expect("goes out").1;
    let again = extenso_ext::to_literal(&from_arrow_field(&field_of(&again), &again).expect("comes in"));
    assert_eq!(again.expect("a literal").to_string(), text);
}

fn field_of(array: &arrow_array::ArrayRef) -> arrow_schema::FieldRef {
    std::sync::Arc::new(arrow_schema::Field::new("", array.data_type().clone(), true))
}

#[test]
fn nulls_that_nobody_sees_are_of_any_type() {
    let none: arrow_array::ArrayRef = std::sync::Arc::new(arrow_array::NullArray::new(0));
    let item = std::sync::Arc::new(arrow_schema::Field::new("item", arrow_schema::DataType::Null, true));
    let offsets = arrow_buffer::OffsetBuffer::from_lengths([0, 0]);
    let lists: arrow_array::ArrayRef =
        std::sync::Arc::new(arrow_array::ListArray::new(item, offsets, none.clone(), None));
    let of = |array: &arrow_array::ArrayRef, like: Value| {
        from_arrow_field_as(&field_of(array), array, &like.spec().expect("a spec")).map(|value| components(&value))
    };
    let text = || Value::from(Tensor::strings(&[0], &[] as &[&str]).expect("texts"));
    for like in [numbers(&[0], &[]), text(), days(&[0], &[]), record(&[0], vec![("x", text())])] {
        assert_eq!(of(&none, like.clone()).expect("comes in"), components(&like));
        let lists_of = listed(like, &[0, 0]);
        assert_eq!(of(&lists, lists_of.clone()).expect("comes in"), components(&lists_of));
    }
    assert_eq!(
        of(&none, listed(numbers(&[0], &[]), &[])).expect("comes in"),
        components(&listed(numbers(&[0], &[]), &[]))
    );
    let nulls: arrow_array::ArrayRef = std::sync::Arc::new(arrow_array::NullArray::new(1));
    assert!(of(&nulls, numbers(&[1], &[])).expect_err("a null").to_string().contains("null came"));
}

#[test]
fn items_of_lists_that_are_null_are_not_null_themselves() {
    use arrow_array::{Array, ArrayRef, FixedSizeListArray, Float32Array};
    use arrow_schema::Field;
    use std::sync::Arc;
    // As Parquet reads them: below a list that is null, all is.
    let numbers: Float32Array = (0..8_u8).map(|i| (i < 4).then_some(f32::from(i))).collect();
    let lists = |items: ArrayRef, nulls: Vec<bool>, field: Field| -> ArrayRef {
        let field = Arc::new(field.with_data_type(items.data_type().clone()));
        Arc::new(FixedSizeListArray::new(field, 2, items, Some(nulls.into())))
    };
    let plain = || Field::new("item", arrow_schema::DataType::Null, true);
    let named = [("ARROW:extension:name", "arrow.fixed_shape_tensor"), ("ARROW:extension:metadata", "{\"shape\":[2]}")];
    let tensor = plain().with_metadata(named.map(|(key, text)| (key.to_string(), text.to_string())).into());
    for item in [plain(), tensor] {
        let inner = lists(Arc::new(numbers.clone()), vec![true, true, false, false], plain());
        let outer = lists(inner, vec![true, false], item);
        let read = from_arrow_field(&field_of(&outer), outer.as_ref()).expect("comes in");
        let text = extenso_ext::to_literal(&read).expect("a literal").to_string();
        assert_eq!(text, "[[[0.0, 1.0], [2.0, 3.0]], None]");
        let masked = MaskedTensor::from_value(&read).expect("masked");
        assert_eq!(masked.values().spec().expect("a spec").to_string(), "f32[2, 2, 2]");
    }
}

#[test]
fn lists_of_one_size_are_their_items_in_slices_and_chunks() {
    use arrow_array::{Array, ArrayRef, Date32Array, FixedSizeListArray, ListArray, StructArray};
    use extenso_formats::arrow::{from_chunks, to_arrow};
    use std::sync::Arc;
    let days = |missing: usize| -> ArrayRef {
        Arc::new((0..6).map(|i| (usize::try_from(i) != Ok(missing)).then_some(i)).collect::<Date32Array>())
    };
    let records =
        |missing| -> ArrayRef { Arc::new(StructArray::try_from(vec![("a", days(missing))]).expect("records")) };
    let sized = |size, items: ArrayRef, nulls: Option<Vec<bool>>| -> ArrayRef {
        let field = Arc::new(arrow_schema::Field::new("item", items.data_type().clone(), true));
        Arc::new(FixedSizeListArray::new(field, size, items, nulls.map(Into::into)))
    };
    let lists = |items, nulls| sized(2, items, nulls);
    let text = |value: &Value| extenso_ext::to_literal(value).expect("a literal").to_string();
    let one = |array: &ArrayRef| from_arrow_field(&field_of(array), array.as_ref()).expect("comes in");
    for array in [
        lists(days(9), None),
        lists(days(3), None),
        lists(days(3), Some(vec![true, true, false])),
        lists(records(9), Some(vec![true, false, true])),
        lists(records(3), Some(vec![true, true, false])),
        lists(sized(1, records(3), None), None),
    ] {
        let part =
            |from: usize, len: usize| array.slice(from.min(array.len()), len.min(array.len() - from.min(array.len())));
        for sliced in [part(0, 9), part(1, 9), part(0, 1), part(2, 1), part(0, 0)] {
            let again = one(&to_arrow(&one(&sliced)).expect("goes out"));
            assert_eq!(text(&again), text(&one(&sliced)));
        }
        let chunks = [part(1, 9), part(0, 1), part(0, 0), array.clone()];
        let joined = from_chunks(&field_of(&array), &chunks, &ArrowOptions::default()).expect("one value").value;
        let inner = |array: &ArrayRef| text(&one(array)).trim_start_matches('[').trim_end_matches(']').to_string();
        let whole = text(&joined);
        assert!(chunks.iter().all(|chunk| whole.contains(&inner(chunk))), "{whole}");
        assert_eq!(text(&one(&to_arrow(&joined).expect("goes out"))), whole);
        let offsets = arrow_buffer::OffsetBuffer::from_lengths([1, array.len() - 1]);
        let rows: ArrayRef = Arc::new(ListArray::new(field_of(&array), offsets, array.clone(), None));
        assert_eq!(text(&one(&to_arrow(&one(&rows)).expect("goes out"))), text(&one(&rows)));
        let spec = one(&array).spec().expect("a spec");
        let read = from_arrow_field_as(&field_of(&array), array.as_ref(), &spec).expect("is of its spec");
        assert_eq!(text(&read), text(&one(&array)));
    }
}

#[test]
fn paths_say_the_axes_of_records_or_do_not() {
    let inner =
        StructTensor::from_fields(Shape::known(&[2, 3]), [("x", numbers(&[2, 3], &[])), ("y", days(&[2, 3], &[]))]);
    let rows = StructTensor::from_fields(Shape::known(&[2]), [("a", inner.expect("records").into_value())]);
    let value = rows.expect("records").into_value();
    let spec = value.spec().expect("a spec");
    let nest = Nest::Leaf(value.clone());
    let wanted = r#"[{"a": [{"x": 1}, {"x": 2}, {"x": 3}]}, {"a": [{"x": 4}, {"x": 5}, {"x": 6}]}]"#;
    let (columns, avro) =
        (encode_parquet(&nest).expect("writes"), encode_avro(&nest, Default::default()).expect("writes"));
    let ipc = write_ipc(&value, false).expect("writes");
    for (path, spec) in ["a.x", "a[*].x"].into_iter().flat_map(|path| [(path, None), (path, Some(spec.clone()))]) {
        let paths = Some(vec![path.parse().expect("a path")]);
        let options = ParquetOptions { paths: paths.clone(), spec: spec.clone(), ..ParquetOptions::default() };
        let parquet = read_parquet(&columns.clone().into(), &options);
        let options = ArrowOptions { paths: paths.clone(), spec: spec.clone(), ..ArrowOptions::default() };
        let arrow = read_ipc(ipc.clone().into(), &options);
        let avro = read_avro(&avro[..], &AvroOptions { paths, spec, ..AvroOptions::default() });
        for (format, read) in [("parquet", parquet), ("arrow", arrow), ("avro", avro)] {
            let read = read.unwrap_or_else(|e| panic!("{format} {path}: {e}")).value;
            assert_eq!(extenso_ext::to_literal(&read).expect("a literal").to_string(), wanted, "{format} {path}");
        }
    }
}
