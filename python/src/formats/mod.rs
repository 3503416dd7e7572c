//! JSON in and out: `infer_spec`, `read_json`, `read_json_blocks`, `write_json`; CSV; Parquet; Avro; and protocol buffers.
//!
//! Holds no logic of a format: sources become bytes, options those of the formats crate, and reports Python objects.

mod arrow;
mod avro;
mod blocks;
mod csv;
mod ops;
mod parquet;
mod protobuf;
mod report;
mod rows;
mod run;
mod source;
mod target;
mod watch;

use crate::arrow::{chunks, has_arrays};
use crate::error::{OrRaise, carried, guarded, raised};
use crate::typed::{Typed, typed};
use crate::{arg, spec, value};
use extenso_formats::json::Decimals;
use extenso_formats::source::{Asked, spec_of_arrays};
use extenso_formats::{JsonOptions, OnError, SourceOptions, encode_ndjson};
use extenso_types::{Error, Path, Result};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

pub use protobuf::{framing_of, message_of, with_messages};
use report::with_report;
pub use run::{Run, Said, with_spec};
use source::Source;
pub use source::with_bytes;
use target::{batch_of, path_of, write_to};
pub use watch::{Watchers, check_bad_rows};

/// Adds the functions and classes to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<report::PyBadRow>()?;
    module.add_class::<report::PyBadRows>()?;
    module.add_class::<watch::PyProgress>()?;
    module.add_class::<blocks::PyBlocks>()?;
    module.add_function(wrap_pyfunction!(infer_spec, module)?)?;
    module.add_function(wrap_pyfunction!(read_json, module)?)?;
    module.add_function(wrap_pyfunction!(blocks::read_json_blocks, module)?)?;
    module.add_function(wrap_pyfunction!(write_json, module)?)?;
    arrow::add_to(module)?;
    avro::add_to(module)?;
    csv::add_to(module)?;
    parquet::add_to(module)?;
    protobuf::add_to(module)?;
    ops::add_to(module)
}

/// The policy for bad rows of this name.
///
/// Errors: another name.
pub fn policy(py: Python<'_>, name: &str) -> PyResult<OnError> {
    match name {
        "raise" => Ok(OnError::Raise),
        "skip" => Ok(OnError::Skip),
        "default" => Ok(OnError::Default),
        other => {
            let error = Error::value(format!("found '{other}'")).wanted("'raise', 'skip' or 'default'");
            Err(raised(py, error.at("on_error")))
        }
    }
}

/// The paths that are asked for.
pub struct Paths(pub Vec<Path>);

impl<'py> FromPyObject<'_, 'py> for Typed<Paths> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Typed<Paths>> {
        Ok(paths_of(&object).into())
    }
}

/// Errors: something other than a list or a tuple of strings, since another sequence may say any length, for which room would be made; a string that
/// is no path.
fn paths_of(object: &Bound<'_, PyAny>) -> Result<Paths> {
    let refused = |found: &Bound<'_, PyAny>| {
        let error = Error::dtype(format!("found a value of type {}", arg::type_name(found)));
        error.wanted("a list of paths, which are strings")
    };
    let path = |item: PyResult<Bound<'_, PyAny>>| {
        let item = item.map_err(|e| carried(object.py(), e))?;
        item.extract::<String>().map_err(|_| refused(&item))?.parse::<Path>()
    };
    match object.try_iter() {
        Ok(items) if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() => {
            items.map(path).collect::<Result<_>>().map(Paths)
        }
        _ => Err(refused(object)),
    }
}

fn options(
    py: Python<'_>,
    spec: Option<&Bound<'_, PyAny>>,
    paths: Option<Paths>,
    sample: Option<usize>,
    on_error: &str,
) -> PyResult<JsonOptions> {
    Ok(JsonOptions {
        spec: spec.map(spec::spec_or_value).transpose()?,
        paths: paths.map(|paths| paths.0),
        items: None,
        sample,
        decimals: Decimals::default(),
        on_error: policy(py, on_error)?,
    })
}

/// The options with the spec of Python objects, of which the text tells some floats as strings; the spec is inferred from `most` records at most.
///
/// Errors: those of [`extenso_formats::infer_spec`]; times, decimals and identifiers, which the text tells as strings too.
fn of_objects(py: Python<'_>, source: &Source<'_>, options: JsonOptions, most: usize) -> PyResult<JsonOptions> {
    let Source::Rows(lines) = source else { return Ok(options) };
    if options.spec.is_some() {
        return Ok(options);
    }
    let most = options.sample.unwrap_or(most).min(most);
    if lines.meant {
        let error = Error::data("times, decimals or identifiers are among the records").at("source");
        let error = error.wanted("a spec, which says what they are read as");
        return Err(raised(py, error.hint("`spec_of(constant(records))` is one")));
    }
    let Some(text) = lines.with_numbers() else { return Ok(options) };
    let of_first = JsonOptions { sample: Some(most), ..options.clone() };
    let spec = py.detach(|| guarded(|| extenso_formats::infer_spec(&text, &of_first))).or_raise()?;
    Ok(JsonOptions { spec: Some(spec), ..options })
}

/// The spec of the records of a source: a spec that all of them can be read by.
///
/// The source is bytes, a path, a file object, or a list of dicts, and its format what its first bytes say, then its name: JSON, CSV, Parquet, Arrow or
/// Avro, packed by gzip or zstd or not; `format` says it where neither does. Of JSON and CSV, integers are i64 (u64 where they need it), numbers otherwise
/// f64, lists ragged, and a field that a record lacks, or has as None, masked. Of the others, the types are those of the file, and masked is what
/// is missing in a record. It is the spec of the value that the reader of the format gives, with any number of records.
///
/// `sample` is how many records are looked at, from the first on; `paths` which parts of them; `items` where they are in a document of JSON, as
/// `read_json` takes it. The source may be a table or an array of another library too. Values of two kinds at one path are an error that names both rows; `on_error="skip"` passes over such records instead.
///
/// >>> import extenso as ex
/// >>> ex.infer_spec([{"id": 1, "paid": True}, {"id": 2, "paid": False}])
/// StructTensorSpec([None], {'id': TensorSpec([None], 'i64'), 'paid': TensorSpec([None], 'bool')})
/// >>> ex.infer_spec(b"id,score\n1,0.5\n2,\n", format="csv")
/// StructTensorSpec([None], {'id': TensorSpec([None], 'i64'), 'score': MaskedTensorSpec(TensorSpec([None], 'f64'))})
#[pyfunction]
#[pyo3(
    signature = (source, sample=None, *, paths=None, items=None, format=None, on_error=Typed::new("raise")),
    text_signature = "(source, sample=None, *, paths=None, items=None, format=None, on_error=\"raise\")"
)]
fn infer_spec<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    sample: Option<Typed<usize>>,
    paths: Option<Typed<Paths>>,
    items: Option<Typed<&str>>,
    format: Option<Typed<&str>>,
    on_error: Typed<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(infer_spec: paths, sample, items, format, on_error);
    if has_arrays(source)? {
        if let Some(argument) = items.map(|_| "items").or(format.map(|_| "format")) {
            let error = Error::value("a table or an array is records already, and has no format");
            return Err(raised(
                py,
                error.wanted("bytes, a path, a file object or a list").at(argument).at("infer_spec"),
            ));
        }
        policy(py, on_error)?;
        let held = chunks(source, "infer_spec")?;
        let asked = Asked { paths: paths.map(|paths| paths.0), sample };
        let spec = || spec_of_arrays(&held.field, &held.arrays, &asked);
        return spec::to_py(py, py.detach(|| guarded(spec)).or_raise()?);
    }
    let source = Source::of(source)?;
    let options = options(py, None, paths, sample, on_error)?;
    let Some(items) = items else {
        let read = SourceOptions {
            format: run::format_of(format, "format")?,
            on_error: options.on_error,
            ..SourceOptions::default()
        };
        return spec::to_py(py, run::spec_in(py, source, &read, &options)?);
    };
    let options = JsonOptions { items: Some(items.parse().map_err(|e: Error| raised(py, e.at("items")))?), ..options };
    let infer = |bytes: &[u8]| extenso_formats::infer_spec(bytes, &options);
    spec::to_py(py, source::with_source_bytes(py, source, "infer_spec", infer)?)
}

/// The records of lines of JSON, an array of records, or a list of dicts, as one value whose outer axis is the records.
///
/// The source is bytes, a path, a file object such as `gzip.open(path)`, or the list. Without `spec` it is inferred from all
/// records, or from the first `sample`: then a later record that contradicts does not fit, and a field that only later records
/// have is read over. With `paths`, such as `["id", "items[*].price"]`, only these parts are read and in the value; the rest is checked for syntax
/// alone. With `items`, such as `"data.rows"`, the source is one document, and the records are the array at that path of it. A row that does not fit raises, with its number, byte offset and path. With `on_error="skip"` it is left out, with
/// `"default"` it holds zeros, empty rows and missing values; then the result is `(value, bad)`, where `bad` lists these rows.
///
/// >>> import extenso as ex
/// >>> records, bad = ex.read_json(b'{"id": 1}\n{"id": "two"}\n', on_error="skip")
/// >>> ex.to_py(records), bad.rows
/// ([{'id': 1}], [1])
///
/// With `decimals="string"`, numbers with a point or an exponent, and integers beyond 64 bits, are strings, as they stand in the text; so are the numbers
/// beside them, and any number where the spec wants a string.
///
/// >>> ex.to_py(ex.read_json(b'{"price": 1.10}\n{"price": 2}\n', decimals="string"))
/// [{'price': '1.10'}, {'price': '2'}]
///
/// With `descriptor` and `message`, the records are the JSON form of messages of protocol buffers, and the value is of the spec that `read_proto` gives:
/// `optional`, `enums`, `oneof` and `depth` are as there. Names are those of JSON or of the file, integers may be strings, enums names or numbers, a map is
/// an object, and times are text.
///
/// >>> item = "syntax = 'proto3'; message Item { int64 item_id = 1; map<string, int32> stock = 2; }"
/// >>> ex.to_py(ex.read_json(b'{"itemId": "7", "stock": {"a": 1}}', descriptor=item, message="Item"))
/// [{'item_id': 7, 'stock': [{'key': 'a', 'value': 1}]}]
#[pyfunction]
#[pyo3(signature = (
    source, spec=None, paths=None, *, items=None, sample=None, descriptor=None, message=None, optional=Typed::new("rows"), enums=Typed::new("numbers"), oneof=Typed::new("members"), depth=None,
    decimals=Typed::new("number"), on_error=Typed::new("raise")
), text_signature = "(source, spec=None, paths=None, *, items=None, sample=None, descriptor=None, message=None, optional=\"rows\", enums=\"numbers\", oneof=\"members\", depth=None, decimals=\"number\", on_error=\"raise\")")]
#[allow(clippy::too_many_arguments)] // They are the keywords of the Python function.
fn read_json<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    spec: Option<&Bound<'py, PyAny>>,
    paths: Option<Typed<Paths>>,
    items: Option<Typed<&str>>,
    sample: Option<Typed<usize>>,
    descriptor: Option<&Bound<'py, PyAny>>,
    message: Option<Typed<&str>>,
    optional: Typed<&str>,
    enums: Typed<&str>,
    oneof: Typed<&str>,
    depth: Option<Typed<usize>>,
    decimals: Typed<&str>,
    on_error: Typed<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(read_json: paths, items, sample, message, optional, enums, oneof, depth, decimals, on_error);
    let decimals: Decimals = decimals.parse().map_err(|e: Error| raised(py, e.at("read_json")))?;
    let shaped = protobuf::Shaped { optional, enums, oneof, depth };
    let rows = match protobuf::message_if_said(py, descriptor, message, "read_json")? {
        None => {
            let source = Source::of(source)?;
            let items = items.map(str::parse::<Path>).transpose().map_err(|e| raised(py, e.at("items")))?;
            let options = JsonOptions { items, decimals, ..options(py, spec, paths, sample, on_error)? };
            let options = of_objects(py, &source, options, usize::MAX)?;
            let of_bytes = |bytes: &[u8]| extenso_formats::read_json(bytes, &options);
            source::with_file_or_bytes(
                py,
                source,
                "read_json",
                |file| extenso_formats::read_json_file(file, &options),
                of_bytes,
            )?
        }
        Some(_) if decimals != Decimals::default() => {
            let error = Error::value("the records are messages, whose fields say what is a string").at("decimals");
            return Err(raised(py, error.wanted("records of JSON alone")));
        }
        Some(_) if items.is_some() => {
            let error = Error::value("a path to the records is given").wanted("lines or an array of messages");
            return Err(raised(py, error.at("items")));
        }
        Some(message) => {
            let options = shaped.options(py, spec, paths, on_error)?;
            with_bytes(source, "read_json", |bytes| extenso_formats::read_proto_json(bytes, &message, &options))?
        }
    };
    with_report(value::to_py(py, rows.value)?, rows.bad, policy(py, on_error)?)
}

/// Writes a value, or a nest of values, as lines of JSON: one for each item of the outer axis.
///
/// Values with different numbers of rows are an error. The target is a path, where the file appears whole or not at all (when it is on the disk is left to the system), or a file object that is open for bytes;
/// without it, the lines are returned. A table of another library, and lists of Python data, are written as the values that they are.
///
/// With `descriptor` and `message`, each line is the JSON form of a message of protocol buffers: names in camel case, integers of 64 bits as strings,
/// enums by name, maps as objects, no default that a message may leave out.
///
/// >>> import extenso as ex
/// >>> ex.write_json(ex.constant([{"id": 1, "tags": ["a"]}, {"id": 2, "tags": []}]))
/// b'{"id":1,"tags":["a"]}\n{"id":2,"tags":[]}\n'
/// >>> item = "syntax = 'proto3'; message Item { int64 item_id = 1; }"
/// >>> ex.write_json(ex.constant([{"item_id": 7}, {"item_id": 0}]), descriptor=item, message="Item")
/// b'{"itemId":"7"}\n{}\n'
#[pyfunction]
#[pyo3(signature = (x, target=None, *, descriptor=None, message=None))]
fn write_json<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    target: Option<&Bound<'py, PyAny>>,
    descriptor: Option<&Bound<'py, PyAny>>,
    message: Option<Typed<&str>>,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    typed!(write_json: message);
    let nest = batch_of(x, "write_json")?;
    let message = protobuf::message_if_said(py, descriptor, message, "write_json")?;
    if let (None, Some(path)) = (&message, path_of(target)?) {
        py.detach(|| guarded(|| extenso_formats::write_json(&nest, path))).or_raise()?;
        return Ok(None);
    }
    let encode = || match &message {
        Some(message) => extenso_formats::encode_proto_json(&nest, message),
        None => encode_ndjson(&nest),
    };
    let text = py.detach(|| guarded(encode)).or_raise()?;
    write_to(py, target, &text)
}
