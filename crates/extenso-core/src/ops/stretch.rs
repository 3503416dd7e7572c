//! Rows that broadcast: rows of one value each are repeated to the lengths of other rows.
//!
//! Invariant: only data tells whether every row has length 1, so an eager call and a running graph decide alike.

use super::partition::{check_equal_rows, infer_align, no_alignment, run_align, same_lengths};
use super::repetition::repeat_rows;
use super::{Run, assemble};
use crate::attrs::AttrSet;
use crate::op::{Class, OpDef, OutputSpecs};
use crate::partition::{RowPartition, Rows};
use crate::reduce::{Fold, run_segments};
use crate::value::{Outputs, Value};
use extenso_types::{DType, Dim, Dims, Error, LeafSpec, PartitionSpec, Result};
use smallvec::smallvec;

crate::ops! {
    /// Rows that broadcast.
    pub static STRETCHING;

    /// The row partition that two broadcast to: the other one where all rows of one have length 1, otherwise the one of both.
    ///
    /// Errors: another number of rows; a row of different lengths, which is named, unless all rows of one have length 1.
    BROADCAST_ROWS: broadcast_rows(x, y) = OpDef::general(Class::Segment, infer_broadcast, run_broadcast)
        .examples(&[("broadcast_rows(partition_from_lengths([1, 1]), partition_from_lengths([3, 0]))", "partition_from_lengths([3, 0])"), ("broadcast_rows(partition_from_lengths([2, 1]), partition_from_lengths([2, 1]))", "partition_from_lengths([2, 1])")]);

    /// The rows that `source` cuts out of `values`, as `target` cuts them; if all have length 1, each value is repeated.
    ///
    /// Shapes: `values` has the values of `source` as outer axis, the result those of `target`. What `target` leaves outside
    /// every row is zero. Errors: another number of rows; a row of another length, which is named, unless all have length 1.
    STRETCH_ROWS: stretch_rows(values, source, target) = OpDef::general(Class::Segment, infer_align, run_stretch)
        .grad(|cx| Ok(vec![Some(sum_stretched_rows(cx.g(), &cx.args[1], &cx.args[2])?), None, None]))
        .examples(&[("stretch_rows([1.5, 2.5], partition_from_lengths([1, 1]), partition_from_lengths([2, 1]))", "[1.5, 1.5, 2.5]"), ("stretch_rows([1.5, 2.5], partition_from_lengths([0, 2]), partition_from_lengths([0, 2]))", "[1.5, 2.5]")]);

    /// The sum of what each value was repeated to by `stretch_rows`, from `source` to `target`; the gradient of that.
    ///
    /// Shapes: `x` has the values of `target` as outer axis, the result those of `source`. Errors: as there; no floats.
    SUM_STRETCHED_ROWS: sum_stretched_rows(x, source, target) = OpDef::general(Class::Segment, infer_sum, run_sum)
        .grad(|cx| Ok(vec![Some(stretch_rows(cx.g(), &cx.args[1], &cx.args[2])?), None, None]))
        .examples(&[("sum_stretched_rows([1.0, 2.0, 4.0], partition_from_lengths([1, 1]), partition_from_lengths([2, 1]))", "[3.0, 4.0]")]);
}

fn partition_spec(args: &[LeafSpec], i: usize) -> Result<&PartitionSpec> {
    args.get(i).ok_or_else(|| Error::value(format!("argument {} is missing", i + 1)))?.partition()
}

fn partition(args: &[Value], i: usize) -> Result<&RowPartition> {
    args.get(i).ok_or_else(|| Error::value(format!("argument {} is missing", i + 1)))?.partition()
}

fn infer_broadcast(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let (x, y) = (partition_spec(args, 0)?, partition_spec(args, 1)?);
    if !x.nrows.is_compatible_with(y.nrows) {
        return Err(no_alignment(&x.nrows.to_string(), &y.nrows.to_string()));
    }
    let nrows = if x.nrows.known().is_some() { x.nrows } else { y.nrows };
    let alike = x.index == y.index;
    let nvalues = if alike && x.nvalues == y.nvalues { x.nvalues } else { Dim::any() };
    let index = if alike { x.index } else { DType::I64 };
    Ok(smallvec![LeafSpec::Partition(PartitionSpec { nrows, nvalues, index })])
}

fn run_broadcast(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, y) = (partition(args, 0)?, partition(args, 1)?);
    let (a, b) = (x.data()?, y.data()?);
    let chosen = if !x.same(y) && a.nrows() == b.nrows() && !a.all_have_length_one() && b.all_have_length_one() {
        x
    } else if !x.same(y) && a.nrows() == b.nrows() && a.all_have_length_one() {
        y
    } else {
        check_equal_rows(a, b)?;
        x
    };
    let rows = chosen.data()?;
    let one_width = a.offsets().dtype() == b.offsets().dtype();
    Ok(smallvec![Value::Partition(if one_width {
        chosen.clone()
    } else {
        RowPartition::from_lengths(rows.lengths())?
    })])
}

/// Whether the rows of `source` are repeated to those of `target`, and not the same rows.
fn repeats(source: &Rows, target: &Rows) -> bool {
    source.nrows() == target.nrows() && source.all_have_length_one() && !same_lengths(source, target)
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

fn run_stretch(args: &[Value], attrs: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    let (from, to) = (partition(args, 1)?, partition(args, 2)?);
    let (source, target) = (from.data()?, to.data()?);
    if from.same(to) || !repeats(source, target) {
        return run_align(args, attrs, out);
    }
    check_values(&args[0], source)?;
    let each = args[0].tensor()?.slice_rows(source.first(), source.nrows())?;
    repeat_rows(each.data()?, target)
}

fn infer_sum(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let [x, source, target] = args else { return Err(Error::value("three arguments are wanted")) };
    let dtype = x.tensor()?.dtype;
    if !dtype.is_float() {
        return Err(Error::dtype(format!("the op does not take {dtype}")).wanted("floats"));
    }
    infer_align(&[x.clone(), target.clone(), source.clone()], attrs)
}

fn run_sum(args: &[Value], attrs: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    let (from, to) = (partition(args, 1)?, partition(args, 2)?);
    let (source, target) = (from.data()?, to.data()?);
    if from.same(to) || !repeats(source, target) {
        return run_align(&[args[0].clone(), args[2].clone(), args[1].clone()], attrs, out);
    }
    check_values(&args[0], target)?;
    let sums = run_segments(Fold::Sum, &[args[0].clone(), args[2].clone()])?;
    let sums = sums[0].tensor()?.data()?;
    let mut dims = Dims::from_slice(sums.dims());
    let width: usize = dims[1..].iter().product();
    dims[0] = source.nvalues();
    let outside = |n: usize| Run { source: None, start: 0, len: n * width };
    let runs = [
        outside(source.first()),
        Run { source: Some(0), start: 0, len: source.nrows() * width },
        outside(source.nvalues() - source.last()),
    ];
    Ok(smallvec![Value::Tensor(assemble(sums.dtype(), dims, &[sums], runs.into_iter())?)])
}
