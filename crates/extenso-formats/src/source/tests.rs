//! Laws of sources: one function, one result, whatever the records are stored as.
// Without messages, the format is all that the options of a sink say.
#![allow(clippy::needless_update)]

mod arrays;
#[cfg(feature = "parquet")]
mod arrow;
#[cfg(all(feature = "parquet", feature = "avro", feature = "proto"))]
mod look;
#[cfg(feature = "proto")]
mod messages;
#[cfg(all(feature = "parquet", target_os = "linux"))]
mod pipes;

use super::*;
use crate::{FieldSpec as F, encode_ndjson, struct_spec};
use extenso_core::{ExtensionType, Provenance, ops, pack};
use extenso_ext::StructTensor;
use extenso_graph::Function;
use extenso_types::{DType, Nest};
use std::io::Write;

const ROWS: &str = r#"{"id": 1, "items": [{"price": 2.5, "sku": "a"}, {"price": 1.5, "sku": "b"}], "note": null}
{"id": 2, "items": [], "note": "x"}
{"id": 3, "items": [{"price": 4.0, "sku": ""}], "note": "y"}
"#;

/// The sum of the prices of each order: two leaves of six are needed.
fn totals() -> Arc<Concrete> {
    let scalar = |dtype| F::Scalar(dtype, vec![]);
    let item = F::Record(vec![("price", scalar(DType::F64)), ("sku", scalar(DType::String))]);
    let note = F::Optional(Box::new(scalar(DType::String)));
    let fields = [("id", scalar(DType::I64)), ("items", F::List(Box::new(item))), ("note", note)];
    let spec = struct_spec(fields).expect("a spec");
    let function = Function::new("totals", |args| {
        let orders = StructTensor::from_value(args.leaves()[0].1)?;
        let prices = orders.field_value(&"items[*].price".parse()?)?;
        Ok(Nest::dict([("total", Nest::Leaf(ops::sum(&prices, 1, false)?))]))
    });
    function.concrete(&Nest::Leaf(spec)).expect("traces")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(bytes).and_then(|()| writer.finish()).expect("packs")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).expect("packs")
}

fn run(bytes: Vec<u8>, options: &SourceOptions) -> Result<String> {
    let function = totals();
    let mut out = Vec::new();
    let source = open_bytes(&function, bytes, options)?;
    run_blocks(&function, source, Box::new(NdjsonSink(&mut out)), &mut |_, _| Ok(()))?;
    Ok(String::from_utf8(out).expect("text"))
}

#[test]
fn a_run_that_gets_no_thread_gives_the_same() {
    let function = totals();
    for (bytes, fits) in [(ROWS.to_owned(), true), (format!("{ROWS}{{\n{ROWS}"), false)] {
        let [beside, alone] = [1 << 20, usize::MAX >> 4].map(|stack| {
            let mut out = Vec::new();
            let options = SourceOptions { block: 64, ..SourceOptions::default() };
            let source = open_bytes(&function, bytes.clone().into_bytes(), &options).expect("opens");
            let thread = std::thread::Builder::new().stack_size(stack);
            let sink = Box::new(NdjsonSink(&mut out));
            let done = run::run_beside(thread, &function, source, sink, &mut |_, _| Ok(()));
            (done.map_err(|e| e.to_string()), String::from_utf8(out).expect("text"))
        });
        assert_eq!(beside, alone);
        assert_eq!((beside.0.is_ok(), &*beside.1), (fits, TOTALS));
    }
}

const TOTALS: &str = "{\"total\":4.0}\n{\"total\":0.0}\n{\"total\":4.0}\n";

#[test]
fn every_storage_gives_the_same_results() {
    let array = format!("[{}]", ROWS.trim_end().replace('\n', ","));
    let value = crate::read_json(ROWS.as_bytes(), &Default::default()).expect("reads").value;
    let mut sources = vec![ROWS.as_bytes().to_vec(), array.into_bytes()];
    #[cfg(feature = "parquet")]
    sources.push(crate::encode_parquet(&Nest::Leaf(value.clone())).expect("writes"));
    let packed: Vec<Vec<u8>> = sources.iter().flat_map(|bytes| [gzip(bytes), zstd(bytes)]).collect();
    sources.extend(packed);
    for bytes in sources {
        for block in [1, 100, BLOCK] {
            let options = SourceOptions { block, ..SourceOptions::default() };
            assert_eq!(run(bytes.clone(), &options).expect("runs"), TOTALS);
        }
    }
    drop(encode_ndjson(&Nest::Leaf(value)).expect("writes"));
}

#[cfg(feature = "parquet")]
#[test]
fn only_needed_columns_are_looked_at() {
    // Another type in a column that is not needed, one that the function does not know, and none of one that it does not need.
    let rows = r#"{"id": "seven", "items": [{"price": 2.5, "x": 1}], "new": 1}"#;
    let value = crate::read_json(rows.as_bytes(), &Default::default()).expect("reads").value;
    let file = crate::encode_parquet(&Nest::Leaf(value)).expect("writes");
    let ran = run_parquet(&totals(), &file.clone().into(), OnError::Raise).expect("runs");
    assert_eq!(ran.visited, [("items[*].price".parse().expect("a path"), 1)]);
    assert_eq!(run(file, &SourceOptions::default()).expect("runs"), "{\"total\":2.5}\n");
    let odd = r#"{"items": [{"price": "free"}]}"#;
    let value = crate::read_json(odd.as_bytes(), &Default::default()).expect("reads").value;
    let error = run(crate::encode_parquet(&Nest::Leaf(value)).expect("writes"), &SourceOptions::default());
    let error = error.expect_err("a string").to_string();
    assert!(error.contains("items[*].price") && error.contains("f64"), "{error}");
}

#[cfg(feature = "parquet")]
#[test]
fn what_is_only_counted_is_not_read() {
    let scalar = |dtype| F::Scalar(dtype, vec![]);
    let item = F::Record(vec![("price", scalar(DType::F64)), ("sku", scalar(DType::String))]);
    let user = F::Optional(Box::new(F::Record(vec![("name", scalar(DType::String))])));
    let deep = F::List(Box::new(F::Record(vec![("parts", F::List(Box::new(item.clone())))])));
    let fields = [("items", F::List(Box::new(item))), ("user", user), ("deep", deep)];
    let function = Function::new("counts", |args| {
        let orders = StructTensor::from_value(args.leaves()[0].1)?;
        let counted =
            |path: &str| Ok::<_, Error>(Nest::Leaf(extenso_ext::ragged::num(orders.field(path)?.clone(), 1)?));
        Ok(Nest::dict([("items", counted("items")?), ("deep", counted("deep")?)]))
    });
    let function = function.concrete(&Nest::Leaf(struct_spec(fields).expect("a spec"))).expect("traces");
    let rows = r#"{"items": [{"other": null}, {"other": 1}], "user": {"n": 1}, "deep": [{"parts": [{"x": 1}]}]}
{"items": [], "user": null, "deep": []}"#;
    let value = crate::read_json(rows.as_bytes(), &Default::default()).expect("reads").value;
    let file = crate::encode_parquet(&Nest::Leaf(value)).expect("writes");
    let ran = run_parquet(&function, &file.into(), OnError::Raise).expect("runs");
    let text = String::from_utf8(encode_ndjson(&ran.value).expect("writes")).expect("text");
    assert_eq!(text, "{\"deep\":1,\"items\":2}\n{\"deep\":0,\"items\":0}\n");
    assert_eq!(ran.visited.len(), 2);
}

#[test]
fn bad_rows_are_counted_over_blocks() {
    let rows = format!("{ROWS}{{\"items\": 7}}\n").repeat(3);
    let options = SourceOptions { block: 64, on_error: OnError::Skip, ..SourceOptions::default() };
    let function = totals();
    let mut numbers = Vec::new();
    let source = open_bytes(&function, gzip(rows.as_bytes()), &options).expect("opens");
    let mut out = Vec::new();
    let done = run_blocks(&function, source, Box::new(NdjsonSink(&mut out)), &mut |_, bad| {
        numbers.extend(&bad.rows);
        Ok(())
    });
    let done = done.expect("runs");
    assert_eq!((done.rows, done.bad, numbers), (12, 3, vec![3, 7, 11]));
    assert_eq!(done.first[1].row, 7);
    assert_eq!(String::from_utf8(out).expect("text"), TOTALS.repeat(3));
}

#[test]
fn packed_bytes_that_are_malformed_give_errors() {
    let good = [gzip(ROWS.as_bytes()), zstd(ROWS.as_bytes())];
    for (bytes, name) in good.iter().zip(["gzip", "zstd"]) {
        for end in [4, bytes.len() / 2, bytes.len() - 1] {
            let error = run(bytes[..end].to_vec(), &SourceOptions::default()).expect_err("cut short");
            assert!(error.is_data() && error.to_string().contains(name), "{error}");
        }
    }
}

#[test]
fn what_stands_around_packed_bytes_is_passed_over() {
    let (packed, more) = (gzip(ROWS.as_bytes()), zstd(ROWS.as_bytes()));
    let zeros = vec![0; 1 << 18];
    let frame = [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"any"].concat();
    let twice = TOTALS.repeat(2);
    for (bytes, wanted) in [
        (vec![&packed[..], &zeros], TOTALS),
        (vec![&packed, &zeros[..7], &packed, &zeros[..1]], &twice),
        (vec![&frame, &more], TOTALS),
        (vec![&more, &frame, &frame, &more], &twice),
    ] {
        assert_eq!(run(bytes.concat(), &SourceOptions::default()).expect("runs"), wanted);
    }
    for behind in [&b"\0x"[..], b"x"] {
        let error = run([&packed, behind].concat(), &SourceOptions::default()).expect_err("no member").to_string();
        assert!(error.contains("gzip"), "{error}");
    }
}

#[test]
fn a_bomb_is_refused_whole_and_streamed_in_blocks() {
    let blank = vec![b' '; 1 << 20];
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    (0..80).for_each(|_| writer.write_all(&blank).and_then(|()| writer.write_all(b"\n")).expect("packs"));
    let bomb = writer.finish().expect("packs");
    let error = unpack(&bomb).expect_err("too much").to_string();
    assert!(error.contains("at most 200 times as many, or 64 MB") && error.contains("blocks"), "{error}");
    assert_eq!(run(bomb, &SourceOptions::default()).expect("runs"), "");
}

#[test]
fn what_few_packed_bytes_hold_of_one_block_has_a_bound() {
    let blank = vec![b' '; 1 << 20];
    let long = |begin: &[u8], end: &[u8]| {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        writer.write_all(begin).expect("packs");
        (0..80).for_each(|_| writer.write_all(&blank).expect("packs"));
        writer.write_all(end).expect("packs");
        writer.finish().expect("packs")
    };
    let lines = long(b"{\"id\": 1, \"unknown\": \"", b"\"}\n");
    let array = long(b"[{\"id\": 1}", b"]");
    for bytes in [lines, array] {
        let error = run(bytes, &SourceOptions::default()).expect_err("80 MB at once").to_string();
        assert!(error.contains("rows of at most 200 times as many, or 64 MB"), "{error}");
    }
}

#[test]
fn tables_are_sources_and_sinks() {
    let scalar = |dtype| F::Scalar(dtype, vec![]);
    let fields = [("a", scalar(DType::F64)), ("b", scalar(DType::F64)), ("s", scalar(DType::String))];
    let function = Function::new("sums", |args| {
        let rows = StructTensor::from_value(args.leaves()[0].1)?;
        Ok(Nest::dict([("sum", Nest::Leaf(ops::add(rows.field("a")?, rows.field("b")?)?))]))
    });
    let function = function.concrete(&Nest::Leaf(struct_spec(fields).expect("a spec"))).expect("traces");
    let run = |text: &str, block: usize| {
        let options = SourceOptions { format: Some(Format::Csv), block, ..SourceOptions::default() };
        let source = open_bytes(&function, gzip(text.as_bytes()), &options)?;
        let mut out = Vec::new();
        let options = SinkOptions { format: Some(Format::Csv), ..SinkOptions::default() };
        let sink = open_sink(&options, Box::new(&mut out))?;
        run_blocks(&function, source, sink, &mut |_, _| Ok(()))?;
        Ok::<_, Error>(String::from_utf8(out).expect("text"))
    };
    for block in [1, 1000] {
        assert_eq!(run("a,other,b\n1,x,2.5\n3,y,4\n", block).expect("runs"), "sum\n3.5\n7.0\n");
        assert_eq!(run("a,b\n", block).expect("runs"), "sum\n");
    }
    let error = run("a\n1\n", 10).expect_err("a column is missing").to_string();
    assert!(error.contains("there is no column 'b'"), "{error}");
}

#[cfg(feature = "parquet")]
#[test]
fn results_go_into_files_of_every_format() {
    let (dir, function) = (tempfile::tempdir().expect("a directory"), totals());
    let run = |name: &str| {
        let path = dir.path().join(name);
        let options = SourceOptions { block: 80, ..SourceOptions::default() };
        let source = open_bytes(&function, ROWS.as_bytes().to_vec(), &options).expect("opens");
        run_to_file(&function, source, &path, &SinkOptions::default(), &mut |_, _| Ok(())).expect("runs");
        std::fs::read(path).expect("written")
    };
    assert_eq!(run("out.ndjson"), TOTALS.as_bytes());
    assert_eq!(run("out.csv"), b"total\n4.0\n0.0\n4.0\n");
    let read = crate::read_parquet(&run("out.parquet").into(), &Default::default()).expect("reads").value;
    assert_eq!(encode_ndjson(&Nest::Leaf(read)).expect("writes"), TOTALS.as_bytes());
    let file = std::io::Cursor::new(run("out.arrow"));
    let batches = arrow_ipc::reader::FileReader::try_new(file, None).expect("a file");
    assert_eq!(batches.map(|batch| batch.expect("a batch").num_rows()).sum::<usize>(), 3);
    assert_eq!(std::fs::read_dir(dir.path()).expect("listed").count(), 4);
}

#[cfg(feature = "parquet")]
#[test]
fn no_records_give_a_file_of_no_rows_with_its_columns() {
    let (dir, function) = (tempfile::tempdir().expect("a directory"), totals());
    for none in [b"".to_vec(), b"\n\n".to_vec(), b"[]".to_vec(), gzip(b""), zstd(b"")] {
        let run = |name: &str| {
            let (path, options) = (dir.path().join(name), SourceOptions::default());
            let source = open_bytes(&function, none.clone(), &options).expect("opens");
            let done =
                run_to_file(&function, source, &path, &SinkOptions::default(), &mut |_, _| Ok(())).expect("runs");
            assert_eq!((done.rows, done.bad), (0, 0));
            std::fs::read(path).expect("written")
        };
        assert_eq!((run("out.ndjson"), run("out.csv")), (b"".to_vec(), b"total\n".to_vec()));
        let columns = |value: Value| value.spec().expect("a spec").to_string();
        let parquet = crate::read_parquet(&run("out.parquet").into(), &Default::default()).expect("reads").value;
        assert_eq!(columns(parquet), "StructTensor(total: f64[0], rank=1)");
        let names =
            |schema: arrow_schema::SchemaRef| schema.fields().iter().map(|f| f.name().clone()).collect::<Vec<_>>();
        let file = std::io::Cursor::new(run("out.arrow"));
        let file = arrow_ipc::reader::FileReader::try_new(file, None).expect("a file");
        let stream = std::io::Cursor::new(run("out.arrows"));
        let stream = arrow_ipc::reader::StreamReader::try_new(stream, None).expect("a stream");
        assert_eq!((names(file.schema()), names(stream.schema())), (vec!["total".into()], vec!["total".into()]));
        let rows = file.chain(stream).map(|batch| batch.expect("a batch").num_rows());
        assert_eq!(rows.sum::<usize>(), 0);
    }
}

#[cfg(feature = "parquet")]
#[test]
fn a_function_reads_a_part_of_a_map() {
    use arrow_array::builder::{Int64Builder, MapBuilder, MapFieldNames, StringBuilder};
    let names = MapFieldNames { entry: "entries".into(), key: "key".into(), value: "value".into() };
    let mut map = MapBuilder::new(Some(names), StringBuilder::new(), Int64Builder::new());
    for row in [&[("k", 1), ("l", 2)][..], &[]] {
        row.iter().for_each(|(key, value)| {
            map.keys().append_value(key);
            map.values().append_value(*value);
        });
        map.append(true).expect("entries");
    }
    let map = Arc::new(map.finish()) as arrow_array::ArrayRef;
    let ids = Arc::new(arrow_array::Int64Array::from(vec![7, 8])) as arrow_array::ArrayRef;
    let batch = arrow_array::RecordBatch::try_from_iter([("m", map), ("id", ids)]).expect("columns");
    let mut file = Vec::new();
    let mut writer = ::parquet::arrow::ArrowWriter::try_new(&mut file, batch.schema(), None).expect("a writer");
    writer.write(&batch).and_then(|()| writer.close()).expect("writes");

    let scalar = |dtype| F::Scalar(dtype, vec![]);
    let entry = F::Record(vec![("key", scalar(DType::String)), ("value", F::Optional(Box::new(scalar(DType::I64))))]);
    let spec = struct_spec([("id", scalar(DType::I64)), ("m", F::List(Box::new(entry)))]).expect("a spec");
    let run = |wanted: &'static str| {
        let function = Function::new("part", move |args| {
            let rows = StructTensor::from_value(args.leaves()[0].1)?;
            let part = match wanted {
                "rows" => extenso_ext::ragged::num(rows.field("m")?.clone(), 1)?,
                path => rows.field_value(&path.parse()?)?,
            };
            Ok(Nest::dict([("part", Nest::Leaf(part)), ("id", Nest::Leaf(rows.field("id")?.clone()))]))
        });
        let function = function.concrete(&Nest::Leaf(spec.clone())).expect("traces");
        let whole = run_bytes(&function, &file, &SourceOptions::default()).expect("runs").value;
        let (mut out, options) = (Vec::new(), SourceOptions::default());
        let source = open_bytes(&function, file.clone(), &options).expect("opens");
        run_blocks(&function, source, Box::new(NdjsonSink(&mut out)), &mut |_, _| Ok(())).expect("runs");
        assert_eq!(encode_ndjson(&whole).expect("writes"), out);
        String::from_utf8(out).expect("text").replace('\n', " ")
    };
    assert_eq!(run("m[*].value"), r#"{"id":7,"part":[1,2]} {"id":8,"part":[]} "#);
    assert_eq!(run("m[*].key"), r#"{"id":7,"part":["k","l"]} {"id":8,"part":[]} "#);
    assert_eq!(run("rows"), r#"{"id":7,"part":2} {"id":8,"part":0} "#);
}

#[test]
fn a_table_in_blocks_is_the_whole_table() {
    let scalar = |dtype| F::Scalar(dtype, vec![]);
    let spec = struct_spec([("a", scalar(DType::I64)), ("b", scalar(DType::String))]).expect("a spec");
    let function = Function::new("rows", |args| Ok(Nest::Leaf(args.leaves()[0].1.clone())));
    let function = function.concrete(&Nest::Leaf(spec.clone())).expect("traces");
    let rows = ["1,x\n", "2,\"y\n\"\n", "\n3,\"\"\"\"\r\n", "bad,\"\r\n\"\r", "4,\n", "5,\"a,b\"", "\n6,z"].concat();
    for text in [
        format!("a,b\n{rows}"),
        format!("\u{feff}\"a\",\"b\"\r\n{rows}"),
        format!("\u{feff}\n\n\r\n\n\r\ra,b\n{rows}\n\n"),
    ] {
        let options =
            crate::csv::CsvOptions { spec: Some(spec.clone()), on_error: OnError::Skip, ..Default::default() };
        let whole = crate::csv::read_csv(text.as_bytes(), &options).expect("reads");
        let wanted = encode_ndjson(&Nest::Leaf(whole.value)).expect("writes");
        for block in 1..text.len() + 2 {
            let options =
                SourceOptions { format: Some(Format::Csv), on_error: OnError::Skip, block, ..SourceOptions::default() };
            let mut blocks = open_reader(&function, Box::new(text.as_bytes()), &options).expect("opens");
            let (mut found, mut bad, mut last) = (Vec::new(), Vec::new(), (0, 0));
            while let Some(block) = blocks.next().expect("reads") {
                let leaves = block.leaves.into_iter().collect::<Option<Vec<Value>>>().expect("all are needed");
                let value = pack(&spec, &mut leaves.into_iter(), Provenance::Trusted).expect("packs");
                found.extend(encode_ndjson(&Nest::Leaf(value)).expect("writes"));
                bad.extend(block.bad.first.iter().map(|bad| (bad.row, bad.offset)));
                last = (block.rows, block.bytes);
            }
            assert_eq!(found.escape_ascii().to_string(), wanted.escape_ascii().to_string(), "{text:?} by {block}");
            assert_eq!(bad, [(3, text.find("bad"))], "{text:?} by {block}");
            assert_eq!(last, (7, text.len() as u64), "{text:?} by {block}");
        }
    }
}
