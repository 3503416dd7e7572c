//! Keys of cases: what stands between the brackets of `x[...]` in Python, as a text.

use super::super::{Scope, value};
use crate::case::{Expr, parse_expr};
use extenso_core::{Arg, Scalar};
use extenso_ext::{FieldPath, Index};
use extenso_types::{Error, Result};

/// The parts of a key: names in quotes, integers, slices, `...`, `None`, lists of booleans or integers, and lists of names.
pub(super) fn key(arg: &Arg) -> Result<Vec<Index>> {
    match arg {
        Arg::Scalar(Scalar::Str(text)) => split(text).into_iter().map(|part| read(part.trim())).collect(),
        Arg::Scalar(_) | Arg::Value(_) | Arg::List(_) => Err(Error::dtype("the key is no text").at("index")),
    }
}

/// The text at the commas outside of brackets and quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted) = (0, false);
    text.split(|c: char| {
        quoted ^= c == '\'';
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && depth == 0 && !quoted
    })
    .collect()
}

fn read(part: &str) -> Result<Index> {
    let wrong = || Error::value(format!("found `{part}` in a key")).at("index");
    if let Some(name) = part.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return Ok(Index::Field(name.into()));
    }
    if part.starts_with('[') {
        let expr = parse_expr(part).map_err(|_| wrong())?;
        if let Some(paths) = paths(&expr) {
            return Ok(Index::Fields(paths));
        }
        return value(&expr, &Scope::default()).map(Index::Pick).map_err(|_| wrong());
    }
    let number = |text: &str| text.trim().parse().map_err(|_| wrong());
    let bound = |text: Option<&str>| text.filter(|text| !text.trim().is_empty()).map(number).transpose();
    match part {
        "..." => Ok(Index::Ellipsis),
        "None" => Ok(Index::NewAxis),
        _ if part.contains(':') => {
            let mut bounds = part.split(':');
            let (start, stop, step) = (bound(bounds.next())?, bound(bounds.next())?, bound(bounds.next())?);
            Ok(Index::Slice { start, stop, step: step.unwrap_or(1) })
        }
        _ => number(part).map(Index::At),
    }
}

/// The names, or tuples of names, of a list that has nothing else.
fn paths(expr: &Expr) -> Option<Vec<FieldPath>> {
    let name = |expr: &Expr| if let Expr::Str(name) = expr { Some(name.clone()) } else { None };
    let path = |expr: &Expr| match expr {
        Expr::Tuple(names) => names.iter().map(name).collect::<Option<FieldPath>>(),
        one => name(one).map(FieldPath::from),
    };
    match expr {
        Expr::List(items) if !items.is_empty() => items.iter().map(path).collect(),
        _ => None,
    }
}
