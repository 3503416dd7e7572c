//! `Batchable`: the base of types of which each component has the axes of the value, so that values move as records do.
//!
//! Invariant: a value is moved as the struct tensor of its components, and what comes of it is of its type again. Nothing is computed.

use crate::args::{again, flat, typed};
use crate::axes::{is_ragged, rank};
use crate::masked::MaskedTensor;
use crate::ragged::RaggedTensor;
use crate::structs::{StructTensor, moved_ops, shape_of};
use extenso_core::{Answer, Arg, Call, Ext, ExtensionType, Provenance, Target, TypeSpec, Value, on, rebuild};
use extenso_derive::ExtensionType;
use extenso_types::{ExtSpec, Result, Segment, TypeDef};
use std::sync::Arc;

/// The base of types whose values are many of a kind: a type that refines it has no structural handlers of its own to write.
///
/// Each component has the axes of the value in front, as the fields of a struct tensor have; the component with the fewest axes has no
/// others. Rows are inside a value. What moves elements, such as `take`, `slice`, `concat`, `where` or `reshape`, moves those of each component, and the static
/// data stay. Two values of one type with other static data do not meet.
///
/// ```
/// use extenso_core::{ExtensionType, Tensor, Value, ops};
/// use extenso_derive::ExtensionType;
/// use extenso_ext::Batchable;
///
/// #[derive(Clone, ExtensionType)]
/// #[extenso(name = "doc/Box", refines = "Batchable")]
/// struct Box {
///     corner: Tensor,
///     score: Tensor,
/// }
///
/// let corner = Tensor::new(&[3, 2], &[0.0, 0.0, 1.0, 1.0, 2.0, 2.0]).unwrap();
/// let boxes = Box { corner, score: Tensor::from_vec(vec![0.5, 0.1, 0.9]) };
/// let best = Box::from_value(&ops::take(boxes.into_value(), Tensor::from_vec(vec![2_i64, 0]), 0).unwrap()).unwrap();
/// assert_eq!(best.corner.to_string(), "[[2.0, 2.0], [0.0, 0.0]]");
/// assert_eq!(best.score.to_string(), "[0.9, 0.5]");
/// ```
#[derive(Clone, Debug, ExtensionType)]
#[extenso(name = "extenso/Batchable", handlers = register)]
pub struct Batchable {}

fn register(def: &Arc<TypeDef>) {
    for op in moved_ops() {
        on(Target::Op(op), def, "Batchable moves", moved);
    }
}

/// The components as the fields of records; none of a value of another type, or without components whose axes are known.
pub(crate) fn records_of(ext: &Ext) -> Option<StructTensor> {
    if !ext.def().is_a(BatchableSpec::def()) {
        return None;
    }
    records(ext, None).ok().flatten()
}

/// The components of any type as the fields of records of so many axes, or of as many as the component with the fewest has.
pub(crate) fn records(ext: &Ext, axes: Option<usize>) -> Result<Option<StructTensor>> {
    let (spec, components) = (ext.spec()?, ext.components()?);
    let fewest =
        components.iter().filter_map(|component| Some((dense_axes(component)?, component))).min_by_key(|x| x.0);
    let Some((fewest, least)) = fewest else { return Ok(None) };
    let shape = shape_of(Some(least), axes.unwrap_or(fewest))?;
    let names = spec.components.iter().enumerate().map(|(i, (segment, _))| name(i, segment));
    StructTensor::new(shape, names.zip(components).collect()).map(Some)
}

/// How many axes a component has before its rows, which are inside the value.
fn dense_axes(component: &Value) -> Option<usize> {
    let rank = rank(component).ok()?;
    Some((0..rank).find(|axis| is_ragged(component, *axis)).unwrap_or(rank))
}

/// The names that a component has as a column of Arrow too.
fn name(i: usize, segment: &Segment) -> Arc<str> {
    match segment {
        Segment::Itself => "value".into(),
        Segment::Field(name) | Segment::Component(name) => name.clone(),
        Segment::Each | Segment::Index(_) => format!("component{i}").into(),
    }
}

fn moved(call: &Call<'_>) -> Answer {
    let mut like: Option<ExtSpec> = None;
    let mut args = Vec::with_capacity(flat(call).len());
    for arg in flat(call) {
        match arg {
            Arg::Value(Value::Ext(ext)) if ext.def().is_a(BatchableSpec::def()) => {
                let spec = ext.spec()?;
                let same = |like: &ExtSpec| like.def == spec.def && like.static_data == spec.static_data;
                let (true, Some(records)) = (like.as_ref().is_none_or(same), records(ext, None)?) else {
                    return Ok(None);
                };
                args.push(Arg::from(records.into_value()));
                like = Some(spec);
            }
            // Records that are no value of the type do not become one.
            Arg::Value(value) if typed::<StructTensor>(value).is_some() => return Ok(None),
            other => args.push(other.clone()),
        }
    }
    let Some(like) = like else { return Ok(None) };
    let outputs = again(call, &args)?;
    outputs.into_iter().map(|value| restored(&like, value)).collect::<Result<_>>().map(Some)
}

/// The value with the type in the place of the records.
pub(crate) fn restored(like: &ExtSpec, value: Value) -> Result<Value> {
    if let Some(rows) = typed::<RaggedTensor>(&value) {
        return Ok(rows.with_values(restored(like, rows.values().clone())?)?.into_value());
    }
    if let Some(masked) = typed::<MaskedTensor>(&value) {
        return Ok(MaskedTensor::new(restored(like, masked.values().clone())?, masked.mask().clone())?.into_value());
    }
    let Some(records) = typed::<StructTensor>(&value) else { return Ok(value) };
    let components: Vec<Value> = records.fields().iter().map(|(_, component)| component.clone()).collect();
    let specs =
        like.components.iter().zip(&components).map(|((segment, _), value)| Ok((segment.clone(), value.spec()?)));
    let spec = ExtSpec { components: specs.collect::<Result<_>>()?, ..like.clone() };
    rebuild(&spec, components, Provenance::Trusted)
}
