//! Proofs that borrowed columns hold what a writer will read of them.
//!
//! Invariant: after a proof, no offset of its rows lies outside its target or cuts a character.

use crate::columns::{BitsRef, ColumnKind, ColumnRef, OffsetsRef, TextRef};
use crate::plan::ColumnId;
use extenso_types::{Error, Path, Result, Segment};
use std::ops::Range;

/// Columns, and what a plan says that they are.
pub struct Proof<'c, 'a> {
    pub columns: &'c [ColumnRef<'a>],
    pub kinds: Vec<ColumnKind>,
}

impl<'a> Proof<'_, 'a> {
    /// The column of this id, which is of its kind and long enough.
    pub fn column(&self, id: ColumnId, rows: &Range<usize>, at: &[Segment]) -> Result<ColumnRef<'a>> {
        let (Some(column), Some(kind)) = (self.columns.get(id.index()), self.kinds.get(id.index())) else {
            let what = format!("column {} is wanted, {} columns came", id.0, self.columns.len());
            return Err(refuse(at, what));
        };
        // Writers read offsets of texts of either width, and rows of any length.
        let fits = match (column.kind(), *kind) {
            (ColumnKind::Text(_), ColumnKind::Text(_)) => true,
            (ColumnKind::Offsets(came, _), ColumnKind::Offsets(wanted, _)) => came == wanted,
            (came, wanted) => came == wanted,
        };
        if !fits {
            return Err(refuse(at, format!("a column of {:?} came", column.kind())).wanted(format!("{kind:?}")));
        }
        match available(column) {
            Some(n) if n < rows.end && !rows.is_empty() => {
                Err(refuse(at, format!("a column of {n} elements came")).wanted(format!("at least {}", rows.end)))
            }
            _ => Ok(*column),
        }
    }

    /// The bits of this id; none in a column of another kind.
    pub fn bits(&self, id: ColumnId, rows: &Range<usize>, at: &[Segment]) -> Result<Option<BitsRef<'a>>> {
        Ok(match self.column(id, rows, at)? {
            ColumnRef::Bits(bits) => Some(bits),
            _ => None,
        })
    }

    /// The texts of this id, which lie inside their bytes.
    pub fn text(&self, id: ColumnId, utf8: bool, rows: &Range<usize>, at: &[Segment]) -> Result<TextRef<'a>> {
        let ColumnRef::Text(text) = self.column(id, rows, at)? else {
            return Err(refuse(at, "the column holds no text"));
        };
        let used = prove_offsets(&text.offsets, rows, at)?;
        prove_text(&text, used, rows, utf8, at)?;
        Ok(text)
    }

    /// The offsets of a list, and the items that its rows cover.
    pub fn list(
        &self,
        id: Option<ColumnId>,
        rows: &Range<usize>,
        at: &[Segment],
    ) -> Result<(OffsetsRef<'a>, Range<usize>)> {
        let Some(id) = id else { return Err(refuse(at, "the list has no offsets")) };
        let ColumnRef::Offsets(offsets) = self.column(id, rows, at)? else {
            return Err(refuse(at, "the column holds no offsets"));
        };
        let items = prove_offsets(&offsets, rows, at)?;
        Ok((offsets, items))
    }
}

/// How many elements a column has; offsets are counted where they are proven.
fn available(column: &ColumnRef<'_>) -> Option<usize> {
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
fn prove_offsets(offsets: &OffsetsRef<'_>, rows: &Range<usize>, at: &[Segment]) -> Result<Range<usize>> {
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
fn prove_text(text: &TextRef<'_>, used: Range<usize>, rows: &Range<usize>, utf8: bool, at: &[Segment]) -> Result<()> {
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
