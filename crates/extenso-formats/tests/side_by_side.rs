//! What is written and read side by side is what one thread writes and reads, bit for bit; and so are the errors.
#![cfg(feature = "proto")]

use extenso_core::{Value, with_threads};
use extenso_formats::columns::MAX_REPORTED;
use extenso_formats::proto::{MessageType, Schema};
use extenso_formats::{
    FieldSpec, JsonOptions, OnError, Rows, encode_ndjson, encode_proto, encode_proto_json, read_json, read_json_blocks,
    read_json_file, struct_spec,
};
use extenso_types::{DType, Error, Nest, Result};
use std::fs::File;

const ROWS: usize = 40_000;

/// Many records, of lists of different lengths; with one number that the message cannot hold, if there is one.
fn records(odd: Option<usize>) -> Nest<Value> {
    let line = |row: usize| {
        let id = if odd == Some(row) { 1 << 40 } else { row * 7919 % 65_536 };
        let tags: Vec<String> = (0..row % 5).map(|i| format!(r#""tag {}""#, (row + i) % 977)).collect();
        format!("{{\"id\": {id}, \"tags\": [{}]}}\n", tags.join(","))
    };
    let lines: String = (0..ROWS).map(line).collect();
    Nest::Leaf(read_json(lines.as_bytes(), &JsonOptions::default()).expect("reads").value)
}

fn message() -> MessageType {
    let text = "syntax = 'proto3'; message Item { int32 id = 1; repeated string tags = 2; }";
    Schema::from_text(text).and_then(|schema| schema.message("Item")).expect("a message")
}

/// The same bytes, or the same error, with one thread and with several.
fn check(write: impl Fn() -> Result<Vec<u8>>) {
    let shown = |written: Result<Vec<u8>>| written.map_err(|e: Error| e.to_string());
    let wanted = shown(with_threads(1, &write));
    for threads in [2, 3, 8] {
        assert!(shown(with_threads(threads, &write)) == wanted, "{threads} threads");
    }
}

#[test]
fn several_threads_write_what_one_writes() {
    for odd in [None, Some(31_000)] {
        let (records, message) = (records(odd), message());
        check(|| encode_ndjson(&records));
        check(|| encode_proto_json(&records, &message));
        check(|| {
            let written = encode_proto(&records, &message)?;
            let dense = written.data()?;
            (0..dense.len()).try_fold(Vec::new(), |mut all, i| {
                all.extend_from_slice(dense.text_at(i)?);
                all.push(0xff);
                Ok(all)
            })
        });
        let error = encode_proto(&records, &message).err().map(|e| e.to_string());
        assert_eq!(error.is_some_and(|e| e.contains("row 31000, 'id'")), odd.is_some());
    }
}

/// What was read: lines of it, the numbers of bad rows, the errors of the first, and which rows hold defaults.
type Shown = std::result::Result<(Vec<u8>, Vec<usize>, Vec<String>, Vec<bool>), String>;

fn shown(read: Result<Rows>) -> Shown {
    let rows = read.map_err(|e| e.to_string())?;
    let lines = encode_ndjson(&Nest::Leaf(rows.value)).map_err(|e| e.to_string())?;
    let errors = rows.bad.first.iter().map(|bad| bad.error.to_string()).collect();
    let defaulted = (0..rows.bad.defaulted.len()).map(|row| rows.bad.defaulted.get(row)).collect();
    Ok((lines, rows.bad.rows, errors, defaulted))
}

/// What blocks that are too small to be cut give together.
fn in_blocks(text: &[u8], options: &JsonOptions) -> Shown {
    let (mut lines, mut bad, mut errors, mut defaulted) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for block in read_json_blocks(text, 500, options.clone()).expect("blocks") {
        let block = shown(block)?;
        lines.extend(block.0);
        bad.extend(block.1);
        errors.extend(block.2);
        defaulted.extend(block.3);
    }
    errors.truncate(MAX_REPORTED);
    Ok((lines, bad, errors, defaulted))
}

#[test]
fn pieces_are_read_as_the_whole_is() {
    let tags = FieldSpec::List(Box::new(FieldSpec::Scalar(DType::String, vec![])));
    let spec = struct_spec([("id", FieldSpec::Scalar(DType::I32, vec![])), ("tags", tags)]).expect("a spec");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rows.ndjson");
    for bad in [|_| false, |row| [17, 20_000, ROWS - 1].contains(&row), |row| row % 100 == 7] as [fn(usize) -> bool; 3]
    {
        let line = |row: usize| match bad(row) {
            true => format!("{{\"id\": \"odd {row}\", \"tags\": []}}\n"),
            false => format!("{{\"id\": {row}, \"tags\": [\"größe {}\", \"\\n\"]}}\n\n", row * 7919 % 977),
        };
        // The last line has no end.
        let text = (0..ROWS).map(line).collect::<String>();
        let text = text.trim_end().as_bytes();
        std::fs::write(&path, text).expect("writes");
        for on_error in [OnError::Raise, OnError::Skip, OnError::Default] {
            let options = JsonOptions { spec: Some(spec.clone()), on_error, ..JsonOptions::default() };
            let wanted = in_blocks(text, &options);
            for threads in [1, 2, 5] {
                let (of_bytes, of_file) = with_threads(threads, || {
                    let file = File::open(&path).expect("opens");
                    (shown(read_json(text, &options)), shown(read_json_file(file, &options)))
                });
                assert!(of_bytes == wanted, "{threads} threads, {on_error:?}");
                assert!(of_file == wanted, "{threads} threads, {on_error:?}, a file");
            }
        }
    }
}
