//! Functions that are no ops: compositions, as Rust has them.

use crate::error::{OrRaise, guarded};
use crate::op::attr;
use crate::typed::{Typed, typed};
use crate::{arg, value};
use extenso_core::attrs::{AttrType, Axes, Param};
use extenso_core::ops;
use extenso_ext::NgramPads;
use extenso_types::Error;
use pyo3::prelude::*;

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(clip, module)?)?;
    module.add_function(wrap_pyfunction!(round_to, module)?)?;
    module.add_function(wrap_pyfunction!(isclose, module)?)?;
    module.add_function(wrap_pyfunction!(nan_to_num, module)?)?;
    module.add_function(wrap_pyfunction!(mean, module)?)?;
    module.add_function(wrap_pyfunction!(softmax, module)?)?;
    module.add_function(wrap_pyfunction!(log_softmax, module)?)?;
    module.add_function(wrap_pyfunction!(logsumexp, module)?)?;
    module.add_function(wrap_pyfunction!(fill_none, module)?)?;
    module.add_function(wrap_pyfunction!(string_split, module)?)?;
    module.add_function(wrap_pyfunction!(string_characters, module)?)?;
    module.add_function(wrap_pyfunction!(string_ngrams, module)?)
}

/// An attribute of a function that is no op.
///
/// Errors: an object of another type.
pub fn attribute<T: AttrType>(function: &str, name: &'static str, object: &Bound<'_, PyAny>) -> PyResult<T> {
    let given = attr(function, &Param { name, kind: T::NAME, default: || None }, object)?;
    let misfit = || Error::dtype(format!("argument '{name}' is {given}")).wanted(T::NAME).at(function);
    T::from_attr(&given).ok_or_else(misfit).or_raise()
}

/// Numbers rounded to `digits` behind the point, or before it if it is negative; of two as near to the even one. `round(x, digits)` is this.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.round_to([[1.256], [], [2.5]], 1)), ex.to_py(round(ex.constant([15, 25, -26]), -1))
/// ([[1.3], [], [2.5]], [20, 20, -30])
#[pyfunction]
fn round_to<'py>(x: &Bound<'py, PyAny>, digits: Typed<i64>) -> PyResult<Bound<'py, PyAny>> {
    typed!(round_to: digits);
    let given = value::given("round_to", "x", x)?;
    value::to_py(x.py(), guarded(|| extenso_ext::round_to(&given, digits)).or_raise()?)
}

/// Each element of `x`, but not below `min` and not above `max`; with broadcasting. Without a bound, there is none.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.clip(ex.tensor([-2.0, 0.5, 3.0]), 0, 1)), ex.to_py(ex.clip([-2, 3], max=1))
/// ([0.0, 0.5, 1.0], [-2, 1])
#[pyfunction]
#[pyo3(signature = (x, min=None, max=None))]
fn clip<'py>(
    x: &Bound<'py, PyAny>,
    min: Option<&Bound<'py, PyAny>>,
    max: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let given = arg::given("clip", "x", x)?;
    let (low, high) = (arg::optional("clip", "min", min)?, arg::optional("clip", "max", max)?);
    let clipped = guarded(|| match (low, high) {
        (Some(low), Some(high)) => ops::clip(given, low, high),
        (Some(low), None) => ops::maximum(given, low).map_err(|e| e.at("clip")),
        (None, Some(high)) => ops::minimum(given, high).map_err(|e| e.at("clip")),
        (None, None) => ops::positive(given).map_err(|e| e.at("clip")),
    });
    value::to_py(x.py(), clipped.or_raise()?)
}

/// Whether each element of `x` is the one of `y`, or differs by `atol + rtol * abs(y)` at most.
///
/// An infinity is close to itself alone, NaN to nothing, or with `equal_nan` to NaN.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.isclose([1.0, 1.1], 1.0))
/// [True, False]
#[pyfunction]
#[pyo3(signature = (x, y, rtol=Typed::new(1e-5), atol=Typed::new(1e-8), equal_nan=Typed::new(false)), text_signature = "(x, y, rtol=1e-05, atol=1e-08, equal_nan=False)")]
fn isclose<'py>(
    x: &Bound<'py, PyAny>,
    y: &Bound<'py, PyAny>,
    rtol: Typed<f64>,
    atol: Typed<f64>,
    equal_nan: Typed<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(isclose: rtol, atol, equal_nan);
    let (first, second) = (arg::given("isclose", "x", x)?, arg::given("isclose", "y", y)?);
    value::to_py(x.py(), guarded(|| ops::isclose(first, second, rtol, atol, equal_nan)).or_raise()?)
}

/// The elements, with `nan` where they are NaN, and for infinities `posinf` and `neginf`, or the greatest and least numbers there are.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.nan_to_num([float("nan"), 1.0, float("inf")], posinf=9.0))
/// [0.0, 1.0, 9.0]
#[pyfunction]
#[pyo3(signature = (x, nan=Typed::new(0.0), posinf=None, neginf=None), text_signature = "(x, nan=0.0, posinf=None, neginf=None)")]
fn nan_to_num<'py>(
    x: &Bound<'py, PyAny>,
    nan: Typed<f64>,
    posinf: Option<Typed<f64>>,
    neginf: Option<Typed<f64>>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(nan_to_num: nan, posinf, neginf);
    let given = value::given("nan_to_num", "x", x)?;
    value::to_py(x.py(), guarded(|| ops::nan_to_num(given, nan, posinf, neginf)).or_raise()?)
}

/// The mean over `axis`: the sum divided by the count. An empty row gives NaN.
///
/// The mean of times is a time, rounded down to their unit, that of decimals a decimal with at least six digits behind the point; an
/// empty row gives `None`.
///
/// >>> import extenso as ex
/// >>> ex.mean(ex.tensor([1.0, 3.0])).item()
/// 2.0
#[pyfunction]
#[pyo3(signature = (x, axis=None, keepdims=Typed::new(false)), text_signature = "(x, axis=None, keepdims=False)")]
fn mean<'py>(
    x: &Bound<'py, PyAny>,
    axis: Option<&Bound<'py, PyAny>>,
    keepdims: Typed<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(mean: keepdims);
    let axes = axis.map_or(Ok(Axes::All), |axis| attribute("mean", "axis", axis))?;
    let given = value::given("mean", "x", x)?;
    value::to_py(x.py(), guarded(|| extenso_ext::mean(&given, axes, keepdims)).or_raise()?)
}

/// Exponentials along `axis`, divided by their sum; along an axis with ragged rows inside, column by column of the rows.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.softmax([1.0, 1.0]))
/// [0.5, 0.5]
#[pyfunction]
#[pyo3(signature = (x, axis=Typed::new(-1)), text_signature = "(x, axis=-1)")]
fn softmax<'py>(x: &Bound<'py, PyAny>, axis: Typed<i64>) -> PyResult<Bound<'py, PyAny>> {
    typed!(softmax: axis);
    let argument = value::given("softmax", "x", x)?;
    value::to_py(x.py(), guarded(|| extenso_ext::lists::softmax(&argument, axis)).or_raise()?)
}

/// The logarithm of `softmax`, without the loss of small shares.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.log_softmax([0.0, -800.0]))
/// [0.0, -800.0]
#[pyfunction]
#[pyo3(signature = (x, axis=Typed::new(-1)), text_signature = "(x, axis=-1)")]
fn log_softmax<'py>(x: &Bound<'py, PyAny>, axis: Typed<i64>) -> PyResult<Bound<'py, PyAny>> {
    typed!(log_softmax: axis);
    let argument = value::given("log_softmax", "x", x)?;
    value::to_py(x.py(), guarded(|| extenso_ext::lists::log_softmax(&argument, axis)).or_raise()?)
}

/// The logarithm of the sum of exponentials over `axis`, without overflow. An empty row gives -inf.
///
/// >>> import extenso as ex
/// >>> ex.logsumexp([800.0]).item()
/// 800.0
#[pyfunction]
#[pyo3(signature = (x, axis=None, keepdims=Typed::new(false)), text_signature = "(x, axis=None, keepdims=False)")]
fn logsumexp<'py>(
    x: &Bound<'py, PyAny>,
    axis: Option<&Bound<'py, PyAny>>,
    keepdims: Typed<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(logsumexp: keepdims);
    let axes = axis.map_or(Ok(Axes::All), |axis| attribute("logsumexp", "axis", axis))?;
    let argument = value::given("logsumexp", "x", x)?;
    value::to_py(x.py(), guarded(|| extenso_ext::lists::logsumexp(&argument, &axes, keepdims)).or_raise()?)
}

/// The values of a masked tensor with `fill` where one is missing; anything else as it is.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.fill_none(ex.constant([1, None]), 0))
/// [1, 0]
#[pyfunction]
fn fill_none<'py>(x: &Bound<'py, PyAny>, fill: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let (masked, fill) = (value::given("fill_none", "x", x)?, arg::given("fill_none", "fill", fill)?);
    value::to_py(x.py(), guarded(|| extenso_ext::fill_none(&masked, fill)).or_raise()?)
}

/// The pieces of each string, in one more axis: at `sep`, or at Unicode white space; at most `maxsplit` times unless that is negative.
///
/// At white space no piece is empty; at `sep` pieces may be, as of `str.split`. A vector gives a ragged tensor, a scalar a
/// vector; missing strings stay missing.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.string_split(["a b", ""]))
/// [['a', 'b'], []]
#[pyfunction]
#[pyo3(signature = (x, sep=None, maxsplit=Typed::new(-1)), text_signature = "(x, sep=None, maxsplit=-1)")]
fn string_split<'py>(
    x: &Bound<'py, PyAny>,
    sep: Option<Typed<&str>>,
    maxsplit: Typed<i64>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(string_split: sep, maxsplit);
    let strings = value::given("string_split", "x", x)?;
    value::to_py(x.py(), guarded(|| extenso_ext::string_split(&strings, sep, maxsplit)).or_raise()?)
}

/// The characters of each string, in one more axis: strings of one Unicode code point each.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.string_characters(["ab", ""]))
/// [['a', 'b'], []]
#[pyfunction]
fn string_characters<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let strings = value::given("string_characters", "x", x)?;
    value::to_py(x.py(), guarded(|| extenso_ext::string_characters(&strings)).or_raise()?)
}

/// The n-grams of each innermost row: each `width` neighbours joined, with `separator` between them; of several widths, one after the other.
///
/// A row shorter than a width has none of it. With `left` and `right`, these texts are put around each row first, as often as the width
/// less one, or `padding_width` times if that is less.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.string_ngrams(["a", "b", "c"], 2))
/// ['a b', 'b c']
/// >>> ex.to_py(ex.string_ngrams(["a", "b"], [1, 2], "", left="<", right=">"))
/// ['a', 'b', '<a', 'ab', 'b>']
#[pyfunction]
#[pyo3(signature = (x, width, separator=Typed::new(" "), left=None, right=None, padding_width=None), text_signature = "(x, width, separator=\" \", left=None, right=None, padding_width=None)")]
fn string_ngrams<'py>(
    x: &Bound<'py, PyAny>,
    width: &Bound<'py, PyAny>,
    separator: Typed<&str>,
    left: Option<Typed<String>>,
    right: Option<Typed<String>>,
    padding_width: Option<Typed<i64>>,
) -> PyResult<Bound<'py, PyAny>> {
    typed!(string_ngrams: separator, left, right, padding_width);
    let (strings, widths) =
        (value::given("string_ngrams", "x", x)?, attribute::<Vec<i64>>("string_ngrams", "width", width)?);
    let none_given = left.is_none() && right.is_none();
    let text = Option::unwrap_or_default;
    let pads = (!none_given).then(|| NgramPads { left: text(left), right: text(right), most: padding_width });
    let made = guarded(|| extenso_ext::string_ngrams(&strings, &widths, separator, pads.as_ref()));
    value::to_py(x.py(), made.or_raise()?)
}
