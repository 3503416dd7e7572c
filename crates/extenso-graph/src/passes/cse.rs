//! Common subexpressions: the same op on the same values with the same attributes is computed once. Effects are never merged.

use super::Rewriter;
use crate::graph::{Graph, NodeKind, ValueRef};
use extenso_core::OpDef;
use extenso_core::attrs::AttrValue;
use extenso_types::Result;
use smallvec::SmallVec;
use std::collections::HashMap;

pub(crate) fn merge(mut graph: Graph) -> Result<Graph> {
    type Key = (*const OpDef, SmallVec<[ValueRef; 4]>, String);
    let mut seen: HashMap<Key, u32> = HashMap::new();
    let mut rewriter = Rewriter::new(&graph);
    for (i, node) in std::mem::take(&mut graph.nodes).into_iter().enumerate() {
        let NodeKind::Op(op, attrs) = &node.kind else {
            rewriter.keep(i, node)?;
            continue;
        };
        let values = attrs.values();
        // Two graphs are not compared; each stays.
        if node.has_effect() || values.iter().any(|v| matches!(v, AttrValue::Graph(_) | AttrValue::Variable(_))) {
            rewriter.keep(i, node)?;
            continue;
        }
        let inputs: Result<SmallVec<[ValueRef; 4]>> = node.inputs.iter().map(|at| rewriter.moved(*at)).collect();
        let attrs = if values.is_empty() { String::new() } else { format!("{values:?}") };
        let key = (std::ptr::from_ref(*op), inputs?, attrs);
        match seen.get(&key) {
            Some(&at) => rewriter.alias(i, at),
            None => {
                let at = rewriter.keep(i, node)?;
                seen.insert(key, at);
            }
        }
    }
    rewriter.finish(graph)
}
