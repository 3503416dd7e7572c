//! Keys: what Python writes between the brackets, as parts of an index.

use crate::error::raised;
use crate::{arg, value};
use extenso_ext::Index;
use extenso_types::Error;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PyList, PySlice, PyString, PyTuple};

const WANTED: &str = "names of fields, integers, slices, `...`, `None`, and tensors of booleans or integers";

/// The parts of a key.
///
/// Errors: a part that is none.
pub fn parts(key: &Bound<'_, PyAny>) -> PyResult<Vec<Index>> {
    match key.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().map(|part| read(&part)).collect(),
        Err(_) => Ok(vec![read(key)?]),
    }
}

fn read(part: &Bound<'_, PyAny>) -> PyResult<Index> {
    if part.is_instance_of::<PyString>() {
        return part.extract::<String>().map(|name| Index::Field(name.into()));
    }
    if part.is_none() {
        return Ok(Index::NewAxis);
    }
    if part.is_instance_of::<PyEllipsis>() {
        return Ok(Index::Ellipsis);
    }
    if part.is_instance_of::<PyBool>() {
        return Err(raised(part.py(), Error::dtype("found a boolean as an index").wanted(WANTED)));
    }
    if part.is_instance_of::<PyInt>() {
        return arg::int(part).map(Index::At);
    }
    if let Ok(slice) = part.cast::<PySlice>() {
        let bound = |name: &str| {
            let bound = slice.getattr(name)?;
            if bound.is_none() { Ok(None) } else { clamped(&bound).map(Some) }
        };
        return Ok(Index::Slice { start: bound("start")?, stop: bound("stop")?, step: bound("step")?.unwrap_or(1) });
    }
    // An empty list has no dtype of its own; it picks nothing.
    if part.cast::<PyList>().is_ok_and(|list| list.is_empty()) {
        return Ok(Index::Pick(extenso_core::Tensor::from_vec(Vec::<i64>::new()).into()));
    }
    let picked = if arg::is_value(part) { value::from_py(part) } else { arg::tensor(part, None).map(Into::into) };
    let found = |exception| {
        let error = Error::dtype(format!("found a value of type {} in a key", arg::type_name(part))).wanted(WANTED);
        let error = raised(part.py(), error);
        error.set_cause(part.py(), Some(exception));
        error
    };
    picked.map(Index::Pick).map_err(found)
}

/// A bound of a slice; beyond 64 bits is as good as the end.
fn clamped(bound: &Bound<'_, PyAny>) -> PyResult<i64> {
    let index = bound.call_method0("__index__").map_err(|_| {
        let error = Error::dtype(format!("found a value of type {} in a slice", arg::type_name(bound)))
            .wanted("integers or None");
        raised(bound.py(), error)
    })?;
    match index.extract() {
        Ok(i) => Ok(i),
        Err(_) => Ok(if index.lt(0)? { i64::MIN } else { i64::MAX }),
    }
}
