//! Laws of Arrow's IPC as a source.

use super::*;
use crate::arrow::{read_ipc, write_ipc};
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int8Array, Int32Array, Int64Array, ListArray, RecordBatch, RunArray, StringArray,
    StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_ipc::MetadataVersion;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field, Schema};
use extenso_core::{Tensor, Value};
use extenso_ext::MaskedTensor;

fn value(rows: &str) -> Value {
    crate::read_json(rows.as_bytes(), &Default::default()).expect("reads").value
}

/// The rows of the tests as a file or a stream of two batches.
fn bytes(stream: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let format = if stream { Format::Arrows } else { Format::Arrow };
    let mut sink =
        open_sink(&SinkOptions { format: Some(format), ..SinkOptions::default() }, Box::new(&mut out)).expect("a sink");
    let (first, rest) = ROWS.split_once('\n').expect("lines");
    let spec = value(ROWS).spec().expect("a spec");
    for rows in [first, rest] {
        let rows = crate::decode_ndjson(rows.as_bytes(), &spec, OnError::Raise).expect("reads").value;
        sink.write(&Nest::Leaf(rows)).expect("writes");
    }
    sink.finish().expect("ends");
    out
}

fn whole(bytes: &[u8]) -> Result<String> {
    let ran = run_bytes(&totals(), bytes, &SourceOptions::default())?;
    Ok(String::from_utf8(encode_ndjson(&ran.value)?).expect("text"))
}

#[test]
fn files_and_streams_give_the_same_results() {
    for stream in [false, true] {
        let good = bytes(stream);
        for bytes in [good.clone(), gzip(&good), zstd(&good), write_ipc(&value(ROWS), stream).expect("writes")] {
            assert_eq!(run(bytes.clone(), &SourceOptions::default()).expect("runs"), TOTALS);
            assert_eq!(whole(&bytes).expect("runs"), TOTALS);
        }
    }
}

#[test]
fn streams_without_the_mark_of_later_ones_are_known() {
    let schema = Schema::new(vec![Field::new("a", DataType::Int64, false)]);
    let rows: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let batch = RecordBatch::try_new(Arc::new(schema), vec![rows]).expect("a batch");
    let options = IpcWriteOptions::try_new(8, true, MetadataVersion::V4).expect("options");
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).expect("a writer");
    writer.write(&batch).expect("writes");
    let old = writer.into_inner().expect("a stream");
    assert_ne!(old[..4], [0xff; 4]);
    assert_eq!(Format::of_head(&old), Some(Format::Arrows));
    for bytes in [old.clone(), gzip(&old)] {
        let found = spec_of_reader(Box::new(Cursor::new(bytes)), &SourceOptions::default(), &Asked::default());
        assert_eq!(found.expect("a spec").to_string(), "StructTensor(a: i64[?], rank=1)");
    }
    // What is cut, and what only begins alike, is none.
    assert_eq!(Format::of_head(&old[..20]), None);
    for other in [&b"{\"a\": 1}\n"[..], b"\x10\0\0\0\x04\0\0\0aaaaaaaaaaaaaaaa", b"\0\0\0\0\0\0\0\0\0\0\0\0"] {
        assert_eq!(Format::of_head(other), None);
    }
}

#[test]
fn a_batch_is_a_block_and_rows_are_counted_over_them() {
    let function = totals();
    let mut source = open_bytes(&function, bytes(true), &SourceOptions::default()).expect("opens");
    let mut rows = Vec::new();
    while let Some(block) = source.next().expect("reads") {
        assert_eq!(block.leaves.iter().flatten().count(), 2);
        rows.push(block.rows);
    }
    assert_eq!(rows, [1, 3]);
}

#[test]
fn only_needed_columns_of_batches_are_looked_at() {
    let odd = write_ipc(&value(r#"{"id": "seven", "items": [{"price": 2.5, "x": 1}], "new": 1}"#), false);
    assert_eq!(whole(&odd.expect("writes")).expect("runs"), "{\"total\":2.5}\n");
    let odd = write_ipc(&value(r#"{"items": [{"price": "free"}]}"#), true).expect("writes");
    for error in [whole(&odd), run(odd, &SourceOptions::default())] {
        let error = error.expect_err("a string").to_string();
        assert!(error.contains("items[*].price") && error.contains("f64"), "{error}");
    }
}

#[test]
fn bad_rows_of_batches_are_told_of() {
    let file = write_ipc(
        &value(
            r#"{"items": [{"price": 2.5}]}
{"items": [{"price": null}]}"#,
        ),
        false,
    );
    let file = file.expect("writes");
    assert!(whole(&file).expect_err("a null").to_string().contains("items[*].price"));
    for (policy, wanted) in
        [(OnError::Skip, "{\"total\":2.5}\n"), (OnError::Default, "{\"total\":2.5}\n{\"total\":0.0}\n")]
    {
        let ran =
            run_bytes(&totals(), &file, &SourceOptions { on_error: policy, ..SourceOptions::default() }).expect("runs");
        assert_eq!(ran.bad.rows, [1]);
        assert_eq!(encode_ndjson(&ran.value).expect("writes"), wanted.as_bytes());
    }
}

#[test]
fn bytes_that_are_cut_or_changed_give_errors() {
    for stream in [false, true] {
        let good = bytes(stream);
        for end in 8..good.len() {
            match (whole(&good[..end]), run(good[..end].to_vec(), &SourceOptions::default())) {
                // A stream may end behind any batch.
                (Ok(a), Ok(b)) => assert!(stream && a == b && TOTALS.starts_with(&a), "{end} of {}", good.len()),
                (Err(a), Err(b)) => assert!(a.is_data() && b.is_data(), "{a} {b}"),
                (a, b) => panic!("{end} of {}: {a:?} {b:?}", good.len()),
            }
        }
        for at in (4..good.len()).step_by(3) {
            let mut bytes = good.clone();
            bytes[at] ^= 0xff;
            // A price, or a column that nobody needs, may have changed; nothing else is promised than that there is no panic.
            drop(whole(&bytes));
        }
    }
}

#[test]
fn no_batch_is_no_row_and_lists_that_are_counted_are_not_read() {
    let spec = value(ROWS).spec().expect("a spec");
    let none = crate::decode_ndjson(b"", &spec, OnError::Raise).expect("reads").value;
    let empty = write_ipc(&none, true).expect("writes");
    assert_eq!(run(empty, &SourceOptions::default()).expect("runs"), "");
    let function = Function::new("counts", |args| {
        let orders = StructTensor::from_value(args.leaves()[0].1)?;
        Ok(Nest::dict([("items", Nest::Leaf(extenso_ext::ragged::num(orders.field("items")?.clone(), 1)?))]))
    });
    let function = function.concrete(&Nest::Leaf(spec)).expect("traces");
    let ran = run_bytes(&function, &bytes(false), &SourceOptions::default()).expect("runs");
    assert_eq!(encode_ndjson(&ran.value).expect("writes"), b"{\"items\":2}\n{\"items\":0}\n{\"items\":1}\n");
}

/// A stream of one column in which a record is missing, by the runs or the words of the column.
fn missing_records(column: ArrayRef) -> Vec<u8> {
    let rows = RecordBatch::try_from_iter([("c", column)]).expect("rows");
    let mut writer = StreamWriter::try_new(Vec::new(), &rows.schema()).expect("a stream");
    writer.write(&rows).and_then(|()| writer.into_inner()).expect("written")
}

#[test]
fn which_records_are_missing_is_read_without_their_fields() {
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None]));
    let inner: ArrayRef = Arc::new(StructArray::try_from(vec![("a", numbers.clone())]).expect("records"));
    let fields = vec![Field::new("a", DataType::Int64, true), Field::new("b", inner.data_type().clone(), true)];
    let nulls = Some(NullBuffer::from(vec![true, false]));
    let records: ArrayRef = Arc::new(StructArray::new(fields.into(), vec![numbers, inner], nulls));
    let runs = RunArray::<Int32Type>::try_new(&Int32Array::from(vec![2, 3]), &records).expect("runs");
    let words = DictionaryArray::new(Int8Array::from(vec![0, 0, 1]), records.clone());

    let optional = |inner| F::Optional(Box::new(inner));
    let number = || optional(F::Scalar(DType::I64, vec![]));
    let inner = F::Record(vec![("a", number())]);
    let spec =
        struct_spec([("c", optional(F::Record(vec![("a", number()), ("b", optional(inner))])))]).expect("a spec");
    let missing = |path: &'static [&'static str]| {
        let function = Function::new("missing", move |args| {
            let field = StructTensor::from_value(args.leaves()[0].1)?.select(path)?;
            Ok(Nest::dict([("there", Nest::Leaf(MaskedTensor::from_value(&field)?.mask().clone().into()))]))
        });
        function.concrete(&Nest::Leaf(spec.clone())).expect("traces")
    };
    let there = "{\"there\":true}\n{\"there\":true}\n{\"there\":false}\n";
    let of = |path, column: ArrayRef| {
        let ran = run_bytes(&missing(path), &missing_records(column), &SourceOptions::default()).expect("runs");
        String::from_utf8(encode_ndjson(&ran.value).expect("writes")).expect("text")
    };
    assert_eq!(of(&["c"], Arc::new(runs.clone())), there);
    assert_eq!(of(&["c"], Arc::new(words)), there);
    assert_eq!(of(&["c", "b"], Arc::new(runs)), there);
}

/// Texts of two batches, of which the second has a missing one, through a run into a format.
fn texts_through(format: Format, on_error: OnError) -> Vec<u8> {
    let texts = F::Scalar(DType::String, vec![]);
    let words = F::List(Box::new(texts.clone()));
    let spec = struct_spec([("s", texts), ("l", words)]).expect("a spec");
    let function = Function::new("same", |args| Ok(Nest::Leaf(args.leaves()[0].1.clone())));
    let function = function.concrete(&Nest::Leaf(spec)).expect("traces");
    let column = |rows: [Option<&str>; 3]| -> ArrayRef { Arc::new(StringArray::from(rows.to_vec())) };
    let lists = |rows: [Option<&str>; 3]| -> ArrayRef {
        let item = Arc::new(Field::new("item", DataType::Utf8, true));
        Arc::new(ListArray::new(item, OffsetBuffer::from_lengths([1, 0, 2]), column(rows), None))
    };
    let rows = |s, l| RecordBatch::try_from_iter_with_nullable([("s", column(s), true), ("l", lists(l), true)]);
    let words = [Some("x"), Some("yy"), Some("zzz")];
    let first = rows([Some("one"), Some("two"), Some("three")], words).expect("rows");
    let second = rows([Some("four"), None, Some("six")], words).expect("rows");
    let mut writer = StreamWriter::try_new(Vec::new(), &first.schema()).expect("a stream");
    let written = writer.write(&first).and_then(|()| writer.write(&second)).and_then(|()| writer.into_inner());
    let options = SourceOptions { on_error, ..SourceOptions::default() };
    let source = open_bytes(&function, written.expect("written"), &options).expect("opens");
    let mut out = Vec::new();
    let sink = SinkOptions { format: Some(format), ..SinkOptions::default() };
    run_blocks(&function, source, open_sink(&sink, Box::new(&mut out)).expect("a sink"), &mut |_, _| Ok(()))
        .expect("runs");
    out
}

#[test]
fn blocks_with_bad_rows_are_written_as_those_without() {
    for on_error in [OnError::Skip, OnError::Default] {
        let wanted = String::from_utf8(texts_through(Format::Json, on_error)).expect("text");
        assert!(wanted.contains(r#""six""#), "{wanted}");
        let arrow = |format| read_ipc(texts_through(format, on_error).into(), &Default::default());
        let parquet = crate::read_parquet(&texts_through(Format::Parquet, on_error).into(), &Default::default());
        for read in [arrow(Format::Arrow), arrow(Format::Arrows), parquet] {
            let lines = encode_ndjson(&Nest::Leaf(read.expect("reads").value)).expect("writes");
            assert_eq!(String::from_utf8(lines).expect("text"), wanted);
        }
    }
}

#[test]
fn categories_may_differ_from_block_to_block() {
    let blocks = [&["b", "a", "b"][..], &["a", "c"], &["c", "d", "a"], &["b"]];
    let block = |texts: &[&str], number: i64| {
        let numbers = Tensor::from_vec(vec![number; texts.len()]);
        let words = extenso_ext::to_categorical(&Tensor::strings(&[texts.len()], texts).expect("texts").into());
        let lengths = Tensor::from_vec(vec![1_i64; texts.len()]);
        let lists = extenso_ext::to_categorical(&numbers.into()).expect("categories");
        let lists = extenso_ext::RaggedTensor::from_row_lengths(lists, &lengths).expect("rows").into_value();
        Nest::dict([("c", Nest::Leaf(words.expect("categories"))), ("l", Nest::Leaf(lists))])
    };
    let mut wanted = Vec::new();
    for (texts, number) in blocks.into_iter().zip([7, 8, 7, 9]) {
        wanted.extend(texts.iter().map(|text| format!("{{\"c\":\"{text}\",\"l\":[{number}]}}\n")));
    }
    let mut formats = vec![Format::Json, Format::Arrow, Format::Arrows, Format::Parquet];
    if cfg!(feature = "avro") {
        formats.push(Format::Avro);
    }
    for format in formats {
        let mut out = Vec::new();
        let options = SinkOptions { format: Some(format), ..SinkOptions::default() };
        let mut sink = open_sink(&options, Box::new(&mut out)).expect("a sink");
        for (texts, number) in blocks.into_iter().zip([7, 8, 7, 9]) {
            sink.write(&block(texts, number)).unwrap_or_else(|e| panic!("{format:?}: {e}"));
        }
        sink.finish().expect("ends");
        let read = match format {
            Format::Json => crate::read_json(&out, &Default::default()),
            Format::Parquet => crate::read_parquet(&out.into(), &Default::default()),
            #[cfg(feature = "avro")]
            Format::Avro => crate::read_avro(&out[..], &Default::default()),
            _ => read_ipc(out.into(), &Default::default()),
        };
        let value = read.unwrap_or_else(|e| panic!("{format:?}: {e}")).value;
        let lines = encode_ndjson(&Nest::Leaf(value)).expect("writes");
        assert_eq!(String::from_utf8(lines).expect("text"), wanted.concat(), "{format:?}");
    }
}
