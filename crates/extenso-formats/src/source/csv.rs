//! CSV as a source: some rows of a table at a time.

use super::look::Look;
use super::{Block, Blocks, SourceOptions, leaves_of};
use crate::columns::OnError;
use crate::csv::{Inference, Rows, Table};
use crate::project::Wanted;
use crate::records::RecordSpec;
use extenso_graph::Concrete;
use extenso_types::{Result, Spec};
use std::io::BufRead;

/// Blocks of rows.
pub struct CsvBlocks<'a> {
    table: Table<Box<dyn BufRead + Send + 'a>>,
    records: RecordSpec,
    rows: Rows,
    on_error: OnError,
    block: u64,
    given: bool,
}

impl<'a> CsvBlocks<'a> {
    /// The leaves that a function needs, of the rows of this table.
    ///
    /// Errors: an argument that no record can express, or one with lists; no row of names; a needed field that has no column.
    pub fn new(
        function: &Concrete,
        source: Box<dyn BufRead + Send + 'a>,
        options: &SourceOptions,
    ) -> Result<CsvBlocks<'a>> {
        let records = RecordSpec::of(function)?;
        let table = Table::new(source, options.delimiter.unwrap_or(b','))?;
        let rows = Rows::new(records.plan(), &table.paths)?;
        Ok(CsvBlocks { table, records, rows, on_error: options.on_error, block: options.block as u64, given: false })
    }
}

impl Blocks for CsvBlocks<'_> {
    fn next(&mut self) -> Result<Option<Block>> {
        let mut out = self.rows.none()?;
        let (start, before) = (self.table.bytes(), self.table.rows());
        while self.table.next()? {
            self.rows.read(&self.table, self.on_error, &mut out)?;
            if self.table.bytes() - start >= self.block {
                break;
            }
        }
        if self.given && self.table.rows() == before {
            return Ok(None);
        }
        self.given = true;
        let (leaves, bad) = leaves_of(&self.records, out, before..self.table.rows(), self.on_error)?;
        Ok(Some(Block { leaves, rows: self.table.rows(), bytes: self.table.bytes(), bad }))
    }
}

/// Rows that are looked at for what they are.
pub struct CsvLook<'a> {
    found: Inference<Box<dyn BufRead + Send + 'a>>,
    wanted: Wanted,
}

impl<'a> CsvLook<'a> {
    /// Nothing was looked at yet but the names.
    ///
    /// Errors: no row of names.
    pub fn new(source: Box<dyn BufRead + Send + 'a>, wanted: Wanted, options: &SourceOptions) -> Result<CsvLook<'a>> {
        let table = Table::new(source, options.delimiter.unwrap_or(b','))?;
        Ok(CsvLook { found: Inference::new(table, options.on_error), wanted })
    }
}

impl Look for CsvLook<'_> {
    fn look(&mut self, most: usize) -> Result<Option<usize>> {
        // A bound of packed bytes is one of what is held, and no more than a row is.
        Ok(Some(self.found.rows(most.min(ROWS))?).filter(|rows| *rows > 0))
    }

    fn spec(&self) -> Result<Spec> {
        self.found.spec(&self.wanted)
    }
}

/// How many rows are looked at at a time.
const ROWS: usize = 1 << 12;
