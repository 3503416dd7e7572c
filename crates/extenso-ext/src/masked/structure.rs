//! Structural ops on masked tensors: what moves values moves their mask.
//!
//! Ops along the axes that the mask has apply to both; ops inside apply to the values alone; any other op sees the mask
//! stretched to all axes of the values.

use super::{MaskedTensor, all_as_rows, trailing};
use crate::args::{answer, answer_ext, flat, int, on_value, typed, typed_arg, typed_ref};
use crate::axes::{dim, is_ragged, outer, positions, rank, witness, zeros_of};
use crate::missing::{mask, one_more};
use crate::ragged::{RaggedTensor, concat_rows, mask_by_rows, reshape_like_rows, take_by_rows};
use crate::structs::{has_rows, masked_by};
use extenso_core::attrs::{AttrSet, Attrs, Axes};
use extenso_core::ops::{OneAxis, Pad, Reshape, Slice};
use extenso_core::reduce::normalize_axis;
use extenso_core::{Answer, Arg, Call, ExtensionType, Value, call_one, ops, strengthen};
use extenso_types::{DType, Dim, Error, Result};
use std::collections::{BTreeMap, BTreeSet};

/// An op of one argument on values and mask alike.
pub(super) fn whole(call: &Call<'_>) -> Answer {
    let [x, rest @ ..] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(x) else { return Ok(None) };
    if rest.iter().any(|arg| typed_arg::<MaskedTensor>(arg).is_some()) {
        return Ok(None);
    }
    if x.mask_rank()? == 0 && rank(x.values())? > 0 {
        // A list that is missing as a whole stays so, whatever its elements would do.
        return answer_ext(inside(call, &x, rest, call.attrs)?);
    }
    answer_ext(both(call, &stretched(&x)?, rest, call.attrs)?)
}

/// The same values under a mask with all of their axes.
pub(crate) fn stretched(x: &MaskedTensor) -> Result<MaskedTensor> {
    if let Some(inner) = typed_ref::<MaskedTensor>(x.values()) {
        // What is missing as a whole is missing with all that is in it.
        let inner = stretched(&inner)?;
        let mask =
            ops::logical_and(trailing(&x.mask().clone().into(), inner.mask_rank()? - x.mask_rank()?)?, inner.mask())?;
        return MaskedTensor::new(inner.values().clone(), mask.tensor()?.clone());
    }
    if x.mask_rank()? == rank(x.values())? {
        return Ok(x.clone());
    }
    if is_ragged(x.values(), 1) {
        return Err(Error::shape("rows are missing as a whole")
            .wanted("rows that are all there")
            .hint("Write `drop_none(x, axis=0)` around them."));
    }
    let mask = ops::broadcast_like(x.wide_mask()?, x.values())?;
    MaskedTensor::new(x.values().clone(), mask.tensor()?.clone())
}

/// The op on values and mask.
pub(super) fn both(call: &Call<'_>, x: &MaskedTensor, rest: &[Arg], attrs: &dyn AttrSet) -> Result<MaskedTensor> {
    let on = |value: Arg| {
        let args: Vec<Arg> = std::iter::once(value).chain(rest.iter().cloned()).collect();
        call_one(call.op, &args, attrs)
    };
    MaskedTensor::new(on(Arg::from(x.values()))?, on(Arg::from(x.mask()))?.tensor()?.clone())
}

/// The op on the values alone.
pub(super) fn inside(call: &Call<'_>, x: &MaskedTensor, rest: &[Arg], attrs: &dyn AttrSet) -> Result<MaskedTensor> {
    let args: Vec<Arg> = std::iter::once(Arg::from(x.values())).chain(rest.iter().cloned()).collect();
    MaskedTensor::new(call_one(call.op, &args, attrs)?, x.mask().clone())
}

/// `take` picks of values and mask; where an index is missing, so is what it would pick.
pub(super) fn take(call: &Call<'_>) -> Answer {
    let [x, rest @ ..] = flat(call) else { return Ok(None) };
    if let [indices] = rest
        && let Some(indices) = typed_arg::<MaskedTensor>(indices)
    {
        return take_present(call, x, &indices);
    }
    let Some(x) = typed_arg::<MaskedTensor>(x) else { return Ok(None) };
    if rest.iter().any(|arg| typed_arg::<RaggedTensor>(arg).is_some()) {
        return take_by_rows(call);
    }
    let axis = normalize_axis(OneAxis::of(call.attrs)?.axis, rank(x.values())?)?;
    if let [Arg::Value(indices)] = rest
        && axis == 0
        && rank(indices)? > 1
        && has_rows(x.values())
    {
        // The axes of the indices come first, and behind them rows, or records with rows, that may be missing.
        let rows = RaggedTensor::of_uniform(indices)?;
        let taken = call_one(call.op, &[Arg::Value(x.into_value()), Arg::from(rows.values())], call.attrs)?;
        return answer_ext(rows.with_values(taken)?);
    }
    if let [indices] = rest
        && axis == 0
        && x.mask_rank()? == 0
        && let Some(taken) = from_a_list(&x, indices)?
    {
        return answer(taken);
    }
    along(call, &x, rest, axis, &OneAxis { axis: int(axis) })
}

/// Elements of a list that may be missing: then they are, whatever the positions. None where these are in the list as it stands.
fn from_a_list(x: &MaskedTensor, indices: &Arg) -> Result<Option<Value>> {
    let indices = match indices {
        Arg::Value(value @ Value::Tensor(_)) => ops::whole(value)?,
        Arg::Scalar(scalar) => ops::whole(strengthen(scalar, None)?)?,
        Arg::Value(Value::Partition(_) | Value::Ext(_)) | Arg::List(_) => return Ok(None),
    };
    let is_there = || Some(x.mask().data().ok()?.bits().ok()?.value(0));
    let known = indices.tensor()?.as_slice::<i64>().ok();
    let size = outer(x.values()).and_then(Dim::known).map(int);
    if is_there() == Some(true) || size.zip(known).is_some_and(|(n, known)| known.iter().all(|i| (-n..n).contains(i))) {
        return Ok(None);
    }
    // Behind the elements stands one for what is missing.
    let count = ops::sum(ops::ones_like(positions(x.values())?)?, Axes::All, false)?;
    let from_front = ops::where_(ops::less(&indices, 0)?, ops::add(&indices, &count)?, &indices)?;
    let within = ops::logical_and(ops::greater_equal(&from_front, 0)?, ops::less(&from_front, &count)?)?;
    let fits = ops::logical_or(within, ops::logical_not(x.mask())?)?;
    let from_front = ops::check_all(from_front, fits, "an index is out of range", "a position in the list")?;
    let at = ops::where_(x.mask(), from_front, count)?;
    let taken = ops::take(one_more(x.values())?, at, 0)?;
    Ok(Some(MaskedTensor::new(taken, x.mask().clone())?.into_value()))
}

/// `slice` picks of values and mask.
pub(super) fn slice(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(x) else { return Ok(None) };
    let attrs = Slice::of(call.attrs)?;
    let axis = normalize_axis(attrs.axis, rank(x.values())?)?;
    along(call, &x, &[], axis, &Slice { axis: int(axis), ..attrs.clone() })
}

/// `take` by indices of which some are missing.
///
/// Errors: an axis inside rows; the first index stands in for missing ones, so that there must be an element if an index is there.
fn take_present(call: &Call<'_>, x: &Arg, indices: &MaskedTensor) -> Answer {
    let Arg::Value(x) = x else { return Ok(None) };
    let axis = normalize_axis(OneAxis::of(call.attrs)?.axis, rank(x)?)?;
    // Nothing is taken from nothing, but for indices of which none is there.
    let none = || indices.mask().data().and_then(|mask| mask.bits()).is_ok_and(|there| there.count_set_bits() == 0);
    let x = &if axis == 0 && outer(x) == Some(Dim::Known(0)) && none() { one_more(x)? } else { x.clone() };
    let at = Arg::Value(indices.filled(0)?);
    let taken = call_one(call.op, &[Arg::from(x), at.clone()], call.attrs)?;
    if axis == 0 {
        return answer(masked_by(taken, indices.mask())?);
    }
    if typed_ref::<RaggedTensor>(&taken).is_some() {
        return Err(Error::value(format!("indices of which some are missing are given along axis {axis} of rows"))
            .wanted("axis 0, or a dense tensor")
            .hint("Write `fill_none(indices, 0)` around them."));
    }
    // The axes before are those of the value, and the mask is the same along them.
    let outer = call_one(call.op, &[Arg::Value(zeros_of(x, axis + 1)?), at], &OneAxis { axis: int(axis) })?;
    answer(masked_by(taken, ops::broadcast_like(indices.mask(), outer)?.tensor()?)?)
}

/// `reshape` of the axes that the mask has moves mask and values each: a list that is missing stays one, and does not become a list of
/// missing elements.
pub(super) fn reshape(call: &Call<'_>) -> Answer {
    let Some(x) = flat(call).first().and_then(typed_arg::<MaskedTensor>) else { return Ok(None) };
    match outer_of(&x, &Reshape::of(call.attrs)?.shape)? {
        Some((axes, outer)) => {
            let mask = ops::reshape(along_axes(&x, axes)?, outer)?;
            answer(masked_by(on_value(call, x.values())?, mask.tensor()?)?)
        }
        // Records with rows in them become rows.
        None if has_rows(x.values()) && x.mask_rank()? == rank(x.values())? => {
            let mask = on_value(call, &x.mask().clone().into())?;
            answer(masked_by(on_value(call, x.values())?, mask.tensor()?)?)
        }
        None => whole(call),
    }
}

/// How many outer axes become others, the mask's at least, and the sizes that are asked for of them; none if axes inside do not stay as they
/// are, as far as is known.
fn outer_of(x: &MaskedTensor, wanted: &[i64]) -> Result<Option<(usize, Vec<i64>)>> {
    let all = rank(x.values())?;
    let sizes: Vec<Option<i64>> =
        (0..all).map(|axis| Ok(dim(x.values(), axis)?.known().map(int))).collect::<Result<_>>()?;
    let product = |sizes: &[Option<i64>]| sizes.iter().try_fold(1_i64, |all, size| all.checked_mul((*size)?));
    for axes in x.mask_rank()?..all {
        let Some((outer, rest)) = wanted.len().checked_sub(all - axes).map(|at| wanted.split_at(at)) else { continue };
        let asked: Vec<Option<i64>> = outer.iter().map(|size| Some(*size).filter(|size| *size >= 0)).collect();
        // Where a size inside is 0, the axes outside may become any others.
        let fits = product(&sizes[..axes]).zip(product(&asked)).is_none_or(|(own, asked)| own == asked);
        if !outer.is_empty() && fits && rest.iter().zip(&sizes[axes..]).all(|(size, own)| Some(*size) == *own) {
            return Ok(Some((axes, outer.to_vec())));
        }
    }
    Ok(None)
}

/// The mask along so many axes of the values, which it has or is repeated along.
pub(super) fn along_axes(x: &MaskedTensor, axes: usize) -> Result<Value> {
    let (mask, own) = (Value::from(x.mask().clone()), x.mask_rank()?);
    if own >= axes { Ok(mask) } else { ops::broadcast_like(trailing(&mask, axes - own)?, zeros_of(x.values(), axes)?) }
}

/// `unpad_rows` is about two axes, and moves those of the mask with them.
pub(super) fn unpad_rows(call: &Call<'_>) -> Answer {
    let [x, rows] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(x) else { return Ok(None) };
    let on = |value: Value| call_one(call.op, &[Arg::Value(value), rows.clone()], call.attrs);
    answer(masked_by(on(x.values().clone())?, on(along_axes(&x, 2)?)?.tensor()?)?)
}

/// `reshape_like` moves values and mask; the second lends its shape alone, with nothing in rows that are missing.
pub(super) fn reshape_like(call: &Call<'_>) -> Answer {
    let [x, like] = flat(call) else { return Ok(None) };
    match typed_arg::<MaskedTensor>(like) {
        Some(like) => answer(call_one(call.op, &[x.clone(), Arg::Value(like.values_there()?)], call.attrs)?),
        None if typed_arg::<RaggedTensor>(like).is_some() => reshape_like_rows(call),
        None => whole(call),
    }
}

/// `check_all` holds of what is missing.
pub(super) fn check_all(call: &Call<'_>) -> Answer {
    let [x, conditions] = flat(call) else { return Ok(None) };
    let conditions = match typed_arg::<MaskedTensor>(conditions) {
        Some(masked) => Arg::Value(masked.filled(true)?),
        None => conditions.clone(),
    };
    match typed_arg::<MaskedTensor>(x) {
        Some(x) => {
            let values = call_one(call.op, &[Arg::from(x.values()), conditions], call.attrs)?;
            answer_ext(MaskedTensor::new(values, x.mask)?)
        }
        None => answer(call_one(call.op, &[x.clone(), conditions], call.attrs)?),
    }
}

/// `pad` puts values that are there around the others.
pub(super) fn pad(call: &Call<'_>) -> Answer {
    let [x, value] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(x) else { return Ok(None) };
    if let Some(rows) = x.rows_there()? {
        let padded = call_one(call.op, &[Arg::Value(rows.into_value()), value.clone()], call.attrs)?;
        return answer_ext(MaskedTensor::new(padded, x.mask().clone())?);
    }
    // A list that is missing stays so, whatever is put around its elements.
    let x = if typed_ref::<MaskedTensor>(x.values()).is_some() { stretched(&x)? } else { x };
    let (widths, axes) = (&Pad::of(call.attrs)?.widths.0, x.mask_rank()?);
    let of_mask = match widths.get(..2 * axes) {
        Some(widths) => widths.to_vec(),
        // Two widths for every axis.
        None => widths.repeat(axes),
    };
    let mask = ops::pad(x.mask(), true, of_mask)?;
    let values = call_one(call.op, &[Arg::from(x.values()), value.clone()], call.attrs)?;
    answer_ext(MaskedTensor::new(values, mask.tensor()?.clone())?)
}

/// `broadcast_like` keeps the mask of the first argument; the second lends its shape alone, with nothing in rows that are missing.
pub(super) fn broadcast_like(call: &Call<'_>) -> Answer {
    let [x, like] = flat(call) else { return Ok(None) };
    if let Some(rows) = super::rows::like(call)? {
        return answer(rows);
    }
    if let Some(like) = typed_arg::<MaskedTensor>(like) {
        return answer(call_one(call.op, &[x.clone(), Arg::Value(like.values_there()?)], call.attrs)?);
    }
    match (typed_arg::<MaskedTensor>(x), typed_arg::<RaggedTensor>(like)) {
        (Some(x), Some(rows)) => answer(over_rows(call, &x, &rows)?),
        (Some(x), None) => answer(repeated(call, &x, std::slice::from_ref(like))?),
        (None, _) => Ok(None),
    }
}

/// `broadcast_to` repeats values and mask.
pub(super) fn broadcast_to(call: &Call<'_>) -> Answer {
    let Some(x) = flat(call).first().and_then(typed_arg::<MaskedTensor>) else { return Ok(None) };
    answer(repeated(call, &x, &[])?)
}

/// Values along more axes, or longer ones; the mask stays one of the axes that it is about.
fn repeated(call: &Call<'_>, x: &MaskedTensor, rest: &[Arg]) -> Result<Value> {
    let args: Vec<Arg> = std::iter::once(Arg::from(x.values())).chain(rest.iter().cloned()).collect();
    let values = call_one(call.op, &args, call.attrs)?;
    let axes = rank(&values)? - rank(x.values())? + x.mask_rank()?;
    masked_by(values.clone(), ops::broadcast_like(x.mask(), zeros_of(&values, axes)?)?.tensor()?)
}

/// Dense values over rows: one that says that a row is missing says it of the row, and else of its elements.
fn over_rows(call: &Call<'_>, x: &MaskedTensor, rows: &RaggedTensor) -> Result<Value> {
    let over =
        |value: Value| call_one(call.op, &[Arg::Value(value), Arg::Value(rows.clone().into_value())], call.attrs);
    let values = over(x.values().clone())?;
    if rank(x.values())? == rows.rank()? && x.mask_rank()? == 1 {
        // One row stands for each of the others.
        return masked_by(values, ops::broadcast_like(x.mask(), zeros_of(&rows.clone().into_value(), 1)?)?.tensor()?);
    }
    mask(&values, &over(x.wide_mask()?)?)
}

/// `boolean_mask` picks of values and mask; in rows that it keeps, of the values alone.
pub(super) fn boolean_mask(call: &Call<'_>) -> Answer {
    let [x, Arg::Value(mask)] = flat(call) else { return Ok(None) };
    if typed_ref::<MaskedTensor>(mask).is_some() {
        return Err(mask_may_be_missing());
    }
    let Some(x) = typed_arg::<MaskedTensor>(x) else { return Ok(None) };
    let axis = normalize_axis(OneAxis::of(call.attrs)?.axis, rank(x.values())?)?;
    let (rest, about, known) = ([Arg::from(mask)], rank(mask)?, x.mask_rank()?);
    let by_rows = typed_ref::<RaggedTensor>(mask).is_some();
    let rows = match x.rows_there()? {
        // Lists of one size are rows under a mask of rows.
        None if by_rows && axis == 0 && known == 1 && about > 1 && rank(x.values())? >= about => {
            Some(crate::missing::as_rows(x.values())?.only_where(x.mask())?)
        }
        rows => rows,
    };
    if about > 1
        && let Some(rows) = rows
    {
        // What the mask has where a row is missing says nothing.
        let kept = match typed::<RaggedTensor>(mask) {
            Some(mask) => mask.only_where(x.mask())?,
            None => RaggedTensor::of_uniform(mask)?.only_where(x.mask())?,
        };
        let picked = call_one(call.op, &[Arg::Value(rows.into_value()), Arg::Value(kept.into_value())], call.attrs)?;
        return answer_ext(MaskedTensor::new(picked, x.mask().clone())?);
    }
    if axis >= known {
        return answer_ext(inside(call, &x, &rest, call.attrs)?);
    }
    if by_rows {
        return mask_by_rows(call);
    }
    let x = if axis + about > known { stretched(&x)? } else { x };
    answer_ext(both(call, &x, &rest, call.attrs)?)
}

/// What is neither kept nor left out.
pub(crate) fn mask_may_be_missing() -> Error {
    Error::value("some of the mask may be missing")
        .wanted("a mask that is all there")
        .hint("Write `fill_none(mask, False)` around it.")
}

fn along(call: &Call<'_>, x: &MaskedTensor, rest: &[Arg], axis: usize, attrs: &dyn AttrSet) -> Answer {
    let on = if axis < x.mask_rank()? { both } else { inside };
    answer_ext(on(call, x, rest, attrs)?)
}

/// Ops along row partitions move the outer axis of values and mask.
pub(super) fn along_rows(call: &Call<'_>) -> Answer {
    let [x, rest @ ..] = call.args else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(x) else { return Ok(None) };
    along(call, &x, rest, 0, call.attrs)
}

/// `pad_rows` fills rows up with values that are there.
pub(super) fn pad_rows(call: &Call<'_>) -> Answer {
    let [x, partition, fill] = call.args else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(x) else { return Ok(None) };
    let padded = |x: Arg, fill: Arg| call_one(call.op, &[x, partition.clone(), fill], call.attrs);
    let mask = padded(Arg::from(x.mask()), Arg::from(true))?;
    answer_ext(MaskedTensor::new(padded(Arg::from(x.values()), fill.clone())?, mask.tensor()?.clone())?)
}

/// `row_partition` counts the values.
pub(super) fn row_partition(call: &Call<'_>) -> Answer {
    let [splits, values] = call.args else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(values) else { return Ok(None) };
    answer(call_one(call.op, &[splits.clone(), Arg::Value(witness(x.values())?)], call.attrs)?)
}

/// `concat` joins values and masks; a part without a mask is all there.
pub(crate) fn concat(call: &Call<'_>) -> Answer {
    if let Some(joined) = super::rows::concat(call)? {
        return answer(joined);
    }
    let mut given = Vec::new();
    for arg in flat(call) {
        let Arg::Value(value) = arg else { return Ok(None) };
        given.push(value.clone());
    }
    // Elements that are missing stand in rows as others do, in whatever order the parts come.
    if given.iter().any(|part| typed_ref::<RaggedTensor>(part).is_some())
        && let Some(joined) = concat_rows(call)?
    {
        return Ok(Some(joined));
    }
    let axis = normalize_axis(OneAxis::of(call.attrs)?.axis, rank(&given[0])?)?;
    let parts: Vec<Layers> = given.iter().map(Layers::of).collect::<Result<_>>()?;
    let of_one_size = |part: &Layers| !is_ragged(&part.values, 1);
    if parts.iter().any(of_one_size) && !parts.iter().all(of_one_size) {
        // Beside rows, lists of one size are rows.
        let rows = all_as_rows(&given)?.into_iter().map(Arg::Value).collect();
        return answer(call_one(call.op, &[Arg::List(rows)], call.attrs)?);
    }
    let ranks: BTreeSet<usize> = parts.iter().flat_map(|part| part.masks.keys().copied()).collect();
    let (outer, inner): (BTreeSet<usize>, BTreeSet<usize>) = ranks.into_iter().partition(|rank| *rank <= axis);
    let rows = parts.iter().any(|part| is_ragged(&part.values, 1));
    if inner.iter().all(|&rank| rank == 1 || !rows) {
        // A list that is joined to another is there where both are.
        let whole = joined(&parts, &inner, axis)?;
        let missing = |whole: Value, rank: &usize| {
            let masks = parts.iter().filter_map(|part| part.masks.get(rank).cloned()).map(Ok);
            let mask = masks.reduce(|a, b| ops::logical_and(a?, b?)).transpose()?;
            mask.map_or(Ok(whole.clone()), |mask| masked_by(whole, mask.tensor()?))
        };
        return answer(outer.iter().rev().try_fold(whole, missing)?);
    }
    let parts: Vec<MaskedTensor> = given.iter().map(masked_of).map(|x| stretched(&x?)).collect::<Result<_>>()?;
    let values: Vec<Value> = parts.iter().map(|x| x.values().clone()).collect();
    let masks: Vec<Value> = parts.iter().map(|x| x.mask().clone().into()).collect();
    let values = ops::concat(values, int(axis))?;
    answer_ext(MaskedTensor::new(values, ops::concat(masks, int(axis))?.tensor()?.clone())?)
}

/// Parts whose masks are joined as they stand, each with those of its rank, so that a missing row is no row of missing elements.
fn joined(parts: &[Layers], ranks: &BTreeSet<usize>, axis: usize) -> Result<Value> {
    let values: Vec<Value> = parts.iter().map(|part| part.values.clone()).collect();
    let mut whole = ops::concat(values, int(axis))?;
    for &rank in ranks.iter().rev() {
        let masks: Vec<Value> = parts.iter().map(|part| part.mask(rank)).collect::<Result<_>>()?;
        whole = MaskedTensor::new(whole, ops::concat(masks, int(axis))?.tensor()?.clone())?.into_value();
    }
    Ok(whole)
}

/// A value without its masks, and these by their ranks: of rows, and of the elements in them.
pub(super) struct Layers {
    pub values: Value,
    pub masks: BTreeMap<usize, Value>,
}

impl Layers {
    pub fn of(value: &Value) -> Result<Layers> {
        let mut found = Layers { values: value.clone(), masks: BTreeMap::new() };
        while let Some(x) = typed::<MaskedTensor>(&found.values) {
            let mask: Value = x.mask().clone().into();
            let mask = match found.masks.remove(&x.mask_rank()?) {
                Some(outer) => ops::logical_and(outer, mask)?,
                None => mask,
            };
            found.masks.insert(x.mask_rank()?, mask);
            found.values = x.values().clone();
        }
        Ok(found)
    }

    /// Where lists of this rank are there, and all that they are in; none if that is everywhere.
    pub fn there(&self, rank: usize) -> Result<Option<Value>> {
        let masks = self.masks.range(..=rank).map(|(own, mask)| trailing(mask, rank - own));
        masks.reduce(|a, b| ops::logical_and(a?, b?)).transpose()
    }

    /// The mask of this rank; all is there where there is none.
    fn mask(&self, rank: usize) -> Result<Value> {
        match self.masks.get(&rank) {
            Some(mask) => Ok(mask.clone()),
            None => ops::logical_not(ops::cast(zeros_of(&self.values, rank)?, DType::Bool)?),
        }
    }
}

fn masked_of(value: &Value) -> Result<MaskedTensor> {
    typed(value).map_or_else(|| unmasked(value), Ok)
}

/// The value under a mask of its outer axis that is true everywhere.
fn unmasked(value: &Value) -> Result<MaskedTensor> {
    let none =
        rank(value)?.checked_sub(1).ok_or_else(|| Error::shape("a scalar is joined").wanted("at least a vector"))?;
    let uniform = if value.tensor().is_ok() { none + 1 } else { 1 };
    let mask = ops::logical_not(ops::cast(zeros_of(value, uniform)?, DType::Bool)?)?;
    MaskedTensor::new(value.clone(), mask.tensor()?.clone())
}
