//! Functions of one value in a graph: traced, run, and their gradients beside finite differences.

use crate::support::nest;
use extenso_core::attrs::Axes;
use extenso_core::{Tensor, Value, ops};
use extenso_graph::{Concrete, trace, value_and_grad};
use extenso_types::{Nest, Result, Spec};

/// The graph of `f` for these specs.
pub fn traced(specs: &Nest<Spec>, f: impl Fn(&Value) -> Result<Value>) -> Result<Concrete> {
    let traced = trace("composed", specs, |args| Ok(Nest::Leaf(f(args.leaves()[0].1)?)))?;
    Concrete::new("composed", specs.clone(), traced.output, traced.graph)
}

/// What a graph gives for `x`.
pub fn run(f: &Concrete, x: &Value) -> Value {
    f.call(&nest(std::slice::from_ref(x))).expect("runs").leaves()[0].1.clone()
}

/// The elements, which are f64.
pub fn floats(x: &Value) -> Vec<f64> {
    x.tensor().expect("a tensor").as_slice::<f64>().expect("f64").to_vec()
}

/// The gradient of `f` at the matrix `x` is that of finite differences.
pub fn check_gradient(
    name: &str,
    f: impl Fn(&Value) -> Result<Value>,
    specs: &Nest<Spec>,
    dims: [usize; 2],
    x: &Value,
) {
    // Squares, so that elements have different gradients.
    let loss = |x: &Value| {
        let y = f(x)?;
        ops::sum(ops::multiply(&y, ops::add(&y, 3)?)?, Axes::All, false)
    };
    let graph = traced(specs, |x| {
        let (_, grads) = value_and_grad(|x| Ok(Nest::Leaf(loss(x.leaves()[0].1)?)), Nest::Leaf(x.clone()))?;
        Ok(grads.leaves()[0].1.clone())
    });
    let got = floats(&run(&graph.unwrap_or_else(|e| panic!("{name}: {e}")), x));
    for (i, got) in got.iter().enumerate() {
        let moved = |by: f64| {
            let mut data = floats(x);
            data[i] += by;
            floats(&loss(&Tensor::new(&dims, &data).expect("as many").into()).expect(name))[0]
        };
        let want = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        assert!((got - want).abs() <= 1e-6 * want.abs().max(1.0), "{name}: d/dx[{i}] is {got}, differences {want}");
    }
}
