//! Rows of Arrow arrays as the leaves that a function needs of its argument.

use crate::arrow::field_of;
use crate::columns::{BadRow, BadRows, OnError};
use crate::needs::Needs;
use crate::policy::field_rows;
use crate::records::is_record;
use arrow_array::{ArrayRef, StructArray};
use extenso_core::Value;
use extenso_types::{Error, Result, Spec};
use std::sync::Arc;

/// The leaves of a function's argument, of rows of which the first has the number `start`, and some are known not to fit.
///
/// Errors: columns that are missing or of another type; rows that do not fit, under the policy that raises.
pub fn leaves(
    needs: &Needs,
    rows: &ArrayRef,
    start: usize,
    known: Vec<BadRow>,
    on_error: OnError,
) -> Result<(Vec<Option<Value>>, BadRows)> {
    let Some(spec) = &needs.spec else { return Ok((needs.none(), BadRows::default())) };
    let (value, bad) = field_rows(&field_of(rows.as_ref()), rows, start, known, on_error, spec)?;
    let mut found = Vec::with_capacity(needs.places.len());
    value.push_leaves(&mut found)?;
    Ok((needs.leaves(found)?, bad))
}

/// The rows as what a function takes: records, or the values of the only column.
///
/// Errors: several columns, for an argument that is no record.
pub fn items(needs: &Needs, rows: StructArray) -> Result<ArrayRef> {
    match (&needs.spec, rows.columns()) {
        (None, _) => Ok(Arc::new(rows)),
        (Some(Spec::Ext(ext)), _) if is_record(ext) => Ok(Arc::new(rows)),
        (_, [only]) => Ok(only.clone()),
        (Some(spec), columns) => Err(Error::dtype(format!("the rows have {} columns", columns.len()))
            .wanted(format!("one, for an argument that is {spec}"))),
    }
}
