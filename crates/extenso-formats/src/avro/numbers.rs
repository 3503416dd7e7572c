//! Integers of any width, and values of a fixed number of bytes.
//!
//! Invariant: a value that does not fit is not stored.

use super::wire::Wire;
use crate::failure::Read;
use arrow_array::types::{Decimal128Type, Decimal256Type, DecimalType};
use arrow_buffer::{Buffer, IntervalMonthDayNano, ToByteSlice, i256};
use arrow_schema::DataType;

/// A growing column of integers.
#[derive(Debug)]
#[allow(missing_docs)] // The variants' names are their widths.
pub enum Ints {
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
}

/// Applies one body to whatever a column holds.
macro_rules! each {
    ($ints:expr, $numbers:ident => $body:expr) => {
        match $ints {
            Ints::I8($numbers) => $body,
            Ints::I16($numbers) => $body,
            Ints::I32($numbers) => $body,
            Ints::I64($numbers) => $body,
            Ints::U8($numbers) => $body,
            Ints::U16($numbers) => $body,
            Ints::U32($numbers) => $body,
        }
    };
}

impl Ints {
    /// A column of what Arrow stores this type as; none of a type that has no such integers.
    pub fn of(data_type: &DataType) -> Option<Ints> {
        match data_type {
            DataType::Int8 => Some(Ints::I8(Vec::new())),
            DataType::Int16 => Some(Ints::I16(Vec::new())),
            DataType::Int32 | DataType::Date32 | DataType::Time32(_) => Some(Ints::I32(Vec::new())),
            DataType::Int64
            | DataType::Date64
            | DataType::Time64(_)
            | DataType::Timestamp(..)
            | DataType::Duration(_) => Some(Ints::I64(Vec::new())),
            DataType::UInt8 => Some(Ints::U8(Vec::new())),
            DataType::UInt16 => Some(Ints::U16(Vec::new())),
            DataType::UInt32 => Some(Ints::U32(Vec::new())),
            _ => None,
        }
    }

    /// Adds a number; whether it fits.
    #[inline]
    pub fn push(&mut self, number: i64) -> bool {
        fn fit<T: TryFrom<i64>>(numbers: &mut Vec<T>, number: i64) -> bool {
            T::try_from(number).map(|number| numbers.push(number)).is_ok()
        }
        each!(self, numbers => fit(numbers, number))
    }

    /// Takes the numbers of another column of the same kind.
    pub fn append(&mut self, other: &mut Ints) {
        match (self, other) {
            (Ints::I8(numbers), Ints::I8(more)) => numbers.append(more),
            (Ints::I16(numbers), Ints::I16(more)) => numbers.append(more),
            (Ints::I32(numbers), Ints::I32(more)) => numbers.append(more),
            (Ints::I64(numbers), Ints::I64(more)) => numbers.append(more),
            (Ints::U8(numbers), Ints::U8(more)) => numbers.append(more),
            (Ints::U16(numbers), Ints::U16(more)) => numbers.append(more),
            (Ints::U32(numbers), Ints::U32(more)) => numbers.append(more),
            _ => {}
        }
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        each!(self, numbers => numbers.len())
    }

    /// Adds so many zeros.
    pub fn fill(&mut self, n: usize) {
        each!(self, numbers => numbers.resize(numbers.len() + n, 0));
    }

    /// Drops the numbers from `len` on.
    pub fn truncate(&mut self, len: usize) {
        each!(self, numbers => numbers.truncate(len));
    }

    /// How many bytes a number has.
    pub fn width(&self) -> usize {
        fn width<T>(_: &[T]) -> usize {
            size_of::<T>()
        }
        each!(self, numbers => width(numbers))
    }

    /// Gives the numbers away.
    pub fn take(&mut self) -> Buffer {
        each!(self, numbers => Buffer::from_vec(std::mem::take(numbers)))
    }
}

/// How a value of a fixed number of bytes stands in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cell {
    /// As these bytes.
    Plain,
    /// As an integer of so many bytes, or with their number before it, the highest first; it has so many digits at most.
    Decimal(Option<usize>, u8),
    /// As the text of an identifier of 16 bytes.
    Uuid,
    /// As months, days and milliseconds, of four bytes each.
    Span,
}

impl Cell {
    /// Reads a value of `width` bytes.
    pub fn read(self, width: usize, wire: &mut Wire<'_>, out: &mut Vec<u8>) -> Read<()> {
        match self {
            Cell::Plain => out.extend_from_slice(wire.take(width)?),
            Cell::Decimal(size, digits) => {
                let at = wire.at();
                let bytes = match size {
                    Some(size) => wire.take(size)?,
                    None => wire.text()?,
                };
                let fill = if bytes.first().is_some_and(|high| *high >= 0x80) { 0xff } else { 0 };
                let (beyond, low) = bytes.split_at(bytes.len().saturating_sub(width));
                let sign = low.first().map_or(0, |high| if *high >= 0x80 { 0xff } else { 0 });
                let from = out.len();
                out.extend(low.iter().rev());
                out.extend(std::iter::repeat_n(fill, width - low.len()));
                let is_beyond = beyond.iter().any(|byte| *byte != fill) || !beyond.is_empty() && sign != fill;
                if is_beyond || !has_digits(&out[from..], digits) {
                    out.truncate(from);
                    wire.go_back(at);
                    return Err(wire.unfit("a decimal has too many digits", &format!("at most {digits}")));
                }
            }
            Cell::Uuid => {
                let at = wire.at();
                let text = wire.text()?;
                match uuid(text) {
                    Some(bytes) => out.extend_from_slice(&bytes),
                    None => {
                        wire.go_back(at);
                        let what = format!("the text {:?} came", String::from_utf8_lossy(text));
                        return Err(wire.unfit(what, "a UUID, as 123e4567-e89b-12d3-a456-426614174000"));
                    }
                }
            }
            Cell::Span => {
                let at = wire.at();
                let mut part = || {
                    Ok::<_, Box<crate::failure::Failure>>(
                        wire.take(4)?.iter().rev().fold(0_u32, |n, byte| n << 8 | u32::from(*byte)),
                    )
                };
                let (months, days, millis) = (part()?, part()?, part()?);
                let (Ok(months), Ok(days)) = (i32::try_from(months), i32::try_from(days)) else {
                    wire.go_back(at);
                    return Err(wire.unfit(format!("{months} months and {days} days came"), "numbers that fit i32"));
                };
                let span = IntervalMonthDayNano::new(months, days, i64::from(millis) * 1_000_000);
                out.extend_from_slice(span.to_byte_slice());
            }
        }
        Ok(())
    }
}

/// Whether an integer of 16 or 32 bytes, the lowest first, has so many digits at most.
fn has_digits(bytes: &[u8], digits: u8) -> bool {
    match (bytes.try_into(), bytes.try_into()) {
        (Ok(bytes), _) => Decimal128Type::is_valid_decimal_precision(i128::from_le_bytes(bytes), digits),
        (_, Ok(bytes)) => Decimal256Type::is_valid_decimal_precision(i256::from_le_bytes(bytes), digits),
        (Err(_), Err(_)) => false,
    }
}

/// The bytes of an identifier's text.
fn uuid(text: &[u8]) -> Option<[u8; 16]> {
    let dash = |at: &usize| matches!(at, 8 | 13 | 18 | 23);
    if text.len() != 36 || !(0..36).filter(dash).all(|at| text[at] == b'-') {
        return None;
    }
    let mut digits = (0..36).filter(|at| !dash(at)).map(|at| char::from(text[at]).to_digit(16));
    let mut out = [0; 16];
    for byte in &mut out {
        *byte = u8::try_from(digits.next()?? << 4 | digits.next()??).ok()?;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::avro::codec::Budget;

    #[test]
    fn an_identifier_is_its_text() {
        let text = "123e4567-e89b-12d3-a456-426614174000";
        let bytes = uuid(text.as_bytes()).expect("an identifier");
        let mut written = Vec::new();
        extenso_ext::write_uuid(&bytes, &mut written);
        assert_eq!(written, text.as_bytes());
        for odd in ["", "123e4567-e89b-12d3-a456-42661417400g", "123e4567ee89b-12d3-a456-426614174000"] {
            assert_eq!(uuid(odd.as_bytes()), None, "{odd}");
        }
    }

    #[test]
    fn a_decimal_is_as_wide_as_its_digits_need() {
        let read = |bytes: &[u8]| {
            let (mut out, text) = (Vec::new(), [&[u8::try_from(bytes.len() * 2).expect("short")], bytes].concat());
            let cell = Cell::Decimal(None, 4);
            let read = cell.read(16, &mut Wire::new(&text, &mut Budget::default()), &mut out);
            assert_eq!(out.len(), if read.is_ok() { 16 } else { 0 });
            read.ok().map(|()| i128::from_le_bytes(out.try_into().expect("16 bytes")))
        };
        let long = |fill: u8, low: &[u8]| [&[fill; 20], low].concat();
        assert_eq!(read(&[]), Some(0));
        assert_eq!(read(&[0xfe]), Some(-2));
        for (fits, not) in [(9999_i16, 10000_i16), (-9999, -10000)] {
            let fill = if fits < 0 { 0xff } else { 0 };
            assert_eq!(read(&fits.to_be_bytes()), Some(fits.into()));
            assert_eq!(read(&long(fill, &fits.to_be_bytes())), Some(fits.into()));
            assert_eq!(read(&not.to_be_bytes()), None);
            assert_eq!(read(&long(!fill, &fits.to_be_bytes())), None);
        }
    }
}
