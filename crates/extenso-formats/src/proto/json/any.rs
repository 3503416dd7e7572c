//! The JSON form of an `Any` whose message is found by its name when the data is there.
//!
//! Invariant: a message inside another goes down at most [`MOST`] levels of these.

use super::{encode_proto_json, read_proto_json};
use crate::failure::{Failure, Read};
use crate::json::write_string;
use crate::proto::json::Known;
use crate::proto::rows::{encode_proto, read_proto};
use crate::proto::{MessageType, Messages, ProtobufOptions};
use extenso_types::{Error, Nest, Result};
use prost_reflect::{DescriptorPool, MessageDescriptor};
use std::cell::Cell;
use std::sync::Arc;

/// How many messages may hold each other as bytes.
const MOST: usize = 32;

/// The messages that an `Any` may hold: all that its descriptor knows.
#[derive(Clone, Debug)]
pub struct Held(DescriptorPool);

impl Held {
    /// Those of an `Any`; none of another message.
    pub fn of(message: &MessageDescriptor) -> Option<Held> {
        (Known::of(message) == Some(Known::Any)).then(|| Held(message.parent_pool().clone()))
    }

    fn message(&self, url: &str) -> Result<(MessageType, bool)> {
        let name = url.rsplit('/').next().unwrap_or_default();
        let found = self.0.get_message_by_name(name).ok_or_else(|| {
            Error::missing(format!("an Any holds a message '{name}'")).wanted("one that the descriptor knows")
        })?;
        let has_a_form = Known::of(&found).is_some();
        Ok((MessageType(found, Arc::default()), has_a_form))
    }

    /// Appends the form of the message that these bytes are, with its type.
    ///
    /// Errors: no message of the name; bytes that are none; what its form cannot say.
    pub fn write(&self, url: &str, bytes: &[u8], out: &mut Vec<u8>) -> Read<()> {
        let written = || {
            let (message, has_a_form) = self.message(url)?;
            let read = read_proto(Messages::Each(&[bytes]), &message, &ProtobufOptions::default())?;
            Ok((encode_proto_json(&Nest::Leaf(read.value), &message)?, has_a_form))
        };
        let (text, has_a_form) = deeper(written)?;
        let text = text.trim_ascii_end();
        out.extend_from_slice(b"{\"@type\":");
        write_string(url.as_bytes(), out);
        match (has_a_form, text) {
            (true, form) => {
                out.extend_from_slice(b",\"value\":");
                out.extend_from_slice(form);
                out.push(b'}');
            }
            (false, [b'{', b'}']) => out.push(b'}'),
            (false, fields) => {
                out.push(b',');
                out.extend_from_slice(&fields[1..]);
            }
        }
        Ok(())
    }

    /// Whether the message of this name has a form of its own, which stands under `value`.
    ///
    /// Errors: no message of the name.
    pub fn has_a_form(&self, url: &str) -> Read<bool> {
        self.message(url).map(|(_, has_a_form)| has_a_form).map_err(|e| Failure::new(0, e))
    }

    /// The bytes of the message whose form this is.
    ///
    /// Errors: no message of the name; another form than the message's.
    pub fn read(&self, url: &str, form: &[u8]) -> Read<Vec<u8>> {
        // Ends of lines stand between the parts of a form alone, which is one line so.
        let line: Vec<u8> = form.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect();
        deeper(|| {
            let (message, _) = self.message(url)?;
            let read = read_proto_json(&line, &message, &ProtobufOptions::default())?;
            let bytes = encode_proto(&Nest::Leaf(read.value), &message)?;
            Ok(bytes.data()?.text_at(0)?.to_vec())
        })
    }
}

/// What is made of a message inside another.
fn deeper<T>(f: impl FnOnce() -> Result<T>) -> Read<T> {
    thread_local! {
        static LEVELS: Cell<usize> = const { Cell::new(0) };
    }
    let levels = LEVELS.get();
    if levels == MOST {
        let error = Error::data(format!("more than {MOST} messages hold each other as an Any"));
        return Err(Failure::new(0, error.wanted("fewer")));
    }
    LEVELS.set(levels + 1);
    let made = f();
    LEVELS.set(levels);
    made.map_err(|e| Failure::new(0, e))
}
