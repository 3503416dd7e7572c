//! Arrow's IPC files and streams as a source: of each batch the columns that a function needs.

use super::look::{Asked, Common, Look};
use super::rows::{Piece, PieceBlocks, Pieces, Taken, columns_of};
use crate::arrow::{ArrowOptions, IpcReader, first_rows, from_chunks};
use crate::columns::OnError;
use crate::needs::Needs;
use crate::run::Rows;
use arrow_array::{Array, StructArray};
use extenso_core::Value;
use extenso_graph::Concrete;
use extenso_types::{Nest, Result, Spec};
use std::io::Read;

/// A piece for each batch.
pub struct ArrowPieces<R>(IpcReader<R>);

/// The blocks of a file or stream for a function.
///
/// Errors: bytes that are neither a file nor a stream; a column that does not fit, with path, what came and what is wanted.
pub fn open_arrow<R: Read + Send>(
    function: &Concrete,
    source: R,
    on_error: OnError,
) -> Result<PieceBlocks<ArrowPieces<R>>> {
    let (taken, pieces) = opened(function, source, on_error)?;
    taken.blocks(pieces)
}

/// Runs a function on the rows of an IPC file or stream, decoding the columns that it needs and no others.
///
/// Errors: bytes that are neither; a needed column that is missing or of another type, with path, what came and what is wanted; rows that
/// do not fit, unless `on_error` says otherwise; those of the ops.
pub fn run_arrow(function: &Concrete, source: impl Read + Send, on_error: OnError) -> Result<Rows<Nest<Value>>> {
    let (taken, pieces) = opened(function, source, on_error)?;
    taken.run(function, pieces, Vec::new())
}

fn opened<R: Read>(function: &Concrete, source: R, on_error: OnError) -> Result<(Taken, ArrowPieces<R>)> {
    let needs = Needs::of(function)?;
    let options = needs.spec.clone().map(|spec| ArrowOptions { spec: Some(spec), ..ArrowOptions::default() });
    let reader = IpcReader::new(source, options.as_ref())?;
    let (_, none) = reader.rows(reader.empty()?)?;
    let columns = columns_of(none.data_type()).filter(|_| reader.root().is_none());
    Ok((Taken::new(needs, columns, on_error)?, ArrowPieces(reader)))
}

impl<R: Read> ArrowPieces<R> {
    fn piece(&self, batch: StructArray) -> Result<Piece> {
        let (field, rows) = self.0.rows(batch)?;
        Ok(Piece { field, rows, bad: Vec::new() })
    }
}

impl<R: Read + Send> Pieces for ArrowPieces<R> {
    fn next(&mut self) -> Result<Option<Piece>> {
        self.0.next()?.map(|batch| self.piece(batch)).transpose()
    }

    fn none(&mut self) -> Result<Piece> {
        self.piece(self.0.empty()?)
    }

    fn bytes(&self, _: usize) -> u64 {
        self.0.bytes() as u64
    }
}

/// Rows that are looked at for what they are.
pub struct ArrowLook<R> {
    reader: IpcReader<R>,
    options: ArrowOptions,
    common: Common,
}

impl<R: Read> ArrowLook<R> {
    /// Nothing was looked at yet but the schema.
    ///
    /// Errors: bytes that are neither a file nor a stream; a path that leads nowhere.
    pub fn new(source: R, asked: &Asked) -> Result<ArrowLook<R>> {
        let options = ArrowOptions { paths: asked.paths.clone(), ..ArrowOptions::default() };
        let reader = IpcReader::new(source, Some(&options))?;
        let mut look = ArrowLook { reader, options, common: Common::default() };
        let none = look.reader.empty()?;
        look.add(none, 0)?;
        Ok(look)
    }

    fn add(&mut self, batch: StructArray, most: usize) -> Result<()> {
        let (field, rows) = self.reader.rows(batch)?;
        self.common.add(from_chunks(&field, &[first_rows(rows, most)?], &self.options)?.value)
    }
}

impl<R: Read + Send> Look for ArrowLook<R> {
    fn look(&mut self, most: usize) -> Result<Option<usize>> {
        let Some(batch) = self.reader.next()? else { return Ok(None) };
        let rows = batch.len();
        self.add(batch, most)?;
        Ok(Some(rows))
    }

    fn spec(&self) -> Result<Spec> {
        self.common.spec()
    }
}
