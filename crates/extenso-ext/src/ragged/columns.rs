//! Lines across rows: along an axis with ragged rows inside, the elements that stand in one column of the rows are a line.
//!
//! Rows are aligned on the left; those that reach a column have an element in its line, and the others none.

use super::RaggedTensor;
use super::reduction::columns_of;
use crate::args::typed;
use crate::axes::rank;
use crate::masked::{MaskedTensor, trailing};
use extenso_core::attrs::NoAttrs;
use extenso_core::{Arg, ExtensionType, OpDef, RowPartition, Tensor, Value, call_one, ops};
use extenso_types::Result;

/// What a function makes of lines: the values of all lines, one line after the other, for each argument, and how they are cut.
pub(crate) type OfLines<'a> = &'a dyn Fn(&[Value], &RowPartition) -> Result<Value>;

/// A function that keeps the places of elements, applied to the lines along the axis that `partition` cuts.
///
/// All arguments have the rows of the first. Errors: those of the function.
pub(crate) fn across(args: &[Value], partition: &RowPartition, f: OfLines<'_>) -> Result<Value> {
    if let Some((rows, mask)) = rows_there(args)? {
        return Ok(MaskedTensor::new(across(&rows, partition, f)?, mask)?.into_value());
    }
    let Some(first) = args.first().and_then(typed::<RaggedTensor>) else { return f(args, partition) };
    let first = first.compact()?;
    let order = ops::column_order(partition, first.partition())?;
    let lengths = ops::column_lengths(partition, first.partition())?;
    let columns = ops::partition_from_lengths(lengths)?.partition()?.clone();
    let in_columns = |arg: &Value| {
        let values = typed::<RaggedTensor>(arg).map_or_else(|| Ok(arg.clone()), |x| x.values_in(first.partition()))?;
        ops::take(values, &order, 0)
    };
    let lines: Result<Vec<Value>> = args.iter().map(in_columns).collect();
    let made = across(&lines?, &columns, f)?;
    // The order of an order is its inverse.
    Ok(first.with_values(ops::take(made, ops::argsort(order, 0, false)?, 0)?)?.into_value())
}

/// The arguments with nothing in rows that are missing in one of them, and which rows are there; none if no row may be missing.
fn rows_there(args: &[Value]) -> Result<Option<(Vec<Value>, Tensor)>> {
    let masked: Vec<Option<MaskedTensor>> =
        args.iter().map(|arg| typed(arg).filter(|x: &MaskedTensor| has_rows(x.values()))).collect();
    let masks = masked.iter().flatten().map(|x| Ok(x.mask().clone()));
    let both = |a: Result<Tensor>, b: Result<Tensor>| ops::logical_and(a?, b?)?.tensor().cloned();
    let Some(mask) = masks.reduce(both).transpose()? else { return Ok(None) };
    let emptied = |(arg, masked): (&Value, &Option<MaskedTensor>)| {
        let rows = typed::<RaggedTensor>(masked.as_ref().map_or(arg, MaskedTensor::values));
        rows.map_or_else(|| Ok(arg.clone()), |rows| Ok(rows.only_where(&mask)?.into_value()))
    };
    let rows: Result<Vec<Value>> = args.iter().zip(&masked).map(emptied).collect();
    Ok(Some((rows?, mask)))
}

/// Whether the values are rows, all of them there or some missing.
pub(crate) fn has_rows(values: &Value) -> bool {
    typed::<RaggedTensor>(values).is_some() || typed::<MaskedTensor>(values).is_some_and(|x| has_rows(x.values()))
}

/// The rows of values whose rows may be missing, which are empty where they are.
pub(crate) fn rows_of(values: &Value) -> Result<Option<RaggedTensor>> {
    match typed::<MaskedTensor>(values) {
        Some(masked) => masked.rows_there(),
        None => Ok(typed(values)),
    }
}

/// The `numbers` of the rows that hold the extreme elements of columns, for each group the columns of its rows.
///
/// `numbers` has the rows of `x`; `segment` finds a position in each list. Nothing is found where all of a column is missing.
pub(crate) fn extreme_across(
    segment: &'static OpDef,
    groups: &RowPartition,
    x: &RaggedTensor,
    numbers: &Value,
) -> Result<Value> {
    let x = x.compact()?;
    let order = ops::column_order(groups, x.partition())?;
    let columns = ops::partition_from_lengths(ops::column_lengths(groups, x.partition())?)?.partition()?.clone();
    let numbers = rows_of(numbers)?.map_or_else(|| Ok(numbers.clone()), |rows| rows.values_in(x.partition()))?;
    let (values, numbers) = (ops::take(x.values(), &order, 0)?, ops::take(numbers, &order, 0)?);
    extreme_in(segment, &RaggedTensor::from_partition(values, columns)?, &numbers)
}

/// The numbers that stand beside the extreme elements of each row: the rows inside are aligned on the left.
pub(crate) fn extreme_in(segment: &'static OpDef, rows: &RaggedTensor, numbers: &Value) -> Result<Value> {
    if let Some(inner) = rows_of(rows.values())? {
        let found = extreme_across(segment, rows.partition(), &inner, numbers)?;
        let widths = ops::maximum(ops::segment_max(inner.row_lengths()?, rows.partition())?, 0)?;
        let widths = ops::partition_from_lengths(widths)?.partition()?.clone();
        return Ok(RaggedTensor::from_partition(found, widths)?.into_value());
    }
    let found = call_one(segment, &[Arg::from(rows.values()), rows.partition().into()], &NoAttrs {})?;
    let picked = |found: &Value| {
        let starts = trailing(&ops::row_starts(rows.partition())?, rank(found)? - 1)?;
        ops::take_along_axis(numbers, ops::add(found, starts)?, 0)
    };
    match typed::<MaskedTensor>(&found) {
        Some(masked) => Ok(MaskedTensor::new(picked(masked.values())?, masked.mask().clone())?.into_value()),
        None => picked(&found),
    }
}

/// What was folded from the elements of each row, at every one of them; rows inside are aligned on the left.
///
/// The result has the places of the values of the rows.
pub(crate) fn unfolded_rows(folded: &Value, rows: &RaggedTensor) -> Result<Value> {
    match rows_of(rows.values())? {
        None => ops::gather_rows_of(folded, rows.partition()),
        Some(inner) => {
            let columns = typed::<RaggedTensor>(folded).map_or_else(
                || Ok(folded.clone()),
                |folded| Ok::<Value, extenso_types::Error>(folded.compact()?.values().clone()),
            )?;
            unfolded_columns(&columns, rows.partition(), &inner)
        }
    }
}

/// What was folded from each column of the rows of each group, at every element.
pub(crate) fn unfolded_columns(folded: &Value, groups: &RowPartition, x: &RaggedTensor) -> Result<Value> {
    let x = x.compact()?;
    let order = ops::column_order(groups, x.partition())?;
    let lines = RaggedTensor::from_partition(ops::take(x.values(), &order, 0)?, columns_of(groups, &x)?)?;
    let in_lines = unfolded_rows(folded, &lines)?;
    Ok(x.with_values(ops::take(in_lines, ops::argsort(order, 0, false)?, 0)?)?.into_value())
}

/// A function that gives other rows for rows, applied to the lines along axis 1; what it gives is aligned at the beginning of
/// the lines.
///
/// Errors: those of the function.
pub(crate) fn across_changed(
    rows: &RaggedTensor,
    f: &dyn Fn(&RaggedTensor) -> Result<RaggedTensor>,
) -> Result<RaggedTensor> {
    let Some(inner) = typed::<RaggedTensor>(rows.values()) else { return f(rows) };
    let columns = of_groups(rows.partition(), &inner)?;
    let Some(lines) = typed::<RaggedTensor>(columns.values()) else { return f(rows) };
    let made = across_changed(&lines, f)?;
    of_groups(columns.partition(), &made)
}

/// The columns of the rows of each group, as rows: their number in each group, and their values.
pub(crate) fn of_groups(groups: &RowPartition, x: &RaggedTensor) -> Result<RaggedTensor> {
    let order = ops::column_order(groups, x.partition())?;
    let lengths = ops::column_lengths(groups, x.partition())?;
    let columns = ops::partition_from_lengths(lengths)?.partition()?.clone();
    let columns = RaggedTensor::from_partition(ops::take(x.values(), order, 0)?, columns)?;
    // A group has as many columns as its longest row; the identity of an empty one is below zero.
    let widths = ops::maximum(ops::segment_max(x.row_lengths()?, groups)?, 0)?;
    let widths = ops::partition_from_lengths(widths)?.partition()?.clone();
    RaggedTensor::from_partition(columns.into_value(), widths)
}

/// The elements of the rows of each group at `indices`, which say numbers of rows of the group, column by column.
///
/// The result has the rows of the indices. Errors: a number outside its group; a row that does not reach the column.
pub(crate) fn take_across(
    groups: &RowPartition,
    x: &RaggedTensor,
    groups_of_indices: &RowPartition,
    indices: &RaggedTensor,
) -> Result<RaggedTensor> {
    let (x, indices) = (x.compact()?, indices.compact()?);
    let of_group = ops::segment_sum(indices.row_lengths()?, groups_of_indices)?;
    let rows = ops::places_by_row(indices.values(), ops::partition_from_lengths(of_group)?, groups)?;
    // One row for each index, so that the column is proven to be in it.
    let lengths = ops::take(x.row_lengths()?, &rows, 0)?;
    let each = ops::partition_from_lengths(ops::add(ops::zeros_like(&rows)?, 1)?)?;
    let picked = ops::partition_from_lengths(lengths)?;
    let places = ops::places_at(&picked, ops::places_in_rows(indices.partition())?, each)
        .map_err(|e| e.note("A row that is named does not reach the column of its index."))?;
    let starts = ops::subtract(ops::take(ops::row_starts(x.partition())?, rows, 0)?, ops::row_starts(picked)?)?;
    indices.with_values(ops::take(x.values(), ops::add(places, starts)?, 0)?)
}

/// For each element of rows the number that its row has, in the shape of the elements.
pub(crate) fn numbered(numbers: Value, rows: &RaggedTensor) -> Result<Value> {
    let each = ops::gather_rows_of(numbers, rows.partition())?;
    let values = match rows_of(rows.values())? {
        Some(inner) => numbered(each, &inner)?,
        None => ops::broadcast_like(trailing(&each, rank(rows.values())? - 1)?, rows.values())?,
    };
    Ok(rows.with_values(values)?.into_value())
}
