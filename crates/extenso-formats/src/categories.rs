//! Categories of values: the distinct ones in the order in which they come first, and the place of each value among them.
//!
//! Invariant: values are told apart by their bits. What is not there has the place of the first category, and adds none of its own, but for
//! one default where nothing is there at all.

use crate::arrow::defaults;
use extenso_core::{Storage, Tensor, ops};
use extenso_types::{DType, DTypeKind, Dim, Error, ExtSpec, Result, Segment, Spec, StaticValue, TensorSpec};
use std::collections::HashMap;

/// What categories are asked for: the specs of the places and of the categories.
///
/// Errors: categories that no column holds.
pub fn asked(ext: &ExtSpec) -> Result<(&TensorSpec, &TensorSpec)> {
    let categories = |(segment, _): &&(Segment, Spec)| *segment != Segment::Itself;
    match (ext.component(&Segment::Itself), ext.components.iter().find(categories)) {
        (Some(Spec::Tensor(codes)), Some((_, Spec::Tensor(words))))
            if codes.dtype.is_integer() && words.shape.rank() == Some(1) && words.dtype != DType::Variant =>
        {
            Ok((codes, words))
        }
        (_, Some((_, words))) => Err(Error::dtype(format!("the categories are {words}"))
            .wanted("a vector of strings, bytes, numbers or booleans")),
        (_, None) => Err(Error::internal("categories without a vocabulary")),
    }
}

/// Checks that categories are not asked for in an order, which values do not say.
///
/// Errors: they are.
pub fn unordered(ext: &ExtSpec) -> Result<()> {
    if ext.static_data.get("ordered") != Some(&StaticValue::Bool(true)) {
        return Ok(());
    }
    let error = Error::dtype("values do not say in which order their categories are").wanted("categories without one");
    Err(error.hint("Give a spec with `ordered=False`, and the order after reading"))
}

/// The places of values and their categories, as `ext` asks for them; the places have the axes of the values.
///
/// Errors: categories in an order; more than the places count, or another number than is asked for.
pub fn encoded(values: &Tensor, there: impl Fn(usize) -> bool, ext: &ExtSpec) -> Result<(Tensor, Tensor)> {
    unordered(ext)?;
    let (codes, words) = asked(ext)?;
    let (places, firsts) = distinct(values, there)?;
    let count = firsts.len().max(usize::from(!places.is_empty()));
    check(count, codes.dtype)?;
    if let Some([Dim::Known(size)]) = words.shape.dims()
        && *size != count
    {
        let error = Error::data(format!("{count} categories came")).wanted(size.to_string());
        return Err(error.hint("Leave their number open in the spec"));
    }
    let dims = values.data()?.dims().to_vec();
    let places = ops::cast(Tensor::from_vec(places), codes.dtype)?.tensor()?.with_dims(&dims)?;
    if firsts.is_empty() {
        return Ok((places, defaults(&Spec::from(words.clone()), count)?.tensor()?.clone()));
    }
    let flat = values.with_dims(&[values.data()?.len()])?;
    Ok((places, ops::take(&flat, Tensor::from_vec(firsts), 0_i64)?.tensor()?.clone()))
}

/// Checks that a dtype counts so many categories.
///
/// Errors: it does not.
pub fn check(count: usize, dtype: DType) -> Result<()> {
    let signed = usize::from(dtype.kind() == DTypeKind::Signed);
    let most = 1_u128 << dtype.width().map_or(0, |width| 8 * width - signed);
    if count as u128 <= most {
        return Ok(());
    }
    let error = Error::data(format!("{count} categories came")).wanted(format!("at most {most}, which {dtype} counts"));
    Err(error.hint("Give places of a wider dtype"))
}

/// The place of each value among the distinct ones, and where these come first.
fn distinct(values: &Tensor, there: impl Fn(usize) -> bool) -> Result<(Vec<i64>, Vec<i64>)> {
    let dense = values.data()?;
    let width = dense.dtype().width().unwrap_or(0);
    let (mut known, mut firsts) = (HashMap::new(), Vec::new());
    let mut places = Vec::with_capacity(dense.len());
    for (i, at) in (0..dense.len()).zip(0_i64..) {
        if !there(i) {
            places.push(0);
            continue;
        }
        let key: &[u8] = match dense.storage() {
            Storage::Text { .. } => dense.text_at(i)?,
            Storage::Bits(bits) => {
                if bits.value(i) {
                    &[1]
                } else {
                    &[0]
                }
            }
            Storage::Fixed(elements) => elements.as_slice().get(i * width..(i + 1) * width).unwrap_or_default(),
            Storage::Boxed(_) => {
                return Err(Error::dtype(format!("found {}", DType::Variant)).wanted("numbers or text"));
            }
        };
        places.push(*known.entry(key).or_insert_with(|| {
            firsts.push(at);
            i64::try_from(firsts.len() - 1).unwrap_or(i64::MAX)
        }));
    }
    Ok((places, firsts))
}
