//! What `RaggedTensor` and the functions of rows call.
//!
//! Holds no logic of rows: arguments become values, `extenso_ext::ragged` does the work.

use crate::error::{self, OrRaise, guarded, raised};
use crate::typed::{Typed, typed};
use crate::{arg, value};
use extenso_core::{ExtensionType, MAX_RANK, Tensor, Value};
use extenso_ext::RaggedTensor;
use extenso_ext::ragged;
use extenso_types::{DType, Error, Result};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Rows>()?;
    module.add_function(wrap_pyfunction!(num, module)?)?;
    module.add_function(wrap_pyfunction!(local_index, module)?)?;
    module.add_function(wrap_pyfunction!(flatten, module)?)?;
    module.add_function(wrap_pyfunction!(unflatten, module)?)
}

/// The factories and methods of `RaggedTensor`, which documents them.
#[pyclass(name = "_Rows", module = "extenso._core", frozen)]
struct Rows;

type Object<'py> = Bound<'py, PyAny>;

#[pymethods]
impl Rows {
    #[staticmethod]
    fn from_row_splits<'py>(values: &Object<'py>, row_splits: &Object<'py>) -> PyResult<Object<'py>> {
        cut(values, row_splits, RaggedTensor::from_row_splits)
    }

    #[staticmethod]
    fn from_row_lengths<'py>(values: &Object<'py>, row_lengths: &Object<'py>) -> PyResult<Object<'py>> {
        cut(values, row_lengths, RaggedTensor::from_row_lengths)
    }

    #[staticmethod]
    #[pyo3(signature = (values, value_rowids, nrows=None))]
    fn from_value_rowids<'py>(
        values: &Object<'py>,
        value_rowids: &Object<'py>,
        nrows: Option<&Object<'py>>,
    ) -> PyResult<Object<'py>> {
        let nrows = nrows.map(|nrows| size(nrows, "nrows")).transpose()?;
        cut(values, value_rowids, |values, ids| RaggedTensor::from_value_rowids(values, ids, nrows))
    }

    #[staticmethod]
    fn from_row_starts<'py>(values: &Object<'py>, row_starts: &Object<'py>) -> PyResult<Object<'py>> {
        cut(values, row_starts, RaggedTensor::from_row_starts)
    }

    #[staticmethod]
    fn from_row_limits<'py>(values: &Object<'py>, row_limits: &Object<'py>) -> PyResult<Object<'py>> {
        cut(values, row_limits, RaggedTensor::from_row_limits)
    }

    #[staticmethod]
    #[pyo3(signature = (values, uniform_row_length, nrows=None))]
    fn from_uniform_row_length<'py>(
        values: &Object<'py>,
        uniform_row_length: &Object<'py>,
        nrows: Option<&Object<'py>>,
    ) -> PyResult<Object<'py>> {
        let (flat, length) = (value::from_py(values)?, number(uniform_row_length, "uniform_row_length")?);
        let nrows = nrows.map(|nrows| number(nrows, "nrows")).transpose()?;
        made(values.py(), || RaggedTensor::from_uniform_row_length(flat, length, nrows))
    }

    #[staticmethod]
    fn from_nested_row_splits<'py>(flat_values: &Object<'py>, splits: &Object<'py>) -> PyResult<Object<'py>> {
        let (flat, splits) = (value::from_py(flat_values)?, tensors(splits)?);
        made(flat_values.py(), || RaggedTensor::from_nested_row_splits(flat, &splits))
    }

    #[staticmethod]
    fn from_nested_row_lengths<'py>(flat_values: &Object<'py>, lengths: &Object<'py>) -> PyResult<Object<'py>> {
        let (flat, lengths) = (value::from_py(flat_values)?, tensors(lengths)?);
        made(flat_values.py(), || RaggedTensor::from_nested_row_lengths(flat, &lengths))
    }

    #[staticmethod]
    #[pyo3(signature = (tensor, lengths=None, padding=None, ragged_rank=None))]
    fn from_tensor<'py>(
        tensor: &Object<'py>,
        lengths: Option<&Object<'py>>,
        padding: Option<&Object<'py>>,
        ragged_rank: Option<&Object<'py>>,
    ) -> PyResult<Object<'py>> {
        let py = tensor.py();
        let dense = Value::from(arg::tensor(tensor, None)?);
        let nested = lengths.filter(|lengths| is_nested(lengths)).map(tensors).transpose()?;
        let depth = nested.as_ref().map_or(1, Vec::len);
        let rank = ragged_rank.map_or(Ok(depth), |rank| size(rank, "ragged_rank"))?;
        match (lengths, padding) {
            (None, None) => made(py, || RaggedTensor::from_dense(dense, rank)),
            (None, Some(padding)) => {
                let padding = arg::from_py(padding)?;
                made(py, || RaggedTensor::from_dense_padding(dense, padding, rank))
            }
            (Some(_), None) if nested.is_some() && rank == depth => {
                let lengths: Vec<Value> = nested.into_iter().flatten().map(Value::from).collect();
                made(py, || RaggedTensor::from_dense_nested_lengths(dense, &lengths))
            }
            (Some(lengths), None) if nested.is_none() && rank == 1 => {
                let lengths = arg::tensor(lengths, None)?;
                made(py, || RaggedTensor::from_dense_lengths(dense, lengths))
            }
            (Some(_), None) => {
                let error = Error::value(format!("lengths are given for a ragged_rank of {rank}"));
                Err(raised(py, error.wanted(format!("a ragged_rank of {depth}")).at("from_tensor")))
            }
            (Some(_), Some(_)) => {
                let error = Error::value("lengths and padding are given");
                Err(raised(py, error.wanted("at most one of them").at("from_tensor")))
            }
        }
    }

    #[staticmethod]
    #[pyo3(signature = (rows, default=None, shape=None))]
    fn to_tensor<'py>(
        rows: &Object<'py>,
        default: Option<&Object<'py>>,
        shape: Option<&Object<'py>>,
    ) -> PyResult<Object<'py>> {
        let (x, fill) = (value::from_py(rows)?, default.map(arg::from_py).transpose()?);
        let shape = shape.map(sizes).transpose()?;
        value::to_py(rows.py(), guarded(|| ragged::to_dense(x, fill, shape.as_deref())).or_raise()?)
    }

    #[staticmethod]
    fn flat_values<'py>(rows: &Object<'py>) -> PyResult<Object<'py>> {
        of(rows, RaggedTensor::flat_values)
    }

    #[staticmethod]
    fn nested_row_splits<'py>(rows: &Object<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let x = value::from_py(rows)?;
        let splits = guarded(|| RaggedTensor::from_value(&x)?.nested_row_splits()).or_raise()?;
        let splits: PyResult<Vec<_>> =
            splits.into_iter().map(|splits| value::to_py(rows.py(), splits.into())).collect();
        PyTuple::new(rows.py(), splits?)
    }

    #[staticmethod]
    fn bounding_shape<'py>(rows: &Object<'py>) -> PyResult<Object<'py>> {
        of(rows, |x| x.bounding_shape().map(Value::from))
    }

    #[staticmethod]
    fn ragged_rank(rows: &Object<'_>) -> PyResult<usize> {
        let x = value::from_py(rows)?;
        guarded(|| Ok(RaggedTensor::from_value(&x)?.ragged_rank())).or_raise()
    }

    #[staticmethod]
    fn rank(rows: &Object<'_>) -> PyResult<usize> {
        let x = value::from_py(rows)?;
        guarded(|| extenso_ext::rank(&x)).or_raise()
    }
}

fn made(py: Python<'_>, make: impl FnOnce() -> Result<RaggedTensor>) -> PyResult<Object<'_>> {
    value::to_py(py, guarded(|| Ok(make()?.into_value())).or_raise()?)
}

/// Rows by values and one vector.
fn cut<'py>(
    values: &Object<'py>,
    given: &Object<'py>,
    factory: impl FnOnce(Value, &Tensor) -> Result<RaggedTensor>,
) -> PyResult<Object<'py>> {
    let (flat, given) = (value::from_py(values)?, vector(given)?);
    made(values.py(), || factory(flat, &given))
}

/// A vector of integers; an empty list is one.
///
/// An array is copied: what rows are proven by must not change when its owner writes to it.
pub fn vector(given: &Object<'_>) -> PyResult<Tensor> {
    match given.cast::<PyList>() {
        Ok(list) if list.is_empty() => Ok(Tensor::from_vec::<i64>(Vec::new())),
        Ok(_) => arg::tensor(given, None),
        Err(_) if arg::is_value(given) => arg::tensor(given, None),
        Err(_) => arg::tensor(given, None).and_then(|tensor| copied(tensor).or_raise()),
    }
}

fn copied(tensor: Tensor) -> Result<Tensor> {
    let dims = tensor.data()?.dims().to_vec();
    match tensor.dtype() {
        DType::I32 => Tensor::from_vec(tensor.as_slice::<i32>()?.to_vec()).with_dims(&dims),
        DType::I64 => Tensor::from_vec(tensor.as_slice::<i64>()?.to_vec()).with_dims(&dims),
        _ => Ok(tensor),
    }
}

/// Whether lengths are of several axes: a list or tuple of vectors, and no vector itself.
fn is_nested(lengths: &Object<'_>) -> bool {
    let is_list = |object: &Object<'_>| object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
    is_list(lengths) && lengths.get_item(0).is_ok_and(|first| is_list(&first) || first.len().is_ok())
}

/// A vector for each ragged axis.
///
/// Errors: more than a tensor may have axes; one that is no vector.
fn tensors(given: &Object<'_>) -> PyResult<Vec<Tensor>> {
    let levels: Vec<Tensor> =
        given.try_iter()?.take(MAX_RANK + 1).map(|item| vector(&item?)).collect::<PyResult<_>>()?;
    if levels.len() > MAX_RANK {
        let error = Error::value("there are rows for too many axes").wanted(format!("at most {MAX_RANK}"));
        return Err(raised(given.py(), error.at("RaggedTensor")));
    }
    Ok(levels)
}

fn of<'py>(rows: &Object<'py>, f: impl FnOnce(&RaggedTensor) -> Result<Value>) -> PyResult<Object<'py>> {
    let x = value::from_py(rows)?;
    value::to_py(rows.py(), guarded(|| f(&RaggedTensor::from_value(&x)?)).or_raise()?)
}

/// An integer, by Python's protocol for them.
fn number(object: &Object<'_>, name: &str) -> PyResult<i64> {
    let Ok(index) = object.call_method0("__index__") else {
        let error = Error::dtype(format!("{name} is a {}", arg::type_name(object))).wanted("an integer");
        return Err(raised(object.py(), error));
    };
    arg::int(&index).map_err(|e| error::at(object.py(), e, name))
}

fn size(object: &Object<'_>, name: &str) -> PyResult<usize> {
    let given = number(object, name)?;
    usize::try_from(given).map_err(|_| {
        let error = Error::value(format!("{name} is {given}")).wanted("a number that is not negative");
        raised(object.py(), error)
    })
}

/// The sizes of a shape; `None` and -1 stand for a size that stays.
fn sizes(shape: &Object<'_>) -> PyResult<Vec<Option<i64>>> {
    let size = |item: Object<'_>| {
        if item.is_none() {
            return Ok(None);
        }
        Ok(Some(number(&item, "a size of the shape")?).filter(|&n| n != -1))
    };
    shape.try_iter()?.map(|item| size(item?)).collect()
}

/// The number of elements of each list along `axis`; the number of rows for axis 0.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.num(ex.constant([[1, 2], [], [3]])))
/// [2, 0, 1]
#[pyfunction]
#[pyo3(signature = (x, axis=Typed::new(1)), text_signature = "(x, axis=1)")]
fn num<'py>(x: &Object<'py>, axis: Typed<i64>) -> PyResult<Object<'py>> {
    typed!(num: axis);
    let values = value::given("num", "x", x)?;
    value::to_py(x.py(), guarded(|| ragged::num(values, axis)).or_raise()?)
}

/// The position of each element in its list along `axis`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.local_index(ex.constant([[7, 7], [], [7]])))
/// [[0, 1], [], [0]]
#[pyfunction]
#[pyo3(signature = (x, axis=Typed::new(-1)), text_signature = "(x, axis=-1)")]
fn local_index<'py>(x: &Object<'py>, axis: Typed<i64>) -> PyResult<Object<'py>> {
    typed!(local_index: axis);
    let values = value::given("local_index", "x", x)?;
    value::to_py(x.py(), guarded(|| ragged::local_index(values, axis)).or_raise()?)
}

/// The value without the level of nesting at `axis`; without an axis, one list of everything.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.flatten(ex.constant([[1, 2], [], [3]])))
/// [1, 2, 3]
#[pyfunction]
#[pyo3(signature = (x, axis=None))]
fn flatten<'py>(x: &Object<'py>, axis: Option<Typed<i64>>) -> PyResult<Object<'py>> {
    typed!(flatten: axis);
    let values = value::given("flatten", "x", x)?;
    value::to_py(x.py(), guarded(|| ragged::flatten(values, axis)).or_raise()?)
}

/// The list cut into lists of `counts` elements; one number cuts it into lists of that length.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.unflatten([1, 2, 3], [2, 0, 1]))
/// [[1, 2], [], [3]]
#[pyfunction]
fn unflatten<'py>(flat: &Object<'py>, counts: &Object<'py>) -> PyResult<Object<'py>> {
    let (values, counts) = (value::given("unflatten", "flat", flat)?, arg::given("unflatten", "counts", counts)?);
    value::to_py(flat.py(), guarded(|| ragged::unflatten(values, counts)).or_raise()?)
}
