//! Special functions of one float: the error function, its inverse, and the logarithm of the gamma function.
//!
//! Invariant: a result is a fixed function of the argument's bits, in every instruction set; what is not a number is
//! always the canonical NaN. Knows nothing of slices.

use super::angles::near_tan;
use super::elementary::{beyond_whole, canonical_f32, canonical_f64};
use super::errors::{erf_f32, erf_f64, erfc_f32, erfc_f64};
use super::gamma::{lgamma_f32, lgamma_f64};
use super::map::Real;

/// Special functions, the same formula on every machine.
pub trait Special: Copy {
    /// The error function, within 1 ulp.
    fn erf_(self) -> Self;
    /// 1 less the error function, within 2 ulp, without the loss where that is near 0.
    fn erfc_(self) -> Self;
    /// The number whose error function this is, within 8 ulp.
    fn erfinv_(self) -> Self;
    /// The number whose `erfc` this is.
    fn erfcinv_(self) -> Self;
    /// The natural logarithm of the magnitude of the gamma function.
    fn lgamma_(self) -> Self;
    /// The derivative of [`Special::lgamma_`].
    fn digamma_(self) -> Self;
    /// The derivative of [`Special::digamma_`].
    fn trigamma_(self) -> Self;
}

impl Special for f32 {
    #[inline(always)]
    fn erf_(self) -> f32 {
        erf_f32(self)
    }

    #[inline(always)]
    fn erfc_(self) -> f32 {
        erfc_f32(self)
    }

    #[inline(always)]
    fn erfcinv_(self) -> f32 {
        erfcinv_f64(self.into()) as f32
    }

    #[inline(always)]
    fn erfinv_(self) -> f32 {
        canonical_f32(erfinv_f32(self))
    }

    #[inline(always)]
    fn lgamma_(self) -> f32 {
        lgamma_f32(self)
    }

    #[inline(always)]
    fn digamma_(self) -> f32 {
        canonical_f32(digamma(self.into()) as f32)
    }

    #[inline(always)]
    fn trigamma_(self) -> f32 {
        canonical_f32(trigamma(self.into()) as f32)
    }
}

impl Special for f64 {
    #[inline(always)]
    fn erf_(self) -> f64 {
        erf_f64(self)
    }

    #[inline(always)]
    fn erfc_(self) -> f64 {
        erfc_f64(self)
    }

    #[inline(always)]
    fn erfcinv_(self) -> f64 {
        erfcinv_f64(self)
    }

    #[inline(always)]
    fn erfinv_(self) -> f64 {
        canonical_f64(erfinv_f64(self))
    }

    #[inline(always)]
    fn lgamma_(self) -> f64 {
        lgamma_f64(self)
    }

    #[inline(always)]
    fn digamma_(self) -> f64 {
        canonical_f64(digamma(self))
    }

    #[inline(always)]
    fn trigamma_(self) -> f64 {
        canonical_f64(trigamma(self))
    }
}

macro_rules! horner {
    ($x:expr; $first:literal $(, $c:literal)*) => {{
        let (x, y) = ($x, $first);
        $(let y = y * x + $c;)*
        y
    }};
}

/// Source: M. Giles, "Approximating the erfinv function" (GPU Computing Gems, 2011), the one for single precision.
#[inline(always)]
fn erfinv_f32(x: f32) -> f32 {
    let w = -((1.0 - x) * (1.0 + x)).ln_();
    let near = horner!(w - 2.5_f32; 2.810_226_4e-8_f32, 3.432_739_4e-7, -3.523_387_7e-6, -4.391_506_5e-6,
        0.000_218_580_87, -0.001_253_725, -0.004_177_681_6, 0.246_640_73, 1.501_409_4);
    let far = horner!(w.sqrt() - 3.0_f32; -0.000_200_214_26_f32, 0.000_100_950_56, 0.001_349_343_2, -0.003_673_428_4,
        0.005_739_507_7, -0.007_622_461_3, 0.009_438_87, 1.001_674, 2.832_976_8);
    let slope = if w < 5.0 { near } else { far };
    if x.abs() == 1.0 { f32::INFINITY.copysign(x) } else { slope * x }
}

/// Source: M. J. Wichura, "Algorithm AS 241: The percentage points of the normal distribution" (1988), PPND16, of which
/// this is the part that is symmetric about zero, divided by the square root of 2.
#[inline(always)]
fn erfinv_f64(x: f64) -> f64 {
    let q = 0.5 * x;
    let normal = if q.abs() <= 0.425 { q * central(0.180_625 - q * q) } else { tail(0.5 - q.abs()).copysign(x) };
    if x.abs() == 1.0 {
        f64::INFINITY.copysign(x)
    } else if x.abs() < 1.0 {
        normal * std::f64::consts::FRAC_1_SQRT_2
    } else {
        f64::NAN
    }
}

/// The same algorithm, from the probability itself: what is near 0 keeps its digits.
#[inline(always)]
fn erfcinv_f64(x: f64) -> f64 {
    let near = 1.0 - x;
    let share = if x < 1.0 { x } else { 2.0 - x };
    let far = (tail(0.5 * share) * std::f64::consts::FRAC_1_SQRT_2).copysign(near);
    let end = f64::INFINITY.copysign(near);
    let far = if share == 0.0 { end } else { far };
    // NaN is in neither part.
    if near.abs() > 0.85 { if share >= 0.0 { far } else { f64::NAN } } else { erfinv_f64(near) }
}

#[inline(always)]
fn central(r: f64) -> f64 {
    horner!(r; 2_509.080_928_730_122_7, 33_430.575_583_588_13, 67_265.770_927_008_7, 45_921.953_931_549_87,
        13_731.693_765_509_46, 1_971.590_950_306_551_3, 133.141_667_891_784_38, 3.387_132_872_796_366_5)
        / horner!(r; 5_226.495_278_852_854, 28_729.085_735_721_943, 39_307.895_800_092_71, 21_213.794_301_586_597,
            5_394.196_021_424_751, 687.187_007_492_057_9, 42.313_330_701_600_91, 1.0)
}

/// The normal quantile of `1 - p` for a small probability.
#[inline(always)]
fn tail(p: f64) -> f64 {
    let r = (-p.ln_()).sqrt();
    if r <= 5.0 {
        let r = r - 1.6;
        horner!(r; 7.745_450_142_783_414e-4, 0.022_723_844_989_269_184, 0.241_780_725_177_450_6,
            1.270_458_252_452_368_4, 3.647_848_324_763_204_5, 5.769_497_221_460_691, 4.630_337_846_156_546,
            1.423_437_110_749_683_5)
            / horner!(r; 1.050_750_071_644_416_9e-9, 5.475_938_084_995_345e-4, 0.015_198_666_563_616_457,
                0.148_103_976_427_480_08, 0.689_767_334_985_1, 1.676_384_830_183_803_8, 2.053_191_626_637_759, 1.0)
    } else {
        let r = r - 5.0;
        horner!(r; 2.010_334_399_292_288_1e-7, 2.711_555_568_743_487_6e-5, 0.001_242_660_947_388_078_4,
            0.026_532_189_526_576_124, 0.296_560_571_828_504_87, 1.784_826_539_917_291_3, 5.463_784_911_164_114,
            6.657_904_643_501_103)
            / horner!(r; 2.044_263_103_389_939_8e-15, 1.421_511_758_316_446e-7, 1.846_318_317_510_054_8e-5,
                7.868_691_311_456_133e-4, 0.014_875_361_290_850_615, 0.136_929_880_922_735_8, 0.599_832_206_555_888,
                1.0)
    }
}

/// Minus and plus infinity at the zeros, NaN at the negative whole numbers.
///
/// Source: Abramowitz and Stegun, 6.3.5, 6.3.7 and 6.3.18: recurrence up to 10, reflection below 0, then the
/// asymptotic series.
#[inline(always)]
fn digamma(x: f64) -> f64 {
    let below = x < 0.0;
    let y = digamma_above_zero(if below { 1.0 - x } else { x });
    // Minus infinity is no number either.
    let fraction = -beyond_whole(-x);
    let whole = fraction == 0.0;
    let reflected = y - std::f64::consts::PI / near_tan(std::f64::consts::PI * fraction);
    let y = if below { if whole { f64::NAN } else { reflected } } else { y };
    if x == 0.0 { f64::NEG_INFINITY.copysign(-x) } else { y }
}

#[inline(always)]
fn digamma_above_zero(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    for _ in 0..10 {
        let near = x < 10.0;
        below += if near { 1.0 / x } else { 0.0 };
        x += if near { 1.0 } else { 0.0 };
    }
    let square = 1.0 / (x * x);
    let series = horner!(square; 0.083_333_333_333_333_33, -0.021_092_796_092_796_094, 0.007_575_757_575_757_576,
        -0.004_166_666_666_666_667, 0.003_968_253_968_253_968, -0.008_333_333_333_333_333, 0.083_333_333_333_333_33);
    x.ln_() - 0.5 / x - square * series - below
}

/// Source: Abramowitz and Stegun, 6.4.6, 6.4.7 and 6.4.12: recurrence up to 10, reflection below 0, then the asymptotic series.
#[inline(always)]
fn trigamma(x: f64) -> f64 {
    let below = x < 0.0;
    let y = trigamma_above_zero(if below { 1.0 - x } else { x });
    let fraction = -beyond_whole(-x);
    let whole = fraction == 0.0;
    let slope = near_tan(std::f64::consts::PI * fraction);
    // The square of the sine is that of the tangent, divided by 1 more.
    let reflected = std::f64::consts::PI * std::f64::consts::PI * (1.0 + 1.0 / (slope * slope)) - y;
    let pole = if x == f64::NEG_INFINITY { f64::NAN } else { f64::INFINITY };
    if below { if whole { pole } else { reflected } } else { y }
}

#[inline(always)]
fn trigamma_above_zero(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    for _ in 0..10 {
        let near = x < 10.0;
        below += if near { 1.0 / (x * x) } else { 0.0 };
        x += if near { 1.0 } else { 0.0 };
    }
    let (inverse, square) = (1.0 / x, 1.0 / (x * x));
    let series = horner!(square; -7.092_156_862_745_098, 1.166_666_666_666_666_7, -0.253_113_553_113_553_1,
        0.075_757_575_757_575_76, -0.033_333_333_333_333_33, 0.023_809_523_809_523_81, -0.033_333_333_333_333_33,
        0.166_666_666_666_666_67);
    inverse + (0.5 * square + inverse * square * series) + below
}

#[cfg(test)]
mod tests {
    use super::super::elementary::tests::Pair;
    use super::*;

    /// 2 / sqrt(pi), as a pair.
    const SLOPE: Pair = Pair(std::f64::consts::FRAC_2_SQRT_PI, 1.533_545_961_316_588e-17);

    fn pair(x: f64) -> Pair {
        Pair(x, 0.0)
    }

    /// The error function by its series of positive terms: Abramowitz and Stegun, 7.1.6.
    fn erf_series(x: f64) -> Pair {
        let square = pair(x).mul(pair(x));
        let mut term = pair(x);
        let mut total = term;
        for n in 1..400 {
            term = term.mul(square).mul(pair(2.0)).div(pair((2 * n + 1).into()));
            total = total.add(term);
        }
        SLOPE.mul(square.mul(pair(-1.0)).exp()).mul(total)
    }

    /// The complement by its continued fraction: Abramowitz and Stegun, 7.1.14.
    fn erfc_fraction(x: f64) -> Pair {
        let below = (1..400).rev().fold(pair(x), |below, n| pair(x).add(pair(f64::from(n) / 2.0).div(below)));
        let square = pair(x).mul(pair(x)).mul(pair(-1.0));
        SLOPE.mul(pair(0.5)).mul(square.exp()).div(below)
    }

    fn erf(x: f64) -> Pair {
        if x.abs() < 2.5 { erf_series(x) } else { erfc(x.abs()).mul(pair(-1.0)).add(pair(1.0)).mul(pair(x.signum())) }
    }

    fn erfc(x: f64) -> Pair {
        if x < 2.5 { erf(x).mul(pair(-1.0)).add(pair(1.0)) } else { erfc_fraction(x) }
    }

    /// The distance in units of the last of `digits` binary places.
    fn ulps(got: f64, want: Pair, digits: i32) -> f64 {
        let unit = 2.0_f64.powf(want.0.abs().log2().floor() - f64::from(digits));
        ((got - want.0) - want.1).abs() / unit
    }

    fn arguments() -> impl Iterator<Item = f64> {
        (-600..600).map(|i| f64::from(i) / 100.0 + 0.003).chain((1..60).map(|i| 2.0_f64.powi(-i)))
    }

    #[test]
    fn error_functions_keep_their_bounds() {
        for x in arguments() {
            assert!(ulps(x.erf_(), erf(x), 52) <= 1.0, "erf({x})");
            assert!(ulps(x.erfc_(), erfc(x), 52) <= 2.0, "erfc({x})");
            let x = x as f32;
            assert!(ulps(x.erf_().into(), erf(x.into()), 23) <= 1.0, "erf({x}) of f32");
            assert!(ulps(x.erfc_().into(), erfc(x.into()), 23) <= 1.0, "erfc({x}) of f32");
        }
    }

    /// One step of Newton's method from the result tells how far it is off.
    fn erfinv_from(x: f64, y: f64) -> Pair {
        let rest = match x.abs() < 0.5 {
            true => erf(y).add(pair(-x)),
            false => erfc(y.abs()).add(pair(-1.0)).add(pair(x.abs())).mul(pair(-x.signum())),
        };
        let slope = SLOPE.mul(pair(y).mul(pair(-y)).exp());
        pair(y).add(rest.div(slope).mul(pair(-1.0)))
    }

    #[test]
    fn the_inverse_keeps_its_bounds() {
        let near_one = (1..50).map(|i| 1.0 - 2.0_f64.powi(-i));
        let (mut most, mut most_f32) = (0.0_f64, 0.0_f64);
        for x in (1..1000).map(|i| f64::from(i) / 1000.0).chain(near_one).flat_map(|x| [x, -x]) {
            most = most.max(ulps(x.erfinv_(), erfinv_from(x, x.erfinv_()), 52));
            let narrow = x as f32;
            if narrow.abs() < 1.0 {
                let wide = f64::from(narrow);
                most_f32 = most_f32.max(ulps(narrow.erfinv_().into(), pair(wide.erfinv_()), 23));
            }
        }
        assert!(most <= 8.0 && most_f32 <= 8.0, "{most} and {most_f32} ulp");
    }

    #[test]
    fn the_inverse_of_the_complement_keeps_the_digits_of_small_numbers() {
        for p in (1..1000).map(|i| 2.0_f64.powi(-i)).chain((1..2000).map(|i| f64::from(i) / 1000.0)) {
            let x = p.erfcinv_();
            // What x is off by is seen 2 x^2 times in a small complement.
            let off = (x.erfc_() / p - 1.0).abs();
            assert!(off <= 1e-15 * (2.0 * x * x + 4.0), "erfcinv({p}) is {x}, off by {off}");
        }
        assert_eq!((0.0.erfcinv_(), 2.0.erfcinv_(), 1.0.erfcinv_()), (f64::INFINITY, f64::NEG_INFINITY, 0.0));
        assert!([-0.5, 2.5, f64::NAN].iter().all(|x| x.erfcinv_().is_nan()));
    }

    #[test]
    fn the_gamma_function_of_a_whole_number_is_a_factorial() {
        const EULER: f64 = 0.577_215_664_901_532_9;
        let (mut factorial, mut harmonic) = (pair(1.0), pair(0.0));
        for n in 1..160 {
            let x = f64::from(n);
            if n > 2 {
                assert!(ulps(x.lgamma_(), factorial.ln(), 52) <= 2.0, "lgamma({n})");
            }
            let digamma = harmonic.add(pair(-EULER));
            assert!((x.digamma_() - digamma.0).abs() < 4e-15 * digamma.0.abs().max(1.0), "digamma({n})");
            factorial = factorial.mul(pair(x));
            harmonic = harmonic.add(pair(1.0).div(pair(x)));
        }
        let half = -EULER - 2.0 * std::f64::consts::LN_2;
        assert!((0.5.digamma_() - half).abs() < 4e-15, "{}", 0.5.digamma_());
        // By reflection: the digamma function of -1/2 is that of 3/2, which is that of 1/2 and 2.
        assert!(((-0.5).digamma_() - (half + 2.0)).abs() < 4e-15, "{}", (-0.5).digamma_());
    }

    #[test]
    fn edges_are_exact() {
        let infinity = f64::INFINITY;
        for (got, want) in [
            (0.0.erf_(), 0.0),
            ((-0.0).erf_(), -0.0),
            (infinity.erf_(), 1.0),
            (infinity.erfc_(), 0.0),
            ((-infinity).erfc_(), 2.0),
            (1.0.erfinv_(), infinity),
            ((-1.0).erfinv_(), -infinity),
            ((-0.0).erfinv_(), -0.0),
            (1.5.erfinv_(), f64::NAN),
            (1.0.lgamma_(), 0.0),
            (0.0.lgamma_(), infinity),
            (0.0.digamma_(), -infinity),
            ((-0.0).digamma_(), infinity),
            ((-3.0).digamma_(), f64::NAN),
            ((-infinity).digamma_(), f64::NAN),
            (infinity.digamma_(), infinity),
        ] {
            assert_eq!(got.to_bits(), want.to_bits(), "{got}, not {want}");
        }
        assert_eq!(1.0_f32.erfinv_(), f32::INFINITY);
        assert_eq!((-0.0_f32).erfinv_().to_bits(), (-0.0_f32).to_bits());
        assert_eq!((-1.5_f32).erfinv_().to_bits(), f32::NAN.to_bits());
    }
}
