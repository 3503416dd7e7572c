//! The order of values under a meaning: sorted, the largest and the smallest, equal ones.
//!
//! Invariant: elements are in the order of what [`Meaning::order`] gives of them; an element of a result is one of the value. Where a fold
//! over rows finds none, one of the ends of the type stands under the mask of the result.

use super::nested::innermost;
use super::{Handle, Meaning, measured, moved, rank_of};
use crate::args::{again, answer, flat, int, typed, typed_arg, typed_ref};
use crate::axes::{rank, zeros_of};
use crate::lists::unique_with_inverse;
use crate::masked::looked_up_values;
use crate::{
    CategoricalTensor, DateTensor, DecimalTensor, DurationTensor, FixedBytesTensor, TimeTensor, TimestampTensor,
};
use extenso_core::attrs::{Attrs, Axes};
use extenso_core::ops::{ArgExtreme, RowSort, Sort};
use extenso_core::reduce::{Fold, Reduce, normalize_axes};
use extenso_core::{Answer, Arg, Call, OpDef, Target, Value, call_one, on, ops};
use extenso_types::{DTypeKind, Result, TypeDef};
use std::sync::Arc;

/// Ops that give some of the elements, by their order.
static PICKS: [&OpDef; 6] = [
    &ops::SEGMENT_MAX,
    &ops::SEGMENT_MIN,
    &ops::CUMULATIVE_MAX,
    &ops::CUMULATIVE_MIN,
    &ops::SEGMENT_CUMULATIVE_MAX,
    &ops::SEGMENT_CUMULATIVE_MIN,
];

/// Ops that give positions, or numbers that are the same for the same elements.
static POSITIONS: [&OpDef; 9] = [
    &ops::LOOKUP,
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
    on(Target::Op(&ops::MAX), def, name, |call| extreme::<T>(call, &ops::ARGMAX));
    on(Target::Op(&ops::MIN), def, name, |call| extreme::<T>(call, &ops::ARGMIN));
    for op in POSITIONS {
        on(Target::Op(op), def, name, measured::<T>);
    }
    for op in [&ops::SEGMENT_ARGMAX, &ops::SEGMENT_ARGMIN] {
        on(Target::Op(op), def, name, by(measured::<T>, numbered::<T>));
    }
    on(Target::Op(&ops::SORT), def, name, by(moved::<T>, sorted::<T>));
    on(Target::Op(&ops::SEGMENT_SORT), def, name, by(moved::<T>, sorted_rows::<T>));
    on(Target::Op(&ops::LOOKUP_VALUES), def, name, looked_up::<T>);
    on(Target::Op(&ops::VOCABULARY), def, name, by(moved::<T>, most_frequent::<T>));
    if T::BY_KEYS {
        on(Target::Op(&ops::MAXIMUM), def, name, |call| larger::<T>(call, &ops::GREATER_EQUAL));
        on(Target::Op(&ops::MINIMUM), def, name, |call| larger::<T>(call, &ops::LESS_EQUAL));
    }
}

/// `lookup_values` finds elements among keys; the values are what they are.
fn looked_up<T: Meaning>(call: &Call<'_>) -> Answer {
    let [x, keys, rest @ ..] = call.args else { return Ok(None) };
    let (Some(x), Some(keys)) = (typed_arg::<T>(x), typed_arg::<T>(keys)) else {
        let values = rest.first().and_then(typed_arg::<T>);
        return if values.is_some() && typed_arg::<T>(x).is_none() { looked_up_values(call) } else { Ok(None) };
    };
    let (x, keys) = x.alike(&keys)?;
    let orders = T::orders(&[&x, &keys])?;
    let args: Vec<Arg> = orders.into_iter().map(Arg::Value).chain(rest.iter().cloned()).collect();
    again(call, &args).map(Some)
}

/// `vocabulary` counts distinct elements.
fn most_frequent<T: Meaning>(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<T>(x) else { return Ok(None) };
    let Numbered { distinct, numbers } = Numbered::of(&x)?;
    answer(ops::take(distinct.into_value(), call_one(call.op, &[Arg::Value(numbers)], call.attrs)?, 0)?)
}

/// The elements at the positions of the extremes: an axis without elements has none.
fn extreme<T: Meaning>(call: &Call<'_>, position: &'static OpDef) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(typed) = typed_arg::<T>(x) else { return Ok(None) };
    let (rank, whole) = (rank_of(&typed)?, x.value()?);
    let Reduce { axis, keepdims } = Reduce::of(call.attrs)?;
    let place = |x: &Value, axis, keepdims| call_one(position, &[Arg::from(x)], &ArgExtreme { axis, keepdims });
    let Axes::List(axes) = axis else {
        let flat = if rank == 1 { whole.clone() } else { ops::reshape(whole, vec![-1_i64])? };
        let found = ops::take(&flat, place(&flat, Axes::All, false)?, 0)?;
        return answer(if *keepdims { ops::reshape(found, vec![1_i64; rank])? } else { found });
    };
    let axes: Vec<i64> = normalize_axes(axes, rank)?.iter().map(|&axis| int(axis)).collect();
    let along = |x: Value, &axis: &i64| ops::take_along_axis(&x, place(&x, Axes::List(vec![axis]), true)?, axis);
    let found = axes.iter().try_fold(whole.clone(), along)?;
    answer(if *keepdims || axes.is_empty() { found } else { ops::squeeze(found, axes)? })
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
    answer(ops::take_along_axis(x, ops::places_by_row(order, rows, rows)?, 0)?)
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

/// What the first of the types whose elements have an order makes of arguments.
macro_rules! first_of_ordered {
    ($of:ident $args:tt) => {
        super::first_of!($of $args; TimestampTensor, DateTensor, TimeTensor, DurationTensor, DecimalTensor, CategoricalTensor,
            FixedBytesTensor)
    };
}

/// Numbers in the order of the elements of a type that has one; none of another value.
pub(crate) fn in_numbers(value: &Value) -> Result<Option<Value>> {
    fn of<T: Meaning>(value: &Value) -> Option<Result<Value>> {
        let x = typed::<T>(value)?;
        Some(if T::BY_KEYS { Numbered::of(&x).map(|found| found.numbers) } else { x.order() })
    }
    first_of_ordered!(of(value)).transpose()
}

/// Whether elements are equal where their keys are, and these are found at once: decimals, and categories of distinct words.
pub(crate) fn has_keys(value: &Value) -> bool {
    typed_ref::<DecimalTensor>(value).is_some()
        || typed_ref::<CategoricalTensor>(value).is_some_and(|x| x.are_distinct())
}

/// Numbers or texts of elements in their order, by which they are equal as well; none of a value that has none.
pub(crate) fn keys_of(value: &Value) -> Result<Option<Value>> {
    if !has_keys(value) {
        return Ok(None);
    }
    if let Some(x) = typed_ref::<CategoricalTensor>(value) {
        return x.order().map(Some);
    }
    let Some(x) = typed_ref::<DecimalTensor>(value) else { return Ok(None) };
    Ok(DecimalTensor::orders(&[&x])?.pop())
}

/// The same of two values of one meaning, times among them; none of others.
pub(crate) fn keys_of_both(a: &Value, b: &Value) -> Result<Option<[Value; 2]>> {
    fn of<T: Meaning>(a: &Value, b: &Value) -> Option<Result<Vec<Value>>> {
        let (a, b) = (typed_ref::<T>(a)?, typed_ref::<T>(b)?);
        a.meets(&b).is_ok().then(|| T::orders(&[&a, &b]))
    }
    let found = super::first_of!(of(a, b); TimestampTensor, DateTensor, TimeTensor, DurationTensor, DecimalTensor);
    Ok(found.transpose()?.and_then(|keys| keys.try_into().ok()))
}

/// Whether the fold has nothing to say of no elements like those of the value: texts, times, decimals and categories have no largest and no
/// smallest of none.
pub(crate) fn lacks_identity(fold: Fold, value: &Value) -> bool {
    fn of<T: Meaning>(value: &Value) -> Option<()> {
        typed_ref::<T>(value).map(|_| ())
    }
    if !matches!(fold, Fold::Max | Fold::Min) {
        return false;
    }
    match &innermost(value) {
        Value::Tensor(tensor) => tensor.dtype().kind() == DTypeKind::Text,
        Value::Partition(_) => false,
        inner @ Value::Ext(ext) => {
            let as_text = || ext.to_tensor().and_then(Result::ok).is_some_and(|x| x.dtype().kind() == DTypeKind::Text);
            first_of_ordered!(of(inner)).is_some() || as_text()
        }
    }
}
