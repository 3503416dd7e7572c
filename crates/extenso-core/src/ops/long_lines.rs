//! Sorting lines of which few are long: parts of a line are sorted side by side, and then merged side by side.
//!
//! Invariant: the order is that of one thread, as equal elements keep theirs. To cut a merge into pieces, the place in both parts
//! where so many elements come before is found by halving (Deo and Sarkar, 1991).

use super::sorting::by_lines;
use crate::kernels::order::{Ordered, argsort_rows, sort_rows};
use crate::threads::{side_by_side, threads};

/// Lines of fewer elements are not cut.
const LONG: usize = 1 << 17;

/// Sorts each line of `n` elements.
pub(super) fn sort_lines<T: Ordered + Send + Sync>(x: &[T], n: usize, descending: bool, out: &mut [T]) {
    let parts = parts(x.len(), n);
    if parts == 1 {
        return by_lines(x, n, out, n, |x, out| sort_rows(x, n, descending, out));
    }
    let mut spare = x[..n].to_vec();
    for (x, out) in x.chunks(n).zip(out.chunks_mut(n)) {
        let sort = |start: usize, out: &mut [T]| {
            let part = &x[start..start + out.len()];
            sort_rows(part, part.len(), descending, out);
        };
        in_parts(out, &mut spare, parts, sort, |a, b| is_before(a, b, descending));
    }
}

/// The positions in each line of `n` elements in the order that sorts it.
pub(super) fn order_lines<T: Ordered + Sync>(x: &[T], n: usize, descending: bool, out: &mut [i64]) {
    let parts = parts(x.len(), n);
    // The positions of numbers are sorted by digits, which takes less time than to look for the numbers in a merge.
    if parts == 1 || x.first().is_some_and(|x| x.key(descending).is_some()) {
        return by_lines(x, n, out, n, |x, out| argsort_rows(x, n, descending, out));
    }
    let mut spare = vec![0; n];
    for (x, out) in x.chunks(n).zip(out.chunks_mut(n)) {
        let sort = |start: usize, out: &mut [i64]| {
            let part = &x[start..start + out.len()];
            argsort_rows(part, part.len(), descending, out);
            out.iter_mut().for_each(|at| *at += start as i64);
        };
        in_parts(out, &mut spare, parts, sort, |a, b| is_before(x[a as usize], x[b as usize], descending));
    }
}

/// How many parts a line is cut into: one where lines are short, or enough for all threads.
fn parts(len: usize, n: usize) -> usize {
    if n < LONG || len / n >= threads() { 1 } else { threads().min(n / (LONG / 2)) }
}

#[inline(always)]
fn is_before<T: Ordered>(a: T, b: T, descending: bool) -> bool {
    match (a.key(descending), b.key(descending)) {
        (Some(a), Some(b)) => a < b,
        _ => a.order(b, descending).is_lt(),
    }
}

/// Sorts `out`, of which `sort` gives a part from its start on; `spare` is as long, and what it holds does not matter.
fn in_parts<T: Copy + Send + Sync>(
    out: &mut [T],
    spare: &mut [T],
    parts: usize,
    sort: impl Fn(usize, &mut [T]) + Sync,
    is_before: impl Fn(T, T) -> bool + Sync,
) {
    let mut width = out.len().div_ceil(parts);
    let merges = (0..usize::BITS).take_while(|merges| width << merges < out.len()).count();
    let (mut from, mut to) = if merges.is_multiple_of(2) { (out, spare) } else { (spare, out) };
    side_by_side(from.chunks_mut(width).enumerate().collect(), |(i, part)| sort(i * width, part));
    for _ in 0..merges {
        let pieces = parts.div_ceil(from.len().div_ceil(2 * width));
        let mut merges = Vec::new();
        for (pair, mut to) in from.chunks(2 * width).zip(to.chunks_mut(2 * width)) {
            let (mut a, mut b) = pair.split_at(width.min(pair.len()));
            while !to.is_empty() {
                let (piece, rest) = to.split_at_mut(to.len().min((2 * width).div_ceil(pieces)));
                let of_a = taken(a, b, piece.len(), &is_before);
                let (piece_of_a, piece_of_b) = (&a[..of_a], &b[..piece.len() - of_a]);
                (a, b, to) = (&a[of_a..], &b[piece_of_b.len()..], rest);
                merges.push((piece_of_a, piece_of_b, piece));
            }
        }
        side_by_side(merges, |(a, b, out)| merge(a, b, out, &is_before));
        (from, to, width) = (to, from, 2 * width);
    }
}

/// How many of the first `n` elements of both are of `a`; of equal ones, those of `a` come first.
fn taken<T: Copy>(a: &[T], b: &[T], n: usize, is_before: impl Fn(T, T) -> bool) -> usize {
    let (mut low, mut high) = (n.saturating_sub(b.len()), n.min(a.len()));
    while low < high {
        let middle = low.midpoint(high);
        if is_before(b[n - middle - 1], a[middle]) { high = middle } else { low = middle + 1 }
    }
    low
}

/// The elements of both in order; of equal ones, those of `a` come first.
fn merge<T: Copy>(a: &[T], b: &[T], out: &mut [T], is_before: impl Fn(T, T) -> bool) {
    let (mut i, mut j) = (0, 0);
    while let (Some(&x), Some(&y)) = (a.get(i), b.get(j)) {
        let second = is_before(y, x);
        out[i + j] = if second { y } else { x };
        (i, j) = (i + usize::from(!second), j + usize::from(second));
    }
    let (a, b) = (&a[i..], &b[j..]);
    out[i + j..][..a.len()].copy_from_slice(a);
    out[i + j + a.len()..].copy_from_slice(b);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::with_threads;

    /// Compares lines on several threads with those on one, by their bits.
    fn check<T: Ordered + Send + Sync + PartialEq>(x: &[T], n: usize) {
        for descending in [false, true] {
            let sorted = |threads| {
                let (mut values, mut order) = (x.to_vec(), vec![0; x.len()]);
                with_threads(threads, || {
                    sort_lines(x, n, descending, &mut values);
                    order_lines(x, n, descending, &mut order);
                });
                (values, order)
            };
            let one = sorted(1);
            for threads in [2, 3, 4, 7] {
                assert!(sorted(threads) == one, "{threads} threads, lines of {n} of {} elements", x.len());
            }
        }
    }

    fn numbers(n: u64) -> impl Iterator<Item = u64> {
        (1..=n).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20)
    }

    #[test]
    fn threads_sort_a_long_line_as_one_does() {
        let n = LONG + 77;
        let long: Vec<u64> = numbers(2 * n as u64).collect();
        check(&long[..n], n);
        check(&long, n);
        check(&long, 2 * n);
        check(&long[..LONG - 1], LONG - 1);
        check(&long.iter().map(|x| (x % 3) as i8).collect::<Vec<i8>>(), n);
        let mut sorted = long.clone();
        sorted.sort_unstable();
        check(&sorted, 2 * n);
    }

    #[test]
    fn equal_elements_of_a_long_line_keep_their_order() {
        let texts: Vec<String> = numbers(LONG as u64 + 5).map(|x| (x % 999).to_string()).collect();
        check(&texts.iter().map(String::as_bytes).collect::<Vec<&[u8]>>(), texts.len());
        // Both zeros are equal, and so are all NaN: only their bits tell them apart.
        let float = |x: u64| [0.0, -0.0, 1.5, f64::NAN, -f64::NAN][x as usize % 5];
        let floats: Vec<f64> = numbers(LONG as u64 + 5).map(float).collect();
        let sorted = |threads| {
            let mut out = floats.clone();
            with_threads(threads, || sort_lines(&floats, floats.len(), false, &mut out));
            out.into_iter().map(f64::to_bits).collect::<Vec<u64>>()
        };
        assert_eq!(sorted(1), sorted(2));
        assert_eq!(sorted(1), sorted(3));
    }
}
