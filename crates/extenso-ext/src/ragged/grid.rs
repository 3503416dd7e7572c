//! The axes before the first ragged one: the rows, and lists of one length around others.
//!
//! Invariant: what is in a place keeps what it has inside; no place is left out.

use super::RaggedTensor;
use crate::args::{int, typed_ref};
use crate::axes::positions;
use extenso_core::{ExtensionType, RowPartition, Tensor, Value, ops};
use extenso_types::{DType, Dim, Error, Result};

/// What stands in the places of a grid whose first axis is the rows, in row-major order.
pub(super) struct Grid {
    /// How many rows there are.
    nrows: Dim,
    /// Something with an element for each row.
    of_rows: Value,
    /// The sizes of the other axes.
    lengths: Vec<usize>,
    cells: Value,
    index: DType,
}

impl Grid {
    /// The axes of rows.
    pub(super) fn of(x: &RaggedTensor) -> Result<Grid> {
        let mut rows = x.compact()?;
        let (nrows, of_rows) = (rows.nrows(), ops::row_lengths(&rows.partition)?);
        let (mut lengths, index) = (Vec::new(), x.partition.spec().index);
        loop {
            let Some(length) = rows.partition.spec().uniform_row_length else {
                return Ok(Grid { nrows, of_rows, lengths, cells: rows.into_value(), index });
            };
            lengths.push(length);
            match typed_ref::<RaggedTensor>(&rows.values) {
                Some(inner) => rows = inner.compact()?,
                None => return Ok(Grid { nrows, of_rows, lengths, cells: rows.values, index }),
            }
        }
    }

    /// How many axes there are.
    pub(super) fn axes(&self) -> usize {
        self.lengths.len() + 1
    }

    /// What stands in the places, row by row.
    pub(super) fn into_cells(self) -> Value {
        self.cells
    }

    /// The grid with its axes in another order, and with what `inside` makes of what stands in its places.
    ///
    /// Errors: those of `inside`; lists of no element, where the number of rows is not known while tracing.
    pub(super) fn transposed(self, order: &[usize], inside: impl FnOnce(Value) -> Result<Value>) -> Result<Value> {
        let known = |axis: usize| match axis {
            0 => self.nrows.known(),
            axis => Some(self.lengths[axis - 1]),
        };
        let sizes: Vec<i64> = (0..self.axes()).map(|axis| known(axis).map_or(-1, int)).collect();
        if sizes[0] < 0 && sizes.contains(&0) {
            return Err(Error::shape(
                "lists of no element are around others, and how many there are is not known while tracing",
            )
            .wanted("a number of rows that is known"));
        }
        let axes: Vec<i64> = order.iter().map(|&axis| int(axis)).collect();
        let places = ops::transpose(ops::reshape(positions(&self.cells)?, sizes)?, Some(axes))?;
        let cells = ops::take(&self.cells, ops::reshape(places, vec![-1_i64])?, 0)?;
        let rows_before = |k: usize| order[..k].iter().map(|&axis| known(axis)).product::<Option<usize>>();
        (1..order.len()).rev().try_fold(inside(cells)?, |cells, k| {
            let rows = match (rows_before(k), known(order[k])) {
                (Some(rows), Some(length)) => {
                    RaggedTensor::from_partition(cells, RowPartition::of_length(rows, length, self.index)?)?
                }
                (None, Some(length)) => RaggedTensor::from_uniform_row_length(cells, int(length), None)?,
                (rows, None) => {
                    let count = ops::sum(ops::ones_like(&self.of_rows)?, 0, false)?;
                    let zeros = Tensor::from_vec(vec![0_i64; rows.unwrap_or(0)]);
                    let lengths = ops::add(zeros, count)?;
                    RaggedTensor::from_partition(cells, ops::partition_from_lengths(lengths)?.partition()?.clone())?
                }
            };
            Ok(rows.into_value())
        })
    }
}
