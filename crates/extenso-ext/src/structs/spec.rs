//! The spec of struct tensors, written by hand.
//!
//! Invariant: the shape stands in the outer sizes of the fields; only records without fields keep it as static data.

use super::{Field, StructTensor, handlers};
use crate::axes::rank;
use crate::specs::axis_of;
use extenso_core::{TypeSpec, Value, define};
use extenso_types::{Dim, Error, ExtSpec, Result, Segment, Shape, Spec, StaticValue, TypeDef};
use std::sync::{Arc, LazyLock};

/// The spec of a [`StructTensor`]: the number of axes of the records, and the specs of the fields.
#[derive(Clone, Debug)]
pub struct StructSpec {
    rank: usize,
    /// The shape of records without fields.
    bare: Option<Shape>,
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
        Ok(StructSpec { rank, bare: None, fields })
    }

    /// The spec of records without fields.
    pub fn bare(shape: Shape) -> StructSpec {
        StructSpec { rank: shape.rank().unwrap_or(0), bare: Some(shape), fields: Vec::new() }
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
        if let Some(shape) = &self.bare {
            return shape.clone();
        }
        let size = |axis: usize| {
            let sizes = || self.fields.iter().filter_map(|(_, spec)| axis_of(spec, axis));
            sizes().find(|dim| dim.known().is_some()).or_else(|| sizes().next()).unwrap_or_else(Dim::any)
        };
        Shape::new((0..self.rank).map(size))
    }

    pub(super) fn of(value: &StructTensor) -> StructSpec {
        let spec = |(name, value): &Field| {
            // A field that cannot tell its spec is one of a foreign type; taking the value apart reports why.
            let unknown = || extenso_types::TensorSpec::new(extenso_types::DType::Variant, Shape::unknown()).into();
            (name.clone(), value.spec().unwrap_or_else(|_| unknown()))
        };
        let bare = value.fields.is_empty().then(|| value.shape.clone());
        StructSpec { rank: value.rank(), bare, fields: value.fields.iter().map(spec).collect() }
    }

    /// The sizes of the records, as the fields tell them.
    fn shape(&self, fields: &[Field]) -> Shape {
        match &self.bare {
            Some(shape) => shape.clone(),
            None => {
                let tells = fields.iter().find(|(_, value)| rank(value).is_ok_and(|rank| rank >= self.rank));
                let dim = |axis: usize| {
                    let known = tells.and_then(|(_, value)| crate::axes::dim(value, axis).ok());
                    known.unwrap_or_else(Dim::any)
                };
                Shape::new((0..self.rank).map(dim))
            }
        }
    }
}

impl TypeSpec for StructSpec {
    type Value = StructTensor;

    fn def() -> &'static Arc<TypeDef> {
        static DEF: LazyLock<Arc<TypeDef>> = LazyLock::new(|| {
            let def =
                define::<StructSpec>("extenso/StructTensor", 1, "rank=static;shape=static;fields=.name", Vec::new());
            handlers::register(&def);
            def
        });
        &DEF
    }

    fn serialize(&self) -> ExtSpec {
        let rank = ("rank", StaticValue::Int(crate::args::int(self.rank)));
        let shape = self.bare.as_ref().map(|shape| ("shape", StaticValue::Shape(shape.clone())));
        let components = self.fields.iter().map(|(name, spec)| (Segment::field(name.clone()), spec.clone()));
        ExtSpec {
            def: StructSpec::def().clone(),
            static_data: StaticValue::map(std::iter::once(rank).chain(shape)),
            components: components.collect(),
        }
    }

    fn deserialize(spec: &ExtSpec) -> Result<StructSpec> {
        let rank = match spec.static_data.get("rank") {
            Some(StaticValue::Int(rank)) => usize::try_from(*rank).ok().filter(|rank| *rank <= MAX_RANK),
            _ => None,
        };
        let rank = rank.ok_or_else(|| Error::value("the spec has no fitting static data 'rank'"))?;
        let bare = match spec.static_data.get("shape") {
            None => None,
            Some(StaticValue::Shape(shape)) if shape.rank() == Some(rank) => Some(shape.clone()),
            Some(other) => return Err(Error::value(format!("static data 'shape' is {other} for rank {rank}"))),
        };
        let field = |(segment, spec): &(Segment, Spec)| match segment {
            Segment::Field(name) => Ok((name.clone(), spec.clone())),
            Segment::Index(_) | Segment::Each | Segment::Component(_) | Segment::Itself => {
                Err(Error::value(format!("{segment:?} is not a field")).wanted("fields alone"))
            }
        };
        let fields: Result<Vec<_>> = spec.components.iter().map(field).collect();
        let fields = fields?;
        if fields.is_empty() != bare.is_some() {
            return Err(Error::value("the spec has neither fields nor a shape, or both").wanted("one of the two"));
        }
        Ok(StructSpec { rank, bare, fields })
    }

    fn to_components(&self, value: &StructTensor) -> Result<Vec<Value>> {
        Ok(value.fields.iter().map(|(_, value)| value.clone()).collect())
    }

    fn from_components(&self, components: Vec<Value>) -> Result<StructTensor> {
        if components.len() != self.fields.len() {
            return Err(Error::value(format!("{} fields are given", components.len()))
                .wanted(format!("{} fields", self.fields.len())));
        }
        let fields: Vec<Field> = self.fields.iter().map(|(name, _)| name.clone()).zip(components).collect();
        Ok(StructTensor { shape: super::sharpened(&self.shape(&fields), &fields), fields })
    }

    fn validate(&self, value: &StructTensor) -> Result<()> {
        value.check()
    }
}

/// More axes than any tensor has; a file may not ask for more.
const MAX_RANK: usize = 64;
