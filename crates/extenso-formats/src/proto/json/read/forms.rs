//! Messages that have a JSON form of their own.
//!
//! Invariant: a form is read into the fields that the message has, as the wire form would; an `Any` is found by its type before it is read.

use super::{Came, Reader};
use crate::columns::Column;
use crate::failure::{Failure, Read};
use crate::json::skip;
use crate::proto::json::known::{Known, parse_duration, parse_mask, parse_timestamp};
use crate::proto::node::{Record, Rule, Value};
use crate::proto::number::Raw;
use crate::proto::push::{push_number, push_row, pushed, wrong_size};
use extenso_types::{Error, Segment};
use jiter::{Jiter, Peek};
use std::ops::Range;

impl Reader<'_, '_> {
    /// Reads a message that has a form of its own.
    pub(super) fn known(&mut self, known: Known, record: &Record, base: usize, peek: Peek) -> Read<()> {
        let member = match known {
            Known::Timestamp | Known::Duration => return self.time(known, record, base, peek),
            Known::FieldMask => return self.mask(record, base, peek),
            Known::Any => return self.any(record, base, peek),
            Known::Wrapper => "value",
            Known::Struct => "fields",
            Known::ListValue => "values",
            Known::Value => match peek {
                Peek::Null => "null_value",
                Peek::True | Peek::False => "bool_value",
                Peek::String => "string_value",
                Peek::Object => "struct_value",
                Peek::Array => "list_value",
                _ => "number_value",
            },
        };
        match record.place(member) {
            Some(place) if !record.ends || record.fields[place].value.is_needed() => {
                let read = self.field(record, place, base, peek);
                read.map_err(|e| e.inside(Segment::Field(record.fields[place].name.clone())))
            }
            _ => self.left_out(record, peek),
        }
    }

    /// Reads over a value that the record has no field for.
    ///
    /// Errors: the record has none because a depth ends it.
    pub(super) fn left_out(&mut self, record: &Record, peek: Peek) -> Read<()> {
        if record.ends {
            let error = Error::data("the value goes on beyond the depth").wanted("a value that ends within it");
            return Err(Failure::new(self.at(), error.hint("Give a larger `depth`, or the `paths` that are read")));
        }
        skip(&mut self.jiter, peek)
    }

    fn time(&mut self, known: Known, record: &Record, base: usize, peek: Peek) -> Read<()> {
        let at = self.at();
        let (parse, wanted): (fn(&str) -> _, _) = match known {
            Known::Timestamp => (parse_timestamp, "a time of RFC 3339 with a zone, such as \"2001-02-03T04:05:06Z\""),
            _ => (parse_duration, "a duration in seconds, such as \"1.5s\""),
        };
        let parsed = if peek == Peek::String { parse(self.jiter.known_str()?) } else { None };
        let (seconds, nanos) = parsed.ok_or_else(|| self.mismatch(at, wanted))?;
        for (name, number) in [("seconds", seconds), ("nanos", nanos.into())] {
            let Some(place) = record.place(name) else { continue };
            self.begin(record, place, base)?;
            push_number(self.columns, record.fields[place].value.column(), Raw::Signed(number), at)?;
        }
        Ok(())
    }

    fn mask(&mut self, record: &Record, base: usize, peek: Peek) -> Read<()> {
        let at = self.at();
        if peek != Peek::String {
            return Err(self.mismatch(at, "paths with commas between them"));
        }
        let text = self.jiter.known_str()?;
        let Some(place) = record.place("paths") else { return Ok(()) };
        self.scratch.came[base + place] = Came::Value;
        let field = &record.fields[place];
        let column = field.value.column();
        let mut n = 0;
        for path in text.split(',').filter(|_| !text.is_empty()) {
            self.scratch.bytes.clear();
            if !parse_mask(path, &mut self.scratch.bytes) {
                return Err(Failure::mismatch(self.part, at, "paths without underscores, none of them empty"));
            }
            if let Some(Column::Text(texts)) = column.and_then(|id| self.columns.get_mut(id)) {
                pushed(texts.push(&self.scratch.bytes), at)?;
            }
            n += 1;
        }
        match field.rule {
            Rule::Each { offsets } => push_row(self.columns, offsets, n, at),
            Rule::Exactly { size } if n != size => Err(wrong_size(n, size, at)),
            Rule::Exactly { .. } | Rule::One | Rule::Maybe { .. } | Rule::Row { .. } | Rule::Member | Rule::Rival => {
                Ok(())
            }
        }
    }

    /// Reads an `Any` by the message that it holds, of which it is read again.
    fn any(&mut self, record: &Record, base: usize, peek: Peek) -> Read<()> {
        let at = self.at();
        if peek != Peek::Object {
            return Err(self.mismatch(at, "an object with \"@type\""));
        }
        skip(&mut self.jiter, peek)?;
        let end = self.at();
        let text = self.text.get(..self.start + end).unwrap_or_default();
        let Some(url) = type_of(text.get(self.start + at..).unwrap_or_default()).map_err(|e| e.behind(at))? else {
            return Ok(());
        };
        let name = url.rsplit('/').next().unwrap_or_default();
        if let Some(place) = record.lookup.as_ref().and_then(|lookup| lookup.place(name)) {
            self.begin(record, place, base)?;
            if let Value::Message { record: Some(message), .. } = &record.fields[place].value {
                self.cast(text, self.start + at, message)?;
            }
        }
        if let Some(place) = record.place("type_url") {
            self.begin(record, place, base)?;
            if let Value::Text { column: Some(column), .. } = &record.fields[place].value
                && let Some(Column::Text(texts)) = self.columns.get_mut(*column)
            {
                pushed(texts.push(url.as_bytes()), at)?;
            }
        }
        let (Some(place), Some(held)) = (record.place("value"), &record.held) else { return Ok(()) };
        let object = text.get(self.start + at..).unwrap_or_default();
        let bytes = match held.has_a_form(&url).map_err(|e| e.behind(at))? {
            false => held.read(&url, object),
            true => match member(object, "value")?.and_then(|place| object.get(place)) {
                Some(form) => held.read(&url, form),
                None => Err(Failure::new(0, Error::data("the Any has no value").wanted("\"value\""))),
            },
        };
        let bytes = bytes.map_err(|e| e.behind(at))?;
        self.begin(record, place, base)?;
        if let Value::Text { column: Some(column), .. } = &record.fields[place].value
            && let Some(Column::Text(texts)) = self.columns.get_mut(*column)
        {
            pushed(texts.push(&bytes), at)?;
        }
        Ok(())
    }

    /// Reads the message of an `Any`, whose object starts at a byte: its fields, or what has a form of its own as `value`.
    fn cast(&mut self, text: &[u8], at: usize, message: &Record) -> Read<()> {
        let start = match message.known {
            None => at,
            Some(_) => match member(text.get(at..).unwrap_or_default(), "value")? {
                Some(place) => at + place.start,
                None => {
                    return Err(Failure::new(at - self.start, Error::data("the Any has no value").wanted("\"value\"")));
                }
            },
        };
        // What follows the message is the object around it, so the part ends where the message does.
        let end = match message.known {
            None => text.len(),
            Some(_) => member(text.get(at..).unwrap_or_default(), "value")?.map_or(text.len(), |place| at + place.end),
        };
        let part = text.get(..end).unwrap_or_default();
        let read = self.scratch.read_part(part, start, message, self.columns);
        read.map_err(|e| e.since(self.start))
    }
}

/// The URL of the type of an `Any`; none for an empty object.
fn type_of(object: &[u8]) -> Read<Option<String>> {
    let Some(place) = member(object, "@type")? else {
        let empty = Jiter::new(object).next_object().is_ok_and(|first| first.is_none());
        let error = Error::data("an Any came without a type").wanted("\"@type\"");
        return if empty { Ok(None) } else { Err(Failure::new(0, error)) };
    };
    let text = object.get(place).unwrap_or_default();
    Jiter::new(text)
        .next_str()
        .map(|url| Some(url.to_string()))
        .map_err(|_| Failure::mismatch(text, 0, "a URL of a type"))
}

/// Where the value of a key stands in an object.
///
/// Errors: the key came twice.
fn member(object: &[u8], wanted: &str) -> Read<Option<Range<usize>>> {
    let mut jiter = Jiter::new(object);
    let (mut key, mut place) = (jiter.next_object()?, None);
    while let Some(name) = key {
        let found = name == wanted;
        let peek = jiter.peek()?;
        let start = jiter.current_index();
        skip(&mut jiter, peek)?;
        if found && place.replace(start..jiter.current_index()).is_some() {
            let error = Error::data(format!("the key \"{wanted}\" came a second time")).wanted("each key once");
            return Err(Failure::new(start, error));
        }
        key = jiter.next_key()?;
    }
    Ok(place)
}
