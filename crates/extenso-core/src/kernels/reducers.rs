//! What a reduction does with the elements of a dtype: sum, product, maximum and minimum.
//!
//! Invariant: combining with the identity changes no bit of an accumulator that a reduction can reach.

use super::elementary::{bf16_to_f32, canonical_f32, canonical_f64, f16_to_f32, f32_to_bf16, f32_to_f16};
use half::{bf16, f16};

/// What a reduction does with elements of type `T`.
pub trait Reducer<T>: Copy + 'static {
    /// What is carried.
    type Acc: Lane;
    /// What comes out.
    type Out: Copy + Send + Sync + 'static;
    /// The accumulator of no elements.
    const IDENTITY: Self::Acc;
    /// What one element contributes.
    fn load(x: T) -> Self::Acc;
    /// Two neighbours meet; `a` holds the elements before those of `b`.
    fn combine(a: Self::Acc, b: Self::Acc) -> Self::Acc;
    /// The result.
    fn finish(acc: Self::Acc) -> Self::Out;
}

/// What is carried along a lane, and what counts of elements that may lie behind a row.
///
/// Masks are numbers and not booleans: with those the compiler loads by mask, which takes processors several times as long as
/// loading all and keeping some. Comparisons with a length would become a chain of branches.
pub trait Lane: Copy + Send + Sync + 'static {
    /// A mask: all bits or none.
    type Mask: Copy + 'static;
    /// Masks of all bits before the middle and of none behind it: n before the middle begin the masks of n elements.
    const TAKEN: &'static [Self::Mask; 2 * SHORT];
    /// This if the mask has all bits, `other` if it has none.
    fn where_taken(self, mask: Self::Mask, other: Self) -> Self;
}

/// The elements that masks reach.
pub const SHORT: usize = 64;

macro_rules! lanes {
    ($($T:ty as $Mask:ty: |$x:ident| $bits:expr, $of_bits:expr;)*) => {$(
        impl Lane for $T {
            type Mask = $Mask;
            const TAKEN: &'static [$Mask; 2 * SHORT] = {
                static TAKEN: [$Mask; 2 * SHORT] = {
                    let mut taken = [0; 2 * SHORT];
                    let mut at = 0;
                    while at < SHORT {
                        taken[at] = <$Mask>::MAX;
                        at += 1;
                    }
                    taken
                };
                &TAKEN
            };
            #[inline(always)]
            fn where_taken(self, mask: $Mask, other: $T) -> $T {
                let bits = |$x: $T| -> $Mask { $bits };
                ($of_bits)(bits(self) & mask | bits(other) & !mask)
            }
        }
    )*};
}
lanes! {
    i8 as u8: |x| x as u8, |bits| bits as i8;
    u8 as u8: |x| x, |bits| bits;
    i16 as u16: |x| x as u16, |bits| bits as i16;
    u16 as u16: |x| x, |bits| bits;
    i32 as u32: |x| x as u32, |bits| bits as i32;
    u32 as u32: |x| x, |bits| bits;
    i64 as u64: |x| x as u64, |bits| bits as i64;
    u64 as u64: |x| x, |bits| bits;
    f32 as u32: |x| x.to_bits(), f32::from_bits;
    f64 as u64: |x| x.to_bits(), f64::from_bits;
}

/// The sum: floats give their own type, integers 64 bits of their own sign. The sum of nothing is 0.
#[derive(Clone, Copy, Debug)]
pub struct Sum;

/// The sum of the upper 32 bits of integers of 64 bits.
#[derive(Clone, Copy, Debug)]
pub struct SumHigh;

/// The product, typed as the sum. The product of nothing is 1.
#[derive(Clone, Copy, Debug)]
pub struct Prod;

/// The greatest element. Of nothing, minus infinity for floats and the least number for integers.
#[derive(Clone, Copy, Debug)]
pub struct Max;

/// The least element. Of nothing, infinity for floats and the greatest number for integers.
#[derive(Clone, Copy, Debug)]
pub struct Min;

macro_rules! reducer {
    ($R:ident<$T:ty>, $Acc:ty => $Out:ty: $identity:expr, $load:expr, $combine:expr, $finish:expr) => {
        impl Reducer<$T> for $R {
            type Acc = $Acc;
            type Out = $Out;
            const IDENTITY: $Acc = $identity;
            #[inline(always)]
            fn load(x: $T) -> $Acc {
                ($load)(x)
            }
            #[inline(always)]
            fn combine(a: $Acc, b: $Acc) -> $Acc {
                ($combine)(a, b)
            }
            #[inline(always)]
            fn finish(acc: $Acc) -> $Out {
                ($finish)(acc)
            }
        }
    };
}

macro_rules! floats {
    ($($T:ident in $Acc:ident: $widen:expr, $round:expr; by $Key:ident as $Unsigned:ident, $turn:ident;)*) => {$(
        reducer!(Sum<$T>, $Acc => $T: 0.0, $widen, |a, b| a + b, $round);
        reducer!(Prod<$T>, $Acc => $T: 1.0, $widen, |a, b| a * b, $round);
        // The extremes work on an integer that orders as the float does; a NaN becomes the extreme of the integers.
        reducer!(Max<$T>, $Key => $T: $turn($T::NEG_INFINITY.to_bits() as $Key),
            |x: $T| if x.is_nan() { $Key::MAX } else { $turn(x.to_bits() as $Key) }, Ord::max,
            |acc| if acc == $Key::MAX { $T::NAN } else { $T::from_bits($turn(acc) as $Unsigned) });
        reducer!(Min<$T>, $Key => $T: $turn($T::INFINITY.to_bits() as $Key),
            |x: $T| if x.is_nan() { $Key::MIN } else { $turn(x.to_bits() as $Key) }, Ord::min,
            |acc| if acc == $Key::MIN { $T::NAN } else { $T::from_bits($turn(acc) as $Unsigned) });
    )*};
}
floats! {
    f32 in f32: |x| x, canonical_f32; by i32 as u32, turn_i32;
    f64 in f64: |x| x, canonical_f64; by i64 as u64, turn_i64;
    f16 in f32: f16_to_f32, f32_to_f16; by i16 as u16, turn_i16;
    bf16 in f32: bf16_to_f32, f32_to_bf16; by i16 as u16, turn_i16;
}

macro_rules! turns {
    ($($turn:ident: $Key:ident as $Unsigned:ident;)*) => {$(
        /// Turns the bits of a float into an integer that orders as floats do, -0 below +0, and back.
        #[inline(always)]
        const fn $turn(bits: $Key) -> $Key {
            bits ^ ((bits >> ($Key::BITS - 1)) as $Unsigned >> 1) as $Key
        }
    )*};
}
turns! {
    turn_i16: i16 as u16;
    turn_i32: i32 as u32;
    turn_i64: i64 as u64;
}

macro_rules! integers {
    ($($T:ident in $Acc:ident,)*) => {$(
        reducer!(Sum<$T>, $Acc => $Acc: 0, $Acc::from, $Acc::wrapping_add, |acc| acc);
        reducer!(Prod<$T>, $Acc => $Acc: 1, $Acc::from, $Acc::wrapping_mul, |acc| acc);
        reducer!(Max<$T>, $T => $T: $T::MIN, |x| x, Ord::max, |acc| acc);
        reducer!(Min<$T>, $T => $T: $T::MAX, |x| x, Ord::min, |acc| acc);
    )*};
}
integers!(i8 in i64, i16 in i64, i32 in i64, i64 in i64, u8 in u64, u16 in u64, u32 in u64, u64 in u64,);

reducer!(SumHigh<i64>, i64 => i64: 0, |x: i64| x >> 32, i64::wrapping_add, |acc| acc);
reducer!(SumHigh<u64>, u64 => u64: 0, |x: u64| x >> 32, u64::wrapping_add, |acc| acc);
