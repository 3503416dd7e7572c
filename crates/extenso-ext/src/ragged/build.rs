//! The ways to write down how values are cut into rows. Each gives the partition, which is proven, and then the rows.

use super::RaggedTensor;
use crate::args::int;
use crate::axes::{outer, witness, zeros};
use extenso_core::{ExtensionType, RowPartition, Tensor, Value, ops};
use extenso_types::{Error, Result};

impl RaggedTensor {
    /// The rows between each two of `splits`, one more than rows, i32 or i64, from 0; values behind the last are in no row.
    ///
    /// Errors: splits of another dtype or rank, that are empty, do not begin at 0, decrease, or end beyond the values.
    ///
    /// ```
    /// # use extenso_ext::RaggedTensor;
    /// # use extenso_core::Tensor;
    /// let x = RaggedTensor::from_row_splits(Tensor::from_vec(vec![1, 2, 3]), &Tensor::from_vec(vec![0_i64, 2, 2, 3])).unwrap();
    /// assert_eq!(x.to_string(), "[[1, 2], [], [3]]");
    /// ```
    pub fn from_row_splits(values: impl Into<Value>, splits: &Tensor) -> Result<RaggedTensor> {
        let values = rows_of(values.into())?;
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

    /// The rows that say for each value which row it is in; without `nrows`, the last id is that of the last row.
    ///
    /// Errors: ids that are not a vector of integers, decrease, are negative, or at least `nrows`; more rows than memory holds;
    /// without `nrows`, a last id that is far beyond the number of values.
    ///
    /// ```
    /// # use extenso_ext::RaggedTensor;
    /// # use extenso_core::Tensor;
    /// let ids = Tensor::from_vec(vec![0_i64, 0, 2]);
    /// let x = RaggedTensor::from_value_rowids(Tensor::from_vec(vec![1, 2, 3]), &ids, Some(4)).unwrap();
    /// assert_eq!(x.to_string(), "[[1, 2], [], [3], []]");
    /// ```
    pub fn from_value_rowids(values: impl Into<Value>, rowids: &Tensor, nrows: Option<usize>) -> Result<RaggedTensor> {
        let partition = ops::partition_from_rowids(rowids, nrows.map(|n| vec![int(n)]));
        RaggedTensor::from_partition(values, partition.map_err(|e| e.at("value_rowids"))?.partition()?.clone())
    }

    /// The rows that begin at `starts`, i32 or i64, from 0; the last ends with the values.
    ///
    /// Errors: as [`from_row_splits`](RaggedTensor::from_row_splits); starts that leave values in front of the first row.
    pub fn from_row_starts(values: impl Into<Value>, starts: &Tensor) -> Result<RaggedTensor> {
        let values = rows_of(values.into())?;
        let partition = splits_by(starts, |count| ops::concat(vec![starts.clone().into(), count], 0), &values);
        RaggedTensor::from_partition(values, partition.map_err(|e| e.at("row_starts"))?)
    }

    /// The rows that end at `limits`, i32 or i64; the first begins with the values, the last ends with them.
    ///
    /// Errors: as [`from_row_splits`](RaggedTensor::from_row_splits); limits that leave values behind the last row.
    pub fn from_row_limits(values: impl Into<Value>, limits: &Tensor) -> Result<RaggedTensor> {
        let values = rows_of(values.into())?;
        let splits = |count: Value| ops::concat(vec![ops::zeros_like(count)?, limits.clone().into()], 0);
        let partition = splits_by(limits, splits, &values).and_then(|partition| to_the_end(&partition));
        RaggedTensor::from_partition(values, partition.map_err(|e| e.at("row_limits"))?)
    }

    /// Rows of one length; `nrows` must be given to have rows of length 0.
    ///
    /// Errors: a negative length; values that are not `nrows` rows of it; more rows than memory holds.
    pub fn from_uniform_row_length(values: impl Into<Value>, length: i64, nrows: Option<i64>) -> Result<RaggedTensor> {
        RaggedTensor::of_length(values.into(), length, nrows, "uniform_row_length")
    }

    /// Rows of one length, which the caller was given as the argument `name`.
    pub(crate) fn of_length(values: Value, length: i64, nrows: Option<i64>, name: &str) -> Result<RaggedTensor> {
        let values = rows_of(values)?;
        let partition = ops::uniform_partition(witness(&values)?, length, nrows.map(|n| vec![n]));
        RaggedTensor::from_partition(values, partition.map_err(|e| e.at(name))?.partition()?.clone())
    }

    /// Rows of rows by the splits of each ragged axis, the outermost first.
    ///
    /// Errors: no splits; those of [`from_row_splits`](RaggedTensor::from_row_splits), for each.
    pub fn from_nested_row_splits(flat_values: impl Into<Value>, splits: &[Tensor]) -> Result<RaggedTensor> {
        nested(flat_values.into(), splits, RaggedTensor::from_row_splits).map_err(|e| e.at("nested_row_splits"))
    }

    /// Rows of rows by the lengths along each ragged axis, the outermost first.
    ///
    /// Errors: no lengths; those of [`from_row_lengths`](RaggedTensor::from_row_lengths), for each.
    pub fn from_nested_row_lengths(flat_values: impl Into<Value>, lengths: &[Tensor]) -> Result<RaggedTensor> {
        nested(flat_values.into(), lengths, RaggedTensor::from_row_lengths).map_err(|e| e.at("nested_row_lengths"))
    }
}

/// The values, which must have an axis to be cut.
fn rows_of(values: Value) -> Result<Value> {
    match outer(&values) {
        Some(_) => Ok(values),
        None => Err(Error::shape("the values have rank 0").wanted("values with at least one axis").at("RaggedTensor")),
    }
}

/// The partition by the splits that `splits` makes of the number of values, a vector of one in the dtype of `given`.
fn splits_by(given: &Tensor, splits: impl Fn(Value) -> Result<Value>, values: &Value) -> Result<RowPartition> {
    let spec = given.spec();
    if !spec.dtype.is_integer() || spec.shape.rank().is_some_and(|rank| rank != 1) {
        return Err(Error::dtype(format!("found {spec}")).wanted("a vector of integers: i32 or i64"));
    }
    let count = ops::cast(ops::sum(ops::add(zeros(values)?, 1)?, 0, true)?, spec.dtype)?;
    ops::row_partition(splits(count)?, witness(values)?)?.partition().cloned()
}

/// The same rows under a partition that has no values behind them.
///
/// Errors: values are left behind, known before the graph runs; otherwise whatever takes values and partition together finds it.
fn to_the_end(partition: &RowPartition) -> Result<RowPartition> {
    if partition.covers_all() {
        return Ok(partition.clone());
    }
    match partition.data() {
        Ok(rows) => {
            let what = format!("the last row ends at {}, and there are {} values", rows.last(), rows.nvalues());
            Err(Error::value(what).wanted("a last row that ends with the values"))
        }
        Err(_) => ops::partition_from_lengths(ops::row_lengths(partition)?)?.partition().cloned(),
    }
}

fn nested(
    values: Value,
    parts: &[Tensor],
    cut: impl Fn(Value, &Tensor) -> Result<RaggedTensor>,
) -> Result<RaggedTensor> {
    let Some((outermost, inner)) = parts.split_first() else {
        return Err(Error::value("the list is empty").wanted("one vector for each ragged axis, the outermost first"));
    };
    let mut values = values;
    for (level, part) in inner.iter().enumerate().rev() {
        values = cut(values, part).map_err(|e| e.at(format!("[{}]", level + 1)))?.into_value();
    }
    cut(values, outermost).map_err(|e| e.at("[0]"))
}
