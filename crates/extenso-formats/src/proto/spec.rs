//! The spec of messages, from their descriptor.
//!
//! Invariant: every message of the type can be read by the spec. A message of which no field is followed, because it nests too deep,
//! has nothing to hold and is left out.

use super::member::{Member, cast};
use super::number::Number;
use super::schema::MessageType;
use crate::plan::MAX_TYPES;
use crate::project::{MAX_LEVELS, Wanted};
use crate::records::{list_spec, optional_spec};
use crate::seen::MAX_FIELDS;
use extenso_core::TypeSpec;
use extenso_ext::{StructSpec, UnionSpec};
use extenso_types::{DType, Dim, Error, Path, Result, Segment, Shape, Spec, TensorSpec};
use prost_reflect::{Kind, MessageDescriptor, OneofDescriptor};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What a field that may come once or not at all becomes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Optionals {
    /// A list of no or one value.
    #[default]
    Rows,
    /// A masked value.
    Masked,
}

/// What an enum becomes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Enums {
    /// i32.
    #[default]
    Numbers,
    /// string; a number without a name is then refused.
    Names,
}

/// What a oneof becomes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Oneofs {
    /// A field for each member, as other fields that may be missing.
    #[default]
    Members,
    /// A [`UnionTensor`](extenso_ext::UnionTensor) of the members under the name of the oneof, which may be missing.
    Union,
}

/// How the spec of a message is made.
#[derive(Clone, Copy, Debug)]
pub struct Shaping<'a> {
    pub optionals: Optionals,
    pub enums: Enums,
    pub oneofs: Oneofs,
    /// How many levels of messages that may hold themselves are followed below the first of them; others are followed to their end.
    pub depth: Option<usize>,
    pub wanted: &'a Wanted,
}

/// The spec of what is wanted of a batch of messages.
///
/// Errors: a path that leads nowhere; a message that holds itself without a depth; more than 10,000 fields or 60 levels; no fields.
pub fn spec_of(message: &MessageType, how: Shaping<'_>) -> Result<Spec> {
    let mut builder = Builder { how, above: Vec::new(), endless: HashMap::new(), fields: 0 };
    let spec = builder.record(&message.0, Dim::any(), how.wanted, &Path::root())?;
    let spec = spec.ok_or_else(|| {
        Error::value(format!("message {} has no field to read", message.name())).wanted("a field at least")
    })?;
    how.wanted.of(&spec)
}

struct Builder<'a> {
    how: Shaping<'a>,
    /// The names of the messages around the one that is looked at.
    above: Vec<Arc<str>>,
    /// Whether messages may hold themselves, by name.
    endless: HashMap<Arc<str>, bool>,
    fields: usize,
}

impl Builder<'_> {
    /// The spec of `rows` messages; none if they have nothing to hold.
    fn record(&mut self, message: &MessageDescriptor, rows: Dim, wanted: &Wanted, at: &Path) -> Result<Option<Spec>> {
        self.enter(message, wanted, at)?;
        let mut fields: Vec<(String, Spec)> = Vec::new();
        let mut joined = Vec::new();
        for member in Member::all(message) {
            match member.oneof().filter(|_| self.how.oneofs == Oneofs::Union) {
                Some(oneof) if joined.contains(&oneof) => {}
                Some(oneof) => {
                    let at = at.child(Segment::field(oneof.name()));
                    fields.extend(self.oneof(&oneof, rows, wanted, &at)?.map(|spec| (oneof.name().into(), spec)));
                    joined.push(oneof);
                }
                None => {
                    let at = at.child(Segment::field(member.name()));
                    fields.extend(self.field(&member, rows, wanted, &at)?.map(|spec| (member.name(), spec)));
                }
            }
        }
        for (name, wanted) in wanted.fields() {
            if let Some(message) = cast(message, name) {
                let at = at.child(Segment::Field(name.clone()));
                let kind = Kind::Message(message);
                let spec = self.maybe(rows, wanted, |it, rows, wanted| it.value(&kind, rows, wanted, &at))?;
                fields.extend(spec.map(|spec| (name.to_string(), spec)));
            }
        }
        self.above.pop();
        if Member::all(message).is_empty() {
            // That it is there is all that a message without fields says.
            return Ok(Some(StructSpec::bare(Shape::new([rows])).serialize().into()));
        }
        if fields.is_empty() { Ok(None) } else { Ok(Some(StructSpec::new(1, fields)?.serialize().into())) }
    }

    fn enter(&mut self, message: &MessageDescriptor, wanted: &Wanted, at: &Path) -> Result<()> {
        let name = message.full_name();
        if self.how.depth.is_none() && wanted.is_all() && self.above.iter().any(|above| **above == *name) {
            let error = Error::value(format!("message {name} holds itself")).wanted("how deep to follow it");
            return Err(error.hint("Give a `depth`, `paths`, or a spec").at(format!("'{at}'")));
        }
        if self.above.len() > MAX_LEVELS {
            let error = Error::value(format!("{name} nests too deep")).wanted(format!("at most {MAX_LEVELS} levels"));
            return Err(error.at("message"));
        }
        let name: Arc<str> = name.into();
        if self.how.depth.is_some() {
            self.endless.entry(name.clone()).or_insert_with(|| is_endless(message));
        }
        self.above.push(name);
        Ok(())
    }

    /// The spec of a field of `rows` messages.
    fn field(&mut self, field: &Member, rows: Dim, wanted: &Wanted, at: &Path) -> Result<Option<Spec>> {
        self.count()?;
        // Stands there until the spec of what is wanted is taken, so that an error can say which fields there are.
        let Some(wanted) = wanted.field(&field.name()) else { return Ok(Some(unwanted(rows))) };
        if let (Kind::Message(entry), true) = (field.kind(), field.is_map() && wanted.fields().next().is_some()) {
            return self.keyed(&entry, rows, wanted, at).map(Some);
        }
        if field.repeats() {
            let items = Dim::any();
            // A path that does not go into the list is refused where the spec of what is wanted is taken.
            let item = self.value(&field.kind(), items, wanted.item().unwrap_or(&Wanted::default()), at)?;
            return Ok(item.map(|item| list_spec(item, rows, items)));
        }
        if field.has_presence() && !field.is_required() {
            return self.maybe(rows, wanted, |it, rows, wanted| it.value(&field.kind(), rows, wanted, at));
        }
        self.value(&field.kind(), rows, wanted, at)
    }

    fn count(&mut self) -> Result<()> {
        self.fields += 1;
        if self.fields <= MAX_FIELDS {
            return Ok(());
        }
        Err(Error::value("there are too many fields").wanted(format!("at most {MAX_FIELDS}")).at("message"))
    }

    /// The spec of a oneof as a union of its members; none if they have nothing to hold.
    fn oneof(&mut self, oneof: &OneofDescriptor, rows: Dim, wanted: &Wanted, at: &Path) -> Result<Option<Spec>> {
        let Some(wanted) = wanted.field(oneof.name()) else { return Ok(Some(unwanted(rows))) };
        self.maybe(rows, wanted, |it, rows, wanted| it.union(oneof, rows, wanted, at))
    }

    fn union(&mut self, oneof: &OneofDescriptor, rows: Dim, wanted: &Wanted, at: &Path) -> Result<Option<Spec>> {
        let mut children = Vec::new();
        for member in oneof.fields() {
            self.count()?;
            let at = at.child(Segment::field(member.name()));
            let spec = match wanted.field(member.name()) {
                Some(wanted) => self.value(&member.kind(), rows, wanted, &at)?,
                None => Some(unwanted(rows)),
            };
            children.extend(spec.map(|spec| (Arc::<str>::from(member.name()), spec)));
        }
        let tags = TensorSpec::new(DType::I8, Shape::new([rows])).into();
        let numbered = |(i, (name, spec))| Ok((i8::try_from(i).map_err(|_| too_many(at))?, name, spec));
        let children: Vec<(i8, Arc<str>, Spec)> =
            children.into_iter().enumerate().map(numbered).collect::<Result<_>>()?;
        Ok((!children.is_empty()).then(|| UnionSpec::new(tags, None, children).serialize().into()))
    }

    /// Whether a message may hold itself and stands below as many of its kind as are followed.
    fn is_too_deep(&mut self, message: &MessageDescriptor) -> bool {
        let Some(depth) = self.how.depth else { return false };
        let endless = self.endless.entry(message.full_name().into()).or_insert_with(|| is_endless(message));
        *endless && self.above.iter().filter(|above| self.endless.get(*above) == Some(&true)).count() > depth
    }

    /// The spec of the values of a map at the keys that are wanted.
    fn keyed(&mut self, entry: &MessageDescriptor, rows: Dim, wanted: &Wanted, at: &Path) -> Result<Spec> {
        let kind = entry.map_entry_value_field().kind();
        let mut fields = Vec::new();
        for (key, wanted) in wanted.fields() {
            let at = at.child(Segment::Field(key.clone()));
            let spec = self.maybe(rows, wanted, |it, rows, wanted| it.value(&kind, rows, wanted, &at))?;
            fields.extend(spec.map(|spec| (key.to_string(), spec)));
        }
        Ok(StructSpec::new(1, fields).map_err(|e| e.at(format!("'{at}'")))?.serialize().into())
    }

    /// The spec of a value that may be missing.
    fn maybe(
        &mut self,
        rows: Dim,
        wanted: &Wanted,
        value: impl FnOnce(&mut Self, Dim, &Wanted) -> Result<Option<Spec>>,
    ) -> Result<Option<Spec>> {
        if self.how.optionals == Optionals::Masked {
            return Ok(value(self, rows, wanted)?.map(|value| optional_spec(value, rows)));
        }
        let items = Dim::any();
        let item = value(self, items, wanted.item().unwrap_or(&Wanted::default()))?;
        Ok(item.map(|item| list_spec(item, rows, items)))
    }

    fn value(&mut self, kind: &Kind, rows: Dim, wanted: &Wanted, at: &Path) -> Result<Option<Spec>> {
        let dtype = match kind {
            Kind::Message(message) if self.is_too_deep(message) => return Ok(None),
            Kind::Message(message) => return self.record(message, rows, wanted, at),
            Kind::String => DType::String,
            Kind::Bytes => DType::Bytes,
            Kind::Enum(_) if self.how.enums == Enums::Names => DType::String,
            kind => Number::of(kind).map_or(DType::Bytes, Number::dtype),
        };
        Ok(Some(TensorSpec::new(dtype, Shape::new([rows])).into()))
    }
}

/// Whether a message may hold one of its own type, in messages between or not.
fn is_endless(message: &MessageDescriptor) -> bool {
    let held = |message: &MessageDescriptor| {
        let kinds: Vec<Kind> = Member::all(message).iter().map(Member::kind).collect();
        kinds.into_iter().filter_map(|kind| if let Kind::Message(held) = kind { Some(held) } else { None })
    };
    let (mut open, mut seen) = (held(message).collect::<Vec<_>>(), HashSet::new());
    while let Some(next) = open.pop() {
        if next == *message {
            return true;
        }
        if seen.insert(next.full_name().to_string()) {
            open.extend(held(&next));
        }
    }
    false
}

/// What stands for a field of which nothing is wanted.
fn unwanted(rows: Dim) -> Spec {
    TensorSpec::new(DType::I32, Shape::new([rows])).into()
}

fn too_many(at: &Path) -> Error {
    let error = Error::value("the oneof has too many members").wanted(format!("at most {MAX_TYPES} in a union"));
    error.hint("Read its members as fields of their own").at(format!("'{at}'"))
}
