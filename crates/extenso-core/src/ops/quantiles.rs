//! Quantiles along an axis and of rows. Compositions over one sort.
//!
//! Invariant: a quantile is of its line alone. It is NaN where the line has a NaN, or nothing.

use super::rearrange::{int, known_size, rank_of, size_along};
use super::reduction::dtype_of;
use super::{
    abs, add, cast, ceil, check_within, concat, equal, expand_dims, expand_dims_at, floor, full_like, greater_equal,
    indices_along, isinf, isnan, logical_and, logical_or, maximum, moveaxis, multiply, ones_like,
    partition_from_lengths, places_in_rows, reshape, reshape_like, row_lengths, row_starts, segment_sort, sort,
    squeeze, subtract, sum, take, where_, zeros_like,
};
use crate::attrs::Axes;
use crate::reduce::normalize_axes;
use crate::tensor::Tensor;
use crate::value::{Arg, Value};
use extenso_types::{DType, Error, Result};

/// Which quantiles are wanted: one number, or several.
#[derive(Clone, Debug)]
pub struct Quantiles {
    /// In f64.
    numbers: Value,
    is_one: bool,
}

impl Quantiles {
    /// The numbers of a tensor, which may be a symbol: a scalar is one, a vector several.
    ///
    /// Errors: other ranks, no numbers.
    ///
    /// ```
    /// # use extenso_core::{Tensor, ops::Quantiles};
    /// assert!(Quantiles::of(&Tensor::scalar(0.5).into()).unwrap().is_one());
    /// ```
    pub fn of(q: &Value) -> Result<Quantiles> {
        let read = || match rank_of(q)? {
            rank @ (0 | 1) => Ok(Quantiles { numbers: cast(q.tensor()?, DType::F64)?, is_one: rank == 0 }),
            rank => Err(Error::shape(format!("found rank {rank}")).wanted("one number, or a vector of them")),
        };
        read().map_err(|e: Error| e.at("q"))
    }

    /// Each number by itself.
    ///
    /// Errors: a number that is not from 0 to 1, with its position; how many there are is not known.
    ///
    /// ```
    /// # use extenso_core::ops::Quantiles;
    /// assert_eq!(Quantiles::from(vec![0.25, 0.5]).each().unwrap().len(), 2);
    /// ```
    pub fn each(&self) -> Result<Vec<Quantiles>> {
        if self.is_one {
            return Ok(vec![self.clone()]);
        }
        let numbers = self.value()?;
        let count = size_along(&numbers, 0).map_err(|e| e.at("q"))?;
        let one = |i| Ok(Quantiles { numbers: take(&numbers, Tensor::scalar(int(i)), 0)?, is_one: true });
        (0..count).map(one).collect()
    }

    /// Whether it is one number, which adds no axis.
    ///
    /// ```
    /// # use extenso_core::ops::Quantiles;
    /// assert!(Quantiles::from(0.5).is_one() && !Quantiles::from(vec![0.5]).is_one());
    /// ```
    pub fn is_one(&self) -> bool {
        self.is_one
    }

    /// The numbers, from 0 to 1: known now, or seen when the graph runs.
    ///
    /// Errors: a number that is not from 0 to 1.
    ///
    /// ```
    /// # use extenso_core::ops::Quantiles;
    /// assert!(Quantiles::from(0.5).value().is_ok() && Quantiles::from(1.5).value().is_err());
    /// ```
    pub fn value(&self) -> Result<Value> {
        check_within(&self.numbers, 0.0, 1.0, "q")
    }
}

impl From<f64> for Quantiles {
    fn from(q: f64) -> Quantiles {
        Quantiles { numbers: Tensor::scalar(q).into(), is_one: true }
    }
}

impl From<Vec<f64>> for Quantiles {
    fn from(numbers: Vec<f64>) -> Quantiles {
        Quantiles { numbers: Tensor::from_vec(numbers).into(), is_one: false }
    }
}

/// The quantiles of the elements along `axis`, or of all: where `q` of the way from the smallest to the largest is, on the line
/// between the two elements next to it. In f64 for integers and booleans.
///
/// Shapes: without the axis, or with one element there if `keepdims`; several quantiles are a new first axis. Errors: a number that
/// is not from 0 to 1; an axis out of range or named twice; text.
///
/// ```
/// # use extenso_core::{Tensor, attrs::Axes, ops};
/// let x = Tensor::from_vec(vec![4.0, 1.0, 3.0, 2.0]);
/// assert_eq!(ops::quantile(&x, 0.5, Axes::All, false).unwrap().to_string(), "2.5");
/// assert_eq!(ops::quantile(&x, vec![0.0, 0.1], Axes::All, false).unwrap().to_string(), "[1.0, 1.3]");
/// ```
pub fn quantile(x: impl Into<Arg>, q: impl Into<Quantiles>, axis: impl Into<Axes>, keepdims: bool) -> Result<Value> {
    let (x, q, axis) = (x.into(), q.into(), axis.into());
    x.value().and_then(|x| along(x, &q, &axis, keepdims)).map_err(|e| e.at_part("quantile"))
}

/// The median over `axis`: the quantile at one half.
///
/// Errors: as [`quantile`].
///
/// ```
/// # use extenso_core::{Tensor, attrs::Axes, ops};
/// assert_eq!(ops::median(Tensor::from_vec(vec![5, 1, 2]), Axes::All, false).unwrap().to_string(), "2.0");
/// ```
pub fn median(x: impl Into<Arg>, axis: impl Into<Axes>, keepdims: bool) -> Result<Value> {
    let (x, axis) = (x.into(), axis.into());
    x.value().and_then(|x| along(x, &0.5.into(), &axis, keepdims)).map_err(|e| e.at_part("median"))
}

/// The quantile of each row of values, as [`quantile`] of the row alone.
///
/// Errors: as [`quantile`]; several quantiles; values whose number is not the partition's.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let rows = ops::partition_from_lengths(Tensor::from_vec(vec![3_i64, 0, 1])).unwrap();
/// let medians = ops::segment_quantile(Tensor::from_vec(vec![4.0, 1.0, 3.0, 2.0]), rows, 0.5).unwrap();
/// assert_eq!(medians.to_string(), "[3.0, NaN, 2.0]");
/// ```
pub fn segment_quantile(values: impl Into<Arg>, partition: impl Into<Arg>, q: impl Into<Quantiles>) -> Result<Value> {
    let (values, partition, q) = (values.into(), partition.into(), q.into());
    values.value().and_then(|x| of_rows(x, &partition, &q)).map_err(|e| e.at_part("segment_quantile"))
}

fn along(x: &Value, q: &Quantiles, axis: &Axes, keepdims: bool) -> Result<Value> {
    let (q_value, rank) = (q.value()?, rank_of(x)?);
    let x = as_floats(x)?;
    let (lines, gone) = match axis {
        Axes::All => (reshape(x, vec![-1_i64])?, (0..rank).map(int).collect()),
        Axes::List(axes) => {
            let axes: Vec<i64> = normalize_axes(axes, rank)?.iter().map(|axis| int(*axis)).collect();
            (lines_along(x, &axes, rank)?, axes)
        }
    };
    let size = size_along(&lines, -1).ok();
    let count = match size {
        Some(n) => Tensor::scalar(int(n)).into(),
        None => sum(ones_like(indices_along(&lines, -1)?)?, Axes::All, false)?,
    };
    let mut sorted = sort(&lines, -1, false)?;
    if size.is_none_or(|n| n == 0) {
        sorted = concat(vec![sorted.clone(), nan_along(&sorted, -1)?], -1)?;
    }
    let last = maximum(subtract(count, 1)?, 0)?;
    let ends = expand_if(take(&sorted, &last, -1)?, !q.is_one)?;
    let found = between(&last, &q_value, |places| take(&sorted, places, -1), Ok)?;
    let found = where_(isnan(&ends)?, ends, found)?;
    let found = if q.is_one { found } else { moveaxis(found, vec![-1], vec![0])? };
    let shift = i64::from(!q.is_one);
    if keepdims {
        expand_dims_at(found, gone.into_iter().map(|axis| axis + shift).collect::<Vec<_>>())
    } else {
        Ok(found)
    }
}

/// The elements along some axes, which are sorted, as one last axis.
fn lines_along(x: Value, axes: &[i64], rank: usize) -> Result<Value> {
    let moved = match axes {
        [axis] if axis + 1 == int(rank) => return Ok(x),
        [] => return expand_dims(x, -1),
        axes => moveaxis(x, axes.to_vec(), last_axes(axes))?,
    };
    if axes.len() == 1 {
        return Ok(moved);
    }
    let sizes = (0..int(rank)).map(|axis| known_size(&moved, axis)).collect::<Result<Vec<Option<i64>>>>()?;
    let (kept, joined) = sizes.split_at(rank - axes.len());
    let joined = joined.iter().try_fold(1, |all: i64, size| Some(all * (*size)?)).unwrap_or(-1);
    let sizes: Vec<i64> = kept.iter().map(|size| size.unwrap_or(-1)).chain([joined]).collect();
    let open = sizes.iter().filter(|size| **size < 0).count();
    if open == 0 || open == 1 && !sizes.contains(&0) {
        return reshape(moved, sizes);
    }
    // One line for each place of the kept axes, as long as the others come to when the graph runs.
    let places = cast(sum(zeros_like(&moved)?, Axes::List(last_axes(axes)), true)?, DType::I64)?;
    let places = squeeze(places, (1 - int(axes.len())..0).collect::<Vec<_>>())?;
    let count = last_axes(axes).into_iter().try_fold(Value::from(Tensor::from_vec(vec![1_i64])), |count, axis| {
        multiply(count, sum(ones_like(indices_along(&moved, axis)?)?, Axes::All, true)?)
    })?;
    let line = places_in_rows(partition_from_lengths(count)?)?;
    reshape_like(moved, add(places, line)?)
}

/// The last axes, as many as these, counted from the end.
fn last_axes(axes: &[i64]) -> Vec<i64> {
    (-int(axes.len())..0).collect()
}

fn of_rows(x: &Value, partition: &Arg, q: &Quantiles) -> Result<Value> {
    if !q.is_one {
        return Err(Error::shape("several quantiles are given").wanted("one number"));
    }
    let (x, q) = (as_floats(x)?, q.value()?);
    let inner = rank_of(&x)?.saturating_sub(1);
    let sorted = segment_sort(&x, partition, false)?;
    // Empty rows find the NaN behind all others.
    let sorted = concat(vec![sorted.clone(), nan_along(&sorted, 0)?], 0)?;
    let (lengths, starts) = (row_lengths(partition)?, row_starts(partition)?);
    let is_empty = equal(&lengths, 0)?;
    let last = maximum(subtract(lengths, 1)?, 0)?;
    let taken = |places: Value| take(&sorted, where_(&is_empty, -1, add(&starts, places)?)?, 0);
    let wide = |weights: Value| (0..inner).try_fold(weights, |weights, _| expand_dims(weights, -1));
    let ends = taken(last.clone())?;
    where_(isnan(&ends)?, &ends, between(&last, &q, taken, wide)?)
}

/// The numbers `q` of the way from place 0 to the place `last`, on the line between the elements at the places next to there.
fn between(
    last: &Value,
    q: &Value,
    at: impl Fn(Value) -> Result<Value>,
    wide: impl Fn(Value) -> Result<Value>,
) -> Result<Value> {
    let place = multiply(cast(last, DType::F64)?, q)?;
    let below = floor(&place)?;
    let low = at(cast(&below, DType::I64)?)?;
    let high = at(cast(ceil(&place)?, DType::I64)?)?;
    let weight = wide(cast(subtract(place, below)?, dtype_of(&low)?)?)?;
    let apart = subtract(&high, &low)?;
    let from_low = add(&low, multiply(&apart, &weight)?)?;
    let rest = subtract(1, &weight)?;
    let from_high = subtract(&high, multiply(&apart, &rest)?)?;
    // The nearer end counts from, so that the line meets both; what lies between a number and an infinity is infinite.
    let line = where_(greater_equal(&weight, 0.5)?, from_high, from_low)?;
    let mixed = add(multiply(&low, rest)?, multiply(&high, weight)?)?;
    // Nor does a zero lose its sign.
    let both = maximum(abs(&low)?, abs(&high)?)?;
    let line = where_(logical_or(isinf(apart)?, equal(both, 0)?)?, mixed, line)?;
    // Both have a slope where they are equal, but where their difference is no number.
    where_(logical_and(equal(&low, high)?, isinf(&low)?)?, &low, line)
}

fn as_floats(x: &Value) -> Result<Value> {
    if dtype_of(x)?.is_float() && x.tensor().is_ok_and(|x| x.dtype().is_float()) {
        Ok(x.clone())
    } else {
        cast(x, DType::F64)
    }
}

/// One NaN along an axis.
fn nan_along(x: &Value, axis: i64) -> Result<Value> {
    full_like(sum(x, axis, true)?, f64::NAN, None)
}

fn expand_if(x: Value, wanted: bool) -> Result<Value> {
    if wanted { expand_dims(x, -1) } else { Ok(x) }
}
