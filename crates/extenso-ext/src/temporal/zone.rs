//! Zones: UTC, fixed offsets, and names of the IANA database, whose offsets change with time.
//!
//! Source: the database that the crate chrono-tz has, which is the same on every machine. Invariant: a point in time has one offset; a time that clocks
//! show twice is the first of the two, and one that they leave out is as far behind the jump as it is behind its start.

use super::calendar::{civil, days_from};
use super::texts::infer_as;
use super::{TimeUnit, TimestampTensor};
use crate::written::each;
use chrono::{DateTime, MappedLocalTime, NaiveDateTime, Offset, TimeZone};
use chrono_tz::{GapInfo, Tz};
use extenso_core::attrs::{AttrSet, Attrs};
use extenso_core::{Arg, Class, OpDef, OutputSpecs, Outputs, Tensor, Value, call_one};
use extenso_types::{DType, Error, LeafSpec, Result};

extenso_core::attrs! {
    /// A zone by name, and the unit that is counted.
    pub struct InZone { unit: String, zone: String }
}

/// What clocks of a zone show at points in time.
///
/// Errors: what 64 bits do not count.
pub static TIME_LOCAL: OpDef = OpDef::general(Class::Structural, infer, run_local).part().named(
    "time_local",
    "What clocks of a zone show at points in time, both as counts of a unit.\n",
    &["x"],
    InZone::DEF,
);

/// The points in time at which clocks of a zone show something.
///
/// Errors: as [`TIME_LOCAL`].
pub static TIME_OF_LOCAL: OpDef = OpDef::general(Class::Structural, infer, run_of_local).part().named(
    "time_of_local",
    "The points in time at which clocks of a zone show something, both as counts of a unit.\n",
    &["x"],
    InZone::DEF,
);

/// The first points in time at which clocks of a zone show something or more.
///
/// Errors: as [`TIME_LOCAL`].
pub static TIME_BEGUN: OpDef = OpDef::general(Class::Structural, infer, run_begun).part().named(
    "time_begun",
    "The first points in time at which clocks of a zone show something or more, both as counts of a unit.\n",
    &["x"],
    InZone::DEF,
);

/// How far a zone is ahead of UTC.
#[derive(Clone, Copy)]
pub(super) enum Zone {
    /// So many seconds.
    Fixed(i64),
    Named(Tz),
}

/// Whether a zone is UTC, by any of its names.
pub fn is_utc(zone: &str) -> bool {
    matches!(zone, "UTC" | "Etc/UTC" | "Z" | "GMT" | "+00:00")
}

impl Zone {
    /// Errors: neither an offset nor a name that is known.
    pub fn new(name: &str) -> Result<Zone> {
        match fixed(name) {
            Some(ahead) => Ok(Zone::Fixed(ahead)),
            None => name.parse().map(Zone::Named).map_err(|_| {
                Error::value(format!("the zone '{name}' is not known"))
                    .wanted("UTC, an offset such as '+05:30', or a name of the IANA database such as 'Europe/Berlin'")
            }),
        }
    }

    /// The seconds that it is ahead of UTC at a second since 1970 in UTC.
    pub fn ahead_at(self, second: i64) -> i64 {
        match self {
            Zone::Fixed(ahead) => ahead,
            Zone::Named(tz) => tz.offset_from_utc_datetime(&moment(second)).fix().local_minus_utc().into(),
        }
    }

    /// The seconds that it is ahead of UTC when its clocks show a second since 1970.
    pub fn ahead_when(self, shown: i64) -> i64 {
        /// More than lies between two changes of an offset.
        const EARLIER: i64 = 2 * 86_400;
        let Zone::Named(tz) = self else { return self.ahead_at(shown) };
        match tz.offset_from_local_datetime(&moment(shown)) {
            MappedLocalTime::Single(offset) | MappedLocalTime::Ambiguous(offset, _) => {
                offset.fix().local_minus_utc().into()
            }
            MappedLocalTime::None => self.ahead_at(shown.saturating_sub(EARLIER)),
        }
    }

    /// The same; where clocks leave out that second, how far it is behind their jump.
    fn behind_begin(self, shown: i64) -> i64 {
        let Zone::Named(tz) = self else { return self.ahead_at(shown) };
        let at = moment(shown);
        match GapInfo::new(&at, &tz).and_then(|gap| gap.end) {
            Some(jump) => at.and_utc().timestamp() - jump.timestamp(),
            None => self.ahead_when(shown),
        }
    }
}

/// A second since 1970 of which the database says the offset. From March of 2099 on, near where it ends, years from March on go on as the last of them
/// that begins with the same weekday: then no rule is left that has other days in other years (of Ramadan, until 2087), and weekdays say when clocks change.
fn moment(second: i64) -> NaiveDateTime {
    /// Before this second, of the years that the calendar of the crate has, offsets do not change.
    const LEAST: i64 = -8_000_000_000_000;
    const END: i64 = 2099;
    /// As many years as have all weekdays.
    const ALIKE: i64 = 11;
    let starts = |year: i64| days_from(year, 3, 1);
    let second = if second < starts(END) * 86_400 {
        second.max(LEAST)
    } else {
        let (days, rest) = (second.div_euclid(86_400), second.rem_euclid(86_400));
        let (year, month, _) = civil(days);
        let start = starts(year - i64::from(month < 3));
        let is_alike = |like: &i64| (starts(*like) - start) % 7 == 0;
        let like = (END - ALIKE..END).rev().find(is_alike).unwrap_or(END - 1);
        (days - start + starts(like)) * 86_400 + rest
    };
    DateTime::from_timestamp(second, 0).unwrap_or_default().naive_utc()
}

/// The seconds of an offset; none if a zone is given by name.
pub(super) fn fixed(zone: &str) -> Option<i64> {
    if is_utc(zone) {
        return Some(0);
    }
    let (sign, rest) = match zone.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = match rest.split_once(':') {
        Some(parts) => parts,
        None => rest.split_at_checked(2)?,
    };
    let digits = |text: &str| text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit());
    let whole = digits(hours) && (digits(minutes) || minutes.is_empty());
    let minutes = if minutes.is_empty() { "0" } else { minutes };
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    (whole && hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

/// What clocks show, as counts of the unit; none where the offset of the zone does not change.
///
/// Errors: a zone that is not known; what 64 bits do not count.
pub(super) fn shown_by_clocks(x: &TimestampTensor) -> Result<Option<Value>> {
    by_name(&TIME_LOCAL, x.values(), x.unit(), x.zone())
}

/// The first points in time at which clocks show so many units or more; none where the offset of the zone does not change.
///
/// Errors: as [`shown_by_clocks`].
pub(super) fn first_shown(shown: &Value, unit: &str, zone: Option<&str>) -> Result<Option<Value>> {
    by_name(&TIME_BEGUN, shown, unit, zone)
}

/// The points in time at which clocks show so many units; none where the offset of the zone does not change.
///
/// Errors: as [`shown_by_clocks`].
pub(super) fn when_clocks_show(shown: &Value, unit: &str, zone: Option<&str>) -> Result<Option<Value>> {
    by_name(&TIME_OF_LOCAL, shown, unit, zone)
}

fn by_name(op: &'static OpDef, x: impl Into<Arg>, unit: &str, zone: Option<&str>) -> Result<Option<Value>> {
    let Some(zone) = zone else { return Ok(None) };
    match Zone::new(zone)? {
        Zone::Fixed(_) => Ok(None),
        Zone::Named(_) => call_one(op, &[x.into()], &InZone { unit: unit.into(), zone: zone.into() }).map(Some),
    }
}

fn infer(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let InZone { unit, zone } = InZone::of(attrs)?;
    unit.parse::<TimeUnit>().and(Zone::new(zone))?;
    infer_as(args, DType::I64, DType::I64)
}

fn run_local(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    moved(args, attrs, |zone, second| zone.ahead_at(second))
}

fn run_of_local(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    moved(args, attrs, |zone, second| -zone.ahead_when(second))
}

fn run_begun(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    moved(args, attrs, |zone, second| -zone.behind_begin(second))
}

/// Counts moved by as many seconds as `by` says of the second that each is in.
fn moved(args: &[Value], attrs: &dyn AttrSet, by: fn(Zone, i64) -> i64) -> Result<Outputs> {
    let InZone { unit, zone } = InZone::of(attrs)?;
    let (per_second, zone, dense) =
        (unit.parse::<TimeUnit>()?.per_second(), Zone::new(zone)?, args[0].tensor()?.data()?);
    let counts = dense.as_slice::<i64>()?;
    let one = |i: usize| counts[i].checked_add(by(zone, counts[i].div_euclid(per_second)) * per_second);
    let moved = each(counts.len(), one).ok_or_else(|| {
        let beyond = (0..counts.len()).find(|i| one(*i).is_none()).unwrap_or_default();
        Error::value(format!("element {beyond} counts {}, and 64 bits do not count it in the zone", counts[beyond]))
            .wanted("a count that has room for the offset")
    })?;
    Ok(Outputs::from_iter([Tensor::from_vec(moved).with_dims(dense.dims())?.into()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_show_what_the_zone_says_and_back() {
        for name in
            ["Europe/Berlin", "America/Sao_Paulo", "Pacific/Apia", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"]
        {
            let zone = Zone::new(name).expect("a zone");
            // Every half an hour and a bit of some years with changes, and far from them.
            for second in (0..100_000).map(|i| 1_293_840_000 + i * 1_847).chain([-9_000_000_000_000, 9_000_000_000_000])
            {
                let shown = second + zone.ahead_at(second);
                let back = shown - zone.ahead_when(shown);
                // Of two times that show the same, the first.
                assert!(back == second || back < second && back + zone.ahead_at(back) == shown, "{name} {second}");
            }
        }
    }

    #[test]
    fn what_clocks_leave_out_lies_behind_the_jump() {
        let berlin = Zone::new("Europe/Berlin").expect("a zone");
        // 2024-03-31 has no 02:30:00, which is 03:30:00 in summer, 01:30:00 in UTC.
        let shown = 1_711_852_200;
        assert_eq!(shown - berlin.ahead_when(shown), 1_711_848_600);
        // 2024-10-27 has 02:30:00 twice, first in summer.
        let shown = 1_729_996_200;
        assert_eq!(berlin.ahead_when(shown), 7_200);
        // 2150-07-01T12:00:00 and 2150-01-01T12:00:00, in years that the database does not have.
        assert_eq!((berlin.ahead_at(5_695_790_400), berlin.ahead_at(5_680_152_000)), (7_200, 3_600));
        assert!(Zone::new("Europe/Atlantis").is_err() && fixed("+5:30").is_none() && fixed("-0530") == Some(-19_800));
    }
}
