//! Text as times: RFC 3339 and ISO 8601.
//!
//! Source: <https://www.rfc-editor.org/rfc/rfc3339>; days by H. Hinnant's `days_from_civil`. Invariant: a text is read exactly in units, or not
//! at all.

use super::TimeUnit;
use crate::spelling::Zone;

/// The most digits of a year, of a number of units and of a fraction; more would not fit 64 bits.
const MOST: usize = 24;

/// Units since 1970-01-01T00:00:00 of a point in time; with a zone in UTC, and then the text must say its offset.
pub(crate) fn timestamp(text: &str, unit: TimeUnit, zone: Option<&Zone>) -> Option<i128> {
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
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (year, rest) = text.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    let year = if (4..=12).contains(&year.len()) { digits(year)? } else { return None };
    let (year, month, day) = (if negative { -year } else { year }, two(month, 12)?, two(day, 31)?);
    let leap = year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0);
    let last = match month {
        2 => 28 + i128::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    ((1..=last).contains(&day) && month > 0).then(|| days(year, month, day))
}

/// Hinnant's `days_from_civil`.
fn days(year: i128, month: i128, day: i128) -> i128 {
    let year = year - i128::from(month <= 2);
    let (era, yoe) = (year.div_euclid(400), year.rem_euclid(400));
    let doy = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468
}

/// Units since midnight.
pub(crate) fn time(text: &str, unit: TimeUnit) -> Option<i128> {
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
