//! Parquet: nested columns in, with projection to the leaf, and values out.
//!
//! | what is asked for | what is read |
//! |---|---|
//! | `paths` | the leaf columns at or below them |
//! | a spec | the leaf columns of its fields; fields of the file that it does not have are not looked at |
//! | row groups | these alone |
//! | a condition | the row groups whose statistics do not rule it out |
//!
//! Invariant: a file is read in ranges, and no range that nobody asked for. Sizes that a file tells are proven before memory is
//! made for them (`proof.rs`), and a panic of the crate that decodes does not pass `guarded`.
//! Usual columns are decoded by `decode/`, all others by the crate; what columns mean beyond what that makes of them, `meant.rs` says. What Arrow's types are as values, `arrow` knows.

mod annotated;
mod batches;
mod cells;
mod decode;
mod halves;
mod join;
mod meant;
mod order;
mod project;
mod proof;
mod prune;
mod read;
mod repeats;
mod source;
mod thrift;
mod times;
mod unordered;
mod views;
mod wider;
mod write;
mod zero;

#[cfg(test)]
mod tests;

pub(crate) use batches::Reader;
pub use prune::{Comparison, Condition, Literal};
pub(crate) use read::{Opened, blocks_of};
pub use read::{ParquetBlocks, ParquetOptions, read_parquet, read_parquet_blocks};
pub use source::ParquetSource;
pub use write::{ParquetWriter, encode_parquet, write_parquet};

use crate::caught::caught;
use extenso_types::{Error, Result};
use std::any::Any;

/// Calls into the crate that decodes: its errors and its panics are errors about the file.
fn guarded<T, E: std::fmt::Display>(f: impl FnOnce() -> std::result::Result<T, E>) -> Result<T> {
    let malformed = |what: &dyn std::fmt::Display| {
        let told = what.to_string();
        if OVERFLOWS.iter().any(|overflow| told.contains(overflow)) {
            let error = Error::data("a column of categories has more words than its keys count");
            return error.wanted("keys that count all of them").hint("Write the file with wider keys");
        }
        Error::data(format!("the Parquet data is malformed: {what}")).wanted("a Parquet file, complete")
    };
    match caught(f) {
        Ok(done) => done.map_err(|e| malformed(&e)),
        Err(panic) => Err(malformed(&said(&*panic).unwrap_or("it cannot be decoded"))),
    }
}

/// What is said where a dictionary has more words than its keys count: by the crate, and by `views.rs`.
const OVERFLOWS: [&str; 2] = ["DictionaryKeyOverflowError", "words are more than keys"];

/// What a panic says.
fn said(panic: &(dyn Any + Send)) -> Option<&str> {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
}
