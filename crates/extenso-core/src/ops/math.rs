//! Elementwise mathematics: signs, rounding, what floats are, powers and remainders, more elementary functions.

use super::reduction::dtype_of;
use crate::attrs::AttrSet;
use crate::grad::{GradCx, one, two};
use crate::kernels::angles;
use crate::kernels::map::{BlockKernel, Done, Fault, Number, Real, map};
use crate::kernels::quotient::Divided;
use crate::op::Fact::{Idempotent, Partial};
use crate::op::OpDef;
use crate::ops::{
    abs, add, cast, divide, equal, greater, less_equal, log, logical_and, logical_or, maximum, minimum, multiply,
    negative, ones_like, subtract, where_, zeros_like,
};
use crate::value::{Arg, Scalar, Value};
use extenso_types::{DType, Result};
use half::{bf16, f16};

crate::ops! {
    /// Elementwise mathematics.
    pub static MATH;

    /// The square of each element. Integers wrap.
    SQUARE: square(x) = OpDef::unary(map!(ints: |x| x.wrapping_mul(x); floats: |x| x * x))
        .grad(|cx| one(cx.times(multiply(&cx.args[0], 2)?)))
        .examples(&[("square([1.5, -2.0])", "[2.25, 4.0]")]);

    /// -1, 0 or 1 by the sign of each element. NaN stays NaN.
    SIGN: sign(x) = OpDef::unary(map!(
            signed: |x| x.signum();
            unsigned: |x| x.min(1);
            floats: |x| if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else if x == 0.0 { 0.0 } else { x }))
        .facts(&[Idempotent])
        .grad(|_| Ok(vec![None]))
        .examples(&[("sign([1.5, -2.0])", "[1.0, -1.0]"), ("sign([-3, 2])", "[-1, 1]")]);

    /// The largest whole number that is not above each element. Integers stay.
    FLOOR: floor(x) = OpDef::unary(map!(ints: |x| x; floats: |x| x.floor()))
        .facts(&[Idempotent])
        .grad(|_| Ok(vec![None]))
        .examples(&[("floor([1.5, -1.5])", "[1.0, -2.0]")]);

    /// The smallest whole number that is not below each element. Integers stay.
    CEIL: ceil(x) = OpDef::unary(map!(ints: |x| x; floats: |x| x.ceil()))
        .facts(&[Idempotent])
        .grad(|_| Ok(vec![None]))
        .examples(&[("ceil([1.5, -1.5])", "[2.0, -1.0]")]);

    /// The nearest whole number; of two equally near, the even one. Integers stay.
    ROUND: round(x) = OpDef::unary(map!(ints: |x| x; floats: |x| x.round_ties_even()))
        .facts(&[Idempotent])
        .grad(|_| Ok(vec![None]))
        .examples(&[("round([1.25, -1.75])", "[1.0, -2.0]")]);

    /// Each element without its fraction. Integers stay.
    TRUNC: trunc(x) = OpDef::unary(map!(ints: |x| x; floats: |x| x.trunc()))
        .facts(&[Idempotent])
        .grad(|_| Ok(vec![None]))
        .examples(&[("trunc([1.5, -1.5])", "[1.0, -1.0]")]);

    /// Whether each element is NaN. Integers and booleans never are.
    ISNAN: isnan(x) = OpDef::unary(map!(test ints: |_x| false; floats: |x| x.is_nan(); bits: |_x| 0))
        .alias_tf("is_nan")
        .examples(&[("isnan(divide([0.0, 1.0], 0.0))", "[True, False]")]);

    /// Whether each element is neither NaN nor an infinity. Integers and booleans always are finite.
    ISFINITE: isfinite(x) = OpDef::unary(map!(test ints: |_x| true; floats: |x| x.is_finite(); bits: |_x| !0))
        .alias_tf("is_finite")
        .examples(&[("isfinite(divide([1.0, 0.0, 1.0], [1.0, 0.0, 0.0]))", "[True, False, False]")]);

    /// Whether each element is an infinity of either sign. Integers and booleans never are.
    ISINF: isinf(x) = OpDef::unary(map!(test ints: |_x| false; floats: |x| x.is_infinite(); bits: |_x| 0))
        .alias_tf("is_inf")
        .examples(&[("isinf(divide([0.0, 1.0], 0.0))", "[False, True]")]);

    /// The sine of angles in radians, within one unit in the last place.
    SIN: sin(x) = OpDef::unary(|dtypes, _| angles::sin(*dtypes.first()?))
        .grad(|cx| one(cx.times(cos(&cx.args[0])?)))
        .examples(&[("sin([0.0])", "[0.0]")]);

    /// The cosine of angles in radians, within one unit in the last place.
    COS: cos(x) = OpDef::unary(|dtypes, _| angles::cos(*dtypes.first()?))
        .grad(|cx| one(negative(cx.times(sin(&cx.args[0])?)?)))
        .examples(&[("cos([0.0])", "[1.0]")]);

    /// `e` to the power of each element, less 1; exact where that is near 0, too.
    EXPM1: expm1(x) = OpDef::unary(map!(floats: |x| x.exp_m1_()))
        .grad(|cx| one(cx.times(add(cx.y(), 1)?)))
        .examples(&[("expm1([0.0])", "[0.0]")]);

    /// The natural logarithm of 1 and each element; exact where that is near 0, too. -1 gives -inf, below it NaN.
    LOG1P: log1p(x) = OpDef::unary(map!(floats: |x| x.ln_1p_()))
        .grad(|cx| one(cx.over(add(&cx.args[0], 1)?)))
        .examples(&[("log1p([0.0])", "[0.0]")]);

    /// The logistic function, `1 / (1 + exp(-x))`, without overflow at either end.
    SIGMOID: sigmoid(x) = OpDef::unary(map!(floats: |x| {
            let e = (-x.abs()).exp_();
            (if x >= 0.0 { 1.0 } else { e }) / (1.0 + e)
        }))
        .grad(|cx| one(cx.times(multiply(cx.y(), subtract(ones_like(cx.y())?, cx.y())?)?)))
        .examples(&[("sigmoid([0.0])", "[0.5]")]);

    /// Each element that is above zero, otherwise zero. NaN stays NaN.
    RELU: relu(x) = OpDef::unary(map!(signed: |x| x.max(0); unsigned: |x| x; floats: |x| if x > 0.0 || x.is_nan() { x } else { 0.0 }))
        .facts(&[Idempotent])
        .grad(|cx| one(where_(greater(&cx.args[0], 0)?, cx.g(), 0)))
        .examples(&[("relu([1.5, -1.5])", "[1.5, 0.0]")]);

    /// `x` to the power `y`, elementwise, with broadcasting; of floats within one unit in the last place. Integers wrap.
    ///
    /// For floats as in IEEE 754: a power of 0 gives 1, and a negative number has only whole powers.
    /// Errors: an integer has a negative power; the message names the position.
    POW: pow(x, y) = OpDef::binary(pow_kernel)
        .facts(&[Partial])
        .grad(grad_pow)
        .examples(&[("pow([2.0, 3.0], [3.0, 2.0])", "[8.0, 9.0]"), ("pow([2, 3], 2)", "[4, 9]")]);

    /// What is left of `x` after its division by `y`, with the sign of `y`, as Python's `%`; with broadcasting.
    ///
    /// A float divided by zero gives NaN. Errors: an integer is divided by zero; the message names the position.
    REMAINDER: remainder(x, y) = OpDef::binary(remainder_kernel)
        .facts(&[Partial])
        .grad(|cx| {
            let times = floor(divide(&cx.args[0], &cx.args[1])?)?;
            two(cx, Ok(cx.g().clone()), negative(cx.times(times)?))
        })
        .alias_tf("floormod")
        .examples(&[("remainder([7, -7], 3)", "[1, 2]"), ("remainder([7.5, -7.5], 2.0)", "[1.5, 0.5]")]);
}

/// Each element of `x`, but not below `low` and not above `high`; with broadcasting. NaN stays NaN.
///
/// A composition of `maximum` and `minimum`: where the bounds cross, it is `high`.
///
/// Errors: dtypes that differ or are not numbers, shapes that do not broadcast.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = Tensor::from_vec(vec![-2.0, 0.5, 3.0]);
/// assert_eq!(ops::clip(x, 0, 1).unwrap().to_string(), "[0.0, 0.5, 1.0]");
/// ```
pub fn clip(x: impl Into<Arg>, low: impl Into<Arg>, high: impl Into<Arg>) -> Result<Value> {
    maximum(x, low).and_then(|raised| minimum(raised, high)).map_err(|e| e.at_part("clip"))
}

/// Whether each element of `x` is the one of `y`, or differs by `atol + rtol * abs(y)` at most; with broadcasting.
///
/// An infinity is close to itself alone. NaN is close to nothing, with `equal_nan` to NaN. Integers are compared as f64. A composition.
///
/// Errors: shapes that do not broadcast; other dtypes than numbers, or different ones.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = Tensor::from_vec(vec![1.0, 1.1, f64::INFINITY]);
/// assert_eq!(ops::isclose(&x, 1.0, 1e-5, 1e-8, false).unwrap().to_string(), "[True, False, False]");
/// ```
pub fn isclose(x: impl Into<Arg>, y: impl Into<Arg>, rtol: f64, atol: f64, equal_nan: bool) -> Result<Value> {
    let (x, y) = (x.into(), y.into());
    let close = || {
        let (x, y) = (floats_of(&x)?, floats_of(&y)?);
        let room = add(multiply(abs(&y)?, rtol)?, atol)?;
        let near = logical_and(less_equal(abs(subtract(&x, &y)?)?, room)?, isfinite(&y)?)?;
        let close = logical_or(equal(&x, &y)?, near)?;
        if equal_nan { logical_or(close, logical_and(isnan(x)?, isnan(y)?)?) } else { Ok(close) }
    };
    close().map_err(|e| e.at_part("isclose"))
}

/// The values, in f64 where they are no floats; numbers of the host language as they are.
fn floats_of(x: &Arg) -> Result<Arg> {
    match x {
        Arg::Value(value) if dtype_of(value)?.is_float() => Ok(x.clone()),
        Arg::Scalar(Scalar::Float(_)) => Ok(x.clone()),
        _ => cast(x, DType::F64).map(Arg::from),
    }
}

/// The elements, with `nan` where they are NaN, and for infinities `posinf` and `neginf`: the greatest and the least number of the
/// dtype unless they are given. NumPy's name; a composition.
///
/// Errors: no numbers.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = Tensor::from_vec(vec![f64::NAN, 1.0, f64::INFINITY]);
/// assert_eq!(ops::nan_to_num(x, 0.0, Some(9.0), None).unwrap().to_string(), "[0.0, 1.0, 9.0]");
/// ```
pub fn nan_to_num(x: impl Into<Arg>, nan: f64, posinf: Option<f64>, neginf: Option<f64>) -> Result<Value> {
    let finite = |x: &Value| {
        let greatest = match dtype_of(x)? {
            DType::F16 => f16::MAX.to_f64(),
            DType::BF16 => bf16::MAX.to_f64(),
            DType::F32 => f32::MAX.into(),
            DType::F64 => f64::MAX,
            _ => return isnan(x).map(|_| x.clone()),
        };
        let low = where_(equal(x, f64::NEG_INFINITY)?, neginf.unwrap_or(-greatest), x)?;
        let ends = where_(equal(x, f64::INFINITY)?, posinf.unwrap_or(greatest), low)?;
        where_(isnan(x)?, nan, ends)
    };
    x.into().value().and_then(finite).map_err(|e| e.at_part("nan_to_num"))
}

/// Kernels of integers that fault at a position, from the fault of an operand and a formula; where the second operand is one for
/// all, what does them at once may be given, which says whether it did.
macro_rules! faulty_ints {
    ($dtypes:expr; $what:literal if |$e:ident| $bad:expr; |$x:ident, $y:ident| $body:expr; $($d:ident $t:ty),*) => {
        $crate::ops::math::faulty_ints!($dtypes; $what if |$e| $bad; all by one |_x, _by, _out| false; |$x, $y| $body; $($d $t),*)
    };
    ($dtypes:expr; $what:literal if |$e:ident| $bad:expr; all by one |$xs:ident, $by:ident, $outs:ident| $at_once:expr;
     |$x:ident, $y:ident| $body:expr; $($d:ident $t:ty),*) => {
        // The formula is written once for signed and unsigned integers.
        #[allow(unused_comparisons, clippy::absurd_extreme_comparisons)]
        match $dtypes {
            $([DType::$d, DType::$d] => {
                crate::kernels::map::each!(|$x: $t, $y: $t| -> $t { $body });
                fn run(ins: &[&[u8]], out: &mut [u8], _n: usize) -> Done {
                    let (x, y) = (bytemuck::cast_slice::<u8, $t>(ins[0]), bytemuck::cast_slice::<u8, $t>(ins[1]));
                    if let Some(index) = y.iter().position(|&$e| $bad) {
                        return Err(Fault { index, what: $what });
                    }
                    let out = bytemuck::cast_slice_mut::<u8, $t>(out);
                    let at_once = |$xs: &[$t], $by: $t, $outs: &mut [$t]| -> bool { $at_once };
                    if crate::kernels::quotient::same(y).is_some_and(|by| at_once(x, by, out)) {
                        return Ok(());
                    }
                    each(x, y, out);
                    Ok(())
                }
                return Some(BlockKernel::new(DType::$d, run));
            })*
            _ => {}
        }
    };
}

pub(super) use faulty_ints;

/// Kernels of the powers of floats; one power for all that is one operation is that.
macro_rules! float_powers {
    ($dtypes:expr; $($d:ident $t:ty),*) => {
        match $dtypes {
            $([DType::$d, DType::$d] => {
                fn powers(x: &[$t], y: &[$t], out: &mut [$t]) {
                    crate::kernels::map::each!(|x: $t, y: $t| -> $t { <$t>::narrow(x.widen().pow_(y.widen())) });
                    each(x, y, out);
                }
                fn squares(x: &[$t], out: &mut [$t]) {
                    crate::kernels::map::each!(|x: $t| -> $t { <$t>::narrow(x.widen().square_()) });
                    each(x, out);
                }
                fn roots(x: &[$t], out: &mut [$t]) {
                    crate::kernels::map::each!(|x: $t| -> $t { <$t>::narrow(x.widen().root_()) });
                    each(x, out);
                }
                fn run(ins: &[&[u8]], out: &mut [u8], _n: usize) -> Done {
                    let (x, y) = (bytemuck::cast_slice::<u8, $t>(ins[0]), bytemuck::cast_slice::<u8, $t>(ins[1]));
                    let out = bytemuck::cast_slice_mut::<u8, $t>(out);
                    match crate::kernels::quotient::same(y).map(Number::widen) {
                        Some(2.0) => squares(x, out),
                        Some(0.5) => roots(x, out),
                        _ => powers(x, y, out),
                    }
                    Ok(())
                }
                return Some(BlockKernel::new(DType::$d, run));
            })*
            _ => {}
        }
    };
}

fn pow_kernel(dtypes: &[DType], _: &dyn AttrSet) -> Option<BlockKernel> {
    faulty_ints!(dtypes; "an integer has a negative power" if |e| e < 0; all by one |x, by, out| {
        if by == 2 {
            out.iter_mut().zip(x).for_each(|(out, x)| *out = x.wrapping_mul(*x));
        }
        by == 2
    }; |x, y| {
        // By squaring, over the bits of the power.
        let (mut base, mut left, mut product) = (x, y, 1);
        while left != 0 {
            if left & 1 == 1 {
                product = base.wrapping_mul(product);
            }
            base = base.wrapping_mul(base);
            left >>= 1;
        }
        product
    }; I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64);
    float_powers!(dtypes; F16 f16, BF16 bf16, F32 f32, F64 f64);
    None
}

fn remainder_kernel(dtypes: &[DType], attrs: &dyn AttrSet) -> Option<BlockKernel> {
    faulty_ints!(dtypes; "an integer is divided by zero" if |e| e == 0; all by one |x, by, out| Divided::remainders(x, by, out); |x, y| {
        let left = x.wrapping_rem(y);
        if left != 0 && (left < 0) != (y < 0) { left.wrapping_add(y) } else { left }
    }; I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64);
    map!(floats: |x, y| {
        let left = x % y;
        if left == 0.0 {
            left.copysign(y)
        } else if (left < 0.0) != (y < 0.0) {
            left + y
        } else {
            left
        }
    })(dtypes, attrs)
}

fn grad_pow(cx: &GradCx<'_>) -> Result<Vec<Option<Value>>> {
    let (x, y) = (&cx.args[0], &cx.args[1]);
    // Where the power is 0, the result is 1 whatever x is; where x is not above 0, it is no function of the power.
    let slope = multiply(y, pow(x, subtract(y, 1)?)?)?;
    let dx = cx.times(where_(equal(y, 0)?, 0, slope)?);
    let above = greater(x, 0)?;
    let logarithm = log(where_(&above, x, 1)?)?;
    let dy = cx.times(where_(above, multiply(cx.y(), logarithm)?, zeros_like(cx.y())?)?);
    two(cx, dx, dy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tensor;
    use crate::kernels::isa::{Isa, supported, with_isa};

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let wide: Vec<f64> =
            (0..1500).map(|i| (f64::from(i) - 700.0) * 0.37).chain([f64::INFINITY, f64::NAN]).collect();
        for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
            let x = crate::ops::cast(Tensor::from_vec(wide.clone()), dtype).expect("floats");
            for op in MATH.iter().filter(|op| op.name != "pow" && op.name != "remainder") {
                let run = |isa: Isa| {
                    let args = [Arg::from(&x)];
                    let y = with_isa(isa, || crate::call_one(op, &args, &crate::attrs::NoAttrs {})).expect("runs");
                    let data = y.tensor().expect("a tensor").data().expect("data");
                    data.fixed().map_or_else(
                        |_| data.bits().expect("bits").iter().map(u8::from).collect(),
                        |bytes| bytes.to_vec(),
                    )
                };
                assert!(supported().iter().all(|isa| run(*isa) == run(Isa::Baseline)), "{} of {dtype}", op.name);
            }
        }
    }
}
