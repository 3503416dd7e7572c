//! Ops on the strings of ragged tensors that are more than the op on the values.

use super::RaggedTensor;
use super::reduction::{outer_rows, rows};
use crate::args::{again, answer, answer_ext, flat, int, on_value, typed, typed_arg, wrap};
use crate::masked::{looked_up_values, without_missing_rows};
use extenso_core::attrs::{Attrs, Axes};
use extenso_core::ops::ReduceJoin;
use extenso_core::{Answer, Arg, Call, ExtensionType, OpDef, RowPartition, Value, call_one, ops};
use extenso_types::Result;

/// `reduce_join` joins one axis after the other.
pub(super) fn reduce_join(call: &Call<'_>) -> Answer {
    let [arg] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(arg) else { return Ok(None) };
    let attrs = ReduceJoin::of(call.attrs)?;
    let steps = attrs.steps(x.rank()?)?;
    let along = |x: Value, axis: usize| match typed::<RaggedTensor>(&x) {
        Some(x) => joined_along(call.op, &x, axis, &attrs.separator),
        None => joined_inside(call.op, &x, axis, &attrs.separator),
    };
    answer(steps.into_iter().try_fold(x.into_value(), along)?)
}

/// The strings of each row or column of rows; axes inside the rows are left to the values.
fn joined_along(op: &'static OpDef, x: &RaggedTensor, axis: usize, separator: &str) -> Result<Value> {
    let join = |values: &Value, rows: &RowPartition| ops::segment_join(values, rows, separator);
    // Lists that are missing below the axis have no string to be joined.
    let there = || {
        let whole = x.clone().into_value();
        let depths = 1..crate::axes::rank(&whole)?;
        RaggedTensor::from_value(&depths.into_iter().try_fold(whole, |x, axis| without_missing_rows(&x, axis))?)
    };
    match axis {
        0 => outer_rows(&join, &there()?),
        1 => rows(&join, &there()?),
        inner => Ok(x.with_values(joined_inside(op, x.values(), inner - 1, separator)?)?.into_value()),
    }
}

fn joined_inside(op: &'static OpDef, x: &Value, axis: usize, separator: &str) -> Result<Value> {
    let attrs = ReduceJoin { axis: Axes::List(vec![int(axis)]), separator: separator.to_string() };
    call_one(op, &[Arg::from(x)], &attrs)
}

/// An op that fails on some texts does not see those outside every row.
pub(super) fn in_rows(call: &Call<'_>) -> Answer {
    match flat(call).first().and_then(typed_arg::<RaggedTensor>) {
        Some(x) => {
            let x = x.compact()?;
            answer_ext(x.with_values(on_value(call, x.values())?)?)
        }
        None => Ok(None),
    }
}

/// What is in the rows makes the vocabulary.
pub(super) fn vocabulary(call: &Call<'_>) -> Answer {
    match flat(call).first().and_then(typed_arg::<RaggedTensor>) {
        Some(x) => answer(on_value(call, x.compact()?.values())?),
        None => Ok(None),
    }
}

/// What is in the rows is looked up; keys and values are for all.
pub(super) fn looked_up(call: &Call<'_>) -> Answer {
    let [x, rest @ ..] = call.args else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(x) else {
        return if *call.op == ops::LOOKUP_VALUES { looked_up_values(call) } else { Ok(None) };
    };
    let args = std::iter::once(Arg::from(x.values())).chain(rest.iter().cloned());
    wrap(again(call, &args.collect::<Vec<_>>())?, |found| Ok(x.with_values(found)?.into_value()))
}
