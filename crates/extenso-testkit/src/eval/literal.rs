//! Literals of the grammar as values of their default dtypes.

use super::{Evaluated, malformed};
use crate::case::Expr;
use extenso_core::Value;
use extenso_ext::{Literal, constant};
use extenso_types::Error;

/// The value that lists, records and scalars mean by themselves.
pub(super) fn value(expr: &Expr) -> Evaluated<Value> {
    Ok(constant(literal(expr)?)?)
}

/// The integer as an attribute has it.
pub(super) fn int(v: i128) -> Evaluated<i64> {
    i64::try_from(v).map_err(|_| Error::value(format!("the integer {v} does not fit i64")).into())
}

/// The integer as the host has it: as i64, or above the largest of these as u64.
pub(super) fn whole<T>(v: i128, of: fn(i64) -> T, large: fn(u64) -> T) -> Evaluated<T> {
    match (i64::try_from(v), u64::try_from(v)) {
        (Ok(v), _) => Ok(of(v)),
        (Err(_), Ok(v)) => Ok(large(v)),
        (Err(_), Err(_)) => Err(Error::value(format!("the integer {v} does not fit 64 bits")).into()),
    }
}

fn literal(expr: &Expr) -> Evaluated<Literal> {
    Ok(match expr {
        Expr::None => Literal::None,
        Expr::Bool(v) => Literal::Bool(*v),
        Expr::Int(v) => whole(*v, Literal::Int, Literal::Unsigned)?,
        Expr::Float(v) => Literal::Float(*v),
        Expr::Str(v) => Literal::Str(v.clone()),
        Expr::List(items) => Literal::List(items.iter().map(literal).collect::<Evaluated<_>>()?),
        Expr::Dict(entries) => {
            let entry = |(key, item): &(String, Expr)| Ok((key.clone(), literal(item)?));
            Literal::Record(entries.iter().map(entry).collect::<Evaluated<_>>()?)
        }
        Expr::Tuple(_) | Expr::Name(_) | Expr::Call { .. } => {
            return malformed(format!("`{expr}` stands in a list, which holds literals alone"));
        }
    })
}
