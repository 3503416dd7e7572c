//! Plans made ready for messages of one type: the fields of the descriptor that a plan needs.
//!
//! Invariant: the plan's kinds are those of the descriptor, or hold them exactly.

use super::entries::{Lookup, symbols_of};
use super::enums::{Values, is_null};
use super::fields::Numbers;
use super::json::{Held, Known};
use super::meant::Form;
use super::member::{Member, cast, in_brackets, names};
use super::node::{Field, Record, Rule, Value};
use super::number::Number;
use super::quick::Quick;
use super::schema::MessageType;
use crate::json::Fields;
use crate::names::some_names;
use crate::plan::{self, Plan, fills};
use extenso_ext::Spelling;
use extenso_types::{DType, Error, Path, Result, Segment};
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor, OneofDescriptor};
use std::collections::HashSet;
use std::sync::Arc;

/// Makes a checked plan ready for messages of this type.
///
/// Errors, each with its path: a plan that is no record; a field that the message does not have, unless it may be missing; a field of
/// another kind.
pub fn compile(message: &MessageType, plan: &Plan) -> Result<Record> {
    record(&message.0, plan, &Path::root())
}

fn record(message: &MessageDescriptor, plan: &Plan, at: &Path) -> Result<Record> {
    let Plan::Record { fields } = plan else {
        return Err(refuse(at, format!("a message {} is read as {}", message.full_name(), plan.what()), "a struct"));
    };
    let (mut numbered, mut ready) = (Vec::new(), Vec::new());
    let mut lookup = Lookup::of_any(message);
    for plan::Field { name, plan } in fields.iter().filter(|field| !field.plan.is_unused()) {
        let at = at.child(Segment::Field(name.clone()));
        if let (Some(lookup), Some(message)) = (&mut lookup, cast(message, name)) {
            lookup.add(in_brackets(name).unwrap_or_default(), ready.len());
            ready.push(found(name, &Kind::Message(message), false, plan, &at)?);
            continue;
        }
        if let ((rule, Plan::Union { tags, children }), Some(oneof)) = (once(plan), oneof(message, name)) {
            let members = members(&oneof, children, &at, &mut numbered, &mut ready)?;
            let (value, defaults) = (Value::Union { tags: *tags, members }, fills(once(plan).1));
            ready.push(Field { value, defaults, ..nothing(name.clone(), rule) });
            continue;
        }
        match Member::find(message, name) {
            Some(member) => {
                ready.push(field(&member, plan, &at)?);
                numbered.push((member, ready.len() - 1));
            }
            None => ready.push(absent(message, name, plan, &at)?),
        }
    }
    check_once(&numbered, at)?;
    rivals(message, &mut numbered, &mut ready);
    let lookup = lookup.filter(|lookup| !lookup.is_empty());
    let by_number = numbered.iter().map(|(member, place)| (member.number(), *place));
    let numbers = Numbers::new(by_number.clone());
    let is_packed = |place| numbered.iter().any(|(member, of)| *of == place && member.is_packed());
    let all = Member::all(message).len() == numbered.len();
    let quick = if lookup.is_none() { Quick::new(&ready, by_number, all.then_some(is_packed)) } else { None };
    Ok(Record {
        fields: ready,
        numbers,
        quick,
        names: by_name(&numbered),
        lookup,
        known: Known::of(message),
        held: Held::of(message),
        ends: false,
    })
}

/// The oneof of this name, which the file names.
pub fn oneof(message: &MessageDescriptor, name: &str) -> Option<OneofDescriptor> {
    message.oneofs().find(|oneof| oneof.name() == name && !oneof.is_synthetic())
}

/// The member of a oneof that a type of a union is.
///
/// Errors: the oneof has none of its name.
pub fn member(oneof: &OneofDescriptor, name: &str, at: &Path) -> Result<FieldDescriptor> {
    oneof.fields().find(|field| field.name() == name).ok_or_else(|| {
        let names: Vec<String> = oneof.fields().map(|field| field.name().to_string()).collect();
        let error = Error::missing(format!("oneof {} has no member '{name}'", oneof.full_name()));
        error.wanted(format!("one of {}", some_names(names))).at(format!("'{at}'"))
    })
}

/// Adds the members that a union has, and gets their places. Those of which nothing is needed are there to be told apart.
fn members(
    oneof: &OneofDescriptor,
    children: &[plan::Field],
    at: &Path,
    numbered: &mut Vec<(Member, usize)>,
    ready: &mut Vec<Field>,
) -> Result<Vec<usize>> {
    let mut places = Vec::new();
    for plan::Field { name, plan } in children {
        let at = at.child(Segment::Field(name.clone()));
        let found = member(oneof, name, &at)?;
        let value = value(&found.kind(), found.is_group(), plan, &at)?;
        let (null, defaults) = (has_null(&found.kind()), fills(plan));
        places.push(ready.len());
        numbered.push((Member::Field(found), ready.len()));
        ready.push(Field { null, value, defaults, ..nothing(name.clone(), Rule::Member) });
    }
    Ok(places)
}

/// Checks that each field is read at one place, alone or in a union.
fn check_once(numbered: &[(Member, usize)], at: &Path) -> Result<()> {
    let mut numbers = HashSet::new();
    match numbered.iter().find(|(member, _)| !numbers.insert(member.number())) {
        Some((twice, _)) => Err(refuse(
            &at.child(Segment::field(twice.name())),
            "the field is read by itself and in the union of its oneof".into(),
            "one of the two",
        )),
        None => Ok(()),
    }
}

/// Both names of each field; where one is another's, that of JSON counts.
fn by_name(members: &[(Member, usize)]) -> Fields<usize> {
    let mut taken: HashSet<Arc<str>> = HashSet::new();
    let json = members.iter().map(|(member, place)| (member.json_name().into(), *place));
    let all = json.chain(members.iter().map(|(member, place)| (member.name().into(), *place)));
    Fields::new(all.filter(|(name, _)| taken.insert(Arc::clone(name))).collect())
}

/// The values of a map at the keys that a record names.
fn keyed(entry: &MessageDescriptor, fields: &[plan::Field], at: &Path) -> Result<Record> {
    let value = Member::Field(entry.map_entry_value_field());
    let (mut ready, mut names, mut lookup) = (Vec::new(), Vec::new(), Lookup::of_entries(entry));
    for plan::Field { name, plan } in fields.iter().filter(|field| !field.plan.is_unused()) {
        if !lookup.can_have(name) {
            let what = format!("\"{name}\" is no key of a map by {:?}", entry.map_entry_key_field().kind());
            return Err(refuse(at, what, "the key as it is written, a number without a sign + and zeros in front"));
        }
        lookup.add(name, ready.len());
        names.push((name.clone(), ready.len()));
        ready.push(found(name, &value.kind(), value.is_group(), plan, &at.child(Segment::Field(name.clone())))?);
    }
    let (numbers, names) = (Numbers::default(), Fields::new(names));
    Ok(Record {
        fields: ready,
        numbers,
        quick: None,
        names,
        lookup: Some(lookup),
        known: None,
        held: None,
        ends: false,
    })
}

/// A value that is found by name, or is not there.
fn found(name: &Arc<str>, kind: &Kind, group: bool, plan: &Plan, at: &Path) -> Result<Field> {
    let (rule, inner) = once(plan);
    let (value, defaults) = (value(kind, group, inner, at)?, fills(inner));
    Ok(Field {
        name: name.clone(),
        rule,
        presence: true,
        map: false,
        null: has_null(kind),
        value,
        defaults,
        rivals: vec![],
        symbols: None,
    })
}

/// What a plan makes of a value that comes once or not at all, and the plan of the value.
pub fn once(plan: &Plan) -> (Rule, &Plan) {
    match plan {
        Plan::Optional { validity, inner } => (Rule::Maybe { validity: *validity }, inner),
        Plan::List { offsets, item, .. } => (Rule::Row { offsets: *offsets }, item),
        Plan::Skip
        | Plan::Scalar { .. }
        | Plan::Text { .. }
        | Plan::Spelled { .. }
        | Plan::Fixed { .. }
        | Plan::Union { .. }
        | Plan::Record { .. } => (Rule::One, plan),
    }
}

/// A field that the message does not have.
fn absent(message: &MessageDescriptor, name: &Arc<str>, plan: &Plan, at: &Path) -> Result<Field> {
    let Plan::Optional { validity, inner } = plan else {
        let what = format!("message {} has no field '{name}'; it has: {}", message.full_name(), names(message));
        return Err(Error::missing(what).wanted(plan.what()).at(format!("'{at}'")));
    };
    let rule = Rule::Maybe { validity: *validity };
    Ok(Field { defaults: fills(inner), ..nothing(name.clone(), rule) })
}

/// Adds the members of oneofs that are not needed, and notes who excludes whom.
fn rivals(message: &MessageDescriptor, numbered: &mut Vec<(Member, usize)>, ready: &mut Vec<Field>) {
    for oneof in message.oneofs().filter(|oneof| !oneof.is_synthetic()) {
        let place = |field: &FieldDescriptor, numbered: &[(Member, usize)]| {
            numbered.iter().find(|(member, _)| member.number() == field.number()).map(|(_, place)| *place)
        };
        if !oneof.fields().any(|field| place(&field, numbered).is_some()) {
            continue;
        }
        for field in oneof.fields().filter(|field| place(field, numbered).is_none()).collect::<Vec<_>>() {
            // Whether a member of a closed enum came, its number says.
            let value = match field.kind() {
                Kind::Enum(values) => Value::Enum { values: Values::new(&values), column: None },
                _ => Value::Nothing,
            };
            ready.push(Field { value, ..nothing(field.name().into(), Rule::Rival) });
            numbered.push((Member::Field(field), ready.len() - 1));
        }
        let members: Vec<usize> = oneof.fields().filter_map(|field| place(&field, numbered)).collect();
        for at in &members {
            ready[*at].rivals = members.iter().copied().filter(|other| other != at).collect();
        }
    }
}

/// A field of which nothing is read.
fn nothing(name: Arc<str>, rule: Rule) -> Field {
    let (value, defaults, rivals) = (Value::Nothing, Vec::new(), Vec::new());
    Field { name, rule, presence: true, map: false, null: false, value, defaults, rivals, symbols: None }
}

/// Whether null is a value of this kind in JSON.
fn has_null(kind: &Kind) -> bool {
    match kind {
        Kind::Message(message) => Known::of(message) == Some(Known::Value),
        Kind::Enum(values) => is_null(values),
        _ => false,
    }
}

fn field(member: &Member, plan: &Plan, at: &Path) -> Result<Field> {
    let (kind, repeated, map) = (member.kind(), member.repeats(), member.is_map());
    let (rule, inner) = match plan {
        Plan::List { offsets, item, .. } if repeated => (Rule::Each { offsets: *offsets }, &**item),
        Plan::Fixed { size, item } if repeated => (Rule::Exactly { size: *size }, &**item),
        Plan::Record { .. } if map => (Rule::One, plan),
        _ if repeated => return Err(refuse(at, format!("a repeated field is read as {}", plan.what()), "a list")),
        _ => once(plan),
    };
    let each = if rule.repeats() { at.child(Segment::Each) } else { at.clone() };
    let value = match (&kind, inner) {
        (Kind::Message(entry), Plan::Record { fields }) if map && !rule.repeats() => {
            Value::Keyed(Box::new(keyed(entry, fields, at)?))
        }
        _ => value(&kind, member.is_group(), inner, &each)?,
    };
    // No text is a time or a decimal if it is empty, so that one that does not come is not there.
    let presence = member.has_presence() || matches!(&value, Value::Spelled { form, .. } if !form.is_message());
    let (null, defaults) = (has_null(&kind), fills(inner));
    let symbols = match &kind {
        Kind::Message(entry) if map => symbols_of(entry),
        _ => None,
    };
    let (name, rivals) = (member.name().into(), Vec::new());
    Ok(Field { name, rule, presence, map, null, value, defaults, rivals, symbols })
}

fn value(kind: &Kind, group: bool, plan: &Plan, at: &Path) -> Result<Value> {
    let wrong = |wanted: &str| Err(refuse(at, format!("a field of kind {kind:?} is read as {}", plan.what()), wanted));
    if let Plan::Spelled { spelling, column } = plan {
        if let Some(form) = Form::of(kind, spelling) {
            return Ok(Value::Spelled { form, spelling: spelling.clone(), column: *column });
        }
        let counts =
            |number: &Number| spelling.is_time() && !matches!(kind, Kind::Enum(_)) && number.reads_as(spelling.dtype());
        return match Number::of(kind).filter(counts) {
            Some(number) => Ok(Value::Number { number, column: Some(*column) }),
            None => wrong(fields_of(spelling)),
        };
    }
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

/// The fields that hold values of a spelling, as an error says them.
pub fn fields_of(spelling: &Spelling) -> &'static str {
    match () {
        () if spelling.is_instant() => "a field of google.protobuf.Timestamp, a string, or integers",
        () if spelling.is_duration() => "a field of google.protobuf.Duration, a string, or integers",
        () if spelling.is_time() => "a field of strings or integers",
        () if spelling.is_bytes() => "a field of bytes",
        () if spelling.is_cells() => "a field of strings or bytes",
        () => "a field of strings",
    }
}

/// The error of a field at this path.
pub fn refuse(at: &Path, what: String, wanted: &str) -> Error {
    let error = Error::dtype(what).wanted(wanted);
    if at.is_root() { error } else { error.at(format!("'{at}'")) }
}
