//! Joining strings: elementwise, along an axis, and along the rows of a partition.

use super::super::args::{data, one_tensor, spec_of, tensor_spec};
use super::super::structural::stretch;
use super::text_spec;
use super::texts::{Texts, bytes_of, grown};
use crate::attrs::{AttrSet, Attrs, Axes};
use crate::op::{Class, OpDef, OutputSpecs};
use crate::partition::Rows;
use crate::reduce::{normalize_axes, normalize_axis};
use crate::tensor::{Dense, Tensor, element_count};
use crate::value::{Outputs, Value};
use extenso_types::{Dims, Error, LeafSpec, Result, Shape};

crate::attrs! {
    /// What stands between joined strings.
    pub struct Separator { separator: String = String::new() }
    /// The attributes of `reduce_join`.
    pub struct ReduceJoin { axis: Axes = Axes::List(vec![-1]), separator: String = String::new() }
}

crate::ops! {
    /// Ops that join strings.
    pub static TEXT_JOINS;

    /// The strings at each position of all arguments, which broadcast, joined with `separator` between them.
    ///
    /// Errors: no argument; strings beside bytes; shapes that do not broadcast.
    STRING_JOIN: string_join(values; Separator { separator: String }) = OpDef::general(Class::Elementwise, infer_join, run_join)
        .variadic()
        .alias_tf("strings.join")
        .examples(&[("string_join(([\"a\", \"b\"], [\"c\"]), separator=\"-\")", "[\"a-c\", \"b-c\"]")]);

    /// The strings along `axis` joined into one, with `separator` between them. No strings give an empty one.
    ///
    /// Several axes are joined one after the other, in the order in which they are given; `None` joins all, the last axis first.
    /// Along a ragged axis each row is joined, and along an axis with ragged rows inside each column of the rows. Missing strings are left out, with
    /// the separator that would stand beside them; a list that is missing stays so. Errors: an axis out of range or named twice.
    REDUCE_JOIN: reduce_join(x; ReduceJoin { axis: Axes, separator: String }) = OpDef::general(Class::Structural, infer_reduce, run_reduce)
        .examples(&[("reduce_join([[\"a\", \"b\"], [\"c\", \"d\"]], separator=\" \")", "[\"a b\", \"c d\"]"), ("reduce_join([[\"a\", \"b\"], [\"c\", \"d\"]], axis=0)", "[\"ac\", \"bd\"]"), ("reduce_join([[\"a\", \"b\"], [\"c\", \"d\"]], axis=(0, 1))", "\"acbd\"")]);

    /// The strings of each row joined into one, with `separator` between them. An empty row gives an empty string.
    /// Missing strings are left out.
    ///
    /// Shapes: `values` has the values of the partition as outer axis, the result its rows.
    SEGMENT_JOIN: segment_join(values, partition; Separator { separator: String }) = OpDef::general(Class::Segment, infer_segments, run_segments)
        .examples(&[("segment_join([\"a\", \"b\", \"c\"], partition_from_lengths([2, 0, 1]), separator=\"+\")", "[\"a+b\", \"\", \"c\"]")]);
}

fn infer_join(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    if args.is_empty() {
        return Err(Error::value("no tensor is given").wanted("at least one tensor"));
    }
    let first = text_spec(args)?;
    let mut shape = Shape::scalar();
    for (i, arg) in args.iter().enumerate() {
        let spec = arg.tensor()?;
        if spec.dtype != first.dtype {
            return Err(Error::dtype(format!(
                "the dtype is {}, and that of argument 1 is {}",
                spec.dtype, first.dtype
            ))
            .at(format!("argument {}", i + 1))
            .wanted("one dtype for all: strings beside strings alone, bytes beside bytes"));
        }
        shape = shape.broadcast(&spec.shape)?;
    }
    Ok(tensor_spec(first.dtype, shape))
}

fn run_join(args: &[Value], attrs: &dyn AttrSet, out: &[LeafSpec]) -> Result<Outputs> {
    let dims = spec_of(out, 0)?.shape.to_dims().ok_or_else(|| Error::internal("sizes are not known at run time"))?;
    let stretched: Result<Vec<Tensor>> = args.iter().map(|arg| stretch(arg.tensor()?, dims.clone())).collect();
    let stretched = stretched?;
    let texts: Result<Vec<&Dense>> = stretched.iter().map(Tensor::data).collect();
    let (texts, separator) = (texts?, Separator::of(attrs)?.separator.as_bytes());
    let bytes = texts.iter().try_fold(0, |sum: usize, text| Ok::<_, Error>(sum.saturating_add(bytes_of(text)?)))?;
    let between = element_count(&dims)?.saturating_mul(texts.len()).saturating_mul(separator.len());
    let size = bytes.saturating_add(between);
    grown(spec_of(out, 0)?.dtype, &dims, size, |i, out| join(texts.iter().map(|text| text.text_at(i)), separator, out))
}

/// Adds one element: the items with the separator between them.
pub(super) fn join<'a>(items: impl Iterator<Item = Result<&'a [u8]>>, separator: &[u8], out: &mut Texts) -> Result<()> {
    for (i, item) in items.enumerate() {
        if i > 0 {
            out.write(separator)?;
        }
        out.write(item?)?;
    }
    out.end()
}

fn infer_reduce(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let spec = text_spec(args)?;
    let Some(dims) = spec.shape.dims() else { return Ok(tensor_spec(spec.dtype, Shape::unknown())) };
    let mut dims = dims.to_vec();
    for at in ReduceJoin::of(attrs)?.steps(dims.len())? {
        dims.remove(at);
    }
    Ok(tensor_spec(spec.dtype, Shape::new(dims)))
}

impl ReduceJoin {
    /// The axes in the order in which they are joined, each counted among those that the ones before it left.
    ///
    /// Errors: an axis out of range or named twice.
    pub fn steps(&self, rank: usize) -> Result<Vec<usize>> {
        let Axes::List(axes) = &self.axis else { return Ok((0..rank).rev().collect()) };
        normalize_axes(axes, rank)?;
        let axes: Vec<usize> = axes.iter().map(|&axis| normalize_axis(axis, rank)).collect::<Result<_>>()?;
        let left = |i: usize| axes[i] - axes[..i].iter().filter(|done| **done < axes[i]).count();
        Ok((0..axes.len()).map(left).collect())
    }
}

fn run_reduce(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let attrs = ReduceJoin::of(attrs)?;
    let mut x = args[0].tensor()?.clone();
    for at in attrs.steps(x.data()?.dims().len())? {
        x = joined_along(x.data()?, at, attrs.separator.as_bytes())?;
    }
    one_tensor(x)
}

fn joined_along(x: &Dense, at: usize, separator: &[u8]) -> Result<Tensor> {
    let (n, inner) = (x.dims()[at], x.dims()[at + 1..].iter().product::<usize>());
    let dims: Dims = (0..x.dims().len()).filter(|axis| *axis != at).map(|axis| x.dims()[axis]).collect();
    let made = grown(x.dtype(), &dims, joined_size(x, separator)?, |i, out| {
        let first = i / inner.max(1) * n * inner + i % inner.max(1);
        join((0..n).map(|k| x.text_at(first + k * inner)), separator, out)
    })?;
    made.into_iter().next().ok_or_else(|| Error::internal("joined strings are lost"))?.tensor().cloned()
}

/// The bytes that all texts take with a separator behind each.
fn joined_size(x: &Dense, separator: &[u8]) -> Result<usize> {
    Ok(bytes_of(x)?.saturating_add(x.len().saturating_mul(separator.len())))
}

fn infer_segments(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let values = text_spec(args)?;
    let partition = args.get(1).ok_or_else(|| Error::value("argument 2 is missing"))?.partition()?;
    let shape = match values.shape.dims() {
        None => Shape::unknown(),
        Some([]) => return Err(Error::shape("values are a scalar").wanted("at least a vector")),
        Some([outer, inner @ ..]) => {
            if !outer.is_compatible_with(partition.nvalues) {
                return Err(values_differ(&outer.to_string(), &partition.nvalues.to_string()));
            }
            Shape::new(std::iter::once(partition.nrows).chain(inner.iter().copied()))
        }
    };
    Ok(tensor_spec(values.dtype, shape))
}

fn values_differ(given: &str, wanted: &str) -> Error {
    Error::shape(format!("{given} values are given to a partition of {wanted}"))
        .wanted("as many values as the partition cuts")
}

fn run_segments(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, rows) = (data(args, 0)?, rows_of(args)?);
    let separator = Separator::of(attrs)?.separator.as_bytes();
    let (&outer, inner) = x.dims().split_first().ok_or_else(|| Error::shape("values are a scalar"))?;
    if outer != rows.nvalues() {
        return Err(values_differ(&outer.to_string(), &rows.nvalues().to_string()));
    }
    let width: usize = inner.iter().product();
    let dims: Dims = std::iter::once(rows.nrows()).chain(inner.iter().copied()).collect();
    grown(x.dtype(), &dims, joined_size(x, separator)?, |i, out| {
        let items = rows.row(i / width.max(1)).map(|value| x.text_at(value * width + i % width.max(1)));
        join(items, separator, out)
    })
}

pub(super) fn rows_of(args: &[Value]) -> Result<&Rows> {
    args.get(1).ok_or_else(|| Error::value("argument 2 is missing"))?.partition()?.data()
}
