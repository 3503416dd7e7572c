//! Rearrangements: compositions of the ops that join, choose and reshape. None needs a rule of its own.

use super::checks::with_size;
use super::{
    add, argwhere, broadcast_like, broadcast_to, concat, expand_dims, gather_rows_of, indices_along, maximum,
    ones_like, partition_from_lengths, remainder, reshape, reshape_like, slice, subtract, sum, take, transpose,
    value_rowids, zeros,
};
use crate::attrs::Axes;
use crate::kernels::pool::affordable;
use crate::reduce::{normalize_axes, normalize_axis};
use crate::tensor::Tensor;
use crate::value::{Arg, Scalar, Value};
use extenso_types::{DType, Error, Result, Segment, Spec, StaticValue};

/// Joins values of one shape along a new axis, which comes to stand at `axis` of the result.
///
/// Errors: no value; dtypes or shapes that differ; an axis out of range.
///
/// ```
/// # use extenso_core::{Arg, Tensor, ops};
/// let rows: Vec<Arg> = vec![Tensor::from_vec(vec![1, 2]).into(), Tensor::from_vec(vec![3, 4]).into()];
/// assert_eq!(ops::stack(rows, 1).unwrap().to_string(), "[[1, 3], [2, 4]]");
/// ```
pub fn stack(values: impl Into<Arg>, axis: i64) -> Result<Value> {
    let joined = |values: Arg| {
        let Arg::List(items) = values else { return Err(Error::dtype("found one value").wanted("a list of values")) };
        let rows: Result<Vec<Value>> = items.iter().map(|item| expand_dims(item, axis)).collect();
        concat(rows?, axis)
    };
    joined(values.into()).map_err(|e| e.at_part("stack"))
}

/// The parts of a value along `axis`, one for each position, without that axis.
///
/// Errors: an axis out of range, or of a size that is not known.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let parts = ops::unstack(Tensor::new(&[2, 2], &[1, 2, 3, 4]).unwrap(), 1).unwrap();
/// assert_eq!((parts[0].to_string(), parts[1].to_string()), ("[1, 3]".into(), "[2, 4]".into()));
/// ```
pub fn unstack(x: impl Into<Arg>, axis: i64) -> Result<Vec<Value>> {
    let parts = |x: Arg| {
        let n = size_along(x.value()?, axis)?;
        affordable(n.saturating_mul(size_of::<Value>()))?;
        (0..int(n)).map(|i| take(&x, Tensor::scalar(i), axis)).collect::<Result<Vec<Value>>>()
    };
    parts(x.into()).map_err(|e| e.at_part("unstack"))
}

/// How `split` cuts an axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sections {
    /// Into this many parts of one size.
    Equal(i64),
    /// Into parts of these sizes.
    Sizes(Vec<i64>),
}

impl From<i64> for Sections {
    fn from(count: i64) -> Sections {
        Sections::Equal(count)
    }
}

impl From<Vec<i64>> for Sections {
    fn from(sizes: Vec<i64>) -> Sections {
        Sections::Sizes(sizes)
    }
}

/// The parts of a value along `axis`: as many of one size as `sections` says, or of the sizes that it lists.
///
/// Errors: parts that do not come to the size of the axis; a negative size; an axis out of range.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let parts = ops::split(Tensor::from_vec(vec![1, 2, 3]), vec![1, 2], 0).unwrap();
/// assert_eq!((parts[0].to_string(), parts[1].to_string()), ("[1]".into(), "[2, 3]".into()));
/// ```
pub fn split(x: impl Into<Arg>, sections: impl Into<Sections>, axis: i64) -> Result<Vec<Value>> {
    let parts = |x: Arg, sections: Sections| {
        if let Some(positions) = positions_of_unknown(x.value()?, axis)? {
            let part = |places: Value| take(&x, places, axis);
            return places_of(&sections, &positions)?.into_iter().map(part).collect();
        }
        let sizes = sizes_of(&sections, size_along(x.value()?, axis)?)?;
        let mut stop = 0;
        let part = |size: i64| {
            let start = stop;
            stop += size;
            slice(&x, axis, start, Some(vec![stop]), 1)
        };
        sizes.into_iter().map(part).collect::<Result<Vec<Value>>>()
    };
    parts(x.into(), sections.into()).map_err(|e| e.at_part("split"))
}

/// The positions along an axis of which the size is not known while tracing.
pub(super) fn positions_of_unknown(x: &Value, axis: i64) -> Result<Option<Value>> {
    let at = normalize_axis(axis, rank_of(x)?)?;
    if x.tensor().is_ok() && known_size(x, axis)?.is_some() {
        return Ok(None);
    }
    let positions = indices_along(x, int(at))?;
    Ok(if known_size(&positions, 0)?.is_none() { Some(positions) } else { None })
}

/// The positions of each part; that the parts come to the size of the axis is seen when the graph runs.
fn places_of(sections: &Sections, positions: &Value) -> Result<Vec<Value>> {
    match sections {
        Sections::Equal(count) => {
            let parts = sizes_of(sections, usize::try_from((*count).max(0)).unwrap_or(0))?;
            let rows = reshape(positions, vec![*count, -1])?;
            (0..int(parts.len())).map(|i| take(&rows, Tensor::scalar(i), 0)).collect()
        }
        Sections::Sizes(sizes) => {
            // No part is left that could see whether there is something to cut.
            let total = total_of(sizes).filter(|_| !sizes.is_empty());
            let total = total.ok_or_else(|| no_sizes(sizes, "an unknown number of"))?;
            let positions =
                reshape(with_size(positions, total, "the sizes of the axis and of all parts")?, vec![total])?;
            let mut stop = 0;
            let part = |size: &i64| {
                stop += size;
                slice(&positions, 0, stop - size, Some(vec![stop]), 1)
            };
            sizes.iter().map(part).collect()
        }
    }
}

fn total_of(sizes: &[i64]) -> Option<i64> {
    sizes.iter().try_fold(0_i64, |sum, size| sum.checked_add(*size).filter(|_| *size >= 0))
}

fn no_sizes(sizes: &[i64], elements: &str) -> Error {
    Error::value(format!("the sizes are {sizes:?} for {elements} elements"))
        .wanted("sizes that are not negative and come to as many")
}

fn sizes_of(sections: &Sections, n: usize) -> Result<Vec<i64>> {
    let n = int(n);
    match sections {
        Sections::Equal(count) if *count < 1 || n % count != 0 => {
            Err(Error::value(format!("{n} elements are cut into {count} parts")).wanted("a number of equal parts"))
        }
        Sections::Equal(count) => {
            let parts = usize::try_from(*count).unwrap_or(usize::MAX);
            affordable(parts.saturating_mul(size_of::<Value>()))?;
            Ok(vec![n / count; parts])
        }
        Sections::Sizes(sizes) => {
            if total_of(sizes) == Some(n) {
                return Ok(sizes.clone());
            }
            Err(no_sizes(sizes, &n.to_string()))
        }
    }
}

/// The elements in reverse order along some axes, or along all.
///
/// Errors: an axis out of range or named twice.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// assert_eq!(ops::flip(Tensor::from_vec(vec![1, 2, 3]), 0).unwrap().to_string(), "[3, 2, 1]");
/// ```
pub fn flip(x: impl Into<Arg>, axis: impl Into<Axes>) -> Result<Value> {
    let flipped =
        |x: Value, axis: Axes| axes_of(&x, &axis)?.into_iter().try_fold(x, |x, axis| slice(x, axis, -1, None, -1));
    x.into().value().cloned().and_then(|x| flipped(x, axis.into())).map_err(|e| e.at_part("flip"))
}

/// Repetitions that are copied as they are, at most; more of them are read by their places.
const MOST_COPIES: i64 = 64;

/// The size of an axis of a tensor, if it is known.
pub(super) fn known_size(x: &Value, axis: i64) -> Result<Option<i64>> {
    let Value::Tensor(x) = x else { return Ok(None) };
    let shape = x.shape();
    let Some(dims) = shape.dims() else { return Ok(None) };
    Ok(dims[normalize_axis(axis, dims.len())?].known().and_then(|n| i64::try_from(n).ok()))
}

/// The elements moved by `shift` positions along some axes; those that leave at one end enter at the other.
///
/// One shift serves all axes. Without an axis, the elements move in row-major order. Errors: an axis out of range or named
/// twice; another number of shifts than axes.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// assert_eq!(ops::roll(Tensor::from_vec(vec![1, 2, 3]), vec![1], 0).unwrap().to_string(), "[3, 1, 2]");
/// ```
pub fn roll(x: impl Into<Arg>, shift: impl Into<Vec<i64>>, axis: impl Into<Axes>) -> Result<Value> {
    let rolled = |x: Value, shifts: Vec<i64>, axis: Axes| {
        let axes = match &axis {
            Axes::All => vec![0],
            Axes::List(axes) => axes.clone(),
        };
        if shifts.len() != 1 && shifts.len() != axes.len() {
            return Err(Error::value(format!("{} shifts are given for {} axes", shifts.len(), axes.len()))
                .wanted("one shift for each axis, or one for all"));
        }
        if axis == Axes::All {
            return reshape_like(roll_along(reshape(&x, vec![-1_i64])?, shifts[0], 0)?, x);
        }
        axes_of(&x, &axis)?;
        let pairs = axes.iter().enumerate().map(|(i, axis)| (shifts[i % shifts.len()], *axis));
        pairs.into_iter().try_fold(x, |x, (shift, axis)| roll_along(x, shift, axis))
    };
    x.into().value().cloned().and_then(|x| rolled(x, shift.into(), axis.into())).map_err(|e| e.at_part("roll"))
}

fn roll_along(x: Value, shift: i64, axis: i64) -> Result<Value> {
    if let Some(n) = known_size(&x, axis)? {
        let from = -shift.checked_rem_euclid(n).unwrap_or(0);
        // What leaves at the end stands in front.
        return match from {
            0 => Ok(x),
            _ => concat(vec![slice(&x, axis, from, None, 1)?, slice(&x, axis, 0, vec![from], 1)?], axis),
        };
    }
    let places = indices_along(&x, axis)?;
    // Of an axis without elements nothing is taken, and one serves as its size.
    let size = maximum(sum(ones_like(&places)?, Axes::All, false)?, 1)?;
    let from = subtract(places, remainder(shift, &size)?)?;
    take(x, remainder(from, size)?, axis)
}

/// The whole of `x` as often as `reps` say along each axis, counted from the last.
///
/// Errors: a negative number; a result beyond memory.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// assert_eq!(ops::tile(Tensor::from_vec(vec![1, 2]), vec![2, 2]).unwrap().to_string(), "[[1, 2, 1, 2], [1, 2, 1, 2]]");
/// ```
pub fn tile(x: impl Into<Arg>, reps: impl Into<Vec<i64>>) -> Result<Value> {
    let tiled = |mut x: Value, reps: Vec<i64>| {
        if let Some(times) = reps.iter().find(|times| **times < 0) {
            return Err(
                Error::value(format!("{times} is among the repetitions")).wanted("numbers that are not negative")
            );
        }
        // All of it is asked for before any of it is made, which is axis by axis.
        if let Some(data) = x.tensor().ok().and_then(|x| x.data().ok()) {
            let times =
                reps.iter().fold(1, |all: usize, times| all.saturating_mul(usize::try_from(*times).unwrap_or(0)));
            affordable(data.len().saturating_mul(data.dtype().width().unwrap_or(1)).saturating_mul(times))?;
        }
        for _ in rank_of(&x)?..reps.len() {
            x = expand_dims(x, 0)?;
        }
        // The last number is for the last axis.
        let from_last = reps.iter().rev().zip(1_i64..).filter(|(times, _)| **times != 1);
        from_last.into_iter().try_fold(x, |x, (times, back)| {
            // A few times are copied as they are.
            if known_size(&x, -back)?.is_some() && (1..=MOST_COPIES).contains(times) {
                return concat((0..*times).map(|_| x.clone()).collect::<Vec<_>>(), -back);
            }
            let places = indices_along(&x, -back)?;
            let again = add(expand_dims(places, 0)?, zeros(vec![*times, 1], DType::I64)?)?;
            take(x, reshape(again, vec![-1_i64])?, -back)
        })
    };
    x.into().value().cloned().and_then(|x| tiled(x, reps.into())).map_err(|e| e.at_part("tile"))
}

/// Each element as often as `counts` says, one after the other, along `axis`; without an axis, of all in row-major order.
///
/// Shapes: `counts` is one integer, or one for each position of the axis. Errors: a negative count, another number of them,
/// an axis out of range, a result beyond memory.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let counts = Tensor::from_vec(vec![2_i64, 0, 1]);
/// assert_eq!(ops::repeat(Tensor::from_vec(vec![7, 8, 9]), counts, Some(0)).unwrap().to_string(), "[7, 7, 9]");
/// ```
pub fn repeat(x: impl Into<Arg>, counts: impl Into<Arg>, axis: Option<i64>) -> Result<Value> {
    let repeated = |x: Value, counts: Arg| match axis {
        None => repeat_along(reshape(x, vec![-1_i64])?, counts, 0),
        Some(axis) => {
            let at = normalize_axis(axis, rank_of(&x)?)?;
            repeat_along(x, counts, at)
        }
    };
    x.into().value().cloned().and_then(|x| repeated(x, counts.into())).map_err(|e| e.at_part("repeat"))
}

fn repeat_along(x: Value, counts: Arg, at: usize) -> Result<Value> {
    if let Some(repeated) = repeat_evenly(&x, &counts, at)? {
        return Ok(repeated);
    }
    if at == 0 {
        return repeat_outer(x, counts);
    }
    let rank = rank_of(&x)?;
    let order = |axes: &mut dyn Iterator<Item = usize>| Some(axes.map(int).collect::<Vec<_>>());
    let outer = transpose(x, order(&mut std::iter::once(at).chain((0..rank).filter(|i| *i != at))))?;
    transpose(repeat_outer(outer, counts)?, order(&mut (1..=at).chain([0]).chain(at + 1..rank)))
}

/// The elements of numbers or booleans of known sizes, all as often as one count says: a broadcast along a new axis.
fn repeat_evenly(x: &Value, counts: &Arg, at: usize) -> Result<Option<Value>> {
    let (Value::Tensor(tensor), Arg::Scalar(Scalar::Int(count))) = (x, counts) else { return Ok(None) };
    let dims: Option<Vec<i64>> = tensor.shape().to_dims().map(|dims| dims.iter().map(|n| int(*n)).collect());
    let moves = tensor.dtype().width().is_some() || tensor.dtype() == DType::Bool;
    let (Some(mut dims), true, true) = (dims, moves, *count > 0) else { return Ok(None) };
    let Some(size) = dims[at].checked_mul(*count) else { return Ok(None) };
    let mut wide = dims.clone();
    wide.insert(at + 1, *count);
    dims[at] = size;
    let beside = broadcast_to(expand_dims(x, int(at + 1))?, wide)?;
    reshape(beside, dims).map(Some)
}

fn repeat_outer(x: Value, counts: Arg) -> Result<Value> {
    let lengths = broadcast_like(counts, indices_along(&x, 0)?)?;
    let rows = partition_from_lengths(lengths)?;
    match gather_rows_of(&x, &rows) {
        // A type that knows no rows may know positions.
        Err(error) if error.is_dispatch() => take(x, value_rowids(rows)?, 0),
        repeated => repeated,
    }
}

/// The positions of the elements that are not zero, one vector for each axis, in row-major order.
///
/// Errors: a scalar; text.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let at = ops::nonzero(Tensor::new(&[2, 2], &[0, 1, 2, 0]).unwrap()).unwrap();
/// assert_eq!((at[0].to_string(), at[1].to_string()), ("[0, 1]".into(), "[1, 0]".into()));
/// ```
pub fn nonzero(x: impl Into<Arg>) -> Result<Vec<Value>> {
    let positions = |x: Value| match rank_of(&x)? {
        0 => Err(Error::shape("the argument is a scalar").wanted("at least a vector")),
        1 => Ok(vec![reshape(argwhere(x)?, vec![-1_i64])?]),
        _ => unstack(argwhere(x)?, 1),
    };
    x.into().value().cloned().and_then(positions).map_err(|e| e.at_part("nonzero"))
}

/// The number of axes. A value of an extension type has those of the component that holds it, and one for rows around it; a type
/// whose components have further axes says its own number by the static data `rank`, as records do.
pub(super) fn rank_of(x: &Value) -> Result<usize> {
    // What is repeated like a value has its axes, where its components do not show them.
    let lent = || rank_of_spec(&broadcast_like(Tensor::scalar(0_i64), x).ok()?.spec().ok()?);
    rank_of_spec(&x.spec()?)
        .or_else(|| if matches!(x, Value::Ext(_)) { lent() } else { None })
        .ok_or_else(|| Error::shape("the rank is not known while tracing").wanted("a known rank"))
}

fn rank_of_spec(spec: &Spec) -> Option<usize> {
    match spec {
        Spec::Tensor(t) => t.shape.rank(),
        Spec::Partition(_) => None,
        Spec::Ext(ext) => {
            let mut found = ext.components.iter().filter_map(|(segment, spec)| match segment {
                Segment::Each => Some(rank_of_spec(spec)? + 1),
                Segment::Itself => rank_of_spec(spec),
                _ => None,
            });
            let said = || match ext.static_data.get("rank") {
                Some(StaticValue::Int(rank)) => usize::try_from(*rank).ok(),
                _ => None,
            };
            found.next().or_else(said)
        }
    }
}

pub(super) fn size_along(x: &Value, axis: i64) -> Result<usize> {
    let at = normalize_axis(axis, rank_of(x)?)?;
    // The positions along an axis are as many, whatever type the value has.
    let size = match x {
        Value::Tensor(_) => known_size(x, axis)?,
        Value::Partition(_) | Value::Ext(_) => known_size(&indices_along(x, int(at))?, 0)?,
    };
    size.and_then(|n| usize::try_from(n).ok()).ok_or_else(|| {
        Error::shape(format!("axis {axis} has a size that is not known while tracing")).wanted("a known size")
    })
}

/// The axes as a list, each named once.
fn axes_of(x: &Value, axes: &Axes) -> Result<Vec<i64>> {
    match axes {
        Axes::All => Ok((0..rank_of(x)?).map(int).collect()),
        Axes::List(list) => {
            if let Ok(rank) = rank_of(x) {
                normalize_axes(list, rank)?;
            }
            Ok(list.clone())
        }
    }
}

pub(super) fn int(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
