//! Decoding: records into columns.
//!
//! Invariant: no call gives columns of rows that differ in number.
//! How a record is read is the reader's (`read`), which bytes it is `split`'s, what becomes of a bad one `policy`'s.

use super::Decimals;
use super::cut::Cuts;
use super::failure::{Failure, Read};
use super::node::Node;
use super::read::Scratch;
use super::room::{afford, line};
use super::skip::is_json;
use super::split::{Items, is_array, lines_from, mark_len};
use crate::assemble::{Pieces, assemble};
use crate::columns::{Columns, Decoded, Kinds, OnError};
use crate::parts::{self, Start};
use crate::plan::{ColumnId, Plan, fills};
use crate::policy::{Policy, no_rows};
use crate::source::reading;
use extenso_types::{Error, Result};
use std::io::{self, BufRead, Read as _};
use std::sync::Arc;

/// Reads JSON records into the columns of one plan.
///
/// Cloning is cheap; each thread that decodes wants its own, because a decoder keeps buffers between calls.
#[derive(Clone, Debug)]
pub struct Decoder {
    plan: Arc<Compiled>,
    scratch: Scratch,
    #[cfg(feature = "proto")]
    messages: crate::proto::json::Scratch,
    marks: Vec<usize>,
    hint: Option<(usize, Arc<str>)>,
}

#[derive(Debug)]
enum Root {
    Plan(Node),
    #[cfg(feature = "proto")]
    Message(Box<crate::proto::Record>),
}

#[derive(Debug)]
struct Compiled {
    root: Root,
    objects: bool,
    kinds: Kinds,
    /// What a whole row of defaults adds to each column.
    defaults: Vec<(ColumnId, usize)>,
}

impl Decoder {
    /// A decoder for this plan.
    ///
    /// Errors: see [`Plan::kinds`].
    pub fn new(plan: &Plan) -> Result<Decoder> {
        plan.kinds()?;
        Decoder::of(plan, Root::Plan(Node::compile(plan)?))
    }

    /// A decoder of messages of this type in their JSON form, for a plan of the message.
    ///
    /// Errors: see [`Plan::kinds`]; a plan that the messages cannot be read as, with the path.
    #[cfg(feature = "proto")]
    pub fn of_message(message: &crate::proto::MessageType, plan: &Plan) -> Result<Decoder> {
        plan.kinds()?;
        Decoder::of(plan, Root::Message(Box::new(crate::proto::compile(message, plan)?)))
    }

    /// As [`Decoder::of_message`], of a part of the `whole` plan, which a depth ends: a value of any kind that goes on beyond it is an error,
    /// but where only some parts of it are wanted.
    ///
    /// Errors: as [`Decoder::of_message`].
    #[cfg(feature = "proto")]
    pub fn of_message_to_depth(
        message: &crate::proto::MessageType,
        plan: &Plan,
        whole: &Plan,
        wanted: &crate::project::Wanted,
    ) -> Result<Decoder> {
        let mut record = crate::proto::compile(message, plan)?;
        record.end_at_depth(&crate::proto::compile(message, whole)?, wanted);
        Decoder::of(plan, Root::Message(Box::new(record)))
    }

    fn of(plan: &Plan, root: Root) -> Result<Decoder> {
        let (kinds, objects) = (Kinds::new(plan.kinds()?), matches!(plan, Plan::Record { .. }));
        let plan = Arc::new(Compiled { root, objects, kinds, defaults: fills(plan) });
        Ok(Decoder {
            plan,
            scratch: Scratch::default(),
            #[cfg(feature = "proto")]
            messages: Default::default(),
            marks: Vec::new(),
            hint: None,
        })
    }

    /// The same decoder, whose errors about a row of `sample` or later that is JSON end with this hint.
    pub fn with_hint(self, sample: usize, hint: impl Into<Arc<str>>) -> Decoder {
        Decoder { hint: Some((sample, hint.into())), ..self }
    }

    /// The same decoder of decimals that are read so.
    pub fn of_decimals(mut self, decimals: Decimals) -> Decoder {
        self.scratch.decimals = decimals;
        self
    }

    /// Reads NDJSON: one record in each line that is not blank; a byte order mark and `\r\n` are tolerated.
    ///
    /// Errors: under [`OnError::Raise`], the first bad row's, with row, byte and path.
    ///
    /// ```text
    /// {"id": 1, "tags": ["a", "b"]}
    /// {"id": 2, "tags": []}              ->  id [1, 2], tags offsets [0, 2, 2], texts ["a", "b"]
    /// ```
    pub fn lines(&mut self, input: &[u8], on_error: OnError) -> Result<Decoded> {
        self.block(input, Start::default(), on_error)
    }

    /// [`Decoder::lines`] of a part of an input: rows and bytes are counted from `start`.
    ///
    /// Errors: as [`Decoder::lines`].
    pub fn block(&mut self, input: &[u8], start: Start, on_error: OnError) -> Result<Decoded> {
        let Some(size) = parts::piece(input.len()) else {
            let mut out = self.start()?;
            self.part(input, start, on_error, &mut out)?;
            return Ok(out);
        };
        let about = Pieces { row: start.row, on_error, count: input.len() / size };
        let mut rest = input;
        let next = |_| {
            let byte = start.byte + input.len() - rest.len();
            let piece;
            (piece, rest) = parts::lines(rest, size);
            (!piece.is_empty()).then_some(Ok((start.row, (byte, piece))))
        };
        assemble(about, self, self.start()?, next, |decoder, (byte, text): &(usize, &[u8]), row, out| {
            decoder.part(text, Start { row, byte: *byte }, on_error, out)
        })
    }

    /// [`Decoder::records`] of what is read from a source of about so many bytes, without holding all of it.
    ///
    /// Errors: as [`Decoder::records`]; what the operating system refuses.
    pub fn stream(
        &mut self,
        mut source: Box<dyn BufRead + Send + '_>,
        bytes: usize,
        on_error: OnError,
    ) -> Result<Decoded> {
        if self.plan.objects && is_array(source.fill_buf().map_err(reading)?) {
            return self.array_stream(&mut source, on_error);
        }
        let size = parts::piece(bytes).unwrap_or(parts::MOST);
        let (mut byte, mut begun) = (0, Vec::new());
        let next = |(_, mut text): (usize, Vec<u8>)| {
            // What the piece before ended with is the beginning of a line.
            text.clear();
            text.append(&mut begun);
            if let Err(e) = fill(&mut source, size, &mut text, &mut begun) {
                return Some(Err(reading(e)));
            }
            let start = byte;
            byte += text.len();
            (!text.is_empty()).then_some(Ok((0, (start, text))))
        };
        let about = Pieces { row: 0, on_error, count: bytes / size };
        assemble(about, self, self.start()?, next, |decoder, (byte, text): &(usize, Vec<u8>), row, out| {
            decoder.part(text, Start { row, byte: *byte }, on_error, out)
        })
    }

    /// Reads an array, of whose text a block is held.
    fn array_stream(&mut self, source: &mut dyn BufRead, on_error: OnError) -> Result<Decoded> {
        let (mut cuts, mut text, mut byte, mut out) = (Cuts::default(), Vec::new(), 0, self.start()?);
        loop {
            let comma = cuts.fill(source, parts::MOST, &mut text).map_err(reading)?;
            let end = comma.map_or(text.len(), |comma| comma + 1);
            let skipped = if on_error == OnError::Skip { out.bad.count() } else { 0 };
            let row = out.rows + skipped;
            self.put_items(Items::block(&text[..end], byte, comma.is_some()), row, on_error, &mut out)?;
            let Some(comma) = comma else { return Ok(out) };
            cuts.cut(&mut text, comma);
            byte += comma;
        }
    }

    /// Reads the lines of an input on this thread alone.
    fn part(&mut self, input: &[u8], start: Start, on_error: OnError, out: &mut Decoded) -> Result<()> {
        let mark = if start.byte == 0 { mark_len(input) } else { 0 };
        for (row, (byte, line)) in lines_from(input, mark).enumerate() {
            self.record(line, start.byte + byte, start.row + row, on_error, out)?;
        }
        Ok(())
    }

    /// Reads lines, or one array where records are objects.
    ///
    /// Errors: as [`Decoder::lines`] and [`Decoder::array`].
    pub fn records(&mut self, input: &[u8], on_error: OnError) -> Result<Decoded> {
        if self.plan.objects && is_array(input) { self.array(input, on_error) } else { self.lines(input, on_error) }
    }

    /// Reads one document, which may span lines, as one row.
    ///
    /// Errors: it is no record of the plan, with byte and path.
    pub fn one(&mut self, input: &[u8]) -> Result<Columns> {
        let mut out = self.start()?;
        let start = mark_len(input);
        self.record(&input[start..], start, 0, OnError::Raise, &mut out)?;
        Ok(out.columns)
    }

    /// Reads one array of records, one row each.
    ///
    /// Errors: as [`Decoder::lines`]; under every policy, what is no array or no JSON, because a bad item then hides where
    /// the next one starts.
    pub fn array(&mut self, input: &[u8], on_error: OnError) -> Result<Decoded> {
        self.array_at(input, mark_len(input), on_error)
    }

    /// [`Decoder::array`] of the array that starts at this byte and ends with the input.
    ///
    /// Errors: as [`Decoder::array`].
    pub(crate) fn array_at(&mut self, input: &[u8], start: usize, on_error: OnError) -> Result<Decoded> {
        self.items(Items::at(input, start), 0, on_error)
    }

    /// [`Decoder::array`] of some of its items, of which the first has the number `row`.
    ///
    /// Errors: as [`Decoder::array`].
    pub(crate) fn items(&mut self, items: Items<'_>, row: usize, on_error: OnError) -> Result<Decoded> {
        let mut out = self.start()?;
        self.put_items(items, row, on_error, &mut out)?;
        Ok(out)
    }

    fn put_items(&mut self, items: Items<'_>, row: usize, on_error: OnError, out: &mut Decoded) -> Result<()> {
        for (row, item) in (row..).zip(items) {
            let (byte, item) = item.map_err(|failure| failure.finish(row, 0).2)?;
            self.record(item, byte, row, on_error, out)?;
        }
        Ok(())
    }

    /// Reads texts that are a document each, the first of which is row `first`; a row without one holds defaults.
    ///
    /// Errors: under [`OnError::Raise`], the first bad row's, with row, byte of its text and path.
    pub(crate) fn texts<'t>(
        &mut self,
        texts: impl Iterator<Item = Option<&'t [u8]>>,
        first: usize,
        on_error: OnError,
        out: &mut Decoded,
    ) -> Result<()> {
        for (row, text) in (first..).zip(texts) {
            match text {
                Some(text) => self.record(text, 0, row, on_error, out)?,
                None => Policy { on_error, defaults: &self.plan.defaults }.missing(out)?,
            }
        }
        self.plan.kinds.note(&out.columns);
        Ok(())
    }

    /// No rows yet.
    pub(crate) fn start(&self) -> Result<Decoded> {
        no_rows(&self.plan.kinds)
    }

    fn record(&mut self, text: &[u8], start: usize, row: usize, on_error: OnError, out: &mut Decoded) -> Result<()> {
        #[cfg(not(feature = "proto"))]
        let Decoder { plan, scratch, marks, hint } = self;
        #[cfg(feature = "proto")]
        let Decoder { plan, scratch, messages, marks, hint } = self;
        let node = match &plan.root {
            Root::Plan(node) => Some(node),
            #[cfg(feature = "proto")]
            Root::Message(_) => None,
        };
        afford(text, node).map_err(|e| e.at(format!("row {row}, byte {start}")))?;
        let policy = Policy { on_error, defaults: &plan.defaults };
        policy.row(row, start, marks, out, |columns| {
            let read = check_utf8(text).and_then(|()| match &plan.root {
                Root::Plan(root) => scratch.read(text, root, columns),
                #[cfg(feature = "proto")]
                Root::Message(root) => messages.read(text, root, columns),
            });
            // What ends too early is told of at its end, and not where the next row begins.
            let end = text.strip_suffix(b"\n").unwrap_or(text).len();
            read.map_err(|failure| explain(hint.as_ref(), failure.within(end), text, row))
        })
    }
}

/// Adds about so many bytes to a text, and gives what stands behind its last line break to `begun`, unless the source has ended.
fn fill(source: &mut dyn BufRead, size: usize, text: &mut Vec<u8>, begun: &mut Vec<u8>) -> io::Result<()> {
    let before = text.len();
    if source.take(size as u64).read_to_end(text)? == 0 {
        return Ok(());
    }
    match memchr::memrchr(b'\n', &text[before..]) {
        Some(at) => {
            begun.extend_from_slice(&text[before + at + 1..]);
            text.truncate(before + at + 1);
        }
        // A line that is longer than a piece is a piece.
        None => {
            line(source, text)?;
        }
    }
    Ok(())
}

#[cold]
fn explain(hint: Option<&(usize, Arc<str>)>, failure: Box<Failure>, text: &[u8], row: usize) -> Box<Failure> {
    match hint {
        Some((sample, hint)) if row >= *sample && is_json(text) => Box::new(failure.hint(hint)),
        _ => failure,
    }
}

/// Checks the whole text, because the parser does not look at the bytes of strings that it reads over.
pub fn check_utf8(text: &[u8]) -> Read<()> {
    simdutf8::basic::from_utf8(text).map(drop).map_err(|_| {
        let at = std::str::from_utf8(text).map_or_else(|e| e.valid_up_to(), str::len);
        let byte = text.get(at).copied().unwrap_or(0);
        Failure::new(at, Error::data(format!("byte 0x{byte:02x} is not UTF-8")).wanted("UTF-8 text"))
    })
}
