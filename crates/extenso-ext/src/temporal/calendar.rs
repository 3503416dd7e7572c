//! The civil calendar: years, months and days of a count of days, by integers alone.
//!
//! Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`; exact for all of the proleptic
//! Gregorian calendar that the count reaches.

use super::{DateTensor, TimeTensor, TimeUnit, TimestampTensor};
use crate::args::typed;
use crate::masked::MaskedTensor;
use crate::ragged::RaggedTensor;
use extenso_core::{ExtensionType, Value, ops};
use extenso_types::{DType, Error, Result};

const PARTS: &str = "'year', 'month', 'day', 'weekday', 'day_of_year', 'hour', 'minute', 'second' or 'nanosecond'";

/// One part of each date, time or timestamp, as i64: `year`, `month`, `day`, `weekday` (Monday is 0), `day_of_year` (from 1), `hour`,
/// `minute`, `second`, or `nanosecond` within the second.
///
/// A timestamp with a zone has the parts of its zone: UTC or an offset such as `+05:30`.
/// Errors: another type; a part that the type does not have; a zone by name, whose offsets change and are not known here.
///
/// ```
/// # use extenso_core::{ExtensionType, Tensor};
/// # use extenso_ext::{DateTensor, date_part};
/// let days = DateTensor::new(Tensor::from_vec(vec![-1_i32, 19_782]), "d").unwrap().into_value();
/// assert_eq!(date_part(&days, "year").unwrap().to_string(), "[1969, 2024]");
/// assert_eq!(date_part(&days, "weekday").unwrap().to_string(), "[2, 3]");
/// ```
pub fn date_part(x: &Value, part: &str) -> Result<Value> {
    part_of(x, part).map_err(|e| e.at("date_part"))
}

fn part_of(x: &Value, part: &str) -> Result<Value> {
    if let Some(x) = typed::<MaskedTensor>(x) {
        return Ok(MaskedTensor::new(part_of(x.values(), part)?, x.mask().clone())?.into_value());
    }
    if let Some(x) = typed::<RaggedTensor>(x) {
        return Ok(x.with_values(part_of(x.values(), part)?)?.into_value());
    }
    if let Some(x) = typed::<DateTensor>(x) {
        return of_days(&ops::cast(x.days()?, DType::I64)?, part)?.ok_or_else(|| no_part(part, "a date"));
    }
    if let Some(x) = typed::<TimeTensor>(x) {
        let unit = x.unit().parse::<TimeUnit>()?;
        return of_time(&ops::cast(x.values(), DType::I64)?, unit, part)?.ok_or_else(|| no_part(part, "a time"));
    }
    let Some(x) = typed::<TimestampTensor>(x) else {
        return Err(Error::dtype(format!("found {}", x.spec()?)).wanted("timestamps, dates or times"));
    };
    if let Some(found) = of_days(&days_of(&x)?, part)? {
        return Ok(found);
    }
    let unit = x.unit().parse::<TimeUnit>()?;
    let (local, per_day) = (shifted(&x, unit)?.0, 86_400 * unit.per_second());
    of_time(&ops::remainder(local, per_day)?, unit, part)?.ok_or_else(|| no_part(part, "a timestamp"))
}

/// The days since 1970-01-01 that timestamps are in, as i64.
///
/// Errors: a zone whose offset changes.
pub(super) fn days_of(x: &TimestampTensor) -> Result<Value> {
    let unit = x.unit().parse::<TimeUnit>()?;
    let (local, carried) = shifted(x, unit)?;
    ops::add(ops::floor_divide(local, 86_400 * unit.per_second())?, carried)
}

/// The units since midnight at which timestamps are, in their zone.
///
/// Errors: a zone whose offset changes.
pub(super) fn within_day(x: &TimestampTensor) -> Result<Value> {
    let unit = x.unit().parse::<TimeUnit>()?;
    ops::remainder(shifted(x, unit)?.0, 86_400 * unit.per_second())
}

fn no_part(part: &str, of: &str) -> Error {
    Error::value(format!("{of} has no part '{part}'")).wanted(PARTS)
}

/// The time within the day of the zone, and the days: the offset is added where it cannot overflow.
fn shifted(x: &TimestampTensor, unit: TimeUnit) -> Result<(Value, Value)> {
    let per_day = 86_400 * unit.per_second();
    let seconds = x.zone().map_or(Ok(0), offset_of)?;
    let days = ops::floor_divide(x.values(), per_day)?;
    let within = ops::add(ops::remainder(x.values(), per_day)?, seconds * unit.per_second())?;
    Ok((within, days))
}

/// The seconds that a zone is ahead of UTC.
///
/// Errors: a zone whose offset changes.
pub(super) fn offset_of(zone: &str) -> Result<i64> {
    if matches!(zone, "UTC" | "Etc/UTC" | "Z" | "GMT" | "+00:00") {
        return Ok(0);
    }
    let known = || {
        let (sign, rest) = match zone.split_at_checked(1)? {
            ("+", rest) => (1, rest),
            ("-", rest) => (-1, rest),
            _ => return None,
        };
        let (hours, minutes) = match rest.split_once(':') {
            Some(parts) => parts,
            None => rest.split_at_checked(2)?,
        };
        let digits = |text: &str| text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit());
        let whole = digits(hours) && (digits(minutes) || minutes.is_empty());
        let minutes = if minutes.is_empty() { "0" } else { minutes };
        let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
        (whole && hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
    };
    known().ok_or_else(|| {
        Error::value(format!("the offset of the zone '{zone}' changes with time"))
            .wanted("UTC, or an offset such as '+05:30'")
            .hint("Convert the timestamps to local ones in the library that they come from.")
    })
}

/// A part of days since 1970-01-01; none if it is one of a time.
fn of_days(days: &Value, part: &str) -> Result<Option<Value>> {
    if part == "weekday" {
        // 1970-01-01 was a Thursday.
        return ops::remainder(ops::add(days, 3_i64)?, 7_i64).map(Some);
    }
    if !matches!(part, "year" | "month" | "day" | "day_of_year") {
        return Ok(None);
    }
    // Eras of 400 years from 0000-03-01, years of an era, and days of a year that begins in March.
    let z = ops::add(days, 719_468_i64)?;
    let era = ops::floor_divide(&z, 146_097_i64)?;
    let doe = ops::remainder(&z, 146_097_i64)?;
    let leap = ops::subtract(ops::floor_divide(&doe, 1_460_i64)?, ops::floor_divide(&doe, 36_524_i64)?)?;
    let whole = ops::subtract(ops::subtract(&doe, leap)?, ops::floor_divide(&doe, 146_096_i64)?)?;
    let yoe = ops::floor_divide(whole, 365_i64)?;
    let before = ops::subtract(ops::floor_divide(&yoe, 4_i64)?, ops::floor_divide(&yoe, 100_i64)?)?;
    let doy = ops::subtract(&doe, ops::add(ops::multiply(&yoe, 365_i64)?, before)?)?;
    let mp = ops::floor_divide(ops::add(ops::multiply(&doy, 5_i64)?, 2_i64)?, 153_i64)?;
    let late = ops::cast(ops::greater_equal(&mp, 10_i64)?, DType::I64)?;
    let year = ops::add(ops::add(ops::multiply(era, 400_i64)?, yoe)?, &late)?;
    let month = ops::subtract(ops::add(&mp, 3_i64)?, ops::multiply(late, 12_i64)?)?;
    Ok(Some(match part {
        "year" => year,
        "month" => month,
        "day" => {
            let begun = ops::floor_divide(ops::add(ops::multiply(mp, 153_i64)?, 2_i64)?, 5_i64)?;
            ops::add(ops::subtract(doy, begun)?, 1_i64)?
        }
        _ => ops::subtract(ops::add(days, 1_i64)?, first_day(&year)?)?,
    }))
}

/// The days from 1970-01-01 to the first of January of a year.
fn first_day(year: &Value) -> Result<Value> {
    let before = ops::subtract(year, 1_i64)?;
    let leaps = |every: i64| ops::floor_divide(&before, every);
    let leap = ops::add(ops::subtract(leaps(4)?, leaps(100)?)?, leaps(400)?)?;
    ops::subtract(ops::add(ops::multiply(&before, 365_i64)?, leap)?, 719_162_i64)
}

/// A part of units since midnight; none if it is one of a date.
fn of_time(units: &Value, unit: TimeUnit, part: &str) -> Result<Option<Value>> {
    let per_second = unit.per_second();
    let whole = |every: i64, of: i64| ops::remainder(ops::floor_divide(units, every * per_second)?, of);
    Ok(Some(match part {
        "hour" => whole(3_600, 24)?,
        "minute" => whole(60, 60)?,
        "second" => whole(1, 60)?,
        "nanosecond" => ops::multiply(ops::remainder(units, per_second)?, 1_000_000_000 / per_second)?,
        _ => return Ok(None),
    }))
}
