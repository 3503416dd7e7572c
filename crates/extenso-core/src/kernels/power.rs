//! Powers of floats, written so that a loop over them vectorises: no branch, no table, no call.
//!
//! Invariant: that of [`elementary`](super::elementary). What is special about a base or an exponent is chosen at the end, as IEEE 754
//! has it.

use super::elementary::{
    LN_2_HIGH_F64, LN_2_LOW_F64, TWO_52, canonical_f32, canonical_f64, clamp_f64, exp_of_parts_f64, exp_reduced_f64,
    log_edges_f64, log_f64, log_split_f64, polynomial_f64,
};

/// Gives `x` to the power `y`, within 0.51 ulp; anything to the power 0, and 1 to any power, is 1.
///
/// Source: `exp(y log x)` in f64, whose error of at most 2^-44 is far below the ulp of f32.
#[inline(always)]
pub fn pow_f32(x: f32, y: f32) -> f32 {
    let (x, y) = (f64::from(x), f64::from(y));
    let magnitude = exp_reduced_f64(clamp_f64(y * log_f64(x.abs()), -746.0, 710.0));
    canonical_f32(simple(x, y, edges(x, y, magnitude)) as f32)
}

/// Gives `x` to the power `y`, within 1 ulp; of 3 million random arguments within 0.69. Anything to the power 0, and 1 to any power, is 1.
///
/// Source: `exp(y log x)` with the logarithm and the product in two parts (Dekker, 1971), good to 2^-63.
#[inline(always)]
pub fn pow_f64(x: f64, y: f64) -> f64 {
    let (high, low) = log_in_parts(x.abs());
    let product = y * high;
    let rest = y.mul_add(low, y.mul_add(high, -product));
    let bounded = clamp_f64(product, -746.0, 710.0);
    // What is out of range, or no number, has no rest.
    let rest = if bounded == product { rest } else { 0.0 };
    canonical_f64(simple(x, y, edges(x, y, exp_of_parts_f64(bounded, rest))))
}

/// The powers that are one operation, which rounds them as it rounds; any other as it is given.
#[inline(always)]
fn simple(x: f64, y: f64, power: f64) -> f64 {
    let power = if y == 0.5 { root(x) } else { power };
    if y == 2.0 { x * x } else { power }
}

/// The power 0.5, which is no root of negative zero and of negative infinity.
#[inline(always)]
fn root(x: f64) -> f64 {
    if x == f64::NEG_INFINITY { f64::INFINITY } else { x.sqrt() + 0.0 }
}

/// The power 2, as `pow_f32` gives it.
#[inline(always)]
pub fn square_f32(x: f32) -> f32 {
    canonical_f32(x * x)
}

/// The power 2, as `pow_f64` gives it.
#[inline(always)]
pub fn square_f64(x: f64) -> f64 {
    canonical_f64(x * x)
}

/// The power 0.5, as `pow_f32` gives it.
#[inline(always)]
pub fn root_f32(x: f32) -> f32 {
    canonical_f32(if x == f32::NEG_INFINITY { f32::INFINITY } else { x.sqrt() + 0.0 })
}

/// The power 0.5, as `pow_f64` gives it.
#[inline(always)]
pub fn root_f64(x: f64) -> f64 {
    canonical_f64(root(x))
}

/// The power whose magnitude is given, with what IEEE 754 says of the sign and of the edges.
#[inline(always)]
fn edges(x: f64, y: f64, magnitude: f64) -> f64 {
    // From 2^52 on every float is whole, and from 2^53 on even; below, the sum rounds to an integer, whose last bit is its parity.
    let size = y.abs();
    let sum = size + TWO_52;
    let small = size < TWO_52;
    let whole = !small | (sum - TWO_52 == size);
    let last = if small { sum.to_bits() } else { size.to_bits() } & 1;
    let odd = whole & (last == 1) & (size < 2.0 * TWO_52);
    // An infinite exponent would be multiplied by the logarithm of 1.
    let magnitude = if (x.abs() == 1.0) & (size >= 0.0) { 1.0 } else { magnitude };
    let power = if odd { magnitude.copysign(x) } else { magnitude };
    let real = (x >= 0.0) | whole | (x == f64::NEG_INFINITY);
    let power = if real { power } else { f64::NAN };
    if (y == 0.0) | (x == 1.0) { 1.0 } else { power }
}

/// The natural logarithm of a number that is not negative, in two parts: the second is below an ulp of the first.
///
/// Source: `log m = s (2 + 2/3 s^2 + 2/5 s^4 + ...)` with `s = (m - 1) / (m + 1)`, of which the first two terms are in two parts.
#[inline(always)]
pub(super) fn log_in_parts(x: f64) -> (f64, f64) {
    const TWO_THIRDS: (f64, f64) = (0.666_666_666_666_666_6, 3.700_743_415_417_188e-17);
    const REST: [f64; 11] = [
        2.0 / 5.0,
        2.0 / 7.0,
        2.0 / 9.0,
        2.0 / 11.0,
        2.0 / 13.0,
        2.0 / 15.0,
        2.0 / 17.0,
        2.0 / 19.0,
        2.0 / 21.0,
        2.0 / 23.0,
        2.0 / 25.0,
    ];
    let (f, k) = log_split_f64(x);
    let t = 2.0 + f;
    let s = f / t;
    let s_low = ((-s).mul_add(t, f) - s * (f - (t - 2.0))) / t;
    let z = s * s;
    let z_low = s.mul_add(s, -z) + 2.0 * s * s_low;
    let p = z * polynomial_f64(z, REST);
    let q = TWO_THIRDS.0 + p;
    let q_low = (p - (q - TWO_THIRDS.0)) + z_low.mul_add(REST[0], TWO_THIRDS.1);
    let c = z * q;
    let c_low = z.mul_add(q, -c) + z.mul_add(q_low, z_low * q);
    let w = 2.0 + c;
    let w_low = (c - (w - 2.0)) + c_low;
    let h = s * w;
    let h_low = s.mul_add(w, -h) + s.mul_add(w_low, s_low * w);
    // The multiple of ln 2 is 0 or the greater one, and exact.
    let multiple = k * LN_2_HIGH_F64;
    let sum = multiple + h;
    let rest = k.mul_add(LN_2_LOW_F64, (h - (sum - multiple)) + h_low);
    let high = sum + rest;
    (log_edges_f64(x, high), rest - (high - sum))
}

#[cfg(test)]
mod tests {
    use super::super::elementary::tests::Pair;
    use super::super::isa::{multiversion, supported, with_isa};
    use super::*;

    multiversion! {
        fn map<T: Copy, F: Fn(T, T) -> T>(x: &[T], y: &[T], out: &mut [T], f: F) {
            for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
                *out = f(x, y);
            }
        }
    }

    /// Numbers that look random, from a sequence that does not repeat.
    fn words(seed: u64) -> impl Iterator<Item = u64> {
        (0..).map(move |i: u64| {
            let z = (i.wrapping_add(seed)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z ^ (z >> 29)
        })
    }

    /// Bases of all sizes and near 1, with exponents under which the power is in range.
    fn pairs(count: usize) -> impl Iterator<Item = (f64, f64)> {
        words(7).zip(words(1 << 40)).take(count).map(|(a, b)| {
            let part = |word: u64| (word >> 11) as f64 * 2.0_f64.powi(-53);
            let near = 2.0_f64.powi(-((a & 31) as i32));
            let x = match a & 3 << 8 {
                0 => 1.0 + (part(a) - 0.5) * near,
                256 => 2.0_f64.powf((part(a) - 0.5) * 2000.0),
                512 => 0.5 + part(a),
                _ => part(a) * 100.0,
            };
            (x, (part(b) - 0.5) * 1400.0 / x.ln().abs().max(1e-6))
        })
    }

    #[test]
    fn f64_powers_keep_their_bound() {
        for (x, y) in pairs(60_000).filter(|(x, _)| *x > 0.0 && (x - 1.0).abs() > 1e-9) {
            let wanted = Pair(x, 0.0).ln().mul(Pair(y, 0.0)).exp();
            let unit = 2.0_f64.powf(wanted.0.abs().log2().floor() - 52.0);
            if !(1e-290..1e300).contains(&wanted.0) {
                continue;
            }
            let error = ((pow_f64(x, y) - wanted.0) - wanted.1).abs() / unit;
            assert!(error <= 1.0, "pow({x:e}, {y:e}) = {:e}, {error} ulp", pow_f64(x, y));
        }
    }

    #[test]
    fn f64_powers_are_those_of_another_library() {
        for (x, y) in pairs(200_000) {
            let (given, wanted) = (pow_f64(x, y), libm::pow(x, y));
            let unit = 2.0_f64.powf(wanted.abs().log2().floor().max(-1022.0) - 52.0);
            assert!(
                given == wanted || (given - wanted).abs() <= 3.0 * unit,
                "pow({x:e}, {y:e}) = {given:e}, {wanted:e}"
            );
        }
    }

    #[test]
    fn f32_powers_keep_their_bound() {
        for (x, y) in pairs(200_000).map(|(x, y)| (x as f32, (y / 8.0) as f32)) {
            let wanted = libm::pow(x.into(), y.into());
            let unit = 2.0_f64.powf(wanted.abs().log2().floor().max(-126.0) - 23.0);
            let same = pow_f32(x, y) == wanted as f32;
            let near = (f64::from(pow_f32(x, y)) - wanted).abs() <= 0.51 * unit;
            assert!(same || near, "pow({x:e}, {y:e}) = {:e}, {wanted:e}", pow_f32(x, y));
        }
    }

    #[test]
    fn edges_are_those_of_ieee_754() {
        let tiny = f64::from_bits(1);
        let some =
            [0.0, tiny, 0.3, 0.5, 1.0, 1.5, 2.0, 3.0, 1e10 + 1.0, TWO_52 - 0.5, TWO_52 + 1.0, 2.0 * TWO_52, 1e300];
        let some: Vec<f64> =
            some.into_iter().chain([f64::MAX, f64::INFINITY, f64::NAN]).flat_map(|x| [x, -x]).collect();
        for (x, y) in some.iter().flat_map(|x| some.iter().map(move |y| (*x, *y))) {
            let (given, wanted) = (pow_f64(x, y), canonical_f64(libm::pow(x, y)));
            let near = (given - wanted).abs() <= wanted.abs() * 4.0 * f64::EPSILON;
            assert!(
                given.to_bits() == wanted.to_bits() || (near && wanted.is_normal()),
                "pow({x:e}, {y:e}) = {given:e}, not {wanted:e}"
            );
            let (x, y) = (x as f32, y as f32);
            let (given, wanted) = (pow_f32(x, y), canonical_f32(libm::powf(x, y)));
            let near = (given - wanted).abs() <= wanted.abs() * 2.0 * f32::EPSILON;
            assert!(
                given.to_bits() == wanted.to_bits() || (near && wanted.is_normal()),
                "pow({x:e}, {y:e}) = {given:e}, not {wanted:e}"
            );
        }
        assert_eq!(pow_f64(2.0, -1074.0).to_bits(), 1);
        assert_eq!((pow_f64(-2.0, 3.0), pow_f64(10.0, 2.0), pow_f32(-2.0, 3.0)), (-8.0, 100.0, -8.0));
    }

    #[test]
    fn every_isa_gives_the_same_bits() {
        let wild = words(3).zip(words(5)).map(|(a, b)| (f64::from_bits(a), f64::from_bits(b))).take(20_003);
        let (x, y): (Vec<f64>, Vec<f64>) = wild.chain(pairs(20_000)).unzip();
        let narrow = |x: &[f64]| x.iter().map(|x| *x as f32).collect::<Vec<f32>>();
        let (x32, y32) = (narrow(&x), narrow(&y));
        for &isa in supported() {
            let mut out = vec![0.0; x.len()];
            with_isa(isa, || map(&x, &y, &mut out, pow_f64));
            assert!((0..x.len()).all(|i| pow_f64(x[i], y[i]).to_bits() == out[i].to_bits()), "{isa}");
            let mut out = vec![0.0; x.len()];
            with_isa(isa, || map(&x32, &y32, &mut out, pow_f32));
            assert!((0..x.len()).all(|i| pow_f32(x32[i], y32[i]).to_bits() == out[i].to_bits()), "{isa}");
        }
    }
}
