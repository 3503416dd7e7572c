//! Trigonometric and hyperbolic functions and their inverses, within two units in the last place.

use crate::grad::{one, two};
use crate::kernels::angles;
use crate::kernels::map::map;
use crate::kernels::real::Function;
use crate::op::OpDef;
use crate::ops::{add, cos, divide, multiply, negative, ones_like, reciprocal, sqrt, square, subtract};
use crate::value::Value;
use extenso_types::Result;

const FLOATS_ALONE: &str = "Cast integers first: `cast(x, 'f64')`.";

crate::ops! {
    /// Trigonometric and hyperbolic functions.
    pub static TRIGONOMETRY;

    /// The tangent of angles in radians.
    TAN: tan(x) = OpDef::unary(|dtypes, _| angles::tan(*dtypes.first()?))
        .instead(FLOATS_ALONE)
        .grad(|cx| one(cx.over(square(cos(&cx.args[0])?)?)))
        .examples(&[("tan([0.0])", "[0.0]")]);

    /// The angles in radians, from -pi/2 to pi/2, whose sine each element is. Beyond -1 and 1 it is NaN.
    ASIN: asin(x) = OpDef::unary(map!(floats: |x| x.asin_()))
        .instead(FLOATS_ALONE)
        .grad(|cx| one(cx.over(sqrt(one_less_square(&cx.args[0])?)?)))
        .examples(&[("asin([0.0])", "[0.0]")]);

    /// The angles in radians, from 0 to pi, whose cosine each element is. Beyond -1 and 1 it is NaN.
    ACOS: acos(x) = OpDef::unary(map!(floats: |x| x.acos_()))
        .instead(FLOATS_ALONE)
        .grad(|cx| one(negative(cx.over(sqrt(one_less_square(&cx.args[0])?)?)?)))
        .examples(&[("acos([0.5])", "[1.0471975511965979]")]);

    /// The angles in radians, from -pi/2 to pi/2, whose tangent each element is.
    ATAN: atan(x) = OpDef::unary(map!(floats: |x| x.atan_()))
        .instead(FLOATS_ALONE)
        .grad(|cx| one(cx.over(add(square(&cx.args[0])?, 1)?)))
        .examples(&[("atan([0.0])", "[0.0]")]);

    /// The angles in radians, from -pi to pi, of the points with ordinates `y` and abscissas `x`; with broadcasting.
    ATAN2: atan2(y, x) = OpDef::binary(map!(floats: |y, x| y.atan2_(x)))
        .instead(FLOATS_ALONE)
        .grad(|cx| {
            let (y, x) = (&cx.args[0], &cx.args[1]);
            let share = divide(cx.g(), add(square(y)?, square(x)?)?)?;
            two(cx, cx.where_reached(multiply(&share, x)?), cx.where_reached(negative(multiply(&share, y)?)?))
        })
        .examples(&[("atan2([0.0, 0.0], [1.0, 2.0])", "[0.0, 0.0]")]);

    /// The hyperbolic sine.
    SINH: sinh(x) = OpDef::unary(map!(floats: |x| x.sinh_()))
        .instead(FLOATS_ALONE)
        .grad(|cx| one(cx.times(cosh(&cx.args[0])?)))
        .examples(&[("sinh([0.0])", "[0.0]")]);

    /// The hyperbolic cosine.
    COSH: cosh(x) = OpDef::unary(map!(floats: |x| x.cosh_()))
        .instead(FLOATS_ALONE)
        .grad(|cx| one(cx.times(sinh(&cx.args[0])?)))
        .examples(&[("cosh([0.0])", "[1.0]")]);

    /// The numbers whose hyperbolic sine each element is.
    ASINH: asinh(x) = OpDef::unary(map!(floats: |x| x.asinh_()))
        .instead(FLOATS_ALONE)
        .grad(|cx| one(cx.over(sqrt(add(square(&cx.args[0])?, 1)?)?)))
        .examples(&[("asinh([0.0])", "[0.0]")]);

    /// The numbers, not below 0, whose hyperbolic cosine each element is. Below 1 it is NaN.
    ACOSH: acosh(x) = OpDef::unary(map!(floats: |x| x.acosh_()))
        .instead(FLOATS_ALONE)
        .grad(|cx| one(cx.over(sqrt(subtract(square(&cx.args[0])?, 1)?)?)))
        .examples(&[("acosh([1.25])", "[0.6931471805599453]")]);

    /// The numbers whose hyperbolic tangent each element is. -1 and 1 give infinities, what is beyond NaN.
    ATANH: atanh(x) = OpDef::unary(map!(floats: |x| x.atanh_()))
        .instead(FLOATS_ALONE)
        .grad(|cx| one(cx.times(reciprocal(one_less_square(&cx.args[0])?)?)))
        .examples(&[("atanh([0.0])", "[0.0]")]);
}

fn one_less_square(x: &Value) -> Result<Value> {
    subtract(ones_like(x)?, square(x)?)
}
