//! Lists moved by some places.

use super::counts::Counts;
use super::{along, in_shape_of, only, or_missing};
use crate::args::{typed, typed_ref};
use crate::axes::rank;
use crate::masked::MaskedTensor;
use crate::missing::{mask, one_more};
use crate::ragged::{RaggedTensor, flatten};
use crate::structs::{StructTensor, masked_by};
use extenso_core::reduce::normalize_axis;
use extenso_core::{Arg, ExtensionType, Tensor, Value, ops};
use extenso_types::Result;

/// The elements moved by `by` positions along `axis`, toward the end or, if it is negative, the beginning; those that leave are lost.
///
/// `value` enters, or what is missing without one. Shapes: those of `x`; `by` is one integer, or one for each list, with the axes and rows of `x`
/// before `axis`. Errors: an axis out of range; a value of another dtype or with more axes than an element; a distance that is no
/// integer, may be missing, or has other rows.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// # use extenso_core::Tensor;
/// let x = constant(vec![vec![1, 2, 3], vec![], vec![4, 5]]).unwrap();
/// let show = |y| to_literal(&y).unwrap().to_string();
/// assert_eq!(show(lists::shift(&x, 1, None, -1).unwrap()), "[[None, 1, 2], [], [None, 4]]");
/// assert_eq!(show(lists::shift(&x, -1, Some(0.into()), -1).unwrap()), "[[2, 3, 0], [], [5, 0]]");
/// let by = Tensor::from_vec(vec![1_i64, 7, -1]);
/// assert_eq!(show(lists::shift(&x, by, Some(0.into()), -1).unwrap()), "[[0, 1, 2], [], [5, 0]]");
/// ```
pub fn shift(x: &Value, by: impl Into<Arg>, value: Option<Arg>, axis: i64) -> Result<Value> {
    let moved = |by: &Counts| {
        if let (Counts::All(by), Some(lists)) = (by, lists_of_one_size(x, axis)?) {
            // A list that is missing stays so, whatever enters the others.
            return masked_by(shift(lists.values(), *by, value.clone(), axis)?, lists.mask());
        }
        match by {
            // Records have no zeros and are moved as they are, along the innermost axis.
            Counts::All(by) if !(of_records(x)? && normalize_axis(axis, rank(x)?)? + 1 == rank(x)?) => {
                ops::shift_in(x, value.clone().map_or_else(|| missing_element(x).map(Arg::from), Ok)?, axis, *by)
            }
            each @ (Counts::All(_) | Counts::Data(..)) => {
                let moved = along(x, axis, each.beside()?, &|rows, beside| {
                    Ok(vec![moved_by(rows, &each.for_each(rows, beside)?, value.as_ref())?])
                })?;
                in_shape_of(x, axis, only(moved)?)
            }
        }
    };
    Counts::of("by", &by.into()).and_then(|by| moved(&by)).map_err(|e| e.at_part("shift"))
}

/// Lists of one size of which some are missing, where the axis is in them.
fn lists_of_one_size(x: &Value, axis: i64) -> Result<Option<MaskedTensor>> {
    let axis = normalize_axis(axis, rank(x)?)?;
    let outside = |lists: &MaskedTensor| lists.mask_rank().is_ok_and(|axes| (1..=axis).contains(&axes));
    Ok(typed::<MaskedTensor>(x).filter(|x| outside(x) && typed_ref::<RaggedTensor>(x.values()).is_none()))
}

fn of_records(x: &Value) -> Result<bool> {
    let flat = flatten(x.clone(), None)?;
    let inside = typed_ref::<MaskedTensor>(&flat).map(|masked| masked.values().clone());
    Ok(typed_ref::<StructTensor>(inside.as_ref().unwrap_or(&flat)).is_some())
}

/// A scalar of the type of the elements, which is missing.
fn missing_element(x: &Value) -> Result<Value> {
    let few = ops::slice(flatten(x.clone(), None)?, 0, 0, Some(vec![1]), 1)?;
    let element = ops::take(one_more(&few)?, Tensor::scalar(0_i64), 0)?;
    mask(&element, &Tensor::bools(&[], &[false])?.into())
}

/// The elements of each row, as far as `by` says for it.
fn moved_by(rows: &RaggedTensor, by: &Value, value: Option<&Arg>) -> Result<Value> {
    let each = |of_row: Value| ops::gather_rows_of(of_row, rows.partition());
    let lengths = Value::from(rows.row_lengths()?);
    // No distance is further than the whole row, so that no sum is beyond 64 bits.
    let by = each(ops::clip(by, ops::negative(&lengths)?, &lengths)?)?;
    let from = ops::subtract(ops::places_in_rows(rows.partition())?, by)?;
    let there = ops::logical_and(ops::greater_equal(&from, 0)?, ops::less(&from, each(lengths)?)?)?;
    let starts = each(ops::row_starts(rows.partition())?)?;
    let places = ops::where_(&there, ops::add(from, starts)?, 0)?;
    let found = ops::take(rows.values(), places, 0)?;
    let values = match value {
        Some(_) => or_missing(found, &there, value)?,
        None => masked_by(found, there.tensor()?)?,
    };
    Ok(rows.with_values(values)?.into_value())
}
