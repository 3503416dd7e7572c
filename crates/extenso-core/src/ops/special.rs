//! Special functions: the error function and its relatives, the gamma function.

use super::{exp, multiply, negative, square};
use crate::grad::one;
use crate::kernels::map::map;
use crate::kernels::special::Special;
use crate::op::OpDef;
use crate::value::Value;
use extenso_types::Result;

crate::ops! {
    /// Special functions.
    pub static SPECIAL;

    /// The error function: `2 / sqrt(pi)` times the integral of `exp(-t**2)` from 0 to each element.
    ///
    /// Within one unit in the last place.
    ERF: erf(x) = OpDef::unary(map!(floats: |x| x.erf_()))
        .grad(|cx| one(cx.times(bell(&cx.args[0])?)))
        .examples(&[("erf([0.0, 30.0])", "[0.0, 1.0]")]);

    /// 1 less the error function, within two units in the last place, also where that is near 0.
    ERFC: erfc(x) = OpDef::unary(map!(floats: |x| x.erfc_()))
        .grad(|cx| one(negative(cx.times(bell(&cx.args[0])?)?)))
        .examples(&[("erfc([0.0, 30.0])", "[1.0, 0.0]")]);

    /// The number whose error function each element is, within eight units in the last place; from -1 to 1, beyond NaN.
    ERFINV: erfinv(x) = OpDef::unary(map!(floats: |x| x.erfinv_()))
        .grad(|cx| one(cx.over(bell(cx.y())?)))
        .examples(&[("erfinv([0.0, -0.0])", "[0.0, -0.0]")]);

    /// The number whose `erfc` each element is, also where that is near 0; from 0 to 2, beyond NaN.
    ERFCINV: erfcinv(x) = OpDef::unary(map!(floats: |x| x.erfcinv_()))
        .grad(|cx| one(negative(cx.over(bell(cx.y())?)?)))
        .part()
        .examples(&[("erfcinv([1.0])", "[0.0]")]);

    /// The natural logarithm of the magnitude of the gamma function: of `(n - 1)!` for a whole number.
    ///
    /// Zero and the negative whole numbers give an infinity.
    LGAMMA: lgamma(x) = OpDef::unary(map!(floats: |x| x.lgamma_()))
        .grad(|cx| one(cx.times(digamma(&cx.args[0])?)))
        .examples(&[("lgamma([1.0, 2.0])", "[0.0, 0.0]")]);

    /// The derivative of `lgamma`, within four units in the last place of the larger of it and 1.
    ///
    /// Zero gives an infinity of the opposite sign, a negative whole number NaN.
    DIGAMMA: digamma(x) = OpDef::unary(map!(floats: |x| x.digamma_()))
        .grad(|cx| one(cx.times(trigamma(&cx.args[0])?)))
        .examples(&[("digamma([1.0])", "[-0.5772156649015323]")]);

    /// The derivative of `digamma`, within eight units in the last place. It has no gradient.
    ///
    /// Zero and the negative whole numbers give infinity.
    TRIGAMMA: trigamma(x) = OpDef::unary(map!(floats: |x| x.trigamma_()))
        .examples(&[("trigamma([0.0, -1.0])", "[inf, inf]")]);
}

/// The derivative of the error function.
fn bell(x: &Value) -> Result<Value> {
    multiply(exp(negative(square(x)?)?)?, std::f64::consts::FRAC_2_SQRT_PI)
}
