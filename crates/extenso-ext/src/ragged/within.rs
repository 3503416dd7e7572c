//! Elements of each row by their positions in it.

use super::RaggedTensor;
use crate::args::{typed, typed_ref};
use crate::axes::rank;
use crate::masked::MaskedTensor;
use crate::missing::mask;
use extenso_core::{ExtensionType, Value, ops};
use extenso_types::Result;

/// The elements along the ragged axis `axis` at `indices`, which say positions for each row; negative ones count from its end.
///
/// Shapes: `indices` have the axes and rows of `x` before `axis`, and one more; the result has their rows there.
/// Errors: other rows; a position outside its row. While tracing both are found when the graph runs.
pub(crate) fn take_in_rows(x: &Value, indices: &Value, axis: usize) -> Result<Value> {
    if let Some(masked) = typed_ref::<MaskedTensor>(x) {
        let values = take_in_rows(masked.values(), indices, axis)?;
        // A mask of elements moves with them, one of whole rows stays.
        return match masked.mask_rank()? > axis {
            true => mask(&values, &take_in_rows(&masked.mask().clone().into(), indices, axis)?),
            false => Ok(MaskedTensor::new(values, masked.mask().clone())?.into_value()),
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
    let places = ops::places_at(rows.partition(), cut.values(), cut.partition())?;
    if typed_ref::<RaggedTensor>(indices).is_some() {
        return Ok(cut.with_values(ops::take(rows.values(), places, 0)?)?.into_value());
    }
    ops::take(rows.values(), ops::reshape_like(places, indices)?, 0)
}

/// The value as rows that are all of its values.
fn as_rows(value: &Value) -> Result<RaggedTensor> {
    debug_assert!(rank(value).is_ok_and(|rank| rank > 1), "a vector has no rows");
    typed::<RaggedTensor>(value).map_or_else(|| RaggedTensor::of_uniform(value), |rows| rows.compact())
}
