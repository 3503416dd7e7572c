//! The extension types that Extenso ships: ragged, masked and struct tensors, categories, unions, times and decimals, and host literals.
//!
//! Invariant: everything here is written on public items of the crates below, so that a user's type can do the same.
//! No type is known by name anywhere else; what an op does with one is said by the handlers that it registers.

mod args;
mod axes;
mod batchable;
mod by_rows;
mod casts;
mod categorical;
mod cells;
mod cross;
mod decimal;
mod dropout;
mod einsum;
mod expand;
mod features;
mod guard;
mod index;
pub mod lists;
mod literal;
mod logical;
mod masked;
mod mean;
mod meaning;
pub mod missing;
mod piecewise;
mod products;
pub mod ragged;
mod rounding;
pub mod scatter;
mod shapes;
mod shown;
mod specs;
mod spelled;
mod spelling;
mod structs;
mod temporal;
mod text;
mod text_parts;
mod text_unicode;
mod union;
mod written;

pub use axes::{outer, rank};
pub use batchable::{Batchable, BatchableSpec};
pub use categorical::{CategoricalTensor, CategoricalTensorSpec, to_categorical};
pub use cells::CELL_KEYS;
pub use cross::{CROSS_KEY, cross, cross_hashed};
pub use decimal::{
    DECIMAL_FLOATS, DECIMAL_INTEGERS, DECIMAL_IS_TEXT, DECIMAL_PARSE, DECIMAL_PRODUCT, DECIMAL_QUOTIENT,
    DECIMAL_ROW_RUNNING, DECIMAL_ROW_TOTALS, DECIMAL_RUNNING, DECIMAL_SCALED, DECIMAL_SUM, DECIMAL_TEXTS,
    DECIMAL_TOTAL, DecimalForm, DecimalShift, DecimalTensor, DecimalTensorSpec, decimal_to_string, to_decimal,
};
pub use dropout::dropout;
pub use einsum::{einsum, tensordot};
pub use expand::{collapse, collapse_spec, expand, expand_spec};
pub use features::{Combiner, embedding_lookup, multi_hot};
pub use index::{Index, index};
pub use literal::{Held, Host, Literal, Object, Seen, constant, constant_from, constant_of, to_host, to_literal};
pub use logical::{
    Bool8Tensor, Bool8TensorSpec, FixedBytesTensor, FixedBytesTensorSpec, JsonTensor, JsonTensorSpec, write_uuid,
};
pub use masked::{MaskedTensor, MaskedTensorSpec, fill_none};
pub use mean::mean;
pub use meaning::unread::Unread;
pub use missing::is_none;
pub use piecewise::{interp, select};
pub use products::{cosine_similarity, inner, vecdot};
pub use ragged::{RaggedTensor, RaggedTensorSpec};
pub use rounding::round_to;
pub use shapes::{gather_nd, shape, size};
pub use specs::{FlatSpec, dtype_of, masked_spec, ragged_spec, shape_of};
pub use spelled::spelled;
pub use spelling::{Cell, Spelling};
pub use structs::{FieldPath, StructSpec, StructTensor, broadcast, field_value, paths, promote, unzip, zip};
pub use temporal::{
    DateTensor, DateTensorSpec, DurationTensor, DurationTensorSpec, IntervalTensor, IntervalTensorSpec, TimeTensor,
    TimeTensorSpec, TimeUnit, TimestampTensor, TimestampTensorSpec, cast_unit, date_part, date_trunc,
};
pub use temporal::{
    InZone, TIME_BEGUN, TIME_IS_TEXT, TIME_LOCAL, TIME_OF_LOCAL, TIME_PARSE, TIME_TEXTS, TimeText, is_utc, strftime,
    to_date, to_duration, to_time, to_timestamp,
};
pub use text::{NgramPads, string_characters, string_ngrams, string_split};
pub use text_parts::{drop_empty, regex_find_all, regex_groups, regex_split, string_rsplit};
pub use text_unicode::{unicode_decode, unicode_decode_with_offsets, unicode_encode, unicode_split_with_offsets};
pub use union::{UnionChild, UnionSpec, UnionTensor};

use extenso_core::{OpDef, TypeSpec};

/// Defines every type of this crate and registers its handlers.
///
/// A type is defined at its first value too; this is for what reads types by name, such as a file.
pub fn init() {
    BatchableSpec::def();
    RaggedTensorSpec::def();
    MaskedTensorSpec::def();
    StructSpec::def();
    CategoricalTensorSpec::def();
    UnionSpec::def();
    DecimalTensorSpec::def();
    TimestampTensorSpec::def();
    DateTensorSpec::def();
    TimeTensorSpec::def();
    DurationTensorSpec::def();
    IntervalTensorSpec::def();
    FixedBytesTensorSpec::def();
    Bool8TensorSpec::def();
    JsonTensorSpec::def();
}

/// The ops of this crate, which files that use them want.
pub static OPS: &[&OpDef] = &[
    &DECIMAL_SUM,
    &DECIMAL_INTEGERS,
    &DECIMAL_TEXTS,
    &DECIMAL_TOTAL,
    &DECIMAL_ROW_TOTALS,
    &DECIMAL_RUNNING,
    &DECIMAL_ROW_RUNNING,
    &CELL_KEYS,
    &DECIMAL_SCALED,
    &DECIMAL_PRODUCT,
    &DECIMAL_QUOTIENT,
    &DECIMAL_PARSE,
    &DECIMAL_IS_TEXT,
    &DECIMAL_FLOATS,
    &TIME_PARSE,
    &TIME_IS_TEXT,
    &TIME_TEXTS,
    &TIME_LOCAL,
    &TIME_OF_LOCAL,
    &TIME_BEGUN,
];
