//! Ragged tensors: lists of different lengths, as values and the partition that cuts them into rows.
//!
//! Invariant: the outer size of the values is the number of values that the partition cuts. One ragged axis each; values
//! may be ragged themselves, masked, structs, or of a foreign type. Values outside every row are never seen in a result.
//! A uniform axis among ragged ones is a partition whose rows have one length.

mod arrange;
mod broadcast;
mod build;
pub(crate) mod columns;
pub(crate) mod dense;
mod grid;
mod handlers;
mod levels;
mod lines;
mod products;
pub(crate) mod reduction;
mod rows;
mod select;
mod shape;
mod text;
mod uniform;
mod within;

pub(crate) use arrange::reshape_like as reshape_like_rows;
pub(crate) use columns::has_rows;
pub use dense::to_dense;
pub(crate) use dense::zero;
pub use levels::{flatten, local_index, num, unflatten};
pub(crate) use rows::{concat as concat_rows, take as take_by_rows};
pub(crate) use select::boolean_mask as mask_by_rows;
pub(crate) use within::take_in_rows;

use crate::args::{int, typed};
use crate::axes::{outer, rank};
use crate::masked::of_elements;
use extenso_core::{ExtensionType, RowPartition, Tensor, Value, ops};
use extenso_derive::ExtensionType;
use extenso_types::{DType, Dim, Error, Result};
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
#[extenso(name = "extenso/RaggedTensor", validate = fits, cast = crate::casts::rows, handlers = handlers::register)]
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
        let ragged = RaggedTensor { values: of_elements(values.into())?, partition };
        fits(&ragged).map_err(|e| e.at("RaggedTensor"))?;
        Ok(ragged)
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

    /// The rows where `mask` is true, and empty ones elsewhere; all rows or none of a mask without axes.
    pub(crate) fn only_where(&self, mask: &Tensor) -> Result<RaggedTensor> {
        let rows = self.compact()?;
        if mask.rank() == Some(0) {
            let kept = ops::broadcast_like(mask, rows.row_lengths()?)?;
            return RaggedTensor::from_value(&ops::boolean_mask(rows.into_value(), kept, 0)?);
        }
        let kept = ops::gather_rows_of(mask, rows.partition())?;
        let lengths = ops::where_(mask, rows.row_lengths()?, 0)?;
        let partition = ops::partition_from_lengths(lengths)?.partition()?.clone();
        RaggedTensor::from_partition(ops::boolean_mask(rows.values(), kept, 0)?, partition)
    }

    /// The same rows over values that are all in some row; this value itself where that holds already.
    ///
    /// Errors: none on values that fit.
    pub fn compact(&self) -> Result<RaggedTensor> {
        if self.partition.covers_all() {
            return Ok(self.clone());
        }
        match self.partition.data() {
            Ok(rows) => {
                let partition = RowPartition::of_rows(rows, 0..rows.nrows())?;
                let values = slice_values(&self.values, rows.first(), rows.last())?;
                RaggedTensor::from_partition(values, partition)
            }
            Err(_) => {
                let partition = rows_like(ops::row_lengths(&self.partition)?, &self.partition)?;
                let values = ops::align_rows(&self.values, &self.partition, &partition)?;
                RaggedTensor::from_partition(values, partition)
            }
        }
    }
}

/// The partition whose rows have these lengths, with splits of the dtype of another one.
///
/// Errors: lengths whose sum does not fit the dtype.
pub(crate) fn cut_like(lengths: Value, like: &RowPartition) -> Result<RowPartition> {
    cut_as(lengths, like.spec().index)
}

/// The partition of rows of another one, which have these lengths: of one, if all of those have it.
fn rows_like(lengths: Value, like: &RowPartition) -> Result<RowPartition> {
    let spec = like.spec();
    cut_in(lengths, spec.uniform_row_length, spec.index)
}

/// The partition whose rows have these lengths, all of them `length` if there is one, with splits of a dtype.
pub(crate) fn cut_in(lengths: Value, length: Option<usize>, index: DType) -> Result<RowPartition> {
    match length {
        Some(length) => ops::partition_of_length(lengths, int(length), index)?.partition().cloned(),
        None => cut_as(lengths, index),
    }
}

/// The same with splits of a dtype.
pub(crate) fn cut_as(lengths: Value, index: DType) -> Result<RowPartition> {
    if index == DType::I64 {
        return ops::partition_from_lengths(lengths)?.partition().cloned();
    }
    match lengths.tensor()?.data() {
        // Lengths of 64 bits are summed first, so that none wraps.
        Ok(_) => {
            let wide = ops::partition_from_lengths(lengths)?;
            RowPartition::from_lengths_as(wide.partition()?.data()?.lengths(), index)
        }
        Err(_) => ops::partition_from_lengths(ops::cast(lengths, index)?)?.partition().cloned(),
    }
}

/// The dtype of splits of the joined rows of several: theirs if it is one, otherwise i64.
fn common_index<'a>(mut partitions: impl Iterator<Item = &'a RowPartition>) -> DType {
    if partitions.all(|partition| partition.spec().index == DType::I32) { DType::I32 } else { DType::I64 }
}

/// The values from `start` to `stop` along the outer axis.
fn slice_values(values: &Value, start: usize, stop: usize) -> Result<Value> {
    ops::slice(values, 0_i64, int(start), Some(vec![int(stop)]), 1_i64)
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
