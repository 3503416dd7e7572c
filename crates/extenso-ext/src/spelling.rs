//! How times, decimals and identifiers are spelled: their numbers as text, and text as their numbers.
//!
//! Invariant: text that was written reads as the number that it was written of, and a number is read exactly or not at all.

use crate::decimal::{self, DecimalTensorSpec};
use crate::logical::{FixedBytesTensorSpec, write_uuid};
use crate::temporal::{
    DateTensorSpec, DurationTensorSpec, IntervalTensorSpec, TimeTensorSpec, TimeUnit, TimestampTensorSpec, interval,
    read, show,
};
use arrow_buffer::i256;
use extenso_core::TypeSpec;
use extenso_types::{DType, Error, ExtSpec, Result, Spec, StaticValue};

/// The text of the elements of a type of times, decimals or bytes of one width, each of which is an integer or so many bytes.
///
/// | type | text |
/// |---|---|
/// | timestamps with a zone | RFC 3339: `2001-02-03T04:05:06.5Z`, `2001-02-03T04:05:06+05:30`; behind it may stand the zone by name, in brackets |
/// | timestamps without one | the same without an offset |
/// | dates | `2001-02-03` |
/// | times of a day | `04:05:06.5` |
/// | durations | a number and its unit, `1.5s`, `1500ms`; ISO 8601, `P1DT2H3M4.5S` |
/// | intervals | their parts with their units, `1mo 2d 3ns`, of which those that are 0 may be left out, but for one |
/// | decimals | a number of JSON, or one with a `+` |
/// | bytes of one width that are a `uuid` | `01234567-89ab-cdef-0123-456789abcdef`, in either case, the hyphens may be left out |
/// | other bytes of one width | none; a format writes them as it writes byte strings |
///
/// ```
/// # use extenso_core::{ExtensionType, Tensor};
/// # use extenso_ext::{DateTensor, Spelling};
/// # use extenso_types::Spec;
/// let days = DateTensor::new(Tensor::from_vec(vec![0_i32]), "d").unwrap().into_value();
/// let Spec::Ext(spec) = days.spec().unwrap() else { panic!("an extension type") };
/// let spelling = Spelling::of(&spec).unwrap();
/// assert_eq!(spelling.parse("2000-02-29").unwrap()[..4], 11_016_i32.to_le_bytes());
/// assert_eq!(spelling.show(&11_016_i32.to_le_bytes()), "2000-02-29");
/// assert!(spelling.parse("2001-02-29").is_none());
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Spelling(Of);

#[derive(Clone, PartialEq, Debug)]
enum Of {
    Timestamp {
        unit: TimeUnit,
        zone: Option<Zone>,
    },
    Date {
        milliseconds: bool,
    },
    Time {
        unit: TimeUnit,
    },
    Duration {
        unit: TimeUnit,
    },
    Decimal {
        precision: i64,
        scale: i64,
        width: usize,
    },
    /// Integers of so many bytes, one behind the other, each with its unit.
    Interval {
        parts: &'static [(usize, &'static str)],
    },
    Uuid,
    Bytes {
        width: usize,
    },
}

/// A zone: what stands behind a time of it, and how many seconds it is ahead of UTC there.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Zone {
    pub name: String,
    pub suffix: String,
    pub ahead: i64,
}

/// An integer as its bytes, the lowest first, filled up with its sign.
pub type Cell = [u8; 32];

impl Spelling {
    /// The spelling of a type's elements; none of other types.
    pub fn of(spec: &ExtSpec) -> Option<Spelling> {
        let text = |name: &str| match spec.static_data.get(name) {
            Some(StaticValue::Str(text)) => Some(text.clone()),
            _ => None,
        };
        let number = |name: &str| match spec.static_data.get(name) {
            Some(StaticValue::Int(number)) => Some(*number),
            _ => None,
        };
        let unit = || text("unit")?.parse::<TimeUnit>().ok();
        // A type that refines one of these may have more components.
        let name = spec.def.name();
        Some(Spelling(if name == TimestampTensorSpec::def().name() {
            Of::Timestamp { unit: unit()?, zone: text("zone").map(|zone| show::zone(&zone)) }
        } else if name == DateTensorSpec::def().name() {
            Of::Date { milliseconds: text("unit")? == "ms" }
        } else if name == TimeTensorSpec::def().name() {
            Of::Time { unit: unit()? }
        } else if name == DurationTensorSpec::def().name() {
            Of::Duration { unit: unit()? }
        } else if name == DecimalTensorSpec::def().name() {
            let width = if number("bits")? == 256 { 32 } else { 16 };
            Of::Decimal { precision: number("precision")?, scale: number("scale")?, width }
        } else if name == IntervalTensorSpec::def().name() {
            Of::Interval { parts: interval::parts_of(&text("unit")?)? }
        } else if name == FixedBytesTensorSpec::def().name() {
            let width = bytes_of(spec)?;
            if text("kind").as_deref() == Some("uuid") { Of::Uuid } else { Of::Bytes { width } }
        } else {
            return None;
        }))
    }

    /// The spelling of `timestamp`s, `date`s, `time`s or `duration`s in a unit.
    ///
    /// Errors: other times; a unit that they do not have.
    pub(crate) fn of_times(of: &str, unit: &str, zone: Option<&str>) -> Result<Spelling> {
        Ok(Spelling(match (of, unit) {
            ("timestamp", _) => Of::Timestamp { unit: unit.parse()?, zone: zone.map(show::zone) },
            ("date", "d" | "ms") => Of::Date { milliseconds: unit == "ms" },
            ("date", _) => return Err(Error::value(format!("found '{unit}'")).wanted("'d' or 'ms'").at("unit")),
            ("time", _) => Of::Time { unit: unit.parse()? },
            ("duration", _) => Of::Duration { unit: unit.parse()? },
            _ => {
                return Err(Error::value(format!("found '{of}'")).wanted("timestamp, date, time or duration").at("of"));
            }
        }))
    }

    /// The dtype of the component that holds the integers: i32, i64, or u8 where they have an axis of bytes.
    pub fn dtype(&self) -> DType {
        match (&self.0, self.width()) {
            (Of::Decimal { .. } | Of::Interval { .. } | Of::Uuid | Of::Bytes { .. }, _) => DType::U8,
            (_, 4) => DType::I32,
            (_, _) => DType::I64,
        }
    }

    /// How many bytes an integer has.
    pub fn width(&self) -> usize {
        match &self.0 {
            Of::Date { milliseconds: false } | Of::Time { unit: TimeUnit::Second | TimeUnit::Millisecond } => 4,
            Of::Timestamp { .. } | Of::Date { .. } | Of::Time { .. } | Of::Duration { .. } => 8,
            Of::Decimal { width, .. } | Of::Bytes { width } => *width,
            Of::Interval { parts } => parts.iter().map(|(width, _)| width).sum(),
            Of::Uuid => UUID,
        }
    }

    /// Whether an element is bytes without a text of their own.
    pub fn is_bytes(&self) -> bool {
        matches!(self.0, Of::Bytes { .. })
    }

    /// Whether an element is bytes, with a text of their own or without.
    pub fn is_cells(&self) -> bool {
        matches!(self.0, Of::Uuid | Of::Bytes { .. })
    }

    /// Whether a number is text of it too.
    pub fn is_number(&self) -> bool {
        matches!(self.0, Of::Decimal { .. })
    }

    /// Whether it is of timestamps, dates, times or durations, which are counts of a unit.
    pub fn is_time(&self) -> bool {
        matches!(self.0, Of::Timestamp { .. } | Of::Date { .. } | Of::Time { .. } | Of::Duration { .. })
    }

    /// Whether it is of points in time: timestamps with a zone.
    pub fn is_instant(&self) -> bool {
        matches!(self.0, Of::Timestamp { zone: Some(_), .. })
    }

    /// Whether it is of durations.
    pub fn is_duration(&self) -> bool {
        matches!(self.0, Of::Duration { .. })
    }

    /// How many nanoseconds an integer is, whose bytes these are: of points in time, since 1970 in UTC; none of others than these and durations.
    pub fn nanoseconds(&self, cell: &[u8]) -> Option<i128> {
        integer(cell).to_i128()?.checked_mul(self.nanoseconds_each()?)
    }

    /// The integer of so many nanoseconds; none if there is none, or none exactly.
    pub fn of_nanoseconds(&self, nanoseconds: i128) -> Option<Cell> {
        let each = self.nanoseconds_each()?;
        let cell = i64::try_from(nanoseconds / each).ok().filter(|_| nanoseconds % each == 0)?;
        Some(i256::from_i128(cell.into()).to_le_bytes())
    }

    /// The integer of a decimal of another scale, whose bytes these are; none of one that is none of these digits.
    pub fn of_decimal(&self, cell: &[u8], scale: i64) -> Option<Cell> {
        let Of::Decimal { precision, scale: own, .. } = &self.0 else { return None };
        let (value, shift) = (integer(cell), own.checked_sub(scale)?);
        let scaled = match shift {
            _ if value == i256::ZERO => value,
            0.. => value.checked_mul(decimal::power(shift)?)?,
            _ => {
                let each = decimal::power(shift.checked_neg()?)?;
                value.checked_rem(each).filter(|rest| *rest == i256::ZERO)?;
                value.checked_div(each)?
            }
        };
        let most = decimal::power(*precision)?;
        (scaled > most.wrapping_neg() && scaled < most).then(|| scaled.to_le_bytes())
    }

    /// How many nanoseconds a unit of points in time or of durations has.
    fn nanoseconds_each(&self) -> Option<i128> {
        match &self.0 {
            Of::Timestamp { unit, zone: Some(_) } | Of::Duration { unit } => {
                Some(i128::from(1_000_000_000 / unit.per_second()))
            }
            _ => None,
        }
    }

    /// The integer of a text; none if it is no such text, or not exactly an integer of the unit or scale that fits.
    pub fn parse(&self, text: &str) -> Option<Cell> {
        let wide = match &self.0 {
            Of::Decimal { precision, scale, .. } => decimal::number(text, *precision, *scale)?,
            Of::Uuid => return uuid(text),
            Of::Interval { parts } => return interval::read(text, parts),
            _ => return Some(i256::from_i128(self.count(text)?.into()).to_le_bytes()),
        };
        let cell = wide.to_le_bytes();
        (integer(cell.get(..self.width())?) == wide).then_some(cell)
    }

    /// The count of a text of a time; none as of [`Spelling::parse`], and of other types.
    pub(crate) fn count(&self, text: &str) -> Option<i64> {
        let wide = match &self.0 {
            Of::Timestamp { unit, zone } => read::timestamp(text, *unit, zone.as_ref())?,
            Of::Date { milliseconds } => {
                let days = read::date(text)?;
                if *milliseconds { days.checked_mul(86_400_000)? } else { days }
            }
            Of::Time { unit } => read::time(text, *unit)?,
            Of::Duration { unit } => read::duration(text, *unit)?,
            Of::Decimal { .. } | Of::Interval { .. } | Of::Uuid | Of::Bytes { .. } => return None,
        };
        let count = i64::try_from(wide).ok()?;
        (self.width() > 4 || i32::try_from(count).is_ok()).then_some(count)
    }

    /// Appends the text of a count of times; of other types nothing.
    pub(crate) fn write_count(&self, count: i64, out: &mut Vec<u8>) {
        match &self.0 {
            Of::Timestamp { unit, zone } => show::timestamp(count, *unit, zone.as_ref(), out),
            Of::Date { milliseconds } => {
                show::date(if *milliseconds { count.div_euclid(86_400_000) } else { count }, out);
            }
            Of::Time { unit } => show::time(count, *unit, out),
            Of::Duration { unit } => show::duration(count, unit.name(), out),
            Of::Decimal { .. } | Of::Interval { .. } | Of::Uuid | Of::Bytes { .. } => {}
        }
    }

    /// The text of an integer, whose bytes these are; none of bytes without a text.
    pub fn show(&self, cell: &[u8]) -> String {
        show::text(|out| self.write(cell, out))
    }

    /// Appends the text of an integer, whose bytes these are: ASCII without quotes; none of bytes without a text.
    pub fn write(&self, cell: &[u8], out: &mut Vec<u8>) {
        match &self.0 {
            Of::Decimal { scale, .. } => decimal::write(integer(cell), *scale, out),
            Of::Uuid => write_uuid(cell, out),
            Of::Interval { parts } => out.extend_from_slice(interval::shown(cell, parts).as_bytes()),
            _ => {
                let count = integer(cell).to_i128().and_then(|count| i64::try_from(count).ok()).unwrap_or_default();
                self.write_count(count, out);
            }
        }
    }

    /// What an error says is wanted.
    pub fn wanted(&self) -> String {
        let exact = |unit: &TimeUnit| match unit {
            TimeUnit::Second => "whole seconds",
            TimeUnit::Millisecond => "whole milliseconds",
            TimeUnit::Microsecond => "whole microseconds",
            TimeUnit::Nanosecond => "whole nanoseconds",
        };
        match &self.0 {
            Of::Timestamp { unit, zone: Some(_) } => {
                format!("a time of RFC 3339 with its zone, such as \"2001-02-03T04:05:06Z\", in {}", exact(unit))
            }
            Of::Timestamp { unit, zone: None } => {
                format!("a time without a zone, such as \"2001-02-03T04:05:06\", in {}", exact(unit))
            }
            Of::Date { .. } => "a date, such as \"2001-02-03\"".into(),
            Of::Time { unit } => format!("a time of day, such as \"04:05:06\", in {}", exact(unit)),
            Of::Duration { unit } => format!("a duration, such as \"1.5s\" or \"PT1.5S\", in {}", exact(unit)),
            Of::Decimal { precision, scale, .. } => {
                format!("a decimal number of {precision} digits, {scale} of them behind the point, or its text")
            }
            Of::Interval { parts } => {
                let each: Vec<String> = parts.iter().zip(1..).map(|((_, unit), n)| format!("{n}{unit}")).collect();
                format!("an interval, such as \"{}\"", each.join(" "))
            }
            Of::Uuid => "a uuid, such as \"01234567-89ab-cdef-0123-456789abcdef\"".into(),
            Of::Bytes { width } => format!("{width} bytes"),
        }
    }
}

/// How many bytes a uuid has.
const UUID: usize = 16;

/// The bytes of a uuid, written with its four hyphens or with none.
fn uuid(text: &str) -> Option<Cell> {
    let text = text.as_bytes();
    let hyphens = [8, 13, 18, 23];
    let hyphenated = text.len() == 36 && hyphens.iter().all(|at| text[*at] == b'-');
    if !hyphenated && text.len() != 2 * UUID {
        return None;
    }
    let mut digits = text.iter().enumerate().filter(|(i, _)| !hyphenated || !hyphens.contains(i)).map(|(_, d)| d);
    let mut digit = || char::from(*digits.next()?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut cell = Cell::default();
    for byte in &mut cell[..UUID] {
        *byte = digit()? << 4 | digit()?;
    }
    Some(cell)
}

/// How many bytes each of these has; none if that is not known, or if they have none, so that nothing would count them.
fn bytes_of(spec: &ExtSpec) -> Option<usize> {
    let [(_, Spec::Tensor(cells))] = spec.components.as_slice() else { return None };
    cells.shape.dims()?.last()?.known().filter(|width| *width > 0)
}

/// The integer of some bytes, the lowest first.
pub(crate) fn integer(cell: &[u8]) -> i256 {
    let fill = if cell.last().is_some_and(|top| *top >= 0x80) { 0xff } else { 0 };
    let mut bytes = [fill; 32];
    for (byte, given) in bytes.iter_mut().zip(cell) {
        *byte = *given;
    }
    i256::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests;
