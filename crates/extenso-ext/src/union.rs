//! Union tensors: each element is of one of several types.
//!
//! Invariant: tags are type ids of children. Without offsets every child is as long as the tags, and an element stands at its own place
//! (sparse); with them it stands at its offset (dense).

mod moves;

use crate::Literal;
use crate::args::typed;
use crate::axes::{outer, positions, rank};
use crate::guard::of_outer_sizes;
use crate::masked::MaskedTensor;
use crate::missing::one_more;
use extenso_core::attrs::Axes;
use extenso_core::{ExtensionType, Tensor, TypeSpec, Value, define, ops};
use extenso_types::{DType, Dim, Error, ExtSpec, Result, Segment, Spec, StaticValue, TensorSpec, TypeDef};
use std::sync::{Arc, LazyLock};

/// What an error says of sizes that differ.
const ROOM: &str = "the numbers of tags and of places";

/// One child: its type id, its name, and its values.
#[derive(Clone, Debug)]
pub struct UnionChild {
    /// The tag of elements of this child.
    pub id: i8,
    /// Its name.
    pub name: Arc<str>,
    /// Its values.
    pub values: Value,
}

/// Elements of several types: the tag of each, and the values of each type.
///
/// ```
/// # use extenso_core::{ExtensionType, Tensor};
/// # use extenso_ext::{UnionChild, UnionTensor, to_literal};
/// let child = |id, name: &str, values: Tensor| UnionChild { id, name: name.into(), values: values.into() };
/// let number = child(0, "number", Tensor::from_vec(vec![7_i64]));
/// let text = child(1, "text", Tensor::strings(&[2], &["a", "b"]).unwrap());
/// let tags = Tensor::new::<i8>(&[3], &[1, 0, 1]).unwrap();
/// let x = UnionTensor::new(tags, Some(Tensor::from_vec(vec![0_i32, 0, 1])), vec![number, text]).unwrap();
/// assert_eq!(to_literal(&x.child("number").unwrap()).unwrap().to_string(), "[None, 7, None]");
/// assert_eq!(to_literal(&x.into_value()).unwrap().to_string(), r#"["a", 7, "b"]"#);
/// ```
#[derive(Clone)]
pub struct UnionTensor {
    tags: Tensor,
    offsets: Option<Tensor>,
    children: Vec<UnionChild>,
}

/// The spec of a [`UnionTensor`].
#[derive(Clone, Debug)]
pub struct UnionSpec {
    tags: Spec,
    offsets: Option<Spec>,
    children: Vec<(i8, Arc<str>, Spec)>,
}

impl ExtensionType for UnionTensor {
    type Spec = UnionSpec;

    fn type_spec(&self) -> UnionSpec {
        // A child that cannot tell its spec is one of a foreign type; taking the value apart reports why.
        let unknown = || TensorSpec::new(DType::Variant, extenso_types::Shape::unknown()).into();
        let child =
            |child: &UnionChild| (child.id, child.name.clone(), child.values.spec().unwrap_or_else(|_| unknown()));
        UnionSpec {
            tags: self.tags.spec().into(),
            offsets: self.offsets.as_ref().map(|offsets| offsets.spec().into()),
            children: self.children.iter().map(child).collect(),
        }
    }
}

impl UnionTensor {
    /// Elements of these tags: at their own places in the children, or at `offsets`.
    ///
    /// Errors: tags or offsets of another dtype; two children of one id; on data, a tag without a child, an offset beyond one.
    pub fn new(tags: Tensor, offsets: Option<Tensor>, children: Vec<UnionChild>) -> Result<UnionTensor> {
        let made = UnionTensor { tags, offsets, children };
        made.check().and_then(|()| made.check_data()).and_then(|()| made.guarded()).map_err(|e| e.at("UnionTensor"))
    }

    /// The type id of each element.
    pub fn tags(&self) -> &Tensor {
        &self.tags
    }

    /// The place of each element in its child; none where that is its own.
    pub fn offsets(&self) -> Option<&Tensor> {
        self.offsets.as_ref()
    }

    /// The children.
    pub fn children(&self) -> &[UnionChild] {
        &self.children
    }

    /// The elements of one child, by its name; the others are missing.
    ///
    /// Errors: there is none of this name.
    pub fn child(&self, name: &str) -> Result<Value> {
        let child = self.children.iter().find(|child| *child.name == *name).ok_or_else(|| {
            let known: Vec<&str> = self.children.iter().map(|child| &*child.name).collect();
            Error::missing(format!("there is no child '{name}'")).wanted(format!("one of: {}", known.join(", ")))
        })?;
        let mask = ops::equal(&self.tags, i64::from(child.id))?;
        let values = match &self.offsets {
            None => child.values.clone(),
            Some(_) if outer(&child.values) == Some(Dim::Known(0)) => return self.nothing_of(&child.values),
            Some(offsets) => ops::take(&child.values, ops::where_(&mask, offsets, ops::zeros_like(offsets)?)?, 0_i64)?,
        };
        if let Some(inner) = typed::<MaskedTensor>(&values).filter(|inner| inner.mask_rank().ok() == self.tags.rank()) {
            let mask = ops::logical_and(mask, inner.mask())?;
            return Ok(MaskedTensor::new(inner.values().clone(), mask.tensor()?.clone())?.into_value());
        }
        Ok(MaskedTensor::new(values, mask.tensor()?.clone())?.into_value())
    }

    /// A child without values, of which every element is missing.
    fn nothing_of(&self, values: &Value) -> Result<Value> {
        let zeros = ops::cast(ops::zeros_like(&self.tags)?, DType::F64)?;
        let zeros = match values {
            Value::Tensor(tensor) if rank(values)? == 1 && tensor.dtype() == DType::String => ops::as_string(zeros)?,
            Value::Tensor(tensor) if rank(values)? == 1 && tensor.dtype().width().is_some() => {
                ops::cast(zeros, tensor.dtype())?
            }
            _ => zeros,
        };
        let mask = ops::not_equal(&self.tags, &self.tags)?;
        Ok(MaskedTensor::new(zeros, mask.tensor()?.clone())?.into_value())
    }

    /// Which elements are there, of children of which some may be missing; none where all are there.
    pub(crate) fn there(&self) -> Result<Option<Tensor>> {
        let mut there: Option<Value> = None;
        for child in &self.children {
            let Some(masked) = typed::<MaskedTensor>(&child.values) else { continue };
            if masked.mask_rank()? > 1 {
                continue;
            }
            let here = ops::equal(&self.tags, i64::from(child.id))?;
            let mask = match &self.offsets {
                None => Value::from(masked.mask().clone()),
                Some(offsets) => {
                    // One that is there stands behind all, so that there is one to take.
                    let mask = ops::pad(masked.mask(), true, vec![0, 1])?;
                    ops::take(mask, ops::where_(&here, offsets, ops::zeros_like(offsets)?)?, 0)?
                }
            };
            let seen = ops::logical_or(ops::logical_not(here)?, mask)?;
            there = Some(there.map_or(Ok(seen.clone()), |before| ops::logical_and(before, &seen))?);
        }
        there.map(|there| there.tensor().cloned()).transpose()
    }

    /// The same elements, of other values of the children.
    pub(crate) fn with_children(&self, of: &dyn Fn(&UnionChild) -> Result<Value>) -> Result<UnionTensor> {
        let child = |child: &UnionChild| {
            let values = of(child).map_err(|e| e.at(format!("child '{}'", child.name)))?;
            Ok(UnionChild { values, ..child.clone() })
        };
        let children = self.children.iter().map(child).collect::<Result<_>>()?;
        Ok(UnionTensor { tags: self.tags.clone(), offsets: self.offsets.clone(), children })
    }

    /// The same elements and one more, which stands where nothing is.
    pub(crate) fn one_more(&self) -> Result<UnionTensor> {
        let Some(first) = self.children.first() else {
            return Err(Error::value("the union has no children").wanted("at least one"));
        };
        let behind = |x: &Tensor, one: i64| {
            let one = ops::cast(Tensor::from_vec(vec![one]), x.dtype())?;
            ops::concat(vec![x.clone().into(), one], 0)?.tensor().cloned()
        };
        let child = |child: &UnionChild| {
            let values = match &self.offsets {
                Some(_) if child.id != first.id => child.values.clone(),
                // One that is known to have an element has one to stand for nothing.
                Some(_) if matches!(outer(&child.values), Some(Dim::Known(1..))) => child.values.clone(),
                Some(_) | None => one_more(&child.values)?,
            };
            Ok(UnionChild { values, ..child.clone() })
        };
        let children = self.children.iter().map(child).collect::<Result<Vec<UnionChild>>>()?;
        let offsets = self.offsets.as_ref().map(|offsets| behind(offsets, 0)).transpose()?;
        Ok(UnionTensor { tags: behind(&self.tags, first.id.into())?, offsets, children })
    }

    fn check(&self) -> Result<()> {
        if self.tags.dtype() != DType::I8 || self.tags.rank().is_some_and(|rank| rank > 1) {
            return Err(Error::dtype(format!("the tags are {}", self.tags.spec())).wanted("a vector of i8, or one"));
        }
        if let Some(offsets) = self.offsets.as_ref().filter(|offsets| offsets.dtype() != DType::I32) {
            return Err(Error::dtype(format!("the offsets are {}", offsets.spec())).wanted("a vector of i32"));
        }
        let twice = |(i, child): (usize, &UnionChild)| self.children[..i].iter().any(|other| other.id == child.id);
        if let Some((_, child)) = self.children.iter().enumerate().find(|(i, child)| twice((*i, child))) {
            return Err(Error::value(format!("two children have the id {}", child.id)).wanted("one child for each id"));
        }
        Ok(())
    }

    fn check_data(&self) -> Result<()> {
        let Ok(tags) = self.tags.as_slice::<i8>() else { return Ok(()) };
        let places = self.offsets.as_ref().map(|offsets| offsets.as_slice::<i32>()).transpose()?;
        if places.is_some_and(|places| places.len() != tags.len()) {
            return Err(Error::shape("tags and offsets differ in number").wanted("as many"));
        }
        let lengths: Vec<(i8, usize)> = self
            .children
            .iter()
            .map(|child| (child.id, outer(&child.values).and_then(Dim::known).unwrap_or(usize::MAX)))
            .collect();
        if let Some((_, len)) =
            lengths.iter().find(|(_, len)| places.is_none() && *len != tags.len() && *len != usize::MAX)
        {
            return Err(Error::shape(format!("a child has {len} values for {} tags", tags.len())).wanted("as many"));
        }
        for (i, tag) in tags.iter().enumerate() {
            let Some((_, len)) = lengths.iter().find(|(id, _)| id == tag) else {
                return Err(Error::value(format!("tag {i} is {tag}")).wanted("the id of a child"));
            };
            let place = places.map_or(Ok(i), |places| usize::try_from(places[i]));
            if !place.is_ok_and(|place| place < *len) {
                return Err(Error::index(format!("element {i} stands beyond its child of {len}")));
            }
        }
        Ok(())
    }
}

impl UnionTensor {
    /// Tags and places that are no data are looked at when the graph runs.
    fn guarded(self) -> Result<UnionTensor> {
        let on_data = self.tags.data().is_ok() && self.offsets.as_ref().is_none_or(|offsets| offsets.data().is_ok());
        let is_known = |child: &UnionChild| outer(&child.values).is_none_or(|size| size.known().is_some());
        if on_data && self.children.iter().all(is_known) {
            return Ok(self);
        }
        let UnionTensor { tags, offsets, mut children } = self;
        let places = match &offsets {
            Some(offsets) => {
                ops::cast(of_outer_sizes(offsets.clone().into(), &tags.clone().into(), 1, ROOM)?, DType::I64)?
            }
            None => {
                for child in &mut children {
                    child.values = of_outer_sizes(child.values.clone(), &tags.clone().into(), 1, ROOM)?;
                }
                ops::zeros_like(&tags)?
            }
        };
        let mut stands = ops::not_equal(&tags, &tags)?;
        for child in &children {
            let mut here = ops::equal(&tags, i64::from(child.id))?;
            if offsets.is_some() {
                let size = ops::sum(ops::ones_like(positions(&child.values)?)?, Axes::All, false)?;
                let within = ops::logical_and(ops::greater_equal(&places, 0)?, ops::less(&places, size)?)?;
                here = ops::logical_and(here, within)?;
            }
            stands = ops::logical_or(stands, here)?;
        }
        let tags =
            ops::check_all(&tags, stands, "an element stands in no child", "the tag of a child, and a place in it")?;
        Ok(UnionTensor { tags: tags.tensor()?.clone(), offsets, children })
    }
}

impl UnionSpec {
    /// The spec of elements of these tags, at their own places in the children or at offsets.
    ///
    /// ```
    /// # use extenso_core::TypeSpec;
    /// # use extenso_ext::UnionSpec;
    /// # use extenso_types::{DType, Shape, TensorSpec};
    /// let of = |dtype| TensorSpec::new(dtype, Shape::known(&[3])).into();
    /// let spec = UnionSpec::new(of(DType::I8), None, vec![(0, "number".into(), of(DType::I64))]);
    /// assert_eq!(spec.serialize().to_string(), r#"UnionTensor(i8[3], [0]: i64[3], ids=(0,), names=("number",))"#);
    /// ```
    pub fn new(tags: Spec, offsets: Option<Spec>, children: Vec<(i8, Arc<str>, Spec)>) -> UnionSpec {
        UnionSpec { tags, offsets, children }
    }

    /// The spec of the tags.
    pub fn tags(&self) -> &Spec {
        &self.tags
    }

    /// The spec of the offsets; none where elements stand at their own places.
    pub fn offsets(&self) -> Option<&Spec> {
        self.offsets.as_ref()
    }

    /// The id, the name and the spec of each child.
    pub fn children(&self) -> &[(i8, Arc<str>, Spec)] {
        &self.children
    }
}

impl TypeSpec for UnionSpec {
    type Value = UnionTensor;

    fn def() -> &'static Arc<TypeDef> {
        static DEF: LazyLock<Arc<TypeDef>> = LazyLock::new(|| {
            let text = "tags=;offsets=@offsets?;children=[i];ids=static;names=static";
            let def = define::<UnionSpec>("extenso/UnionTensor", 1, text, Vec::new());
            moves::register(&def);
            def
        });
        &DEF
    }

    fn serialize(&self) -> ExtSpec {
        let ids = self.children.iter().map(|(id, ..)| StaticValue::Int((*id).into())).collect();
        let names = self.children.iter().map(|(_, name, _)| StaticValue::Str(name.to_string())).collect();
        let offsets = self.offsets.iter().map(|spec| (Segment::component("offsets"), spec.clone()));
        let children = self.children.iter().enumerate().map(|(i, (.., spec))| (Segment::Index(i), spec.clone()));
        ExtSpec {
            def: UnionSpec::def().clone(),
            static_data: StaticValue::map([("ids", StaticValue::Tuple(ids)), ("names", StaticValue::Tuple(names))]),
            components: std::iter::once((Segment::Itself, self.tags.clone())).chain(offsets).chain(children).collect(),
        }
    }

    fn deserialize(spec: &ExtSpec) -> Result<UnionSpec> {
        let odd = || Error::value("the spec is none of a union").wanted("tags, offsets and children by id and name");
        let list = |key: &str| match spec.static_data.get(key) {
            Some(StaticValue::Tuple(items)) => Ok(items.clone()),
            _ => Err(odd()),
        };
        let tags = spec.component(&Segment::Itself).ok_or_else(odd)?.clone();
        let offsets = spec.component(&Segment::component("offsets")).cloned();
        let mut children = Vec::new();
        for (i, pair) in list("ids")?.into_iter().zip(list("names")?).enumerate() {
            let (StaticValue::Int(id), StaticValue::Str(name)) = pair else { return Err(odd()) };
            let child = spec.component(&Segment::Index(i)).ok_or_else(odd)?.clone();
            children.push((i8::try_from(id).map_err(|_| odd())?, name.into(), child));
        }
        if 1 + usize::from(offsets.is_some()) + children.len() != spec.components.len() {
            return Err(odd());
        }
        Ok(UnionSpec { tags, offsets, children })
    }

    fn to_components(&self, value: &UnionTensor) -> Result<Vec<Value>> {
        let offsets = value.offsets.iter().map(|offsets| offsets.clone().into());
        let children = value.children.iter().map(|child| child.values.clone());
        Ok(std::iter::once(value.tags.clone().into()).chain(offsets).chain(children).collect())
    }

    fn from_components(&self, components: Vec<Value>) -> Result<UnionTensor> {
        let mut components = components.into_iter();
        let mut next = || components.next().ok_or_else(|| Error::value("a component of the union is missing"));
        let tags = next()?.tensor()?.clone();
        let offsets = match self.offsets {
            Some(_) => Some(next()?.tensor()?.clone()),
            None => None,
        };
        let child =
            |(id, name, _): &(i8, Arc<str>, Spec)| Ok(UnionChild { id: *id, name: name.clone(), values: next()? });
        let children: Result<Vec<UnionChild>> = self.children.iter().map(child).collect();
        Ok(UnionTensor { tags, offsets, children: children? })
    }

    fn validate(&self, value: &UnionTensor) -> Result<()> {
        value.check()
    }

    fn validate_data(&self, value: &UnionTensor) -> Result<()> {
        value.check_data()
    }

    fn guard(&self, value: UnionTensor) -> Result<UnionTensor> {
        value.guarded()
    }
}

/// The elements, each of its own type; none of another type.
pub(crate) fn literals(value: &Value) -> Result<Option<Vec<Literal>>> {
    let Some(x) = typed::<UnionTensor>(value) else { return Ok(None) };
    let mut children = Vec::new();
    for child in &x.children {
        let Literal::List(items) = crate::to_literal(&child.values)? else {
            return Err(Error::internal("a child of a union is no vector"));
        };
        children.push((child.id, items));
    }
    let offsets = x.offsets.as_ref().map(|offsets| offsets.as_slice::<i32>()).transpose()?;
    let item = |(i, tag): (usize, &i8)| {
        // What a graph computed was not looked at before.
        let place = offsets.map_or(Some(i), |offsets| usize::try_from(*offsets.get(i)?).ok());
        let child = children.iter().find(|(id, _)| id == tag);
        child.and_then(|(_, items)| items.get(place?).cloned()).ok_or_else(|| {
            Error::index(format!("element {i} of a union, of tag {tag}, stands in no child"))
                .wanted("a place in a child")
        })
    };
    x.tags.as_slice::<i8>()?.iter().enumerate().map(item).collect::<Result<Vec<_>>>().map(Some)
}
