//! Values under a meaning in rows and under masks, as their elements and back.

use super::{elements_of, over_elements};
use crate::args::{typed, typed_ref};
use crate::masked::{MaskedTensor, stretched};
use crate::ragged::RaggedTensor;
use extenso_core::{Arg, ExtensionType, Value};
use extenso_types::{DType, Result};

/// The value with `f` of what is below every row and mask.
pub(crate) fn below(x: &Value, f: &dyn Fn(&Value) -> Result<Value>) -> Result<Value> {
    if let Some(masked) = typed_ref::<MaskedTensor>(x) {
        return Ok(MaskedTensor::new(below(masked.values(), f)?, masked.mask().clone())?.into_value());
    }
    match typed_ref::<RaggedTensor>(x) {
        Some(rows) => Ok(rows.with_values(below(rows.values(), f)?)?.into_value()),
        None => f(x),
    }
}

pub(crate) fn is_text(x: &Value) -> bool {
    x.tensor().is_ok_and(|tensor| tensor.dtype() == DType::String)
}

/// The same where what is missing is replaced by what stands in for it, if there is such.
pub(crate) fn below_filled(
    x: &Value,
    stand_in: &dyn Fn(&Value) -> Result<Option<Arg>>,
    f: &dyn Fn(&Value) -> Result<Value>,
) -> Result<Value> {
    if let Some(masked) = typed_ref::<MaskedTensor>(x) {
        if typed_ref::<MaskedTensor>(masked.values()).is_some() {
            let made = below_filled(&stretched(&masked)?.into_value(), stand_in, f)?;
            // A row that is missing is no row of missing elements.
            let of_rows = typed_ref::<MaskedTensor>(&made).map(|made| made.mask_rank()).transpose()?;
            return match of_rows.is_some_and(|rank| rank > masked.mask().rank().unwrap_or(rank)) {
                true => Ok(MaskedTensor::new(made, masked.mask().clone())?.into_value()),
                false => Ok(made),
            };
        }
        let values = match masked.rows_there()? {
            Some(rows) => rows.into_value(),
            None => match stand_in(masked.values())? {
                Some(first) => masked.filled(first)?,
                None => masked.values().clone(),
            },
        };
        return Ok(MaskedTensor::new(below_filled(&values, stand_in, f)?, masked.mask().clone())?.into_value());
    }
    match typed_ref::<RaggedTensor>(x) {
        Some(rows) => {
            let rows = rows.compact()?;
            Ok(rows.with_values(below_filled(rows.values(), stand_in, f)?)?.into_value())
        }
        None => f(x),
    }
}

/// What is below every row and mask.
pub(crate) fn innermost(x: &Value) -> Value {
    if let Some(masked) = typed::<MaskedTensor>(x) {
        return innermost(masked.values());
    }
    typed::<RaggedTensor>(x).map_or_else(|| x.clone(), |rows| innermost(rows.values()))
}

/// The elements of a value under a meaning, in its rows and under its masks; what has no meaning stays.
pub(crate) fn plain(x: &Value) -> Result<Value> {
    below(x, &|x| Ok(elements_of(x).unwrap_or_else(|| x.clone())))
}

/// Elements in rows and under masks, under the meaning of another value.
pub(crate) fn under_meaning_of(like: &Value, elements: &Value) -> Result<Value> {
    below(elements, &|elements| over_elements(like, &|_| Ok(elements.clone())).unwrap_or_else(|| Ok(elements.clone())))
}
