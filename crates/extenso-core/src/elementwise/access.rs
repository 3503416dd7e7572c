//! How the inputs of an expression are read at the positions of its result.
//!
//! Invariant: what is read is the broadcast input; nothing is made that is as large as the result.

use super::register::Register;
use super::{BLOCK, Source};
use crate::kernels::bits::{gather_bits, load_bits};
use crate::kernels::cast::fill;
use crate::kernels::gather::{repeat, repeat_rows as repeat_whole};
use crate::kernels::pool::affordable;
use crate::kernels::reduce::Offset;
use crate::offsets::with_offsets;
use crate::partition::Rows;
use crate::tensor::{Dense, Elements, Storage, bytes_of_bits};
use arrow_buffer::BooleanBuffer;
use extenso_types::{DType, Dims, Error, Result};
use smallvec::smallvec;

/// How an input is read at the positions of the output.
pub enum Access<'a> {
    /// As it stands.
    Full(&'a [u8], usize),
    /// Bits from an offset.
    FullBits(&'a BooleanBuffer),
    /// Whoever runs the expression has it.
    Given,
    /// One element for all.
    Splat(Register),
    /// A few elements that come again and again, repeated for a block from any of the first `period` on.
    Cycle { register: Register, width: usize, period: usize },
    /// Elements by strides, in elements; 0 on axes that broadcast.
    Strided { bytes: &'a [u8], width: usize, strides: Dims },
    /// Each element of `size` bytes for all values of its row.
    Repeated { bytes: &'a [u8], size: usize, rows: &'a Rows },
    /// The lengths of rows.
    Lengths(&'a Rows),
    /// Bits by strides: a byte for each, since they are read one by one.
    StridedBits { bytes: Elements, strides: Dims },
}

/// How an input of this dtype is read where the result has the sizes `dims`.
///
/// Errors: another dtype; sizes that do not broadcast to `dims`.
pub fn access<'a>(dtype: DType, source: &Source<'a>, dims: &[usize]) -> Result<Access<'a>> {
    let found = match source {
        Source::Elements(data) | Source::Repeated(data, _) => data.dtype(),
        Source::Lengths(_) => DType::I64,
    };
    if found != dtype {
        return Err(Error::dtype(format!("found {found}")).wanted(dtype.name()));
    }
    let input = match *source {
        Source::Elements(data) => data,
        Source::Repeated(data, rows) => return repeated(data, rows, dims),
        Source::Lengths(rows) if is_whole(&[rows.nrows()], dims) => return Ok(Access::Lengths(rows)),
        Source::Lengths(rows) => {
            return Err(Error::shape(format!("the lengths of {} rows are not of shape {dims:?}", rows.nrows())));
        }
    };
    let full = is_whole(input.dims(), dims);
    match input.storage() {
        Storage::Fixed(buffer) => {
            let width = dtype.width().unwrap_or(1);
            if full {
                return Ok(Access::Full(buffer, width));
            }
            if input.len() == 1 && input.dims().len() <= dims.len() {
                return Ok(Access::Splat(splat(dtype, buffer, dims.iter().product())));
            }
            let strides = broadcast_strides(input.dims(), dims)?;
            if (1..=BLOCK).contains(&input.len()) && dims.ends_with(without_ones(input.dims())) {
                return Ok(Access::Cycle {
                    register: cycle(buffer, width, dims.iter().product()),
                    width,
                    period: input.len(),
                });
            }
            Ok(Access::Strided { bytes: buffer.as_slice(), width, strides })
        }
        Storage::Bits(bits) if full => Ok(Access::FullBits(bits)),
        Storage::Bits(bits) => {
            let strides = broadcast_strides(input.dims(), dims)?;
            affordable(bits.len())?;
            Ok(Access::StridedBits { bytes: bytes_of_bits(bits), strides })
        }
        Storage::Text { .. } | Storage::Boxed(_) => {
            Err(Error::dtype(format!("found {dtype}")).wanted("numbers or booleans"))
        }
    }
}

/// Elements that stand for the values of their rows.
///
/// Errors: another number of elements than rows; other sizes than `dims`.
fn repeated<'a>(input: &'a Dense, rows: &'a Rows, dims: &[usize]) -> Result<Access<'a>> {
    let (given, nrows) = (input.dims().first().copied().unwrap_or(0), rows.nrows());
    if given != nrows {
        return Err(Error::shape(format!("{given} elements are given for {nrows} rows")).wanted("one element per row"));
    }
    if *Source::Repeated(input, rows).dims() != *dims {
        return Err(Error::shape(format!("shape {:?} repeated in rows is not {dims:?}", input.dims())));
    }
    let inner: usize = input.dims().iter().skip(1).product();
    let size = inner * input.dtype().width().unwrap_or(1);
    Ok(Access::Repeated { bytes: input.fixed()?.as_slice(), size, rows })
}

/// One element as often as a block of `n` elements at most has it.
fn splat(dtype: DType, one: &[u8], n: usize) -> Register {
    let mut register = Register::take();
    let width = dtype.width().unwrap_or(1);
    let out = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut register)[..n.min(BLOCK) * width];
    match width {
        1 => fill::<u8>(one, out),
        2 => fill::<u16>(one, out),
        4 => fill::<u32>(one, out),
        _ => fill::<u64>(one, out),
    }
    register
}

/// Whether elements of the sizes `from` are those of the sizes `to`, one by one: axes of size 1 in front change nothing.
pub(super) fn is_whole(from: &[usize], to: &[usize]) -> bool {
    from == to || from.len() <= to.len() && without_ones(from) == without_ones(to)
}

/// The sizes from the first that is not 1 on.
pub(super) fn without_ones(dims: &[usize]) -> &[usize] {
    &dims[dims.iter().take_while(|d| **d == 1).count()..]
}

/// The bytes again and again: a block from any place within the first of them on.
fn cycle(bytes: &[u8], width: usize, n: usize) -> Register {
    let len = bytes.len() + width * n.min(BLOCK);
    let mut register = Register::take();
    let out: &mut [u8] = bytemuck::cast_slice_mut(&mut register);
    out[..bytes.len()].copy_from_slice(bytes);
    let mut made = bytes.len();
    while 0 < made && made < len {
        let more = made.min(len - made);
        out.copy_within(..more, made);
        made += more;
    }
    register
}

/// The strides, in elements, that read `from` as if it had the sizes `to`.
///
/// Errors: `from` does not broadcast to `to`.
pub fn broadcast_strides(from: &[usize], to: &[usize]) -> Result<Dims> {
    let skip = to.len().checked_sub(from.len());
    let fits = skip.is_some_and(|skip| from.iter().zip(&to[skip..]).all(|(f, t)| f == t || *f == 1));
    let Some(skip) = skip.filter(|_| fits) else {
        return Err(Error::shape(format!("shape {from:?} does not broadcast to {to:?}")));
    };
    let mut strides: Dims = smallvec![0; to.len()];
    let mut stride = 1;
    for (i, &size) in from.iter().enumerate().rev() {
        strides[skip + i] = if size == 1 { 0 } else { stride };
        stride *= size;
    }
    Ok(strides)
}

impl Access<'_> {
    /// Whether [`Access::load`] brings elements to a register.
    pub fn loads(&self) -> bool {
        !matches!(self, Access::Full(..) | Access::Splat(_) | Access::Cycle { .. })
    }

    /// Brings `n` elements from `start` on to a register, unless they are read where they stand.
    pub fn load(&self, dims: &[usize], start: usize, n: usize, register: &mut [u64]) {
        match self {
            Access::Full(..) | Access::Given | Access::Splat(_) | Access::Cycle { .. } => {}
            Access::FullBits(bits) => load_bits(bits.values(), bits.offset() + start, n, register),
            Access::Strided { bytes, width, strides } => {
                let out = bytemuck::cast_slice_mut::<u64, u8>(register);
                match width {
                    1 => gather::<u8>(bytes, strides, dims, start, &mut out[..n]),
                    2 => gather::<u16>(bytes, strides, dims, start, &mut out[..2 * n]),
                    4 => gather::<u32>(bytes, strides, dims, start, &mut out[..4 * n]),
                    _ => gather::<u64>(bytes, strides, dims, start, &mut out[..8 * n]),
                }
            }
            Access::Repeated { bytes, size, rows } => {
                let inner: usize = dims[1..].iter().product();
                let width = size.checked_div(inner).unwrap_or(0);
                let out = &mut bytemuck::cast_slice_mut::<u64, u8>(register)[..n * width];
                repeat_rows(bytes, *size, rows, start * width, out);
            }
            Access::Lengths(rows) => write_lengths(rows, start, &mut register[..n]),
            Access::StridedBits { bytes, strides } => {
                let mut block = [0_u8; BLOCK];
                gather::<u8>(bytes, strides, dims, start, &mut block[..n]);
                gather_bits(&block[..n], register);
            }
        }
    }
}

/// Writes the lengths of the rows from `start` on, as words.
pub(super) fn write_lengths(rows: &Rows, start: usize, out: &mut [u64]) {
    with_offsets!(rows.offsets(), offsets => {
        for (out, ends) in out.iter_mut().zip(offsets[start..].windows(2)) {
            *out = (ends[1].index() - ends[0].index()) as u64;
        }
    });
}

/// Writes the bytes from `start` on of elements of `size` bytes that are repeated in rows; zeros stand outside them.
fn repeat_rows(bytes: &[u8], size: usize, rows: &Rows, start: usize, out: &mut [u8]) {
    /// To find the rows of values takes as long as to write so many of them one by one.
    const MANY: usize = 16;
    if size == 0 {
        return;
    }
    let few = out.len() * rows.nrows() < MANY * rows.nvalues().saturating_mul(size);
    if few {
        return repeat_parts(bytes, size, rows, start, out);
    }
    // The rows that begin and end among these values are written together.
    let (from, to) = (start.div_ceil(size), (start + out.len()) / size);
    let begun = |value: usize| with_offsets!(rows.offsets(), o => o.partition_point(|at| at.index() < value));
    let (first, last) = (begun(from), begun(to + 1).saturating_sub(1));
    if first >= last {
        return repeat_parts(bytes, size, rows, start, out);
    }
    let place = |row: usize| rows.offsets().get(row) * size - start;
    let (before, rest) = out.split_at_mut(place(first));
    let (whole, behind) = rest.split_at_mut(place(last) - place(first));
    repeat_parts(bytes, size, rows, start, before);
    with_offsets!(rows.offsets(), o => repeat_whole(&bytes[first * size..], size, &o[first..=last], whole));
    repeat_parts(bytes, size, rows, rows.offsets().get(last) * size, behind);
}

/// The same of any part of the rows, one after the other.
fn repeat_parts(bytes: &[u8], size: usize, rows: &Rows, start: usize, mut out: &mut [u8]) {
    let (mut value, mut skip) = (start.checked_div(size).unwrap_or(0), start.checked_rem(size).unwrap_or(0));
    let mut row = rows.row_at(value);
    while !out.is_empty() {
        let (element, end) = match row {
            // Before the first row, or behind the last.
            None => (None, if value < rows.first() { rows.first() } else { rows.nvalues() }),
            Some(row) => (bytes.get(row * size..(row + 1) * size), rows.row(row).end),
        };
        let here = out.len().min((end - value) * size - skip);
        let (head, rest) = out.split_at_mut(here);
        match element {
            Some(element) => repeat(element, skip, head),
            None => head.fill(0),
        }
        (out, value, skip) = (rest, end, 0);
        row = rows.next_row(row, value);
    }
}

fn gather<T: bytemuck::Pod>(bytes: &[u8], strides: &[usize], dims: &[usize], start: usize, out: &mut [u8]) {
    let (source, out) = (bytemuck::cast_slice::<u8, T>(bytes), bytemuck::cast_slice_mut::<u8, T>(out));
    for_each_run(strides, dims, start, out.len(), |at, from, stride, len| match stride {
        0 => out[at..at + len].fill(source[from]),
        1 => out[at..at + len].copy_from_slice(&source[from..from + len]),
        _ => out[at..at + len].iter_mut().enumerate().for_each(|(i, o)| *o = source[from + i * stride]),
    });
}

/// Visits the runs along the last axis of `n` positions from `start`: place in the output, place in the source, stride, length.
fn for_each_run(
    strides: &[usize],
    dims: &[usize],
    start: usize,
    n: usize,
    mut f: impl FnMut(usize, usize, usize, usize),
) {
    let (Some((&last, outer)), Some((&stride, outer_strides))) = (dims.split_last(), strides.split_last()) else {
        return f(0, 0, 0, n);
    };
    let (mut at, mut row, mut column) = (0, start / last.max(1), start % last.max(1));
    while at < n {
        let mut rest = row;
        let mut from = 0;
        for (d, s) in outer.iter().zip(outer_strides).rev() {
            from += rest % d * s;
            rest /= d;
        }
        let len = (last - column).min(n - at);
        f(at, from + column * stride, stride, len);
        at += len;
        row += 1;
        column = 0;
    }
}
