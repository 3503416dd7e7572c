//! Ops between rows and a dense axis: rows are filled up to one length, and taken out again.
//!
//! Invariant: what fills a row up is never read back.

use super::args::{data, one_tensor, spec_of, tensor_spec};
use super::structural::stretch;
use super::{Run, assemble};
use crate::attrs::{AttrSet, Attrs};
use crate::grad::GradCx;
use crate::kernels::gather::repeat;
use crate::kernels::pool::{Block, affordable};
use crate::op::{Class, OpDef, OutputSpecs};
use crate::ops::{concat, indices_along, max, minimum, multiply, reshape, row_lengths, sum, take, zeros_like};
use crate::partition::Rows;
use crate::tensor::{Dense, Elements, Storage, Tensor, element_count};
use crate::threads::{pieces, side_by_side};
use crate::value::{Outputs, Value};
use extenso_types::{Dim, Dims, Error, LeafSpec, PartitionSpec, Result, Shape};
use smallvec::smallvec;

crate::attrs! {
    /// The attributes of `pad_rows`.
    pub struct PadRows { width: Option<Vec<i64>> = None }
    /// The attributes of `unpad_rows`.
    pub struct UnpadRows { crop: bool = false }
}

crate::ops! {
    /// Ops between rows and a dense axis.
    pub static PADDING;

    /// The rows one below the other, filled up with `fill` to `width`, or to the longest; what is longer is cropped.
    ///
    /// Shapes: `values` is `[values, ...]`, the result `[rows, width, ...]`; `fill` has no axes. Errors: a negative width; a
    /// fill of another dtype; values whose number is not the partition's.
    PAD_ROWS: pad_rows(values, partition, fill; PadRows { width: Option<Vec<i64>> }) = OpDef::general(Class::Segment, infer_pad, run_pad)
        .grad(grad_pad)
        .examples(&[("pad_rows([1.0, 2.0, 3.0], partition_from_lengths([2, 0, 1]), 5.0)", "[[1.0, 2.0], [5.0, 5.0], [3.0, 5.0]]"), ("pad_rows([1, 2, 3], partition_from_lengths([2, 1]), 0, width=1)", "[[1], [3]]")]);

    /// The first elements of each row of a dense axis, as many as the partition's row is long: the reverse of `pad_rows`.
    ///
    /// Shapes: `x` is `[rows, width, ...]`, the result `[values, ...]`. Errors: a row longer than the width; with `crop`, zeros
    /// stand there.
    UNPAD_ROWS: unpad_rows(x, partition; UnpadRows { crop: bool }) = OpDef::general(Class::Segment, infer_unpad, run_unpad)
        .grad(grad_unpad)
        .examples(&[("unpad_rows([[1.0, 2.0], [5.0, 5.0], [3.0, 5.0]], partition_from_lengths([2, 0, 1]))", "[1.0, 2.0, 3.0]")]);
}

fn partition_spec(args: &[LeafSpec]) -> Result<&PartitionSpec> {
    args.get(1).ok_or_else(|| Error::value("argument 2 is missing"))?.partition()
}

fn rows(args: &[Value]) -> Result<&Rows> {
    args.get(1).ok_or_else(|| Error::value("argument 2 is missing"))?.partition()?.data()
}

fn width_of(attrs: &dyn AttrSet) -> Result<Option<usize>> {
    let Some(width) = &PadRows::of(attrs)?.width else { return Ok(None) };
    let [given] = width[..] else { return Err(Error::value(format!("width is {width:?}")).wanted("one number")) };
    let width = usize::try_from(given);
    width.map(Some).map_err(|_| Error::value(format!("the width is {given}")).wanted("a width that is not negative"))
}

fn infer_pad(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let (values, partition, fill) = (spec_of(args, 0)?, partition_spec(args)?, spec_of(args, 2)?);
    if fill.dtype != values.dtype || fill.shape.rank().is_some_and(|rank| rank != 0) {
        return Err(Error::dtype(format!("the fill is {fill}")).wanted(format!("one {} without axes", values.dtype)));
    }
    let width = width_of(attrs)?.map_or_else(Dim::any, Dim::Known);
    let shape = match values.shape.dims() {
        None => Shape::unknown(),
        Some([]) => return Err(Error::shape("values are a scalar").wanted("at least a vector")),
        Some([outer, inner @ ..]) => {
            if !outer.is_compatible_with(partition.nvalues) {
                return Err(values_differ(&outer.to_string(), &partition.nvalues.to_string()));
            }
            Shape::new([partition.nrows, width].into_iter().chain(inner.iter().copied()))
        }
    };
    Ok(tensor_spec(values.dtype, shape))
}

fn values_differ(given: &str, wanted: &str) -> Error {
    Error::shape(format!("{given} values are given to a partition of {wanted}"))
        .wanted("as many values as the partition cuts")
}

fn run_pad(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (values, rows) = (data(args, 0)?, rows(args)?);
    let (&outer, inner) = values.dims().split_first().ok_or_else(|| Error::shape("values are a scalar"))?;
    if outer != rows.nvalues() {
        return Err(values_differ(&outer.to_string(), &rows.nvalues().to_string()));
    }
    let width = width_of(attrs)?.unwrap_or_else(|| rows.lengths().max().unwrap_or(0));
    let dims: Dims = [rows.nrows(), width].into_iter().chain(inner.iter().copied()).collect();
    let count = element_count(&dims)?;
    affordable(count.saturating_mul(values.dtype().width().unwrap_or(8)))?;
    // Sizes are checked together above, so that no product below overflows.
    let size: usize = inner.iter().product();
    let longest = if count == 0 { 0 } else { width * size };
    if let (Storage::Fixed(bytes), Storage::Fixed(fill)) = (values.storage(), data(args, 2)?.storage()) {
        let mut line = vec![0; longest * fill.len()];
        repeat(fill, 0, &mut line);
        let padded = padded_numbers(bytes, &line, rows, size * fill.len());
        return one_tensor(Tensor::from_dense(values.dtype(), dims, Storage::Fixed(padded)));
    }
    let fill = stretch(args[2].tensor()?, smallvec![longest])?;
    let runs = (0..if longest == 0 { 0 } else { rows.nrows() }).flat_map(|i| {
        let row = rows.row(i);
        let kept = row.len().min(width) * size;
        let pad = Run { source: Some(1), start: 0, len: width * size - kept };
        [Run { source: Some(0), start: row.start * size, len: kept }, pad]
    });
    one_tensor(assemble(values.dtype(), dims, &[values, fill.data()?], runs)?)
}

/// The rows of values of `size` bytes, each filled up with the end of `fill` and as long as it. Many rows are split over threads.
fn padded_numbers(values: &[u8], fill: &[u8], rows: &Rows, size: usize) -> Elements {
    let mut block = Block::new(if fill.is_empty() { 0 } else { rows.nrows() * fill.len() });
    let bytes = block.bytes_mut();
    let piece = rows.nrows().div_ceil(pieces(bytes.len() / 8)).max(1);
    let pad = |(first, out): (usize, &mut [u8])| {
        for (i, out) in out.chunks_mut(fill.len()).enumerate() {
            let row = rows.row(first + i);
            let kept = (row.len() * size).min(out.len());
            out[..kept].copy_from_slice(&values[row.start * size..][..kept]);
            out[kept..].copy_from_slice(&fill[kept..]);
        }
    };
    if piece >= rows.nrows() && !bytes.is_empty() {
        pad((0, bytes));
    } else {
        let parts = bytes.chunks_mut((piece * fill.len()).max(1)).enumerate().map(|(i, out)| (i * piece, out));
        side_by_side(parts.collect(), pad);
    }
    block.elements()
}

fn grad_pad(cx: &GradCx<'_>) -> Result<Vec<Option<Value>>> {
    let (values, partition) = (&cx.args[0], &cx.args[1]);
    let values_grad = unpad_rows(cx.g(), partition, true)?;
    let filled = pad_rows(zeros_like(values)?, partition, 1, cx.attrs::<PadRows>()?.width.clone())?;
    let fill_grad = sum(multiply(cx.g(), filled)?, crate::attrs::Axes::All, false)?;
    Ok(vec![Some(values_grad), None, Some(fill_grad)])
}

fn infer_unpad(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let (x, partition) = (spec_of(args, 0)?, partition_spec(args)?);
    let shape = match x.shape.dims() {
        None => Shape::unknown(),
        Some([nrows, _, inner @ ..]) => {
            if !nrows.is_compatible_with(partition.nrows) {
                return Err(rows_differ(&nrows.to_string(), &partition.nrows.to_string()));
            }
            Shape::new(std::iter::once(partition.nvalues).chain(inner.iter().copied()))
        }
        Some(_) => return Err(no_rows(&x.shape.to_string())),
    };
    Ok(tensor_spec(x.dtype, shape))
}

fn no_rows(shape: &str) -> Error {
    Error::shape(format!("the shape is {shape}")).wanted("at least two axes: rows and their width")
}

fn rows_differ(given: &str, wanted: &str) -> Error {
    Error::shape(format!("{given} rows are given to a partition of {wanted}"))
        .wanted("as many rows as the partition has")
}

fn run_unpad(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, rows, crop) = (data(args, 0)?, rows(args)?, UnpadRows::of(attrs)?.crop);
    let [nrows, width, inner @ ..] = x.dims() else { return Err(no_rows(&format!("{:?}", x.dims()))) };
    let width = *width;
    if *nrows != rows.nrows() {
        return Err(rows_differ(&nrows.to_string(), &rows.nrows().to_string()));
    }
    if let Some((row, n)) = rows.lengths().enumerate().find(|(_, n)| *n > width && !crop) {
        return Err(Error::value(format!("row {row} is to have {n} values, and the axis has {width}"))
            .wanted("rows no longer than the axis"));
    }
    let dims: Dims = std::iter::once(rows.nvalues()).chain(inner.iter().copied()).collect();
    element_count(&dims)?;
    one_tensor(assemble(x.dtype(), dims, &[x], unpadded(rows, x, width))?)
}

fn unpadded<'a>(rows: &'a Rows, x: &Dense, width: usize) -> impl Iterator<Item = Run> + use<'a> {
    let size: usize = x.dims()[2..].iter().product();
    let zeros = move |n: usize| Run { source: None, start: 0, len: n * size };
    let of_row = move |i: usize| {
        let n = rows.row(i).len();
        let kept = n.min(width);
        [Run { source: Some(0), start: i * width * size, len: kept * size }, zeros(n - kept)]
    };
    std::iter::once(zeros(rows.first()))
        .chain((0..rows.nrows()).flat_map(of_row))
        .chain(std::iter::once(zeros(rows.nvalues() - rows.last())))
}

fn grad_unpad(cx: &GradCx<'_>) -> Result<Vec<Option<Value>>> {
    let (x, partition) = (&cx.args[0], &cx.args[1]);
    if let Some(width) = x.tensor()?.shape().dims().and_then(|dims| dims.get(1)?.known()) {
        let width = vec![i64::try_from(width).unwrap_or(i64::MAX)];
        return Ok(vec![Some(pad_rows(cx.g(), partition, 0, Some(width))?), None]);
    }
    // As wide as the longest row, and a column of zeros for all places that no row has.
    let padded = pad_rows(cx.g(), partition, 0, None)?;
    let longest = max(concat(vec![row_lengths(partition)?, reshape(0, vec![1_i64])?], 0)?, 0, false)?;
    let wide = concat(vec![padded, sum(zeros_like(x)?, 1, true)?], 1)?;
    Ok(vec![Some(take(wide, minimum(indices_along(x, 1)?, longest)?, 1)?), None])
}
