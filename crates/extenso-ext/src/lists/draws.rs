//! Lists in random order, and positions drawn by the weights of a list.

use super::along_one;
use crate::args::{int, typed_ref};
use crate::axes::{is_ragged, rank};
use crate::masked::{MaskedTensor, fill_none};
use crate::meaning::nested::below;
use crate::ragged::{RaggedTensor, flatten};
use extenso_core::reduce::normalize_axis;
use extenso_core::{Arg, ExtensionType, Value, ops};
use extenso_types::{DType, Result};

/// The elements of each list along `axis` in random order.
///
/// As [`ops::random_shuffle`], also along a ragged axis. Errors: as there.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// # use extenso_core::ops;
/// let x = lists::random_shuffle(0, &constant(vec![vec![3, 4, 5], vec![7]]).unwrap(), 1).unwrap();
/// assert_eq!(to_literal(&ops::sort(x, 1, false).unwrap()).unwrap().to_string(), "[[3, 4, 5], [7]]");
/// ```
pub fn random_shuffle(key: impl Into<Arg>, x: &Value, axis: i64) -> Result<Value> {
    let (key, at) = (key.into(), rank(x).and_then(|rank| normalize_axis(axis, rank)));
    let Some(at) = at.map_err(|e| e.at_part("random_shuffle")).map(|at| is_ragged(x, at).then_some(at))? else {
        return ops::random_shuffle(key, x, axis);
    };
    let of_each = |rows: &RaggedTensor| {
        let (cut, places) = (rows.partition(), ops::places_in_rows(rows.partition())?);
        let order = ops::segment_argsort(ops::random_unit_like(key.clone(), places, DType::F64)?, cut, false)?;
        let elements = ops::take(rows.values(), ops::places_by_row(order, cut, cut)?, 0)?;
        Ok(rows.with_values(elements)?.into_value())
    };
    let shuffled = with_rows_there(x).and_then(|x| along_one(&x, int(at), &of_each));
    shuffled.map_err(|e| e.at_part("random_shuffle"))
}

/// For each list of logarithms of weights along `axis` a position, drawn by the weights.
///
/// As [`ops::random_categorical`], also of rows; what is missing is not drawn, and of an empty list the position is missing.
/// Errors: as there.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let logits = constant(vec![vec![0.0, f64::NEG_INFINITY], vec![0.0]]).unwrap();
/// let drawn = lists::random_categorical(0, &logits, -1).unwrap();
/// assert_eq!(to_literal(&drawn).unwrap().to_string(), "[0, 0]");
/// ```
pub fn random_categorical(key: impl Into<Arg>, logits: &Value, axis: i64) -> Result<Value> {
    if logits.tensor().is_ok() {
        return ops::random_categorical(key, logits, axis);
    }
    let key = key.into();
    let drawn = || ops::categorical_of(&each(logits, &checked)?, each(logits, &|x| unit(&key, x))?, axis);
    drawn().and_then(|drawn| some_drawn(&drawn, logits, axis)).map_err(|e| e.at_part("random_categorical"))
}

/// The positions drawn, if every list in which something stands has a logit above -inf.
fn some_drawn(drawn: &Value, logits: &Value, axis: i64) -> Result<Value> {
    let above = ops::greater(logits, f64::NEG_INFINITY)?;
    let none = ops::any(ops::logical_or(&above, true)?, axis, false).and_then(ops::logical_not)?;
    let drawable = ops::logical_or(ops::any(above, axis, false)?, none)?;
    let drawable = flatten(fill_none(&drawable, true)?, None)?;
    below(drawn, &|positions| ops::some_drawn(positions, &drawable))
}

/// True with probability `p`, in `shape`, or in the shape of `p`: in its rows, and missing where it is.
///
/// As [`ops::random_bernoulli`]. Errors: as there.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = lists::random_bernoulli(0, constant(vec![vec![0.0, 1.0], vec![1.0]]).unwrap(), None).unwrap();
/// assert_eq!(to_literal(&x).unwrap().to_string(), "[[False, True], [True]]");
/// ```
pub fn random_bernoulli(key: impl Into<Arg>, p: impl Into<Arg>, shape: Option<Vec<i64>>) -> Result<Value> {
    let (key, p) = (key.into(), p.into());
    match &p {
        Arg::Value(p @ Value::Ext(_)) if shape.is_none() => each(p, &|p| ops::random_bernoulli(key.clone(), p, None)),
        _ => ops::random_bernoulli(key, p, shape),
    }
}

/// The value with nothing in rows that are missing, so that the numbers drawn for the others do not depend on what lies there.
fn with_rows_there(x: &Value) -> Result<Value> {
    if let Some(rows) = typed_ref::<RaggedTensor>(x) {
        return Ok(rows.with_values(with_rows_there(rows.values())?)?.into_value());
    }
    match typed_ref::<MaskedTensor>(x) {
        Some(masked) => {
            let values = with_rows_there(&masked.values_there()?)?;
            Ok(MaskedTensor::new(values, masked.mask().clone())?.into_value())
        }
        None => Ok(x.clone()),
    }
}

/// A function of the elements below rows and masks; zeros lie under what is missing.
fn each(x: &Value, f: &dyn Fn(&Value) -> Result<Value>) -> Result<Value> {
    if let Some(rows) = typed_ref::<RaggedTensor>(x) {
        let rows = rows.compact()?;
        return Ok(rows.with_values(each(rows.values(), f)?)?.into_value());
    }
    match typed_ref::<MaskedTensor>(x) {
        Some(masked) if masked.values().tensor().is_ok() => {
            Ok(MaskedTensor::new(f(&masked.filled(0)?)?, masked.mask().clone())?.into_value())
        }
        Some(masked) => Ok(MaskedTensor::new(each(&masked.values_there()?, f)?, masked.mask().clone())?.into_value()),
        None => f(x),
    }
}

fn checked(logits: &Value) -> Result<Value> {
    ops::check_within(logits, f64::NEG_INFINITY, f64::INFINITY, "logits")
}

fn unit(key: &Arg, x: &Value) -> Result<Value> {
    let dtype = x.tensor()?.dtype();
    let dtype = if dtype == DType::F64 { dtype } else { DType::F32 };
    ops::random_unit_like(key.clone(), x, dtype)
}
