//! Reading one message into columns, where nothing in it is odd.
//!
//! A message that a field has once is read where it stands, and not when the one around it ends: if more of it comes, that is odd.
//!
//! Invariant: what is read here the careful reader would have read to the same columns; where there is no answer, columns hold some of
//! the record, and taking it back is the caller's.

use super::node::{Field, Record, Rule, Value};
use super::number::{Number, push};
use super::push::{push_row, push_symbol};
use super::wire::{Span, Wire, WireType};
use crate::columns::{Column, Columns};
use crate::plan::ColumnId;

/// The fields of a message by the byte of their tag, which has their number and how they are written.
#[derive(Debug)]
pub struct Tags([u8; 128]);

/// A field that is not known, and read over.
const UNKNOWN: u8 = 0;

/// What the careful reader has to look at: a field that is written otherwise than it should be, or a group.
const ODD: u8 = u8::MAX;

impl Tags {
    /// The tags of these fields; none if messages that hold them are not read quickly.
    pub fn new(fields: &[Field], mut place: impl FnMut(u32) -> Option<usize>) -> Option<Tags> {
        let is_quick = |field: &Field| match &field.value {
            Value::Message { group: true, .. } | Value::Keyed(_) | Value::Union { .. } => false,
            Value::Message { record: Some(record), .. } => record.tags.is_some(),
            Value::Message { record: None, .. }
            | Value::Number { .. }
            | Value::Enum { .. }
            | Value::Text { .. }
            | Value::Nothing => !matches!(field.rule, Rule::Member),
        };
        if fields.len() >= usize::from(ODD) || !fields.iter().all(is_quick) {
            return None;
        }
        let mut tags = [UNKNOWN; 128];
        for (tag, entry) in tags.iter_mut().enumerate() {
            let wire = WireType::of(tag as u64);
            *entry = match (place(tag as u32 >> 3), wire) {
                _ if tag < 8 => ODD,
                (_, None | Some(WireType::GroupStart | WireType::GroupEnd)) => ODD,
                (None, _) => UNKNOWN,
                (Some(place), Some(wire)) if fits(&fields[place], wire) => u8::try_from(place + 1).unwrap_or(ODD),
                (Some(_), Some(_)) => ODD,
            };
        }
        Some(Tags(tags))
    }
}

/// Whether a field may be written so.
fn fits(field: &Field, wire: WireType) -> bool {
    let packed = field.rule.repeats() && wire == WireType::Bytes;
    match &field.value {
        Value::Number { number, .. } => number.wire() == wire || packed,
        Value::Enum { .. } => wire == WireType::Varint || packed,
        Value::Text { .. } | Value::Message { .. } => wire == WireType::Bytes,
        Value::Keyed(_) | Value::Union { .. } => false,
        Value::Nothing => true,
    }
}

/// Reads a record; none if there is anything odd in it.
pub fn read(bytes: &[u8], root: &Record, columns: &mut Columns, counts: &mut Vec<usize>) -> Option<()> {
    let tags = root.tags.as_ref()?;
    counts.clear();
    Reader { bytes, columns, counts }.message(root, tags, Span { start: 0, end: bytes.len() })
}

struct Reader<'a, 'j> {
    bytes: &'j [u8],
    columns: &'a mut Columns,
    /// How many values came of each field of the messages that are open.
    counts: &'a mut Vec<usize>,
}

impl<'j> Reader<'_, 'j> {
    fn message(&mut self, record: &Record, tags: &Tags, part: Span) -> Option<()> {
        let base = self.counts.len();
        self.counts.resize(base + record.fields.len(), 0);
        let mut wire = Cursor { bytes: self.bytes.get(..part.end)?, at: part.start };
        while let Some(byte) = wire.bytes.get(wire.at) {
            let (place, kind) = match tags.0.get(usize::from(*byte)) {
                Some(&ODD) => return None,
                Some(entry) => {
                    wire.at += 1;
                    (usize::from(*entry), WireType::of(u64::from(*byte))?)
                }
                None => long_tag(record, &mut wire)?,
            };
            match place.checked_sub(1) {
                Some(place) => self.field(&record.fields[place], base, place, kind, &mut wire)?,
                None => wire.skip(kind)?,
            }
        }
        for (place, field) in record.fields.iter().enumerate() {
            self.end(field, self.counts[base + place])?;
        }
        self.counts.truncate(base);
        Some(())
    }

    #[inline]
    fn field(&mut self, field: &Field, base: usize, place: usize, kind: WireType, wire: &mut Cursor<'j>) -> Option<()> {
        let count = self.counts[base + place];
        if !field.rule.repeats() && count > 0 || field.rivals.iter().any(|rival| self.counts[base + rival] > 0) {
            return None;
        }
        let came = match &field.value {
            Value::Number { number, column } => self.number(*number, *column, field.rule.repeats(), kind, wire)?,
            Value::Text { utf8, column } => self.text(*utf8, *column, wire)?,
            Value::Enum { .. } if kind == WireType::Bytes => return None,
            Value::Enum { values, column } => {
                // The lower half, as of every number of 32 bits.
                let number = (wire.varint()? as u32).cast_signed();
                match values.has(number) {
                    true => push_symbol(self.columns, values, *column, number, 0).ok().map(|()| 1)?,
                    false => 0,
                }
            }
            Value::Message { record: Some(record), .. } => {
                let part = wire.sized()?;
                self.message(record, record.tags.as_ref()?, part)?;
                1
            }
            Value::Message { record: None, .. } => wire.sized().map(|_| 1)?,
            // That a member of a oneof came which nobody needs still takes back the one that is needed.
            Value::Nothing => wire.skip(kind).map(|()| 1)?,
            Value::Keyed(_) | Value::Union { .. } => return None,
        };
        self.counts[base + place] = count + came;
        Some(())
    }

    /// Reads one number or packed ones, and says how many.
    #[inline]
    fn number(
        &mut self,
        number: Number,
        column: Option<ColumnId>,
        repeats: bool,
        kind: WireType,
        wire: &mut Cursor<'j>,
    ) -> Option<usize> {
        let column = column.and_then(|id| self.columns.get_mut(id));
        if repeats && kind == WireType::Bytes {
            let part = wire.sized()?;
            return number.read_packed(&mut Wire::new(wire.bytes, part), column).ok();
        }
        match (number, column) {
            (_, None) => wire.skip(kind)?,
            (Number::Int64, Some(Column::I64(numbers))) => numbers.push(wire.varint()?.cast_signed()),
            (Number::Uint64, Some(Column::U64(numbers))) => numbers.push(wire.varint()?),
            (Number::Int32, Some(Column::I32(numbers))) => numbers.push((wire.varint()? as u32).cast_signed()),
            (Number::Uint32, Some(Column::U32(numbers))) => numbers.push(wire.varint()? as u32),
            (Number::Bool, Some(Column::Bits(bits))) => bits.push(wire.varint()? != 0),
            (Number::Float, Some(Column::F32(numbers))) => numbers.push(f32::from_le_bytes(wire.take()?)),
            (Number::Double, Some(Column::F64(numbers))) => numbers.push(f64::from_le_bytes(wire.take()?)),
            (number, Some(column)) => {
                let mut careful = Wire::new(wire.bytes, Span { start: wire.at, end: wire.bytes.len() });
                push(column, number.read(&mut careful).ok()?)?;
                wire.at = careful.at();
            }
        }
        Some(1)
    }

    #[inline]
    fn text(&mut self, utf8: bool, column: Option<ColumnId>, wire: &mut Cursor<'j>) -> Option<usize> {
        let part = wire.sized()?;
        let Some(Column::Text(texts)) = column.and_then(|id| self.columns.get_mut(id)) else { return Some(1) };
        let text = wire.bytes.get(part.start..part.end)?;
        if utf8 {
            simdutf8::basic::from_utf8(text).ok()?;
        }
        texts.push(text).then_some(1)
    }

    /// Adds what follows from how many values came.
    #[inline]
    fn end(&mut self, field: &Field, count: usize) -> Option<()> {
        let there = count > 0 || !field.presence;
        match field.rule {
            Rule::Each { offsets } => return push_row(self.columns, offsets, count, 0).ok(),
            Rule::Exactly { size } => return (count == size).then_some(()),
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

/// Reads a tag of several bytes: the place of the field, one added, and how it is written.
fn long_tag(record: &Record, wire: &mut Cursor<'_>) -> Option<(usize, WireType)> {
    let tag = wire.varint()?;
    let number = u32::try_from(tag >> 3).ok().filter(|number| (1..1 << 29).contains(number))?;
    let kind = WireType::of(tag)?;
    match record.numbers.find(number) {
        None => Some((0, kind)),
        Some(place) => fits(&record.fields[place], kind).then_some((place + 1, kind)),
    }
}

/// A message being read: its record to the end of it.
struct Cursor<'j> {
    bytes: &'j [u8],
    at: usize,
}

impl Cursor<'_> {
    #[inline]
    fn varint(&mut self) -> Option<u64> {
        let first = *self.bytes.get(self.at)?;
        if first < 0x80 {
            self.at += 1;
            return Some(u64::from(first));
        }
        match self.bytes.get(self.at..)?.first_chunk() {
            Some(eight) => self.eight(u64::from_le_bytes(*eight)),
            None => self.long_varint(),
        }
    }

    /// The varint that eight bytes begin with: groups of seven bits are moved together, neighbours first.
    #[inline]
    fn eight(&mut self, bytes: u64) -> Option<u64> {
        const LAST: u64 = 0x8080_8080_8080_8080;
        let ends = !bytes & LAST;
        if ends == 0 {
            return self.long_varint();
        }
        // All bits up to the one that ends it.
        let bits = bytes & (ends ^ (ends - 1)) & !LAST;
        let bits = bits & 0x007f_007f_007f_007f | (bits & 0x7f00_7f00_7f00_7f00) >> 1;
        let bits = bits & 0x0000_3fff_0000_3fff | (bits & 0x3fff_0000_3fff_0000) >> 2;
        self.at += ends.trailing_zeros() as usize / 8 + 1;
        Some(bits & 0x0fff_ffff | (bits & 0x0fff_ffff_0000_0000) >> 4)
    }

    #[cold]
    fn long_varint(&mut self) -> Option<u64> {
        let mut careful = Wire::new(self.bytes, Span { start: self.at, end: self.bytes.len() });
        let value = careful.varint().ok()?;
        self.at = careful.at();
        Some(value)
    }

    #[inline]
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let chunk = self.bytes.get(self.at..)?.first_chunk::<N>()?;
        self.at += N;
        Some(*chunk)
    }

    /// Reads over a length and as many bytes, and says where these are.
    #[inline]
    fn sized(&mut self) -> Option<Span> {
        let len = usize::try_from(self.varint()?).ok()?;
        let (start, end) = (self.at, self.at.checked_add(len)?);
        self.at = end;
        (end <= self.bytes.len()).then_some(Span { start, end })
    }

    #[inline]
    fn skip(&mut self, kind: WireType) -> Option<()> {
        match kind {
            WireType::Varint => self.varint().map(drop),
            WireType::Fixed64 => self.take::<8>().map(drop),
            WireType::Fixed32 => self.take::<4>().map(drop),
            WireType::Bytes => self.sized().map(drop),
            WireType::GroupStart | WireType::GroupEnd => None,
        }
    }
}
