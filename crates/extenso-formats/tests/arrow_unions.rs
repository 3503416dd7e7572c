//! Unions in files and streams of Arrow.
#![cfg(feature = "parquet")]

use arrow_array::{Array, ArrayRef, Int8Array, Int64Array, LargeListArray, ListArray, MapArray, StringArray};
use arrow_array::{StructArray, UnionArray};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields, UnionFields};
use extenso_core::{ExtensionType, Provenance, Tensor, Value, rebuild};
use extenso_ext::{MaskedTensor, RaggedTensor, StructTensor, UnionChild, UnionTensor, to_literal};
use extenso_formats::arrow::{ArrowOptions, from_arrow, read_ipc, to_arrow, write_ipc};
use extenso_formats::{encode_ndjson, encode_parquet, ops};
use extenso_graph::Function;
use extenso_types::{Nest, Result, Shape};
use std::sync::Arc;

fn shown(value: &Value) -> String {
    to_literal(value).expect("a literal").to_string()
}

fn children(numbers: Vec<i64>, texts: Vec<&str>) -> (UnionFields, Vec<ArrayRef>) {
    let fields = [Field::new("n", DataType::Int64, true), Field::new("s", DataType::Utf8, true)];
    let children: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(numbers)), Arc::new(StringArray::from(texts))];
    (UnionFields::try_new([0, 1], fields).expect("fields"), children)
}

/// 1, "a", 2, "b", 3, "c".
fn dense() -> ArrayRef {
    let (fields, children) = children(vec![1, 2, 3], vec!["a", "b", "c"]);
    let (tags, offsets) = (vec![0_i8, 1, 0, 1, 0, 1], vec![0_i32, 0, 1, 1, 2, 2]);
    Arc::new(UnionArray::try_new(fields, tags.into(), Some(offsets.into()), children).expect("a union"))
}

/// The elements of [`dense`].
fn sparse() -> ArrayRef {
    let (fields, children) = children(vec![1, 0, 2, 0, 3, 0], vec!["", "a", "", "b", "", "c"]);
    let tags: ScalarBuffer<i8> = Int8Array::from(vec![0, 1, 0, 1, 0, 1]).values().clone();
    Arc::new(UnionArray::try_new(fields, tags, None, children).expect("a union"))
}

fn item(array: &ArrayRef) -> Arc<Field> {
    Arc::new(Field::new("item", array.data_type().clone(), true))
}

/// Rows of the items 1 to 5, of which the first and the last are in none.
fn list(items: ArrayRef) -> ArrayRef {
    Arc::new(ListArray::new(item(&items), OffsetBuffer::new(vec![1, 2, 4, 5].into()), items, None))
}

fn large_list(items: ArrayRef) -> ArrayRef {
    Arc::new(LargeListArray::new(item(&items), OffsetBuffer::new(vec![1, 2, 4, 5].into()), items, None))
}

fn record(column: ArrayRef) -> ArrayRef {
    Arc::new(StructArray::new(
        Fields::from(vec![Field::new("u", column.data_type().clone(), true)]),
        vec![column],
        None,
    ))
}

fn map(values: ArrayRef) -> ArrayRef {
    let keys: ArrayRef = Arc::new(StringArray::from(vec!["k"; values.len()]));
    let key = Field::new("key", DataType::Utf8, false);
    let fields = Fields::from(vec![key, Field::new("value", values.data_type().clone(), true)]);
    let entries = StructArray::new(fields, vec![keys, values], None);
    let field = Arc::new(Field::new("entries", entries.data_type().clone(), false));
    Arc::new(MapArray::new(field, OffsetBuffer::new(vec![1, 2, 4, 5].into()), entries, None, false))
}

fn written(value: &Value, stream: bool) -> Value {
    let bytes = write_ipc(value, stream).expect("a file");
    read_ipc(bytes.into(), &ArrowOptions::default()).expect("read").value
}

#[test]
fn unions_in_lists_are_read_as_they_were_written_wherever_the_lists_begin() {
    for union in [dense(), sparse()] {
        let rows = list(union.clone());
        let nested = ListArray::new(item(&rows), OffsetBuffer::new(vec![0, 1, 2, 3].into()), rows.clone(), None);
        let kinds = [
            rows,
            large_list(union.clone()),
            map(union.clone()),
            list(record(union.clone())),
            record(list(union.clone())),
            Arc::new(nested),
        ];
        for array in kinds {
            for (from, len) in [(0, 3), (1, 2), (2, 1), (0, 1), (1, 0)] {
                let value = from_arrow(&array.slice(from, len)).expect("comes in");
                for stream in [false, true] {
                    let again = written(&value, stream);
                    assert_eq!(shown(&again), shown(&value), "{} from {from}", array.data_type());
                }
            }
        }
    }
    let value = from_arrow(&list(dense()).slice(1, 2)).expect("comes in");
    assert_eq!(shown(&written(&value, false)), r#"[[2, "b"], [3]]"#);
}

/// 1, None.
fn without_texts() -> ArrayRef {
    let (fields, mut columns) = children(vec![1], vec![""]);
    columns[1] = Arc::new(StringArray::from(vec![None::<&str>]));
    Arc::new(UnionArray::try_new(fields, vec![0_i8, 1].into(), Some(vec![0_i32, 0].into()), columns).expect("a union"))
}

/// Elements 1, "a", 2, "b", 3, "c" of which some are missing by a mask around the union.
fn masked(union: &ArrayRef, there: &[bool]) -> Value {
    let mask = Tensor::bools(&[there.len()], there).expect("a mask");
    MaskedTensor::new(from_arrow(union).expect("comes in"), mask).expect("masked").into_value()
}

#[test]
fn a_union_under_a_mask_is_read_again_by_its_own_spec() {
    for union in [dense(), sparse()] {
        let value = masked(&union, &[true, false, true, true, false, true]);
        let records = StructTensor::from_fields(Shape::known(&[6]), [("u", value)]).expect("records").into_value();
        let bytes = write_ipc(&records, false).expect("a file");
        let spec = records.spec().expect("a spec");
        let options = ArrowOptions { spec: Some(spec.clone()), ..ArrowOptions::default() };
        let again = read_ipc(bytes.clone().into(), &options).expect("read").value;
        assert_eq!((again.spec().expect("a spec"), shown(&again)), (spec, shown(&records)));

        let plain = StructTensor::from_fields(Shape::known(&[6]), [("u", from_arrow(&union).expect("comes in"))]);
        let spec = plain.expect("records").into_value().spec().expect("a spec");
        let options = ArrowOptions { spec: Some(spec), ..ArrowOptions::default() };
        let error = read_ipc(bytes.into(), &options).expect_err("no mask").to_string();
        // Numbers are read first, and row 1 is one of texts.
        assert!(error.starts_with("row 1, 'u[1]': null came."), "{error}");
    }
}

#[test]
fn a_union_below_the_columns_of_a_parquet_file_is_refused_as_one_on_top_is() {
    for union in [dense(), sparse()] {
        let mask = [true, false, true, true, false, true];
        let lists = RaggedTensor::from_row_lengths(masked(&union, &mask), &Tensor::from_vec(vec![4_i64, 2]));
        let plain = from_arrow(&list(record(union.clone()))).expect("comes in");
        let field = StructTensor::from_fields(Shape::known(&[6]), [("u", masked(&union, &mask))]).expect("records");
        for value in
            [from_arrow(&union).expect("comes in"), plain, field.into_value(), lists.expect("rows").into_value()]
        {
            let error = encode_parquet(&Nest::dict([("x", Nest::Leaf(value))])).expect_err("a union").to_string();
            assert!(error.starts_with("column 'x") && error.contains("is a union, which Parquet does not"), "{error}");
        }
        // What is missing in children is missing in no field.
        let column = from_arrow(&record(without_texts())).expect("comes in");
        let error = encode_parquet(&Nest::Leaf(column)).expect_err("a union").to_string();
        assert!(error.contains("is a union, which Parquet does not have"), "{error}");
    }
}

#[test]
fn unions_with_offsets_are_written_as_rows() {
    let (fields, columns) = children(vec![1, 2, 3], vec!["a", "b", "c"]);
    let named = UnionFields::try_new([7, 3], fields.iter().map(|(_, field)| field.as_ref().clone())).expect("fields");
    let (tags, offsets) = (vec![7_i8, 3, 7, 3, 7, 3], vec![0_i32, 0, 1, 1, 2, 2]);
    let ids: ArrayRef =
        Arc::new(UnionArray::try_new(named, tags.into(), Some(offsets.into()), columns).expect("a union"));
    let kinds = |union: &ArrayRef| -> Vec<(ArrayRef, &str)> {
        let plain = "1\n\"a\"\n2\n\"b\"\n3\n\"c\"\n";
        vec![
            (union.clone(), plain),
            (list(union.clone()).slice(1, 2), "[2,\"b\"]\n[3]\n"),
            (record(union.clone()).slice(4, 2), "{\"u\":3}\n{\"u\":\"c\"}\n"),
            (
                map(union.clone()),
                "[{\"key\":\"k\",\"value\":\"a\"}]\n[{\"key\":\"k\",\"value\":2},{\"key\":\"k\",\"value\":\"b\"}]\n[{\"key\":\"k\",\"value\":3}]\n",
            ),
        ]
    };
    for union in [dense(), sparse(), ids] {
        for (array, wanted) in kinds(&union) {
            let value = from_arrow(array.as_ref()).expect("comes in");
            let lines = encode_ndjson(&Nest::Leaf(value.clone())).expect("written");
            assert_eq!(String::from_utf8(lines).expect("text"), wanted, "{}", array.data_type());
            // Records in rows have a text each there.
            if matches!(array.data_type(), DataType::Map(..)) {
                continue;
            }
            let texts = ops::encode_json(&value).expect("encoded");
            let texts = texts.tensor().expect("texts").data().expect("data");
            let lines: String = (0..texts.len()).map(|i| format!("{}\n", texts.str_at(i).expect("a text"))).collect();
            assert_eq!(lines, wanted);
        }
        let value = masked(&union, &[true, false, true, true, false, true]);
        let lines = encode_ndjson(&Nest::Leaf(value)).expect("written");
        assert_eq!(String::from_utf8(lines).expect("text"), "1\nnull\n2\n\"b\"\nnull\n\"c\"\n");
    }
}

#[test]
fn a_union_with_offsets_and_a_child_without_values_is_written() {
    let (fields, columns) = children(vec![1, 2], vec![]);
    let union: ArrayRef = Arc::new(
        UnionArray::try_new(fields, vec![0_i8, 0].into(), Some(vec![1_i32, 0].into()), columns).expect("a union"),
    );
    let lines = encode_ndjson(&Nest::Leaf(from_arrow(union.as_ref()).expect("comes in"))).expect("written");
    assert_eq!(lines, b"2\n1\n");
}

/// Integers of these tags and offsets, put together by a graph.
fn computed(tags: &[i8], offsets: &[i32]) -> Result<Value> {
    let function = Function::new("union", |args| {
        let tensor = |i: usize| args.leaves()[i].1.tensor().cloned();
        let values = Tensor::from_vec(vec![1_i64, 2]).into();
        let child = UnionChild { id: 0, name: "n".into(), values };
        Ok(Nest::Leaf(UnionTensor::new(tensor(0)?, Some(tensor(1)?), vec![child])?.into_value()))
    });
    let args = [Tensor::from_vec(tags.to_vec()), Tensor::from_vec(offsets.to_vec())];
    let made = function.call(Nest::Tuple(args.into_iter().map(|x| Nest::Leaf(x.into())).collect()))?;
    Ok(made.leaves()[0].1.clone())
}

/// The same, and nobody looks at it.
fn trusted(like: &Value, tags: &[i8], offsets: &[i32]) -> Value {
    let (spec, mut components) = like.ext().and_then(|x| Ok((x.spec()?, x.components()?))).expect("a union");
    components[0] = Tensor::from_vec(tags.to_vec()).into();
    components[1] = Tensor::from_vec(offsets.to_vec()).into();
    rebuild(&spec, components, Provenance::Trusted).expect("rebuilt")
}

#[test]
fn a_union_that_a_graph_computed_is_a_value_or_an_error() {
    let fits = computed(&[0, 0, 0], &[0, 1, 1]).expect("a union");
    assert_eq!(shown(&fits), "[1, 2, 2]");
    assert!(to_arrow(&fits).is_ok());
    let odd: [(&[i8], &[i32]); 5] = [(&[0, 0, 0], &[1]), (&[0], &[]), (&[3], &[0]), (&[0], &[2]), (&[0, 0], &[0, -1])];
    for (tags, offsets) in odd {
        assert!(computed(tags, offsets).is_err(), "{tags:?} at {offsets:?}");
        let union = trusted(&fits, tags, offsets);
        assert!(to_literal(&union).is_err() && to_arrow(&union).is_err(), "{tags:?} at {offsets:?}");
        for there in [vec![true; tags.len()], vec![false; tags.len()], vec![true; 4]] {
            let mask = Tensor::bools(&[there.len()], &there).expect("a mask");
            if let Ok(masked) = MaskedTensor::new(union.clone(), mask) {
                let masked = masked.into_value();
                drop((to_literal(&masked), to_arrow(&masked), encode_ndjson(&Nest::Leaf(masked))));
            }
        }
    }
}
