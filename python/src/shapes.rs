//! The shape of any value, and elements by their positions along several axes.
//!
//! Holds no logic: arguments become values, `extenso_ext` does the work.

use crate::error::{OrRaise, guarded};
use crate::value;
use extenso_core::Value;
use extenso_types::Result;
use pyo3::prelude::*;

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(identity, module)?)?;
    module.add_function(wrap_pyfunction!(rank, module)?)?;
    module.add_function(wrap_pyfunction!(shape, module)?)?;
    module.add_function(wrap_pyfunction!(size, module)?)?;
    module.add_function(wrap_pyfunction!(gather_nd, module)?)
}

type Object<'py> = Bound<'py, PyAny>;

fn of<'py>(x: &Object<'py>, function: &str, f: impl FnOnce(&Value) -> Result<Value>) -> PyResult<Object<'py>> {
    let given = value::given(function, "x", x)?;
    value::to_py(x.py(), guarded(|| f(&given)).or_raise()?)
}

/// `x` itself, a value of Extenso if it was none.
///
/// >>> import extenso as ex
/// >>> ex.identity([1, 2]).shape
/// (2,)
#[pyfunction]
fn identity<'py>(x: &Object<'py>) -> PyResult<Object<'py>> {
    of(x, "identity", |x| Ok(x.clone()))
}

/// The number of axes of `x`, ragged ones included; of records, their own axes.
///
/// Errors: a tensor of unknown rank; a type that has no axes.
///
/// >>> import extenso as ex
/// >>> ex.rank(ex.constant([[1, 2], []]))
/// 2
#[pyfunction]
fn rank(x: &Object<'_>) -> PyResult<usize> {
    let given = value::given("rank", "x", x)?;
    guarded(|| extenso_ext::rank(&given).map_err(|e| e.at("rank"))).or_raise()
}

/// The sizes of the axes of `x`, as an i64 vector; of records, those of their own axes.
///
/// In a traced function, sizes that differ from call to call are data. Errors: a ragged axis; a type that has no axes.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.shape(ex.zeros((2, 3))))
/// [2, 3]
#[pyfunction]
fn shape<'py>(x: &Object<'py>) -> PyResult<Object<'py>> {
    of(x, "shape", extenso_ext::shape)
}

/// The number of elements of `x`, as an i64 scalar: of rows, those in them; of records, the records; what is missing counts.
///
/// >>> import extenso as ex
/// >>> ex.size(ex.constant([[1, 2, 3], [], [4]])).item()
/// 4
#[pyfunction]
fn size<'py>(x: &Object<'py>) -> PyResult<Object<'py>> {
    of(x, "size", extenso_ext::size)
}

/// The elements of `x` at positions along its first axes: a vector along the last axis of `indices` for each.
///
/// Shapes: `indices` of `[..., k]` give the axes before the last of `indices`, and those of `x` behind its first `k`, any of which
/// may be ragged. Negative positions count from the end. Errors: indices that are no integers; more positions than `x` has axes,
/// or none; a position out of range.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.gather_nd(ex.constant([[1, 2, 3], [], [4]]), [[0, -1], [2, 0]]))
/// [3, 4]
#[pyfunction]
fn gather_nd<'py>(x: &Object<'py>, indices: &Object<'py>) -> PyResult<Object<'py>> {
    let at = value::given("gather_nd", "indices", indices)?;
    of(x, "gather_nd", |x| extenso_ext::gather_nd(x, &at))
}
