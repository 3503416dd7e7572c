//! Ragged values as dense tensors: rows are filled up, or cropped.

use super::RaggedTensor;
use crate::args::{int, typed};
use crate::axes::{dim, one_row, outer, positions, rank, zeros_of};
use crate::masked::MaskedTensor;
use crate::meaning::nested;
use crate::missing::one_more;
use crate::structs::masked_by;
use extenso_core::{Arg, ExtensionType, Tensor, Value, ops, strengthen};
use extenso_types::{DType, DTypeKind, Dim, Error, Result};

/// The value as a dense tensor: rows are filled up to the longest with `fill`, which is zero, false or an empty string if it
/// is not given; elements that have no zero, such as times and records, are missing there. What is missing stays missing, rows
/// as well. `shape` pads and crops further: one size for each axis, none to leave it as it comes.
///
/// Errors: a shape of another rank, or with a negative size; a fill of another dtype or type.
///
/// ```
/// # use extenso_ext::{Literal, constant, ragged::to_dense, to_literal};
/// let list = |items: &[i64]| Literal::List(items.iter().map(|&i| Literal::Int(i)).collect());
/// let x = constant(Literal::List(vec![list(&[0, 1, 2]), list(&[]), list(&[3])])).unwrap();
/// let dense = to_dense(x.clone(), Some(5.into()), None).unwrap();
/// assert_eq!(dense.to_string(), "[[0, 1, 2], [5, 5, 5], [3, 5, 5]]");
/// let cropped = to_dense(x, None, Some(&[Some(2), Some(2)])).unwrap();
/// assert_eq!(cropped.to_string(), "[[0, 1], [0, 0]]");
/// ```
pub fn to_dense(x: impl Into<Value>, fill: Option<Arg>, shape: Option<&[Option<i64>]>) -> Result<Value> {
    let x = x.into();
    let dense = || {
        if let Some(masked) = typed::<MaskedTensor>(&x)
            && let Some(rows) = masked.rows_there()?
        {
            return rows_to_dense(&masked, &rows, fill, shape);
        }
        let rank = rank(&x)?;
        let sizes = shape.map_or_else(|| vec![None; rank], <[_]>::to_vec);
        check_sizes(&sizes, rank)?;
        if let elements @ Value::Ext(_) = nested::innermost(&x) {
            return by_numbers(&x, &elements, fill, shape);
        }
        let fill = fill_of(&x, fill)?;
        let dense = filled(&x, &fill, &sizes)?;
        resize_outer(dense, &fill, sizes.first().copied().flatten())
    };
    dense().map_err(|e| e.at_part("to_dense"))
}

/// Rows that are missing as a whole stay so; what is put behind the others is there.
fn rows_to_dense(
    masked: &MaskedTensor,
    rows: &RaggedTensor,
    fill: Option<Arg>,
    shape: Option<&[Option<i64>]>,
) -> Result<Value> {
    let values = rows.to_dense(fill, shape)?;
    let outer = shape.and_then(|sizes| sizes.first().copied().flatten());
    let there = ops::cast(Tensor::scalar(1_i64), DType::Bool)?;
    let mask = resize_outer(masked.mask().clone().into(), &there, outer)?;
    masked_by(values, mask.tensor()?)
}

/// Elements that have no zero, such as times and records: their numbers as a dense tensor, and what these are of. Without a fill nothing is
/// behind the rows.
fn by_numbers(x: &Value, elements: &Value, fill: Option<Arg>, shape: Option<&[Option<i64>]>) -> Result<Value> {
    let axes = rank(elements)?;
    let in_a_row = |x: &Value| if axes == 1 { Ok(x.clone()) } else { ops::reshape(x, vec![-1_i64]) };
    let numbers = |x: &Value| match axes {
        1 => positions(x),
        _ => ops::reshape_like(positions(&in_a_row(x)?)?, zeros_of(x, axes)?),
    };
    let numbers = to_dense(nested::below(x, &numbers)?, Some(Arg::from(-1_i64)), shape)?;
    let (at, own) = match typed::<MaskedTensor>(&numbers) {
        Some(masked) => (masked.filled(-1_i64)?, Some(masked.mask().clone())),
        None => (numbers, None),
    };
    let there = ops::greater_equal(&at, 0)?;
    let row = in_a_row(elements)?;
    let count = ops::sum(ops::ones_like(positions(&row)?)?, 0, false)?;
    let found = ops::take(one_more(&row)?, ops::where_(&there, at, count)?, 0)?;
    match (fill, own) {
        (None, _) => masked_by(found, there.tensor()?),
        (Some(fill), None) => ops::where_(there, found, fill),
        (Some(fill), Some(own)) => masked_by(ops::where_(there, found, fill)?, &own),
    }
}

fn check_sizes(sizes: &[Option<i64>], rank: usize) -> Result<()> {
    if sizes.len() != rank {
        return Err(Error::shape(format!("the shape has {} sizes, and the value {rank} axes", sizes.len()))
            .wanted("one size for each axis, or none"));
    }
    match sizes.iter().flatten().find(|&&n| n < 0) {
        Some(n) => Err(Error::value(format!("a size of the shape is {n}")).wanted("sizes that are not negative")),
        None => Ok(()),
    }
}

/// The fill in the dtype of the innermost values.
fn fill_of(x: &Value, fill: Option<Arg>) -> Result<Value> {
    let dtype = innermost(x)?;
    match fill {
        Some(Arg::Value(value)) => Ok(value),
        Some(Arg::Scalar(scalar)) => Ok(strengthen(&scalar, Some(dtype))?.into()),
        Some(Arg::List(_)) => Err(Error::dtype("the fill is a list").wanted("one number or string")),
        None => zero(dtype),
    }
}

fn innermost(x: &Value) -> Result<DType> {
    match typed::<RaggedTensor>(x) {
        Some(ragged) => innermost(ragged.values()),
        None => match typed::<MaskedTensor>(x) {
            Some(masked) => innermost(masked.values()),
            None => x.tensor().map(Tensor::dtype),
        },
    }
}

/// Zero, false or the empty text of a dtype.
///
/// Errors: boxed values.
pub(crate) fn zero(dtype: DType) -> Result<Value> {
    match (dtype, dtype.kind()) {
        (DType::Bytes, _) => Ok(Tensor::byte_strings(&[], &[""])?.into()),
        (_, DTypeKind::Text) => Ok(Tensor::strings(&[], &[""])?.into()),
        (_, DTypeKind::Variant) => Err(Error::dtype("boxed values have no zero to fill rows with").wanted("a fill")),
        (_, DTypeKind::Bool | DTypeKind::Signed | DTypeKind::Unsigned | DTypeKind::Float) => {
            ops::cast(Tensor::scalar(0_i64), dtype)
        }
    }
}

/// The value with every axis behind the first dense and of its size.
fn filled(x: &Value, fill: &Value, sizes: &[Option<i64>]) -> Result<Value> {
    if let Some(masked) = typed::<MaskedTensor>(x)
        && let Some(rows) = masked.rows_there()?
    {
        return masked_by(filled(&rows.into_value(), fill, sizes)?, masked.mask());
    }
    let ragged = match typed::<RaggedTensor>(x) {
        Some(ragged) => ragged,
        None if has_sizes(x, sizes)? => return Ok(x.clone()),
        None => RaggedTensor::of_uniform(x)?,
    };
    let values = filled(ragged.values(), fill, sizes.get(1..).unwrap_or_default())?;
    let width = sizes.get(1).copied().flatten().map(|n| vec![n]);
    ops::pad_rows(values, ragged.partition(), fill, width)
}

/// Whether the axes of a dense value behind the first have the sizes that are asked for.
fn has_sizes(x: &Value, sizes: &[Option<i64>]) -> Result<bool> {
    for (axis, size) in sizes.iter().enumerate().skip(1) {
        if size.is_some() && dim(x, axis)?.known().map(int) != *size {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The rows themselves as the values of one row, which is filled up or cropped.
fn resize_outer(x: Value, fill: &Value, size: Option<i64>) -> Result<Value> {
    let Some(size) = size.filter(|size| outer(&x).and_then(Dim::known).map(int) != Some(*size)) else { return Ok(x) };
    let partition = one_row(&x)?;
    ops::squeeze(ops::pad_rows(x, partition, fill, Some(vec![size]))?, vec![0_i64])
}

impl RaggedTensor {
    /// The rows as a dense tensor; see [`to_dense`].
    ///
    /// Errors: as there.
    pub fn to_dense(&self, fill: Option<Arg>, shape: Option<&[Option<i64>]>) -> Result<Value> {
        to_dense(self.clone().into_value(), fill, shape)
    }
}
