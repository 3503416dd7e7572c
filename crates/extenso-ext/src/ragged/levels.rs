//! Levels of nesting: counting, numbering, removing and adding them, on ragged and dense values alike.

use super::{RaggedTensor, common_index, cut_as};
use crate::args::{int, typed, typed_arg};
use crate::axes::{dim, outer, positions, rank, zeros, zeros_of};
use crate::masked::{MaskedTensor, of_elements};
use crate::missing::as_rows;
use crate::structs::masked_by;
use extenso_core::attrs::Axes;
use extenso_core::reduce::normalize_axis;
use extenso_core::{Arg, ExtensionType, Scalar, Tensor, Value, ops};
use extenso_types::{Dim, Error, Result};
use std::cmp::Ordering;

impl RaggedTensor {
    /// The values below every ragged axis that are in rows, one after the other.
    ///
    /// Errors: none on values that fit.
    pub fn flat_values(&self) -> Result<Value> {
        let values = self.compact()?.values;
        match typed::<RaggedTensor>(&values) {
            Some(inner) => inner.flat_values(),
            None => Ok(values),
        }
    }

    /// The row splits of each ragged axis over the values that are in rows, the outermost first.
    ///
    /// Errors: none on values that fit.
    pub fn nested_row_splits(&self) -> Result<Vec<Tensor>> {
        let x = self.compact()?;
        let mut splits = vec![x.row_splits()?];
        if let Some(inner) = typed::<RaggedTensor>(&x.values) {
            splits.extend(inner.nested_row_splits()?);
        }
        Ok(splits)
    }

    /// For each value the row that it is in, as i64.
    ///
    /// Errors: none on data.
    pub fn value_rowids(&self) -> Result<Tensor> {
        ops::value_rowids(&self.partition)?.tensor().cloned()
    }

    /// The sizes of the smallest dense tensor that holds the rows, as a vector of i64.
    ///
    /// Errors: a uniform axis whose size is not known while tracing.
    ///
    /// ```
    /// # use extenso_ext::RaggedTensor;
    /// # use extenso_core::Tensor;
    /// let x = RaggedTensor::from_row_lengths(Tensor::from_vec(vec![1, 2, 3]), &Tensor::from_vec(vec![2_i64, 0, 1])).unwrap();
    /// assert_eq!(x.bounding_shape().unwrap().to_string(), "[3, 2]");
    /// ```
    pub fn bounding_shape(&self) -> Result<Tensor> {
        let mut sizes = vec![ops::sum(ops::add(zeros(&self.clone().into_value())?, 1)?, 0, true)?];
        push_inner_sizes(&self.clone().into_value(), &mut sizes)?;
        ops::concat(sizes, 0)?.tensor().cloned()
    }
}

/// The sizes of all axes behind the first, each as a vector of one.
fn push_inner_sizes(value: &Value, sizes: &mut Vec<Value>) -> Result<()> {
    if let Some(x) = typed::<RaggedTensor>(value) {
        let x = x.compact()?;
        sizes.push(ops::maximum(ops::max(x.row_lengths()?, 0, true)?, 0)?);
        return push_inner_sizes(&x.values, sizes);
    }
    for axis in 1..rank(value)? {
        let Dim::Known(n) = dim(value, axis)? else {
            return Err(Error::shape("a uniform axis has a size that is not known while tracing")
                .wanted("known sizes of uniform axes"));
        };
        sizes.push(Tensor::from_vec(vec![int(n)]).into());
    }
    Ok(())
}

/// The number of elements of each list along `axis`; the number of rows for axis 0. Awkward Array's name.
///
/// Shapes: the axes before `axis` of `x`; i64. Errors: an axis out of range.
///
/// ```
/// # use extenso_ext::{Literal, constant, ragged::num, to_literal};
/// let list = |items: &[i64]| Literal::List(items.iter().map(|&i| Literal::Int(i)).collect());
/// let x = constant(Literal::List(vec![list(&[1, 2]), list(&[]), list(&[3])])).unwrap();
/// assert_eq!(to_literal(&num(x.clone(), 1).unwrap()).unwrap().to_string(), "[2, 0, 1]");
/// assert_eq!(to_literal(&num(x, 0).unwrap()).unwrap().to_string(), "3");
/// ```
pub fn num(x: impl Into<Value>, axis: i64) -> Result<Value> {
    let x = x.into();
    let at = |x: &Value| counts(x, normalize_axis(axis, rank(x)?)?);
    at(&x).map_err(|e| e.at_part("num"))
}

fn counts(x: &Value, axis: usize) -> Result<Value> {
    if let Some(masked) = missing_lists(x, axis)? {
        return Ok(MaskedTensor::new(counts(masked.values(), axis)?, masked.mask().clone())?.into_value());
    }
    match (axis, typed::<RaggedTensor>(x)) {
        (0, _) => ops::sum(ops::add(zeros(x)?, 1)?, 0, false),
        (1, Some(ragged)) => ops::row_lengths(ragged.partition()),
        (inner, Some(ragged)) => Ok(ragged.with_values(counts(ragged.values(), inner - 1)?)?.into_value()),
        (axis, None) => match dim(x, axis)?.known() {
            Some(n) => ops::add(zeros_of(x, axis)?, int(n)),
            None => ops::sum(ops::add(zeros_of(x, axis + 1)?, 1)?, int(axis), false),
        },
    }
}

/// Lists along an axis of which some are missing as a whole.
fn missing_lists(x: &Value, axis: usize) -> Result<Option<MaskedTensor>> {
    match typed::<MaskedTensor>(x) {
        Some(masked) => Ok((masked.mask_rank()? <= axis).then_some(masked)),
        None => Ok(None),
    }
}

/// The position of each element in its list along `axis`. Awkward Array's name.
///
/// Shapes: the axes of `x` up to and with `axis`; i64. Errors: an axis out of range.
///
/// ```
/// # use extenso_ext::{Literal, constant, ragged::local_index, to_literal};
/// let list = |items: &[i64]| Literal::List(items.iter().map(|&i| Literal::Int(i)).collect());
/// let x = constant(Literal::List(vec![list(&[7, 7]), list(&[]), list(&[7])])).unwrap();
/// assert_eq!(to_literal(&local_index(x, -1).unwrap()).unwrap().to_string(), "[[0, 1], [], [0]]");
/// ```
pub fn local_index(x: impl Into<Value>, axis: i64) -> Result<Value> {
    let x = x.into();
    let at = |x: &Value| places(x, normalize_axis(axis, rank(x)?)?);
    at(&x).map_err(|e| e.at_part("local_index"))
}

fn places(x: &Value, axis: usize) -> Result<Value> {
    if let Some(masked) = missing_lists(x, axis)? {
        return Ok(MaskedTensor::new(places(masked.values(), axis)?, masked.mask().clone())?.into_value());
    }
    match (axis, typed::<RaggedTensor>(x)) {
        (0, _) => positions(x),
        (1, Some(ragged)) => Ok(ragged.with_values(ops::places_in_rows(ragged.partition())?)?.into_value()),
        (inner, Some(ragged)) => Ok(ragged.with_values(places(ragged.values(), inner - 1)?)?.into_value()),
        (axis, None) => {
            let zeros = zeros_of(x, axis + 1)?;
            let along = match dim(x, axis)?.known() {
                Some(n) => crate::axes::counted(n)?,
                None => positions(&ops::sum(&zeros, Axes::List((0..int(axis)).collect()), false)?)?,
            };
            ops::add(zeros, along)
        }
    }
}

/// The value without the level of nesting at `axis`: its lists are joined along the axis before. Without an axis, one list
/// of everything.
///
/// Errors: axis 0, or one out of range; while tracing, dense axes of several unknown sizes.
///
/// ```
/// # use extenso_ext::{Literal, constant, ragged::flatten, to_literal};
/// let list = |items: &[i64]| Literal::List(items.iter().map(|&i| Literal::Int(i)).collect());
/// let x = constant(Literal::List(vec![list(&[1, 2]), list(&[]), list(&[3])])).unwrap();
/// assert_eq!(to_literal(&flatten(x, Some(1)).unwrap()).unwrap().to_string(), "[1, 2, 3]");
/// ```
pub fn flatten(x: impl Into<Value>, axis: Option<i64>) -> Result<Value> {
    let x = x.into();
    let flat = || match axis {
        None => flatten_all(&x),
        Some(axis) => match normalize_axis(axis, rank(&x)?)? {
            0 => Err(Error::value("axis 0 has no axis before it").wanted("axis 1 or more, or none for one list")),
            at => flatten_at(&x, at),
        },
    };
    flat().map_err(|e| e.at_part("flatten"))
}

fn flatten_all(x: &Value) -> Result<Value> {
    if let Some(rows) = typed::<MaskedTensor>(x).map(|x| x.rows_there()).transpose()?.flatten() {
        return flatten_all(&rows.into_value());
    }
    if let Some(there) = lists_there(x)? {
        return flatten_all(&there);
    }
    let flat = typed::<RaggedTensor>(x).map_or_else(|| Ok(x.clone()), |ragged| ragged.flat_values())?;
    if typed::<RaggedTensor>(x).is_some() && typed::<MaskedTensor>(&flat).is_some() {
        return flatten_all(&flat);
    }
    if rank(&flat)? == 1 { Ok(flat) } else { ops::reshape(flat, vec![-1_i64]) }
}

fn flatten_at(x: &Value, axis: usize) -> Result<Value> {
    if let Some(masked) = typed::<MaskedTensor>(x) {
        let rows = masked.rows_there()?.map(ExtensionType::into_value);
        return match (masked.mask_rank()?.cmp(&axis), rows) {
            (Ordering::Less, rows) => {
                masked_by(flatten_at(rows.as_ref().unwrap_or(masked.values()), axis)?, masked.mask())
            }
            (Ordering::Equal, Some(rows)) => flatten_at(&rows, axis),
            // What is missing as a whole has no elements.
            (Ordering::Equal, None) if axis == 1 => match lists_there(x)? {
                Some(there) => flatten_at(&there, axis),
                None => merge_axes(x, axis),
            },
            (Ordering::Equal, None) => flatten_at(&RaggedTensor::of_uniform(x)?.into_value(), axis),
            (Ordering::Greater, _) => merge_axes(x, axis),
        };
    }
    let Some(ragged) = typed::<RaggedTensor>(x) else { return merge_axes(x, axis) };
    match axis {
        1 => Ok(ragged.compact()?.values),
        2 => {
            let outer = ragged.compact()?;
            let inner = match typed::<MaskedTensor>(&outer.values) {
                Some(lists) if lists.mask_rank()? == 1 => {
                    as_rows(lists.values())?.compact()?.only_where(lists.mask())?
                }
                Some(_) | None => as_rows(&outer.values)?.compact()?,
            };
            let lengths = ops::segment_sum(inner.row_lengths()?, &outer.partition)?;
            let index = common_index([&inner.partition, &outer.partition].into_iter());
            Ok(RaggedTensor::from_partition(inner.values, cut_as(lengths, index)?)?.into_value())
        }
        inner => Ok(ragged.with_values(flatten_at(ragged.values(), inner - 1)?)?.into_value()),
    }
}

/// Of dense lists of which some are missing as a whole, those that are there, as one list; none if no list may be missing.
fn lists_there(x: &Value) -> Result<Option<Value>> {
    let Some(masked) = typed::<MaskedTensor>(x) else { return Ok(None) };
    if masked.mask_rank()? == 0 && rank(masked.values())? > 0 {
        return of_elements(x.clone()).map(Some);
    }
    if masked.mask_rank()? >= rank(masked.values())? {
        return Ok(None);
    }
    ops::boolean_mask(masked.values(), masked.mask(), 0).map(Some)
}

/// The dense value with `axis` joined to the one before.
fn merge_axes(x: &Value, axis: usize) -> Result<Value> {
    let sizes: Result<Vec<Option<usize>>> = (0..rank(x)?).map(|axis| Ok(dim(x, axis)?.known())).collect();
    let mut sizes = sizes?;
    let merged = sizes[axis - 1].zip(sizes[axis]).map(|(a, b)| a.saturating_mul(b));
    sizes.splice(axis - 1..=axis, [merged]);
    let unknown = sizes.iter().filter(|size| size.is_none()).count();
    // Where a size is 0, the number of elements does not tell another.
    if unknown > 1 || (unknown == 1 && sizes.contains(&Some(0))) {
        let merged = axis - 1;
        if merged == 0 {
            return Ok(RaggedTensor::of_uniform(x)?.values);
        }
        let behind = axis + 1..=sizes.len();
        let both_first: Vec<i64> = [merged, axis].into_iter().chain(0..merged).chain(behind).map(int).collect();
        let back: Vec<i64> = (1..=merged).chain([0]).chain(axis..sizes.len()).map(int).collect();
        return ops::transpose(RaggedTensor::of_uniform(&ops::transpose(x, Some(both_first))?)?.values, Some(back));
    }
    ops::reshape(x, sizes.into_iter().map(|n| n.map_or(-1, int)).collect::<Vec<i64>>())
}

/// The value cut into lists of `counts` elements; one number cuts it into lists of that length. The reverse of `flatten`.
///
/// Where a count is missing, so is the list. Errors: counts that do not add up to the number of elements, are negative, or are no
/// integers.
///
/// ```
/// # use extenso_ext::{ragged::unflatten, to_literal};
/// # use extenso_core::Tensor;
/// let x = unflatten(Tensor::from_vec(vec![1, 2, 3]), Tensor::from_vec(vec![2_i64, 0, 1])).unwrap();
/// assert_eq!(to_literal(&x).unwrap().to_string(), "[[1, 2], [], [3]]");
/// ```
pub fn unflatten(flat: impl Into<Value>, counts: impl Into<Arg>) -> Result<Value> {
    let counts = counts.into();
    let cut = || match typed_arg::<MaskedTensor>(&counts) {
        Some(masked) => masked_by(cut(flat.into(), &Arg::Value(masked.filled(0)?))?.into_value(), masked.mask()),
        None => Ok(cut(flat.into(), &counts)?.into_value()),
    };
    cut().map_err(|e| e.at_part("unflatten"))
}

fn cut(flat: Value, counts: &Arg) -> Result<RaggedTensor> {
    match counts {
        Arg::Scalar(Scalar::Int(n)) => RaggedTensor::of_length(flat, *n, None, "counts"),
        Arg::Value(Value::Tensor(counts)) if counts.shape().rank() == Some(0) => {
            let length = ops::whole(counts)?;
            if length.tensor()?.symbol().is_some() {
                return by_length(flat, &length);
            }
            let length = length.tensor()?.as_slice::<i64>()?.first().copied();
            RaggedTensor::of_length(flat, length.unwrap_or(0), None, "counts")
        }
        Arg::Value(Value::Tensor(counts)) => by_counts(flat, counts),
        Arg::Value(_) | Arg::Scalar(_) | Arg::List(_) => {
            Err(Error::dtype("the counts are no integers").wanted("one integer, or a vector of them"))
        }
    }
}

/// Rows of one length that is seen when the graph runs.
fn by_length(flat: Value, length: &Value) -> Result<RaggedTensor> {
    let count = ops::sum(ops::ones_like(positions(&flat)?)?, 0, true)?;
    let rows = ops::partition_from_lengths(ops::floor_divide(count, ops::maximum(length, 1)?)?)?;
    by_counts(flat, ops::add(ops::zeros_like(ops::places_in_rows(rows)?)?, length)?.tensor()?)
}

fn by_counts(flat: Value, counts: &Tensor) -> Result<RaggedTensor> {
    let partition = ops::partition_from_lengths(counts).map_err(|e| e.at("counts"))?.partition()?.clone();
    if let (Some(given), Ok(rows)) = (outer(&flat).and_then(Dim::known), partition.data())
        && given != rows.nvalues()
    {
        return Err(Error::value(format!("the counts add up to {}, and there are {given} elements", rows.nvalues()))
            .wanted("counts that add up to the number of elements"));
    }
    RaggedTensor::from_partition(flat, partition)
}
