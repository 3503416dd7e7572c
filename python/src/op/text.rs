//! Docstrings and examples of ops, from the declarations.

use super::all_ops;
use super::signature::signature;
use extenso_core::OpDef;
use extenso_types::DType;
use pyo3::prelude::*;
use std::fmt::Write;

/// What CPython takes apart into `__text_signature__` and `__doc__`.
pub fn doc(op: &OpDef) -> String {
    format!("{}\n--\n\n{}", signature(op), docstring(op))
}

/// The declaration's doc comment and its examples.
fn docstring(op: &OpDef) -> String {
    let mut text = op.doc.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n");
    text.truncate(text.trim_end().len());
    let shown = op.examples.iter().filter(|_| !op.part);
    let examples: Vec<_> = shown.filter_map(|(call, result)| doctest(call, result)).collect();
    if !examples.is_empty() {
        let _ = write!(text, "\n\n{}", examples.join("\n"));
    }
    text
}

/// An example as Python shows it; none if its text is not what Python would print.
fn doctest(call: &str, result: &str) -> Option<String> {
    // A typed constructor says the dtype, which a list does not show.
    let typed = result.split_once('(').filter(|(name, _)| name.parse::<DType>().is_ok());
    let list = typed.map_or(result, |(_, rest)| rest.trim_end_matches(')'));
    let plain = list.starts_with('[') && !list.contains(['\'', '\\']) && calls(call) == 1;
    plain.then(|| format!(">>> ex.to_py(ex.{call})\n{}", list.replace('"', "'")))
}

/// How many functions an expression calls.
fn calls(expression: &str) -> usize {
    let pairs = expression.as_bytes().windows(2);
    pairs.filter(|pair| pair[1] == b'(' && (pair[0].is_ascii_alphanumeric() || pair[0] == b'_')).count()
}

/// TensorFlow's names of ops, as their declarations have them, and ours.
#[pyfunction]
pub fn op_tf_names() -> Vec<(&'static str, &'static str)> {
    all_ops().filter_map(|op| Some((op.alias_tf?, op.name))).collect()
}

/// Every op's examples: its name, a call and what comes of it, in the grammar of the conformance cases.
#[pyfunction]
pub fn op_examples() -> Vec<(&'static str, &'static str, &'static str)> {
    all_ops().flat_map(|op| op.examples.iter().map(|(call, result)| (op.name, *call, *result))).collect()
}
