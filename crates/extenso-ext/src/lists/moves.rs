//! Elements of lists moved, repeated and compared with their neighbours, where an axis of one size has a function of the core.

use super::counts::Counts;
use super::pick::{first_of, is_scalar};
use super::{Beside, along, along_one, count, in_shape_of, only, rows_value};
use crate::args::{int, typed_ref};
use crate::axes::{is_ragged, positions, rank, zeros_of};
use crate::masked::{MaskedTensor, without_missing_rows};
use crate::missing::{lacks_rows_alone, may_lack};
use crate::ragged::columns::{across, across_changed};
use crate::ragged::{RaggedTensor, cut_in};
use crate::structs::masked_by;
use extenso_core::attrs::Axes;
use extenso_core::reduce::normalize_axis;
use extenso_core::{Arg, ExtensionType, Value, ops};
use extenso_types::{DType, Error, Result};

/// Whether the elements along an axis have ragged rows inside, along one of the axes that count, so that lines go across rows.
pub(super) fn rows_inside(x: &Value, axis: usize, counts: &dyn Fn(usize) -> bool) -> bool {
    rank(x).is_ok_and(|rank| (axis + 1..rank).any(|inner| counts(inner) && is_ragged(x, inner)))
}

/// The lists along an axis as rows of lines across the rows inside.
pub(super) fn across_rows(x: &Value, axis: i64, f: &dyn Fn(&RaggedTensor) -> Result<Value>) -> Result<Value> {
    along_one(x, axis, &|rows| {
        let values = across(std::slice::from_ref(rows.values()), rows.partition(), &|lines, cut| {
            let made = f(&RaggedTensor::from_partition(lines[0].clone(), cut.clone())?)?;
            RaggedTensor::from_value(&made)?.values_in(cut)
        })?;
        Ok(rows.with_values(values)?.into_value())
    })
}

/// Exponentials along `axis`, divided by their sum; along an axis with ragged rows inside, column by column of the rows.
///
/// Errors: no floats, an axis out of range.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec![0.5, 1.0], vec![0.5]]).unwrap();
/// assert_eq!(to_literal(&lists::softmax(&x, 0).unwrap()).unwrap().to_string(), "[[0.5, 1.0], [0.5]]");
/// ```
pub fn softmax(x: &Value, axis: i64) -> Result<Value> {
    match rank(x).and_then(|rank| normalize_axis(axis, rank)) {
        Ok(at) if rows_inside(x, at, &|_| true) => {
            across_rows(x, int(at), &|rows| ops::softmax(rows.clone().into_value(), 1))
        }
        Ok(_) | Err(_) => ops::softmax(x, axis),
    }
}

/// The differences of neighbours along `axis`, the later less the earlier, `n` times over.
///
/// Each time a line has one element less; along an axis with ragged rows inside, lines are the columns of the rows. Errors: an `n`
/// that is negative or above 64; an axis out of range; no numbers.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec![1, 4, 9], vec![], vec![5]]).unwrap();
/// assert_eq!(to_literal(&lists::diff(&x, 1, -1).unwrap()).unwrap().to_string(), "[[3, 5], [], []]");
/// ```
pub fn diff(x: &Value, n: i64, axis: i64) -> Result<Value> {
    let differences = || {
        if !(0..=64).contains(&n) {
            return Err(Error::value(format!("n is {n}")).wanted("from 0 to 64"));
        }
        let axis = normalize_axis(axis, rank(x)?)?;
        (0..n).try_fold(x.clone(), |x, _| {
            if !rows_inside(&x, axis, &|_| true) {
                return steps(&x, int(axis));
            }
            let lines = |rows: &RaggedTensor| RaggedTensor::from_value(&steps(&rows.clone().into_value(), 1)?);
            let x = without_missing_rows(&x, axis)?;
            along_one(&x, int(axis), &|rows| Ok(across_changed(rows, &lines)?.into_value()))
        })
    };
    differences().map_err(|e| e.at_part("diff"))
}

fn steps(x: &Value, axis: i64) -> Result<Value> {
    let later = ops::slice(x, axis, 1_i64, None, 1_i64)?;
    ops::subtract(later, ops::slice(x, axis, 0_i64, Some(vec![-1]), 1_i64)?)
}

/// The `k` largest elements of each list along `axis`, the largest first, or all where a ragged list has fewer; and their positions.
///
/// Along an axis with ragged rows inside, lists are the columns of the rows, and positions are numbers of rows. Shapes: `k` is one
/// integer, or one for each list, with the axes and rows of `x` before `axis`; then all are taken where a list has fewer. Errors:
/// a negative `k`, or one above the size of a uniform axis; one that is no integer, may be missing, or has other rows; an axis out of range.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec![1, 9], vec![5], vec![3, 4]]).unwrap();
/// let (values, _) = lists::top_k(&x, 2, 0).unwrap();
/// assert_eq!(to_literal(&values).unwrap().to_string(), "[[5, 9], [3, 4]]");
/// ```
pub fn top_k(x: &Value, k: impl Into<Arg>, axis: i64) -> Result<(Value, Value)> {
    let k = k.into();
    let largest = || {
        let rank = rank(x)?;
        let at = normalize_axis(axis, rank)?;
        let k = match Counts::natural("k", &k)? {
            // One integer, now or when the graph runs.
            k @ Counts::All(_) => k,
            Counts::Data(name, k) if is_scalar(&k)? => Counts::Data(name, k),
            _ if rows_inside(x, at, &|_| true) => {
                return Err(Error::shape(format!("axis {axis} has ragged rows inside"))
                    .at("k")
                    .wanted("one integer for all its columns"));
            }
            k => {
                let first = |x: Value| first_of(&x, &k, int(at));
                return Ok((first(ops::sort(x, int(at), true)?)?, first(ops::argsort(x, int(at), true)?)?));
            }
        };
        if let Counts::All(k) = &k
            && at + 1 == rank
        {
            return ops::top_k(x, *k);
        }
        if rows_inside(x, at, &|_| true) {
            let x = &without_missing_rows(x, at)?;
            let first =
                |lines: &RaggedTensor| RaggedTensor::from_value(&k.first_of_all(&lines.clone().into_value(), 1)?);
            let part = |x: &Value| along_one(x, int(at), &|rows| Ok(across_changed(rows, &first)?.into_value()));
            let order = part(&ops::argsort(x, int(at), true)?)?;
            return Ok((part(&ops::sort(x, int(at), true)?)?, order));
        }
        let order = k.first_of_all(&ops::argsort(x, int(at), true)?, at)?;
        let order = if is_ragged(x, at) { order } else { k.checked_beside(order, x, at)? };
        Ok((ops::take_along_axis(x, &order, int(at))?, order))
    };
    largest().map_err(|e: Error| e.at_part("top_k"))
}

/// The elements moved by `shift` positions along some axes; those that leave a list at one end enter it at the other.
///
/// One shift serves all axes. Without an axis, the elements move in row-major order. Shapes: several shifts are a list, one for each
/// axis; a tensor or rows are one for each list along one axis, with the axes and rows of `x` before it. Errors: an axis out of range
/// or named twice; another number of shifts than axes; a shift that is no integer, may be missing, or has other rows.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// # use extenso_core::{Tensor, attrs::Axes};
/// let x = constant(vec![vec![1, 2, 3], vec![], vec![4, 5]]).unwrap();
/// let y = lists::roll(&x, 1, &Axes::List(vec![1])).unwrap();
/// assert_eq!(to_literal(&y).unwrap().to_string(), "[[3, 1, 2], [], [5, 4]]");
/// let y = lists::roll(&x, Tensor::from_vec(vec![-1_i64, 0, 2]), &Axes::List(vec![1])).unwrap();
/// assert_eq!(to_literal(&y).unwrap().to_string(), "[[2, 3, 1], [], [4, 5]]");
/// ```
pub fn roll(x: &Value, shift: impl Into<Arg>, axis: &Axes) -> Result<Value> {
    let shift = shift.into();
    let rolled = || {
        let shifts = match &shift {
            Arg::List(shifts) => shifts.iter().map(one_shift).collect::<Result<Vec<i64>>>()?,
            one => match (Counts::of("shift", one)?, axis) {
                (Counts::All(by), _) => vec![by],
                (each, Axes::List(axes)) if axes.len() == 1 => {
                    let rolled = only(along(x, axes[0], each.beside()?, &|rows, beside| {
                        Ok(vec![turned(rows, &each.for_each(rows, beside)?)?])
                    })?)?;
                    return in_shape_of(x, axes[0], rolled);
                }
                (Counts::Data(..), Axes::All) if matches!(one, Arg::Value(by) if is_scalar(by)?) => {
                    return in_one_list(x, &|flat| roll(flat, one.clone(), &Axes::List(vec![0])));
                }
                (Counts::Data(..), _) => {
                    return Err(Error::value("the shifts are data")
                        .at("axis")
                        .wanted("the one axis that they are for"));
                }
            },
        };
        by_axes(x, &shifts, axis)
    };
    rolled().map_err(|e| e.at_part("roll"))
}

fn one_shift(shift: &Arg) -> Result<i64> {
    match Counts::of("shift", shift)? {
        Counts::All(by) => Ok(by),
        Counts::Data(..) => Err(Error::value("a shift among several is data").at("shift").wanted("integers")),
    }
}

fn by_axes(x: &Value, shift: &[i64], axis: &Axes) -> Result<Value> {
    let Axes::List(axes) = axis else {
        return in_one_list(x, &|flat| ops::roll(flat, shift.to_vec(), 0));
    };
    let places = axes.iter().map(|&axis| normalize_axis(axis, rank(x)?)).collect::<Result<Vec<usize>>>()?;
    if !places.iter().any(|&at| is_ragged(x, at)) {
        return ops::roll(x, shift.to_vec(), axis.clone());
    }
    extenso_core::reduce::normalize_axes(axes, rank(x)?)?;
    if shift.len() != 1 && shift.len() != axes.len() {
        return Err(Error::value(format!("{} shifts are given for {} axes", shift.len(), axes.len()))
            .wanted("one shift, or one for each axis"));
    }
    let shifts = shift.iter().cycle();
    places.into_iter().zip(shifts).try_fold(x.clone(), |x, (at, &by)| {
        if is_ragged(&x, at) {
            along_one(&x, int(at), &|rows| turned(rows, &ops::add(ops::zeros_like(rows.row_lengths()?)?, by)?))
        } else {
            ops::roll(x, vec![by], int(at))
        }
    })
}

/// What a function of one list makes of all elements, in their places; rows that are missing have none, and stay so.
fn in_one_list(x: &Value, f: &dyn Fn(&Value) -> Result<Value>) -> Result<Value> {
    let there = without_missing_rows(x, 0)?;
    let made = f(&ops::reshape(&there, vec![-1_i64])?)?;
    lists_missing_as_in(x, ops::reshape_like(made, there)?)
}

/// What was made in the rows of a value that are there, without those that are missing as a whole.
fn lists_missing_as_in(x: &Value, made: Value) -> Result<Value> {
    if let Some(masked) = typed_ref::<MaskedTensor>(x)
        && let Some(rows) = masked.rows_there()?
    {
        return masked_by(lists_missing_as_in(&rows.into_value(), made)?, masked.mask());
    }
    match (typed_ref::<RaggedTensor>(x), typed_ref::<RaggedTensor>(&made)) {
        (Some(rows), Some(moved)) => {
            let values = lists_missing_as_in(rows.compact()?.values(), moved.values().clone())?;
            Ok(moved.with_values(values)?.into_value())
        }
        _ => Ok(made),
    }
}

/// The elements of each row moved in a circle, as far as `by` says for it.
fn turned(rows: &RaggedTensor, by: &Value) -> Result<Value> {
    let each = |of_row: Value| ops::gather_rows_of(of_row, rows.partition());
    let lengths = ops::maximum(rows.row_lengths()?, 1)?;
    // The shift is reduced first, so that no difference is beyond 64 bits.
    let by = each(ops::remainder(by, &lengths)?)?;
    let from = ops::remainder(ops::subtract(ops::places_in_rows(rows.partition())?, by)?, each(lengths)?)?;
    let places = ops::add(from, each(ops::row_starts(rows.partition())?)?)?;
    Ok(rows.with_values(ops::take(rows.values(), places, 0)?)?.into_value())
}

/// Each element as often as `counts` says, one after the other, along `axis`; without an axis, of all in row-major order.
///
/// Shapes: `counts` is one integer; or along a uniform axis one for each position; or, along a ragged axis and any inside another, as many as
/// there are elements, in the same rows; a list that is missing in either is missing. Errors: a negative count, one that may be missing, other
/// rows, an axis out of range, a result beyond memory.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let (x, counts) = (constant(vec![vec![7, 8], vec![9]]).unwrap(), constant(vec![vec![2, 0], vec![3]]).unwrap());
/// assert_eq!(to_literal(&lists::repeat(&x, counts, Some(1)).unwrap()).unwrap().to_string(), "[[7, 7], [9, 9, 9]]");
/// ```
pub fn repeat(x: &Value, counts: impl Into<Arg>, axis: Option<i64>) -> Result<Value> {
    let counts = counts.into();
    let at = || match &counts {
        Arg::Value(given) if may_lack(given) && !lacks_rows_alone(given) => {
            Err(Error::value("some of the counts may be missing")
                .at("counts")
                .wanted("counts that are all there")
                .hint("Write `fill_none(counts, 0)` around them."))
        }
        Arg::Value(_) | Arg::Scalar(_) | Arg::List(_) => axis.map(|axis| normalize_axis(axis, rank(x)?)).transpose(),
    };
    let at = at().map_err(|e| e.at_part("repeat"))?;
    // Counts for each list are those of its elements, whatever the axis is.
    let of_lists = matches!(&counts, Arg::Value(counts) if rank(counts).is_ok_and(|axes| axes > 1));
    let uniform = |at: &usize| !(is_ragged(x, *at) || (of_lists && *at > 0));
    if let (Some(at), Some(rows)) = (at.filter(|at| *at > 1 && uniform(at)), typed_ref::<RaggedTensor>(x)) {
        // The axis is one of what is in the rows.
        return Ok(rows.with_values(repeat(rows.values(), counts, Some(int(at - 1)))?)?.into_value());
    }
    if let (Some(at), Some(lists)) = (at.filter(uniform), typed_ref::<MaskedTensor>(x))
        && lists.mask_rank()? <= at
    {
        // Lists that are missing stay so.
        return masked_by(repeat(lists.values(), counts, Some(int(at)))?, lists.mask());
    }
    if let (Some(at), Some(lists)) = (at.filter(uniform), typed_ref::<MaskedTensor>(x))
        && lists.mask_rank()? < rank(x)?
    {
        // Lists that are missing as a whole are repeated as such.
        let first: Vec<i64> = std::iter::once(at).chain(0..at).map(int).collect();
        let places = positions(&ops::transpose(zeros_of(lists.values(), at + 1)?, Some(first))?)?;
        return ops::take(x, ops::repeat(places, counts, Some(0))?, int(at)).map_err(|e| e.at_part("repeat"));
    }
    let Some(at) = at.filter(|at| !uniform(at)) else { return ops::repeat(x, counts, axis) };
    let repeated = || {
        let beside = match &counts {
            Arg::Value(value) if rank(value)? > 0 => vec![Beside::lists("counts", value)],
            Arg::Value(_) | Arg::Scalar(_) | Arg::List(_) => Vec::new(),
        };
        only(along(x, int(at), beside, &|rows, lists| {
            let each = ops::zeros_like(ops::places_in_rows(rows.partition())?)?;
            let length = match &counts {
                Arg::Scalar(extenso_core::Scalar::Int(n)) => length_times(rows, *n),
                _ => None,
            };
            let counts = match lists {
                [lists] => {
                    let lists = typed_ref::<RaggedTensor>(lists).ok_or_else(|| Error::internal("lists are rows"))?;
                    ops::whole(lists.values_in(rows.partition()).map_err(|e| e.at("counts"))?)?
                }
                _ => ops::add(each, integer(&counts)?)?,
            };
            let cut = ops::partition_from_lengths(&counts).map_err(|e| e.at("counts"))?;
            let values = ops::gather_rows_of(rows.values(), cut)?;
            let lengths = ops::segment_sum(counts, rows.partition())?;
            Ok(vec![rows_value(values, &cut_in(lengths, length, DType::I64)?.into())?])
        })?)
    };
    repeated().map_err(|e| e.at_part("repeat"))
}

/// The length of each row that is repeated so often, where that is known.
fn length_times(rows: &RaggedTensor, n: i64) -> Option<usize> {
    rows.partition().spec().uniform_row_length?.checked_mul(usize::try_from(n).ok()?)
}

fn integer(counts: &Arg) -> Result<Arg> {
    match counts {
        Arg::Value(value) if value.tensor().is_ok_and(|tensor| tensor.dtype().is_integer()) => {
            Ok(Arg::Value(ops::whole(value)?))
        }
        Arg::Scalar(extenso_core::Scalar::Int(_)) => Ok(counts.clone()),
        Arg::Value(_) | Arg::Scalar(_) | Arg::List(_) => {
            Err(Error::dtype("the counts are no integers").at("counts").wanted("integers"))
        }
    }
}

/// The whole of each list as often as `reps` say along each axis, counted from the last.
///
/// Errors: a negative number; a result beyond memory.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec![1, 2], vec![3]]).unwrap();
/// assert_eq!(to_literal(&lists::tile(&x, &[1, 2]).unwrap()).unwrap().to_string(), "[[1, 2, 1, 2], [3, 3]]");
/// ```
pub fn tile(x: &Value, reps: &[i64]) -> Result<Value> {
    let rank = rank(x).map_err(|e| e.at_part("tile"))?;
    let ragged = |back: usize| rank.checked_sub(back).is_some_and(|at| is_ragged(x, at));
    let often: Vec<(usize, i64)> = reps.iter().rev().enumerate().map(|(i, &times)| (i + 1, times)).collect();
    if !often.iter().any(|&(back, times)| times != 1 && ragged(back)) {
        return ops::tile(x, reps.to_vec());
    }
    let plain: Vec<i64> = often.iter().rev().map(|&(back, times)| if ragged(back) { 1 } else { times }).collect();
    let tiled = || {
        for &(_, times) in &often {
            count("a repetition", times)?;
        }
        let of_rows = often.iter().filter(|&&(back, times)| times != 1 && ragged(back));
        let x = of_rows
            .into_iter()
            .try_fold(x.clone(), |x, &(back, times)| along_one(&x, int(rank - back), &|rows| again(rows, times)))?;
        ops::tile(x, plain)
    };
    tiled().map_err(|e| e.at_part("tile"))
}

/// Each row as often as `times`, one after the other.
fn again(rows: &RaggedTensor, times: i64) -> Result<Value> {
    let lengths = Value::from(rows.row_lengths()?);
    let cut = ops::partition_from_lengths(ops::add(ops::zeros_like(&lengths)?, times)?)?;
    let copies = ops::gather_rows_of(rows.clone().into_value(), &cut)?;
    let copies = RaggedTensor::from_value(&copies)?.compact()?;
    let lengths = ops::segment_sum(copies.row_lengths()?, cut)?;
    rows_value(copies.values().clone(), &cut_in(lengths, length_times(rows, times), DType::I64)?.into())
}
