//! Growing offsets and texts.
//!
//! Invariant: offsets start at 0, never decrease, and the last is the number of items (for texts: of bytes).

use super::{extend, some_room};
use extenso_types::{DType, Error, Result};
use std::collections::TryReserveError;
use std::result::Result as StdResult;

/// Growing offsets of either width: one more than there are rows.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // The variants' names are their meaning.
pub enum OffsetVec {
    I32(Vec<i32>),
    I64(Vec<i64>),
}

impl OffsetVec {
    /// Offsets of no rows.
    ///
    /// Errors: a dtype other than i32 and i64.
    pub fn new(index: DType) -> Result<OffsetVec> {
        match index {
            DType::I32 => Ok(OffsetVec::I32(starts())),
            DType::I64 => Ok(OffsetVec::I64(starts())),
            other => Err(Error::dtype(format!("offsets of {other} do not exist")).wanted("i32 or i64")),
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            OffsetVec::I32(ends) => ends.len().saturating_sub(1),
            OffsetVec::I64(ends) => ends.len().saturating_sub(1),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The end of the last row.
    #[inline]
    pub fn last(&self) -> usize {
        match self {
            OffsetVec::I32(ends) => ends.last().map_or(0, |end| *end as usize),
            OffsetVec::I64(ends) => ends.last().map_or(0, |end| *end as usize),
        }
    }

    /// Adds a row of `n` items, or says that the width cannot count them.
    #[inline]
    #[must_use]
    pub fn push_row(&mut self, n: usize) -> bool {
        self.last().checked_add(n).is_some_and(|end| self.push_end(end))
    }

    /// Adds a row that ends there, not before the last, or says that the width cannot count so far.
    #[inline(always)]
    #[must_use]
    pub(super) fn push_end(&mut self, end: usize) -> bool {
        match self {
            OffsetVec::I32(ends) => i32::try_from(end).is_ok_and(|end| {
                ends.push(end);
                true
            }),
            OffsetVec::I64(ends) => i64::try_from(end).is_ok_and(|end| {
                ends.push(end);
                true
            }),
        }
    }

    /// The dtype of the offsets.
    pub fn dtype(&self) -> DType {
        match self {
            OffsetVec::I32(_) => DType::I32,
            OffsetVec::I64(_) => DType::I64,
        }
    }

    /// The largest offset that there can be.
    #[inline]
    pub fn most(&self) -> usize {
        match self {
            OffsetVec::I32(_) => i32::MAX as usize,
            OffsetVec::I64(_) => i64::MAX as usize,
        }
    }

    /// Drops the rows from `len` on.
    pub fn truncate(&mut self, len: usize) {
        match self {
            OffsetVec::I32(ends) => ends.truncate(len + 1),
            OffsetVec::I64(ends) => ends.truncate(len + 1),
        }
    }

    /// Adds `n` empty rows.
    ///
    /// Errors: there is no memory for them.
    pub fn push_defaults(&mut self, n: usize) -> StdResult<(), TryReserveError> {
        match self {
            OffsetVec::I32(ends) => repeat_last(ends, n),
            OffsetVec::I64(ends) => repeat_last(ends, n),
        }
    }

    /// Adds `n` rows of `size` items each.
    ///
    /// Errors: there is no memory for them; an end above [`OffsetVec::most`].
    pub fn push_rows(&mut self, n: usize, size: usize) -> StdResult<(), TryReserveError> {
        let last = self.last();
        let end = n.checked_mul(size).and_then(|more| last.checked_add(more));
        if end.is_none_or(|end| end > self.most()) {
            return no_room();
        }
        let ends = (1..=n).map(|i| last + i * size);
        match self {
            OffsetVec::I32(all) => extend(all, n, ends.map(|end| end as i32)),
            OffsetVec::I64(all) => extend(all, n, ends.map(|end| end as i64)),
        }
    }
}

/// What there is no number for, there is no memory for.
pub(super) fn no_room() -> StdResult<(), TryReserveError> {
    Vec::<u8>::new().try_reserve(usize::MAX)
}

/// The offset of a first row, and room for a few ends.
fn starts<T: Default>() -> Vec<T> {
    let mut offsets = some_room();
    offsets.push(T::default());
    offsets
}

fn repeat_last<T: Copy + Default>(ends: &mut Vec<T>, n: usize) -> StdResult<(), TryReserveError> {
    ends.try_reserve(n)?;
    let last = ends.last().copied().unwrap_or_default();
    ends.resize(ends.len() + n, last);
    Ok(())
}

/// The bytes of short texts, at most.
pub const SHORT: usize = 16;

/// Growing strings or byte strings: offsets into bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextVec {
    pub(super) offsets: OffsetVec,
    pub(super) bytes: Vec<u8>,
}

impl TextVec {
    /// No texts.
    ///
    /// Errors: a dtype of offsets other than i32 and i64.
    pub fn new(index: DType) -> Result<TextVec> {
        Ok(TextVec { offsets: OffsetVec::new(index)?, bytes: some_room() })
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// The offsets.
    pub fn offsets(&self) -> &OffsetVec {
        &self.offsets
    }

    /// The bytes of all texts.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Gives offsets and bytes away.
    pub fn into_parts(self) -> (OffsetVec, Vec<u8>) {
        (self.offsets, self.bytes)
    }

    /// Adds a text, or says that the offsets' width cannot count it.
    #[inline]
    #[must_use]
    pub fn push(&mut self, text: &[u8]) -> bool {
        let fits = self.offsets.push_end(self.bytes.len() + text.len());
        if fits {
            self.bytes.extend_from_slice(text);
        }
        fits
    }

    /// The same for a text that begins these bytes: all of them are copied, which is less work than to copy as many as there are.
    #[inline(always)]
    #[must_use]
    pub fn push_short(&mut self, bytes: &[u8; SHORT], len: usize) -> bool {
        let end = self.bytes.len() + len.min(SHORT);
        let fits = self.offsets.push_end(end);
        if fits {
            self.bytes.extend_from_slice(bytes);
            self.bytes.truncate(end);
        }
        fits
    }

    /// Drops the texts from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.offsets.truncate(len);
        self.bytes.truncate(self.offsets.last());
    }

    /// Adds `n` empty texts.
    ///
    /// Errors: there is no memory for them.
    pub fn push_defaults(&mut self, n: usize) -> StdResult<(), TryReserveError> {
        self.offsets.push_defaults(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_offsets_refuse_what_they_cannot_count() {
        let mut narrow = OffsetVec::new(DType::I32).expect("i32");
        assert!(narrow.push_row(i32::MAX as usize) && !narrow.push_row(1));
        assert_eq!((narrow.len(), narrow.last()), (1, i32::MAX as usize));
        let mut wide = OffsetVec::new(DType::I64).expect("i64");
        assert!(wide.push_row(i32::MAX as usize) && wide.push_row(1) && !wide.push_row(usize::MAX));
        assert!(OffsetVec::new(DType::U32).is_err());
        for (n, size) in [(2, 1 << 30), (1 << 40, 1 << 40), (usize::MAX, 1)] {
            let mut rows = OffsetVec::new(DType::I32).expect("i32");
            assert!(rows.push_rows(n, size).is_err() && rows.is_empty(), "{n} rows of {size}");
        }
    }
}
