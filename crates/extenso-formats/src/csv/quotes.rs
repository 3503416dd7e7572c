//! Where quoted cells begin and end, so that a table that was cut off inside one is known, and which cells are quotes around nothing: the crate
//! `csv` takes what is there, and forgets quotes.
//!
//! Invariant: bytes pass as they are. What is outside of quotes is looked at from its last line on alone.

use std::collections::VecDeque;
use std::io::{self, Read};

/// A source that knows whether what was read of it ends inside a quoted cell.
pub struct Quotes<R> {
    source: R,
    delimiter: u8,
    inside: bool,
    /// Whether the last quote ended a cell, unless another follows at once.
    closed: bool,
    last: u8,
    ended: bool,
    /// How many bytes were read.
    seen: usize,
    /// The number of the cell in its line.
    cell: usize,
    /// Where the last quoted cell began.
    opened: usize,
    /// Quotes around nothing: where they begin, and the numbers of their cells.
    nothing: VecDeque<(usize, usize)>,
}

impl<R> Quotes<R> {
    /// A source of which nothing was read.
    pub fn new(source: R, delimiter: u8) -> Quotes<R> {
        let nothing = VecDeque::new();
        Quotes {
            source,
            delimiter,
            inside: false,
            closed: false,
            last: b'\n',
            ended: false,
            seen: 0,
            cell: 0,
            opened: 0,
            nothing,
        }
    }

    /// Whether the source ended inside a quoted cell.
    pub fn is_cut(&self) -> bool {
        self.ended && self.inside
    }

    /// Whether the source ended at this byte, and no end of line stands before it.
    pub fn ends_open_at(&self, byte: usize) -> bool {
        self.ended && byte == self.seen && !matches!(self.last, b'\n' | b'\r')
    }

    /// Puts the numbers of the cells that are quotes around nothing, and begin before this byte, into `cells`; each once.
    pub fn take_nothing(&mut self, before: usize, cells: &mut Vec<usize>) {
        cells.clear();
        while let Some((_, cell)) = self.nothing.pop_front_if(|(at, _)| *at < before) {
            cells.push(cell);
        }
    }

    fn see(&mut self, bytes: &[u8]) {
        let mut from = 0;
        for at in memchr::memchr_iter(b'"', bytes) {
            if !self.inside {
                self.pass(&bytes[from..at]);
            }
            from = at + 1;
            let before = at.checked_sub(1).map_or(self.last, |before| bytes[before]);
            let begins = before == self.delimiter || matches!(before, b'\n' | b'\r');
            let (was_inside, place) = (self.inside, self.seen + at);
            // Of two quotes inside a cell the second begins it again.
            let again = self.closed && before == b'"';
            (self.inside, self.closed) = (!self.inside && (begins || again), self.inside);
            if self.inside && !again {
                self.opened = place;
            } else if self.inside {
                self.nothing.pop_back_if(|(at, _)| *at == self.opened);
            } else if was_inside && place == self.opened + 1 {
                self.nothing.push_back((self.opened, self.cell));
            }
        }
        if !self.inside {
            self.pass(&bytes[from..]);
        }
        self.last = bytes.last().copied().unwrap_or(self.last);
        self.seen += bytes.len();
    }

    /// Counts the cells of the last line of what stands outside of quotes.
    fn pass(&mut self, bytes: &[u8]) {
        let line = memchr::memrchr2(b'\n', b'\r', bytes);
        let rest = &bytes[line.map_or(0, |end| end + 1)..];
        let before = if line.is_some() { 0 } else { self.cell };
        self.cell = before + memchr::memchr_iter(self.delimiter, rest).count();
    }
}

impl<R: Read> Read for Quotes<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(bytes)?;
        self.see(&bytes[..read]);
        self.ended |= read == 0 && !bytes.is_empty();
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_around_nothing_are_known_by_their_cells_however_they_are_read() {
        let tables: [(&str, &[(usize, usize)]); 6] = [
            ("a,\"\",b", &[(2, 1)]),
            ("\"\"\n,\"\"\r\n\"\"", &[(0, 0), (4, 1), (8, 0)]),
            ("\"\"\"\",\"\"", &[(5, 1)]),
            ("\"x,\n\",\"\"", &[(6, 1)]),
            ("\"a\"\"\",y\"\",\"\"\n", &[(10, 2)]),
            ("a\"\",b\n", &[]),
        ];
        for (text, wanted) in tables {
            for step in 1..=text.len() {
                let (mut quotes, mut room) = (Quotes::new(text.as_bytes(), b','), vec![0; step]);
                while quotes.read(&mut room).expect("reads") > 0 {}
                assert_eq!(Vec::from(quotes.nothing), wanted, "{text:?} by {step}");
            }
        }
    }

    #[test]
    fn a_text_that_ends_inside_a_cell_is_cut_however_it_is_read() {
        let whole =
            ["", "a,b\n", "\"a\"", "\"\"", "\"a\"\"b\"", "a\"b", "a\"\"", "x,\"\n\",\"\"\n", "\"a\"b\"", "\"\"\"\""];
        let cut = ["\"", "a,\"", "\"a\"\"", "a\n\"b\n", "\"\"\"", "\"a\"\"b", "\"\",\"\"\"\n"];
        for (text, wanted) in whole.iter().map(|text| (text, false)).chain(cut.iter().map(|text| (text, true))) {
            for step in 1..=text.len().max(1) {
                let (mut quotes, mut room) = (Quotes::new(text.as_bytes(), b','), vec![0; step]);
                while quotes.read(&mut room).expect("reads") > 0 {
                    assert!(!quotes.is_cut());
                }
                assert_eq!(quotes.is_cut(), wanted, "{text:?} by {step}");
            }
        }
    }
}
