//! Times of integers, of texts and of other times, in rows and under masks.

use super::calendar::{days_of, within_day};
use super::texts::{TIME_IS_TEXT, TimeText, counted, form, parsed, shown, some_text};
use super::unit::{in_unit, rescaled};
use super::zone::{fixed, when_clocks_show};
use super::{DateTensor, DurationTensor, TimeTensor, TimeUnit, TimestampTensor};
use crate::args::typed;
use crate::meaning::nested::{below_filled, is_text, under_meaning_of};
use crate::meaning::unread::{Unread, to_read};
use crate::written::each;
use extenso_core::{Arg, ExtensionType, Tensor, Value, ops};
use extenso_types::{DType, DTypeKind, Error, Result};

/// Timestamps: of integers, so many units since 1970-01-01T00:00:00, in UTC where there is a zone; of texts of RFC 3339, which say their
/// offset where there is a zone and none where there is not, or of a format as for [`strftime`]; the midnights at which dates begin in
/// the zone; and timestamps in another unit, or seen in another zone.
///
/// A text of a format without an offset is a time of the zone, and one of a day alone the midnight at which it begins. One that is not
/// read is an error or missing, as `unread` says.
/// A time that clocks of the zone show twice is the first of the two; one that they leave out is as far behind the jump.
/// Errors: other values; another unit than `s`, `ms`, `us` or `ns`; a text that is not exactly so many units; a zone that is not known;
/// timestamps of which only the given ones, or only the wanted ones, have a zone; a count that
/// 64 bits do not hold.
///
/// ```
/// # use extenso_ext::{Unread, constant, to_literal, to_timestamp};
/// let x = to_timestamp(&constant(vec![vec![0, 60], vec![]]).unwrap(), "s", None, None, Unread::Raise).unwrap();
/// assert_eq!(to_literal(&x).unwrap().to_string(), r#"[["1970-01-01T00:00:00", "1970-01-01T00:01:00"], []]"#);
/// let x = to_timestamp(&constant(vec!["2001-02-03T04:05:06Z"]).unwrap(), "s", Some("UTC"), None, Unread::Raise).unwrap();
/// assert_eq!(to_literal(&x).unwrap().to_string(), r#"["2001-02-03T04:05:06Z"]"#);
/// let x = to_timestamp(&constant(vec!["03/02/2001 4:05 PM"]).unwrap(), "s", None, Some("%d/%m/%Y %I:%M %p"), Unread::Raise).unwrap();
/// assert_eq!(to_literal(&x).unwrap().to_string(), r#"["2001-02-03T16:05:00"]"#);
/// let x = to_timestamp(&constant(vec!["2001-02-03", "soon"]).unwrap(), "s", None, Some("%F"), Unread::Missing).unwrap();
/// assert_eq!(to_literal(&x).unwrap().to_string(), r#"["2001-02-03T00:00:00", None]"#);
/// ```
pub fn to_timestamp(x: &Value, unit: &str, zone: Option<&str>, format: Option<&str>, unread: Unread) -> Result<Value> {
    let of = |counts| Ok(TimestampTensor::new(counts, unit, zone)?.into_value());
    let form = &form("timestamp", unit, zone, format);
    let made = below_times(x, form, unread, &|x| {
        if let Some(moments) = typed::<TimestampTensor>(x) {
            return of(seen_in(&moments, unit, zone)?);
        }
        match typed::<DateTensor>(x) {
            Some(dates) => of(midnights(&dates, unit, zone)?),
            None if is_text(x) => of(parsed(x, form)?),
            None => of(integers(x, DType::I64, "integers, texts, dates or timestamps")?),
        }
    });
    made.map_err(|e| e.at_part("to_timestamp"))
}

/// Dates: of integers, so many days since 1970-01-01; of texts, such as `2001-02-03`, or of a format as for [`strftime`]; and the date of
/// each timestamp, in its zone.
///
/// Errors: other values; a text that is no date; a zone that is not known; a day that 32 bits do not count.
///
/// ```
/// # use extenso_core::{ExtensionType, Tensor};
/// # use extenso_ext::{TimestampTensor, Unread, to_date, to_literal};
/// let x = TimestampTensor::new(Tensor::from_vec(vec![-1_i64, 0]), "s", Some("-00:30")).unwrap().into_value();
/// assert_eq!(to_literal(&to_date(&x, None, Unread::Raise).unwrap()).unwrap().to_string(), r#"["1969-12-31", "1969-12-31"]"#);
/// ```
pub fn to_date(x: &Value, format: Option<&str>, unread: Unread) -> Result<Value> {
    let dates = |days: Tensor| Ok(DateTensor::new(days, "d")?.into_value());
    let form = &form("date", "d", None, format);
    let made = below_times(x, form, unread, &|x| match typed::<TimestampTensor>(x) {
        Some(moments) => dates(held(&days_of(&moments)?, DType::I32, "day", "a day within 5.8 million years")?),
        None if typed::<DateTensor>(x).is_some() => Ok(x.clone()),
        None if is_text(x) => dates(parsed(x, form)?),
        None => dates(integers(x, DType::I32, "integers, texts or timestamps")?),
    });
    made.map_err(|e| e.at_part("to_date"))
}

/// Times of a day: of integers, so many units since midnight; of texts, such as `04:05:06.5`, or of a format as for [`strftime`]; the time
/// of day of each timestamp, in its zone; and times in another unit.
///
/// What is finer than the unit is left out of times, and an error in a text. Errors: as [`to_timestamp`].
pub fn to_time(x: &Value, unit: &str, format: Option<&str>, unread: Unread) -> Result<Value> {
    let made = || {
        let dtype = match unit.parse()? {
            TimeUnit::Second | TimeUnit::Millisecond => DType::I32,
            TimeUnit::Microsecond | TimeUnit::Nanosecond => DType::I64,
        };
        let times = |counts| Ok(TimeTensor::new(counts, unit)?.into_value());
        let form = &form("time", unit, None, format);
        below_times(x, form, unread, &|x| match typed::<TimestampTensor>(x) {
            Some(moments) => {
                let wide = rescaled(within_day(&moments)?.tensor()?, moments.unit(), unit)?;
                times(ops::cast(wide, dtype)?.tensor()?.clone())
            }
            None if typed::<TimeTensor>(x).is_some() => in_unit(x, unit),
            None if is_text(x) => times(parsed(x, form)?),
            None => times(within_a_day(integers(x, dtype, "integers, texts, timestamps or times")?, unit)?),
        })
    };
    made().map_err(|e: Error| e.at_part("to_time"))
}

/// Durations: of integers, so many units; of texts, such as `1.5s` or `PT1.5S`; and durations in another unit.
///
/// Errors: as [`to_timestamp`].
pub fn to_duration(x: &Value, unit: &str, unread: Unread) -> Result<Value> {
    let durations = |counts| Ok(DurationTensor::new(counts, unit)?.into_value());
    let form = &form("duration", unit, None, None);
    let made = below_times(x, form, unread, &|x| match typed::<DurationTensor>(x) {
        Some(_) => in_unit(x, unit),
        None if is_text(x) => durations(parsed(x, form)?),
        None => durations(integers(x, DType::I64, "integers, texts or durations")?),
    });
    made.map_err(|e| e.at_part("to_duration"))
}

/// The text of each timestamp, date or time of a day in a format: the directives of
/// [`strftime`](https://docs.rs/chrono/latest/chrono/format/strftime), but that `%f` is six digits of a second's fraction, nine of `ns`.
///
/// A timestamp with a zone is written in its zone. What is missing is missing in the texts.
/// Errors: other values; directives of what such times do not have, and the name of a zone; a zone that is not known; years that are not within 262 thousand of the present.
///
/// ```
/// # use extenso_ext::{Unread, constant, strftime, to_timestamp};
/// let x = to_timestamp(&constant(vec![86_399, 951_782_400]).unwrap(), "s", Some("+05:30"), None, Unread::Raise).unwrap();
/// assert_eq!(strftime(&x, "%a %d %b %Y %H:%M %z").unwrap().to_string(), r#"["Fri 02 Jan 1970 05:29 +0530", "Tue 29 Feb 2000 05:30 +0530"]"#);
/// ```
pub fn strftime(x: &Value, format: &str) -> Result<Value> {
    let texts = below_filled(x, &first_of, &|x| {
        let error = || Err(Error::dtype(format!("found {}", x.spec()?)).wanted("timestamps, dates or times of a day"));
        shown(x, Some(format))?.map_or_else(error, Ok)
    });
    texts.map_err(|e| e.at_part("strftime"))
}

/// What is below rows and masks, where what is missing is a text that is read, or 0.
fn below_times(x: &Value, form: &TimeText, unread: Unread, f: &dyn Fn(&Value) -> Result<Value>) -> Result<Value> {
    let first = |x: &Value| match x {
        _ if is_text(x) => some_text(form).map(|text| Some(text.as_str().into())),
        Value::Tensor(numbers) => Ok(numbers.dtype().is_integer().then(|| 0_i64.into())),
        _ => first_of(x),
    };
    below_filled(&to_read(x, unread, &TIME_IS_TEXT, form)?, &first, f)
}

/// The time of this type that counts 0, which stands for those that are missing.
pub(super) fn first_of(x: &Value) -> Result<Option<Arg>> {
    let Some((counts, _)) = counted(x, None) else { return Ok(None) };
    let zero = ops::cast(Tensor::scalar(0_i64), counts.dtype())?;
    under_meaning_of(x, &zero).map(|first| Some(first.into()))
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
    let per_day = 86_400 * per_second;
    let days = ops::cast(dates.days()?, DType::I64)?;
    let most = i64::MAX / per_day - 1;
    let fits = ops::logical_and(ops::less_equal(&days, most)?, ops::greater_equal(&days, -most)?)?;
    let days = ops::check_all(days, fits, "the day does not fit 64 bits in the unit", "a coarser unit")?;
    let shown = ops::multiply(days, per_day)?;
    if let Some(made) = when_clocks_show(&shown, unit, zone)? {
        return made.tensor().cloned();
    }
    ops::subtract(shown, zone.and_then(fixed).unwrap_or_default() * per_second)?.tensor().cloned()
}

/// The same integers in 32 bits, if they are there and all fit.
fn narrowed(x: &Value) -> Option<Tensor> {
    let dense = x.tensor().ok()?.data().ok()?;
    let wide = dense.as_slice::<i64>().ok()?;
    let narrow = each(wide.len(), |i| i32::try_from(wide[i]).ok())?;
    Tensor::from_vec(narrow).with_dims(dense.dims()).ok()
}

/// Integers as the dtype that counts times.
///
/// Errors: no integers; one that the dtype does not hold.
fn integers(x: &Value, dtype: DType, wanted: &str) -> Result<Tensor> {
    match x.tensor().map(Tensor::dtype) {
        Ok(given) if given.is_integer() => held(x, dtype, "number", "times that are counted so"),
        _ => Err(Error::dtype(format!("found {}", x.spec()?)).wanted(wanted)),
    }
}

/// Integers in 32 or 64 bits.
///
/// Errors: one that these do not hold.
fn held(x: &Value, dtype: DType, what: &str, wanted: &str) -> Result<Tensor> {
    let given = x.tensor()?.dtype();
    if given == dtype || given.width() < dtype.width() {
        return ops::cast(x, dtype)?.tensor().cloned();
    }
    let (least, most, bits) = match dtype {
        DType::I32 => (i64::from(i32::MIN), i64::from(i32::MAX), 32),
        _ => (i64::MIN, i64::MAX, 64),
    };
    if let Some(made) = narrowed(x).filter(|_| bits == 32) {
        return Ok(made);
    }
    let mut fits = ops::less_equal(x, most)?;
    if given.kind() == DTypeKind::Signed {
        fits = ops::logical_and(fits, ops::greater_equal(x, least)?)?;
    }
    let checked = ops::check_all(x, fits, format!("the {what} does not fit {bits} bits"), wanted)?;
    ops::cast(checked, dtype)?.tensor().cloned()
}

/// Counts of units since midnight.
///
/// Errors: one that is before it, or of another day.
fn within_a_day(counts: Tensor, unit: &str) -> Result<Tensor> {
    let per_day = 86_400 * unit.parse::<TimeUnit>()?.per_second();
    let fits = ops::logical_and(ops::greater_equal(&counts, 0)?, ops::less(&counts, per_day)?)?;
    let wanted = format!("from 0 to before {per_day}, as many as a day has");
    ops::check_all(counts, fits, "the number is no time of a day", &wanted)?.tensor().cloned()
}
