//! A graph that records ops and replays them on data, so that handlers are seen with symbols.

use extenso_core::attrs::AttrSet;
use extenso_core::{
    OpDef, Outputs, Provenance, RowPartition, ScopeId, Symbol, Tensor, Tracer, Value, pack, with_scope,
};
use extenso_types::{Dim, LeafSpec, PartitionSpec, Path, Result, Shape, Spec, TensorSpec};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

struct Node {
    op: &'static OpDef,
    args: Vec<Value>,
    attrs: Arc<dyn AttrSet>,
}

struct Recorder {
    scope: ScopeId,
    inputs: usize,
    nodes: RefCell<Vec<Node>>,
}

impl Tracer for Recorder {
    fn scope(&self) -> ScopeId {
        self.scope
    }

    fn record(&self, op: &'static OpDef, args: &[Value], attrs: &dyn AttrSet, outputs: &[LeafSpec]) -> Result<Outputs> {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(Node { op, args: args.to_vec(), attrs: attrs.boxed() });
        let node = self.inputs + nodes.len() - 1;
        Ok(outputs.iter().enumerate().map(|(i, spec)| symbol(self.scope, node, i, spec.clone(), Some(op))).collect())
    }
}

fn symbol(scope: ScopeId, node: usize, output: usize, spec: LeafSpec, op: Option<&'static OpDef>) -> Value {
    let number = |n: usize| u32::try_from(n).expect("few nodes");
    let is_tensor = spec.tensor().is_ok();
    let symbol = Symbol { scope, node: number(node), output: number(output), spec, op, function: "test".into() };
    let symbol = Arc::new(symbol);
    if is_tensor { Tensor::from_symbol(symbol).into() } else { RowPartition::from_symbol(symbol).into() }
}

/// Which sizes are not known: of an axis, and so long.
type Unknown = fn(usize, usize) -> bool;

/// What `f` gives when it is traced with sizes that are not known, but for those of 1, and the graph then run on these values.
pub fn traced(args: &[Value], f: impl Fn(&[Value]) -> Result<Value>) -> Result<Value> {
    traced_nodes(args, f).map(|(value, _)| value)
}

/// The same with no size known, those of 1 neither.
pub fn traced_without_sizes(args: &[Value], f: impl Fn(&[Value]) -> Result<Value>) -> Result<Value> {
    traced_by(args, |_, _| true, f).map(|(value, _)| value)
}

/// The same with the sizes of inner axes known, and those of outer axes not.
pub fn traced_without_rows(args: &[Value], f: impl Fn(&[Value]) -> Result<Value>) -> Result<Value> {
    traced_by(args, |axis, _| axis == 0, f).map(|(value, _)| value)
}

/// What [`traced`] gives, and the names of the ops in the graph.
pub fn traced_nodes(args: &[Value], f: impl Fn(&[Value]) -> Result<Value>) -> Result<(Value, Vec<&'static str>)> {
    traced_by(args, |_, size| size != 1, f)
}

fn traced_by(
    args: &[Value],
    unknown: Unknown,
    f: impl Fn(&[Value]) -> Result<Value>,
) -> Result<(Value, Vec<&'static str>)> {
    let mut inputs = Vec::new();
    args.iter().try_for_each(|arg| arg.push_leaves(&mut inputs))?;
    let recorder = Rc::new(Recorder { scope: ScopeId::fresh(), inputs: inputs.len(), nodes: RefCell::default() });
    let mut next = 0;
    let symbols: Result<Vec<Value>> =
        args.iter().map(|arg| symbolic(arg, unknown, recorder.scope, &mut next)).collect();
    let symbols = symbols?;
    let output = with_scope(recorder.clone(), || f(&symbols))?;
    let nodes = recorder.nodes.borrow();
    let mut done: Vec<Outputs> = inputs.into_iter().map(|input| Outputs::from_iter([input])).collect();
    for node in nodes.iter() {
        let args: Vec<Value> = node.args.iter().map(|arg| data_of(arg, &done)).collect();
        done.push(node.op.run(&args, &*node.attrs).map_err(|e| e.at(node.op.name))?);
    }
    let mut leaves = Vec::new();
    output.push_leaves(&mut leaves)?;
    let leaves: Vec<Value> = leaves.iter().map(|leaf| data_of(leaf, &done)).collect();
    let value = pack(&output.spec()?, &mut leaves.into_iter(), Provenance::Outside)?;
    Ok((value, nodes.iter().map(|node| node.op.name).collect()))
}

fn symbolic(arg: &Value, unknown: Unknown, scope: ScopeId, next: &mut usize) -> Result<Value> {
    let spec = arg.spec()?;
    let specs = spec.leaves(&Path::root());
    let mut sizes: Vec<(usize, Dim)> = Vec::new();
    // One variable per size within a value: its leaves fit each other.
    let mut var = |axis: usize, dim: Dim| match dim {
        Dim::Known(n) if unknown(axis, n) => match sizes.iter().find(|(known, _)| *known == n) {
            Some((_, dim)) => *dim,
            None => {
                let dim = Dim::any();
                sizes.push((n, dim));
                dim
            }
        },
        other => other,
    };
    let mut leaves = Vec::new();
    for (_, leaf) in specs {
        let leaf = match leaf {
            LeafSpec::Tensor(t) => {
                let dims = t.shape.dims().expect("data").iter().enumerate();
                let dims: Vec<Dim> = dims.map(|(axis, d)| var(axis, *d)).collect();
                LeafSpec::Tensor(TensorSpec::new(t.dtype, Shape::new(dims)))
            }
            LeafSpec::Partition(p) => {
                LeafSpec::Partition(PartitionSpec { nrows: var(0, p.nrows), nvalues: var(0, p.nvalues), ..p })
            }
        };
        leaves.push(symbol(scope, *next, 0, leaf, None));
        *next += 1;
    }
    match spec {
        Spec::Tensor(_) | Spec::Partition(_) => Ok(leaves.remove(0)),
        Spec::Ext(_) => pack(&spec, &mut leaves.into_iter(), Provenance::Trusted),
    }
}

fn data_of(value: &Value, done: &[Outputs]) -> Value {
    match value.symbol() {
        Some(symbol) => {
            done[usize::try_from(symbol.node).expect("small")][usize::try_from(symbol.output).expect("small")].clone()
        }
        None => value.clone(),
    }
}
