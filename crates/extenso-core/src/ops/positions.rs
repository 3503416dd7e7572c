//! Elements by their positions along an axis, one position for each; positions of elements.

use super::args::{one_tensor, spec_of, tensor_spec};
use super::lines::Lines;
use super::{Run, assemble, positions};
use crate::attrs::{AttrSet, Attrs};
use crate::kernels::map::Number;
use crate::kernels::pool::Block;
use crate::kernels::scan::add_rows;
use crate::op::{Class, OpDef, OutputSpecs};
use crate::reduce::normalize_axis;
use crate::tensor::{Dense, Storage, Tensor};
use crate::value::{Outputs, Value};
use extenso_types::{DType, Error, LeafSpec, Result, Shape, TensorSpec};
use half::{bf16, f16};

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
        .grad(|cx| {
            let axis = cx.attrs::<LastAxis>()?.axis;
            Ok(vec![Some(scatter_add_along_axis(cx.g(), &cx.args[1], &cx.args[0], axis)?), None])
        })
        .examples(&[("take_along_axis([[1.5, 2.5], [3.5, 4.5]], [[1], [0]])", "[[2.5], [3.5]]")]);

    /// Adds `updates` into zeros of the shape of `like` at `indices` along `axis`, line by line; the gradient of
    /// `take_along_axis`.
    ///
    /// Shapes: `updates` and `indices` have one shape, which is that of `like` but for `axis`. Errors: other sizes; an index out
    /// of range, with its position; dtypes that differ or are not numbers.
    SCATTER_ADD_ALONG_AXIS: scatter_add_along_axis(updates, indices, like; LastAxis { axis: i64 }) = OpDef::general(Class::Structural, infer_scatter_along, run_scatter_along)
        .grad(|cx| {
            let axis = cx.attrs::<LastAxis>()?.axis;
            Ok(vec![Some(take_along_axis(cx.g(), &cx.args[1], axis)?), None, None])
        })
        .examples(&[("scatter_add_along_axis([[1.0, 2.0]], [[2, 2]], [[0.0, 0.0, 0.0]])", "[[0.0, 0.0, 3.0]]")]);
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
    let lines = Lines::of(&args[0], axis)?;
    let (x, n, at) = (lines.data()?, lines.len()?, along(&args[1], axis, lines.len()?)?);
    let width = at.width;
    let start = |(i, at): (usize, &usize)| i / width * n + at;
    let runs = at.positions.iter().enumerate().map(|place| Run { source: Some(0), start: start(place), len: 1 });
    one_tensor(lines.back(assemble(x.dtype(), lines.dims_with(width)?, &[x], runs)?)?)
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
    let mut block = Block::new(zeros.len() * size_of::<T>());
    add_rows(x.as_slice::<T>()?, &at.positions, at.width, like.len()?, zero, add, block.slice_mut::<T>());
    Ok(Tensor::from_dense(T::DTYPE, zeros.dims().into(), Storage::Fixed(block.freeze())))
}
