//! The places of a key: what each is about, what it takes, and how many axes it leaves.
//!
//! Invariant: a place is one application of an op. Knows no names.

use super::Index;
use crate::args::{int, typed_ref};
use crate::axes::{dim, is_ragged, one_size, outer, rank};
use crate::lists::{Bounds, between};
use crate::ragged::take_in_rows;
use crate::specs::dtype_of;
use crate::{MaskedTensor, RaggedTensor};
use extenso_core::{Tensor, Value, ops};
use extenso_types::{DType, Dim, Error, Result};

/// The number of axes that a part is about.
pub(super) fn width(part: &Index) -> Result<usize> {
    match part {
        Index::Field(_) | Index::Fields(_) | Index::NewAxis | Index::Ellipsis => Ok(0),
        Index::At(_) | Index::Slice { .. } | Index::Between { .. } => Ok(1),
        Index::Pick(picked) if is_mask(picked) => rank(picked),
        Index::Pick(_) => Ok(1),
    }
}

/// Whether a part is a tensor with axes, and no single position.
pub(super) fn is_tensor(part: &Index) -> bool {
    matches!(part, Index::Pick(picked) if rank(picked) != Ok(0))
}

pub(super) fn is_mask_without_axes(part: &Index) -> bool {
    matches!(part, Index::Pick(Value::Tensor(mask)) if mask.dtype() == DType::Bool && mask.rank() == Some(0))
}

/// What a part takes of a value along an axis, which errors call `named`.
pub(super) fn taken(x: &Value, axis: usize, named: usize, part: &Index) -> Result<Value> {
    match part {
        Index::At(i) => at(x, axis, named, *i),
        Index::Field(_)
        | Index::Fields(_)
        | Index::NewAxis
        | Index::Ellipsis
        | Index::Slice { start: None, stop: None, step: 1 } => Ok(x.clone()),
        Index::Slice { start, stop, step } => {
            let start = start.unwrap_or(if *step < 0 { i64::MAX } else { 0 });
            ops::slice(x, int(axis), start, stop.map(|stop| vec![stop]), *step)
        }
        Index::Between { start, stop, step } => {
            between(x, axis, &Bounds { start: start.as_ref(), stop: stop.as_ref(), step: *step })
        }
        Index::Pick(picked) => pick(x, axis, named, picked),
    }
}

/// How many axes a part leaves in the place of those that it is about.
pub(super) fn left(part: &Index, before: &Value, axis: usize, after: &Value) -> Result<usize> {
    match part {
        Index::At(_) | Index::Field(_) | Index::Fields(_) | Index::NewAxis | Index::Ellipsis => Ok(0),
        Index::Slice { .. } | Index::Between { .. } => Ok(1),
        Index::Pick(picked) if is_mask(picked) => Ok(rank(after)? + rank(picked)? - rank(before)?),
        Index::Pick(picked) if is_ragged(before, axis) && !is_of_all(before, axis, picked) => Ok(rank(picked)?.min(1)),
        Index::Pick(picked) => rank(picked),
    }
}

fn at(x: &Value, axis: usize, named: usize, i: i64) -> Result<Value> {
    if is_ragged(x, axis) && one_size(x, axis).is_none() {
        return Err(no_single_position(named));
    }
    // A list that may be missing says itself what is in it.
    let may_be_missing = typed_ref::<MaskedTensor>(x).is_some_and(|x| axis == 0 && x.mask().rank() == Some(0));
    if let Some(n) = dim(x, axis).ok().and_then(|n| n.known()).or_else(|| one_size(x, axis)).map(int)
        && !may_be_missing
        && !(-n..n).contains(&i)
    {
        return Err(Error::index(format!("index {i} is out of range for axis {named} of size {n}")).wanted(if n > 0 {
            format!("an index from {} to {}", -n, n - 1)
        } else {
            "a slice".to_string()
        }));
    }
    ops::take(x, Tensor::scalar(i), int(axis))
}

fn no_single_position(axis: usize) -> Error {
    Error::index(format!("axis {axis} is ragged: a position is not in every row"))
        .wanted("a slice along a ragged axis, as in `x[:, 0:1]`")
        .hint("Integers with the rows of the value choose a position of each row.")
}

fn is_mask(picked: &Value) -> bool {
    dtype(picked) == Some(DType::Bool)
}

fn dtype(picked: &Value) -> Option<DType> {
    match picked {
        Value::Tensor(t) => Some(t.dtype()),
        Value::Partition(_) => None,
        Value::Ext(ext) => dtype_of(&ext.spec().ok()?.into()),
    }
}

fn pick(x: &Value, axis: usize, named: usize, picked: &Value) -> Result<Value> {
    if is_mask(picked) && typed_ref::<MaskedTensor>(picked).is_some() {
        return Err(Error::value("some elements of the tensor are missing")
            .wanted("a tensor of which all are there")
            .hint("Say what a missing one counts as: `fill_none(mask, False)`."));
    }
    match dtype(picked) {
        Some(DType::Bool) => by_mask(x, axis, named, picked),
        Some(dtype) if dtype.is_integer() && is_ragged(x, axis) && !is_of_all(x, axis, picked) => {
            in_rows(x, axis, named, picked)
        }
        Some(dtype) if dtype.is_integer() => ops::take(x, picked, int(axis)),
        _ => Err(Error::dtype(format!("found indices of {}", picked.spec()?)).wanted("integers or booleans")),
    }
}

/// Whether positions along a ragged axis are those of every row: dense ones, where rows are known to have one length.
fn is_of_all(x: &Value, axis: usize, picked: &Value) -> bool {
    picked.tensor().is_ok() && one_size(x, axis).is_some()
}

fn in_rows(x: &Value, axis: usize, named: usize, picked: &Value) -> Result<Value> {
    let given = rank(picked)?;
    if given == 0 {
        return Err(no_single_position(named));
    }
    if given != axis + 1 {
        return Err(Error::shape(format!("axis {named} is ragged, and the integers have {given} axes"))
            .wanted(format!("integers with the rows of the value, of {} axes", axis + 1)));
    }
    take_in_rows(x, picked, axis)
}

fn by_mask(x: &Value, axis: usize, named: usize, mask: &Value) -> Result<Value> {
    if let (Ok(1), Ok(_), Some(size)) = (rank(mask), mask.tensor(), one_size(x, axis))
        && is_ragged(x, axis)
    {
        return match outer(mask).and_then(Dim::known) {
            Some(given) if given != size => Err(mask_of(given, named, size)),
            _ => ops::take(x, ops::boolean_mask(ops::indices_along(mask, 0)?, mask, 0)?, int(axis)),
        };
    }
    if is_ragged(x, axis) {
        return Err(Error::shape(format!("a mask stands at axis {named}, which is ragged"))
            .wanted("a mask with the rows of the value, from the first axis on, as in `x[mask]`"));
    }
    if axis > 0 && typed_ref::<RaggedTensor>(mask).is_some() {
        return Err(Error::shape(format!("a ragged mask stands at axis {named}"))
            .wanted("a ragged mask of the first axes, as in `x[mask]`"));
    }
    if rank(mask) == Ok(0) {
        // One truth is about no axis: it leaves a new one, of all or of nothing.
        return ops::boolean_mask(ops::expand_dims(x, int(axis))?, ops::expand_dims(mask, 0)?, int(axis));
    }
    match mask {
        Value::Tensor(_) => ops::boolean_mask(none_where_the_mask_has_none(x, axis, named, mask)?, mask, int(axis)),
        Value::Partition(_) | Value::Ext(_) => ops::boolean_mask(x, mask, int(axis)),
    }
}

/// The value, cut to nothing along the axes of which the mask has nothing: the Array API standard lets it have that beside any size.
///
/// Errors: an axis of which the mask has another size.
fn none_where_the_mask_has_none(x: &Value, axis: usize, named: usize, mask: &Value) -> Result<Value> {
    let size = |value: &Value, axis| if axis == 0 { outer(value) } else { dim(value, axis).ok() }.and_then(Dim::known);
    (0..rank(mask)?).try_fold(x.clone(), |x, at| match (size(&x, axis + at), size(mask, at)) {
        (Some(n), Some(0)) if n > 0 => ops::slice(x, int(axis + at), 0, Some(vec![0]), 1),
        (Some(n), Some(masked)) if n != masked => Err(mask_of(masked, named + at, n)),
        _ => Ok(x),
    })
}

fn mask_of(masked: usize, axis: usize, size: usize) -> Error {
    Error::index(format!("a mask of {masked} stands at axis {axis}, which has {size}"))
        .wanted("the sizes of the axes that it masks")
}
