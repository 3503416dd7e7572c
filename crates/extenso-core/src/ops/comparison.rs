//! Comparisons and logic, elementwise.

use super::elementwise_text as text;
use crate::attrs::AttrSet;
use crate::kernels::map::{BlockKernel, map};
use crate::op::Fact::{Commutes, Involution};
use crate::op::OpDef;
use extenso_types::DType;

crate::ops! {
    /// Comparisons and logic.
    pub static COMPARISONS;

    /// Whether elements are equal. NaN equals nothing.
    EQUAL: equal(x, y) = OpDef::comparison(equal_kernel)
        .text(text::infer_comparison, text::equal)
        .facts(&[Commutes])
        .examples(&[("equal([1, 2], [1, 3])", "[True, False]")]);

    /// Whether elements differ. NaN differs from everything.
    NOT_EQUAL: not_equal(x, y) = OpDef::comparison(not_equal_kernel)
        .text(text::infer_comparison, text::not_equal)
        .facts(&[Commutes])
        .examples(&[("not_equal([1, 2], [1, 3])", "[False, True]")]);

    /// Whether elements of `x` are below those of `y`. Strings are in the order of their code points; false is below true.
    LESS: less(x, y) = OpDef::comparison(less_kernel)
        .text(text::infer_comparison, text::less)
        .examples(&[("less([1, 2], [2, 2])", "[True, False]")]);

    /// Whether elements of `x` are below those of `y` or equal to them. Strings are in the order of their code points.
    LESS_EQUAL: less_equal(x, y) = OpDef::comparison(less_equal_kernel)
        .text(text::infer_comparison, text::less_equal)
        .examples(&[("less_equal([1, 2], [2, 2])", "[True, True]")]);

    /// Whether elements of `x` are above those of `y`. Strings are in the order of their code points.
    GREATER: greater(x, y) = OpDef::comparison(greater_kernel)
        .text(text::infer_comparison, text::greater)
        .examples(&[("greater([1.0, 3.0], 2.0)", "[False, True]")]);

    /// Whether elements of `x` are above those of `y` or equal to them. Strings are in the order of their code points.
    GREATER_EQUAL: greater_equal(x, y) = OpDef::comparison(greater_equal_kernel)
        .text(text::infer_comparison, text::greater_equal)
        .examples(&[("greater_equal([1.0, 2.0], 2.0)", "[False, True]")]);

    /// Whether both are true.
    LOGICAL_AND: logical_and(x, y) = OpDef::binary(map!(bits: |x, y| x & y))
        .facts(&[Commutes])
        .examples(&[("logical_and([True, True], [True, False])", "[True, False]")]);

    /// Whether one or both are true.
    LOGICAL_OR: logical_or(x, y) = OpDef::binary(map!(bits: |x, y| x | y))
        .facts(&[Commutes])
        .examples(&[("logical_or([False, True], [False, False])", "[False, True]")]);

    /// Whether it is false.
    LOGICAL_NOT: logical_not(x) = OpDef::unary(map!(bits: |x| !x))
        .facts(&[Involution])
        .examples(&[("logical_not([True, False])", "[False, True]")]);
}

fn equal_kernel(dtypes: &[DType], attrs: &dyn AttrSet) -> Option<BlockKernel> {
    map!(test numbers: |x, y| x == y)(dtypes, attrs).or_else(|| map!(bits: |x, y| !(x ^ y))(dtypes, attrs))
}

fn not_equal_kernel(dtypes: &[DType], attrs: &dyn AttrSet) -> Option<BlockKernel> {
    map!(test numbers: |x, y| x != y)(dtypes, attrs).or_else(|| map!(bits: |x, y| x ^ y)(dtypes, attrs))
}

fn less_kernel(dtypes: &[DType], attrs: &dyn AttrSet) -> Option<BlockKernel> {
    map!(test numbers: |x, y| x < y)(dtypes, attrs).or_else(|| map!(bits: |x, y| !x & y)(dtypes, attrs))
}

fn less_equal_kernel(dtypes: &[DType], attrs: &dyn AttrSet) -> Option<BlockKernel> {
    map!(test numbers: |x, y| x <= y)(dtypes, attrs).or_else(|| map!(bits: |x, y| !x | y)(dtypes, attrs))
}

fn greater_kernel(dtypes: &[DType], attrs: &dyn AttrSet) -> Option<BlockKernel> {
    map!(test numbers: |x, y| x > y)(dtypes, attrs).or_else(|| map!(bits: |x, y| x & !y)(dtypes, attrs))
}

fn greater_equal_kernel(dtypes: &[DType], attrs: &dyn AttrSet) -> Option<BlockKernel> {
    map!(test numbers: |x, y| x >= y)(dtypes, attrs).or_else(|| map!(bits: |x, y| x | !y)(dtypes, attrs))
}
