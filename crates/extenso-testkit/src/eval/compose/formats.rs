//! Functions of texts that are records. A spec is given by an example of the records.

use super::rows::composed;
use super::{Composed, given};
use extenso_core::Tensor;
use extenso_core::attrs::{Attrs, NoAttrs};
use extenso_formats::arrow::write_ipc;
use extenso_formats::proto::{Example, ExampleOptions, MessageType, Schema};
use extenso_formats::{OnError, ProtobufOptions, ops};
use extenso_types::Result;

extenso_core::attrs! {
    /// Of `parse_proto` and `encode_proto`: the text of a `.proto` file, and the name of a message in it.
    pub struct OfMessage { descriptor: String, message: String }

    /// Of `parse_examples` and `encode_examples`: whether they are sequence examples.
    pub struct OfExamples { sequence: bool = false }
}

pub(super) static FUNCTIONS: &[Composed] = composed! {
    "parse_json" ("strings", "spec"; NoAttrs) = |args, _| {
        Ok(ops::parse_json(&given(args, 0)?, &given(args, 1)?.spec()?, OnError::Raise)?.value)
    };
    "encode_json" ("x"; NoAttrs) = |args, _| ops::encode_json(&given(args, 0)?);
    "parse_proto" ("messages"; OfMessage) = |args, attrs| {
        Ok(ops::parse_proto(&given(args, 0)?, &message(OfMessage::of(attrs)?)?, &ProtobufOptions::default())?.value)
    };
    "decode_arrow" ("files", "spec"; NoAttrs) = |args, _| {
        Ok(ops::decode_arrow(&given(args, 0)?, &given(args, 1)?.spec()?, OnError::Raise)?.value)
    };
    "write_arrow" ("x"; NoAttrs) = |args, _| {
        Ok(Tensor::byte_strings(&[], &[write_ipc(&given(args, 0)?, false)?])?.into())
    };
    "encode_proto" ("x"; OfMessage) = |args, attrs| {
        ops::encode_proto(&given(args, 0)?, &message(OfMessage::of(attrs)?)?)
    };
    "parse_examples" ("messages", "spec"; OfExamples) = |args, attrs| {
        let (spec, example) = (given(args, 1)?.spec()?, example(OfExamples::of(attrs)?));
        let options = ExampleOptions { spec, paths: None, example, on_error: OnError::Raise };
        Ok(ops::parse_examples(&given(args, 0)?, &options)?.value)
    };
    "encode_examples" ("x"; OfExamples) = |args, attrs| {
        ops::encode_examples(&given(args, 0)?, example(OfExamples::of(attrs)?))
    };
};

fn example(of: &OfExamples) -> Example {
    if of.sequence { Example::Sequence } else { Example::Plain }
}

fn message(of: &OfMessage) -> Result<MessageType> {
    Schema::from_text(&of.descriptor)?.message(&of.message)
}
