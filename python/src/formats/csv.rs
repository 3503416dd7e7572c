//! CSV in and out: `read_csv`, `write_csv`.

use super::report::with_report;
use super::target::{batch_of, path_of, write_to};
use super::{Paths, policy, with_bytes};
use crate::error::{OrRaise, guarded, raised};
use crate::typed::{Typed, typed};
use crate::{spec, value};
use extenso_formats::csv::{self, CsvOptions, delimiter_of_name, encode_csv};
use extenso_types::Error;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(read_csv, module)?)?;
    module.add_function(wrap_pyfunction!(write_csv, module)?)
}

/// What stands between cells: one byte, which the name of a file says where none is given.
fn delimiter_of(file: Option<&Bound<'_, PyAny>>, py: Python<'_>, delimiter: Option<&str>) -> PyResult<u8> {
    let Some(delimiter) = delimiter else { return Ok(path_of(file)?.map_or(b',', |path| delimiter_of_name(&path))) };
    match delimiter.as_bytes() {
        [byte] if !matches!(byte, b'"' | b'\n' | b'\r') => Ok(*byte),
        _ => {
            let error = Error::value(format!("found '{}'", delimiter.escape_debug()));
            Err(raised(py, error.wanted("one character of ASCII, such as ',' or '\\t'").at("delimiter")))
        }
    }
}

/// The rows of a table as records: the first row has the names of the fields, and a name with dots is the path of a nested one.
///
/// The source is bytes, a path or a file object, packed by gzip or zstd or not. Without `spec` it is inferred from all rows, or from the first `sample`:
/// integers are i64 (u64 where they need it), other numbers f64, and a column in which cells are of two kinds is one of strings. An empty cell is missing,
/// or an empty string in a column of strings; in one that may be missing by the spec, an empty string is quotes around nothing. With `paths` only these columns are read. A row that does not fit raises, with its number, byte, path
/// and column; `on_error` is that of `read_json`. Between cells stands the `delimiter`: by default a tab in a file `.tsv`, and a comma elsewhere.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.read_csv(b"id,user.name,score\n1,Ann,0.5\n2,Bo,\n"))
/// [{'id': 1, 'user': {'name': 'Ann'}, 'score': 0.5}, {'id': 2, 'user': {'name': 'Bo'}, 'score': None}]
#[pyfunction]
#[pyo3(signature = (source, spec=None, paths=None, *, sample=None, delimiter=None, on_error=Typed::new("raise")), text_signature = "(source, spec=None, paths=None, *, sample=None, delimiter=None, on_error=\"raise\")")]
fn read_csv<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    spec: Option<&Bound<'py, PyAny>>,
    paths: Option<Typed<Paths>>,
    sample: Option<Typed<usize>>,
    delimiter: Option<Typed<&str>>,
    on_error: Typed<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(read_csv: paths, sample, delimiter, on_error);
    let options = CsvOptions {
        spec: spec.map(spec::spec_or_value).transpose()?,
        paths: paths.map(|paths| paths.0),
        sample,
        delimiter: delimiter_of(Some(source), py, delimiter)?,
        on_error: policy(py, on_error)?,
    };
    let rows = with_bytes(source, "read_csv", |bytes| csv::read_csv(bytes, &options))?;
    with_report(value::to_py(py, rows.value)?, rows.bad, options.on_error)
}

/// Writes records, or a dict of values, as a table: a row of names, then a row for each item of the outer axis.
///
/// A nested field has its path as name. What is missing is an empty cell, an empty string that might be is one in quotes, and lists are refused, since CSV has none. The `delimiter` is that of `read_csv`. The target is a path, where the file appears whole
/// or not at all, or a file object that is open for bytes; without it, the bytes are returned.
///
/// >>> import extenso as ex
/// >>> ex.write_csv(ex.constant([{"id": 1, "user": {"name": "B, b"}}]))
/// b'id,user.name\n1,"B, b"\n'
#[pyfunction]
#[pyo3(signature = (x, target=None, *, delimiter=None))]
fn write_csv<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    target: Option<&Bound<'py, PyAny>>,
    delimiter: Option<Typed<&str>>,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    typed!(write_csv: delimiter);
    let (nest, delimiter) = (batch_of(x, "write_csv")?, delimiter_of(target, py, delimiter)?);
    let text = py.detach(|| guarded(|| encode_csv(&nest, delimiter))).or_raise()?;
    write_to(py, target, &text)
}
