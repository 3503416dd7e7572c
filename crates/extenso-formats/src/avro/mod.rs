//! Avro: object container files in and out.
//!
//! | type of Avro | what it is by itself |
//! |---|---|
//! | `boolean`; `int`, `long`; `float`, `double` | bool; i32, i64; f32, f64 |
//! | `string`, `bytes` | string, bytes |
//! | `null` | f64, all missing |
//! | `fixed` | bytes of one length |
//! | `enum` | categories, whose words are the symbols |
//! | a record | a struct |
//! | an array | a list |
//! | a map | a list of structs of `key` and `value`: the entries as they stand in the file |
//! | a union of one type and `null` | the type, masked |
//! | a union of several | a union, whose children are called as the types; null is missing in the first child, or in the first that a spec has masked |
//! | `date`, `time-millis`, `time-micros` | dates and times of day |
//! | `timestamp-millis`, `-micros`, `-nanos`; `local-timestamp-...` | timestamps in UTC; without a zone |
//! | `decimal` | decimals of 16 bytes, or of 32 where they have more than 38 digits |
//! | `uuid` | identifiers of 16 bytes; text where the spec says string |
//! | `duration` | intervals of months, days and nanoseconds |
//!
//! By a spec a value is read as one of Arrow is: fields that it lacks are read over, optional fields that the file lacks are missing, numbers are widened
//! where that is exact. A record that holds itself can be read by paths or by a spec, which say how deep to follow it.
//!
//! A value is written as the same table says. Types that Avro has not are written as one that has all their values, under a logical type or an attribute
//! whose name begins with `arrow`, which other readers pass over: integers of other widths, f16, dense axes, other units of time, names that are none in
//! Avro. Reading gives the same value. Categories whose words are no names are written as these, and decimals of a scale below zero with their
//! zeros as digits: a spec of the value reads the same value.
//!
//! Invariant: what is not wanted is read over and makes no column. Lengths and counts are compared with the bytes that there are before anything is made
//! of them, and what is made of few bytes has a bound (`codec::Budget`). The crate arrow-avro is not used: it unpacks blocks without a bound, and reads
//! any number of items that have no bytes.

mod codec;
mod container;
mod encode;
mod join;
mod node;
mod numbers;
mod put;
mod read;
mod schema;
mod shape;
mod skip;
mod wire;
mod write;

#[cfg(test)]
mod tests;

pub use codec::AvroCodec;
pub use read::{AvroOptions, read_avro};
pub(crate) use read::{Batch, Reader};
pub(crate) use shape::Want;
pub use write::{AvroWriter, encode_avro, write_avro};
