//! Sine, cosine and tangent, written so that a loop over them vectorises: no branch, no table, no call.
//!
//! Invariant: that of [`elementary`](super::elementary). In f32 they are computed in f64 and rounded. Angles from [`FAR`] on are those of
//! the crate libm, one by one, behind the loop over all.

use super::elementary::{
    MAGIC_F64, bf16_to_f32, canonical_f32, canonical_f64, f16_to_f32, f32_to_bf16, f32_to_f16, polynomial_f64,
};
use super::isa::multiversion;
use super::map::{BlockKernel, Done};
use extenso_types::DType;
use half::{bf16, f16};

/// Angles below this are reduced here.
const FAR: f64 = 1_099_511_627_776.0;

/// Half of pi in three parts.
const HALF_PI: [f64; 3] = [std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17, -1.497_384_904_859_169_8e-33];

/// What is left of an angle after the nearest multiple of half of pi, in two parts, and the multiple in the last bits.
///
/// Source: Cody and Waite (1980), with fused multiply-adds: the first difference is exact, since neither side has bits below those of
/// the first part of half of pi.
#[inline(always)]
fn reduced(x: f64) -> (f64, f64, u64) {
    let t = x.mul_add(std::f64::consts::FRAC_2_PI, MAGIC_F64);
    let n = t - MAGIC_F64;
    let whole = (-n).mul_add(HALF_PI[0], x);
    let part = n * HALF_PI[1];
    let high = whole - part;
    let back = high - whole;
    let lost = (whole - (high - back)) - (part + back);
    (high, lost - n.mul_add(HALF_PI[2], n.mul_add(HALF_PI[1], -part)), t.to_bits())
}

/// The sine of an angle of at most a quarter of pi, and a rest that is below an ulp of it.
///
/// Source of both polynomials: `k_sin.c` and `k_cos.c` of fdlibm (Sun Microsystems, 1993).
#[inline(always)]
fn sine(x: f64, low: f64) -> (f64, f64) {
    const S: [f64; 5] = [
        8.333_333_333_322_49e-3,
        -1.984_126_982_985_795e-4,
        2.755_731_370_707_006_8e-6,
        -2.505_076_025_340_686_3e-8,
        1.589_690_995_211_55e-10,
    ];
    const THIRD: f64 = -1.666_666_666_666_663_2e-1;
    let z = x * x;
    let v = z * x;
    let curve = z.mul_add(v * polynomial_f64(z, S) - 0.5 * low, low) + v * THIRD;
    let high = x + curve;
    (high, curve - (high - x))
}

/// The cosine of such an angle, likewise.
#[inline(always)]
fn cosine(x: f64, low: f64) -> (f64, f64) {
    const C: [f64; 6] = [
        4.166_666_666_666_66e-2,
        -1.388_888_888_887_411e-3,
        2.480_158_728_947_673e-5,
        -2.755_731_435_139_066_3e-7,
        2.087_572_321_298_175e-9,
        -1.135_964_755_778_819_5e-11,
    ];
    let z = x * x;
    let half = 0.5 * z;
    let near = 1.0 - half;
    // What the square and the difference lost, and the other terms.
    let curve = ((1.0 - near) - half) + (z * z).mul_add(polynomial_f64(z, C), -0.5 * x.mul_add(x, -z)) - x * low;
    let high = near + curve;
    (high, curve - (high - near))
}

/// The sine of `x` moved on by some quarters of a turn.
#[inline(always)]
fn sine_from(x: f64, quarters: u64) -> f64 {
    let (r, low, t) = reduced(x);
    let quadrant = t.wrapping_add(quarters);
    let y = if quadrant & 1 == 0 { sine(r, low).0 } else { cosine(r, low).0 };
    f64::from_bits(y.to_bits() ^ (quadrant & 2) << 62)
}

#[inline(always)]
pub(super) fn near_sin(x: f64) -> f64 {
    // Zero keeps its sign.
    if x == 0.0 { x } else { sine_from(x, 0) }
}

#[inline(always)]
fn near_cos(x: f64) -> f64 {
    sine_from(x, 1)
}

/// The quotient of sine and cosine with the rests of both.
#[inline(always)]
pub(super) fn near_tan(x: f64) -> f64 {
    let (r, low, t) = reduced(x);
    let (sine, cosine) = (sine(r, low), cosine(r, low));
    let turned = t & 1 == 1;
    let (over, over_low) = if turned { cosine } else { sine };
    let (under, under_low) = if turned { sine } else { cosine };
    let y = over / under;
    let rest = (-y).mul_add(under, over) + (over_low - y * under_low);
    let y = y + rest / under;
    let y = if turned { -y } else { y };
    if x == 0.0 { x } else { y }
}

/// A float of any width, whose angles are computed in f64.
trait Wide: Copy {
    fn wide(self) -> f64;
    fn narrow(wide: f64) -> Self;
}

macro_rules! wides {
    ($($t:ident |$x:ident| $wide:expr, $narrow:expr;)*) => { $(
        impl Wide for $t {
            #[inline(always)]
            fn wide(self) -> f64 {
                let $x = self;
                $wide
            }

            #[inline(always)]
            fn narrow(wide: f64) -> $t {
                let $x = wide;
                $narrow
            }
        }
    )* };
}
wides! {
    f16 |x| f16_to_f32(x).into(), f32_to_f16(canonical_f32(x as f32));
    bf16 |x| bf16_to_f32(x).into(), f32_to_bf16(canonical_f32(x as f32));
    f32 |x| x.into(), canonical_f32(x as f32);
    f64 |x| x, canonical_f64(x);
}

macro_rules! functions {
    ($($of_f64:ident $of_f32:ident $kernel:ident: $near:ident $what:literal;)*) => { $(
        #[doc = concat!("Gives the ", $what, " of an angle in radians, within 1 ulp.")]
        #[inline(always)]
        pub fn $of_f64(x: f64) -> f64 {
            canonical_f64(if x.abs() < FAR { $near(x) } else { libm::$kernel(x) })
        }

        #[doc = concat!("Gives the ", $what, " of an angle in radians, within 0.51 ulp.")]
        #[inline(always)]
        pub fn $of_f32(x: f32) -> f32 {
            f32::narrow($of_f64(x.into()))
        }

        #[doc = concat!("The kernel of the ", $what, " of angles in radians.")]
        pub fn $kernel(dtype: DType) -> Option<BlockKernel> {
            by_dtype!(dtype; $near $of_f64; F16 f16, BF16 bf16, F32 f32, F64 f64)
        }
    )* };
}

/// Each dtype by the formula for near angles, in a loop that vectorises, and where an angle is far, by the function for all.
macro_rules! by_dtype {
    ($dtype:ident; $near:ident $any:ident; $($d:ident $t:ident),*) => {
        match $dtype {
            $(DType::$d => {
                multiversion! {
                    fn each(x: &[$t], out: &mut [$t]) {
                        for (o, x) in out.iter_mut().zip(x) {
                            *o = Wide::narrow($near(x.wide()));
                        }
                    }

                    fn any_far(x: &[$t]) -> bool {
                        x.iter().fold(false, |far, x| far | (x.wide().abs() >= FAR))
                    }
                }
                fn run(ins: &[&[u8]], out: &mut [u8], _n: usize) -> Done {
                    let (x, out) = (bytemuck::cast_slice::<u8, $t>(ins[0]), bytemuck::cast_slice_mut::<u8, $t>(out));
                    each(x, out);
                    if any_far(x) {
                        for (o, x) in out.iter_mut().zip(x) {
                            *o = Wide::narrow($any(x.wide()));
                        }
                    }
                    Ok(())
                }
                Some(BlockKernel::new(DType::$d, run))
            })*
            _ => None,
        }
    };
}
functions! {
    sin_f64 sin_f32 sin: near_sin "sine";
    cos_f64 cos_f32 cos: near_cos "cosine";
    tan_f64 tan_f32 tan: near_tan "tangent";
}

#[cfg(test)]
mod tests {
    use super::super::elementary::tests::{Pair, check_bits, some_of_all, ulps};
    use super::*;

    #[test]
    fn near_angles_keep_their_bounds() {
        let multiples = (1..20_000).step_by(7).map(|k| f64::from(k) * std::f64::consts::FRAC_PI_2);
        for x in some_of_all().chain(multiples).filter(|x| x.abs() < 1e6 && x.abs() > 1e-6) {
            let (sine, cosine) = Pair(x, 0.0).sine_cosine();
            for (y, wanted) in [(sin_f64(x), sine), (cos_f64(x), cosine), (tan_f64(x), sine.div(cosine))] {
                assert!(ulps(y, wanted) <= 1.0, "of {x:e}: {y:e}, {} ulp", ulps(y, wanted));
            }
        }
    }

    #[test]
    fn the_widest_angles_are_reduced_with_all_bits_of_pi() {
        // The first is the float nearest to a multiple of half of pi; the values are those of a library of many digits.
        for (x, sine, cosine) in [
            (6_381_956_970_095_103.0 * 2.0_f64.powi(797), 1.0, -4.687_165_924_254_628e-19),
            (1e22, -0.852_200_849_767_188_8, 0.523_214_785_395_139),
            (1e11, 0.928_693_660_496_592, 0.370_847_792_164_711_14),
        ] {
            assert!((sin_f64(x) - sine).abs() <= 2.0_f64.powi(-53), "{x:e}: {:e}", sin_f64(x));
            assert!((cos_f64(x) - cosine).abs() <= cosine.abs() * 2.0_f64.powi(-52), "{x:e}: {:e}", cos_f64(x));
        }
    }

    fn block<T: bytemuck::Pod + Default>(kernel: Option<BlockKernel>, x: &[T]) -> Vec<T> {
        let mut out = vec![T::default(); x.len()];
        let run = kernel.expect("a float").run;
        run(&[bytemuck::cast_slice(x)], bytemuck::cast_slice_mut(&mut out), x.len()).expect("no fault");
        out
    }

    #[test]
    fn a_block_of_near_and_far_angles_is_that_of_each() {
        let x: Vec<f64> = some_of_all().chain([f64::INFINITY, f64::NAN, 0.0, -0.0, 1e300, FAR]).collect();
        let narrow: Vec<f32> = x.iter().map(|x| *x as f32).collect();
        for (kernel, f) in [(sin as fn(DType) -> _, sin_f64 as fn(f64) -> f64), (cos, cos_f64), (tan, tan_f64)] {
            for from in [0, 300] {
                let out = block(kernel(DType::F64), &x[from..]);
                assert!(x[from..].iter().zip(&out).all(|(x, y)| f(*x).to_bits() == y.to_bits()));
                let out = block(kernel(DType::F32), &narrow[from..]);
                let wanted = |x: f32| canonical_f32(f(x.into()) as f32);
                assert!(narrow[from..].iter().zip(&out).all(|(x, y)| wanted(*x).to_bits() == y.to_bits()));
            }
        }
    }

    #[test]
    fn zero_keeps_its_sign_and_infinity_has_none() {
        for f in [sin_f64, tan_f64] {
            assert_eq!((f(-0.0).to_bits(), f(f64::from_bits(1)).to_bits()), ((-0.0_f64).to_bits(), 1));
            assert_eq!(f(f64::NEG_INFINITY).to_bits(), f64::NAN.to_bits());
        }
        assert_eq!((cos_f64(-0.0), sin_f32(-0.0).to_bits()), (1.0, (-0.0_f32).to_bits()));
    }

    #[test]
    fn every_isa_gives_the_same_bits() {
        for f in [near_sin, near_cos, near_tan] {
            check_bits(|x| canonical_f64(f(x)));
        }
    }
}
