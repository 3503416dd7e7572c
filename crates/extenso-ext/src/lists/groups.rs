//! Equal elements of lists: neighbours that are equal, distinct elements, and elements by keys.

use super::keys::{is_record, keys};
use super::pick::parts;
use super::{Beside, along, along_one, cut_by, in_shape_of, only, rows_value};
use crate::args::typed_ref;
use crate::axes::{outer, positions, rank};
use crate::masked::all_as_rows;
use crate::meaning::order::has_keys;
use crate::ragged::RaggedTensor;
use extenso_core::reduce::normalize_axis;
use extenso_core::{ExtensionType, Value, ops};
use extenso_types::{DType, DTypeKind, Dim, Error, Result};

/// Values of lists cut into runs of equal neighbours.
pub(super) struct Runs {
    /// How the values are cut into runs.
    pub cut: Value,
    /// How the runs are cut into the lists that they are of.
    pub of_rows: Value,
}

/// The runs of equal neighbours of each row. NaN equals NaN here, and missing equals missing.
pub(super) fn runs(rows: &RaggedTensor) -> Result<Runs> {
    let (values, partition) = (rows.values(), rows.partition());
    if matches!(values, Value::Ext(_)) {
        return runs_of_parts(rows);
    }
    Ok(Runs {
        cut: ops::segment_runs(values, partition)?,
        of_rows: cut_by(ops::segment_run_counts(values, partition)?)?,
    })
}

/// As `runs`, of elements that may be missing.
fn runs_of_parts(rows: &RaggedTensor) -> Result<Runs> {
    let values = rows.values();
    let before = ops::take(values, ops::maximum(ops::subtract(positions(values)?, 1)?, 0)?, 0)?;
    let first = ops::equal(ops::places_in_rows(rows.partition())?, 0)?;
    let begins = ops::cast(ops::logical_or(first, ops::logical_not(same(values, &before)?)?)?, DType::I64)?;
    let ids = ops::subtract(ops::cumulative_sum(&begins, 0, false)?, 1)?;
    Ok(Runs {
        cut: ops::partition_from_rowids(ids, None)?,
        of_rows: cut_by(ops::segment_sum(begins, rows.partition())?)?,
    })
}

/// Whether elements are the same.
fn same(a: &Value, b: &Value) -> Result<Value> {
    let ((a, mask_a), (b, mask_b)) = (parts(a)?, parts(b)?);
    let mut equal = ops::equal(&a, &b)?;
    if a.tensor().is_ok_and(|a| a.dtype().is_float()) {
        equal = ops::logical_or(equal, ops::logical_and(ops::isnan(a)?, ops::isnan(b)?)?)?;
    }
    let (Some(a), Some(b)) = (mask_a, mask_b) else { return Ok(equal) };
    let neither = ops::logical_not(ops::logical_or(&a, &b)?)?;
    ops::logical_or(neither, ops::logical_and(ops::logical_and(a, b)?, equal)?)
}

/// Lists in order, with the places that their elements had among all.
pub(super) struct Sorted {
    /// The lists in order.
    pub rows: RaggedTensor,
    /// For each element in order that by which it is equal to others.
    keys: RaggedTensor,
    /// For each element in order the place that it had.
    pub places: Value,
}

impl Sorted {
    /// The rows in increasing order.
    ///
    /// Errors: elements that have no order, or are rows.
    pub fn of(rows: &RaggedTensor) -> Result<Sorted> {
        let keys = keys(rows)?;
        let order = ops::segment_argsort(keys.values(), rows.partition(), false)?;
        let places = ops::places_by_row(order, rows.partition(), rows.partition())?;
        let ordered = |rows: &RaggedTensor| rows.with_values(ops::take(rows.values(), &places, 0)?);
        Ok(Sorted { rows: ordered(rows)?, keys: ordered(&keys)?, places })
    }

    /// The runs of equal elements.
    pub fn runs(&self) -> Result<Runs> {
        runs(&self.keys)
    }

    /// What stands for each element in order, back in the places that the elements had.
    pub fn back(&self, ordered: Value) -> Result<Value> {
        ops::take(ordered, ops::argsort(&self.places, 0, false)?, 0)
    }
}

/// The values of lists in increasing order, and their runs of equal elements.
///
/// Errors: as [`Sorted::of`].
fn in_order(rows: &RaggedTensor) -> Result<(Value, Runs)> {
    if rank(rows.values())? > 1 || is_record(rows.values()) || has_keys(rows.values()) {
        let sorted = Sorted::of(rows)?;
        return Ok((sorted.rows.values().clone(), sorted.runs()?));
    }
    // Numbers, booleans and text are sorted without their places.
    let sorted = rows.with_values(ops::segment_sort(rows.values(), rows.partition(), false)?)?;
    Ok((sorted.values().clone(), runs(&sorted)?))
}

/// For each element of a vector the number of distinct ones before it in order. What is missing comes behind all.
pub(crate) fn ranks(x: &Value) -> Result<Value> {
    let sorted = Sorted::of(&super::one_list(x)?)?;
    let Runs { cut, .. } = sorted.runs()?;
    sorted.back(ops::value_rowids(&cut)?)
}

/// The lengths of the runs of equal neighbours of each list along `axis`. Awkward Array's name.
///
/// NaN equals NaN here, and missing equals missing; elements with axes of one size are equal as a whole. Errors: an axis out of range;
/// elements that are rows.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec![1, 1, 2, 1], vec![], vec![3]]).unwrap();
/// assert_eq!(to_literal(&lists::run_lengths(&x, -1).unwrap()).unwrap().to_string(), "[[2, 1, 1], [], [1]]");
/// ```
pub fn run_lengths(x: &Value, axis: i64) -> Result<Value> {
    let lengths = |rows: &RaggedTensor| {
        let runs = runs(&keys(rows)?)?;
        rows_value(ops::row_lengths(&runs.cut)?, &runs.of_rows)
    };
    along_one(x, axis, &lengths).map_err(|e| e.at_part("run_lengths"))
}

/// The distinct elements of each list along `axis`, in increasing order; NaN behind all, and one for what is missing last.
///
/// Elements with axes of one size, as the rows of a matrix along axis 0, are in the order of their first parts that differ, and records in
/// that of their first fields that do. Errors: an axis out of range; elements without an order, or that are rows.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec![3, 1, 3], vec![], vec![2]]).unwrap();
/// assert_eq!(to_literal(&lists::unique(&x, -1).unwrap()).unwrap().to_string(), "[[1, 3], [], [2]]");
/// ```
pub fn unique(x: &Value, axis: i64) -> Result<Value> {
    let found = if is_vector_of_texts(x) && normalize_axis(axis, 1).is_ok() {
        ops::unique_values(x)
    } else {
        along_one(x, axis, &|rows| distinct(rows))
    };
    found.map_err(|e| e.at_part("unique"))
}

/// Whether a value is texts of one list, which are told apart without bringing all into their order.
fn is_vector_of_texts(x: &Value) -> bool {
    matches!(x, Value::Tensor(x) if x.dtype().kind() == DTypeKind::Text && x.rank() == Some(1))
}

pub(super) fn distinct(rows: &RaggedTensor) -> Result<Value> {
    let (values, runs) = in_order(rows)?;
    rows_value(ops::take(values, ops::row_starts(&runs.cut)?, 0)?, &runs.of_rows)
}

/// The distinct elements of each list along `axis`, as [`unique`] gives them, and how often each stands there.
///
/// Errors: as [`unique`].
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec![3, 1, 3], vec![]]).unwrap();
/// let (values, counts) = lists::unique_with_counts(&x, -1).unwrap();
/// assert_eq!(to_literal(&values).unwrap().to_string(), "[[1, 3], []]");
/// assert_eq!(to_literal(&counts).unwrap().to_string(), "[[1, 2], []]");
/// ```
pub fn unique_with_counts(x: &Value, axis: i64) -> Result<(Value, Value)> {
    let counted = |rows: &RaggedTensor| {
        let (values, Runs { cut, of_rows }) = in_order(rows)?;
        let values = ops::take(values, ops::row_starts(&cut)?, 0)?;
        Ok(vec![rows_value(values, &of_rows)?, rows_value(ops::row_lengths(&cut)?, &of_rows)?])
    };
    let found = if is_vector_of_texts(x) && normalize_axis(axis, 1).is_ok() {
        ops::unique_counts(x)
    } else {
        along(x, axis, Vec::new(), &|rows, _| counted(rows)).and_then(pair)
    };
    found.map_err(|e| e.at_part("unique_with_counts"))
}

/// The distinct elements of each list along `axis`, as [`unique`] gives them, and for each element of the list which of them it is.
///
/// Shapes: the second result has the shape and the rows of `x`, i64. Errors: as [`unique`].
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let x = constant(vec![vec![3, 1, 3], vec![]]).unwrap();
/// assert_eq!(to_literal(&lists::unique_with_inverse(&x, -1).unwrap().1).unwrap().to_string(), "[[1, 0, 1], []]");
/// ```
pub fn unique_with_inverse(x: &Value, axis: i64) -> Result<(Value, Value)> {
    let numbered = |rows: &RaggedTensor| {
        let sorted = Sorted::of(rows)?;
        let Runs { cut, of_rows } = sorted.runs()?;
        let values = ops::take(sorted.rows.values(), ops::row_starts(&cut)?, 0)?;
        let first = ops::gather_rows_of(ops::row_starts(&of_rows)?, rows.partition())?;
        let inverse = sorted.back(ops::subtract(ops::value_rowids(&cut)?, first)?)?;
        Ok(vec![rows_value(values, &of_rows)?, rows.with_values(inverse)?.into_value()])
    };
    let both = || {
        if is_vector_of_texts(x) && normalize_axis(axis, 1).is_ok() {
            return ops::unique_inverse(x);
        }
        let (values, inverse) = pair(along(x, axis, Vec::new(), &|rows, _| numbered(rows))?)?;
        Ok((values, in_shape_of(x, axis, inverse)?))
    };
    both().map_err(|e: Error| e.at_part("unique_with_inverse"))
}

/// The elements of each list along `axis` by their keys: the distinct keys in increasing order, and for each the elements that
/// have it, in the order that they had. Records are keys of several parts.
///
/// Shapes: `keys` has the axes and rows of `values` up to and with `axis`; the second result has one axis more than `values`,
/// the groups before their elements. Errors: an axis out of range; other rows; keys without an order, or that are rows.
///
/// ```
/// # use extenso_ext::{constant, lists, to_literal};
/// let (values, keys) = (constant(vec![10, 20, 30]).unwrap(), constant(vec!["b", "a", "b"]).unwrap());
/// let (keys, groups) = lists::group_by(&values, &keys, 0).unwrap();
/// assert_eq!(to_literal(&keys).unwrap().to_string(), r#"["a", "b"]"#);
/// assert_eq!(to_literal(&groups).unwrap().to_string(), "[[20], [10, 30]]");
/// ```
pub fn group_by(values: &Value, keys: &Value, axis: i64) -> Result<(Value, Value)> {
    let grouped = |keys: &RaggedTensor, values: &Value| {
        let rows = typed_ref::<RaggedTensor>(values).ok_or_else(|| Error::internal("lists are rows"))?;
        let values = rows.values_in(keys.partition()).map_err(|e| e.at("values"))?;
        let sorted = Sorted::of(keys)?;
        let Runs { cut, of_rows } = sorted.runs()?;
        let distinct = ops::take(sorted.rows.values(), ops::row_starts(&cut)?, 0)?;
        let groups = rows_value(ops::take(values, &sorted.places, 0)?, &cut)?;
        Ok(vec![rows_value(distinct, &of_rows)?, rows_value(groups, &of_rows)?])
    };
    let axis_of = || normalize_axis(axis, crate::axes::rank(values)?).map(crate::args::int);
    let of = |axis: i64| {
        if axis == 0 && is_vector_of_texts(keys) {
            let (words, places) = ops::unique_inverse(keys)?;
            return Ok(vec![words, group_by(values, &places, 0)?.1]);
        }
        if axis == 0
            && let (Some(Dim::Known(n)), Some(Dim::Known(m))) = (outer(values), outer(keys))
            && n != m
        {
            return Err(Error::shape(format!("there are {n} values and {m} keys")).wanted("a key for each value"));
        }
        let both = [keys.clone(), values.clone()];
        let both = if axis == 0 { both.to_vec() } else { all_as_rows(&both)? };
        along(&both[0], axis, vec![Beside::lists("values", &both[1])], &|keys, beside| grouped(keys, &beside[0]))
    };
    axis_of().and_then(of).and_then(pair).map_err(|e| e.at_part("group_by"))
}

pub(super) fn pair(values: Vec<Value>) -> Result<(Value, Value)> {
    let mut values = values.into_iter();
    match (values.next(), values.next()) {
        (Some(a), Some(b)) => Ok((a, b)),
        (first, _) => only(first.into_iter().collect()).map(|a| (a.clone(), a)),
    }
}
