//! Records to values and back: one module per format.
//!
//! Invariant: a decoder fills component buffers directly, for the leaves that are needed and no others; there are no row
//! objects in between. For one spec, records that two formats can both express give the same bits.
//! The only crate that exposes Arrow types.

pub mod arrow;
mod assemble;
#[cfg(feature = "avro")]
pub mod avro;
mod categories;
pub mod caught;
pub mod columns;
pub mod csv;
mod failure;
pub mod json;
mod looks;
mod names;
mod needs;
pub mod ops;
#[cfg(feature = "parquet")]
pub mod parquet;
mod parts;
mod plain;
pub mod plan;
mod policy;
mod project;
#[cfg(feature = "proto")]
pub mod proto;
mod prove;
mod read;
mod recent;
mod records;
mod run;
mod seen;
pub mod source;
mod spelled;

use extenso_types::Result;

/// Makes the types of `extenso-ext` and the ops of both crates known, so that files that use them load. It may be called again.
///
/// Errors: another table has an op of the name of one of these.
pub fn init() -> Result<()> {
    extenso_ext::init();
    extenso_graph::join_table(extenso_ext::OPS)?;
    extenso_graph::join_table(ops::OPS)
}

#[cfg(feature = "avro")]
pub use avro::{AvroCodec, AvroOptions, AvroWriter, encode_avro, read_avro, write_avro};
pub use columns::{BadRow, BadRows, OnError};
#[cfg(feature = "parquet")]
pub use parquet::{
    ParquetBlocks, ParquetOptions, ParquetSource, ParquetWriter, encode_parquet, read_parquet, read_parquet_blocks,
    write_parquet,
};
#[cfg(feature = "proto")]
pub use proto::{
    ProtobufOptions, encode_examples, encode_proto, encode_proto_json, proto_spec, read_examples, read_proto,
    read_proto_json, run_messages, run_proto, write_examples, write_proto, write_proto_json,
};
pub use read::{Blocks, JsonOptions, infer_spec, read_json, read_json_blocks, read_json_file, write_json};
pub use recent::Recent;
pub use records::{FieldSpec, RecordSpec, struct_spec};
pub use run::{Rows, Runner, decode_ndjson, encode_ndjson, run_lines, run_ndjson, run_records};
pub use source::{Progress, Sink, SourceOptions, run_blocks};
