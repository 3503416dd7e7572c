//! `DType`: the element types as Python objects.
//!
//! Invariant: there is one object for each dtype, so `is` and `==` say the same.

use crate::error::OrRaise;
use extenso_types::{DType, Error};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};

/// The element type of a tensor.
///
/// `ex.f32` and the like are the only instances; `str()` gives the name.
#[pyclass(name = "DType", module = "extenso", frozen, eq, hash)]
#[derive(PartialEq, Eq, Hash)]
pub struct PyDType(pub DType);

#[pymethods]
impl PyDType {
    /// The name, as signatures, files and messages write it.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name()
    }

    /// Bytes per element; none for booleans, strings, bytes and variants.
    #[getter]
    fn itemsize(&self) -> Option<usize> {
        self.0.width()
    }

    /// Whether elements are floating-point numbers.
    #[getter]
    fn is_float(&self) -> bool {
        self.0.is_float()
    }

    /// Whether elements are integers, signed or not.
    #[getter]
    fn is_integer(&self) -> bool {
        self.0.is_integer()
    }

    fn __str__(&self) -> &'static str {
        self.0.name()
    }

    fn __repr__(&self) -> String {
        format!("extenso.{}", self.0)
    }

    // A string names an attribute of the module, so that pickle gives back the one object.
    fn __reduce__(&self) -> &'static str {
        attribute(self.0)
    }
}

/// The name of a dtype's constant in the module.
fn attribute(dtype: DType) -> &'static str {
    dtype.name()
}

static OBJECTS: PyOnceLock<Vec<Py<PyDType>>> = PyOnceLock::new();

/// The one object of a dtype.
pub fn object(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyDType>> {
    let objects = OBJECTS
        .get_or_try_init(py, || DType::all().map(|dtype| Py::new(py, PyDType(dtype))).collect::<PyResult<Vec<_>>>())?;
    Ok(objects[dtype as usize].bind(py).clone())
}

/// Adds the class, the constants and the conversion to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyDType>()?;
    DType::all().try_for_each(|dtype| module.add(attribute(dtype), object(module.py(), dtype)?))?;
    module.add_function(wrap_pyfunction!(as_dtype, module)?)
}

/// The dtype that `value` names: a dtype, its name, a NumPy dtype or scalar type, or `bool`, `int`, `float`, `str`, `bytes`.
#[pyfunction]
fn as_dtype<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDType>> {
    object(value.py(), from_py(value)?)
}

/// The dtype that a Python object names.
///
/// Errors: it names none.
pub fn from_py(value: &Bound<'_, PyAny>) -> PyResult<DType> {
    if let Ok(dtype) = value.cast::<PyDType>() {
        return Ok(dtype.get().0);
    }
    if let Ok(name) = value.cast::<PyString>() {
        return name.to_cow()?.parse().or_raise();
    }
    let name = match value.cast::<PyType>() {
        Ok(class) => class.name()?.to_string(),
        // A NumPy dtype has its name as an attribute.
        Err(_) => value.getattr("name").and_then(|name| name.extract()).unwrap_or_default(),
    };
    let builtin = match name.as_str() {
        "int" => "i64",
        "float" => "f64",
        other => other,
    };
    builtin
        .parse()
        .map_err(|_| Error::dtype(format!("found {value}")).wanted("a dtype, such as `f32` or 'f32'").at("dtype"))
        .or_raise()
}
