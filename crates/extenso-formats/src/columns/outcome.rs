//! What a reader does with bad rows, and what it gives back.
//!
//! Invariant: no row is dropped or replaced without being counted.

use super::{Bits, Columns};
use extenso_types::{Error, Path};
use std::collections::{BTreeMap, BTreeSet};

/// What happens to a row that cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum OnError {
    /// The call fails with the row's error.
    #[default]
    Raise,
    /// The row is left out and counted.
    Skip,
    /// The row holds defaults, is flagged and counted.
    Default,
}

/// How many bad rows are described; all are listed.
pub const MAX_REPORTED: usize = 16;

/// Why one row could not be read.
#[derive(Clone, PartialEq, Debug)]
pub struct BadRow {
    /// The number of the record in the input, from 0, bad ones included.
    pub row: usize,
    /// Where in the input it went wrong, in bytes: of what a user's type refuses, where the row starts; none where rows have no bytes of their
    /// own, as in Arrow and Parquet.
    pub offset: Option<usize>,
    /// Where in the record it went wrong.
    pub path: Path,
    /// What the call would have failed with under [`OnError::Raise`].
    pub error: Error,
}

/// Rows that do not fit, found in any order, and why the first of them do not: to tell it of all would take more memory than the rows.
#[derive(Clone, Default)]
pub struct Misfits {
    rows: BTreeSet<usize>,
    first: BTreeMap<usize, BadRow>,
}

impl Misfits {
    /// These rows.
    pub fn of(bad: Vec<BadRow>) -> Misfits {
        let mut misfits = Misfits::default();
        bad.into_iter().for_each(|bad| misfits.note(bad.row, || bad));
        misfits
    }

    /// Notes a row, and why it does not fit if it is one of the first; what was noted of it before stays.
    pub fn note(&mut self, row: usize, fault: impl FnOnce() -> BadRow) {
        if !self.rows.insert(row) {
            return;
        }
        let is_one =
            self.first.len() < MAX_REPORTED || self.first.last_key_value().is_some_and(|(last, _)| row < *last);
        if is_one {
            self.first.insert(row, fault());
        }
        if self.first.len() > MAX_REPORTED {
            self.first.pop_last();
        }
    }

    /// The rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = usize> {
        self.rows.iter().copied()
    }

    /// Whether all rows fit.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The first rows, in order.
    pub fn first(self) -> impl Iterator<Item = BadRow> {
        self.first.into_values()
    }

    /// The report of the rows, none of which holds defaults.
    pub fn report(self) -> BadRows {
        let (rows, first) = (self.rows.into_iter().collect(), self.first.into_values().collect());
        BadRows { rows, first, ..BadRows::default() }
    }
}

/// The rows that could not be read.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct BadRows {
    /// The numbers of all of them, in order.
    pub rows: Vec<usize>,
    /// The first ones, at most [`MAX_REPORTED`].
    pub first: Vec<BadRow>,
    /// Under [`OnError::Default`], one bit per row of the columns: whether it holds defaults. Empty otherwise.
    pub defaulted: Bits,
}

impl BadRows {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds those of the rows that come next.
    pub(crate) fn add(&mut self, next: &BadRows) {
        self.rows.extend(&next.rows);
        let room = MAX_REPORTED.saturating_sub(self.first.len());
        self.first.extend(next.first.iter().take(room).cloned());
        self.defaulted.append(&next.defaulted);
    }
}

/// The columns of the records that were read.
#[derive(Clone, PartialEq, Debug)]
pub struct Decoded {
    /// The filled columns.
    pub columns: Columns,
    /// How many rows they hold.
    pub rows: usize,
    /// Where each of them starts in the input, in bytes, unless bad rows raise.
    pub starts: Vec<usize>,
    /// The rows that could not be read.
    pub bad: BadRows,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_misfits_are_told_of_whatever_order_they_are_found_in() {
        let mut misfits = Misfits::default();
        // Each row is found twice, by two columns.
        let found = (0..1000_usize).flat_map(|i| [(i * 389 % 1000, "one"), (i * 617 % 1000, "other")]);
        let mut firsts = BTreeMap::new();
        for (row, column) in found.filter(|(row, _)| row % 3 != 1) {
            let fault = || BadRow { row, offset: None, path: Path::root(), error: Error::data(column) };
            firsts.entry(row).or_insert_with(fault);
            misfits.note(row, fault);
        }
        let report = misfits.report();
        assert_eq!(report.rows, firsts.keys().copied().collect::<Vec<_>>());
        assert_eq!(report.first, firsts.into_values().take(MAX_REPORTED).collect::<Vec<_>>());
    }
}
