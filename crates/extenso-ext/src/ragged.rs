//! Ragged tensors: lists of different lengths, as values and the partition that cuts them into rows.
//!
//! Invariant: the outer size of the values is the number of values that the partition cuts. One ragged axis each; values
//! may be ragged themselves, masked, structs, or of a foreign type. Values outside every row are never seen in a result.

mod broadcast;
mod columns;
mod handlers;
mod reduction;
mod rows;
mod text;

use crate::args::{int, typed};
use crate::axes::{outer, rank, witness};
use extenso_core::{ExtensionType, RowPartition, Tensor, Value, ops};
use extenso_derive::ExtensionType;
use extenso_types::{Dim, Error, Result};
use std::fmt;

/// A tensor whose second axis is cut into rows of different lengths.
///
/// ```
/// # use extenso_ext::RaggedTensor;
/// # use extenso_core::Tensor;
/// let x = RaggedTensor::from_row_lengths(Tensor::from_vec(vec![1, 2, 3]), &Tensor::from_vec(vec![2_i64, 0, 1])).unwrap();
/// assert_eq!(x.to_string(), "[[1, 2], [], [3]]");
/// ```
#[derive(Clone, ExtensionType)]
#[extenso(name = "extenso/RaggedTensor", validate = fits, handlers = handlers::register)]
pub struct RaggedTensor {
    #[extenso(each)]
    values: Value,
    #[extenso(component = "row_splits")]
    partition: RowPartition,
}

fn fits(ragged: &RaggedTensor) -> Result<()> {
    let cut = ragged.partition.spec().nvalues;
    let Some(given) = outer(&ragged.values) else {
        return Err(Error::shape("the values have rank 0").at("values").wanted("values with at least one axis"));
    };
    if given.is_compatible_with(cut) {
        return Ok(());
    }
    Err(Error::shape(format!("the outer size is {given}, and the partition cuts {cut} values"))
        .at("values")
        .wanted("as many values as the partition cuts"))
}

impl RaggedTensor {
    /// The rows that `partition` cuts out of `values`.
    ///
    /// Errors: the outer size of `values` is not the number of values of the partition.
    pub fn from_partition(values: impl Into<Value>, partition: RowPartition) -> Result<RaggedTensor> {
        let ragged = RaggedTensor { values: values.into(), partition };
        fits(&ragged).map_err(|e| e.at("RaggedTensor"))?;
        Ok(ragged)
    }

    /// The rows between each two of `splits`, one more than rows, i32 or i64, from 0; values behind the last are in no row.
    ///
    /// Errors: splits of another dtype or rank, that are empty, do not begin at 0, decrease, or end beyond the values.
    pub fn from_row_splits(values: impl Into<Value>, splits: &Tensor) -> Result<RaggedTensor> {
        let values = values.into();
        if outer(&values).is_none() {
            return Err(Error::shape("the values have rank 0")
                .wanted("values with at least one axis")
                .at("RaggedTensor"));
        }
        let partition = ops::row_partition(splits, witness(&values)?).map_err(|e| e.at("row_splits"))?;
        RaggedTensor::from_partition(values, partition.partition()?.clone())
    }

    /// Rows of these lengths, which add up to the number of values.
    ///
    /// Errors: lengths that are not a vector of integers; a negative one; another sum.
    pub fn from_row_lengths(values: impl Into<Value>, lengths: &Tensor) -> Result<RaggedTensor> {
        let partition = ops::partition_from_lengths(lengths).map_err(|e| e.at("row_lengths"))?;
        RaggedTensor::from_partition(values, partition.partition()?.clone())
    }

    /// The rows that say for each value which row it is in; `nrows` rows, also without values.
    ///
    /// Errors: ids that are not a vector of integers, decrease, are negative, or at least `nrows`; a symbol.
    pub fn from_value_rowids(values: impl Into<Value>, rowids: &Tensor, nrows: usize) -> Result<RaggedTensor> {
        let lengths = lengths_of_ids(rowids, nrows).map_err(|e| e.at("value_rowids"))?;
        RaggedTensor::from_row_lengths(values, &Tensor::from_vec(lengths))
    }

    /// The values of all rows, one row after the other.
    pub fn values(&self) -> &Value {
        &self.values
    }

    /// How the values are cut into rows.
    pub fn partition(&self) -> &RowPartition {
        &self.partition
    }

    /// This partition with other values.
    ///
    /// Errors: their outer size is another.
    pub fn with_values(&self, values: impl Into<Value>) -> Result<RaggedTensor> {
        RaggedTensor::from_partition(values, self.partition.clone())
    }

    /// The number of rows.
    pub fn nrows(&self) -> Dim {
        self.partition.spec().nrows
    }

    /// Where the rows begin and end among the values that are in rows: one more than rows, from 0.
    ///
    /// Errors: none on data.
    pub fn row_splits(&self) -> Result<Tensor> {
        ops::row_splits(&self.partition)?.tensor().cloned()
    }

    /// The number of values in each row.
    ///
    /// Errors: none on data.
    pub fn row_lengths(&self) -> Result<Tensor> {
        ops::row_lengths(&self.partition)?.tensor().cloned()
    }

    /// Row `i`, sharing the buffers of the values.
    ///
    /// Errors: out of range; a symbol.
    pub fn row(&self, i: usize) -> Result<Value> {
        let rows = self.partition.data()?;
        if i >= rows.nrows() {
            return Err(Error::index(format!("row {i} is out of range for {} rows", rows.nrows())).at("RaggedTensor"));
        }
        let range = rows.row(i);
        slice_values(&self.values, range.start, range.end)
    }

    /// The number of ragged axes: 1 and those of the values.
    pub fn ragged_rank(&self) -> usize {
        1 + typed::<RaggedTensor>(&self.values).map_or(0, |inner| inner.ragged_rank())
    }

    /// The number of axes.
    ///
    /// Errors: the rank of the values is not known.
    pub fn rank(&self) -> Result<usize> {
        Ok(rank(&self.values)? + 1)
    }

    /// The same rows over values that are all in some row; this value itself where that holds already.
    ///
    /// Errors: while tracing, values that are ragged and do not all stand in rows.
    pub fn compact(&self) -> Result<RaggedTensor> {
        match self.partition.data() {
            Ok(rows) if rows.covers_all() => Ok(self.clone()),
            Ok(rows) => {
                let partition = RowPartition::from_lengths(rows.lengths())?;
                let values = slice_values(&self.values, rows.first(), rows.last())?;
                RaggedTensor::from_partition(values, partition)
            }
            Err(_) => {
                let lengths = ops::row_lengths(&self.partition)?;
                let partition = ops::partition_from_lengths(lengths)?.partition()?.clone();
                let values = ops::align_rows(&self.values, &self.partition, &partition)?;
                RaggedTensor::from_partition(values, partition)
            }
        }
    }
}

/// The values from `start` to `stop` along the outer axis.
fn slice_values(values: &Value, start: usize, stop: usize) -> Result<Value> {
    ops::slice(values, 0_i64, int(start), Some(vec![int(stop)]), 1_i64)
}

fn lengths_of_ids(rowids: &Tensor, nrows: usize) -> Result<Vec<i64>> {
    let spec = rowids.spec();
    if !spec.dtype.is_integer() || spec.shape.rank() != Some(1) {
        return Err(Error::dtype(format!("row ids are {spec}")).wanted("a vector of integers"));
    }
    let ids = ops::cast(rowids, extenso_types::DType::I64)?;
    let mut lengths: Vec<i64> = Vec::new();
    // The caller's number alone must not end the process.
    lengths.try_reserve_exact(nrows).map_err(|_| Error::value(format!("{nrows} rows do not fit into memory")))?;
    lengths.resize(nrows, 0);
    let mut last = 0;
    for (i, &id) in ids.tensor()?.as_slice::<i64>()?.iter().enumerate() {
        if id < last {
            let what = if id < 0 {
                format!("row id {id} at [{i}] is negative")
            } else {
                format!("row ids decrease at [{i}]: {id} comes after {last}")
            };
            return Err(Error::value(what).wanted("row ids from 0 that never decrease"));
        }
        let length = usize::try_from(id)
            .ok()
            .and_then(|id| lengths.get_mut(id))
            .ok_or_else(|| Error::index(format!("row id {id} at [{i}] is out of range for {nrows} rows")))?;
        *length += 1;
        last = id;
    }
    Ok(lengths)
}

impl fmt::Display for RaggedTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match crate::to_literal(&self.clone().into_value()) {
            Ok(literal) => literal.fmt(f),
            Err(_) => fmt::Debug::fmt(self, f),
        }
    }
}

impl fmt::Debug for RaggedTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.clone().into_value(), f)
    }
}
