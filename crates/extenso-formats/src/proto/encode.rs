//! Encoding: borrowed columns to messages.
//!
//! Invariant: fields come in the order of the plan, members of oneofs last; repeated numbers as the descriptor says (packed or not), and what a message of its own
//! may leave out (a default without presence) is left out; so the same columns give the same bytes. Nothing outside the columns is read.

use super::enums::Values;
use super::json::{Held, Known};
use super::meant::{self, Form};
use super::number::{Number, Raw};
use super::prepare::prepared;
use super::put::{integer, put_key, put_number, put_sized, put_varint};
use super::schema::MessageType;
use super::wire::WireType;
use crate::columns::{BitsRef, ColumnRef, OffsetsRef, TextRef, TextVec};
use crate::failure::{Failure, Read};
use crate::plan::Plan;
use extenso_core::side_by_side;
use extenso_ext::Spelling;
use extenso_types::{DType, Error, Result, Segment};
use std::ops::Range;
use std::sync::Arc;

/// Writes the records of the columns as messages of this type, in parts that follow each other and are written side by side.
///
/// Errors, each with its path: the plan (see [`Plan::kinds`]), and a plan that the message cannot hold; a column of another kind or too short;
/// with its row: a number that its field cannot hold, two values of a field that has one, two members of a oneof, an enum's name that
/// does not exist, an entry of a map without its key or value.
pub fn encode(
    message: &MessageType,
    plan: &Plan,
    columns: &[ColumnRef<'_>],
    parts: Vec<Range<usize>>,
) -> Result<TextVec> {
    let writer = prepared(message, plan, columns, 0..parts.last().map_or(0, |part| part.end))?;
    let written = side_by_side(parts, |part| texts(&writer, part, |_| true, put));
    TextVec::joined(written.into_iter().collect::<Result<_>>()?).map_err(|e| e.at("encode"))
}

/// The message of each of these rows, and an empty text for those that are not there.
///
/// Errors: as [`encode`].
pub(crate) fn encode_texts(
    message: &MessageType,
    plan: &Plan,
    columns: &[ColumnRef<'_>],
    rows: Range<usize>,
    is_there: impl Fn(usize) -> bool,
) -> Result<TextVec> {
    texts(&prepared(message, plan, columns, rows.clone())?, rows, is_there, put)
}

fn put(record: &Record<'_>, row: usize, out: &mut Vec<u8>) -> Result<()> {
    record.write(row, out).map_err(|failure| failure.of_row(row).at("encode"))
}

/// What `put` appends for each of these rows, and an empty text for those that are not there.
pub fn texts(
    writer: &Record<'_>,
    rows: Range<usize>,
    is_there: impl Fn(usize) -> bool,
    put: fn(&Record<'_>, usize, &mut Vec<u8>) -> Result<()>,
) -> Result<TextVec> {
    let (mut texts, mut bytes) = (TextVec::new(DType::I64)?, Vec::new());
    for row in rows {
        bytes.clear();
        if is_there(row) {
            put(writer, row, &mut bytes)?;
        }
        if !texts.push(&bytes) {
            return Err(Error::value("the messages are longer than offsets can count").at("encode"));
        }
    }
    Ok(texts)
}

/// A message, with the columns of its fields.
pub struct Record<'a> {
    pub fields: Vec<Field<'a>>,
    /// Whether it is an entry of a map, whose key and value are both there.
    pub entry: bool,
    /// The JSON form that it has of its own.
    pub known: Option<Known>,
    /// What an `Any` may hold.
    pub any: Option<Held>,
}

pub struct Field<'a> {
    pub name: Arc<str>,
    /// What stands before the value in JSON: `"name":`.
    pub key: Vec<u8>,
    pub number: u32,
    pub rule: Rule<'a>,
    /// Whether a default is written too.
    pub presence: bool,
    pub packed: bool,
    pub map: bool,
    /// The oneof that it belongs to.
    pub oneof: Option<usize>,
    /// The tags of the union that it is a type of, and its own.
    pub chosen: Option<(&'a [i8], i8)>,
    pub value: Value<'a>,
}

/// Which values of its column a row has.
#[derive(Clone, Copy)]
pub enum Rule<'a> {
    One,
    Maybe(Option<BitsRef<'a>>),
    Row(OffsetsRef<'a>),
    /// A list, which has no items where it is missing.
    Each(OffsetsRef<'a>, Option<BitsRef<'a>>),
    Exactly(usize, Option<BitsRef<'a>>),
}

pub enum Value<'a> {
    /// A number; with the values of its enum, if it is of one.
    Number(Number, ColumnRef<'a>, Option<Arc<Values>>),
    Name(Arc<Values>, TextRef<'a>),
    /// A text, which is a string or any bytes.
    Text(TextRef<'a>, bool),
    /// A time, a decimal or bytes of one width.
    Spelled(Form, Spelling, ColumnRef<'a>),
    Message(Record<'a>, bool),
    /// The message that an `Any` holds, and its URL.
    Held(Record<'a>, String),
}

impl Record<'_> {
    fn write(&self, row: usize, out: &mut Vec<u8>) -> Read<()> {
        self.each(row, |field, items| field.write(items, out))
    }

    /// Calls `f` with each field and the places of its values in a row.
    pub fn each(&self, row: usize, mut f: impl FnMut(&Field<'_>, Range<usize>) -> Read<()>) -> Read<()> {
        let mut taken: Option<(usize, &str)> = None;
        for field in &self.fields {
            let inside = |e: Box<Failure>| e.inside(Segment::Field(field.name.clone()));
            let items = field.items(row).map_err(inside)?;
            if self.entry && items.is_empty() {
                let error = Error::missing(format!("an entry has no {}", field.name));
                return Err(inside(Failure::new(0, error.wanted("a key and a value in each"))));
            }
            if let Some(oneof) = field.oneof.filter(|_| !items.is_empty()) {
                match taken {
                    Some((other, name)) if other == oneof => return Err(inside(both(name, oneof))),
                    _ => taken = Some((oneof, &field.name)),
                }
            }
            f(field, items).map_err(inside)?;
        }
        Ok(())
    }
}

impl Field<'_> {
    /// Whether it is repeated.
    pub fn repeats(&self) -> bool {
        matches!(self.rule, Rule::Each(..) | Rule::Exactly(..))
    }

    /// The places of the row's values.
    pub fn items(&self, row: usize) -> Read<Range<usize>> {
        let items = self.of_rule(row)?;
        Ok(match self.chosen {
            Some((tags, tag)) if tags.get(items.start) != Some(&tag) => items.start..items.start,
            _ => items,
        })
    }

    fn of_rule(&self, row: usize) -> Read<Range<usize>> {
        Ok(match &self.rule {
            Rule::One => row..row + 1,
            Rule::Maybe(Some(bits)) | Rule::Each(_, Some(bits)) | Rule::Exactly(_, Some(bits)) if !bits.get(row) => {
                row..row
            }
            Rule::Maybe(_) => row..row + 1,
            Rule::Each(offsets, _) => bounds(offsets, row),
            Rule::Exactly(size, _) => row * size..(row + 1) * size,
            Rule::Row(offsets) => {
                let items = bounds(offsets, row);
                if items.len() > 1 {
                    let error = Error::value(format!("{} values stand here", items.len()));
                    return Err(Failure::new(0, error.wanted("one at most, because the field is not repeated")));
                }
                items
            }
        })
    }

    fn write(&self, items: Range<usize>, out: &mut Vec<u8>) -> Read<()> {
        if let Value::Held(record, url) = &self.value {
            return items.into_iter().try_for_each(|i| put_held(record, url, i, out));
        }
        if self.packed && !items.is_empty() {
            put_key(self.number, WireType::Bytes, out);
            return put_sized(out, |out| {
                let write = |(n, i)| self.value.write(i, out).map_err(|e| e.inside(Segment::Index(n)));
                items.enumerate().try_for_each(write)
            });
        }
        for (n, i) in items.enumerate() {
            let before = out.len();
            put_key(self.number, self.value.wire(), out);
            let start = out.len();
            let written = self.value.write(i, out);
            written.map_err(|e| if matches!(self.rule, Rule::Each(..)) { e.inside(Segment::Index(n)) } else { e })?;
            if matches!(self.value, Value::Message(_, true)) {
                put_key(self.number, WireType::GroupEnd, out);
            }
            let is_default = !self.presence && out[start..].iter().all(|byte| *byte == 0);
            if is_default && !matches!(self.rule, Rule::Each(..) | Rule::Exactly(..)) {
                out.truncate(before);
            }
        }
        Ok(())
    }
}

impl Value<'_> {
    fn wire(&self) -> WireType {
        match self {
            Value::Number(number, ..) => number.wire(),
            Value::Name(..) => WireType::Varint,
            Value::Text(..) | Value::Spelled(..) | Value::Message(_, false) | Value::Held(..) => WireType::Bytes,
            Value::Message(_, true) => WireType::GroupStart,
        }
    }

    fn write(&self, i: usize, out: &mut Vec<u8>) -> Read<()> {
        match self {
            Value::Number(number, column, values) => {
                let raw = raw_at(column, i);
                values.as_ref().map_or(Ok(()), |values| listed(values, raw))?;
                raw.and_then(|raw| put_number(*number, raw, out)).ok_or_else(|| unfit(*number, raw))
            }
            Value::Name(values, text) => {
                put_varint(i64::from(number_of(values, text_at(text, i))?).cast_unsigned(), out);
                Ok(())
            }
            Value::Text(text, _) => {
                let text = text_at(text, i);
                put_sized(out, |out| {
                    out.extend_from_slice(text);
                    Ok(())
                })
            }
            Value::Spelled(form, spelling, column) => meant::put(*form, spelling, column, i, out),
            Value::Message(record, false) => put_sized(out, |out| record.write(i, out)),
            Value::Message(record, true) => record.write(i, out),
            Value::Held(record, url) => put_held(record, url, i, out),
        }
    }
}

/// What stands for the oneof of the messages of which an `Any` holds one.
pub const HELD: usize = usize::MAX - 1;

/// Appends what an `Any` has: the URL of a type, and a message.
fn put_held(record: &Record<'_>, url: &str, i: usize, out: &mut Vec<u8>) -> Read<()> {
    put_key(1, WireType::Bytes, out);
    put_sized(out, |out| {
        out.extend_from_slice(url.as_bytes());
        Ok(())
    })?;
    put_key(2, WireType::Bytes, out);
    put_sized(out, |out| record.write(i, out))
}

/// The number of a name of an enum.
pub fn number_of(values: &Values, name: &[u8]) -> Read<i32> {
    let name = String::from_utf8_lossy(name);
    values.number(&name).ok_or_else(|| {
        let error = Error::value(format!("the enum has no '{}'", name.chars().take(40).collect::<String>()));
        Failure::new(0, error.wanted("a name of the enum"))
    })
}

/// Checks that an enum may have a number, which readers would leave out otherwise.
pub fn listed(values: &Values, raw: Option<Raw>) -> Read<()> {
    match raw.and_then(integer::<i32>) {
        Some(number) if !values.has(number) => {
            let error = Error::value(format!("the number {number} stands here, which the closed enum does not have"));
            Err(Failure::new(0, error.wanted("a value of the enum")))
        }
        // What is too large is told of as every such number is.
        _ => Ok(()),
    }
}

/// The failure of a number that its field cannot hold.
#[cold]
pub fn unfit(number: Number, raw: Option<Raw>) -> Box<Failure> {
    let came = raw.map_or_else(|| "no number".to_string(), |raw| format!("the number {raw}"));
    let error = Error::value(format!("{came} stands here"));
    Failure::new(0, error.wanted(format!("one that fits {}", number.dtype())))
}

#[cold]
fn both(other: &str, oneof: usize) -> Box<Failure> {
    let what = if oneof == HELD { "message of an Any" } else { "member of a oneof" };
    let error = Error::value(format!("this {what} and '{other}' are both there"));
    Failure::new(0, error.wanted("one at most"))
}

pub fn bounds(offsets: &OffsetsRef<'_>, row: usize) -> Range<usize> {
    offsets.get(row).unwrap_or(0)..offsets.get(row + 1).unwrap_or(0)
}

pub fn text_at<'a>(text: &TextRef<'a>, i: usize) -> &'a [u8] {
    text.bytes.get(bounds(&text.offsets, i)).unwrap_or_default()
}

pub fn raw_at(column: &ColumnRef<'_>, i: usize) -> Option<Raw> {
    Some(match column {
        ColumnRef::Bits(bits) => Raw::Bool(bits.get(i)),
        ColumnRef::I8(numbers) => Raw::Signed((*numbers.get(i)?).into()),
        ColumnRef::I16(numbers) => Raw::Signed((*numbers.get(i)?).into()),
        ColumnRef::I32(numbers) => Raw::Signed((*numbers.get(i)?).into()),
        ColumnRef::I64(numbers) => Raw::Signed(*numbers.get(i)?),
        ColumnRef::U8(numbers) => Raw::Unsigned((*numbers.get(i)?).into()),
        ColumnRef::U16(numbers) => Raw::Unsigned((*numbers.get(i)?).into()),
        ColumnRef::U32(numbers) => Raw::Unsigned((*numbers.get(i)?).into()),
        ColumnRef::U64(numbers) => Raw::Unsigned(*numbers.get(i)?),
        ColumnRef::F32(numbers) => Raw::Float(*numbers.get(i)?),
        ColumnRef::F64(numbers) => Raw::Double(*numbers.get(i)?),
        ColumnRef::F16(numbers) => Raw::Float((*numbers.get(i)?).into()),
        ColumnRef::BF16(numbers) => Raw::Float((*numbers.get(i)?).into()),
        ColumnRef::Text(_) | ColumnRef::Offsets(_) => return None,
    })
}
