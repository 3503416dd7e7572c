//! Nested Python lists and dicts to values and back.

use crate::error::{OrRaise, guarded, raised};
use crate::{arg, value};
use extenso_core::Value;
use extenso_ext::{Literal, to_literal};
use extenso_types::Error;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// Deeper nests are refused by core; this bounds the recursion here.
const MAX_DEPTH: usize = 100;

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(constant, module)?)?;
    module.add_function(wrap_pyfunction!(to_py, module)?)
}

/// The value of nested lists and dicts: dense where lengths agree, ragged where they differ; dicts are structs, `None` is
/// a missing element.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.constant([[1, 2], [3]]))
/// [[1, 2], [3]]
#[pyfunction]
fn constant<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    value::to_py(object.py(), value(object)?)
}

/// The core value of nested lists and dicts.
///
/// Errors: something else among them; what no value has, such as leaves of two kinds.
pub fn value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let literal = read(object, 0)?;
    guarded(|| extenso_ext::constant(literal)).or_raise()
}

/// The nested lists and dicts of a value; the reverse of `constant`.
#[pyfunction]
fn to_py<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let value = value::from_py(x)?;
    write(x.py(), &guarded(|| to_literal(&value)).or_raise()?)
}

fn read(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Literal> {
    if depth > MAX_DEPTH {
        return Err(raised(object.py(), Error::value(format!("a nest is deeper than {MAX_DEPTH}")).at("constant")));
    }
    if object.is_none() {
        Ok(Literal::None)
    } else if let Ok(v) = object.cast::<PyBool>() {
        Ok(Literal::Bool(v.is_true()))
    } else if object.is_instance_of::<PyInt>() {
        arg::int(object).map(Literal::Int)
    } else if object.is_instance_of::<PyFloat>() {
        object.extract().map(Literal::Float)
    } else if object.is_instance_of::<PyString>() {
        object.extract().map(Literal::Str)
    } else if let Ok(v) = object.cast::<PyBytes>() {
        Ok(Literal::Bytes(v.as_bytes().to_vec()))
    } else if let Ok(dict) = object.cast::<PyDict>() {
        let entry = |(key, item): (Bound<'_, PyAny>, Bound<'_, PyAny>)| Ok((key.extract()?, read(&item, depth + 1)?));
        dict.iter().map(entry).collect::<PyResult<_>>().map(Literal::Record)
    } else if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let items = object.try_iter()?;
        items.map(|item| read(&item?, depth + 1)).collect::<PyResult<_>>().map(Literal::List)
    } else if object.hasattr("tolist")? {
        read(&object.call_method0("tolist")?, depth + 1)
    } else {
        let error = Error::dtype(format!("found a value of type {}", arg::type_name(object)))
            .wanted("numbers, strings, bytes, None, and lists, tuples and dicts of these");
        Err(raised(object.py(), error.at("constant")))
    }
}

fn write<'py>(py: Python<'py>, literal: &Literal) -> PyResult<Bound<'py, PyAny>> {
    Ok(match literal {
        Literal::None => py.None().into_bound(py),
        Literal::Bool(v) => PyBool::new(py, *v).to_owned().into_any(),
        Literal::Int(v) => PyInt::new(py, *v).into_any(),
        Literal::Float(v) => PyFloat::new(py, *v).into_any(),
        Literal::Str(v) => PyString::new(py, v).into_any(),
        Literal::Bytes(v) => PyBytes::new(py, v).into_any(),
        Literal::List(items) => {
            let items: PyResult<Vec<_>> = items.iter().map(|item| write(py, item)).collect();
            PyList::new(py, items?)?.into_any()
        }
        Literal::Record(fields) => {
            let dict = PyDict::new(py);
            fields.iter().try_for_each(|(name, item)| dict.set_item(name, write(py, item)?))?;
            dict.into_any()
        }
    })
}
