//! Arrow arrays and values share memory: no buffer is copied either way, and no boolean is unpacked.
//!
//! An array with nulls is a masked tensor; without, a plain one. A list is a ragged tensor whose partition is the array's
//! offsets as they stand, sliced or not.

mod export;
mod import;

pub use export::to_arrow;
pub use import::from_arrow;
