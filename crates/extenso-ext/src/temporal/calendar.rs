//! The civil calendar: years, months and days of a count of days, by integers alone.
//!
//! Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`; exact for all of the proleptic
//! Gregorian calendar that the count reaches.

use super::zone::{fixed, shown_by_clocks};
use super::{DateTensor, TimeTensor, TimeUnit, TimestampTensor};
use crate::args::typed;
use crate::masked::MaskedTensor;
use crate::ragged::RaggedTensor;
use crate::written::each;
use extenso_core::{Arg, ExtensionType, Tensor, Value, ops};
use extenso_types::{DType, Error, Result};

/// The parts of a date, and those of a time; a timestamp has both.
const DAY_PARTS: [&str; 8] = ["year", "quarter", "month", "week", "iso_year", "day", "weekday", "day_of_year"];
const TIME_PARTS: [&str; 4] = ["hour", "minute", "second", "nanosecond"];

/// One part of each date, time or timestamp, as i64: `year`, `quarter` (from 1), `month`, `week` of the `iso_year`, `day`, `weekday` (Monday
/// is 0), `day_of_year` (from 1), `hour`, `minute`, `second`, or `nanosecond` within the second.
///
/// A week is that of ISO 8601: it begins on a Monday, and belongs to the year in which its Thursday is.
/// A timestamp with a zone has the parts of its zone: UTC, an offset such as `+05:30`, or a name of the IANA database.
/// Errors: another type; a part that the type does not have; a zone that is not known.
///
/// ```
/// # use extenso_core::{ExtensionType, Tensor};
/// # use extenso_ext::{DateTensor, date_part};
/// let days = DateTensor::new(Tensor::from_vec(vec![-1_i32, 19_782]), "d").unwrap().into_value();
/// assert_eq!(date_part(&days, "year").unwrap().to_string(), "[1969, 2024]");
/// assert_eq!(date_part(&days, "weekday").unwrap().to_string(), "[2, 3]");
/// ```
pub fn date_part(x: &Value, part: &str) -> Result<Value> {
    part_of(x, part).map_err(|e| e.at_part("date_part"))
}

fn part_of(x: &Value, part: &str) -> Result<Value> {
    if let Some(x) = typed::<MaskedTensor>(x) {
        return Ok(MaskedTensor::new(part_of(x.values(), part)?, x.mask().clone())?.into_value());
    }
    if let Some(x) = typed::<RaggedTensor>(x) {
        return Ok(x.with_values(part_of(x.values(), part)?)?.into_value());
    }
    if let Some(x) = typed::<DateTensor>(x) {
        return of_days(&ops::cast(x.days()?, DType::I64)?, part)?.ok_or_else(|| no_part(part, "a date", &DAY_PARTS));
    }
    if let Some(x) = typed::<TimeTensor>(x) {
        let unit = x.unit().parse::<TimeUnit>()?;
        let found = of_time(&ops::cast(x.values(), DType::I64)?, unit, part)?;
        return found.ok_or_else(|| no_part(part, "a time", &TIME_PARTS));
    }
    let Some(x) = typed::<TimestampTensor>(x) else {
        return Err(Error::dtype(format!("found {}", x.spec()?)).wanted("timestamps, dates or times"));
    };
    // The offset of a zone is asked for once.
    let found = match DAY_PARTS.contains(&part) {
        true => of_days(&days_of(&x)?, part)?,
        false => of_time(&within_day(&x)?, x.unit().parse::<TimeUnit>()?, part)?,
    };
    found.ok_or_else(|| no_part(part, "a timestamp", &[&DAY_PARTS[..], &TIME_PARTS].concat()))
}

/// The days since 1970-01-01 that timestamps are in, as i64.
///
/// Errors: a zone that is not known.
pub(super) fn days_of(x: &TimestampTensor) -> Result<Value> {
    let Some(at) = Local::of(x)? else { return ops::floor_divide(x.values(), per_day(x)?) };
    ops::add(ops::floor_divide(at.within, per_day(x)?)?, at.days)
}

/// The units since midnight at which timestamps are, in their zone.
///
/// Errors: a zone that is not known.
pub(super) fn within_day(x: &TimestampTensor) -> Result<Value> {
    let Some(at) = Local::of(x)? else { return ops::remainder(x.values(), per_day(x)?) };
    ops::remainder(at.within, per_day(x)?)
}

fn no_part(part: &str, of: &str, parts: &[&str]) -> Error {
    let named: Vec<String> = parts.iter().map(|part| format!("'{part}'")).collect();
    Error::value(format!("{of} has no part '{part}'")).wanted(format!("one of {}", named.join(", ")))
}

fn per_day(x: &TimestampTensor) -> Result<i64> {
    Ok(86_400 * x.unit().parse::<TimeUnit>()?.per_second())
}

/// Days, and units since their midnights with the offset of the zone, which is added where it cannot overflow.
struct Local {
    within: Value,
    days: Value,
}

impl Local {
    /// Those of timestamps; none where the zone is not ahead of UTC.
    fn of(x: &TimestampTensor) -> Result<Option<Local>> {
        let per_day = per_day(x)?;
        let parts = |counts: &Arg, ahead: i64| {
            let within = ops::add(ops::remainder(counts, per_day)?, ahead)?;
            Ok(Some(Local { within, days: ops::floor_divide(counts, per_day)? }))
        };
        if let Some(shown) = shown_by_clocks(x)? {
            return parts(&shown.into(), 0);
        }
        match x.zone().and_then(fixed).unwrap_or_default() {
            0 => Ok(None),
            ahead => parts(&x.values().into(), ahead * (per_day / 86_400)),
        }
    }
}

/// A part of days since 1970-01-01; none if it is one of a time.
pub(super) fn of_days(days: &Value, part: &str) -> Result<Option<Value>> {
    if part == "weekday" {
        // 1970-01-01 was a Thursday.
        return ops::remainder(ops::add(days, 3_i64)?, 7_i64).map(Some);
    }
    // 1970-01-01 was a Thursday, and the weeks are numbered from Monday.
    let thursday = || ops::multiply(ops::floor_divide(ops::add(days, 3_i64)?, 7_i64)?, 7_i64);
    let up = |count: Option<Value>, by: i64, of: i64| {
        count.map(|count| ops::floor_divide(ops::add(count, by)?, of)).transpose()
    };
    match part {
        "quarter" => return up(of_days(days, "month")?, 2, 3),
        "week" => return up(of_days(&thursday()?, "day_of_year")?, 6, 7),
        "iso_year" => return of_days(&thursday()?, "year"),
        _ => {}
    }
    if !matches!(part, "year" | "month" | "day" | "day_of_year") {
        return Ok(None);
    }
    if let Some(made) = of_data(days, part) {
        return Ok(Some(made));
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

/// The same of days that are there, each by itself; none of a symbol.
fn of_data(days: &Value, part: &str) -> Option<Value> {
    let dense = days.tensor().ok()?.data().ok()?;
    let days = dense.as_slice::<i64>().ok()?;
    let parts = each(days.len(), |i| {
        let (year, month, day) = civil(days[i]);
        Some(match part {
            "year" => year,
            "month" => month,
            "day" => day,
            _ => days[i] - days_from(year, 1, 1) + 1,
        })
    })?;
    Some(Tensor::from_vec(parts).with_dims(dense.dims()).ok()?.into())
}

/// The year, month and day of days since 1970-01-01.
pub(super) fn civil(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let (era, doe) = (z.div_euclid(146_097), z.rem_euclid(146_097));
    let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let (day, month) = (doy - (153 * mp + 2) / 5 + 1, if mp < 10 { mp + 3 } else { mp - 9 });
    (yoe + era * 400 + i64::from(month <= 2), month, day)
}

/// The days since 1970-01-01 of a year, month and day: Hinnant's `days_from_civil`.
pub(super) fn days_from(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, yoe) = (year.div_euclid(400), year.rem_euclid(400));
    let doy = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_a_civil_date_are_those_that_it_is_of() {
        let days = (-200_000..200_000).chain([i64::MIN / 86_400, i64::MAX / 86_400]);
        for day in days {
            let (year, month, of) = civil(day);
            assert!((1..=12).contains(&month) && (1..=31).contains(&of));
            assert_eq!(days_from(year, month, of), day);
        }
    }
}
