//! Elementwise ops on strings and bytes, which the blocks of numbers and bits do not hold.
//!
//! Bytes are compared as they stand: equal strings are those of equal code points, and UTF-8 has the order of code points.

use super::structural::stretch;
use super::{Run, assemble};
use crate::attrs::AttrSet;
use crate::op::OutputSpecs;
use crate::tensor::{Dense, Tensor};
use crate::value::{Outputs, Value};
use arrow_buffer::BooleanBuffer;
use extenso_types::{DType, Dims, Error, LeafSpec, Result, TensorSpec};
use smallvec::smallvec;

/// A boolean for each pair of texts of one dtype.
pub(super) fn infer_comparison(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let [x, y] = args else { return Err(Error::value("two arguments are wanted")) };
    let shape = alike(x.tensor()?, y.tensor()?)?.shape;
    Ok(smallvec![LeafSpec::Tensor(TensorSpec::new(DType::Bool, shape))])
}

/// Text of the dtype of both choices.
pub(super) fn infer_where(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let [condition, x, y] = args else { return Err(Error::value("three arguments are wanted")) };
    let condition = condition.tensor()?;
    if condition.dtype != DType::Bool {
        return Err(Error::dtype(format!("the condition is {}", condition.dtype)).wanted("booleans"));
    }
    let both = alike(x.tensor()?, y.tensor()?)?;
    Ok(smallvec![LeafSpec::Tensor(TensorSpec::new(both.dtype, both.shape.broadcast(&condition.shape)?))])
}

/// Text of the dtype of both arguments.
pub(super) fn infer_both(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let [x, y] = args else { return Err(Error::value("two arguments are wanted")) };
    Ok(smallvec![LeafSpec::Tensor(alike(x.tensor()?, y.tensor()?)?)])
}

fn alike(x: &TensorSpec, y: &TensorSpec) -> Result<TensorSpec> {
    if x.dtype == y.dtype {
        return Ok(TensorSpec::new(x.dtype, x.shape.broadcast(&y.shape)?));
    }
    Err(Error::dtype(format!("the arguments are {} and {}", x.dtype, y.dtype))
        .wanted("one dtype for both: strings beside strings alone, bytes beside bytes"))
}

/// Whether texts are equal.
pub(super) fn equal(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    compare(args, out, |x, y| x == y)
}

/// Whether texts differ.
pub(super) fn not_equal(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    compare(args, out, |x, y| x != y)
}

/// Whether texts of `x` are in front of those of `y`.
pub(super) fn less(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    compare(args, out, |x, y| x < y)
}

/// Whether texts of `x` are in front of those of `y` or equal to them.
pub(super) fn less_equal(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    compare(args, out, |x, y| x <= y)
}

/// Whether texts of `x` are behind those of `y`.
pub(super) fn greater(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    compare(args, out, |x, y| x > y)
}

/// Whether texts of `x` are behind those of `y` or equal to them.
pub(super) fn greater_equal(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    compare(args, out, |x, y| x >= y)
}

fn compare(args: &[Value], out: &[LeafSpec], holds: impl Fn(&[u8], &[u8]) -> bool) -> Result<Outputs> {
    let dims = sizes(out)?;
    let (_, _, bits) = compared(args, &dims, holds)?;
    Ok(smallvec![Value::Tensor(Tensor::from_bits(&dims, bits)?)])
}

/// The texts of both arguments in one shape, and for which pairs `holds` says so.
fn compared(
    args: &[Value],
    dims: &Dims,
    holds: impl Fn(&[u8], &[u8]) -> bool,
) -> Result<(Tensor, Tensor, BooleanBuffer)> {
    let (x, y) = (stretch(args[0].tensor()?, dims.clone())?, stretch(args[1].tensor()?, dims.clone())?);
    let (of_x, of_y) = (x.data()?, y.data()?);
    let bits: Result<BooleanBuffer> = (0..of_x.len()).map(|i| Ok(holds(of_x.text_at(i)?, of_y.text_at(i)?))).collect();
    bits.map(|bits| (x, y, bits))
}

/// Texts of `x` where the condition is true, otherwise of `y`.
pub(super) fn run_where(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    let dims = sizes(out)?;
    let stretched: Result<Vec<Tensor>> = args.iter().map(|arg| stretch(arg.tensor()?, dims.clone())).collect();
    let stretched = stretched?;
    let all: Result<Vec<&Dense>> = stretched.iter().map(Tensor::data).collect();
    let [condition, x, y] = all?[..] else { return Err(Error::internal("three arguments became others")) };
    chosen(x, y, dims, condition.bits()?)
}

/// The texts that sort behind.
pub(super) fn maximum(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    one_of(args, out, |x, y| x > y)
}

/// The texts that sort before.
pub(super) fn minimum(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    one_of(args, out, |x, y| x < y)
}

/// Texts of `x` where `holds` says so, otherwise of `y`.
fn one_of(args: &[Value], out: &[LeafSpec], holds: impl Fn(&[u8], &[u8]) -> bool) -> Result<Outputs> {
    let dims = sizes(out)?;
    let (x, y, bits) = compared(args, &dims, holds)?;
    chosen(x.data()?, y.data()?, dims, &bits)
}

/// Texts of `x` where a bit is set, otherwise of `y`.
fn chosen(x: &Dense, y: &Dense, dims: Dims, bits: &BooleanBuffer) -> Result<Outputs> {
    let run = |start: usize| Run { source: Some(usize::from(!bits.value(start))), start, len: 1 };
    Ok(smallvec![Value::Tensor(assemble(x.dtype(), dims, &[x, y], (0..bits.len()).map(run))?)])
}

fn sizes(out: &[LeafSpec]) -> Result<Dims> {
    let spec = out.first().ok_or_else(|| Error::internal("an elementwise op without a shape"))?.tensor()?;
    spec.shape.to_dims().ok_or_else(|| Error::internal("sizes are not known at run time"))
}
