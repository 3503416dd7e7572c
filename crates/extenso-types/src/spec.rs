//! Specs: what is known of a value without its data.
//!
//! Invariant: a spec is plain data, the same whether its type is registered, written in another language or long gone.
//! Compatibility is derived from it here; how values are taken apart and rebuilt is known to `extenso-core`.

use crate::{DType, Dim, DimId, Error, Path, Result, Segment, Shape, StaticValue, TypeDef};
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;

/// The spec of a tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorSpec {
    /// The element type.
    pub dtype: DType,
    /// The shape, as far as it is known.
    pub shape: Shape,
}

impl TensorSpec {
    /// A spec of this dtype and shape.
    pub fn new(dtype: DType, shape: Shape) -> TensorSpec {
        TensorSpec { dtype, shape }
    }
}

impl fmt::Display for TensorSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.dtype, self.shape)
    }
}

/// The spec of a row partition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartitionSpec {
    /// The number of rows.
    pub nrows: Dim,
    /// The number of values that the rows are cut from.
    pub nvalues: Dim,
    /// The number of values that each row has, where it is known that all have as many.
    pub uniform_row_length: Option<usize>,
    /// The width of the offsets: i32 or i64.
    pub index: DType,
}

impl PartitionSpec {
    /// Rows of any lengths.
    pub fn new(nrows: Dim, nvalues: Dim, index: DType) -> PartitionSpec {
        PartitionSpec { nrows, nvalues, uniform_row_length: None, index }
    }

    /// Rows that all have so many values.
    pub fn of_length(nrows: Dim, length: usize, index: DType) -> PartitionSpec {
        let nvalues = nrows.known().and_then(|n| n.checked_mul(length)).map_or_else(Dim::any, Dim::Known);
        PartitionSpec { nrows, nvalues, uniform_row_length: Some(length), index }
    }

    /// The size of the axis of the rows.
    pub fn row_length(&self) -> Dim {
        Dim::from(self.uniform_row_length)
    }

    /// Whether rows that have so many values, where it is known, are of this spec.
    pub fn allows_rows_of(&self, length: Option<usize>) -> bool {
        self.uniform_row_length.is_none() || self.uniform_row_length == length
    }
}

impl fmt::Display for PartitionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "partition<{}>[{} rows", self.index, self.nrows)?;
        if let Some(length) = self.uniform_row_length {
            write!(f, " of length {length}")?;
        }
        write!(f, " of {} values]", self.nvalues)
    }
}

/// The spec of what a graph knows: a tensor or a row partition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LeafSpec {
    /// A tensor.
    Tensor(TensorSpec),
    /// A row partition.
    Partition(PartitionSpec),
}

impl LeafSpec {
    /// The tensor spec.
    ///
    /// Errors: it is a partition.
    pub fn tensor(&self) -> Result<&TensorSpec> {
        match self {
            LeafSpec::Tensor(t) => Ok(t),
            LeafSpec::Partition(_) => Err(Error::dtype(format!("found a {self}")).wanted("a tensor")),
        }
    }

    /// The partition spec.
    ///
    /// Errors: it is a tensor.
    pub fn partition(&self) -> Result<&PartitionSpec> {
        match self {
            LeafSpec::Partition(p) => Ok(p),
            LeafSpec::Tensor(_) => Err(Error::dtype(format!("found a tensor {self}")).wanted("a row partition")),
        }
    }

    /// Whether every value of `other` is one of these, under one assignment of variables.
    pub fn accepts(&self, other: &LeafSpec, bindings: &mut Bindings) -> bool {
        match (self, other) {
            (LeafSpec::Tensor(a), LeafSpec::Tensor(b)) => a.dtype == b.dtype && bindings.shape(&a.shape, &b.shape),
            (LeafSpec::Partition(a), LeafSpec::Partition(b)) => {
                a.index == b.index
                    && a.allows_rows_of(b.uniform_row_length)
                    && bindings.dim(a.nrows, b.nrows)
                    && bindings.dim(a.nvalues, b.nvalues)
            }
            (LeafSpec::Tensor(_), LeafSpec::Partition(_)) | (LeafSpec::Partition(_), LeafSpec::Tensor(_)) => false,
        }
    }

    fn dims(&self) -> SmallVec<[Dim; 4]> {
        match self {
            LeafSpec::Tensor(t) => t.shape.dims().unwrap_or(&[]).iter().copied().collect(),
            LeafSpec::Partition(p) => [p.nrows, p.nvalues].into_iter().collect(),
        }
    }
}

impl fmt::Display for LeafSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LeafSpec::Tensor(t) => t.fmt(f),
            LeafSpec::Partition(p) => p.fmt(f),
        }
    }
}

/// The normal form of an extension type's spec: the definition, its static data and the specs of its components.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExtSpec {
    /// The type.
    pub def: Arc<TypeDef>,
    /// What the type carries besides its components.
    pub static_data: StaticValue,
    /// The components in the order of the type, each with the step that leads to it.
    pub components: Vec<(Segment, Spec)>,
}

impl ExtSpec {
    /// The spec of one component.
    pub fn component(&self, segment: &Segment) -> Option<&Spec> {
        self.components.iter().find(|(s, _)| s == segment).map(|(_, spec)| spec)
    }
}

impl fmt::Display for ExtSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<_> = self
            .components
            .iter()
            .map(|(segment, spec)| match Path::from_iter([segment.clone()]).to_string() {
                name if name.is_empty() => spec.to_string(),
                name => format!("{name}: {spec}"),
            })
            .collect();
        match &self.static_data {
            StaticValue::Map(map) => parts.extend(map.iter().map(|(k, v)| format!("{k}={v}"))),
            StaticValue::None => {}
            other => parts.push(other.to_string()),
        }
        write!(f, "{}({})", self.def.name().short(), parts.join(", "))
    }
}

/// The spec of any value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Spec {
    /// A tensor.
    Tensor(TensorSpec),
    /// A row partition.
    Partition(PartitionSpec),
    /// A value of an extension type.
    Ext(Arc<ExtSpec>),
}

impl Spec {
    /// The tensors and partitions that a value of this spec is made of, each with its path below `at`.
    pub fn leaves(&self, at: &Path) -> Vec<(Path, LeafSpec)> {
        let mut out = Vec::new();
        self.push_leaves(at.clone(), &mut out);
        out
    }

    fn push_leaves(&self, at: Path, out: &mut Vec<(Path, LeafSpec)>) {
        match self {
            Spec::Tensor(t) => out.push((at, LeafSpec::Tensor(t.clone()))),
            Spec::Partition(p) => out.push((at, LeafSpec::Partition(p.clone()))),
            Spec::Ext(e) => {
                e.components.iter().for_each(|(segment, spec)| spec.push_leaves(at.child(segment.clone()), out))
            }
        }
    }

    /// The number of leaves.
    pub fn leaf_count(&self) -> usize {
        match self {
            Spec::Tensor(_) | Spec::Partition(_) => 1,
            Spec::Ext(e) => e.components.iter().map(|(_, spec)| spec.leaf_count()).sum(),
        }
    }

    /// The extension spec.
    ///
    /// Errors: it is a tensor or a partition.
    pub fn ext(&self) -> Result<&Arc<ExtSpec>> {
        match self {
            Spec::Ext(e) => Ok(e),
            Spec::Tensor(_) | Spec::Partition(_) => {
                Err(Error::dtype(format!("found a {self}")).wanted("a value of an extension type"))
            }
        }
    }

    /// Whether some value satisfies both. Symmetric, not transitive.
    pub fn is_compatible_with(&self, other: &Spec) -> bool {
        match (self, other) {
            (Spec::Tensor(a), Spec::Tensor(b)) => a.dtype == b.dtype && a.shape.is_compatible_with(&b.shape),
            (Spec::Partition(a), Spec::Partition(b)) => {
                let lengths = a.uniform_row_length.zip(b.uniform_row_length);
                a.index == b.index
                    && lengths.is_none_or(|(x, y)| x == y)
                    && a.nrows.is_compatible_with(b.nrows)
                    && a.nvalues.is_compatible_with(b.nvalues)
            }
            (Spec::Ext(a), Spec::Ext(b)) => same_frame(a, b) && pairs(a, b).all(|(x, y)| x.is_compatible_with(y)),
            _ => false,
        }
    }

    /// Whether every value of this spec is one of `other`.
    pub fn is_subtype_of(&self, other: &Spec) -> bool {
        other.accepts(self, &mut Bindings::default())
    }

    /// Whether every value of `other` is one of these, under one assignment of variables that `bindings` collects.
    pub fn accepts(&self, other: &Spec, bindings: &mut Bindings) -> bool {
        match (self, other) {
            (Spec::Ext(a), Spec::Ext(b)) => same_frame(a, b) && pairs(a, b).all(|(x, y)| x.accepts(y, bindings)),
            _ => match (self.as_leaf(), other.as_leaf()) {
                (Some(a), Some(b)) => a.accepts(&b, bindings),
                _ => false,
            },
        }
    }

    /// Whether both say the same, up to the names of variables.
    pub fn equals(&self, other: &Spec) -> bool {
        let known_alike = |a: &Spec, b: &Spec| {
            let dims = |s: &Spec| s.leaves(&Path::root()).iter().map(|(_, leaf)| leaf.dims()).collect::<Vec<_>>();
            dims(a).iter().flatten().map(|d| d.known()).eq(dims(b).iter().flatten().map(|d| d.known()))
        };
        self.is_subtype_of(other) && other.is_subtype_of(self) && known_alike(self, other)
    }

    /// An equal spec, whose unknown sizes are those of no other: two arguments of one spec have sizes that may differ.
    pub fn with_sizes_of_its_own(&self) -> Spec {
        self.with_sizes(&mut Bindings::default())
    }

    /// The spec whose unknown sizes are what they are bound to; one that is not bound becomes a size of its own, to which it is then.
    pub fn with_sizes(&self, bindings: &mut Bindings) -> Spec {
        renamed(self, bindings)
    }

    /// The most specific spec that both satisfy, or none.
    ///
    /// Sizes that differ in the same way become the same variable.
    pub fn join(&self, other: &Spec) -> Option<Spec> {
        Joiner::default().spec(self, other)
    }

    fn as_leaf(&self) -> Option<LeafSpec> {
        match self {
            Spec::Tensor(t) => Some(LeafSpec::Tensor(t.clone())),
            Spec::Partition(p) => Some(LeafSpec::Partition(p.clone())),
            Spec::Ext(_) => None,
        }
    }
}

fn same_frame(a: &ExtSpec, b: &ExtSpec) -> bool {
    a.def == b.def
        && a.static_data == b.static_data
        && a.components.len() == b.components.len()
        && a.components.iter().zip(&b.components).all(|((x, _), (y, _))| x == y)
}

fn pairs<'a>(a: &'a ExtSpec, b: &'a ExtSpec) -> impl Iterator<Item = (&'a Spec, &'a Spec)> {
    a.components.iter().zip(&b.components).map(|((_, x), (_, y))| (x, y))
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spec::Tensor(t) => t.fmt(f),
            Spec::Partition(p) => p.fmt(f),
            Spec::Ext(e) => e.fmt(f),
        }
    }
}

impl From<TensorSpec> for Spec {
    fn from(spec: TensorSpec) -> Spec {
        Spec::Tensor(spec)
    }
}

impl From<LeafSpec> for Spec {
    fn from(spec: LeafSpec) -> Spec {
        match spec {
            LeafSpec::Tensor(t) => Spec::Tensor(t),
            LeafSpec::Partition(p) => Spec::Partition(p),
        }
    }
}

impl From<ExtSpec> for Spec {
    fn from(spec: ExtSpec) -> Spec {
        Spec::Ext(Arc::new(spec))
    }
}

/// An assignment of sizes to variables, collected while specs are matched.
#[derive(Default, Debug)]
pub struct Bindings(SmallVec<[(DimId, Dim); 8]>);

impl Bindings {
    /// Whether `given` is a size that `wanted` allows, under what is bound so far.
    pub fn dim(&mut self, wanted: Dim, given: Dim) -> bool {
        match wanted {
            Dim::Known(n) => given == Dim::Known(n),
            Dim::Var(id) => match self.0.iter().find(|(known, _)| *known == id) {
                Some((_, bound)) => *bound == given,
                None => {
                    self.0.push((id, given));
                    true
                }
            },
        }
    }

    /// Whether `given` is a shape that `wanted` allows, under what is bound so far.
    pub fn shape(&mut self, wanted: &Shape, given: &Shape) -> bool {
        match (wanted.dims(), given.dims()) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(|(x, y)| self.dim(*x, *y)),
        }
    }

    /// Whether these sizes are a shape that `wanted` allows, under what is bound so far.
    pub fn sizes(&mut self, wanted: &Shape, given: &[usize]) -> bool {
        let Some(dims) = wanted.dims() else { return true };
        dims.len() == given.len() && dims.iter().zip(given).all(|(d, n)| self.dim(*d, Dim::Known(*n)))
    }

    /// What a variable is bound to.
    pub fn get(&self, id: DimId) -> Option<Dim> {
        self.0.iter().find(|(known, _)| *known == id).map(|(_, dim)| *dim)
    }
}

impl Dim {
    fn renamed(self, names: &mut Bindings) -> Dim {
        let Dim::Var(id) = self else { return self };
        names.get(id).unwrap_or_else(|| {
            let fresh = Dim::any();
            names.0.push((id, fresh));
            fresh
        })
    }
}

fn renamed(spec: &Spec, names: &mut Bindings) -> Spec {
    match spec {
        Spec::Tensor(tensor) => match tensor.shape.dims() {
            Some(dims) => TensorSpec::new(tensor.dtype, Shape::new(dims.iter().map(|dim| dim.renamed(names)))).into(),
            None => spec.clone(),
        },
        Spec::Partition(p) => {
            let (nrows, nvalues) = (p.nrows.renamed(names), p.nvalues.renamed(names));
            Spec::Partition(PartitionSpec { nrows, nvalues, ..p.clone() })
        }
        Spec::Ext(ext) => {
            let part = |(segment, part): &(Segment, Spec)| (segment.clone(), renamed(part, names));
            let components = ext.components.iter().map(part).collect();
            ExtSpec { def: ext.def.clone(), static_data: ext.static_data.clone(), components }.into()
        }
    }
}

#[derive(Default)]
struct Joiner(SmallVec<[((Dim, Dim), Dim); 8]>);

impl Joiner {
    fn dim(&mut self, a: Dim, b: Dim) -> Dim {
        if a == b {
            return a;
        }
        if let Some((_, joined)) = self.0.iter().find(|(pair, _)| *pair == (a, b)) {
            return *joined;
        }
        let joined = Dim::any();
        self.0.push(((a, b), joined));
        joined
    }

    fn spec(&mut self, a: &Spec, b: &Spec) -> Option<Spec> {
        match (a, b) {
            (Spec::Tensor(a), Spec::Tensor(b)) if a.dtype == b.dtype => {
                let shape = match (a.shape.dims(), b.shape.dims()) {
                    (Some(x), Some(y)) if x.len() == y.len() => {
                        Shape::new(x.iter().zip(y).map(|(p, q)| self.dim(*p, *q)))
                    }
                    _ => Shape::unknown(),
                };
                Some(Spec::Tensor(TensorSpec::new(a.dtype, shape)))
            }
            (Spec::Partition(a), Spec::Partition(b)) if a.index == b.index => Some(Spec::Partition(PartitionSpec {
                nrows: self.dim(a.nrows, b.nrows),
                nvalues: self.dim(a.nvalues, b.nvalues),
                uniform_row_length: a.uniform_row_length.filter(|_| a.uniform_row_length == b.uniform_row_length),
                index: a.index,
            })),
            (Spec::Ext(a), Spec::Ext(b)) if same_frame(a, b) => {
                let components: Option<Vec<_>> = a
                    .components
                    .iter()
                    .zip(&b.components)
                    .map(|((segment, x), (_, y))| Some((segment.clone(), self.spec(x, y)?)))
                    .collect();
                let spec = ExtSpec { def: a.def.clone(), static_data: a.static_data.clone(), components: components? };
                Some(Spec::from(spec))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(dims: &[Option<usize>]) -> Spec {
        TensorSpec::new(DType::F32, Shape::partial(dims.iter().copied())).into()
    }

    #[test]
    fn compatibility_is_symmetric_and_not_transitive() {
        let (a, any, b) = (tensor(&[Some(2)]), tensor(&[None]), tensor(&[Some(3)]));
        assert!(a.is_compatible_with(&any) && any.is_compatible_with(&a));
        assert!(any.is_compatible_with(&b) && !a.is_compatible_with(&b));
    }

    #[test]
    fn equal_variables_accept_equal_sizes_only() {
        let n = Dim::any();
        let square: Spec = TensorSpec::new(DType::F32, Shape::new([n, n])).into();
        assert!(tensor(&[Some(3), Some(3)]).is_subtype_of(&square));
        assert!(!tensor(&[Some(3), Some(4)]).is_subtype_of(&square));
    }

    #[test]
    fn specs_are_equal_up_to_names_of_variables() {
        assert!(tensor(&[None, Some(3)]).equals(&tensor(&[None, Some(3)])));
        assert!(!tensor(&[None, Some(3)]).equals(&tensor(&[Some(3), Some(3)])));
    }

    #[test]
    fn sizes_of_its_own_are_tied_to_each_other_and_to_no_other() {
        let n = Dim::any();
        let square: Spec = TensorSpec::new(DType::F32, Shape::new([n, n, Dim::Known(2)])).into();
        let other = square.with_sizes_of_its_own();
        assert!(other.equals(&square));
        assert_ne!(format!("{other:?}"), format!("{square:?}"));
        assert_eq!(format!("{square:?}"), format!("{:?}", square.clone()));
    }

    #[test]
    fn join_is_an_upper_bound() {
        let (a, b) = (tensor(&[Some(2), Some(1)]), tensor(&[Some(5), Some(3)]));
        let joined = a.join(&b).expect("same dtype");
        assert!(a.is_subtype_of(&joined) && b.is_subtype_of(&joined));
        assert!(joined.equals(&tensor(&[None, None])));
    }
}
