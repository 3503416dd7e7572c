//! Batches of rows that the crate decodes: texts counted and made, zeros under nulls, times in their units.
//!
//! Invariant: a batch is a struct of the fields that were asked for, in their types. The pages that it is made of were proven before.

use super::decode::Budget;
use super::guarded;
use super::proof::Ahead;
use super::times::given;
use super::views::{TEXTS, afford, parts};
use super::zero::zeroed;
use arrow_array::{Array, StructArray};
use arrow_schema::Fields;
use extenso_types::{Error, Result};
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use std::sync::Arc;

/// Batches of rows, one after another. One whose texts are too many bytes comes in parts.
pub struct Reader {
    batches: ParquetRecordBatchReader,
    /// The fields of the rows, whose texts are read as views.
    fields: Fields,
    /// The rest of a batch, the last part first.
    rest: Vec<StructArray>,
    /// How many bytes all texts may have.
    budget: Option<Arc<Budget>>,
    /// What is proven before it is read; none where all was.
    ahead: Option<Ahead>,
    /// How many rows a batch has, and how many were read.
    rows: (usize, usize),
    /// How many rows the metadata says there are; none where the caller looks at it.
    told: Option<usize>,
}

impl Reader {
    /// The batches that the crate gives of rows of these fields, whose texts may have so many bytes.
    pub fn new(batches: ParquetRecordBatchReader, fields: Fields, budget: Option<Arc<Budget>>) -> Reader {
        Reader { batches, fields, rest: Vec::new(), budget, ahead: None, rows: (0, 0), told: None }
    }

    /// The same of batches of so many rows, of as many in all, of which nothing is proven yet.
    pub fn proving(self, ahead: Ahead, (rows, told): (usize, usize)) -> Reader {
        Reader { ahead: Some(ahead), rows: (rows, 0), told: Some(told), ..self }
    }

    /// The next batch.
    ///
    /// Errors: pages that are malformed; texts that are too many bytes.
    pub fn next(&mut self) -> Result<Option<StructArray>> {
        self.stored()?.map(given).transpose()
    }

    /// Names the rows of the next batch, where it is one of several.
    fn of_rows(&self, error: Error) -> Error {
        let (size, read) = self.rows;
        if self.ahead.is_none() { error } else { error.at(format!("rows {read} to {}", read.saturating_add(size - 1))) }
    }

    /// The next batch, whose times are in the units of Parquet.
    ///
    /// Errors: as [`Reader::next`].
    pub fn stored(&mut self) -> Result<Option<StructArray>> {
        if self.rest.is_empty() {
            if let Some(ahead) = &mut self.ahead {
                ahead.prove(self.rows.1.saturating_add(self.rows.0))?;
            }
            let batch = guarded(|| self.batches.next().transpose()).map_err(|e| self.of_rows(e))?;
            let Some(batch) = batch.map(StructArray::from) else {
                return match self.told.filter(|told| *told != self.rows.1) {
                    Some(told) => {
                        Err(Error::data(format!("the pages have {} rows, and the metadata says {told}", self.rows.1)))
                    }
                    None => Ok(None),
                };
            };
            self.rows.1 += batch.len();
            self.rest = match &self.budget {
                Some(budget) => afford(&batch, &self.fields, budget).map(|()| vec![batch])?,
                None => parts(batch, &self.fields, TEXTS)?,
            };
        }
        let Some(part) = self.rest.pop() else { return Ok(None) };
        guarded(|| zeroed(part, &self.fields)).map(Some)
    }
}
