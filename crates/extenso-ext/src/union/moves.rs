//! What unions do under ops: their elements move, alone, into rows and back. Nothing is computed on them.

use super::{UnionChild, UnionTensor};
use crate::args::{answer, answer_ext, flat, int, typed_arg};
use crate::axes::{one_row, outer, positions, rank, rows_of_one, zeros_of};
use crate::ragged::RaggedTensor;
use extenso_core::attrs::Attrs;
use extenso_core::ops::OneAxis;
use extenso_core::reduce::normalize_axis;
use extenso_core::{Answer, Arg, Call, ExtensionType, OpDef, Target, Tensor, Value, call_one, on, ops};
use extenso_types::{Dim, Error, Result, TypeDef};
use std::sync::Arc;

/// Registers the handlers; called once, when the type is defined.
pub(super) fn register(def: &Arc<TypeDef>) {
    type Handle = fn(&Call<'_>) -> Answer;
    on(Target::Any, def, "UnionTensor alone", refused);
    let handlers: [(&'static OpDef, Handle); 14] = [
        (&ops::TAKE, take),
        (&ops::SLICE, moved),
        (&ops::BOOLEAN_MASK, moved),
        (&ops::GATHER_ROWS_OF, moved),
        (&ops::ALIGN_ROWS, moved),
        (&ops::STRETCH_ROWS, moved),
        (&ops::EXPAND_DIMS, expand_dims),
        (&ops::RESHAPE, by_numbers),
        (&ops::RESHAPE_LIKE, by_numbers),
        (&ops::BROADCAST_TO, by_numbers),
        (&ops::TAKE_ALONG_AXIS, by_numbers),
        (&ops::BROADCAST_LIKE, by_numbers),
        (&ops::INDICES_ALONG, indices_along),
        (&ops::WHERE, chosen),
    ];
    for (op, handle) in handlers {
        on(Target::Op(op), def, "UnionTensor moves", handle);
    }
    on(Target::Op(&ops::CONCAT), def, "UnionTensor concat", concat);
    on(Target::Op(&ops::ROW_PARTITION), def, "UnionTensor rows", row_partition);
}

/// Nothing is computed on elements of several types, nor do they have an order; another type may have an answer.
fn refused(call: &Call<'_>) -> Answer {
    let is_other = |arg: &Arg| matches!(arg, Arg::Value(Value::Ext(_))) && typed_arg::<UnionTensor>(arg).is_none();
    let args = flat(call);
    let Some(union) = args.iter().find_map(typed_arg::<UnionTensor>).filter(|_| !args.iter().any(is_other)) else {
        return Ok(None);
    };
    let name = union.children.first().map_or("name", |child| &*child.name);
    Err(Error::dispatch("the elements of a union are of several types")
        .wanted("elements of one type")
        .hint(format!("Take those of one child, the others are missing: `x.child('{name}')`.")))
}

/// `take` by several axes of positions gives rows of elements.
fn take(call: &Call<'_>) -> Answer {
    let [x, Arg::Value(indices)] = flat(call) else { return moved(call) };
    if indices.tensor().is_ok() && rank(indices)? > 1 && typed_arg::<UnionTensor>(x).is_some() {
        let rows = RaggedTensor::of_uniform(indices)?.into_value();
        return answer(call_one(call.op, &[x.clone(), Arg::Value(rows)], call.attrs)?);
    }
    moved(call)
}

/// A new axis of one element; elements become rows.
fn expand_dims(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(union) = typed_arg::<UnionTensor>(x) else { return Ok(None) };
    let whole = x.value()?.clone();
    let axes = rank(&whole)?;
    match (axes, normalize_axis(OneAxis::of(call.attrs)?.axis, axes + 1)?) {
        (0, _) => {
            let vector = |x: &Tensor| ops::expand_dims(x, 0)?.tensor().cloned();
            let offsets = union.offsets.as_ref().map(vector).transpose()?;
            let child = |child: &UnionChild| match offsets {
                Some(_) => Ok(child.clone()),
                None => Ok(UnionChild { values: ops::expand_dims(&child.values, 0)?, ..child.clone() }),
            };
            let children: Result<Vec<UnionChild>> = union.children.iter().map(child).collect();
            answer_ext(UnionTensor { tags: vector(&union.tags)?, children: children?, offsets })
        }
        (_, 0) => answer_ext(RaggedTensor::from_partition(whole.clone(), one_row(&whole)?)?),
        _ => answer_ext(RaggedTensor::from_partition(whole.clone(), rows_of_one(&whole)?)?),
    }
}

/// The elements as a vector, and the number of each.
fn in_a_row(x: &Value) -> Result<(Value, Value)> {
    let zeros = zeros_of(x, rank(x)?)?;
    match rank(x)? {
        0 => Ok((ops::expand_dims(x, 0)?, zeros)),
        _ => Ok((x.clone(), positions(&zeros)?)),
    }
}

/// Zeros of the shape of elements; any other argument as it is.
fn shape_alone(arg: &Arg) -> Result<Arg> {
    match typed_arg::<UnionTensor>(arg) {
        Some(_) => zeros_of(arg.value()?, rank(arg.value()?)?).map(Arg::Value),
        None => Ok(arg.clone()),
    }
}

/// An op that moves elements, on their numbers; a union may lend its shape alone.
fn by_numbers(call: &Call<'_>) -> Answer {
    let [x, rest @ ..] = call.args else { return Ok(None) };
    let rest = rest.iter().map(shape_alone).collect::<Result<Vec<Arg>>>()?;
    let apply = |first: Arg| {
        let args: Vec<Arg> = std::iter::once(first).chain(rest.iter().cloned()).collect();
        call_one(call.op, &args, call.attrs)
    };
    if typed_arg::<UnionTensor>(x).is_none() {
        return answer(apply(x.clone())?);
    }
    let (row, numbers) = in_a_row(x.value()?)?;
    answer(ops::take(row, apply(Arg::Value(numbers))?, 0)?)
}

fn indices_along(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    answer(call_one(call.op, &[shape_alone(x)?], call.attrs)?)
}

/// `where` takes the elements of both and chooses among their numbers.
fn chosen(call: &Call<'_>) -> Answer {
    let [condition, x, y] = flat(call) else { return Ok(None) };
    if typed_arg::<UnionTensor>(x).is_none() || typed_arg::<UnionTensor>(y).is_none() {
        return Ok(None);
    }
    let ((first, numbers), (second, others)) = (in_a_row(x.value()?)?, in_a_row(y.value()?)?);
    let count = ops::sum(ops::ones_like(positions(&first)?)?, 0, false)?;
    let places = ops::where_(condition, numbers, ops::add(others, count)?)?;
    answer(ops::take(ops::concat(vec![first, second], 0)?, places, 0)?)
}

/// Tags move, with their offsets, or with every child.
fn moved(call: &Call<'_>) -> Answer {
    let [x, rest @ ..] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<UnionTensor>(x) else { return Ok(None) };
    if rest.iter().any(|arg| matches!(arg, Arg::Value(Value::Ext(_)))) {
        return Ok(None);
    }
    let apply = |value: Value| {
        let args: Vec<Arg> = std::iter::once(Arg::Value(value)).chain(rest.iter().cloned()).collect();
        call_one(call.op, &args, call.attrs)
    };
    // Children with axes of their own would count an axis from their own end.
    let own = rank(&x.tags.clone().into())?;
    if x.offsets.is_none()
        && own == 1
        && x.children.iter().any(|child| rank(&child.values).is_ok_and(|axes| axes > own))
    {
        let places = apply(positions(&x.tags.clone().into())?)?;
        let taken = |value: &Value| ops::take(value, &places, 0);
        let tags = taken(&x.tags.into())?.tensor()?.clone();
        let child = |child: &UnionChild| Ok(UnionChild { values: taken(&child.values)?, ..child.clone() });
        let children: Result<Vec<UnionChild>> = x.children.iter().map(child).collect();
        return answer_ext(of_one_axis(UnionTensor { tags, offsets: None, children: children? })?);
    }
    let vector = |value: Value| apply(value)?.tensor().cloned();
    let offsets = x.offsets.as_ref().map(|offsets| vector(offsets.clone().into())).transpose()?;
    let child = |child: &UnionChild| {
        let values = if x.offsets.is_some() { child.values.clone() } else { apply(child.values.clone())? };
        Ok(UnionChild { values, ..child.clone() })
    };
    let children: Result<Vec<UnionChild>> = x.children.iter().map(child).collect();
    let tags = vector(x.tags.into())?;
    answer_ext(of_one_axis(UnionTensor { tags, offsets, children: children? })?)
}

/// The union, whose elements have one axis at most.
///
/// Errors: they have more.
fn of_one_axis(x: UnionTensor) -> Result<UnionTensor> {
    if x.tags.rank().is_none_or(|rank| rank > 1) {
        return Err(Error::shape(format!("the elements would have shape {}", x.tags.shape()))
            .wanted("a vector of elements, or one"));
    }
    Ok(x)
}

/// Unions of the same children; the offsets of later ones move behind the values of earlier ones.
fn concat(call: &Call<'_>) -> Answer {
    let Some(parts) = flat(call).iter().map(typed_arg::<UnionTensor>).collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let Some(first) = parts.first() else { return Ok(None) };
    normalize_axis(OneAxis::of(call.attrs)?.axis, 1)?;
    let key = |x: &UnionTensor| {
        let ids: Vec<(i8, Arc<str>)> = x.children.iter().map(|child| (child.id, child.name.clone())).collect();
        (x.offsets.is_some(), ids)
    };
    if parts.iter().any(|part| key(part) != key(first)) {
        return Err(Error::dtype("the unions have other children").wanted("the same children in all"));
    }
    let joined = |values: Vec<Value>| ops::concat(values, 0_i64);
    let tags = joined(parts.iter().map(|part| part.tags.clone().into()).collect())?.tensor()?.clone();
    let child = |(i, child): (usize, &UnionChild)| {
        let values = joined(parts.iter().map(|part| part.children[i].values.clone()).collect())?;
        Ok(UnionChild { values, ..child.clone() })
    };
    let children: Result<Vec<UnionChild>> = first.children.iter().enumerate().map(child).collect();
    let offsets = first.offsets.is_some().then(|| later_offsets(&parts)).transpose()?;
    answer_ext(UnionTensor::new(tags, offsets, children?)?)
}

fn later_offsets(parts: &[UnionTensor]) -> Result<Tensor> {
    let mut before = vec![0_i64; parts[0].children.len()];
    let mut offsets = Vec::new();
    for part in parts {
        let mut moved: Value =
            part.offsets.clone().ok_or_else(|| Error::internal("a dense union without offsets"))?.into();
        for (child, before) in part.children.iter().zip(&mut before) {
            let here = ops::equal(&part.tags, i64::from(child.id))?;
            moved = ops::where_(here, ops::add(&moved, *before)?, moved)?;
            let Some(Dim::Known(len)) = outer(&child.values) else {
                return Err(Error::scope("the number of values of a child is not known while tracing"));
            };
            *before += int(len);
        }
        offsets.push(moved);
    }
    ops::concat(offsets, 0_i64)?.tensor().cloned()
}

fn row_partition(call: &Call<'_>) -> Answer {
    let [splits, values] = call.args else { return Ok(None) };
    let Some(x) = typed_arg::<UnionTensor>(values) else { return Ok(None) };
    answer(call_one(call.op, &[splits.clone(), Arg::from(x.tags)], call.attrs)?)
}
