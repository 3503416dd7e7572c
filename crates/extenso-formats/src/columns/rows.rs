//! Growing rows of lists.
//!
//! While every row so far has one item, which is what a field makes that may be missing and never is, rows are counted and their ends
//! are not written: neither here, nor where parts are put end to end, nor for each field of which there are as many.
//!
//! Invariant: ends are written if and only if a row came that has not one item, or rows were taken back behind it.

use super::OffsetVec;
use extenso_core::kernels::stream::Past;
use extenso_types::{DType, Error, Result};
use std::collections::TryReserveError;
use std::fmt::{self, Debug, Formatter};
use std::result::Result as StdResult;

/// So many rows are counted one by one, which either width can.
const MOST_COUNTED: usize = i32::MAX as usize;

fn no_memory(_: TryReserveError) -> Error {
    Error::value("there is no memory for the ends of the rows")
}

/// The error of more elements than offsets can count.
pub fn full() -> Error {
    Error::value("there is more than the offsets can count").hint("Use i64 offsets, or read in smaller batches")
}

/// No rows, counted if each may have one item.
fn none_of(size: Option<usize>) -> Option<usize> {
    (size.unwrap_or(1) == 1).then_some(0)
}

/// Growing ends of rows, of either width.
#[derive(Clone)]
pub struct RowVec {
    /// The offsets; those of no row while rows are counted.
    ends: OffsetVec,
    /// How many rows of one item there are, if no other came.
    ones: Option<usize>,
    /// How many items each row has, if all have as many.
    size: Option<usize>,
}

impl RowVec {
    /// No rows; each will have `size` items, if that is given.
    ///
    /// Errors: offsets other than i32 and i64.
    pub fn new(index: DType, size: Option<usize>) -> Result<RowVec> {
        Ok(RowVec { ends: OffsetVec::new(index)?, ones: none_of(size), size })
    }

    /// How many items each row has, if all have as many.
    pub fn size(&self) -> Option<usize> {
        self.size
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.ones.unwrap_or_else(|| self.ends.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The end of the last row.
    pub fn last(&self) -> usize {
        self.ones.unwrap_or_else(|| self.ends.last())
    }

    /// The dtype of the offsets.
    pub fn dtype(&self) -> DType {
        self.ends.dtype()
    }

    /// How many rows there are, if they were only counted: each has one item.
    pub fn counted(&self) -> Option<usize> {
        self.ones
    }

    /// Adds a row of `n` items, or says that the width cannot count them, or that a row has others.
    #[inline(always)]
    #[must_use]
    pub fn push_row(&mut self, n: usize) -> bool {
        match &mut self.ones {
            Some(ones) if n == 1 && *ones < MOST_COUNTED => {
                *ones += 1;
                true
            }
            Some(_) => self.push_first_end(n),
            None => self.takes(n) && self.ends.push_row(n),
        }
    }

    /// Whether a row may have so many items.
    #[inline(always)]
    fn takes(&self, n: usize) -> bool {
        self.size.is_none_or(|size| size == n)
    }

    /// Why a row of `n` items was not added.
    #[cold]
    pub fn refusal(&self, n: usize) -> Error {
        match self.size {
            Some(size) if size != n => Error::data(format!("a list of {n} items came")).wanted(format!("{size} items")),
            _ => full(),
        }
    }

    /// Writes the ends of the rows that were counted, and that of a row of `n` items.
    #[cold]
    fn push_first_end(&mut self, n: usize) -> bool {
        self.takes(n) && self.write().is_ok() && self.ends.push_row(n)
    }

    /// Drops the rows from `len` on.
    pub fn truncate(&mut self, len: usize) {
        if len == 0 {
            self.ends.truncate(0);
            self.ones = none_of(self.size);
        }
        match &mut self.ones {
            Some(ones) => *ones = len.min(*ones),
            None => self.ends.truncate(len),
        }
    }

    /// Adds `n` empty rows, or of as many items as each has.
    ///
    /// Errors: there is no memory for them.
    pub fn push_defaults(&mut self, n: usize) -> StdResult<(), TryReserveError> {
        if n == 0 {
            return Ok(());
        }
        self.write()?;
        let most = self.ends.most();
        match self.size {
            Some(size @ 1..) if n.checked_mul(size).is_some_and(|more| more <= most - self.last()) => {
                self.ends.push_rows(n, size)
            }
            _ => self.ends.push_defaults(n),
        }
    }

    /// Adds all rows of another column, or says that the width cannot count them, or that there is no memory.
    #[must_use]
    pub fn append<'a>(&'a mut self, other: &RowVec, past: &Past<'a>) -> bool {
        match (&mut self.ones, other.ones) {
            (Some(ones), Some(more)) if more <= self.ends.most().saturating_sub(*ones) => {
                *ones += more;
                true
            }
            (_, Some(more)) => {
                self.write().is_ok() && more <= self.ends.most() - self.last() && self.ends.push_rows(more, 1).is_ok()
            }
            (_, None) => self.write().is_ok() && self.ends.append(&other.ends, past),
        }
    }

    /// Makes room for so many times the rows of a part, if it has others than of one item.
    pub fn reserve(&mut self, part: &RowVec, times: usize) {
        if part.ones.is_none() {
            self.ends.reserve(part.len(), times);
        }
    }

    /// The offsets, all of them written.
    #[cfg(test)]
    pub(crate) fn written(&mut self) -> Result<&OffsetVec> {
        self.write().map_err(no_memory)?;
        Ok(&self.ends)
    }

    /// Gives the offsets away.
    ///
    /// Errors: there is no memory for them.
    pub fn into_offsets(mut self) -> Result<OffsetVec> {
        self.write().map_err(no_memory)?;
        Ok(self.ends)
    }

    /// Writes the ends of rows that were counted.
    fn write(&mut self) -> StdResult<(), TryReserveError> {
        if let Some(ones) = self.ones {
            self.ends.push_rows(ones, 1)?;
            self.ones = None;
        }
        Ok(())
    }
}

impl PartialEq for RowVec {
    fn eq(&self, other: &RowVec) -> bool {
        match (self.ones, other.ones) {
            (Some(ones), Some(others)) => ones == others && self.dtype() == other.dtype(),
            (None, None) => self.ends == other.ends,
            // Rows that were taken back leave ends that could be counted.
            _ => matches!((self.clone().into_offsets(), other.clone().into_offsets()), (Ok(a), Ok(b)) if a == b),
        }
    }
}

impl Debug for RowVec {
    /// The offsets, whether they are written or not.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.clone().into_offsets().map_err(|_| fmt::Error)?.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use extenso_core::kernels::stream::past_caches;

    /// Rows of these lengths; each of those below zero takes all rows but so many back.
    fn rows(index: DType, lengths: &[isize]) -> RowVec {
        let mut rows = RowVec::new(index, None).expect("offsets");
        for n in lengths {
            match usize::try_from(*n) {
                Ok(n) => assert!(rows.push_row(n)),
                Err(_) => rows.truncate(n.unsigned_abs() - 1),
            }
        }
        rows
    }

    #[test]
    fn rows_that_are_counted_are_the_rows_that_are_written() {
        let cases: [(&[isize], &str); 6] = [
            (&[], "I64([0])"),
            (&[1, 1, 1], "I64([0, 1, 2, 3])"),
            (&[1, 1, 3, 1], "I64([0, 1, 2, 5, 6])"),
            (&[1, 0, -2, 1], "I64([0, 1, 2])"),
            (&[2, -1, 1, 1], "I64([0, 1, 2])"),
            (&[1, 1, 1, -3], "I64([0, 1, 2])"),
        ];
        for (lengths, wanted) in cases {
            let rows = rows(DType::I64, lengths);
            assert_eq!(format!("{rows:?}"), wanted);
            assert_eq!((rows.len(), rows.is_empty()), (wanted.matches(',').count(), wanted == "I64([0])"));
        }
        assert_eq!(rows(DType::I32, &[1, 2, -2, 1]), rows(DType::I32, &[1, 1]));
        assert_ne!(rows(DType::I32, &[1]), rows(DType::I64, &[1]));
        assert_eq!(rows(DType::I64, &[2, -1, 1]).counted(), Some(1));
    }

    #[test]
    fn rows_of_one_size_take_no_other() {
        for (size, others) in [(0, [1, 2]), (1, [0, 2]), (3, [1, 2])] {
            let mut rows = RowVec::new(DType::I64, Some(size)).expect("offsets");
            for round in 1..3 {
                assert!(
                    others.iter().all(|n| !rows.push_row(*n)) && rows.push_row(size) && rows.push_defaults(2).is_ok()
                );
                assert_eq!((rows.len(), rows.last()), (3 * round, 3 * round * size), "{size}");
            }
            rows.truncate(4);
            assert_eq!(rows.last(), 4 * size);
            rows.truncate(0);
            assert!(others.iter().all(|n| !rows.push_row(*n)) && rows.push_row(size));
            assert_eq!(rows.refusal(2).to_string().contains("a list of 2 items came"), size != 2);
        }
    }

    /// Adds rows to others, or says that they do not fit.
    fn joins(all: &mut RowVec, more: &RowVec) -> bool {
        past_caches(|past| all.append(more, past))
    }

    #[test]
    fn parts_are_put_end_to_end() {
        let parts: [&[isize]; 5] = [&[], &[1], &[1, 1, 1], &[0, 3], &[1, 2, 1]];
        for (a, b) in parts.iter().flat_map(|a| parts.iter().map(move |b| (a, b))) {
            for index in [DType::I32, DType::I64] {
                let mut all = rows(index, a);
                assert!(joins(&mut all, &rows(index, b)));
                assert_eq!(all, rows(index, &[*a, *b].concat()), "{a:?} {b:?}");
                assert!(all.push_row(1) && all.push_defaults(2).is_ok());
                assert_eq!(all, rows(index, &[*a, *b, &[1, 0, 0]].concat()), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn narrow_offsets_refuse_what_they_cannot_count() {
        let counted = |ones| RowVec { ends: OffsetVec::new(DType::I32).expect("i32"), ones: Some(ones), size: None };
        let most = i32::MAX as usize;
        assert!(counted(most - 1).push_row(1));
        assert!(joins(&mut counted(most - 1), &counted(1)));
        let mut nearly = counted(0);
        assert!(nearly.push_row(most - 1) && !joins(&mut nearly, &counted(2)) && joins(&mut nearly, &counted(1)));
    }
}
