//! Why a record could not be read, while the reader finds its way out.
//!
//! Invariant: made on the error path only; the steps of the path are added from the inside out.

use extenso_types::{Error, Path, Segment};
use jiter::JiterError;

/// What one step of reading gives.
pub type Read<T> = Result<T, Box<Failure>>;

/// Why a record could not be read.
#[derive(Debug)]
pub struct Failure {
    offset: usize,
    steps: Vec<Segment>,
    error: Error,
}

impl Failure {
    /// A failure at this byte of the record's text.
    #[cold]
    pub fn new(offset: usize, error: Error) -> Box<Failure> {
        Box::new(Failure { offset, steps: Vec::new(), error })
    }

    /// Another value than the wanted stands at this byte.
    #[cold]
    pub fn mismatch(data: &[u8], offset: usize, wanted: impl Into<String>) -> Box<Failure> {
        match describe(data, offset) {
            Some(came) => Failure::new(offset, Error::data(format!("{came} came")).wanted(wanted)),
            None => Failure::new(offset, Error::data("this is not JSON: no value starts here").wanted(wanted)),
        }
    }

    /// Adds the step around those that are there.
    #[cold]
    pub fn inside(mut self: Box<Failure>, step: Segment) -> Box<Failure> {
        self.steps.push(step);
        self
    }

    /// Adds what to do next.
    pub fn hint(mut self, hint: &str) -> Failure {
        self.error = self.error.hint(hint);
        self
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

impl From<JiterError> for Box<Failure> {
    #[cold]
    fn from(e: JiterError) -> Box<Failure> {
        Failure::new(e.index, Error::data(format!("this is not JSON: {}", e.error_type)))
    }
}

/// How much of a value a message shows.
const SHOWN: usize = 40;

/// Says what value starts at `at`, if any does.
fn describe(data: &[u8], at: usize) -> Option<String> {
    let rest = data.get(at..)?;
    let end = |stop: fn(&u8) -> bool| rest.iter().skip(1).take(SHOWN).position(stop).map(|n| n + 1);
    let show = |end: Option<usize>| {
        let text = String::from_utf8_lossy(&rest[1..end.unwrap_or(rest.len().min(SHOWN))]).into_owned();
        if end.is_some() || rest.len() <= SHOWN { text } else { text + "..." }
    };
    let (first, word) = (*rest.first()?, |word: &str| rest.starts_with(word.as_bytes()));
    match first {
        b'{' => Some("a record".into()),
        b'[' => Some("a list".into()),
        b'"' => Some(format!("the string \"{}\"", show(end(|b| *b == b'"')))),
        b'-' | b'0'..=b'9' => {
            let number = |b: &u8| !matches!(b, b'+' | b'-' | b'.' | b'e' | b'E' | b'0'..=b'9');
            Some(format!("the number {}{}", char::from(first), show(end(number))))
        }
        _ => ["true", "false", "null", "NaN", "Infinity"].into_iter().find(|w| word(w)).map(String::from),
    }
}
