//! Records put elsewhere by their numbers.
//!
//! An op that moves elements and computes nothing is applied to the numbers of the records, and the records are taken by what
//! comes of it: so each field moves as its records do, whatever its type.

use super::StructTensor;
use crate::args::{again, answer, flat, int, typed_arg};
use crate::axes::{positions, zeros_of};
use extenso_core::attrs::Attrs;
use extenso_core::ops::OneAxis;
use extenso_core::reduce::normalize_axis;
use extenso_core::{Answer, Arg, Call, ExtensionType, OpDef, Value, ops};
use extenso_types::{Error, Result};

/// The ops that move elements alone.
pub(super) static MOVES: [&OpDef; 6] = [
    &ops::SQUEEZE,
    &ops::TRANSPOSE,
    &ops::EXPAND_DIMS_AT,
    &ops::BROADCAST_TO,
    &ops::RESHAPE_LIKE,
    &ops::TAKE_ALONG_AXIS,
];

/// Such an op on records, its first argument.
pub(super) fn by_numbers(call: &Call<'_>) -> Answer {
    let [x, rest @ ..] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<StructTensor>(x) else { return Ok(None) };
    let rest = rest.iter().map(shape_alone).collect::<Result<Vec<Arg>>>()?;
    answer(moved(call, &x, rest)?)
}

fn moved(call: &Call<'_>, x: &StructTensor, rest: Vec<Arg>) -> Result<Value> {
    let args = std::iter::once(Arg::Value(numbers(x)?)).chain(rest);
    let mut places = again(call, &args.collect::<Vec<_>>())?;
    let places = places.pop().ok_or_else(|| Error::internal("an op without an output"))?;
    ops::take(in_a_row(x)?, places, 0)
}

/// `broadcast_like` of records, or like records.
pub(super) fn broadcast_like(call: &Call<'_>) -> Answer {
    let [x, like] = flat(call) else { return Ok(None) };
    let like = shape_alone(like)?;
    match typed_arg::<StructTensor>(x) {
        Some(x) => answer(moved(call, &x, vec![like])?),
        None => Ok(Some(again(call, &[x.clone(), like])?)),
    }
}

/// Zeros of the shape of records; any other argument as it is.
fn shape_alone(arg: &Arg) -> Result<Arg> {
    match typed_arg::<StructTensor>(arg) {
        Some(records) => zeros_of(arg.value()?, records.rank()).map(Arg::Value),
        None => Ok(arg.clone()),
    }
}

/// `where` takes the records of both and chooses among their numbers, which broadcast.
pub(super) fn where_(call: &Call<'_>) -> Answer {
    let [condition, x, y] = flat(call) else { return Ok(None) };
    let (Some(x), Some(y)) = (typed_arg::<StructTensor>(x), typed_arg::<StructTensor>(y)) else { return Ok(None) };
    if condition.value().is_ok_and(|value| value.tensor().is_err()) {
        return Ok(None);
    }
    let (first, second) = (in_a_row(&x)?, in_a_row(&y)?);
    let count = ops::sum(ops::ones_like(positions(&first)?)?, 0, false)?;
    let places = ops::where_(condition, numbers(&x)?, ops::add(numbers(&y)?, count)?)?;
    answer(ops::take(ops::concat(vec![first, second], 0)?, places, 0)?)
}

/// `indices_along` counts the records of an axis.
pub(super) fn indices_along(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(records) = typed_arg::<StructTensor>(x) else { return Ok(None) };
    let axis = normalize_axis(OneAxis::of(call.attrs)?.axis, records.rank())?;
    answer(ops::indices_along(zeros_of(x.value()?, records.rank())?, int(axis))?)
}

/// The numbers of the records in row-major order, of their shape.
fn numbers(x: &StructTensor) -> Result<Value> {
    let zeros = zeros_of(&x.clone().into_value(), x.rank())?;
    match x.rank() {
        0 => Ok(zeros),
        1 => positions(&zeros),
        _ => ops::reshape_like(positions(&ops::reshape(&zeros, vec![-1_i64])?)?, zeros),
    }
}

/// The records as one vector.
fn in_a_row(x: &StructTensor) -> Result<Value> {
    let records = x.clone().into_value();
    match x.rank() {
        0 => ops::expand_dims(records, 0),
        1 => Ok(records),
        _ => ops::reshape(records, vec![-1_i64]),
    }
}
