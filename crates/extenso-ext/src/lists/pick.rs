//! Elements of lists by their positions: the first, the last, one for each list, parts; and lists made longer.

use super::counts::{Counts, are_integers};
use super::{Beside, along, cut_by, only, or_missing, rows_value, spread};
use crate::args::typed_ref;
use crate::axes::{rank, zeros};
use crate::masked::{MaskedTensor, fill_none};
use crate::ragged::{RaggedTensor, take_in_rows};
use extenso_core::reduce::normalize_axis;
use extenso_core::{Arg, ExtensionType, Scalar, Value, ops};
use extenso_types::{DType, Error, Result};

/// The first element of each list along `axis`; where a list is empty `default`, or missing without one.
///
/// Shapes: those of `x` without the axis. Errors: an axis out of range; a default of another dtype.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec![1, 2], vec![], vec![3]]).unwrap();
/// assert_eq!(to_literal(&lists::first(&x, -1, None).unwrap()).unwrap().to_string(), "[1, None, 3]");
/// ```
pub fn first(x: &Value, axis: i64, default: Option<Arg>) -> Result<Value> {
    by_position(x, &Arg::from(0_i64), axis, default).map_err(|e| e.at_part("first"))
}

/// The last element of each list along `axis`; where a list is empty `default`, or missing without one.
///
/// Shapes and errors: as [`first`].
pub fn last(x: &Value, axis: i64, default: Option<Arg>) -> Result<Value> {
    by_position(x, &Arg::from(-1_i64), axis, default).map_err(|e| e.at_part("last"))
}

/// The element at `index` of each list along `axis`, from the end if it is negative; where a list is short `default`, or missing
/// without one.
///
/// Shapes: `index` is one integer, or one for each list, with the axes and rows of `x` before `axis`; the result has those of `x`
/// without the axis. An index that is missing is in no list. Errors: an axis out of range; an index that is no integer, or has other rows; a default of another dtype.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// # use extenso_core::{Arg, Tensor};
/// let x = constant(vec![vec![1, 2], vec![], vec![3]]).unwrap();
/// let index = Tensor::from_vec(vec![1_i64, 0, -1]);
/// assert_eq!(to_literal(&lists::nth(&x, index, 1, Some(Arg::from(0))).unwrap()).unwrap().to_string(), "[2, 0, 3]");
/// ```
pub fn nth(x: &Value, index: impl Into<Arg>, axis: i64, default: Option<Arg>) -> Result<Value> {
    by_position(x, &index.into(), axis, default).map_err(|e| e.at_part("nth"))
}

fn by_position(x: &Value, index: &Arg, axis: i64, default: Option<Arg>) -> Result<Value> {
    if let Arg::Value(value) = index
        && let Some(masked) = typed_ref::<MaskedTensor>(value)
        && (normalize_axis(axis, rank(x)?)? < 2 || typed_ref::<RaggedTensor>(masked.values()).is_none())
    {
        // No list is so long.
        let index = fill_none(&ops::whole(masked.into_owned().into_value())?, i64::MAX)?;
        return by_position(x, &index.into(), axis, default);
    }
    let beside = match index {
        Arg::Scalar(Scalar::Int(_)) => Vec::new(),
        Arg::Value(value) if is_scalar(value)? => Vec::new(),
        Arg::Value(value) => vec![Beside::each("index", ops::whole(value).map_err(|e| e.at("index"))?)],
        Arg::Scalar(_) | Arg::List(_) => return Err(no_index()),
    };
    if let Arg::Value(value) = index
        && !are_integers(value)
    {
        return Err(no_index());
    }
    only(along(x, axis, beside, &|rows, index_of_each| {
        let lengths = Value::from(rows.row_lengths()?);
        let (at, there) = match (index, index_of_each) {
            // What is known now needs no test in each list.
            (Arg::Scalar(Scalar::Int(i)), _) if *i >= 0 => (Arg::from(*i), ops::greater(lengths, *i)?),
            (Arg::Scalar(Scalar::Int(i)), _) => {
                (ops::add(&lengths, *i)?.into(), ops::greater_equal(lengths, i.saturating_neg())?)
            }
            (_, [each]) => {
                // No list is as long as what is missing says.
                let each = fill_none(each, i64::MAX)?;
                placed(ops::add(each, ops::zeros_like(&lengths)?).map_err(|e| e.at("index"))?, lengths)?
            }
            _ => placed(ops::add(ops::zeros_like(&lengths)?, as_i64(index)?)?, lengths)?,
        };
        let places = ops::boolean_mask(ops::add(ops::row_starts(rows.partition())?, at)?, &there, 0)?;
        let cut = cut_by(ops::cast(&there, DType::I64)?)?;
        let found = spread(&ops::take(rows.values(), places, 0)?, &cut)?;
        Ok(vec![or_missing(found, &there, default.as_ref())?])
    })?)
}

/// Where the element at the index of each list stands, and whether it is there.
fn placed(index: Value, lengths: Value) -> Result<(Arg, Value)> {
    let at = ops::where_(ops::less(&index, 0)?, ops::add(&index, &lengths)?, index)?;
    let there = ops::logical_and(ops::greater_equal(&at, 0)?, ops::less(&at, lengths)?)?;
    Ok((at.into(), there))
}

fn no_index() -> Error {
    Error::dtype("the index is no integer").at("index").wanted("one integer, or one for each list")
}

pub(super) fn is_scalar(value: &Value) -> Result<bool> {
    Ok(value.tensor().is_ok() && rank(value)? == 0)
}

fn as_i64(index: &Arg) -> Result<Arg> {
    match index {
        Arg::Value(value) => Ok(Arg::Value(ops::whole(value)?)),
        Arg::Scalar(_) | Arg::List(_) => Ok(index.clone()),
    }
}

/// The first `n` elements of each list along `axis`, or all where there are fewer.
///
/// Shapes: `n` is one integer, or one for each list, with the axes and rows of `x` before `axis`. Errors: a negative `n`; one that is no
/// integer, may be missing, or has other rows; an axis out of range.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// # use extenso_core::Tensor;
/// let x = constant(vec![vec![1, 2, 3], vec![], vec![4]]).unwrap();
/// assert_eq!(to_literal(&lists::head(&x, 2, -1).unwrap()).unwrap().to_string(), "[[1, 2], [], [4]]");
/// let n = Tensor::from_vec(vec![1_i64, 5, 0]);
/// assert_eq!(to_literal(&lists::head(&x, n, -1).unwrap()).unwrap().to_string(), "[[1], [], []]");
/// ```
pub fn head(x: &Value, n: impl Into<Arg>, axis: i64) -> Result<Value> {
    Counts::natural("n", &n.into()).and_then(|n| first_of(x, &n, axis)).map_err(|e| e.at_part("head"))
}

pub(super) fn first_of(x: &Value, n: &Counts, axis: i64) -> Result<Value> {
    match n {
        Counts::All(n) => ops::slice(x, axis, 0_i64, Some(vec![*n]), 1_i64),
        Counts::Data(..) => part_of_each(x, n, axis, &|_, _, start| Ok(start)),
    }
}

/// The last `n` elements of each list along `axis`, or all where there are fewer.
///
/// Shapes and errors: as [`head`].
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec![1, 2, 3], vec![], vec![4]]).unwrap();
/// assert_eq!(to_literal(&lists::tail(&x, 2, -1).unwrap()).unwrap().to_string(), "[[2, 3], [], [4]]");
/// ```
pub fn tail(x: &Value, n: impl Into<Arg>, axis: i64) -> Result<Value> {
    let part = |n: &Counts| match n {
        // The last none would be a slice from the beginning.
        Counts::All(0) => ops::slice(x, axis, 0_i64, Some(vec![0]), 1_i64),
        Counts::All(n) => ops::slice(x, axis, -n, None, 1_i64),
        Counts::Data(..) => {
            part_of_each(x, n, axis, &|lengths, kept, start| ops::add(start, ops::subtract(lengths, kept)?))
        }
    };
    Counts::natural("n", &n.into()).and_then(|n| part(&n)).map_err(|e| e.at_part("tail"))
}

/// As many neighbours of each list as `n` says, from where `from` says by the lengths, what is kept of them, and the starts of lists.
fn part_of_each(
    x: &Value,
    n: &Counts,
    axis: i64,
    from: &dyn Fn(&Value, &Value, Value) -> Result<Value>,
) -> Result<Value> {
    only(along(x, axis, n.beside()?, &|rows, beside| {
        let lengths = Value::from(rows.row_lengths()?);
        let kept = n.not_negative(ops::minimum(&lengths, n.for_each(rows, beside)?)?)?;
        let start = from(&lengths, &kept, ops::row_starts(rows.partition())?)?;
        let cut = cut_by(kept)?;
        let places = ops::add(ops::gather_rows_of(start, &cut)?, ops::places_in_rows(&cut)?)?;
        Ok(vec![rows_value(ops::take(rows.values(), places, 0)?, &cut)?])
    })?)
}

/// The elements of each list along `axis` at `indices`, which say positions for each list; negative ones count from its end.
///
/// Shapes: `indices` have the axes and rows of `x` before `axis`, and one more; the result has their rows there. Errors: other
/// rows; a position outside its list; an axis out of range.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec![1, 2, 3], vec![4]]).unwrap();
/// let at = constant(vec![vec![-1, 0, 0], vec![]]).unwrap();
/// assert_eq!(to_literal(&lists::take_per_row(&x, &at, 1).unwrap()).unwrap().to_string(), "[[3, 1, 1], []]");
/// ```
pub fn take_per_row(x: &Value, indices: &Value, axis: i64) -> Result<Value> {
    let taken = || match normalize_axis(axis, rank(x)?)? {
        0 => ops::take(x, indices, 0),
        axis if rank(indices)? != axis + 1 => Err(Error::shape(format!("the indices have rank {}", rank(indices)?))
            .at("indices")
            .wanted(format!("the {axis} axes before the axis, and one more"))),
        axis => take_in_rows(x, indices, axis),
    };
    taken().map_err(|e| e.at_part("take_per_row"))
}

/// Each list along `axis` with at least `length` elements: `value` is put behind shorter ones, or what is missing without one.
///
/// With `crop`, longer lists lose their end, so that all have `length` elements. Shapes: `length` is one integer, or one for each list,
/// with the axes and rows of `x` before `axis`. Errors: a negative length; one that is no integer, may be missing, or has other rows; a
/// value of another dtype; an axis out of range; more elements than memory holds.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec![1, 2, 3], vec![], vec![4]]).unwrap();
/// let y = lists::pad_to(&x, 2, None, -1, false).unwrap();
/// assert_eq!(to_literal(&y).unwrap().to_string(), "[[1, 2, 3], [None, None], [4, None]]");
/// ```
pub fn pad_to(x: &Value, length: impl Into<Arg>, value: Option<Arg>, axis: i64, crop: bool) -> Result<Value> {
    let padded = |wanted: &Counts| {
        let x = if crop { first_of(x, wanted, axis)? } else { x.clone() };
        only(along(&x, axis, wanted.beside()?, &|rows, beside| {
            let lengths = Value::from(rows.row_lengths()?);
            let slots = cut_by(ops::maximum(&lengths, wanted.not_negative(wanted.for_each(rows, beside)?)?)?)?;
            let there = ops::less(ops::places_in_rows(&slots)?, ops::gather_rows_of(lengths, &slots)?)?;
            let found = spread(rows.values(), &cut_by(ops::cast(&there, DType::I64)?)?)?;
            Ok(vec![rows_value(or_missing(found, &there, value.as_ref())?, &slots)?])
        })?)
    };
    Counts::natural("length", &length.into()).and_then(|n| padded(&n)).map_err(|e| e.at_part("pad_to"))
}

/// Values of which some may be missing, with which are there; all where none can be missing.
pub(super) fn parts(x: &Value) -> Result<(Value, Option<Value>)> {
    match typed_ref::<MaskedTensor>(x) {
        Some(masked) => Ok((masked.values().clone(), Some(masked.wide_mask()?))),
        None => Ok((x.clone(), None)),
    }
}

/// As many zeros as the value's outer axis is long, or another number.
pub(super) fn filled_like(x: &Value, number: i64) -> Result<Value> {
    ops::add(zeros(x)?, number)
}
