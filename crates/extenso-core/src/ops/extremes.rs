//! Running extremes: the largest and the smallest of the elements up to each, along an axis or in each row of a partition.
//!
//! Invariant: the last of a line is what `max` or `min` gives of it, bit for bit. Values keep their dtype; what is outside every
//! row is zero in the result.

use super::args::{one_tensor, spec_of, tensor_spec};
use super::cumulative::Cumulative;
use super::lines::{Lines, same_shape};
use super::positions::scatter_add_along_axis;
use super::row_lines::{RowScan, cut_by, rows, segment_shift};
use super::{cast, equal, isnan, logical_or, ones_like, subtract, where_};
use crate::attrs::{AttrSet, Attrs};
use crate::grad::{GradCx, one};
use crate::kernels::map::Number;
use crate::kernels::pool::{Block, affordable};
use crate::kernels::scan::scan_rows;
use crate::op::{Class, OpDef, OutputSpecs};
use crate::reduce::Fold;
use crate::tensor::{Element, Storage, Tensor};
use crate::value::{Outputs, Value};
use extenso_types::{DType, DTypeKind, Error, LeafSpec, Result, Shape, TensorSpec};
use half::{bf16, f16};
use std::ops::Range;

crate::ops! {
    /// Running extremes.
    pub static EXTREMES;

    /// The largest of the elements up to each, along `axis`; with `reverse`, of those from each on. NaN from the first NaN on.
    ///
    /// The gradient of each result goes to the last element that it equals; with `reverse`, to the first. Errors: an axis out of
    /// range; text.
    CUMULATIVE_MAX: cumulative_max(x; Cumulative { axis: i64, reverse: bool }) = OpDef::general(Class::Axiswise, infer_max, run_max)
        .grad(along_axis)
        .examples(&[("cumulative_max([1.0, 3.0, 2.0])", "[1.0, 3.0, 3.0]"), ("cumulative_max([[1, 4], [3, 2]], axis=0, reverse=True)", "[[3, 4], [3, 2]]")]);

    /// The smallest of the elements up to each, along `axis`; with `reverse`, of those from each on. NaN from the first NaN on.
    ///
    /// The gradient of each result goes to the last element that it equals; with `reverse`, to the first. Errors: an axis out of
    /// range; text.
    CUMULATIVE_MIN: cumulative_min(x; Cumulative { axis: i64, reverse: bool }) = OpDef::general(Class::Axiswise, infer_min, run_min)
        .grad(along_axis)
        .examples(&[("cumulative_min([2.0, 3.0, 1.0])", "[2.0, 2.0, 1.0]")]);

    /// The largest of the elements of each row up to each; with `reverse`, of those from each on. As `cumulative_max`.
    SEGMENT_CUMULATIVE_MAX: segment_cumulative_max(values, partition; RowScan { reverse: bool }) = OpDef::general(Class::Segment, infer_rows_max, run_rows_max)
        .grad(in_rows)
        .examples(&[("segment_cumulative_max([1.0, 3.0, 2.0], partition_from_lengths([2, 0, 1]))", "[1.0, 3.0, 2.0]")]);

    /// The smallest of the elements of each row up to each; with `reverse`, of those from each on. As `cumulative_min`.
    SEGMENT_CUMULATIVE_MIN: segment_cumulative_min(values, partition; RowScan { reverse: bool }) = OpDef::general(Class::Segment, infer_rows_min, run_rows_min)
        .grad(in_rows)
        .examples(&[("segment_cumulative_min([1.0, 3.0, 2.0], partition_from_lengths([2, 0, 1]))", "[1.0, 1.0, 2.0]")]);
}

/// The gradient along an axis.
fn along_axis(cx: &GradCx<'_>) -> Result<Vec<Option<Value>>> {
    let Cumulative { axis, reverse } = *cx.attrs::<Cumulative>()?;
    let places = counted(&cx.args[0], axis)?;
    let folded = |x: &Value| if reverse { cumulative_min(x, axis, true) } else { cumulative_max(x, axis, false) };
    let origin = folded(&hits(cx, &places, reverse)?)?;
    one(scatter_add_along_axis(cx.g(), origin, &cx.args[0], axis))
}

/// The gradient in rows. What is outside every row has no part in it.
fn in_rows(cx: &GradCx<'_>) -> Result<Vec<Option<Value>>> {
    let (rows, reverse) = (&cx.args[1], cx.attrs::<RowScan>()?.reverse);
    let places = counted(&cx.args[0], 0)?;
    let hits = hits(cx, &places, reverse)?;
    let origin =
        if reverse { segment_cumulative_min(hits, rows, true)? } else { segment_cumulative_max(hits, rows, false)? };
    let g = segment_shift(cx.g(), rows, 0.0, 0)?;
    Ok(vec![Some(scatter_add_along_axis(g, origin, &cx.args[0], 0)?), None])
}

/// 0, 1, 2 and so on along an axis, in the shape of the value.
fn counted(x: &Value, axis: i64) -> Result<Value> {
    subtract(super::cumulative_sum(cast(ones_like(x)?, DType::I64)?, axis, false)?, 1)
}

/// The places of the elements that are the extreme of those before them; elsewhere what no fold of places takes.
fn hits(cx: &GradCx<'_>, places: &Value, reverse: bool) -> Result<Value> {
    let hit = logical_or(equal(&cx.args[0], cx.y())?, isnan(&cx.args[0])?)?;
    where_(hit, places, if reverse { i64::MAX } else { 0 })
}

fn infer_max(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let x = spec_of(args, 0)?;
    infer(Fold::Max, x, same_shape(x, Cumulative::of(attrs)?.axis)?)
}

fn infer_min(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let x = spec_of(args, 0)?;
    infer(Fold::Min, x, same_shape(x, Cumulative::of(attrs)?.axis)?)
}

fn infer_rows_max(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let x = cut_by(args, 1)?;
    infer(Fold::Max, x, x.shape.clone())
}

fn infer_rows_min(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let x = cut_by(args, 1)?;
    infer(Fold::Min, x, x.shape.clone())
}

fn infer(fold: Fold, x: &TensorSpec, shape: Shape) -> Result<OutputSpecs> {
    if x.dtype.kind() == DTypeKind::Text {
        return Err(Error::dtype(format!("the op does not take {}", x.dtype)).wanted("numbers or booleans"));
    }
    Ok(tensor_spec(fold.out_dtype(x.dtype)?, shape))
}

fn run_max(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    lines_of_axis(&args[0], attrs, true)
}

fn run_min(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    lines_of_axis(&args[0], attrs, false)
}

fn lines_of_axis(x: &Value, attrs: &dyn AttrSet, largest: bool) -> Result<Outputs> {
    let Cumulative { axis, reverse } = *Cumulative::of(attrs)?;
    ordered(x, &|x| {
        let lines = Lines::of(x, axis)?;
        let spans = lines.spans()?;
        extremes(&lines, spans, reverse, largest)
    })
}

fn run_rows_max(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    lines_of_rows(args, attrs, true)
}

fn run_rows_min(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    lines_of_rows(args, attrs, false)
}

fn lines_of_rows(args: &[Value], attrs: &dyn AttrSet, largest: bool) -> Result<Outputs> {
    let (rows, reverse) = (rows(args, 1)?, RowScan::of(attrs)?.reverse);
    ordered(&args[0], &|x| {
        let lines = Lines::of_rows(x, rows)?;
        extremes(&lines, lines.spans_of(rows)?, reverse, largest)
    })
}

/// Folds booleans as the numbers 0 and 1, anything else as it stands.
fn ordered(x: &Value, fold: &dyn Fn(&Value) -> Result<Tensor>) -> Result<Outputs> {
    if x.tensor()?.dtype() != DType::Bool {
        return one_tensor(fold(x)?);
    }
    let folded = fold(&cast(x, DType::U8)?)?;
    one_tensor(cast(folded, DType::Bool)?.tensor()?.clone())
}

/// Elements of which one can be the extreme of others.
trait Extreme: Number {
    /// What every element replaces.
    fn least(largest: bool) -> Self::Wide;
    /// The extreme of what was found and one more element.
    fn further(found: Self::Wide, x: Self, largest: bool) -> Self::Wide;
}

macro_rules! extreme {
    (ints: $($t:ty)*; floats: $($float:ty)*) => {
        $(impl Extreme for $t {
            fn least(largest: bool) -> $t { if largest { <$t>::MIN } else { <$t>::MAX } }
            fn further(found: $t, x: $t, largest: bool) -> $t { if largest { found.max(x) } else { found.min(x) } }
        })*
        $(impl Extreme for $float {
            fn least(largest: bool) -> Self::Wide {
                if largest { Self::Wide::NEG_INFINITY } else { Self::Wide::INFINITY }
            }
            fn further(found: Self::Wide, x: $float, largest: bool) -> Self::Wide {
                let x = x.widen();
                if found.is_nan() || x.is_nan() {
                    return Self::Wide::NAN;
                }
                // The total order sets the zeros apart: the negative one is the smaller.
                let order = x.total_cmp(&found);
                if if largest { order.is_gt() } else { order.is_lt() } { x } else { found }
            }
        })*
    };
}
extreme! { ints: i8 i16 i32 i64 u8 u16 u32 u64; floats: f16 bf16 f32 f64 }

fn extremes(lines: &Lines, spans: impl Iterator<Item = Range<usize>>, reverse: bool, largest: bool) -> Result<Tensor> {
    let data = lines.data()?;
    macro_rules! by_dtype {
        ($($d:ident $t:ty),*) => {
            match data.dtype() {
                $(DType::$d => lines.back(scanned::<$t>(lines, spans, reverse, largest)?),)*
                other @ (DType::Bool | DType::String | DType::Bytes | DType::Variant) => {
                    Err(Error::dtype(format!("the op does not take {other}")).wanted("numbers or booleans"))
                }
            }
        };
    }
    by_dtype!(I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16, BF16 bf16, F32 f32, F64 f64)
}

fn scanned<T: Extreme + Element>(
    lines: &Lines,
    spans: impl Iterator<Item = Range<usize>>,
    reverse: bool,
    largest: bool,
) -> Result<Tensor> {
    let data = lines.data()?;
    let x = data.as_slice::<T>()?;
    affordable(x.len().saturating_mul(size_of::<T>()))?;
    // What is outside every row stays zero.
    let mut block = Block::zeroed(size_of_val(x));
    let step = |found, x| T::further(found, x, largest);
    scan_rows(x, spans, reverse, T::least(largest), step, T::narrow, block.slice_mut::<T>());
    Ok(Tensor::from_dense(T::DTYPE, data.dims().into(), Storage::Fixed(block.elements())))
}
