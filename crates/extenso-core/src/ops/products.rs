//! Products of vectors and tensors, and what is made of them: compositions over `matmul`, `multiply` and `sum`.

use super::checks::{of_one_size, with_size_along};
use super::contract::{Label, Labelled, contract, diagonal_of, int, sum_in_dtype};
use super::normalize::in_f32;
use super::{
    abs, boolean_mask, equal, expand_dims, indices_along, max, maximum, min, moveaxis, multiply, ones_like, pow,
    reshape, root, square, subtract, sum, take, where_, zeros_like,
};
use crate::attrs::Axes;
use crate::reduce::{normalize_axes, normalize_axis};
use crate::tensor::Tensor;
use crate::value::{Arg, Value};
use extenso_types::{Dim, Error, Result};

/// The axes that `tensordot` sums over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DotAxes {
    /// As many of the last of `x` and of the first of `y`.
    Count(i64),
    /// These of `x` and, in the same order, these of `y`.
    Pairs(Vec<i64>, Vec<i64>),
}

impl From<i64> for DotAxes {
    fn from(count: i64) -> DotAxes {
        DotAxes::Count(count)
    }
}

/// The products of `x` and `y`, summed over pairs of axes.
///
/// Shapes: the axes of `x` that are not summed, then those of `y`. Errors: axes out of range, named twice, or not as many of both;
/// sizes that differ; dtypes that differ or are not numbers.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let (x, y) = (Tensor::from_vec(vec![1, 2]), Tensor::new(&[2, 2], &[1, 2, 3, 4]).unwrap());
/// assert_eq!(ops::tensordot(&x, &y, 1).unwrap().to_string(), "[7, 10]");
/// assert_eq!(ops::tensordot(&x, &y, ops::DotAxes::Pairs(vec![0], vec![1])).unwrap().to_string(), "[5, 11]");
/// ```
pub fn tensordot(x: impl Into<Arg>, y: impl Into<Arg>, axes: impl Into<DotAxes>) -> Result<Value> {
    dotted(&x.into(), &y.into(), axes.into()).map_err(|e| e.at_part("tensordot"))
}

fn dotted(x: &Arg, y: &Arg, axes: DotAxes) -> Result<Value> {
    let (x, y) = (x.value()?, y.value()?);
    let (rx, ry) = (rank(x)?, rank(y)?);
    let (of_x, of_y) = match axes {
        DotAxes::Count(count) => {
            let fits = usize::try_from(count).is_ok_and(|count| count <= rx.min(ry));
            if !fits {
                return Err(Error::value(format!("{count} axes are to be summed, of ranks {rx} and {ry}"))
                    .wanted("a number from 0 up to the smaller rank"));
            }
            ((int(rx) - count..int(rx)).collect(), (0..count).collect())
        }
        DotAxes::Pairs(of_x, of_y) => (of_x, of_y),
    };
    if of_x.len() != of_y.len() {
        return Err(Error::value(format!("the axes are {of_x:?} and {of_y:?}")).wanted("as many of both"));
    }
    normalize_axes(&of_x, rx).map_err(|e| e.at("argument 'x'"))?;
    normalize_axes(&of_y, ry).map_err(|e| e.at("argument 'y'"))?;
    let y = &with_sizes_of(x, &of_x, y, &of_y)?;
    let label = |n: usize| Label::try_from(n).unwrap_or(Label::MAX);
    let left: Vec<Label> = (0..rx).map(label).collect();
    let mut right: Vec<Label> = (rx..rx + ry).map(label).collect();
    for (a, b) in of_x.iter().zip(&of_y) {
        right[normalize_axis(*b, ry)?] = left[normalize_axis(*a, rx)?];
    }
    let alone = |of: &[Label], other: &[Label]| of.iter().copied().filter(|l| !other.contains(l)).collect::<Vec<_>>();
    let out = [alone(&left, &right), alone(&right, &left)].concat();
    let factors = vec![Labelled { value: x.clone(), labels: left }, Labelled { value: y.clone(), labels: right }];
    contract(factors, &out)
}

/// `y`, of which the summed axes have the sizes of those of `x`: they are not stretched.
fn with_sizes_of(x: &Value, of_x: &[i64], y: &Value, of_y: &[i64]) -> Result<Value> {
    let mut checked = y.clone();
    for (a, b) in of_x.iter().zip(of_y) {
        let (size_x, size_y) = (size(x, *a)?, size(y, *b)?);
        if !size_x.is_compatible_with(size_y) {
            return Err(Error::shape(format!("axis {a} of 'x' has size {size_x}, and axis {b} of 'y' {size_y}"))
                .wanted("one size for both"));
        }
        checked = of_one_size(&checked, *b, x, *a, &format!("the sizes of axis {a} of 'x' and axis {b} of 'y'"))?;
    }
    Ok(checked)
}

fn rank(x: &Value) -> Result<usize> {
    x.tensor()?.shape().rank().ok_or_else(|| {
        Error::shape("the rank is not known while tracing").wanted("a known rank").hint("Say the shape in the spec.")
    })
}

fn size(x: &Value, axis: i64) -> Result<Dim> {
    let at = normalize_axis(axis, rank(x)?)?;
    Ok(x.tensor()?.shape().dims().map_or_else(Dim::any, |dims| dims[at]))
}

/// The sum of the products of vectors along `axis`, which broadcast in the other axes.
///
/// Errors: an axis out of range; vectors of different sizes; other axes that do not broadcast; dtypes that differ or are not numbers.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = Tensor::new(&[2, 2], &[1, 2, 3, 4]).unwrap();
/// assert_eq!(ops::vecdot(&x, Tensor::from_vec(vec![1, 10]), -1).unwrap().to_string(), "[21, 43]");
/// ```
pub fn vecdot(x: impl Into<Arg>, y: impl Into<Arg>, axis: i64) -> Result<Value> {
    let dot = |x: Arg, y: Arg| {
        let y = as_long(&x, y, axis)?;
        in_f32(&[&x, &y], |args| in_dtype_of(multiply(&args[0], &args[1])?, axis))
    };
    dot(x.into(), y.into()).map_err(|e| e.at_part("vecdot"))
}

/// `y`, if its vectors along `axis` are as long as those of `x`: of tensors, where a size of 1 would be stretched.
///
/// Errors: sizes that differ, now or when the graph runs.
pub(super) fn as_long(x: &Arg, y: Arg, axis: i64) -> Result<Arg> {
    let (Arg::Value(x @ Value::Tensor(a)), Arg::Value(other @ Value::Tensor(b))) = (x, &y) else { return Ok(y) };
    if a.shape().rank().is_some() && b.shape().rank().is_some() {
        let (a, b) = (size(x, axis)?, size(other, axis)?);
        if !a.is_compatible_with(b) {
            return Err(Error::shape(format!("the vectors have sizes {a} and {b}")).wanted("one size for both"));
        }
    }
    Ok(of_one_size(other, axis, x, axis, "the sizes of the vectors")?.into())
}

/// The sum along an axis; that of a tensor in its dtype.
fn in_dtype_of(products: Value, axis: i64) -> Result<Value> {
    match &products {
        Value::Tensor(_) => sum_in_dtype(&products, vec![axis]),
        Value::Partition(_) | Value::Ext(_) => sum(products, axis, false),
    }
}

/// The product of every element of `x` with every element of `y`: a matrix; tensors of other ranks count as the vector of their elements.
///
/// Errors: dtypes that differ or are not numbers.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let y = ops::outer(Tensor::from_vec(vec![1, 2]), Tensor::from_vec(vec![3, 4])).unwrap();
/// assert_eq!(y.to_string(), "[[3, 4], [6, 8]]");
/// ```
pub fn outer(x: impl Into<Arg>, y: impl Into<Arg>) -> Result<Value> {
    let products = |x: Arg, y: Arg| {
        let (x, y) = (vector(x.value()?)?, vector(y.value()?)?);
        multiply(expand_dims(x, 1)?, expand_dims(y, 0)?)
    };
    products(x.into(), y.into()).map_err(|e| e.at_part("outer"))
}

fn vector(x: &Value) -> Result<Value> {
    let is_one = matches!(x, Value::Tensor(_)) && rank(x)? == 1;
    if is_one { Ok(x.clone()) } else { reshape(x, vec![-1_i64]) }
}

/// The products summed over the last axes of both; with a scalar, all products.
///
/// Shapes: the other axes of `x`, then those of `y`. Errors: last sizes that differ; dtypes that differ or are not numbers.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = Tensor::new(&[2, 2], &[1, 2, 3, 4]).unwrap();
/// assert_eq!(ops::inner(&x, Tensor::from_vec(vec![1, 10])).unwrap().to_string(), "[21, 43]");
/// ```
pub fn inner(x: impl Into<Arg>, y: impl Into<Arg>) -> Result<Value> {
    let products = |x: Arg, y: Arg| {
        let scalar = rank(x.value()?)? == 0 || rank(y.value()?)? == 0;
        if scalar { multiply(x, y) } else { dotted(&x, &y, DotAxes::Pairs(vec![-1], vec![-1])) }
    };
    products(x.into(), y.into()).map_err(|e| e.at_part("inner"))
}

/// The elements at equal positions of two axes, that of `axis2` moved on by `offset`, as a new last axis.
///
/// Errors: an axis out of range, or one axis twice.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = Tensor::new(&[2, 3], &[1, 2, 3, 4, 5, 6]).unwrap();
/// assert_eq!(ops::diagonal(&x, 0, 0, 1).unwrap().to_string(), "[1, 5]");
/// assert_eq!(ops::diagonal(&x, 1, 0, 1).unwrap().to_string(), "[2, 6]");
/// ```
pub fn diagonal(x: impl Into<Arg>, offset: i64, axis1: i64, axis2: i64) -> Result<Value> {
    diagonal_along(&x.into(), offset, axis1, axis2).map_err(|e| e.at_part("diagonal"))
}

fn diagonal_along(x: &Arg, offset: i64, axis1: i64, axis2: i64) -> Result<Value> {
    let rank = rank(x.value()?)?;
    normalize_axes(&[axis1, axis2], rank)?;
    let (first, second) = (normalize_axis(axis1, rank)?, normalize_axis(axis2, rank)?);
    if size(x.value()?, axis1)?.known().is_some() && size(x.value()?, axis2)?.known().is_some() {
        return diagonal_of(x.value()?, offset, first, second);
    }
    // Which places are on it is known to the data alone.
    let along = |axis: usize, at: i64| expand_dims(indices_along(x, int(axis))?, at);
    let on_it = equal(subtract(along(second, 0)?, along(first, 1)?)?, offset)?;
    let ends = moveaxis(x, vec![axis1, axis2], vec![-2, -1])?;
    boolean_mask(ends, on_it, int(rank - 2))
}

/// The sum of a [`diagonal`]; integers and booleans sum in 64 bits.
///
/// Errors: those of [`diagonal`]; elements that are no numbers.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// assert_eq!(ops::trace(Tensor::new(&[2, 2], &[1, 2, 3, 4]).unwrap(), 0, 0, 1).unwrap().to_string(), "5");
/// ```
pub fn trace(x: impl Into<Arg>, offset: i64, axis1: i64, axis2: i64) -> Result<Value> {
    let total = diagonal_along(&x.into(), offset, axis1, axis2).and_then(|elements| sum(elements, -1, false));
    total.map_err(|e| e.at_part("trace"))
}

/// The norm of the vectors over `axis`: the root `1 / ord` of the sum of the powers `ord` of the magnitudes.
///
/// 2 is the length of a vector, an infinity the largest magnitude, minus infinity the smallest, 0 how many elements are not zero.
/// Errors: no floats; an axis out of range; an `ord` that is NaN.
///
/// ```
/// # use extenso_core::{Tensor, attrs::Axes, ops};
/// assert_eq!(ops::norm(Tensor::from_vec(vec![3.0, -4.0]), 2.0, Axes::All, false).unwrap().to_string(), "5.0");
/// ```
pub fn norm(x: impl Into<Arg>, ord: f64, axis: impl Into<Axes>, keepdims: bool) -> Result<Value> {
    let axis = axis.into();
    in_f32(&[&x.into()], |x| norm_over(&x[0], ord, axis, keepdims)).map_err(|e| e.at_part("norm"))
}

fn norm_over(x: &Arg, ord: f64, axis: Axes, keepdims: bool) -> Result<Value> {
    // Of floats alone: the square root of integers is none.
    if let Arg::Value(Value::Tensor(t)) = x
        && !t.dtype().is_float()
    {
        return Err(Error::dtype(format!("found {}", t.dtype())).wanted("floats").hint("Write `cast(x, 'f64')`."));
    }
    if ord.is_nan() {
        return Err(Error::value("ord is NaN").wanted("a number"));
    }
    if ord == 2.0 {
        return root(sum(square(x)?, axis, keepdims)?);
    }
    let size = abs(x)?;
    if ord == f64::INFINITY {
        // Of nothing it is 0, as other norms are.
        let largest = max(size, axis, keepdims)?;
        return maximum(&largest, zeros_like(&largest)?);
    }
    if ord == f64::NEG_INFINITY {
        return min(size, axis, keepdims);
    }
    if ord == 0.0 {
        // In the dtype of the elements, as the other norms are.
        return sum(where_(equal(&size, 0)?, 0, ones_like(&size)?)?, axis, keepdims);
    }
    if ord == 1.0 {
        return sum(size, axis, keepdims);
    }
    let total = sum(pow(size, ord)?, axis, keepdims)?;
    if ord < 1.0 {
        return pow(total, 1.0 / ord);
    }
    // At zero the slope is taken to be zero, as by `root`.
    let none = equal(&total, 0.0)?;
    where_(&none, 0.0, pow(where_(&none, 1.0, total)?, 1.0 / ord)?)
}

/// The cross product of vectors of three elements along `axis`, which broadcast in the other axes.
///
/// Errors: another size than 3 along the axis; an axis out of range; dtypes that differ or are not numbers.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let (x, y) = (Tensor::from_vec(vec![1, 0, 0]), Tensor::from_vec(vec![0, 1, 0]));
/// assert_eq!(ops::cross_product(x, y, -1).unwrap().to_string(), "[0, 0, 1]");
/// ```
pub fn cross_product(x: impl Into<Arg>, y: impl Into<Arg>, axis: i64) -> Result<Value> {
    let of_three = |name: &str, x: &Arg| {
        let x = x.value()?;
        match size(x, axis)? {
            Dim::Known(3) => Ok(x.clone()),
            Dim::Known(size) => Err(Error::shape(format!("the size along axis {axis} is {size}"))
                .at(format!("argument '{name}'"))
                .wanted("3")),
            Dim::Var(_) => with_size_along(x, axis, 3, "the sizes of the vectors"),
        }
    };
    let product = |x: Arg, y: Arg| {
        let (x, y) = (of_three("x", &x)?, of_three("y", &y)?);
        let turned = |of: &Value, places: [i64; 3]| take(of, Tensor::from_vec(places.to_vec()), axis);
        let (next, last) = ([1, 2, 0], [2, 0, 1]);
        subtract(multiply(turned(&x, next)?, turned(&y, last)?)?, multiply(turned(&x, last)?, turned(&y, next)?)?)
    };
    product(x.into(), y.into()).map_err(|e| e.at_part("cross_product"))
}
