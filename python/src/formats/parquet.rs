//! Parquet in and out: `read_parquet`, `read_parquet_blocks`, `write_parquet`.

use super::blocks::{Place, next_of};
use super::report::with_report;
use super::rows::Lines;
use super::source::{Source, of_source};
use super::target::{batch_of, path_of, write_to};
use super::{Paths, policy};
use crate::arg;
use crate::error::{OrRaise, guarded, raised};
use crate::typed::{Typed, typed};
use crate::{spec, value};
use extenso_formats::parquet::{Condition, Literal};
use extenso_formats::{OnError, ParquetBlocks, ParquetOptions, ParquetSource, encode_parquet};
use extenso_types::{Error, Path};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::io::Read;
use std::sync::Mutex;

/// Adds the functions and classes to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyParquetBlocks>()?;
    module.add_function(wrap_pyfunction!(read_parquet, module)?)?;
    module.add_function(wrap_pyfunction!(read_parquet_blocks, module)?)?;
    module.add_function(wrap_pyfunction!(write_parquet, module)?)
}

/// The bytes of a file, in memory or to be read in ranges.
///
/// Errors: nothing that a file is in; what the operating system refuses.
fn source_of(object: &Bound<'_, PyAny>) -> PyResult<ParquetSource> {
    let wanted = |what: String| {
        let error = Error::dtype(what).wanted("bytes, a path, or a file object that is open for bytes");
        raised(object.py(), error.at("source"))
    };
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        return Err(wanted(format!("found a value of type {}", arg::type_name(object))));
    }
    let found = Source::of(object).map_err(|_| wanted(format!("found a value of type {}", arg::type_name(object))))?;
    match found {
        Source::Bytes(bytes) => {
            let bytes = bytes::Bytes::from_owner(pyo3::pybacked::PyBackedBytes::from(bytes));
            Ok(bytes.into())
        }
        Source::Text(bytes) | Source::Rows(Lines { text: bytes, .. }) => Ok(bytes.into()),
        // A pipe waits for who writes into it, which may be another thread.
        Source::Path(path) => object.py().detach(|| ParquetSource::open(path)).or_raise(),
        Source::File(file) => match file.call_method0("read")?.cast_into::<PyBytes>() {
            Ok(bytes) => Ok(bytes::Bytes::from_owner(pyo3::pybacked::PyBackedBytes::from(bytes)).into()),
            Err(other) => Err(wanted(format!("`read` gave a {}", arg::type_name(&other.into_inner())))),
        },
    }
}

/// A source of records that may be Parquet, told by its first bytes.
pub enum Told<'py> {
    Parquet(ParquetSource),
    /// Anything else, with what was read of a file object.
    Other(Bound<'py, PyAny>),
}

/// Whether a source is Parquet.
///
/// Errors: those of the file object, and what the operating system refuses.
pub fn told<'py>(source: &Bound<'py, PyAny>) -> PyResult<Told<'py>> {
    const MAGIC: &[u8] = b"PAR1";
    let other = || Ok(Told::Other(source.clone()));
    if source.is_instance_of::<PyList>() || source.is_instance_of::<PyTuple>() {
        return other();
    }
    match Source::of(source)? {
        Source::Bytes(bytes) if bytes.as_bytes().starts_with(MAGIC) => source_of(source).map(Told::Parquet),
        Source::Text(bytes) if bytes.starts_with(MAGIC) => Ok(Told::Parquet(bytes.into())),
        Source::Path(path) => {
            let mut head = Vec::new();
            // A file that cannot be opened is told of by the reader that is asked next.
            let read = std::fs::File::open(&path).and_then(|file| file.take(4).read_to_end(&mut head));
            if read.is_ok() && head == MAGIC {
                ParquetSource::open(path).or_raise().map(Told::Parquet)
            } else {
                other()
            }
        }
        Source::File(file) => {
            let read = file.call_method0("read")?;
            let magic = read.cast::<PyBytes>().is_ok_and(|bytes| bytes.as_bytes().starts_with(MAGIC));
            match read.cast::<PyString>() {
                _ if magic => source_of(&read).map(Told::Parquet),
                Ok(text) => Ok(Told::Other(PyBytes::new(source.py(), text.to_cow()?.as_bytes()).into_any())),
                Err(_) => Ok(Told::Other(read)),
            }
        }
        Source::Bytes(_) | Source::Text(_) | Source::Rows(_) => other(),
    }
}

/// The conditions of `prune`: none, one triple, or a list of triples.
fn conditions_of(object: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Condition>> {
    let Some(object) = object else { return Ok(Vec::new()) };
    match object.cast::<PyList>() {
        Ok(list) => list.iter().map(|item| condition_of(&item)).collect(),
        Err(_) => Ok(vec![condition_of(object)?]),
    }
}

fn condition_of(object: &Bound<'_, PyAny>) -> PyResult<Condition> {
    let py = object.py();
    let refuse = |error: Error| raised(py, error.at("prune"));
    let wanted = "a tuple of a path, a comparison and a value, such as ('day', '>=', 3), or a list of such tuples";
    let triple = object.cast::<PyTuple>().ok().filter(|triple| triple.len() == 3);
    let triple = triple.ok_or_else(|| refuse(Error::dtype(format!("found {object}")).wanted(wanted)))?;
    let text = |i: usize| -> PyResult<String> {
        let item = triple.get_item(i)?;
        item.extract().map_err(|_| refuse(Error::dtype(format!("found {item}")).wanted("a string")))
    };
    Ok(Condition {
        path: text(0)?.parse::<Path>().map_err(refuse)?,
        comparison: text(1)?.parse().map_err(refuse)?,
        literal: literal_of(&triple.get_item(2)?)?,
    })
}

fn literal_of(object: &Bound<'_, PyAny>) -> PyResult<Literal> {
    if let Ok(v) = object.cast::<PyBool>() {
        Ok(Literal::Bool(v.is_true()))
    } else if object.is_instance_of::<PyInt>() {
        Ok(Literal::Int(object.extract()?))
    } else if object.is_instance_of::<PyFloat>() {
        Ok(Literal::Float(object.extract()?))
    } else if let Ok(text) = object.cast::<PyString>() {
        Ok(Literal::Text(text.to_cow()?.as_bytes().to_vec()))
    } else if object.is_instance_of::<PyBytes>() || object.is_instance_of::<PyByteArray>() {
        Ok(Literal::Text(object.extract()?))
    } else if let Some(text) = spelled(object)? {
        Ok(Literal::Text(text.into_bytes()))
    } else {
        let error = Error::dtype(format!("found a value of type {}", arg::type_name(object)));
        let wanted = "a number, a string, bytes, True, False, a date, a time, a duration or a decimal";
        Err(raised(object.py(), error.wanted(wanted).at("prune")))
    }
}

/// The text of a date, a time, a duration or a decimal of Python; none of other values.
fn spelled(object: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let py = object.py();
    let is = |module: &str, name: &str| object.is_instance(&py.import(module)?.getattr(name)?);
    if is("decimal", "Decimal")? {
        return Ok(Some(object.str()?.to_string()));
    }
    if is("datetime", "timedelta")? {
        let one = py.import("datetime")?.getattr("timedelta")?.call1((0, 0, 1))?;
        return Ok(Some(format!("{}us", object.floor_div(one)?)));
    }
    for name in ["date", "time"] {
        if is("datetime", name)? {
            return Ok(Some(object.call_method0("isoformat")?.extract()?));
        }
    }
    Ok(None)
}

/// Which row groups are asked for.
struct RowGroups(Vec<usize>);

impl<'py> FromPyObject<'_, 'py> for Typed<RowGroups> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Typed<RowGroups>> {
        let list = object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
        let groups = list.then(|| object.extract::<Vec<usize>>().ok()).flatten();
        let groups = groups.ok_or_else(|| {
            Error::dtype(format!("found {}", &*object)).wanted("a list of numbers of row groups, from 0")
        });
        Ok(groups.map(RowGroups).into())
    }
}

fn options(
    py: Python<'_>,
    spec: Option<&Bound<'_, PyAny>>,
    paths: Option<Paths>,
    row_groups: Option<RowGroups>,
    prune: Option<&Bound<'_, PyAny>>,
    on_error: &str,
) -> PyResult<ParquetOptions> {
    Ok(ParquetOptions {
        spec: spec.map(spec::spec_or_value).transpose()?,
        paths: paths.map(|paths| paths.0),
        row_groups: row_groups.map(|groups| groups.0),
        prune: conditions_of(prune)?,
        on_error: policy(py, on_error)?,
    })
}

/// The rows of a Parquet file as one value, whose outer axis is the rows.
///
/// The source is a path, of which only the wanted columns are read, bytes, or a file object. With `paths`, such as `["id", "items[*].price"]`, only the
/// leaf columns at or below them are read; with `spec`, those of its fields. Without `spec` the value is what the file says: lists are ragged, a column with
/// nulls is masked. With it, columns are widened to it, a field that may be missing may be missing in the file, and a row that does not fit raises; with
/// `on_error="skip"` it is left out, with `"default"` it holds zeros, empty rows and missing values, and the result is `(value, bad)`.
///
/// `row_groups` are the numbers of the row groups that are read. `prune`, such as `("day", ">=", 3)` or a list of such conditions, leaves out
/// row groups of which the file's statistics say that no row fits; the rows of the others are all read.
///
/// >>> import extenso as ex
/// >>> file = ex.write_parquet(ex.constant([{"id": 1, "items": [{"price": 2.5}]}, {"id": 2, "items": []}]))
/// >>> ex.to_py(ex.read_parquet(file, paths=["items[*].price"]))
/// [{'items': [{'price': 2.5}]}, {'items': []}]
/// >>> ex.read_parquet(file, prune=("id", ">", 2)).shape
/// (0,)
#[pyfunction]
#[pyo3(signature = (source, spec=None, paths=None, *, row_groups=None, prune=None, on_error=Typed::new("raise")), text_signature = "(source, spec=None, paths=None, *, row_groups=None, prune=None, on_error=\"raise\")")]
fn read_parquet<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    spec: Option<&Bound<'py, PyAny>>,
    paths: Option<Typed<Paths>>,
    row_groups: Option<Typed<RowGroups>>,
    prune: Option<&Bound<'py, PyAny>>,
    on_error: Typed<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(read_parquet: paths, row_groups, on_error);
    let options = options(py, spec, paths, row_groups, prune, on_error)?;
    let (path, source) = (path_of(Some(source))?, source_of(source)?);
    let read = || guarded(|| extenso_formats::read_parquet(&source, &options));
    let rows = py.detach(|| read().map_err(|e| of_source(e, path.as_deref(), "read_parquet"))).or_raise()?;
    with_report(value::to_py(py, rows.value)?, rows.bad, options.on_error)
}

/// Reads a Parquet file in blocks of `rows` rows, holding one block at a time.
///
/// The source and the keywords are those of `read_parquet`; the items of the iterator are what it returns.
///
/// >>> import extenso as ex
/// >>> file = ex.write_parquet(ex.constant([{"x": 1}, {"x": 2}, {"x": 3}]))
/// >>> [ex.to_py(block) for block in ex.read_parquet_blocks(file, 2)]
/// [[{'x': 1}, {'x': 2}], [{'x': 3}]]
#[pyfunction]
#[pyo3(signature = (source, rows=Typed::new(65536), spec=None, *, paths=None, row_groups=None, prune=None, on_error=Typed::new("raise")), text_signature = "(source, rows=65536, spec=None, *, paths=None, row_groups=None, prune=None, on_error=\"raise\")")]
#[expect(clippy::too_many_arguments, reason = "they are keywords")]
fn read_parquet_blocks(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    rows: Typed<usize>,
    spec: Option<&Bound<'_, PyAny>>,
    paths: Option<Typed<Paths>>,
    row_groups: Option<Typed<RowGroups>>,
    prune: Option<&Bound<'_, PyAny>>,
    on_error: Typed<&str>,
) -> PyResult<PyParquetBlocks> {
    typed!(read_parquet_blocks: paths, row_groups, rows, on_error);
    let options = options(py, spec, paths, row_groups, prune, on_error)?;
    let place = Place { path: path_of(Some(source))?, op: "read_parquet_blocks" };
    let (policy, source) = (options.on_error, source_of(source)?);
    let open = || guarded(|| extenso_formats::read_parquet_blocks(&source, rows, options));
    let blocks = py.detach(|| open().map_err(|e| place.of(e))).or_raise()?;
    Ok(PyParquetBlocks { blocks: Mutex::new(blocks), place, policy })
}

/// The blocks that `read_parquet_blocks` reads.
#[pyclass(name = "ParquetBlocks", module = "extenso", frozen)]
pub struct PyParquetBlocks {
    blocks: Mutex<ParquetBlocks>,
    place: Place,
    policy: OnError,
}

#[pymethods]
impl PyParquetBlocks {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        next_of(py, &self.blocks, &self.place, self.policy)
    }
}

/// Writes a value, or a nest of values, as a Parquet file: one row for each item of the outer axis.
///
/// The fields of records, or the entries of a dict, are columns; another value is one column named `value`. The target is a path, where the
/// file appears whole or not at all, or a file object that is open for bytes; without it, the bytes are returned.
///
/// >>> import extenso as ex
/// >>> file = ex.write_parquet({"x": ex.constant([[1, 2], []])})
/// >>> ex.to_py(ex.read_parquet(file))
/// [{'x': [1, 2]}, {'x': []}]
#[pyfunction]
#[pyo3(signature = (x, target=None))]
fn write_parquet<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    target: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let nest = batch_of(x, "write_parquet")?;
    let bytes = py.detach(|| guarded(|| encode_parquet(&nest).map_err(|e| e.at("write_parquet")))).or_raise()?;
    write_to(py, target, &bytes)
}
