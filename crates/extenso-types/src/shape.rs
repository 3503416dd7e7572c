//! Shapes: what is known of the sizes of a tensor's axes.
//!
//! Invariant: equal variable ids mean equal sizes, wherever they stand.

use crate::{Error, Result};
use smallvec::SmallVec;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// The sizes of a value's axes.
pub type Dims = SmallVec<[usize; 4]>;

/// The identity of a size that is not known before run time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct DimId(NonZeroU64);

impl DimId {
    /// A variable that no other shape has.
    pub fn fresh() -> DimId {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        DimId(NonZeroU64::new(id).unwrap_or(NonZeroU64::MIN))
    }
}

/// The size of one axis in a spec.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dim {
    /// This many.
    Known(usize),
    /// As many as every other axis with the same variable.
    Var(DimId),
}

impl Dim {
    /// A size of which nothing is known.
    pub fn any() -> Dim {
        Dim::Var(DimId::fresh())
    }

    /// The size, if it is known.
    pub fn known(self) -> Option<usize> {
        match self {
            Dim::Known(n) => Some(n),
            Dim::Var(_) => None,
        }
    }

    /// Whether some size satisfies both.
    pub fn is_compatible_with(self, other: Dim) -> bool {
        match (self, other) {
            (Dim::Known(a), Dim::Known(b)) => a == b,
            (Dim::Var(_), _) | (_, Dim::Var(_)) => true,
        }
    }

    /// The most specific dim that both satisfy.
    pub fn join(self, other: Dim) -> Dim {
        if self == other { self } else { Dim::any() }
    }
}

impl From<usize> for Dim {
    fn from(n: usize) -> Dim {
        Dim::Known(n)
    }
}

impl From<Option<usize>> for Dim {
    fn from(n: Option<usize>) -> Dim {
        n.map_or_else(Dim::any, Dim::Known)
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Known(n) => write!(f, "{n}"),
            Dim::Var(_) => f.write_str("?"),
        }
    }
}

/// A possibly partial shape: dims, or an unknown rank.
///
/// ```
/// # use extenso_types::Shape;
/// let s = Shape::partial([None, Some(3)]);
/// assert_eq!(s.to_string(), "[?, 3]");
/// assert!(Shape::known(&[5, 3]).is_subtype_of(&s));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shape(Option<SmallVec<[Dim; 4]>>);

impl Shape {
    /// A shape of these dims.
    pub fn new(dims: impl IntoIterator<Item = Dim>) -> Shape {
        Shape(Some(dims.into_iter().collect()))
    }

    /// A shape whose sizes are all known.
    pub fn known(dims: &[usize]) -> Shape {
        Shape(Some(dims.iter().map(|&n| Dim::Known(n)).collect()))
    }

    /// A shape with unknown sizes at `None`, each a variable of its own.
    pub fn partial(dims: impl IntoIterator<Item = Option<usize>>) -> Shape {
        Shape::new(dims.into_iter().map(Dim::from))
    }

    /// A shape of which not even the rank is known.
    pub fn unknown() -> Shape {
        Shape(None)
    }

    /// The shape of a scalar.
    pub fn scalar() -> Shape {
        Shape(Some(SmallVec::new()))
    }

    /// The dims, if the rank is known.
    pub fn dims(&self) -> Option<&[Dim]> {
        self.0.as_deref()
    }

    /// The number of axes, if it is known.
    pub fn rank(&self) -> Option<usize> {
        self.0.as_ref().map(SmallVec::len)
    }

    /// All sizes, if all are known.
    pub fn to_dims(&self) -> Option<Dims> {
        self.0.as_ref()?.iter().map(|d| d.known()).collect()
    }

    /// Whether some concrete shape satisfies both.
    pub fn is_compatible_with(&self, other: &Shape) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.is_compatible_with(*y)),
            (None, _) | (_, None) => true,
        }
    }

    /// Whether every concrete shape of this one satisfies `other`.
    pub fn is_subtype_of(&self, other: &Shape) -> bool {
        match (&self.0, &other.0) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(a), Some(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(x, y)| y.known().is_none_or(|n| x.known() == Some(n)))
            }
        }
    }

    /// The most specific shape that both satisfy; different ranks give an unknown rank.
    pub fn join(&self, other: &Shape) -> Shape {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) if a.len() == b.len() => Shape::new(a.iter().zip(b).map(|(x, y)| x.join(*y))),
            _ => Shape::unknown(),
        }
    }

    /// The shape that two operands of an elementwise op have together, by NumPy's broadcasting rules.
    ///
    /// Errors: two known sizes that differ and are not 1.
    pub fn broadcast(&self, other: &Shape) -> Result<Shape> {
        let (Some(a), Some(b)) = (&self.0, &other.0) else { return Ok(Shape::unknown()) };
        let rank = a.len().max(b.len());
        let dim = |s: &[Dim], i: usize| (i + s.len()).checked_sub(rank).map_or(Dim::Known(1), |j| s[j]);
        let dims: Result<SmallVec<[Dim; 4]>> = (0..rank)
            .map(|i| {
                broadcast_dim(dim(a, i), dim(b, i)).ok_or_else(|| no_broadcast(&self.to_string(), &other.to_string()))
            })
            .collect();
        Ok(Shape(Some(dims?)))
    }
}

fn broadcast_dim(a: Dim, b: Dim) -> Option<Dim> {
    match (a, b) {
        (Dim::Known(1), d) | (d, Dim::Known(1)) => Some(d),
        (Dim::Known(x), Dim::Known(y)) => (x == y).then_some(a),
        // A known size other than 1 decides: the other is it, or 1.
        (Dim::Known(_), Dim::Var(_)) => Some(a),
        (Dim::Var(_), Dim::Known(_)) => Some(b),
        (Dim::Var(x), Dim::Var(y)) => Some(if x == y { a } else { Dim::any() }),
    }
}

/// The sizes that two operands have together, by NumPy's broadcasting rules.
///
/// Errors: two sizes that differ and are not 1.
pub fn broadcast_dims(a: &[usize], b: &[usize]) -> Result<Dims> {
    if a == b {
        return Ok(Dims::from_slice(a));
    }
    let rank = a.len().max(b.len());
    let dim = |s: &[usize], i: usize| (i + s.len()).checked_sub(rank).map_or(1, |j| s[j]);
    (0..rank)
        .map(|i| match (dim(a, i), dim(b, i)) {
            (x, y) if x == y => Ok(x),
            (1, y) => Ok(y),
            (x, 1) => Ok(x),
            _ => Err(no_broadcast(&format!("{a:?}"), &format!("{b:?}"))),
        })
        .collect()
}

fn no_broadcast(a: &str, b: &str) -> Error {
    Error::shape(format!("shapes {a} and {b} do not broadcast"))
        .wanted("sizes that are equal or 1 on every axis, counted from the last")
        .hint("Insert axes of size 1 with `expand_dims`, or reshape one side.")
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(dims) = &self.0 else { return f.write_str("[...]") };
        let texts: Vec<_> = dims.iter().map(Dim::to_string).collect();
        write!(f, "[{}]", texts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn join_of_different_ranks_is_an_unknown_rank() {
        assert_eq!(Shape::known(&[2]).join(&Shape::known(&[2, 1])), Shape::unknown());
        assert_eq!(Shape::known(&[2, 1]).join(&Shape::known(&[5, 3])).rank(), Some(2));
    }

    #[test]
    fn subtypes_go_from_known_to_variable_to_unknown_rank() {
        let partial = Shape::partial([Some(5), None]);
        assert!(Shape::known(&[5, 3]).is_subtype_of(&partial));
        assert!(partial.is_subtype_of(&Shape::unknown()));
        assert!(!partial.is_subtype_of(&Shape::known(&[5, 3])));
    }

    #[test]
    fn broadcasting_pads_on_the_left() {
        assert_eq!(broadcast_dims(&[3, 1], &[4]).expect("broadcasts").as_slice(), [3, 4]);
        assert!(broadcast_dims(&[2], &[3]).is_err());
        assert!(broadcast_dims(&[0], &[1]).is_ok_and(|d| d.as_slice() == [0]));
    }
}
