//! Elements moved along an axis, and linear recurrences along it: what gradients of running folds are made of.

use super::args::{one_tensor, spec_of, tensor_spec};
use super::lines::{Lines, same_shape};
use super::{Run, abs, assemble, equal, multiply, ones_like, subtract, sum, where_, zero_for_nan};
use crate::attrs::{AttrSet, Attrs, Axes};
use crate::grad::GradCx;
use crate::kernels::map::Number;
use crate::kernels::pool::{Block, affordable};
use crate::kernels::scan::recur_rows;
use crate::op::{Class, OpDef, OutputSpecs};
use crate::tensor::{Dense, Storage, Tensor, in_bytes};
use crate::value::{Arg, Outputs, Value};
use extenso_types::{DType, Error, LeafSpec, Result, TensorSpec};
use half::{bf16, f16};
use std::ops::Range;

crate::attrs! {
    /// The attributes of `shift_in`.
    pub struct Shift { axis: i64 = -1, by: i64 = 1 }
    /// The attributes of `linear_scan`.
    pub struct LinearScan { axis: i64 = -1, reverse: bool = false }
}

crate::ops! {
    /// Moves along an axis and recurrences.
    pub static RECURRENCES;

    /// The elements moved by `by` positions along `axis`, toward the end or, if it is negative, the beginning; `value` enters.
    ///
    /// Elements that leave are lost. Errors: an axis out of range; a value that is no scalar of the dtype of `x`.
    SHIFT_IN: shift_in(x, value; Shift { axis: i64, by: i64 }) = OpDef::general(Class::Axiswise, infer_shift, run_shift)
        .grad(|cx| {
            let Shift { axis, by } = *cx.attrs::<Shift>()?;
            grad_shift(cx, 1, &|x, value, back| shift_in(x, value, axis, if back { by.saturating_neg() } else { by }))
        })
        .examples(&[("shift_in([1.5, 2.5, 3.5], 0.0)", "[0.0, 1.5, 2.5]"), ("shift_in([[1, 2], [3, 4]], 7, axis=0, by=-1)", "[[3, 4], [7, 7]]")]);

    /// The recurrence `y[i] = x[i] + link[i] * y[i - 1]` along `axis`; with `reverse`, `y[i] = x[i] + link[i + 1] * y[i + 1]`.
    ///
    /// The first link is between nothing and the first element, and not used. Both have one shape. Errors: an axis out of
    /// range; shapes or dtypes that differ; no floats.
    LINEAR_SCAN: linear_scan(x, link; LinearScan { axis: i64, reverse: bool }) = OpDef::general(Class::Axiswise, infer_scan, run_scan)
        .grad(|cx| {
            let LinearScan { axis, reverse } = *cx.attrs::<LinearScan>()?;
            grad_scan(cx, reverse, &|x| shift_in(x, 0.0, axis, 1), &|x, link| linear_scan(x, link, axis, !reverse))
        })
        .examples(&[("linear_scan([1.0, 2.0, 3.0], [0.0, 0.5, 2.0])", "[1.0, 2.5, 8.0]"), ("linear_scan([1.0, 2.0, 3.0], [0.0, 0.5, 2.0], reverse=True)", "[5.0, 8.0, 3.0]")]);
}

/// The gradients of `x` and of the value that enters; `value` is the argument at position `at`.
pub(super) fn grad_shift(
    cx: &GradCx<'_>,
    at: usize,
    moved: &dyn Fn(&Value, f64, bool) -> Result<Value>,
) -> Result<Vec<Option<Value>>> {
    let mut grads = vec![None; cx.args.len()];
    grads[0] = Some(moved(cx.g(), 0.0, true)?);
    let inside = moved(&ones_like(cx.g())?, 0.0, false)?;
    let entered = multiply(cx.g(), subtract(ones_like(cx.g())?, inside)?)?;
    grads[at] = Some(sum(entered, Axes::All, false)?);
    Ok(grads)
}

/// The gradients of a recurrence: it is run back over the gradient, and a link gets what is on both its sides. A link to what nothing
/// depends on is not looked at.
pub(super) fn grad_scan(
    cx: &GradCx<'_>,
    reverse: bool,
    next: &dyn Fn(&Value) -> Result<Value>,
    back: &dyn Fn(&Value, &Value) -> Result<Value>,
) -> Result<Vec<Option<Value>>> {
    let link = &cx.args[1];
    let all = back(&abs(cx.g())?, &ones_like(link)?)?;
    let reached = if reverse { next(&all)? } else { all.clone() };
    let h = back(cx.g(), &where_reached(link, &reached)?)?;
    let link = if reverse { multiply(next(&h)?, cx.y())? } else { multiply(&h, next(cx.y())?)? };
    let link = zero_for_nan(link, reached)?;
    let mut grads = vec![None; cx.args.len()];
    (grads[0], grads[1]) = (Some(h), Some(link));
    Ok(grads)
}

/// The links to what something depends on, and zero for the others.
pub(super) fn where_reached(link: impl Into<Arg>, reached: impl Into<Arg>) -> Result<Value> {
    where_(equal(reached, 0)?, 0, link)
}

/// Checks that a value is one element of the dtype of `x`.
pub(super) fn check_entering(x: &TensorSpec, value: &TensorSpec) -> Result<()> {
    if value.dtype != x.dtype {
        return Err(Error::dtype(format!("the value is {}, and the elements are {}", value.dtype, x.dtype))
            .wanted("one dtype")
            .hint(format!("Write `cast(value, '{}')`.", x.dtype)));
    }
    match value.shape.rank() {
        None | Some(0) => Ok(()),
        Some(_) => Err(Error::shape(format!("the value has shape {}", value.shape)).wanted("a scalar")),
    }
}

fn infer_shift(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let x = spec_of(args, 0)?;
    check_entering(x, spec_of(args, 1)?)?;
    Ok(tensor_spec(x.dtype, same_shape(x, Shift::of(attrs)?.axis)?))
}

fn run_shift(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let attrs = Shift::of(attrs)?;
    let lines = Lines::of(&args[0], attrs.axis)?;
    let spans = lines.spans()?;
    moved(&lines, spans, attrs.by, &args[1])
}

/// The elements of each span moved within it.
pub(super) fn moved(
    lines: &Lines,
    spans: impl Iterator<Item = Range<usize>>,
    by: i64,
    value: &Value,
) -> Result<Outputs> {
    let (x, value) = (lines.data()?, value.tensor()?.with_dims(&[1])?);
    let made = match x.storage() {
        Storage::Fixed(_) => shifted(x, spans, by, value.data()?)?,
        Storage::Bits(_) => in_bytes(&[x, value.data()?], |bytes| shifted(bytes[0], spans, by, bytes[1]))?,
        Storage::Text { .. } | Storage::Boxed(_) => shifted_in_runs(x, spans, by, value.data()?)?,
    };
    one_tensor(lines.back(made)?)
}

/// Numbers moved all together; then what enters, and zeros outside of the spans, take their places.
fn shifted(x: &Dense, spans: impl Iterator<Item = Range<usize>>, by: i64, value: &Dense) -> Result<Tensor> {
    let (bytes, one, width) = (x.fixed()?.as_slice(), value.fixed()?.as_slice(), x.dtype().width().unwrap_or(1));
    affordable(bytes.len())?;
    let mut block = Block::new(bytes.len());
    let out = block.bytes_mut();
    match width {
        1 => shift_numbers::<u8>(bytes, spans, by, one, out),
        2 => shift_numbers::<u16>(bytes, spans, by, one, out),
        4 => shift_numbers::<u32>(bytes, spans, by, one, out),
        _ => shift_numbers::<u64>(bytes, spans, by, one, out),
    }
    Ok(Tensor::from_dense(x.dtype(), x.dims().into(), Storage::Fixed(block.elements())))
}

fn shift_numbers<T: bytemuck::Pod>(
    x: &[u8],
    spans: impl Iterator<Item = Range<usize>>,
    by: i64,
    value: &[u8],
    out: &mut [u8],
) {
    let (x, out) = (bytemuck::cast_slice::<u8, T>(x), bytemuck::cast_slice_mut::<u8, T>(out));
    let value = bytemuck::pod_read_unaligned::<T>(value);
    let far = usize::try_from(by.unsigned_abs()).unwrap_or(usize::MAX).min(x.len());
    match by < 0 {
        true => out[..x.len() - far].copy_from_slice(&x[far..]),
        false => out[far..].copy_from_slice(&x[..x.len() - far]),
    }
    let mut done = 0;
    for span in spans {
        out[done..span.start].fill(T::zeroed());
        let row = &mut out[span.clone()];
        let (gone, kept) = (far.min(row.len()), row.len() - far.min(row.len()));
        if by < 0 { &mut row[kept..] } else { &mut row[..gone] }.fill(value);
        done = span.end;
    }
    out[done..].fill(T::zeroed());
}

/// Elements that are not moved together, run by run.
fn shifted_in_runs(x: &Dense, spans: impl Iterator<Item = Range<usize>>, by: i64, value: &Dense) -> Result<Tensor> {
    let far = usize::try_from(by.unsigned_abs()).unwrap_or(usize::MAX);
    let mut done = 0;
    let mut runs = Vec::new();
    for span in spans {
        let gone = far.min(span.len());
        let kept = span.len() - gone;
        runs.push(Run { source: None, start: 0, len: span.start - done });
        let inside = Run { source: Some(0), start: if by < 0 { span.start + gone } else { span.start }, len: kept };
        let entering = std::iter::repeat_n(Run { source: Some(1), start: 0, len: 1 }, gone);
        if by < 0 {
            runs.extend(std::iter::once(inside).chain(entering));
        } else {
            runs.extend(entering.chain([inside]));
        }
        done = span.end;
    }
    runs.push(Run { source: None, start: 0, len: x.len() - done });
    let runs = runs.into_iter().filter(|run| run.len > 0);
    assemble(x.dtype(), x.dims().into(), &[x, value], runs)
}

fn infer_scan(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let (x, link) = (spec_of(args, 0)?, spec_of(args, 1)?);
    check_links(x, link)?;
    Ok(tensor_spec(x.dtype, same_shape(x, LinearScan::of(attrs)?.axis)?))
}

/// Checks that links are floats of the dtype and shape of what they link.
pub(super) fn check_links(x: &TensorSpec, link: &TensorSpec) -> Result<()> {
    if x.dtype != link.dtype || !x.dtype.is_float() {
        return Err(Error::dtype(format!("the arguments are {} and {}", x.dtype, link.dtype))
            .wanted("floats of one dtype")
            .hint("Write `cast(x, dtype)` around an argument."));
    }
    if !x.shape.is_compatible_with(&link.shape) {
        return Err(Error::shape(format!("the arguments have shapes {} and {}", x.shape, link.shape))
            .wanted("one shape")
            .hint("Write `broadcast_like(link, x)`."));
    }
    Ok(())
}

fn run_scan(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let attrs = LinearScan::of(attrs)?;
    let lines = Lines::of(&args[0], attrs.axis)?;
    let spans = lines.spans()?;
    scanned(&lines, &Lines::of(&args[1], attrs.axis)?, spans, attrs.reverse)
}

/// The recurrence along each span.
pub(super) fn scanned(
    lines: &Lines,
    links: &Lines,
    spans: impl Iterator<Item = Range<usize>>,
    reverse: bool,
) -> Result<Outputs> {
    let (x, link) = (lines.data()?, links.data()?);
    if x.dims() != link.dims() {
        return Err(
            Error::shape(format!("the arguments have shapes {:?} and {:?}", x.dims(), link.dims())).wanted("one shape")
        );
    }
    affordable(x.len().saturating_mul(x.dtype().width().unwrap_or(8)))?;
    macro_rules! by_dtype {
        ($($d:ident $t:ty),*) => {
            match x.dtype() {
                $(DType::$d => {
                    let mut block = Block::zeroed(x.len() * size_of::<$t>());
                    let step = |x: <$t as Number>::Wide, link, before| x + link * before;
                    recur_rows(x.as_slice::<$t>()?, link.as_slice::<$t>()?, spans, reverse, step, block.slice_mut::<$t>());
                    Tensor::from_dense(x.dtype(), x.dims().into(), Storage::Fixed(block.elements()))
                })*
                other => return Err(Error::dtype(format!("the op does not take {other}")).wanted("floats")),
            }
        };
    }
    one_tensor(lines.back(by_dtype!(F16 f16, BF16 bf16, F32 f32, F64 f64))?)
}
