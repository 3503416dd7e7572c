//! Field paths: names alone, one inside the other. Rows and masks on the way are passed through.

use super::StructTensor;
use crate::masked::MaskedTensor;
use crate::ragged::RaggedTensor;
use extenso_core::{ExtensionType, Value};
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

    /// What a text says of the records of a value: the name of a field, or a path such as `docs[*].tokens` that leads to one.
    ///
    /// What is neither is the name of a field that there is not, so that who looks for it says so.
    ///
    /// ```
    /// # use extenso_ext::{FieldPath, Literal, constant};
    /// let user = |docs: Vec<i64>| {
    ///     let docs: Vec<Literal> = docs.into_iter().map(|n| Literal::record([("n", n)])).collect();
    ///     Literal::record([("docs", docs)])
    /// };
    /// let users = constant(vec![user(vec![1, 2]), user(vec![])]).unwrap();
    /// assert_eq!(FieldPath::of_text(&users, "docs[*].n"), FieldPath::from(["docs", "n"]));
    /// assert_eq!(FieldPath::of_text(&users, "docs.n"), FieldPath::from("docs.n"));
    /// ```
    pub fn of_text(whole: &Value, text: &str) -> FieldPath {
        let found = || {
            let records = records_in(whole).filter(|records| records.field(text).is_err())?;
            let path: Path = text.parse().ok()?;
            let name = |segment: &Segment| match segment {
                Segment::Each => None,
                Segment::Field(name) => Some(Some(name.clone())),
                _ => Some(None),
            };
            let names: Vec<Arc<str>> = path.segments().iter().filter_map(name).collect::<Option<_>>()?;
            // What goes through lists is a path, also of a field that is to be; dots alone stand in names too.
            let through_lists = path.segments().contains(&Segment::Each);
            (!names.is_empty() && (through_lists || records.field_value(&path).is_ok())).then_some(FieldPath(names))
        };
        found().unwrap_or_else(|| FieldPath::from(text))
    }

    /// The way to the records that have the field, and its name there.
    ///
    /// Errors: no name at all.
    pub(super) fn split(&self) -> Result<(&[Arc<str>], &Arc<str>)> {
        let error = || Error::value("the path is empty").wanted("at least the name of a field");
        self.0.split_last().map(|(name, way)| (way, name)).ok_or_else(error)
    }
}

/// The records of a value, in whatever rows and masks.
fn records_in(whole: &Value) -> Option<StructTensor> {
    StructTensor::from_value(whole).ok().or_else(|| {
        let rows = RaggedTensor::from_value(whole).map(|rows| rows.values().clone());
        let inner = rows.or_else(|_| MaskedTensor::from_value(whole).map(|masked| masked.values().clone()));
        records_in(&inner.ok()?)
    })
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
