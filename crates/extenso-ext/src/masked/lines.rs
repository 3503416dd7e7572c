//! Ops on lines along an axis of masked tensors: orders, positions, running folds, moves.
//!
//! Missing elements are sorted last in either direction and stay missing; `argmax` passes over them; running folds take them
//! as the identity of the fold, and they stay missing. Along an axis that the mask does not have, elements are missing
//! together, and the op is the op on the values.

use super::arithmetic::identity;
use super::structure::{inside, stretched};
use super::{MaskedTensor, lists_there, missing_lists, trailing};
use crate::args::{answer, answer_ext, flat, int, on_value, typed, typed_arg};
use crate::axes::{rank, zeros_of};
use crate::lists::spread;
use crate::meaning::order::in_numbers;
use crate::meaning::over_elements;
use crate::missing::mask as masked_where;
use crate::ragged::{RaggedTensor, zero};
use crate::structs::masked_by;
use extenso_core::attrs::{Attrs, Axes};
use extenso_core::ops::{ArgExtreme, Cumulative, LinearScan, RowSort, Shift, Sort};
use extenso_core::reduce::normalize_axis;
use extenso_core::{Answer, Arg, Call, ExtensionType, OpDef, Tensor, Value, call_one, ops};
use extenso_types::{DType, DTypeKind, Error, Result};

/// How lines are ordered and elements picked: along an axis, or in the rows of a partition.
struct Lines<'a> {
    argsort: &'a dyn Fn(&Value, bool) -> Result<Value>,
    pick: &'a dyn Fn(&Value, &Value) -> Result<Value>,
}

impl Lines<'_> {
    /// The order of the elements with missing ones last: they are moved there, and all keep their order, whatever lies there.
    fn order(&self, x: &MaskedTensor, descending: bool) -> Result<Value> {
        let order = (self.argsort)(&alike_below(x)?, descending)?;
        let missing = ops::logical_not(x.mask())?;
        let last = (self.argsort)(&(self.pick)(&missing, &order)?, false)?;
        (self.pick)(&order, &last)
    }
}

/// The values, with the same in all places where they are missing.
fn alike_below(x: &MaskedTensor) -> Result<Value> {
    let alike = |elements: Value| {
        let Ok(dtype) = elements.tensor().map(Tensor::dtype) else { return Ok(elements) };
        let mask = trailing(&x.mask().clone().into(), rank(&elements)? - x.mask_rank()?)?;
        ops::where_(mask, &elements, zero(dtype)?)
    };
    match x.values() {
        values @ Value::Tensor(_) => alike(values.clone()),
        values => over_elements(values, &alike).unwrap_or_else(|| Ok(values.clone())),
    }
}

fn order_along(x: &MaskedTensor, axis: i64, descending: bool) -> Result<Value> {
    let argsort = |x: &Value, descending| ops::argsort(x, axis, descending);
    Lines { argsort: &argsort, pick: &|x, at| ops::take_along_axis(x, at, axis) }.order(x, descending)
}

/// The first argument as a masked value and its position among the axes of the mask, or none if the mask lacks the axis.
fn along(x: &MaskedTensor, axis: i64) -> Result<Option<i64>> {
    let axis = normalize_axis(axis, rank(x.values())?)?;
    Ok((axis < x.mask_rank()?).then_some(int(axis)))
}

/// Along the axis of rows that may be missing as a whole: the op on the others, column by column.
fn rows_there(call: &Call<'_>, x: &MaskedTensor, axis: i64) -> Result<Option<Value>> {
    match x.rows_there()? {
        Some(rows) if normalize_axis(axis, rank(x.values())?)? == 0 => on_value(call, &rows.into_value()).map(Some),
        Some(_) | None => Ok(None),
    }
}

/// What lists of one size hold that are there in all arguments, and the numbers of these.
type OfThere<'a> = &'a dyn Fn(Vec<Value>, &Value) -> Result<Value>;

/// Along the axis of lists of one size that may be missing as a whole: what `f` makes of the others, which stay in their places.
fn of_lists_there(args: &[Value], axis: i64, f: OfThere<'_>) -> Result<Option<Value>> {
    let Some(first) = args.first() else { return Ok(None) };
    if normalize_axis(axis, rank(first)?)? != 0 || args.iter().all(|x| missing_lists(x).is_none()) {
        return Ok(None);
    }
    let Some((lists, mask)) = lists_there(args)? else { return Ok(None) };
    if lists.iter().any(|lists| typed::<RaggedTensor>(lists).is_some()) {
        return Ok(None);
    }
    let at = ops::boolean_mask(ops::indices_along(&mask, 0)?, &mask, 0)?;
    let there = lists.into_iter().map(|lists| ops::take(lists, &at, 0)).collect::<Result<Vec<Value>>>()?;
    let each = ops::partition_from_lengths(ops::cast(&mask, DType::I64)?)?;
    masked_by(spread(&f(there, &at)?, &each)?, &mask).map(Some)
}

/// The same of an op of one argument.
fn lists_in_place(call: &Call<'_>, x: &MaskedTensor, axis: i64) -> Result<Option<Value>> {
    let rest = &flat(call)[1..];
    of_lists_there(&[x.clone().into_value()], axis, &|there, _| {
        let args: Vec<Arg> = there.into_iter().map(Arg::Value).chain(rest.iter().cloned()).collect();
        call_one(call.op, &args, call.attrs)
    })
}

/// `sort` puts what is missing last; rows that are missing stay so.
pub(super) fn sort(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(x) else { return Ok(None) };
    let Sort { axis, descending } = *Sort::of(call.attrs)?;
    if let Some(sorted) = lists_in_place(call, &x, axis)? {
        return answer(sorted);
    }
    if let Some(sorted) = rows_there(call, &x, axis)? {
        return answer_ext(MaskedTensor::new(sorted, x.mask)?);
    }
    let Some(axis) = along(&x, axis)? else { return answer_ext(inside(call, &x, &[], call.attrs)?) };
    let x = stretched(&x)?;
    let order = order_along(&x, axis, descending)?;
    answer(ops::take_along_axis(x.into_value(), order, axis)?)
}

/// `argsort` gives the positions in that order; no position is missing.
pub(super) fn argsort(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(x) else { return Ok(None) };
    let Sort { axis, descending } = *Sort::of(call.attrs)?;
    let order = |there: Vec<Value>, at: &Value| {
        let args: Vec<Arg> = there.into_iter().map(Arg::Value).collect();
        ops::take(at, call_one(call.op, &args, call.attrs)?, 0)
    };
    if let Some(order) = of_lists_there(&[x.clone().into_value()], axis, &order)? {
        return answer(order);
    }
    if let Some(order) = rows_there(call, &x, axis)? {
        return answer_ext(MaskedTensor::new(order, x.mask)?);
    }
    match along(&x, axis)? {
        Some(axis) => answer(order_along(&stretched(&x)?, axis, descending)?),
        None => answer_ext(inside(call, &x, &[], call.attrs)?),
    }
}

/// `top_k_indices` gives positions of missing elements only where there are fewer others.
pub(super) fn top_k(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(x) else { return Ok(None) };
    if along(&x, -1)?.is_none() {
        return answer_ext(inside(call, &x, &[], call.attrs)?);
    }
    let x = stretched(&x)?;
    let numbers = in_numbers(x.values())?;
    if let values @ Value::Tensor(_) = numbers.as_ref().unwrap_or(x.values()) {
        return answer(call_one(&ops::TOP_K_INDICES_WHERE, &[Arg::from(values), Arg::from(x.mask())], call.attrs)?);
    }
    let order = order_along(&x, -1, true)?;
    // The place of each element in the order; the largest of their negatives is the first.
    answer(on_value(call, &ops::negative(ops::argsort(order, -1, false)?)?)?)
}

/// `segment_argsort` puts what is missing last in each row.
pub(super) fn segment_argsort(call: &Call<'_>) -> Answer {
    let [x, rows] = call.args else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(x) else { return Ok(None) };
    answer(order_in_rows(&stretched(&x)?, rows, RowSort::of(call.attrs)?.descending)?)
}

/// `segment_sort` likewise.
pub(super) fn segment_sort(call: &Call<'_>) -> Answer {
    let [x, rows] = call.args else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(x) else { return Ok(None) };
    let x = stretched(&x)?;
    let order = order_in_rows(&x, rows, RowSort::of(call.attrs)?.descending)?;
    answer(ops::take_along_axis(x.into_value(), ops::places_by_row(order, rows, rows)?, 0)?)
}

fn order_in_rows(x: &MaskedTensor, rows: &Arg, descending: bool) -> Result<Value> {
    let argsort = |x: &Value, descending| ops::segment_argsort(x, rows, descending);
    let pick = |x: &Value, at: &Value| ops::take_along_axis(x, ops::places_by_row(at, rows, rows)?, 0);
    Lines { argsort: &argsort, pick: &pick }.order(x, descending)
}

/// `argmax` passes over what is missing; a position is missing where all elements are.
pub(super) fn argmax(call: &Call<'_>) -> Answer {
    extreme(call, &ops::MAX)
}

/// `argmin` likewise.
pub(super) fn argmin(call: &Call<'_>) -> Answer {
    extreme(call, &ops::MIN)
}

fn extreme(call: &Call<'_>, fold: &'static OpDef) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(x) else { return Ok(None) };
    if let Axes::List(axes) = &ArgExtreme::of(call.attrs)?.axis
        && let [one] = axes[..]
    {
        if let Some(found) = rows_there(call, &x, one)? {
            return answer(found);
        }
        if along(&x, one)?.is_some() {
            return extreme_beside(call, &x, fold);
        }
        let found = call_one(call.op, &[Arg::from(x.values())], call.attrs)?;
        return answer(masked_by(found, x.mask())?);
    }
    // Missing rows have no elements, and no places among those of the others.
    if let Some(rows) = x.rows_there()? {
        return answer(on_value(call, &rows.into_value())?);
    }
    extreme_beside(call, &x, fold)
}

/// The extreme among elements of which each may be missing.
fn extreme_beside(call: &Call<'_>, x: &MaskedTensor, fold: &'static OpDef) -> Answer {
    let ArgExtreme { axis, keepdims } = ArgExtreme::of(call.attrs)?.clone();
    let x = comparable(&stretched(x)?)?;
    let folded = |fold: &'static OpDef, x: Value, keepdims| {
        let attrs = extenso_core::reduce::Reduce { axis: axis.clone(), keepdims };
        call_one(fold, &[Arg::Value(x)], &attrs)
    };
    // Where none is there, nothing is the best.
    let best = unmasked(folded(fold, x.clone().into_value(), true)?);
    // Of booleans the first true one is the largest.
    let found = ops::argmax(hits(&x, &best)?, axis.clone(), keepdims)?;
    found_where(found, folded(&ops::ANY, x.mask().clone().into(), keepdims)?)
}

/// `segment_argmax` passes over what is missing.
pub(super) fn segment_argmax(call: &Call<'_>) -> Answer {
    segment_extreme(call, &ops::SEGMENT_MAX)
}

/// `segment_argmin` likewise.
pub(super) fn segment_argmin(call: &Call<'_>) -> Answer {
    segment_extreme(call, &ops::SEGMENT_MIN)
}

fn segment_extreme(call: &Call<'_>, fold: &'static OpDef) -> Answer {
    let [x, rows] = call.args else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(x) else { return Ok(None) };
    let x = comparable(&stretched(&x)?)?;
    let best = unmasked(call_one(fold, &[Arg::Value(x.clone().into_value()), rows.clone()], call.attrs)?);
    let found = ops::segment_argmax(hits(&x, &ops::gather_rows_of(best, rows)?)?, rows)?;
    found_where(found, ops::segment_any(x.mask(), rows)?)
}

fn unmasked(best: Value) -> Value {
    typed::<MaskedTensor>(&best).map_or(best, |best| best.values().clone())
}

/// The values as numbers or texts, which are equal where they are alike in the order.
fn comparable(x: &MaskedTensor) -> Result<MaskedTensor> {
    if let Some(numbers) = in_numbers(x.values())? {
        return MaskedTensor::new(numbers, x.mask().clone());
    }
    if let Value::Ext(ext) = x.values()
        && let Some(tensor) = ext.to_tensor()
    {
        return comparable(&MaskedTensor::new(tensor?, x.mask().clone())?);
    }
    let Ok(values) = x.values().tensor() else {
        return Err(match typed::<RaggedTensor>(x.values()) {
            Some(_) => Error::shape("rows are missing as a whole").wanted("an axis inside the rows"),
            None => Error::dispatch("the elements have no order")
                .wanted("numbers, booleans, texts, or a type with an order"),
        });
    };
    match values.dtype().kind() {
        DTypeKind::Bool => MaskedTensor::new(ops::cast(values, DType::U8)?, x.mask().clone()),
        DTypeKind::Signed | DTypeKind::Unsigned | DTypeKind::Float | DTypeKind::Text => Ok(x.clone()),
        DTypeKind::Variant => {
            Err(Error::dtype(format!("some of the elements, which are {}, may be missing", values.dtype()))
                .wanted("numbers, booleans or texts, or elements that are all there")
                .hint("Write `fill_none(x, value)` around them."))
        }
    }
}

/// Where the elements are the best ones, or NaN, and are there.
fn hits(x: &MaskedTensor, best: &Value) -> Result<Value> {
    let equal = ops::equal(x.values(), best)?;
    let nan = ops::not_equal(x.values(), x.values())?;
    ops::logical_and(x.mask(), ops::logical_or(equal, nan)?)
}

fn found_where(found: Value, there: Value) -> Answer {
    answer_ext(MaskedTensor::new(ops::maximum(found, 0)?, there.tensor()?.clone())?)
}

/// `cumulative_sum` takes what is missing as zero.
pub(super) fn cumulative_sum(call: &Call<'_>) -> Answer {
    cumulative(call, &ops::SUM)
}

/// `cumulative_prod` takes what is missing as one.
pub(super) fn cumulative_prod(call: &Call<'_>) -> Answer {
    cumulative(call, &ops::PROD)
}

/// `cumulative_max` passes over what is missing.
pub(super) fn cumulative_max(call: &Call<'_>) -> Answer {
    cumulative(call, &ops::MAX)
}

/// `cumulative_min` likewise.
pub(super) fn cumulative_min(call: &Call<'_>) -> Answer {
    cumulative(call, &ops::MIN)
}

fn cumulative(call: &Call<'_>, fold: &'static OpDef) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(x) else { return Ok(None) };
    normalize_axis(Cumulative::of(call.attrs)?.axis, rank(x.values())?)?;
    let folded = on_value(call, &x.filled(identity(fold, &x)?)?)?;
    answer_ext(MaskedTensor::new(folded, x.mask().clone())?)
}

/// The same in each row.
pub(super) fn segment_cumulative_sum(call: &Call<'_>) -> Answer {
    segment_cumulative(call, &ops::SUM)
}

/// The same in each row.
pub(super) fn segment_cumulative_prod(call: &Call<'_>) -> Answer {
    segment_cumulative(call, &ops::PROD)
}

/// The same in each row.
pub(super) fn segment_cumulative_max(call: &Call<'_>) -> Answer {
    segment_cumulative(call, &ops::MAX)
}

/// The same in each row.
pub(super) fn segment_cumulative_min(call: &Call<'_>) -> Answer {
    segment_cumulative(call, &ops::MIN)
}

fn segment_cumulative(call: &Call<'_>, fold: &'static OpDef) -> Answer {
    let [x, rows] = call.args else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(x) else { return Ok(None) };
    let filled = x.filled(identity(fold, &x)?)?;
    answer_ext(MaskedTensor::new(
        call_one(call.op, &[Arg::Value(filled), rows.clone()], call.attrs)?,
        x.mask().clone(),
    )?)
}

/// `linear_scan` passes over what is missing in one of the two, as if it were nothing with a link of one.
pub(super) fn linear_scan(call: &Call<'_>) -> Answer {
    let [x, link, rest @ ..] = call.args else { return Ok(None) };
    if let Some(rows) = super::rows::recurrence(call)? {
        return answer(rows);
    }
    let (x, link) = (x.value()?, link.value()?);
    let (given, linked) = (typed::<MaskedTensor>(x), typed::<MaskedTensor>(link));
    if let Some(made) = in_missing_lists(call, (x, given.as_ref()), (link, linked.as_ref()))? {
        return answer(made);
    }
    let masks = [given.as_ref(), linked.as_ref()].into_iter().flatten().map(MaskedTensor::wide_mask);
    let both = |a: Result<Value>, b: Result<Value>| ops::logical_and(a?, b?);
    let Some(mask) = masks.reduce(both).transpose()? else { return Ok(None) };
    let plain = |value: &Value, masked: &Option<MaskedTensor>, fill: i64| {
        ops::where_(&mask, masked.as_ref().map_or(value, MaskedTensor::values), fill).map(Arg::Value)
    };
    let args: Vec<Arg> = [plain(x, &given, 0)?, plain(link, &linked, 1)?].into_iter().chain(rest.to_vec()).collect();
    let scanned = call_one(call.op, &args, call.attrs)?;
    answer(masked_where(&scanned, &ops::broadcast_like(&mask, x)?)?)
}

/// Dense lists that may be missing in either argument: along their own axis the op on the others, and inside them on all, missing where one is.
fn in_missing_lists(
    call: &Call<'_>,
    (x, given): (&Value, Option<&MaskedTensor>),
    (link, linked): (&Value, Option<&MaskedTensor>),
) -> Result<Option<Value>> {
    if *call.op != ops::LINEAR_SCAN || rank(x)? != rank(link)? {
        return Ok(None);
    }
    let axis = normalize_axis(LinearScan::of(call.attrs)?.axis, rank(x)?)?;
    let scanned = |there: Vec<Value>, _: &Value| {
        call_one(call.op, &there.into_iter().map(Arg::Value).collect::<Vec<_>>(), call.attrs)
    };
    if let Some(made) = of_lists_there(&[x.clone(), link.clone()], int(axis), &scanned)? {
        return Ok(Some(made));
    }
    let of_lists = |masked: &&MaskedTensor| masked.mask_rank().is_ok_and(|own| own > 0 && own <= axis);
    let (args, mask) = match (given.filter(of_lists), linked.filter(of_lists)) {
        (Some(given), _) => ([given.values(), link], given.mask()),
        (None, Some(linked)) => ([x, linked.values()], linked.mask()),
        (None, None) => return Ok(None),
    };
    masked_by(call_one(call.op, &args.map(Arg::from), call.attrs)?, mask).map(Some)
}

/// `shift` moves what is missing too; what enters may be missing.
pub(super) fn shift(call: &Call<'_>) -> Answer {
    let [x, value] = flat(call) else { return Ok(None) };
    let f = |x, value| call_one(call.op, &[x, value], call.attrs);
    let Some(masked) = typed_arg::<MaskedTensor>(x) else { return moved(x, &f, value) };
    if let Some(moved) = lists_in_place(call, &masked, Shift::of(call.attrs)?.axis)? {
        return answer(moved);
    }
    if along(&masked, Shift::of(call.attrs)?.axis)?.is_none() && typed_arg::<MaskedTensor>(value).is_none() {
        return answer_ext(inside(call, &masked, std::slice::from_ref(value), call.attrs)?);
    }
    if let Some(rows) = masked.rows_there()? {
        // In the columns of rows, those that are missing are passed over.
        return answer(masked_by(f(Arg::Value(rows.into_value()), value.clone())?, masked.mask())?);
    }
    moved(&Arg::Value(stretched(&masked)?.into_value()), &f, value)
}

/// The same in each row.
pub(super) fn segment_shift(call: &Call<'_>) -> Answer {
    let [x, rows, value] = call.args else { return Ok(None) };
    moved(x, &|x, value| call_one(call.op, &[x, rows.clone(), value], call.attrs), value)
}

/// Values and masks moved alike; one of the two may be missing.
fn moved(x: &Arg, f: &dyn Fn(Arg, Arg) -> Result<Value>, value: &Arg) -> Answer {
    let (masked, entering) = (typed_arg::<MaskedTensor>(x), typed_arg::<MaskedTensor>(value));
    let (x, mask) = match (&masked, x) {
        (Some(masked), _) => (masked.values(), masked.mask().clone().into()),
        (None, Arg::Value(x)) if entering.is_some() => (x, ops::equal(zeros_of(x, rank(x)?)?, 0)?),
        (None, _) => return Ok(None),
    };
    let (value, there) = match &entering {
        Some(entering) => (Arg::from(entering.values()), Arg::from(entering.mask())),
        None => (value.clone(), Arg::from(true)),
    };
    let mask = f(Arg::Value(mask), there)?;
    answer_ext(MaskedTensor::new(f(Arg::from(x), value)?, mask.tensor()?.clone())?)
}

/// `indices_along` counts what is missing too.
pub(super) fn indices_along(call: &Call<'_>) -> Answer {
    match flat(call).first().and_then(typed_arg::<MaskedTensor>) {
        Some(x) => answer(on_value(call, x.values())?),
        None => Ok(None),
    }
}

/// `argwhere` passes over what is missing.
pub(super) fn argwhere(call: &Call<'_>) -> Answer {
    let Some(x) = flat(call).first().and_then(typed_arg::<MaskedTensor>) else { return Ok(None) };
    let there = ops::logical_and(x.wide_mask()?, ops::cast(x.values(), DType::Bool)?)?;
    answer(on_value(call, &there)?)
}
