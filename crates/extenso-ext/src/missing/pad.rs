//! Lists filled up with missing values.

use super::as_rows;
use super::drop::axis_at;
use crate::args::{int, typed};
use crate::axes::{counted, outer, positions, rank};
use crate::batchable::{records_of, restored};
use crate::masked::MaskedTensor;
use crate::meaning::over_elements;
use crate::ragged::{RaggedTensor, cut_like, zero};
use crate::structs::{Field, StructTensor, has_rows, masked_by};
use crate::{CategoricalTensor, UnionTensor};
use extenso_core::{ExtensionType, Tensor, Value, ops};
use extenso_types::{Dim, Error, Result, Shape};

/// The value with missing elements at the ends of the lists along `axis` that have fewer than `target`; with `clip`, those
/// that have more lose the rest, and the axis is uniform. Awkward Array's name.
///
/// An axis inside records is that of the lists in each field; a negative one is one of the value's own. Errors: a negative target; an axis out of range, or one that a
/// field does not have; more elements than memory holds.
///
/// ```
/// # use extenso_ext::{constant, missing::pad_none, to_literal};
/// let x = constant(vec![vec![1, 2, 3], vec![], vec![4]]).unwrap();
/// let show = |clip| to_literal(&pad_none(&x, 2, 1, clip).unwrap()).unwrap().to_string();
/// assert_eq!(show(false), "[[1, 2, 3], [None, None], [4, None]]");
/// assert_eq!(show(true), "[[1, 2], [None, None], [4, None]]");
/// ```
pub fn pad_none(x: &Value, target: i64, axis: i64, clip: bool) -> Result<Value> {
    let padded = || {
        if target < 0 {
            return Err(Error::value(format!("target is {target}")).wanted("a number that is not negative"));
        }
        Padding { target, clip }.along(x, axis_at(axis, x)?)
    };
    padded().map_err(|e| e.at_part("pad_none"))
}

struct Padding {
    target: i64,
    clip: bool,
}

impl Padding {
    fn along(&self, x: &Value, axis: usize) -> Result<Value> {
        if let Some(records) = typed::<StructTensor>(x).filter(|records| records.rank() <= axis) {
            let field = |(name, value): &Field| {
                let at = |e: Error| e.at(format!("field '{name}'"));
                axis_at(int(axis), value).map_err(at)?;
                Ok((name.clone(), self.along(value, axis).map_err(at)?))
            };
            let fields: Result<Vec<Field>> = records.fields().iter().map(field).collect();
            return Ok(records.with_fields(fields?)?.into_value());
        }
        if let Some(masked) = typed::<MaskedTensor>(x)
            && masked.mask_rank()? <= axis
        {
            let padded = self.along(masked.values(), axis)?;
            return Ok(MaskedTensor::new(padded, masked.mask().clone())?.into_value());
        }
        match axis {
            0 => self.elements(x),
            // An axis that is no rows goes to the front and back, whether sizes are known or not.
            _ if typed::<RaggedTensor>(x).is_none() && !has_rows(x) => {
                let padded = self.elements(&ops::moveaxis(x, vec![int(axis)], vec![0_i64])?)?;
                ops::moveaxis(padded, vec![0_i64], vec![int(axis)])
            }
            1 => self.rows(x),
            inner => {
                let rows = as_rows(x)?;
                Ok(rows.with_values(self.along(rows.values(), inner - 1)?)?.into_value())
            }
        }
    }

    /// The outer axis itself.
    fn elements(&self, x: &Value) -> Result<Value> {
        let count = ops::sum(ops::ones_like(positions(x)?)?, 0, true)?;
        let places = if self.clip {
            counted(usize::try_from(self.target).unwrap_or(usize::MAX))?
        } else {
            ops::places_in_rows(ops::partition_from_lengths(ops::maximum(&count, self.target)?)?)?
        };
        let there = ops::less(&places, &count)?;
        let values = ops::take(one_more(x)?, ops::minimum(places, count)?, 0)?;
        masked_by(values, there.tensor()?)
    }

    /// The lists along the second axis.
    fn rows(&self, x: &Value) -> Result<Value> {
        let rows = as_rows(x)?.compact()?;
        let (lengths, starts) = (Value::from(rows.row_lengths()?), ops::row_starts(rows.partition())?);
        let behind = ops::sum(&lengths, 0, false)?;
        if self.clip && !has_rows(rows.values()) {
            // Lists of one length are an axis.
            let place = counted(usize::try_from(self.target).unwrap_or(usize::MAX))?;
            let each = |of_row: Value| ops::expand_dims(of_row, 1);
            return at_places(rows.values(), place, each(lengths)?, each(starts)?, behind);
        }
        let wanted = match self.clip {
            true => ops::add(ops::zeros_like(&lengths)?, self.target)?,
            false => ops::maximum(&lengths, self.target)?,
        };
        let partition = cut_like(wanted, rows.partition())?;
        let (place, each) = (ops::places_in_rows(&partition)?, |of_row| ops::gather_rows_of(of_row, &partition));
        let values = at_places(rows.values(), place, each(lengths)?, each(starts)?, behind)?;
        Ok(RaggedTensor::from_partition(values, partition)?.into_value())
    }
}

/// The values at places in lists of these lengths, which start there; missing at places that are `behind` all.
fn at_places(values: &Value, place: Value, lengths: Value, starts: Value, behind: Value) -> Result<Value> {
    let there = ops::less(&place, lengths)?;
    let at = ops::where_(&there, ops::add(starts, place)?, behind)?;
    masked_by(ops::take(one_more(values)?, at, 0)?, there.tensor()?)
}

/// The value with one more element at its end: zero, empty, or missing. It stands where nothing is.
pub(crate) fn one_more(x: &Value) -> Result<Value> {
    if let Some(rows) = typed::<RaggedTensor>(x) {
        let rows = rows.compact()?;
        let lengths = ops::concat(vec![Value::from(rows.row_lengths()?), Tensor::from_vec(vec![0_i64]).into()], 0)?;
        let partition = cut_like(lengths, rows.partition())?;
        return Ok(RaggedTensor::from_partition(rows.values().clone(), partition)?.into_value());
    }
    if let Some(masked) = typed::<MaskedTensor>(x) {
        let mask = if masked.mask_rank()? == 0 { masked.mask().clone().into() } else { padded(masked.mask())? };
        return Ok(MaskedTensor::new(one_more(masked.values())?, mask.tensor()?.clone())?.into_value());
    }
    if let Some(records) = typed::<StructTensor>(x) {
        let fields: Result<Vec<Field>> =
            records.fields().iter().map(|(name, value)| Ok((name.clone(), one_more(value)?))).collect();
        let more = |dim: &Dim| dim.known().map_or_else(Dim::any, |n| Dim::Known(n + 1));
        let dims = records.shape().dims().unwrap_or_default();
        let shape = dims.iter().take(1).map(more).chain(dims.iter().skip(1).copied());
        return Ok(StructTensor::new(Shape::new(shape), fields?)?.into_value());
    }
    if let Some(more) = with_one_more(x) {
        return more;
    }
    match x {
        Value::Tensor(tensor) => padded(tensor),
        // A type that nothing is known of lends its first element, if it has one.
        Value::Ext(_) if outer(x) != Some(Dim::Known(0)) => {
            ops::concat(vec![x.clone(), ops::slice(x, 0, 0, Some(vec![1]), 1)?], 0)
        }
        Value::Ext(_) | Value::Partition(_) => Ok(x.clone()),
    }
}

/// The same of a value under a meaning or of a type that is moved as records; of categories of which there are none, one is made.
pub(crate) fn with_one_more(x: &Value) -> Option<Result<Value>> {
    if let Some(x) = typed::<CategoricalTensor>(x).filter(|x| outer(x.categories()) == Some(Dim::Known(0))) {
        let made = || {
            let codes = padded(x.codes())?;
            Ok(CategoricalTensor::of_places(&codes, one_more(x.categories())?, x.ordered())?.into_value())
        };
        return Some(made());
    }
    if let Some(x) = typed::<UnionTensor>(x) {
        return Some(x.one_more().map(ExtensionType::into_value));
    }
    if let Value::Ext(ext) = x
        && let Some(records) = records_of(ext)
    {
        return Some(ext.spec().and_then(|spec| restored(&spec, one_more(&records.into_value())?)));
    }
    over_elements(x, &|elements| one_more(&elements))
}

/// The tensor with a zero, an empty text or rows of these at its end.
fn padded(x: &Tensor) -> Result<Value> {
    let mut widths = vec![0; 2 * rank(&x.clone().into())?];
    widths[1] = 1;
    ops::pad(x, zero(x.dtype())?, widths)
}
