//! Ops on masked strings that are more than the op on the values.

use super::MaskedTensor;
use super::structure::stretched;
use crate::args::{again, answer, answer_ext, flat, on_value, typed_arg, wrap};
use extenso_core::attrs::Attrs;
use extenso_core::ops::FindText;
use extenso_core::{Answer, Arg, Call, ExtensionType, ops};
use extenso_types::Error;

/// Missing strings have no text, and a joined string would not say that they are missing.
pub(super) fn join(call: &Call<'_>) -> Answer {
    match flat(call).first().and_then(typed_arg::<MaskedTensor>) {
        Some(_) => Err(Error::value("some of the strings may be missing")
            .wanted("strings that are all there")
            .hint("Write `fill_none(x, '')` around them.")),
        None => Ok(None),
    }
}

/// A number is read wherever a text is; what lies under a missing one need not be a number.
pub(super) fn to_number(call: &Call<'_>) -> Answer {
    filled_with(call, "0")
}

/// What lies under a missing string need not be text of any kind; nothing is text of every kind.
pub(super) fn decoded(call: &Call<'_>) -> Answer {
    filled_with(call, "")
}

/// A pattern is found wherever a text is; what lies under a missing one need not have it.
pub(super) fn index(call: &Call<'_>) -> Answer {
    filled_with(call, &FindText::of(call.attrs)?.pattern)
}

fn filled_with(call: &Call<'_>, fill: &str) -> Answer {
    match flat(call).first().and_then(typed_arg::<MaskedTensor>) {
        Some(x) => answer_ext(MaskedTensor::new(on_value(call, &x.filled(fill)?)?, x.mask)?),
        None => Ok(None),
    }
}

/// What is there makes the vocabulary.
pub(super) fn vocabulary(call: &Call<'_>) -> Answer {
    let Some(x) = flat(call).first().and_then(typed_arg::<MaskedTensor>) else { return Ok(None) };
    if let Some(rows) = x.rows_there()? {
        return answer(on_value(call, &rows.into_value())?);
    }
    let (x, line) = (stretched(&x)?, vec![-1_i64]);
    let there = ops::boolean_mask(ops::reshape(x.values(), line.clone())?, ops::reshape(x.mask(), line)?, 0)?;
    answer(on_value(call, &there)?)
}

/// What is there is looked up; keys and values are for all.
pub(super) fn looked_up(call: &Call<'_>) -> Answer {
    let [x, rest @ ..] = call.args else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(x) else { return Ok(None) };
    let args = std::iter::once(Arg::from(x.values())).chain(rest.iter().cloned());
    wrap(again(call, &args.collect::<Vec<_>>())?, |found| Ok(MaskedTensor::new(found, x.mask.clone())?.into_value()))
}
