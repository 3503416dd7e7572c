//! `Batchable`: the base of types of which each component has the axes of the value, so that values move as records do.
//!
//! Invariant: a value is moved as the struct tensor of its components, and what comes of it is of its type again. Nothing is computed.

use crate::args::{again, flat, typed, typed_ref};
use crate::axes::{is_ragged, rank};
use crate::guard::of_outer_sizes;
use crate::masked::MaskedTensor;
use crate::ragged::RaggedTensor;
use crate::structs::{StructTensor, moved_ops, other_outer_shape, shape_of};
use extenso_core::{Answer, Arg, Call, Ext, ExtensionType, Provenance, Target, TypeSpec, Value, on, rebuild};
use extenso_derive::ExtensionType;
use extenso_types::{Error, ExtSpec, Result, Segment, TypeDef};
use std::sync::Arc;

/// The base of types whose values are many of a kind: a type that refines it has no structural handlers of its own to write.
///
/// Each component has the axes of the value in front, as the fields of a struct tensor have; the component with the fewest axes has no
/// others. Components whose axes differ are refused wherever a value is rebuilt of them. Rows are inside a value. What moves elements,
/// such as `take`, `slice`, `concat`, `where` or `reshape`, moves those of each component, and the static data stay. Two values of one
/// type with other static data do not meet.
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
#[extenso(name = "extenso/Batchable", validate_refined = meet, handlers = register)]
pub struct Batchable {}

/// Checks that the components of a value have its axes in front.
fn meet(spec: &ExtSpec, components: &[Value]) -> Result<()> {
    let Some((least, rank)) = in_front(components) else { return Ok(()) };
    let shape = shape_of(components.get(least), rank)?;
    let step = |i: usize| spec.components.get(i).map_or_else(String::new, |(segment, _)| name(i, segment).to_string());
    for (i, component) in components.iter().enumerate().filter(|(i, _)| *i != least) {
        if let Some(given) = other_outer_shape(shape.dims().unwrap_or(&[]), component)? {
            let error = Error::shape(format!("the outer shape is {given}, and that of '{}' {shape}", step(least)));
            let wanted = format!("{shape} in front of each component's own axes");
            return Err(error.wanted(wanted).at(format!("component '{}'", step(i))));
        }
    }
    Ok(())
}

impl Batchable {
    /// Components of one value, with checks in them where only data can tell that they meet.
    ///
    /// Errors: those of types that refuse such components; when the graph runs, outer axes that differ.
    pub fn guarded(mut components: Vec<Value>) -> Result<Vec<Value>> {
        let Some((least, axes)) = in_front(&components) else { return Ok(components) };
        let given = components.clone();
        let Some(shown) = given.get(least) else { return Ok(components) };
        let met = |of: Value, beside: &Value| of_outer_sizes(of, beside, axes, "the outer sizes of the components");
        for (i, component) in components.iter_mut().enumerate() {
            let beside = if i == least { &given[..] } else { std::slice::from_ref(shown) };
            *component = beside.iter().try_fold(component.clone(), met)?;
        }
        Ok(components)
    }
}

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
    let Some((least, fewest)) = in_front(&components) else { return Ok(None) };
    let shape = shape_of(components.get(least), axes.unwrap_or(fewest))?;
    let names = spec.components.iter().enumerate().map(|(i, (segment, _))| name(i, segment));
    StructTensor::new(shape, names.zip(components).collect()).map(Some)
}

/// Which component shows the axes that all have in front, and how many these are; none where nothing is known of them.
fn in_front(components: &[Value]) -> Option<(usize, usize)> {
    let known = components.iter().enumerate().filter_map(|(i, component)| Some((i, Axes::of(component)?)));
    let (dense, rows): (Vec<_>, Vec<_>) = known.partition(|(_, axes)| axes.is_dense());
    match dense.iter().min_by_key(|(_, axes)| axes.rank) {
        // Beside a component without rows, rows of one length are as good as an axis.
        Some((i, axes)) => Some((*i, rows.iter().map(|(_, rows)| rows.uniform).fold(axes.rank, usize::min))),
        None => rows.iter().min_by_key(|(_, rows)| rows.dense).map(|(i, axes)| (*i, axes.dense)),
    }
}

/// The axes of a component.
struct Axes {
    rank: usize,
    /// How many there are before its rows, which are inside the value.
    dense: usize,
    /// How many there are before rows that are not known to have one length.
    uniform: usize,
}

impl Axes {
    /// None of a component of which they are not known.
    fn of(component: &Value) -> Option<Axes> {
        let rank = rank(component).ok()?;
        let first = |found: &dyn Fn(usize) -> bool| (0..rank).find(|axis| found(*axis)).unwrap_or(rank);
        let dense = first(&|axis| is_ragged(component, axis));
        Some(Axes { rank, dense, uniform: first(&|axis| is_ragged(component, axis) && !is_uniform(component, axis)) })
    }

    fn is_dense(&self) -> bool {
        self.dense == self.rank
    }
}

/// Whether the rows along an axis are known to have one length.
fn is_uniform(value: &Value, axis: usize) -> bool {
    if let Some(masked) = typed_ref::<MaskedTensor>(value) {
        return is_uniform(masked.values(), axis);
    }
    typed_ref::<RaggedTensor>(value).is_some_and(|rows| match axis {
        1 => rows.partition().spec().uniform_row_length.is_some(),
        _ => is_uniform(rows.values(), axis - 1),
    })
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
    // Beside a value of the type, one inside rows or a mask is records too.
    for arg in &mut args {
        if let Arg::Value(value) = arg
            && let Some(records) = records_inside(value, &like)?
        {
            *arg = records.into();
        }
    }
    let outputs = again(call, &args)?;
    outputs.into_iter().map(|value| restored(&like, value)).collect::<Result<_>>().map(Some)
}

/// Rows or a mask over values of the type as these over their records; none of another value.
fn records_inside(value: &Value, like: &ExtSpec) -> Result<Option<Value>> {
    if let Some(rows) = typed_ref::<RaggedTensor>(value) {
        let records = records_inside(rows.values(), like)?;
        return records.map(|records| Ok(rows.with_values(records)?.into_value())).transpose();
    }
    if let Some(masked) = typed_ref::<MaskedTensor>(value) {
        let records = records_inside(masked.values(), like)?;
        return records.map(|records| Ok(MaskedTensor::new(records, masked.mask().clone())?.into_value())).transpose();
    }
    match value {
        Value::Ext(ext) if ext.def() == &like.def && ext.spec()?.static_data == like.static_data => {
            Ok(records(ext, None)?.map(ExtensionType::into_value))
        }
        Value::Tensor(_) | Value::Partition(_) | Value::Ext(_) => Ok(None),
    }
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
