//! What most kernels begin and end with: the data and specs of their arguments, and one tensor.

use crate::op::OutputSpecs;
use crate::tensor::{Dense, Tensor};
use crate::value::{Outputs, Value};
use extenso_types::{DType, Error, LeafSpec, Result, Shape, TensorSpec};
use smallvec::smallvec;

pub(super) fn tensor_spec(dtype: DType, shape: Shape) -> OutputSpecs {
    smallvec![LeafSpec::Tensor(TensorSpec::new(dtype, shape))]
}

pub(super) fn one_tensor(t: Tensor) -> Result<Outputs> {
    Ok(smallvec![Value::Tensor(t)])
}

pub(super) fn data(args: &[Value], i: usize) -> Result<&Dense> {
    args.get(i).ok_or_else(|| Error::value(format!("argument {} is missing", i + 1)))?.tensor()?.data()
}

pub(super) fn spec_of(args: &[LeafSpec], i: usize) -> Result<&TensorSpec> {
    args.get(i).ok_or_else(|| Error::value(format!("argument {} is missing", i + 1)))?.tensor()
}
