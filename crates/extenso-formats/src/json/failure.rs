//! Why a record of JSON could not be read: what stands in it in place of what was wanted.
//!
//! Invariant: made on the error path only.

pub use crate::failure::{Failure, Read};
use extenso_types::Error;
use jiter::JiterError;

impl Failure {
    /// Another value than the wanted stands at this byte.
    #[cold]
    pub fn mismatch(data: &[u8], offset: usize, wanted: impl Into<String>) -> Box<Failure> {
        match describe(data, offset) {
            Some(came) => Failure::new(offset, Error::data(format!("{came} came")).wanted(wanted)),
            None => Failure::new(offset, Error::data("this is not JSON: no value starts here").wanted(wanted)),
        }
    }
}

impl From<JiterError> for Box<Failure> {
    #[cold]
    fn from(e: JiterError) -> Box<Failure> {
        let text = e.error_type.to_string();
        let error = Error::data(format!("this is not JSON: {text}"))
            .wanted("a record of JSON in each line, or an array of them");
        Failure::new(
            e.index,
            match text.starts_with("EOF") {
                true => error.hint("Put records that take several lines into an array, between `[` and `]`."),
                false => error,
            },
        )
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
