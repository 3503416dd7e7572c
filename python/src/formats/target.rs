//! Where written bytes go: a path, a file object, or back to the caller.

use crate::arg;
use crate::error::{OrRaise, raised};
use extenso_graph::save::archive::write_atomically;
use extenso_types::Error;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::path::PathBuf;

/// Writes bytes to a path, where they appear whole or not at all, or to a file object; without a target, gives them back.
///
/// Errors: something that is neither; what the operating system refuses.
pub fn write_to<'py>(
    py: Python<'py>,
    target: Option<&Bound<'py, PyAny>>,
    bytes: &[u8],
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let Some(target) = target else { return Ok(Some(PyBytes::new(py, bytes))) };
    if target.is_instance_of::<PyString>() || target.hasattr("__fspath__")? {
        let path: PathBuf = target.extract()?;
        let write = || write_atomically(path, bytes).map_err(|e| Error::io(e.to_string()));
        py.detach(write).or_raise()?;
    } else if target.hasattr("write")? {
        target.call_method1("write", (PyBytes::new(py, bytes),))?;
    } else {
        let error = Error::dtype(format!("found a value of type {}", arg::type_name(target)));
        return Err(raised(py, error.wanted("a path, or a file object that is open for bytes").at("target")));
    }
    Ok(None)
}
