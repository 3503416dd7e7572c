//! Logic on the bits of integers, and on booleans, which have one bit.

use crate::attrs::AttrSet;
use crate::kernels::map::{BlockKernel, map};
use crate::op::Fact::{Commutes, Involution};
use crate::op::OpDef;
use extenso_types::DType;

crate::ops! {
    /// Logic on bits.
    pub static BITWISE;

    /// The bits that both have, with broadcasting; of booleans, whether both are true.
    BITWISE_AND: bitwise_and(x, y) = OpDef::binary(and_kernel)
        .facts(&[Commutes])
        .instead("Compare floats first: `greater(x, 0)`.")
        .examples(&[("bitwise_and([6, 5], 3)", "[2, 1]"), ("bitwise_and([True, True], [True, False])", "[True, False]")]);

    /// The bits that one or both have, with broadcasting; of booleans, whether one or both are true.
    BITWISE_OR: bitwise_or(x, y) = OpDef::binary(or_kernel)
        .facts(&[Commutes])
        .instead("Compare floats first: `greater(x, 0)`.")
        .examples(&[("bitwise_or([6, 5], 3)", "[7, 7]"), ("bitwise_or([False, True], [False, False])", "[False, True]")]);

    /// The bits that one of both has alone, with broadcasting; of booleans, whether they differ.
    BITWISE_XOR: bitwise_xor(x, y) = OpDef::binary(xor_kernel)
        .facts(&[Commutes])
        .instead("Compare floats first: `greater(x, 0)`.")
        .examples(&[("bitwise_xor([6, 5], 3)", "[5, 6]"), ("bitwise_xor([True, True], [True, False])", "[False, True]")]);

    /// The other bits; of booleans, whether it is false.
    BITWISE_INVERT: bitwise_invert(x) = OpDef::unary(invert_kernel)
        .facts(&[Involution])
        .instead("Compare floats first: `greater(x, 0)`.")
        .examples(&[("bitwise_invert([0, -3])", "[-1, 2]"), ("bitwise_invert([True, False])", "[False, True]")]);
}

fn and_kernel(dtypes: &[DType], attrs: &dyn AttrSet) -> Option<BlockKernel> {
    map!(ints: |x, y| x & y)(dtypes, attrs).or_else(|| map!(bits: |x, y| x & y)(dtypes, attrs))
}

fn or_kernel(dtypes: &[DType], attrs: &dyn AttrSet) -> Option<BlockKernel> {
    map!(ints: |x, y| x | y)(dtypes, attrs).or_else(|| map!(bits: |x, y| x | y)(dtypes, attrs))
}

fn xor_kernel(dtypes: &[DType], attrs: &dyn AttrSet) -> Option<BlockKernel> {
    map!(ints: |x, y| x ^ y)(dtypes, attrs).or_else(|| map!(bits: |x, y| x ^ y)(dtypes, attrs))
}

fn invert_kernel(dtypes: &[DType], attrs: &dyn AttrSet) -> Option<BlockKernel> {
    map!(ints: |x| !x)(dtypes, attrs).or_else(|| map!(bits: |x| !x)(dtypes, attrs))
}
