//! Several tensors of integers in one key: they broadcast, and choose an element for each of their places, as in NumPy.
//!
//! Invariant: their axes are neighbours, of a dense tensor whose sizes are known, and are made one, as are their positions.

use super::place::is_tensor;
use super::{Index, Place};
use crate::args::int;
use extenso_core::{Tensor, Value, ops};
use extenso_types::{Dims, Result};
use std::ops::Range;

/// The value and places after the tensors among them became one; as they were if there are not several that stand together.
///
/// Errors: a position out of range; tensors that do not broadcast.
pub(super) fn joined(value: &Value, places: &[Place]) -> Result<Option<(Value, Vec<Place>)>> {
    let Some(run) = together(places) else { return Ok(None) };
    let Value::Tensor(x) = value else { return Ok(None) };
    let Some(dims) = x.shape().to_dims() else { return Ok(None) };
    let first = places[..run.start].iter().filter(|place| !matches!(place.part, Index::NewAxis)).count();
    let axes = first..first + run.len();
    let sizes: Option<Dims> = dims.get(axes.clone()).map(Dims::from_slice);
    let Some(sizes) = sizes else { return Ok(None) };
    let mut at: Option<Value> = None;
    for (place, (axis, n)) in places[run.clone()].iter().zip(axes.clone().zip(sizes)) {
        let here = position(x, axis, &place.part)?;
        at = Some(match at {
            None => here,
            Some(before) => ops::add(ops::multiply(before, int(n))?, here)?,
        });
    }
    let Some(at) = at else { return Ok(None) };
    let merged: [usize; 1] = [dims[axes.clone()].iter().product()];
    let shape = dims[..first].iter().chain(&merged).chain(&dims[axes.end..]).map(|n| int(*n));
    let joined = Place { part: Index::Pick(at), at: places[run.start].at };
    let places = places[..run.start].iter().cloned().chain([joined]).chain(places[run.end..].iter().cloned());
    Ok(Some((ops::reshape(value, shape.collect::<Vec<_>>())?, places.collect())))
}

/// The places of tensors of integers and single positions, from the first tensor to the last, if there are several tensors.
fn together(places: &[Place]) -> Option<Range<usize>> {
    let first = places.iter().position(|place| is_tensor(&place.part))?;
    let last = places.iter().rposition(|place| is_tensor(&place.part))?;
    let integers = |place: &Place| match &place.part {
        Index::Pick(Value::Tensor(t)) => t.dtype().is_integer(),
        Index::At(_) => true,
        Index::Pick(_)
        | Index::Field(_)
        | Index::Fields(_)
        | Index::Slice { .. }
        | Index::Between { .. }
        | Index::NewAxis
        | Index::Ellipsis => false,
    };
    (first < last && places[first..=last].iter().all(integers)).then_some(first..last + 1)
}

/// The positions along an axis that a part says, from 0 on.
fn position(x: &Tensor, axis: usize, part: &Index) -> Result<Value> {
    let all = ops::indices_along(x, int(axis))?;
    match part {
        Index::Pick(picked) => ops::take(all, picked, 0),
        Index::At(i) => ops::take(all, Tensor::scalar(*i), 0),
        Index::Field(_)
        | Index::Fields(_)
        | Index::Slice { .. }
        | Index::Between { .. }
        | Index::NewAxis
        | Index::Ellipsis => Ok(all),
    }
}
