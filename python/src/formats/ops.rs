//! Ops on texts that are records: `parse_json`, `parse_proto`, `parse_examples`, and `encode_` of each; `decode_arrow` on files of them.
//!
//! Holds no logic of a format: arguments become values and specs, and the ops are those of the formats crate.

use super::protobuf::{Described, Shaped, example_of, example_options, message_if_said, message_of};
use super::{Paths, policy};
use crate::error::{OrRaise, guarded};
use crate::typed::{Typed, typed};
use crate::{literal, spec, value};
use extenso_core::{Tensor, Value};
use extenso_formats::ops::Parsed;
use extenso_formats::{OnError, ops};
use extenso_types::Error;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(parse_json, module)?)?;
    module.add_function(wrap_pyfunction!(encode_json, module)?)?;
    module.add_function(wrap_pyfunction!(parse_proto, module)?)?;
    module.add_function(wrap_pyfunction!(encode_proto, module)?)?;
    module.add_function(wrap_pyfunction!(parse_examples, module)?)?;
    module.add_function(wrap_pyfunction!(encode_examples, module)?)?;
    module.add_function(wrap_pyfunction!(decode_arrow, module)?)
}

/// The records, and what was bad where that does not raise.
fn parsed_to_py<'py>(py: Python<'py>, parsed: Parsed, on_error: OnError) -> PyResult<Bound<'py, PyAny>> {
    let records = value::to_py(py, parsed.value)?;
    match on_error {
        OnError::Raise => Ok(records),
        OnError::Skip | OnError::Default => Ok(PyTuple::new(py, [records, value::to_py(py, parsed.bad)?])?.into_any()),
    }
}

/// The value of an argument; lists may hold records and `None`, as those of `constant` do.
fn given(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let is_nest =
        || object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyDict>();
    match value::from_py(object) {
        Err(_) if is_nest() => literal::value(object),
        given => given,
    }
}

/// The texts of an argument; an empty list has none.
fn texts(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    match object.cast::<PyList>() {
        Ok(list) if list.is_empty() => Tensor::strings::<&str>(&[0], &[]).map(Value::from).or_raise(),
        _ => given(object),
    }
}

/// The record in each JSON text, by the spec of a batch of records, or by an example of one.
///
/// The records have the axes of the texts, rows included, and are missing where a text is. In a traced function only the leaves that
/// it uses are decoded; the rest is checked for syntax alone. A text that does not fit raises, with its row, byte and path. With
/// `on_error="default"` its record holds zeros, empty rows and missing values; then the result is `(records, bad)`, where `bad` says
/// which these are.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.parse_json(['{"id": 7, "tags": ["a"]}', '{"id": 8, "tags": []}'], ex.constant([{"id": 0, "tags": ["", ""]}, {"id": 0, "tags": []}])))
/// [{'id': 7, 'tags': ['a']}, {'id': 8, 'tags': []}]
///
/// With `descriptor` and `message`, the texts are the JSON form of messages of protocol buffers, and the records are those of `parse_proto`, whose other
/// keywords are these too.
///
/// >>> item = "syntax = 'proto3'; message Item { int64 item_id = 1; map<string, int32> stock = 2; }"
/// >>> ex.to_py(ex.parse_json(['{"itemId": "7", "stock": {"a": 1}}'], descriptor=item, message="Item"))
/// [{'item_id': 7, 'stock': [{'key': 'a', 'value': 1}]}]
#[pyfunction]
#[pyo3(signature = (
    strings, spec=None, *, descriptor=None, message=None, paths=None, optional=Typed::new("rows"), enums=Typed::new("numbers"), oneof=Typed::new("members"), depth=None,
    on_error=Typed::new("raise")
), text_signature = "(strings, spec=None, *, descriptor=None, message=None, paths=None, optional=\"rows\", enums=\"numbers\", oneof=\"members\", depth=None, on_error=\"raise\")")]
#[allow(clippy::too_many_arguments)] // They are the keywords of the Python function.
fn parse_json<'py>(
    strings: &Bound<'py, PyAny>,
    spec: Option<&Bound<'py, PyAny>>,
    descriptor: Option<&Bound<'py, PyAny>>,
    message: Option<Typed<&str>>,
    paths: Option<Typed<Paths>>,
    optional: Typed<&str>,
    enums: Typed<&str>,
    oneof: Typed<&str>,
    depth: Option<Typed<usize>>,
    on_error: Typed<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(parse_json: paths, message, optional, enums, oneof, depth, on_error);
    let py = strings.py();
    let message = message_if_said(py, descriptor, message, "parse_json")?;
    let shaped = Shaped { optional, enums, oneof, depth };
    let options = shaped.options(py, spec, paths, on_error)?;
    let texts = texts(strings)?;
    let parse = || match (&message, &options.spec) {
        (Some(message), _) => ops::parse_proto_json(&texts, message, &options),
        (None, Some(spec)) => ops::parse_json(&texts, &options.part_of(spec)?, options.on_error),
        (None, None) => {
            let error =
                Error::missing("nothing says what the records are").wanted("a `spec`, or `descriptor` and `message`");
            Err(error.at("parse_json"))
        }
    };
    parsed_to_py(py, py.detach(|| guarded(parse)).or_raise()?, options.on_error)
}

/// The JSON text of each record, or of each item of the outer axis of a value that holds no records.
///
/// What is missing is missing in the texts, which are those of `write_json`.
///
/// >>> import extenso as ex
/// >>> ex.encode_json(ex.constant([{"id": 7, "tags": ["a"]}, {"id": 8, "tags": []}])).tolist()
/// ['{"id":7,"tags":["a"]}', '{"id":8,"tags":[]}']
///
/// With `descriptor` and `message`, a text is the JSON form of a message of protocol buffers.
///
/// >>> item = "syntax = 'proto3'; message Item { int64 item_id = 1; }"
/// >>> ex.encode_json(ex.constant([{"item_id": 7}]), descriptor=item, message="Item").tolist()
/// ['{"itemId":"7"}']
#[pyfunction]
#[pyo3(signature = (x, *, descriptor=None, message=None))]
fn encode_json<'py>(
    x: &Bound<'py, PyAny>,
    descriptor: Option<&Bound<'py, PyAny>>,
    message: Option<Typed<&str>>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(encode_json: message);
    let (py, records) = (x.py(), given(x)?);
    let message = message_if_said(py, descriptor, message, "encode_json")?;
    let encode = || match &message {
        Some(message) => ops::encode_proto_json(&records, message),
        None => ops::encode_json(&records),
    };
    value::to_py(py, py.detach(|| guarded(encode)).or_raise()?)
}

/// The record in each serialized message.
///
/// `descriptor`, `message`, `paths`, `optional`, `enums`, `oneof` and `depth` are those of `read_proto`; `spec` says how fields are read, and which.
/// The records have the axes of the messages, rows included, and are missing where a message is. In a traced function only the leaves that
/// it uses are decoded. A message that does not fit raises, with its row, byte and path. With `on_error="default"` its record holds
/// zeros, empty rows and missing values; then the result is `(records, bad)`, where `bad` says which these are.
///
/// >>> import extenso as ex
/// >>> item = "syntax = 'proto3'; message Item { int64 id = 1; optional float price = 2; repeated string tags = 3; }"
/// >>> ex.to_py(ex.parse_proto([b"\x08\x07\x1a\x01a", b""], item, "Item", optional="masked"))
/// [{'id': 7, 'price': None, 'tags': ['a']}, {'id': 0, 'price': None, 'tags': []}]
#[pyfunction]
#[pyo3(signature = (
    messages, descriptor, message, spec=None, *, paths=None, optional=Typed::new("rows"), enums=Typed::new("numbers"), oneof=Typed::new("members"), depth=None, on_error=Typed::new("raise")
), text_signature = "(messages, descriptor, message, spec=None, *, paths=None, optional=\"rows\", enums=\"numbers\", oneof=\"members\", depth=None, on_error=\"raise\")")]
#[allow(clippy::too_many_arguments)] // They are the keywords of the Python function.
fn parse_proto<'py>(
    messages: &Bound<'py, PyAny>,
    descriptor: &Bound<'py, PyAny>,
    message: Typed<&str>,
    spec: Option<&Bound<'py, PyAny>>,
    paths: Option<Typed<Paths>>,
    optional: Typed<&str>,
    enums: Typed<&str>,
    oneof: Typed<&str>,
    depth: Option<Typed<usize>>,
    on_error: Typed<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(parse_proto: paths, message, optional, enums, oneof, depth, on_error);
    let py = messages.py();
    let shaped = Shaped { optional, enums, oneof, depth };
    let options = shaped.options(py, spec, paths, on_error)?;
    let (texts, message) = (texts(messages)?, message_of(descriptor, message)?);
    let parsed = py.detach(|| guarded(|| ops::parse_proto(&texts, &message, &options))).or_raise()?;
    parsed_to_py(py, parsed, options.on_error)
}

/// The serialized message of each record, as byte strings under the axes of the records.
///
/// Fields are written by name, as `write_proto` does. Where a record is missing, so is its message.
///
/// >>> import extenso as ex
/// >>> item = "syntax = 'proto3'; message Item { int64 id = 1; repeated string tags = 2; }"
/// >>> ex.encode_proto(ex.constant([{"id": 7, "tags": ["a"]}, {"id": 0, "tags": []}]), item, "Item").tolist()
/// [b'\x08\x07\x12\x01a', b'']
#[pyfunction]
fn encode_proto<'py>(
    x: &Bound<'py, PyAny>,
    descriptor: &Bound<'py, PyAny>,
    message: Typed<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(encode_proto: message);
    let (py, records, message) = (x.py(), given(x)?, message_of(descriptor, message)?);
    value::to_py(py, py.detach(|| guarded(|| ops::encode_proto(&records, &message))).or_raise()?)
}

/// The record in each serialized `tf.train.Example`, or with `sequence=True` in each `SequenceExample`.
///
/// `spec`, `paths` and `sequence` are those of `read_examples`. The records have the axes of the messages, rows included, and are missing where a
/// message is. In a traced function only the features that it uses are decoded. A message that does not fit raises, with its row, byte and path.
/// With `on_error="default"` its record holds zeros, empty rows and missing values; then the result is `(records, bad)`, where `bad` says which
/// these are.
///
/// >>> import extenso as ex
/// >>> spec = ex.StructTensorSpec([None], {"age": ex.TensorSpec([None], "i64"), "tags": ex.RaggedTensorSpec([None, None], "string")})
/// >>> ex.to_py(ex.parse_examples([b"\x0a\x0e\x0a\x0c\x0a\x03age\x12\x05\x1a\x03\x0a\x01\x07"], spec))
/// [{'age': 7, 'tags': []}]
#[pyfunction]
#[pyo3(signature = (messages, spec, *, paths=None, sequence=Typed::new(false), on_error=Typed::new("raise")), text_signature = "(messages, spec, *, paths=None, sequence=False, on_error=\"raise\")")]
fn parse_examples<'py>(
    messages: &Bound<'py, PyAny>,
    spec: &Bound<'py, PyAny>,
    paths: Option<Typed<Paths>>,
    sequence: Typed<bool>,
    on_error: Typed<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(parse_examples: paths, sequence, on_error);
    let py = messages.py();
    if let Some(asked) = Described::of("parse_examples", spec, paths.as_ref(), sequence, on_error)? {
        return asked.read(messages);
    }
    let options = example_options(py, spec, paths, sequence, on_error)?;
    let texts = texts(messages)?;
    let parsed = py.detach(|| guarded(|| ops::parse_examples(&texts, &options))).or_raise()?;
    parsed_to_py(py, parsed, options.on_error)
}

/// The serialized `tf.train.Example` of each record, or with `sequence=True` the `SequenceExample`, as byte strings under the axes of the records.
///
/// Features are written by name, as `write_examples` does. Where a record is missing, so is its message.
///
/// >>> import extenso as ex
/// >>> ex.encode_examples(ex.constant([{"age": 7}])).tolist()
/// [b'\n\x0e\n\x0c\n\x03age\x12\x05\x1a\x03\n\x01\x07']
#[pyfunction]
#[pyo3(signature = (x, *, sequence=Typed::new(false)), text_signature = "(x, *, sequence=False)")]
fn encode_examples<'py>(x: &Bound<'py, PyAny>, sequence: Typed<bool>) -> PyResult<Bound<'py, PyAny>> {
    typed!(encode_examples: sequence);
    let (py, records) = (x.py(), given(x)?);
    let encode = || ops::encode_examples(&records, example_of(sequence));
    value::to_py(py, py.detach(|| guarded(encode)).or_raise()?)
}

/// The records in the bytes of Arrow's IPC files and streams, by the spec of a batch of records, or by an example of one.
///
/// One file gives its records; files under axes give rows of them, which are missing where a file is. In a traced function only the
/// columns that it uses are decoded. A file that does not fit raises, with its row and path. With `on_error="default"` a record that does
/// not fit holds zeros, empty rows and missing values; then the result is `(records, bad)`, where `bad` says which these are. With
/// `on_error="skip"` it is left out, and `bad` says how many were in each file.
///
/// >>> import extenso as ex
/// >>> items = ex.constant([{"id": 7, "tags": ["a"]}, {"id": 8, "tags": []}])
/// >>> ex.to_py(ex.decode_arrow([ex.write_arrow(items), ex.write_arrow(items[1:])], items))
/// [[{'id': 7, 'tags': ['a']}, {'id': 8, 'tags': []}], [{'id': 8, 'tags': []}]]
#[pyfunction]
#[pyo3(signature = (files, spec, *, on_error=Typed::new("raise")), text_signature = "(files, spec, *, on_error=\"raise\")")]
fn decode_arrow<'py>(
    files: &Bound<'py, PyAny>,
    spec: &Bound<'py, PyAny>,
    on_error: Typed<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(decode_arrow: on_error);
    let py = files.py();
    let (files, spec, on_error) = (texts(files)?, spec::spec_or_value(spec)?, policy(py, on_error)?);
    parsed_to_py(py, py.detach(|| guarded(|| ops::decode_arrow(&files, &spec, on_error))).or_raise()?, on_error)
}
