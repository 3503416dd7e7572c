//! The elements of another library's array, which lie by strides, in row-major order.

use extenso_types::{Error, Result};
use std::ptr::NonNull;

/// Where the elements of an array are.
pub struct Strided<'a> {
    /// The first element.
    pub base: NonNull<u8>,
    pub sizes: &'a [usize],
    /// Steps in bytes, one for each axis.
    pub strides: &'a [isize],
    /// The bytes of an element.
    pub width: usize,
}

/// The bytes of the elements.
///
/// Errors: more than there is memory for, which a stride of 0 makes easy.
///
/// # Safety
/// There is an element that can be read at each position.
pub unsafe fn in_order(array: &Strided<'_>) -> Result<Vec<u8>> {
    let bytes = array.sizes.iter().try_fold(array.width, |n, size| n.checked_mul(*size));
    let mut out = Vec::new();
    let reserved = bytes.is_some_and(|n| out.try_reserve_exact(n).is_ok());
    let bytes = bytes.filter(|_| reserved).ok_or_else(|| {
        Error::shape(format!("the array has the shape {:?}", array.sizes)).wanted("one that memory can hold")
    })?;
    out.resize(bytes, 0);
    // SAFETY: so the caller says.
    unsafe {
        match array.width {
            1 => copy::<1>(array, &mut out),
            2 => copy::<2>(array, &mut out),
            4 => copy::<4>(array, &mut out),
            8 => copy::<8>(array, &mut out),
            _ => copy_any(array, &mut out),
        }
    }
    Ok(out)
}

/// Elements that lie far from their neighbours are copied in squares with those that lie near, so that what a cache line has is used.
const SIDE: usize = 16;

/// # Safety
/// That of [`in_order`]; `out` has as many bytes as the elements.
unsafe fn copy<const N: usize>(array: &Strided<'_>, out: &mut [u8]) {
    let (sizes, strides, out) = (array.sizes, array.strides, out.as_chunks_mut::<N>().0);
    let (Some((&columns, _)), Some((&column, _))) = (sizes.split_last(), strides.split_last()) else {
        // SAFETY: the one element is there.
        out.iter_mut().for_each(|out| *out = unsafe { array.base.cast::<[u8; N]>().as_ptr().read_unaligned() });
        return;
    };
    let last = sizes.len() - 1;
    let near = (0..last).filter(|axis| sizes[*axis] > 1).min_by_key(|axis| strides[*axis].unsigned_abs());
    let near = near.filter(|axis| strides[*axis].unsigned_abs() < column.unsigned_abs());
    // The rows of a square are along the axis whose elements lie near; where that is the last one, there is one row.
    let (rows, row, out_row) =
        near.map_or((1, 0, 0), |axis| (sizes[axis], strides[axis], sizes[axis + 1..].iter().product::<usize>()));
    let outer: Vec<usize> = (0..last).filter(|axis| Some(*axis) != near).collect();
    let side = if near.is_some() { SIDE } else { columns.max(1) };
    let mut at = vec![0_usize; outer.len()];
    let outer_sizes: Vec<usize> = outer.iter().map(|axis| sizes[*axis]).collect();
    for _ in 0..outer_sizes.iter().product() {
        let from: isize = outer.iter().zip(&at).map(|(axis, i)| strides[*axis] * i.cast_signed()).sum();
        let to: usize = outer.iter().zip(&at).map(|(axis, i)| sizes[axis + 1..].iter().product::<usize>() * i).sum();
        for (r0, c0) in (0..rows).step_by(SIDE).flat_map(|r| (0..columns).step_by(side).map(move |c| (r, c))) {
            for r in r0..rows.min(r0 + SIDE) {
                let out = &mut out[to + r * out_row..][..columns.min(c0 + side)][c0..];
                for (c, out) in (c0..).zip(out) {
                    let place = from + row * r.cast_signed() + column * c.cast_signed();
                    // SAFETY: the position is within the sizes.
                    *out = unsafe { array.base.as_ptr().offset(place).cast::<[u8; N]>().read_unaligned() };
                }
            }
        }
        advance(&mut at, &outer_sizes);
    }
}

/// # Safety
/// That of [`copy`].
unsafe fn copy_any(array: &Strided<'_>, out: &mut [u8]) {
    let mut at = vec![0; array.sizes.len()];
    for out in out.chunks_exact_mut(array.width.max(1)) {
        let place = at.iter().zip(array.strides).map(|(i, stride): (&usize, _)| i.cast_signed() * stride).sum();
        // SAFETY: the position is within the sizes.
        out.copy_from_slice(unsafe { std::slice::from_raw_parts(array.base.as_ptr().offset(place), array.width) });
        advance(&mut at, array.sizes);
    }
}

/// The next position in row-major order.
pub fn advance(at: &mut [usize], sizes: &[usize]) {
    for (i, size) in at.iter_mut().zip(sizes).rev() {
        *i += 1;
        if *i < *size {
            return;
        }
        *i = 0;
    }
}
