//! What is written side by side is what one thread writes, bit for bit; and so are the errors.
#![cfg(feature = "proto")]

use extenso_core::{Value, with_threads};
use extenso_formats::proto::{MessageType, Schema};
use extenso_formats::{JsonOptions, encode_ndjson, encode_proto, encode_proto_json, read_json};
use extenso_types::{Error, Nest, Result};

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
