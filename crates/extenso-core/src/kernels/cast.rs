//! Casts between dtypes, element by element.
//!
//! Float to integer truncates toward zero; NaN gives 0 and what lies outside the range its nearest end. Integer to a
//! narrower integer wraps. To bool is `x != 0`. Both as NumPy on its common platforms, made equal everywhere.

use super::map::{BlockFn, BlockKernel, Done, Number, each, predicate, spread};
use crate::tensor::Element;
use extenso_types::DType;
use half::{bf16, f16};

macro_rules! to {
    ($from:ty => $($d:ident $t:ty),*; $to:expr) => {
        match $to {
            $(DType::$d => {
                each!(|x: $from| -> $t { <$t as Number>::narrow(x.widen() as <$t as Number>::Wide) });
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
