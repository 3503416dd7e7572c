//! Where quoted cells begin and end, so that a table that was cut off inside one is known; which cells are quotes around nothing; and where
//! rows begin behind empty lines. The crate `csv` takes what is there, and forgets quotes and empty lines.
//!
//! Invariant: bytes pass as they are, and no more of a row than there is memory for to read it.

use crate::json::MARK;
use crate::source::refused;
use extenso_core::kernels::pool::affordable;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;

/// A source that knows whether what was read of it ends inside a quoted cell.
pub struct Quotes<R> {
    source: R,
    delimiter: u8,
    inside: bool,
    /// Whether the last quote ended a cell, unless another follows at once.
    closed: bool,
    last: u8,
    /// The first bytes: a mark of UTF-8 is no part of the first cell.
    first: [u8; MARK.len()],
    ended: bool,
    /// How many bytes were read.
    seen: usize,
    /// The number of the cell in its line.
    cell: usize,
    /// Where the last quoted cell began.
    opened: usize,
    /// Quotes around nothing: where they begin, and the numbers of their cells.
    nothing: VecDeque<(usize, usize)>,
    /// Where the line is that the last end of a line stands before.
    line: usize,
    /// Whether an empty line stands before it.
    empty: bool,
    /// Where rows begin that an empty line stands before.
    begun: VecDeque<usize>,
    /// Where empty lines are, unless they are no rows.
    blank: Option<VecDeque<usize>>,
    /// How many bytes of memory the system was asked for, for the cells of a row.
    held: usize,
    /// For how many bytes of this row in columns it was asked.
    asked: usize,
}

impl<R> Quotes<R> {
    /// A source of which nothing was read.
    pub fn new(source: R, delimiter: u8) -> Quotes<R> {
        Quotes {
            source,
            delimiter,
            inside: false,
            closed: false,
            last: b'\n',
            first: [0; MARK.len()],
            ended: false,
            seen: 0,
            cell: 0,
            opened: 0,
            nothing: VecDeque::new(),
            line: 0,
            empty: false,
            begun: VecDeque::new(),
            blank: Some(VecDeque::new()),
            held: 0,
            asked: 0,
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

    /// Where the last row before this byte begins, if an empty line stands before it.
    pub fn take_begun(&mut self, before: usize) -> Option<usize> {
        std::iter::from_fn(|| self.begun.pop_front_if(|at| *at < before)).last()
    }

    /// Forgets the empty lines that stand before this byte, or all there are and will be.
    pub fn forget_blank(&mut self, before: Option<usize>) {
        match (before, &mut self.blank) {
            (Some(before), Some(blank)) => blank.retain(|at| *at >= before),
            (_, blank) => *blank = None,
        }
    }

    /// The place of the first empty line before this byte.
    pub fn take_blank(&mut self, before: usize) -> Option<usize> {
        self.blank.as_mut()?.pop_front_if(|at| *at < before)
    }

    fn see(&mut self, bytes: &[u8]) {
        self.first.iter_mut().skip(self.seen).zip(bytes).for_each(|(first, byte)| *first = *byte);
        let mut from = 0;
        for at in memchr::memchr_iter(b'"', bytes) {
            if !self.inside {
                self.pass(bytes, from..at);
                self.begin(self.seen + at + 1);
            }
            from = at + 1;
            let before = at.checked_sub(1).map_or(self.last, |before| bytes[before]);
            let (was_inside, place) = (self.inside, self.seen + at);
            let is_marked = place == MARK.len() && self.first == *MARK;
            let begins = before == self.delimiter || matches!(before, b'\n' | b'\r') || is_marked;
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
            self.pass(bytes, from..bytes.len());
        }
        self.last = bytes.last().copied().unwrap_or(self.last);
        self.seen += bytes.len();
    }

    /// Looks at what stands outside of quotes: for ends of lines, and for the cells of the last line.
    fn pass(&mut self, bytes: &[u8], range: Range<usize>) {
        let passed = &bytes[range.clone()];
        let mut rest = 0;
        for at in memchr::memchr2_iter(b'\n', b'\r', passed) {
            self.begin(self.seen + range.start + at);
            let before = (range.start + at).checked_sub(1).map_or(self.last, |before| bytes[before]);
            // Both bytes of a pair are one end of a line.
            if before == b'\n' || (before == b'\r' && passed[at] == b'\r') {
                self.empty = true;
                self.blank.iter_mut().for_each(|blank| blank.push_back(self.seen + range.start + at));
            }
            rest = at + 1;
            (self.cell, self.asked, self.line) = (0, 0, self.seen + range.start + rest);
        }
        self.begin(self.seen + range.end);
        self.cell += memchr::memchr_iter(self.delimiter, &passed[rest..]).count();
    }

    /// Notes where a row begins of which something stands before this byte, if an empty line stands before it.
    fn begin(&mut self, before: usize) {
        if self.empty && before > self.line {
            self.begun.push_back(self.line);
            self.empty = false;
        }
    }

    /// Asks for the memory of the row that goes on: for its cells and where each ends, which are doubled as they grow and kept for the next
    /// rows, and for its longest cell in a column.
    ///
    /// Errors: the system gives less.
    fn afford(&mut self) -> io::Result<()> {
        let row = self.seen - self.line;
        let doubled = |n: usize| n.checked_next_power_of_two().unwrap_or(usize::MAX);
        let cells = doubled(row).saturating_add(doubled(self.cell).saturating_mul(size_of::<usize>()));
        if cells <= self.held && row <= self.asked {
            return Ok(());
        }
        let more = if cells > self.held { cells } else { 0 };
        (self.held, self.asked) = (self.held.max(cells), row.next_multiple_of(STEP));
        let wanted = self.asked.saturating_add(more);
        affordable(wanted).map_err(|e| refused(e.at(format!("the row at byte {}", self.line))))
    }
}

/// The system is asked again when a row has so many bytes more.
const STEP: usize = 1 << 20;

impl<R: Read> Read for Quotes<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(bytes)?;
        self.see(&bytes[..read]);
        self.afford()?;
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
    fn rows_behind_empty_lines_are_known_by_where_they_begin_however_they_are_read() {
        let tables: [(&str, &[usize]); 9] = [
            ("a\nb\n", &[]),
            ("a\r\nb\r\n", &[]),
            ("\na\n", &[1]),
            ("a\n\n\nb\n\n", &[4]),
            ("a\r\n\r\nb", &[5]),
            ("a\r\rb\n\r\nc", &[3, 7]),
            ("\"a\n\n\"\n\n\"b\"\n", &[7]),
            ("a,\"\"\r\n\n\"\"", &[7]),
            ("a\n\"\n\nb\"\n", &[]),
        ];
        for (text, wanted) in tables {
            for step in 1..=text.len() {
                let (mut quotes, mut room) = (Quotes::new(text.as_bytes(), b','), vec![0; step]);
                while quotes.read(&mut room).expect("reads") > 0 {}
                assert_eq!(Vec::from(quotes.begun), wanted, "{text:?} by {step}");
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
