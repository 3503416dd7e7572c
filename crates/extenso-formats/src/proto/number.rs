//! Booleans and numbers: from the wire into their column.
//!
//! Invariant: a number that its column cannot hold exactly is refused, by its kind before reading or by its value then;
//! nothing is pushed for a refused one.

use super::wire::{Wire, WireType};
use crate::columns::Column;
use crate::failure::{Failure, Read};
use extenso_types::{DType, DTypeKind, Error};
use prost_reflect::Kind;
use std::fmt;

/// How a number is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    Bool,
    Int32,
    Int64,
    Uint32,
    Uint64,
    Sint32,
    Sint64,
    Fixed32,
    Fixed64,
    Sfixed32,
    Sfixed64,
    Float,
    Double,
}

/// A number that was read.
#[derive(Clone, Copy, Debug)]
pub enum Raw {
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Float(f32),
    Double(f64),
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Raw::Bool(value) => value.fmt(f),
            Raw::Signed(value) => value.fmt(f),
            Raw::Unsigned(value) => value.fmt(f),
            Raw::Float(value) => value.fmt(f),
            Raw::Double(value) => value.fmt(f),
        }
    }
}

impl Number {
    /// The number that fields of this kind hold; an enum's is that of its values.
    pub fn of(kind: &Kind) -> Option<Number> {
        Some(match kind {
            Kind::Bool => Number::Bool,
            Kind::Int32 | Kind::Enum(_) => Number::Int32,
            Kind::Int64 => Number::Int64,
            Kind::Uint32 => Number::Uint32,
            Kind::Uint64 => Number::Uint64,
            Kind::Sint32 => Number::Sint32,
            Kind::Sint64 => Number::Sint64,
            Kind::Fixed32 => Number::Fixed32,
            Kind::Fixed64 => Number::Fixed64,
            Kind::Sfixed32 => Number::Sfixed32,
            Kind::Sfixed64 => Number::Sfixed64,
            Kind::Float => Number::Float,
            Kind::Double => Number::Double,
            Kind::String | Kind::Bytes | Kind::Message(_) => return None,
        })
    }

    /// The dtype that has the same values.
    pub fn dtype(self) -> DType {
        match self {
            Number::Bool => DType::Bool,
            Number::Int32 | Number::Sint32 | Number::Sfixed32 => DType::I32,
            Number::Int64 | Number::Sint64 | Number::Sfixed64 => DType::I64,
            Number::Uint32 | Number::Fixed32 => DType::U32,
            Number::Uint64 | Number::Fixed64 => DType::U64,
            Number::Float => DType::F32,
            Number::Double => DType::F64,
        }
    }

    /// How the tag says that it is written.
    pub fn wire(self) -> WireType {
        match self {
            Number::Bool
            | Number::Int32
            | Number::Int64
            | Number::Uint32
            | Number::Uint64
            | Number::Sint32
            | Number::Sint64 => WireType::Varint,
            Number::Fixed32 | Number::Sfixed32 | Number::Float => WireType::Fixed32,
            Number::Fixed64 | Number::Sfixed64 | Number::Double => WireType::Fixed64,
        }
    }

    /// Whether a column of this dtype holds every value, or every value that fits, exactly.
    pub fn reads_as(self, dtype: DType) -> bool {
        let is_integer = |dtype: DType| matches!(dtype.kind(), DTypeKind::Signed | DTypeKind::Unsigned);
        match self.dtype() {
            DType::Bool => dtype == DType::Bool,
            DType::F32 => matches!(dtype, DType::F32 | DType::F64),
            DType::F64 => dtype == DType::F64,
            DType::I32 | DType::U32 => dtype == DType::F64 || is_integer(dtype),
            _ => is_integer(dtype),
        }
    }

    /// Whether a column of this dtype can be written, if the values fit.
    pub fn writes(self, dtype: DType) -> bool {
        match self.dtype() {
            DType::Bool => dtype == DType::Bool,
            DType::F32 => dtype.is_float() && dtype != DType::F64,
            DType::F64 => dtype.is_float(),
            _ => matches!(dtype.kind(), DTypeKind::Signed | DTypeKind::Unsigned),
        }
    }

    /// Reads one number.
    #[inline]
    pub fn read(self, wire: &mut Wire<'_>) -> Read<Raw> {
        Ok(match self {
            Number::Bool => Raw::Bool(wire.varint()? != 0),
            Number::Int32 => Raw::Signed(low(wire.varint()?).cast_signed().into()),
            Number::Int64 => Raw::Signed(wire.varint()?.cast_signed()),
            Number::Uint32 => Raw::Unsigned(low(wire.varint()?).into()),
            Number::Uint64 => Raw::Unsigned(wire.varint()?),
            Number::Sint32 => Raw::Signed(zigzag(low(wire.varint()?).into())),
            Number::Sint64 => Raw::Signed(zigzag(wire.varint()?)),
            Number::Fixed32 => Raw::Unsigned(u32::from_le_bytes(wire.take()?).into()),
            Number::Fixed64 => Raw::Unsigned(u64::from_le_bytes(wire.take()?)),
            Number::Sfixed32 => Raw::Signed(i32::from_le_bytes(wire.take()?).into()),
            Number::Sfixed64 => Raw::Signed(i64::from_le_bytes(wire.take()?)),
            Number::Float => Raw::Float(f32::from_le_bytes(wire.take()?)),
            Number::Double => Raw::Double(f64::from_le_bytes(wire.take()?)),
        })
    }

    /// Reads packed numbers to the end into a column, and says how many there are.
    pub fn read_packed(self, wire: &mut Wire<'_>, column: Option<&mut Column>) -> Read<usize> {
        let Some(column) = column else { return self.count_packed(wire) };
        match (self, &mut *column) {
            (Number::Float, Column::F32(numbers)) => Ok(append(numbers, self.whole(wire)?, f32::from_le_bytes)),
            (Number::Double, Column::F64(numbers)) => Ok(append(numbers, self.whole(wire)?, f64::from_le_bytes)),
            _ => {
                let mut n = 0;
                while !wire.is_done() {
                    let at = wire.at();
                    let raw = self.read(wire)?;
                    push(column, raw).ok_or_else(|| misfit(raw, column, at))?;
                    n += 1;
                }
                Ok(n)
            }
        }
    }

    fn count_packed(self, wire: &mut Wire<'_>) -> Read<usize> {
        match self.wire() {
            WireType::Fixed32 => Ok(self.whole::<4>(wire)?.len()),
            WireType::Fixed64 => Ok(self.whole::<8>(wire)?.len()),
            _ => {
                let mut n = 0;
                while !wire.is_done() {
                    wire.varint()?;
                    n += 1;
                }
                Ok(n)
            }
        }
    }

    /// What is left, which is whole numbers of `N` bytes.
    fn whole<'a, const N: usize>(self, wire: &mut Wire<'a>) -> Read<&'a [[u8; N]]> {
        let (whole, rest) = wire.rest().as_chunks::<N>();
        if rest.is_empty() {
            return Ok(whole);
        }
        let error = Error::data(format!("{} bytes of packed numbers stand here", wire.rest().len()));
        Err(Failure::new(wire.at(), error.wanted(format!("a multiple of {N}"))))
    }
}

fn append<T, const N: usize>(numbers: &mut Vec<T>, bytes: &[[u8; N]], number: fn([u8; N]) -> T) -> usize {
    numbers.extend(bytes.iter().map(|chunk| number(*chunk)));
    bytes.len()
}

/// The lower half, which is what a 32-bit number has of a longer varint.
fn low(value: u64) -> u32 {
    let [a, b, c, d, ..] = value.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// The number whose sign stands in the lowest bit.
fn zigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// Adds a number to its column, or says that it does not fit.
#[inline]
pub fn push(column: &mut Column, raw: Raw) -> Option<()> {
    macro_rules! integer {
        ($numbers:expr) => {
            match raw {
                Raw::Signed(value) => $numbers.push(value.try_into().ok()?),
                Raw::Unsigned(value) => $numbers.push(value.try_into().ok()?),
                Raw::Bool(_) | Raw::Float(_) | Raw::Double(_) => return None,
            }
        };
    }
    match column {
        Column::Bits(bits) => match raw {
            Raw::Bool(value) => bits.push(value),
            Raw::Signed(_) | Raw::Unsigned(_) | Raw::Float(_) | Raw::Double(_) => return None,
        },
        Column::I8(numbers) => integer!(numbers),
        Column::I16(numbers) => integer!(numbers),
        Column::I32(numbers) => integer!(numbers),
        Column::I64(numbers) => integer!(numbers),
        Column::U8(numbers) => integer!(numbers),
        Column::U16(numbers) => integer!(numbers),
        Column::U32(numbers) => integer!(numbers),
        Column::U64(numbers) => integer!(numbers),
        Column::F32(numbers) => match raw {
            Raw::Float(value) => numbers.push(value),
            Raw::Bool(_) | Raw::Signed(_) | Raw::Unsigned(_) | Raw::Double(_) => return None,
        },
        Column::F64(numbers) => match raw {
            Raw::Float(value) => numbers.push(value.into()),
            Raw::Double(value) => numbers.push(value),
            // Kinds of 64 bits are not read as floats.
            Raw::Signed(value) => numbers.push(i32::try_from(value).ok()?.into()),
            Raw::Unsigned(value) => numbers.push(u32::try_from(value).ok()?.into()),
            Raw::Bool(_) => return None,
        },
        Column::F16(_) | Column::BF16(_) | Column::Text(_) | Column::Offsets(_) => return None,
    }
    Some(())
}

/// The number at this byte does not fit its column.
#[cold]
pub fn misfit(raw: Raw, column: &Column, at: usize) -> Box<Failure> {
    let dtype = match column {
        Column::I8(_) => "i8",
        Column::I16(_) => "i16",
        Column::I32(_) => "i32",
        Column::I64(_) => "i64",
        Column::U8(_) => "u8",
        Column::U16(_) => "u16",
        Column::U32(_) => "u32",
        Column::U64(_) => "u64",
        Column::Bits(_)
        | Column::F16(_)
        | Column::BF16(_)
        | Column::F32(_)
        | Column::F64(_)
        | Column::Text(_)
        | Column::Offsets(_) => return Failure::new(at, Error::internal("a number has a column of another kind")),
    };
    Failure::new(at, Error::data(format!("the number {raw} came")).wanted(format!("an integer that fits {dtype}")))
}
