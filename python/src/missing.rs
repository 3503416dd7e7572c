//! Functions of missing data, as Rust has them.

use crate::composed::attribute;
use crate::error::{OrRaise, guarded};
use crate::typed::{Typed, typed};
use crate::{arg, value};
use extenso_core::attrs::Axes;
use extenso_ext::missing;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(is_none, module)?)?;
    module.add_function(wrap_pyfunction!(is_valid, module)?)?;
    module.add_function(wrap_pyfunction!(count, module)?)?;
    module.add_function(wrap_pyfunction!(mask, module)?)?;
    module.add_function(wrap_pyfunction!(nan_to_none, module)?)?;
    module.add_function(wrap_pyfunction!(coalesce, module)?)?;
    module.add_function(wrap_pyfunction!(drop_none, module)?)?;
    module.add_function(wrap_pyfunction!(singletons, module)?)?;
    module.add_function(wrap_pyfunction!(pad_none, module)?)
}

type Object<'py> = Bound<'py, PyAny>;

/// Whether each element along `axis` is missing, in the rows of the value.
///
/// Without an axis: along the outermost one where something may be missing. Lists that are missing further out stay missing.
///
/// >>> import extenso as ex
/// >>> x = ex.constant([[1, None], None])
/// >>> ex.to_py(ex.is_none(x)), ex.to_py(ex.is_none(x, axis=1))
/// ([False, True], [[False, True], None])
#[pyfunction]
#[pyo3(signature = (x, axis=None))]
fn is_none<'py>(x: &Object<'py>, axis: Option<Typed<i64>>) -> PyResult<Object<'py>> {
    typed!(is_none: axis);
    let values = value::given("is_none", "x", x)?;
    value::to_py(x.py(), guarded(|| missing::is_none(&values, axis)).or_raise()?)
}

/// Whether each element along `axis` is there, in the rows of the value: the opposite of `is_none`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.is_valid(ex.constant([1, None])))
/// [True, False]
#[pyfunction]
#[pyo3(signature = (x, axis=None))]
fn is_valid<'py>(x: &Object<'py>, axis: Option<Typed<i64>>) -> PyResult<Object<'py>> {
    typed!(is_valid: axis);
    let values = value::given("is_valid", "x", x)?;
    value::to_py(x.py(), guarded(|| missing::is_valid(&values, axis)).or_raise()?)
}

/// How many values are there, over `axis`, as i64. A record counts as one.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.count(ex.constant([[1, None], [], [3]]), axis=1))
/// [1, 0, 1]
#[pyfunction]
#[pyo3(signature = (x, axis=None, keepdims=Typed::new(false)), text_signature = "(x, axis=None, keepdims=False)")]
fn count<'py>(x: &Object<'py>, axis: Option<&Object<'py>>, keepdims: Typed<bool>) -> PyResult<Object<'py>> {
    typed!(count: keepdims);
    let axes = axis.map_or(Ok(Axes::All), |axis| attribute("count", "axis", axis))?;
    let values = value::given("count", "x", x)?;
    value::to_py(x.py(), guarded(|| missing::count(&values, axes, keepdims)).or_raise()?)
}

/// The values where `condition` is true, and nothing elsewhere.
///
/// The condition has the outer axes of the values, and their rows. What is missing stays missing.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.mask([1, 2, 3], [True, False, True]))
/// [1, None, 3]
#[pyfunction]
fn mask<'py>(x: &Object<'py>, condition: &Object<'py>) -> PyResult<Object<'py>> {
    let (values, condition) = (value::given("mask", "x", x)?, value::given("mask", "condition", condition)?);
    value::to_py(x.py(), guarded(|| missing::mask(&values, &condition)).or_raise()?)
}

/// The values, and nothing where they are NaN.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.nan_to_none([1.0, float("nan")]))
/// [1.0, None]
#[pyfunction]
fn nan_to_none<'py>(x: &Object<'py>) -> PyResult<Object<'py>> {
    let values = value::given("nan_to_none", "x", x)?;
    value::to_py(x.py(), guarded(|| missing::nan_to_none(&values)).or_raise()?)
}

/// The first value where it is there, the next one where it is not, and so on.
///
/// A row or record that is missing is replaced as a whole; one that is there is looked through.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.coalesce(ex.constant([1, None, None]), ex.constant([None, 2, None]), 0))
/// [1, 2, 0]
#[pyfunction]
#[pyo3(signature = (*values))]
fn coalesce<'py>(values: &Bound<'py, PyTuple>) -> PyResult<Object<'py>> {
    let given = arg::each("coalesce", values)?;
    value::to_py(values.py(), guarded(|| missing::coalesce(&given)).or_raise()?)
}

/// Each element along `axis` as a list of one, and what is missing as an empty list.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.singletons(ex.constant([1, None, 3])))
/// [[1], [], [3]]
#[pyfunction]
#[pyo3(signature = (x, axis=Typed::new(0)), text_signature = "(x, axis=0)")]
fn singletons<'py>(x: &Object<'py>, axis: Typed<i64>) -> PyResult<Object<'py>> {
    typed!(singletons: axis);
    let values = value::given("singletons", "x", x)?;
    value::to_py(x.py(), guarded(|| missing::singletons(&values, axis)).or_raise()?)
}

/// The value without what is missing: of the elements along `axis`, or along every axis.
///
/// Lists inside become rows. A missing field of a record stays, as a record has all of its fields.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.drop_none(ex.constant([[1, None], [None, 4], [5, 6]])))
/// [[1], [4], [5, 6]]
#[pyfunction]
#[pyo3(signature = (x, axis=None))]
fn drop_none<'py>(x: &Object<'py>, axis: Option<Typed<i64>>) -> PyResult<Object<'py>> {
    typed!(drop_none: axis);
    let values = value::given("drop_none", "x", x)?;
    value::to_py(x.py(), guarded(|| missing::drop_none(&values, axis)).or_raise()?)
}

/// The value with missing elements at the ends of the lists along `axis` that have fewer than `target`.
///
/// With `clip`, lists that have more lose the rest, and the axis is uniform.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.pad_none(ex.constant([[1, 2, 3], [], [4]]), 2, clip=True))
/// [[1, 2], [None, None], [4, None]]
#[pyfunction]
#[pyo3(signature = (x, target, axis=Typed::new(1), clip=Typed::new(false)), text_signature = "(x, target, axis=1, clip=False)")]
fn pad_none<'py>(x: &Object<'py>, target: Typed<i64>, axis: Typed<i64>, clip: Typed<bool>) -> PyResult<Object<'py>> {
    typed!(pad_none: target, axis, clip);
    let values = value::given("pad_none", "x", x)?;
    value::to_py(x.py(), guarded(|| missing::pad_none(&values, target, axis, clip)).or_raise()?)
}
