//! The spec of struct tensors, written by hand.
//!
//! Invariant: the shape stands in the outer sizes of the fields; records without fields have a component without elements whose outer
//! sizes it is, so that their number comes with the data as that of all others does.

use super::{Field, StructTensor, handlers, rows};
use crate::axes::rank;
use crate::specs::axis_of;
use extenso_core::{TypeSpec, Value, define};
use extenso_types::{Dim, Error, ExtSpec, Result, Segment, Shape, Spec, StaticValue, TypeDef};
use std::sync::{Arc, LazyLock};

/// The spec of a [`StructTensor`]: the number of axes of the records, and the specs of the fields.
#[derive(Clone, Debug)]
pub struct StructSpec {
    rank: usize,
    /// What counts records without fields: booleans of their shape with an axis of size 0 behind it.
    records: Option<Spec>,
    fields: Vec<(Arc<str>, Spec)>,
}

impl StructSpec {
    /// The spec of records with `rank` axes.
    ///
    /// Errors: no field, so that the sizes would not be known.
    pub fn new<N: Into<Arc<str>>>(rank: usize, fields: impl IntoIterator<Item = (N, Spec)>) -> Result<StructSpec> {
        let fields: Vec<_> = fields.into_iter().map(|(name, spec)| (name.into(), spec)).collect();
        if fields.is_empty() {
            return Err(Error::value("there is no field").wanted("a field").hint("Use `StructSpec::bare`."));
        }
        Ok(StructSpec { rank, records: None, fields })
    }

    /// The spec of records without fields, of a shape whose rank is known.
    pub fn bare(shape: Shape) -> StructSpec {
        StructSpec { rank: shape.rank().unwrap_or(0), records: rows::spec_of(&shape), fields: Vec::new() }
    }

    /// The number of axes; 0 for one record.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The fields in order.
    pub fn fields(&self) -> &[(Arc<str>, Spec)] {
        &self.fields
    }

    /// The sizes of the records, as the fields tell them.
    pub fn known_shape(&self) -> Shape {
        let parts = || self.fields.iter().map(|(_, spec)| spec).chain(&self.records);
        Shape::new((0..self.rank).map(|axis| size_of(parts(), axis).unwrap_or_else(Dim::any)))
    }

    pub(super) fn of(value: &StructTensor) -> StructSpec {
        let spec = |(name, value): &Field| {
            // A field that cannot tell its spec is one of a foreign type; taking the value apart reports why.
            let unknown = || extenso_types::TensorSpec::new(extenso_types::DType::Variant, Shape::unknown()).into();
            (name.clone(), value.spec().unwrap_or_else(|_| unknown()))
        };
        let records = value.records.as_ref().map(|records| records.spec().clone().into());
        StructSpec { rank: value.rank(), records, fields: value.fields.iter().map(spec).collect() }
    }

    /// The sizes of the records, as the fields tell them.
    fn shape(&self, fields: &[Field]) -> Shape {
        let tells = fields.iter().find(|(_, value)| rank(value).is_ok_and(|rank| rank >= self.rank));
        let dim = |axis: usize| {
            let known = tells.and_then(|(_, value)| crate::axes::dim(value, axis).ok());
            known.unwrap_or_else(Dim::any)
        };
        Shape::new((0..self.rank).map(dim))
    }
}

/// The size of one axis of records with these parts: the first that is known, and else what the first part says that says something.
fn size_of<'a>(parts: impl Iterator<Item = &'a Spec>, axis: usize) -> Option<Dim> {
    let mut first = None;
    for size in parts.filter_map(|spec| axis_of(spec, axis)) {
        if size.known().is_some() {
            return Some(size);
        }
        first.get_or_insert(size);
    }
    first
}

/// The size of one axis of records of a spec, as their fields tell it; none of an axis that they have not.
pub(crate) fn axis_of_records(ext: &ExtSpec, axis: usize) -> Option<Dim> {
    let has_axis = match ext.static_data.get("rank") {
        Some(StaticValue::Int(rank)) => usize::try_from(*rank).is_ok_and(|rank| axis < rank),
        _ => false,
    };
    has_axis.then(|| size_of(ext.components.iter().map(|(_, spec)| spec), axis).unwrap_or_else(Dim::any))
}

impl TypeSpec for StructSpec {
    type Value = StructTensor;

    fn def() -> &'static Arc<TypeDef> {
        static DEF: LazyLock<Arc<TypeDef>> = LazyLock::new(|| {
            let def = define::<StructSpec>(
                "extenso/StructTensor",
                1,
                "rank=static;fields=.name;records=@records?",
                Vec::new(),
            );
            handlers::register(&def);
            def
        });
        &DEF
    }

    fn serialize(&self) -> ExtSpec {
        let rank = ("rank", StaticValue::Int(crate::args::int(self.rank)));
        let fields = self.fields.iter().map(|(name, spec)| (Segment::field(name.clone()), spec.clone()));
        let records = self.records.iter().map(|spec| (rows::segment(), spec.clone()));
        ExtSpec {
            def: StructSpec::def().clone(),
            static_data: StaticValue::map([rank]),
            components: fields.chain(records).collect(),
        }
    }

    fn deserialize(spec: &ExtSpec) -> Result<StructSpec> {
        let rank = match spec.static_data.get("rank") {
            Some(StaticValue::Int(rank)) => usize::try_from(*rank).ok().filter(|rank| *rank <= MAX_RANK),
            _ => None,
        };
        let rank = rank.ok_or_else(|| Error::value("the spec has no fitting static data 'rank'"))?;
        let (records, fields): (Vec<_>, Vec<_>) =
            spec.components.iter().partition(|(segment, _)| *segment == rows::segment());
        let field = |(segment, spec): &(Segment, Spec)| match segment {
            Segment::Field(name) => Ok((name.clone(), spec.clone())),
            Segment::Index(_) | Segment::Each | Segment::Component(_) | Segment::Itself => {
                Err(Error::value(format!("{segment:?} is not a field")).wanted("fields alone"))
            }
        };
        let fields = fields.into_iter().map(field).collect::<Result<Vec<_>>>()?;
        if records.len() != usize::from(fields.is_empty() && rank > 0) {
            let what = format!("{} fields and {} counts of records of rank {rank}", fields.len(), records.len());
            return Err(Error::value(what).wanted("a count where there are axes and no fields, and nowhere else"));
        }
        Ok(StructSpec { rank, records: records.into_iter().map(|(_, spec)| spec.clone()).next(), fields })
    }

    fn to_components(&self, value: &StructTensor) -> Result<Vec<Value>> {
        let records = value.records.iter().map(|records| records.clone().into());
        Ok(value.fields.iter().map(|(_, value)| value.clone()).chain(records).collect())
    }

    fn from_components(&self, mut components: Vec<Value>) -> Result<StructTensor> {
        let wanted = self.fields.len() + usize::from(self.records.is_some());
        if components.len() != wanted {
            return Err(Error::value(format!("{} components are given", components.len()))
                .wanted(format!("{wanted}: those of {} fields", self.fields.len())));
        }
        if let Some(records) = self.records.as_ref().and_then(|_| components.pop()) {
            return StructTensor::counted(records.tensor()?.clone(), self.rank);
        }
        let fields: Arc<[Field]> = self.fields.iter().map(|(name, _)| name.clone()).zip(components).collect();
        Ok(StructTensor { shape: super::sharpened(&self.shape(&fields), &fields), fields, records: None })
    }

    fn validate(&self, value: &StructTensor) -> Result<()> {
        value.check()
    }

    fn cast(value: &Value, wanted: &ExtSpec) -> Result<Option<Value>> {
        crate::casts::records(value, wanted)
    }

    fn guard(&self, value: StructTensor) -> Result<StructTensor> {
        value.guarded()
    }
}

/// More axes than any tensor has; a file may not ask for more.
const MAX_RANK: usize = 64;
