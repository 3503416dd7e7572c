//! Decoding: which bytes are a record, and what becomes of the bad ones.
//!
//! Invariant: a bad row leaves no trace in the columns; no call gives columns of rows that differ in number.
//! How a record is read is the reader's (`read`).

use super::failure::{Failure, Read};
use super::node::{Node, fills};
use super::read::Scratch;
use crate::columns::{BadRow, BadRows, ColumnKind, Columns, Decoded, MAX_REPORTED, OnError};
use crate::plan::{ColumnId, Plan};
use extenso_types::{Error, Result};
use std::io::BufRead;
use std::sync::Arc;

/// Reads JSON records into the columns of one plan.
///
/// Cloning is cheap; each thread that decodes wants its own, because a decoder keeps buffers between calls.
#[derive(Clone, Debug)]
pub struct Decoder {
    plan: Arc<Compiled>,
    scratch: Scratch,
    marks: Vec<usize>,
}

#[derive(Debug)]
struct Compiled {
    root: Node,
    kinds: Vec<ColumnKind>,
    /// What a whole row of defaults adds to each column.
    defaults: Vec<(ColumnId, usize)>,
}

impl Decoder {
    /// A decoder for this plan.
    ///
    /// Errors: see [`Plan::kinds`].
    pub fn new(plan: &Plan) -> Result<Decoder> {
        let kinds = plan.kinds()?;
        let compiled = Compiled { root: Node::compile(plan), kinds, defaults: fills(plan) };
        Ok(Decoder { plan: Arc::new(compiled), scratch: Scratch::default(), marks: Vec::new() })
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
        let mut out = self.start()?;
        let (mut start, mut row) = (mark_len(input), 0);
        while start < input.len() {
            let rest = &input[start..];
            let line = &rest[..line_len(rest)];
            if !line.iter().all(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n')) {
                self.line(line, start, row, on_error, &mut out)?;
                row += 1;
            }
            start += line.len();
        }
        Ok(out)
    }

    /// Reads one document, which may span lines, as one row.
    ///
    /// Errors: it is no record of the plan, with byte and path.
    pub fn one(&mut self, input: &[u8]) -> Result<Columns> {
        let mut out = self.start()?;
        let start = mark_len(input);
        self.line(&input[start..], start, 0, OnError::Raise, &mut out)?;
        Ok(out.columns)
    }

    /// Reads one array of records, one row each.
    ///
    /// Errors: it is no array, or one item is no record of the plan. A bad item hides where the next one starts, so
    /// there is no other policy.
    pub fn array(&mut self, input: &[u8]) -> Result<Decoded> {
        let mut out = self.start()?;
        let start = mark_len(input);
        let (root, rows) = (&self.plan.root, &mut out.rows);
        let read = check_utf8(&input[start..]).and_then(|()| {
            self.scratch.read(&input[start..], &mut out.columns, |reader| {
                let mut next = reader.open_list()?;
                while let Some(peek) = next {
                    reader.value(root, peek)?;
                    *rows += 1;
                    next = reader.next_item()?;
                }
                Ok(())
            })
        });
        read.map_err(|failure| failure.finish(out.rows, start).2)?;
        Ok(out)
    }

    fn start(&self) -> Result<Decoded> {
        Ok(Decoded { columns: Columns::new(&self.plan.kinds)?, rows: 0, bad: BadRows::default() })
    }

    fn line(&mut self, line: &[u8], start: usize, row: usize, on_error: OnError, out: &mut Decoded) -> Result<()> {
        if on_error != OnError::Raise {
            out.columns.mark(&mut self.marks);
        }
        match self.record(line, &mut out.columns) {
            Ok(()) => {
                out.rows += 1;
                if on_error == OnError::Default {
                    out.bad.defaulted.push(false);
                }
                Ok(())
            }
            Err(failure) => self.bad(*failure, start, row, on_error, out),
        }
    }

    fn record(&mut self, text: &[u8], columns: &mut Columns) -> Read<()> {
        check_utf8(text)?;
        let root = &self.plan.root;
        self.scratch.read(text, columns, |reader| {
            let peek = reader.peek()?;
            reader.value(root, peek)
        })
    }

    #[cold]
    fn bad(&mut self, failure: Failure, start: usize, row: usize, on_error: OnError, out: &mut Decoded) -> Result<()> {
        let (offset, path, error) = failure.finish(row, start);
        if on_error == OnError::Raise {
            return Err(error);
        }
        out.columns.roll_back(&self.marks);
        out.bad.count += 1;
        if out.bad.first.len() < MAX_REPORTED {
            out.bad.first.push(BadRow { row, offset, path, error });
        }
        if on_error == OnError::Default {
            for (id, n) in &self.plan.defaults {
                out.columns.get_mut(*id).map_or(Ok(()), |column| column.push_defaults(*n))?;
            }
            out.bad.defaulted.push(true);
            out.rows += 1;
        }
        Ok(())
    }
}

/// The length of the byte order mark that the input begins with, if it does.
fn mark_len(input: &[u8]) -> usize {
    if input.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 }
}

/// The length of the first line, its end included.
fn line_len(mut rest: &[u8]) -> usize {
    let all = rest.len();
    // A slice does not fail to read; its search for a byte is the C library's, which is the fastest that std offers.
    rest.skip_until(b'\n').unwrap_or(all)
}

/// Checks the whole text, because the parser does not look at the bytes of strings that it reads over.
fn check_utf8(text: &[u8]) -> Read<()> {
    std::str::from_utf8(text).map(drop).map_err(|e| {
        let byte = text.get(e.valid_up_to()).copied().unwrap_or(0);
        Failure::new(e.valid_up_to(), Error::data(format!("byte 0x{byte:02x} is not UTF-8")).wanted("UTF-8 text"))
    })
}
