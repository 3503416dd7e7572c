//! Elements picked by a mask, and borders put around them.

use super::args::{data, one_tensor, spec_of, tensor_spec};
use super::assemble::gathered;
use super::positions::places_of_ones;
use super::structural::{OneAxis, stretch};
use super::{Run, assemble, multiply, slice, sum, zeros_like};
use crate::attrs::{AttrSet, Attrs, Axes, Pairs};
use crate::grad::GradCx;
use crate::kernels::pool::affordable;
use crate::op::{Class, OpDef, OutputSpecs};
use crate::reduce::normalize_axis;
use crate::tensor::element_count;
use crate::value::{Outputs, Value};
use extenso_types::{DType, Dim, Dims, Error, LeafSpec, Result, Shape, TensorSpec};
use smallvec::smallvec;

crate::attrs! {
    /// The attributes of `pad`.
    pub struct Pad { widths: Pairs }
}

crate::ops! {
    /// Masks and borders.
    pub static MASKS;

    /// The elements of `x` where `mask` is true, in order; the axes of the mask, of `x` from `axis` on, become one.
    ///
    /// How many there are is known from the data alone. Errors: a mask that is not boolean, or a scalar, or of other sizes than
    /// those axes.
    BOOLEAN_MASK: boolean_mask(x, mask; OneAxis { axis: i64 }) = OpDef::general(Class::Structural, infer_mask, run_mask)
        .apart(&[1])
        .grad(|cx| {
            let axis = cx.attrs::<OneAxis>()?.axis;
            Ok(vec![Some(mask_scatter_like(cx.g(), &cx.args[1], &cx.args[0], axis)?), None])
        })
        .examples(&[("boolean_mask([1.5, 2.5, 3.5], [True, False, True])", "[1.5, 3.5]"), ("boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])", "[1, 3, 4]")]);

    /// Zeros of the shape of `like`, with `updates`, in order, where `mask` is true; the gradient of `boolean_mask`.
    ///
    /// Errors: a mask that does not fit `like`; updates of another dtype or shape than masking `like` gives.
    MASK_SCATTER_LIKE: mask_scatter_like(updates, mask, like; OneAxis { axis: i64 }) = OpDef::general(Class::Structural, infer_scatter, run_scatter)
        .apart(&[1])
        .grad(|cx| {
            let axis = cx.attrs::<OneAxis>()?.axis;
            Ok(vec![Some(boolean_mask(cx.g(), &cx.args[1], axis)?), None, None])
        })
        .examples(&[("mask_scatter_like([1.5, 3.5], [True, False, True], [9.0, 9.0, 9.0])", "[1.5, 0.0, 3.5]")]);

    /// `x` with `value` before and after it along each axis, as often as `widths` say.
    ///
    /// `widths` are two numbers for each axis in order, before and after, or two for every axis. Errors: another number of
    /// widths; a negative one; a value that is no scalar of the dtype of `x`.
    PAD: pad(x, value; Pad { widths: Pairs }) = OpDef::general(Class::Structural, infer_pad, run_pad)
        .grad(grad_pad)
        .examples(&[("pad([1.5, 2.5], 0.0, widths=(1, 2))", "[0.0, 1.5, 2.5, 0.0, 0.0]"), ("pad([[1, 2]], 7, widths=(0, 1, 1, 0))", "[[7, 1, 2], [7, 7, 7]]")]);
}

/// Where the axes of the mask begin in `x` and where they end; none if a rank is unknown.
fn masked_axes(x: &TensorSpec, mask: &TensorSpec, axis: i64) -> Result<Option<(usize, usize)>> {
    if mask.dtype != DType::Bool {
        return Err(Error::dtype(format!("the mask is {}", mask.dtype)).wanted("booleans"));
    }
    let (Some(dims), Some(given)) = (x.shape.dims(), mask.shape.dims()) else { return Ok(None) };
    if given.is_empty() {
        return Err(Error::shape("the mask is a scalar").wanted("at least a vector"));
    }
    let at = normalize_axis(axis, dims.len())?;
    let end = at.saturating_add(given.len());
    let covered = dims.get(at..end).filter(|dims| dims.iter().zip(given).all(|(d, g)| d.is_compatible_with(*g)));
    if covered.is_none() {
        return Err(Error::shape(format!("the mask has shape {} for {} from axis {at} on", mask.shape, x.shape))
            .wanted("the same sizes as the axes that it masks"));
    }
    Ok(Some((at, end)))
}

fn masked_shape(x: &TensorSpec, mask: &TensorSpec, axis: i64) -> Result<Shape> {
    let Some((at, end)) = masked_axes(x, mask, axis)? else { return Ok(Shape::unknown()) };
    let dims = x.shape.dims().unwrap_or(&[]);
    Ok(Shape::new(dims[..at].iter().copied().chain([Dim::any()]).chain(dims[end..].iter().copied())))
}

fn infer_mask(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let (x, mask) = (spec_of(args, 0)?, spec_of(args, 1)?);
    Ok(tensor_spec(x.dtype, masked_shape(x, mask, OneAxis::of(attrs)?.axis)?))
}

/// The axes before the mask's, the mask's own and those behind it, as three sizes; and the axis.
fn around(dims: &[usize], mask_rank: usize, axis: i64) -> Result<(usize, usize, usize, usize)> {
    let at = normalize_axis(axis, dims.len())?;
    let size = |dims: &[usize]| dims.iter().product::<usize>();
    Ok((size(&dims[..at]), size(&dims[at..at + mask_rank]), size(&dims[at + mask_rank..]), at))
}

fn run_mask(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, mask) = (data(args, 0)?, data(args, 1)?);
    let rank = mask.dims().len();
    // While tracing, sizes may be unknown that do not fit.
    masked_axes(&args[0].tensor()?.spec(), &args[1].tensor()?.spec(), OneAxis::of(attrs)?.axis)?;
    let (outer, n, inner, at) = around(x.dims(), rank, OneAxis::of(attrs)?.axis)?;
    let bits = mask.bits()?;
    let count = bits.count_set_bits();
    let dims: Dims =
        x.dims()[..at].iter().copied().chain([count]).chain(x.dims()[at + rank..].iter().copied()).collect();
    if at == 0 {
        let flat: Dims = std::iter::once(n).chain(x.dims()[rank..].iter().copied()).collect();
        let flat = args[0].tensor()?.with_dims(&flat)?;
        return one_tensor(gathered(flat.data()?, places_of_ones(bits)?.as_slice::<i64>()?, dims)?);
    }
    // Runs of true elements are copied as one.
    let runs: Vec<(usize, usize)> = bits.set_slices().collect();
    let runs = (0..outer).flat_map(|o| {
        runs.iter().map(move |(from, to)| Run {
            source: Some(0),
            start: (o * n + from) * inner,
            len: (to - from) * inner,
        })
    });
    one_tensor(assemble(x.dtype(), dims, &[x], runs)?)
}

fn infer_scatter(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let (updates, mask, like) = (spec_of(args, 0)?, spec_of(args, 1)?, spec_of(args, 2)?);
    if updates.dtype != like.dtype || !updates.dtype.is_numeric() {
        return Err(Error::dtype(format!("updates are {}, and zeros {}", updates.dtype, like.dtype))
            .wanted("numbers of one dtype"));
    }
    let wanted = masked_shape(like, mask, OneAxis::of(attrs)?.axis)?;
    if !wanted.is_compatible_with(&updates.shape) {
        return Err(Error::shape(format!("updates have shape {}", updates.shape)).wanted(wanted.to_string()));
    }
    Ok(tensor_spec(like.dtype, like.shape.clone()))
}

fn run_scatter(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (updates, mask, like) = (data(args, 0)?, data(args, 1)?, data(args, 2)?);
    let (outer, n, inner, at) = around(like.dims(), mask.dims().len(), OneAxis::of(attrs)?.axis)?;
    let bits = mask.bits()?;
    let count = bits.count_set_bits();
    if updates.dims()[at] != count {
        return Err(Error::shape(format!("{} updates are given", updates.dims()[at]))
            .wanted(format!("{count}, as many as the mask has true elements")));
    }
    let mut next = 0;
    let runs = (0..outer * n).map(|i| {
        let source = bits.value(i % n).then_some(0);
        let start = next * inner;
        next += usize::from(source.is_some());
        Run { source, start, len: inner }
    });
    one_tensor(assemble(like.dtype(), like.dims().into(), &[updates], runs)?)
}

/// The widths before and after each axis.
fn widths(attrs: &dyn AttrSet, rank: usize) -> Result<Vec<(usize, usize)>> {
    let given = &Pad::of(attrs)?.widths.0;
    let width = |w: i64| {
        usize::try_from(w)
            .map_err(|_| Error::value(format!("a width is {w}, in {given:?}")).wanted("widths that are not negative"))
    };
    let pairs: Result<Vec<(usize, usize)>> =
        given.as_chunks().0.iter().map(|[before, after]| Ok((width(*before)?, width(*after)?))).collect();
    match (given.len(), pairs?) {
        (2, pairs) => Ok(vec![pairs[0]; rank]),
        (n, pairs) if n == 2 * rank => Ok(pairs),
        (n, _) => Err(Error::value(format!("{n} widths are given for rank {rank}"))
            .wanted("a width before and one after for each axis, or two for all")),
    }
}

fn infer_pad(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let (x, value) = (spec_of(args, 0)?, spec_of(args, 1)?);
    if value.dtype != x.dtype {
        return Err(Error::dtype(format!("the value is {}, and the elements are {}", value.dtype, x.dtype))
            .wanted("one dtype")
            .hint(format!("Write `cast(value, '{}')`.", x.dtype)));
    }
    if value.shape.rank().is_some_and(|rank| rank > 0) {
        return Err(Error::shape(format!("the value has shape {}", value.shape)).wanted("a scalar"));
    }
    let Some(dims) = x.shape.dims() else { return Ok(tensor_spec(x.dtype, Shape::unknown())) };
    let wide = dims.iter().zip(widths(attrs, dims.len())?).map(|(dim, (before, after))| match dim {
        _ if before == 0 && after == 0 => *dim,
        Dim::Known(n) => Dim::Known(n.saturating_add(before).saturating_add(after)),
        Dim::Var(_) => Dim::any(),
    });
    let shape = Shape::new(wide);
    shape.to_dims().map(|dims| element_count(&dims)).transpose()?;
    Ok(tensor_spec(x.dtype, shape))
}

/// Elements of the border that are copied at a time.
const BORDER: usize = 1024;

fn run_pad(args: &[Value], attrs: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    let x = data(args, 0)?;
    let dims = spec_of(out, 0)?.shape.to_dims().ok_or_else(|| Error::internal("sizes are not known at run time"))?;
    let count = element_count(&dims)?;
    affordable(count.saturating_mul(x.dtype().width().unwrap_or(8)))?;
    let border = stretch(args[1].tensor()?, smallvec![BORDER.min(count)])?;
    let mut runs = Vec::new();
    if count > 0 {
        let widths = widths(attrs, x.dims().len())?;
        push_lines(x.dims(), &dims, &widths, &mut 0, &mut runs);
    }
    one_tensor(assemble(x.dtype(), dims, &[x, border.data()?], runs.into_iter())?)
}

/// Appends the runs of the axes that are left: border, what is inside, border.
fn push_lines(from: &[usize], to: &[usize], widths: &[(usize, usize)], next: &mut usize, out: &mut Vec<Run>) {
    let (Some((&n, from)), Some((_, to)), Some((&(before, after), widths))) =
        (from.split_first(), to.split_first(), widths.split_first())
    else {
        out.push(Run { source: Some(0), start: *next, len: 1 });
        *next += 1;
        return;
    };
    let inner: usize = to.iter().product();
    push_border(before * inner, out);
    if from.is_empty() {
        out.push(Run { source: Some(0), start: *next, len: n });
        *next += n;
    } else {
        (0..n).for_each(|_| push_lines(from, to, widths, next, out));
    }
    push_border(after * inner, out);
}

fn push_border(count: usize, out: &mut Vec<Run>) {
    let chunk = |start: usize| Run { source: Some(1), start: 0, len: BORDER.min(count - start) };
    out.extend((0..count).step_by(BORDER).map(chunk));
}

fn grad_pad(cx: &GradCx<'_>) -> Result<Vec<Option<Value>>> {
    let x = &cx.args[0];
    let rank = x.tensor()?.shape().rank().ok_or_else(|| Error::shape("the gradient of pad needs a known rank"))?;
    let mut dx = cx.g().clone();
    for (axis, (before, after)) in widths(cx.attrs, rank)?.into_iter().enumerate() {
        let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let stop = (after > 0).then(|| vec![-number(after)]);
        dx = slice(dx, number(axis), number(before), stop, 1)?;
    }
    let inside = zeros_like(x)?;
    let border = pad(inside, 1, cx.attrs::<Pad>()?.widths.clone())?;
    Ok(vec![Some(dx), Some(sum(multiply(cx.g(), border)?, Axes::All, false)?)])
}
