//! Lists cut into parts.

use super::{Beside, along, rows_value};
use crate::args::{int, typed_ref};
use crate::axes::{is_ragged, rank};
use crate::masked::MaskedTensor;
use crate::ragged::{RaggedTensor, cut_in};
use crate::structs::masked_by;
use extenso_core::ops::Sections;
use extenso_core::reduce::normalize_axis;
use extenso_core::{ExtensionType, Value, ops};
use extenso_types::{DType, Error, Result};

/// More parts than this are taken for a mistake: no data stands behind their number.
const MOST: i64 = 1 << 16;

/// The parts of each list along `axis`: as many of one size as `sections` says, or of the sizes that it lists.
///
/// Lists of different lengths have parts of different lengths. Errors: parts that do not come to the length of a list, which is
/// named; a negative size; an axis out of range, or a uniform one of a size that is not known.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec![1, 2, 3, 4], vec![], vec![5, 6]]).unwrap();
/// let parts = lists::split(&x, 2, 1).unwrap();
/// assert_eq!(to_literal(&parts[1]).unwrap().to_string(), "[[3, 4], [], [6]]");
/// ```
pub fn split(x: &Value, sections: impl Into<Sections>, axis: i64) -> Result<Vec<Value>> {
    let sections = sections.into();
    let Some(at) = rank(x).and_then(|rank| normalize_axis(axis, rank)).ok().filter(|&at| is_ragged(x, at)) else {
        return ops::split(x, sections, axis);
    };
    split_at(x, &sections, at).map_err(|e| e.at_part("split"))
}

/// The first half of each list along `axis`, times the `sigmoid` of the second.
///
/// As [`ops::glu`], also of lists of different lengths. Errors: as there; a list of odd length.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec![3.0, 0.0], vec![], vec![1.0, 2.0, 0.0, 0.0]]).unwrap();
/// assert_eq!(to_literal(&lists::glu(&x, 1).unwrap()).unwrap().to_string(), "[[1.5], [], [0.5, 1.0]]");
/// ```
pub fn glu(x: &Value, axis: i64) -> Result<Value> {
    let halves = split(x, Sections::Equal(2), axis);
    halves.and_then(|halves| ops::multiply(&halves[0], ops::sigmoid(&halves[1])?)).map_err(|e| e.at_part("glu"))
}

/// The same along a ragged axis. A list that is missing has parts that are, whatever lies there.
fn split_at(x: &Value, sections: &Sections, at: usize) -> Result<Vec<Value>> {
    if let Some(masked) = typed_ref::<MaskedTensor>(x)
        && masked.mask_rank()? == 1
    {
        if at > 1 {
            let made = split_at(&masked.values_there()?, sections, at)?;
            return made.into_iter().map(|part| masked_by(part, masked.mask())).collect();
        }
        let there = vec![Beside::each("there", ops::cast(masked.mask(), DType::I64)?)];
        let made =
            along(&masked.values_there()?, int(at), there, &|rows, beside| parts(rows, sections, beside.first()))?;
        return made.into_iter().map(|part| masked_by(part, masked.mask())).collect();
    }
    match typed_ref::<RaggedTensor>(x) {
        Some(rows) if at > 1 => {
            let rows = rows.compact()?;
            let made = split_at(rows.values(), sections, at - 1)?;
            made.into_iter().map(|part| Ok(rows.with_values(part)?.into_value())).collect()
        }
        _ => along(x, int(at), Vec::new(), &|rows, _| parts(rows, sections, None)),
    }
}

/// The parts of rows, which are as long as they say where `there` is one, and empty where it is zero.
fn parts(rows: &RaggedTensor, sections: &Sections, there: Option<&Value>) -> Result<Vec<Value>> {
    if *sections == Sections::Sizes(Vec::new()) && rows.partition().data().is_err() {
        return Err(Error::value("no size is given, and the lengths of lists are not known while tracing")
            .wanted("at least one size"));
    }
    let mut lengths = lengths_of(rows, sections)?;
    let mut known = known_of(rows, sections, lengths.len());
    if let Some(there) = there {
        lengths = lengths.into_iter().map(|length| ops::multiply(length, there)).collect::<Result<_>>()?;
        known.fill(None);
    }
    let total = lengths.iter().try_fold(ops::zeros_like(rows.row_lengths()?)?, ops::add)?;
    let whole = ops::partition_from_lengths(total)?;
    let values = ops::align_rows(rows.values(), rows.partition(), &whole)
        .map_err(|e| e.note("The parts do not come to the length of each list."))?;
    let mut start = ops::row_starts(whole)?;
    let part = |(length, known): (Value, Option<usize>)| {
        let cut = Value::from(cut_in(length.clone(), known, DType::I64)?);
        let places = ops::add(ops::gather_rows_of(&start, &cut)?, ops::places_in_rows(&cut)?)?;
        start = ops::add(&start, length)?;
        rows_value(ops::take(&values, places, 0)?, &cut)
    };
    lengths.into_iter().zip(known).map(part).collect()
}

/// The length that each part has of every row, where that is known.
fn known_of(rows: &RaggedTensor, sections: &Sections, count: usize) -> Vec<Option<usize>> {
    match sections {
        Sections::Sizes(sizes) => sizes.iter().map(|size| usize::try_from(*size).ok()).collect(),
        Sections::Equal(_) => {
            let each = rows.partition().spec().uniform_row_length.and_then(|length| length.checked_div(count));
            vec![each; count]
        }
    }
}

/// The length that each part has of each row.
fn lengths_of(rows: &RaggedTensor, sections: &Sections) -> Result<Vec<Value>> {
    let lengths = Value::from(rows.row_lengths()?);
    match sections {
        Sections::Equal(parts) if (1..=MOST).contains(parts) => {
            let each = ops::floor_divide(lengths, *parts)?;
            Ok((0..*parts).map(|_| each.clone()).collect())
        }
        Sections::Equal(parts) => {
            Err(Error::value(format!("{parts} parts are asked for")).wanted(format!("from 1 to {MOST}")))
        }
        Sections::Sizes(sizes) => match sizes.iter().find(|size| **size < 0) {
            Some(size) => Err(Error::value(format!("a size is {size}")).wanted("sizes that are not negative")),
            None => sizes.iter().map(|size| ops::add(ops::zeros_like(&lengths)?, *size)).collect(),
        },
    }
}
