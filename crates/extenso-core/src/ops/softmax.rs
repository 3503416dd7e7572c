//! Exponentials that are set against their sum. Plain compositions, so that their gradients and float formulas follow.

use super::normalize::of_floats;
use super::{add, divide, exp, isfinite, log, max, subtract, sum, where_};
use crate::attrs::Axes;
use crate::value::{Arg, Value};
use extenso_types::Result;

/// Exponentials along `axis`, divided by their sum.
///
/// The largest element is subtracted first, which keeps them in range. Errors: no floats, an axis out of range.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// assert_eq!(ops::softmax(Tensor::from_vec(vec![1.0, 1.0]), -1).unwrap().to_string(), "[0.5, 0.5]");
/// ```
pub fn softmax(x: impl Into<Arg>, axis: i64) -> Result<Value> {
    let shares = |x: &[Arg]| {
        let powers = exp(below_largest(&x[0], axis)?)?;
        divide(&powers, sum(&powers, axis, true)?)
    };
    of_floats(&[&x.into()], shares).map_err(|e| e.at_part("softmax"))
}

/// The logarithm of [`softmax`], without the loss of small shares.
///
/// Errors: no floats, an axis out of range.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// assert_eq!(ops::log_softmax(Tensor::from_vec(vec![0.0, -800.0]), -1).unwrap().to_string(), "[0.0, -800.0]");
/// ```
pub fn log_softmax(x: impl Into<Arg>, axis: i64) -> Result<Value> {
    let shares = |x: &[Arg]| {
        let x = below_largest(&x[0], axis)?;
        subtract(&x, log(sum(exp(&x)?, axis, true)?)?)
    };
    of_floats(&[&x.into()], shares).map_err(|e| e.at_part("log_softmax"))
}

/// The logarithm of the sum of exponentials over `axis`, without overflow. An empty row gives -inf.
///
/// Errors: no floats, an axis out of range.
///
/// ```
/// # use extenso_core::{Tensor, attrs::Axes, ops};
/// assert_eq!(ops::logsumexp(Tensor::from_vec(vec![800.0]), Axes::All, false).unwrap().to_string(), "800.0");
/// ```
pub fn logsumexp(x: impl Into<Arg>, axis: impl Into<Axes>, keepdims: bool) -> Result<Value> {
    let axis = axis.into();
    let total = |x: &[Arg]| {
        let x = &x[0];
        let largest = max(x, axis.clone(), true)?;
        // An infinity would be subtracted from itself.
        let shift = where_(isfinite(&largest)?, &largest, 0)?;
        let rest = log(sum(exp(subtract(x, &shift)?)?, axis.clone(), keepdims)?)?;
        // Over axes of size 1 the sum is the element.
        add(rest, if keepdims { shift } else { sum(shift, axis, false)? })
    };
    of_floats(&[&x.into()], total).map_err(|e| e.at_part("logsumexp"))
}

fn below_largest(x: &Arg, axis: i64) -> Result<Value> {
    subtract(x, max(x, axis, true)?)
}
