//! Element types of tensors.
//!
//! Invariant: the table below is the only place that knows a dtype's name, width and kind.

use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// The element type of a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)] // The variants' names are their meaning.
#[repr(u8)]
pub enum DType {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    BF16,
    F32,
    F64,
    String,
    Bytes,
    Variant,
}

/// What family of values a dtype holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DTypeKind {
    /// One bit each.
    Bool,
    /// Two's complement integers.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// Binary floating point.
    Float,
    /// UTF-8 strings and byte strings.
    Text,
    /// Boxed values.
    Variant,
}

struct Row(DType, &'static str, DTypeKind, usize);

const TABLE: [Row; 16] = {
    use DType::*;
    use DTypeKind as K;
    [
        Row(Bool, "bool", K::Bool, 0),
        Row(I8, "i8", K::Signed, 1),
        Row(I16, "i16", K::Signed, 2),
        Row(I32, "i32", K::Signed, 4),
        Row(I64, "i64", K::Signed, 8),
        Row(U8, "u8", K::Unsigned, 1),
        Row(U16, "u16", K::Unsigned, 2),
        Row(U32, "u32", K::Unsigned, 4),
        Row(U64, "u64", K::Unsigned, 8),
        Row(F16, "f16", K::Float, 2),
        Row(BF16, "bf16", K::Float, 2),
        Row(F32, "f32", K::Float, 4),
        Row(F64, "f64", K::Float, 8),
        Row(String, "string", K::Text, 0),
        Row(Bytes, "bytes", K::Text, 0),
        Row(Variant, "variant", K::Variant, 0),
    ]
};

impl DType {
    /// Every dtype, in the order of the table.
    pub fn all() -> impl Iterator<Item = DType> {
        TABLE.iter().map(|row| row.0)
    }

    /// The dtype's name, as written in signatures, files and messages.
    ///
    /// ```
    /// # use extenso_types::DType;
    /// assert_eq!(DType::F32.name(), "f32");
    /// ```
    pub fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// The family of values that the dtype holds.
    pub fn kind(self) -> DTypeKind {
        TABLE[self as usize].2
    }

    /// Bytes per element; none for one-bit booleans, strings, bytes and variants.
    pub fn width(self) -> Option<usize> {
        let width = TABLE[self as usize].3;
        (width > 0).then_some(width)
    }

    /// Whether elements are floating-point numbers.
    pub fn is_float(self) -> bool {
        self.kind() == DTypeKind::Float
    }

    /// Whether elements are integers, signed or not.
    pub fn is_integer(self) -> bool {
        matches!(self.kind(), DTypeKind::Signed | DTypeKind::Unsigned)
    }

    /// Whether elements are numbers.
    pub fn is_numeric(self) -> bool {
        self.is_float() || self.is_integer()
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DType {
    type Err = Error;

    fn from_str(text: &str) -> Result<DType> {
        let long = match text {
            "int8" => "i8",
            "int16" => "i16",
            "int32" => "i32",
            "int64" => "i64",
            "uint8" => "u8",
            "uint16" => "u16",
            "uint32" => "u32",
            "uint64" => "u64",
            "float16" => "f16",
            "bfloat16" => "bf16",
            "float32" => "f32",
            "float64" => "f64",
            "str" => "string",
            other => other,
        };
        TABLE.iter().find(|row| row.1 == long).map(|row| row.0).ok_or_else(|| {
            let names: Vec<_> = TABLE.iter().map(|row| row.1).collect();
            Error::value(format!("'{text}' is not a dtype")).wanted(format!("one of {}", names.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (i, dtype) in DType::all().enumerate() {
            assert_eq!(dtype as usize, i);
            assert_eq!(dtype.name().parse::<DType>().expect("a name parses"), dtype);
        }
    }
}
