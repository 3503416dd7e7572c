//! Categories that have an order keep it in Parquet, which has none.
#![cfg(feature = "parquet")]

use extenso_core::{ExtensionType, Tensor, Value};
use extenso_ext::{CategoricalTensor, MaskedTensor, RaggedTensor, StructTensor, to_literal};
use extenso_formats::parquet::ParquetWriter;
use extenso_formats::{ParquetOptions, encode_parquet, read_parquet, read_parquet_blocks};
use extenso_types::{Nest, Shape};

fn categories(words: &[&str], codes: &[i8]) -> Value {
    let codes = Tensor::new::<i8>(&[codes.len()], codes).expect("codes");
    let words = Tensor::strings(&[words.len()], words).expect("words");
    CategoricalTensor::new(codes, words, true).expect("categories").into_value()
}

fn records(fields: Vec<(&'static str, Value)>, rows: usize) -> Value {
    StructTensor::from_fields(Shape::known(&[rows]), fields).expect("records").into_value()
}

fn shown(value: &Value) -> String {
    to_literal(value).expect("a literal").to_string()
}

fn spec(value: &Value) -> String {
    value.spec().expect("a spec").to_string()
}

#[test]
fn ordered_categories_are_read_as_they_were_written() {
    let words = ["low", "mid", "high \"é\"", "none"];
    let column = categories(&words, &[2, 0, 1, 0]);
    let mask = Tensor::bools(&[4], &[true, false, true, true]).expect("a mask");
    let masked = MaskedTensor::new(column.clone(), mask).expect("masked").into_value();
    let lengths = Tensor::from_vec(vec![2_i64, 0, 1, 1]);
    let lists = RaggedTensor::from_row_lengths(column.clone(), &lengths).expect("lists").into_value();
    let inner = records(vec![("d", column.clone())], 4);
    let value = records(vec![("c", column), ("m", masked), ("l", lists), ("r", inner)], 4);
    let file = encode_parquet(&Nest::Leaf(value.clone())).expect("writes");
    let again = read_parquet(&file.clone().into(), &ParquetOptions::default()).expect("reads").value;
    assert_eq!((spec(&again), shown(&again)), (spec(&value), shown(&value)));
    let by_spec = ParquetOptions { spec: Some(value.spec().expect("a spec")), ..ParquetOptions::default() };
    let again = read_parquet(&file.clone().into(), &by_spec).expect("reads").value;
    assert_eq!(shown(&again), shown(&value));
    let blocks = read_parquet_blocks(&file.into(), 3, ParquetOptions::default()).expect("opens");
    let blocks: Vec<Value> = blocks.map(|block| block.expect("reads").value).collect();
    assert!(
        blocks.iter().all(|block| spec(block).contains("categories: string[4], ordered=True")),
        "{}",
        spec(&blocks[0])
    );
    assert_eq!(shown(&extenso_core::ops::concat(blocks, 0_i64).expect("joined")), shown(&value));
}

#[test]
fn batches_of_several_orders_have_none() {
    let written = |batches: &[(&[&str], &[i8])]| {
        let mut writer = ParquetWriter::new(Vec::new());
        for (words, codes) in batches {
            writer.write(&Nest::Leaf(records(vec![("c", categories(words, codes))], codes.len()))).expect("writes");
        }
        let file = writer.finish().expect("ends");
        read_parquet(&file.into(), &ParquetOptions::default()).expect("reads").value
    };
    let one = written(&[(&["a", "b"], &[1, 0]), (&["a", "b", "c"], &[2, 0])]);
    assert!(spec(&one).contains("categories: string[3], ordered=True"), "{}", spec(&one));
    assert_eq!(shown(&one), r#"[{"c": "b"}, {"c": "a"}, {"c": "c"}, {"c": "a"}]"#);
    let two = written(&[(&["a", "b"], &[1, 0]), (&["b", "a"], &[1, 1])]);
    assert!(spec(&two).contains("ordered=False"), "{}", spec(&two));
    assert_eq!(shown(&two), r#"[{"c": "b"}, {"c": "a"}, {"c": "a"}, {"c": "a"}]"#);
}

#[test]
fn no_rows_have_their_categories() {
    let value = records(vec![("c", categories(&["a", "b"], &[]))], 0);
    let file = encode_parquet(&Nest::Leaf(value.clone())).expect("writes");
    let again = read_parquet(&file.into(), &ParquetOptions::default()).expect("reads").value;
    assert_eq!(spec(&again), spec(&value));
}
