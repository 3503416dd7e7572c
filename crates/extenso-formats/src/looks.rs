//! What users' types say of the data of values that were read.
//!
//! Invariant: a type looks once at a value, when all of it is read, and at the rows that are there alone: what lies under something missing,
//! outside every row or in the place of a bad row has no meaning, and no type refuses it. A refusal is a fault of its row.

use crate::arrow::{picked, with_default};
use crate::columns::{BadRow, BadRows, Bits, MAX_REPORTED, OnError};
use crate::records::{is, placed};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use extenso_core::{ExtensionType, Provenance, RowPartition, TypeSpec, Value, behavior, rebuild};
use extenso_ext::{
    CategoricalTensorSpec, MaskedTensor, MaskedTensorSpec, RaggedTensor, RaggedTensorSpec, StructSpec, UnionSpec,
    UnionTensor, outer,
};
use extenso_types::{Dim, Error, ExtSpec, Path, Result, Segment, Spec};

/// Whether a type looks at data that is not right already.
pub fn looks(ext: &ExtSpec) -> bool {
    let made_right = [StructSpec::def(), UnionSpec::def(), CategoricalTensorSpec::def()];
    made_right.iter().all(|def| def.uid() != ext.def.uid())
        && behavior(&ext.def).is_some_and(|behavior| behavior.checks_data())
}

/// Where the components of a value that is being read count as coming from: a type that looks at data does so when all of it is read.
pub fn provenance(ext: &ExtSpec) -> Provenance {
    if looks(ext) { Provenance::Trusted } else { Provenance::Outside }
}

/// The first rows that users' types refuse, at most so many, counted from the first row; those that are not seen are of no meaning.
///
/// Errors: a value that cannot be looked at row by row; what a type fails with that is no refusal ([`is_refusal`]).
pub fn refused(value: &Value, seen: Option<&BooleanBuffer>, most: usize) -> Result<Vec<BadRow>> {
    let mut bad = Vec::new();
    if !looks_somewhere(&value.spec()?) {
        return Ok(bad);
    }
    let rows = rows_of(value);
    match (walk(value, &Path::root(), seen), rows) {
        (Ok(()), _) => {}
        (Err((_, error)), _) if !is_refusal(&error) => return Err(error),
        // One record has no other row that could be at fault.
        (Err(found), None) => bad.push(refusal(0, &found)),
        (Err(found), Some(rows)) => halved(value, (0, rows), seen, &found, most, &mut bad)?,
    }
    Ok(bad)
}

/// Whether an error says something of the data, as memory that ran out and a fault of the type itself do not.
fn is_refusal(error: &Error) -> bool {
    !(error.is_internal() || error.is_memory() || error.is_scope() || error.is_io())
}

/// Which rows are looked at.
#[derive(Clone, Copy, Default)]
pub struct Seen<'a> {
    /// The number of the first.
    pub start: usize,
    /// Whether each is there; all, if there is none.
    pub there: Option<&'a BooleanBuffer>,
    /// Where each starts in its input, in bytes, if that is known.
    pub bytes: &'a [usize],
}

impl<'a> Seen<'a> {
    /// Rows that are counted from here, and start at these bytes if that is known.
    pub fn from(start: usize, bytes: &'a [usize]) -> Seen<'a> {
        Seen { start, there: None, bytes }
    }
}

/// The value of rows that were read, of which those that a type refuses are left out, or hold defaults, as the other bad rows do.
///
/// Errors: a row that is refused, under the policy that raises.
pub fn judged(
    value: Value,
    mut bad: BadRows,
    Seen { start, there, bytes }: Seen<'_>,
    spec: &Spec,
    on_error: OnError,
) -> Result<(Value, BadRows)> {
    if !looks_somewhere(spec) {
        return Ok((value, bad));
    }
    let rows = rows_of(&value).unwrap_or(0);
    let mut fits: Vec<bool> = (0..rows).map(|row| !bad.defaulted.get(row)).collect();
    let held = Some(BooleanBuffer::from(&fits[..])).filter(|_| !bad.is_empty());
    let held = match (held, there) {
        (Some(held), Some(there)) => Some(&held & there),
        (held, there) => held.or_else(|| there.cloned()),
    };
    let found = refused(&value, held.as_ref(), most(on_error))?;
    if found.is_empty() {
        return Ok((value, bad));
    }
    // Rows that were left out already stand nowhere, and are counted.
    let mut left_out = bad.rows.clone().into_iter().filter(|_| on_error == OnError::Skip).peekable();
    let mut next = start;
    let numbers: Vec<usize> = (0..rows)
        .map(|_| {
            while left_out.next_if_eq(&next).is_some() {
                next += 1;
            }
            next += 1;
            next - 1
        })
        .collect();
    for found in found {
        fits[found.row] = false;
        let before = numbers[found.row] - found.row;
        let offset = bytes.get(found.row).copied();
        let found = BadRow { offset, ..in_row(found, before) };
        if on_error == OnError::Raise {
            return Err(found.error);
        }
        bad.rows.push(found.row);
        bad.first.push(found);
    }
    bad.rows.sort_unstable();
    bad.first.sort_by_key(|bad| bad.row);
    bad.first.truncate(MAX_REPORTED);
    if on_error == OnError::Default {
        bad.defaulted = Bits::default();
        fits.iter().for_each(|fits| bad.defaulted.push(!fits));
    }
    Ok((without(value, spec, &fits, on_error)?, bad))
}

/// The rows that fit, in their places or one after the other; in the place of the others is a row of defaults.
///
/// Errors: a type that has no default.
pub fn without(value: Value, spec: &Spec, fits: &[bool], on_error: OnError) -> Result<Value> {
    let places = (0..).zip(fits).filter(|(_, fits)| **fits || on_error == OnError::Default);
    let fill = i64::try_from(fits.len()).unwrap_or(i64::MAX);
    let places = places.map(|(place, fits)| if *fits { place } else { fill }).collect();
    match on_error {
        OnError::Default => with_default(value, spec, places),
        OnError::Raise | OnError::Skip => picked(vec![value], places),
    }
}

/// How many refused rows are looked for.
pub fn most(on_error: OnError) -> usize {
    if on_error == OnError::Raise { 1 } else { usize::MAX }
}

/// A refusal of a row, behind so many others, as an error that says so.
pub fn in_row(bad: BadRow, before: usize) -> BadRow {
    let row = before + bad.row;
    BadRow { row, error: placed(bad.error, &format!("row {row}")), ..bad }
}

fn refusal(row: usize, (path, error): &(Path, Error)) -> BadRow {
    let error = if path.is_root() { error.clone() } else { placed(error.clone(), &format!("'{path}'")) };
    BadRow { row, offset: None, path: path.clone(), error }
}

/// Finds the rows of a range that are refused, of which there are some.
fn halved(
    value: &Value,
    (from, to): (usize, usize),
    seen: Option<&BooleanBuffer>,
    found: &(Path, Error),
    most: usize,
    bad: &mut Vec<BadRow>,
) -> Result<()> {
    if to - from <= 1 {
        bad.push(refusal(from, found));
        return Ok(());
    }
    let middle = from + (to - from) / 2;
    let before = bad.len();
    for (from, to) in [(from, middle), (middle, to)] {
        if bad.len() >= most {
            break;
        }
        let places = (from..to).map(|row| i64::try_from(row).unwrap_or(i64::MAX)).collect();
        let part = picked(vec![value.clone()], places)?;
        let seen_part = seen.map(|seen| seen.slice(from, to - from));
        if let Err(found) = walk(&part, &Path::root(), seen_part.as_ref()) {
            if !is_refusal(&found.1) {
                return Err(found.1);
            }
            halved(value, (from, to), seen, &found, most, bad)?;
        }
    }
    if bad.len() == before {
        // What a type refuses of many rows together, and of no half of them, none of them is free of.
        bad.extend((from..to).map(|row| refusal(row, found)));
    }
    Ok(())
}

/// The number of rows: of a type whose axes are not known here, that of its components, which are stored as the fields of a record are.
pub(crate) fn rows_of(value: &Value) -> Option<usize> {
    match (outer(value)?, value) {
        (Dim::Known(rows), _) => Some(rows),
        (Dim::Var(_), Value::Ext(ext)) => ext.components().ok()?.iter().find_map(rows_of),
        (Dim::Var(_), Value::Tensor(_) | Value::Partition(_)) => None,
    }
}

/// Whether a type of a spec, or of a part of it, looks at data.
pub fn looks_somewhere(spec: &Spec) -> bool {
    let Spec::Ext(ext) = spec else { return false };
    looks(ext) || ext.components.iter().any(|(_, spec)| looks_somewhere(spec))
}

type Looked = std::result::Result<(), (Path, Error)>;

/// Has each type look at what is seen of its values, from the inside.
fn walk(value: &Value, path: &Path, seen: Option<&BooleanBuffer>) -> Looked {
    let broken = |error: Error| (path.clone(), error);
    let Value::Ext(ext) = value else { return Ok(()) };
    let spec = ext.spec().map_err(broken)?;
    if !looks_somewhere(&Spec::from(spec.clone())) {
        return Ok(());
    }
    if is::<MaskedTensorSpec>(&spec) {
        let masked = MaskedTensor::from_value(value).map_err(broken)?;
        return walk(masked.values(), path, both(seen, there(&masked).map_err(broken)?).as_ref());
    }
    if is::<RaggedTensorSpec>(&spec) {
        let rows = RaggedTensor::from_value(value).map_err(broken)?;
        let inside = in_rows(rows.partition(), seen).map_err(broken)?;
        return walk(rows.values(), &path.child(Segment::Each), inside.as_ref());
    }
    if is::<UnionSpec>(&spec) {
        return walk_union(&UnionTensor::from_value(value).map_err(broken)?, path, seen);
    }
    let components = ext.components().map_err(broken)?;
    for ((segment, _), component) in spec.components.iter().zip(&components) {
        // A component that has other elements than the value is looked at as a whole.
        let seen = seen.filter(|seen| rows_of(component) == Some(seen.len()));
        let path = if *segment == Segment::Itself { path.clone() } else { path.child(segment.clone()) };
        walk(component, &path, seen)?;
    }
    if looks(&spec) { look(&spec, components, seen).map_err(broken) } else { Ok(()) }
}

/// Has a type look at the elements of a value that are seen.
fn look(spec: &ExtSpec, components: Vec<Value>, seen: Option<&BooleanBuffer>) -> Result<()> {
    let Some(seen) = seen.filter(|seen| seen.count_set_bits() < seen.len()) else {
        // Nothing is there to be refused.
        let empty = components.iter().any(|component| rows_of(component) == Some(0));
        return if empty { Ok(()) } else { rebuild(spec, components, Provenance::Outside).map(|_| ()) };
    };
    let places: Vec<i64> = seen.set_indices().map(|place| i64::try_from(place).unwrap_or(i64::MAX)).collect();
    if places.is_empty() {
        return Ok(());
    }
    let parts = components.into_iter().map(|component| match rows_of(&component) {
        Some(n) if n == seen.len() => picked(vec![component], places.clone()),
        _ => Ok(component),
    });
    rebuild(spec, parts.collect::<Result<Vec<Value>>>()?, Provenance::Outside).map(|_| ())
}

fn walk_union(union: &UnionTensor, path: &Path, seen: Option<&BooleanBuffer>) -> Looked {
    let broken = |error: Error| (path.clone(), error);
    let tags = union.tags().as_slice::<i8>().map_err(broken)?;
    let offsets = union.offsets().map(|offsets| offsets.as_slice::<i32>()).transpose().map_err(broken)?;
    for child in union.children() {
        let len = rows_of(&child.values).unwrap_or(0);
        let mut own = vec![false; len];
        for (row, tag) in tags.iter().enumerate() {
            let place = offsets.map_or(Some(row), |offsets| usize::try_from(offsets[row]).ok());
            if *tag == child.id && seen.is_none_or(|seen| seen.value(row)) {
                place.and_then(|place| own.get_mut(place)).into_iter().for_each(|own| *own = true);
            }
        }
        let path = path.child(Segment::field(&*child.name));
        walk(&child.values, &path, Some(&BooleanBuffer::from(own)))?;
    }
    Ok(())
}

/// The outer elements of which all is there.
fn there(masked: &MaskedTensor) -> Result<BooleanBuffer> {
    let mask = masked.mask().data()?;
    let (bits, inner) = (mask.bits()?, mask.dims().get(1..).unwrap_or_default().iter().product::<usize>());
    if inner == 1 {
        return Ok(bits.clone());
    }
    let all = |row: usize| bits.slice(row * inner, inner).count_set_bits() == inner;
    Ok((0..mask.dims().first().copied().unwrap_or(0)).map(all).collect())
}

fn both(seen: Option<&BooleanBuffer>, there: BooleanBuffer) -> Option<BooleanBuffer> {
    Some(match seen {
        Some(seen) if seen.len() == there.len() => seen & &there,
        _ => there,
    })
}

/// The values that stand in rows that are seen; none where all do.
fn in_rows(partition: &RowPartition, seen: Option<&BooleanBuffer>) -> Result<Option<BooleanBuffer>> {
    let rows = partition.data()?;
    if seen.is_none() && rows.covers_all() {
        return Ok(None);
    }
    let mut values = BooleanBufferBuilder::new(rows.nvalues());
    values.append_n(rows.first(), false);
    for row in 0..rows.nrows() {
        values.append_n(rows.row(row).len(), seen.is_none_or(|seen| seen.value(row)));
    }
    values.append_n(rows.nvalues() - rows.last(), false);
    Ok(Some(values.finish()))
}
