//! Gradients are finite differences, in f64, for every op that has one.

use crate::support::{Example, examples_of, nest, random_like, values_of, with_values};
use extenso_core::attrs::Axes;
use extenso_core::{OpDef, Tensor, Value, ops};
use extenso_graph::{Concrete, trace, value_and_grad};
use extenso_testkit::eval::Application;
use extenso_testkit::rng::Rng;
use extenso_types::{DType, Nest, Result};

/// Ops whose differences do not tell the gradient: one ends gradients, and one is NaN beside what it is looked at for.
const APART: [&str; 2] = ["without_gradient", "zero_for_nan"];

#[test]
fn gradients_are_finite_differences() {
    let mut checked = 0;
    let with_gradient = |op: &&OpDef| op.grad.is_some() && !op.examples.is_empty() && !APART.contains(&op.name);
    for op in extenso_graph::tables().filter(with_gradient) {
        let calls: Vec<(Example, Application)> =
            examples_of(op).into_iter().filter_map(|e| in_floats(&e.call).map(|call| (e, call))).collect();
        assert!(!calls.is_empty(), "{}: no example has floats in and out", op.name);
        for (example, call) in calls {
            check(&call, example.text);
            checked += 1;
        }
    }
    assert!(checked > 30, "only {checked} gradients were checked");
}

fn is_float(value: &Value) -> bool {
    let mut leaves = Vec::new();
    value.push_leaves(&mut leaves).expect("taken apart");
    leaves.iter().any(|leaf| matches!(leaf, Value::Tensor(t) if t.dtype() == DType::F64))
}

/// The application on floats: as it stands, or with its integers, all or the first, as floats; if its result is one.
fn in_floats(call: &Application) -> Option<Application> {
    let values = values_of(call);
    let floats = |count: usize| {
        let cast = |(i, v): (usize, &Value)| match ops::cast(v, DType::F64) {
            Ok(float) if i < count && !is_bool(v) => float,
            _ => v.clone(),
        };
        with_values(call, &values.iter().enumerate().map(cast).collect::<Vec<_>>())
    };
    let fits = |call: &Application| {
        let result = call.call_one();
        values_of(call).iter().any(is_float) && result.is_ok_and(|y| is_float(&y))
    };
    [0, values.len(), 1].into_iter().map(floats).find(fits)
}

fn is_bool(value: &Value) -> bool {
    matches!(value, Value::Tensor(t) if t.dtype() == DType::Bool)
}

fn check(call: &Application, what: &str) {
    let values = values_of(call);
    let y = call.call_one().expect(what);
    let (weights, finite) = (random_like(&y, &mut Rng::new(7)), is_finite(&y).expect(what));
    let loss = |values: &[Value]| -> Result<Value> {
        let y = with_values(call, values).call()?.remove(0);
        ops::sum(ops::where_(&finite, ops::multiply(y, &weights)?, 0.0)?, Axes::All, false)
    };
    let specs = nest(&values).try_map(|_, v| v.spec()).expect("specs");
    let traced = trace("gradient", &specs, |args| {
        let of = |args: Nest<Value>| {
            let values: Vec<Value> = args.leaves().into_iter().map(|(_, v)| v.clone()).collect();
            Ok(Nest::Leaf(loss(&values)?))
        };
        let (y, grads) = value_and_grad(of, args)?;
        Ok(Nest::Tuple(vec![Nest::Leaf(y), grads]))
    });
    let traced = traced.unwrap_or_else(|e| panic!("{what}: {e}"));
    let concrete = Concrete::new("gradient", specs, traced.output, traced.graph).expect("compiles");
    let results = concrete.call(&nest(&values)).unwrap_or_else(|e| panic!("{what}: {e}"));
    let grads: Vec<Value> = results.leaves().into_iter().skip(1).map(|(_, v)| v.clone()).collect();
    for (at, grad) in grads.iter().enumerate().filter(|(at, _)| is_float(&values[*at])) {
        let (grad, count) = (floats(grad), floats(&values[at]).len());
        assert_eq!(grad.len(), count, "{what}: the gradient of argument {at} has another size");
        for (i, got) in grad.iter().enumerate() {
            let moved = |by: f64| {
                let mut values = values.clone();
                values[at] = nudged(&values[at], i, by);
                floats(&loss(&values).expect(what))[0]
            };
            let h = 1e-6;
            let want = (moved(h) - moved(-h)) / (2.0 * h);
            assert!(
                (got - want).abs() <= 1e-6 * want.abs().max(1.0),
                "{what}: d/d argument {at}[{i}] is {got}, differences {want}"
            );
        }
    }
}

/// Where the result is finite: the difference of two infinities means nothing.
fn is_finite(y: &Value) -> Result<Value> {
    ops::equal(ops::subtract(y, y)?, 0.0)
}

fn float_leaf(value: &Value) -> (Vec<Value>, usize) {
    let mut leaves = Vec::new();
    value.push_leaves(&mut leaves).expect("taken apart");
    let at =
        leaves.iter().position(|leaf| matches!(leaf, Value::Tensor(t) if t.dtype() == DType::F64)).expect("floats");
    (leaves, at)
}

fn floats(value: &Value) -> Vec<f64> {
    let (leaves, at) = float_leaf(value);
    leaves[at].tensor().expect("a tensor").as_slice::<f64>().expect("f64").to_vec()
}

fn nudged(value: &Value, i: usize, by: f64) -> Value {
    let (mut leaves, at) = float_leaf(value);
    let tensor = leaves[at].tensor().expect("a tensor").data().expect("data");
    let mut data = tensor.as_slice::<f64>().expect("f64").to_vec();
    data[i] += by;
    leaves[at] = Tensor::new(tensor.dims(), &data).expect("as many").into();
    let spec = value.spec().expect("a spec");
    extenso_core::pack(&spec, &mut leaves.into_iter(), extenso_core::Provenance::Trusted).expect("rebuilt")
}
