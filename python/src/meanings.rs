//! Times, decimals and categories: their functions.
//!
//! Holds no logic of a type: arguments become values, `extenso_ext` does the work.

use crate::error::{OrRaise, guarded};
use crate::typed::{Typed, typed};
use crate::value;
use extenso_core::{ExtensionType, Tensor, Value};
use extenso_ext::{
    CategoricalTensor, DateTensor, DecimalTensor, DurationTensor, FixedBytesTensor, IntervalTensor, TimeTensor,
    TimestampTensor, Unread, to_categorical,
};
use extenso_types::{Error, Result};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Meanings>()?;
    module.add_function(wrap_pyfunction!(date_part, module)?)?;
    module.add_function(wrap_pyfunction!(date_trunc, module)?)?;
    module.add_function(wrap_pyfunction!(cast_unit, module)?)?;
    module.add_function(wrap_pyfunction!(to_decimal, module)?)?;
    module.add_function(wrap_pyfunction!(to_timestamp, module)?)?;
    module.add_function(wrap_pyfunction!(to_date, module)?)?;
    module.add_function(wrap_pyfunction!(to_time, module)?)?;
    module.add_function(wrap_pyfunction!(to_duration, module)?)?;
    module.add_function(wrap_pyfunction!(strftime, module)?)?;
    module.add_function(wrap_pyfunction!(decimal_to_string, module)?)
}

type Object<'py> = Bound<'py, PyAny>;

/// What becomes of texts that a function does not read.
fn unread(function: &'static str, on_error: &str) -> Result<Unread> {
    on_error.parse().map_err(|e: Error| e.at(function))
}

fn applied<'py>(x: &Object<'py>, f: impl FnOnce(&Value) -> Result<Value>) -> PyResult<Object<'py>> {
    let given = value::from_py(x)?;
    value::to_py(x.py(), guarded(|| f(&given)).or_raise()?)
}

/// One part of each date, time or timestamp, as `i64`.
///
/// Parts are `year`, `quarter`, `month`, `week` of the `iso_year` (ISO 8601), `day`, `weekday` (Monday is 0), `day_of_year` (from 1), `hour`, `minute`, `second`, and `nanosecond` within
/// the second. A timestamp with a zone has the parts of its zone: UTC, an offset such as `+05:30`, or a name of the IANA database.
///
/// >>> import extenso as ex
/// >>> ex.date_part(ex.DateTensor([0, 19782], "d"), "year").tolist()
/// [1970, 2024]
#[pyfunction]
fn date_part<'py>(x: &Object<'py>, part: Typed<&str>) -> PyResult<Object<'py>> {
    typed!(date_part: part);
    applied(x, |x| extenso_ext::date_part(x, part))
}

/// When the year, month, day or the like began that each date, timestamp or time is in.
///
/// Units are `year`, `quarter`, `month`, `week`, which begins on Monday, `day`, `hour`, `minute`, `second`, `millisecond` and `microsecond`;
/// those of a day and longer for dates, those shorter than a day for times. A timestamp with a zone is in the day of its zone. The type stays,
/// and what is missing.
/// Errors: a unit that the type does not have; a zone that is not known; a beginning that the type does not count.
///
/// >>> import extenso as ex
/// >>> x = ex.to_timestamp([["2024-02-29T12:34:56"], []], "s")
/// >>> ex.date_trunc(x, "month").to_py(), ex.date_trunc(x, "hour").to_py()
/// ([['2024-02-01T00:00:00'], []], [['2024-02-29T12:00:00'], []])
#[pyfunction]
fn date_trunc<'py>(x: &Object<'py>, unit: Typed<&str>) -> PyResult<Object<'py>> {
    typed!(date_trunc: unit);
    applied(x, |x| extenso_ext::date_trunc(x, unit))
}

/// Timestamps, dates, times and durations in another unit: `s`, `ms`, `us` or `ns`, for dates `d` or `ms`.
///
/// Counts are rounded down where the unit is coarser; one that does not fit is an error.
///
/// >>> import extenso as ex
/// >>> ex.cast_unit(ex.DurationTensor([1500], "ms"), "s").to_py()
/// ['1s']
#[pyfunction]
fn cast_unit<'py>(x: &Object<'py>, unit: Typed<&str>) -> PyResult<Object<'py>> {
    typed!(cast_unit: unit);
    applied(x, |x| extenso_ext::cast_unit(x, unit))
}

/// Decimals as strings, exact.
///
/// >>> import extenso as ex
/// >>> ex.decimal_to_string(ex.DecimalTensor.parse(["1.5"], 10, 2)).tolist()
/// ['1.50']
#[pyfunction]
fn decimal_to_string<'py>(x: &Object<'py>) -> PyResult<Object<'py>> {
    applied(x, extenso_ext::decimal_to_string)
}

/// Numbers, or texts of numbers, as decimals of `precision` digits, of which `scale` stand behind the point, rounded half to even.
///
/// Decimals get other digits so. A float is the shortest number that is read as it. With `on_error="missing"` a text that is no number, or
/// one of more digits, is missing, and texts give a masked value; otherwise it is an error.
///
/// >>> import extenso as ex
/// >>> ex.to_decimal([1.005, 2.0], 10, 2).to_py()
/// ['1.00', '2.00']
/// >>> ex.to_decimal(["1.5", "?"], 10, 2, on_error="missing").to_py()
/// ['1.50', None]
#[pyfunction]
#[pyo3(signature = (x, precision, scale, *, on_error=Typed::new("raise")), text_signature = "(x, precision, scale, *, on_error=\"raise\")")]
fn to_decimal<'py>(
    x: &Object<'py>,
    precision: Typed<i64>,
    scale: Typed<i64>,
    on_error: Typed<&str>,
) -> PyResult<Object<'py>> {
    typed!(to_decimal: precision, scale, on_error);
    applied(x, |x| extenso_ext::to_decimal(x, precision, scale, unread("to_decimal", on_error)?))
}

/// Timestamps in `unit` (`s`, `ms`, `us` or `ns`): of integers, so many units since 1970-01-01T00:00:00, in UTC where there is a zone; of texts
/// of RFC 3339, which say their offset where there is a zone; of dates, their midnights in the zone; and of timestamps.
///
/// A time that clocks of the zone show twice is the first of the two; one that they leave out is as far behind the jump.
/// With `on_error="missing"` a text that is not exactly so many units is missing, and texts give a masked value.
/// Errors: otherwise such a text, with its position; a zone that is not known; timestamps of which only the given or only the wanted have a
/// zone; a count that 64 bits do not hold.
///
/// >>> import extenso as ex
/// >>> ex.to_timestamp([[0, 60], []], "s").to_py()
/// [['1970-01-01T00:00:00', '1970-01-01T00:01:00'], []]
/// >>> ex.to_timestamp(["2024-02-29T12:00:00+01:00"], "s", "UTC").to_py()
/// ['2024-02-29T11:00:00Z']
/// >>> ex.to_timestamp(ex.to_date(["2024-02-29"]), "s").to_py()
/// ['2024-02-29T00:00:00']
/// >>> ex.to_timestamp(["29/02/2024 1:30 PM"], "s", "UTC", format="%d/%m/%Y %I:%M %p").to_py()
/// ['2024-02-29T13:30:00Z']
/// >>> ex.to_timestamp([["2024-02-29T12:00:00", "soon"], []], "s", on_error="missing").to_py()
/// [['2024-02-29T12:00:00', None], []]
#[pyfunction]
#[pyo3(signature = (x, unit, zone=None, format=None, *, on_error=Typed::new("raise")), text_signature = "(x, unit, zone=None, format=None, *, on_error=\"raise\")")]
fn to_timestamp<'py>(
    x: &Object<'py>,
    unit: Typed<&str>,
    zone: Option<Typed<&str>>,
    format: Option<Typed<&str>>,
    on_error: Typed<&str>,
) -> PyResult<Object<'py>> {
    typed!(to_timestamp: unit, zone, format, on_error);
    applied(x, |x| extenso_ext::to_timestamp(x, unit, zone, format, unread("to_timestamp", on_error)?))
}

/// Dates: of integers, so many days since 1970-01-01; of texts such as `2001-02-03`; and the date of each timestamp, in its zone.
///
/// With `on_error="missing"` a text that is no date is missing, and texts give a masked value.
/// Errors: otherwise such a text, with its position; a zone that is not known; a day that 32 bits do not count.
///
/// >>> import extenso as ex
/// >>> ex.to_date([0, 31]).to_py()
/// ['1970-01-01', '1970-02-01']
/// >>> ex.to_date(ex.to_timestamp([86399, 86400], "s")).to_py()
/// ['1970-01-01', '1970-01-02']
/// >>> ex.to_date([["2024-02-29"], []]).to_py()
/// [['2024-02-29'], []]
/// >>> ex.to_date(["29 Feb 2024"], format="%d %b %Y").to_py()
/// ['2024-02-29']
#[pyfunction]
#[pyo3(signature = (x, format=None, *, on_error=Typed::new("raise")), text_signature = "(x, format=None, *, on_error=\"raise\")")]
fn to_date<'py>(x: &Object<'py>, format: Option<Typed<&str>>, on_error: Typed<&str>) -> PyResult<Object<'py>> {
    typed!(to_date: format, on_error);
    applied(x, |x| extenso_ext::to_date(x, format, unread("to_date", on_error)?))
}

/// The text of each timestamp, date or time of a day in a format; what is missing is missing in the texts.
///
/// The format has the directives of Python's `strftime` (English names, `%f` is nine digits of `ns`) and those that
/// [chrono](https://docs.rs/chrono/latest/chrono/format/strftime) adds. A timestamp with a zone is written in its zone.
/// Errors: other values; directives of what such times do not have; `%Z`; a zone that is not known.
///
/// >>> import extenso as ex
/// >>> x = ex.to_timestamp([["2024-02-29T12:00:00Z"], []], "s", "+01:00")
/// >>> ex.strftime(x, "%a %d.%m.%y %H:%M %z").to_py()
/// [['Thu 29.02.24 13:00 +0100'], []]
#[pyfunction]
fn strftime<'py>(x: &Object<'py>, format: Typed<&str>) -> PyResult<Object<'py>> {
    typed!(strftime: format);
    applied(x, |x| extenso_ext::strftime(x, format))
}

/// Times of a day in `unit` (`s`, `ms`, `us` or `ns`): of integers, so many units since midnight; of texts such as `04:05:06.5`; the time of day
/// of each timestamp, in its zone; and of times, without what is finer.
///
/// With `on_error="missing"` a text that is not exactly so many units is missing, and texts give a masked value.
/// Errors: otherwise such a text, with its position; a zone that is not known.
///
/// >>> import extenso as ex
/// >>> ex.to_time([90], "s").to_py()
/// ['00:01:30']
/// >>> ex.to_time(ex.to_timestamp(["2024-02-29T12:34:56.789"], "ms"), "s").to_py()
/// ['12:34:56']
/// >>> ex.to_time(["1234"], "s", format="%H%M").to_py()
/// ['12:34:00']
#[pyfunction]
#[pyo3(signature = (x, unit, format=None, *, on_error=Typed::new("raise")), text_signature = "(x, unit, format=None, *, on_error=\"raise\")")]
fn to_time<'py>(
    x: &Object<'py>,
    unit: Typed<&str>,
    format: Option<Typed<&str>>,
    on_error: Typed<&str>,
) -> PyResult<Object<'py>> {
    typed!(to_time: unit, format, on_error);
    applied(x, |x| extenso_ext::to_time(x, unit, format, unread("to_time", on_error)?))
}

/// Durations in `unit` (`s`, `ms`, `us` or `ns`): of integers, so many units; of texts such as `1.5s` or `PT1.5S`; and of durations, rounded
/// down.
///
/// With `on_error="missing"` a text that is not exactly so many units is missing, and texts give a masked value.
/// Errors: otherwise such a text, with its position.
///
/// >>> import extenso as ex
/// >>> ex.to_duration([90], "s").to_py()
/// ['90s']
/// >>> ex.to_duration(["1.5s", "PT1M"], "ms").to_py()
/// ['1500ms', '60000ms']
#[pyfunction]
#[pyo3(signature = (x, unit, *, on_error=Typed::new("raise")), text_signature = "(x, unit, *, on_error=\"raise\")")]
fn to_duration<'py>(x: &Object<'py>, unit: Typed<&str>, on_error: Typed<&str>) -> PyResult<Object<'py>> {
    typed!(to_duration: unit, on_error);
    applied(x, |x| extenso_ext::to_duration(x, unit, unread("to_duration", on_error)?))
}

/// What the objects of a class of Python's `decimal`, `datetime` or `uuid` are.
#[derive(Clone, Copy, PartialEq)]
pub enum Meant {
    Decimal,
    Uuid,
    Duration,
    Date,
    /// A time of day.
    Time,
    /// A point in time.
    Moment,
    /// The time that is none, of pandas.
    NoTime,
}

impl Meant {
    /// What the objects of a class are; none of another class. The modules stand in `sys.modules` if there are objects of theirs.
    pub fn of(class: &Bound<'_, PyType>) -> PyResult<Option<Meant>> {
        let modules = class.py().import("sys")?.getattr("modules")?;
        // The `NaT` of pandas is an object of `datetime`, and is not what it is; a datetime is a date.
        let times =
            [("datetime", Meant::Moment), ("date", Meant::Date), ("time", Meant::Time), ("timedelta", Meant::Duration)];
        let times = times.map(|(name, kind)| ("datetime", name, kind));
        let names = [("decimal", "Decimal", Meant::Decimal), ("uuid", "UUID", Meant::Uuid)].into_iter().chain(times);
        for (module, name, kind) in names {
            if let Ok(module) = modules.get_item(module)
                && class.is_subclass(&module.getattr(name)?)?
            {
                let none = matches!(kind, Meant::Moment | Meant::Duration) && class.name()?.to_cow()? == "NaTType";
                return Ok(Some(if none { Meant::NoTime } else { kind }));
            }
        }
        Ok(None)
    }
}

/// The value that an object of Python's `decimal`, `datetime` or `uuid` is.
///
/// Errors: a decimal that is no number, or has too many digits; a time that 64 bits do not hold; a time of day of a zone.
pub fn of_object(object: &Object<'_>, kind: Meant) -> PyResult<Value> {
    match kind {
        Meant::Decimal => of_decimal(object),
        Meant::Uuid => {
            let bytes: Vec<u8> = object.getattr("bytes")?.extract()?;
            let made = Tensor::new(&[bytes.len()], &bytes).and_then(|cells| FixedBytesTensor::new(cells, Some("uuid")));
            made.map(ExtensionType::into_value).or_raise()
        }
        Meant::NoTime => {
            let error = Error::value(format!("found {object}")).wanted("a time").hint("Write None in `constant`.");
            Err(error).or_raise()
        }
        Meant::Duration => {
            let nanos = object.getattr_opt(intern!(object.py(), "nanoseconds"))?;
            let (count, unit) =
                counted(seconds_of(object)?, part(object, intern!(object.py(), "microseconds"))?, nanos, object)?;
            DurationTensor::new(count, unit).map(ExtensionType::into_value).or_raise()
        }
        Meant::Date => {
            let days = i32::try_from(days_of(object)?).map_err(|_| beyond(object)).or_raise()?;
            DateTensor::new(Tensor::scalar(days), "d").map(ExtensionType::into_value).or_raise()
        }
        Meant::Time => of_day(object),
        Meant::Moment => of_moment(object),
    }
}

fn of_decimal(object: &Object<'_>) -> PyResult<Value> {
    let py = object.py();
    let wrong = || Error::value(format!("found {object}")).wanted("a decimal number of at most 76 digits");
    // What is no number has no places either.
    if !(-76..76).contains(&object.call_method0(intern!(py, "adjusted"))?.extract::<i64>()?) {
        return Err(wrong()).or_raise();
    }
    let text = object.call_method1(intern!(py, "__format__"), (intern!(py, "f"),))?;
    let made = DecimalTensor::one(text.cast::<PyString>()?.to_cow()?.as_ref()).map(ExtensionType::into_value);
    if made.is_err() && !object.call_method0(intern!(py, "is_finite"))?.is_truthy()? {
        return Err(wrong()).or_raise();
    }
    made.or_raise()
}

fn part(object: &Object<'_>, name: &Bound<'_, PyString>) -> PyResult<i64> {
    object.getattr(name)?.extract()
}

/// The days of a date since 1970-01-01.
fn days_of(object: &Object<'_>) -> PyResult<i64> {
    Ok(object.call_method0(intern!(object.py(), "toordinal"))?.extract::<i64>()? - 719_163)
}

/// The whole seconds of a `timedelta`.
fn seconds_of(delta: &Object<'_>) -> PyResult<i64> {
    let py = delta.py();
    Ok(part(delta, intern!(py, "days"))? * 86_400 + part(delta, intern!(py, "seconds"))?)
}

/// The whole seconds of a day that have passed.
fn seconds_of_day(object: &Object<'_>) -> PyResult<i64> {
    let py = object.py();
    let minutes = part(object, intern!(py, "hour"))? * 60 + part(object, intern!(py, "minute"))?;
    Ok(minutes * 60 + part(object, intern!(py, "second"))?)
}

/// A time of day.
fn of_day(object: &Object<'_>) -> PyResult<Value> {
    let py = object.py();
    if !object.getattr(intern!(py, "tzinfo"))?.is_none() {
        let error = Error::value(format!("the time of day {object} has a zone")).wanted("a time of day without a zone");
        return Err(error.hint("Use `.replace(tzinfo=None)`.")).or_raise();
    }
    let count = Tensor::scalar(seconds_of_day(object)? * 1_000_000 + part(object, intern!(py, "microsecond"))?);
    TimeTensor::new(count, "us").map(ExtensionType::into_value).or_raise()
}

/// A point in time; in UTC if it has a zone.
fn of_moment(object: &Object<'_>) -> PyResult<Value> {
    let py = object.py();
    let mut seconds = days_of(object)? * 86_400 + seconds_of_day(object)?;
    let mut micros = part(object, intern!(py, "microsecond"))?;
    // Without a zone there is no offset to ask for.
    let offset = match object.getattr(intern!(py, "tzinfo"))? {
        zone if zone.is_none() => zone,
        _ => object.call_method0(intern!(py, "utcoffset"))?,
    };
    let zone = (!offset.is_none()).then_some("UTC");
    if zone.is_some() {
        seconds -= seconds_of(&offset)?;
        micros -= part(&offset, intern!(py, "microseconds"))?;
    }
    let (count, unit) = counted(seconds, micros, object.getattr_opt(intern!(py, "nanosecond"))?, object)?;
    TimestampTensor::new(count, unit, zone).map(ExtensionType::into_value).or_raise()
}

/// So many microseconds; nanoseconds where the object, which is then one of pandas, has some.
///
/// Errors: a count that 64 bits do not hold.
fn counted(
    seconds: i64,
    below: i64,
    nanos: Option<Object<'_>>,
    object: &Object<'_>,
) -> PyResult<(Tensor, &'static str)> {
    let micros = seconds.checked_mul(1_000_000).and_then(|count| count.checked_add(below));
    let micros = micros.ok_or_else(|| beyond(object)).or_raise()?;
    let nanos = nanos.map_or(Ok(0), |nanos| nanos.extract::<i64>())?;
    if nanos == 0 {
        return Ok((Tensor::scalar(micros), "us"));
    }
    let count = micros.checked_mul(1_000).and_then(|count| count.checked_add(nanos));
    Ok((Tensor::scalar(count.ok_or_else(|| beyond(object)).or_raise()?), "ns"))
}

fn beyond(object: &Object<'_>) -> Error {
    Error::value(format!("found {object}")).wanted("a count that fits 64 bits")
}

/// What the classes of these types call.
#[pyclass(name = "_Meanings", module = "extenso._core", frozen)]
struct Meanings;

#[pymethods]
impl Meanings {
    #[staticmethod]
    fn decimals<'py>(
        py: Python<'py>,
        texts: Vec<String>,
        precision: Typed<i64>,
        scale: Typed<i64>,
    ) -> PyResult<Object<'py>> {
        typed!(decimals: precision, scale);
        let made = guarded(|| DecimalTensor::parse(&texts, precision, scale)).or_raise()?;
        value::to_py(py, made.into_value())
    }

    #[staticmethod]
    fn categorical<'py>(values: &Object<'py>) -> PyResult<Object<'py>> {
        applied(values, to_categorical)
    }

    #[staticmethod]
    fn decoded<'py>(x: &Object<'py>) -> PyResult<Object<'py>> {
        applied(x, |x| CategoricalTensor::from_value(x)?.decoded())
    }

    #[staticmethod]
    fn interval_part<'py>(x: &Object<'py>, part: &str) -> PyResult<Object<'py>> {
        applied(x, |x| IntervalTensor::from_value(x)?.part(part))
    }
}
