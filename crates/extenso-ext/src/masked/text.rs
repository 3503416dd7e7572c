//! Ops on masked strings that are more than the op on the values.

use super::structure::stretched;
use super::{MaskedTensor, lists_of, missing_lists, trailing};
use crate::args::{again, answer, answer_ext, flat, int, on_value, typed, typed_arg, typed_ref, wrap};
use crate::axes::{positions, rank};
use crate::missing::one_more;
use crate::ragged::RaggedTensor;
use crate::structs::masked_by;
use extenso_core::attrs::Attrs;
use extenso_core::ops::{FindText, ReduceJoin, Separator};
use extenso_core::{Answer, Arg, Call, ExtensionType, Tensor, Value, ops};
use extenso_types::{DType, DTypeKind, Error, Result};

/// `reduce_join` joins what is there, one axis after the other; strings that are missing together stay missing.
pub(super) fn reduce_join(call: &Call<'_>) -> Answer {
    let [arg] = flat(call) else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(arg) else { return Ok(None) };
    let attrs = ReduceJoin::of(call.attrs)?;
    let steps = attrs.steps(rank(x.values())?)?;
    let along = |x: Value, axis: usize| match typed::<MaskedTensor>(&x) {
        Some(x) => joined_along(&x, axis, &attrs.separator),
        None => ops::reduce_join(x, int(axis), &attrs.separator),
    };
    answer(steps.into_iter().try_fold(x.into_value(), along)?)
}

fn joined_along(x: &MaskedTensor, axis: usize, separator: &str) -> Result<Value> {
    if x.mask_rank()? <= axis {
        let joined = ops::reduce_join(x.values(), int(axis), separator)?;
        return Ok(MaskedTensor::new(joined, x.mask.clone())?.into_value());
    }
    match x.rows_there()? {
        Some(rows) => ops::reduce_join(rows.into_value(), int(axis), separator),
        None => joined(x, separator, &|pieces| ops::reduce_join(pieces, int(axis), "")),
    }
}

/// `segment_join` joins what is there in each row.
pub(super) fn segment_join(call: &Call<'_>) -> Answer {
    let [x, rows] = call.args else { return Ok(None) };
    let Some(x) = typed_arg::<MaskedTensor>(x) else { return Ok(None) };
    let Separator { separator } = Separator::of(call.attrs)?;
    answer(joined(&x, separator, &|pieces| ops::segment_join(pieces, rows, ""))?)
}

/// The joined strings, as `join` puts pieces end to end: each string behind a separator, and nothing where none is there.
fn joined(x: &MaskedTensor, separator: &str, join: &dyn Fn(Value) -> Result<Value>) -> Result<Value> {
    let whole = join(pieces(&x.clone().into_value(), separator)?)?;
    if separator.is_empty() { Ok(whole) } else { ops::removeprefix(whole, separator) }
}

fn pieces(x: &Value, separator: &str) -> Result<Value> {
    if let Some(masked) = typed::<MaskedTensor>(x) {
        let there = pieces(masked.values(), separator)?;
        return ops::where_(masked.wide_mask()?, &there, text_like(x, "")?);
    }
    if separator.is_empty() {
        return Ok(x.clone());
    }
    ops::string_join(vec![text_like(x, separator)?, x.clone()], "")
}

/// One text of the dtype of others.
fn text_like(x: &Value, text: &str) -> Result<Value> {
    Ok(match crate::dtype_of(&x.spec()?) {
        Some(DType::Bytes) => Tensor::byte_strings(&[], &[text.as_bytes()])?.into(),
        _ => Tensor::strings(&[], &[text])?.into(),
    })
}

/// Missing strings have no text, and what is made of several would not say that they are missing.
pub(super) fn joins(call: &Call<'_>) -> Answer {
    let Some(x) = flat(call).first().and_then(typed_arg::<MaskedTensor>) else { return Ok(None) };
    let are_texts = crate::dtype_of(&x.values().spec()?).is_none_or(|dtype| dtype.kind() == DTypeKind::Text);
    let (what, instead) = if are_texts { ("strings", "''") } else { ("code points", "0xFFFD") };
    Err(Error::value(format!("some of the {what} may be missing"))
        .wanted(format!("{what} that are all there"))
        .hint(format!("Write `fill_none(x, {instead})` around them.")))
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
    if rest.first().and_then(typed_arg::<MaskedTensor>).is_some() {
        let name = call.op.params.get(1).copied().unwrap_or("keys");
        return Err(Error::value(format!("some of the {name} may be missing"))
            .wanted(format!("{name} that are all there"))
            .hint(format!("Write `drop_none({name})` around them.")));
    }
    let Some(x) = typed_arg::<MaskedTensor>(x) else { return Ok(None) };
    let args = std::iter::once(Arg::from(x.values())).chain(rest.iter().cloned());
    wrap(again(call, &args.collect::<Vec<_>>())?, |found| masked_by(found, &x.mask))
}

/// The values of keys of any type, some of which may be missing, as is what stands for other keys: they are taken by the places of the keys.
pub(crate) fn looked_up_values(call: &Call<'_>) -> Answer {
    let [Arg::Value(x), keys, Arg::Value(values), default] = call.args else { return looked_up(call) };
    if typed_ref::<MaskedTensor>(x).is_some() {
        return looked_up(call);
    }
    if typed_ref::<RaggedTensor>(x).is_some() {
        return Ok(None);
    }
    let at = ops::lookup(x, keys, -1, 0)?;
    let known = ops::greater_equal(&at, 0)?;
    let count = ops::sum(ops::ones_like(positions(values)?)?, 0, false)?;
    let place = ops::where_(&known, at, count)?;
    let lists = lists_of(values);
    if typed_ref::<RaggedTensor>(&lists).is_some() {
        // A list for other keys is one more; one number makes it empty.
        let lists = match default {
            Arg::Value(one) if rank(one)? + 1 == rank(&lists)? => {
                ops::concat(vec![lists, ops::expand_dims(one, 0)?], 0).map_err(|e| e.at("default"))?
            }
            _ => one_more(&lists)?,
        };
        let lists = match missing_lists(values) {
            Some(masked) => {
                let there: [Value; 2] = [masked.mask().clone().into(), Tensor::bools(&[1], &[true])?.into()];
                masked_by(lists, ops::concat(there.to_vec(), 0)?.tensor()?)?
            }
            None => lists,
        };
        return answer(ops::take(lists, place, 0)?);
    }
    let found = ops::take(one_more(values)?, place, 0)?;
    answer(ops::where_(trailing(&known, rank(values)?.saturating_sub(1))?, found, default)?)
}
