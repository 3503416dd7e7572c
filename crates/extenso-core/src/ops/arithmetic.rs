//! Elementwise arithmetic beside the operators: divisors and multiples, remainders that keep the sign, extremes beside NaN.

use crate::attrs::AttrSet;
use crate::grad::two;
use crate::kernels::map::{BlockKernel, Done, Fault, Real, map};
use crate::op::Fact::{Commutes, Partial};
use crate::op::OpDef;
use crate::ops::math::faulty_ints;
use crate::ops::{
    divide, equal, greater, isnan, less, log, log1p, logical_or, multiply, negative, subtract, trunc, where_,
    zeros_like,
};
use extenso_types::DType;

const FLOATS_ALONE: &str = "Cast integers first: `cast(x, 'f64')`.";

crate::ops! {
    /// Elementwise arithmetic beside the operators.
    pub static ARITHMETIC;

    /// The greatest common divisor, elementwise, with broadcasting; not negative, and that of 0 and `x` is the magnitude of `x`.
    ///
    /// The magnitude of the least number of a signed dtype wraps.
    GCD: gcd(x, y) = OpDef::binary(map!(
            signed: |x, y| {
                let (mut a, mut b) = (x, y);
                while b != 0 {
                    (a, b) = (b, a.wrapping_rem(b));
                }
                a.wrapping_abs()
            };
            unsigned: |x, y| {
                let (mut a, mut b) = (x, y);
                while b != 0 {
                    (a, b) = (b, a % b);
                }
                a
            }))
        .facts(&[Commutes])
        .examples(&[("gcd([12, -18, 0], [18, 12, 5])", "[6, 6, 5]")]);

    /// The least common multiple, elementwise, with broadcasting; not negative, and 0 where either is. It wraps beyond the dtype.
    LCM: lcm(x, y) = OpDef::binary(map!(
            signed: |x, y| {
                let (mut a, mut b) = (x, y);
                while b != 0 {
                    (a, b) = (b, a.wrapping_rem(b));
                }
                if a == 0 { 0 } else { x.wrapping_div(a).wrapping_abs().wrapping_mul(y.wrapping_abs()) }
            };
            unsigned: |x, y| {
                let (mut a, mut b) = (x, y);
                while b != 0 {
                    (a, b) = (b, a % b);
                }
                x.checked_div(a).map_or(0, |part| part.wrapping_mul(y))
            }))
        .facts(&[Commutes])
        .examples(&[("lcm([4, -6, 0], [6, 4, 5])", "[12, 12, 0]")]);

    /// What is left of `x` after its division by `y`, with the sign of `x`, as C's `fmod`; with broadcasting.
    ///
    /// A float divided by zero gives NaN. Errors: an integer is divided by zero; the message names the position.
    FMOD: fmod(x, y) = OpDef::binary(fmod_kernel)
        .facts(&[Partial])
        .grad(|cx| {
            let times = trunc(divide(&cx.args[0], &cx.args[1])?)?;
            two(cx, Ok(cx.g().clone()), negative(cx.times(times)?))
        })
        .alias_tf("truncatemod")
        .examples(&[("fmod([7, -7], 3)", "[1, -1]"), ("fmod([7.5, -7.5], 2.0)", "[1.5, -1.5]")]);

    /// The larger of two elements; where one is NaN, the other. `maximum` gives NaN there.
    FMAX: fmax(x, y) = OpDef::binary(map!(ints: |x, y| if x > y { x } else { y }; floats: |x, y| if x > y || y.is_nan() { x } else { y }))
        .grad(|cx| {
            let (x, y) = (&cx.args[0], &cx.args[1]);
            let (first, zero) = (logical_or(greater(x, y)?, isnan(y)?)?, zeros_like(cx.g())?);
            two(cx, where_(&first, cx.g(), &zero), where_(&first, &zero, cx.g()))
        })
        .examples(&[("fmax([1.0, 5.0], divide([2.0, 0.0], [1.0, 0.0]))", "[2.0, 5.0]")]);

    /// The smaller of two elements; where one is NaN, the other. `minimum` gives NaN there.
    FMIN: fmin(x, y) = OpDef::binary(map!(ints: |x, y| if x < y { x } else { y }; floats: |x, y| if x < y || y.is_nan() { x } else { y }))
        .grad(|cx| {
            let (x, y) = (&cx.args[0], &cx.args[1]);
            let (first, zero) = (logical_or(less(x, y)?, isnan(y)?)?, zeros_like(cx.g())?);
            two(cx, where_(&first, cx.g(), &zero), where_(&first, &zero, cx.g()))
        })
        .examples(&[("fmin([1.0, 5.0], divide([2.0, 0.0], [1.0, 0.0]))", "[1.0, 5.0]")]);

    /// The square of the difference, with broadcasting. Integers wrap.
    SQUARED_DIFFERENCE: squared_difference(x, y) = OpDef::binary(map!(
            ints: |x, y| {
                let gap = x.wrapping_sub(y);
                gap.wrapping_mul(gap)
            };
            floats: |x, y| (x - y) * (x - y)))
        .facts(&[Commutes])
        .grad(|cx| {
            let slope = multiply(multiply(cx.g(), 2)?, subtract(&cx.args[0], &cx.args[1])?)?;
            let slope = cx.where_reached(slope)?;
            let dy = negative(&slope);
            two(cx, Ok(slope), dy)
        })
        .examples(&[("squared_difference([1.0, 5.0], 2.0)", "[1.0, 9.0]"), ("squared_difference([1, 5], [4])", "[9, 1]")]);

    /// Divides floats elementwise, with broadcasting; 0 where `y` is 0.
    DIVIDE_NO_NAN: divide_no_nan(x, y) = OpDef::binary(map!(floats: |x, y| if y == 0.0 { 0.0 } else { x / y }))
        .instead(FLOATS_ALONE)
        .grad(|cx| {
            let dx = cx.where_reached(divide_no_nan(cx.g(), &cx.args[1])?)?;
            let dy = cx.where_reached(negative(multiply(&dx, cx.y())?)?);
            two(cx, Ok(dx), dy)
        })
        .examples(&[("divide_no_nan([1.0, 3.0], [2.0, 4.0])", "[0.5, 0.75]")]);

    /// `x * log(y)`, with broadcasting; 0 where `x` is 0, unless `y` is NaN.
    XLOGY: xlogy(x, y) = OpDef::binary(map!(floats: |x, y| if x == 0.0 && !y.is_nan() { 0.0 } else { x * y.ln_() }))
        .instead(FLOATS_ALONE)
        .grad(|cx| {
            let (x, y, zero) = (&cx.args[0], &cx.args[1], zeros_like(cx.g())?);
            let absent = equal(x, 0)?;
            let dx = where_(&absent, &zero, cx.times(log(y)?)?);
            two(cx, dx, where_(&absent, &zero, cx.times(divide(x, y)?)?))
        })
        .examples(&[("xlogy([3.0, 2.0], [1.0, 1.0])", "[0.0, 0.0]")]);

    /// `x * log1p(y)`, with broadcasting; 0 where `x` is 0, unless `y` is NaN.
    XLOG1PY: xlog1py(x, y) = OpDef::binary(map!(floats: |x, y| if x == 0.0 && !y.is_nan() { 0.0 } else { x * y.ln_1p_() }))
        .instead(FLOATS_ALONE)
        .grad(|cx| {
            let (x, y, zero) = (&cx.args[0], &cx.args[1], zeros_like(cx.g())?);
            let absent = equal(x, 0)?;
            let dx = where_(&absent, &zero, cx.times(log1p(y)?)?);
            let slope = divide(x, crate::ops::add(y, 1)?)?;
            two(cx, dx, where_(&absent, &zero, cx.times(slope)?))
        })
        .examples(&[("xlog1py([3.0, 2.0], [0.0, 0.0])", "[0.0, 0.0]")]);
}

fn fmod_kernel(dtypes: &[DType], attrs: &dyn AttrSet) -> Option<BlockKernel> {
    faulty_ints!(dtypes; "an integer is divided by zero" if |e| e == 0; |x, y| x.wrapping_rem(y);
        I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64);
    map!(floats: |x, y| x % y)(dtypes, attrs)
}
