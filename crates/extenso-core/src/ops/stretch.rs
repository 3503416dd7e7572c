//! Rows that broadcast: rows of one value each are repeated to the lengths of other rows, and one row to their number.
//!
//! Invariant: only data tells whether every row has length 1, or whether there is one row, so an eager call and a running graph
//! decide alike.

use super::partition::{check_equal_rows, infer_moved, no_alignment, run_align, same_lengths, unequal_row};
use super::repetition::repeat_rows;
use super::{Run, assemble};
use crate::attrs::AttrSet;
use crate::op::{Class, Fact, OpDef, OutputSpecs};
use crate::partition::{RowPartition, Rows};
use crate::reduce::{Fold, run_segments};
use crate::tensor::Dense;
use crate::value::{Outputs, Value};
use extenso_types::{DType, Dim, Dims, Error, LeafSpec, PartitionSpec, Result};
use smallvec::smallvec;

crate::ops! {
    /// Rows that broadcast.
    pub static STRETCHING;

    /// The row partition that two broadcast to: the other one where all rows of one have length 1, otherwise the one of both.
    ///
    /// One row is repeated to the number of the others. Every value of the result is in a row. Errors: another number of rows, none of which is 1; a row of different
    /// lengths, which is named, unless all rows of one have length 1.
    BROADCAST_ROWS: broadcast_rows(x, y) = OpDef::general(Class::Segment, infer_broadcast, run_broadcast)
        .facts(&[Fact::Covers])
        .part()
        .examples(&[("broadcast_rows(partition_from_lengths([1, 1]), partition_from_lengths([3, 0]))", "partition_from_lengths([3, 0])"), ("broadcast_rows(partition_from_lengths([2, 1]), partition_from_lengths([2, 1]))", "partition_from_lengths([2, 1])"), ("broadcast_rows(partition_from_lengths([2]), partition_from_lengths([1, 1, 1]))", "partition_from_lengths([2, 2, 2])")]);

    /// The rows that `source` cuts out of `values`, as `target` cuts them; if all have length 1, each value is repeated.
    ///
    /// One row is repeated to the number of rows. Shapes: `values` has the values of `source` as outer axis, the result those of
    /// `target`. What `target` leaves outside every row is zero. Errors: more than one row, and another number than `target` has; a
    /// row of another length, which is named, unless all have length 1.
    STRETCH_ROWS: stretch_rows(values, source, target) = OpDef::general(Class::Segment, infer_stretch, run_stretch)
        .grad(|cx| Ok(vec![Some(sum_stretched_rows(cx.g(), &cx.args[1], &cx.args[2])?), None, None]))
        .part()
        .examples(&[("stretch_rows([1.5, 2.5], partition_from_lengths([1, 1]), partition_from_lengths([2, 1]))", "[1.5, 1.5, 2.5]"), ("stretch_rows([1.5, 2.5], partition_from_lengths([0, 2]), partition_from_lengths([0, 2]))", "[1.5, 2.5]"), ("stretch_rows([1.5, 2.5], partition_from_lengths([2]), partition_from_lengths([2, 2]))", "[1.5, 2.5, 1.5, 2.5]"), ("stretch_rows([1.5], partition_from_lengths([1]), partition_from_lengths([2, 0, 1]))", "[1.5, 1.5, 1.5]")]);

    /// The sum of what each value was repeated to by `stretch_rows`, from `source` to `target`; the gradient of that.
    ///
    /// Shapes: `x` has the values of `target` as outer axis, the result those of `source`. Errors: as there; no floats.
    SUM_STRETCHED_ROWS: sum_stretched_rows(x, source, target) = OpDef::general(Class::Segment, infer_sum, run_sum)
        .grad(|cx| Ok(vec![Some(stretch_rows(cx.g(), &cx.args[1], &cx.args[2])?), None, None]))
        .part()
        .examples(&[("sum_stretched_rows([1.0, 2.0, 4.0], partition_from_lengths([1, 1]), partition_from_lengths([2, 1]))", "[3.0, 4.0]"), ("sum_stretched_rows([1.0, 2.0, 4.0, 8.0], partition_from_lengths([2]), partition_from_lengths([2, 2]))", "[5.0, 10.0]"), ("sum_stretched_rows([1.0, 2.0, 4.0], partition_from_lengths([1]), partition_from_lengths([2, 0, 1]))", "[7.0]")]);
}

fn partition_spec(args: &[LeafSpec], i: usize) -> Result<&PartitionSpec> {
    args.get(i).ok_or_else(|| Error::value(format!("argument {} is missing", i + 1)))?.partition()
}

fn partition(args: &[Value], i: usize) -> Result<&RowPartition> {
    args.get(i).ok_or_else(|| Error::value(format!("argument {} is missing", i + 1)))?.partition()
}

fn infer_broadcast(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let (x, y) = (partition_spec(args, 0)?, partition_spec(args, 1)?);
    let nrows = match (x.nrows, y.nrows) {
        (n, m) if n == m => n,
        (Dim::Known(1), n) | (n, Dim::Known(1)) => n,
        (Dim::Known(n), Dim::Known(m)) => return Err(no_alignment(&n.to_string(), &m.to_string())),
        (Dim::Known(n), Dim::Var(_)) | (Dim::Var(_), Dim::Known(n)) => Dim::Known(n),
        (Dim::Var(_), Dim::Var(_)) => Dim::any(),
    };
    let index = if x.index == y.index { x.index } else { DType::I64 };
    let uniform_row_length = match (x.uniform_row_length, y.uniform_row_length) {
        (Some(1), length) | (length, Some(1)) => length,
        (Some(n), Some(m)) if n != m => None,
        (length, None) | (None, length) | (Some(_), length) => length,
    };
    // Values outside every row are left out, so that not even two partitions of as many values tell how many there are.
    Ok(smallvec![LeafSpec::Partition(PartitionSpec { nrows, nvalues: Dim::any(), uniform_row_length, index })])
}

fn run_broadcast(args: &[Value], _: &dyn AttrSet, inferred: &[LeafSpec]) -> Result<Outputs> {
    let (x, y) = (partition(args, 0)?, partition(args, 1)?);
    let (a, b) = (x.data()?, y.data()?);
    let chosen = if x.same(y) {
        x.clone()
    } else if a.nrows() == b.nrows() {
        let longer = if a.all_have_length_one() { y } else { x };
        if !a.all_have_length_one() && !b.all_have_length_one() {
            check_equal_rows(a, b)?;
        }
        longer.clone()
    } else if a.nrows() == 1 {
        repeated(a, y)?
    } else if b.nrows() == 1 {
        repeated(b, x)?
    } else {
        return Err(no_alignment(&a.nrows().to_string(), &b.nrows().to_string()));
    };
    let rows = chosen.data()?;
    let chosen = match a.offsets().dtype() == b.offsets().dtype() {
        true if rows.covers_all() => chosen,
        true => RowPartition::of_rows(rows, 0..rows.nrows())?,
        false => RowPartition::from_lengths(rows.lengths())?,
    };
    let length = inferred.first().and_then(|spec| spec.partition().ok()?.uniform_row_length);
    Ok(smallvec![Value::Partition(chosen.with_uniform_row_length(length)?)])
}

/// What one row and several broadcast to.
///
/// Errors: a row of another length, unless one side has length 1; more values than there can be.
fn repeated(one: &Rows, several: &RowPartition) -> Result<RowPartition> {
    let rows = several.data()?;
    let length = one.row(0).len();
    if length == 1 || !rows.all_have_length_one() {
        check_each_row(length, rows)?;
        return Ok(several.clone());
    }
    length.checked_mul(rows.nrows()).ok_or_else(|| {
        Error::shape(format!("{} rows of {length} values are more than can be counted", rows.nrows()))
    })?;
    RowPartition::from_lengths_as(std::iter::repeat_n(length, rows.nrows()), rows.offsets().dtype())
}

/// Checks that every row is as long as the one that is repeated, if that has more or less than one value.
fn check_each_row(length: usize, rows: &Rows) -> Result<()> {
    match rows.lengths().position(|n| length != 1 && n != length) {
        Some(row) => Err(unequal_row(row, length, rows.row(row).len())),
        None => Ok(()),
    }
}

/// How `source` is brought to `target`.
enum Stretch {
    /// The rows are the same.
    Aligned,
    /// Each value is repeated to the length of its row.
    Values,
    /// The only row is repeated.
    Row {
        /// How often; a row of one value as often as `target` has values.
        times: usize,
    },
}

impl Stretch {
    /// Errors: rows that do not broadcast.
    fn of(from: &RowPartition, to: &RowPartition) -> Result<Stretch> {
        let (source, target) = (from.data()?, to.data()?);
        if from.same(to) || (source.nrows() == target.nrows() && same_lengths(source, target)) {
            return Ok(Stretch::Aligned);
        }
        if source.nrows() == target.nrows() && source.all_have_length_one() {
            return Ok(Stretch::Values);
        }
        if source.nrows() != 1 || target.nrows() == 1 {
            check_equal_rows(source, target)?;
            return Ok(Stretch::Aligned);
        }
        let length = source.row(0).len();
        check_each_row(length, target)?;
        Ok(Stretch::Row { times: if length == 1 { target.last() - target.first() } else { target.nrows() } })
    }
}

/// The values of an outer axis that a partition cuts.
///
/// Errors: a scalar; another number of values.
fn check_values(value: &Value, rows: &Rows) -> Result<()> {
    match value.tensor()?.data()?.dims().first() {
        Some(&n) if n == rows.nvalues() => Ok(()),
        Some(n) => Err(Error::shape(format!("{n} values are given to a partition of {}", rows.nvalues()))
            .wanted("as many values as the partition cuts")),
        None => Err(Error::shape("values are a scalar").wanted("at least a vector")),
    }
}

/// Partitions of which one row may be repeated to the rows of the other.
fn check_rows(from: &PartitionSpec, to: &PartitionSpec) -> Result<()> {
    if from.nrows == Dim::Known(1) || from.nrows.is_compatible_with(to.nrows) {
        return Ok(());
    }
    Err(no_alignment(&from.nrows.to_string(), &to.nrows.to_string()))
}

fn infer_stretch(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    check_rows(partition_spec(args, 1)?, partition_spec(args, 2)?)?;
    infer_moved(args)
}

fn run_stretch(args: &[Value], attrs: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    let (from, to) = (partition(args, 1)?, partition(args, 2)?);
    let (source, target) = (from.data()?, to.data()?);
    let stretch = Stretch::of(from, to)?;
    match stretch {
        Stretch::Aligned => run_align(args, attrs, out),
        Stretch::Values => {
            check_values(&args[0], source)?;
            let each = args[0].tensor()?.slice_rows(source.first(), source.nrows())?;
            repeat_rows(each.data()?, target)
        }
        Stretch::Row { times } => {
            check_values(&args[0], source)?;
            let values = args[0].tensor()?.data()?;
            let width = width_of(values.dims());
            let row = Run { source: Some(0), start: source.first() * width, len: source.row(0).len() * width };
            placed(values, target, width, std::iter::repeat_n(row, times))
        }
    }
}

/// The elements that one value of the outer axis has.
fn width_of(dims: &[usize]) -> usize {
    dims.iter().skip(1).product()
}

/// The runs in the rows of a partition, and zeros where none of them is.
fn placed(values: &Dense, rows: &Rows, width: usize, runs: impl Iterator<Item = Run>) -> Result<Outputs> {
    let mut dims = Dims::from_slice(values.dims());
    dims[0] = rows.nvalues();
    let outside = |n: usize| std::iter::once(Run { source: None, start: 0, len: n * width });
    let runs = outside(rows.first()).chain(runs).chain(outside(rows.nvalues() - rows.last()));
    Ok(smallvec![Value::Tensor(assemble(values.dtype(), dims, &[values], runs)?)])
}

fn infer_sum(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let [x, source, target] = args else { return Err(Error::value("three arguments are wanted")) };
    let dtype = x.tensor()?.dtype;
    if !dtype.is_float() {
        return Err(Error::dtype(format!("the op does not take {dtype}")).wanted("floats"));
    }
    check_rows(source.partition()?, target.partition()?)?;
    infer_moved(&[x.clone(), target.clone(), source.clone()])
}

fn run_sum(args: &[Value], attrs: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    let (from, to) = (partition(args, 1)?, partition(args, 2)?);
    let (source, target) = (from.data()?, to.data()?);
    let sums = match Stretch::of(from, to)? {
        Stretch::Aligned => return run_align(&[args[0].clone(), args[2].clone(), args[1].clone()], attrs, out),
        Stretch::Values => {
            check_values(&args[0], target)?;
            run_segments(Fold::Sum, &[args[0].clone(), args[2].clone()])?
        }
        Stretch::Row { times } => {
            check_values(&args[0], target)?;
            let inside = args[0].tensor()?.slice_rows(target.first(), target.last() - target.first())?;
            let dims = inside.data()?.dims();
            let repeats: Vec<usize> =
                [times, source.row(0).len()].into_iter().chain(dims[1..].iter().copied()).collect();
            let together = RowPartition::from_lengths([times])?;
            run_segments(Fold::Sum, &[inside.with_dims(&repeats)?.into(), Value::Partition(together)])?
        }
    };
    let mut dims = Dims::from_slice(args[0].tensor()?.data()?.dims());
    dims[0] = source.last() - source.first();
    let sums = sums[0].tensor()?.with_dims(&dims)?;
    let width = width_of(&dims);
    placed(sums.data()?, source, width, std::iter::once(Run { source: Some(0), start: 0, len: dims[0] * width }))
}
