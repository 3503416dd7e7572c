//! Axes of size 1, the order of axes, and products. Axes inside the rows are left to the values; the ragged one stays where
//! it is.

use super::RaggedTensor;
use super::dense::zero;
use super::grid::Grid;
use crate::args::{answer, answer_ext, flat, int, typed, typed_arg};
use crate::axes::{rank, rows_of_one};
use crate::masked::{MaskedTensor, fill_none};
use crate::missing::mask;
use crate::structs::masked_by;
use extenso_core::attrs::Attrs;
use extenso_core::ops::{ManyAxes, MatMul, Squeeze, Transpose};
use extenso_core::reduce::{normalize_axes, normalize_axis};
use extenso_core::{Answer, Arg, Call, ExtensionType, Tensor, Value, call_one, ops};
use extenso_types::{Dim, Error, Result};

/// `expand_dims_at` puts in one axis after the other, from the outside.
pub(super) fn expand_dims_at(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(x) else { return Ok(None) };
    let axes = &ManyAxes::of(call.attrs)?.axes;
    let axes = normalize_axes(axes, x.rank()? + axes.len())?;
    answer(axes.iter().try_fold(x.into_value(), |x, &axis| ops::expand_dims(x, int(axis)))?)
}

/// `squeeze` drops axes of size 1, from the inside.
pub(super) fn squeeze(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(mut x) = typed_arg::<RaggedTensor>(x) else { return Ok(None) };
    let axes = normalize_axes(&Squeeze::of(call.attrs)?.axis, x.rank()?)?;
    let inner: Vec<i64> = axes.iter().filter(|&&axis| axis > 1).map(|&axis| int(axis - 1)).collect();
    if !inner.is_empty() {
        x = x.with_values(ops::squeeze(x.values(), inner).map_err(Error::within_rows)?)?;
    }
    if axes.contains(&0) && x.nrows() != Dim::Known(1) {
        return Err(Error::shape(format!("axis 0 has size {}", x.nrows())).wanted("size 1"));
    }
    match (axes.contains(&0), axes.contains(&1)) {
        (false, false) => answer_ext(x),
        (false, true) => answer(only_values(&x)?),
        (true, false) => answer(ops::take(x.into_value(), 0, 0)?),
        (true, true) => answer(ops::squeeze(only_values(&x)?, vec![0_i64])?),
    }
}

/// The only value of each row.
///
/// Errors: a row of another length, which is named; while tracing this is found when the graph runs.
fn only_values(x: &RaggedTensor) -> Result<Value> {
    x.values_in(&rows_of_one(&x.clone().into_value())?).map_err(|e| e.note("Axis 1 is ragged; only size 1 is dropped."))
}

/// `transpose` reorders axes inside the rows, and those before the first ragged one, which are the rows and lists of one length.
///
/// Errors: another axis than these would move.
pub(super) fn transpose(call: &Call<'_>) -> Answer {
    let [x] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(x) else { return Ok(None) };
    let rank = x.rank()?;
    let order: Vec<usize> = match &Transpose::of(call.attrs)?.axes {
        None => (0..rank).rev().collect(),
        Some(axes) if axes.len() == rank && normalize_axes(axes, rank).is_ok() => {
            axes.iter().map(|&axis| normalize_axis(axis, rank)).collect::<Result<_>>()?
        }
        Some(axes) => {
            let what = format!("axes {axes:?} are given for rank {rank}");
            return Err(Error::value(what).wanted("a permutation of all axes"));
        }
    };
    if let [0, 1, inner @ ..] = &order[..] {
        let inner: Vec<i64> = std::iter::once(0).chain(inner.iter().map(|&axis| int(axis - 1))).collect();
        return answer_ext(x.with_values(ops::transpose(x.values(), Some(inner))?)?);
    }
    let grid = Grid::of(&x)?;
    let axes = grid.axes();
    let (outside, inner) = order.split_at(axes);
    // Behind the first axis alone there is nothing that could move but what stays.
    if axes == 1 || outside.iter().any(|&axis| axis >= axes) {
        return Err(Error::shape(format!("axis {axes} is ragged, and the order of axes is {order:?}"))
            .wanted(format!("an order of the axes before axis {axes} and one of those behind it"))
            .hint("Make the rows dense first: `to_tensor`."));
    }
    let inner: Vec<i64> = std::iter::once(0).chain(inner.iter().map(|&axis| int(axis + 1 - axes))).collect();
    answer(grid.transposed(outside, |cells| ops::transpose(cells, Some(inner)))?)
}

/// `matmul` takes what is missing as zero, and a vector that is missing as a whole has no product. Rows of vectors by one matrix: each vector; by a matrix for each row: the vectors of each row.
///
/// Errors: the vectors themselves are ragged, and no matrix for each row is given; another number of matrices than rows.
pub(super) fn matmul(call: &Call<'_>) -> Answer {
    let [x, y] = call.args else { return Ok(None) };
    if let (Some(left), Some(right)) = (typed_arg::<RaggedTensor>(x), typed_arg::<RaggedTensor>(y))
        && left.rank()? > 3
        && left.rank()? == right.rank()?
    {
        // Rows of matrices by those of the same rows.
        let left = left.compact()?;
        let right = right.compact()?.values_in(left.partition())?;
        return answer_ext(left.with_values(call_one(
            call.op,
            &[Arg::from(left.values()), Arg::Value(right)],
            call.attrs,
        )?)?);
    }
    if let (Arg::Value(left), Arg::Value(right)) = (x, y) {
        let ragged_vectors = typed::<RaggedTensor>(left).is_some_and(|x| typed::<RaggedTensor>(x.values()).is_some());
        if typed::<RaggedTensor>(right).is_some() || (ragged_vectors && rank(left)? == 3 && rank(right)? == 3) {
            let there = fill_none(left, 0).and_then(|x| Ok((x, fill_none(right, 0)?)))?;
            let product = super::products::one_by_one(call, &there.0, &there.1)?;
            return answer(without_vectors(call, product, left, right)?);
        }
    }
    let (Some(x), Arg::Value(Value::Tensor(weights))) = (typed_arg::<RaggedTensor>(x), y) else { return Ok(None) };
    match weights.shape().rank() {
        Some(3) if x.rank()? == 3 => {
            let there = x.with_values(fill_none(x.values(), 0)?)?;
            let product = rows_by_matrices(call, &there.compact()?, weights)?.into_value();
            return answer(without_vectors(call, product, &x.into_value(), &weights.clone().into())?);
        }
        None | Some(3..) => return Ok(None),
        Some(0..3) => {}
    }
    if x.rank()? < 3 {
        return Err(Error::shape("axis 1 is ragged, and the rows are of no one length")
            .wanted("rows of vectors: a ragged tensor of rank 3 or more")
            .hint("Make the rows dense first: `to_tensor`."));
    }
    answer_ext(x.with_values(call_one(call.op, &[Arg::from(x.values()), y.clone()], call.attrs)?)?)
}

/// The products without those of vectors that are missing as a whole: rows of `x`, and columns of `y` whose vectors lie across.
fn without_vectors(call: &Call<'_>, product: Value, x: &Value, y: &Value) -> Result<Value> {
    let mut product = product;
    if let Some((rows, there)) = vectors_missing(y)?
        && MatMul::of(call.attrs)?.transpose_y
    {
        let columns = ops::expand_dims(rows.with_values(there)?.into_value(), 1)?;
        product = mask(&product, &ops::broadcast_like(columns, &product)?)?;
    }
    match (vectors_missing(x)?, typed::<RaggedTensor>(&product)) {
        (Some((_, there)), Some(rows)) => Ok(rows.with_values(masked_by(rows.values().clone(), &there)?)?.into_value()),
        _ => Ok(product),
    }
}

/// Rows of vectors of which some are missing as a whole, and which of all are there.
fn vectors_missing(x: &Value) -> Result<Option<(RaggedTensor, Tensor)>> {
    let Some(rows) = typed::<RaggedTensor>(x) else { return Ok(None) };
    let rows = rows.compact()?;
    let masked = typed::<MaskedTensor>(rows.values());
    let whole =
        |x: &MaskedTensor| x.mask_rank().is_ok_and(|axes| axes == 1) && rank(x.values()).is_ok_and(|all| all > 1);
    Ok(masked.filter(whole).map(|x| (rows, x.mask().clone())))
}

/// The vectors of each row by the matrix of the row: the product of rows of one length, and what stands in rows of it.
fn rows_by_matrices(call: &Call<'_>, x: &RaggedTensor, matrices: &Tensor) -> Result<RaggedTensor> {
    let zero = zero(x.values().tensor().map_err(|_| ragged_vectors())?.dtype())?;
    let dense = ops::pad_rows(x.values(), x.partition(), zero, None)?;
    let product = call_one(call.op, &[Arg::Value(dense), Arg::from(matrices)], call.attrs)?;
    x.with_values(ops::unpad_rows(product, x.partition(), false)?)
}

fn ragged_vectors() -> Error {
    Error::shape("the vectors in the rows are ragged themselves")
        .wanted("rows of vectors of one size")
        .hint("Make the rows dense first: `to_tensor`.")
}
