//! The part of a nest of specs that a function needs, as the spec of records with fewer fields.
//!
//! Invariant: a list or an optional value of which anything is needed is there with its rows or its mask; a record of which nothing is
//! needed is there without fields, and costs nothing.

use crate::records::is;
#[cfg(feature = "ipc")]
use crate::records::is_record;
#[cfg(feature = "ipc")]
use arrow_schema::{DataType, Fields};
use extenso_core::{Tensor, TypeSpec, Value};
use extenso_ext::{MaskedTensorSpec, RaggedTensorSpec, StructSpec};
use extenso_types::{
    Dim, Error, ExtSpec, LeafSpec, Nest, PartitionSpec, Path, Result, Segment, Shape, Spec, TensorSpec,
};
use std::sync::Arc;

/// What a function needs of its argument.
#[derive(Clone, Debug)]
pub struct Needs {
    /// The spec of the records, in which records of which nothing is needed have no fields; none if nothing at all is needed.
    pub spec: Option<Spec>,
    /// For each leaf of that spec, which leaf of the argument it is; none of what counts records of which nothing else is needed.
    pub places: Vec<Option<usize>>,
    /// How many leaves the argument has.
    leaves: usize,
    /// The argument, all of it, where it is a value and no nest of them.
    #[cfg(feature = "ipc")]
    argument: Option<Spec>,
}

impl Needs {
    /// The needed part of these specs; leaves beyond `needed` are.
    ///
    /// Errors: fields that make no record.
    pub fn new(specs: &Nest<Spec>, needed: &[bool]) -> Result<Needs> {
        let mut marks = Marks { needed: needed.to_vec(), next: 0 };
        specs.leaves().into_iter().for_each(|(_, spec)| {
            marks.close(spec);
        });
        let leaves = marks.next;
        marks.needed.resize(leaves, true);
        let mut keep = Keep { needed: &marks.needed, next: 0, places: Vec::new() };
        let spec = keep.nest(specs)?;
        #[cfg(feature = "ipc")]
        let argument = if let Nest::Leaf(spec) = specs { Some(spec.clone()) } else { None };
        Ok(Needs {
            spec,
            places: keep.places,
            leaves,
            #[cfg(feature = "ipc")]
            argument,
        })
    }

    /// What a function needs of the argument that has data, or of all of them as fields of one.
    ///
    /// Errors: as [`Needs::new`].
    #[cfg(feature = "ipc")]
    pub fn of(function: &extenso_graph::Concrete) -> Result<Needs> {
        Needs::new(function.record_spec(), &function.graph().needed_inputs())
    }

    /// Whether the only column of some rows holds the argument, as [`in_column`] says.
    ///
    /// Errors: as there.
    #[cfg(feature = "ipc")]
    pub fn in_column(&self, columns: &[(&str, bool)]) -> Result<bool> {
        match &self.argument {
            Some(spec) if self.spec.is_some() => in_column(spec, columns),
            _ => Ok(false),
        }
    }

    /// The leaves of the argument, from those of a value of the spec.
    ///
    /// Errors: leaves of another spec.
    pub fn leaves(&self, found: Vec<Value>) -> Result<Vec<Option<Value>>> {
        if found.len() != self.places.len() {
            let what = format!("{} leaves came, and {} are needed", found.len(), self.places.len());
            return Err(Error::internal(what));
        }
        let mut leaves = self.none();
        for (place, value) in self.places.iter().zip(found) {
            if let Some(place) = place {
                leaves[*place] = Some(value);
            }
        }
        Ok(leaves)
    }

    /// The leaves of a value of the spec, from those of the argument.
    ///
    /// Errors: a leaf that is not there.
    pub fn found(&self, leaves: &[Option<Value>]) -> Result<Vec<Value>> {
        let missing = || Error::internal("a needed leaf was not decoded");
        let at = |place: usize| leaves.get(place).and_then(Option::as_ref).ok_or_else(missing);
        // Records of which nothing is needed are counted by the rows or the mask that come next.
        let count = |i: usize, spec: &LeafSpec| {
            let beside = self.places.get(i + 1).copied().flatten().ok_or_else(missing)?;
            let records = match at(beside)? {
                Value::Partition(rows) => rows.data()?.nvalues(),
                Value::Tensor(mask) => mask.data()?.dims().first().copied().ok_or_else(missing)?,
                Value::Ext(_) => return Err(missing()),
            };
            let inner =
                spec.tensor()?.shape.dims().unwrap_or_default().iter().skip(1).map(|dim| dim.known().unwrap_or(0));
            Ok(Tensor::bools(&std::iter::once(records).chain(inner).collect::<Vec<_>>(), &[])?.into())
        };
        let specs = self.spec.as_ref().map(|spec| spec.leaves(&Path::root())).unwrap_or_default();
        let leaf = |(i, (place, (_, spec))): (usize, (&Option<usize>, &(Path, LeafSpec)))| match place {
            Some(place) => at(*place).cloned(),
            None => count(i, spec),
        };
        self.places.iter().zip(&specs).enumerate().map(leaf).collect()
    }

    /// No leaf of the argument.
    pub fn none(&self) -> Vec<Option<Value>> {
        vec![None; self.leaves]
    }
}

/// Whether the only column of some rows holds a value of this spec; otherwise each column is a field of it. Of columns it is told how they are
/// named, and whether they hold records.
///
/// Records that may be missing, and those that a type of a user is stored as, are written as one column: it is told by records in
/// it, and by its name, which is that of no field.
/// Errors: several columns, for a value that is no record.
#[cfg(feature = "ipc")]
pub(crate) fn in_column(spec: &Spec, columns: &[(&str, bool)]) -> Result<bool> {
    match (record_of(spec), columns) {
        (Some(record), [(name, true)]) => {
            let plain = matches!(spec, Spec::Ext(ext) if is::<StructSpec>(ext));
            Ok(!plain && record.component(&Segment::field(*name)).is_none())
        }
        (None, [_]) => Ok(true),
        (Some(_), _) => Ok(false),
        (None, columns) => Err(Error::dtype(format!("the rows have {} columns", columns.len()))
            .wanted(format!("one, for a value that is {spec}"))),
    }
}

/// What [`in_column`] is told of columns.
#[cfg(feature = "ipc")]
pub(crate) fn named(columns: &Fields) -> Vec<(&str, bool)> {
    let is_record = |of: &DataType| matches!(of, DataType::Struct(_));
    columns.iter().map(|field| (field.name().as_str(), is_record(field.data_type()))).collect()
}

/// The record that a value is where it is not missing, if it is one.
#[cfg(feature = "ipc")]
pub(crate) fn record_of(spec: &Spec) -> Option<&ExtSpec> {
    let Spec::Ext(ext) = spec else { return None };
    if is::<MaskedTensorSpec>(ext) {
        return ext.component(&Segment::Itself).and_then(record_of);
    }
    (is::<StructSpec>(ext) || is_record(ext)).then_some(ext)
}

/// Which leaves are needed, with those that they cannot be without.
struct Marks {
    needed: Vec<bool>,
    next: usize,
}

impl Marks {
    fn mark(&mut self, leaf: usize) {
        if let Some(needed) = self.needed.get_mut(leaf) {
            *needed = true;
        }
    }

    /// Whether anything of a value is needed.
    fn close(&mut self, spec: &Spec) -> bool {
        let Spec::Ext(ext) = spec else {
            self.next += 1;
            return self.needed.get(self.next - 1).copied().unwrap_or(true);
        };
        let from = self.next;
        let needed = ext.components.iter().fold(false, |any, (_, spec)| self.close(spec) | any);
        if needed {
            self.complete(ext, from);
        }
        needed
    }

    /// Marks what a value of which something is needed cannot be without; its leaves begin with `from`.
    fn complete(&mut self, ext: &ExtSpec, from: usize) {
        let mut at = from;
        let (list, optional) = (is::<RaggedTensorSpec>(ext), is::<MaskedTensorSpec>(ext));
        for (segment, spec) in &ext.components {
            let inner = list && !matches!(spec, Spec::Partition(_)) || optional && *segment == Segment::Itself;
            match spec {
                _ if is::<StructSpec>(ext) => {}
                Spec::Ext(ext) if inner && is::<StructSpec>(ext) => {}
                Spec::Ext(ext) => {
                    self.complete(ext, at);
                    if !is::<RaggedTensorSpec>(ext) && !is::<MaskedTensorSpec>(ext) {
                        (at..at + width(spec)).for_each(|leaf| self.mark(leaf));
                    }
                }
                Spec::Tensor(_) | Spec::Partition(_) => self.mark(at),
            }
            at += width(spec);
        }
    }
}

/// How many leaves a spec has.
fn width(spec: &Spec) -> usize {
    match spec {
        Spec::Tensor(_) | Spec::Partition(_) => 1,
        Spec::Ext(ext) => ext.components.iter().map(|(_, spec)| width(spec)).sum(),
    }
}

struct Keep<'a> {
    needed: &'a [bool],
    next: usize,
    places: Vec<Option<usize>>,
}

impl Keep<'_> {
    fn nest(&mut self, nest: &Nest<Spec>) -> Result<Option<Spec>> {
        let entries: Vec<(Arc<str>, &Nest<Spec>)> = match nest {
            Nest::Leaf(spec) => return Ok(self.spec(spec, false)),
            Nest::Static(_) => return Ok(None),
            Nest::Tuple(items) | Nest::List(items) => {
                items.iter().enumerate().map(|(i, nest)| (i.to_string().into(), nest)).collect()
            }
            Nest::Dict(entries) | Nest::Record(_, entries) => entries.iter().map(|(k, n)| (k.clone(), n)).collect(),
        };
        let mut fields = Vec::new();
        for (name, nest) in entries {
            fields.extend(self.nest(nest)?.map(|spec| (name, spec)));
        }
        if fields.is_empty() {
            return Ok(None);
        }
        Ok(Some(Spec::from(StructSpec::new(1, fields)?.serialize())))
    }

    /// The needed part of a spec; `there` keeps a record without fields.
    fn spec(&mut self, spec: &Spec, there: bool) -> Option<Spec> {
        let Spec::Ext(ext) = spec else {
            self.next += 1;
            let leaf = self.next - 1;
            let needed = self.needed.get(leaf).copied().unwrap_or(true);
            return needed.then(|| {
                self.places.push(Some(leaf));
                of_any_rows(spec)
            });
        };
        let wraps = is::<RaggedTensorSpec>(ext) || is::<MaskedTensorSpec>(ext);
        let from = self.next;
        let any = (from..from + width(spec)).any(|leaf| self.needed.get(leaf).copied().unwrap_or(true));
        let mut components = Vec::with_capacity(ext.components.len());
        for (segment, spec) in &ext.components {
            components.extend(self.spec(spec, wraps && any).map(|spec| (segment.clone(), spec)));
        }
        if !any && there && is::<StructSpec>(ext) {
            let shape = StructSpec::deserialize(ext).ok()?.known_shape();
            let dims = shape.dims()?.iter().skip(1).copied();
            self.places.push(None);
            return Some(StructSpec::bare(Shape::new(std::iter::once(Dim::any()).chain(dims))).serialize().into());
        }
        any.then(|| Spec::from(ExtSpec { def: ext.def.clone(), static_data: ext.static_data.clone(), components }))
    }
}

/// The spec of any number of rows: a function that was traced for some runs over others.
fn of_any_rows(spec: &Spec) -> Spec {
    match spec {
        Spec::Tensor(tensor) => match tensor.shape.dims() {
            Some([_, inner @ ..]) => {
                let dims = std::iter::once(Dim::any()).chain(inner.iter().copied());
                Spec::from(TensorSpec::new(tensor.dtype, Shape::new(dims)))
            }
            Some([]) | None => spec.clone(),
        },
        Spec::Partition(p) => Spec::Partition(PartitionSpec { nrows: Dim::any(), nvalues: Dim::any(), ..p.clone() }),
        Spec::Ext(_) => spec.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FieldSpec as F, struct_spec};
    use extenso_types::DType;

    fn check(needed: &[bool], wanted: &str) {
        let scalar = |dtype| F::Scalar(dtype, vec![]);
        let item = F::Record(vec![("price", scalar(DType::F64)), ("tags", F::List(Box::new(scalar(DType::String))))]);
        let fields = [("id", scalar(DType::I64)), ("items", F::List(Box::new(item)))];
        let age = F::Optional(Box::new(scalar(DType::I32)));
        let spec = struct_spec(fields.into_iter().chain([("age", age)])).expect("a spec");
        // The leaves: id, price, tags, rows of tags, rows of items, age, mask of age.
        let needs = Needs::new(&Nest::Leaf(spec), needed).expect("fields");
        let text = needs.spec.map_or("nothing".into(), |spec| spec.to_string());
        let text = format!("{text} {:?}", needs.places.iter().flatten().collect::<Vec<_>>());
        assert_eq!(text, wanted, "{needed:?}");
    }

    #[test]
    fn what_is_needed_comes_with_what_it_cannot_be_without() {
        let [y, n] = [true, false];
        check(&[n, n, n, n, n, n, n], "nothing []");
        check(&[y, n, n, n, n, n, n], "StructTensor(id: i64[?], rank=1) [0]");
        let rows = "@row_splits: partition<i64>[? rows of ? values])";
        let price = format!(
            "StructTensor(items: RaggedTensor([*]: StructTensor(price: f64[?], rank=1), {rows}, rank=1) [1, 4]"
        );
        check(&[n, y, n, n, n, n, n], &price);
        check(
            &[n, n, n, n, y, n, n],
            &format!(
                "StructTensor(items: RaggedTensor([*]: StructTensor(@records: bool[?, 0], rank=1), {rows}, rank=1) [4]"
            ),
        );
        let tags = format!(
            "StructTensor(items: RaggedTensor([*]: StructTensor(tags: RaggedTensor([*]: string[?], {rows}, rank=1), {rows}, rank=1) [2, 3, 4]"
        );
        check(&[n, n, y, n, n, n, n], &tags);
        check(&[n, n, n, y, n, n, n], &tags);
        check(&[n, n, n, n, n, n, y], "StructTensor(age: MaskedTensor(i32[?], @mask: bool[?]), rank=1) [5, 6]");
    }
}
