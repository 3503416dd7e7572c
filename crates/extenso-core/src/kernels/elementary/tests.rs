//! The functions against f64, and against pairs of f64; the same bits in every instruction set.

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
    [(exp_f32, f64::exp, 1.0), (log_f32, f64::ln, 1.0), (log1p_f32, f64::ln_1p, 1.0), (tanh_f32, f64::tanh, 2.0)];
const F64: [Case<f64, Pair>; 4] = [
    (exp_f64, Pair::exp, 1.0),
    (log_f64, Pair::ln, 1.0),
    (tanh_f64, Pair::tanh, 2.0),
    (log1p_f64, |x| Pair(1.0, 0.0).add(x).ln(), 1.0),
];

#[test]
fn f32_functions_keep_their_bounds() {
    for case in F32 {
        (0..=u32::MAX).step_by(997).for_each(|bits| check_f32(case, f32::from_bits(bits)));
    }
}

#[test]
fn logarithms_keep_their_bounds_at_the_seams_of_their_powers() {
    // A power and a logarithm of the other sign are added there: no stretch has larger errors.
    let [_, log, log1p, _] = F32;
    for (case, low, high) in
        [(log, 0.68, 0.74), (log, 1.38, 1.58), (log1p, 0.26, 0.3), (log1p, 0.41, 0.45), (log1p, -0.26, -0.32)]
    {
        let (low, high): (f32, f32) = (low, high);
        (low.to_bits()..=high.to_bits()).for_each(|bits| check_f32(case, f32::from_bits(bits)));
    }
}

fn check_f32((f, exact, bound): Case<f32, f64>, x: f32) {
    let (y, wanted) = (f(x), exact(x.into()));
    let unit = 2.0_f64.powi(((wanted.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(-126) - 23);
    let same = y == wanted as f32 || y.is_nan() && wanted.is_nan();
    assert!(same || (f64::from(y) - wanted).abs() <= bound * unit, "f({x:e}) = {y:e}, not {wanted:e}");
}

#[test]
fn f64_functions_keep_their_bounds() {
    let ranges = [(-700.0, 709.0), (0.0, 1e300), (-20.0, 20.0), (-1.0, 1e300)];
    for ((f, exact, bound), (low, high)) in F64.into_iter().zip(ranges) {
        let spread = (0..50_000).map(|i| low + (high - low) * f64::from(i) / 50_000.0);
        let near_one = (1..50_000).map(|i| 1.0 + f64::from(i - 25_000) / 35_000.0);
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
    for nan in [exp_f64(-f64::NAN), log_f64(-1.0), log_f64(f64::NEG_INFINITY), log1p_f64(-1.5), tanh_f64(-f64::NAN)] {
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

    /// The product of two floats, exactly.
    fn product(x: f64, y: f64) -> Pair {
        Pair(x * y, x.mul_add(y, -(x * y)))
    }

    /// Sine and cosine by their series, after whole quarters of a turn.
    pub fn sine_cosine(self) -> (Pair, Pair) {
        let quarters = (self.0 / std::f64::consts::FRAC_PI_2).round();
        // Half of pi to 160 bits.
        let parts = [std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17, -1.497_384_904_859_169_8e-33];
        let r = parts.into_iter().fold(self, |r, part| r.add(Pair::product(part, -quarters)));
        let (square, one) = (r.mul(r).mul(Pair(-1.0, 0.0)), Pair(1.0, 0.0));
        let series = |first: u32| {
            let term = |acc: Pair, i: u32| one.add(acc.mul(square).div(Pair((i * (i + 1)).into(), 0.0)));
            (0..14).rev().fold(one, |acc, i| term(acc, first + 2 * i))
        };
        let (sine, cosine) = (r.mul(series(2)), series(1));
        let minus = |x: Pair| x.mul(Pair(-1.0, 0.0));
        match quarters.rem_euclid(4.0) {
            0.0 => (sine, cosine),
            1.0 => (cosine, minus(sine)),
            2.0 => (minus(sine), minus(cosine)),
            _ => (minus(cosine), sine),
        }
    }

    pub fn sqrt(self) -> Pair {
        let y = Pair(self.0.sqrt(), 0.0);
        y.add(self.add(y.mul(y).mul(Pair(-1.0, 0.0))).div(Pair(2.0 * y.0, 0.0)))
    }

    fn tanh(self) -> Pair {
        let e = self.mul(Pair(2.0, 0.0)).exp();
        e.add(Pair(-1.0, 0.0)).div(e.add(Pair(1.0, 0.0)))
    }
}

/// How many units in the last place `y` is off.
pub fn ulps(y: f64, wanted: Pair) -> f64 {
    ((y - wanted.0) - wanted.1).abs() / 2.0_f64.powf(wanted.0.abs().log2().floor() - 52.0)
}

/// Floats of all sizes, of one sign and the other, and numbers from -8 to 8.
pub fn some_of_all() -> impl Iterator<Item = f64> {
    let sizes = (-60..300).map(|i| 1.37_f64.powi(i)).flat_map(|x| [x, -x]);
    sizes.chain((-20_000..20_000).map(|i| f64::from(i) / 2500.0 + 1e-5))
}

/// Asserts that a function of one float gives in a loop, under every instruction set, what it gives alone, also of odd floats.
pub fn check_bits(f: impl Fn(f64) -> f64 + Copy) {
    let wide = (0..=u64::MAX).step_by(0x0003_1415_9265_3589).map(f64::from_bits);
    let x: Vec<f64> = wide.chain(some_of_all()).collect();
    for &isa in supported() {
        let mut out = vec![0.0; x.len()];
        with_isa(isa, || map(&x, &mut out, f));
        assert!(x.iter().zip(out).all(|(&x, y)| f(x).to_bits() == y.to_bits()), "{isa}");
    }
}
