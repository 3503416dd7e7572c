//! Chains: elementwise nodes of one shape that run as one step, which stores what others read.
//!
//! Invariant: a chain never waits for itself. Every node has a level, which rises along each edge but those between elementwise
//! nodes of one kind; the nodes of a chain have one kind and one level, so each way out of it leads to higher levels only. Nodes
//! of a kind have one shape, and no effect runs between them.
//!
//! An elementwise node goes to the last level of others of its kind that none of its readers forbids, and what only adds axes as far
//! up as its own readers let it. Nodes of one level are a chain where they share something: one reads the other, or both read the same
//! or are read by the same.

use super::{Axes, Fused, Given, Group, Groups, Known, LONGEST, Sink, expression, narrow, read_through};
use crate::graph::{Node, NodeKind, ValueRef};
use extenso_types::{Dim, Shape};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The chains of the elementwise nodes that are in no group.
pub(super) fn of(known: &Known<'_>, taken: &Groups) -> Vec<Fused> {
    let kinds = kinds(known);
    let levels = levels(known, &kinds, taken);
    let mut together = Together((0..narrow(levels.len())).collect());
    let mut sharing: HashMap<(u32, u32, Shared), u32> = HashMap::new();
    let free =
        || kinds.iter().enumerate().filter_map(|(i, kind)| kind.filter(|_| taken[i].is_none()).map(|kind| (i, kind)));
    for (i, kind) in free() {
        for shared in shared(known, narrow(i)) {
            let first = *sharing.entry((kind, levels[i], shared)).or_insert(narrow(i));
            together.join(first, narrow(i));
        }
    }
    let mut chains: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (i, _) in free() {
        chains.entry(together.first(narrow(i))).or_default().push(narrow(i));
    }
    // Nodes are in order, and so are the pieces of a chain that is too long.
    let pieces = chains.values().flat_map(|members| members.chunks(LONGEST));
    pieces.filter_map(|members| chain(known, members.iter().copied().collect(), taken)).collect()
}

/// For each elementwise node a number that those of its shape between the same effects have too.
fn kinds(known: &Known<'_>) -> Vec<Option<u32>> {
    let mut numbers: HashMap<(&Shape, u32), u32> = HashMap::new();
    let mut kind = |i: usize| {
        let shape = known.shape(narrow(i))?;
        let next = narrow(numbers.len());
        Some(*numbers.entry((shape, known.effects[i])).or_insert(next))
    };
    (0..known.graph.nodes.len()).map(&mut kind).collect()
}

/// The level of each node.
fn levels(known: &Known<'_>, kinds: &[Option<u32>], taken: &Groups) -> Vec<u32> {
    let rise = |from: usize, to: usize| u32::from(kinds[from].is_none() || kinds[from] != kinds[to]);
    let mut levels = vec![0; kinds.len()];
    let mut of_kind: HashMap<u32, BTreeSet<u32>> = HashMap::new();
    for (i, node) in known.graph.nodes.iter().enumerate() {
        let after = |at: &ValueRef| levels[at.node as usize] + rise(at.node as usize, i);
        levels[i] = node.inputs.iter().map(after).max().unwrap_or(0);
        if let Some(kind) = kinds[i].filter(|_| taken[i].is_none()) {
            of_kind.entry(kind).or_default().insert(levels[i]);
        }
    }
    // Readers come first: what they are moved to is what those before them go by.
    for i in (0..kinds.len()).rev().filter(|i| taken[*i].is_none()) {
        let readers = known.readers(narrow(i)).iter().map(|reader| *reader as usize);
        let before = |reader: usize| levels.get(reader).map(|level| level.saturating_sub(rise(i, reader)));
        let limit = readers.filter_map(before).min();
        let last = match kinds[i] {
            Some(kind) => of_kind.get(&kind).and_then(|of| of.range(..=limit.unwrap_or(u32::MAX)).next_back().copied()),
            None => limit.filter(|_| adds_axes(&known.graph.nodes[i])),
        };
        levels[i] = levels[i].max(last.unwrap_or(0));
    }
    levels
}

/// What nodes may share: a value that they read or make, or a node that reads them.
#[derive(PartialEq, Eq, Hash)]
enum Shared {
    Value(ValueRef),
    Reader(u32),
}

fn shared(known: &Known<'_>, i: u32) -> Vec<Shared> {
    let graph = known.graph;
    let is_constant = |at: &&ValueRef| matches!(graph.nodes[at.node as usize].kind, NodeKind::Constant(_));
    let values = graph.nodes[i as usize].inputs.iter().filter(|at| !is_constant(at)).copied();
    let readers = known.readers(i).iter().flat_map(|reader| match view(known, i, *reader) {
        Some(_) => known.readers(*reader),
        None => std::slice::from_ref(reader),
    });
    let readers = readers.filter(|reader| **reader != u32::MAX).map(|reader| Shared::Reader(*reader));
    values.chain([ValueRef { node: i, output: 0 }]).map(Shared::Value).chain(readers).collect()
}

/// Disjoint sets: each node points to an earlier one of its set, the first to itself.
struct Together(Vec<u32>);

impl Together {
    fn first(&mut self, mut i: u32) -> u32 {
        while self.0[i as usize] != i {
            let next = self.0[i as usize];
            self.0[i as usize] = self.0[next as usize];
            i = next;
        }
        i
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.first(a), self.first(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

/// The group of a chain, if it may save a step.
fn chain(known: &Known<'_>, mut members: BTreeSet<u32>, taken: &Groups) -> Option<Fused> {
    let last = *members.last()?;
    let through = read_through(known, last as usize, known.shape(last)?, &members, taken);
    let (mut roots, mut givens, mut views, mut stored) = (Vec::new(), Vec::new(), BTreeSet::new(), BTreeSet::new());
    for &member in &members {
        let mut is_read = false;
        let at = stored.len();
        for &reader in known.readers(member).iter().filter(|reader| !members.contains(reader)) {
            match view(known, member, reader).filter(|_| !known.effect_between(reader, last as usize)) {
                Some(axes) if views.insert(reader) => {
                    roots.push(reader);
                    givens.push(Given { stored: at, axes: Some(axes) });
                }
                Some(_) => {}
                None => is_read = true,
            }
        }
        if is_read {
            roots.push(member);
            givens.push(Given { stored: at, axes: None });
        }
        if givens.last().is_some_and(|given| given.stored == at) {
            stored.insert(member);
        }
    }
    if members.len() + through.len() + views.len() < 2 && !known.reads_a_head(last) {
        return None;
    }
    let (expr, inputs) = expression(known, &members, &through, |member| stored.contains(&member));
    members.extend(through.into_iter().chain(views));
    Some((members, Group { roots, expr, inputs, sink: Sink::Store(givens), head: None }))
}

fn adds_axes(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Op(op, _) if op.adds_axes)
}

/// For each axis of what a reader makes of a node the axis that it is, if the reader only adds axes.
fn view(known: &Known<'_>, i: u32, reader: u32) -> Option<Axes> {
    let node = known.graph.nodes.get(reader as usize).filter(|node| adds_axes(node))?;
    let dims = known.shape(i)?.dims()?;
    let mut at = 0;
    let axis = |dim: &Dim| match dims.get(at) {
        Some(same) if same == dim => {
            at += 1;
            Some(Some(at - 1))
        }
        _ => (*dim == Dim::Known(1)).then_some(None),
    };
    let axes: Option<Axes> = node.outputs.first()?.tensor().ok()?.shape.dims()?.iter().map(axis).collect();
    axes.filter(|_| at == dims.len())
}
