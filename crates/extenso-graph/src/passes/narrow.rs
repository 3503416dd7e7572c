//! Narrowing: an op of several outputs gives those that are needed, where its declaration says how.
//!
//! This is the projection inside a graph: a function that uses three fields of parsed records parses three.

use super::Rewriter;
use crate::graph::{Graph, Node, NodeKind, ValueRef};
use extenso_types::{Error, Result};
use std::collections::HashMap;

pub(crate) fn to_needed(mut graph: Graph) -> Result<Graph> {
    let used = used_outputs(&graph);
    let mut places: HashMap<ValueRef, u32> = HashMap::new();
    for (i, node) in graph.nodes.iter_mut().enumerate() {
        let at = u32::try_from(i).unwrap_or(u32::MAX);
        if !used[i].iter().all(|used| *used) {
            narrow(at, node, &used[i], &mut places)?;
        }
    }
    if places.is_empty() {
        return Ok(graph);
    }
    let moved = |at: &mut ValueRef| at.output = places.get(at).copied().unwrap_or(at.output);
    graph.nodes.iter_mut().flat_map(|node| &mut node.inputs).chain(&mut graph.outputs).for_each(moved);
    let mut rewriter = Rewriter::new(&graph);
    for (i, node) in std::mem::take(&mut graph.nodes).into_iter().enumerate() {
        rewriter.keep(i, node)?;
    }
    rewriter.finish(graph)
}

/// For each output of each node, whether a node or the graph reads it.
fn used_outputs(graph: &Graph) -> Vec<Vec<bool>> {
    let mut used: Vec<Vec<bool>> = graph.nodes.iter().map(|node| vec![false; node.outputs.len()]).collect();
    for at in graph.nodes.iter().flat_map(|node| &node.inputs).chain(&graph.outputs) {
        if let Some(slot) = used.get_mut(at.node as usize).and_then(|node| node.get_mut(at.output as usize)) {
            *slot = true;
        }
    }
    used
}

/// Takes the outputs that are not used from a node, and notes where the others are now.
fn narrow(at: u32, node: &mut Node, used: &[bool], places: &mut HashMap<ValueRef, u32>) -> Result<()> {
    let NodeKind::Op(op, attrs) = &mut node.kind else { return Ok(()) };
    let Some(narrow) = op.narrow.filter(|_| used.contains(&true)) else { return Ok(()) };
    *attrs = narrow(&**attrs, used).map_err(|e: Error| e.at(op.name))?;
    let left = (0..).zip(used).filter(|(_, used)| **used).map(|(output, _)| ValueRef { node: at, output });
    places.extend(left.zip(0..));
    let mut used = used.iter();
    node.outputs.retain(|_| used.next().copied().unwrap_or(false));
    Ok(())
}
