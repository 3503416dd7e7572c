//! Values that are found by a name in the message: those of a map by their keys, the message in an `Any` by its type.
//!
//! Invariant: of entries with one key the last holds; an entry without a key or a value has their defaults, and one of a number that its closed
//! enum does not have counts as not there.

use super::enums::Values;
use super::member::ANY;
use super::number::{Number, Raw};
use super::wire::{Span, Tag, Wire, WireType};
use crate::failure::Read;
use prost_reflect::{Kind, MessageDescriptor};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// How the parts of a record are looked up, and which of its fields each name is.
#[derive(Debug)]
pub struct Lookup {
    name: Name,
    places: HashMap<Box<[u8]>, usize>,
    /// The enum of the values, if it is closed.
    symbols: Option<Arc<Values>>,
}

#[derive(Debug)]
enum Name {
    /// The key of an entry: text, or the digits of a number.
    Key(Option<Number>),
    /// The type of the message in an `Any`, behind the last slash of its URL.
    Type,
}

/// The field that a part is about.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub place: usize,
    /// The tag of the value, and what stands behind that, if there is one.
    pub value: Option<(Tag, Span)>,
    /// Where the part ends that was looked at last.
    pub end: usize,
}

/// The numbers of the key and the value of an entry, and of the URL and the value of an `Any`.
const NAME: u32 = 1;
const VALUE: u32 = 2;

/// The enum of the values of a map's entries, if it is closed.
pub fn symbols_of(entry: &MessageDescriptor) -> Option<Arc<Values>> {
    match entry.map_entry_value_field().kind() {
        Kind::Enum(values) => Some(Values::new(&values)).filter(|values| values.is_closed()),
        _ => None,
    }
}

/// Whether the value that stands here may be one of an enum, as far as its number says.
pub fn is_symbol(values: &Values, tag: Tag, mut wire: Wire<'_>) -> Read<bool> {
    if tag.wire != WireType::Varint {
        return Ok(true);
    }
    Ok(match Number::Int32.read(&mut wire)? {
        Raw::Signed(number) => i32::try_from(number).is_ok_and(|number| values.has(number)),
        Raw::Bool(_) | Raw::Unsigned(_) | Raw::Float(_) | Raw::Double(_) => true,
    })
}

/// Whether an entry may be one of a map of such values.
pub fn is_entry(values: &Values, record: &[u8], part: Span, groups: &mut Vec<u32>) -> Read<bool> {
    let (mut wire, mut holds) = (Wire::new(record, part), true);
    while !wire.is_done() {
        let tag = wire.tag()?;
        if tag.number == VALUE {
            holds = is_symbol(values, tag, wire)?;
        }
        wire.skip(tag, groups)?;
    }
    Ok(holds)
}

impl Lookup {
    /// That of a map's entries.
    pub fn of_entries(entry: &MessageDescriptor) -> Lookup {
        let kind = entry.map_entry_key_field().kind();
        let name = Name::Key(if kind == Kind::String { None } else { Number::of(&kind) });
        Lookup { name, places: HashMap::new(), symbols: symbols_of(entry) }
    }

    /// That of an `Any`; none for other messages.
    pub fn of_any(message: &MessageDescriptor) -> Option<Lookup> {
        (message.full_name() == ANY).then(|| Lookup { name: Name::Type, places: HashMap::new(), symbols: None })
    }

    /// Whether a part can have this name, which a number and a truth value have in one spelling.
    pub fn can_have(&self, name: &str) -> bool {
        match self.name {
            Name::Key(Some(Number::Bool)) => matches!(name, "true" | "false"),
            Name::Key(Some(_)) => name.parse::<i128>().is_ok_and(|number| number.to_string() == name),
            Name::Key(None) | Name::Type => true,
        }
    }

    /// Adds a name.
    pub fn add(&mut self, name: &str, place: usize) {
        self.places.insert(name.as_bytes().into(), place);
    }

    /// The field of a name, if that is looked for.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name.as_bytes()).copied()
    }

    /// Whether no name is looked for.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether the fields of the message itself are read too, and parts of it are one message, which has one name.
    pub fn has_fields(&self) -> bool {
        matches!(self.name, Name::Type)
    }

    /// What the parts of a message are about, if that is looked for: the last name and the last value hold.
    pub fn find(&self, record: &[u8], parts: impl Iterator<Item = Span>, groups: &mut Vec<u32>) -> Read<Option<Found>> {
        let (mut name, mut value, mut end) = (None, None, 0);
        for part in parts {
            let mut wire = Wire::new(record, part);
            end = part.end;
            while !wire.is_done() {
                let tag = wire.tag()?;
                match tag.number {
                    NAME => name = Some(self.read(tag, &mut wire)?),
                    VALUE => {
                        value = Some((tag, Span { start: wire.at(), end: part.end }));
                        wire.skip(tag, groups)?;
                    }
                    _ => drop(wire.skip(tag, groups)?),
                }
            }
        }
        if let (Some(symbols), Some((tag, behind))) = (&self.symbols, value)
            && !is_symbol(symbols, tag, Wire::new(record, behind))?
        {
            return Ok(None);
        }
        let name = name.unwrap_or(match self.name {
            Name::Key(Some(Number::Bool)) => Cow::Borrowed(b"false"),
            Name::Key(Some(_)) => Cow::Borrowed(b"0"),
            Name::Key(None) | Name::Type => Cow::Borrowed(b""),
        });
        Ok(self.places.get(&*name).map(|place| Found { place: *place, value, end }))
    }

    fn read<'a>(&self, tag: Tag, wire: &mut Wire<'a>) -> Read<Cow<'a, [u8]>> {
        if let Name::Key(Some(number)) = self.name {
            super::read::expect(tag, number.wire())?;
            return Ok(Cow::Owned(number.read(wire)?.to_string().into_bytes()));
        }
        super::read::expect(tag, WireType::Bytes)?;
        let span = wire.sized()?;
        let text = wire.bytes(span);
        let start = match self.name {
            Name::Type => text.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1),
            Name::Key(_) => 0,
        };
        Ok(Cow::Borrowed(&text[start..]))
    }
}
