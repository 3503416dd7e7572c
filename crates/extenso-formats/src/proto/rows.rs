//! Messages to values, and functions over them.
//!
//! Invariant: no row is dropped or filled without being in the report that stands beside the value.

use super::content::Content;
use super::decode::Decoder;
use super::encode::encode;
use super::example::Example;
use super::frames::{Framing, Messages};
use super::put_example;
use super::schema::MessageType;
use super::spec::{Enums, Oneofs, Optionals, Shaping, spec_of};
use crate::columns::OnError;
use crate::project::Wanted;
use crate::read::batch;
use crate::recent::Recent;
use crate::records::{RecordSpec, offsets_of};
use crate::run::{Batch, Rows, run_decoded};
use arrow_buffer::Buffer;
use extenso_core::{Tensor, Value};
use extenso_graph::Concrete;
use extenso_graph::save::archive::write_atomically;
use extenso_types::{DType, Error, Nest, Path, Result, Spec};
use std::sync::Arc;

/// How messages are read: `ProtobufOptions::default()` reads every field, optional ones as lists, and fails at a bad row.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct ProtobufOptions {
    /// What the records are read as; what their descriptor gives if there is none.
    pub spec: Option<Spec>,
    /// What is read of them: the parts at or below these paths, such as `items[*].price`. Everything, if there is none.
    pub paths: Option<Vec<Path>>,
    /// Without a spec: what a field becomes that may be there or not.
    pub optionals: Optionals,
    /// Without a spec: what an enum becomes.
    pub enums: Enums,
    /// Without a spec: what a oneof becomes.
    pub oneofs: Oneofs,
    /// Without a spec: how many levels of messages below the first are followed; deeper ones are left out. It must be given for messages
    /// that hold themselves, unless paths say what is read of them. In the JSON form a value of any kind that goes on beyond it does not fit.
    pub depth: Option<usize>,
    /// What becomes of a row that does not fit.
    pub on_error: OnError,
}

impl ProtobufOptions {
    /// Whether a depth says where values end.
    pub(crate) fn is_to_depth(&self) -> bool {
        self.depth.is_some() && self.spec.is_none()
    }

    /// What is wanted of a spec, by the paths.
    ///
    /// Errors: a path that leads nowhere.
    ///
    /// ```
    /// # use extenso_formats::{FieldSpec, ProtobufOptions, struct_spec};
    /// # use extenso_types::DType;
    /// let scalar = || FieldSpec::Scalar(DType::I64, vec![]);
    /// let options = ProtobufOptions { paths: Some(vec!["a".parse().unwrap()]), ..ProtobufOptions::default() };
    /// let spec = options.part_of(&struct_spec([("a", scalar()), ("b", scalar())]).unwrap()).unwrap();
    /// assert_eq!(spec.to_string(), "StructTensor(a: i64[?], rank=1)");
    /// ```
    pub fn part_of(&self, spec: &Spec) -> Result<Spec> {
        Wanted::of_paths(self.paths.as_deref())?.of(spec)
    }
}

/// The spec of a batch of messages: what of them is wanted.
///
/// A scalar is a tensor, a repeated field a ragged list, a message a struct, a map a list of structs of `key` and `value`; a field that may
/// be missing is a list of no or one value, or masked. See [the table](crate::proto).
///
/// Errors: a path that leads nowhere; a message that holds itself without a depth; one with more than 10,000 fields or 60 levels.
///
/// ```
/// # use extenso_formats::{ProtobufOptions, proto_spec};
/// # use extenso_formats::proto::{Optionals, Schema};
/// let schema = Schema::from_text("message Item { required int64 id = 1; optional float price = 2; repeated string tags = 3; }");
/// let item = schema.unwrap().message("Item").unwrap();
/// let masked = ProtobufOptions { optionals: Optionals::Masked, ..ProtobufOptions::default() };
/// assert_eq!(
///     proto_spec(&item, &masked).unwrap().to_string(),
///     "StructTensor(id: i64[?], price: MaskedTensor(f32[?], @mask: bool[?]), \
///      tags: RaggedTensor([*]: string[?], @row_splits: partition<i64>[? rows of ? values]), rank=1)"
/// );
/// ```
pub fn proto_spec(message: &MessageType, options: &ProtobufOptions) -> Result<Spec> {
    match &options.spec {
        Some(spec) => options.part_of(spec),
        None => {
            let wanted = Wanted::of_paths(options.paths.as_deref())?;
            let ProtobufOptions { optionals, enums, oneofs, depth, .. } = *options;
            spec_of(message, Shaping { optionals, enums, oneofs, depth, wanted: &wanted })
        }
    }
}

/// Reads messages as one batch, whose outer axis is the messages.
///
/// Errors: a row that does not fit, with its number, byte offset and path, unless `on_error` says otherwise; a spec that the messages
/// cannot be read as; those of [`proto_spec`].
///
/// ```
/// # use extenso_formats::{ProtobufOptions, read_proto};
/// # use extenso_formats::proto::{Messages, Schema};
/// let schema = Schema::from_text("syntax = 'proto3'; message Item { int64 id = 1; repeated float price = 2; }").unwrap();
/// let messages: [&[u8]; 3] = [b"\x08\x07\x12\x04\0\0\x20\x40", b"", b"\x08\x96\x01"];
/// let rows = read_proto(Messages::Each(&messages), &schema.message("Item").unwrap(), &ProtobufOptions::default()).unwrap();
/// assert_eq!(
///     extenso_ext::to_literal(&rows.value).unwrap().to_string(),
///     r#"[{"id": 7, "price": [2.5]}, {"id": 0, "price": []}, {"id": 150, "price": []}]"#
/// );
/// ```
pub fn read_proto(source: Messages<'_>, message: &MessageType, options: &ProtobufOptions) -> Result<Rows> {
    let reader = Reader::of(message, options)?;
    let decoded = reader.decoder.clone().messages(source, options.on_error)?;
    batch(&reader.spec, &reader.records, decoded, 0, options.on_error)
}

/// What the messages of a schema were read by lately, by their names and how they were read.
pub(super) type Readers = Recent<(String, ProtobufOptions), Arc<Reader>>;

/// What is made of a message and how it is read, before any is read.
#[derive(Debug)]
pub(super) struct Reader {
    spec: Spec,
    records: RecordSpec,
    decoder: Decoder,
}

impl Reader {
    fn of(message: &MessageType, options: &ProtobufOptions) -> Result<Arc<Reader>> {
        let is = |(name, other): &(String, ProtobufOptions)| name == message.name() && other == options;
        if let Some(reader) = message.1.find(is) {
            return Ok(reader);
        }
        let spec = proto_spec(message, options)?;
        let records = RecordSpec::new(&Nest::Leaf(spec.clone()), &[])?;
        let decoder = Decoder::new(message, records.plan())?;
        let reader = Arc::new(Reader { spec, records, decoder });
        message.1.keep((message.name().to_owned(), options.clone()), reader.clone());
        Ok(reader)
    }
}

/// Runs a function on messages, decoding the leaves that it needs and no others.
///
/// Errors: an argument that the messages cannot be read as; rows that do not fit, unless `on_error` says otherwise; those of the ops.
pub fn run_proto(
    function: &Concrete,
    source: Messages<'_>,
    message: &MessageType,
    on_error: OnError,
) -> Result<Rows<Nest<Value>>> {
    run_messages(function, source, &Content::Message(message.clone()), on_error)
}

/// Runs a function on messages or on examples, decoding the leaves that it needs and no others.
///
/// Errors: an argument that the messages cannot be read as; rows that do not fit, unless `on_error` says otherwise; those of the ops.
pub fn run_messages(
    function: &Concrete,
    source: Messages<'_>,
    content: &Content,
    on_error: OnError,
) -> Result<Rows<Nest<Value>>> {
    let records = RecordSpec::of(function)?;
    let decoded = content.decoder(records.plan())?.messages(source, on_error)?;
    run_decoded(function, &records, decoded, 0, on_error)
}

/// How examples are read.
#[derive(Clone, Debug)]
pub struct ExampleOptions {
    /// What the features are read as, by name; see [the table](crate::proto).
    pub spec: Spec,
    /// What is read of them: the parts at or below these paths. Everything, if there is none.
    pub paths: Option<Vec<Path>>,
    /// Which message a record is.
    pub example: Example,
    /// What becomes of a row that does not fit.
    pub on_error: OnError,
}

/// Reads `tf.train.Example` or `SequenceExample` messages as one batch, whose outer axis is the examples.
///
/// Errors: a row that does not fit, with its number, byte offset and path, unless `on_error` says otherwise; a spec that examples cannot
/// be read as; a path that leads nowhere.
///
/// ```
/// # use extenso_formats::proto::{Example, ExampleOptions, Messages, read_examples};
/// # use extenso_formats::{FieldSpec, OnError, struct_spec};
/// # use extenso_types::DType;
/// let spec = struct_spec([("age", FieldSpec::Scalar(DType::I64, vec![]))]).unwrap();
/// let options = ExampleOptions { spec, paths: None, example: Example::Plain, on_error: OnError::Raise };
/// let example: &[u8] = b"\x0a\x0e\x0a\x0c\x0a\x03age\x12\x05\x1a\x03\x0a\x01\x07";
/// let rows = read_examples(Messages::Each(&[example]), &options).unwrap();
/// assert_eq!(extenso_ext::to_literal(&rows.value).unwrap().to_string(), r#"[{"age": 7}]"#);
/// ```
pub fn read_examples(source: Messages<'_>, options: &ExampleOptions) -> Result<Rows> {
    let spec = Wanted::of_paths(options.paths.as_deref())?.of(&options.spec)?;
    let records = RecordSpec::new(&Nest::Leaf(spec.clone()), &[])?;
    let decoded = Decoder::examples(options.example, records.plan())?.messages(source, options.on_error)?;
    batch(&spec, &records, decoded, 0, options.on_error)
}

/// Writes a batch as serialized messages: a byte string for each row.
///
/// Fields of the value are written by name, as [the table](crate::proto) says; fields that the value does not have are not written.
///
/// Errors: a value that no record can express; a field that the message does not have, or of a kind that it cannot hold; a number that does not fit;
/// two members of a oneof in one row, each with its path.
///
/// ```
/// # use extenso_core::Value;
/// # use extenso_ext::{Literal, constant};
/// # use extenso_formats::encode_proto;
/// # use extenso_formats::proto::Schema;
/// # use extenso_types::Nest;
/// let schema = Schema::from_text("message Item { optional int32 id = 1; repeated string tags = 2; }").unwrap();
/// let tags = Literal::List(vec!["a".into()]);
/// let items = Literal::List(vec![Literal::record([("id", Literal::Int(7)), ("tags", tags)])]);
/// let items = Nest::Leaf(constant(items).unwrap());
/// let messages = encode_proto(&items, &schema.message("Item").unwrap()).unwrap();
/// assert_eq!(messages.data().unwrap().text_at(0).unwrap(), b"\x08\x07\x12\x01a");
/// ```
pub fn encode_proto(value: &Nest<Value>, message: &MessageType) -> Result<Tensor> {
    let batch = Batch::of(value)?;
    let (plan, rows) = (batch.records.plan(), batch.rows);
    let texts = encode(message, plan, &batch.records.columns(&batch.leaves)?, batch.parts())?;
    let (offsets, bytes) = texts.into_parts();
    Tensor::from_text(DType::Bytes, &[rows], offsets_of(offsets), Buffer::from_vec(bytes))
}

/// Writes a batch as `tf.train.Example` or `SequenceExample` messages: a byte string for each row.
///
/// The fields of the value are the features, as [the table](crate::proto) says; what reads them is the spec of the value.
///
/// Errors: a value that examples cannot hold, with its path; a number that does not fit, with its row.
///
/// ```
/// # use extenso_ext::{Literal, constant};
/// # use extenso_formats::proto::{Example, encode_examples};
/// # use extenso_types::Nest;
/// let users = constant(Literal::List(vec![Literal::record([("age", Literal::Int(7))])])).unwrap();
/// let examples = encode_examples(&Nest::Leaf(users), Example::Plain).unwrap();
/// assert_eq!(examples.data().unwrap().text_at(0).unwrap(), b"\x0a\x0e\x0a\x0c\x0a\x03age\x12\x05\x1a\x03\x0a\x01\x07");
/// ```
pub fn encode_examples(value: &Nest<Value>, example: Example) -> Result<Tensor> {
    let batch = Batch::of(value)?;
    let (plan, rows) = (batch.records.plan(), batch.rows);
    let texts = put_example::encode(example, plan, &batch.records.columns(&batch.leaves)?, batch.parts())?;
    let (offsets, bytes) = texts.into_parts();
    Tensor::from_text(DType::Bytes, &[rows], offsets_of(offsets), Buffer::from_vec(bytes))
}

/// Writes a batch as examples into a file, which appears under its name whole or not at all.
///
/// Errors: those of [`encode_examples`]; what the operating system refuses.
pub fn write_examples(
    value: &Nest<Value>,
    example: Example,
    path: impl AsRef<std::path::Path>,
    framing: Framing,
) -> Result<()> {
    write_messages(&encode_examples(value, example)?, path, framing)
}

/// Writes a batch as messages into a file, which appears under its name whole or not at all.
///
/// Errors: those of [`encode_proto`]; what the operating system refuses.
pub fn write_proto(
    value: &Nest<Value>,
    message: &MessageType,
    path: impl AsRef<std::path::Path>,
    framing: Framing,
) -> Result<()> {
    write_messages(&encode_proto(value, message)?, path, framing)
}

fn write_messages(messages: &Tensor, path: impl AsRef<std::path::Path>, framing: Framing) -> Result<()> {
    let (dense, mut file) = (messages.data()?, Vec::new());
    for i in 0..dense.len() {
        framing.put(dense.text_at(i)?, &mut file);
    }
    write_atomically(path, &file).map_err(Error::from)
}
