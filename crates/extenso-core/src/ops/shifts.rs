//! Bits moved within integers, and what completes the logic and the signs.

use super::math::faulty_ints;
use crate::attrs::AttrSet;
use crate::grad::one;
use crate::kernels::map::{BlockKernel, Done, Fault, map};
use crate::op::Fact::{Commutes, Idempotent, Linear, Partial};
use crate::op::OpDef;
use extenso_types::DType;

crate::ops! {
    /// Shifts and signs.
    pub static SHIFTS;

    /// The bits of `x` moved `y` places toward the highest, with broadcasting; zeros enter, and what leaves is lost.
    ///
    /// By as many places as the dtype has bits, or more, it is 0. Errors: a negative number of places, with its position.
    BITWISE_LEFT_SHIFT: bitwise_left_shift(x, y) = OpDef::binary(left_kernel)
        .facts(&[Partial])
        .instead("Multiply floats by powers of 2.")
        .examples(&[("bitwise_left_shift([1, 3], 2)", "[4, 12]")]);

    /// The bits of `x` moved `y` places toward the lowest, with broadcasting; the sign enters, and what leaves is lost.
    ///
    /// By as many places as the dtype has bits, or more, it is 0, or -1 for what is negative. Errors: a negative number of
    /// places, with its position.
    BITWISE_RIGHT_SHIFT: bitwise_right_shift(x, y) = OpDef::binary(right_kernel)
        .facts(&[Partial])
        .instead("Divide floats by powers of 2.")
        .examples(&[("bitwise_right_shift([5, -5], 1)", "[2, -3]")]);

    /// Whether one of both is true, and not the other.
    LOGICAL_XOR: logical_xor(x, y) = OpDef::binary(map!(bits: |x, y| x ^ y))
        .facts(&[Commutes])
        .examples(&[("logical_xor([True, True], [True, False])", "[False, True]")]);

    /// Numbers as they are.
    POSITIVE: positive(x) = OpDef::unary(map!(ints: |x| x; floats: |x| x))
        .facts(&[Idempotent, Linear])
        .grad(|cx| one(Ok(cx.g().clone())))
        .examples(&[("positive([1.5, -2.0])", "[1.5, -2.0]")]);
}

fn left_kernel(dtypes: &[DType], _: &dyn AttrSet) -> Option<BlockKernel> {
    faulty_ints!(dtypes; "a number of places is negative" if |places| places < 0; |x, y| {
        places(y).and_then(|places| x.checked_shl(places)).unwrap_or(0)
    }; I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64);
    None
}

fn right_kernel(dtypes: &[DType], _: &dyn AttrSet) -> Option<BlockKernel> {
    faulty_ints!(dtypes; "a number of places is negative" if |places| places < 0; |x, y| {
        let gone = if x < 0 { !0 } else { 0 };
        places(y).and_then(|places| x.checked_shr(places)).unwrap_or(gone)
    }; I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64);
    None
}

/// A number of places, unless it is more than any dtype has bits.
fn places<T: TryInto<u32>>(y: T) -> Option<u32> {
    y.try_into().ok()
}
