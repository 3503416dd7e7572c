//! Literals as Python writes them.

use super::Literal;
use std::fmt;

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::None => f.write_str("None"),
            Literal::Bool(v) => f.write_str(if *v { "True" } else { "False" }),
            Literal::Int(v) => write!(f, "{v}"),
            Literal::Unsigned(v) => write!(f, "{v}"),
            Literal::Float(v) if v.is_nan() => f.write_str("nan"),
            Literal::Float(v) => write!(f, "{v:?}"),
            Literal::Str(v) => write_text(f, v),
            Literal::Value(held) => match super::to_literal(&held.0) {
                Ok(literal) => literal.fmt(f),
                Err(_) => write!(f, "{}", held.0),
            },
            Literal::Bytes(v) => write!(f, "b\"{}\"", v.escape_ascii().to_string().replace("\\'", "'")),
            Literal::List(items) => {
                let shown = f.precision().map_or(items.len(), |most| most.min(items.len()));
                f.write_str("[")?;
                for (i, item) in items[..shown].iter().enumerate() {
                    f.write_str(if i > 0 { ", " } else { "" })?;
                    item.fmt(f)?;
                }
                f.write_str(if shown == items.len() { "]" } else { ", ...]" })
            }
            Literal::Record(fields) => {
                f.write_str("{")?;
                for (i, (name, value)) in fields.iter().enumerate() {
                    f.write_str(if i > 0 { ", " } else { "" })?;
                    write_text(f, name)?;
                    f.write_str(": ")?;
                    value.fmt(f)?;
                }
                f.write_str("}")
            }
        }
    }
}

/// A string with Python's escapes.
fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if c.is_control() => write!(f, "\\u{:04x}", u32::from(c))?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}
