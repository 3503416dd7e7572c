//! Laws of Arrow's IPC as a source.

use super::*;
use crate::arrow::write_ipc;
use extenso_core::Value;

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
    drop(sink);
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
