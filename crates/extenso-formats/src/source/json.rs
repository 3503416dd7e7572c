//! Lines of JSON as a source, or an array of records.
//!
//! Invariant: the text of one block is held, and of one record where that is longer.

use super::look::Look;
use super::unpack::reading;
use super::{Block, Blocks, SourceOptions, leaves_of};
use crate::columns::OnError;
use crate::json::{Cuts, Decoder, Inference, Items, Start, begin, line};
use crate::plan::Plan;
use crate::project::Wanted;
#[cfg(feature = "proto")]
use crate::proto::Content;
use crate::records::RecordSpec;
use extenso_graph::Concrete;
#[cfg(feature = "proto")]
use extenso_types::Error;
use extenso_types::{Result, Spec};
use std::io::{self, BufRead, Read};

/// The text of lines, or of the items of one array, a block at a time.
struct Text<'a> {
    source: Box<dyn BufRead + Send + 'a>,
    block: usize,
    begun: bool,
    /// How an array is cut; none of lines.
    cuts: Option<Cuts>,
    text: Vec<u8>,
    /// How many bytes of the text the last part had.
    given: usize,
    at: Start,
}

/// Some lines, or some items.
enum Part<'t> {
    Lines(&'t [u8]),
    Items(Items<'t>),
    /// There are no more.
    End,
}

impl<'a> Text<'a> {
    /// Nothing was read yet.
    fn new(source: Box<dyn BufRead + Send + 'a>, block: usize) -> Text<'a> {
        let block = block.max(1);
        Text { source, block, begun: false, cuts: None, text: Vec::new(), given: 0, at: Start::default() }
    }

    /// The next part, and where it starts; without a line there is one without rows. The items of an array are `apart` where a
    /// record is no list.
    fn next(&mut self, apart: bool) -> Result<(Start, Part<'_>)> {
        self.fill(apart).map_err(reading).map(|(first, comma)| {
            let end = comma.map_or(self.text.len(), |comma| comma + 1);
            let part = match &self.cuts {
                _ if self.text.is_empty() && !first => Part::End,
                Some(_) => Part::Items(Items::block(&self.text[..end], self.at.byte, comma.is_some())),
                None => Part::Lines(&self.text),
            };
            (self.at, part)
        })
    }

    /// Fills the text; whether it is the first, and where the comma is that it is cut at.
    fn fill(&mut self, apart: bool) -> io::Result<(bool, Option<usize>)> {
        self.at.byte += self.given;
        match &mut self.cuts {
            Some(cuts) => cuts.cut(&mut self.text, self.given),
            None => self.text.clear(),
        }
        let first = !std::mem::replace(&mut self.begun, true);
        if first && apart {
            self.cuts = begin(&mut self.source, self.block, &mut self.text)?.then(Cuts::default);
        }
        let comma = match &mut self.cuts {
            Some(cuts) => cuts.fill(&mut self.source, self.block, &mut self.text)?,
            None => lines(&mut self.source, self.block, &mut self.text).map(|()| None)?,
        };
        self.given = comma.unwrap_or(self.text.len());
        Ok((first, comma))
    }

    /// Counts the rows of the last part.
    fn count(&mut self, rows: usize) {
        self.at.row += rows;
    }

    /// How many bytes were given.
    fn bytes(&self) -> usize {
        self.at.byte + self.given
    }
}

/// Reads whole lines until there are about so many bytes; none at the end.
fn lines(source: &mut dyn BufRead, size: usize, text: &mut Vec<u8>) -> io::Result<()> {
    source.take(size.saturating_sub(text.len()) as u64).read_to_end(text)?;
    if text.len() >= size && text.last() != Some(&b'\n') {
        line(source, text)?;
    }
    Ok(())
}

/// Blocks of lines or of items.
pub struct JsonBlocks<'a> {
    text: Text<'a>,
    records: RecordSpec,
    decoder: Decoder,
    on_error: OnError,
}

impl<'a> JsonBlocks<'a> {
    /// The leaves that a function needs, of the records of this source.
    ///
    /// Errors: an argument that no record can express.
    pub fn new(
        function: &Concrete,
        source: Box<dyn BufRead + Send + 'a>,
        options: &SourceOptions,
    ) -> Result<JsonBlocks<'a>> {
        let records = RecordSpec::of(function)?;
        let decoder = decoder_of(records.plan(), options)?;
        Ok(JsonBlocks { text: Text::new(source, options.block), records, decoder, on_error: options.on_error })
    }
}

/// Records that are looked at for what they are.
pub struct JsonLook<'a> {
    text: Text<'a>,
    found: Inference,
}

impl<'a> JsonLook<'a> {
    /// Nothing was looked at yet.
    pub fn new(source: Box<dyn BufRead + Send + 'a>, wanted: Wanted, options: &SourceOptions) -> JsonLook<'a> {
        JsonLook { text: Text::new(source, options.block), found: Inference::new(wanted, options.on_error) }
    }
}

impl Look for JsonLook<'_> {
    fn look(&mut self, most: usize) -> Result<Option<usize>> {
        let rows = match self.text.next(true)? {
            (at, Part::Lines(lines)) => self.found.lines(lines, at, most)?,
            (at, Part::Items(items)) => self.found.items(items, at.row, most)?,
            (_, Part::End) => return Ok(None),
        };
        self.text.count(rows);
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
        let apart = matches!(self.records.plan(), Plan::Record { .. });
        let decoded = match self.text.next(apart)? {
            (at, Part::Lines(lines)) => self.decoder.block(lines, at, self.on_error)?,
            (at, Part::Items(items)) => self.decoder.items(items, at.row, self.on_error)?,
            (_, Part::End) => return Ok(None),
        };
        let from = self.text.at.row;
        self.text.count(decoded.rows + if self.on_error == OnError::Skip { decoded.bad.count() } else { 0 });
        let (leaves, bad) = leaves_of(&self.records, decoded, from..self.text.at.row, self.on_error)?;
        Ok(Some(Block { leaves, rows: self.text.at.row, bytes: self.text.bytes() as u64, bad }))
    }
}
