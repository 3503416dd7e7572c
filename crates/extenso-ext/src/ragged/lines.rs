//! Ops on lines along an axis of ragged tensors: orders, positions, running folds, moves.
//!
//! Along axis 1 a line is a row; along an axis inside the rows the op is left to the values. Along an axis that has ragged rows
//! inside, they go column by column ([`columns`](super::columns)). Ops that would have to move elements between rows of different
//! lengths say so.

use super::columns::{across, extreme_across, extreme_in, has_rows, numbered, rows_of, take_across};
use super::{RaggedTensor, take_in_rows};
use crate::args::{answer, answer_ext, flat, int, typed, typed_arg};
use crate::axes::{dim, one_row, rank};
use crate::masked::MaskedTensor;
use crate::structs::masked_by;
use extenso_core::attrs::{AttrSet, Attrs, Axes, NoAttrs};
use extenso_core::ops::TopK;
use extenso_core::ops::{
    ArgExtreme, Cumulative, LastAxis, LinearScan, OneAxis, RowScan, RowShift, RowSort, Shift, Sort,
};
use extenso_core::reduce::normalize_axis;
use extenso_core::{Answer, Arg, Call, ExtensionType, OpDef, RowPartition, Tensor, Value, call_one, ops};
use extenso_types::{Error, Result};

/// `sort` orders each row.
pub(super) fn sort(call: &Call<'_>) -> Answer {
    let Sort { axis, descending } = *Sort::of(call.attrs)?;
    along(call, axis, &|axis| Box::new(Sort { axis, descending }), &|x, rows| {
        across(std::slice::from_ref(x), rows, &|lines, rows| ops::segment_sort(&lines[0], rows, descending))
    })
}

/// `argsort` gives positions along the axis.
pub(super) fn argsort(call: &Call<'_>) -> Answer {
    let Sort { axis, descending } = *Sort::of(call.attrs)?;
    along(call, axis, &|axis| Box::new(Sort { axis, descending }), &|x, rows| {
        let Some(inner) = rows_of(x)? else { return order_of(x, rows, descending) };
        // Not every row reaches a column: the position in it is not the number of the row.
        let numbers = numbered(ops::places_in_rows(rows)?, &inner)?;
        across(&[x.clone(), numbers], rows, &|lines, rows| {
            let places = ops::places_by_row(order_of(&lines[0], rows, descending)?, rows, rows)?;
            ops::take_along_axis(&lines[1], places, 0)
        })
    })
}

fn order_of(values: &Value, rows: &RowPartition, descending: bool) -> Result<Value> {
    call_one(&ops::SEGMENT_ARGSORT, &[Arg::from(values), rows.into()], &RowSort { descending })
}

/// `top_k_indices` gives the positions of the `k` largest of each row, or of all where there are fewer.
pub(super) fn top_k(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(x) else { return Ok(None) };
    let k = TopK::of(call.attrs)?.k;
    if k < 0 {
        return Err(Error::value(format!("k is {k}")).wanted("a number that is not negative"));
    }
    if x.rank()? > 2 {
        return answer_ext(x.with_values(call_one(call.op, &[Arg::from(x.values())], call.attrs)?)?);
    }
    let order = x.with_values(order_of(x.values(), x.partition(), true)?)?;
    answer(ops::slice(order.into_value(), 1_i64, 0_i64, Some(vec![k]), 1_i64)?)
}

/// `argmax` gives a position in each row, which is missing where a row is empty.
pub(super) fn argmax(call: &Call<'_>) -> Answer {
    extreme(call, &ops::SEGMENT_ARGMAX)
}

/// `argmin` likewise.
pub(super) fn argmin(call: &Call<'_>) -> Answer {
    extreme(call, &ops::SEGMENT_ARGMIN)
}

fn extreme(call: &Call<'_>, segment: &'static OpDef) -> Answer {
    let [arg] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(arg) else { return Ok(None) };
    let ArgExtreme { axis, keepdims } = ArgExtreme::of(call.attrs)?.clone();
    let all = ArgExtreme { axis: Axes::All, keepdims: false };
    let axis = match axis {
        Axes::All => {
            let found = call_one(call.op, &[Arg::Value(super::flatten(x.clone().into_value(), None)?)], &all)?;
            return answer(if keepdims {
                ops::expand_dims_at(found, (0..x.rank()?).map(int).collect::<Vec<_>>())?
            } else {
                found
            });
        }
        Axes::List(axes) if axes.len() == 1 => normalize_axis(axes[0], x.rank()?)?,
        Axes::List(axes) => {
            return Err(Error::value(format!("axes {axes:?} are given")).wanted("one axis, or none for all"));
        }
    };
    if axis > 1 {
        let attrs = ArgExtreme { axis: Axes::List(vec![int(axis - 1)]), keepdims };
        return answer_ext(x.with_values(call_one(call.op, &[Arg::from(x.values())], &attrs)?)?);
    }
    let found = extreme_along(segment, x, axis)?;
    answer(if keepdims { ops::expand_dims(found, int(axis))? } else { found })
}

/// The positions of the extreme elements of each row, or of each column of rows; the position in a column is the number of a row.
fn extreme_along(segment: &'static OpDef, x: RaggedTensor, axis: usize) -> Result<Value> {
    if axis == 0 {
        let groups = one_row(&x.clone().into_value())?;
        let numbers = numbered(crate::axes::positions(&x.clone().into_value())?, &x)?;
        return extreme_across(segment, &groups, &x, &numbers);
    }
    if has_rows(x.values()) {
        let x = x.compact()?;
        let inner = rows_of(x.values())?.ok_or_else(|| Error::internal("rows have rows inside"))?;
        let numbers = numbered(ops::places_in_rows(x.partition())?, &inner)?;
        return extreme_in(segment, &x, &numbers);
    }
    found_or_missing(call_one(segment, &[Arg::from(x.values()), x.partition().into()], &NoAttrs {})?)
}

/// Positions of which those below zero are missing; what already is a position or missing stays.
fn found_or_missing(found: Value) -> Result<Value> {
    if typed::<MaskedTensor>(&found).is_some() {
        return Ok(found);
    }
    let there = ops::greater_equal(&found, 0)?;
    Ok(MaskedTensor::new(ops::maximum(found, 0)?, there.tensor()?.clone())?.into_value())
}

/// `cumulative_sum` folds each row, or each column of rows.
pub(super) fn cumulative_sum(call: &Call<'_>) -> Answer {
    cumulative(call, &ops::SEGMENT_CUMULATIVE_SUM)
}

/// `cumulative_prod` likewise.
pub(super) fn cumulative_prod(call: &Call<'_>) -> Answer {
    cumulative(call, &ops::SEGMENT_CUMULATIVE_PROD)
}

/// `cumulative_max` likewise.
pub(super) fn cumulative_max(call: &Call<'_>) -> Answer {
    cumulative(call, &ops::SEGMENT_CUMULATIVE_MAX)
}

/// `cumulative_min` likewise.
pub(super) fn cumulative_min(call: &Call<'_>) -> Answer {
    cumulative(call, &ops::SEGMENT_CUMULATIVE_MIN)
}

fn cumulative(call: &Call<'_>, segment: &'static OpDef) -> Answer {
    let Cumulative { axis, reverse } = *Cumulative::of(call.attrs)?;
    along(call, axis, &|axis| Box::new(Cumulative { axis, reverse }), &|x, rows| {
        across(std::slice::from_ref(x), rows, &|lines, rows| {
            call_one(segment, &[Arg::from(&lines[0]), rows.into()], &RowScan { reverse })
        })
    })
}

/// `shift` moves the elements of each row, or each column of rows.
pub(super) fn shift(call: &Call<'_>) -> Answer {
    let [_, value] = flat(call) else { return Ok(None) };
    let Shift { axis, by } = *Shift::of(call.attrs)?;
    along(call, axis, &|axis| Box::new(Shift { axis, by }), &|x, rows| {
        across(std::slice::from_ref(x), rows, &|lines, rows| {
            call_one(&ops::SEGMENT_SHIFT, &[Arg::from(&lines[0]), rows.into(), value.clone()], &RowShift { by })
        })
    })
}

/// `linear_scan` goes along each row, or each column of rows.
pub(super) fn linear_scan(call: &Call<'_>) -> Answer {
    let [x, link] = flat(call) else { return Ok(None) };
    // Rows that may be missing come first, and the others after.
    if [x, link].into_iter().any(|arg| typed_arg::<MaskedTensor>(arg).is_some()) {
        return Ok(None);
    }
    if rank(x.value()?)? != rank(link.value()?)? {
        return Err(Error::shape("one argument is ragged, the other is not")
            .wanted("two of one shape")
            .hint("Write `broadcast_like(link, x)`."));
    }
    let as_rows = |arg: &Arg| typed_arg::<RaggedTensor>(arg).map_or_else(|| RaggedTensor::of_uniform(arg.value()?), Ok);
    let (x, link) = (as_rows(x)?, as_rows(link)?);
    let LinearScan { axis, reverse } = *LinearScan::of(call.attrs)?;
    let scanned = |lines: &[Value], rows: &RowPartition| {
        let args = [Arg::from(&lines[0]), Arg::from(&lines[1]), rows.into()];
        call_one(&ops::SEGMENT_LINEAR_SCAN, &args, &RowScan { reverse })
    };
    // Rows outside every row are not aligned.
    let x = if has_rows(x.values()) { x.compact()? } else { x };
    match normalize_axis(axis, x.rank()?)? {
        0 => {
            let whole = x.into_value();
            answer(across(&[whole.clone(), link.into_value()], &one_row(&whole)?, &scanned)?)
        }
        1 => {
            let link = link.values_in(x.partition())?;
            answer_ext(x.with_values(across(&[x.values().clone(), link], x.partition(), &scanned)?)?)
        }
        inner => {
            let link = link.values_in(x.partition())?;
            let attrs = LinearScan { axis: int(inner - 1), reverse };
            let found = call_one(call.op, &[Arg::from(x.values()), Arg::Value(link)], &attrs);
            answer_ext(x.with_values(found.map_err(Error::within_rows)?)?)
        }
    }
}

/// `take_along_axis` picks from each row by positions in it; as many of each row as the indices have there.
pub(super) fn take_along_axis(call: &Call<'_>) -> Answer {
    let [x, indices] = flat(call) else { return Ok(None) };
    let as_rows = |arg: &Arg| {
        let value = arg.value()?;
        typed(value).map_or_else(|| RaggedTensor::of_uniform(value), Ok)
    };
    let (x, indices) = (as_rows(x)?, as_rows(indices)?);
    let axis = normalize_axis(LastAxis::of(call.attrs)?.axis, x.rank()?)?;
    if axis == 1 && x.rank()? == 2 && typed::<MaskedTensor>(indices.values()).is_some() {
        return answer(take_in_rows(&x.into_value(), &indices.into_value(), axis)?);
    }
    let (of_rows, at) = (inner_rows_there(&x)?, inner_rows_there(&indices)?);
    if axis == 1 && (of_rows.is_some() || at.is_some()) {
        // Rows that are missing inside have no element in any column.
        let (at, mask) = at.map_or((indices, None), |(rows, mask)| (rows, Some(mask)));
        let args = [of_rows.map_or(x, |(rows, _)| rows), at].map(|rows| Arg::Value(rows.into_value()));
        let taken = RaggedTensor::from_value(&call_one(call.op, &args, call.attrs)?)?;
        return match mask {
            Some(mask) => answer_ext(taken.with_values(masked_by(taken.values().clone(), &mask)?)?),
            None => answer_ext(taken),
        };
    }
    if let Some(taken) = taken_across(&x, &indices, axis)? {
        return answer_ext(taken);
    }
    match axis {
        axis @ (0 | 1) => {
            check_rows(&x, axis)?;
            let indices = indices.compact()?;
            let places = ops::places_by_row(indices.values(), indices.partition(), x.partition())?;
            answer_ext(indices.with_values(ops::take_along_axis(x.values(), places, 0)?)?)
        }
        inner => {
            let x = if has_rows(x.values()) { x.compact()? } else { x };
            let attrs = LastAxis { axis: int(inner - 1) };
            let args = [Arg::from(x.values()), Arg::Value(indices.values_in(x.partition())?)];
            answer_ext(x.with_values(call_one(call.op, &args, &attrs).map_err(Error::within_rows)?)?)
        }
    }
}

/// Rows in rows, of which the inner ones may be missing: with nothing in those, and which are there; none of others.
fn inner_rows_there(x: &RaggedTensor) -> Result<Option<(RaggedTensor, Tensor)>> {
    let Some(masked) = typed::<MaskedTensor>(x.values()) else { return Ok(None) };
    let Some(rows) = masked.rows_there()? else { return Ok(None) };
    Ok(Some((x.with_values(rows.into_value())?, masked.mask().clone())))
}

/// The elements at numbers of rows, where the axis has rows inside and these hold scalars.
fn taken_across(x: &RaggedTensor, indices: &RaggedTensor, axis: usize) -> Result<Option<RaggedTensor>> {
    let of_scalars = |rows: &RaggedTensor| rank(rows.values()).is_ok_and(|rank| rank == 1);
    if axis == 0 && of_scalars(x) && of_scalars(indices) {
        let groups = |rows: &RaggedTensor| one_row(&rows.clone().into_value());
        return take_across(&groups(x)?, x, &groups(indices)?, indices).map(Some);
    }
    if axis == 0
        && let (Some(inner), Some(at)) = (uniform_inside(x)?, uniform_inside(indices)?)
        && inner == at
    {
        // Elements of one size lie beside each other in their row: a column of vectors is that of their first elements, and so on.
        let taken = taken_across(&unfolded(x, &inner)?, &unfolded(indices, &inner)?, 0)?;
        let like = indices.compact()?;
        let shaped =
            |taken: RaggedTensor| like.with_values(ops::reshape_like(taken.compact()?.values(), like.values())?);
        return taken.map(shaped).transpose();
    }
    if axis != 1 || typed::<RaggedTensor>(x.values()).is_none() {
        return Ok(None);
    }
    let (x, indices) = (x.compact()?, indices.compact()?);
    let rows = |of: &RaggedTensor| match typed::<RaggedTensor>(of.values()) {
        Some(rows) => Ok(Some(rows)),
        None if rank(of.values())? == 2 => RaggedTensor::of_uniform(of.values()).map(Some),
        None => Ok(None),
    };
    match (rows(&x)?, rows(&indices)?) {
        (Some(inner), Some(at)) if of_scalars(&inner) && of_scalars(&at) => {
            let taken = take_across(x.partition(), &inner, indices.partition(), &at)?;
            let dense = typed::<RaggedTensor>(indices.values()).is_none();
            let taken = if dense { ops::reshape_like(taken.values(), indices.values())? } else { taken.into_value() };
            indices.with_values(taken).map(Some)
        }
        _ => Ok(None),
    }
}

/// The sizes of the axes of what is in the rows, if there are some and all are known.
fn uniform_inside(x: &RaggedTensor) -> Result<Option<Vec<usize>>> {
    let inner = rank(x.values())?;
    if inner < 2 || has_rows(x.values()) {
        return Ok(None);
    }
    (1..inner).map(|axis| Ok(dim(x.values(), axis)?.known())).collect()
}

/// The elements of what is in the rows, of these sizes, one after the other in the row.
fn unfolded(x: &RaggedTensor, inner: &[usize]) -> Result<RaggedTensor> {
    let x = x.compact()?;
    let lengths = ops::multiply(x.row_lengths()?, int(inner.iter().product()))?;
    let rows = ops::partition_from_lengths(lengths)?.partition()?.clone();
    RaggedTensor::from_partition(ops::reshape(x.values(), vec![-1_i64])?, rows)
}

/// `indices_along` counts rows, or the elements of an axis inside the rows that is not ragged.
pub(super) fn indices_along(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(x) else { return Ok(None) };
    match normalize_axis(OneAxis::of(call.attrs)?.axis, x.rank()?)? {
        0 => answer(crate::axes::positions(&x.into_value())?),
        1 => match x.partition().spec().uniform_row_length {
            Some(length) => answer(crate::axes::counted(length)?),
            None => Err(Error::shape("axis 1 is ragged, so that its elements have no one number")
                .wanted("an axis of one size")
                .hint("Write `local_index(x, axis=1)` for the positions in each row.")),
        },
        inner => {
            let found = call_one(call.op, &[Arg::from(x.values())], &OneAxis { axis: int(inner - 1) });
            answer(found.map_err(Error::within_rows)?)
        }
    }
}

/// What an op makes of the values of rows, in the places that they have.
type OnRows<'a> = &'a dyn Fn(&Value, &RowPartition) -> Result<Value>;

/// The op on the lines along axis 0 or 1, or with the attributes of another axis on the values.
fn along(call: &Call<'_>, axis: i64, inside: &dyn Fn(i64) -> Box<dyn AttrSet>, rows: OnRows<'_>) -> Answer {
    let [x, rest @ ..] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(x) else { return Ok(None) };
    match normalize_axis(axis, x.rank()?)? {
        0 => {
            let whole = x.into_value();
            answer(rows(&whole, &one_row(&whole)?)?)
        }
        1 => {
            // Rows outside every row have no columns.
            let x = if has_rows(x.values()) { x.compact()? } else { x };
            answer_ext(x.with_values(rows(x.values(), x.partition())?)?)
        }
        inner => {
            let args: Vec<Arg> = std::iter::once(Arg::from(x.values())).chain(rest.iter().cloned()).collect();
            let found = call_one(call.op, &args, &*inside(int(inner - 1)));
            answer_ext(x.with_values(found.map_err(Error::within_rows)?)?)
        }
    }
}

/// Checks that the lines along an axis are rows.
///
/// Errors: axis 0; rows inside the rows.
fn check_rows(x: &RaggedTensor, axis: usize) -> Result<()> {
    if axis == 1 && typed::<RaggedTensor>(x.values()).is_none() {
        return Ok(());
    }
    Err(Error::shape(format!("axis {axis} has ragged rows inside, whose elements are not all beside each other"))
        .wanted("a ragged axis without ragged rows inside")
        .hint("Make the rows dense first: `to_tensor`."))
}
