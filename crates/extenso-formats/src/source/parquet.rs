//! Parquet as a source: the columns that a function needs, some rows of them at a time.

use super::look::{Asked, Common, Look};
use super::rows::{items, leaves};
use super::{Block, Blocks, SourceOptions};
use crate::columns::OnError;
use crate::needs::Needs;
use crate::parquet::{self, Opened, ParquetOptions, ParquetSource, Reader, blocks_of};
use crate::run::{Rows, run_leaves};
use arrow_array::Array;
use extenso_core::Value;
use extenso_graph::Concrete;
use extenso_types::{Nest, Result, Spec};

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
            None if !self.given => self.opened.empty()?,
            None => return Ok(None),
        };
        self.given = true;
        let count = rows.len();
        let (leaves, bad) = leaves(&self.needs, &items(&self.needs, rows)?, self.row, Vec::new(), self.on_error)?;
        self.row += count;
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
    let (leaves, bad) = leaves(&needs, &items(&needs, rows)?, 0, Vec::new(), on_error)?;
    Ok(Rows { value: run_leaves(function, &leaves)?, bad, visited: opened.visited() })
}

fn opened(function: &Concrete, source: &ParquetSource) -> Result<(Opened, Needs)> {
    let needs = Needs::new(function.record_spec(), &function.graph().needed_inputs())?;
    let mut opened = Opened::metadata(source)?;
    if let Some(spec) = &needs.spec {
        opened.choose(spec)?;
        // What does not fit by its type is told before a row is read.
        leaves(&needs, &items(&needs, opened.no_rows()?)?, 0, Vec::new(), OnError::Raise)?;
    }
    Ok((opened, needs))
}

/// Rows that are looked at for what they are.
pub struct ParquetLook {
    blocks: parquet::ParquetBlocks,
    common: Common,
}

impl ParquetLook {
    /// Nothing was looked at yet but the metadata.
    ///
    /// Errors: a malformed file; a path that leads nowhere.
    pub fn new(source: &ParquetSource, asked: &Asked, options: &SourceOptions) -> Result<ParquetLook> {
        let read = ParquetOptions { paths: asked.paths.clone(), ..ParquetOptions::default() };
        let blocks = blocks_of(source, options.block, &read)?;
        Ok(ParquetLook { blocks, common: Common::default() })
    }
}

impl Look for ParquetLook {
    fn look(&mut self, most: usize) -> Result<Option<usize>> {
        let before = self.blocks.rows();
        let Some(rows) = self.blocks.block(most)? else { return Ok(None) };
        self.common.add(rows.value)?;
        Ok(Some(self.blocks.rows() - before))
    }

    fn spec(&self) -> Result<Spec> {
        self.common.spec()
    }
}
