//! Elementary functions of one float, written so that a loop over them vectorises: no branch, no table, no call.
//!
//! Invariant: a result is a fixed function of the argument's bits, in every instruction set. Every fused multiply-add
//! is written out, no platform libm takes part, and a NaN result is always the canonical quiet NaN.
//! Knows nothing of slices; the loops, and [`multiversion!`](super::isa) around them, are the callers'.

use half::{bf16, f16};

/// Gives e to the power `x`, within 1 ulp; over all arguments within 0.81.
///
/// `exp(-inf)` is 0; above 88.72 the result is infinite, below -103.97 it is 0, with subnormal numbers in between.
/// Source: argument reduction by a two-part ln 2 (Cody and Waite, 1980), then a minimax polynomial of degree 6 (Remez).
#[inline(always)]
pub fn exp_f32(x: f32) -> f32 {
    canonical_f32(exp_reduced_f32(clamp_f32(x, -104.0, 89.0)))
}

/// Gives e to the power `x`, within 1 ulp.
///
/// `exp(-inf)` is 0; above 709.78 the result is infinite, below -745.13 it is 0, with subnormal numbers in between.
/// Source: as [`exp_f32`], with a polynomial of degree 11.
#[inline(always)]
pub fn exp_f64(x: f64) -> f64 {
    canonical_f64(exp_reduced_f64(clamp_f64(x, -746.0, 710.0)))
}

/// Gives the natural logarithm of `x`, within 1 ulp; over all arguments within 0.99.
///
/// Zero of either sign gives minus infinity, a negative number NaN.
/// Source: `x = 2^k m` with m in [sqrt(1/2), sqrt(2)), then a minimax polynomial of degree 10 in m - 1 (Remez).
#[inline(always)]
pub fn log_f32(x: f32) -> f32 {
    let subnormal = x < f32::MIN_POSITIVE;
    let bits = if subnormal { x * 8_388_608.0 } else { x }.to_bits();
    let power = power_f32(bits);
    let f = f32::from_bits(bits.wrapping_sub(power)) - 1.0;
    let k = (power as i32) as f32 - if subnormal { 23.0 / ONE_POWER_F32 } else { 0.0 };
    let square = f * f;
    let y = k.mul_add(std::f32::consts::LN_2 * ONE_POWER_F32, log_polynomial_f32(f, square).mul_add(square, f));
    log_edges_f32(x, y)
}

/// Gives the natural logarithm of `x`, within 1 ulp.
///
/// Zero of either sign gives minus infinity, a negative number NaN.
/// Source: `e_log.c` of fdlibm (Sun Microsystems, 1993), with m in [sqrt(1/2), sqrt(2)).
#[inline(always)]
pub fn log_f64(x: f64) -> f64 {
    let (f, k) = log_split_f64(x);
    log_edges_f64(x, log_reduced_f64(f, k, 0.0))
}

/// Gives the natural logarithm of 1 and `x`, within 1 ulp; over all arguments within 0.99. Zero keeps its sign.
///
/// -1 gives minus infinity, a number below it NaN.
/// Source: as [`log_f32`]; what the roundings of `1 + x`, of m - 1 and of its sum with k ln 2 lose (Dekker's two-sum) is added last.
#[inline(always)]
pub fn log1p_f32(x: f32) -> f32 {
    let u = 1.0 + x;
    let (great, small) = if x > 1.0 { (x, 1.0) } else { (1.0, x) };
    let lost = small - (u - great);
    let power = power_f32(u.to_bits());
    let high = f32::from_bits(u.to_bits().wrapping_sub(power)) - 1.0;
    // Of the greatest powers it is 0: what is lost does not count there.
    let scale = f32::from_bits(ONE_F32.wrapping_sub(power as i32).max(0) as u32);
    let k = (power as i32) as f32;
    let whole = k * (LN_2_HIGH_F32 * ONE_POWER_F32);
    let sum = whole + high;
    let low = lost.mul_add(scale, high - (sum - whole));
    let low = k.mul_add(LN_2_LOW_F32 * ONE_POWER_F32, low);
    let f = lost.mul_add(scale, high);
    // What f lost counts as much as the slope at f is less than 1, which is about f.
    let low = lost.mul_add(scale, high - f).mul_add(-f, low);
    let square = f * f;
    let y = sum + log_polynomial_f32(f, square).mul_add(square, low);
    if x == 0.0 { x } else { log_edges_f32(u, y) }
}

/// Gives the natural logarithm of 1 and `x`, within 1 ulp. Zero keeps its sign.
///
/// -1 gives minus infinity, a number below it NaN.
/// Source: as [`log_f64`]; what the roundings of `1 + x` and of m - 1 lose is added at the slope there, `1 / m`, or close to it.
#[inline(always)]
pub fn log1p_f64(x: f64) -> f64 {
    let u = 1.0 + x;
    let whole = u - 1.0;
    let lost = (1.0 - (u - whole)) + (x - whole);
    let biased = u.to_bits().wrapping_sub(SQRT_HALF_F64).wrapping_add(BIAS << 52) >> 52;
    let m = f64::from_bits(u.to_bits().wrapping_sub(biased << 52).wrapping_add(BIAS << 52));
    let k = f64::from_bits(TWO_52.to_bits() | (biased & 0xfff)) - (TWO_52 + BIAS as f64);
    let scale = f64::from_bits((1023 + BIAS).saturating_sub(biased & 0xfff) << 52);
    let (high, low) = (m - 1.0, lost * scale);
    let f = high + low;
    let rest = (high - f) + low;
    let y = log_reduced_f64(f, k, rest * f.mul_add(f - 1.0, 1.0));
    if x == 0.0 { x } else { log_edges_f64(u, y) }
}

/// Gives the hyperbolic tangent of `x`, within 2 ulp; over all arguments within 1.35. Zero keeps its sign.
///
/// Source: below 0.625 an odd minimax polynomial of degree 11 (Remez), above it `1 - 2 / (exp(2|x|) + 1)`, the split of
/// Cephes (Moshier, 1989).
#[inline(always)]
pub fn tanh_f32(x: f32) -> f32 {
    const P: [f32; 5] = [-0.333_332_8, 0.133_314_42, -0.053_739_71, 0.020_639_08, -0.005_704_988];
    let a = x.abs();
    let square = a * a;
    let small = (a * square).mul_add(polynomial_f32(square, P), a);
    let large = 1.0 - 2.0 / (exp_reduced_f32(2.0 * clamp_f32(a, 0.0, 10.0)) + 1.0);
    canonical_f32(if a < 0.625 { small } else { large }.copysign(x))
}

/// Gives the hyperbolic tangent of `x`, within 2 ulp. Zero keeps its sign.
///
/// Source: `tanh.c` of Cephes (Moshier, 1989): below 0.625 a rational function, above it `1 - 2 / (exp(2|x|) + 1)`.
#[inline(always)]
pub fn tanh_f64(x: f64) -> f64 {
    const P: [f64; 3] = [-1.614_687_684_417_084_5e3, -9.928_772_310_019_186e1, -9.643_991_794_250_523e-1];
    const Q: [f64; 4] = [4.844_063_053_251_255e3, 2.235_488_390_601_004_4e3, 1.128_116_784_916_329_3e2, 1.0];
    let a = x.abs();
    let square = a * a;
    let is_small = a < 0.625;
    // One division serves both branches.
    let e = exp_reduced_f64(2.0 * clamp_f64(a, 0.0, 20.0));
    let numerator = if is_small { a * square * polynomial_f64(square, P) } else { -2.0 };
    let denominator = if is_small { polynomial_f64(square, Q) } else { e + 1.0 };
    let y = if is_small { a } else { 1.0 } + numerator / denominator;
    canonical_f64(y.copysign(x))
}

/// Widens a half-precision number, exactly.
///
/// Source: F. Giesen, "half-to-float conversion done quickly" (2012): shift, then rescale by multiplication.
#[inline(always)]
pub fn f16_to_f32(x: f16) -> f32 {
    let bits = u32::from(x.to_bits());
    let scaled = f32::from_bits((bits & 0x7fff) << 13) * f32::from_bits((254 - 15) << 23);
    let magnitude = if bits & 0x7c00 == 0x7c00 { f32::from_bits(0x7f80_0000 | (bits & 0x3ff) << 13) } else { scaled };
    canonical_f32(f32::from_bits(magnitude.to_bits() | (bits & 0x8000) << 16))
}

/// Rounds to half precision, to nearest, ties to even.
///
/// Source: F. Giesen, `float_to_half_fast3_rtne` (2016).
#[inline(always)]
pub fn f32_to_f16(x: f32) -> f16 {
    const SUBNORMAL_MAGIC: f32 = 0.5;
    let bits = x.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    let subnormal = (f32::from_bits(magnitude) + SUBNORMAL_MAGIC).to_bits().wrapping_sub(SUBNORMAL_MAGIC.to_bits());
    let odd = (magnitude >> 13) & 1;
    let normal = magnitude.wrapping_sub((127 - 15) << 23).wrapping_add(0xfff + odd) >> 13;
    let finite = if magnitude < (127 - 14) << 23 { subnormal } else { normal };
    let y = if magnitude >= (127 + 16) << 23 { 0x7c00 } else { finite };
    let y = y | (bits >> 16) & 0x8000;
    f16::from_bits(if magnitude > 0x7f80_0000 { 0x7e00 } else { y as u16 })
}

/// Widens a bfloat16 number, exactly.
#[inline(always)]
pub fn bf16_to_f32(x: bf16) -> f32 {
    canonical_f32(f32::from_bits(u32::from(x.to_bits()) << 16))
}

/// Rounds to bfloat16, to nearest, ties to even.
#[inline(always)]
pub fn f32_to_bf16(x: f32) -> bf16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16;
    bf16::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 { 0x7fc0 } else { rounded as u16 })
}

// ln 2 in two parts, of which an exponent times the high one is exact.
const LN_2_HIGH_F32: f32 = 355.0 / 512.0;
const LN_2_LOW_F32: f32 = -2.121_944_4e-4;
pub(super) const LN_2_HIGH_F64: f64 = 6.931_471_803_691_238e-1;
pub(super) const LN_2_LOW_F64: f64 = 1.908_214_929_270_587_7e-10;
pub(super) const TWO_52: f64 = 4_503_599_627_370_496.0;

// The least m of log_f32, the square root of 1/2, and its polynomial.
const SQRT_HALF_F32: u32 = 0x3f35_04f3;
const ONE_F32: i32 = 0x3f80_0000;
// An exponent stays where it stands in the bits, and so counts in these steps.
const ONE_POWER_F32: f32 = 1.0 / 8_388_608.0;
const LOG_F32: [f32; 9] = [
    -0.499_999_88,
    0.333_333_25,
    -0.250_016_2,
    0.200_020_45,
    -0.166_080_13,
    0.141_793_47,
    -0.132_502_7,
    0.129_262_73,
    -0.076_315_59,
];
// The least m of log_f64. A biased exponent stays positive: few instruction sets shift 64-bit lanes arithmetically or convert them.
const SQRT_HALF_F64: u64 = 0x3fe6_a09e_667f_3bcd;
const BIAS: u64 = 1024;

/// The bits of k, in the place of the exponent, of `2^k m` with m in [sqrt(1/2), sqrt(2)).
#[inline(always)]
fn power_f32(bits: u32) -> u32 {
    bits.wrapping_sub(SQRT_HALF_F32) & 0xff80_0000
}

/// The polynomial of the logarithm by Estrin's scheme (1960): no term waits for all those above it.
#[inline(always)]
fn log_polynomial_f32(x: f32, square: f32) -> f32 {
    let c = LOG_F32;
    let pair = |i: usize| c[i + 1].mul_add(x, c[i]);
    let high = c[8].mul_add(square, pair(6)).mul_add(square, pair(4));
    high.mul_add(square * square, pair(2).mul_add(square, pair(0)))
}

/// The `f` and `k` of `x = 2^k (1 + f)` with 1 + f in [sqrt(1/2), sqrt(2)).
#[inline(always)]
pub(super) fn log_split_f64(x: f64) -> (f64, f64) {
    let subnormal = x < f64::MIN_POSITIVE;
    let bits = if subnormal { x * 18_014_398_509_481_984.0 } else { x }.to_bits();
    let biased = bits.wrapping_sub(SQRT_HALF_F64).wrapping_add(BIAS << 52) >> 52;
    let f = f64::from_bits(bits.wrapping_sub(biased << 52).wrapping_add(BIAS << 52)) - 1.0;
    let offset = TWO_52 + BIAS as f64 + if subnormal { 54.0 } else { 0.0 };
    (f, f64::from_bits(TWO_52.to_bits() | (biased & 0xfff)) - offset)
}

/// The logarithm of `2^k (1 + f)`, and `rest`, which is small.
#[inline(always)]
fn log_reduced_f64(f: f64, k: f64, rest: f64) -> f64 {
    const ODD: [f64; 4] =
        [0.666_666_666_666_673_5, 0.285_714_287_436_623_9, 0.181_835_721_616_180_5, 0.147_981_986_051_005_85];
    const EVEN: [f64; 3] = [0.399_999_999_994_094_2, 0.222_221_984_321_497_84, 0.153_138_376_992_093_73];
    let s = f / (2.0 + f);
    let (z, half_square) = (s * s, 0.5 * f * f);
    let w = z * z;
    let r = z.mul_add(polynomial_f64(w, ODD), w * polynomial_f64(w, EVEN));
    let low = k.mul_add(LN_2_LOW_F64, s.mul_add(half_square + r, rest));
    k * LN_2_HIGH_F64 - ((half_square - low) - f)
}

/// exp of an argument whose result, or half of it, is in range, give or take the last step to infinity or zero.
#[inline(always)]
fn exp_reduced_f32(x: f32) -> f32 {
    // Added to a small number, 1.5 * 2^23 rounds it to an integer and leaves that integer in the low bits.
    const MAGIC: f32 = 12_582_912.0;
    const Q: [f32; 5] = [0.499_999_94, 0.166_665_2, 0.041_668_408, 0.008_368_921, 0.001_381_417];
    let t = x.mul_add(std::f32::consts::LOG2_E, MAGIC);
    let n = t - MAGIC;
    let r = n.mul_add(-LN_2_LOW_F32, n.mul_add(-LN_2_HIGH_F32, x));
    // 1 + r in two parts: what the rounding of the greater one loses is kept.
    let high = 1.0 + r;
    let y = high + polynomial_f32(r, Q).mul_add(r * r, r - (high - 1.0));
    // 2^n in two factors, since n reaches from below the least exponent to above the greatest.
    let n = t.to_bits().wrapping_sub(MAGIC.to_bits());
    let half = (n.wrapping_add(512) >> 1).wrapping_sub(256);
    let power = |n: u32| f32::from_bits(n.wrapping_add(127) << 23);
    y * power(half) * power(n.wrapping_sub(half))
}

// Added to a small number, this rounds it to an integer and leaves that integer in the low bits.
pub(super) const MAGIC_F64: f64 = 1.5 * TWO_52;

/// What a number that is not negative is beyond the nearest whole one, from -1/2 to 1/2.
#[inline(always)]
pub(super) fn beyond_whole(size: f64) -> f64 {
    // From there on every float is whole, and the sum is no nearest one.
    if size < TWO_52 { size - ((size + TWO_52) - TWO_52) } else { 0.0 }
}
const EXP_F64: [f64; 10] = [
    0.500_000_000_000_001_1,
    0.166_666_666_666_664_1,
    0.041_666_666_666_528_06,
    0.008_333_333_333_495_927,
    0.001_388_888_894_425_904_2,
    0.000_198_412_695_049_145_62,
    2.480_149_238_026_892_7e-5,
    2.755_758_646_420_684e-6,
    2.763_052_566_310_697_3e-7,
    2.500_048_257_840_152e-8,
];

#[inline(always)]
pub(super) fn exp_reduced_f64(x: f64) -> f64 {
    scaled_exp_f64(x, 0.0)
}

/// exp of an argument whose result is in range, times 2 to a power.
#[inline(always)]
fn scaled_exp_f64(x: f64, power: f64) -> f64 {
    let t = x.mul_add(std::f64::consts::LOG2_E, MAGIC_F64);
    let n = t - MAGIC_F64;
    let r = n.mul_add(-LN_2_LOW_F64, n.mul_add(-LN_2_HIGH_F64, x));
    let high = 1.0 + r;
    let y = high + polynomial_f64(r, EXP_F64).mul_add(r * r, r - (high - 1.0));
    times_power_f64(y, t + power)
}

/// Half of exp, which is in range where exp is beyond it by a step.
#[inline(always)]
pub(super) fn half_exp_f64(x: f64) -> f64 {
    scaled_exp_f64(x, -1.0)
}

/// exp of `x` and a small rest that `x` lost when it was rounded.
#[inline(always)]
pub(super) fn exp_of_parts_f64(x: f64, rest: f64) -> f64 {
    let t = x.mul_add(std::f64::consts::LOG2_E, MAGIC_F64);
    let n = t - MAGIC_F64;
    let whole = n.mul_add(-LN_2_HIGH_F64, x);
    let low = n.mul_add(-LN_2_LOW_F64, rest);
    let r = whole + low;
    let high = 1.0 + whole;
    let y = high + polynomial_f64(r, EXP_F64).mul_add(r * r, (whole - (high - 1.0)) + low);
    times_power_f64(y, t)
}

/// exp less 1 of an argument whose result is in range, give or take the last step to infinity.
#[inline(always)]
pub(super) fn exp_m1_reduced_f64(x: f64) -> f64 {
    let t = x.mul_add(std::f64::consts::LOG2_E, MAGIC_F64);
    let n = t - MAGIC_F64;
    let whole = n.mul_add(-LN_2_HIGH_F64, x);
    let lost = n * -LN_2_LOW_F64;
    let r = whole + lost;
    // exp(r) - 1 is r and a curve; 2^-n is taken off 1 before the sum is scaled up, and what either sum loses is kept.
    let curve = polynomial_f64(r, EXP_F64).mul_add(r * r, lost - (r - whole));
    let back = f64::from_bits(1023_u64.wrapping_sub(t.to_bits().wrapping_sub(MAGIC_F64.to_bits())) << 52);
    let back = if n > 64.0 { 0.0 } else { back };
    let less = 1.0 - back;
    let sum = less + r;
    let part = sum - less;
    let kept = (less - (sum - part)) + (r - part) + less_lost(less, back);
    times_power_f64(sum + (curve + kept), t)
}

/// What the rounding of `less = 1 - back` lost.
#[inline(always)]
fn less_lost(less: f64, back: f64) -> f64 {
    let part = less - 1.0;
    (1.0 - (less - part)) + (-back - part)
}

/// `y` times 2 to the integer in the low bits of `t`, in two factors, since that reaches from below the least exponent to above the
/// greatest.
#[inline(always)]
fn times_power_f64(y: f64, t: f64) -> f64 {
    let n = t.to_bits().wrapping_sub(MAGIC_F64.to_bits());
    let half = (n.wrapping_add(4096) >> 1).wrapping_sub(2048);
    let power = |n: u64| f64::from_bits(n.wrapping_add(1023) << 52);
    y * power(half) * power(n.wrapping_sub(half))
}

macro_rules! helpers {
    ($float:ident: $canonical:ident, $clamp:ident, $polynomial:ident, $log_edges:ident) => {
        /// Gives `x`, and the one canonical quiet NaN for any NaN.
        ///
        /// Which NaN an addition gives depends on the processor and on the order of its operands, so results that must
        /// be equal bit for bit pass through here.
        #[inline(always)]
        pub fn $canonical(x: $float) -> $float {
            if x.is_nan() { $float::NAN } else { x }
        }

        /// NaN stays NaN.
        #[inline(always)]
        pub(super) fn $clamp(x: $float, low: $float, high: $float) -> $float {
            let x = if x < low { low } else { x };
            if x > high { high } else { x }
        }

        /// `c[0] + c[1] x + c[2] x^2 + ...` by Horner's rule.
        #[inline(always)]
        pub(super) fn $polynomial<const N: usize>(x: $float, c: [$float; N]) -> $float {
            let mut y = c[N - 1];
            for i in (0..N - 1).rev() {
                y = y.mul_add(x, c[i]);
            }
            y
        }

        /// The logarithm `y` of `x` where `x` is positive and finite, and what the others have instead.
        #[inline(always)]
        pub(super) fn $log_edges(x: $float, y: $float) -> $float {
            // Chosen in this order, the compiler makes three comparisons of it; of others it makes tests of the kind of float.
            let y = if x < $float::INFINITY { y } else { x };
            let edge = if x == 0.0 { $float::NEG_INFINITY } else { $float::NAN };
            if x > 0.0 { y } else { edge }
        }
    };
}
helpers!(f32: canonical_f32, clamp_f32, polynomial_f32, log_edges_f32);
helpers!(f64: canonical_f64, clamp_f64, polynomial_f64, log_edges_f64);

#[cfg(test)]
pub(super) mod tests;
