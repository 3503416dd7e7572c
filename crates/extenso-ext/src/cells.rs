//! Elements of a fixed number of bytes: a tensor of u8 whose innermost axis is one element.
//!
//! Invariant: bytes are read by ops alone, so that they are read while tracing too.

use crate::args::int;
use extenso_core::attrs::{AttrSet, Attrs, Axes};
use extenso_core::{Class, OpDef, OutputSpecs, Outputs, Tensor, Value, call_one, ops};
use extenso_types::{DType, Error, LeafSpec, Result, Shape, TensorSpec};

extenso_core::attrs! {
    /// Whether cells are little-endian integers with a sign, whose order theirs is to be.
    pub struct CellKeys { integers: bool = false }
}

/// Each cell as a byte string: as it is, or one that stands in the order of the integers.
pub static CELL_KEYS: OpDef = OpDef::general(Class::Structural, infer_keys, run_keys).part().named(
    "cell_keys",
    "Each cell, a last axis of bytes, as a byte string, whose order is that of the cells.\n",
    &["x"],
    CellKeys::DEF,
);

/// The byte strings of cells.
pub(crate) fn keys(cells: &Tensor, integers: bool) -> Result<Value> {
    call_one(&CELL_KEYS, &[cells.into()], &CellKeys { integers })
}

fn infer_keys(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let [x] = args else { return Err(Error::value(format!("{} arguments are given", args.len())).wanted("one")) };
    let spec = x.tensor()?;
    let outer = spec.shape.dims().and_then(|dims| dims.split_last()).filter(|_| spec.dtype == DType::U8);
    let Some((_, outer)) = outer else {
        return Err(Error::dtype(format!("the cells are {spec}")).wanted("u8 with the bytes in the last axis"));
    };
    let keys = TensorSpec::new(DType::Bytes, Shape::new(outer.iter().copied()));
    Ok(OutputSpecs::from_iter([LeafSpec::Tensor(keys)]))
}

fn run_keys(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let x = args[0].tensor()?.data()?;
    let (width, outer) = x.dims().split_last().ok_or_else(|| Error::internal("cells without bytes"))?;
    let bytes = x.as_slice::<u8>()?;
    let keys = if !CellKeys::of(attrs)?.integers {
        let count = outer.iter().product::<usize>();
        let cells: Vec<&[u8]> = (0..count).map(|i| &bytes[i * width..(i + 1) * width]).collect();
        Tensor::byte_strings(outer, &cells)?
    } else {
        // From the highest byte, and what is below zero before what is not.
        let key = |cell: &[u8]| {
            let mut key: Vec<u8> = cell.iter().rev().copied().collect();
            key.iter_mut().take(1).for_each(|top| *top ^= 0x80);
            key
        };
        Tensor::byte_strings(outer, &bytes.chunks_exact((*width).max(1)).map(key).collect::<Vec<_>>())?
    };
    Ok(Outputs::from_iter([keys.into()]))
}

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
