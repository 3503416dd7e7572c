//! Elementary functions beyond those that vectorise: angles, hyperbolas, logarithms, neighbours of a float.
//!
//! Invariant: they are those of the crate libm, or of [`bases`](super::bases), the same on every machine, and what is not a number is the canonical NaN.

use super::bases::{log2_f32, log2_f64, log10_f32, log10_f64};
use super::elementary::{canonical_f32, canonical_f64};
use super::map::{BlockKernel, Done, each, predicate};
use extenso_types::DType;
use half::{bf16, f16};

/// Functions of libm, element by element.
pub trait Function: Copy {
    /// The tangent of an angle in radians.
    fn tan_(self) -> Self;
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
    /// The angle, in radians, of the point with this ordinate and that abscissa.
    fn atan2_(self, x: Self) -> Self;
    /// The length of the hypotenuse over two legs.
    fn hypot_(self, leg: Self) -> Self;
    /// The logarithm of the sum of `e` to the power of both.
    fn log_add_exp_(self, other: Self) -> Self;
}

macro_rules! functions {
    ($($t:ident $canonical:ident: $($name:ident($($arg:ident)?) $theirs:ident),*; $exp:ident $log1p:ident $log2:ident $log10:ident;)*) => { $(
        impl Function for $t {
            $(
                #[inline(always)]
                fn $name(self $(, $arg: $t)?) -> $t {
                    $canonical(libm::$theirs(self $(, $arg)?))
                }
            )*

            #[inline(always)]
            fn log2_(self) -> $t {
                $log2(self)
            }

            #[inline(always)]
            fn log10_(self) -> $t {
                $log10(self)
            }

            // Source: with the larger in front, `larger + log(1 + exp(smaller - larger))` does not overflow.
            #[inline(always)]
            fn log_add_exp_(self, other: $t) -> $t {
                let (gap, larger) = ((self - other).abs(), if self > other { self } else { other });
                // Two infinities of one sign have no gap.
                if self == other {
                    return self + std::$t::consts::LN_2;
                }
                $canonical(larger + libm::$log1p(libm::$exp(-gap)))
            }
        }
    )* };
}
functions! {
    f32 canonical_f32: tan_() tanf, asin_() asinf, acos_() acosf, atan_() atanf, sinh_() sinhf, cosh_() coshf,
        asinh_() asinhf, acosh_() acoshf, atanh_() atanhf, atan2_(x) atan2f,
        hypot_(leg) hypotf; expf log1pf log2_f32 log10_f32;
    f64 canonical_f64: tan_() tan, asin_() asin, acos_() acos, atan_() atan, sinh_() sinh, cosh_() cosh,
        asinh_() asinh, acosh_() acosh, atanh_() atanh, atan2_(x) atan2,
        hypot_(leg) hypot; exp log1p log2_f64 log10_f64;
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
