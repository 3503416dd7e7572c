//! Record specs: which plan reads the leaves of a spec, and which leaves a plan's columns become.
//!
//! Invariant: leaves stand in the order of the spec's leaves; a leaf that is not needed has no column and no value.
//! A type that a record's field may have is a struct, a ragged list, a masked value, a union whose elements stand at their own places,
//! a time, a decimal, bytes of one width or JSON, which are text, categories, which read as what they mean, booleans of eight bits, or any
//! type whose components are all fields, which reads as an object.

mod build;
mod checks;
mod leaves;

pub use build::{FieldSpec, struct_spec};
pub(crate) use build::{list_spec, optional_spec};
pub(crate) use checks::placed;
pub(crate) use leaves::offsets_of;

use crate::categories::{asked, unordered};
use crate::columns::Columns;
use crate::needs::Needs;
use crate::plan::{ColumnId, Field, Plan};
use extenso_core::TypeSpec;
use extenso_ext::{
    Bool8TensorSpec, CategoricalTensorSpec, JsonTensorSpec, MaskedTensorSpec, RaggedTensorSpec, Spelling, StructSpec,
    UnionSpec,
};
use extenso_types::{DType, Error, ExtSpec, LeafSpec, Nest, Path, Result, Segment, Shape, Spec, TensorSpec};
use std::sync::Arc;

/// The spec of a batch of records, compiled for the leaves that are needed.
#[derive(Clone, Debug)]
pub struct RecordSpec {
    plan: Plan,
    leaves: Vec<Leaf>,
    columns: u32,
    vocabularies: Vec<Vocabulary>,
    /// What users' types look at, where no value is made that they would look at.
    looked: Option<Arc<Needs>>,
}

/// Values of which two leaves are made: their places among categories, and these.
#[derive(Clone, Debug)]
struct Vocabulary {
    spec: Arc<ExtSpec>,
    /// The values, with what they are.
    values: Leaf,
    /// The leaves of the places and of the categories, of which at least one is needed, in the order of the spec.
    leaves: Vec<(usize, Part)>,
    /// What says whether a value is there, at every level of its list.
    there: Vec<There>,
    /// The list that it stands in.
    list: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Places,
    Categories,
}

/// A column that says whether values are there.
#[derive(Clone, Debug)]
struct There {
    column: ColumnId,
    /// How many elements of it there are for each value behind the outer axis.
    size: usize,
    /// The type of a union whose values they are.
    tag: Option<i8>,
}

#[derive(Clone, Debug)]
struct Leaf {
    path: Path,
    spec: LeafSpec,
    column: Option<ColumnId>,
    /// Sizes of the dense axes inside one element.
    inner: Vec<usize>,
    /// Whether it is needed and counts records, of which there is nothing else: then it has no column.
    is_count: bool,
}

impl RecordSpec {
    /// Compiles the spec of a batch: its outer axis is the records.
    ///
    /// `needed` says for each leaf of the spec whether it is wanted; leaves beyond it are.
    /// Errors: a field whose type no record can express, with its path.
    pub fn new(spec: &Nest<Spec>, needed: &[bool]) -> Result<RecordSpec> {
        let mut compiler =
            Compiler { leaves: Vec::new(), columns: 0, vocabularies: Vec::new(), lists: 0, list: 0, needed };
        let plan = compiler.nest(&Path::root(), spec)?;
        let Compiler { leaves, columns, vocabularies, .. } = compiler;
        Ok(RecordSpec { plan, leaves, columns, vocabularies, looked: None })
    }

    /// What readers and writers do with a record.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The paths of the leaves that are read.
    pub fn needed_paths(&self) -> Vec<&Path> {
        self.visible().map(|leaf| &leaf.path).collect()
    }

    /// What a reader visited: the path of each leaf that has a column, and how many elements it got.
    ///
    /// Rows of lists count as elements of their partition.
    pub fn visited(&self, columns: &Columns) -> Vec<(Path, usize)> {
        let count = |leaf: &Leaf| Some((leaf.path.clone(), columns.get(leaf.column?)?.len()));
        self.visible().filter_map(count).collect()
    }

    /// What has a column; categories and their places have that of the values.
    fn visible(&self) -> impl Iterator<Item = &Leaf> {
        let values = self.vocabularies.iter().map(|vocabulary| &vocabulary.values);
        self.leaves.iter().filter(|leaf| leaf.column.is_some()).chain(values)
    }
}

struct Compiler<'a> {
    leaves: Vec<Leaf>,
    columns: u32,
    vocabularies: Vec<Vocabulary>,
    /// How many lists there are, and in which one stands what is looked at; 0 is none.
    lists: usize,
    list: usize,
    needed: &'a [bool],
}

impl Compiler<'_> {
    fn nest(&mut self, at: &Path, nest: &Nest<Spec>) -> Result<Plan> {
        let fields = |entries: Vec<(String, Segment, &Nest<Spec>)>, compiler: &mut Self| {
            let field = |(name, segment, nest): (String, Segment, &Nest<Spec>)| {
                Ok(Field { name: name.into(), plan: compiler.nest(&at.child(segment), nest)? })
            };
            Ok(Plan::Record { fields: entries.into_iter().map(field).collect::<Result<_>>()? })
        };
        match nest {
            Nest::Leaf(spec) => self.spec(at, spec, 1),
            // The same for all rows, so no row holds it.
            Nest::Static(_) => Ok(Plan::Skip),
            Nest::Tuple(items) | Nest::List(items) => {
                let items = items.iter().enumerate();
                fields(items.map(|(i, n)| (i.to_string(), Segment::Index(i), n)).collect(), self)
            }
            Nest::Dict(entries) | Nest::Record(_, entries) => {
                let entries = entries.iter();
                fields(entries.map(|(k, n)| (k.to_string(), Segment::field(k.clone()), n)).collect(), self)
            }
        }
    }

    /// The plan of one element of a value of this spec: what stands behind its `outer` first axes.
    fn spec(&mut self, at: &Path, spec: &Spec, outer: usize) -> Result<Plan> {
        match spec {
            Spec::Tensor(tensor) => self.tensor(at, tensor, outer),
            Spec::Partition(p) => Err(Error::dtype(format!("'{at}' is a {p}")).wanted("a list, whose partition it is")),
            Spec::Ext(ext) if is::<RaggedTensorSpec>(ext) => self.list(at, ext),
            Spec::Ext(ext) if is::<MaskedTensorSpec>(ext) => self.optional(at, ext, outer),
            Spec::Ext(ext) if is::<UnionSpec>(ext) => self.union(at, ext),
            Spec::Ext(ext) if is::<JsonTensorSpec>(ext) => self.json(at, ext, outer),
            Spec::Ext(ext) if is::<Bool8TensorSpec>(ext) => self.bytes_of_bits(at, ext, outer),
            Spec::Ext(ext) if is::<CategoricalTensorSpec>(ext) => self.categories(at, ext, outer),
            Spec::Ext(ext) => match Spelling::of(ext) {
                Some(spelling) => self.spelled(at, ext, spelling, outer),
                None => self.record(at, ext, outer),
            },
        }
    }

    fn tensor(&mut self, at: &Path, spec: &TensorSpec, outer: usize) -> Result<Plan> {
        let inner = inner_sizes(at, &Spec::Tensor(spec.clone()), &spec.shape, 1)?;
        let own = inner.get(outer - 1..).unwrap_or_default().to_vec();
        let column = self.leaf(at, LeafSpec::Tensor(spec.clone()), inner);
        Ok(fixed(&own, column.map_or(Plan::Skip, |column| of_dtype(spec.dtype, column))))
    }

    fn list(&mut self, at: &Path, ext: &ExtSpec) -> Result<Plan> {
        let (first, mut item) = (self.leaves.len(), Plan::Skip);
        let mut rows = (None, DType::I64, None);
        self.lists += 1;
        let around = std::mem::replace(&mut self.list, self.lists);
        for (segment, spec) in &ext.components {
            let at = at.child(segment.clone());
            match spec {
                Spec::Partition(p) => {
                    // Only the ends of rows say how many items without elements there are.
                    let needed = self.is_next_needed() || self.leaves[first..].iter().any(Leaf::is_hollow);
                    rows = (
                        self.leaf_if(needed, &at, LeafSpec::Partition(p.clone()), Vec::new()),
                        p.index,
                        p.uniform_row_length,
                    );
                }
                Spec::Tensor(_) | Spec::Ext(_) => item = self.spec(&at, spec, 1)?,
            }
        }
        self.list = around;
        let (offsets, index, size) = rows;
        Ok(Plan::List { offsets, index, size, item: Box::new(item) })
    }

    /// Values under a mask, each of which may be null.
    fn optional(&mut self, at: &Path, ext: &ExtSpec, outer: usize) -> Result<Plan> {
        let (mut inner, mut validity, mut own) = (Plan::Skip, None, Vec::new());
        let mask = ext.components.iter().find_map(|(segment, spec)| match (segment, spec) {
            (Segment::Itself, _) => None,
            (_, Spec::Tensor(mask)) => Some(mask),
            (_, Spec::Partition(_) | Spec::Ext(_)) => None,
        });
        let mask = mask.ok_or_else(|| of_other_components(at, ext, "a mask that is a tensor"))?;
        let sizes = inner_sizes(at, &Spec::Tensor(mask.clone()), &mask.shape, 1)?;
        let since = self.vocabularies.len();
        for (segment, spec) in &ext.components {
            let at = at.child(segment.clone());
            if *segment == Segment::Itself {
                inner = self.spec(&at, spec, outer.max(sizes.len() + 1))?;
            } else {
                own = sizes.get(outer - 1..).unwrap_or_default().to_vec();
                // Categories are those of the values that are there.
                let needed = self.in_list(since).next().is_some() || self.is_next_needed();
                validity = self.leaf_if(needed, &at, LeafSpec::Tensor(mask.clone()), sizes.clone());
            }
        }
        let size = extenso_core::element_count(&sizes)?;
        self.note(since, validity.map(|column| There { column, size, tag: None }));
        Ok(fixed(&own, Plan::Optional { validity, inner: Box::new(inner) }))
    }

    /// Times, decimals or bytes of one width, whose integers are their only component; those of bytes have an axis more.
    fn spelled(&mut self, at: &Path, ext: &ExtSpec, spelling: Spelling, outer: usize) -> Result<Plan> {
        let [(segment, Spec::Tensor(integers))] = ext.components.as_slice() else {
            return Err(of_other_components(at, ext, "integers alone"));
        };
        let inner = inner_sizes(at, &Spec::from(ext.clone()), &integers.shape, 1)?;
        let bytes = usize::from(spelling.dtype() == DType::U8);
        if integers.dtype != spelling.dtype() || (bytes == 1 && inner.last() != Some(&spelling.width())) {
            let error = Error::dtype(format!("'{at}' is {ext}"));
            return Err(error.wanted(format!("{} with {} bytes", spelling.dtype(), spelling.width())));
        }
        let own = inner.get(outer - 1..inner.len() - bytes).unwrap_or_default().to_vec();
        let column = self.leaf(&at.child(segment.clone()), LeafSpec::Tensor(integers.clone()), inner);
        Ok(fixed(&own, column.map_or(Plan::Skip, |column| Plan::Spelled { spelling, column })))
    }

    /// Texts of JSON, which stand in a record as strings.
    fn json(&mut self, at: &Path, ext: &ExtSpec, outer: usize) -> Result<Plan> {
        match ext.components.as_slice() {
            [(segment, Spec::Tensor(text))] => self.tensor(&at.child(segment.clone()), text, outer),
            _ => Err(of_other_components(at, ext, "a text alone")),
        }
    }

    /// Booleans that have eight bits each, and read as others.
    fn bytes_of_bits(&mut self, at: &Path, ext: &ExtSpec, outer: usize) -> Result<Plan> {
        let [(segment, Spec::Tensor(bytes))] = ext.components.as_slice() else {
            return Err(of_other_components(at, ext, "bytes alone"));
        };
        let inner = inner_sizes(at, &Spec::from(ext.clone()), &bytes.shape, 1)?;
        let own = inner.get(outer - 1..).unwrap_or_default().to_vec();
        let column = self.leaf(&at.child(segment.clone()), LeafSpec::Tensor(bytes.clone()), inner);
        Ok(fixed(&own, column.map_or(Plan::Skip, |column| Plan::Scalar { dtype: DType::Bool, column })))
    }

    /// Values of few kinds, which read as what they mean.
    fn categories(&mut self, at: &Path, ext: &Arc<ExtSpec>, outer: usize) -> Result<Plan> {
        let (codes, words) = unordered(ext).and_then(|()| asked(ext)).map_err(|e| e.at(named(at)))?;
        let inner = inner_sizes(at, &Spec::from((**ext).clone()), &codes.shape, 1)?;
        let own = inner.get(outer - 1..).unwrap_or_default().to_vec();
        let mut leaves = Vec::new();
        for (segment, spec) in &ext.components {
            if self.is_next_needed() {
                let part = if *segment == Segment::Itself { Part::Places } else { Part::Categories };
                leaves.push((self.leaves.len(), part));
            }
            let spec = LeafSpec::Tensor(if let Spec::Tensor(spec) = spec { spec.clone() } else { words.clone() });
            self.leaves.push(Leaf {
                path: at.child(segment.clone()),
                spec,
                column: None,
                inner: Vec::new(),
                is_count: false,
            });
        }
        if leaves.is_empty() {
            return Ok(fixed(&own, Plan::Skip));
        }
        let column = self.column();
        let spec = LeafSpec::Tensor(TensorSpec::new(words.dtype, codes.shape.clone()));
        let values = Leaf { path: at.clone(), spec, column: Some(column), inner, is_count: false };
        let (spec, list) = (ext.clone(), self.list);
        self.vocabularies.push(Vocabulary { spec, values, leaves, there: Vec::new(), list });
        Ok(fixed(&own, of_dtype(words.dtype, column)))
    }

    /// Whether categories are needed of a value whose leaves come next.
    fn needs_categories(&self, ext: &ExtSpec) -> bool {
        fn any(ext: &ExtSpec, needed: &mut impl Iterator<Item = bool>) -> bool {
            let part = |(_, spec): &(Segment, Spec)| match spec {
                Spec::Ext(part) => any(part, needed),
                Spec::Tensor(_) | Spec::Partition(_) => needed.next() == Some(true) && is::<CategoricalTensorSpec>(ext),
            };
            // Every part is asked, since each of them takes its leaves.
            ext.components.iter().map(part).fold(false, |all, part| all | part)
        }
        let given = self.needed.get(self.leaves.len()..).unwrap_or_default().iter().copied();
        any(ext, &mut given.chain(std::iter::repeat(true)))
    }

    /// The vocabularies since a place whose values stand in no other list than what is looked at.
    fn in_list(&mut self, since: usize) -> impl Iterator<Item = &mut Vocabulary> {
        let list = self.list;
        self.vocabularies.iter_mut().skip(since).filter(move |vocabulary| vocabulary.list == list)
    }

    /// Notes what says whether their values are there.
    fn note(&mut self, since: usize, there: Option<There>) {
        if let Some(there) = there {
            self.in_list(since).for_each(|vocabulary| vocabulary.there.push(there.clone()));
        }
    }

    /// Values of several types, each of which has an element for every one.
    fn union(&mut self, at: &Path, ext: &ExtSpec) -> Result<Plan> {
        let spec = UnionSpec::deserialize(ext)?;
        let in_order = spec.children().iter().enumerate().all(|(i, (id, ..))| usize::try_from(*id) == Ok(i));
        if spec.offsets().is_some() || !in_order {
            let error = Error::dtype(format!("{} is {ext}", named(at)));
            return Err(error.wanted("a union without offsets, whose ids are 0, 1, 2 and so on"));
        }
        let tags = match spec.tags() {
            Spec::Tensor(tags) => {
                // Categories are those of the values that are there.
                let needed = self.is_next_needed() || self.needs_categories(ext);
                self.leaf_if(needed, &at.child(Segment::Itself), LeafSpec::Tensor(tags.clone()), Vec::new())
            }
            Spec::Partition(_) | Spec::Ext(_) => return Err(of_other_components(at, ext, "tags that are a tensor")),
        };
        let child = |(i, (tag, name, spec)): (usize, &(i8, Arc<str>, Spec))| {
            let since = self.vocabularies.len();
            let plan = self.spec(&at.child(Segment::Index(i)), spec, 1)?;
            self.note(since, tags.map(|column| There { column, size: 1, tag: Some(*tag) }));
            Ok(Field { name: name.clone(), plan })
        };
        Ok(Plan::Union { tags, children: spec.children().iter().enumerate().map(child).collect::<Result<_>>()? })
    }

    /// Records, whose axes behind the outer ones are lists of them.
    fn record(&mut self, at: &Path, ext: &ExtSpec, outer: usize) -> Result<Plan> {
        let mut own = Vec::new();
        if is::<StructSpec>(ext) {
            let spec = StructSpec::deserialize(ext)?;
            if spec.rank() > outer {
                own = inner_sizes(at, &Spec::from(ext.clone()), &spec.known_shape(), outer)?;
            }
        }
        let inside = outer + own.len();
        if let [(Segment::Component(_), Spec::Tensor(count))] = ext.components.as_slice()
            && is::<StructSpec>(ext)
        {
            return self.count(&at.child(ext.components[0].0.clone()), count, &own);
        }
        let field = |(segment, spec): &(Segment, Spec)| {
            match segment {
            Segment::Field(name) => {
                Ok(Field { name: name.clone(), plan: self.spec(&at.child(segment.clone()), spec, inside)? })
            }
            _ => Err(Error::dtype(format!("'{at}' is of type {}, which is no record", ext.def))
                .wanted("a struct, a ragged list, a masked value, a union, a time, a decimal, bytes of one width, JSON, categories, or a type whose components are fields")),
        }
        };
        Ok(fixed(&own, Plan::Record { fields: ext.components.iter().map(field).collect::<Result<_>>()? }))
    }

    /// Records without fields, whose number is all there is of them.
    fn count(&mut self, at: &Path, spec: &TensorSpec, own: &[usize]) -> Result<Plan> {
        let shape = Shape::new(
            spec.shape.dims().and_then(|dims| dims.split_last()).map_or(&[][..], |(_, shape)| shape).iter().copied(),
        );
        let mut inner = inner_sizes(at, &Spec::Tensor(spec.clone()), &shape, 1)?;
        inner.push(0);
        let is_count = self.is_next_needed();
        let spec = LeafSpec::Tensor(spec.clone());
        self.leaves.push(Leaf { path: at.clone(), spec, column: None, inner, is_count });
        Ok(fixed(own, if is_count { Plan::Record { fields: Vec::new() } } else { Plan::Skip }))
    }

    fn column(&mut self) -> ColumnId {
        self.columns += 1;
        ColumnId(self.columns - 1)
    }

    fn is_next_needed(&self) -> bool {
        self.needed.get(self.leaves.len()).copied().unwrap_or(true)
    }

    fn leaf(&mut self, at: &Path, spec: LeafSpec, inner: Vec<usize>) -> Option<ColumnId> {
        self.leaf_if(self.is_next_needed(), at, spec, inner)
    }

    fn leaf_if(&mut self, needed: bool, at: &Path, spec: LeafSpec, inner: Vec<usize>) -> Option<ColumnId> {
        let column = needed.then(|| self.column());
        self.leaves.push(Leaf { path: at.clone(), spec, column, inner, is_count: false });
        column
    }
}

/// The plan of an element of a tensor.
fn of_dtype(dtype: DType, column: ColumnId) -> Plan {
    match dtype {
        DType::String | DType::Bytes => Plan::Text { dtype, index: DType::I64, column },
        dtype => Plan::Scalar { dtype, column },
    }
}

/// The sizes behind the `outer` first axes.
///
/// Errors: sizes that are not known, or no such axes.
fn inner_sizes(at: &Path, spec: &Spec, shape: &Shape, outer: usize) -> Result<Vec<usize>> {
    let inner = shape.dims().and_then(|dims| dims.get(outer..));
    let sizes: Option<Vec<usize>> = inner.and_then(|dims| dims.iter().map(|dim| dim.known()).collect());
    sizes.ok_or_else(|| {
        Error::shape(format!("{} is {spec}", named(at))).wanted("the records as outer axis, and known sizes behind it")
    })
}

/// A spec that no value of the type has; a file that was made by hand can hold one.
fn of_other_components(at: &Path, ext: &ExtSpec, wanted: &str) -> Error {
    Error::dtype(format!("'{at}' is {ext}")).wanted(format!("a {} of {wanted}", ext.def.name()))
}

/// A plan for each element of dense axes of these sizes.
fn fixed(sizes: &[usize], item: Plan) -> Plan {
    sizes.iter().rev().fold(item, |item, &size| Plan::Fixed { size, item: Box::new(item) })
}

/// A path as a message shows it.
fn named(at: &Path) -> String {
    if at.is_root() { "the value".to_string() } else { format!("'{at}'") }
}

/// Whether the components are all fields.
#[cfg(feature = "ipc")]
pub(crate) fn is_record(ext: &ExtSpec) -> bool {
    ext.components.iter().all(|(segment, _)| matches!(segment, Segment::Field(_)))
}

/// Whether a spec is of this type, or of one that refines it.
pub(crate) fn is<S: TypeSpec>(ext: &ExtSpec) -> bool {
    ext.def.is_a(S::def()) || ext.def.name() == S::def().name()
}
