//! Ops on the strings of ragged tensors that are more than the op on the values.

use super::RaggedTensor;
use crate::args::{again, answer, answer_ext, flat, int, on_value, typed, typed_arg, wrap};
use extenso_core::attrs::Attrs;
use extenso_core::ops::ReduceJoin;
use extenso_core::reduce::normalize_axis;
use extenso_core::{Answer, Arg, Call, ExtensionType, call_one, ops};
use extenso_types::Error;

/// `reduce_join` along axis 1 joins each row; axes inside the rows are left to the values.
pub(super) fn reduce_join(call: &Call<'_>) -> Answer {
    let [arg] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(arg) else { return Ok(None) };
    let ReduceJoin { axis, separator } = ReduceJoin::of(call.attrs)?;
    let axis = normalize_axis(*axis, x.rank()?)?;
    let refused =
        |what: &str| Err(Error::shape(what.to_string()).wanted("the innermost axis, or one that is not ragged"));
    match axis {
        0 => refused("rows of different lengths have no strings to join along axis 0"),
        1 if typed::<RaggedTensor>(x.values()).is_some() => refused("axis 1 has ragged rows inside"),
        1 => answer(ops::segment_join(x.values(), x.partition(), separator.as_str())?),
        inner => {
            let attrs = ReduceJoin { axis: int(inner - 1), separator: separator.clone() };
            answer_ext(x.with_values(call_one(call.op, &[Arg::from(x.values())], &attrs)?)?)
        }
    }
}

/// An op that fails on some texts does not see those outside every row.
pub(super) fn in_rows(call: &Call<'_>) -> Answer {
    match flat(call).first().and_then(typed_arg::<RaggedTensor>) {
        Some(x) => {
            let x = x.compact()?;
            answer_ext(x.with_values(on_value(call, x.values())?)?)
        }
        None => Ok(None),
    }
}

/// What is in the rows makes the vocabulary.
pub(super) fn vocabulary(call: &Call<'_>) -> Answer {
    match flat(call).first().and_then(typed_arg::<RaggedTensor>) {
        Some(x) => answer(on_value(call, x.compact()?.values())?),
        None => Ok(None),
    }
}

/// What is in the rows is looked up; keys and values are for all.
pub(super) fn looked_up(call: &Call<'_>) -> Answer {
    let [x, rest @ ..] = call.args else { return Ok(None) };
    let Some(x) = typed_arg::<RaggedTensor>(x) else { return Ok(None) };
    let args = std::iter::once(Arg::from(x.values())).chain(rest.iter().cloned());
    wrap(again(call, args.collect())?, |found| Ok(x.with_values(found)?.into_value()))
}
