//! Proofs that borrowed columns hold what a writer will read of them.
//!
//! Invariant: after a proof, no offset of its rows lies outside its target or cuts a character.

use crate::columns::{ColumnRef, OffsetsRef, TextRef};
use extenso_types::{Error, Path, Result, Segment};
use std::ops::Range;

/// How many elements a column has; offsets are counted where they are proven.
pub fn available(column: &ColumnRef<'_>) -> Option<usize> {
    match column {
        ColumnRef::Bits(bits) => Some(bits.available()),
        ColumnRef::I8(numbers) => Some(numbers.len()),
        ColumnRef::I16(numbers) => Some(numbers.len()),
        ColumnRef::I32(numbers) => Some(numbers.len()),
        ColumnRef::I64(numbers) => Some(numbers.len()),
        ColumnRef::U8(numbers) => Some(numbers.len()),
        ColumnRef::U16(numbers) => Some(numbers.len()),
        ColumnRef::U32(numbers) => Some(numbers.len()),
        ColumnRef::U64(numbers) => Some(numbers.len()),
        ColumnRef::F16(numbers) => Some(numbers.len()),
        ColumnRef::BF16(numbers) => Some(numbers.len()),
        ColumnRef::F32(numbers) => Some(numbers.len()),
        ColumnRef::F64(numbers) => Some(numbers.len()),
        ColumnRef::Text(_) | ColumnRef::Offsets(_) => None,
    }
}

/// Proves that the rows' offsets exist and never decrease, and gets the items that they cover.
pub fn prove_offsets(offsets: &OffsetsRef<'_>, rows: &Range<usize>, at: &[Segment]) -> Result<Range<usize>> {
    if rows.is_empty() {
        return Ok(0..0);
    }
    let get = |i: usize| offsets.get(i).ok_or_else(|| refuse(at, format!("offset {i} is missing or negative")));
    let start = get(rows.start)?;
    let mut end = start;
    for i in rows.start + 1..=rows.end {
        let next = get(i)?;
        if next < end {
            return Err(refuse(at, format!("offset {i} is {next}, the one before it {end}")));
        }
        end = next;
    }
    Ok(start..end)
}

/// Proves that the rows' texts lie inside the bytes and, for strings, that each is UTF-8.
pub fn prove_text(
    text: &TextRef<'_>,
    used: Range<usize>,
    rows: &Range<usize>,
    utf8: bool,
    at: &[Segment],
) -> Result<()> {
    let bytes = text
        .bytes
        .get(used.clone())
        .ok_or_else(|| refuse(at, format!("the offsets end at {}, the bytes at {}", used.end, text.bytes.len())))?;
    if !utf8 {
        return Ok(());
    }
    let whole = std::str::from_utf8(bytes).map_err(|e| refuse(at, format!("the strings are not UTF-8: {e}")))?;
    let cut = |i: &usize| text.offsets.get(*i).is_some_and(|end| !whole.is_char_boundary(end - used.start));
    match rows.clone().skip(1).find(cut) {
        Some(i) => Err(refuse(at, format!("offset {i} cuts a character"))),
        None => Ok(()),
    }
}

/// The error of a writer at this path.
pub fn refuse(at: &[Segment], what: impl Into<String>) -> Error {
    let path: Path = at.iter().cloned().collect();
    Error::value(what).at(if path.is_root() { "encode".into() } else { format!("encode: '{path}'") })
}
