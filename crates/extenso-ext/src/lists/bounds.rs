//! Slices whose bounds are known when the graph runs.

use super::{along_one, cut_by, rows_value};
use crate::args::int;
use crate::axes::{is_ragged, rank};
use crate::specs::dtype_of;
use extenso_core::attrs::Axes;
use extenso_core::{Value, ops};
use extenso_types::{DType, Error, Result};

/// The bounds of a slice and its step, by the rules of Python; a bound that is not given is the end.
pub(crate) struct Bounds<'a> {
    pub start: Option<&'a Value>,
    pub stop: Option<&'a Value>,
    pub step: i64,
}

/// Farther than any list is long.
const FAR: i64 = 1 << 62;

/// The part of an axis between two bounds; of each row for itself where the axis is ragged.
///
/// Errors: a bound that is no single integer; a step of 0.
pub(crate) fn between(x: &Value, axis: usize, bounds: &Bounds<'_>) -> Result<Value> {
    if bounds.step == 0 {
        return Err(Error::value("the step is 0").wanted("a step forwards or backwards"));
    }
    if is_ragged(x, axis) {
        return along_one(x, int(axis), &|rows| {
            let (start, kept) = bounds.of(&rows.row_lengths()?.into())?;
            let cut = cut_by(kept)?;
            let first = ops::add(ops::row_starts(rows.partition())?, start)?;
            rows_value(ops::take(rows.values(), bounds.places(first, &cut)?, 0)?, &cut)
        });
    }
    let size = ops::sum(ops::ones_like(ops::indices_along(x, int(axis))?)?, Axes::All, true)?;
    let (start, kept) = bounds.of(&size)?;
    ops::take(x, bounds.places(start, &cut_by(kept)?)?, int(axis))
}

impl Bounds<'_> {
    /// The first position in lists of some lengths, and how many are taken.
    fn of(&self, lengths: &Value) -> Result<(Value, Value)> {
        // A step that leaves every list leaves room for sums.
        let step = self.step.clamp(-FAR, FAR);
        let forwards = step > 0;
        // Backwards, the position in front of the first stands for the end.
        let last = if forwards { lengths.clone() } else { ops::subtract(lengths, 1)? };
        let first = ops::multiply(ops::ones_like(lengths)?, if forwards { 0 } else { -1 })?;
        let place = |bound: Option<&Value>, end: &Value| match bound {
            None => Ok(end.clone()),
            Some(bound) => {
                let bound = ops::add(ops::zeros_like(lengths)?, whole(bound)?)?;
                let at = ops::where_(ops::less(&bound, 0)?, ops::add(&bound, lengths)?, &bound)?;
                ops::minimum(ops::maximum(at, &first)?, &last)
            }
        };
        let (from, to) = if forwards { (&first, &last) } else { (&last, &first) };
        let (start, stop) = (place(self.start, from)?, place(self.stop, to)?);
        let reach = ops::add(ops::subtract(stop, &start)?, step - step.signum())?;
        Ok((start, ops::maximum(ops::floor_divide(reach, step)?, 0)?))
    }

    /// The positions that are taken, from the first of each list on.
    fn places(&self, first: Value, cut: &Value) -> Result<Value> {
        ops::add(ops::gather_rows_of(first, cut)?, ops::multiply(ops::places_in_rows(cut)?, self.step)?)
    }
}

/// A bound in 64 bits.
fn whole(bound: &Value) -> Result<Value> {
    let spec = bound.spec()?;
    if !dtype_of(&spec).is_some_and(DType::is_integer) || rank(bound)? != 0 {
        return Err(Error::dtype(format!("a bound of the slice is {spec}")).wanted("one integer"));
    }
    // What no size reaches is as good as the end.
    let bound = if dtype_of(&spec) == Some(DType::U64) { ops::minimum(bound, i64::MAX)? } else { bound.clone() };
    ops::cast(bound, DType::I64)
}
