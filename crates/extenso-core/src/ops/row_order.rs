//! Rows in order: sorted, and cut where neighbours differ.
//!
//! Invariant: a row gets what it would get alone. Equal is what sorting takes as equal: NaN is NaN, and -0.0 is 0.0.

use super::args::{one_tensor, tensor_spec};
use super::lines::Lines;
use super::positions::scatter_add_along_axis;
use super::row_lines::{RowSort, cut_by, for_rows, places_by_row, rows, segment_argsort, segment_shift};
use super::sorting::{indices, sortable, sorted_bits, with_elements, with_ranks};
use super::{Run, assemble};
use crate::attrs::{AttrSet, Attrs};
use crate::kernels::order::{Ordered, Scratch, argsort, sort_row};
use crate::kernels::pool::{Block, affordable};
use crate::offsets::Offsets;
use crate::op::{Class, OpDef, OutputSpecs};
use crate::partition::{RowPartition, Rows};
use crate::tensor::{Dense, Storage, Tensor};
use crate::threads::{pieces, side_by_side, split_at_lengths};
use crate::value::{Outputs, Value};
use extenso_types::{DType, Dim, Error, LeafSpec, PartitionSpec, Result, Shape, TensorSpec};
use half::{bf16, f16};
use smallvec::smallvec;
use std::cmp::Ordering;
use std::ops::Range;

crate::ops! {
    /// Rows in order.
    pub static ROW_ORDERS;

    /// The elements of each row in increasing order, or in decreasing order if `descending`; the sort is that of `sort`.
    ///
    /// Shapes: those of `values`. Errors: values whose number is not the partition's; variants.
    SEGMENT_SORT: segment_sort(values, partition; RowSort { descending: bool }) = OpDef::general(Class::Segment, infer_sort, run_sort)
        .grad(|cx| {
            let (x, rows) = (&cx.args[0], &cx.args[1]);
            let order = segment_argsort(x, rows, cx.attrs::<RowSort>()?.descending)?;
            // What is outside every row is zero whatever `x` is there, so nothing comes back from it.
            let inside = segment_shift(cx.g(), rows, 0.0, 0)?;
            Ok(vec![Some(scatter_add_along_axis(inside, places_by_row(order, rows, rows)?, x, 0)?), None])
        })
        .examples(&[("segment_sort([3.0, 1.0, 2.0, 5.0], partition_from_lengths([3, 0, 1]))", "[1.0, 2.0, 3.0, 5.0]")]);

    /// The partition of the values into runs of equal neighbours; no run goes beyond its row. NaN equals NaN here.
    ///
    /// Shapes: a vector of values. Errors: values whose number is not the partition's, or with axes of their own; variants.
    SEGMENT_RUNS: segment_runs(values, partition) = OpDef::general(Class::Segment, infer_runs, run_runs)
        .examples(&[("segment_runs([4, 4, 7, 7, 4], partition_from_lengths([3, 0, 2]))", "partition_from_lengths([2, 1, 1, 1])")]);

    /// The number of runs of equal neighbours in each row, as i64; `segment_runs` cuts the values into them.
    ///
    /// Shapes: a vector of values. Errors: values whose number is not the partition's, or with axes of their own; variants.
    SEGMENT_RUN_COUNTS: segment_run_counts(values, partition) = OpDef::general(Class::Segment, infer_counts, run_counts)
        .examples(&[("segment_run_counts([4, 4, 7, 7, 4], partition_from_lengths([3, 0, 2]))", "[2, 0, 2]")]);
}

fn infer_sort(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let x = cut_by(args, 1)?;
    Ok(tensor_spec(sortable(x)?, x.shape.clone()))
}

fn run_sort(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (rows, descending) = (rows(args, 1)?, RowSort::of(attrs)?.descending);
    let lines = Lines::of_rows(&args[0], rows)?;
    let sorted = sorted(lines.data()?, lines.spans_of(rows)?.collect(), descending)?;
    one_tensor(lines.back(sorted)?)
}

/// The elements of each span in order, and zeros outside.
fn sorted(data: &Dense, spans: Vec<Range<usize>>, descending: bool) -> Result<Tensor> {
    macro_rules! by_dtype {
        ($($d:ident $t:ty),*) => {
            match data.dtype() {
                $(DType::$d => {
                    let x = data.as_slice::<$t>()?;
                    // A long row is sorted from one place to another.
                    affordable(size_of_val(x).saturating_mul(2))?;
                    let mut block = Block::new(size_of_val(x));
                    for_rows(block.slice_mut::<$t>(), &spans, |spans, start, out| {
                        let mut spare = Vec::new();
                        for span in spans {
                            let row = &mut out[span.start - start..span.end - start];
                            row.copy_from_slice(&x[span.clone()]);
                            sort_row(row, descending, &mut spare);
                        }
                    });
                    Ok(Tensor::from_dense(data.dtype(), data.dims().into(), Storage::Fixed(block.elements())))
                })*
                DType::Bool => {
                    let sorted = sorted_bits(data.bits()?, spans.into_iter(), descending)?;
                    Tensor::from_bits(data.dims(), sorted)
                }
                DType::String | DType::Bytes | DType::Variant => picked(data, &spans, descending),
            }
        };
    }
    by_dtype!(I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16, BF16 bf16, F32 f32, F64 f64)
}

/// As `sorted`, for elements that are not moved one by one.
fn picked(data: &Dense, spans: &[Range<usize>], descending: bool) -> Result<Tensor> {
    affordable(data.len().saturating_mul(size_of::<i64>() + size_of::<u128>() + size_of::<Run>()))?;
    let mut order = vec![0_i64; data.len()];
    with_ranks!(data, x => for_rows(&mut order, spans, |spans, start, out| {
        let mut scratch = Scratch::default();
        for span in spans {
            argsort(&x[span.clone()], descending, &mut out[span.start - start..span.end - start], &mut scratch);
        }
    }));
    let mut runs = Vec::with_capacity(data.len());
    let gap = |from: usize, to: usize| (to > from).then_some(Run { source: None, start: 0, len: to - from });
    let mut end = 0;
    for span in spans {
        runs.extend(gap(end, span.start));
        let place = |at: &i64| span.start + usize::try_from(*at).unwrap_or(0);
        runs.extend(order[span.clone()].iter().map(|at| Run { source: Some(0), start: place(at), len: 1 }));
        end = span.end;
    }
    runs.extend(gap(end, data.len()));
    assemble(data.dtype(), data.dims().into(), &[data], runs.into_iter())
}

/// The spec of a vector of values that have an order, cut by a partition.
fn vector(args: &[LeafSpec]) -> Result<&TensorSpec> {
    let x = cut_by(args, 1)?;
    sortable(x)?;
    match x.shape.rank() {
        Some(1) | None => Ok(x),
        Some(_) => Err(Error::shape(format!("the values have shape {}", x.shape)).wanted("a vector")),
    }
}

fn infer_runs(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    vector(args)?;
    let nvalues = args[1].partition()?.nvalues;
    Ok(smallvec![LeafSpec::Partition(PartitionSpec::new(Dim::any(), nvalues, DType::I64))])
}

fn infer_counts(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    vector(args)?;
    Ok(tensor_spec(DType::I64, Shape::new([args[1].partition()?.nrows])))
}

/// Whether a run begins at `i`, in a row from `first` on.
fn begins<T: Ordered>(x: &[T], first: usize, i: usize) -> bool {
    i == first || x[i].order(x[i - 1], false) != Ordering::Equal
}

/// The number of runs of each row.
fn count_runs<T: Ordered + Sync>(x: &[T], rows: &Rows, out: &mut [i64]) {
    let part = out.len().div_ceil(pieces(x.len())).max(1);
    side_by_side(out.chunks_mut(part).enumerate().collect(), |(at, out): (usize, &mut [i64])| {
        for (row, out) in (at * part..).zip(out) {
            let row = rows.row(row);
            *out = row.clone().map(|i| i64::from(begins(x, row.start, i))).sum();
        }
    });
}

/// Where the runs of each row begin, one after the other; `counts` has their numbers.
fn write_runs<T: Ordered + Sync>(x: &[T], rows: &Rows, counts: &[i64], out: &mut [i64]) {
    let part = counts.len().div_ceil(pieces(x.len())).max(1);
    let total = |counts: &[i64]| usize::try_from(counts.iter().sum::<i64>()).unwrap_or(0);
    let parts = split_at_lengths(out, counts.chunks(part).map(total));
    side_by_side(parts.into_iter().enumerate().collect(), |(at, out): (usize, &mut [i64])| {
        let mut made = 0;
        for row in (at * part..rows.nrows().min((at + 1) * part)).map(|row| rows.row(row)) {
            let first = row.start;
            for i in row {
                // Written always, and kept where a run begins: there is no branch to guess.
                if let Some(out) = out.get_mut(made) {
                    *out = int(i);
                }
                made += usize::from(begins(x, first, i));
            }
        }
    });
}

fn int(at: usize) -> i64 {
    i64::try_from(at).unwrap_or(i64::MAX)
}

fn run_runs(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let rows = rows(args, 1)?;
    let lines = Lines::of_rows(&args[0], rows)?;
    let data = lines.data()?;
    let mut counts = vec![0; rows.nrows()];
    let offsets = with_elements!(data, x => {
        count_runs(x, rows, &mut counts);
        let count = usize::try_from(counts.iter().sum::<i64>()).unwrap_or(0);
        affordable((count + 1).saturating_mul(size_of::<i64>()))?;
        let mut offsets = Block::new((count + 1) * size_of::<i64>());
        let (begin, end) = offsets.slice_mut::<i64>().split_at_mut(count);
        write_runs(x, rows, &counts, begin);
        end.fill(int(rows.last()));
        offsets.freeze()
    });
    let runs = RowPartition::from_offsets(Offsets::I64(offsets.into()), rows.nvalues())?;
    Ok(smallvec![Value::Partition(runs)])
}

fn run_counts(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let rows: &Rows = rows(args, 1)?;
    let lines = Lines::of_rows(&args[0], rows)?;
    let data = lines.data()?;
    one_tensor(indices(smallvec![rows.nrows()], |out| {
        with_elements!(data, x => count_runs(x, rows, out));
        Ok(())
    })?)
}
