//! Losses: how far predictions are from what was wanted. Compositions, so that their gradients follow.

use super::normalize::in_f32;
use super::reduction::dtype_of;
use super::{
    abs, cast, check_all, equal, expand_dims, greater_equal, less_equal, log_softmax, logical_and, mean, multiply,
    negative, softplus, square, squeeze, subtract, sum, take_along_axis, where_, zeros_like,
};
use crate::attrs::Axes;
use crate::value::{Arg, Value};
use extenso_types::{DType, Error, Result};

/// The cross entropy between the probabilities `labels` and those that `softmax` gives the logits along `axis`, which is left out.
///
/// A probability of 0 adds nothing, whatever its logit is. Errors: no floats; shapes that do not broadcast; an axis out of range.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let (logits, labels) = (Tensor::from_vec(vec![0.0, -800.0]), Tensor::from_vec(vec![0.0, 1.0]));
/// assert_eq!(ops::softmax_cross_entropy(logits, labels, -1).unwrap().to_string(), "800.0");
/// ```
pub fn softmax_cross_entropy(logits: impl Into<Arg>, labels: impl Into<Arg>, axis: i64) -> Result<Value> {
    let loss = |logits: Arg, labels: Arg| {
        in_f32(&[&logits, &labels], |args| {
            let (shares, labels) = (log_softmax(&args[0], axis)?, &args[1]);
            let lost = logical_and(equal(labels, 0)?, equal(&shares, f64::NEG_INFINITY)?)?;
            let shares = where_(lost, zeros_like(&shares)?, &shares)?;
            negative(sum(multiply(labels, shares)?, axis, false)?)
        })
    };
    loss(logits.into(), labels.into()).map_err(|e| e.at_part("softmax_cross_entropy"))
}

/// The cross entropy between classes and the probabilities that `softmax` gives the logits along `axis`, which is left out.
///
/// `labels` are positions along the axis, in the shape of the result. Errors: no floats; labels that are no integers, negative or out
/// of range; shapes that do not fit.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let logits = Tensor::new(&[1, 2], &[0.0, -800.0]).unwrap();
/// let loss = ops::sparse_softmax_cross_entropy(logits, Tensor::from_vec(vec![1_i64]), -1).unwrap();
/// assert_eq!(loss.to_string(), "[800.0]");
/// ```
pub fn sparse_softmax_cross_entropy(logits: impl Into<Arg>, labels: impl Into<Arg>, axis: i64) -> Result<Value> {
    let loss = |logits: Arg, labels: Arg| {
        in_f32(&[&logits], |args| {
            // An index counts from the end; a class does not.
            let given = labels.value()?;
            let labels =
                check_all(given, greater_equal(given, 0)?, "a label is negative", "positions of classes, from 0")?;
            let places = expand_dims(labels, axis)?;
            let chosen = take_along_axis(log_softmax(&args[0], axis)?, places, axis)?;
            negative(squeeze(chosen, vec![axis])?)
        })
    };
    loss(logits.into(), labels.into()).map_err(|e| e.at_part("sparse_softmax_cross_entropy"))
}

/// The cross entropy between the probabilities `labels` and those that `sigmoid` gives the logits, elementwise, without overflow.
///
/// Errors: no floats; shapes that do not broadcast.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let (logits, labels) = (Tensor::from_vec(vec![800.0, 800.0]), Tensor::from_vec(vec![1.0, 0.0]));
/// assert_eq!(ops::sigmoid_cross_entropy(logits, labels).unwrap().to_string(), "[0.0, 800.0]");
/// ```
pub fn sigmoid_cross_entropy(logits: impl Into<Arg>, labels: impl Into<Arg>) -> Result<Value> {
    let loss = |logits: Arg, labels: Arg| {
        in_f32(&[&logits, &labels], |args| {
            let (x, labels) = (&args[0], &args[1]);
            subtract(softplus(x)?, multiply(x, labels)?)
        })
    };
    loss(logits.into(), labels.into()).map_err(|e| e.at_part("sigmoid_cross_entropy"))
}

/// Integers in f64, which their differences do not wrap in; anything else as it is.
fn in_f64(x: &Arg) -> Result<Arg> {
    match x.value().ok().and_then(|x| dtype_of(x).ok()) {
        Some(dtype) if dtype.is_integer() => cast(x.clone(), DType::F64).map(Arg::from),
        Some(_) | None => Ok(x.clone()),
    }
}

/// The mean of the squared differences over `axis`; in f64 for integers.
///
/// Errors: no numbers; shapes that do not broadcast; an axis out of range.
///
/// ```
/// # use extenso_core::{Tensor, attrs::Axes, ops};
/// let (x, y) = (Tensor::from_vec(vec![1.0, 2.0]), Tensor::from_vec(vec![1.0, 4.0]));
/// assert_eq!(ops::mean_squared_error(x, y, Axes::All).unwrap().to_string(), "2.0");
/// ```
pub fn mean_squared_error(
    predictions: impl Into<Arg>,
    targets: impl Into<Arg>,
    axis: impl Into<Axes>,
) -> Result<Value> {
    let loss = |predictions: Arg, targets: Arg, axis| {
        let (predictions, targets) = (in_f64(&predictions)?, in_f64(&targets)?);
        in_f32(&[&predictions, &targets], |args| mean(square(subtract(&args[0], &args[1])?)?, axis, false))
    };
    loss(predictions.into(), targets.into(), axis.into()).map_err(|e| e.at_part("mean_squared_error"))
}

/// Half the squared difference where it is at most `delta`, beyond that `delta` times what is more than half of `delta` (Huber, 1964).
///
/// Elementwise. Errors: no floats; shapes that do not broadcast; a `delta` that is not above zero.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let (x, y) = (Tensor::from_vec(vec![0.5, 3.0]), Tensor::from_vec(vec![0.0, 0.0]));
/// assert_eq!(ops::huber(x, y, 1.0).unwrap().to_string(), "[0.125, 2.5]");
/// ```
pub fn huber(predictions: impl Into<Arg>, targets: impl Into<Arg>, delta: f64) -> Result<Value> {
    let loss = |predictions: Arg, targets: Arg| {
        if !(delta > 0.0 && delta.is_finite()) {
            return Err(Error::value(format!("delta is {delta}")).wanted("a number above zero"));
        }
        in_f32(&[&predictions, &targets], |args| {
            let far = subtract(&args[0], &args[1])?;
            let size = abs(&far)?;
            let (near, line) = (multiply(square(far)?, 0.5)?, multiply(subtract(&size, delta / 2.0)?, delta)?);
            where_(less_equal(size, delta)?, near, line)
        })
    };
    loss(predictions.into(), targets.into()).map_err(|e| e.at_part("huber"))
}
