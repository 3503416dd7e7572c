//! Conditions that only data can tell: checked at once on data, and when a traced graph runs.

use super::args::{data, one_tensor, spec_of};
use super::cast;
use super::{indices_along, ones_like, sum};
use crate::attrs::{AttrSet, Attrs, Axes};
use crate::elementwise::position;
use crate::op::{Class, OpDef, OutputSpecs};
use crate::reduce::normalize_axis;
use crate::tensor::Tensor;
use crate::value::{Outputs, Value};
use extenso_types::{DType, Error, LeafSpec, Result};
use smallvec::smallvec;

crate::attrs! {
    /// The attributes of `check_equal`.
    pub struct CheckEqual { what: String }
    /// The attributes of `check_within`.
    pub struct CheckWithin { low: f64, high: f64, what: String }
    /// The attributes of `check_all`.
    pub struct CheckAll { what: String, wanted: String }
}

crate::ops! {
    /// Checks.
    pub static CHECKS;

    /// `x` as it stands, if each number of `given` is the one of `wanted` at its place: sizes, say, of which an error says `what` they are.
    ///
    /// Shapes: `given` and `wanted` have one shape, which may be another than that of `x`. Errors: numbers that differ, with the first
    /// two; other dtypes than i64; shapes that differ.
    CHECK_EQUAL: check_equal(x, given, wanted; CheckEqual { what: String }) = OpDef::general(Class::Structural, infer_equal, run_equal)
        .apart(&[1, 2])
        .grad(|cx| Ok(vec![Some(cx.g().clone()), None, None]))
        .part()
        .examples(&[("check_equal([0.5, 1.5], [2, 3], [2, 3], what='the sizes')", "[0.5, 1.5]")]);

    /// `x` as it stands, if each of its floats is from `low` to `high`; an error calls them `what`.
    ///
    /// Errors: a number that is not, NaN too, with its position; other dtypes.
    CHECK_WITHIN: check_within(x; CheckWithin { low: f64, high: f64, what: String }) = OpDef::general(Class::Structural, infer_within, run_within)
        .grad(|cx| Ok(vec![Some(cx.g().clone())]))
        .part()
        .examples(&[("check_within([0.5, 1.0], low=0.0, high=2.0, what='q')", "[0.5, 1.0]")]);

    /// `x` as it stands, if all of `conditions` are true; an error says `what` of the first that is not, and what is `wanted`.
    ///
    /// Errors: a condition that is false, with its position; other conditions than booleans.
    CHECK_ALL: check_all(x, conditions; CheckAll { what: String, wanted: String }) = OpDef::general(Class::Structural, infer_all, run_all)
        .apart(&[1])
        .grad(|cx| Ok(vec![Some(cx.g().clone()), None]))
        .part()
        .examples(&[("check_all([7, 8], [True], what='no weight', wanted='one')", "[7, 8]")]);
}

fn infer_within(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let x = spec_of(args, 0)?;
    if !x.dtype.is_float() {
        return Err(Error::dtype(format!("found {}", x.dtype)).wanted("floats"));
    }
    Ok(smallvec![args[0].clone()])
}

fn run_within(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let wide = cast(&args[0], DType::F64)?;
    let (x, CheckWithin { low, high, what }) = (wide.tensor()?.data()?, CheckWithin::of(attrs)?);
    match x.as_slice::<f64>()?.iter().enumerate().find(|(_, number)| !(*low..=*high).contains(*number)) {
        None => one_tensor(args[0].tensor()?.clone()),
        Some((at, number)) => {
            let place = if x.dims().is_empty() { String::new() } else { format!("{:?}", position(at, x.dims())) };
            Err(Error::value(format!("{what}{place} is {number}")).wanted(format!("numbers from {low} to {high}")))
        }
    }
}

fn infer_all(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let conditions = spec_of(args, 1)?;
    if conditions.dtype != DType::Bool {
        return Err(Error::dtype(format!("found {}", conditions.dtype)).wanted("booleans"));
    }
    spec_of(args, 0)?;
    Ok(smallvec![args[0].clone()])
}

fn run_all(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let conditions = data(args, 1)?;
    match conditions.bits()?.iter().position(|condition| !condition) {
        None => one_tensor(args[0].tensor()?.clone()),
        Some(at) => {
            let CheckAll { what, wanted } = CheckAll::of(attrs)?;
            let dims = conditions.dims();
            let place = if dims.is_empty() { String::new() } else { format!(" at {:?}", position(at, dims)) };
            Err(Error::value(format!("{what}{place}")).wanted(wanted.as_str()))
        }
    }
}

fn infer_equal(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let (given, wanted) = (spec_of(args, 1)?, spec_of(args, 2)?);
    for numbers in [given, wanted] {
        if numbers.dtype != DType::I64 {
            return Err(Error::dtype(format!("found {}", numbers.dtype)).wanted("i64"));
        }
    }
    if !given.shape.is_compatible_with(&wanted.shape) {
        return Err(Error::shape(format!("the numbers have shape {}, and those wanted {}", given.shape, wanted.shape))
            .wanted("one shape for both"));
    }
    spec_of(args, 0)?;
    Ok(smallvec![args[0].clone()])
}

fn run_equal(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (given, wanted) = (data(args, 1)?, data(args, 2)?);
    if given.dims() != wanted.dims() {
        return Err(Error::shape(format!("there are {:?} and {:?} numbers", given.dims(), wanted.dims()))
            .wanted("one shape for both"));
    }
    let (given, wanted, dims) = (given.as_slice::<i64>()?, wanted.as_slice::<i64>()?, given.dims());
    match given.iter().zip(wanted).position(|(given, wanted)| given != wanted) {
        None => one_tensor(args[0].tensor()?.clone()),
        Some(at) => {
            let place = if dims.is_empty() { String::new() } else { format!(" at {:?}", position(at, dims)) };
            let what = &CheckEqual::of(attrs)?.what;
            Err(Error::shape(format!("{what} are {} and {}{place}", given[at], wanted[at])).wanted("one size for both"))
        }
    }
}

/// `y`, of which the size along an axis is that of `x`: known now, or seen when the graph runs.
///
/// Errors: known sizes that differ, said with `what`.
pub(super) fn of_one_size(y: &Value, of_y: i64, x: &Value, of_x: i64, what: &str) -> Result<Value> {
    let dim = |value: &Value, axis: i64| match value.tensor()?.shape().dims() {
        Some(dims) => normalize_axis(axis, dims.len()).map(|at| Some(dims[at])),
        None => Ok(None),
    };
    let (size_x, size_y) = (dim(x, of_x)?, dim(y, of_y)?);
    if size_x.is_some() && size_x == size_y {
        return Ok(y.clone());
    }
    check_equal(y, size(x, of_x)?, size(y, of_y)?, what)
}

/// The vector, if it has `size` elements: known now, or seen when the graph runs.
pub(super) fn with_size(vector: &Value, wanted: i64, what: &str) -> Result<Value> {
    with_size_along(vector, 0, wanted, what)
}

/// The value, if it has this size along an axis: known now, or seen when the graph runs.
pub(super) fn with_size_along(x: &Value, axis: i64, wanted: i64, what: &str) -> Result<Value> {
    check_equal(x, size(x, axis)?, Tensor::scalar(wanted), what)
}

/// The number of elements along an axis, as a scalar.
fn size(x: &Value, axis: i64) -> Result<Value> {
    sum(ones_like(indices_along(x, axis)?)?, Axes::All, false)
}
