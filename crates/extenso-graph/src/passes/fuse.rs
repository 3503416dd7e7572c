//! Fusion: which elementwise chains, and the reductions that end them, run as one pass over blocks.
//!
//! Invariant: a node is in a group only if all its readers are, so nothing is computed twice; and it has the shape of the
//! group, by equal sizes or equal variables. The block functions are those of the single ops, so no bit changes. Folds of
//! the same values over the rows of the same partition are one group, which reads them once.

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
    /// The nodes whose results are stored, in order: one for each fold over rows, or one alone. The group runs in place of
    /// the first.
    pub roots: Vec<u32>,
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
    /// It is folded over the rows of a partition, once for each root.
    Segments(Vec<Fold>, ValueRef),
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
    let (sink, seed, roots) = match op.kernel {
        Kernel::Elementwise(_) => (Sink::Store, narrow(root), vec![narrow(root)]),
        Kernel::Reduction(fold) => (Sink::Axes(fold, attrs.clone()), first.node, vec![narrow(root)]),
        Kernel::Segment(_) => {
            let (roots, folds) = folds_alike(graph, uses, &node.inputs);
            (Sink::Segments(folds, node.inputs[1]), first.node, roots)
        }
        Kernel::General(..) => return Ok(None),
    };
    let folded = !matches!(sink, Sink::Store);
    let over = shape(graph, seed).filter(|_| kernel(graph, seed).is_some());
    let over = over.filter(|over| !folded || foldable(graph, &sink, seed, over, uses, &roots, taken));
    let Some(over) = over else { return Ok(of_stored(graph, *first, sink, roots)) };
    let is_root = |i: u32| roots.contains(&i);
    let root = roots.first().map_or(root, |first| *first as usize);
    let mut members: BTreeSet<u32> = roots.iter().copied().chain([seed]).collect();
    // From the back: all readers of a node are decided before it is.
    for i in (0..seed).rev() {
        let joins = members.len() < LONGEST
            && taken[i as usize].is_none()
            && !uses.readers(i).is_empty()
            && uses.readers(i).iter().all(|r| members.contains(r) && !(folded && is_root(*r)))
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
    Ok(Some((members, Group { roots, expr, inputs, sink })))
}

/// The folds over rows that read these values and this partition: their nodes, in order, and what they do.
fn folds_alike(graph: &Graph, uses: &Uses, inputs: &[ValueRef]) -> (Vec<u32>, Vec<Fold>) {
    let fold = |i: &u32| {
        let node = graph.nodes.get(*i as usize).filter(|node| node.inputs[..] == *inputs)?;
        match &node.kind {
            NodeKind::Op(op, _) => match op.kernel {
                Kernel::Segment(fold) => Some((*i, fold)),
                Kernel::Elementwise(_) | Kernel::Reduction(_) | Kernel::General(..) => None,
            },
            NodeKind::Input(_) | NodeKind::Constant(_) => None,
        }
    };
    inputs.first().map(|values| uses.readers(values.node).iter().filter_map(fold).unzip()).unwrap_or_default()
}

/// The group of several folds of values that are stored.
fn of_stored(graph: &Graph, values: ValueRef, sink: Sink, roots: Vec<u32>) -> Option<(BTreeSet<u32>, Group)> {
    let Sink::Segments(folds, _) = &sink else { return None };
    let spec = tensor(graph, values).filter(|spec| spec.shape.rank() == Some(1))?;
    if folds.len() < 2 || folds.iter().any(|fold| fold.kernel(spec.dtype).is_none()) {
        return None;
    }
    let mut expr = Expr::default();
    expr.input(spec.dtype);
    let inputs = vec![Read { at: values, rows: None }];
    Some((roots.iter().copied().collect(), Group { roots, expr, inputs, sink }))
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

/// Whether reductions can take the blocks of the node before them.
fn foldable(graph: &Graph, sink: &Sink, seed: u32, over: &Shape, uses: &Uses, roots: &[u32], taken: &Groups) -> bool {
    let dtype = tensor(graph, ValueRef { node: seed, output: 0 }).map_or(DType::Variant, |s| s.dtype);
    let folds = match sink {
        Sink::Store => return false,
        Sink::Axes(fold, _) => std::slice::from_ref(fold),
        Sink::Segments(folds, _) if over.rank() == Some(1) => folds,
        Sink::Segments(..) => return false,
    };
    folds.iter().all(|fold| fold.kernel(dtype).is_some())
        && uses.readers(seed).iter().all(|r| roots.contains(r))
        && taken[seed as usize].is_none()
        && !roots.first().is_some_and(|root| uses.effect_between(seed, *root as usize))
}
