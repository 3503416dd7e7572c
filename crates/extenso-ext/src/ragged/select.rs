//! Choosing by a mask.

use super::{RaggedTensor, cut_like};
use crate::args::{answer, answer_ext, flat, int, typed, typed_arg};
use crate::axes::{dim, is_ragged, outer, rank, rows_of_one};
use crate::masked::{MaskedTensor, mask_may_be_missing};
use extenso_core::attrs::Attrs;
use extenso_core::ops::OneAxis;
use extenso_core::reduce::normalize_axis;
use extenso_core::{Answer, Arg, Call, ExtensionType, Value, call_one, ops};
use extenso_types::{DType, Error, Result};

/// `boolean_mask` of ragged values, or by a ragged mask.
///
/// A mask of one axis picks along an axis. A ragged mask, or one of more axes on ragged values, keeps the rows and picks inside
/// them.
/// Errors: a mask that is not of booleans, has no axis, or another size or rows than the value; a mask of more axes behind the
/// first; a ragged axis.
pub(crate) fn boolean_mask(call: &Call<'_>) -> Answer {
    let [Arg::Value(x), Arg::Value(mask)] = flat(call) else { return Ok(None) };
    let axis = OneAxis::of(call.attrs)?.axis;
    let axis = if axis == 0 { 0 } else { normalize_axis(axis, rank(x)?)? };
    if axis == 0 {
        return answer(masked(x, mask)?);
    }
    if mask.tensor().is_ok() && rank(mask)? == 1 && !is_ragged(x, axis) {
        return answer(along(x, mask, axis)?);
    }
    Err(Error::value(format!("axis is {axis}"))
        .wanted("0, or a mask of one axis that is not ragged: rows are masked from the first axis on"))
}

/// `check_all` looks at the conditions in rows alone.
pub(super) fn check_all(call: &Call<'_>) -> Answer {
    let [x, conditions] = flat(call) else { return Ok(None) };
    let conditions = match typed_arg::<RaggedTensor>(conditions) {
        Some(conditions) => Arg::from(conditions.compact()?.values()),
        None => conditions.clone(),
    };
    match typed_arg::<RaggedTensor>(x) {
        Some(x) => {
            let x = x.compact()?;
            answer_ext(x.with_values(call_one(call.op, &[Arg::from(x.values()), conditions], call.attrs)?)?)
        }
        None => answer(call_one(call.op, &[x.clone(), conditions], call.attrs)?),
    }
}

fn may_be_missing(mask: &Value) -> bool {
    typed::<MaskedTensor>(mask).is_some()
        || typed::<RaggedTensor>(mask).is_some_and(|rows| may_be_missing(rows.values()))
}

fn masked(x: &Value, mask: &Value) -> Result<Value> {
    let as_rows = |value: &Value| typed(value).map_or_else(|| RaggedTensor::of_uniform(value), Ok);
    if may_be_missing(mask) {
        return Err(mask_may_be_missing());
    }
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
        _ => items(&as_rows(x)?, &as_rows(mask)?),
    }
}

/// The elements of an axis for which a mask of one axis is true.
///
/// Errors: the mask has another size; while tracing this is found when the graph runs.
fn along(x: &Value, mask: &Value, axis: usize) -> Result<Value> {
    let (given, wanted) = (outer(mask), if axis == 0 { outer(x) } else { Some(dim(x, axis)?) });
    if given == wanted {
        let picked = ops::reshape(ops::argwhere(mask)?, vec![-1_i64])?;
        return ops::take(x, picked, int(axis));
    }
    if !given.zip(wanted).is_some_and(|(given, wanted)| given.is_compatible_with(wanted)) {
        let text = |n: Option<extenso_types::Dim>| n.map_or("no".to_string(), |n| n.to_string());
        return Err(Error::shape(format!("the mask has {} elements, and the axis {}", text(given), text(wanted)))
            .wanted("one boolean for each element of the axis"));
    }
    let mut lengths = ops::cast(mask, DType::I64)?;
    if axis == 0 {
        // Aligning counts the mask by the rows of the value when the graph runs.
        let each = rows_of_one(x)?;
        lengths = ops::align_rows(lengths, &each, &each)?;
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
        if typed::<MaskedTensor>(&x.values).is_some_and(|inner| typed::<RaggedTensor>(inner.values()).is_some()) {
            return Ok(x.with_values(ops::boolean_mask(&x.values, &mask, 0)?)?.into_value());
        }
        let as_rows = |value: &Value| typed(value).map_or_else(|| RaggedTensor::of_uniform(value), Ok);
        return Ok(x.with_values(items(&as_rows(&x.values)?, &as_rows(&mask)?)?)?.into_value());
    }
    if mask.tensor()?.dtype() != DType::Bool {
        return Err(Error::dtype(format!("the mask is {}", mask.tensor()?.spec())).wanted("booleans"));
    }
    let lengths = ops::segment_sum(&mask, &x.partition)?;
    let partition = cut_like(lengths, &x.partition)?;
    Ok(RaggedTensor::from_partition(along(&x.values, &mask, 0)?, partition)?.into_value())
}
