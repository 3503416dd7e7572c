//! Field paths: names alone, one inside the other. Rows and masks on the way are passed through.

use extenso_types::{Error, Path, Result, Segment};
use std::fmt;
use std::sync::Arc;

/// The names that lead to a field: `["docs", "tokens"]`, or one name alone.
///
/// A name is any text, so that no text has to be quoted; `Path` is the written form, which signatures use.
///
/// ```
/// # use extenso_ext::FieldPath;
/// let path = FieldPath::from(["docs", "first token"]);
/// assert_eq!(path.to_string(), r#"docs."first token""#);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldPath(Vec<Arc<str>>);

impl FieldPath {
    /// The names, from the outside.
    pub fn names(&self) -> &[Arc<str>] {
        &self.0
    }

    /// The way to the records that have the field, and its name there.
    ///
    /// Errors: no name at all.
    pub(super) fn split(&self) -> Result<(&[Arc<str>], &Arc<str>)> {
        let error = || Error::value("the path is empty").wanted("at least the name of a field");
        self.0.split_last().map(|(name, way)| (way, name)).ok_or_else(error)
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().map(|name| Segment::field(name.clone())).collect::<Path>().fmt(f)
    }
}

impl<N: Into<Arc<str>>> FromIterator<N> for FieldPath {
    fn from_iter<I: IntoIterator<Item = N>>(names: I) -> FieldPath {
        FieldPath(names.into_iter().map(N::into).collect())
    }
}

macro_rules! path_from {
    ($([$($generics:tt)*] $t:ty, $x:ident => $names:expr;)*) => { $(
        impl $($generics)* From<$t> for FieldPath {
            fn from($x: $t) -> FieldPath {
                FieldPath::from_iter($names)
            }
        }
    )* };
}
path_from! {
    [] &str, name => [name];
    [] &&str, name => [*name];
    [] String, name => [name];
    [] Arc<str>, name => [name];
    [] Vec<Arc<str>>, names => names;
    [] &[&str], names => names.iter().copied();
    [<const N: usize>] [&str; N], names => names;
    [<const N: usize>] &[&str; N], names => names.iter().copied();
}
