//! Reductions of ragged tensors over any axes.
//!
//! Axis 1 folds each row; axes inside the rows are folded in the values; axis 0 folds the columns of rows that are aligned on
//! the left; all axes together fold the values that are in rows. Of several axes the innermost is folded first. Where rows are folded whose
//! elements have no identity, the result of an empty one is missing.

use super::RaggedTensor;
use crate::args::{answer, answer_ext, flat, int, typed, typed_arg};
use crate::axes::{one_row, rank};
use crate::masked::{MaskedTensor, trailing, without_missing_rows};
use crate::meaning::order::lacks_identity;
use extenso_core::attrs::{Attrs, Axes};
use extenso_core::reduce::{Fold, Reduce, normalize_axes};
use extenso_core::{Answer, Arg, Call, ExtensionType, Kernel, OpDef, RowPartition, Value, call_one, ops};
use extenso_types::{Error, Result};

/// A reduction over axes.
pub(super) fn reduce(call: &Call<'_>) -> Answer {
    let (Kernel::Reduction(fold), [arg]) = (call.op.kernel, flat(call)) else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(arg) else { return Ok(None) };
    let Reduce { axis, keepdims } = Reduce::of(call.attrs)?;
    let rank = x.rank()?;
    let axes: Vec<usize> = match axis {
        Axes::All => (0..rank).collect(),
        Axes::List(list) => normalize_axes(list, rank)?.to_vec(),
    };
    if *keepdims && !axes.is_empty() && axes.iter().all(|&axis| axis > 1) {
        // What is missing inside the rows is no list of one element, so that they keep the axes themselves.
        let axes = Axes::List(axes.iter().map(|&axis| int(axis - 1)).collect());
        let folded = call_one(call.op, &[Arg::from(x.values())], &Reduce { axis: axes, keepdims: true });
        return answer_ext(x.with_values(folded.map_err(Error::within_rows)?)?);
    }
    let reduction = Reduction { fold, op: call.op };
    let folded = if axes.len() == rank { reduction.all(&x)? } else { reduction.over(x, &axes)? };
    // An axis that is kept has size 1 in every row, in those too of which nothing is left.
    answer(match &axes[..] {
        _ if !keepdims => folded,
        [axis] => ops::expand_dims(folded, int(*axis))?,
        axes => ops::expand_dims_at(folded, axes.iter().map(|&axis| int(axis)).collect::<Vec<_>>())?,
    })
}

/// A fold over the rows of a partition whose values are ragged.
pub(super) fn segments(call: &Call<'_>) -> Answer {
    let (Kernel::Segment(_), [Arg::Value(values), Arg::Value(Value::Partition(partition))]) =
        (call.op.kernel, call.args)
    else {
        return Ok(None);
    };
    if typed::<RaggedTensor>(values).is_none() {
        return Ok(None);
    }
    answer(rows(&segment(call.op), &RaggedTensor::from_partition(values.clone(), partition.clone())?)?)
}

/// The op that folds rows as `fold` does.
pub(crate) fn segment_op(fold: Fold) -> &'static OpDef {
    match fold {
        Fold::Sum => &ops::SEGMENT_SUM,
        Fold::SumHigh => &ops::SEGMENT_SUM_HIGH,
        Fold::Prod => &ops::SEGMENT_PROD,
        Fold::Max => &ops::SEGMENT_MAX,
        Fold::Min => &ops::SEGMENT_MIN,
        Fold::Any => &ops::SEGMENT_ANY,
        Fold::All => &ops::SEGMENT_ALL,
    }
}

/// The op that folds axes as `fold` does.
pub(crate) fn over_axes(fold: Fold) -> &'static OpDef {
    match fold {
        Fold::Sum => &ops::SUM,
        Fold::SumHigh => &ops::SUM_HIGH,
        Fold::Prod => &ops::PROD,
        Fold::Max => &ops::MAX,
        Fold::Min => &ops::MIN,
        Fold::Any => &ops::ANY,
        Fold::All => &ops::ALL,
    }
}

struct Reduction {
    fold: Fold,
    op: &'static OpDef,
}

impl Reduction {
    fn all(&self, x: &RaggedTensor) -> Result<Value> {
        let attrs = Reduce { axis: Axes::All, keepdims: false };
        if lacks_identity(self.fold, x.values()) {
            let flat = super::flatten(x.clone().into_value(), None)?;
            return ops::take(of_rows(self.fold)(&flat, &one_row(&flat)?)?, 0, 0);
        }
        call_one(self.op, &[Arg::Value(x.flat_values()?)], &attrs)
    }

    /// Folds some axes, which are sorted; axis 0 and 1 are looked at one by one, those inside together.
    fn over(&self, x: RaggedTensor, axes: &[usize]) -> Result<Value> {
        let inner: Vec<i64> = axes.iter().filter(|&&axis| axis > 1).map(|&axis| int(axis - 1)).collect();
        let (first, second) = (axes.contains(&0), axes.contains(&1));
        let (mut x, mut fold) = (x, self.fold);
        if !inner.is_empty() || axes.is_empty() {
            x = x.with_values(Reduction::on(self.op, x.values(), inner).map_err(Error::within_rows)?)?;
            fold = fold.of_parts();
        }
        if second {
            if lacks_identity(fold, x.values()) {
                x = x.with_values(without_missing_rows(x.values(), 0)?)?;
            }
            let folded = match typed::<RaggedTensor>(x.values()) {
                Some(inner) => of_columns(fold, &inner, &|fold| rows(fold, &x))?,
                None => rows(&of_rows(fold), &x)?,
            };
            return if first { Reduction::on(over_axes(fold.of_parts()), &folded, vec![0]) } else { Ok(folded) };
        }
        if first {
            return of_columns(fold, &x, &|fold| outer_rows(fold, &x));
        }
        Ok(x.into_value())
    }

    fn on(op: &'static OpDef, value: &Value, axes: Vec<i64>) -> Result<Value> {
        call_one(op, &[Arg::from(value)], &Reduce { axis: Axes::List(axes), keepdims: false })
    }
}

/// What a fold makes of values that a partition cuts.
pub(crate) type OfRows<'a> = &'a dyn Fn(&Value, &RowPartition) -> Result<Value>;

fn segment(op: &'static OpDef) -> impl Fn(&Value, &RowPartition) -> Result<Value> {
    move |values, rows| call_one(op, &[Arg::from(values), Arg::from(rows)], &extenso_core::attrs::NoAttrs {})
}

/// The fold of rows that may be empty: of elements without identity nothing is there then.
pub(crate) fn of_rows(fold: Fold) -> impl Fn(&Value, &RowPartition) -> Result<Value> {
    let folded = segment(segment_op(fold));
    move |values, rows| {
        let made = folded(values, rows)?;
        if typed::<MaskedTensor>(&made).is_some() || !lacks_identity(fold, values) {
            return Ok(made);
        }
        let there = trailing(&ops::greater(ops::row_lengths(rows)?, 0)?, rank(&made)? - 1)?;
        let there = if rank(&made)? == 1 { there } else { ops::broadcast_like(there, &made)? };
        Ok(MaskedTensor::new(made, there.tensor()?.clone())?.into_value())
    }
}

/// What `over` makes with the fold of the columns of rows, which have an element each, unless the rows are of one size and there is none.
fn of_columns(fold: Fold, x: &RaggedTensor, over: &dyn Fn(OfRows<'_>) -> Result<Value>) -> Result<Value> {
    match x.partition().spec().uniform_row_length {
        Some(_) => over(&of_rows(fold)),
        None => over(&segment(segment_op(fold))),
    }
}

/// Folds axis 1.
pub(crate) fn rows(fold: OfRows<'_>, x: &RaggedTensor) -> Result<Value> {
    let Some(inner) = typed::<RaggedTensor>(x.values()) else {
        return fold(x.values(), x.partition());
    };
    let folded = fold_columns(fold, x.partition(), &inner)?;
    if let Some(columns) = columns_of_one_length(x.partition(), &inner)? {
        return Ok(RaggedTensor::from_partition(folded, columns)?.into_value());
    }
    // A group has as many columns as its longest row; the identity of an empty one is below zero.
    let widths = ops::maximum(ops::segment_max(inner.row_lengths()?, x.partition())?, 0)?;
    let columns = ops::partition_from_lengths(widths)?.partition()?.clone();
    Ok(RaggedTensor::from_partition(folded, columns)?.into_value())
}

/// Folds axis 0 alone: each column of all rows.
pub(crate) fn outer_rows(fold: OfRows<'_>, x: &RaggedTensor) -> Result<Value> {
    fold_columns(fold, &one_row(&x.clone().into_value())?, x)
}

/// Folds each column of the rows of each group. Rows are aligned on the left, and those that reach a column count there.
fn fold_columns(fold: OfRows<'_>, groups: &RowPartition, x: &RaggedTensor) -> Result<Value> {
    let order = ops::column_order(groups, x.partition())?;
    rows(fold, &RaggedTensor::from_partition(ops::take(x.values(), order, 0)?, columns_of(groups, x)?)?)
}

/// How many rows of each group reach each of its columns: the rows of the elements in `column_order`.
pub(crate) fn columns_of(groups: &RowPartition, x: &RaggedTensor) -> Result<RowPartition> {
    let lengths = match columns_of_one_length(groups, x)? {
        Some(columns) => ops::gather_rows_of(ops::row_lengths(groups)?, columns)?,
        None => ops::column_lengths(groups, x.partition())?,
    };
    Ok(ops::partition_from_lengths(lengths)?.partition()?.clone())
}

/// The columns of each group of rows of one length, which a group without rows has too; none of other rows.
fn columns_of_one_length(groups: &RowPartition, x: &RaggedTensor) -> Result<Option<RowPartition>> {
    let Some(length) = x.partition().spec().uniform_row_length else { return Ok(None) };
    let columns = ops::partition_of_length(ops::row_lengths(groups)?, int(length), groups.spec().index)?;
    Ok(Some(columns.partition()?.clone()))
}
