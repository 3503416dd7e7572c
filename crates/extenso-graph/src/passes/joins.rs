//! Joins: what is concatenated only to be concatenated further along the same axis is concatenated once.

use super::Rewriter;
use crate::graph::{Graph, Node, NodeKind};
use extenso_core::attrs::Attrs;
use extenso_core::ops::{CONCAT, OneAxis};
use extenso_core::reduce::normalize_axis;
use extenso_types::Result;

/// Lets a concatenation read what those before it that it alone reads were made of.
pub(crate) fn flatten(mut graph: Graph) -> Result<Graph> {
    let axes: Vec<Option<usize>> = graph.nodes.iter().map(axis).collect();
    if axes.iter().flatten().count() < 2 {
        return Ok(graph);
    }
    let mut reads = vec![0_u32; graph.nodes.len()];
    let inputs = graph.nodes.iter().flat_map(|node| &node.inputs);
    inputs.chain(&graph.outputs).for_each(|at| reads[at.node as usize] += 1);
    let mut rewriter = Rewriter::new(&graph);
    // The inputs of each concatenation, flat already where it reads others.
    let mut flat: Vec<_> = graph.nodes.iter().map(|node| node.inputs.clone()).collect();
    for (i, mut node) in std::mem::take(&mut graph.nodes).into_iter().enumerate() {
        // What is joined with nothing has the sizes of what it is, which would be claimed twice.
        if axes[i].is_some() && node.inputs.len() > 1 {
            let inner = |at: usize| reads[at] == 1 && axes[at] == axes[i];
            let parts = node.inputs.iter().flat_map(|at| match at.node as usize {
                before if inner(before) => flat[before].clone(),
                _ => std::iter::once(*at).collect(),
            });
            node.inputs = parts.collect();
            flat[i].clone_from(&node.inputs);
        }
        rewriter.keep(i, node)?;
    }
    rewriter.finish(graph)
}

/// The axis along which a node concatenates, if it does.
fn axis(node: &Node) -> Option<usize> {
    let NodeKind::Op(op, attrs) = &node.kind else { return None };
    let rank = node.outputs.first().filter(|_| std::ptr::eq(*op, &CONCAT))?.tensor().ok()?.shape.rank()?;
    normalize_axis(OneAxis::of(&**attrs).ok()?.axis, rank).ok()
}
