//! What writers write, and where it goes: a path, a file object, or back to the caller.

use crate::arrow::chunks;
use crate::error::{OrRaise, guarded, raised};
use crate::function::py_to_nest;
use crate::{arg, literal, value};
use extenso_core::Value;
use extenso_formats::arrow::{ArrowOptions, from_chunks};
use extenso_formats::source::plain_name;
use extenso_graph::save::archive::write_atomically;
use extenso_types::{Error, Nest};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use std::io::{self, Write};
use std::path::PathBuf;

/// How deep Python data may be nested that is looked at.
const MAX_DEPTH: usize = 100;

/// What a writer writes: a value or a nest of values; a table or an array of another library, and lists of Python data, are values.
///
/// Errors: those of `from_arrow`, `constant` and of nests.
pub fn batch_of(object: &Bound<'_, PyAny>, op: &str) -> PyResult<Nest<Value>> {
    if let Some(made) = made_of(object, op)? {
        return Ok(Nest::Leaf(made));
    }
    let Ok(entries) = object.cast_exact::<PyDict>() else { return py_to_nest(object) };
    let columns = PyDict::new(object.py());
    for (name, column) in entries {
        match made_of(&column, op)? {
            Some(made) => columns.set_item(name, value::to_py(object.py(), made)?)?,
            None => columns.set_item(name, column)?,
        }
    }
    py_to_nest(&columns)
}

/// The value of what is none yet and is no nest of values either.
fn made_of(object: &Bound<'_, PyAny>, op: &str) -> PyResult<Option<Value>> {
    if arg::is_value(object) {
        return Ok(None);
    }
    if object.hasattr("__arrow_c_stream__")? || object.hasattr("__arrow_c_array__")? {
        let chunks = chunks(object, op)?;
        let read = guarded(|| from_chunks(&chunks.field, &chunks.arrays, &ArrowOptions::default()));
        return read.map(|rows| Some(rows.value)).map_err(|e| e.at(op)).or_raise();
    }
    let list = object.is_exact_instance_of::<PyList>() || object.is_exact_instance_of::<PyTuple>();
    if list && !holds_values(object, 0)? { literal::value(object).map(Some) } else { Ok(None) }
}

/// Whether a value stands among lists and dicts of Python data, which are a nest of values then; too deep it seems so.
fn holds_values(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<bool> {
    let items = if let Ok(entries) = object.cast_exact::<PyDict>() {
        entries.values().try_iter()?
    } else if object.is_exact_instance_of::<PyList>() || object.is_exact_instance_of::<PyTuple>() {
        object.try_iter()?
    } else {
        return Ok(arg::is_value(object));
    };
    for item in items {
        if depth == MAX_DEPTH || holds_values(&item?, depth + 1)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The path that a target is, if it is one.
pub fn path_of(target: Option<&Bound<'_, PyAny>>) -> PyResult<Option<PathBuf>> {
    match target {
        Some(target) if target.is_instance_of::<PyString>() || target.hasattr("__fspath__")? => {
            target.extract().map(Some)
        }
        _ => Ok(None),
    }
}

/// Writes bytes to a path, where they appear whole or not at all, or to a file object; without a target, gives them back.
///
/// Errors: something that is neither; what the operating system refuses.
pub fn write_to<'py>(
    py: Python<'py>,
    target: Option<&Bound<'py, PyAny>>,
    bytes: &[u8],
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let Some(target) = target else { return Ok(Some(PyBytes::new(py, bytes))) };
    if let Some(path) = path_of(Some(target))? {
        plain_name(&path).or_raise()?;
        let write = || write_atomically(path, bytes).map_err(Error::from);
        py.detach(write).or_raise()?;
    } else {
        PyTarget::of(target)?.write_all(bytes).map_err(Error::from).or_raise()?;
    }
    Ok(None)
}

fn no_target(target: &Bound<'_, PyAny>) -> PyErr {
    let error = Error::dtype(format!("found a value of type {}", arg::type_name(target)));
    raised(target.py(), error.wanted("a path, or a file object that is open for bytes").at("target"))
}

/// A file object that bytes are written to as they come.
pub struct PyTarget(Py<PyAny>);

impl PyTarget {
    /// The file object that a target is.
    ///
    /// Errors: something that is none.
    pub fn of(target: &Bound<'_, PyAny>) -> PyResult<PyTarget> {
        if target.hasattr("write")? { Ok(PyTarget(target.clone().unbind())) } else { Err(no_target(target)) }
    }
}

impl Write for PyTarget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = |py: Python<'_>| {
            let target = self.0.bind(py);
            let count = target.call_method1("write", (PyBytes::new(py, bytes),))?;
            if !count.is_none() {
                return count.extract::<usize>().map(|count| Ok(count.min(bytes.len())));
            }
            // What is buffered takes all, and some writers do not say so; what is raw would have to wait.
            let raw = target.is_instance(&py.import("io")?.getattr("RawIOBase")?)?;
            Ok(if raw { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(bytes.len()) })
        };
        Python::attach(written).map_err(io::Error::other)?
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = |py: Python<'_>| {
            let target = self.0.bind(py);
            if target.hasattr("flush")? { target.call_method0("flush").map(drop) } else { Ok(()) }
        };
        Python::attach(flushed).map_err(io::Error::other)
    }
}
