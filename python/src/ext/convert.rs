//! Conversions: what a caller gives for a field as what the field holds.
//!
//! Invariant: errors carry the path of the place that does not fit: `seq[2]: expected Union[int, float], got 'str'`.

use crate::arg;
use crate::dtype;
use crate::error::{OrRaise, raised};
use crate::shape::{self, PyShape};
use crate::tensor::PyTensor;
use extenso_types::Error;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PyMapping, PyMappingProxy, PyString, PyTuple};

use super::kind::{Components, Kind};

/// The object that a field of this kind holds for `object`.
///
/// Errors: it does not fit; `path` says where.
pub fn convert<'py>(kind: &Kind, object: &Bound<'py, PyAny>, path: &str) -> PyResult<Bound<'py, PyAny>> {
    match kind {
        Kind::Tensor if kind.holds(object) => Ok(object.clone()),
        Kind::Tensor => tensor(kind, object, path),
        Kind::Union(members) => union(kind, members, object, path),
        Kind::Sequence(item) => sequence(kind, object, path, |_| Some(item)),
        Kind::Tuple(items) => tuple(kind, items, object, path),
        Kind::Mapping(item) => mapping(kind, item, object, path),
        Kind::Int if kind.holds(object) => Ok(PyInt::new(object.py(), arg::int(object)?).into_any()),
        Kind::Float if kind.holds(object) => Ok(PyFloat::new(object.py(), object.extract()?).into_any()),
        Kind::Str if kind.holds(object) && !object.is_exact_instance_of::<PyString>() => Ok(object.str()?.into_any()),
        Kind::DType if !kind.holds(object) => dtype::from_py(object)
            .and_then(|dtype| Ok(dtype::object(object.py(), dtype)?.into_any()))
            .or_else(|_| misfit(kind, object, path)),
        Kind::Shape if !kind.holds(object) && !object.is_none() => {
            let shape =
                shape::from_py(object).and_then(|shape| Ok(Bound::new(object.py(), PyShape(shape))?.into_any()));
            shape.or_else(|_| misfit(kind, object, path))
        }
        Kind::None
        | Kind::Bool
        | Kind::Int
        | Kind::Float
        | Kind::Str
        | Kind::Bytes
        | Kind::DType
        | Kind::Shape
        | Kind::Partition
        | Kind::Ext(_) => {
            if kind.holds(object) {
                Ok(object.clone())
            } else {
                misfit(kind, object, path)
            }
        }
    }
}

/// As `convert`, for a field of a spec: where a component would stand, its spec does.
///
/// Errors: static data that does not fit; `path` says where.
pub fn convert_static<'py>(kind: &Kind, object: &Bound<'py, PyAny>, path: &str) -> PyResult<Bound<'py, PyAny>> {
    match kind.components() {
        Components::None => convert(kind, object, path),
        Components::One | Components::Some => Ok(object.clone()),
    }
}

fn misfit<T>(kind: &Kind, object: &Bound<'_, PyAny>, path: &str) -> PyResult<T> {
    Err(Error::dtype(format!("expected {kind}, got {}", Kind::found(object))).at(path)).or_raise()
}

fn tensor<'py>(kind: &Kind, object: &Bound<'py, PyAny>, path: &str) -> PyResult<Bound<'py, PyAny>> {
    if object.is_none() || object.is_instance_of::<super::PyExtensionBase>() {
        return misfit(kind, object, path);
    }
    match arg::tensor(object, None) {
        Ok(tensor) => Ok(Bound::new(object.py(), PyTensor(tensor))?.into_any()),
        Err(exception) if exception.is_instance_of::<pyo3::exceptions::PyTypeError>(object.py()) => {
            let error = Error::dtype(format!("expected {kind}, got {}", Kind::found(object))).at(path);
            let error = raised(object.py(), error);
            error.set_cause(object.py(), Some(exception));
            Err(error)
        }
        Err(exception) => Err(exception),
    }
}

/// A member that holds the object as it stands comes before one that would convert it.
fn union<'py>(kind: &Kind, members: &[Kind], object: &Bound<'py, PyAny>, path: &str) -> PyResult<Bound<'py, PyAny>> {
    let exact = members.iter().filter(|member| member.holds(object));
    let converting = members.iter().filter(|member| !member.holds(object));
    for member in exact.chain(converting) {
        if let Ok(converted) = convert(member, object, path) {
            return Ok(converted);
        }
    }
    misfit(kind, object, path)
}

fn tuple<'py>(kind: &Kind, items: &[Kind], object: &Bound<'py, PyAny>, path: &str) -> PyResult<Bound<'py, PyAny>> {
    let given = object.len().unwrap_or(0);
    if is_sequence(object) && given != items.len() {
        let error = Error::dtype(format!("expected {kind}, got {given} items")).at(path);
        return Err(error).or_raise();
    }
    sequence(kind, object, path, |i| items.get(i))
}

fn sequence<'py, 'k>(
    kind: &Kind,
    object: &Bound<'py, PyAny>,
    path: &str,
    item_kind: impl Fn(usize) -> Option<&'k Kind>,
) -> PyResult<Bound<'py, PyAny>> {
    if !is_sequence(object) {
        return misfit(kind, object, path);
    }
    let mut items = Vec::new();
    for (i, item) in object.try_iter()?.enumerate() {
        match item_kind(i) {
            Some(item_kind) => items.push(convert(item_kind, &item?, &format!("{path}[{i}]"))?),
            None => return misfit(kind, object, path),
        }
    }
    Ok(PyTuple::new(object.py(), items)?.into_any())
}

pub fn is_sequence(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyList>()
}

/// An immutable mapping, sorted by key whatever the order it comes in.
fn mapping<'py>(kind: &Kind, item: &Kind, object: &Bound<'py, PyAny>, path: &str) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let Ok(mapping) = object.cast::<PyMapping>() else { return misfit(kind, object, path) };
    let mut entries = Vec::new();
    for entry in mapping.items()? {
        let (key, value): (Bound<'py, PyAny>, Bound<'py, PyAny>) = entry.extract()?;
        let Ok(key) = key.extract::<String>() else {
            let error = Error::dtype(format!("expected keys of str, got {}", Kind::found(&key))).at(path);
            return Err(error).or_raise();
        };
        let value = convert(item, &value, &format!("{path}[{key:?}]"))?;
        entries.push((key, value));
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    let sorted = PyDict::new(py);
    entries.into_iter().try_for_each(|(key, value)| sorted.set_item(key, value))?;
    Ok(PyMappingProxy::new(py, sorted.as_mapping()).into_any())
}
