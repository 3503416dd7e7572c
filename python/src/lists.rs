//! Functions of lists along an axis, as Rust has them.
//!
//! Invariant: no logic of a function stands here.

use crate::error::{self, OrRaise, guarded};
use crate::rearrange::axes;
use crate::typed::{Typed, typed};
use crate::{arg, value};
use extenso_core::ops::Quantiles;
use extenso_core::{Arg, Value};
use extenso_ext::lists;
use extenso_types::Result;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

type Given<'a, 'py> = &'a Bound<'py, PyAny>;
type Made<'py> = PyResult<Bound<'py, PyAny>>;

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    macro_rules! add {
        ($($name:ident)*) => { $(module.add_function(wrap_pyfunction!($name, module)?)?;)* };
    }
    add! { first last nth head tail take_per_row pad_to shift run_lengths unique unique_with_counts unique_with_inverse group_by isin union }
    add! { intersection difference windows combinations argcombinations cartesian argcartesian ranges median quantile bincount }
    Ok(())
}

fn made<'py>(py: Python<'py>, make: impl FnOnce() -> Result<Value>) -> Made<'py> {
    value::to_py(py, guarded(make).or_raise()?)
}

fn made_pair<'py>(py: Python<'py>, make: impl FnOnce() -> Result<(Value, Value)>) -> PyResult<Bound<'py, PyTuple>> {
    let (a, b) = guarded(make).or_raise()?;
    PyTuple::new(py, [value::to_py(py, a)?, value::to_py(py, b)?])
}

/// The first element of each list along `axis`; where a list is empty `default`, or missing without one.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.first(ex.constant([[1, 2], [], [3]])))
/// [1, None, 3]
#[pyfunction]
#[pyo3(signature = (x, axis=Typed::new(-1), default=None), text_signature = "(x, axis=-1, default=None)")]
fn first<'py>(x: Given<'_, 'py>, axis: Typed<i64>, default: Option<Given<'_, 'py>>) -> Made<'py> {
    typed!(first: axis);
    let (given, default) = (value::given("first", "x", x)?, arg::optional("first", "default", default)?);
    made(x.py(), || lists::first(&given, axis, default))
}

/// The last element of each list along `axis`; where a list is empty `default`, or missing without one.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.last(ex.constant([[1, 2], [], [3]]), default=0))
/// [2, 0, 3]
#[pyfunction]
#[pyo3(signature = (x, axis=Typed::new(-1), default=None), text_signature = "(x, axis=-1, default=None)")]
fn last<'py>(x: Given<'_, 'py>, axis: Typed<i64>, default: Option<Given<'_, 'py>>) -> Made<'py> {
    typed!(last: axis);
    let (given, default) = (value::given("last", "x", x)?, arg::optional("last", "default", default)?);
    made(x.py(), || lists::last(&given, axis, default))
}

/// The element at `index` of each list along `axis`, one index for all or one for each; where a list is short `default`, or
/// missing without one.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.nth(ex.constant([[1, 2], [], [3]]), [1, 0, -1]))
/// [2, None, 3]
#[pyfunction]
#[pyo3(signature = (x, index, axis=Typed::new(-1), default=None), text_signature = "(x, index, axis=-1, default=None)")]
fn nth<'py>(x: Given<'_, 'py>, index: Given<'_, 'py>, axis: Typed<i64>, default: Option<Given<'_, 'py>>) -> Made<'py> {
    typed!(nth: axis);
    let (given, index) = (value::given("nth", "x", x)?, arg::given("nth", "index", index)?);
    let default = arg::optional("nth", "default", default)?;
    made(x.py(), || lists::nth(&given, index, axis, default))
}

/// The first `n` elements of each list along `axis`, or all where there are fewer; `n` is one for all lists or one for each.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.head(ex.constant([[1, 2, 3], [], [4]]), 2))
/// [[1, 2], [], [4]]
/// >>> ex.to_py(ex.head(ex.constant([[1, 2, 3], [], [4]]), [1, 1, 0]))
/// [[1], [], []]
#[pyfunction]
#[pyo3(signature = (x, n, axis=Typed::new(-1)), text_signature = "(x, n, axis=-1)")]
fn head<'py>(x: Given<'_, 'py>, n: Given<'_, 'py>, axis: Typed<i64>) -> Made<'py> {
    typed!(head: axis);
    let (given, n) = (value::given("head", "x", x)?, arg::given("head", "n", n)?);
    made(x.py(), || lists::head(&given, n, axis))
}

/// The last `n` elements of each list along `axis`, or all where there are fewer; `n` is one for all lists or one for each.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.tail(ex.constant([[1, 2, 3], [], [4]]), 2))
/// [[2, 3], [], [4]]
#[pyfunction]
#[pyo3(signature = (x, n, axis=Typed::new(-1)), text_signature = "(x, n, axis=-1)")]
fn tail<'py>(x: Given<'_, 'py>, n: Given<'_, 'py>, axis: Typed<i64>) -> Made<'py> {
    typed!(tail: axis);
    let (given, n) = (value::given("tail", "x", x)?, arg::given("tail", "n", n)?);
    made(x.py(), || lists::tail(&given, n, axis))
}

/// The elements of each list along `axis` at positions that `indices` say for each list; negative ones count from its end.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.take_per_row(ex.constant([[1, 2, 3], [4]]), ex.constant([[-1, 0, 0], []], ex.RaggedTensorSpec([None, None], "i64"))))
/// [[3, 1, 1], []]
#[pyfunction]
#[pyo3(signature = (x, indices, axis=Typed::new(1)), text_signature = "(x, indices, axis=1)")]
fn take_per_row<'py>(x: Given<'_, 'py>, indices: Given<'_, 'py>, axis: Typed<i64>) -> Made<'py> {
    typed!(take_per_row: axis);
    let (given, indices) = (value::given("take_per_row", "x", x)?, value::given("take_per_row", "indices", indices)?);
    made(x.py(), || lists::take_per_row(&given, &indices, axis))
}

/// The elements moved by `by` positions along `axis`, toward the end or, if it is negative, the beginning; those that leave are lost.
///
/// `value` enters, or what is missing without one. `by` is one integer for all lists or one for each.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.shift([1, 2, 3], 1)), ex.to_py(ex.shift([1, 2, 3], -1, 0))
/// ([None, 1, 2], [2, 3, 0])
/// >>> ex.to_py(ex.shift(ex.constant([[1, 2, 3], [4, 5]]), ex.tensor([1, -1]), 0))
/// [[0, 1, 2], [5, 0]]
#[pyfunction]
#[pyo3(
    signature = (x, by=None, value=None, axis=Typed::new(-1)),
    text_signature = "(x, by=1, value=None, axis=-1)"
)]
fn shift<'py>(
    x: Given<'_, 'py>,
    by: Option<Given<'_, 'py>>,
    value: Option<Given<'_, 'py>>,
    axis: Typed<i64>,
) -> Made<'py> {
    typed!(shift: axis);
    let (given, by, value) = (
        value::given("shift", "x", x)?,
        by.map_or(Ok(Arg::from(1)), |by| arg::given("shift", "by", by))?,
        arg::optional("shift", "value", value)?,
    );
    made(x.py(), || lists::shift(&given, by, value, axis))
}

/// Each list along `axis` with at least `length` elements: `value` is put behind shorter ones, or what is missing without one.
///
/// With `crop`, longer lists lose their end, so that all have `length` elements, which is one number for all lists or one for each.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.pad_to(ex.constant([[1, 2, 3], [], [4]]), 2))
/// [[1, 2, 3], [None, None], [4, None]]
#[pyfunction]
#[pyo3(
    signature = (x, length, value=None, axis=Typed::new(-1), crop=Typed::new(false)),
    text_signature = "(x, length, value=None, axis=-1, crop=False)"
)]
fn pad_to<'py>(
    x: Given<'_, 'py>,
    length: Given<'_, 'py>,
    value: Option<Given<'_, 'py>>,
    axis: Typed<i64>,
    crop: Typed<bool>,
) -> Made<'py> {
    typed!(pad_to: axis, crop);
    let (given, length, value) = (
        value::given("pad_to", "x", x)?,
        arg::given("pad_to", "length", length)?,
        arg::optional("pad_to", "value", value)?,
    );
    made(x.py(), || lists::pad_to(&given, length, value, axis, crop))
}

/// The lengths of the runs of equal neighbours of each list along `axis`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.run_lengths(ex.constant([[1, 1, 2, 1], [], [3]])))
/// [[2, 1, 1], [], [1]]
#[pyfunction]
#[pyo3(signature = (x, axis=Typed::new(-1)), text_signature = "(x, axis=-1)")]
fn run_lengths<'py>(x: Given<'_, 'py>, axis: Typed<i64>) -> Made<'py> {
    typed!(run_lengths: axis);
    let given = value::given("run_lengths", "x", x)?;
    made(x.py(), || lists::run_lengths(&given, axis))
}

/// The distinct elements of each list along `axis`, in increasing order.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.unique(ex.constant([[3, 1, 3], [], [2]])))
/// [[1, 3], [], [2]]
#[pyfunction]
#[pyo3(signature = (x, axis=Typed::new(-1)), text_signature = "(x, axis=-1)")]
fn unique<'py>(x: Given<'_, 'py>, axis: Typed<i64>) -> Made<'py> {
    typed!(unique: axis);
    let given = value::given("unique", "x", x)?;
    made(x.py(), || lists::unique(&given, axis))
}

/// The distinct elements of each list along `axis`, in increasing order, and how often each stands there.
///
/// >>> import extenso as ex
/// >>> values, counts = ex.unique_with_counts([3, 1, 3])
/// >>> ex.to_py(values), ex.to_py(counts)
/// ([1, 3], [1, 2])
#[pyfunction]
#[pyo3(signature = (x, axis=Typed::new(-1)), text_signature = "(x, axis=-1)")]
fn unique_with_counts<'py>(x: Given<'_, 'py>, axis: Typed<i64>) -> PyResult<Bound<'py, PyTuple>> {
    typed!(unique_with_counts: axis);
    let given = value::given("unique_with_counts", "x", x)?;
    made_pair(x.py(), || lists::unique_with_counts(&given, axis))
}

/// The distinct elements of each list along `axis`, in increasing order, and for each element of the list which of them it is.
///
/// >>> import extenso as ex
/// >>> values, inverse = ex.unique_with_inverse([3, 1, 3])
/// >>> ex.to_py(values), ex.to_py(inverse)
/// ([1, 3], [1, 0, 1])
#[pyfunction]
#[pyo3(signature = (x, axis=Typed::new(-1)), text_signature = "(x, axis=-1)")]
fn unique_with_inverse<'py>(x: Given<'_, 'py>, axis: Typed<i64>) -> PyResult<Bound<'py, PyTuple>> {
    typed!(unique_with_inverse: axis);
    let given = value::given("unique_with_inverse", "x", x)?;
    made_pair(x.py(), || lists::unique_with_inverse(&given, axis))
}

/// The elements of each list along `axis` by their keys: the distinct keys in increasing order, and the elements that have each.
///
/// >>> import extenso as ex
/// >>> keys, groups = ex.group_by([10, 20, 30], ["b", "a", "b"])
/// >>> ex.to_py(keys), ex.to_py(groups)
/// (['a', 'b'], [[20], [10, 30]])
#[pyfunction]
#[pyo3(signature = (values, keys, axis=Typed::new(0)), text_signature = "(values, keys, axis=0)")]
fn group_by<'py>(values: Given<'_, 'py>, keys: Given<'_, 'py>, axis: Typed<i64>) -> PyResult<Bound<'py, PyTuple>> {
    typed!(group_by: axis);
    let (given, keys) = (value::given("group_by", "values", values)?, value::given("group_by", "keys", keys)?);
    made_pair(values.py(), || lists::group_by(&given, &keys, axis))
}

/// Whether each element of `x` is in `test`: in its list along `axis`, or without an axis in all of `test`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.isin(ex.constant([[1, 2], [2]]), [2, 3]))
/// [[False, True], [True]]
#[pyfunction]
#[pyo3(signature = (x, test, axis=None))]
fn isin<'py>(x: Given<'_, 'py>, test: Given<'_, 'py>, axis: Option<Typed<i64>>) -> Made<'py> {
    typed!(isin: axis);
    let (given, test) = (value::given("isin", "x", x)?, weak(test)?);
    made(x.py(), || lists::isin(&given, test, axis))
}

/// What is written in Python as numbers or strings, one or a list, as it is written; else the value.
fn weak(object: Given<'_, '_>) -> PyResult<Arg> {
    match arg::list(object) {
        Ok(Some(Arg::List(items))) if items.iter().all(|item| matches!(item, Arg::Scalar(_))) => Ok(Arg::List(items)),
        Ok(_) | Err(_) => arg::from_py(object),
    }
}

/// The distinct elements that `x` or `y` have in their lists along `axis`, in increasing order.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.union(ex.constant([[3, 1], [4]]), ex.constant([[2, 3], [5]])))
/// [[1, 2, 3], [4, 5]]
#[pyfunction]
#[pyo3(signature = (x, y, axis=Typed::new(-1)), text_signature = "(x, y, axis=-1)")]
fn union<'py>(x: Given<'_, 'py>, y: Given<'_, 'py>, axis: Typed<i64>) -> Made<'py> {
    typed!(union: axis);
    let (a, b) = (value::given("union", "x", x)?, value::given("union", "y", y)?);
    made(x.py(), || lists::union(&a, &b, axis))
}

/// The distinct elements that both `x` and `y` have in their lists along `axis`, in increasing order.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.intersection(ex.constant([[3, 1], [4]]), ex.constant([[2, 3], [5]])))
/// [[3], []]
#[pyfunction]
#[pyo3(signature = (x, y, axis=Typed::new(-1)), text_signature = "(x, y, axis=-1)")]
fn intersection<'py>(x: Given<'_, 'py>, y: Given<'_, 'py>, axis: Typed<i64>) -> Made<'py> {
    typed!(intersection: axis);
    let (a, b) = (value::given("intersection", "x", x)?, value::given("intersection", "y", y)?);
    made(x.py(), || lists::intersection(&a, &b, axis))
}

/// The distinct elements of the lists of `x` along `axis` that those of `y` do not have, in increasing order.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.difference(ex.constant([[3, 1], [4]]), ex.constant([[2, 3], [5]])))
/// [[1], [4]]
#[pyfunction]
#[pyo3(signature = (x, y, axis=Typed::new(-1)), text_signature = "(x, y, axis=-1)")]
fn difference<'py>(x: Given<'_, 'py>, y: Given<'_, 'py>, axis: Typed<i64>) -> Made<'py> {
    typed!(difference: axis);
    let (a, b) = (value::given("difference", "x", x)?, value::given("difference", "y", y)?);
    made(x.py(), || lists::difference(&a, &b, axis))
}

/// Each `size` neighbours along `axis`, in one more axis, the first of each window `stride` behind that of the one before.
///
/// A list shorter than `size` has no window.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.windows(ex.constant([[1, 2, 3], [], [4]]), 2))
/// [[[1, 2], [2, 3]], [], []]
#[pyfunction]
#[pyo3(signature = (x, size, stride=Typed::new(1), axis=Typed::new(-1)), text_signature = "(x, size, stride=1, axis=-1)")]
fn windows<'py>(x: Given<'_, 'py>, size: Typed<i64>, stride: Typed<i64>, axis: Typed<i64>) -> Made<'py> {
    typed!(windows: size, stride, axis);
    let given = value::given("windows", "x", x)?;
    made(x.py(), || lists::windows(&given, size, stride, axis))
}

/// All tuples of `n` elements of each list along `axis`, in one more axis, in the order of their positions.
///
/// With `replacement`, an element may stand in a tuple again.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.combinations(ex.constant([[1, 2, 3], [4]]), 2))
/// [[[1, 2], [1, 3], [2, 3]], []]
#[pyfunction]
#[pyo3(signature = (x, n, replacement=Typed::new(false), axis=Typed::new(-1)), text_signature = "(x, n, replacement=False, axis=-1)")]
fn combinations<'py>(x: Given<'_, 'py>, n: Typed<i64>, replacement: Typed<bool>, axis: Typed<i64>) -> Made<'py> {
    typed!(combinations: n, replacement, axis);
    let given = value::given("combinations", "x", x)?;
    made(x.py(), || lists::combinations(&given, n, replacement, axis))
}

/// The positions in their list of the elements of each tuple that `combinations` makes.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.argcombinations(ex.constant([["a", "b"], ["c"]]), 2))
/// [[[0, 1]], []]
#[pyfunction]
#[pyo3(signature = (x, n, replacement=Typed::new(false), axis=Typed::new(-1)), text_signature = "(x, n, replacement=False, axis=-1)")]
fn argcombinations<'py>(x: Given<'_, 'py>, n: Typed<i64>, replacement: Typed<bool>, axis: Typed<i64>) -> Made<'py> {
    typed!(argcombinations: n, replacement, axis);
    let given = value::given("argcombinations", "x", x)?;
    made(x.py(), || lists::argcombinations(&given, n, replacement, axis))
}

/// All tuples of one element of each of several values, list by list along `axis`: one value for each position in the tuple.
///
/// The last value changes fastest.
///
/// >>> import extenso as ex
/// >>> [ex.to_py(part) for part in ex.cartesian([[1, 2], ["a", "b"]])]
/// [[1, 1, 2, 2], ['a', 'b', 'a', 'b']]
#[pyfunction]
#[pyo3(signature = (values, axis=Typed::new(-1)), text_signature = "(values, axis=-1)")]
fn cartesian<'py>(values: Given<'_, 'py>, axis: Typed<i64>) -> PyResult<Bound<'py, PyList>> {
    typed!(cartesian: axis);
    of_each(values, "cartesian", |items| lists::cartesian(items, axis))
}

/// The positions in their lists of the elements of each tuple that `cartesian` makes.
///
/// >>> import extenso as ex
/// >>> [ex.to_py(part) for part in ex.argcartesian([["a", "b"], [7, 8]])]
/// [[0, 0, 1, 1], [0, 1, 0, 1]]
#[pyfunction]
#[pyo3(signature = (values, axis=Typed::new(-1)), text_signature = "(values, axis=-1)")]
fn argcartesian<'py>(values: Given<'_, 'py>, axis: Typed<i64>) -> PyResult<Bound<'py, PyList>> {
    typed!(argcartesian: axis);
    of_each(values, "argcartesian", |items| lists::argcartesian(items, axis))
}

/// What a function makes of the values of a list or a tuple.
fn of_each<'py>(
    values: Given<'_, 'py>,
    name: &str,
    f: impl FnOnce(&[Value]) -> Result<Vec<Value>>,
) -> PyResult<Bound<'py, PyList>> {
    if !values.is_instance_of::<PyList>() && !values.is_instance_of::<PyTuple>() {
        return Err(arg::no_argument(values, true).at(name.to_string())).or_raise();
    }
    let item = |(i, item): (usize, PyResult<Bound<'py, PyAny>>)| {
        let item = item?;
        value::from_py(&item).map_err(|e| error::at(item.py(), e, &format!("{name}: [{i}]")))
    };
    let items: Vec<Value> = values.try_iter()?.enumerate().map(item).collect::<PyResult<_>>()?;
    let parts = guarded(|| f(&items)).or_raise()?;
    let parts: PyResult<Vec<_>> = parts.into_iter().map(|part| value::to_py(values.py(), part)).collect();
    PyList::new(values.py(), parts?)
}

/// For each row the numbers from its start by steps of its delta up to its limit and without it; without limits, from 0 up to
/// the starts.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.ranges([3, 0, 2]))
/// [[0, 1, 2], [], [0, 1]]
#[pyfunction]
#[pyo3(signature = (starts, limits=None, deltas=None))]
fn ranges<'py>(starts: Given<'_, 'py>, limits: Option<Given<'_, 'py>>, deltas: Option<Given<'_, 'py>>) -> Made<'py> {
    let first = arg::given("ranges", "starts", starts)?;
    let deltas = deltas.map_or(Ok(extenso_core::Arg::from(1_i64)), |deltas| arg::given("ranges", "deltas", deltas))?;
    let (first, limits) = match limits {
        Some(limits) => (first, arg::given("ranges", "limits", limits)?),
        None => (extenso_core::Arg::from(0_i64), first),
    };
    made(starts.py(), || lists::ranges(first, limits, deltas))
}

/// The median over `axis`: the element in the middle, or what is between two. It is NaN where there is a NaN, or nothing.
///
/// >>> import extenso as ex
/// >>> ex.median([4, 1, 3, 2]).item(), ex.to_py(ex.median(ex.constant([[5, 1, 2], [4]]), axis=1))
/// (2.5, [2.0, 4.0])
#[pyfunction]
#[pyo3(signature = (x, axis=None, keepdims=Typed::new(false)), text_signature = "(x, axis=None, keepdims=False)")]
fn median<'py>(x: Given<'_, 'py>, axis: Option<Given<'_, 'py>>, keepdims: Typed<bool>) -> Made<'py> {
    typed!(median: keepdims);
    let (given, axis) = (value::given("median", "x", x)?, axes("median", axis)?);
    made(x.py(), || lists::median(&given, &axis, keepdims))
}

/// What is `q` of the way from the smallest to the largest element over `axis`, on the line between the two next to it.
///
/// Several `q` are a new first axis. Where there is a NaN, or nothing, it is NaN.
///
/// >>> import extenso as ex
/// >>> ex.quantile([4, 1, 3, 2], 0.25).item(), ex.to_py(ex.quantile([4, 1, 3, 2], [0.0, 1.0]))
/// (1.75, [1.0, 4.0])
#[pyfunction]
#[pyo3(signature = (x, q, axis=None, keepdims=Typed::new(false)), text_signature = "(x, q, axis=None, keepdims=False)")]
fn quantile<'py>(
    x: Given<'_, 'py>,
    q: Given<'_, 'py>,
    axis: Option<Given<'_, 'py>>,
    keepdims: Typed<bool>,
) -> Made<'py> {
    typed!(quantile: keepdims);
    let (given, q, axis) =
        (value::given("quantile", "x", x)?, value::given("quantile", "q", q)?, axes("quantile", axis)?);
    made(x.py(), || {
        let q = Quantiles::of(&q).map_err(|e| e.at("quantile"))?;
        lists::quantile(&given, q, &axis, keepdims)
    })
}

/// How often each of 0, 1, 2 and so on is among all elements, or the sum of the `weights` beside them.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.bincount([1, 3, 1])), ex.to_py(ex.bincount([1, 0, 1], [0.5, 1.0, 2.0]))
/// ([0, 2, 0, 1], [1.0, 2.5])
#[pyfunction]
#[pyo3(signature = (x, weights=None, minlength=Typed::new(0)), text_signature = "(x, weights=None, minlength=0)")]
fn bincount<'py>(x: Given<'_, 'py>, weights: Option<Given<'_, 'py>>, minlength: Typed<i64>) -> Made<'py> {
    typed!(bincount: minlength);
    let (given, weights) = (
        value::given("bincount", "x", x)?,
        weights.map(|weights| value::given("bincount", "weights", weights)).transpose()?,
    );
    made(x.py(), || lists::bincount(&given, weights, minlength))
}
