//! Shapes, borders and positions of ragged tensors, as far as rows of different lengths have them.

use super::grid::Grid;
use super::{RaggedTensor, flatten, local_index};
use crate::args::{answer, answer_ext, flat, int, typed_arg, typed_ref};
use crate::axes::{positions, zeros};
use extenso_core::attrs::Attrs;
use extenso_core::ops::{Pad, Reshape};
use extenso_core::{Answer, Arg, Call, ExtensionType, Value, call_one, ops};
use extenso_types::{DType, Error, Result};

/// `reshape` to one axis gives all values that are in rows; rows of one length have a shape, and take any other.
///
/// Errors: any other shape for rows of different lengths.
pub(super) fn reshape(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(x) else { return Ok(None) };
    if Reshape::of(call.attrs)?.shape == [-1] {
        return answer(flatten(x.into_value(), None)?);
    }
    let cells = Grid::of(&x)?.into_cells();
    if typed_ref::<RaggedTensor>(&cells).is_none() {
        return answer(call_one(call.op, &[Arg::from(cells)], call.attrs)?);
    }
    Err(Error::shape("the argument is ragged, and a shape has uniform axes")
        .wanted("shape (-1,), for all values in one list")
        .hint("Write `flatten(x, axis)` to join rows, `unflatten(x, counts)` to cut them, or `to_tensor(x)` first."))
}

/// `reshape_like` puts elements into the rows of another value.
pub(crate) fn reshape_like(call: &Call<'_>) -> Answer {
    let [x, like] = flat(call) else { return Ok(None) };
    let Some(like) = typed_arg::<RaggedTensor>(like) else { return Ok(None) };
    let like = like.compact()?;
    answer_ext(like.with_values(call_one(call.op, &[x.clone(), Arg::from(like.values())], call.attrs)?)?)
}

/// `broadcast_to` has no shape for rows.
pub(super) fn broadcast_to(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    match typed_arg::<RaggedTensor>(x) {
        Some(_) => Err(Error::shape("the argument is ragged, and a shape has uniform axes")
            .wanted("a value to broadcast to")
            .hint("Write `broadcast_like(x, like)`.")),
        None => Ok(None),
    }
}

/// `pad` puts elements before and after each row, and around axes inside the rows.
///
/// Errors: rows are to be added, or rows with rows inside lengthened.
pub(super) fn pad(call: &Call<'_>) -> Answer {
    let [x, value] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(x) else { return Ok(None) };
    let rank = x.rank()?;
    let given = &Pad::of(call.attrs)?.widths.0;
    let widths = match given.len() {
        2 => given.repeat(rank),
        n if n == 2 * rank => given.clone(),
        n => {
            return Err(Error::value(format!("{n} widths are given for rank {rank}"))
                .wanted("a width before and one after for each axis, or two for all"));
        }
    };
    if let Some(w) = widths.iter().find(|w| **w < 0) {
        return Err(Error::value(format!("a width is {w}, in {given:?}")).wanted("widths that are not negative"));
    }
    if widths[..2] != [0, 0] {
        return Err(Error::value(format!(
            "the widths of axis 0 are {:?}, and added rows have no length",
            &widths[..2]
        ))
        .wanted("(0, 0) for axis 0")
        .hint("Write `concat((x, rows), axis=0)`."));
    }
    let (before, after) = (widths[2], widths[3]);
    let mut inner = widths[4..].to_vec();
    let x = if inner.iter().any(|w| *w > 0) {
        inner.splice(0..0, [0, 0]);
        let padded = call_one(call.op, &[Arg::from(x.values()), value.clone()], &Pad { widths: inner.into() });
        x.with_values(padded.map_err(Error::within_rows)?)?
    } else {
        x
    };
    if before == 0 && after == 0 {
        return answer_ext(x);
    }
    answer_ext(padded_rows(call, &x, value, before, after)?)
}

/// The rows with one more value, which stands behind all values, before and after each.
fn padded_rows(call: &Call<'_>, x: &RaggedTensor, value: &Arg, before: i64, after: i64) -> Result<RaggedTensor> {
    let mut one_behind = vec![0; 2 * (x.rank()? - 1)];
    one_behind[1] = 1;
    let values = call_one(call.op, &[Arg::from(x.values()), value.clone()], &Pad { widths: one_behind.into() });
    let values = values.map_err(Error::within_rows)?;
    let last = ops::sum(ops::add(zeros(x.values())?, 1)?, 0, false)?;
    let each = ops::add(zeros(&x.clone().into_value())?, last)?;
    let border = |width: i64| {
        let rows = ops::partition_from_lengths(ops::add(ops::zeros_like(&each)?, width)?)?.partition()?.clone();
        Ok(RaggedTensor::from_partition(ops::gather_rows_of(&each, &rows)?, rows)?.into_value())
    };
    let inside = x.with_values(positions(x.values())?)?.into_value();
    let parts: Result<Vec<Value>> = [border(before), Ok(inside), border(after)].into_iter().collect();
    let places = RaggedTensor::from_value(&ops::concat(parts?, 1)?)?.compact()?;
    places.with_values(ops::take(values, places.values(), 0)?)
}

/// `argwhere` gives the number of the row, and the positions in it.
pub(super) fn argwhere(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(x) else { return Ok(None) };
    // What is missing is not found, and neither is what a missing list has.
    let whole = crate::fill_none(&ops::cast(x.clone().into_value(), DType::Bool)?, false)?;
    let found = flatten(whole.clone(), None)?;
    let column = |axis: usize| {
        let at = ops::broadcast_like(trailing(local_index(whole.clone(), int(axis))?, x.rank()? - axis - 1)?, &whole)?;
        ops::expand_dims(flatten(at, None)?, 1)
    };
    let columns: Result<Vec<Value>> = (0..x.rank()?).map(column).collect();
    answer(ops::boolean_mask(ops::concat(columns?, 1)?, found, 0)?)
}

fn trailing(x: Value, count: usize) -> Result<Value> {
    (0..count).try_fold(x, |x, _| ops::expand_dims(x, -1))
}
