//! The JSON form of messages: records from it, and back.
//!
//! | field | read | written |
//! |---|---|---|
//! | a name | that of JSON (`fooBar`) or of the file (`foo_bar`); `[shop.discount]` for an extension | that of JSON |
//! | integers | a number, or a string that is one; `1.0` and `1e2` are whole | numbers; those of 64 bits as strings |
//! | `float`, `double` | a number, or a string that is one, `"NaN"`, `"Infinity"`, `"-Infinity"` | the shortest number that reads back |
//! | `bool`, `string` | `true`, `false`; a string | the same |
//! | `bytes` | base64, of either alphabet, padded or not | base64, padded |
//! | an enum | a name or a number | a name; a number that has none |
//! | `map` | an object; a key once | an object |
//! | null | no value; for `Value` and `NullValue` the null | nothing is written for no value |
//! | `Timestamp`, `Duration` | RFC 3339 text with a zone; seconds with an `s` | in `Z`; 0, 3, 6 or 9 digits |
//! | `FieldMask` | `"a,b.fooBar"` | the same |
//! | the wrappers, `Struct`, `ListValue`, `Value` | the value | the value |
//! | `Any` | its message, by a path such as `detail["[shop.Item]"]`, or as bytes, if the descriptor knows it | its message, either way |
//!
//! Source: <https://protobuf.dev/programming-guides/json>. Keys that the message does not have are read over. Two members of a oneof, a field
//! that comes twice, and null in a list or a map are refused.
//!
//! Invariant: the value is of the spec that the wire form gives, and records in both forms give the same columns, bit for bit.

mod any;
mod known;
mod read;
mod rows;
mod write;

pub use any::Held;
pub use known::{Known, duration, parse_duration, parse_timestamp, timestamp};
pub use read::Scratch;
pub(crate) use rows::encode_json_texts;
pub use rows::{encode_proto_json, read_proto_json, write_proto_json};
