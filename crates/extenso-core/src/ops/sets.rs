//! The distinct elements of a tensor, in increasing order. Compositions over one stable sort.
//!
//! Invariant: elements are the same if `equal` says so: NaN differs from NaN, and both zeros are one.

use super::{
    argsort, bin_counts, boolean_mask, concat, cumulative_sum, equal, indices_along, lookup, not_equal, reshape,
    reshape_like, scatter_add_like, slice, sort, subtract, sum, take, vocabulary,
};
use crate::attrs::Axes;
use crate::ops::{cast, ones_like, zeros_like};
use crate::tensor::Tensor;
use crate::value::{Arg, Value};
use extenso_types::{DType, DTypeKind, Result};

/// The distinct elements of a tensor and where they stand.
#[derive(Clone, Debug)]
pub struct Unique {
    /// The distinct elements in increasing order, as a vector.
    pub values: Value,
    /// Where each stands first among all elements in row-major order, as i64.
    pub indices: Value,
    /// For each element of the tensor, in its shape, the position among the distinct ones, as i64.
    pub inverse_indices: Value,
    /// How often each stands there, as i64.
    pub counts: Value,
}

/// The distinct elements of a tensor, where each stands first, which each element is, and how often each stands there.
///
/// Errors: a value that is no tensor; boxed values.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let unique = ops::unique_all(Tensor::from_vec(vec![5, 3, 5])).unwrap();
/// assert_eq!((unique.values.to_string(), unique.counts.to_string()), ("[3, 5]".into(), "[1, 2]".into()));
/// assert_eq!((unique.indices.to_string(), unique.inverse_indices.to_string()), ("[1, 0]".into(), "[1, 0, 1]".into()));
/// ```
pub fn unique_all(x: impl Into<Arg>) -> Result<Unique> {
    x.into().value().and_then(all).map_err(|e| e.at_part("unique_all"))
}

/// The distinct elements of a tensor in increasing order, as a vector.
///
/// Errors: as [`unique_all`].
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// assert_eq!(ops::unique_values(Tensor::from_vec(vec![5, 3, 5])).unwrap().to_string(), "[3, 5]");
/// ```
pub fn unique_values(x: impl Into<Arg>) -> Result<Value> {
    let values = |x: &Value| {
        if is_text(dense(x)?) {
            return words(x);
        }
        let sorted = sort(reshape(x, vec![-1_i64])?, -1, false)?;
        boolean_mask(&sorted, firsts(&sorted)?, 0)
    };
    x.into().value().and_then(values).map_err(|e| e.at_part("unique_values"))
}

/// The distinct elements of a tensor, and how often each stands there.
///
/// Errors: as [`unique_all`].
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let (values, counts) = ops::unique_counts(Tensor::from_vec(vec![5, 3, 5])).unwrap();
/// assert_eq!((values.to_string(), counts.to_string()), ("[3, 5]".into(), "[1, 2]".into()));
/// ```
pub fn unique_counts(x: impl Into<Arg>) -> Result<(Value, Value)> {
    let counted = |x: &Value| {
        if is_text(dense(x)?) {
            let words = words(x)?;
            // Each is there once at least, so that none is left out behind the last.
            let counts = bin_counts(places(x, &words)?, 0)?;
            return Ok((words, counts));
        }
        let sorted = sort(reshape(x, vec![-1_i64])?, -1, false)?;
        let first = firsts(&sorted)?;
        let counts = counts(&sorted, &first)?;
        Ok((boolean_mask(sorted, first, 0)?, counts))
    };
    x.into().value().and_then(counted).map_err(|e| e.at_part("unique_counts"))
}

/// The distinct elements of a tensor, and the position among them of each element, in the shape of the tensor.
///
/// Errors: as [`unique_all`].
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let (values, inverse) = ops::unique_inverse(Tensor::from_vec(vec![5, 3, 5])).unwrap();
/// assert_eq!((values.to_string(), inverse.to_string()), ("[3, 5]".into(), "[1, 0, 1]".into()));
/// ```
pub fn unique_inverse(x: impl Into<Arg>) -> Result<(Value, Value)> {
    let placed = |x: &Value| {
        if is_text(dense(x)?) {
            let words = words(x)?;
            let inverse = places(x, &words)?;
            return Ok((words, inverse));
        }
        let groups = Groups::of(x)?;
        let inverse = groups.inverse(x)?;
        Ok((boolean_mask(groups.sorted, groups.first, 0)?, inverse))
    };
    x.into().value().and_then(placed).map_err(|e| e.at_part("unique_inverse"))
}

fn is_text(x: &Tensor) -> bool {
    x.dtype().kind() == DTypeKind::Text
}

/// The distinct texts in order: most texts come more than once, and only those that differ are brought into it.
fn words(x: &Value) -> Result<Value> {
    sort(vocabulary(reshape(x, vec![-1_i64])?, None, 1_i64)?, -1, false)
}

/// The place of each text among the distinct ones.
fn places(x: &Value, words: &Value) -> Result<Value> {
    lookup(x, words, -1_i64, 0_i64)
}

/// Checks that all elements are there and in one shape.
fn dense(x: &Value) -> Result<&Tensor> {
    x.tensor().map_err(|e| {
        e.at("x").hint(
            "`unique`, `unique_with_counts` and `unique_with_inverse` take rows and what may be missing, along one axis.",
        )
    })
}

/// The elements in order, and which of them are the first of their kind.
struct Groups {
    order: Value,
    sorted: Value,
    first: Value,
}

impl Groups {
    fn of(x: &Value) -> Result<Groups> {
        dense(x)?;
        let flat = reshape(x, vec![-1_i64])?;
        let order = argsort(&flat, -1, false)?;
        let sorted = take(flat, &order, 0)?;
        let first = firsts(&sorted)?;
        Ok(Groups { order, sorted, first })
    }

    /// For each element of `x` the position of its kind.
    fn inverse(&self, x: &Value) -> Result<Value> {
        let kinds = subtract(cumulative_sum(cast(&self.first, DType::I64)?, -1, false)?, 1)?;
        // Each position is there once: nothing is added to it.
        reshape_like(scatter_add_like(kinds, &self.order, zeros_like(&self.order)?)?, x)
    }
}

/// How many of sorted elements are of each kind.
fn counts(sorted: &Value, first: &Value) -> Result<Value> {
    let starts = boolean_mask(indices_along(sorted, 0)?, first, 0)?;
    let size = sum(ones_like(indices_along(sorted, 0)?)?, Axes::All, true)?;
    let ends = slice(concat(vec![starts.clone(), reshape(size, vec![1_i64])?], 0)?, 0, 1, None, 1)?;
    subtract(ends, starts)
}

/// Which of sorted elements are the first of their kind: those that differ from the one before.
fn firsts(sorted: &Value) -> Result<Value> {
    let is_start = equal(indices_along(slice(sorted, 0, 0, vec![1_i64], 1)?, 0)?, 0)?;
    let differs = not_equal(slice(sorted, 0, 1, None, 1)?, slice(sorted, 0, 0, vec![-1_i64], 1)?)?;
    concat(vec![is_start, differs], 0)
}

fn all(x: &Value) -> Result<Unique> {
    let groups = Groups::of(x)?;
    let inverse_indices = groups.inverse(x)?;
    let Groups { order, sorted, first } = groups;
    Ok(Unique {
        counts: counts(&sorted, &first)?,
        inverse_indices,
        values: boolean_mask(sorted, &first, 0)?,
        // The sort is stable, so that the first of a kind in order is the first among all.
        indices: boolean_mask(&order, &first, 0)?,
    })
}
