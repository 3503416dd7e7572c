//! Arrow's IPC files and streams as a source: of each batch the columns that a function needs.

use super::look::{Asked, Common, Look};
use super::rows::{items, leaves};
use super::{Block, Blocks};
use crate::arrow::{ArrowOptions, IpcReader, first_rows, from_chunks, guarded};
use crate::columns::OnError;
use crate::needs::Needs;
use crate::run::{Rows, run_leaves};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StructArray};
use extenso_core::Value;
use extenso_graph::Concrete;
use extenso_types::{Error, Nest, Result, Spec};
use std::io::Read;

/// A block for each batch.
pub struct ArrowBlocks<R> {
    batches: Batches<R>,
    on_error: OnError,
    row: usize,
    given: bool,
}

impl<R: Read + Send> ArrowBlocks<R> {
    /// The leaves that a function needs, of the rows of these bytes.
    ///
    /// Errors: bytes that are neither a file nor a stream; a column that does not fit, with path, what came and what is wanted.
    pub fn new(function: &Concrete, source: R, on_error: OnError) -> Result<ArrowBlocks<R>> {
        let batches = Batches::new(function, source)?;
        Ok(ArrowBlocks { batches, on_error, row: 0, given: false })
    }
}

impl<R: Read + Send> Blocks for ArrowBlocks<R> {
    fn next(&mut self) -> Result<Option<Block>> {
        let rows = match self.batches.reader.next()? {
            Some(rows) => rows,
            // Without a batch there is a block without rows, which still tells what the results are.
            None if !self.given => self.batches.reader.empty()?,
            None => return Ok(None),
        };
        self.given = true;
        let count = rows.len();
        let rows = self.batches.values(rows)?;
        let (leaves, bad) = leaves(&self.batches.needs, &rows, self.row, Vec::new(), self.on_error)?;
        self.row += count;
        let bytes = self.batches.reader.bytes() as u64;
        Ok(Some(Block { leaves, rows: self.row, bytes, bad }))
    }
}

/// Runs a function on the rows of an IPC file or stream, decoding the columns that it needs and no others.
///
/// Errors: bytes that are neither; a needed column that is missing or of another type, with path, what came and what is wanted; rows that
/// do not fit, unless `on_error` says otherwise; those of the ops.
pub fn run_arrow(function: &Concrete, source: impl Read, on_error: OnError) -> Result<Rows<Nest<Value>>> {
    let mut batches = Batches::new(function, source)?;
    let mut read = Vec::new();
    while let Some(rows) = batches.reader.next()? {
        read.push(rows);
    }
    let rows = match read.len() {
        0 => batches.reader.empty()?,
        1 => read.swap_remove(0),
        _ => joined(&read)?,
    };
    let (leaves, bad) = leaves(&batches.needs, &batches.values(rows)?, 0, Vec::new(), on_error)?;
    Ok(Rows { value: run_leaves(function, &leaves)?, bad, visited: Vec::new() })
}

fn joined(batches: &[StructArray]) -> Result<StructArray> {
    if batches.iter().all(|batch| batch.num_columns() == 0) {
        let rows = batches.iter().try_fold(0_usize, |rows, batch| rows.checked_add(batch.len()));
        let rows = rows.ok_or_else(|| Error::data("the batches have more rows than there are numbers"))?;
        return Ok(StructArray::new_empty_fields(rows, None));
    }
    let parts: Vec<&dyn Array> = batches.iter().map(|batch| batch as &dyn Array).collect();
    Ok(in_one(&parts)?.as_struct().clone())
}

/// Arrays of one type as one.
///
/// Errors: more than one array of the type can hold.
pub fn in_one(parts: &[&dyn Array]) -> Result<ArrayRef> {
    let odd = |e| Error::data(format!("the batches cannot be put together: {e}")).hint("Run over them with a target");
    guarded(|| arrow_select::concat::concat(parts).map_err(odd))
}

/// The batches of a reader, and what a function needs of them.
struct Batches<R> {
    reader: IpcReader<R>,
    needs: Needs,
}

impl<R: Read> Batches<R> {
    fn new(function: &Concrete, source: R) -> Result<Batches<R>> {
        let needs = Needs::new(function.record_spec(), &function.graph().needed_inputs())?;
        let options = needs.spec.clone().map(|spec| ArrowOptions { spec: Some(spec), ..ArrowOptions::default() });
        let reader = IpcReader::new(source, options.as_ref())?;
        let batches = Batches { reader, needs };
        // What does not fit by its type is told before a row is read.
        leaves(&batches.needs, &batches.values(batches.reader.empty()?)?, 0, Vec::new(), OnError::Raise)?;
        Ok(batches)
    }

    fn values(&self, rows: StructArray) -> Result<ArrayRef> {
        match self.reader.root() {
            Some(root) => Ok(rows.column(root).clone()),
            None => items(&self.needs, rows),
        }
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
