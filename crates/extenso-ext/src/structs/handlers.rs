//! What struct tensors do under ops: records move, field by field. Nothing is computed on them.

use super::{Field, StructTensor, moves, rows};
use crate::UnionTensor;
use crate::args::{answer, answer_ext, flat, int, typed, typed_arg};
use crate::axes::{dim, has_axes, is_ragged, one_row, outer, rank, rows_of_one, zeros_of};
use crate::batchable::records_of;
use crate::masked::{MaskedTensor, looked_up_values, trailing};
use crate::missing::as_rows;
use crate::ragged::RaggedTensor;
use extenso_core::attrs::{AttrSet, Attrs, Axes};
use extenso_core::ops::{OneAxis, Reshape, Slice};
use extenso_core::reduce::normalize_axis;
use extenso_core::{Answer, Arg, Call, ExtensionType, OpDef, Target, Value, call_one, on, ops};
use extenso_types::{Dim, Error, Result, Shape, TypeDef};
use std::sync::Arc;

/// Registers the handlers; called once, when the type is defined.
pub(super) fn register(def: &Arc<TypeDef>) {
    for (op, name, handle) in HANDLERS {
        on(Target::Op(op), def, name, handle);
    }
    for op in moves::MOVES {
        on(Target::Op(op), def, "StructTensor moves", moves::by_numbers);
    }
}

type Handle = fn(&Call<'_>) -> Answer;

static HANDLERS: [(&OpDef, &str, Handle); 14] = [
    (&ops::TAKE, "StructTensor take", take),
    (&ops::SLICE, "StructTensor slice", slice),
    (&ops::BOOLEAN_MASK, "StructTensor boolean_mask", boolean_mask),
    (&ops::CONCAT, "StructTensor concat", concat),
    (&ops::EXPAND_DIMS, "StructTensor expand_dims", expand_dims),
    (&ops::RESHAPE, "StructTensor reshape", reshape),
    (&ops::GATHER_ROWS_OF, "StructTensor rows", along_rows),
    (&ops::ALIGN_ROWS, "StructTensor rows", along_rows),
    (&ops::STRETCH_ROWS, "StructTensor rows", along_rows),
    (&ops::ROW_PARTITION, "StructTensor rows", row_partition),
    (&ops::WHERE, "StructTensor where", moves::where_),
    (&ops::INDICES_ALONG, "StructTensor positions", moves::indices_along),
    (&ops::LOOKUP_VALUES, "StructTensor lookup", looked_up_values),
    (&ops::BROADCAST_LIKE, "StructTensor broadcasting", moves::broadcast_like),
];

/// The ops that records have handlers for.
pub(crate) fn moved_ops() -> impl Iterator<Item = &'static OpDef> {
    HANDLERS.iter().map(|(op, ..)| *op).chain(moves::MOVES)
}

fn take(call: &Call<'_>) -> Answer {
    let [x, indices] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<StructTensor>(x) else { return Ok(None) };
    if typed_arg::<RaggedTensor>(indices).is_some() || typed_arg::<MaskedTensor>(indices).is_some() {
        // The rows of the indices become rows of the records; where an index is missing, so is the record.
        return Ok(None);
    }
    if let Arg::Value(indices) = indices
        && rank(indices)? > 1
        && x.fields().iter().any(|(_, value)| has_rows(value))
    {
        // Rows come first in a field, so that the axes of the indices are rows too.
        let rows = RaggedTensor::of_uniform(indices)?.into_value();
        return answer(call_one(call.op, &[Arg::Value(x.into_value()), Arg::Value(rows)], call.attrs)?);
    }
    let axis = int(normalize_axis(OneAxis::of(call.attrs)?.axis, x.rank())?);
    // A number of the host language is one position.
    let kept = indices.value().map_or(Ok(0), rank)?;
    each_field(call, &x, std::slice::from_ref(indices), &OneAxis { axis }, x.rank() - 1 + kept)
}

/// The axes that the mask is about become one.
fn boolean_mask(call: &Call<'_>) -> Answer {
    let [x, Arg::Value(mask)] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<StructTensor>(x).filter(|_| mask.tensor().is_ok()) else { return Ok(None) };
    let axis = normalize_axis(OneAxis::of(call.attrs)?.axis, x.rank())?;
    let about = rank(mask)?;
    if !(1..=x.rank() - axis).contains(&about) {
        return Err(Error::shape(format!(
            "the mask has {about} axes from axis {axis} on, and the records have {}",
            x.rank()
        ))
        .wanted("a mask of axes of the records"));
    }
    each_field(call, &x, &[Arg::from(mask)], &OneAxis { axis: int(axis) }, x.rank() + 1 - about)
}

fn slice(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<StructTensor>(x) else { return Ok(None) };
    let attrs = Slice::of(call.attrs)?;
    let axis = int(normalize_axis(attrs.axis, x.rank())?);
    each_field(call, &x, &[], &Slice { axis, ..attrs.clone() }, x.rank())
}

/// A new axis of the records. Fields that have rows give the rows to the records, because rows come first in a field.
fn expand_dims(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<StructTensor>(x) else { return Ok(None) };
    let at = normalize_axis(OneAxis::of(call.attrs)?.axis, x.rank() + 1)?;
    if x.rank() > 0 && x.fields().iter().any(|(_, value)| has_rows(value)) {
        let whole = x.into_value();
        let rows = if at == 0 { one_row(&whole)? } else { rows_of_one(&whole)? };
        return answer_ext(RaggedTensor::from_partition(whole, rows)?);
    }
    let field = |(name, value): &Field| {
        let expanded = ops::expand_dims(value, int(at)).map_err(|e| at_field(e, name))?;
        Ok((name.clone(), expanded))
    };
    if let Some(records) = &x.records {
        let records = ops::expand_dims(records, int(at))?;
        return answer_ext(StructTensor::counted(records.tensor()?.clone(), x.rank() + 1)?);
    }
    let fields: Result<Vec<Field>> = x.fields().iter().map(field).collect();
    let mut dims = x.shape().dims().unwrap_or_default().to_vec();
    dims.insert(at, Dim::Known(1));
    answer_ext(StructTensor::new(Shape::new(dims), fields?)?)
}

/// Whether the value has a ragged axis, or a field of it has, or it has one as soon as it has several axes.
pub(crate) fn has_rows(value: &Value) -> bool {
    if let Some(masked) = typed::<MaskedTensor>(value) {
        return has_rows(masked.values());
    }
    let in_fields = |x: StructTensor| x.fields().iter().any(|(_, value)| has_rows(value));
    typed::<RaggedTensor>(value).is_some()
        || typed::<UnionTensor>(value).is_some()
        || typed::<StructTensor>(value).is_some_and(in_fields)
        || value.ext().is_ok_and(|ext| records_of(ext).is_some_and(in_fields))
}

/// The records under another shape; axes inside a record stay.
fn reshape(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<StructTensor>(x) else { return Ok(None) };
    let wanted = &told(&x, &Reshape::of(call.attrs)?.shape);
    if x.rank() < 2 && x.fields().iter().any(|(_, value)| has_rows(value) || !has_axes(value)) {
        return moves::by_numbers(call);
    }
    if x.fields().is_empty() {
        // Of no elements, -1 could be any size.
        let records = ops::reshape(zeros_of(&x.clone().into_value(), x.rank())?, wanted.clone())?;
        return answer_ext(StructTensor::counted(rows::like(&records)?, wanted.len())?);
    }
    let field =
        |(name, value): &Field| Ok((name.clone(), reshaped(value, x.rank(), wanted).map_err(|e| at_field(e, name))?));
    let fields: Result<Vec<Field>> = x.fields().iter().map(field).collect();
    let fields = fields?;
    answer_ext(StructTensor::new(shape_of(fields.first().map(|(_, v)| v), wanted.len())?, fields)?)
}

/// The sizes, -1 as what the number of records says, if it is known: fields have sizes of their own behind, which may be 0.
fn told(x: &StructTensor, wanted: &[i64]) -> Vec<i64> {
    if wanted.iter().filter(|size| **size == -1).count() != 1 {
        return wanted.to_vec();
    }
    let others = wanted.iter().filter(|size| **size != -1).try_fold(1, |all: i64, size| all.checked_mul(*size));
    let count = x.shape().to_dims().and_then(|dims| i64::try_from(dims.iter().product::<usize>()).ok());
    let left = count.zip(others).and_then(|(count, others)| count.checked_div(others));
    // What does not come out even, the fields refuse as it was asked for.
    let even = left.filter(|left| Some(*left * others.unwrap_or(0)) == count);
    wanted.iter().map(|&size| if size == -1 { even.unwrap_or(size) } else { size }).collect()
}

/// A field under another shape of the records, of which it has so many axes; what is missing in records stays so as a whole.
fn reshaped(value: &Value, axes: usize, wanted: &[i64]) -> Result<Value> {
    if let Some(masked) = typed::<MaskedTensor>(value).filter(|x| x.mask_rank().is_ok_and(|rank| rank == axes)) {
        let mask = ops::reshape(masked.mask(), wanted.to_vec())?;
        return Ok(MaskedTensor::new(reshaped(masked.values(), axes, wanted)?, mask.tensor()?.clone())?.into_value());
    }
    let inner = (axes..rank(value)?).map(|axis| Ok(dim(value, axis)?.known().map_or(-1, int)));
    let sizes: Vec<i64> = wanted.iter().map(|&n| Ok(n)).chain(inner).collect::<Result<_>>()?;
    if sizes.iter().filter(|size| **size == -1).count() < 2 || value.tensor().is_err() {
        return ops::reshape(value, sizes);
    }
    // Sizes inside that are not known yet are those of the field, whatever the records' become.
    let numbers = zeros_of(value, rank(value)?)?;
    let inside = ops::sum(numbers, Axes::List((0..axes).map(int).collect()), false)?;
    let outside = trailing(&ops::reshape(zeros_of(value, axes)?, wanted.to_vec())?, rank(&inside)?)?;
    ops::reshape_like(value, ops::add(outside, inside)?)
}

fn along_rows(call: &Call<'_>) -> Answer {
    let [x, rest @ ..] = call.args else { return Ok(None) };
    let Some(x) = typed_arg::<StructTensor>(x) else { return Ok(None) };
    if x.rank() == 0 {
        return Err(Error::shape("the argument is one record").wanted("a vector of records"));
    }
    let made = each_field(call, &x, rest, call.attrs, x.rank());
    match (made, rest) {
        // A type that knows no rows may know positions.
        (Err(error), [rows]) if error.is_dispatch() && *call.op == ops::GATHER_ROWS_OF => {
            answer(ops::take(x.into_value(), ops::value_rowids(rows)?, 0)?)
        }
        (made, _) => made,
    }
}

fn row_partition(call: &Call<'_>) -> Answer {
    let [splits, values] = call.args else { return Ok(None) };
    let Some(x) = typed_arg::<StructTensor>(values) else { return Ok(None) };
    answer(call_one(call.op, &[splits.clone(), Arg::Value(x.witness()?)], call.attrs)?)
}

/// The op on each field, which gives records of `rank` axes; records without fields are counted after it.
fn each_field(call: &Call<'_>, x: &StructTensor, rest: &[Arg], attrs: &dyn AttrSet, rank: usize) -> Answer {
    let apply = |value: Value| {
        let args: Vec<Arg> = std::iter::once(Arg::Value(value)).chain(rest.iter().cloned()).collect();
        call_one(call.op, &args, attrs)
    };
    let field = |(name, value): &Field| Ok((name.clone(), apply(value.clone()).map_err(|e| at_field(e, name))?));
    let fields: Result<Vec<Field>> = x.fields().iter().map(field).collect();
    let fields = fields?;
    match &x.records {
        Some(records) if rank > 0 => {
            answer_ext(StructTensor::counted(apply(records.clone().into())?.tensor()?.clone(), rank)?)
        }
        _ => answer_ext(StructTensor::new(shape_of(fields.first().map(|(_, v)| v), rank)?, fields)?),
    }
}

fn at_field(error: Error, name: &str) -> Error {
    error.at(format!("field '{name}'"))
}

/// The first axes of a value.
pub(crate) fn shape_of(value: Option<&Value>, rank: usize) -> Result<Shape> {
    let size = |axis: usize| match value {
        Some(value) if axis == 0 => Ok(outer(value).unwrap_or_else(Dim::any)),
        Some(value) => dim(value, axis),
        None => Ok(Dim::any()),
    };
    Ok(Shape::new((0..rank).map(size).collect::<Result<Vec<Dim>>>()?))
}

/// Records are joined field by field; every part has the fields of the first.
fn concat(call: &Call<'_>) -> Answer {
    let Some(parts) = flat(call).iter().map(typed_arg::<StructTensor>).collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let Some(first) = parts.first() else { return Ok(None) };
    let axis = int(normalize_axis(OneAxis::of(call.attrs)?.axis, first.rank())?);
    for (i, part) in parts.iter().enumerate() {
        let alike = part.rank() == first.rank() && part.fields().len() == first.fields().len();
        if !alike || first.field_names().enumerate().any(|(at, name)| part.field_at(at, name).is_err()) {
            let names = |x: &StructTensor| x.field_names().collect::<Vec<_>>().join(", ");
            return Err(Error::dtype(format!(
                "argument {} has rank {} and fields [{}], argument 1 rank {} and fields [{}]",
                i + 1,
                part.rank(),
                names(part),
                first.rank(),
                names(first)
            ))
            .wanted("one rank and the same fields for all"));
        }
    }
    let join = |values: Result<Vec<Value>>| ops::concat(lists_alike(values?, first.rank())?, axis);
    let field = |(at, (name, _)): (usize, &Field)| {
        let values = parts.iter().map(|part| part.field_at(at, name).cloned()).collect();
        Ok((name.clone(), join(values).map_err(|e| at_field(e, name))?))
    };
    let fields: Vec<Field> = first.fields().iter().enumerate().map(field).collect::<Result<_>>()?;
    let counts: Option<Vec<Value>> = parts.iter().map(|part| Some(part.records.clone()?.into())).collect();
    if let Some(counts) = counts {
        let records = ops::concat(counts, axis)?;
        return answer_ext(StructTensor::counted(records.tensor()?.clone(), first.rank())?);
    }
    answer_ext(StructTensor::new(shape_of(fields.first().map(|(_, v)| v), first.rank())?, fields)?)
}

/// The parts of a field of a vector of records, with lists as rows where these are of several lengths.
fn lists_alike(parts: Vec<Value>, axes: usize) -> Result<Vec<Value>> {
    // Rows inside a type that nothing is known of are for that type to join.
    let rows_inside = |part: &Value| {
        let known = typed::<RaggedTensor>(part).is_some() || typed::<MaskedTensor>(part).is_some();
        is_ragged(part, 1) && !known
    };
    if parts.iter().any(|part| !has_axes(part) || rows_inside(part)) {
        return Ok(parts);
    }
    let ranks = parts.iter().map(rank).collect::<Result<Vec<usize>>>()?;
    let Some(&of) = ranks.first().filter(|of| axes == 1 && ranks.iter().all(|rank| rank == *of)) else {
        return Ok(parts);
    };
    let unlike = |axis: &usize| {
        let size = |part: &Value| dim(part, *axis).ok().and_then(Dim::known);
        let ragged = parts.iter().filter(|part| is_ragged(part, *axis)).count();
        let sizes = || parts.iter().any(|part| size(part).is_none() || size(part) != size(&parts[0]));
        ragged < parts.len() && (ragged > 0 || sizes())
    };
    match (1..of).rfind(unlike) {
        Some(levels) => parts.iter().map(|part| in_rows(part, levels)).collect(),
        None => Ok(parts),
    }
}

/// The value with so many axes behind the first as ragged ones, under the masks that it has.
fn in_rows(value: &Value, levels: usize) -> Result<Value> {
    if levels == 0 {
        return Ok(value.clone());
    }
    if let Some(masked) = typed::<MaskedTensor>(value).filter(|x| x.mask_rank().is_ok_and(|rank| rank == 1)) {
        return Ok(MaskedTensor::new(in_rows(masked.values(), levels)?, masked.mask().clone())?.into_value());
    }
    let rows = as_rows(value)?;
    Ok(rows.with_values(in_rows(rows.values(), levels - 1)?)?.into_value())
}
