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

/// Gives the natural logarithm of `x`, within 1 ulp; over all arguments within 0.95.
///
/// Zero of either sign gives minus infinity, a negative number NaN.
/// Source: `x = 2^k m` with m in [2/3, 4/3), then a minimax polynomial of degree 10 in m - 1 (Remez).
#[inline(always)]
pub fn log_f32(x: f32) -> f32 {
    let subnormal = x < f32::MIN_POSITIVE;
    let bits = if subnormal { x * 8_388_608.0 } else { x }.to_bits();
    let exponent = (bits.wrapping_sub(TWO_THIRDS_F32) as i32) >> 23;
    let f = f32::from_bits(bits.wrapping_sub((exponent as u32) << 23)) - 1.0;
    let k = exponent as f32 - if subnormal { 23.0 } else { 0.0 };
    let y = k.mul_add(std::f32::consts::LN_2, polynomial_f32(f, LOG_F32).mul_add(f * f, f));
    log_edges_f32(x, y)
}

/// Gives the natural logarithm of `x`, within 1 ulp.
///
/// Zero of either sign gives minus infinity, a negative number NaN.
/// Source: `e_log.c` of fdlibm (Sun Microsystems, 1993), with m in [sqrt(1/2), sqrt(2)).
#[inline(always)]
pub fn log_f64(x: f64) -> f64 {
    let (f, k) = log_split_f64(x);
    log_edges_f64(x, log_reduced_f64(f, k))
}

/// Gives the natural logarithm of 1 and `x`, within 2 ulp. Zero keeps its sign.
///
/// -1 gives minus infinity, a number below it NaN.
/// Source: as [`log_f32`]; what the rounding of `1 + x` loses (Knuth's two-sum) is added to m - 1, so that nothing is lost near 0.
#[inline(always)]
pub fn log1p_f32(x: f32) -> f32 {
    let u = 1.0 + x;
    let whole = u - 1.0;
    let lost = (1.0 - (u - whole)) + (x - whole);
    let exponent = (u.to_bits().wrapping_sub(TWO_THIRDS_F32) as i32) >> 23;
    let m = f32::from_bits(u.to_bits().wrapping_sub((exponent as u32) << 23));
    // The greatest powers become 0: what is lost does not count there.
    let scale = f32::from_bits(((127 - exponent).max(0) as u32) << 23);
    let f = if exponent == 0 { x } else { lost.mul_add(scale, m - 1.0) };
    let y = (exponent as f32).mul_add(std::f32::consts::LN_2, polynomial_f32(f, LOG_F32).mul_add(f * f, f));
    if x == 0.0 { x } else { log_edges_f32(u, y) }
}

/// Gives the natural logarithm of 1 and `x`, within 2 ulp. Zero keeps its sign.
///
/// -1 gives minus infinity, a number below it NaN.
/// Source: as [`log_f64`] and [`log1p_f32`].
#[inline(always)]
pub fn log1p_f64(x: f64) -> f64 {
    let u = 1.0 + x;
    let whole = u - 1.0;
    let lost = (1.0 - (u - whole)) + (x - whole);
    let biased = u.to_bits().wrapping_sub(SQRT_HALF_F64).wrapping_add(BIAS << 52) >> 52;
    let m = f64::from_bits(u.to_bits().wrapping_sub(biased << 52).wrapping_add(BIAS << 52));
    let k = f64::from_bits(TWO_52.to_bits() | (biased & 0xfff)) - (TWO_52 + BIAS as f64);
    let scale = f64::from_bits((1023 + BIAS).saturating_sub(biased & 0xfff) << 52);
    let f = if biased == BIAS { x } else { lost.mul_add(scale, m - 1.0) };
    let y = log_reduced_f64(f, k);
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

// The least m of log_f32, and its polynomial.
const TWO_THIRDS_F32: u32 = 0x3f2a_aaab;
const LOG_F32: [f32; 9] = [
    -0.5,
    0.333_332_1,
    -0.249_997_17,
    0.200_107_47,
    -0.166_823_06,
    0.140_011_64,
    -0.121_671_535,
    0.140_047_4,
    -0.129_489_66,
];
// The least m of log_f64. A biased exponent stays positive: few instruction sets shift 64-bit lanes arithmetically or convert them.
const SQRT_HALF_F64: u64 = 0x3fe6_a09e_667f_3bcd;
const BIAS: u64 = 1024;

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

/// The logarithm of `2^k (1 + f)`.
#[inline(always)]
fn log_reduced_f64(f: f64, k: f64) -> f64 {
    const ODD: [f64; 4] =
        [0.666_666_666_666_673_5, 0.285_714_287_436_623_9, 0.181_835_721_616_180_5, 0.147_981_986_051_005_85];
    const EVEN: [f64; 3] = [0.399_999_999_994_094_2, 0.222_221_984_321_497_84, 0.153_138_376_992_093_73];
    let s = f / (2.0 + f);
    let (z, half_square) = (s * s, 0.5 * f * f);
    let w = z * z;
    let r = z.mul_add(polynomial_f64(w, ODD), w * polynomial_f64(w, EVEN));
    let low = k.mul_add(LN_2_LOW_F64, s * (half_square + r));
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
const MAGIC_F64: f64 = 1.5 * TWO_52;
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
    let t = x.mul_add(std::f64::consts::LOG2_E, MAGIC_F64);
    let n = t - MAGIC_F64;
    let r = n.mul_add(-LN_2_LOW_F64, n.mul_add(-LN_2_HIGH_F64, x));
    let high = 1.0 + r;
    let y = high + polynomial_f64(r, EXP_F64).mul_add(r * r, r - (high - 1.0));
    times_power_f64(y, t)
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
            let y = if x < $float::INFINITY { y } else { $float::INFINITY };
            let y = if x == 0.0 { $float::NEG_INFINITY } else { y };
            if x >= 0.0 { y } else { $float::NAN }
        }
    };
}
helpers!(f32: canonical_f32, clamp_f32, polynomial_f32, log_edges_f32);
helpers!(f64: canonical_f64, clamp_f64, polynomial_f64, log_edges_f64);

#[cfg(test)]
pub(super) mod tests {
    use super::super::isa::{multiversion, supported, with_isa};
    use super::*;

    multiversion! {
        pub fn map<T: Copy, U, F: Fn(T) -> U>(x: &[T], out: &mut [U], f: F) {
            for (out, &x) in out.iter_mut().zip(x) {
                *out = f(x);
            }
        }
    }

    /// A function, the same one exactly, and the bound in ulp.
    type Case<T, Exact> = (fn(T) -> T, fn(Exact) -> Exact, f64);
    const F32: [Case<f32, f64>; 4] =
        [(exp_f32, f64::exp, 1.0), (log_f32, f64::ln, 1.0), (log1p_f32, f64::ln_1p, 2.0), (tanh_f32, f64::tanh, 2.0)];
    const F64: [Case<f64, Pair>; 4] = [
        (exp_f64, Pair::exp, 1.0),
        (log_f64, Pair::ln, 1.0),
        (tanh_f64, Pair::tanh, 2.0),
        (log1p_f64, |x| Pair(1.0, 0.0).add(x).ln(), 2.0),
    ];

    #[test]
    fn f32_functions_keep_their_bounds() {
        for (f, exact, bound) in F32 {
            for x in (0..=u32::MAX).step_by(997).map(f32::from_bits) {
                let (y, wanted) = (f(x), exact(x.into()));
                let unit = 2.0_f64.powf(wanted.abs().log2().floor().max(-126.0) - 23.0);
                let same = y == wanted as f32 || y.is_nan() && wanted.is_nan();
                assert!(same || (f64::from(y) - wanted).abs() <= bound * unit, "f({x:e}) = {y:e}, not {wanted:e}");
            }
        }
    }

    #[test]
    fn f64_functions_keep_their_bounds() {
        let ranges = [(-700.0, 709.0), (0.0, 1e300), (-20.0, 20.0), (-1.0, 1e300)];
        for ((f, exact, bound), (low, high)) in F64.into_iter().zip(ranges) {
            let spread = (0..50_000).map(|i| low + (high - low) * f64::from(i) / 50_000.0);
            let near_one = (1..50_000).map(|i| 1.0 + f64::from(i - 25_000) / 40_000.0);
            let powers = (-1000..1000).map(|i| 1.01 * 2.0_f64.powi(i));
            let edge = 2.0_f64.powi(-20);
            let known = |x: &f64| x.abs() > edge && (x - 1.0).abs() > edge && *x > low && *x < high;
            for x in spread.chain(near_one).chain(powers).filter(known) {
                let (y, wanted) = (f(x), exact(Pair(x, 0.0)));
                let unit = 2.0_f64.powf(wanted.0.abs().log2().floor() - 52.0);
                let error = ((y - wanted.0) - wanted.1).abs();
                assert!(error <= bound * unit, "f({x:e}) = {y:e}, {} ulp", error / unit);
            }
        }
    }

    #[test]
    fn edges_are_exact() {
        let tiny = f64::from_bits(1);
        for (f, x, y) in [
            (exp_f64 as fn(f64) -> f64, f64::NEG_INFINITY, 0.0),
            (exp_f64, -746.0, 0.0),
            (exp_f64, -744.5, tiny),
            (exp_f64, 0.0, 1.0),
            (exp_f64, 709.8, f64::INFINITY),
            (exp_f64, f64::INFINITY, f64::INFINITY),
            (log_f64, 0.0, f64::NEG_INFINITY),
            (log_f64, -0.0, f64::NEG_INFINITY),
            (log_f64, 1.0, 0.0),
            (log_f64, tiny, -744.440_071_921_381_2),
            (log_f64, f64::INFINITY, f64::INFINITY),
            (log1p_f64, -0.0, -0.0),
            (log1p_f64, tiny, tiny),
            (log1p_f64, -1.0, f64::NEG_INFINITY),
            (log1p_f64, f64::MAX, 709.782_712_893_384),
            (log1p_f64, f64::INFINITY, f64::INFINITY),
            (tanh_f64, -0.0, -0.0),
            (tanh_f64, tiny, tiny),
            (tanh_f64, f64::NEG_INFINITY, -1.0),
        ] {
            assert_eq!(f(x).to_bits(), y.to_bits(), "f({x:e}) = {:e}, not {y:e}", f(x));
        }
        for nan in [exp_f64(-f64::NAN), log_f64(-1.0), log_f64(f64::NEG_INFINITY), log1p_f64(-1.5), tanh_f64(-f64::NAN)]
        {
            assert_eq!(nan.to_bits(), f64::NAN.to_bits());
        }
        for nan in [exp_f32(-f32::NAN), log_f32(-1.0), log_f32(f32::NEG_INFINITY), tanh_f32(-f32::NAN)] {
            assert_eq!(nan.to_bits(), f32::NAN.to_bits());
        }
        assert_eq!(tanh_f32(-0.0).to_bits(), (-0.0_f32).to_bits());
    }

    #[test]
    fn every_isa_gives_the_same_bits() {
        fn check<T: Copy, U: Copy + Default, B: PartialEq>(x: &[T], f: impl Fn(T) -> U + Copy, bits: impl Fn(U) -> B) {
            for &isa in supported() {
                let mut out = vec![U::default(); x.len()];
                with_isa(isa, || map(x, &mut out, f));
                assert!(x.iter().zip(out).all(|(&x, y)| bits(f(x)) == bits(y)), "{isa}");
            }
        }
        let x: Vec<f32> = (0..=u32::MAX).step_by(99_991).map(f32::from_bits).collect();
        let wide: Vec<f64> = (0..=u64::MAX).step_by(0x0003_1415_9265_3589).map(f64::from_bits).collect();
        check(&x, exp_f32, f32::to_bits);
        check(&x, log_f32, f32::to_bits);
        check(&x, log1p_f32, f32::to_bits);
        check(&x, tanh_f32, f32::to_bits);
        check(&x, f32_to_f16, f16::to_bits);
        check(&wide, exp_f64, f64::to_bits);
        check(&wide, log_f64, f64::to_bits);
        check(&wide, log1p_f64, f64::to_bits);
        check(&wide, tanh_f64, f64::to_bits);
    }

    #[test]
    fn sixteen_bit_floats_widen_exactly_and_round_to_nearest() {
        for bits in 0..=u16::MAX {
            let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
            assert_eq!(f16_to_f32(half).to_bits(), canonical_f32(half.to_f32()).to_bits());
            assert_eq!(bf16_to_f32(brain).to_bits(), canonical_f32(brain.to_f32()).to_bits());
        }
        for x in (0..=u32::MAX).step_by(997).map(|bits| canonical_f32(f32::from_bits(bits))) {
            assert_eq!(f32_to_f16(x).to_bits(), f16::from_f32_const(x).to_bits(), "{x:e}");
            assert_eq!(f32_to_bf16(x).to_bits(), bf16::from_f32(x).to_bits(), "{x:e}");
        }
    }

    /// An unevaluated sum of two floats: the reference for f64, good to about 100 bits.
    #[derive(Clone, Copy)]
    pub struct Pair(pub f64, pub f64);

    impl Pair {
        pub fn add(self, y: Pair) -> Pair {
            let s = self.0 + y.0;
            let t = s - self.0;
            let low = (self.0 - (s - t)) + (y.0 - t) + self.1 + y.1;
            Pair(s + low, low - ((s + low) - s))
        }

        pub fn mul(self, y: Pair) -> Pair {
            let p = self.0 * y.0;
            let low = self.0.mul_add(y.0, -p) + self.0 * y.1 + self.1 * y.0;
            Pair(p + low, low - ((p + low) - p))
        }

        pub fn div(self, y: Pair) -> Pair {
            let q = Pair(self.0 / y.0, 0.0);
            let rest = self.add(q.mul(y).mul(Pair(-1.0, 0.0)));
            q.add(Pair(rest.0 / y.0, 0.0))
        }

        pub fn exp(self) -> Pair {
            let n = (self.0 * std::f64::consts::LOG2_E).round();
            let ln_2 = Pair(std::f64::consts::LN_2, 2.319_046_813_846_3e-17);
            let r = self.add(ln_2.mul(Pair(-n, 0.0))).mul(Pair(1.0 / 64.0, 0.0));
            let one = Pair(1.0, 0.0);
            let series = (1..16).rev().fold(one, |acc, i| one.add(acc.mul(r).div(Pair(i.into(), 0.0))));
            let y = (0..6).fold(series, |y, _| y.mul(y));
            let half = 2.0_f64.powf((n / 2.0).floor());
            let rest = 2.0_f64.powf(n - (n / 2.0).floor());
            Pair(y.0 * half * rest, y.1 * half * rest)
        }

        pub fn ln(self) -> Pair {
            let y = self.0.ln();
            let error = self.mul(Pair(-y, 0.0).exp()).add(Pair(-1.0, 0.0));
            Pair(y, 0.0).add(error).add(Pair(-0.5 * error.0 * error.0, 0.0))
        }

        fn tanh(self) -> Pair {
            let e = self.mul(Pair(2.0, 0.0)).exp();
            e.add(Pair(-1.0, 0.0)).div(e.add(Pair(1.0, 0.0)))
        }
    }
}
