//! Graphs as text: a line for each node, with small constants and every attribute that is not the default.
//!
//! Does not show data: a constant that would not fit a line is shown by its spec.

use crate::graph::{Graph, Node, NodeKind, Subgraph, ValueRef};
use extenso_core::attrs::{AttrSet, AttrValue};
use extenso_core::{OpDef, Value};
use extenso_types::LeafSpec;
use std::fmt::{self, Write};

/// Characters of a constant that fit a line.
const SHOWN: usize = 40;
/// Elements of a constant that may fit.
const ELEMENTS: usize = 16;

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:", self.name)?;
        for (i, node) in self.nodes.iter().enumerate() {
            let outputs: Vec<_> = node.outputs.iter().map(LeafSpec::to_string).collect();
            writeln!(f, "  %{i} = {}: {}", self.right_side(node), outputs.join(", "))?;
            for (name, inner) in subgraphs(node) {
                write_indented(f, &format!("{name} = {inner}"))?;
            }
        }
        writeln!(f, "  return {}", self.references(&self.outputs).join(", "))
    }
}

impl Graph {
    fn right_side(&self, node: &Node) -> String {
        match &node.kind {
            NodeKind::Input(at) => format!("input '{}'", self.inputs[*at].path),
            NodeKind::Constant(value) => small(value).map_or("constant".into(), |text| format!("constant {text}")),
            NodeKind::Op(op, attrs) => {
                let mut args = self.references(&node.inputs);
                args.extend(attributes(op, &**attrs));
                format!("{}({})", op.name, args.join(", "))
            }
        }
    }

    /// `%3`, or `%3.1` where a node has several outputs.
    fn references(&self, values: &[ValueRef]) -> Vec<String> {
        let single = |at: &ValueRef| self.nodes.get(at.node as usize).is_none_or(|node| node.outputs.len() == 1);
        let text = |at| if single(at) { format!("%{}", at.node) } else { format!("%{}.{}", at.node, at.output) };
        values.iter().map(text).collect()
    }
}

/// The text of a constant that fits a line.
fn small(value: &Value) -> Option<String> {
    let tensor = value.tensor().ok()?;
    let few = tensor.data().is_ok_and(|data| data.len() <= ELEMENTS);
    let text = if few { tensor.to_string() } else { return None };
    (text.len() <= SHOWN).then_some(text)
}

/// The attributes that are not the default, as a call writes them.
fn attributes(op: &OpDef, attrs: &dyn AttrSet) -> Vec<String> {
    let text_of = |value: &AttrValue| text(value);
    let given = op.attrs.params.iter().zip(attrs.values());
    let differ = given.filter(|(param, value)| text_of(value) != (param.default)().as_ref().and_then(text_of));
    differ.filter_map(|(param, value)| Some(format!("{}={}", param.name, text(&value)?))).collect()
}

/// An attribute in one line; a graph has more.
fn text(value: &AttrValue) -> Option<String> {
    Some(match value {
        AttrValue::None => "None".into(),
        AttrValue::Bool(v) => if *v { "True" } else { "False" }.into(),
        AttrValue::Int(v) => v.to_string(),
        AttrValue::Float(v) => format!("{v:?}"),
        AttrValue::Str(v) => format!("{v:?}"),
        AttrValue::DType(v) => v.to_string(),
        AttrValue::Ints(v) => format!("{v:?}"),
        AttrValue::Bytes(_) | AttrValue::Spec(_) => value.to_string(),
        AttrValue::Variable(v) => format!("{:?}", v.name()),
        AttrValue::Graph(_) => return None,
    })
}

/// The graphs among the attributes of a node, by name.
fn subgraphs(node: &Node) -> Vec<(&'static str, String)> {
    let NodeKind::Op(op, attrs) = &node.kind else { return Vec::new() };
    let inner = |value: &AttrValue| match value {
        AttrValue::Graph(graph) => graph.as_any().downcast_ref::<Subgraph>().map(|inner| inner.graph().to_string()),
        _ => None,
    };
    let named = op.attrs.params.iter().zip(attrs.values());
    named.filter_map(|(param, value)| Some((param.name, inner(&value)?))).collect()
}

fn write_indented(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    text.lines().try_for_each(|line| {
        f.write_str("      ")?;
        f.write_str(line)?;
        f.write_char('\n')
    })
}
