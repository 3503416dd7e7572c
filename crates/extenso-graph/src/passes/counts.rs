//! Counts: a sum of ones in the rows of a partition is the lengths of the rows, and needs no values.
//!
//! Invariant: there are as many ones as the partition cuts, by equal sizes or one variable, so that no call that failed
//! succeeds. This is how a mean over rows comes to read its values once.

use super::Rewriter;
use crate::graph::{Graph, Node, NodeKind, ValueRef};
use extenso_core::attrs::NoAttrs;
use extenso_core::reduce::Fold;
use extenso_core::{Class, Fact, Kernel, Tensor, Value, ops};
use extenso_types::{LeafSpec, Result};
use smallvec::smallvec;
use std::sync::Arc;

pub(crate) fn of_rows(mut graph: Graph) -> Result<Graph> {
    // For each node the element that stands everywhere in its result, where there is one.
    let mut everywhere: Vec<Option<Value>> = Vec::with_capacity(graph.nodes.len());
    let mut found: Vec<Option<ValueRef>> = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        everywhere.push(element(&graph, node, &everywhere));
        found.push(counted(&graph, node, &everywhere));
    }
    if found.iter().all(Option::is_none) {
        return Ok(graph);
    }
    let mut rewriter = Rewriter::new(&graph);
    for ((i, node), partition) in std::mem::take(&mut graph.nodes).into_iter().enumerate().zip(found) {
        rewriter.keep(i, if let Some(partition) = partition { lengths(node, partition) } else { node })?;
    }
    rewriter.finish(graph)
}

/// The element of a unary elementwise op whose result is the same for all elements.
fn element(graph: &Graph, node: &Node, everywhere: &[Option<Value>]) -> Option<Value> {
    let (NodeKind::Op(op, attrs), [at]) = (&node.kind, &node.inputs[..]) else { return None };
    if op.class != Class::UnaryElementwise || node.has_effect() {
        return None;
    }
    let arg = match everywhere[at.node as usize].clone() {
        Some(value) => value,
        None if op.facts.contains(&Fact::Constant) => {
            let dtype = graph.spec(*at).ok()?.tensor().ok()?.dtype;
            ops::cast(Tensor::scalar(0_i64), dtype).ok()?
        }
        None => return None,
    };
    op.run(&[arg], &**attrs).ok()?.pop()
}

/// The partition whose rows a node counts.
fn counted(graph: &Graph, node: &Node, everywhere: &[Option<Value>]) -> Option<ValueRef> {
    let (NodeKind::Op(op, _), [values, partition]) = (&node.kind, &node.inputs[..]) else { return None };
    let (Kernel::Segment(Fold::Sum), Some(one)) = (op.kernel, &everywhere[values.node as usize]) else { return None };
    let is_true = one.tensor().and_then(|one| one.data()?.bits()).is_ok_and(|bits| bits.iter().all(|bit| bit));
    let (LeafSpec::Tensor(ones), LeafSpec::Partition(rows)) = (graph.spec(*values).ok()?, graph.spec(*partition).ok()?)
    else {
        return None;
    };
    (is_true && ones.shape.dims() == Some(&[rows.nvalues])).then_some(*partition)
}

fn lengths(node: Node, partition: ValueRef) -> Node {
    Node { kind: NodeKind::Op(&ops::ROW_LENGTHS, Arc::new(NoAttrs {})), inputs: smallvec![partition], ..node }
}
