//! What the messages of a source are.

use super::decode::Decoder;
use super::example::Example;
use super::rows::{encode_examples, encode_proto};
use super::schema::MessageType;
use crate::plan::Plan;
use extenso_core::{Tensor, Value};
use extenso_types::{Nest, Result};

/// What the messages of a source are: of a type that a descriptor has, or TensorFlow's examples, which need none.
#[derive(Clone, Debug)]
pub enum Content {
    /// Messages of this type.
    Message(MessageType),
    /// Examples.
    Examples(Example),
}

impl Content {
    /// The examples that a message of this name holds, if it is one of theirs.
    ///
    /// ```
    /// # use extenso_formats::proto::Content;
    /// assert!(matches!(Content::of_examples("tf.train.SequenceExample"), Some(Content::Examples(_))));
    /// assert!(Content::of_examples("shop.Item").is_none());
    /// ```
    pub fn of_examples(name: &str) -> Option<Content> {
        match name {
            "tf.train.Example" => Some(Content::Examples(Example::Plain)),
            "tf.train.SequenceExample" => Some(Content::Examples(Example::Sequence)),
            _ => None,
        }
    }

    /// A decoder of these messages for a plan.
    ///
    /// Errors: those of [`Decoder::new`] and [`Decoder::examples`].
    pub fn decoder(&self, plan: &Plan) -> Result<Decoder> {
        match self {
            Content::Message(message) => Decoder::new(message, plan),
            Content::Examples(example) => Decoder::examples(*example, plan),
        }
    }

    /// A batch as these messages: a byte string for each row.
    ///
    /// Errors: those of [`encode_proto`] and [`encode_examples`].
    pub fn encode(&self, value: &Nest<Value>) -> Result<Tensor> {
        match self {
            Content::Message(message) => encode_proto(value, message),
            Content::Examples(example) => encode_examples(value, *example),
        }
    }
}
