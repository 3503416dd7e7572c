//! Reading one message into columns, where nothing in it is odd.
//!
//! A message that a field has once is read where it stands, and not when the one around it ends: if more of it comes, that is odd.
//!
//! Invariant: what is read here the careful reader would have read to the same columns; where there is no answer, columns hold some of
//! the record, and taking it back is the caller's.

mod bytes;
mod ordered;

use super::meant::{Parts, push_text as push_spelled};
use super::node::{Field, Record, Rule, Value};
use super::number::{Number, push};
use super::push::{push_row, push_symbol};
use super::wire::{Span, Wire, WireType};
use crate::columns::{Column, Columns, SHORT, TextVec};
use crate::plan::ColumnId;
use bytes::{Bytes, Tag};
use ordered::Turn;

/// What is read of the fields of a message.
#[derive(Debug)]
pub struct Quick {
    /// The place of each step, one added, by its tag, which has the number of the field and how it is written; of the first fields by
    /// number.
    tags: Vec<u16>,
    /// One of each field, then those of packed numbers.
    steps: Vec<Step>,
    /// The fields of which a row of as many items as came is added when the message ends.
    rows: Vec<(usize, ColumnId)>,
    /// The other fields of which something is added then.
    others: Vec<(usize, End)>,
    /// The fields in the order in which they are mostly written; none if they are not read so.
    turns: Option<Vec<Turn>>,
}

/// A field that is not known, and read over.
const UNKNOWN: u16 = 0;

/// What the careful reader has to look at: a field that is written otherwise than it should be, or a group.
const ODD: u16 = u16::MAX;

/// The tags of numbers below this have two bytes at most.
const LOW: u32 = 1 << 8;

/// What is done with a field that is written in some way.
#[derive(Clone, Copy, Debug)]
struct Step {
    kind: Kind,
    column: Option<ColumnId>,
    /// The place of the field.
    field: usize,
    repeats: bool,
    /// Whether it takes other fields back.
    excludes: bool,
    /// Its place in the order of the numbers.
    turn: usize,
}

/// What a value is; what few have is [`Kind::Other`].
#[derive(Clone, Copy, Debug)]
enum Kind {
    I64,
    U64,
    I32,
    U32,
    Bool,
    F32,
    F64,
    Other,
    /// Packed numbers.
    Packed,
    Text {
        utf8: bool,
    },
    Message,
    Nothing,
}

/// When something is added that the rule of a field says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// If it did not come.
    Missing,
    Always,
}

impl Step {
    /// What is done with a field; none if it is not read quickly.
    fn of((place, field): (usize, &Field)) -> Option<Step> {
        let column = field.value.column();
        let kind = match &field.value {
            _ if matches!(field.rule, Rule::Member) || field.symbols.is_some() => return None,
            Value::Message { group: true, .. } | Value::Keyed(_) | Value::Union { .. } => return None,
            Value::Message { record: Some(record), .. } => record.quick.as_ref().map(|_| Kind::Message)?,
            Value::Number { number, .. } => match number {
                Number::Int64 => Kind::I64,
                Number::Uint64 => Kind::U64,
                Number::Int32 => Kind::I32,
                Number::Uint32 => Kind::U32,
                Number::Bool => Kind::Bool,
                Number::Float => Kind::F32,
                Number::Double => Kind::F64,
                Number::Sint32
                | Number::Sint64
                | Number::Fixed32
                | Number::Fixed64
                | Number::Sfixed32
                | Number::Sfixed64 => Kind::Other,
            },
            Value::Enum { .. } | Value::Spelled { .. } => Kind::Other,
            Value::Text { utf8, column: Some(_) } => Kind::Text { utf8: *utf8 },
            Value::Message { record: None, .. } | Value::Text { column: None, .. } | Value::Nothing => Kind::Nothing,
        };
        Some(Step {
            kind,
            column,
            field: place,
            repeats: field.rule.repeats(),
            excludes: !field.rivals.is_empty(),
            turn: 0,
        })
    }

    fn of_packed((place, field): (usize, &Field)) -> Step {
        let column = field.value.column();
        Step { kind: Kind::Packed, column, field: place, repeats: true, excludes: !field.rivals.is_empty(), turn: 0 }
    }
}

impl Quick {
    /// What is read of these fields, by their numbers and places; none if messages that hold them are not read quickly. Which are mostly
    /// packed is given where all fields of the message are needed: they are read in order.
    pub fn new(
        fields: &[Field],
        numbered: impl Iterator<Item = (u32, usize)> + Clone,
        is_packed: Option<impl Fn(usize) -> bool>,
    ) -> Option<Quick> {
        let mut steps = fields.iter().enumerate().map(Step::of).collect::<Option<Vec<_>>>()?;
        steps.extend((0..).zip(fields).filter(|(_, field)| may_be_packed(field)).map(Step::of_packed));
        if steps.len() >= usize::from(ODD) {
            return None;
        }
        let low = numbered.clone().filter(|(number, _)| *number < LOW);
        let last = low.clone().map(|(number, _)| number as usize).max().unwrap_or_default();
        let unknown = |tag: usize| {
            let is_group = matches!(WireType::of(tag as u64), None | Some(WireType::GroupStart | WireType::GroupEnd));
            if tag < 8 || is_group { ODD } else { UNKNOWN }
        };
        let mut tags: Vec<u16> = (0..(8 * (last + 1)).max(1 << 7)).map(unknown).collect();
        for (number, place) in low {
            for (wire, tag) in (0..).zip(&mut tags[8 * number as usize..][..8]) {
                let step = WireType::of(wire).and_then(|wire| step_of(fields, &steps, place, wire));
                *tag = step.and_then(|step| u16::try_from(step + 1).ok()).unwrap_or(ODD);
            }
        }
        let (mut rows, mut others) = (Vec::new(), Vec::new());
        for (place, field) in fields.iter().enumerate() {
            match field.rule {
                Rule::Each { offsets } => rows.extend(offsets.map(|id| (place, id))),
                Rule::Row { offsets } if field.presence => rows.extend(offsets.map(|id| (place, id))),
                Rule::One => others.push((place, End::Missing)),
                _ => others.push((place, End::Always)),
            }
        }
        let mut quick = Quick { tags, steps, rows, others, turns: None };
        quick.turns = is_packed.and_then(|is_packed| quick.turns_of(fields, numbered, is_packed));
        Some(quick)
    }
}

/// Whether its values may stand side by side, with one tag.
fn may_be_packed(field: &Field) -> bool {
    field.rule.repeats() && matches!(field.value, Value::Number { .. } | Value::Enum { .. })
}

/// What is done with a field that is written so; none if it may not be.
fn step_of(fields: &[Field], steps: &[Step], place: usize, wire: WireType) -> Option<usize> {
    let field = &fields[place];
    if wire == WireType::Bytes && may_be_packed(field) {
        return (fields.len()..steps.len()).find(|step| steps[*step].field == place);
    }
    let fits = match &field.value {
        Value::Number { number, .. } => number.wire() == wire,
        Value::Enum { .. } => wire == WireType::Varint,
        Value::Text { .. } | Value::Spelled { .. } | Value::Message { .. } => wire == WireType::Bytes,
        Value::Keyed(_) | Value::Union { .. } => false,
        Value::Nothing => true,
    };
    fits.then_some(place)
}

/// Reads records that have nothing odd: in the order of the numbers, until some have another.
#[derive(Clone, Default, Debug)]
pub struct Quickly {
    /// How long the columns were before.
    marks: Vec<usize>,
    no_order: bool,
}

impl Quickly {
    /// Reads all of these records, or none of them; what is no record is odd.
    pub fn all<'r>(
        &mut self,
        records: impl Iterator<Item = Option<&'r [u8]>> + Clone,
        root: &Record,
        columns: &mut Columns,
    ) -> bool {
        columns.mark(&mut self.marks);
        if !self.no_order && records.clone().all(|record| record.and_then(|r| read::<true>(r, root, columns)).is_some())
        {
            return true;
        }
        if !self.no_order {
            columns.roll_back(&self.marks);
            self.no_order = true;
        }
        let are_read = records.clone().all(|record| record.and_then(|r| read::<false>(r, root, columns)).is_some());
        if !are_read {
            columns.roll_back(&self.marks);
        }
        are_read
    }
}

/// Reads a record; none if there is anything odd in it. If it is `ORDERED`, another order than that of the numbers is odd too.
pub(super) fn read<const ORDERED: bool>(bytes: &[u8], root: &Record, columns: &mut Columns) -> Option<()> {
    let quick = root.quick.as_ref()?;
    Reader::<ORDERED> { bytes, columns }.message(root, quick, Span { start: 0, end: bytes.len() })
}

struct Reader<'a, 'j, const ORDERED: bool> {
    /// The record.
    bytes: &'j [u8],
    columns: &'a mut Columns,
}

/// So many fields are counted without asking for memory.
const FEW: usize = 16;

impl<const ORDERED: bool> Reader<'_, '_, ORDERED> {
    #[inline(always)]
    fn message(&mut self, record: &Record, quick: &Quick, part: Span) -> Option<()> {
        if ORDERED && let Some(turns) = &quick.turns {
            return self.in_order(record, quick, turns, part);
        }
        match [0; FEW].get_mut(..quick.steps.len()) {
            Some(counts) => self.fields(record, quick, part, counts),
            None => self.fields(record, quick, part, &mut vec![0; quick.steps.len()]),
        }
    }

    /// Reads the fields of a message, of none of which a value came.
    fn fields(&mut self, record: &Record, quick: &Quick, part: Span, counts: &mut [u32]) -> Option<()> {
        let wire = Bytes(self.bytes.get(..part.end)?);
        let mut at = part.start;
        while at < wire.0.len() {
            let (step, tag, value) = looked_up(record, quick, wire, at)?;
            at = match step.checked_sub(1) {
                Some(step) => self.field(record, quick.steps.get(step)?, counts, tag, wire, value)?,
                None => wire.skip(value, tag.kind())?,
            };
        }
        for &(place, id) in &quick.rows {
            let Some(Column::Offsets(offsets)) = self.columns.get_mut(id) else { return None };
            offsets.push_row(counts[place] as usize).then_some(())?;
        }
        for &(place, end) in &quick.others {
            if counts[place] == 0 || end == End::Always {
                self.end(&record.fields[place], counts[place])?;
            }
        }
        Some(())
    }

    /// Reads the values of a field, the first of which stands at a byte, counts them, and says where they end.
    #[inline(always)]
    fn field(
        &mut self,
        record: &Record,
        step: &Step,
        counts: &mut [u32],
        tag: Tag,
        wire: Bytes<'_>,
        at: usize,
    ) -> Option<usize> {
        let count = *counts.get(step.field)?;
        if count > 0 && !step.repeats {
            return None;
        }
        if step.excludes && record.fields[step.field].rivals.iter().any(|rival| counts[*rival] > 0) {
            return None;
        }
        let (came, at) = self.values(record, step, tag, wire, at)?;
        counts[step.field] = count.checked_add(came)?;
        Some(at)
    }

    /// Reads the values of a field, the first of which stands at a byte, and says how many came and where they end.
    #[inline(always)]
    fn values(
        &mut self,
        record: &Record,
        step: &Step,
        tag: Tag,
        wire: Bytes<'_>,
        mut at: usize,
    ) -> Option<(u32, usize)> {
        let mut came = 1;
        // Values of one field mostly follow one another.
        macro_rules! each {
            ($read:expr) => {{
                $read;
                while step.repeats && wire.has(tag, at) {
                    (at, came) = (at + tag.len(), came + 1);
                    $read;
                }
            }};
        }
        macro_rules! numbers {
            ($Kind:ident, $read:ident, $of:expr) => {
                match step.column.and_then(|id| self.columns.get_mut(id)) {
                    Some(Column::$Kind(numbers)) => each!({
                        let (value, end) = wire.$read(at)?;
                        at = end;
                        numbers.push($of(value));
                    }),
                    _ => (came, at) = self.other(&record.fields[step.field], wire, at)?,
                }
            };
        }
        match step.kind {
            Kind::I64 => numbers!(I64, varint, u64::cast_signed),
            Kind::U64 => numbers!(U64, varint, |value| value),
            Kind::I32 => numbers!(I32, varint, |value| (value as u32).cast_signed()),
            Kind::U32 => numbers!(U32, varint, |value| value as u32),
            Kind::Bool => numbers!(Bits, varint, |value| value != 0),
            Kind::F32 => numbers!(F32, take, f32::from_le_bytes),
            Kind::F64 => numbers!(F64, take, f64::from_le_bytes),
            Kind::Other => (came, at) = self.other(&record.fields[step.field], wire, at)?,
            Kind::Packed => (came, at) = self.packed(&record.fields[step.field], wire, at)?,
            Kind::Text { utf8 } => {
                let Some(Column::Text(texts)) = step.column.and_then(|id| self.columns.get_mut(id)) else {
                    return None;
                };
                each!({
                    let part = wire.sized(at)?;
                    at = part.end;
                    push_text(texts, self.bytes, part, utf8)?;
                });
            }
            Kind::Message => {
                let Value::Message { record: Some(record), .. } = &record.fields[step.field].value else { return None };
                let quick = record.quick.as_ref()?;
                each!({
                    let part = wire.sized(at)?;
                    at = part.end;
                    self.message(record, quick, part)?;
                });
            }
            // That a member of a oneof came which nobody needs still takes back the one that is needed.
            Kind::Nothing => at = wire.skip(at, tag.kind())?,
        }
        Some((came, at))
    }

    /// Reads packed numbers, and says how many values came and where they end.
    fn packed(&mut self, field: &Field, wire: Bytes<'_>, at: usize) -> Option<(u32, usize)> {
        let Value::Number { number, column } = &field.value else { return None };
        let column = column.and_then(|id| self.columns.get_mut(id));
        let part = wire.sized(at)?;
        let came = number.read_packed(&mut Wire::new(wire.0, part), column).ok()?;
        Some((u32::try_from(came).ok()?, part.end))
    }

    /// Reads a number that its column does not hold as it is, an enum, a time or a decimal, and says how many values came and where they end.
    fn other(&mut self, field: &Field, wire: Bytes<'_>, at: usize) -> Option<(u32, usize)> {
        match &field.value {
            Value::Number { number, column } => {
                let column = column.and_then(|id| self.columns.get_mut(id));
                let mut careful = Wire::new(wire.0, Span { start: at, end: wire.0.len() });
                let raw = number.read(&mut careful).ok()?;
                column.map_or(Some(()), |column| push(column, raw)).map(|()| (1, careful.at()))
            }
            Value::Enum { values, column } => {
                let (number, end) = wire.varint(at)?;
                // The lower half, as of every number of 32 bits.
                let number = (number as u32).cast_signed();
                if values.has(number) {
                    return push_symbol(self.columns, values, *column, number, 0).ok().map(|()| (1, end));
                }
                Some((0, end))
            }
            Value::Spelled { form, spelling, column } => {
                let column = self.columns.get_mut(*column)?;
                let part = wire.sized(at)?;
                if form.is_message() {
                    let mut time = Parts::default();
                    time.read(wire.0, part, &mut Vec::new()).ok()?;
                    time.push(*form, spelling, column, 0).ok()?;
                } else {
                    push_spelled(*form, spelling, wire.0.get(part.start..part.end)?, column, 0).ok()?;
                }
                Some((1, part.end))
            }
            _ => None,
        }
    }

    /// Adds what follows from how many values came.
    fn end(&mut self, field: &Field, count: u32) -> Option<()> {
        let there = count > 0 || !field.presence;
        match field.rule {
            Rule::Each { offsets } => return push_row(self.columns, offsets, count as usize, 0).ok(),
            Rule::Exactly { size } => return (count as usize == size).then_some(()),
            Rule::Rival => return Some(()),
            Rule::Member => return None,
            Rule::Maybe { validity } => self.columns.push_validity(validity, there),
            Rule::Row { offsets } => push_row(self.columns, offsets, usize::from(there), 0).ok()?,
            Rule::One if !there => return None,
            Rule::One => {}
        }
        match &field.value {
            _ if count > 0 => Some(()),
            Value::Message { record: Some(_), .. } if there => None,
            Value::Enum { values, column } if there => {
                push_symbol(self.columns, values, *column, values.default, 0).ok()
            }
            _ if there || matches!(field.rule, Rule::Maybe { .. }) => self.columns.push_defaults(&field.defaults).ok(),
            _ => Some(()),
        }
    }
}

/// Adds a text that stands there in a record.
#[inline(always)]
fn push_text(texts: &mut TextVec, record: &[u8], part: Span, utf8: bool) -> Option<()> {
    let len = part.end - part.start;
    // What may stand behind the message is not read, but copied.
    if len <= SHORT
        && let Some(bytes) = record.get(part.start..)?.first_chunk()
    {
        if utf8 && !is_ascii(bytes, len) {
            simdutf8::basic::from_utf8(&bytes[..len]).ok()?;
        }
        return texts.push_short(bytes, len).then_some(());
    }
    let text = record.get(part.start..part.end)?;
    if utf8 && !text.is_ascii() {
        simdutf8::basic::from_utf8(text).ok()?;
    }
    texts.push(text).then_some(())
}

/// Whether the first `len` of these bytes are ASCII.
#[inline(always)]
fn is_ascii(bytes: &[u8; SHORT], len: usize) -> bool {
    /// From the middle on, zeros: what stands behind a text is not looked at.
    const HIGHS: [u8; 2 * SHORT] = {
        let mut bytes = [0; 2 * SHORT];
        let mut i = 0;
        while i < SHORT {
            bytes[i] = 0x80;
            i += 1;
        }
        bytes
    };
    let highs = HIGHS[SHORT - len.min(SHORT)..].first_chunk().map_or(u128::MAX, |highs| u128::from_le_bytes(*highs));
    u128::from_le_bytes(*bytes) & highs == 0
}

/// Reads a tag: the place of the step, one added, and where the value starts, of which there is a byte or more; none if it is odd.
#[inline(always)]
fn looked_up(record: &Record, quick: &Quick, wire: Bytes<'_>, at: usize) -> Option<(usize, Tag, usize)> {
    let tag = Tag::of(wire.two(at)?);
    match tag.and_then(|tag| quick.tags.get(usize::from(tag.value)).map(|step| (step, tag))) {
        Some((&ODD, _)) => None,
        Some((step, tag)) => Some((usize::from(*step), tag, at + tag.len())),
        None => long_tag(record, quick, wire, at),
    }
}

/// Reads a tag of several bytes: the place of the step, one added, how it is written, and where the value starts.
#[cold]
fn long_tag(record: &Record, quick: &Quick, wire: Bytes<'_>, at: usize) -> Option<(usize, Tag, usize)> {
    let (tag, value) = wire.varint(at)?;
    let number = u32::try_from(tag >> 3).ok().filter(|number| (1..1 << 29).contains(number))?;
    let (wire, tag) = (WireType::of(tag)?, Tag::long(tag));
    match record.numbers.find(number) {
        None => Some((0, tag, value)),
        Some(place) => step_of(&record.fields, &quick.steps, place, wire).map(|step| (step + 1, tag, value)),
    }
}
