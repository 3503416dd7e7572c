//! The batches of an IPC file or stream, one after another, from a reader.
//!
//! Invariant: one message is held. A file is read from its start like a stream; that its footer tells of as many batches as came is
//! checked at its end. Only of a file whose words stand behind the batches that use them, as polars writes it, all messages are held.

use super::super::chunks::ArrowOptions;
use super::{Decoding, MAGIC, Part, ROOT, body_length, malformed, more_behind, needed, schema_of, size};
use crate::caught::caught;
use crate::source::reading;
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_buffer::Buffer;
use arrow_ipc::{MetadataVersion, root_as_footer};
use arrow_schema::{Field, FieldRef, Schema};
use extenso_types::{Error, Result};
use std::collections::VecDeque;
use std::io::Read;
use std::sync::Arc;

/// Calls into the crate that decodes: its panics are errors about the bytes.
pub(crate) fn guarded<T>(f: impl FnOnce() -> Result<T>) -> Result<T> {
    let read = caught(f);
    read.unwrap_or_else(|_| Err(Error::data("the IPC bytes are malformed: Arrow's reader gave up on them")))
}

/// Reads batches one after another.
pub(crate) struct IpcReader<R> {
    messages: Messages<R>,
    decoding: Decoding,
    root: Option<usize>,
    batches: usize,
    /// The batches that waited for words which came behind them; none while there was no need.
    waited: Option<VecDeque<Part>>,
    ended: bool,
}

impl<R: Read> IpcReader<R> {
    /// A reader of the columns that are asked for; of none, if there are no options.
    ///
    /// Errors: bytes that do not begin with the schema of a file or stream; what the operating system refuses.
    pub fn new(source: R, options: Option<&ArrowOptions>) -> Result<IpcReader<R>> {
        let mut messages = Messages { source, at: 0, ahead: None, file: false };
        guarded(|| {
            let (schema, version) = messages.schema()?;
            let columns = options.map_or(Ok(Some(Vec::new())), |options| needed(&schema, options))?;
            let root = schema.metadata().get(ROOT).filter(|_| options.is_some());
            let root = root.map(|name| schema.index_of(name).map_err(|e| malformed(0, e))).transpose()?;
            let decoding = Decoding::new(schema, version, columns);
            Ok(IpcReader { messages, decoding, root, batches: 0, waited: None, ended: false })
        })
    }

    /// How many bytes were read.
    pub fn bytes(&self) -> usize {
        self.messages.at
    }

    /// No rows.
    ///
    /// Errors: none that a schema that was read has; those of Arrow, all the same.
    pub fn empty(&self) -> Result<StructArray> {
        guarded(|| Ok(RecordBatch::new_empty(self.decoding.schema()?).into()))
    }

    /// Which of the columns that are read the value is, of bytes that say that it is one of them.
    pub fn root(&self) -> Option<usize> {
        self.root
    }

    /// A batch as an array of what the value is, and its field: of its rows, or of the column that the bytes say.
    ///
    /// Errors: none that a schema that was read has.
    pub fn rows(&self, batch: StructArray) -> Result<(FieldRef, ArrayRef)> {
        match self.root {
            Some(root) => {
                let field = batch.fields().get(root).ok_or_else(|| Error::internal("a column was not read"))?;
                Ok((field.clone(), batch.column(root).clone()))
            }
            None => Ok((Arc::new(Field::new("", batch.data_type().clone(), false)), Arc::new(batch))),
        }
    }

    /// The next batch; none at the end.
    ///
    /// Errors: a message that is malformed or cut off, with its place; what the operating system refuses.
    pub fn next(&mut self) -> Result<Option<StructArray>> {
        guarded(|| {
            while !self.ended {
                let Some(part) = self.part()? else {
                    self.ended = true;
                    self.messages.end(self.batches)?;
                    break;
                };
                match self.decoding.take(&part) {
                    Ok(Some(batch)) => {
                        self.batches += 1;
                        return Ok(Some(batch));
                    }
                    Ok(None) => {}
                    Err(_) if self.messages.file && self.waited.is_none() => self.wait(part)?,
                    Err(error) => return Err(error),
                }
            }
            Ok(None)
        })
    }

    fn part(&mut self) -> Result<Option<Part>> {
        match &mut self.waited {
            Some(parts) => Ok(parts.pop_front()),
            None => self.messages.next(),
        }
    }

    /// Reads the words behind a batch that lacks some, and holds the batches.
    fn wait(&mut self, part: Part) -> Result<()> {
        let mut parts = VecDeque::from([part]);
        while let Some(part) = self.messages.next()? {
            if part.is_dictionary() {
                self.decoding.take(&part)?;
            } else {
                parts.push_back(part);
            }
        }
        self.waited = Some(parts);
        Ok(())
    }
}

/// The messages of a reader.
struct Messages<R> {
    source: R,
    at: usize,
    /// What was read of the next message.
    ahead: Option<Vec<u8>>,
    /// Whether it is a file, which has a footer behind its messages.
    file: bool,
}

/// Where the first message of a file begins at the latest, and how much is looked at together behind a stream.
const PADDING: usize = 1 << 12;

/// A length that no message has: below it is where the root of a message without a length begins.
const SHORTEST: usize = 16;

/// What stands before the length of a message.
const CONTINUED: [u8; 4] = [0xff; 4];

/// How much is made room for before it is there.
const ROOM: usize = 1 << 20;

impl<R: Read> Messages<R> {
    /// The schema, which is the first message, behind what a file begins with.
    fn schema(&mut self) -> Result<(Schema, MetadataVersion)> {
        let head = self.upto(4)?;
        self.file = head == MAGIC[..4];
        if !self.file {
            return self.schema_behind(0, head);
        }
        let rest = self.exact(4)?;
        if rest[..2] != MAGIC[4..] {
            return Err(malformed(0, "the first bytes are no file's").wanted("an IPC file or stream of Arrow"));
        }
        // What a file begins with is padded with zeros, by some writers to more than 8 bytes.
        let mut head = self.upto(4)?;
        while head == [0; 4] && self.at < PADDING {
            head = self.upto(4)?;
        }
        let at = self.at - head.len();
        match size(at, &head) {
            Ok(1..SHORTEST) => self.bare_schema(at, head),
            _ => self.schema_behind(at, head),
        }
    }

    fn schema_behind(&mut self, at: usize, head: Vec<u8>) -> Result<(Schema, MetadataVersion)> {
        schema_of(&self.behind(at, head)?.ok_or_else(|| malformed(at, "there is no message"))?)
    }

    /// The schema of a file of polars, whose message stands there without its length, up to the mark of the next.
    fn bare_schema(&mut self, at: usize, start: Vec<u8>) -> Result<(Schema, MetadataVersion)> {
        let mut bytes = start;
        bytes.extend(self.exact(4)?);
        loop {
            let word = self.exact(8)?;
            if word.starts_with(&CONTINUED) {
                self.ahead = Some(word);
                break;
            }
            bytes.extend(word);
        }
        schema_of(&Part { at, head: Buffer::from_vec(bytes), body: Buffer::default() })
    }

    /// The next message; none at the end.
    fn next(&mut self) -> Result<Option<Part>> {
        if let Some(head) = self.ahead.take() {
            return self.message(self.at - head.len(), &head[4..]);
        }
        let at = self.at;
        let head = self.upto(4)?;
        if head.is_empty() && self.file {
            return Err(malformed(at, "the file is cut off").wanted("a file that ends with its footer"));
        }
        self.behind(at, head)
    }

    /// The message at `at`, of which four bytes were read.
    fn behind(&mut self, at: usize, head: Vec<u8>) -> Result<Option<Part>> {
        if head.is_empty() {
            return Ok(None);
        }
        let length = if head == CONTINUED { self.exact(4)? } else { head };
        self.message(at, &length)
    }

    /// The message at `at`, whose length was read.
    fn message(&mut self, at: usize, length: &[u8]) -> Result<Option<Part>> {
        let length = size(at, length)?;
        if length == 0 {
            return Ok(None);
        }
        let head = self.exact(length)?;
        let body = self.exact(body_length(at, &head)?)?;
        // A vector of no bytes stands where no number could, and the crate looks at where those of unions stand.
        let body = if body.is_empty() { Buffer::default() } else { Buffer::from_vec(body) };
        Ok(Some(Part { at, head: Buffer::from_vec(head), body }))
    }

    /// Checks what stands behind the last message: nothing of a stream, whose source is read to its end, of a file the footer.
    fn end(&mut self, batches: usize) -> Result<()> {
        let start = self.at;
        if !self.file {
            // What is filled up with zeros ends there too.
            loop {
                let rest = self.upto(PADDING)?;
                if rest.iter().any(|byte| *byte != 0) {
                    return Err(more_behind(start));
                }
                if rest.is_empty() {
                    return Ok(());
                }
            }
        }
        let rest = self.upto(usize::MAX)?;
        let odd = |what: &str| malformed(start, what).wanted("a file that ends with its footer");
        let footer = rest.strip_suffix(MAGIC).and_then(|rest| rest.split_last_chunk::<4>());
        let (footer, length) = footer.ok_or_else(|| odd("the file does not end as it begins"))?;
        let footer = footer.len().checked_sub(size(start, length)?).map(|from| &footer[from..]);
        let footer = footer.ok_or_else(|| odd("the footer is longer than what is left"))?;
        let told = root_as_footer(footer).map_err(|e| malformed(start, e))?.recordBatches();
        match told.map_or(0, |batches| batches.len()) {
            told if told == batches => Ok(()),
            told => Err(malformed(start, format!("the footer tells of {told} batches, and {batches} came"))),
        }
    }

    /// The next bytes, as many as that.
    fn exact(&mut self, length: usize) -> Result<Vec<u8>> {
        let at = self.at;
        let bytes = self.upto(length)?;
        if bytes.len() < length {
            let what = format!("{length} bytes are said to be here, and {} came", bytes.len());
            return Err(malformed(at, what).wanted("the bytes as they were written, complete"));
        }
        Ok(bytes)
    }

    /// The next bytes, as many as that, or those that are left.
    fn upto(&mut self, length: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(length.min(ROOM));
        self.source.by_ref().take(length as u64).read_to_end(&mut bytes).map_err(reading)?;
        self.at += bytes.len();
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_reader_is_an_error() {
        let error = guarded::<()>(|| std::panic::panic_any("odd buffers")).expect_err("a panic");
        assert!(error.is_data() && error.to_string().starts_with("the IPC bytes are malformed"), "{error}");
    }
}
