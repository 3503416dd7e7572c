//! The order of values under a meaning: sorted, the largest and the smallest, equal ones.
//!
//! Invariant: elements are in the order of what [`Meaning::order`] gives of them; an element of a result is one of the value, or one of
//! the ends of the type where there is none.

use super::{Handle, Meaning, measured, moved};
use crate::args::{answer, flat, typed, typed_arg};
use crate::axes::{rank, zeros_of};
use crate::lists::unique_with_inverse;
use crate::{
    CategoricalTensor, DateTensor, DecimalTensor, DurationTensor, FixedBytesTensor, TimeTensor, TimestampTensor,
};
use extenso_core::attrs::Attrs;
use extenso_core::ops::{RowSort, Sort};
use extenso_core::{Answer, Arg, Call, OpDef, Target, Value, call_one, on, ops};
use extenso_types::{Result, TypeDef};
use std::sync::Arc;

/// Ops that give some of the elements, by their order.
static PICKS: [&OpDef; 8] = [
    &ops::MAX,
    &ops::MIN,
    &ops::SEGMENT_MAX,
    &ops::SEGMENT_MIN,
    &ops::CUMULATIVE_MAX,
    &ops::CUMULATIVE_MIN,
    &ops::SEGMENT_CUMULATIVE_MAX,
    &ops::SEGMENT_CUMULATIVE_MIN,
];

/// Ops that give positions, or numbers that are the same for the same elements.
static POSITIONS: [&OpDef; 8] = [
    &ops::ARGSORT,
    &ops::ARGMAX,
    &ops::ARGMIN,
    &ops::TOP_K_INDICES,
    &ops::SEARCHSORTED,
    &ops::FINGERPRINT,
    &ops::SEGMENT_ARGSORT,
    &ops::SEGMENT_RUNS,
];

/// Registers what looks at the order of elements.
pub(crate) fn register_order<T: Meaning>(def: &Arc<TypeDef>, name: &'static str) {
    let by = |numbers: Handle, keys: Handle| if T::BY_KEYS { keys } else { numbers };
    for op in PICKS {
        on(Target::Op(op), def, name, by(moved::<T>, picked::<T>));
    }
    for op in POSITIONS {
        on(Target::Op(op), def, name, measured::<T>);
    }
    for op in [&ops::SEGMENT_ARGMAX, &ops::SEGMENT_ARGMIN] {
        on(Target::Op(op), def, name, by(measured::<T>, numbered::<T>));
    }
    on(Target::Op(&ops::SORT), def, name, by(moved::<T>, sorted::<T>));
    on(Target::Op(&ops::SEGMENT_SORT), def, name, by(moved::<T>, sorted_rows::<T>));
    if T::BY_KEYS {
        on(Target::Op(&ops::MAXIMUM), def, name, |call| larger::<T>(call, &ops::GREATER_EQUAL));
        on(Target::Op(&ops::MINIMUM), def, name, |call| larger::<T>(call, &ops::LESS_EQUAL));
    }
}

/// `sort` takes the elements in their order.
fn sorted<T: Meaning>(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    if typed_arg::<T>(x).is_none() {
        return Ok(None);
    }
    let Sort { axis, descending } = *Sort::of(call.attrs)?;
    answer(ops::take_along_axis(x, ops::argsort(x, axis, descending)?, axis)?)
}

/// The same in each row.
fn sorted_rows<T: Meaning>(call: &Call<'_>) -> Answer {
    let [x, rows] = call.args else { return Ok(None) };
    if typed_arg::<T>(x).is_none() {
        return Ok(None);
    }
    let order = ops::segment_argsort(x, rows, RowSort::of(call.attrs)?.descending)?;
    answer(ops::take(x, ops::places_by_row(order, rows, rows)?, 0)?)
}

/// Distinct elements in their order, and which of them each element is.
struct Numbered<T> {
    distinct: T,
    numbers: Value,
}

impl<T: Meaning> Numbered<T> {
    fn of(x: &T) -> Result<Numbered<T>> {
        let whole = x.clone().into_value();
        let axes = rank(&whole)?;
        let flat = if axes == 1 { whole.clone() } else { ops::reshape(&whole, vec![-1_i64])? };
        let (distinct, numbers) = unique_with_inverse(&flat, 0)?;
        let numbers = if axes == 1 { numbers } else { ops::reshape_like(numbers, zeros_of(&whole, axes)?)? };
        Ok(Numbered { distinct: T::from_value(&distinct)?, numbers })
    }
}

/// The op on the numbers of the elements, and the elements of the numbers that it gives.
fn picked<T: Meaning>(call: &Call<'_>) -> Answer {
    let [x, rest @ ..] = call.args else { return Ok(None) };
    let Some(x) = typed_arg::<T>(x) else { return Ok(None) };
    let Numbered { distinct, numbers } = Numbered::of(&x)?;
    let count = ops::sum(ops::ones_like(crate::axes::positions(&distinct.clone().into_value())?)?, 0, false)?;
    let args: Vec<Arg> = std::iter::once(Arg::Value(numbers)).chain(rest.iter().cloned()).collect();
    let found = call_one(call.op, &args, call.attrs)?;
    // What is least and what is greatest of all, which a fold over nothing gives, stand behind the elements.
    let table = ops::concat(vec![distinct.into_value(), x.ends()?.into_value()], 0)?;
    let greatest = ops::add(&count, 1)?;
    let place = ops::where_(ops::greater(&found, &greatest)?, greatest, found)?;
    answer(ops::take(table, ops::where_(ops::less(&place, 0)?, count, &place)?, 0)?)
}

/// The op on the numbers of the elements.
fn numbered<T: Meaning>(call: &Call<'_>) -> Answer {
    let [x, rest @ ..] = call.args else { return Ok(None) };
    let Some(x) = typed_arg::<T>(x) else { return Ok(None) };
    let args: Vec<Arg> = std::iter::once(Arg::Value(Numbered::of(&x)?.numbers)).chain(rest.iter().cloned()).collect();
    answer(call_one(call.op, &args, call.attrs)?)
}

/// The elements of the first where the comparison holds, and of the second elsewhere.
fn larger<T: Meaning>(call: &Call<'_>, comparison: &'static OpDef) -> Answer {
    let [x, y] = flat(call) else { return Ok(None) };
    let (Some(a), Some(b)) = (typed_arg::<T>(x), typed_arg::<T>(y)) else { return Ok(None) };
    let (a, b) = a.alike(&b)?;
    let (a, b) = (Arg::Value(a.into_value()), Arg::Value(b.into_value()));
    answer(ops::where_(call_one(comparison, &[a.clone(), b.clone()], call.attrs)?, a, b)?)
}

/// Numbers in the order of the elements of a type that has one; none of another value.
pub(crate) fn in_numbers(value: &Value) -> Result<Option<Value>> {
    fn of<T: Meaning>(value: &Value) -> Option<Result<Value>> {
        let x = typed::<T>(value)?;
        Some(if T::BY_KEYS { Numbered::of(&x).map(|found| found.numbers) } else { x.order() })
    }
    super::first_of!(of(value); TimestampTensor, DateTensor, TimeTensor, DurationTensor, DecimalTensor, CategoricalTensor,
        FixedBytesTensor)
    .transpose()
}
