//! Parquet as a source: the columns that a function needs, some rows of them at a time.

use super::SourceOptions;
use super::look::{Asked, Common, Look};
use super::rows::{Piece, PieceBlocks, Pieces, Taken};
use crate::columns::OnError;
use crate::needs::Needs;
use crate::parquet::{self, Opened, ParquetOptions, ParquetSource, Reader, blocks_of};
use crate::run::Rows;
use arrow_array::StructArray;
use extenso_core::Value;
use extenso_graph::Concrete;
use extenso_types::{Nest, Result, Spec};

/// Some rows at a time.
pub struct ParquetPieces {
    opened: Opened,
    reader: Reader,
    size: u64,
    total: usize,
}

/// The blocks of a file for a function.
///
/// Errors: a malformed file; a column that does not fit, with path, what came and what is wanted.
pub fn open_parquet(
    function: &Concrete,
    source: &ParquetSource,
    options: &SourceOptions,
) -> Result<PieceBlocks<ParquetPieces>> {
    let (opened, taken) = opened(function, source, options.on_error)?;
    let (total, size) = (opened.rows()?, source.size());
    let reader = opened.batches(opened.rows_of(options.block)?)?;
    taken.blocks(ParquetPieces { opened, reader, size, total })
}

impl Pieces for ParquetPieces {
    fn next(&mut self) -> Result<Option<Piece>> {
        Ok(self.reader.next()?.map(Piece::of_records))
    }

    fn none(&mut self) -> Result<Piece> {
        self.opened.empty().map(Piece::of_records)
    }

    fn bytes(&self, rows: usize) -> u64 {
        let done = self.size as f64 * rows as f64 / self.total.max(1) as f64;
        (done as u64).min(self.size)
    }
}

/// All rows in one piece.
struct Whole {
    opened: Opened,
    rows: Option<StructArray>,
}

impl Pieces for Whole {
    fn next(&mut self) -> Result<Option<Piece>> {
        Ok(self.rows.take().map(Piece::of_records))
    }

    fn none(&mut self) -> Result<Piece> {
        self.opened.empty().map(Piece::of_records)
    }

    fn bytes(&self, _: usize) -> u64 {
        0
    }
}

/// Runs a function on the rows of a Parquet file, decoding the columns that it needs and no others.
///
/// Errors: a malformed file; a needed column that is missing or of another type, with path, what came and what is wanted; rows that do not
/// fit, unless `on_error` says otherwise; those of the ops.
pub fn run_parquet(function: &Concrete, source: &ParquetSource, on_error: OnError) -> Result<Rows<Nest<Value>>> {
    let (opened, taken) = opened(function, source, on_error)?;
    let (rows, visited) = (Some(opened.whole()?), opened.visited());
    taken.run(function, Whole { opened, rows }, visited)
}

fn opened(function: &Concrete, source: &ParquetSource, on_error: OnError) -> Result<(Opened, Taken)> {
    let needs = Needs::of(function)?;
    let spec = needs.spec.clone();
    let mut opened = Opened::metadata(source)?;
    let taken = Taken::new(needs, Some(opened.fields()), on_error)?;
    if let Some(spec) = &spec {
        opened.choose(spec, taken.is_column())?;
        // What does not fit by its type is told before a row is read, with all the columns that there are.
        taken.check(&Piece::of_records(opened.no_rows()?))?;
    }
    Ok((opened, taken))
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
