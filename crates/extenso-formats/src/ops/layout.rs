//! The leaves of a batch of records, for any number of records.
//!
//! Invariant: leaves stand in the order of the spec's; every application has sizes of its own for the items of lists.

use crate::records::is;
use extenso_core::attrs::{AttrType, AttrValue};
use extenso_core::{Provenance, Value, pack};
use extenso_ext::{MaskedTensorSpec, RaggedTensorSpec, UnionSpec, shape_of};
use extenso_types::{Dim, Error, ExtSpec, LeafSpec, PartitionSpec, Path, Result, Segment, Shape, Spec, TensorSpec};
use std::fmt;
use std::iter::once;
use std::sync::{Arc, OnceLock};

/// The spec of a batch of records as an attribute, and what it was made ready as, which its copies share.
pub struct Records<R> {
    spec: Spec,
    ready: Arc<OnceLock<Result<R>>>,
}

impl<R> Records<R> {
    /// A spec that is not ready yet.
    pub fn new(spec: Spec) -> Records<R> {
        Records { spec, ready: Arc::default() }
    }

    /// The same spec, of which nothing is made yet.
    pub fn anew(&self) -> Records<R> {
        Records::new(self.spec.clone())
    }

    /// What `make` makes of the spec, which is done once.
    ///
    /// Errors: those of `make`, each time.
    pub fn ready(&self, make: impl FnOnce(&Spec) -> Result<R>) -> Result<&R> {
        self.ready.get_or_init(|| make(&self.spec)).as_ref().map_err(Error::clone)
    }
}

impl<R> Clone for Records<R> {
    fn clone(&self) -> Records<R> {
        Records { spec: self.spec.clone(), ready: self.ready.clone() }
    }
}

impl<R> fmt::Debug for Records<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec.fmt(f)
    }
}

impl<R> AttrType for Records<R> {
    const NAME: &'static str = "spec";

    fn to_attr(&self) -> AttrValue {
        AttrValue::Spec(self.spec.clone())
    }

    fn from_attr(value: &AttrValue) -> Option<Records<R>> {
        Spec::from_attr(value).map(Records::new)
    }
}

/// The leaves of a batch as a pattern.
#[derive(Debug)]
pub struct Layout {
    leaves: Vec<LeafSpec>,
    rows: Dim,
}

impl Layout {
    /// The leaves of a spec that records can express.
    ///
    /// Errors: a spec without leaves, which say how many records there are.
    pub fn new(spec: &Spec) -> Result<Layout> {
        let rows = Dim::any();
        let leaves: Vec<LeafSpec> =
            of_rows(spec, rows).leaves(&Path::root()).into_iter().map(|(_, leaf)| leaf).collect();
        if leaves.is_empty() {
            return Err(Error::value("the records have no field").wanted("a field at least"));
        }
        Ok(Layout { leaves, rows })
    }

    /// How many leaves there are.
    pub fn len(&self) -> usize {
        self.leaves.len()
    }

    /// The leaves of so many records.
    pub fn specs(&self, rows: Dim) -> Vec<LeafSpec> {
        let mut sizes = vec![(self.rows, rows)];
        let mut size = |dim: Dim| match (dim, sizes.iter().find(|(known, _)| *known == dim)) {
            (Dim::Known(_), _) => dim,
            (Dim::Var(_), Some((_, size))) => *size,
            (Dim::Var(_), None) => {
                sizes.push((dim, Dim::any()));
                sizes[sizes.len() - 1].1
            }
        };
        let mut spec = |leaf: &LeafSpec| match leaf {
            LeafSpec::Tensor(t) => {
                let dims: Vec<Dim> = t.shape.dims().unwrap_or_default().iter().map(|dim| size(*dim)).collect();
                LeafSpec::Tensor(TensorSpec::new(t.dtype, Shape::new(dims)))
            }
            LeafSpec::Partition(p) => {
                LeafSpec::Partition(PartitionSpec { nrows: size(p.nrows), nvalues: size(p.nvalues), ..p.clone() })
            }
        };
        self.leaves.iter().map(&mut spec).collect()
    }

    /// The number of records that have these leaves.
    ///
    /// Errors: other leaves, with the place of the first.
    pub fn rows(&self, given: &[LeafSpec]) -> Result<Dim> {
        if given.len() != self.len() {
            return Err(Error::value(format!("{} leaves are given", given.len())).wanted(format!("{}", self.len())));
        }
        let mut rows = None;
        for (i, (wanted, given)) in self.leaves.iter().zip(given).enumerate() {
            if !Spec::from(wanted.clone()).is_compatible_with(&Spec::from(given.clone())) {
                return Err(Error::dtype(format!("leaf {i} is {given}")).wanted(wanted.to_string()));
            }
            let (of_wanted, of_given) = (outer(wanted), outer(given));
            rows = rows.or(of_given.filter(|_| of_wanted == Some(self.rows)));
        }
        Ok(rows.unwrap_or_else(Dim::any))
    }
}

fn outer(leaf: &LeafSpec) -> Option<Dim> {
    match leaf {
        LeafSpec::Tensor(t) => t.shape.dims()?.first().copied(),
        LeafSpec::Partition(p) => Some(p.nrows),
    }
}

/// The spec with `rows` as the size of its outer axis, and sizes of its own for the items of lists.
pub fn of_rows(spec: &Spec, rows: Dim) -> Spec {
    match spec {
        Spec::Tensor(t) => {
            let inner = t.shape.dims().and_then(|dims| dims.get(1..)).unwrap_or_default();
            TensorSpec::new(t.dtype, Shape::new(once(rows).chain(inner.iter().copied()))).into()
        }
        Spec::Partition(p) => Spec::Partition(PartitionSpec { nrows: rows, nvalues: Dim::any(), ..p.clone() }),
        Spec::Ext(ext) if is::<RaggedTensorSpec>(ext) => {
            let items = Dim::any();
            rebuilt(ext, |part| match part {
                Spec::Partition(p) => Spec::Partition(PartitionSpec { nrows: rows, nvalues: items, ..p.clone() }),
                Spec::Tensor(_) | Spec::Ext(_) => of_rows(part, items),
            })
        }
        Spec::Ext(ext) => {
            let masked = is::<MaskedTensorSpec>(ext);
            let in_place = is::<UnionSpec>(ext) && ext.component(&Segment::component("offsets")).is_none();
            let mut parts = ext.components.iter().map(|(segment, _)| match segment {
                // A vocabulary, or a child of a union with offsets, has a size of its own.
                Segment::Component(name) => masked || **name == *"cells",
                Segment::Index(_) => in_place,
                Segment::Itself | Segment::Field(_) | Segment::Each => true,
            });
            rebuilt(ext, |part| of_rows(part, if parts.next() == Some(false) { Dim::any() } else { rows }))
        }
    }
}

/// The spec for any number of rows; that of one record stays.
pub fn any_rows(spec: &Spec) -> Spec {
    if shape_of(spec).rank() == Some(0) { spec.clone() } else { of_rows(spec, Dim::any()) }
}

/// The spec with these leaves in the places of its own.
fn with_leaves(spec: &Spec, leaves: &mut dyn Iterator<Item = LeafSpec>) -> Spec {
    match spec {
        Spec::Tensor(_) | Spec::Partition(_) => leaves.next().map_or_else(|| spec.clone(), Spec::from),
        Spec::Ext(ext) => rebuilt(ext, |part| with_leaves(part, leaves)),
    }
}

/// The value of a spec that is made of the leaves that an op gave, at whose data users' types looked there.
pub fn packed(spec: &Spec, leaves: Vec<Value>) -> Result<Value> {
    let specs: Result<Vec<LeafSpec>> = leaves.iter().map(Value::leaf_spec).collect();
    let spec = with_leaves(spec, &mut specs?.into_iter());
    pack(&spec, &mut leaves.into_iter(), Provenance::Trusted)
}

fn rebuilt(ext: &ExtSpec, mut part: impl FnMut(&Spec) -> Spec) -> Spec {
    let components = ext.components.iter().map(|(segment, spec)| (segment.clone(), part(spec))).collect();
    ExtSpec { def: ext.def.clone(), static_data: ext.static_data.clone(), components }.into()
}

/// Whether a value of the spec has rows of different lengths somewhere.
pub fn has_lists(spec: &Spec) -> bool {
    match spec {
        Spec::Tensor(_) => false,
        Spec::Partition(_) => true,
        Spec::Ext(ext) => ext.components.iter().any(|(_, part)| has_lists(part)),
    }
}
