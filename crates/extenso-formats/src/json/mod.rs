//! JSON: records from NDJSON, one document or an array, and records to NDJSON.
//!
//! | plan | JSON |
//! |---|---|
//! | bool | `true`, `false` |
//! | integers | a number without fraction and exponent, inside the dtype's range; `1.0` is refused |
//! | floats | a number, rounded once from its decimal text to the nearest value of the dtype; one that would round to an infinity is refused; `"NaN"`, `"Infinity"`, `"-Infinity"` as strings (proto3's JSON form) |
//! | string | a string; lone surrogates and invalid UTF-8 are refused |
//! | bytes | a base64 string (RFC 4648); standard alphabet and padding are written, the URL-safe one and no padding are read too |
//! | optional | the value, `null`, or (reading) no such key |
//! | list, fixed | an array |
//! | record | an object; unknown keys are read over, a known key that comes twice is refused |
//!
//! Invariant: reading what was written gives the same columns, bit for bit; every NaN reads as the canonical one.
//! What nobody needs is only checked for syntax: wrong types and duplicate keys inside it are not seen.
//! Does not know specs or values, and makes no objects for rows.

pub(crate) mod base64;
mod cut;
mod decode;
mod encode;
mod failure;
mod fields;
mod infer;
mod locate;
mod node;
mod number;
mod quick;
mod read;
mod scalar;
mod scan;
mod skip;
mod split;

#[cfg(test)]
mod tests;

pub use crate::parts::Start;
pub(crate) use cut::{Cuts, begin};
pub use decode::Decoder;
pub(crate) use encode::{Lines, encode_parts, encode_texts, write_scalar};
pub use encode::{encode_lines, write_string};
#[cfg(feature = "proto")]
pub(crate) use fields::Fields;
pub(crate) use infer::Inference;
pub(crate) use locate::locate;
#[cfg(feature = "proto")]
pub(crate) use number::{named as named_float, write as write_float};
#[cfg(feature = "proto")]
pub(crate) use quick::number as number_end;
#[cfg(feature = "proto")]
pub(crate) use skip::skip;
pub(crate) use split::{Items, is_blank, mark_len};
