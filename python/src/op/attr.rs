//! Attributes: Python objects as plain values, and back.

use crate::arg::type_name;
use crate::dtype;
use crate::error::{OrRaise, at, raised};
use crate::variable::PyVariable;
use extenso_core::attrs::{AttrType, AttrValue, Pairs, Param};
use extenso_types::Error;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyList, PyString, PyTuple};

/// The plain value of an attribute of a function.
///
/// Errors: an object that no attribute takes, under the names of both.
pub fn attr(function: &str, param: &Param, object: &Bound<'_, PyAny>) -> PyResult<AttrValue> {
    if param.kind == "dtype" {
        let place = format!("{function}: argument '{}'", param.name);
        return dtype::from_py(object).map(AttrValue::DType).map_err(|e| at(object.py(), e, &place));
    }
    if object.is_none() {
        return Ok(AttrValue::None);
    }
    if let Ok(v) = object.cast::<PyBool>() {
        return Ok(AttrValue::Bool(v.is_true()));
    }
    if object.is_instance_of::<PyInt>() {
        return int(function, param, object).map(AttrValue::Int);
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(AttrValue::Float(object.extract()?));
    }
    if object.is_instance_of::<PyString>() {
        return Ok(AttrValue::Str(object.extract()?));
    }
    if let Ok(variable) = object.cast::<PyVariable>() {
        return Ok(AttrValue::Variable(variable.get().0.clone()));
    }
    if is_list(object) {
        if param.kind == Pairs::NAME
            && let Some(widths) = in_pairs(function, param, object)?
        {
            return Ok(AttrValue::Ints(widths));
        }
        let ints: PyResult<Vec<i64>> = object.try_iter()?.map(|item| index(function, param, &item?)).collect();
        return ints.map(AttrValue::Ints);
    }
    // The scalars of NumPy.
    if param.kind == "bool"
        && let Ok(v) = object.extract()
    {
        return Ok(AttrValue::Bool(v));
    }
    index(function, param, object).map(AttrValue::Int)
}

fn is_list(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>()
}

/// The integers of a list of pairs, as NumPy writes widths; none of a list of something else.
fn in_pairs(function: &str, param: &Param, object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<i64>>> {
    let mut numbers = Vec::new();
    for pair in object.try_iter()? {
        let pair = pair?;
        if !is_list(&pair) || pair.len()? != 2 {
            return Ok(None);
        }
        for item in pair.try_iter()? {
            numbers.push(index(function, param, &item?)?);
        }
    }
    Ok(Some(numbers))
}

/// An integer, or what can stand for one: a NumPy integer, a tensor of one.
fn index(function: &str, param: &Param, object: &Bound<'_, PyAny>) -> PyResult<i64> {
    if object.is_instance_of::<PyInt>() && !object.is_instance_of::<PyBool>() {
        return int(function, param, object);
    }
    match object.extract::<i64>() {
        Ok(index) if !object.is_instance_of::<PyBool>() => Ok(index),
        // A symbol says for itself that it has no data.
        Err(exception) if exception.is_instance_of::<pyo3::exceptions::PyRuntimeError>(object.py()) => Err(exception),
        _ => {
            let error = Error::dtype(format!("found a value of type {}", type_name(object))).wanted(param.kind);
            Err(raised(object.py(), named(error, function, param)))
        }
    }
}

fn int(function: &str, param: &Param, object: &Bound<'_, PyAny>) -> PyResult<i64> {
    object.extract().map_err(|exception| {
        raised(object.py(), named(crate::typed::refused::<i64>(object, exception), function, param))
    })
}

fn named(error: Error, function: &str, param: &Param) -> Error {
    error.at(format!("argument '{}'", param.name)).at(function)
}

/// The Python object of a plain value.
///
/// Errors: a subgraph, which no Python object stands for.
pub fn attr_to_py<'py>(py: Python<'py>, value: &AttrValue) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        AttrValue::None => py.None().into_bound(py),
        AttrValue::Bool(v) => PyBool::new(py, *v).to_owned().into_any(),
        AttrValue::Int(v) => PyInt::new(py, *v).into_any(),
        AttrValue::Float(v) => PyFloat::new(py, *v).into_any(),
        AttrValue::Str(v) => PyString::new(py, v).into_any(),
        AttrValue::DType(v) => dtype::object(py, *v)?.into_any(),
        AttrValue::Ints(v) => PyTuple::new(py, v)?.into_any(),
        AttrValue::Bytes(v) => PyBytes::new(py, v).into_any(),
        AttrValue::Spec(v) => crate::spec::to_py(py, v.clone())?,
        AttrValue::Variable(v) => Bound::new(py, PyVariable(v.clone()))?.into_any(),
        AttrValue::Graph(_) => return Err(Error::dtype("a subgraph is no Python object")).or_raise(),
    })
}
