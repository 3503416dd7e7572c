//! What the standard asks about dtypes.

use crate::arg;
use crate::dtype::{self, PyDType};
use crate::error::OrRaise;
use extenso_core::{Arg, Scalar, Value};
use extenso_types::{DType, Error, FloatLimits};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// Adds the functions and classes to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyFloatInfo>()?;
    module.add_class::<PyIntInfo>()?;
    module.add_function(wrap_pyfunction!(can_cast, module)?)?;
    module.add_function(wrap_pyfunction!(result_type, module)?)?;
    module.add_function(wrap_pyfunction!(isdtype, module)?)?;
    module.add_function(wrap_pyfunction!(finfo, module)?)?;
    module.add_function(wrap_pyfunction!(iinfo, module)?)
}

/// The dtype of a tensor, or the one that an object names.
fn dtype_of(object: &Bound<'_, PyAny>) -> PyResult<DType> {
    if object.is_instance_of::<PyDType>() || object.is_instance_of::<PyString>() {
        return dtype::from_py(object);
    }
    match arg::operand(object)? {
        Some(Arg::Value(Value::Tensor(tensor))) => Ok(tensor.dtype()),
        Some(Arg::Value(_) | Arg::Scalar(_) | Arg::List(_)) | None => dtype::from_py(object),
    }
}

/// Whether all values of a dtype, or of that of a tensor, are among those of another: whether the two promote to it.
///
/// >>> import extenso as ex
/// >>> ex.can_cast(ex.float32, ex.float64), ex.can_cast(ex.int64, ex.float64)
/// (True, False)
#[pyfunction]
fn can_cast(from_: &Bound<'_, PyAny>, to: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(dtype_of(from_)?.can_cast(dtype::from_py(to)?))
}

/// The smallest dtype that holds the values of all: dtypes, tensors, and Python numbers, which take the dtype of the others.
///
/// Ops do not promote by themselves; this is the dtype to cast to.
///
/// >>> import extenso as ex
/// >>> ex.result_type(ex.int8, ex.tensor([1], dtype="u8"), 3)
/// extenso.i16
#[pyfunction]
#[pyo3(signature = (*arrays_and_dtypes))]
fn result_type<'py>(arrays_and_dtypes: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyDType>> {
    let mut common: Option<DType> = None;
    let mut scalars = Vec::new();
    for object in arrays_and_dtypes {
        match if object.is_instance_of::<PyString>() { None } else { arg::operand(&object)? } {
            Some(Arg::Scalar(scalar)) => scalars.push(scalar),
            _ => {
                let found = dtype_of(&object)?;
                common = Some(common.map_or(Ok(found), |common| common.promote(found)).or_raise()?);
            }
        }
    }
    let wanted = || Error::value("no dtype is given").wanted("at least one tensor or dtype").at("result_type");
    let common = common.ok_or_else(wanted).or_raise()?;
    scalars.iter().try_for_each(|scalar| takes(common, scalar)).or_raise()?;
    dtype::object(arrays_and_dtypes.py(), common)
}

/// Errors: a Python number of a kind that the dtype has not.
fn takes(dtype: DType, scalar: &Scalar) -> extenso_types::Result<()> {
    let (kind, fits) = match scalar {
        Scalar::Bool(_) => ("a bool", dtype == DType::Bool),
        Scalar::Int(_) | Scalar::Unsigned(_) => ("an int", dtype.is_numeric()),
        Scalar::Float(_) => ("a float", dtype.is_float()),
        Scalar::Str(_) => ("a str", dtype == DType::String),
    };
    if fits {
        return Ok(());
    }
    Err(Error::dtype(format!("{kind} stands beside {dtype}")).wanted("numbers of one kind").at("result_type"))
}

/// Whether a dtype is another, or of a kind of the standard, or any of a tuple of these.
///
/// The kinds are 'bool', 'signed integer', 'unsigned integer', 'integral', 'real floating', 'complex floating' and 'numeric'.
///
/// >>> import extenso as ex
/// >>> ex.isdtype(ex.int8, "integral"), ex.isdtype(ex.int8, (ex.uint8, "bool"))
/// (True, False)
#[pyfunction]
fn isdtype(dtype: &Bound<'_, PyAny>, kind: &Bound<'_, PyAny>) -> PyResult<bool> {
    let found = dtype::from_py(dtype)?;
    if let Ok(kinds) = kind.cast::<PyTuple>() {
        let answers: PyResult<Vec<bool>> = kinds.iter().map(|kind| isdtype(dtype, &kind)).collect();
        return Ok(answers?.contains(&true));
    }
    match kind.cast::<PyString>() {
        Ok(name) => found.is_of_kind(&name.to_cow()?).map_err(|e| e.at("isdtype")).or_raise(),
        Err(_) => Ok(dtype::from_py(kind)? == found),
    }
}

/// The limits of a dtype of floats, or of that of a tensor.
///
/// >>> import extenso as ex
/// >>> ex.finfo(ex.float32).bits
/// 32
#[pyfunction]
fn finfo(r#type: &Bound<'_, PyAny>) -> PyResult<PyFloatInfo> {
    let dtype = dtype_of(r#type)?;
    let limits = dtype.float_limits().map_err(|e| e.at("finfo")).or_raise()?;
    Ok(PyFloatInfo { dtype, limits })
}

/// The limits of a dtype of integers, or of that of a tensor.
///
/// >>> import extenso as ex
/// >>> ex.iinfo(ex.int8).max
/// 127
#[pyfunction]
fn iinfo(r#type: &Bound<'_, PyAny>) -> PyResult<PyIntInfo> {
    let dtype = dtype_of(r#type)?;
    let range = dtype.integer_range().map_err(|e| e.at("iinfo")).or_raise()?;
    Ok(PyIntInfo { dtype, range })
}

/// What `finfo` says.
#[pyclass(name = "FloatInfo", module = "extenso", frozen)]
pub struct PyFloatInfo {
    dtype: DType,
    limits: FloatLimits,
}

#[pymethods]
impl PyFloatInfo {
    /// The number of bits of a float.
    #[getter]
    fn bits(&self) -> usize {
        self.dtype.width().unwrap_or(0) * 8
    }

    /// From 1 to the next larger float.
    #[getter]
    fn eps(&self) -> f64 {
        self.limits.eps
    }

    /// The largest finite float.
    #[getter]
    fn max(&self) -> f64 {
        self.limits.max
    }

    /// The smallest finite float.
    #[getter]
    fn min(&self) -> f64 {
        -self.limits.max
    }

    /// The smallest positive float with a full significand.
    #[getter]
    fn smallest_normal(&self) -> f64 {
        self.limits.smallest_normal
    }

    /// The dtype.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDType>> {
        dtype::object(py, self.dtype)
    }
}

/// What `iinfo` says.
#[pyclass(name = "IntInfo", module = "extenso", frozen)]
pub struct PyIntInfo {
    dtype: DType,
    range: (i128, i128),
}

#[pymethods]
impl PyIntInfo {
    /// The number of bits of an integer.
    #[getter]
    fn bits(&self) -> usize {
        self.dtype.width().unwrap_or(0) * 8
    }

    /// The largest integer.
    #[getter]
    fn max(&self) -> i128 {
        self.range.1
    }

    /// The smallest integer.
    #[getter]
    fn min(&self) -> i128 {
        self.range.0
    }

    /// The dtype.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDType>> {
        dtype::object(py, self.dtype)
    }
}
