//! Several tensors of integers in one key: they broadcast, and choose an element for each of their places, as in NumPy.
//!
//! Invariant: their axes are neighbours. Of a dense tensor they are made one, as are their positions; of rows and records they are the first,
//! which the elements are gathered from.

use super::place::is_tensor;
use super::{Index, Place};
use crate::args::int;
use crate::axes::{rank, zeros_of};
use crate::masked::trailing;
use crate::shapes::gather_nd;
use extenso_core::attrs::Axes;
use extenso_core::{Tensor, Value, ops};
use extenso_types::{DType, Error, Result};
use std::ops::Range;

/// The value and places after the tensors among them became one; as they were if there are not several that stand together.
///
/// Errors: a position out of range; tensors that do not broadcast.
pub(super) fn joined(value: &Value, places: &[Place]) -> Result<Option<(Value, Vec<Place>)>> {
    let Some(run) = together(places) else { return Ok(None) };
    let Value::Tensor(x) = value else { return gathered(value, places, run) };
    let first = places[..run.start].iter().filter(|place| !matches!(place.part, Index::NewAxis)).count();
    let axes = first..first + run.len();
    let positions = places[run.clone()].iter().zip(axes.clone()).map(|(place, axis)| position(x, axis, &place.part));
    let Some((one, at)) = in_one_axis(x, axes.clone(), positions)? else { return Ok(None) };
    let joined = Place { part: Index::Pick(at), at: places[run.start].at };
    let places = places[..run.start].iter().cloned().chain([joined]).chain(places[run.end..].iter().cloned());
    Ok(Some((one, places.collect())))
}

/// The tensor with these axes as one, and the positions along it that these along each are, from 0 on; none where there are no such axes.
///
/// Errors: those of the positions, which broadcast.
pub(crate) fn in_one_axis(
    x: &Tensor,
    axes: Range<usize>,
    positions: impl IntoIterator<Item = Result<Value>>,
) -> Result<Option<(Value, Value)>> {
    let shape = x.shape();
    let Some(sizes) = shape.dims().and_then(|dims| dims.get(axes.clone())) else { return Ok(None) };
    let mut at: Option<Value> = None;
    for (here, (axis, n)) in positions.into_iter().zip(axes.clone().zip(sizes)) {
        let here = here?;
        at = Some(match (at, n.known()) {
            (None, _) => here,
            (Some(before), Some(n)) => ops::add(ops::multiply(before, int(n))?, here)?,
            (Some(before), None) => {
                let n = ops::sum(ops::ones_like(ops::indices_along(x, int(axis))?)?, 0, false)?;
                ops::add(ops::multiply(before, n)?, here)?
            }
        });
    }
    at.map(|at| Ok((merged(x, axes)?, at))).transpose()
}

/// The tensor with these axes as one.
fn merged(x: &Tensor, axes: Range<usize>) -> Result<Value> {
    let shape = x.shape();
    let dims = shape.dims().unwrap_or_default();
    let one: Option<usize> = dims[axes.clone()].iter().map(|n| n.known()).product();
    let sizes =
        dims[..axes.start].iter().map(|n| n.known()).chain([one]).chain(dims[axes.end..].iter().map(|n| n.known()));
    let sizes: Vec<i64> = sizes.map(|n| n.map_or(-1, int)).collect();
    if sizes.iter().filter(|n| **n == -1).count() < 2 {
        return ops::reshape(x, sizes);
    }
    // Several sizes are not known yet: each stands among zeros of its own.
    let zeros = zeros_of(&x.clone().into(), dims.len())?;
    let over = |gone: &dyn Fn(&usize) -> bool| {
        let gone = (0..dims.len()).filter(|axis| gone(axis)).map(int).collect();
        ops::sum(&zeros, Axes::List(gone), false)
    };
    let before = over(&|axis| *axis >= axes.start)?;
    let one = ops::reshape(over(&|axis| !axes.contains(axis))?, vec![-1_i64])?;
    let behind = over(&|axis| *axis < axes.end)?;
    let inside = dims.len() - axes.end;
    let like = ops::add(trailing(&before, inside + 1)?, ops::add(trailing(&one, inside)?, behind)?)?;
    ops::reshape_like(x, like)
}

/// The elements of rows or records at the positions that tensors in front say.
fn gathered(value: &Value, places: &[Place], run: Range<usize>) -> Result<Option<(Value, Vec<Place>)>> {
    if run.start > 0 {
        return Ok(None);
    }
    let position = |place: &Place| match &place.part {
        Index::Pick(picked) => ops::cast(picked, DType::I64),
        Index::At(i) => Ok(Tensor::scalar(*i).into()),
        _ => Err(Error::internal("a place of no position stands among tensors")),
    };
    let positions = places[run.clone()].iter().map(position).collect::<Result<Vec<Value>>>()?;
    let zeros =
        positions.iter().try_fold(Value::from(Tensor::scalar(0_i64)), |all, at| ops::add(all, ops::zeros_like(at)?))?;
    let each = positions.iter().map(|at| ops::add(at, &zeros)).collect::<Result<Vec<Value>>>()?;
    let found = gather_nd(value, &ops::stack(each, -1)?)?;
    let whole = Place { part: Index::ALL, at: places[0].at };
    let places = std::iter::repeat_n(whole, rank(&zeros)?).chain(places[run.end..].iter().cloned());
    Ok(Some((found, places.collect())))
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
