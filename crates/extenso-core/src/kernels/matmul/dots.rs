//! Products of one column: each row by a vector that is not short.
//!
//! Invariant: a dot product is as many chains as four cache lines have elements, the element p in chain p modulo their number,
//! `acc = fma(a[p], b[p], acc)` from +0 on, as long as there is one for each; then the second half of the chains is added to the
//! first, until one is left, which goes on over what is left of the row. So a row has the bits that it has in any batch, whatever the
//! instruction set.

use super::super::isa::multiversion;
use super::{Chain, Float, unit};

/// Whether a product of one column is made of dot products: a chain over a few elements is short enough.
pub fn is_dots<T: Float>(k: usize, n: usize) -> bool {
    n == 1 && k > 4 * unit::<T::Acc>()
}

/// Multiplies `a`, rows of `b.len()` elements, by the vector `b` into `out`, which has an element for each row.
pub fn dots<T: Float>(a: &[T], b: &[T], out: &mut [T]) {
    match T::carried(b) {
        Some(b) => rows(a, b, out),
        None => rows(a, &b.iter().map(|x| x.widen()).collect::<Vec<_>>(), out),
    }
}

multiversion! {
    fn rows<T: Float>(a: &[T], b: &[T::Acc], out: &mut [T]) {
        for (i, out) in out.iter_mut().enumerate() {
            let row = &a[i * b.len()..][..b.len()];
            *out = T::round(match unit::<T::Acc>() {
                8 => dot::<T, 32>(row, b),
                _ => dot::<T, 64>(row, b),
            });
        }
    }
}

#[inline(always)]
fn dot<T: Float, const LANES: usize>(a: &[T], b: &[T::Acc]) -> T::Acc {
    let mut chains = [T::Acc::default(); LANES];
    let ((a, last_a), (b, last_b)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            chains[lane] = a[lane].widen().fma(b[lane], chains[lane]);
        }
    }
    // The compiler knows every length: nothing is stored in between.
    macro_rules! halve {
        ($($half:literal)*) => {$(
            if $half < LANES {
                for lane in 0..$half {
                    chains[lane] = chains[lane] + chains[lane + $half];
                }
            }
        )*};
    }
    halve!(32 16 8 4 2 1);
    last_a.iter().zip(last_b).fold(chains[0], |sum, (a, b)| a.widen().fma(*b, sum))
}
