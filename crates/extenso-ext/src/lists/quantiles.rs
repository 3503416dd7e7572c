//! Quantiles and counts of what lists hold, where an axis of one size has a function of the core.

use super::moves::rows_inside;
use super::{along_one, nth};
use crate::args::{answer, int, typed_ref};
use crate::axes::{is_ragged, one_row, rank};
use crate::masked::{MaskedTensor, fill_none, stretched};
use crate::mean::{counted, is_time, may_be_none};
use crate::meaning::nested::{innermost, plain, under_meaning_of};
use crate::missing::{count, drop_none, may_lack};
use crate::ragged::columns::rows_of;
use crate::ragged::{self, RaggedTensor, reduction};
use crate::specs::shape_of;
use crate::structs::masked_by;
use extenso_core::attrs::{Attrs, Axes};
use extenso_core::ops::Quantiles;
use extenso_core::reduce::{normalize_axes, normalize_axis};
use extenso_core::{Answer, Arg, Call, ExtensionType, RowPartition, Value, ops};
use extenso_types::{DType, Error, Result};

/// The quantiles of each list along `axis`, or of all elements; NaN where a list is empty.
///
/// As [`ops::quantile`], also of rows; what is missing does not count. Of times it is a time, rounded down, and missing where there is
/// nothing. Along an axis with ragged rows inside, of each column of the
/// rows. Shapes: several quantiles are a new first axis. Errors: a number that is not from 0 to 1; an axis out of range; axes of
/// rows with an axis of one size between them; text.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// # use extenso_core::attrs::{Attrs, Axes};
/// let x = constant(vec![vec![4, 1, 2], vec![3], vec![]]).unwrap();
/// let found = lists::quantile(&x, 0.25, &Axes::List(vec![1]), false).unwrap();
/// assert_eq!(to_literal(&found).unwrap().to_string(), "[1.5, 3.0, nan]");
/// ```
pub fn quantile(x: &Value, q: impl Into<Quantiles>, axis: &Axes, keepdims: bool) -> Result<Value> {
    found(x, &q.into(), axis, keepdims).map_err(|e| e.at_part("quantile"))
}

/// The median of each list along `axis`, or of all elements: the quantile at one half.
///
/// Errors: as [`quantile`].
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// # use extenso_core::attrs::{Attrs, Axes};
/// let x = constant(vec![vec![4, 1, 2], vec![3]]).unwrap();
/// let found = lists::median(&x, &Axes::List(vec![1]), false).unwrap();
/// assert_eq!(to_literal(&found).unwrap().to_string(), "[2.0, 3.0]");
/// ```
pub fn median(x: &Value, axis: &Axes, keepdims: bool) -> Result<Value> {
    found(x, &0.5.into(), axis, keepdims).map_err(|e| e.at_part("median"))
}

fn found(x: &Value, q: &Quantiles, axis: &Axes, keepdims: bool) -> Result<Value> {
    let Value::Ext(_) = x else { return ops::quantile(x, q.clone(), axis.clone(), keepdims) };
    if *axis == Axes::List(Vec::new()) {
        // Each element is one of its own.
        return found(&ops::expand_dims(x, -1)?, q, &Axes::List(vec![-1]), false);
    }
    if let Some((joined, at, axes)) = axes_joined(x, axis)? {
        let found = found(&joined, q, &Axes::List(vec![at]), false)?;
        let ahead = i64::from(!q.is_one());
        return if keepdims {
            ops::expand_dims_at(found, axes.iter().map(|at| at + ahead).collect::<Vec<_>>())
        } else {
            Ok(found)
        };
    }
    let (each, like) = (q.each()?, innermost(x));
    let each = each.iter().map(|q| match axis {
        _ if is_time(&like) => of_times(x, &like, q, axis, keepdims),
        Axes::All => of_all(x, q, keepdims),
        Axes::List(axes) => match axes[..] {
            [axis] => of_lists(x, q, axis, keepdims),
            _ if normalize_axes(axes, rank(x)?)?.len() == rank(x)? => of_all(x, q, keepdims),
            _ => Err(Error::internal("several axes are one here")),
        },
    });
    let each = each.collect::<Result<Vec<Value>>>()?;
    if q.is_one() { super::only(each) } else { ops::stack(each, 0) }
}

/// The value with several axes as one, where that is, and these axes; none of one axis, or of all.
fn axes_joined(x: &Value, axis: &Axes) -> Result<Option<(Value, i64, Vec<i64>)>> {
    let Axes::List(axes) = axis else { return Ok(None) };
    let axes = normalize_axes(axes, rank(x)?)?;
    if axes.len() < 2 || axes.len() == rank(x)? {
        return Ok(None);
    }
    let (mut together, mut x) = (axes.to_vec(), x.clone());
    // Each goes inwards until it stands beside the next.
    while let Some(i) = (1..together.len()).rev().find(|&i| together[i] > together[i - 1] + 1) {
        x = columns_first(&x, together[i - 1])?;
        together[i - 1] += 1;
    }
    let first = int(together[0]);
    let joined = together[1..].iter().try_fold(x, |x, _| ragged::flatten(x, Some(first + 1)))?;
    Ok(Some((joined, first, axes.iter().map(|&at| int(at)).collect())))
}

/// The value with an axis and the one inside it exchanged: each column of the rows has the elements of those that reach it. A row that is
/// missing reaches none.
fn columns_first(x: &Value, at: usize) -> Result<Value> {
    let rows = match typed_ref::<MaskedTensor>(x) {
        Some(masked) if typed_ref::<RaggedTensor>(masked.values()).is_none() => {
            return ops::moveaxis(x, vec![int(at)], vec![int(at + 1)]);
        }
        Some(masked) => match masked.rows_there()? {
            Some(rows) if at == 0 => rows,
            rows => {
                let rows = rows.map_or_else(|| masked.values().clone(), ExtensionType::into_value);
                return masked_by(columns_first(&rows, at)?, masked.mask());
            }
        },
        None => match typed_ref::<RaggedTensor>(x) {
            Some(rows) => rows.compact()?,
            None => return ops::moveaxis(x, vec![int(at)], vec![int(at + 1)]),
        },
    };
    if at > 1 {
        return Ok(rows.with_values(columns_first(rows.values(), at - 1)?)?.into_value());
    }
    if at == 0 {
        let columns = ragged::columns::of_groups(&one_row(&rows.clone().into_value())?, &rows)?;
        return Ok(columns.compact()?.values().clone());
    }
    // An empty row has as many columns of one size as others.
    let inner = rows_of(rows.values())?.ok_or_else(|| {
        let error = Error::shape("an axis of one size stands between the axes, and rows outside of it");
        error.wanted("one axis, axes beside each other or with rows between them, or all")
    })?;
    Ok(ragged::columns::of_groups(rows.partition(), &inner.compact()?)?.into_value())
}

/// The quantile of times as a time, rounded down to their unit: missing where there is nothing.
fn of_times(x: &Value, like: &Value, q: &Quantiles, axis: &Axes, keepdims: bool) -> Result<Value> {
    let lacking = may_be_none(x);
    let all = || -> Result<_> { Ok((there(x)?, 0, (0..rank(x)?).map(int).collect())) };
    let (x, at, kept): (Value, usize, Vec<i64>) = match axis {
        Axes::All => all()?,
        Axes::List(axes) => match axes[..] {
            [axis] => (x.clone(), normalize_axis(axis, rank(x)?)?, vec![axis]),
            _ if normalize_axes(axes, rank(x)?)?.len() == rank(x)? => all()?,
            _ => return Err(Error::internal("several axes are one here")),
        },
    };
    if at > 0
        && let Some(found) = inside(&x, at, &|x, at| of_times(x, like, q, &Axes::List(vec![int(at)]), keepdims))?
    {
        return Ok(found);
    }
    let mut counts = ops::cast(plain(&x)?, DType::I64)?;
    let (ends, mut x, mut at) = (rank(&x)? - 1, x, at);
    if at < ends {
        if (0..=ends).any(|axis| is_ragged(&x, axis)) {
            return Err(Error::value(format!("the times are ragged, and axis {at} is not the last"))
                .wanted("the last axis, or all"));
        }
        counts = ops::moveaxis(counts, vec![int(at)], vec![-1])?;
        (x, at) = (ops::moveaxis(x, vec![int(at)], vec![-1])?, ends);
    }
    let along = Axes::List(vec![int(at)]);
    let last = ops::subtract(if lacking { count(&x, along, false)? } else { counted(&x, &along, false)? }, 1)?;
    let place = ops::multiply(ops::cast(&last, DType::F64)?, q.value()?)?;
    let below = ops::floor(&place)?;
    let (sorted, default) = (ops::sort(counts, int(at), false)?, (!lacking).then(|| Arg::from(0)));
    let lower = ops::cast(&below, DType::I64)?;
    let upper = ops::minimum(ops::add(&lower, 1)?, last)?;
    let [a, b] = [lower, upper].map(|place| nth(&sorted, place, int(at), default.clone()));
    let a = a?;
    // In floats the difference is close enough, as it is rounded to a unit. That of halves does not overflow.
    let (b, half) = (b?, |x: &Value| ops::floor_divide(x, 2));
    let halves = ops::cast(ops::subtract(half(&b)?, half(&a)?)?, DType::F64)?;
    let odd = ops::cast(ops::subtract(ops::remainder(b, 2)?, ops::remainder(&a, 2)?)?, DType::F64)?;
    let beyond = ops::multiply(ops::add(ops::multiply(halves, 2.0)?, odd)?, ops::subtract(place, below)?)?;
    let found = ops::add(a, ops::cast(ops::floor(beyond)?, DType::I64)?)?;
    let dtype = crate::dtype_of(&like.spec()?).unwrap_or(DType::I64);
    let found = under_meaning_of(like, &ops::cast(found, dtype)?)?;
    if keepdims { ops::expand_dims_at(found, kept) } else { Ok(found) }
}

/// What a function of an axis makes of what is inside lists: those that are missing stay so. None if the axis is the first of lists that are all there.
fn inside(x: &Value, at: usize, f: &dyn Fn(&Value, usize) -> Result<Value>) -> Result<Option<Value>> {
    if let Some(masked) = typed_ref::<MaskedTensor>(x)
        && masked.mask_rank()? <= at
    {
        let lists = masked.rows_there()?.map_or_else(|| masked.values().clone(), ExtensionType::into_value);
        return masked_by(f(&lists, at)?, masked.mask()).map(Some);
    }
    match typed_ref::<RaggedTensor>(x) {
        Some(rows) if at > 1 => Ok(Some(rows.with_values(f(rows.values(), at - 1)?)?.into_value())),
        Some(_) | None => Ok(None),
    }
}

fn of_all(x: &Value, q: &Quantiles, keepdims: bool) -> Result<Value> {
    let found = ops::quantile(there(x)?, q.clone(), Axes::All, false)?;
    if keepdims { ops::expand_dims_at(found, (0..rank(x)?).map(int).collect::<Vec<_>>()) } else { Ok(found) }
}

/// All elements that are there, as a vector.
fn there(x: &Value) -> Result<Value> {
    match x {
        Value::Ext(_) => drop_none(&ragged::flatten(x.clone(), None)?, None),
        Value::Tensor(_) | Value::Partition(_) => ops::reshape(x, vec![-1_i64]),
    }
}

fn of_lists(x: &Value, q: &Quantiles, axis: i64, keepdims: bool) -> Result<Value> {
    let at = normalize_axis(axis, rank(x)?)?;
    if x.tensor().is_ok() {
        return ops::quantile(x, q.clone(), Axes::List(vec![axis]), keepdims);
    }
    // A list that is missing stays so, and is no list of one that is.
    if let Some(found) = inside(x, at, &|x, at| of_lists(x, q, int(at), keepdims))? {
        return Ok(found);
    }
    let found = if rows_inside(x, at, &|_| true) { of_columns(x, at, q)? } else { of_each(x, at, q)? };
    if keepdims { ops::expand_dims(found, int(at)) } else { Ok(found) }
}

/// The quantile of each list along an axis without ragged rows inside.
fn of_each(x: &Value, at: usize, q: &Quantiles) -> Result<Value> {
    // What is missing is left out of lists along the last axis.
    let (x, last) = match typed_ref::<MaskedTensor>(x) {
        Some(masked) if typed_ref::<RaggedTensor>(masked.values()).is_none() && at + 1 < rank(x)? => {
            (ops::moveaxis(x, vec![int(at)], vec![-1])?, rank(x)? - 1)
        }
        Some(_) | None => (x.clone(), at),
    };
    let x = drop_none(&x, Some(int(last)))?;
    along_one(&x, int(last), &|rows| of_segments(rows.values(), rows.partition(), q))
}

/// The quantile of each list of values; of lists of vectors of which some elements are missing, of what is there in each column.
fn of_segments(values: &Value, cut: &RowPartition, q: &Quantiles) -> Result<Value> {
    let Some(masked) = typed_ref::<MaskedTensor>(values) else { return ops::segment_quantile(values, cut, q.clone()) };
    let masked = stretched(&masked)?;
    let mask = Value::from(masked.mask().clone());
    let counts = ops::moveaxis(ops::segment_sum(ops::cast(&mask, DType::I64)?, cut)?, vec![0], vec![-1])?;
    let columns = |x: &Value| ops::moveaxis(x, vec![0], vec![-1]);
    let there = ops::boolean_mask(columns(masked.values())?, columns(&mask)?, 0)?;
    let lists = ops::partition_from_lengths(ops::reshape(&counts, vec![-1_i64])?)?;
    let found = ops::segment_quantile(there, lists, q.clone())?;
    ops::moveaxis(ops::reshape_like(found, counts)?, vec![-1], vec![0])
}

/// The quantile of each column of the rows inside an axis. Rows that are not folded stay missing.
fn of_columns(x: &Value, at: usize, q: &Quantiles) -> Result<Value> {
    if let Some(masked) = typed_ref::<MaskedTensor>(x) {
        let rows = masked.rows_there()?.map_or_else(|| masked.values().clone(), ExtensionType::into_value);
        let found = of_columns(&rows, at, q)?;
        return if at >= masked.mask_rank()? { masked_by(found, masked.mask()) } else { Ok(found) };
    }
    let rows: RaggedTensor = RaggedTensor::from_value(x)?;
    match at {
        0 => reduction::outer_rows(&|values, cut| of_lines(values, cut, q), &rows),
        1 => reduction::rows(&|values, cut| of_lines(values, cut, q), &rows),
        inner => Ok(rows.with_values(of_columns(rows.values(), inner - 1, q)?)?.into_value()),
    }
}

/// The quantile of each line that a partition cuts: of what is there of it.
fn of_lines(values: &Value, cut: &RowPartition, q: &Quantiles) -> Result<Value> {
    if let Some(rows) = typed_ref::<MaskedTensor>(values).map(|x| x.rows_there()).transpose()?.flatten() {
        let lines = RaggedTensor::from_partition(rows.into_value(), cut.clone())?;
        return reduction::rows(&|values, cut| of_lines(values, cut, q), &lines);
    }
    let lines = RaggedTensor::from_partition(values.clone(), cut.clone())?.into_value();
    of_each(&lines, 1, q)
}

/// How often each of 0, 1, 2 and so on is among all elements, or the sum of the weights beside them.
///
/// As [`ops::bincount`], also of rows; what is missing does not count, nor does its weight; a weight that is missing adds nothing. Errors: as there;
/// weights in other rows.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec![1, 3], vec![1]]).unwrap();
/// assert_eq!(to_literal(&lists::bincount(&x, None, 0).unwrap()).unwrap().to_string(), "[0, 2, 0, 1]");
/// ```
pub fn bincount(x: &Value, weights: Option<Value>, minlength: i64) -> Result<Value> {
    let counted = || match (x, weights) {
        (Value::Ext(_), None) => ops::bincount(there(x)?, None, minlength),
        (Value::Ext(_), Some(weights)) => {
            let beside = weights_beside(x, &weights).map_err(|e| e.at("weights"))?;
            ops::bincount(there(x)?, Some(there(&beside)?), minlength)
        }
        (dense, Some(weights)) => ops::bincount(dense, Some(of_what_is_there(&weights)?), minlength),
        (dense, None) => ops::bincount(dense, None, minlength),
    };
    counted().map_err(|e| e.at_part("bincount"))
}

/// The handler of `bin_counts`.
pub(crate) fn bin_counts(call: &Call<'_>) -> Answer {
    match call.args {
        [x] => answer(bincount(x.value()?, None, ops::BinCounts::of(call.attrs)?.minlength)?),
        _ => Ok(None),
    }
}

/// The weights, zero where they are missing.
fn of_what_is_there(weights: &Value) -> Result<Value> {
    if may_lack(weights) { fill_none(weights, 0) } else { Ok(weights.clone()) }
}

/// The weights in the rows of `x`, and missing where that is.
///
/// Errors: no weight for each element.
fn weights_beside(x: &Value, weights: &Value) -> Result<Value> {
    let weights = of_what_is_there(weights)?;
    if let Some(Value::Tensor(values)) = typed_ref::<MaskedTensor>(x).map(|x| x.values().clone()) {
        let (wanted, given) = (values.shape(), shape_of(&weights.spec()?));
        if !given.is_compatible_with(&wanted) {
            return Err(Error::shape(format!("the shape is {given}, and that of x {wanted}"))
                .wanted("a weight for each element"));
        }
    }
    let dtype = crate::dtype_of(&weights.spec()?).unwrap_or(DType::F64);
    ops::add(&weights, ops::zeros_like(ops::cast(x, dtype)?)?)
}
