//! Arrow arrays and values share memory: no buffer is copied either way, and no boolean is unpacked.
//!
//! An array with nulls is a masked tensor; without, a plain one. A list is a ragged tensor whose partition is the array's
//! offsets as they stand, sliced or not.
//!
//! The crates of Arrow whose types are in signatures are [`array`], [`buffer`] and [`schema`], in the versions that these want.
//!
//! ```
//! use extenso_formats::arrow::{array, from_arrow, schema, to_arrow};
//! use std::sync::Arc;
//!
//! let column: array::ArrayRef = Arc::new(array::Int64Array::from(vec![Some(7), None]));
//! let value = from_arrow(&column)?;
//! assert_eq!(extenso_ext::to_literal(&value)?.to_string(), "[7, None]");
//! assert_eq!(to_arrow(&value)?.data_type(), &schema::DataType::Int64);
//! # Ok::<(), extenso_types::Error>(())
//! ```

mod asked;
#[cfg(any(feature = "parquet", feature = "avro"))]
mod batch;
mod chunks;
#[cfg(any(feature = "ipc", feature = "parquet"))]
mod decimals;
mod decode;
mod export;
mod import;
#[cfg(feature = "ipc")]
pub(crate) mod ipc;
mod levels;
mod moved;
mod parts;
mod registered;
mod texts;
#[cfg(feature = "parquet")]
mod vocabularies;
mod whole;

pub use arrow_array as array;
pub use arrow_buffer as buffer;
pub use arrow_schema as schema;
pub use asked::asked;
#[cfg(feature = "parquet")]
pub(crate) use batch::in_schema;
#[cfg(any(feature = "parquet", feature = "avro"))]
pub(crate) use batch::record_batch;
#[cfg(feature = "ipc")]
pub(crate) use chunks::checked_data;
pub use chunks::{ArrowOptions, from_chunks};
#[cfg(feature = "parquet")]
pub(crate) use decimals::checked_decimals;
#[cfg(feature = "avro")]
pub(crate) use decode::no_column;
#[cfg(feature = "parquet")]
pub(crate) use decode::{columns_there, named};
pub(crate) use decode::{defaults, rows_as};
pub use decode::{from_arrow_as, from_arrow_field_as};
pub use export::{to_arrow, to_arrow_field};
#[cfg(feature = "parquet")]
pub(crate) use import::field_of;
#[cfg(feature = "avro")]
pub(crate) use import::nulls_of;
pub(crate) use import::picked_of;
#[cfg(feature = "avro")]
pub(crate) use import::uniform_items;
#[cfg(feature = "ipc")]
pub(crate) use import::without_runs;
pub use import::{from_arrow, from_arrow_field};
#[cfg(feature = "parquet")]
pub(crate) use import::{repeated, rows_of_field};
#[cfg(all(test, feature = "parquet"))]
pub(crate) use ipc::make_unknown;
#[cfg(feature = "ipc")]
pub use ipc::{IpcCompression, read_ipc, write_ipc, write_ipc_compressed};
#[cfg(feature = "ipc")]
pub(crate) use ipc::{IpcReader, is_ipc_file, is_schema};
#[cfg(feature = "parquet")]
pub(crate) use ipc::{known, schema_in_message};
#[cfg(feature = "parquet")]
pub(crate) use levels::checked_columns;
#[cfg(feature = "ipc")]
pub(crate) use levels::checked_levels;
#[cfg(feature = "parquet")]
pub(crate) use levels::inside;
pub use levels::{MAX_LEVELS, too_deep};
#[cfg(feature = "ipc")]
pub(crate) use moved::first_rows;
pub(crate) use moved::picked;
#[cfg(feature = "parquet")]
pub(crate) use parts::check_whole;
#[cfg(feature = "parquet")]
pub(crate) use texts::as_bytes;
pub use texts::with_bytes;
#[cfg(feature = "parquet")]
pub(crate) use vocabularies::Vocabularies;
#[cfg(feature = "ipc")]
pub(crate) use whole::whole_of;
pub(crate) use whole::with_default;
