//! Ops on row partitions and along them.

use super::repetition::repeat_rows;
use super::{Run, assemble};
use crate::attrs::AttrSet;
use crate::grad::{GradCx, one};
use crate::kernels::pool::{Block, affordable};
use crate::offsets::Offsets;
use crate::op::{Class, Fact, OfRows, OpDef, OutputSpecs};
use crate::ops::{multiply, ones_like, segment_cumulative_prod, segment_shift, where_, zero_for_nan, zeros_like};
use crate::partition::{RowPartition, Rows};
use crate::reduce::Fold;
use crate::tensor::{Storage, Tensor};
use crate::value::{Outputs, Value};
use extenso_types::{DType, Dim, Dims, Error, LeafSpec, PartitionSpec, Result, Shape, TensorSpec};
use smallvec::smallvec;

crate::ops! {
    /// Ops on row partitions and along them.
    pub static PARTITIONS;

    /// The row partition of `values` by row splits, i32 or i64, one more than rows, from 0.
    ///
    /// Errors: another dtype or rank; splits that are empty, do not begin at 0, decrease, or end beyond the values.
    ROW_PARTITION: row_partition(splits, values) = OpDef::general(Class::Structural, infer_row_partition, run_row_partition)
        .apart(&[1])
        .examples(&[("row_partition([0, 2, 3], [7, 8, 9])", "partition_from_lengths([2, 1])")]);

    /// The row partition whose rows have these lengths; its splits are i32 if the lengths are, otherwise i64.
    ///
    /// Errors: lengths that are not a vector of integers; a negative one; a sum that does not fit the splits.
    PARTITION_FROM_LENGTHS: partition_from_lengths(lengths) = OpDef::general(Class::Structural, infer_from_lengths, run_from_lengths)
        .facts(&[Fact::Covers])
        .examples(&[("partition_from_lengths([2, 0, 1])", "row_partition([0, 2, 2, 3], [7, 8, 9])")]);

    /// The number of values in each row, as i64.
    ROW_LENGTHS: row_lengths(partition) = OpDef::general(Class::Segment, infer_row_lengths, run_row_lengths)
        .of_rows(OfRows::Lengths)
        .examples(&[("row_lengths([[1, 2], [], [3]])", "[2, 0, 1]"), ("row_lengths(partition_from_lengths([2, 1]))", "[2, 1]")]);

    /// The splits of the rows relative to the first, in the width of the partition: one more than rows.
    ROW_SPLITS: row_splits(partition) = OpDef::general(Class::Segment, infer_row_splits, run_row_splits)
        .examples(&[("row_splits([[1, 2], [], [3]])", "[0, 2, 2, 3]"), ("row_splits(partition_from_lengths([2, 1]))", "[0, 2, 3]")]);

    /// For each value the row that it belongs to, as i64. Values outside every row are left out.
    VALUE_ROWIDS: value_rowids(partition) = OpDef::general(Class::Segment, infer_rowids, run_rowids)
        .examples(&[("value_rowids([[1, 2], [], [3]])", "[0, 0, 2]"), ("value_rowids(partition_from_lengths([2, 1]))", "[0, 0, 1]")]);

    /// The element of `x` for each value of its row: `x[i]` as often as row i is long.
    ///
    /// Shapes: `x` has the partition's rows as outer axis, the result its values.
    GATHER_ROWS_OF: gather_rows_of(x, partition) = OpDef::general(Class::Segment, infer_repeat, run_repeat)
        .of_rows(OfRows::Repeated)
        .grad(|cx| Ok(vec![Some(segment_sum(cx.g(), &cx.args[1])?), None]))
        .examples(&[("gather_rows_of([1.5, 2.5], partition_from_lengths([2, 1]))", "[1.5, 1.5, 2.5]")]);

    /// The rows that `source` cuts out of `values`, placed as `target` cuts them.
    ///
    /// Row i of the result under `target` is row i of `values` under `source`; what `target` leaves outside every row is zero.
    /// Shapes: `values` has the values of `source` as outer axis, the result those of `target`. Errors: the partitions have
    /// another number of rows, or a row of another length, which is named.
    ALIGN_ROWS: align_rows(values, source, target) = OpDef::general(Class::Segment, infer_align, run_align)
        .grad(|cx| Ok(vec![Some(align_rows(cx.g(), &cx.args[2], &cx.args[1])?), None, None]))
        .part()
        .examples(&[("align_rows([1.0, 2.0, 3.0], partition_from_lengths([2, 1]), partition_from_lengths([2, 1]))", "[1.0, 2.0, 3.0]")]);

    /// The sum of each row. An empty row gives zero. Integers and booleans sum in 64 bits.
    SEGMENT_SUM: segment_sum(values, partition) = OpDef::segment(Fold::Sum)
        .facts(&[Fact::Linear])
        .grad(|cx| Ok(vec![Some(gather_rows_of(cx.g(), &cx.args[1])?), None]))
        .examples(&[("segment_sum([1.0, 2.0, 4.0], partition_from_lengths([2, 0, 1]))", "[3.0, 0.0, 4.0]")]);

    /// The sum of the upper 32 bits of each row's integers of 64 bits, see `sum_high`.
    SEGMENT_SUM_HIGH: segment_sum_high(values, partition) = OpDef::segment(Fold::SumHigh)
        .part()
        .examples(&[("segment_sum_high([4294967296, 5, 8589934592], partition_from_lengths([2, 0, 1]))", "[1, 0, 2]")]);

    /// The product of each row. An empty row gives one. Integers and booleans multiply in 64 bits.
    SEGMENT_PROD: segment_prod(values, partition) = OpDef::segment(Fold::Prod)
        .grad(|cx| {
            let (x, rows) = (&cx.args[0], &cx.args[1]);
            let before = segment_cumulative_prod(segment_shift(x, rows, 1.0, 1)?, rows, false)?;
            let after = segment_cumulative_prod(segment_shift(x, rows, 1.0, -1)?, rows, true)?;
            let g = gather_rows_of(cx.g(), rows)?;
            Ok(vec![Some(zero_for_nan(multiply(&g, multiply(before, after)?)?, g)?), None])
        })
        .examples(&[("segment_prod([3.0, 2.0, 4.0], partition_from_lengths([2, 0, 1]))", "[6.0, 1.0, 4.0]")]);

    /// The largest of each row; NaN if one is. An empty row gives -inf, the smallest integer or an empty text.
    SEGMENT_MAX: segment_max(values, partition) = OpDef::segment(Fold::Max)
        .grad(shared_among_ties)
        .examples(&[("segment_max([1.0, 2.0, 4.0], partition_from_lengths([2, 0, 1]))", "[2.0, -inf, 4.0]")]);

    /// The smallest of each row; NaN if one is. An empty row gives inf, the largest integer or an empty text.
    SEGMENT_MIN: segment_min(values, partition) = OpDef::segment(Fold::Min)
        .grad(shared_among_ties)
        .examples(&[("segment_min([1.0, 2.0, 4.0], partition_from_lengths([2, 0, 1]))", "[1.0, inf, 4.0]")]);

    /// Whether any of each row is true. An empty row gives false.
    SEGMENT_ANY: segment_any(values, partition) = OpDef::segment(Fold::Any)
        .examples(&[("segment_any([False, True, False], partition_from_lengths([2, 0, 1]))", "[True, False, False]")]);

    /// Whether all of each row are true. An empty row gives true.
    SEGMENT_ALL: segment_all(values, partition) = OpDef::segment(Fold::All)
        .examples(&[("segment_all([False, True, True], partition_from_lengths([2, 0, 1]))", "[False, True, True]")]);
}

fn shared_among_ties(cx: &GradCx<'_>) -> Result<Vec<Option<Value>>> {
    let (x, partition) = (&cx.args[0], &cx.args[1]);
    let hit = crate::ops::equal(x, gather_rows_of(cx.y(), partition)?)?;
    let hit = where_(hit, ones_like(x)?, zeros_like(x)?)?;
    let ties = gather_rows_of(segment_sum(&hit, partition)?, partition)?;
    let g = gather_rows_of(cx.g(), partition)?;
    let dx = one(zero_for_nan(crate::ops::divide(multiply(&g, hit)?, ties)?, g))?;
    Ok(dx.into_iter().chain([None]).collect())
}

fn arg<T>(args: &[T], i: usize) -> Result<&T> {
    args.get(i).ok_or_else(|| Error::value(format!("argument {} is missing", i + 1)))
}

fn vector(dtype: DType, n: Dim) -> OutputSpecs {
    smallvec![LeafSpec::Tensor(TensorSpec::new(dtype, Shape::new([n])))]
}

fn infer_row_partition(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let (splits, values) = (arg(args, 0)?.tensor()?, arg(args, 1)?.tensor()?);
    if !matches!(splits.dtype, DType::I32 | DType::I64) {
        return Err(Error::dtype(format!("row splits are {}", splits.dtype)).wanted("integers: i32 or i64"));
    }
    let nvalues = match values.shape.dims() {
        None => Dim::any(),
        Some([outer, ..]) => *outer,
        Some([]) => return Err(Error::shape("values are a scalar").wanted("at least a vector")),
    };
    let nrows = match splits.shape.dims() {
        None => Dim::any(),
        Some([Dim::Known(0)]) => {
            return Err(Error::value("row splits are empty").wanted("one split more than rows: at least [0]"));
        }
        Some([n]) => n.known().map_or_else(Dim::any, |n| Dim::Known(n - 1)),
        Some(dims) => {
            let what = format!("row splits have rank {} (shape {})", dims.len(), splits.shape);
            return Err(Error::shape(what).wanted("a vector"));
        }
    };
    Ok(smallvec![LeafSpec::Partition(PartitionSpec::new(nrows, nvalues, splits.dtype))])
}

fn run_row_partition(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let values = arg(args, 1)?.tensor()?.data()?;
    let nvalues = values.dims().first().copied().ok_or_else(|| Error::shape("values are a scalar"))?;
    Ok(smallvec![Value::Partition(RowPartition::from_row_splits(arg(args, 0)?.tensor()?, nvalues)?)])
}

fn infer_from_lengths(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let lengths = arg(args, 0)?.tensor()?;
    if !lengths.dtype.is_integer() || lengths.shape.rank().is_some_and(|r| r != 1) {
        return Err(Error::dtype(format!("row lengths are {lengths}")).wanted("a vector of integers"));
    }
    let nrows = lengths.shape.dims().and_then(|d| d.first().copied()).unwrap_or_else(Dim::any);
    let index = if lengths.dtype == DType::I32 { DType::I32 } else { DType::I64 };
    Ok(smallvec![LeafSpec::Partition(PartitionSpec::new(nrows, Dim::any(), index))])
}

fn run_from_lengths(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let given = arg(args, 0)?.tensor()?;
    let wide = crate::ops::whole(given)?;
    let lengths = wide.tensor()?.as_slice::<i64>()?;
    let mut offsets = Vec::with_capacity(lengths.len() + 1);
    let mut end = 0_i64;
    offsets.push(end);
    for (row, &n) in lengths.iter().enumerate() {
        if n < 0 {
            return Err(Error::value(format!("the length of row {row} is {n}")).wanted("a length that is not negative"));
        }
        end = end.checked_add(n).ok_or_else(|| {
            Error::value(format!("with the {n} of row {row} the rows have more values than 64 bits count"))
                .wanted("fewer values")
        })?;
        offsets.push(end);
    }
    let nvalues = usize::try_from(end).unwrap_or(usize::MAX);
    let offsets = match given.dtype() {
        DType::I32 => Offsets::I32(narrow(&offsets)?.into()),
        _ => Offsets::I64(offsets.into()),
    };
    Ok(smallvec![Value::Partition(RowPartition::from_offsets(offsets, nvalues)?)])
}

fn narrow(offsets: &[i64]) -> Result<Vec<i32>> {
    let narrow: std::result::Result<Vec<i32>, _> = offsets.iter().map(|&end| end.try_into()).collect();
    narrow.map_err(|_| {
        Error::value(format!("row lengths of i32 add up to {}", offsets.last().unwrap_or(&0)))
            .wanted("a sum that fits 32 bits")
            .hint("Write `cast(lengths, i64)` around them.")
    })
}

fn infer_row_lengths(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    Ok(vector(DType::I64, arg(args, 0)?.partition()?.nrows))
}

fn run_row_lengths(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let rows = arg(args, 0)?.partition()?.data()?;
    affordable(rows.nrows().saturating_mul(8))?;
    let mut lengths = Block::new(8 * rows.nrows());
    rows.write_lengths(lengths.slice_mut());
    let dims = Dims::from_slice(&[rows.nrows()]);
    Ok(smallvec![Value::Tensor(Tensor::from_dense(DType::I64, dims, Storage::Fixed(lengths.elements())))])
}

fn infer_row_splits(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let spec = arg(args, 0)?.partition()?;
    let n = spec.nrows.known().map_or_else(Dim::any, |n| Dim::Known(n + 1));
    Ok(vector(spec.index, n))
}

fn run_row_splits(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let rows = arg(args, 0)?.partition()?.data()?;
    let splits = match rows.offsets() {
        Offsets::I32(o) if rows.first() == 0 => Tensor::from_buffer(DType::I32, &[o.len()], o.inner().clone())?,
        Offsets::I64(o) if rows.first() == 0 => Tensor::from_buffer(DType::I64, &[o.len()], o.inner().clone())?,
        Offsets::I32(o) => Tensor::from_vec(o.iter().map(|v| v - o[0]).collect::<Vec<i32>>()),
        Offsets::I64(o) => Tensor::from_vec(o.iter().map(|v| v - o[0]).collect::<Vec<i64>>()),
    };
    Ok(smallvec![Value::Tensor(splits)])
}

fn infer_rowids(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    arg(args, 0)?.partition()?;
    Ok(vector(DType::I64, Dim::any()))
}

fn run_rowids(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let rows = arg(args, 0)?.partition()?.data()?;
    Ok(smallvec![Value::Tensor(Tensor::from_vec(rows.row_ids()?))])
}

fn infer_repeat(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let (x, partition) = (arg(args, 0)?.tensor()?, arg(args, 1)?.partition()?);
    let shape = match x.shape.dims() {
        None => Shape::unknown(),
        Some([]) => return Err(Error::shape("the first argument is a scalar").wanted("one element per row")),
        Some([outer, inner @ ..]) => {
            if !outer.is_compatible_with(partition.nrows) {
                return Err(rows_differ(&outer.to_string(), &partition.nrows.to_string()));
            }
            Shape::new(std::iter::once(partition.nvalues).chain(inner.iter().copied()))
        }
    };
    Ok(smallvec![LeafSpec::Tensor(TensorSpec::new(x.dtype, shape))])
}

fn rows_differ(given: &str, wanted: &str) -> Error {
    Error::shape(format!("{given} elements are given for {wanted} rows")).wanted("one element per row")
}

fn run_repeat(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, rows) = (arg(args, 0)?.tensor()?.data()?, arg(args, 1)?.partition()?.data()?);
    let &outer = x.dims().first().ok_or_else(|| Error::shape("the first argument is a scalar"))?;
    if outer != rows.nrows() {
        return Err(rows_differ(&outer.to_string(), &rows.nrows().to_string()));
    }
    repeat_rows(x, rows)
}

fn infer_align(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let (from, to) = (arg(args, 1)?.partition()?, arg(args, 2)?.partition()?);
    if !from.nrows.is_compatible_with(to.nrows) {
        return Err(no_alignment(&from.nrows.to_string(), &to.nrows.to_string()));
    }
    infer_moved(args)
}

/// The spec of values that go from one partition to another.
pub(super) fn infer_moved(args: &[LeafSpec]) -> Result<OutputSpecs> {
    let (values, from, to) = (arg(args, 0)?.tensor()?, arg(args, 1)?.partition()?, arg(args, 2)?.partition()?);
    let shape = match values.shape.dims() {
        None => Shape::unknown(),
        Some([]) => return Err(Error::shape("values are a scalar").wanted("at least a vector")),
        Some([outer, inner @ ..]) => {
            if !outer.is_compatible_with(from.nvalues) {
                return Err(values_differ(&outer.to_string(), &from.nvalues.to_string()));
            }
            Shape::new(std::iter::once(to.nvalues).chain(inner.iter().copied()))
        }
    };
    Ok(smallvec![LeafSpec::Tensor(TensorSpec::new(values.dtype, shape))])
}

pub(super) fn no_alignment(from: &str, to: &str) -> Error {
    Error::shape(format!("one partition has {from} rows, the other {to}")).wanted("partitions with equal rows")
}

fn values_differ(given: &str, wanted: &str) -> Error {
    Error::shape(format!("{given} values are given to a partition of {wanted}"))
        .wanted("as many values as the partition cuts")
}

pub(super) fn run_align(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, from, to) = (arg(args, 0)?.tensor()?, arg(args, 1)?.partition()?, arg(args, 2)?.partition()?);
    let (values, from_rows, to_rows) = (x.data()?, from.data()?, to.data()?);
    let (&outer, inner) = values.dims().split_first().ok_or_else(|| Error::shape("values are a scalar"))?;
    if outer != from_rows.nvalues() {
        return Err(values_differ(&outer.to_string(), &from_rows.nvalues().to_string()));
    }
    if !from.same(to) {
        check_equal_rows(from_rows, to_rows)?;
    }
    let (first, last) = (from_rows.first(), from_rows.last());
    if to_rows.covers_all() {
        return Ok(smallvec![Value::Tensor(x.slice_rows(first, last - first)?)]);
    }
    if first == to_rows.first() && outer == to_rows.nvalues() {
        return Ok(smallvec![Value::Tensor(x.clone())]);
    }
    let width: usize = inner.iter().product();
    let outside = |n: usize| Run { source: None, start: 0, len: n * width };
    // Rows follow one another without gaps, so that all of them are one run.
    let rows = Run { source: Some(0), start: first * width, len: (last - first) * width };
    let runs = [outside(to_rows.first()), rows, outside(to_rows.nvalues() - to_rows.last())];
    let mut dims = Dims::from_slice(values.dims());
    dims[0] = to_rows.nvalues();
    Ok(smallvec![Value::Tensor(assemble(values.dtype(), dims, &[values], runs.into_iter())?)])
}

pub(super) fn check_equal_rows(from: &Rows, to: &Rows) -> Result<()> {
    if from.nrows() != to.nrows() {
        return Err(no_alignment(&from.nrows().to_string(), &to.nrows().to_string()));
    }
    if same_lengths(from, to) {
        return Ok(());
    }
    let (row, (a, b)) = from.lengths().zip(to.lengths()).enumerate().find(|(_, (a, b))| a != b).unwrap_or((0, (0, 0)));
    Err(unequal_row(row, a, b))
}

pub(super) fn unequal_row(row: usize, a: usize, b: usize) -> Error {
    Error::shape(format!("row {row} has {a} values in one partition and {b} in the other"))
        .wanted("rows of equal lengths. One value for each row is a column: `expand_dims(x, -1)`")
}

/// Whether partitions of as many rows have rows of the same lengths.
pub(super) fn same_lengths(a: &Rows, b: &Rows) -> bool {
    match (a.offsets(), b.offsets()) {
        (Offsets::I32(a), Offsets::I32(b)) if a[0] == b[0] => a == b,
        (Offsets::I64(a), Offsets::I64(b)) if a[0] == b[0] => a == b,
        _ => a.lengths().eq(b.lengths()),
    }
}
