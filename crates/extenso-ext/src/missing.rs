//! Functions of missing data: told apart, counted, made, replaced, left out, filled up.
//!
//! Invariant: null is neither zero nor empty, and no result depends on what lies under it. All are compositions of ops, so
//! that symbols are treated like values. Rows and records on the way are passed through, level by level.

mod drop;
mod pad;

pub use drop::drop_none;
pub use pad::pad_none;
pub(crate) use pad::{one_more, with_one_more};

use crate::args::typed;
use crate::axes::{outer, positions, rank, rows_of_one, zeros_of};
use crate::masked::{MaskedTensor, beside, column_along, fill_none, first_there, lists_of, missing_lists, trailing};
use crate::ragged::RaggedTensor;
use crate::ragged::columns::has_rows;
use crate::structs::{Field, StructTensor, masked_by, select};
use crate::union::UnionTensor;
use extenso_core::attrs::Axes;
use extenso_core::reduce::normalize_axis;
use extenso_core::{Arg, ExtensionType, Tensor, Value, ops};
use extenso_types::{DType, Error, Result};
use std::cmp::Ordering;
use std::sync::Arc;

/// Whether each element along `axis` is missing, in the rows of the value. Awkward Array's name.
///
/// Shapes: those of `x` down to `axis`; bool. Without an axis it is the outermost one along which something may be missing, and the last one
/// if nothing may. Lists that are missing further out stay missing.
/// Errors: an axis out of range; a value whose axes are not known; boxed values of an unknown size.
///
/// ```
/// # use extenso_ext::{constant, is_none, to_literal};
/// let x = constant(vec![Some(vec![Some(1), None]), None]).unwrap();
/// assert_eq!(is_none(&x, None).unwrap().to_string(), "[False, True]");
/// assert_eq!(to_literal(&is_none(&x, Some(1)).unwrap()).unwrap().to_string(), "[[False, True], None]");
/// ```
pub fn is_none(x: &Value, axis: Option<i64>) -> Result<Value> {
    let missing = match axis {
        None => missing_first(x),
        Some(axis) => rank(x).and_then(|rank| normalize_axis(axis, rank)).and_then(|axis| missing_along(x, axis)),
    };
    missing.map_err(|e| e.at_part("is_none"))
}

/// The value under its mask, where it has one, or where a child of a union has; an element that is missing there is so here.
fn under_mask(x: &Value) -> Result<Option<MaskedTensor>> {
    if let Some(masked) = typed::<MaskedTensor>(x) {
        return match typed::<UnionTensor>(masked.values()).map(|union| union.there()).transpose()?.flatten() {
            Some(there) => {
                let inside = MaskedTensor::new(masked.values().clone(), there)?.into_value();
                MaskedTensor::new(inside, masked.mask().clone()).map(Some)
            }
            None => Ok(Some(masked)),
        };
    }
    let there = typed::<UnionTensor>(x).map(|union| union.there()).transpose()?.flatten();
    there.map(|there| MaskedTensor::new(x.clone(), there)).transpose()
}

fn missing_first(x: &Value) -> Result<Value> {
    if let Some(masked) = under_mask(x)? {
        return ops::logical_not(masked.mask());
    }
    match typed::<RaggedTensor>(x) {
        Some(rows) => Ok(rows.with_values(missing_first(rows.values())?)?.into_value()),
        None => rank(x).and_then(|rank| none_of(x, rank)),
    }
}

fn missing_along(x: &Value, axis: usize) -> Result<Value> {
    if let Some(masked) = under_mask(x)? {
        return match masked.mask_rank()?.cmp(&(axis + 1)) {
            Ordering::Less => masked_by(missing_along(masked.values(), axis)?, masked.mask()),
            Ordering::Equal => ops::logical_not(masked.mask()),
            Ordering::Greater => none_of(x, axis + 1),
        };
    }
    match typed::<RaggedTensor>(x) {
        Some(rows) if axis > 0 => Ok(rows.with_values(missing_along(rows.values(), axis - 1)?)?.into_value()),
        _ => none_of(x, axis + 1),
    }
}

/// False for each element of the outer `axes`.
fn none_of(x: &Value, axes: usize) -> Result<Value> {
    ops::cast(zeros_of(x, axes)?, DType::Bool)
}

/// Whether each element along `axis` is there, in the rows of the value: the opposite of [`is_none`], of the same shapes.
///
/// Errors: those of [`is_none`].
///
/// ```
/// # use extenso_ext::{constant, missing::is_valid};
/// let x = constant(vec![Some(1), None, Some(3)]).unwrap();
/// assert_eq!(is_valid(&x, None).unwrap().to_string(), "[True, False, True]");
/// ```
pub fn is_valid(x: &Value, axis: Option<i64>) -> Result<Value> {
    is_none(x, axis).and_then(ops::logical_not).map_err(|e| e.at_part("is_valid"))
}

/// How many values are there, over `axis`: `sum` of ones where a value is and zeros where none is. Awkward Array's name.
///
/// Shapes: those of `sum`; i64. A record counts as one; of a list that is missing the number is missing. Errors: an axis out of range.
///
/// ```
/// # use extenso_ext::{constant, missing::count, to_literal};
/// let x = constant(vec![vec![Some(1), None], vec![], vec![Some(3)]]).unwrap();
/// assert_eq!(count(&x, 1, false).unwrap().to_string(), "[1, 0, 1]");
/// ```
pub fn count(x: &Value, axis: impl Into<Axes>, keepdims: bool) -> Result<Value> {
    ones(x).and_then(|ones| ops::sum(ones, axis, keepdims)).map_err(|e| e.at_part("count"))
}

/// One for each value that is there and zero for each that is not, as i64 or as what is true; missing lists stay so.
fn ones(x: &Value) -> Result<Value> {
    if let Some(masked) = under_mask(x)? {
        if masked.values().tensor().is_ok() && masked.mask_rank()? == rank(masked.values())? {
            return Ok(masked.mask().clone().into());
        }
        let ones = match typed::<UnionTensor>(masked.values()) {
            Some(_) => ops::add(zeros_of(masked.values(), rank(masked.values())?)?, 1)?,
            None => ones(masked.values())?,
        };
        return match masked.mask_rank()? < rank(masked.values())? {
            true => masked_by(ones, masked.mask()),
            false => ops::where_(masked.mask(), ones, 0),
        };
    }
    match typed::<RaggedTensor>(x) {
        Some(rows) => Ok(rows.with_values(ones(rows.values())?)?.into_value()),
        None => ops::add(zeros_of(x, rank(x)?)?, 1),
    }
}

/// The values where `condition` is true, and nothing elsewhere. Awkward Array's name.
///
/// Shapes: the condition has the outer axes of the values, and their rows. What is missing stays missing; where the condition
/// is missing, so is the value. Errors: a condition that is not boolean, or of other axes or rows.
///
/// ```
/// # use extenso_ext::{constant, missing::mask, to_literal};
/// let x = mask(&constant(vec![1, 2, 3]).unwrap(), &constant(vec![true, false, true]).unwrap()).unwrap();
/// assert_eq!(to_literal(&x).unwrap().to_string(), "[1, None, 3]");
/// ```
pub fn mask(x: &Value, condition: &Value) -> Result<Value> {
    where_true(x, condition).map_err(|e| e.at_part("mask"))
}

fn where_true(x: &Value, condition: &Value) -> Result<Value> {
    if let Some((x, condition, there)) = rows_there(x, condition)? {
        return masked_by(where_true(&x, &condition)?, &there);
    }
    let condition = column_along(x, &fill_none(condition, false)?)?;
    let in_rows = typed::<RaggedTensor>(&condition).is_some();
    if let Some(masked) = typed::<MaskedTensor>(x).filter(|_| in_rows) {
        return masked_by(where_true(masked.values(), &condition)?, masked.mask());
    }
    if in_rows || (typed::<RaggedTensor>(x).is_some() && rank(&condition)? > 1) {
        let rows = as_rows(x)?.compact()?;
        let inner = as_rows(&condition)?.values_in(rows.partition()).map_err(|e| e.at("condition"))?;
        return Ok(rows.with_values(where_true(rows.values(), &inner)?)?.into_value());
    }
    let there = condition.tensor().map_err(|e| e.at("condition"))?;
    let x = without_slope_under(x, &condition)?;
    let there = beside(there, &x)?;
    masked_by(x, &there)
}

/// A value and a condition that have rows, and where these are there in both; none if no row of either may be missing.
fn rows_there(x: &Value, condition: &Value) -> Result<Option<(Value, Value, Tensor)>> {
    let there = match (missing_lists(x), missing_lists(condition)) {
        (Some(x), Some(condition)) => ops::logical_and(x.mask(), condition.mask())?.tensor()?.clone(),
        (Some(one), None) | (None, Some(one)) => one.mask().clone(),
        (None, None) => return Ok(None),
    };
    let has_rows = |value: &Value| typed::<RaggedTensor>(&lists_of(value)).is_some();
    if rank(condition)? < 2 {
        return Ok(None);
    }
    if !(has_rows(x) || has_rows(condition)) {
        // A list of which nothing is known is missing.
        return Ok(missing_lists(condition).map(|lists| (x.clone(), lists.values().clone(), lists.mask().clone())));
    }
    let rows = |value: &Value| as_rows(&lists_of(value))?.only_where(&there).map(ExtensionType::into_value);
    let condition = rows(condition).map_err(|e| e.at("condition"))?;
    Ok(Some((rows(x)?, condition, there)))
}

/// The value with zeros where floats are to be missing: a slope of what lies there would be infinite or NaN for many ops, and times the
/// zero that comes from behind the mask still be no zero.
fn without_slope_under(x: &Value, there: &Value) -> Result<Value> {
    if let Some(rows) = typed::<RaggedTensor>(x) {
        let rows = rows.compact()?;
        let in_rows = ops::gather_rows_of(there, rows.partition())?;
        return Ok(rows.with_values(without_slope_under(rows.values(), &in_rows)?)?.into_value());
    }
    if let Some(masked) = typed::<MaskedTensor>(x) {
        let values = without_slope_under(masked.values(), there)?;
        return Ok(MaskedTensor::new(values, masked.mask().clone())?.into_value());
    }
    match x {
        Value::Tensor(t) if t.dtype().is_float() => {
            ops::where_(trailing(there, rank(x)?.saturating_sub(rank(there)?))?, x, 0.0)
        }
        _ => Ok(x.clone()),
    }
}

/// The values, and nothing where they are NaN. Awkward Array's name.
///
/// What is missing stays missing; of numbers that are no floats none is NaN. Errors: no numbers.
///
/// ```
/// # use extenso_ext::{constant, missing::nan_to_none, to_literal};
/// let x = nan_to_none(&constant(vec![1.0, f64::NAN]).unwrap()).unwrap();
/// assert_eq!(to_literal(&x).unwrap().to_string(), "[1.0, None]");
/// ```
pub fn nan_to_none(x: &Value) -> Result<Value> {
    ops::isnan(x)
        .and_then(ops::logical_not)
        .and_then(|there| where_true(x, &there))
        .map_err(|e| e.at_part("nan_to_none"))
}

/// Each element along `axis` as a list of one, and what is missing as an empty list. Awkward Array's name.
///
/// Shapes: one more axis, behind `axis`. Errors: an axis out of range.
///
/// ```
/// # use extenso_ext::{constant, missing::singletons, to_literal};
/// let x = singletons(&constant(vec![Some(1), None, Some(3)]).unwrap(), 0).unwrap();
/// assert_eq!(to_literal(&x).unwrap().to_string(), "[[1], [], [3]]");
/// ```
pub fn singletons(x: &Value, axis: i64) -> Result<Value> {
    drop::axis_at(axis, x).and_then(|axis| of_one(x, axis)).map_err(|e| e.at_part("singletons"))
}

fn of_one(x: &Value, axis: usize) -> Result<Value> {
    match under_mask(x)? {
        Some(masked) if axis > 0 && masked.mask_rank()? <= axis => {
            masked_by(of_one(masked.values(), axis)?, masked.mask())
        }
        _ if axis > 0 => {
            let rows = as_rows(x)?;
            Ok(rows.with_values(of_one(rows.values(), axis - 1)?)?.into_value())
        }
        Some(masked) if masked.mask_rank()? == 1 => {
            let mask = Value::from(masked.mask().clone());
            let lengths = ops::partition_from_lengths(ops::cast(&mask, DType::I64)?)?;
            let there = ops::boolean_mask(masked.values(), mask, 0)?;
            Ok(RaggedTensor::from_partition(there, lengths.partition()?.clone())?.into_value())
        }
        _ => Ok(RaggedTensor::from_partition(x.clone(), rows_of_one(x)?)?.into_value()),
    }
}

/// The first argument where its values are there, the next one where they are not, and so on. Arrow's name.
///
/// Arguments broadcast as those of `where`. A row or record that is missing is replaced as a whole; one that is there is looked
/// through, field by field and item by item. One row for all stands in for missing rows alone. An argument of which nothing may be
/// missing is the last that is looked at.
/// Errors: no argument; arguments of other dtypes, rows or fields.
///
/// ```
/// # use extenso_ext::{constant, missing::coalesce, to_literal};
/// let (x, y) = (constant(vec![Some(1), None, None]).unwrap(), constant(vec![None, Some(2), None]).unwrap());
/// let z = coalesce(&[x.into(), y.into(), 0.into()]).unwrap();
/// assert_eq!(to_literal(&z).unwrap().to_string(), "[1, 2, 0]");
/// ```
pub fn coalesce(values: &[Arg]) -> Result<Value> {
    let first = || {
        let Some((last, before)) = values.split_last() else {
            return Err(Error::value("there is no argument").wanted("at least one value"));
        };
        let mut found = last.clone();
        for x in before.iter().rev() {
            let Arg::Value(x) = x else { return Err(not_a_value()) };
            found = Arg::Value(or_else(x, &found)?);
        }
        found.value().cloned().map_err(|_| not_a_value())
    };
    first().map_err(|e| e.at_part("coalesce"))
}

fn not_a_value() -> Error {
    Error::dtype("found a number before the last argument").wanted("a value, of which some may be missing")
}

/// How many masks lie over each other.
fn masks(x: &Value) -> usize {
    typed::<MaskedTensor>(x).map_or(0, |masked| 1 + masks(masked.values()))
}

fn or_else(x: &Value, y: &Arg) -> Result<Value> {
    if !may_lack(x) {
        return Ok(x.clone());
    }
    let y = &match y {
        Arg::Value(column) => Arg::Value(column_along(x, column)?),
        Arg::Scalar(_) | Arg::List(_) => y.clone(),
    };
    if let Some(mut masked) = under_mask(x)? {
        let is_masked = |x: &Value| typed::<MaskedTensor>(x).is_some();
        if let Arg::Value(y) = y
            && (is_masked(masked.values()) || typed::<MaskedTensor>(y).is_some_and(|y| is_masked(y.values())))
            && let Some(found) = first_there(x, y)?
        {
            return Ok(found);
        }
        let beside_rows = y.value().is_ok_and(|y| has_rows(y) && rank(y).ok() == rank(x).ok());
        if beside_rows && masked.values().tensor().is_ok() && masked.mask_rank()? == 1 {
            // Lists of one size, of which some give way to lists of others.
            let rows = RaggedTensor::of_uniform(masked.values())?.into_value();
            masked = MaskedTensor::new(rows, masked.mask().clone())?;
        }
        let is_rows = typed::<RaggedTensor>(masked.values()).is_some();
        let whole = if is_rows { rows_or_else(&masked, y)? } else { masked.filled(y.clone())? };
        let for_all = is_rows && y.value().is_ok_and(|y| rank(y).ok() < rank(x).ok());
        if for_all || !may_lack(masked.values()) || typed::<UnionTensor>(masked.values()).is_some() {
            return Ok(whole);
        }
        return match typed::<MaskedTensor>(&whole) {
            // What was missing as a whole is missing in both.
            Some(inner) if inner.mask_rank()? <= masked.mask_rank()? => {
                match masks(inner.values()) <= masks(masked.values()) {
                    true => masked_by(or_else(inner.values(), y)?, inner.mask()),
                    // What is missing below is so because of the other.
                    false => Ok(whole),
                }
            }
            Some(_) | None => or_else(&whole, y),
        };
    }
    if let Some(records) = typed::<StructTensor>(x) {
        let field = |(name, value): &Field| {
            let other = field_of(y, name)?;
            Ok((name.clone(), or_else(value, &other).map_err(|e| e.at(format!("field '{name}'")))?))
        };
        let fields: Result<Vec<Field>> = records.fields().iter().map(field).collect();
        return Ok(records.with_fields(fields?)?.into_value());
    }
    let Some(rows) = typed::<RaggedTensor>(x) else { return Ok(x.clone()) };
    let rows = rows.compact()?;
    let inner = match y {
        Arg::Value(y) if rank(y)? == rows.rank()? => Arg::Value(rows_beside(&rows, y)?.values_in(rows.partition())?),
        Arg::Value(y) if rank(y)? > 0 => {
            return Err(Error::shape(format!(
                "rows of rank {} stand beside a value of rank {}",
                rows.rank()?,
                rank(y)?
            ))
            .wanted("one value for all, or the same rows"));
        }
        Arg::Value(_) | Arg::Scalar(_) | Arg::List(_) => y.clone(),
    };
    Ok(rows.with_values(or_else(rows.values(), &inner)?)?.into_value())
}

/// Whether something may be missing at some level.
pub(crate) fn may_lack(x: &Value) -> bool {
    if let Some(rows) = typed::<RaggedTensor>(x) {
        return may_lack(rows.values());
    }
    let records = typed::<StructTensor>(x);
    let in_union = || typed::<UnionTensor>(x).is_some_and(|x| x.children().iter().any(|child| may_lack(&child.values)));
    typed::<MaskedTensor>(x).is_some()
        || records.is_some_and(|x| x.fields().iter().any(|(_, field)| may_lack(field)))
        || in_union()
}

/// Whether nothing may be missing but rows as a whole.
pub(crate) fn lacks_rows_alone(x: &Value) -> bool {
    typed::<MaskedTensor>(x).is_some_and(|x| typed::<RaggedTensor>(x.values()).is_some() && !may_lack(x.values()))
}

/// Other rows, and these where one of the others is missing.
fn rows_beside(rows: &RaggedTensor, other: &Value) -> Result<RaggedTensor> {
    match missing_lists(other) {
        Some(masked) => as_rows(&rows_or_else(&masked, &Arg::Value(rows.clone().into_value()))?),
        None => as_rows(other),
    }
}

/// The field of records that stand for missing ones; one value that is no record serves every field.
fn field_of(y: &Arg, name: &Arc<str>) -> Result<Arg> {
    fn are_records(y: &Value) -> bool {
        typed::<StructTensor>(y).is_some() || typed::<MaskedTensor>(y).is_some_and(|y| are_records(y.values()))
    }
    match y {
        Arg::Value(y) if are_records(y) => select(y, name).map(Arg::Value),
        Arg::Value(_) | Arg::Scalar(_) | Arg::List(_) => Ok(y.clone()),
    }
}

/// Rows that are there, and other rows where none is.
fn rows_or_else(x: &MaskedTensor, y: &Arg) -> Result<Value> {
    let (Arg::Value(y), 1) = (y, x.mask_rank()?) else {
        return Err(Error::shape("rows are missing as a whole").wanted("rows to stand in for them"));
    };
    let places = positions(x.values())?;
    let count = ops::sum(ops::ones_like(&places)?, 0, false)?;
    let (given, wanted) = (rank(y)?, rank(x.values())?);
    let other = if given + 1 == wanted {
        // One row for all stands behind the others.
        let place = ops::where_(x.mask(), &places, &count)?;
        return ops::take(ops::concat(vec![x.values().clone(), ops::expand_dims(y, 0)?], 0)?, place, 0);
    } else if given == wanted && may_be_as_long(x.values(), y) {
        ops::add(&places, &count)?
    } else {
        return Err(Error::shape(format!("the rows have rank {wanted}, and those for missing ones {given}"))
            .wanted("as many rows, or one row for all"));
    };
    ops::take(ops::concat(vec![x.values().clone(), y.clone()], 0)?, ops::where_(x.mask(), &places, other)?, 0)
}

fn may_be_as_long(x: &Value, y: &Value) -> bool {
    outer(x).zip(outer(y)).is_some_and(|(x, y)| x.is_compatible_with(y))
}

/// The value as rows: those that it has, or those of its uniform second axis, under a mask of whatever axes.
///
/// Errors: fewer than two axes; rows that are missing as a whole.
pub(crate) fn as_rows(x: &Value) -> Result<RaggedTensor> {
    if let Some(rows) = typed(x) {
        return Ok(rows);
    }
    let Some(masked) = typed::<MaskedTensor>(x) else { return RaggedTensor::of_uniform(x) };
    if masked.mask_rank()? < 2 {
        return Err(Error::shape("rows are missing as a whole")
            .wanted("rows that are all there")
            .hint("Write `drop_none(x, axis=0)` around them."));
    }
    let rows = as_rows(masked.values())?;
    let mask = RaggedTensor::of_uniform(&masked.mask().clone().into())?.values_in(rows.partition())?;
    rows.with_values(masked_by(rows.values().clone(), mask.tensor()?)?)
}
