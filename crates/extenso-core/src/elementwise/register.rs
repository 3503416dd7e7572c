//! Registers: memory for a block of elements of an expression.
//!
//! Invariant: what stands in a register that was just taken is left open. A thread keeps the registers that it gave back, so that the
//! next expression finds them in its caches, and one record allocates none.

use super::BLOCK;
use crate::kernels::pool::Line;
use bytemuck::Zeroable;
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

/// Elements of a register behind a block: folds read whole groups, and leave out what is behind their rows.
const BEHIND: usize = 64;

/// Cache lines of a register: those of two blocks of the widest elements, as elements that come again and again take.
const LINES: usize = (2 * BLOCK + BEHIND) * size_of::<u64>() / size_of::<Line>();

/// So many registers a thread keeps at most.
const KEPT: usize = 64;

thread_local! {
    static FREE: RefCell<Vec<Vec<Line>>> = const { RefCell::new(Vec::new()) };
}

/// Memory for two blocks of elements, or for none.
#[derive(Default)]
pub struct Register(Vec<Line>);

impl Register {
    /// A register with room.
    pub fn take() -> Register {
        let kept = FREE.try_with(|free| free.borrow_mut().pop()).ok().flatten();
        let mut register = Register(kept.unwrap_or_else(|| vec![Line::zeroed(); LINES]));
        if cfg!(debug_assertions) {
            // Whoever reads what nobody wrote finds no zeros there.
            register.fill(0x5a5a_5a5a_5a5a_5a5a);
        }
        register
    }
}

impl Drop for Register {
    fn drop(&mut self) {
        let lines = std::mem::take(&mut self.0);
        if lines.is_empty() {
            return;
        }
        // A thread that ends keeps nothing.
        let _ = FREE.try_with(|free| {
            let mut free = free.borrow_mut();
            if free.len() < KEPT {
                free.push(lines);
            }
        });
    }
}

impl Deref for Register {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        bytemuck::cast_slice(&self.0)
    }
}

impl DerefMut for Register {
    fn deref_mut(&mut self) -> &mut [u64] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}
