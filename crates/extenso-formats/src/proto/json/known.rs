//! The messages of `google.protobuf` that have a JSON form of their own: times, durations, masks of fields, numbers.
//!
//! Source: <https://protobuf.dev/programming-guides/json>. Invariant: what is written reads back as the same numbers; days are those of the
//! proleptic Gregorian calendar, by H. Hinnant's `days_from_civil` and `civil_from_days`.

use prost_reflect::MessageDescriptor;
use std::fmt::Write;

/// A message with a JSON form of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// RFC 3339 text.
    Timestamp,
    /// Seconds with an `s`.
    Duration,
    /// Paths with commas between them.
    FieldMask,
    /// The value itself.
    Wrapper,
    /// An object of any values.
    Struct,
    /// Any value.
    Value,
    /// A list of any values.
    ListValue,
    /// An object with `@type` beside the fields of the message.
    Any,
}

impl Known {
    /// The form of a message of this type, if it has one of its own.
    pub fn of(message: &MessageDescriptor) -> Option<Known> {
        Some(match message.full_name().strip_prefix("google.protobuf.")? {
            "Timestamp" => Known::Timestamp,
            "Duration" => Known::Duration,
            "FieldMask" => Known::FieldMask,
            "Struct" => Known::Struct,
            "Value" => Known::Value,
            "ListValue" => Known::ListValue,
            "Any" => Known::Any,
            "DoubleValue" | "FloatValue" | "Int64Value" | "UInt64Value" | "Int32Value" | "UInt32Value"
            | "BoolValue" | "StringValue" | "BytesValue" => Known::Wrapper,
            _ => return None,
        })
    }
}

/// Most nanoseconds beside a second.
const MOST_NANOS: i32 = 999_999_999;

/// Most seconds of a duration, of either sign: about 10,000 years.
const MOST_SECONDS: i64 = 315_576_000_000;

/// The first second of year 1, and the last of year 9999.
const YEARS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

const DAY: i64 = 86_400;

/// The seconds since 1970 and the nanoseconds of a time such as `2001-02-03T04:05:06.789Z` or `...+01:00`.
pub fn parse_timestamp(text: &str) -> Option<(i64, i32)> {
    let (date, time) = text.split_once('T')?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let at = time.find(['Z', '+', '-'])?;
    let (time, zone) = time.split_at(at);
    let (clock, nanos) = fraction(time)?;
    let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
    let offset = match zone {
        "Z" => 0,
        zone => {
            let [hours, minutes] = numbers(zone.get(1..)?, ':', [2, 2])?;
            let size = (hours < 24 && minutes < 60).then_some(hours * 3600 + minutes * 60)?;
            if zone.starts_with('-') { -size } else { size }
        }
    };
    let fits = (1..=12).contains(&month) && (1..=month_days(year, month)).contains(&day);
    let seconds = days_from_civil(year, month, day) * DAY + hour * 3600 + minute * 60 + second - offset;
    (fits && hour < 24 && minute < 60 && second < 60 && YEARS.contains(&seconds)).then_some((seconds, nanos))
}

/// The text of a time; none outside the years 1 to 9999.
pub fn timestamp(seconds: i64, nanos: i32) -> Option<String> {
    if !YEARS.contains(&seconds) || !(0..=MOST_NANOS).contains(&nanos) {
        return None;
    }
    let ((year, month, day), clock) = (civil_from_days(seconds.div_euclid(DAY)), seconds.rem_euclid(DAY));
    let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
    let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    put_fraction(nanos.unsigned_abs(), &mut text);
    text.push('Z');
    Some(text)
}

/// The seconds and nanoseconds of a duration such as `-1.5s`.
pub fn parse_duration(text: &str) -> Option<(i64, i32)> {
    let text = text.strip_suffix('s')?;
    let (negative, size) = text.strip_prefix('-').map_or((false, text), |size| (true, size));
    let (whole, nanos) = fraction(size)?;
    let digits = !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit());
    let seconds: i64 = digits.then(|| whole.parse().ok()).flatten().filter(|seconds| *seconds <= MOST_SECONDS)?;
    Some(if negative { (-seconds, -nanos) } else { (seconds, nanos) })
}

/// The text of a duration; none for one that is too long, and for parts of two signs.
pub fn duration(seconds: i64, nanos: i32) -> Option<String> {
    let fits =
        seconds.unsigned_abs() <= MOST_SECONDS.unsigned_abs() && nanos.unsigned_abs() <= MOST_NANOS.unsigned_abs();
    if !fits || seconds.signum() * i64::from(nanos.signum()) < 0 {
        return None;
    }
    let sign = if seconds < 0 || nanos < 0 { "-" } else { "" };
    let mut text = format!("{sign}{}", seconds.unsigned_abs());
    put_fraction(nanos.unsigned_abs(), &mut text);
    text.push('s');
    Some(text)
}

/// A path of a mask as the file names its fields: `a.fooBar` is `a.foo_bar`. One that is empty, or has an underscore, is none.
pub fn parse_mask(path: &str, out: &mut Vec<u8>) -> bool {
    for byte in path.bytes() {
        match byte {
            b'_' => return false,
            b'A'..=b'Z' => out.extend([b'_', byte.to_ascii_lowercase()]),
            _ => out.push(byte),
        }
    }
    !path.is_empty()
}

/// A path of a mask as JSON names its fields; none for one that would not be read back.
pub fn mask(path: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut rest = path.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'_' => out.push(rest.next().filter(|byte| byte.is_ascii_lowercase())?.to_ascii_uppercase()),
            b'A'..=b'Z' | b',' => return None,
            _ => out.push(*byte),
        }
    }
    Some(())
}

/// The whole number that a number of JSON is: `7`, `7.0`, `70e-1`.
pub fn integer(text: &str) -> Option<i128> {
    if let Ok(value) = text.parse::<i64>() {
        return Some(value.into());
    }
    let (negative, size) = text.strip_prefix('-').map_or((false, text), |size| (true, size));
    let (mantissa, exponent) = match size.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (size, 0),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{part}");
    let figures = digits.trim_end_matches('0');
    if figures.is_empty() {
        return Some(0);
    }
    let zeros = i32::try_from(digits.len() - figures.len()).ok()?;
    let shift = exponent.checked_sub(i32::try_from(part.len()).ok()?)?.checked_add(zeros)?;
    let scale = 10_i128.checked_pow(u32::try_from(shift).ok()?)?;
    let value = figures.parse::<i128>().ok()?.checked_mul(scale)?;
    Some(if negative { -value } else { value })
}

/// Numbers of exactly so many digits, with this between them.
fn numbers<const N: usize>(text: &str, between: char, digits: [usize; N]) -> Option<[i64; N]> {
    let mut parts = text.split(between);
    let mut out = [0; N];
    for (number, digits) in out.iter_mut().zip(digits) {
        let part =
            parts.next().filter(|part| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit()))?;
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(out)
}

/// What stands before a point, and the nanoseconds behind it.
fn fraction(text: &str) -> Option<(&str, i32)> {
    let Some((whole, part)) = text.split_once('.') else { return Some((text, 0)) };
    if part.is_empty() || part.len() > 9 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    format!("{part:0<9}").parse().ok().map(|nanos| (whole, nanos))
}

/// Appends nanoseconds in 0, 3, 6 or 9 digits.
fn put_fraction(nanos: u32, out: &mut String) {
    // Writing to a string does not fail.
    let _ = match nanos {
        0 => Ok(()),
        n if n % 1_000_000 == 0 => write!(out, ".{:03}", n / 1_000_000),
        n if n % 1_000 == 0 => write!(out, ".{:06}", n / 1_000),
        n => write!(out, ".{n:09}"),
    };
}

fn month_days(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let (day, month) = (of_year - (153 * shifted + 2) / 5 + 1, (shifted + 2) % 12 + 1);
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_durations_are_read_as_they_are_written() {
        let times = [
            ("1970-01-01T00:00:00Z", 0, 0),
            ("1969-12-31T23:59:59.999999999Z", -1, 999_999_999),
            ("2001-02-03T04:05:06.789Z", 981_173_106, 789_000_000),
            ("2000-02-29T12:00:00.000001Z", 951_825_600, 1_000),
            ("0001-01-01T00:00:00Z", *YEARS.start(), 0),
            ("9999-12-31T23:59:59Z", *YEARS.end(), 0),
        ];
        for (text, seconds, nanos) in times {
            assert_eq!(parse_timestamp(text), Some((seconds, nanos)), "{text}");
            assert_eq!(timestamp(seconds, nanos).as_deref(), Some(text));
        }
        assert_eq!(parse_timestamp("1970-01-01T01:30:00+01:30"), Some((0, 0)));
        assert_eq!(parse_timestamp("1969-12-31T23:00:00.5-01:00"), Some((0, 500_000_000)));
        for day in (-719_162..2_932_896).step_by(97) {
            let (year, month, of_month) = civil_from_days(day);
            assert_eq!(days_from_civil(year, month, of_month), day);
            assert!((1..=month_days(year, month)).contains(&of_month));
        }
        for (text, seconds, nanos) in
            [("1s", 1, 0), ("-0.500s", 0, -500_000_000), ("-2.000000001s", -2, -1), ("0s", 0, 0)]
        {
            assert_eq!(parse_duration(text), Some((seconds, nanos)), "{text}");
            assert_eq!(duration(seconds, nanos).as_deref(), Some(text));
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        let times = "1970-01-01 00:00:00Z|1970-02-30T00:00:00Z|1970-01-01T24:00:00Z|1970-01-01T00:00:60Z|1970-01-01T00:00:00\
            |1970-1-01T00:00:00Z|1970-01-01T00:00:00.Z|1970-01-01T00:00:00.1234567891Z|0000-01-01T00:00:00Z|é|T|Z\
            |0001-01-01T00:00:00+01:00|1970-01-01T00:00:00+1:00|1970-01-01T00:00:00ZZ|1970-01-01T00:00:00+é";
        times.split('|').for_each(|text| assert_eq!(parse_timestamp(text), None, "{text}"));
        for text in [
            "1",
            "s",
            "-s",
            "1.s",
            ".5s",
            "1.0000000001s",
            "+1s",
            "--1s",
            "315576000001s",
            "1es",
            "99999999999999999999s",
        ] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
        assert_eq!(
            (timestamp(0, -1), timestamp(i64::MAX, 0), duration(1, -1), duration(i64::MIN, 0)),
            (None, None, None, None)
        );
    }

    #[test]
    fn whole_numbers_are_exact() {
        let cases = [
            ("7", 7),
            ("-7.0", -7),
            ("70e-1", 7),
            ("1.5e1", 15),
            ("18446744073709551615", u64::MAX.into()),
            ("0.0", 0),
            ("1E+2", 100),
        ];
        cases.iter().for_each(|(text, value)| assert_eq!(integer(text), Some(*value), "{text}"));
        for text in ["1.5", "1e-1", "1e99", "1e999999999999", "9e38"] {
            assert_eq!(integer(text), None, "{text}");
        }
    }

    #[test]
    fn a_mask_is_read_as_it_is_written() {
        for (path, json) in [("foo_bar.b", "fooBar.b"), ("a", "a"), ("_a", "A")] {
            let (mut written, mut read) = (Vec::new(), Vec::new());
            assert_eq!(mask(path.as_bytes(), &mut written), Some(()));
            assert!(written == json.as_bytes() && parse_mask(json, &mut read) && read == path.as_bytes());
        }
        assert!(
            ["fooBar", "foo_", "foo__b", "a_1", "a,b"]
                .iter()
                .all(|path| mask(path.as_bytes(), &mut Vec::new()).is_none())
        );
        assert!(["foo_bar", ""].iter().all(|path| !parse_mask(path, &mut Vec::new())));
    }
}
