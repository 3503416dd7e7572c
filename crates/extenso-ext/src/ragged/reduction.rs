//! Reductions of ragged tensors over any axes.
//!
//! Axis 1 folds each row; axes inside the rows are folded in the values; axis 0 folds the columns of rows that are aligned on
//! the left; all axes together fold the values that are in rows. Of several axes the innermost is folded first.

use super::RaggedTensor;
use super::columns::Columns;
use crate::args::{answer, flat, int, typed, typed_arg};
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
    let reduction = Reduction { op: call.op, segment: segment_op(fold), keepdims: *keepdims };
    if axes.len() == rank {
        return answer(reduction.all(&x, rank)?);
    }
    answer(reduction.over(x, &axes)?)
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
    answer(rows(call.op, &RaggedTensor::from_partition(values.clone(), partition.clone())?)?)
}

/// The op that folds rows as `fold` does.
fn segment_op(fold: Fold) -> &'static OpDef {
    match fold {
        Fold::Sum => &ops::SEGMENT_SUM,
        Fold::Prod => &ops::SEGMENT_PROD,
        Fold::Max => &ops::SEGMENT_MAX,
        Fold::Min => &ops::SEGMENT_MIN,
        Fold::Any => &ops::SEGMENT_ANY,
        Fold::All => &ops::SEGMENT_ALL,
    }
}

struct Reduction {
    op: &'static OpDef,
    segment: &'static OpDef,
    keepdims: bool,
}

impl Reduction {
    fn all(&self, x: &RaggedTensor, rank: usize) -> Result<Value> {
        let attrs = Reduce { axis: Axes::All, keepdims: false };
        let folded = call_one(self.op, &[Arg::Value(used_values(x)?)], &attrs)?;
        if self.keepdims { ops::reshape(folded, vec![1_i64; rank]) } else { Ok(folded) }
    }

    /// Folds some axes, which are sorted; axis 0 and 1 are looked at one by one, those inside together.
    fn over(&self, x: RaggedTensor, axes: &[usize]) -> Result<Value> {
        let inner: Vec<i64> = axes.iter().filter(|&&axis| axis > 1).map(|&axis| int(axis - 1)).collect();
        let (first, second) = (axes.contains(&0), axes.contains(&1));
        let mut x = x;
        if !inner.is_empty() || axes.is_empty() {
            x = x.with_values(self.on(x.values(), inner)?)?;
        }
        if second {
            let folded = self.kept(rows(self.segment, &x)?, 1)?;
            return if first { self.on(&folded, vec![0]) } else { Ok(folded) };
        }
        if first {
            return self.kept(outer_rows(self.segment, &x)?, 0);
        }
        Ok(x.into_value())
    }

    fn on(&self, value: &Value, axes: Vec<i64>) -> Result<Value> {
        call_one(self.op, &[Arg::from(value)], &Reduce { axis: Axes::List(axes), keepdims: self.keepdims })
    }

    fn kept(&self, folded: Value, axis: i64) -> Result<Value> {
        if self.keepdims { ops::expand_dims(folded, axis) } else { Ok(folded) }
    }
}

/// The values below every ragged axis that are in rows.
fn used_values(x: &RaggedTensor) -> Result<Value> {
    let values = x.compact()?.values;
    match typed::<RaggedTensor>(&values) {
        Some(inner) => used_values(&inner),
        None => Ok(values),
    }
}

/// Folds axis 1.
fn rows(segment: &'static OpDef, x: &RaggedTensor) -> Result<Value> {
    let Some(inner) = typed::<RaggedTensor>(x.values()) else {
        return call_one(segment, &[Arg::from(x.values()), Arg::from(x.partition())], &extenso_core::attrs::NoAttrs {});
    };
    let columns = columns(x.partition(), &inner)?;
    let folded = fold_columns(segment, &inner, &columns)?;
    Ok(RaggedTensor::from_partition(folded, columns.groups)?.into_value())
}

/// Folds axis 0 alone: each column of all rows.
fn outer_rows(segment: &'static OpDef, x: &RaggedTensor) -> Result<Value> {
    let all = RowPartition::from_lengths([x.partition().data().map_err(unknown_rows)?.nrows()])?;
    fold_columns(segment, x, &columns(&all, x)?)
}

fn columns(groups: &RowPartition, x: &RaggedTensor) -> Result<Columns> {
    Columns::new(groups.data().map_err(unknown_rows)?, x.partition().data().map_err(unknown_rows)?)
}

fn unknown_rows(error: Error) -> Error {
    error.note(
        "Columns of ragged rows are brought together by the lengths of the rows, which a graph does not know yet.",
    )
}

fn fold_columns(segment: &'static OpDef, x: &RaggedTensor, columns: &Columns) -> Result<Value> {
    let values = ops::take(x.values(), &columns.order, 0)?;
    rows(segment, &RaggedTensor::from_partition(values, columns.columns.clone())?)
}
