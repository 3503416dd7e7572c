//! Columns of rows: the values at one place of each row, brought together.
//!
//! Rows are aligned on the left, and only those that reach a place count there. This reads the partitions' data, in time
//! linear in values and rows.

use extenso_core::{RowPartition, Rows, Tensor};
use extenso_types::Result;

/// The values of rows in the order of their columns, group by group.
pub(super) struct Columns {
    /// Positions of values: those of a group's first column, then of its second, and so on; each in the order of its rows.
    pub order: Tensor,
    /// How the order is cut into columns.
    pub columns: RowPartition,
    /// How the columns are cut into groups.
    pub groups: RowPartition,
}

impl Columns {
    /// The columns of the rows of each group.
    ///
    /// Errors: none on partitions that fit each other.
    pub fn new(groups: &Rows, rows: &Rows) -> Result<Columns> {
        let mut order: Vec<i64> = Vec::with_capacity(rows.last() - rows.first());
        let (mut lengths, mut widths) = (Vec::new(), Vec::with_capacity(groups.nrows()));
        for group in 0..groups.nrows() {
            let counts = column_lengths(groups.row(group).map(|row| rows.row(row).len()));
            let start = order.len();
            order.resize(start + counts.iter().sum::<usize>(), 0);
            let mut next: Vec<usize> = counts
                .iter()
                .scan(start, |at, &n| {
                    let here = *at;
                    *at += n;
                    Some(here)
                })
                .collect();
            for row in groups.row(group) {
                for (place, value) in next.iter_mut().zip(rows.row(row)) {
                    order[*place] = crate::args::int(value);
                    *place += 1;
                }
            }
            widths.push(counts.len());
            lengths.extend(counts);
        }
        let (columns, groups) = (RowPartition::from_lengths(lengths)?, RowPartition::from_lengths(widths)?);
        Ok(Columns { order: Tensor::from_vec(order), columns, groups })
    }
}

/// How many rows reach each column.
fn column_lengths(rows: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut ends: Vec<usize> = Vec::new();
    let mut count = 0;
    for length in rows {
        if ends.len() <= length {
            ends.resize(length + 1, 0);
        }
        ends[length] += 1;
        count += 1;
    }
    // A row of length n is missing from column n on.
    let longest = ends.len().saturating_sub(1);
    ends.iter()
        .take(longest)
        .map(|&ending| {
            count -= ending;
            count
        })
        .collect()
}
