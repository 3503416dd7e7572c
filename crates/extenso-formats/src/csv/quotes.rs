//! Where quoted cells begin and end, so that a table that was cut off inside one is known: the crate `csv` takes what is there.
//!
//! Invariant: bytes pass as they are.

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
}

impl<R> Quotes<R> {
    /// A source of which nothing was read.
    pub fn new(source: R, delimiter: u8) -> Quotes<R> {
        Quotes { source, delimiter, inside: false, closed: false, last: b'\n', ended: false }
    }

    /// Whether the source ended inside a quoted cell.
    pub fn is_cut(&self) -> bool {
        self.ended && self.inside
    }

    fn see(&mut self, bytes: &[u8]) {
        for at in memchr::memchr_iter(b'"', bytes) {
            let before = at.checked_sub(1).map_or(self.last, |before| bytes[before]);
            let begins = before == self.delimiter || matches!(before, b'\n' | b'\r');
            // Of two quotes inside a cell the second begins it again.
            (self.inside, self.closed) = (!self.inside && (begins || self.closed && before == b'"'), self.inside);
        }
        self.last = bytes.last().copied().unwrap_or(self.last);
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
