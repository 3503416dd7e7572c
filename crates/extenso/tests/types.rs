//! What every public type of values owes its user.

use extenso::prelude::*;
use extenso::{
    Bool8Tensor, CategoricalTensor, DateTensor, DecimalTensor, DurationTensor, Error, Ext, FixedBytesTensor, Index,
    IntervalTensor, JsonTensor, Literal, OpaqueExtension, Scalar, Target, TimeTensor, TimestampTensor, UnionChild,
    UnionTensor,
};
use std::fmt::Debug;

fn owes<T: Debug + Clone + Send + Sync>() {}

#[test]
fn values_are_shown_cloned_and_used_by_any_thread() {
    owes::<(Arg, Ext, Index, Literal, OpaqueExtension, Scalar, Target, Value, Variable)>();
    owes::<(MaskedTensor, RaggedTensor, RowPartition, StructTensor, Tensor, UnionChild, UnionTensor)>();
    owes::<(DateTensor, DurationTensor, IntervalTensor, TimeTensor, TimestampTensor)>();
    owes::<(Bool8Tensor, CategoricalTensor, DecimalTensor, FixedBytesTensor, JsonTensor)>();
    owes::<(DType, Dim, Error, FieldSpec, Nest<Value>, OnError, Path, Shape, Spec, TensorSpec)>();
}

#[test]
fn a_function_is_shown_by_its_name_and_its_traces() {
    let f = Function::new("same", Ok);
    assert_eq!(format!("{f:?}"), "<function same, 0 traces>");
}
