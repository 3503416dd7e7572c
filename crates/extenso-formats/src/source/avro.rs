//! Avro as a source: of each block the fields that a function needs.

use super::look::{Asked, Common, Look};
use super::rows::{items, leaves};
use super::{Block, Blocks, SourceOptions};
use crate::arrow::{first_rows, from_arrow_field};
use crate::avro::{Batch, Reader, Want};
use crate::columns::OnError;
use crate::needs::Needs;
use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use extenso_graph::Concrete;
use extenso_types::{Result, Spec};
use std::io::BufRead;

/// Blocks of rows: those of the file, put together until they have about as many bytes as a block has.
pub struct AvroBlocks<R> {
    reader: Reader<R>,
    needs: Needs,
    on_error: OnError,
    block: usize,
    row: usize,
    given: bool,
}

impl<R: BufRead> AvroBlocks<R> {
    /// The leaves that a function needs, of the rows of this file.
    ///
    /// Errors: a malformed file; a needed field that is missing or of another type, with path, what came and what is wanted.
    pub fn new(function: &Concrete, source: R, options: &SourceOptions) -> Result<AvroBlocks<R>> {
        let needs = Needs::new(function.record_spec(), &function.graph().needed_inputs())?;
        let want = needs.spec.as_ref().map_or(Want::Nothing, Want::Spec);
        let mut reader = Reader::open(source, want, options.on_error)?;
        // What does not fit by its type is told before a row is read.
        leaves(&needs, &values(&needs, reader.empty()?.rows)?, 0, Vec::new(), OnError::Raise)?;
        let (on_error, block) = (options.on_error, options.block.max(1));
        Ok(AvroBlocks { reader, needs, on_error, block, row: 0, given: false })
    }
}

impl<R: BufRead + Send> Blocks for AvroBlocks<R> {
    fn next(&mut self) -> Result<Option<Block>> {
        let Batch { rows, count, bad } = match self.reader.next(self.block)? {
            Some(batch) => batch,
            // Without a row there is a block without rows, which still tells what the results are.
            None if !self.given => self.reader.empty()?,
            None => return Ok(None),
        };
        self.given = true;
        let (leaves, bad) = leaves(&self.needs, &values(&self.needs, rows)?, self.row, bad, self.on_error)?;
        self.row += count;
        let bytes = self.reader.bytes();
        Ok(Some(Block { leaves, rows: self.row, bytes, bad }))
    }
}

/// The rows as what a function takes: records, the values of the only column, or values that stand in the file by themselves.
fn values(needs: &Needs, rows: ArrayRef) -> Result<ArrayRef> {
    match rows.as_struct_opt() {
        Some(records) => items(needs, records.clone()),
        None => Ok(rows),
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
