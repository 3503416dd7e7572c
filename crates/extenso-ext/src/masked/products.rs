//! Products of masked tensors: what is missing is zero, so that it adds nothing to a sum, as in a reduction.

use super::{MaskedTensor, fill_none};
use crate::args::{answer, typed};
use crate::axes::{outer, rank};
use crate::lists::spread;
use crate::ragged::RaggedTensor;
use crate::structs::masked_by;
use extenso_core::{Answer, Arg, Call, ExtensionType, Tensor, Value, call_one, ops};
use extenso_types::{DType, Result};

/// `matmul` of what is there: the products are all there, but those of rows that are missing as a whole.
pub(super) fn matmul(call: &Call<'_>) -> Answer {
    let (mut args, mut missing) = (Vec::new(), None);
    for arg in call.args {
        let Arg::Value(value) = arg else { return Ok(None) };
        let (value, mask) = zero_where_missing(value)?;
        args.push(Arg::Value(value));
        missing = match (missing, mask) {
            (Some(one), Some(other)) => Some(ops::logical_and(one, &other)?.tensor()?.clone()),
            (one, other) => one.or(other),
        };
    }
    // A batch that is missing says nothing of sizes, so that others alone are multiplied.
    let mut rows = args.iter().map(Arg::value).collect::<Result<Vec<_>>>()?.into_iter();
    if let Some(mask) = &missing
        && rows.all(|value| rank(value).is_ok_and(|rank| rank > 2) && outer(value) == outer(&mask.clone().into()))
    {
        let there = |arg: &Arg| ops::boolean_mask(arg.value()?, mask, 0).map(Arg::Value);
        let args: Vec<Arg> = args.iter().map(there).collect::<Result<_>>()?;
        let each = ops::partition_from_lengths(ops::cast(mask, DType::I64)?)?;
        return answer(masked_by(spread(&call_one(call.op, &args, call.attrs)?, &each)?, mask)?);
    }
    let product = call_one(call.op, &args, call.attrs)?;
    answer(match missing {
        Some(mask) => MaskedTensor::new(product, mask)?.into_value(),
        None => product,
    })
}

/// The value with zeros where it is missing and nothing in rows that are, and which rows are there.
fn zero_where_missing(value: &Value) -> Result<(Value, Option<Tensor>)> {
    let Some(masked) = typed::<MaskedTensor>(value) else { return Ok((value.clone(), None)) };
    match masked.rows_there()?.map(RaggedTensor::into_value) {
        Some(rows) => Ok((fill_none(&rows, 0)?, Some(masked.mask))),
        None => Ok((masked.filled(0)?, None)),
    }
}
