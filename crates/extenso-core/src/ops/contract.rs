//! Products of tensors whose axes have labels: what `einsum` and `tensordot` come to.
//!
//! Two factors at a time: those whose product has the fewest labels, the first of several. Labels that both have and nothing later
//! needs are summed by `matmul`, with the labels that stay as its batch; a label that one factor alone has and nothing needs is summed
//! before. Where nothing is summed the factors broadcast against each other.

use super::normalize::in_f32;
use super::{
    check_equal, equal, expand_dims, expand_dims_at, indices_along, less, logical_or, matmul, multiply, ones_like,
    reshape, reshape_like, squeeze, sum, take, transpose, where_,
};
use crate::attrs::Axes;
use crate::tensor::Tensor;
use crate::value::Value;
use extenso_types::{Dim, Error, Result};

/// What an axis is called.
pub(super) type Label = u32;

/// A tensor and the labels of its axes.
#[derive(Clone)]
pub(super) struct Labelled {
    pub value: Value,
    pub labels: Vec<Label>,
}

/// The product of the factors, summed over the labels that are not in `out`, with the axes in the order of `out`.
///
/// Errors: no factor; sizes of one label that differ; a label of `out` that no factor has.
pub(super) fn contract(factors: Vec<Labelled>, out: &[Label]) -> Result<Value> {
    let factors: Result<Vec<Labelled>> = factors.into_iter().map(without_repeats).collect();
    let mut rest = without_stretched(factors?)?;
    while rest.len() > 1 {
        let (first, second) = next_pair(&rest, out);
        let (y, x) = (rest.remove(second), rest.remove(first));
        let later = |label: Label| out.contains(&label) || rest.iter().any(|factor| factor.labels.contains(&label));
        let x = summed(x, &|label| later(label) || y.labels.contains(&label))?;
        let y = summed(y, &|label| later(label) || x.labels.contains(&label))?;
        let product = pair(x, y, &later)?;
        rest.insert(first, product);
    }
    let product = rest.pop().ok_or_else(|| Error::value("no tensor is given").wanted("at least one"))?;
    let product = summed(product, &|label| out.contains(&label))?;
    arranged(&product, out)
}

/// Of more factors than this, the first alone are compared, so that the time to choose stays small.
const MOST_COMPARED: usize = 32;

/// The two factors whose product has the fewest labels once it is summed; the first of several. Sizes do not count, since those that are
/// not known while tracing must not change the order of sums.
fn next_pair(factors: &[Labelled], out: &[Label]) -> (usize, usize) {
    let mut fewest = (usize::MAX, (0, 1));
    for second in 1..factors.len().min(MOST_COMPARED) {
        for first in 0..second {
            let of = |at: usize| factors[at].labels.iter();
            let later = |label: &&Label| {
                let others = (0..factors.len()).filter(|at| ![first, second].contains(at));
                out.contains(label) || others.into_iter().any(|at| factors[at].labels.contains(label))
            };
            let of_second = of(second).filter(|label| !factors[first].labels.contains(label));
            let kept = of(first).chain(of_second).filter(later).count();
            fewest = fewest.min((kept, (first, second)));
        }
    }
    fewest.1
}

/// The size of each axis.
fn sizes(value: &Value) -> Result<Vec<Dim>> {
    let shape = value.tensor()?.shape();
    let dims = shape.dims().ok_or_else(|| {
        Error::shape("the rank is not known while tracing").wanted("a known rank").hint("Say the shape in the spec.")
    })?;
    Ok(dims.to_vec())
}

pub(super) fn int(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// The axes of one label become their diagonal.
fn without_repeats(factor: Labelled) -> Result<Labelled> {
    let Labelled { mut value, mut labels } = factor;
    while let Some((first, second)) = repeated(&labels) {
        let dims = sizes(&value)?;
        if !dims[first].is_compatible_with(dims[second]) {
            let found = format!("one label has sizes {} and {}", dims[first], dims[second]);
            return Err(Error::shape(found).wanted("one size for each label"));
        }
        value = diagonal_of(&value, 0, first, second)?;
        let label = labels.remove(second);
        labels.remove(first);
        labels.push(label);
    }
    Ok(Labelled { value, labels })
}

fn repeated(labels: &[Label]) -> Option<(usize, usize)> {
    let pair = |second: usize| Some((labels[..second].iter().position(|label| *label == labels[second])?, second));
    (0..labels.len()).find_map(pair)
}

/// The elements at equal positions of two axes, the second shifted by `offset`, as a new last axis.
///
/// Errors: a size that is not known while tracing.
pub(super) fn diagonal_of(value: &Value, offset: i64, first: usize, second: usize) -> Result<Value> {
    let dims = sizes(value)?;
    let others: Vec<usize> = (0..dims.len()).filter(|axis| ![first, second].contains(axis)).collect();
    let order: Vec<i64> = others.iter().chain([&first, &second]).map(|&axis| int(axis)).collect();
    if offset == 0
        && dims[first] == dims[second]
        && others.iter().filter(|axis| dims[**axis].known().is_none()).count() > 1
    {
        return main_diagonal(&transpose(value, Some(order))?);
    }
    let (Some(rows), Some(columns)) = (dims[first].known(), dims[second].known()) else {
        if offset != 0 {
            return Err(Error::shape("the size of a diagonal is not known while tracing").wanted("known sizes"));
        }
        return main_diagonal(&transpose(value, Some(order))?);
    };
    let (rows, columns) = (int(rows), int(columns));
    let flat = reshaped(
        &transpose(value, Some(order))?,
        others.iter().map(|&axis| dims[axis]),
        &[rows.saturating_mul(columns)],
    )?;
    let start = if offset < 0 { offset.saturating_neg().saturating_mul(columns) } else { offset };
    let count =
        if offset < 0 { rows.saturating_add(offset).min(columns) } else { columns.saturating_sub(offset).min(rows) };
    let places: Vec<i64> = (0..count.max(0)).map(|i| start + i * (columns + 1)).collect();
    take(flat, Tensor::from_vec(places), -1)
}

/// The elements at equal positions of the last two axes, of one size that only data can tell.
fn main_diagonal(value: &Value) -> Result<Value> {
    let (rows, columns) = (indices_along(value, -2)?, indices_along(value, -1)?);
    let count = |places: &Value| sum(ones_like(places)?, 0, false);
    let rows = check_equal(&rows, count(&rows)?, count(&columns)?, "the sizes of a diagonal")?;
    let on_it = equal(expand_dims(rows, -1)?, columns)?;
    sum_in_dtype(&where_(on_it, value, 0)?, vec![-1])
}

/// The value under these sizes and `last` behind them; one of them may be unknown.
fn reshaped(value: &Value, dims: impl Iterator<Item = Dim>, last: &[i64]) -> Result<Value> {
    let mut shape: Vec<i64> = dims.map(|dim| dim.known().map_or(-1, int)).collect();
    shape.extend(last);
    if shape.iter().filter(|size| **size == -1).count() > 1 {
        return Err(Error::shape("several sizes are not known while tracing")
            .wanted("at most one, where axes are joined to be summed")
            .hint("Say the sizes in the spec."));
    }
    reshape(value, shape)
}

/// Without the axes of size 1 that another factor has in another size: what is stretched is multiplied as it stands.
///
/// Errors: sizes of one label that differ.
fn without_stretched(factors: Vec<Labelled>) -> Result<Vec<Labelled>> {
    let mut known: Vec<(Label, usize)> = Vec::new();
    for factor in &factors {
        for (label, dim) in factor.labels.iter().zip(sizes(&factor.value)?) {
            let Some(size) = dim.known() else { continue };
            match known.iter_mut().find(|(of, _)| of == label) {
                None => known.push((*label, size)),
                Some((_, of)) if *of == 1 => *of = size,
                Some((_, of)) if size == 1 || *of == size => {}
                Some((_, of)) => {
                    return Err(Error::shape(format!("one label has sizes {of} and {size}"))
                        .wanted("one size for each label, or 1"));
                }
            }
        }
    }
    let stretched = |factors: &[Labelled], label: Label| {
        let size = known.iter().find(|(of, _)| *of == label).map_or(1, |(_, size)| *size);
        let unknown = |factor: &Labelled| {
            let dims = sizes(&factor.value).unwrap_or_default();
            factor.labels.iter().zip(dims).any(|(of, dim)| *of == label && dim.known().is_none())
        };
        size != 1 || factors.iter().any(unknown)
    };
    let narrow = |factor: &Labelled| {
        let dims = sizes(&factor.value)?;
        let at: Vec<usize> =
            (0..dims.len()).filter(|&i| dims[i] == Dim::Known(1) && stretched(&factors, factor.labels[i])).collect();
        let labels = (0..dims.len()).filter(|i| !at.contains(i)).map(|i| factor.labels[i]).collect();
        let axes: Vec<i64> = at.iter().map(|&axis| int(axis)).collect();
        let value = if axes.is_empty() { factor.value.clone() } else { squeeze(&factor.value, axes)? };
        Ok(Labelled { value, labels })
    };
    factors.iter().map(narrow).collect()
}

/// Summed over the labels that are not needed, in the dtype that it has.
fn summed(factor: Labelled, needed: &dyn Fn(Label) -> bool) -> Result<Labelled> {
    let axes: Vec<i64> = (0..factor.labels.len()).filter(|&i| !needed(factor.labels[i])).map(int).collect();
    if axes.is_empty() {
        return Ok(factor);
    }
    let labels = factor.labels.iter().copied().filter(|label| needed(*label)).collect();
    Ok(Labelled { value: sum_in_dtype(&factor.value, axes)?, labels })
}

/// The sum over axes in the dtype of the elements; the sum of narrow integers is one of 64 bits.
pub(super) fn sum_in_dtype(value: &Value, axes: Vec<i64>) -> Result<Value> {
    let dtype = value.tensor()?.dtype();
    let total = sum(value, Axes::List(axes), false)?;
    if total.tensor()?.dtype() == dtype { Ok(total) } else { super::cast(total, dtype) }
}

/// With the axes in the order of `out`.
fn arranged(factor: &Labelled, out: &[Label]) -> Result<Value> {
    let place = |label: &Label| {
        let at = factor.labels.iter().position(|of| of == label);
        at.map(int).ok_or_else(|| Error::internal("a label of the result is lost"))
    };
    let order: Result<Vec<i64>> = out.iter().map(place).collect();
    let order = order?;
    if order.iter().copied().eq(0..int(out.len())) {
        return Ok(factor.value.clone());
    }
    transpose(&factor.value, Some(order))
}

/// The labels of two factors, by what becomes of them.
struct Roles {
    batch: Vec<Label>,
    left: Vec<Label>,
    right: Vec<Label>,
    inner: Vec<Label>,
}

fn pair(x: Labelled, y: Labelled, needed: &dyn Fn(Label) -> bool) -> Result<Labelled> {
    let of = |labels: &[Label], keep: &dyn Fn(Label) -> bool| labels.iter().copied().filter(|l| keep(*l)).collect();
    let shared = |label: Label| x.labels.contains(&label) && y.labels.contains(&label);
    let roles = Roles {
        batch: of(&x.labels, &|label| shared(label) && needed(label)),
        inner: of(&x.labels, &|label| shared(label) && !needed(label)),
        left: of(&x.labels, &|label| !shared(label)),
        right: of(&y.labels, &|label| !shared(label)),
    };
    let labels = [&roles.batch[..], &roles.left, &roles.right].concat();
    let value = match (&roles.inner[..], &roles.left[..], &roles.right[..]) {
        ([], ..) => broadcast_product(&x, &y, &roles)?,
        (_, [], []) => row_products(&x, &y, &roles)?,
        _ => product(&x, &y, &roles)?,
    };
    Ok(Labelled { value, labels })
}

/// `count` axes from `from` on.
fn axes(from: usize, count: usize) -> Vec<i64> {
    (from..from + count).map(int).collect()
}

/// Where nothing is summed: by broadcasting.
fn broadcast_product(x: &Labelled, y: &Labelled, roles: &Roles) -> Result<Value> {
    let Roles { batch, left, right, .. } = roles;
    let x = arranged(x, &[&batch[..], left].concat())?;
    let y = arranged(y, &[&batch[..], right].concat())?;
    let x = widened(x, batch.len() + left.len(), right.len())?;
    multiply(x, widened(y, batch.len(), left.len())?)
}

/// Where every label that stays is of both: by sums of products, as `vecdot`.
fn row_products(x: &Labelled, y: &Labelled, roles: &Roles) -> Result<Value> {
    let order = [&roles.batch[..], &roles.inner].concat();
    let (x, y) = (arranged(x, &order)?.into(), arranged(y, &order)?.into());
    in_f32(&[&x, &y], |factors| {
        sum_in_dtype(&multiply(&factors[0], &factors[1])?, axes(roles.batch.len(), roles.inner.len()))
    })
}

/// With `count` axes of size 1 before axis `at`.
fn widened(value: Value, at: usize, count: usize) -> Result<Value> {
    if count == 0 { Ok(value) } else { expand_dims_at(value, axes(at, count)) }
}

/// By `matmul`. An element is one chain of fused multiply-adds whichever way its axes are laid out, so that what is not known
/// while tracing changes no bit.
fn product(x: &Labelled, y: &Labelled, roles: &Roles) -> Result<Value> {
    let known = |factor: &Labelled| Ok::<bool, Error>(sizes(&factor.value)?.iter().all(|dim| dim.known().is_some()));
    if known(x)? && known(y)? { matrices(x, y, roles) } else { batches(x, y, roles) }
}

/// With the axes of each factor that are of one kind joined, which needs their sizes.
fn matrices(x: &Labelled, y: &Labelled, roles: &Roles) -> Result<Value> {
    let Roles { batch, left, right, inner } = roles;
    let of = |factor: &Labelled, labels: &[Label]| {
        let dims = sizes(&factor.value)?;
        let dim = |label: &Label| factor.labels.iter().position(|of| of == label).map(|at| dims[at]);
        Ok::<Vec<Dim>, Error>(labels.iter().filter_map(dim).collect())
    };
    let (batch_sizes, rows, columns) = (of(x, batch)?, of(x, left)?, of(y, right)?);
    let (m, k, n) = (joined(&rows), joined(&of(x, inner)?), joined(&columns));
    let x = reshaped(&arranged(x, &[&batch[..], left, inner].concat())?, batch_sizes.iter().copied(), &[m, k])?;
    let y = reshaped(&arranged(y, &[&batch[..], inner, right].concat())?, batch_sizes.iter().copied(), &[k, n])?;
    let product = matmul(x, y, false)?;
    reshaped(&product, batch_sizes.into_iter().chain(rows).chain(columns), &[])
}

/// The product of sizes; -1 where one is not known.
fn joined(dims: &[Dim]) -> i64 {
    let product = dims.iter().try_fold(1_i64, |product, dim| Some(product.saturating_mul(int(dim.known()?))));
    product.unwrap_or(-1)
}

/// With all axes but the last of each kind among those of the batch, which need no sizes.
fn batches(x: &Labelled, y: &Labelled, roles: &Roles) -> Result<Value> {
    let Roles { batch, left, right, inner } = roles;
    let (b, l, r) = (batch.len(), left.len().saturating_sub(1), right.len().saturating_sub(1));
    let x = merged(arranged(x, &[&batch[..], left, inner].concat())?, inner.len())?;
    let x = widened(x, b, usize::from(left.is_empty()))?;
    // One summed axis stands where `matmul` wants it; several are joined behind the others.
    let plain = inner.len() == 1 && !right.is_empty();
    let y = if plain {
        arranged(y, &[&batch[..], &right[..r], inner, &right[r..]].concat())?
    } else {
        merged(arranged(y, &[&batch[..], right, inner].concat())?, inner.len())?
    };
    let y = widened(y, b, usize::from(right.is_empty()))?;
    let product = matmul(widened(x, b + l, r)?, widened(y, b, l)?, !plain)?;
    let from = b + l + r;
    let ones = [(left, from), (right, from + 1)].into_iter().filter(|(labels, _)| labels.is_empty());
    let ones: Vec<i64> = ones.map(|(_, axis)| int(axis)).collect();
    let product = if ones.is_empty() { product } else { squeeze(product, ones)? };
    // The axes are those of the batch, of the left, of the right, then the last of both.
    let last_left = axes(from, usize::from(!left.is_empty()));
    let last_right = axes(from + last_left.len(), usize::from(!right.is_empty()));
    let order = [axes(0, b + l), last_left, axes(b + l, r), last_right].concat();
    if order.is_sorted() { Ok(product) } else { transpose(product, Some(order)) }
}

/// With the last `count` axes joined.
fn merged(value: Value, count: usize) -> Result<Value> {
    if count == 1 {
        return Ok(value);
    }
    let dims = sizes(&value)?;
    let (outer, inner) = dims.split_at(dims.len() - count);
    let unknown = outer.iter().filter(|dim| dim.known().is_none()).count() + usize::from(joined(inner) < 0);
    if unknown < 2 {
        return reshaped(&value, outer.iter().copied(), &[joined(inner)]);
    }
    // Sizes that only data can tell are those of a value which has them, of one bit for each element.
    let bits = |axes: std::ops::Range<usize>| {
        axes.map(|axis| less(indices_along(&value, int(axis))?, 0))
            .reduce(|before, bits| logical_or(expand_dims(before?, -1)?, bits?))
            .transpose()
    };
    let one = bits(outer.len()..dims.len())?.map(|inside| reshape(inside, vec![-1]));
    let one = one.ok_or_else(|| Error::internal("no axes are joined"))??;
    let like = match bits(0..outer.len())? {
        Some(outside) => logical_or(expand_dims(outside, -1)?, one)?,
        None => one,
    };
    reshape_like(value, like)
}
