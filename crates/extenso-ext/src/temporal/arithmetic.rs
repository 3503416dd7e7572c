//! What times do under ops: they are compared, ordered, subtracted, and durations added.

use super::scaled::checked;
use super::unit::rescaled;
use super::{DateTensor, DurationTensor, TimeTensor, TimeUnit, TimestampTensor, scaled, texts};
use crate::args::{again, answer, answer_ext, flat, typed_arg};
use crate::meaning::order::register_order;
use crate::meaning::{Meaning, measured, moved, register_moves};
use crate::written::each;
use extenso_core::{Answer, Arg, Call, Class, ExtensionType, OpDef, Target, Tensor, Value, call_one, on, ops};
use extenso_types::{DType, Error, Result, TypeDef};
use std::sync::Arc;

type Handle = fn(&Call<'_>) -> Answer;

pub(super) fn timestamps(def: &Arc<TypeDef>) {
    ordered::<TimestampTensor>(def, "TimestampTensor");
    on(Target::Op(&ops::ADD), def, "TimestampTensor arithmetic", add);
    on(Target::Op(&ops::SUBTRACT), def, "TimestampTensor arithmetic", subtract);
    on(Target::Class(Class::Comparison), def, "TimestampTensor beside dates", beside_dates);
    for op in [&ops::WHERE, &ops::SUBTRACT, &ops::MAXIMUM, &ops::MINIMUM] {
        on(Target::Op(op), def, "TimestampTensor beside dates", beside_dates);
    }
}

pub(super) fn dates(def: &Arc<TypeDef>) {
    ordered::<DateTensor>(def, "DateTensor");
    on(Target::Op(&ops::SUBTRACT), def, "DateTensor arithmetic", days_between);
    on(Target::Op(&ops::ADD), def, "DateTensor and days", scaled::days_later);
    on(Target::Op(&ops::SUBTRACT), def, "DateTensor and days", scaled::days_later);
}

pub(super) fn times(def: &Arc<TypeDef>) {
    ordered::<TimeTensor>(def, "TimeTensor");
}

pub(super) fn durations(def: &Arc<TypeDef>) {
    ordered::<DurationTensor>(def, "DurationTensor");
    let arithmetic: [(&'static OpDef, Handle); 13] = [
        (&ops::ADD, add),
        (&ops::SUBTRACT, subtract),
        (&ops::NEGATIVE, turned),
        (&ops::ABS, turned),
        (&ops::POSITIVE, moved::<DurationTensor>),
        (&ops::SUM, total),
        (&ops::SEGMENT_SUM, total),
        (&ops::CUMULATIVE_SUM, total),
        (&ops::SEGMENT_CUMULATIVE_SUM, total),
        (&ops::MULTIPLY, scaled::multiplied),
        (&ops::DIVIDE, scaled::divided),
        (&ops::FLOOR_DIVIDE, scaled::floor_divided),
        (&ops::REMAINDER, scaled::remainder),
    ];
    for (op, handle) in arithmetic {
        on(Target::Op(op), def, "DurationTensor arithmetic", handle);
    }
}

/// Moves, comparisons and orders.
fn ordered<T: Meaning + Count>(def: &Arc<TypeDef>, name: &'static str) {
    register_moves::<T>(def, name);
    on(Target::Class(Class::Comparison), def, name, compared::<T>);
    register_order::<T>(def, name);
    on(Target::Op(&ops::MAXIMUM), def, name, extreme::<T>);
    on(Target::Op(&ops::MINIMUM), def, name, extreme::<T>);
    on(Target::Op(&ops::CAST), def, name, measured::<T>);
    on(Target::Op(&ops::AS_STRING), def, name, texts::as_string);
}

/// What counts units of time.
pub(super) trait Count: ExtensionType {
    /// Both in the finer unit of the two.
    ///
    /// Errors: on data, a count that does not fit; two meanings that no unit joins.
    fn aligned(&self, other: &Self) -> Result<(Tensor, Tensor)>;

    /// Counts and their units, where these are two of a second.
    ///
    /// Errors: two meanings that no unit joins.
    fn in_two_units<'a>(&'a self, other: &'a Self) -> Result<Option<(Counted<'a>, Counted<'a>)>>;

    /// Counts of the unit in which both are aligned, as values of this type.
    fn joined(&self, other: &Self, counts: Tensor) -> Result<Self>;
}

/// The finer of two units.
fn finer<'a>(a: &'a str, b: &'a str) -> Result<&'a str> {
    let (x, y): (TimeUnit, TimeUnit) = (a.parse()?, b.parse()?);
    Ok(if x.per_second() >= y.per_second() { a } else { b })
}

fn in_finer(a: (&Tensor, &str), b: (&Tensor, &str)) -> Result<(Tensor, Tensor)> {
    if a.1 == b.1 {
        return Ok((a.0.clone(), b.0.clone()));
    }
    let unit = finer(a.1, b.1)?;
    Ok((rescaled(a.0, a.1, unit)?, rescaled(b.0, b.1, unit)?))
}

impl Count for TimestampTensor {
    fn in_two_units<'a>(&'a self, other: &'a TimestampTensor) -> Result<Option<(Counted<'a>, Counted<'a>)>> {
        if self.zone().is_some() != other.zone().is_some() {
            self.meets(other)?;
        }
        let both = ((self.values(), self.unit()), (other.values(), other.unit()));
        Ok((self.unit() != other.unit()).then_some(both))
    }

    fn aligned(&self, other: &TimestampTensor) -> Result<(Tensor, Tensor)> {
        if self.zone().is_some() != other.zone().is_some() {
            self.meets(other)?;
        }
        in_finer((self.values(), self.unit()), (other.values(), other.unit()))
    }

    fn joined(&self, other: &TimestampTensor, counts: Tensor) -> Result<TimestampTensor> {
        TimestampTensor::new(counts, finer(self.unit(), other.unit())?, self.zone())
    }
}

impl Count for DateTensor {
    /// Days are aligned without a loss.
    fn in_two_units<'a>(&'a self, _: &'a DateTensor) -> Result<Option<(Counted<'a>, Counted<'a>)>> {
        Ok(None)
    }

    fn aligned(&self, other: &DateTensor) -> Result<(Tensor, Tensor)> {
        if self.unit() == other.unit() {
            return Ok((self.values().clone(), other.values().clone()));
        }
        let days = |x: &DateTensor| ops::cast(x.days()?, DType::I64)?.tensor().cloned();
        Ok((days(self)?, days(other)?))
    }

    fn joined(&self, other: &DateTensor, counts: Tensor) -> Result<DateTensor> {
        if self.unit() == other.unit() {
            return DateTensor::new(counts, self.unit());
        }
        DateTensor::new(ops::cast(counts, DType::I32)?.tensor()?.clone(), "d")
    }
}

impl Count for TimeTensor {
    fn in_two_units<'a>(&'a self, other: &'a TimeTensor) -> Result<Option<(Counted<'a>, Counted<'a>)>> {
        let both = ((self.values(), self.unit()), (other.values(), other.unit()));
        Ok((self.unit() != other.unit()).then_some(both))
    }

    fn aligned(&self, other: &TimeTensor) -> Result<(Tensor, Tensor)> {
        in_finer((self.values(), self.unit()), (other.values(), other.unit()))
    }

    fn joined(&self, other: &TimeTensor, counts: Tensor) -> Result<TimeTensor> {
        let unit = finer(self.unit(), other.unit())?;
        let dtype = if matches!(unit, "s" | "ms") { DType::I32 } else { DType::I64 };
        TimeTensor::new(ops::cast(counts, dtype)?.tensor()?.clone(), unit)
    }
}

impl Count for DurationTensor {
    fn in_two_units<'a>(&'a self, other: &'a DurationTensor) -> Result<Option<(Counted<'a>, Counted<'a>)>> {
        let both = ((self.values(), self.unit()), (other.values(), other.unit()));
        Ok((self.unit() != other.unit()).then_some(both))
    }

    fn aligned(&self, other: &DurationTensor) -> Result<(Tensor, Tensor)> {
        in_finer((self.values(), self.unit()), (other.values(), other.unit()))
    }

    fn joined(&self, other: &DurationTensor, counts: Tensor) -> Result<DurationTensor> {
        DurationTensor::new(counts, finer(self.unit(), other.unit())?)
    }
}

/// Both in the finer unit.
pub(super) fn in_one_unit<T: Meaning + Count>(x: &T, y: &T) -> Result<(T, T)> {
    if x.meets(y).is_ok() {
        return Ok((x.clone(), y.clone()));
    }
    let (a, b) = x.aligned(y)?;
    Ok((x.joined(y, a)?, x.joined(y, b)?))
}

fn compared<T: Count>(call: &Call<'_>) -> Answer {
    let [x, y] = flat(call) else { return Ok(None) };
    let (Some(x), Some(y)) = (typed_arg::<T>(x), typed_arg::<T>(y)) else { return Ok(None) };
    let holds = |a: &Value, b: &Value| call_one(call.op, &[Arg::from(a), Arg::from(b)], call.attrs);
    let (a, b) = match x.in_two_units(&y)? {
        None => x.aligned(&y)?,
        Some(((a, unit), (b, other))) => return answer(compared_in(&holds, (a, unit), (b, other))?),
    };
    answer(holds(&a.into(), &b.into())?)
}

/// A comparison of counts of two units, without a common unit: of the whole coarser units first, and then of the rest.
fn compared_in(
    holds: &dyn Fn(&Value, &Value) -> Result<Value>,
    (x, unit): (&Tensor, &str),
    (y, other): (&Tensor, &str),
) -> Result<Value> {
    let (of_x, of_y) = (unit.parse::<TimeUnit>()?.per_second(), other.parse::<TimeUnit>()?.per_second());
    let parts = |counts: &Tensor, by: i64| -> Result<[Value; 2]> {
        let counts = ops::cast(counts, DType::I64)?;
        if by <= 1 {
            Ok([counts.clone(), ops::zeros_like(counts)?])
        } else {
            Ok([ops::floor_divide(&counts, by)?, ops::remainder(counts, by)?])
        }
    };
    let ([x, rest], [y, other]) = (parts(x, of_x / of_y)?, parts(y, of_y / of_x)?);
    ops::where_(ops::equal(&x, &y)?, holds(&rest, &other)?, holds(&x, &y)?)
}

/// Counts and their unit.
type Counted<'a> = (&'a Tensor, &'a str);

/// Dates beside timestamps of no zone are the points in time at which they begin.
fn beside_dates(call: &Call<'_>) -> Answer {
    let args = flat(call);
    let zones = args.iter().filter_map(typed_arg::<TimestampTensor>).map(|x| x.zone().map(str::to_string));
    let zone = zones.max().flatten();
    let is_date = |arg: &Arg| typed_arg::<DateTensor>(arg).is_some();
    match (args.iter().any(is_date), zone) {
        (false, _) => Ok(None),
        (true, Some(zone)) => Err(Error::dtype(format!("dates stand beside timestamps of zone {zone}"))
            .wanted("timestamps of one zone")
            .hint("Write the timestamps at which the days begin there.")),
        (true, None) => {
            let args = args.iter().map(|arg| match typed_arg::<DateTensor>(arg) {
                Some(date) => Ok(Arg::Value(date.midnights()?.into_value())),
                None => Ok(arg.clone()),
            });
            again(call, &args.collect::<Result<Vec<Arg>>>()?).map(Some)
        }
    }
}

/// The later or the earlier of two, in the finer unit.
fn extreme<T: Count>(call: &Call<'_>) -> Answer {
    let [x, y] = flat(call) else { return Ok(None) };
    let (Some(x), Some(y)) = (typed_arg::<T>(x), typed_arg::<T>(y)) else { return Ok(None) };
    let (a, b) = x.aligned(&y)?;
    let counts = call_one(call.op, &[Arg::from(a), Arg::from(b)], call.attrs)?;
    answer_ext(x.joined(&y, counts.tensor()?.clone())?)
}

/// A timestamp and a duration, or two durations.
fn add(call: &Call<'_>) -> Answer {
    let [x, y] = flat(call) else { return Ok(None) };
    if let (Some(x), Some(y)) = (typed_arg::<DurationTensor>(x), typed_arg::<DurationTensor>(y)) {
        let (a, b) = x.aligned(&y)?;
        return answer_ext(DurationTensor::new(summed(&a, &b)?, finer(x.unit(), y.unit())?)?);
    }
    let parts = match (typed_arg::<TimestampTensor>(x), typed_arg::<TimestampTensor>(y)) {
        (Some(at), None) => typed_arg::<DurationTensor>(y).map(|by| (at, by)),
        (None, Some(at)) => typed_arg::<DurationTensor>(x).map(|by| (at, by)),
        _ => None,
    };
    let Some((at, by)) = parts else { return Ok(None) };
    answer_ext(later(&at, &by)?)
}

fn later(at: &TimestampTensor, by: &DurationTensor) -> Result<TimestampTensor> {
    let (a, b) = in_finer((at.values(), at.unit()), (by.values(), by.unit()))?;
    TimestampTensor::new(summed(&a, &b)?, finer(at.unit(), by.unit())?, at.zone())
}

/// Two timestamps, two durations, or a duration of a timestamp.
fn subtract(call: &Call<'_>) -> Answer {
    let [x, y] = flat(call) else { return Ok(None) };
    if let (Some(x), Some(y)) = (typed_arg::<TimestampTensor>(x), typed_arg::<TimestampTensor>(y)) {
        let (a, b) = x.aligned(&y)?;
        return answer_ext(DurationTensor::new(differed(&a, &b)?, finer(x.unit(), y.unit())?)?);
    }
    let Some(by) = typed_arg::<DurationTensor>(y) else { return Ok(None) };
    if let Some(x) = typed_arg::<DurationTensor>(x) {
        let (a, b) = x.aligned(&by)?;
        return answer_ext(DurationTensor::new(differed(&a, &b)?, finer(x.unit(), by.unit())?)?);
    }
    let Some(at) = typed_arg::<TimestampTensor>(x) else { return Ok(None) };
    let (a, b) = in_finer((at.values(), at.unit()), (by.values(), by.unit()))?;
    answer_ext(TimestampTensor::new(differed(&a, &b)?, finer(at.unit(), by.unit())?, at.zone())?)
}

/// Two dates: a duration in seconds, or milliseconds where both count these.
fn days_between(call: &Call<'_>) -> Answer {
    let [x, y] = flat(call) else { return Ok(None) };
    let (Some(x), Some(y)) = (typed_arg::<DateTensor>(x), typed_arg::<DateTensor>(y)) else { return Ok(None) };
    let days = |x: &DateTensor| ops::cast(x.days()?, DType::I64);
    let seconds = ops::multiply(ops::subtract(days(&x)?, days(&y)?)?, 86_400_i64)?;
    answer_ext(DurationTensor::new(seconds.tensor()?.clone(), "s")?)
}

/// The sum.
///
/// Errors: one that wraps, of symbols when the graph runs.
fn summed(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    if let Some(sum) = exact(a, b, i64::checked_add) {
        return Ok(sum);
    }
    let sum = ops::add(a, b)?;
    // A sum wraps where both have the sign that it has not.
    let (a, b) = (ops::bitwise_xor(a, &sum)?, ops::bitwise_xor(b, &sum)?);
    unless_wrapped(sum, &a, &b)
}

fn differed(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    if let Some(difference) = exact(a, b, i64::checked_sub) {
        return Ok(difference);
    }
    let difference = ops::subtract(a, b)?;
    let (a, b) = (ops::bitwise_xor(a, b)?, ops::bitwise_xor(a, &difference)?);
    unless_wrapped(difference, &a, &b)
}

/// What `f` makes of i64 that are there, pair by pair or beside one; none of symbols and of other sizes, or where it makes none.
pub(super) fn exact(a: &Tensor, b: &Tensor, f: fn(i64, i64) -> Option<i64>) -> Option<Tensor> {
    let (x, y) = (a.data().ok()?, b.data().ok()?);
    let (a, b) = (x.as_slice::<i64>().ok()?, y.as_slice::<i64>().ok()?);
    let (dims, made) = match (x.dims(), y.dims()) {
        (dims, like) if dims == like => (dims, each(a.len(), |i| f(a[i], b[i]))?),
        (dims, []) => (dims, each(a.len(), |i| f(a[i], b[0]))?),
        ([], dims) => (dims, each(b.len(), |i| f(a[0], b[i]))?),
        _ => return None,
    };
    Tensor::from_vec(made).with_dims(dims).ok()
}

/// The sum of durations along an axis or in rows, running or not.
///
/// Errors: one that does not fit 64 bits, of symbols when the graph runs.
fn total(call: &Call<'_>) -> Answer {
    let [x, rest @ ..] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<DurationTensor>(x) else { return Ok(None) };
    let sum = |counts: &Value| {
        let args: Vec<Arg> = std::iter::once(Arg::from(counts)).chain(rest.iter().cloned()).collect();
        call_one(call.op, &args, call.attrs)
    };
    let counts = Value::from(x.values().clone());
    let sums = sum(&counts)?;
    if are_small(x.values()) {
        return scaled::over(&x, sums);
    }
    // The sums of both halves are exact, of less than 2^31 counts.
    let upper = sum(&ops::bitwise_right_shift(&counts, 32)?)?;
    let lower = sum(&ops::bitwise_and(&counts, i64::from(u32::MAX))?)?;
    let upper = ops::add(upper, ops::bitwise_right_shift(lower, 32)?)?;
    let (least, greatest) = (i64::from(i32::MIN), i64::from(i32::MAX));
    let fits = ops::logical_and(ops::greater_equal(&upper, least)?, ops::less_equal(upper, greatest)?)?;
    scaled::over(&x, checked(sums, fits)?)
}

/// Whether no sum of these counts, which are data, can wrap.
fn are_small(counts: &Tensor) -> bool {
    let most = |counts: &[i64]| counts.iter().map(|count| count.unsigned_abs()).max().unwrap_or(0);
    let known = counts.data().and_then(|data| Ok((most(data.as_slice::<i64>()?), data.len())));
    known.is_ok_and(|(most, len)| u128::from(most) * (len as u128) < 1 << 63)
}

/// The durations backwards, or their lengths.
///
/// Errors: the least of all, which has no opposite.
fn turned(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<DurationTensor>(x) else { return Ok(None) };
    let counts = call_one(call.op, &[Arg::from(x.values())], call.attrs)?;
    scaled::over(&x, checked(counts, ops::not_equal(x.values(), i64::MIN)?)?)
}

/// The result, if `a` and `b` are not both negative anywhere.
fn unless_wrapped(result: Value, a: &Value, b: &Value) -> Result<Tensor> {
    checked(result, ops::greater_equal(ops::bitwise_and(a, b)?, 0_i64)?)?.tensor().cloned()
}
