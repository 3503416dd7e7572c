//! Texts one after the other, as a tensor of them is built.
//!
//! Invariant: what is pushed for strings is UTF-8 as a whole, element by element; memory that the system refuses is an error.

use super::super::args::one_tensor;
use crate::kernels::pool::affordable;
use crate::offsets::Offsets;
use crate::tensor::{Dense, Storage, Tensor, element_count};
use crate::threads::{pieces, side_by_side};
use crate::value::Outputs;
use arrow_buffer::Buffer;
use extenso_types::{DType, Dims, Error, Result};
use std::ops::Range;

/// The elements so far, and the bytes of the next one.
pub(super) struct Texts {
    offsets: Vec<i64>,
    bytes: Vec<u8>,
}

impl Texts {
    pub fn new() -> Texts {
        Texts { offsets: vec![0], bytes: Vec::new() }
    }

    /// Makes room for so many more elements of so many bytes together.
    ///
    /// Errors: more memory than the system gives.
    pub fn reserve(&mut self, elements: usize, bytes: usize) -> Result<()> {
        let room = self.offsets.try_reserve(elements).and_then(|()| self.bytes.try_reserve(bytes));
        room.map_err(|_| {
            Error::value(format!("{elements} strings of {bytes} bytes take more memory than the system gives"))
        })
    }

    /// Adds bytes to the element that is being built.
    ///
    /// Errors: more memory than the system gives.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes.try_reserve(bytes.len()).map_err(|_| {
            let len = self.bytes.len().saturating_add(bytes.len());
            Error::value(format!("the result would take {len} bytes, more memory than the system gives"))
        })?;
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Adds bytes to the element that is being built, `count` times.
    ///
    /// Errors: more memory than the system gives.
    pub fn write_times(&mut self, bytes: &[u8], count: usize) -> Result<()> {
        let len = bytes.len().saturating_mul(count);
        self.bytes
            .try_reserve(len)
            .map_err(|_| Error::value(format!("a string would take {len} bytes, more memory than the system gives")))?;
        if len > 0 {
            (0..count).for_each(|_| self.bytes.extend_from_slice(bytes));
        }
        Ok(())
    }

    /// Ends the element.
    pub fn end(&mut self) {
        self.offsets.push(i64::try_from(self.bytes.len()).unwrap_or(i64::MAX));
    }

    /// Adds a whole element.
    ///
    /// Errors: more memory than the system gives.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.write(bytes)?;
        self.end();
        Ok(())
    }

    /// Adds a whole element in lower case; its bytes are ASCII.
    ///
    /// Errors: more memory than the system gives.
    pub fn push_lower_ascii(&mut self, bytes: &[u8]) -> Result<()> {
        let start = self.bytes.len();
        self.write(bytes)?;
        self.bytes[start..].make_ascii_lowercase();
        self.end();
        Ok(())
    }

    /// Adds the elements of `more`.
    ///
    /// Errors: more memory than the system gives.
    fn append(&mut self, more: Texts) -> Result<()> {
        if self.len() == 0 {
            *self = more;
            return Ok(());
        }
        let before = i64::try_from(self.bytes.len()).unwrap_or(i64::MAX);
        self.write(&more.bytes)?;
        self.offsets.extend(more.offsets[1..].iter().map(|end| before + end));
        Ok(())
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The elements as a tensor of `dims`.
    ///
    /// Errors: as many are not there.
    pub fn finish(self, dtype: DType, dims: &[usize]) -> Result<Tensor> {
        if dims.iter().product::<usize>() != self.len() {
            return Err(Error::internal(format!("{} texts were made for {dims:?}", self.len())));
        }
        let storage = Storage::Text { offsets: Offsets::I64(self.offsets.into()), bytes: Buffer::from_vec(self.bytes) };
        Ok(Tensor::from_dense(dtype, Dims::from_slice(dims), storage))
    }
}

/// The texts that `f` makes of `n` items, in order; many items are worked on side by side.
///
/// Errors: the first of `f`; more memory than the system gives.
pub(super) fn in_parts(n: usize, f: impl Fn(Range<usize>, &mut Texts) -> Result<()> + Sync) -> Result<Texts> {
    let part = n.div_ceil(pieces(n.saturating_mul(ITEM))).max(1);
    let parts = (0..n).step_by(part).map(|start| start..n.min(start + part)).collect();
    let made = side_by_side(parts, |items| {
        let mut out = Texts::new();
        f(items, &mut out).map(|()| out)
    });
    let mut all = Texts::new();
    for texts in made {
        all.append(texts?)?;
    }
    Ok(all)
}

/// A text costs as much as so many numbers.
const ITEM: usize = 16;

/// A text of the dtype of `x` for each of its elements, pushed by `f`.
pub(super) fn mapped(x: &Dense, f: impl Fn(usize, &mut Texts) -> Result<()> + Sync) -> Result<Outputs> {
    made(x.dtype(), x.dims(), f)
}

/// As many texts as `dims` say, each pushed by `f`.
///
/// Errors: those of `f`; more memory than the system gives.
pub(super) fn made(
    dtype: DType,
    dims: &[usize],
    f: impl Fn(usize, &mut Texts) -> Result<()> + Sync,
) -> Result<Outputs> {
    // Sizes can say more empty texts than arguments have elements.
    let count = element_count(dims)?;
    affordable(count.saturating_mul(size_of::<i64>()))?;
    let out = in_parts(count, |mut items, out| items.try_for_each(|i| f(i, out)))?;
    one_tensor(out.finish(dtype, dims)?)
}
