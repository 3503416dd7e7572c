//! Lists of Python objects as lines of JSON.
//!
//! Invariant: what is written reads back as the same values; integers of any size are exact. Where floats stand that are no numbers is
//! known, because JSON has strings for them; and so is whether there are times, decimals or identifiers, whose texts a spec tells from strings.

use crate::error::{self, raised};
use crate::{arg, literal};
use extenso_ext::Literal;
use extenso_formats::json::write_string;
use extenso_types::{Error, Path, Segment};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::io::Write;
use std::ops::Range;

/// Deeper rows are refused by the reader too; this bounds the recursion here.
const MAX_DEPTH: usize = 200;

/// Python objects as lines of JSON.
pub struct Lines {
    pub text: Vec<u8>,
    /// Where the names of floats stand.
    named: Vec<Range<usize>>,
    /// Whether there are times, decimals or identifiers among them, which the text has as strings.
    pub meant: bool,
}

impl Lines {
    /// The lines with numbers of the same length in place of the names of floats, so that all floats are seen to be floats; none if there
    /// are no names.
    pub fn with_numbers(&self) -> Option<Vec<u8>> {
        let mut text = (!self.named.is_empty()).then(|| self.text.clone())?;
        for name in &self.named {
            text[name.clone()].fill(b'0');
            text[name.start + 1] = b'.';
        }
        Some(text)
    }
}

/// One line for each item of a list.
///
/// Errors, with the path: an object that JSON does not have; keys that are no strings; rows that nest too deep.
pub fn lines(rows: &Bound<'_, PyAny>) -> PyResult<Lines> {
    let mut writer = Writer { out: Vec::new(), named: Vec::new(), at: Vec::new(), meant: false };
    for (i, row) in rows.try_iter()?.enumerate() {
        let row = row?;
        // A text that begins with a list is the list of the records.
        if i == 0 && (row.is_instance_of::<PyList>() || row.is_instance_of::<PyTuple>()) {
            let error = Error::data(format!("a value of type {} came", arg::type_name(&row))).wanted("a record");
            return Err(raised(row.py(), error.at("row 0")));
        }
        writer.below(Segment::Index(i), &row)?;
        writer.out.push(b'\n');
    }
    Ok(Lines { text: writer.out, named: writer.named, meant: writer.meant })
}

struct Writer {
    out: Vec<u8>,
    named: Vec<Range<usize>>,
    at: Vec<Segment>,
    /// Whether there was a time, a decimal or an identifier.
    meant: bool,
}

impl Writer {
    fn below(&mut self, step: Segment, object: &Bound<'_, PyAny>) -> PyResult<()> {
        self.at.push(step);
        self.value(object)?;
        self.at.pop();
        Ok(())
    }

    fn value(&mut self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.at.len() > MAX_DEPTH {
            return Err(self.refuse(object, Error::value(format!("the row nests deeper than {MAX_DEPTH} levels"))));
        }
        if object.is_none() {
            self.out.extend_from_slice(b"null");
        } else if let Ok(v) = object.cast::<PyBool>() {
            self.out.extend_from_slice(if v.is_true() { b"true" } else { b"false" });
        } else if object.is_instance_of::<PyInt>() {
            self.integer(object)?;
        } else if object.is_instance_of::<PyFloat>() {
            self.float(object.extract()?);
        } else if let Ok(text) = object.cast::<PyString>() {
            self.string(text)?;
        } else if let Ok(dict) = object.cast::<PyDict>() {
            self.record(dict)?;
        } else if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            self.list(object)?;
        } else if let Some(meant) = self.meaning(object)? {
            self.meant = true;
            self.literal(&meant);
        } else if object.hasattr("tolist")? {
            return self.below(Segment::Itself, &object.call_method0("tolist")?);
        } else {
            let error = Error::dtype(format!("found a value of type {}", arg::type_name(object)));
            let wanted =
                "numbers, strings, booleans, times, decimals, UUIDs, None, and lists, tuples and dicts of these";
            let error = error.wanted(wanted);
            return Err(self.refuse(object, error.hint("Write bytes as base64 text")));
        }
        Ok(())
    }

    /// The text of a time, a decimal or an identifier, or those of an array of times; none of another object.
    fn meaning(&self, object: &Bound<'_, PyAny>) -> PyResult<Option<Literal>> {
        literal::meant(object).map_err(|e| {
            let path: Path = self.at.iter().cloned().collect();
            error::at(object.py(), e, &format!("source: row {path}"))
        })
    }

    fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Str(text) => write_string(text.as_bytes(), &mut self.out),
            Literal::List(items) => {
                self.out.push(b'[');
                for (i, item) in items.iter().enumerate() {
                    self.out.extend_from_slice(if i > 0 { b"," } else { b"" });
                    self.literal(item);
                }
                self.out.push(b']');
            }
            // Times have a text each, and what is missing has none.
            _ => self.out.extend_from_slice(b"null"),
        }
    }

    fn integer(&mut self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        // Writing to a vector does not fail.
        let _ = match object.extract::<i64>() {
            Ok(small) => write!(self.out, "{small}"),
            Err(_) => write!(self.out, "{}", object.call_method0("__int__")?.str()?.to_cow()?),
        };
        Ok(())
    }

    fn float(&mut self, value: f64) {
        let start = self.out.len();
        let _ = match value {
            v if v.is_nan() => write!(self.out, "\"NaN\""),
            f64::INFINITY => write!(self.out, "\"Infinity\""),
            f64::NEG_INFINITY => write!(self.out, "\"-Infinity\""),
            v => write!(self.out, "{v:?}"),
        };
        if !value.is_finite() {
            self.named.push(start..self.out.len());
        }
    }

    fn string(&mut self, text: &Bound<'_, PyString>) -> PyResult<()> {
        let utf8 = text.to_cow().map_err(|_| self.refuse(text, Error::data("the string has a lone surrogate")))?;
        write_string(utf8.as_bytes(), &mut self.out);
        Ok(())
    }

    fn list(&mut self, items: &Bound<'_, PyAny>) -> PyResult<()> {
        self.out.push(b'[');
        for (i, item) in items.try_iter()?.enumerate() {
            self.out.extend_from_slice(if i > 0 { b"," } else { b"" });
            self.below(Segment::Index(i), &item?)?;
        }
        self.out.push(b']');
        Ok(())
    }

    fn record(&mut self, dict: &Bound<'_, PyDict>) -> PyResult<()> {
        self.out.push(b'{');
        for (i, (key, item)) in dict.iter().enumerate() {
            let Ok(name) = key.cast::<PyString>() else {
                let error = Error::dtype(format!("a dict has a key of type {}", arg::type_name(&key)));
                return Err(self.refuse(&key, error.wanted("keys that are strings")));
            };
            self.out.extend_from_slice(if i > 0 { b"," } else { b"" });
            self.string(name)?;
            self.out.push(b':');
            self.below(Segment::field(&*name.to_cow()?), &item)?;
        }
        self.out.push(b'}');
        Ok(())
    }

    #[cold]
    fn refuse(&self, object: &Bound<'_, PyAny>, error: Error) -> PyErr {
        let path: Path = self.at.iter().cloned().collect();
        raised(object.py(), error.at(format!("row {path}")).at("source"))
    }
}
