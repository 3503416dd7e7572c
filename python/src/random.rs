//! Random numbers of distributions: functions that are no ops, as Rust has them; `extenso.random` has them by short names.
//!
//! Invariant: no logic of a function stands here.

use crate::arg;
use crate::composed::attribute;
use crate::error::{self, OrRaise, guarded};
use crate::rearrange::{Given, Made, dtype_of, made};
use crate::typed::{Typed, typed};
use crate::value;
use extenso_core::{Scalar, ops};
use extenso_ext::lists;
use extenso_types::{DType, Error};
use pyo3::prelude::*;
use pyo3::types::PyInt;

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    macro_rules! add {
        ($($name:ident)*) => { $(module.add_function(wrap_pyfunction!($name, module)?)?;)* };
    }
    add! { random_key random_split random_fold_in random_uniform random_normal random_truncated_normal }
    add! { random_exponential random_gumbel random_bernoulli random_categorical random_permutation random_shuffle }
    add! { random_choice dropout }
    Ok(())
}

fn sizes(function: &str, shape: Given<'_, '_>) -> PyResult<Vec<i64>> {
    attribute(function, "shape", shape)
}

fn float(dtype: Option<Given<'_, '_>>) -> PyResult<DType> {
    Ok(dtype_of(dtype)?.unwrap_or(DType::F64))
}

/// The key of a seed, `u32[2]`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.random_key(2**32 + 5))
/// [5, 1]
#[pyfunction]
fn random_key<'py>(seed: Given<'_, 'py>) -> Made<'py> {
    let number: Result<u64, _> = seed.extract();
    let wanted =
        || Error::value(format!("the seed is {seed}")).wanted("an integer from 0 to 2**64 - 1").at("random_key");
    let number = number.map_err(|_| wanted()).or_raise()?;
    made(seed.py(), || ops::random_key(number))
}

/// `count` keys that come from one: streams of random numbers that have nothing to do with each other.
///
/// >>> import extenso as ex
/// >>> ex.random_split(42, 3).shape
/// (3, 2)
#[pyfunction]
#[pyo3(signature = (key, count=Typed::new(2)), text_signature = "(key, count=2)")]
fn random_split<'py>(key: Given<'_, 'py>, count: Typed<i64>) -> Made<'py> {
    typed!(random_split: count);
    let from = arg::given("random_split", "key", key)?;
    made(key.py(), || ops::random_split(from, count))
}

/// The key that comes from a key and an integer, say the number of a step; one for each of several integers.
///
/// >>> import extenso as ex
/// >>> ex.random_fold_in(42, 7).shape
/// (2,)
#[pyfunction]
fn random_fold_in<'py>(key: Given<'_, 'py>, data: Given<'_, 'py>) -> Made<'py> {
    let (from, number) = (arg::given("random_fold_in", "key", key)?, arg::given("random_fold_in", "data", data)?);
    made(key.py(), || ops::random_fold_in(from, number))
}

/// Floats from `low` up to `high`, every one as likely as the others, in f64 or `dtype`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.random_uniform(0, 2))
/// [0.6004990931643306, 0.7533912179792955]
#[pyfunction]
#[pyo3(signature = (key, shape, low=Typed::new(0.0), high=Typed::new(1.0), dtype=None), text_signature = "(key, shape, low=0.0, high=1.0, dtype=None)")]
fn random_uniform<'py>(
    key: Given<'_, 'py>,
    shape: Given<'_, 'py>,
    low: Typed<f64>,
    high: Typed<f64>,
    dtype: Option<Given<'_, 'py>>,
) -> Made<'py> {
    typed!(random_uniform: low, high);
    let (from, shape, dtype) =
        (arg::given("random_uniform", "key", key)?, sizes("random_uniform", shape)?, float(dtype)?);
    made(key.py(), || ops::random_uniform(from, shape, low, high, dtype))
}

/// Normal numbers of a mean and a standard deviation, in f64 or `dtype`.
///
/// >>> import extenso as ex
/// >>> ex.random_normal(0, (2, 3), dtype="f32").shape
/// (2, 3)
#[pyfunction]
#[pyo3(signature = (key, shape, mean=Typed::new(0.0), stddev=Typed::new(1.0), dtype=None), text_signature = "(key, shape, mean=0.0, stddev=1.0, dtype=None)")]
fn random_normal<'py>(
    key: Given<'_, 'py>,
    shape: Given<'_, 'py>,
    mean: Typed<f64>,
    stddev: Typed<f64>,
    dtype: Option<Given<'_, 'py>>,
) -> Made<'py> {
    typed!(random_normal: mean, stddev);
    let (from, shape, dtype) =
        (arg::given("random_normal", "key", key)?, sizes("random_normal", shape)?, float(dtype)?);
    made(key.py(), || ops::random_normal(from, shape, mean, stddev, dtype))
}

/// Numbers of the standard normal distribution between `low` and `high`, in f64 or `dtype`.
///
/// >>> import extenso as ex
/// >>> x = ex.random_truncated_normal(0, 100, -1.0, 1.0)
/// >>> ex.all(ex.less_equal(ex.abs(x), 1.0)).item()
/// True
#[pyfunction]
#[pyo3(
    signature = (key, shape, low=Typed::new(-2.0), high=Typed::new(2.0), dtype=None),
    text_signature = "(key, shape, low=-2.0, high=2.0, dtype=None)"
)]
fn random_truncated_normal<'py>(
    key: Given<'_, 'py>,
    shape: Given<'_, 'py>,
    low: Typed<f64>,
    high: Typed<f64>,
    dtype: Option<Given<'_, 'py>>,
) -> Made<'py> {
    typed!(random_truncated_normal: low, high);
    let (from, shape, dtype) =
        (arg::given("random_truncated_normal", "key", key)?, sizes("random_truncated_normal", shape)?, float(dtype)?);
    made(key.py(), || ops::random_truncated_normal(from, shape, low, high, dtype))
}

/// Numbers of the exponential distribution of rate 1, in f64 or `dtype`.
///
/// >>> import extenso as ex
/// >>> ex.all(ex.greater_equal(ex.random_exponential(0, 100), 0.0)).item()
/// True
#[pyfunction]
#[pyo3(signature = (key, shape, dtype=None))]
fn random_exponential<'py>(key: Given<'_, 'py>, shape: Given<'_, 'py>, dtype: Option<Given<'_, 'py>>) -> Made<'py> {
    let (from, shape, dtype) =
        (arg::given("random_exponential", "key", key)?, sizes("random_exponential", shape)?, float(dtype)?);
    made(key.py(), || ops::random_exponential(from, shape, dtype))
}

/// Numbers of the standard Gumbel distribution, in f64 or `dtype`.
///
/// >>> import extenso as ex
/// >>> ex.random_gumbel(0, 3, dtype="f32").dtype
/// extenso.f32
#[pyfunction]
#[pyo3(signature = (key, shape, dtype=None))]
fn random_gumbel<'py>(key: Given<'_, 'py>, shape: Given<'_, 'py>, dtype: Option<Given<'_, 'py>>) -> Made<'py> {
    let (from, shape, dtype) =
        (arg::given("random_gumbel", "key", key)?, sizes("random_gumbel", shape)?, float(dtype)?);
    made(key.py(), || ops::random_gumbel(from, shape, dtype))
}

/// True with probability `p`, in `shape`, or in the shape of `p`.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.random_bernoulli(0, [0.0, 1.0]))
/// [False, True]
#[pyfunction]
#[pyo3(signature = (key, p, shape=None))]
fn random_bernoulli<'py>(key: Given<'_, 'py>, p: Given<'_, 'py>, shape: Option<Given<'_, 'py>>) -> Made<'py> {
    let (from, p, shape) = (
        arg::given("random_bernoulli", "key", key)?,
        arg::given("random_bernoulli", "p", p)?,
        shape.map(|shape| sizes("random_bernoulli", shape)).transpose()?,
    );
    made(key.py(), || lists::random_bernoulli(from, p, shape))
}

/// For each vector of logarithms of weights along `axis` a position, drawn by the weights.
///
/// >>> import extenso as ex
/// >>> ex.random_categorical(0, [float("-inf"), 0.0]).item()
/// 1
#[pyfunction]
#[pyo3(signature = (key, logits, axis=Typed::new(-1)), text_signature = "(key, logits, axis=-1)")]
fn random_categorical<'py>(key: Given<'_, 'py>, logits: Given<'_, 'py>, axis: Typed<i64>) -> Made<'py> {
    typed!(random_categorical: axis);
    let (from, logits) =
        (arg::given("random_categorical", "key", key)?, value::given("random_categorical", "logits", logits)?);
    made(key.py(), || extenso_ext::lists::random_categorical(from, &logits, axis))
}

/// The integers from 0 up to `count` in random order.
///
/// >>> import extenso as ex
/// >>> sorted(ex.random_permutation(0, 4).tolist())
/// [0, 1, 2, 3]
#[pyfunction]
fn random_permutation<'py>(key: Given<'_, 'py>, count: Typed<i64>) -> Made<'py> {
    typed!(random_permutation: count);
    let from = arg::given("random_permutation", "key", key)?;
    made(key.py(), || ops::random_permutation(from, count))
}

/// The elements of `x` along `axis` in random order; what stands at one position stays together.
///
/// >>> import extenso as ex
/// >>> sorted(ex.random_shuffle(0, [7, 8, 9]).tolist())
/// [7, 8, 9]
#[pyfunction]
#[pyo3(signature = (key, x, axis=Typed::new(0)), text_signature = "(key, x, axis=0)")]
fn random_shuffle<'py>(key: Given<'_, 'py>, x: Given<'_, 'py>, axis: Typed<i64>) -> Made<'py> {
    typed!(random_shuffle: axis);
    let (from, given) = (arg::given("random_shuffle", "key", key)?, value::given("random_shuffle", "x", x)?);
    made(key.py(), || extenso_ext::lists::random_shuffle(from, &given, axis))
}

/// Elements of `x` along its first axis, drawn at random, in `shape`; with weights `p`, each by its weight. An integer stands for the
/// integers from 0 up to it.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.random_choice(0, [7, 8, 9], 2, p=[0.0, 1.0, 0.0])), ex.to_py(ex.random_choice(0, 3, 2, p=[0.0, 0.0, 1.0]))
/// ([8, 8], [2, 2])
#[pyfunction]
#[pyo3(signature = (key, x, shape, replace=Typed::new(true), p=None), text_signature = "(key, x, shape, replace=True, p=None)")]
fn random_choice<'py>(
    key: Given<'_, 'py>,
    x: Given<'_, 'py>,
    shape: Given<'_, 'py>,
    replace: Typed<bool>,
    p: Option<Given<'_, 'py>>,
) -> Made<'py> {
    typed!(random_choice: replace);
    let (from, shape) = (arg::given("random_choice", "key", key)?, sizes("random_choice", shape)?);
    let given = if x.is_exact_instance_of::<PyInt>() {
        let count = arg::int(x).map_err(|e| error::at(x.py(), e, "random_choice: argument 'x'"))?;
        guarded(|| ops::arange(Scalar::Int(0), Scalar::Int(count), Scalar::Int(1), None)).or_raise()?
    } else {
        value::given("random_choice", "x", x)?
    };
    let weights = p.map(|p| value::given("random_choice", "p", p)).transpose()?;
    made(key.py(), || ops::random_choice(from, given, shape, replace, weights))
}

/// `x` with each element zero with probability `rate`, and divided by `1 - rate` where it is not.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.dropout([1.0, 2.0], 0.0, key=42))
/// [1.0, 2.0]
#[pyfunction]
fn dropout<'py>(x: Given<'_, 'py>, rate: Typed<f64>, key: Given<'_, 'py>) -> Made<'py> {
    typed!(dropout: rate);
    let (given, from) = (value::given("dropout", "x", x)?, arg::given("dropout", "key", key)?);
    made(x.py(), || extenso_ext::dropout(&given, rate, from))
}
