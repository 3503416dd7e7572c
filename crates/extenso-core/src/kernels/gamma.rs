//! The logarithm of the gamma function, written so that a loop over it vectorises: no branch, no table, no call.
//!
//! Invariant: that of [`elementary`](super::elementary). In f32 it is computed in f64 and rounded.
//! Source: `e_lgamma_r.c` of fdlibm (Sun Microsystems, 1993): below 8 a quotient of polynomials in each of four ranges, all of
//! which are computed and one is picked, and from there on the series of Stirling.

use super::angles::near_sin;
use super::elementary::{MAGIC_F64, beyond_whole, canonical_f32, canonical_f64, log_f64, polynomial_f64 as polynomial};
use std::f64::consts::PI;

/// Where the ranges of what is above a whole number begin, the first reaching from below 0.
const SECOND: f64 = 0.231_6;
const THIRD: f64 = 0.731_6;

/// About 1, about the least value, about 2, and from 2 to 8; the first and the last are divided.
const ONE: [f64; 6] = [
    -7.721_566_490_153_287e-2,
    6.328_270_640_250_934e-1,
    1.454_922_501_372_347_7,
    9.777_175_279_633_727e-1,
    2.289_637_280_646_924_5e-1,
    1.338_109_185_367_876_6e-2,
];
const MIDDLE: [f64; 16] = [
    0.0,
    4.838_361_227_238_100_5e-1,
    -1.475_877_229_945_939e-1,
    6.462_494_023_913_339e-2,
    -3.278_854_107_598_596_5e-2,
    1.797_067_508_118_204e-2,
    -1.031_422_412_983_414_4e-2,
    6.100_538_702_462_913e-3,
    -3.684_520_167_811_382_6e-3,
    2.259_647_809_006_124_7e-3,
    -1.403_464_699_892_328_4e-3,
    8.810_818_824_376_54e-4,
    -5.385_953_053_567_405e-4,
    3.156_320_709_036_259_5e-4,
    -3.127_541_683_751_208_6e-4,
    3.355_291_926_355_191e-4,
];
const TWO: [f64; 12] = [
    7.721_566_490_153_287e-2,
    3.224_670_334_241_136e-1,
    6.735_230_105_312_927e-2,
    2.058_080_843_251_673_3e-2,
    7.385_550_860_814_029e-3,
    2.890_513_836_734_156_3e-3,
    1.192_707_631_833_620_7e-3,
    5.100_697_921_535_113e-4,
    2.208_627_907_139_083_9e-4,
    1.080_115_672_475_839_4e-4,
    2.521_445_654_512_573_3e-5,
    4.486_409_496_189_151_6e-5,
];
const ABOVE: [f64; 7] = [
    -7.721_566_490_153_287e-2,
    2.149_824_159_606_088_5e-1,
    0.325_778_796_408_931,
    1.463_504_726_524_644_5e-1,
    2.664_227_030_336_386e-2,
    1.840_284_514_073_377_2e-3,
    3.194_753_265_841_009e-5,
];
const ONE_UNDER: [f64; 6] = [
    1.0,
    2.455_977_937_130_411_3,
    2.128_489_763_798_934,
    7.692_851_504_566_728e-1,
    1.042_226_455_933_691_3e-1,
    3.217_092_422_824_239e-3,
];
const ABOVE_UNDER: [f64; 7] = [
    1.0,
    1.392_005_334_676_210_5,
    7.219_355_475_671_381e-1,
    1.719_338_656_328_030_8e-1,
    1.864_591_917_156_529e-2,
    7.779_424_963_818_936e-4,
    7.326_684_307_446_256e-6,
];
/// Where the least value is, less 1, and that value in two parts.
const LEAST_AT: f64 = 4.616_321_449_683_622_5e-1;
const LEAST: f64 = -1.214_862_905_358_496_1e-1;
const LEAST_LOW: f64 = 3.638_676_997_039_505e-18;
/// Half of the logarithm of 2 pi, and the series of Stirling.
const HALF_LOG: f64 = 4.189_385_332_046_727e-1;
const STIRLING: [f64; 6] = [
    8.333_333_333_333_297e-2,
    -2.777_777_777_287_755_4e-3,
    7.936_505_586_430_196e-4,
    -5.951_875_574_503_4e-4,
    8.363_399_189_962_821e-4,
    -1.630_929_340_965_752_7e-3,
];

/// The value of the range.
#[inline(always)]
fn pick(middle: bool, part: f64, values: [f64; 4]) -> f64 {
    let y = if part >= SECOND { values[1] } else { values[0] };
    let y = if part >= THIRD { values[2] } else { y };
    if middle { values[3] } else { y }
}

/// Of a number that is not negative.
#[inline(always)]
fn of_size(x: f64) -> f64 {
    let (small, far, lifted) = (x < 2.0, x >= 8.0, x < 0.9);
    let middle = !small & !far;
    // The whole number below; only from 2 to 8 it counts.
    let near = (x + MAGIC_F64) - MAGIC_F64;
    let whole = if near > x { near - 1.0 } else { near };
    let (above, behind) = (x - 1.0, x - whole);
    let part = if lifted { x } else { above };
    let part = if small { part } else { behind };
    let (from_least, to_two) = (part - LEAST_AT, 1.0 - part);
    let y = if part >= SECOND { from_least } else { part };
    let y = if part >= THIRD { to_two } else { y };
    let y = if middle { part } else { y };
    let about = |c: [f64; 4]| pick(middle, part, c);
    // All cost less than to pick each coefficient.
    let over = about([polynomial(y, ONE), polynomial(y, MIDDLE), polynomial(y, TWO), polynomial(y, ABOVE)]);
    let under = about([polynomial(y, ONE_UNDER), 1.0, 1.0, polynomial(y, ABOVE_UNDER)]);
    let curve = y * over / under + about([0.0, LEAST_LOW, 0.0, 0.0]);
    let here = about([0.0, LEAST, 0.0, 0.0]) + y.mul_add(about([-0.5, 0.0, -0.5, 0.5]), curve);
    // From 3 on the factors of what the whole number adds.
    let product = [2.0, 3.0, 4.0, 5.0, 6.0].into_iter().fold(1.0, |z, i| if whole > i { z * (y + i) } else { z });
    let argument = if middle {
        product
    } else if far | lifted {
        x
    } else {
        1.0
    };
    let log = log_f64(argument);
    let back = 1.0 / x;
    let series = back.mul_add(polynomial(back * back, STIRLING), HALF_LOG);
    let large = (x - 0.5).mul_add(log - 1.0, series);
    let (lower, higher) = (here - log, here + log);
    let near = if small { lower } else { higher };
    if far { large } else { near }
}

/// Gives the natural logarithm of the magnitude of the gamma function, within 3 ulp above 0.
///
/// Zero and the negative whole numbers give infinity. Below 0 by reflection, `pi / |x sin(pi x)|` less that of `|x|`.
#[inline(always)]
pub fn lgamma_f64(x: f64) -> f64 {
    let size = x.abs();
    let y = of_size(size);
    let fraction = beyond_whole(size);
    let reflected = log_f64(PI / (near_sin(PI * fraction).abs() * size)) - y;
    let below = if (fraction == 0.0) & !x.is_nan() { f64::INFINITY } else { reflected };
    // So near to the pole both sides are one, and the product of two numbers as small is none.
    canonical_f64(if x < -f64::EPSILON * f64::EPSILON { below } else { y })
}

/// As [`lgamma_f64`], rounded.
#[inline(always)]
pub fn lgamma_f32(x: f32) -> f32 {
    canonical_f32(lgamma_f64(x.into()) as f32)
}

#[cfg(test)]
mod tests {
    use super::super::elementary::tests::{Pair, check_bits, ulps};
    use super::*;

    /// The logarithm of the gamma function of `x` from that of a large number, where the series of Stirling ends soon.
    fn from_above(x: f64) -> Pair {
        let (one, mut product, mut at) = (Pair(1.0, 0.0), Pair(1.0, 0.0), Pair(x, 0.0));
        while at.0 < 40.0 {
            product = product.mul(at);
            at = at.add(one);
        }
        let back = one.div(at);
        let square = back.mul(back);
        let part = |over: f64, under: f64| Pair(over, 0.0).div(Pair(under, 0.0));
        let terms = [part(1.0, 12.0), part(-1.0, 360.0), part(1.0, 1260.0), part(-1.0, 1680.0), part(1.0, 1188.0)];
        let more = [part(-691.0, 360_360.0), part(1.0, 156.0), part(-3617.0, 122_400.0), part(43_867.0, 244_188.0)];
        let series = terms.into_iter().chain(more).rev().fold(Pair(0.0, 0.0), |sum, term| sum.mul(square).add(term));
        let half_log = Pair(0.918_938_533_204_672_8, -3.878_294_158_067_241_5e-17);
        let minus = |x: Pair| x.mul(Pair(-1.0, 0.0));
        let large = at.add(Pair(-0.5, 0.0)).mul(at.ln()).add(minus(at)).add(half_log).add(series.mul(back));
        large.add(minus(product.ln()))
    }

    #[test]
    fn the_logarithm_keeps_its_bound_above_zero() {
        let some = (1..3000).map(|i| f64::from(i) * 0.004_37).chain((1..60).map(|i| 1.3_f64.powi(-i)));
        for x in some.filter(|x| (x - 1.0).abs() > 1e-6 && (x - 2.0).abs() > 1e-6) {
            let (y, wanted) = (lgamma_f64(x), from_above(x));
            assert!(ulps(y, wanted) <= 3.0, "of {x}: {y:e}, {} ulp", ulps(y, wanted));
        }
    }

    #[test]
    fn below_zero_it_is_the_one_above_and_a_recurrence() {
        for x in (1..2000).map(|i| f64::from(i) * -0.013_7).filter(|x| x.fract() != 0.0) {
            let steps = (1..=30).map(|i| (x + f64::from(i) - 1.0).abs().ln()).sum::<f64>();
            let wanted = lgamma_f64(x + 30.0) - steps;
            assert!((lgamma_f64(x) - wanted).abs() < 1e-12, "of {x}: {} and {wanted}", lgamma_f64(x));
        }
    }

    #[test]
    fn edges_are_exact() {
        let infinity = f64::INFINITY;
        for (x, wanted) in [
            (1.0, 0.0),
            (2.0, 0.0),
            (0.0, infinity),
            (-0.0, infinity),
            (-3.0, infinity),
            (-1e300, infinity),
            (1e306, infinity),
            (infinity, infinity),
            (-infinity, infinity),
            (-f64::NAN, f64::NAN),
            (f64::from_bits(1), 744.440_071_921_381_2),
        ] {
            assert_eq!(lgamma_f64(x).to_bits(), wanted.to_bits(), "of {x:e}: {:e}", lgamma_f64(x));
        }
    }

    #[test]
    fn every_isa_gives_the_same_bits() {
        check_bits(lgamma_f64);
    }
}
