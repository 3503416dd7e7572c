//! `StructTensorSpec`, and what the spec classes of rows and masked values are made by.

use super::field_name;
use crate::error::{OrRaise, guarded};
use crate::spec::{PyTypeSpec, core_spec, spec_or_value, to_py};
use crate::{arg, dtype, shape, value};
use extenso_core::{Tensor, TypeSpec};
use extenso_ext::{FlatSpec, StructSpec};
use extenso_types::{DType, Error, LeafSpec, Path, Spec, TensorSpec};
use pyo3::PyClassInitializer;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyTuple};

/// The spec of records: `StructTensorSpec([None], {"id": TensorSpec([None], "i64")})`.
///
/// A field's spec has the outer axes of the records. Rows of records are `RaggedTensorSpec(..., flat_values_spec=records)`.
#[pyclass(name = "StructTensorSpec", module = "extenso", extends = PyTypeSpec, frozen)]
pub struct PyStructSpec;

#[pymethods]
impl PyStructSpec {
    #[new]
    #[pyo3(signature = (shape, field_specs, row_splits_dtype=None))]
    fn new(
        shape: &Bound<'_, PyAny>,
        field_specs: &Bound<'_, PyMapping>,
        row_splits_dtype: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyClassInitializer<PyStructSpec>> {
        let shape = shape::from_py(shape)?;
        let width = row_splits_dtype.map(dtype::from_py).transpose()?;
        let mut fields = Vec::new();
        for entry in field_specs.items()? {
            let (name, object): (Bound<'_, PyAny>, Bound<'_, PyAny>) = entry.extract()?;
            let name = field_name(&name)?;
            // One object may be the spec of several fields, whose sizes differ all the same.
            let spec = spec_of_field(&object, &name)?.with_sizes_of_its_own();
            check_width(&spec, width).map_err(|e| e.at(format!("field '{name}'")).at("StructTensorSpec")).or_raise()?;
            fields.push((name, spec));
        }
        let spec = StructSpec::of_shape(&shape, fields).or_raise()?;
        Ok(PyTypeSpec::of(Spec::from(spec.serialize())).below(PyStructSpec))
    }

    /// The shape of the records.
    #[getter]
    fn shape(slf: &Bound<'_, Self>) -> PyResult<shape::PyShape> {
        Ok(shape::PyShape(struct_spec(slf)?.known_shape()))
    }

    /// The number of axes; 0 for one record.
    #[getter]
    fn rank(slf: &Bound<'_, Self>) -> PyResult<usize> {
        Ok(struct_spec(slf)?.rank())
    }

    /// The specs of the fields by name.
    #[getter]
    fn field_specs<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let specs = PyDict::new(slf.py());
        for (name, spec) in struct_spec(slf)?.fields() {
            specs.set_item(&**name, to_py(slf.py(), spec.clone())?)?;
        }
        Ok(specs)
    }

    /// The names of the fields, in order.
    fn field_names(slf: &Bound<'_, Self>) -> PyResult<Vec<String>> {
        Ok(struct_spec(slf)?.fields().iter().map(|(name, _)| name.to_string()).collect())
    }

    /// The shape and the specs of the fields, from which `deserialize` makes the spec again.
    fn serialize<'py>(slf: &Bound<'py, Self>) -> PyResult<(shape::PyShape, Bound<'py, PyDict>)> {
        Ok((PyStructSpec::shape(slf)?, PyStructSpec::field_specs(slf)?))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (shape, fields) = PyStructSpec::serialize(slf)?;
        Ok(format!("StructTensorSpec({}, {})", shape::literal(&shape.0), fields.repr()?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Ok((slf.get_type(), PyStructSpec::serialize(slf)?).into_pyobject(slf.py())?.into_any())
    }
}

fn struct_spec(slf: &Bound<'_, PyStructSpec>) -> PyResult<StructSpec> {
    core_spec(slf.as_super())?.ext().and_then(|ext| StructSpec::deserialize(ext)).or_raise()
}

fn spec_of_field(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Spec> {
    match object.cast::<PyTypeSpec>() {
        Ok(spec) => core_spec(spec),
        Err(_) => {
            let error = Error::dtype(format!("found a value of type {}", arg::type_name(object))).wanted("a spec");
            Err(error.at(format!("field '{name}'")).at("StructTensorSpec")).or_raise()
        }
    }
}

/// Errors: a partition in the spec whose splits have another width.
fn check_width(spec: &Spec, wanted: Option<DType>) -> extenso_types::Result<()> {
    let Some(wanted) = wanted else { return Ok(()) };
    for (path, leaf) in spec.leaves(&Path::root()) {
        if let LeafSpec::Partition(partition) = leaf
            && partition.index != wanted
        {
            let error = Error::dtype(format!("the row splits are {}", partition.index)).wanted(wanted.name());
            return Err(error.at(format!("'{path}'")));
        }
    }
    Ok(())
}

/// The spec object of a struct's core spec.
pub fn struct_spec_object(py: Python<'_>, spec: Spec) -> PyResult<Bound<'_, PyAny>> {
    Ok(Bound::new(py, PyTypeSpec::of(spec).below(PyStructSpec))?.into_any())
}

/// The component specs of a ragged spec: of the values, and of the partition.
#[pyfunction]
fn _ragged_spec<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    flat: &Bound<'py, PyAny>,
    ragged_rank: usize,
    row_splits_dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyTuple>> {
    let flat = match flat.cast::<PyTypeSpec>() {
        Ok(spec) => FlatSpec::Spec(core_spec(spec)?),
        Err(_) => FlatSpec::DType(dtype::from_py(flat)?),
    };
    let (shape, index) = (shape::from_py(shape)?, dtype::from_py(row_splits_dtype)?);
    parts(py, &extenso_ext::ragged_spec(&shape, flat, ragged_rank, index).or_raise()?)
}

/// The component specs of a masked spec: of the values, and of the mask that they have by default.
#[pyfunction]
fn _masked_spec<'py>(values: &Bound<'py, PyTypeSpec>) -> PyResult<Bound<'py, PyTuple>> {
    parts(values.py(), &extenso_ext::masked_spec(&core_spec(values)?).or_raise()?)
}

fn parts<'py>(py: Python<'py>, spec: &Spec) -> PyResult<Bound<'py, PyTuple>> {
    let specs = spec.ext().or_raise()?.components.iter().map(|(_, spec)| to_py(py, spec.clone()));
    PyTuple::new(py, specs.collect::<PyResult<Vec<_>>>()?)
}

/// The shape of a value or spec; the sizes of ragged axes are not known.
#[pyfunction]
fn _shape_of(x: &Bound<'_, PyAny>) -> PyResult<shape::PyShape> {
    Ok(shape::PyShape(extenso_ext::shape_of(&spec_or_value(x)?)))
}

/// The dtype of the elements of a value or spec; none for records and foreign types.
#[pyfunction]
fn _dtype_of<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, dtype::PyDType>>> {
    extenso_ext::dtype_of(&spec_or_value(x)?).map(|dtype| dtype::object(x.py(), dtype)).transpose()
}

/// The tensors that a value is made of, or the specs of those of a spec.
#[pyfunction]
fn _expand<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    let py = x.py();
    let objects: PyResult<Vec<_>> = match x.cast::<PyTypeSpec>() {
        Ok(spec) => {
            extenso_ext::expand_spec(&core_spec(spec)?).into_iter().map(|spec| to_py(py, Spec::Tensor(spec))).collect()
        }
        Err(_) => {
            let whole = value::from_py(x)?;
            let tensors = guarded(|| extenso_ext::expand(&whole)).or_raise()?;
            tensors.into_iter().map(|tensor| value::to_py(py, tensor.into())).collect()
        }
    };
    PyTuple::new(py, objects?)
}

/// The value of a spec that tensors are the expansion of; of specs of tensors, the spec.
#[pyfunction]
fn _collapse<'py>(spec: &Bound<'py, PyTypeSpec>, tensors: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = spec.py();
    if let Some(specs) = tensor_specs(tensors)? {
        return to_py(py, extenso_ext::collapse_spec(&core_spec(spec)?, specs).or_raise()?);
    }
    let tensors: PyResult<Vec<Tensor>> = tensors.try_iter()?.map(|tensor| arg::tensor(&tensor?, None)).collect();
    let (spec, tensors) = (core_spec(spec)?, tensors?);
    value::to_py(py, guarded(|| extenso_ext::collapse(&spec, tensors)).or_raise()?)
}

/// The specs, if all items are specs of tensors.
fn tensor_specs(items: &Bound<'_, PyAny>) -> PyResult<Option<Vec<TensorSpec>>> {
    let mut specs = Vec::new();
    for item in items.try_iter()? {
        let item = item?;
        let Ok(spec) = item.cast::<PyTypeSpec>() else { return Ok(None) };
        let Spec::Tensor(spec) = core_spec(spec)? else { return Ok(None) };
        specs.push(spec);
    }
    Ok((!specs.is_empty()).then_some(specs))
}

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_ragged_spec, module)?)?;
    module.add_function(wrap_pyfunction!(_masked_spec, module)?)?;
    module.add_function(wrap_pyfunction!(_shape_of, module)?)?;
    module.add_function(wrap_pyfunction!(_dtype_of, module)?)?;
    module.add_function(wrap_pyfunction!(_expand, module)?)?;
    module.add_function(wrap_pyfunction!(_collapse, module)?)
}
