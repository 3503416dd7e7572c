//! Protocol buffers in and out: `proto_spec`, `read_proto`, `write_proto`, `read_examples`, `write_examples`, and what a function runs over.
//!
//! Holds no logic of the format: descriptors become schemas, sources messages, and options those of the formats crate.

use super::source::{Source, with_source_bytes};
use super::target::{batch_of, path_of, write_to};
use super::{Paths, policy, with_report};
use crate::error::{OrRaise, guarded, raised};
use crate::tensor::PyTensor;
use crate::typed::{Typed, typed};
use crate::{arg, spec, value};
use extenso_core::Value;
use extenso_formats::proto::{
    Content, Enums, Example, ExampleOptions, Framing, MessageType, Messages, Oneofs, Optionals, Schema,
};
use extenso_formats::source::{Format, MessageSink, Sink, unpack};
use extenso_formats::{ProtobufOptions, Recent, proto_spec as spec_of};
use extenso_types::{Error, Nest, Result};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use std::path::{Path, PathBuf};

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(proto_spec, module)?)?;
    module.add_function(wrap_pyfunction!(read_proto, module)?)?;
    module.add_function(wrap_pyfunction!(read_examples, module)?)?;
    module.add_function(wrap_pyfunction!(write_proto, module)?)?;
    module.add_function(wrap_pyfunction!(write_examples, module)?)
}

/// The framing of this name.
///
/// Errors: another name.
pub fn framing_of(py: Python<'_>, name: &str) -> PyResult<Framing> {
    match name {
        "delimited" => Ok(Framing::Delimited),
        "tfrecord" => Ok(Framing::TfRecord),
        other => {
            let error = Error::value(format!("found '{other}'")).wanted("'delimited' or 'tfrecord'");
            Err(raised(py, error.at("framing")))
        }
    }
}

/// The message of a descriptor: a serialized set, `.proto` text, or a path to either.
///
/// Errors: another object; what is no descriptor; a message that it does not have.
pub fn message_of(descriptor: &Bound<'_, PyAny>, name: &str) -> PyResult<MessageType> {
    let py = descriptor.py();
    let schema = if let Ok(set) = descriptor.cast::<PyBytes>() {
        remembered(Kind::Set, set.as_bytes(), || Schema::from_descriptor_set(set.as_bytes()))
    } else if let Ok(text) = descriptor.cast::<PyString>() {
        let text = text.to_cow()?;
        let schema = remembered(Kind::Text, text.as_bytes(), || Schema::from_text(&text));
        let is_text = text.contains(['{', ';', '\n']);
        schema.map_err(|e| if is_text { e } else { e.hint("A path is given as a pathlib.Path") })
    } else if descriptor.hasattr("__fspath__")? {
        let path: PathBuf = descriptor.extract()?;
        py.detach(|| guarded(|| Schema::from_file(&path)))
    } else {
        let error = Error::dtype(format!("found a value of type {}", arg::type_name(descriptor)));
        Err(error.wanted("a serialized FileDescriptorSet as bytes, .proto text, or a pathlib.Path").at("descriptor"))
    };
    schema.and_then(|schema| schema.message(name)).or_raise()
}

/// The message of a descriptor, if both are given.
///
/// Errors: one of them alone; those of [`message_of`].
pub fn message_if_said(
    py: Python<'_>,
    descriptor: Option<&Bound<'_, PyAny>>,
    message: Option<&str>,
    at: &str,
) -> PyResult<Option<MessageType>> {
    match (descriptor, message) {
        (Some(descriptor), Some(name)) => message_of(descriptor, name).map(Some),
        (None, None) => Ok(None),
        (Some(_), None) | (None, Some(_)) => {
            let error = Error::value("one of `descriptor` and `message` is given, and the other is not");
            Err(raised(py, error.wanted("both, or neither").at(at)))
        }
    }
}

/// What a schema was made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Set,
    Text,
}

/// The schemas that were used last: making one takes longer than most calls that need it.
static KNOWN: Recent<(Kind, Box<[u8]>), Schema> = Recent::new();

/// Descriptors of more bytes are not kept.
const KEPT_BYTES: usize = 1 << 22;

/// The schema of a source, which is made once while it is in use.
///
/// Errors: those of `make`.
fn remembered(kind: Kind, source: &[u8], make: impl FnOnce() -> Result<Schema>) -> Result<Schema> {
    if let Some(schema) = KNOWN.find(|(of, bytes)| *of == kind && **bytes == *source) {
        return Ok(schema);
    }
    let schema = guarded(make)?;
    if source.len() <= KEPT_BYTES {
        KNOWN.keep((kind, source.into()), schema.clone());
    }
    Ok(schema)
}

/// Calls `f` with the messages of a source, while other Python threads run.
pub fn with_messages<T: Send>(
    source: &Bound<'_, PyAny>,
    framing: Option<Framing>,
    op: &str,
    f: impl Fn(Messages<'_>) -> Result<T> + Send + Sync,
) -> PyResult<T> {
    let py = source.py();
    let read = |messages: Messages<'_>| py.detach(|| guarded(|| f(messages)).map_err(|e| e.at(op))).or_raise();
    if source.is_instance_of::<PyList>() || source.is_instance_of::<PyTuple>() {
        let items: Vec<Bound<'_, PyAny>> = source.try_iter()?.collect::<PyResult<_>>()?;
        let list: Vec<&[u8]> =
            items.iter().enumerate().map(|(i, item)| serialized(i, item)).collect::<PyResult<_>>()?;
        return read(Messages::Each(&list));
    }
    if let Ok(tensor) = source.cast::<PyTensor>() {
        let dense = tensor.get().0.data().or_raise()?;
        if dense.dims().len() != 1 {
            let error = Error::shape(format!("the messages have shape {:?}", dense.dims())).wanted("one axis");
            return Err(raised(py, error.at("source")));
        }
        dense.text().map_err(|e| e.at("source")).or_raise()?;
        return read(Messages::Texts(dense));
    }
    let source = Source::of(source)?;
    let framing = framing.or_else(|| named(&source));
    with_source_bytes(py, source, op, |bytes| f(Messages::of_file(&unpack(bytes)?, framing)))
}

/// The framing that the name of a file says; its first bytes tell the other.
fn named(source: &Source<'_>) -> Option<Framing> {
    let is = |path: &Path| Format::of_name(path) == Some(Format::TfRecord);
    matches!(source, Source::Path(path) if is(path)).then_some(Framing::TfRecord)
}

fn serialized<'a>(i: usize, item: &'a Bound<'_, PyAny>) -> PyResult<&'a [u8]> {
    if let Ok(bytes) = item.cast::<PyBytes>() {
        return Ok(bytes.as_bytes());
    }
    let error = Error::dtype(format!("found a value of type {}", arg::type_name(item)));
    let error = error.wanted("serialized messages, as bytes").hint("`message.SerializeToString()` gives them");
    Err(raised(item.py(), error.at(format!("source[{i}]"))))
}

/// The keywords that say what fields become where no spec says it.
pub struct Shaped<'a> {
    pub optional: &'a str,
    pub enums: &'a str,
    pub oneof: &'a str,
    pub depth: Option<usize>,
}

impl Shaped<'_> {
    /// How messages are read.
    ///
    /// Errors: a name that is none; a path that is none.
    pub fn options(
        &self,
        py: Python<'_>,
        spec: Option<&Bound<'_, PyAny>>,
        paths: Option<Paths>,
        on_error: &str,
    ) -> PyResult<ProtobufOptions> {
        Ok(ProtobufOptions {
            spec: spec.map(spec::spec_or_value).transpose()?,
            paths: paths.map(|paths| paths.0),
            optionals: optionals_of(py, self.optional)?,
            enums: enums_of(py, self.enums)?,
            oneofs: oneofs_of(py, self.oneof)?,
            depth: self.depth,
            on_error: policy(py, on_error)?,
        })
    }
}

/// What optional fields become, by name.
///
/// Errors: another name.
fn optionals_of(py: Python<'_>, name: &str) -> PyResult<Optionals> {
    match name {
        "rows" => Ok(Optionals::Rows),
        "masked" => Ok(Optionals::Masked),
        other => {
            let error = Error::value(format!("found '{other}'")).wanted("'rows' or 'masked'");
            Err(raised(py, error.at("optional")))
        }
    }
}

/// What enums become, by name.
///
/// Errors: another name.
fn enums_of(py: Python<'_>, name: &str) -> PyResult<Enums> {
    match name {
        "numbers" => Ok(Enums::Numbers),
        "names" => Ok(Enums::Names),
        other => {
            let error = Error::value(format!("found '{other}'")).wanted("'numbers' or 'names'");
            Err(raised(py, error.at("enums")))
        }
    }
}

/// What oneofs become, by name.
///
/// Errors: another name.
fn oneofs_of(py: Python<'_>, name: &str) -> PyResult<Oneofs> {
    match name {
        "members" => Ok(Oneofs::Members),
        "union" => Ok(Oneofs::Union),
        other => {
            let error = Error::value(format!("found '{other}'")).wanted("'members' or 'union'");
            Err(raised(py, error.at("oneof")))
        }
    }
}

/// The spec of the messages of this name: a struct of their fields.
///
/// `descriptor` is a serialized `FileDescriptorSet` as bytes, the text of a `.proto` file, or a path to either. Scalars are tensors,
/// repeated fields ragged, messages structs, maps ragged structs of `key` and `value`. A field that may be missing is a list of no or one
/// value, with `optional="masked"` a masked value. Enums are `i32`, with `enums="names"` strings. The members of a oneof are fields; with
/// `oneof="union"` they are the types of one `UnionTensor` under its name, which may be missing. Messages that hold themselves are followed
/// `depth` levels, or as far as `paths` lead.
///
/// >>> import extenso as ex
/// >>> item = "syntax = 'proto3'; message Item { int64 id = 1; optional float price = 2; repeated string tags = 3; }"
/// >>> ex.proto_spec(item, "Item", paths=["id", "tags"])
/// StructTensorSpec([None], {'id': TensorSpec([None], 'i64'), 'tags': RaggedTensorSpec([None, None], 'string')})
#[pyfunction]
#[pyo3(signature = (descriptor, message, *, paths=None, optional=Typed::new("rows"), enums=Typed::new("numbers"), oneof=Typed::new("members"), depth=None), text_signature = "(descriptor, message, *, paths=None, optional=\"rows\", enums=\"numbers\", oneof=\"members\", depth=None)")]
#[allow(clippy::too_many_arguments)] // They are the keywords of the Python function.
fn proto_spec<'py>(
    py: Python<'py>,
    descriptor: &Bound<'py, PyAny>,
    message: Typed<&str>,
    paths: Option<Typed<Paths>>,
    optional: Typed<&str>,
    enums: Typed<&str>,
    oneof: Typed<&str>,
    depth: Option<Typed<usize>>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(proto_spec: paths, message, optional, enums, oneof, depth);
    let options = Shaped { optional, enums, oneof, depth }.options(py, None, paths, "raise")?;
    let message = message_of(descriptor, message)?;
    spec::to_py(py, guarded(|| spec_of(&message, &options)).or_raise()?)
}

/// Serialized messages of one type as one value, whose outer axis is the messages.
///
/// The source is a list of bytes, a tensor of byte strings, or a file as bytes, a path or a file object: messages with a varint for the length
/// before each (`framing="delimited"`), or a TFRecord file (`"tfrecord"`), whose checksums are checked; without `framing`, the first
/// checksum tells. `descriptor`, `optional`, `enums`, `oneof` and `depth` are those of `proto_spec`; a `spec` says how each field is read, and which.
/// With `paths`, such as `["id", "items[*].price"]`, only these parts are read and in the value. A row that does not fit raises, with its
/// number, byte offset and path. With `on_error="skip"` it is left out, with `"default"` it holds zeros, empty rows and missing values; then
/// the result is `(value, bad)`, where `bad` lists these rows.
///
/// >>> import extenso as ex
/// >>> item = "syntax = 'proto3'; message Item { int64 id = 1; optional float price = 2; repeated string tags = 3; }"
/// >>> ex.to_py(ex.read_proto([b"\x08\x07\x1a\x01a", b"\x15\x00\x00\x00\x3f"], item, "Item", optional="masked"))
/// [{'id': 7, 'price': None, 'tags': ['a']}, {'id': 0, 'price': 0.5, 'tags': []}]
#[pyfunction]
#[pyo3(signature = (
    source, descriptor, message, spec=None, paths=None, *, optional=Typed::new("rows"), enums=Typed::new("numbers"), oneof=Typed::new("members"), depth=None, framing=None,
    on_error=Typed::new("raise")
), text_signature = "(source, descriptor, message, spec=None, paths=None, *, optional=\"rows\", enums=\"numbers\", oneof=\"members\", depth=None, framing=None, on_error=\"raise\")")]
#[allow(clippy::too_many_arguments)] // They are the keywords of the Python function.
fn read_proto<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    descriptor: &Bound<'py, PyAny>,
    message: Typed<&str>,
    spec: Option<&Bound<'py, PyAny>>,
    paths: Option<Typed<Paths>>,
    optional: Typed<&str>,
    enums: Typed<&str>,
    oneof: Typed<&str>,
    depth: Option<Typed<usize>>,
    framing: Option<Typed<&str>>,
    on_error: Typed<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(read_proto: paths, message, optional, enums, oneof, depth, framing, on_error);
    let shaped = Shaped { optional, enums, oneof, depth };
    let options = shaped.options(py, spec, paths, on_error)?;
    let (message, framing) = (message_of(descriptor, message)?, framing.map(|name| framing_of(py, name)).transpose()?);
    let read = |messages: Messages<'_>| extenso_formats::read_proto(messages, &message, &options);
    let rows = with_messages(source, framing, "read_proto", read)?;
    with_report(value::to_py(py, rows.value)?, rows.bad, options.on_error)
}

/// Which message an example is.
pub fn example_of(sequence: bool) -> Example {
    if sequence { Example::Sequence } else { Example::Plain }
}

/// How examples are read.
///
/// Errors: no spec; a path or a policy that is none.
pub fn example_options(
    py: Python<'_>,
    spec: &Bound<'_, PyAny>,
    paths: Option<Paths>,
    sequence: bool,
    on_error: &str,
) -> PyResult<ExampleOptions> {
    Ok(ExampleOptions {
        spec: spec::spec_or_value(spec)?,
        paths: paths.map(|paths| paths.0),
        example: example_of(sequence),
        on_error: policy(py, on_error)?,
    })
}

/// TensorFlow's descriptions of features, and how they are asked for.
pub struct Described<'py> {
    reader: &'static str,
    description: Bound<'py, PyAny>,
    pub options: Bound<'py, PyDict>,
}

impl<'py> Described<'py> {
    /// What is asked of a reader of examples, if the spec is a dict of descriptions, or a pair of dicts.
    ///
    /// Errors: descriptions that cannot be read by.
    pub fn of(
        reader: &'static str,
        spec: &Bound<'py, PyAny>,
        paths: Option<&Paths>,
        sequence: bool,
        on_error: &str,
    ) -> PyResult<Option<Described<'py>>> {
        let py = spec.py();
        if !(spec.is_instance_of::<PyDict>() || spec.is_instance_of::<PyTuple>() || spec.is_instance_of::<PyList>()) {
            return Ok(None);
        }
        let description = py.import("extenso._interop.examples")?.call_method1("described", (spec,))?;
        if description.is_none() {
            return Ok(None);
        }
        let options = PyDict::new(py);
        let paths = paths.map(|paths| paths.0.iter().map(ToString::to_string).collect::<Vec<String>>());
        options.set_item("paths", paths)?;
        options.set_item("sequence", sequence)?;
        options.set_item("on_error", on_error)?;
        Ok(Some(Described { reader, description, options }))
    }

    /// The features of a source.
    pub fn read(self, source: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = source.py();
        let reader = py.import("extenso._core")?.getattr(self.reader)?;
        let read = py.import("extenso._interop.examples")?.getattr("read")?;
        read.call((reader, source, self.description), Some(&self.options))
    }
}

/// TensorFlow's `Example` messages, or with `sequence=True` `SequenceExample` messages, as one value, whose outer axis is the examples.
///
/// The source and `framing` are those of `read_proto`. `spec` is a struct of the features by name: a scalar or dense axes where there are
/// exactly so many values, ragged where there are any, masked where a feature may be missing. Integers are read from int64 lists, `f32` and
/// `f64` from float lists, `bytes` and `string` from bytes lists. A sequence example is a struct of two, `context` and `feature_lists`; features of
/// the latter have the steps as one more ragged axis. TensorFlow's own descriptions are taken too: a dict of `tf.io.FixedLenFeature` and its kin, or
/// for sequence examples a pair of dicts; the features have the names of the dict, and a feature list that is missing is empty, whatever `allow_missing` says. With `paths`, only these features are read and in the value. `on_error` is that of
/// `read_proto`.
///
/// >>> import extenso as ex
/// >>> spec = ex.StructTensorSpec([None], {"age": ex.TensorSpec([None], "i64"), "tags": ex.RaggedTensorSpec([None, None], "string")})
/// >>> ex.to_py(ex.read_examples([b"\x0a\x0e\x0a\x0c\x0a\x03age\x12\x05\x1a\x03\x0a\x01\x07"], spec))
/// [{'age': 7, 'tags': []}]
#[pyfunction]
#[pyo3(signature = (source, spec, *, paths=None, sequence=Typed::new(false), framing=None, on_error=Typed::new("raise")), text_signature = "(source, spec, *, paths=None, sequence=False, framing=None, on_error=\"raise\")")]
fn read_examples<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    spec: &Bound<'py, PyAny>,
    paths: Option<Typed<Paths>>,
    sequence: Typed<bool>,
    framing: Option<Typed<&str>>,
    on_error: Typed<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(read_examples: paths, sequence, framing, on_error);
    if let Some(asked) = Described::of("read_examples", spec, paths.as_ref(), sequence, on_error)? {
        asked.options.set_item("framing", framing)?;
        return asked.read(source);
    }
    let options = example_options(py, spec, paths, sequence, on_error)?;
    let framing = framing.map(|name| framing_of(py, name)).transpose()?;
    let rows =
        with_messages(source, framing, "read_examples", |messages| extenso_formats::read_examples(messages, &options))?;
    with_report(value::to_py(py, rows.value)?, rows.bad, options.on_error)
}

/// Writes a value, or a dict of values, as serialized messages: one for each item of the outer axis.
///
/// Fields are written by name; those of the message that the value does not have are not written. A field that may be missing is masked or a list of
/// no or one value, an enum a name or a number; a list that is missing has no items. The target is a path, where the file appears whole or not at all,
/// or a file object that is open for bytes: the messages have a length before each, or they are TFRecords where its name or `framing="tfrecord"` says so. Without it, they are
/// returned as a tensor of byte strings; such a tensor is messages already, and goes into a target without `descriptor` and `message`.
///
/// >>> import extenso as ex
/// >>> item = "syntax = 'proto3'; message Item { int64 id = 1; optional float price = 2; repeated string tags = 3; }"
/// >>> items = ex.constant([{"id": 7, "tags": ["a"]}, {"id": 0, "tags": []}])
/// >>> ex.write_proto(items, descriptor=item, message="Item").tolist()
/// [b'\x08\x07\x1a\x01a', b'']
#[pyfunction]
#[pyo3(signature = (x, target=None, descriptor=None, message=None, *, framing=None), text_signature = "(x, target=None, descriptor=None, message=None, *, framing=None)")]
fn write_proto<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    target: Option<&Bound<'py, PyAny>>,
    descriptor: Option<&Bound<'py, PyAny>>,
    message: Option<Typed<&str>>,
    framing: Option<Typed<&str>>,
) -> PyResult<Option<PyTensor>> {
    typed!(write_proto: message, framing);
    let nest = batch_of(x, "write_proto")?;
    let framing = match framing {
        Some(framing) => framing_of(py, framing)?,
        None if path_of(target)?.is_some_and(|path| Format::of_name(&path) == Some(Format::TfRecord)) => {
            Framing::TfRecord
        }
        None => Framing::Delimited,
    };
    let message = message_if_said(py, descriptor, message, "write_proto")?;
    if target.is_some() {
        return write_messages(py, target, &nest, framing, message.map(Content::Message)).map(|()| None);
    }
    let message = message.ok_or_else(|| {
        let error = Error::missing("nothing says which message the value is").wanted("`descriptor` and `message`");
        raised(py, error.at("write_proto"))
    })?;
    let written = py.detach(|| guarded(|| extenso_formats::encode_proto(&nest, &message)));
    written.or_raise().map(|messages| Some(PyTensor(messages)))
}

fn write_messages<'py>(
    py: Python<'py>,
    target: Option<&Bound<'py, PyAny>>,
    nest: &Nest<Value>,
    framing: Framing,
    content: Option<Content>,
) -> PyResult<()> {
    let encode = || {
        let mut file = Vec::new();
        MessageSink::new(&mut file, framing, content).write(nest)?;
        Ok(file)
    };
    let file = py.detach(|| guarded(encode)).or_raise()?;
    write_to(py, target, &file).map(drop)
}

/// Writes a value, or a dict of values, as TensorFlow's `Example` messages, or with `sequence=True` as `SequenceExample` messages: one for each item
/// of the outer axis.
///
/// The fields are the features: integers become int64 lists, floats float lists, `bytes` and `string` bytes lists; a value that is missing is left
/// out. An `f64` has to be an `f32` exactly. A sequence example is a struct of two, `context` and `feature_lists`. The target is a path, where the
/// file appears whole or not at all, or a file object that is open for bytes, of TFRecords, or with `framing="delimited"` of messages with a length
/// before each. Without it, the messages are returned as a tensor of byte strings. `read_examples` reads them by the spec of the value.
///
/// >>> import extenso as ex
/// >>> ex.write_examples(ex.constant([{"age": 7}])).tolist()
/// [b'\n\x0e\n\x0c\n\x03age\x12\x05\x1a\x03\n\x01\x07']
#[pyfunction]
#[pyo3(signature = (x, target=None, *, sequence=Typed::new(false), framing=Typed::new("tfrecord")), text_signature = "(x, target=None, *, sequence=False, framing=\"tfrecord\")")]
fn write_examples<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    target: Option<&Bound<'py, PyAny>>,
    sequence: Typed<bool>,
    framing: Typed<&str>,
) -> PyResult<Option<PyTensor>> {
    typed!(write_examples: sequence, framing);
    let (nest, example, framing) = (batch_of(x, "write_examples")?, example_of(sequence), framing_of(py, framing)?);
    if target.is_some() {
        return write_messages(py, target, &nest, framing, Some(Content::Examples(example))).map(|()| None);
    }
    let written = py.detach(|| guarded(|| extenso_formats::encode_examples(&nest, example)));
    written.or_raise().map(|messages| Some(PyTensor(messages)))
}
