//! Reductions over axes and over the rows of a partition.
//!
//! Invariant: each result is the kernel's fixed formula over its elements in row-major order, whatever the layout,
//! the number of rows beside it, or the threads.

mod fold;
mod fused;
mod texts;

pub use fold::{Fold, FoldKernel};
pub use fused::{Cut, evaluate_folds};

use crate::attrs::{AttrSet, Attrs, Axes};
use crate::elementwise::broadcast_strides;
use crate::kernels::bits::{column_counts, count_ones, segment_count_ones};
use crate::kernels::columns::Columns;
use crate::kernels::pool::{Block, affordable};
use crate::kernels::reduce::LEAF;
use crate::offsets::with_offsets;
use crate::op::OutputSpecs;
use crate::partition::Rows;
use crate::tensor::{Dense, Storage, Tensor};
use crate::threads::{pieces_of, side_by_side};
use crate::value::{Outputs, Value};
use arrow_buffer::BooleanBuffer;
use extenso_types::{DType, Dim, Dims, Error, LeafSpec, Result, Shape, TensorSpec};
use fold::{PARALLEL, fold_long};
use smallvec::{SmallVec, smallvec};
use std::convert::Infallible;
use std::ops::Range;

crate::attrs! {
    /// The attributes of a reduction over axes.
    pub struct Reduce { axis: Axes = Axes::All, keepdims: bool = false }
}

/// The axes as sorted positions.
///
/// Errors: an axis out of range, or named twice.
pub fn normalize_axes(axes: &[i64], rank: usize) -> Result<SmallVec<[usize; 4]>> {
    let mut out: SmallVec<[usize; 4]> = SmallVec::new();
    for &axis in axes {
        let at = normalize_axis(axis, rank)?;
        if out.contains(&at) {
            return Err(Error::value(format!("axis {axis} is named twice in {axes:?}")).wanted("each axis once"));
        }
        out.push(at);
    }
    out.sort_unstable();
    Ok(out)
}

/// The axis as a position; negative ones count from the end.
///
/// Errors: out of range.
pub fn normalize_axis(axis: i64, rank: usize) -> Result<usize> {
    let n = i64::try_from(rank).unwrap_or(i64::MAX);
    let at = if axis < 0 { axis.saturating_add(n) } else { axis };
    usize::try_from(at).ok().filter(|at| *at < rank).ok_or_else(|| {
        let error = Error::index(format!("axis {axis} is out of range for rank {rank}"));
        if rank == 0 {
            return error.wanted("no axis, of a scalar");
        }
        error.wanted(format!("an axis from {} to {}", -n, n - 1))
    })
}

/// The specs of a reduction over axes.
///
/// Errors: a dtype that the fold does not take, an axis out of range or named twice.
pub fn infer_axes(fold: Fold, args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let attrs = Reduce::of(attrs)?;
    let [arg] = args else { return Err(Error::value("one argument is wanted")) };
    let spec = arg.tensor()?;
    let dtype = fold.out_dtype(spec.dtype)?;
    let shape = match (spec.shape.dims(), &attrs.axis) {
        (None, Axes::All) if !attrs.keepdims => Shape::scalar(),
        (None, _) => Shape::unknown(),
        (Some(dims), axes) => {
            let axes = reduced_axes(axes, dims.len())?;
            if texts::picks(fold, dtype) && axes.iter().any(|axis| dims[*axis] == Dim::Known(0)) {
                return Err(texts::no_text());
            }
            let kept = dims.iter().enumerate().filter_map(|(i, d)| match (axes.contains(&i), attrs.keepdims) {
                (false, _) => Some(*d),
                (true, true) => Some(Dim::Known(1)),
                (true, false) => None,
            });
            Shape::new(kept)
        }
    };
    Ok(smallvec![LeafSpec::Tensor(TensorSpec::new(dtype, shape))])
}

fn reduced_axes(axes: &Axes, rank: usize) -> Result<SmallVec<[usize; 4]>> {
    match axes {
        Axes::All => Ok((0..rank).collect()),
        Axes::List(list) => normalize_axes(list, rank),
    }
}

/// The specs of a fold over the rows of a partition.
///
/// Errors: a dtype that the fold does not take; values whose number is known not to be the partition's.
pub fn infer_segments(fold: Fold, args: &[LeafSpec]) -> Result<OutputSpecs> {
    let [values, partition] = args else {
        return Err(Error::value("two arguments are wanted: values and a partition"));
    };
    let (values, partition) = (values.tensor()?, partition.partition()?);
    let dtype = fold.out_dtype(values.dtype)?;
    let shape = match values.shape.dims() {
        None => Shape::unknown(),
        Some([]) => return Err(Error::shape("values are a scalar").wanted("at least a vector")),
        Some([outer, inner @ ..]) => {
            if !outer.is_compatible_with(partition.nvalues) {
                return Err(no_cut(&outer.to_string(), &partition.nvalues.to_string()));
            }
            Shape::new(std::iter::once(partition.nrows).chain(inner.iter().copied()))
        }
    };
    Ok(smallvec![LeafSpec::Tensor(TensorSpec::new(dtype, shape))])
}

fn no_cut(values: &str, wanted: &str) -> Error {
    Error::shape(format!("{values} values are given to a partition of {wanted}"))
        .wanted("as many values as the partition cuts")
}

/// Runs a reduction over axes on data.
pub fn run_axes(fold: Fold, args: &[Value], attrs: &dyn AttrSet) -> Result<Outputs> {
    let attrs = Reduce::of(attrs)?;
    let [arg] = args else { return Err(Error::value("one argument is wanted")) };
    let x = arg.tensor()?.data()?;
    let axes = reduced_axes(&attrs.axis, x.dims().len())?;
    Ok(smallvec![Value::Tensor(fold_axes(fold, x, &axes, attrs.keepdims)?)])
}

/// Folds the given axes, which are sorted and distinct.
pub fn fold_axes(fold: Fold, x: &Dense, axes: &[usize], keepdims: bool) -> Result<Tensor> {
    if fold.tests_numbers(x.dtype()) {
        return fold_axes(fold, tested(x)?.data()?, axes, keepdims);
    }
    let dims = x.dims();
    let is_folded = |i: &usize| axes.contains(i);
    let kept: SmallVec<[usize; 4]> = (0..dims.len()).filter(|i| !is_folded(i)).collect();
    let n: usize = axes.iter().map(|&a| dims[a]).product();
    let rows: usize = kept.iter().map(|&a| dims[a]).product();
    let out_dims: Dims = (0..dims.len())
        .filter_map(|i| match (is_folded(&i), keepdims) {
            (false, _) => Some(dims[i]),
            (true, true) => Some(1),
            (true, false) => None,
        })
        .collect();
    let trailing = kept.iter().copied().eq(0..kept.len());
    if trailing {
        return fold_rows(fold, x, rows, n, out_dims);
    }
    if let (Some(kernel), [first, .., last] | [first @ last]) = (fold.kernel(x.dtype()), axes)
        && last - first + 1 == axes.len()
    {
        let columns: usize = dims[last + 1..].iter().product();
        let matrix = |i: usize| i * n..(i + 1) * n;
        let matrices = rows.checked_div(columns).unwrap_or(0);
        return columns_of(kernel, x, None, &matrix, (matrices, columns), n * rows, out_dims);
    }
    if let (Storage::Bits(bits), [first, .., last] | [first @ last]) = (x.storage(), axes)
        && last - first + 1 == axes.len()
        && n > 0
    {
        let columns: usize = dims[last + 1..].iter().product();
        return fold_columns_of_rows_of_bits(
            fold,
            bits,
            (rows.checked_div(columns).unwrap_or(0), n, columns),
            out_dims,
        );
    }
    // The folded axes move to the end, so that each result's elements lie together in row-major order.
    let order: Vec<i64> = kept.iter().chain(axes).map(|&a| i64::try_from(a).unwrap_or(i64::MAX)).collect();
    let moved = crate::ops::permute(x, &order)?;
    fold_rows(fold, moved.data()?, rows, n, out_dims)
}

/// Which numbers are not zero; NaN is not.
fn tested(x: &Dense) -> Result<Tensor> {
    let x = Tensor::from_dense(x.dtype(), Dims::from_slice(x.dims()), x.storage().clone());
    crate::ops::cast(x, DType::Bool)?.tensor().cloned()
}

fn fold_rows(fold: Fold, x: &Dense, rows: usize, n: usize, out_dims: Dims) -> Result<Tensor> {
    if let Storage::Bits(bits) = x.storage() {
        return fold_bits(fold, bits, rows, |i| (i * n, n), out_dims);
    }
    if texts::picks(fold, x.dtype()) {
        return texts::of_runs(fold, x, rows, n, out_dims);
    }
    let kernel = kernel_of(fold, x.dtype())?;
    let mut out = block_of(rows, out_width(kernel.out))?;
    if rows == 1 && n > LEAF {
        fold_row(&kernel, x.fixed()?.as_slice(), n, out.bytes_mut());
    } else {
        over_threads(rows, rows * n, out.bytes_mut(), |from, out| {
            let width = x.dtype().width().unwrap_or(1);
            let count = out.len() / out_width(kernel.out);
            let bytes = x.fixed().map_or(&[][..], |b| b.as_slice());
            (kernel.rows)(&bytes[from * n * width..(from + count) * n * width], n, out);
        });
    }
    Ok(Tensor::from_dense(kernel.out, out_dims, Storage::Fixed(out.elements())))
}

/// Folds one long row.
fn fold_row(kernel: &FoldKernel, bytes: &[u8], n: usize, out: &mut [u8]) {
    let width = bytes.len() / n;
    let folded = fold_long(&[kernel], n, |range, partials| {
        partials.iter_mut().for_each(|partial| partial.push(&bytes[range.start * width..range.end * width]));
        Ok::<_, Infallible>(())
    });
    let Ok(partials) = folded;
    partials.iter().for_each(|partial| partial.finish(out));
}

fn kernel_of(fold: Fold, dtype: DType) -> Result<FoldKernel> {
    fold.kernel(dtype).ok_or_else(|| Error::dtype(format!("the op does not take {dtype}")))
}

/// Memory for this many results: rows without elements have results, and there may be any number of them.
///
/// Errors: more than the system gives.
fn block_of(rows: usize, width: usize) -> Result<Block> {
    affordable(rows.saturating_mul(width))?;
    Ok(Block::new(rows * width))
}

fn out_width(dtype: DType) -> usize {
    dtype.width().unwrap_or(1)
}

/// Splits `rows` results, made from `work` elements, over threads.
fn over_threads(rows: usize, work: usize, out: &mut [u8], f: impl Fn(usize, &mut [u8]) + Sync) {
    let per_piece = rows.div_ceil(pieces_of(work, PARALLEL)).max(1);
    let width = out.len().checked_div(rows).unwrap_or(0);
    if per_piece >= rows || width == 0 {
        return f(0, out);
    }
    side_by_side(out.chunks_mut(per_piece * width).enumerate().collect(), |(piece, out)| f(piece * per_piece, out));
}

fn fold_bits(
    fold: Fold,
    bits: &BooleanBuffer,
    rows: usize,
    row: impl Fn(usize) -> (usize, usize),
    out_dims: Dims,
) -> Result<Tensor> {
    let (dtype, answer) = fold.of_bits().ok_or_else(|| Error::dtype("the op does not take bool"))?;
    affordable(if dtype == DType::Bool { rows / 8 } else { rows.saturating_mul(8) })?;
    // Means count ones: to see that there is nothing else costs less than to look at each row.
    let all = bits.count_set_bits() == bits.len();
    let fold_row = |i: usize| {
        let (start, n) = row(i);
        answer(if all { n } else { count_ones(bits.values(), bits.offset() + start, n) }, n)
    };
    if dtype == DType::Bool {
        let out = BooleanBuffer::collect_bool(rows, |i| fold_row(i) == 1);
        return Ok(Tensor::from_dense(dtype, out_dims, Storage::Bits(out)));
    }
    let out: Vec<i64> = (0..rows).map(fold_row).collect();
    Tensor::new(&out_dims, &out)
}

/// Folds the rows of a partition of bits.
fn fold_rows_of_bits(fold: Fold, bits: &BooleanBuffer, rows: &Rows, out_dims: Dims) -> Result<Tensor> {
    let (dtype, answer) = fold.of_bits().ok_or_else(|| Error::dtype("the op does not take bool"))?;
    let mut counts = block_of(rows.nrows(), size_of::<i64>())?;
    let work = (rows.last() - rows.first()) / 8 + rows.nrows();
    over_threads(rows.nrows(), work, counts.bytes_mut(), |from, counts| {
        let counts = bytemuck::cast_slice_mut::<u8, i64>(counts);
        let offsets = rows.offsets().slice(from, counts.len() + 1);
        with_offsets!(&offsets, o => segment_count_ones(bits.values(), bits.offset(), o, counts));
        if fold != Fold::Sum {
            for (i, count) in counts.iter_mut().enumerate() {
                let n = rows.row(from + i).len();
                *count = answer(usize::try_from(*count).unwrap_or(n), n);
            }
        }
    });
    if dtype == DType::Bool {
        let counts = counts.slice_mut::<i64>();
        let out = BooleanBuffer::collect_bool(counts.len(), |i| counts[i] == 1);
        return Ok(Tensor::from_dense(dtype, out_dims, Storage::Bits(out)));
    }
    Ok(Tensor::from_dense(dtype, out_dims, Storage::Fixed(counts.elements())))
}

/// Folds the columns of matrices of `n` rows of bits.
fn fold_columns_of_rows_of_bits(
    fold: Fold,
    bits: &BooleanBuffer,
    (matrices, n, columns): (usize, usize, usize),
    out_dims: Dims,
) -> Result<Tensor> {
    let (dtype, answer) = fold.of_bits().ok_or_else(|| Error::dtype("the op does not take bool"))?;
    let all = matrices.saturating_mul(columns);
    affordable(all.saturating_mul(8))?;
    let mut counts = vec![0_u64; all];
    for (i, counts) in counts.chunks_mut(columns.max(1)).enumerate() {
        column_counts(bits.values(), bits.offset() + i * n * columns, n, counts);
    }
    let result = |i: usize| answer(usize::try_from(counts[i]).unwrap_or(n), n);
    if dtype == DType::Bool {
        let out = BooleanBuffer::collect_bool(all, |i| result(i) == 1);
        return Ok(Tensor::from_dense(dtype, out_dims, Storage::Bits(out)));
    }
    Tensor::new(&out_dims, &(0..all).map(result).collect::<Vec<i64>>())
}

/// Runs a fold over the rows of a partition on data.
pub fn run_segments(fold: Fold, args: &[Value]) -> Result<Outputs> {
    let [values, partition] = args else {
        return Err(Error::value("two arguments are wanted: values and a partition"));
    };
    let (x, rows) = (values.tensor()?.data()?, partition.partition()?.data()?);
    if fold.tests_numbers(x.dtype()) {
        return run_segments(fold, &[tested(x)?.into(), partition.clone()]);
    }
    let (outer, inner) = x.dims().split_first().ok_or_else(|| Error::shape("values are a scalar"))?;
    if *outer != rows.nvalues() {
        return Err(no_cut(&outer.to_string(), &rows.nvalues().to_string()));
    }
    let mut out_dims = Dims::from_slice(x.dims());
    out_dims[0] = rows.nrows();
    let columns: usize = inner.iter().product();
    if texts::picks(fold, x.dtype()) {
        return Ok(smallvec![Value::Tensor(texts::of_segments(fold, x, rows, columns, out_dims)?)]);
    }
    if columns != 1 {
        return fold_columns(fold, x, rows, columns, out_dims);
    }
    if let Storage::Bits(bits) = x.storage() {
        return Ok(smallvec![Value::Tensor(fold_rows_of_bits(fold, bits, rows, out_dims)?)]);
    }
    let kernel = kernel_of(fold, x.dtype())?;
    let mut out = block_of(rows.nrows(), out_width(kernel.out))?;
    let work = rows.last() - rows.first();
    over_threads(rows.nrows(), work, out.bytes_mut(), |from, out| {
        let count = out.len() / out_width(kernel.out);
        let bytes = x.fixed().map_or(&[][..], |b| b.as_slice());
        (kernel.segments)(bytes, &rows.offsets().slice(from, count + 1), out);
    });
    Ok(smallvec![Value::Tensor(Tensor::from_dense(kernel.out, out_dims, Storage::Fixed(out.elements())))])
}

/// Runs a fold over the rows of a partition on the rows of `x` at `places`, which are among them; nothing where its elements have no
/// kernel.
///
/// Errors: another number of places than the partition cuts.
pub(crate) fn run_segments_of(fold: Fold, x: &Dense, places: &[i64], rows: &Rows) -> Result<Option<Outputs>> {
    if places.len() != rows.nvalues() {
        return Err(no_cut(&places.len().to_string(), &rows.nvalues().to_string()));
    }
    let Some(kernel) = fold.kernel(x.dtype()) else { return Ok(None) };
    let mut out_dims = Dims::from_slice(x.dims());
    out_dims[0] = rows.nrows();
    let columns: usize = x.dims()[1..].iter().product();
    let work = columns.saturating_mul(rows.last() - rows.first());
    let folded = columns_of(kernel, x, Some(places), &|i| rows.row(i), (rows.nrows(), columns), work, out_dims)?;
    Ok(Some(smallvec![Value::Tensor(folded)]))
}

/// Folds rows of vectors: each column is a list of its own.
fn fold_columns(fold: Fold, x: &Dense, rows: &Rows, columns: usize, out_dims: Dims) -> Result<Outputs> {
    let work = columns.saturating_mul(rows.last() - rows.first());
    if let Some(kernel) = fold.kernel(x.dtype()) {
        let folded = columns_of(kernel, x, None, &|i| rows.row(i), (rows.nrows(), columns), work, out_dims)?;
        return Ok(smallvec![Value::Tensor(folded)]);
    }
    let Storage::Bits(bits) = x.storage() else {
        return Err(Error::dtype(format!("the op does not take {}", x.dtype())));
    };
    fold_columns_of_bits(fold, bits, rows, columns, out_dims)
}

/// Folds each column of matrices, whose rows `matrix` gives, or the `places` of their rows.
fn columns_of(
    kernel: FoldKernel,
    x: &Dense,
    places: Option<&[i64]>,
    matrix: &(dyn Fn(usize) -> Range<usize> + Sync),
    (matrices, columns): (usize, usize),
    work: usize,
    out_dims: Dims,
) -> Result<Tensor> {
    let width = out_width(kernel.out);
    let mut out = block_of(matrices.saturating_mul(columns), width)?;
    let bytes = x.fixed()?.as_slice();
    let all = Columns { stride: columns, range: 0..columns, places };
    if matrices == 1 {
        // The columns of one matrix are parted.
        over_threads(columns, work, out.bytes_mut(), |from, out| {
            let some = Columns { range: from..from + out.len() / width, ..all.clone() };
            (kernel.columns)(bytes, &some, &|_| matrix(0), out);
        });
    } else if columns > 0 {
        over_threads(matrices, work, out.bytes_mut(), |from, out| {
            (kernel.columns)(bytes, &all, &|i| matrix(from + i), out);
        });
    }
    Ok(Tensor::from_dense(kernel.out, out_dims, Storage::Fixed(out.elements())))
}

fn fold_columns_of_bits(
    fold: Fold,
    bits: &BooleanBuffer,
    rows: &Rows,
    columns: usize,
    out_dims: Dims,
) -> Result<Outputs> {
    let x = Tensor::from_dense(DType::Bool, smallvec![rows.nvalues(), columns], Storage::Bits(bits.clone()));
    if rows.nvalues() == 0 || rows.nrows() == 0 {
        return fold_no_values(fold, x.data()?, rows.nrows(), out_dims);
    }
    let by_column = crate::ops::permute(x.data()?, &[1, 0])?;
    let partition = Value::Partition(crate::RowPartition::from_offsets(rows.offsets().clone(), rows.nvalues())?);
    let mut folded = Vec::with_capacity(columns);
    for column in 0..columns {
        let values = by_column.slice_rows(column, 1)?.with_dims(&[rows.nvalues()])?;
        folded.extend(run_segments(fold, &[Value::Tensor(values), partition.clone()])?);
    }
    let dtype = fold.out_dtype(DType::Bool)?;
    let sources: Result<Vec<&Dense>> = folded.iter().map(|c| c.tensor()?.data()).collect();
    let runs = (0..columns).map(|c| crate::ops::Run { source: Some(c), start: 0, len: rows.nrows() });
    let stacked = crate::ops::assemble(dtype, smallvec![columns, rows.nrows()], &sources?, runs)?;
    let moved = crate::ops::permute(stacked.data()?, &[1, 0])?;
    Ok(smallvec![Value::Tensor(moved.with_dims(&out_dims)?)])
}

/// The folds of rows that are all empty: columns may be without end where there is no value.
fn fold_no_values(fold: Fold, x: &Dense, nrows: usize, out_dims: Dims) -> Result<Outputs> {
    let none = Tensor::from_dense(x.dtype(), smallvec![1, 0], x.storage().slice_of_none());
    let one = fold_axes(fold, none.data()?, &[1], false)?;
    debug_assert!(out_dims.first() == Some(&nrows), "a result for each row");
    Ok(smallvec![Value::Tensor(crate::ops::stretch(&one.with_dims(&[])?, out_dims)?)])
}

/// The axes that broadcasting `from` to `to` stretched: those in front, and those of size 1.
///
/// Errors: `from` does not broadcast to `to`.
pub fn stretched_axes(from: &[usize], to: &[usize]) -> Result<SmallVec<[usize; 4]>> {
    broadcast_strides(from, to)?;
    let skip = to.len() - from.len();
    Ok((0..to.len()).filter(|&i| i < skip || (from[i - skip] == 1 && to[i] != 1)).collect())
}
