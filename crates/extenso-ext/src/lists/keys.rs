//! Elements of lists as keys: numbers that are equal where elements are, and in their order.
//!
//! Invariant: elements with axes of their own, which have one size, are in the order of their first parts that differ, and records in
//! that of their first fields that do.

use super::groups::ranks;
use crate::args::{int, typed_ref};
use crate::axes::{dim, rank, zeros};
use crate::masked::{MaskedTensor, stretched};
use crate::meaning::name_of;
use crate::meaning::order::keys_of;
use crate::ragged::RaggedTensor;
use crate::structs::StructTensor;
use extenso_core::{ExtensionType, Tensor, Value, ops};
use extenso_types::{Dim, Error, Result};

/// The lists with a key for each element in its place: the element itself, if it has no axes and no key.
///
/// Errors: elements that are rows, or of a size that is not known while tracing; elements without an order.
pub(super) fn keys(rows: &RaggedTensor) -> Result<RaggedTensor> {
    let values = rows.values();
    match rank(values)? {
        1 if is_record(values) => rows.with_values(of_records(values)?),
        1 => match keys_of(values)? {
            Some(keys) => rows.with_values(keys),
            None => Ok(rows.clone()),
        },
        n => rows.with_values(of_parts(values, n)?),
    }
}

/// Whether the elements are records, of which some may be missing.
pub(super) fn is_record(values: &Value) -> bool {
    match typed_ref::<MaskedTensor>(values) {
        Some(masked) => is_record(masked.values()),
        None => typed_ref::<StructTensor>(values).is_some(),
    }
}

fn of_records(values: &Value) -> Result<Value> {
    if let Some(masked) = typed_ref::<MaskedTensor>(values) {
        return Ok(MaskedTensor::new(of_records(masked.values())?, masked.mask().clone())?.into_value());
    }
    let records = typed_ref::<StructTensor>(values).ok_or_else(|| Error::internal("the elements are no records"))?;
    let mut keys = zeros(values)?;
    let most = ops::add(ops::sum(ops::ones_like(&keys)?, 0, false)?, 1)?;
    for (name, field) in records.fields() {
        let of_field = || match rank(field)? {
            1 if is_record(field) => ranks(&of_records(field)?),
            1 => ranks(field),
            n => ranks(&of_parts(field, n)?),
        };
        let part = of_field().map_err(|e| e.at(format!("field '{name}'")))?;
        keys = ranks(&ops::add(ops::multiply(keys, &most)?, part)?)?;
    }
    Ok(keys)
}

fn of_parts(values: &Value, rank: usize) -> Result<Value> {
    if !is_dense(values) {
        return Err(Error::shape("the elements along the axis are rows themselves")
            .wanted("numbers, booleans or text along the axis, or vectors of them of one size")
            .hint("Give the last axis, or `flatten` the axes inside."));
    }
    let sizes = (1..rank).map(|axis| dim(values, axis).map(Dim::known)).collect::<Result<Option<Vec<usize>>>>()?;
    let size = sizes.map(|sizes| sizes.iter().product::<usize>()).ok_or_else(|| {
        Error::shape("the elements along the axis have sizes that are not known while tracing").wanted("known sizes")
    })?;
    let parts = match typed_ref::<MaskedTensor>(values) {
        // What is missing as a whole has no parts.
        Some(masked) if masked.mask_rank()? == 1 => {
            return Ok(MaskedTensor::new(of_parts(masked.values(), rank)?, masked.mask().clone())?.into_value());
        }
        Some(masked) => {
            let parts = stretched(&masked)?;
            let flat = |of: &Value| ops::reshape(of, vec![-1_i64]);
            let mask = flat(&parts.mask().clone().into())?;
            MaskedTensor::new(flat(parts.values())?, mask.tensor()?.clone())?.into_value()
        }
        None => ops::reshape(values, vec![-1_i64])?,
    };
    let none = ops::cast(ops::zeros_like(crate::axes::positions(values)?)?, extenso_types::DType::I64)?;
    if size == 0 {
        return Ok(none);
    }
    // There are no more ranks than parts.
    let most = ops::add(ops::sum(ops::add(&none, int(size))?, 0, false)?, 1)?;
    let (mut keys, mut left) = (ops::reshape(ranks(&parts)?, vec![-1, int(size)])?, size);
    // Two parts beside each other are one, until one is left.
    while left > 1 {
        if left % 2 == 1 {
            let column = ops::zeros_like(ops::slice(&keys, 1, 0, Some(vec![1]), 1)?)?;
            (keys, left) = (ops::concat(vec![keys, column], 1)?, left + 1);
        }
        let pairs = ops::reshape(keys, vec![-1, 2])?;
        let [first, second] = [0_i64, 1].map(|at| ops::take(&pairs, Tensor::scalar(at), 1));
        left /= 2;
        let both = ranks(&ops::add(ops::multiply(first?, &most)?, second?)?)?;
        keys = ops::reshape(both, vec![-1, int(left)])?;
    }
    ops::reshape(keys, vec![-1_i64])
}

fn is_dense(values: &Value) -> bool {
    match typed_ref::<MaskedTensor>(values) {
        Some(masked) => is_dense(masked.values()),
        None => values.tensor().is_ok() || name_of(values).is_some(),
    }
}
