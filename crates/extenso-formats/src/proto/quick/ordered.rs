//! Reading a message whose fields come in the order of their numbers, as most writers put them.
//!
//! The next field is known before its tag is, and nothing is counted but the values that follow one another: what follows from their
//! number is added when they end, and not when the message does.
//!
//! Invariant: as of the reader around it.

use super::bytes::{Bytes, Tag};
use super::{End, Kind, LOW, Quick, Reader, Step, looked_up, may_be_packed};
use crate::columns::Column;
use crate::plan::ColumnId;
use crate::proto::node::{Field, Record};
use crate::proto::wire::Span;

/// A field in its turn.
#[derive(Debug)]
pub struct Turn {
    /// How it is mostly written, and the tag of that.
    step: Step,
    tag: Tag,
    /// To so many values or more nothing is added.
    enough: u32,
    /// Where a row of as many items as came is added; without one what the rule says is.
    row: Option<ColumnId>,
}

impl Quick {
    /// The fields in the order of their numbers, those that messages do not have last; which are mostly packed is given by place. None if
    /// one takes another back, or has a long tag.
    pub(super) fn turns_of(
        &mut self,
        fields: &[Field],
        numbered: impl Iterator<Item = (u32, usize)>,
        is_packed: impl Fn(usize) -> bool,
    ) -> Option<Vec<Turn>> {
        let mut numbered: Vec<(u32, usize)> = numbered.collect();
        if numbered.iter().any(|(number, place)| *number >= LOW || !fields[*place].rivals.is_empty()) {
            return None;
        }
        numbered.sort_unstable();
        let without = (0..fields.len()).filter(|place| numbered.iter().all(|(_, of)| of != place));
        let order: Vec<usize> = numbered.iter().map(|(_, place)| *place).chain(without).collect();
        let mut turns = Vec::new();
        for (turn, place) in order.into_iter().enumerate() {
            let field = &fields[place];
            self.steps.iter_mut().filter(|step| step.field == place).for_each(|step| step.turn = turn);
            let packed = may_be_packed(field) && is_packed(place);
            let is_usual = |step: &Step| step.field == place && matches!(step.kind, Kind::Packed) == packed;
            let usual = self.steps.iter().position(is_usual)?;
            let row = self.rows.iter().find(|(of, _)| *of == place).map(|(_, column)| *column);
            let enough = match self.others.iter().find(|(of, _)| *of == place) {
                Some((_, End::Missing)) => 1,
                None if row.is_none() => 0,
                _ => u32::MAX,
            };
            turns.push(Turn { step: self.steps[usual], tag: self.tag_of(usual), enough, row });
        }
        Some(turns)
    }

    /// The tag of a step; what is read over may have any.
    fn tag_of(&self, step: usize) -> Tag {
        let is_read = !matches!(self.steps[step].kind, Kind::Nothing);
        let tag = self.tags.iter().position(|of| is_read && usize::from(*of) == step + 1);
        tag.and_then(|tag| u16::try_from(tag).ok()).map_or(Tag::NONE, Tag::new)
    }
}

impl<const ORDERED: bool> Reader<'_, '_, ORDERED> {
    /// Reads the fields of a message, each in its turn.
    pub(super) fn in_order(&mut self, record: &Record, quick: &Quick, turns: &[Turn], part: Span) -> Option<()> {
        let wire = Bytes(self.bytes.get(..part.end)?);
        // How many values of the field whose turn it is came.
        let (mut at, mut next, mut count) = (part.start, 0, 0_u32);
        while at < wire.0.len() {
            // Behind a tag there is a byte of its value or more.
            let two = wire.two(at)?;
            let (step, tag, value) = match turns.get(next).filter(|turn| turn.tag.begins(two)) {
                Some(turn) => (&turn.step, turn.tag, at + turn.tag.len()),
                None => match self.later(record, quick, turns, &mut next, wire, at)? {
                    (Some(step), tag, value) => (step, tag, value),
                    (None, tag, value) => {
                        at = wire.skip(value, tag.kind())?;
                        continue;
                    }
                },
            };
            let came;
            (came, at) = self.values(record, step, tag, wire, value)?;
            count = count.checked_add(came)?;
            // Of some fields one value is read at a time.
            if step.repeats && wire.has(tag, at) {
                continue;
            }
            self.add(record, turns.get(next)?, count)?;
            (next, count) = (next + 1, 0);
        }
        turns.get(next..)?.iter().try_for_each(|turn| self.add(record, turn, 0))
    }

    /// Reads a tag whose turn it is not yet: those before it do not come.
    #[inline(never)]
    fn later<'q>(
        &mut self,
        record: &Record,
        quick: &'q Quick,
        turns: &[Turn],
        next: &mut usize,
        wire: Bytes<'_>,
        at: usize,
    ) -> Option<(Option<&'q Step>, Tag, usize)> {
        let (step, tag, value) = looked_up(record, quick, wire, at)?;
        let Some(step) = step.checked_sub(1) else { return Some((None, tag, value)) };
        let step = quick.steps.get(step)?;
        turns.get(*next..step.turn)?.iter().try_for_each(|turn| self.add(record, turn, 0))?;
        *next = step.turn;
        Some((Some(step), tag, value))
    }

    /// Adds what follows from how many values of a field came.
    #[inline(always)]
    fn add(&mut self, record: &Record, turn: &Turn, came: u32) -> Option<()> {
        if came >= turn.enough {
            return Some(());
        }
        match turn.row {
            Some(id) => {
                let Some(Column::Offsets(offsets)) = self.columns.get_mut(id) else { return None };
                offsets.push_row(came as usize).then_some(())
            }
            None => self.end(&record.fields[turn.step.field], came),
        }
    }
}
