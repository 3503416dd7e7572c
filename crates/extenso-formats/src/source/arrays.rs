//! Arrays of Arrow in memory as a source: of each the columns that a function needs.
//!
//! Invariant: arrays come one after another, and one is held; a long one is read in pieces, which share its buffers.

use super::Blocks;
use super::look::{Asked, Common};
use super::rows::{Piece, Pieces, Taken, columns_of};
use crate::arrow::{ArrowOptions, checked_data, checked_levels, from_chunks};
use crate::columns::OnError;
use crate::needs::Needs;
use crate::run::Rows;
use arrow_array::{Array, ArrayRef, new_empty_array};
use arrow_schema::FieldRef;
use extenso_core::Value;
use extenso_graph::Concrete;
use extenso_types::{Error, Nest, Result, Spec};

/// Rows of a piece.
const ROWS: usize = 1 << 16;

/// Arrays of one field, as they come.
pub type Arrays<'a> = Box<dyn Iterator<Item = Result<ArrayRef>> + Send + 'a>;

/// Arrays of one field, the long ones in pieces of so many rows.
struct ArrayPieces<'a> {
    field: FieldRef,
    arrays: Arrays<'a>,
    most: usize,
    /// What is left of the array that came last, of which there is none before the first.
    rest: Option<ArrayRef>,
    /// The bytes of the arrays before it, those of it, and how many rows it had.
    bytes: (u64, u64, usize),
}

/// Opens arrays for a function: those of records, or of the values of its only argument.
///
/// Errors: a needed column that is missing or of another type, with path, what came and what is wanted.
pub fn open_arrays<'a>(
    function: &Concrete,
    field: &FieldRef,
    arrays: Arrays<'a>,
    on_error: OnError,
) -> Result<Box<dyn Blocks + 'a>> {
    let (taken, pieces) = opened(function, field, arrays, on_error, ROWS)?;
    Ok(Box::new(taken.blocks(pieces)?))
}

fn opened<'a>(
    function: &Concrete,
    field: &FieldRef,
    arrays: Arrays<'a>,
    on_error: OnError,
    most: usize,
) -> Result<(Taken, ArrayPieces<'a>)> {
    checked_levels(field.data_type())?;
    let needs = Needs::of(function)?;
    let taken = Taken::new(needs, columns_of(field.data_type()), on_error)?;
    Ok((taken, ArrayPieces { field: field.clone(), arrays, most, rest: None, bytes: (0, 0, 0) }))
}

impl ArrayPieces<'_> {
    fn array(&mut self) -> Result<Option<ArrayRef>> {
        if let Some(rest) = self.rest.take() {
            return Ok(Some(rest));
        }
        let Some(array) = self.arrays.next().transpose()? else { return Ok(None) };
        checked_data(&array)?;
        // A slice counts as the bytes that are its own.
        let size = array.to_data().get_slice_memory_size().unwrap_or_else(|_| array.get_buffer_memory_size());
        self.bytes = (self.bytes.0.saturating_add(self.bytes.1), size as u64, array.len());
        Ok(Some(array))
    }

    fn piece(&self, rows: ArrayRef) -> Piece {
        Piece { field: self.field.clone(), rows, bad: Vec::new() }
    }
}

impl Pieces for ArrayPieces<'_> {
    fn next(&mut self) -> Result<Option<Piece>> {
        let Some(array) = self.array()? else { return Ok(None) };
        if array.len() > self.most {
            self.rest = Some(array.slice(self.most, array.len() - self.most));
            return Ok(Some(self.piece(array.slice(0, self.most))));
        }
        Ok(Some(self.piece(array)))
    }

    fn none(&mut self) -> Result<Piece> {
        Ok(self.piece(new_empty_array(self.field.data_type())))
    }

    fn bytes(&self, _: usize) -> u64 {
        let (before, own, rows) = self.bytes;
        let left = self.rest.as_ref().map_or(0, |rest| rest.len());
        let done = own as f64 * (rows - left) as f64 / rows.max(1) as f64;
        before.saturating_add(done as u64)
    }
}

/// Runs a function on the rows of arrays, looking at the columns that it needs and no others.
///
/// Errors: as [`open_arrays`]; rows that do not fit, unless `on_error` says otherwise; those of the ops.
pub fn run_arrays(
    function: &Concrete,
    field: &FieldRef,
    arrays: Arrays<'_>,
    on_error: OnError,
) -> Result<Rows<Nest<Value>>> {
    let (taken, pieces) = opened(function, field, arrays, on_error, usize::MAX)?;
    taken.run(function, pieces, Vec::new())
}

/// The spec of the rows of arrays: that of the value which they become, with any number of rows.
///
/// Errors: a path that leads nowhere; a type that no value has; a sample of no rows.
pub fn spec_of_arrays(field: &FieldRef, arrays: &[ArrayRef], asked: &Asked) -> Result<Spec> {
    let look = || {
        let options = ArrowOptions { paths: asked.paths.clone(), ..ArrowOptions::default() };
        let (mut left, mut sample) = (asked.most()?, Vec::new());
        for array in arrays {
            let rows = array.len().min(left);
            sample.push(array.slice(0, rows));
            left -= rows;
        }
        let mut common = Common::default();
        common.add(from_chunks(field, &sample, &options)?.value)?;
        common.spec()
    };
    look().map_err(|e: Error| e.at("infer_spec"))
}
