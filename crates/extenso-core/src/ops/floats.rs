//! Functions of floats: logarithms to other bases, lengths, signs, neighbours.

use crate::grad::{one, two};
use crate::kernels::map::map;
use crate::kernels::real::{Function, next_after, sign_bit};
use crate::op::Fact::Commutes;
use crate::op::OpDef;
use crate::ops::{divide, divide_no_nan, equal, multiply, negative, sigmoid, subtract, where_, zeros_like};
use crate::value::Value;

const FLOATS_ALONE: &str = "Cast integers first: `cast(x, 'f64')`.";

crate::ops! {
    /// Functions of floats.
    pub static FLOATS;

    /// The logarithm to the base 2. Zero gives -inf, a negative number NaN.
    LOG2: log2(x) = OpDef::unary(map!(floats: |x| x.log2_()))
        .instead(FLOATS_ALONE)
        .grad(|cx| one(cx.over(multiply(&cx.args[0], std::f64::consts::LN_2)?)))
        .examples(&[("log2([8.0])", "[3.0]")]);

    /// The logarithm to the base 10. Zero gives -inf, a negative number NaN.
    LOG10: log10(x) = OpDef::unary(map!(floats: |x| x.log10_()))
        .instead(FLOATS_ALONE)
        .grad(|cx| one(cx.over(multiply(&cx.args[0], std::f64::consts::LN_10)?)))
        .examples(&[("log10([100.0])", "[2.0]")]);

    /// 2 to the power of each element, within one unit in the last place.
    EXP2: exp2(x) = OpDef::unary(map!(floats: |x| x.exp2_()))
        .instead(FLOATS_ALONE)
        .grad(|cx| one(cx.times(multiply(cx.y(), std::f64::consts::LN_2)?)))
        .examples(&[("exp2([3.0, -1.0])", "[8.0, 0.5]")]);

    /// The cube root, within one unit in the last place. A negative number has a negative one.
    CBRT: cbrt(x) = OpDef::unary(map!(floats: |x| x.cbrt_()))
        .instead(FLOATS_ALONE)
        .grad(|cx| one(cx.over(multiply(multiply(cx.y(), cx.y())?, 3)?)))
        .examples(&[("cbrt([8.0, -27.0])", "[2.0, -3.0]")]);

    /// The reciprocal of the square root. Zero gives an infinity with its sign, a negative number NaN.
    RSQRT: rsqrt(x) = OpDef::unary(map!(floats: |x| 1.0 / x.sqrt()))
        .instead(FLOATS_ALONE)
        .grad(|cx| one(cx.where_reached(multiply(divide(cx.g(), &cx.args[0])?, multiply(cx.y(), -0.5)?)?)))
        .examples(&[("rsqrt([4.0, 0.25])", "[0.5, 2.0]")]);

    /// Angles in degrees as radians.
    DEG2RAD: deg2rad(x) = OpDef::unary(map!(floats: |x| x.to_radians()))
        .instead(FLOATS_ALONE)
        .grad(|cx| one(deg2rad(cx.g())))
        .examples(&[("deg2rad([0.0, 180.0])", "[0.0, 3.141592653589793]")]);

    /// Angles in radians as degrees.
    RAD2DEG: rad2deg(x) = OpDef::unary(map!(floats: |x| x.to_degrees()))
        .instead(FLOATS_ALONE)
        .grad(|cx| one(rad2deg(cx.g())))
        .examples(&[("rad2deg([0.0, 3.141592653589793])", "[0.0, 180.0]")]);

    /// The logarithm of `exp(x) + exp(y)`, without overflow; with broadcasting.
    LOGADDEXP: logaddexp(x, y) = OpDef::binary(map!(floats: |x, y| x.log_add_exp_(y)))
        .instead(FLOATS_ALONE)
        .facts(&[Commutes])
        .grad(|cx| {
            let gap = subtract(&cx.args[0], &cx.args[1])?;
            let dy = cx.times(sigmoid(negative(&gap)?)?);
            two(cx, cx.times(sigmoid(gap)?), dy)
        })
        .examples(&[("logaddexp([0.0], [-800.0])", "[0.0]")]);

    /// The length of the hypotenuse over legs `x` and `y`, without overflow; with broadcasting.
    HYPOT: hypot(x, y) = OpDef::binary(map!(floats: |x, y| x.hypot_(y)))
        .instead(FLOATS_ALONE)
        .facts(&[Commutes])
        .grad(|cx| {
            // The shares of the legs stay in range where the leg by itself does not; a point has no slope.
            let along = |x: &Value| cx.times(divide_no_nan(x, cx.y())?);
            two(cx, along(&cx.args[0]), along(&cx.args[1]))
        })
        .examples(&[("hypot([3.0, 5.0], [4.0, 12.0])", "[5.0, 13.0]")]);

    /// The magnitude of `x` with the sign of `y`, elementwise, with broadcasting. A zero has a sign, too.
    COPYSIGN: copysign(x, y) = OpDef::binary(map!(floats: |x, y| x.copysign(y)))
        .instead(FLOATS_ALONE)
        .grad(|cx| {
            let (x, y) = (&cx.args[0], &cx.args[1]);
            let kept = equal(signbit(x)?, signbit(y)?)?;
            two(cx, where_(kept, cx.g(), negative(cx.g())?), zeros_like(cx.g()))
        })
        .examples(&[("copysign([1.5, 2.0], [-1.0, 3.0])", "[-1.5, 2.0]")]);

    /// Whether the sign bit is set: of numbers below zero, of -0.0, of a NaN that has it.
    SIGNBIT: signbit(x) = OpDef::unary(|dtypes, _| sign_bit(*dtypes.first()?))
        .instead("Compare integers: `less(x, 0)`.")
        .examples(&[("signbit([1.5, -0.0])", "[False, True]")]);

    /// The next float of the dtype from `x` toward `y`, elementwise, with broadcasting; `y` where both are equal.
    NEXTAFTER: nextafter(x, y) = OpDef::binary(|dtypes, _| match dtypes {
            [x, y] if x == y => next_after(*x),
            _ => None,
        })
        .instead(FLOATS_ALONE)
        .examples(&[("nextafter(f64([1]), f64([2]))", "f64([1.0000000000000002])")]);
}
