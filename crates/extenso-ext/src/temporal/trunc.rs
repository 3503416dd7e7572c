//! Times at which their year, month, day, hour or the like begins.

use super::calendar::{days_of, of_days, within_day};
use super::made::first_of;
use super::zone::{first_shown, shown_by_clocks};
use super::{DateTensor, TimeTensor, TimeUnit, TimestampTensor};
use crate::args::typed;
use crate::meaning::Meaning;
use crate::meaning::nested::below_filled;
use extenso_core::{ExtensionType, Value, ops};
use extenso_types::{DType, Error, Result};

const UNITS: &str =
    "'year', 'quarter', 'month', 'week', 'day', 'hour', 'minute', 'second', 'millisecond' or 'microsecond'";

/// When the year, month, day or the like began that each date, timestamp or time is in: those that are in one are equal then.
///
/// Units are `year`, `quarter`, `month`, `week`, which begins on Monday, `day`, `hour`, `minute`, `second`, `millisecond` and
/// `microsecond`; those of a day and longer for dates, those shorter than a day for times. A timestamp with a zone is in the day of its zone.
/// The type stays, and what is missing. Of an hour that clocks show twice each is one of its own; what clocks leave out begins with their jump.
/// Errors: another type; a unit that the type does not have; a zone that is not known; a beginning that 64 bits do not count, or 32 those
/// of dates.
///
/// ```
/// # use extenso_ext::{Unread, constant, date_trunc, to_literal, to_timestamp};
/// let x = constant(vec!["2024-02-29T12:34:56", "2023-12-31T00:00:00"]).unwrap();
/// let x = to_timestamp(&x, "s", None, None, Unread::Raise).unwrap();
/// let begun = |unit: &str| to_literal(&date_trunc(&x, unit).unwrap()).unwrap().to_string();
/// assert_eq!(begun("quarter"), r#"["2024-01-01T00:00:00", "2023-10-01T00:00:00"]"#);
/// assert_eq!(begun("hour"), r#"["2024-02-29T12:00:00", "2023-12-31T00:00:00"]"#);
/// ```
pub fn date_trunc(x: &Value, unit: &str) -> Result<Value> {
    below_filled(x, &first_of, &|x| begun(x, unit)).map_err(|e| e.at_part("date_trunc"))
}

fn begun(x: &Value, unit: &str) -> Result<Value> {
    if let Some(x) = typed::<TimestampTensor>(x) {
        let per_second = x.unit().parse::<TimeUnit>()?.per_second();
        let is_of_days = matches!(unit, "year" | "quarter" | "month" | "week" | "day");
        let passed = |x: &TimestampTensor| {
            let within = within_day(x)?;
            let passed = match is_of_days {
                true => passed_days(&days_of(x)?, unit)?
                    .map(|days| ops::add(ops::multiply(days, 86_400 * per_second)?, within)),
                false => passed_units(&within, per_second, unit)?.map(Ok),
            };
            passed.ok_or_else(|| no_unit(unit, "a timestamp"))?
        };
        // Offsets are of whole seconds, so what is no longer begins with them.
        let is_of_clocks = is_of_days || matches!(unit, "hour" | "minute");
        let Some(shown) = (if is_of_clocks { shown_by_clocks(&x)? } else { None }) else {
            return before(&x, passed(&x)?);
        };
        let local = TimestampTensor::new(shown.tensor()?.clone(), x.unit(), None)?;
        let passed = passed(&local)?;
        let begun = earlier(&shown, passed.clone())?;
        let no_clocks = || Error::internal("a zone has no clocks");
        // Clocks say when a day began in which the offset changed, and an hour that has a part only.
        let first = first_shown(&begun, x.unit(), x.zone())?.ok_or_else(no_clocks)?;
        if is_of_days {
            return Ok(x.over(first)?.into_value());
        }
        let alike = x.over(earlier(&x.elements(), passed)?)?;
        let shows = ops::equal(shown_by_clocks(&alike)?.ok_or_else(no_clocks)?, begun)?;
        return Ok(x.over(ops::where_(shows, alike.elements(), first)?)?.into_value());
    }
    if let Some(x) = typed::<DateTensor>(x) {
        let days = passed_days(&ops::cast(x.days()?, DType::I64)?, unit)?.ok_or_else(|| no_unit(unit, "a date"))?;
        let passed = match x.unit() {
            "d" => days,
            _ => ops::add(ops::multiply(days, 86_400_000_i64)?, ops::remainder(x.values(), 86_400_000_i64)?)?,
        };
        return before(&x, passed);
    }
    let Some(x) = typed::<TimeTensor>(x) else {
        return Err(Error::dtype(format!("found {}", x.spec()?)).wanted("timestamps, dates or times"));
    };
    let per_second = x.unit().parse::<TimeUnit>()?.per_second();
    let passed = passed_units(&ops::cast(x.values(), DType::I64)?, per_second, unit)?;
    before(&x, passed.ok_or_else(|| no_unit(unit, "a time"))?)
}

fn no_unit(unit: &str, of: &str) -> Error {
    let wanted = match of {
        "a date" => "'year', 'quarter', 'month', 'week' or 'day'",
        "a time" => "'hour', 'minute', 'second', 'millisecond' or 'microsecond'",
        _ => UNITS,
    };
    Error::value(format!("{of} has no unit '{unit}'")).wanted(wanted)
}

/// The times that are so many units, of 64 bits, before others.
fn before<T: Meaning + ExtensionType>(x: &T, passed: Value) -> Result<Value> {
    Ok(x.over(earlier(&x.elements(), passed)?)?.into_value())
}

/// Counts without so many units, of 64 bits, in the dtype of the counts.
fn earlier(counts: &Value, passed: Value) -> Result<Value> {
    let wide = ops::cast(counts, DType::I64)?;
    let begun = ops::subtract(&wide, passed)?;
    let narrow = ops::cast(&begun, counts.tensor()?.dtype())?;
    let fits = ops::logical_and(ops::equal(ops::cast(&narrow, DType::I64)?, &begun)?, ops::less_equal(begun, wide)?)?;
    ops::check_all(narrow, fits, "when it began is before all times that can be counted", "a later time")
}

/// The days that have passed of the unit that each is in; none if it is shorter than a day.
fn passed_days(days: &Value, unit: &str) -> Result<Option<Value>> {
    let since_first = |part: &str, days: &Value| match of_days(days, part)? {
        Some(day) => ops::subtract(day, 1_i64),
        None => Err(Error::internal("a day has no such part")),
    };
    Ok(Some(match unit {
        "year" => since_first("day_of_year", days)?,
        "quarter" => {
            // Of the second and third month of a quarter, the days of those before.
            let months = ops::remainder(since_first("month", days)?, 3_i64)?;
            let mut passed = since_first("day", days)?;
            for month in [1_i64, 2] {
                let last = ops::subtract(ops::subtract(days, &passed)?, 1_i64)?;
                let longer = ops::add(ops::add(&passed, 1_i64)?, since_first("day", &last)?)?;
                passed = ops::where_(ops::greater_equal(&months, month)?, longer, passed)?;
            }
            passed
        }
        "month" => since_first("day", days)?,
        "week" => match of_days(days, "weekday")? {
            Some(weekday) => weekday,
            None => return Err(Error::internal("a day has no weekday")),
        },
        "day" => ops::zeros_like(days)?,
        _ => return Ok(None),
    }))
}

/// The units since midnight that have passed of the longer unit that each is in; none if it is no part of a day.
fn passed_units(units: &Value, per_second: i64, unit: &str) -> Result<Option<Value>> {
    let length = match unit {
        "hour" => 3_600 * per_second,
        "minute" => 60 * per_second,
        "second" => per_second,
        // Times of a unit that is no shorter stay.
        "millisecond" => (per_second / 1_000).max(1),
        "microsecond" => (per_second / 1_000_000).max(1),
        _ => return Ok(None),
    };
    ops::remainder(units, length).map(Some)
}
