//! Inference: the spec of records from the first of them.
//!
//! Invariant: what is kept is what was seen at each path, never a record; the records that were seen can all be read by the
//! spec that follows.

use super::scan::{Looked, scan};
use super::split::{Items, is_array, lines_from, mark_len};
use super::{Decimals, Start};
use crate::columns::OnError;
use crate::project::Wanted;
use crate::seen::{MAX_FIELDS, Seen};
use extenso_types::{Error, Result, Spec};

/// What was found in the records so far.
pub struct Inference {
    wanted: Wanted,
    on_error: OnError,
    decimals: Decimals,
    seen: Seen,
    room: usize,
    /// How long the records are together.
    bytes: usize,
}

impl Inference {
    /// Nothing yet.
    pub fn new(wanted: Wanted, on_error: OnError) -> Inference {
        let decimals = Decimals::default();
        Inference { wanted, on_error, decimals, seen: Seen::default(), room: MAX_FIELDS, bytes: 0 }
    }

    /// The same, of decimals that are read so.
    pub fn of_decimals(self, decimals: Decimals) -> Inference {
        Inference { decimals, ..self }
    }

    /// Looks at the first `most` records of lines or of an array, which may start at a byte that is given; how many there were.
    ///
    /// Errors: under [`OnError::Raise`], a record that is no JSON, or contradicts an earlier one, with row, byte and path; under the other
    /// policies such records are passed over.
    pub fn input(&mut self, input: &[u8], array: Option<usize>, most: usize) -> Result<usize> {
        match array.or_else(|| is_array(input).then(|| mark_len(input))) {
            Some(start) => self.items(Items::at(input, start), 0, most),
            None => self.lines(input, Start::default(), most),
        }
    }

    /// Looks at the first `most` of the items of an array, of which the first has the number `row`; how many there were.
    ///
    /// Errors: those of [`Inference::input`].
    pub fn items(&mut self, items: Items<'_>, row: usize, most: usize) -> Result<usize> {
        let mut rows = 0;
        for item in items.take(most) {
            let (start, text) = item.map_err(|failure| failure.finish(row + rows, 0).2)?;
            self.add(text, row + rows, start)?;
            rows += 1;
        }
        Ok(rows)
    }

    /// Looks at the first `most` records of whole lines, which start at a place of the input; how many there were.
    ///
    /// Errors: those of [`Inference::input`].
    pub fn lines(&mut self, block: &[u8], at: Start, most: usize) -> Result<usize> {
        let mark = if at.byte == 0 { mark_len(block) } else { 0 };
        let mut rows = 0;
        for (start, text) in lines_from(block, mark).take(most) {
            self.add(text, at.row + rows, at.byte + start)?;
            rows += 1;
        }
        Ok(rows)
    }

    fn add(&mut self, text: &[u8], row: usize, start: usize) -> Result<()> {
        self.bytes += text.len();
        let record = Looked { text, row, start, decimals: self.decimals };
        match self.on_error {
            OnError::Raise => {
                let scanned = scan(record, &self.wanted, &mut self.seen, &mut self.room);
                scanned.map_err(|failure| failure.finish(row, start).2)
            }
            OnError::Skip | OnError::Default => {
                let (mut one, mut room) = (Seen::default(), MAX_FIELDS);
                if scan(record, &self.wanted, &mut one, &mut room).is_ok() && one.is_record() {
                    self.seen.take_in(&one, &mut self.room);
                }
                Ok(())
            }
        }
    }

    /// The spec of all that was looked at.
    ///
    /// Errors: see `seen` for what has no spec; fields that are almost all missing.
    pub fn spec(&self) -> Result<Spec> {
        let (cells, most) = (self.seen.cells(), MIN_CELLS.max(self.bytes.saturating_mul(CELLS_PER_BYTE)));
        if cells > most {
            let error =
                Error::value(format!("the fields of all records together are {cells}, almost all of them missing"));
            let error = error.wanted(format!("at most {most} for this input"));
            return Err(error.hint("Give a spec, or paths, if the keys are data"));
        }
        self.seen.batch(&self.wanted)
    }
}

/// How many fields, missing ones included, the records of any input may have together.
const MIN_CELLS: usize = 1 << 24;

/// How many more they may have for each byte, so that a short input does not ask for much memory.
const CELLS_PER_BYTE: usize = 16;
