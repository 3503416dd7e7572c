//! `read_json_blocks`: an iterator of batches.

use super::report::with_report;
use super::source::{Source, of_source};
use super::target::path_of;
use super::{Paths, of_objects, options};
use crate::error::{OrRaise, guarded, raised};
use crate::typed::{Typed, typed};
use crate::value;
use extenso_formats::{Blocks, JsonOptions, OnError, Rows};
use extenso_types::{Error, Result};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Reads lines of JSON, or an array of records, in blocks of `rows` records, holding the text of one block at a time.
///
/// The source and the keywords are those of `read_json`; the items of the iterator are what it returns. Without `spec`, the
/// spec is inferred from the first block, or from the first `sample` records of it. Rows and bytes in errors and reports are
/// counted from the start of the source.
///
/// >>> import extenso as ex
/// >>> rows = b'{"x": 1}\n{"x": 2}\n{"x": 3}\n'
/// >>> [ex.to_py(block) for block in ex.read_json_blocks(rows, 2)]
/// [[{'x': 1}, {'x': 2}], [{'x': 3}]]
#[pyfunction]
#[pyo3(signature = (source, rows=Typed::new(65536), spec=None, *, paths=None, sample=None, decimals=Typed::new("number"), on_error=Typed::new("raise")), text_signature = "(source, rows=65536, spec=None, *, paths=None, sample=None, decimals=\"number\", on_error=\"raise\")")]
#[expect(clippy::too_many_arguments, reason = "they are keywords")]
pub fn read_json_blocks(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    rows: Typed<usize>,
    spec: Option<&Bound<'_, PyAny>>,
    paths: Option<Typed<Paths>>,
    sample: Option<Typed<usize>>,
    decimals: Typed<&str>,
    on_error: Typed<&str>,
) -> PyResult<PyBlocks> {
    typed!(read_json_blocks: paths, rows, sample, decimals, on_error);
    let decimals = decimals.parse().map_err(|e: Error| raised(py, e.at("read_json_blocks")))?;
    let options = JsonOptions { decimals, ..options(py, spec, paths, sample, on_error)? };
    let (path, source) = (path_of(Some(source))?, Source::of(source)?);
    let options = of_objects(py, &source, options, rows)?;
    let (policy, reader) = (options.on_error, source.reader()?);
    let place = Place { path, op: "read_json_blocks" };
    let blocks = extenso_formats::read_json_blocks(reader, rows, options).map_err(|e| place.of(e)).or_raise()?;
    Ok(PyBlocks { blocks: Mutex::new(blocks), place, policy })
}

/// The blocks that `read_json_blocks` reads.
#[pyclass(name = "JsonBlocks", module = "extenso", frozen)]
pub struct PyBlocks {
    blocks: Mutex<Blocks<'static>>,
    place: Place,
    policy: OnError,
}

#[pymethods]
impl PyBlocks {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        next_of(py, &self.blocks, &self.place, self.policy)
    }
}

/// What errors of blocks name: the file that they come from, if it is known, and the function that was called.
pub struct Place {
    pub path: Option<PathBuf>,
    pub op: &'static str,
}

impl Place {
    /// The error of reading there.
    pub fn of(&self, error: Error) -> Error {
        of_source(error, self.path.as_deref(), self.op)
    }
}

/// The next batch of blocks, read while other Python threads run; none at the end.
///
/// Errors: those of the source.
pub fn next_of<'py, B: Iterator<Item = Result<Rows>> + Send>(
    py: Python<'py>,
    blocks: &Mutex<B>,
    place: &Place,
    policy: OnError,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    // The lock is waited for without the interpreter, which a file object needs while another thread holds the lock.
    let next = py.detach(|| guarded(|| blocks.lock().unwrap_or_else(PoisonError::into_inner).next().transpose()));
    let Some(rows) = next.map_err(|e| place.of(e)).or_raise()? else { return Ok(None) };
    with_report(value::to_py(py, rows.value)?, rows.bad, policy).map(Some)
}
