//! Lines of messages in their JSON form to values, and back.

use super::write::write;
use crate::columns::{ColumnRef, TextVec};
use crate::json::Decoder;
use crate::parts;
use crate::plan::Plan;
use crate::project::Wanted;
use crate::proto::encode::{Record, texts};
use crate::proto::prepare::prepared;
use crate::proto::{MessageType, ProtobufOptions, proto_spec};
use crate::read::batch;
use crate::records::RecordSpec;
use crate::run::{Batch, Rows};
use crate::source::unpack;
use extenso_core::{Value, side_by_side};
use extenso_graph::save::archive::write_atomically;
use extenso_types::{Error, Nest, Result};
use std::ops::Range;

/// Reads lines of messages in their JSON form, or an array of them, as one batch, whose outer axis is the messages.
///
/// The value is of the spec that [`read_proto`](crate::read_proto) gives for these options. See [the table](crate::proto).
///
/// Errors: a row that does not fit, with its number, byte offset and path, unless `on_error` says otherwise; among them one in which a `Value`,
/// `Struct` or `ListValue` goes on beyond the depth of the options; a spec that the messages cannot be read as; those of [`proto_spec`].
///
/// ```
/// # use extenso_formats::{ProtobufOptions, proto::Schema, read_proto_json};
/// let text = "syntax = 'proto3'; message Item { int64 item_id = 1; map<string, bytes> parts = 2; }";
/// let item = Schema::from_text(text).unwrap().message("Item").unwrap();
/// let lines = br#"{"itemId": "7", "parts": {"a": "AQI="}}
/// {"item_id": 8.0, "parts": null}"#;
/// let rows = read_proto_json(lines, &item, &ProtobufOptions::default()).unwrap();
/// assert_eq!(
///     extenso_ext::to_literal(&rows.value).unwrap().to_string(),
///     r#"[{"item_id": 7, "parts": [{"key": "a", "value": b"\x01\x02"}]}, {"item_id": 8, "parts": []}]"#
/// );
/// ```
pub fn read_proto_json(input: &[u8], message: &MessageType, options: &ProtobufOptions) -> Result<Rows> {
    let spec = proto_spec(message, options)?;
    let records = RecordSpec::new(&Nest::Leaf(spec.clone()), &[])?;
    let plan = records.plan();
    let mut decoder = match options.is_to_depth() {
        true => Decoder::of_message_to_depth(message, plan, plan, &Wanted::of_paths(options.paths.as_deref())?)?,
        false => Decoder::of_message(message, plan)?,
    };
    let decoded = decoder.records(&unpack(input)?, options.on_error)?;
    batch(&spec, &records, decoded, 0, options.on_error)
}

/// Writes a batch as lines of messages in their JSON form.
///
/// Errors: those of [`encode_proto`](crate::encode_proto); what the JSON form cannot say, with its row and path: a time outside the years 1 to
/// 9999, a key of a map that stands there twice, the bytes of a message in an `Any` that the descriptor does not know.
///
/// ```
/// # use extenso_formats::{ProtobufOptions, encode_proto_json, proto::Schema, read_proto_json};
/// # use extenso_types::Nest;
/// let text = "syntax = 'proto3'; enum Kind { OTHER = 0; BOOK = 1; } message Item { int64 item_id = 1; Kind kind = 2; }";
/// let item = Schema::from_text(text).unwrap().message("Item").unwrap();
/// let rows = read_proto_json(br#"{"item_id": 7, "kind": 1}"#, &item, &ProtobufOptions::default()).unwrap();
/// let lines = encode_proto_json(&Nest::Leaf(rows.value), &item).unwrap();
/// assert_eq!(lines, b"{\"itemId\":\"7\",\"kind\":\"BOOK\"}\n");
/// ```
pub fn encode_proto_json(value: &Nest<Value>, message: &MessageType) -> Result<Vec<u8>> {
    let batch = Batch::of(value)?;
    let columns = batch.records.columns(&batch.leaves)?;
    let record = prepared(message, batch.records.plan(), &columns, 0..batch.rows)?;
    let lines = |rows: Range<usize>| {
        let mut out = Vec::new();
        for row in rows {
            put(&record, row, &mut out)?;
            out.push(b'\n');
        }
        Ok(out)
    };
    let parts: Result<Vec<Vec<u8>>> = side_by_side(batch.parts(), lines).into_iter().collect();
    Ok(parts::joined(parts?))
}

/// The JSON form of the message of each of these rows, and an empty text for those that are not there.
///
/// Errors: as [`encode_proto_json`].
pub(crate) fn encode_json_texts(
    message: &MessageType,
    plan: &Plan,
    columns: &[ColumnRef<'_>],
    rows: Range<usize>,
    is_there: impl Fn(usize) -> bool,
) -> Result<TextVec> {
    texts(&prepared(message, plan, columns, rows.clone())?, rows, is_there, put)
}

fn put(record: &Record<'_>, row: usize, out: &mut Vec<u8>) -> Result<()> {
    write(record, row, out).map_err(|failure| failure.of_row(row).at("encode"))
}

/// Writes a batch as lines of messages in their JSON form into a file, which appears under its name whole or not at all.
///
/// Errors: those of [`encode_proto_json`]; what the operating system refuses.
pub fn write_proto_json(value: &Nest<Value>, message: &MessageType, path: impl AsRef<std::path::Path>) -> Result<()> {
    crate::source::plain_name(path.as_ref())?;
    let text = encode_proto_json(value, message)?;
    write_atomically(path, &text).map_err(Error::from)
}
