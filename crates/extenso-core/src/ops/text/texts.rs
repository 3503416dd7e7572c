//! Texts one after the other, as a tensor of them is built.
//!
//! Invariant: what is pushed for strings is UTF-8 as a whole, element by element; memory that the system refuses is an error.

use super::super::args::one_tensor;
use crate::kernels::pool::{Block, Growing, affordable};
use crate::offsets::Offsets;
use crate::tensor::{Dense, Storage, Tensor, element_count};
use crate::threads::{pieces, side_by_side, split_at_lengths};
use crate::value::Outputs;
use arrow_buffer::Buffer;
use extenso_types::{DType, Dims, Error, Result};
use std::ops::Range;

/// The elements so far, and the bytes of the next one.
pub(super) struct Texts {
    /// 0, and where each element ends.
    offsets: Growing,
    bytes: Growing,
    /// The number of bytes, if they are counted alone.
    counted: Option<usize>,
}

/// The bytes of an offset.
const OFFSET: usize = size_of::<i64>();

impl Texts {
    /// No elements yet; room for so many.
    ///
    /// Errors: more memory than the system gives.
    pub fn with_capacity(elements: usize) -> Result<Texts> {
        let len = elements.saturating_add(1).saturating_mul(OFFSET);
        affordable(len)?;
        let (mut offsets, bytes) = (Growing::with_capacity(len), Growing::with_capacity(0));
        offsets.more(OFFSET)?.fill(0);
        Ok(Texts { offsets, bytes, counted: None })
    }

    /// No elements yet; room for so many, of so many bytes together.
    ///
    /// Errors: more memory than the system gives.
    pub fn with_room(elements: usize, bytes: usize) -> Result<Texts> {
        affordable(bytes)?;
        Ok(Texts { bytes: Growing::with_capacity(bytes), ..Texts::with_capacity(elements)? })
    }

    /// Adds so many elements of so many bytes together, to be written: the bytes in front of them, where each ends, their bytes.
    ///
    /// Errors: more memory than the system gives.
    pub fn more(&mut self, elements: usize, bytes: usize) -> Result<(usize, &mut [i64], &mut [u8])> {
        let before = self.bytes.len();
        let ends = bytemuck::cast_slice_mut(self.offsets.more(elements.saturating_mul(OFFSET))?);
        Ok((before, ends, self.bytes.more(bytes)?))
    }

    /// Adds bytes to the element that is being built.
    ///
    /// Errors: more memory than the system gives.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if let Some(count) = &mut self.counted {
            *count = count.saturating_add(bytes.len());
            return Ok(());
        }
        self.bytes.more(bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }

    /// Adds bytes to the element that is being built, `count` times.
    ///
    /// Errors: more memory than the system gives.
    pub fn write_times(&mut self, bytes: &[u8], count: usize) -> Result<()> {
        if let Some(counted) = &mut self.counted {
            *counted = counted.saturating_add(bytes.len().saturating_mul(count));
            return Ok(());
        }
        if let Some(step) = Some(bytes.len()).filter(|step| *step > 0) {
            self.bytes
                .more(step.saturating_mul(count))?
                .chunks_exact_mut(step)
                .for_each(|out| out.copy_from_slice(bytes));
        }
        Ok(())
    }

    /// Ends the element.
    ///
    /// Errors: more memory than the system gives.
    pub fn end(&mut self) -> Result<()> {
        if self.counted.is_some() {
            return Ok(());
        }
        let end = int(self.bytes.len());
        self.offsets.more(OFFSET)?.copy_from_slice(&end.to_ne_bytes());
        Ok(())
    }

    /// Adds a whole element.
    ///
    /// Errors: more memory than the system gives.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.write(bytes)?;
        self.end()
    }

    /// Adds a whole element of so many bytes, to be written; where bytes are counted alone, none.
    ///
    /// Errors: more memory than the system gives.
    pub fn place(&mut self, bytes: usize) -> Result<Option<&mut [u8]>> {
        if let Some(count) = &mut self.counted {
            *count = count.saturating_add(bytes);
            return Ok(None);
        }
        let end = int(self.bytes.len().saturating_add(bytes));
        self.offsets.more(OFFSET)?.copy_from_slice(&end.to_ne_bytes());
        self.bytes.more(bytes).map(Some)
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.offsets.len() / OFFSET - 1
    }

    /// The elements as a tensor of `dims`.
    ///
    /// Errors: as many are not there.
    pub fn finish(self, dtype: DType, dims: &[usize]) -> Result<Tensor> {
        if dims.iter().product::<usize>() != self.len() {
            return Err(Error::internal(format!("{} texts were made for {dims:?}", self.len())));
        }
        Ok(tensor(dtype, dims, self.offsets.freeze(), self.bytes.freeze()))
    }
}

fn tensor(dtype: DType, dims: &[usize], offsets: Buffer, bytes: Buffer) -> Tensor {
    let storage = Storage::Text { offsets: Offsets::I64(offsets.into()), bytes };
    Tensor::from_dense(dtype, Dims::from_slice(dims), storage)
}

/// Elements that were made in parts.
pub(super) struct Parts(Vec<Texts>);

impl Parts {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.0.iter().map(Texts::len).sum()
    }

    /// The elements as a tensor of `dims`.
    ///
    /// Errors: as many are not there; more memory than the system gives.
    pub fn finish(mut self, dtype: DType, dims: &[usize]) -> Result<Tensor> {
        if self.0.len() == 1
            && let Some(all) = self.0.pop()
        {
            return all.finish(dtype, dims);
        }
        let (count, sizes) = (self.len(), self.0.iter().map(|texts| texts.bytes.len()));
        let size = sizes.clone().sum();
        if dims.iter().product::<usize>() != count {
            return Err(Error::internal(format!("{count} texts were made for {dims:?}")));
        }
        affordable(size)?;
        let (mut offsets, mut bytes) = (Block::new((count + 1) * OFFSET), Block::new(size));
        let (first, ends) = offsets.slice_mut::<i64>().split_at_mut(1);
        first.fill(0);
        let ends = split_at_lengths(ends, self.0.iter().map(Texts::len));
        let out = ends.into_iter().zip(split_at_lengths(bytes.bytes_mut(), sizes));
        let mut end = 0;
        let parts = self.0.into_iter().zip(out).map(|(texts, out)| {
            let start = end;
            end += int(texts.bytes.len());
            (start, texts, out)
        });
        side_by_side(parts.collect(), |(start, texts, (ends, bytes))| {
            let made: &[i64] = bytemuck::cast_slice(&texts.offsets.bytes()[OFFSET..]);
            ends.iter_mut().zip(made).for_each(|(out, end)| *out = start + end);
            bytes.copy_from_slice(texts.bytes.bytes());
        });
        Ok(tensor(dtype, dims, offsets.freeze(), bytes.freeze()))
    }
}

pub(super) fn int(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// The texts that `f` makes of `n` items, in order; many items are worked on side by side.
///
/// Errors: the first of `f`; more memory than the system gives.
pub(super) fn in_parts(n: usize, f: impl Fn(Range<usize>, &mut Texts) -> Result<()> + Sync) -> Result<Parts> {
    let made = side_by_side(parts(n, ITEM), |items: Range<usize>| {
        let mut out = Texts::with_capacity(items.len())?;
        f(items, &mut out).map(|()| out)
    });
    made.into_iter().collect::<Result<_>>().map(Parts)
}

/// So many texts in parts that are worked on side by side, where each costs as much as so many numbers.
pub(super) fn parts(n: usize, cost: usize) -> Vec<Range<usize>> {
    let part = n.div_ceil(pieces(n.saturating_mul(cost))).max(1);
    (0..n).step_by(part).map(|start| start..n.min(start + part)).collect()
}

/// A text costs as much as so many numbers.
pub(super) const ITEM: usize = 16;

/// A text of the dtype of `x` for each of its elements, pushed by `f`.
pub(super) fn mapped(x: &Dense, f: impl Fn(usize, &mut Texts) -> Result<()> + Sync) -> Result<Outputs> {
    made(x.dtype(), x.dims(), f)
}

/// As [`mapped`], with what each part of the elements makes first and works with.
pub(super) fn mapped_with<S>(
    x: &Dense,
    begin: impl Fn() -> S + Sync,
    f: impl Fn(&mut S, usize, &mut Texts) -> Result<()> + Sync,
) -> Result<Outputs> {
    let out = in_parts(x.len(), |mut items, out| {
        let mut with = begin();
        items.try_for_each(|i| f(&mut with, i, out))
    })?;
    one_tensor(out.finish(x.dtype(), x.dims())?)
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

/// As [`made`], of texts that may be much longer than the arguments: they take `most` bytes at most, as is quickly told. Where that is
/// more than the system gives they are counted before any is made, because memory that is given as it is used runs out without a word.
///
/// Errors: those of `f`; more memory than the system gives.
pub(super) fn grown(
    dtype: DType,
    dims: &[usize],
    most: usize,
    f: impl Fn(usize, &mut Texts) -> Result<()> + Sync,
) -> Result<Outputs> {
    if affordable(most).is_err() {
        let mut texts = Texts { counted: Some(0), ..Texts::with_capacity(0)? };
        (0..element_count(dims)?).try_for_each(|i| f(i, &mut texts))?;
        affordable(texts.counted.unwrap_or(0))?;
    }
    made(dtype, dims, f)
}

/// The bytes of all texts.
pub(super) fn bytes_of(x: &Dense) -> Result<usize> {
    let (offsets, _) = x.text()?;
    Ok(offsets.last() - offsets.first())
}
