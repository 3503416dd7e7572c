//! Ops that join tensors, or choose elements of one by position. Elements are copied in runs.

use super::args::{data, one_tensor, spec_of, tensor_spec};
use super::assemble::{beside, gathered, gathered_along};
use super::strides::{Strides, by_strides};
use super::structural::OneAxis;
use super::{Run, add, assemble, indices_along, ones_like, sum, transpose};
use crate::attrs::{AttrSet, Attrs, Axes};
use crate::grad::GradCx;
use crate::kernels::gather::are_within;
use crate::kernels::map::Fault;
use crate::kernels::pool::{Block, affordable};
use crate::op::{Class, OpDef, OutputSpecs};
use crate::reduce::{Fold, normalize_axis};
use crate::tensor::{Dense, Storage, Tensor};
use crate::value::{Outputs, Value};
use extenso_types::{DType, Dim, Dims, Error, LeafSpec, Result, Shape, TensorSpec};
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;

crate::attrs! {
    /// The attributes of `slice`.
    pub struct Slice { axis: i64 = 0, start: i64 = 0, stop: Option<Vec<i64>> = None, step: i64 = 1 }
}

crate::ops! {
    /// Ops that join and choose.
    pub static SELECTION;

    /// Joins tensors along `axis`.
    ///
    /// Errors: no tensor; dtypes, ranks or other sizes that differ.
    CONCAT: concat(values; OneAxis { axis: i64 }) = OpDef::general(Class::Structural, infer_concat, run_concat)
        .variadic()
        .grad(grad_concat)
        .examples(&[("concat(([1, 2], [3]), axis=0)", "[1, 2, 3]")]);

    /// The elements of `x` at `indices` along `axis`; negative indices count from the end.
    ///
    /// Shapes: the axis is replaced by the axes of `indices`. Errors: an index out of range, with its position.
    TAKE: take(x, indices; OneAxis { axis: i64 }) = OpDef::general(Class::Structural, infer_take, run_take)
        .apart(&[1])
        .grad(grad_take)
        .alias_tf("gather")
        .examples(&[("take([10, 20, 30], [2, -1, 0])", "[30, 30, 10]"), ("take([[1, 2], [3, 4]], [1], axis=1)", "[[2], [4]]")]);

    /// Adds the rows of `updates` into zeros of the shape of `like` at `indices` of the outer axis; the gradient of `take`.
    ///
    /// Errors: an index out of range, with its position; shapes that do not fit.
    SCATTER_ADD_LIKE: scatter_add_like(updates, indices, like) = OpDef::general(Class::Structural, infer_scatter, run_scatter)
        .apart(&[1])
        .grad(|cx| Ok(vec![Some(take(cx.g(), &cx.args[1], 0)?), None, None]))
        .examples(&[("scatter_add_like([1.0, 2.0, 4.0], [0, 2, 0], [0.0, 0.0, 0.0])", "[5.0, 0.0, 2.0]")]);

    /// The elements along `axis` from `start` to `stop` by `step`, with the rules of Python's slices.
    ///
    /// Errors: a step of zero, an axis out of range.
    SLICE: slice(x; Slice { axis: i64, start: i64, stop: Option<Vec<i64>>, step: i64 }) = OpDef::general(Class::Structural, infer_slice, run_slice)
        .grad(grad_slice)
        .examples(&[("slice([1, 2, 3, 4], start=1, stop=(3,))", "[2, 3]"), ("slice([1, 2, 3, 4], start=-1, step=-2)", "[4, 2]"), ("slice([[1.0, 2.0, 3.0]], axis=1, start=1)", "[[2.0, 3.0]]")]);
}

fn infer_concat(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let axis = OneAxis::of(attrs)?.axis;
    let first = spec_of(args, 0).map_err(|_| Error::value("no tensor is given").wanted("at least one tensor"))?;
    let Some(dims) = first.shape.dims() else { return Ok(tensor_spec(first.dtype, Shape::unknown())) };
    let at = normalize_axis(axis, dims.len())?;
    let mut out: SmallVec<[Dim; 4]> = dims.iter().copied().collect();
    for (i, arg) in args.iter().enumerate().skip(1) {
        let spec = arg.tensor()?;
        let differ = |what: String| {
            Err(Error::shape(what)
                .at(format!("argument {}", i + 1))
                .wanted("the dtype, rank and other sizes of argument 1"))
        };
        if spec.dtype != first.dtype {
            return Err(Error::dtype(format!(
                "the dtype is {}, and that of argument 1 is {}",
                spec.dtype, first.dtype
            ))
            .at(format!("argument {}", i + 1))
            .wanted("the dtype of argument 1")
            .hint(match spec.dtype.is_float() && first.dtype.is_integer() {
                // The other way would cut the floats.
                true => format!("Write `cast(x, '{}')` around argument 1.", spec.dtype),
                false => format!("Write `cast(x, '{}')` around it.", first.dtype),
            }));
        }
        let Some(dims) = spec.shape.dims() else { return Ok(tensor_spec(first.dtype, Shape::unknown())) };
        let alike = dims.len() == out.len() && (0..dims.len()).all(|a| a == at || dims[a].is_compatible_with(out[a]));
        if !alike {
            let shapes = format!("the shape is {}, and that of argument 1 is {}", spec.shape, first.shape);
            return differ(format!("{shapes}; they join along axis {at}"));
        }
        out[at] = match (out[at], dims[at]) {
            (Dim::Known(a), Dim::Known(b)) => Dim::Known(a.saturating_add(b)),
            _ => Dim::any(),
        };
    }
    Ok(tensor_spec(first.dtype, Shape::new(out)))
}

fn run_concat(args: &[Value], attrs: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    let dims = spec_of(out, 0)?.shape.to_dims().ok_or_else(|| Error::internal("sizes are not known at run time"))?;
    let axis = normalize_axis(OneAxis::of(attrs)?.axis, dims.len())?;
    let mut sources: SmallVec<[&Dense; 16]> = SmallVec::new();
    for i in 0..args.len() {
        sources.push(data(args, i)?);
    }
    let outer: usize = dims[..axis].iter().product();
    let chunks: SmallVec<[usize; 16]> = sources.iter().map(|s| s.dims()[axis..].iter().product()).collect();
    // One part beside others without an element is the result.
    let mut some = chunks.iter().zip(args).filter(|(len, _)| **len > 0);
    if let (Some((_, only)), None) = (some.next(), some.next()) {
        return one_tensor(only.tensor()?.clone());
    }
    let dtype = spec_of(out, 0)?.dtype;
    if outer > 1 && !sources.is_empty() {
        return one_tensor(beside(dtype, dims, &sources, &chunks)?);
    }
    let runs = chunks.iter().enumerate().map(|(s, &len)| Run { source: Some(s), start: 0, len });
    one_tensor(assemble(dtype, dims, &sources, runs.filter(|_| outer == 1))?)
}

fn grad_concat(cx: &GradCx<'_>) -> Result<Vec<Option<Value>>> {
    let axis = cx.attrs::<OneAxis>()?.axis;
    let sizes: Result<Vec<Option<usize>>> = cx.args.iter().map(|arg| joined_size(arg, axis)).collect();
    let Some(sizes) = sizes?.into_iter().collect::<Option<Vec<usize>>>() else { return grad_concat_open(cx, axis) };
    let mut start = 0_i64;
    let mut grads = Vec::new();
    for n in sizes {
        let stop = start + i64::try_from(n).unwrap_or(i64::MAX);
        grads.push(Some(slice(cx.g(), axis, start, Some(vec![stop]), 1)?));
        start = stop;
    }
    Ok(grads)
}

/// The size of an argument along the joined axis; none if it is not known while tracing.
fn joined_size(arg: &Value, axis: i64) -> Result<Option<usize>> {
    let shape = arg.tensor()?.shape();
    let dims = shape.dims().ok_or_else(|| Error::shape("the gradient of concat needs a known rank"))?;
    Ok(dims[normalize_axis(axis, dims.len())?].known())
}

/// The same along an axis whose sizes are counted when the graph runs.
fn grad_concat_open(cx: &GradCx<'_>, axis: i64) -> Result<Vec<Option<Value>>> {
    let mut start = Value::from(Tensor::scalar(0_i64));
    let mut grads = Vec::new();
    for arg in cx.args {
        let places = indices_along(arg, axis)?;
        let count = sum(ones_like(&places)?, Axes::All, false)?;
        grads.push(Some(take(cx.g(), add(places, &start)?, axis)?));
        start = add(start, count)?;
    }
    Ok(grads)
}

fn infer_take(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let spec = infer_taken(spec_of(args, 0)?, spec_of(args, 1)?, OneAxis::of(attrs)?.axis)?;
    Ok(std::iter::once(spec).collect())
}

/// What `take` gives.
///
/// Errors: indices that are no integers; no such axis.
pub(super) fn infer_taken(x: &TensorSpec, indices: &TensorSpec, axis: i64) -> Result<LeafSpec> {
    if !indices.dtype.is_integer() {
        return Err(Error::dtype(format!("indices are {}", indices.dtype))
            .wanted("integers")
            .hint("Write `cast(indices, 'i64')`."));
    }
    let (Some(dims), Some(inner)) = (x.shape.dims(), indices.shape.dims()) else {
        return Ok(LeafSpec::Tensor(TensorSpec::new(x.dtype, Shape::unknown())));
    };
    let at = normalize_axis(axis, dims.len())?;
    let out = dims[..at].iter().chain(inner).chain(&dims[at + 1..]).copied();
    Ok(LeafSpec::Tensor(TensorSpec::new(x.dtype, Shape::new(out))))
}

/// The indices as positions along an axis of `n`; negative ones count from the end.
///
/// Errors: not integers; one out of range, with its position.
pub fn positions(indices: &Dense, n: usize) -> Result<Vec<usize>> {
    let size = i64::try_from(n).unwrap_or(i64::MAX);
    let from_start = |at: i64| usize::try_from(if at < 0 { at.saturating_add(size) } else { at }).ok();
    if indices.dtype() == DType::U64 {
        return positions_of(indices.as_slice::<u64>()?, indices, n, |at| usize::try_from(at).ok());
    }
    if indices.dtype() == DType::I64 {
        return positions_of(indices.as_slice::<i64>()?, indices, n, from_start);
    }
    let wide = crate::ops::cast(
        Tensor::from_dense(indices.dtype(), Dims::from_slice(indices.dims()), indices.storage().clone()),
        DType::I64,
    )?;
    positions_of(wide.tensor()?.as_slice::<i64>()?, indices, n, from_start)
}

fn positions_of<T: Copy + std::fmt::Display>(
    at: &[T],
    indices: &Dense,
    n: usize,
    from_start: impl Fn(T) -> Option<usize>,
) -> Result<Vec<usize>> {
    let position = |(i, &index): (usize, &T)| {
        from_start(index).filter(|at| *at < n).ok_or_else(|| {
            let what = format!("index {index} is out of range for an axis of {n}");
            at_position_of(&what, i, indices.dims()).wanted(positions_within(i64::try_from(n).unwrap_or(i64::MAX)))
        })
    };
    at.iter().enumerate().map(position).collect()
}

/// The indices as positions along an axis of `n`, as they stand if none is negative.
///
/// Errors: as those of [`positions`].
pub(super) fn places(indices: &Dense, n: usize) -> Result<Cow<'_, [i64]>> {
    if let Ok(at) = indices.as_slice::<i64>()
        && are_within(at, n)
    {
        return Ok(Cow::Borrowed(at));
    }
    Ok(positions(indices, n)?.into_iter().map(|at| i64::try_from(at).unwrap_or(i64::MAX)).collect())
}

/// What an error says is wanted of an index of a list of `n`.
pub(super) fn positions_within(n: i64) -> String {
    match n {
        0 => "no index, since there is no element".to_string(),
        n => format!("an index from {} to {}", -n, n - 1),
    }
}

fn at_position_of(what: &str, flat: usize, dims: &[usize]) -> Error {
    let text = crate::elementwise::at_position(Fault { index: flat, what: "" }, 0, dims).to_string();
    let position = text.trim_start_matches(" at ").trim_end_matches('.').to_string();
    Error::index(format!("{what}, at {position}"))
}

fn run_take(args: &[Value], attrs: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    let (x, indices) = (data(args, 0)?, data(args, 1)?);
    let axis = normalize_axis(OneAxis::of(attrs)?.axis, x.dims().len())?;
    let n = x.dims()[axis];
    let dims = spec_of(out, 0)?.shape.to_dims().ok_or_else(|| Error::internal("sizes are not known at run time"))?;
    if axis == 0 && !indices.dims().is_empty() {
        return one_tensor(gathered(x, &places(indices, n)?, dims)?);
    }
    let at = places(indices, n)?;
    let inner: usize = x.dims()[axis + 1..].iter().product();
    if let ([one], []) = (&at[..], indices.dims()) {
        let at = usize::try_from(*one).unwrap_or(0);
        if axis == 0 {
            return one_tensor(args[0].tensor()?.slice_rows(at, 1)?.with_dims(&dims)?);
        }
        let mut strides = row_major(x.dims());
        strides.remove(axis);
        return one_tensor(by_strides(x, at * inner, dims, strides)?);
    }
    let outer: usize = x.dims()[..axis].iter().product();
    one_tensor(gathered_along(x, &at, (outer, n, inner), dims)?)
}

fn grad_take(cx: &GradCx<'_>) -> Result<Vec<Option<Value>>> {
    let axis = cx.attrs::<OneAxis>()?.axis;
    Ok(vec![Some(scatter_along(cx.g(), &cx.args[1], &cx.args[0], axis)?), None])
}

/// Adds `updates` into zeros of the shape of `like` at `indices` of `axis`, whose place their axes have in `updates`.
fn scatter_along(updates: &Value, indices: &Value, like: &Value, axis: i64) -> Result<Value> {
    if axis == 0 {
        return scatter_add_like(updates, indices, like);
    }
    let rank = |v: &Value| {
        let rank = v.tensor()?.shape().rank();
        rank.ok_or_else(|| Error::shape("a gradient along an inner axis needs known ranks"))
    };
    let (rank, width) = (rank(like)?, rank(indices)?);
    let at = normalize_axis(axis, rank)?;
    // The axis comes to the front in both, and goes back in the sum.
    let to_front = |of: usize, width: usize| (at..at + width).chain(0..at).chain(at + width..of);
    let numbers = |axes: &mut dyn Iterator<Item = usize>| axes.map(|a| i64::try_from(a).unwrap_or(i64::MAX)).collect();
    let updates = transpose(updates, Some(numbers(&mut to_front(rank - 1 + width, width))))?;
    let summed = scatter_add_like(updates, indices, transpose(like, Some(numbers(&mut to_front(rank, 1))))?)?;
    transpose(summed, Some(numbers(&mut (1..=at).chain([0]).chain(at + 1..rank))))
}

fn infer_scatter(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let (updates, like) = (spec_of(args, 0)?, spec_of(args, 2)?);
    if updates.dtype != like.dtype || !updates.dtype.is_numeric() {
        return Err(Error::dtype(format!("updates are {}, and zeros {}", updates.dtype, like.dtype))
            .wanted("numbers of one dtype"));
    }
    Ok(tensor_spec(like.dtype, like.shape.clone()))
}

fn run_scatter(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (updates, indices, like) = (data(args, 0)?, data(args, 1)?, data(args, 2)?);
    let (&n, inner) =
        like.dims().split_first().ok_or_else(|| Error::shape("zeros are a scalar").wanted("at least a vector"))?;
    let at = places(indices, n)?;
    let width: usize = inner.iter().product();
    if updates.len() != at.len() * width {
        return Err(Error::shape(format!(
            "updates have shape {:?} for indices of shape {:?}",
            updates.dims(),
            indices.dims()
        )));
    }
    // An outer axis may be longer than memory where the others are empty.
    affordable(n.saturating_mul(4 * size_of::<usize>()))?;
    if width == 1
        && let Some(sums) = added(updates, &at, like)?
    {
        return one_tensor(sums);
    }
    // Adding row by row in the order of the updates: a sequential sum per element, whatever the threads.
    let mut sums = crate::ops::zeros_like(&args[2])?;
    let order = group_by_target(&at, n);
    let (offsets, sources) = order;
    let flat = args[0].tensor()?.with_dims(&[at.len(), width])?;
    let runs = sources.iter().map(|&i| Run { source: Some(0), start: i * width, len: width });
    let gathered = assemble(updates.dtype(), smallvec![at.len(), width], &[flat.data()?], runs)?;
    let partition = crate::RowPartition::from_offsets(crate::Offsets::I64(offsets.into()), at.len())?;
    let summed = crate::reduce::run_segments(Fold::Sum, &[Value::Tensor(gathered), Value::Partition(partition)])?;
    if let Some(value) = summed.into_iter().next() {
        sums = crate::ops::cast(Value::Tensor(value.tensor()?.with_dims(like.dims())?), like.dtype())?;
    }
    Ok(smallvec![sums])
}

/// The sums of numbers by position, each added where it goes; none of numbers of half the width, which would be rounded at each.
fn added(updates: &Dense, at: &[i64], like: &Dense) -> Result<Option<Tensor>> {
    let dtype = like.dtype();
    if updates.dtype() != dtype {
        return Ok(None);
    }
    macro_rules! by_dtype {
        ($($d:ident $t:ty: $add:expr),*) => { match dtype {
            DType::F32 => {
                // They are kept exact for longer and rounded once.
                affordable(like.len().saturating_mul(size_of::<f64>()))?;
                let mut sums = Block::zeroed(like.len() * size_of::<f64>());
                add_at(at, updates.as_slice::<f32>()?, sums.slice_mut(), |sum: f64, x| sum + f64::from(x));
                let mut block = Block::new(like.len() * size_of::<f32>());
                block.slice_mut().iter_mut().zip(sums.slice_mut::<f64>()).for_each(|(out, sum)| *out = *sum as f32);
                block
            }
            $(DType::$d => {
                affordable(like.len().saturating_mul(size_of::<$t>()))?;
                let mut block = Block::zeroed(like.len() * size_of::<$t>());
                add_at(at, updates.as_slice::<$t>()?, block.slice_mut::<$t>(), $add);
                block
            })*
            _ => return Ok(None),
        } };
    }
    let sums = by_dtype! {
        F64 f64: |a, b| a + b, I8 i8: i8::wrapping_add, I16 i16: i16::wrapping_add, I32 i32: i32::wrapping_add,
        I64 i64: i64::wrapping_add, U8 u8: u8::wrapping_add, U16 u16: u16::wrapping_add, U32 u32: u32::wrapping_add,
        U64 u64: u64::wrapping_add
    };
    Ok(Some(Tensor::from_dense(dtype, like.dims().into(), Storage::Fixed(sums.elements()))))
}

fn add_at<T: Copy, S: Copy>(at: &[i64], updates: &[T], sums: &mut [S], add: impl Fn(S, T) -> S) {
    for (&at, &update) in at.iter().zip(updates) {
        let sum = &mut sums[at as usize];
        *sum = add(*sum, update);
    }
}

/// For each target the updates that go there, in order: offsets and update numbers.
fn group_by_target(at: &[i64], n: usize) -> (Vec<i64>, Vec<usize>) {
    let at = || at.iter().map(|at| *at as usize);
    let mut offsets = vec![0_i64; n + 1];
    at().for_each(|t| offsets[t + 1] += 1);
    for i in 0..n {
        offsets[i + 1] += offsets[i];
    }
    let mut next: Vec<usize> = offsets.iter().map(|&o| usize::try_from(o).unwrap_or(0)).collect();
    let mut sources = vec![0; at().len()];
    for (i, t) in at().enumerate() {
        sources[next[t]] = i;
        next[t] += 1;
    }
    (offsets, sources)
}

/// The first position and the number of positions of a slice, by the rules of Python, over `n` elements.
///
/// Errors: a step of zero.
pub fn slice_range(s: &Slice, n: usize) -> Result<(i64, usize)> {
    let n = i64::try_from(n).unwrap_or(i64::MAX);
    if s.step == 0 || s.step == i64::MIN {
        return Err(Error::value(format!("the step is {}", s.step)).wanted("a step that is not zero"));
    }
    let clamp = |v: i64, low: i64, high: i64| (if v < 0 { v.saturating_add(n) } else { v }).clamp(low, high);
    let stop = s.stop.as_ref().and_then(|v| v.first().copied());
    let (start, stop) = if s.step > 0 {
        (clamp(s.start, 0, n), stop.map_or(n, |v| clamp(v, 0, n)))
    } else {
        (clamp(s.start, -1, n - 1), stop.map_or(-1, |v| clamp(v, -1, n - 1)))
    };
    let span = if s.step > 0 { stop - start } else { start - stop };
    let count = if span <= 0 { 0 } else { (span - 1) / s.step.abs() + 1 };
    Ok((start, usize::try_from(count).unwrap_or(0)))
}

fn infer_slice(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let s = Slice::of(attrs)?;
    let spec = spec_of(args, 0)?;
    let Some(dims) = spec.shape.dims() else { return Ok(tensor_spec(spec.dtype, Shape::unknown())) };
    let at = normalize_axis(s.axis, dims.len())?;
    let mut out: SmallVec<[Dim; 4]> = dims.iter().copied().collect();
    out[at] = match dims[at].known() {
        Some(n) => Dim::Known(slice_range(s, n)?.1),
        None => {
            slice_range(s, 0)?;
            Dim::any()
        }
    };
    Ok(tensor_spec(spec.dtype, Shape::new(out)))
}

fn run_slice(args: &[Value], attrs: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    let s = Slice::of(attrs)?;
    let x = data(args, 0)?;
    let axis = normalize_axis(s.axis, x.dims().len())?;
    let n = x.dims()[axis];
    let (start, count) = slice_range(s, n)?;
    let first = usize::try_from(start).unwrap_or(0);
    if axis == 0 && s.step == 1 {
        return one_tensor(args[0].tensor()?.slice_rows(first.min(n), count)?);
    }
    let inner: usize = x.dims()[axis + 1..].iter().product();
    let dims = spec_of(out, 0)?.shape.to_dims().ok_or_else(|| Error::internal("sizes are not known at run time"))?;
    let mut strides = row_major(x.dims());
    if count > 1 {
        strides[axis] = strides[axis].saturating_mul(isize::try_from(s.step).unwrap_or(isize::MAX));
    }
    one_tensor(by_strides(x, first * inner, dims, strides)?)
}

/// The step to the next element along each axis. Where there is no element, sizes may be without end, and no step is taken.
fn row_major(dims: &[usize]) -> Strides {
    let step = |axis: usize| dims[axis + 1..].iter().fold(1, |step: usize, n| step.saturating_mul(*n));
    (0..dims.len()).map(|axis| step(axis).cast_signed()).collect()
}

fn grad_slice(cx: &GradCx<'_>) -> Result<Vec<Option<Value>>> {
    let s: &Slice = cx.attrs()?;
    let x = &cx.args[0];
    let places = slice(indices_along(x, s.axis)?, 0, s.start, s.stop.clone(), s.step)?;
    Ok(vec![Some(scatter_along(cx.g(), &places, x, s.axis)?)])
}
