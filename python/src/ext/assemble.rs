//! Taking fields apart into static data and components, and putting them together.
//!
//! Invariant: `join` of what `split` gives is what was split. A field whose kind is one component adds nothing to the
//! static data; one that may be either writes a template, in which each component stands for itself.

use crate::depth::deeper;
use crate::dtype::{self, PyDType};
use crate::error::OrRaise;
use crate::shape::PyShape;
use extenso_types::{Error, Segment, StaticValue};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyMapping, PyMappingProxy, PyString, PyTuple};

use super::field::Table;
use super::kind::{Components, Kind};

/// A component with the step that leads to it.
pub type Part<'py> = (Segment, Bound<'py, PyAny>);

/// The static data and the components of fields.
///
/// Errors: a field whose annotation cannot be resolved; static data outside the closed set.
pub fn split<'py>(
    py: Python<'py>,
    table: &Table,
    values: impl Fn(usize) -> PyResult<Bound<'py, PyAny>>,
    is_component: &dyn Fn(&Bound<'py, PyAny>) -> bool,
) -> PyResult<(StaticValue, Vec<Part<'py>>)> {
    let (mut statics, mut parts) = (Vec::new(), Vec::new());
    for (i, field) in table.fields.iter().enumerate() {
        let (kind, value) = (&field.resolve(py)?.kind, values(i)?);
        match kind.components() {
            Components::None => statics.push((field.text.clone(), to_static(&value)?)),
            Components::One => parts.push((field.segment.clone(), value)),
            Components::Some => {
                statics.push((field.text.clone(), template(&value, &field.text, is_component, &mut parts)?))
            }
        }
    }
    // A type written in Rust without static data has none, and its class here says the same.
    Ok((if statics.is_empty() { StaticValue::None } else { StaticValue::map(statics) }, parts))
}

fn tagged(tag: &str, items: impl IntoIterator<Item = StaticValue>) -> StaticValue {
    StaticValue::Tuple(std::iter::once(StaticValue::Str(tag.into())).chain(items).collect())
}

fn template<'py>(
    value: &Bound<'py, PyAny>,
    path: &str,
    is_component: &dyn Fn(&Bound<'py, PyAny>) -> bool,
    parts: &mut Vec<Part<'py>>,
) -> PyResult<StaticValue> {
    if is_component(value) {
        parts.push((Segment::field(path), value.clone()));
        return Ok(tagged("component", []));
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        let items =
            tuple.iter().enumerate().map(|(i, item)| template(&item, &format!("{path}[{i}]"), is_component, parts));
        return Ok(tagged("tuple", items.collect::<PyResult<Vec<_>>>()?));
    }
    if let Ok(mapping) = value.cast::<PyMapping>() {
        let mut entries = Vec::new();
        for (key, item) in sorted_entries(mapping)? {
            let item = template(&item, &format!("{path}.{key}"), is_component, parts)?;
            entries.push((key, item));
        }
        return Ok(tagged("map", [StaticValue::map(entries)]));
    }
    Ok(tagged("static", [to_static(value)?]))
}

fn sorted_entries<'py>(mapping: &Bound<'py, PyMapping>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let mut entries: Vec<(String, Bound<'py, PyAny>)> =
        mapping.items()?.iter().map(|entry| entry.extract()).collect::<PyResult<_>>()?;
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(entries)
}

/// The values of the fields, in order.
///
/// Errors: static data or components that are not what the fields say.
pub fn join<'py>(
    py: Python<'py>,
    table: &Table,
    statics: &StaticValue,
    mut components: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let mut next = || components.next().unwrap_or_else(|| Err(Error::value("a component is missing")).or_raise());
    let mut values = Vec::new();
    for field in &table.fields {
        let stored = || {
            let missing = || Error::missing(format!("the static data has no entry '{}'", field.text));
            statics.get(&field.text).ok_or_else(missing).or_raise()
        };
        values.push(match field.resolve(py)?.kind.components() {
            Components::None => from_static(py, stored()?)?,
            Components::One => next()?,
            Components::Some => filled(py, stored()?, &mut next)?,
        });
    }
    Ok(values)
}

fn filled<'py>(
    py: Python<'py>,
    template: &StaticValue,
    next: &mut dyn FnMut() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let malformed = || Err(Error::data(format!("{template} is no template of a field"))).or_raise();
    let StaticValue::Tuple(items) = template else { return malformed() };
    match items.as_slice() {
        [StaticValue::Str(tag)] if tag == "component" => next(),
        [StaticValue::Str(tag), value] if tag == "static" => from_static(py, value),
        [StaticValue::Str(tag), items @ ..] if tag == "tuple" => {
            let items: PyResult<Vec<_>> = items.iter().map(|item| filled(py, item, next)).collect();
            Ok(PyTuple::new(py, items?)?.into_any())
        }
        [StaticValue::Str(tag), StaticValue::Map(entries)] if tag == "map" => {
            let dict = PyDict::new(py);
            for (key, item) in entries {
                dict.set_item(key, filled(py, item, next)?)?;
            }
            Ok(PyMappingProxy::new(py, dict.as_mapping()).into_any())
        }
        _ => malformed(),
    }
}

/// The static value of a Python object.
///
/// Errors: an object outside the closed set.
pub fn to_static(object: &Bound<'_, PyAny>) -> PyResult<StaticValue> {
    Ok(if object.is_none() {
        StaticValue::None
    } else if let Ok(v) = object.cast::<PyBool>() {
        StaticValue::Bool(v.is_true())
    } else if object.is_instance_of::<PyInt>() {
        StaticValue::Int(crate::arg::int(object)?)
    } else if object.is_instance_of::<PyFloat>() {
        StaticValue::Float(object.extract()?)
    } else if object.is_instance_of::<PyString>() {
        StaticValue::Str(object.extract()?)
    } else if let Ok(v) = object.cast::<PyBytes>() {
        StaticValue::Bytes(v.as_bytes().to_vec())
    } else if let Ok(v) = object.cast::<PyDType>() {
        StaticValue::DType(v.get().0)
    } else if let Ok(v) = object.cast::<PyShape>() {
        StaticValue::Shape(v.get().0.clone())
    } else if let Ok(v) = object.cast::<crate::spec::PyTypeSpec>() {
        StaticValue::Spec(Box::new(crate::spec::core_spec(v)?))
    } else if super::convert::is_sequence(object) {
        let items = || object.try_iter()?.map(|item| to_static(&item?)).collect::<PyResult<Vec<_>>>();
        StaticValue::Tuple(deeper(object.py(), "static data", items)?)
    } else if let Ok(mapping) = object.cast::<PyMapping>() {
        let entries = || {
            let entries = sorted_entries(mapping)?.into_iter();
            entries.map(|(key, item)| Ok((key, to_static(&item)?))).collect::<PyResult<Vec<_>>>()
        };
        StaticValue::map(deeper(object.py(), "static data", entries)?)
    } else {
        let error = Error::dtype(format!("found {}", Kind::found(object))).wanted(
            "static data: None, bool, int, float, str, bytes, a dtype, a shape, a spec, or tuples and mappings of these",
        );
        return Err(error).or_raise();
    })
}

/// The Python object of a static value.
pub fn from_static<'py>(py: Python<'py>, value: &StaticValue) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        StaticValue::None => py.None().into_bound(py),
        StaticValue::Bool(v) => PyBool::new(py, *v).to_owned().into_any(),
        StaticValue::Int(v) => PyInt::new(py, *v).into_any(),
        StaticValue::Float(v) => PyFloat::new(py, *v).into_any(),
        StaticValue::Str(v) => PyString::new(py, v).into_any(),
        StaticValue::Bytes(v) => PyBytes::new(py, v).into_any(),
        StaticValue::DType(v) => dtype::object(py, *v)?.into_any(),
        StaticValue::Shape(v) => Bound::new(py, PyShape(v.clone()))?.into_any(),
        StaticValue::Spec(v) => crate::spec::to_py(py, (**v).clone())?,
        StaticValue::Tuple(items) => {
            let items: PyResult<Vec<_>> = items.iter().map(|item| from_static(py, item)).collect();
            PyTuple::new(py, items?)?.into_any()
        }
        StaticValue::Map(entries) => {
            let dict = PyDict::new(py);
            for (key, item) in entries {
                dict.set_item(key, from_static(py, item)?)?;
            }
            PyMappingProxy::new(py, dict.as_mapping()).into_any()
        }
    })
}
