//! Spreads and logarithms of sums over axes that have ragged rows inside, where a fold does not broadcast back by itself.
//!
//! There a line is a column of the rows: what was folded of it is put beside each of its elements. Over other axes they are the
//! functions of the core.

use super::moves::rows_inside;
use crate::DecimalTensor;
use crate::args::{int, typed_ref};
use crate::axes::{one_row, rank};
use crate::masked::MaskedTensor;
use crate::mean::{deviation_of_times, is_time};
use crate::meaning::nested::innermost;
use crate::ragged::RaggedTensor;
use crate::ragged::columns::{unfolded_columns, unfolded_rows};
use extenso_core::attrs::Axes;
use extenso_core::reduce::normalize_axes;
use extenso_core::{ExtensionType, Value, ops};
use extenso_types::{DType, Error, Result};

/// The variance over `axis`; over an axis with ragged rows inside, of each column of the rows.
///
/// As [`ops::var`], also of rows of integers and booleans; what is missing does not count. Errors: an axis out of range or named
/// twice; text.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// # use extenso_core::attrs::Axes;
/// let x = constant(vec![vec![1, 5], vec![3], vec![]]).unwrap();
/// let spread = lists::var(&x, &Axes::List(vec![0]), 0.0, false).unwrap();
/// assert_eq!(to_literal(&spread).unwrap().to_string(), "[1.0, 0.0]");
/// ```
pub fn var(x: &Value, axis: &Axes, correction: f64, keepdims: bool) -> Result<Value> {
    let spread = |x: &Value| match columns(x, axis)? {
        None => ops::var(x, axis.clone(), correction, keepdims),
        Some(_) => shared(ops::square(apart(x, axis)?)?, axis, correction, keepdims),
    };
    as_floats(x).and_then(|x| in_f32(&x, spread)).map_err(|e| e.at_part("var"))
}

/// What `f` makes of a value; of f16 and bf16 in f32, rounded once.
pub(super) fn in_f32(x: &Value, f: impl FnOnce(&Value) -> Result<Value>) -> Result<Value> {
    match dtype_of(x)? {
        narrow @ (DType::F16 | DType::BF16) => ops::cast(f(&ops::cast(x, DType::F32)?)?, narrow),
        _ => f(x),
    }
}

/// The same of two values in the dtype and the shape in which they meet.
fn both_in_f32(x: &Value, y: &Value, f: impl FnOnce(&Value, &Value) -> Result<Value>) -> Result<Value> {
    let (x, y) = alike(x, y)?;
    in_f32(&x, |wide| if dtype_of(&x)? == dtype_of(wide)? { f(wide, &y) } else { f(wide, &ops::cast(&y, DType::F32)?) })
}

/// What elements differ from the mean over `axis`.
pub(super) fn apart(x: &Value, axis: &Axes) -> Result<Value> {
    match columns(x, axis)? {
        None => ops::subtract(x, ops::mean(x, axis.clone(), true)?),
        Some(axes) => ops::subtract(x, unfolded(&ops::mean(x, list(&axes), false)?, x, &axes)?),
    }
}

/// The sum over `axis`, divided by the count less `correction`.
fn shared(x: Value, axis: &Axes, correction: f64, keepdims: bool) -> Result<Value> {
    let total = ops::sum(&x, axis.clone(), keepdims)?;
    let ones = ops::cast(ops::ones_like(&x)?, DType::Bool)?;
    let count = ops::cast(ops::sum(ones, axis.clone(), keepdims)?, DType::F64)?;
    let free = ops::maximum(ops::subtract(count, correction)?, 0)?;
    ops::divide(total, ops::cast(free, dtype_of(&x)?)?)
}

/// The covariance of `x` and `y` over `axis`: the sum of the products of what they differ from their means, divided by the count less
/// `correction`. Awkward Array's name.
///
/// Shapes: both broadcast; where one is missing, neither counts. Errors: an axis out of range or named twice; dtypes that differ; text.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// # use extenso_core::attrs::Axes;
/// let (x, y) = (constant(vec![vec![1.0, 3.0], vec![2.0]]).unwrap(), constant(vec![vec![0.0, 4.0], vec![7.0]]).unwrap());
/// let covar = lists::covar(&x, &y, &Axes::List(vec![1]), 0.0, false).unwrap();
/// assert_eq!(to_literal(&covar).unwrap().to_string(), "[2.0, 0.0]");
/// ```
pub fn covar(x: &Value, y: &Value, axis: &Axes, correction: f64, keepdims: bool) -> Result<Value> {
    let covar =
        |x: &Value, y: &Value| shared(ops::multiply(apart(x, axis)?, apart(y, axis)?)?, axis, correction, keepdims);
    both_in_f32(x, y, covar).map_err(|e| e.at_part("covar"))
}

/// The correlation of `x` and `y` over `axis`: their covariance, divided by the standard deviations of both. Awkward Array's name.
///
/// Shapes and errors: as [`covar`]. Where one does not vary, NaN.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// # use extenso_core::attrs::Axes;
/// let (x, y) = (constant(vec![1.0, 2.0, 3.0]).unwrap(), constant(vec![6.0, 4.0, 2.0]).unwrap());
/// assert_eq!(to_literal(&lists::corr(&x, &y, &Axes::All, false).unwrap()).unwrap().to_string(), "-1.0");
/// ```
pub fn corr(x: &Value, y: &Value, axis: &Axes, keepdims: bool) -> Result<Value> {
    let corr = |x: &Value, y: &Value| {
        let (x, y) = (apart(x, axis)?, apart(y, axis)?);
        let total = |x: Value| ops::sum(x, axis.clone(), keepdims);
        let sizes = ops::multiply(total(ops::square(&x)?)?, total(ops::square(&y)?)?)?;
        ops::divide(total(ops::multiply(&x, &y)?)?, ops::sqrt(sizes)?)
    };
    both_in_f32(x, y, corr).map_err(|e| e.at_part("corr"))
}

/// The `n`-th raw moment over `axis`: the mean of the `n`-th powers. Awkward Array's name.
///
/// Errors: an axis out of range or named twice; a negative `n`; text.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// # use extenso_core::attrs::Axes;
/// let x = constant(vec![vec![1, 3], vec![], vec![2]]).unwrap();
/// let moment = lists::moment(&x, 2, &Axes::List(vec![1]), false).unwrap();
/// assert_eq!(to_literal(&moment).unwrap().to_string(), "[5.0, nan, 4.0]");
/// ```
pub fn moment(x: &Value, n: i64, axis: &Axes, keepdims: bool) -> Result<Value> {
    let moment = |x: &Value| ops::mean(ops::pow(floats(x)?, super::count("n", n)? as f64)?, axis.clone(), keepdims);
    as_floats(x).and_then(|x| in_f32(&x, moment)).map_err(|e| e.at_part("moment"))
}

/// Both as floats of one shape, and missing where one is.
fn alike(x: &Value, y: &Value) -> Result<(Value, Value)> {
    let (x, y) = (floats(x)?, floats(y)?);
    Ok((ops::add(&x, ops::zeros_like(&y)?)?, ops::add(&y, ops::zeros_like(&x)?)?))
}

/// Integers, booleans and decimals as f64.
///
/// Errors: as [`as_floats`].
fn floats(x: &Value) -> Result<Value> {
    let x = as_floats(x)?;
    if dtype_of(&x)?.is_float() { Ok(x) } else { ops::cast(x, DType::F64) }
}

/// The standard deviation over `axis`: the square root of [`var`]; of times a duration, missing where there is none.
///
/// Errors: as [`var`].
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// # use extenso_core::attrs::Axes;
/// let x = constant(vec![vec![1, 5], vec![3], vec![]]).unwrap();
/// let spread = lists::std(&x, &Axes::List(vec![0]), 0.0, false).unwrap();
/// assert_eq!(to_literal(&spread).unwrap().to_string(), "[1.0, 0.0]");
/// ```
pub fn std(x: &Value, axis: &Axes, correction: f64, keepdims: bool) -> Result<Value> {
    let Value::Ext(_) = x else { return ops::std(x, axis.clone(), correction, keepdims) };
    if let Some(narrow @ (DType::F16 | DType::BF16)) = crate::dtype_of(&x.spec()?) {
        // Rounded once.
        return ops::cast(std(&ops::cast(x, DType::F32)?, axis, correction, keepdims)?, narrow);
    }
    let made = match is_time(&innermost(x)) {
        true => deviation_of_times(x, axis, correction, keepdims),
        false => var(x, axis, correction, keepdims).and_then(ops::root),
    };
    made.map_err(|e| e.at_part("std"))
}

/// The logarithm of the sum of exponentials over `axis`; over an axis with ragged rows inside, of each column of the rows.
///
/// As [`ops::logsumexp`]. Errors: no floats, an axis out of range or named twice.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// # use extenso_core::attrs::Axes;
/// let x = constant(vec![vec![800.0, 5.0], vec![], vec![-f64::INFINITY]]).unwrap();
/// let sums = lists::logsumexp(&x, &Axes::List(vec![0]), false).unwrap();
/// assert_eq!(to_literal(&sums).unwrap().to_string(), "[800.0, 5.0]");
/// ```
pub fn logsumexp(x: &Value, axis: &Axes, keepdims: bool) -> Result<Value> {
    let total = || {
        let Some(axes) = columns(x, axis)? else { return ops::logsumexp(x, axis.clone(), keepdims) };
        // An infinity would be subtracted from itself.
        let finite = |largest: Value| ops::where_(ops::isfinite(&largest)?, &largest, 0);
        let shift = finite(ops::max(x, list(&axes), false)?)?;
        let powers = ops::exp(ops::subtract(x, unfolded(&shift, x, &axes)?)?)?;
        let shift = if keepdims { finite(ops::max(x, list(&axes), true)?)? } else { shift };
        ops::add(ops::log(ops::sum(powers, list(&axes), keepdims)?)?, shift)
    };
    total().map_err(|e| e.at_part("logsumexp"))
}

/// The logarithm of [`softmax`](super::softmax), without the loss of small shares.
///
/// Errors: no floats, an axis out of range.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec![0.0, 5.0], vec![-800.0]]).unwrap();
/// assert_eq!(to_literal(&lists::log_softmax(&x, 0).unwrap()).unwrap().to_string(), "[[0.0, 0.0], [-800.0]]");
/// ```
pub fn log_softmax(x: &Value, axis: i64) -> Result<Value> {
    let shares = || {
        let Some(axes) = columns(x, &Axes::List(vec![axis]))? else { return ops::log_softmax(x, axis) };
        let below = ops::subtract(x, unfolded(&ops::max(x, list(&axes), false)?, x, &axes)?)?;
        let sums = ops::log(ops::sum(ops::exp(&below)?, list(&axes), false)?)?;
        ops::subtract(&below, unfolded(&sums, x, &axes)?)
    };
    shares().map_err(|e| e.at_part("log_softmax"))
}

/// The cross entropy between the probabilities `labels` and those that `softmax` gives the logits along `axis`, which is left out.
///
/// As [`ops::softmax_cross_entropy`]; along an axis with ragged rows inside, of each column of the rows. Errors: as there.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let (logits, labels) = (constant(vec![vec![0.0, 5.0], vec![-800.0]]), constant(vec![vec![0.0, 0.0], vec![1.0]]));
/// let loss = lists::softmax_cross_entropy(&logits.unwrap(), &labels.unwrap(), 0).unwrap();
/// assert_eq!(to_literal(&loss).unwrap().to_string(), "[800.0, -0.0]");
/// ```
pub fn softmax_cross_entropy(logits: &Value, labels: &Value, axis: i64) -> Result<Value> {
    if columns(logits, &Axes::List(vec![axis])).ok().flatten().is_none() {
        return ops::softmax_cross_entropy(logits, labels, axis);
    }
    let loss = |logits: &Value, labels: &Value| {
        let shares = log_softmax(logits, axis)?;
        let lost = ops::logical_and(ops::equal(labels, 0)?, ops::equal(&shares, f64::NEG_INFINITY)?)?;
        let shares = ops::where_(lost, ops::zeros_like(&shares)?, &shares)?;
        ops::negative(ops::sum(ops::multiply(labels, shares)?, axis, false)?)
    };
    both_in_f32(logits, labels, loss).map_err(|e| e.at_part("softmax_cross_entropy"))
}

pub(super) fn list(axes: &[usize]) -> Axes {
    Axes::List(axes.iter().map(|&axis| int(axis)).collect())
}

/// The axes in order, if lines along them go across rows.
pub(super) fn columns(x: &Value, axis: &Axes) -> Result<Option<Vec<usize>>> {
    let (Value::Ext(_), Axes::List(axes)) = (x, axis) else { return Ok(None) };
    let axes = normalize_axes(axes, rank(x)?)?.to_vec();
    let across = |&axis: &usize| rows_inside(x, axis, &|inner| !axes.contains(&inner));
    Ok(axes.iter().any(across).then_some(axes))
}

fn dtype_of(x: &Value) -> Result<DType> {
    crate::dtype_of(&x.spec()?).ok_or_else(|| Error::dtype("the values have no one dtype").wanted("numbers"))
}

/// Rows of integers and booleans as f64, and decimals.
///
/// Errors: times, whose powers no unit counts.
fn as_floats(x: &Value) -> Result<Value> {
    let inner = innermost(x);
    if is_time(&inner) {
        return Err(Error::dtype("the squares of times have no unit")
            .wanted("numbers")
            .hint("`std` gives a duration; `cast` gives the counts of their unit."));
    }
    if typed_ref::<DecimalTensor>(&inner).is_some() {
        return ops::cast(x, DType::F64);
    }
    match crate::dtype_of(&x.spec()?) {
        Some(dtype) if !dtype.is_float() && matches!(x, Value::Ext(_)) => ops::cast(x, DType::F64),
        Some(_) | None => Ok(x.clone()),
    }
}

/// What was folded over axes, at every element that it was folded of.
pub(super) fn unfolded(folded: &Value, x: &Value, axes: &[usize]) -> Result<Value> {
    let Some((&last, rest)) = axes.split_last() else { return Ok(folded.clone()) };
    if rest.is_empty() {
        return unfolded_along(folded, x, last);
    }
    // The rows that any fold over the innermost axis leaves.
    let outer = ops::max(x, int(last), false)?;
    unfolded_along(&unfolded(folded, &outer, rest)?, x, last)
}

fn unfolded_along(folded: &Value, x: &Value, axis: usize) -> Result<Value> {
    if let Some(masked) = typed_ref::<MaskedTensor>(x) {
        let rows = masked.rows_there()?.map(ExtensionType::into_value);
        // What was folded of a missing row is missing too, and has no element beside it.
        let of_rows = typed_ref::<MaskedTensor>(folded).filter(|_| axis > 0);
        let folded = of_rows.as_deref().map_or(folded, MaskedTensor::values);
        return unfolded_along(folded, rows.as_ref().unwrap_or(masked.values()), axis);
    }
    let Some(rows) = typed_ref::<RaggedTensor>(x) else {
        return ops::broadcast_like(ops::expand_dims(folded, int(axis))?, x);
    };
    let rows = rows.compact()?;
    match axis {
        0 => unfolded_columns(folded, &one_row(&rows.clone().into_value())?, &rows),
        1 => Ok(rows.with_values(unfolded_rows(folded, &rows)?)?.into_value()),
        inner => {
            let folded = match typed_ref::<RaggedTensor>(folded) {
                Some(folded) => folded.values_in(rows.partition())?,
                None => RaggedTensor::of_uniform(folded)?.values_in(rows.partition())?,
            };
            Ok(rows.with_values(unfolded_along(&folded, rows.values(), inner - 1)?)?.into_value())
        }
    }
}
