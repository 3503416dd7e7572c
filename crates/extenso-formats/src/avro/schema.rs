//! The schema of a file: what its JSON says, with names resolved.
//!
//! Invariant: a type is known by its number, so that a record may hold itself; primitive types have the first numbers. What is skipped of a
//! record is listed without the fields that have no bytes, so that skipping takes no longer than there are bytes.

use crate::needs::in_column;
use crate::plan::MAX_TYPES;
use extenso_types::{Error, Result, Spec};
use jiter::JsonValue;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How long the text of a schema may be.
pub const MAX_SCHEMA: usize = 16 << 20;

/// The number of a type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TypeId(usize);

/// The type of strings, which the keys of maps have.
pub const TEXT: TypeId = TypeId(7);

/// All types of a file.
#[derive(Debug)]
pub struct Schema {
    types: Vec<Type>,
    pub root: TypeId,
}

/// A type, and what its schema says beside that.
#[derive(Debug)]
pub struct Type {
    pub kind: Kind,
    /// The name of a record, an enum or a fixed, with its namespace.
    pub name: Option<Arc<str>>,
    /// Whether its values have no bytes.
    pub empty: bool,
    attributes: Vec<(Arc<str>, Attribute)>,
}

/// What a value is.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)] // The variants' names are those of Avro.
pub enum Kind {
    Null,
    Bool,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    Text,
    Fixed(usize),
    Enum(Vec<Arc<str>>),
    Array(TypeId),
    Map(TypeId),
    Union(Vec<TypeId>),
    Record {
        fields: Vec<Field>,
        /// The types of those whose values have bytes.
        skipped: Vec<TypeId>,
    },
}

/// A field of a record.
#[derive(Clone, PartialEq, Debug)]
pub struct Field {
    pub name: Arc<str>,
    pub of: TypeId,
}

#[derive(Clone, PartialEq, Debug)]
enum Attribute {
    Text(Arc<str>),
    Int(i64),
    Bool(bool),
}

/// The primitive types by their numbers.
const PRIMITIVES: [(&str, Kind); 8] = [
    ("null", Kind::Null),
    ("boolean", Kind::Bool),
    ("int", Kind::Int),
    ("long", Kind::Long),
    ("float", Kind::Float),
    ("double", Kind::Double),
    ("bytes", Kind::Bytes),
    ("string", Kind::Text),
];

impl Schema {
    /// The schema of a text.
    ///
    /// Errors: text that is no JSON, or no schema, with the name of the type that is wrong.
    pub fn parse(text: &[u8]) -> Result<Schema> {
        if text.len() > MAX_SCHEMA {
            return Err(odd(format!("it has {} bytes", text.len())).wanted(format!("at most {} MB", MAX_SCHEMA >> 20)));
        }
        let json = JsonValue::parse(text, false).map_err(|e| odd(format!("it is no JSON: {e}")))?;
        let mut parser = Parser { types: Vec::new(), names: HashMap::new() };
        for (_, kind) in PRIMITIVES {
            parser.add(kind, None, Vec::new());
        }
        let root = parser.any(&json, "")?;
        Ok(Schema { types: parser.types, root })
    }

    /// The type of a number.
    pub fn of(&self, id: TypeId) -> &Type {
        &self.types[id.0]
    }

    /// The fields of the rows, and whether they hold records; none of rows that are no records.
    pub fn columns(&self) -> Option<Vec<(&str, bool)>> {
        let Kind::Record { fields, .. } = &self.of(self.there(self.root)).kind else { return None };
        let is_record = |of: TypeId| matches!(self.of(self.there(of)).kind, Kind::Record { .. });
        Some(fields.iter().map(|field| (&*field.name, is_record(field.of))).collect())
    }

    /// Whether the only field of the rows holds a value of this spec.
    ///
    /// Errors: several fields, for a value that is no record.
    pub fn holds(&self, spec: &Spec) -> Result<bool> {
        self.columns().map_or(Ok(false), |columns| in_column(spec, &columns))
    }

    /// What a type is that may be null, where it is not.
    fn there(&self, id: TypeId) -> TypeId {
        match &self.of(id).kind {
            Kind::Union(branches) => {
                let mut others = branches.iter().copied().filter(|id| self.of(*id).kind != Kind::Null);
                others.next().filter(|_| others.next().is_none()).unwrap_or(id)
            }
            _ => id,
        }
    }
}

impl Type {
    /// The text of an attribute.
    pub fn text(&self, key: &str) -> Option<&Arc<str>> {
        match self.attribute(key)? {
            Attribute::Text(text) => Some(text),
            Attribute::Int(_) | Attribute::Bool(_) => None,
        }
    }

    /// The number of an attribute.
    pub fn int(&self, key: &str) -> Option<i64> {
        match self.attribute(key)? {
            Attribute::Int(number) => Some(*number),
            Attribute::Text(_) | Attribute::Bool(_) => None,
        }
    }

    /// The flag of an attribute.
    pub fn flag(&self, key: &str) -> Option<bool> {
        match self.attribute(key)? {
            Attribute::Bool(flag) => Some(*flag),
            Attribute::Text(_) | Attribute::Int(_) => None,
        }
    }

    fn attribute(&self, key: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|(known, _)| **known == *key).map(|(_, value)| value)
    }

    /// What the type is called in a union: its name without the namespace, or its kind.
    pub fn short(&self) -> &str {
        match (&self.name, &self.kind) {
            (Some(name), _) => name.rsplit('.').next().unwrap_or(name),
            (None, Kind::Array(_)) => "array",
            (None, Kind::Map(_)) => "map",
            (None, Kind::Union(_)) => "union",
            (None, Kind::Record { .. }) => "record",
            (None, Kind::Enum(_)) => "enum",
            (None, Kind::Fixed(_)) => "fixed",
            (None, kind) => PRIMITIVES.iter().find(|(_, known)| known == kind).map_or("value", |(name, _)| name),
        }
    }
}

struct Parser {
    types: Vec<Type>,
    names: HashMap<Arc<str>, TypeId>,
}

type Object<'a, 'j> = &'a [(std::borrow::Cow<'j, str>, JsonValue<'j>)];

impl Parser {
    fn any(&mut self, json: &JsonValue<'_>, space: &str) -> Result<TypeId> {
        match json {
            JsonValue::Str(name) => self.named(name, space),
            JsonValue::Array(branches) => self.union(branches, space),
            JsonValue::Object(entries) => self.object(entries, space),
            _ => Err(odd("a type is no text, list or object")),
        }
    }

    fn add(&mut self, kind: Kind, name: Option<Arc<str>>, attributes: Vec<(Arc<str>, Attribute)>) -> TypeId {
        let empty = self.is_empty(&kind);
        self.types.push(Type { kind, name, empty, attributes });
        TypeId(self.types.len() - 1)
    }

    fn is_empty(&self, kind: &Kind) -> bool {
        match kind {
            Kind::Null | Kind::Fixed(0) => true,
            Kind::Record { skipped, .. } => skipped.is_empty(),
            _ => false,
        }
    }

    fn named(&self, name: &str, space: &str) -> Result<TypeId> {
        if let Some(i) = PRIMITIVES.iter().position(|(known, _)| *known == name) {
            return Ok(TypeId(i));
        }
        let full = full_name(name, space);
        let found = self.names.get(&*full).or_else(|| self.names.get(name));
        found.copied().ok_or_else(|| odd(format!("there is no type '{full}'")))
    }

    fn union(&mut self, branches: &[JsonValue<'_>], space: &str) -> Result<TypeId> {
        if !(1..=MAX_TYPES).contains(&branches.len()) {
            let error = odd(format!("a union has {} types", branches.len()));
            return Err(error.wanted(format!("from 1 to {MAX_TYPES}")));
        }
        let ids: Vec<TypeId> = branches.iter().map(|branch| self.any(branch, space)).collect::<Result<_>>()?;
        let mut seen = HashSet::new();
        for id in &ids {
            let of = &self.types[id.0];
            if matches!(of.kind, Kind::Union(_)) {
                return Err(odd("a union stands in a union"));
            }
            if !seen.insert(of.name.clone().unwrap_or_else(|| of.short().into())) {
                return Err(odd(format!("a union has '{}' twice", of.short())));
            }
        }
        Ok(self.add(Kind::Union(ids), None, Vec::new()))
    }

    fn object(&mut self, entries: Object<'_, '_>, space: &str) -> Result<TypeId> {
        let kind = match entry(entries, "type") {
            Some(JsonValue::Str(kind)) => kind,
            Some(inner @ (JsonValue::Object(_) | JsonValue::Array(_))) => return self.any(inner, space),
            _ => return Err(odd("an object has no 'type'")),
        };
        let said = attributes(entries);
        match &**kind {
            "record" | "error" => self.record(entries, space, said),
            "enum" => {
                let (name, _) = self.name(entries, space)?;
                let symbols = list(entries, "symbols", &name)?.iter().map(|symbol| match symbol {
                    JsonValue::Str(symbol) => Ok(Arc::from(&**symbol)),
                    _ => Err(odd(format!("a symbol of '{name}' is no text"))),
                });
                let symbols: Vec<Arc<str>> = symbols.collect::<Result<_>>()?;
                if symbols.iter().collect::<HashSet<_>>().len() < symbols.len() {
                    return Err(odd(format!("'{name}' has a symbol twice")));
                }
                let id = self.add(Kind::Enum(symbols), Some(name.clone()), said);
                self.define(name, id)
            }
            "fixed" => {
                let (name, _) = self.name(entries, space)?;
                let size = match entry(entries, "size") {
                    Some(JsonValue::Int(size)) => i32::try_from(*size).ok().and_then(|size| usize::try_from(size).ok()),
                    _ => None,
                };
                let size = size.ok_or_else(|| odd(format!("'{name}' has no size")))?;
                let id = self.add(Kind::Fixed(size), Some(name.clone()), said);
                self.define(name, id)
            }
            "array" | "map" => {
                let (key, of): (_, fn(TypeId) -> Kind) =
                    if kind == "array" { ("items", Kind::Array) } else { ("values", Kind::Map) };
                let item = entry(entries, key).ok_or_else(|| odd(format!("a type {kind} has no '{key}'")))?;
                let item = self.any(item, space)?;
                Ok(self.add(of(item), None, said))
            }
            name => {
                let id = self.named(name, space)?;
                match PRIMITIVES.get(id.0) {
                    Some((_, kind)) if !said.is_empty() => Ok(self.add(kind.clone(), None, said)),
                    _ => Ok(id),
                }
            }
        }
    }

    fn record(&mut self, entries: Object<'_, '_>, space: &str, said: Vec<(Arc<str>, Attribute)>) -> Result<TypeId> {
        let (name, space) = self.name(entries, space)?;
        // The record is known while its fields are read, which may be of its type.
        let id = self.add(Kind::Null, Some(name.clone()), said);
        self.types[id.0].empty = false;
        self.define(name.clone(), id)?;
        let (mut fields, mut names) = (Vec::new(), HashSet::new());
        for field in list(entries, "fields", &name)? {
            let JsonValue::Object(entries) = field else {
                return Err(odd(format!("a field of '{name}' is no object")));
            };
            let own = entry(entries, "arrowName").or_else(|| entry(entries, "name"));
            let Some(JsonValue::Str(own)) = own else { return Err(odd(format!("a field of '{name}' has no name"))) };
            let of = entry(entries, "type").ok_or_else(|| odd(format!("field '{own}' of '{name}' has no type")))?;
            let of = self.any(of, &space)?;
            let own: Arc<str> = Arc::from(&**own);
            if !names.insert(own.clone()) {
                return Err(odd(format!("two fields of '{name}' are named '{own}'")));
            }
            fields.push(Field { name: own, of });
        }
        let skipped = fields.iter().map(|field| field.of).filter(|id| !self.types[id.0].empty).collect();
        let kind = Kind::Record { fields, skipped };
        self.types[id.0].empty = self.is_empty(&kind);
        self.types[id.0].kind = kind;
        Ok(id)
    }

    /// The full name of a definition, and the namespace inside it.
    fn name(&self, entries: Object<'_, '_>, space: &str) -> Result<(Arc<str>, String)> {
        let Some(JsonValue::Str(name)) = entry(entries, "name") else {
            return Err(odd("a record, an enum or a fixed has no name"));
        };
        let space = match entry(entries, "namespace") {
            Some(JsonValue::Str(space)) => space,
            _ => space,
        };
        let full = full_name(name, space);
        let inside = full.rsplit_once('.').map_or("", |(space, _)| space).to_string();
        Ok((full, inside))
    }

    fn define(&mut self, name: Arc<str>, id: TypeId) -> Result<TypeId> {
        match self.names.insert(name.clone(), id) {
            Some(_) => Err(odd(format!("'{name}' is defined twice"))),
            None => Ok(id),
        }
    }
}

fn full_name(name: &str, space: &str) -> Arc<str> {
    if space.is_empty() || name.contains('.') { name.into() } else { format!("{space}.{name}").into() }
}

/// The value of a key; the last one counts.
fn entry<'a, 'j>(entries: Object<'a, 'j>, key: &str) -> Option<&'a JsonValue<'j>> {
    entries.iter().rev().find(|(known, _)| known == key).map(|(_, value)| value)
}

fn list<'a, 'j>(entries: Object<'a, 'j>, key: &str, name: &str) -> Result<&'a [JsonValue<'j>]> {
    match entry(entries, key) {
        Some(JsonValue::Array(items)) => Ok(items),
        _ => Err(odd(format!("'{name}' has no list of {key}"))),
    }
}

/// What the object of a type says that the reader knows.
fn attributes(entries: Object<'_, '_>) -> Vec<(Arc<str>, Attribute)> {
    let known = |key: &str| matches!(key, "logicalType" | "precision" | "scale") || key.starts_with("arrow");
    let value = |value: &JsonValue<'_>| match value {
        JsonValue::Str(text) => Some(Attribute::Text(Arc::from(&**text))),
        JsonValue::Int(number) => Some(Attribute::Int(*number)),
        JsonValue::Bool(flag) => Some(Attribute::Bool(*flag)),
        _ => None,
    };
    let known = entries.iter().rev().filter(|(key, _)| known(key));
    known.filter_map(|(key, said)| Some((Arc::from(&**key), value(said)?))).collect()
}

fn odd(what: impl std::fmt::Display) -> Error {
    Error::data(format!("the schema of the Avro file is malformed: {what}"))
        .wanted("a schema of Avro")
        .at("avro.schema")
}
