//! Values as formats of rows write them: categories by what they mean, JSON by its text, booleans of eight bits as booleans; every element of
//! a union at its own place in each child, the ids 0, 1, 2 and so on.
//!
//! Invariant: elements stay what they mean, at every level, and a value that is plain already is shared. What is done is done by ops, so that a
//! graph does it too.

use crate::arrow::defaults;
use crate::records::is;
use extenso_core::{ExtensionType, Provenance, Tensor, TypeSpec, Value, ops, pack, rebuild};
use extenso_ext::{
    Bool8Tensor, Bool8TensorSpec, CategoricalTensor, CategoricalTensorSpec, JsonTensor, JsonTensorSpec, UnionChild,
    UnionSpec, UnionTensor,
};
use extenso_types::{DType, ExtSpec, Result, Spec};

/// The value with nothing in it that rows do not say.
///
/// Errors: a child of a union that has no default, or does not know the ops that move rows.
pub fn plain(value: &Value) -> Result<Value> {
    let spec = value.spec()?;
    let Spec::Ext(ext) = &spec else { return Ok(value.clone()) };
    if !is_odd(&spec) {
        return Ok(value.clone());
    }
    if let Ok(union) = UnionTensor::from_value(value) {
        return of_union(&union);
    }
    if let Ok(x) = CategoricalTensor::from_value(value) {
        return plain(&x.decoded()?);
    }
    if let Ok(x) = JsonTensor::from_value(value) {
        return Ok(x.text().clone().into());
    }
    if let Ok(x) = Bool8Tensor::from_value(value) {
        return ops::not_equal(x.values(), 0_i64);
    }
    let mut leaves = Vec::new();
    value.push_leaves(&mut leaves)?;
    let mut leaves = leaves.into_iter();
    let (mut components, mut parts) = (Vec::with_capacity(ext.components.len()), Vec::new());
    for (segment, spec) in &ext.components {
        let part = plain(&pack(spec, &mut leaves, Provenance::Trusted)?)?;
        components.push((segment.clone(), part.spec()?));
        parts.push(part);
    }
    let spec = ExtSpec { def: ext.def.clone(), static_data: ext.static_data.clone(), components };
    rebuild(&spec, parts, Provenance::Trusted)
}

/// Whether something stands in a value that rows do not say.
fn is_odd(spec: &Spec) -> bool {
    let Spec::Ext(ext) = spec else { return false };
    let moved = is::<UnionSpec>(ext) && UnionSpec::deserialize(ext).is_ok_and(|spec| is_moved(&spec));
    let meaning = is::<CategoricalTensorSpec>(ext) || is::<JsonTensorSpec>(ext) || is::<Bool8TensorSpec>(ext);
    moved || meaning || ext.components.iter().any(|(_, part)| is_odd(part))
}

/// Whether a union has offsets, or other ids.
fn is_moved(spec: &UnionSpec) -> bool {
    let in_order = (0_i8..).zip(spec.children()).all(|(place, (id, ..))| place == *id);
    spec.offsets().is_some() || !in_order
}

fn of_union(union: &UnionTensor) -> Result<Value> {
    let mut tags: Value = ops::zeros_like(union.tags())?;
    let mut children = Vec::with_capacity(union.children().len());
    for (place, child) in (0_i8..).zip(union.children()) {
        let here = ops::equal(union.tags(), i64::from(child.id))?;
        tags = ops::where_(&here, i64::from(place), tags)?;
        let values = match union.offsets() {
            None => child.values.clone(),
            Some(offsets) => {
                spread(&child.values, &here, offsets).map_err(|e| e.at(format!("child '{}'", child.name)))?
            }
        };
        children.push(UnionChild { id: place, name: child.name.clone(), values: plain(&values)? });
    }
    let tags = ops::cast(tags, DType::I8)?.tensor()?.clone();
    Ok(UnionTensor::new(tags, None, children)?.into_value())
}

/// The values at these offsets where they are of the child, and defaults elsewhere.
fn spread(values: &Value, here: &Value, offsets: &Tensor) -> Result<Value> {
    // A child may have no value that could stand where an element is of another one.
    let all = ops::concat(vec![defaults(&values.spec()?, 1)?, values.clone()], 0_i64)?;
    let places = ops::add(ops::cast(offsets, DType::I64)?, 1_i64)?;
    ops::take(all, ops::where_(here, places, 0_i64)?, 0_i64)
}
