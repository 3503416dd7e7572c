//! Writing: records as rows of cells.
//!
//! Invariant: everything that can be wrong with the columns is found before the first row is written, but for values that no cell says.

use super::name_of;
use super::table::check_delimiter;
use crate::columns::{BitsRef, ColumnRef, TextRef};
use crate::json::write_scalar;
use crate::parts;
use crate::plan::{ColumnId, Field, Plan};
use crate::prove::Proof;
use crate::run::Batch;
use crate::spelled;
use extenso_core::{Value, side_by_side};
use extenso_ext::Spelling;
use extenso_graph::save::archive::write_atomically;
use extenso_types::{DType, Error, Nest, Path, Result, Segment};
use std::ops::Range;

/// Writes a batch as a table: a row of names, then a row for each item of the outer axis. A nested field has its path as name, and so has
/// one whose own name would be read as a path.
///
/// What is missing is an empty cell; an empty string that could be missing is one in quotes.
/// Errors: a list, which CSV does not have; values, or parts of one, with another number of rows; an empty string in the only column, where
/// others may be missing: quotes around nothing are both.
///
/// ```
/// # use extenso_formats::csv::{CsvOptions, encode_csv, read_csv};
/// # use extenso_types::Nest;
/// let rows = extenso_formats::read_json(br#"{"id": 1, "user": {"name": "B, b", "age": null}}"#, &Default::default());
/// let text = encode_csv(&Nest::Leaf(rows.unwrap().value), b',').unwrap();
/// assert_eq!(text, b"id,user.name,user.age\n1,\"B, b\",\n");
/// ```
pub fn encode_csv(value: &Nest<Value>, delimiter: u8) -> Result<Vec<u8>> {
    encode_rows(value, delimiter, true)
}

/// [`encode_csv`] with the row of names or without it.
///
/// Errors: those of [`encode_csv`].
pub(crate) fn encode_rows(value: &Nest<Value>, delimiter: u8, names: bool) -> Result<Vec<u8>> {
    check_delimiter(delimiter)?;
    let Batch { records, leaves, rows } = Batch::of_text(value)?;
    let columns = records.columns(&leaves)?;
    let proof = Proof { columns: &columns, kinds: records.plan().kinds()? };
    let mut cells = Vec::new();
    gather(records.plan(), &Path::root(), &proof, &(0..rows), &mut Vec::new(), &mut cells)?;
    if cells.is_empty() {
        let error =
            Error::value("the records have no fields, and a line of nothing is no row").wanted("records with a field");
        return Err(error.hint("Write JSON"));
    }
    let mut out = Vec::new();
    // A line of nothing would be no row.
    let alone = cells.len() == 1;
    if names {
        for (i, cell) in cells.iter().enumerate() {
            put(cell.name.as_bytes(), alone, delimiter, i, &mut out);
        }
        out.push(b'\n');
    }
    let work = rows.saturating_mul(cells.len()).saturating_mul(CELL);
    let parts = side_by_side(parts::even(rows, work), |rows| lines(&cells, rows, delimiter));
    let parts = parts.into_iter().collect::<Result<Vec<_>>>()?;
    out.reserve_exact(parts.iter().map(Vec::len).sum());
    parts.iter().for_each(|part| out.extend_from_slice(part));
    Ok(out)
}

/// About how many bytes a cell has.
const CELL: usize = 12;

/// The lines of some rows.
fn lines(cells: &[Cell<'_>], rows: Range<usize>, delimiter: u8) -> Result<Vec<u8>> {
    let (mut out, mut text) = (Vec::with_capacity(rows.len().saturating_mul(cells.len() * CELL)), Vec::new());
    let alone = cells.len() == 1;
    // What is no text has no other characters.
    let plain = !(delimiter.is_ascii_alphanumeric() || matches!(delimiter, b'-' | b'+' | b'.' | b':' | b' '));
    for row in rows {
        for (i, cell) in cells.iter().enumerate() {
            if let Content::Scalar(column) = &cell.content
                && plain
                && !alone
            {
                out.extend((i > 0).then_some(delimiter));
                if cell.is_there(row) {
                    scalar(column, row, &mut out);
                }
                continue;
            }
            text.clear();
            let there = cell.write(row, &mut text);
            if alone && there && text.is_empty() && !cell.there.is_empty() {
                return Err(alike(row, &cell.name));
            }
            let quoted = alone || there && !cell.there.is_empty() && matches!(cell.content, Content::Text(_));
            put(&text, quoted, delimiter, i, &mut out);
        }
        out.push(b'\n');
    }
    Ok(out)
}

/// Appends a boolean or a number. JSON puts the names of floats that are no numbers into quotes.
fn scalar(column: &ColumnRef<'_>, row: usize, out: &mut Vec<u8>) {
    let start = out.len();
    write_scalar(column, row, out);
    if out.get(start) == Some(&b'"') {
        out.remove(start);
        out.pop();
    }
}

#[cold]
fn alike(row: usize, name: &str) -> Error {
    let error =
        Error::value(format!("row {row} of the only column '{name}' is an empty string, which is read as missing"));
    error.wanted("strings that are not empty, or another column").hint("Fill what is missing, or write JSON")
}

/// Appends the cell of this number in its row: in quotes where it has a delimiter, a quote or an end of line in it, and with `quoted` where it has
/// nothing in it (RFC 4180).
fn put(cell: &[u8], quoted: bool, delimiter: u8, number: usize, out: &mut Vec<u8>) {
    if number > 0 {
        out.push(delimiter);
    }
    // All bytes are looked at, as that is a few comparisons of many at once.
    let ends =
        |ends: bool, byte: &u8| ends | (*byte == delimiter) | (*byte == b'"') | (*byte == b'\n') | (*byte == b'\r');
    if !(cell.iter().fold(false, ends) || quoted && cell.is_empty()) {
        return out.extend_from_slice(cell);
    }
    out.push(b'"');
    for part in cell.split_inclusive(|byte| *byte == b'"') {
        out.extend_from_slice(part);
        if part.ends_with(b"\"") {
            out.push(b'"');
        }
    }
    out.push(b'"');
}

/// Writes a batch as a table into a file, which appears under its name whole or not at all.
///
/// Errors: those of [`encode_csv`]; what the operating system refuses.
pub fn write_csv(value: &Nest<Value>, delimiter: u8, path: impl AsRef<std::path::Path>) -> Result<()> {
    crate::source::plain_name(path.as_ref())?;
    let text = encode_csv(value, delimiter)?;
    write_atomically(path, &text).map_err(Error::from)
}

/// A column of the table.
struct Cell<'a> {
    name: String,
    /// The bits that say whether the cell is there.
    there: Vec<BitsRef<'a>>,
    content: Content<'a>,
}

enum Content<'a> {
    Scalar(ColumnRef<'a>),
    Text(TextRef<'a>),
    Spelled(Spelling, ColumnRef<'a>),
}

impl Cell<'_> {
    fn is_there(&self, row: usize) -> bool {
        self.there.iter().all(|bits| bits.get(row))
    }

    /// Appends the text of a row; whether it is there.
    fn write(&self, row: usize, out: &mut Vec<u8>) -> bool {
        if !self.is_there(row) {
            return false;
        }
        match &self.content {
            Content::Scalar(column) => scalar(column, row, out),
            Content::Spelled(spelling, column) if spelling.is_bytes() => {
                out.extend_from_slice(spelled::bytes(spelling, column, row));
            }
            Content::Spelled(spelling, column) => {
                spelled::write(spelling, column, row, out);
            }
            Content::Text(text) => {
                let place = |i: usize| text.offsets.get(i).unwrap_or(0);
                out.extend_from_slice(text.bytes.get(place(row)..place(row + 1)).unwrap_or_default());
            }
        }
        true
    }
}

fn gather<'a>(
    plan: &Plan,
    at: &Path,
    proof: &Proof<'_, 'a>,
    rows: &Range<usize>,
    there: &mut Vec<BitsRef<'a>>,
    out: &mut Vec<Cell<'a>>,
) -> Result<()> {
    let mut cell = |content: Content<'a>, there: &[BitsRef<'a>]| {
        let name = if at.is_root() { "value".to_string() } else { name_of(at) };
        out.push(Cell { name, there: there.to_vec(), content });
    };
    let column = |id: &ColumnId| proof.column(*id, rows, at.segments());
    match plan {
        Plan::Skip => {}
        Plan::Scalar { column: id, .. } => cell(Content::Scalar(column(id)?), there),
        Plan::Text { dtype, column: id, .. } => {
            cell(Content::Text(proof.text(*id, *dtype == DType::String, rows, at.segments())?), there);
        }
        Plan::Spelled { spelling, column: id } => {
            let n = spelled::elements(spelling);
            let bytes = rows.start.saturating_mul(n)..rows.end.saturating_mul(n);
            cell(Content::Spelled(spelling.clone(), proof.column(*id, &bytes, at.segments())?), there);
        }
        Plan::Optional { validity, inner } => {
            let bits = validity.map(|id| proof.bits(id, rows, at.segments())).transpose()?.flatten();
            let depth = there.len();
            there.extend(bits);
            gather(inner, at, proof, rows, there, out)?;
            there.truncate(depth);
        }
        Plan::Record { fields } => {
            for Field { name, plan } in fields {
                gather(plan, &at.child(Segment::Field(name.clone())), proof, rows, there, out)?;
            }
        }
        Plan::List { .. } | Plan::Fixed { .. } | Plan::Union { .. } => {
            let what = if matches!(plan, Plan::Union { .. }) { "union" } else { "list" };
            let error = Error::dtype(format!("'{at}' is a {what}, and CSV has none"));
            return Err(error.wanted("records of numbers, strings and booleans").hint("Write JSON or Parquet"));
        }
    }
    Ok(())
}
