//! Blocks of lines, read one after another.
//!
//! Invariant: the blocks together are what reading the whole gives; the text of one block is held at a time.

use super::{JsonOptions, Reader};
use crate::json::{Start, is_array, is_blank, mark_len};
use crate::run::Rows;
use crate::source::{Packed, Unpacked, reading, unpacked};
use extenso_types::{Error, Result};
use std::io::BufRead;
use std::sync::Arc;

/// Reads lines of JSON in blocks of `rows` records; the last one may have fewer. They may be packed by gzip or zstd, and are unpacked as they are
/// read.
///
/// Without a spec in the options, it is inferred from the first block, or from the first `sample` records of it.
/// Rows and bytes in errors and reports are counted from the start of the input.
///
/// Errors: blocks of no rows. Each block may be an error of [`read_json`](crate::read_json), or of the operating system,
/// after which there are no more; an array of records has no lines, and is one too.
///
/// ```
/// # use extenso_formats::{JsonOptions, read_json_blocks};
/// let rows = &b"{\"x\": 1}\n{\"x\": 2}\n{\"x\": 3}\n"[..];
/// let blocks = read_json_blocks(rows, 2, JsonOptions::default()).unwrap();
/// let texts: Vec<String> = blocks.map(|b| extenso_ext::to_literal(&b.unwrap().value).unwrap().to_string()).collect();
/// assert_eq!(texts, [r#"[{"x": 1}, {"x": 2}]"#, r#"[{"x": 3}]"#]);
/// ```
pub fn read_json_blocks<'a, R>(source: R, rows: usize, options: JsonOptions) -> Result<Blocks<'a>>
where
    R: BufRead + Send + 'a,
{
    if options.items.is_some() {
        let error = Error::value("a path to the records is given").wanted("lines of records, which blocks are read of");
        return Err(error.hint("Use `read_json`").at("read_json_blocks"));
    }
    if rows == 0 {
        return Err(Error::value("the blocks have 0 rows").wanted("at least one").at("read_json_blocks"));
    }
    let source = Source::New(Box::new(source));
    Ok(Blocks { source, rows, options, reader: None, text: Vec::new(), start: Start::default(), ended: false })
}

/// The blocks that [`read_json_blocks`] reads.
pub struct Blocks<'a> {
    source: Source<'a>,
    rows: usize,
    options: JsonOptions,
    reader: Option<Reader>,
    text: Vec<u8>,
    start: Start,
    ended: bool,
}

type Lines<'a> = Box<dyn BufRead + Send + 'a>;

enum Source<'a> {
    /// Nothing was read of it, so that it is not known whether it is packed.
    New(Lines<'a>),
    Open(Lines<'a>, Option<Arc<Packed>>),
    Failed,
}

impl<'a> Source<'a> {
    fn lines(&mut self) -> Result<&mut Lines<'a>> {
        if matches!(self, Source::New(_))
            && let Source::New(source) = std::mem::replace(self, Source::Failed)
        {
            let Unpacked { packed, source, .. } = unpacked(source, 0)?;
            *self = Source::Open(source, packed);
        }
        match self {
            Source::Open(lines, packed) => {
                // A line has a bound; how many are held is the caller's choice.
                packed.iter().for_each(|packed| packed.begin_block());
                Ok(lines)
            }
            Source::New(_) | Source::Failed => Err(Error::internal("a source that failed is read on")),
        }
    }
}

impl Blocks<'_> {
    fn block(&mut self) -> Result<Option<Rows>> {
        let rows = self.fill()?;
        if rows == 0 && self.reader.is_some() {
            return Ok(None);
        }
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => none.insert(Reader::new(
                &self.options,
                &self.text,
                None,
                Some(self.options.sample.unwrap_or(rows).min(rows)),
            )?),
        };
        let decoded = reader.decoder.block(&self.text, self.start, self.options.on_error)?;
        let start = self.start.row;
        self.start = Start { row: start + rows, byte: self.start.byte + self.text.len() };
        reader.rows(decoded, start, self.options.on_error).map(Some)
    }

    /// Reads the text of the next block, and gets how many records it has.
    fn fill(&mut self) -> Result<usize> {
        self.text.clear();
        let mut rows = 0;
        if self.start.byte == 0 {
            self.refuse_array()?;
        }
        while rows < self.rows {
            let before = self.text.len();
            if self.source.lines()?.read_until(b'\n', &mut self.text).map_err(reading)? == 0 {
                break;
            }
            let mark = if before == 0 && self.start.byte == 0 { mark_len(&self.text) } else { 0 };
            rows += usize::from(!is_blank(&self.text[before + mark..]));
        }
        Ok(rows)
    }

    /// An array of records may be one long line, so it is refused before it is read.
    fn refuse_array(&mut self) -> Result<()> {
        let lists = self.options.spec.as_ref().map(super::reads_lists).transpose()?.unwrap_or(false);
        if lists || !is_array(self.source.lines()?.fill_buf().map_err(reading)?) {
            return Ok(());
        }
        let error = Error::data("the input is an array").wanted("lines, each with a record");
        Err(error.hint("Use `read_json`").at("read_json_blocks"))
    }
}

impl Iterator for Blocks<'_> {
    type Item = Result<Rows>;

    fn next(&mut self) -> Option<Result<Rows>> {
        if self.ended {
            return None;
        }
        let block = self.block().transpose();
        self.ended = !matches!(block, Some(Ok(_)));
        block
    }
}
