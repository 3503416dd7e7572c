//! Masked tensors: values of which some are missing.
//!
//! Invariant: the shape of the mask is that of the outer axes of the values; true says that a value is there. What lies
//! under a missing value has no meaning: no op fails on it and no result depends on it.

mod arithmetic;
mod choice;
mod handlers;
mod lines;
mod operands;
mod products;
mod rows;
mod structure;
mod text;

pub(crate) use choice::first_there;
pub(crate) use operands::Mask;
pub(crate) use rows::{all_as_rows, lists_there, rows_there};
pub(crate) use structure::concat as concat_masked;
pub(crate) use structure::{mask_may_be_missing, stretched};
pub(crate) use text::looked_up_values;

use crate::args::{int, typed, typed_ref};
use crate::axes::{dim, outer, rank, zeros_of};
use crate::guard::of_outer_sizes;
use crate::missing::coalesce;
use crate::ragged::RaggedTensor;
use crate::structs::{Field, StructTensor, select};
use crate::union::UnionTensor;
use extenso_core::{Arg, ExtensionType, Tensor, Value, ops};
use extenso_derive::ExtensionType;
use extenso_types::{DType, Dim, Error, Result};
use std::cmp::Ordering;
use std::fmt;

/// Values with a mask; null is neither zero nor empty.
///
/// ```
/// # use extenso_ext::{MaskedTensor, constant};
/// # use extenso_core::{ExtensionType, ops};
/// let x = constant(vec![Some(1), None, Some(3)]).unwrap();
/// let y = ops::add(x, 10).unwrap();
/// assert_eq!(MaskedTensor::from_value(&y).unwrap().to_string(), "[11, None, 13]");
/// ```
#[derive(Clone, ExtensionType)]
#[extenso(name = "extenso/MaskedTensor", validate = fits, guard = guarded, cast = crate::casts::masked, handlers = handlers::register)]
pub struct MaskedTensor {
    #[extenso(itself)]
    values: Value,
    #[extenso(component)]
    mask: Tensor,
}

fn fits(masked: &MaskedTensor) -> Result<()> {
    let spec = masked.mask.spec();
    if spec.dtype != DType::Bool {
        return Err(Error::dtype(format!("the mask is {}", spec.dtype)).at("mask").wanted("bool"));
    }
    let Some(dims) = spec.shape.dims() else { return Ok(()) };
    for (axis, given) in dims.iter().enumerate() {
        // Values of an unknown rank are checked when they are known.
        let Ok(rank) = rank(&masked.values) else { return outer_fits(&masked.values, *given) };
        if axis >= rank {
            return Err(Error::shape(format!("the mask has rank {}, and the values {rank}", dims.len()))
                .at("mask")
                .wanted("the shape of the outer axes of the values"));
        }
        let wanted = dim(&masked.values, axis)?;
        if is_ragged(&masked.values, axis) || !given.is_compatible_with(wanted) {
            let size = if is_ragged(&masked.values, axis) { "ragged".to_string() } else { wanted.to_string() };
            return Err(Error::shape(format!("axis {axis} of the mask has size {given}, and of the values {size}"))
                .at("mask")
                .wanted("the shape of the outer axes of the values")
                .hint("Mask the values inside the rows instead: rows of a masked tensor"));
        }
    }
    Ok(())
}

/// A mask whose sizes are not known is compared with the values when the graph runs.
fn guarded(masked: MaskedTensor) -> Result<MaskedTensor> {
    let MaskedTensor { values, mask } = masked;
    let mask = beside(&mask, &values)?;
    Ok(MaskedTensor { values, mask })
}

/// The mask, of the sizes that the values have, now or when the graph runs.
pub(crate) fn beside(mask: &Tensor, values: &Value) -> Result<Tensor> {
    let axes = mask.rank().unwrap_or(0);
    of_outer_sizes(mask.clone().into(), values, axes, "the sizes of the mask").and_then(|mask| mask.tensor().cloned())
}

fn outer_fits(values: &Value, given: Dim) -> Result<()> {
    match outer(values) {
        Some(wanted) if given.is_compatible_with(wanted) => Ok(()),
        size => {
            let found = size.map_or("have no axis".to_string(), |size| format!("have the outer size {size}"));
            Err(Error::shape(format!("the mask has the outer size {given}, and the values {found}"))
                .at("mask")
                .wanted("the shape of the outer axes of the values"))
        }
    }
}

fn is_ragged(value: &Value, axis: usize) -> bool {
    axis == 1 && typed::<RaggedTensor>(value).is_some()
}

impl MaskedTensor {
    /// The values where `mask` is true, and nothing elsewhere.
    ///
    /// Of masks over each other, that of fewer axes is the outer one, and two of the same axes are one: there both must be true.
    /// Errors: the mask is not bool, or its shape is not that of the outer axes of the values.
    pub fn new(values: impl Into<Value>, mask: Tensor) -> Result<MaskedTensor> {
        let masked = MaskedTensor { values: values.into(), mask };
        fits(&masked).map_err(|e| e.at("MaskedTensor"))?;
        masked.in_order()
    }

    fn in_order(self) -> Result<MaskedTensor> {
        let Some(inner) = typed_ref::<MaskedTensor>(&self.values) else { return Ok(self) };
        // Masks of unknown ranks stay as they are.
        let (Ok(outer), Ok(own)) = (self.mask_rank(), inner.mask_rank()) else { return Ok(self) };
        match outer.cmp(&own) {
            Ordering::Less => Ok(self),
            Ordering::Equal => {
                let both = ops::logical_and(&self.mask, &inner.mask)?;
                MaskedTensor::new(inner.values.clone(), both.tensor()?.clone())
            }
            Ordering::Greater => {
                let values = MaskedTensor::new(inner.values.clone(), self.mask.clone())?.into_value();
                Ok(MaskedTensor { values, mask: inner.mask.clone() })
            }
        }
    }

    /// The values, with anything under what is missing.
    pub fn values(&self) -> &Value {
        &self.values
    }

    /// Which values are there.
    pub fn mask(&self) -> &Tensor {
        &self.mask
    }

    /// The number of outer axes that the mask has.
    ///
    /// Errors: a mask of unknown rank.
    pub fn mask_rank(&self) -> Result<usize> {
        rank(&self.mask.clone().into())
    }

    /// The mask with axes of size 1 behind its own, so that it broadcasts against the values.
    pub(crate) fn wide_mask(&self) -> Result<Value> {
        trailing(&self.mask.clone().into(), rank(&self.values)? - self.mask_rank()?)
    }

    /// Rows of which some are missing, with nothing in those; none if the values are no rows.
    ///
    /// What lies under a missing row has a length too, which must not count.
    pub(crate) fn rows_there(&self) -> Result<Option<RaggedTensor>> {
        typed::<RaggedTensor>(&self.values).map(|rows| rows.only_where(&self.mask)).transpose()
    }

    /// The values, with nothing in rows that are missing.
    pub(crate) fn values_there(&self) -> Result<Value> {
        Ok(self.rows_there()?.map_or_else(|| self.values.clone(), ExtensionType::into_value))
    }

    /// The values with `fill` where they are missing.
    pub(crate) fn filled(&self, fill: impl Into<Arg>) -> Result<Value> {
        ops::where_(self.wide_mask()?, &self.values, fill)
    }
}

/// A list that may be missing as one whose elements are missing with it; any other value as it is.
pub(crate) fn of_elements(value: Value) -> Result<Value> {
    let Some(masked) = typed_ref::<MaskedTensor>(&value) else { return Ok(value) };
    if masked.mask_rank().ok() != Some(0) || rank(masked.values()).is_ok_and(|rank| rank == 0) {
        return Ok(value);
    }
    let mask = ops::broadcast_like(trailing(&masked.mask().clone().into(), 1)?, zeros_of(masked.values(), 1)?)?;
    Ok(MaskedTensor::new(masked.values().clone(), mask.tensor()?.clone())?.into_value())
}

/// Lists that may be missing as a whole, ragged ones and those of one size; none of elements that may be missing each.
pub(crate) fn missing_lists(value: &Value) -> Option<MaskedTensor> {
    let is_of_lists = |x: &MaskedTensor| {
        let one_size = || x.mask_rank().is_ok_and(|axes| axes == 1) && rank(&x.values).is_ok_and(|axes| axes > 1);
        typed_ref::<RaggedTensor>(&x.values).is_some() || one_size()
    };
    typed::<MaskedTensor>(value).filter(is_of_lists)
}

/// The lists, those too that are missing; a value without such lists as it is.
pub(crate) fn lists_of(value: &Value) -> Value {
    missing_lists(value).map_or_else(|| value.clone(), |masked| masked.values)
}

/// The value with `count` axes of size 1 behind its own.
pub(crate) fn trailing(value: &Value, count: usize) -> Result<Value> {
    if count == 0 {
        return Ok(value.clone());
    }
    let axes: Vec<i64> = (1..=count).map(|i| -int(i)).collect();
    ops::expand_dims_at(value, axes)
}

/// The value with `fill` where it is missing, inside rows and in the fields of records; what is all there stays as it is.
///
/// Where records are missing, `fill` is a record; where rows are, it is a row or a row for each, and with one number they are empty.
/// Errors: `fill` does not broadcast, is of another dtype, or has other fields.
pub fn fill_none(x: &Value, fill: impl Into<Arg>) -> Result<Value> {
    let fill = fill.into();
    let filled = if let Some(masked) = typed::<MaskedTensor>(x) {
        match masked.rows_there() {
            Ok(Some(rows)) => rows_filled(x, &rows, fill),
            // Below a mask may lie another, whose elements are missing too.
            Ok(None) if typed::<MaskedTensor>(masked.values()).is_some() => {
                masked.filled(fill.clone()).and_then(|filled| fill_none(&filled, fill))
            }
            // Of records that are there, fields may be missing.
            Ok(None) if typed_ref::<StructTensor>(masked.values()).is_some() => records_filled(&masked, fill),
            Ok(None) => masked.filled(fill),
            Err(error) => Err(error),
        }
    } else if let Some(ragged) = typed::<RaggedTensor>(x) {
        let inside = along_rows(&ragged, fill).and_then(|fill| fill_none(ragged.values(), fill));
        inside.and_then(|values| Ok(ragged.with_values(values)?.into_value()))
    } else if let Some(records) = typed::<StructTensor>(x) {
        let record = if let Arg::Value(fill) = &fill { Some(fill).filter(|fill| are_records(fill)) } else { None };
        let field = |(name, value): &Field| {
            let fill = record.map_or_else(|| Ok(fill.clone()), |record| select(record, name).map(Arg::Value))?;
            Ok((name.clone(), fill_none(value, fill).map_err(|e| e.at(format!("field '{name}'")))?))
        };
        let fields: Result<Vec<Field>> = records.fields().iter().map(field).collect();
        fields.and_then(|fields| Ok(records.with_fields(fields)?.into_value()))
    } else if let Some(union) = typed::<UnionTensor>(x) {
        let filled = union.with_children(&|child| fill_none(&child.values, fill.clone()));
        filled.map(ExtensionType::into_value)
    } else {
        Ok(x.clone())
    };
    filled.map_err(|e| e.at_part("fill_none"))
}

/// Records with records where they are missing, and with the fields of these inside. What fills may be missing too.
fn records_filled(masked: &MaskedTensor, fill: Arg) -> Result<Value> {
    let filled = masked.filled(fill.clone())?;
    match typed_ref::<MaskedTensor>(&filled) {
        Some(some) => Ok(MaskedTensor::new(fill_none(some.values(), fill)?, some.mask().clone())?.into_value()),
        None => fill_none(&filled, fill),
    }
}

fn are_records(value: &Value) -> bool {
    typed_ref::<StructTensor>(value).is_some()
        || typed_ref::<MaskedTensor>(value).is_some_and(|masked| are_records(masked.values()))
}

/// What fills in the rows of a value: one for each of the row's elements, where it has the axis of the rows.
fn along_rows(rows: &RaggedTensor, fill: Arg) -> Result<Arg> {
    let Arg::Value(value) = &fill else { return Ok(fill) };
    let (given, own) = (rank(value)?, rows.rank()?);
    let is_one = given + 1 == own && outer(value) == Some(Dim::Known(1));
    if given + 1 < own || is_one {
        return Ok(fill);
    }
    let along = ops::broadcast_like(value, shape_of_rows(&rows.clone().into_value())?)?;
    RaggedTensor::from_value(&along)?.values_in(rows.partition()).map(Arg::Value)
}

/// A column of one element for each row, or one element for all, as one for each element in the rows of `x`; any other value as it is.
pub(crate) fn column_along(x: &Value, column: &Value) -> Result<Value> {
    let is_one = || dim(column, 1).is_ok_and(|size| size == Dim::Known(1)) || rank(column).is_ok_and(|rank| rank == 0);
    if !matches!(column, Value::Tensor(_)) || !is_one() || typed_ref::<RaggedTensor>(x).is_none() {
        return Ok(column.clone());
    }
    ops::broadcast_like(column, shape_of_rows(x)?)
}

/// Zeros in the rows of a value, whatever it holds and lacks.
fn shape_of_rows(value: &Value) -> Result<Value> {
    if let Some(rows) = typed_ref::<RaggedTensor>(value) {
        return Ok(rows.with_values(shape_of_rows(rows.values())?)?.into_value());
    }
    match typed_ref::<MaskedTensor>(value) {
        Some(masked) => shape_of_rows(&masked.values_there()?),
        None => zeros_of(value, rank(value)?),
    }
}

/// Rows with rows where they are missing; one number for all is for the elements, so that a missing row becomes an empty one.
fn rows_filled(x: &Value, rows: &RaggedTensor, fill: Arg) -> Result<Value> {
    match &fill {
        // An empty list is what a missing one becomes.
        Arg::Value(value @ Value::Tensor(_)) if rank(value)? == 1 && outer(value) == Some(Dim::Known(0)) => {
            Ok(rows.clone().into_value())
        }
        Arg::Value(value) if rank(value)? > 0 => coalesce(&[Arg::from(x), fill]),
        Arg::Value(_) | Arg::Scalar(_) | Arg::List(_) => {
            let none = crate::ragged::flatten(ops::slice(rows.values(), 0, 0, Some(vec![0]), 1)?, None)?;
            if none.tensor().is_ok() {
                // Where nothing is filled, what is no element is refused all the same.
                ops::where_(true, none, fill.clone())?;
            }
            fill_none(&rows.clone().into_value(), fill)
        }
    }
}

/// The value with empty rows where rows along the axis are missing: they have no element in any column.
pub(crate) fn without_missing_rows(x: &Value, axis: usize) -> Result<Value> {
    if let Some(masked) = typed::<MaskedTensor>(x) {
        return match (masked.rows_there()?, axis) {
            (Some(rows), 0) => Ok(rows.into_value()),
            _ => {
                let values = without_missing_rows(masked.values(), axis)?;
                Ok(MaskedTensor::new(values, masked.mask().clone())?.into_value())
            }
        };
    }
    match typed::<RaggedTensor>(x).filter(|_| axis > 0) {
        Some(rows) => Ok(rows.with_values(without_missing_rows(rows.values(), axis - 1)?)?.into_value()),
        None => Ok(x.clone()),
    }
}

impl fmt::Display for MaskedTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match crate::to_literal(&self.clone().into_value()) {
            Ok(literal) => literal.fmt(f),
            Err(_) => fmt::Debug::fmt(self, f),
        }
    }
}

impl fmt::Debug for MaskedTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.clone().into_value(), f)
    }
}
