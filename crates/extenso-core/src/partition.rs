//! Row partitions: how a flat list of values is cut into rows.
//!
//! Invariant: every partition that exists is proven: offsets never decrease, start at or above 0 and end at or below the
//! number of values. A partition as it stands in a sliced Arrow list is one. Knows nothing of the values.

use crate::kernels::pool::affordable;
use crate::offsets::{Offsets, with_offsets};
use crate::op::Fact;
use crate::symbol::Symbol;
use crate::tensor::{Elements, Tensor};
use arrow_buffer::ScalarBuffer;
use extenso_types::{DType, Dim, Error, PartitionSpec, Result};
use std::sync::Arc;

/// A row partition: a value or a symbol.
#[derive(Clone)]
pub struct RowPartition(Repr);

#[derive(Clone)]
enum Repr {
    Data(Arc<Rows>),
    Symbol(Arc<Symbol>),
}

/// The data of a row partition.
#[derive(Debug)]
pub struct Rows {
    offsets: Offsets,
    nvalues: usize,
    /// The length of each row, where it is known that all have one; what is found by a look at the rows is not.
    uniform: Option<usize>,
}

impl RowPartition {
    /// The partition of `nvalues` values by these offsets, which are shared.
    ///
    /// Errors: offsets that do not cut the values.
    ///
    /// ```
    /// # use extenso_core::{RowPartition, Offsets};
    /// let p = RowPartition::from_offsets(Offsets::I64(vec![0, 4, 4, 7].into()), 7).unwrap();
    /// assert_eq!(p.data().unwrap().lengths().collect::<Vec<_>>(), [4, 0, 3]);
    /// ```
    pub fn from_offsets(offsets: Offsets, nvalues: usize) -> Result<RowPartition> {
        offsets.prove(nvalues)?;
        Ok(RowPartition(Repr::Data(Arc::new(Rows { offsets, nvalues, uniform: None }))))
    }

    /// The partition whose rows have these lengths.
    ///
    /// Errors: more rows than there is memory for; more values than 64 bits count.
    pub fn from_lengths(lengths: impl IntoIterator<Item = usize>) -> Result<RowPartition> {
        let offsets = Offsets::from_lengths(lengths)?;
        let nvalues = offsets.last();
        RowPartition::from_offsets(offsets, nvalues)
    }

    /// The same with offsets of the dtype `index`, i32 or i64.
    ///
    /// Errors: as [`RowPartition::from_lengths`]; lengths whose sum does not fit the dtype.
    pub fn from_lengths_as(lengths: impl IntoIterator<Item = usize>, index: DType) -> Result<RowPartition> {
        let wide = RowPartition::from_lengths(lengths)?;
        let rows = wide.data()?;
        if rows.offsets.dtype() == index {
            return Ok(wide);
        }
        let narrow: std::result::Result<Vec<i32>, _> =
            (0..rows.offsets.len()).map(|i| rows.offsets.get(i).try_into()).collect();
        let narrow = narrow.map_err(|_| {
            Error::value(format!("the rows have {} values, and row splits of {index} are wanted", rows.nvalues))
                .wanted("a number of values that fits the row splits")
                .hint("Make the rows with row splits of i64.")
        })?;
        RowPartition::from_offsets(Offsets::I32(narrow.into()), rows.nvalues)
    }

    /// The partition of some rows of another one, in an order of their own.
    ///
    /// Errors: as [`RowPartition::from_lengths_as`].
    pub fn of_rows(rows: &Rows, which: impl IntoIterator<Item = usize>) -> Result<RowPartition> {
        let lengths = which.into_iter().map(|row| rows.row(row).len());
        let made = RowPartition::from_lengths_as(lengths, rows.offsets.dtype())?;
        made.with_uniform_row_length(rows.uniform)
    }

    /// The partition of rows of one value each, with offsets of the dtype `index`, i32 or i64.
    ///
    /// Errors: another dtype; more rows than it counts, or than there is memory for.
    ///
    /// ```
    /// # use extenso_core::RowPartition;
    /// # use extenso_types::DType;
    /// let p = RowPartition::of_single_values(3, DType::I64).unwrap();
    /// assert_eq!(p.data().unwrap().lengths().collect::<Vec<_>>(), [1, 1, 1]);
    /// ```
    pub fn of_single_values(nrows: usize, index: DType) -> Result<RowPartition> {
        let offsets = Offsets::of_single_values(nrows, index)?;
        Ok(RowPartition(Repr::Data(Arc::new(Rows { offsets, nvalues: nrows, uniform: None }))))
    }

    /// The partition of so many rows of one length, with offsets of the dtype `index`, i32 or i64.
    ///
    /// Errors: as [`RowPartition::from_lengths_as`].
    ///
    /// ```
    /// # use extenso_core::RowPartition;
    /// # use extenso_types::DType;
    /// let p = RowPartition::of_length(2, 3, DType::I64).unwrap();
    /// assert_eq!(p.spec().to_string(), "partition<i64>[2 rows of length 3 of 6 values]");
    /// ```
    pub fn of_length(nrows: usize, length: usize, index: DType) -> Result<RowPartition> {
        RowPartition::from_lengths_as(std::iter::repeat_n(length, nrows), index)?.with_uniform_row_length(Some(length))
    }

    /// The same rows, of which it is known from now on that each has so many values.
    ///
    /// Errors: a row of another length; a symbol.
    pub fn with_uniform_row_length(self, length: Option<usize>) -> Result<RowPartition> {
        let rows = self.data()?;
        let Some(length) = length.filter(|_| rows.uniform != length) else { return Ok(self) };
        if let Some((row, n)) = rows.lengths().enumerate().find(|(_, n)| *n != length) {
            return Err(
                Error::shape(format!("row {row} has {n} values")).wanted(format!("{length} values in each row"))
            );
        }
        let rows = Rows { offsets: rows.offsets.clone(), nvalues: rows.nvalues, uniform: Some(length) };
        Ok(RowPartition(Repr::Data(Arc::new(rows))))
    }

    /// The partition by a vector of row splits, i32 or i64, whose buffer is shared; splits begin at 0.
    ///
    /// Errors: another dtype or rank, a first split that is not 0, splits that decrease or end beyond `nvalues`.
    pub fn from_row_splits(splits: &Tensor, nvalues: usize) -> Result<RowPartition> {
        let dense = splits.data()?;
        if dense.dims().len() != 1 {
            return Err(Error::shape(format!("row splits have shape {:?}", dense.dims())).wanted("a vector"));
        }
        let buffer = || dense.fixed().map(Elements::to_buffer);
        let offsets = match dense.dtype() {
            DType::I32 => Offsets::I32(ScalarBuffer::new(buffer()?, 0, dense.len())),
            DType::I64 => Offsets::I64(ScalarBuffer::new(buffer()?, 0, dense.len())),
            other => return Err(Error::dtype(format!("row splits are {other}")).wanted("i32 or i64")),
        };
        let partition = RowPartition::from_offsets(offsets, nvalues)?;
        match partition.data()?.first() {
            0 => Ok(partition),
            first => Err(Error::value(format!("the first row split is {first}")).wanted("0")),
        }
    }

    /// A partition that stands for data while tracing.
    pub fn from_symbol(symbol: Arc<Symbol>) -> RowPartition {
        RowPartition(Repr::Symbol(symbol))
    }

    /// The symbol, if this is one.
    pub fn symbol(&self) -> Option<&Arc<Symbol>> {
        match &self.0 {
            Repr::Symbol(symbol) => Some(symbol),
            Repr::Data(_) => None,
        }
    }

    /// The data.
    ///
    /// Errors: this is a symbol.
    pub fn data(&self) -> Result<&Rows> {
        match &self.0 {
            Repr::Data(rows) => Ok(rows),
            Repr::Symbol(symbol) => Err(symbol.has_no_data()),
        }
    }

    /// The spec.
    pub fn spec(&self) -> PartitionSpec {
        match &self.0 {
            Repr::Data(rows) => PartitionSpec {
                nrows: Dim::Known(rows.nrows()),
                nvalues: Dim::Known(rows.nvalues),
                uniform_row_length: rows.uniform,
                index: rows.offsets.dtype(),
            },
            Repr::Symbol(symbol) => {
                let known = symbol.spec.partition().cloned();
                known.unwrap_or_else(|_| PartitionSpec::new(Dim::any(), Dim::any(), DType::I64))
            }
        }
    }

    /// Whether every value is known to belong to a row: of data by a look at the ends, of a symbol by the op that makes it.
    pub fn covers_all(&self) -> bool {
        match &self.0 {
            Repr::Data(rows) => rows.covers_all(),
            Repr::Symbol(symbol) => symbol.op.is_some_and(|op| op.facts.contains(&Fact::Covers)),
        }
    }

    /// Whether both are one without looking at offsets: the same allocation or the same node.
    pub fn same(&self, other: &RowPartition) -> bool {
        match (&self.0, &other.0) {
            (Repr::Data(a), Repr::Data(b)) => Arc::ptr_eq(a, b),
            (Repr::Symbol(a), Repr::Symbol(b)) => (a.scope, a.node, a.output) == (b.scope, b.node, b.output),
            (Repr::Data(_), Repr::Symbol(_)) | (Repr::Symbol(_), Repr::Data(_)) => false,
        }
    }

    /// Whether both cut their values in the same way, whatever the width of their offsets.
    ///
    /// Errors: one is a symbol and they are not the same.
    pub fn equals(&self, other: &RowPartition) -> Result<bool> {
        if self.same(other) {
            return Ok(true);
        }
        let (a, b) = (self.data()?, other.data()?);
        Ok(a.nrows() == b.nrows() && a.lengths().eq(b.lengths()))
    }
}

impl Rows {
    /// The offsets as they stand.
    pub fn offsets(&self) -> &Offsets {
        &self.offsets
    }

    /// The number of rows.
    pub fn nrows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of values that the offsets point into.
    pub fn nvalues(&self) -> usize {
        self.nvalues
    }

    /// The length of each row, where it is known that all have one.
    pub fn uniform_row_length(&self) -> Option<usize> {
        self.uniform
    }

    /// The place of the first value of the first row.
    pub fn first(&self) -> usize {
        self.offsets.first()
    }

    /// The place behind the last value of the last row.
    pub fn last(&self) -> usize {
        self.offsets.last()
    }

    /// Whether every value is in some row.
    pub fn covers_all(&self) -> bool {
        self.first() == 0 && self.last() == self.nvalues
    }

    /// The range of values of one row.
    #[inline]
    pub fn row(&self, i: usize) -> std::ops::Range<usize> {
        self.offsets.get(i)..self.offsets.get(i + 1)
    }

    /// The row that a value is in, if it is in one.
    pub(crate) fn row_at(&self, value: usize) -> Option<usize> {
        if value < self.first() || value >= self.last() {
            return None;
        }
        // The last of the rows that begin at the value or before it: those before it may be empty.
        let begun =
            with_offsets!(&self.offsets, o => o.partition_point(|&at| usize::try_from(at).is_ok_and(|at| at <= value)));
        Some(begun - 1)
    }

    /// The same, looked for among the few rows from `near` on first.
    pub(crate) fn row_near(&self, near: usize, value: usize) -> Option<usize> {
        const FEW: usize = 8;
        let few = near..self.nrows().min(near.saturating_add(FEW));
        few.into_iter().find(|&row| self.row(row).contains(&value)).or_else(|| self.row_at(value))
    }

    /// The row of a value that is the first behind another row.
    pub(crate) fn next_row(&self, row: Option<usize>, value: usize) -> Option<usize> {
        match row {
            Some(row) if value < self.last() => (row + 1..self.nrows()).find(|&next| self.row(next).end > value),
            Some(_) => None,
            None => self.row_at(value),
        }
    }

    /// The lengths of the rows.
    pub fn lengths(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nrows()).map(|i| self.row(i).len())
    }

    /// Writes the lengths of the rows; there is a place for each.
    #[allow(clippy::useless_conversion)] // One of the two widths is i64 already.
    pub(crate) fn write_lengths(&self, out: &mut [i64]) {
        with_offsets!(&self.offsets, o => {
            for (out, row) in out.iter_mut().zip(o.windows(2)) {
                *out = i64::from(row[1]) - i64::from(row[0]);
            }
        });
    }

    /// Whether every row has length 1, so that the rows are one axis of size 1.
    pub fn all_have_length_one(&self) -> bool {
        self.last() - self.first() == self.nrows() && self.lengths().all(|n| n == 1)
    }

    /// The row that each value belongs to, from the first value of the first row.
    ///
    /// Errors: more values than there is memory for, which a few offsets may say of values without bytes.
    pub fn row_ids(&self) -> Result<Vec<i64>> {
        let count = self.last() - self.first();
        affordable(count.saturating_mul(size_of::<i64>()))?;
        Ok(with_offsets!(&self.offsets, o => {
            let mut ids = Vec::with_capacity(count);
            for (row, w) in o.windows(2).enumerate() {
                let id = i64::try_from(row).unwrap_or(i64::MAX);
                ids.extend((w[0]..w[1]).map(|_| id));
            }
            ids
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_partition_is_proven() {
        let splits = |s: &[i64], n| RowPartition::from_row_splits(&Tensor::from_vec(s.to_vec()), n);
        assert!(splits(&[0, 4, 4, 7, 8, 8], 8).is_ok());
        for (bad, n) in [(&[][..], 0), (&[2, 3, 4], 4), (&[0, 3, 2, 4], 4), (&[0, 9], 4), (&[-1, 2], 4)] {
            assert!(splits(bad, n).is_err(), "{bad:?}");
        }
        assert!(RowPartition::from_row_splits(&Tensor::from_vec(vec![0.0_f32, 1.0]), 1).is_err());
        let matrix = Tensor::new(&[1, 2], &[0_i64, 1]).expect("a matrix");
        assert!(RowPartition::from_row_splits(&matrix, 1).is_err());
    }

    #[test]
    fn rows_of_more_values_than_can_be_counted_are_refused() {
        for lengths in [vec![usize::MAX, 5], vec![i64::MAX as usize, 1], vec![5, usize::MAX, 0]] {
            let error = RowPartition::from_lengths(lengths.clone()).expect_err("more than 64 bits count").to_string();
            assert!(error.contains("more values than 64 bits count"), "{lengths:?}: {error}");
        }
        assert_eq!(
            RowPartition::from_lengths([i64::MAX as usize, 0]).expect("counted").data().expect("data").nrows(),
            2
        );
        assert!(RowPartition::from_lengths(std::iter::repeat_n(1, usize::MAX)).is_err());
    }

    #[test]
    fn rows_of_values_without_bytes_have_no_list_of_ids() {
        let rows = RowPartition::from_lengths([i64::MAX as usize]).expect("counted");
        let error = rows.data().expect("data").row_ids().expect_err("more than there is memory for").to_string();
        assert!(error.contains("more memory"), "{error}");
    }

    #[test]
    fn a_sliced_list_is_a_partition_as_it_stands() {
        let p = RowPartition::from_offsets(Offsets::I32(vec![2, 3, 6].into()), 10).expect("proven");
        let rows = p.data().expect("data");
        assert_eq!((rows.nrows(), rows.row_ids().expect("few"), rows.covers_all()), (2, vec![0, 1, 1, 1], false));
        assert_eq!(rows.offsets().relative(), [0, 1, 4]);
    }
}
