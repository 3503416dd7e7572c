//! The floats that matrices are made of, and what chains over them are carried in.
//!
//! Invariant: f16 and bf16 are carried in f32 and rounded once; a NaN is the canonical one, and a zero that chains end in is +0.

use super::super::elementary::{bf16_to_f32, canonical_f32, canonical_f64, f16_to_f32, f32_to_bf16, f32_to_f16};
use super::super::isa::Isa;
use super::turn::{self, Squares};
use half::{bf16, f16};

/// A float that matrices are made of.
pub trait Float: Copy + Send + Sync + 'static {
    /// What a chain is carried in.
    type Acc: Chain;
    /// The number, exactly.
    fn widen(self) -> Self::Acc;
    /// The number that is nearest to a chain.
    fn round(acc: Self::Acc) -> Self;
    /// The slice itself, if chains are carried in this very type.
    fn carried(x: &[Self]) -> Option<&[Self::Acc]>;
    /// The slice itself, if chains are carried in this very type.
    fn carried_mut(x: &mut [Self]) -> Option<&mut [Self::Acc]>;
}

/// A float that chains are carried in.
pub trait Chain: Copy + Default + PartialEq + std::ops::Add<Output = Self> + Send + Sync + 'static {
    /// `self * y + acc`, rounded once.
    fn fma(self, y: Self, acc: Self) -> Self;
    /// The number itself, one NaN for all, and one zero.
    fn canonical(self) -> Self;
    /// Whether the number is neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// How many rows an instruction set turns at once, and the function that does, if there is one.
    fn squares(isa: Isa) -> Option<(usize, Squares<Self>)>;
}

macro_rules! floats {
    ($($T:ident in $Acc:ident: $widen:expr, $round:expr, $carried:expr;)*) => {$(
        impl Float for $T {
            type Acc = $Acc;
            #[inline(always)]
            fn widen(self) -> $Acc {
                ($widen)(self)
            }
            #[inline(always)]
            fn round(acc: $Acc) -> $T {
                ($round)(acc)
            }
            fn carried(x: &[$T]) -> Option<&[$Acc]> {
                ($carried)(x)
            }
            fn carried_mut(x: &mut [$T]) -> Option<&mut [$Acc]> {
                ($carried)(x)
            }
        }
    )*};
}
floats! {
    f32 in f32: |x| x, Chain::canonical, Some;
    f64 in f64: |x| x, Chain::canonical, Some;
    f16 in f32: f16_to_f32, |x| f32_to_f16(Chain::canonical(x)), |_| None;
    bf16 in f32: bf16_to_f32, |x| f32_to_bf16(Chain::canonical(x)), |_| None;
}

macro_rules! chains {
    ($($T:ident: $canonical:ident, $of_avx2:literal $avx2:ident, $of_avx512:literal $avx512:ident;)*) => {$(
        impl Chain for $T {
            #[inline(always)]
            fn fma(self, y: $T, acc: $T) -> $T {
                self.mul_add(y, acc)
            }
            #[inline(always)]
            fn canonical(self) -> $T {
                $canonical(self + 0.0)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $T::is_finite(self)
            }
            #[cfg(target_arch = "x86_64")]
            fn squares(isa: Isa) -> Option<(usize, Squares<$T>)> {
                match isa {
                    Isa::Avx512 => Some(($of_avx512, turn::$avx512)),
                    Isa::Avx2 => Some(($of_avx2, turn::$avx2)),
                    Isa::Baseline => None,
                }
            }
            #[cfg(not(target_arch = "x86_64"))]
            fn squares(_: Isa) -> Option<(usize, Squares<$T>)> {
                None
            }
        }
    )*};
}
chains! {
    f32: canonical_f32, 8 f32_avx2, 16 f32_avx512;
    f64: canonical_f64, 4 f64_avx2, 8 f64_avx512;
}
