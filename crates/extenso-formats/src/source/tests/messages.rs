//! Laws of messages as sources and sinks: one function, one result, whatever the framing, the block and the packing.

use super::*;
use crate::proto::{Content, Framing, MessageType, Messages, Schema};
use crate::{ProtobufOptions, encode_proto, proto_spec};
use extenso_core::Tensor;
use extenso_types::{Dim, Shape, Spec, TensorSpec};

const SHOP: &str = "syntax = 'proto3';
    message Item { double price = 1; string sku = 2; }
    message Order { int64 id = 1; repeated Item items = 2; optional string note = 3; }
    message Total { double total = 1; }";

fn message(name: &str) -> MessageType {
    Schema::from_text(SHOP).and_then(|schema| schema.message(name)).expect("a message")
}

fn function() -> Arc<Concrete> {
    let function = Function::new("totals", |args| {
        let orders = StructTensor::from_value(args.leaves()[0].1)?;
        let prices = orders.field_value(&"items[*].price".parse()?)?;
        Ok(Nest::dict([("total", Nest::Leaf(ops::sum(&prices, 1, false)?))]))
    });
    let spec = proto_spec(&message("Order"), &ProtobufOptions::default()).expect("a spec");
    function.concrete(&Nest::Leaf(spec)).expect("traces")
}

/// The rows as messages.
fn messages() -> Tensor {
    let options = crate::JsonOptions::default();
    let orders = crate::read_json(ROWS.as_bytes(), &options).expect("reads").value;
    encode_proto(&Nest::Leaf(orders), &message("Order")).expect("writes")
}

fn texts(messages: &Tensor) -> Vec<Vec<u8>> {
    let dense = messages.data().expect("data");
    (0..dense.len()).map(|i| dense.text_at(i).expect("a text").to_vec()).collect()
}

fn file(messages: &[Vec<u8>], framing: Framing) -> Vec<u8> {
    let mut file = Vec::new();
    messages.iter().for_each(|message| framing.put(message, &mut file));
    file
}

fn options(block: usize) -> SourceOptions {
    SourceOptions { block, content: Some(Content::Message(message("Order"))), ..SourceOptions::default() }
}

fn ran(bytes: Vec<u8>, options: &SourceOptions) -> Result<(Progress, String)> {
    let (function, mut out) = (function(), Vec::new());
    let source = open_bytes(&function, bytes, options)?;
    let done = run_blocks(&function, source, Box::new(NdjsonSink(&mut out)), &mut |_, _| Ok(()))?;
    Ok((done, String::from_utf8(out).expect("text")))
}

#[test]
fn messages_of_every_framing_and_block_give_the_same_results() {
    let messages = texts(&messages());
    for framing in [Framing::Delimited, Framing::TfRecord] {
        let plain = file(&messages, framing);
        for bytes in [gzip(&plain), zstd(&plain), plain.clone()] {
            for block in [1, 20, 60, BLOCK] {
                let (done, text) = ran(bytes.clone(), &options(block)).expect("runs");
                assert_eq!((done.rows, done.bytes, &*text), (3, bytes.len(), TOTALS));
            }
            let whole = run_bytes(&function(), &bytes, &options(1)).expect("runs");
            assert_eq!(encode_ndjson(&whole.value).expect("writes"), TOTALS.as_bytes());
        }
    }
    let list: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    for block in [1, 40, BLOCK] {
        let (function, mut out) = (function(), Vec::new());
        let source = open_messages(&function, Messages::Each(&list), &options(block)).expect("opens");
        run_blocks(&function, source, Box::new(NdjsonSink(&mut out)), &mut |_, _| Ok(())).expect("runs");
        assert_eq!(out, TOTALS.as_bytes());
    }
    assert_eq!(ran(Vec::new(), &options(8)).expect("runs").1, "");
}

#[test]
fn messages_that_begin_as_packed_bytes_do_are_messages() {
    // A length that begins as gzip does, and one whose message begins as a frame of zstd does that is passed over.
    let of_len = |len: usize| {
        let note = "x".repeat(len - 4);
        let message = [
            b"\x1a".as_slice(),
            &[(note.len() % 128) as u8 | 0x80, (note.len() / 128) as u8 | 0x80, (note.len() >> 14) as u8],
            note.as_bytes(),
        ]
        .concat();
        assert_eq!(message.len(), len);
        message
    };
    for len in [0x8b1f, 0x0008_8b1f] {
        let tfrecord = file(&[of_len(len)], Framing::TfRecord);
        assert!(tfrecord.starts_with(b"\x1f\x8b"));
        let named = SourceOptions { named: Some(Format::TfRecord), ..options(BLOCK) };
        for options in [options(BLOCK), named] {
            let (done, text) = ran(tfrecord.clone(), &options).expect("runs");
            assert_eq!((done.rows, &*text), (1, "{\"total\":0.0}\n"));
        }
    }
    // Field 5 of 77 bytes is not known, and passed over.
    let unknown = [b"\x2a\x4d\x18\x01".as_slice(), &[0x1a; 75], b"\x08\x07"].concat();
    let delimited = file(&[unknown], Framing::Delimited);
    assert!(delimited.starts_with(b"\x51\x2a\x4d\x18"));
    assert_eq!(ran(delimited, &options(BLOCK)).expect("runs").1, "{\"total\":0.0}\n");
}

#[test]
fn bad_messages_are_told_with_their_row_and_byte_in_the_file() {
    let mut messages = texts(&messages());
    // The length of an item leads outside.
    messages.insert(1, b"\x12\x7f\x09".to_vec());
    for framing in [Framing::Delimited, Framing::TfRecord] {
        let bytes = file(&messages, framing);
        let whole = ran(bytes.clone(), &options(BLOCK)).expect_err("a bad row").to_string();
        assert!(whole.contains("row 1, byte ") && whole.contains("'items'"), "{whole}");
        for block in [1, 30] {
            assert_eq!(ran(bytes.clone(), &options(block)).expect_err("a bad row").to_string(), whole);
            let skip = SourceOptions { on_error: OnError::Skip, ..options(block) };
            let (done, text) = ran(bytes.clone(), &skip).expect("runs");
            assert_eq!((done.rows, done.bad, done.first[0].row, &*text), (4, 1, 1, TOTALS));
            let fill = SourceOptions { on_error: OnError::Default, ..options(block) };
            let (done, text) = ran(bytes.clone(), &fill).expect("runs");
            assert_eq!((done.rows, text.lines().count()), (4, 4));
        }
    }
}

#[test]
fn a_file_that_is_cut_or_lies_gives_an_error_under_every_policy() {
    let good = file(&texts(&messages()), Framing::Delimited);
    let record = file(&texts(&messages()), Framing::TfRecord);
    let mut lies = good.clone();
    lies.extend(b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
    let endless = [good.as_slice(), &[0xff; 11]].concat();
    for bytes in [&good[..good.len() - 1], &record[..record.len() - 1], &record[..13], &lies, &endless] {
        for on_error in [OnError::Raise, OnError::Skip, OnError::Default] {
            for block in [1, 50, BLOCK] {
                let options = SourceOptions { on_error, ..options(block) };
                let error = ran(bytes.to_vec(), &options).expect_err("a bad file");
                assert!(error.is_data(), "{error}");
            }
        }
    }
    let error = run(good, &SourceOptions { format: Some(Format::Protobuf), ..SourceOptions::default() });
    let error = error.expect_err("no message").to_string();
    assert!(error.contains("nothing says of which") && error.contains("descriptor"), "{error}");
}

#[test]
fn results_are_written_as_messages() {
    let (dir, function) = (tempfile::tempdir().expect("a directory"), function());
    let written = |name: &str, message: Option<Content>| {
        let path = dir.path().join(name);
        let bytes = file(&texts(&messages()), Framing::Delimited);
        let source = open_bytes(&function, bytes, &options(16)).expect("opens");
        let sink = SinkOptions { message, ..SinkOptions::default() };
        run_to_file(&function, source, &path, &sink, &mut |_, _| Ok(()))?;
        Ok::<_, Error>(std::fs::read(path).expect("written"))
    };
    let total = Content::Message(message("Total"));
    let wanted = [b"\x09\0\0\0\0\0\0\x10\x40".to_vec(), Vec::new(), b"\x09\0\0\0\0\0\0\x10\x40".to_vec()];
    assert_eq!(written("a.pb", Some(total.clone())).expect("written"), file(&wanted, Framing::Delimited));
    assert_eq!(written("a.binpb", Some(total.clone())).expect("written"), file(&wanted, Framing::Delimited));
    assert_eq!(written("a.tfrecords", Some(total)).expect("written"), file(&wanted, Framing::TfRecord));
    let error = written("b.pb", None).expect_err("no message").to_string();
    assert!(error.contains("target: nothing says which message"), "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).expect("listed").count(), 3);
}

#[test]
fn results_that_are_messages_are_written_as_they_are() {
    let copy = Function::new("copy", |args| Ok(Nest::Leaf(args.leaves()[0].1.clone())));
    let spec = Spec::from(TensorSpec::new(DType::Bytes, Shape::new([Dim::any()])));
    let copy = copy.concrete(&Nest::Leaf(spec)).expect("traces");
    let mut out = Vec::new();
    let options = SinkOptions {
        format: Some(Format::TfRecord),
        message: Some(Content::Message(message("Total"))),
        ..SinkOptions::default()
    };
    let sink = open_sink(&options, Box::new(&mut out)).expect("opens");
    let source = open_bytes(&copy, b"\"YWI=\"\n\"\"\n".to_vec(), &SourceOptions::default()).expect("opens");
    run_blocks(&copy, source, sink, &mut |_, _| Ok(())).expect("runs");
    assert_eq!(out, file(&[b"ab".to_vec(), Vec::new()], Framing::TfRecord));
}

#[test]
fn the_json_form_of_messages_is_a_source_where_the_name_says_so() {
    let message = message("Order");
    let orders = crate::read_json(ROWS.as_bytes(), &Default::default()).expect("reads").value;
    let lines = crate::encode_proto_json(&Nest::Leaf(orders), &message).expect("writes");
    assert!(String::from_utf8_lossy(&lines).starts_with("{\"id\":\"1\","));
    let array = format!("[{}]", String::from_utf8_lossy(&lines).trim_end().replace('\n', ",")).into_bytes();
    for bytes in [lines.clone(), gzip(&lines), array] {
        for block in [1, 60, BLOCK] {
            let named = options(block).named("orders.ndjson".as_ref());
            assert_eq!(ran(bytes.clone(), &named).expect("runs").1, TOTALS);
            let whole = run_bytes(&function(), &bytes, &named).expect("runs");
            assert_eq!(encode_ndjson(&whole.value).expect("writes"), TOTALS.as_bytes());
        }
    }
    let examples = SourceOptions {
        content: Content::of_examples("tf.train.Example"),
        format: Some(Format::Json),
        ..SourceOptions::default()
    };
    let error = ran(lines, &examples).expect_err("no messages").to_string();
    assert!(error.contains("said to be examples"), "{error}");
}

#[test]
fn results_are_lines_of_messages_in_their_json_form() {
    let (function, folder) = (function(), tempfile::tempdir().expect("a folder"));
    let wanted = "{\"total\":4.0}\n{}\n{\"total\":4.0}\n";
    for name in ["out.ndjson", "out"] {
        let source = open_bytes(&function, file(&texts(&messages()), Framing::Delimited), &options(20)).expect("opens");
        let path = folder.path().join(name);
        let sink = SinkOptions { json: Some(Content::Message(message("Total"))), ..SinkOptions::default() };
        run_to_file(&function, source, &path, &sink, &mut |_, _| Ok(())).expect("runs");
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), wanted);
    }
}

#[test]
fn results_are_written_as_examples_and_read_again() {
    let (function, folder) = (function(), tempfile::tempdir().expect("a folder"));
    let example = Content::of_examples("tf.train.Example");
    let run = |name: &str, sink: &SinkOptions| {
        let source = open_bytes(&function, file(&texts(&messages()), Framing::Delimited), &options(20))?;
        run_to_file(&function, source, &folder.path().join(name), sink, &mut |_, _| Ok(()))
    };
    let sink = SinkOptions { message: example.clone(), ..SinkOptions::default() };
    run("out.tfrecord", &sink).expect("runs");
    let back = Function::new("back", |args| {
        Ok(Nest::Leaf(StructTensor::from_value(args.leaves()[0].1)?.field("total")?.clone()))
    });
    let spec = crate::struct_spec([("total", crate::FieldSpec::Scalar(DType::F32, vec![]))]).expect("a spec");
    let back = back.concrete(&Nest::Leaf(spec)).expect("traces");
    let bytes = std::fs::read(folder.path().join("out.tfrecord")).expect("written");
    let read = run_bytes(&back, &bytes, &SourceOptions { content: example.clone(), ..SourceOptions::default() });
    assert_eq!(encode_ndjson(&read.expect("reads").value).expect("writes"), b"4.0\n0.0\n4.0\n");
    let error = run("out.ndjson", &SinkOptions { json: example, ..SinkOptions::default() }).expect_err("no such form");
    assert!(error.to_string().contains("examples are written in their JSON form"), "{error}");
}
