//! Missing values left out of the lists that they stand in.

use super::{as_rows, under_mask};
use crate::args::typed;
use crate::axes::rank;
use crate::masked::MaskedTensor;
use crate::ragged::RaggedTensor;
use crate::structs::{Field, StructTensor};
use crate::union::UnionTensor;
use extenso_core::reduce::normalize_axis;
use extenso_core::{ExtensionType, Value, ops};
use extenso_types::{Error, Result};

/// The value without what is missing: of the elements along `axis`, or along every axis. Awkward Array's name.
///
/// A vector stays a vector; lists inside become rows, because they may lose different numbers of elements. Lists in the fields
/// of records are looked through, but a missing field of a record stays, as a record has all of its fields. A negative axis is one
/// of the value's own, as everywhere; lists in fields are counted on behind them.
/// Errors: an axis out of range; elements inside records of two axes or more.
///
/// ```
/// # use extenso_ext::{constant, missing::drop_none, to_literal};
/// let x = constant(vec![vec![Some(1), None], vec![None, Some(4)], vec![Some(5), Some(6)]]).unwrap();
/// assert_eq!(to_literal(&drop_none(&x, None).unwrap()).unwrap().to_string(), "[[1], [4], [5, 6]]");
/// ```
pub fn drop_none(x: &Value, axis: Option<i64>) -> Result<Value> {
    let left = || {
        let axis = axis.map(|axis| axis_at(axis, x)).transpose()?;
        Along { axis }.left(x, Place { fixed: 0, outer: 0 })
    };
    left().map_err(|e| e.at_part("drop_none"))
}

/// Which axis of a value is meant: counted from the end among its own, from the beginning also inside the fields of records.
pub(super) fn axis_at(axis: i64, x: &Value) -> Result<usize> {
    normalize_axis(axis, if axis < 0 { rank(x)? } else { depth(x)? })
}

/// The number of axes, those inside the fields of records included.
fn depth(x: &Value) -> Result<usize> {
    if let Some(rows) = typed::<RaggedTensor>(x) {
        return Ok(1 + depth(rows.values())?);
    }
    if let Some(masked) = typed::<MaskedTensor>(x) {
        return depth(masked.values());
    }
    let Some(records) = typed::<StructTensor>(x) else { return rank(x) };
    records.fields().iter().try_fold(records.rank(), |deepest, (_, value)| Ok(deepest.max(depth(value)?)))
}

/// Where a value stands in the whole.
#[derive(Clone, Copy)]
struct Place {
    /// How many of its outer axes keep their sizes.
    fixed: usize,
    /// Which axis of the whole its outer axis is.
    outer: usize,
}

/// The axis whose elements are dropped; none for all.
struct Along {
    axis: Option<usize>,
}

impl Along {
    fn is_about(&self, axis: usize) -> bool {
        self.axis.is_none_or(|wanted| wanted == axis)
    }

    fn left(&self, x: &Value, at: Place) -> Result<Value> {
        if let Some(rows) = typed::<RaggedTensor>(x) {
            return self.of_rows(&rows, at);
        }
        if let Some(union) = typed::<UnionTensor>(x) {
            return match union.there()?.filter(|_| at.fixed == 0 && self.is_about(at.outer)) {
                Some(there) => ops::boolean_mask(x, there, 0),
                None => Ok(x.clone()),
            };
        }
        if let Some(masked) = under_mask(x)? {
            return self.of_masked(x, &masked, at);
        }
        let Some(records) = typed::<StructTensor>(x) else { return Ok(x.clone()) };
        let inside = Place { fixed: at.fixed.max(records.rank()), ..at };
        let field = |(name, value): &Field| {
            Ok((name.clone(), self.left(value, inside).map_err(|e| e.at(format!("field '{name}'")))?))
        };
        let fields: Result<Vec<Field>> = records.fields().iter().map(field).collect();
        Ok(records.with_fields(fields?)?.into_value())
    }

    fn of_rows(&self, rows: &RaggedTensor, at: Place) -> Result<Value> {
        let mut rows = rows.compact()?;
        let items = Place { fixed: 1, outer: at.outer + 1 };
        if let Some(masked) = under_mask(rows.values())?
            && masked.mask_rank()? == 1
            && self.is_about(items.outer)
        {
            let there = rows.with_values(masked.mask().clone())?.into_value();
            let kept = ops::boolean_mask(rows.with_values(masked.values().clone())?.into_value(), there, 0)?;
            rows = RaggedTensor::from_value(&kept)?;
        }
        Ok(rows.with_values(self.left(rows.values(), items)?)?.into_value())
    }

    fn of_masked(&self, x: &Value, masked: &MaskedTensor, at: Place) -> Result<Value> {
        let axes = masked.mask_rank()?;
        if axes <= at.fixed || !self.is_about(at.outer + axes - 1) {
            if axes > 1 && at.fixed < 2 && typed::<MaskedTensor>(masked.values()).is_some() {
                // Lists that are missing hold elements that are: each list is a row then.
                return self.of_rows(&as_rows(x)?, at);
            }
            let inside = Place { fixed: at.fixed.max(axes), ..at };
            let left = self.left(masked.values(), inside)?;
            return Ok(MaskedTensor::new(left, masked.mask().clone())?.into_value());
        }
        match (axes, at.fixed) {
            (1, _) => self.left(&ops::boolean_mask(masked.values(), masked.mask(), 0)?, at),
            (_, 0 | 1) => self.of_rows(&as_rows(x)?, at),
            _ => Err(Error::shape(format!("elements are missing inside records of {} axes", at.fixed))
                .wanted("one record, or a vector of records")),
        }
    }
}
