//! Decoding: the chunks of usual columns, from pages to Arrow arrays, a few pages at a time and several side by side.
//!
//! | | usual |
//! |---|---|
//! | around a leaf | structs, lists, large lists, lists of a fixed size with one leaf below them |
//! | physical types | all but INT96 and FIXED_LEN_BYTE_ARRAY, where Arrow's type has the same bits |
//! | encodings | PLAIN, RLE, and dictionaries; data pages of both versions |
//!
//! Invariant: the arrays are those that the crate's own reader would give, with zeros under their nulls; what is not usual is told, and
//! nothing of it is given. What levels mean is after Melnik et al., "Dremel" (2010), and the Apache Parquet specification, "Nested
//! Encoding".
//!
//! | file | what |
//! |---|---|
//! | `way.rs` | which nulls and lists there are on the way to a leaf, and their levels |
//! | `hybrid.rs` | runs and packed bits |
//! | `page.rs` | the parts of a page |
//! | `slots.rs` | levels to nulls and lists |
//! | `values.rs`, `numbers.rs`, `bits.rs`, `texts.rs`, `words.rs` | values of a leaf |
//! | `column.rs` | the pages of a column, put together |
//! | `build.rs` | the arrays |
//! | `units.rs` | all columns side by side |

mod bits;
mod build;
mod column;
mod hybrid;
mod numbers;
mod page;
mod slots;
mod texts;
mod units;
mod values;
mod way;
mod words;

#[cfg(test)]
mod tests;

pub use texts::{Budget, array, too_much};
pub use units::{Asked, decode};

use extenso_types::Error;

/// Why a column is not decoded here.
#[derive(Debug)]
pub enum Stop {
    /// It may be well, and is not usual.
    Unusual,
    /// It is malformed.
    Bad(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Bad(error)
    }
}

fn bad(what: impl Into<String>) -> Stop {
    let what: String = what.into();
    Stop::Bad(Error::data(format!("the Parquet data is malformed: {what}")).wanted("a Parquet file, complete"))
}
