//! Hyperbolic sine and cosine, the inverse functions, and the hypotenuse, written so that a loop over them vectorises: no branch, no table, no call.
//!
//! Invariant: that of [`elementary`](super::elementary). In f32 they are computed in f64 and rounded.

use super::elementary::{canonical_f32, canonical_f64, clamp_f64, half_exp_f64, log1p_f64, polynomial_f64};
use std::f64::consts::LN_2;

/// From here on a square is all that counts of its sum with 1.
const LARGE: f64 = 268_435_456.0;

/// Gives the hyperbolic sine, within 2 ulp. Zero keeps its sign.
///
/// Below 1 by the series of Taylor, above it as half of `exp |x| - exp -|x|`.
#[inline(always)]
pub fn sinh_f64(x: f64) -> f64 {
    const SERIES: [f64; 9] = [
        1.0 / 6.0,
        1.0 / 120.0,
        1.0 / 5_040.0,
        1.0 / 362_880.0,
        1.0 / 39_916_800.0,
        1.0 / 6_227_020_800.0,
        1.0 / 1_307_674_368_000.0,
        1.0 / 355_687_428_096_000.0,
        1.0 / 121_645_100_408_832_000.0,
    ];
    let size = x.abs();
    let z = size * size;
    let small = (size * z).mul_add(polynomial_f64(z, SERIES), size);
    let half = half_exp_f64(clamp_f64(size, 0.0, 720.0));
    let large = half - 0.25 / half;
    canonical_f64(if size < 1.0 { small } else { large }.copysign(x))
}

/// Gives the hyperbolic cosine, within 2 ulp: half of `exp |x| + exp -|x|`.
#[inline(always)]
pub fn cosh_f64(x: f64) -> f64 {
    let half = half_exp_f64(clamp_f64(x.abs(), 0.0, 720.0));
    canonical_f64(half + 0.25 / half)
}

/// Gives the number whose hyperbolic sine `x` is, within 2 ulp. Zero keeps its sign.
///
/// Source of this and the next two: `s_asinh.c`, `e_acosh.c`, `e_atanh.c` of fdlibm (Sun Microsystems, 1993), by one `log1p` each.
#[inline(always)]
pub fn asinh_f64(x: f64) -> f64 {
    let size = x.abs();
    let large = size >= LARGE;
    let bounded = clamp_f64(size, 0.0, LARGE);
    let square = bounded * bounded;
    let (below, curved) = (size - 1.0, size + square / (1.0 + (1.0 + square).sqrt()));
    // Picked together: a condition that comes back later would cut the loop in two.
    let (rest, twice) = if large { (below, LN_2) } else { (curved, 0.0) };
    let y = log1p_f64(rest) + twice;
    canonical_f64(y.copysign(x))
}

/// Gives the number, not below 0, whose hyperbolic cosine `x` is, within 2 ulp. Below 1 it is NaN.
#[inline(always)]
pub fn acosh_f64(x: f64) -> f64 {
    let large = x >= LARGE;
    let above = x - 1.0;
    let root = above.mul_add(above, 2.0 * above).sqrt();
    let (root, twice) = if large { (0.0, LN_2) } else { (root, 0.0) };
    let y = log1p_f64(above + root) + twice;
    canonical_f64(if x >= 1.0 { y } else { f64::NAN })
}

/// Gives the number whose hyperbolic tangent `x` is, within 2 ulp. -1 and 1 give infinities, what is beyond NaN; zero keeps its sign.
#[inline(always)]
pub fn atanh_f64(x: f64) -> f64 {
    let size = x.abs();
    let twice = size + size;
    let to_one = 1.0 - size;
    let (near, far) = (twice + twice * size / to_one, twice / to_one);
    let rest = if size < 0.5 { near } else { far };
    canonical_f64((0.5 * log1p_f64(rest)).copysign(x))
}

/// Gives the length of the hypotenuse over two legs, within 1 ulp; an infinite leg makes it infinite, whatever the other is.
///
/// Legs near the ends of the range are brought to its middle by a power of 2.
#[inline(always)]
pub fn hypot_f64(x: f64, y: f64) -> f64 {
    let (x, y) = (x.abs(), y.abs());
    let (longer, shorter) = if x > y { (x, y) } else { (y, x) };
    let down = longer > 1e150;
    let up = longer < 1e-130;
    let by = if down { 2.0_f64.powi(-600) } else { 1.0 };
    let by = if up { 2.0_f64.powi(600) } else { by };
    let back = if down { 2.0_f64.powi(600) } else { 1.0 };
    let back = if up { 2.0_f64.powi(-600) } else { back };
    let (a, b) = (longer * by, shorter * by);
    let root = a.mul_add(a, b * b).sqrt();
    let infinite = (x == f64::INFINITY) | (y == f64::INFINITY);
    canonical_f64(if infinite { f64::INFINITY } else { root * back })
}

narrow! {
    sinh_f32(x) sinh_f64;
    cosh_f32(x) cosh_f64;
    asinh_f32(x) asinh_f64;
    acosh_f32(x) acosh_f64;
    atanh_f32(x) atanh_f64;
    hypot_f32(x, y) hypot_f64;
}

#[cfg(test)]
mod tests {
    use super::super::elementary::tests::{Pair, check_bits, some_of_all, ulps};
    use super::*;

    const ONE: Pair = Pair(1.0, 0.0);
    const HALF: Pair = Pair(0.5, 0.0);

    fn minus(x: Pair) -> Pair {
        x.mul(Pair(-1.0, 0.0))
    }

    fn check(x: f64, y: f64, wanted: Pair) {
        assert!(ulps(y, wanted) <= 2.0, "of {x:e}: {y:e}, {} ulp", ulps(y, wanted));
    }

    #[test]
    fn functions_keep_their_bounds() {
        for x in some_of_all().filter(|x| x.abs() > 1e-4 && x.abs() < 700.0) {
            let (wide, e) = (Pair(x, 0.0), Pair(x, 0.0).exp());
            let back = ONE.div(e);
            check(x, sinh_f64(x), e.add(minus(back)).mul(HALF));
            check(x, cosh_f64(x), e.add(back).mul(HALF));
            let size = Pair(x.abs(), 0.0);
            let root = size.mul(size).add(ONE).sqrt();
            check(x, asinh_f64(x), size.add(root).ln().mul(Pair(x.signum(), 0.0)));
            if x > 1.0001 {
                check(x, acosh_f64(x), wide.add(wide.mul(wide).add(minus(ONE)).sqrt()).ln());
            } else if x.abs() < 1.0 {
                check(x, atanh_f64(x), ONE.add(wide).div(ONE.add(minus(wide))).ln().mul(HALF));
            }
        }
    }

    #[test]
    fn hypotenuses_keep_their_bound() {
        for (i, x) in some_of_all().enumerate().filter(|(_, x)| x.abs() > 1e-8 && x.abs() < 1e9) {
            let y = x * f64::from((i % 64) as u32) / 40.0;
            let wanted = Pair(x, 0.0).mul(Pair(x, 0.0)).add(Pair(y, 0.0).mul(Pair(y, 0.0))).sqrt();
            assert!(ulps(hypot_f64(x, y), wanted) <= 1.0, "of {x:e} and {y:e}");
        }
    }

    #[test]
    fn edges_are_exact() {
        let (tiny, infinity) = (f64::from_bits(1), f64::INFINITY);
        for (got, want) in [
            (sinh_f64(-0.0), -0.0),
            (sinh_f64(tiny), tiny),
            (sinh_f64(711.0), infinity),
            (sinh_f64(-infinity), -infinity),
            (cosh_f64(0.0), 1.0),
            (cosh_f64(-infinity), infinity),
            (cosh_f64(-f64::NAN), f64::NAN),
            (asinh_f64(-0.0), -0.0),
            (asinh_f64(-infinity), -infinity),
            (acosh_f64(1.0), 0.0),
            (acosh_f64(0.5), f64::NAN),
            (acosh_f64(infinity), infinity),
            (atanh_f64(-0.0), -0.0),
            (atanh_f64(-1.0), -infinity),
            (atanh_f64(1.5), f64::NAN),
            (atanh_f64(infinity), f64::NAN),
            (hypot_f64(3.0, -4.0), 5.0),
            (hypot_f64(-infinity, f64::NAN), infinity),
            (hypot_f64(f64::NAN, 1.0), f64::NAN),
            (hypot_f64(3e300, 4e300), 5e300),
            (hypot_f64(3.0 * tiny, 4.0 * tiny), 5.0 * tiny),
            (hypot_f64(f64::MAX, f64::MAX), infinity),
        ] {
            assert_eq!(got.to_bits(), want.to_bits(), "{got:e}, not {want:e}");
        }
        assert!(cosh_f64(710.4).is_finite() && (asinh_f64(1e300) - 691.468_675_078_773_8).abs() < 1e-12);
    }

    #[test]
    fn every_isa_gives_the_same_bits() {
        for f in [sinh_f64, cosh_f64, asinh_f64, acosh_f64, atanh_f64] {
            check_bits(f);
        }
        check_bits(|x| hypot_f64(x, 1.5));
    }
}
