//! Ops on lines along an axis of ragged tensors: orders, positions, running folds, moves.
//!
//! Along axis 1 a line is a row; along an axis inside the rows the op is left to the values. Running folds also go along axes
//! that have ragged rows inside, column by column: rows are aligned on the left, and those that reach a column have an element
//! there. Other ops would have to move elements between rows of different lengths, and say so.

use super::RaggedTensor;
use crate::args::{answer, answer_ext, flat, int, typed, typed_arg};
use crate::axes::one_row;
use crate::masked::MaskedTensor;
use extenso_core::attrs::{AttrSet, Attrs, Axes};
use extenso_core::ops::TopK;
use extenso_core::ops::{
    ArgExtreme, Cumulative, LastAxis, LinearScan, OneAxis, RowScan, RowShift, RowSort, Shift, Sort,
};
use extenso_core::reduce::normalize_axis;
use extenso_core::{Answer, Arg, Call, ExtensionType, OpDef, RowPartition, Value, call_one, ops};
use extenso_types::{Error, Result};

/// `sort` orders each row.
pub(super) fn sort(call: &Call<'_>) -> Answer {
    let Sort { axis, descending } = *Sort::of(call.attrs)?;
    along(call, axis, &|axis| Box::new(Sort { axis, descending }), &|x| {
        let order = argsort_rows(x, descending)?;
        let places = ops::places_by_row(order, x.partition(), x.partition())?;
        ops::take_along_axis(x.values(), places, 0)
    })
}

/// `argsort` gives positions in each row.
pub(super) fn argsort(call: &Call<'_>) -> Answer {
    let Sort { axis, descending } = *Sort::of(call.attrs)?;
    along(call, axis, &|axis| Box::new(Sort { axis, descending }), &|x| argsort_rows(x, descending))
}

fn argsort_rows(x: &RaggedTensor, descending: bool) -> Result<Value> {
    call_one(&ops::SEGMENT_ARGSORT, &[Arg::from(x.values()), x.partition().into()], &RowSort { descending })
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
    let order = x.with_values(argsort_rows(&x, true)?)?;
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
    check_rows(&x, axis)?;
    let found = call_one(segment, &[Arg::from(x.values()), x.partition().into()], &extenso_core::attrs::NoAttrs {})?;
    let found = found_or_missing(found)?;
    answer(if keepdims { ops::expand_dims(found, 1)? } else { found })
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

fn cumulative(call: &Call<'_>, segment: &'static OpDef) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(x) else { return Ok(None) };
    let Cumulative { axis, reverse } = *Cumulative::of(call.attrs)?;
    let fold = Fold { segment, reverse };
    match normalize_axis(axis, x.rank()?)? {
        0 => answer(fold.columns(&one_row(&x.clone().into_value())?, &x)?),
        1 => answer_ext(x.with_values(fold.rows(x.values(), x.partition())?)?),
        inner => {
            let attrs = Cumulative { axis: int(inner - 1), reverse };
            answer_ext(x.with_values(call_one(call.op, &[Arg::from(x.values())], &attrs)?)?)
        }
    }
}

/// A running fold.
struct Fold {
    segment: &'static OpDef,
    reverse: bool,
}

impl Fold {
    /// The fold along the rows of a partition.
    fn rows(&self, values: &Value, partition: &RowPartition) -> Result<Value> {
        match typed::<RaggedTensor>(values) {
            Some(inner) => self.columns(partition, &inner),
            None => {
                let attrs = RowScan { reverse: self.reverse };
                call_one(self.segment, &[Arg::from(values), partition.into()], &attrs)
            }
        }
    }

    /// The fold along each column of the rows of each group.
    fn columns(&self, groups: &RowPartition, x: &RaggedTensor) -> Result<Value> {
        let x = x.compact()?;
        let order = ops::column_order(groups, x.partition())?;
        let lengths = ops::column_lengths(groups, x.partition())?;
        let columns = ops::partition_from_lengths(lengths)?.partition()?.clone();
        let folded = self.rows(&ops::take(x.values(), &order, 0)?, &columns)?;
        // The order of an order is its inverse.
        Ok(x.with_values(ops::take(folded, ops::argsort(order, 0, false)?, 0)?)?.into_value())
    }
}

/// `shift` moves the elements of each row.
pub(super) fn shift(call: &Call<'_>) -> Answer {
    let [x, value] = flat(call) else { return Ok(None) };
    let Shift { axis, by } = *Shift::of(call.attrs)?;
    let Some(ragged) = typed_arg::<RaggedTensor>(x) else { return Ok(None) };
    match normalize_axis(axis, ragged.rank()?)? {
        axis @ (0 | 1) => {
            check_rows(&ragged, axis)?;
            let args = [Arg::from(ragged.values()), ragged.partition().into(), value.clone()];
            answer_ext(ragged.with_values(call_one(&ops::SEGMENT_SHIFT, &args, &RowShift { by })?)?)
        }
        inner => {
            let attrs = Shift { axis: int(inner - 1), by };
            answer_ext(ragged.with_values(call_one(call.op, &[Arg::from(ragged.values()), value.clone()], &attrs)?)?)
        }
    }
}

/// `linear_scan` goes along each row.
pub(super) fn linear_scan(call: &Call<'_>) -> Answer {
    let [x, link] = flat(call) else { return Ok(None) };
    let (Some(x), Some(link)) = (typed_arg::<RaggedTensor>(x), typed_arg::<RaggedTensor>(link)) else {
        return Err(Error::shape("one argument is ragged, the other is not")
            .wanted("two of one shape")
            .hint("Write `broadcast_like(link, x)`."));
    };
    let LinearScan { axis, reverse } = *LinearScan::of(call.attrs)?;
    let link = link.values_in(x.partition())?;
    match normalize_axis(axis, x.rank()?)? {
        axis @ (0 | 1) => {
            check_rows(&x, axis)?;
            let args = [Arg::from(x.values()), Arg::Value(link), x.partition().into()];
            answer_ext(x.with_values(call_one(&ops::SEGMENT_LINEAR_SCAN, &args, &RowScan { reverse })?)?)
        }
        inner => {
            let attrs = LinearScan { axis: int(inner - 1), reverse };
            answer_ext(x.with_values(call_one(call.op, &[Arg::from(x.values()), Arg::Value(link)], &attrs)?)?)
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
    let axis = LastAxis::of(call.attrs)?.axis;
    match normalize_axis(axis, x.rank()?)? {
        axis @ (0 | 1) => {
            check_rows(&x, axis)?;
            let indices = indices.compact()?;
            let places = ops::places_by_row(indices.values(), indices.partition(), x.partition())?;
            answer_ext(indices.with_values(ops::take_along_axis(x.values(), places, 0)?)?)
        }
        inner => {
            let attrs = LastAxis { axis: int(inner - 1) };
            let args = [Arg::from(x.values()), Arg::Value(indices.values_in(x.partition())?)];
            answer_ext(x.with_values(call_one(call.op, &args, &attrs)?)?)
        }
    }
}

/// `indices_along` counts rows, or the elements of an axis inside the rows that is not ragged.
pub(super) fn indices_along(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(x) else { return Ok(None) };
    match normalize_axis(OneAxis::of(call.attrs)?.axis, x.rank()?)? {
        0 => answer(crate::axes::positions(&x.into_value())?),
        1 => Err(Error::shape("axis 1 is ragged, so that its elements have no one number")
            .wanted("an axis of one size")
            .hint("Write `local_index(x, axis=1)` for the positions in each row.")),
        inner => answer(call_one(call.op, &[Arg::from(x.values())], &OneAxis { axis: int(inner - 1) })?),
    }
}

/// The op on the rows, or with the attributes of another axis on the values.
fn along(
    call: &Call<'_>,
    axis: i64,
    inside: &dyn Fn(i64) -> Box<dyn AttrSet>,
    rows: &dyn Fn(&RaggedTensor) -> Result<Value>,
) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(x) else { return Ok(None) };
    match normalize_axis(axis, x.rank()?)? {
        axis @ (0 | 1) => {
            check_rows(&x, axis)?;
            answer_ext(x.with_values(rows(&x)?)?)
        }
        inner => answer_ext(x.with_values(call_one(call.op, &[Arg::from(x.values())], &*inside(int(inner - 1)))?)?),
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
