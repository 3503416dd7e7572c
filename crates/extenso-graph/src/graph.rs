//! The graph: one arena of nodes in SSA form, over tensors and row partitions.
//!
//! Invariant: a node's inputs stand before it; its output specs are what its op infers from theirs; nodes with an effect are
//! a chain in the order in which they run. `verify` proves all three.

use crate::origin::Origin;
use crate::program::Program;
use extenso_core::attrs::{AttrSet, AttrValue, GraphAttr};
use extenso_core::{OpDef, OutputSpecs, Value};
use extenso_types::{Dim, DimId, Error, LeafSpec, Path, Result};
use smallvec::SmallVec;
use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// One output of one node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ValueRef {
    /// The node's place in the arena.
    pub node: u32,
    /// Which of its outputs.
    pub output: u32,
}

/// One application of an op, an input, or a constant.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Its arguments.
    pub inputs: SmallVec<[ValueRef; 4]>,
    /// The specs of its outputs.
    pub outputs: OutputSpecs,
    /// The node with an effect that must run before it, if it has one itself.
    pub after: Option<u32>,
    /// Where its op was called, if the language that traced it says so.
    pub origin: Option<Origin>,
}

/// What a node is.
#[derive(Clone)]
pub enum NodeKind {
    /// An input of the graph, by its place among them.
    Input(usize),
    /// A constant.
    Constant(Value),
    /// An op.
    Op(&'static OpDef, Arc<dyn AttrSet>),
}

impl fmt::Debug for NodeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NodeKind::Input(i) => write!(f, "input {i}"),
            NodeKind::Constant(value) => write!(f, "constant {value:?}"),
            NodeKind::Op(op, attrs) => write!(f, "{} {attrs:?}", op.name),
        }
    }
}

/// An input: its name is its path, and its spec.
#[derive(Clone, PartialEq, Debug)]
pub struct Input {
    /// Where the leaf stands in the arguments.
    pub path: Path,
    /// What is known of it.
    pub spec: LeafSpec,
}

/// A function over leaves.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The function's name.
    pub name: String,
    /// The arena.
    pub nodes: Vec<Node>,
    /// The inputs in order.
    pub inputs: Vec<Input>,
    /// The outputs in order.
    pub outputs: Vec<ValueRef>,
}

impl Graph {
    /// The spec of a value.
    ///
    /// Errors: there is no such value.
    pub fn spec(&self, at: ValueRef) -> Result<&LeafSpec> {
        let node = self.nodes.get(at.node as usize);
        node.and_then(|n| n.outputs.get(at.output as usize))
            .ok_or_else(|| Error::data(format!("graph '{}' has no value {}.{}", self.name, at.node, at.output)))
    }

    /// The specs of the outputs.
    ///
    /// Errors: an output that does not exist.
    pub fn output_specs(&self) -> Result<Vec<LeafSpec>> {
        self.outputs.iter().map(|at| self.spec(*at).cloned()).collect()
    }

    /// Whether some node reads or changes state.
    pub fn has_effect(&self) -> bool {
        self.nodes.iter().any(Node::has_effect)
    }

    /// For each input, whether an output or an effect depends on it.
    pub fn needed_inputs(&self) -> Vec<bool> {
        let live = self.live_nodes();
        let mut needed = vec![false; self.inputs.len()];
        for (node, _) in self.nodes.iter().zip(&live).filter(|(_, live)| **live) {
            if let NodeKind::Input(i) = node.kind
                && let Some(slot) = needed.get_mut(i)
            {
                *slot = true;
            }
        }
        needed
    }

    /// For each node, whether an output or an effect depends on it.
    pub fn live_nodes(&self) -> Vec<bool> {
        let mut live = vec![false; self.nodes.len()];
        let mark = |at: &ValueRef, live: &mut Vec<bool>| {
            if let Some(slot) = live.get_mut(at.node as usize) {
                *slot = true;
            }
        };
        self.outputs.iter().for_each(|at| mark(at, &mut live));
        for (i, node) in self.nodes.iter().enumerate().rev() {
            if live[i] || node.has_effect() {
                live[i] = true;
                node.inputs.iter().for_each(|at| mark(at, &mut live));
            }
        }
        live
    }

    /// The number of nodes that apply an op.
    pub fn op_count(&self) -> usize {
        self.nodes.iter().filter(|n| matches!(n.kind, NodeKind::Op(..))).count()
    }

    /// Proves the graph.
    ///
    /// Errors: an input that stands behind its node, a spec that the op does not infer, effects out of order.
    pub fn verify(&self) -> Result<()> {
        let mut effect = None;
        let mut sizes = Sizes::default();
        for (i, node) in self.nodes.iter().enumerate() {
            self.verify_node(i, node, &mut sizes).map_err(|e| e.at(format!("graph '{}', node {i}", self.name)))?;
            if node.has_effect() {
                if node.after != effect {
                    return Err(Error::data(format!("graph '{}', node {i}: its effect is out of order", self.name)));
                }
                effect = u32::try_from(i).ok();
            }
        }
        self.output_specs().map(|_| ())
    }

    fn verify_node(&self, i: usize, node: &Node, sizes: &mut Sizes) -> Result<()> {
        if let Some(late) = node.inputs.iter().find(|at| at.node as usize >= i) {
            return Err(Error::data(format!("its input {}.{} does not stand before it", late.node, late.output)));
        }
        let specs: Result<Vec<LeafSpec>> = node.inputs.iter().map(|at| self.spec(*at).cloned()).collect();
        let specs = specs?;
        let inferred = match &node.kind {
            NodeKind::Input(at) => {
                let input = self.inputs.get(*at).ok_or_else(|| Error::data(format!("there is no input {at}")))?;
                smallvec::smallvec![input.spec.clone()]
            }
            NodeKind::Constant(value) => smallvec::smallvec![value.leaf_spec()?],
            NodeKind::Op(op, attrs) => {
                if !op.variadic && op.params.len() != specs.len() && !op.takes_captures {
                    return Err(Error::data(format!("{} is given {} arguments", op.name, specs.len())));
                }
                op.infer(&specs, &**attrs)?
            }
        };
        // What is claimed may say less than what is inferred, never more; a variable stands for one size in the whole graph.
        let fits = inferred.len() == node.outputs.len()
            && node.outputs.iter().zip(&inferred).all(|(claim, found)| sizes.allow(claim, found));
        if fits { Ok(()) } else { Err(Error::data(format!("it claims {:?} and infers {inferred:?}", node.outputs))) }
    }
}

/// What the variables of a graph stand for, as far as verification has come.
///
/// Inferring again gives other fresh variables than those that were claimed; each of them becomes the claimed one. A
/// variable that was claimed before must be inferred from what claims it: two sizes are never said to be equal without cause.
#[derive(Default)]
struct Sizes {
    stands_for: HashMap<DimId, Dim>,
    claimed: HashSet<DimId>,
}

impl Sizes {
    fn resolve(&self, dim: Dim) -> Dim {
        match dim {
            Dim::Var(id) => self.stands_for.get(&id).map_or(dim, |other| self.resolve(*other)),
            Dim::Known(_) => dim,
        }
    }

    fn allow(&mut self, claim: &LeafSpec, found: &LeafSpec) -> bool {
        match (claim, found) {
            (LeafSpec::Tensor(a), LeafSpec::Tensor(b)) => {
                let dims = match (a.shape.dims(), b.shape.dims()) {
                    (None, _) => return a.dtype == b.dtype,
                    (Some(_), None) => return false,
                    (Some(x), Some(y)) => (x, y),
                };
                a.dtype == b.dtype
                    && dims.0.len() == dims.1.len()
                    && dims.0.iter().zip(dims.1).all(|(x, y)| self.dim(*x, *y))
            }
            (LeafSpec::Partition(a), LeafSpec::Partition(b)) => {
                a.index == b.index
                    && a.allows_rows_of(b.uniform_row_length)
                    && self.dim(a.nrows, b.nrows)
                    && self.dim(a.nvalues, b.nvalues)
            }
            (LeafSpec::Tensor(_), LeafSpec::Partition(_)) | (LeafSpec::Partition(_), LeafSpec::Tensor(_)) => false,
        }
    }

    fn dim(&mut self, claim: Dim, found: Dim) -> bool {
        let found = self.resolve(found);
        let Dim::Var(id) = claim else { return claim == found };
        let is_new = |id: &DimId| !self.claimed.contains(id) && !self.stands_for.contains_key(id);
        match found {
            // The claimed variable is met for the first time here, and so is the inferred one: they are one.
            Dim::Var(fresh) if is_new(&id) && is_new(&fresh) => {
                self.claimed.insert(id);
                if fresh != id {
                    self.stands_for.insert(fresh, claim);
                }
                true
            }
            _ if is_new(&id) => {
                self.stands_for.insert(id, found);
                true
            }
            _ => self.resolve(claim) == found,
        }
    }
}

impl Node {
    /// Whether it reads or changes state, itself or in a subgraph.
    pub fn has_effect(&self) -> bool {
        match &self.kind {
            NodeKind::Op(op, attrs) => {
                op.effect || attrs.values().iter().any(|v| matches!(v, AttrValue::Graph(g) if g.has_effect()))
            }
            NodeKind::Input(_) | NodeKind::Constant(_) => false,
        }
    }
}

/// A graph as an attribute, with its program, which is compiled at its first run.
pub struct Subgraph {
    graph: Graph,
    program: OnceLock<Program>,
}

impl Subgraph {
    /// Wraps a graph.
    pub fn new(graph: Graph) -> Arc<Subgraph> {
        Arc::new(Subgraph { graph, program: OnceLock::new() })
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Runs the graph.
    ///
    /// Errors: those of its ops.
    pub fn run(&self, args: &[Value]) -> Result<Vec<Value>> {
        let program = match self.program.get() {
            Some(program) => program,
            None => {
                let compiled = Program::compile(&self.graph)?;
                self.program.get_or_init(|| compiled)
            }
        };
        program.run(args)
    }

    /// The subgraph behind an attribute.
    ///
    /// Errors: the attribute is of another crate.
    pub fn of(attr: &Arc<dyn GraphAttr>) -> Result<&Subgraph> {
        attr.as_any().downcast_ref().ok_or_else(|| Error::internal("a graph attribute of another kind"))
    }
}

impl fmt::Debug for Subgraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.graph.fmt(f)
    }
}

impl GraphAttr for Subgraph {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn has_effect(&self) -> bool {
        self.graph.has_effect()
    }
}
