//! Rows of a text, cell by cell.
//!
//! | a cell | is |
//! |---|---|
//! | begins with a quote | what stands before the quote that ends it, in which two quotes are one, and what stands behind that |
//! | begins with another byte | what stands there, quotes too |
//!
//! A row ends with `\n`, `\r` or both, and with the text. An empty line is a row in a table of one column, and nothing otherwise.
//! Source: RFC 4180, and where it says nothing the crate `csv`, beside which the tests read.
//!
//! Invariant: what ends cells and rows, and quotes, are found in blocks; a byte is looked at by itself only where it is one of these.

#[cfg(test)]
mod tests;

use super::cell::shown;
use crate::failure::{Failure, Read};
use extenso_core::kernels::marks::mark_any;
use extenso_core::kernels::pool::affordable;
use extenso_types::Error;
use std::ops::Range;

/// So many bytes are looked at together.
const WINDOW: usize = 1 << 12;

/// How rows are cut.
#[derive(Clone, Copy, Debug)]
pub struct Syntax {
    /// What stands between cells.
    pub delimiter: u8,
    /// Whether an empty line is a row.
    pub blank: bool,
}

/// The rows of a text that begins with a row.
pub struct Lines<'t> {
    text: &'t [u8],
    syntax: Syntax,
    /// Where the next row is looked for.
    at: usize,
    /// Where in the text the window starts, and the marks of it that are not passed, in words.
    window: usize,
    words: [u64; WINDOW / 64],
    word: usize,
    left: u64,
}

/// The cells of a row.
#[derive(Default)]
pub struct Line<'t> {
    text: &'t [u8],
    /// Where the row starts.
    start: usize,
    /// Where each cell ends.
    ends: Vec<usize>,
    /// The cells in quotes, in order.
    quoted: Vec<Quoted>,
    /// What cells are whose quotes are not their first and their last byte alone.
    rewritten: Vec<u8>,
}

struct Quoted {
    cell: usize,
    open: usize,
    close: usize,
    /// Where it was written anew.
    anew: Option<Range<usize>>,
}

impl<'t> Lines<'t> {
    /// The rows of a text.
    pub fn new(text: &'t [u8], syntax: Syntax) -> Lines<'t> {
        let mut lines = Lines { text, syntax, at: 0, window: 0, words: [0; WINDOW / 64], word: 0, left: 0 };
        lines.look(0);
        lines
    }

    /// Finds the marks of the window from a byte on.
    fn look(&mut self, at: usize) {
        let window = self.text.get(at..).unwrap_or_default();
        let window = &window[..window.len().min(WINDOW)];
        let words = window.len().div_ceil(64);
        mark_any(window, [self.syntax.delimiter, b'\n', b'\r', b'"'], &mut self.words[..words]);
        self.words[words..].fill(0);
        (self.window, self.word, self.left) = (at, 0, self.words[0]);
    }

    /// The place of the next delimiter, end of line or quote; the end of the text if there is none.
    #[inline(always)]
    fn mark(&mut self) -> usize {
        while self.left == 0 {
            self.word += 1;
            match self.words.get(self.word) {
                Some(word) => self.left = *word,
                None if self.window + WINDOW < self.text.len() => self.look(self.window + WINDOW),
                None => {
                    self.word -= 1;
                    return self.text.len();
                }
            }
        }
        let bit = self.left.trailing_zeros() as usize;
        self.left &= self.left - 1;
        self.window + 64 * self.word + bit
    }

    /// Where the next row is looked for.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Reads the next row; whether there is one.
    ///
    /// Errors, at the start of the row, which the line has then: the text ends inside a quoted cell; no memory for so many cells.
    pub fn next(&mut self, line: &mut Line<'t>) -> Read<bool> {
        line.begin(self.text);
        loop {
            let start = self.at;
            line.start = start;
            let (mut cell, mut open) = (start, None);
            let end = loop {
                let mark = self.mark();
                let byte = self.text.get(mark).copied();
                if byte == Some(b'"') {
                    if mark == cell {
                        open = Some((mark, self.close()?));
                    }
                    continue;
                }
                if byte == Some(self.syntax.delimiter) {
                    line.end(mark, open.take())?;
                    cell = mark + 1;
                    continue;
                }
                break mark;
            };
            let is_empty = end == start;
            if end == self.text.len() && is_empty {
                return Ok(false);
            }
            self.at = (end + 1).min(self.text.len());
            if self.text[end..].starts_with(b"\r\n") {
                self.at = self.mark() + 1;
            }
            if !is_empty || self.syntax.blank {
                line.end(end, open)?;
                return Ok(true);
            }
        }
    }

    /// Where the quote is that ends a cell, and whether there are quotes in it.
    #[inline]
    fn close(&mut self) -> Read<(usize, bool)> {
        let mut pairs = false;
        loop {
            let mark = self.mark();
            match (self.text.get(mark), self.text.get(mark + 1)) {
                (Some(b'"'), Some(b'"')) => {
                    self.mark();
                    pairs = true;
                }
                (Some(b'"'), _) => return Ok((mark, pairs)),
                (Some(_), _) => {}
                (None, _) => return Err(Failure::new(0, cut_off())),
            }
        }
    }
}

pub fn cut_off() -> Error {
    Error::data("the table ends inside a quoted cell").wanted("a quote that ends it")
}

impl<'t> Line<'t> {
    fn begin(&mut self, text: &'t [u8]) {
        self.text = text;
        self.ends.clear();
        self.quoted.clear();
        self.rewritten.clear();
    }

    /// Ends a cell, with the quotes that it begins with.
    #[inline(always)]
    fn end(&mut self, end: usize, quotes: Option<(usize, (usize, bool))>) -> Read<()> {
        if let Some((open, (close, pairs))) = quotes {
            self.quoted(open, close, pairs, end);
        }
        if self.ends.len() == self.ends.capacity() {
            self.grow()?;
        }
        self.ends.push(end);
        Ok(())
    }

    /// Makes room for more cells.
    #[cold]
    fn grow(&mut self) -> Read<()> {
        let more = self.ends.len().max(16);
        affordable(more.saturating_mul(2 * size_of::<usize>())).map_err(|e| Failure::new(0, e))?;
        self.ends.reserve(more);
        Ok(())
    }

    fn quoted(&mut self, open: usize, close: usize, pairs: bool, end: usize) {
        let anew = (pairs || close + 1 != end).then(|| {
            let from = self.rewritten.len();
            let mut rest = &self.text[open + 1..close];
            while let Some(quote) = memchr::memchr(b'"', rest) {
                self.rewritten.extend_from_slice(&rest[..=quote]);
                rest = &rest[quote + 2..];
            }
            self.rewritten.extend_from_slice(rest);
            self.rewritten.extend_from_slice(&self.text[close + 1..end]);
            from..self.rewritten.len()
        });
        self.quoted.push(Quoted { cell: self.ends.len(), open, close, anew });
    }

    /// Where the row starts.
    pub fn start(&self) -> usize {
        self.start
    }

    /// How many bytes the row has.
    pub fn size(&self) -> usize {
        self.ends.last().map_or(0, |end| end - self.start)
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// What a cell is; nothing, if there are fewer.
    #[inline]
    pub fn cell(&self, cell: usize) -> &[u8] {
        if !self.quoted.is_empty()
            && let Ok(at) = self.quoted.binary_search_by_key(&cell, |quoted| quoted.cell)
        {
            let Quoted { open, close, anew, .. } = &self.quoted[at];
            return anew.clone().map_or(&self.text[open + 1..*close], |anew| &self.rewritten[anew]);
        }
        self.ends.get(cell).map_or(&[], |end| &self.text[self.begins(cell)..*end])
    }

    /// Where a cell begins.
    fn begins(&self, cell: usize) -> usize {
        cell.checked_sub(1).map_or(self.start, |before| self.ends[before] + 1)
    }

    /// Whether a cell is quotes around nothing.
    pub fn is_nothing_in_quotes(&self, cell: usize) -> bool {
        let at = self.quoted.binary_search_by_key(&cell, |quoted| quoted.cell);
        at.is_ok_and(|at| self.cell(self.quoted[at].cell).is_empty())
    }

    /// The cells in order.
    pub fn cells(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|cell| self.cell(cell))
    }

    /// The failure of a cell, at its first byte.
    #[cold]
    pub fn refuse(&self, cell: usize, wanted: String) -> Box<Failure> {
        let what = format!("{} came in column {}", shown(self.cell(cell)), cell + 1);
        let before = if cell < self.len() { self.begins(cell) - self.start } else { 0 };
        Failure::new(before, Error::data(what).wanted(wanted))
    }
}

/// The next piece of whole rows of about this size, and what is left of the text.
pub fn rows(text: &[u8], delimiter: u8, piece: usize) -> (&[u8], &[u8]) {
    let end = Ends::default().first(text, delimiter, piece, true);
    text.split_at(end.unwrap_or(text.len()))
}

/// How far a text that begins with a row was looked at for quotes.
#[derive(Clone, Copy, Default, Debug)]
pub struct Ends {
    at: usize,
    inside: bool,
}

impl Ends {
    /// Where the first row ends whose end is at a byte or behind it; none where no row does in what there is of the text, which may be all.
    pub fn first(&mut self, text: &[u8], delimiter: u8, from: usize, is_all: bool) -> Option<usize> {
        // The next end of a line, if it is outside of quotes.
        let mut end = None;
        loop {
            if self.inside {
                let quote = memchr::memchr(b'"', &text[self.at..]).map_or(text.len(), |at| self.at + at);
                match text.get(quote + 1) {
                    Some(b'"') => self.at = quote + 2,
                    // What comes behind it says whether it ends the cell.
                    None if quote == text.len() || !is_all => {
                        self.at = quote;
                        return None;
                    }
                    _ => (self.at, self.inside) = (quote + 1, false),
                }
                continue;
            }
            let looked = self.at.max(from);
            if end.is_none_or(|end| end < looked) {
                let line = text.get(looked..).and_then(|text| memchr::memchr2(b'\n', b'\r', text));
                end = Some(line.map_or(text.len(), |line| looked + line));
            }
            let end = end.unwrap_or(text.len());
            let Some(quote) = memchr::memchr(b'"', &text[self.at..end]).map(|at| self.at + at) else {
                return match text[end..] {
                    [b'\r', b'\n', ..] => Some(end + 2),
                    [b'\r'] if !is_all => None,
                    [] => {
                        self.at = text.len();
                        None
                    }
                    _ => Some(end + 1),
                };
            };
            let opens = quote
                .checked_sub(1)
                .is_none_or(|before| text[before] == delimiter || matches!(text[before], b'\n' | b'\r'));
            (self.at, self.inside) = (quote + 1, opens);
        }
    }

    /// The same, where the text was cut at a byte.
    pub fn cut(&mut self, at: usize) {
        self.at = self.at.saturating_sub(at);
    }
}
