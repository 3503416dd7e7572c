//! The order of lists by several keys.

use crate::args::{int, typed_ref};
use crate::axes::{dim, outer, rank, zeros_of};
use crate::guard::checked;
use crate::masked::{all_as_rows, lists_there};
use crate::ragged::RaggedTensor;
use crate::structs::masked_by;
use extenso_core::attrs::Axes;
use extenso_core::reduce::normalize_axis;
use extenso_core::{ExtensionType, Value, ops};
use extenso_types::{Dim, Error, Result};

/// The positions along `axis` by which lists are in the order of several keys: of the last one, of the one before it where that is equal,
/// and so on. NumPy's name.
///
/// What is equal in all keys keeps its order; NaN comes behind all numbers, and what is missing last. Shapes: the keys have the same axes and
/// rows; i64. Errors: no key; an axis out of range; keys without an order, or in other rows.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let (price, name) = (constant(vec![vec![2, 1, 2], vec![5]]).unwrap(), constant(vec![vec!["b", "b", "a"], vec!["c"]]).unwrap());
/// let order = lists::lexsort(&[price, name], -1).unwrap();
/// assert_eq!(to_literal(&order).unwrap().to_string(), "[[2, 1, 0], [0]]");
/// ```
pub fn lexsort(keys: &[Value], axis: i64) -> Result<Value> {
    let order = || {
        let first = keys.first().ok_or_else(|| Error::value("no key is given").wanted("at least one key"))?;
        order_along(keys, normalize_axis(axis, rank(first)?)?)
    };
    order().map_err(|e| e.at_part("lexsort"))
}

fn order_along(keys: &[Value], axis: usize) -> Result<Value> {
    // A list that is missing in one key has no order.
    if axis > 0
        && let Some((keys, there)) = lists_there(keys)?
    {
        return masked_by(order_along(&keys, axis)?, &there);
    }
    let keys = all_as_rows(keys)?;
    match keys.first().and_then(typed_ref::<RaggedTensor>).filter(|_| axis > 1) {
        Some(first) => {
            let first = first.compact()?;
            let inside = |key: &Value| match typed_ref::<RaggedTensor>(key) {
                Some(key) => key.compact()?.values_in(first.partition()),
                None => Err(Error::shape("a key has fewer axes than the first").wanted("keys of one shape")),
            };
            let inner = keys.iter().map(inside).collect::<Result<Vec<Value>>>()?;
            Ok(first.with_values(order_along(&inner, axis - 1)?)?.into_value())
        }
        None => ordered(&keys, int(axis)),
    }
}

fn ordered(keys: &[Value], axis: i64) -> Result<Value> {
    let (first, others) = keys.split_first().ok_or_else(|| Error::internal("there is no key"))?;
    others.iter().try_fold(ops::argsort(first, axis, false)?, |order, key| {
        let key = beside(&order, key)?;
        let again = ops::argsort(ops::take_along_axis(key, &order, axis)?, axis, false)?;
        ops::take_along_axis(order, again, axis)
    })
}

/// The key in the axes and rows of the others.
///
/// Errors: it has others, of rows and symbols when the graph runs.
fn beside(order: &Value, key: &Value) -> Result<Value> {
    let axes = |value: &Value| -> Result<Vec<Option<Dim>>> {
        let all = 0..rank(value)?;
        Ok(all.map(|axis| if axis == 0 { outer(value) } else { dim(value, axis).ok() }).collect())
    };
    let (wanted, given) = (axes(order)?, axes(key)?);
    let fits = |(a, b): (&Option<Dim>, &Option<Dim>)| a.zip(*b).is_none_or(|(a, b)| a.is_compatible_with(b));
    if wanted.len() != given.len() || !wanted.iter().zip(&given).all(fits) {
        let text = |axes: &[Option<Dim>]| {
            let sizes = axes.iter().map(|size| size.map_or_else(|| "?".to_string(), |size| size.to_string()));
            format!("[{}]", sizes.collect::<Vec<_>>().join(", "))
        };
        return Err(Error::shape(format!("a key has the shape {}, and the first {}", text(&given), text(&wanted)))
            .wanted("keys of one shape"));
    }
    let rows = |value: &Value| {
        typed_ref::<RaggedTensor>(value)
            .map(|rows| Ok(rows.into_owned()))
            .unwrap_or_else(|| RaggedTensor::of_uniform(value))
    };
    if [order, key].into_iter().any(|value| typed_ref::<RaggedTensor>(value).is_some()) {
        let (key, cut) = (rows(key)?, rows(order)?.partition().clone());
        return Ok(RaggedTensor::from_partition(key.values_in(&cut)?, cut)?.into_value());
    }
    // Sizes that are not known yet are compared when the graph runs: those of the outer axis, and with it of the next, and so on.
    (0..rank(key)?).try_fold(key.clone(), |key, axis| {
        if wanted[axis] == given[axis] {
            return Ok(key);
        }
        let count = |value: &Value| ops::sum(ops::ones_like(zeros_of(value, axis + 1)?)?, Axes::All, false);
        checked(&key, &count(&key)?, &count(order)?, "the sizes of a key and of the first")
    })
}
