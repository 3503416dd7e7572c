//! Times, decimals, categories and unions: their functions, and the class of unions.
//!
//! Holds no logic of a type: arguments become values, `extenso_ext` does the work.

use crate::error::{OrRaise, guarded};
use crate::value::PyOpaque;
use crate::{arrow, index, literal, spec, value};
use extenso_core::{Ext, ExtensionType, Value};
use extenso_ext::{CategoricalTensor, DecimalTensor, IntervalTensor, UnionTensor};
use extenso_types::Result;
use pyo3::prelude::*;

/// Adds the functions and the class to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyUnion>()?;
    module.add_class::<Meanings>()?;
    module.add_function(wrap_pyfunction!(date_part, module)?)?;
    module.add_function(wrap_pyfunction!(cast_unit, module)?)?;
    module.add_function(wrap_pyfunction!(decimal_to_string, module)?)
}

type Object<'py> = Bound<'py, PyAny>;

fn applied<'py>(x: &Object<'py>, f: impl FnOnce(&Value) -> Result<Value>) -> PyResult<Object<'py>> {
    let given = value::from_py(x)?;
    value::to_py(x.py(), guarded(|| f(&given)).or_raise()?)
}

/// One part of each date, time or timestamp, as `i64`.
///
/// Parts are `year`, `month`, `day`, `weekday` (Monday is 0), `day_of_year` (from 1), `hour`, `minute`, `second`, and `nanosecond` within
/// the second. A timestamp with a zone has the parts of its zone: UTC, or an offset such as `+05:30`.
///
/// >>> import extenso as ex
/// >>> ex.date_part(ex.DateTensor([0, 19782], "d"), "year").tolist()
/// [1970, 2024]
#[pyfunction]
fn date_part<'py>(x: &Object<'py>, part: &str) -> PyResult<Object<'py>> {
    applied(x, |x| extenso_ext::date_part(x, part))
}

/// Timestamps, dates, times and durations in another unit: `s`, `ms`, `us` or `ns`, for dates `d` or `ms`.
///
/// Counts are rounded down where the unit is coarser; one that does not fit is an error.
///
/// >>> import extenso as ex
/// >>> ex.cast_unit(ex.DurationTensor([1500], "ms"), "s").to_py()
/// ['1s']
#[pyfunction]
fn cast_unit<'py>(x: &Object<'py>, unit: &str) -> PyResult<Object<'py>> {
    applied(x, |x| extenso_ext::cast_unit(x, unit))
}

/// Decimals as strings, exact.
///
/// >>> import extenso as ex
/// >>> ex.decimal_to_string(ex.DecimalTensor.parse(["1.5"], 10, 2)).tolist()
/// ['1.50']
#[pyfunction]
fn decimal_to_string<'py>(x: &Object<'py>) -> PyResult<Object<'py>> {
    applied(x, extenso_ext::decimal_to_string)
}

/// What the classes of these types call.
#[pyclass(name = "_Meanings", module = "extenso._core", frozen)]
struct Meanings;

#[pymethods]
impl Meanings {
    #[staticmethod]
    fn decimals<'py>(py: Python<'py>, texts: Vec<String>, precision: i64, scale: i64) -> PyResult<Object<'py>> {
        let made = guarded(|| DecimalTensor::parse(&texts, precision, scale)).or_raise()?;
        value::to_py(py, made.into_value())
    }

    #[staticmethod]
    fn categorical<'py>(values: &Object<'py>) -> PyResult<Object<'py>> {
        applied(values, |values| Ok(CategoricalTensor::of(values)?.into_value()))
    }

    #[staticmethod]
    fn decoded<'py>(x: &Object<'py>) -> PyResult<Object<'py>> {
        applied(x, |x| CategoricalTensor::from_value(x)?.decoded())
    }

    #[staticmethod]
    fn interval_part<'py>(x: &Object<'py>, part: &str) -> PyResult<Object<'py>> {
        applied(x, |x| IntervalTensor::from_value(x)?.part(part))
    }
}

/// Elements of several types: `tags` says for each which child it is of.
#[pyclass(name = "UnionTensor", module = "extenso", extends = PyOpaque, frozen)]
pub struct PyUnion;

impl PyUnion {
    /// The object of a value, if it is a union.
    pub fn of<'py>(py: Python<'py>, ext: &Ext) -> PyResult<Option<Object<'py>>> {
        if ext.downcast::<UnionTensor>().is_none() {
            return Ok(None);
        }
        let made = PyClassInitializer::from(PyOpaque(ext.clone())).add_subclass(PyUnion);
        Ok(Some(Bound::new(py, made)?.into_any()))
    }
}

fn union_of(slf: &Bound<'_, PyUnion>) -> PyResult<UnionTensor> {
    UnionTensor::from_value(&value_of(slf)).or_raise()
}

fn value_of(slf: &Bound<'_, PyUnion>) -> Value {
    Value::Ext(slf.as_super().get().0.clone())
}

#[pymethods]
impl PyUnion {
    /// The type id of each element.
    #[getter]
    fn tags<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        value::to_py(slf.py(), union_of(slf)?.tags().clone().into())
    }

    /// The spec.
    #[getter]
    fn spec<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        spec::to_py(slf.py(), value_of(slf).spec().or_raise()?)
    }

    /// The sizes of the axes.
    #[getter]
    fn shape(slf: &Bound<'_, Self>) -> PyResult<(usize,)> {
        Self::__len__(slf).map(|len| (len,))
    }

    /// The type ids of the children, in order: those that `tags` names.
    fn child_ids(slf: &Bound<'_, Self>) -> PyResult<Vec<i8>> {
        Ok(union_of(slf)?.children().iter().map(|child| child.id).collect())
    }

    /// The names of the children, in order.
    fn child_names(slf: &Bound<'_, Self>) -> PyResult<Vec<String>> {
        Ok(union_of(slf)?.children().iter().map(|child| child.name.to_string()).collect())
    }

    /// The elements of the child of this name; the others are missing.
    fn child<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Object<'py>> {
        let union = union_of(slf)?;
        value::to_py(slf.py(), guarded(|| union.child(name)).or_raise()?)
    }

    /// The elements in a list.
    fn to_py<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        literal::to_py(slf)
    }

    /// The array of Arrow that shares the buffers: one of pyarrow if that is installed.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        arrow::array_of(slf.py(), &value_of(slf))
    }

    /// The C interface of Arrow: a schema and an array in capsules.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        slf: &Bound<'py, Self>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<arrow::Capsules<'py>> {
        arrow::capsules_of(slf.py(), &value_of(slf), requested_schema.as_ref())
    }

    /// The C interface of Arrow: a stream of one array in a capsule.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        slf: &Bound<'py, Self>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<arrow::Stream<'py>> {
        arrow::stream_of(slf.py(), &value_of(slf), requested_schema.as_ref())
    }

    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Object<'py>) -> PyResult<Object<'py>> {
        index::item(slf.py(), &value_of(slf), key)
    }

    fn __len__(slf: &Bound<'_, Self>) -> PyResult<usize> {
        Ok(union_of(slf)?.tags().data().or_raise()?.len())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let shown = extenso_ext::to_literal(&value_of(slf)).map(|items| items.to_string());
        Ok(format!("UnionTensor({})", shown.unwrap_or_else(|_| "...".into())))
    }
}
