//! Times as text of a format that is given, and text as times.
//!
//! Source: <https://docs.rs/chrono/latest/chrono/format/strftime>, but for `%f`, which is as in Python. Invariant: a text is read exactly in
//! units, or not at all; nothing that it says is left out of the time.

use super::TimeUnit;
use super::zone::Zone;
use chrono::format::{Fixed, Item, Parsed, StrftimeItems, parse};
use chrono::{DateTime, FixedOffset, NaiveDate, NaiveTime, Timelike};
use extenso_types::{Error, Result};
use std::fmt::Write;

/// How times of one kind are written.
pub(super) struct Pattern {
    pub format: String,
    /// What is read, and what is written: a fraction of any digits, and of so many.
    read: Vec<Item<'static>>,
    written: Vec<Item<'static>>,
    kind: Kind,
    unit: TimeUnit,
    /// What days count, where they do not count days.
    per_day: i128,
}

enum Kind {
    /// With a zone whether the text says its offset, and the zone.
    Timestamp {
        zone: Option<(bool, Zone)>,
    },
    Date,
    Time,
}

const PER_DAY: i128 = 86_400;

impl Pattern {
    /// The format of `timestamp`s, `date`s or `time`s that count a unit.
    ///
    /// Errors: other times; a format of other directives, of what such times do not have, or of the name of a zone; an offset without a
    /// zone; a zone that is not known.
    pub fn new(format: &str, of: &str, unit: &str, zone: Option<&str>) -> Result<Pattern> {
        let refuse = |what: String, wanted: &str| Err(Error::value(what).wanted(wanted).at("format"));
        let digits = if unit == "ns" { "9" } else { "6" };
        let items = |dotted: &str| StrftimeItems::new(&with_fractions(format, dotted, digits)).parse_to_owned();
        let (Ok(read), Ok(written)) = (items(""), items(digits)) else {
            return refuse(format!("found '{format}'"), "directives of strftime, such as `%Y-%m-%d %H:%M:%S`");
        };
        let has =
            |wanted: &[Fixed]| read.iter().any(|item| matches!(item, Item::Fixed(found) if wanted.contains(found)));
        if has(&[Fixed::TimezoneName]) {
            return refuse(format!("'{format}' has the name of a zone"), "an offset, which is `%z`");
        }
        let offset = has(&[
            Fixed::TimezoneOffset,
            Fixed::TimezoneOffsetZ,
            Fixed::TimezoneOffsetColon,
            Fixed::TimezoneOffsetColonZ,
            Fixed::TimezoneOffsetDoubleColon,
            Fixed::TimezoneOffsetTripleColon,
            Fixed::RFC2822,
            Fixed::RFC3339,
        ]);
        if offset && (zone.is_none() || of != "timestamp") {
            return refuse(
                format!("'{format}' has an offset"),
                "timestamps with a zone, such as 'UTC', or a format without one",
            );
        }
        let (kind, unit, per_day) = match of {
            "timestamp" => {
                let zone = zone.map(|zone| Ok::<_, Error>((offset, Zone::new(zone)?))).transpose()?;
                (Kind::Timestamp { zone }, unit.parse()?, 1)
            }
            "date" => (Kind::Date, TimeUnit::Millisecond, if unit == "ms" { 1000 * PER_DAY } else { 1 }),
            "time" => (Kind::Time, unit.parse()?, 1),
            _ => return refuse(format!("{of}s have none"), "timestamps, dates or times of a day"),
        };
        let pattern = Pattern { format: format.into(), read, written, kind, unit, per_day };
        match pattern.show(0) {
            Some(_) => Ok(pattern),
            None => refuse(format!("'{format}' asks for what {of}s do not have"), "directives of such times alone"),
        }
    }

    /// The count of the time that a text spells.
    pub fn parse(&self, text: &str) -> Option<i128> {
        let mut parsed = Parsed::new();
        parse(&mut parsed, text, self.read.iter()).ok()?;
        // What is finer than nanoseconds would be left out.
        let is_long = |rest: &str| rest.bytes().take_while(u8::is_ascii_digit).count() > 9;
        if self.read.contains(&Item::Fixed(Fixed::Nanosecond)) && text.split('.').skip(1).any(is_long) {
            return None;
        }
        let hour = parsed.hour_div_12().and(parsed.hour_mod_12());
        if hour.is_some() && parsed.minute().is_none() && parsed.second().is_none() {
            parsed.set_minute(0).ok()?;
        }
        let clock = [parsed.hour_div_12(), parsed.hour_mod_12(), parsed.minute(), parsed.second(), parsed.nanosecond()];
        match &self.kind {
            Kind::Date => Some(i128::from(parsed.to_naive_date().ok()?.to_epoch_days()) * self.per_day),
            Kind::Time => {
                let time = parsed.to_naive_time().ok()?;
                self.units(time.num_seconds_from_midnight().into(), time.nanosecond())
            }
            Kind::Timestamp { zone } => {
                // A day alone is the time at which it begins.
                if clock.iter().all(Option::is_none) && parsed.timestamp().is_none() {
                    parsed.set_hour(0).ok()?;
                    parsed.set_minute(0).ok()?;
                }
                let local = |ahead| Some(parsed.to_naive_datetime_with_offset(ahead).ok()?.and_utc());
                let (local, ahead) = match zone {
                    None => (local(0)?, 0),
                    Some((true, _)) => (local(parsed.offset()?)?, parsed.offset()?.into()),
                    Some((false, zone)) => {
                        // Seconds since 1970 are those of UTC, and say the offset.
                        let known = parsed.timestamp().map(|second| zone.ahead_at(second));
                        let shown = local(i32::try_from(known.unwrap_or_default()).ok()?)?;
                        (shown, known.unwrap_or_else(|| zone.ahead_when(shown.timestamp())))
                    }
                };
                self.units(i128::from(local.timestamp()) - i128::from(ahead), local.timestamp_subsec_nanos())
            }
        }
    }

    /// The units of so many seconds and nanoseconds; none if they are not whole, or in a leap second.
    fn units(&self, seconds: i128, nanos: u32) -> Option<i128> {
        let per_second = i128::from(self.unit.per_second());
        let each = NANOS / per_second;
        let nanos = Some(i128::from(nanos)).filter(|nanos| *nanos < NANOS && nanos % each == 0)?;
        Some(seconds * per_second + nanos / each)
    }

    /// The text of the time that counts so many; none if the format asks for what such times do not have, or if it is in no year that
    /// is written.
    pub fn show(&self, count: i64) -> Option<String> {
        let per_second = self.unit.per_second();
        let seconds = count.div_euclid(per_second);
        let nanos = u32::try_from(count.rem_euclid(per_second) * (1_000_000_000 / per_second)).ok()?;
        let mut text = String::new();
        match &self.kind {
            Kind::Date => {
                let days = i128::from(count).div_euclid(self.per_day);
                let date = NaiveDate::from_epoch_days(i32::try_from(days).ok()?)?;
                write!(text, "{}", date.format_with_items(self.written.iter())).ok()?;
            }
            Kind::Time => {
                let time = NaiveTime::from_num_seconds_from_midnight_opt(u32::try_from(seconds).ok()?, nanos)?;
                write!(text, "{}", time.format_with_items(self.written.iter())).ok()?;
            }
            Kind::Timestamp { zone } => {
                let moment = DateTime::from_timestamp(seconds, nanos)?;
                match zone {
                    None => write!(text, "{}", moment.naive_utc().format_with_items(self.written.iter())),
                    Some((_, zone)) => {
                        let zone = FixedOffset::east_opt(i32::try_from(zone.ahead_at(seconds)).ok()?)?;
                        write!(text, "{}", moment.with_timezone(&zone).format_with_items(self.written.iter()))
                    }
                }
                .ok()?;
            }
        }
        Some(text)
    }

    /// A text that is read as it was written; none if the format says no whole time.
    pub fn example(&self) -> Option<String> {
        // Of two digits the year 69, which clocks behind UTC show first, is another.
        let texts = [0, 86_400 * self.unit.per_second()].into_iter().filter_map(|count| self.show(count));
        texts.into_iter().find(|text| self.parse(text).is_some())
    }

    /// What a text has to be, with an example.
    pub fn wanted(&self) -> String {
        let example = self.show(0).map_or(String::new(), |text| format!(", such as '{text}'"));
        format!("a text of the format '{}'{example}, in whole units", self.format)
    }
}

const NANOS: i128 = 1_000_000_000;

/// A format whose `%f` are fractions of a second: with the dot before them in `dotted` digits, of which none are any number, else in `digits`.
fn with_fractions(format: &str, dotted: &str, digits: &str) -> String {
    let (mut out, mut rest) = (String::new(), format);
    while let Some(c) = rest.chars().next() {
        let len = if let Some(behind) = rest.strip_prefix(".%f") {
            out.extend(["%.", dotted, "f"]);
            rest.len() - behind.len()
        } else if let Some(behind) = rest.strip_prefix("%f") {
            out.extend(["%", digits, "f"]);
            rest.len() - behind.len()
        } else {
            let len = if rest.starts_with("%%") { 2 } else { c.len_utf8() };
            out.push_str(&rest[..len]);
            len
        };
        rest = &rest[len..];
    }
    out
}
