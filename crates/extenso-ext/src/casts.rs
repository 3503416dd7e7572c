//! What rows, masked values and records take beside values of their own types: equal values in another form, such as lists of one length.

use crate::args::{typed, typed_ref};
use crate::axes::{outer, rank, zeros_of};
use crate::literal::{Literal, constant_of};
use crate::masked::MaskedTensor;
use crate::ragged::{RaggedTensor, cut_as};
use crate::structs::StructTensor;
use extenso_core::{Arg, ExtensionType, Provenance, TypeSpec, Value, cast, ops, rebuild};
use extenso_types::{DType, ExtSpec, Result, Segment, Shape, Spec, TensorSpec};

/// Lists of one length as rows, and rows whose values or offsets are of other dtypes; and no rows at all for no items.
pub(crate) fn rows(value: &Value, wanted: &ExtSpec) -> Result<Option<Value>> {
    let parts = (wanted.component(&Segment::Each), wanted.component(&Segment::component("row_splits")));
    let (Some(values), Some(Spec::Partition(partition))) = parts else { return Ok(None) };
    let given = match typed_ref::<RaggedTensor>(value) {
        Some(given) if given.partition().spec().index == partition.index => given.into_owned(),
        Some(given) => {
            let compact = given.compact()?;
            let cut = cut_as(compact.row_lengths()?.into(), partition.index)?;
            RaggedTensor::from_partition(compact.values().clone(), cut)?
        }
        // Where lists are missing as a whole, something else is wanted around the rows.
        None if rank(value).is_ok_and(|rank| rank > 1) && !has_missing_lists(value) => {
            match RaggedTensor::of_uniform_as(value, partition.index) {
                Ok(rows) => counted(value, rows)?,
                // A type whose axes cannot be joined is no rows.
                Err(e) if e.is_dispatch() => return Ok(None),
                Err(e) => return Err(e),
            }
        }
        None => return none_of(value, wanted),
    };
    let Some(values) = cast(given.values(), values)? else { return Ok(None) };
    Ok(Some(given.with_values(values)?.into_value()))
}

/// The rows or records that a list without items stands for.
fn none_of(value: &Value, wanted: &ExtSpec) -> Result<Option<Value>> {
    if value.spec()? != Spec::Tensor(TensorSpec::new(DType::F64, Shape::known(&[0]))) {
        return Ok(None);
    }
    constant_of(Literal::List(Vec::new()), &wanted.clone().into()).map(Some).or(Ok(None))
}

/// The rows of a value of which it is not known before the graph runs that the values are as many as the partition cuts, where an op says so.
fn counted(value: &Value, rows: RaggedTensor) -> Result<RaggedTensor> {
    let cut = rows.partition().spec().nvalues;
    if cut.known().is_some() || outer(rows.values()) == Some(cut) {
        return Ok(rows);
    }
    match ops::unpad_rows(value, rows.partition(), false) {
        Ok(values) => rows.with_values(values),
        Err(_) => Ok(rows),
    }
}

fn has_missing_lists(value: &Value) -> bool {
    typed_ref::<MaskedTensor>(value).is_some_and(|x| !x.mask_rank().is_ok_and(|axes| axes > 1))
}

/// Values that are all there, and those of which some are missing whose values are of another type.
pub(crate) fn masked(value: &Value, wanted: &ExtSpec) -> Result<Option<Value>> {
    let parts = (wanted.component(&Segment::Itself), wanted.component(&Segment::component("mask")));
    let (Some(values), Some(Spec::Tensor(mask))) = parts else { return Ok(None) };
    let Some(axes) = mask.shape.rank() else { return Ok(None) };
    if let Some(given) = typed_ref::<MaskedTensor>(value).filter(|given| given.mask_rank().is_ok_and(|own| own == axes))
    {
        let Some(values) = cast(given.values(), values)? else { return all_missing(&given, wanted) };
        return Ok(Some(MaskedTensor::new(values, given.mask().clone())?.into_value()));
    }
    if !rank(value).is_ok_and(|rank| rank >= axes) {
        return Ok(None);
    }
    let Some(values) = cast(value, values)? else { return Ok(None) };
    let there = ops::broadcast_like(Arg::from(true), zeros_of(&values, axes)?)?;
    Ok(Some(MaskedTensor::new(values, there.tensor()?.clone())?.into_value()))
}

/// A vector of which nothing is there, which is one of floats whatever others are.
fn all_missing(given: &MaskedTensor, wanted: &ExtSpec) -> Result<Option<Value>> {
    let (Value::Tensor(values), Ok(mask)) = (given.values(), given.mask().data()) else { return Ok(None) };
    let (&[len], DType::F64) = (mask.dims(), values.dtype()) else { return Ok(None) };
    if values.shape().rank() != Some(1) || mask.bits()?.count_set_bits() > 0 {
        return Ok(None);
    }
    constant_of(Literal::List(vec![Literal::None; len]), &wanted.clone().into()).map(Some).or(Ok(None))
}

/// Records that have at least the fields, in whatever order; and no record at all for none.
pub(crate) fn records(value: &Value, wanted: &ExtSpec) -> Result<Option<Value>> {
    let Some(given) = typed::<StructTensor>(value) else { return none_of(value, wanted) };
    let mut fields = Vec::with_capacity(wanted.components.len());
    for (segment, spec) in &wanted.components {
        let Segment::Field(name) = segment else { return Ok(None) };
        let Ok(field) = given.field(name) else { return Ok(None) };
        let Some(field) = cast(field, spec)? else { return Ok(None) };
        fields.push(field);
    }
    match fields.is_empty() || given.type_spec().serialize().static_data != wanted.static_data {
        true => Ok(None),
        false => rebuild(wanted, fields, Provenance::Trusted).map(Some),
    }
}
