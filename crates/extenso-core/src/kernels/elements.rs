//! The bytes of numbers.
//!
//! Invariant: the memory is aligned for every dtype and does not change. A few bytes stand in the value itself, so that a small result
//! takes one piece of memory, not three.

use super::pool::Shared;
use arrow_buffer::Buffer;
use std::fmt;
use std::ops::Deref;

/// A few words.
pub(crate) type Few = [u64; 8];

/// The bytes of numbers, in the machine's order.
#[derive(Clone)]
pub struct Elements(Memory);

#[derive(Clone)]
enum Memory {
    Few(Few, u8),
    /// So many bytes of words from one on.
    Small(Shared, u32, u32),
    Shared(Buffer),
}

impl Elements {
    /// A copy of these bytes.
    ///
    /// ```
    /// # use extenso_core::Elements;
    /// assert_eq!(Elements::copy_of(&[1, 2, 3]).slice(1, 2).as_slice(), [2, 3]);
    /// ```
    pub fn copy_of(bytes: &[u8]) -> Elements {
        let mut few = Few::default();
        match bytemuck::cast_slice_mut(&mut few).get_mut(..bytes.len()) {
            Some(room) => {
                room.copy_from_slice(bytes);
                Elements::few(few, bytes.len())
            }
            None => Buffer::from_slice_ref(bytes).into(),
        }
    }

    /// The first `len` bytes of a few words.
    pub(crate) fn few(words: Few, len: usize) -> Elements {
        Elements(Memory::Few(words, len.min(size_of::<Few>()) as u8))
    }

    /// So many bytes of words from one on, which are there.
    pub(crate) fn small(words: Shared, from: usize, len: usize) -> Elements {
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Elements(Memory::Small(words, narrow(from), narrow(len)))
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        match &self.0 {
            Memory::Few(words, len) => &bytemuck::cast_slice(words)[..usize::from(*len)],
            Memory::Small(words, from, len) => &bytemuck::cast_slice(words.words())[*from as usize..][..*len as usize],
            Memory::Shared(buffer) => buffer.as_slice(),
        }
    }

    /// The bytes as a buffer, which is shared; of what stands in the value it is a copy.
    pub fn to_buffer(&self) -> Buffer {
        match &self.0 {
            Memory::Few(..) => in_buffer(self.as_slice()),
            Memory::Small(..) => Buffer::from(bytes::Bytes::from_owner(self.clone())),
            Memory::Shared(buffer) => buffer.clone(),
        }
    }

    /// The buffer that holds them, if one does.
    pub(crate) fn shared(&self) -> Option<&Buffer> {
        match &self.0 {
            Memory::Few(..) | Memory::Small(..) => None,
            Memory::Shared(buffer) => Some(buffer),
        }
    }

    /// Whether they stand in the value itself.
    pub(crate) fn are_few(&self) -> bool {
        matches!(self.0, Memory::Few(..))
    }

    /// So many bytes from one on, which are shared unless they are few.
    ///
    /// # Panics
    /// These are not there.
    pub fn slice(&self, from: usize, len: usize) -> Elements {
        match &self.0 {
            Memory::Few(..) => Elements::copy_of(&self.as_slice()[from..from + len]),
            Memory::Small(words, start, before) => {
                assert!(from.checked_add(len).is_some_and(|end| end <= *before as usize), "bytes that are not there");
                Elements::small(words.clone(), *start as usize + from, len)
            }
            Memory::Shared(buffer) => buffer.slice_with_length(from, len).into(),
        }
    }
}

/// A few bytes in a buffer of their own. They stand at its end: to leave some in front out takes no second owner of it.
fn in_buffer(bytes: &[u8]) -> Buffer {
    let mut words = Vec::with_capacity(size_of::<Few>() / 8);
    words.extend_from_slice(&Few::default()[..bytes.len().div_ceil(8)]);
    let memory: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
    let skipped = memory.len() - bytes.len();
    memory[skipped..].copy_from_slice(bytes);
    let mut buffer = Buffer::from_vec(words);
    buffer.advance(skipped);
    buffer
}

impl AsRef<[u8]> for Elements {
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl Deref for Elements {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.as_slice()
    }
}

/// The buffer is shared.
impl From<Buffer> for Elements {
    fn from(buffer: Buffer) -> Elements {
        Elements(Memory::Shared(buffer))
    }
}

impl fmt::Debug for Elements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_slice(), f)
    }
}
