//! Data of Python as tensors: buffers, arrays, nested lists.
//!
//! Invariant: contiguous, aligned numbers are shared and their owner kept alive; everything else is copied.

mod array;
mod nested;
mod strided;

pub use array::{array, array_value, times};
pub use nested::{list_value, nested};
pub use strided::{Strided, in_order};

use crate::call::apply_one;
use crate::error::OrRaise;
use extenso_core::{Arg, Tensor, ops};
use extenso_types::DType;
use pyo3::prelude::*;

/// The tensor in a dtype, if one is asked for.
///
/// Errors: the dtype cannot be converted to.
pub fn to_dtype(tensor: Tensor, dtype: Option<DType>) -> PyResult<Tensor> {
    match dtype.filter(|&dtype| dtype != tensor.dtype()) {
        Some(dtype) => apply_one(&ops::CAST, &[Arg::from(tensor)], &ops::Cast { dtype })?.tensor().cloned().or_raise(),
        None => Ok(tensor),
    }
}
