//! Messages as a source: a file in which each has its length before it, some of them at a time, or a list of them.
//!
//! Invariant: a block is of whole messages; what is held beside it is nothing.

use super::unpack::reading;
use super::{Block, Blocks, Sink, SourceOptions, leaves_of};
use crate::columns::{Decoded, OnError};
use crate::parts::Start;
use crate::proto::{Content, Decoder, Extent, Framing, MessageType, Messages, encode_proto_json};
use crate::records::RecordSpec;
use extenso_core::{Tensor, Value};
use extenso_graph::Concrete;
use extenso_types::{DType, Error, Nest, Result};
use std::borrow::Cow;
use std::io::{BufRead, Read, Write};

/// Blocks of messages.
pub struct MessageBlocks<'a> {
    source: Source<'a>,
    records: RecordSpec,
    decoder: Decoder,
    on_error: OnError,
    block: usize,
    row: usize,
    bytes: usize,
    given: bool,
}

enum Source<'a> {
    File { framing: Framing, reader: Box<dyn BufRead + Send + 'a>, text: Vec<u8> },
    List { list: Cow<'a, [&'a [u8]]>, next: usize },
}

impl<'a> MessageBlocks<'a> {
    /// The leaves that a function needs, of the messages of a file.
    ///
    /// Errors: an argument that the messages cannot be read as.
    pub fn of_file(
        function: &Concrete,
        reader: Box<dyn BufRead + Send + 'a>,
        framing: Framing,
        content: &Content,
        options: &SourceOptions,
    ) -> Result<MessageBlocks<'a>> {
        MessageBlocks::new(function, Source::File { framing, reader, text: Vec::new() }, content, options)
    }

    /// The leaves that a function needs, of these messages.
    ///
    /// Errors: an argument that the messages cannot be read as.
    pub fn of_list(
        function: &Concrete,
        list: Cow<'a, [&'a [u8]]>,
        content: &Content,
        options: &SourceOptions,
    ) -> Result<MessageBlocks<'a>> {
        MessageBlocks::new(function, Source::List { list, next: 0 }, content, options)
    }

    fn new(
        function: &Concrete,
        source: Source<'a>,
        content: &Content,
        options: &SourceOptions,
    ) -> Result<MessageBlocks<'a>> {
        let records = RecordSpec::of(function)?;
        let decoder = content.decoder(records.plan())?;
        let (on_error, block) = (options.on_error, options.block.max(1));
        Ok(MessageBlocks { source, records, decoder, on_error, block, row: 0, bytes: 0, given: false })
    }

    /// Decodes the next messages, and says in how many bytes they are.
    fn decode(&mut self) -> Result<(Decoded, usize)> {
        let (row, byte) = (self.row, self.bytes);
        match &mut self.source {
            Source::File { framing, reader, text } => {
                fill(reader, *framing, self.block, text)?;
                let decoded = self.decoder.block(framing.messages(text), Start { row, byte }, self.on_error)?;
                Ok((decoded, text.len()))
            }
            Source::List { list, next } => {
                let rest = &list[*next..];
                let now = &rest[..count(rest, self.block)];
                *next += now.len();
                // A byte in an error is one of its message.
                let decoded = self.decoder.block(Messages::Each(now), Start { row, byte: 0 }, self.on_error)?;
                Ok((decoded, now.iter().map(|message| message.len()).sum()))
            }
        }
    }
}

/// Reads whole messages until there are about as many bytes as a block has. What is cut or odd is told where it is decoded.
fn fill(reader: &mut dyn BufRead, framing: Framing, size: usize, text: &mut Vec<u8>) -> Result<()> {
    text.clear();
    reader.take(size as u64).read_to_end(text).map_err(reading)?;
    let mut at = 0;
    while at < text.len() {
        match framing.extent(text, at) {
            Extent::Ends(end) => at = end,
            Extent::Lacks(more) => {
                if reader.take(more as u64).read_to_end(text).map_err(reading)? == 0 {
                    break;
                }
            }
            Extent::Odd => break,
        }
    }
    Ok(())
}

/// How many of these messages make a block.
fn count(messages: &[&[u8]], size: usize) -> usize {
    let mut bytes = 0_usize;
    let ends = messages.iter().position(|message| {
        bytes = bytes.saturating_add(message.len()).saturating_add(1);
        bytes >= size
    });
    ends.map_or(messages.len(), |last| last + 1)
}

impl Blocks for MessageBlocks<'_> {
    fn next(&mut self) -> Result<Option<Block>> {
        let (decoded, bytes) = self.decode()?;
        let rows = decoded.rows + if self.on_error == OnError::Skip { decoded.bad.count() } else { 0 };
        if self.given && rows == 0 {
            return Ok(None);
        }
        self.given = true;
        let from = self.row;
        self.row += rows;
        self.bytes += bytes;
        let (leaves, bad) = leaves_of(&self.records, decoded, from..self.row, self.on_error)?;
        Ok(Some(Block { leaves, rows: self.row, bytes: self.bytes as u64, bad }))
    }
}

/// A file of messages.
pub struct MessageSink<W> {
    sink: W,
    framing: Framing,
    message: Option<Content>,
}

impl<W: Write> MessageSink<W> {
    /// A file of these messages; results that are a vector of byte strings are messages already, and want none.
    pub fn new(sink: W, framing: Framing, message: Option<Content>) -> MessageSink<W> {
        MessageSink { sink, framing, message }
    }

    fn messages(&self, results: &Nest<Value>) -> Result<Tensor> {
        match (results, &self.message) {
            // No message is written from such a tensor, so it is messages.
            (Nest::Leaf(Value::Tensor(texts)), _)
                if texts.dtype() == DType::Bytes && texts.shape().rank() == Some(1) =>
            {
                Ok(texts.clone())
            }
            (_, Some(message)) => message.encode(results),
            (_, None) => {
                let error = Error::missing("nothing says which message the results are");
                Err(error.wanted("a message, or results that are serialized messages: bytes[n]").at("target"))
            }
        }
    }
}

impl<W: Write> Sink for MessageSink<W> {
    fn write(&mut self, results: &Nest<Value>) -> Result<()> {
        let messages = self.messages(results)?;
        let (dense, mut text) = (messages.data()?, Vec::new());
        for i in 0..dense.len() {
            self.framing.put(dense.text_at(i)?, &mut text);
        }
        Ok(self.sink.write_all(&text)?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        Ok(self.sink.flush()?)
    }
}

/// Lines of messages in their JSON form.
pub(crate) struct JsonMessageSink<W> {
    sink: W,
    message: MessageType,
}

impl<W: Write> JsonMessageSink<W> {
    /// Lines of messages of this type.
    pub fn new(sink: W, message: MessageType) -> JsonMessageSink<W> {
        JsonMessageSink { sink, message }
    }
}

impl<W: Write> Sink for JsonMessageSink<W> {
    fn write(&mut self, results: &Nest<Value>) -> Result<()> {
        Ok(self.sink.write_all(&encode_proto_json(results, &self.message)?)?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        Ok(self.sink.flush()?)
    }
}
