//! Plans made ready for reading messages of one type.
//!
//! Invariant: a field is here if it is needed, or if it belongs to a oneof of which a member is needed; the plan's kinds are those
//! of the descriptor, or hold them exactly.

use super::entries::Lookup;
use super::enums::Values;
use super::fields::Numbers;
use super::member::{Member, cast, in_brackets, names};
use super::number::Number;
use crate::plan::{self, ColumnId, Plan, fills};
use extenso_types::{DType, Error, Path, Result, Segment};
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use std::sync::Arc;

/// A message to be read.
#[derive(Debug)]
pub struct Record {
    pub fields: Vec<Field>,
    pub numbers: Numbers,
    /// How its parts are looked up, if some of its fields are found by name.
    pub lookup: Option<Lookup>,
}

/// A field to be read.
#[derive(Debug)]
pub struct Field {
    pub name: Arc<str>,
    pub rule: Rule,
    /// Whether a message of which it is no part has it not; otherwise it has its default then.
    pub presence: bool,
    pub value: Value,
    /// What one value that is not there adds to each column.
    pub defaults: Vec<(ColumnId, usize)>,
    /// The other members of its oneof, by place.
    pub rivals: Vec<usize>,
}

/// How often a field comes, and what its plan makes of that.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// Once, as the value.
    One,
    /// Once or not at all, as a value that may be missing.
    Maybe { validity: Option<ColumnId> },
    /// Once or not at all, as a list.
    Row { offsets: Option<ColumnId> },
    /// Any number of times, as a list.
    Each { offsets: Option<ColumnId> },
    /// So many times, as a dense axis.
    Exactly { size: usize },
    /// It is not needed, but another member of its oneof is.
    Rival,
}

impl Rule {
    /// Whether the field is repeated.
    pub fn repeats(self) -> bool {
        match self {
            Rule::Each { .. } | Rule::Exactly { .. } => true,
            Rule::One | Rule::Maybe { .. } | Rule::Row { .. } | Rule::Rival => false,
        }
    }
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
    Message {
        record: Option<Box<Record>>,
        group: bool,
    },
    /// Nothing that the message has.
    Nothing,
}

impl Value {
    /// The column of the values themselves.
    pub fn column(&self) -> Option<ColumnId> {
        match self {
            Value::Number { column, .. } | Value::Enum { column, .. } | Value::Text { column, .. } => *column,
            Value::Message { .. } | Value::Nothing => None,
        }
    }
}

/// Makes a checked plan ready for messages of this type.
///
/// Errors, each with its path: a plan that is no record; a field that the message does not have, unless it may be missing; a field of
/// another kind.
pub fn compile(message: &MessageDescriptor, plan: &Plan) -> Result<Record> {
    record(message, plan, &Path::root())
}

fn record(message: &MessageDescriptor, plan: &Plan, at: &Path) -> Result<Record> {
    let Plan::Record { fields } = plan else {
        return Err(refuse(at, format!("a message {} is read as {}", message.full_name(), shape(plan)), "a struct"));
    };
    let mut numbered = Vec::new();
    let mut ready = Vec::new();
    let mut lookup = Lookup::of_any(message);
    for plan::Field { name, plan } in fields.iter().filter(|field| !field.plan.is_unused()) {
        let at = at.child(Segment::Field(name.clone()));
        if let (Some(lookup), Some(message)) = (&mut lookup, cast(message, name)) {
            lookup.add(in_brackets(name).unwrap_or_default(), ready.len());
            ready.push(found(name, &Kind::Message(message), false, plan, &at)?);
            continue;
        }
        match Member::find(message, name) {
            Some(member) => {
                numbered.push((member.number(), ready.len()));
                ready.push(field(&member, plan, &at)?);
            }
            None => ready.push(absent(message, name, plan, &at)?),
        }
    }
    rivals(message, &mut numbered, &mut ready);
    let lookup = lookup.filter(|lookup| !lookup.is_empty());
    Ok(Record { fields: ready, numbers: Numbers::new(numbered), lookup })
}

/// The values of a map at the keys that a record names.
fn keyed(entry: &MessageDescriptor, fields: &[plan::Field], at: &Path) -> Result<Record> {
    let value = Member::Field(entry.map_entry_value_field());
    let (mut ready, mut lookup) = (Vec::new(), Lookup::of_entries(entry));
    for plan::Field { name, plan } in fields.iter().filter(|field| !field.plan.is_unused()) {
        lookup.add(name, ready.len());
        ready.push(found(name, &value.kind(), value.is_group(), plan, &at.child(Segment::Field(name.clone())))?);
    }
    Ok(Record { fields: ready, numbers: Numbers::default(), lookup: Some(lookup) })
}

/// A value that is found by name, or is not there.
fn found(name: &Arc<str>, kind: &Kind, group: bool, plan: &Plan, at: &Path) -> Result<Field> {
    let (rule, inner) = once(plan);
    let (value, defaults) = (value(kind, group, inner, at)?, fills(inner));
    Ok(Field { name: name.clone(), rule, presence: true, value, defaults, rivals: Vec::new() })
}

/// What a plan makes of a value that comes once or not at all, and the plan of the value.
pub fn once(plan: &Plan) -> (Rule, &Plan) {
    match plan {
        Plan::Optional { validity, inner } => (Rule::Maybe { validity: *validity }, inner),
        Plan::List { offsets, item, .. } => (Rule::Row { offsets: *offsets }, item),
        Plan::Skip | Plan::Scalar { .. } | Plan::Text { .. } | Plan::Fixed { .. } | Plan::Record { .. } => {
            (Rule::One, plan)
        }
    }
}

/// A field that the message does not have.
fn absent(message: &MessageDescriptor, name: &Arc<str>, plan: &Plan, at: &Path) -> Result<Field> {
    let Plan::Optional { validity, inner } = plan else {
        let error = Error::missing(format!("message {} has no field '{name}'", message.full_name()));
        return Err(error.wanted(format!("one of {}", names(message))).at(format!("'{at}'")));
    };
    let rule = Rule::Maybe { validity: *validity };
    let defaults = fills(inner);
    Ok(Field { name: name.clone(), rule, presence: true, value: Value::Nothing, defaults, rivals: Vec::new() })
}

/// Adds the members of oneofs that are not needed, and notes who excludes whom.
fn rivals(message: &MessageDescriptor, numbered: &mut Vec<(u32, usize)>, ready: &mut Vec<Field>) {
    for oneof in message.oneofs().filter(|oneof| !oneof.is_synthetic()) {
        let place = |field: &FieldDescriptor, numbered: &[(u32, usize)]| {
            numbered.iter().find(|(number, _)| *number == field.number()).map(|(_, place)| *place)
        };
        let needed: Vec<usize> = oneof.fields().filter_map(|field| place(&field, numbered)).collect();
        if needed.is_empty() {
            continue;
        }
        for field in oneof.fields() {
            let place = place(&field, numbered).unwrap_or_else(|| {
                numbered.push((field.number(), ready.len()));
                ready.push(rival(&field));
                ready.len() - 1
            });
            ready[place].rivals = needed.iter().copied().filter(|other| *other != place).collect();
        }
    }
}

fn rival(field: &FieldDescriptor) -> Field {
    let (name, defaults, rivals) = (field.name().into(), Vec::new(), Vec::new());
    Field { name, rule: Rule::Rival, presence: true, value: Value::Nothing, defaults, rivals }
}

fn field(member: &Member, plan: &Plan, at: &Path) -> Result<Field> {
    let name: Arc<str> = member.name().into();
    let repeated = member.repeats();
    let (rule, inner) = match (plan, member.kind()) {
        (Plan::List { offsets, item, .. }, _) if repeated => (Rule::Each { offsets: *offsets }, &**item),
        (Plan::Fixed { size, item }, _) if repeated => (Rule::Exactly { size: *size }, &**item),
        (Plan::Record { fields }, Kind::Message(entry)) if member.is_map() => {
            let value = Value::Message { record: Some(Box::new(keyed(&entry, fields, at)?)), group: false };
            let (rule, defaults) = (Rule::One, fills(plan));
            return Ok(Field { name, rule, presence: false, value, defaults, rivals: Vec::new() });
        }
        _ if repeated => return Err(refuse(at, format!("a repeated field is read as {}", shape(plan)), "a list")),
        _ => once(plan),
    };
    let (value, defaults) = (value(&member.kind(), member.is_group(), inner, at)?, fills(inner));
    Ok(Field { name, rule, presence: member.has_presence(), value, defaults, rivals: Vec::new() })
}

fn value(kind: &Kind, group: bool, plan: &Plan, at: &Path) -> Result<Value> {
    let wrong = |wanted: &str| Err(refuse(at, format!("a field of kind {kind:?} is read as {}", shape(plan)), wanted));
    Ok(match (kind, plan) {
        (Kind::Message(_), plan) if plan.is_unused() => Value::Message { record: None, group },
        (Kind::Message(message), plan) => Value::Message { record: Some(Box::new(record(message, plan, at)?)), group },
        (Kind::Enum(e), Plan::Skip) => Value::Enum { values: Values::new(e), column: None },
        (Kind::Enum(e), Plan::Text { dtype: DType::String, column, .. }) => {
            Value::Enum { values: Values::new(e), column: Some(*column) }
        }
        (Kind::Enum(e), Plan::Scalar { dtype, column }) if Number::Int32.reads_as(*dtype) && *dtype != DType::F64 => {
            Value::Enum { values: Values::new(e), column: Some(*column) }
        }
        (Kind::Enum(_), _) => return wrong("an integer, or string for the names"),
        (Kind::String, Plan::Skip) => Value::Text { utf8: true, column: None },
        (Kind::String, Plan::Text { dtype: DType::String, column, .. }) => {
            Value::Text { utf8: true, column: Some(*column) }
        }
        (Kind::String, _) => return wrong("string"),
        (Kind::Bytes, Plan::Skip) => Value::Text { utf8: false, column: None },
        (Kind::Bytes, Plan::Text { dtype: DType::Bytes, column, .. }) => {
            Value::Text { utf8: false, column: Some(*column) }
        }
        (Kind::Bytes, _) => return wrong("bytes"),
        (kind, plan) => {
            let Some(number) = Number::of(kind) else { return wrong("another kind") };
            match plan {
                Plan::Skip => Value::Number { number, column: None },
                Plan::Scalar { dtype, column } if number.reads_as(*dtype) => {
                    Value::Number { number, column: Some(*column) }
                }
                _ => return wrong(&format!("{}, or a dtype that holds it exactly", number.dtype())),
            }
        }
    })
}

/// What an error calls a plan.
fn shape(plan: &Plan) -> String {
    match plan {
        Plan::Skip => "nothing".into(),
        Plan::Scalar { dtype, .. } | Plan::Text { dtype, .. } => dtype.to_string(),
        Plan::Optional { .. } => "a masked value".into(),
        Plan::List { .. } => "a list".into(),
        Plan::Fixed { size, .. } => format!("an axis of {size}"),
        Plan::Record { .. } => "a struct".into(),
    }
}

/// The error of a field at this path.
pub fn refuse(at: &Path, what: String, wanted: &str) -> Error {
    let error = Error::dtype(what).wanted(wanted);
    if at.is_root() { error } else { error.at(format!("'{at}'")) }
}
