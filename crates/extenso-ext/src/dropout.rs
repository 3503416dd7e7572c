//! Dropout of values with rows: that of the values inside.

use crate::args::typed;
use crate::masked::MaskedTensor;
use crate::ragged::RaggedTensor;
use extenso_core::{Arg, ExtensionType, Value, ops};
use extenso_types::Result;

/// `x` with each element zero with probability `rate`, and divided by `1 - rate` where it is not (Srivastava et al., 2014).
///
/// Tensors, ragged and masked ones; which elements are zero depends on the key and on their places among all values that are there in
/// rows. What is missing stays missing. Errors: no floats; a rate below 0 or not below 1; a key that is neither two u32 nor an integer of 64 bits.
///
/// ```
/// let rows = extenso_ext::constant(vec![vec![1.0, 2.0], vec![3.0]]).unwrap();
/// let kept = extenso_ext::dropout(&rows, 0.0, 42).unwrap();
/// assert_eq!(extenso_ext::to_literal(&kept).unwrap().to_string(), "[[1.0, 2.0], [3.0]]");
/// ```
pub fn dropout(x: &Value, rate: f64, key: impl Into<Arg>) -> Result<Value> {
    let key = key.into();
    if let Some(rows) = typed::<RaggedTensor>(x) {
        let rows = rows.compact()?;
        return Ok(rows.with_values(dropout(rows.values(), rate, key)?)?.into_value());
    }
    if let Some(masked) = typed::<MaskedTensor>(x) {
        return Ok(MaskedTensor::new(dropout(&masked.values_there()?, rate, key)?, masked.mask().clone())?.into_value());
    }
    ops::dropout(x, rate, key)
}
