//! The error function and what it lacks to 1, written so that a loop over them vectorises: no branch, no table, no call.
//!
//! Invariant: that of [`elementary`](super::elementary). In f32 they are computed in f64 and rounded.
//! Source: `s_erf.c` of fdlibm (Sun Microsystems, 1993): a quotient of polynomials in each of four ranges, all
//! four of which are computed and one is picked.

use super::elementary::{canonical_f32, canonical_f64, clamp_f64, exp_of_parts_f64, polynomial_f64 as polynomial};

/// Where the ranges of the size begin.
const SECOND: f64 = 0.843_75;
const THIRD: f64 = 1.25;
const FOURTH: f64 = 1.0 / 0.35;

/// What is divided in the four ranges, and by what.
const OVER_1: [f64; 5] = [
    1.283_791_670_955_125_6e-1,
    -3.250_421_072_470_015e-1,
    -2.848_174_957_559_851e-2,
    -5.770_270_296_489_442e-3,
    -2.376_301_665_665_016_3e-5,
];
const OVER_2: [f64; 7] = [
    -2.362_118_560_752_659_4e-3,
    4.148_561_186_837_483_3e-1,
    -3.722_078_760_357_013e-1,
    3.183_466_199_011_617_5e-1,
    -1.108_946_942_823_966_8e-1,
    3.547_830_432_561_823_6e-2,
    -2.166_375_594_868_791e-3,
];
const OVER_3: [f64; 8] = [
    -9.864_944_034_847_148e-3,
    -6.938_585_727_071_818e-1,
    -1.055_862_622_532_329_1e1,
    -6.237_533_245_032_600_6e1,
    -1.623_966_694_625_734_7e2,
    -1.846_050_929_067_110_4e2,
    -8.128_743_550_630_66e1,
    -9.814_329_344_169_146,
];
const OVER_4: [f64; 7] = [
    -9.864_942_924_700_1e-3,
    -7.992_832_376_805_23e-1,
    -1.775_795_491_775_475_2e1,
    -1.606_363_848_558_219_2e2,
    -6.375_664_433_683_896e2,
    -1.025_095_131_611_077_2e3,
    -4.835_191_916_086_514e2,
];
const UNDER_1: [f64; 6] = [
    1.0,
    3.979_172_239_591_553_5e-1,
    6.502_224_998_876_73e-2,
    5.081_306_281_875_766e-3,
    1.324_947_380_043_216_4e-4,
    -3.960_228_278_775_368e-6,
];
const UNDER_2: [f64; 7] = [
    1.0,
    1.064_208_804_008_442_3e-1,
    5.403_979_177_021_71e-1,
    7.182_865_441_419_627e-2,
    1.261_712_198_087_616_4e-1,
    1.363_708_391_202_905e-2,
    1.198_449_984_679_910_7e-2,
];
const UNDER_3: [f64; 9] = [
    1.0,
    1.965_127_166_743_925_7e1,
    1.376_577_541_435_190_4e2,
    4.345_658_774_752_292_3e2,
    6.453_872_717_332_679e2,
    4.290_081_400_275_678_3e2,
    1.086_350_055_417_794_4e2,
    6.570_249_770_319_282,
    -6.042_441_521_485_81e-2,
];
const UNDER_4: [f64; 8] = [
    1.0,
    3.033_806_074_348_246e1,
    3.257_925_129_965_739e2,
    1.536_729_586_084_437e3,
    3.199_858_219_508_595_6e3,
    2.553_050_406_433_164_4e3,
    4.745_285_412_069_553_7e2,
    -2.244_095_244_658_582e1,
];
/// What the quotient of the second range is added to.
const MIDDLE: f64 = 0.845_062_911_510_467_5;

/// The value of the range that the size is in.
#[inline(always)]
fn pick(size: f64, values: [f64; 4]) -> f64 {
    let y = if size >= SECOND { values[1] } else { values[0] };
    let y = if size >= THIRD { values[2] } else { y };
    if size >= FOURTH { values[3] } else { y }
}

/// The quotient of polynomials in the range of the size, and from the third range on what the error function lacks to 1.
#[inline(always)]
fn parts(size: f64) -> (f64, f64) {
    let far = size >= THIRD;
    let square = size * size;
    let s = if far { 1.0 } else { square } / if far { square } else { 1.0 };
    let above = size - 1.0;
    let s = if (size >= SECOND) & !far { above } else { s };
    // All four cost less than to pick each coefficient.
    let over = [polynomial(s, OVER_1), polynomial(s, OVER_2), polynomial(s, OVER_3), polynomial(s, OVER_4)];
    let under = [polynomial(s, UNDER_1), polynomial(s, UNDER_2), polynomial(s, UNDER_3), polynomial(s, UNDER_4)];
    let quotient = pick(size, over) / pick(size, under);
    // exp(-size^2 - 0.5625 + quotient) / size, with what the square and the sum lost.
    let bounded = clamp_f64(size, THIRD, 28.0);
    let high = bounded * bounded;
    let low = bounded.mul_add(bounded, -high);
    let add = quotient - 0.562_5;
    let sum = add - high;
    let lost = add - (sum + high);
    (quotient, exp_of_parts_f64(sum, lost - low) / bounded)
}

/// Gives the error function, within 1 ulp. Zero keeps its sign.
#[inline(always)]
pub fn erf_f64(x: f64) -> f64 {
    let size = x.abs();
    let (quotient, lack) = parts(size);
    let (near, middle, far) = (size.mul_add(quotient, size), MIDDLE + quotient, 1.0 - lack);
    let y = if size >= SECOND { middle } else { near };
    canonical_f64(if size >= THIRD { far } else { y }.copysign(x))
}

/// Gives 1 less the error function, within 2 ulp, without the loss where that is near 0.
#[inline(always)]
pub fn erfc_f64(x: f64) -> f64 {
    let size = x.abs();
    let (quotient, lack) = parts(size);
    let negative = x < 0.0;
    let (small, half) = (1.0 - x.mul_add(quotient, x), 0.5 - (x - 0.5 + x * quotient));
    let small = if x < 0.25 { small } else { half };
    let (left, right, rest) = (1.0 + (MIDDLE + quotient), (1.0 - MIDDLE) - quotient, 2.0 - lack);
    let middle = if negative { left } else { right };
    let far = if negative { rest } else { lack };
    let y = if size >= SECOND { middle } else { small };
    canonical_f64(if size >= THIRD { far } else { y })
}

/// Gives the error function, within 0.51 ulp.
#[inline(always)]
pub fn erf_f32(x: f32) -> f32 {
    canonical_f32(erf_f64(x.into()) as f32)
}

/// Gives 1 less the error function, within 0.51 ulp.
#[inline(always)]
pub fn erfc_f32(x: f32) -> f32 {
    canonical_f32(erfc_f64(x.into()) as f32)
}

#[cfg(test)]
mod tests {
    use super::super::elementary::tests::check_bits;
    use super::*;

    #[test]
    fn every_isa_gives_the_same_bits() {
        check_bits(erf_f64);
        check_bits(erfc_f64);
    }
}
