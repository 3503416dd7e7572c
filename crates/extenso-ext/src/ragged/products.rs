//! Products of matrices of which each has its own sizes: rows by rows.
//!
//! Matrices are filled up with zeros to the largest, multiplied as a batch, and cut. A zero more at the end of a chain of fused
//! multiply-adds changes no bit, so that each product is that of its own two matrices.

use super::RaggedTensor;
use super::dense::zero;
use crate::args::{int, typed};
use crate::axes::{dim, outer, rank, zeros};
use extenso_core::attrs::Attrs;
use extenso_core::ops::MatMul;
use extenso_core::{Arg, Call, ExtensionType, RowPartition, Tensor, Value, call_one, ops};
use extenso_types::{Dim, Error, Result};

/// `matmul` of matrices one by one, where the number of rows differs in `x` or `y`, or of columns.
///
/// Shapes: `x` is `[n, rows, k]` and `y` `[n, k, columns]`, any axis behind the first ragged; the result has the rows of `x` and the
/// columns of `y`. Errors: another rank; another number of matrices; sizes of `k` that differ, which while tracing is found when
/// the graph runs.
pub(super) fn one_by_one(call: &Call<'_>, x: &Value, y: &Value) -> Result<Value> {
    for (name, value) in [("x", x), ("y", y)] {
        if rank(value)? != 3 {
            return Err(Error::shape(format!("there are {} axes", rank(value)?))
                .at(format!("argument '{name}'"))
                .wanted("a matrix for each row: 3 axes"));
        }
    }
    let counts = (outer(x).unwrap_or_else(Dim::any), outer(y).unwrap_or_else(Dim::any));
    if !counts.0.is_compatible_with(counts.1) {
        return Err(Error::shape(format!("there are {} matrices and {}", counts.0, counts.1)).wanted("as many of both"));
    }
    let transposed = MatMul::of(call.attrs)?.transpose_y;
    let (left, right) = (Matrices::of(x)?, Matrices::of(y)?);
    let columns = if transposed { right.heights()? } else { right.widths()? };
    let (left, right) = if transposed { left.by_vectors(right)? } else { left.by_rows(right)? };
    let product = call_one(call.op, &[Arg::Value(left.dense()?), Arg::Value(right.dense()?)], call.attrs)?;
    cut(product, left.rows, columns)
}

/// Matrices that lie one behind the other.
struct Matrices {
    /// How many rows each has; none if all have as many.
    rows: Option<RowPartition>,
    /// Dense matrices, or the vectors of all matrices in which rows are ragged.
    values: Value,
}

/// How many columns each matrix has; none if all have as many.
type Columns = Option<Value>;

impl Matrices {
    fn of(value: &Value) -> Result<Matrices> {
        let Some(rows) = typed::<RaggedTensor>(value) else {
            return Ok(Matrices { rows: None, values: value.clone() });
        };
        let rows = rows.compact()?;
        Ok(Matrices { rows: Some(rows.partition().clone()), values: rows.values().clone() })
    }

    /// As rows, also if all have as many.
    fn in_rows(&self) -> Result<RaggedTensor> {
        match &self.rows {
            Some(rows) => RaggedTensor::from_partition(self.values.clone(), rows.clone()),
            None => RaggedTensor::of_uniform(&self.values),
        }
    }

    /// The number of rows of each matrix.
    fn heights(&self) -> Result<Columns> {
        self.rows.as_ref().map(ops::row_lengths).transpose()
    }

    /// The number of columns of each matrix.
    ///
    /// Errors: they differ in one.
    fn widths(&self) -> Result<Columns> {
        let (Some(vectors), Some(rows)) = (typed::<RaggedTensor>(&self.values), &self.rows) else { return Ok(None) };
        let widths = ops::maximum(ops::segment_max(vectors.row_lengths()?, rows)?, 0)?;
        vectors
            .values_in(&of_lengths(ops::gather_rows_of(&widths, rows)?)?)
            .map_err(|e| e.note("The rows of a matrix in argument 'y' are not of one length.").at("argument 'y'"))?;
        Ok(Some(widths))
    }

    /// These as they are multiplied by the rows of others, which have as many rows as the vectors here have elements.
    fn by_rows(self, other: Matrices) -> Result<(Matrices, Matrices)> {
        let Some(vectors) = typed::<RaggedTensor>(&self.values) else {
            let Some(rows) = &other.rows else { return Ok((self, other)) };
            let size = self.size()?;
            let wanted = of_lengths(ops::add(ops::zeros_like(ops::row_lengths(rows)?)?, size)?)?;
            let values = other.in_rows()?.values_in(&wanted).map_err(differ)?;
            return Ok((self, Matrices { rows: Some(wanted), values }));
        };
        let rows = self.in_rows()?;
        let heights = match &other.rows {
            Some(rows) => ops::row_lengths(rows)?,
            None => ops::add(zeros(&other.values)?, int(known(dim(&other.values, 1)?)?))?,
        };
        let wanted = of_lengths(ops::gather_rows_of(heights, rows.partition())?)?;
        let aligned = RaggedTensor::from_partition(vectors.values_in(&wanted).map_err(differ)?, wanted)?;
        let Some(of_other) = &other.rows else {
            let values = ops::pad_rows(
                aligned.values(),
                aligned.partition(),
                zero_of(aligned.values())?,
                Some(vec![int(known(dim(&other.values, 1)?)?)]),
            )?;
            return Ok((Matrices { rows: Some(rows.partition().clone()), values }, other));
        };
        // A matrix that nothing is multiplied by must not be the largest.
        let used = ops::greater(ops::row_lengths(rows.partition())?, 0)?;
        let other = RaggedTensor::from_partition(other.values.clone(), of_other.clone())?.only_where(used.tensor()?)?;
        let other = Matrices { rows: Some(other.partition().clone()), values: other.values().clone() };
        Ok((Matrices { rows: Some(rows.partition().clone()), values: aligned.into_value() }, other))
    }

    /// These as they are multiplied by the vectors of others, which are as long as those here.
    fn by_vectors(self, other: Matrices) -> Result<(Matrices, Matrices)> {
        let ragged = |side: &Matrices| typed::<RaggedTensor>(&side.values).is_some();
        match (ragged(&self), ragged(&other)) {
            (false, false) => Ok((self, other)),
            (true, false) => Ok((self.of_size(other.size()?)?, other)),
            (false, true) => {
                let size = self.size()?;
                other.of_size(size).map(|other| (self, other))
            }
            (true, true) => {
                // Vectors that nothing is multiplied by must not be the longest.
                let (left, right) = (self.where_others_are(&other)?, other.where_others_are(&self)?);
                let (of_left, of_right) = (left.size_of_each()?, right.size_of_each()?);
                Ok((left.of_sizes(of_right)?, right.of_sizes(of_left)?))
            }
        }
    }

    /// Ragged vectors that are all of one size, as a dense axis.
    fn of_size(self, size: i64) -> Result<Matrices> {
        let rows = self.in_rows()?;
        let each = of_lengths(ops::add(ops::multiply(ops::value_rowids(rows.partition())?, 0)?, size)?)?;
        let vectors = RaggedTensor::from_value(&self.values)?.values_in(&each).map_err(unequal)?;
        let values = ops::pad_rows(&vectors, each, zero_of(&vectors)?, Some(vec![size]))?;
        Ok(Matrices { rows: Some(rows.partition().clone()), values })
    }

    /// With empty vectors where another has no vector.
    fn where_others_are(&self, other: &Matrices) -> Result<Matrices> {
        let rows = self.in_rows()?;
        let used = ops::greater(ops::row_lengths(other.in_rows()?.partition())?, 0)?;
        let used = ops::gather_rows_of(used, rows.partition())?;
        let values = RaggedTensor::from_value(&self.values)?.only_where(used.tensor()?)?.into_value();
        Ok(Matrices { rows: Some(rows.partition().clone()), values })
    }

    /// How long the longest vector of each matrix is; nothing for a matrix without vectors.
    fn size_of_each(&self) -> Result<Value> {
        let lengths = RaggedTensor::from_value(&self.values)?.row_lengths()?;
        ops::maximum(ops::segment_max(lengths, self.in_rows()?.partition())?, 0)
    }

    /// The vectors of each matrix, which are as long as that of another says.
    fn of_sizes(self, sizes: Value) -> Result<Matrices> {
        let rows = self.in_rows()?;
        let each = of_lengths(ops::gather_rows_of(sizes, rows.partition())?)?;
        let vectors = RaggedTensor::from_value(&self.values)?.values_in(&each).map_err(unequal)?;
        let values = RaggedTensor::from_partition(vectors, each)?.into_value();
        Ok(Matrices { rows: Some(rows.partition().clone()), values })
    }

    /// The size of the vectors.
    fn size(&self) -> Result<i64> {
        let axis = if self.rows.is_some() { 1 } else { 2 };
        known(dim(&self.values, axis)?).map(int)
    }

    /// With zeros up to the largest.
    fn dense(&self) -> Result<Value> {
        let Some(rows) = &self.rows else { return Ok(self.values.clone()) };
        let vectors = match typed::<RaggedTensor>(&self.values) {
            Some(vectors) => filled(vectors.values(), vectors.partition())?,
            None => self.values.clone(),
        };
        filled(&vectors, rows)
    }
}

fn filled(values: &Value, rows: &RowPartition) -> Result<Value> {
    ops::pad_rows(values, rows, zero_of(values)?, None)
}

fn zero_of(values: &Value) -> Result<Value> {
    let dtype = values.tensor().map(Tensor::dtype).map_err(|_| {
        Error::dtype("the elements are no plain numbers").wanted("numbers that are all there, in rows of vectors")
    })?;
    zero(dtype)
}

fn of_lengths(lengths: Value) -> Result<RowPartition> {
    ops::partition_from_lengths(lengths)?.partition().cloned()
}

fn known(size: Dim) -> Result<usize> {
    size.known().ok_or_else(|| Error::shape("a size of the matrices is not known while tracing").wanted("a known size"))
}

fn unequal(error: Error) -> Error {
    error.note("The vectors of 'x' and of 'y' must have as many elements.")
}

fn differ(error: Error) -> Error {
    error.note("The vectors of 'x' must have as many elements as the matrices of 'y' have rows.")
}

/// The products without what was filled up.
fn cut(product: Value, rows: Option<RowPartition>, columns: Columns) -> Result<Value> {
    let rows = match (rows, &columns) {
        (None, None) => return Ok(product),
        (None, Some(_)) => RaggedTensor::of_uniform(&product)?,
        (Some(rows), _) => RaggedTensor::from_partition(ops::unpad_rows(product, &rows, false)?, rows)?,
    };
    let Some(columns) = columns else { return Ok(rows.into_value()) };
    let columns = of_lengths(ops::gather_rows_of(columns, rows.partition())?)?;
    let values = ops::unpad_rows(rows.values(), &columns, false)?;
    Ok(rows.with_values(RaggedTensor::from_partition(values, columns)?.into_value())?.into_value())
}
