//! Products and sums of masked tensors: what is missing is zero, so that it adds nothing to a sum, as in a reduction; a list that is missing
//! beside the axes that are summed has no product.

use super::operands::Mask;
use super::{MaskedTensor, fill_none};
use crate::args::{answer, int, typed, typed_arg};
use crate::axes::{outer, rank};
use crate::lists::spread;
use crate::ragged::RaggedTensor;
use crate::structs::masked_by;
use extenso_core::attrs::Attrs;
use extenso_core::ops::MatMul;
use extenso_core::{Answer, Arg, Call, ExtensionType, Tensor, Value, call_one, ops};
use extenso_types::{DType, Result};

/// `matmul` of what is there: the products are all there, but those of vectors and matrices that are missing as a whole.
pub(super) fn matmul(call: &Call<'_>) -> Answer {
    let (mut args, mut missing) = (Vec::new(), None);
    let lists = lists_missing(call)?;
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
        None => lists.iter().try_fold(product, |product, mask| mask.over(product))?,
    })
}

/// Where the vectors and matrices that are multiplied are there, of dense arguments.
fn lists_missing(call: &Call<'_>) -> Result<Vec<Mask>> {
    let [Arg::Value(x), Arg::Value(y)] = call.args else { return Ok(Vec::new()) };
    let (of_x, of_y) = (rank(x)?, rank(y)?);
    if of_x == 0 || of_y == 0 {
        return Ok(Vec::new());
    }
    let batches = of_x.max(of_y).saturating_sub(2);
    // The axes of the result: batches, then the rows of `x` and the columns of `y` where these are matrices.
    let all = batches + usize::from(of_x > 1) + usize::from(of_y > 1);
    let mut found = Vec::new();
    for (value, own, transposed) in [(x, of_x, true), (y, of_y, MatMul::of(call.attrs)?.transpose_y)] {
        let Some(masked) =
            typed::<MaskedTensor>(value).filter(|masked| typed::<RaggedTensor>(masked.values()).is_none())
        else {
            continue;
        };
        let (axes, summed) = (masked.mask_rank()?, if transposed || own == 1 { own - 1 } else { own - 2 });
        if axes > summed {
            continue;
        }
        // In front of the batches that it has, and of `y` in front of its columns, beside the rows of `x`.
        let in_front = if own > 1 { batches - (own - 2) } else { 0 };
        let columns = std::ptr::eq(value, y) && own > 1 && axes == own - 1 && of_x > 1;
        let sizes = (0..in_front).chain(columns.then_some(batches)).map(int).collect::<Vec<_>>();
        let mask = ops::expand_dims_at(masked.mask(), sizes)?;
        found.push(Mask { covers: if own > 1 { rank(&mask)? } else { 0 }, mask, rank: all });
    }
    Ok(found)
}

/// The value with zeros where it is missing and nothing in rows that are, and which rows are there.
fn zero_where_missing(value: &Value) -> Result<(Value, Option<Tensor>)> {
    let Some(masked) = typed::<MaskedTensor>(value) else { return Ok((value.clone(), None)) };
    match masked.rows_there()?.map(RaggedTensor::into_value) {
        Some(rows) => Ok((fill_none(&rows, 0)?, Some(masked.mask))),
        None => Ok((masked.filled(0)?, None)),
    }
}

/// `scatter_add_like` and the like: an update that is missing adds nothing, and the third argument lends its shape alone.
pub(super) fn scatter_add(call: &Call<'_>) -> Answer {
    let [updates, indices, like] = call.args else { return Ok(None) };
    if typed_arg::<MaskedTensor>(indices).is_some() {
        return Ok(None);
    }
    let updates = fill_none(updates.value()?, 0)?;
    let like = typed_arg::<MaskedTensor>(like).map_or_else(|| like.clone(), |like| Arg::from(like.values()));
    answer(call_one(call.op, &[Arg::Value(updates), indices.clone(), like], call.attrs)?)
}
