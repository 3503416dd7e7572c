//! Orders along an axis: sorted elements, the positions that sort, the largest and smallest.
//!
//! Invariant: NaN comes last whatever the direction, and equal elements keep their order.

use super::args::{one_tensor, spec_of, tensor_spec};
use super::lines::{Lines, same_shape};
use super::long_lines::{order_lines, sort_lines};
use super::positions::{scatter_add_along_axis, take_along_axis};
use super::{Run, assemble};
use crate::attrs::{AttrSet, Attrs, Axes};
use crate::grad::one;
use crate::kernels::bits::count_ones;
use crate::kernels::extremes::{extreme_columns, extreme_rows, top_rows};
use crate::kernels::order::Ordered;
use crate::kernels::pool::{Block, affordable};
use crate::kernels::ranks::ranks;
use crate::op::{Class, OpDef, OutputSpecs};
use crate::reduce::{normalize_axes, normalize_axis};
use crate::tensor::{Dense, Storage, Tensor, bits_in_runs, bytes_of_bits};
use crate::threads::{pieces, side_by_side};
use crate::value::{Arg, Outputs, Value};
use arrow_buffer::BooleanBuffer;
use extenso_types::{DType, Dim, Dims, Error, LeafSpec, Result, Shape, TensorSpec};
use half::{bf16, f16};
use smallvec::SmallVec;
use std::ops::Range;

crate::attrs! {
    /// The attributes of a sort.
    pub struct Sort { axis: i64 = -1, descending: bool = false }
    /// The attributes of `argmax` and `argmin`.
    pub struct ArgExtreme { axis: Axes = Axes::All, keepdims: bool = false }
    /// The attributes of `top_k_indices`.
    pub struct TopK { k: i64 }
}

crate::ops! {
    /// Orders along an axis.
    pub static SORTING;

    /// The elements in increasing order along `axis`, or in decreasing order if `descending`; NaN last in both.
    ///
    /// The sort is stable. Strings are in the order of code points, false is below true. Errors: an axis out of range.
    SORT: sort(x; Sort { axis: i64, descending: bool }) = OpDef::general(Class::Axiswise, infer_sort, run_sort)
        .grad(|cx| {
            let attrs: &Sort = cx.attrs()?;
            let order = argsort(&cx.args[0], attrs.axis, attrs.descending)?;
            one(scatter_add_along_axis(cx.g(), order, &cx.args[0], attrs.axis))
        })
        .examples(&[("sort([3.0, 1.0, 2.0])", "[1.0, 2.0, 3.0]"), ("sort([[3, 1], [1, 2]], axis=0, descending=True)", "[[3, 2], [1, 1]]")]);

    /// The positions along `axis` in the order that sorts the elements, as i64: what `take_along_axis` takes.
    ///
    /// The sort is that of `sort`. Errors: an axis out of range.
    ARGSORT: argsort(x; Sort { axis: i64, descending: bool }) = OpDef::general(Class::Axiswise, infer_argsort, run_argsort)
        .examples(&[("argsort([3.0, 1.0, 2.0])", "[1, 2, 0]")]);

    /// The positions of the `k` largest elements along the last axis, as i64: the largest first, of equal ones the first.
    ///
    /// NaN comes last. Shapes: the last axis has `k` positions. Errors: a scalar; `k` is negative, or more than the axis has.
    TOP_K_INDICES: top_k_indices(x; TopK { k: i64 }) = OpDef::general(Class::Axiswise, infer_top_k, run_top_k)
        .examples(&[("top_k_indices([1.0, 3.0, 2.0, 3.0], k=2)", "[1, 3]")]);

    /// The positions of the `k` largest elements along the last axis of those where `condition` holds, as i64.
    ///
    /// Where they are fewer, the first others stand behind them. The order is that of `top_k_indices`. Shapes: `condition` is bool, of the
    /// shape of `x`; the last axis has `k` positions. Errors: those of `top_k_indices`; a condition of another dtype or shape.
    TOP_K_INDICES_WHERE: top_k_indices_where(x, condition; TopK { k: i64 }) = OpDef::general(Class::Axiswise, infer_top_k_where, run_top_k_where)
        .examples(&[("top_k_indices_where([1.0, 3.0, 2.0, 3.0], [True, False, True, False], k=3)", "[2, 0, 1]")]);

    /// The position of the first largest element along `axis`, or of the first NaN, as i64.
    ///
    /// Without an axis, the position among all elements in row-major order. Errors: an axis out of range, or without
    /// elements; more than one axis.
    ARGMAX: argmax(x; ArgExtreme { axis: Axes, keepdims: bool }) = OpDef::general(Class::Axiswise, infer_extreme, run_argmax)
        .examples(&[("argmax([[1.0, 5.0], [3.0, 2.0]], axis=-1)", "[1, 0]"), ("argmax([[1.0, 5.0], [3.0, 2.0]])", "1")]);

    /// The position of the first smallest element along `axis`, or of the first NaN, as i64.
    ///
    /// Without an axis, the position among all elements in row-major order. Errors: an axis out of range, or without
    /// elements; more than one axis.
    ARGMIN: argmin(x; ArgExtreme { axis: Axes, keepdims: bool }) = OpDef::general(Class::Axiswise, infer_extreme, run_argmin)
        .examples(&[("argmin([[1.0, 5.0], [3.0, 2.0]], axis=-1)", "[0, 1]")]);
}

/// The `k` largest elements along the last axis, the largest first, and their positions, as i64.
///
/// A composition of `top_k_indices` and `take_along_axis`, so the values have a gradient.
///
/// Errors: a scalar; `k` is negative, or more than the axis has.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let (values, indices) = ops::top_k(Tensor::from_vec(vec![1.0, 3.0, 2.0]), 2).unwrap();
/// assert_eq!((values.to_string(), indices.to_string()), ("[3.0, 2.0]".into(), "[1, 2]".into()));
/// ```
pub fn top_k(x: impl Into<Arg>, k: i64) -> Result<(Value, Value)> {
    let x = x.into();
    let indices = top_k_indices(&x, k).map_err(|e| e.at_part("top_k"))?;
    Ok((take_along_axis(x, &indices, -1)?, indices))
}

pub(super) fn sortable(spec: &TensorSpec) -> Result<DType> {
    match spec.dtype {
        DType::Variant => {
            Err(Error::dtype("the op does not take variant").wanted("numbers, booleans, strings or bytes"))
        }
        dtype => Ok(dtype),
    }
}

fn infer_sort(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let x = spec_of(args, 0)?;
    Ok(tensor_spec(sortable(x)?, same_shape(x, Sort::of(attrs)?.axis)?))
}

fn infer_argsort(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let x = spec_of(args, 0)?;
    sortable(x)?;
    Ok(tensor_spec(DType::I64, same_shape(x, Sort::of(attrs)?.axis)?))
}

fn infer_top_k(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let x = spec_of(args, 0)?;
    sortable(x)?;
    let k = wanted(TopK::of(attrs)?.k)?;
    let Some(dims) = x.shape.dims() else { return Ok(tensor_spec(DType::I64, Shape::unknown())) };
    let Some((last, outer)) = dims.split_last() else {
        return Err(Error::shape("the argument is a scalar").wanted("at least a vector"));
    };
    if let Some(n) = last.known() {
        within(k, n)?;
    }
    Ok(tensor_spec(DType::I64, Shape::new(outer.iter().copied().chain([Dim::Known(k)]))))
}

fn infer_top_k_where(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let (x, condition) = (spec_of(args, 0)?, spec_of(args, 1)?);
    if condition.dtype != DType::Bool || !condition.shape.is_compatible_with(&x.shape) {
        return Err(Error::dtype(format!("the condition is {condition}"))
            .wanted(format!("bool, of the shape {} of the first argument", x.shape)));
    }
    infer_top_k(args, attrs)
}

fn wanted(k: i64) -> Result<usize> {
    usize::try_from(k).map_err(|_| Error::value(format!("k is {k}")).wanted("a number that is not negative"))
}

fn within(k: usize, n: usize) -> Result<()> {
    if k <= n {
        return Ok(());
    }
    Err(Error::value(format!("k is {k}, and the last axis has {n} elements")).wanted("at most as many as there are"))
}

fn infer_extreme(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let attrs = ArgExtreme::of(attrs)?;
    let x = spec_of(args, 0)?;
    sortable(x)?;
    let Some(dims) = x.shape.dims() else {
        let whole = attrs.axis == Axes::All && !attrs.keepdims;
        return Ok(tensor_spec(DType::I64, if whole { Shape::scalar() } else { Shape::unknown() }));
    };
    let axes = searched(&attrs.axis, dims.len())?;
    if axes.iter().any(|axis| dims[*axis] == Dim::Known(0)) {
        return Err(no_element());
    }
    let kept = dims.iter().enumerate().filter_map(|(i, d)| match (axes.contains(&i), attrs.keepdims) {
        (false, _) => Some(*d),
        (true, true) => Some(Dim::Known(1)),
        (true, false) => None,
    });
    Ok(tensor_spec(DType::I64, Shape::new(kept)))
}

fn searched(axes: &Axes, rank: usize) -> Result<SmallVec<[usize; 4]>> {
    match axes {
        Axes::All => Ok((0..rank).collect()),
        Axes::List(list) if list.len() == 1 => normalize_axes(list, rank),
        Axes::List(list) => Err(Error::value(format!("axes {list:?} are given")).wanted("one axis, or none for all")),
    }
}

fn no_element() -> Error {
    Error::value("the axis has no element").wanted("at least one element to choose from")
}

/// An expression over the elements of sortable data, whatever their dtype.
macro_rules! with_elements {
    ($data:expr, $x:ident => $body:expr) => {
        with_elements!($data, $x => $body; I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16, BF16 bf16, F32 f32, F64 f64)
    };
    ($data:expr, $x:ident => $body:expr; $($d:ident $t:ty),*) => {
        match $data.dtype() {
            $(DType::$d => {
                let $x = $data.as_slice::<$t>()?;
                $body
            })*
            DType::Bool => {
                $crate::kernels::pool::affordable($data.len())?;
                let bytes = $crate::tensor::bytes_of_bits($data.bits()?);
                let $x = &bytes[..];
                $body
            }
            DType::String | DType::Bytes | DType::Variant => {
                $crate::kernels::pool::affordable($data.len().saturating_mul(size_of::<&[u8]>()))?;
                let texts: Result<Vec<&[u8]>> = (0..$data.len()).map(|i| $data.text_at(i)).collect();
                let texts = texts?;
                let $x = &texts[..];
                $body
            }
        }
    };
}

/// The bits of each span in order, and zeros outside. The spans follow one another.
pub(super) fn sorted_bits(
    bits: &BooleanBuffer,
    spans: impl Iterator<Item = Range<usize>>,
    descending: bool,
) -> Result<BooleanBuffer> {
    bits_in_runs(bits.len(), |out| {
        let mut end = 0;
        for span in spans {
            let ones = count_ones(bits.values(), bits.offset() + span.start, span.len());
            let first = if descending { ones } else { span.len() - ones };
            out.fill(false, span.start - end);
            out.fill(descending, first);
            out.fill(!descending, span.len() - first);
            end = span.end;
        }
        out.fill(false, bits.len() - end);
    })
}

/// As `with_elements`, of numbers for texts of which few differ: for what looks at their order alone.
macro_rules! with_ranks {
    ($data:expr, $x:ident => $body:expr) => {
        match $crate::ops::sorting::ranks_of($data)? {
            Some(ranks) => {
                let $x = &ranks[..];
                $body
            }
            None => with_elements!($data, $x => $body),
        }
    };
}

pub(super) use {with_elements, with_ranks};

/// Numbers that order as texts do, if few of them differ.
pub(super) fn ranks_of(data: &Dense) -> Result<Option<Vec<u32>>> {
    let Storage::Text { offsets, bytes } = data.storage() else { return Ok(None) };
    affordable(data.len().saturating_mul(size_of::<u32>()))?;
    Ok(ranks((0..data.len()).map(|i| &bytes[offsets.get(i)..offsets.get(i + 1)])))
}

fn run_sort(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let attrs = Sort::of(attrs)?;
    let lines = Lines::of(&args[0], attrs.axis)?;
    let (data, n) = (lines.data()?, lines.len()?);
    macro_rules! by_dtype {
        ($($d:ident $t:ty),*) => {
            match data.dtype() {
                $(DType::$d => {
                    affordable((data.len() + spare(data.len(), n)).saturating_mul(size_of::<$t>()))?;
                    let mut block = Block::new(data.len() * size_of::<$t>());
                    sort_lines(data.as_slice::<$t>()?, n, attrs.descending, block.slice_mut::<$t>());
                    Tensor::from_dense(data.dtype(), data.dims().into(), Storage::Fixed(block.elements()))
                })*
                DType::Bool => {
                    let lines = (0..data.len()).step_by(n.max(1)).map(|at| at..at + n);
                    Tensor::from_bits(data.dims(), sorted_bits(data.bits()?, lines, attrs.descending)?)?
                }
                DType::String | DType::Bytes | DType::Variant => {
                    affordable(to_order(data.len(), n))?;
                    let mut order = vec![0_i64; data.len()];
                    with_ranks!(data, x => order_lines(x, n, attrs.descending, &mut order));
                    let start = |(i, at): (usize, &i64)| i / n * n + usize::try_from(*at).unwrap_or(0);
                    let runs = order.iter().enumerate().map(|place| Run { source: Some(0), start: start(place), len: 1 });
                    assemble(data.dtype(), data.dims().into(), &[data], runs)?
                }
            }
        };
    }
    let sorted = by_dtype!(I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16, BF16 bf16, F32 f32, F64 f64);
    one_tensor(lines.back(sorted)?)
}

/// How many elements are sorted at once, in memory of their own: lines of `n` elements, side by side, or the parts of a line, which are
/// merged from further memory.
fn spare(len: usize, n: usize) -> usize {
    n.saturating_mul(pieces(len).min(len.checked_div(n).unwrap_or(0)).max(2))
}

/// How many bytes the positions in order take, and what their keys and positions side by side take.
fn to_order(len: usize, n: usize) -> usize {
    len.saturating_mul(size_of::<i64>()).saturating_add(spare(len, n).saturating_mul(size_of::<u128>()))
}

fn run_argsort(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let attrs = Sort::of(attrs)?;
    let lines = Lines::of(&args[0], attrs.axis)?;
    let (data, n) = (lines.data()?, lines.len()?);
    affordable(to_order(data.len(), n))?;
    let order = indices(data.dims().into(), |out| {
        with_ranks!(data, x => order_lines(x, n, attrs.descending, out));
        Ok(())
    })?;
    one_tensor(lines.back(order)?)
}

fn run_top_k(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let k = wanted(TopK::of(attrs)?.k)?;
    let lines = Lines::of(&args[0], -1)?;
    let (data, n) = (lines.data()?, lines.len()?);
    within(k, n)?;
    one_tensor(indices(lines.dims_with(k)?, |out| {
        with_elements!(data, x => by_lines(x, n, out, k, |x, out| top_rows(x, n, k, out)));
        Ok(())
    })?)
}

fn run_top_k_where(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let k = wanted(TopK::of(attrs)?.k)?;
    let lines = Lines::of(&args[0], -1)?;
    let (data, n) = (lines.data()?, lines.len()?);
    within(k, n)?;
    let condition = args[1].tensor()?.data()?;
    if condition.dims() != data.dims() {
        return Err(Error::shape(format!("the condition has shape {:?}", condition.dims()))
            .wanted(format!("{:?}, the shape of the first argument", data.dims())));
    }
    // What holds is moved together, and has places beside it.
    affordable(data.len().saturating_mul(data.dtype().width().unwrap_or(size_of::<&[u8]>()) + size_of::<i64>() + 1))?;
    let holds = bytes_of_bits(condition.bits()?);
    one_tensor(indices(lines.dims_with(k)?, |out| {
        with_elements!(data, x => top_rows_where(x, &holds, n, k, out));
        Ok(())
    })?)
}

/// [`top_rows`] among the elements of each row that hold, then the places of the first that do not.
fn top_rows_where<T: Ordered + Sync>(x: &[T], holds: &[u8], n: usize, k: usize, out: &mut [i64]) {
    let (row, top) = (n.max(1), k.max(1));
    let part = (x.len() / row).div_ceil(pieces(x.len())).max(1);
    let parts = x.chunks(part * row).zip(holds.chunks(part * row)).zip(out.chunks_mut(part * top)).collect();
    side_by_side(parts, |((x, holds), out): ((&[T], &[u8]), &mut [i64])| {
        let (mut there, mut places) = (Vec::new(), Vec::new());
        for ((x, holds), out) in x.chunks(row).zip(holds.chunks(row)).zip(out.chunks_mut(top)) {
            there.clear();
            places.clear();
            for ((x, holds), at) in x.iter().zip(holds).zip(0_i64..) {
                if *holds != 0 {
                    there.push(*x);
                    places.push(at);
                }
            }
            let (best, others) = out.split_at_mut(k.min(there.len()));
            top_rows(&there, there.len(), best.len(), best);
            best.iter_mut().for_each(|at| *at = places[usize::try_from(*at).unwrap_or(0)]);
            let missing = holds.iter().zip(0_i64..).filter(|(holds, _)| **holds == 0).map(|(_, at)| at);
            others.iter_mut().zip(missing).for_each(|(out, at)| *out = at);
        }
    });
}

fn run_argmax(args: &[Value], attrs: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    extreme(args, attrs, out, true)
}

fn run_argmin(args: &[Value], attrs: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    extreme(args, attrs, out, false)
}

fn extreme(args: &[Value], attrs: &dyn AttrSet, out: &[LeafSpec], largest: bool) -> Result<Outputs> {
    let attrs = ArgExtreme::of(attrs)?;
    let x = args[0].tensor()?.data()?;
    let dims = spec_of(out, 0)?.shape.to_dims().ok_or_else(|| Error::internal("sizes are not known at run time"))?;
    let axis = match &attrs.axis {
        Axes::All => None,
        Axes::List(axes) => Some(normalize_axis(axes[0], x.dims().len())?),
    };
    let n = axis.map_or(x.len(), |axis| x.dims()[axis]);
    if n == 0 {
        return Err(no_element());
    }
    let width = axis.map_or(1, |axis| x.dims()[axis + 1..].iter().product());
    let lines = match (&attrs.axis, x.dtype()) {
        // Texts are compared one by one, and so along lines.
        (Axes::List(axes), DType::String | DType::Bytes | DType::Variant) => Some(Lines::of(&args[0], axes[0])?),
        _ => None,
    };
    one_tensor(indices(dims, |out| {
        if let (1, DType::Bool) = (width, x.dtype()) {
            return first_bits(x.bits()?, n, largest, out);
        }
        let (x, width) = match &lines {
            Some(lines) => (lines.data()?, 1),
            None => (x, width),
        };
        with_elements!(x, x => match width {
            1 => by_lines(x, n, out, 1, |x, out| extreme_rows(x, n, largest, out)),
            _ => by_columns(x, n, width, largest, out),
        });
        Ok(())
    })?)
}

/// The place of the first bit of each line that is `wanted`, of the first at all where none is.
fn first_bits(bits: &BooleanBuffer, n: usize, wanted: bool, out: &mut [i64]) -> Result<()> {
    for (i, out) in out.iter_mut().enumerate() {
        let line = bits.slice(i * n, n);
        let found = if wanted { line.set_indices().next() } else { line.iter().position(|bit| !bit) };
        *out = i64::try_from(found.unwrap_or(0)).unwrap_or(i64::MAX);
    }
    Ok(())
}

/// Calls `f` with lines of `n` elements and with what is written of them, `m` elements of each; many lines are worked on side by side.
pub(super) fn by_lines<T: Sync, U: Send>(
    x: &[T],
    n: usize,
    out: &mut [U],
    m: usize,
    f: impl Fn(&[T], &mut [U]) + Sync,
) {
    let part = x.len().checked_div(n).unwrap_or(0).div_ceil(pieces(x.len())).max(1);
    let parts = x.chunks((part * n).max(1)).zip(out.chunks_mut((part * m).max(1)));
    side_by_side(parts.collect(), |(x, out)| f(x, out));
}

/// The positions of the extremes along the middle one of three axes, the last of `width` elements. Work is split between those of
/// the first axis, or between columns if there is one alone.
fn by_columns<T: Ordered + Sync>(x: &[T], n: usize, width: usize, largest: bool, out: &mut [i64]) {
    if out.len() > width {
        let all = |x: &[T], out: &mut [i64]| extreme_columns(x, width, 0, largest, out);
        return by_lines(x, n * width, out, width, |x, out| {
            x.chunks(n * width).zip(out.chunks_mut(width)).for_each(|(x, out)| all(x, out));
        });
    }
    let part = width.div_ceil(pieces(x.len())).max(1);
    side_by_side(out.chunks_mut(part).enumerate().collect(), |(i, out)| {
        extreme_columns(x, width, i * part, largest, out)
    });
}

/// A tensor of positions that a function writes.
pub(super) fn indices(dims: Dims, write: impl FnOnce(&mut [i64]) -> Result<()>) -> Result<Tensor> {
    let count: usize = dims.iter().product();
    affordable(count.saturating_mul(8))?;
    let mut block = Block::new(count * 8);
    write(block.slice_mut::<i64>())?;
    Ok(Tensor::from_dense(DType::I64, dims, Storage::Fixed(block.elements())))
}
