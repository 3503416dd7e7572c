//! How values of types under a meaning show themselves: as any value of an extension type does, by what they are.

use crate::categorical::CategoricalTensor;
use crate::decimal::DecimalTensor;
use crate::logical::{Bool8Tensor, FixedBytesTensor, JsonTensor};
use crate::temporal::{DateTensor, DurationTensor, IntervalTensor, TimeTensor, TimestampTensor};
use crate::union::UnionTensor;
use extenso_core::ExtensionType;
use std::fmt;

macro_rules! shown {
    ($($value:ty)*) => { $(
        impl fmt::Debug for $value {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.clone().into_value(), f)
            }
        }
    )* };
}
shown! { CategoricalTensor DecimalTensor Bool8Tensor FixedBytesTensor JsonTensor UnionTensor }
shown! { DateTensor DurationTensor IntervalTensor TimeTensor TimestampTensor }
