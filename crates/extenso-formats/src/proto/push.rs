//! What readers of messages add to columns, whatever the messages are written in.
//!
//! Invariant: a value that its column cannot hold is refused with the byte where it stands, and nothing is added for it.

use super::enums::Values;
use super::node::{Field, Rule};
use super::number::{Raw, misfit, push};
use crate::columns::{Column, Columns, RowVec, full};
use crate::failure::{Failure, Read};
use crate::plan::ColumnId;
use extenso_types::Error;

/// Adds a number.
pub fn push_number(columns: &mut Columns, column: Option<ColumnId>, raw: Raw, at: usize) -> Read<()> {
    match column.and_then(|id| columns.get_mut(id)) {
        Some(column) => push(column, raw).ok_or_else(|| misfit(raw, column, at)),
        None => Ok(()),
    }
}

/// Adds a number of an enum, as its name where the column has texts.
pub fn push_symbol(
    columns: &mut Columns,
    values: &Values,
    column: Option<ColumnId>,
    number: i32,
    at: usize,
) -> Read<()> {
    match column.and_then(|id| columns.get_mut(id)) {
        Some(Column::Text(texts)) => match values.name(number) {
            Some(name) => pushed(texts.push(name.as_bytes()), at),
            None => {
                let error = Error::data(format!("the number {number} came, which has no name"));
                Err(Failure::new(at, error.wanted("a value of the enum").hint("Read the enum as i32")))
            }
        },
        _ => push_number(columns, column, Raw::Signed(number.into()), at),
    }
}

/// Adds a row of so many items.
pub fn push_row(columns: &mut Columns, offsets: Option<ColumnId>, count: usize, at: usize) -> Read<()> {
    match offsets.and_then(|id| columns.get_mut(id)) {
        Some(Column::Offsets(offsets)) => row_pushed(offsets, count, at),
        _ => Ok(()),
    }
}

/// Adds whether a value is there.
pub fn push_validity(columns: &mut Columns, id: Option<ColumnId>, valid: bool) {
    if let Some(Column::Bits(bits)) = id.and_then(|id| columns.get_mut(id)) {
        bits.push(valid);
    }
}

/// Adds whether a union is there and which of its members, and says if that is all, because there is none.
pub fn push_union(
    columns: &mut Columns,
    union: &Field,
    tags: Option<ColumnId>,
    tag: Option<usize>,
    at: usize,
) -> Read<bool> {
    match union.rule {
        Rule::Maybe { validity } => push_validity(columns, validity, tag.is_some()),
        Rule::Row { offsets } => push_row(columns, offsets, usize::from(tag.is_some()), at)?,
        _ if tag.is_none() => return Err(missing(at)),
        Rule::One | Rule::Each { .. } | Rule::Exactly { .. } | Rule::Member | Rule::Rival => {}
    }
    match (tag.map(i64::try_from), union.rule) {
        (Some(tag), _) => push_number(columns, tags, Raw::Signed(tag.unwrap_or_default()), at)?,
        (None, Rule::Maybe { .. }) => fill(columns, &union.defaults, at)?,
        (None, _) => {}
    }
    Ok(tag.is_none())
}

/// Adds defaults.
pub fn fill(columns: &mut Columns, defaults: &[(ColumnId, usize)], at: usize) -> Read<()> {
    for (id, n) in defaults {
        let filled = columns.get_mut(*id).map_or(Ok(()), |column| column.push_defaults(*n));
        filled.map_err(|e| Failure::new(at, e))?;
    }
    Ok(())
}

/// The failure of an axis of another size.
#[cold]
pub fn wrong_size(came: usize, size: usize, at: usize) -> Box<Failure> {
    Failure::new(at, Error::data(format!("{came} values came")).wanted(format!("{size} values")))
}

/// The failure of a value that must be there.
#[cold]
pub fn missing(start: usize) -> Box<Failure> {
    let error = Error::data("the field is missing").wanted("a value");
    Failure::new(start, error.hint("Make the field a list or masked in the spec if messages may lack it"))
}

/// Adds a row of so many items.
pub fn row_pushed(rows: &mut RowVec, count: usize, at: usize) -> Read<()> {
    if rows.push_row(count) { Ok(()) } else { Err(Failure::new(at, rows.refusal(count))) }
}

/// Whether what was added could be counted.
pub fn pushed(fits: bool, at: usize) -> Read<()> {
    if fits {
        return Ok(());
    }
    Err(Failure::new(at, full()))
}
