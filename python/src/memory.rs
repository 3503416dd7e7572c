//! The allocator of the extension.
//!
//! One record is a hundred small allocations, which mimalloc makes in less time than the C library. It asks the system for memory
//! without having it counted, though, so that an absurd size is had, and ends the process once it is written: what is that large is
//! asked of the C library, as which the system refuses.

use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout, System};

/// So many bytes are asked of the system: what the pool of results asks for before it takes it.
const LARGE: usize = 1 << 30;

/// mimalloc for all but the largest.
pub struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

// SAFETY: both allocators keep the contract, and the size in the layout, which does not change while memory is held, says whose it is.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Allocator {
    // SAFETY: as the trait's.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's layout is passed on.
        unsafe { if layout.size() < LARGE { MiMalloc.alloc(layout) } else { System.alloc(layout) } }
    }

    // SAFETY: as the trait's.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's layout is passed on.
        unsafe { if layout.size() < LARGE { MiMalloc.alloc_zeroed(layout) } else { System.alloc_zeroed(layout) } }
    }

    // SAFETY: as the trait's.
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: memory of this layout is of the allocator that the same size chose.
        unsafe { if layout.size() < LARGE { MiMalloc.dealloc(memory, layout) } else { System.dealloc(memory, layout) } }
    }

    // SAFETY: as the trait's.
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: memory of this layout is of the allocator that the same size chose; where another has the new size, the caller
        // vouches for it beside the old alignment, what both sizes hold is copied, and the two parts of memory are apart.
        unsafe {
            match (layout.size() < LARGE, size < LARGE) {
                (true, true) => MiMalloc.realloc(memory, layout, size),
                (false, false) => System.realloc(memory, layout, size),
                _ => {
                    let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
                    if !moved.is_null() {
                        moved.copy_from_nonoverlapping(memory, layout.size().min(size));
                        self.dealloc(memory, layout);
                    }
                    moved
                }
            }
        }
    }
}
