//! The wire format: tags, varints, lengths, groups.
//!
//! Source: <https://protobuf.dev/programming-guides/encoding>. Invariant: nothing behind the end is read, a position is one of the record,
//! and every step goes forward.

use crate::failure::{Failure, Read};
use extenso_types::Error;

/// How deep groups that nobody needs may nest.
pub const MAX_GROUPS: usize = 100;

/// How the value behind a tag is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WireType {
    Varint,
    Fixed64,
    Bytes,
    GroupStart,
    GroupEnd,
    Fixed32,
}

impl WireType {
    pub fn of(tag: u64) -> Option<WireType> {
        const ALL: [WireType; 6] = [
            WireType::Varint,
            WireType::Fixed64,
            WireType::Bytes,
            WireType::GroupStart,
            WireType::GroupEnd,
            WireType::Fixed32,
        ];
        ALL.into_iter().find(|wire| wire.code() == tag & 7)
    }

    /// Its number in a tag.
    pub fn code(self) -> u64 {
        match self {
            WireType::Varint => 0,
            WireType::Fixed64 => 1,
            WireType::Bytes => 2,
            WireType::GroupStart => 3,
            WireType::GroupEnd => 4,
            WireType::Fixed32 => 5,
        }
    }

    /// What an error calls it.
    pub fn name(self) -> &'static str {
        match self {
            WireType::Varint => "a varint",
            WireType::Fixed64 => "8 bytes",
            WireType::Bytes => "a length and bytes",
            WireType::GroupStart => "a group",
            WireType::GroupEnd => "the end of a group",
            WireType::Fixed32 => "4 bytes",
        }
    }
}

/// What stands before every value.
#[derive(Clone, Copy, Debug)]
pub struct Tag {
    pub number: u32,
    pub wire: WireType,
    /// Where it stands.
    pub at: usize,
}

/// A part of a record, by its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

/// A part of a record, being read.
#[derive(Clone, Copy, Debug)]
pub struct Wire<'a> {
    /// The record to the end of the part.
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Wire<'a> {
    /// Reads a part of a record.
    pub fn new(record: &'a [u8], part: Span) -> Wire<'a> {
        Wire { bytes: record.get(..part.end).unwrap_or(record), at: part.start }
    }

    /// Where the next byte stands.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Whether nothing is left.
    pub fn is_done(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// What is left.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    #[inline]
    pub fn varint(&mut self) -> Read<u64> {
        match self.bytes.get(self.at) {
            Some(byte) if *byte < 0x80 => {
                self.at += 1;
                Ok(u64::from(*byte))
            }
            _ => self.long_varint(),
        }
    }

    fn long_varint(&mut self) -> Read<u64> {
        let mut value = 0;
        for (i, byte) in self.rest().iter().enumerate().take(10) {
            if i == 9 && *byte > 1 {
                let error = Error::data("a varint is longer than 64 bits").wanted("at most ten bytes");
                return Err(Failure::new(self.at, error));
            }
            value |= u64::from(byte & 0x7f) << (7 * i);
            if *byte < 0x80 {
                self.at += i + 1;
                return Ok(value);
            }
        }
        Err(self.ends("in a varint"))
    }

    pub fn tag(&mut self) -> Read<Tag> {
        let at = self.at;
        let tag = self.varint()?;
        let refuse = |what: String, wanted: &str| Failure::new(at, Error::data(what).wanted(wanted));
        let number = u32::try_from(tag >> 3).ok().filter(|n| (1..1 << 29).contains(n));
        let number =
            number.ok_or_else(|| refuse(format!("a field has number {}", tag >> 3), "a number from 1 to 2^29 - 1"))?;
        let wire =
            WireType::of(tag).ok_or_else(|| refuse(format!("a field has wire type {}", tag & 7), "one from 0 to 5"))?;
        Ok(Tag { number, wire, at })
    }

    #[inline]
    pub fn take<const N: usize>(&mut self) -> Read<[u8; N]> {
        match self.rest().first_chunk::<N>() {
            Some(chunk) => {
                self.at += N;
                Ok(*chunk)
            }
            None => Err(self.ends(&format!("{} bytes into {N}", self.rest().len()))),
        }
    }

    /// Reads over a length and as many bytes, and says where these are.
    #[inline]
    pub fn sized(&mut self) -> Read<Span> {
        let before = self.at;
        let len = self.varint()?;
        let start = self.at;
        match usize::try_from(len).ok().and_then(|len| start.checked_add(len)).filter(|end| *end <= self.bytes.len()) {
            Some(end) => {
                self.at = end;
                Ok(Span { start, end })
            }
            None => {
                let what = format!("a length of {len} bytes stands here, and {} are left", self.bytes.len() - start);
                Err(Failure::new(before, Error::data(what).wanted("a length within the message")))
            }
        }
    }

    /// The bytes of a part.
    pub fn bytes(&self, part: Span) -> &'a [u8] {
        self.bytes.get(part.start..part.end).unwrap_or_default()
    }

    /// Reads over the value behind a tag, and says where the last tag of it stands; a group is followed by a loop.
    pub fn skip(&mut self, tag: Tag, groups: &mut Vec<u32>) -> Read<usize> {
        groups.clear();
        let mut tag = tag;
        loop {
            match tag.wire {
                WireType::Varint => self.varint().map(drop)?,
                WireType::Fixed64 => self.take::<8>().map(drop)?,
                WireType::Fixed32 => self.take::<4>().map(drop)?,
                WireType::Bytes => self.sized().map(drop)?,
                WireType::GroupStart if groups.len() == MAX_GROUPS => {
                    let error = Error::data("groups nest too deep").wanted(format!("at most {MAX_GROUPS} levels"));
                    return Err(Failure::new(tag.at, error));
                }
                WireType::GroupStart => groups.push(tag.number),
                WireType::GroupEnd => self.close(tag, groups.pop())?,
            }
            if groups.is_empty() {
                return Ok(tag.at);
            }
            tag = self.tag()?;
        }
    }

    /// Reads over a group behind its first tag, and says where what is in it stands.
    pub fn group(&mut self, tag: Tag, groups: &mut Vec<u32>) -> Read<Span> {
        let start = self.at;
        Ok(Span { start, end: self.skip(tag, groups)? })
    }

    fn close(&self, tag: Tag, open: Option<u32>) -> Read<()> {
        match open {
            Some(number) if number == tag.number => Ok(()),
            Some(number) => {
                let error = Error::data(format!("group {} ends in group {number}", tag.number));
                Err(Failure::new(tag.at, error.wanted("the end of the group that began last")))
            }
            None => {
                let error = Error::data(format!("group {} ends, and did not begin", tag.number));
                Err(Failure::new(tag.at, error.wanted("the start of a field")))
            }
        }
    }

    #[cold]
    fn ends(&self, place: &str) -> Box<Failure> {
        Failure::new(self.bytes.len(), Error::data(format!("the message ends {place}")).wanted("more bytes"))
    }
}
