//! Counts, spreads and differences. Compositions of reductions.

use super::normalize::in_f32;
use super::rearrange::{positions_of_unknown, size_along};
use super::reduction::{counted, dtype_of};
use super::{cast, concat, divide, equal, full_like, maximum, mean, slice, sqrt, square, subtract, sum, where_};
use crate::attrs::Axes;
use crate::value::{Arg, Value};
use extenso_types::{DType, Error, Result};

/// The number of elements over `axis` that are not zero, as i64. NaN is not zero; of booleans it is those that are true.
///
/// Errors: an axis out of range or named twice; text.
///
/// ```
/// # use extenso_core::{Tensor, attrs::Axes, ops};
/// assert_eq!(ops::count_nonzero(Tensor::from_vec(vec![0, 5, 7]), Axes::All, false).unwrap().to_string(), "2");
/// ```
pub fn count_nonzero(x: impl Into<Arg>, axis: impl Into<Axes>, keepdims: bool) -> Result<Value> {
    cast(x, DType::Bool).and_then(|found| sum(found, axis, keepdims)).map_err(|e| e.at_part("count_nonzero"))
}

/// The variance over `axis`: the sum of the squares of what elements differ from their mean, divided by the count less
/// `correction`. In f64 for integers and booleans.
///
/// The correction is 0 for a whole population, 1 for a sample of it. Where the count is not above the correction, it is an
/// infinity or NaN. Errors: an axis out of range or named twice; text.
///
/// ```
/// # use extenso_core::{Tensor, attrs::Axes, ops};
/// assert_eq!(ops::var(Tensor::from_vec(vec![1.0, 3.0]), Axes::All, 0.0, false).unwrap().to_string(), "1.0");
/// ```
pub fn var(x: impl Into<Arg>, axis: impl Into<Axes>, correction: f64, keepdims: bool) -> Result<Value> {
    let (x, axis) = (x.into(), axis.into());
    in_f32(&[&x], |args| spread(&args[0], &axis, correction, keepdims)).map_err(|e| e.at_part("var"))
}

/// The standard deviation over `axis`: the square root of `var`.
///
/// Errors: as [`var`].
///
/// ```
/// # use extenso_core::{Tensor, attrs::Axes, ops};
/// assert_eq!(ops::std(Tensor::from_vec(vec![1.0, 3.0]), Axes::All, 0.0, false).unwrap().to_string(), "1.0");
/// ```
pub fn std(x: impl Into<Arg>, axis: impl Into<Axes>, correction: f64, keepdims: bool) -> Result<Value> {
    let (x, axis) = (x.into(), axis.into());
    in_f32(&[&x], |args| spread(&args[0], &axis, correction, keepdims).and_then(root)).map_err(|e| e.at_part("std"))
}

/// The square root of a variance. Its gradient is 0 where the variance is: data that do not differ are where the spread is least.
///
/// Errors: no floats.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// assert_eq!(ops::root(Tensor::from_vec(vec![4.0, 0.0])).unwrap().to_string(), "[2.0, 0.0]");
/// ```
pub fn root(variance: impl Into<Arg>) -> Result<Value> {
    let variance = variance.into();
    let none = equal(&variance, 0.0)?;
    where_(&none, 0.0, sqrt(where_(&none, 1.0, variance)?)?)
}

/// The variance of what is in f32 at least: squares and counts go beyond the halves.
fn spread(x: &Arg, axis: &Axes, correction: f64, keepdims: bool) -> Result<Value> {
    let x = match x.value()? {
        Value::Tensor(t) if !t.dtype().is_float() => cast(t, DType::F64)?,
        other => other.clone(),
    };
    let apart = subtract(&x, mean(&x, axis.clone(), true)?)?;
    let total = sum(square(apart)?, axis.clone(), keepdims)?;
    let count = cast(counted(&(&x).into(), axis, keepdims)?, DType::F64)?;
    let free = maximum(subtract(count, correction)?, 0)?;
    let dtype = dtype_of(&total)?;
    divide(total, cast(free, dtype)?)
}

/// How much each element along `axis` is more than the one before it, `n` times over.
///
/// Values to `prepend` or `append` are joined to `x` along the axis first. Shapes: the axis has `n` elements fewer than that.
/// Errors: a negative `n`, an axis out of range, dtypes other than numbers.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// assert_eq!(ops::diff(Tensor::from_vec(vec![1, 4, 9]), -1, 1, None, None).unwrap().to_string(), "[3, 5]");
/// ```
pub fn diff(x: impl Into<Arg>, axis: i64, n: i64, prepend: Option<Value>, append: Option<Value>) -> Result<Value> {
    let joined = |x: &Value| {
        let parts: Vec<Value> = prepend.into_iter().chain([x.clone()]).chain(append).collect();
        if parts.len() == 1 { Ok(x.clone()) } else { concat(parts, axis) }
    };
    x.into().value().and_then(joined).and_then(|x| differences(x, axis, n)).map_err(|e| e.at_part("diff"))
}

/// More steps along an axis of an unknown size are taken for a mistake.
const MOST_STEPS: usize = 64;

fn differences(x: Value, axis: i64, n: i64) -> Result<Value> {
    let n =
        usize::try_from(n).map_err(|_| Error::value(format!("n is {n}")).wanted("a number that is not negative"))?;
    let steps = match n {
        0 | 1 => n,
        // Of an axis of some size, nothing is left after as many steps, in whatever way they are taken.
        _ if positions_of_unknown(&x, axis)?.is_none() && n >= size_along(&x, axis)? => {
            return differences(slice(&x, axis, 0, Some(vec![1]), 1)?, axis, 1);
        }
        _ if positions_of_unknown(&x, axis)?.is_none() => n,
        _ if n > MOST_STEPS => {
            return Err(Error::value(format!("n is {n} along an axis of a size that is not known while tracing"))
                .wanted(format!("at most {MOST_STEPS}, or a known size")));
        }
        _ => n,
    };
    (0..steps).try_fold(x, |x, _| {
        let next = slice(&x, axis, 1, None, 1)?;
        subtract(next, slice(&x, axis, 0, Some(vec![-1]), 1)?)
    })
}

/// A running fold along `axis` with one more element in front, or behind if it was reversed: `initial`, which it starts from.
///
/// Errors: an axis out of range; dtypes other than numbers.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let sums = ops::cumulative_sum(Tensor::from_vec(vec![1, 2]), 0, false).unwrap();
/// assert_eq!(ops::with_initial(&sums, 0, 0, false).unwrap().to_string(), "[0, 1, 3]");
/// ```
pub fn with_initial(fold: &Value, initial: i64, axis: i64, reverse: bool) -> Result<Value> {
    // The sums have the shape of one element along the axis, even if there is none.
    let one = match fold {
        // What is no number has the sum of nothing, if it has sums.
        Value::Ext(_) if initial == 0 => sum(slice(fold, axis, 0, Some(vec![0]), 1)?, axis, true)?,
        _ => full_like(cast(sum(fold, axis, true)?, dtype_of(fold)?)?, initial, None)?,
    };
    concat(if reverse { vec![fold.clone(), one] } else { vec![one, fold.clone()] }, axis)
}
