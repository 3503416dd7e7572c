//! Lines across rows: along an axis with ragged rows inside, the elements that stand in one column of the rows are a line.
//!
//! Rows are aligned on the left; those that reach a column have an element in its line, and the others none.

use super::RaggedTensor;
use crate::args::typed;
use crate::axes::rank;
use crate::masked::trailing;
use extenso_core::{ExtensionType, RowPartition, Value, ops};
use extenso_types::Result;

/// What a function makes of lines: the values of all lines, one line after the other, for each argument, and how they are cut.
pub(crate) type OfLines<'a> = &'a dyn Fn(&[Value], &RowPartition) -> Result<Value>;

/// A function that keeps the places of elements, applied to the lines along the axis that `partition` cuts.
///
/// All arguments have the rows of the first. Errors: those of the function.
pub(crate) fn across(args: &[Value], partition: &RowPartition, f: OfLines<'_>) -> Result<Value> {
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

/// A function that gives other rows for rows, applied to the lines along axis 1; what it gives is aligned at the beginning of
/// the lines.
///
/// Errors: those of the function.
pub(crate) fn across_changed(
    rows: &RaggedTensor,
    f: &dyn Fn(&RaggedTensor) -> Result<RaggedTensor>,
) -> Result<RaggedTensor> {
    let Some(inner) = typed::<RaggedTensor>(rows.values()) else { return f(rows) };
    let columns = columns_of(rows.partition(), &inner)?;
    let Some(lines) = typed::<RaggedTensor>(columns.values()) else { return f(rows) };
    let made = across_changed(&lines, f)?;
    columns_of(columns.partition(), &made)
}

/// The columns of the rows of each group, as rows: their number in each group, and their values.
fn columns_of(groups: &RowPartition, x: &RaggedTensor) -> Result<RaggedTensor> {
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
    let values = match typed::<RaggedTensor>(rows.values()) {
        Some(inner) => numbered(each, &inner)?,
        None => ops::broadcast_like(trailing(&each, rank(rows.values())? - 1)?, rows.values())?,
    };
    Ok(rows.with_values(values)?.into_value())
}
