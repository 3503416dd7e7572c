//! Plans made ready for reading messages of one type.
//!
//! Invariant: a field is here if it is needed, or if it belongs to a oneof of which a member is needed; the plan's kinds are those
//! of the descriptor, or hold them exactly.

use super::enums::Values;
use super::fields::Numbers;
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
    for plan::Field { name, plan } in fields.iter().filter(|field| !field.plan.is_unused()) {
        let at = at.child(Segment::Field(name.clone()));
        match message.get_field_by_name(name) {
            Some(descriptor) => {
                numbered.push((descriptor.number(), ready.len()));
                ready.push(field(&descriptor, plan, &at)?);
            }
            None => ready.push(absent(message, name, plan, &at)?),
        }
    }
    rivals(message, &mut numbered, &mut ready);
    Ok(Record { fields: ready, numbers: Numbers::new(numbered) })
}

/// A field that the message does not have.
fn absent(message: &MessageDescriptor, name: &Arc<str>, plan: &Plan, at: &Path) -> Result<Field> {
    let Plan::Optional { validity, inner } = plan else {
        let names: Vec<String> = message.fields().map(|field| field.name().to_string()).collect();
        let error = Error::missing(format!("message {} has no field '{name}'", message.full_name()));
        return Err(error.wanted(format!("one of {}", names.join(", "))).at(format!("'{at}'")));
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

fn field(descriptor: &FieldDescriptor, plan: &Plan, at: &Path) -> Result<Field> {
    let repeated = descriptor.is_list() || descriptor.is_map();
    let (rule, inner) = match plan {
        Plan::List { offsets, item, .. } if repeated => (Rule::Each { offsets: *offsets }, &**item),
        Plan::Fixed { size, item } if repeated => (Rule::Exactly { size: *size }, &**item),
        _ if repeated => return Err(refuse(at, format!("a repeated field is read as {}", shape(plan)), "a list")),
        Plan::Optional { validity, inner } => (Rule::Maybe { validity: *validity }, &**inner),
        Plan::List { offsets, item, .. } => (Rule::Row { offsets: *offsets }, &**item),
        Plan::Skip | Plan::Scalar { .. } | Plan::Text { .. } | Plan::Fixed { .. } | Plan::Record { .. } => {
            (Rule::One, plan)
        }
    };
    let presence = descriptor.supports_presence() && !descriptor.parent_message().is_map_entry();
    let (name, value, defaults) = (descriptor.name().into(), value(descriptor, inner, at)?, fills(inner));
    Ok(Field { name, rule, presence, value, defaults, rivals: Vec::new() })
}

fn value(field: &FieldDescriptor, plan: &Plan, at: &Path) -> Result<Value> {
    let kind = field.kind();
    let wrong = |wanted: &str| Err(refuse(at, format!("a field of kind {kind:?} is read as {}", shape(plan)), wanted));
    Ok(match (&kind, plan) {
        (Kind::Message(_), plan) if plan.is_unused() => Value::Message { record: None, group: field.is_group() },
        (Kind::Message(message), plan) => {
            Value::Message { record: Some(Box::new(record(message, plan, at)?)), group: field.is_group() }
        }
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
