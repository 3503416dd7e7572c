//! Encoding: borrowed columns to messages.
//!
//! Invariant: fields come in the order of the plan, members of oneofs last; repeated numbers as the descriptor says (packed or not), and what a message of its own
//! may leave out (a default without presence) is left out; so the same columns give the same bytes. Nothing outside the columns is read.

use super::enums::Values;
use super::json::Known;
use super::member::{Member, names};
use super::node::{member, oneof, refuse as refuse_at};
use super::number::{Number, Raw};
use super::put::{put_key, put_number, put_sized, put_varint};
use super::schema::MessageType;
use super::wire::WireType;
use crate::columns::{BitsRef, ColumnRef, OffsetsRef, TextRef, TextVec};
use crate::failure::{Failure, Read};
use crate::json::write_string;
use crate::plan::{self, Plan};
use crate::prove::Proof;
use extenso_core::side_by_side;
use extenso_types::{DType, Error, Path, Result, Segment};
use prost_reflect::{Kind, MessageDescriptor, OneofDescriptor};
use std::ops::Range;
use std::sync::Arc;

/// Writes the records of the columns as messages of this type, in parts that follow each other and are written side by side.
///
/// Errors, each with its path: the plan (see [`Plan::kinds`]), and a plan that the message cannot hold; a column of another kind or too short;
/// with its row: a number that its field cannot hold, two values of a field that has one, two members of a oneof, an enum's name that
/// does not exist.
pub fn encode(
    message: &MessageType,
    plan: &Plan,
    columns: &[ColumnRef<'_>],
    parts: Vec<Range<usize>>,
) -> Result<TextVec> {
    let writer = prepared(message, plan, columns, 0..parts.last().map_or(0, |part| part.end))?;
    let written = side_by_side(parts, |part| texts(&writer, part, |_| true));
    TextVec::joined(written.into_iter().collect::<Result<_>>()?).map_err(|e| e.at("encode"))
}

/// The message of each of these rows, and an empty text for those that are not there.
///
/// Errors: as [`encode`].
pub(crate) fn encode_texts(
    message: &MessageType,
    plan: &Plan,
    columns: &[ColumnRef<'_>],
    rows: Range<usize>,
    is_there: impl Fn(usize) -> bool,
) -> Result<TextVec> {
    texts(&prepared(message, plan, columns, rows.clone())?, rows, is_there)
}

fn texts(writer: &Record<'_>, rows: Range<usize>, is_there: impl Fn(usize) -> bool) -> Result<TextVec> {
    let (mut texts, mut bytes) = (TextVec::new(DType::I64)?, Vec::new());
    for row in rows {
        bytes.clear();
        if is_there(row) {
            writer.write(row, &mut bytes).map_err(|failure| failure.of_row(row).at("encode"))?;
        }
        if !texts.push(&bytes) {
            return Err(Error::value("the messages are longer than offsets can count").at("encode"));
        }
    }
    Ok(texts)
}

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

/// A message, with the columns of its fields.
pub struct Record<'a> {
    pub fields: Vec<Field<'a>>,
    /// The JSON form that it has of its own.
    pub known: Option<Known>,
}

pub struct Field<'a> {
    pub name: Arc<str>,
    /// What stands before the value in JSON: `"name":`.
    pub key: Vec<u8>,
    number: u32,
    pub rule: Rule<'a>,
    /// Whether a default is written too.
    pub presence: bool,
    packed: bool,
    pub map: bool,
    /// The oneof that it belongs to.
    oneof: Option<usize>,
    /// The tags of the union that it is a type of, and its own.
    chosen: Option<(&'a [i8], i8)>,
    pub value: Value<'a>,
}

/// Which values of its column a row has.
#[derive(Clone, Copy)]
pub enum Rule<'a> {
    One,
    Maybe(Option<BitsRef<'a>>),
    Row(OffsetsRef<'a>),
    Each(OffsetsRef<'a>),
    Exactly(usize),
}

pub enum Value<'a> {
    /// A number; with the values of its enum, if it is of one.
    Number(Number, ColumnRef<'a>, Option<Arc<Values>>),
    Name(Arc<Values>, TextRef<'a>),
    /// A text, which is a string or any bytes.
    Text(TextRef<'a>, bool),
    Message(Record<'a>, bool),
}

impl Record<'_> {
    fn write(&self, row: usize, out: &mut Vec<u8>) -> Read<()> {
        self.each(row, |field, items| field.write(items, out))
    }

    /// Calls `f` with each field and the places of its values in a row.
    pub fn each(&self, row: usize, mut f: impl FnMut(&Field<'_>, Range<usize>) -> Read<()>) -> Read<()> {
        let mut taken: Option<(usize, &str)> = None;
        for field in &self.fields {
            let inside = |e: Box<Failure>| e.inside(Segment::Field(field.name.clone()));
            let items = field.items(row).map_err(inside)?;
            if let Some(oneof) = field.oneof.filter(|_| !items.is_empty()) {
                match taken {
                    Some((other, name)) if other == oneof => return Err(inside(both(name))),
                    _ => taken = Some((oneof, &field.name)),
                }
            }
            f(field, items).map_err(inside)?;
        }
        Ok(())
    }
}

impl Field<'_> {
    /// Whether it is repeated.
    pub fn repeats(&self) -> bool {
        matches!(self.rule, Rule::Each(_) | Rule::Exactly(_))
    }

    /// The places of the row's values.
    pub fn items(&self, row: usize) -> Read<Range<usize>> {
        let items = self.of_rule(row)?;
        Ok(match self.chosen {
            Some((tags, tag)) if tags.get(items.start) != Some(&tag) => items.start..items.start,
            _ => items,
        })
    }

    fn of_rule(&self, row: usize) -> Read<Range<usize>> {
        Ok(match &self.rule {
            Rule::One => row..row + 1,
            Rule::Maybe(Some(bits)) if !bits.get(row) => row..row,
            Rule::Maybe(_) => row..row + 1,
            Rule::Each(offsets) => bounds(offsets, row),
            Rule::Exactly(size) => row * size..(row + 1) * size,
            Rule::Row(offsets) => {
                let items = bounds(offsets, row);
                if items.len() > 1 {
                    let error = Error::value(format!("{} values stand here", items.len()));
                    return Err(Failure::new(0, error.wanted("one at most, because the field is not repeated")));
                }
                items
            }
        })
    }

    fn write(&self, items: Range<usize>, out: &mut Vec<u8>) -> Read<()> {
        if self.packed && !items.is_empty() {
            put_key(self.number, WireType::Bytes, out);
            return put_sized(out, |out| {
                let write = |(n, i)| self.value.write(i, out).map_err(|e| e.inside(Segment::Index(n)));
                items.enumerate().try_for_each(write)
            });
        }
        for (n, i) in items.enumerate() {
            let before = out.len();
            put_key(self.number, self.value.wire(), out);
            let start = out.len();
            let written = self.value.write(i, out);
            written.map_err(|e| if matches!(self.rule, Rule::Each(_)) { e.inside(Segment::Index(n)) } else { e })?;
            if matches!(self.value, Value::Message(_, true)) {
                put_key(self.number, WireType::GroupEnd, out);
            }
            let is_default = !self.presence && out[start..].iter().all(|byte| *byte == 0);
            if is_default && !matches!(self.rule, Rule::Each(_) | Rule::Exactly(_)) {
                out.truncate(before);
            }
        }
        Ok(())
    }
}

impl Value<'_> {
    fn wire(&self) -> WireType {
        match self {
            Value::Number(number, ..) => number.wire(),
            Value::Name(..) => WireType::Varint,
            Value::Text(..) | Value::Message(_, false) => WireType::Bytes,
            Value::Message(_, true) => WireType::GroupStart,
        }
    }

    fn write(&self, i: usize, out: &mut Vec<u8>) -> Read<()> {
        match self {
            Value::Number(number, column, _) => {
                let raw = raw_at(column, i);
                raw.and_then(|raw| put_number(*number, raw, out)).ok_or_else(|| unfit(*number, raw))
            }
            Value::Name(values, text) => {
                put_varint(i64::from(number_of(values, text_at(text, i))?).cast_unsigned(), out);
                Ok(())
            }
            Value::Text(text, _) => {
                let text = text_at(text, i);
                put_sized(out, |out| {
                    out.extend_from_slice(text);
                    Ok(())
                })
            }
            Value::Message(record, false) => put_sized(out, |out| record.write(i, out)),
            Value::Message(record, true) => record.write(i, out),
        }
    }
}

/// The number of a name of an enum.
pub fn number_of(values: &Values, name: &[u8]) -> Read<i32> {
    let name = String::from_utf8_lossy(name);
    values.number(&name).ok_or_else(|| {
        let error = Error::value(format!("the enum has no '{}'", name.chars().take(40).collect::<String>()));
        Failure::new(0, error.wanted("a name of the enum"))
    })
}

/// The failure of a number that its field cannot hold.
#[cold]
pub fn unfit(number: Number, raw: Option<Raw>) -> Box<Failure> {
    let came = raw.map_or_else(|| "no number".to_string(), |raw| format!("the number {raw}"));
    let error = Error::value(format!("{came} stands here"));
    Failure::new(0, error.wanted(format!("one that fits {}", number.dtype())))
}

#[cold]
fn both(other: &str) -> Box<Failure> {
    let error = Error::value(format!("this member of a oneof and '{other}' are both there"));
    Failure::new(0, error.wanted("one at most"))
}

fn bounds(offsets: &OffsetsRef<'_>, row: usize) -> Range<usize> {
    offsets.get(row).unwrap_or(0)..offsets.get(row + 1).unwrap_or(0)
}

pub fn text_at<'a>(text: &TextRef<'a>, i: usize) -> &'a [u8] {
    text.bytes.get(bounds(&text.offsets, i)).unwrap_or_default()
}

pub fn raw_at(column: &ColumnRef<'_>, i: usize) -> Option<Raw> {
    Some(match column {
        ColumnRef::Bits(bits) => Raw::Bool(bits.get(i)),
        ColumnRef::I8(numbers) => Raw::Signed((*numbers.get(i)?).into()),
        ColumnRef::I16(numbers) => Raw::Signed((*numbers.get(i)?).into()),
        ColumnRef::I32(numbers) => Raw::Signed((*numbers.get(i)?).into()),
        ColumnRef::I64(numbers) => Raw::Signed(*numbers.get(i)?),
        ColumnRef::U8(numbers) => Raw::Unsigned((*numbers.get(i)?).into()),
        ColumnRef::U16(numbers) => Raw::Unsigned((*numbers.get(i)?).into()),
        ColumnRef::U32(numbers) => Raw::Unsigned((*numbers.get(i)?).into()),
        ColumnRef::U64(numbers) => Raw::Unsigned(*numbers.get(i)?),
        ColumnRef::F32(numbers) => Raw::Float(*numbers.get(i)?),
        ColumnRef::F64(numbers) => Raw::Double(*numbers.get(i)?),
        ColumnRef::F16(_) | ColumnRef::BF16(_) | ColumnRef::Text(_) | ColumnRef::Offsets(_) => return None,
    })
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

/// A plan and the columns, being brought together.
struct Prepare<'c, 'a> {
    proof: Proof<'c, 'a>,
}

impl<'a> Prepare<'_, 'a> {
    fn record(&self, message: &MessageDescriptor, plan: &Plan, rows: Range<usize>, at: &Path) -> Result<Record<'a>> {
        let Plan::Record { fields } = plan else {
            return Err(refuse(at, format!("no struct is written as message {}", message.full_name()), "a struct"));
        };
        let given = |name: &str| fields.iter().any(|field| *field.name == *name && field.plan != Plan::Skip);
        if let Some(missing) = message.fields().find(|field| field.is_required() && !given(field.name())) {
            let what = format!("message {} requires '{}'", message.full_name(), missing.name());
            return Err(refuse(at, what, "that field"));
        }
        let mut writers = Vec::new();
        for plan::Field { name, plan } in fields.iter().filter(|field| field.plan != Plan::Skip) {
            let at = at.child(Segment::Field(name.clone()));
            if let Some(oneof) = oneof(message, name) {
                self.union(message, &oneof, plan, rows.clone(), &at, &mut writers)?;
                continue;
            }
            let Some(member) = Member::find(message, name) else {
                let what = format!("message {} has no field '{name}'", message.full_name());
                return Err(refuse(&at, what, &format!("one of {}", names(message))));
            };
            writers.push(self.field(message, &member, plan, rows.clone(), &at)?);
        }
        // The members of one oneof stand together, so that the last one seen tells of all.
        writers.sort_by_key(|field| field.oneof.map_or(0, |oneof| oneof + 1));
        Ok(Record { fields: writers, known: Known::of(message) })
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
                "a oneof is given another value".into(),
                "a union, masked or in a list of no or one",
            ));
        };
        let ColumnRef::I8(tags) = self.proof.column(*tags, &items, at.segments())? else {
            return Err(refuse(at, "the tags are no i8".into(), "i8"));
        };
        for (tag, plan::Field { name, plan }) in (0_i8..).zip(children) {
            let at = at.child(Segment::Field(name.clone()));
            let member = Member::Field(member(oneof, name, &at)?);
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
            Plan::Optional { validity, inner } => {
                let bits = validity.map(|id| self.proof.bits(id, &rows, at.segments())).transpose()?.flatten();
                (Rule::Maybe(bits), &**inner, rows)
            }
            one => (Rule::One, one, rows),
        })
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
        let (rule, inner, items) = match plan {
            Plan::List { offsets, item, .. } if repeated => {
                let (offsets, items) = self.proof.list(*offsets, &rows, steps)?;
                (Rule::Each(offsets), &**item, items)
            }
            Plan::Fixed { size, item } if repeated => {
                let (Some(start), Some(end)) = (rows.start.checked_mul(*size), rows.end.checked_mul(*size)) else {
                    return Err(refuse(at, "there are more items than can be counted".into(), "fewer"));
                };
                (Rule::Exactly(*size), &**item, start..end)
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
        let wrong = |wanted: &str| Err(refuse(at, format!("a field of kind {kind:?} is given another value"), wanted));
        match (&kind, plan) {
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
                    Some(DType::F32) => wrong("f32; cast wider floats"),
                    Some(DType::F64) => wrong("f32 or f64"),
                    Some(DType::Bool) => wrong("bool"),
                    _ => wrong("integers"),
                },
            },
            (_, _) => wrong("a number"),
        }
    }
}

fn refuse(at: &Path, what: String, wanted: &str) -> Error {
    refuse_at(at, what, wanted).at("encode")
}
