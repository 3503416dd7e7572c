//! Lists filled up with missing values.

use super::as_rows;
use super::drop::axis_at;
use crate::args::{int, typed};
use crate::axes::{counted, dim, outer, positions, rank};
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
            1 => self.rows(x),
            inner => {
                let rows = as_rows(x)?;
                let padded = rows.with_values(self.along(rows.values(), inner - 1)?)?;
                if typed::<RaggedTensor>(x).is_some() { Ok(padded.into_value()) } else { uniform(padded, dim(x, 1)?) }
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
        let lengths = rows.row_lengths()?;
        let wanted = if self.clip {
            ops::add(ops::zeros_like(&lengths)?, self.target)?
        } else {
            ops::maximum(&lengths, self.target)?
        };
        let partition = cut_like(wanted, rows.partition())?;
        let place = ops::places_in_rows(&partition)?;
        let there = ops::less(&place, ops::gather_rows_of(&lengths, &partition)?)?;
        let start = ops::gather_rows_of(ops::row_starts(rows.partition())?, &partition)?;
        let behind = ops::sum(lengths, 0, false)?;
        let at = ops::where_(&there, ops::add(start, place)?, behind)?;
        let values = masked_by(ops::take(one_more(rows.values())?, at, 0)?, there.tensor()?)?;
        let padded = RaggedTensor::from_partition(values, partition)?;
        let target = usize::try_from(self.target).unwrap_or(usize::MAX);
        match (self.clip, typed::<RaggedTensor>(x)) {
            (true, _) => uniform(padded, Dim::Known(target)),
            (false, Some(_)) => Ok(padded.into_value()),
            (false, None) => {
                let size = dim(x, 1)?.known().map_or_else(Dim::any, |size| Dim::Known(size.max(target)));
                uniform(padded, size)
            }
        }
    }
}

/// Rows of one length as a uniform axis, if the length is known and there are no rows inside.
fn uniform(rows: RaggedTensor, size: Dim) -> Result<Value> {
    match size.known() {
        // Without rows or elements nothing would tell the number of rows while tracing.
        Some(size)
            if !has_rows(rows.values())
                && (rows.nrows().known().is_some() || (size > 0 && has_elements(rows.values())?)) =>
        {
            split(rows.values(), rows.nrows(), size)
        }
        _ => Ok(rows.into_value()),
    }
}

/// Whether no axis behind the first is known to have size 0.
fn has_elements(x: &Value) -> Result<bool> {
    (1..rank(x)?).try_fold(true, |all, axis| Ok(all && dim(x, axis)? != Dim::Known(0)))
}

/// The value with its outer axis as two, under a mask of as many axes more.
fn split(x: &Value, count: Dim, size: usize) -> Result<Value> {
    if let Some(masked) = typed::<MaskedTensor>(x) {
        let mask = split(&masked.mask().clone().into(), count, size)?;
        let values = split(masked.values(), count, size)?;
        return Ok(MaskedTensor::new(values, mask.tensor()?.clone())?.into_value());
    }
    let sized = |dim: Dim| dim.known().map_or(-1, int);
    let inner = (1..rank(x)?).map(|axis| dim(x, axis).map(sized)).collect::<Result<Vec<i64>>>()?;
    let sizes = [sized(count), int(size)];
    if sizes.iter().chain(&inner).filter(|size| **size < 0).count() < 2 {
        return ops::reshape(x, sizes.into_iter().chain(inner).collect::<Vec<_>>());
    }
    // The sizes inside are told by the value alone.
    ops::take(x, ops::reshape(positions(x)?, sizes.to_vec())?, 0)
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
            let codes = padded(x.codes())?.tensor()?.clone();
            Ok(CategoricalTensor::new(codes, one_more(x.categories())?, x.ordered())?.into_value())
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
