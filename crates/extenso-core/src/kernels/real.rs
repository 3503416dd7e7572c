//! Elementary functions beyond those of every float: angles, hyperbolas, logarithms, neighbours of a float.
//!
//! Invariant: that of [`elementary`](super::elementary); they are of [`arcs`](super::arcs), [`hyperbolic`](super::hyperbolic) and
//! [`bases`](super::bases).

use super::arcs::{acos_f32, acos_f64, asin_f32, asin_f64, atan_f32, atan_f64, atan2_f32, atan2_f64};
use super::bases::{log_add_exp_f32, log_add_exp_f64, log2_f32, log2_f64, log10_f32, log10_f64};
use super::hyperbolic::{
    acosh_f32, acosh_f64, asinh_f32, asinh_f64, atanh_f32, atanh_f64, cosh_f32, cosh_f64, hypot_f32, hypot_f64,
    sinh_f32, sinh_f64,
};
use super::map::{BlockKernel, Done, each, predicate};
use super::power::{pow_f32, pow_f64};
use extenso_types::DType;
use half::{bf16, f16};
use libm::{cbrt, cbrtf};

/// Functions of one float or of two.
pub trait Function: Copy {
    /// The angle, in radians, whose sine this is.
    fn asin_(self) -> Self;
    /// The angle, in radians, whose cosine this is.
    fn acos_(self) -> Self;
    /// The angle, in radians, whose tangent this is.
    fn atan_(self) -> Self;
    /// The hyperbolic sine.
    fn sinh_(self) -> Self;
    /// The hyperbolic cosine.
    fn cosh_(self) -> Self;
    /// The number whose hyperbolic sine this is.
    fn asinh_(self) -> Self;
    /// The number whose hyperbolic cosine this is.
    fn acosh_(self) -> Self;
    /// The number whose hyperbolic tangent this is.
    fn atanh_(self) -> Self;
    /// The logarithm to the base 2.
    fn log2_(self) -> Self;
    /// The logarithm to the base 10.
    fn log10_(self) -> Self;
    /// 2 to this power.
    fn exp2_(self) -> Self;
    /// The cube root.
    fn cbrt_(self) -> Self;
    /// The angle, in radians, of the point with this ordinate and that abscissa.
    fn atan2_(self, x: Self) -> Self;
    /// The length of the hypotenuse over two legs.
    fn hypot_(self, leg: Self) -> Self;
    /// The logarithm of the sum of `e` to the power of both.
    fn log_add_exp_(self, other: Self) -> Self;
}

macro_rules! functions {
    ($($t:ident: $($name:ident($($arg:ident)?) $ours:ident),*;)*) => { $(
        impl Function for $t {
            $(
                #[inline(always)]
                fn $name(self $(, $arg: $t)?) -> $t {
                    $ours(self $(, $arg)?)
                }
            )*
        }
    )* };
}
functions! {
    f32: asin_() asin_f32, acos_() acos_f32, atan_() atan_f32, atan2_(x) atan2_f32, sinh_() sinh_f32, cosh_() cosh_f32,
        asinh_() asinh_f32, acosh_() acosh_f32, atanh_() atanh_f32, hypot_(leg) hypot_f32, log2_() log2_f32, log10_() log10_f32,
        exp2_() exp2_f32, cbrt_() cbrtf, log_add_exp_(other) log_add_exp_f32;
    f64: asin_() asin_f64, acos_() acos_f64, atan_() atan_f64, atan2_(x) atan2_f64, sinh_() sinh_f64, cosh_() cosh_f64,
        asinh_() asinh_f64, acosh_() acosh_f64, atanh_() atanh_f64, hypot_(leg) hypot_f64, log2_() log2_f64, log10_() log10_f64,
        exp2_() exp2_f64, cbrt_() cbrt, log_add_exp_(other) log_add_exp_f64;
}

#[inline(always)]
fn exp2_f32(x: f32) -> f32 {
    pow_f32(2.0, x)
}

#[inline(always)]
fn exp2_f64(x: f64) -> f64 {
    pow_f64(2.0, x)
}

/// The kernel that tells whether the sign bit of a float is set, that of zeros and NaN included.
pub fn sign_bit(dtype: DType) -> Option<BlockKernel> {
    // The sign bit of a float is that of the integer of its bits.
    Some(match dtype {
        DType::F16 | DType::BF16 => predicate!(i16; |x| x < 0),
        DType::F32 => predicate!(i32; |x| x < 0),
        DType::F64 => predicate!(i64; |x| x < 0),
        _ => return None,
    })
}

/// The kernel of the next float from each element toward another.
pub fn next_after(dtype: DType) -> Option<BlockKernel> {
    macro_rules! by_dtype {
        ($($d:ident $t:ident),*) => {
            match dtype {
                $(DType::$d => {
                    #[inline(always)]
                    fn next(x: $t, y: $t) -> $t {
                        if x.is_nan() || y.is_nan() {
                            return $t::NAN;
                        }
                        if x == y {
                            return y;
                        }
                        let bits = x.to_bits();
                        // Behind its sign, a float is greater where its bits are: from zero on, the sign is that of `y`.
                        if bits << 1 == 0 {
                            return $t::from_bits(1).copysign(y);
                        }
                        let away = (x < y) != x.is_sign_negative();
                        $t::from_bits(if away { bits + 1 } else { bits - 1 })
                    }
                    each!(|x: $t, y: $t| -> $t { next(x, y) });
                    fn run(ins: &[&[u8]], out: &mut [u8], _n: usize) -> Done {
                        let (x, y) = (bytemuck::cast_slice::<u8, $t>(ins[0]), bytemuck::cast_slice::<u8, $t>(ins[1]));
                        each(x, y, bytemuck::cast_slice_mut::<u8, $t>(out));
                        Ok(())
                    }
                    Some(BlockKernel::new(DType::$d, run))
                })*
                _ => None,
            }
        };
    }
    by_dtype!(F16 f16, BF16 bf16, F32 f32, F64 f64)
}
