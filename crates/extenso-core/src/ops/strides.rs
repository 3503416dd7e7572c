//! Elements read by strides: what an exchange of axes, a slice and a broadcast have in common, for every dtype.

use super::assemble::{LONG_BITS, Run, assemble};
use crate::kernels::pool::{Block, affordable};
use crate::kernels::strided::{self, merged};
use crate::tensor::{Dense, Storage, Tensor, element_count, in_bytes};
use crate::threads::{pieces, side_by_side};
use extenso_types::{Dims, Result};
use smallvec::SmallVec;

/// A step in elements along each axis.
pub(super) type Strides = SmallVec<[isize; 4]>;

/// The tensor of sizes `dims` that reads the elements of `x` from `start` on by strides, of which there is one for each position.
///
/// Errors: more than memory holds.
pub(super) fn by_strides(x: &Dense, start: usize, dims: Dims, strides: Strides) -> Result<Tensor> {
    let n = element_count(&dims)?;
    if n == 0 {
        return assemble(x.dtype(), dims, &[x], std::iter::empty());
    }
    affordable(n.saturating_mul(x.dtype().width().unwrap_or(8)))?;
    match x.storage() {
        Storage::Fixed(_) => numbers(x, start, dims, &strides),
        Storage::Bits(bits) => {
            let (first, reach) = reached(start, &dims, &strides);
            let long = matches!((dims.last(), strides.last()), (Some(LONG_BITS..), Some(1)));
            if long || reach / SPARSE > n {
                return in_runs(x, start, dims, &strides);
            }
            let part = Tensor::from_bits(&[reach], bits.slice(first, reach))?;
            in_bytes(&[part.data()?], |bytes| numbers(bytes[0], start - first, dims, &strides))
        }
        Storage::Text { .. } | Storage::Boxed(_) => in_runs(x, start, dims, &strides),
    }
}

/// A bit that is moved by itself takes as long as so many that become bytes.
const SPARSE: usize = 16;

/// The first element that is read, and how many there are from it to the last.
fn reached(start: usize, dims: &[usize], strides: &[isize]) -> (usize, usize) {
    let (mut first, mut last) = (start, start);
    for (n, stride) in dims.iter().zip(strides) {
        let step = stride.saturating_mul((n - 1).cast_signed());
        let end = if step < 0 { &mut first } else { &mut last };
        *end = end.saturating_add_signed(step);
    }
    (first, last - first + 1)
}

fn numbers(x: &Dense, start: usize, dims: Dims, strides: &[isize]) -> Result<Tensor> {
    let width = x.dtype().width().unwrap_or(1);
    let (bytes, mut block) = (x.fixed()?.as_slice(), Block::new(element_count(&dims)? * width));
    match width {
        1 => copy::<u8>(bytes, start, (&dims, strides), block.slice_mut()),
        2 => copy::<u16>(bytes, start, (&dims, strides), block.slice_mut()),
        4 => copy::<u32>(bytes, start, (&dims, strides), block.slice_mut()),
        _ => copy::<u64>(bytes, start, (&dims, strides), block.slice_mut()),
    }
    Ok(Tensor::from_dense(x.dtype(), dims, Storage::Fixed(block.elements())))
}

/// Copies the elements, many by several threads, each some of the first axis that has more than one position.
fn copy<T: bytemuck::Pod + Send + Sync>(
    bytes: &[u8],
    start: usize,
    (dims, strides): (&[usize], &[isize]),
    out: &mut [T],
) {
    let source = bytemuck::cast_slice::<u8, T>(bytes);
    let ones = dims.iter().take_while(|n| **n == 1).count();
    let (dims, strides) = (&dims[ones..], &strides[ones..]);
    let ([outer, inner @ ..], [stride, ..]) = (dims, strides) else {
        return strided::copy(source, start, dims, strides, out);
    };
    let (row, per_piece) = (inner.iter().product::<usize>(), outer.div_ceil(pieces(out.len())).max(1));
    if per_piece >= *outer {
        return strided::copy(source, start, dims, strides, out);
    }
    let parts: Vec<_> = out.chunks_mut(per_piece * row).enumerate().collect();
    side_by_side(parts, |(i, out): (usize, &mut [T])| {
        let mut dims = Dims::from_slice(dims);
        dims[0] = out.len() / row;
        let start = start.wrapping_add_signed((i * per_piece).cast_signed() * stride);
        strided::copy(source, start, &dims, strides, out);
    });
}

/// The elements that are not moved one by one, in runs that are as long as they may be.
fn in_runs(x: &Dense, start: usize, dims: Dims, strides: &[isize]) -> Result<Tensor> {
    let (sizes, steps) = merged(&dims, strides);
    let (outer, outer_steps, len) = match (&sizes[..], &steps[..]) {
        ([outer @ .., len], [steps @ .., 1]) => (outer, steps, *len),
        (outer, steps) => (outer, steps, 1),
    };
    let mut starts: Vec<usize> = Vec::with_capacity(outer.iter().product());
    push_positions(outer, outer_steps, start, &mut starts);
    let runs = starts.into_iter().map(|start| Run { source: Some(0), start, len });
    assemble(x.dtype(), dims, &[x], runs)
}

fn push_positions(dims: &[usize], strides: &[isize], at: usize, out: &mut Vec<usize>) {
    match (dims.split_first(), strides.split_first()) {
        (Some((&n, dims)), Some((&stride, strides))) => {
            let mut at = at;
            for _ in 0..n {
                push_positions(dims, strides, at, out);
                // Behind the last position nothing is read.
                at = at.wrapping_add_signed(stride);
            }
        }
        _ => out.push(at),
    }
}
