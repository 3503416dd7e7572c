//! Which bytes are a record: lines, or the items of one array.
//!
//! Invariant: records are cut out in order and none is left out; blank lines are no records. What is in a record is not
//! looked at, but for the syntax of an item, without which its end is not known.

use super::failure::{Failure, Read};
use super::skip::skip;
use jiter::{Jiter, Peek};

/// The bytes of one record, and where they start in the input.
pub type Piece<'a> = (usize, &'a [u8]);

/// The lines from a byte on that are not blank.
pub fn lines_from(input: &[u8], mut start: usize) -> impl Iterator<Item = Piece<'_>> {
    let next = move || {
        let rest = input.get(start..).filter(|rest| !rest.is_empty())?;
        let line = &rest[..line_len(rest)];
        start += line.len();
        Some((start - line.len(), line))
    };
    std::iter::from_fn(next).filter(|(_, line)| !is_blank(line))
}

/// Whether a line holds no record.
pub fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n'))
}

/// Whether the input is one array, and not lines of records.
pub fn is_array(input: &[u8]) -> bool {
    input[mark_len(input)..].trim_ascii_start().first() == Some(&b'[')
}

/// The items of an array. After an error there are no more.
pub struct Items<'a> {
    jiter: Jiter<'a>,
    text: &'a [u8],
    start: usize,
    state: State,
    /// Whether the text ends with a comma, behind which other blocks have items.
    more: bool,
}

enum State {
    Before,
    Inside,
    Behind,
}

impl<'a> Items<'a> {
    /// The items of the array that starts at this byte and ends with the input.
    pub fn at(input: &'a [u8], start: usize) -> Items<'a> {
        let text = input.get(start..).unwrap_or_default();
        Items { jiter: Jiter::new(text), text, start, state: State::Before, more: false }
    }

    /// The items of a block of an array, as `cut` makes them: `at` is the byte of the input that it starts at, and `more` says
    /// whether it ends with the comma that the next block begins with.
    pub fn block(block: &'a [u8], at: usize, more: bool) -> Items<'a> {
        if at == 0 {
            return Items { more, ..Items::at(block, mark_len(block)) };
        }
        Items { jiter: Jiter::new(block), text: block, start: at, state: State::Inside, more }
    }

    /// Whether nothing is left of the text but the comma behind the last item.
    fn is_cut(&self) -> bool {
        let last = self.text.len().saturating_sub(1);
        self.more && self.text.get(self.jiter.current_index()..last).is_some_and(is_blank)
    }

    fn step(&mut self) -> Read<Option<Piece<'a>>> {
        let peek = match self.state {
            State::Before => match self.jiter.peek()? {
                Peek::Array => self.jiter.known_array()?,
                _ => return Err(Failure::mismatch(self.text, self.jiter.current_index(), "an array of records")),
            },
            State::Inside if self.is_cut() => {
                self.state = State::Behind;
                return Ok(None);
            }
            State::Inside => self.jiter.array_step()?,
            State::Behind => return Ok(None),
        };
        let Some(peek) = peek else {
            self.state = State::Behind;
            self.jiter.finish()?;
            return Ok(None);
        };
        self.state = State::Inside;
        let at = self.jiter.current_index();
        skip(&mut self.jiter, peek)?;
        Ok(Some((self.start + at, self.jiter.slice_to_current(at))))
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Read<Piece<'a>>;

    fn next(&mut self) -> Option<Read<Piece<'a>>> {
        let step = self.step().map_err(|failure| failure.behind(self.start));
        if step.is_err() {
            self.state = State::Behind;
        }
        step.transpose()
    }
}

/// The byte order mark of UTF-8.
pub const MARK: &[u8; 3] = b"\xef\xbb\xbf";

/// The length of the byte order mark that the input begins with, if it does.
pub fn mark_len(input: &[u8]) -> usize {
    if input.starts_with(MARK) { MARK.len() } else { 0 }
}

/// The length of the first line, its end included.
fn line_len(rest: &[u8]) -> usize {
    memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1)
}
