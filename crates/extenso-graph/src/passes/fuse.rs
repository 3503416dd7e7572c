//! Fusion: which elementwise nodes, and the reductions that end them, run as one pass over blocks.
//!
//! Invariant: nothing is computed twice, and the nodes of a group have one shape, by equal sizes or equal variables. The block
//! functions are those of the single ops, so no bit changes. A fold takes the nodes before it that nothing else reads, and folds
//! of the same values over the rows of the same partition are one group; elementwise nodes that are left are joined by
//! [`chains`].

mod chains;

use crate::graph::{Graph, Node, NodeKind, ValueRef};
use extenso_core::Kernel;
use extenso_core::attrs::Attrs;
use extenso_core::elementwise::{Expr, Slot};
use extenso_core::kernels::map::BlockKernel;
use extenso_core::reduce::{Fold, Reduce};
use extenso_types::{DType, Dims, LeafSpec, Result, Shape, TensorSpec};
use smallvec::SmallVec;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Steps of one group at most: its registers have to stay in cache.
const LONGEST: usize = 48;

/// Nodes that run as one step.
#[derive(Clone)]
pub(crate) struct Group {
    /// The nodes whose results the step gives, in order.
    pub roots: Vec<u32>,
    /// The expression over the inputs.
    pub expr: Expr,
    /// What the expression reads.
    pub inputs: Vec<Read>,
    /// What becomes of its results.
    pub sink: Sink,
    /// Which of the inputs the step makes first, by an op whose result the expression replaces.
    pub head: Option<Head>,
}

/// An input of an expression that its step makes itself: the result of a node, which nothing else reads.
#[derive(Clone, Copy)]
pub(crate) struct Head {
    pub node: u32,
    /// Its place among the inputs.
    pub input: usize,
}

/// An input of an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Read {
    /// The tensor, or the partition.
    pub at: ValueRef,
    pub how: How,
}

/// How an input is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum How {
    /// As it stands.
    Plain,
    /// Each element for all values of its row of a partition.
    Repeated(ValueRef),
    /// The lengths of the rows of a partition.
    Lengths,
}

/// What becomes of the results of an expression.
#[derive(Clone)]
pub(crate) enum Sink {
    /// They are stored.
    Store(Vec<Given>),
    /// The only one is folded over axes.
    Axes(Fold, Reduce),
    /// The only one is folded over the rows of a partition, once for each root.
    Segments(Vec<Fold>, ValueRef),
}

/// What a step gives for a root: a stored result, under its own sizes or with more axes of size 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Given {
    /// Which of the stored results.
    pub stored: usize,
    /// For each axis the one of the result that it is, or none where it has size 1.
    pub axes: Option<Axes>,
}

impl Given {
    /// The sizes that it has where the stored result has these.
    pub fn sizes(&self, dims: &[usize]) -> Dims {
        let Some(axes) = &self.axes else { return Dims::from_slice(dims) };
        let mut sizes = Dims::with_capacity(axes.len());
        for axis in axes {
            sizes.push(axis.map_or(1, |axis| dims[axis]));
        }
        sizes
    }
}

/// For each axis the one that it is among others, or none where it has size 1.
pub(crate) type Axes = SmallVec<[Option<usize>; 4]>;

/// The groups of a graph: for every node that is fused away, and for the roots of each group, the group.
pub(crate) fn fuse(graph: &Graph, live: &[bool]) -> Result<Groups> {
    let known = Known::of(graph, live);
    let mut groups: Groups = vec![None; graph.nodes.len()];
    let join = |groups: &mut Groups, (members, group): Fused| {
        let group = Arc::new(group);
        members.into_iter().for_each(|member| groups[member as usize] = Some(group.clone()));
    };
    for root in (0..graph.nodes.len()).rev().filter(|i| live[*i]) {
        if groups[root].is_none()
            && let Some(fused) = fold(&known, root, &groups)?
        {
            join(&mut groups, fused);
        }
    }
    for (mut members, mut group) in chains::of(&known, &groups) {
        group.head = head(&known, &members, &group, &groups);
        members.extend(group.head.map(|head| head.node));
        if members.len() > 1 {
            join(&mut groups, (members, group));
        }
    }
    Ok(groups)
}

/// The input whose place the only result of a chain can take.
fn head(known: &Known<'_>, members: &BTreeSet<u32>, group: &Group, taken: &Groups) -> Option<Head> {
    let (Sink::Store(given), Some(last)) = (&group.sink, group.roots.iter().max()) else { return None };
    let member = *members.iter().rfind(|member| known.kernel(**member).is_some())?;
    let result = known.tensor(ValueRef { node: member, output: 0 })?;
    if given.iter().any(|given| given.stored > 0) || group.expr.dtype() != Some(result.dtype) {
        return None;
    }
    group.inputs.iter().enumerate().find_map(|(input, read)| {
        let node = read.at.node;
        let fits = known.can_be_head(node)
            && read.how == How::Plain
            && known.tensor(read.at) == Some(result)
            && taken[node as usize].is_none()
            && known.readers(node).iter().all(|reader| members.contains(reader))
            && !known.effect_between(node, *last as usize);
        fits.then_some(Head { node, input })
    })
}

/// A group, and the nodes that it runs.
type Fused = (BTreeSet<u32>, Group);

/// For each node the group that it is in, if it is in one.
pub(crate) type Groups = Vec<Option<Arc<Group>>>;

fn narrow(i: usize) -> u32 {
    u32::try_from(i).unwrap_or(u32::MAX)
}

/// What is known of the nodes of a graph.
struct Known<'a> {
    graph: &'a Graph,
    /// The readers of each node; an output of the graph counts as a reader beyond the last node.
    readers: Vec<SmallVec<[u32; 4]>>,
    /// How many nodes before each one have an effect.
    effects: Vec<u32>,
    /// The kernel of each elementwise node on its arguments' dtypes, if its shape has a known rank.
    kernels: Vec<Option<BlockKernel>>,
}

impl<'a> Known<'a> {
    fn of(graph: &'a Graph, live: &[bool]) -> Known<'a> {
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
        let kernels = graph.nodes.iter().zip(live).map(|(node, live)| kernel(graph, node).filter(|_| *live)).collect();
        Known { graph, readers, effects, kernels }
    }

    fn readers(&self, i: u32) -> &[u32] {
        &self.readers[i as usize]
    }

    fn kernel(&self, i: u32) -> Option<BlockKernel> {
        self.kernels[i as usize]
    }

    /// Whether an effect runs between two nodes: what can fail must not move past it.
    fn effect_between(&self, from: u32, to: usize) -> bool {
        self.effects[from as usize] != self.effects[to]
    }

    /// Whether an expression can replace the result of a node.
    fn can_be_head(&self, i: u32) -> bool {
        matches!(self.graph.nodes[i as usize].kind, NodeKind::Op(op, _) if op.epilogue.is_some())
    }

    /// Whether a node reads what an expression can replace.
    fn reads_a_head(&self, i: u32) -> bool {
        self.graph.nodes[i as usize].inputs.iter().any(|at| self.can_be_head(at.node))
    }

    fn tensor(&self, at: ValueRef) -> Option<&'a TensorSpec> {
        match self.graph.spec(at) {
            Ok(LeafSpec::Tensor(spec)) => Some(spec),
            _ => None,
        }
    }

    /// The shape of an elementwise node.
    fn shape(&self, i: u32) -> Option<&'a Shape> {
        self.kernel(i).and_then(|_| self.tensor(ValueRef { node: i, output: 0 })).map(|spec| &spec.shape)
    }
}

/// The kernel of an elementwise node on its arguments' dtypes.
fn kernel(graph: &Graph, node: &Node) -> Option<BlockKernel> {
    let NodeKind::Op(op, attrs) = &node.kind else { return None };
    let Kernel::Elementwise(lookup) = op.kernel else { return None };
    let dtype = |at: &ValueRef| graph.spec(*at).ok()?.tensor().ok().map(|spec| spec.dtype);
    let dtypes: Option<SmallVec<[DType; 4]>> = node.inputs.iter().map(dtype).collect();
    node.outputs.first()?.tensor().ok()?.shape.rank()?;
    lookup(&dtypes?, &**attrs)
}

/// The group of a fold and the elementwise nodes before it that it alone depends on, or of several folds of the same rows.
fn fold(known: &Known<'_>, root: usize, taken: &Groups) -> Result<Option<Fused>> {
    let node = &known.graph.nodes[root];
    let NodeKind::Op(op, attrs) = &node.kind else { return Ok(None) };
    let Some(first) = node.inputs.first() else { return Ok(None) };
    let seed = first.node;
    let (sink, roots) = match op.kernel {
        Kernel::Reduction(fold) => (Sink::Axes(fold, Reduce::of(&**attrs)?.clone()), vec![narrow(root)]),
        Kernel::Segment(_) => {
            let (roots, folds) = folds_alike(known, &node.inputs);
            (Sink::Segments(folds, node.inputs[1]), roots)
        }
        Kernel::Elementwise(_) | Kernel::General(..) => return Ok(None),
    };
    let over = known.shape(seed).filter(|over| foldable(known, &sink, seed, over, &roots, taken));
    let Some(over) = over else { return Ok(of_stored(known, *first, sink, roots)) };
    let root = roots.first().map_or(root, |first| *first as usize);
    let mut members = BTreeSet::from([seed]);
    // From the back: all readers of a node are decided before it is.
    for i in (0..seed).rev() {
        let joins = members.len() < LONGEST
            && taken[i as usize].is_none()
            && !known.readers(i).is_empty()
            && known.readers(i).iter().all(|r| members.contains(r))
            && known.shape(i) == Some(over)
            && !known.effect_between(i, root);
        if joins {
            members.insert(i);
        }
    }
    let through = read_through(known, root, over, &members, taken);
    let (expr, inputs) = expression(known, &members, &through, |_| false);
    members.extend(roots.iter().copied().chain(through));
    Ok(Some((members, Group { roots, expr, inputs, sink, head: None })))
}

/// The expression that the elementwise nodes are, in order, and what it reads; `stored` says whose results are kept.
fn expression(
    known: &Known<'_>,
    members: &BTreeSet<u32>,
    through: &BTreeSet<u32>,
    stored: impl Fn(u32) -> bool,
) -> (Expr, Vec<Read>) {
    let graph = known.graph;
    let mut expr = Expr::default();
    let mut inputs: Vec<Read> = Vec::new();
    let mut places: HashMap<u32, Slot> = HashMap::new();
    for (&member, kernel) in members.iter().filter_map(|member| Some((member, known.kernel(*member)?))) {
        let mut args: SmallVec<[Slot; 3]> = SmallVec::new();
        for at in &graph.nodes[member as usize].inputs {
            let read = match &graph.nodes[at.node as usize].inputs[..] {
                [x, rows] if through.contains(&at.node) => Read { at: *x, how: How::Repeated(*rows) },
                [rows] if through.contains(&at.node) => Read { at: *rows, how: How::Lengths },
                _ => Read { at: *at, how: How::Plain },
            };
            args.push(match (places.get(&at.node), inputs.iter().position(|known| *known == read)) {
                (Some(slot), _) => *slot,
                (None, Some(i)) => Slot::Input(i),
                (None, None) => {
                    inputs.push(read);
                    expr.input(known.tensor(*at).map_or(DType::Variant, |s| s.dtype))
                }
            });
        }
        places.insert(member, expr.step(kernel, args));
        if stored(member) {
            expr.store();
        }
    }
    expr.plan();
    (expr, inputs)
}

/// The folds over rows that read these values and this partition: their nodes, in order, and what they do.
fn folds_alike(known: &Known<'_>, inputs: &[ValueRef]) -> (Vec<u32>, Vec<Fold>) {
    let fold = |i: &u32| {
        let node = known.graph.nodes.get(*i as usize).filter(|node| node.inputs[..] == *inputs)?;
        match &node.kind {
            NodeKind::Op(op, _) => match op.kernel {
                Kernel::Segment(fold) => Some((*i, fold)),
                Kernel::Elementwise(_) | Kernel::Reduction(_) | Kernel::General(..) => None,
            },
            NodeKind::Input(_) | NodeKind::Constant(_) => None,
        }
    };
    inputs.first().map(|values| known.readers(values.node).iter().filter_map(fold).unzip()).unwrap_or_default()
}

/// The group of several folds of values that are stored.
fn of_stored(known: &Known<'_>, values: ValueRef, sink: Sink, roots: Vec<u32>) -> Option<Fused> {
    let Sink::Segments(folds, _) = &sink else { return None };
    let spec = known.tensor(values).filter(|spec| spec.shape.rank() == Some(1))?;
    if folds.len() < 2 || folds.iter().any(|fold| fold.kernel(spec.dtype).is_none()) {
        return None;
    }
    let mut expr = Expr::default();
    expr.input(spec.dtype);
    let inputs = vec![Read { at: values, how: How::Plain }];
    Some((roots.iter().copied().collect(), Group { roots, expr, inputs, sink, head: None }))
}

/// The nodes that say something of rows to members alone: the group reads it there, and nobody stores what they give.
fn read_through(
    known: &Known<'_>,
    root: usize,
    over: &Shape,
    members: &BTreeSet<u32>,
    taken: &Groups,
) -> BTreeSet<u32> {
    let nodes = &known.graph.nodes;
    let read = members.iter().flat_map(|&member| nodes[member as usize].inputs.iter().map(|at| at.node));
    let is_of_rows = |i: &u32| match &nodes[*i as usize].kind {
        NodeKind::Op(op, _) => op.of_rows.is_some(),
        NodeKind::Input(_) | NodeKind::Constant(_) => false,
    };
    let has_blocks = |i: &u32| {
        let spec = known.tensor(ValueRef { node: *i, output: 0 });
        spec.is_some_and(|spec| spec.dtype.width().is_some() && spec.shape == *over)
    };
    read.filter(|i| is_of_rows(i) && has_blocks(i) && taken[*i as usize].is_none())
        .filter(|i| known.readers(*i).iter().all(|reader| members.contains(reader)))
        .filter(|i| !known.effect_between(*i, root))
        .collect()
}

/// Whether reductions can take the blocks of the node before them.
fn foldable(known: &Known<'_>, sink: &Sink, seed: u32, over: &Shape, roots: &[u32], taken: &Groups) -> bool {
    let dtype = known.tensor(ValueRef { node: seed, output: 0 }).map_or(DType::Variant, |s| s.dtype);
    let folds = match sink {
        Sink::Store(_) => return false,
        Sink::Axes(fold, _) => std::slice::from_ref(fold),
        Sink::Segments(folds, _) if over.rank() == Some(1) => folds,
        Sink::Segments(..) => return false,
    };
    folds.iter().all(|fold| fold.kernel(dtype).is_some())
        && known.readers(seed).iter().all(|r| roots.contains(r))
        && taken[seed as usize].is_none()
        && !roots.first().is_some_and(|root| known.effect_between(seed, *root as usize))
}
