//! Plans and borrowed columns brought together for writing messages.
//!
//! Invariant: what is prepared can be written, but for what the values of a row have; every column is proven to hold what will be read of it.

use super::compile::{fields_of, member, oneof, refuse as refuse_at};
use super::encode::{Field, HELD, Record, Rule, Value};
use super::enums::Values;
use super::json::{Held, Known};
use super::meant::Form;
use super::member::{Member, cast, names};
use super::number::Number;
use super::schema::MessageType;
use crate::columns::{BitsRef, ColumnRef};
use crate::json::write_string;
use crate::plan::{self, ColumnId, Plan};
use crate::prove::Proof;
use crate::spelled;
use extenso_ext::Spelling;
use extenso_types::{DType, Error, Path, Result, Segment};
use prost_reflect::{Kind, MessageDescriptor, OneofDescriptor};
use std::ops::Range;
use std::sync::Arc;

/// A message with its columns, proven to hold what will be written.
///
/// Errors: as [`encode`], but for those of rows.
pub fn prepared<'a>(
    message: &MessageType,
    plan: &Plan,
    columns: &[ColumnRef<'a>],
    rows: Range<usize>,
) -> Result<Record<'a>> {
    let prepare = Prepare { proof: Proof { columns, kinds: plan.kinds()? } };
    prepare.record(&message.0, plan, rows, &Path::root())
}

/// A plan and the columns, being brought together.
struct Prepare<'c, 'a> {
    proof: Proof<'c, 'a>,
}

impl<'a> Prepare<'_, 'a> {
    fn record(&self, message: &MessageDescriptor, plan: &Plan, rows: Range<usize>, at: &Path) -> Result<Record<'a>> {
        let Plan::Record { fields } = plan else {
            let (name, what) = (message.full_name(), plan.what());
            return Err(match plan {
                Plan::Optional { .. } => refuse(
                    at,
                    format!("message {name} is given {what}, and no message of a list may be missing"),
                    "records that are all there",
                )
                .hint("Leave the missing ones out with `drop_none`, or fill them"),
                _ => refuse(at, format!("no struct is written as message {name}, but {what}"), "a struct"),
            });
        };
        let given = |name: &str| fields.iter().any(|field| *field.name == *name && field.plan != Plan::Skip);
        if let Some(missing) = message.fields().find(|field| field.is_required() && !given(field.name())) {
            let what = format!("message {} requires '{}'", message.full_name(), missing.name());
            return Err(refuse(at, what, "that field"));
        }
        let mut writers = Vec::new();
        for plan::Field { name, plan } in fields.iter().filter(|field| field.plan != Plan::Skip) {
            let at = at.child(Segment::Field(name.clone()));
            if let Some(held) = cast(message, name) {
                writers.push(self.held(message, name, &held, plan, rows.clone(), &at)?);
                continue;
            }
            if let Some(oneof) = oneof(message, name) {
                self.union(message, &oneof, plan, rows.clone(), &at, &mut writers)?;
                continue;
            }
            let Some(member) = Member::find(message, name) else {
                let what = format!("message {} has no field '{name}'", message.full_name());
                return Err(refuse(&at, what, &format!("one of {}", names(message))));
            };
            if !member.repeats() && !member.is_required() && is_never_there(plan) {
                continue;
            }
            writers.push(self.field(message, &member, plan, rows.clone(), &at)?);
        }
        if let (Some(held), Some(beside)) = (of_held(&writers, true), of_held(&writers, false)) {
            let what = format!("'{held}' says what the Any holds, and '{beside}' is given too");
            return Err(refuse(at, what, "one of the two"));
        }
        // The members of one oneof stand together, so that the last one seen tells of all.
        writers.sort_by_key(|field| field.oneof.map_or(0, |oneof| oneof + 1));
        Ok(Record { fields: writers, entry: message.is_map_entry(), known: Known::of(message), any: Held::of(message) })
    }

    /// The message that an `Any` holds, under its name in brackets.
    fn held(
        &self,
        any: &MessageDescriptor,
        name: &Arc<str>,
        message: &MessageDescriptor,
        plan: &Plan,
        rows: Range<usize>,
        at: &Path,
    ) -> Result<Field<'a>> {
        let (rule, inner, items) = self.rule(plan, rows, at)?;
        let url = format!("type.googleapis.com/{}", message.full_name());
        let value = Value::Held(self.record(message, inner, items, at)?, url);
        let bytes = Member::Field(any.get_field(2).ok_or_else(|| Error::internal("an Any without a value"))?);
        Ok(Field { name: name.clone(), oneof: Some(HELD), ..writer(any, &bytes, rule, value) })
    }

    /// Adds the members of a oneof that a union holds, of which a row has one.
    fn union(
        &self,
        message: &MessageDescriptor,
        oneof: &OneofDescriptor,
        plan: &Plan,
        rows: Range<usize>,
        at: &Path,
        out: &mut Vec<Field<'a>>,
    ) -> Result<()> {
        let (rule, inner, items) = self.rule(plan, rows, at)?;
        let Plan::Union { tags: Some(tags), children } = inner else {
            return Err(refuse(
                at,
                format!("a oneof is given {}", inner.what()),
                "a union, masked or in a list of no or one",
            ));
        };
        let ColumnRef::I8(tags) = self.proof.column(*tags, &items, at.segments())? else {
            return Err(refuse(at, "the tags are no i8".into(), "i8"));
        };
        for (tag, plan::Field { name, plan }) in (0_i8..).zip(children) {
            let at = at.child(Segment::Field(name.clone()));
            let member = Member::Field(member(oneof, name, &at)?);
            // What is missing in a member is set in none: Arrow and Avro say so where a union as a whole is missing here.
            let (rule, plan) = match (rule, plan) {
                (Rule::One, Plan::Optional { validity, inner }) => {
                    (Rule::Maybe(self.there(*validity, &items, &at)?), &**inner)
                }
                (rule, plan) => (rule, plan),
            };
            let value = self.value(&member, plan, items.clone(), &at)?;
            out.push(Field { chosen: Some((tags, tag)), ..writer(message, &member, rule, value) });
        }
        Ok(())
    }

    /// Which values a field that comes once or not at all has, the plan of a value, and the places of the values.
    fn rule<'p>(&self, plan: &'p Plan, rows: Range<usize>, at: &Path) -> Result<(Rule<'a>, &'p Plan, Range<usize>)> {
        Ok(match plan {
            Plan::List { offsets, item, .. } => {
                let (offsets, items) = self.proof.list(*offsets, &rows, at.segments())?;
                (Rule::Row(offsets), &**item, items)
            }
            // Lists that happen to have one length are lists of no or one value all the same.
            Plan::Fixed { size: 1, item } => self.rule(item, rows, at)?,
            Plan::Optional { validity, inner } => {
                let there = self.there(*validity, &rows, at)?;
                match &**inner {
                    list @ Plan::Fixed { size: 1, .. } => match self.rule(list, rows, at)? {
                        (Rule::One, inner, items) => (Rule::Maybe(there), inner, items),
                        found => found,
                    },
                    inner => (Rule::Maybe(there), inner, rows),
                }
            }
            one => (Rule::One, one, rows),
        })
    }

    /// Which values are there; none if all are.
    fn there(&self, validity: Option<ColumnId>, rows: &Range<usize>, at: &Path) -> Result<Option<BitsRef<'a>>> {
        Ok(validity.map(|id| self.proof.bits(id, rows, at.segments())).transpose()?.flatten())
    }

    fn field(
        &self,
        message: &MessageDescriptor,
        field: &Member,
        plan: &Plan,
        rows: Range<usize>,
        at: &Path,
    ) -> Result<Field<'a>> {
        let repeated = field.repeats();
        let steps = at.segments();
        let (there, plan) = match plan {
            Plan::Optional { validity, inner } if repeated => (self.there(*validity, &rows, at)?, &**inner),
            plan => (None, plan),
        };
        let (rule, inner, items) = match plan {
            Plan::List { offsets, item, .. } if repeated => {
                let (offsets, items) = self.proof.list(*offsets, &rows, steps)?;
                (Rule::Each(offsets, there), &**item, items)
            }
            Plan::Fixed { size, item } if repeated => {
                let (Some(start), Some(end)) = (rows.start.checked_mul(*size), rows.end.checked_mul(*size)) else {
                    return Err(refuse(at, "there are more items than can be counted".into(), "fewer"));
                };
                (Rule::Exactly(*size, there), &**item, start..end)
            }
            _ if repeated => return Err(refuse(at, "a repeated field is given one value".into(), "a list")),
            once => self.rule(once, rows, at)?,
        };
        if field.is_required() && !matches!(rule, Rule::One) {
            return Err(refuse(at, "a required field may be missing".into(), "a value in every row"));
        }
        let value = self.value(field, inner, items, at)?;
        Ok(writer(message, field, rule, value))
    }

    fn value(&self, field: &Member, plan: &Plan, rows: Range<usize>, at: &Path) -> Result<Value<'a>> {
        let (kind, steps) = (field.kind(), at.segments());
        let wrong =
            |wanted: &str| Err(refuse(at, format!("a field of kind {kind:?} is given {}", plan.what()), wanted));
        match (&kind, plan) {
            (kind, Plan::Spelled { spelling, column }) => self.spelled(kind, spelling, *column, rows, at),
            (Kind::Message(message), plan) => {
                Ok(Value::Message(self.record(message, plan, rows, at)?, field.is_group()))
            }
            (Kind::Enum(e), Plan::Text { dtype: DType::String, column, .. }) => {
                Ok(Value::Name(Values::new(e), self.proof.text(*column, true, &rows, steps)?))
            }
            (Kind::String, Plan::Text { dtype: DType::String, column, .. }) => {
                Ok(Value::Text(self.proof.text(*column, true, &rows, steps)?, true))
            }
            (Kind::Bytes, Plan::Text { dtype: DType::Bytes, column, .. }) => {
                Ok(Value::Text(self.proof.text(*column, false, &rows, steps)?, false))
            }
            (Kind::String, _) => wrong("string"),
            (Kind::Bytes, _) => wrong("bytes"),
            (kind, Plan::Scalar { dtype, column }) => match Number::of(kind).filter(|number| number.writes(*dtype)) {
                Some(number) => {
                    let values = if let Kind::Enum(e) = kind { Some(Values::new(e)) } else { None };
                    Ok(Value::Number(number, self.proof.column(*column, &rows, steps)?, values))
                }
                None => match Number::of(kind).map(Number::dtype) {
                    Some(DType::F32) => wrong("f16, bf16 or f32; cast wider floats"),
                    Some(DType::F64) => wrong("floats"),
                    Some(DType::Bool) => wrong("bool"),
                    _ => wrong("integers"),
                },
            },
            (_, _) => wrong("a number"),
        }
    }

    /// A time, a decimal or bytes of one width, in the form that a field of this kind gives them.
    fn spelled(
        &self,
        kind: &Kind,
        spelling: &Spelling,
        id: ColumnId,
        rows: Range<usize>,
        at: &Path,
    ) -> Result<Value<'a>> {
        let n = spelled::elements(spelling);
        let (Some(start), Some(end)) = (rows.start.checked_mul(n), rows.end.checked_mul(n)) else {
            return Err(refuse(at, "there are more bytes than can be counted".into(), "fewer"));
        };
        let column = self.proof.column(id, &(start..end), at.segments())?;
        if let Some(form) = Form::of(kind, spelling) {
            return Ok(Value::Spelled(form, spelling.clone(), column));
        }
        let counts =
            |number: &Number| spelling.is_time() && !matches!(kind, Kind::Enum(_)) && number.writes(spelling.dtype());
        match Number::of(kind).filter(counts) {
            Some(number) => Ok(Value::Number(number, column, None)),
            None => {
                let what = if spelling.is_time() { "a time" } else { "a value that is written as text" };
                Err(refuse(at, format!("a field of kind {kind:?} is given {what}"), fields_of(spelling)))
            }
        }
    }
}

/// Whether what is given of a field are lists without a value in every row.
fn is_never_there(plan: &Plan) -> bool {
    match plan {
        Plan::Fixed { size, .. } => *size == 0,
        Plan::Optional { inner, .. } => is_never_there(inner),
        _ => false,
    }
}

/// The first field that is, or is not, the message that an `Any` holds.
fn of_held<'f>(fields: &'f [Field<'_>], held: bool) -> Option<&'f str> {
    fields.iter().find(|field| held == matches!(field.value, Value::Held(..))).map(|field| &*field.name)
}

/// The writer of a field of a message.
fn writer<'a>(message: &MessageDescriptor, field: &Member, rule: Rule<'a>, value: Value<'a>) -> Field<'a> {
    let mut key = Vec::new();
    write_string(field.json_name().as_bytes(), &mut key);
    key.push(b':');
    Field {
        name: field.name().into(),
        key,
        map: field.is_map(),
        number: field.number(),
        rule,
        presence: field.has_presence() || field.repeats(),
        packed: field.repeats() && Number::of(&field.kind()).is_some() && field.is_packed(),
        oneof: field.oneof().and_then(|oneof| message.oneofs().position(|other| other == oneof)),
        chosen: None,
        value,
    }
}

fn refuse(at: &Path, what: String, wanted: &str) -> Error {
    refuse_at(at, what, wanted).at("encode")
}
