//! Records to values and back: one module per format.
//!
//! Invariant: a decoder fills component buffers directly, for the leaves that are needed and no others; there are no row
//! objects in between. For one spec, records that two formats can both express give the same bits.
//! The only crate that exposes Arrow types.

pub mod arrow;
pub mod columns;
pub mod json;
pub mod plan;
mod project;
mod read;
mod records;
mod run;
mod seen;

pub use columns::{BadRow, BadRows, OnError};
pub use read::{Blocks, JsonOptions, infer_spec, read_json, read_json_blocks, write_json};
pub use records::{FieldSpec, RecordSpec, struct_spec};
pub use run::{Progress, Rows, Runner, decode_ndjson, encode_ndjson, run_lines, run_ndjson, run_records};
