//! Plans made ready for reading messages of one type in their JSON form.
//!
//! Invariant: a plan that fits is one that fits the wire form; a field is here if it is needed, or if it belongs to a oneof of which a member is.

use super::known::Known;
use crate::json::Fields;
use crate::plan::{self, ColumnId, Plan, fills};
use crate::proto::enums::Values;
use crate::proto::member::{Member, cast, in_brackets};
use crate::proto::node::{self, Rule};
use crate::proto::number::Number;
use extenso_types::{Error, Result};
use prost_reflect::{Kind, MessageDescriptor};
use std::collections::HashSet;
use std::sync::Arc;

/// A message to be read.
#[derive(Debug)]
pub struct Record {
    pub fields: Vec<Field>,
    /// The places of fields, by the names of JSON and of the file.
    pub names: Fields<usize>,
    pub known: Option<Known>,
    /// What an `Any` is cast to: names of messages, and the places of what they become.
    pub casts: Vec<(Arc<str>, usize)>,
}

impl Record {
    /// The place of a field, by its name in the file.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| *field.name == *name)
    }
}

/// A field to be read.
#[derive(Debug)]
pub struct Field {
    pub name: Arc<str>,
    pub rule: Rule,
    /// Whether a message of which it is no part has it not; otherwise it has its default then.
    pub presence: bool,
    /// Whether it is a map, whose entries are an object.
    pub map: bool,
    pub value: Value,
    /// What one value that is not there adds to each column.
    pub defaults: Vec<(ColumnId, usize)>,
    /// The oneof that it belongs to.
    pub oneof: Option<usize>,
}

/// What a field holds, and where it goes if it is needed.
#[derive(Debug)]
pub enum Value {
    Number {
        number: Number,
        column: Option<ColumnId>,
    },
    Enum {
        values: Arc<Values>,
        column: Option<ColumnId>,
    },
    Text {
        utf8: bool,
        column: Option<ColumnId>,
    },
    Message(Box<Record>),
    /// The values of a map at some keys.
    Keyed(Box<Record>),
    /// Nothing that is needed.
    Nothing,
}

impl Value {
    /// Whether null is a value of it, and does not say that there is none.
    pub fn has_null(&self) -> bool {
        match self {
            Value::Message(record) => record.known == Some(Known::Value),
            Value::Enum { values, .. } => values.is_null,
            Value::Number { .. } | Value::Text { .. } | Value::Keyed(_) | Value::Nothing => false,
        }
    }
}

/// Makes a checked plan ready for messages of this type.
///
/// Errors: those of the wire form.
pub fn compile(message: &MessageDescriptor, plan: &Plan) -> Result<Record> {
    node::compile(message, plan)?;
    record(message, plan)
}

fn record(message: &MessageDescriptor, plan: &Plan) -> Result<Record> {
    let Plan::Record { fields } = plan else { return Err(Error::internal("a message is read as no struct")) };
    let (mut ready, mut names, mut casts) = (Vec::new(), Vec::new(), Vec::new());
    for plan::Field { name, plan } in fields.iter().filter(|field| !field.plan.is_unused()) {
        if let Some(message) = cast(message, name) {
            casts.push((in_brackets(name).unwrap_or_default().into(), ready.len()));
            ready.push(once(name, &Kind::Message(message), plan)?);
            continue;
        }
        let member = Member::find(message, name);
        if let Some(member) = &member {
            names.push((member.json_name(), name.clone(), ready.len()));
        }
        ready.push(member.map_or_else(|| absent(name, plan), |member| field(message, &member, plan))?);
    }
    rivals(message, &mut ready, &mut names);
    Ok(Record { fields: ready, names: by_name(names), known: Known::of(message), casts })
}

/// Both names of each field; where one is another's, that of JSON counts.
fn by_name(names: Vec<(String, Arc<str>, usize)>) -> Fields<usize> {
    let mut taken: HashSet<Arc<str>> = HashSet::new();
    let json = names.iter().map(|(json, _, place)| (json.as_str().into(), *place));
    let all = json.chain(names.iter().map(|(_, name, place)| (name.clone(), *place)));
    Fields::new(all.filter(|(name, _)| taken.insert(Arc::clone(name))).collect())
}

/// Adds the members of oneofs of which others are needed.
fn rivals(message: &MessageDescriptor, ready: &mut Vec<Field>, names: &mut Vec<(String, Arc<str>, usize)>) {
    for (i, oneof) in message.oneofs().enumerate().filter(|(_, oneof)| !oneof.is_synthetic()) {
        if !ready.iter().any(|field| field.oneof == Some(i)) {
            continue;
        }
        for field in oneof.fields() {
            if names.iter().any(|(_, name, _)| **name == *field.name()) {
                continue;
            }
            names.push((field.json_name().to_string(), field.name().into(), ready.len()));
            let (name, value, defaults, oneof) = (field.name().into(), Value::Nothing, Vec::new(), Some(i));
            ready.push(Field { name, rule: Rule::Rival, presence: true, map: false, value, defaults, oneof });
        }
    }
}

/// A value that is there once or not at all.
fn once(name: &Arc<str>, kind: &Kind, plan: &Plan) -> Result<Field> {
    let (rule, inner) = node::once(plan);
    let (value, defaults) = (value(kind, inner)?, fills(inner));
    Ok(Field { name: name.clone(), rule, presence: true, map: false, value, defaults, oneof: None })
}

/// A field that the message does not have.
fn absent(name: &Arc<str>, plan: &Plan) -> Result<Field> {
    let (rule, inner) = node::once(plan);
    let defaults = fills(inner);
    Ok(Field { name: name.clone(), rule, presence: true, map: false, value: Value::Nothing, defaults, oneof: None })
}

fn field(message: &MessageDescriptor, member: &Member, plan: &Plan) -> Result<Field> {
    let (rule, inner) = match plan {
        Plan::List { offsets, item, .. } if member.repeats() => (Rule::Each { offsets: *offsets }, &**item),
        Plan::Fixed { size, item } if member.repeats() => (Rule::Exactly { size: *size }, &**item),
        _ if member.repeats() => (Rule::One, plan),
        _ => node::once(plan),
    };
    let value = match (inner, member.kind()) {
        (Plan::Record { fields }, Kind::Message(entry)) if member.is_map() && !rule.repeats() => {
            Value::Keyed(Box::new(keyed(&entry, fields)?))
        }
        (inner, kind) => value(&kind, inner)?,
    };
    let oneof = member.oneof().and_then(|oneof| message.oneofs().position(|other| other == oneof));
    let presence = member.has_presence();
    let (name, defaults) = (member.name().into(), fills(inner));
    Ok(Field { name, rule, presence, map: member.is_map(), value, defaults, oneof })
}

/// The values of a map at the keys that a record names.
fn keyed(entry: &MessageDescriptor, fields: &[plan::Field]) -> Result<Record> {
    let kind = entry.map_entry_value_field().kind();
    let needed = fields.iter().filter(|field| !field.plan.is_unused());
    let ready: Vec<Field> = needed.map(|field| once(&field.name, &kind, &field.plan)).collect::<Result<_>>()?;
    let names = ready.iter().enumerate().map(|(place, field)| (field.name.clone(), place)).collect();
    Ok(Record { fields: ready, names: Fields::new(names), known: None, casts: Vec::new() })
}

fn value(kind: &Kind, plan: &Plan) -> Result<Value> {
    let column = match plan {
        Plan::Scalar { column, .. } | Plan::Text { column, .. } => Some(*column),
        Plan::Skip | Plan::Optional { .. } | Plan::List { .. } | Plan::Fixed { .. } | Plan::Record { .. } => None,
    };
    Ok(match kind {
        _ if plan.is_unused() => Value::Nothing,
        Kind::Message(message) => Value::Message(Box::new(record(message, plan)?)),
        Kind::Enum(e) => Value::Enum { values: Values::new(e), column },
        Kind::String => Value::Text { utf8: true, column },
        Kind::Bytes => Value::Text { utf8: false, column },
        kind => {
            let number = Number::of(kind).ok_or_else(|| Error::internal("a number of another kind"))?;
            Value::Number { number, column }
        }
    })
}
