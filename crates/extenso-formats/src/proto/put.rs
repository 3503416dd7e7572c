//! The wire format, written: keys, varints, lengths, numbers.
//!
//! Source: as for `wire`. Invariant: a varint has no more bytes than it needs.

use super::number::{Number, Raw};
use super::wire::WireType;
use crate::failure::Read;

/// Appends what stands before a value.
pub fn put_key(number: u32, wire: WireType, out: &mut Vec<u8>) {
    put_varint(u64::from(number) << 3 | wire.code(), out);
}

/// Appends a number in pieces of seven bits, the lowest first.
pub fn put_varint(value: u64, out: &mut Vec<u8>) {
    let mut rest = value;
    while rest >= 0x80 {
        out.push(rest.to_le_bytes()[0] | 0x80);
        rest >>= 7;
    }
    out.push(rest.to_le_bytes()[0]);
}

/// Appends what `write` does, with its length before it.
pub fn put_sized(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> Read<()>) -> Read<()> {
    let start = out.len();
    // Most lengths need one byte.
    out.push(0);
    write(out)?;
    let len = out.len() - start - 1;
    match u8::try_from(len) {
        Ok(short) if short < 0x80 => out[start] = short,
        _ => {
            let mut head = Vec::with_capacity(10);
            put_varint(u64::try_from(len).unwrap_or(u64::MAX), &mut head);
            out.splice(start..=start, head);
        }
    }
    Ok(())
}

/// The number as its kind holds it; none if it does not fit.
pub fn fitting(number: Number, raw: Raw) -> Option<Raw> {
    Some(match (number, raw) {
        (Number::Bool, Raw::Bool(_)) | (Number::Float, Raw::Float(_)) | (Number::Double, Raw::Double(_)) => raw,
        (Number::Double, Raw::Float(value)) => Raw::Double(value.into()),
        (Number::Bool | Number::Float | Number::Double, _) => return None,
        (Number::Int32 | Number::Sint32 | Number::Sfixed32, _) => Raw::Signed(integer::<i32>(raw)?.into()),
        (Number::Int64 | Number::Sint64 | Number::Sfixed64, _) => Raw::Signed(integer(raw)?),
        (Number::Uint32 | Number::Fixed32, _) => Raw::Unsigned(integer::<u32>(raw)?.into()),
        (Number::Uint64 | Number::Fixed64, _) => Raw::Unsigned(integer(raw)?),
    })
}

/// Appends a number, or says that it does not fit.
pub fn put_number(number: Number, raw: Raw, out: &mut Vec<u8>) -> Option<()> {
    match number {
        Number::Bool => out.push(match raw {
            Raw::Bool(value) => value.into(),
            Raw::Signed(_) | Raw::Unsigned(_) | Raw::Float(_) | Raw::Double(_) => return None,
        }),
        Number::Int32 => put_varint(i64::from(integer::<i32>(raw)?).cast_unsigned(), out),
        Number::Int64 => put_varint(integer::<i64>(raw)?.cast_unsigned(), out),
        Number::Uint32 => put_varint(integer::<u32>(raw)?.into(), out),
        Number::Uint64 => put_varint(integer(raw)?, out),
        Number::Sint32 => put_varint(zigzag(integer::<i32>(raw)?.into()), out),
        Number::Sint64 => put_varint(zigzag(integer(raw)?), out),
        Number::Fixed32 => out.extend_from_slice(&integer::<u32>(raw)?.to_le_bytes()),
        Number::Fixed64 => out.extend_from_slice(&integer::<u64>(raw)?.to_le_bytes()),
        Number::Sfixed32 => out.extend_from_slice(&integer::<i32>(raw)?.to_le_bytes()),
        Number::Sfixed64 => out.extend_from_slice(&integer::<i64>(raw)?.to_le_bytes()),
        Number::Float => match raw {
            Raw::Float(value) => out.extend_from_slice(&value.to_le_bytes()),
            Raw::Bool(_) | Raw::Signed(_) | Raw::Unsigned(_) | Raw::Double(_) => return None,
        },
        Number::Double => match raw {
            Raw::Float(value) => out.extend_from_slice(&f64::from(value).to_le_bytes()),
            Raw::Double(value) => out.extend_from_slice(&value.to_le_bytes()),
            Raw::Bool(_) | Raw::Signed(_) | Raw::Unsigned(_) => return None,
        },
    }
    Some(())
}

/// The integer of a type; none if it does not fit.
pub fn integer<T: TryFrom<i64> + TryFrom<u64>>(raw: Raw) -> Option<T> {
    match raw {
        Raw::Signed(value) => value.try_into().ok(),
        Raw::Unsigned(value) => value.try_into().ok(),
        Raw::Bool(_) | Raw::Float(_) | Raw::Double(_) => None,
    }
}

/// The sign in the lowest bit, so that small numbers below zero are short.
fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}
