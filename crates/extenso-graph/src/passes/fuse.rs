//! Fusion: which elementwise chains, and the reductions that end them, run as one pass over blocks.
//!
//! Invariant: a node is in a group only if all its readers are, so nothing is computed twice; and it has the shape of the
//! group, by equal sizes or equal variables. The block functions are those of the single ops, so no bit changes.

use crate::graph::{Graph, Node, NodeKind, ValueRef};
use extenso_core::Kernel;
use extenso_core::attrs::AttrSet;
use extenso_core::elementwise::{Expr, Slot};
use extenso_core::reduce::Fold;
use extenso_types::{DType, LeafSpec, Result, Shape, TensorSpec};
use smallvec::SmallVec;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Steps of one group at most: its registers have to stay in cache.
const LONGEST: usize = 48;

/// Nodes that run as one step.
#[derive(Clone)]
pub(crate) struct Group {
    /// The node whose result is stored.
    pub root: u32,
    /// The expression over the inputs.
    pub expr: Expr,
    /// What the expression reads.
    pub inputs: Vec<Read>,
    /// What becomes of its result.
    pub sink: Sink,
}

/// An input of an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Read {
    /// The tensor.
    pub at: ValueRef,
    /// The partition in whose rows its elements are repeated.
    pub rows: Option<ValueRef>,
}

/// What becomes of the result of an expression.
#[derive(Clone)]
pub(crate) enum Sink {
    /// It is stored.
    Store,
    /// It is folded over axes.
    Axes(Fold, Arc<dyn AttrSet>),
    /// It is folded over the rows of a partition.
    Segments(Fold, ValueRef),
}

/// The groups of a graph: for every node that is fused away, and for the root of each group, the group.
pub(crate) fn fuse(graph: &Graph, live: &[bool]) -> Result<Groups> {
    let uses = Uses::of(graph, live);
    let mut groups: Groups = vec![None; graph.nodes.len()];
    for root in (0..graph.nodes.len()).rev().filter(|i| live[*i]) {
        if groups[root].is_some() {
            continue;
        }
        if let Some((members, group)) = grow(graph, &uses, root, &groups)? {
            let group = Arc::new(group);
            members.into_iter().for_each(|member| groups[member as usize] = Some(group.clone()));
        }
    }
    Ok(groups)
}

/// For each node the group that it is in, if it is in one.
pub(crate) type Groups = Vec<Option<Arc<Group>>>;

fn narrow(i: usize) -> u32 {
    u32::try_from(i).unwrap_or(u32::MAX)
}

/// What comes after each node.
struct Uses {
    /// The readers of each node; an output of the graph counts as a reader beyond the last node.
    readers: Vec<SmallVec<[u32; 4]>>,
    /// How many nodes before each one have an effect.
    effects: Vec<u32>,
}

impl Uses {
    fn of(graph: &Graph, live: &[bool]) -> Uses {
        let mut readers = vec![SmallVec::new(); graph.nodes.len()];
        for (i, node) in graph.nodes.iter().enumerate().filter(|(i, _)| live[*i]) {
            node.inputs.iter().for_each(|at| readers[at.node as usize].push(narrow(i)));
        }
        graph.outputs.iter().for_each(|at| readers[at.node as usize].push(u32::MAX));
        let count = |before: &mut u32, node: &Node| {
            *before += u32::from(node.has_effect());
            Some(*before)
        };
        let effects = std::iter::once(0).chain(graph.nodes.iter().scan(0, count)).collect();
        Uses { readers, effects }
    }

    fn readers(&self, i: u32) -> &[u32] {
        &self.readers[i as usize]
    }

    /// Whether an effect runs between two nodes: what can fail must not move past it.
    fn effect_between(&self, from: u32, to: usize) -> bool {
        self.effects[from as usize] != self.effects[to]
    }
}

fn tensor(graph: &Graph, at: ValueRef) -> Option<&TensorSpec> {
    match graph.spec(at) {
        Ok(LeafSpec::Tensor(spec)) => Some(spec),
        _ => None,
    }
}

/// The kernel of an elementwise node on its arguments' dtypes.
fn kernel(graph: &Graph, i: u32) -> Option<extenso_core::kernels::map::BlockKernel> {
    let node = &graph.nodes[i as usize];
    let NodeKind::Op(op, attrs) = &node.kind else { return None };
    let Kernel::Elementwise(lookup) = op.kernel else { return None };
    let dtypes: Option<SmallVec<[DType; 4]>> =
        node.inputs.iter().map(|at| tensor(graph, *at).map(|s| s.dtype)).collect();
    lookup(&dtypes?, &**attrs)
}

fn shape(graph: &Graph, i: u32) -> Option<&Shape> {
    tensor(graph, ValueRef { node: i, output: 0 }).map(|s| &s.shape).filter(|s| s.rank().is_some())
}

/// Grows the group that ends in `root`, if it has more than one node.
fn grow(graph: &Graph, uses: &Uses, root: usize, taken: &Groups) -> Result<Option<(BTreeSet<u32>, Group)>> {
    let node = &graph.nodes[root];
    let NodeKind::Op(op, attrs) = &node.kind else { return Ok(None) };
    let Some(first) = node.inputs.first() else { return Ok(None) };
    let (sink, seed) = match op.kernel {
        Kernel::Elementwise(_) => (Sink::Store, narrow(root)),
        Kernel::Reduction(fold) => (Sink::Axes(fold, attrs.clone()), first.node),
        Kernel::Segment(fold) => (Sink::Segments(fold, node.inputs[1]), first.node),
        Kernel::General(..) => return Ok(None),
    };
    let is_root = |i: u32| i == narrow(root);
    let Some(over) = shape(graph, seed).filter(|_| kernel(graph, seed).is_some()) else { return Ok(None) };
    if !matches!(sink, Sink::Store) && !foldable(graph, &sink, seed, over, uses, root, taken) {
        return Ok(None);
    }
    let mut members = BTreeSet::from([narrow(root), seed]);
    // From the back: all readers of a node are decided before it is.
    for i in (0..seed).rev() {
        let joins = members.len() < LONGEST
            && taken[i as usize].is_none()
            && !uses.readers(i).is_empty()
            && uses.readers(i).iter().all(|r| members.contains(r) && (matches!(sink, Sink::Store) || !is_root(*r)))
            && kernel(graph, i).is_some()
            && shape(graph, i) == Some(over)
            && !uses.effect_between(i, root);
        if joins {
            members.insert(i);
        }
    }
    let through = read_through(graph, uses, root, over, &members, taken);
    if members.len() + through.len() < 2 {
        return Ok(None);
    }
    let mut expr = Expr::default();
    let mut inputs: Vec<Read> = Vec::new();
    let mut places: HashMap<u32, Slot> = HashMap::new();
    let folded = !matches!(sink, Sink::Store);
    for &member in members.iter().filter(|m| !(folded && is_root(**m))) {
        let Some(kernel) = kernel(graph, member) else { return Ok(None) };
        let mut args = Vec::new();
        for at in &graph.nodes[member as usize].inputs {
            let read = match &graph.nodes[at.node as usize].inputs[..] {
                [x, rows] if through.contains(&at.node) => Read { at: *x, rows: Some(*rows) },
                _ => Read { at: *at, rows: None },
            };
            args.push(match (places.get(&at.node), inputs.iter().position(|known| *known == read)) {
                (Some(slot), _) => *slot,
                (None, Some(i)) => Slot::Input(i),
                (None, None) => {
                    inputs.push(read);
                    expr.input(tensor(graph, *at).map_or(DType::Variant, |s| s.dtype))
                }
            });
        }
        places.insert(member, expr.step(kernel, args));
    }
    expr.plan();
    members.extend(through);
    Ok(Some((members, Group { root: narrow(root), expr, inputs, sink })))
}

/// The nodes that repeat elements in rows for members alone: the group reads through them, and nobody stores what they give.
fn read_through(
    graph: &Graph,
    uses: &Uses,
    root: usize,
    over: &Shape,
    members: &BTreeSet<u32>,
    taken: &Groups,
) -> BTreeSet<u32> {
    let read = members.iter().flat_map(|&member| graph.nodes[member as usize].inputs.iter().map(|at| at.node));
    let repeats = |i: &u32| match &graph.nodes[*i as usize].kind {
        NodeKind::Op(op, _) => op.repeats_rows,
        NodeKind::Input(_) | NodeKind::Constant(_) => false,
    };
    let has_blocks = |i: &u32| {
        let spec = tensor(graph, ValueRef { node: *i, output: 0 });
        spec.is_some_and(|spec| spec.dtype.width().is_some() && spec.shape == *over)
    };
    read.filter(|i| repeats(i) && has_blocks(i) && taken[*i as usize].is_none())
        .filter(|i| uses.readers(*i).iter().all(|reader| members.contains(reader)))
        .filter(|i| !uses.effect_between(*i, root))
        .collect()
}

/// Whether a reduction can take the blocks of the node before it.
fn foldable(graph: &Graph, sink: &Sink, seed: u32, over: &Shape, uses: &Uses, root: usize, taken: &Groups) -> bool {
    let dtype = tensor(graph, ValueRef { node: seed, output: 0 }).map_or(DType::Variant, |s| s.dtype);
    let fold = match sink {
        Sink::Store => return false,
        Sink::Axes(fold, _) => *fold,
        Sink::Segments(fold, _) if over.rank() == Some(1) => *fold,
        Sink::Segments(..) => return false,
    };
    fold.kernel(dtype).is_some()
        && uses.readers(seed).iter().all(|r| *r == narrow(root))
        && taken[seed as usize].is_none()
        && !uses.effect_between(seed, root)
}
