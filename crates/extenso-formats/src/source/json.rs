//! Lines of JSON as a source; an array of records too, which is held whole.

use super::look::Look;
use super::unpack::reading;
use super::{Block, Blocks, SourceOptions};
use crate::columns::{Decoded, OnError};
use crate::json::{Decoder, Inference, Start, is_array, mark_len};
use crate::plan::Plan;
use crate::project::Wanted;
#[cfg(feature = "proto")]
use crate::proto::Content;
use crate::records::RecordSpec;
use extenso_graph::Concrete;
#[cfg(feature = "proto")]
use extenso_types::Error;
use extenso_types::{Result, Spec};
use std::io::{BufRead, Read};

/// Blocks of lines.
pub struct JsonBlocks<'a> {
    source: Box<dyn BufRead + Send + 'a>,
    records: RecordSpec,
    decoder: Decoder,
    on_error: OnError,
    block: usize,
    at: Start,
    text: Vec<u8>,
    given: bool,
}

impl<'a> JsonBlocks<'a> {
    /// The leaves that a function needs, of the lines of this source.
    ///
    /// Errors: an argument that no record can express.
    pub fn new(
        function: &Concrete,
        source: Box<dyn BufRead + Send + 'a>,
        options: &SourceOptions,
    ) -> Result<JsonBlocks<'a>> {
        let records = RecordSpec::new(function.record_spec(), &function.graph().needed_inputs())?;
        let decoder = decoder_of(records.plan(), options)?;
        let (on_error, block) = (options.on_error, options.block.max(1));
        let (at, text) = (Start::default(), Vec::new());
        Ok(JsonBlocks { source, records, decoder, on_error, block, at, text, given: false })
    }

    fn decode(&mut self) -> Result<Option<Decoded>> {
        // Without a line there is a block without rows, which still tells what the results are.
        fill(&mut self.source, self.block, &mut self.text)?;
        if self.text.is_empty() && self.given {
            return Ok(None);
        }
        self.given = true;
        if self.at.byte == 0 && matches!(self.records.plan(), Plan::Record { .. }) && is_array(&self.text) {
            self.source.read_to_end(&mut self.text).map_err(reading)?;
            return self.decoder.array(&self.text, self.on_error).map(Some);
        }
        self.decoder.block(&self.text, self.at, self.on_error).map(Some)
    }
}

/// Reads whole lines until there are about so many bytes; none at the end.
fn fill(source: &mut dyn BufRead, size: usize, text: &mut Vec<u8>) -> Result<()> {
    text.clear();
    source.take(size as u64).read_to_end(text).map_err(reading)?;
    if text.len() == size && text.last() != Some(&b'\n') {
        source.read_until(b'\n', text).map_err(reading)?;
    }
    Ok(())
}

/// Lines that are looked at for what the records are.
pub struct JsonLook<'a> {
    source: Box<dyn BufRead + Send + 'a>,
    found: Inference,
    block: usize,
    at: Start,
    text: Vec<u8>,
}

impl<'a> JsonLook<'a> {
    /// Nothing was looked at yet.
    pub fn new(source: Box<dyn BufRead + Send + 'a>, wanted: Wanted, options: &SourceOptions) -> JsonLook<'a> {
        let found = Inference::new(wanted, options.on_error);
        JsonLook { source, found, block: options.block.max(1), at: Start::default(), text: Vec::new() }
    }
}

impl Look for JsonLook<'_> {
    fn look(&mut self, most: usize) -> Result<Option<usize>> {
        fill(&mut self.source, self.block, &mut self.text)?;
        if self.text.is_empty() {
            return Ok(None);
        }
        if self.at.byte == 0 && is_array(&self.text) {
            self.source.read_to_end(&mut self.text).map_err(reading)?;
            self.found.array(&self.text, mark_len(&self.text), most)?;
            return Ok(Some(most));
        }
        let rows = self.found.lines(&self.text, self.at, most)?;
        self.at = Start { row: self.at.row + rows, byte: self.at.byte + self.text.len() };
        Ok(Some(rows))
    }

    fn spec(&self) -> Result<Spec> {
        self.found.spec()
    }
}

/// A decoder of records, or of the JSON form of messages where the options say what they are.
///
/// Errors: a plan that the messages cannot be read as; examples, which have no JSON form here.
#[cfg(feature = "proto")]
pub fn decoder_of(plan: &Plan, options: &SourceOptions) -> Result<Decoder> {
    match &options.content {
        None => Decoder::new(plan),
        Some(Content::Message(message)) => Decoder::of_message(message, plan),
        Some(Content::Examples(_)) => {
            let error = Error::dtype("the source is JSON, and its records are said to be examples");
            Err(error.wanted("TFRecords, or messages with lengths").at("source"))
        }
    }
}

/// A decoder of records.
///
/// Errors: those of [`Decoder::new`].
#[cfg(not(feature = "proto"))]
pub fn decoder_of(plan: &Plan, _: &SourceOptions) -> Result<Decoder> {
    Decoder::new(plan)
}

impl Blocks for JsonBlocks<'_> {
    fn next(&mut self) -> Result<Option<Block>> {
        let Some(Decoded { columns, rows, bad }) = self.decode()? else { return Ok(None) };
        let skipped = if self.on_error == OnError::Skip { bad.count() } else { 0 };
        self.at = Start { row: self.at.row + rows + skipped, byte: self.at.byte + self.text.len() };
        let bytes = self.at.byte as u64;
        Ok(Some(Block { leaves: self.records.leaves(columns, rows)?, rows: self.at.row, bytes, bad }))
    }
}
