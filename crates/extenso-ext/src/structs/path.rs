//! Values at paths: walking through fields, rows and masks.
//!
//! Invariant: what is missing outside is missing inside, under one mask: a field of masked records is missing where the
//! record or the field is.

use super::StructTensor;
use crate::args::{typed, typed_ref};
use crate::axes::rank;
use crate::masked::MaskedTensor;
use crate::ragged::{self, RaggedTensor};
use extenso_core::{ExtensionType, Tensor, Value};
use extenso_types::{Error, Path, Result, Segment};
use std::sync::Arc;

/// The value at a path: `history[*].item` has the rows of `history`, and what is missing outside is missing inside.
///
/// Errors: a step that leads nowhere, with its path.
pub fn field_value(value: &Value, path: &Path) -> Result<Value> {
    walk(value, path.segments()).map_err(|e| e.at(format!("'{path}'")))
}

/// The same of records.
pub(super) fn of_record(records: &StructTensor, path: &Path) -> Result<Value> {
    let found = match path.segments() {
        [Segment::Field(name), rest @ ..] => records.field(name).and_then(|field| walk(field, rest)),
        steps => walk(&records.clone().into_value(), steps),
    };
    found.map_err(|e| e.at(format!("'{path}'")))
}

fn walk(value: &Value, steps: &[Segment]) -> Result<Value> {
    let Some((step, rest)) = steps.split_first() else { return Ok(value.clone()) };
    if let Some(masked) = typed::<MaskedTensor>(value) {
        return through_mask(&masked, steps);
    }
    match step {
        Segment::Itself => walk(value, rest),
        Segment::Field(name) => match typed_ref::<StructTensor>(value) {
            Some(record) => walk(record.field(name)?, rest),
            None if typed::<RaggedTensor>(value).is_some() => {
                Err(nowhere(step, value).hint(format!("Write `[*].{name}` for the field of each item")))
            }
            None => component(value, step, rest),
        },
        Segment::Each => match typed::<RaggedTensor>(value) {
            Some(rows) => Ok(rows.with_values(walk(rows.values(), rest)?)?.into_value()),
            // Lists of one size are dense, and their fields have their axes.
            None if rank(value).is_ok_and(|rank| rank > 1) => walk(value, rest),
            None => component(value, step, rest),
        },
        Segment::Component(_) => component(value, step, rest),
        Segment::Index(_) => Err(nowhere(step, value).wanted("`[*]` for all items").hint("Pick items with `take`.")),
    }
}

/// `@mask` is the mask; any other step is one of the values, whose result is masked as they are.
fn through_mask(masked: &MaskedTensor, steps: &[Segment]) -> Result<Value> {
    match steps {
        [Segment::Component(name)] if &**name == "mask" => Ok(masked.mask().clone().into()),
        // A row partition is of the rows, whether or not some of them are missing.
        [.., Segment::Component(_)] => walk(masked.values(), steps),
        _ => masked_by(walk(masked.values(), steps)?, masked.mask()),
    }
}

/// The value, missing where it is and where the mask of its outer axes says so. Of axes that are rows of one length, the mask goes inside.
pub(crate) fn masked_by(value: Value, mask: &Tensor) -> Result<Value> {
    match typed_ref::<RaggedTensor>(&value) {
        Some(rows) if mask.rank().is_some_and(|rank| rank > 1) => {
            let inside = ragged::flatten(mask.clone(), Some(1))?;
            Ok(rows.with_values(masked_by(rows.values().clone(), inside.tensor()?)?)?.into_value())
        }
        _ => Ok(MaskedTensor::new(value, mask.clone())?.into_value()),
    }
}

/// The field of a name, through rows and masks.
///
/// Errors: a name that leads nowhere.
pub(crate) fn select(value: &Value, name: &Arc<str>) -> Result<Value> {
    if let Some(record) = typed_ref::<StructTensor>(value) {
        return record.field(name).cloned();
    }
    if let Some(rows) = typed_ref::<RaggedTensor>(value) {
        return Ok(rows.with_values(select(rows.values(), name)?)?.into_value());
    }
    if let Some(masked) = typed_ref::<MaskedTensor>(value) {
        return masked_by(select(masked.values(), name)?, masked.mask());
    }
    component(value, &Segment::Field(name.clone()), &[])
}

/// A component of any extension type.
fn component(value: &Value, step: &Segment, rest: &[Segment]) -> Result<Value> {
    let Value::Ext(ext) = value else { return Err(nowhere(step, value)) };
    let at = ext.spec()?.components.iter().position(|(segment, _)| segment == step);
    let found = at.and_then(|i| ext.components().ok()?.into_iter().nth(i));
    walk(&found.ok_or_else(|| nowhere(step, value))?, rest)
}

fn nowhere(step: &Segment, value: &Value) -> Error {
    let found = match value {
        Value::Tensor(t) => format!("a tensor {}", t.spec()),
        Value::Partition(p) => format!("a {}", p.spec()),
        Value::Ext(ext) => format!("a value of type {}", ext.def().name()),
    };
    Error::missing(format!("'{}' leads nowhere from {found}", Path::from_iter([step.clone()])))
}
