//! Reading one message into columns.
//!
//! Fields go into different columns, so they are written as they come, and only the order within one field matters. A message that a field has
//! once is read when the one around it ends, because more of it may come until then.
//!
//! What is usual is read by `quick`, which has no answer where something is odd: then the record is read again here.
//!
//! Invariant: recursion follows the plan; every byte is looked at once for each message around it at most. On a failure the columns are left as
//! they are; taking the row back is the caller's.

use super::entries::{Found, is_entry, is_symbol};
use super::enums::Values;
use super::example::Examples;
use super::meant::{self, Form};
use super::node::{Field, Record, Rule, Value};
use super::number::{Number, Raw};
use super::push::{fill, missing, push_number, push_row, push_symbol, push_union, push_validity, pushed, wrong_size};
use super::quick::Quickly;
use super::wire::{Span, Tag, Wire, WireType};
use crate::columns::{Column, Columns};
use crate::failure::{Failure, Read};
use crate::plan::ColumnId;
use extenso_ext::Spelling;
use extenso_types::{Error, Segment};
use std::ops::Range;

/// Buffers that outlive a record.
#[derive(Clone, Default, Debug)]
pub struct Scratch {
    pub(super) quickly: Quickly,
    /// What came of each field of the messages that are open.
    slots: Vec<Slot>,
    /// The later parts of messages that came in several.
    parts: Vec<Part>,
    /// The numbers of open groups that are read over.
    groups: Vec<u32>,
}

/// What came of a field.
#[derive(Clone, Copy, Default, Debug)]
struct Slot {
    /// How many values, or parts of one message.
    count: usize,
    /// The first part.
    first: Span,
    /// The place of `parts` behind which its later parts may stand.
    since: usize,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    slot: usize,
    span: Span,
}

/// Where a value of a field goes.
#[derive(Clone, Copy)]
struct Goal {
    column: Option<ColumnId>,
    /// How many elements of the column it has.
    elements: usize,
    rule: Rule,
    slot: usize,
}

impl Scratch {
    /// Reads a record: quickly, and if that finds anything odd, carefully.
    pub fn read(&mut self, bytes: &[u8], root: &Record, columns: &mut Columns) -> Read<()> {
        if root.quick.is_some() && self.quickly.all(std::iter::once(Some(bytes)), root, columns) {
            return Ok(());
        }
        self.read_carefully(bytes, root, columns)
    }

    /// Reads a record, and says what is wrong with it.
    pub(super) fn read_carefully(&mut self, bytes: &[u8], root: &Record, columns: &mut Columns) -> Read<()> {
        self.slots.clear();
        self.parts.clear();
        let whole = Span { start: 0, end: bytes.len() };
        Reader { bytes, columns, scratch: self }.message(root, Some(whole), 0..0)
    }

    /// Reads an example.
    pub fn read_example(&mut self, bytes: &[u8], maps: &Examples, columns: &mut Columns) -> Read<()> {
        maps.read(bytes, &mut self.groups, columns)
    }
}

/// One record being read.
struct Reader<'a, 'j> {
    bytes: &'j [u8],
    columns: &'a mut Columns,
    scratch: &'a mut Scratch,
}

impl Reader<'_, '_> {
    /// Reads a message, which may come in parts: the first, and later ones.
    fn message(&mut self, record: &Record, first: Option<Span>, later: Range<usize>) -> Read<()> {
        let (base, parts) = (self.scratch.slots.len(), self.scratch.parts.len());
        self.scratch.slots.resize(base + record.fields.len(), Slot::default());
        if let Some(lookup) = record.lookup.as_ref().filter(|lookup| lookup.has_fields()) {
            let Scratch { parts, groups, .. } = &mut *self.scratch;
            let later = parts.get(later.clone()).unwrap_or_default();
            let spans = first.into_iter().chain(later.iter().map(|part| part.span));
            if let Some(found) = lookup.find(self.bytes, spans, groups)? {
                self.looked_up(record, base, found)?;
            }
        }
        if let Some(first) = first {
            self.part(record, first, base)?;
        }
        for i in later {
            self.part(record, self.scratch.parts[i].span, base)?;
        }
        self.sort_parts(base, parts);
        let start = first.map_or(0, |span| span.start);
        for (place, field) in record.fields.iter().enumerate() {
            let end = match &field.value {
                Value::Union { tags, members } => {
                    let at = |place: &usize| (&record.fields[*place], base + place);
                    self.union(field, *tags, members.iter().map(at), parts, start)
                }
                _ => self.end(field, base + place, parts, start),
            };
            end.map_err(|e| e.inside(Segment::Field(field.name.clone())))?;
        }
        self.scratch.slots.truncate(base);
        self.scratch.parts.truncate(parts);
        Ok(())
    }

    fn part(&mut self, record: &Record, part: Span, base: usize) -> Read<()> {
        if let Some(lookup) = record.lookup.as_ref().filter(|lookup| !lookup.has_fields()) {
            return match lookup.find(self.bytes, std::iter::once(part), &mut self.scratch.groups)? {
                Some(found) => self.looked_up(record, base, found),
                None => Ok(()),
            };
        }
        let mut wire = Wire::new(self.bytes, part);
        while !wire.is_done() {
            let tag = wire.tag()?;
            match record.numbers.find(tag.number) {
                Some(place) => {
                    let read = self.field(record, place, base, tag, &mut wire);
                    read.map_err(|e| e.inside(Segment::Field(record.fields[place].name.clone())))?;
                }
                None => drop(wire.skip(tag, &mut self.scratch.groups)?),
            }
        }
        Ok(())
    }

    /// Reads the value that was looked up, in place of what came of it before; without a value it has its default.
    fn looked_up(&mut self, record: &Record, base: usize, found: Found) -> Read<()> {
        let name = &record.fields[found.place].name;
        self.value_found(record, base, found).map_err(|e| e.inside(Segment::Field(name.clone())))
    }

    fn value_found(&mut self, record: &Record, base: usize, Found { place, value, end }: Found) -> Read<()> {
        let field = &record.fields[place];
        self.take_back(&field.value, base + place);
        if let Some((tag, behind)) = value {
            return self.field(record, place, base, tag, &mut Wire::new(self.bytes, behind));
        }
        let since = self.scratch.parts.len();
        self.scratch.slots[base + place] = Slot { count: 1, first: Span { start: end, end }, since };
        match &field.value {
            Value::Message { .. } | Value::Keyed(_) | Value::Union { .. } | Value::Nothing => Ok(()),
            Value::Enum { values, column } => push_symbol(self.columns, values, *column, values.default, end),
            Value::Spelled { form, .. } if form.is_message() => Ok(()),
            Value::Spelled { .. } => Err(missing(end)),
            Value::Number { .. } | Value::Text { .. } => fill(self.columns, &field.defaults, end),
        }
    }

    fn field(&mut self, record: &Record, place: usize, base: usize, tag: Tag, wire: &mut Wire<'_>) -> Read<()> {
        let field = &record.fields[place];
        if self.is_unknown(field, tag, *wire)? {
            return wire.skip(tag, &mut self.scratch.groups).map(drop);
        }
        for rival in &field.rivals {
            self.take_back(&record.fields[*rival].value, base + rival);
        }
        let (column, elements) = (field.value.column(), field.value.elements());
        let goal = Goal { column, elements, rule: field.rule, slot: base + place };
        match &field.value {
            Value::Number { number, .. } => self.number(*number, goal, tag, wire),
            Value::Enum { values, .. } => self.symbols(values, goal, tag, wire),
            Value::Text { utf8, .. } => self.text(*utf8, goal, tag, wire),
            Value::Spelled { form, spelling, .. } if form.is_message() => self.time(*form, spelling, goal, tag, wire),
            Value::Spelled { form, spelling, .. } => self.spelled(*form, spelling, goal, tag, wire),
            Value::Message { record, group } => self.nested(record.as_deref(), *group, goal, tag, wire),
            Value::Keyed(record) => self.nested(Some(record), false, goal, tag, wire),
            // A union has no number; its members have.
            Value::Union { .. } | Value::Nothing => wire.skip(tag, &mut self.scratch.groups).map(drop),
        }
    }

    /// Whether it is a number that a closed enum does not have, or an entry of one, which count as not there.
    fn is_unknown(&mut self, field: &Field, tag: Tag, mut wire: Wire<'_>) -> Read<bool> {
        Ok(match (&field.value, &field.symbols) {
            (Value::Enum { values, .. }, _) if !field.rule.repeats() => !is_symbol(values, tag, wire)?,
            (_, Some(values)) if tag.wire == WireType::Bytes => {
                let entry = wire.sized()?;
                !is_entry(values, self.bytes, entry, &mut self.scratch.groups)?
            }
            _ => false,
        })
    }

    /// Forgets what came of a field that has at most one value.
    fn take_back(&mut self, value: &Value, slot: usize) {
        if self.scratch.slots[slot].count > 0 {
            // A message that a field has once is read when the one around it ends.
            let waits = matches!(value, Value::Spelled { form, .. } if form.is_message());
            if let Some(column) = value.column().filter(|_| !waits).and_then(|id| self.columns.get_mut(id)) {
                column.truncate(column.len().saturating_sub(value.elements()));
            }
            self.scratch.slots[slot] = Slot::default();
        }
    }

    /// Makes room for a value: of a field that has one at most, the earlier one goes.
    fn begin(&mut self, goal: Goal) {
        let slot = &mut self.scratch.slots[goal.slot];
        if slot.count > 0 && !goal.rule.repeats() {
            if let Some(column) = goal.column.and_then(|id| self.columns.get_mut(id)) {
                column.truncate(column.len().saturating_sub(goal.elements));
            }
            slot.count = 0;
        }
        slot.count += 1;
    }

    fn number(&mut self, number: Number, goal: Goal, tag: Tag, wire: &mut Wire<'_>) -> Read<()> {
        if tag.wire == WireType::Bytes && goal.rule.repeats() {
            let span = wire.sized()?;
            let column = goal.column.and_then(|id| self.columns.get_mut(id));
            let n = number.read_packed(&mut Wire::new(self.bytes, span), column);
            let slot = &mut self.scratch.slots[goal.slot];
            slot.count += n.map_err(|e| e.inside(Segment::Each))?;
            return Ok(());
        }
        expect(tag, number.wire())?;
        let at = wire.at();
        let raw = number.read(wire)?;
        self.begin(goal);
        push_number(self.columns, goal.column, raw, at)
    }

    /// Reads numbers of an enum, one or packed ones.
    fn symbols(&mut self, values: &Values, goal: Goal, tag: Tag, wire: &mut Wire<'_>) -> Read<()> {
        if tag.wire == WireType::Bytes && goal.rule.repeats() {
            let span = wire.sized()?;
            let mut packed = Wire::new(self.bytes, span);
            while !packed.is_done() {
                self.symbol(values, goal, &mut packed).map_err(|e| e.inside(Segment::Each))?;
            }
            return Ok(());
        }
        expect(tag, WireType::Varint)?;
        self.symbol(values, goal, wire)
    }

    fn symbol(&mut self, values: &Values, goal: Goal, wire: &mut Wire<'_>) -> Read<()> {
        let at = wire.at();
        let number = match Number::Int32.read(wire)? {
            Raw::Signed(number) => i32::try_from(number).unwrap_or_default(),
            Raw::Bool(_) | Raw::Unsigned(_) | Raw::Float(_) | Raw::Double(_) => 0,
        };
        if !values.has(number) {
            return Ok(());
        }
        self.begin(goal);
        push_symbol(self.columns, values, goal.column, number, at)
    }

    fn text(&mut self, utf8: bool, goal: Goal, tag: Tag, wire: &mut Wire<'_>) -> Read<()> {
        expect(tag, WireType::Bytes)?;
        let span = wire.sized()?;
        self.begin(goal);
        let Some(Column::Text(texts)) = goal.column.and_then(|id| self.columns.get_mut(id)) else { return Ok(()) };
        let text = wire.bytes(span);
        if utf8 {
            check_utf8(text, span.start)?;
        }
        pushed(texts.push(text), span.start)
    }

    /// Reads what a string or bytes are.
    fn spelled(&mut self, form: Form, spelling: &Spelling, goal: Goal, tag: Tag, wire: &mut Wire<'_>) -> Read<()> {
        expect(tag, WireType::Bytes)?;
        let span = wire.sized()?;
        self.begin(goal);
        let Some(column) = goal.column.and_then(|id| self.columns.get_mut(id)) else { return Ok(()) };
        meant::push_text(form, spelling, wire.bytes(span), column, span.start)
    }

    /// Reads one of several times or durations that are messages; one that a field has once is read when the message ends.
    fn time(&mut self, form: Form, spelling: &Spelling, goal: Goal, tag: Tag, wire: &mut Wire<'_>) -> Read<()> {
        let (n, start) = (self.scratch.slots[goal.slot].count, wire.at());
        self.nested(None, false, goal, tag, wire)?;
        if !goal.rule.repeats() {
            return Ok(());
        }
        let part = Wire::new(self.bytes, Span { start, end: wire.at() }).sized()?;
        self.time_of(form, spelling, goal.column, [part].into_iter()).map_err(|e| e.inside(Segment::Index(n)))
    }

    /// Adds a time or a duration of these parts.
    fn time_of(
        &mut self,
        form: Form,
        spelling: &Spelling,
        column: Option<ColumnId>,
        parts: impl Iterator<Item = Span>,
    ) -> Read<()> {
        let (mut time, mut at) = (meant::Parts::default(), 0);
        for part in parts {
            at = part.start;
            time.read(self.bytes, part, &mut self.scratch.groups)?;
        }
        match column.and_then(|id| self.columns.get_mut(id)) {
            Some(column) => time.push(form, spelling, column, at),
            None => Ok(()),
        }
    }

    /// Adds a time or a duration that came in so many parts.
    fn time_once(&mut self, value: &Value, slot: usize, parts: usize, count: usize) -> Read<()> {
        let Value::Spelled { form, spelling, column } = value else { return Ok(()) };
        let later = self.later(slot, parts, count);
        let first = std::iter::once(self.scratch.slots[slot].first);
        let all: Vec<Span> = first.chain(self.scratch.parts[later].iter().map(|part| part.span)).collect();
        self.time_of(*form, spelling, Some(*column), all.into_iter())
    }

    fn nested(&mut self, record: Option<&Record>, group: bool, goal: Goal, tag: Tag, wire: &mut Wire<'_>) -> Read<()> {
        expect(tag, if group { WireType::GroupStart } else { WireType::Bytes })?;
        let span = if group { wire.group(tag, &mut self.scratch.groups)? } else { wire.sized()? };
        let (later, came) = (self.scratch.parts.len(), &mut self.scratch.slots[goal.slot]);
        if goal.rule.repeats() {
            came.count += 1;
            let n = came.count - 1;
            return match record {
                Some(record) => self.message(record, Some(span), 0..0).map_err(|e| e.inside(Segment::Index(n))),
                None => Ok(()),
            };
        }
        if came.count == 0 {
            *came = Slot { count: 1, first: span, since: later };
        } else {
            came.count += 1;
            self.scratch.parts.push(Part { slot: goal.slot, span });
        }
        Ok(())
    }

    /// Drops parts of messages that were taken back, and brings those of one field together.
    fn sort_parts(&mut self, base: usize, from: usize) {
        let Scratch { slots, parts, .. } = &mut *self.scratch;
        if parts.len() == from {
            return;
        }
        let mut kept = from;
        for i in from..parts.len() {
            let part = parts[i];
            if slots[part.slot].count > 0 && i >= slots[part.slot].since {
                parts[kept] = part;
                kept += 1;
            }
        }
        parts.truncate(kept);
        debug_assert!(parts[from..].iter().all(|part| part.slot >= base));
        parts[from..].sort_by_key(|part| part.slot);
    }

    /// Reads the message that a field has once, and fills in what did not come.
    fn end(&mut self, field: &Field, slot: usize, parts: usize, start: usize) -> Read<()> {
        let count = self.scratch.slots[slot].count;
        match field.rule {
            Rule::Rival | Rule::Member => return Ok(()),
            Rule::Each { offsets } => return push_row(self.columns, offsets, count, start),
            Rule::Exactly { size } if count == size => return Ok(()),
            Rule::Exactly { size } => return Err(wrong_size(count, size, start)),
            Rule::One | Rule::Maybe { .. } | Rule::Row { .. } => {}
        }
        let there = count > 0 || !field.presence;
        match field.rule {
            Rule::Maybe { validity } => push_validity(self.columns, validity, there),
            Rule::Row { offsets } => push_row(self.columns, offsets, usize::from(there), start)?,
            Rule::One if !there => return Err(missing(start)),
            Rule::One | Rule::Each { .. } | Rule::Exactly { .. } | Rule::Member | Rule::Rival => {}
        }
        match (&field.value, count) {
            (Value::Message { record: Some(record), .. } | Value::Keyed(record), n) if there => {
                self.once(record, slot, parts, n)
            }
            (Value::Spelled { form, .. }, n) if form.is_message() && n > 0 => {
                self.time_once(&field.value, slot, parts, n)
            }
            (Value::Enum { values, column }, 0) if there => {
                push_symbol(self.columns, values, *column, values.default, start)
            }
            (_, 0) if there || matches!(field.rule, Rule::Maybe { .. }) => fill(self.columns, &field.defaults, start),
            _ => Ok(()),
        }
    }

    /// Reads a message that came in so many parts.
    fn once(&mut self, record: &Record, slot: usize, parts: usize, count: usize) -> Read<()> {
        let first = (count > 0).then_some(self.scratch.slots[slot].first);
        let later = self.later(slot, parts, count);
        self.message(record, first, later)
    }

    /// Reads the message of the member of a oneof that is there, and fills in the others; the members stand beside their slots.
    fn union<'r>(
        &mut self,
        union: &Field,
        tags: Option<ColumnId>,
        members: impl Iterator<Item = (&'r Field, usize)> + Clone,
        parts: usize,
        start: usize,
    ) -> Read<()> {
        let tag = members.clone().position(|(_, slot)| self.scratch.slots[slot].count > 0);
        if push_union(self.columns, union, tags, tag, start)? {
            return Ok(());
        }
        for (i, (member, slot)) in members.enumerate() {
            let count = self.scratch.slots[slot].count;
            match &member.value {
                Value::Message { record: Some(record), .. } if Some(i) == tag => {
                    let read = self.once(record, slot, parts, count);
                    read.map_err(|e| e.inside(Segment::Field(member.name.clone())))?;
                }
                Value::Spelled { form, .. } if form.is_message() && Some(i) == tag => {
                    let read = self.time_once(&member.value, slot, parts, count);
                    read.map_err(|e| e.inside(Segment::Field(member.name.clone())))?;
                }
                _ if Some(i) == tag => {}
                _ => fill(self.columns, &member.defaults, start)?,
            }
        }
        Ok(())
    }

    /// Where the later parts of a message stand.
    fn later(&self, slot: usize, from: usize, count: usize) -> Range<usize> {
        if count < 2 {
            return 0..0;
        }
        let start = from + self.scratch.parts[from..].partition_point(|part| part.slot < slot);
        start..start + count - 1
    }
}

/// Checks how a value is written.
pub fn expect(tag: Tag, wanted: WireType) -> Read<()> {
    if tag.wire == wanted {
        return Ok(());
    }
    let error = Error::data(format!("{} came", tag.wire.name())).wanted(wanted.name());
    Err(Failure::new(tag.at, error.hint("Check that the descriptor is the one of the writer")))
}

/// Checks a text that starts at this byte.
pub fn check_utf8(text: &[u8], start: usize) -> Read<()> {
    std::str::from_utf8(text).map(drop).map_err(|e| {
        let byte = text.get(e.valid_up_to()).copied().unwrap_or(0);
        let error = Error::data(format!("byte 0x{byte:02x} is not UTF-8")).wanted("UTF-8 text");
        Failure::new(start + e.valid_up_to(), error.hint("A field of any bytes has the kind bytes"))
    })
}
