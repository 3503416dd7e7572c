//! The bytes of a message as the quick reader sees them.
//!
//! Invariant: no answer where anything is odd, and never one from behind the message.

use super::super::wire::{Span, Wire};

/// How a value with a length is written.
const PACKED: u8 = 2;

/// A tag of one byte or two; any other has no length, and never goes on.
#[derive(Clone, Copy, Debug)]
pub struct Tag {
    pub value: u16,
    /// Its bytes, and which bits of two bytes are those; none are for a longer tag, which stands nowhere.
    bytes: u16,
    mask: u16,
    len: usize,
}

impl Tag {
    /// One that stands nowhere.
    pub const NONE: Tag = Tag { value: 0, bytes: 1, mask: 0, len: 0 };

    /// One of more than two bytes, of which is known how the value is written.
    pub fn long(tag: u64) -> Tag {
        Tag { value: (tag & 7) as u16, ..Tag::NONE }
    }

    /// The tag of a value of 14 bits.
    pub fn new(value: u16) -> Tag {
        match value {
            ..0x80 => Tag { value, bytes: value, mask: 0xff, len: 1 },
            _ => Tag { value, bytes: value & 0x7f | 0x80 | value >> 7 << 8, mask: u16::MAX, len: 2 },
        }
    }

    /// The tag that begins with these bytes; none if it is longer.
    #[inline(always)]
    pub fn of(bytes: u16) -> Option<Tag> {
        if bytes & 0x80 == 0 {
            let first = bytes & 0xff;
            return Some(Tag { value: first, bytes: first, mask: 0xff, len: 1 });
        }
        let value = bytes & 0x7f | (bytes & 0x7f00) >> 1;
        (bytes & 0x8000 == 0).then_some(Tag { value, bytes, mask: u16::MAX, len: 2 })
    }

    /// Whether it stands where these bytes do.
    #[inline(always)]
    pub fn begins(self, bytes: u16) -> bool {
        bytes & self.mask == self.bytes
    }

    #[inline(always)]
    pub fn len(self) -> usize {
        self.len
    }

    /// How the value is written.
    pub fn kind(self) -> u8 {
        (self.value & 7) as u8
    }
}

/// A record to the end of the message that is read. Each method is given where something starts, and says where it ends.
#[derive(Clone, Copy)]
pub struct Bytes<'j>(pub &'j [u8]);

impl Bytes<'_> {
    /// The next two bytes.
    #[inline(always)]
    pub fn two(self, at: usize) -> Option<u16> {
        self.0.get(at..)?.first_chunk().map(|two| u16::from_le_bytes(*two))
    }

    /// The next eight bytes.
    #[inline(always)]
    fn eight(self, at: usize) -> Option<u64> {
        self.0.get(at..)?.first_chunk().map(|eight| u64::from_le_bytes(*eight))
    }

    /// Whether a tag stands here again, with a byte of the value or more behind it.
    #[inline(always)]
    pub fn has(self, tag: Tag, at: usize) -> bool {
        self.two(at).is_some_and(|next| tag.begins(next))
    }

    #[inline(always)]
    pub fn varint(self, at: usize) -> Option<(u64, usize)> {
        let first = *self.0.get(at)?;
        if first < 0x80 {
            return Some((u64::from(first), at + 1));
        }
        if let Some(second @ ..0x80) = self.0.get(at + 1) {
            return Some((u64::from(first & 0x7f) | u64::from(*second) << 7, at + 2));
        }
        // Groups of seven bits are moved together, neighbours first.
        let Some((bytes, last)) = self.eight(at).map(|bytes| (bytes, !bytes & LAST)).filter(|(_, last)| *last != 0)
        else {
            return self.long_varint(at);
        };
        // All bits up to the one that ends it.
        let bits = bytes & (last ^ (last - 1)) & !LAST;
        let bits = bits & 0x007f_007f_007f_007f | (bits & 0x7f00_7f00_7f00_7f00) >> 1;
        let bits = bits & 0x0000_3fff_0000_3fff | (bits & 0x3fff_0000_3fff_0000) >> 2;
        let value = bits & 0x0fff_ffff | (bits & 0x0fff_ffff_0000_0000) >> 4;
        Some((value, at + last.trailing_zeros() as usize / 8 + 1))
    }

    /// One that is longer than eight bytes, or ends near the end.
    #[cold]
    fn long_varint(self, at: usize) -> Option<(u64, usize)> {
        let mut careful = Wire::new(self.0, Span { start: at, end: self.0.len() });
        careful.varint().ok().map(|value| (value, careful.at()))
    }

    #[inline(always)]
    pub fn take<const N: usize>(self, at: usize) -> Option<([u8; N], usize)> {
        Some((*self.0.get(at..)?.first_chunk::<N>()?, at + N))
    }

    /// Reads over a length, and says where as many bytes are.
    #[inline(always)]
    pub fn sized(self, at: usize) -> Option<Span> {
        let (len, start) = self.varint(at)?;
        let end = start.checked_add(usize::try_from(len).ok()?)?;
        (end <= self.0.len()).then_some(Span { start, end })
    }

    /// Reads over a value that is written so; groups are odd.
    #[inline(always)]
    pub fn skip(self, at: usize, kind: u8) -> Option<usize> {
        match kind {
            0 => match self.eight(at).map_or(0, |bytes| !bytes & LAST) {
                0 => self.long_varint(at).map(|(_, end)| end),
                last => Some(at + last.trailing_zeros() as usize / 8 + 1),
            },
            1 => self.take::<8>(at).map(|(_, end)| end),
            PACKED => self.sized(at).map(|part| part.end),
            5 => self.take::<4>(at).map(|(_, end)| end),
            _ => None,
        }
    }
}

/// The highest bit of each of eight bytes, which the last of a varint has not.
const LAST: u64 = 0x8080_8080_8080_8080;
