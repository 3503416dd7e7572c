//! Durations as quantities: times and by numbers, by each other, and from day to day.
//!
//! Invariant: integers are scaled and divided without a float. `/` rounds to the nearest unit, of two as near to the even one, and `//` down.
//! What does not fit 64 bits is an error, in a traced function when it runs.

use super::arithmetic::{exact, in_one_unit};
use super::{DateTensor, DurationTensor, TimeUnit};
use crate::args::{answer, answer_ext, flat, typed_arg};
use extenso_core::{Answer, Arg, Call, Tensor, Value, call_one, ops, strengthen};
use extenso_types::{DType, DTypeKind, Error, Result};

/// A duration times a number.
pub(super) fn multiplied(call: &Call<'_>) -> Answer {
    let [x, y] = flat(call) else { return Ok(None) };
    match (typed_arg::<DurationTensor>(x), typed_arg::<DurationTensor>(y)) {
        (Some(by), None) => number(y)?.map_or(Ok(None), |factor| scaled(&by, &factor)),
        (None, Some(by)) => number(x)?.map_or(Ok(None), |factor| scaled(&by, &factor)),
        _ => Err(Error::dtype("durations are multiplied by durations").wanted("a duration and a number")),
    }
}

fn scaled(by: &DurationTensor, factor: &Tensor) -> Answer {
    if factor.dtype().is_float() {
        return over(by, rounded(ops::multiply(ops::cast(by.values(), DType::F64)?, factor)?)?);
    }
    if let Some(product) = exact(by.values(), factor, i64::checked_mul) {
        return over(by, product.into());
    }
    let product = ops::multiply(by.values(), factor)?;
    // A product that wrapped is not divided back, and the smallest number is nobody's negative.
    let few = ops::less_equal(ops::abs(ops::maximum(factor, -2)?)?, 1)?;
    let back = ops::floor_divide(&product, ops::where_(&few, 1, factor)?)?;
    let whole = ops::logical_or(few, ops::equal(back, by.values())?)?;
    let negative = ops::less(ops::bitwise_xor(by.values(), factor)?, 0)?;
    let of_its_sign = ops::logical_or(ops::greater_equal(&product, 0)?, negative)?;
    over(by, checked(product, ops::logical_and(whole, of_its_sign)?)?)
}

/// A duration by a number, which is a duration, or by another duration, which is a number.
pub(super) fn divided(call: &Call<'_>) -> Answer {
    let [x, y] = flat(call) else { return Ok(None) };
    let Some(x) = dividend(x)? else { return Ok(None) };
    if let Some(y) = typed_arg::<DurationTensor>(y) {
        let (x, y) = in_one_unit(&x, &y)?;
        return answer(ops::divide(ops::cast(x.values(), DType::F64)?, ops::cast(y.values(), DType::F64)?)?);
    }
    let Some(by) = number(y)? else { return Ok(None) };
    if by.dtype().is_float() {
        return over(&x, rounded(ops::divide(ops::cast(x.values(), DType::F64)?, by)?)?);
    }
    let (whole, rest) = (ops::floor_divide(x.values(), &by)?, ops::remainder(x.values(), &by)?);
    // The rest has the sign of the divisor: as far as the half it is compared with what is left of that.
    let (rest, left) = (ops::abs(&rest)?, ops::abs(ops::subtract(&by, &rest)?)?);
    let odd = ops::equal(ops::bitwise_and(&whole, 1)?, 1)?;
    let up = ops::logical_or(ops::greater(&rest, &left)?, ops::logical_and(ops::equal(rest, left)?, odd)?)?;
    over(&x, ops::add(not_wrapped(&x, &by, whole)?, ops::cast(up, DType::I64)?)?)
}

/// How often a duration has another in it, or a part of a duration, rounded down.
pub(super) fn floor_divided(call: &Call<'_>) -> Answer {
    let [x, y] = flat(call) else { return Ok(None) };
    let Some(x) = dividend(x)? else { return Ok(None) };
    if let Some(y) = typed_arg::<DurationTensor>(y) {
        let (x, y) = in_one_unit(&x, &y)?;
        return answer(ops::floor_divide(x.values(), y.values())?);
    }
    let Some(by) = number(y)? else { return Ok(None) };
    if by.dtype().is_float() {
        return over(&x, whole(ops::floor(ops::divide(ops::cast(x.values(), DType::F64)?, by)?)?)?);
    }
    over(&x, not_wrapped(&x, &by, ops::floor_divide(x.values(), &by)?)?)
}

/// The quotient, unless it is the negative of the smallest number.
fn not_wrapped(x: &DurationTensor, by: &Tensor, quotient: Value) -> Result<Value> {
    let wraps = ops::logical_and(ops::equal(x.values(), i64::MIN)?, ops::equal(by, -1)?)?;
    checked(quotient, ops::logical_not(wraps)?)
}

/// What is left of a duration when another was taken out of it as often as it has it.
pub(super) fn remainder(call: &Call<'_>) -> Answer {
    let [x, y] = flat(call) else { return Ok(None) };
    let (Some(x), Some(y)) = (typed_arg::<DurationTensor>(x), typed_arg::<DurationTensor>(y)) else {
        return match (number(x), number(y)) {
            (Ok(None), _) | (_, Ok(None)) => Ok(None),
            _ => Err(Error::dtype("a duration and a number are given").wanted("two durations")),
        };
    };
    let (x, y) = in_one_unit(&x, &y)?;
    over(&x, call_one(call.op, &[Arg::from(x.values()), Arg::from(y.values())], call.attrs)?)
}

/// Dates so many days later or earlier: durations of whole days, and dates in their own unit.
pub(super) fn days_later(call: &Call<'_>) -> Answer {
    let [x, y] = flat(call) else { return Ok(None) };
    let (at, by) = match (typed_arg::<DateTensor>(x), typed_arg::<DateTensor>(y)) {
        (Some(at), None) => (at, typed_arg::<DurationTensor>(y)),
        (None, Some(at)) if *call.op == ops::ADD => (at, typed_arg::<DurationTensor>(x)),
        _ => return Ok(None),
    };
    let Some(by) = by else { return Ok(None) };
    let per_day = by.unit().parse::<TimeUnit>()?.per_second() * 86_400;
    let whole = ops::equal(ops::remainder(by.values(), per_day)?, 0)?;
    let days = ops::floor_divide(by.values(), per_day)?;
    let days = ops::check_all(
        days,
        whole,
        "a duration is no number of whole days",
        "whole days; write `timestamps + durations` otherwise",
    )?;
    let moved = call_one(call.op, &[Arg::Value(ops::cast(at.days()?, DType::I64)?), Arg::Value(days)], call.attrs)?;
    answer_ext(in_unit_of(&at, moved)?)
}

/// Days as dates of the unit of others.
fn in_unit_of(like: &DateTensor, days: Value) -> Result<DateTensor> {
    let (per_unit, most) =
        if like.unit() == "d" { (1, i64::from(i32::MAX)) } else { (86_400_000, i64::MAX / 86_400_000) };
    let fits = ops::logical_and(ops::less_equal(&days, most)?, ops::greater_equal(&days, -most)?)?;
    let counts = ops::multiply(checked(days, fits)?, per_unit)?;
    DateTensor::new(ops::cast(counts, like.values().dtype())?.tensor()?.clone(), like.unit())
}

/// A number beside a duration: i64, or f64; none of a value that may have an answer of its own.
fn number(arg: &Arg) -> Result<Option<Tensor>> {
    let given = match arg {
        Arg::Value(Value::Tensor(x)) => x.clone(),
        Arg::Scalar(x) => strengthen(x, None)?,
        Arg::Value(_) | Arg::List(_) => return Ok(None),
    };
    let dtype = match given.dtype().kind() {
        DTypeKind::Signed => DType::I64,
        DTypeKind::Unsigned if given.dtype() != DType::U64 => DType::I64,
        DTypeKind::Float => DType::F64,
        _ => return Err(no_number(given.dtype().name())),
    };
    ops::cast(given, dtype)?.tensor().cloned().map(Some)
}

/// The duration that is divided.
fn dividend(arg: &Arg) -> Result<Option<DurationTensor>> {
    match (typed_arg::<DurationTensor>(arg), arg) {
        (None, Arg::Value(Value::Ext(_))) => Ok(None),
        (None, _) => Err(no_dividend()),
        (found, _) => Ok(found),
    }
}

fn no_number(found: &str) -> Error {
    Error::dtype(format!("{found} stands beside durations"))
        .wanted("integers that fit 64 bits with a sign, floats, or durations")
}

fn no_dividend() -> Error {
    Error::dtype("a number is divided by durations").wanted("durations divided by numbers or durations")
}

pub(super) fn over(like: &DurationTensor, counts: Value) -> Answer {
    answer_ext(DurationTensor::new(counts.tensor()?.clone(), like.unit())?)
}

fn rounded(counts: Value) -> Result<Value> {
    whole(ops::round(counts)?)
}

/// Whole floats as integers.
fn whole(counts: Value) -> Result<Value> {
    let fits = ops::less(ops::abs(&counts)?, 9_223_372_036_854_775_808.0)?;
    ops::cast(checked(counts, fits)?, DType::I64)
}

/// The counts, if all of them fit.
///
/// Errors: one does not, of symbols when the graph runs.
pub(super) fn checked(counts: Value, fits: Value) -> Result<Value> {
    ops::check_all(counts, fits, "the result does not fit 64 bits", "a result that fits")
}
