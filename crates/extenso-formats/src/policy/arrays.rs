//! The policy for bad rows of an array, which is decoded whole and not row by row.
//!
//! Invariant: rows that fit are decoded as one array. Nulls that may not be are found in it; a row that does not fit for another reason is found
//! by halving.

#[cfg(feature = "ipc")]
use crate::arrow::without_runs;
use crate::arrow::{picked_of, rows_as, with_default};
use crate::columns::{BadRow, BadRows, Misfits, OnError};
use arrow_array::{Array, ArrayRef};
#[cfg(feature = "ipc")]
use arrow_array::{cast::AsArray, make_array};
#[cfg(feature = "ipc")]
use arrow_buffer::NullBuffer;
#[cfg(feature = "ipc")]
use arrow_schema::DataType;
use arrow_schema::FieldRef;
use extenso_core::Value;
use extenso_types::{Error, Path, Result, Spec};

/// The rows that fit the spec, and a report of the others; rows are counted from `start`.
///
/// Errors: as [`field_rows`].
#[cfg(feature = "parquet")]
pub fn array_rows(rows: &ArrayRef, start: usize, on_error: OnError, spec: &Spec) -> Result<(Value, BadRows)> {
    field_rows(&crate::arrow::field_of(rows.as_ref()), rows, start, Vec::new(), on_error, spec)
}

/// As [`array_rows`], of an array whose field says what type of an extension it is, and of which some rows are known not to fit: these hold defaults,
/// and are reported first.
///
/// Errors: a row that does not fit, under the policy that raises; what an array without rows fails with, which are errors of columns and not of
/// rows; no memory.
pub fn field_rows(
    field: &FieldRef,
    rows: &ArrayRef,
    start: usize,
    known: Vec<BadRow>,
    on_error: OnError,
    spec: &Spec,
) -> Result<(Value, BadRows)> {
    match rows_as(field, rows.as_ref(), start, known.clone(), spec, on_error) {
        Ok((value, faults)) => {
            let mut kept = vec![true; rows.len()];
            faults.rows().for_each(|row| kept[row - start] = false);
            Ok((value, reported(faults, &kept, on_error)))
        }
        Err(error) if on_error == OnError::Raise => {
            // A column is read after the other: the first row that does not fit may be another's.
            let noted = rows_as(field, rows.as_ref(), start, known, spec, OnError::Skip);
            Err(noted.ok().and_then(|(_, faults)| faults.first().next()).map_or(error, |first| first.error))
        }
        Err(_) => {
            let decode = |rows: &ArrayRef, at: usize, on_error: OnError| {
                rows_as(field, rows.as_ref(), at, Vec::new(), spec, on_error)
            };
            halved(rows, start, known, on_error, (&decode, Some(spec)))
        }
    }
}

/// The column of rows that have one, which is missing where its row is.
///
/// Errors: rows without a column; rows that are missing, of a column that cannot be.
#[cfg(feature = "ipc")]
pub fn only_column(rows: &ArrayRef) -> Result<(FieldRef, ArrayRef)> {
    let gone = || Error::internal("the rows have no column");
    let records = rows.as_struct_opt().ok_or_else(gone)?;
    let (field, column) = records.fields().first().zip(records.columns().first()).ok_or_else(gone)?;
    let nulls = records.nulls().filter(|nulls| nulls.null_count() > 0);
    let (Some(nulls), false) = (nulls, *column.data_type() == DataType::Null) else {
        return Ok((field.clone(), column.clone()));
    };
    let runs = matches!(column.data_type(), DataType::RunEndEncoded(..));
    let column = if runs { without_runs(column.as_ref())? } else { column.clone() };
    let nulls = NullBuffer::union(Some(nulls), column.nulls());
    let data = column.to_data().into_builder().nulls(nulls).build();
    let data =
        data.map_err(|e| Error::dtype(format!("some rows are missing, and their only column cannot be: {e}")))?;
    Ok((field.clone(), make_array(data)))
}

/// The report of bad rows, of which each has its place among those that were kept and not.
fn reported(faults: Misfits, kept: &[bool], on_error: OnError) -> BadRows {
    let mut bad = faults.report();
    if on_error == OnError::Default {
        kept.iter().for_each(|kept| bad.defaulted.push(!kept));
    }
    bad
}

/// Reads rows of which the first has a number: the value, and the rows that do not fit, where the policy has them noted.
type Decode<'a> = &'a dyn Fn(&ArrayRef, usize, OnError) -> Result<(Value, Misfits)>;

/// The rows that can be read, where all together cannot; of the spec, or as what they are.
///
/// Errors: what no rows fail with; an array of another type, which may be seen where there are values; no memory.
pub fn halved(
    rows: &ArrayRef,
    start: usize,
    known: Vec<BadRow>,
    on_error: OnError,
    (read, spec): (Decode<'_>, Option<&Spec>),
) -> Result<(Value, BadRows)> {
    let decode = &|rows: &ArrayRef, at: usize| Ok(read(rows, at, OnError::Raise)?.0);
    decode(&rows.slice(0, 0), start)?;
    let (mut kept, mut faults) = (vec![true; rows.len()], Misfits::of(known));
    faults.rows().for_each(|row| kept[row - start] = false);
    find(rows, (0, rows.len()), start, decode, &mut |row, error: Error| {
        if !kept[row] {
            return;
        }
        kept[row] = false;
        let alone = read(&rows.slice(row, 1), start + row, OnError::Skip);
        let row = start + row;
        if let Ok((_, noted)) = alone
            && !noted.is_empty()
        {
            noted.first().for_each(|bad| faults.note(bad.row, || bad));
            return;
        }
        let path = error.path().cloned().unwrap_or_else(Path::root);
        let told = error.to_string().starts_with("row ");
        let error = if told { error } else { error.at(format!("row {row}")) };
        faults.note(row, || BadRow { row, offset: None, path, error });
    })?;
    let value = decode(&kept_rows(rows, &kept)?, start)?;
    let bad = reported(faults, &kept, on_error);
    match on_error {
        OnError::Default if !bad.is_empty() => {
            let own = spec.is_none().then(|| value.spec()).transpose()?;
            let spec = spec.or(own.as_ref()).ok_or_else(|| Error::internal("a value without a spec"))?;
            Ok((with_defaults(value, spec, &kept)?, bad))
        }
        OnError::Raise | OnError::Skip | OnError::Default => Ok((value, bad)),
    }
}

/// Tells of each row of a range that does not fit.
///
/// Errors: the array is of another type, which is no fault of a row.
fn find(
    rows: &ArrayRef,
    (from, to): (usize, usize),
    start: usize,
    decode: &dyn Fn(&ArrayRef, usize) -> Result<Value>,
    tell: &mut dyn FnMut(usize, Error),
) -> Result<()> {
    match (decode(&rows.slice(from, to - from), start + from), to - from) {
        (Ok(_), _) | (Err(_), 0) => {}
        (Err(error), _) if error.is_dtype() => return Err(error),
        (Err(error), 1) => tell(from, error),
        (Err(_), n) => {
            find(rows, (from, from + n / 2), start, decode, tell)?;
            find(rows, (from + n / 2, to), start, decode, tell)?;
        }
    }
    Ok(())
}

fn kept_rows(rows: &ArrayRef, kept: &[bool]) -> Result<ArrayRef> {
    let runs = kept.chunk_by(|a, b| a == b).scan(0, |at, run| {
        *at += run.len();
        Some((*at - run.len()..*at, run[0]))
    });
    let good = runs.filter(|(_, kept)| *kept).map(|(run, _)| run);
    picked_of(rows.as_ref(), good, kept.iter().filter(|kept| **kept).count())
}

/// The kept rows in their places, and a row of defaults in the others.
fn with_defaults(value: Value, spec: &Spec, kept: &[bool]) -> Result<Value> {
    let good = kept.iter().filter(|kept| **kept).count();
    let mut next = 0_i64;
    let places = kept.iter().map(|kept| {
        next += i64::from(*kept);
        if *kept { next - 1 } else { i64::try_from(good).unwrap_or(i64::MAX) }
    });
    with_default(value, spec, places.collect())
}
