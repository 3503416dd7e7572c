//! What becomes of a row that could not be read; the same for every format.
//!
//! Invariant: a bad row leaves no trace in the columns, and is counted under every policy but raising, which fails the call.

mod arrays;

#[cfg(feature = "parquet")]
pub use arrays::array_rows;
#[cfg(feature = "ipc")]
pub use arrays::only_column;
pub use arrays::{field_rows, halved};

use crate::columns::{BadRow, BadRows, Columns, Decoded, Kinds, MAX_REPORTED, OnError};
use crate::failure::{Failure, Read};
use crate::plan::ColumnId;
use extenso_types::Result;

/// A policy, and what a row of defaults adds to each column.
#[derive(Clone, Copy, Debug)]
pub struct Policy<'a> {
    pub on_error: OnError,
    pub defaults: &'a [(ColumnId, usize)],
}

/// No rows of these kinds yet.
pub fn no_rows(kinds: &Kinds) -> Result<Decoded> {
    Ok(Decoded { columns: kinds.columns()?, rows: 0, starts: Vec::new(), bad: BadRows::default() })
}

impl Policy<'_> {
    /// Reads one row, which starts at byte `start`, or does with it what the policy says.
    ///
    /// Errors: under [`OnError::Raise`], the row's, with its number, byte and path; no memory for defaults.
    pub fn row(
        self,
        row: usize,
        start: usize,
        marks: &mut Vec<usize>,
        out: &mut Decoded,
        read: impl FnOnce(&mut Columns) -> Read<()>,
    ) -> Result<()> {
        if self.on_error != OnError::Raise {
            out.columns.mark(marks);
        }
        match read(&mut out.columns) {
            Ok(()) => {
                self.count(start, out);
                if self.on_error == OnError::Default {
                    out.bad.defaulted.push(false);
                }
                Ok(())
            }
            Err(failure) => self.bad(*failure, row, start, marks, out),
        }
    }

    /// Adds a row that is missing, and not bad: it holds defaults.
    ///
    /// Errors: no memory for defaults.
    pub fn missing(self, out: &mut Decoded) -> Result<()> {
        self.fill(0, out)?;
        if self.on_error == OnError::Default {
            out.bad.defaulted.push(false);
        }
        Ok(())
    }

    fn fill(self, start: usize, out: &mut Decoded) -> Result<()> {
        out.columns.push_defaults(self.defaults)?;
        self.count(start, out);
        Ok(())
    }

    fn count(self, start: usize, out: &mut Decoded) {
        out.rows += 1;
        if self.on_error != OnError::Raise {
            out.starts.push(start);
        }
    }

    #[cold]
    fn bad(self, failure: Failure, row: usize, start: usize, marks: &[usize], out: &mut Decoded) -> Result<()> {
        let (offset, path, error) = failure.finish(row, start);
        if self.on_error == OnError::Raise {
            return Err(error);
        }
        out.columns.roll_back(marks);
        out.bad.rows.push(row);
        if out.bad.first.len() < MAX_REPORTED {
            out.bad.first.push(BadRow { row, offset: Some(offset), path, error });
        }
        if self.on_error == OnError::Default {
            self.fill(start, out)?;
            out.bad.defaulted.push(true);
        }
        Ok(())
    }
}
