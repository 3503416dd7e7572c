//! Elements of each row by their positions in it.

use super::RaggedTensor;
use crate::args::{typed, typed_ref};
use crate::axes::{one_size, rank};
use crate::lists::spread;
use crate::masked::{MaskedTensor, rows_there};
use crate::missing::mask;
use crate::structs::masked_by;
use extenso_core::{Arg, ExtensionType, Tensor, Value, ops};
use extenso_types::{DType, Error, Result};

/// The elements along the ragged axis `axis` at `indices`, which say positions for each row; negative ones count from its end.
///
/// Shapes: `indices` have the axes and rows of `x` before `axis`, and one more; the result has their rows there. What is missing
/// of the indices is missing in the result, and names nothing: its row may be empty.
/// Errors: other rows; a position outside its row. While tracing both are found when the graph runs.
pub(crate) fn take_in_rows(x: &Value, indices: &Value, axis: usize) -> Result<Value> {
    if axis > 1
        && let Some((args, there)) = rows_there(&[Arg::from(x), Arg::from(indices)])?
        && let [x, indices] = &args[..]
    {
        return masked_by(take_in_rows(x.value()?, indices.value()?, axis)?, &there);
    }
    if let Some(named) = typed_ref::<MaskedTensor>(indices)
        && named.mask_rank()? <= axis
    {
        let there = Value::from(named.mask().clone());
        if named.mask_rank()? > 1 {
            return mask(&take_in_rows(x, named.values(), axis)?, &there);
        }
        // A list that is missing names nothing, whatever lies there.
        let lists = match named.values() {
            indices @ Value::Tensor(_) if one_size(x, 1).is_some_and(|size| size > 0) => {
                ops::where_(named.wide_mask()?, indices, 0)?
            }
            indices => as_rows(indices)?.only_where(named.mask())?.into_value(),
        };
        return mask(&take_in_rows(x, &lists, axis)?, &there);
    }
    if let Some(masked) = typed_ref::<MaskedTensor>(x) {
        let rows = match masked.rows_there()? {
            None if masked.mask_rank()? == 1 => Some(as_rows(masked.values())?.only_where(masked.mask())?),
            rows => rows,
        };
        if let Some(rows) = rows.filter(|_| axis == 1) {
            return mask(&of_rows_there(&rows, masked.mask(), indices)?, &masked.mask().clone().into());
        }
        let values = take_in_rows(masked.values(), indices, axis)?;
        // A mask of elements moves with them, one of whole rows stays.
        let there = Value::from(masked.mask().clone());
        return match masked.mask_rank()? > axis {
            true => mask(&values, &take_in_rows(&there, indices, axis)?),
            false => mask(&values, &there),
        };
    }
    let rows =
        typed_ref::<RaggedTensor>(x).map_or_else(|| RaggedTensor::of_uniform(x), |rows| Ok(rows.into_owned()))?;
    if axis > 1 {
        let rows = rows.compact()?;
        let inner = as_rows(indices)?.values_in(rows.partition()).map_err(|e| e.at("indices"))?;
        return Ok(rows.with_values(take_in_rows(rows.values(), &inner, axis - 1)?)?.into_value());
    }
    let cut = as_rows(indices)?;
    if let Some(named) = typed_ref::<MaskedTensor>(cut.values()) {
        return present(&rows, indices, &cut, &named);
    }
    let places = ops::places_at(rows.partition(), cut.values(), cut.partition())?;
    if typed_ref::<RaggedTensor>(indices).is_some() {
        return Ok(cut.with_values(ops::take(rows.values(), places, 0)?)?.into_value());
    }
    ops::take(rows.values(), ops::reshape_like(places, indices)?, 0)
}

/// The elements of rows of which some are missing: positions in those name nothing.
fn of_rows_there(rows: &RaggedTensor, there: &Tensor, indices: &Value) -> Result<Value> {
    let cut = as_rows(indices)?;
    let (plain, there) = (cut.values().tensor().is_ok(), ops::gather_rows_of(there, cut.partition())?);
    let found = match typed(&mask(cut.values(), &there)?) {
        Some(named) => present(rows, indices, &cut, &named)?,
        None => return Err(Error::internal("a mask is lost")),
    };
    // The mask of the elements of rows stays.
    if !plain || typed_ref::<MaskedTensor>(rows.values()).is_some() {
        return Ok(found);
    }
    let bare = |x: &Value| typed_ref::<MaskedTensor>(x).map_or_else(|| x.clone(), |x| x.values().clone());
    match typed_ref::<RaggedTensor>(&found) {
        Some(found) => Ok(found.with_values(bare(found.values()))?.into_value()),
        None => Ok(bare(&found)),
    }
}

/// The elements of rows at positions of which some are missing: `cut` has the positions of each row, `named` of all.
fn present(rows: &RaggedTensor, indices: &Value, cut: &RaggedTensor, named: &MaskedTensor) -> Result<Value> {
    let there = named.wide_mask()?;
    let given = ops::partition_from_lengths(ops::segment_sum(&there, cut.partition())?)?;
    let places = ops::places_at(rows.partition(), ops::boolean_mask(named.values(), &there, 0)?, given)?;
    let each = ops::partition_from_lengths(ops::cast(&there, DType::I64)?)?;
    let found = mask(&spread(&ops::take(rows.values(), places, 0)?, &each)?, &there)?;
    if typed_ref::<RaggedTensor>(indices).is_some() {
        return Ok(cut.with_values(found)?.into_value());
    }
    let all = ops::reshape_like(ops::indices_along(&found, 0)?, indices)?;
    ops::take(found, all, 0)
}

/// The value as rows that are all of its values.
fn as_rows(value: &Value) -> Result<RaggedTensor> {
    debug_assert!(rank(value).is_ok_and(|rank| rank > 1), "a vector has no rows");
    typed::<RaggedTensor>(value).map_or_else(|| RaggedTensor::of_uniform(value), |rows| rows.compact())
}
