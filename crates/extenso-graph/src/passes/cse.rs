//! Common subexpressions: the same op on the same values with the same attributes is computed once, and equal constants of a few
//! elements are one; what undoes another op is what was there before. Effects are never merged.

use super::Rewriter;
use super::inverse::undone;
use super::sizes::Renamed;
use crate::graph::{Graph, NodeKind, ValueRef};
use extenso_core::attrs::AttrValue;
use extenso_core::{OpDef, Value};
use extenso_types::{DType, Dims, Result};
use smallvec::SmallVec;
use std::collections::HashMap;

/// Constants of more elements are not compared.
const FEW: usize = 16;

pub(crate) fn merge(mut graph: Graph) -> Result<Graph> {
    type Key = (*const OpDef, SmallVec<[ValueRef; 4]>, String);
    let mut seen: HashMap<Key, u32> = HashMap::new();
    let mut constants: HashMap<Bits, u32> = HashMap::new();
    let mut rewriter = Rewriter::new(&graph);
    let mut renamed = Renamed::default();
    for (i, mut node) in std::mem::take(&mut graph.nodes).into_iter().enumerate() {
        renamed.apply(&mut node.outputs);
        let (op, attrs) = match &node.kind {
            NodeKind::Op(op, attrs) => (op, attrs),
            NodeKind::Constant(value) => {
                let bits = bits(value);
                match bits.as_ref().and_then(|bits| constants.get(bits)) {
                    Some(&at) => rewriter.alias(i, first_of(at)),
                    None => {
                        let at = rewriter.keep(i, node)?;
                        constants.extend(bits.map(|bits| (bits, at)));
                    }
                }
                continue;
            }
            NodeKind::Input(_) => {
                rewriter.keep(i, node)?;
                continue;
            }
        };
        let values = attrs.values();
        // Two graphs are not compared; each stays.
        if node.has_effect() || values.iter().any(|v| matches!(v, AttrValue::Graph(_) | AttrValue::Variable(_))) {
            rewriter.keep(i, node)?;
            continue;
        }
        let inputs: Result<SmallVec<[ValueRef; 4]>> = node.inputs.iter().map(|at| rewriter.moved(*at)).collect();
        let inputs = inputs?;
        if let Some(back) = undone(&node, &inputs, &rewriter) {
            rewriter.alias(i, back);
            continue;
        }
        let attrs = if values.is_empty() { String::new() } else { format!("{values:?}") };
        let key = (std::ptr::from_ref(*op), inputs, attrs);
        match seen.get(&key) {
            Some(&at) => {
                renamed.note(&node.outputs, &rewriter.nodes[at as usize].outputs);
                rewriter.alias(i, first_of(at));
            }
            None => {
                let at = rewriter.keep(i, node)?;
                seen.insert(key, at);
            }
        }
    }
    rewriter.finish(graph)
}

/// The first result of a node.
fn first_of(node: u32) -> ValueRef {
    ValueRef { node, output: 0 }
}

/// What tells constants apart: dtype, sizes and elements.
type Bits = (DType, Dims, Vec<u8>);

/// The bits of a tensor of a few numbers or booleans.
fn bits(value: &Value) -> Option<Bits> {
    let data = value.tensor().ok()?.data().ok().filter(|data| data.len() <= FEW)?;
    let bytes = match data.dtype() {
        DType::Bool => data.bits().ok()?.iter().map(u8::from).collect(),
        _ => data.fixed().ok()?.to_vec(),
    };
    Some((data.dtype(), Dims::from_slice(data.dims()), bytes))
}
