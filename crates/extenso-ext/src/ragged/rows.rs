//! Structural ops on ragged tensors: whole rows are picked, joined and sliced; axes inside the rows are left to the values.
//!
//! On data, values move in runs; while tracing, places are computed by ops.

use super::{RaggedTensor, common_index, cut_in, cut_like, rows_like, slice_values};
use crate::args::{again, answer, answer_ext, flat, int, typed, typed_arg, wrap};
use crate::axes::{one_row, positions, rank, rows_of_one, witness};
use crate::masked::MaskedTensor;
use extenso_core::attrs::Attrs;
use extenso_core::kernels::pool::affordable;
use extenso_core::ops::{OneAxis, Run, Slice, assemble};
use extenso_core::reduce::normalize_axis;
use extenso_core::{Answer, Arg, Call, ExtensionType, RowPartition, Rows, Tensor, Value, call_one, ops, strengthen};
use extenso_types::{DType, Dims, Error, Result};

/// `take` along axis 0 picks rows; ragged indices give their rows to the result.
pub(crate) fn take(call: &Call<'_>) -> Answer {
    let [x, indices] = flat(call) else { return Ok(None) };
    let axis = OneAxis::of(call.attrs)?.axis;
    if let Some(indices) = typed_arg::<RaggedTensor>(indices) {
        if axis != 0 {
            return Err(Error::value(format!("ragged indices are given along axis {axis}")).wanted("axis 0"));
        }
        // Values outside every row are no indices.
        let indices = indices.compact()?;
        let taken = again(call, &[x.clone(), Arg::from(indices.values())])?;
        return wrap(taken, |values| Ok(indices.with_values(values)?.into_value()));
    }
    // Where an index is missing, so is the row that it would pick.
    if typed_arg::<MaskedTensor>(indices).is_some() {
        return Ok(None);
    }
    let Some(x) = typed_arg::<RaggedTensor>(x) else { return Ok(None) };
    match axis_of(&x, axis)? {
        0 => {}
        1 => match x.partition.spec().uniform_row_length {
            Some(length) => return answer(from_each_row(&x, indices, length)?),
            None => return Err(not_along_rows("index")),
        },
        inner => {
            let attrs = OneAxis { axis: int(inner - 1) };
            let values = call_one(call.op, &[Arg::from(x.values()), indices.clone()], &attrs);
            return answer_ext(x.with_values(values.map_err(Error::within_rows)?)?);
        }
    }
    let indices = match indices {
        Arg::Value(value) => value.tensor().map_err(|e| e.at("argument 'indices'"))?.clone(),
        Arg::Scalar(scalar) => strengthen(scalar, None)?,
        Arg::List(_) => return Ok(None),
    };
    if !indices.dtype().is_integer() {
        return Err(Error::dtype(format!("indices are {}", indices.dtype())).wanted("integers"));
    }
    match rank(&indices.clone().into())? {
        // The values of the only row are the row.
        0 if let (Ok(rows), Ok(at)) = (x.partition.data(), indices.data()) => {
            answer(x.row(ops::positions(at, rows.nrows())?[0])?)
        }
        0 => answer(rows_at(&x, ops::reshape(indices, vec![1_i64])?.tensor()?)?.values),
        1 => answer_ext(rows_at(&x, &indices)?),
        _ => {
            let rows = RaggedTensor::of_uniform(&indices.into())?;
            answer(call_one(call.op, &[Arg::from(&x.into_value()), Arg::Value(rows.into_value())], call.attrs)?)
        }
    }
}

/// The values at the same places of each row, all of which have one length; negative places count from the end.
fn from_each_row(x: &RaggedTensor, indices: &Arg, length: usize) -> Result<Value> {
    let at = match indices {
        Arg::Scalar(scalar) => strengthen(scalar, None)?.into(),
        _ => indices.value()?.clone(),
    };
    if !at.tensor().is_ok_and(|at| at.dtype().is_integer()) {
        return Err(Error::dtype(format!("indices are {}", at.spec()?)).wanted("integers"));
    }
    if let Ok(given) = at.tensor()?.data() {
        ops::positions(given, length)?;
    }
    let (at, n) = (ops::cast(at, DType::I64)?, int(length));
    let in_range = ops::logical_and(ops::less(&at, n)?, ops::greater_equal(&at, -n)?)?;
    let what = format!("the index is out of range for axis 1 of size {n}");
    let at = ops::check_all(at, in_range, what, format!("an index from {} to {}", -n, n - 1))?;
    let at = ops::where_(ops::less(&at, 0)?, ops::add(&at, n)?, &at)?;
    let starts = ops::row_starts(&x.partition)?;
    let starts = ops::reshape(starts, std::iter::once(-1).chain(vec![1; rank(&at)?]).collect::<Vec<i64>>())?;
    ops::take(&x.values, ops::add(starts, at)?, 0)
}

/// The position of an axis, without asking for the rank where it is not needed.
fn axis_of(x: &RaggedTensor, axis: i64) -> Result<usize> {
    match axis {
        0 => Ok(0),
        1 => Ok(1),
        axis => normalize_axis(axis, x.rank()?),
    }
}

fn not_along_rows(what: &str) -> Error {
    Error::shape(format!("axis 1 is ragged, and {what} along it means another place in each row"))
        .wanted("axis 0, or an axis inside the rows")
        .hint("Write `take_along_axis(x, indices, axis=1)` with indices for each row.")
}

/// The rows at `indices`, a vector; negative ones count from the end.
fn rows_at(x: &RaggedTensor, indices: &Tensor) -> Result<RaggedTensor> {
    let (Ok(rows), Ok(at)) = (x.partition.data(), indices.data()) else { return rows_at_symbols(x, indices) };
    let at = ops::positions(at, rows.nrows())?;
    let partition = RowPartition::of_rows(rows, at.iter().copied())?;
    let ranges: Vec<std::ops::Range<usize>> = at.iter().map(|&row| rows.row(row)).collect();
    RaggedTensor::from_partition(gather_ranges(&x.values, &ranges)?, partition)
}

/// The values in these ranges, one after the other.
fn gather_ranges(values: &Value, ranges: &[std::ops::Range<usize>]) -> Result<Value> {
    let count = ranges.iter().fold(0, |count: usize, range| count.saturating_add(range.len()));
    let Ok(dense) = values.tensor().and_then(Tensor::data) else {
        affordable(count.saturating_mul(size_of::<i64>()))?;
        let mut order = Vec::with_capacity(count);
        order.extend(ranges.iter().cloned().flatten().map(int));
        return ops::take(values, Tensor::from_vec(order), 0);
    };
    let mut dims = Dims::from_slice(dense.dims());
    let width: usize = dims[1..].iter().product();
    dims[0] = count;
    let runs = ranges.iter().map(|r| Run { source: Some(0), start: r.start * width, len: r.len() * width });
    Ok(assemble(dense.dtype(), dims, &[dense], runs)?.into())
}

/// The same by ops: a value's place is the start of its row and its place in the row.
fn rows_at_symbols(x: &RaggedTensor, indices: &Tensor) -> Result<RaggedTensor> {
    let lengths = ops::take(x.row_lengths()?, indices, 0)?;
    let starts = ops::take(ops::row_starts(&x.partition)?, indices, 0)?;
    rows_from(x, starts, rows_like(lengths, &x.partition)?)
}

/// The rows of a partition that begin at these places of the values of `x`.
fn rows_from(x: &RaggedTensor, starts: Value, partition: RowPartition) -> Result<RaggedTensor> {
    let places = ops::add(ops::gather_rows_of(starts, &partition)?, ops::places_in_rows(&partition)?)?;
    RaggedTensor::from_partition(ops::take(&x.values, places, 0)?, partition)
}

/// `slice` along axis 0 picks rows, along axis 1 a part of each row.
pub(super) fn slice(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(x) else { return Ok(None) };
    let attrs = Slice::of(call.attrs)?;
    match axis_of(&x, attrs.axis)? {
        0 => slice_rows(&x, attrs),
        1 => slice_each_row(&x, attrs),
        inner => {
            let attrs = Slice { axis: int(inner - 1), ..attrs.clone() };
            answer_ext(x.with_values(call_one(call.op, &[Arg::from(x.values())], &attrs).map_err(Error::within_rows)?)?)
        }
    }
}

fn slice_rows(x: &RaggedTensor, attrs: &Slice) -> Answer {
    let Ok(rows) = x.partition.data() else {
        let attrs = Slice { axis: 0, ..attrs.clone() };
        let picked = call_one(&ops::SLICE, &[Arg::Value(positions(&x.clone().into_value())?)], &attrs)?;
        return answer_ext(rows_at(x, picked.tensor()?)?);
    };
    let (first, count) = ops::slice_range(attrs, rows.nrows())?;
    if attrs.step != 1 || count == 0 {
        let at: Vec<i64> = (0..int(count)).map(|i| first + i * attrs.step).collect();
        return answer_ext(rows_at(x, &Tensor::from_vec(at))?);
    }
    let first = usize::try_from(first).unwrap_or(0);
    let range = first..first + count;
    let values = slice_values(&x.values, rows.row(range.start).start, rows.row(range.end - 1).end)?;
    let partition = RowPartition::of_rows(rows, range)?;
    answer_ext(RaggedTensor::from_partition(values, partition)?)
}

fn slice_each_row(x: &RaggedTensor, attrs: &Slice) -> Answer {
    if let (Ok(rows), 1) = (x.partition.data(), attrs.step) {
        return answer_ext(runs_of_each_row(x, rows, attrs)?);
    }
    let Slice { start, stop, step, .. } = attrs.clone();
    let partition = ops::sliced_rows(&x.partition, start, stop.clone(), step)?.partition()?.clone();
    let places = ops::sliced_places(&x.partition, start, stop, step)?;
    answer_ext(RaggedTensor::from_partition(ops::take(&x.values, places, 0)?, partition)?)
}

/// A slice without gaps of each row, whose values are copied in runs.
fn runs_of_each_row(x: &RaggedTensor, rows: &Rows, attrs: &Slice) -> Result<RaggedTensor> {
    let run = |i: usize| {
        let row = rows.row(i);
        let (first, count) = ops::slice_range(attrs, row.len())?;
        let start = row.start + usize::try_from(first).unwrap_or(0);
        Ok(start..start + count)
    };
    let runs: Result<Vec<std::ops::Range<usize>>> = (0..rows.nrows()).map(run).collect();
    let runs = runs?;
    let partition = RowPartition::from_lengths_as(runs.iter().map(std::ops::Range::len), rows.offsets().dtype())?;
    let length = rows.uniform_row_length().map(|n| ops::slice_range(attrs, n)).transpose()?.map(|(_, count)| count);
    RaggedTensor::from_partition(gather_ranges(&x.values, &runs)?, partition.with_uniform_row_length(length)?)
}

/// `concat` along axis 0 joins rows after rows, along axis 1 each row with its fellows, otherwise inside the rows.
///
/// The splits of the result are i32 if those of all arguments are, otherwise i64.
pub(crate) fn concat(call: &Call<'_>) -> Answer {
    let values: Option<Vec<&Value>> = flat(call).iter().map(|arg| arg.value().ok()).collect();
    let Some(values) = values else { return Ok(None) };
    if values.iter().any(|value| has_missing_rows(value)) {
        return Ok(None);
    }
    let ranks: Result<Vec<usize>> = values.iter().map(|value| rank(value)).collect();
    let ranks = ranks?;
    if let Some(i) = ranks.iter().position(|&rank| rank != ranks[0]) {
        return Err(Error::shape(format!(
            "argument {} has rank {}, and argument 1 rank {}",
            i + 1,
            ranks[i],
            ranks[0]
        ))
        .wanted("one rank for all"));
    }
    let axis = normalize_axis(OneAxis::of(call.attrs)?.axis, ranks[0])?;
    let ragged: Result<Vec<RaggedTensor>> =
        values.iter().map(|v| typed(v).map_or_else(|| RaggedTensor::of_uniform(v), Ok)).collect();
    let ragged = ragged?;
    answer_ext(match axis {
        0 => concat_rows(&ragged)?,
        1 => concat_within_rows(&ragged)?,
        inner => {
            // Of data: values outside every row have rows inside, which would be joined too.
            let within = |x: RaggedTensor| if x.partition.data().is_ok() { x.compact() } else { Ok(x) };
            let ragged = ragged.into_iter().map(within).collect::<Result<Vec<_>>>()?;
            let partition = &ragged[0].partition;
            let values: Result<Vec<Value>> = ragged.iter().map(|x| x.values_in(partition)).collect();
            let joined = ops::concat(values?, int(inner - 1)).map_err(Error::within_rows)?;
            RaggedTensor::from_partition(joined, partition.clone())?
        }
    })
}

/// Whether rows of the value are missing as a whole: then the mask is joined first and the rows after.
fn has_missing_rows(value: &Value) -> bool {
    let inside = |masked: &MaskedTensor| Ok::<_, Error>((masked.mask_rank()?, rank(masked.values())?));
    typed::<MaskedTensor>(value).is_some_and(|masked| inside(&masked).is_ok_and(|(mask, axes)| mask == 1 && axes > 1))
}

fn concat_rows(parts: &[RaggedTensor]) -> Result<RaggedTensor> {
    let parts: Result<Vec<RaggedTensor>> = parts.iter().map(RaggedTensor::compact).collect();
    let parts = parts?;
    let lengths: Result<Vec<Value>> = parts.iter().map(|x| ops::row_lengths(&x.partition)).collect();
    let index = common_index(parts.iter().map(|x| &x.partition));
    let mut each = parts.iter().map(|x| x.partition.spec().uniform_row_length);
    let first = each.next().flatten();
    let partition = cut_in(ops::concat(lengths?, 0)?, first.filter(|_| each.all(|n| n == first)), index)?;
    let values: Vec<Value> = parts.into_iter().map(|x| x.values).collect();
    RaggedTensor::from_partition(ops::concat(values, 0).map_err(Error::within_rows)?, partition)
}

/// All rows of all parts, those of one number side by side, and then joined.
fn concat_within_rows(parts: &[RaggedTensor]) -> Result<RaggedTensor> {
    let count = ops::sum(ops::ones_like(parts[0].row_lengths()?)?, 0, false)?;
    let column = |(i, x): (usize, &RaggedTensor)| {
        let places = ops::add(positions(&x.clone().into_value())?, ops::multiply(&count, int(i))?)?;
        ops::expand_dims(places, 1)
    };
    let order: Result<Vec<Value>> = parts.iter().enumerate().map(column).collect();
    let order = ops::reshape(ops::concat(order?, 1)?, vec![-1_i64])?;
    let joined = rows_at(&concat_rows(parts)?, order.tensor()?)?;
    let lengths = parts[1..]
        .iter()
        .try_fold(ops::row_lengths(&parts[0].partition)?, |sum, x| ops::add(sum, ops::row_lengths(&x.partition)?))?;
    let index = common_index(parts.iter().map(|x| &x.partition));
    let length = parts.iter().map(|x| x.partition.spec().uniform_row_length).sum();
    RaggedTensor::from_partition(joined.values, cut_in(lengths, length, index)?)
}

/// A new axis of size 1 outside, between rows and values, or inside the rows.
pub(super) fn expand_dims(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(x) else { return Ok(None) };
    let at = normalize_axis(OneAxis::of(call.attrs)?.axis, x.rank()? + 1)?;
    let whole = x.clone().into_value();
    answer_ext(match at {
        0 => RaggedTensor::from_partition(whole.clone(), one_row(&whole)?)?,
        1 => RaggedTensor::from_partition(whole.clone(), rows_of_one(&whole)?)?,
        inner => x.with_values(ops::expand_dims(x.values(), int(inner - 1))?)?,
    })
}

/// `row_partition` of values that are ragged counts their rows.
pub(super) fn row_partition(call: &Call<'_>) -> Answer {
    let [splits, Arg::Value(values)] = flat(call) else { return Ok(None) };
    if typed::<RaggedTensor>(values).is_none() {
        return Ok(None);
    }
    answer(call_one(call.op, &[splits.clone(), Arg::Value(witness(values)?)], call.attrs)?)
}

/// `gather_rows_of` repeats whole rows.
pub(super) fn gather_rows_of(call: &Call<'_>) -> Answer {
    let [x, partition] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(x) else { return Ok(None) };
    // Where no row is, the length is zero, so that the partition may leave values outside.
    let lengths = call_one(call.op, &[Arg::Value(ops::row_lengths(&x.partition)?), partition.clone()], call.attrs)?;
    let rowids = ops::value_rowids(partition)?;
    let values = rows_at(&x, rowids.tensor()?)?.values;
    answer_ext(RaggedTensor::from_partition(values, rows_within(lengths, &x.partition, partition)?)?)
}

/// The partition of rows of another one that were moved into rows of `outer`, which have these lengths.
///
/// All of them have the length of those before where no row lies outside of every row of `outer`: such a row is empty.
fn rows_within(lengths: Value, like: &RowPartition, outer: &Arg) -> Result<RowPartition> {
    if outer.value()?.partition()?.covers_all() { rows_like(lengths, like) } else { cut_like(lengths, like) }
}

/// `align_rows` moves whole rows.
pub(super) fn align_rows(call: &Call<'_>) -> Answer {
    let [x, from, to] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(x) else { return Ok(None) };
    let moved = |of_rows: Value| call_one(call.op, &[Arg::Value(of_rows), from.clone(), to.clone()], call.attrs);
    let lengths = moved(ops::row_lengths(&x.partition)?)?;
    let (Ok(rows), Ok(from)) = (x.partition.data(), from.value()?.partition()?.data()) else {
        let starts = moved(ops::row_starts(&x.partition)?)?;
        return answer_ext(rows_from(&x, starts, rows_within(lengths, &x.partition, to)?)?);
    };
    let start = |row: usize| if row < rows.nrows() { rows.row(row).start } else { rows.last() };
    let values = slice_values(&x.values, start(from.first()), start(from.last()))?;
    answer_ext(RaggedTensor::from_partition(values, rows_within(lengths, &x.partition, to)?)?)
}

/// `stretch_rows` moves or repeats whole rows.
pub(super) fn stretch_rows(call: &Call<'_>) -> Answer {
    let [x, source, target] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(x) else { return Ok(None) };
    let moved = |of_rows: Value| call_one(call.op, &[Arg::Value(of_rows), source.clone(), target.clone()], call.attrs);
    let starts = moved(ops::row_starts(&x.partition)?)?;
    let partition = rows_within(moved(ops::row_lengths(&x.partition)?)?, &x.partition, target)?;
    answer_ext(rows_from(&x, starts, partition)?)
}
