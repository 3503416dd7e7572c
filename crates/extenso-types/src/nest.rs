//! Nests: lists, tuples, dicts and records whose leaves are values or specs.
//!
//! Invariant: flattening visits dicts in sorted key order and records in field order, so that equal structures flatten alike.

use crate::{Error, Path, Result, Segment, StaticValue};
use std::fmt;
use std::sync::Arc;

/// A nest of `T`.
///
/// ```
/// # use extenso_types::Nest;
/// let n = Nest::dict([("b", Nest::Leaf(2)), ("a", Nest::Tuple(vec![Nest::Leaf(1)]))]);
/// let leaves: Vec<_> = n.leaves().into_iter().map(|(path, leaf)| format!("{path}={leaf}")).collect();
/// assert_eq!(leaves, ["a[0]=1", "b=2"]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Nest<T> {
    /// A leaf.
    Leaf(T),
    /// A static value, which is part of the structure.
    Static(StaticValue),
    /// A list.
    List(Vec<Nest<T>>),
    /// A tuple.
    Tuple(Vec<Nest<T>>),
    /// A dict, sorted by key; see [`Nest::dict`].
    Dict(Vec<(Arc<str>, Nest<T>)>),
    /// A named tuple, dataclass or the like: the type's name and its fields in order.
    Record(Arc<str>, Vec<(Arc<str>, Nest<T>)>),
}

/// A key with what it has.
type Entry<T> = (Arc<str>, Nest<T>);

impl<T> Nest<T> {
    /// A dict of these entries, sorted by key.
    pub fn dict<K: Into<Arc<str>>>(entries: impl IntoIterator<Item = (K, Nest<T>)>) -> Nest<T> {
        let mut entries: Vec<_> = entries.into_iter().map(|(k, v)| (k.into(), v)).collect();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        Nest::Dict(entries)
    }

    /// The leaf, if it is one.
    ///
    /// ```
    /// # use extenso_types::Nest;
    /// let n = Nest::List(vec![Nest::Leaf(7), Nest::Tuple(vec![])]);
    /// let items = n.as_list().unwrap();
    /// assert_eq!((items[0].as_leaf(), items[1].as_leaf(), n.as_tuple()), (Some(&7), None, None));
    /// ```
    pub fn as_leaf(&self) -> Option<&T> {
        match self {
            Nest::Leaf(leaf) => Some(leaf),
            Nest::Static(_) | Nest::List(_) | Nest::Tuple(_) | Nest::Dict(_) | Nest::Record(..) => None,
        }
    }

    /// The items, if it is a list.
    pub fn as_list(&self) -> Option<&[Nest<T>]> {
        match self {
            Nest::List(items) => Some(items),
            Nest::Leaf(_) | Nest::Static(_) | Nest::Tuple(_) | Nest::Dict(_) | Nest::Record(..) => None,
        }
    }

    /// The items, if it is a tuple.
    pub fn as_tuple(&self) -> Option<&[Nest<T>]> {
        match self {
            Nest::Tuple(items) => Some(items),
            Nest::Leaf(_) | Nest::Static(_) | Nest::List(_) | Nest::Dict(_) | Nest::Record(..) => None,
        }
    }

    /// The entries by key, if it is a dict.
    pub fn as_dict(&self) -> Option<&[Entry<T>]> {
        match self {
            Nest::Dict(entries) => Some(entries),
            Nest::Leaf(_) | Nest::Static(_) | Nest::List(_) | Nest::Tuple(_) | Nest::Record(..) => None,
        }
    }

    /// The type's name and the fields, if it is a named tuple, a dataclass or the like.
    pub fn as_record(&self) -> Option<(&str, &[Entry<T>])> {
        match self {
            Nest::Record(name, fields) => Some((name, fields)),
            Nest::Leaf(_) | Nest::Static(_) | Nest::List(_) | Nest::Tuple(_) | Nest::Dict(_) => None,
        }
    }

    /// What a dict has at a key, or a record in a field.
    ///
    /// ```
    /// # use extenso_types::Nest;
    /// let n = Nest::dict([("score", Nest::Leaf(0.5))]);
    /// assert_eq!((n.get("score").and_then(Nest::as_leaf), n.get("id")), (Some(&0.5), None));
    /// ```
    pub fn get(&self, name: &str) -> Option<&Nest<T>> {
        match self {
            Nest::Dict(entries) | Nest::Record(_, entries) => {
                entries.iter().find(|(key, _)| **key == *name).map(|(_, item)| item)
            }
            Nest::Leaf(_) | Nest::Static(_) | Nest::List(_) | Nest::Tuple(_) => None,
        }
    }

    /// What stands at a path, such as [`leaves`](Nest::leaves) gives one to each leaf.
    ///
    /// Errors: a step that leads nowhere, with what is there.
    ///
    /// ```
    /// # use extenso_types::{Nest, Path};
    /// let n = Nest::dict([("scores", Nest::List(vec![Nest::Leaf(0.5), Nest::Leaf(1.5)]))]);
    /// let path: Path = "scores[1]".parse()?;
    /// assert_eq!(n.at(&path)?.as_leaf(), Some(&1.5));
    /// let error = n.at(&"scores[2]".parse()?).unwrap_err().to_string();
    /// assert_eq!(error, "at 'scores': there is no '[2]' in a list of 2 items.");
    /// # Ok::<(), extenso_types::Error>(())
    /// ```
    pub fn at(&self, path: &Path) -> Result<&Nest<T>> {
        path.segments().iter().enumerate().try_fold(self, |nest, (depth, step)| {
            let found = match (nest, step) {
                (Nest::List(items) | Nest::Tuple(items), Segment::Index(i)) => items.get(*i),
                (_, Segment::Field(name)) => nest.get(name),
                _ => None,
            };
            found.ok_or_else(|| {
                let (here, step) = (path.segments()[..depth].iter().cloned(), Path::from_iter([step.clone()]));
                Error::missing(format!("there is no '{step}' in {}", nest.contents())).at_path(&Path::from_iter(here))
            })
        })
    }

    fn contents(&self) -> String {
        let keys = |e: &[(Arc<str>, Nest<T>)]| e.iter().map(|(key, _)| &**key).collect::<Vec<_>>().join(", ");
        match self {
            Nest::List(items) | Nest::Tuple(items) => format!("{} of {} items", self.kind(), items.len()),
            Nest::Dict(entries) | Nest::Record(_, entries) => format!("{} of: {}", self.kind(), keys(entries)),
            Nest::Leaf(_) | Nest::Static(_) => self.kind(),
        }
    }

    /// The leaves with their paths, in order.
    ///
    /// ```
    /// # use extenso_types::Nest;
    /// let n = Nest::dict([("scores", Nest::List(vec![Nest::Leaf(0.5), Nest::Leaf(1.5)]))]);
    /// let total: f64 = n.leaves().into_iter().map(|(_, leaf)| leaf).sum();
    /// assert_eq!(total, 2.0);
    /// ```
    pub fn leaves(&self) -> Vec<(Path, &T)> {
        let mut out = Vec::new();
        self.visit(Path::root(), &mut |path, leaf| out.push((path, leaf)));
        out
    }

    fn visit<'a>(&'a self, at: Path, f: &mut impl FnMut(Path, &'a T)) {
        match self {
            Nest::Leaf(leaf) => f(at, leaf),
            Nest::Static(_) => {}
            Nest::List(items) | Nest::Tuple(items) => {
                items.iter().enumerate().for_each(|(i, item)| item.visit(at.child(Segment::Index(i)), f));
            }
            Nest::Dict(entries) | Nest::Record(_, entries) => {
                entries.iter().for_each(|(key, item)| item.visit(at.child(Segment::field(key.clone())), f));
            }
        }
    }

    /// The nest of the same structure with each leaf replaced.
    ///
    /// Errors: the first that `f` returns.
    pub fn try_map<U>(&self, mut f: impl FnMut(&Path, &T) -> Result<U>) -> Result<Nest<U>> {
        self.map_at(&Path::root(), &mut f)
    }

    fn map_at<U>(&self, at: &Path, f: &mut impl FnMut(&Path, &T) -> Result<U>) -> Result<Nest<U>> {
        let items = |items: &[Nest<T>], f: &mut _| -> Result<Vec<Nest<U>>> {
            items.iter().enumerate().map(|(i, item)| Self::map_at(item, &at.child(Segment::Index(i)), f)).collect()
        };
        let entries = |entries: &[(Arc<str>, Nest<T>)], f: &mut _| -> Result<Vec<(Arc<str>, Nest<U>)>> {
            entries
                .iter()
                .map(|(k, item)| Ok((k.clone(), item.map_at(&at.child(Segment::field(k.clone())), f)?)))
                .collect()
        };
        Ok(match self {
            Nest::Leaf(leaf) => Nest::Leaf(f(at, leaf)?),
            Nest::Static(value) => Nest::Static(value.clone()),
            Nest::List(list) => Nest::List(items(list, f)?),
            Nest::Tuple(tuple) => Nest::Tuple(items(tuple, f)?),
            Nest::Dict(dict) => Nest::Dict(entries(dict, f)?),
            Nest::Record(name, fields) => Nest::Record(name.clone(), entries(fields, f)?),
        })
    }

    /// The nest of this structure with its leaves taken from `leaves`.
    ///
    /// Errors: too few or too many leaves.
    pub fn pack<U>(&self, leaves: impl IntoIterator<Item = U>) -> Result<Nest<U>> {
        let mut leaves = leaves.into_iter();
        let packed = self.try_map(|path, _| {
            leaves.next().ok_or_else(|| {
                Error::value(format!("no leaf is left for '{path}'")).wanted("one leaf for each of the structure")
            })
        })?;
        if leaves.next().is_some() {
            return Err(Error::value("leaves are left over").wanted("one leaf for each of the structure"));
        }
        Ok(packed)
    }

    /// Checks that `other` has the same structure.
    ///
    /// Errors: the first place where they differ, with its path.
    pub fn assert_same_structure<U>(&self, other: &Nest<U>) -> Result<()> {
        self.compare(other, &Path::root())
    }

    fn compare<U>(&self, other: &Nest<U>, at: &Path) -> Result<()> {
        let differ = |what: String| Err(Error::value(what).at_path(at).wanted("the same structure on both sides"));
        match (self, other) {
            (Nest::Leaf(_), Nest::Leaf(_)) => Ok(()),
            (Nest::Static(a), Nest::Static(b)) if a == b => Ok(()),
            (Nest::Static(a), Nest::Static(b)) => differ(format!("{a} stands against {b}")),
            (Nest::List(a), Nest::List(b)) | (Nest::Tuple(a), Nest::Tuple(b)) => {
                if a.len() != b.len() {
                    return differ(format!("{} items stand against {}", a.len(), b.len()));
                }
                let mut zipped = a.iter().zip(b).enumerate();
                zipped.try_for_each(|(i, (x, y))| x.compare(y, &at.child(Segment::Index(i))))
            }
            (Nest::Dict(a), Nest::Dict(b)) => compare_entries(a, b, at),
            (Nest::Record(n, a), Nest::Record(m, b)) if n == m => compare_entries(a, b, at),
            _ => differ(format!("{} stands against {}", self.kind(), other.kind())),
        }
    }

    fn kind(&self) -> String {
        match self {
            Nest::Leaf(_) => "a leaf".into(),
            Nest::Static(value) => format!("the static value {value}"),
            Nest::List(_) => "a list".into(),
            Nest::Tuple(_) => "a tuple".into(),
            Nest::Dict(_) => "a dict".into(),
            Nest::Record(name, _) => format!("a {name}"),
        }
    }
}

fn compare_entries<T, U>(a: &[(Arc<str>, Nest<T>)], b: &[(Arc<str>, Nest<U>)], at: &Path) -> Result<()> {
    let keys = |names: Vec<&str>| names.join(", ");
    if !a.iter().map(|e| &e.0).eq(b.iter().map(|e| &e.0)) {
        let (a, b) = (keys(a.iter().map(|e| &*e.0).collect()), keys(b.iter().map(|e| &*e.0).collect()));
        return Err(Error::value(format!("the keys [{a}] stand against [{b}]")).at_path(at));
    }
    a.iter().zip(b).try_for_each(|((k, x), (_, y))| x.compare(y, &at.child(Segment::field(k.clone()))))
}

impl<T: fmt::Display> fmt::Display for Nest<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items = |items: &[Nest<T>]| items.iter().map(Nest::to_string).collect::<Vec<_>>().join(", ");
        let entries =
            |e: &[(Arc<str>, Nest<T>)]| e.iter().map(|(k, v)| format!("{k}: {v}")).collect::<Vec<_>>().join(", ");
        match self {
            Nest::Leaf(leaf) => leaf.fmt(f),
            Nest::Static(value) => value.fmt(f),
            Nest::List(list) => write!(f, "[{}]", items(list)),
            Nest::Tuple(tuple) => write!(f, "({}{})", items(tuple), if tuple.len() == 1 { "," } else { "" }),
            Nest::Dict(dict) => write!(f, "{{{}}}", entries(dict)),
            Nest::Record(name, fields) => write!(f, "{name}({})", entries(fields)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pack_of_the_leaves_is_the_nest() {
        let nest =
            Nest::List(vec![Nest::dict([("b", Nest::Leaf(2)), ("a", Nest::Leaf(1))]), Nest::Static(StaticValue::None)]);
        let leaves: Vec<i32> = nest.leaves().into_iter().map(|(_, leaf)| *leaf).collect();
        assert_eq!(leaves, [1, 2]);
        assert_eq!(nest.pack(leaves).expect("as many leaves"), nest);
        assert!(nest.pack([1]).is_err() && nest.pack([1, 2, 3]).is_err());
    }

    #[test]
    fn every_path_of_a_leaf_leads_to_it() {
        let fields = vec![("y".into(), Nest::Leaf(3)), ("x".into(), Nest::Tuple(vec![Nest::Leaf(4)]))];
        let nest = Nest::List(vec![Nest::dict([("a", Nest::Leaf(1))]), Nest::Record("Point".into(), fields)]);
        for (path, leaf) in nest.leaves() {
            assert_eq!(nest.at(&path).expect("a leaf").as_leaf(), Some(leaf));
        }
        let check = |path: &str, text: &str| {
            let error = nest.at(&path.parse().expect("a path")).expect_err(path).to_string();
            assert_eq!(error, text);
        };
        check("[2]", "there is no '[2]' in a list of 2 items.");
        check("[1].z", "at '[1]': there is no 'z' in a Point of: y, x.");
        check("[0].a[0]", "at '[0].a': there is no '[0]' in a leaf.");
    }

    #[test]
    fn differing_structures_are_named_by_path() {
        let a = Nest::dict([("x", Nest::List(vec![Nest::Leaf(1)]))]);
        let b = Nest::dict([("x", Nest::List(vec![Nest::Leaf(1), Nest::Leaf(2)]))]);
        let error = a.assert_same_structure(&b).expect_err("differs").to_string();
        assert!(error.contains("'x'") && error.contains("1 items stand against 2"), "{error}");
    }
}
