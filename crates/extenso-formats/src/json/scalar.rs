//! Booleans and numbers: from a token into its column.
//!
//! Invariant: a value is exact (integers) or rounded once (floats), or refused; nothing is pushed for a refused one.

use super::failure::{Failure, Read};
use super::number;
use crate::columns::Column;
use extenso_core::kernels::decimal::Float;
use extenso_types::{DType, Error};
use jiter::{Jiter, NumberInt, Peek};
use std::str::FromStr;

/// Reads the value that `peek` begins into the end of `column`; `text` is what the parser reads.
#[inline]
pub fn read_scalar(jiter: &mut Jiter<'_>, text: &[u8], peek: Peek, column: &mut Column) -> Read<()> {
    match column {
        Column::Bits(bits) => bits.push(boolean(jiter, text, peek)?),
        Column::I8(numbers) => numbers.push(integer(jiter, text, peek, DType::I8)?),
        Column::I16(numbers) => numbers.push(integer(jiter, text, peek, DType::I16)?),
        Column::I32(numbers) => numbers.push(integer(jiter, text, peek, DType::I32)?),
        Column::I64(numbers) => numbers.push(integer(jiter, text, peek, DType::I64)?),
        Column::U8(numbers) => numbers.push(integer(jiter, text, peek, DType::U8)?),
        Column::U16(numbers) => numbers.push(integer(jiter, text, peek, DType::U16)?),
        Column::U32(numbers) => numbers.push(integer(jiter, text, peek, DType::U32)?),
        Column::U64(numbers) => numbers.push(integer(jiter, text, peek, DType::U64)?),
        Column::F16(numbers) => numbers.push(float(jiter, text, peek, DType::F16)?),
        Column::BF16(numbers) => numbers.push(float(jiter, text, peek, DType::BF16)?),
        Column::F32(numbers) => numbers.push(float(jiter, text, peek, DType::F32)?),
        Column::F64(numbers) => numbers.push(float(jiter, text, peek, DType::F64)?),
        Column::Text(_) | Column::Offsets(_) => {
            return Err(Failure::new(jiter.current_index(), Error::internal("a scalar has a column of another kind")));
        }
    }
    Ok(())
}

fn boolean(jiter: &mut Jiter<'_>, text: &[u8], peek: Peek) -> Read<bool> {
    match peek {
        Peek::True | Peek::False => Ok(jiter.known_bool(peek)?),
        _ => Err(Failure::mismatch(text, jiter.current_index(), "true or false")),
    }
}

fn integer<T: TryFrom<i64> + FromStr>(jiter: &mut Jiter<'_>, text: &[u8], peek: Peek, dtype: DType) -> Read<T> {
    let start = jiter.current_index();
    let mismatch = || Failure::mismatch(text, start, format!("an integer that fits {dtype}"));
    match jiter.known_int(peek) {
        Ok(NumberInt::Int(value)) => T::try_from(value).map_err(|_| mismatch()),
        // The parser knows no integers above 18 digits; their text says the rest.
        _ if starts_number(peek) => {
            let digits = jiter.known_number_bytes(peek)?;
            std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).ok_or_else(mismatch)
        }
        _ => Err(mismatch()),
    }
}

fn float<T: Float>(jiter: &mut Jiter<'_>, text: &[u8], peek: Peek, dtype: DType) -> Read<T> {
    let start = jiter.current_index();
    let mismatch = || {
        let wanted = format!("a number that fits {dtype}, \"NaN\", \"Infinity\" or \"-Infinity\"");
        Failure::mismatch(text, start, wanted)
    };
    if peek == Peek::String {
        return number::named(jiter.known_str()?).ok_or_else(mismatch);
    }
    if !starts_number(peek) {
        return Err(mismatch());
    }
    let digits = jiter.known_number_bytes(peek)?;
    if let Some((value, exponent, negative)) = number::short(digits)
        && let Some(value) = T::scaled(value, exponent)
    {
        return Ok(if negative { value.negated() } else { value });
    }
    std::str::from_utf8(digits).ok().and_then(T::parse).ok_or_else(mismatch)
}

pub fn starts_number(peek: Peek) -> bool {
    matches!(peek.into_inner(), b'-' | b'0'..=b'9')
}
