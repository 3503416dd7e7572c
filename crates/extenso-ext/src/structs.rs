//! Struct tensors: records, or tensors of records, one value per field.
//!
//! Invariant: the outer sizes of every field are the shape of the struct, and names are distinct and not empty. Lists of
//! records are a [`RaggedTensor`](crate::RaggedTensor) whose values are a struct. The spec is written by hand, because the
//! number of components differs from value to value: a model for such types.

mod handlers;
mod levels;
mod moves;
mod names;
mod path;
pub mod paths;
mod rows;
mod spec;
mod update;
mod zip;

pub(crate) use handlers::has_rows;
pub(crate) use handlers::{moved_ops, shape_of};
pub use levels::{broadcast, promote};
pub use names::FieldPath;
pub use path::field_value;
pub(crate) use path::{masked_by, select};
pub use spec::StructSpec;
pub(crate) use spec::axis_of_records;
pub use zip::{unzip, zip};

use crate::args::typed;
use crate::axes::{dim, outer, rank};
use crate::guard::of_size;
use crate::masked::of_elements;
use crate::ragged::RaggedTensor;
use crate::shapes::size_along;
use extenso_core::{ExtensionType, Tensor, Value, element_count};
use extenso_types::{Dim, Error, Path, Result, Segment, Shape};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

/// How many records may have no fields: no data stands behind their number, which must not take the memory.
const MAX_BARE: usize = extenso_core::MAX_EMPTY;

/// So many fields are looked for name by name.
const FEW: usize = 8;

/// One named value.
pub(crate) type Field = (Arc<str>, Value);

/// A record of named values, or a tensor of such records.
///
/// ```
/// # use extenso_ext::StructTensor;
/// # use extenso_core::Tensor;
/// # use extenso_types::Shape;
/// let s = StructTensor::from_fields(
///     Shape::known(&[2]),
///     [("id", Tensor::from_vec(vec![7, 8])), ("score", Tensor::from_vec(vec![0.5, 1.5]))],
/// )
/// .unwrap();
/// assert_eq!(s.to_string(), r#"[{"id": 7, "score": 0.5}, {"id": 8, "score": 1.5}]"#);
/// ```
#[derive(Clone)]
pub struct StructTensor {
    shape: Shape,
    fields: Arc<[Field]>,
    /// What counts records with axes and without fields.
    records: Option<Tensor>,
}

impl ExtensionType for StructTensor {
    type Spec = StructSpec;

    fn type_spec(&self) -> StructSpec {
        StructSpec::of(self)
    }
}

impl StructTensor {
    /// Records of this shape with these fields; the outer sizes of every field are the shape.
    ///
    /// Errors: a shape of unknown rank, an empty name, a name that comes twice, a field of another outer shape, now or when the graph runs; no
    /// field, and a size that is not known.
    pub fn from_fields<N: Into<Arc<str>>, V: Into<Value>>(
        shape: Shape,
        fields: impl IntoIterator<Item = (N, V)>,
    ) -> Result<StructTensor> {
        let fields = fields.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        StructTensor::new(shape, fields).and_then(StructTensor::guarded).map_err(|e| e.at("StructTensor"))
    }

    pub(crate) fn new(shape: Shape, fields: Vec<Field>) -> Result<StructTensor> {
        let fields = match shape.rank() {
            // A list that may be missing has an element for each record.
            Some(1..) => {
                fields.into_iter().map(|(name, value)| Ok((name, of_elements(value)?))).collect::<Result<_>>()?
            }
            Some(0) | None => fields,
        };
        let shape = sharpened(&shape, &fields);
        let records = match (fields.is_empty(), shape.to_dims()) {
            (true, Some(sizes)) => {
                within_bounds(&sizes)?;
                rows::of_sizes(&sizes)?
            }
            (true, None) if shape.rank().is_some() => {
                return Err(Error::shape(format!(
                    "records of the shape {shape} have no field that tells how many there are"
                ))
                .wanted("a field, or sizes that are known"));
            }
            (true, None) | (false, _) => None,
        };
        let made = StructTensor { shape, fields: fields.into(), records };
        made.check()?;
        Ok(made)
    }

    fn check(&self) -> Result<()> {
        let dims = self.shape.dims().ok_or_else(|| {
            Error::shape("the shape of a struct has an unknown rank").wanted("a known rank: 0 for one record")
        })?;
        if let Some(sizes) = self.shape.to_dims().filter(|_| self.fields.is_empty()) {
            within_bounds(&sizes)?;
        }
        let mut names = HashSet::new();
        for (i, (name, value)) in self.fields.iter().enumerate() {
            let at = |e: Error| e.at(format!("field '{name}'"));
            if name.is_empty() {
                return Err(Error::value(format!("the name of field {i} is empty")).wanted("a name"));
            }
            if !names.insert(&**name) {
                return Err(at(Error::value("the name comes twice").wanted("each name once")));
            }
            fits(dims, value).map_err(at)?;
        }
        Ok(())
    }

    /// Fields whose sizes are not known are compared with those of the records when the graph runs.
    fn guarded(self) -> Result<StructTensor> {
        let StructTensor { shape, mut fields, records } = self;
        let first = fields.first().map(|(_, value)| value.clone());
        for (i, (name, value)) in Arc::make_mut(&mut fields).iter_mut().enumerate() {
            for (axis, known) in shape.dims().unwrap_or(&[]).iter().enumerate() {
                let Some(first) = first.as_ref().filter(|_| i > 0 || known.known().is_some()) else { continue };
                let size = || size_along(first, axis);
                *value = of_size(value.clone(), axis, *known, &size, "the sizes of the records")
                    .map_err(|e| e.at(format!("field '{name}'")))?;
            }
        }
        Ok(StructTensor { shape, fields, records })
    }

    /// The shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The number of axes; 0 for one record.
    pub fn rank(&self) -> usize {
        self.shape.rank().unwrap_or(0)
    }

    /// The fields' names in order.
    pub fn field_names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(name, _)| &**name)
    }

    /// The fields in order.
    pub fn fields(&self) -> &[(Arc<str>, Value)] {
        &self.fields
    }

    /// One field of all records.
    ///
    /// Errors: there is none of this name.
    pub fn field(&self, name: &str) -> Result<&Value> {
        let found = self.fields.iter().find(|(known, _)| **known == *name);
        found.map(|(_, value)| value).ok_or_else(|| self.no_field(name))
    }

    /// The value at a path below this one: `history[*].item` keeps the rows of `history`.
    ///
    /// Errors: a step that leads nowhere, with its path.
    pub fn field_value(&self, path: &Path) -> Result<Value> {
        path::of_record(self, path)
    }

    /// The field that names lead to, through rows and masks: `["history", "item"]` has the rows of `history`.
    ///
    /// What is missing outside is missing inside. Errors: a name that leads nowhere.
    pub fn select(&self, path: impl Into<FieldPath>) -> Result<Value> {
        let path = path.into();
        let found = match path.names().split_first() {
            Some((first, inside)) => {
                let field = self.field(first).cloned();
                field.and_then(|field| inside.iter().try_fold(field, |value, name| path::select(&value, name)))
            }
            None => Ok(self.clone().into_value()),
        };
        found.map_err(|e| e.at(format!("'{path}'")))
    }

    /// These records with fields replaced, where the path is known, or added at the end; the others are shared.
    ///
    /// A field of records inside has the rows of those records.
    /// Errors: as [`StructTensor::from_fields`]; records on the way that do not exist; other rows.
    pub fn with_updates<P: Into<FieldPath>, V: Into<Value>>(
        &self,
        updates: impl IntoIterator<Item = (P, V)>,
    ) -> Result<StructTensor> {
        let updates: Vec<(FieldPath, Value)> =
            updates.into_iter().map(|(path, value)| (path.into(), value.into())).collect();
        update::with_each(self, &updates)
            .and_then(|value| StructTensor::from_value(&value))
            .map_err(|e| e.at("StructTensor"))
    }

    /// These records without some fields.
    ///
    /// Errors: there is none at a path.
    pub fn without<P: Into<FieldPath>>(&self, paths: impl IntoIterator<Item = P>) -> Result<StructTensor> {
        let mut left = self.clone().into_value();
        for path in paths {
            let path = path.into();
            path.split()?;
            left = update::without_field(&left, path.names()).map_err(|e| e.at(format!("'{path}'")))?;
        }
        StructTensor::from_value(&left)
    }

    /// These records with some fields only, in the order in which they are named.
    ///
    /// Errors: there is none at a path; a field that is named twice, or as a whole and in part.
    pub fn with_only<P: Into<FieldPath>>(&self, paths: impl IntoIterator<Item = P>) -> Result<StructTensor> {
        let paths: Vec<FieldPath> = paths.into_iter().map(Into::into).collect();
        paths.iter().try_for_each(|path| path.split().map(|_| ()))?;
        let names: Vec<&[Arc<str>]> = paths.iter().map(FieldPath::names).collect();
        StructTensor::from_value(&update::only_fields(&self.clone().into_value(), &names)?)
    }

    /// Fields replaced, or added at the end, one after the other.
    fn replaced(&self, updates: &[(&Arc<str>, &Value)]) -> Result<StructTensor> {
        let (mut shape, mut fields) = (self.shape.clone(), Vec::with_capacity(self.fields.len() + updates.len()));
        fields.extend(self.fields.iter().cloned());
        let mut places = self.places(updates.len());
        for (i, (name, value)) in updates.iter().enumerate() {
            // The other fields were checked when these records were made.
            if name.is_empty() {
                return Err(Error::value("the name of the new field is empty").wanted("a name"));
            }
            fits(shape.dims().unwrap_or(&[]), value).map_err(|e| e.at(format!("field '{name}'")))?;
            let known = match updates.len() {
                ..=FEW => fields.iter().position(|(known, _)| known == *name),
                _ => places.get(*name).copied(),
            };
            let at = known.unwrap_or(fields.len());
            match fields.get_mut(at) {
                Some((_, old)) => *old = (*value).clone(),
                None => {
                    fields.push(((*name).clone(), (*value).clone()));
                    places.insert((*name).clone(), at);
                }
            }
            // The sizes of the others are in the shape from the first one on.
            shape = sharpened(&shape, if i == 0 { &fields } else { &fields[at..=at] });
        }
        Ok(StructTensor { shape, fields: fields.into(), records: None })
    }

    /// Where each field stands, if more than a few are looked for; else nothing, because a look at the names takes less time.
    fn places(&self, wanted: usize) -> HashMap<Arc<str>, usize> {
        let fields = if wanted > FEW { &self.fields[..] } else { &[] };
        fields.iter().enumerate().map(|(i, (name, _))| (name.clone(), i)).collect()
    }

    /// One field, looked for at a place first: records that are alike have it at the same.
    ///
    /// Errors: there is none of this name.
    fn field_at(&self, at: usize, name: &str) -> Result<&Value> {
        match self.fields.get(at) {
            Some((known, value)) if **known == *name => Ok(value),
            _ => self.field(name),
        }
    }

    /// A tensor with the outer axis of the records.
    pub(crate) fn witness(&self) -> Result<Value> {
        if let Some(records) = &self.records {
            return Ok(records.clone().into());
        }
        if let Some(dims) = self.shape.to_dims().filter(|dims| !dims.is_empty()) {
            return crate::axes::filled(Tensor::bools(&[], &[false])?, &dims);
        }
        let of = self.fields.first().filter(|_| self.rank() > 0).map(|(_, value)| crate::axes::witness(value));
        of.unwrap_or_else(|| Err(Error::shape("the number of records is not known").wanted("records with a field")))
    }

    fn no_field(&self, name: &str) -> Error {
        let path = Path::from_iter([Segment::field(name)]);
        let known: Vec<_> = self.field_names().collect();
        let error =
            Error::missing(format!("there is no field '{path}'")).wanted(format!("one of: {}", known.join(", ")));
        match name.split_once('.') {
            Some((outer, inner)) if known.contains(&outer) => {
                error.hint(format!("Each level of a path is a name of its own: '{outer}', then '{inner}'"))
            }
            _ => error,
        }
    }
}

/// Checks that there are not too many records without fields.
fn within_bounds(sizes: &[usize]) -> Result<()> {
    match element_count(sizes)? {
        count if count > MAX_BARE => {
            Err(Error::value(format!("{count} records without fields")).wanted(format!("at most {MAX_BARE}")))
        }
        _ => Ok(()),
    }
}

/// The shape with sizes that are known of some field.
fn sharpened(shape: &Shape, fields: &[Field]) -> Shape {
    let Some(dims) = shape.dims().filter(|dims| dims.iter().any(|dim| dim.known().is_none())) else {
        return shape.clone();
    };
    let of = |axis: usize, value: &Value| if axis == 0 { outer(value) } else { dim(value, axis).ok() };
    Shape::new(dims.iter().enumerate().map(|(axis, given)| {
        let known = fields.iter().find_map(|(_, value)| of(axis, value)?.known());
        given.known().or(known).map_or(*given, Dim::Known)
    }))
}

fn fits(shape: &[Dim], value: &Value) -> Result<()> {
    let Some(given) = other_outer_shape(shape, value)? else { return Ok(()) };
    let wanted = Shape::new(shape.iter().copied());
    Err(Error::shape(format!("the outer shape is {given}, and that of the records {wanted}"))
        .wanted("the shape of the records, and any axes inside it"))
}

/// What the outer shape of a value is where it is not this one.
pub(crate) fn other_outer_shape(shape: &[Dim], value: &Value) -> Result<Option<String>> {
    let Some(wanted) = shape.first() else { return Ok(None) };
    let Some(first) = outer(value) else { return Ok(Some("that of a scalar".to_string())) };
    if !first.is_compatible_with(*wanted) {
        return Ok(Some(format!("[{first}, ...]")));
    }
    if shape.len() == 1 {
        return Ok(None);
    }
    if typed::<RaggedTensor>(value).is_some() {
        return Ok(Some("ragged".to_string()));
    }
    let Ok(given) = rank(value) else { return Ok(None) };
    let given: Vec<Dim> = (0..given.min(shape.len())).map(|axis| dim(value, axis)).collect::<Result<_>>()?;
    let same = given.len() == shape.len() && given.iter().zip(shape).all(|(a, b)| a.is_compatible_with(*b));
    Ok((!same).then(|| Shape::new(given).to_string()))
}

impl fmt::Display for StructTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match crate::to_literal(&self.clone().into_value()) {
            Ok(literal) => literal.fmt(f),
            Err(_) => fmt::Debug::fmt(self, f),
        }
    }
}

impl fmt::Debug for StructTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.clone().into_value(), f)
    }
}
