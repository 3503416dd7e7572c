//! What a function makes of each innermost row: one axis less.
//!
//! Invariant: the function sees a vector of values and the partition that cuts it, whatever held them.

use crate::args::typed;
use crate::axes::{one_row, rank};
use crate::lists::outside;
use crate::masked::MaskedTensor;
use crate::ragged::RaggedTensor;
use extenso_core::{ExtensionType, RowPartition, Value, ops};
use extenso_types::{Error, Result};

/// A function of the values in rows, of other values in the same rows, and of the partition.
pub(crate) type OfRows<'a> = &'a dyn Fn(&Value, Option<&Value>, &RowPartition) -> Result<Value>;

/// The value as rows, those of a uniform axis too.
fn as_rows(value: &Value) -> Result<RaggedTensor> {
    typed(value).map_or_else(|| RaggedTensor::of_uniform(value), Ok)
}

/// The results for the innermost rows of `x`; `other` has the rows of `x`. The values may be masked; rows that are missing stay so.
///
/// Errors: a scalar; those of `f`.
pub(crate) fn by_rows(x: &Value, other: Option<&Value>, f: OfRows<'_>) -> Result<Value> {
    if let Some(x) = typed::<RaggedTensor>(x) {
        let other = other.map(|other| as_rows(other)?.compact()).transpose()?;
        let (x, other) = (x.compact()?, other.as_ref().map(RaggedTensor::values));
        if rank(x.values())? > 1 {
            return Ok(x.with_values(by_rows(x.values(), other, f)?)?.into_value());
        }
        return f(x.values(), other, x.partition());
    }
    if let Some(masked) = typed::<MaskedTensor>(x)
        && masked.mask_rank()? < rank(x)?
        && masked.mask_rank()? < 2
    {
        let other =
            other.map(|other| typed::<MaskedTensor>(other).map_or(other.clone(), |other| other.values().clone()));
        let there = |value: &Value| match masked.mask_rank()? {
            1 => as_rows(value)?.only_where(masked.mask()).map(ExtensionType::into_value),
            _ => Ok(value.clone()),
        };
        let made = by_rows(&there(masked.values())?, other.as_ref().map(there).transpose()?.as_ref(), f)?;
        return Ok(MaskedTensor::new(made, masked.mask().clone())?.into_value());
    }
    match rank(x)? {
        0 => Err(Error::shape("a scalar is no row").wanted("at least a vector")),
        1 => ops::squeeze(f(x, other, &one_row(x)?)?, vec![0]),
        _ => {
            let other = other.map(|other| as_rows(other).map(ExtensionType::into_value)).transpose()?;
            let rows = RaggedTensor::of_uniform(x)?;
            let made = by_rows(&rows.clone().into_value(), other.as_ref(), f)?;
            match typed::<RaggedTensor>(&made).filter(|_| rank(x).is_ok_and(|rank| rank > 2)) {
                Some(inside) => outside(x, &rows, inside.values().clone()),
                None => Ok(made),
            }
        }
    }
}
