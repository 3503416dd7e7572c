//! Rows of which some are missing as a whole: what ops on their axes do.
//!
//! A missing row is not joined, counted or looked into: the op is that on the others, and the row stays missing.

use super::operands::Mask;
use super::structure::along_axes;
use super::{MaskedTensor, lists_of, missing_lists, trailing};
use crate::args::{answer, answer_ext, flat, int, typed, typed_arg};
use crate::axes::{dim, is_ragged, one_row, one_size, outer, positions, rank, rows_of_one, zeros_of};
use crate::missing::mask as masked_where;
use crate::ragged::RaggedTensor;
use crate::structs::{has_rows, masked_by};
use extenso_core::attrs::Attrs;
use extenso_core::ops::{LastAxis, ManyAxes, OneAxis, Squeeze, Transpose};
use extenso_core::reduce::{normalize_axes, normalize_axis};
use extenso_core::{Answer, Arg, Call, ExtensionType, Tensor, Value, call_one, ops};
use extenso_types::{Dim, Error, Result};

/// Rows of which some are missing, if the value is that.
fn masked_rows(arg: &Arg) -> Option<MaskedTensor> {
    typed_arg::<MaskedTensor>(arg).filter(|x| typed::<RaggedTensor>(x.values()).is_some())
}

/// `expand_dims` among the axes of the mask is one of values and mask, and inside them of the values alone; outside ragged rows it
/// puts them as they are into rows.
pub(super) fn expand_dims(call: &Call<'_>) -> Answer {
    let [arg] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(arg) else { return Ok(None) };
    let axis = normalize_axis(OneAxis::of(call.attrs)?.axis, rank(x.values())? + 1)?;
    let (known, attrs) = (x.mask_rank()?, OneAxis { axis: int(axis) });
    if axis > known {
        return answer_ext(super::structure::inside(call, &x, &[], &attrs)?);
    }
    // Rows come first in a field, so that records with rows in them become rows too.
    if known == 1 && has_rows(x.values()) {
        let whole = x.into_value();
        let rows = if axis == 0 { one_row(&whole)? } else { rows_of_one(&whole)? };
        return answer_ext(RaggedTensor::from_partition(whole, rows)?);
    }
    answer_ext(super::structure::both(call, &x, &[], &attrs)?)
}

/// `expand_dims_at` puts in one axis after the other, from the outside.
pub(super) fn expand_dims_at(call: &Call<'_>) -> Answer {
    let [arg] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(arg) else { return Ok(None) };
    let axes = &ManyAxes::of(call.attrs)?.axes;
    let axes = normalize_axes(axes, rank(x.values())? + axes.len())?;
    answer(axes.iter().try_fold(x.into_value(), |x, &axis| ops::expand_dims(x, int(axis)))?)
}

/// `squeeze` drops axes of the mask from values and mask, and those inside from the values alone; of rows those inside, and the axis of
/// rows of one value each.
pub(super) fn squeeze(call: &Call<'_>) -> Answer {
    let [arg] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(arg) else { return Ok(None) };
    let axes = normalize_axes(&Squeeze::of(call.attrs)?.axis, rank(x.values())?)?;
    if masked_rows(arg).is_some() {
        let of_one = one_size(x.values(), 1) == Some(1);
        if axes.contains(&0) || (axes.contains(&1) && !of_one) {
            return Err(missing_rows());
        }
    }
    let known = x.mask_rank()?;
    let outer: Vec<i64> = axes.iter().filter(|axis| **axis < known).map(|axis| int(*axis)).collect();
    let mask = ops::squeeze(x.mask(), outer)?;
    answer(masked_by(call_one(call.op, &[Arg::from(x.values())], call.attrs)?, mask.tensor()?)?)
}

/// `transpose` moves axes inside the rows, and rows of one length; of dense values, the axes of the mask among each other and those
/// inside, as long as none of one kind takes the place of the other: then elements are missing, and not lists.
pub(super) fn transpose(call: &Call<'_>) -> Answer {
    let [arg] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(arg) else { return Ok(None) };
    let values = call_one(call.op, &[Arg::from(x.values())], call.attrs)?;
    let all = rank(x.values())?;
    let order: Vec<usize> = match &Transpose::of(call.attrs)?.axes {
        Some(axes) => axes.iter().map(|axis| normalize_axis(*axis, all)).collect::<Result<_>>()?,
        None => (0..all).rev().collect(),
    };
    if masked_rows(arg).is_some() {
        // Rows of one length that go inwards are columns, of which each has what is there.
        let at = order.iter().position(|axis| *axis == 0).unwrap_or(0);
        let mask = ops::expand_dims_at(&x.mask, (0..at).map(int).collect::<Vec<_>>())?;
        if (0..=at).all(|axis| one_size(&values, axis).is_some()) {
            let mask = ops::broadcast_like(mask, zeros_of(&values, at + 1)?)?;
            return answer(masked_by(values, mask.tensor()?)?);
        }
        let mask = Mask { mask, covers: at + 1, rank: all };
        if (1..=at).any(|axis| is_ragged(&values, axis)) {
            return answer(masked_where(&values, &ops::broadcast_like(mask.against(all)?, &values)?)?);
        }
        return answer(mask.over(values)?);
    }
    let stays = |axes: &usize| order[..*axes].iter().all(|axis| axis < axes);
    let axes = (x.mask_rank()?..=all).find(stays).unwrap_or(all);
    let mask = along_axes(&x, axes)?;
    let mask = ops::transpose(mask, Some(order[..axes].iter().map(|axis| int(*axis)).collect::<Vec<_>>()))?;
    answer(masked_by(values, mask.tensor()?)?)
}

/// `row_lengths`: a missing row has none.
pub(super) fn row_lengths(call: &Call<'_>) -> Answer {
    let [arg] = flat(call) else { return Ok(None) };
    let Some(x) = masked_rows(arg) else { return Ok(None) };
    answer_ext(MaskedTensor::new(call_one(call.op, &[Arg::from(x.values())], call.attrs)?, x.mask)?)
}

/// `broadcast_like` of rows of which some are missing, inside others.
pub(super) fn like(call: &Call<'_>) -> Result<Option<Value>> {
    let [x, like] = flat(call) else { return Ok(None) };
    let Some(rows) = x.value().ok().and_then(missing_lists) else { return Ok(None) };
    let of_one_size = masked_rows(x).is_none();
    let beside_rows = typed_arg::<RaggedTensor>(like).is_some() || masked_rows(like).is_some();
    // An axis of size 1 is repeated along rows.
    if of_one_size && (!beside_rows || dim(rows.values(), 1)? == Dim::Known(1)) {
        return Ok(None);
    }
    if rank(like.value()?)? != rank(rows.values())? {
        return if of_one_size { Ok(None) } else { Err(missing_rows()) };
    }
    let one = |value: &Value| outer(value) == Some(Dim::Known(1));
    let x = match one(rows.values()) && !one(like.value()?) {
        // One row stands for each of the others.
        true => Arg::Value(ops::take(x, ops::zeros_like(positions(like.value()?)?)?, 0)?),
        false => x.clone(),
    };
    let (args, mask) = rows_there(&[x, like.clone()])?.ok_or_else(missing_rows)?;
    Ok(Some(MaskedTensor::new(call_one(call.op, &args, call.attrs)?, mask)?.into_value()))
}

/// `linear_scan` inside rows that may be missing in either argument.
pub(super) fn recurrence(call: &Call<'_>) -> Result<Option<Value>> {
    let [x, link, rest @ ..] = call.args else { return Ok(None) };
    if !link.value().is_ok_and(|link| rank(link).is_ok_and(|rank| rank > 1)) {
        return Ok(None);
    }
    let Some((mut args, mask)) = rows_there(&[x.clone(), link.clone()])? else { return Ok(None) };
    args.extend_from_slice(rest);
    Ok(Some(MaskedTensor::new(call_one(call.op, &args, call.attrs)?, mask)?.into_value()))
}

fn missing_rows() -> Error {
    Error::shape("rows are missing as a whole")
        .wanted("rows that are all there, or axes inside the rows")
        .hint("Write `drop_none(x, axis=0)` around them.")
}

/// The arguments with nothing in rows that are missing in one of them, and which rows are there; none unless lists are missing, and one argument has
/// rows.
///
/// Errors: an argument that is no rows.
pub(crate) fn rows_there(args: &[Arg]) -> Result<Option<(Vec<Arg>, Tensor)>> {
    let has_rows = |arg: &Arg| typed_arg::<RaggedTensor>(arg).is_some() || masked_rows(arg).is_some();
    if !args.iter().any(has_rows) {
        return Ok(None);
    }
    let values: Option<Vec<Value>> = args.iter().map(|arg| arg.value().ok().cloned()).collect();
    let Some(values) = values else { return Ok(None) };
    Ok(lists_there(&values)?.map(|(values, mask)| (values.into_iter().map(Arg::Value).collect(), mask)))
}

/// The values, of which lists of one size are rows where others have rows; a list that is missing stays so.
///
/// Errors: a value without lists beside rows.
pub(crate) fn all_as_rows(values: &[Value]) -> Result<Vec<Value>> {
    let has_rows = |value: &Value| typed::<RaggedTensor>(&lists_of(value)).is_some();
    if !values.iter().any(has_rows) {
        return Ok(values.to_vec());
    }
    let as_rows = |value: &Value| {
        if has_rows(value) {
            return Ok(value.clone());
        }
        if rank(value)? < 2 {
            return Err(Error::shape("a value has no rows").wanted("rows in each argument"));
        }
        match missing_lists(value) {
            Some(lists) => {
                let rows = RaggedTensor::of_uniform(lists.values())?.only_where(lists.mask())?;
                masked_by(rows.into_value(), lists.mask())
            }
            None => Ok(RaggedTensor::of_uniform(value)?.into_value()),
        }
    };
    values.iter().map(as_rows).collect()
}

/// The values without what says that lists are missing as a whole, and which lists are there in all of them; none unless some are missing.
///
/// Lists of one size keep what lies under; where a value has rows all are rows, of which those have nothing. Errors: a value that has no lists.
pub(crate) fn lists_there(values: &[Value]) -> Result<Option<(Vec<Value>, Tensor)>> {
    let masks = values.iter().filter_map(missing_lists).map(|x| Ok(x.mask));
    let both = |a: Result<Tensor>, b: Result<Tensor>| ops::logical_and(a?, b?)?.tensor().cloned();
    let Some(mask) = masks.reduce(both).transpose()? else { return Ok(None) };
    let lists: Vec<Value> = values.iter().map(lists_of).collect();
    if lists.iter().any(|lists| rank(lists).is_ok_and(|axes| axes < 2)) {
        return Err(Error::shape("a value has no rows").wanted("rows in each argument"));
    }
    if lists.iter().all(|lists| typed::<RaggedTensor>(lists).is_none()) {
        return Ok(Some((lists, mask)));
    }
    let rows = |lists: &Value| {
        let rows = typed(lists).map_or_else(|| RaggedTensor::of_uniform(lists), Ok)?;
        rows.only_where(&mask).map(ExtensionType::into_value)
    };
    Ok(Some((lists.iter().map(rows).collect::<Result<_>>()?, mask)))
}

/// `concat` of the rows themselves: a row is there where it is in every part.
pub(super) fn concat(call: &Call<'_>) -> Result<Option<Value>> {
    let parts = flat(call);
    let Some(Arg::Value(first)) = parts.first() else { return Ok(None) };
    let axis = normalize_axis(OneAxis::of(call.attrs)?.axis, rank(first)?)?;
    let Some((parts, mask)) = (if axis > 0 { rows_there(parts)? } else { None }) else { return Ok(None) };
    Ok(Some(MaskedTensor::new(ops::concat(Arg::List(parts), int(axis))?, mask)?.into_value()))
}

/// `take_along_axis` of dense values by positions of which some are missing: vectors that are missing in either as a whole stay so.
fn taken_there(call: &Call<'_>, x: &MaskedTensor, at: &MaskedTensor) -> Result<Value> {
    let axes = x.mask_rank()?;
    if axes == at.mask_rank()? && axes <= normalize_axis(LastAxis::of(call.attrs)?.axis, rank(x.values())?)? {
        let values = call_one(call.op, &[Arg::from(x.values()), Arg::Value(at.filled(0)?)], call.attrs)?;
        let mask = ops::logical_and(x.mask(), at.mask())?;
        return Ok(MaskedTensor::new(values, mask.tensor()?.clone())?.into_value());
    }
    taken_or_missing(call, Arg::Value(x.clone().into_value()), at)
}

/// The same, missing where the position is; the first one stands in for it, so that there must be an element.
fn taken_or_missing(call: &Call<'_>, x: Arg, at: &MaskedTensor) -> Result<Value> {
    let taken = call_one(call.op, &[x, Arg::Value(at.filled(0)?)], call.attrs)?;
    Ok(MaskedTensor::new(taken, at.mask().clone())?.into_value())
}

/// `take_along_axis` inside rows; what is missing in the elements or in the positions is missing.
pub(super) fn take_along_axis(call: &Call<'_>) -> Answer {
    let [x, indices] = flat(call) else { return Ok(None) };
    let Some((args, mask)) = rows_there(&[x.clone(), indices.clone()])? else {
        let (given, at) = (x.value()?, indices.value()?);
        if (typed::<RaggedTensor>(given).is_some()) != (typed::<RaggedTensor>(at).is_some()) {
            let rows = all_as_rows(&[given.clone(), at.clone()])?.into_iter().map(Arg::Value).collect::<Vec<_>>();
            return answer(call_one(call.op, &rows, call.attrs)?);
        }
        let axis = normalize_axis(LastAxis::of(call.attrs)?.axis, rank(given)?)?;
        if let (Some(lists), Value::Tensor(_), 1.., 1..) = (missing_lists(given), at, axis, rank(at)?) {
            // A position in a list that is missing names nothing.
            let mask = trailing(&lists.mask().clone().into(), rank(at)? - 1)?;
            let args = [Arg::from(lists.values()), ops::where_(mask, at, 0)?.into()];
            return answer(masked_by(call_one(call.op, &args, call.attrs)?, lists.mask())?);
        }
        return match (typed_arg(x), typed_arg(indices)) {
            (Some(x), Some(at)) => answer(taken_there(call, &x, &at)?),
            (None, Some(at)) => answer(taken_or_missing(call, x.clone(), &at)?),
            _ => super::structure::whole(call),
        };
    };
    answer(MaskedTensor::new(call_one(call.op, &args, call.attrs)?, mask)?.into_value())
}
