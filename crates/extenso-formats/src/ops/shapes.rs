//! Texts and records of any shape, brought to vectors and back.
//!
//! Invariant: what comes out has the axes of what went in; what is missing there is missing.

use extenso_core::{ExtensionType, Value, ops};
use extenso_ext::{MaskedTensor, RaggedTensor, StructTensor, rank, shape_of};
use extenso_types::{Error, Result, Shape};
use std::sync::Arc;

/// A function of a vector, and of which of its items are there if some are not.
pub type OfVector<'a> = &'a dyn Fn(&Value, Option<&Value>) -> Result<Vec<Value>>;

/// The results of a function of vectors on a value of any shape.
///
/// The first result is missing where the value is. Dense axes of `x` stay dense, unless the results have `lists`: then they are rows,
/// because rows come first in a value.
///
/// Errors: a value whose axes are not known; sizes that are not known, but for one; those of `f`.
pub fn over(x: &Value, there: Option<Value>, lists: bool, f: OfVector<'_>) -> Result<Vec<Value>> {
    if let Value::Ext(ext) = x {
        if let Ok(ragged) = RaggedTensor::from_value(x) {
            let ragged = ragged.compact()?;
            let there = there.map(|there| ops::gather_rows_of(there, ragged.partition())).transpose()?;
            return over_rows(&ragged, there, lists, f);
        }
        if let Ok(masked) = MaskedTensor::from_value(x) {
            return over_masked(&masked, there, lists, f);
        }
        if let Some(tensor) = ext.to_tensor() {
            return over(&tensor?.into(), there, lists, f);
        }
    }
    match rank(x)? {
        0 => {
            let there = there.map(|there| ops::expand_dims(there, 0)).transpose()?;
            let results = f(&alone(x)?, there.as_ref())?;
            results.into_iter().map(|result| ops::take(result, 0, 0)).collect()
        }
        1 => f(x, there.as_ref()),
        _ if lists => {
            let there = there.map(|there| RaggedTensor::from_dense(there, 1)).transpose()?;
            over_rows(&RaggedTensor::from_dense(x.clone(), 1)?, there.map(|t| t.values().clone()), lists, f)
        }
        _ => over_dense(x, there, f),
    }
}

/// A vector of the value alone; axes of a record's fields whose sizes are not known become rows.
fn alone(x: &Value) -> Result<Value> {
    if let Ok(record) = StructTensor::from_value(x)
        && record.rank() == 0
    {
        let field = |(name, value): &(Arc<str>, Value)| Ok((name.clone(), alone(value)?));
        let fields: Result<Vec<_>> = record.fields().iter().map(field).collect();
        return Ok(StructTensor::from_fields(Shape::known(&[1]), fields?)?.into_value());
    }
    let vector = ops::expand_dims(x, 0)?;
    let is_known = shape_of(&x.spec()?).to_dims().is_some();
    if is_known || rank(x)? == 0 || RaggedTensor::from_value(&vector).is_ok() {
        return Ok(vector);
    }
    Ok(RaggedTensor::from_dense(vector, 1)?.into_value())
}

/// On the values of rows, of whose outer axis `there` is.
fn over_rows(x: &RaggedTensor, there: Option<Value>, lists: bool, f: OfVector<'_>) -> Result<Vec<Value>> {
    let inner = rank(x.values())?;
    let results = if there.is_some() && inner > 1 && RaggedTensor::from_value(x.values()).is_err() {
        over(&RaggedTensor::from_dense(x.values().clone(), inner - 1)?.into_value(), there, lists, f)?
    } else {
        over(x.values(), there, lists, f)?
    };
    results.into_iter().map(|result| Ok(x.with_values(result)?.into_value())).collect()
}

fn over_masked(x: &MaskedTensor, there: Option<Value>, lists: bool, f: OfVector<'_>) -> Result<Vec<Value>> {
    let mask = match there {
        Some(there) => ops::logical_and(there, x.mask())?,
        None => x.mask().clone().into(),
    };
    let mut results = match RaggedTensor::from_value(x.values()) {
        Ok(ragged) => {
            let ragged = ragged.compact()?;
            over_rows(&ragged, Some(ops::gather_rows_of(mask, ragged.partition())?), lists, f)?
        }
        Err(_) if x.mask_rank()? < rank(x.values())? => {
            let rows = RaggedTensor::from_dense(x.values().clone(), rank(x.values())? - 1)?;
            over(&MaskedTensor::new(rows.into_value(), x.mask().clone())?.into_value(), None, lists, f)?
        }
        Err(_) => over(x.values(), Some(mask), lists, f)?,
    };
    if let Some(first) = results.first_mut()
        && MaskedTensor::from_value(first).is_err()
    {
        *first = MaskedTensor::new(first.clone(), x.mask().clone())?.into_value();
    }
    Ok(results)
}

fn over_dense(x: &Value, there: Option<Value>, f: OfVector<'_>) -> Result<Vec<Value>> {
    let shape = shape_of(&x.spec()?);
    let dims =
        shape.dims().map(|dims| dims.iter().take(rank(x).unwrap_or(0)).map(|dim| dim.known()).collect::<Vec<_>>());
    let dims = dims.filter(|dims| dims.iter().filter(|dim| dim.is_none()).count() <= 1);
    let dims = dims.ok_or_else(|| {
        Error::shape(format!("the argument has shape {shape}"))
            .wanted("one unknown size at most")
            .hint("Say the inner sizes in the spec of the function's argument")
    })?;
    let sizes: Vec<i64> = dims.iter().map(|dim| dim.map_or(-1, |n| i64::try_from(n).unwrap_or(i64::MAX))).collect();
    let all = vec![-1_i64];
    let there = there.map(|there| ops::reshape(there, all.clone())).transpose()?;
    let results = f(&ops::reshape(x, all)?, there.as_ref())?;
    results.into_iter().map(|result| ops::reshape(result, sizes.clone())).collect()
}
