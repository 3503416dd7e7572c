//! Characters of strings in rows: as code points, with their places, and back.
//!
//! Compositions over ops: the characters of all strings, and the partition that makes a row of those of each string.

use crate::by_rows::by_rows;
use crate::text::{deeper, of_characters, string_characters};
use extenso_core::{RowPartition, Value, ops};
use extenso_types::{Error, Result};

/// The code points of each string's characters, in one more axis, as i32.
///
/// A vector gives a ragged tensor, a scalar a vector; missing strings stay missing. Errors: no strings.
///
/// ```
/// # use extenso_core::Tensor;
/// let x = Tensor::strings(&[2], &["aö", ""]).unwrap();
/// let points = extenso_ext::unicode_decode(&x.into()).unwrap();
/// assert_eq!(extenso_ext::to_literal(&points).unwrap().to_string(), "[[97, 246], []]");
/// ```
pub fn unicode_decode(x: &Value) -> Result<Value> {
    let pieces = |x: &Value| Ok((ops::code_point_values(x)?, of_characters(x)?));
    deeper(x, &pieces).map_err(|e| e.at_part("unicode_decode"))
}

/// The code points of each string's characters, as of [`unicode_decode`], and where each begins in the string, in bytes, as i64.
///
/// Errors: no strings.
///
/// ```
/// # use extenso_core::Tensor;
/// let x = Tensor::strings(&[2], &["öa", ""]).unwrap();
/// let (points, starts) = extenso_ext::unicode_decode_with_offsets(&x.into()).unwrap();
/// assert_eq!(extenso_ext::to_literal(&points).unwrap().to_string(), "[[246, 97], []]");
/// assert_eq!(extenso_ext::to_literal(&starts).unwrap().to_string(), "[[0, 2], []]");
/// ```
pub fn unicode_decode_with_offsets(x: &Value) -> Result<(Value, Value)> {
    let both = || Ok((unicode_decode(x)?, starts(x)?));
    both().map_err(|e: Error| e.at_part("unicode_decode_with_offsets"))
}

/// Where each character begins in its string.
fn starts(x: &Value) -> Result<Value> {
    deeper(x, &|x| Ok((ops::character_starts(x)?, of_characters(x)?)))
}

/// The characters of each string, in one more axis, and where each begins in the string, in bytes, as i64.
///
/// A vector gives ragged tensors, a scalar vectors; missing strings stay missing. Errors: no strings.
///
/// ```
/// # use extenso_core::Tensor;
/// let x = Tensor::strings(&[2], &["öa", ""]).unwrap();
/// let (characters, starts) = extenso_ext::unicode_split_with_offsets(&x.into()).unwrap();
/// assert_eq!(extenso_ext::to_literal(&characters).unwrap().to_string(), r#"[["ö", "a"], []]"#);
/// assert_eq!(extenso_ext::to_literal(&starts).unwrap().to_string(), "[[0, 2], []]");
/// ```
pub fn unicode_split_with_offsets(x: &Value) -> Result<(Value, Value)> {
    let both = || Ok((string_characters(x)?, starts(x)?));
    both().map_err(|e: Error| e.at_part("unicode_split_with_offsets"))
}

/// The string of each innermost row of code points: one axis less.
///
/// A number that is no character is an error (`errors="strict"`), becomes U+FFFD (`"replace"`), or is left out (`"ignore"`).
/// Errors: no integers; a scalar; such a number, with its position; rows in which numbers may be missing.
///
/// ```
/// let x = extenso_ext::constant(vec![vec![97, 246], vec![]]).unwrap();
/// assert_eq!(extenso_ext::unicode_encode(&x, "strict").unwrap().to_string(), r#"["aö", ""]"#);
/// ```
pub fn unicode_encode(x: &Value, errors: &str) -> Result<Value> {
    let text = |points: &Value, _: Option<&Value>, rows: &RowPartition| ops::segment_characters(points, rows, errors);
    by_rows(x, None, &text).map_err(|e| e.at_part("unicode_encode"))
}
