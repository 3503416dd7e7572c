//! Products of vectors and tensors: functions that are no ops, as Rust has them.
//!
//! Invariant: no logic of a function stands here.

use crate::arg;
use crate::composed::attribute;
use crate::error::raised;
use crate::rearrange::{Given, Made, axes, made};
use crate::typed::{Typed, typed};
use crate::value;
use extenso_core::ops::{self, DotAxes};
use extenso_types::Error;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    macro_rules! add {
        ($($name:ident)*) => { $(module.add_function(wrap_pyfunction!($name, module)?)?;)* };
    }
    add! { einsum tensordot vecdot outer inner diagonal trace norm cross_product }
    Ok(())
}

/// The product of the operands, summed over every subscript that the result does not have; subscripts as in NumPy.
///
/// The subscript of a ragged axis stands behind that of the axis outside it.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.einsum("ij,j->i", [[1, 2], [3, 4]], [1, 10]))
/// [21, 43]
#[pyfunction]
#[pyo3(signature = (subscripts, *operands))]
fn einsum<'py>(py: Python<'py>, subscripts: Typed<&str>, operands: &Bound<'py, PyTuple>) -> Made<'py> {
    typed!(einsum: subscripts);
    let operands = arg::each("einsum", operands)?;
    made(py, || extenso_ext::einsum(subscripts, operands))
}

/// The products of `x` and `y`, summed over the last `axes` of `x` and the first of `y`, or over the pairs that two lists give.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.tensordot([1, 2], [[1, 2], [3, 4]], 1))
/// [7, 10]
#[pyfunction]
#[pyo3(signature = (x, y, axes=None), text_signature = "(x, y, axes=2)")]
fn tensordot<'py>(x: Given<'_, 'py>, y: Given<'_, 'py>, axes: Option<Given<'_, 'py>>) -> Made<'py> {
    let (given, other) = (value::given("tensordot", "x", x)?, value::given("tensordot", "y", y)?);
    let axes = axes.map_or(Ok(DotAxes::Count(2)), |axes| dot_axes("tensordot", axes))?;
    made(x.py(), || extenso_ext::tensordot(&given, &other, axes))
}

fn dot_axes(function: &str, object: Given<'_, '_>) -> PyResult<DotAxes> {
    if object.is_instance_of::<PyInt>() {
        return Ok(DotAxes::Count(attribute(function, "axes", object)?));
    }
    // Three tell that there are too many, however many a tensor of empty rows has.
    let pair: Vec<Bound<'_, PyAny>> = object.try_iter().and_then(|lists| lists.take(3).collect()).unwrap_or_default();
    let [of_x, of_y] = pair.as_slice() else {
        let found = ["no list", "one list", "more than two lists"][pair.len().min(2)];
        let error = Error::value(format!("{found} of axes is given")).wanted("two: those of x and those of y");
        return Err(raised(object.py(), error.at("axes").at(function)));
    };
    Ok(DotAxes::Pairs(attribute(function, "axes", of_x)?, attribute(function, "axes", of_y)?))
}

/// The sum of the products of vectors along `axis`, which broadcast in the other axes.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.vecdot([[1, 2], [3, 4]], [1, 10]))
/// [21, 43]
#[pyfunction]
#[pyo3(signature = (x, y, axis=Typed::new(-1)), text_signature = "(x, y, axis=-1)")]
fn vecdot<'py>(x: Given<'_, 'py>, y: Given<'_, 'py>, axis: Typed<i64>) -> Made<'py> {
    typed!(vecdot: axis);
    let (given, other) = (arg::given("vecdot", "x", x)?, arg::given("vecdot", "y", y)?);
    made(x.py(), || extenso_ext::vecdot(given, other, axis))
}

/// The product of every element of `x` with every element of `y`: a matrix.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.outer([1, 2], [3, 4]))
/// [[3, 4], [6, 8]]
#[pyfunction]
fn outer<'py>(x: Given<'_, 'py>, y: Given<'_, 'py>) -> Made<'py> {
    let (given, other) = (value::given("outer", "x", x)?, value::given("outer", "y", y)?);
    made(x.py(), || ops::outer(given, other))
}

/// The products summed over the last axes of both; with a scalar, all products.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.inner([[1, 2], [3, 4]], [1, 10]))
/// [21, 43]
#[pyfunction]
fn inner<'py>(x: Given<'_, 'py>, y: Given<'_, 'py>) -> Made<'py> {
    let (given, other) = (value::given("inner", "x", x)?, value::given("inner", "y", y)?);
    made(x.py(), || extenso_ext::inner(given, other))
}

/// The elements at equal positions of two axes, that of `axis2` moved on by `offset`, as a new last axis.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.diagonal([[1, 2], [3, 4]]))
/// [1, 4]
#[pyfunction]
#[pyo3(signature = (x, offset=Typed::new(0), axis1=Typed::new(0), axis2=Typed::new(1)), text_signature = "(x, offset=0, axis1=0, axis2=1)")]
fn diagonal<'py>(x: Given<'_, 'py>, offset: Typed<i64>, axis1: Typed<i64>, axis2: Typed<i64>) -> Made<'py> {
    typed!(diagonal: offset, axis1, axis2);
    let given = value::given("diagonal", "x", x)?;
    made(x.py(), || ops::diagonal(given, offset, axis1, axis2))
}

/// The sum of a `diagonal`.
///
/// >>> import extenso as ex
/// >>> ex.trace([[1, 2], [3, 4]]).item()
/// 5
#[pyfunction]
#[pyo3(signature = (x, offset=Typed::new(0), axis1=Typed::new(0), axis2=Typed::new(1)), text_signature = "(x, offset=0, axis1=0, axis2=1)")]
fn trace<'py>(x: Given<'_, 'py>, offset: Typed<i64>, axis1: Typed<i64>, axis2: Typed<i64>) -> Made<'py> {
    typed!(trace: offset, axis1, axis2);
    let given = value::given("trace", "x", x)?;
    made(x.py(), || ops::trace(given, offset, axis1, axis2))
}

/// The norm of the vectors over `axis`: their length, or the norm that `ord` names, infinities included.
///
/// >>> import extenso as ex
/// >>> ex.norm([3.0, -4.0]).item()
/// 5.0
#[pyfunction]
#[pyo3(signature = (x, ord=Typed::new(2.0), axis=None, keepdims=Typed::new(false)), text_signature = "(x, ord=2.0, axis=None, keepdims=False)")]
fn norm<'py>(x: Given<'_, 'py>, ord: Typed<f64>, axis: Option<Given<'_, 'py>>, keepdims: Typed<bool>) -> Made<'py> {
    typed!(norm: ord, keepdims);
    let (given, over) = (value::given("norm", "x", x)?, axes("norm", axis)?);
    made(x.py(), || ops::norm(given, ord, over, keepdims))
}

/// The cross product of vectors of three elements along `axis`, which broadcast in the other axes.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.cross_product([1, 0, 0], [0, 1, 0]))
/// [0, 0, 1]
#[pyfunction]
#[pyo3(signature = (x, y, axis=Typed::new(-1)), text_signature = "(x, y, axis=-1)")]
fn cross_product<'py>(x: Given<'_, 'py>, y: Given<'_, 'py>, axis: Typed<i64>) -> Made<'py> {
    typed!(cross_product: axis);
    let (given, other) = (value::given("cross_product", "x", x)?, value::given("cross_product", "y", y)?);
    made(x.py(), || ops::cross_product(given, other, axis))
}
