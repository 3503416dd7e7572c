//! Ops on each row of a partition as a whole: orders, positions, running folds, recurrences.
//!
//! Invariant: a row gets what the op along an axis gives of it alone, bit for bit, and no row sees another. Values may have
//! axes of their own: then each column of a row is a line. What is outside every row is zero in the result.

use super::args::{one_tensor, spec_of, tensor_spec};
use super::cumulative::{grad_products, products, sums};
use super::lines::Lines;
use super::recurrence::{check_entering, check_links, grad_scan, grad_shift, moved, scanned};
use super::selection::positions_within;
use super::sorting::{indices, sortable, with_elements, with_ranks};
use crate::attrs::{AttrSet, Attrs};
use crate::grad::one;
use crate::kernels::extremes::extremes_of;
use crate::kernels::order::{Scratch, argsort};
use crate::op::{Class, OpDef, OutputSpecs};
use crate::partition::Rows;
use crate::reduce::Fold;
use crate::threads::{pieces, side_by_side};
use crate::value::{Outputs, Value};
use extenso_types::{DType, Dim, Error, LeafSpec, PartitionSpec, Result, Shape, TensorSpec};
use half::{bf16, f16};
use std::ops::Range;

crate::attrs! {
    /// The attributes of `segment_argsort`.
    pub struct RowSort { descending: bool = false }
    /// The attributes of running folds of rows.
    pub struct RowScan { reverse: bool = false }
    /// The attributes of `segment_shift`.
    pub struct RowShift { by: i64 = 1 }
}

crate::ops! {
    /// Rows as a whole.
    pub static ROW_LINES;

    /// For each row the positions in it in the order that sorts it, as i64; the sort is that of `sort`.
    ///
    /// Shapes: those of `values`. Errors: values whose number is not the partition's; variants.
    SEGMENT_ARGSORT: segment_argsort(values, partition; RowSort { descending: bool }) = OpDef::general(Class::Segment, infer_argsort, run_argsort)
        .examples(&[("segment_argsort([3.0, 1.0, 2.0, 5.0], partition_from_lengths([3, 0, 1]))", "[1, 2, 0, 0]")]);

    /// The position in each row of its first largest element, or of the first NaN, as i64; -1 for an empty row.
    ///
    /// Errors: values whose number is not the partition's; variants.
    SEGMENT_ARGMAX: segment_argmax(values, partition) = OpDef::general(Class::Segment, infer_extreme, run_argmax)
        .examples(&[("segment_argmax([1.0, 5.0, 2.0], partition_from_lengths([2, 0, 1]))", "[1, -1, 0]")]);

    /// The position in each row of its first smallest element, or of the first NaN, as i64; -1 for an empty row.
    ///
    /// Errors: values whose number is not the partition's; variants.
    SEGMENT_ARGMIN: segment_argmin(values, partition) = OpDef::general(Class::Segment, infer_extreme, run_argmin)
        .examples(&[("segment_argmin([1.0, 5.0, 2.0], partition_from_lengths([2, 0, 1]))", "[0, -1, 0]")]);

    /// The sums of the elements of each row up to each; with `reverse`, of those from each on. As `cumulative_sum`.
    SEGMENT_CUMULATIVE_SUM: segment_cumulative_sum(values, partition; RowScan { reverse: bool }) = OpDef::general(Class::Segment, infer_sums, run_sums)
        .facts(&[crate::op::Fact::Linear])
        .grad(|cx| {
            let reverse = cx.attrs::<RowScan>()?.reverse;
            Ok(vec![Some(segment_cumulative_sum(cx.g(), &cx.args[1], !reverse)?), None])
        })
        .examples(&[("segment_cumulative_sum([1.0, 2.0, 4.0], partition_from_lengths([2, 0, 1]))", "[1.0, 3.0, 4.0]")]);

    /// The products of the elements of each row up to each; with `reverse`, of those from each on. As `cumulative_prod`.
    SEGMENT_CUMULATIVE_PROD: segment_cumulative_prod(values, partition; RowScan { reverse: bool }) = OpDef::general(Class::Segment, infer_products, run_products)
        .grad(|cx| {
            let (rows, reverse) = (&cx.args[1], cx.attrs::<RowScan>()?.reverse);
            let shifted = |x: &Value, value: f64, by: i64| segment_shift(x, rows, value, by);
            let mut grads = one(grad_products(cx, reverse, &shifted, &|x, link| segment_linear_scan(x, link, rows, !reverse)))?;
            grads.push(None);
            Ok(grads)
        })
        .examples(&[("segment_cumulative_prod([3.0, 2.0, 4.0], partition_from_lengths([2, 0, 1]))", "[3.0, 6.0, 4.0]")]);

    /// The elements of each row moved by `by` positions in it; `value` enters. As `shift_in`.
    SEGMENT_SHIFT: segment_shift(values, partition, value; RowShift { by: i64 }) = OpDef::general(Class::Segment, infer_shift, run_shift)
        .grad(|cx| {
            let (rows, by) = (&cx.args[1], cx.attrs::<RowShift>()?.by);
            grad_shift(cx, 2, &|x, value, back| segment_shift(x, rows, value, if back { by.saturating_neg() } else { by }))
        })
        .examples(&[("segment_shift([1.5, 2.5, 3.5], partition_from_lengths([2, 0, 1]), 0.0)", "[0.0, 1.5, 0.0]")]);

    /// The recurrence of `linear_scan` along each row.
    SEGMENT_LINEAR_SCAN: segment_linear_scan(values, link, partition; RowScan { reverse: bool }) = OpDef::general(Class::Segment, infer_scan, run_scan)
        .grad(|cx| {
            let (rows, reverse) = (&cx.args[2], cx.attrs::<RowScan>()?.reverse);
            let next = |x: &Value| segment_shift(x, rows, 0.0, 1);
            grad_scan(cx, reverse, &next, &|x, link| segment_linear_scan(x, link, rows, !reverse))
        })
        .examples(&[("segment_linear_scan([1.0, 2.0, 3.0], [9.0, 0.5, 9.0], partition_from_lengths([2, 1]))", "[1.0, 2.5, 3.0]")]);

    /// The places among all values of `rows` of the elements that `indices` name by their positions in a row, as i64.
    ///
    /// Negative indices count from the end of the row. Shapes: `cut` cuts the indices into rows, one for each of `rows`. Errors: an index out of range for its row, with both;
    /// another number of rows.
    PLACES_BY_ROW: places_by_row(indices, cut, rows) = OpDef::general(Class::Segment, infer_places, run_places)
        .part()
        .examples(&[("places_by_row([1, 0, -1], partition_from_lengths([2, 1]), partition_from_lengths([2, 3]))", "[1, 0, 4]")]);
}

fn rows_spec(args: &[LeafSpec], i: usize) -> Result<&PartitionSpec> {
    args.get(i).ok_or_else(|| Error::value(format!("argument {} is missing", i + 1)))?.partition()
}

pub(super) fn rows(args: &[Value], i: usize) -> Result<&Rows> {
    args.get(i).ok_or_else(|| Error::value(format!("argument {} is missing", i + 1)))?.partition()?.data()
}

/// The spec of the values, which the partition cuts.
pub(super) fn cut_by(args: &[LeafSpec], at: usize) -> Result<&TensorSpec> {
    let (values, partition) = (spec_of(args, 0)?, rows_spec(args, at)?);
    match values.shape.dims() {
        Some([]) => Err(Error::shape("values are a scalar").wanted("at least a vector")),
        Some([outer, ..]) if !outer.is_compatible_with(partition.nvalues) => {
            Err(Error::shape(format!("{outer} values are given to a partition of {}", partition.nvalues))
                .wanted("as many values as the partition cuts"))
        }
        Some(_) | None => Ok(values),
    }
}

fn infer_argsort(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let x = cut_by(args, 1)?;
    sortable(x)?;
    Ok(tensor_spec(DType::I64, x.shape.clone()))
}

fn run_argsort(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (rows, descending) = (rows(args, 1)?, RowSort::of(attrs)?.descending);
    let lines = Lines::of_rows(&args[0], rows)?;
    let data = lines.data()?;
    let order = indices(data.dims().into(), |out| {
        let spans: Vec<_> = lines.spans_of(rows)?.collect();
        with_ranks!(data, x => for_rows(out, &spans, |spans, start, out| {
            let mut scratch = Scratch::default();
            for span in spans {
                argsort(&x[span.clone()], descending, &mut out[span.start - start..span.end - start], &mut scratch);
            }
        }));
        Ok(())
    })?;
    one_tensor(lines.back(order)?)
}

/// Calls `f` with rows that lie one after the other and with what is written of them, which begins where the first of them does;
/// many rows are worked on side by side. Zeros stand outside.
pub(super) fn for_rows<T: Copy + Default + Send>(
    mut out: &mut [T],
    spans: &[Range<usize>],
    f: impl Fn(&[Range<usize>], usize, &mut [T]) + Sync,
) {
    let per_part = spans.len().div_ceil(pieces(out.len())).max(1);
    let (mut parts, mut end) = (Vec::new(), 0);
    for spans in spans.chunks(per_part) {
        let (start, stop) = (spans[0].start, spans[spans.len() - 1].end);
        let (outside, rest) = out.split_at_mut(start - end);
        outside.fill(T::default());
        let (part, rest) = rest.split_at_mut(stop - start);
        parts.push((spans, start, part));
        (out, end) = (rest, stop);
    }
    out.fill(T::default());
    side_by_side(parts, |(spans, start, out)| {
        // Values between two lines are outside every row.
        let mut end = start;
        for span in spans {
            out[end - start..span.start - start].fill(T::default());
            end = span.end;
        }
        f(spans, start, out);
    });
}

fn infer_extreme(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let x = cut_by(args, 1)?;
    sortable(x)?;
    let nrows = rows_spec(args, 1)?.nrows;
    let inner = |dims: &[Dim]| Shape::new(std::iter::once(nrows).chain(dims[1..].iter().copied()));
    Ok(tensor_spec(DType::I64, x.shape.dims().map_or_else(Shape::unknown, inner)))
}

fn run_argmax(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    extremes(args, true)
}

fn run_argmin(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    extremes(args, false)
}

fn extremes(args: &[Value], largest: bool) -> Result<Outputs> {
    let rows = rows(args, 1)?;
    let lines = Lines::of_rows(&args[0], rows)?;
    let data = lines.data()?;
    let found = indices(lines.dims_with(rows.nrows())?, |out| {
        out.fill(-1);
        let spans = lines.spans_of(rows)?;
        with_elements!(data, x => extremes_of(x, spans, largest, out));
        Ok(())
    })?;
    one_tensor(lines.back(found)?)
}

fn infer_sums(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let x = cut_by(args, 1)?;
    Ok(tensor_spec(Fold::Sum.out_dtype(x.dtype)?, x.shape.clone()))
}

fn infer_products(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let x = cut_by(args, 1)?;
    Ok(tensor_spec(Fold::Prod.out_dtype(x.dtype)?, x.shape.clone()))
}

fn run_sums(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let rows = rows(args, 1)?;
    let lines = Lines::of_rows(&args[0], rows)?;
    let spans = lines.spans_of(rows)?;
    sums(lines, spans, RowScan::of(attrs)?.reverse)
}

fn run_products(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let rows = rows(args, 1)?;
    let lines = Lines::of_rows(&args[0], rows)?;
    let spans = lines.spans_of(rows)?;
    products(lines, spans, RowScan::of(attrs)?.reverse)
}

fn infer_shift(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let x = cut_by(args, 1)?;
    check_entering(x, spec_of(args, 2)?)?;
    Ok(tensor_spec(x.dtype, x.shape.clone()))
}

fn run_shift(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let rows = rows(args, 1)?;
    let lines = Lines::of_rows(&args[0], rows)?;
    moved(&lines, lines.spans_of(rows)?, RowShift::of(attrs)?.by, &args[2])
}

fn infer_scan(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let x = cut_by(args, 2)?;
    check_links(x, spec_of(args, 1)?)?;
    Ok(tensor_spec(x.dtype, x.shape.clone()))
}

fn run_scan(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let rows = rows(args, 2)?;
    let lines = Lines::of_rows(&args[0], rows)?;
    scanned(&lines, &Lines::of_rows(&args[1], rows)?, lines.spans_of(rows)?, RowScan::of(attrs)?.reverse)
}

fn infer_places(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let (x, cut, rows) = (cut_by(args, 1)?, rows_spec(args, 1)?, rows_spec(args, 2)?);
    if !x.dtype.is_integer() {
        return Err(Error::dtype(format!("indices are {}", x.dtype))
            .wanted("integers")
            .hint("Write `cast(indices, 'i64')`."));
    }
    if !cut.nrows.is_compatible_with(rows.nrows) {
        return Err(no_rows(&cut.nrows.to_string(), &rows.nrows.to_string()));
    }
    Ok(tensor_spec(DType::I64, x.shape.clone()))
}

fn no_rows(cut: &str, rows: &str) -> Error {
    Error::shape(format!("indices of {cut} rows are given for {rows} rows")).wanted("indices for each row")
}

fn run_places(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (cut, rows) = (rows(args, 1)?, rows(args, 2)?);
    if cut.nrows() != rows.nrows() {
        return Err(no_rows(&cut.nrows().to_string(), &rows.nrows().to_string()));
    }
    let wide = super::whole(&args[0])?;
    let lines = Lines::of_rows(&wide, cut)?;
    let given = lines.data()?.as_slice::<i64>()?;
    let places = indices(lines.data()?.dims().into(), |out| {
        out.fill(0);
        for (i, span) in lines.spans_of(cut)?.enumerate() {
            let row = i % rows.nrows();
            for (out, index) in out[span.clone()].iter_mut().zip(&given[span]) {
                *out = place(*index, row, rows)?;
            }
        }
        Ok(())
    })?;
    one_tensor(lines.back(places)?)
}

fn place(index: i64, row: usize, rows: &Rows) -> Result<i64> {
    let values = rows.row(row);
    let int = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let n = int(values.len());
    let at = if index < 0 { index.saturating_add(n) } else { index };
    if (0..n).contains(&at) {
        return Ok(int(values.start) + at);
    }
    Err(Error::index(format!("index {index} is out of range for row {row} of {n} elements"))
        .wanted(positions_within(n)))
}
