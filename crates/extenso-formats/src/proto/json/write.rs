//! Writing the JSON form of messages.
//!
//! Invariant: what is written reads back as the same columns; what a message may leave out (a default without presence, an empty list) is
//! left out. What JSON cannot say is an error with its row.

use super::known::{Known, duration, mask, timestamp};
use crate::failure::{Failure, Read};
use crate::json::{base64, write_float, write_string};
use crate::proto::encode::{Field, Record, Value, listed, number_of, raw_at, text_at, unfit};
use crate::proto::meant::put_json;
use crate::proto::number::{Number, Raw};
use crate::proto::put::fitting;
use extenso_types::{Error, Segment};
use std::collections::HashSet;
use std::io::Write;
use std::ops::Range;

/// Appends the message of a row.
pub fn write(record: &Record<'_>, row: usize, out: &mut Vec<u8>) -> Read<()> {
    if let Some(known) = record.known {
        return known_message(known, record, row, out);
    }
    out.push(b'{');
    let start = out.len();
    record.each(row, |field, items| {
        if items.is_empty() || !field.presence && is_default(&field.value, items.start)? {
            return Ok(());
        }
        if out.len() > start {
            out.push(b',');
        }
        out.extend_from_slice(&field.key);
        self::field(field, items, out)
    })?;
    out.push(b'}');
    Ok(())
}

/// Appends the value of a field: of one that is repeated a list, of a map an object.
fn field(field: &Field<'_>, items: Range<usize>, out: &mut Vec<u8>) -> Read<()> {
    if field.map {
        return entries(field, items, out);
    }
    if !field.repeats() {
        return value(&field.value, items.start, out);
    }
    out.push(b'[');
    for (n, i) in items.enumerate() {
        if n > 0 {
            out.push(b',');
        }
        value(&field.value, i, out).map_err(|e| e.inside(Segment::Index(n)))?;
    }
    out.push(b']');
    Ok(())
}

fn entries(field: &Field<'_>, items: Range<usize>, out: &mut Vec<u8>) -> Read<()> {
    let Value::Message(entry, _) = &field.value else { return Ok(()) };
    let mut keys = HashSet::new();
    out.push(b'{');
    for (n, i) in items.enumerate() {
        let at = |e: Box<Failure>| e.inside(Segment::Index(n));
        if n > 0 {
            out.push(b',');
        }
        let start = out.len();
        key(entry, i, out).map_err(at)?;
        if !keys.insert(out[start..].to_vec()) {
            let error = Error::value("the key stands there a second time").wanted("each key once");
            return Err(at(Failure::new(0, error)));
        }
        out.push(b':');
        let (held, place) = part(entry, "value", i).map_err(at)?;
        value(&held.value, place, out).map_err(at)?;
    }
    out.push(b'}');
    Ok(())
}

/// The key or the value of an entry, and its place.
fn part<'r, 'a>(entry: &'r Record<'a>, name: &str, i: usize) -> Read<(&'r Field<'a>, usize)> {
    let held = entry.fields.iter().find(|field| *field.name == *name);
    let place = held.map(|field| field.items(i)).transpose()?.filter(|items| !items.is_empty());
    held.zip(place.map(|items| items.start)).ok_or_else(|| {
        Failure::new(0, Error::missing(format!("an entry has no {name}")).wanted("a key and a value in each"))
    })
}

fn key(entry: &Record<'_>, i: usize, out: &mut Vec<u8>) -> Read<()> {
    let (held, place) = part(entry, "key", i)?;
    match &held.value {
        Value::Number(number, column, _) => {
            let raw = raw_at(column, place);
            let fits = raw.and_then(|raw| fitting(*number, raw)).ok_or_else(|| unfit(*number, raw))?;
            put_quoted(fits, out);
            Ok(())
        }
        Value::Name(..) | Value::Text(..) | Value::Spelled(..) | Value::Message(..) | Value::Held(..) => {
            value(&held.value, place, out)
        }
    }
}

fn put_quoted(number: Raw, out: &mut Vec<u8>) {
    // Writing to a vector does not fail.
    let _ = write!(out, "\"{number}\"");
}

fn value(held: &Value<'_>, i: usize, out: &mut Vec<u8>) -> Read<()> {
    match held {
        Value::Number(number, column, values) => {
            let raw = raw_at(column, i);
            values.as_ref().map_or(Ok(()), |values| listed(values, raw))?;
            let fits = raw.and_then(|raw| fitting(*number, raw)).ok_or_else(|| unfit(*number, raw))?;
            let name = match (values, fits) {
                (Some(values), Raw::Signed(n)) => i32::try_from(n).ok().map(|n| (values.is_null, values.name(n))),
                _ => None,
            };
            match (name, number, fits) {
                (Some((true, _)), ..) => out.extend_from_slice(b"null"),
                (Some((false, Some(name))), ..) => write_string(name.as_bytes(), out),
                (_, _, Raw::Float(float)) => write_float(float, out),
                (_, _, Raw::Double(float)) => write_float(float, out),
                (_, Number::Int64 | Number::Sint64 | Number::Sfixed64 | Number::Uint64 | Number::Fixed64, fits) => {
                    put_quoted(fits, out);
                }
                (_, _, fits) => {
                    let _ = write!(out, "{fits}");
                }
            }
            Ok(())
        }
        Value::Name(values, text) => {
            let name = text_at(text, i);
            number_of(values, name)?;
            if values.is_null {
                out.extend_from_slice(b"null")
            } else {
                write_string(name, out)
            }
            Ok(())
        }
        Value::Text(text, true) => {
            write_string(text_at(text, i), out);
            Ok(())
        }
        Value::Text(text, false) => {
            out.push(b'"');
            base64::encode(text_at(text, i), out);
            out.push(b'"');
            Ok(())
        }
        Value::Spelled(form, spelling, column) => put_json(*form, spelling, column, i, out),
        Value::Message(record, _) => write(record, i, out),
        Value::Held(record, url) => any(record, url, i, out),
    }
}

/// Appends the message that an `Any` holds with the URL of its type: beside its fields, or beside what has a form of its own as `value`.
fn any(record: &Record<'_>, url: &str, i: usize, out: &mut Vec<u8>) -> Read<()> {
    out.extend_from_slice(b"{\"@type\":");
    write_string(url.as_bytes(), out);
    if record.known.is_some() {
        out.extend_from_slice(b",\"value\":");
        write(record, i, out)?;
        out.push(b'}');
        return Ok(());
    }
    let at = out.len();
    write(record, i, out)?;
    if out.get(at + 1) == Some(&b'}') {
        out.remove(at);
    } else {
        out[at] = b',';
    }
    Ok(())
}

/// Whether a value is what a field without presence has when nothing came.
fn is_default(held: &Value<'_>, i: usize) -> Read<bool> {
    Ok(match held {
        Value::Number(_, column, _) => match raw_at(column, i) {
            Some(Raw::Bool(value)) => !value,
            Some(Raw::Signed(value)) => value == 0,
            Some(Raw::Unsigned(value)) => value == 0,
            Some(Raw::Float(value)) => value.to_bits() == 0,
            Some(Raw::Double(value)) => value.to_bits() == 0,
            None => false,
        },
        Value::Name(values, text) => number_of(values, text_at(text, i))? == 0,
        Value::Text(text, _) => text_at(text, i).is_empty(),
        Value::Spelled(..) | Value::Message(..) | Value::Held(..) => false,
    })
}

/// Appends a message that has a form of its own.
fn known_message(known: Known, record: &Record<'_>, row: usize, out: &mut Vec<u8>) -> Read<()> {
    match known {
        Known::Timestamp | Known::Duration => {
            let (seconds, nanos) = (integer(record, "seconds", row)?, integer(record, "nanos", row)?);
            let nanos_fit = i32::try_from(nanos).ok();
            let text = nanos_fit.and_then(|nanos| {
                if known == Known::Timestamp { timestamp(seconds, nanos) } else { duration(seconds, nanos) }
            });
            let text =
                text.ok_or_else(|| refuse(format!("{seconds} s and {nanos} ns stand here"), "what JSON can write"))?;
            write_string(text.as_bytes(), out);
            Ok(())
        }
        Known::FieldMask => paths(record, row, out),
        Known::Wrapper => match single(record, "value", row)? {
            Some((field, i)) => value(&field.value, i, out),
            None => Err(refuse("the value of a wrapper is not given".into(), "the field 'value'")),
        },
        Known::Struct | Known::ListValue => {
            let name = if known == Known::Struct { "fields" } else { "values" };
            match record.fields.iter().find(|field| *field.name == *name) {
                Some(field) => self::field(field, field.items(row)?, out),
                None => {
                    out.extend_from_slice(if known == Known::Struct { b"{}" } else { b"[]" });
                    Ok(())
                }
            }
        }
        Known::Value => any_value(record, row, out),
        Known::Any => {
            let (at, mut url, mut bytes) = (out.len(), Vec::new(), Vec::new());
            record.each(row, |field, items| {
                match &field.value {
                    _ if items.is_empty() => {}
                    Value::Held(..) => value(&field.value, items.start, out)?,
                    Value::Text(text, _) if *field.name == *"type_url" => url = text_at(text, items.start).to_vec(),
                    Value::Text(text, _) if *field.name == *"value" => bytes = text_at(text, items.start).to_vec(),
                    _ => {}
                }
                Ok(())
            })?;
            let url = String::from_utf8_lossy(&url);
            match &record.any {
                _ if out.len() > at => Ok(()),
                Some(held) if !url.is_empty() => held.write(&url, &bytes, out),
                _ if bytes.is_empty() => {
                    out.extend_from_slice(b"{}");
                    Ok(())
                }
                _ => Err(refuse("the bytes of an Any stand here".into(), "the name of their message, `type_url`")),
            }
        }
    }
}

/// Appends whatever value a `Value` holds; null if it holds none.
fn any_value(record: &Record<'_>, row: usize, out: &mut Vec<u8>) -> Read<()> {
    let start = out.len();
    record.each(row, |field, items| {
        if items.is_empty() {
            return Ok(());
        }
        if let Value::Number(_, column, _) = &field.value
            && let Some(Raw::Double(number)) = raw_at(column, items.start)
            && !number.is_finite()
        {
            return Err(refuse(
                format!("{number} stands here"),
                "a finite number, which alone is one where any value may be",
            ));
        }
        value(&field.value, items.start, out)
    })?;
    if out.len() == start {
        out.extend_from_slice(b"null");
    }
    Ok(())
}

fn paths(record: &Record<'_>, row: usize, out: &mut Vec<u8>) -> Read<()> {
    out.push(b'"');
    let (mut text, mut n) = (Vec::new(), 0);
    record.each(row, |field, items| {
        let Value::Text(paths, _) = &field.value else { return Ok(()) };
        for i in items {
            if n > 0 {
                text.push(b',');
            }
            let path = text_at(paths, i);
            let fits = if path.is_empty() { None } else { mask(path, &mut text) };
            fits.ok_or_else(|| {
                let shown = String::from_utf8_lossy(path).chars().take(40).collect::<String>();
                refuse(format!("the path '{shown}' stands here"), "names that JSON can write, such as foo_bar.baz")
            })?;
            n += 1;
        }
        Ok(())
    })?;
    let mut quoted = Vec::new();
    write_string(&text, &mut quoted);
    out.extend_from_slice(&quoted[1..]);
    Ok(())
}

/// A field that a row has once, and the place of its value.
fn single<'r, 'a>(record: &'r Record<'a>, name: &str, row: usize) -> Read<Option<(&'r Field<'a>, usize)>> {
    let Some(field) = record.fields.iter().find(|field| *field.name == *name) else { return Ok(None) };
    let items = field.items(row)?;
    Ok((!items.is_empty()).then_some((field, items.start)))
}

/// A whole number of a row, zero if there is none.
fn integer(record: &Record<'_>, name: &str, row: usize) -> Read<i64> {
    let Some((Field { value: Value::Number(number, column, _), .. }, i)) = single(record, name, row)? else {
        return Ok(0);
    };
    let raw = raw_at(column, i);
    match raw.and_then(|raw| fitting(*number, raw)) {
        Some(Raw::Signed(value)) => Ok(value),
        _ => Err(unfit(*number, raw)),
    }
}

#[cold]
fn refuse(what: String, wanted: &str) -> Box<Failure> {
    Failure::new(0, Error::value(what).wanted(wanted))
}
