//! Host literals: nested lists and records, and the values that they mean.
//!
//! Invariant: `to_literal(constant(p)?)? == p`, but for integers that stand beside floats, which become floats, and for values
//! in literals, which become lists and records. A literal is
//! at most [`MAX_DEPTH`] deep.

mod build;
mod held;
mod object;
mod read;
mod show;
mod typed;

pub use build::{constant, constant_from};
pub use held::Held;
pub use object::{Object, Seen};
pub use read::{Host, to_host, to_literal};
pub use typed::constant_of;

use extenso_types::{Error, Result};

/// How deep literals may be nested.
pub(crate) const MAX_DEPTH: usize = 64;

/// A nested value of the host language.
///
/// ```
/// # use extenso_ext::{Literal, constant, to_literal};
/// let x = constant(vec![vec![1, 2], vec![], vec![3]]).unwrap();
/// assert_eq!(to_literal(&x).unwrap().to_string(), "[[1, 2], [], [3]]");
/// ```
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)] // The variants' names are their meaning.
pub enum Literal {
    None,
    Bool(bool),
    Int(i64),
    /// An integer above the largest i64.
    Unsigned(u64),
    Float(f64),
    Str(String),
    Bytes(Vec<u8>),
    List(Vec<Literal>),
    Record(Vec<(String, Literal)>),
    /// A value as it stands, with its dtype.
    Value(Held),
}

impl Literal {
    /// A record of these fields.
    pub fn record<N: Into<String>, V: Into<Literal>>(fields: impl IntoIterator<Item = (N, V)>) -> Literal {
        Literal::Record(fields.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// The items of a list, or the values of a record; none of anything else.
    fn inner(&self) -> impl Iterator<Item = &Literal> {
        let (items, fields): (&[Literal], &[(String, Literal)]) = match self {
            Literal::List(items) => (items, &[]),
            Literal::Record(fields) => (&[], fields),
            Literal::None
            | Literal::Bool(_)
            | Literal::Int(_)
            | Literal::Unsigned(_)
            | Literal::Float(_)
            | Literal::Str(_)
            | Literal::Bytes(_)
            | Literal::Value(_) => (&[], &[]),
        };
        items.iter().chain(fields.iter().map(|(_, value)| value))
    }

    fn kind(&self) -> &'static str {
        self.as_seen().kind()
    }
}

fn check_depth(literal: &Literal, depth: usize) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(too_deep());
    }
    literal.inner().try_for_each(|item| check_depth(item, depth + 1))
}

fn too_deep() -> Error {
    Error::value(format!("the literal is nested deeper than {MAX_DEPTH} levels")).wanted("fewer levels")
}

macro_rules! literal_from {
    ($($t:ty, $x:ident => $literal:expr;)*) => { $(
        impl From<$t> for Literal {
            fn from($x: $t) -> Literal {
                $literal
            }
        }
    )* };
}
literal_from! {
    bool, x => Literal::Bool(x);
    i32, x => Literal::Int(x.into());
    i64, x => Literal::Int(x);
    f64, x => Literal::Float(x);
    &str, x => Literal::Str(x.to_string());
    String, x => Literal::Str(x);
    &[u8], x => Literal::Bytes(x.to_vec());
}

impl<T: Into<Literal>> From<Vec<T>> for Literal {
    fn from(items: Vec<T>) -> Literal {
        Literal::List(items.into_iter().map(T::into).collect())
    }
}

impl<T: Into<Literal>> From<Option<T>> for Literal {
    fn from(item: Option<T>) -> Literal {
        item.map_or(Literal::None, T::into)
    }
}
