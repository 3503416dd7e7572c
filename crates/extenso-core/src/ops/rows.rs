//! Ops on places in rows: where rows begin, which values a slice of each row picks, and the columns of rows.
//!
//! Invariant: places count all values, those outside every row too, so that they index the values as they stand.
//! Moves no values: `take` along the places does.

use super::args::{data, one_tensor, spec_of, tensor_spec};
use super::selection::{positions_within, slice_range};
use crate::attrs::{AttrSet, Attrs};
use crate::kernels::pool::affordable;
use crate::op::{Class, Fact, OpDef, OutputSpecs};
use crate::ops::Slice;
use crate::partition::{RowPartition, Rows};
use crate::tensor::Tensor;
use crate::value::{Outputs, Value};
use extenso_types::{DType, Dim, Error, LeafSpec, PartitionSpec, Result, Shape};
use smallvec::smallvec;

crate::attrs! {
    /// The attributes of `partition_from_rowids`.
    pub struct RowCount { nrows: Option<Vec<i64>> = None }
    /// The attributes of `uniform_partition`.
    pub struct UniformRows { length: i64, nrows: Option<Vec<i64>> = None }
    /// The attributes of `partition_of_length`.
    pub struct RowLength { length: i64, dtype: DType = DType::I64 }
    /// A slice of each row.
    pub struct RowSlice { start: i64 = 0, stop: Option<Vec<i64>> = None, step: i64 = 1 }
}

crate::ops! {
    /// Ops on places in rows.
    pub static ROWS;

    /// The row partition that says for each value which row it is in; without `nrows`, the last id is that of the last row.
    ///
    /// Errors: ids that are not a vector of integers, decrease, are negative, or at least `nrows`; more rows than memory holds;
    /// without `nrows`, a last id that is far beyond the number of values.
    PARTITION_FROM_ROWIDS: partition_from_rowids(rowids; RowCount { nrows: Option<Vec<i64>> }) = OpDef::general(Class::Structural, infer_from_rowids, run_from_rowids)
        .examples(&[("partition_from_rowids([0, 0, 2], nrows=4)", "partition_from_lengths([2, 0, 1, 0])"), ("partition_from_rowids([0, 0, 2])", "partition_from_lengths([2, 0, 1])")]);

    /// The row partition that cuts `values` into rows of one length.
    ///
    /// Errors: a negative length; values that are not `nrows` rows of it; a length of zero with values.
    UNIFORM_PARTITION: uniform_partition(values; UniformRows { length: i64, nrows: Option<Vec<i64>> }) = OpDef::general(Class::Structural, infer_uniform, run_uniform)
        .examples(&[("uniform_partition([1, 2, 3, 4], 2)", "partition_from_lengths([2, 2])")]);

    /// The row partition of as many rows of one length as `x` has elements along its outer axis; its splits are of `dtype`.
    ///
    /// Errors: a scalar; a negative length; more values than there can be.
    PARTITION_OF_LENGTH: partition_of_length(x; RowLength { length: i64, dtype: DType }) = OpDef::general(Class::Structural, infer_of_length, run_of_length)
        .apart(&[0])
        .facts(&[Fact::Covers])
        .part()
        .examples(&[("partition_of_length([7, 7], length=3)", "partition_from_lengths([3, 3])")]);

    /// The place of the first value of each row among all values, as i64; values outside every row are counted.
    ROW_STARTS: row_starts(partition) = OpDef::general(Class::Segment, infer_row_starts, run_row_starts)
        .examples(&[("row_starts(partition_from_lengths([2, 0, 1]))", "[0, 2, 2]")]);

    /// For each value its place in its row, as i64; zero outside every row.
    PLACES_IN_ROWS: places_in_rows(partition) = OpDef::general(Class::Segment, infer_places, run_places)
        .examples(&[("places_in_rows(partition_from_lengths([2, 0, 1]))", "[0, 1, 0]")]);

    /// The partition of what a slice leaves of each row, with the rules of Python's slices; its splits have the dtype of the given.
    ///
    /// Errors: a step of zero.
    SLICED_ROWS: sliced_rows(partition; RowSlice { start: i64, stop: Option<Vec<i64>>, step: i64 }) = OpDef::general(Class::Segment, infer_sliced_rows, run_sliced_rows)
        .part()
        .examples(&[("sliced_rows(partition_from_lengths([2, 0, 3]), start=1)", "partition_from_lengths([1, 0, 2])")]);

    /// The places of the values that a slice picks of each row, as i64, row after row.
    ///
    /// Errors: a step of zero.
    SLICED_PLACES: sliced_places(partition; RowSlice { start: i64, stop: Option<Vec<i64>>, step: i64 }) = OpDef::general(Class::Segment, infer_sliced_places, run_sliced_places)
        .part()
        .examples(&[("sliced_places(partition_from_lengths([2, 0, 3]), start=-1, step=-2)", "[1, 4, 2]")]);

    /// The places among all values of positions in rows, as i64; negative positions count from the end of their row.
    ///
    /// Shapes: `at` is a vector of integers, which `cut` cuts into the positions of each row of `partition`. Errors: another
    /// number of rows; a position outside its row.
    PLACES_AT: places_at(partition, at, cut) = OpDef::general(Class::Segment, infer_places_at, run_places_at)
        .part()
        .examples(&[("places_at(partition_from_lengths([2, 0, 3]), [-1, 0, 2], partition_from_lengths([1, 0, 2]))", "[1, 2, 4]")]);

    /// How many rows of each group reach each of its columns, as i64, group after group; rows begin in their first column.
    ///
    /// Shapes: `groups` cuts the rows of `rows`. Errors: it cuts another number.
    COLUMN_LENGTHS: column_lengths(groups, rows) = OpDef::general(Class::Segment, infer_columns, run_column_lengths)
        .part()
        .examples(&[("column_lengths(partition_from_lengths([2, 1]), partition_from_lengths([1, 3, 2]))", "[2, 1, 1, 1, 1]")]);

    /// The places of the values of each group column by column, those of a column in the order of their rows.
    ///
    /// Shapes: `groups` cuts the rows of `rows`. Errors: it cuts another number.
    COLUMN_ORDER: column_order(groups, rows) = OpDef::general(Class::Segment, infer_columns, run_column_order)
        .part()
        .examples(&[("column_order(partition_from_lengths([2, 1]), partition_from_lengths([1, 3, 2]))", "[0, 1, 2, 3, 4, 5]"), ("column_order(partition_from_lengths([2]), partition_from_lengths([2, 2]))", "[0, 2, 1, 3]")]);
}

fn partition_spec(args: &[LeafSpec], i: usize) -> Result<&PartitionSpec> {
    args.get(i).ok_or_else(|| Error::value(format!("argument {} is missing", i + 1)))?.partition()
}

fn rows(args: &[Value], i: usize) -> Result<&Rows> {
    args.get(i).ok_or_else(|| Error::value(format!("argument {} is missing", i + 1)))?.partition()?.data()
}

fn i64s(n: Dim) -> OutputSpecs {
    tensor_spec(DType::I64, Shape::new([n]))
}

fn int(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn partition(nrows: Dim, nvalues: Dim) -> OutputSpecs {
    smallvec![LeafSpec::Partition(PartitionSpec::new(nrows, nvalues, DType::I64))]
}

fn one_partition(partition: RowPartition) -> Result<Outputs> {
    Ok(smallvec![Value::Partition(partition)])
}

/// Rows that a caller asks for by number alone; their offsets must fit into memory.
fn row_count(nrows: Option<&Vec<i64>>) -> Result<Option<usize>> {
    let Some(nrows) = nrows else { return Ok(None) };
    let [given] = nrows[..] else { return Err(Error::value(format!("nrows is {nrows:?}")).wanted("one number")) };
    let count = usize::try_from(given)
        .map_err(|_| Error::value(format!("nrows is {given}")).wanted("a number that is not negative"))?;
    fit_into_memory(count)?;
    Ok(Some(count))
}

fn fit_into_memory(nrows: usize) -> Result<()> {
    affordable(nrows.saturating_add(1).saturating_mul(8)).map_err(|_| {
        Error::value(format!("{nrows} rows do not fit into memory")).wanted("as many rows as memory holds")
    })
}

fn infer_from_rowids(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let ids = spec_of(args, 0)?;
    if !ids.dtype.is_integer() || ids.shape.rank().is_some_and(|rank| rank != 1) {
        return Err(Error::dtype(format!("row ids are {ids}")).wanted("a vector of integers"));
    }
    let nrows = row_count(RowCount::of(attrs)?.nrows.as_ref())?.map_or_else(Dim::any, Dim::Known);
    Ok(partition(nrows, ids.shape.dims().and_then(|dims| dims.first().copied()).unwrap_or_else(Dim::any)))
}

fn run_from_rowids(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let wide = crate::ops::whole(&args[0])?;
    let ids = wide.tensor()?.as_slice::<i64>()?;
    check_sorted(ids)?;
    let last = ids.last().map(|&id| usize::try_from(id).unwrap_or(usize::MAX));
    let nrows = match (row_count(RowCount::of(attrs)?.nrows.as_ref())?, last) {
        (Some(nrows), Some(last)) if last >= nrows => {
            let at = ids.iter().position(|&id| id >= int(nrows)).unwrap_or(0);
            return Err(Error::index(format!("row id {} at [{at}] is out of range for {nrows} rows", ids[at]))
                .wanted("numbers of rows, from 0"));
        }
        (Some(nrows), _) => nrows,
        (None, last) => rows_up_to(last, ids.len())?,
    };
    fit_into_memory(nrows)?;
    let mut lengths = vec![0_usize; nrows];
    ids.iter().filter_map(|&id| usize::try_from(id).ok()).for_each(|id| lengths[id] += 1);
    one_partition(RowPartition::from_lengths(lengths)?)
}

/// The number of rows up to the last id, which alone must not decide how much memory is used.
fn rows_up_to(last: Option<usize>, nvalues: usize) -> Result<usize> {
    const EMPTY: usize = 1 << 24;
    match last {
        Some(last) if last >= nvalues.saturating_mul(16).saturating_add(EMPTY) => {
            Err(Error::value(format!("the last row id is {last}, and there are {nvalues} values"))
                .wanted("fewer empty rows, or their number")
                .hint("Give `nrows`."))
        }
        Some(last) => Ok(last + 1),
        None => Ok(0),
    }
}

fn check_sorted(ids: &[i64]) -> Result<()> {
    let mut last = 0;
    for (i, &id) in ids.iter().enumerate() {
        if id < last {
            let what = if id < 0 {
                format!("row id {id} at [{i}] is negative")
            } else {
                format!("row ids decrease at [{i}]: {id} comes after {last}")
            };
            return Err(Error::value(what).wanted("row ids from 0 that never decrease"));
        }
        last = id;
    }
    Ok(())
}

fn infer_uniform(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let attrs = UniformRows::of(attrs)?;
    let nvalues = match spec_of(args, 0)?.shape.dims() {
        None => Dim::any(),
        Some([outer, ..]) => *outer,
        Some([]) => return Err(Error::shape("values are a scalar").wanted("at least a vector")),
    };
    let nrows = match nvalues.known() {
        Some(n) => Dim::Known(uniform_rows(n, attrs)?),
        None => {
            uniform_rows(0, &UniformRows { nrows: None, ..attrs.clone() })?;
            row_count(attrs.nrows.as_ref())?.map_or_else(Dim::any, Dim::Known)
        }
    };
    let length = natural(attrs.length)?;
    Ok(smallvec![LeafSpec::Partition(PartitionSpec { nvalues, ..PartitionSpec::of_length(nrows, length, DType::I64) })])
}

fn natural(length: i64) -> Result<usize> {
    usize::try_from(length).map_err(|_| {
        Error::value(format!("the length of the rows is {length}")).wanted("a length that is not negative")
    })
}

/// The number of rows of one length that `nvalues` values are.
fn uniform_rows(nvalues: usize, attrs: &UniformRows) -> Result<usize> {
    let length = natural(attrs.length)?;
    let asked = row_count(attrs.nrows.as_ref())?;
    let nrows = asked.unwrap_or_else(|| nvalues.checked_div(length).unwrap_or(0));
    if nrows.checked_mul(length) == Some(nvalues) {
        return Ok(nrows);
    }
    Err(Error::value(format!("{nvalues} values are not {nrows} rows of length {length}"))
        .wanted("as many values as rows times their length"))
}

fn run_uniform(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let attrs = UniformRows::of(attrs)?;
    let nvalues = data(args, 0)?.dims().first().copied().unwrap_or(0);
    let nrows = uniform_rows(nvalues, attrs)?;
    one_partition(RowPartition::of_length(nrows, natural(attrs.length)?, DType::I64)?)
}

fn infer_of_length(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let RowLength { length, dtype } = *RowLength::of(attrs)?;
    if !matches!(dtype, DType::I32 | DType::I64) {
        return Err(Error::dtype(format!("row splits of {dtype} are asked for")).wanted("i32 or i64"));
    }
    let nrows = match spec_of(args, 0)?.shape.dims() {
        None => Dim::any(),
        Some([outer, ..]) => *outer,
        Some([]) => return Err(Error::shape("the argument is a scalar").wanted("one element for each row")),
    };
    Ok(smallvec![LeafSpec::Partition(PartitionSpec::of_length(nrows, natural(length)?, dtype))])
}

fn run_of_length(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let RowLength { length, dtype } = *RowLength::of(attrs)?;
    let (nrows, length) = (data(args, 0)?.dims().first().copied().unwrap_or(0), natural(length)?);
    fit_into_memory(nrows)?;
    if nrows.checked_mul(length).is_none_or(|n| i64::try_from(n).is_err()) {
        return Err(Error::shape(format!("{nrows} rows of {length} values are more than can be counted")));
    }
    one_partition(RowPartition::of_length(nrows, length, dtype)?)
}

fn infer_row_starts(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    Ok(i64s(partition_spec(args, 0)?.nrows))
}

fn run_row_starts(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let rows = rows(args, 0)?;
    one_tensor(Tensor::from_vec((0..rows.nrows()).map(|i| int(rows.row(i).start)).collect::<Vec<i64>>()))
}

fn infer_places(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    Ok(i64s(partition_spec(args, 0)?.nvalues))
}

fn run_places(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let rows = rows(args, 0)?;
    affordable(rows.nvalues().saturating_mul(8))?;
    let mut places = Vec::with_capacity(rows.nvalues());
    places.resize(rows.first(), 0);
    rows.lengths().for_each(|n| places.extend(0..int(n)));
    places.resize(rows.nvalues(), 0);
    one_tensor(Tensor::from_vec::<i64>(places))
}

/// The slice of each row, as a slice along an axis.
fn slice_of(attrs: &dyn AttrSet) -> Result<Slice> {
    let RowSlice { start, stop, step } = RowSlice::of(attrs)?.clone();
    Ok(Slice { axis: 0, start, stop, step })
}

fn infer_sliced_rows(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    slice_range(&slice_of(attrs)?, 0)?;
    let PartitionSpec { nrows, index, uniform_row_length, .. } = *partition_spec(args, 0)?;
    let slice = slice_of(attrs)?;
    let length = uniform_row_length.map(|n| slice_range(&slice, n)).transpose()?.map(|(_, count)| count);
    Ok(smallvec![LeafSpec::Partition(match length {
        Some(length) => PartitionSpec::of_length(nrows, length, index),
        None => PartitionSpec::new(nrows, Dim::any(), index),
    })])
}

fn infer_sliced_places(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    slice_range(&slice_of(attrs)?, 0)?;
    partition_spec(args, 0)?;
    Ok(i64s(Dim::any()))
}

fn run_sliced_rows(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (rows, slice) = (rows(args, 0)?, slice_of(attrs)?);
    let lengths: Result<Vec<usize>> = rows.lengths().map(|n| Ok(slice_range(&slice, n)?.1)).collect();
    let sliced = RowPartition::from_lengths_as(lengths?, rows.offsets().dtype())?;
    let length = rows.uniform_row_length().map(|n| slice_range(&slice, n)).transpose()?.map(|(_, count)| count);
    one_partition(sliced.with_uniform_row_length(length)?)
}

fn run_sliced_places(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (rows, slice) = (rows(args, 0)?, slice_of(attrs)?);
    affordable((rows.last() - rows.first()).saturating_mul(8))?;
    let mut places: Vec<i64> = Vec::new();
    for i in 0..rows.nrows() {
        let row = rows.row(i);
        let (first, count) = slice_range(&slice, row.len())?;
        places.extend((0..int(count)).map(|k| int(row.start) + first + k * slice.step));
    }
    one_tensor(Tensor::from_vec(places))
}

fn infer_places_at(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let (rows, at, cut) = (partition_spec(args, 0)?, spec_of(args, 1)?, partition_spec(args, 2)?);
    if !at.dtype.is_integer() || at.shape.rank().is_some_and(|rank| rank != 1) {
        return Err(Error::dtype(format!("positions are {at}")).wanted("a vector of integers"));
    }
    let given = at.shape.dims().and_then(|dims| dims.first().copied()).unwrap_or_else(Dim::any);
    if !given.is_compatible_with(cut.nvalues) {
        return Err(Error::shape(format!("{given} positions are given, and {} are cut", cut.nvalues)));
    }
    if !rows.nrows.is_compatible_with(cut.nrows) {
        return Err(other_rows(&cut.nrows.to_string(), &rows.nrows.to_string()));
    }
    Ok(i64s(Dim::any()))
}

fn other_rows(given: &str, rows: &str) -> Error {
    Error::shape(format!("positions are given for {given} rows, and there are {rows}"))
        .wanted("positions for each row; none where there are none")
}

fn run_places_at(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (rows, cut) = (rows(args, 0)?, rows(args, 2)?);
    let wide = crate::ops::whole(&args[1])?;
    let at = wide.tensor()?.as_slice::<i64>()?;
    if cut.nrows() != rows.nrows() {
        return Err(other_rows(&cut.nrows().to_string(), &rows.nrows().to_string()));
    }
    if cut.nvalues() != at.len() {
        return Err(Error::shape(format!("{} positions are given, and {} are cut", at.len(), cut.nvalues())));
    }
    let mut places: Vec<i64> = Vec::with_capacity(cut.last() - cut.first());
    for i in 0..rows.nrows() {
        let (start, n) = (int(rows.row(i).start), int(rows.row(i).len()));
        for &position in &at[cut.row(i)] {
            let from_start = if position < 0 { position.saturating_add(n) } else { position };
            if !(0..n).contains(&from_start) {
                return Err(Error::index(format!("index {position} is out of range for row {i} of {n} values"))
                    .wanted(positions_within(n)));
            }
            places.push(start + from_start);
        }
    }
    one_tensor(Tensor::from_vec(places))
}

fn infer_columns(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let (groups, rows) = (partition_spec(args, 0)?, partition_spec(args, 1)?);
    if !groups.nvalues.is_compatible_with(rows.nrows) {
        return Err(no_groups(&groups.nvalues.to_string(), &rows.nrows.to_string()));
    }
    Ok(i64s(Dim::any()))
}

fn no_groups(cut: &str, nrows: &str) -> Error {
    Error::shape(format!("groups of {cut} rows are given for {nrows} rows")).wanted("groups that cut the rows")
}

/// The groups of rows and the rows of values.
fn grouped(args: &[Value]) -> Result<(&Rows, &Rows)> {
    let (groups, rows) = (rows(args, 0)?, rows(args, 1)?);
    if groups.nvalues() != rows.nrows() {
        return Err(no_groups(&groups.nvalues().to_string(), &rows.nrows().to_string()));
    }
    affordable((rows.last() - rows.first()).saturating_mul(8))?;
    Ok((groups, rows))
}

fn run_column_lengths(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (groups, rows) = grouped(args)?;
    let of_group = |group| reaching(groups.row(group).map(|row| rows.row(row).len())).into_iter().map(int);
    one_tensor(Tensor::from_vec((0..groups.nrows()).flat_map(of_group).collect::<Vec<i64>>()))
}

fn run_column_order(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (groups, rows) = grouped(args)?;
    let mut order: Vec<i64> = Vec::with_capacity(rows.last() - rows.first());
    for group in 0..groups.nrows() {
        let mut end = order.len();
        let mut next = reaching(groups.row(group).map(|row| rows.row(row).len()));
        // Counts become the places where the columns begin.
        next.iter_mut().for_each(|n| end += std::mem::replace(n, end));
        order.resize(end, 0);
        for row in groups.row(group) {
            for (place, value) in next.iter_mut().zip(rows.row(row)) {
                order[*place] = int(value);
                *place += 1;
            }
        }
    }
    one_tensor(Tensor::from_vec(order))
}

/// How many rows reach each column, from the lengths of the rows.
fn reaching(rows: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut ends: Vec<usize> = Vec::new();
    let mut count = 0;
    for length in rows {
        if ends.len() <= length {
            ends.resize(length + 1, 0);
        }
        ends[length] += 1;
        count += 1;
    }
    // A row of length n is missing from column n on.
    let longest = ends.len().saturating_sub(1);
    let reach = |ending: &usize| {
        count -= ending;
        count
    };
    ends.iter().take(longest).map(reach).collect()
}
