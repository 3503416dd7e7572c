//! Times as text: ISO 8601 for points, a number and its unit for lengths.

use super::calendar::offset_of;
use super::{DateTensor, DurationTensor, IntervalTensor, TimeTensor, TimeUnit, TimestampTensor};
use crate::Literal;
use crate::args::typed;
use crate::spelling::Zone;
use extenso_core::{Tensor, Value, ops};
use extenso_types::{DType, Result};

/// The elements of a vector of times as text; none of another type.
pub(crate) fn literals(value: &Value) -> Result<Option<Vec<Literal>>> {
    let texts = if let Some(x) = typed::<TimestampTensor>(value) {
        let (unit, zone): (TimeUnit, _) = (x.unit().parse()?, x.zone().map(zone));
        each(x.values(), |v| timestamp(v.into(), unit, zone.as_ref()))?
    } else if let Some(x) = typed::<DateTensor>(value) {
        each(x.days()?.tensor()?, |days| date(i128::from(days)))?
    } else if let Some(x) = typed::<TimeTensor>(value) {
        let unit: TimeUnit = x.unit().parse()?;
        each(x.values(), |v| time(i128::from(v), unit))?
    } else if let Some(x) = typed::<DurationTensor>(value) {
        each(x.values(), |v| format!("{v}{}", x.unit()))?
    } else if let Some(x) = typed::<IntervalTensor>(value) {
        intervals(&x)?
    } else {
        return Ok(None);
    };
    Ok(Some(texts.into_iter().map(Literal::Str).collect()))
}

fn each(values: &Tensor, text: impl Fn(i64) -> String) -> Result<Vec<String>> {
    let wide = ops::cast(values, DType::I64)?;
    Ok(wide.tensor()?.as_slice::<i64>()?.iter().map(|&v| text(v)).collect())
}

fn intervals(x: &IntervalTensor) -> Result<Vec<String>> {
    let (count, parts) = x.parts()?;
    let mut texts = vec![Vec::new(); count];
    for (unit, values) in parts {
        for (text, v) in texts.iter_mut().zip(values.tensor()?.as_slice::<i64>()?) {
            text.push(format!("{v}{unit}"));
        }
    }
    Ok(texts.into_iter().map(|parts| parts.join(" ")).collect())
}

/// What is shown of a zone; one by name is shown in UTC, with its name.
pub(crate) fn zone(name: &str) -> Zone {
    let (ahead, suffix) = match offset_of(name) {
        Ok(0) => (0, "Z".to_string()),
        Ok(ahead) => (ahead, name.to_string()),
        Err(_) => (0, format!("Z[{name}]")),
    };
    Zone { name: name.to_string(), suffix, ahead }
}

pub(crate) fn timestamp(units: i128, unit: TimeUnit, zone: Option<&Zone>) -> String {
    let per_second = i128::from(unit.per_second());
    let units = units + zone.map_or(0, |zone| i128::from(zone.ahead)) * per_second;
    let (day, within) = (units.div_euclid(86_400 * per_second), units.rem_euclid(86_400 * per_second));
    format!("{}T{}{}", date(day), time(within, unit), zone.map_or("", |zone| &zone.suffix))
}

/// Hinnant's `civil_from_days` on one number.
pub(crate) fn date(days: i128) -> String {
    let z = days + 719_468;
    let (era, doe) = (z.div_euclid(146_097), z.rem_euclid(146_097));
    let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let (day, month) = (doy - (153 * mp + 2) / 5 + 1, if mp < 10 { mp + 3 } else { mp - 9 });
    let year = yoe + era * 400 + i128::from(month <= 2);
    let sign = if year < 0 { "-" } else { "" };
    format!("{sign}{:04}-{month:02}-{day:02}", year.abs())
}

pub(crate) fn time(units: i128, unit: TimeUnit) -> String {
    let per_second = i128::from(unit.per_second());
    let (seconds, rest) = (units.div_euclid(per_second), units.rem_euclid(per_second));
    let text = format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let digits = match unit {
        TimeUnit::Second => return text,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    };
    if rest == 0 { text } else { format!("{text}.{rest:0digits$}") }
}
