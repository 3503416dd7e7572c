//! The angles whose sine, cosine or tangent is given, written so that a loop over them vectorises: no branch, no table, no call.
//!
//! Invariant: that of [`elementary`](super::elementary). In f32 they are computed in f64 and rounded.
//! Source of the polynomials and of what they are taken of: `e_asin.c`, `e_acos.c`, `s_atan.c` of fdlibm (Sun Microsystems, 1993).

use super::elementary::{canonical_f32, canonical_f64, polynomial_f64};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// What half of pi has behind its last bit.
const FRAC_PI_2_LOW: f64 = 6.123_233_995_736_766e-17;

/// `asin x = x + x curve(x^2)` up to a half.
#[inline(always)]
fn curve(z: f64) -> f64 {
    const P: [f64; 6] = [
        0.166_666_666_666_666_66,
        -0.325_565_818_622_400_9,
        0.201_212_532_134_862_93,
        -0.040_055_534_500_679_41,
        7.915_349_942_898_145e-4,
        3.479_331_075_960_212e-5,
    ];
    const Q: [f64; 5] =
        [1.0, -2.403_394_911_734_414, 2.020_945_760_233_505_7, -0.688_283_971_605_453_3, 0.077_038_150_555_901_94];
    z * polynomial_f64(z, P) / polynomial_f64(z, Q)
}

/// From a half on, `asin` of the root of `(1 - |x|) / 2` in two parts: half of `acos |x|`.
#[inline(always)]
fn half_angle(size: f64) -> (f64, f64) {
    let z = (1.0 - size) * 0.5;
    let root = z.sqrt();
    let lost = if root > 0.0 { (-root).mul_add(root, z) / (root + root) } else { 0.0 };
    (root, root * curve(z) + lost)
}

/// Gives the angle, from -pi/2 to pi/2, whose sine `x` is, within 1 ulp. Beyond -1 and 1 it is NaN.
#[inline(always)]
pub fn asin_f64(x: f64) -> f64 {
    let size = x.abs();
    let near = size.mul_add(curve(x * x), size);
    let (root, rest) = half_angle(size);
    let quarter = FRAC_PI_4 - root;
    let lost = (FRAC_PI_4 - quarter) - root;
    let far = 2.0 * (quarter + (lost - rest + 0.5 * FRAC_PI_2_LOW));
    canonical_f64(if size < 0.5 { near } else { far }.copysign(x))
}

/// Gives the angle, from 0 to pi, whose cosine `x` is, within 1 ulp. Beyond -1 and 1 it is NaN.
#[inline(always)]
pub fn acos_f64(x: f64) -> f64 {
    let size = x.abs();
    let near = FRAC_PI_2 - (x - (FRAC_PI_2_LOW - x * curve(x * x)));
    let (root, rest) = half_angle(size);
    let right = 2.0 * (root + rest);
    let left = 2.0 * (FRAC_PI_2 - (root + (rest - FRAC_PI_2_LOW)));
    let far = if x > 0.0 { right } else { left };
    canonical_f64(if size < 0.5 { near } else { far })
}

/// The angle whose tangent is a number that is not negative.
#[inline(always)]
fn of_tangent(x: f64) -> f64 {
    const P: [f64; 11] = [
        0.333_333_333_333_329_3,
        -0.199_999_999_998_764_83,
        0.142_857_142_725_034_66,
        -0.111_111_104_054_623_56,
        0.090_908_871_334_365_07,
        -0.076_918_762_050_448_3,
        0.066_610_731_373_875_31,
        -0.058_335_701_337_905_735,
        0.049_768_779_946_159_324,
        -0.036_531_572_744_216_916,
        0.016_285_820_115_365_782,
    ];
    // An angle that is near, and the tangent of the difference.
    let at = |limit: f64| x >= limit;
    let pick = |values: [f64; 5]| {
        let y = if at(0.437_5) { values[1] } else { values[0] };
        let y = if at(0.687_5) { values[2] } else { y };
        let y = if at(1.187_5) { values[3] } else { y };
        if at(2.437_5) { values[4] } else { y }
    };
    let over = x.mul_add(pick([1.0, 2.0, 1.0, 1.0, 0.0]), pick([0.0, -1.0, -1.0, -1.5, -1.0]));
    let scaled = x * pick([0.0, 1.0, 1.0, 1.5, 1.0]);
    let under = if at(0.437_5) { scaled } else { 0.0 } + pick([1.0, 2.0, 1.0, 1.0, 0.0]);
    let over = if at(2.437_5) { -1.0 } else { over };
    let high = pick([0.0, 0.463_647_609_000_806_1, FRAC_PI_4, 0.982_793_723_247_329, FRAC_PI_2]);
    let low =
        pick([0.0, 2.269_877_745_296_168_7e-17, 3.061_616_997_868_383e-17, 1.390_331_103_123_099_8e-17, FRAC_PI_2_LOW]);
    let tangent = over / under;
    let z = tangent * tangent;
    high - ((tangent * (z * polynomial_f64(z, P)) - low) - tangent)
}

/// Gives the angle, from -pi/2 to pi/2, whose tangent `x` is, within 1 ulp. Zero keeps its sign.
#[inline(always)]
pub fn atan_f64(x: f64) -> f64 {
    canonical_f64(of_tangent(x.abs()).copysign(x))
}

/// Gives the angle, from -pi to pi, of the point with ordinate `y` and abscissa `x`, within 2 ulp.
///
/// As IEEE 754 has it: a zero keeps its sign, and two infinities are as one and one.
#[inline(always)]
pub fn atan2_f64(y: f64, x: f64) -> f64 {
    let (up, along) = (y.abs(), x.abs());
    let ratio = up / along;
    let ratio = if up == along { 1.0 } else { ratio };
    let ratio = if up == 0.0 { if x.is_nan() { x } else { 0.0 } } else { ratio };
    let angle = of_tangent(ratio);
    let left = PI - (angle - 2.0 * FRAC_PI_2_LOW);
    // Straight up is neither left nor right, whatever the sign of the zero.
    let turned = x.is_sign_negative() & ((along > 0.0) | (up == 0.0));
    canonical_f64(if turned { left } else { angle }.copysign(y))
}

narrow! { asin_f32(x) asin_f64; acos_f32(x) acos_f64; atan_f32(x) atan_f64; atan2_f32(y, x) atan2_f64; }

#[cfg(test)]
mod tests {
    use super::super::elementary::tests::{Pair, check_bits, some_of_all, ulps};
    use super::*;

    fn minus(x: Pair) -> Pair {
        x.mul(Pair(-1.0, 0.0))
    }

    /// The angle by one step of Newton's method from the result, which is near.
    fn arcs(x: f64) -> [(f64, Pair); 3] {
        let step = |y: f64, of: &dyn Fn(Pair, Pair) -> Pair| {
            let (sine, cosine) = Pair(y, 0.0).sine_cosine();
            (y, Pair(y, 0.0).add(of(sine, cosine)))
        };
        let x = Pair(x, 0.0);
        [
            step(asin_f64(x.0), &|sine, cosine| x.add(minus(sine)).div(cosine)),
            step(acos_f64(x.0), &|sine, cosine| cosine.add(minus(x)).div(sine)),
            step(atan_f64(x.0), &|sine, cosine| x.mul(cosine).add(minus(sine)).div(cosine.add(x.mul(sine)))),
        ]
    }

    #[test]
    fn arcs_keep_their_bounds() {
        let near_one = (2..44).map(|i| 1.0 - 2.0_f64.powi(-i));
        for x in some_of_all().chain(near_one).filter(|x| x.abs() > 1e-5 && x.abs() < 1e12) {
            let wanted = arcs(x);
            let known = if x.abs() < 1.0 { &wanted[..] } else { &wanted[2..] };
            for (y, wanted) in known {
                assert!(ulps(*y, *wanted) <= 1.0, "of {x:e}: {y:e}, {} ulp", ulps(*y, *wanted));
            }
        }
    }

    #[test]
    fn angles_of_points_keep_their_bound() {
        for (i, y) in some_of_all().step_by(3).enumerate().filter(|(_, y)| y.abs() > 1e-5 && y.abs() < 1e9) {
            let x = y * (0.01 + f64::from((i % 100) as u32) * 0.05) * if i % 2 == 0 { 1.0 } else { -1.0 };
            let angle = atan2_f64(y, x);
            let (sine, cosine) = Pair(angle, 0.0).sine_cosine();
            let (x, y) = (Pair(x, 0.0), Pair(y, 0.0));
            let off = y.mul(cosine).add(minus(x.mul(sine))).div(x.mul(cosine).add(y.mul(sine)));
            let wanted = Pair(angle, 0.0).add(off);
            assert!(ulps(angle, wanted) <= 2.0, "of ({}, {}): {angle:e}, {} ulp", y.0, x.0, ulps(angle, wanted));
        }
    }

    #[test]
    fn edges_are_exact() {
        let (tiny, infinity) = (f64::from_bits(1), f64::INFINITY);
        for (got, want) in [
            (asin_f64(-0.0), -0.0),
            (asin_f64(tiny), tiny),
            (asin_f64(-1.0), -FRAC_PI_2),
            (asin_f64(1.0 + f64::EPSILON), f64::NAN),
            (acos_f64(1.0), 0.0),
            (acos_f64(-1.0), PI),
            (acos_f64(-2.0), f64::NAN),
            (atan_f64(-0.0), -0.0),
            (atan_f64(tiny), tiny),
            (atan_f64(infinity), FRAC_PI_2),
            (atan_f64(-f64::MAX), -FRAC_PI_2),
            (atan_f64(-f64::NAN), f64::NAN),
            (atan2_f64(0.0, 1.0), 0.0),
            (atan2_f64(-0.0, 1.0), -0.0),
            (atan2_f64(0.0, 0.0), 0.0),
            (atan2_f64(-0.0, -0.0), -PI),
            (atan2_f64(0.0, -1.0), PI),
            (atan2_f64(1.0, 0.0), FRAC_PI_2),
            (atan2_f64(-1.0, -0.0), -FRAC_PI_2),
            (atan2_f64(infinity, infinity), FRAC_PI_4),
            (atan2_f64(infinity, -infinity), 2.356_194_490_192_345),
            (atan2_f64(1.0, -infinity), PI),
            (atan2_f64(-1.0, infinity), -0.0),
            (atan2_f64(tiny, 1e300), 0.0),
            (atan2_f64(0.0, f64::NAN), f64::NAN),
            (atan2_f64(f64::NAN, 0.0), f64::NAN),
        ] {
            assert_eq!(got.to_bits(), want.to_bits(), "{got:e}, not {want:e}");
        }
        assert_eq!((acos_f32(-1.0), atan2_f32(1.0, 1.0)), (std::f32::consts::PI, std::f32::consts::FRAC_PI_4));
    }

    #[test]
    fn every_isa_gives_the_same_bits() {
        for f in [asin_f64, acos_f64, atan_f64] {
            check_bits(f);
        }
        check_bits(|x| atan2_f64(x, -0.7));
        check_bits(|x| atan2_f64(3e10, x));
    }
}
