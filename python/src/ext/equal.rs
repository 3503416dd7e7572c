//! Equality of values of extension types: one boolean for the whole.
//!
//! Invariant: shapes never broadcast; other static data or other dtypes are `False`. What lies under an element that is missing, or outside every
//! row, says nothing.

use crate::call::apply_one;
use crate::error::OrRaise;
use crate::{arg, value};
use extenso_core::attrs::{Axes, NoAttrs};
use extenso_core::reduce::Reduce;
use extenso_core::{Arg, Ext, ExtensionType as _, Storage, Tensor, Value, ops};
use extenso_ext::{MaskedTensor, RaggedTensor};
use extenso_types::{DType, Dim, ExtSpec, PartitionSpec, Result, Shape, Spec, TensorSpec};
use pyo3::prelude::*;

/// Whether both are the same value; none if the other is no value of an extension type.
///
/// Errors: a symbol, which has no data to compare.
pub fn equal(x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>) -> PyResult<Option<bool>> {
    if !arg::is_value(y) {
        return Ok(None);
    }
    let (x, y) = (value::from_py(x)?, value::from_py(y)?);
    let alike = without_sizes(&x.spec().or_raise()?).equals(&without_sizes(&y.spec().or_raise()?));
    Ok(Some(alike && values_equal(&x, &y)?))
}

/// The spec without what the data says by itself: sizes, and the width of offsets.
fn without_sizes(spec: &Spec) -> Spec {
    match spec {
        Spec::Tensor(tensor) => {
            let shape = match tensor.shape.rank() {
                Some(rank) => Shape::new((0..rank).map(|_| Dim::any())),
                None => tensor.shape.clone(),
            };
            TensorSpec::new(tensor.dtype, shape).into()
        }
        Spec::Partition(_) => Spec::Partition(PartitionSpec::new(Dim::any(), Dim::any(), DType::I64)),
        Spec::Ext(ext) => {
            let components = ext.components.iter().map(|(segment, spec)| (segment.clone(), without_sizes(spec)));
            Spec::from(ExtSpec { components: components.collect(), ..ExtSpec::clone(ext) })
        }
    }
}

fn values_equal(x: &Value, y: &Value) -> PyResult<bool> {
    let (Value::Ext(a), Value::Ext(b)) = (x, y) else { return leaves_equal(x, y) };
    if let (Some(a), Some(b)) = (a.downcast::<MaskedTensor>(), b.downcast::<MaskedTensor>()) {
        let (mask, other) = (Value::from(a.mask().clone()), b.mask().clone().into());
        return Ok(leaves_equal(&mask, &other)? && values_equal(&there(a)?, &there(b)?)?);
    }
    let (a, b) = (in_rows(a)?, in_rows(b)?);
    let (a, b) = (a.components().or_raise()?, b.components().or_raise()?);
    for (a, b) in a.iter().zip(&b) {
        if !values_equal(a, b)? {
            return Ok(false);
        }
    }
    Ok(a.len() == b.len())
}

/// The values that are there.
fn there(masked: &MaskedTensor) -> PyResult<Value> {
    let mask = masked.mask();
    let all = apply_one(&ops::ALL, &[Arg::from(mask)], &Reduce { axis: Axes::All, keepdims: false })?;
    if all.tensor().and_then(Tensor::to_bool).or_raise()? {
        return Ok(masked.values().clone());
    }
    ops::boolean_mask(masked.values(), mask, 0_i64).or_raise()
}

/// The same value, without what lies outside every row if it is rows.
fn in_rows(value: &Ext) -> PyResult<Ext> {
    match value.downcast::<RaggedTensor>() {
        Some(rows) if !rows.partition().covers_all() => {
            rows.compact().and_then(|rows| rows.into_value().ext().cloned()).or_raise()
        }
        _ => Ok(value.clone()),
    }
}

fn leaves_equal(a: &Value, b: &Value) -> PyResult<bool> {
    match (a, b) {
        (Value::Tensor(a), Value::Tensor(b)) if a.same(b) && !a.dtype().is_float() => Ok(true),
        (Value::Tensor(a), Value::Tensor(b)) if a.data().or_raise()?.dims() != b.data().or_raise()?.dims() => Ok(false),
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
