//! Products of vectors in rows: those of `ops`, which see no rows, with vectors that are as long as each other.

use crate::args::{int, typed, typed_arg};
use crate::axes::{rank, zeros};
use crate::einsum::tensordot;
use crate::guard::checked;
use crate::masked::{MaskedTensor, fill_none};
use crate::meaning::nested::innermost;
use crate::ragged::{self, RaggedTensor};
use crate::specs::dtype_of;
use crate::structs::masked_by;
use extenso_core::attrs::Axes;
use extenso_core::ops::DotAxes;
use extenso_core::reduce::normalize_axis;
use extenso_core::{Arg, ExtensionType, Value, ops};
use extenso_types::{DType, Result};

/// The sum of the products of vectors along `axis`, which broadcast in the other axes; of rows too.
///
/// As [`ops::vecdot`] for tensors; what is missing adds nothing. Errors: as there; a row of another length, also of one value.
///
/// ```
/// # use extenso_ext::{constant, vecdot};
/// let x = constant(vec![vec![1, 2], vec![3]]).unwrap();
/// assert_eq!(vecdot(&x, &x, -1).unwrap().to_string(), "[5, 9]");
/// assert!(vecdot(&x, constant(vec![vec![1], vec![3]]).unwrap(), -1).is_err());
/// ```
pub fn vecdot(x: impl Into<Arg>, y: impl Into<Arg>, axis: i64) -> Result<Value> {
    let (x, y) = (x.into(), y.into());
    let dtype = integers_of([&x, &y]);
    let product = as_long(&x, y, axis).map_err(|e| e.at_part("vecdot")).and_then(|y| ops::vecdot(x, y, axis))?;
    in_dtype(product, dtype)
}

/// The dtype that operands have in common, if it is one of integers.
pub(crate) fn integers_of<'a>(operands: impl IntoIterator<Item = &'a Arg>) -> Option<DType> {
    let mut found = None;
    for operand in operands {
        let Arg::Value(value) = operand else { continue };
        innermost(value).tensor().ok()?;
        let dtype = dtype_of(&value.spec().ok()?)?;
        if !dtype.is_integer() || found.is_some_and(|found| found != dtype) {
            return None;
        }
        found = Some(dtype);
    }
    found
}

/// A sum of products of integers in their dtype, as that of tensors is: sums of rows have 64 bits.
pub(crate) fn in_dtype(sum: Value, dtype: Option<DType>) -> Result<Value> {
    match dtype.filter(|dtype| sum.spec().is_ok_and(|spec| dtype_of(&spec) != Some(*dtype))) {
        Some(dtype) => ops::cast(sum, dtype),
        None => Ok(sum),
    }
}

/// The products summed over the last axes of both; with a scalar, all products.
///
/// As [`ops::inner`] for tensors; what is missing adds nothing. Errors: as there; rows.
///
/// ```
/// # use extenso_ext::{Literal, constant, inner};
/// let x = constant(Literal::List(vec![Literal::Int(1), Literal::None, Literal::Int(3)])).unwrap();
/// assert_eq!(inner(&x, constant(vec![1, 2, 3]).unwrap()).unwrap().to_string(), "10");
/// ```
pub fn inner(x: impl Into<Arg>, y: impl Into<Arg>) -> Result<Value> {
    let (x, y) = (x.into(), y.into());
    let vectors = |arg: &Arg| matches!(arg, Arg::Value(value) if rank(value).is_ok_and(|rank| rank > 0));
    if !vectors(&x) || !vectors(&y) {
        return if vectors(&x) || vectors(&y) {
            ops::multiply(x, y).map_err(|e| e.at_part("inner"))
        } else {
            ops::inner(x, y)
        };
    }
    let missing =
        |arg: &Arg| typed_arg::<MaskedTensor>(arg).is_some_and(|x| typed::<RaggedTensor>(x.values()).is_none());
    match (&x, &y) {
        (Arg::Value(left), Arg::Value(right)) if missing(&x) || missing(&y) => {
            tensordot(left, right, DotAxes::Pairs(vec![-1], vec![-1])).map_err(|e| e.at_part("inner"))
        }
        _ => ops::inner(x, y),
    }
}

/// The cosine of the angle between vectors along `axis`, which is left out; of rows too.
///
/// As [`ops::cosine_similarity`] for tensors. Errors: as there; a row of another length, also of one value.
///
/// ```
/// # use extenso_ext::{constant, cosine_similarity};
/// let (x, y) = (constant(vec![vec![3.0, 4.0], vec![2.0]]).unwrap(), constant(vec![vec![4.0, 3.0], vec![5.0]]).unwrap());
/// assert_eq!(cosine_similarity(&x, &y, -1, 1e-8).unwrap().to_string(), "[0.96, 1.0]");
/// ```
pub fn cosine_similarity(x: impl Into<Arg>, y: impl Into<Arg>, axis: i64, epsilon: f64) -> Result<Value> {
    let (x, y) = (x.into(), y.into());
    let y = as_long(&x, y, axis).map_err(|e| e.at_part("cosine_similarity"));
    y.and_then(|y| ops::cosine_similarity(x, y, axis, epsilon))
}

/// `y`, if its vectors along `axis` are as long as those of `x` that they meet.
///
/// Errors: lengths that differ, now or when the graph runs.
fn as_long(x: &Arg, y: Arg, axis: i64) -> Result<Arg> {
    let (Arg::Value(x), Arg::Value(other)) = (x, &y) else { return Ok(y) };
    let in_rows = |value: &Value| typed::<RaggedTensor>(value).is_some() || typed::<MaskedTensor>(value).is_some();
    if !in_rows(x) && !in_rows(other) {
        return Ok(y);
    }
    let lengths = |value: &Value| {
        let at = normalize_axis(axis, rank(value)?)?;
        let value = without_mask(value, at)?;
        // As many rows as there are, however long each is, which the product looks at.
        let value = if at == 0 && rank(&value)? > 1 { zeros(&value)? } else { value };
        let ones = ops::cast(ops::ones_like(value)?, DType::Bool)?;
        ops::sum(ones, Axes::List(vec![int(at)]), false)
    };
    let (wanted, given) = (lengths(x)?, lengths(other)?);
    let beside = |one: &Value, other: &Value| {
        // Of a vector that is missing as a whole in one of them, no size counts.
        let both = fill_none(&ops::add(one, ops::zeros_like(other)?)?, 0)?;
        if both.tensor().is_ok() { Ok(both) } else { ragged::flatten(both, None) }
    };
    let (wanted, given) = (beside(&wanted, &given)?, beside(&given, &wanted)?);
    Ok(checked(other, &given, &wanted, "the sizes of the vectors")?.into())
}

/// The values, those that are missing along an axis with them.
fn without_mask(value: &Value, axis: usize) -> Result<Value> {
    if let Some(masked) = typed::<MaskedTensor>(value) {
        let values = without_mask(masked.values(), axis)?;
        return if masked.mask_rank()? > axis { Ok(values) } else { masked_by(values, masked.mask()) };
    }
    match typed::<RaggedTensor>(value) {
        Some(rows) => Ok(rows.with_values(without_mask(rows.values(), axis.saturating_sub(1))?)?.into_value()),
        None => Ok(value.clone()),
    }
}
