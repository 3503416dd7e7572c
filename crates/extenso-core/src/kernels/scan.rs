//! Running sums and products of rows, linear recurrences along them, and sums at positions.
//!
//! Invariant: a result is folded in one order alone, element after element, so a row has the bits that it has in any batch.
//! Half-width floats fold in f32 and round where a result is written. Does not split work over threads.

use super::map::Number;
use std::ops::Range;

/// Folds each of these rows and writes what it comes to at each element; from the end, if `reverse`.
pub fn scan_rows<T: Copy, A: Copy, U>(
    x: &[T],
    rows: impl Iterator<Item = Range<usize>>,
    reverse: bool,
    start: A,
    step: impl Fn(A, T) -> A,
    narrow: impl Fn(A) -> U,
    out: &mut [U],
) {
    for row in rows {
        let mut acc = start;
        let mut write = |x: &T, out: &mut U| {
            acc = step(acc, *x);
            *out = narrow(acc);
        };
        let (row, out) = (&x[row.clone()], &mut out[row]);
        if reverse {
            row.iter().zip(out).rev().for_each(|(x, out)| write(x, out));
        } else {
            row.iter().zip(out).for_each(|(x, out)| write(x, out));
        }
    }
}

/// Writes `y[i] = x[i] + link[i] * y[i - 1]` for each of these rows; from the end, `y[i] = x[i] + link[i + 1] * y[i + 1]`.
pub fn recur_rows<T: Number>(
    x: &[T],
    link: &[T],
    rows: impl Iterator<Item = Range<usize>>,
    reverse: bool,
    step: impl Fn(T::Wide, T::Wide, T::Wide) -> T::Wide,
    out: &mut [T],
) {
    for row in rows {
        let mut before: Option<(usize, T::Wide)> = None;
        let mut write = |i: usize| {
            let value = match before {
                None => x[i].widen(),
                Some((at, before)) => step(x[i].widen(), link[i.max(at)].widen(), before),
            };
            before = Some((i, value));
            out[i] = T::narrow(value);
        };
        if reverse { row.rev().for_each(&mut write) } else { row.for_each(&mut write) }
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
