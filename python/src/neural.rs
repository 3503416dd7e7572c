//! Activations with parameters, normalizations, losses, convolution: functions that are no ops, as Rust has them.
//!
//! Invariant: no logic of a function stands here.

use crate::arg;
use crate::composed::attribute;
use crate::error::OrRaise;
use crate::rearrange::{Given, Made, axes, made};
use crate::typed::{Typed, typed};
use crate::value;
use extenso_core::attrs::Axes;
use extenso_core::ops::{self, Padding, Windows};
use extenso_ext::lists;
use pyo3::prelude::*;

/// Adds the functions to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    macro_rules! add {
        ($($name:ident)*) => { $(module.add_function(wrap_pyfunction!($name, module)?)?;)* };
    }
    add! { elu celu leaky_relu prelu glu layer_norm rms_norm batch_norm l2_normalize cosine_similarity }
    add! { softmax_cross_entropy sparse_softmax_cross_entropy sigmoid_cross_entropy mean_squared_error huber }
    add! { conv1d max_pool1d avg_pool1d }
    Ok(())
}

/// The axes, or the last where none are given.
fn last(function: &str, axis: Option<Given<'_, '_>>) -> PyResult<Axes> {
    axis.map_or(Ok(Axes::from(-1)), |axis| attribute(function, "axis", axis))
}

fn padding(text: &str) -> PyResult<Padding> {
    text.parse::<Padding>().or_raise()
}

/// The exponential linear unit: `x` above zero, `alpha (exp(x) - 1)` below.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.elu([2.0, -800.0]))
/// [2.0, -1.0]
#[pyfunction]
#[pyo3(signature = (x, alpha=Typed::new(1.0)), text_signature = "(x, alpha=1.0)")]
fn elu<'py>(x: Given<'_, 'py>, alpha: Typed<f64>) -> Made<'py> {
    typed!(elu: alpha);
    let given = arg::given("elu", "x", x)?;
    made(x.py(), || ops::elu(given, alpha))
}

/// The continuously differentiable exponential linear unit: `x` above zero, `alpha (exp(x / alpha) - 1)` below.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.celu([2.0, -800.0], 2.0))
/// [2.0, -2.0]
#[pyfunction]
#[pyo3(signature = (x, alpha=Typed::new(1.0)), text_signature = "(x, alpha=1.0)")]
fn celu<'py>(x: Given<'_, 'py>, alpha: Typed<f64>) -> Made<'py> {
    typed!(celu: alpha);
    let given = arg::given("celu", "x", x)?;
    made(x.py(), || ops::celu(given, alpha))
}

/// `x` above zero, `slope x` below.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.leaky_relu([2.0, -2.0], 0.5))
/// [2.0, -1.0]
#[pyfunction]
#[pyo3(signature = (x, slope=Typed::new(0.01)), text_signature = "(x, slope=0.01)")]
fn leaky_relu<'py>(x: Given<'_, 'py>, slope: Typed<f64>) -> Made<'py> {
    typed!(leaky_relu: slope);
    let given = arg::given("leaky_relu", "x", x)?;
    made(x.py(), || ops::leaky_relu(given, slope))
}

/// `x` above zero, `slope x` below; `slope` broadcasts and is learned.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.prelu([2.0, -2.0], [0.5, 0.25]))
/// [2.0, -0.5]
#[pyfunction]
fn prelu<'py>(x: Given<'_, 'py>, slope: Given<'_, 'py>) -> Made<'py> {
    let (given, slope) = (arg::given("prelu", "x", x)?, arg::given("prelu", "slope", slope)?);
    made(x.py(), || ops::prelu(given, slope))
}

/// The first half of `x` along `axis`, times the `sigmoid` of the second.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.glu([3.0, 0.0]))
/// [1.5]
#[pyfunction]
#[pyo3(signature = (x, axis=Typed::new(-1)), text_signature = "(x, axis=-1)")]
fn glu<'py>(x: Given<'_, 'py>, axis: Typed<i64>) -> Made<'py> {
    typed!(glu: axis);
    let given = value::given("glu", "x", x)?;
    made(x.py(), || lists::glu(&given, axis))
}

/// `x` less its mean over `axis`, divided by its standard deviation there; times `scale`, plus `bias`. Without `axis` over the last.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.layer_norm([1.0, 3.0], epsilon=0.0))
/// [-1.0, 1.0]
#[pyfunction]
#[pyo3(signature = (x, scale=None, bias=None, axis=None, epsilon=Typed::new(1e-5)), text_signature = "(x, scale=None, bias=None, axis=None, epsilon=1e-05)")]
fn layer_norm<'py>(
    x: Given<'_, 'py>,
    scale: Option<Given<'_, 'py>>,
    bias: Option<Given<'_, 'py>>,
    axis: Option<Given<'_, 'py>>,
    epsilon: Typed<f64>,
) -> Made<'py> {
    typed!(layer_norm: epsilon);
    let (given, scale, bias, over) = (
        value::given("layer_norm", "x", x)?,
        arg::optional("layer_norm", "scale", scale)?,
        arg::optional("layer_norm", "bias", bias)?,
        last("layer_norm", axis)?,
    );
    made(x.py(), || lists::layer_norm(&given, scale, bias, &over, epsilon))
}

/// `x` divided by the root of the mean of its squares over `axis`; times `scale`. Without `axis` over the last.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.rms_norm([3.0, -3.0], epsilon=0.0))
/// [1.0, -1.0]
#[pyfunction]
#[pyo3(signature = (x, scale=None, axis=None, epsilon=Typed::new(1e-6)), text_signature = "(x, scale=None, axis=None, epsilon=1e-06)")]
fn rms_norm<'py>(
    x: Given<'_, 'py>,
    scale: Option<Given<'_, 'py>>,
    axis: Option<Given<'_, 'py>>,
    epsilon: Typed<f64>,
) -> Made<'py> {
    typed!(rms_norm: epsilon);
    let (given, scale, over) =
        (value::given("rms_norm", "x", x)?, arg::optional("rms_norm", "scale", scale)?, last("rms_norm", axis)?);
    made(x.py(), || lists::rms_norm(&given, scale, &over, epsilon))
}

/// `x` less `average`, divided by the root of `variance`; times `scale`, plus `bias`: vectors along `axis`, which counts from the last.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.batch_norm([1.0, 3.0], [1.0, 1.0], [1.0, 4.0], epsilon=0.0))
/// [0.0, 1.0]
#[pyfunction]
#[pyo3(
    signature = (x, average, variance, scale=None, bias=None, axis=Typed::new(-1), epsilon=Typed::new(1e-3)),
    text_signature = "(x, average, variance, scale=None, bias=None, axis=-1, epsilon=0.001)"
)]
fn batch_norm<'py>(
    x: Given<'_, 'py>,
    average: Given<'_, 'py>,
    variance: Given<'_, 'py>,
    scale: Option<Given<'_, 'py>>,
    bias: Option<Given<'_, 'py>>,
    axis: Typed<i64>,
    epsilon: Typed<f64>,
) -> Made<'py> {
    typed!(batch_norm: axis, epsilon);
    let given = value::given("batch_norm", "x", x)?;
    let average = value::given("batch_norm", "average", average)?;
    let variance = value::given("batch_norm", "variance", variance)?;
    let scale = arg::optional("batch_norm", "scale", scale)?;
    let bias = arg::optional("batch_norm", "bias", bias)?;
    made(x.py(), || ops::batch_norm(given, average, variance, scale, bias, axis, epsilon))
}

/// `x` divided by its length over `axis`, but by no less than the root of `epsilon`. Without `axis` over the last.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.l2_normalize([6.0, -8.0]))
/// [0.6, -0.8]
#[pyfunction]
#[pyo3(signature = (x, axis=None, epsilon=Typed::new(1e-12)), text_signature = "(x, axis=None, epsilon=1e-12)")]
fn l2_normalize<'py>(x: Given<'_, 'py>, axis: Option<Given<'_, 'py>>, epsilon: Typed<f64>) -> Made<'py> {
    typed!(l2_normalize: epsilon);
    let (given, over) = (value::given("l2_normalize", "x", x)?, last("l2_normalize", axis)?);
    made(x.py(), || lists::l2_normalize(&given, &over, epsilon))
}

/// The cosine of the angle between vectors along `axis`, which is left out; a product of lengths counts as no less than `epsilon`.
///
/// >>> import extenso as ex
/// >>> ex.cosine_similarity([3.0, 4.0], [4.0, 3.0]).item()
/// 0.96
#[pyfunction]
#[pyo3(signature = (x, y, axis=Typed::new(-1), epsilon=Typed::new(1e-8)), text_signature = "(x, y, axis=-1, epsilon=1e-08)")]
fn cosine_similarity<'py>(x: Given<'_, 'py>, y: Given<'_, 'py>, axis: Typed<i64>, epsilon: Typed<f64>) -> Made<'py> {
    typed!(cosine_similarity: axis, epsilon);
    let (given, other) = (value::given("cosine_similarity", "x", x)?, value::given("cosine_similarity", "y", y)?);
    made(x.py(), || extenso_ext::cosine_similarity(given, other, axis, epsilon))
}

/// The cross entropy between the probabilities `labels` and those that `softmax` gives the logits along `axis`, which is left out.
///
/// >>> import extenso as ex
/// >>> ex.softmax_cross_entropy([0.0, -800.0], [0.0, 1.0]).item()
/// 800.0
#[pyfunction]
#[pyo3(signature = (logits, labels, axis=Typed::new(-1)), text_signature = "(logits, labels, axis=-1)")]
fn softmax_cross_entropy<'py>(logits: Given<'_, 'py>, labels: Given<'_, 'py>, axis: Typed<i64>) -> Made<'py> {
    typed!(softmax_cross_entropy: axis);
    let (given, wanted) = (
        value::given("softmax_cross_entropy", "logits", logits)?,
        value::given("softmax_cross_entropy", "labels", labels)?,
    );
    made(logits.py(), || lists::softmax_cross_entropy(&given, &wanted, axis))
}

/// The cross entropy between classes, positions along `axis`, and the probabilities that `softmax` gives the logits there.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.sparse_softmax_cross_entropy([[0.0, -800.0]], [1]))
/// [800.0]
#[pyfunction]
#[pyo3(signature = (logits, labels, axis=Typed::new(-1)), text_signature = "(logits, labels, axis=-1)")]
fn sparse_softmax_cross_entropy<'py>(logits: Given<'_, 'py>, labels: Given<'_, 'py>, axis: Typed<i64>) -> Made<'py> {
    typed!(sparse_softmax_cross_entropy: axis);
    let (given, wanted) = (
        value::given("sparse_softmax_cross_entropy", "logits", logits)?,
        value::given("sparse_softmax_cross_entropy", "labels", labels)?,
    );
    made(logits.py(), || ops::sparse_softmax_cross_entropy(given, wanted, axis))
}

/// The cross entropy between the probabilities `labels` and those that `sigmoid` gives the logits, elementwise, without overflow.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.sigmoid_cross_entropy([800.0, 800.0], [1.0, 0.0]))
/// [0.0, 800.0]
#[pyfunction]
fn sigmoid_cross_entropy<'py>(logits: Given<'_, 'py>, labels: Given<'_, 'py>) -> Made<'py> {
    let (given, wanted) = (
        value::given("sigmoid_cross_entropy", "logits", logits)?,
        arg::given("sigmoid_cross_entropy", "labels", labels)?,
    );
    made(logits.py(), || ops::sigmoid_cross_entropy(given, wanted))
}

/// The mean of the squared differences over `axis`.
///
/// >>> import extenso as ex
/// >>> ex.mean_squared_error([1.0, 2.0], [1.0, 4.0]).item()
/// 2.0
#[pyfunction]
#[pyo3(signature = (predictions, targets, axis=None))]
fn mean_squared_error<'py>(
    predictions: Given<'_, 'py>,
    targets: Given<'_, 'py>,
    axis: Option<Given<'_, 'py>>,
) -> Made<'py> {
    let (given, wanted, over) = (
        value::given("mean_squared_error", "predictions", predictions)?,
        arg::given("mean_squared_error", "targets", targets)?,
        axes("mean_squared_error", axis)?,
    );
    made(predictions.py(), || ops::mean_squared_error(given, wanted, over))
}

/// Half the squared difference where it is at most `delta`, beyond that `delta` times what is more than half of `delta`; elementwise.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.huber([0.5, 3.0], [0.0, 0.0]))
/// [0.125, 2.5]
#[pyfunction]
#[pyo3(signature = (predictions, targets, delta=Typed::new(1.0)), text_signature = "(predictions, targets, delta=1.0)")]
fn huber<'py>(predictions: Given<'_, 'py>, targets: Given<'_, 'py>, delta: Typed<f64>) -> Made<'py> {
    typed!(huber: delta);
    let (given, wanted) =
        (value::given("huber", "predictions", predictions)?, arg::given("huber", "targets", targets)?);
    made(predictions.py(), || ops::huber(given, wanted, delta))
}

/// The products of each window of `x` with the weights, summed over the places of the window and the channels.
///
/// `x` is `[..., length, channels]`, the weights `[width, channels / groups, filters]`, the result `[..., windows, filters]`; `padding`
/// is 'valid', 'same' or 'causal'.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.conv1d([[1.0], [2.0], [4.0]], [[[-1.0]], [[1.0]]]))
/// [[1.0], [2.0]]
#[pyfunction]
#[pyo3(signature = (x, weights, stride=Typed::new(1), padding=Typed::new("valid"), dilation=Typed::new(1), groups=Typed::new(1)), text_signature = "(x, weights, stride=1, padding=\"valid\", dilation=1, groups=1)")]
fn conv1d<'py>(
    x: Given<'_, 'py>,
    weights: Given<'_, 'py>,
    stride: Typed<i64>,
    padding: Typed<&str>,
    dilation: Typed<i64>,
    groups: Typed<i64>,
) -> Made<'py> {
    typed!(conv1d: stride, padding, dilation, groups);
    let (given, weights) = (value::given("conv1d", "x", x)?, value::given("conv1d", "weights", weights)?);
    let windows = Windows { stride, dilation, padding: self::padding(padding)? };
    made(x.py(), || ops::conv1d(given, weights, windows, groups))
}

/// The largest element of each window, channel by channel; without a stride windows follow one another.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.max_pool1d([[1.0], [3.0], [2.0], [0.0]], 2))
/// [[3.0], [2.0]]
#[pyfunction]
#[pyo3(signature = (x, width, stride=None, padding=Typed::new("valid")), text_signature = "(x, width, stride=None, padding=\"valid\")")]
fn max_pool1d<'py>(
    x: Given<'_, 'py>,
    width: Typed<i64>,
    stride: Option<Typed<i64>>,
    padding: Typed<&str>,
) -> Made<'py> {
    typed!(max_pool1d: width, stride, padding);
    let (given, padding) = (value::given("max_pool1d", "x", x)?, self::padding(padding)?);
    made(x.py(), || ops::max_pool1d(given, width, stride, padding))
}

/// The mean of each window, channel by channel, over the places that lie in the sequence; without a stride windows follow one another.
///
/// >>> import extenso as ex
/// >>> ex.to_py(ex.avg_pool1d([[1.0], [3.0], [2.0], [0.0]], 2))
/// [[2.0], [1.0]]
#[pyfunction]
#[pyo3(signature = (x, width, stride=None, padding=Typed::new("valid")), text_signature = "(x, width, stride=None, padding=\"valid\")")]
fn avg_pool1d<'py>(
    x: Given<'_, 'py>,
    width: Typed<i64>,
    stride: Option<Typed<i64>>,
    padding: Typed<&str>,
) -> Made<'py> {
    typed!(avg_pool1d: width, stride, padding);
    let (given, padding) = (value::given("avg_pool1d", "x", x)?, self::padding(padding)?);
    made(x.py(), || ops::avg_pool1d(given, width, stride, padding))
}
