//! `x[...]`: keys as applications of slice, take, boolean_mask, squeeze and expand_dims.
//!
//! Invariant: keys are read here, what they select is computed by ops, so that symbols are indexed like values.

use crate::call::apply_one;
use crate::error::{OrRaise, raised};
use crate::{arg, value};
use extenso_core::OpDef;
use extenso_core::attrs::AttrSet;
use extenso_core::{Arg, Tensor, Value, ops};
use extenso_types::{DType, DTypeKind, Error};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PySlice, PyTuple};

/// One part of a key.
pub enum Part<'py> {
    Int(i64),
    Slice(Option<i64>, Option<i64>, i64),
    NewAxis,
    Ellipsis,
    /// A tensor or array-like: positions, or a mask.
    Indices(Bound<'py, PyAny>),
}

/// Row `i` of the outer axis, which is known to exist.
pub fn row<'py>(py: Python<'py>, tensor: &Tensor, i: usize) -> PyResult<Bound<'py, PyAny>> {
    let inner = tensor.data().or_raise()?.dims()[1..].to_vec();
    let row = tensor.slice_rows(i, 1).and_then(|row| row.with_dims(&inner)).or_raise()?;
    value::to_py(py, Value::Tensor(row))
}

/// What a key selects.
///
/// Errors: too many parts, an index out of range, a part that is no index.
pub fn item<'py>(py: Python<'py>, tensor: &Tensor, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let parts = expand(parts(key)?, tensor)?;
    let mut result = Value::Tensor(tensor.clone());
    // Axes stay where they are until the end, so that each part knows its own: single positions are squeezed and new axes inserted last.
    let (mut axis, mut dropped, mut inserted) = (0_i64, Vec::new(), Vec::new());
    let mut indexed = false;
    for part in parts {
        match part {
            Part::Int(i) => {
                result = position(result, axis, i)?;
                dropped.push(axis);
                axis += 1;
            }
            Part::Slice(None, None, 1) => axis += 1,
            Part::Slice(start, stop, step) => {
                result = slice(result, axis, start, stop, step)?;
                axis += 1;
            }
            Part::NewAxis => inserted
                .push(axis - i64::try_from(dropped.len()).unwrap_or(0) + i64::try_from(inserted.len()).unwrap_or(0)),
            Part::Indices(tensor) => {
                if std::mem::replace(&mut indexed, true) {
                    let error = Error::value("two parts of the key are tensors").wanted("at most one");
                    return Err(error.hint("Use `take` twice.")).or_raise();
                }
                let (op, tensor, axes) = choice(&tensor)?;
                result = one(op, &[Arg::Value(result), Arg::from(tensor)], &ops::OneAxis { axis })?;
                axis += axes;
            }
            Part::Ellipsis => {}
        }
    }
    if !dropped.is_empty() {
        result = one(&ops::SQUEEZE, &[Arg::Value(result)], &ops::ManyAxes { axes: dropped })?;
    }
    if !inserted.is_empty() {
        result = one(&ops::EXPAND_DIMS_AT, &[Arg::Value(result)], &ops::ManyAxes { axes: inserted })?;
    }
    value::to_py(py, result)
}

/// The op that a tensor in a key stands for, with the tensor and how many axes it leaves.
fn choice(part: &Bound<'_, PyAny>) -> PyResult<(&'static OpDef, Tensor, i64)> {
    if mask_rank(part)?.is_some() {
        return Ok((&ops::BOOLEAN_MASK, arg::tensor(part, None)?, 1));
    }
    let indices = integers(part)?;
    let rank = i64::try_from(indices.shape().rank().unwrap_or(1)).unwrap_or(0);
    Ok((&ops::TAKE, indices, rank))
}

/// How many axes a mask has; none for other indices.
fn mask_rank(part: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    let tensor = arg::tensor(part, None)?;
    Ok(tensor.shape().rank().filter(|&rank| tensor.dtype() == DType::Bool && rank > 0))
}

fn one(op: &'static OpDef, args: &[Arg], attrs: &dyn AttrSet) -> PyResult<Value> {
    apply_one(op, args, attrs)
}

/// The element at `i` of an axis, which stays as an axis of size 1.
fn position(x: Value, axis: i64, i: i64) -> PyResult<Value> {
    let size = usize::try_from(axis).ok().and_then(|at| x.tensor().ok()?.shape().dims()?.get(at)?.known());
    if let Some(n) = size.and_then(|n| i64::try_from(n).ok())
        && !(-n..n).contains(&i)
    {
        let error = Error::index(format!("index {i} is out of range for axis {axis} of size {n}"));
        return Err(error.wanted(format!("an index from {} to {}", -n, n - 1))).or_raise();
    }
    if size.is_none() {
        // While tracing, only `take` can say that the index is out of range.
        let indices = Tensor::from_vec(vec![i]);
        return one(&ops::TAKE, &[Arg::Value(x), Arg::from(indices)], &ops::OneAxis { axis });
    }
    // The stop of the last position is the end, not 0.
    slice(x, axis, Some(i), (i != -1).then_some(i + 1), 1)
}

fn slice(x: Value, axis: i64, start: Option<i64>, stop: Option<i64>, step: i64) -> PyResult<Value> {
    let start = start.unwrap_or(if step < 0 { i64::MAX } else { 0 });
    let attrs = ops::Slice { axis, start, stop: stop.map(|stop| vec![stop]), step };
    one(&ops::SLICE, &[Arg::Value(x)], &attrs)
}

/// The parts with the ellipsis replaced by whole axes.
fn expand<'py>(parts: Vec<Part<'py>>, tensor: &Tensor) -> PyResult<Vec<Part<'py>>> {
    let mut consumed = 0;
    for part in &parts {
        consumed += match part {
            Part::NewAxis | Part::Ellipsis => 0,
            Part::Int(_) | Part::Slice(..) => 1,
            Part::Indices(tensor) => mask_rank(tensor)?.unwrap_or(1),
        };
    }
    let rank = tensor.shape().rank();
    if let Some(rank) = rank.filter(|&rank| consumed > rank) {
        let error = Error::index(format!("the key has {consumed} parts for a tensor of {rank} axes"));
        return Err(error.wanted("at most one part for each axis; a mask is one for each of its own")).or_raise();
    }
    let Some(at) = parts.iter().position(|part| matches!(part, Part::Ellipsis)) else { return Ok(parts) };
    if parts.iter().filter(|part| matches!(part, Part::Ellipsis)).count() > 1 {
        return Err(Error::index("the key has two ellipses").wanted("at most one")).or_raise();
    }
    let Some(rank) = rank else {
        return Err(Error::shape("`...` needs a rank, which is not known while tracing")).or_raise();
    };
    let mut head = parts;
    let tail = head.split_off(at + 1);
    head.pop();
    head.extend((consumed..rank).map(|_| Part::Slice(None, None, 1)));
    head.extend(tail);
    Ok(head)
}

/// The parts of a key as the caller wrote it.
pub fn parts<'py>(key: &Bound<'py, PyAny>) -> PyResult<Vec<Part<'py>>> {
    match key.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().map(|part| read_part(&part)).collect(),
        Err(_) => Ok(vec![read_part(key)?]),
    }
}

fn read_part<'py>(part: &Bound<'py, PyAny>) -> PyResult<Part<'py>> {
    if part.is_none() {
        return Ok(Part::NewAxis);
    }
    if part.is_instance_of::<PyEllipsis>() {
        return Ok(Part::Ellipsis);
    }
    if part.is_instance_of::<PyBool>() {
        return Err(no_index("a boolean as an index")).or_raise();
    }
    if part.is_instance_of::<PyInt>() {
        return arg::int(part).map(Part::Int);
    }
    if let Ok(slice) = part.cast::<PySlice>() {
        let bound = |name: &str| -> PyResult<Option<i64>> {
            let bound = slice.getattr(name)?;
            if bound.is_none() { Ok(None) } else { clamped(&bound).map(Some) }
        };
        return Ok(Part::Slice(bound("start")?, bound("stop")?, bound("step")?.unwrap_or(1)));
    }
    Ok(Part::Indices(part.clone()))
}

fn no_index(found: &str) -> Error {
    Error::dtype(format!("found {found}")).wanted("integers, slices, `...`, `None`, a mask or an integer tensor")
}

/// A bound of a slice; beyond 64 bits is as good as the end.
fn clamped(bound: &Bound<'_, PyAny>) -> PyResult<i64> {
    let index = bound.call_method0("__index__").map_err(|exception| {
        if !exception.is_instance_of::<pyo3::exceptions::PyAttributeError>(bound.py()) {
            return exception;
        }
        let error = Error::dtype(format!("found a value of type {} in a slice", arg::type_name(bound)))
            .wanted("integers or None");
        raised(bound.py(), error)
    })?;
    match index.extract() {
        Ok(i) => Ok(i),
        Err(_) => Ok(if index.lt(0)? { i64::MIN } else { i64::MAX }),
    }
}

/// The integers of a part of a key.
///
/// Errors: something else.
pub fn integers(indices: &Bound<'_, PyAny>) -> PyResult<Tensor> {
    let tensor = arg::tensor(indices, None)?;
    if tensor.dtype().is_integer() {
        return Ok(tensor);
    }
    // An empty list has no dtype of its own.
    if tensor.dtype().kind() == DTypeKind::Float && tensor.data().is_ok_and(|dense| dense.is_empty()) {
        return apply_one(&ops::CAST, &[Arg::from(tensor)], &ops::Cast { dtype: DType::I64 })?
            .tensor()
            .cloned()
            .or_raise();
    }
    Err(no_index(&format!("indices of {}", tensor.spec())).at("index")).or_raise()
}
