//! Reading the features of one example into columns.
//!
//! Invariant: of a name that comes twice the last holds; what nobody needs is read over.

use super::{Feature, Holds, Map, kind_name};
use crate::columns::{Column, Columns};
use crate::failure::{Failure, Read};
use crate::plan::ColumnId;
use crate::proto::meant::push_text;
use crate::proto::number::{Number, Raw};
use crate::proto::push::{pushed, row_pushed};
use crate::proto::read::check_utf8;
use crate::proto::wire::{Span, Tag, Wire, WireType};
use extenso_types::{Error, Segment};

/// What came of a feature.
#[derive(Clone, Copy, Default, Debug)]
pub struct Came {
    /// How many values.
    values: usize,
    /// How many steps.
    steps: usize,
    /// The number of the list that came last, if any.
    kind: Option<u32>,
    at: usize,
    /// How long its columns were before it came.
    marks: Option<[usize; 3]>,
}

/// A message that is read, and what it is read into.
pub struct Reader<'a, 'j> {
    pub bytes: &'j [u8],
    pub groups: &'a mut Vec<u32>,
    pub columns: &'a mut Columns,
}

impl<'j> Reader<'_, 'j> {
    /// Calls `f` with each field of a message.
    pub fn each(&mut self, span: Span, mut f: impl FnMut(&mut Self, Tag, &mut Wire<'j>) -> Read<()>) -> Read<()> {
        let mut wire = Wire::new(self.bytes, span);
        while !wire.is_done() {
            let tag = wire.tag()?;
            f(self, tag, &mut wire)?;
        }
        Ok(())
    }

    pub fn skip(&mut self, tag: Tag, wire: &mut Wire<'j>) -> Read<()> {
        wire.skip(tag, self.groups).map(drop)
    }

    pub fn sized(&mut self, tag: Tag, wire: &mut Wire<'j>) -> Read<Span> {
        crate::proto::read::expect(tag, WireType::Bytes)?;
        wire.sized()
    }

    pub fn map(&mut self, map: &Map, came: &mut [Came], span: Span) -> Read<()> {
        self.each(span, |reader, tag, wire| {
            if tag.number != 1 {
                return reader.skip(tag, wire);
            }
            let entry = reader.sized(tag, wire)?;
            reader.entry(map, came, entry)
        })
    }

    /// Reads a name and its feature, which may come in any order.
    fn entry(&mut self, map: &Map, came: &mut [Came], entry: Span) -> Read<()> {
        let mut name = Span::default();
        self.each(entry, |reader, tag, wire| {
            match tag.number {
                1 => name = reader.sized(tag, wire)?,
                _ => reader.skip(tag, wire)?,
            }
            Ok(())
        })?;
        let name = self.bytes.get(name.start..name.end).and_then(|name| std::str::from_utf8(name).ok());
        let Some(place) = name.and_then(|name| map.places.get(name)) else { return Ok(()) };
        let (feature, came) = (&map.features[*place], &mut came[*place]);
        self.take_back(feature, came);
        *came = Came { at: entry.start, marks: came.marks, ..Came::default() };
        let read = self.each(entry, |reader, tag, wire| match tag.number {
            2 if map.steps => {
                let list = reader.sized(tag, wire)?;
                reader.list(feature, came, list)
            }
            2 => {
                let value = reader.sized(tag, wire)?;
                reader.values(feature, came, value)
            }
            _ => reader.skip(tag, wire),
        });
        read.map_err(|e| e.inside(Segment::Field(feature.name.clone())))
    }

    /// Forgets what came of a feature before.
    fn take_back(&mut self, feature: &Feature, came: &mut Came) {
        let columns = feature.columns();
        match came.marks {
            None => came.marks = Some(columns.map(|id| id.and_then(|id| self.columns.get(id)).map_or(0, Column::len))),
            Some(marks) => {
                for (id, len) in columns.into_iter().zip(marks) {
                    if let Some(column) = id.and_then(|id| self.columns.get_mut(id)) {
                        column.truncate(len);
                    }
                }
            }
        }
    }

    /// Reads the steps of a feature, each of which is complete.
    fn list(&mut self, feature: &Feature, came: &mut Came, list: Span) -> Read<()> {
        self.each(list, |reader, tag, wire| {
            if tag.number != 1 {
                return reader.skip(tag, wire);
            }
            let value = reader.sized(tag, wire)?;
            let mut one = Came { at: value.start, ..Came::default() };
            let read = reader.values(feature, &mut one, value).and_then(|()| reader.value_end(feature, &one));
            read.map_err(|e| e.inside(Segment::Index(came.steps)))?;
            came.steps += 1;
            Ok(())
        })
    }

    /// Reads a feature's values. Lists of one kind go on, one of another kind begins anew.
    fn values(&mut self, feature: &Feature, came: &mut Came, value: Span) -> Read<()> {
        self.each(value, |reader, tag, wire| {
            if !(1..=3).contains(&tag.number) {
                return reader.skip(tag, wire);
            }
            let list = reader.sized(tag, wire)?;
            if came.kind.replace(tag.number) != Some(tag.number) {
                if let Some(column) = feature.column.and_then(|id| reader.columns.get_mut(id)) {
                    column.truncate(column.len().saturating_sub(came.values * feature.elements()));
                }
                came.values = 0;
            }
            if feature.holds == Holds::Anything || feature.holds.number() == Some(tag.number) {
                reader.each(list, |reader, item, wire| {
                    if item.number != 1 {
                        return reader.skip(item, wire);
                    }
                    came.values += reader.items(feature, tag.number, item, wire)?;
                    Ok(())
                })?;
            }
            Ok(())
        })
    }

    /// Reads values of a list, and says how many.
    fn items(&mut self, feature: &Feature, kind: u32, tag: Tag, wire: &mut Wire<'j>) -> Read<usize> {
        let number = match kind {
            2 => Number::Float,
            3 => Number::Int64,
            _ => {
                let span = self.sized(tag, wire)?;
                let text = wire.bytes(span);
                let column = feature.column.and_then(|id| self.columns.get_mut(id));
                if let (Some((form, spelling)), Some(column)) = (&feature.spelled, column) {
                    push_text(*form, spelling, text, column, span.start)?;
                    return Ok(1);
                }
                if feature.holds == (Holds::Bytes { utf8: true }) {
                    check_utf8(text, span.start)?;
                }
                if let Some(Column::Text(texts)) = feature.column.and_then(|id| self.columns.get_mut(id)) {
                    pushed(texts.push(text), span.start)?;
                }
                return Ok(1);
            }
        };
        if feature.holds == Holds::Flags {
            return self.flags(feature, tag, wire);
        }
        let column = feature.column.and_then(|id| self.columns.get_mut(id));
        if tag.wire == WireType::Bytes {
            let span = wire.sized()?;
            return number.read_packed(&mut Wire::new(self.bytes, span), column);
        }
        crate::proto::read::expect(tag, number.wire())?;
        // One number is packed ones of which there is one.
        let start = wire.at();
        number.read(wire)?;
        number.read_packed(&mut Wire::new(self.bytes, Span { start, end: wire.at() }), column)
    }

    /// Reads integers that are booleans, and says how many.
    fn flags(&mut self, feature: &Feature, tag: Tag, wire: &mut Wire<'j>) -> Read<usize> {
        let is_packed = tag.wire == WireType::Bytes;
        if !is_packed {
            crate::proto::read::expect(tag, Number::Int64.wire())?;
        }
        let start = wire.at();
        let part = if is_packed {
            wire.sized()?
        } else {
            wire.varint()?;
            Span { start, end: wire.at() }
        };
        let (mut numbers, mut n) = (Wire::new(self.bytes, part), 0);
        while !numbers.is_done() {
            let at = numbers.at();
            let bit = match Number::Int64.read(&mut numbers)? {
                Raw::Signed(0) => false,
                Raw::Signed(1) => true,
                other => {
                    return Err(Failure::new(at, Error::data(format!("the number {other} came")).wanted("0 or 1")));
                }
            };
            if let Some(Column::Bits(bits)) = feature.column.and_then(|id| self.columns.get_mut(id)) {
                bits.push(bit);
            }
            n += 1;
        }
        Ok(n)
    }

    /// Ends a feature of a record.
    pub fn end(&mut self, feature: &Feature, came: &Came) -> Read<()> {
        match feature.steps {
            Some(offsets) => self.row(offsets, came.steps, came.at),
            None => self.value_end(feature, came),
        }
    }

    /// Ends the values of a feature: there are as many as there should be, or it is missing.
    fn value_end(&mut self, feature: &Feature, came: &Came) -> Read<()> {
        if let (Some(kind), Some(wanted)) = (came.kind, feature.holds.number())
            && kind != wanted
        {
            let error = Error::data(format!("the feature holds {}", kind_name(kind)));
            return Err(Failure::new(came.at, error.wanted(kind_name(wanted))));
        }
        if let Some(validity) = feature.optional {
            let there = came.kind.is_some();
            if let Some(Column::Bits(bits)) = validity.and_then(|id| self.columns.get_mut(id)) {
                bits.push(there);
            }
            if !there {
                return self.fill(&feature.defaults, came.at);
            }
        }
        let wrong = |wanted: String| {
            let error = Error::data(format!("{} values came", came.values)).wanted(wanted);
            let hint = "Make the feature masked in the spec if examples may lack it";
            Failure::new(came.at, if came.kind.is_none() { error.hint(hint) } else { error })
        };
        match feature.row {
            None if came.values == feature.size => Ok(()),
            None => Err(wrong(feature.size.to_string())),
            Some(offsets) => match came.values.checked_div(feature.size) {
                Some(n) if n * feature.size == came.values => self.row(offsets, n, came.at),
                _ => Err(wrong(format!("a multiple of {}", feature.size))),
            },
        }
    }

    fn row(&mut self, offsets: Option<ColumnId>, count: usize, at: usize) -> Read<()> {
        match offsets.and_then(|id| self.columns.get_mut(id)) {
            Some(Column::Offsets(offsets)) => row_pushed(offsets, count, at),
            _ => Ok(()),
        }
    }

    fn fill(&mut self, defaults: &[(ColumnId, usize)], at: usize) -> Read<()> {
        for (id, n) in defaults {
            let filled = self.columns.get_mut(*id).map_or(Ok(()), |column| column.push_defaults(*n));
            filled.map_err(|e| Failure::new(at, e))?;
        }
        Ok(())
    }
}
