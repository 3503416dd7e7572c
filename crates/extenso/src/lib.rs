//! Extenso: typed, nested, ragged tensors; one function from records to features to predictions.
//!
//! The only crate that a Rust user names. The words of the guide stand at the root, records and Arrow in [`formats`], the
//! everyday ones in [`prelude`]. Every item is one of the crates below; only [`save`] adds to them: what it loads finds the ops and types
//! of all.
//!
//! ```
//! use extenso::prelude::*;
//!
//! // Rows of different lengths, and an op on them.
//! let x = constant(vec![vec![1.5, 2.5], vec![], vec![4.0]])?;
//! let totals = ops::sum(&x, -1, false)?;
//! assert_eq!(totals.to_string(), "[4.0, 0.0, 4.0]");
//!
//! // A type of one's own, written by the derive.
//! #[derive(Clone, ExtensionType)]
//! #[extenso(name = "doc/Length")]
//! struct Length {
//!     value: Tensor,
//!     #[extenso(static)]
//!     unit: String,
//! }
//! let length = Length { value: Tensor::scalar(2.5), unit: "m".into() };
//! assert_eq!(format!("{:?}", length.into_value()), "Length(value: f64[], unit=\"m\")");
//! # Ok::<(), extenso::Error>(())
//! ```
//!
//! | what | where |
//! |---|---|
//! | tensors, row partitions, values | [`Tensor`], [`RowPartition`], [`Value`] |
//! | ragged, masked and struct tensors, host literals | [`RaggedTensor`], [`MaskedTensor`], [`StructTensor`], [`constant`] |
//! | ops, and the tables that declare them | [`ops`](mod@ops), [`OpDef`] |
//! | types of one's own | [`ExtensionType`](trait@ExtensionType) and its derive, [`TypeSpec`], [`on`] |
//! | what is known without data | [`Spec`], [`Shape`], [`Nest`], [`Path`] |
//! | traced functions, control flow, gradients | [`Function`], [`Concrete`], [`cond`], [`value_and_grad`] |
//! | the saved file | [`save`] |
//! | records: JSON, CSV, protocol buffers, Parquet, Avro, Arrow | [`formats`] |
//! | the crates of Arrow whose types are in signatures | [`formats::arrow::array`], [`buffer`](formats::arrow::buffer), [`schema`](formats::arrow::schema) |

pub use extenso_core::*;
pub use extenso_derive::FacadeExtensionType as ExtensionType;
pub use extenso_ext::*;
#[doc(inline)]
pub use extenso_formats as formats;
pub use extenso_graph::*;
pub use extenso_types::*;

/// The saved file: what `extenso_graph` reads and writes, with every op and type of the crates below made known to what loads.
pub mod save {
    pub use extenso_graph::save::*;

    use extenso_types::Result;
    use std::path::Path;

    /// Reads a file or a directory.
    ///
    /// Errors: bytes that are not what some `save` wrote; a newer version; an op that this build does not have, by name.
    pub fn load(path: impl AsRef<Path>) -> Result<Module> {
        extenso_formats::init()?;
        extenso_graph::save::load(path)
    }

    /// Reads the bytes of a file.
    ///
    /// Errors: as [`load`].
    pub fn from_bytes(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<Module> {
        extenso_formats::init()?;
        extenso_graph::save::from_bytes(bytes)
    }
}

/// What most programs use: `use extenso::prelude::*`.
///
/// `extenso::Result` is left out, because it would hide that of the standard library.
pub mod prelude {
    pub use crate::attrs::Axes;
    pub use crate::formats::{FieldSpec, OnError, decode_ndjson, encode_ndjson, run_ndjson, run_records, struct_spec};
    pub use crate::{
        Arg, Concrete, DType, Dim, ExtensionType, Function, MaskedTensor, Nest, Path, RaggedTensor, RowPartition,
        Shape, Spec, StructTensor, Tensor, TensorSpec, TypeSpec, Value, Variable, cond, constant, ops, save,
        to_literal, value_and_grad,
    };
}

/// What the output of the derive names; not for users.
#[doc(hidden)]
pub mod __private {
    pub use extenso_core as core;
    pub use extenso_types as types;
}

/// The pages of the repository whose Rust blocks are tests of this crate.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    mod readme {}
    #[doc = include_str!("../../../CONTRIBUTING.md")]
    mod contributing {}
    #[doc = include_str!("../../../book/README.md")]
    mod guide {}
    #[doc = include_str!("../../../book/tensors.md")]
    mod tensors {}
    #[doc = include_str!("../../../book/ragged.md")]
    mod ragged {}
    #[doc = include_str!("../../../book/lists.md")]
    mod lists {}
    #[doc = include_str!("../../../book/records.md")]
    mod records {}
    #[doc = include_str!("../../../book/types.md")]
    mod types {}
    #[doc = include_str!("../../../book/handwritten.md")]
    mod handwritten {}
    #[doc = include_str!("../../../book/functions.md")]
    mod functions {}
    #[doc = include_str!("../../../book/strings.md")]
    mod strings {}
    #[doc = include_str!("../../../book/json.md")]
    mod json {}
    #[cfg(feature = "ipc")]
    #[doc = include_str!("../../../book/arrow.md")]
    mod arrow {}
    #[cfg(feature = "proto")]
    #[doc = include_str!("../../../book/protobuf.md")]
    mod protobuf {}
    #[cfg(feature = "parquet")]
    #[doc = include_str!("../../../book/parquet.md")]
    mod parquet {}
    #[doc = include_str!("../../../book/interop.md")]
    mod interop {}
    #[doc = include_str!("../../../book/saving.md")]
    mod saving {}
    #[doc = include_str!("../../../book/command-line.md")]
    mod command_line {}
    #[doc = include_str!("../../../book/coming-from.md")]
    mod coming_from {}
    #[doc = include_str!("../../../book/array_api.md")]
    mod array_api {}
}
