//! Intervals and times that Parquet writes as twelve bytes, which the crate that decodes does not make exactly.
//!
//! Invariant: a cell becomes what it says, or is refused. The metadata of its field say what it becomes.

use super::times::{DAY, unit_of};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowTimestampType, IntervalDayTimeType, IntervalMonthDayNanoType, IntervalYearMonthType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray, make_array};
use arrow_buffer::{IntervalDayTime, IntervalMonthDayNano, NullBuffer};
use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit};
use extenso_types::{Error, Result};
use std::sync::Arc;

/// What begins the note of a time, before its unit and its zone, and that of an interval, before its unit.
const TIME: &str = "int96";
const INTERVAL: &str = "interval";

/// The day of Julius Caesar's count on which 1970 began.
const EPOCH: i128 = 2_440_588;

/// The names of units, in which `note` writes them.
const TIMES: [(&str, TimeUnit, i128); 4] = [
    ("s", TimeUnit::Second, 1_000_000_000),
    ("ms", TimeUnit::Millisecond, 1_000_000),
    ("us", TimeUnit::Microsecond, 1_000),
    ("ns", TimeUnit::Nanosecond, 1),
];
const INTERVALS: [(&str, IntervalUnit); 3] = [
    ("month", IntervalUnit::YearMonth),
    ("day_time", IntervalUnit::DayTime),
    ("month_day_nano", IntervalUnit::MonthDayNano),
];

/// The unit of a name.
pub fn unit(name: &str) -> Option<TimeUnit> {
    TIMES.iter().find(|(known, ..)| *known == name).map(|(_, unit, _)| *unit)
}

/// What a field notes of the type that its cells become.
pub fn note(data_type: &DataType) -> String {
    match data_type {
        DataType::Timestamp(unit, zone) => {
            let name = TIMES.iter().find(|(_, known, _)| known == unit).map_or("ns", |(name, ..)| name);
            format!("{TIME} {name} {}", zone.as_deref().unwrap_or_default())
        }
        DataType::Interval(unit) => {
            let name = INTERVALS.iter().find(|(_, known)| known == unit).map_or("", |(name, _)| name);
            format!("{INTERVAL} {name}")
        }
        _ => String::new(),
    }
}

/// What the cells of a field become; none if it notes nothing.
pub fn of(field: &Field) -> Option<DataType> {
    if *field.data_type() != DataType::FixedSizeBinary(12) {
        return None;
    }
    let (kind, name) = unit_of(field)?.split_once(' ')?;
    match (kind, name.split_once(' ')) {
        (TIME, Some((name, zone))) => {
            let zone = (!zone.is_empty()).then(|| zone.into());
            Some(DataType::Timestamp(unit(name)?, zone))
        }
        (INTERVAL, None) => {
            INTERVALS.iter().find(|(known, _)| *known == name).map(|(_, unit)| DataType::Interval(*unit))
        }
        _ => None,
    }
}

/// The array of cells as what they become, zero where nobody sees them.
///
/// Errors: a time that its unit does not hold; an interval with a part that its unit does not have.
pub fn made(array: &ArrayRef, data_type: &DataType, hidden: Option<&NullBuffer>) -> Result<ArrayRef> {
    match data_type {
        DataType::Timestamp(unit, zone) => {
            let made = match unit {
                TimeUnit::Second => times::<TimestampSecondType>(array, hidden),
                TimeUnit::Millisecond => times::<TimestampMillisecondType>(array, hidden),
                TimeUnit::Microsecond => times::<TimestampMicrosecondType>(array, hidden),
                TimeUnit::Nanosecond => times::<TimestampNanosecondType>(array, hidden),
            };
            zoned(made?, zone.as_ref())
        }
        DataType::Interval(IntervalUnit::YearMonth) => {
            each::<IntervalYearMonthType>(array, hidden, |parts| match parts {
                [months, 0, 0] => Ok(months.cast_signed()),
                _ => Err(beyond(parts)),
            })
        }
        DataType::Interval(IntervalUnit::DayTime) => each::<IntervalDayTimeType>(array, hidden, |parts| match parts {
            // The parts have no sign in Parquet; writers that leave an Arrow schema of this unit write them with one.
            [0, days, millis] => Ok(IntervalDayTime::new(days.cast_signed(), millis.cast_signed())),
            _ => Err(beyond(parts)),
        }),
        _ => each::<IntervalMonthDayNanoType>(array, hidden, |parts| {
            let [months, days, millis] = parts;
            let whole = |part: u32| i32::try_from(part).map_err(|_| beyond(parts));
            Ok(IntervalMonthDayNano::new(whole(months)?, whole(days)?, i64::from(millis) * 1_000_000))
        }),
    }
}

/// The array in a time zone.
fn zoned(times: ArrayRef, zone: Option<&Arc<str>>) -> Result<ArrayRef> {
    let Some(zone) = zone else { return Ok(times) };
    let DataType::Timestamp(unit, _) = times.data_type() else { return Ok(times) };
    let data_type = DataType::Timestamp(*unit, Some(zone.clone()));
    let data = times.to_data().into_builder().data_type(data_type).build();
    data.map(make_array).map_err(|e| Error::internal(format!("Arrow refuses what was proven: {e}")))
}

/// Times that are written as the nanoseconds of a day, and the number of the day.
fn times<T: ArrowPrimitiveType<Native = i64> + ArrowTimestampType>(
    array: &ArrayRef,
    hidden: Option<&NullBuffer>,
) -> Result<ArrayRef> {
    let (name, _, each) = TIMES.iter().find(|(_, unit, _)| *unit == T::UNIT).copied().unwrap_or(TIMES[3]);
    self::each::<T>(array, hidden, |[low, high, day]| {
        let of_day = i64::from(high) << 32 | i64::from(low);
        let nanos = (i128::from(day.cast_signed()) - EPOCH) * i128::from(DAY) * 1_000_000 + i128::from(of_day);
        let count = (nanos % each == 0).then(|| i64::try_from(nanos / each).ok()).flatten();
        count.ok_or_else(|| {
            let seconds = nanos.div_euclid(1_000_000_000);
            let what = format!(
                "a time {seconds} seconds from 1970, and {} nanoseconds, came",
                nanos.rem_euclid(1_000_000_000)
            );
            let error = Error::value(what).wanted(format!("times that 64 bits count in the unit '{name}', exactly"));
            error.hint("Read the file with a spec whose timestamps have another unit, such as 'us'")
        })
    })
}

/// An interval with a part that its unit does not hold.
fn beyond([months, days, millis]: [u32; 3]) -> Error {
    let what = format!("an interval of {months} months, {days} days and {millis} milliseconds came");
    Error::value(what)
        .wanted("months and days that fit i32, and no part that the unit in the Arrow schema of the file does not have")
}

/// The counts of cells of three numbers each.
fn each<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    hidden: Option<&NullBuffer>,
    of: impl Fn([u32; 3]) -> Result<T::Native>,
) -> Result<ArrayRef> {
    let cells = array.as_fixed_size_binary();
    let count = |i: usize| {
        if hidden.is_some_and(|hidden| hidden.is_null(i)) {
            return Ok(T::Native::default());
        }
        let part = |bytes: &[u8]| bytes.first_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let cell = cells.value(i);
        of([part(cell), part(&cell[4..]), part(&cell[8..])])
    };
    let counts = (0..cells.len()).map(count).collect::<Result<Vec<T::Native>>>()?;
    Ok(Arc::new(PrimitiveArray::<T>::new(counts.into(), cells.nulls().cloned())))
}
