//! Elements of a fixed number of bytes: a tensor of u8 whose innermost axis is one element.
//!
//! Invariant: bytes are read by ops alone, so that they are read while tracing too.

use crate::args::int;
use extenso_core::attrs::Axes;
use extenso_core::{Tensor, Value, ops};
use extenso_types::{DType, Result};

/// The little-endian signed integer in bytes `from..to` of each element, at most eight, as i64.
pub(crate) fn signed(cells: &Tensor, from: usize, to: usize) -> Result<Value> {
    let bytes = ops::slice(cells, -1_i64, int(from), Some(vec![int(to)]), 1_i64)?;
    let weights: Vec<i64> = (0..to - from).map(|i| 1_i64.wrapping_shl(8 * u32::try_from(i).unwrap_or(0))).collect();
    let parts = ops::multiply(ops::cast(bytes, DType::I64)?, Tensor::from_vec(weights))?;
    let whole = ops::sum(parts, Axes::List(vec![-1]), false)?;
    let bits = 8 * (to - from);
    if bits >= 64 {
        return Ok(whole);
    }
    // The sign bit is moved up and back.
    let half = 1_i64 << (bits - 1);
    ops::subtract(ops::bitwise_xor(whole, half)?, half)
}

/// The number of elements of a tensor of cells that has data.
pub(crate) fn count(cells: &Tensor) -> Result<usize> {
    let dims = cells.data()?.dims();
    Ok(dims[..dims.len().saturating_sub(1)].iter().product())
}
