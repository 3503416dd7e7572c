//! Times, decimals and bytes of one width in fields: which form a field gives them, and how it is read and written.
//!
//! Times in fields of integers are counts of their unit, which are read and written as any other number.
//!
//! Invariant: what is written reads back as the same integer; a text that is no such text, or a message that JSON could not say, is refused.

use super::json::{duration, parse_duration, parse_timestamp, timestamp};
use super::put::{put_key, put_sized, put_varint};
use super::wire::{Span, Wire, WireType};
use crate::columns::{Column, ColumnRef};
use crate::failure::{Failure, Read};
use crate::json::{base64, write_string};
use crate::spelled;
use extenso_ext::Spelling;
use extenso_types::Error;
use prost_reflect::Kind;

/// What a field holds for a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// A string: its text, as JSON has it.
    Text,
    /// Bytes: as many as it has.
    Bytes,
    /// `google.protobuf.Timestamp`: a point in time.
    Timestamp,
    /// `google.protobuf.Duration`.
    Duration,
}

impl Form {
    /// The form that a field of this kind gives values of a spelling; none if it has none.
    pub fn of(kind: &Kind, spelling: &Spelling) -> Option<Form> {
        match kind {
            Kind::String => (!spelling.is_bytes()).then_some(Form::Text),
            Kind::Bytes => spelling.is_cells().then_some(Form::Bytes),
            Kind::Message(message) => match message.full_name() {
                "google.protobuf.Timestamp" => spelling.is_instant().then_some(Form::Timestamp),
                "google.protobuf.Duration" => spelling.is_duration().then_some(Form::Duration),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the field holds a message.
    pub fn is_message(self) -> bool {
        matches!(self, Form::Timestamp | Form::Duration)
    }
}

/// Adds what a string or bytes are, which start at this byte.
pub fn push_text(form: Form, spelling: &Spelling, text: &[u8], column: &mut Column, at: usize) -> Read<()> {
    let pushed = match (form, std::str::from_utf8(text)) {
        (Form::Bytes, _) => spelled::push_bytes(spelling, text, column),
        (_, Ok(text)) => spelled::push(spelling, text, column),
        (_, Err(_)) => false,
    };
    if pushed {
        return Ok(());
    }
    let what = match form {
        Form::Bytes => format!("{} bytes came", text.len()),
        Form::Text | Form::Timestamp | Form::Duration => format!("the string {} came", shown(text)),
    };
    let wanted = if form == Form::Bytes { format!("{} bytes", spelling.width()) } else { spelling.wanted() };
    Err(Failure::new(at, Error::data(what).wanted(wanted)))
}

fn shown(text: &[u8]) -> String {
    let mut quoted = Vec::new();
    let text: String = String::from_utf8_lossy(text).chars().take(40).collect();
    write_string(text.as_bytes(), &mut quoted);
    String::from_utf8_lossy(&quoted).into_owned()
}

/// Adds what a text of the JSON form is; none if it is no such text.
pub fn push_json(form: Form, spelling: &Spelling, text: &str, bytes: &mut Vec<u8>, column: &mut Column) -> Option<()> {
    let parts = match form {
        Form::Text => return spelled::push(spelling, text, column).then_some(()),
        Form::Bytes => {
            bytes.clear();
            let decoded = base64::decode(text.as_bytes(), bytes) && spelled::push_bytes(spelling, bytes, column);
            return decoded.then_some(());
        }
        Form::Timestamp => parse_timestamp(text)?,
        Form::Duration => parse_duration(text)?,
    };
    push_parts(spelling, parts, column)
}

/// What is wanted of the JSON form.
pub fn wanted_of_json(form: Form, spelling: &Spelling) -> String {
    match form {
        Form::Bytes => format!("a base64 string of {} bytes", spelling.width()),
        Form::Text | Form::Timestamp | Form::Duration => spelling.wanted(),
    }
}

fn push_parts(spelling: &Spelling, (seconds, nanos): (i64, i32), column: &mut Column) -> Option<()> {
    let cell = spelling.of_nanoseconds(i128::from(seconds) * 1_000_000_000 + i128::from(nanos))?;
    spelled::push_cell(spelling, &cell, column).then_some(())
}

/// The seconds and nanoseconds of a time or a duration, which may come in parts; of a field that comes twice the last holds.
#[derive(Clone, Copy, Default, Debug)]
pub struct Parts {
    seconds: i64,
    nanos: i32,
}

impl Parts {
    /// Reads a part of the message.
    pub fn read(&mut self, record: &[u8], part: Span, groups: &mut Vec<u32>) -> Read<()> {
        let mut wire = Wire::new(record, part);
        while !wire.is_done() {
            let tag = wire.tag()?;
            match (tag.number, tag.wire) {
                (1, WireType::Varint) => self.seconds = wire.varint()?.cast_signed(),
                #[expect(clippy::cast_possible_truncation, reason = "the lower half, as of every number of 32 bits")]
                (2, WireType::Varint) => self.nanos = (wire.varint()? as u32).cast_signed(),
                (1 | 2, _) => super::read::expect(tag, WireType::Varint)?,
                _ => drop(wire.skip(tag, groups)?),
            }
        }
        Ok(())
    }

    /// Adds the time or the duration.
    pub fn push(self, form: Form, spelling: &Spelling, column: &mut Column, at: usize) -> Read<()> {
        let Parts { seconds, nanos } = self;
        let is_one = text_of(form, seconds, nanos).is_some();
        let pushed = if is_one { push_parts(spelling, (seconds, nanos), column) } else { None };
        pushed.ok_or_else(|| {
            let error = Error::data(format!("{seconds} s and {nanos} ns came"));
            Failure::new(at, error.wanted(spelling.wanted()))
        })
    }
}

/// The text that the JSON form has for a message; none if it has none.
fn text_of(form: Form, seconds: i64, nanos: i32) -> Option<String> {
    if form == Form::Timestamp { timestamp(seconds, nanos) } else { duration(seconds, nanos) }
}

/// The seconds and nanoseconds of a value of a column.
fn parts_of(form: Form, spelling: &Spelling, column: &ColumnRef<'_>, row: usize) -> Read<(i64, i32)> {
    const EACH: i128 = 1_000_000_000;
    let all = spelled::with_cell(spelling, column, row, |cell| spelling.nanoseconds(cell)).unwrap_or_default();
    // The parts of a duration have one sign.
    let (seconds, nanos) =
        if form == Form::Timestamp { (all.div_euclid(EACH), all.rem_euclid(EACH)) } else { (all / EACH, all % EACH) };
    let parts = i64::try_from(seconds).ok().zip(i32::try_from(nanos).ok());
    parts.filter(|(seconds, nanos)| text_of(form, *seconds, *nanos).is_some()).ok_or_else(|| {
        let text = spelled::with_cell(spelling, column, row, |cell| spelling.show(cell));
        let error = Error::value(format!("{text} stands here"));
        let wanted = if form == Form::Timestamp { "a time of the years 1 to 9999" } else { "at most 10000 years" };
        Failure::new(0, error.wanted(wanted))
    })
}

/// Appends a value as its field holds it, with its length.
pub fn put(form: Form, spelling: &Spelling, column: &ColumnRef<'_>, row: usize, out: &mut Vec<u8>) -> Read<()> {
    put_sized(out, |out| {
        match form {
            Form::Text => {
                spelled::check(spelling, column, row)?;
                spelled::write(spelling, column, row, out);
            }
            Form::Bytes => out.extend_from_slice(spelled::bytes(spelling, column, row)),
            Form::Timestamp | Form::Duration => {
                let (seconds, nanos) = parts_of(form, spelling, column, row)?;
                for (number, value) in [(1, seconds), (2, nanos.into())] {
                    if value != 0 {
                        put_key(number, WireType::Varint, out);
                        put_varint(value.cast_unsigned(), out);
                    }
                }
            }
        }
        Ok(())
    })
}

/// Appends a value as the JSON form has it.
pub fn put_json(form: Form, spelling: &Spelling, column: &ColumnRef<'_>, row: usize, out: &mut Vec<u8>) -> Read<()> {
    match form {
        Form::Text => {
            spelled::check(spelling, column, row)?;
            out.push(b'"');
            spelled::write(spelling, column, row, out);
            out.push(b'"');
        }
        Form::Bytes => {
            out.push(b'"');
            base64::encode(spelled::bytes(spelling, column, row), out);
            out.push(b'"');
        }
        Form::Timestamp | Form::Duration => {
            let (seconds, nanos) = parts_of(form, spelling, column, row)?;
            write_string(text_of(form, seconds, nanos).unwrap_or_default().as_bytes(), out);
        }
    }
    Ok(())
}
