//! Values that stand in literals: as a field they are shared, in lists they are joined, and their dtypes are kept.

use super::Literal;
use super::read::to_literal;
use crate::args::typed;
use crate::axes::{outer, rank};
use crate::masked::MaskedTensor;
use crate::meaning;
use crate::ragged::RaggedTensor;
use crate::specs::{dtype_of, shape_of};
use crate::structs::{Field, StructTensor};
use extenso_core::{ExtensionType, RowPartition, Value, ops};
use extenso_types::{DType, Dim, Error, Result, Shape};
use std::fmt;

/// A value in a literal. It equals another that has the same literal and spec.
#[derive(Clone)]
pub struct Held(pub(super) Value);

impl Held {
    /// The value.
    pub fn value(&self) -> &Value {
        &self.0
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Held) -> bool {
        let same_spec = self.0.spec().ok().zip(other.0.spec().ok()).is_some_and(|(a, b)| a == b);
        same_spec && to_literal(&self.0).ok().zip(to_literal(&other.0).ok()).is_some_and(|(a, b)| a == b)
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl From<Value> for Literal {
    fn from(value: Value) -> Literal {
        Literal::Value(Held(value))
    }
}

/// The literal with nested lists and records in the place of values.
///
/// Errors: a symbol; a type that has no literal.
pub(super) fn written_out(literal: &Literal) -> Result<Literal> {
    Ok(match literal {
        Literal::Value(held) => to_literal(&held.0)?,
        Literal::List(items) => Literal::List(items.iter().map(written_out).collect::<Result<_>>()?),
        Literal::Record(fields) => {
            let field = |(name, item): &(String, Literal)| Ok((name.clone(), written_out(item)?));
            Literal::Record(fields.iter().map(field).collect::<Result<_>>()?)
        }
        Literal::None
        | Literal::Bool(_)
        | Literal::Int(_)
        | Literal::Unsigned(_)
        | Literal::Float(_)
        | Literal::Str(_)
        | Literal::Bytes(_) => literal.clone(),
    })
}

/// Whether a value stands somewhere in the literal.
pub(super) fn holds_values(literal: &Literal) -> bool {
    matches!(literal, Literal::Value(_)) || literal.inner().any(holds_values)
}

/// The values as the items of one, if they have one dtype and one number of axes: dense where their shapes are one, otherwise
/// rows. None if they do not.
pub(super) fn side_by_side(values: &[&Value]) -> Option<Result<Value>> {
    if let Some(joined) = meaning::joined(values) {
        return Some(joined);
    }
    let first = alike(values.first()?)?;
    values.iter().all(|value| alike(value).as_ref() == Some(&first)).then(|| joined(values))
}

/// The name of the type of a single value under a meaning, which may be missing; none of anything else.
pub(super) fn single_of_meaning(literal: &Literal) -> Option<String> {
    let Literal::Value(held) = literal else { return None };
    single(&held.0)
}

fn single(value: &Value) -> Option<String> {
    if let Some(x) = typed::<MaskedTensor>(value) {
        return single(x.values());
    }
    meaning::name_of(value).filter(|_| rank(value).is_ok_and(|axes| axes == 0))
}

/// What values that are joined have in common; the fields of records are looked at by themselves.
fn alike(value: &Value) -> Option<(Option<DType>, usize, Option<String>)> {
    let spec = value.spec().ok()?;
    Some((dtype_of(&spec), rank(value).ok()?, single(value)))
}

fn joined(values: &[&Value]) -> Result<Value> {
    let records: Option<Vec<StructTensor>> = values.iter().map(|value| typed(value)).collect();
    if let Some(records) = records.filter(|records| records.iter().all(|record| record.rank() == 0)) {
        return joined_records(&records);
    }
    let shapes: Result<Vec<Shape>> = values.iter().map(|value| Ok(shape_of(&value.spec()?))).collect();
    let shapes = shapes?;
    let dense = !values.iter().any(|value| typed::<RaggedTensor>(value).is_some());
    if dense && shapes.iter().all(|shape| *shape == shapes[0] && shape.to_dims().is_some()) {
        return ops::stack(values.iter().copied().cloned().collect::<Vec<_>>(), 0);
    }
    let lengths: Result<Vec<usize>> = values.iter().map(|value| known(outer(value))).collect();
    let inner = |shape: &Shape| shape.dims().map(|dims| dims.iter().skip(1).copied().collect::<Vec<Dim>>());
    let rows_inside = !dense || shapes.iter().any(|shape| inner(shape) != inner(&shapes[0]));
    let axes = rank(values[0])?;
    let part = |value: &&Value| match value {
        Value::Tensor(_) if rows_inside && axes > 1 => {
            Ok(RaggedTensor::from_dense((*value).clone(), axes - 1)?.into_value())
        }
        _ => Ok((*value).clone()),
    };
    let parts: Result<Vec<Value>> = values.iter().map(part).collect();
    let partition = RowPartition::from_lengths(lengths?)?;
    Ok(RaggedTensor::from_partition(ops::concat(parts?, 0)?, partition)?.into_value())
}

fn known(size: Option<Dim>) -> Result<usize> {
    size.and_then(Dim::known).ok_or_else(|| Error::scope("the size of a value in a list is not known while tracing"))
}

fn joined_records(records: &[StructTensor]) -> Result<Value> {
    let field = |(name, _): &Field| {
        let values: Result<Vec<&Value>> = records.iter().map(|record| record.field(name)).collect();
        let differ = || Error::dtype("the values have several dtypes").wanted("one dtype in all records");
        let made = values.and_then(|values| side_by_side(&values).unwrap_or_else(|| Err(differ())));
        Ok((name.clone(), made.map_err(|e| e.at(format!("field '{name}'")))?))
    };
    let fields: Result<Vec<Field>> = records[0].fields().iter().map(field).collect();
    Ok(StructTensor::new(Shape::known(&[records.len()]), fields?)?.into_value())
}
