//! Casts between dtypes, element by element.
//!
//! Float to integer truncates toward zero; NaN gives 0 and what lies outside the range its nearest end. Integer to a
//! narrower integer wraps. To bool is `x != 0`. Both as NumPy on its common platforms, made equal everywhere.

use super::map::{BlockFn, BlockKernel, Done, Number, each, predicate, spread};
use crate::tensor::Element;
use extenso_types::DType;
use half::{bf16, f16};

/// A number in another type, as the page says.
trait Cast<T> {
    fn cast(self) -> T;
}

macro_rules! casts {
    ($($from:ident)* => $to:tt) => { $(casts!(@ $from => $to);)* };
    (@ $from:ident => [$($to:ident)*]) => { $(
        impl Cast<$to> for $from {
            #[inline(always)]
            fn cast(self) -> $to {
                self as $to
            }
        }
    )* };
}
casts! { i8 i16 i32 i64 u8 u16 u32 u64 => [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64] }
casts! { f32 f64 => [f32 f64] }

/// Floats to integers: the number is brought into the range first, which vectorises where `as` does not.
macro_rules! truncations {
    ($($from:ident)* => $to:tt) => { $(truncations!(@ $from => $to);)* };
    (@ $from:ident => [$($to:ident)*]) => { $(
        impl Cast<$to> for $from {
            #[inline(always)]
            #[allow(unsafe_code)]
            fn cast(self) -> $to {
                const BITS: u32 = $to::BITS - $to::MIN.count_ones();
                const LOW: $from = $to::MIN as $from;
                // The largest float in the range: as many of the highest bits as a float has.
                const HIGH: $from = {
                    let lost = BITS.saturating_sub($from::MANTISSA_DIGITS);
                    ($to::MAX >> lost << lost) as $from
                };
                let inside = if self >= LOW { self } else { LOW };
                let inside = if inside <= HIGH { inside } else { HIGH };
                // SAFETY: the number is in the range, and no NaN.
                let whole: $to = unsafe { inside.to_int_unchecked() };
                let whole = if self > HIGH { $to::MAX } else { whole };
                if self.is_nan() { 0 } else { whole }
            }
        }
    )* };
}
truncations! { f32 f64 => [i8 i16 i32 i64 u8 u16 u32 u64] }

macro_rules! to {
    ($from:ty => $($d:ident $t:ty),*; $to:expr) => {
        match $to {
            $(DType::$d => {
                each!(|x: $from| -> $t { <$t as Number>::narrow(Cast::cast(x.widen())) });
                fn run(ins: &[&[u8]], out: &mut [u8], _n: usize) -> Done {
                    each(bytemuck::cast_slice::<u8, $from>(ins[0]), bytemuck::cast_slice_mut::<u8, $t>(out));
                    Ok(())
                }
                Some(run as BlockFn)
            })*
            DType::Bool => Some(predicate!($from; |x| x != (0 as <$from as Number>::Wide)).run),
            DType::String | DType::Bytes | DType::Variant => None,
        }
    };
}

macro_rules! from {
    ($from:expr, $to:expr; $($d:ident $t:ty),*) => {
        match $from {
            $(DType::$d => to!($t => I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16, BF16 bf16, F32 f32, F64 f64; $to),)*
            DType::Bool => from_bits($to),
            DType::String | DType::Bytes | DType::Variant => None,
        }
    };
}

/// The kernel that casts one dtype to another, if there is one.
pub fn cast(from: DType, to: DType) -> Option<BlockKernel> {
    let run = from!(from, to; I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16, BF16 bf16, F32 f32, F64 f64)?;
    Some(BlockKernel::new(to, run))
}

fn from_bits(to: DType) -> Option<BlockFn> {
    macro_rules! numbers {
        ($($d:ident $t:ty),*) => {
            match to {
                $(DType::$d => {
                    fn run(ins: &[&[u8]], out: &mut [u8], _n: usize) -> Done {
                        let (zero, one) = (<$t as Number>::narrow(0 as _), <$t as Number>::narrow(1 as _));
                        spread(bytemuck::cast_slice(ins[0]), bytemuck::cast_slice_mut::<u8, $t>(out), zero, one);
                        Ok(())
                    }
                    Some(run as BlockFn)
                })*
                DType::Bool => {
                    fn run(ins: &[&[u8]], out: &mut [u8], _n: usize) -> Done {
                        out.copy_from_slice(&ins[0][..out.len()]);
                        Ok(())
                    }
                    Some(run as BlockFn)
                }
                DType::String | DType::Bytes | DType::Variant => None,
            }
        };
    }
    numbers!(I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16, BF16 bf16, F32 f32, F64 f64)
}

/// Fills `out` with copies of the element in `one`.
pub fn fill<T: Element>(one: &[u8], out: &mut [u8]) {
    if let Some(&value) = bytemuck::cast_slice::<u8, T>(one).first() {
        bytemuck::cast_slice_mut::<u8, T>(out).fill(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_become_integers_as_the_language_has_it() {
        macro_rules! check {
            ($($from:ident)* => $to:tt) => { $(check!(@ $from => $to);)* };
            (@ $from:ident => [$($to:ident)*]) => { $(
                let ends = [$to::MIN as $from, $to::MAX as $from, 0.0, 0.5, -0.5, 1.0, 1e30, 3.4e38];
                let near = |x: $from| [x, -x, x.next_up(), x.next_down(), x + 0.5, x - 0.75];
                let edges = [$from::NAN, -$from::NAN, $from::INFINITY, $from::NEG_INFINITY, $from::MIN_POSITIVE];
                let steps = (0..3000_u16).map(|i| (<$from>::from(i) - 1500.0) * 0.37);
                for x in ends.into_iter().flat_map(near).chain(edges).chain(steps) {
                    assert_eq!(<$from as Cast<$to>>::cast(x), x as $to, "{x} to {}", stringify!($to));
                }
            )* };
        }
        check! { f32 f64 => [i8 i16 i32 i64 u8 u16 u32 u64] }
    }
}
