//! Text as times: RFC 3339 and ISO 8601.
//!
//! Source: <https://www.rfc-editor.org/rfc/rfc3339>; days by H. Hinnant's `days_from_civil`. Invariant: a text is read exactly in units, or not
//! at all.

use super::TimeUnit;
use super::calendar::days_from;
use crate::spelling::Zone;

/// The most digits of a year, of a number of units and of a fraction; more would not fit 64 bits.
const MOST: usize = 24;

/// Units since 1970-01-01T00:00:00 of a point in time; with a zone in UTC, and then the text must say its offset.
pub(crate) fn timestamp(text: &str, unit: TimeUnit, zone: Option<&Zone>) -> Option<i128> {
    if let Some(units) = quick(text.as_bytes(), unit, zone.is_some()) {
        return Some(units.into());
    }
    let at = text.find(['T', 't', ' '])?;
    let (day, rest) = (date(&text[..at])?, &text[at + 1..]);
    let (clock, ahead) = match zone {
        None => (rest, 0),
        Some(zone) => offset(rest, zone)?,
    };
    let per_second = i128::from(unit.per_second());
    day.checked_mul(86_400 * per_second)?.checked_add(time(clock, unit)? - ahead * per_second)
}

/// The time before an offset, and how many seconds that is ahead of UTC; behind it may stand the name of the zone, in brackets.
fn offset<'t>(text: &'t str, zone: &Zone) -> Option<(&'t str, i128)> {
    let text = match text.split_once('[') {
        Some((before, name)) if name.strip_suffix(']')? == zone.name => before,
        Some(_) => return None,
        None => text,
    };
    if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let (clock, offset) = text.split_at_checked(text.len().checked_sub(6)?)?;
    let sign = match offset.get(..1)? {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    Some((clock, sign * 60 * (60 * two(hours, 23)? + two(minutes, 59)?)))
}

/// Days since 1970-01-01.
pub(crate) fn date(text: &str) -> Option<i128> {
    if let Some(days) = quick_date(text.as_bytes()) {
        return Some(days.into());
    }
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (year, rest) = text.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    let year = if (4..=12).contains(&year.len()) { i64::try_from(digits(year)?).ok()? } else { return None };
    let year = if negative { -year } else { year };
    let (month, day) = (i64::try_from(two(month, 12)?).ok()?, i64::try_from(two(day, 31)?).ok()?);
    is_day(year, month, day).then(|| days_from(year, month, day).into())
}

/// Whether a month of a year has so many days.
fn is_day(year: i64, month: i64, day: i64) -> bool {
    let leap = year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0);
    let last = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (1..=12).contains(&month) && (1..=last).contains(&day)
}

/// The units of a point in time as it is usually written: a year of four digits, at most nine behind the point, and with a zone `Z` or an
/// offset; none of any other text, which may be one too.
fn quick(text: &[u8], unit: TimeUnit, zoned: bool) -> Option<i64> {
    let (day, rest) = text.split_at_checked(10)?;
    let [b'T' | b't' | b' ', clock @ ..] = rest else { return None };
    let (clock, ahead) = match (zoned, clock) {
        (false, _) => (clock, 0),
        (true, [clock @ .., b'Z' | b'z']) => (clock, 0),
        (true, [clock @ .., sign @ (b'+' | b'-'), h, i, b':', m, n]) => {
            let (hours, minutes) = (few(&[*h, *i], 23)?, few(&[*m, *n], 59)?);
            (clock, if *sign == b'-' { -1 } else { 1 } * 60 * (60 * hours + minutes))
        }
        (true, _) => return None,
    };
    let seconds = 86_400 * quick_date(day)? - ahead;
    seconds.checked_mul(unit.per_second())?.checked_add(quick_time(clock, unit)?)
}

/// The days since 1970-01-01 of a date whose year has four digits.
fn quick_date(text: &[u8]) -> Option<i64> {
    let [a, b, c, d, b'-', e, f, b'-', g, h] = text else { return None };
    let (year, month, day) = (few(&[*a, *b, *c, *d], 9_999)?, few(&[*e, *f], 12)?, few(&[*g, *h], 31)?);
    is_day(year, month, day).then(|| days_from(year, month, day))
}

/// The units since midnight of a time of at most nine digits behind the point.
fn quick_time(text: &[u8], unit: TimeUnit) -> Option<i64> {
    let [a, b, b':', c, d, b':', e, f, rest @ ..] = text else { return None };
    let seconds = 3_600 * few(&[*a, *b], 23)? + 60 * few(&[*c, *d], 59)? + few(&[*e, *f], 59)?;
    let nanoseconds = match rest {
        [] => 0,
        [b'.', behind @ ..] if (1..=9).contains(&behind.len()) => {
            (behind.len()..9).try_fold(few(behind, 999_999_999)?, |v, _| Some(10 * v))?
        }
        _ => return None,
    };
    let each = 1_000_000_000 / unit.per_second();
    (nanoseconds % each == 0).then_some(seconds * unit.per_second() + nanoseconds / each)
}

/// A few digits that are at most this.
fn few(text: &[u8], most: i64) -> Option<i64> {
    let digit = |v: i64, byte: &u8| byte.is_ascii_digit().then(|| 10 * v + i64::from(byte - b'0'));
    text.iter().try_fold(0, digit).filter(|v| *v <= most)
}

/// Units since midnight.
pub(crate) fn time(text: &str, unit: TimeUnit) -> Option<i128> {
    if let Some(units) = quick_time(text.as_bytes(), unit) {
        return Some(units.into());
    }
    let (hours, rest) = text.split_once(':')?;
    let (minutes, seconds) = rest.split_once(':')?;
    let (whole, _) = seconds.split_once('.').unwrap_or((seconds, ""));
    two(whole, 59)?;
    let before = 60 * (60 * two(hours, 23)? + two(minutes, 59)?);
    (before * i128::from(unit.per_second())).checked_add(amount(seconds, 1, unit)?)
}

/// The units of a length of time: a number with its unit, or ISO 8601 without years and months, which have no length of their own.
pub(crate) fn duration(text: &str, unit: TimeUnit) -> Option<i128> {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let units = match text.strip_prefix('P') {
        Some(parts) => iso(parts, unit)?,
        None => {
            let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
            let of: TimeUnit = text[end..].parse().ok()?;
            amount(&text[..end], i128::from(of.per_second()), unit)?
        }
    };
    Some(if negative { -units } else { units })
}

fn iso(text: &str, unit: TimeUnit) -> Option<i128> {
    let (days, clock) = text.split_once('T').map_or((text, None), |(days, clock)| (days, Some(clock)));
    let (mut units, mut left) = (0_i128, days);
    let mut parts = 0;
    let steps = [(clock.is_some(), 'D', 86_400), (true, 'H', 3_600), (true, 'M', 60), (true, 'S', 1)];
    for (i, (_, letter, seconds)) in steps.iter().enumerate() {
        if i == 1 {
            if !left.is_empty() {
                return None;
            }
            left = clock.unwrap_or_default();
        }
        let Some((number, rest)) = left.split_once(*letter) else { continue };
        if *seconds > 1 && number.contains('.') {
            return None;
        }
        units = units.checked_add(amount(number, 1, unit)?.checked_mul(*seconds)?)?;
        (left, parts) = (rest, parts + 1);
    }
    (left.is_empty() && parts > 0 && clock != Some("")).then_some(units)
}

/// A number, of which `per_second` make a second, in units; none if they are not whole.
fn amount(number: &str, per_second: i128, unit: TimeUnit) -> Option<i128> {
    let (whole, behind) = number.split_once('.').map_or((number, None), |(whole, behind)| (whole, Some(behind)));
    if behind.is_some_and(str::is_empty) {
        return None;
    }
    let behind = behind.unwrap_or_default();
    let parts = per_second.checked_mul(10_i128.checked_pow(u32::try_from(behind.len()).ok()?)?)?;
    let scaled = digits(whole)?.checked_mul(10_i128.checked_pow(u32::try_from(behind.len()).ok()?)?)?;
    let behind = if behind.is_empty() { 0 } else { digits(behind)? };
    let units = scaled.checked_add(behind)?.checked_mul(i128::from(unit.per_second()))?;
    (units % parts == 0).then_some(units / parts)
}

/// Two digits that are at most this.
fn two(text: &str, most: i128) -> Option<i128> {
    let value = if text.len() == 2 { digits(text)? } else { return None };
    (value <= most).then_some(value)
}

/// A number of digits alone.
fn digits(text: &str) -> Option<i128> {
    let fits = (1..=MOST).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}
