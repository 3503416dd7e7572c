//! Elementwise ops and reductions of masked tensors.
//!
//! A result is there where every masked operand is; a reduction passes over what is missing. What lies under a missing
//! value is replaced wherever the op could fail on it or count it.

use super::MaskedTensor;
use super::operands::{Item, Mask, Operands};
use super::structure::stretched;
use crate::args::{again, answer, answer_ext, flat, held, on_value, typed, typed_arg, wrap};
use crate::axes::{dim, outer, rank};
use crate::meaning::order::lacks_identity;
use crate::meaning::over_elements;
use crate::ragged::reduction::{over_axes, segment_op};
use crate::ragged::{RaggedTensor, zero};
use crate::structs::masked_by;
use crate::{DecimalTensor, DurationTensor, TimestampTensor};
use extenso_core::attrs::{Attrs, Axes, NoAttrs};
use extenso_core::reduce::{Fold, Reduce, normalize_axes};
use extenso_core::{Answer, Arg, Call, ExtensionType, Kernel, OpDef, Tensor, Value, call_one, ops};
use extenso_types::{DTypeKind, Dim, Result};
use smallvec::SmallVec;

/// A unary op is the op on the values, under the same mask.
pub(super) fn unary(call: &Call<'_>) -> Answer {
    match flat(call).first().and_then(typed_arg::<MaskedTensor>) {
        Some(x) => answer_ext(MaskedTensor { values: on_value(call, &with_opposites(call, &x)?)?, mask: x.mask }),
        None => Ok(None),
    }
}

/// The values, of which none is the least duration where it is missing: that has no opposite.
fn with_opposites(call: &Call<'_>, x: &MaskedTensor) -> Result<Value> {
    let turns = *call.op == ops::NEGATIVE || *call.op == ops::ABS;
    let zeros = || over_elements(x.values(), &|counts| ops::zeros_like(counts));
    match (turns && typed::<DurationTensor>(x.values()).is_some()).then(zeros).flatten() {
        Some(zeros) => x.filled(zeros?),
        None => Ok(x.values().clone()),
    }
}

/// An op of several operands that broadcast.
pub(super) fn elementwise(call: &Call<'_>) -> Answer {
    if let Some((values, mask)) = alike(call)? {
        return wrap(again(call, &values)?, |values| Ok(MaskedTensor { values, mask: mask.clone() }.into_value()));
    }
    let may_not_fit = flat(call).iter().any(counts);
    let Some(given) = Operands::given(call)? else { return Ok(None) };
    if let Some(deep) = given.with_rows_as_deep()? {
        return again(call, &deep).map(Some);
    }
    if let Some(rows) = rows_outside(call, &given)? {
        return Ok(Some(rows));
    }
    let Some(operands) = given.with_masks_first() else { return Ok(None) };
    let masks = operands.masks()?;
    let mut values = operands.values();
    if may_not_fit {
        for value in &mut values {
            *value = masks.iter().try_fold(value.clone(), |value, mask| zero_outside(value, mask, operands.rank))?;
        }
    }
    wrap(again(call, &values)?, |values| masks.iter().try_fold(values, |values, mask| mask.over(values)))
}

/// Whether the operand is of a type whose sums may not fit it: what lies under a missing value is not added then.
fn counts(arg: &Arg) -> bool {
    let Arg::Value(value) = arg else { return false };
    let below = below_rows(value);
    typed::<TimestampTensor>(&below).is_some()
        || typed::<DurationTensor>(&below).is_some()
        || typed::<DecimalTensor>(&below).is_some()
}

/// The operand with zero where the mask is false, if it has axes and its type is one value under a meaning.
fn zero_outside(arg: Arg, mask: &Mask, of_rank: usize) -> Result<Arg> {
    let Arg::Value(value) = &arg else { return Ok(arg) };
    match over_elements(value, &|elements| ops::zeros_like(elements)) {
        Some(zeros) if rank(value)? > 0 => Ok(Arg::Value(ops::where_(mask.against(of_rank)?, value, zeros?)?)),
        Some(_) | None => Ok(arg),
    }
}

/// The op on rows of which some are missing as a whole, where operands differ in what they have there, or one has a mask of what is in
/// the rows: the rows that are there come first, and their mask after.
fn rows_outside(call: &Call<'_>, operands: &Operands) -> Answer {
    let Some(mask) = operands.row_mask()? else { return Ok(None) };
    let may_not_fit = flat(call).iter().any(counts);
    if !operands.cover_rows() && !may_not_fit && (!operands.rows_differ()? || all_there(&mask)) {
        return Ok(None);
    }
    let Some(there) = operands.rows_there(&mask)? else { return Ok(None) };
    wrap(again(call, &there.operands)?, |values| there.among_all(&values))
}

/// Whether it is known that nothing is missing.
fn all_there(mask: &Tensor) -> bool {
    mask.data().and_then(|data| data.bits()).is_ok_and(|bits| bits.count_set_bits() == bits.len())
}

/// The values of dense operands that are masked element by element, all of one shape, and where all are there; tensors always fit.
fn alike(call: &Call<'_>) -> Result<Option<(SmallVec<[Arg; 2]>, Tensor)>> {
    let mut shared: Option<(&[usize], Tensor)> = None;
    let mut values = SmallVec::new();
    for arg in flat(call) {
        if matches!(arg, Arg::Scalar(_)) {
            values.push(arg.clone());
            continue;
        }
        let Some((x, dims)) = held::<MaskedTensor>(arg).and_then(|x| Some((x, whole(x)?))) else { return Ok(None) };
        values.push(Arg::from(x.values()));
        shared = Some(match shared {
            None => (dims, x.mask.clone()),
            Some((of, _)) if of != dims => return Ok(None),
            Some((_, mask)) if mask.same(&x.mask) => (dims, mask),
            Some((_, mask)) => (dims, ops::logical_and(mask, &x.mask)?.tensor()?.clone()),
        });
    }
    Ok(shared.map(|(_, mask)| (values, mask)))
}

/// The sizes of dense values that have a mask of as many axes.
fn whole(x: &MaskedTensor) -> Option<&[usize]> {
    let Value::Tensor(values) = &x.values else { return None };
    let with_data = values.symbol().is_none() && x.mask.symbol().is_none();
    let (values, mask) = with_data.then(|| Some((values.data().ok()?, x.mask.data().ok()?)))??;
    (values.dims() == mask.dims()).then_some(values.dims())
}

/// The second operand is one under a missing value: integers there are not divided by zero, nor have a negative power.
pub(super) fn faulting(call: &Call<'_>) -> Answer {
    with_second(call, one_like)
}

/// The second operand is zero under a missing value: nothing is repeated there.
pub(super) fn repeated(call: &Call<'_>) -> Answer {
    with_second(call, |_| Ok(Arg::from(0_i64)))
}

fn with_second(call: &Call<'_>, stand_in: fn(&Value) -> Result<Arg>) -> Answer {
    let Some(given) = Operands::given(call)? else { return Ok(None) };
    if let Some(deep) = given.with_rows_as_deep()? {
        return again(call, &deep).map(Some);
    }
    if let Some(rows) = rows_outside(call, &given)? {
        return Ok(Some(rows));
    }
    let Some(operands) = given.with_masks_first() else { return Ok(None) };
    let masks = operands.masks()?;
    let [x, y] = &operands.values()[..] else { return Ok(None) };
    let there = |second: Value, mask: &Mask| {
        let other = stand_in(&second)?;
        ops::where_(mask.against(operands.rank)?, second, other)
    };
    let y = match y {
        Arg::Value(second) => Arg::Value(masks.iter().try_fold(second.clone(), there)?),
        Arg::Scalar(_) | Arg::List(_) => y.clone(),
    };
    let x = match counts(x) {
        true => masks.iter().try_fold(x.clone(), |x, mask| zero_outside(x, mask, operands.rank))?,
        false => x.clone(),
    };
    wrap(again(call, &[x, y])?, |values| masks.iter().try_fold(values, |values, mask| mask.over(values)))
}

/// One, which is one unit of durations.
fn one_like(value: &Value) -> Result<Arg> {
    match typed::<DurationTensor>(&below_rows(value)) {
        Some(by) => Ok(Arg::Value(DurationTensor::new(Tensor::scalar(1_i64), by.unit())?.into_value())),
        None => Ok(Arg::from(1_i64)),
    }
}

/// Quotients of floats are there whatever they are of; decimals and durations are not divided by zero, nor by what lies under a missing one.
pub(super) fn divide(call: &Call<'_>) -> Answer {
    let of_integers = |arg: &Arg| match arg {
        Arg::Value(value) => {
            let below = below_rows(value);
            typed::<DecimalTensor>(&below).is_some() || typed::<DurationTensor>(&below).is_some()
        }
        Arg::Scalar(_) | Arg::List(_) => false,
    };
    if flat(call).iter().any(of_integers) { faulting(call) } else { elementwise(call) }
}

/// The result is there where the condition is and what it picks.
pub(super) fn where_(call: &Call<'_>) -> Answer {
    let Some(given) = Operands::given(call)? else { return Ok(None) };
    if let Some(deep) = given.with_rows_as_deep()? {
        return again(call, &deep).map(Some);
    }
    if let Some(rows) = super::choice::of_rows(call)? {
        return answer(rows);
    }
    let Some(operands) = given.with_masks_first() else { return Ok(None) };
    let [condition, x, y] = &operands.items[..] else { return Ok(None) };
    if let (Item::Masked(outer, ..), Some(covers)) = (condition, condition.covers(operands.rank))
        && typed::<MaskedTensor>(outer.values()).is_some()
    {
        // Below the mask lies another: what is chosen by that is there where the condition is.
        let [_, x, y] = flat(call) else { return Ok(None) };
        let chosen = again(call, &[Arg::from(outer.values()), x.clone(), y.clone()])?;
        let mask = Mask { mask: outer.mask.clone().into(), covers, rank: operands.rank };
        return wrap(chosen, |values| mask.over(values));
    }
    if let Some(mask) = condition.only_mask(&[x, y], operands.rank)? {
        return wrap(again(call, &operands.values())?, |values| mask.over(values));
    }
    // As far as rows are chosen, and not their elements, a row that is missing stays one: a mask of more axes comes after that of the rows.
    let covers = [x, y].iter().filter_map(|item| item.covers(operands.rank)).min().unwrap_or(0);
    let covers = covers.max(condition.tells_apart(operands.rank)?);
    let is_inside = |item: &Item| item.covers(operands.rank).is_some_and(|own| own > covers);
    let value = |item: &Item| if is_inside(item) { item.given() } else { item.value() };
    let picked = again(call, &[condition.value(), value(x), value(y)])?;
    let present = |item: &Item| match is_inside(item) {
        true => Ok(Arg::from(true)),
        false => item.mask(operands.rank, covers).map(|mask| mask.map_or(Arg::from(true), Arg::Value)),
    };
    let chosen = ops::where_(condition.without_last(operands.rank - covers)?, present(x)?, present(y)?)?;
    let mut masks = SmallVec::<[Mask; 2]>::from_iter([Mask { mask: chosen, covers, rank: operands.rank }]);
    if let Some(covers) = condition.covers(operands.rank)
        && let Some(mask) = condition.mask(operands.rank, covers)?
    {
        masks.push(Mask { mask, covers, rank: operands.rank });
    }
    wrap(picked, |values| masks.iter().try_fold(values, |values, mask| mask.over(values)))
}

/// A reduction passes over what is missing; where nothing is there it gives its identity, and nothing if it has none. What is missing as a
/// whole, beside the axes that are folded, stays missing: a list that is not there has no sum.
pub(super) fn reduce(call: &Call<'_>) -> Answer {
    let (Kernel::Reduction(fold), [arg]) = (call.op.kernel, flat(call)) else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(arg) else { return Ok(None) };
    let rows = x.rows_there()?.map(ExtensionType::into_value);
    let inside = match &Reduce::of(call.attrs)?.axis {
        Axes::All => false,
        Axes::List(axes) => {
            let known = x.mask_rank()?;
            normalize_axes(axes, rank(x.values())?)?.iter().all(|&axis| axis >= known)
        }
    };
    if inside {
        let folded = on_value(call, rows.as_ref().unwrap_or(x.values()))?;
        return answer(masked_by(folded, x.mask())?);
    }
    match rows {
        Some(rows) => answer(on_value(call, &rows)?),
        None if lacks_identity(fold, x.values()) => answer(extreme_of_those_there(call, fold, &x)?),
        None => answer(on_value(call, &x.filled(identity(call.op, &x)?)?)?),
    }
}

/// A fold over the rows of a partition passes over what is missing.
pub(super) fn segments(call: &Call<'_>) -> Answer {
    let (Kernel::Segment(fold), [values, partition]) = (call.op.kernel, call.args) else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(values) else { return Ok(None) };
    if let Some(rows) = x.rows_there()? {
        return answer(call_one(call.op, &[Arg::Value(rows.into_value()), partition.clone()], call.attrs)?);
    }
    let filled = x.filled(passed_over(fold, &x)?)?;
    let folded = call_one(call.op, &[Arg::Value(filled), partition.clone()], call.attrs)?;
    if !lacks_identity(fold, x.values()) {
        return answer(folded);
    }
    answer(masked_by(folded, ops::segment_any(stretched(&x)?.mask(), partition)?.tensor()?)?)
}

/// The largest or the smallest of the elements that are there, which is missing where none is.
fn extreme_of_those_there(call: &Call<'_>, fold: Fold, x: &MaskedTensor) -> Result<Value> {
    let fill = passed_over(fold, x)?;
    let axes: Vec<usize> = match &Reduce::of(call.attrs)?.axis {
        Axes::All => (0..rank(x.values())?).collect(),
        Axes::List(axes) => normalize_axes(axes, rank(x.values())?)?.to_vec(),
    };
    let best = on_value(call, &at_least_one(x.filled(&fill)?, &fill, &axes)?)?;
    masked_by(best, call_one(&ops::ANY, &[Arg::from(stretched(x)?.mask())], call.attrs)?.tensor()?)
}

/// The values with one more element along each of the axes that may have none.
fn at_least_one(values: Value, fill: &Value, axes: &[usize]) -> Result<Value> {
    let mut widths = Vec::new();
    for axis in 0..rank(&values)? {
        let size = if axis == 0 { outer(&values).unwrap_or_else(Dim::any) } else { dim(&values, axis)? };
        let more = axes.contains(&axis) && size.known().is_none_or(|size| size == 0);
        widths.extend([0, i64::from(more)]);
    }
    if widths.iter().all(|width| *width == 0) { Ok(values) } else { ops::pad(values, fill, widths) }
}

/// An element that the fold passes over beside those of the value.
fn passed_over(fold: Fold, x: &MaskedTensor) -> Result<Value> {
    match &below_rows(x.values()) {
        // No text is the greatest that there can be: it is the greatest of these.
        Value::Tensor(texts) if fold == Fold::Min && texts.dtype().kind() == DTypeKind::Text => {
            let flat = ops::reshape(texts, vec![-1_i64])?;
            ops::max(at_least_one(flat, &zero(texts.dtype())?, &[0])?, Axes::All, false)
        }
        _ => identity(over_axes(fold), x),
    }
}

/// What a reduction gives for no elements, in the type of the values; of those that lack it, what it gives for an empty row.
pub(super) fn identity(op: &'static OpDef, x: &MaskedTensor) -> Result<Value> {
    let below = below_rows(x.values());
    let all = Reduce { axis: Axes::All, keepdims: false };
    let none = |values: Value| ops::slice(values, 0, 0, Some(vec![0]), 1);
    let Value::Tensor(tensor) = &below else {
        let elements =
            none(if rank(&below)? == 0 { ops::expand_dims(&below, 0)? } else { ops::reshape(&below, vec![-1_i64])? })?;
        return match op.kernel {
            Kernel::Reduction(fold) if lacks_identity(fold, &below) => {
                let row = ops::partition_from_lengths(Tensor::from_vec(vec![0_i64]))?;
                let of_row = call_one(segment_op(fold), &[Arg::Value(elements), Arg::Value(row)], &NoAttrs {})?;
                ops::take(of_row, 0, 0)
            }
            _ => call_one(op, &[Arg::Value(elements)], &all),
        };
    };
    let dtype = tensor.dtype();
    if dtype.kind() == DTypeKind::Text {
        return zero(dtype);
    }
    let identity = call_one(op, &[Arg::Value(none(ops::expand_dims(zero(dtype)?, 0)?)?)], &all)?;
    call_one(&ops::CAST, &[Arg::Value(identity)], &ops::Cast { dtype })
}

/// The values below every ragged axis and mask.
fn below_rows(values: &Value) -> Value {
    let below = typed::<RaggedTensor>(values).map(|x| x.values().clone());
    let below = below.or_else(|| typed::<MaskedTensor>(values).map(|x| x.values().clone()));
    below.map_or_else(|| values.clone(), |below| below_rows(&below))
}
