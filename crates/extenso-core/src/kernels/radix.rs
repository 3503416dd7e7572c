//! Sorting by digits: elements are moved by the digits of their keys, from the lowest digit to the highest.
//!
//! Invariant: stable, so that equal keys keep their order. Knows nothing of elements but their keys.

use smallvec::SmallVec;

/// The values of a digit.
const VALUES: usize = 256;

/// The most digits of a key.
const DIGITS: usize = size_of::<u64>();

/// Sorts elements by keys; `spare` is as long as `x`, and what it holds does not matter.
pub fn sort_by_digits<T: Copy, K: Into<u64>>(x: &mut [T], spare: &mut [T], key: impl Fn(T) -> K) {
    let Some(&first) = x.first() else { return };
    let first = key(first).into();
    // A digit that all have in common moves none.
    let varying = x.iter().fold(0, |varying, x| varying | (key(*x).into() ^ first));
    let places: SmallVec<[usize; DIGITS]> = (0..size_of::<K>()).filter(|place| digit(varying, *place) != 0).collect();
    let counts = counts(x, &places, &key);
    let (mut from, mut to, mut is_in_spare) = (x, spare, false);
    for (&place, counts) in places.iter().zip(&counts) {
        scatter(from, to, counts, |x| digit(key(x).into(), place));
        (from, to, is_in_spare) = (to, from, !is_in_spare);
    }
    if is_in_spare {
        to.copy_from_slice(from);
    }
}

#[inline(always)]
fn digit(key: u64, place: usize) -> usize {
    usize::from((key >> (8 * place)) as u8)
}

/// How often each value of the digits at these places stands there.
fn counts<T: Copy, K: Into<u64>>(x: &[T], places: &[usize], key: impl Fn(T) -> K) -> [[usize; VALUES]; DIGITS] {
    let mut counts = [[0; VALUES]; DIGITS];
    if places.len() == size_of::<K>() {
        for x in x {
            let key = key(*x).into();
            for (place, counts) in counts[..size_of::<K>()].iter_mut().enumerate() {
                counts[digit(key, place)] += 1;
            }
        }
        return counts;
    }
    // Of a few digits each is counted by itself: a loop over some places for each element costs more.
    for (&place, counts) in places.iter().zip(&mut counts) {
        x.iter().for_each(|x| counts[digit(key(*x).into(), place)] += 1);
    }
    counts
}

/// Moves elements to those of the same digit, in their order.
fn scatter<T: Copy>(from: &[T], to: &mut [T], counts: &[usize; VALUES], digit: impl Fn(T) -> usize) {
    let (mut starts, mut start) = ([0; VALUES], 0);
    for (at, count) in starts.iter_mut().zip(counts) {
        *at = start;
        start += count;
    }
    for x in from {
        let at = &mut starts[digit(*x)];
        to[*at] = *x;
        *at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<K: Copy + Ord + Into<u64>>(of: impl Fn(u64) -> K) {
        for n in [0, 1, 2, 255, 1000] {
            let mut x: Vec<(K, usize)> =
                (0..n).map(|i| (of((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)), i)).collect();
            let mut wanted = x.clone();
            wanted.sort_by_key(|x| x.0);
            let mut spare = x.clone();
            sort_by_digits(&mut x, &mut spare, |x| x.0);
            assert!(x == wanted, "{n} keys of {} digits", size_of::<K>());
        }
    }

    #[test]
    fn digits_sort_as_keys_and_equal_keys_keep_their_order() {
        check(|key| key);
        check(|key| key % 7);
        check(|key| key >> 40 << 40);
        check(|key| key as u32);
        check(|key| key as u16);
        check(|key| key as u8);
        check(|_| 5_u32);
    }
}
