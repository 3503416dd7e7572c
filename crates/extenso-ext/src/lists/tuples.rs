//! Tuples of elements of lists: some of one list, or one of each of several.
//!
//! A tuple is a place of each of its elements. Places are found step by step: each tuple so far gets one tuple for each element
//! that may stand behind it, so that partitions prove every count before it is used.

use super::{Beside, along, along_one, rows_value};
use crate::args::{int, typed_ref};
use crate::axes::rank;
use crate::ragged::{RaggedTensor, local_index};
use extenso_core::kernels::pool::affordable;
use extenso_core::reduce::normalize_axis;
use extenso_core::{Tensor, Value, ops};
use extenso_types::{Error, Result};

/// More elements than this in a tuple are taken for a mistake: their number drives how many steps there are.
const MOST: i64 = 64;

/// Tuples of places, and how they are cut into the lists that they are of.
struct Tuples {
    places: Vec<Value>,
    cut: Value,
}

impl Tuples {
    /// The first element of each tuple: the first of each list, as many as `counts` say.
    fn start(rows: &RaggedTensor, counts: Value) -> Result<Tuples> {
        let cut = ops::partition_from_lengths(counts)?;
        let starts = ops::gather_rows_of(ops::row_starts(rows.partition())?, &cut)?;
        Ok(Tuples { places: vec![ops::add(starts, ops::places_in_rows(&cut)?)?], cut })
    }

    /// One element more: for each tuple so far, `counts` elements from the place `first` on.
    fn further(self, first: &Value, counts: Value) -> Result<Tuples> {
        let each = ops::partition_from_lengths(&counts)?;
        let places = self.places.iter().map(|place| ops::gather_rows_of(place, &each));
        let next = ops::add(ops::gather_rows_of(first, &each)?, ops::places_in_rows(&each)?)?;
        let places = places.chain([Ok(next)]).collect::<Result<Vec<Value>>>()?;
        let cut = ops::partition_from_lengths(ops::segment_sum(counts, self.cut)?)?;
        Ok(Tuples { places, cut })
    }

    fn last(&self) -> Result<&Value> {
        self.places.last().ok_or_else(|| Error::internal("a tuple has an element"))
    }
}

/// All tuples of `n` elements of each list along `axis`, in the order of their positions; Awkward Array's name.
///
/// The elements of a tuple stand at increasing positions; with `replacement`, an element may stand in it again. Shapes: the axis
/// counts tuples, and behind it is one of `n`. Errors: an `n` below 1 or above 64; an axis out of range; more tuples than memory
/// holds.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec![1, 2, 3], vec![4]]).unwrap();
/// let pairs = lists::combinations(&x, 2, false, -1).unwrap();
/// assert_eq!(to_literal(&pairs).unwrap().to_string(), "[[[1, 2], [1, 3], [2, 3]], []]");
/// ```
pub fn combinations(x: &Value, n: i64, replacement: bool, axis: i64) -> Result<Value> {
    let combined = || {
        if !(1..=MOST).contains(&n) {
            return Err(Error::value(format!("n is {n}")).wanted(format!("from 1 to {MOST}")));
        }
        along_one(x, axis, &|rows| chosen(rows, n, replacement))
    };
    combined().map_err(|e| e.at_part("combinations"))
}

/// The positions in their list of the elements of each tuple that [`combinations`] makes.
///
/// Shapes and errors: as of [`combinations`].
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec!["a", "b"], vec!["c"]]).unwrap();
/// let pairs = lists::argcombinations(&x, 2, false, -1).unwrap();
/// assert_eq!(to_literal(&pairs).unwrap().to_string(), "[[[0, 1]], []]");
/// ```
pub fn argcombinations(x: &Value, n: i64, replacement: bool, axis: i64) -> Result<Value> {
    let places = places_along(x, axis).and_then(|(places, axis)| combinations(&places, n, replacement, axis));
    places.map_err(|e| e.at_part("argcombinations"))
}

fn chosen(rows: &RaggedTensor, n: i64, replacement: bool) -> Result<Value> {
    // As many elements as are still to come must be left behind each.
    let (step, rest) = if replacement { (0, 0) } else { (1, n - 1) };
    let lengths = Value::from(rows.row_lengths()?);
    count_of_all(&lengths, n, replacement)?;
    let ends = ops::add(ops::row_starts(rows.partition())?, &lengths)?;
    let mut tuples = Tuples::start(rows, ops::maximum(ops::subtract(&lengths, rest)?, 0)?)?;
    for k in 1..n {
        let left = if replacement { 0 } else { n - 1 - k };
        let first = ops::add(tuples.last()?, step)?;
        let ends = ops::gather_rows_of(&ends, &tuples.cut)?;
        let counts = ops::maximum(ops::subtract(ops::subtract(ends, &first)?, left)?, 0)?;
        tuples = tuples.further(&first, counts)?;
    }
    let places = ops::stack(tuples.places.into_iter().map(extenso_core::Arg::Value).collect::<Vec<_>>(), 1)?;
    rows_value(ops::take(rows.values(), places, 0)?, &tuples.cut)
}

/// Checks that all tuples can be had, before shorter ones are made on the way there.
///
/// Errors: more than memory holds.
fn count_of_all(lengths: &Value, n: i64, replacement: bool) -> Result<()> {
    let Ok(lengths) = lengths.tensor().and_then(Tensor::as_slice::<i64>) else { return Ok(()) };
    let of = |length: i64| {
        let most = if replacement { length.saturating_add(n - 1) } else { length };
        (0..n).map(|i| (most - i).max(0) as f64 / (i + 1) as f64).product::<f64>()
    };
    let tuples: f64 = lengths.iter().map(|&length| of(length)).sum();
    affordable(((tuples * n as f64) as usize).saturating_mul(size_of::<i64>()))
}

/// All tuples of one element of each of several values, list by list along `axis`, as one value for each position in the tuple.
///
/// The last value changes fastest. Shapes: the values have the same rows before the axis; the results have one partition. Errors:
/// no value; other rows; an axis out of range; more tuples than memory holds.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let (x, y) = (constant(vec![vec![1, 2], vec![3]]).unwrap(), constant(vec![vec!["a", "b"], vec![]]).unwrap());
/// let both = lists::cartesian(&[x, y], -1).unwrap();
/// assert_eq!(to_literal(&both[0]).unwrap().to_string(), "[[1, 1, 2, 2], []]");
/// assert_eq!(to_literal(&both[1]).unwrap().to_string(), r#"[["a", "b", "a", "b"], []]"#);
/// ```
pub fn cartesian(values: &[Value], axis: i64) -> Result<Vec<Value>> {
    product(values, axis).map_err(|e: Error| e.at_part("cartesian"))
}

fn product(values: &[Value], axis: i64) -> Result<Vec<Value>> {
    let (first, rest) = values.split_first().ok_or_else(|| Error::value("no value is given"))?;
    let axis = extenso_core::reduce::normalize_axis(axis, crate::axes::rank(first)?)?;
    let beside = rest.iter().map(|value| Beside::lists("values", value)).collect();
    along(first, int(axis), beside, &paired)
}

/// The positions in their lists of the elements of each tuple that [`cartesian`] makes.
///
/// Shapes and errors: as of [`cartesian`].
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let (x, y) = (constant(vec![vec![7, 8]]).unwrap(), constant(vec![vec!["a"]]).unwrap());
/// let both = lists::argcartesian(&[x, y], -1).unwrap();
/// assert_eq!(to_literal(&both[0]).unwrap().to_string(), "[[0, 1]]");
/// ```
pub fn argcartesian(values: &[Value], axis: i64) -> Result<Vec<Value>> {
    let of_places = || {
        let Some(first) = values.first() else { return product(values, axis) };
        let (_, axis) = places_along(first, axis)?;
        let places: Vec<Value> = values.iter().map(|x| Ok(places_along(x, axis)?.0)).collect::<Result<_>>()?;
        product(&places, axis)
    };
    of_places().map_err(|e: Error| e.at_part("argcartesian"))
}

/// The position of each element in its list, and the axis counted from the front: those behind it are left out.
fn places_along(x: &Value, axis: i64) -> Result<(Value, i64)> {
    let axis = int(normalize_axis(axis, rank(x)?)?);
    Ok((local_index(x.clone(), axis)?, axis))
}

fn paired(rows: &RaggedTensor, others: &[Value]) -> Result<Vec<Value>> {
    let mut lists = vec![rows.clone()];
    for other in others {
        let other = typed_ref::<RaggedTensor>(other).ok_or_else(|| Error::internal("lists are rows"))?;
        lists.push(other.into_owned());
    }
    count_of_pairs(&lists)?;
    let mut tuples = Tuples::start(rows, rows.row_lengths()?.into())?;
    for list in &lists[1..] {
        let first = ops::gather_rows_of(ops::row_starts(list.partition())?, &tuples.cut)?;
        let counts = ops::gather_rows_of(list.row_lengths()?, &tuples.cut)?;
        tuples = tuples.further(&first, counts)?;
    }
    let Tuples { places, cut } = tuples;
    lists.iter().zip(places).map(|(list, at)| rows_value(ops::take(list.values(), at, 0)?, &cut)).collect()
}

/// Checks that all tuples of one element of each list can be had, before those of the first lists are made.
///
/// Errors: more than memory holds.
fn count_of_pairs(lists: &[RaggedTensor]) -> Result<()> {
    let lengths = lists.iter().map(RaggedTensor::row_lengths).collect::<Result<Vec<Tensor>>>()?;
    let Ok(lengths) = lengths.iter().map(Tensor::as_slice::<i64>).collect::<Result<Vec<&[i64]>>>() else {
        return Ok(());
    };
    let of = |row: usize| lengths.iter().map(|each| each.get(row).map_or(0.0, |n| *n as f64)).product::<f64>();
    let tuples: f64 = (0..lengths[0].len()).map(of).sum();
    affordable(((tuples * lists.len() as f64) as usize).saturating_mul(size_of::<i64>()))
}
