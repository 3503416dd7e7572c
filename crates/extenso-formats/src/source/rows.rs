//! Rows that come as Arrow arrays, as the leaves that a function needs of its argument: block by block, or all.
//!
//! Invariant: one array is held. An array has its function's argument as records, in their columns, or in its only column, or is it.

use super::{Block, Blocks};
#[cfg(feature = "parquet")]
use crate::arrow::field_of;
use crate::arrow::whole_of;
use crate::columns::{BadRow, BadRows, OnError};
use crate::needs::{Needs, named};
use crate::policy::{field_rows, only_column};
use crate::run::{Rows, run_leaves};
#[cfg(feature = "parquet")]
use arrow_array::StructArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, FieldRef, Fields};
use extenso_core::Value;
use extenso_graph::Concrete;
use extenso_types::{Nest, Path, Result};
#[cfg(feature = "parquet")]
use std::sync::Arc;

/// Some rows of a source, as an array with its field.
pub struct Piece {
    pub field: FieldRef,
    pub rows: ArrayRef,
    /// Those that are known not to fit, and hold defaults.
    pub bad: Vec<BadRow>,
}

#[cfg(feature = "parquet")]
impl Piece {
    /// Records, which have no name and are all there.
    pub fn of_records(rows: StructArray) -> Piece {
        Piece { field: field_of(&rows), rows: Arc::new(rows), bad: Vec::new() }
    }
}

/// Rows as arrays, one after another.
pub trait Pieces: Send {
    /// The next rows; none at the end.
    ///
    /// Errors: malformed bytes.
    fn next(&mut self) -> Result<Option<Piece>>;

    /// No rows.
    ///
    /// Errors: none that a source has which was opened.
    fn none(&mut self) -> Result<Piece>;

    /// How many bytes were read, behind so many rows.
    fn bytes(&self, rows: usize) -> u64;
}

/// What a function needs of rows, and how they hold it.
pub struct Taken {
    needs: Needs,
    /// Whether the only column is the argument, and not a field of it.
    column: bool,
    on_error: OnError,
}

impl Taken {
    /// What a function needs, of rows that have these columns, or are the argument themselves if there are none.
    ///
    /// Errors: an argument that no record can express; several columns, for one that is no record.
    pub fn new(needs: Needs, columns: Option<&Fields>, on_error: OnError) -> Result<Taken> {
        let column = columns.map_or(Ok(false), |columns| needs.in_column(&named(columns)))?;
        Ok(Taken { needs, column, on_error })
    }

    /// Whether the only column is the argument.
    #[cfg(feature = "parquet")]
    pub fn is_column(&self) -> bool {
        self.column
    }

    /// The blocks of a source, whose columns are looked at before a row is read.
    ///
    /// Errors: columns that are missing or of another type.
    pub fn blocks<P: Pieces>(self, mut pieces: P) -> Result<PieceBlocks<P>> {
        self.check(&pieces.none()?)?;
        Ok(PieceBlocks { pieces, taken: self, row: 0, given: false })
    }

    /// Checks that what is needed is there, in rows that are none.
    ///
    /// Errors: columns that are missing or of another type.
    pub fn check(&self, none: &Piece) -> Result<()> {
        self.value(none, 0, OnError::Raise).map(drop)
    }

    /// The needed part of the argument, of rows of which the first has the number `start`; none if nothing is needed.
    fn value(&self, piece: &Piece, start: usize, on_error: OnError) -> Result<Option<(Value, BadRows)>> {
        let Some(spec) = &self.needs.spec else { return Ok(None) };
        let only = if self.column { Some(only_column(&piece.rows)?) } else { None };
        let (field, rows) = only.as_ref().map_or((&piece.field, &piece.rows), |(field, rows)| (field, rows));
        field_rows(field, rows, start, piece.bad.clone(), on_error, spec).map(Some)
    }

    fn leaves(&self, value: Option<Value>) -> Result<Vec<Option<Value>>> {
        let Some(value) = value else { return Ok(self.needs.none()) };
        let mut found = Vec::with_capacity(self.needs.places.len());
        value.push_leaves(&mut found)?;
        self.needs.leaves(found)
    }

    /// Runs a function on all rows of a source; of each array, no more is held than what the function needs.
    ///
    /// Errors: columns that are missing or of another type; rows that do not fit, under the policy that raises; those of the ops.
    pub fn run(
        self,
        function: &Concrete,
        mut pieces: impl Pieces,
        visited: Vec<(Path, usize)>,
    ) -> Result<Rows<Nest<Value>>> {
        let none = pieces.none()?;
        self.check(&none)?;
        let (mut values, mut bad, mut row) = (Vec::new(), BadRows::default(), 0);
        while let Some(piece) = pieces.next()? {
            if let Some((value, faults)) = self.value(&piece, row, self.on_error)? {
                bad.add(&faults);
                values.push(value);
            }
            row += piece.rows.len();
        }
        if values.is_empty() {
            values.extend(self.value(&none, 0, self.on_error)?.map(|(value, _)| value));
        }
        let value = self.needs.spec.as_ref().map(|spec| whole_of(values, spec)).transpose()?;
        Ok(Rows { value: run_leaves(function, &self.leaves(value)?)?, bad, visited })
    }
}

/// A block for each array.
pub struct PieceBlocks<P> {
    pieces: P,
    taken: Taken,
    row: usize,
    given: bool,
}

impl<P: Pieces> Blocks for PieceBlocks<P> {
    fn next(&mut self) -> Result<Option<Block>> {
        let piece = match self.pieces.next()? {
            Some(piece) => piece,
            // Without a row there is a block without rows, which still tells what the results are.
            None if !self.given => self.pieces.none()?,
            None => return Ok(None),
        };
        self.given = true;
        let (value, bad) = self.taken.value(&piece, self.row, self.taken.on_error)?.unzip();
        self.row += piece.rows.len();
        let (leaves, bad) = (self.taken.leaves(value)?, bad.unwrap_or_default());
        Ok(Some(Block { leaves, rows: self.row, bytes: self.pieces.bytes(self.row), bad }))
    }
}

/// The columns of rows of this type; none of rows that are no records.
pub fn columns_of(rows: &DataType) -> Option<&Fields> {
    if let DataType::Struct(columns) = rows { Some(columns) } else { None }
}
