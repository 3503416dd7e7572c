//! A value that is no record is one column of Parquet and Avro, and is read again by its spec.
#![cfg(all(feature = "parquet", feature = "avro"))]

use extenso_core::{ExtensionType, Tensor, Value};
use extenso_ext::{MaskedTensor, constant, to_literal};
use extenso_formats::{
    AvroOptions, OnError, ParquetOptions, encode_avro, encode_parquet, read_avro, read_json, read_parquet,
    read_parquet_blocks,
};
use extenso_types::{DType, Nest, Result, Shape, Spec, TensorSpec};

fn any_rows(dtype: DType) -> Spec {
    TensorSpec::new(dtype, Shape::new([extenso_types::Dim::any()])).into()
}

fn shown(value: &Value) -> String {
    to_literal(value).expect("a literal").to_string()
}

/// What is read of the file of a value in each format.
fn read(value: &Value, spec: Spec, on_error: OnError) -> [Result<Value>; 2] {
    let nest = Nest::Leaf(value.clone());
    let file = encode_parquet(&nest).expect("writes");
    let options = ParquetOptions { spec: Some(spec.clone()), on_error, ..ParquetOptions::default() };
    let parquet = read_parquet(&file.into(), &options).map(|rows| rows.value);
    let file = encode_avro(&nest, Default::default()).expect("writes");
    let options = AvroOptions { spec: Some(spec), on_error, ..AvroOptions::default() };
    [parquet, read_avro(&file[..], &options).map(|rows| rows.value)]
}

#[test]
fn a_value_that_is_no_record_is_read_by_its_spec() {
    let records = |text: &str| read_json(text.as_bytes(), &Default::default()).expect("reads").value;
    let mask = Tensor::bools(&[2], &[true, false]).expect("a mask");
    let masked = |values: Value| MaskedTensor::new(values, mask.clone()).expect("masked").into_value();
    for value in [
        Tensor::from_vec(vec![1_i64, 2]).into(),
        constant(vec![vec!["a", "b"], vec![]]).expect("rows"),
        Tensor::new::<f32>(&[2, 2], &[1.0, 2.0, 3.0, 4.0]).expect("numbers").into(),
        masked(Tensor::from_vec(vec![1_i64, 2]).into()),
        masked(records("{\"a\": 1}\n{\"a\": 2}")),
    ] {
        for again in read(&value, value.spec().expect("a spec"), OnError::Raise) {
            assert_eq!(shown(&again.expect("reads")), shown(&value));
        }
    }
    let value = Tensor::from_vec(vec![1_i32, 2]).into();
    for again in read(&value, any_rows(DType::F64), OnError::Raise) {
        assert_eq!(shown(&again.expect("reads")), "[1.0, 2.0]");
    }
}

#[test]
fn a_row_of_the_only_column_that_is_missing_is_a_bad_row() {
    let mask = Tensor::bools(&[3], &[true, false, true]).expect("a mask");
    let value = MaskedTensor::new(Tensor::from_vec(vec![1_i64, 2, 3]), mask).expect("masked").into_value();
    for again in read(&value, any_rows(DType::I64), OnError::Skip) {
        assert_eq!(shown(&again.expect("reads")), "[1, 3]");
    }
    for again in read(&value, any_rows(DType::I64), OnError::Raise) {
        let error = again.expect_err("a null").to_string();
        assert!(error.contains("row 1"), "{error}");
    }
}

#[test]
fn blocks_of_the_only_column_are_the_whole() {
    let file = encode_parquet(&Nest::Leaf(Tensor::from_vec(vec![1_i64, 2, 3]).into())).expect("writes");
    let options = ParquetOptions { spec: Some(any_rows(DType::I64)), ..ParquetOptions::default() };
    let blocks = read_parquet_blocks(&file.into(), 2, options).expect("opens");
    let blocks: Vec<String> = blocks.map(|block| shown(&block.expect("reads").value)).collect();
    assert_eq!(blocks, ["[1, 2]", "[3]"]);
}

#[test]
fn several_columns_are_no_value_without_fields() {
    let value = read_json(b"{\"a\": 1, \"b\": 2}", &Default::default()).expect("reads").value;
    for again in read(&value, any_rows(DType::I64), OnError::Raise) {
        let error = again.expect_err("two columns").to_string();
        assert!(error.contains("2 columns") && error.contains("one, for a value that is i64[?]"), "{error}");
    }
}

#[test]
fn uuids_and_json_texts_say_to_other_readers_what_they_are() {
    use extenso_ext::{FixedBytesTensor, JsonTensor, RaggedTensor, StructTensor};
    use parquet::basic::LogicalType;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let bytes: Vec<u8> = (0..32).collect();
    let ids = FixedBytesTensor::new(Tensor::new::<u8>(&[2, 16], &bytes).expect("bytes"), Some("uuid"));
    let ids = ids.expect("ids").into_value();
    let texts = JsonTensor::new(Tensor::strings(&[2], &["{}", "[1]"]).expect("texts")).expect("texts").into_value();
    let lengths = Tensor::from_vec(vec![0_i64, 2]);
    let lists = RaggedTensor::from_row_lengths(ids.clone(), &lengths).expect("lists").into_value();
    let mask = Tensor::bools(&[2], &[true, false]).expect("a mask");
    let masked = MaskedTensor::new(texts.clone(), mask).expect("masked").into_value();
    let plain = Tensor::from_vec(vec![1_i64, 2]).into();
    let fields = [("n", plain), ("id", ids), ("text", texts), ("ids", lists), ("maybe", masked)];
    let value = StructTensor::from_fields(Shape::known(&[2]), fields).expect("records").into_value();
    let file = encode_parquet(&Nest::Leaf(value.clone())).expect("writes");
    let reader = SerializedFileReader::new(bytes::Bytes::from(file.clone())).expect("a file");
    let columns = reader.metadata().file_metadata().schema_descr().columns().to_vec();
    let said: Vec<Option<LogicalType>> = columns.iter().map(|column| column.logical_type_ref().cloned()).collect();
    let (uuid, json) = (Some(LogicalType::Uuid), Some(LogicalType::Json));
    assert_eq!(said, [None, uuid.clone(), json.clone(), uuid, json]);
    let again = read_parquet(&file.clone().into(), &ParquetOptions::default()).expect("reads").value;
    assert_eq!(again.spec().expect("a spec").to_string(), value.spec().expect("a spec").to_string());
    assert_eq!(shown(&again), shown(&value));
    // In blocks, which the crate decodes.
    let blocks = read_parquet_blocks(&file.into(), 1, ParquetOptions::default()).expect("opens");
    let blocks: Vec<Value> = blocks.map(|block| block.expect("reads").value).collect();
    assert_eq!(shown(&extenso_core::ops::concat(blocks, 0_i64).expect("joined")), shown(&value));
}
