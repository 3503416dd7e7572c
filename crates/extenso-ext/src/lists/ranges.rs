//! Lists of numbers that are equally far from each other.

use super::rows_value;
use crate::args::{typed, typed_ref};
use crate::axes::{one_size, outer, rank, zeros};
use crate::masked::MaskedTensor;
use crate::ragged::RaggedTensor;
use crate::structs::masked_by;
use extenso_core::{Arg, ExtensionType, Value, ops, strengthen};
use extenso_types::{Dim, Error, Result};

/// For each row the numbers from its start by steps of its delta up to its limit and without it: `tf.ragged.range`.
///
/// Shapes: the arguments are numbers, tensors or rows, and broadcast; the result has a row for each number, in the rows that it stands in, and misses
/// the rows of those that are missing. Errors: numbers alone; a delta of zero; floats that are not finite; more elements than memory holds.
///
/// ```
/// # use extenso_ext::{lists, to_literal};
/// # use extenso_core::{Arg, Tensor};
/// let x = lists::ranges(Arg::from(0), Tensor::from_vec(vec![3_i64, 0, 2]), Arg::from(1)).unwrap();
/// assert_eq!(to_literal(&x).unwrap().to_string(), "[[0, 1, 2], [], [0, 1]]");
/// ```
pub fn ranges(starts: impl Into<Arg>, limits: impl Into<Arg>, deltas: impl Into<Arg>) -> Result<Value> {
    let (starts, limits, deltas) = (starts.into(), limits.into(), deltas.into());
    counted(&starts, &limits, &deltas).map_err(|e| e.at_part("ranges"))
}

fn counted(starts: &Arg, limits: &Arg, deltas: &Arg) -> Result<Value> {
    let all = ops::add(ops::add(starts, limits)?, deltas)?;
    if let Some(rows) = typed_ref::<RaggedTensor>(&all) {
        let values = |arg: &Arg| match arg {
            Arg::Scalar(_) => Ok(arg.clone()),
            Arg::Value(_) | Arg::List(_) => {
                let like = ops::broadcast_like(arg.clone(), &all)?;
                typed_ref::<RaggedTensor>(&like).ok_or_else(odd)?.values_in(rows.partition()).map(Arg::Value)
            }
        };
        let found = counted(&values(starts)?, &values(limits)?, &values(deltas)?)?;
        return Ok(rows.with_values(found)?.into_value());
    }
    if let Some(masked) = typed_ref::<MaskedTensor>(&all)
        && typed_ref::<RaggedTensor>(masked.values()).is_some()
    {
        // In rows that are missing no range stands. One row, and a column, are for each of the others.
        let one = |value: &Value| outer(value) == Some(Dim::Known(1));
        let there = |arg: &Arg| -> Result<Arg> {
            let Arg::Value(value) = arg else { return Ok(arg.clone()) };
            let repeated = one(value) && !one(&all);
            let value = if repeated { ops::take(value, zeros(&all)?, 0)? } else { value.clone() };
            let of_rows = typed::<MaskedTensor>(&value).filter(|x| typed::<RaggedTensor>(x.values()).is_some());
            let value = of_rows.map_or(value, |x| x.values().clone());
            if rank(&value)? < 2 || one_size(&value, 1) == Some(1) {
                return Ok(Arg::Value(value));
            }
            let rows = typed::<RaggedTensor>(&value).map_or_else(|| RaggedTensor::of_uniform(&value), Ok)?;
            Ok(Arg::Value(rows.only_where(masked.mask())?.into_value()))
        };
        return masked_by(counted(&there(starts)?, &there(limits)?, &there(deltas)?)?, masked.mask());
    }
    if let Some(masked) = typed_ref::<MaskedTensor>(&all) {
        // A range of nothing stands where it is not known of what.
        let there = |arg: &Arg, other: i64| {
            if matches!(arg, Arg::Scalar(_)) {
                return Ok(arg.clone());
            }
            let like = ops::broadcast_like(arg.clone(), &all)?;
            let values = typed_ref::<MaskedTensor>(&like).map_or(like.clone(), |masked| masked.values().clone());
            ops::where_(masked.wide_mask()?, values, other).map(Arg::Value)
        };
        let found = counted(&there(starts, 0)?, &there(limits, 0)?, &there(deltas, 1)?)?;
        return masked_by(found, masked.mask());
    }
    if all.tensor()?.shape().rank().is_some_and(|rank| rank > 1) {
        let rows = |arg: &Arg| -> Result<Arg> {
            match arg {
                Arg::Scalar(_) => Ok(arg.clone()),
                Arg::Value(_) | Arg::List(_) => {
                    let like = ops::broadcast_like(arg.clone(), &all)?;
                    Ok(Arg::Value(RaggedTensor::from_dense(like, 1)?.into_value()))
                }
            }
        };
        return counted(&rows(starts)?, &rows(limits)?, &rows(deltas)?);
    }
    if all.tensor()?.shape().rank() == Some(0) {
        return Err(Error::shape("the arguments are numbers alone")
            .wanted("a vector among them, for rows")
            .hint("Write `arange(start, stop, step)` for one list of Python numbers, or `local_index(x, axis=0)` for one as long as `x`."));
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

fn odd() -> Error {
    Error::internal("what is broadcast to rows is no rows")
}
