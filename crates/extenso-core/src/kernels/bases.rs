//! Logarithms to the bases 2 and 10, exponentials less 1, and logarithms of sums of them, written so that a loop over them vectorises.
//!
//! Invariant: that of [`elementary`](super::elementary). In f32 they are computed in f64 and rounded.

use super::elementary::{
    canonical_f32, canonical_f64, clamp_f64, exp_f64, exp_m1_reduced_f64, exp_reduced_f64, log_edges_f64, log_f64,
    log1p_f64,
};
use super::power::log_in_parts;

/// 1 / ln 2 and 1 / ln 10 in two parts.
const PER_LN_2: (f64, f64) = (std::f64::consts::LOG2_E, 2.035_527_374_093_103_3e-17);
const PER_LN_10: (f64, f64) = (std::f64::consts::LOG10_E, 1.098_319_650_216_765e-17);

/// Gives the logarithm to the base 2, within 0.51 ulp; of a power of 2 it is exact.
#[inline(always)]
pub fn log2_f32(x: f32) -> f32 {
    canonical_f32((log_f64(x.into()) * PER_LN_2.0) as f32)
}

/// Gives the logarithm to the base 2, within 1 ulp; of a power of 2 it is exact.
#[inline(always)]
pub fn log2_f64(x: f64) -> f64 {
    log_to_base(x, PER_LN_2)
}

/// Gives the logarithm to the base 10, within 0.51 ulp; of a power of 10 it is exact.
#[inline(always)]
pub fn log10_f32(x: f32) -> f32 {
    canonical_f32((log_f64(x.into()) * PER_LN_10.0) as f32)
}

/// Gives the logarithm to the base 10, within 1 ulp; of a power of 10 it is exact.
#[inline(always)]
pub fn log10_f64(x: f64) -> f64 {
    log_to_base(x, PER_LN_10)
}

/// The natural logarithm in two parts times a number in two parts.
#[inline(always)]
fn log_to_base(x: f64, per_log: (f64, f64)) -> f64 {
    let (high, low) = log_in_parts(x);
    let y = high * per_log.0;
    let rest = high.mul_add(per_log.0, -y) + high.mul_add(per_log.1, low * per_log.0);
    canonical_f64(log_edges_f64(x, y + rest))
}

/// Gives `e` to the power `x`, less 1, within 0.54 ulp. Zero keeps its sign.
#[inline(always)]
pub fn expm1_f32(x: f32) -> f32 {
    let wide = f64::from(x);
    let y = exp_reduced_f64(clamp_f64(wide, -746.0, 710.0)) - 1.0;
    // Near 0 the next term of the series is below half an ulp.
    canonical_f32(if x.abs() < 2.980_232_2e-8 { x } else { y as f32 })
}

/// Gives `e` to the power `x`, less 1, within 1.1 ulp. Zero keeps its sign.
#[inline(always)]
pub fn expm1_f64(x: f64) -> f64 {
    let y = exp_m1_reduced_f64(clamp_f64(x, -60.0, 710.0));
    canonical_f64(if x.abs() < 1e-300 { x } else { y })
}

/// Gives the logarithm of the sum of `e` to the power of both, within 2 ulp where that is not near 0, without overflow.
///
/// The larger, and `log(1 + exp(smaller - larger))`.
#[inline(always)]
pub fn log_add_exp_f64(x: f64, y: f64) -> f64 {
    let larger = if x > y { x } else { y };
    // Two infinities of one sign have no gap.
    let gap = if x == y { 0.0 } else { (x - y).abs() };
    canonical_f64(if x.is_nan() { x } else { larger + log1p_f64(exp_f64(-gap)) })
}

/// Gives the logarithm of the sum of `e` to the power of both, within 0.51 ulp where that is not near 0, without overflow.
#[inline(always)]
pub fn log_add_exp_f32(x: f32, y: f32) -> f32 {
    canonical_f32(log_add_exp_f64(x.into(), y.into()) as f32)
}

#[cfg(test)]
mod tests {
    use super::super::elementary::tests::{Pair, map};
    use super::super::isa::{supported, with_isa};
    use super::*;

    fn ulps(y: f64, wanted: Pair) -> f64 {
        ((y - wanted.0) - wanted.1).abs() / 2.0_f64.powf(wanted.0.abs().log2().floor() - 52.0)
    }

    #[test]
    fn f64_functions_keep_their_bounds() {
        let numbers = (1..100_000).map(|i| f64::from(i) / 50_000.0);
        let sizes = (-1000..1000).map(|i| 1.3 * 2.0_f64.powi(i));
        for x in numbers.chain(sizes).filter(|x| (x - 1.0).abs() > 1e-7) {
            let log = Pair(x, 0.0).ln();
            let (two, ten) = (Pair(PER_LN_2.0, PER_LN_2.1), Pair(PER_LN_10.0, PER_LN_10.1));
            for (y, per) in [(log2_f64(x), two), (log10_f64(x), ten)] {
                assert!(ulps(y, log.mul(per)) <= 0.51, "of {x:e}: {y:e}");
            }
        }
        for x in (-60_000..700_000).step_by(7).map(|i| f64::from(i) / 1000.0).filter(|x| *x != 0.0) {
            let wanted = Pair(x, 0.0).exp().add(Pair(-1.0, 0.0));
            assert!(ulps(expm1_f64(x), wanted) <= 1.1, "of {x}: {}", expm1_f64(x));
        }
    }

    #[test]
    fn f32_functions_keep_their_bounds() {
        type Case = (fn(f32) -> f32, fn(f64) -> f64, f64);
        let cases: [Case; 3] =
            [(log2_f32, f64::log2, 0.51), (log10_f32, f64::log10, 0.51), (expm1_f32, f64::exp_m1, 0.54)];
        for (f, exact, bound) in cases {
            for x in (0..=u32::MAX).step_by(997).map(f32::from_bits) {
                let (y, wanted) = (f(x), exact(x.into()));
                let unit = 2.0_f64.powf(wanted.abs().log2().floor().max(-126.0) - 23.0);
                let same = y == wanted as f32 || y.is_nan() && wanted.is_nan();
                assert!(same || (f64::from(y) - wanted).abs() <= bound * unit, "f({x:e}) = {y:e}, not {wanted:e}");
            }
        }
    }

    fn power_of_2(k: i32) -> f64 {
        if k < -1022 { f64::from_bits(1) * 2.0_f64.powi(k + 1074) } else { 2.0_f64.powi(k) }
    }

    #[test]
    fn edges_are_exact() {
        for k in -1074..1024 {
            assert_eq!(log2_f64(power_of_2(k)), f64::from(k));
        }
        for k in 0..22 {
            assert_eq!((log10_f64(10.0_f64.powi(k)), log10_f32(1000.0)), (f64::from(k), 3.0));
        }
        let tiny = f64::from_bits(1);
        for (f, x, y) in [
            (log2_f64 as fn(f64) -> f64, 0.0, f64::NEG_INFINITY),
            (log2_f64, 1.0, 0.0),
            (log2_f64, f64::INFINITY, f64::INFINITY),
            (log10_f64, -0.0, f64::NEG_INFINITY),
            (log10_f64, f64::INFINITY, f64::INFINITY),
            (expm1_f64, -0.0, -0.0),
            (expm1_f64, tiny, tiny),
            (expm1_f64, -1e5, -1.0),
            (expm1_f64, f64::NEG_INFINITY, -1.0),
            (expm1_f64, 709.9, f64::INFINITY),
            (log2_f64, -1.0, f64::NAN),
            (log10_f64, -f64::NAN, f64::NAN),
            (expm1_f64, -f64::NAN, f64::NAN),
        ] {
            assert_eq!(f(x).to_bits(), y.to_bits(), "f({x:e}) = {:e}, not {y:e}", f(x));
        }
        assert_eq!(expm1_f32(-0.0).to_bits(), (-0.0_f32).to_bits());
    }

    #[test]
    fn every_isa_gives_the_same_bits() {
        let narrow: Vec<f32> = (0..=u32::MAX).step_by(99_991).map(f32::from_bits).collect();
        let wide: Vec<f64> = (0..=u64::MAX).step_by(0x0003_1415_9265_3589).map(f64::from_bits).collect();
        for &isa in supported() {
            for f in [log2_f32, log10_f32, expm1_f32] {
                let mut out = vec![0.0; narrow.len()];
                with_isa(isa, || map(&narrow, &mut out, f));
                assert!(narrow.iter().zip(out).all(|(&x, y)| f(x).to_bits() == y.to_bits()), "{isa}");
            }
            for f in [log2_f64, log10_f64, expm1_f64] {
                let mut out = vec![0.0; wide.len()];
                with_isa(isa, || map(&wide, &mut out, f));
                assert!(wide.iter().zip(out).all(|(&x, y)| f(x).to_bits() == y.to_bits()), "{isa}");
            }
        }
    }
}
