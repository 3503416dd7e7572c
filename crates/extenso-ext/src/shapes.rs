//! The shape of any value, and elements by their positions along several axes.

use crate::axes::{dim, is_ragged, one_size, rank};
use crate::index::in_one_axis;
use crate::lists::take_per_row;
use crate::{MaskedTensor, RaggedTensor, args::int, args::typed_ref};
use extenso_core::{ExtensionType, Tensor, Value, ops};
use extenso_types::{Error, Result};

/// The sizes of the axes of `x`, as an i64 vector; of records, those of their own axes.
///
/// While tracing, sizes that differ from call to call are data. Errors: an axis that is ragged, whose rows have no one size; a
/// type that has no axes.
///
/// ```
/// # use extenso_ext::{constant, shape};
/// # use extenso_core::Tensor;
/// let rows = constant(vec![vec![1, 2, 3], vec![4]]).unwrap();
/// assert!(shape(&rows).is_err());
/// let x = Tensor::new(&[2, 3], &[1.0_f32; 6]).unwrap();
/// assert_eq!(shape(&x.into()).unwrap().to_string(), "[2, 3]");
/// ```
pub fn shape(x: &Value) -> Result<Value> {
    let sizes = || {
        let rank = rank(x)?;
        let size = |axis| dim(x, axis).ok()?.known().or_else(|| one_size(x, axis)).map(int);
        let sizes: Option<Vec<i64>> = (0..rank).map(size).collect();
        if let Some(sizes) = sizes {
            return Ok(Tensor::from_vec(sizes).into());
        }
        ops::concat((0..rank).map(|axis| size_along(x, axis)).collect::<Result<Vec<Value>>>()?, 0)
    };
    sizes().map_err(|e: Error| e.at_part("shape"))
}

/// The size of an axis, as a vector of one.
pub(crate) fn size_along(x: &Value, axis: usize) -> Result<Value> {
    if let Some(n) = one_size(x, axis) {
        return Ok(Tensor::from_vec(vec![int(n)]).into());
    }
    if is_ragged(x, axis) {
        return Err(Error::shape(format!("axis {axis} is ragged"))
            .wanted("an axis whose rows have one size")
            .hint("`num(x, axis)` gives the lengths of its rows."));
    }
    ops::sum(ops::ones_like(ops::indices_along(x, int(axis))?)?, 0, true)
}

/// The number of elements of `x`, as an i64 scalar: of rows, those in them; of records, the records; what is missing counts,
/// but a row that is missing has no elements.
///
/// Errors: a type that has no axes.
///
/// ```
/// # use extenso_ext::{constant, size};
/// let x = constant(vec![vec![1, 2, 3], vec![], vec![4]]).unwrap();
/// assert_eq!(size(&x).unwrap().to_string(), "4");
/// ```
pub fn size(x: &Value) -> Result<Value> {
    if let Some(rows) = typed_ref::<RaggedTensor>(x) {
        return size(rows.compact()?.values());
    }
    if let Some(masked) = typed_ref::<MaskedTensor>(x) {
        return size(&masked.values_there()?);
    }
    match shape(x).map_err(|e| e.at_part("size"))? {
        sizes if rank(x)? > 0 => ops::prod(sizes, 0, false),
        _ => Ok(Tensor::scalar(1_i64).into()),
    }
}

/// The elements of `x` at positions along its first axes: a vector along the last axis of `indices` for each.
///
/// Shapes: `indices` of `[..., k]`, where `k` is known, give the axes before the last of `indices`, and those of `x` behind its
/// first `k`, any of which may be ragged; rows of indices give rows. Negative positions count from the end. Errors: indices that are no integers, or
/// ragged along the last axis; more positions than `x` has axes, or none; a position out of range.
///
/// ```
/// # use extenso_core::Tensor;
/// # use extenso_ext::{constant, gather_nd};
/// let x = constant(vec![vec![1, 2, 3], vec![], vec![4]]).unwrap();
/// let at = Tensor::new(&[2, 2], &[0_i64, -1, 2, 0]).unwrap();
/// assert_eq!(gather_nd(&x, &at.into()).unwrap().to_string(), "[3, 4]");
/// ```
pub fn gather_nd(x: &Value, indices: &Value) -> Result<Value> {
    match typed_ref::<RaggedTensor>(indices) {
        // Values outside every row are no positions.
        Some(rows) => rows.compact().and_then(|rows| {
            let found = gather_nd(x, rows.values())?;
            Ok(rows.with_values(found)?.into_value())
        }),
        None => gathered(x, indices).map_err(|e| e.at_part("gather_nd")),
    }
}

/// Whether no axis is known to have none, so that a size follows from the others.
fn has_elements(x: &Tensor) -> bool {
    x.shape().dims().is_some_and(|dims| dims.iter().all(|n| n.known() != Some(0)))
}

fn gathered(x: &Value, indices: &Value) -> Result<Value> {
    let spec = indices.tensor().map_err(|e| e.at("indices"))?.spec();
    let wrong = |error: Error| error.at("indices");
    if !spec.dtype.is_integer() {
        return Err(wrong(Error::dtype(format!("found {}", spec.dtype)).wanted("integers")));
    }
    let places = spec.shape.dims().and_then(|dims| dims.last()?.known());
    let Some(places) = places.filter(|k| *k > 0) else {
        return Err(wrong(
            Error::shape(format!("found {}", spec.shape)).wanted("a known last axis of positions, at least one"),
        ));
    };
    if places > rank(x)? {
        let found = format!("{places} positions are given for {} axes", rank(x)?);
        return Err(wrong(Error::shape(found).wanted("at most one position for each axis")));
    }
    let indices = ops::whole(indices)?;
    let before = rank(&indices)? - 1;
    let flat = ops::reshape(&indices, vec![-1, int(places)])?;
    let along = |axis: usize| ops::take(&flat, Tensor::scalar(int(axis)), 1);
    let found = match x {
        // No more is read than is found.
        Value::Tensor(dense) if places > 1 && has_elements(dense) => {
            let from_start = |axis: usize| ops::take(ops::indices_along(x, int(axis))?, along(axis)?, 0);
            match in_one_axis(dense, 0..places, (0..places).map(from_start))? {
                Some((one, at)) => ops::take(one, at, 0)?,
                None => return Err(Error::internal("a tensor lacks axes that it has")),
            }
        }
        _ => {
            let mut found = ops::take(x, along(0)?, 0)?;
            for axis in 1..places {
                found = ops::squeeze(take_per_row(&found, &ops::expand_dims(along(axis)?, 1)?, 1)?, vec![1_i64])?;
            }
            found
        }
    };
    match before {
        0 => ops::take(found, Tensor::scalar(0_i64), 0),
        1 => Ok(found),
        // The positions of the elements have the axes, and the elements are taken by them.
        _ => {
            let first = ops::take(&indices, Tensor::scalar(0_i64), int(before))?;
            let order = ops::indices_along(&flat, 0)?;
            ops::take(found, ops::reshape_like(order, first)?, 0)
        }
    }
}
