//! Choosing by a mask, and putting values beside one another along a new axis.

use super::RaggedTensor;
use crate::args::{int, typed};
use crate::axes::{dim, outer, rank, rows_of_one};
use extenso_core::reduce::normalize_axis;
use extenso_core::{ExtensionType, Value, ops};
use extenso_types::{DType, Error, Result};

/// The elements of `x` for which `mask` is true.
///
/// A mask of one axis picks along the first axis of `x`. A ragged mask, or one of more axes on ragged values, keeps the rows
/// and picks inside them. A dense mask of more axes on a dense tensor gives one list, as in NumPy.
/// Errors: a mask that is not of booleans, has no axis, or another size or rows than `x`.
///
/// ```
/// # use extenso_ext::{Literal, constant, ragged::boolean_mask, to_literal};
/// # use extenso_core::Tensor;
/// let list = |items: &[i64]| Literal::List(items.iter().map(|&i| Literal::Int(i)).collect());
/// let x = constant(Literal::List(vec![list(&[1, 2, 3]), list(&[4]), list(&[5, 6])])).unwrap();
/// let kept = boolean_mask(x, Tensor::bools(&[3], &[true, false, true]).unwrap()).unwrap();
/// assert_eq!(to_literal(&kept).unwrap().to_string(), "[[1, 2, 3], [5, 6]]");
/// ```
pub fn boolean_mask(x: impl Into<Value>, mask: impl Into<Value>) -> Result<Value> {
    masked(&x.into(), &mask.into()).map_err(|e| e.at("boolean_mask"))
}

fn masked(x: &Value, mask: &Value) -> Result<Value> {
    let as_rows = |value: &Value| typed(value).map_or_else(|| RaggedTensor::of_uniform(value), Ok);
    if typed::<RaggedTensor>(mask).is_some() {
        return items(&as_rows(x)?, &as_rows(mask)?);
    }
    let spec = mask.tensor().map_err(|e| e.at("argument 'mask'"))?.spec();
    if spec.dtype != DType::Bool {
        return Err(Error::dtype(format!("the mask is {spec}")).wanted("booleans"));
    }
    match rank(mask)? {
        0 => Err(Error::shape("the mask has no axis").wanted("a mask of the first axes")),
        1 => along(x, mask, 0),
        _ if typed::<RaggedTensor>(x).is_some() => items(&as_rows(x)?, &as_rows(mask)?),
        axes => along(&joined(x, mask, axes)?, &ops::reshape(mask, vec![-1_i64])?, 0),
    }
}

/// The elements of an axis for which a mask of one axis is true.
///
/// Errors: the mask has another size; while tracing this is found when the graph runs.
pub(super) fn along(x: &Value, mask: &Value, axis: usize) -> Result<Value> {
    let (given, wanted) = (outer(mask), if axis == 0 { outer(x) } else { Some(dim(x, axis)?) });
    let mut lengths = ops::cast(mask, DType::I64)?;
    if given != wanted {
        if !given.zip(wanted).is_some_and(|(given, wanted)| given.is_compatible_with(wanted)) {
            let text = |n: Option<extenso_types::Dim>| n.map_or("no".to_string(), |n| n.to_string());
            return Err(Error::shape(format!("the mask has {} elements, and the axis {}", text(given), text(wanted)))
                .wanted("one boolean for each element of the axis"));
        }
        if axis == 0 {
            // Aligning counts the mask by the rows of the value when the graph runs.
            let each = rows_of_one(x)?;
            lengths = ops::align_rows(lengths, &each, &each)?;
        }
    }
    // In rows of no or one value, the row of a value is a position that is picked.
    let picked = ops::value_rowids(ops::partition_from_lengths(lengths)?)?;
    ops::take(x, picked, int(axis))
}

/// What a mask keeps of each row.
fn items(x: &RaggedTensor, mask: &RaggedTensor) -> Result<Value> {
    let x = x.compact()?;
    let mask = mask.values_in(&x.partition)?;
    if typed::<RaggedTensor>(&mask).is_some() || rank(&mask)? > 1 {
        let as_rows = |value: &Value| typed(value).map_or_else(|| RaggedTensor::of_uniform(value), Ok);
        return Ok(x.with_values(items(&as_rows(&x.values)?, &as_rows(&mask)?)?)?.into_value());
    }
    if mask.tensor()?.dtype() != DType::Bool {
        return Err(Error::dtype(format!("the mask is {}", mask.tensor()?.spec())).wanted("booleans"));
    }
    let lengths = ops::segment_sum(ops::cast(&mask, DType::I64)?, &x.partition)?;
    let partition = ops::partition_from_lengths(lengths)?.partition()?.clone();
    Ok(RaggedTensor::from_partition(along(&x.values, &mask, 0)?, partition)?.into_value())
}

/// The dense value with its first `axes` axes, which are those of the mask, joined to one.
fn joined(x: &Value, mask: &Value, axes: usize) -> Result<Value> {
    let all = rank(x)?;
    if axes > all {
        return Err(Error::shape(format!("the mask has {axes} axes, and the value {all}")).wanted("no more axes"));
    }
    for axis in 0..axes {
        let (given, wanted) = (dim(mask, axis)?, dim(x, axis)?);
        if !given.is_compatible_with(wanted) {
            return Err(Error::shape(format!("axis {axis} of the mask has size {given}, and of the value {wanted}"))
                .wanted("the same sizes"));
        }
    }
    let inner: Result<Vec<i64>> = (axes..all).map(|axis| Ok(dim(x, axis)?.known().map_or(-1, int))).collect();
    let first: Option<usize> = (0..axes).map(|axis| dim(x, axis).ok()?.known()).product();
    ops::reshape(x, std::iter::once(first.map_or(-1, int)).chain(inner?).collect::<Vec<i64>>())
}

/// The values beside one another along a new axis at `axis` of the result; ragged where one is.
///
/// Errors: no value; ranks, dtypes or sizes that differ; an axis out of range.
///
/// ```
/// # use extenso_ext::ragged::stack;
/// # use extenso_core::{Tensor, Value};
/// let pair: Vec<Value> = vec![Tensor::from_vec(vec![1, 2]).into(), Tensor::from_vec(vec![3, 4]).into()];
/// assert_eq!(stack(&pair, 0).unwrap().to_string(), "[[1, 2], [3, 4]]");
/// assert_eq!(stack(&pair, 1).unwrap().to_string(), "[[1, 3], [2, 4]]");
/// ```
pub fn stack(values: &[Value], axis: i64) -> Result<Value> {
    let stacked = || {
        let first = values.first().ok_or_else(|| Error::value("no value is given").wanted("at least one value"))?;
        let at = int(normalize_axis(axis, rank(first)? + 1)?);
        let widened: Result<Vec<Value>> = values.iter().map(|value| ops::expand_dims(value, at)).collect();
        ops::concat(widened?, at)
    };
    stacked().map_err(|e| e.at("stack"))
}
