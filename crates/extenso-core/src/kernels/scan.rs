//! Running sums and products of rows, and sums at positions.
//!
//! Invariant: a result is folded in one order alone, element after element, so a row has the bits that it has in any batch.
//! Half-width floats fold in f32 and round where a result is written. Does not split work over threads.

use super::map::Number;

/// Folds each row of `n` elements and writes what it comes to at each; from the end, if `reverse`.
pub fn scan_rows<T: Copy, A: Copy, U>(
    x: &[T],
    n: usize,
    reverse: bool,
    start: A,
    step: impl Fn(A, T) -> A,
    narrow: impl Fn(A) -> U,
    out: &mut [U],
) {
    for (row, out) in x.chunks(n.max(1)).zip(out.chunks_mut(n.max(1))) {
        let mut acc = start;
        let mut write = |x: &T, out: &mut U| {
            acc = step(acc, *x);
            *out = narrow(acc);
        };
        if reverse {
            row.iter().zip(out).rev().for_each(|(x, out)| write(x, out));
        } else {
            row.iter().zip(out).for_each(|(x, out)| write(x, out));
        }
    }
}

/// Adds the elements of each row of `width` at positions of a row of `n` zeros.
pub fn add_rows<T: Number>(
    x: &[T],
    at: &[usize],
    width: usize,
    n: usize,
    zero: T::Wide,
    add: impl Fn(T::Wide, T::Wide) -> T::Wide,
    out: &mut [T],
) {
    // Without rows, even one as long as a row may be would be too much.
    if out.is_empty() {
        return;
    }
    let mut sums = vec![zero; n];
    for (row, out) in out.chunks_mut(n.max(1)).enumerate() {
        sums.fill(zero);
        for i in row * width..(row + 1) * width {
            sums[at[i]] = add(sums[at[i]], x[i].widen());
        }
        out.iter_mut().zip(&sums).for_each(|(out, sum)| *out = T::narrow(*sum));
    }
}
