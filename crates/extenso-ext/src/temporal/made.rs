//! Times of integers, in rows and under masks.

use super::calendar::days_of;
use super::{DateTensor, DurationTensor, TimeTensor, TimeUnit, TimestampTensor};
use crate::args::typed;
use crate::meaning::nested::below;
use extenso_core::{ExtensionType, Tensor, Value, ops};
use extenso_types::{DType, Error, Result};

/// Integers as timestamps: so many units since 1970-01-01T00:00:00, in UTC where there is a zone.
///
/// Errors: no integers; another unit than `s`, `ms`, `us` or `ns`.
///
/// ```
/// # use extenso_ext::{constant, to_literal, to_timestamp};
/// let x = to_timestamp(&constant(vec![vec![0, 60], vec![]]).unwrap(), "s", None).unwrap();
/// assert_eq!(to_literal(&x).unwrap().to_string(), r#"[["1970-01-01T00:00:00", "1970-01-01T00:01:00"], []]"#);
/// ```
pub fn to_timestamp(x: &Value, unit: &str, zone: Option<&str>) -> Result<Value> {
    let made = |counts| Ok(TimestampTensor::new(counts, unit, zone)?.into_value());
    of_integers(x, DType::I64, &made).map_err(|e| e.at("to_timestamp"))
}

/// Integers as dates: so many days since 1970-01-01; and the date of each timestamp, in its zone.
///
/// Errors: other values; a zone by name, whose offsets change and are not known here; a day that 32 bits do not count.
///
/// ```
/// # use extenso_core::{ExtensionType, Tensor};
/// # use extenso_ext::{TimestampTensor, to_date, to_literal};
/// let x = TimestampTensor::new(Tensor::from_vec(vec![-1_i64, 0]), "s", Some("-00:30")).unwrap().into_value();
/// assert_eq!(to_literal(&to_date(&x).unwrap()).unwrap().to_string(), r#"["1969-12-31", "1969-12-31"]"#);
/// ```
pub fn to_date(x: &Value) -> Result<Value> {
    let dates = |days: Tensor| Ok(DateTensor::new(days, "d")?.into_value());
    let made = below(x, &|x| match typed::<TimestampTensor>(x) {
        Some(moments) => dates(counted_days(days_of(&moments)?)?),
        None if typed::<DateTensor>(x).is_some() => Ok(x.clone()),
        None => integers(x, DType::I32, &dates).map_err(|e| e.wanted("integers or timestamps")),
    });
    made.map_err(|e| e.at("to_date"))
}

/// Days as 32 bits.
fn counted_days(days: Value) -> Result<Tensor> {
    let fits = ops::equal(ops::cast(ops::cast(&days, DType::I32)?, DType::I64)?, &days)?;
    let days = ops::check_all(days, fits, "the day does not fit 32 bits", "a day within 5.8 million years")?;
    Ok(ops::cast(days, DType::I32)?.tensor()?.clone())
}

/// Integers as times of a day: so many units since midnight.
///
/// Errors: as [`to_timestamp`].
pub fn to_time(x: &Value, unit: &str) -> Result<Value> {
    let made = || {
        let dtype = match unit.parse()? {
            TimeUnit::Second | TimeUnit::Millisecond => DType::I32,
            TimeUnit::Microsecond | TimeUnit::Nanosecond => DType::I64,
        };
        of_integers(x, dtype, &|counts| Ok(TimeTensor::new(counts, unit)?.into_value()))
    };
    made().map_err(|e: Error| e.at("to_time"))
}

/// Integers as durations: so many units.
///
/// Errors: as [`to_timestamp`].
pub fn to_duration(x: &Value, unit: &str) -> Result<Value> {
    of_integers(x, DType::I64, &|counts| Ok(DurationTensor::new(counts, unit)?.into_value()))
        .map_err(|e| e.at("to_duration"))
}

fn of_integers(x: &Value, dtype: DType, made: &dyn Fn(Tensor) -> Result<Value>) -> Result<Value> {
    below(x, &|x| integers(x, dtype, made))
}

fn integers(x: &Value, dtype: DType, made: &dyn Fn(Tensor) -> Result<Value>) -> Result<Value> {
    match x.tensor().map(|tensor| tensor.dtype()) {
        Ok(given) if given.is_integer() => made(ops::cast(x, dtype)?.tensor()?.clone()),
        _ => Err(Error::dtype(format!("found {}", x.spec()?)).wanted("integers")),
    }
}
