//! CSV as a source: some rows of a table at a time.
//!
//! Invariant: the text of one block is held, and of one row where that is longer.

use super::look::Look;
use super::unpack::reading;
use super::{Block, Blocks, SourceOptions, leaves_of};
use crate::columns::OnError;
use crate::csv::{Ends, Inference, Rows, Table};
use crate::json::{MARK, reserve};
use crate::parts::Start;
use crate::project::Wanted;
use crate::records::RecordSpec;
use extenso_graph::Concrete;
use extenso_types::{Result, Spec};
use std::io::{self, BufRead, Read};

/// The text of whole rows, a block at a time.
struct Text<'a> {
    source: Box<dyn BufRead + Send + 'a>,
    delimiter: u8,
    block: usize,
    text: Vec<u8>,
    /// How far the text was looked at for ends of rows.
    ends: Ends,
    ended: bool,
    /// How many bytes of the text the last rows had.
    given: usize,
    at: Start,
}

impl<'a> Text<'a> {
    /// The text behind the row of names, and the table that this names.
    ///
    /// Errors: those of [`Table::begin`]; what the operating system refuses.
    fn begin(source: Box<dyn BufRead + Send + 'a>, options: &SourceOptions) -> Result<(Text<'a>, Table)> {
        let (delimiter, block) = (options.delimiter.unwrap_or(b','), options.block.max(1));
        let (ends, at) = (Ends::default(), Start::default());
        let mut text = Text { source, delimiter, block, text: Vec::new(), ends, ended: false, given: 0, at };
        text.skip().map_err(reading)?;
        let end = text.fill(0).map_err(reading)?;
        let (table, _, start) = Table::begin(&text.text[..end], delimiter)?;
        text.given = start.byte;
        Ok((text, table))
    }

    /// Passes what is no part of the first row: a mark of UTF-8, and empty lines.
    fn skip(&mut self) -> io::Result<()> {
        (&mut self.source).take(MARK.len() as u64).read_to_end(&mut self.text)?;
        if self.text == MARK {
            self.text.clear();
            self.at.byte = MARK.len();
        }
        let empty = |text: &[u8]| text.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        let lines = empty(&self.text);
        self.text.drain(..lines);
        self.at.byte += lines;
        while self.text.is_empty() {
            let read = match self.source.fill_buf() {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            let (lines, all) = (empty(read), read.len());
            self.source.consume(lines);
            self.at.byte += lines;
            if lines < all || all == 0 {
                break;
            }
        }
        Ok(())
    }

    /// The next rows; none at the end.
    fn next(&mut self) -> io::Result<(Start, &[u8])> {
        self.text.drain(..self.given);
        self.ends.cut(self.given);
        self.at.byte += self.given;
        self.given = self.fill(self.block)?;
        Ok((self.at, &self.text[..self.given]))
    }

    /// Reads until a row ends at a byte of the text or behind it, or the source does; where it ends.
    fn fill(&mut self, from: usize) -> io::Result<usize> {
        loop {
            if let Some(end) = self.ends.first(&self.text, self.delimiter, from.saturating_sub(1), self.ended) {
                return Ok(end);
            }
            if self.ended {
                return Ok(self.text.len());
            }
            let more = (self.block / 4).clamp(LEAST, MOST);
            reserve(&mut self.text, more)?;
            self.ended = (&mut self.source).take(more as u64).read_to_end(&mut self.text)? < more;
        }
    }

    /// How many bytes were given.
    fn bytes(&self) -> u64 {
        (self.at.byte + self.given) as u64
    }
}

/// So many bytes are read at once, at least and at most.
const LEAST: usize = 1 << 12;
const MOST: usize = 1 << 18;

/// Blocks of rows.
pub struct CsvBlocks<'a> {
    text: Text<'a>,
    records: RecordSpec,
    rows: Rows,
    on_error: OnError,
    given: bool,
}

impl<'a> CsvBlocks<'a> {
    /// The leaves that a function needs, of the rows of this table.
    ///
    /// Errors: an argument that no record can express, or one with lists; no row of names; a needed field that has no column.
    pub fn new(
        function: &Concrete,
        source: Box<dyn BufRead + Send + 'a>,
        options: &SourceOptions,
    ) -> Result<CsvBlocks<'a>> {
        let records = RecordSpec::of(function)?;
        let (text, table) = Text::begin(source, options)?;
        let rows = Rows::new(records.plan(), table)?;
        Ok(CsvBlocks { text, records, rows, on_error: options.on_error, given: false })
    }
}

impl Blocks for CsvBlocks<'_> {
    fn next(&mut self) -> Result<Option<Block>> {
        let (start, text) = self.text.next().map_err(reading)?;
        if self.given && text.is_empty() {
            return Ok(None);
        }
        self.given = true;
        let decoded = self.rows.block(text, start, self.on_error)?;
        let skipped = if self.on_error == OnError::Skip { decoded.bad.count() } else { 0 };
        self.text.at.row += decoded.rows + skipped;
        let (leaves, bad) = leaves_of(&self.records, decoded, start.row..self.text.at.row, self.on_error)?;
        Ok(Some(Block { leaves, rows: self.text.at.row, bytes: self.text.bytes(), bad }))
    }
}

/// Rows that are looked at for what they are.
pub struct CsvLook<'a> {
    text: Text<'a>,
    found: Inference,
    wanted: Wanted,
}

impl<'a> CsvLook<'a> {
    /// Nothing was looked at yet but the names.
    ///
    /// Errors: no row of names.
    pub fn new(source: Box<dyn BufRead + Send + 'a>, wanted: Wanted, options: &SourceOptions) -> Result<CsvLook<'a>> {
        let (text, table) = Text::begin(source, options)?;
        Ok(CsvLook { text, found: Inference::new(table, options.on_error), wanted })
    }
}

impl Look for CsvLook<'_> {
    fn look(&mut self, most: usize) -> Result<Option<usize>> {
        let (start, text) = self.text.next().map_err(reading)?;
        if text.is_empty() {
            return Ok(None);
        }
        let rows = self.found.note(text, start, most)?;
        self.text.at.row += rows;
        Ok(Some(rows))
    }

    fn spec(&self) -> Result<Spec> {
        self.found.spec(&self.wanted)
    }
}
