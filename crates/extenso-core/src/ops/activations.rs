//! Activations: the nonlinear functions of neural networks.
//!
//! Those without parameters are ops, computed in f32 or f64 and rounded once. Those with a parameter are compositions, as is
//! `glu`. Where a function tends to zero it is zero at the infinity too, never NaN.

use super::normalize::are_floats;
use super::{
    Sections, abs, add, divide, erfc, exp, expm1, greater, less, logical_and, maximum, minimum, multiply, negative,
    ones_like, sigmoid, split, square, subtract, tanh, where_, zeros_like,
};
use crate::attrs::{AttrSet, Attrs};
use crate::grad::{GradCx, one};
use crate::kernels::activation::{Activation, GELU_CUBE, GELU_SCALE, SELU_ALPHA, SELU_SCALE};
use crate::kernels::map::{BlockKernel, Real, map};
use crate::op::Fact::Idempotent;
use crate::op::OpDef;
use crate::value::{Arg, Value};
use extenso_types::{DType, Result};

crate::attrs! {
    /// The attributes of `gelu`.
    pub struct Gelu { approximate: bool = false }
}

crate::ops! {
    /// Activations.
    pub static ACTIVATIONS;

    /// Each element times the probability that a normal variable is below it (Hendrycks and Gimpel, 2016).
    ///
    /// With `approximate` by the formula of that paper with a hyperbolic tangent, `0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x**3)))`.
    GELU: gelu(x; Gelu { approximate: bool }) = OpDef::unary(gelu_kernel)
        .grad(grad_gelu)
        .examples(&[("gelu([0.0, 30.0])", "[0.0, 30.0]"), ("gelu([0.0, 30.0], approximate=True)", "[0.0, 30.0]")]);

    /// Each element times its `sigmoid`; also known as swish.
    SILU: silu(x) = OpDef::unary(map!(floats: |x| {
            let e = (-x.abs()).exp_();
            let share = (if x >= 0.0 { 1.0 } else { e }) / (1.0 + e);
            if share == 0.0 { -0.0 } else { x * share }
        }))
        .alias_tf("swish")
        .grad(|cx| {
            let share = sigmoid(&cx.args[0])?;
            one(cx.times(add(&share, multiply(cx.y(), subtract(ones_like(&share)?, &share)?)?)?))
        })
        .examples(&[("silu([0.0, 800.0, -800.0])", "[0.0, 800.0, -0.0]")]);

    /// The scaled exponential linear unit (Klambauer et al., 2017): `1.0507 x` above zero, `1.7581 (exp(x) - 1)` below.
    SELU: selu(x) = OpDef::unary(map!(floats: |x| x.selu_()))
        .grad(|cx| {
            let below = add(cx.y(), SELU_SCALE * SELU_ALPHA)?;
            one(cx.times(where_(greater(&cx.args[0], 0)?, SELU_SCALE, below)?))
        })
        .examples(&[("selu([1.0])", "[1.0507009873554805]")]);

    /// `log(1 + exp(x))`, without overflow: a smooth `relu`.
    SOFTPLUS: softplus(x) = OpDef::unary(map!(floats: |x| {
            (if x > 0.0 { x } else { 0.0 }) + (-x.abs()).exp_().ln_1p_()
        }))
        .grad(|cx| one(cx.times(sigmoid(&cx.args[0])?)))
        .examples(&[("softplus([800.0, -800.0])", "[800.0, 0.0]")]);

    /// `x / (1 + abs(x))`.
    SOFTSIGN: softsign(x) = OpDef::unary(map!(floats: |x| {
            if x.is_infinite() { x.signum() } else { x / (1.0 + x.abs()) }
        }))
        .grad(|cx| one(cx.over(square(add(abs(&cx.args[0])?, 1)?)?)))
        .examples(&[("softsign([1.0, -3.0])", "[0.5, -0.75]")]);

    /// `x / 6 + 0.5`, not below 0 and not above 1.
    HARD_SIGMOID: hard_sigmoid(x) = OpDef::unary(map!(floats: |x| (x / 6.0 + 0.5).clamp(0.0, 1.0)))
        .grad(|cx| {
            let sixth = divide(cx.g(), 6)?;
            one(where_(inside(&cx.args[0], -3, 3)?, sixth, 0))
        })
        .examples(&[("hard_sigmoid([0.0, 4.0, -4.0])", "[0.5, 1.0, 0.0]")]);

    /// Each element times its `hard_sigmoid` (Howard et al., 2019).
    HARD_SWISH: hard_swish(x) = OpDef::unary(map!(floats: |x| {
            if x <= -3.0 { -0.0 } else if x >= 3.0 { x } else { x * (x + 3.0) / 6.0 }
        }))
        .grad(|cx| {
            let x = &cx.args[0];
            let slope = where_(inside(x, -3, 3)?, add(divide(x, 3)?, 0.5)?, where_(greater(x, 0)?, 1, zeros_like(x)?)?)?;
            one(cx.times(slope))
        })
        .examples(&[("hard_swish([0.0, 4.0, -1.5])", "[0.0, 4.0, -0.375]")]);

    /// Each element, not below -1 and not above 1.
    HARD_TANH: hard_tanh(x) = OpDef::unary(map!(floats: |x| x.clamp(-1.0, 1.0)))
        .facts(&[Idempotent])
        .grad(|cx| one(where_(inside(&cx.args[0], -1, 1)?, cx.g(), 0)))
        .examples(&[("hard_tanh([0.5, 4.0, -1.5])", "[0.5, 1.0, -1.0]")]);

    /// Each element, not below 0 and not above 6.
    RELU6: relu6(x) = OpDef::unary(map!(floats: |x| x.clamp(0.0, 6.0)))
        .facts(&[Idempotent])
        .grad(|cx| one(where_(inside(&cx.args[0], 0, 6)?, cx.g(), 0)))
        .examples(&[("relu6([0.5, 7.0, -1.5])", "[0.5, 6.0, 0.0]")]);

    /// Each element times the hyperbolic tangent of its `softplus` (Misra, 2019).
    MISH: mish(x) = OpDef::unary(map!(floats: |x| {
            let e = (-x.abs()).exp_();
            let (above, below) = (1.0 + 2.0 * e, e * (e + 2.0));
            let share = if x >= 0.0 { above / (above + 2.0 * e * e) } else { below / (below + 2.0) };
            if share == 0.0 { -0.0 } else { x * share }
        }))
        .grad(|cx| {
            let x = &cx.args[0];
            let share = tanh(softplus(x)?)?;
            let bend = multiply(multiply(x, sigmoid(x)?)?, subtract(ones_like(x)?, square(&share)?)?)?;
            one(cx.times(add(share, bend)?))
        })
        .examples(&[("mish([0.0, 800.0, -800.0])", "[0.0, 800.0, -0.0]")]);

    /// The natural logarithm of `sigmoid`, without the loss where that is near 0.
    LOG_SIGMOID: log_sigmoid(x) = OpDef::unary(map!(floats: |x| {
            (if x < 0.0 { x } else { 0.0 }) - (-x.abs()).exp_().ln_1p_()
        }))
        .grad(|cx| one(cx.times(sigmoid(negative(&cx.args[0])?)?)))
        .examples(&[("log_sigmoid([800.0, -800.0])", "[0.0, -800.0]")]);
}

fn gelu_kernel(dtypes: &[DType], attrs: &dyn AttrSet) -> Option<BlockKernel> {
    if Gelu::of(attrs).ok()?.approximate {
        return map!(floats: |x| x.gelu_tanh_())(dtypes, attrs);
    }
    map!(floats: |x| x.gelu_())(dtypes, attrs)
}

fn grad_gelu(cx: &GradCx<'_>) -> Result<Vec<Option<Value>>> {
    let x = &cx.args[0];
    if !cx.attrs::<Gelu>()?.approximate {
        let share = multiply(erfc(multiply(x, -std::f64::consts::FRAC_1_SQRT_2)?)?, 0.5)?;
        let density = multiply(exp(multiply(square(x)?, -0.5)?)?, 0.5 * GELU_SCALE)?;
        return one(cx.times(add(share, multiply(x, density)?)?));
    }
    // Beyond there it is 0 and `x`, and the square would overflow.
    let x = &minimum(maximum(x, -64)?, 64)?;
    let square = square(x)?;
    let bent = multiply(multiply(x, add(multiply(&square, GELU_CUBE)?, 1)?)?, GELU_SCALE)?;
    let slope = multiply(add(multiply(square, 3.0 * GELU_CUBE)?, 1)?, GELU_SCALE)?;
    let height = tanh(bent)?;
    let steep = subtract(ones_like(&height)?, multiply(&height, &height)?)?;
    let twice = add(add(height, 1)?, multiply(x, multiply(steep, slope)?)?)?;
    one(cx.times(multiply(twice, 0.5)?))
}

/// Whether each element is above `low` and below `high`.
fn inside(x: &Value, low: i64, high: i64) -> Result<Value> {
    logical_and(greater(x, low)?, less(x, high)?)
}

/// The elements that are not above zero, and zero for the others: there the exponential is not looked at, and may not be infinite, for
/// its gradient's sake. That of zero itself is seen.
fn not_above_zero(x: &Arg) -> Result<Value> {
    where_(greater(x, 0)?, 0, x)
}

/// The exponential linear unit: `x` above zero, `alpha (exp(x) - 1)` below.
///
/// Errors: no floats.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// assert_eq!(ops::elu(Tensor::from_vec(vec![2.0, -800.0]), 1.0).unwrap().to_string(), "[2.0, -1.0]");
/// ```
pub fn elu(x: impl Into<Arg>, alpha: f64) -> Result<Value> {
    let x = x.into();
    let below = are_floats(&x).and_then(|()| not_above_zero(&x)).and_then(expm1).and_then(|y| multiply(y, alpha));
    below.and_then(|below| where_(greater(&x, 0)?, &x, below)).map_err(|e| e.at_part("elu"))
}

/// The continuously differentiable exponential linear unit: `x` above zero, `alpha (exp(x / alpha) - 1)` below.
///
/// Errors: no floats.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// assert_eq!(ops::celu(Tensor::from_vec(vec![2.0, -800.0]), 2.0).unwrap().to_string(), "[2.0, -2.0]");
/// ```
pub fn celu(x: impl Into<Arg>, alpha: f64) -> Result<Value> {
    let x = x.into();
    let below =
        are_floats(&x).and_then(|()| not_above_zero(&x)).and_then(|x| multiply(expm1(divide(x, alpha)?)?, alpha));
    below.and_then(|below| where_(greater(&x, 0)?, &x, below)).map_err(|e| e.at_part("celu"))
}

/// `x` above zero, `slope x` below.
///
/// Errors: no floats.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// assert_eq!(ops::leaky_relu(Tensor::from_vec(vec![2.0, -2.0]), 0.5).unwrap().to_string(), "[2.0, -1.0]");
/// ```
pub fn leaky_relu(x: impl Into<Arg>, slope: f64) -> Result<Value> {
    rectified(x.into(), slope.into()).map_err(|e| e.at_part("leaky_relu"))
}

/// `x` above zero, `slope x` below; `slope` broadcasts and is learned, say one number for each channel (He et al., 2015).
///
/// Errors: no numbers, dtypes that differ, shapes that do not broadcast.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let (x, slope) = (Tensor::from_vec(vec![2.0, -2.0]), Tensor::from_vec(vec![0.5, 0.25]));
/// assert_eq!(ops::prelu(x, slope).unwrap().to_string(), "[2.0, -0.5]");
/// ```
pub fn prelu(x: impl Into<Arg>, slope: impl Into<Arg>) -> Result<Value> {
    rectified(x.into(), slope.into()).map_err(|e| e.at_part("prelu"))
}

fn rectified(x: Arg, slope: Arg) -> Result<Value> {
    where_(greater(&x, 0)?, &x, multiply(&x, slope)?)
}

/// The first half of `x` along `axis`, times the `sigmoid` of the second: a gated linear unit (Dauphin et al., 2016).
///
/// Errors: no floats; an axis out of range, or of odd size.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// assert_eq!(ops::glu(Tensor::from_vec(vec![3.0, 0.0]), -1).unwrap().to_string(), "[1.5]");
/// ```
pub fn glu(x: impl Into<Arg>, axis: i64) -> Result<Value> {
    let halves = split(x, Sections::Equal(2), axis);
    halves.and_then(|halves| multiply(&halves[0], sigmoid(&halves[1])?)).map_err(|e| e.at_part("glu"))
}
