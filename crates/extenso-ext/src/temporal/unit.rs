//! Units of time, and counts of one as counts of another.

use super::made::first_of;
use super::{DateTensor, DurationTensor, TimeTensor, TimestampTensor};
use crate::args::typed;
use crate::meaning::nested::below_filled;
use extenso_core::{ExtensionType, Tensor, Value, ops};
use extenso_types::{DType, Error, Result};
use std::str::FromStr;

/// A unit of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // The variants' names are their meaning.
pub enum TimeUnit {
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
}

impl TimeUnit {
    /// How many there are in a second.
    pub fn per_second(self) -> i64 {
        match self {
            TimeUnit::Second => 1,
            TimeUnit::Millisecond => 1_000,
            TimeUnit::Microsecond => 1_000_000,
            TimeUnit::Nanosecond => 1_000_000_000,
        }
    }
}

impl TimeUnit {
    /// Its name: `s`, `ms`, `us` or `ns`.
    pub fn name(self) -> &'static str {
        match self {
            TimeUnit::Second => "s",
            TimeUnit::Millisecond => "ms",
            TimeUnit::Microsecond => "us",
            TimeUnit::Nanosecond => "ns",
        }
    }
}

impl FromStr for TimeUnit {
    type Err = Error;

    fn from_str(text: &str) -> Result<TimeUnit> {
        match text {
            "s" => Ok(TimeUnit::Second),
            "ms" => Ok(TimeUnit::Millisecond),
            "us" => Ok(TimeUnit::Microsecond),
            "ns" => Ok(TimeUnit::Nanosecond),
            other => Err(Error::value(format!("found '{other}'")).wanted("'s', 'ms', 'us' or 'ns'").at("unit")),
        }
    }
}

/// Timestamps, dates, times and durations in another unit; rounded down where the unit is coarser.
///
/// Errors: another type; a unit that the type does not have; on data, a count that does not fit.
///
/// ```
/// # use extenso_core::{ExtensionType, Tensor};
/// # use extenso_ext::{DurationTensor, cast_unit};
/// let x = DurationTensor::new(Tensor::from_vec(vec![-1_500_i64, 2_000]), "ms").unwrap().into_value();
/// let seconds = DurationTensor::from_value(&cast_unit(&x, "s").unwrap()).unwrap();
/// assert_eq!(seconds.values().to_string(), "[-2, 2]");
/// ```
pub fn cast_unit(x: &Value, unit: &str) -> Result<Value> {
    in_unit(x, unit).map_err(|e| e.at_part("cast_unit"))
}

pub(super) fn in_unit(x: &Value, unit: &str) -> Result<Value> {
    below_filled(x, &first_of, &|x| counted_in(x, unit))
}

fn counted_in(x: &Value, unit: &str) -> Result<Value> {
    if let Some(x) = typed::<TimestampTensor>(x) {
        return Ok(TimestampTensor::new(rescaled(x.values(), x.unit(), unit)?, unit, x.zone())?.into_value());
    }
    if let Some(x) = typed::<DurationTensor>(x) {
        return Ok(DurationTensor::new(rescaled(x.values(), x.unit(), unit)?, unit)?.into_value());
    }
    if let Some(x) = typed::<TimeTensor>(x) {
        let wide = rescaled(x.values(), x.unit(), unit)?;
        let dtype = if matches!(unit, "s" | "ms") { DType::I32 } else { DType::I64 };
        return Ok(TimeTensor::new(ops::cast(wide, dtype)?.tensor()?.clone(), unit)?.into_value());
    }
    if let Some(x) = typed::<DateTensor>(x) {
        let days = ops::cast(x.days()?, DType::I64)?;
        return match unit {
            "d" => Ok(DateTensor::new(ops::cast(days, DType::I32)?.tensor()?.clone(), unit)?.into_value()),
            _ => Ok(DateTensor::new(ops::multiply(days, 86_400_000_i64)?.tensor()?.clone(), unit)?.into_value()),
        };
    }
    let found = x.spec()?;
    Err(Error::dtype(format!("found {found}")).wanted("timestamps, dates, times or durations"))
}

impl DateTensor {
    /// The days since 1970-01-01.
    pub(crate) fn days(&self) -> Result<Value> {
        match self.unit() {
            "d" => Ok(self.values().clone().into()),
            _ => ops::floor_divide(self.values(), 86_400_000_i64),
        }
    }

    /// The points in time at which the days begin, of no zone.
    pub(super) fn midnights(&self) -> Result<TimestampTensor> {
        let seconds = ops::multiply(ops::cast(self.days()?, DType::I64)?, 86_400_i64)?;
        TimestampTensor::new(seconds.tensor()?.clone(), "s", None)
    }
}

/// Counts of one unit as i64 counts of another.
///
/// Errors: a count that does not fit, of symbols when the graph runs.
pub(super) fn rescaled(values: &Tensor, from: &str, to: &str) -> Result<Tensor> {
    let (from, to) = (from.parse::<TimeUnit>()?.per_second(), to.parse::<TimeUnit>()?.per_second());
    let wide = ops::cast(values, DType::I64)?;
    let made = match to.cmp(&from) {
        std::cmp::Ordering::Equal => wide,
        std::cmp::Ordering::Less => ops::floor_divide(wide, from / to)?,
        std::cmp::Ordering::Greater => {
            let factor = to / from;
            let most = i64::MAX / factor;
            let fits = ops::logical_and(ops::less_equal(&wide, most)?, ops::greater_equal(&wide, -most)?)?;
            let what = "a count does not fit 64 bits in the finer unit";
            ops::check_all(ops::multiply(wide, factor)?, fits, what, "a result that fits")?
        }
    };
    made.tensor().cloned()
}
