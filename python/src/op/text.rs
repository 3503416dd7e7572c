//! Text of ops: signatures, docstrings, examples and stubs, all from the declarations.

use super::all_ops;
use extenso_core::OpDef;
use extenso_core::attrs::{AttrValue, Param};
use extenso_types::DType;
use pyo3::prelude::*;
use std::fmt::Write;

/// `name(x, y, axis=None)`.
pub fn signature(op: &OpDef) -> String {
    let params = op.params.iter().map(ToString::to_string);
    format!(
        "{}({})",
        op.name,
        params.chain(attr_texts(op, |param| param.name.to_string(), "=")).collect::<Vec<_>>().join(", ")
    )
}

/// The attributes with their defaults; behind one with a default, one without is keyword-only.
fn attr_texts(op: &OpDef, show: impl Fn(&Param) -> String, equals: &str) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let mut optional = false;
    for param in op.attrs.params {
        match (param.default)() {
            Some(default) => {
                optional = true;
                texts.push(format!("{}{equals}{}", show(param), literal(&default)));
            }
            None => {
                if std::mem::take(&mut optional) {
                    texts.push("*".into());
                }
                texts.push(show(param));
            }
        }
    }
    texts
}

/// A default as Python writes it.
fn literal(value: &AttrValue) -> String {
    match value {
        AttrValue::Ints(items) => {
            let items: Vec<_> = items.iter().map(ToString::to_string).collect();
            format!("({}{})", items.join(", "), if items.len() == 1 { "," } else { "" })
        }
        AttrValue::None
        | AttrValue::Bool(_)
        | AttrValue::Int(_)
        | AttrValue::Float(_)
        | AttrValue::Str(_)
        | AttrValue::DType(_)
        | AttrValue::Variable(_)
        | AttrValue::Graph(_) => value.to_string(),
    }
}

/// What CPython takes apart into `__text_signature__` and `__doc__`.
pub fn doc(op: &OpDef) -> String {
    format!("{}\n--\n\n{}", signature(op), docstring(op))
}

/// The declaration's doc comment and its examples.
fn docstring(op: &OpDef) -> String {
    let mut text = op.doc.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n");
    text.truncate(text.trim_end().len());
    let examples: Vec<_> = op.examples.iter().filter_map(|(call, result)| doctest(call, result)).collect();
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

/// Every op's examples: its name, a call and what comes of it, in the grammar of the conformance cases.
#[pyfunction]
pub fn op_examples() -> Vec<(&'static str, &'static str, &'static str)> {
    all_ops().flat_map(|op| op.examples.iter().map(|(call, result)| (op.name, *call, *result))).collect()
}

/// The stubs of the op functions, as they stand in `_core.pyi`.
#[pyfunction]
pub fn generate_stubs() -> String {
    all_ops().map(stub).collect::<Vec<_>>().join("\n")
}

fn stub(op: &'static OpDef) -> String {
    let argument = if op.variadic { "Sequence[_Argument]" } else { "_Argument" };
    let params = op.params.iter().map(|param| format!("{param}: {argument}"));
    let attrs = attr_texts(op, |param| format!("{}: {}", param.name, annotation(param.kind)), " = ");
    let params = params.chain(attrs).collect::<Vec<_>>().join(", ");
    format!("def {}({params}) -> Any: ...", op.name)
}

/// The annotation of an attribute's type.
fn annotation(kind: &str) -> &str {
    match kind {
        "bool" => "builtins.bool",
        "ints" => "int | Sequence[int]",
        "ints or None" => "int | Sequence[int] | None",
        "axes" => "int | Sequence[int] | None",
        "dtype" => "_DTypeLike",
        "variable" => "Variable",
        other => other,
    }
}
