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
                Err(_) => held.0.fmt(f),
            },
            Literal::Bytes(v) => write!(f, "b\"{}\"", v.escape_ascii().to_string().replace("\\'", "'")),
            Literal::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Literal::Record(fields) => {
                f.write_str("{")?;
                for (i, (name, value)) in fields.iter().enumerate() {
                    f.write_str(if i > 0 { ", " } else { "" })?;
                    write_text(f, name)?;
                    write!(f, ": {value}")?;
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
