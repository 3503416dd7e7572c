//! Functions of the standard that are no ops, as Rust has them.

use super::device as only;
use crate::composed::attribute;
use crate::error::{self, OrRaise, guarded};
use crate::rearrange::{Given, Made, axes, dtype_of, made, made_list};
use crate::typed::{Typed, typed};
use crate::{arg, dtype, value};
use extenso_core::ops::{self, Indexing};
use extenso_core::{Tensor, Value};
use extenso_ext::lists;
use extenso_types::{DType, Error, Result};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyTuple};

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    macro_rules! add {
        ($($name:ident)*) => { $(module.add_function(wrap_pyfunction!($name, module)?)?;)* };
    }
    add! { astype empty empty_like full_like tril triu permute_dims matrix_transpose moveaxis broadcast_arrays meshgrid }
    add! { count_nonzero covar corr moment var deviation diff unique_all unique_counts unique_inverse unique_values }
    Ok(())
}

/// Elements in another dtype; `cast` under the name of the standard. A tensor of that dtype is itself, whatever `copy` says.
///
/// >>> import extenso as ex
/// >>> ex.astype(ex.tensor([1.5]), ex.int64)
/// Tensor([1], i64[1])
#[pyfunction]
#[pyo3(signature = (x, dtype, copy=Typed::new(true), device=None), text_signature = "(x, dtype, copy=True, device=None)")]
fn astype<'py>(
    x: Given<'_, 'py>,
    dtype: Given<'_, 'py>,
    copy: Typed<bool>,
    device: Option<Given<'_, 'py>>,
) -> Made<'py> {
    typed!(astype: copy);
    // Values are immutable, so that no one can tell a copy from the value.
    let _ = copy;
    only(device)?;
    let (given, dtype) = (value::given("astype", "x", x)?, dtype::from_py(dtype)?);
    made(x.py(), || ops::cast(given, dtype).map_err(|e| e.at_part("astype")))
}

/// Zeros of a shape, in f64 or `dtype`: a tensor cannot be filled later, so that it never holds anything else.
///
/// >>> import extenso as ex
/// >>> ex.empty(2)
/// Tensor([0.0, 0.0], f64[2])
#[pyfunction]
#[pyo3(signature = (shape, dtype=None, device=None))]
fn empty<'py>(shape: Given<'_, 'py>, dtype: Option<Given<'_, 'py>>, device: Option<Given<'_, 'py>>) -> Made<'py> {
    only(device)?;
    let (sizes, dtype) = (attribute::<Vec<i64>>("empty", "shape", shape)?, dtype_of(dtype)?);
    made(shape.py(), || ops::zeros(sizes, dtype.unwrap_or(DType::F64)))
}

/// Zeros of the shape and dtype of `x`, or in `dtype`: a tensor cannot be filled later.
///
/// >>> import extenso as ex
/// >>> ex.empty_like(ex.tensor([1, 2]))
/// Tensor([0, 0], i64[2])
#[pyfunction]
#[pyo3(signature = (x, dtype=None, device=None))]
fn empty_like<'py>(x: Given<'_, 'py>, dtype: Option<Given<'_, 'py>>, device: Option<Given<'_, 'py>>) -> Made<'py> {
    only(device)?;
    let (given, dtype) = (value::given("empty_like", "x", x)?, dtype_of(dtype)?);
    let zeros = || match dtype {
        Some(dtype) => ops::cast(ops::zeros_like(given)?, dtype),
        None => ops::zeros_like(given),
    };
    made(x.py(), || zeros().map_err(|e| e.at("empty_like")))
}

/// `fill_value` at each place of the shape of `x`, in the dtype of `x` or in `dtype`.
///
/// >>> import extenso as ex
/// >>> ex.full_like(ex.tensor([1, 2]), 7)
/// Tensor([7, 7], i64[2])
#[pyfunction]
#[pyo3(signature = (x, fill_value, dtype=None, device=None))]
fn full_like<'py>(
    x: Given<'_, 'py>,
    fill_value: Given<'_, 'py>,
    dtype: Option<Given<'_, 'py>>,
    device: Option<Given<'_, 'py>>,
) -> Made<'py> {
    only(device)?;
    let (given, fill, dtype) =
        (value::given("full_like", "x", x)?, arg::given("full_like", "fill_value", fill_value)?, dtype_of(dtype)?);
    made(x.py(), || ops::full_like(given, fill, dtype))
}

/// The lower triangles of matrices: zero where the column is more than `k` right of the row.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.tril([[1, 2], [3, 4]]))
/// [[1, 0], [3, 4]]
#[pyfunction]
#[pyo3(signature = (x, k=Typed::new(0)), text_signature = "(x, k=0)")]
fn tril<'py>(x: Given<'_, 'py>, k: Typed<i64>) -> Made<'py> {
    typed!(tril: k);
    let given = value::given("tril", "x", x)?;
    made(x.py(), || ops::tril(given, k))
}

/// The upper triangles of matrices: zero where the column is less than `k` right of the row.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.triu([[1, 2], [3, 4]]))
/// [[1, 2], [0, 4]]
#[pyfunction]
#[pyo3(signature = (x, k=Typed::new(0)), text_signature = "(x, k=0)")]
fn triu<'py>(x: Given<'_, 'py>, k: Typed<i64>) -> Made<'py> {
    typed!(triu: k);
    let given = value::given("triu", "x", x)?;
    made(x.py(), || ops::triu(given, k))
}

/// The axes in the order of `axes`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.permute_dims([[1, 2]], (1, 0)))
/// [[1], [2]]
#[pyfunction]
fn permute_dims<'py>(x: Given<'_, 'py>, axes: Given<'_, 'py>) -> Made<'py> {
    let (given, axes) = (value::given("permute_dims", "x", x)?, attribute::<Vec<i64>>("permute_dims", "axes", axes)?);
    made(x.py(), || ops::permute_dims(given, axes))
}

/// Matrices with rows and columns exchanged: the last two axes.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.matrix_transpose([[1, 2]]))
/// [[1], [2]]
#[pyfunction]
fn matrix_transpose<'py>(x: Given<'_, 'py>) -> Made<'py> {
    let given = value::given("matrix_transpose", "x", x)?;
    made(x.py(), || ops::matrix_transpose(given))
}

/// The axes at `source` moved to `destination`; the others stay in order.
///
/// >>> import extenso as ex
/// >>> ex.moveaxis(ex.zeros((2, 3, 4)), -1, 0).shape
/// (4, 2, 3)
#[pyfunction]
fn moveaxis<'py>(x: Given<'_, 'py>, source: Given<'_, 'py>, destination: Given<'_, 'py>) -> Made<'py> {
    let given = value::given("moveaxis", "x", x)?;
    let (from, to) = (
        attribute::<Vec<i64>>("moveaxis", "source", source)?,
        attribute::<Vec<i64>>("moveaxis", "destination", destination)?,
    );
    made(x.py(), || ops::moveaxis(given, from, to))
}

/// Values repeated to the one shape that they broadcast to together, and to the same rows.
///
/// >>> import extenso as ex
/// >>> [ex.to_py(x) for x in ex.broadcast_arrays([1, 2], [[3], [4]])]
/// [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
#[pyfunction]
#[pyo3(signature = (*arrays))]
fn broadcast_arrays<'py>(arrays: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyList>> {
    let values = values("broadcast_arrays", arrays)?;
    made_list(arrays.py(), || ops::broadcast_arrays(&values))
}

fn values(function: &str, arrays: &Bound<'_, PyTuple>) -> PyResult<Vec<Value>> {
    let one = |(i, array): (usize, Bound<'_, PyAny>)| {
        value::from_py(&array).map_err(|e| error::at(array.py(), e, &format!("{function}: [{i}]")))
    };
    arrays.iter().enumerate().map(one).collect()
}

/// The coordinates of a grid: for each vector a tensor that repeats it along the axes of the others.
///
/// With `indexing` "xy" the first vector lies along the second axis, with "ij" along the first.
///
/// >>> import extenso as ex
/// >>> [ex.to_py(x) for x in ex.meshgrid([1, 2], [7], indexing="ij")]
/// [[[1], [2]], [[7], [7]]]
#[pyfunction]
#[pyo3(signature = (*arrays, indexing=Typed::new("xy")), text_signature = "(*arrays, indexing=\"xy\")")]
fn meshgrid<'py>(arrays: &Bound<'py, PyTuple>, indexing: Typed<&str>) -> PyResult<Bound<'py, PyList>> {
    typed!(meshgrid: indexing);
    let indexing = match indexing {
        "xy" => Indexing::Xy,
        "ij" => Indexing::Ij,
        other => {
            let error = Error::value(format!("indexing is '{other}'")).wanted("'xy' or 'ij'");
            return Err(error.at("meshgrid")).or_raise();
        }
    };
    let values = values("meshgrid", arrays)?;
    made_list(arrays.py(), || ops::meshgrid(&values, indexing))
}

/// The number of elements over `axis` that are not zero.
///
/// >>> import extenso as ex
/// >>> ex.count_nonzero([0, 5, 7]).item()
/// 2
#[pyfunction]
#[pyo3(signature = (x, axis=None, keepdims=Typed::new(false)), text_signature = "(x, axis=None, keepdims=False)")]
fn count_nonzero<'py>(x: Given<'_, 'py>, axis: Option<Given<'_, 'py>>, keepdims: Typed<bool>) -> Made<'py> {
    typed!(count_nonzero: keepdims);
    let (given, axis) = (value::given("count_nonzero", "x", x)?, axes("count_nonzero", axis)?);
    made(x.py(), || ops::count_nonzero(given, axis, keepdims))
}

/// The variance over `axis`: the sum of the squared distances from the mean, divided by the count less `correction`.
///
/// >>> import extenso as ex
/// >>> ex.var([1.0, 3.0]).item(), ex.var([1.0, 3.0], correction=1).item()
/// (1.0, 2.0)
#[pyfunction]
#[pyo3(signature = (x, axis=None, correction=Typed::new(0.0), keepdims=Typed::new(false)), text_signature = "(x, axis=None, correction=0.0, keepdims=False)")]
fn var<'py>(
    x: Given<'_, 'py>,
    axis: Option<Given<'_, 'py>>,
    correction: Typed<f64>,
    keepdims: Typed<bool>,
) -> Made<'py> {
    typed!(var: correction, keepdims);
    let (given, axis) = (value::given("var", "x", x)?, axes("var", axis)?);
    made(x.py(), || lists::var(&given, &axis, correction, keepdims))
}

/// The covariance of `x` and `y` over `axis`: the sum of the products of their distances from the means, divided by the count less `correction`.
///
/// Where one is missing, neither counts.
///
/// >>> import extenso as ex
/// >>> ex.covar([1.0, 3.0], [0.0, 4.0]).item()
/// 2.0
#[pyfunction]
#[pyo3(signature = (x, y, axis=None, correction=Typed::new(0.0), keepdims=Typed::new(false)), text_signature = "(x, y, axis=None, correction=0.0, keepdims=False)")]
fn covar<'py>(
    x: Given<'_, 'py>,
    y: Given<'_, 'py>,
    axis: Option<Given<'_, 'py>>,
    correction: Typed<f64>,
    keepdims: Typed<bool>,
) -> Made<'py> {
    typed!(covar: correction, keepdims);
    let (a, b, axis) = (value::given("covar", "x", x)?, value::given("covar", "y", y)?, axes("covar", axis)?);
    made(x.py(), || lists::covar(&a, &b, &axis, correction, keepdims))
}

/// The correlation of `x` and `y` over `axis`: their covariance, divided by the standard deviations of both.
///
/// >>> import extenso as ex
/// >>> ex.corr([1.0, 2.0, 3.0], [6.0, 4.0, 2.0]).item()
/// -1.0
#[pyfunction]
#[pyo3(signature = (x, y, axis=None, keepdims=Typed::new(false)), text_signature = "(x, y, axis=None, keepdims=False)")]
fn corr<'py>(x: Given<'_, 'py>, y: Given<'_, 'py>, axis: Option<Given<'_, 'py>>, keepdims: Typed<bool>) -> Made<'py> {
    typed!(corr: keepdims);
    let (a, b, axis) = (value::given("corr", "x", x)?, value::given("corr", "y", y)?, axes("corr", axis)?);
    made(x.py(), || lists::corr(&a, &b, &axis, keepdims))
}

/// The `n`-th raw moment over `axis`: the mean of the `n`-th powers.
///
/// >>> import extenso as ex
/// >>> ex.moment([1.0, 3.0], 2).item()
/// 5.0
#[pyfunction]
#[pyo3(signature = (x, n, axis=None, keepdims=Typed::new(false)), text_signature = "(x, n, axis=None, keepdims=False)")]
fn moment<'py>(x: Given<'_, 'py>, n: Typed<i64>, axis: Option<Given<'_, 'py>>, keepdims: Typed<bool>) -> Made<'py> {
    typed!(moment: n, keepdims);
    let (given, axis) = (value::given("moment", "x", x)?, axes("moment", axis)?);
    made(x.py(), || lists::moment(&given, n, &axis, keepdims))
}

/// The standard deviation over `axis`: the square root of `var`.
///
/// >>> import extenso as ex
/// >>> ex.std([1.0, 3.0]).item()
/// 1.0
#[pyfunction]
#[pyo3(name = "std", signature = (x, axis=None, correction=Typed::new(0.0), keepdims=Typed::new(false)), text_signature = "(x, axis=None, correction=0.0, keepdims=False)")]
fn deviation<'py>(
    x: Given<'_, 'py>,
    axis: Option<Given<'_, 'py>>,
    correction: Typed<f64>,
    keepdims: Typed<bool>,
) -> Made<'py> {
    typed!(std: correction, keepdims);
    let (given, axis) = (value::given("std", "x", x)?, axes("std", axis)?);
    made(x.py(), || lists::std(&given, &axis, correction, keepdims))
}

/// How much each element along `axis` is more than the one before it, `n` times over.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.diff([1, 4, 9])), ex.to_py(ex.diff([1, 4], prepend=[0]))
/// ([3, 5], [1, 3])
#[pyfunction]
#[pyo3(signature = (x, axis=Typed::new(-1), n=Typed::new(1), prepend=None, append=None), text_signature = "(x, axis=-1, n=1, prepend=None, append=None)")]
fn diff<'py>(
    x: Given<'_, 'py>,
    axis: Typed<i64>,
    n: Typed<i64>,
    prepend: Option<Given<'_, 'py>>,
    append: Option<Given<'_, 'py>>,
) -> Made<'py> {
    typed!(diff: axis, n);
    let given = value::given("diff", "x", x)?;
    let (front, behind) = (
        prepend.map(|prepend| value::given("diff", "prepend", prepend)).transpose()?,
        append.map(|append| value::given("diff", "append", append)).transpose()?,
    );
    made(x.py(), || match given {
        Value::Ext(_) => {
            let parts: Vec<Value> = front.into_iter().chain([given]).chain(behind).collect();
            ops::concat(parts, axis).and_then(|x| lists::diff(&x, n, axis)).map_err(|e| e.at("diff"))
        }
        dense => ops::diff(dense, axis, n, front, behind),
    })
}

/// The distinct elements in increasing order, where each stands first, which of them each element is, and their counts.
///
/// >>> import extenso as ex
/// >>> found = ex.unique_all([5, 3, 5])
/// >>> ex.to_py(found.values), ex.to_py(found.inverse_indices)
/// ([3, 5], [1, 0, 1])
#[pyfunction]
fn unique_all<'py>(x: Given<'_, 'py>) -> Made<'py> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    named(&CLASS, x, "unique_all", &["values", "indices", "inverse_indices", "counts"], |x| {
        let found = ops::unique_all(x)?;
        Ok(vec![found.values, found.indices, found.inverse_indices, found.counts])
    })
}

/// The distinct elements in increasing order, and how often each stands there.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.unique_counts([5, 3, 5]).counts)
/// [1, 2]
#[pyfunction]
fn unique_counts<'py>(x: Given<'_, 'py>) -> Made<'py> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    named(&CLASS, x, "unique_counts", &["values", "counts"], |x| {
        ops::unique_counts(x).map(|(values, counts)| vec![values, counts])
    })
}

/// The distinct elements in increasing order, and which of them each element is.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.unique_inverse([5, 3, 5]).inverse_indices)
/// [1, 0, 1]
#[pyfunction]
fn unique_inverse<'py>(x: Given<'_, 'py>) -> Made<'py> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    named(&CLASS, x, "unique_inverse", &["values", "inverse_indices"], |x| {
        ops::unique_inverse(x).map(|(values, inverse)| vec![values, inverse])
    })
}

/// The distinct elements in increasing order, as a vector.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.unique_values([5, 3, 5]))
/// [3, 5]
#[pyfunction]
fn unique_values<'py>(x: Given<'_, 'py>) -> Made<'py> {
    let given = value::given("unique_values", "x", x)?;
    made(x.py(), || ops::unique_values(given))
}

/// What a function gives as a named tuple, whose class is made when it is first asked for.
fn named<'py>(
    class: &'static PyOnceLock<Py<PyAny>>,
    x: Given<'_, 'py>,
    name: &str,
    fields: &[&str],
    make: impl FnOnce(Value) -> Result<Vec<Value>>,
) -> Made<'py> {
    let py = x.py();
    let given = value::given(name, "x", x)?;
    let found: PyResult<Vec<_>> =
        guarded(|| make(given)).or_raise()?.into_iter().map(|found| value::to_py(py, found)).collect();
    let class = class.get_or_try_init(py, || {
        let namedtuple = py.import("collections")?.getattr("namedtuple")?;
        PyResult::Ok(namedtuple.call1((format!("{name}_result"), fields.to_vec()))?.unbind())
    })?;
    class.bind(py).call1(PyTuple::new(py, found?)?)
}

/// A tensor with the last two axes exchanged.
pub fn transposed<'py>(py: Python<'py>, tensor: &Tensor) -> Made<'py> {
    made(py, || ops::matrix_transpose(tensor))
}
