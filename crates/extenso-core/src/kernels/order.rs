//! The order of elements: sorting rows, the positions that would sort them, the first extreme of each.
//!
//! Invariant: NaN comes last, in both directions; equal elements keep their order. Strings compare by their bytes, which
//! for UTF-8 is the order of code points. Rows are runs of equal length. Does not split work over threads.

use super::isa::multiversion;
use half::{bf16, f16};
use std::cmp::Ordering;

/// Elements that can be sorted.
pub trait Ordered: Copy {
    /// Whether elements of equal rank cannot be told apart, and none is last.
    const EQUAL_ARE_ALIKE: bool;

    /// Whether the element has no place among the others, and comes last.
    fn is_last(self) -> bool;

    /// The order of two elements that have a place.
    fn place(self, other: Self) -> Ordering;

    /// A number that orders as the element does, if there is one; elements of equal rank have equal numbers.
    #[inline(always)]
    fn key(self, descending: bool) -> Option<u64> {
        let key = self.ascending()?;
        Some(if descending && !self.is_last() { !key } else { key })
    }

    /// The number that orders as the element does among ascending ones.
    fn ascending(self) -> Option<u64>;

    /// The order of two elements.
    #[inline(always)]
    fn order(self, other: Self, descending: bool) -> Ordering {
        match (self.is_last(), other.is_last()) {
            (false, false) if descending => other.place(self),
            (false, false) => self.place(other),
            (a, b) => a.cmp(&b),
        }
    }
}

macro_rules! ordered {
    ($($float:ident)*; $($t:ty: |$x:ident| $key:expr;)*) => {
        $(impl Ordered for $t {
            const EQUAL_ARE_ALIKE: bool = true;
            #[inline(always)]
            fn is_last(self) -> bool { false }
            #[inline(always)]
            fn place(self, other: $t) -> Ordering { self.cmp(&other) }
            #[inline(always)]
            fn ascending(self) -> Option<u64> { let $x = self; $key }
        })*
        $(impl Ordered for $float {
            const EQUAL_ARE_ALIKE: bool = false;
            #[inline(always)]
            fn is_last(self) -> bool { self.is_nan() }
            #[inline(always)]
            fn place(self, other: $float) -> Ordering { self.partial_cmp(&other).unwrap_or(Ordering::Equal) }
            #[inline(always)]
            fn ascending(self) -> Option<u64> { Some(if self.is_nan() { u64::MAX } else { float_key(f64::from(self)) }) }
        })*
    };
}
ordered! {
    f16 bf16 f32 f64;
    bool: |x| Some(u64::from(x));
    u8: |x| Some(u64::from(x));
    u16: |x| Some(u64::from(x));
    u32: |x| Some(u64::from(x));
    u64: |x| Some(x);
    i8: |x| Some(signed_key(i64::from(x)));
    i16: |x| Some(signed_key(i64::from(x)));
    i32: |x| Some(signed_key(i64::from(x)));
    i64: |x| Some(signed_key(x));
    &[u8]: |_x| None;
}

#[inline(always)]
fn signed_key(x: i64) -> u64 {
    x.cast_unsigned() ^ 1 << 63
}

/// The bits of a number, turned so that they order as numbers do; both zeros are one.
#[inline(always)]
fn float_key(x: f64) -> u64 {
    let bits = (x + 0.0).to_bits().cast_signed();
    signed_key(bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed())
}

/// Sorts each row of `n` elements.
pub fn sort_rows<T: Ordered>(x: &[T], n: usize, descending: bool, out: &mut [T]) {
    out.copy_from_slice(x);
    out.chunks_mut(n.max(1)).for_each(|row| sort_row(row, descending));
}

/// Sorts a row.
pub fn sort_row<T: Ordered>(row: &mut [T], descending: bool) {
    if let (Some(ranks), Some(first)) = (Ranks::of(row, descending), row.first()) {
        let mut unsorted = [*first; SHORT];
        unsorted[..row.len()].copy_from_slice(row);
        return unsorted.iter().zip(&ranks.0[..row.len()]).for_each(|(x, rank)| row[*rank as usize] = *x);
    }
    match (T::EQUAL_ARE_ALIKE, descending) {
        (true, false) => row.sort_unstable_by(|a, b| a.place(*b)),
        (true, true) => row.sort_unstable_by(|a, b| b.place(*a)),
        (false, _) => row.sort_by(|a, b| a.order(*b, descending)),
    }
}

/// Rows of at most so many elements are sorted by counting.
const SHORT: usize = 16;

/// For each key of a short row the number of those that stand before it.
///
/// Every key is compared with every other: that are more comparisons than a sort needs, but none of them is a branch, and the
/// processor cannot guess those of a sort of a few elements.
struct Ranks([u64; SHORT]);

impl Ranks {
    /// The ranks of a short row whose elements have keys.
    #[inline(always)]
    fn of<T: Ordered>(row: &[T], descending: bool) -> Option<Ranks> {
        if row.len() > SHORT || row.first()?.key(descending).is_none() {
            return None;
        }
        // What follows the row is not before any of it.
        let (mut keys, mut ranks) = ([u64::MAX; SHORT], [0; SHORT]);
        keys.iter_mut().zip(row.iter().filter_map(|x| x.key(descending))).for_each(|(to, key)| *to = key);
        match (keys.first_chunk(), ranks.first_chunk_mut()) {
            (Some(keys), Some(ranks)) if row.len() <= SHORT / 2 => rank_eight(keys, ranks),
            _ => rank_sixteen(&keys, &mut ranks),
        }
        Some(Ranks(ranks))
    }
}

multiversion! {
    fn rank_eight(keys: &[u64; SHORT / 2], ranks: &mut [u64; SHORT / 2]) {
        *ranks = counted(keys);
    }

    fn rank_sixteen(keys: &[u64; SHORT], ranks: &mut [u64; SHORT]) {
        *ranks = counted(keys);
    }
}

/// For each key the number of smaller ones, and of equal ones in front of it.
#[inline(always)]
fn counted<const N: usize>(keys: &[u64; N]) -> [u64; N] {
    let mut ranks = [0; N];
    for i in 0..N {
        for j in 0..N {
            ranks[j] += u64::from((keys[i] < keys[j]) | (keys[i] == keys[j]) & (i < j));
        }
    }
    ranks
}

/// The positions in each row of `n` elements in the order that sorts it.
pub fn argsort_rows<T: Ordered>(x: &[T], n: usize, descending: bool, out: &mut [i64]) {
    let mut scratch = Scratch::default();
    for (row, out) in x.chunks(n.max(1)).zip(out.chunks_mut(n.max(1))) {
        argsort(row, descending, out, &mut scratch);
    }
}

/// Memory that rows use one after the other.
#[derive(Default)]
pub struct Scratch {
    narrow: Vec<u64>,
    wide: Vec<u128>,
}

/// The positions in a row in the order that sorts it, equal elements in theirs.
///
/// Numbers are sorted with their positions in the low bits, so that no comparison looks elsewhere: in 64 bits where the keys of
/// the row are near each other, otherwise in 128.
pub fn argsort<T: Ordered>(row: &[T], descending: bool, out: &mut [i64], scratch: &mut Scratch) {
    if let Some(ranks) = Ranks::of(row, descending) {
        return ranks.0[..row.len()].iter().zip(0..).for_each(|(rank, i)| out[*rank as usize] = i);
    }
    let keys = || row.iter().filter_map(|x| x.key(descending));
    let (low, high) = keys().fold((u64::MAX, 0), |(low, high), key| (low.min(key), high.max(key)));
    let bits = usize::BITS - row.len().leading_zeros();
    if row.first().is_some_and(|x| x.key(descending).is_none()) {
        out.iter_mut().zip(0..).for_each(|(at, i)| *at = i);
        out.sort_by(|a, b| row[*a as usize].order(row[*b as usize], descending));
    } else if high.saturating_sub(low).leading_zeros() >= bits {
        scratch.narrow.clear();
        scratch.narrow.extend(keys().zip(0_u64..).map(|(key, i)| (key - low) << bits | i));
        scratch.narrow.sort_unstable();
        let mask = (1 << bits) - 1;
        out.iter_mut().zip(&scratch.narrow).for_each(|(at, key)| *at = (key & mask) as i64);
    } else {
        scratch.wide.clear();
        scratch.wide.extend(keys().zip(0_u64..).map(|(key, i)| u128::from(key) << 64 | u128::from(i)));
        scratch.wide.sort_unstable();
        out.iter_mut().zip(&scratch.wide).for_each(|(at, key)| *at = *key as i64);
    }
}

/// The positions of the `k` largest elements of each row of `n`, the largest first, of equal ones the first.
pub fn top_rows<T: Ordered>(x: &[T], n: usize, k: usize, out: &mut [i64]) {
    // Without rows, even one as long as a row may be would be too much.
    if k == 0 || x.is_empty() {
        return;
    }
    let mut all: Vec<i64> = Vec::with_capacity(n);
    for (row, out) in x.chunks(n.max(1)).zip(out.chunks_mut(k)) {
        let order = |a: &i64, b: &i64| row[*a as usize].order(row[*b as usize], true).then(a.cmp(b));
        all.clear();
        all.extend(0..n as i64);
        if k < n {
            all.select_nth_unstable_by(k - 1, order);
        }
        all[..k].sort_unstable_by(order);
        out.copy_from_slice(&all[..k]);
    }
}

/// The position of the first extreme of each row of `n` elements; of the first NaN, if there is one.
pub fn extreme_rows<T: Ordered>(x: &[T], n: usize, largest: bool, out: &mut [i64]) {
    let wanted = if largest { Ordering::Greater } else { Ordering::Less };
    for (row, out) in x.chunks(n.max(1)).zip(out) {
        let mut best = 0;
        for (i, x) in row.iter().enumerate() {
            if x.is_last() {
                best = i;
                break;
            }
            if x.place(row[best]) == wanted {
                best = i;
            }
        }
        *out = best as i64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Ordered>(row: &[T]) {
        for descending in [false, true] {
            let mut wanted: Vec<i64> = (0..row.len() as i64).collect();
            wanted.sort_by(|a, b| row[*a as usize].order(row[*b as usize], descending));
            let mut found = vec![0; row.len()];
            argsort(row, descending, &mut found, &mut Scratch::default());
            assert_eq!(found, wanted, "{descending}");
            let mut sorted = row.to_vec();
            sort_row(&mut sorted, descending);
            let is_alike = |(x, at): (&T, &i64)| x.order(row[*at as usize], descending) == Ordering::Equal;
            assert!(sorted.iter().zip(&wanted).all(is_alike), "{descending}");
        }
    }

    #[test]
    fn equal_floats_keep_their_order() {
        let bits = |row: &[f32]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        for n in [8, 16, 24] {
            // Both zeros are equal, and so are all NaN.
            let nan = |i: u32| f32::from_bits(0x7fc0_0000 + i);
            let row: Vec<f32> = (0..n).map(|i| [nan(i), -0.0, 0.0][i as usize % 3]).collect();
            let zeros = row.iter().copied().filter(|x| !x.is_nan());
            let wanted: Vec<f32> = zeros.chain(row.iter().copied().filter(|x| x.is_nan())).collect();
            let mut sorted = row.clone();
            sort_row(&mut sorted, false);
            assert_eq!(bits(&sorted), bits(&wanted));
        }
    }

    #[test]
    fn keys_sort_as_their_elements() {
        check::<i64>(&[]);
        check(&[3_i64, i64::MIN, 7, i64::MAX, -1, 3, 0]);
        check(&[5_i64, 4, 5, 3, 4]);
        check(&[200_u8, 3, 3, 255, 0]);
        check(&[true, false, true]);
        check(&[0.0, f64::NAN, -0.0, f64::INFINITY, -1.5, f64::NEG_INFINITY, -f64::NAN, 0.0]);
        check(&[f32::MIN_POSITIVE, -f32::MIN_POSITIVE, 1.0, -0.0, 0.0, f32::NAN, f32::NAN]);
        check(&[f16::from_f32(1.5), f16::NAN, f16::from_f32(-2.0)]);
        check(&[&b"b"[..], b"a", b"", b"b"]);
        for n in 1..40 {
            check(&(0..n).map(|i| i * 7919 % 13 - 6).collect::<Vec<i64>>());
            check(&(0..n).map(|i| (i * 7919 % 13) as f32 - 6.0).collect::<Vec<f32>>());
        }
        check(&(0..500).map(|i| i * 7919 % 499).collect::<Vec<i32>>());
    }
}
