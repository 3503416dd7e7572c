//! Protocol buffers as ops: messages to the leaves of records, and back.

use super::encode::{Writer, encoded};
use super::layout::Records;
use super::parse::{Form, Parsed, Parser, left, name_of, parsed};
use super::texts::Valid;
use crate::columns::ColumnRef;
use crate::json;
use crate::plan::Plan;
use crate::project::Wanted;
use crate::proto::{Decoder, MessageType, ProtobufOptions, Schema, encode_json_texts, encode_texts, proto_spec};
use crate::records::RecordSpec;
use extenso_core::attrs::{AttrSet, AttrType, AttrValue, Attrs};
use extenso_core::{Class, Fact, OpDef, OutputSpecs, Outputs, Value};
use extenso_types::{DType, LeafSpec, Nest, Path, Result};
use jiter::JsonValue;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// What is known of messages, as an attribute: a serialized set of descriptors.
#[derive(Clone)]
pub struct Descriptor {
    set: Arc<OnceLock<Arc<[u8]>>>,
    message: Option<MessageType>,
}

impl Descriptor {
    /// That of a message, with all that it refers to.
    fn of(message: &MessageType) -> Descriptor {
        Descriptor { set: Arc::default(), message: Some(message.clone()) }
    }

    fn bytes(&self) -> &Arc<[u8]> {
        self.set.get_or_init(|| self.message.as_ref().map(MessageType::descriptor_set).unwrap_or_default().into())
    }

    /// The message of this name.
    ///
    /// Errors: bytes that are no descriptors; no such message.
    fn message(&self, name: &str) -> Result<MessageType> {
        match &self.message {
            Some(message) if message.name() == name => Ok(message.clone()),
            Some(_) | None => Schema::from_descriptor_set(self.bytes())?.message(name),
        }
    }
}

impl fmt::Debug for Descriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.bytes().len())
    }
}

impl AttrType for Descriptor {
    const NAME: &'static str = "bytes";

    fn to_attr(&self) -> AttrValue {
        AttrValue::Bytes(self.bytes().clone())
    }

    fn from_attr(value: &AttrValue) -> Option<Descriptor> {
        let bytes = <Arc<[u8]>>::from_attr(value)?;
        Some(Descriptor { set: Arc::new(OnceLock::from(bytes)), message: None })
    }
}

/// What is wanted of messages, as an attribute: the texts of paths in an array of JSON.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Paths(Option<Vec<Path>>);

impl AttrType for Paths {
    const NAME: &'static str = "str or None";

    fn to_attr(&self) -> AttrValue {
        let Some(paths) = &self.0 else { return AttrValue::None };
        let mut text = Vec::new();
        for path in paths {
            text.push(if text.is_empty() { b'[' } else { b',' });
            json::write_string(path.to_string().as_bytes(), &mut text);
        }
        text.push(b']');
        AttrValue::Str(String::from_utf8_lossy(&text).into_owned())
    }

    fn from_attr(value: &AttrValue) -> Option<Paths> {
        let AttrValue::Str(text) = value else { return matches!(value, AttrValue::None).then(Paths::default) };
        let JsonValue::Array(texts) = JsonValue::parse(text.as_bytes(), false).ok()? else { return None };
        let path = |text: &JsonValue<'_>| match text {
            JsonValue::Str(text) => text.parse().ok(),
            _ => None,
        };
        texts.iter().map(path).collect::<Option<_>>().map(|paths| Paths(Some(paths)))
    }
}

extenso_core::attrs! {
    /// The attributes of `parse_proto` and `parse_proto_json`: what the messages are, as for `parse_json`, and whether a depth ends the spec, so
    /// that a value of any kind that goes on beyond it does not fit, unless `paths` want some parts of it alone.
    pub struct ParseProto {
        spec: Records<Parser>,
        descriptor: Descriptor,
        message: String,
        needed: Option<Vec<i64>> = None,
        on_error: String = "raise".to_string(),
        to_depth: bool = false,
        paths: Paths = Paths::default(),
    }

    /// The attributes of `encode_proto` and `encode_proto_json`: the spec of the records, and what the messages are.
    pub struct EncodeProto { spec: Records<(Writer, MessageType)>, descriptor: Descriptor, message: String }
}

/// The leaves of the records that a vector of serialized messages holds, and which rows hold defaults.
///
/// The second argument says which messages are there; the others give defaults. Errors: a message that cannot be read by the spec,
/// with row, byte and path.
pub static PARSE_PROTO: OpDef =
    OpDef::general(Class::Structural, infer_parse, run_parse).narrow(narrow_parse).facts(&[Fact::Covers]).named(
        "parse_proto",
        "The leaves of the records that a vector of serialized messages holds, and which rows hold defaults.\n",
        &["messages", "there"],
        ParseProto::DEF,
    );

/// The leaves of the records that a vector of messages in their JSON form holds, and which rows hold defaults.
///
/// As [`PARSE_PROTO`].
pub static PARSE_PROTO_JSON: OpDef = OpDef::general(Class::Structural, infer_parse_json, run_parse_json)
    .narrow(narrow_parse)
    .facts(&[Fact::Covers])
    .named(
        "parse_proto_json",
        "The leaves of the records that a vector of messages in their JSON form holds, and which rows hold defaults.\n",
        &["texts", "there"],
        ParseProto::DEF,
    );

/// The JSON form of the message of each record that these leaves make.
///
/// As [`ENCODE_PROTO`].
pub static ENCODE_PROTO_JSON: OpDef =
    OpDef::general(Class::Structural, infer_encode_json, run_encode_json).variadic().named(
        "encode_proto_json",
        "The JSON form of the message of each record that these leaves make.\n",
        &["leaves"],
        EncodeProto::DEF,
    );

/// The serialized message of each record that these leaves make.
///
/// The first argument says which records are there; the others give empty texts. Errors: leaves of another spec; a value that its
/// field cannot hold, with row and path.
pub static ENCODE_PROTO: OpDef = OpDef::general(Class::Structural, infer_encode, run_encode).variadic().named(
    "encode_proto",
    "The serialized message of each record that these leaves make.\n",
    &["leaves"],
    EncodeProto::DEF,
);

/// The record in each serialized message.
///
/// The records have the axes of the messages, rows included, and are missing where a message is. Without a spec in the options, it is
/// that of the descriptor. A graph decodes the leaves that it uses.
///
/// Errors: a message that does not fit, with row, byte and path, unless `on_error` says otherwise: leaving rows out is not possible
/// here; no texts; a spec that the messages cannot be read as.
///
/// ```
/// # use extenso_core::Tensor;
/// # use extenso_ext::to_literal;
/// # use extenso_formats::{ProtobufOptions, ops::parse_proto, proto::Schema};
/// let schema = Schema::from_text("syntax = 'proto3'; message Item { int64 id = 1; repeated string tags = 2; }").unwrap();
/// let item = schema.message("Item").unwrap();
/// let messages = Tensor::byte_strings(&[2], &[&b"\x08\x07\x12\x01a"[..], b""]).unwrap();
/// let parsed = parse_proto(&messages.into(), &item, &ProtobufOptions::default()).unwrap();
/// assert_eq!(to_literal(&parsed.value).unwrap().to_string(), r#"[{"id": 7, "tags": ["a"]}, {"id": 0, "tags": []}]"#);
/// ```
pub fn parse_proto(x: &Value, message: &MessageType, options: &ProtobufOptions) -> Result<Parsed> {
    parsed_as(&PARSE_PROTO, x, message, options)
}

/// The record in the JSON form of each message.
///
/// The records are those of [`parse_proto`], and the texts those of [`read_proto_json`](crate::read_proto_json).
///
/// Errors: as [`parse_proto`].
///
/// ```
/// # use extenso_core::Tensor;
/// # use extenso_ext::to_literal;
/// # use extenso_formats::{ProtobufOptions, ops::parse_proto_json, proto::Schema};
/// let schema = Schema::from_text("syntax = 'proto3'; message Item { int64 item_id = 1; bytes raw = 2; }").unwrap();
/// let texts = Tensor::strings(&[2], &[r#"{"itemId": "7", "raw": "AQI="}"#, "{}"]).unwrap();
/// let parsed = parse_proto_json(&texts.into(), &schema.message("Item").unwrap(), &ProtobufOptions::default()).unwrap();
/// let wanted = r#"[{"item_id": 7, "raw": b"\x01\x02"}, {"item_id": 0, "raw": b""}]"#;
/// assert_eq!(to_literal(&parsed.value).unwrap().to_string(), wanted);
/// ```
pub fn parse_proto_json(x: &Value, message: &MessageType, options: &ProtobufOptions) -> Result<Parsed> {
    parsed_as(&PARSE_PROTO_JSON, x, message, options)
}

fn parsed_as(op: &'static OpDef, x: &Value, message: &MessageType, options: &ProtobufOptions) -> Result<Parsed> {
    let spec = proto_spec(message, options).map_err(|e| e.at(op.name))?;
    let attrs = ParseProto {
        spec: Records::new(spec.clone()),
        descriptor: Descriptor::of(message),
        message: message.name().to_string(),
        needed: None,
        on_error: name_of(options.on_error).to_string(),
        to_depth: options.is_to_depth(),
        paths: Paths(options.paths.clone()),
    };
    parsed(op, x, &spec, &attrs)
}

/// The serialized message of each record, as bytes.
///
/// Records give a message each, under their axes; where one is missing, so is its message. The messages are those of
/// [`write_proto`](crate::write_proto).
///
/// Errors: values that are no records; a field that the message does not have, or of a kind that it cannot hold; a number that does not
/// fit; two members of a oneof in one row, each with its path.
///
/// ```
/// # use extenso_ext::{Literal, constant};
/// # use extenso_formats::{ops::encode_proto, proto::Schema};
/// let schema = Schema::from_text("message Item { optional int32 id = 1; }").unwrap();
/// let items = constant(Literal::List(vec![Literal::record([("id", Literal::Int(7))])])).unwrap();
/// let messages = encode_proto(&items, &schema.message("Item").unwrap()).unwrap();
/// assert_eq!(messages.tensor().unwrap().data().unwrap().text_at(0).unwrap(), b"\x08\x07");
/// ```
pub fn encode_proto(x: &Value, message: &MessageType) -> Result<Value> {
    encoded_as(&ENCODE_PROTO, x, message)
}

/// The JSON form of the message of each record, as a string.
///
/// As [`encode_proto`]; the texts are those of [`write_proto_json`](crate::write_proto_json).
///
/// Errors: as [`encode_proto`]; what the JSON form cannot say.
///
/// ```
/// # use extenso_ext::{Literal, constant};
/// # use extenso_formats::{ops::encode_proto_json, proto::Schema};
/// let schema = Schema::from_text("syntax = 'proto3'; message Item { int64 item_id = 1; }").unwrap();
/// let items = constant(Literal::List(vec![Literal::record([("item_id", Literal::Int(7))])])).unwrap();
/// let texts = encode_proto_json(&items, &schema.message("Item").unwrap()).unwrap();
/// assert_eq!(texts.to_string(), r#"["{\"itemId\":\"7\"}"]"#);
/// ```
pub fn encode_proto_json(x: &Value, message: &MessageType) -> Result<Value> {
    encoded_as(&ENCODE_PROTO_JSON, x, message)
}

fn encoded_as(op: &'static OpDef, x: &Value, message: &MessageType) -> Result<Value> {
    encoded(op, x, |spec| EncodeProto {
        spec: Records::new(spec),
        descriptor: Descriptor::of(message),
        message: message.name().to_string(),
    })
}

fn parser(attrs: &dyn AttrSet) -> Result<&Parser> {
    let ParseProto { spec, descriptor, message, needed, on_error, .. } = ParseProto::of(attrs)?;
    spec.ready(|spec| {
        let message = descriptor.message(message)?;
        Parser::new(spec, needed.as_deref(), on_error, |plan| Decoder::new(&message, plan).map(Form::Proto))
    })
}

fn json_parser(attrs: &dyn AttrSet) -> Result<&Parser> {
    let ParseProto { spec, descriptor, message, needed, on_error, to_depth, paths } = ParseProto::of(attrs)?;
    spec.ready(|spec| {
        let message = descriptor.message(message)?;
        let decoder = |plan: &Plan| match to_depth {
            true => {
                let whole = RecordSpec::new(&Nest::Leaf(spec.clone()), &[])?;
                let wanted = Wanted::of_paths(paths.0.as_deref())?;
                json::Decoder::of_message_to_depth(&message, plan, whole.plan(), &wanted)
            }
            false => json::Decoder::of_message(&message, plan),
        };
        Parser::new(spec, needed.as_deref(), on_error, |plan| decoder(plan).map(Form::Json))
    })
}

fn infer_parse(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    parser(attrs)?.infer(args)
}

fn run_parse(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    parser(attrs)?.run(args)
}

fn infer_parse_json(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    json_parser(attrs)?.infer(args)
}

fn run_parse_json(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    json_parser(attrs)?.run(args)
}

fn narrow_parse(attrs: &dyn AttrSet, used: &[bool]) -> Result<Arc<dyn AttrSet>> {
    let attrs = ParseProto::of(attrs)?.clone();
    let (spec, needed) = (attrs.spec.anew(), left(attrs.needed.as_deref(), used));
    Ok(Arc::new(ParseProto { spec, needed, ..attrs }))
}

fn writer(attrs: &dyn AttrSet) -> Result<&(Writer, MessageType)> {
    let EncodeProto { spec, descriptor, message } = EncodeProto::of(attrs)?;
    spec.ready(|spec| Ok((Writer::new(spec)?, descriptor.message(message)?)))
}

fn infer_encode(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    writer(attrs)?.0.infer(args, DType::Bytes)
}

fn run_encode(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (writer, message) = writer(attrs)?;
    let write = |columns: &[ColumnRef<'_>], rows: Range<usize>, there: Valid<'_>| {
        encode_texts(message, writer.records.plan(), columns, rows, |row| there.at(row))
    };
    writer.run(args, DType::Bytes, &write)
}

fn infer_encode_json(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    writer(attrs)?.0.infer(args, DType::String)
}

fn run_encode_json(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (writer, message) = writer(attrs)?;
    let write = |columns: &[ColumnRef<'_>], rows: Range<usize>, there: Valid<'_>| {
        encode_json_texts(message, writer.records.plan(), columns, rows, |row| there.at(row))
    };
    writer.run(args, DType::String, &write)
}
