//! What is written and read side by side is what one thread writes and reads, bit for bit; and so are the errors.
#![cfg(feature = "proto")]

use extenso_core::{ExtensionType, Value, with_threads};
use extenso_ext::StructTensor;
use extenso_formats::columns::MAX_REPORTED;
use extenso_formats::proto::{Framing, MessageType, Schema};
use extenso_formats::{
    FieldSpec, JsonOptions, OnError, ProtobufOptions, Rows, encode_ndjson, encode_proto, encode_proto_json, read_json,
    read_json_blocks, read_json_file, read_proto, struct_spec,
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

/// A file of as many messages, of which some are bad; without its last bytes, if it is cut.
fn file_of_messages(framing: Framing, bad: &[usize], is_cut: bool) -> Vec<u8> {
    let mut file = Vec::new();
    for row in 0..ROWS {
        let [low, high] = [row % 128, row / 128].map(|digits| u8::try_from(digits % 128).expect("seven bits"));
        let message = [0x08, low | 0x80, high | 0x80, u8::try_from(row >> 14).expect("a few"), 0x12, 2, b't', b'a'];
        // The text of a bad one leads outside.
        framing.put(&message[..message.len() - usize::from(bad.contains(&row))], &mut file);
    }
    file.truncate(file.len() - if is_cut { 3 } else { 0 });
    file
}

#[test]
fn a_file_of_messages_is_read_up_to_its_first_fault() {
    let last = ROWS - 1;
    for framing in [Framing::Delimited, Framing::TfRecord] {
        for (bad, is_cut, first) in [
            (vec![], false, None),
            (vec![20_000], false, Some(20_000)),
            (vec![], true, Some(last)),
            (vec![last - 9], true, Some(last - 9)),
        ] {
            let file = file_of_messages(framing, &bad, is_cut);
            for (threads, on_error) in [1, 2, 5].into_iter().flat_map(|n| [(n, OnError::Raise), (n, OnError::Skip)]) {
                let options = ProtobufOptions { on_error, ..ProtobufOptions::default() };
                let read = with_threads(threads, || read_proto(framing.messages(&file), &message(), &options));
                let what = format!("{framing:?}, {bad:?}, cut {is_cut}, {threads} threads, {on_error:?}");
                let fault = if on_error == OnError::Skip { is_cut.then_some(last) } else { first };
                match (read, fault) {
                    (Ok(rows), None) => {
                        let count = StructTensor::from_value(&rows.value).expect("records").shape().to_dims();
                        assert_eq!(
                            (rows.bad.rows, count.as_deref()),
                            (bad.clone(), Some(&[ROWS - bad.len()][..])),
                            "{what}"
                        );
                    }
                    (Err(e), Some(row)) => assert!(e.to_string().contains(&format!("row {row}")), "{what}: {e}"),
                    (read, fault) => panic!("{what}: {:?} instead of {fault:?}", read.err().map(|e| e.to_string())),
                }
            }
        }
    }
}
