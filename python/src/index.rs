//! `x[...]`: what Python writes between the brackets, as the key of any value.
//!
//! Invariant: keys are read here alone. What they choose, `extenso_ext::index` says.

use crate::error::{self, OrRaise, guarded, raised};
use crate::tensor::PyTensor;
use crate::{arg, value};
use extenso_core::{Tensor, Value};
use extenso_ext::{FieldPath, Index};
use extenso_types::{DTypeKind, Error};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PyList, PySlice, PyString, PyTuple};

const WANTED: &str =
    "names of fields, lists of these, integers, slices, `...`, `None`, and tensors of booleans or integers";

/// What `x[key]` chooses of any value: what classes written in Python call.
#[pyfunction]
#[pyo3(name = "_index")]
pub fn index<'py>(x: &Bound<'py, PyAny>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    item(x.py(), &value::from_py(x)?, key)
}

/// What a key chooses.
///
/// Errors: a part that is none; those of `extenso_ext::index`.
pub fn item<'py>(py: Python<'py>, x: &Value, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let chosen = match key.cast::<PyTuple>() {
        Ok(tuple) => {
            let mut parts = Vec::with_capacity(tuple.len());
            for (at, part) in tuple.iter().enumerate() {
                match part.cast::<PyTuple>() {
                    Ok(path) if path.iter().all(|name| name.is_instance_of::<PyString>()) => {
                        path.iter().try_for_each(|name| read(&name, Some(at)).map(|name| parts.push(name)))?;
                    }
                    _ => parts.push(read(&part, Some(at))?),
                }
            }
            guarded(|| extenso_ext::index(x, &parts))
        }
        Err(_) => {
            let part = read(key, None)?;
            guarded(|| extenso_ext::index(x, &[part]))
        }
    };
    value::to_py(py, chosen.or_raise()?)
}

/// A part of a key; `at` is its place in a key of several.
fn read(part: &Bound<'_, PyAny>, at: Option<usize>) -> PyResult<Index> {
    let wrong = |error: Error| {
        let error = match at {
            Some(at) => error.at(format!("part {} of the key", at + 1)),
            None => error,
        };
        raised(part.py(), error.at("index"))
    };
    if part.is_exact_instance_of::<PyInt>() {
        return arg::int(part).map(Index::At).map_err(|e| error::at(part.py(), e, "index"));
    }
    if let Ok(slice) = part.cast::<PySlice>() {
        let step = slice.getattr("step")?;
        if is_symbol(&step) {
            let error = Error::scope("the step of the slice is a symbol, which has no data while a function is traced");
            return Err(wrong(error.wanted("an integer of Python; the bounds may be symbols")));
        }
        let step = if step.is_none() { 1 } else { clamped(&step, &wrong)?.max(-i64::MAX) };
        let bounds = ["start", "stop"].map(|name| slice.getattr(name));
        if bounds.iter().flatten().any(is_symbol) {
            let bound = |bound: PyResult<Bound<'_, PyAny>>| match bound? {
                bound if bound.is_none() => Ok(None),
                bound if is_symbol(&bound) => value::from_py(&bound).map(Some),
                bound => clamped(&bound, &wrong).map(|number| Some(Tensor::scalar(number).into())),
            };
            let [start, stop] = bounds.map(bound);
            return Ok(Index::Between { start: start?, stop: stop?, step });
        }
        let bound = |name: &str| {
            let bound = slice.getattr(name)?;
            if bound.is_none() { Ok(None) } else { clamped(&bound, &wrong).map(Some) }
        };
        return Ok(Index::Slice { start: bound("start")?, stop: bound("stop")?, step });
    }
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
        return Err(wrong(Error::dtype("found a boolean").wanted(WANTED)));
    }
    if part.is_instance_of::<PyInt>() {
        return arg::int(part).map(Index::At).map_err(|e| error::at(part.py(), e, "index"));
    }
    if let Some(paths) = names(part)? {
        return Ok(Index::Fields(paths));
    }
    match value::from_py(part) {
        Ok(Value::Tensor(tensor)) if is_empty_list(part, &tensor) => {
            let dims = tensor.data().or_raise()?.dims().to_vec();
            Tensor::new::<i64>(&dims, &[]).map(|tensor| Index::Pick(tensor.into())).or_raise()
        }
        Ok(picked) => Ok(Index::Pick(picked)),
        Err(exception) => {
            let found = Error::dtype(format!("found a value of type {}", arg::type_name(part)));
            let error = wrong(found.wanted(WANTED));
            error.set_cause(part.py(), Some(exception));
            Err(error)
        }
    }
}

/// The fields that a list of names, or of tuples of names, says; none of another list.
fn names(part: &Bound<'_, PyAny>) -> PyResult<Option<Vec<FieldPath>>> {
    let Ok(list) = part.cast::<PyList>() else { return Ok(None) };
    let mut paths = Vec::with_capacity(list.len());
    for item in list.iter() {
        let path: Vec<String> = match item.cast::<PyTuple>() {
            Ok(path) if path.iter().all(|name| name.is_instance_of::<PyString>()) => path.extract()?,
            _ if item.is_instance_of::<PyString>() => vec![item.extract()?],
            _ => return Ok(None),
        };
        paths.push(path.into_iter().collect());
    }
    Ok((!paths.is_empty()).then_some(paths))
}

/// An empty list has no dtype of its own; it picks nothing.
fn is_empty_list(part: &Bound<'_, PyAny>, tensor: &Tensor) -> bool {
    part.is_instance_of::<PyList>()
        && tensor.dtype().kind() == DTypeKind::Float
        && tensor.data().is_ok_and(|dense| dense.is_empty())
}

/// Whether an object is a tensor that has no data while a function is traced.
fn is_symbol(object: &Bound<'_, PyAny>) -> bool {
    object.cast::<PyTensor>().is_ok_and(|tensor| tensor.get().0.symbol().is_some())
}

/// A bound of a slice; beyond 64 bits is as good as the end.
fn clamped(bound: &Bound<'_, PyAny>, wrong: &dyn Fn(Error) -> PyErr) -> PyResult<i64> {
    if let Ok(small) = bound.extract() {
        return Ok(small);
    }
    let index = bound.call_method0("__index__").map_err(|exception| {
        if !exception.is_instance_of::<pyo3::exceptions::PyAttributeError>(bound.py()) {
            return exception;
        }
        let error = Error::dtype(format!("found a value of type {} in a slice", arg::type_name(bound)));
        wrong(error.wanted("integers or None"))
    })?;
    match index.extract() {
        Ok(i) => Ok(i),
        Err(_) => Ok(if index.lt(0)? { i64::MIN } else { i64::MAX }),
    }
}
