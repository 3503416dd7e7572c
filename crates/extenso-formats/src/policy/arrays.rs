//! The policy for bad rows of an array, which is decoded whole and not row by row.
//!
//! Invariant: rows that fit are decoded as one array; each that does not is found by halving.

use super::no_rows;
use crate::arrow::from_arrow_as;
use crate::columns::{BadRow, BadRows, MAX_REPORTED, OnError};
use crate::plan::fills;
use crate::read::batch;
use crate::records::RecordSpec;
use arrow_array::{Array, ArrayRef};
use extenso_core::{Tensor, Value, ops};
use extenso_types::{Error, Nest, Path, Result, Spec};

/// The rows that fit the spec, and a report of the others; rows are counted from `start`.
///
/// Errors: a row that does not fit, under the policy that raises; what an array without rows fails with, which are errors of columns and not of
/// rows; no memory.
pub fn array_rows(rows: &ArrayRef, start: usize, on_error: OnError, spec: &Spec) -> Result<(Value, BadRows)> {
    let decode = &|rows: &ArrayRef| from_arrow_as(rows.as_ref(), spec);
    if on_error == OnError::Raise {
        return Ok((decode(rows)?, BadRows::default()));
    }
    let mut bad = BadRows::default();
    let (value, kept) = match decode(rows) {
        Ok(value) => (value, vec![true; rows.len()]),
        Err(_) => {
            decode(&rows.slice(0, 0))?;
            let mut kept = vec![true; rows.len()];
            find(rows, (0, rows.len()), decode, &mut |row, error: Error| {
                kept[row] = false;
                bad.rows.push(start + row);
                if bad.first.len() < MAX_REPORTED {
                    let error = error.at(format!("row {}", start + row));
                    bad.first.push(BadRow { row: start + row, offset: 0, path: Path::root(), error });
                }
            });
            (decode(&kept_rows(rows, &kept)?)?, kept)
        }
    };
    if on_error == OnError::Skip {
        return Ok((value, bad));
    }
    kept.iter().for_each(|kept| bad.defaulted.push(!kept));
    if bad.is_empty() { Ok((value, bad)) } else { Ok((with_defaults(value, spec, &kept)?, bad)) }
}

/// Tells of each row of a range that does not fit.
fn find(
    rows: &ArrayRef,
    (from, to): (usize, usize),
    decode: &dyn Fn(&ArrayRef) -> Result<Value>,
    tell: &mut dyn FnMut(usize, Error),
) {
    let Err(error) = decode(&rows.slice(from, to - from)) else { return };
    match to - from {
        0 => {}
        1 => tell(from, error),
        n => {
            find(rows, (from, from + n / 2), decode, tell);
            find(rows, (from + n / 2, to), decode, tell);
        }
    }
}

fn kept_rows(rows: &ArrayRef, kept: &[bool]) -> Result<ArrayRef> {
    let runs = kept.chunk_by(|a, b| a == b).scan(0, |at, run| {
        *at += run.len();
        Some((*at - run.len(), run))
    });
    let good = runs.filter(|(_, run)| run[0]).map(|(at, run)| rows.slice(at, run.len()));
    let good: Vec<ArrayRef> = good.collect();
    let parts: Vec<&dyn Array> = good.iter().map(|part| part.as_ref()).collect();
    if parts.is_empty() {
        return Ok(rows.slice(0, 0));
    }
    let joined = arrow_select::concat::concat(&parts);
    joined.map_err(|e| Error::data(format!("the rows cannot be put together: {e}")))
}

/// The kept rows in their places, and a row of defaults in the others.
fn with_defaults(value: Value, spec: &Spec, kept: &[bool]) -> Result<Value> {
    let records = RecordSpec::new(&Nest::Leaf(spec.clone()), &[])?;
    let mut one = no_rows(&records.plan().kinds()?)?;
    for (id, n) in fills(records.plan()) {
        one.columns.get_mut(id).map_or(Ok(()), |column| column.push_defaults(n))?;
    }
    one.rows = 1;
    let defaults = batch(spec, &records, one)?.value;
    let good = kept.iter().filter(|kept| **kept).count();
    let mut next = 0_i64;
    let places = kept.iter().map(|kept| {
        next += i64::from(*kept);
        if *kept { next - 1 } else { i64::try_from(good).unwrap_or(i64::MAX) }
    });
    let places = Tensor::from_vec(places.collect::<Vec<i64>>());
    ops::take(ops::concat(vec![value, defaults], 0)?, places, 0)
}
