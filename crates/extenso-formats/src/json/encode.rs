//! Encoding: borrowed columns to NDJSON.
//!
//! Invariant: everything that can be wrong with the columns is found before the first byte is written, so writing
//! does not fail, and nothing outside the columns is read. What lies under a null is not written.

use super::base64;
use super::number;
use super::quick::plain_len;
use crate::columns::{BitsRef, ColumnRef, OffsetsRef, TextRef, TextVec};
use crate::failure::Read;
use crate::plan::{Field, Plan};
use crate::prove::{Proof, refuse};
use crate::spelled;
use extenso_core::kernels::pool::reserve;
use extenso_core::{in_order, threads, with_threads};
use extenso_ext::Spelling;
use extenso_types::{DType, Error, Result, Segment};
use std::io::{self, Write};
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex, PoisonError};

/// Appends the first `rows` records of the columns to `out`, each with a line end.
///
/// Columns of items are indexed by the offsets of their list, which may begin above zero. Fields that the plan skips
/// are left out; an absent value is written as `null`.
///
/// Errors, each with its path: the plan (see [`Plan::kinds`]); a column of another kind or too short; offsets that
/// decrease or point outside; strings that are not UTF-8; a list without its offsets; a skipped value that is no field; a time outside of the day.
///
/// ```text
/// id [1, 2], tags offsets [5, 7, 7] into texts  ->  {"id":1,"tags":["f","g"]}
///                                                   {"id":2,"tags":[]}
/// ```
pub fn encode_lines(plan: &Plan, columns: &[ColumnRef<'_>], rows: usize, out: &mut Vec<u8>) -> Result<()> {
    // One part, which has the rows from the first to the last.
    let parts = std::iter::once(0..rows).collect();
    out.append(&mut encode_parts(plan, columns, parts)?);
    Ok(())
}

/// The lines of rows, which are given in parts that follow each other; several parts are written side by side.
///
/// Errors: as [`encode_lines`].
pub(crate) fn encode_parts(plan: &Plan, columns: &[ColumnRef<'_>], parts: Vec<Range<usize>>) -> Result<Vec<u8>> {
    let (n, mut all) = (parts.len(), Vec::new());
    Lines::new(plan, columns, parts)?.put(|lines| {
        if all.is_empty() {
            // Without as much memory, it is asked for as it is needed.
            let _ = reserve(&mut all, lines.len().saturating_mul(n + n / 16));
        }
        all.extend_from_slice(lines);
        Ok(())
    })?;
    Ok(all)
}

/// Lines of rows that are ready to be written.
pub(crate) struct Lines<'a> {
    writer: Writer<'a>,
    parts: Vec<Range<usize>>,
}

impl<'a> Lines<'a> {
    /// The lines of rows, which are given in parts that follow each other.
    ///
    /// Errors: as [`encode_lines`].
    pub fn new(plan: &Plan, columns: &[ColumnRef<'a>], parts: Vec<Range<usize>>) -> Result<Lines<'a>> {
        let prepare = Prepare(Proof { columns, kinds: plan.kinds()? });
        let rows = 0..parts.last().map_or(0, |part| part.end);
        let writer = prepare.value(plan, rows.clone(), &mut Vec::new())?;
        writer.check(rows)?;
        Ok(Lines { writer, parts })
    }

    /// Gives the lines of each part to `put`, in order; they are made side by side.
    ///
    /// Errors: those of `put`.
    pub fn put(self, mut put: impl FnMut(&[u8]) -> io::Result<()> + Send) -> io::Result<()> {
        let Lines { writer, parts } = self;
        let (mut parts, mut done) = (parts.into_iter(), Ok(()));
        let spare: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());
        let room = || spare.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = |(part, mut out): (Range<usize>, Vec<u8>)| {
            out.clear();
            for row in part {
                writer.write(row, &mut out);
                out.push(b'\n');
            }
            out
        };
        let hand_on = |lines: Vec<u8>| {
            done = put(&lines);
            room().push(lines);
            if done.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        // What is little is not worth waking another thread for.
        let most = if parts.len() > 1 { threads() } else { 1 };
        with_threads(most, || in_order(|| Some((parts.next()?, room().pop().unwrap_or_default())), lines, hand_on));
        done
    }
}

/// Checks that the text of all that is written of rows is read again.
///
/// Errors: as [`encode_lines`]; a time outside of the day.
pub(crate) fn check_spelled(plan: &Plan, columns: &[ColumnRef<'_>], rows: usize) -> Result<()> {
    Prepare(Proof { columns, kinds: plan.kinds()? }).value(plan, 0..rows, &mut Vec::new())?.check(0..rows)
}

/// The text of each of these rows, and an empty one for those that are not there.
///
/// Errors: as [`encode_lines`]; more bytes than offsets count.
pub(crate) fn encode_texts(
    plan: &Plan,
    columns: &[ColumnRef<'_>],
    rows: Range<usize>,
    is_there: impl Fn(usize) -> bool,
) -> Result<TextVec> {
    let prepare = Prepare(Proof { columns, kinds: plan.kinds()? });
    let writer = prepare.value(plan, rows.clone(), &mut Vec::new())?;
    writer.check(rows.clone().filter(|row| is_there(*row)))?;
    let (mut texts, mut text) = (TextVec::new(DType::I64)?, Vec::new());
    for row in rows {
        text.clear();
        if is_there(row) {
            writer.write(row, &mut text);
        }
        if !texts.push(&text) {
            return Err(Error::value("the texts are longer than offsets can count").at("encode"));
        }
    }
    Ok(texts)
}

/// A plan with its columns, proven to hold what will be written.
enum Writer<'a> {
    Scalar(ColumnRef<'a>),
    /// Also whether there may be a value that no text says.
    Spelled(Spelling, ColumnRef<'a>, bool),
    String(TextRef<'a>),
    Bytes(TextRef<'a>),
    Optional {
        validity: Option<BitsRef<'a>>,
        inner: Box<Writer<'a>>,
    },
    List {
        offsets: OffsetsRef<'a>,
        item: Box<Writer<'a>>,
    },
    Fixed {
        size: usize,
        item: Box<Writer<'a>>,
    },
    /// The place of each value's type, and the values of the types.
    Union(&'a [i8], Vec<Writer<'a>>),
    /// Each field with its name, and the bytes before its value: `{"name":` or `,"name":`.
    Record(Vec<(Arc<str>, Vec<u8>, Writer<'a>)>),
}

impl Writer<'_> {
    fn write(&self, row: usize, out: &mut Vec<u8>) {
        match self {
            Writer::Scalar(column) => write_scalar(column, row, out),
            Writer::Spelled(spelling, column, _) if spelling.is_bytes() => {
                out.push(b'"');
                base64::encode(spelled::bytes(spelling, column, row), out);
                out.push(b'"');
            }
            Writer::Spelled(spelling, column, _) => {
                out.push(b'"');
                spelled::write(spelling, column, row, out);
                out.push(b'"');
            }
            Writer::String(text) => write_string(text_at(text, row), out),
            Writer::Bytes(text) => {
                out.push(b'"');
                base64::encode(text_at(text, row), out);
                out.push(b'"');
            }
            Writer::Optional { validity, inner } => match validity {
                Some(bits) if !bits.get(row) => out.extend_from_slice(b"null"),
                _ => inner.write(row, out),
            },
            Writer::List { offsets, item } => item.write_list(bounds(offsets, row), out),
            Writer::Fixed { size, item } => item.write_list(row * size..(row + 1) * size, out),
            Writer::Union(tags, types) => match usize::try_from(tags[row]).ok().and_then(|tag| types.get(tag)) {
                Some(of_type) => of_type.write(row, out),
                None => out.extend_from_slice(b"null"),
            },
            Writer::Record(fields) => {
                for (_, before, value) in fields {
                    out.extend_from_slice(before);
                    value.write(row, out);
                }
                out.extend_from_slice(if fields.is_empty() { b"{}" } else { b"}" });
            }
        }
    }

    /// Checks that all that is written of rows is read again.
    ///
    /// Errors: a value that no text says, with its row and path.
    fn check(&self, mut rows: impl Iterator<Item = usize>) -> Result<()> {
        if !self.may_be_odd() {
            return Ok(());
        }
        rows.try_for_each(|row| self.check_row(row).map_err(|failure| failure.of_row(row).at("encode")))
    }

    fn may_be_odd(&self) -> bool {
        match self {
            Writer::Scalar(_) | Writer::String(_) | Writer::Bytes(_) => false,
            Writer::Spelled(_, _, odd) => *odd,
            Writer::Optional { inner, .. } => inner.may_be_odd(),
            Writer::List { item, .. } | Writer::Fixed { item, .. } => item.may_be_odd(),
            Writer::Union(_, types) => types.iter().any(Writer::may_be_odd),
            Writer::Record(fields) => fields.iter().any(|(_, _, value)| value.may_be_odd()),
        }
    }

    fn check_row(&self, row: usize) -> Read<()> {
        let each = |item: &Writer<'_>, mut items: Range<usize>| {
            items.try_for_each(|i| item.check_row(i)).map_err(|e| e.inside(Segment::Each))
        };
        match self {
            Writer::Scalar(_) | Writer::String(_) | Writer::Bytes(_) => Ok(()),
            Writer::Spelled(spelling, column, _) => spelled::check(spelling, column, row),
            Writer::Optional { validity: Some(bits), .. } if !bits.get(row) => Ok(()),
            Writer::Optional { inner, .. } => inner.check_row(row),
            Writer::List { offsets, item } => each(item, bounds(offsets, row)),
            Writer::Fixed { size, item } => each(item, row * size..(row + 1) * size),
            Writer::Union(tags, types) => {
                let of_type = usize::try_from(tags[row]).ok().and_then(|tag| types.get(tag));
                of_type.map_or(Ok(()), |of_type| of_type.check_row(row))
            }
            Writer::Record(fields) => fields.iter().try_for_each(|(name, _, value)| {
                value.check_row(row).map_err(|e| e.inside(Segment::Field(name.clone())))
            }),
        }
    }

    fn write_list(&self, items: Range<usize>, out: &mut Vec<u8>) {
        out.push(b'[');
        match self {
            Writer::Scalar(column) => write_scalars(column, items, out),
            other => write_each(items, |i, out| other.write(i, out), out),
        }
        out.push(b']');
    }
}

fn bounds(offsets: &OffsetsRef<'_>, row: usize) -> Range<usize> {
    offsets.get(row).unwrap_or(0)..offsets.get(row + 1).unwrap_or(0)
}

fn text_at<'a>(text: &TextRef<'a>, row: usize) -> &'a [u8] {
    text.bytes.get(bounds(&text.offsets, row)).unwrap_or_default()
}

/// Appends the boolean or number at `row`; what is no number has its name in quotes.
pub fn write_scalar(column: &ColumnRef<'_>, row: usize, out: &mut Vec<u8>) {
    write_scalars(column, row..row + 1, out);
}

/// Appends the booleans or numbers of some rows, with commas between them.
fn write_scalars(column: &ColumnRef<'_>, rows: Range<usize>, out: &mut Vec<u8>) {
    match column {
        ColumnRef::Bits(bits) => {
            let word = |row: usize| if bits.get(row) { "true" } else { "false" };
            write_each(rows, |row, out| out.extend_from_slice(word(row).as_bytes()), out);
        }
        ColumnRef::I8(numbers) => write_each(&numbers[rows], |n, out| write_integer(*n, out), out),
        ColumnRef::I16(numbers) => write_each(&numbers[rows], |n, out| write_integer(*n, out), out),
        ColumnRef::I32(numbers) => write_each(&numbers[rows], |n, out| write_integer(*n, out), out),
        ColumnRef::I64(numbers) => write_each(&numbers[rows], |n, out| write_integer(*n, out), out),
        ColumnRef::U8(numbers) => write_each(&numbers[rows], |n, out| write_integer(*n, out), out),
        ColumnRef::U16(numbers) => write_each(&numbers[rows], |n, out| write_integer(*n, out), out),
        ColumnRef::U32(numbers) => write_each(&numbers[rows], |n, out| write_integer(*n, out), out),
        ColumnRef::U64(numbers) => write_each(&numbers[rows], |n, out| write_integer(*n, out), out),
        ColumnRef::F16(numbers) => write_each(&numbers[rows], |n, out| number::write(*n, out), out),
        ColumnRef::BF16(numbers) => write_each(&numbers[rows], |n, out| number::write(*n, out), out),
        ColumnRef::F32(numbers) => write_each(&numbers[rows], |n, out| number::write(*n, out), out),
        ColumnRef::F64(numbers) => write_each(&numbers[rows], |n, out| number::write(*n, out), out),
        // The check has compared the kinds.
        ColumnRef::Text(_) | ColumnRef::Offsets(_) => {}
    }
}

/// Appends items with commas between them.
#[inline(always)]
fn write_each<T>(items: impl IntoIterator<Item = T>, write: impl Fn(T, &mut Vec<u8>), out: &mut Vec<u8>) {
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write(item, out);
    }
}

fn write_integer(value: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a string of UTF-8 with its quotes and escapes.
pub fn write_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text;
    loop {
        let n = plain_len(rest);
        out.extend_from_slice(&rest[..n]);
        let Some(odd) = rest.get(n) else { break };
        match odd {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            control => {
                let _ = write!(out, "\\u{control:04x}");
            }
        }
        rest = &rest[n + 1..];
    }
    out.push(b'"');
}

/// The columns that a plan is brought together with.
struct Prepare<'c, 'a>(Proof<'c, 'a>);

impl<'a> Prepare<'_, 'a> {
    fn value(&self, plan: &Plan, rows: Range<usize>, at: &mut Vec<Segment>) -> Result<Writer<'a>> {
        Ok(match plan {
            Plan::Skip if at.is_empty() => return Err(refuse(at, "nothing of the value is a row")),
            Plan::Skip => return Err(refuse(at, "a skipped value that is no field cannot be left out")),
            Plan::Scalar { column, .. } => Writer::Scalar(self.0.column(*column, &rows, at)?),
            Plan::Spelled { spelling, column } => {
                let (of, n) = (&rows, spelled::elements(spelling));
                let (Some(start), Some(end)) = (of.start.checked_mul(n), of.end.checked_mul(n)) else {
                    return Err(refuse(at, "there are more bytes than can be counted"));
                };
                let column = self.0.column(*column, &(start..end), at)?;
                let odd = spelled::is_odd(spelling, &column, &(start..end));
                Writer::Spelled(spelling.clone(), column, odd)
            }
            Plan::Text { dtype: DType::String, column, .. } => Writer::String(self.0.text(*column, true, &rows, at)?),
            Plan::Text { column, .. } => Writer::Bytes(self.0.text(*column, false, &rows, at)?),
            Plan::Optional { validity, inner } => {
                let validity = validity.map(|id| self.0.bits(id, &rows, at)).transpose()?.flatten();
                Writer::Optional { validity, inner: Box::new(self.below(inner, rows, Segment::Itself, at)?) }
            }
            Plan::List { offsets, item, .. } => {
                let (offsets, items) = self.0.list(*offsets, &rows, at)?;
                Writer::List { offsets, item: Box::new(self.below(item, items, Segment::Each, at)?) }
            }
            Plan::Fixed { size, item } => {
                let (Some(start), Some(end)) = (rows.start.checked_mul(*size), rows.end.checked_mul(*size)) else {
                    return Err(refuse(at, "there are more items than can be counted"));
                };
                Writer::Fixed { size: *size, item: Box::new(self.below(item, start..end, Segment::Each, at)?) }
            }
            Plan::Union { tags, children } => {
                let tags = tags.map(|id| self.0.column(id, &rows, at)).transpose()?;
                let Some(ColumnRef::I8(tags)) = tags else { return Err(refuse(at, "the union has no tags")) };
                let child = |field: &Field| {
                    self.below(&field.plan, rows.clone(), Segment::Field(field.name.clone()), &mut at.clone())
                };
                Writer::Union(tags, children.iter().map(child).collect::<Result<_>>()?)
            }
            Plan::Record { fields } => {
                let mut writers = Vec::new();
                for Field { name, plan } in fields.iter().filter(|field| field.plan != Plan::Skip) {
                    let mut before = vec![if writers.is_empty() { b'{' } else { b',' }];
                    write_string(name.as_bytes(), &mut before);
                    before.push(b':');
                    writers.push((
                        name.clone(),
                        before,
                        self.below(plan, rows.clone(), Segment::Field(name.clone()), at)?,
                    ));
                }
                Writer::Record(writers)
            }
        })
    }

    fn below(&self, plan: &Plan, rows: Range<usize>, step: Segment, at: &mut Vec<Segment>) -> Result<Writer<'a>> {
        at.push(step);
        let writer = self.value(plan, rows, at)?;
        at.pop();
        Ok(writer)
    }
}
