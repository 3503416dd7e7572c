//! Functions of paths in nested records, which `extenso.paths` documents, and records of values side by side.
//!
//! Holds no logic of records: arguments become values, `extenso_ext::paths` does the work.

use crate::error::{self, OrRaise, guarded};
use crate::record::{field_name, path_in, paths_in, target_in};
use crate::typed::{Typed, typed};
use crate::{arg, value};
use extenso_core::Value;
use extenso_ext::paths;
use extenso_types::Error;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyTuple};

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Paths>()?;
    module.add_function(wrap_pyfunction!(zip, module)?)?;
    module.add_function(wrap_pyfunction!(unzip, module)?)
}

/// What `extenso.paths` calls.
#[pyclass(name = "_Paths", module = "extenso._core", frozen)]
pub struct Paths;

type Object<'py> = Bound<'py, PyAny>;

#[pymethods]
impl Paths {
    #[staticmethod]
    pub fn project<'py>(x: &Object<'py>, paths: &Object<'py>) -> PyResult<Object<'py>> {
        let whole = value::from_py(x)?;
        let paths = paths_in(&whole, paths)?;
        value::to_py(x.py(), guarded(|| paths::project(&whole, paths)).or_raise()?)
    }

    #[staticmethod]
    #[pyo3(signature = (x, path, index=None))]
    pub fn reroot<'py>(x: &Object<'py>, path: &Object<'py>, index: Option<&str>) -> PyResult<Object<'py>> {
        let whole = value::from_py(x)?;
        let path = path_in(&whole, path)?;
        value::to_py(x.py(), guarded(|| paths::reroot(&whole, path, index)).or_raise()?)
    }

    #[staticmethod]
    pub fn has<'py>(x: &Object<'py>, path: &Object<'py>) -> PyResult<Object<'py>> {
        let whole = value::from_py(x)?;
        let path = path_in(&whole, path)?;
        value::to_py(x.py(), guarded(|| paths::has(&whole, path)).or_raise()?)
    }

    #[staticmethod]
    pub fn size<'py>(x: &Object<'py>, path: &Object<'py>) -> PyResult<Object<'py>> {
        let whole = value::from_py(x)?;
        let path = path_in(&whole, path)?;
        value::to_py(x.py(), guarded(|| paths::size(&whole, path)).or_raise()?)
    }

    #[staticmethod]
    pub fn local_index<'py>(x: &Object<'py>, path: &Object<'py>) -> PyResult<Object<'py>> {
        let whole = value::from_py(x)?;
        let path = path_in(&whole, path)?;
        value::to_py(x.py(), guarded(|| paths::local_index(&whole, path)).or_raise()?)
    }

    #[staticmethod]
    pub fn filter<'py>(x: &Object<'py>, path: &Object<'py>, mask: &Object<'py>) -> PyResult<Object<'py>> {
        let (whole, mask) = (value::from_py(x)?, value::from_py(mask)?);
        let path = path_in(&whole, path)?;
        value::to_py(x.py(), guarded(|| paths::filter(&whole, path, &mask)).or_raise()?)
    }

    #[staticmethod]
    #[pyo3(signature = (x, path, begin=None, end=None))]
    pub fn slice<'py>(
        x: &Object<'py>,
        path: &Object<'py>,
        begin: Option<Typed<i64>>,
        end: Option<Typed<i64>>,
    ) -> PyResult<Object<'py>> {
        typed!(slice: begin, end);
        let whole = value::from_py(x)?;
        let path = path_in(&whole, path)?;
        value::to_py(x.py(), guarded(|| paths::slice(&whole, path, begin, end)).or_raise()?)
    }

    #[staticmethod]
    pub fn apply<'py>(
        x: &Object<'py>,
        paths: &Object<'py>,
        function: &Object<'py>,
        to: &Object<'py>,
    ) -> PyResult<Object<'py>> {
        let whole = value::from_py(x)?;
        let to = target_in(&whole, to)?;
        let paths = paths_in(&whole, paths)?;
        // An exception of the function goes on as it is.
        let mut raised = None;
        let made = guarded(|| {
            let made = |values: &[Value]| {
                called(function, values).map_err(|exception| {
                    raised = Some(exception);
                    Error::value("the function raised an exception")
                })
            };
            paths::apply(&whole, paths, made, to)
        });
        match raised {
            Some(exception) => Err(exception),
            None => value::to_py(x.py(), made.or_raise()?),
        }
    }
}

fn called(function: &Object<'_>, values: &[Value]) -> PyResult<Value> {
    let py = function.py();
    let args: PyResult<Vec<_>> = values.iter().map(|value| value::to_py(py, value.clone())).collect();
    value::from_py(&function.call1(PyTuple::new(py, args?)?)?)
}

/// Records of these fields, as deep inside as the lists of the deepest one go, or `depth_limit` axes deep.
///
/// Lists at one depth have the same lengths in all fields that have them; a field without a list there is repeated.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.zip({"n": ex.constant([[1, 2], [3]]), "m": ["a", "b"]}))
/// [[{'n': 1, 'm': 'a'}, {'n': 2, 'm': 'a'}], [{'n': 3, 'm': 'b'}]]
#[pyfunction]
#[pyo3(signature = (fields, depth_limit=None))]
fn zip<'py>(fields: &Object<'py>, depth_limit: Option<Typed<i64>>) -> PyResult<Object<'py>> {
    typed!(zip: depth_limit);
    let mut named: Vec<(String, Value)> = Vec::new();
    let Ok(mapping) = fields.cast::<PyMapping>() else {
        let found = Error::dtype(format!("found a value of type {}", arg::type_name(fields)));
        return Err(found.wanted("values by the names of their fields, as a dict").at("zip")).or_raise();
    };
    for entry in mapping.items()? {
        let (name, field): (Object<'py>, Object<'py>) = entry.extract()?;
        let name = field_name(&name)?;
        let field = value::from_py(&field).map_err(|e| error::at(fields.py(), e, &format!("zip: field '{name}'")))?;
        named.push((name, field));
    }
    value::to_py(fields.py(), guarded(|| extenso_ext::zip(named, depth_limit)).or_raise()?)
}

/// The fields of records by their names, each with their rows and missing where they are: the reverse of `zip`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.unzip(ex.constant([[{"n": 1}], []]))["n"])
/// [[1], []]
#[pyfunction]
fn unzip<'py>(x: &Object<'py>) -> PyResult<Bound<'py, PyDict>> {
    let whole = value::from_py(x)?;
    let fields = PyDict::new(x.py());
    for (name, field) in guarded(|| extenso_ext::unzip(&whole)).or_raise()? {
        fields.set_item(&*name, value::to_py(x.py(), field)?)?;
    }
    Ok(fields)
}
