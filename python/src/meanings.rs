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
use pyo3::prelude::*;
use pyo3::types::PyDict;

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

/// The value that an object of Python's `decimal`, `datetime` or `uuid` is.
///
/// Errors: a decimal that is no number, or has too many digits; a time that 64 bits do not hold; a time of day of a zone.
pub fn of_object(object: &Object<'_>) -> PyResult<Value> {
    if object.hasattr("as_tuple")? {
        return of_decimal(object);
    }
    if object.hasattr("bytes_le")? {
        let bytes: Vec<u8> = object.getattr("bytes")?.extract()?;
        let made = Tensor::new(&[bytes.len()], &bytes).and_then(|cells| FixedBytesTensor::new(cells, Some("uuid")));
        return made.map(ExtensionType::into_value).or_raise();
    }
    // The `NaT` of pandas is an object of `datetime`, and is not what it is.
    if object.ne(object)? {
        let error = Error::value(format!("found {object}")).wanted("a time").hint("Write None in `constant`.");
        return Err(error).or_raise();
    }
    if object.hasattr("total_seconds")? {
        let (count, unit) = counted(object, "nanoseconds", object)?;
        return DurationTensor::new(count, unit).map(ExtensionType::into_value).or_raise();
    }
    match (object.hasattr("hour")?, object.hasattr("toordinal")?) {
        (false, _) => {
            let days = object.call_method0("toordinal")?.extract::<i32>()? - 719_163;
            DateTensor::new(Tensor::scalar(days), "d").map(ExtensionType::into_value).or_raise()
        }
        (true, false) => of_day(object),
        (true, true) => of_moment(object),
    }
}

fn of_decimal(object: &Object<'_>) -> PyResult<Value> {
    let large = |at: i64| !(-76..76).contains(&at);
    if !object.call_method0("is_finite")?.is_truthy()? || large(object.call_method0("adjusted")?.extract()?) {
        return Err(Error::value(format!("found {object}")).wanted("a decimal number of at most 76 digits")).or_raise();
    }
    let text: String = object.call_method1("__format__", ("f",))?.extract()?;
    DecimalTensor::one(&text).map(ExtensionType::into_value).or_raise()
}

/// A time of day.
fn of_day(object: &Object<'_>) -> PyResult<Value> {
    if !object.getattr("tzinfo")?.is_none() {
        let error = Error::value(format!("the time of day {object} has a zone")).wanted("a time of day without a zone");
        return Err(error.hint("Use `.replace(tzinfo=None)`.")).or_raise();
    }
    let part = |name: &str| object.getattr(name)?.extract::<i64>();
    let seconds = (part("hour")? * 60 + part("minute")?) * 60 + part("second")?;
    let count = Tensor::scalar(seconds * 1_000_000 + part("microsecond")?);
    TimeTensor::new(count, "us").map(ExtensionType::into_value).or_raise()
}

/// A point in time; in UTC if it has a zone.
fn of_moment(object: &Object<'_>) -> PyResult<Value> {
    let py = object.py();
    let datetime = py.import("datetime")?;
    let zone = (!object.call_method0("utcoffset")?.is_none()).then_some("UTC");
    let epoch = datetime.getattr("datetime")?.call1((1970, 1, 1))?;
    let since = match zone {
        Some(_) => {
            let named = PyDict::new(py);
            named.set_item("tzinfo", datetime.getattr("timezone")?.getattr("utc")?)?;
            object.sub(epoch.call_method("replace", (), Some(&named))?)?
        }
        None => object.sub(epoch)?,
    };
    let (count, unit) = counted(&since, "nanosecond", object)?;
    TimestampTensor::new(count, unit, zone).map(ExtensionType::into_value).or_raise()
}

/// The microseconds of a `timedelta`; nanoseconds where the object, which is then one of pandas, has some.
///
/// Errors: a count that 64 bits do not hold.
fn counted(delta: &Object<'_>, name: &str, object: &Object<'_>) -> PyResult<(Tensor, &'static str)> {
    let part = |name: &str| delta.getattr(name)?.extract::<i64>();
    let (seconds, below) = (part("days")? * 86_400 + part("seconds")?, part("microseconds")?);
    let beyond = || Error::value(format!("found {object}")).wanted("a count that fits 64 bits");
    let micros = seconds.checked_mul(1_000_000).and_then(|count| count.checked_add(below));
    let micros = micros.ok_or_else(beyond).or_raise()?;
    let nanos = match object.getattr_opt(name)? {
        Some(nanos) => nanos.extract::<i64>()?,
        None => 0,
    };
    if nanos == 0 {
        return Ok((Tensor::scalar(micros), "us"));
    }
    let count = micros.checked_mul(1_000).and_then(|count| count.checked_add(nanos));
    Ok((Tensor::scalar(count.ok_or_else(beyond).or_raise()?), "ns"))
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
