//! Types that are one value under a meaning: what moves elements moves theirs, and the meaning stays.
//!
//! Invariant: no op is computed on the elements here. What has a value under the meaning is for each type to say.

use crate::args::{again, answer, answer_ext, flat, int, typed_arg};
use crate::axes::rank;
use extenso_core::attrs::Attrs;
use extenso_core::ops::{BroadcastTo, OneAxis, Reshape, Slice, Transpose};
use extenso_core::reduce::normalize_axis;
use extenso_core::{Answer, Arg, Call, ExtensionType, OpDef, Target, Value, call_one, on, ops};
use extenso_types::{Error, Result, TypeDef};
use std::sync::Arc;

/// A type that is one value under a meaning.
pub(crate) trait Meaning: ExtensionType {
    /// Whether an element is the innermost axis of the value: so many bytes.
    const CELLS: bool = false;

    /// The elements.
    fn elements(&self) -> Value;

    /// Other elements under the same meaning.
    fn over(&self, elements: Value) -> Result<Self>;

    /// Checks that the elements of both mean the same.
    fn meets(&self, other: &Self) -> Result<()>;
}

type Handle = fn(&Call<'_>) -> Answer;

/// Registers what moves elements.
pub(crate) fn register_moves<T: Meaning>(def: &Arc<TypeDef>, name: &'static str) {
    let moves: [&'static OpDef; 7] = [
        &ops::TAKE,
        &ops::SLICE,
        &ops::BOOLEAN_MASK,
        &ops::EXPAND_DIMS,
        &ops::GATHER_ROWS_OF,
        &ops::ALIGN_ROWS,
        &ops::STRETCH_ROWS,
    ];
    let shapes: [&'static OpDef; 7] = [
        &ops::RESHAPE,
        &ops::RESHAPE_LIKE,
        &ops::EXPAND_DIMS_AT,
        &ops::SQUEEZE,
        &ops::TRANSPOSE,
        &ops::BROADCAST_TO,
        &ops::TAKE_ALONG_AXIS,
    ];
    let shapes = shapes.into_iter().filter(|_| !T::CELLS);
    moves.into_iter().chain(shapes).for_each(|op| {
        on(Target::Op(op), def, name, moved::<T>);
    });
    if T::CELLS {
        for op in [&ops::RESHAPE, &ops::BROADCAST_TO, &ops::TRANSPOSE] {
            on(Target::Op(op), def, name, reshaped::<T>);
        }
    }
    let others: [(&'static OpDef, Handle); 4] = [
        (&ops::CONCAT, concat::<T>),
        (&ops::WHERE, chosen::<T>),
        (&ops::ROW_PARTITION, row_partition::<T>),
        (&ops::BROADCAST_LIKE, broadcast_like::<T>),
    ];
    for (op, handle) in others {
        on(Target::Op(op), def, name, handle);
    }
}

/// An op of one such value, and of other arguments that are tensors and partitions.
pub(crate) fn moved<T: Meaning>(call: &Call<'_>) -> Answer {
    let [x, rest @ ..] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<T>(x) else { return Ok(None) };
    if rest.iter().any(|arg| matches!(arg, Arg::Value(Value::Ext(_)))) {
        return Ok(None);
    }
    let elements = x.elements();
    let args: Vec<Arg> = std::iter::once(Arg::from(&elements)).chain(rest.iter().cloned()).collect();
    let outer = rank(&elements).map(|rank| rank - usize::from(T::CELLS));
    let made = if let (true, Ok(Slice { axis, .. })) = (T::CELLS, Slice::of(call.attrs)) {
        let attrs = Slice { axis: int(normalize_axis(*axis, outer?)?), ..Slice::of(call.attrs)?.clone() };
        call_one(call.op, &args, &attrs)?
    } else if let (true, Ok(OneAxis { axis })) = (T::CELLS, OneAxis::of(call.attrs)) {
        let axes = outer? + usize::from(*call.op == ops::EXPAND_DIMS);
        call_one(call.op, &args, &OneAxis { axis: int(normalize_axis(*axis, axes)?) })?
    } else {
        call_one(call.op, &args, call.attrs)?
    };
    answer_ext(x.over(made)?)
}

/// An op that gives elements of so many bytes other axes; the innermost axis is that of the bytes.
fn reshaped<T: Meaning>(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<T>(x) else { return Ok(None) };
    let cells = x.elements();
    let dims = cells.tensor()?.shape();
    let Some(width) = dims.dims().and_then(|dims| dims.last()?.known()) else { return Ok(None) };
    let inside = |shape: &[i64]| shape.iter().copied().chain([int(width)]).collect::<Vec<i64>>();
    let made = if let Ok(Reshape { shape }) = Reshape::of(call.attrs) {
        ops::reshape(cells, inside(shape))?
    } else if let Ok(BroadcastTo { shape }) = BroadcastTo::of(call.attrs) {
        ops::broadcast_to(cells, inside(shape))?
    } else {
        let outer = int(rank(&cells)?.saturating_sub(1));
        let axes = match &Transpose::of(call.attrs)?.axes {
            Some(axes) => axes.clone(),
            None => (0..outer).rev().collect(),
        };
        let axes: Result<Vec<usize>> = axes.iter().map(|&axis| normalize_axis(axis, rank(&cells)? - 1)).collect();
        let axes: Vec<i64> = axes?.into_iter().map(int).chain([outer]).collect();
        ops::transpose(&cells, Some(axes))?
    };
    answer_ext(x.over(made)?)
}

/// An op whose result is no element, such as an order.
pub(crate) fn measured<T: Meaning>(call: &Call<'_>) -> Answer {
    let [x, rest @ ..] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<T>(x) else { return Ok(None) };
    let mut args = vec![Arg::from(x.elements())];
    for arg in rest {
        args.push(match typed_arg::<T>(arg) {
            Some(other) => {
                x.meets(&other)?;
                Arg::from(other.elements())
            }
            None => arg.clone(),
        });
    }
    again(call, &args).map(Some)
}

fn concat<T: Meaning>(call: &Call<'_>) -> Answer {
    let Some(parts) = flat(call).iter().map(typed_arg::<T>).collect::<Option<Vec<_>>>() else { return Ok(None) };
    let Some(first) = parts.first() else { return Ok(None) };
    parts
        .iter()
        .enumerate()
        .try_for_each(|(i, part)| first.meets(part).map_err(|e| e.at(format!("argument {}", i + 1))))?;
    let axes = rank(&first.elements())? - usize::from(T::CELLS);
    let axis = normalize_axis(OneAxis::of(call.attrs)?.axis, axes)?;
    let elements: Vec<Value> = parts.iter().map(T::elements).collect();
    answer_ext(first.over(ops::concat(elements, int(axis))?)?)
}

/// `where` of elements that mean the same.
fn chosen<T: Meaning>(call: &Call<'_>) -> Answer {
    let [condition, x, y] = flat(call) else { return Ok(None) };
    let (Some(x), Some(y)) = (typed_arg::<T>(x), typed_arg::<T>(y)) else { return Ok(None) };
    x.meets(&y)?;
    let condition = match condition {
        Arg::Value(value) if T::CELLS => Arg::from(ops::expand_dims(value, -1_i64)?),
        other => other.clone(),
    };
    answer_ext(x.over(ops::where_(condition, x.elements(), y.elements())?)?)
}

fn row_partition<T: Meaning>(call: &Call<'_>) -> Answer {
    let [splits, values] = call.args else { return Ok(None) };
    let Some(x) = typed_arg::<T>(values) else { return Ok(None) };
    answer(call_one(call.op, &[splits.clone(), Arg::from(x.elements())], call.attrs)?)
}

/// `broadcast_like` keeps the meaning of the first argument; the second lends its shape alone.
fn broadcast_like<T: Meaning>(call: &Call<'_>) -> Answer {
    let [x, like] = flat(call) else { return Ok(None) };
    let shape = match typed_arg::<T>(like) {
        Some(like) => Arg::from(like.elements()),
        None => like.clone(),
    };
    match typed_arg::<T>(x) {
        Some(x) => answer_ext(x.over(call_one(call.op, &[Arg::from(x.elements()), shape], call.attrs)?)?),
        None if T::CELLS => Ok(None),
        None => answer(call_one(call.op, &[x.clone(), shape], call.attrs)?),
    }
}

/// The error of two meanings.
pub(crate) fn differ(a: impl std::fmt::Display, b: impl std::fmt::Display) -> Error {
    Error::dtype(format!("{b} stands beside {a}")).wanted("one type for both")
}
