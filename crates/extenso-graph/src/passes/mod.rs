//! Passes: graph to graph, one file each. None changes a result.

mod constants;
mod counts;
mod cse;
mod dead;
pub(crate) mod fuse;
mod inverse;
mod joins;
mod narrow;
mod sizes;

use crate::graph::{Graph, Node, ValueRef};
use extenso_types::{Error, Result};

/// Runs every pass over a graph from anywhere.
///
/// Errors: the graph is malformed.
pub fn optimize(graph: Graph) -> Result<Graph> {
    graph.verify()?;
    optimize_traced(graph)
}

/// Runs every pass over a graph that a trace made, which is well-formed; in debug builds it is verified after each.
///
/// Errors: those of the passes.
pub(crate) fn optimize_traced(graph: Graph) -> Result<Graph> {
    let passes: [fn(Graph) -> Result<Graph>; 7] =
        [dead::remove, constants::fold, counts::of_rows, cse::merge, joins::flatten, dead::remove, narrow::to_needed];
    passes.into_iter().try_fold(graph, |graph, pass| {
        let graph = pass(graph)?;
        if cfg!(debug_assertions) {
            graph.verify()?;
        }
        Ok(graph)
    })
}

/// The graph of a branch without what it does not use, and ops of several outputs narrowed to those that it uses.
///
/// Nothing is computed, since a branch that is not taken does nothing.
/// Errors: the graph is malformed.
pub(crate) fn narrowed(graph: Graph) -> Result<Graph> {
    narrow::to_needed(dead::remove(graph)?)
}

/// Builds a new arena node by node, keeping references right.
pub(crate) struct Rewriter {
    nodes: Vec<Node>,
    map: Vec<Option<ValueRef>>,
    last_effect: Option<u32>,
}

impl Rewriter {
    pub(crate) fn new(graph: &Graph) -> Rewriter {
        Rewriter { nodes: Vec::with_capacity(graph.nodes.len()), map: vec![None; graph.nodes.len()], last_effect: None }
    }

    /// Where an old value is now.
    pub(crate) fn moved(&self, at: ValueRef) -> Result<ValueRef> {
        let first = self.map.get(at.node as usize).copied().flatten();
        let moved = |first: ValueRef| ValueRef { output: first.output + at.output, ..first };
        first.map(moved).ok_or_else(|| Error::internal("a pass dropped a node that is used"))
    }

    /// Appends the old node `i`, whose inputs are moved, and chains its effect.
    pub(crate) fn keep(&mut self, i: usize, mut node: Node) -> Result<u32> {
        for at in &mut node.inputs {
            *at = self.moved(*at)?;
        }
        let at = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        node.after = if node.has_effect() { self.last_effect.replace(at) } else { None };
        self.nodes.push(node);
        self.map[i] = Some(ValueRef { node: at, output: 0 });
        Ok(at)
    }

    /// Lets the results of the old node `i` be those values from `first` on that are made already.
    pub(crate) fn alias(&mut self, i: usize, first: ValueRef) {
        self.map[i] = Some(first);
    }

    pub(crate) fn finish(self, graph: Graph) -> Result<Graph> {
        let outputs: Result<Vec<ValueRef>> = graph.outputs.iter().map(|at| self.moved(*at)).collect();
        Ok(Graph { nodes: self.nodes, outputs: outputs?, ..graph })
    }
}
