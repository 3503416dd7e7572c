//! Parquet as a source: the columns that a function needs, some rows of them at a time.

use super::needs::Needs;
use super::{Block, Blocks, SourceOptions, bare};
use crate::columns::{BadRows, OnError};
use crate::parquet::{Opened, ParquetSource, Reader, is_record};
use crate::policy::array_rows;
use crate::run::{Rows, run_leaves};
use arrow_array::{Array, ArrayRef, StructArray};
use extenso_core::Value;
use extenso_graph::Concrete;
use extenso_types::{Error, Nest, Result, Spec};
use std::sync::Arc;

/// Blocks of rows.
pub struct ParquetBlocks {
    opened: Opened,
    reader: Reader,
    needs: Needs,
    on_error: OnError,
    size: u64,
    total: usize,
    row: usize,
    given: bool,
}

impl ParquetBlocks {
    /// The leaves that a function needs, of the rows of this file.
    ///
    /// Errors: a malformed file; a column that does not fit, with path, what came and what is wanted.
    pub fn new(function: &Concrete, source: &ParquetSource, options: &SourceOptions) -> Result<ParquetBlocks> {
        let (opened, needs) = opened(function, source)?;
        let total = opened.rows()?;
        let reader = opened.batches(opened.rows_of(options.block)?)?;
        let (on_error, size) = (options.on_error, source.size());
        Ok(ParquetBlocks { opened, reader, needs, on_error, size, total, row: 0, given: false })
    }
}

impl Blocks for ParquetBlocks {
    fn next(&mut self) -> Result<Option<Block>> {
        let rows = match self.reader.next()? {
            Some(rows) => rows,
            None if !self.given => self.opened.empty(),
            None => return Ok(None),
        };
        self.given = true;
        let (leaves, bad) = leaves(&self.needs, &rows, self.row, self.on_error)?;
        self.row += rows.len();
        let done = self.size as f64 * self.row as f64 / self.total.max(1) as f64;
        Ok(Some(Block { leaves, rows: self.row, bytes: (done as u64).min(self.size), bad }))
    }
}

/// Runs a function on the rows of a Parquet file, decoding the columns that it needs and no others.
///
/// Errors: a malformed file; a needed column that is missing or of another type, with path, what came and what is wanted; rows that do not
/// fit, unless `on_error` says otherwise; those of the ops.
pub fn run_parquet(function: &Concrete, source: &ParquetSource, on_error: OnError) -> Result<Rows<Nest<Value>>> {
    let (opened, needs) = opened(function, source)?;
    let rows = opened.whole()?;
    let (leaves, bad) = leaves(&needs, &rows, 0, on_error)?;
    Ok(Rows { value: run_leaves(function, &leaves)?, bad, visited: opened.visited() })
}

fn opened(function: &Concrete, source: &ParquetSource) -> Result<(Opened, Needs)> {
    let needs = Needs::new(function.record_spec(), &function.graph().needed_inputs())?;
    let mut opened = Opened::metadata(source)?;
    if let Some(spec) = &needs.spec {
        opened.choose(spec);
        // What does not fit by its type is told before a row is read.
        leaves(&needs, &opened.empty(), 0, OnError::Raise)?;
    }
    Ok((opened, needs))
}

/// The leaves of a function's argument, of rows of which the first has the number `start`.
fn leaves(needs: &Needs, rows: &StructArray, start: usize, on_error: OnError) -> Result<(Vec<Option<Value>>, BadRows)> {
    let Some(spec) = &needs.spec else { return Ok((needs.none(), BadRows::default())) };
    let odd = |e: arrow_schema::ArrowError| Error::data(format!("the rows cannot be put together: {e}"));
    let rows = bare::array_of(&items(rows, spec)?, spec).map_err(odd)?;
    let (spec, places) = bare::spec_of(spec, &needs.places);
    let (value, bad) = array_rows(&rows, start, on_error, &spec)?;
    let mut found = Vec::with_capacity(places.len());
    value.push_leaves(&mut found)?;
    Ok((needs.leaves(found, &places)?, bad))
}

/// The rows as what a function takes: records, or the values of the only column.
fn items(rows: &StructArray, spec: &Spec) -> Result<ArrayRef> {
    match (spec, rows.columns()) {
        (Spec::Ext(ext), _) if is_record(ext) => Ok(Arc::new(rows.clone())),
        (_, [only]) => Ok(only.clone()),
        (_, columns) => Err(Error::dtype(format!("the rows have {} columns", columns.len()))
            .wanted(format!("one, for an argument that is {spec}"))),
    }
}
