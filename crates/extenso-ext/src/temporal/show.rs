//! Times as text: ISO 8601 for points, a number and its unit for lengths.

use super::calendar::civil;
use super::zone::fixed;
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
        each(x.values(), |v, out| timestamp(v, unit, zone.as_ref(), out))?
    } else if let Some(x) = typed::<DateTensor>(value) {
        each(x.days()?.tensor()?, date)?
    } else if let Some(x) = typed::<TimeTensor>(value) {
        let unit: TimeUnit = x.unit().parse()?;
        each(x.values(), |v, out| time(v, unit, out))?
    } else if let Some(x) = typed::<DurationTensor>(value) {
        each(x.values(), |v, out| duration(v, x.unit(), out))?
    } else if let Some(x) = typed::<IntervalTensor>(value) {
        x.texts()?
    } else {
        return Ok(None);
    };
    Ok(Some(texts.into_iter().map(Literal::Str).collect()))
}

fn each(values: &Tensor, write: impl Fn(i64, &mut Vec<u8>)) -> Result<Vec<String>> {
    let wide = ops::cast(values, DType::I64)?;
    Ok(wide.tensor()?.as_slice::<i64>()?.iter().map(|&v| text(|out| write(v, out))).collect())
}

/// What is appended, alone.
pub(crate) fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// What is shown of a zone; one by name is shown in UTC, with its name.
pub(crate) fn zone(name: &str) -> Zone {
    let (ahead, suffix) = match fixed(name) {
        Some(0) => (0, "Z".to_string()),
        Some(ahead) => (ahead, name.to_string()),
        None => (0, format!("Z[{name}]")),
    };
    Zone { name: name.to_string(), suffix, ahead }
}

/// Appends a point in time.
pub(crate) fn timestamp(units: i64, unit: TimeUnit, zone: Option<&Zone>, out: &mut Vec<u8>) {
    let per_day = 86_400 * unit.per_second();
    let ahead = zone.map_or(0, |zone| zone.ahead) * unit.per_second();
    // The offset is added where it cannot overflow.
    let within = units.rem_euclid(per_day) + ahead;
    date(units.div_euclid(per_day) + within.div_euclid(per_day), out);
    out.push(b'T');
    time(within.rem_euclid(per_day), unit, out);
    out.extend_from_slice(zone.map_or("", |zone| &zone.suffix).as_bytes());
}

/// Appends the date of a count of days.
pub(crate) fn date(days: i64, out: &mut Vec<u8>) {
    let (year, month, day) = civil(days);
    if year < 0 {
        out.push(b'-');
    }
    number(year.unsigned_abs(), 4, out);
    for part in [month, day] {
        out.push(b'-');
        number(part.unsigned_abs(), 2, out);
    }
}

/// Appends a time of a day; one beyond the day has more hours, and one before it negative parts.
pub(crate) fn time(units: i64, unit: TimeUnit, out: &mut Vec<u8>) {
    let per_second = unit.per_second();
    let (seconds, rest) = (units.div_euclid(per_second), units.rem_euclid(per_second));
    let parts = [seconds / 3_600, seconds / 60 % 60, seconds % 60];
    if seconds < 0 {
        let [hours, minutes, seconds] = parts;
        out.extend_from_slice(format!("{hours:02}:{minutes:02}:{seconds:02}").as_bytes());
    } else {
        for (i, part) in parts.into_iter().enumerate() {
            if i > 0 {
                out.push(b':');
            }
            number(part.unsigned_abs(), 2, out);
        }
    }
    if rest != 0 {
        let least = match unit {
            TimeUnit::Second => 0,
            TimeUnit::Millisecond => 3,
            TimeUnit::Microsecond => 6,
            TimeUnit::Nanosecond => 9,
        };
        out.push(b'.');
        number(rest.unsigned_abs(), least, out);
    }
}

/// Appends a count of a unit.
pub(crate) fn duration(units: i64, unit: &str, out: &mut Vec<u8>) {
    if units < 0 {
        out.push(b'-');
    }
    number(units.unsigned_abs(), 1, out);
    out.extend_from_slice(unit.as_bytes());
}

/// Appends so many digits of a number at least.
fn number(number: u64, least: usize, out: &mut Vec<u8>) {
    let start = out.len();
    let (mut left, mut count) = (number, 0);
    while left > 0 || count < least {
        out.push(b"0123456789"[usize::try_from(left % 10).unwrap_or_default()]);
        (left, count) = (left / 10, count + 1);
    }
    out[start..].reverse();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temporal::read;

    const UNITS: [TimeUnit; 4] = [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond];

    /// Counts at the ends of 64 bits, around 1970, and between.
    fn counts() -> impl Iterator<Item = i64> {
        let ends = [i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX];
        let powers = (0..63).flat_map(|bit| [1_i64 << bit, -(1_i64 << bit), (1_i64 << bit) - 1]);
        ends.into_iter().chain(powers).chain((-400..400).map(|day| day * 86_400 * 7))
    }

    #[test]
    fn a_time_reads_as_the_count_that_it_was_written_of() {
        let zones = [None, Some(zone("UTC")), Some(zone("+05:30")), Some(zone("-23:59")), Some(zone("Europe/Berlin"))];
        for (count, unit) in counts().flat_map(|count| UNITS.map(|unit| (count, unit))) {
            for zone in &zones {
                let shown = text(|out| timestamp(count, unit, zone.as_ref(), out));
                assert_eq!(read::timestamp(&shown, unit, zone.as_ref()), Some(count.into()), "{shown}");
            }
            let shown = text(|out| duration(count, unit.name(), out));
            assert_eq!(shown, format!("{count}{}", unit.name()));
        }
    }

    #[test]
    fn dates_and_times_are_those_of_chrono() {
        for count in counts().filter(|count| count.unsigned_abs() < 86_400 * 365 * 100_000) {
            let moment = chrono::DateTime::from_timestamp(count, 500_000_000).expect("a moment");
            let shown = text(|out| timestamp(count, TimeUnit::Second, None, out));
            let wanted = moment.format("%Y-%m-%dT%H:%M:%S").to_string();
            assert_eq!(shown.trim_start_matches('-'), wanted.trim_start_matches(['+', '-']), "{count}");
            if let Some(count) = count.checked_mul(1_000) {
                let shown = text(|out| timestamp(count + 500, TimeUnit::Millisecond, None, out));
                assert!(shown.ends_with(&moment.format("%H:%M:%S%.3f").to_string()), "{shown}");
            }
        }
    }

    #[test]
    fn a_time_beyond_the_day_has_more_hours() {
        let shown = |units, unit| text(|out| time(units, unit, out));
        assert_eq!(shown(360_061, TimeUnit::Second), "100:01:01");
        assert_eq!(shown(-1, TimeUnit::Second), "00:00:-1");
        assert_eq!(shown(-1, TimeUnit::Millisecond), "00:00:-1.999");
        assert_eq!(shown(3_600_000_001, TimeUnit::Microsecond), "01:00:00.000001");
    }
}
