//! Reductions of equal rows, and of single leaves, compiled per instruction set.

use super::isa::multiversion;
use super::reduce::{Reducer, leaf, reduce};

multiversion! {
    /// Reduces each run of `n` elements into `out`, with the bits of `reduce` on that run.
    pub fn rows_reduce<R: Reducer<T>, T: Copy>(x: &[T], n: usize, out: &mut [R::Out]) {
        if n == 0 {
            return out.fill(R::finish(R::IDENTITY));
        }
        for (out, row) in out.iter_mut().zip(x.chunks_exact(n)) {
            *out = if n <= super::reduce::LEAF { R::finish(leaf::<R, T>(row)) } else { reduce::<R, T>(row) };
        }
    }

    /// Reduces one leaf, to be pushed on a tree.
    pub fn reduce_leaf<R: Reducer<T>, T: Copy>(x: &[T]) -> R::Acc {
        leaf::<R, T>(x)
    }
}
