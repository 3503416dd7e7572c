//! The ops in the stub file of the Python binding: their names in `__all__`, and their functions.

#[path = "../../../../python/src/op/keywords.rs"]
#[allow(dead_code, reason = "the binding uses the rest")]
mod keywords;
#[path = "../../../../python/src/op/signature.rs"]
#[allow(dead_code, reason = "the binding uses the rest")]
mod signature;

use extenso_core::OpDef;

const START: &str = "# @generated from the op tables by `cargo xtask gen`\n";
const END: &str = "# @end\n";

/// The text of `python/extenso/_core.pyi`, with its two marked blocks made anew.
///
/// Errors: a mark is missing.
pub fn stubs(old: &str) -> Result<String, String> {
    let ops: Vec<_> = extenso_graph::tables().filter(|op| signature::is_public(op)).collect();
    let names = ops.iter().map(|op| format!("    \"{}\",\n", op.name)).collect::<String>() + "    ";
    let functions = ops.iter().map(|op| stub(op) + "\n").collect::<String>();
    let (head, rest) = after(old, START)?;
    let (_, rest) = before(rest, END)?;
    let (middle, rest) = after(rest, START)?;
    let (_, tail) = before(rest, END)?;
    Ok([head, &names, middle, &functions, tail].concat())
}

/// The text up to the mark, which belongs to it, and what follows.
fn after<'a>(text: &'a str, mark: &str) -> Result<(&'a str, &'a str), String> {
    let at = text.find(mark).ok_or_else(|| format!("the mark {mark:?} is missing"))?;
    Ok(text.split_at(at + mark.len()))
}

/// The text up to the mark, and the mark with what follows.
fn before<'a>(text: &'a str, mark: &str) -> Result<(&'a str, &'a str), String> {
    let at = text.find(mark).ok_or_else(|| format!("the mark {mark:?} is missing"))?;
    Ok(text.split_at(at))
}

fn stub(op: &OpDef) -> String {
    let argument = if op.variadic { "Sequence[_Argument]" } else { "_Argument" };
    let params = op.params.iter().map(|param| format!("{param}: {argument}"));
    let attrs = signature::attr_texts(op, |param| format!("{}: {}", param.name, annotation(param.kind)), " = ");
    let keywords = signature::keyword_texts(op, |keyword| format!("{}: {}", keyword.name(), keyword.stub().0), " = ");
    let params = params.chain(attrs).chain(keywords).collect::<Vec<_>>().join(", ");
    format!("def {}({params}) -> Any: ...", op.name)
}

/// The annotation of an attribute's type.
fn annotation(kind: &str) -> &str {
    match kind {
        "pairs of ints" => "int | Sequence[int] | Sequence[Sequence[int]]",
        "bool" => "builtins.bool",
        "ints" => "int | Sequence[int]",
        "ints or None" => "int | Sequence[int] | None",
        "int or None" => "int | None",
        "number or None" => "float | None",
        "str or None" => "str | None",
        "axes" => "int | Sequence[int] | None",
        "dtype" => "_DTypeLike",
        "variable" => "Variable",
        other => other,
    }
}
