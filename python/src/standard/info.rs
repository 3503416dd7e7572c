//! What the standard asks of a module: its devices, dtypes and capabilities.

use super::{DTYPES, dict};
use crate::dtype;
use crate::error::OrRaise;
use extenso_types::{DType, Error};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

/// The only device.
pub const CPU: &str = "cpu";

/// Adds the function and its class to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyNamespaceInfo>()?;
    module.add_function(wrap_pyfunction!(namespace_info, module)?)
}

/// Proves that a device, if one is named, is the only one there is.
///
/// Errors: another device.
pub fn device(object: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let Some(object) = object else { return Ok(()) };
    if object.cast::<PyString>().is_ok_and(|name| name == CPU) {
        return Ok(());
    }
    let found = object.repr()?;
    Err(Error::value(format!("the device is {found}")).wanted("'cpu', the only one").at("device")).or_raise()
}

/// What the module offers of the Array API standard: devices, dtypes and capabilities.
///
/// >>> import extenso as ex
/// >>> ex.__array_namespace_info__().default_device()
/// 'cpu'
#[pyfunction]
#[pyo3(name = "__array_namespace_info__")]
fn namespace_info() -> PyNamespaceInfo {
    PyNamespaceInfo
}

/// Answers about devices, dtypes and capabilities.
#[pyclass(name = "ArrayNamespaceInfo", module = "extenso", frozen)]
pub struct PyNamespaceInfo;

#[pymethods]
impl PyNamespaceInfo {
    /// What the module can do: shapes may depend on data, any number of axes has no bound of its own.
    fn capabilities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = dict(py, [("boolean indexing", true), ("data-dependent shapes", true)])?;
        dict.set_item("max dimensions", py.None())?;
        Ok(dict)
    }

    /// The device of every tensor.
    fn default_device(&self) -> &'static str {
        CPU
    }

    /// The devices, of which there is one.
    fn devices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, [CPU])
    }

    /// The dtypes that numbers get of themselves.
    #[pyo3(signature = (*, device=None))]
    fn default_dtypes<'py>(&self, py: Python<'py>, device: Option<&Bound<'_, PyAny>>) -> PyResult<Bound<'py, PyDict>> {
        self::device(device)?;
        let kinds = [("real floating", DType::F64), ("integral", DType::I64), ("indexing", DType::I64)];
        let dict = PyDict::new(py);
        kinds.into_iter().try_for_each(|(kind, d)| dict.set_item(kind, dtype::object(py, d)?))?;
        Ok(dict)
    }

    /// The dtypes of the standard by name, of all kinds, of one, or of some.
    #[pyo3(signature = (*, device=None, kind=None))]
    fn dtypes<'py>(
        &self,
        py: Python<'py>,
        device: Option<&Bound<'_, PyAny>>,
        kind: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        self::device(device)?;
        let dict = PyDict::new(py);
        for (name, ours) in [("bool", "bool")].into_iter().chain(DTYPES) {
            let found: DType = ours.parse().or_raise()?;
            if kind.map_or(Ok(true), |kind| is_of(found, kind))? {
                dict.set_item(name, dtype::object(py, found)?)?;
            }
        }
        Ok(dict)
    }
}

/// Whether a dtype is of a kind: a name of the standard, or a tuple of kinds.
fn is_of(found: DType, kind: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(kinds) = kind.cast::<PyTuple>() {
        let answers: PyResult<Vec<bool>> = kinds.iter().map(|kind| is_of(found, &kind)).collect();
        return Ok(answers?.contains(&true));
    }
    found.is_of_kind(&kind.cast::<PyString>()?.to_cow()?).or_raise()
}
