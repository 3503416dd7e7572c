//! Arrays of Arrow in memory as a source: of each the columns that a function needs.
//!
//! Invariant: arrays come one after another, and one is held; a long one is read in pieces, which share its buffers.

use super::look::{Asked, Common};
use super::rows::{items, leaves};
use super::{Block, Blocks};
use crate::arrow::{ArrowOptions, checked_data, checked_levels, from_chunks};
use crate::columns::OnError;
use crate::needs::Needs;
use crate::run::{Rows, run_leaves};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, new_empty_array};
use arrow_schema::{DataType, FieldRef};
use extenso_core::Value;
use extenso_graph::Concrete;
use extenso_types::{Error, Nest, Result, Spec};

/// Rows of a piece.
const ROWS: usize = 1 << 16;

/// Arrays of one field, as they come.
pub type Arrays<'a> = Box<dyn Iterator<Item = Result<ArrayRef>> + Send + 'a>;

/// A block for each piece.
struct ArrayBlocks<'a> {
    arrays: Arrays<'a>,
    needs: Needs,
    on_error: OnError,
    /// What is left of the array that came last, of which there is none before the first.
    rest: Option<ArrayRef>,
    empty: ArrayRef,
    row: usize,
    bytes: u64,
    given: bool,
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
    let (needs, empty) = opened(function, field)?;
    Ok(Box::new(ArrayBlocks { arrays, needs, on_error, rest: None, empty, row: 0, bytes: 0, given: false }))
}

/// What a function needs of arrays of this field, and one without rows.
fn opened(function: &Concrete, field: &FieldRef) -> Result<(Needs, ArrayRef)> {
    checked_levels(field.data_type())?;
    let needs = Needs::new(function.record_spec(), &function.graph().needed_inputs())?;
    let empty = new_empty_array(field.data_type());
    // What does not fit by its type is told before a row is read.
    leaves(&needs, &values(&needs, &empty)?, 0, Vec::new(), OnError::Raise)?;
    Ok((needs, empty))
}

/// The rows as what a function takes.
///
/// Errors: very many rows without data; several columns, for an argument that is no record.
fn values(needs: &Needs, rows: &ArrayRef) -> Result<ArrayRef> {
    checked_data(rows)?;
    match rows.data_type() {
        DataType::Struct(_) => items(needs, rows.as_struct().clone()),
        _ => Ok(rows.clone()),
    }
}

impl ArrayBlocks<'_> {
    /// The next rows, as many as a piece has at most.
    fn piece(&mut self) -> Result<Option<ArrayRef>> {
        let array = match self.rest.take() {
            Some(array) => array,
            None => match self.arrays.next().transpose()? {
                Some(array) => {
                    self.bytes = self.bytes.saturating_add(array.get_array_memory_size() as u64);
                    array
                }
                // Without an array there is a block without rows, which still tells what the results are.
                None if !self.given => self.empty.clone(),
                None => return Ok(None),
            },
        };
        self.given = true;
        if array.len() > ROWS {
            self.rest = Some(array.slice(ROWS, array.len() - ROWS));
            return Ok(Some(array.slice(0, ROWS)));
        }
        Ok(Some(array))
    }
}

impl Blocks for ArrayBlocks<'_> {
    fn next(&mut self) -> Result<Option<Block>> {
        let Some(rows) = self.piece()? else { return Ok(None) };
        let given = values(&self.needs, &rows)?;
        let (leaves, bad) = leaves(&self.needs, &given, self.row, Vec::new(), self.on_error)?;
        self.row += rows.len();
        Ok(Some(Block { leaves, rows: self.row, bytes: self.bytes, bad }))
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
    let (needs, empty) = opened(function, field)?;
    let given: Vec<ArrayRef> = arrays.map(|rows| values(&needs, &rows?)).collect::<Result<_>>()?;
    let rows = match given.as_slice() {
        [] => values(&needs, &empty)?,
        [only] => only.clone(),
        several => {
            let parts: Vec<&dyn Array> = several.iter().map(|part| &**part).collect();
            super::arrow::in_one(&parts)?
        }
    };
    let (leaves, bad) = leaves(&needs, &rows, 0, Vec::new(), on_error)?;
    Ok(Rows { value: run_leaves(function, &leaves)?, bad, visited: Vec::new() })
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
