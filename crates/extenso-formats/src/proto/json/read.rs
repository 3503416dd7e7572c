//! Reading one message's JSON form into columns; the forms that some messages have of their own are `forms`'.
//!
//! Invariant: recursion follows the plan; what is read over is followed by a loop. Fields go into different columns, so they are written as
//! they come, and what did not come is filled in where the object ends. On a failure the columns are left as they are.

mod forms;

use super::known::integer;
use crate::columns::{Column, Columns};
use crate::failure::{Failure, Read};
use crate::json::{base64, named_float, number_end, skip};
use crate::plan::ColumnId;
use crate::proto::enums::Values;
use crate::proto::meant::{Form, push_json, wanted_of_json};
use crate::proto::node::{Field, Record, Rule, Value};
use crate::proto::number::{Number, Raw};
use crate::proto::push::{
    fill, missing, push_number, push_row, push_symbol, push_union, push_validity, pushed, wrong_size,
};
use extenso_core::kernels::decimal::Float;
use extenso_ext::Spelling;
use extenso_types::{Error, Segment};
use jiter::{Jiter, Peek};
use std::ops::Range;

/// Buffers that outlive a record.
#[derive(Clone, Default, Debug)]
pub struct Scratch {
    /// Where strings with escapes are decoded.
    tape: Vec<u8>,
    /// Where byte strings and paths are decoded.
    bytes: Vec<u8>,
    /// What came of each field of the messages that are open.
    came: Vec<Came>,
    /// The keys of the maps that are open, and where each stands.
    keys: Vec<u8>,
    spans: Vec<Range<usize>>,
}

/// What came of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Came {
    Nothing,
    Null,
    Value,
}

impl Scratch {
    /// Reads a text, which is UTF-8, to its end.
    pub fn read(&mut self, text: &[u8], root: &Record, columns: &mut Columns) -> Read<()> {
        self.came.clear();
        self.keys.clear();
        self.spans.clear();
        self.read_part(text, 0, root, columns)
    }

    /// Reads a part of a text that starts at this byte and is a value.
    fn read_part(&mut self, text: &[u8], start: usize, root: &Record, columns: &mut Columns) -> Read<()> {
        let part = text.get(start..).unwrap_or_default();
        let jiter = Jiter::with_tape(part, std::mem::take(&mut self.tape));
        let mut reader = Reader { text, part, start, jiter, columns, scratch: self };
        let read = reader.peek().and_then(|peek| reader.message(root, peek));
        let done = read.and_then(|()| Ok(reader.jiter.finish()?));
        let tape = reader.jiter.into_tape();
        self.tape = tape;
        done.map_err(|e| e.behind(start))
    }
}

/// One text being read.
struct Reader<'a, 'j> {
    /// The whole text, and the part that the parser sees, which starts at a byte.
    text: &'j [u8],
    part: &'j [u8],
    start: usize,
    jiter: Jiter<'j>,
    columns: &'a mut Columns,
    scratch: &'a mut Scratch,
}

impl Reader<'_, '_> {
    fn peek(&mut self) -> Read<Peek> {
        Ok(self.jiter.peek()?)
    }

    fn at(&self) -> usize {
        self.jiter.current_index()
    }

    #[cold]
    fn mismatch(&self, at: usize, wanted: impl Into<String>) -> Box<Failure> {
        Failure::mismatch(self.part, at, wanted)
    }

    /// Reads a message, and fills in what did not come.
    fn message(&mut self, record: &Record, peek: Peek) -> Read<()> {
        let (base, at) = (self.open(record), self.at());
        match record.known {
            Some(known) => self.known(known, record, base, peek)?,
            None => self.object(record, base, peek)?,
        }
        self.close(record, base, at)
    }

    fn open(&mut self, record: &Record) -> usize {
        let base = self.scratch.came.len();
        self.scratch.came.resize(base + record.fields.len(), Came::Nothing);
        base
    }

    fn object(&mut self, record: &Record, base: usize, peek: Peek) -> Read<()> {
        if peek != Peek::Object {
            return Err(self.mismatch(self.at(), "a message, which is an object"));
        }
        let (mut expected, mut key) = (0, self.jiter.known_object()?);
        while let Some(name) = key {
            match record.names.find(name.as_bytes(), expected) {
                Some(at) => {
                    expected = at + 1;
                    let place = record.names.list()[at].1;
                    let read = self.peek().and_then(|peek| self.field(record, place, base, peek));
                    read.map_err(|e| e.inside(Segment::Field(record.fields[place].name.clone())))?;
                }
                None => {
                    let peek = self.peek()?;
                    skip(&mut self.jiter, peek)?;
                }
            }
            key = self.jiter.next_key()?;
        }
        Ok(())
    }

    /// Reads the value of a field.
    fn field(&mut self, record: &Record, place: usize, base: usize, peek: Peek) -> Read<()> {
        let field = &record.fields[place];
        if self.scratch.came[base + place] != Came::Nothing {
            let error = Error::data("the field came a second time").wanted("each field once");
            return Err(Failure::new(self.at(), error));
        }
        if peek == Peek::Null && (field.rule.repeats() || !field.null) {
            self.scratch.came[base + place] = Came::Null;
            return Ok(self.jiter.known_null()?);
        }
        self.begin(record, place, base)?;
        match field.rule {
            Rule::Rival => skip(&mut self.jiter, peek),
            Rule::One | Rule::Maybe { .. } | Rule::Row { .. } | Rule::Member => self.value(&field.value, peek),
            Rule::Each { offsets } => {
                let at = self.at();
                let n = if field.map { self.entries(field, peek)? } else { self.items(field, peek)? };
                push_row(self.columns, offsets, n, at)
            }
            Rule::Exactly { size } => {
                let at = self.at();
                let n = if field.map { self.entries(field, peek)? } else { self.items(field, peek)? };
                if n == size { Ok(()) } else { Err(wrong_size(n, size, at)) }
            }
        }
    }

    /// Notes that a field has a value.
    fn begin(&mut self, record: &Record, place: usize, base: usize) -> Read<()> {
        let field = &record.fields[place];
        if field.rivals.iter().any(|rival| self.scratch.came[base + rival] == Came::Value) {
            let error = Error::data("another member of the oneof came before").wanted("one at most");
            return Err(Failure::new(self.at(), error));
        }
        self.scratch.came[base + place] = Came::Value;
        match field.rule {
            Rule::Maybe { validity } => {
                push_validity(self.columns, validity, true);
                Ok(())
            }
            Rule::Row { offsets } => push_row(self.columns, offsets, 1, self.jiter.current_index()),
            Rule::One | Rule::Each { .. } | Rule::Exactly { .. } | Rule::Member | Rule::Rival => Ok(()),
        }
    }

    fn value(&mut self, value: &Value, peek: Peek) -> Read<()> {
        match value {
            value if !value.is_needed() => skip(&mut self.jiter, peek),
            Value::Number { number, column } => self.number(*number, *column, peek),
            Value::Enum { values, column } => self.symbol(values, *column, peek),
            Value::Text { utf8, column } => self.text_value(*utf8, *column, peek),
            Value::Spelled { form, spelling, column } => self.spelled(*form, spelling, *column, peek),
            Value::Message { record: Some(record), .. } => self.message(record, peek),
            Value::Keyed(record) => {
                let (base, at) = (self.open(record), self.at());
                self.object(record, base, peek)?;
                self.close(record, base, at)
            }
            Value::Message { record: None, .. } | Value::Union { .. } | Value::Nothing => skip(&mut self.jiter, peek),
        }
    }

    /// Reads the items of a list, and says how many there are.
    fn items(&mut self, field: &Field, peek: Peek) -> Read<usize> {
        if peek != Peek::Array {
            return Err(self.mismatch(self.at(), "a list"));
        }
        let (mut next, mut n) = (self.jiter.known_array()?, 0);
        while let Some(peek) = next {
            let read = match peek {
                Peek::Null if !field.null => Err(self.mismatch(self.at(), "a value")),
                peek => self.value(&field.value, peek),
            };
            read.map_err(|e| e.inside(Segment::Index(n)))?;
            n += 1;
            next = self.jiter.array_step()?;
        }
        Ok(n)
    }

    /// Reads the entries of a map, which are the fields of an object, and says how many there are.
    fn entries(&mut self, field: &Field, peek: Peek) -> Read<usize> {
        if peek != Peek::Object {
            return Err(self.mismatch(self.at(), "a map, which is an object"));
        }
        let (first, keys, start) = (self.scratch.spans.len(), self.scratch.keys.len(), self.at());
        let mut key = self.jiter.known_object()?;
        while let Some(name) = key {
            let from = self.scratch.keys.len();
            self.scratch.keys.extend_from_slice(name.as_bytes());
            self.scratch.spans.push(from..self.scratch.keys.len());
            let n = self.scratch.spans.len() - first - 1;
            self.entry(field, from).map_err(|e| e.inside(Segment::Index(n)))?;
            key = self.jiter.next_key()?;
        }
        let n = self.scratch.spans.len() - first;
        self.refuse_twice(first, start)?;
        self.scratch.spans.truncate(first);
        self.scratch.keys.truncate(keys);
        Ok(n)
    }

    /// Reads the value of an entry, whose key is the last one, from this place on.
    fn entry(&mut self, field: &Field, from: usize) -> Read<()> {
        let (at, peek) = (self.at(), self.peek()?);
        let Value::Message { record: Some(record), .. } = &field.value else { return skip(&mut self.jiter, peek) };
        let (base, key, value) = (self.open(record), record.place("key"), record.place("value"));
        if let Some(place) = key {
            self.begin(record, place, base)?;
            self.key(&record.fields[place], from, at).map_err(|e| e.inside(Segment::field("key")))?;
        }
        let read = match value {
            Some(place) if peek == Peek::Null && !record.fields[place].null => Err(self.mismatch(self.at(), "a value")),
            Some(place) => self.field(record, place, base, peek),
            None => self.left_out(record, peek),
        };
        read.map_err(|e| e.inside(Segment::field("value")))?;
        self.close(record, base, at)
    }

    fn key(&mut self, field: &Field, from: usize, at: usize) -> Read<()> {
        let text = self.scratch.keys.get(from..).unwrap_or_default();
        let odd = |wanted: &str| {
            let shown = String::from_utf8_lossy(text).chars().take(40).collect::<String>();
            Failure::new(at, Error::data(format!("the key \"{shown}\" came")).wanted(wanted))
        };
        let number = match &field.value {
            Value::Text { column: Some(column), .. } => {
                let Some(Column::Text(texts)) = self.columns.get_mut(*column) else { return Ok(()) };
                return pushed(texts.push(text), at);
            }
            Value::Number { number, column } => (*number, *column),
            Value::Spelled { form, spelling, column } => {
                let text = std::str::from_utf8(text).unwrap_or_default();
                let column = self.columns.get_mut(*column);
                let pushed = column.and_then(|column| push_json(*form, spelling, text, &mut Vec::new(), column));
                return pushed.ok_or_else(|| odd(&wanted_of_json(*form, spelling)));
            }
            Value::Text { .. }
            | Value::Enum { .. }
            | Value::Message { .. }
            | Value::Keyed(_)
            | Value::Union { .. }
            | Value::Nothing => return Ok(()),
        };
        let raw = match (number.0, text) {
            (Number::Bool, b"true") => Some(Raw::Bool(true)),
            (Number::Bool, b"false") => Some(Raw::Bool(false)),
            // One spelling for each key: then it comes once, and a path finds it.
            (number, text) => {
                quoted(text).and_then(|text| whole(number, text)).filter(|raw| raw.to_string().as_bytes() == text)
            }
        };
        push_number(self.columns, number.1, raw.ok_or_else(|| odd(&wanted(number.0)))?, at)
    }

    /// Refuses two equal keys among those since `first`.
    fn refuse_twice(&mut self, first: usize, at: usize) -> Read<()> {
        let Scratch { keys, spans, .. } = &mut *self.scratch;
        let since = spans.get_mut(first..).unwrap_or_default();
        let key = |span: &Range<usize>| keys.get(span.clone()).unwrap_or_default();
        since.sort_unstable_by(|a, b| key(a).cmp(key(b)));
        match since.windows(2).find(|pair| key(&pair[0]) == key(&pair[1])) {
            None => Ok(()),
            Some(pair) => {
                let shown = String::from_utf8_lossy(key(&pair[0])).chars().take(40).collect::<String>();
                let error = Error::data(format!("the key \"{shown}\" came a second time")).wanted("each key once");
                Err(Failure::new(at, error))
            }
        }
    }

    /// Fills in what did not come of a message that starts at this byte.
    fn close(&mut self, record: &Record, base: usize, at: usize) -> Read<()> {
        for (place, field) in record.fields.iter().enumerate() {
            let ended = match &field.value {
                Value::Union { tags, members } => {
                    let at_place = |place: &usize| (&record.fields[*place], self.scratch.came[base + place]);
                    let members: Vec<(&Field, Came)> = members.iter().map(at_place).collect();
                    self.union(field, *tags, &members, at)
                }
                _ if self.scratch.came[base + place] == Came::Value => Ok(()),
                _ => self.absent(field, at),
            };
            ended.map_err(|e| e.inside(Segment::Field(field.name.clone())))?;
        }
        self.scratch.came.truncate(base);
        Ok(())
    }

    /// Says which member of a oneof came, and fills in the others.
    fn union(&mut self, union: &Field, tags: Option<ColumnId>, members: &[(&Field, Came)], at: usize) -> Read<()> {
        let tag = members.iter().position(|(_, came)| *came == Came::Value);
        if push_union(self.columns, union, tags, tag, at)? {
            return Ok(());
        }
        let others = members.iter().enumerate().filter(|(i, _)| Some(*i) != tag);
        others.into_iter().try_for_each(|(_, (member, _))| fill(self.columns, &member.defaults, at))
    }

    fn absent(&mut self, field: &Field, at: usize) -> Read<()> {
        let there = !field.presence;
        match field.rule {
            Rule::Member | Rule::Rival | Rule::Exactly { size: 0 } => return Ok(()),
            Rule::Each { offsets } => return push_row(self.columns, offsets, 0, at),
            Rule::Exactly { size } => return Err(wrong_size(0, size, at)),
            Rule::Maybe { validity } => push_validity(self.columns, validity, there),
            Rule::Row { offsets } => push_row(self.columns, offsets, usize::from(there), at)?,
            Rule::One if !there => return Err(missing(at)),
            Rule::One => {}
        }
        match &field.value {
            Value::Message { record: Some(record), .. } | Value::Keyed(record) if there => {
                let base = self.open(record);
                self.close(record, base, at)
            }
            Value::Enum { values, column } if there => push_symbol(self.columns, values, *column, values.default, at),
            _ if there || matches!(field.rule, Rule::Maybe { .. }) => fill(self.columns, &field.defaults, at),
            _ => Ok(()),
        }
    }

    fn number(&mut self, number: Number, column: Option<ColumnId>, peek: Peek) -> Read<()> {
        let at = self.at();
        let read = match (number, peek) {
            (Number::Bool, Peek::True | Peek::False) => Some(Raw::Bool(self.jiter.known_bool(peek)?)),
            (Number::Bool, _) => None,
            (number, Peek::String) => {
                let text = self.jiter.known_str()?;
                match number {
                    Number::Float => named_float(text).or_else(|| f32::parse(quoted(text.as_bytes())?)).map(Raw::Float),
                    Number::Double => {
                        named_float(text).or_else(|| f64::parse(quoted(text.as_bytes())?)).map(Raw::Double)
                    }
                    number => quoted(text.as_bytes()).and_then(|text| whole(number, text)),
                }
            }
            (number, peek) if starts_number(peek) => {
                let text = std::str::from_utf8(self.jiter.known_number_bytes(peek)?).unwrap_or_default();
                match number {
                    Number::Float => f32::parse(text).map(Raw::Float),
                    Number::Double => f64::parse(text).map(Raw::Double),
                    number => whole(number, text),
                }
            }
            _ => None,
        };
        let raw = read.ok_or_else(|| self.mismatch(at, wanted(number)))?;
        push_number(self.columns, column, raw, at)
    }

    fn symbol(&mut self, values: &Values, column: Option<ColumnId>, peek: Peek) -> Read<()> {
        let at = self.at();
        let number = match peek {
            Peek::Null => {
                self.jiter.known_null()?;
                values.is_null.then_some(0)
            }
            Peek::String => values.number(self.jiter.known_str()?),
            peek if starts_number(peek) => {
                let text = std::str::from_utf8(self.jiter.known_number_bytes(peek)?).unwrap_or_default();
                integer(text).and_then(|number| i32::try_from(number).ok()).filter(|number| values.has(*number))
            }
            _ => None,
        };
        let number = number.ok_or_else(|| self.mismatch(at, "a name or a number of the enum"))?;
        push_symbol(self.columns, values, column, number, at)
    }

    fn spelled(&mut self, form: Form, spelling: &Spelling, column: ColumnId, peek: Peek) -> Read<()> {
        let at = self.at();
        let wanted = || wanted_of_json(form, spelling);
        if peek != Peek::String {
            return Err(self.mismatch(at, wanted()));
        }
        let text = self.jiter.known_str()?;
        let column = self.columns.get_mut(column);
        let pushed = column.and_then(|column| push_json(form, spelling, text, &mut self.scratch.bytes, column));
        pushed.ok_or_else(|| Failure::mismatch(self.part, at, wanted()))
    }

    fn text_value(&mut self, utf8: bool, column: Option<ColumnId>, peek: Peek) -> Read<()> {
        let at = self.at();
        if peek != Peek::String {
            return Err(self.mismatch(at, if utf8 { "a string" } else { "a base64 string" }));
        }
        let text = self.jiter.known_str()?.as_bytes();
        let texts = match column.and_then(|id| self.columns.get_mut(id)) {
            Some(Column::Text(texts)) => Some(texts),
            _ => None,
        };
        if utf8 {
            return texts.map_or(Ok(()), |texts| pushed(texts.push(text), at));
        }
        self.scratch.bytes.clear();
        if !base64::decode(text, &mut self.scratch.bytes) {
            return Err(Failure::mismatch(self.part, at, "a base64 string"));
        }
        texts.map_or(Ok(()), |texts| pushed(texts.push(&self.scratch.bytes), at))
    }
}

/// A text that is a number of JSON.
fn quoted(text: &[u8]) -> Option<&str> {
    let whole = number_end(text, 0) == Some(text.len());
    whole.then(|| std::str::from_utf8(text).ok()).flatten()
}

/// A whole number that its kind can hold.
fn whole(number: Number, text: &str) -> Option<Raw> {
    let value = integer(text)?;
    match number {
        Number::Int32 | Number::Sint32 | Number::Sfixed32 => i32::try_from(value).ok().map(|v| Raw::Signed(v.into())),
        Number::Int64 | Number::Sint64 | Number::Sfixed64 => i64::try_from(value).ok().map(Raw::Signed),
        Number::Uint32 | Number::Fixed32 => u32::try_from(value).ok().map(|v| Raw::Unsigned(v.into())),
        Number::Uint64 | Number::Fixed64 => u64::try_from(value).ok().map(Raw::Unsigned),
        Number::Bool | Number::Float | Number::Double => None,
    }
}

#[cold]
fn wanted(number: Number) -> String {
    match number {
        Number::Bool => "true or false".into(),
        Number::Float | Number::Double => {
            format!("a number that fits {}, \"NaN\", \"Infinity\" or \"-Infinity\"", number.dtype())
        }
        number => format!("an integer that fits {}, or its text", number.dtype()),
    }
}

fn starts_number(peek: Peek) -> bool {
    matches!(peek.into_inner(), b'-' | b'0'..=b'9')
}
