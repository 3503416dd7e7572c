//! Signatures of ops as Python writes them, from the declarations.
//!
//! Knows no Python objects: the generator of the stub file (`cargo xtask gen`) compiles this file too.

use super::keywords::{Keyword, keywords};
use extenso_core::OpDef;
use extenso_core::attrs::{AttrValue, Param};

/// Whether the op can be called by hand: subgraphs are made by the functions that trace, leaves of specs by those that take values apart.
pub fn is_callable(op: &OpDef) -> bool {
    op.attrs.params.iter().all(|param| !matches!(param.kind, "graph" | "spec"))
}

/// Whether the op is a function of the module; a part of other functions is a builtin that handlers are given alone.
pub fn is_public(op: &OpDef) -> bool {
    !op.part && is_callable(op)
}

/// `name(x, y, axis=None)`.
pub fn signature(op: &OpDef) -> String {
    let params = op.params.iter().map(ToString::to_string);
    format!(
        "{}({})",
        op.name,
        params
            .chain(attr_texts(op, |param| param.name.to_string(), "="))
            .chain(keyword_texts(op, |keyword| keyword.name().to_string(), "="))
            .collect::<Vec<_>>()
            .join(", ")
    )
}

/// The attributes with their defaults; behind one with a default, one without is keyword-only.
pub fn attr_texts(op: &OpDef, show: impl Fn(&Param) -> String, equals: &str) -> Vec<String> {
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

/// The keywords of the standard with their defaults, which stand behind the attributes.
pub fn keyword_texts(op: &OpDef, show: impl Fn(Keyword) -> String, equals: &str) -> Vec<String> {
    keywords(op).iter().map(|keyword| format!("{}{equals}{}", show(*keyword), keyword.stub().1)).collect()
}

/// A default as Python writes it.
fn literal(value: &AttrValue) -> String {
    match value {
        // One axis stands for a tuple of it, whose comma Python's reader of signatures would lose.
        AttrValue::Ints(items) if items.len() == 1 => items.iter().map(ToString::to_string).collect(),
        AttrValue::Ints(items) => {
            let items: Vec<_> = items.iter().map(ToString::to_string).collect();
            format!("({})", items.join(", "))
        }
        AttrValue::None
        | AttrValue::Bool(_)
        | AttrValue::Int(_)
        | AttrValue::Float(_)
        | AttrValue::Str(_)
        | AttrValue::DType(_)
        | AttrValue::Bytes(_)
        | AttrValue::Spec(_)
        | AttrValue::Variable(_)
        | AttrValue::Graph(_) => value.to_string(),
    }
}
