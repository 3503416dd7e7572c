//! The mean of any value that has one: of numbers, and of times and decimals, which are not floats.
//!
//! Invariant: the mean of times is exact, rounded down to their unit; that of decimals is a quotient of their exact sum.

use crate::args::{int, typed};
use crate::axes::{dim, rank};
use crate::masked::MaskedTensor;
use crate::meaning::nested::{below, innermost, plain, under_meaning_of};
use crate::missing::{count, mask};
use crate::ragged::RaggedTensor;
use crate::{DateTensor, DecimalTensor, DurationTensor, TimeTensor, TimestampTensor, fill_none, lists};
use extenso_core::attrs::Axes;
use extenso_core::reduce::normalize_axes;
use extenso_core::{ExtensionType, Value, ops};
use extenso_types::{DType, Error, Result};

/// The mean over `axis`: the sum divided by the count. What is missing is left out.
///
/// Of numbers it is what [`ops::mean`] gives. Of times it is a time, rounded down, and of decimals a decimal with at least six digits behind
/// the point; in rows and under masks it is missing where there is nothing. Errors: an axis out of range; a type that has no mean.
///
/// ```
/// # use extenso_core::{ExtensionType, Tensor, attrs::Axes};
/// # use extenso_ext::{DateTensor, mean, to_literal};
/// let days = DateTensor::new(Tensor::from_vec(vec![0, 3]), "d").unwrap().into_value();
/// assert_eq!(to_literal(&mean(&days, Axes::All, false).unwrap()).unwrap().to_string(), r#""1970-01-02""#);
/// ```
pub fn mean(x: &Value, axis: impl Into<Axes>, keepdims: bool) -> Result<Value> {
    let (axis, like) = (axis.into(), innermost(x));
    let made = if typed::<DecimalTensor>(&like).is_some() {
        of_decimals(x, &axis, keepdims)
    } else if is_time(&like) {
        of_times(x, &like, &axis, keepdims)
    } else {
        return ops::mean(x, axis, keepdims);
    };
    made.map_err(|e| e.at_part("mean"))
}

/// Whether a value counts time: moments, dates, times of a day or durations.
pub(crate) fn is_time(x: &Value) -> bool {
    let moment = typed::<TimestampTensor>(x).is_some() || typed::<DateTensor>(x).is_some();
    moment || typed::<TimeTensor>(x).is_some() || typed::<DurationTensor>(x).is_some()
}

fn of_decimals(x: &Value, axis: &Axes, keepdims: bool) -> Result<Value> {
    let n = counted(x, axis, keepdims)?;
    let mean = ops::divide(ops::sum(x, axis.clone(), keepdims)?, ops::maximum(&n, 1)?)?;
    where_any(x, mean, &n)
}

fn of_times(x: &Value, like: &Value, axis: &Axes, keepdims: bool) -> Result<Value> {
    let n = counted(x, axis, keepdims)?;
    where_any(x, mean_of_times(x, like, axis, keepdims, &n)?, &n)
}

/// The mean of so many times, and the epoch of none.
///
/// The upper and the lower halves of the bits are added apart, since the sum of the counts may not fit 64 bits.
fn mean_of_times(x: &Value, like: &Value, axis: &Axes, keepdims: bool, n: &Value) -> Result<Value> {
    let counts = ops::cast(plain(x)?, DType::I64)?;
    let each = ops::maximum(n, 1)?;
    let upper = ops::sum(ops::bitwise_right_shift(&counts, 32)?, axis.clone(), keepdims)?;
    let lower = ops::sum(ops::bitwise_and(&counts, (1_i64 << 32) - 1)?, axis.clone(), keepdims)?;
    let carried = ops::multiply(ops::remainder(&upper, &each)?, 1_i64 << 32)?;
    let parts = [ops::multiply(ops::floor_divide(upper, &each)?, 1_i64 << 32), ops::floor_divide(&carried, &each)];
    let whole = parts.into_iter().try_fold(ops::floor_divide(&lower, &each)?, |sum, part| ops::add(sum, part?))?;
    let rest = ops::add(ops::remainder(carried, &each)?, ops::remainder(lower, &each)?)?;
    let mean = ops::add(whole, ops::floor_divide(rest, each)?)?;
    let dtype = crate::dtype_of(&like.spec()?).unwrap_or(DType::I64);
    under_meaning_of(like, &ops::cast(mean, dtype)?)
}

/// The standard deviation of times as durations, rounded to the unit; of dates in seconds or in the unit that they have below days.
///
/// It is found in floats of what the times differ from the mean of all, so that moments far from the epoch lose nothing.
pub(crate) fn deviation_of_times(x: &Value, axis: &Axes, correction: f64, keepdims: bool) -> Result<Value> {
    let counts = ops::cast(plain(x)?, DType::I64)?;
    let n = count(x, Axes::All, false)?;
    let center = plain(&mean_of_times(x, &innermost(x), &Axes::All, false, &n)?)?;
    let center = fill_none(&ops::cast(center, DType::I64)?, 0)?;
    let apart = ops::cast(ops::subtract(counts, center)?, DType::F64)?;
    let spread = lists::std(&apart, axis, correction, keepdims)?;
    let (known, may_lack) = (ops::isfinite(&spread)?, may_be_none(x) || correction > 0.0);
    let known = if may_lack || !may_be_empty(x, axis)? { known } else { some(known.clone(), known)? };
    let (unit, each) = duration_unit(&innermost(x))?;
    let whole = ops::round(ops::multiply(ops::where_(&known, spread, 0.0)?, each)?)?;
    let made = below(&ops::cast(whole, DType::I64)?, &|counts| {
        Ok(DurationTensor::new(counts.tensor()?.clone(), &unit)?.into_value())
    })?;
    if may_lack { mask(&made, &known) } else { Ok(made) }
}

/// The unit of the durations between such times, and how many of them the unit of the times has.
fn duration_unit(x: &Value) -> Result<(String, f64)> {
    if let Some(x) = typed::<DateTensor>(x) {
        return Ok(if x.unit() == "d" { ("s".to_string(), 86_400.0) } else { (x.unit().to_string(), 1.0) });
    }
    let moment = typed::<TimestampTensor>(x).map(|x| x.unit().to_string());
    let of_day = || typed::<TimeTensor>(x).map(|x| x.unit().to_string());
    let unit = moment.or_else(of_day).or_else(|| typed::<DurationTensor>(x).map(|x| x.unit().to_string()));
    unit.map(|unit| (unit, 1.0)).ok_or_else(|| Error::internal("a value counts no time"))
}

/// The means, missing where nothing was there, of a value of which that may be so.
fn where_any(x: &Value, mean: Value, n: &Value) -> Result<Value> {
    if may_be_none(x) { mask(&mean, &ops::greater(n, 0)?) } else { Ok(mean) }
}

/// Whether what is found along axes may be missing: in rows and under masks, as the largest and the smallest may. The type says it, and
/// not the sizes, of which a trace may know less than a call.
pub(crate) fn may_be_none(x: &Value) -> bool {
    typed::<MaskedTensor>(x).is_some() || typed::<RaggedTensor>(x).is_some()
}

/// How many elements are there along the axes.
///
/// Errors: none, of a value of which nothing can be missing; while tracing this is found when the graph runs.
pub(crate) fn counted(x: &Value, axis: &Axes, keepdims: bool) -> Result<Value> {
    let n = count(x, axis.clone(), keepdims)?;
    if may_be_none(x) || !may_be_empty(x, axis)? { Ok(n) } else { some(n.clone(), ops::greater(n, 0)?) }
}

/// The value, of which there is something wherever it stands.
fn some(value: Value, there: Value) -> Result<Value> {
    ops::check_all(value, there, "the axis has no element".to_string(), "at least one element".to_string())
}

fn may_be_empty(x: &Value, axis: &Axes) -> Result<bool> {
    let rank = rank(x)?;
    let axes = match axis {
        Axes::All => (0..rank).map(int).collect::<Vec<i64>>(),
        Axes::List(axes) => axes.to_vec(),
    };
    let size = |axis: &usize| if *axis == 0 { crate::axes::outer(x) } else { dim(x, *axis).ok() };
    // A size that is not known may be 0.
    Ok(normalize_axes(&axes, rank)?.iter().any(|axis| size(axis).and_then(|dim| dim.known()).is_none_or(|n| n == 0)))
}
