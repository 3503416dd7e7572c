//! Why a record could not be read or written, while the reader or writer finds its way out; the same for every format.
//!
//! Invariant: made on the error path only; the steps of the path are added from the inside out.

use extenso_types::{Error, Path, Segment};

/// What one step of reading or writing gives.
pub type Read<T> = Result<T, Box<Failure>>;

/// Why a record could not be read or written.
#[derive(Debug)]
pub struct Failure {
    offset: usize,
    steps: Vec<Segment>,
    error: Error,
}

impl Failure {
    /// A failure at this byte of the record.
    #[cold]
    pub fn new(offset: usize, error: Error) -> Box<Failure> {
        Box::new(Failure { offset, steps: Vec::new(), error })
    }

    /// Adds the step around those that are there.
    #[cold]
    pub fn inside(mut self: Box<Failure>, step: Segment) -> Box<Failure> {
        self.steps.push(step);
        self
    }

    /// The same failure of something that starts so many bytes later.
    pub fn behind(mut self: Box<Failure>, bytes: usize) -> Box<Failure> {
        self.offset += bytes;
        self
    }

    /// The same failure, no further than this byte.
    pub fn within(mut self: Box<Failure>, end: usize) -> Box<Failure> {
        self.offset = self.offset.min(end);
        self
    }

    /// The same failure, its byte counted from a byte on.
    #[cfg(feature = "proto")]
    pub fn since(mut self: Box<Failure>, byte: usize) -> Box<Failure> {
        self.offset = self.offset.saturating_sub(byte);
        self
    }

    /// The error, of no row.
    pub fn error(self) -> Error {
        self.error
    }

    /// Adds what to do next.
    pub fn hint(mut self, hint: &str) -> Failure {
        self.error = self.error.hint(hint);
        self
    }

    /// The whole error, for a row that could not be written.
    pub fn of_row(self, row: usize) -> Error {
        let path: Path = self.steps.into_iter().rev().collect();
        self.error.at(format!("row {row}, '{path}'"))
    }

    /// The whole error, for a document of which a part starts at byte `start`.
    pub fn of_document(self, start: usize) -> Error {
        self.error.at(format!("byte {}", start + self.offset))
    }

    /// The byte of the input, the path and the whole error, for a record that starts at byte `start`.
    pub fn finish(self, row: usize, start: usize) -> (usize, Path, Error) {
        let offset = start + self.offset;
        let path: Path = self.steps.into_iter().rev().collect();
        let place = if path.is_root() {
            format!("row {row}, byte {offset}")
        } else {
            format!("row {row}, byte {offset}, '{path}'")
        };
        (offset, path, self.error.at(place))
    }
}
