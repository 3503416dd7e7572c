//! Noting what one record's values are, to infer a spec.
//!
//! Invariant: recursion is at most [`MAX_NESTING`] deep. What is not wanted is only checked for syntax. What is noted is
//! refused wherever the reader would refuse it under the spec that follows.

use super::Decimals;
use super::decode::check_utf8;
use super::failure::{Failure, Read};
use super::number::named;
use super::skip::skip;
use crate::project::Wanted;
use crate::seen::{MAX_NESTING, Place, Seen, Sign, is_rounded};
use extenso_core::kernels::decimal::Float;
use extenso_types::{Error, Segment};
use jiter::{Jiter, Peek};

/// A record to be looked at: its text, its number, where it starts, and whether its decimals are texts.
#[derive(Clone, Copy)]
pub struct Looked<'t> {
    pub text: &'t [u8],
    pub row: usize,
    pub start: usize,
    pub decimals: Decimals,
}

/// Notes in `seen` what a record is; `room` is how many fields may be new.
pub fn scan(record: Looked<'_>, wanted: &Wanted, seen: &mut Seen, room: &mut usize) -> Read<()> {
    let Looked { text, row, start, decimals } = record;
    check_utf8(text)?;
    let mut scan = Scan { text, jiter: Jiter::new(text), row, start, decimals, room, depth: 0 };
    let peek = scan.jiter.peek()?;
    scan.value(peek, wanted, seen)?;
    Ok(scan.jiter.finish()?)
}

struct Scan<'j, 'a> {
    text: &'j [u8],
    jiter: Jiter<'j>,
    row: usize,
    start: usize,
    decimals: Decimals,
    room: &'a mut usize,
    depth: usize,
}

impl Scan<'_, '_> {
    fn value(&mut self, peek: Peek, wanted: &Wanted, seen: &mut Seen) -> Read<()> {
        let at = self.jiter.current_index();
        let sign = match peek {
            Peek::Null => self.jiter.known_null().map(|()| Sign::Null)?,
            Peek::True | Peek::False => self.jiter.known_bool(peek).map(|_| Sign::Bool)?,
            Peek::String => match named::<f64>(self.jiter.known_str()?) {
                Some(_) => Sign::Name,
                None => Sign::Text,
            },
            Peek::Array => Sign::List,
            Peek::Object => Sign::Record,
            _ => self.number(peek)?,
        };
        self.note(sign, at, seen)?;
        if matches!(sign, Sign::Int | Sign::Negative | Sign::Big | Sign::Huge) && self.is_rounded(at) {
            self.note(Sign::Rounded, at, seen)?;
        }
        match sign {
            Sign::List => self.nested(at, |scan| scan.list(wanted, seen)),
            Sign::Record => self.nested(at, |scan| scan.record(wanted, seen)),
            _ => Ok(()),
        }
    }

    fn note(&self, sign: Sign, at: usize, seen: &mut Seen) -> Read<()> {
        let place = Place { row: self.row, byte: self.start + at };
        seen.note(sign, place).map_err(|(kind, row)| {
            let wanted =
                if row == self.row { format!("{kind}, as before") } else { format!("{kind}, as in row {row}") };
            Failure::mismatch(self.text, at, wanted)
        })
    }

    fn number(&mut self, peek: Peek) -> Read<Sign> {
        let at = self.jiter.current_index();
        if !matches!(peek.into_inner(), b'-' | b'0'..=b'9') {
            return Err(Failure::mismatch(self.text, at, "a value"));
        }
        let digits = self.jiter.known_number_bytes(peek)?;
        // What the parser takes for a number is ASCII.
        let digits = std::str::from_utf8(digits).unwrap_or_default();
        let has_point = digits.contains(['.', 'e', 'E']);
        let sign = match (digits.parse::<i64>(), digits.parse::<u64>()) {
            (Ok(integer), _) if integer < 0 => Sign::Negative,
            (Ok(_), _) => Sign::Int,
            (Err(_), Ok(_)) => Sign::Big,
            (Err(_), Err(_)) if self.decimals == Decimals::Texts => return Ok(Sign::Decimal),
            (Err(_), Err(_)) if has_point => Sign::Float,
            (Err(_), Err(_)) => Sign::Huge,
        };
        if matches!(sign, Sign::Float | Sign::Huge) && <f64 as Float>::parse(digits).is_none() {
            return Err(Failure::mismatch(self.text, at, "a number that fits f64"));
        }
        Ok(sign)
    }

    /// Whether f64 does not hold the integer that was read from here on.
    fn is_rounded(&self, at: usize) -> bool {
        let digits = self.text.get(at..self.jiter.current_index()).unwrap_or_default();
        std::str::from_utf8(digits).is_ok_and(is_rounded)
    }

    fn nested(&mut self, at: usize, read: impl FnOnce(&mut Self) -> Read<()>) -> Read<()> {
        if self.depth == MAX_NESTING {
            let error = Error::data("the record nests too deep").wanted(format!("at most {MAX_NESTING} levels"));
            return Err(Failure::new(at, error));
        }
        self.depth += 1;
        read(self)?;
        self.depth -= 1;
        Ok(())
    }

    fn list(&mut self, wanted: &Wanted, seen: &mut Seen) -> Read<()> {
        let (mut next, mut n) = (self.jiter.known_array()?, 0);
        while let Some(peek) = next {
            match wanted.item() {
                Some(wanted) => self.value(peek, wanted, seen.item()).map_err(|e| e.inside(Segment::Index(n)))?,
                None => skip(&mut self.jiter, peek)?,
            }
            n += 1;
            next = self.jiter.array_step()?;
        }
        Ok(())
    }

    fn record(&mut self, wanted: &Wanted, seen: &mut Seen) -> Read<()> {
        let record = seen.record();
        let (number, mut expected) = (record.open(), 0);
        let mut key = self.jiter.known_object()?;
        while let Some(name) = key {
            match wanted.field(name) {
                Some(wanted) => {
                    let field = record.field(name, number, &mut expected, self.room);
                    let (name, seen) = field.map_err(|error| Failure::new(self.jiter.current_index(), error))?;
                    let peek = self.jiter.peek()?;
                    self.value(peek, wanted, seen).map_err(|e| e.inside(Segment::Field(name)))?;
                }
                None => {
                    let peek = self.jiter.peek()?;
                    skip(&mut self.jiter, peek)?;
                }
            }
            key = self.jiter.next_key()?;
        }
        Ok(())
    }
}
