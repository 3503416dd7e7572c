//! Protocol buffers: records from serialized messages, and back.
//!
//! | field | spec that its message gives | specs that it can be read as |
//! |---|---|---|
//! | `int32`, `sint32`, `sfixed32` | i32 | any integer that the value fits, f64 |
//! | `int64`, `sint64`, `sfixed64` | i64 | any integer that the value fits |
//! | `uint32`, `fixed32`; `uint64`, `fixed64` | u32; u64 | any integer that the value fits; f64 for the 32 bits |
//! | `float`, `double` | f32, f64 | f32 as f64 too |
//! | `bool` | bool | bool |
//! | `string` | string; bytes that are not UTF-8 are refused | string |
//! | `bytes` | bytes | bytes |
//! | an enum | i32, or string with [`Enums::Names`] | any integer that the value fits, string |
//! | a message, a group | a struct | a struct |
//! | `required`; a field of proto3 without presence | the value | the value, a list of one, a masked value |
//! | `optional`; a member of a oneof; a message | a list of no or one value, or masked with [`Optionals::Masked`] | these, and the value, which then must come |
//! | a oneof, with [`Oneofs::Union`] | a union of its members under its own name: a list of no or one, or masked | these, and the union, of which a member must come then |
//! | `repeated` | a list | a list, or a dense axis of exactly so many |
//! | `map` | a list of structs of `key` and `value`: the entries as they stand in the message | the same, or a struct whose fields are the values at these keys |
//! | an extension that the schema knows | as a field, under its full name in brackets: `[shop.discount]` | the same |
//! | `string` | | also times, decimals, uuids and JSON, which their text says; categories |
//! | `bytes` | | also uuids and other bytes of one width |
//! | kinds of integers | | also times, dates and durations, as counts of the unit that the spec says |
//! | `google.protobuf.Timestamp`, `Duration` | a struct of `seconds` and `nanos` | also timestamps with a zone, and durations, in any unit in which they are exact |
//! | `google.protobuf.Any` | a struct of `type_url` and `value` | also `[shop.Item]`: the message, if it is of that type |
//!
//! A path leads to the value at a key, `stock["apples"]`, to an extension, `["[shop.discount]"]`, and into an `Any`,
//! `detail["[shop.Item]"].sku`; each is there or not, as an optional field is.
//!
//! Packed and unpacked numbers are read alike. Of a singular field that comes twice the last holds; a message that
//! comes twice is merged; the member of a oneof that came last is the one that is there. A member that a union does
//! not have counts as not there. A number that a closed enum (one of proto2) does not have counts as not there, as
//! does an entry of a map with it; a oneof stays as it was, and writers refuse it. A text of a time, a decimal or an
//! identifier that does not come is missing, as if the field had presence. Fields that the spec does not have are
//! read over, whatever they are, and a field that the spec has must come as what the descriptor says.
//!
//! A value is written as the same table says: a masked value or a list of no or one for a field that may be missing, names or numbers for an enum,
//! numbers of any width that fit, an `Any` by the message that it holds. Reading what was written gives the same value.
//!
//! TensorFlow's `Example` and `SequenceExample` are maps of features; they are read by name and by a spec, without a descriptor:
//!
//! | spec of a feature | feature |
//! |---|---|
//! | a scalar, dense axes | exactly so many values |
//! | a list, of scalars or dense axes | any number of values; none if it is missing |
//! | either, masked | the same, or missing |
//! | integers; f32, f64; bytes, string | `int64_list`; `float_list`; `bytes_list` |
//! | booleans, as 0 and 1; times, dates and durations, as counts of the unit that the spec says | `int64_list` |
//! | decimals and JSON, as text; uuids and bytes of one width, as they are; categories of one of these | `bytes_list` |
//!
//! Those of a sequence example stand in two structs: `context`, and `feature_lists`, in which each is the item of a list over the steps.
//! Values are written as the same table says; an f64 has to be an f32 exactly.
//!
//! Invariant: a record is looked at once, and only what is needed of it goes into columns; there are no messages in between.
//! Recursion follows the plan, never the input.

mod compile;
mod content;
mod decode;
mod encode;
mod entries;
mod enums;
mod example;
mod fields;
mod frames;
mod imports;
pub(crate) mod json;
mod meant;
mod member;
mod node;
mod number;
mod prepare;
mod push;
mod put;
mod put_example;
mod quick;
mod read;
mod rows;
mod schema;
mod spec;
mod wire;

#[cfg(test)]
mod example_tests;
#[cfg(test)]
mod quick_tests;
#[cfg(test)]
mod tests;

pub(crate) use compile::compile;
pub use content::Content;
pub use decode::Decoder;
pub(crate) use encode::encode_texts;
pub use example::Example;
pub(crate) use frames::Extent;
pub use frames::{Framing, Messages};
pub(crate) use json::encode_json_texts;
pub use json::{encode_proto_json, read_proto_json, write_proto_json};
pub(crate) use node::Record;
pub(crate) use put_example::encode_example_texts;
pub use rows::{
    ExampleOptions, ProtobufOptions, encode_examples, encode_proto, proto_spec, read_examples, read_proto,
    run_messages, run_proto, write_examples, write_proto,
};
pub use schema::{MessageType, Schema};
pub use spec::{Enums, Oneofs, Optionals};
