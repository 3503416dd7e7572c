//! Items that their array has and no value can have, each a fault of its row: texts that are no UTF-8, times that a finer unit does not count.
//!
//! Invariant: items are looked at one by one only where all together are refused. What is refused, and what nobody sees, becomes a default.

use super::absent::defaults;
use super::source::Source;
use crate::arrow::import;
use crate::arrow::moved::picked;
use crate::arrow::texts::dtype_of;
use arrow_array::Array;
use arrow_schema::DataType;
use extenso_core::{Tensor, Value, join_text, ops};
use extenso_ext::cast_unit;
use extenso_types::{DType, Error, Result};

/// The texts of an array; none of an array of something else.
///
/// Errors: one that is not UTF-8, with its row, where rows that do not fit fail the call.
pub fn texts(source: &Source<'_>) -> Option<Result<Tensor>> {
    let are_texts = match source.array.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => dtype_of(&source.field) == DType::String,
        _ => false,
    };
    if !are_texts || import::extension_name(&source.field).is_some() {
        return None;
    }
    let whole = import::texts(DType::String, source.array.as_ref()).and_then(|text| text.tensor().cloned());
    Some(whole.or_else(|refused| if refused.is_data() { each(source) } else { Err(refused.at_path(&source.at)) }))
}

fn each(source: &Source<'_>) -> Result<Tensor> {
    let bytes = import::texts(DType::Bytes, source.array.as_ref())?;
    let bytes = bytes.tensor()?.data()?;
    let mut texts = Vec::with_capacity(bytes.len());
    for i in 0..bytes.len() {
        let given = bytes.text_at(i)?;
        let is_text = std::str::from_utf8(given).is_ok();
        if !is_text && source.sees(i) {
            let shown = || String::from_utf8_lossy(given).chars().take(40).collect::<String>();
            source.refuse(i, || {
                Error::data(format!("the string {:?} is not UTF-8", shown()))
                    .wanted("UTF-8 text")
                    .hint("Use dtype bytes.")
            })?;
        }
        texts.push(if is_text { given } else { &[] });
    }
    let (offsets, bytes) = join_text(texts.into_iter());
    Tensor::from_text(DType::String, &[source.array.len()], offsets, bytes)
}

/// Times in a finer unit.
///
/// Errors: one that the unit does not count, with its row, where rows that do not fit fail the call.
pub fn in_unit(source: &Source<'_>, times: &Value, unit: &str) -> Result<Value> {
    let refused = match cast_unit(times, unit) {
        Err(refused) if refused.is_value() => refused,
        done => return done.map_err(|e| e.at_path(&source.at)),
    };
    let (count, mut faults) = (source.array.len(), 0_usize);
    let mut places = Vec::with_capacity(count);
    for i in 0..count {
        let (place, last) = (i64::try_from(i).unwrap_or(i64::MAX), i64::try_from(count).unwrap_or(i64::MAX));
        let alone = ops::take(times, Tensor::from_vec(vec![place]), 0_i64).and_then(|one| cast_unit(&one, unit));
        faults += usize::from(alone.is_err());
        places.push(if alone.is_ok() { place } else { last });
        if let (Err(error), true) = (alone, source.sees(i)) {
            source.refuse(i, || error)?;
        }
    }
    if faults == 0 {
        return Err(refused.at_path(&source.at));
    }
    let nothing = defaults(&times.spec()?, 1)?;
    cast_unit(&picked(vec![times.clone(), nothing], places)?, unit)
}
