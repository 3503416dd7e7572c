//! Columns: the typed, growing buffers that readers of records fill and writers of records read.
//!
//! Invariant: between rows, every column holds whole elements only; offsets start at 0, never decrease, and the bits
//! behind the last one are zero. What a bad row wrote can be taken back.
//! Does not know what the columns mean together; that is the plan's.

mod bits;
mod borrowed;
mod join;
mod outcome;
mod rows;
mod text;

pub use bits::Bits;
pub use borrowed::{BitsRef, ColumnRef, OffsetsRef, TextRef};
pub use outcome::{BadRow, BadRows, Decoded, MAX_REPORTED, Misfits, OnError};
pub use rows::RowVec;
#[cfg(feature = "proto")]
pub(crate) use rows::full;
pub use text::{OffsetVec, SHORT, TextVec};

use crate::plan::ColumnId;
use bytemuck::Pod;
use extenso_core::kernels::pool::reserve;
use extenso_types::{DType, Error, Result};
use half::{bf16, f16};
use std::collections::TryReserveError;
use std::result::Result as StdResult;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnKind {
    /// One bit per element: booleans or validity.
    Bits,
    /// Numbers of this dtype.
    Number(DType),
    /// Strings or byte strings, with offsets of this dtype.
    Text(DType),
    /// Ends of rows, as offsets of this dtype, and how many items each row has if all have as many.
    Offsets(DType, Option<usize>),
}

/// One growing column.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)] // The variants' names are their meaning.
pub enum Column {
    Bits(Bits),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    F16(Vec<f16>),
    BF16(Vec<bf16>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Text(TextVec),
    Offsets(RowVec),
}

/// Applies one body to whatever buffer a column holds.
macro_rules! each {
    ($column:expr, $numbers:ident => $on_numbers:expr, $other:ident => $on_other:expr) => {
        match $column {
            Column::I8($numbers) => $on_numbers,
            Column::I16($numbers) => $on_numbers,
            Column::I32($numbers) => $on_numbers,
            Column::I64($numbers) => $on_numbers,
            Column::U8($numbers) => $on_numbers,
            Column::U16($numbers) => $on_numbers,
            Column::U32($numbers) => $on_numbers,
            Column::U64($numbers) => $on_numbers,
            Column::F16($numbers) => $on_numbers,
            Column::BF16($numbers) => $on_numbers,
            Column::F32($numbers) => $on_numbers,
            Column::F64($numbers) => $on_numbers,
            Column::Bits($other) => $on_other,
            Column::Text($other) => $on_other,
            Column::Offsets($other) => $on_other,
        }
    };
}

/// Room for so many elements, which are those of one record then and seldom have to move.
const SOME: usize = 32;

/// Room for some elements.
pub(super) fn some_room<T>() -> Vec<T> {
    Vec::with_capacity(SOME)
}

/// Adds `n` elements to a buffer; what grows doubles.
///
/// Errors: there is no memory for them.
pub(super) fn extend<T: Pod + Send>(
    all: &mut Vec<T>,
    n: usize,
    part: impl Iterator<Item = T>,
) -> StdResult<(), TryReserveError> {
    if all.capacity() - all.len() < n {
        reserve(all, n.max(all.len())).or_else(|_| reserve(all, n))?;
    }
    all.extend(part);
    Ok(())
}

impl Column {
    /// An empty column; a column of offsets begins with its zero.
    ///
    /// Errors: a number that is none, offsets other than i32 and i64.
    pub fn new(kind: ColumnKind) -> Result<Column> {
        Column::with_room(kind, SOME)
    }

    /// The same, with room for so many numbers.
    fn with_room(kind: ColumnKind, room: usize) -> Result<Column> {
        Ok(match kind {
            ColumnKind::Bits => Column::Bits(Bits::default()),
            ColumnKind::Text(index) => Column::Text(TextVec::new(index)?),
            ColumnKind::Offsets(index, size) => Column::Offsets(RowVec::new(index, size)?),
            ColumnKind::Number(dtype) => match dtype {
                DType::I8 => Column::I8(Vec::with_capacity(room)),
                DType::I16 => Column::I16(Vec::with_capacity(room)),
                DType::I32 => Column::I32(Vec::with_capacity(room)),
                DType::I64 => Column::I64(Vec::with_capacity(room)),
                DType::U8 => Column::U8(Vec::with_capacity(room)),
                DType::U16 => Column::U16(Vec::with_capacity(room)),
                DType::U32 => Column::U32(Vec::with_capacity(room)),
                DType::U64 => Column::U64(Vec::with_capacity(room)),
                DType::F16 => Column::F16(Vec::with_capacity(room)),
                DType::BF16 => Column::BF16(Vec::with_capacity(room)),
                DType::F32 => Column::F32(Vec::with_capacity(room)),
                DType::F64 => Column::F64(Vec::with_capacity(room)),
                DType::Bool | DType::String | DType::Bytes | DType::Variant => {
                    return Err(Error::dtype(format!("{dtype} is not the dtype of a number column")));
                }
            },
        })
    }

    /// How many elements (for offsets: rows) there are.
    pub fn len(&self) -> usize {
        each!(self, numbers => numbers.len(), other => other.len())
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Drops the elements from `len` on.
    pub fn truncate(&mut self, len: usize) {
        each!(self, numbers => numbers.truncate(len), other => other.truncate(len));
    }

    /// Adds `n` defaults: zeros, empty texts, empty rows.
    ///
    /// Errors: there is no memory for them.
    pub fn push_defaults(&mut self, n: usize) -> Result<()> {
        let no_memory = |_| Error::memory(format!("there is no memory for {n} default elements"));
        each!(self, numbers => {
            numbers.try_reserve(n).map(|()| numbers.resize(numbers.len() + n, Default::default())).map_err(no_memory)
        }, other => other.push_defaults(n).map_err(no_memory))
    }
}

/// The columns of one plan, by [`ColumnId`].
#[derive(Clone, PartialEq, Debug)]
pub struct Columns(Vec<Column>);

impl Columns {
    /// Empty columns of these kinds.
    ///
    /// Errors: see [`Column::new`].
    pub fn new(kinds: &[ColumnKind]) -> Result<Columns> {
        kinds.iter().map(|kind| Column::new(*kind)).collect::<Result<_>>().map(Columns)
    }

    /// The column of this id.
    pub fn get(&self, id: ColumnId) -> Option<&Column> {
        self.0.get(id.index())
    }

    /// The column of this id, to be filled.
    pub fn get_mut(&mut self, id: ColumnId) -> Option<&mut Column> {
        self.0.get_mut(id.index())
    }

    /// Adds whether a value is there, if there is a column for it.
    #[inline]
    pub fn push_validity(&mut self, id: Option<ColumnId>, valid: bool) {
        if let Some(Column::Bits(bits)) = id.and_then(|id| self.get_mut(id)) {
            bits.push(valid);
        }
    }

    /// Adds so many defaults to each of these columns.
    ///
    /// Errors: there is no memory for them.
    pub fn push_defaults(&mut self, defaults: &[(ColumnId, usize)]) -> Result<()> {
        defaults.iter().try_for_each(|(id, n)| self.get_mut(*id).map_or(Ok(()), |column| column.push_defaults(*n)))
    }

    /// All columns, in the order of their ids.
    pub fn as_slice(&self) -> &[Column] {
        &self.0
    }

    /// Gives the columns away, in the order of their ids.
    pub fn into_vec(self) -> Vec<Column> {
        self.0
    }

    /// Notes how long every column is.
    pub fn mark(&self, marks: &mut Vec<usize>) {
        marks.clear();
        marks.extend(self.0.iter().map(Column::len));
    }

    /// Takes back everything since [`Columns::mark`].
    pub fn roll_back(&mut self, marks: &[usize]) {
        self.0.iter_mut().zip(marks).for_each(|(column, len)| column.truncate(*len));
    }
}

/// The kinds of the columns of one plan, and how many elements each had of the records that were read last: so many have room in the
/// next columns at once.
#[derive(Debug)]
pub struct Kinds(Vec<(ColumnKind, AtomicUsize)>);

impl Kinds {
    /// No column gets more room: what comes after many records may be one.
    const MOST: usize = 1 << 11;

    /// Kinds of columns of which no more is known.
    pub fn new(kinds: Vec<ColumnKind>) -> Kinds {
        Kinds(kinds.into_iter().map(|kind| (kind, AtomicUsize::new(SOME))).collect())
    }

    /// Empty columns.
    ///
    /// Errors: see [`Column::new`].
    pub fn columns(&self) -> Result<Columns> {
        let mut columns = Vec::with_capacity(self.0.len());
        for (kind, room) in &self.0 {
            columns.push(Column::with_room(*kind, room.load(Ordering::Relaxed))?);
        }
        Ok(Columns(columns))
    }

    /// Notes how many elements these columns have. A thread that reads alike records writes nothing.
    pub fn note(&self, columns: &Columns) {
        for ((_, room), column) in self.0.iter().zip(&columns.0) {
            let wanted = column.len().next_power_of_two().clamp(SOME, Kinds::MOST);
            if room.load(Ordering::Relaxed) != wanted {
                room.store(wanted, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_roll_back_leaves_no_trace() {
        let kinds = [
            ColumnKind::Bits,
            ColumnKind::Number(DType::F16),
            ColumnKind::Text(DType::I32),
            ColumnKind::Offsets(DType::I64, None),
        ];
        let mut columns = Columns::new(&kinds).expect("kinds");
        columns.0.iter_mut().for_each(|c| c.push_defaults(3).expect("memory"));
        let (before, mut marks) = (columns.clone(), Vec::new());
        columns.mark(&mut marks);
        for column in &mut columns.0 {
            match column {
                Column::Bits(bits) => (0..9).for_each(|_| bits.push(true)),
                Column::Text(text) => assert!(text.push(b"abc")),
                Column::Offsets(offsets) => assert!(offsets.push_row(7)),
                other => other.push_defaults(2).expect("memory"),
            }
        }
        assert_ne!(columns, before);
        columns.roll_back(&marks);
        assert_eq!(columns, before);
    }

    #[test]
    fn the_next_columns_have_the_room_of_the_last_ones() {
        let kinds = Kinds::new(vec![ColumnKind::Number(DType::F32)]);
        let room = |columns: &Columns| match columns.as_slice() {
            [Column::F32(numbers)] => numbers.capacity(),
            other => panic!("{other:?}"),
        };
        for (n, wanted) in [(0, SOME), (100, 128), (3, SOME), (1 << 20, Kinds::MOST)] {
            let mut columns = kinds.columns().expect("kinds");
            columns.0.iter_mut().for_each(|column| column.push_defaults(n).expect("memory"));
            kinds.note(&columns);
            assert_eq!(room(&kinds.columns().expect("kinds")), wanted, "after {n}");
        }
    }

    #[test]
    fn numbers_are_numbers() {
        for dtype in DType::all() {
            assert_eq!(Column::new(ColumnKind::Number(dtype)).is_ok(), dtype.is_numeric(), "{dtype}");
        }
    }
}
