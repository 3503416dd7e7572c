//! Times, decimals and bytes of one width in columns: integers of the width that their spelling says, those of bytes as so many bytes each.
//!
//! Invariant: a column of the spelling's dtype takes and gives whole integers.

use crate::columns::{Column, ColumnRef};
use crate::failure::{Failure, Read};
use extenso_core::kernels::pool::buffer;
use extenso_core::{ExtensionType, Tensor, Value};
use extenso_ext::{Cell, Spelling, TimeTensor};
use extenso_types::{DType, Error, Result};
use std::ops::Range;

/// How many elements of its column an integer has.
pub fn elements(spelling: &Spelling) -> usize {
    if spelling.dtype() == DType::U8 { spelling.width() } else { 1 }
}

/// Adds the integer of a text; whether there is one.
pub fn push(spelling: &Spelling, text: &str, column: &mut Column) -> bool {
    spelling.parse(text).is_some_and(|cell| push_cell(spelling, &cell, column))
}

/// Adds an integer; whether the column holds such.
pub fn push_cell(spelling: &Spelling, cell: &Cell, column: &mut Column) -> bool {
    let [a, b, c, d, e, f, g, h, ..] = *cell;
    match column {
        Column::I32(numbers) => numbers.push(i32::from_le_bytes([a, b, c, d])),
        Column::I64(numbers) => numbers.push(i64::from_le_bytes([a, b, c, d, e, f, g, h])),
        Column::U8(bytes) => bytes.extend_from_slice(&cell[..spelling.width()]),
        _ => return false,
    }
    true
}

/// Adds bytes that have no text of their own; whether there are as many as the spelling says.
pub fn push_bytes(spelling: &Spelling, bytes: &[u8], column: &mut Column) -> bool {
    match column {
        Column::U8(column) if bytes.len() == spelling.width() => column.extend_from_slice(bytes),
        _ => return false,
    }
    true
}

/// The integers of a column, under these axes.
///
/// Errors: another number of them.
pub fn tensor(spelling: &Spelling, dims: &[usize], column: Column) -> Result<Tensor> {
    match column {
        Column::I32(numbers) => Tensor::from_buffer(DType::I32, dims, buffer(numbers)),
        Column::I64(numbers) => Tensor::from_buffer(DType::I64, dims, buffer(numbers)),
        Column::U8(bytes) => {
            let dims: Vec<usize> = dims.iter().copied().chain([spelling.width()]).collect();
            Tensor::from_buffer(DType::U8, &dims, buffer(bytes))
        }
        _ => Err(Error::internal("a column of another kind")),
    }
}

/// Appends the text of an integer of a column: ASCII without quotes.
pub fn write(spelling: &Spelling, column: &ColumnRef<'_>, row: usize, out: &mut Vec<u8>) {
    with_cell(spelling, column, row, |cell| spelling.write(cell, out));
}

/// Checks that the text of an integer of a column is read again: a time of day is one of the day.
///
/// Errors: it is none.
pub fn check(spelling: &Spelling, column: &ColumnRef<'_>, row: usize) -> Read<()> {
    if !is_odd(spelling, column, &(row..row + 1)) {
        return Ok(());
    }
    let count = match column {
        ColumnRef::I32(numbers) => numbers.get(row).map(ToString::to_string),
        ColumnRef::I64(numbers) => numbers.get(row).map(ToString::to_string),
        _ => None,
    };
    let error = Error::value(format!("the time of day {} is outside of the day", count.unwrap_or_default()));
    Err(Failure::new(0, error.wanted(spelling.wanted())))
}

/// Whether some of these rows have a time of day that is none of the day.
pub fn is_odd(spelling: &Spelling, column: &ColumnRef<'_>, rows: &Range<usize>) -> bool {
    let Some(day) = day(spelling) else { return false };
    match column {
        ColumnRef::I32(numbers) => {
            numbers.get(rows.clone()).unwrap_or_default().iter().any(|count| !(0..day).contains(&i64::from(*count)))
        }
        ColumnRef::I64(numbers) => {
            numbers.get(rows.clone()).unwrap_or_default().iter().any(|count| !(0..day).contains(count))
        }
        _ => false,
    }
}

/// Whether a value has such a time, missing or not.
///
/// Errors: a type that refuses its own components.
pub fn has_odd(value: &Value) -> Result<bool> {
    let Value::Ext(ext) = value else { return Ok(false) };
    if let (Ok(time), Some(spelling)) = (TimeTensor::from_value(value), Spelling::of(&ext.spec()?)) {
        let counts = time.values();
        let column = match counts.dtype() {
            DType::I32 => ColumnRef::I32(counts.as_slice()?),
            _ => ColumnRef::I64(counts.as_slice()?),
        };
        return Ok(is_odd(&spelling, &column, &(0..counts.data()?.len())));
    }
    ext.components()?.iter().try_fold(false, |odd, part| Ok(odd || has_odd(part)?))
}

/// How many units a day has, of times of day; none of others.
fn day(spelling: &Spelling) -> Option<i64> {
    let [a, b, c, d, e, f, g, h, ..] =
        spelling.parse("00:00:01").filter(|_| spelling.is_time() && !spelling.is_duration())?;
    i64::from_le_bytes([a, b, c, d, e, f, g, h]).checked_mul(86_400)
}

/// What `f` makes of an integer of a column.
pub fn with_cell<R>(spelling: &Spelling, column: &ColumnRef<'_>, row: usize, f: impl FnOnce(&[u8]) -> R) -> R {
    match column {
        ColumnRef::I32(numbers) => f(&numbers[row].to_le_bytes()),
        ColumnRef::I64(numbers) => f(&numbers[row].to_le_bytes()),
        ColumnRef::U8(_) => f(bytes(spelling, column, row)),
        // The check has compared the kinds.
        _ => f(&Cell::default()),
    }
}

/// The bytes of a column that has so many for each row.
pub fn bytes<'a>(spelling: &Spelling, column: &ColumnRef<'a>, row: usize) -> &'a [u8] {
    let width = spelling.width();
    match column {
        ColumnRef::U8(bytes) => bytes.get(row * width..(row + 1) * width).unwrap_or_default(),
        _ => &[],
    }
}
