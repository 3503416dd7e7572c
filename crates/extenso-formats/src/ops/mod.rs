//! Ops on texts that are records: `parse_json`, `parse_proto`, `encode_json`, `encode_proto`, both also for the JSON form of messages;
//! `parse_examples` and `encode_examples`; `decode_arrow` on files of them.
//!
//! An op has one flat list of leaves: those of what is read or written. The functions here put values of any shape together with it:
//! one record for each text, under the axes of the texts.
//!
//! Invariant: a graph reads the leaves that it uses and no others; what is eager and what is loaded have the same bits.

#[cfg(feature = "ipc")]
mod arrow;
mod encode;
#[cfg(feature = "proto")]
mod examples;
mod layout;
mod parse;
#[cfg(feature = "proto")]
mod proto;
mod shapes;
mod texts;

#[cfg(feature = "ipc")]
pub use arrow::{DECODE_ARROW, decode_arrow};
pub use encode::{ENCODE_JSON, encode_json};
#[cfg(feature = "proto")]
pub use examples::{ENCODE_EXAMPLES, PARSE_EXAMPLES, encode_examples, parse_examples};
pub(crate) use layout::any_rows;
pub use parse::{PARSE_JSON, Parsed, parse_json};
#[cfg(feature = "proto")]
pub use proto::{
    ENCODE_PROTO, ENCODE_PROTO_JSON, PARSE_PROTO, PARSE_PROTO_JSON, encode_proto, encode_proto_json, parse_proto,
    parse_proto_json,
};

use extenso_core::OpDef;

/// The ops of this crate.
pub static OPS: &[&OpDef] = &[
    &PARSE_JSON,
    &ENCODE_JSON,
    #[cfg(feature = "proto")]
    &PARSE_PROTO,
    #[cfg(feature = "proto")]
    &ENCODE_PROTO,
    #[cfg(feature = "proto")]
    &PARSE_PROTO_JSON,
    #[cfg(feature = "proto")]
    &ENCODE_PROTO_JSON,
    #[cfg(feature = "proto")]
    &PARSE_EXAMPLES,
    #[cfg(feature = "proto")]
    &ENCODE_EXAMPLES,
    #[cfg(feature = "ipc")]
    &DECODE_ARROW,
];
