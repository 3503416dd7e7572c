//! Nested Python lists and dicts to values and back.

mod given;
mod objects;

use crate::error::{self, OrRaise, guarded, raised};
use crate::spec::{PyTypeSpec, core_spec, of_components};
use crate::{arg, import, value};
use extenso_core::kernels::pool::affordable;
use extenso_core::{Dense, Value, behavior};
use extenso_ext::{Host, Literal, to_host, to_literal};
use extenso_types::{Dim, Error, Spec};
use given::{Given, Trail, literal};
use objects::Objects;
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// Deeper nests are refused by core; this bounds the recursion here.
const MAX_DEPTH: usize = 100;

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(constant, module)?)?;
    module.add_function(wrap_pyfunction!(to_py, module)?)?;
    module.add_function(wrap_pyfunction!(_shown, module)?)
}

/// The value of nested lists and dicts: dense where lengths agree, ragged where they differ; dicts are structs, `None` is
/// a missing element.
///
/// A value stays what it is, and an array keeps its dtype; objects of `datetime` and `decimal` and times of NumPy are times and decimals. With a `spec` it is a value of that spec: its dtypes, rows and masks, whatever the lengths. An error has the path.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.constant([[1, 2], [3]]))
/// [[1, 2], [3]]
/// >>> ex.constant([1, 2], ex.TensorSpec([None], "f32")).dtype
/// extenso.f32
#[pyfunction]
#[pyo3(signature = (object, spec=None))]
fn constant<'py>(object: &Bound<'py, PyAny>, spec: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    let made = match spec.map(given_spec).transpose()? {
        Some(spec) => of_spec(object, &spec)?,
        // Plain lists and dicts are no arrays: to ask them costs more than to read a few numbers.
        None if object.is_exact_instance_of::<PyList>() || object.is_exact_instance_of::<PyDict>() => value(object)?,
        None => match array(object).map_err(|e| error::at(object.py(), e, "constant"))? {
            Some(array) => array,
            None => value(object)?,
        },
    };
    value::to_py(object.py(), made)
}

fn given_spec(object: &Bound<'_, PyAny>) -> PyResult<Spec> {
    match object.cast::<PyTypeSpec>() {
        Ok(spec) => core_spec(spec),
        Err(_) => {
            let found = format!("argument 'spec': found a value of type {}", object.get_type().name()?);
            Err(Error::dtype(found).wanted("a TypeSpec").at("constant")).or_raise()
        }
    }
}

/// What has a dtype already keeps it, and its memory: a value, or an array in which nothing is missing.
fn array(object: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    if arg::is_value(object) {
        return value::from_py(object).map(Some);
    }
    if let Some(value) = arg::meaning(object)? {
        return Ok(Some(value));
    }
    if !object.hasattr("__array__")? {
        return Ok(None);
    }
    if let Some(times) = import::times(object)? {
        return Ok(Some(times));
    }
    if object.hasattr("mask")? {
        return Ok(None);
    }
    match import::array_value(object) {
        // What must not be read as it stands, as of what has gradients, would lose that in its elements too.
        Err(e) if e.is_instance_of::<PyBufferError>(object.py()) => Err(e),
        // An array of objects may hold `None`, which its elements say.
        made => Ok(made.ok()),
    }
}

/// The text of a time, a decimal or an identifier, or the texts of an array of times; none of another object.
///
/// Errors: those of `arg::meaning` and of times of NumPy.
pub fn meant(object: &Bound<'_, PyAny>) -> PyResult<Option<Literal>> {
    let (is_meant, is_array) = (arg::is_meant(object)?, object.hasattr("__array__")?);
    // What is no time, of pandas and of NumPy, is missing.
    if arg::type_name(object) == "NaTType" || (is_array && object.str()?.to_cow()? == "NaT") {
        return Ok(Some(Literal::None));
    }
    let value = if is_meant {
        arg::meaning(object)?
    } else if is_array {
        import::times(object)?
    } else {
        None
    };
    value.map(|value| guarded(|| to_literal(&value)).or_raise()).transpose()
}

/// The core value of this spec that nested lists and dicts say, or that a table, a frame or an array of a library holds. One of a type that
/// is not defined here is given by its components.
///
/// Errors: what is no value of the spec, with its path.
pub fn of_spec(object: &Bound<'_, PyAny>, spec: &Spec) -> PyResult<Value> {
    let plain = object.is_exact_instance_of::<PyList>() || object.is_exact_instance_of::<PyDict>();
    if let Some(reader) = if plain { None } else { arg::reader_of(&object.get_type())? } {
        let held = match reader {
            "from_arrow" => object.clone(),
            _ => value::to_py(object.py(), arg::of_library(object, reader)?)?,
        };
        return crate::arrow::of_spec(&held, spec.clone());
    }
    if let Spec::Ext(ext) = spec
        && behavior(&ext.def).is_none()
    {
        return of_components(object, ext);
    }
    let read =
        || Given::of(object.clone()).and_then(|given| literal(&given, &Trail::Root, 0)).map_err(|e| e.at("constant"));
    guarded(|| extenso_ext::constant_of(read()?, spec)).map_err(|e| placed(object.py(), e))
}

/// The exception of an error; where an exception of ours is carried, this one with the path in front.
fn placed(py: Python<'_>, error: Error) -> PyErr {
    let (text, raised) = (error.to_string(), raised(py, error));
    let name = raised.get_type(py).name().map_or_else(|_| String::new(), |name| name.to_string());
    match text.strip_suffix(&format!("{name}: {}", raised.value(py))) {
        Some(path) => error::reworded(py, raised, |own| format!("{path}{own}")),
        None => raised,
    }
}

/// The core value of nested lists and dicts.
///
/// Errors: something else among them; what no value has, such as leaves of two kinds.
pub fn value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let given = || Given::of(object.clone()).map_err(|e| e.at("constant"));
    guarded(|| extenso_ext::constant_from(given()?)).map_err(|e| placed(object.py(), e))
}

/// The nested lists and dicts of a value; the reverse of `constant`. A dict, list or tuple of values stays one of what they are.
#[pyfunction]
pub fn to_py<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    nest_to_py(x, 0)
}

fn nest_to_py<'py>(x: &Bound<'py, PyAny>, depth: usize) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let (is_list, is_tuple) = (x.is_exact_instance_of::<PyList>(), x.is_exact_instance_of::<PyTuple>());
    let dict = x.cast_exact::<PyDict>();
    if !is_list && !is_tuple && dict.is_err() {
        return value_to_py(x);
    }
    if depth == MAX_DEPTH {
        let error = Error::value(format!("a nest is deeper than {MAX_DEPTH}")).wanted("fewer levels");
        return Err(raised(py, error.at("to_py")));
    }
    if let Ok(dict) = dict {
        let items = PyDict::new(py);
        dict.iter().try_for_each(|(key, value)| items.set_item(key, nest_to_py(&value, depth + 1)?))?;
        return Ok(items.into_any());
    }
    let items = x.try_iter()?.map(|item| nest_to_py(&item?, depth + 1)).collect::<PyResult<Vec<_>>>()?;
    let list = PyList::new(py, items)?;
    Ok(if is_list { list.into_any() } else { list.to_tuple().into_any() })
}

fn value_to_py<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let value = value::from_py(x)?;
    let objects = guarded(|| {
        let mut leaves = Vec::new();
        value.push_leaves(&mut leaves)?;
        let counts = leaves.iter().filter_map(|leaf| leaf.tensor().ok()?.data().ok()).map(Dense::len);
        affordable(counts.sum::<usize>().saturating_mul(Objects::SIZE))?;
        to_host(&Objects(x.py()), &value)
    });
    objects.or_raise()
}

/// Outer elements that are shown of a value that has more of them.
const SHOWN: usize = 20;

/// The elements of a value as `repr` shows them, then dtype and shape; `None` for a symbol, which has no data.
#[pyfunction]
fn _shown(x: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let value = value::from_py(x)?;
    let Some(text) = guarded(|| Ok(shown(&value))).or_raise()? else { return Ok(None) };
    let spec = value.spec().or_raise()?;
    let dtype = extenso_ext::dtype_of(&spec).map_or_else(String::new, |dtype| dtype.to_string());
    Ok(Some(format!("{text}, {dtype}{}", extenso_ext::shape_of(&spec))))
}

/// The first elements of a value, and of each list in it, as Python writes them; none for a symbol.
pub fn shown(value: &Value) -> Option<String> {
    let dims = extenso_ext::shape_of(&value.spec().ok()?);
    let is_short = |size: &Dim| size.known().is_some_and(|size| size <= SHOWN);
    let mut first = value.clone();
    for (axis, _) in dims.dims().unwrap_or_default().iter().enumerate().filter(|(_, size)| !is_short(size)) {
        // One more than is shown, which tells that there are others. What cannot be cut along an axis is shown whole.
        let cut = || extenso_core::ops::slice(&first, axis as i64, 0_i64, Some(vec![SHOWN as i64 + 1]), 1_i64);
        first = cut().unwrap_or(first);
    }
    Some(format!("{:.SHOWN$}", to_literal(&first).ok()?))
}
