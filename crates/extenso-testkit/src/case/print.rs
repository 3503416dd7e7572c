//! Expressions, claims and cases as text.
//!
//! Invariant: what is printed is Python syntax on one line, and reads back to an equal expression.
//! Keeps no layout: comments, quotes and line breaks of the source are gone.

use std::fmt::{self, Display, Formatter, Write};

use super::{Case, Claim, Expr};

impl Display for Case {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.expr, self.claim)
    }
}

impl Display for Claim {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Claim::Equals(value) => write!(f, "== {value}"),
            Claim::Near(value) => write!(f, "~= {value}"),
            Claim::Raises(texts) => {
                f.write_str("raises ")?;
                joined(f, texts, " and ", |f, text| string(f, text))
            }
        }
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Expr::None => f.write_str("None"),
            Expr::Bool(true) => f.write_str("True"),
            Expr::Bool(false) => f.write_str("False"),
            Expr::Int(value) => write!(f, "{value}"),
            Expr::Float(value) => float(f, *value),
            Expr::Str(text) => string(f, text),
            Expr::List(items) => bracketed(f, "[", items, "]"),
            // Without the comma, one item in parentheses is the item itself.
            Expr::Tuple(items) if items.len() == 1 => bracketed(f, "(", items, ",)"),
            Expr::Tuple(items) => bracketed(f, "(", items, ")"),
            Expr::Dict(entries) => dict(f, entries),
            Expr::Name(name) => f.write_str(name),
            Expr::Call { function, args, kwargs } => call(f, function, args, kwargs),
        }
    }
}

/// Rust's debug form is the shortest that reads back, and always has a point or an exponent.
fn float(f: &mut Formatter<'_>, value: f64) -> fmt::Result {
    match value.is_nan() {
        true => f.write_str("nan"),
        false => write!(f, "{value:?}"),
    }
}

fn string(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}"),
            '\n' => f.write_str("\\n"),
            '\r' => f.write_str("\\r"),
            '\t' => f.write_str("\\t"),
            c if c.is_control() => write!(f, "\\x{:02x}", u32::from(c)),
            c => f.write_char(c),
        }?;
    }
    f.write_char('"')
}

fn bracketed(f: &mut Formatter<'_>, open: &str, items: &[Expr], close: &str) -> fmt::Result {
    f.write_str(open)?;
    joined(f, items, ", ", |f, item| item.fmt(f))?;
    f.write_str(close)
}

fn dict(f: &mut Formatter<'_>, entries: &[(String, Expr)]) -> fmt::Result {
    f.write_str("{")?;
    joined(f, entries, ", ", |f, (key, value)| {
        string(f, key)?;
        write!(f, ": {value}")
    })?;
    f.write_str("}")
}

fn call(f: &mut Formatter<'_>, function: &str, args: &[Expr], kwargs: &[(String, Expr)]) -> fmt::Result {
    write!(f, "{function}(")?;
    joined(f, args, ", ", |f, arg| arg.fmt(f))?;
    if !args.is_empty() && !kwargs.is_empty() {
        f.write_str(", ")?;
    }
    joined(f, kwargs, ", ", |f, (key, value)| write!(f, "{key}={value}"))?;
    f.write_str(")")
}

fn joined<T>(
    f: &mut Formatter<'_>,
    items: &[T],
    separator: &str,
    mut print: impl FnMut(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(separator)?;
        }
        print(f, item)?;
    }
    Ok(())
}
