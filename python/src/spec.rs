//! Specs: what is known of a value without its data, as Python objects.
//!
//! Invariant: what specs mean to each other is computed by the core spec behind each of them.

use crate::error::OrRaise;
use crate::typed::{Typed, typed};
use crate::{dtype, ext, shape, value};
use extenso_types::{DType, Dim, Error, PartitionSpec, Spec, TensorSpec};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySuper, PyTuple, PyType};
use pyo3::{PyClass, PyClassInitializer};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

mod components;
mod extension;

pub use components::of_components;
pub use extension::{PyExtensionSpec, class_for};

/// The base of specs. A subclass written by hand says how values of a class are taken apart and rebuilt.
///
/// It has `value_type`, `serialize()` (static data), `component_specs` (a nest of specs), `to_components(value)` and
/// `from_components(components)`; everything else follows from these.
#[pyclass(name = "TypeSpec", module = "extenso", subclass, frozen)]
pub struct PyTypeSpec {
    spec: OnceLock<Spec>,
}

impl PyTypeSpec {
    /// The base of a spec object for a core spec.
    pub fn of(spec: Spec) -> PyTypeSpec {
        PyTypeSpec { spec: OnceLock::from(spec) }
    }

    /// The base of a spec object whose class adds `part`.
    pub fn below<T>(self, part: T) -> PyClassInitializer<T>
    where
        T: PyClass<BaseType = PyTypeSpec>,
    {
        PyClassInitializer::from(self).add_subclass(part)
    }
}

#[pymethods]
impl PyTypeSpec {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> PyTypeSpec {
        PyTypeSpec { spec: OnceLock::new() }
    }

    #[classmethod]
    #[pyo3(signature = (**kwargs))]
    fn __init_subclass__(cls: &Bound<'_, PyType>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let others = PySuper::new(&cls.py().get_type::<Self>(), cls.as_any())?;
        others.call_method("__init_subclass__", (), kwargs)?;
        if let Some(found) = cls.getattr_opt("value_type")?
            && let Ok(value_class) = found.cast::<PyType>()
            && !cls.is_subclass_of::<PyExtensionSpec>()?
        {
            ext::link_spec_class(value_class, cls, None);
        }
        Ok(())
    }

    /// A spec that is written by hand is made again of what it serializes.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let made_again = slf.get_type().getattr("deserialize")?;
        let data = slf.call_method0("serialize")?;
        Ok((made_again, (data,)).into_pyobject(slf.py())?.into_any())
    }

    /// The spec of what `serialize` gave.
    #[classmethod]
    fn deserialize<'py>(cls: &Bound<'py, PyType>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match data.cast::<PyTuple>() {
            Ok(args) => cls.call1(args),
            Err(_) => cls.call1((data,)),
        }
    }

    /// Whether some value satisfies both this and the other spec, or whether a value does. Symmetric, not transitive.
    fn is_compatible_with(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(core_spec(slf)?.is_compatible_with(&spec_or_value(other)?))
    }

    /// Whether every value of this spec is one of the other.
    fn is_subtype_of(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(core_spec(slf)?.is_subtype_of(&spec_or_value(other)?))
    }

    /// The most specific spec that both satisfy, or `None`.
    fn most_specific_compatible_type<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        core_spec(slf)?.join(&spec_or_value(other)?).map(|spec| to_py(slf.py(), spec)).transpose()
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        match other.cast::<PyTypeSpec>() {
            Ok(other) => Ok(core_spec(slf)?.equals(&core_spec(other)?)),
            Err(_) => Ok(false),
        }
    }

    fn __hash__(slf: &Bound<'_, Self>) -> PyResult<u64> {
        // Equal specs have equal texts, because a text leaves out the names of variables.
        let mut hasher = DefaultHasher::new();
        core_spec(slf)?.to_string().hash(&mut hasher);
        Ok(hasher.finish())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        Ok(format!("<spec {}>", core_spec(slf)?))
    }
}

/// The core spec behind a spec object.
///
/// Errors: a spec written by hand whose methods fail.
pub fn core_spec(object: &Bound<'_, PyTypeSpec>) -> PyResult<Spec> {
    if let Some(spec) = object.get().spec.get() {
        return Ok(spec.clone());
    }
    if object.is_instance_of::<PyExtensionSpec>() {
        return Err(Error::value("an ExtensionTypeSpec has no fields yet").hint("Call `super().__init__(...)`."))
            .or_raise();
    }
    let spec = ext::written_spec(object)?;
    Ok(object.get().spec.get_or_init(|| spec).clone())
}

/// The core spec of a spec, or of a value.
///
/// Errors: something that is neither.
pub fn spec_or_value(object: &Bound<'_, PyAny>) -> PyResult<Spec> {
    match object.cast::<PyTypeSpec>() {
        Ok(spec) => core_spec(spec),
        Err(_) => value::from_py(object)?.spec().or_raise(),
    }
}

/// The spec object of a core spec.
///
/// Errors: what a spec class written by hand raises.
pub fn to_py(py: Python<'_>, spec: Spec) -> PyResult<Bound<'_, PyAny>> {
    match &spec {
        Spec::Tensor(_) => Ok(Bound::new(py, PyTypeSpec::of(spec).below(PyTensorSpec))?.into_any()),
        Spec::Partition(_) => Ok(Bound::new(py, PyTypeSpec::of(spec).below(PyPartitionSpec))?.into_any()),
        Spec::Ext(ext) => extension::to_py(py, ext.clone()),
    }
}

/// The spec of a value; numbers and arrays have that of the tensor that they become.
#[pyfunction]
fn spec_of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    to_py(value.py(), spec_or_value(value)?)
}

/// The spec of a tensor: a shape that may be partial, and a dtype.
#[pyclass(name = "TensorSpec", module = "extenso", extends = PyTypeSpec, frozen)]
pub struct PyTensorSpec;

#[pymethods]
impl PyTensorSpec {
    #[new]
    fn new(shape: &Bound<'_, PyAny>, dtype: &Bound<'_, PyAny>) -> PyResult<PyClassInitializer<PyTensorSpec>> {
        let spec = TensorSpec::new(dtype::from_py(dtype)?, shape::from_py(shape)?);
        Ok(PyTypeSpec::of(Spec::Tensor(spec)).below(PyTensorSpec))
    }

    /// The shape.
    #[getter]
    fn shape(slf: &Bound<'_, Self>) -> PyResult<shape::PyShape> {
        Ok(shape::PyShape(tensor_spec(slf)?.shape))
    }

    /// The element type.
    #[getter]
    fn dtype<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, dtype::PyDType>> {
        dtype::object(slf.py(), tensor_spec(slf)?.dtype)
    }

    /// The shape and the dtype, from which `deserialize` makes the spec again.
    fn serialize<'py>(slf: &Bound<'py, Self>) -> PyResult<(shape::PyShape, Bound<'py, dtype::PyDType>)> {
        Ok((PyTensorSpec::shape(slf)?, PyTensorSpec::dtype(slf)?))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let spec = tensor_spec(slf)?;
        Ok(format!("TensorSpec({}, '{}')", shape::literal(&spec.shape), spec.dtype))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let spec = tensor_spec(slf)?;
        let args = (shape::PyShape(spec.shape), spec.dtype.name());
        Ok((slf.get_type(), args).into_pyobject(slf.py())?.into_any())
    }
}

fn tensor_spec(slf: &Bound<'_, PyTensorSpec>) -> PyResult<TensorSpec> {
    match core_spec(slf.as_super())? {
        Spec::Tensor(spec) => Ok(spec),
        other => Err(Error::internal(format!("a TensorSpec of {other}"))).or_raise(),
    }
}

/// The spec of a row partition: how many rows, of how many values, and the width of its offsets.
#[pyclass(name = "RowPartitionSpec", module = "extenso", extends = PyTypeSpec, frozen)]
pub struct PyPartitionSpec;

#[pymethods]
impl PyPartitionSpec {
    #[new]
    #[pyo3(signature = (nrows=None, nvalues=None, dtype=None, uniform_row_length=None))]
    fn new(
        nrows: Option<Typed<usize>>,
        nvalues: Option<Typed<usize>>,
        dtype: Option<&Bound<'_, PyAny>>,
        uniform_row_length: Option<Typed<usize>>,
    ) -> PyResult<PyClassInitializer<PyPartitionSpec>> {
        typed!(RowPartitionSpec: nrows, nvalues, uniform_row_length);
        let index = dtype.map_or(Ok(DType::I64), dtype::from_py)?;
        if !matches!(index, DType::I32 | DType::I64) {
            let error = Error::dtype(format!("found {index}")).wanted("i32 or i64").at("RowPartitionSpec");
            return Err(error).or_raise();
        }
        let spec = PartitionSpec { nrows: Dim::from(nrows), nvalues: Dim::from(nvalues), uniform_row_length, index };
        Ok(PyTypeSpec::of(Spec::Partition(spec)).below(PyPartitionSpec))
    }

    /// The number of rows, if it is known.
    #[getter]
    fn nrows(slf: &Bound<'_, Self>) -> PyResult<Option<usize>> {
        Ok(partition_spec(slf)?.nrows.known())
    }

    /// The number of values, if it is known.
    #[getter]
    fn nvalues(slf: &Bound<'_, Self>) -> PyResult<Option<usize>> {
        Ok(partition_spec(slf)?.nvalues.known())
    }

    /// The number of values in each row, if it is known that all have as many.
    #[getter]
    fn uniform_row_length(slf: &Bound<'_, Self>) -> PyResult<Option<usize>> {
        Ok(partition_spec(slf)?.uniform_row_length)
    }

    /// The width of the offsets.
    #[getter]
    fn dtype<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, dtype::PyDType>> {
        dtype::object(slf.py(), partition_spec(slf)?.index)
    }

    /// The sizes and the dtype, from which `deserialize` makes the spec again.
    fn serialize<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (nrows, nvalues) = (PyPartitionSpec::nrows(slf)?, PyPartitionSpec::nvalues(slf)?);
        let parts = (nrows, nvalues, PyPartitionSpec::dtype(slf)?, PyPartitionSpec::uniform_row_length(slf)?);
        Ok(parts.into_pyobject(slf.py())?.into_any())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let spec = partition_spec(slf)?;
        let size = |dim: Dim| dim.known().map_or("None".to_string(), |n| n.to_string());
        let uniform = spec.uniform_row_length.map_or_else(String::new, |n| format!(", uniform_row_length={n}"));
        Ok(format!("RowPartitionSpec({}, {}, '{}'{uniform})", size(spec.nrows), size(spec.nvalues), spec.index))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let spec = partition_spec(slf)?;
        let args = (spec.nrows.known(), spec.nvalues.known(), spec.index.name(), spec.uniform_row_length);
        Ok((slf.get_type(), args).into_pyobject(slf.py())?.into_any())
    }
}

fn partition_spec(slf: &Bound<'_, PyPartitionSpec>) -> PyResult<PartitionSpec> {
    match core_spec(slf.as_super())? {
        Spec::Partition(spec) => Ok(spec),
        other => Err(Error::internal(format!("a RowPartitionSpec of {other}"))).or_raise(),
    }
}

/// Registers the type of a spec class written by hand under a name, or, used without one, under its default name.
#[pyfunction]
#[pyo3(signature = (target=None))]
fn register_type_spec<'py>(py: Python<'py>, target: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    if let Some(class) = target.and_then(|target| target.cast::<PyType>().ok()) {
        ext::name_spec_class(class, None)?;
        return Ok(class.clone().into_any());
    }
    let name = target.map(|name| name.extract()).transpose()?;
    Ok(Bound::new(py, PyRegistration { name })?.into_any())
}

/// The decorator that `register_type_spec("namespace/Name")` returns.
#[pyclass(module = "extenso", frozen)]
struct PyRegistration {
    name: Option<String>,
}

#[pymethods]
impl PyRegistration {
    fn __call__<'py>(&self, class: Bound<'py, PyType>) -> PyResult<Bound<'py, PyType>> {
        ext::name_spec_class(&class, self.name.clone())?;
        Ok(class)
    }
}

/// Adds the spec classes and functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyTypeSpec>()?;
    module.add_class::<PyTensorSpec>()?;
    module.add_class::<PyPartitionSpec>()?;
    module.add_class::<PyExtensionSpec>()?;
    module.add_function(wrap_pyfunction!(extension::spec_from_fields, module)?)?;
    module.add_function(wrap_pyfunction!(spec_of, module)?)?;
    module.add_function(wrap_pyfunction!(register_type_spec, module)?)
}
