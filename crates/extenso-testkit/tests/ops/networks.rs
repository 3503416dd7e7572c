//! Functions of networks and products: traced without sizes they give what they give eagerly, and their gradients are finite
//! differences. What is traced from a key is drawn when the graph runs.

use crate::support::check_same;
use crate::traces::{check_gradient, floats, run, traced};
use extenso_core::attrs::Axes;
use extenso_core::ops::{DotAxes, Padding, Windows};
use extenso_core::{Arg, Tensor, Value, ops};
use extenso_types::{DType, Dim, Nest, Result, Shape, Spec, TensorSpec};

type Composed = fn(&Value) -> Result<Value>;

/// Of an argument `[2, 4]`, whose sizes need not be known while tracing.
const OF_ANY_SIZE: &[(&str, Composed)] = &[
    ("elu", |x| ops::elu(x, 0.5)),
    ("celu", |x| ops::celu(x, 1.5)),
    ("leaky_relu", |x| ops::leaky_relu(x, 0.1)),
    ("prelu", |x| ops::prelu(x, Tensor::from_vec(vec![0.5, 0.25, 0.125, 2.0]))),
    ("layer_norm", |x| ops::layer_norm(x, Some(vector()), Some(vector()), -1, 1e-3)),
    ("layer_norm over both axes", |x| ops::layer_norm(x, None, Some(vector()), [0, 1], 1e-3)),
    ("rms_norm", |x| ops::rms_norm(x, Some(vector()), -1, 1e-3)),
    ("batch_norm", |x| ops::batch_norm(x, vector(), ops::square(vector())?, Some(vector()), None, -1, 0.1)),
    ("l2_normalize", |x| ops::l2_normalize(x, 0, 1e-6)),
    ("cosine_similarity", |x| ops::cosine_similarity(x, vector(), -1, 1e-6)),
    ("softmax_cross_entropy", |x| ops::softmax_cross_entropy(x, shares(), -1)),
    ("sigmoid_cross_entropy", |x| ops::sigmoid_cross_entropy(x, shares())),
    ("mean_squared_error", |x| ops::mean_squared_error(x, vector(), 1)),
    ("huber", |x| ops::huber(x, vector(), 0.7)),
    ("vecdot", |x| ops::vecdot(x, vector(), -1)),
    ("outer", |x| ops::outer(x, vector())),
    ("norm", |x| ops::norm(x, 2.0, 1, false)),
    ("norm of order 3", |x| ops::norm(x, 3.0, Axes::All, false)),
    ("norm of order infinity", |x| ops::norm(x, f64::INFINITY, 0, true)),
    ("dropout", |x| ops::dropout(x, 0.5, 7)),
    ("einsum of a vector", |x| ops::einsum("ij,j->i", [x, &vector_value()])),
    ("einsum of itself", |x| ops::einsum("ij,kj->ik", [x, x])),
    ("einsum that sums", |x| ops::einsum("ij->j", [x])),
    ("einsum that broadcasts", |x| ops::einsum("...j,k->...k", [x, &vector_value()])),
    ("einsum of several rows", |x| ops::einsum("ij,ajk,bjk->aibk", [x, &four(), &four()])),
    ("einsum of several sums", |x| ops::einsum("ij,ijk->k", [x, &ops::multiply(ops::expand_dims(x, -1)?, vector())?])),
    ("einsum of a batch", |x| ops::einsum("bi,bj->bij", [x, x])),
];

/// The same, whose sizes must be known for the gradient: a sequence and its channels.
const OF_ANY_LENGTH: &[(&str, Composed)] = &[
    ("conv1d", |x| ops::conv1d(x, weights(4, 3)?, Windows::default(), 1)),
    ("max_pool1d", |x| ops::max_pool1d(x, 2, Some(1), Padding::Causal)),
    ("avg_pool1d", |x| ops::avg_pool1d(x, 2, Some(1), Padding::Same)),
];

/// The same, whose sizes must be known.
const OF_KNOWN_SIZE: &[(&str, Composed)] = &[
    ("glu", |x| ops::glu(x, -1)),
    ("sparse_softmax_cross_entropy", |x| ops::sparse_softmax_cross_entropy(x, Tensor::from_vec(vec![1_i64, 3]), -1)),
    ("einsum of a diagonal", |x| ops::einsum("ii,j->j", [&ops::matmul(x, x, true)?, &vector_value()])),
    ("einsum of three", |x| ops::einsum("ij,kj,kl->il", [x, x, x])),
    ("einsum over two axes", |x| ops::einsum("ij,ijk->k", [x, &cube()?])),
    ("tensordot", |x| ops::tensordot(x, cube()?, DotAxes::Pairs(vec![1, 0], vec![1, 0]))),
    ("inner", |x| ops::inner(x, x)),
    ("diagonal", |x| ops::diagonal(x, 1, 0, 1)),
    ("trace", |x| ops::trace(x, -1, 0, 1)),
    ("cross product", |x| {
        ops::cross_product(ops::slice(x, 1, 0, Some(vec![3]), 1)?, Tensor::from_vec(vec![0.5, -1.0, 2.0]), -1)
    }),
    ("conv1d of groups", |x| {
        let windows = Windows { stride: 2, dilation: 1, padding: Padding::Same };
        ops::conv1d(x, weights(2, 4)?, windows, 2)
    }),
    ("conv1d of a batch", |x| {
        let windows = Windows { stride: 1, dilation: 2, padding: Padding::Causal };
        ops::conv1d(ops::expand_dims(x, -1)?, weights(1, 2)?, windows, 1)
    }),
];

fn vector() -> Arg {
    vector_value().into()
}

fn vector_value() -> Value {
    Tensor::from_vec(vec![0.5, -1.0, 2.0, 0.25]).into()
}

fn shares() -> Value {
    Tensor::new(&[2, 4], &[0.25, 0.25, 0.5, 0.0, 0.1, 0.2, 0.3, 0.4]).expect("eight").into()
}

fn four() -> Value {
    Tensor::new(&[2, 4, 1], &[0.5, -1.0, 2.0, 0.25, 1.5, -0.5, 1.0, 0.75]).expect("eight").into()
}

fn cube() -> Result<Value> {
    let numbers: Vec<f64> = (0..24).map(|i| f64::from(i * i % 7) / 3.0 - 1.0).collect();
    Ok(Tensor::new(&[2, 4, 3], &numbers)?.into())
}

/// Weights of windows of two places.
fn weights(channels: usize, filters: usize) -> Result<Value> {
    let count = u32::try_from(2 * channels * filters).expect("few");
    let numbers: Vec<f64> = (0..count).map(|i| f64::from(i * 5 % 11) / 4.0 - 1.0).collect();
    Ok(Tensor::new(&[2, channels, filters], &numbers)?.into())
}

fn input() -> Value {
    Tensor::new(&[2, 4], &[0.3, -1.2, 2.1, 0.9, 0.1, -0.4, 1.3, -2.2]).expect("eight").into()
}

fn specs(dims: [Dim; 2]) -> Nest<Spec> {
    Nest::Tuple(vec![Nest::Leaf(TensorSpec::new(DType::F64, Shape::new(dims)).into())])
}

/// Each function with the specs that it is traced with, for its value or for its gradient.
fn functions(gradient: bool) -> impl Iterator<Item = (&'static str, Composed, Nest<Spec>)> {
    let known = specs([Dim::Known(2), Dim::Known(4)]);
    // The rows of records: how many there are is not known, what they are is.
    let rows = specs([Dim::any(), Dim::Known(4)]);
    let lengths = if gradient { known.clone() } else { rows.clone() };
    let groups = [(OF_ANY_SIZE, rows), (OF_ANY_LENGTH, lengths), (OF_KNOWN_SIZE, known)];
    groups.into_iter().flat_map(|(group, specs)| group.iter().map(move |(name, f)| (*name, *f, specs.clone())))
}

#[test]
fn a_function_of_networks_gives_traced_what_it_gives_eagerly() {
    for (name, f, specs) in functions(false) {
        let eager = f(&input()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let graph = traced(&specs, f).unwrap_or_else(|e| panic!("{name}: {e}"));
        check_same(&run(&graph, &input()), &eager, name);
    }
}

#[test]
fn gradients_of_functions_of_networks_are_finite_differences() {
    for (name, f, specs) in functions(true) {
        check_gradient(name, f, &specs, [2, 4], &input());
    }
}

#[test]
fn a_sequence_has_the_bits_that_it_has_in_a_batch() {
    let numbers: Vec<f64> = (0..3 * 50 * 5).map(|i| f64::from(i * i % 1009).sqrt() - 15.0).collect();
    let batch: Value = Tensor::new(&[3, 50, 5], &numbers).expect("as many").into();
    for windows in [(1, 1, Padding::Valid), (2, 1, Padding::Same), (1, 3, Padding::Causal)] {
        let windows = Windows { stride: windows.0, dilation: windows.1, padding: windows.2 };
        let filtered = |x: &Value| ops::conv1d(x, weights(5, 7)?, windows, 1);
        let all = filtered(&batch).expect("fits");
        for row in 0..3 {
            let one = filtered(&ops::take(&batch, row, 0).expect("a row")).expect("fits");
            check_same(&ops::take(&all, row, 0).expect("a row"), &one, "conv1d");
        }
    }
}

#[test]
fn numbers_are_drawn_from_a_traced_key_when_the_graph_runs() {
    let key = Nest::Tuple(vec![Nest::Leaf(TensorSpec::new(DType::U32, Shape::known(&[2])).into())]);
    let draws: [(&str, Composed); 5] = [
        ("normal", |key| ops::random_normal(key, vec![5], 0.0, 1.0, DType::F32)),
        ("split", |key| ops::random_split(key, 3)),
        ("permutation", |key| ops::random_permutation(key, 6)),
        ("choice", |key| ops::random_choice(key, vector_value(), vec![2], false, Some(shares_of_one()))),
        ("categorical", |key| ops::random_categorical(key, shares(), -1)),
    ];
    for (name, draw) in draws {
        let graph = traced(&key, draw).unwrap_or_else(|e| panic!("{name}: {e}"));
        for seed in [0, 1] {
            let key = ops::random_key(seed).expect("a key");
            check_same(&run(&graph, &key), &draw(&key).expect(name), name);
        }
    }
}

fn shares_of_one() -> Value {
    Tensor::from_vec(vec![0.25, 0.25, 0.5, 0.0]).into()
}

#[test]
fn samples_have_the_moments_of_their_distribution() {
    let moments = |x: Value| {
        let x = ops::cast(x, DType::F64).expect("numbers");
        let mean = ops::mean(&x, Axes::All, false).expect("a mean");
        let square = ops::square(ops::subtract(&x, &mean).expect("numbers")).expect("numbers");
        (floats(&mean)[0], floats(&ops::mean(square, Axes::All, false).expect("a mean"))[0])
    };
    let n = vec![200_000_i64];
    for dtype in [DType::BF16, DType::F16, DType::F32, DType::F64] {
        let euler = 0.577_215_664_901_532_9;
        let gumbel = std::f64::consts::PI.powi(2) / 6.0;
        for (name, x, mean, variance) in [
            ("uniform", ops::random_uniform(1, n.clone(), -1.0, 2.0, dtype), 0.5, 0.75),
            ("normal", ops::random_normal(2, n.clone(), 1.0, 2.0, dtype), 1.0, 4.0),
            ("truncated", ops::random_truncated_normal(3, n.clone(), -1.0, 1.0, dtype), 0.0, 0.291_125_1),
            ("exponential", ops::random_exponential(4, n.clone(), dtype), 1.0, 1.0),
            ("gumbel", ops::random_gumbel(5, n.clone(), dtype), euler, gumbel),
        ] {
            let (got_mean, got_variance) = moments(x.expect(name));
            assert!((got_mean - mean).abs() < 0.02, "{name} of {dtype}: the mean is {got_mean}, not {mean}");
            assert!((got_variance / variance - 1.0).abs() < 0.02, "{name} of {dtype}: {got_variance}, not {variance}");
        }
    }
}
