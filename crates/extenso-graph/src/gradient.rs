//! Gradients: reverse accumulation over the graph under construction.
//!
//! Rules come from the op declarations and are ordinary ops, so a gradient is more graph and has gradients itself.
//! Integers, booleans, strings and partitions get no gradient.
//!
//! Source: reverse mode as in Griewank and Walther, *Evaluating Derivatives*, ch. 3.

use crate::builder::{Builder, current_builder};
use crate::graph::{NodeKind, ValueRef};
use crate::origin;
use extenso_core::grad::GradCx;
use extenso_core::{Provenance, Tracer, Value, ops, pack};
use extenso_types::{Error, Nest, Result};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The gradients of the sum of `ys` with respect to each of `xs`, all of the function being traced.
///
/// `seeds` are the gradients of the loss with respect to `ys`; without them each y is a scalar and its seed is one. An x on
/// which nothing depends has zeros.
///
/// Errors: no function is being traced; an op on the way has no gradient; a y that is no float scalar, without seeds.
pub fn gradients(ys: &[Value], xs: &[Value], seeds: Option<&[Value]>) -> Result<Vec<Value>> {
    let builder = current_builder().ok_or_else(|| {
        Error::scope("gradients are asked for outside a traced function").hint("Use `grad(f)` instead.")
    })?;
    let xs_at: Result<Vec<ValueRef>> = xs.iter().map(|x| builder.import(x)).collect();
    let xs_at = xs_at?;
    let mut tape = Tape { builder: builder.clone(), adjoints: HashMap::new() };
    let mut last = 0;
    for (i, y) in ys.iter().enumerate() {
        let seed = match seeds.and_then(|s| s.get(i)) {
            Some(seed) => seed.clone(),
            None => one_for(y)?,
        };
        let at = builder.import(y)?;
        last = last.max(at.node);
        tape.add(at, seed)?;
    }
    let depends = dependents(&builder, &xs_at, last);
    for node in (0..=last).rev().filter(|node| depends.contains(node)) {
        tape.back(node, &depends)?;
    }
    xs.iter()
        .zip(&xs_at)
        .map(|(x, at)| match tape.adjoints.remove(at) {
            Some(grad) => Ok(grad),
            None => ops::zeros_like(x),
        })
        .collect()
}

fn one_for(y: &Value) -> Result<Value> {
    let spec = y.tensor()?.spec();
    if !spec.dtype.is_float() || spec.shape.rank() != Some(0) {
        return Err(Error::shape(format!("the gradient of {spec} is asked for"))
            .wanted("a float scalar")
            .hint("Reduce it first, for example with `sum`.")
            .at("grad"));
    }
    ops::ones_like(y)
}

/// The nodes up to `last` that depend on one of `xs`, those of `xs` included.
fn dependents(builder: &Builder, xs: &[ValueRef], last: u32) -> HashSet<u32> {
    let mut set: HashSet<u32> = xs.iter().map(|at| at.node).collect();
    for i in 0..=last {
        if builder.node(i).is_some_and(|node| node.inputs.iter().any(|at| set.contains(&at.node))) {
            set.insert(i);
        }
    }
    set
}

struct Tape {
    builder: Rc<Builder>,
    adjoints: HashMap<ValueRef, Value>,
}

impl Tape {
    fn add(&mut self, at: ValueRef, grad: Value) -> Result<()> {
        let sum = match self.adjoints.remove(&at) {
            Some(known) => ops::add(known, grad)?,
            None => grad,
        };
        self.adjoints.insert(at, sum);
        Ok(())
    }

    /// Carries the gradients of a node's outputs to its inputs.
    fn back(&mut self, i: u32, depends: &HashSet<u32>) -> Result<()> {
        let Some(node) = self.builder.node(i) else { return Ok(()) };
        let NodeKind::Op(op, attrs) = &node.kind else { return Ok(()) };
        let place = |output: usize| ValueRef { node: i, output: u32::try_from(output).unwrap_or(u32::MAX) };
        let grads: Vec<Option<Value>> =
            (0..node.outputs.len()).map(|o| self.adjoints.get(&place(o)).cloned()).collect();
        if grads.iter().all(Option::is_none) || !node.inputs.iter().any(|at| depends.contains(&at.node)) {
            return Ok(());
        }
        let args: Result<Vec<Value>> = node.inputs.iter().map(|at| self.builder.value(*at)).collect();
        let args = args?;
        let float = |v: &Value| matches!(v, Value::Tensor(t) if t.dtype().is_float());
        if !args.iter().zip(&node.inputs).any(|(v, at)| float(v) && depends.contains(&at.node)) {
            return Ok(());
        }
        let outputs: Result<Vec<Value>> = (0..node.outputs.len()).map(|o| self.builder.value(place(o))).collect();
        let rule = op.grad.ok_or_else(|| {
            Error::value(format!("the op '{}' has no gradient", op.name)).hint("Keep it out of what is differentiated.")
        })?;
        let cx = GradCx { args: &args, outputs: &outputs?, grads: &grads, attrs: &**attrs };
        let back =
            origin::at(node.origin.as_ref(), || rule(&cx)).map_err(|e| e.at(format!("gradient of {}", op.name)))?;
        for ((grad, at), arg) in back.into_iter().zip(&node.inputs).zip(&args) {
            if let Some(grad) = grad.filter(|_| float(arg) && depends.contains(&at.node)) {
                self.add(*at, grad)?;
            }
        }
        Ok(())
    }
}

/// The value with its floats as results of the graph, so that what depends on them is part of it too: what is computed of data alone is
/// data, in which no gradient finds its way.
fn traced(value: &Value) -> Result<Value> {
    let Some(builder) = current_builder() else { return Ok(value.clone()) };
    let mut leaves = Vec::new();
    value.push_leaves(&mut leaves)?;
    for leaf in &mut leaves {
        let Value::Tensor(x) = &*leaf else { continue };
        if let Some(dims) = x.shape().to_dims().filter(|_| x.dtype().is_float() && x.symbol().is_none()) {
            let shape = dims.iter().map(|n| i64::try_from(*n).unwrap_or(i64::MAX)).collect();
            let spec = leaf.leaf_spec()?;
            let made = builder.record(&ops::RESHAPE, std::slice::from_ref(leaf), &ops::Reshape { shape }, &[spec])?;
            *leaf = made.into_iter().next().ok_or_else(|| Error::internal("an op gave nothing"))?;
        }
    }
    pack(&value.spec()?, &mut leaves.into_iter(), Provenance::Trusted)
}

/// Calls `f` on traced arguments and returns its value, a float scalar, and the gradient with respect to `args`.
///
/// The gradient has the structure and the types of `args`: float components hold gradients, all others what they held.
///
/// Errors: as [`gradients`]; a value that is no float scalar.
pub fn value_and_grad(
    f: impl FnOnce(Nest<Value>) -> Result<Nest<Value>>,
    args: Nest<Value>,
) -> Result<(Value, Nest<Value>)> {
    let args = args.try_map(|_, value| traced(value))?;
    let results = f(args.clone())?;
    let y = match results.leaves().as_slice() {
        [(_, y)] => (*y).clone(),
        other => {
            let error = Error::value(format!("the function returns {} values", other.len())).wanted("one float scalar");
            let hint = "A number of Python is no tensor, and neither is what is computed of integers: an argument `3` is none, and `3.0` is one.";
            return Err(if other.is_empty() { error.hint(hint) } else { error }.at("grad"));
        }
    };
    let mut leaves = Vec::new();
    for (_, value) in args.leaves() {
        value.push_leaves(&mut leaves)?;
    }
    let float: Vec<usize> =
        (0..leaves.len()).filter(|&i| matches!(&leaves[i], Value::Tensor(t) if t.dtype().is_float())).collect();
    let xs: Vec<Value> = float.iter().map(|&i| leaves[i].clone()).collect();
    for (&i, grad) in float.iter().zip(gradients(std::slice::from_ref(&y), &xs, None)?) {
        leaves[i] = grad;
    }
    let mut leaves = leaves.into_iter();
    let grads = args.try_map(|_, value| pack(&value.spec()?, &mut leaves, Provenance::Trusted))?;
    Ok((y, grads))
}
