//! JSON: records from NDJSON, one document or an array, and records to NDJSON.
//!
//! | plan | JSON |
//! |---|---|
//! | bool | `true`, `false` |
//! | integers | a number without fraction and exponent, inside the dtype's range; `1.0` is refused |
//! | floats | a number, rounded once from its decimal text to the nearest value of the dtype; one that would round to an infinity is refused; `"NaN"`, `"Infinity"`, `"-Infinity"` as strings (proto3's JSON form) |
//! | string | a string, or with [`Decimals::Texts`] a number as its text; lone surrogates and invalid UTF-8 are refused |
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
mod room;
mod scalar;
mod scan;
mod skip;
mod split;

#[cfg(test)]
mod tests;

/// What numbers with a point or an exponent, and integers beyond 64 bits, are read as.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Decimals {
    /// Floats, the nearest to each.
    #[default]
    Numbers,
    /// Their text, as it stands. Where a string is wanted, any number may stand, and where one of them stands, a string is inferred.
    Texts,
}

impl std::str::FromStr for Decimals {
    type Err = Error;

    fn from_str(name: &str) -> Result<Decimals> {
        match name {
            "number" => Ok(Decimals::Numbers),
            "string" => Ok(Decimals::Texts),
            other => Err(Error::value(format!("found '{other}'")).wanted("'number' or 'string'").at("decimals")),
        }
    }
}

pub use crate::parts::Start;
pub(crate) use cut::{Cuts, begin};
pub use decode::Decoder;
pub(crate) use encode::{Lines, check_spelled, encode_parts, encode_texts, write_scalar};
pub use encode::{encode_lines, write_string};
#[cfg(feature = "proto")]
pub(crate) use fields::Fields;
pub(crate) use infer::Inference;
pub(crate) use locate::locate;
#[cfg(feature = "proto")]
pub(crate) use number::{named as named_float, write as write_float};
#[cfg(feature = "proto")]
pub(crate) use quick::number as number_end;
pub(crate) use room::{line, reserve};
#[cfg(feature = "proto")]
pub(crate) use skip::skip;
pub(crate) use split::{Items, MARK, is_blank, mark_len};

use extenso_types::{Error, Result};
