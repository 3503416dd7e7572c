//! Constant folding: an op on constants alone is run once, unless it has an effect, fails, or its result is large.

use super::Rewriter;
use crate::graph::{Graph, Node, NodeKind};
use extenso_core::Value;
use extenso_types::Result;
use smallvec::{SmallVec, smallvec};

/// Results of more elements stay ops, so that a graph does not grow by what it could compute.
const LARGE: usize = 1 << 12;

pub(crate) fn fold(graph: Graph) -> Result<Graph> {
    let mut graph = graph;
    for i in 0..graph.nodes.len() {
        if let Some(value) = folded(&graph, &graph.nodes[i]) {
            let outputs = smallvec![value.leaf_spec()?];
            graph.nodes[i] =
                Node { kind: NodeKind::Constant(value), inputs: SmallVec::new(), outputs, after: None, origin: None };
        }
    }
    let mut rewriter = Rewriter::new(&graph);
    for (i, node) in std::mem::take(&mut graph.nodes).into_iter().enumerate() {
        rewriter.keep(i, node)?;
    }
    rewriter.finish(graph)
}

fn folded(graph: &Graph, node: &Node) -> Option<Value> {
    let NodeKind::Op(op, attrs) = &node.kind else { return None };
    if node.has_effect() || node.outputs.len() != 1 || node.inputs.is_empty() {
        return None;
    }
    let constant = |at: &crate::graph::ValueRef| match &graph.nodes[at.node as usize].kind {
        NodeKind::Constant(value) => Some(value.clone()),
        NodeKind::Input(_) | NodeKind::Op(..) => None,
    };
    let args: Vec<Value> = node.inputs.iter().map(constant).collect::<Option<_>>()?;
    // An op that fails on constants fails when it runs, with its own message, if it runs at all.
    let value = op.run(&args, &**attrs).ok()?.pop()?;
    let small = match &value {
        Value::Tensor(t) => t.data().is_ok_and(|d| d.len() <= LARGE),
        Value::Partition(p) => p.data().is_ok_and(|rows| rows.nrows() <= LARGE),
        Value::Ext(_) => false,
    };
    small.then_some(value)
}
