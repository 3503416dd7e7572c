//! Features: functions that are no ops, as Rust has them.
//!
//! Invariant: no logic of a function stands here.

use crate::error::{OrRaise, guarded};
use crate::strings::list;
use crate::typed::{Typed, typed};
use crate::{arg, dtype, value};
use extenso_core::{Arg, Value, ops};
use extenso_ext::Combiner;
use extenso_types::{DType, Error, Result};
use pyo3::prelude::*;

type Given<'a, 'py> = &'a Bound<'py, PyAny>;
type Made<'py> = PyResult<Bound<'py, PyAny>>;

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    macro_rules! add {
        ($($name:ident)*) => { $(module.add_function(wrap_pyfunction!($name, module)?)?;)* };
    }
    add! { digitize cross cross_hashed multi_hot embedding_lookup z_score min_max_scale }
    Ok(())
}

fn made<'py>(py: Python<'py>, make: impl FnOnce() -> Result<Value>) -> Made<'py> {
    value::to_py(py, guarded(make).or_raise()?)
}

/// The bucket of each number between `bins`: `bucketize` with the arguments of NumPy's `digitize`.
///
/// With `right` a number that is a boundary is in the bucket to the left of it.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.digitize([0.5, 1.0, 9.0], [1.0, 2.0]))
/// [0, 1, 2]
#[pyfunction]
#[pyo3(signature = (x, bins, right=Typed::new(false)), text_signature = "(x, bins, right=False)")]
fn digitize<'py>(x: Given<'_, 'py>, bins: Given<'_, 'py>, right: Typed<bool>) -> Made<'py> {
    typed!(digitize: right);
    let (x, bins, py) = (arg::given("digitize", "x", x)?, arg::given("digitize", "bins", bins)?, x.py());
    made(py, || ops::digitize(x, bins, right))
}

/// In each row, every combination of one value of each input, as text with `separator` between the values.
///
/// `inputs` is a list of rows of strings or integers; values of the last one change first. The crosses are those of `tf.ragged.cross`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.cross([ex.constant([["a"], ["b", "c"]]), ex.constant([["d"], ["e"]])]))
/// [['a_X_d'], ['b_X_e', 'c_X_e']]
#[pyfunction]
#[pyo3(signature = (inputs, separator=Typed::new("_X_")), text_signature = "(inputs, separator=\"_X_\")")]
fn cross<'py>(inputs: Given<'_, 'py>, separator: Typed<&str>) -> Made<'py> {
    typed!(cross: separator);
    let values = values("cross", inputs)?;
    made(inputs.py(), || extenso_ext::cross(&values, separator))
}

/// In each row, a number for every combination of one value of each input: its fingerprint, from 0 to below `num_buckets`.
///
/// With 0 buckets the fingerprint is taken modulo the greatest i64. The numbers are those of `tf.ragged.cross_hashed`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.cross_hashed([ex.constant([["a"], ["b", "c"]]), ex.constant([["d"], ["e"]])], 10))
/// [[2], [1, 1]]
#[pyfunction]
#[pyo3(signature = (inputs, num_buckets=Typed::new(0), key=Typed::new(extenso_ext::CROSS_KEY)), text_signature = "(inputs, num_buckets=0, key=956888297470)")]
fn cross_hashed<'py>(inputs: Given<'_, 'py>, num_buckets: Typed<i64>, key: Typed<i64>) -> Made<'py> {
    typed!(cross_hashed: num_buckets, key);
    let values = values("cross_hashed", inputs)?;
    made(inputs.py(), || extenso_ext::cross_hashed(&values, num_buckets, key))
}

/// The values of a list.
fn values(function: &'static str, inputs: Given<'_, '_>) -> PyResult<Vec<Value>> {
    let value = |(i, arg): (usize, Arg)| match arg {
        Arg::Value(value) => Ok(value),
        Arg::Scalar(_) | Arg::List(_) => Err(Error::dtype("found a single number or text")
            .wanted("rows of values")
            .at(format!("input {}", i + 1))
            .at(function)),
    };
    list(function, inputs)?.into_iter().enumerate().map(value).collect::<Result<_>>().or_raise()
}

/// For each innermost row of `ids` a vector of `depth` numbers: one at each position that an id of the row names, zero elsewhere.
///
/// An id outside, and one that is missing, names no position.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.multi_hot(ex.constant([[0, 2, 2], []]), 3, dtype="i64"))
/// [[1, 0, 1], [0, 0, 0]]
#[pyfunction]
#[pyo3(signature = (ids, depth, dtype=None))]
fn multi_hot<'py>(ids: Given<'_, 'py>, depth: Typed<i64>, dtype: Option<Given<'_, 'py>>) -> Made<'py> {
    typed!(multi_hot: depth);
    let given = value::given("multi_hot", "ids", ids)?;
    let dtype = dtype.map_or(Ok(DType::F64), dtype::from_py)?;
    made(ids.py(), || extenso_ext::multi_hot(&given, depth, dtype))
}

/// For each innermost row of `ids` the rows of `params` that the ids name, combined into one: their `sum`, `mean` or `sqrtn`.
///
/// Each is multiplied by its weight, if there are weights; and before that shortened to the length `max_norm`, if it is longer. A row
/// without ids gives zeros; an id that is missing is left out. The result has gradients with respect to params and weights.
///
/// >>> import extenso as ex
/// >>> params = ex.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
/// >>> ex.to_py(ex.embedding_lookup(params, ex.constant([[0, 2], []])))
/// [[3.0, 4.0], [0.0, 0.0]]
#[pyfunction]
#[pyo3(signature = (params, ids, weights=None, combiner=Typed::new("mean"), max_norm=None), text_signature = "(params, ids, weights=None, combiner=\"mean\", max_norm=None)")]
fn embedding_lookup<'py>(
    params: Given<'_, 'py>,
    ids: Given<'_, 'py>,
    weights: Option<Given<'_, 'py>>,
    combiner: Typed<&str>,
    max_norm: Option<Typed<f64>>,
) -> Made<'py> {
    typed!(embedding_lookup: combiner, max_norm);
    let (table, places, weights) = (
        value::given("embedding_lookup", "params", params)?,
        value::given("embedding_lookup", "ids", ids)?,
        arg::optional("embedding_lookup", "weights", weights)?,
    );
    made(params.py(), || {
        let combiner: Combiner = combiner.parse().map_err(|e: Error| e.at("embedding_lookup"))?;
        extenso_ext::embedding_lookup(&table, &places, weights.as_ref(), combiner, max_norm)
    })
}

/// `(x - mean) / deviation`, and zero where the deviation is zero; without them, those of all elements of `x`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.z_score([1.0, 3.0]))
/// [-1.0, 1.0]
#[pyfunction]
#[pyo3(signature = (x, mean=None, deviation=None))]
fn z_score<'py>(x: Given<'_, 'py>, mean: Option<Given<'_, 'py>>, deviation: Option<Given<'_, 'py>>) -> Made<'py> {
    let (numbers, mean, deviation) = (
        arg::given("z_score", "x", x)?,
        arg::optional("z_score", "mean", mean)?,
        arg::optional("z_score", "deviation", deviation)?,
    );
    made(x.py(), || ops::z_score(numbers, mean, deviation))
}

/// `(x - low) / (high - low)`, and zero where both ends are one; without them, the ends of all elements of `x`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.min_max_scale([1.0, 2.0, 5.0]))
/// [0.0, 0.25, 1.0]
#[pyfunction]
#[pyo3(signature = (x, low=None, high=None))]
fn min_max_scale<'py>(x: Given<'_, 'py>, low: Option<Given<'_, 'py>>, high: Option<Given<'_, 'py>>) -> Made<'py> {
    let (numbers, low, high) = (
        arg::given("min_max_scale", "x", x)?,
        arg::optional("min_max_scale", "low", low)?,
        arg::optional("min_max_scale", "high", high)?,
    );
    made(x.py(), || ops::min_max_scale(numbers, low, high))
}
