//! Where records come from: bytes, a path, a file object, a list of Python objects.

use super::rows::{self, Lines};
use crate::arg;
use crate::error::{OrRaise, guarded, raised};
use extenso_formats::source::check_packed;
use extenso_types::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList, PyMemoryView, PyString, PyTuple};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// A source, recognised and not read.
pub enum Source<'py> {
    Bytes(Bound<'py, PyBytes>),
    Text(Vec<u8>),
    Rows(Lines),
    Path(PathBuf),
    File(Bound<'py, PyAny>),
}

impl<'py> Source<'py> {
    /// What the object is.
    ///
    /// Errors: nothing that records come from; Python objects that JSON does not have.
    pub fn of(object: &Bound<'py, PyAny>) -> PyResult<Source<'py>> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            Ok(Source::Bytes(bytes.clone()))
        } else if let Ok(bytes) = object.cast::<PyByteArray>() {
            Ok(Source::Text(bytes.to_vec()))
        } else if object.is_instance_of::<PyMemoryView>() {
            Ok(Source::Bytes(object.call_method0("tobytes")?.cast_into()?))
        } else if object.is_instance_of::<PyString>() || object.hasattr("__fspath__")? {
            object.extract().map(Source::Path)
        } else if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            rows::lines(object).map(Source::Rows)
        } else if object.hasattr("read")? {
            Ok(Source::File(object.clone()))
        } else {
            let error = Error::dtype(format!("found a value of type {}", arg::type_name(object)));
            let error = error.wanted("bytes, a path, a file object, or a list of dicts");
            Err(raised(object.py(), error.at("source")))
        }
    }

    /// How many bytes it has, if that is known without reading.
    pub fn size(&self) -> Option<u64> {
        match self {
            Source::Bytes(bytes) => Some(bytes.as_bytes().len() as u64),
            Source::Text(text) | Source::Rows(Lines { text, .. }) => Some(text.len() as u64),
            Source::Path(_) | Source::File(_) => None,
        }
    }

    /// A reader of the source that needs no Python but for file objects.
    pub fn reader(self) -> PyResult<Box<dyn BufRead + Send>> {
        Ok(match self {
            Source::Bytes(bytes) => Box::new(Cursor::new(pyo3::pybacked::PyBackedBytes::from(bytes))),
            Source::Text(text) | Source::Rows(Lines { text, .. }) => Box::new(Cursor::new(text)),
            Source::Path(path) => Box::new(BufReader::new(opened(&path).or_raise()?)),
            Source::File(file) => Box::new(BufReader::new(PyFile { file: file.unbind(), rest: Cursor::default() })),
        })
    }
}

/// The error of reading a source, with the file that it is and the function that was called.
pub fn of_source(error: Error, path: Option<&Path>, op: &str) -> Error {
    match path {
        // What the operating system refuses names the file already.
        Some(path) if !error.is_io() => error.at(path.display().to_string()).at(op),
        Some(_) => error,
        None => error.at(op),
    }
}

/// Calls `f` with all bytes of a source, while other Python threads run. Errors name `op`, and the file that the source is the path of.
pub fn with_bytes<T: Send>(
    source: &Bound<'_, PyAny>,
    op: &str,
    f: impl Fn(&[u8]) -> Result<T> + Send + Sync,
) -> PyResult<T> {
    with_source_bytes(source.py(), Source::of(source)?, op, f)
}

/// As [`with_bytes`], of a source that was recognised.
pub fn with_source_bytes<T: Send>(
    py: Python<'_>,
    source: Source<'_>,
    op: &str,
    f: impl Fn(&[u8]) -> Result<T> + Send + Sync,
) -> PyResult<T> {
    let of_file = |mut file: File| {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        f(&bytes)
    };
    with_file_or_bytes(py, source, op, of_file, &f)
}

/// Calls `of_file` with the file that a source is the path of, or `of_bytes` with all its bytes, while other Python threads run.
pub fn with_file_or_bytes<T: Send>(
    py: Python<'_>,
    source: Source<'_>,
    op: &str,
    of_file: impl Fn(File) -> Result<T> + Send + Sync,
    of_bytes: impl Fn(&[u8]) -> Result<T> + Send + Sync,
) -> PyResult<T> {
    let run = |bytes: &[u8]| py.detach(|| guarded(|| of_bytes(bytes)).map_err(|e| e.at(op))).or_raise();
    match source {
        Source::Bytes(bytes) => run(bytes.as_bytes()),
        Source::Text(text) | Source::Rows(Lines { text, .. }) => run(&text),
        Source::Path(path) => {
            let read = || of_file(opened(&path)?);
            py.detach(|| guarded(read).map_err(|e| of_source(e, Some(&path), op))).or_raise()
        }
        Source::File(file) => run(&chunk(&file.call_method0("read")?)?),
    }
}

/// A file to read; what is a directory is opened as well, and would fail at the first byte.
///
/// Errors: what the operating system refuses, with a hint where the path is text of records; no bytes where the name says that they are packed.
pub fn opened(path: &Path) -> Result<File> {
    let file = File::open(path).and_then(|file| match file.metadata()?.is_dir() {
        true => Err(io::ErrorKind::IsADirectory.into()),
        false => Ok(file),
    });
    let file = file.map_err(|e| refused(path, e))?;
    check_packed(path, &file)?;
    Ok(file)
}

/// Whether what a path names can be read once only, as a pipe can.
pub fn is_once(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir())
}

/// What a path had that can be read once only, for the next reader, and the name that says what it is.
#[pyclass(name = "HeldSource", module = "extenso", frozen)]
pub struct PyHeld {
    path: PathBuf,
    bytes: Py<PyBytes>,
}

impl PyHeld {
    /// What the source of a path has that can be read once only; none of another source.
    ///
    /// Errors: what the operating system refuses.
    pub fn of<'py>(source: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyHeld>>> {
        let py = source.py();
        if let Ok(held) = source.cast::<PyHeld>() {
            return Ok(Some(held.clone()));
        }
        if !source.is_instance_of::<PyString>() && !source.hasattr("__fspath__")? {
            return Ok(None);
        }
        let path: PathBuf = source.extract()?;
        if !is_once(&path) {
            return Ok(None);
        }
        let read = || {
            let mut bytes = Vec::new();
            opened(&path)?.read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = py.detach(|| guarded(read)).or_raise()?;
        Bound::new(py, PyHeld { path, bytes: PyBytes::new(py, &bytes).unbind() }).map(Some)
    }

    /// What the name says, which counts as that of a path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.bytes.bind(py).clone().into_any()
    }
}

fn refused(path: &Path, e: io::Error) -> Error {
    let text = path.to_string_lossy();
    let shown = format!("'{}'", text.chars().take(200).collect::<String>());
    let error = Error::from(e).with_file(path).at(shown);
    if text.contains(['{', '\n']) {
        error.hint("A string is a path. Encode JSON text: `source.encode()`")
    } else {
        error
    }
}

/// What `read` of a file object gave.
pub fn chunk(object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(text.to_cow()?.as_bytes().to_vec());
    }
    let error = Error::dtype(format!("`read` gave a {}", arg::type_name(object))).wanted("bytes or a string");
    Err(raised(object.py(), error.at("source")))
}

/// A file object as a reader.
struct PyFile {
    file: Py<PyAny>,
    /// What was read of the file and not asked for yet.
    rest: Cursor<Vec<u8>>,
}

/// How much is read of a file object at a time.
const CHUNK: usize = 1 << 16;

impl Read for PyFile {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.rest.read(out)?;
        if n > 0 || out.is_empty() {
            return Ok(n);
        }
        let next = Python::attach(|py| chunk(&self.file.bind(py).call_method1("read", (CHUNK,))?));
        self.rest = Cursor::new(next.map_err(io::Error::other)?);
        self.rest.read(out)
    }
}
