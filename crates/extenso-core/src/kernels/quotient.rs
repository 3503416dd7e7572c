//! Quotients of integers by one divisor, a multiplication and a shift, and floors of quotients of floats.
//!
//! Invariant: the quotient of integers is exact for every dividend. A negative dividend is taken as its complement, which is not negative, and so
//! is the floor of the quotient.
//!
//! Source: Granlund and Montgomery, "Division by Invariant Integers using Multiplication", 1994.

use super::isa::multiversion;

/// Integers that are divided by one divisor above zero.
pub trait Divided: Copy + PartialEq {
    /// Writes the floors of the quotients; gives whether it can, which it cannot by every divisor.
    fn quotients(x: &[Self], by: Self, out: &mut [Self]) -> bool;
    /// Writes what is left of the division, from 0 on; gives whether it can.
    fn remainders(x: &[Self], by: Self, out: &mut [Self]) -> bool;
}

/// Whether there is one divisor for all; the elements are compared some at a time.
#[inline(always)]
pub fn same<T: Copy + PartialEq>(divisors: &[T]) -> Option<T> {
    let (&first, rest) = divisors.split_first()?;
    let is_same = |part: &[T]| part.iter().fold(true, |same, y| same & (*y == first));
    (rest.len() > FEW && rest.chunks(FEW).all(is_same)).then_some(first)
}

/// Floats of which there are floors of quotients.
pub trait FloorQuotient: Copy {
    /// The largest whole number that is not above the exact quotient: that which `%` leaves a rest of.
    fn floor_quotient(self, by: Self) -> Self;
}

macro_rules! floats {
    ($($T:ident)*) => {$(
        impl FloorQuotient for $T {
            #[inline(always)]
            fn floor_quotient(self, by: $T) -> $T {
                let quotient = self / by;
                let (below, near) = (quotient.floor(), quotient.abs() * (2.0 * $T::EPSILON));
                let is_between = quotient - below > near && below + 1.0 - quotient > near;
                if is_between || !quotient.is_finite() || self == 0.0 || by.is_infinite() {
                    return below;
                }
                // The quotient is rounded, and may be a whole number that the exact one is not.
                let rest = self % by;
                let exact = (self - rest) / by;
                let exact = if rest != 0.0 && (rest < 0.0) != (by < 0.0) { exact - 1.0 } else { exact };
                let whole = exact.round();
                if whole == 0.0 { whole.copysign(quotient) } else { whole }
            }
        }
    )*};
}
floats!(f32 f64);

/// So few elements that the factor is not worth its division.
const FEW: usize = 16;

macro_rules! narrow {
    ($($T:ident $quotients:ident $remainders:ident;)*) => {$(
        impl Divided for $T {
            fn quotients(x: &[$T], by: $T, out: &mut [$T]) -> bool {
                let Some((factor, shift)) = factor_of_32(i64::from(by)) else { return false };
                $quotients(x, factor, shift, out);
                true
            }
            fn remainders(x: &[$T], by: $T, out: &mut [$T]) -> bool {
                let Some((factor, shift)) = factor_of_32(i64::from(by)) else { return false };
                $remainders(x, by, factor, shift, out);
                true
            }
        }

        multiversion! {
            fn $quotients(x: &[$T], factor: u64, shift: u32, out: &mut [$T]) {
                for (out, x) in out.iter_mut().zip(x) {
                    *out = quotient_of_32(*x as i32, factor, shift) as $T;
                }
            }

            fn $remainders(x: &[$T], by: $T, factor: u64, shift: u32, out: &mut [$T]) {
                for (out, x) in out.iter_mut().zip(x) {
                    *out = x.wrapping_sub((quotient_of_32(*x as i32, factor, shift) as $T).wrapping_mul(by));
                }
            }
        }
    )*};
}
narrow! {
    i8 quotients_i8 remainders_i8;
    i16 quotients_i16 remainders_i16;
    i32 quotients_i32 remainders_i32;
    u8 quotients_u8 remainders_u8;
    u16 quotients_u16 remainders_u16;
}

/// The factor and the shift for dividends below 2^31: the power of two at or above the divisor times 2^31, over the divisor.
fn factor_of_32(by: i64) -> Option<(u64, u32)> {
    let by = u64::try_from(by).ok().filter(|by| *by > 0)?;
    let log = u64::BITS - (by - 1).leading_zeros();
    Some(((1_u64 << (31 + log)).div_ceil(by), 31 + log))
}

#[inline(always)]
fn quotient_of_32(x: i32, factor: u64, shift: u32) -> i32 {
    let sign = x >> 31;
    ((u64::from((x ^ sign).cast_unsigned()) * factor) >> shift) as i32 ^ sign
}

impl Divided for i64 {
    fn quotients(x: &[i64], by: i64, out: &mut [i64]) -> bool {
        let Some((factor, shift)) = factor_of_64(by) else { return false };
        quotients_i64(x, factor, shift, out);
        true
    }

    fn remainders(x: &[i64], by: i64, out: &mut [i64]) -> bool {
        let Some((factor, shift)) = factor_of_64(by) else { return false };
        remainders_i64(x, by, factor, shift, out);
        true
    }
}

multiversion! {
    fn quotients_i64(x: &[i64], factor: u64, shift: u32, out: &mut [i64]) {
        for (out, x) in out.iter_mut().zip(x) {
            *out = quotient_of_64(*x, factor, shift);
        }
    }

    fn remainders_i64(x: &[i64], by: i64, factor: u64, shift: u32, out: &mut [i64]) {
        for (out, x) in out.iter_mut().zip(x) {
            *out = x.wrapping_sub(quotient_of_64(*x, factor, shift).wrapping_mul(by));
        }
    }
}

/// The same for dividends below 2^63; the shift is that of the upper half of the product, which 1 has not.
fn factor_of_64(by: i64) -> Option<(u64, u32)> {
    let by = u64::try_from(by).ok().filter(|by| *by > 1)?;
    let log = u64::BITS - (by - 1).leading_zeros();
    let factor = (1_u128 << (63 + log)).div_ceil(u128::from(by));
    Some((u64::try_from(factor).ok()?, log - 1))
}

#[inline(always)]
fn quotient_of_64(x: i64, factor: u64, shift: u32) -> i64 {
    let sign = x >> 63;
    let product = u128::from((x ^ sign).cast_unsigned()) * u128::from(factor);
    ((product >> 64) as u64 >> shift).cast_signed() ^ sign
}

macro_rules! divided_one_by_one {
    ($($T:ident)*) => {$(
        impl Divided for $T {
            fn quotients(_: &[$T], _: $T, _: &mut [$T]) -> bool {
                false
            }
            fn remainders(_: &[$T], _: $T, _: &mut [$T]) -> bool {
                false
            }
        }
    )*};
}
divided_one_by_one! { u32 u64 }

#[cfg(test)]
mod tests {
    use super::super::isa::{supported, with_isa};
    use super::*;

    macro_rules! check {
        ($T:ident) => {{
            let ends = [$T::MIN, $T::MAX, $T::MIN + 1, $T::MAX - 1, 0, 1, 2, 3, 5, 7, 10, 11, 64, 100, 127];
            let power = |i: u32| (1 as $T) << i;
            let powers = (0..$T::BITS - 1).flat_map(|i| [power(i), power(i).wrapping_neg(), !power(i)]);
            let near = |x: $T| [x.wrapping_sub(1), x, x.wrapping_add(1)];
            let numbers: Vec<$T> = ends.into_iter().chain(powers).flat_map(near).collect();
            for &by in numbers.iter().filter(|by| **by > 0) {
                let products = numbers.iter().flat_map(|x| near(x.wrapping_mul(by)));
                let x: Vec<$T> = numbers.iter().copied().chain(products).collect();
                for &isa in supported() {
                    let (mut quotients, mut remainders) = (vec![0; x.len()], vec![0; x.len()]);
                    if with_isa(isa, || !$T::quotients(&x, by, &mut quotients)) {
                        continue;
                    }
                    assert!(with_isa(isa, || $T::remainders(&x, by, &mut remainders)));
                    for (i, x) in x.iter().enumerate() {
                        let wanted = (x.div_euclid(by), x.rem_euclid(by));
                        assert_eq!((quotients[i], remainders[i]), wanted, "{x} by {by}, {isa}");
                    }
                }
            }
        }};
    }

    #[test]
    fn quotients_are_exact() {
        check!(i8);
        check!(i16);
        check!(i32);
        check!(i64);
        check!(u8);
        check!(u16);
    }

    #[test]
    fn one_divisor_is_found_if_it_is_the_same_for_all() {
        assert_eq!(same(&[7; 40]), Some(7));
        let mut mixed = [7; 40];
        mixed[39] = 8;
        assert_eq!(same(&mixed), None);
    }
}
