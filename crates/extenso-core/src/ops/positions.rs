//! Elements by their positions along an axis, one position for each; positions of elements.

use super::args::{data, one_tensor, spec_of, tensor_spec};
use super::assemble::gathered;
use super::lines::Lines;
use super::selection::places;
use super::structural::OneAxis;
use super::{Run, assemble, cast, positions};
use crate::attrs::{AttrSet, Attrs};
use crate::kernels::bits::{count_ones_of_words, load_bits};
use crate::kernels::gather::{elements, positions_of_ones};
use crate::kernels::map::Number;
use crate::kernels::pool::{Block, affordable};
use crate::kernels::scan::add_rows;
use crate::op::{Class, OpDef, OutputSpecs};
use crate::reduce::normalize_axis;
use crate::tensor::{Dense, Storage, Tensor};
use crate::threads::{pieces, side_by_side};
use crate::value::{Outputs, Value};
use arrow_buffer::BooleanBuffer;
use extenso_types::{DType, Dim, Error, LeafSpec, Result, Shape, TensorSpec};
use half::{bf16, f16};
use smallvec::smallvec;

crate::attrs! {
    /// One axis, the last without another.
    pub struct LastAxis { axis: i64 = -1 }
}

crate::ops! {
    /// Elements by position.
    pub static POSITIONS;

    /// The elements of `x` at `indices` along `axis`, line by line; negative indices count from the end.
    ///
    /// Shapes: `indices` has the rank of `x` and its sizes but for `axis`; the result has the shape of `indices`. Errors: other
    /// sizes; an index out of range, with its position.
    TAKE_ALONG_AXIS: take_along_axis(x, indices; LastAxis { axis: i64 }) = OpDef::general(Class::Structural, infer_take_along, run_take_along)
        .apart(&[1])
        .grad(|cx| {
            let axis = cx.attrs::<LastAxis>()?.axis;
            Ok(vec![Some(scatter_add_along_axis(cx.g(), &cx.args[1], &cx.args[0], axis)?), None])
        })
        .examples(&[("take_along_axis([[1.5, 2.5], [3.5, 4.5]], [[1], [0]])", "[[2.5], [3.5]]")]);

    /// Adds `updates` into zeros of the shape of `like` at `indices` along `axis`; the gradient of `take_along_axis`.
    ///
    /// Shapes: `updates` and `indices` have one shape, which is that of `like` but for `axis`. Errors: other sizes; an index out
    /// of range, with its position; dtypes that differ or are not numbers.
    SCATTER_ADD_ALONG_AXIS: scatter_add_along_axis(updates, indices, like; LastAxis { axis: i64 }) = OpDef::general(Class::Structural, infer_scatter_along, run_scatter_along)
        .apart(&[1])
        .grad(|cx| {
            let axis = cx.attrs::<LastAxis>()?.axis;
            Ok(vec![Some(take_along_axis(cx.g(), &cx.args[1], axis)?), None, None])
        })
        .examples(&[("scatter_add_along_axis([[1.0, 2.0]], [[2, 2]], [[0.0, 0.0, 0.0]])", "[[0.0, 0.0, 3.0]]")]);

    /// 0, 1, 2 and so on for the elements along `axis`, as an i64 vector: the size of an axis, where only data tells it.
    ///
    /// Errors: an axis out of range.
    INDICES_ALONG: indices_along(x; OneAxis { axis: i64 }) = OpDef::general(Class::Axiswise, infer_indices, run_indices)
        .examples(&[("indices_along([7.5, 8.5, 9.5])", "[0, 1, 2]"), ("indices_along([[7, 8], [9, 9]], axis=1)", "[0, 1]")]);

    /// The positions of the elements that are not zero, in row-major order, as i64: a row for each, a column for each axis.
    ///
    /// NaN is not zero; of booleans it is those that are true.
    ARGWHERE: argwhere(x) = OpDef::general(Class::Axiswise, infer_argwhere, run_argwhere)
        .examples(&[("argwhere([0.0, 1.5, 2.5])", "[[1], [2]]"), ("argwhere([[True, False], [False, True]])", "[[0, 0], [1, 1]]")]);
}

fn infer_indices(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let x = spec_of(args, 0)?;
    let size = match x.shape.dims() {
        None => Dim::any(),
        Some(dims) => dims[normalize_axis(OneAxis::of(attrs)?.axis, dims.len())?],
    };
    Ok(tensor_spec(DType::I64, Shape::new([size])))
}

fn run_indices(_: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    let dims = spec_of(out, 0)?.shape.to_dims().ok_or_else(|| Error::internal("sizes are not known at run time"))?;
    let n = dims.first().copied().unwrap_or(0);
    affordable(n.saturating_mul(8))?;
    let mut block = Block::new(n * 8);
    block.slice_mut::<i64>().iter_mut().zip(0..).for_each(|(at, i)| *at = i);
    one_tensor(Tensor::from_dense(DType::I64, dims, Storage::Fixed(block.elements())))
}

fn infer_argwhere(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let x = spec_of(args, 0)?;
    if !x.dtype.is_numeric() && x.dtype != DType::Bool {
        return Err(Error::dtype(format!("the op does not take {}", x.dtype)).wanted("numbers or booleans"));
    }
    let rank = x.shape.rank().map_or_else(Dim::any, Dim::Known);
    Ok(tensor_spec(DType::I64, Shape::new([Dim::any(), rank])))
}

fn run_argwhere(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let x = args[0].tensor()?;
    let found = if x.dtype() == DType::Bool { args[0].clone() } else { cast(x, DType::Bool)? };
    let found = found.tensor()?.data()?;
    let (dims, bits) = (x.data()?.dims(), found.bits()?);
    if let [_] = dims {
        let places = places_of_ones(bits)?;
        let count = places.data()?.len();
        return one_tensor(places.with_dims(&[count, 1])?);
    }
    let count = bits.count_set_bits();
    affordable(count.saturating_mul(dims.len() * 8))?;
    let mut out = vec![0_i64; count * dims.len()];
    for (row, flat) in out.chunks_mut(dims.len().max(1)).zip(bits.set_indices()) {
        let mut rest = flat;
        for (at, size) in row.iter_mut().zip(dims).rev() {
            *at = i64::try_from(rest % size).unwrap_or(i64::MAX);
            rest /= size;
        }
    }
    one_tensor(Tensor::new(&[count, dims.len()], &out)?)
}

/// The places of the bits that are ones.
pub(super) fn places_of_ones(bits: &BooleanBuffer) -> Result<Tensor> {
    const BITS: usize = 1 << 12;
    let count = bits.count_set_bits();
    super::sorting::indices(smallvec![count], |mut out| {
        let mut words = [0; BITS / 64];
        for start in (0..bits.len()).step_by(BITS) {
            let n = BITS.min(bits.len() - start);
            load_bits(bits.values(), bits.offset() + start, n, &mut words);
            let words = &words[..n.div_ceil(64)];
            let found = count_ones_of_words(words);
            let (here, rest) = out.split_at_mut(found);
            positions_of_ones(words, start, here);
            out = rest;
        }
        Ok(())
    })
}

fn infer_take_along(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let (x, indices) = (spec_of(args, 0)?, spec_of(args, 1)?);
    let shape = line_by_line(x, indices, LastAxis::of(attrs)?.axis)?;
    Ok(tensor_spec(x.dtype, shape))
}

/// The shape of the indices, which fit the lines of `x`.
fn line_by_line(x: &TensorSpec, indices: &TensorSpec, axis: i64) -> Result<Shape> {
    if !indices.dtype.is_integer() {
        return Err(Error::dtype(format!("indices are {}", indices.dtype))
            .wanted("integers")
            .hint("Write `cast(indices, 'i64')`."));
    }
    let (Some(dims), Some(given)) = (x.shape.dims(), indices.shape.dims()) else { return Ok(indices.shape.clone()) };
    let at = normalize_axis(axis, dims.len())?;
    let fits = |i: usize| i == at || dims[i].is_compatible_with(given[i]);
    if given.len() != dims.len() || !(0..dims.len()).all(fits) {
        return Err(Error::shape(format!("indices have shape {} for {}", indices.shape, x.shape))
            .wanted(format!("the same rank, and the same sizes but for axis {at}")));
    }
    // What either knows of a size, both know.
    let known = |i: usize| if i == at || given[i].known().is_some() { given[i] } else { dims[i] };
    Ok(Shape::new((0..dims.len()).map(known)))
}

fn run_take_along(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let axis = LastAxis::of(attrs)?.axis;
    let (vector, indices) = (data(args, 0)?, data(args, 1)?);
    if let [n] = *vector.dims() {
        return one_tensor(gathered(vector, &places(indices, n)?, indices.dims().into())?);
    }
    let lines = Lines::of(&args[0], axis)?;
    let (x, n) = (lines.data()?, lines.len()?);
    if x.fixed().is_ok() {
        return one_tensor(lines.back(numbers_along(&lines, &args[1], axis)?)?);
    }
    let at = along(&args[1], axis, n)?;
    let width = at.width;
    let start = |(i, at): (usize, &usize)| i / width * n + at;
    let runs = at.positions.iter().enumerate().map(|place| Run { source: Some(0), start: start(place), len: 1 });
    one_tensor(lines.back(assemble(x.dtype(), lines.dims_with(width)?, &[x], runs)?)?)
}

/// The numbers of lines at indices along the axis, many lines side by side.
fn numbers_along(lines: &Lines, indices: &Value, axis: i64) -> Result<Tensor> {
    let (x, n) = (lines.data()?, lines.len()?);
    // Proven where they stand, so that an error names their own position.
    places(indices.tensor()?.data()?, n)?;
    let indices = Lines::of(indices, axis)?;
    let (at, count) = (places(indices.data()?, n)?, indices.len()?);
    let (bytes, width) = (x.fixed()?.as_slice(), x.dtype().width().unwrap_or(1));
    affordable(at.len().saturating_mul(width))?;
    let mut block = Block::new(at.len() * width);
    if !at.is_empty() {
        let part = (at.len() / count).div_ceil(pieces(at.len())).max(1);
        let parts = at.chunks(part * count).zip(block.bytes_mut().chunks_mut(part * count * width)).enumerate();
        side_by_side(parts.collect(), |(i, (at, out)): (usize, (&[i64], &mut [u8]))| {
            let sources = bytes[i * part * n * width..].chunks(n * width);
            for ((source, at), out) in sources.zip(at.chunks(count)).zip(out.chunks_mut(count * width)) {
                elements(source, width, at, out);
            }
        });
    }
    Ok(Tensor::from_dense(x.dtype(), lines.dims_with(count)?, Storage::Fixed(block.elements())))
}

/// Indices along an axis as positions, line by line.
struct Along {
    positions: Vec<usize>,
    width: usize,
}

fn along(indices: &Value, axis: i64, n: usize) -> Result<Along> {
    // Proven where they stand, so that an error names their own position.
    positions(indices.tensor()?.data()?, n)?;
    let lines = Lines::of(indices, axis)?;
    Ok(Along { positions: positions(lines.data()?, n)?, width: lines.len()? })
}

fn infer_scatter_along(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let (updates, indices, like) = (spec_of(args, 0)?, spec_of(args, 1)?, spec_of(args, 2)?);
    if updates.dtype != like.dtype || !updates.dtype.is_numeric() {
        return Err(Error::dtype(format!("updates are {}, and zeros {}", updates.dtype, like.dtype))
            .wanted("numbers of one dtype"));
    }
    let shape = line_by_line(like, indices, LastAxis::of(attrs)?.axis)?;
    if !shape.is_compatible_with(&updates.shape) {
        return Err(Error::shape(format!("updates have shape {} for indices of {shape}", updates.shape))
            .wanted("one shape for both"));
    }
    Ok(tensor_spec(like.dtype, like.shape.clone()))
}

fn run_scatter_along(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let axis = LastAxis::of(attrs)?.axis;
    let (updates, like) = (Lines::of(&args[0], axis)?, Lines::of(&args[2], axis)?);
    let n = like.len()?;
    let at = along(&args[1], axis, n)?;
    let x = updates.data()?;
    macro_rules! by_dtype {
        (ints: $($i:ident $u:ty),*; floats: $($d:ident $t:ty),*) => {
            match x.dtype() {
                $(DType::$i => sums::<$u>(x, &at, &like, 0, |a, b| a.wrapping_add(b))?,)*
                $(DType::$d => sums::<$t>(x, &at, &like, 0.0, |a, b| a + b)?,)*
                other => return Err(Error::dtype(format!("the op does not take {other}")).wanted("numbers")),
            }
        };
    }
    let summed = by_dtype!(ints: I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64;
        floats: F16 f16, BF16 bf16, F32 f32, F64 f64);
    one_tensor(like.back(summed)?)
}

fn sums<T: Number>(
    x: &Dense,
    at: &Along,
    like: &Lines,
    zero: T::Wide,
    add: impl Fn(T::Wide, T::Wide) -> T::Wide,
) -> Result<Tensor> {
    let zeros = like.data()?;
    affordable(zeros.len().saturating_mul(size_of::<T>()))?;
    let mut block = Block::new(zeros.len() * size_of::<T>());
    add_rows(x.as_slice::<T>()?, &at.positions, at.width, like.len()?, zero, add, block.slice_mut::<T>());
    Ok(Tensor::from_dense(T::DTYPE, zeros.dims().into(), Storage::Fixed(block.elements())))
}
