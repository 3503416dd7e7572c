//! Products of masked tensors: what is missing is zero, so that it adds nothing to a sum, as in a reduction.

use super::{MaskedTensor, fill_none};
use crate::args::typed;
use crate::ragged::RaggedTensor;
use extenso_core::{Answer, Arg, Call, ExtensionType, Tensor, Value, call_one, ops};
use extenso_types::Result;

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
    let product = call_one(call.op, &args, call.attrs)?;
    crate::args::answer(match missing {
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
