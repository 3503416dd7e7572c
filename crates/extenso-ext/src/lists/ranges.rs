//! Lists of numbers that are equally far from each other.

use super::rows_value;
use extenso_core::{Arg, Value, ops, strengthen};
use extenso_types::{Error, Result};

/// For each row the numbers from its start by steps of its delta up to its limit and without it: `tf.ragged.range`.
///
/// Shapes: the arguments are numbers or vectors of one length, and broadcast; the result has a row for each. Errors: numbers
/// alone; a delta of zero; floats that are not finite; more elements than memory holds.
///
/// ```
/// # use extenso_ext::{lists, to_literal};
/// # use extenso_core::{Arg, Tensor};
/// let x = lists::ranges(Arg::from(0), Tensor::from_vec(vec![3_i64, 0, 2]), Arg::from(1)).unwrap();
/// assert_eq!(to_literal(&x).unwrap().to_string(), "[[0, 1, 2], [], [0, 1]]");
/// ```
pub fn ranges(starts: impl Into<Arg>, limits: impl Into<Arg>, deltas: impl Into<Arg>) -> Result<Value> {
    let (starts, limits, deltas) = (starts.into(), limits.into(), deltas.into());
    counted(&starts, &limits, &deltas).map_err(|e| e.at("ranges"))
}

fn counted(starts: &Arg, limits: &Arg, deltas: &Arg) -> Result<Value> {
    let all = ops::add(ops::add(starts, limits)?, deltas)?;
    if all.tensor()?.shape().rank() == Some(0) {
        return Err(Error::shape("the arguments are numbers alone")
            .wanted("a vector among them, for rows")
            .hint("Write `arange(start, stop, step)` for one list."));
    }
    let dtype = all.tensor()?.dtype();
    let like = |arg: &Arg| match arg {
        Arg::Scalar(number) => ops::broadcast_like(strengthen(number, Some(dtype))?, &all),
        Arg::Value(_) | Arg::List(_) => ops::broadcast_like(arg.clone(), &all),
    };
    let (starts, limits, deltas) = (like(starts)?, like(limits)?, like(deltas)?);
    let cut = ops::partition_from_lengths(ops::range_lengths(&starts, limits, &deltas)?)?;
    let places = ops::cast(ops::places_in_rows(&cut)?, dtype)?;
    let steps = ops::multiply(places, ops::gather_rows_of(deltas, &cut)?)?;
    rows_value(ops::add(ops::gather_rows_of(starts, &cut)?, steps)?, &cut)
}
