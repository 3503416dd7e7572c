//! Functions of rows that are no ops: the ways to write rows down, and compositions.

use super::{Composed, Sized, given};
use extenso_core::attrs::{Attrs, NoAttrs};
use extenso_core::{Arg, ExtensionType, Tensor, Value};
use extenso_ext::{RaggedTensor, ragged, scatter};
use extenso_types::{Error, Result};

extenso_core::attrs! {
    /// A number of rows, or none.
    pub struct Nrows { nrows: Option<Vec<i64>> = None }
    /// Rows of one length.
    pub struct RowLength { uniform_row_length: i64, nrows: Option<Vec<i64>> = None }
    /// A number of segments.
    pub struct Segments { count: i64 }
    /// The same, and what stands between joined strings.
    pub struct JoinedSegments { count: i64, separator: String = String::new() }
    /// How many axes become ragged.
    pub struct RaggedRank { ragged_rank: i64 = 1 }
    /// One axis.
    pub struct Axis { axis: i64 }
    /// The last axis, or another.
    pub struct InnerAxis { axis: i64 = -1 }
    /// An axis, or none for all.
    pub struct AnyAxis { axis: Option<Vec<i64>> = None }
    /// Sizes, -1 for those that stay.
    pub struct Sizes { shape: Option<Vec<i64>> = None }
}

macro_rules! composed {
    ($($name:literal ($($param:literal),*; $attrs:ty) = $run:expr;)*) => {
        &[$(Composed { name: $name, params: &[$($param),*], attrs: <$attrs>::DEF, run: $run }),*]
    };
}

pub(super) use composed;

pub(super) static FUNCTIONS: &[Composed] = composed! {
    "ragged_from_row_lengths" ("values", "row_lengths"; NoAttrs) = |args, _| cut(args, RaggedTensor::from_row_lengths);
    "ragged_from_row_starts" ("values", "row_starts"; NoAttrs) = |args, _| cut(args, RaggedTensor::from_row_starts);
    "ragged_from_row_limits" ("values", "row_limits"; NoAttrs) = |args, _| cut(args, RaggedTensor::from_row_limits);
    "ragged_from_value_rowids" ("values", "value_rowids"; Nrows) = |args, attrs| {
        let nrows = single(&Nrows::of(attrs)?.nrows)?;
        cut(args, |values, ids| RaggedTensor::from_value_rowids(values, ids, nrows.map(size).transpose()?))
    };
    "ragged_from_uniform_row_length" ("values"; RowLength) = |args, attrs| {
        let RowLength { uniform_row_length, nrows } = RowLength::of(attrs)?;
        Ok(RaggedTensor::from_uniform_row_length(given(args, 0)?, *uniform_row_length, single(nrows)?)?.into_value())
    };
    "ragged_from_nested_row_splits" ("flat_values", "nested_row_splits"; NoAttrs) = |args, _| {
        Ok(RaggedTensor::from_nested_row_splits(given(args, 0)?, &tensors(args)?)?.into_value())
    };
    "ragged_from_nested_row_lengths" ("flat_values", "nested_row_lengths"; NoAttrs) = |args, _| {
        Ok(RaggedTensor::from_nested_row_lengths(given(args, 0)?, &tensors(args)?)?.into_value())
    };
    "ragged_from_dense" ("dense"; RaggedRank) = |args, attrs| {
        let rank = size(RaggedRank::of(attrs)?.ragged_rank)?;
        Ok(RaggedTensor::from_dense(given(args, 0)?, rank)?.into_value())
    };
    "ragged_from_dense_nested_lengths" ("dense", "lengths"; NoAttrs) = |args, _| {
        let Arg::List(lengths) = &args[1] else { return Err(Error::dtype("found a value").wanted("a tuple of vectors")) };
        let lengths = lengths.iter().map(|one| one.value().cloned()).collect::<Result<Vec<Value>>>()?;
        Ok(RaggedTensor::from_dense_nested_lengths(given(args, 0)?, &lengths)?.into_value())
    };
    "segment_mean" ("values", "partition"; NoAttrs) = |args, _| {
        scatter::segment_mean(&given(args, 0)?, given(args, 1)?.partition()?)
    };
    "unsorted_segment_sum" ("x", "segments"; Segments) = |args, attrs| {
        scatter::unsorted_segment_sum(&given(args, 0)?, &given(args, 1)?, Segments::of(attrs)?.count)
    };
    "unsorted_segment_prod" ("x", "segments"; Segments) = |args, attrs| {
        scatter::unsorted_segment_prod(&given(args, 0)?, &given(args, 1)?, Segments::of(attrs)?.count)
    };
    "unsorted_segment_max" ("x", "segments"; Segments) = |args, attrs| {
        scatter::unsorted_segment_max(&given(args, 0)?, &given(args, 1)?, Segments::of(attrs)?.count)
    };
    "unsorted_segment_min" ("x", "segments"; Segments) = |args, attrs| {
        scatter::unsorted_segment_min(&given(args, 0)?, &given(args, 1)?, Segments::of(attrs)?.count)
    };
    "unsorted_segment_mean" ("x", "segments"; Segments) = |args, attrs| {
        scatter::unsorted_segment_mean(&given(args, 0)?, &given(args, 1)?, Segments::of(attrs)?.count)
    };
    "unsorted_segment_join" ("x", "segments"; JoinedSegments) = |args, attrs| {
        let JoinedSegments { count, separator } = JoinedSegments::of(attrs)?;
        scatter::unsorted_segment_join(&given(args, 0)?, &given(args, 1)?, *count, separator)
    };
    "scatter_nd" ("indices", "updates"; Sized) = |args, attrs| {
        scatter::scatter_nd(&given(args, 0)?, &given(args, 1)?, &Sized::of(attrs)?.shape)
    };
    "scatter_nd_add" ("x", "indices", "updates"; NoAttrs) = |args, _| {
        scatter::scatter_nd_add(&given(args, 0)?, &given(args, 1)?, &given(args, 2)?)
    };
    "scatter_nd_update" ("x", "indices", "updates"; NoAttrs) = |args, _| {
        scatter::scatter_nd_update(&given(args, 0)?, &given(args, 1)?, &given(args, 2)?)
    };
    "ragged_from_dense_lengths" ("dense", "lengths"; NoAttrs) = |args, _| {
        Ok(RaggedTensor::from_dense_lengths(given(args, 0)?, given(args, 1)?)?.into_value())
    };
    "ragged_from_dense_padding" ("dense", "padding"; RaggedRank) = |args, attrs| {
        let rank = size(RaggedRank::of(attrs)?.ragged_rank)?;
        Ok(RaggedTensor::from_dense_padding(given(args, 0)?, args[1].clone(), rank)?.into_value())
    };
    "to_tensor" ("x", "default"; Sizes) = |args, attrs| {
        let sizes = Sizes::of(attrs)?.shape.as_ref().map(|sizes| sizes.iter().map(|&n| (n != -1).then_some(n)).collect::<Vec<_>>());
        ragged::to_dense(given(args, 0)?, Some(args[1].clone()), sizes.as_deref())
    };
    "bounding_shape" ("x"; NoAttrs) = |args, _| Ok(rows(args)?.bounding_shape()?.into());
    "flat_values" ("x"; NoAttrs) = |args, _| rows(args)?.flat_values();
    "num" ("x"; Axis) = |args, attrs| ragged::num(given(args, 0)?, Axis::of(attrs)?.axis);
    "local_index" ("x"; InnerAxis) = |args, attrs| ragged::local_index(given(args, 0)?, InnerAxis::of(attrs)?.axis);
    "flatten" ("x"; AnyAxis) = |args, attrs| ragged::flatten(given(args, 0)?, single(&AnyAxis::of(attrs)?.axis)?);
    "unflatten" ("flat", "counts"; NoAttrs) = |args, _| ragged::unflatten(given(args, 0)?, args[1].clone());
};

fn rows(args: &[Arg]) -> Result<RaggedTensor> {
    RaggedTensor::from_value(&given(args, 0)?)
}

/// Rows by values and a vector.
fn cut(args: &[Arg], factory: impl Fn(Value, &Tensor) -> Result<RaggedTensor>) -> Result<Value> {
    Ok(factory(given(args, 0)?, given(args, 1)?.tensor()?)?.into_value())
}

/// The second argument as a list of tensors.
fn tensors(args: &[Arg]) -> Result<Vec<Tensor>> {
    let Arg::List(items) = &args[1] else { return Err(Error::dtype("found a value").wanted("a tuple of tensors")) };
    (0..items.len()).map(|i| given(items, i)?.tensor().cloned()).collect()
}

pub(super) fn single(numbers: &Option<Vec<i64>>) -> Result<Option<i64>> {
    match numbers.as_deref() {
        None => Ok(None),
        Some([n]) => Ok(Some(*n)),
        Some(numbers) => Err(Error::value(format!("found {numbers:?}")).wanted("one number")),
    }
}

fn size(n: i64) -> Result<usize> {
    usize::try_from(n).map_err(|_| Error::value(format!("found {n}")).wanted("a number that is not negative"))
}
