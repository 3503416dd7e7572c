//! Equality of values of extension types: one boolean for the whole.
//!
//! Invariant: shapes never broadcast; other static data or another spec is `False`.

use crate::call::apply_one;
use crate::error::OrRaise;
use crate::{arg, value};
use extenso_core::attrs::{Axes, NoAttrs};
use extenso_core::reduce::Reduce;
use extenso_core::{Arg, Storage, Tensor, Value, ops};
use extenso_types::Result;
use pyo3::prelude::*;

/// Whether both are the same value; none if the other is no value of an extension type.
///
/// Errors: a symbol, which has no data to compare.
pub fn equal(x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>) -> PyResult<Option<bool>> {
    if !arg::is_value(y) {
        return Ok(None);
    }
    let (x, y) = (value::from_py(x)?, value::from_py(y)?);
    if !x.spec().or_raise()?.equals(&y.spec().or_raise()?) {
        return Ok(Some(false));
    }
    let (mut a, mut b) = (Vec::new(), Vec::new());
    x.push_leaves(&mut a).and_then(|()| y.push_leaves(&mut b)).or_raise()?;
    for (a, b) in a.iter().zip(&b) {
        if !leaves_equal(a, b)? {
            return Ok(Some(false));
        }
    }
    Ok(Some(a.len() == b.len()))
}

fn leaves_equal(a: &Value, b: &Value) -> PyResult<bool> {
    match (a, b) {
        (Value::Tensor(a), Value::Tensor(b)) if a.same(b) && !a.dtype().is_float() => Ok(true),
        (Value::Tensor(a), Value::Tensor(b)) => match (&a.data().or_raise()?.storage(), b.data().or_raise()?.storage())
        {
            (Storage::Text { .. }, Storage::Text { .. }) => texts_equal(a, b).or_raise(),
            _ => numbers_equal(a, b),
        },
        (Value::Partition(a), Value::Partition(b)) => a.equals(b).or_raise(),
        _ => Ok(false),
    }
}

fn texts_equal(a: &Tensor, b: &Tensor) -> Result<bool> {
    let (a, b) = (a.data()?, b.data()?);
    for i in 0..a.len() {
        if a.text_at(i)? != b.text_at(i)? {
            return Ok(false);
        }
    }
    Ok(a.len() == b.len())
}

fn numbers_equal(a: &Tensor, b: &Tensor) -> PyResult<bool> {
    let same = apply_one(&ops::EQUAL, &[Arg::from(a), Arg::from(b)], &NoAttrs {})?;
    let all = apply_one(&ops::ALL, &[Arg::Value(same)], &Reduce { axis: Axes::All, keepdims: false })?;
    all.tensor().and_then(Tensor::to_bool).or_raise()
}
