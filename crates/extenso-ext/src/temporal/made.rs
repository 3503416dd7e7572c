//! Times of integers, of texts and of other times, in rows and under masks.

use super::calendar::{days_of, offset_of, within_day};
use super::texts::parsed;
use super::unit::{in_unit, rescaled};
use super::{DateTensor, DurationTensor, TimeTensor, TimeUnit, TimestampTensor};
use crate::args::typed;
use crate::meaning::nested::below_of_texts;
use extenso_core::{ExtensionType, Tensor, Value, ops};
use extenso_types::{DType, Error, Result};

/// Timestamps: of integers, so many units since 1970-01-01T00:00:00, in UTC where there is a zone; of texts of RFC 3339, which say their
/// offset where there is a zone and none where there is not; the midnights at which dates begin in the zone; and timestamps in another
/// unit, or seen in another zone.
///
/// Errors: other values; another unit than `s`, `ms`, `us` or `ns`; a text that is not exactly so many units; dates in a zone by name,
/// whose offsets change and are not known here; timestamps of which only the given ones, or only the wanted ones, have a zone; a count that
/// 64 bits do not hold.
///
/// ```
/// # use extenso_ext::{constant, to_literal, to_timestamp};
/// let x = to_timestamp(&constant(vec![vec![0, 60], vec![]]).unwrap(), "s", None).unwrap();
/// assert_eq!(to_literal(&x).unwrap().to_string(), r#"[["1970-01-01T00:00:00", "1970-01-01T00:01:00"], []]"#);
/// let x = to_timestamp(&constant(vec!["2001-02-03T04:05:06Z"]).unwrap(), "s", Some("UTC")).unwrap();
/// assert_eq!(to_literal(&x).unwrap().to_string(), r#"["2001-02-03T04:05:06Z"]"#);
/// ```
pub fn to_timestamp(x: &Value, unit: &str, zone: Option<&str>) -> Result<Value> {
    let of = |counts| Ok(TimestampTensor::new(counts, unit, zone)?.into_value());
    let stand_in = if zone.is_some() { "1970-01-01T00:00:00Z" } else { "1970-01-01T00:00:00" };
    let made = below_of_texts(x, stand_in, &|x| {
        if let Some(moments) = typed::<TimestampTensor>(x) {
            return of(seen_in(&moments, unit, zone)?);
        }
        match typed::<DateTensor>(x) {
            Some(dates) => of(midnights(&dates, unit, zone)?),
            None if is_text(x) => of(parsed(x, "timestamp", unit, zone)?),
            None => of(integers(x, DType::I64).map_err(|e| e.wanted("integers, texts, dates or timestamps"))?),
        }
    });
    made.map_err(|e| e.at("to_timestamp"))
}

/// Dates: of integers, so many days since 1970-01-01; of texts, such as `2001-02-03`; and the date of each timestamp, in its zone.
///
/// Errors: other values; a text that is no date; a zone by name, whose offsets change and are not known here; a day that 32 bits do not
/// count.
///
/// ```
/// # use extenso_core::{ExtensionType, Tensor};
/// # use extenso_ext::{TimestampTensor, to_date, to_literal};
/// let x = TimestampTensor::new(Tensor::from_vec(vec![-1_i64, 0]), "s", Some("-00:30")).unwrap().into_value();
/// assert_eq!(to_literal(&to_date(&x).unwrap()).unwrap().to_string(), r#"["1969-12-31", "1969-12-31"]"#);
/// ```
pub fn to_date(x: &Value) -> Result<Value> {
    let dates = |days: Tensor| Ok(DateTensor::new(days, "d")?.into_value());
    let made = below_of_texts(x, "1970-01-01", &|x| match typed::<TimestampTensor>(x) {
        Some(moments) => dates(counted_days(days_of(&moments)?)?),
        None if typed::<DateTensor>(x).is_some() => Ok(x.clone()),
        None if is_text(x) => dates(parsed(x, "date", "d", None)?),
        None => dates(integers(x, DType::I32).map_err(|e| e.wanted("integers, texts or timestamps"))?),
    });
    made.map_err(|e| e.at("to_date"))
}

/// Times of a day: of integers, so many units since midnight; of texts, such as `04:05:06.5`; the time of day of each timestamp, in its
/// zone; and times in another unit.
///
/// What is finer than the unit is left out of times, and an error in a text. Errors: as [`to_timestamp`].
pub fn to_time(x: &Value, unit: &str) -> Result<Value> {
    let made = || {
        let dtype = match unit.parse()? {
            TimeUnit::Second | TimeUnit::Millisecond => DType::I32,
            TimeUnit::Microsecond | TimeUnit::Nanosecond => DType::I64,
        };
        let times = |counts| Ok(TimeTensor::new(counts, unit)?.into_value());
        below_of_texts(x, "00:00:00", &|x| match typed::<TimestampTensor>(x) {
            Some(moments) => {
                let wide = rescaled(within_day(&moments)?.tensor()?, moments.unit(), unit)?;
                times(ops::cast(wide, dtype)?.tensor()?.clone())
            }
            None if typed::<TimeTensor>(x).is_some() => in_unit(x, unit),
            None if is_text(x) => times(parsed(x, "time", unit, None)?),
            None => times(integers(x, dtype).map_err(|e| e.wanted("integers, texts, timestamps or times"))?),
        })
    };
    made().map_err(|e: Error| e.at("to_time"))
}

/// Durations: of integers, so many units; of texts, such as `1.5s` or `PT1.5S`; and durations in another unit.
///
/// Errors: as [`to_timestamp`].
pub fn to_duration(x: &Value, unit: &str) -> Result<Value> {
    let durations = |counts| Ok(DurationTensor::new(counts, unit)?.into_value());
    let made = below_of_texts(x, "0s", &|x| match typed::<DurationTensor>(x) {
        Some(_) => in_unit(x, unit),
        None if is_text(x) => durations(parsed(x, "duration", unit, None)?),
        None => durations(integers(x, DType::I64).map_err(|e| e.wanted("integers, texts or durations"))?),
    });
    made.map_err(|e| e.at("to_duration"))
}

/// The counts of timestamps in another unit, of a zone that says when they are.
fn seen_in(x: &TimestampTensor, unit: &str, zone: Option<&str>) -> Result<Tensor> {
    if x.zone().is_some() != zone.is_some() {
        let of = |zone: Option<&str>| zone.map_or("no zone".to_string(), |zone| format!("the zone {zone}"));
        return Err(Error::value(format!("the timestamps have {}", of(x.zone())))
            .wanted(format!("timestamps that have {} as well", if zone.is_some() { "a zone" } else { "none" })));
    }
    rescaled(x.values(), x.unit(), unit)
}

/// The counts of the units at which dates begin.
fn midnights(dates: &DateTensor, unit: &str, zone: Option<&str>) -> Result<Tensor> {
    let per_second = unit.parse::<TimeUnit>()?.per_second();
    let (per_day, ahead) = (86_400 * per_second, zone.map_or(Ok(0), offset_of)? * per_second);
    let days = ops::cast(dates.days()?, DType::I64)?;
    let most = i64::MAX / per_day - 1;
    let fits = ops::logical_and(ops::less_equal(&days, most)?, ops::greater_equal(&days, -most)?)?;
    let days = ops::check_all(days, fits, "the day does not fit 64 bits in the unit", "a coarser unit")?;
    ops::subtract(ops::multiply(days, per_day)?, ahead)?.tensor().cloned()
}

/// Days as 32 bits.
fn counted_days(days: Value) -> Result<Tensor> {
    let fits = ops::equal(ops::cast(ops::cast(&days, DType::I32)?, DType::I64)?, &days)?;
    let days = ops::check_all(days, fits, "the day does not fit 32 bits", "a day within 5.8 million years")?;
    Ok(ops::cast(days, DType::I32)?.tensor()?.clone())
}

fn is_text(x: &Value) -> bool {
    x.tensor().is_ok_and(|tensor| tensor.dtype() == DType::String)
}

fn integers(x: &Value, dtype: DType) -> Result<Tensor> {
    match x.tensor().map(|tensor| tensor.dtype()) {
        Ok(given) if given.is_integer() => ops::cast(x, dtype)?.tensor().cloned(),
        _ => Err(Error::dtype(format!("found {}", x.spec()?))),
    }
}
