//! Sizes that only data can tell: a traced function refuses what the call refuses, and its answer is that of the call.

use crate::support::{check_same, nest};
use crate::traces::floats;
use extenso_core::attrs::Axes;
use extenso_core::ops::DotAxes;
use extenso_core::{Tensor, Value, ops};
use extenso_ext::{RaggedTensor, constant, lists};
use extenso_graph::{Concrete, trace, value_and_grad};
use extenso_types::{DType, Dim, Nest, Result, Shape, Spec, TensorSpec};

type OfTwo = fn(&Value, &Value) -> Result<Value>;

fn vector(numbers: &[f64]) -> Value {
    Tensor::from_vec(numbers.to_vec()).into()
}

fn integers(numbers: &[i64]) -> Value {
    Tensor::from_vec(numbers.to_vec()).into()
}

fn rows(lengths: &[i64]) -> Value {
    let numbers: Vec<f64> = (1..=lengths.iter().sum()).map(|i: i64| i as f64).collect();
    let rows = RaggedTensor::from_row_lengths(vector(&numbers), &Tensor::from_vec(lengths.to_vec()));
    extenso_core::ExtensionType::into_value(rows.expect("rows"))
}

/// The spec of a value, without any size.
fn open(value: &Value) -> Spec {
    match value {
        Value::Tensor(tensor) => {
            let dims = (0..tensor.shape().rank().unwrap_or(0)).map(|_| Dim::any());
            TensorSpec::new(tensor.dtype(), Shape::new(dims)).into()
        }
        other => other.spec().expect("a spec"),
    }
}

fn traced(f: OfTwo, specs: &Nest<Spec>) -> Result<Concrete> {
    let traced = trace("sizes", specs, |args| {
        let leaves = args.leaves();
        Ok(Nest::Leaf(f(leaves[0].1, leaves[1].1)?))
    })?;
    Concrete::new("sizes", specs.clone(), traced.output, traced.graph)
}

fn check(name: &str, f: OfTwo, good: [Value; 2], bad: [Value; 2]) {
    let eager = f(&good[0], &good[1]).unwrap_or_else(|e| panic!("{name}: {e}"));
    let refused = f(&bad[0], &bad[1]).expect_err(name);
    assert!(refused.is_shape(), "{name}: {refused}");
    let specs = Nest::Tuple(good.iter().map(|value| Nest::Leaf(open(value))).collect());
    let graph = traced(f, &specs).unwrap_or_else(|e| panic!("{name}: {e}"));
    let answer = graph.call(&nest(&good)).unwrap_or_else(|e| panic!("{name}: {e}"));
    check_same(answer.leaves()[0].1, &eager, name);
    let error = graph.call(&nest(&bad)).expect_err(name);
    assert!(error.is_shape(), "{name}: {error}");
}

#[test]
fn a_traced_product_refuses_sizes_that_the_call_refuses() {
    let good = || [vector(&[1.0, 2.0, 3.0]), vector(&[4.0, 5.0, 6.0])];
    let products: [(&str, OfTwo); 5] = [
        ("vecdot", |x, y| ops::vecdot(x, y, -1)),
        ("inner", |x, y| ops::inner(x, y)),
        ("tensordot", |x, y| ops::tensordot(x, y, 1)),
        ("tensordot of axes", |x, y| ops::tensordot(x, y, DotAxes::Pairs(vec![-1], vec![0]))),
        ("cosine_similarity", |x, y| ops::cosine_similarity(x, y, 0, 1e-8)),
    ];
    for (name, f) in products {
        check(name, f, good(), [vector(&[1.0, 2.0, 3.0]), vector(&[2.0])]);
        check(name, f, good(), [vector(&[2.0]), vector(&[1.0, 2.0, 3.0])]);
    }
}

#[test]
fn numbers_beside_lists_are_as_many_as_the_lists() {
    let lists: [(&str, OfTwo); 3] = [
        ("nth", |x, i| lists::nth(x, i, 1, Some(0.0.into()))),
        ("head", |x, n| lists::head(x, n, 1)),
        ("tail", |x, n| lists::tail(x, n, 1)),
    ];
    let three = || rows(&[2, 0, 1]);
    for (name, f) in lists {
        check(name, f, [three(), integers(&[0, 1, 1])], [three(), integers(&[1])]);
    }
}

#[test]
fn parts_of_an_unknown_size_come_to_all_of_it() {
    let parts: OfTwo = |x, _| Ok(ops::split(x, vec![1, 2], 0)?.remove(1));
    let specs = Nest::Tuple(vec![Nest::Leaf(open(&vector(&[1.0]))), Nest::Leaf(open(&vector(&[1.0])))]);
    let graph = traced(parts, &specs).expect("traced");
    let three = [vector(&[1.0, 2.0, 3.0]), vector(&[0.0])];
    check_same(graph.call(&nest(&three)).expect("fits").leaves()[0].1, &vector(&[2.0, 3.0]), "split");
    for other in [vec![1.0; 2], vec![1.0; 4], vec![]] {
        graph.call(&nest(&[vector(&other), vector(&[0.0])])).expect_err("another size");
    }
    // Of no part nothing is left that could look at the size.
    let none: OfTwo = |x, _| ops::split(x, Vec::new(), 0).map(|_| x.clone());
    assert!(traced(none, &specs).expect_err("refused").to_string().contains("split: "));
}

#[test]
fn slopes_at_the_seams_are_those_of_one_side() {
    let slope = |f: fn(&Value) -> Result<Value>, x: &Value| {
        let specs = Nest::Tuple(vec![Nest::Leaf(x.spec().expect("a spec"))]);
        let graph = trace("slope", &specs, |args| {
            let of = |x: Nest<Value>| Ok(Nest::Leaf(ops::sum(f(x.leaves()[0].1)?, Axes::All, false)?));
            Ok(value_and_grad(of, Nest::Leaf(args.leaves()[0].1.clone()))?.1)
        });
        let graph = graph.expect("traced");
        let graph = Concrete::new("slope", specs, graph.output, graph.graph).expect("compiles");
        floats(graph.call(&nest(std::slice::from_ref(x))).expect("runs").leaves()[0].1)
    };
    let zero = vector(&[0.0, 800.0]);
    assert_eq!(slope(|x| ops::elu(x, 1.0), &zero), [1.0, 1.0]);
    assert_eq!(slope(|x| ops::elu(x, 0.5), &zero), [0.5, 1.0]);
    assert_eq!(slope(|x| ops::celu(x, 2.0), &zero), [1.0, 1.0]);
    let alike = vector(&[2.0, 2.0]);
    assert_eq!(slope(|x| ops::z_score(x, None, None), &alike), [0.0, 0.0]);
    assert_eq!(slope(|x| ops::std(x, Axes::All, 0.0, false), &alike), [0.0, 0.0]);
    assert_eq!(slope(|x| ops::std(x, Axes::All, 0.0, false), &vector(&[5.0])), [0.0]);
}

#[test]
fn missing_elements_are_counted_with_no_weight() {
    let x = constant(vec![Some(1), None, Some(3), Some(1)]).expect("a vector");
    let weights = constant(vec![Some(0.5), Some(8.0), Some(2.0), None]).expect("a vector");
    let sums = lists::bincount(&x, Some(weights.clone()), 0).expect("sums");
    assert_eq!(sums.to_string(), "[0.0, 0.5, 0.0, 2.0]");
    let sums = lists::bincount(&integers(&[0, 1, 1, 3]), Some(weights), 0).expect("sums");
    assert_eq!(sums.to_string(), "[0.5, 10.0, 0.0, 0.0]");
    let fewer = lists::bincount(&x, Some(vector(&[1.0])), 0).expect_err("one weight").to_string();
    assert!(fewer.contains("a weight for each element"), "{fewer}");
}

#[test]
fn sums_over_what_others_do_not_need_come_first() {
    let (n, k) = (20_000_i64, 20_i64);
    let x = ops::broadcast_to(1.5, vec![n, k]).expect("a matrix");
    // The product of all three before any sum has 64 GB.
    let y = ops::einsum("ia,ja,ja->i", [&x, &x, &x]).expect("summed");
    let wanted = 1.5_f64.powi(3) * (n * k) as f64;
    assert!(floats(&y).iter().all(|y| (y / wanted - 1.0).abs() < 1e-12));
}

#[test]
fn the_normal_distribution_far_from_its_middle() {
    let draw = |low: f64, high: f64, dtype: DType| {
        let x = ops::random_truncated_normal(7, vec![100_000], low, high, dtype).expect("drawn");
        floats(&ops::cast(x, DType::F64).expect("f64"))
    };
    for dtype in [DType::F32, DType::F64] {
        // The means are those of the conditional distribution: the densities at the ends, less, over the weight between them.
        for (low, high, mean) in [
            (0.0, f64::INFINITY, 0.797_884_560_802_865_4),
            (2.0, 3.0, 2.315_821_3),
            (5.0, 6.0, 5.183_147_1),
            (-9.0, -8.5, -8.608_644),
            (29.999, 31.0, 30.032_260_8),
            (30.0, 31.0, 30.033_259_7),
            (-31.0, -30.0, -30.033_259_7),
            (1_000.0, f64::INFINITY, 1_000.000_999_998),
        ] {
            let x = draw(low, high, dtype);
            assert!(x.iter().all(|x| (low..=high).contains(x)), "{low} to {high} of {dtype}");
            let got = x.iter().sum::<f64>() / x.len() as f64;
            let spread = (mean - low).abs().min((high - mean).abs());
            assert!((got - mean).abs() < 0.02 * spread, "{low} to {high} of {dtype}: the mean is {got}, not {mean}");
        }
    }
    let mut distinct: Vec<u64> = draw(5.0, 6.0, DType::F32).iter().map(|x| x.to_bits()).collect();
    distinct.sort_unstable();
    distinct.dedup();
    assert!(distinct.len() > 50_000, "{} different numbers", distinct.len());
}
