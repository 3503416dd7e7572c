//! Times: timestamps, dates, times of the day, durations and calendar intervals, over integers.
//!
//! Invariant: the integer counts units, from 1970-01-01T00:00:00 where it is a point in time; unit and zone are static data. Arithmetic is
//! that of the integers, without a float; on data, what does not fit 64 bits is an error.

mod arithmetic;
mod calendar;
pub(crate) mod interval;
mod made;
mod pattern;
pub(crate) mod read;
mod scaled;
pub(crate) mod show;
mod texts;
mod trunc;
mod unit;
mod zone;

pub use calendar::date_part;
pub use interval::{IntervalTensor, IntervalTensorSpec};
pub use made::{strftime, to_date, to_duration, to_time, to_timestamp};
pub use texts::{TIME_IS_TEXT, TIME_PARSE, TIME_TEXTS, TimeText};
pub use trunc::date_trunc;
pub use unit::{TimeUnit, cast_unit};
pub use zone::{InZone, TIME_BEGUN, TIME_LOCAL, TIME_OF_LOCAL, is_utc};

use crate::meaning::{Meaning, differ};
use extenso_core::{Tensor, Value};
use extenso_derive::ExtensionType;
use extenso_types::{DType, Error, Result};

pub(crate) use show::literals;

/// Points in time: so many units since 1970-01-01T00:00:00, in UTC where there is a zone.
///
/// Without a zone a point is one of the local calendar, which no zone has been said of.
///
/// ```
/// # use extenso_core::{ExtensionType, Tensor};
/// # use extenso_ext::{TimestampTensor, date_part, to_literal};
/// let x = TimestampTensor::new(Tensor::from_vec(vec![0_i64, 951_782_400]), "s", Some("UTC")).unwrap().into_value();
/// assert_eq!(to_literal(&x).unwrap().to_string(), r#"["1970-01-01T00:00:00Z", "2000-02-29T00:00:00Z"]"#);
/// assert_eq!(date_part(&x, "day").unwrap().to_string(), "[1, 29]");
/// ```
#[derive(Clone, ExtensionType)]
#[extenso(name = "extenso/TimestampTensor", validate = fits_timestamp, handlers = arithmetic::timestamps)]
pub struct TimestampTensor {
    #[extenso(itself)]
    values: Tensor,
    #[extenso(static)]
    unit: String,
    #[extenso(static)]
    zone: Option<String>,
}

/// Days of the calendar: so many days (i32) or milliseconds (i64) since 1970-01-01.
#[derive(Clone, ExtensionType)]
#[extenso(name = "extenso/DateTensor", validate = fits_date, handlers = arithmetic::dates)]
pub struct DateTensor {
    #[extenso(itself)]
    values: Tensor,
    #[extenso(static)]
    unit: String,
}

/// Times of a day: so many units since midnight; seconds and milliseconds are i32, microseconds and nanoseconds i64.
#[derive(Clone, ExtensionType)]
#[extenso(name = "extenso/TimeTensor", validate = fits_time, handlers = arithmetic::times)]
pub struct TimeTensor {
    #[extenso(itself)]
    values: Tensor,
    #[extenso(static)]
    unit: String,
}

/// Lengths of time: so many units.
#[derive(Clone, ExtensionType)]
#[extenso(name = "extenso/DurationTensor", validate = fits_duration, handlers = arithmetic::durations)]
pub struct DurationTensor {
    #[extenso(itself)]
    values: Tensor,
    #[extenso(static)]
    unit: String,
}

fn counts(values: &Tensor, dtype: DType, unit: &str) -> Result<()> {
    if values.dtype() == dtype {
        return Ok(());
    }
    Err(Error::dtype(format!("the values are {}", values.dtype()))
        .at("values")
        .wanted(format!("{dtype} for unit {unit}")))
}

fn fits_timestamp(x: &TimestampTensor) -> Result<()> {
    x.unit.parse::<TimeUnit>()?;
    counts(&x.values, DType::I64, &x.unit)
}

fn fits_date(x: &DateTensor) -> Result<()> {
    match x.unit.as_str() {
        "d" => counts(&x.values, DType::I32, "d"),
        "ms" => counts(&x.values, DType::I64, "ms"),
        other => Err(Error::value(format!("found '{other}'")).wanted("'d' or 'ms'").at("unit")),
    }
}

fn fits_time(x: &TimeTensor) -> Result<()> {
    match x.unit.parse::<TimeUnit>()? {
        TimeUnit::Second | TimeUnit::Millisecond => counts(&x.values, DType::I32, &x.unit),
        TimeUnit::Microsecond | TimeUnit::Nanosecond => counts(&x.values, DType::I64, &x.unit),
    }
}

fn fits_duration(x: &DurationTensor) -> Result<()> {
    x.unit.parse::<TimeUnit>()?;
    counts(&x.values, DType::I64, &x.unit)
}

impl TimestampTensor {
    /// Timestamps of this unit (`s`, `ms`, `us` or `ns`) and zone.
    ///
    /// Errors: another unit; values that are not i64.
    pub fn new(values: Tensor, unit: &str, zone: Option<&str>) -> Result<TimestampTensor> {
        let made = TimestampTensor { values, unit: unit.into(), zone: zone.map(str::to_string) };
        fits_timestamp(&made).map_err(|e| e.at("TimestampTensor"))?;
        Ok(made)
    }

    /// The zone, if there is one.
    pub fn zone(&self) -> Option<&str> {
        self.zone.as_deref()
    }
}

macro_rules! of_unit {
    ($($name:ident $fits:ident $doc:literal;)*) => { $(
        impl $name {
            #[doc = $doc]
            ///
            /// Errors: another unit; values of another dtype.
            pub fn new(values: Tensor, unit: &str) -> Result<$name> {
                let made = $name { values, unit: unit.into() };
                $fits(&made).map_err(|e| e.at(stringify!($name)))?;
                Ok(made)
            }
        }

        impl Meaning for $name {
            fn elements(&self) -> Value {
                self.values.clone().into()
            }

            fn over(&self, elements: Value) -> Result<$name> {
                $name::new(elements.tensor()?.clone(), &self.unit)
            }

            fn meets(&self, other: &$name) -> Result<()> {
                let show = |x: &$name| format!("{}[{}]", stringify!($name), x.unit);
                if self.unit == other.unit { Ok(()) } else { Err(differ(show(self), show(other)).hint("Use `cast_unit`.")) }
            }

            fn alike(&self, other: &$name) -> Result<($name, $name)> {
                arithmetic::in_one_unit(self, other)
            }
        }
    )* };
}
of_unit! {
    DateTensor fits_date "Days of this unit: `d` or `ms`.";
    TimeTensor fits_time "Times of a day of this unit: `s`, `ms`, `us` or `ns`.";
    DurationTensor fits_duration "Durations of this unit: `s`, `ms`, `us` or `ns`.";
}

macro_rules! counted {
    ($($name:ident)*) => { $(
        impl $name {
            /// How many units each is.
            pub fn values(&self) -> &Tensor {
                &self.values
            }

            /// The unit.
            pub fn unit(&self) -> &str {
                &self.unit
            }
        }
    )* };
}
counted! { TimestampTensor DateTensor TimeTensor DurationTensor }

impl Meaning for TimestampTensor {
    fn elements(&self) -> Value {
        self.values.clone().into()
    }

    fn over(&self, elements: Value) -> Result<TimestampTensor> {
        TimestampTensor::new(elements.tensor()?.clone(), &self.unit, self.zone())
    }

    fn meets(&self, other: &TimestampTensor) -> Result<()> {
        let show = |x: &TimestampTensor| format!("TimestampTensor[{}, {}]", x.unit, x.zone().unwrap_or("no zone"));
        let alike = self.unit == other.unit && self.zone.is_some() == other.zone.is_some();
        let hint = match self.zone.is_some() == other.zone.is_some() {
            true => "Use `cast_unit`.",
            false => "Say the zone of the others: `to_timestamp(x.values, x.unit, zone)`.",
        };
        if alike { Ok(()) } else { Err(differ(show(self), show(other)).hint(hint)) }
    }

    fn alike(&self, other: &TimestampTensor) -> Result<(TimestampTensor, TimestampTensor)> {
        arithmetic::in_one_unit(self, other)
    }
}
