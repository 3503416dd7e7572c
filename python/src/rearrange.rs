//! Rearrangements and creation: functions that are no ops, as Rust has them.
//!
//! Invariant: no logic of a function stands here.

use crate::composed::attribute;
use crate::error::{self, OrRaise, guarded};
use crate::standard::device as only;
use crate::typed::{Typed, typed};
use crate::{arg, dtype, value};
use extenso_core::attrs::Axes;
use extenso_core::ops::{self, Sections};
use extenso_core::{Arg, Scalar, Value};
use extenso_ext::lists;
use extenso_types::{DType, Error, Result};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple};

/// An argument.
pub type Given<'a, 'py> = &'a Bound<'py, PyAny>;
/// A value as a Python object.
pub type Made<'py> = PyResult<Bound<'py, PyAny>>;

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    macro_rules! add {
        ($($name:ident)*) => { $(module.add_function(wrap_pyfunction!($name, module)?)?;)* };
    }
    add! { top_k stack unstack split flip roll tile repeat nonzero zeros ones full arange linspace eye one_hot sequence_mask }
    Ok(())
}

/// What a function makes, as a Python object.
pub fn made<'py>(py: Python<'py>, make: impl FnOnce() -> Result<Value>) -> Made<'py> {
    value::to_py(py, guarded(make).or_raise()?)
}

/// The values that a function makes, as a list.
pub fn made_list<'py>(py: Python<'py>, make: impl FnOnce() -> Result<Vec<Value>>) -> PyResult<Bound<'py, PyList>> {
    let values: PyResult<Vec<_>> = guarded(make).or_raise()?.into_iter().map(|v| value::to_py(py, v)).collect();
    PyList::new(py, values?)
}

/// Axes as they are written: all, one or several.
pub fn axes(function: &str, object: Option<Given<'_, '_>>) -> PyResult<Axes> {
    object.map_or(Ok(Axes::All), |object| attribute(function, "axis", object))
}

/// A dtype, if one is named.
pub fn dtype_of(object: Option<Given<'_, '_>>) -> PyResult<Option<DType>> {
    object.map(dtype::from_py).transpose()
}

/// The `k` largest elements along `axis`, the largest first, and their positions; all of a ragged list that has fewer. `k` is one for
/// all lists or one for each.
///
/// >>> import extenso as ex
/// >>> values, indices = ex.top_k([1.0, 3.0, 2.0], 2)
/// >>> ex.to_py(values), ex.to_py(indices)
/// ([3.0, 2.0], [1, 2])
#[pyfunction]
#[pyo3(signature = (x, k, axis=Typed::new(-1)), text_signature = "(x, k, axis=-1)")]
fn top_k<'py>(x: Given<'_, 'py>, k: Given<'_, 'py>, axis: Typed<i64>) -> PyResult<Bound<'py, PyTuple>> {
    typed!(top_k: axis);
    let (given, k) = (value::given("top_k", "x", x)?, arg::given("top_k", "k", k)?);
    let (values, indices) = guarded(|| lists::top_k(&given, k, axis)).or_raise()?;
    PyTuple::new(x.py(), [value::to_py(x.py(), values)?, value::to_py(x.py(), indices)?])
}

/// Joins values of one shape along a new axis.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.stack([[1, 2], [3, 4]], axis=1))
/// [[1, 3], [2, 4]]
#[pyfunction]
#[pyo3(signature = (values, axis=Typed::new(0)), text_signature = "(values, axis=0)")]
fn stack<'py>(values: Given<'_, 'py>, axis: Typed<i64>) -> Made<'py> {
    typed!(stack: axis);
    if !values.is_instance_of::<PyList>() && !values.is_instance_of::<PyTuple>() {
        return Err(arg::no_argument(values, true).at("stack")).or_raise();
    }
    let items = arg::each("stack", values)?;
    made(values.py(), || ops::stack(items, axis))
}

/// The parts of a value along `axis`, one for each position, without that axis.
///
/// >>> import extenso as ex
/// >>> [ex.to_py(part) for part in ex.unstack([[1, 2], [3, 4]], axis=1)]
/// [[1, 3], [2, 4]]
#[pyfunction]
#[pyo3(signature = (x, axis=Typed::new(0)), text_signature = "(x, axis=0)")]
fn unstack<'py>(x: Given<'_, 'py>, axis: Typed<i64>) -> PyResult<Bound<'py, PyTuple>> {
    typed!(unstack: axis);
    let given = value::given("unstack", "x", x)?;
    made_list(x.py(), || ops::unstack(given, axis)).map(|parts| parts.to_tuple())
}

/// The parts of a value along `axis`: as many of one size as `sections` says, or of the sizes that it lists.
///
/// >>> import extenso as ex
/// >>> [ex.to_py(part) for part in ex.split([1, 2, 3], [1, 2])]
/// [[1], [2, 3]]
#[pyfunction]
#[pyo3(signature = (x, sections, axis=Typed::new(0)), text_signature = "(x, sections, axis=0)")]
fn split<'py>(x: Given<'_, 'py>, sections: Given<'_, 'py>, axis: Typed<i64>) -> PyResult<Bound<'py, PyList>> {
    typed!(split: axis);
    let given = value::given("split", "x", x)?;
    let sections = if sections.is_instance_of::<PyInt>() {
        Sections::Equal(attribute("split", "sections", sections)?)
    } else {
        Sections::Sizes(attribute("split", "sections", sections)?)
    };
    made_list(x.py(), || lists::split(&given, sections, axis))
}

/// The elements in reverse order along some axes, or along all.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.flip([1, 2, 3]))
/// [3, 2, 1]
#[pyfunction]
#[pyo3(signature = (x, axis=None))]
fn flip<'py>(x: Given<'_, 'py>, axis: Option<Given<'_, 'py>>) -> Made<'py> {
    let (given, axes) = (value::given("flip", "x", x)?, axes("flip", axis)?);
    made(x.py(), || ops::flip(given, axes))
}

/// The elements moved by `shift` positions along some axes; those that leave at one end enter at the other.
///
/// Numbers in a list or tuple are of the axes, a tensor has one for each list along one axis.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.roll([1, 2, 3], 1))
/// [3, 1, 2]
/// >>> ex.to_py(ex.roll(ex.constant([[1, 2, 3], [4, 5]]), ex.tensor([1, -1]), axis=1))
/// [[3, 1, 2], [5, 4]]
#[pyfunction]
#[pyo3(signature = (x, shift, axis=None))]
fn roll<'py>(x: Given<'_, 'py>, shift: Given<'_, 'py>, axis: Option<Given<'_, 'py>>) -> Made<'py> {
    let (given, axes) = (value::given("roll", "x", x)?, axes("roll", axis)?);
    // A list or tuple is of numbers for the axes, as in NumPy.
    let shift = match shift.is_instance_of::<PyList>() || shift.is_instance_of::<PyTuple>() {
        true => Arg::List(attribute::<Vec<i64>>("roll", "shift", shift)?.into_iter().map(Arg::from).collect()),
        false => arg::given("roll", "shift", shift)?,
    };
    made(x.py(), || lists::roll(&given, shift, &axes))
}

/// The whole of `x` as often as `reps` say along each axis, counted from the last.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.tile([1, 2], 2))
/// [1, 2, 1, 2]
#[pyfunction]
fn tile<'py>(x: Given<'_, 'py>, reps: Given<'_, 'py>) -> Made<'py> {
    let (given, reps) = (value::given("tile", "x", x)?, attribute::<Vec<i64>>("tile", "reps", reps)?);
    made(x.py(), || lists::tile(&given, &reps))
}

/// Each element as often as `counts` says, along `axis`; without an axis, of all in row-major order.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.repeat([7, 8, 9], [2, 0, 1]))
/// [7, 7, 9]
#[pyfunction]
#[pyo3(signature = (x, counts, axis=None))]
fn repeat<'py>(x: Given<'_, 'py>, counts: Given<'_, 'py>, axis: Option<Typed<i64>>) -> Made<'py> {
    typed!(repeat: axis);
    let (given, counts) = (value::given("repeat", "x", x)?, arg::given("repeat", "counts", counts)?);
    made(x.py(), || lists::repeat(&given, counts, axis))
}

/// The positions of the elements that are not zero, one vector for each axis.
///
/// >>> import extenso as ex
/// >>> [ex.to_py(at) for at in ex.nonzero([[0, 1], [2, 0]])]
/// [[0, 1], [1, 0]]
#[pyfunction]
fn nonzero<'py>(x: Given<'_, 'py>) -> PyResult<Bound<'py, PyTuple>> {
    let given = value::given("nonzero", "x", x)?;
    made_list(x.py(), || ops::nonzero(given)).map(|positions| positions.to_tuple())
}

/// Zeros of a shape, in f64 or `dtype`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.zeros(2))
/// [0.0, 0.0]
#[pyfunction]
#[pyo3(signature = (shape, dtype=None, device=None))]
fn zeros<'py>(shape: Given<'_, 'py>, dtype: Option<Given<'_, 'py>>, device: Option<Given<'_, 'py>>) -> Made<'py> {
    only(device)?;
    let (sizes, dtype) = (attribute::<Vec<i64>>("zeros", "shape", shape)?, dtype_of(dtype)?);
    made(shape.py(), || ops::zeros(sizes, dtype.unwrap_or(DType::F64)))
}

/// Ones of a shape, in f64 or `dtype`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.ones(2, "i8"))
/// [1, 1]
#[pyfunction]
#[pyo3(signature = (shape, dtype=None, device=None))]
fn ones<'py>(shape: Given<'_, 'py>, dtype: Option<Given<'_, 'py>>, device: Option<Given<'_, 'py>>) -> Made<'py> {
    only(device)?;
    let (sizes, dtype) = (attribute::<Vec<i64>>("ones", "shape", shape)?, dtype_of(dtype)?);
    made(shape.py(), || ops::ones(sizes, dtype.unwrap_or(DType::F64)))
}

/// `fill_value` at each place of `shape`, in the dtype of the value, or in `dtype`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.full((1, 2), 7))
/// [[7, 7]]
#[pyfunction]
#[pyo3(signature = (shape, fill_value, dtype=None, device=None))]
fn full<'py>(
    shape: Given<'_, 'py>,
    fill_value: Given<'_, 'py>,
    dtype: Option<Given<'_, 'py>>,
    device: Option<Given<'_, 'py>>,
) -> Made<'py> {
    only(device)?;
    let sizes = attribute::<Vec<i64>>("full", "shape", shape)?;
    let (given, dtype) = (arg::given("full", "fill_value", fill_value)?, dtype_of(dtype)?);
    made(shape.py(), || ops::full(sizes, given, dtype))
}

/// `start`, `start + step` and so on, up to `stop` and without it; with one number, from 0 up to it.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.arange(1, 7, 2))
/// [1, 3, 5]
#[pyfunction]
#[pyo3(signature = (start, stop=None, step=None, dtype=None, device=None))]
fn arange<'py>(
    start: Given<'_, 'py>,
    stop: Option<Given<'_, 'py>>,
    step: Option<Given<'_, 'py>>,
    dtype: Option<Given<'_, 'py>>,
    device: Option<Given<'_, 'py>>,
) -> Made<'py> {
    only(device)?;
    let (first, dtype) = (scalar(start)?, dtype_of(dtype)?);
    let step = step.map_or(Ok(Scalar::Int(1)), scalar)?;
    let (first, stop) = match stop {
        Some(stop) => (first, scalar(stop)?),
        None => (Scalar::Int(0), first),
    };
    made(start.py(), || ops::arange(first, stop, step, dtype))
}

fn scalar(object: Given<'_, '_>) -> PyResult<Scalar> {
    match arg::from_py(object).map_err(|e| error::at(object.py(), e, "arange"))? {
        Arg::Scalar(scalar) => Ok(scalar),
        Arg::Value(_) | Arg::List(_) => {
            let found = format!("found a value of type {}", arg::type_name(object));
            Err(Error::dtype(found).wanted("a Python number").at("arange")).or_raise()
        }
    }
}

/// `num` numbers from `start` on, equally far from each other, the last one `stop`; without `endpoint`, `stop` would be next.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.linspace(0.0, 1.0, 3))
/// [0.0, 0.5, 1.0]
#[pyfunction]
#[pyo3(signature = (start, stop, num, endpoint=Typed::new(true), dtype=None, device=None), text_signature = "(start, stop, num, endpoint=True, dtype=None, device=None)")]
fn linspace<'py>(
    py: Python<'py>,
    start: Typed<f64>,
    stop: Typed<f64>,
    num: Typed<i64>,
    endpoint: Typed<bool>,
    dtype: Option<Given<'_, 'py>>,
    device: Option<Given<'_, 'py>>,
) -> Made<'py> {
    typed!(linspace: start, stop, num, endpoint);
    only(device)?;
    let dtype = dtype_of(dtype)?;
    made(py, || ops::linspace(start, stop, num, endpoint, dtype))
}

/// A matrix with ones on the diagonal `k` right of the main one and zeros elsewhere, in f64 or `dtype`; as many columns as rows unless they are given.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.eye(2, 3, 1, "i64"))
/// [[0, 1, 0], [0, 0, 1]]
#[pyfunction]
#[pyo3(signature = (n_rows, n_cols=None, k=Typed::new(0), dtype=None, device=None), text_signature = "(n_rows, n_cols=None, k=0, dtype=None, device=None)")]
fn eye<'py>(
    py: Python<'py>,
    n_rows: Typed<i64>,
    n_cols: Option<Typed<i64>>,
    k: Typed<i128>,
    dtype: Option<Given<'_, 'py>>,
    device: Option<Given<'_, 'py>>,
) -> Made<'py> {
    typed!(eye: n_rows, n_cols, k);
    only(device)?;
    let dtype = dtype_of(dtype)?.unwrap_or(DType::F64);
    // A diagonal so far outside is no other than the farthest.
    let k = i64::try_from(k).unwrap_or(if k > 0 { i64::MAX } else { i64::MIN });
    made(py, || ops::eye(n_rows, n_cols.unwrap_or(n_rows), k, dtype))
}

/// For each length a row of `maxlen` booleans, of which as many as it says are true; without it, as wide as the greatest length.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.sequence_mask([1, 3], 3))
/// [[True, False, False], [True, True, True]]
#[pyfunction]
#[pyo3(signature = (lengths, maxlen=None))]
fn sequence_mask<'py>(lengths: Given<'_, 'py>, maxlen: Option<Typed<i64>>) -> Made<'py> {
    typed!(sequence_mask: maxlen);
    let given = value::given("sequence_mask", "lengths", lengths)?;
    made(lengths.py(), || ops::sequence_mask(given, maxlen))
}

/// For each index a row of `depth` zeros with a one at the index, in f64 or `dtype`; an index outside has zeros alone.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.one_hot([1, 0], 2, "i64"))
/// [[0, 1], [1, 0]]
#[pyfunction]
#[pyo3(signature = (indices, depth, dtype=None))]
fn one_hot<'py>(indices: Given<'_, 'py>, depth: Typed<i64>, dtype: Option<Given<'_, 'py>>) -> Made<'py> {
    typed!(one_hot: depth);
    let (given, dtype) = (value::given("one_hot", "indices", indices)?, dtype_of(dtype)?.unwrap_or(DType::F64));
    made(indices.py(), || ops::one_hot(given, depth, dtype))
}
