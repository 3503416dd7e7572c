//! What a run tells while it goes on: a callback, a line on standard error, the file of bad rows.
//!
//! Invariant: a callback that raises ends the run, and so does a signal; what they raised comes out of it.

use super::target::path_of;
use crate::arg;
use crate::error::{OrCarry, OrRaise, raised};
use extenso_formats::source::BadRowsFile;
use extenso_formats::{BadRows, Progress};
use extenso_types::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use std::path::{Path, PathBuf};

/// Who is told of a run.
pub struct Watchers {
    /// A callable of one argument.
    progress: Option<Py<PyAny>>,
    /// Whether the callable is ours, which is told of the end too.
    bar: bool,
    file: Option<BadRowsFile>,
    /// How many bytes the source has, if that is known.
    size: Option<u64>,
}

impl Watchers {
    /// Those of the keywords `progress` and `bad_rows`.
    ///
    /// Errors: a `progress` that is neither a boolean nor callable; bad rows into the source or the target of the run; what the operating
    /// system refuses.
    pub fn new(
        py: Python<'_>,
        progress: Option<&Bound<'_, PyAny>>,
        bad_rows: Option<&Path>,
        of_run: [Option<&Bound<'_, PyAny>>; 2],
    ) -> PyResult<Watchers> {
        let of_run: Vec<PathBuf> = of_run.into_iter().flatten().filter_map(file_of).collect();
        let of_run: Vec<&Path> = of_run.iter().map(PathBuf::as_path).collect();
        let file = bad_rows.map(|path| BadRowsFile::create(path, &of_run)).transpose().or_raise()?;
        let said = progress.and_then(|progress| progress.cast::<PyBool>().ok()).map(|said| said.is_true());
        let (progress, bar) = match (progress, said) {
            (None, _) | (_, Some(false)) => (None, false),
            (Some(_), Some(true)) => (Some(py.import("extenso._progress")?.getattr("Line")?.call0()?), true),
            (Some(callback), None) if callback.is_callable() => (Some(callback.clone()), false),
            (Some(other), None) => {
                let error = Error::dtype(format!("found a value of type {}", arg::type_name(other)));
                return Err(raised(py, error.wanted("True, False or a function of one argument").at("progress")));
            }
        };
        Ok(Watchers { progress: progress.map(Bound::unbind), bar, file, size: None })
    }

    /// Whether someone is told of progress.
    pub fn has_progress(&self) -> bool {
        self.progress.is_some()
    }

    /// The same for a source of so many bytes.
    pub fn of_size(self, size: Option<u64>) -> Watchers {
        Watchers { size, ..self }
    }

    /// Tells of the bad rows of a block, or of all.
    ///
    /// Errors: what the operating system refuses.
    pub fn bad(&mut self, bad: &BadRows) -> Result<()> {
        self.file.as_mut().map_or(Ok(()), |file| file.write(bad))
    }

    /// Tells of a block; Python threads run while this is called.
    ///
    /// Errors: what the operating system refuses; what the callback or the handler of a signal raised.
    pub fn block(&mut self, done: &Progress, bad: &BadRows) -> Result<()> {
        self.bad(bad)?;
        Python::attach(|py| py.check_signals().and_then(|()| self.tell(py, "__call__", done)).or_carry(py))
    }

    /// Tells of the end.
    ///
    /// Errors: as [`Watchers::block`].
    pub fn finish(self, done: &Progress) -> Result<()> {
        if self.bar {
            Python::attach(|py| self.tell(py, "finish", done).or_carry(py))?;
        }
        Ok(())
    }

    fn tell(&self, py: Python<'_>, method: &str, done: &Progress) -> PyResult<()> {
        let Some(progress) = &self.progress else { return Ok(()) };
        let done = PyProgress { rows: done.rows, bytes: done.bytes, bad: done.bad, size: self.size };
        progress.bind(py).call_method1(method, (done,)).map(drop)
    }
}

/// Checks that what the keyword `bad_rows` says is not the file of a source.
///
/// Errors: it is.
pub fn check_bad_rows(source: &Bound<'_, PyAny>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    let bad_rows = kwargs.map(|kwargs| kwargs.get_item("bad_rows")).transpose()?.flatten();
    let Some(bad_rows) = bad_rows.and_then(|path| path.extract::<PathBuf>().ok()) else { return Ok(()) };
    file_of(source).map_or(Ok(()), |source| BadRowsFile::check(&bad_rows, &[&source])).or_raise()
}

/// The file that an object is, or is open on, as far as it says.
fn file_of(object: &Bound<'_, PyAny>) -> Option<PathBuf> {
    let path = path_of(Some(object)).ok().flatten();
    let open =
        || object.call_method0("fileno").ok()?.extract::<i32>().ok().map(|file| format!("/dev/fd/{file}").into());
    path.or_else(open).or_else(|| object.getattr("name").ok()?.extract().ok())
}

/// What a run over records has done so far.
#[pyclass(name = "Progress", module = "extenso", frozen, get_all)]
pub struct PyProgress {
    /// Rows read, bad ones included.
    rows: usize,
    /// Bytes read of the source.
    bytes: usize,
    /// How many rows did not fit.
    bad: usize,
    /// How many bytes the source has, or None if that is not known.
    size: Option<u64>,
}

#[pymethods]
impl PyProgress {
    fn __repr__(&self) -> String {
        let of = self.size.map_or(String::new(), |size| format!(" of {size}"));
        format!("<{} rows, {} bad, {}{of} bytes>", self.rows, self.bad, self.bytes)
    }
}
