//! Avro as a source: of each block the fields that a function needs.

use super::SourceOptions;
use super::look::{Asked, Common, Look};
use super::rows::{Piece, PieceBlocks, Pieces, Taken, columns_of};
use crate::arrow::{first_rows, from_arrow_field};
use crate::avro::{Batch, Reader, Want};
use crate::needs::Needs;
use arrow_array::ArrayRef;
use extenso_graph::Concrete;
use extenso_types::{Result, Spec};
use std::io::BufRead;

/// The blocks of the file, put together until they have about as many bytes as a block has.
pub struct AvroPieces<R> {
    reader: Reader<R>,
    block: usize,
}

/// The blocks of a file for a function.
///
/// Errors: a malformed file; a needed field that is missing or of another type, with path, what came and what is wanted.
pub fn open_avro<R: BufRead + Send>(
    function: &Concrete,
    source: R,
    options: &SourceOptions,
) -> Result<PieceBlocks<AvroPieces<R>>> {
    let needs = Needs::of(function)?;
    let reader = Reader::open(source, Want::Argument(&needs), options.on_error)?;
    let taken = Taken::new(needs, columns_of(reader.field().data_type()), options.on_error)?;
    taken.blocks(AvroPieces { reader, block: options.block.max(1) })
}

impl<R: BufRead + Send> Pieces for AvroPieces<R> {
    fn next(&mut self) -> Result<Option<Piece>> {
        Ok(self.reader.next(self.block)?.map(|batch| self.piece(batch)))
    }

    fn none(&mut self) -> Result<Piece> {
        let none = self.reader.empty()?;
        Ok(self.piece(none))
    }

    fn bytes(&self, _: usize) -> u64 {
        self.reader.bytes()
    }
}

impl<R: BufRead> AvroPieces<R> {
    fn piece(&self, batch: Batch) -> Piece {
        Piece { field: self.reader.field().clone(), rows: batch.rows, bad: batch.bad }
    }
}

/// Rows that are looked at for what they are.
pub struct AvroLook<R> {
    reader: Reader<R>,
    common: Common,
    block: usize,
}

impl<R: BufRead> AvroLook<R> {
    /// Nothing was looked at yet but the header.
    ///
    /// Errors: a malformed file; a path that leads nowhere; a record that holds itself, where all of it is wanted.
    pub fn new(source: R, asked: &Asked, options: &SourceOptions) -> Result<AvroLook<R>> {
        let wanted = asked.wanted()?;
        let want = if wanted.is_all() { Want::All } else { Want::Paths(&wanted) };
        let reader = Reader::open(source, want, options.on_error)?;
        let mut look = AvroLook { reader, common: Common::default(), block: options.block.max(1) };
        let none = look.reader.empty()?.rows;
        look.add(&none)?;
        Ok(look)
    }

    fn add(&mut self, rows: &ArrayRef) -> Result<()> {
        self.common.add(from_arrow_field(self.reader.field(), rows.as_ref())?)
    }
}

impl<R: BufRead + Send> Look for AvroLook<R> {
    fn look(&mut self, most: usize) -> Result<Option<usize>> {
        let Some(Batch { rows, count, .. }) = self.reader.next(self.block)? else { return Ok(None) };
        self.add(&first_rows(rows, most)?)?;
        Ok(Some(count))
    }

    fn spec(&self) -> Result<Spec> {
        self.common.spec()
    }
}
