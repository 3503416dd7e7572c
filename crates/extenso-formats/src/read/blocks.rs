//! Blocks of lines, or of the items of an array, read one after another.
//!
//! Invariant: the blocks together are what reading the whole gives; the text of one block is held at a time.

use super::{JsonOptions, Reader};
use crate::columns::OnError;
use crate::json::{Cuts, Inference, Items, Start, begin, is_blank, line, mark_len};
use crate::run::Rows;
use crate::source::{Packed, Unpacked, reading, unpacked};
use extenso_types::{Error, Result};
use std::io::BufRead;
use std::sync::Arc;

/// Reads lines of JSON, or an array of records, in blocks of `rows` records; the last one may have fewer. They may be packed by gzip or zstd, and are
/// unpacked as they are read.
///
/// Without a spec in the options, it is inferred from the first block, or from the first `sample` records of it.
/// Rows and bytes in errors and reports are counted from the start of the input.
///
/// Errors: blocks of no rows. Each block may be an error of [`read_json`](crate::read_json), or of the operating system,
/// after which there are no more.
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
        return Err(error.hint("Use `read_json`").at("items"));
    }
    if rows == 0 {
        return Err(Error::value("the blocks have 0 rows").wanted("at least one").at("rows"));
    }
    Ok(Blocks {
        source: Source::New(Box::new(source)),
        rows,
        options,
        reader: None,
        cuts: None,
        text: Vec::new(),
        given: 0,
        start: Start::default(),
        ended: false,
    })
}

/// The blocks that [`read_json_blocks`] reads.
pub struct Blocks<'a> {
    source: Source<'a>,
    rows: usize,
    options: JsonOptions,
    reader: Option<Reader>,
    /// How an array is cut; none of lines.
    cuts: Option<Cuts>,
    text: Vec<u8>,
    /// How many bytes of the text are the block's; what is behind them is the next one's.
    given: usize,
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
    /// The bytes, unpacked, and what bounds those of a record.
    fn open(&mut self) -> Result<(&mut Lines<'a>, Option<&Packed>)> {
        if matches!(self, Source::New(_))
            && let Source::New(source) = std::mem::replace(self, Source::Failed)
        {
            let Unpacked { packed, source, .. } = unpacked(source, 0)?;
            *self = Source::Open(source, packed);
        }
        match self {
            Source::Open(lines, packed) => Ok((lines, packed.as_deref())),
            Source::New(_) | Source::Failed => Err(Error::internal("a source that failed is read on")),
        }
    }
}

impl Blocks<'_> {
    fn block(&mut self) -> Result<Option<Rows>> {
        if self.reader.is_none() {
            self.begin()?;
        }
        if self.cuts.is_some() { self.items() } else { self.lines() }
    }

    /// Reads where the records begin, which says how they stand there.
    fn begin(&mut self) -> Result<()> {
        let lists = self.options.spec.as_ref().map(super::reads_lists).transpose()?.unwrap_or(false);
        let (source, packed) = self.source.open()?;
        packed.into_iter().for_each(Packed::begin_block);
        let array = begin(source, AHEAD, &mut self.text).map_err(reading)?;
        self.cuts = (array && !lists).then(Cuts::default);
        Ok(())
    }

    /// The next block of lines.
    fn lines(&mut self) -> Result<Option<Rows>> {
        let rows = self.fill()?;
        if rows == 0 && self.reader.is_some() {
            return Ok(None);
        }
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => {
                let sample = self.options.sample.unwrap_or(rows).min(rows);
                let look = |found: &mut Inference, most| found.lines(&self.text, Start::default(), most);
                none.insert(Reader::new(&self.options, Some(sample), look)?)
            }
        };
        let decoded = reader.decoder.block(&self.text, self.start, self.options.on_error)?;
        let start = self.start.row;
        self.start = Start { row: start + rows, byte: self.start.byte + self.text.len() };
        self.text.clear();
        reader.rows(decoded, start, self.options.on_error).map(Some)
    }

    /// Reads the text of the next lines, and gets how many records they have.
    fn fill(&mut self) -> Result<usize> {
        // What was read of the first line to see what it is is the text already.
        let (mut rows, mut before, mut blank) = (0, 0, false);
        while rows < self.rows {
            // A record has a bound, with the blank lines before it; how many are held is the caller's choice.
            let (source, packed) = self.source.open()?;
            packed.into_iter().filter(|_| !blank).for_each(Packed::begin_block);
            if line(source, &mut self.text).map_err(reading)? == 0 && self.text.len() == before {
                break;
            }
            let mark = if before == 0 && self.start.byte == 0 { mark_len(&self.text) } else { 0 };
            blank = is_blank(&self.text[before + mark..]);
            rows += usize::from(!blank);
            before = self.text.len();
        }
        Ok(rows)
    }

    /// The next block of the items of an array.
    fn items(&mut self) -> Result<Option<Rows>> {
        let Some(cuts) = &mut self.cuts else { return Ok(None) };
        let (source, packed) = self.source.open()?;
        cuts.cut(&mut self.text, std::mem::take(&mut self.given));
        let mut bound = || packed.into_iter().for_each(Packed::begin_block);
        let comma = cuts.fill_items(source, self.rows, &mut self.text, &mut bound).map_err(reading)?;
        let (end, start) = (comma.map_or(self.text.len(), |comma| comma + 1), self.start);
        let items = || Items::block(&self.text[..end], start.byte, comma.is_some());
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => {
                let sample = self.options.sample.unwrap_or(self.rows).min(self.rows);
                none.insert(Reader::new(&self.options, Some(sample), |found, most| found.items(items(), 0, most))?)
            }
        };
        let decoded = reader.decoder.items(items(), start.row, self.options.on_error)?;
        let skipped = if self.options.on_error == OnError::Skip { decoded.bad.count() } else { 0 };
        self.given = comma.unwrap_or(self.text.len());
        self.start = Start { row: start.row + decoded.rows + skipped, byte: start.byte + self.given };
        self.ended = comma.is_none();
        reader.rows(decoded, start.row, self.options.on_error).map(Some)
    }
}

/// How far the records may stand from the start of a source.
const AHEAD: usize = 1 << 16;

impl Iterator for Blocks<'_> {
    type Item = Result<Rows>;

    fn next(&mut self) -> Option<Result<Rows>> {
        if self.ended {
            return None;
        }
        let block = self.block().transpose();
        self.ended |= !matches!(block, Some(Ok(_)));
        block
    }
}
