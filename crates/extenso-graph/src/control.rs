//! Control flow: `cond`, an op whose attributes are graphs.
//!
//! Invariant: a branch that is not taken does nothing, errors included. Branches take what they capture as arguments.

use crate::builder::{Builder, replay};
use crate::gradient::gradients;
use crate::graph::{Graph, Input, Node, NodeKind, Subgraph};
use crate::passes::narrowed;
use extenso_core::attrs::{AttrSet, Attrs, GraphAttr};
use extenso_core::grad::GradCx;
use extenso_core::{
    Arg, Class, OpDef, OutputSpecs, Outputs, Provenance, Scalar, Tensor, Value, call, pack, strengthen,
};
use extenso_types::{Bindings, DType, Error, LeafSpec, Nest, Path, Result, Segment, Spec, StaticValue};
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;
use std::sync::Arc;

extenso_core::attrs! {
    /// The branches of `cond`, graphs over the same arguments.
    pub struct Branches { then: Arc<dyn GraphAttr>, otherwise: Arc<dyn GraphAttr> }
}

/// Runs one of two graphs on the arguments behind the first, which chooses.
pub static COND: OpDef = OpDef::general(Class::Effect, infer_cond, run_cond).grad(grad_cond).takes_captures().named(
    "cond",
    "Runs one of two graphs on the arguments behind the first, which chooses.\n",
    &["condition"],
    Branches::DEF,
);

/// Control flow ops.
pub static CONTROL: &[&OpDef] = &[&COND];

/// The results of `then` if `condition` is true, otherwise of `otherwise`.
///
/// On data, only the chosen one runs, and nothing is known of what the other would give. While tracing, both are traced into graphs
/// that capture what they use; when the graph runs, only the chosen branch does anything. The results then have one structure, and
/// their specs are joined; a number of the host language takes the dtype of what stands against it.
///
/// Errors: a condition that is not one boolean; while tracing, branches whose results differ in structure, dtype or type.
pub fn cond(
    condition: &Value,
    then: impl FnOnce() -> Result<Nest<Value>>,
    otherwise: impl FnOnce() -> Result<Nest<Value>>,
) -> Result<Nest<Value>> {
    if condition.symbol().is_none() {
        let one = |t: &Tensor| match t.rank() {
            Some(0) => t.to_bool(),
            _ => Err(Error::shape(format!("found {}", condition.spec()?)).wanted("one boolean")),
        };
        let chosen = condition.tensor().and_then(one).map_err(|e| e.at("argument 'condition'").at("cond"))?;
        return if chosen { then() } else { otherwise() };
    }
    let scopes = ["then", "otherwise"].map(Builder::of_branch);
    let (mut results, mut others) = (scopes[0].enter(then)?, scopes[1].enter(otherwise)?);
    meet(&mut results, &mut others).map_err(|e| e.at("cond"))?;
    let (then, otherwise) = (branch(&scopes[0], &results)?, branch(&scopes[1], &others)?);
    let output = join(&then.output, &otherwise.output).map_err(|e| e.at("cond"))?;
    let mut captures = then.captures.clone();
    for value in &otherwise.captures {
        if !captures.iter().any(|known| crate::builder::same_value(known, value)) {
            captures.push(value.clone());
        }
    }
    let attrs = Branches { then: then.over(&captures)?, otherwise: otherwise.over(&captures)? };
    let args: Vec<Arg> = std::iter::once(condition).chain(&captures).map(Arg::from).collect();
    let outputs = call(&COND, &args, &attrs)?;
    let mut leaves = outputs.into_iter();
    output.try_map(|_, spec| pack(spec, &mut leaves, Provenance::Trusted))
}

struct Branch {
    graph: Graph,
    captures: Vec<Value>,
    output: Nest<Spec>,
}

fn branch(builder: &Rc<Builder>, results: &Nest<Value>) -> Result<Branch> {
    builder.enter(|| {
        let mut leaves = Vec::new();
        for (_, value) in results.leaves() {
            value.push_leaves(&mut leaves)?;
        }
        let output = results.try_map(|_, value| value.spec())?;
        let (graph, captures) = builder.finish(&leaves)?;
        Ok(Branch { graph, captures, output })
    })
}

/// Makes tensors of numbers that stand against tensors, or against other numbers.
///
/// Errors: a number that the dtype does not hold.
fn meet(x: &mut Nest<Value>, y: &mut Nest<Value>) -> Result<()> {
    match (&mut *x, &mut *y) {
        (Nest::Static(a), Nest::Static(b)) if a == b => {}
        (Nest::Static(a), Nest::Static(b)) => {
            if let (Some(a), Some(b)) = (number(a), number(b)) {
                let dtype = [&a, &b].into_iter().find_map(|x| matches!(x, Scalar::Float(_)).then_some(DType::F64));
                (*x, *y) = (leaf(&a, dtype)?, leaf(&b, dtype)?);
            }
        }
        (Nest::Static(a), Nest::Leaf(value)) => {
            if let Some(a) = number(a) {
                *x = leaf(&a, dtype_of(value))?;
            }
        }
        (Nest::Leaf(_), Nest::Static(_)) => meet(y, x)?,
        (Nest::List(a), Nest::List(b)) | (Nest::Tuple(a), Nest::Tuple(b)) => {
            a.iter_mut().zip(b).try_for_each(|(x, y)| meet(x, y))?;
        }
        (Nest::Dict(a), Nest::Dict(b)) | (Nest::Record(_, a), Nest::Record(_, b)) => {
            for (name, x) in a {
                if let Some((_, y)) = b.iter_mut().find(|(other, _)| other == name) {
                    meet(x, y)?;
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn number(value: &StaticValue) -> Option<Scalar> {
    match value {
        StaticValue::Bool(x) => Some(Scalar::Bool(*x)),
        StaticValue::Int(x) => Some(Scalar::Int(*x)),
        StaticValue::Float(x) => Some(Scalar::Float(*x)),
        _ => None,
    }
}

fn leaf(number: &Scalar, dtype: Option<DType>) -> Result<Nest<Value>> {
    Ok(Nest::Leaf(strengthen(number, dtype)?.into()))
}

fn dtype_of(value: &Value) -> Option<DType> {
    value.tensor().ok().map(extenso_core::Tensor::dtype)
}

impl Branch {
    /// The graph as a function of these captures, of which its own are some.
    fn over(&self, captures: &[Value]) -> Result<Arc<dyn GraphAttr>> {
        let mut graph = self.graph.clone();
        let place = |own: &Value| captures.iter().position(|v| crate::builder::same_value(v, own)).unwrap_or(0);
        let places: Vec<usize> = self.captures.iter().map(place).collect();
        for node in &mut graph.nodes {
            if let NodeKind::Input(i) = &mut node.kind {
                *i = places[*i];
            }
        }
        graph.inputs = inputs_of(captures)?;
        // An input that this branch does not use still has its node, so that every input has one.
        for (i, input) in graph.inputs.iter().enumerate().filter(|(i, _)| !places.contains(i)) {
            let outputs = smallvec![input.spec.clone()];
            graph.nodes.push(Node {
                kind: NodeKind::Input(i),
                inputs: SmallVec::new(),
                outputs,
                after: None,
                origin: None,
            });
        }
        Ok(Subgraph::new(narrowed(graph)?))
    }
}

fn inputs_of(captures: &[Value]) -> Result<Vec<Input>> {
    let path = |i: usize| Path::from_iter([Segment::component(format!("capture{i}"))]);
    captures.iter().enumerate().map(|(i, v)| Ok(Input { path: path(i), spec: v.leaf_spec()? })).collect()
}

fn join(a: &Nest<Spec>, b: &Nest<Spec>) -> Result<Nest<Spec>> {
    a.assert_same_structure(b).map_err(|e| e.note("The branches return different structures."))?;
    let mut others = b.leaves().into_iter();
    a.try_map(|path, x| {
        let y = others.next().map(|(_, spec)| spec.clone()).ok_or_else(|| Error::internal("structures differ"))?;
        x.join(&y).ok_or_else(|| {
            Error::dtype(format!("the branches return {x} and {y}"))
                .at_path(path)
                .wanted("one dtype and one type")
                .hint("`cast` changes the dtype of one side; `mask(x, True)` is x as values that may be missing.")
        })
    })
}

fn infer_cond(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let branches = Branches::of(attrs)?;
    let (condition, captures) = args.split_first().ok_or_else(|| Error::value("the condition is missing"))?;
    let spec = condition.tensor().map_err(|e| e.at("argument 'condition'"))?;
    if spec.dtype != DType::Bool || spec.shape.rank().is_some_and(|r| r > 0) {
        return Err(Error::dtype(format!("the condition is {spec}"))
            .wanted("one boolean")
            .hint("Reduce it with `any` or `all`."));
    }
    let (then, otherwise) = (Subgraph::of(&branches.then)?.graph(), Subgraph::of(&branches.otherwise)?.graph());
    let mut outputs = Vec::new();
    for graph in [then, otherwise] {
        if graph.inputs.len() != captures.len() {
            return Err(Error::data(format!(
                "a branch takes {} arguments, {} are given",
                graph.inputs.len(),
                captures.len()
            )));
        }
        let mut bindings = Bindings::default();
        let mut pairs = graph.inputs.iter().zip(captures);
        if let Some((input, given)) = pairs.find(|(input, given)| !input.spec.accepts(given, &mut bindings)) {
            return Err(Error::data(format!("a branch takes {}, {given} is given", input.spec)));
        }
        // The sizes that a branch speaks of are those of what it is given.
        let specs = graph.output_specs()?.into_iter();
        outputs.push(specs.map(|spec| Spec::from(spec).with_sizes(&mut bindings)).collect::<Vec<Spec>>());
    }
    let others = outputs.pop().unwrap_or_default();
    let pairs = outputs.pop().unwrap_or_default().into_iter().zip(others);
    pairs
        .map(|(a, b)| {
            let joined = a.join(&b).ok_or_else(|| Error::data("the branches return different dtypes"))?;
            Ok(match joined {
                Spec::Tensor(t) => LeafSpec::Tensor(t),
                Spec::Partition(p) => LeafSpec::Partition(p),
                Spec::Ext(_) => return Err(Error::internal("a leaf became an extension")),
            })
        })
        .collect()
}

fn run_cond(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let branches = Branches::of(attrs)?;
    let (condition, captures) = args.split_first().ok_or_else(|| Error::value("the condition is missing"))?;
    let chosen = if condition.tensor()?.to_bool()? { &branches.then } else { &branches.otherwise };
    Ok(Subgraph::of(chosen)?.run(captures)?.into_iter().collect())
}

/// The gradient of `cond` is a `cond` whose branches are the gradients of the branches.
fn grad_cond(cx: &GradCx<'_>) -> Result<Vec<Option<Value>>> {
    let branches: &Branches = cx.attrs()?;
    let (condition, captures) = cx.args.split_first().ok_or_else(|| Error::value("the condition is missing"))?;
    let float = |v: &Value| matches!(v, Value::Tensor(t) if t.dtype().is_float());
    let wanted: Vec<usize> = (0..captures.len()).filter(|&i| float(&captures[i])).collect();
    let backward = |attr: &Arc<dyn GraphAttr>| {
        let graph = Subgraph::of(attr)?.graph();
        let outputs = replay(graph, captures)?;
        let seeded: Vec<(Value, Value)> = outputs
            .into_iter()
            .zip(cx.grads)
            .filter_map(|(y, g)| Some((y, g.clone()?)))
            .filter(|(y, _)| float(y))
            .collect();
        let (ys, seeds): (Vec<_>, Vec<_>) = seeded.into_iter().unzip();
        let xs: Vec<Value> = wanted.iter().map(|&i| captures[i].clone()).collect();
        let grads = gradients(&ys, &xs, Some(&seeds))?;
        Ok(Nest::List(grads.into_iter().map(Nest::Leaf).collect()))
    };
    let grads = cond(condition, || backward(&branches.then), || backward(&branches.otherwise))?;
    let mut out = vec![None; cx.args.len()];
    for (&i, (_, grad)) in wanted.iter().zip(grads.leaves()) {
        out[i + 1] = Some(grad.clone());
    }
    Ok(out)
}
