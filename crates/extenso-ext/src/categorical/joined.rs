//! Categories of several vocabularies in one.

use super::CategoricalTensor;
use crate::args::{answer_ext, flat, typed_arg};
use crate::axes::{outer, positions};
use crate::masked::{MaskedTensor, concat_masked};
use crate::meaning::Meaning;
use crate::ragged::{RaggedTensor, concat_rows};
use extenso_core::attrs::Attrs;
use extenso_core::ops::OneAxis;
use extenso_core::{Answer, Call, Tensor, Value, ops};
use extenso_types::{DType, Dim, Result};

/// One vocabulary stays; several are one that has each category once.
pub(super) fn concat(call: &Call<'_>) -> Answer {
    let Some(parts) = flat(call).iter().map(typed_arg::<CategoricalTensor>).collect::<Option<Vec<_>>>() else {
        // Beside masks and rows the categories are joined below them.
        let masked = flat(call).iter().any(|arg| typed_arg::<MaskedTensor>(arg).is_some());
        let rows = flat(call).iter().any(|arg| typed_arg::<RaggedTensor>(arg).is_some());
        return if rows {
            concat_rows(call)
        } else if masked {
            concat_masked(call)
        } else {
            Ok(None)
        };
    };
    // A part without a category joins nothing.
    let is_nothing = |part: &CategoricalTensor| {
        outer(&part.categories) == Some(Dim::Known(0)) && part.codes.shape().dims() == Some(&[Dim::Known(0)])
    };
    let some: Vec<CategoricalTensor> = parts.iter().filter(|part| !is_nothing(part)).cloned().collect();
    let parts = if some.is_empty() { parts } else { some };
    let Some(first) = parts.first() else { return Ok(None) };
    let axis = OneAxis::of(call.attrs)?.axis;
    if parts.iter().all(|part| first.meets(part).is_ok()) {
        let codes: Vec<Value> = parts.iter().map(Meaning::elements).collect();
        return answer_ext(first.over(ops::concat(codes, axis)?)?);
    }
    let (codes, categories) = in_one_vocabulary(&parts)?;
    let codes = ops::concat(codes, axis)?;
    answer_ext(CategoricalTensor { codes: codes.tensor()?.clone(), categories, ordered: false })
}

/// The codes of each in one vocabulary, in which the categories come in the order of the parts: each once, where they are data.
pub(super) fn in_one_vocabulary(parts: &[CategoricalTensor]) -> Result<(Vec<Value>, Value)> {
    let all = ops::concat(parts.iter().map(|part| part.categories.clone()).collect::<Vec<_>>(), 0_i64)?;
    let (places, categories) = distinct(all)?;
    let (mut codes, mut before) = (Vec::new(), Value::from(Tensor::scalar(0_i64)));
    for part in parts {
        let place = ops::add(ops::cast(&part.codes, DType::I64)?, &before)?;
        codes.push(match &places {
            Some(places) => ops::take(places, place, 0_i64)?,
            None => place,
        });
        let ones = ops::ones_like(positions(&part.categories)?)?;
        before = ops::add(before, ops::sum(ones, 0_i64, false)?)?;
    }
    Ok((codes, categories))
}

/// Categories each once, in the order in which they come first, and where each stands among them; those that are no data stay as they are.
fn distinct(categories: Value) -> Result<(Option<Value>, Value)> {
    if !matches!(&categories, Value::Tensor(words) if words.data().is_ok()) {
        return Ok((None, categories));
    }
    let unique = ops::unique_all(&categories)?;
    // Distinct ones come in increasing order; their order here is that of their first places.
    let order = ops::argsort(&unique.indices, -1, false)?;
    let places = ops::argsort(&order, -1, false)?;
    let places = ops::take(places, unique.inverse_indices, 0_i64)?;
    // What is missing where there is no category has a place behind the last.
    let places = ops::concat(vec![places, Tensor::from_vec(vec![0_i64]).into()], 0)?;
    Ok((Some(places), ops::take(unique.values, order, 0_i64)?))
}
