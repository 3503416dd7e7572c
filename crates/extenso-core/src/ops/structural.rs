//! Structural ops: elements move, none is computed. One kernel per byte width.

use super::args::{data, one_tensor, spec_of, tensor_spec};
use super::strides::by_strides;
use crate::attrs::{AttrSet, Attrs};
use crate::elementwise::{Expr, Made, broadcast_strides, evaluate};
use crate::grad::{GradCx, one};
use crate::kernels::gather::repeat_each;
use crate::kernels::map::{BlockKernel, Done};
use crate::kernels::pool::{Block, affordable};
use crate::op::{Class, OpDef, OutputSpecs};
use crate::reduce::{Fold, fold_axes, normalize_axes, normalize_axis, stretched_axes};
use crate::tensor::{Dense, Storage, Tensor, element_count, in_bytes};
use crate::threads::{pieces, side_by_side};
use crate::value::{Outputs, Value};
use extenso_types::{Dim, Dims, Error, LeafSpec, Result, Shape};
use smallvec::{SmallVec, smallvec};

crate::attrs! {
    /// The attributes of `reshape`.
    pub struct Reshape { shape: Vec<i64> }
    /// The attributes of `broadcast_to`.
    pub struct BroadcastTo { shape: Vec<i64> }
    /// One axis.
    pub struct OneAxis { axis: i64 = 0 }
    /// Any number of axes.
    pub struct ManyAxes { axes: Vec<i64> }
    /// The attributes of `squeeze`.
    pub struct Squeeze { axis: Vec<i64> }
    /// The attributes of `transpose`.
    pub struct Transpose { axes: Option<Vec<i64>> = None }
}

crate::ops! {
    /// Structural ops.
    pub static STRUCTURAL;

    /// The same elements in row-major order under another shape; one size may be -1 and is computed.
    ///
    /// Errors: another number of elements; a negative size other than one -1.
    RESHAPE: reshape(x; Reshape { shape: Vec<i64> }) = OpDef::general(Class::Structural, infer_reshape, run_reshape)
        .grad(|cx| one(reshape_like(cx.g(), &cx.args[0])))
        .examples(&[("reshape([1, 2, 3, 4, 5, 6], shape=(2, -1))", "[[1, 2, 3], [4, 5, 6]]")]);

    /// The elements of `x` in row-major order under the shape of `like`.
    ///
    /// Errors: another number of elements.
    RESHAPE_LIKE: reshape_like(x, like) = OpDef::general(Class::Structural, infer_like, run_reshape_like)
        .apart(&[1])
        .grad(|cx| Ok(vec![Some(reshape_like(cx.g(), &cx.args[0])?), None]))
        .examples(&[("reshape_like([1, 2, 3, 4], [[0.0, 0.0], [0.0, 0.0]])", "[[1, 2], [3, 4]]")]);

    /// A new axis of size 1 before position `axis`; negative ones count from behind the last.
    ///
    /// Errors: an axis out of range.
    EXPAND_DIMS: expand_dims(x; OneAxis { axis: i64 }) = OpDef::general(Class::Structural, infer_expand_dims, run_like_inferred)
        .adds_axes()
        .grad(|cx| one(reshape_like(cx.g(), &cx.args[0])))
        .examples(&[("expand_dims([1, 2], axis=1)", "[[1], [2]]")]);

    /// New axes of size 1 at these positions of the result; negative ones count from its end.
    ///
    /// Errors: an axis out of range or named twice.
    EXPAND_DIMS_AT: expand_dims_at(x; ManyAxes { axes: Vec<i64> }) = OpDef::general(Class::Structural, infer_expand_dims_at, run_like_inferred)
        .adds_axes()
        .grad(|cx| one(reshape_like(cx.g(), &cx.args[0])))
        .examples(&[("expand_dims_at([1, 2], axes=(0, -1))", "[[[1], [2]]]")]);

    /// Drops axes of size 1.
    ///
    /// Errors: an axis of another size, out of range or named twice.
    SQUEEZE: squeeze(x; Squeeze { axis: Vec<i64> }) = OpDef::general(Class::Structural, infer_squeeze, run_squeeze)
        .grad(|cx| one(reshape_like(cx.g(), &cx.args[0])))
        .examples(&[("squeeze([[1], [2]], axis=(1,))", "[1, 2]")]);

    /// Reorders the axes; without `axes`, reverses them.
    ///
    /// Errors: `axes` is not a permutation.
    TRANSPOSE: transpose(x; Transpose { axes: Option<Vec<i64>> }) = OpDef::general(Class::Structural, infer_transpose, run_transpose)
        .grad(grad_transpose)
        .examples(&[("transpose([[1, 2, 3], [4, 5, 6]])", "[[1, 4], [2, 5], [3, 6]]")]);

    /// Repeats `x` to `shape`, by NumPy's broadcasting rules.
    ///
    /// Errors: `x` does not broadcast to `shape`.
    BROADCAST_TO: broadcast_to(x; BroadcastTo { shape: Vec<i64> }) = OpDef::general(Class::Structural, infer_broadcast_to, run_broadcast_to)
        .grad(|cx| one(sum_like(cx.g(), &cx.args[0])))
        .examples(&[("broadcast_to([1, 2], shape=(2, 2))", "[[1, 2], [1, 2]]")]);

    /// Repeats `x` to the shape of `like`, by NumPy's broadcasting rules.
    ///
    /// Errors: `x` does not broadcast to that shape.
    BROADCAST_LIKE: broadcast_like(x, like) = OpDef::general(Class::Structural, infer_like, run_broadcast_like)
        .apart(&[1])
        .grad(|cx| Ok(vec![Some(sum_like(cx.g(), &cx.args[0])?), None]))
        .examples(&[("broadcast_like([1, 2], [[0.0, 0.0], [0.0, 0.0]])", "[[1, 2], [1, 2]]")]);

    /// Sums `x` to the shape of `like`: over the axes along which `like` would be stretched to broadcast to `x`.
    ///
    /// Integers and booleans sum in 64 bits. Errors: `like` does not broadcast to the shape of `x`.
    SUM_LIKE: sum_like(x, like) = OpDef::general(Class::Structural, infer_sum_like, run_sum_like)
        .apart(&[1])
        .grad(|cx| Ok(vec![Some(broadcast_like(cx.g(), &cx.args[0])?), None]))
        .examples(&[("sum_like([[1.0, 2.0], [3.0, 4.0]], [0.0, 0.0])", "[4.0, 6.0]")]);
}

fn shape_text(shape: &[i64]) -> String {
    format!("{shape:?}")
}

fn infer_reshape(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let wanted = &Reshape::of(attrs)?.shape;
    let spec = spec_of(args, 0)?;
    let holes = wanted.iter().filter(|&&n| n == -1).count();
    if holes > 1 || wanted.iter().any(|&n| n < -1) {
        return Err(Error::value(format!("shape {} is asked for", shape_text(wanted)))
            .wanted("sizes that are not negative, and at most one -1"));
    }
    let known: Dims = wanted.iter().filter_map(|&n| usize::try_from(n).ok()).collect();
    let rest = element_count(&known)?;
    let given = spec.shape.to_dims().map(|d| element_count(&d)).transpose()?;
    let hole = match given {
        None => Dim::any(),
        Some(n) if holes == 1 && rest > 0 && n % rest == 0 => Dim::Known(n / rest),
        Some(n) if holes == 0 && n == rest => Dim::Known(0),
        Some(0) if rest == 0 => {
            let found = format!("the size at -1 of shape {} may be any, for there are no elements", shape_text(wanted));
            return Err(Error::shape(found).wanted("a number in its place"));
        }
        Some(n) => {
            return Err(Error::shape(format!("{n} elements are given for the {rest} of shape {}", shape_text(wanted)))
                .wanted("as many elements as the shape has"));
        }
    };
    Ok(tensor_spec(spec.dtype, Shape::new(wanted.iter().map(|&n| usize::try_from(n).map_or(hole, Dim::Known)))))
}

fn run_reshape(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    run_like_inferred(args, &crate::attrs::NoAttrs {}, out)
}

/// The argument under the inferred sizes.
fn run_like_inferred(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    let dims = spec_of(out, 0)?.shape.to_dims().ok_or_else(|| Error::internal("sizes are not known at run time"))?;
    let arg = args.first().ok_or_else(|| Error::value("argument 1 is missing"))?;
    one_tensor(arg.tensor()?.with_dims(&dims)?)
}

fn infer_like(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    Ok(tensor_spec(spec_of(args, 0)?.dtype, spec_of(args, 1)?.shape.clone()))
}

fn run_reshape_like(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    one_tensor(args[0].tensor()?.with_dims(data(args, 1)?.dims())?)
}

fn expanded(shape: &Shape, at: impl Fn(usize) -> Result<SmallVec<[usize; 4]>>) -> Result<Shape> {
    let Some(dims) = shape.dims() else { return Ok(Shape::unknown()) };
    let mut out: SmallVec<[Dim; 4]> = dims.iter().copied().collect();
    for i in at(dims.len())? {
        out.insert(i, Dim::Known(1));
    }
    Ok(Shape::new(out))
}

fn infer_expand_dims(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let axis = OneAxis::of(attrs)?.axis;
    let spec = spec_of(args, 0)?;
    Ok(tensor_spec(spec.dtype, expanded(&spec.shape, |rank| Ok(smallvec![normalize_axis(axis, rank + 1)?]))?))
}

fn infer_expand_dims_at(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let axes = &ManyAxes::of(attrs)?.axes;
    let spec = spec_of(args, 0)?;
    Ok(tensor_spec(spec.dtype, expanded(&spec.shape, |rank| normalize_axes(axes, rank + axes.len()))?))
}

fn infer_squeeze(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let axes = &Squeeze::of(attrs)?.axis;
    let spec = spec_of(args, 0)?;
    let Some(dims) = spec.shape.dims() else { return Ok(tensor_spec(spec.dtype, Shape::unknown())) };
    let axes = normalize_axes(axes, dims.len())?;
    if let Some(axis) = axes.iter().find(|&&a| dims[a].known().is_some_and(|n| n != 1)) {
        return Err(Error::shape(format!("axis {axis} has size {}", dims[*axis])).wanted("size 1"));
    }
    Ok(tensor_spec(spec.dtype, Shape::new((0..dims.len()).filter(|i| !axes.contains(i)).map(|i| dims[i]))))
}

fn run_squeeze(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    run_like_inferred(args, &crate::attrs::NoAttrs {}, out)
}

fn permutation(axes: Option<&Vec<i64>>, rank: usize) -> Result<SmallVec<[usize; 4]>> {
    let Some(axes) = axes else { return Ok((0..rank).rev().collect()) };
    if axes.len() != rank {
        return Err(
            Error::value(format!("axes {axes:?} are given for rank {rank}")).wanted("a permutation of all axes")
        );
    }
    normalize_axes(axes, rank)?;
    axes.iter().map(|&a| normalize_axis(a, rank)).collect()
}

fn infer_transpose(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let axes = Transpose::of(attrs)?.axes.as_ref();
    let spec = spec_of(args, 0)?;
    let Some(dims) = spec.shape.dims() else { return Ok(tensor_spec(spec.dtype, Shape::unknown())) };
    let order = permutation(axes, dims.len())?;
    Ok(tensor_spec(spec.dtype, Shape::new(order.iter().map(|&a| dims[a]))))
}

fn run_transpose(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let x = data(args, 0)?;
    let order = permutation(Transpose::of(attrs)?.axes.as_ref(), x.dims().len())?;
    if order.is_sorted() {
        return one_tensor(args[0].tensor()?.clone());
    }
    let order: Vec<i64> = order.iter().map(|&a| i64::try_from(a).unwrap_or(i64::MAX)).collect();
    one_tensor(permute(x, &order)?)
}

/// The tensor with its axes in the order of `axes`.
///
/// Errors: `axes` is not a permutation.
pub fn permute(x: &Dense, axes: &[i64]) -> Result<Tensor> {
    let order = permutation(Some(&axes.to_vec()), x.dims().len())?;
    let out: Dims = order.iter().map(|&a| x.dims()[a]).collect();
    let contiguous = broadcast_strides(x.dims(), x.dims())?;
    // A stride of 0 stands for size 1 there, where it reads the same element.
    by_strides(x, 0, out, order.iter().map(|&a| contiguous[a].cast_signed()).collect())
}

fn grad_transpose(cx: &GradCx<'_>) -> Result<Vec<Option<Value>>> {
    let axes = match &cx.attrs::<Transpose>()?.axes {
        None => None,
        Some(axes) => {
            let order = permutation(Some(axes), axes.len())?;
            let inverse = (0..order.len()).map(|i| order.iter().position(|&a| a == i).unwrap_or(i));
            Some(inverse.map(|a| i64::try_from(a).unwrap_or(i64::MAX)).collect::<Vec<_>>())
        }
    };
    one(transpose(cx.g(), axes))
}

fn infer_broadcast_to(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let wanted = &BroadcastTo::of(attrs)?.shape;
    let spec = spec_of(args, 0)?;
    let dims: Option<Dims> = wanted.iter().map(|&n| usize::try_from(n).ok()).collect();
    let dims = dims.ok_or_else(|| {
        Error::value(format!("shape {} is asked for", shape_text(wanted))).wanted("sizes that are not negative")
    })?;
    element_count(&dims)?;
    let shape = Shape::known(&dims);
    if let Some(given) = spec.shape.dims() {
        let pairs = given.iter().rev().zip(dims.iter().rev());
        let stretches = |(given, &wanted): (&Dim, &usize)| given.known().is_none_or(|n| n == 1 || n == wanted);
        if given.len() > dims.len() || !pairs.into_iter().all(stretches) {
            return Err(Error::shape(format!("shape {} does not broadcast to {}", spec.shape, shape_text(wanted))));
        }
    }
    Ok(tensor_spec(spec.dtype, shape))
}

fn run_broadcast_to(args: &[Value], _: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    let dims = spec_of(out, 0)?.shape.to_dims().ok_or_else(|| Error::internal("sizes are not known at run time"))?;
    one_tensor(stretch(args[0].tensor()?, dims)?)
}

fn run_broadcast_like(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let dims = Dims::from_slice(data(args, 1)?.dims());
    one_tensor(stretch(args[0].tensor()?, dims)?)
}

/// The tensor repeated to sizes that it broadcasts to.
pub(crate) fn stretch(x: &Tensor, dims: Dims) -> Result<Tensor> {
    let dense = x.data()?;
    if dense.dims() == dims.as_slice() {
        return Ok(x.clone());
    }
    element_count(&dims)?;
    let times = repeats_each(dense.dims(), &dims);
    match dense.storage() {
        Storage::Fixed(elements) if let Some(times) = times => each_of(dense, elements, times, dims),
        Storage::Bits(_) if let Some(times) = times => {
            in_bytes(&[dense], |bytes| each_of(bytes[0], bytes[0].fixed()?, times, dims))
        }
        // The block engine reads through a broadcast; a step that copies makes it.
        Storage::Fixed(_) | Storage::Bits(_) => {
            let mut expr = Expr::default();
            let input = expr.input(dense.dtype());
            expr.step(BlockKernel::new(dense.dtype(), copy_block), [input]);
            let mut result = None;
            evaluate(&expr, &[dense.into()], &dims, &mut |made| result = Some(made))?;
            Made::only(result)?.tensor(dims)
        }
        Storage::Text { .. } | Storage::Boxed(_) => {
            let strides = broadcast_strides(dense.dims(), &dims)?.iter().map(|stride| stride.cast_signed()).collect();
            by_strides(dense, 0, dims, strides)
        }
    }
}

/// Numbers, each so many times beside itself.
fn each_of(x: &Dense, elements: &[u8], times: usize, dims: Dims) -> Result<Tensor> {
    let width = x.dtype().width().unwrap_or(1);
    affordable(times * elements.len())?;
    let mut block = Block::new(times * elements.len());
    let part = x.len().div_ceil(pieces(times * x.len())).max(1) * width;
    let parts = elements.chunks(part).zip(block.bytes_mut().chunks_mut(part * times)).collect();
    side_by_side(parts, |(elements, out)| repeat_each(elements, width, times, out));
    Ok(Tensor::from_dense(x.dtype(), dims, Storage::Fixed(block.elements())))
}

/// How often each element stands beside itself, if that is all that a broadcast does, and a few times.
fn repeats_each(from: &[usize], to: &[usize]) -> Option<usize> {
    const FEW: usize = 16;
    let same = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    let times = to[same..].iter().product();
    let is_all = from.len() == to.len() && from[same..].iter().all(|n| *n == 1);
    (is_all && (2..=FEW).contains(&times)).then_some(times)
}

fn copy_block(ins: &[&[u8]], out: &mut [u8], _n: usize) -> Done {
    out.copy_from_slice(&ins[0][..out.len()]);
    Ok(())
}

fn infer_sum_like(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    Ok(tensor_spec(Fold::Sum.out_dtype(spec_of(args, 0)?.dtype)?, spec_of(args, 1)?.shape.clone()))
}

fn run_sum_like(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, like) = (data(args, 0)?, data(args, 1)?);
    let axes = stretched_axes(like.dims(), x.dims())?;
    if axes.is_empty() && x.dtype().is_float() {
        return one_tensor(args[0].tensor()?.with_dims(like.dims())?);
    }
    let folded = fold_axes(Fold::Sum, x, &axes, true)?;
    one_tensor(folded.with_dims(like.dims())?)
}
