//! Uniform axes as ragged ones: rows of one length.

use super::RaggedTensor;
use crate::args::{int, typed_ref};
use crate::axes::{dim, rank, rows_of_lengths, witness, zeros_of};
use crate::structs::{Field, StructTensor};
use extenso_core::{ExtensionType, RowPartition, Value, ops};
use extenso_types::{DType, Dim, Error, Result, Shape};

impl RaggedTensor {
    /// The rows of a uniform second axis, which may then be compared with ragged ones.
    ///
    /// Errors: fewer than two axes.
    pub(crate) fn of_uniform(value: &Value) -> Result<RaggedTensor> {
        RaggedTensor::of_uniform_as(value, DType::I64)
    }

    /// The same with offsets of this dtype: the rows beside which these stand have it.
    pub(crate) fn of_uniform_as(value: &Value, index: DType) -> Result<RaggedTensor> {
        let sizes: Result<Vec<Dim>> = (0..rank(value)?).map(|axis| dim(value, axis)).collect();
        let [n, k, inner @ ..] = &sizes?[..] else {
            return Err(Error::shape("the value has rank 1").wanted("rank 2 or more, for rows"));
        };
        let together = match (n.known(), k.known()) {
            // Where other sizes are 0 too, nothing but this tells the number of values.
            (Some(0), _) | (_, Some(0)) => 0,
            (n, k) => n.zip(k).map_or(-1, |(n, k)| int(n.saturating_mul(k))),
        };
        let partition = match k.known() {
            Some(k) => ops::partition_of_length(witness(value)?, int(k), index)?.partition()?.clone(),
            None => rows_of_lengths(ops::sum(ops::add(zeros_of(value, 2)?, 1)?, 1, false)?, index)?,
        };
        RaggedTensor::from_partition(joined(value, &partition, together, inner)?, partition)
    }

    /// The dense tensor with `ragged_rank` of its axes behind the first as ragged ones.
    ///
    /// Errors: a `ragged_rank` of 0, or of as many axes as the tensor has; a rank that is not known.
    ///
    /// ```
    /// # use extenso_ext::RaggedTensor;
    /// # use extenso_core::Tensor;
    /// let x = RaggedTensor::from_dense(Tensor::new(&[2, 2], &[1, 2, 3, 4]).unwrap(), 1).unwrap();
    /// assert_eq!((x.to_string().as_str(), x.ragged_rank()), ("[[1, 2], [3, 4]]", 1));
    /// ```
    pub fn from_dense(dense: impl Into<Value>, ragged_rank: usize) -> Result<RaggedTensor> {
        let dense = dense.into();
        check_ragged_rank(&dense, ragged_rank)?;
        let x = RaggedTensor::of_uniform(&dense)?;
        if ragged_rank == 1 {
            return Ok(x);
        }
        let values = RaggedTensor::from_dense(x.values().clone(), ragged_rank - 1)?;
        x.with_values(values.into_value())
    }

    /// The first elements of each row of a dense tensor, as many as `lengths` says.
    ///
    /// Errors: lengths that are not a vector of integers, one for each row; a length that is negative or beyond the axis.
    pub fn from_dense_lengths(dense: impl Into<Value>, lengths: impl Into<Value>) -> Result<RaggedTensor> {
        let dense = dense.into();
        check_ragged_rank(&dense, 1)?;
        let partition = ops::partition_from_lengths(lengths.into()).map_err(|e| e.at("lengths"))?;
        let values = ops::unpad_rows(&dense, &partition, false).map_err(|e| e.at("lengths"))?;
        RaggedTensor::from_partition(values, partition.partition()?.clone())
    }

    /// The first elements of each row of a dense tensor, in as many ragged axes as there are vectors of lengths, the outermost first.
    ///
    /// Each vector has the lengths of the rows that those before it leave. Errors: no vector, or as many as the tensor has axes; as
    /// [`from_dense_lengths`](RaggedTensor::from_dense_lengths).
    ///
    /// ```
    /// # use extenso_ext::RaggedTensor;
    /// # use extenso_core::{Tensor, Value};
    /// let dense = Tensor::new(&[2, 2, 2], &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    /// let lengths: Vec<Value> = vec![Tensor::from_vec(vec![2_i64, 1]).into(), Tensor::from_vec(vec![1_i64, 0, 2]).into()];
    /// let x = RaggedTensor::from_dense_nested_lengths(dense, &lengths).unwrap();
    /// assert_eq!(x.to_string(), "[[[1], []], [[5, 6]]]");
    /// ```
    pub fn from_dense_nested_lengths(dense: impl Into<Value>, lengths: &[Value]) -> Result<RaggedTensor> {
        let dense = dense.into();
        check_ragged_rank(&dense, lengths.len())?;
        let [outer, inner @ ..] = lengths else { return Err(Error::internal("no lengths passed the check")) };
        let x = RaggedTensor::from_dense_lengths(dense, outer.clone())?;
        if inner.is_empty() {
            return Ok(x);
        }
        let values = RaggedTensor::from_dense_nested_lengths(x.values().clone(), inner)?;
        x.with_values(values.into_value())
    }

    /// The rows of a dense tensor without the `padding` at their ends; the innermost of `ragged_rank` axes loses it.
    ///
    /// An element of a row is padding if all that is in it equals `padding`. Errors: as [`from_dense`](RaggedTensor::from_dense).
    pub fn from_dense_padding(
        dense: impl Into<Value>,
        padding: impl Into<extenso_core::Arg>,
        ragged_rank: usize,
    ) -> Result<RaggedTensor> {
        let (dense, padding) = (dense.into(), padding.into());
        check_ragged_rank(&dense, ragged_rank)?;
        if ragged_rank > 1 {
            let x = RaggedTensor::of_uniform(&dense)?;
            let values = RaggedTensor::from_dense_padding(x.values().clone(), padding, ragged_rank - 1)?;
            return x.with_values(values.into_value());
        }
        let inner: Vec<i64> = (2..rank(&dense)?).map(int).collect();
        let kept = ops::any(ops::not_equal(&dense, padding)?, extenso_core::attrs::Axes::List(inner), false)?;
        let rows = RaggedTensor::of_uniform(&kept)?;
        let ends = ops::multiply(
            ops::cast(rows.values(), extenso_types::DType::I64)?,
            ops::add(ops::places_in_rows(rows.partition())?, 1)?,
        )?;
        let lengths = ops::maximum(ops::segment_max(ends, rows.partition())?, 0)?;
        RaggedTensor::from_dense_lengths(dense, lengths)
    }
}

/// The first two axes of a value as one, of the size `together` or -1 where that is not known; `inner` are the sizes of the others.
fn joined(value: &Value, partition: &RowPartition, together: i64, inner: &[Dim]) -> Result<Value> {
    if together < 0
        && let Some(records) = typed_ref::<StructTensor>(value)
    {
        // Each field has inner axes of its own, whose sizes may be unknown too.
        let field = |(name, field): &Field| {
            let sizes: Result<Vec<Dim>> = (2..rank(field)?).map(|axis| dim(field, axis)).collect();
            Ok((name.clone(), joined(field, partition, together, &sizes?)?))
        };
        let fields: Result<Vec<Field>> = records.fields().iter().map(field).collect();
        let shape = std::iter::once(partition.spec().nvalues).chain(inner.iter().copied());
        return Ok(StructTensor::new(Shape::new(shape), fields?)?.into_value());
    }
    let unknown = inner.iter().filter(|size| size.known().is_none()).count() + usize::from(together < 0);
    // Where a size is 0, the number of elements does not tell another.
    if unknown > 1 || (unknown == 1 && (together == 0 || inner.contains(&Dim::Known(0)))) {
        return ops::unpad_rows(value, partition, false);
    }
    let size = |d: &Dim| d.known().map_or(-1, int);
    let shape: Vec<i64> = std::iter::once(together).chain(inner.iter().map(size)).collect();
    ops::reshape(value, shape)
}

fn check_ragged_rank(dense: &Value, ragged_rank: usize) -> Result<()> {
    let rank = rank(dense)?;
    if ragged_rank >= 1 && ragged_rank < rank {
        return Ok(());
    }
    Err(Error::value(format!("ragged_rank is {ragged_rank} for a tensor of rank {rank}"))
        .wanted("at least 1, and less than the rank"))
}
