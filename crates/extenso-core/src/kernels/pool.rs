//! The pool of result buffers.
//!
//! Writing a page that was never touched costs the operating system's zeroing of it, twenty times the write itself. Large
//! results are therefore written into blocks that went back to the pool when the last owner of an earlier result dropped them.
//!
//! Where the system gives large pages it is asked for them: the zeroing stays, and five hundred faults become one.
//!
//! Invariant: a block is in the pool or in one buffer, never both; the pool holds at most [`limit`] bytes.
//! Vectors that grew come here too, as many of a size as were asked for lately: what is given back and never asked for is the system's.
//! Small results do not come here: one record takes no lock. A few bytes take no memory of their own.

mod rooms;
mod small;

pub use rooms::{buffer, reserve};
pub(crate) use small::Shared;

use super::elements::{Elements, Few};
use arrow_buffer::Buffer;
use bytemuck::{Pod, Zeroable};
use extenso_types::{Error, Result};
use small::Own;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Results below this many bytes are plain allocations.
const SMALL: usize = 1 << 16;

/// Results below this many bytes are taken without asking first.
const LARGE: usize = 1 << 26;

/// Memory of at least so many bytes is worth large pages, which have 2 MB on most systems.
const MANY_PAGES: usize = 1 << 22;

/// A cache line: the alignment of pooled blocks.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Line([u64; 8]);

/// Blocks by size class: class c holds blocks of exactly `SMALL << c` bytes or the next half step.
static FREE: Mutex<Vec<Vec<Line>>> = Mutex::new(Vec::new());
static HELD: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(1 << 30);
static REUSED: AtomicUsize = AtomicUsize::new(0);

/// The number of bytes that the pool may hold.
pub fn limit() -> usize {
    LIMIT.load(Ordering::Relaxed)
}

/// Sets how many bytes the pool may hold, and drops what is above.
pub fn set_limit(bytes: usize) {
    LIMIT.store(bytes, Ordering::Relaxed);
    if held() > bytes {
        trim();
    }
}

/// The number of bytes that the pool holds now.
pub fn held() -> usize {
    HELD.load(Ordering::Relaxed)
}

/// The number of blocks handed out again so far.
pub fn reused() -> usize {
    REUSED.load(Ordering::Relaxed)
}

/// Gives everything that the pool holds back to the system.
pub fn trim() {
    let blocks = std::mem::take(&mut *lock());
    let rooms = rooms::all();
    let bytes =
        blocks.iter().map(|b| size_of_val(&b[..])).sum::<usize>() + rooms.iter().map(|r| r.bytes).sum::<usize>();
    HELD.fetch_sub(bytes, Ordering::Relaxed);
}

fn lock() -> std::sync::MutexGuard<'static, Vec<Vec<Line>>> {
    // A panic cannot leave the list half changed: every critical section is one push, one remove or one take.
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Checks that a result of `len` bytes can be had at all; sizes may come from outside, and running out ends the process.
///
/// Errors: the system refuses as much.
pub fn affordable(len: usize) -> Result<()> {
    let given = || Vec::<u8>::new().try_reserve_exact(class(len)).is_ok();
    if len < LARGE || given() {
        return Ok(());
    }
    // What the pool holds is the system's again, and may be enough.
    trim();
    if given() {
        return Ok(());
    }
    Err(Error::memory(format!("the result would take {len} bytes, more memory than the system gives"))
        .hint("Work on parts of the data, or free other values."))
}

/// Memory for one result, to be written once and then frozen into a buffer.
pub struct Block {
    memory: Memory,
    /// Where it starts in the memory.
    start: usize,
    len: usize,
}

enum Memory {
    Few(Few),
    Small(Own),
    Pooled(PoolOwner),
}

struct PoolOwner(Vec<Line>);

impl AsRef<[u8]> for PoolOwner {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

impl Drop for PoolOwner {
    fn drop(&mut self) {
        let block = std::mem::take(&mut self.0);
        HELD.fetch_add(size_of_val(&block[..]), Ordering::Relaxed);
        lock().push(block);
        drop_oldest();
    }
}

/// Gives the oldest of what the pool holds back to the system while that is above the limit: nobody asked for it for longest.
fn drop_oldest() {
    while held() > limit() {
        let room = rooms::oldest();
        let mut blocks = lock();
        let block = (!blocks.is_empty()).then(|| blocks.remove(0));
        drop(blocks);
        let bytes = room.as_ref().map_or(0, |room| room.bytes) + block.as_ref().map_or(0, |b| size_of_val(&b[..]));
        HELD.fetch_sub(bytes, Ordering::Relaxed);
        if bytes == 0 {
            // Another thread is about to add what it counted.
            return;
        }
    }
}

impl Block {
    /// Memory of `len` bytes. Its content is unspecified; small blocks are zero.
    pub fn new(len: usize) -> Block {
        if len >= SMALL {
            return Block { memory: Memory::Pooled(take(len)), start: 0, len };
        }
        if len <= size_of::<Few>() {
            return Block { memory: Memory::Few(Few::default()), start: 0, len };
        }
        // It stands at the end of its words: to leave the first bytes of a buffer out takes no second owner of it.
        let words = in_words(len);
        Block { memory: Memory::Small(Own::zeros(words)), start: words * 8 - len, len }
    }

    /// Memory of `len` zero bytes.
    pub fn zeroed(len: usize) -> Block {
        let mut block = Block::new(len);
        if matches!(block.memory, Memory::Pooled(_)) {
            block.bytes_mut().fill(0);
        }
        block
    }

    /// The memory, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let bytes: &mut [u8] = match &mut self.memory {
            Memory::Few(words) => bytemuck::cast_slice_mut(words),
            Memory::Small(own) => bytemuck::cast_slice_mut(&mut own.words),
            Memory::Pooled(owner) => bytemuck::cast_slice_mut(&mut owner.0),
        };
        &mut bytes[self.start..self.start + self.len]
    }

    fn bytes(&self) -> &[u8] {
        let bytes: &[u8] = match &self.memory {
            Memory::Few(words) => bytemuck::cast_slice(words),
            Memory::Small(own) => bytemuck::cast_slice(&own.words),
            Memory::Pooled(owner) => bytemuck::cast_slice(&owner.0),
        };
        &bytes[self.start..self.start + self.len]
    }

    /// The memory as elements.
    pub fn slice_mut<T: Pod>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(self.bytes_mut())
    }

    /// The finished elements; their pages return to the pool when their last owner drops them.
    pub fn elements(self) -> Elements {
        match self.memory {
            Memory::Few(words) => Elements::few(words, self.len),
            Memory::Small(own) => Elements::small(own.share(), self.start, self.len),
            Memory::Pooled(_) => self.freeze().into(),
        }
    }

    /// The finished buffer; its pages return to the pool when its last owner drops it.
    pub fn freeze(self) -> Buffer {
        let mut buffer = match self.memory {
            Memory::Few(words) => return Elements::few(words, self.len).to_buffer(),
            Memory::Small(own) => Buffer::from_vec(own.words),
            Memory::Pooled(owner) => Buffer::from(bytes::Bytes::from_owner(owner)),
        };
        buffer.advance(self.start);
        if buffer.len() == self.len { buffer } else { buffer.slice_with_length(0, self.len) }
    }
}

/// The words that so many bytes take.
fn in_words(bytes: usize) -> usize {
    bytes.div_ceil(8)
}

/// Bytes one after the other, as many as come, in memory of the pool.
pub(crate) struct Growing {
    block: Block,
    len: usize,
}

impl Growing {
    /// No bytes yet; memory for so many.
    pub fn with_capacity(len: usize) -> Growing {
        Growing { block: Block::new(len), len: 0 }
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// What was written so far.
    pub fn bytes(&self) -> &[u8] {
        &self.block.bytes()[..self.len]
    }

    /// Adds `n` bytes to be written.
    ///
    /// Errors: more memory than the system gives.
    pub fn more(&mut self, n: usize) -> Result<&mut [u8]> {
        let end = self.len.saturating_add(n);
        if end > self.block.len {
            let wide = end.max(self.block.len.saturating_mul(2)).max(size_of::<Line>());
            // Near the end of what there is, an eighth more.
            let wanted = if affordable(wide).is_ok() { wide } else { end.saturating_add(end / 8) };
            affordable(wanted)?;
            let mut wider = Block::new(wanted);
            wider.bytes_mut()[..self.len].copy_from_slice(self.bytes());
            self.block = wider;
        }
        let start = std::mem::replace(&mut self.len, end);
        Ok(&mut self.block.bytes_mut()[start..end])
    }

    /// The finished buffer.
    pub fn freeze(mut self) -> Buffer {
        self.block.len = self.len;
        self.block.freeze()
    }
}

fn take(len: usize) -> PoolOwner {
    let lines = class(len) / size_of::<Line>();
    let mut free = lock();
    // From the end: what was given back last is warmest.
    if let Some(i) = free.iter().rposition(|b| b.len() == lines) {
        let block = free.remove(i);
        drop(free);
        HELD.fetch_sub(size_of_val(&block[..]), Ordering::Relaxed);
        REUSED.fetch_add(1, Ordering::Relaxed);
        return PoolOwner(block);
    }
    drop(free);
    let block = vec![Line([0; 8]); lines];
    ask_for_large_pages(&block);
    PoolOwner(block)
}

/// Asks for large pages under the whole capacity. Whether the system follows changes no result.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn ask_for_large_pages<T>(elements: &Vec<T>) {
    use rustix::mm::{Advice, madvise};
    const PAGE: usize = 1 << 16;
    let bytes = elements.capacity().saturating_mul(size_of::<T>());
    if bytes < MANY_PAGES {
        return;
    }
    let start = elements.as_ptr().cast::<u8>();
    let head = start.align_offset(PAGE);
    let len = bytes.saturating_sub(head) / PAGE * PAGE;
    // SAFETY: the range lies inside the memory that `elements` owns, and the advice changes nothing that is in it.
    let _ = unsafe { madvise(start.wrapping_add(head).cast_mut().cast(), len, Advice::LinuxHugepage) };
}

#[cfg(not(target_os = "linux"))]
fn ask_for_large_pages<T>(_: &Vec<T>) {}

/// Rounds up to a power of two or one and a half of one, so that results of similar size share blocks.
fn class(len: usize) -> usize {
    let power = len.checked_next_power_of_two().unwrap_or(len);
    let step = power / 4 * 3;
    if len <= step { step } else { power }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pool is one for all tests of a process: those that look at what is in it take turns.
    pub(super) fn turn() -> std::sync::MutexGuard<'static, ()> {
        static TURN: Mutex<()> = Mutex::new(());
        TURN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[test]
    fn a_dropped_block_is_handed_out_again() {
        let _turn = turn();
        // A size of its own, since other tests of this process use the pool too.
        let len = 37 * SMALL;
        let before = reused();
        let buffer = Block::new(len).freeze();
        let address = buffer.as_ptr();
        assert_eq!(buffer.len(), len);
        let alias = buffer.slice(64);
        drop(buffer);
        assert_ne!(Block::new(len).freeze().as_ptr(), address, "an owner is left");
        drop(alias);
        let addresses = [Block::new(len), Block::new(len)].map(|b| b.freeze().as_ptr());
        assert!(addresses.contains(&address) && reused() > before);
    }

    #[test]
    fn what_is_held_is_within_the_limit_and_the_oldest_goes_first() {
        let _turn = turn();
        let len = 41 << 20;
        let blocks: Vec<Block> = (0..limit().div_ceil(len) + 2).map(|_| Block::new(len)).collect();
        let last = blocks.last().map(|block| block.bytes().as_ptr().addr());
        blocks.into_iter().map(Block::freeze).for_each(drop);
        // Other tests may be about to add a little.
        assert!(held() <= limit() + len, "{} bytes are held", held());
        assert_eq!(Some(Block::new(len).freeze().as_ptr().addr()), last, "what was dropped last is kept");
        trim();
    }

    #[test]
    fn a_small_block_is_what_was_written() {
        for len in (0..=size_of::<Few>() + 9).chain([SMALL - 1, SMALL, SMALL + 1]) {
            let written = |_| {
                let mut block = Block::new(len);
                assert!(len >= SMALL || block.bytes().iter().all(|byte| *byte == 0));
                block.bytes_mut().iter_mut().zip(1..).for_each(|(byte, i)| *byte = (i % 251) as u8);
                block
            };
            let [elements, buffer] = [0, 1].map(written);
            let bytes = elements.bytes().to_vec();
            let (elements, buffer) = (elements.elements(), buffer.freeze());
            assert_eq!((elements.as_slice(), buffer.as_slice()), (&bytes[..], &bytes[..]), "{len} bytes");
            assert_eq!((elements.to_buffer().as_slice(), buffer.strong_count()), (&bytes[..], 1), "{len} bytes");
            let (from, rest) = (len / 3, len - len / 3);
            assert_eq!(elements.slice(from, rest).as_slice(), &bytes[from..], "{len} bytes");
        }
    }

    #[test]
    fn classes_waste_at_most_half() {
        for len in [SMALL, SMALL + 1, 3 * SMALL, 5 << 20, (1 << 24) - 1] {
            assert!(class(len) >= len && class(len) <= len * 3 / 2 + 1, "{len}");
        }
    }
}
