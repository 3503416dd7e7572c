//! Activations with constants of their own, each a formula in f32 and f64.
//!
//! Invariant: as of the functions that they are made of. Where one tends to zero it is zero at the infinity too, never NaN.

use super::map::Real;
use super::special::Special;

/// Of `selu`: with these the mean and the variance of a layer stay near 0 and 1.
///
/// Source: G. Klambauer, T. Unterthiner, A. Mayr and S. Hochreiter, "Self-normalizing neural networks" (2017).
pub const SELU_SCALE: f64 = 1.050_700_987_355_480_5;
/// Of `selu`: minus the limit at minus infinity, before it is scaled.
pub const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;
/// Of the tanh form of `gelu`: the square root of 2 / pi.
pub const GELU_SCALE: f64 = std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2;
/// Of the tanh form of `gelu`: the weight of the cube.
pub const GELU_CUBE: f64 = 0.044_715;

/// Activations, the same formula on every machine.
pub trait Activation: Copy {
    /// This times the probability that a normal variable is below it.
    fn gelu_(self) -> Self;
    /// The same with a hyperbolic tangent for the probability.
    fn gelu_tanh_(self) -> Self;
    /// The scaled exponential linear unit.
    fn selu_(self) -> Self;
}

macro_rules! activations {
    ($($t:ty)*) => { $(
        impl Activation for $t {
            #[inline(always)]
            fn gelu_(self) -> $t {
                let share = 0.5 * (self * -std::f64::consts::FRAC_1_SQRT_2 as $t).erfc_();
                if share == 0.0 { -0.0 } else { self * share }
            }

            #[inline(always)]
            fn gelu_tanh_(self) -> $t {
                let bent = self + GELU_CUBE as $t * self * self * self;
                let share = 0.5 + 0.5 * (GELU_SCALE as $t * bent).tanh_();
                if share == 0.0 { -0.0 } else { self * share }
            }

            #[inline(always)]
            fn selu_(self) -> $t {
                SELU_SCALE as $t * if self > 0.0 { self } else { SELU_ALPHA as $t * self.exp_m1_() }
            }
        }
    )* };
}
activations! { f32 f64 }
