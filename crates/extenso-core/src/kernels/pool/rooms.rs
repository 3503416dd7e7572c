//! Vectors that grew, and their room, which goes back to the pool.
//!
//! Invariant: a vector in the pool has no elements; one of a type is taken for that type alone.

use super::{HELD, REUSED, ask_for_large_pages, class, drop_oldest};
use arrow_buffer::{ArrowNativeType, Buffer};
use bytemuck::Pod;
use std::any::{Any, TypeId};
use std::collections::{TryReserveError, VecDeque};
use std::result::Result as StdResult;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// Vectors with room for fewer bytes are no concern of the pool.
const ROOM: usize = 1 << 18;

/// Vectors without elements, for results that grow: of any type, each with its room.
static ROOMS: Mutex<Rooms> = Mutex::new(Rooms { free: Vec::new(), asked: VecDeque::new() });

struct Rooms {
    free: Vec<Room>,
    /// The types and bytes of what was asked for last.
    asked: VecDeque<(TypeId, usize)>,
}

pub(super) struct Room {
    pub(super) bytes: usize,
    vector: Box<dyn Any + Send>,
}

/// Whether a room of so many bytes is what is taken where `asked` are asked for.
fn fits(room: usize, asked: usize) -> bool {
    (asked..asked.saturating_mul(2)).contains(&room)
}

impl Rooms {
    /// So many that were asked for are known.
    const ASKED: usize = 1 << 10;

    fn ask<T: 'static>(&mut self, bytes: usize) {
        if self.asked.len() == Rooms::ASKED {
            self.asked.pop_front();
        }
        self.asked.push_back((TypeId::of::<T>(), bytes));
    }

    /// Whether one more room is likely to be taken. What grows by itself, and asks for nothing, would fill the pool with its rooms.
    fn wants<T: 'static>(&self, bytes: usize) -> bool {
        let asked = self.asked.iter().filter(|(of, asked)| *of == TypeId::of::<T>() && fits(bytes, *asked)).count();
        let alike = |room: &&Room| class(room.bytes) == class(bytes) && room.vector.is::<Vec<T>>();
        asked > self.free.iter().filter(alike).count()
    }
}

fn lock_rooms() -> std::sync::MutexGuard<'static, Rooms> {
    // As of blocks.
    ROOMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes out what nobody asked for for longest.
pub(super) fn oldest() -> Option<Room> {
    let mut rooms = lock_rooms();
    (!rooms.free.is_empty()).then(|| rooms.free.remove(0))
}

/// Takes out everything.
pub(super) fn all() -> Vec<Room> {
    std::mem::take(&mut lock_rooms().free)
}

/// Makes room for so many more elements. Much of it is room that went back to the pool, or in large pages; [`buffer`] lets it go back.
///
/// Errors: there is no memory for them.
pub fn reserve<T: Pod + Send>(elements: &mut Vec<T>, n: usize) -> StdResult<(), TryReserveError> {
    let before = elements.capacity();
    let bytes = elements.len().saturating_add(n).saturating_mul(size_of::<T>());
    if bytes < ROOM || before.saturating_mul(size_of::<T>()) >= ROOM {
        elements.try_reserve_exact(n)?;
    } else if let Some(mut room) = take_room(bytes) {
        room.extend_from_slice(elements);
        *elements = room;
        return Ok(());
    } else {
        let wanted = class(bytes).max(bytes) / size_of::<T>();
        elements.try_reserve_exact(wanted - elements.len())?;
    }
    if elements.capacity() > before {
        ask_for_large_pages(elements);
    }
    Ok(())
}

/// A vector of the pool with room for so many bytes, and not for twice as many.
fn take_room<T: Pod + Send>(bytes: usize) -> Option<Vec<T>> {
    let mut rooms = lock_rooms();
    rooms.ask::<T>(bytes);
    let at = rooms.free.iter().rposition(|room| fits(room.bytes, bytes) && room.vector.is::<Vec<T>>())?;
    let Room { bytes, vector } = rooms.free.remove(at);
    drop(rooms);
    HELD.fetch_sub(bytes, Ordering::Relaxed);
    REUSED.fetch_add(1, Ordering::Relaxed);
    vector.downcast().ok().map(|vector| *vector)
}

/// The elements as a buffer, whose room returns to the pool when its last owner drops it, if it is large.
pub fn buffer<T: ArrowNativeType + Pod + Sync>(elements: Vec<T>) -> Buffer {
    if elements.capacity().saturating_mul(size_of::<T>()) < ROOM {
        return Buffer::from_vec(elements);
    }
    Buffer::from(bytes::Bytes::from_owner(RoomOwner(elements)))
}

struct RoomOwner<T: Pod + Send>(Vec<T>);

impl<T: Pod + Send> AsRef<[u8]> for RoomOwner<T> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

impl<T: Pod + Send> Drop for RoomOwner<T> {
    fn drop(&mut self) {
        let mut vector = std::mem::take(&mut self.0);
        vector.clear();
        let bytes = vector.capacity() * size_of::<T>();
        let mut rooms = lock_rooms();
        if rooms.wants::<T>(bytes) {
            HELD.fetch_add(bytes, Ordering::Relaxed);
            rooms.free.push(Room { bytes, vector: Box::new(vector) });
            drop(rooms);
            drop_oldest();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::turn;
    use super::*;
    use bytemuck::Zeroable;

    #[test]
    fn the_room_of_a_dropped_buffer_is_taken_again() {
        let _turn = turn();
        // A size of its own, since other tests of this process use the pool too.
        let n = 31 << 17;
        let mut elements: Vec<f64> = Vec::new();
        reserve(&mut elements, n).expect("memory");
        elements.extend([1.0, 2.0]);
        let address = elements.as_ptr().addr();
        let buffer = buffer(elements);
        assert_eq!((buffer.as_ptr().addr(), buffer.len()), (address, 16));
        drop(buffer);
        let (mut others, mut again): (Vec<u64>, Vec<f64>) = (Vec::new(), Vec::new());
        reserve(&mut others, n).expect("memory");
        reserve(&mut again, n - 1000).expect("memory");
        assert!(again.is_empty() && again.capacity() >= n && others.capacity() >= n);
        assert!(again.as_ptr().addr() == address && others.as_ptr().addr() != address);
    }

    #[test]
    fn rooms_that_nobody_asks_for_are_not_kept() {
        // A type of its own, since other tests of this process use the pool too.
        #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
        #[repr(transparent)]
        struct Own(u64);
        let kept = || lock_rooms().free.iter().filter(|room| room.vector.is::<Vec<Own>>()).count();
        let dropped = |capacity: usize| drop(RoomOwner(Vec::<Own>::with_capacity(capacity)));
        let _turn = turn();
        (0..3).for_each(|_| dropped(ROOM));
        assert_eq!(kept(), 0);
        let asked = || take_room::<Own>(ROOM * 8 - 100);
        assert_eq!([asked(), asked()], [None, None]);
        (0..4).for_each(|_| dropped(ROOM));
        // One of another size would not be taken.
        dropped(ROOM * 3);
        assert_eq!(kept(), 2);
        assert!(asked().is_some_and(|room| room.capacity() == ROOM) && asked().is_some());
        assert_eq!(kept(), 0);
    }
}
