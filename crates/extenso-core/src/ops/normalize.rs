//! Normalizations: values brought to mean 0, length 1 or the like. Compositions, so that their gradients follow.
//!
//! Tensors of f16 and bf16 are computed in f32 and rounded once.

use super::products::as_long;
use super::reduction::dtype_of;
use super::{add, cast, divide, expand_dims_at, maximum, mean, multiply, root, sqrt, square, subtract, sum};
use crate::attrs::Axes;
use crate::value::{Arg, Value};
use extenso_types::{DType, Error, Result};

/// What `f` makes of the arguments; of f16 and bf16 in f32, rounded once.
///
/// Errors: those of `f`.
///
/// ```
/// # use extenso_core::{Arg, Tensor, ops};
/// let x: Arg = ops::cast(Tensor::from_vec(vec![300.0, 301.0]), extenso_types::DType::F16)?.into();
/// let difference = ops::in_f32(&[&x], |x| ops::sum(ops::multiply(ops::square(&x[0])?, Tensor::from_vec(vec![1_f32, -1.0]))?, 0, false))?;
/// assert_eq!(difference.to_string(), "-601.0");
/// # Ok::<(), extenso_types::Error>(())
/// ```
pub fn in_f32(args: &[&Arg], f: impl FnOnce(&[Arg]) -> Result<Value>) -> Result<Value> {
    let is_narrow = |dtype: &DType| matches!(dtype, DType::F16 | DType::BF16);
    let dtype_of = |arg: &Arg| match arg {
        Arg::Value(x) => dtype_of(x).ok(),
        Arg::Scalar(_) | Arg::List(_) => None,
    };
    // The dtype in which the arguments meet.
    let met = args.iter().filter_map(|arg| dtype_of(arg)).map(Some).reduce(|a, b| a?.promote(b?).ok());
    let Some(dtype) = met.flatten().filter(is_narrow) else {
        return f(&args.iter().map(|&arg| arg.clone()).collect::<Vec<_>>());
    };
    let wide = |arg: &&Arg| match dtype_of(arg) {
        Some(of) if is_narrow(&of) => Ok(cast(*arg, DType::F32)?.into()),
        _ => Ok((*arg).clone()),
    };
    let wide: Result<Vec<Arg>> = args.iter().map(wide).collect();
    cast(f(&wide?)?, dtype)
}

/// The same of arguments of which the first is to be of floats.
///
/// Errors: it is of another dtype.
pub(super) fn of_floats(args: &[&Arg], f: impl FnOnce(&[Arg]) -> Result<Value>) -> Result<Value> {
    args.first().map_or(Ok(()), |x| are_floats(x))?;
    in_f32(args, f)
}

/// Checks that an argument is of floats, as far as its type says what it is of.
///
/// Errors: it is of another dtype.
pub(super) fn are_floats(x: &Arg) -> Result<()> {
    let Arg::Value(x) = x else { return Ok(()) };
    match dtype_of(x) {
        Ok(dtype) if !dtype.is_float() => {
            let error = Error::dtype(format!("the op does not take {dtype}")).wanted("floats");
            Err(error.hint("Write `cast(x, dtype)` around the argument."))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

fn epsilon_fits(epsilon: f64) -> Result<()> {
    if epsilon >= 0.0 {
        return Ok(());
    }
    Err(Error::value(format!("epsilon is {epsilon}")).wanted("a number that is not negative"))
}

/// `x`, times `scale`, plus `bias`, where they are given.
fn scaled(x: Value, scale: Option<&Arg>, bias: Option<&Arg>) -> Result<Value> {
    let x = scale.map_or_else(|| Ok(x.clone()), |scale| multiply(&x, scale))?;
    bias.map_or_else(|| Ok(x.clone()), |bias| add(&x, bias))
}

/// The arguments that are given, and for the optional ones whether they are.
fn given<'a>(x: &'a Arg, optional: &[&'a Option<Arg>]) -> Vec<&'a Arg> {
    std::iter::once(x).chain(optional.iter().filter_map(|arg| arg.as_ref())).collect()
}

/// `x` less its mean over `axis`, divided by its standard deviation there; times `scale`, plus `bias` (Ba et al., 2016).
///
/// `epsilon` is added to the variance, under the root. Errors: no floats; an axis out of range; a scale or bias that does not
/// broadcast; a negative `epsilon`.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let y = ops::layer_norm(Tensor::from_vec(vec![1.0, 3.0]), None, None, -1, 0.0).unwrap();
/// assert_eq!(y.to_string(), "[-1.0, 1.0]");
/// ```
pub fn layer_norm(
    x: impl Into<Arg>,
    scale: Option<Arg>,
    bias: Option<Arg>,
    axis: impl Into<Axes>,
    epsilon: f64,
) -> Result<Value> {
    let normalized = |x: Arg, axis: Axes| {
        epsilon_fits(epsilon)?;
        of_floats(&given(&x, &[&scale, &bias]), |args| {
            let x = subtract(&args[0], mean(&args[0], axis.clone(), true)?)?;
            let deviation = sqrt(add(mean(square(&x)?, axis, true)?, epsilon)?)?;
            let (scaling, moving) = (scale.as_ref().and(args.get(1)), bias.as_ref().and(args.last()));
            scaled(divide(x, deviation)?, scaling, moving)
        })
    };
    normalized(x.into(), axis.into()).map_err(|e| e.at_part("layer_norm"))
}

/// `x` divided by the root of the mean of its squares over `axis`; times `scale` (Zhang and Sennrich, 2019).
///
/// `epsilon` is added to the mean, under the root. Errors: no floats; an axis out of range; a scale that does not broadcast; a
/// negative `epsilon`.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let y = ops::rms_norm(Tensor::from_vec(vec![3.0, -3.0]), None, -1, 0.0).unwrap();
/// assert_eq!(y.to_string(), "[1.0, -1.0]");
/// ```
pub fn rms_norm(x: impl Into<Arg>, scale: Option<Arg>, axis: impl Into<Axes>, epsilon: f64) -> Result<Value> {
    let normalized = |x: Arg, axis: Axes| {
        epsilon_fits(epsilon)?;
        of_floats(&given(&x, &[&scale]), |args| {
            let size = sqrt(add(mean(square(&args[0])?, axis, true)?, epsilon)?)?;
            scaled(divide(&args[0], size)?, args.get(1), None)
        })
    };
    normalized(x.into(), axis.into()).map_err(|e| e.at_part("rms_norm"))
}

/// `x` less `average`, divided by the root of `variance`; times `scale`, plus `bias`: vectors of one number for each position along
/// `axis`, which were found before (Ioffe and Szegedy, 2015).
///
/// `axis` counts from the last, which is -1. `epsilon` is added to the variance. Errors: no floats; an axis that does not count
/// from the last; vectors that do not fit the axis; a negative `epsilon`.
///
/// ```
/// # use extenso_core::{Arg, Tensor, ops};
/// let (x, average, variance) = (Tensor::from_vec(vec![1.0, 3.0]), Tensor::from_vec(vec![1.0, 1.0]), Tensor::from_vec(vec![1.0, 4.0]));
/// let y = ops::batch_norm(x, average, variance, None, None, -1, 0.0).unwrap();
/// assert_eq!(y.to_string(), "[0.0, 1.0]");
/// ```
pub fn batch_norm(
    x: impl Into<Arg>,
    average: impl Into<Arg>,
    variance: impl Into<Arg>,
    scale: Option<Arg>,
    bias: Option<Arg>,
    axis: i64,
    epsilon: f64,
) -> Result<Value> {
    let normalized = |x: Arg, average: Arg, variance: Arg| {
        epsilon_fits(epsilon)?;
        let along = |vector: &Arg| along_axis(vector, axis);
        let (average, variance) = (along(&average)?, along(&variance)?);
        let (scale, bias) = (scale.as_ref().map(along).transpose()?, bias.as_ref().map(along).transpose()?);
        let mut args = vec![&x, &average, &variance];
        args.extend(scale.iter().chain(&bias));
        of_floats(&args, |args| {
            let x = divide(subtract(&args[0], &args[1])?, sqrt(add(&args[2], epsilon)?)?)?;
            scaled(x, scale.as_ref().and(args.get(3)), bias.as_ref().and(args.last()))
        })
    };
    normalized(x.into(), average.into(), variance.into()).map_err(|e| e.at_part("batch_norm"))
}

/// A vector with axes of size 1 behind it, so that it lies along `axis`.
fn along_axis(vector: &Arg, axis: i64) -> Result<Arg> {
    match axis {
        -1 => Ok(vector.clone()),
        -64..-1 => Ok(expand_dims_at(vector, (axis + 1..0).collect::<Vec<i64>>())?.into()),
        _ => Err(Error::value(format!("axis is {axis}")).wanted("an axis that counts from the last, from -64 to -1")),
    }
}

/// `x` divided by its length over `axis`, but by no less than the root of `epsilon`.
///
/// Errors: no floats; an axis out of range; a negative `epsilon`.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let y = ops::l2_normalize(Tensor::from_vec(vec![6.0, -8.0]), -1, 1e-12).unwrap();
/// assert_eq!(y.to_string(), "[0.6, -0.8]");
/// ```
pub fn l2_normalize(x: impl Into<Arg>, axis: impl Into<Axes>, epsilon: f64) -> Result<Value> {
    let normalized = |x: Arg, axis: Axes| {
        epsilon_fits(epsilon)?;
        of_floats(&[&x], |args| {
            let total = sum(square(&args[0])?, axis, true)?;
            divide(&args[0], sqrt(maximum(total, epsilon)?)?)
        })
    };
    normalized(x.into(), axis.into()).map_err(|e| e.at_part("l2_normalize"))
}

/// The cosine of the angle between vectors along `axis`, which is left out; a product of lengths counts as no less than `epsilon`.
///
/// Errors: no floats; vectors of different sizes; other axes that do not broadcast; an axis out of range; a negative `epsilon`.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let (x, y) = (Tensor::from_vec(vec![3.0, 4.0]), Tensor::from_vec(vec![4.0, 3.0]));
/// assert_eq!(ops::cosine_similarity(x, y, -1, 1e-8).unwrap().to_string(), "0.96");
/// ```
pub fn cosine_similarity(x: impl Into<Arg>, y: impl Into<Arg>, axis: i64, epsilon: f64) -> Result<Value> {
    let cosine = |x: Arg, y: Arg| {
        epsilon_fits(epsilon)?;
        let y = as_long(&x, y, axis)?;
        of_floats(&[&x, &y], |args| {
            // The gradient of the length is 0 at a vector of zeros.
            let length = |v: &Arg| root(sum(square(v)?, axis, false)?);
            let lengths = maximum(multiply(length(&args[0])?, length(&args[1])?)?, epsilon)?;
            divide(sum(multiply(&args[0], &args[1])?, axis, false)?, lengths)
        })
    };
    cosine(x.into(), y.into()).map_err(|e| e.at_part("cosine_similarity"))
}
