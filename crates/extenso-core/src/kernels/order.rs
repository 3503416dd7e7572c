//! The order of elements: sorting rows, the positions that would sort them, the first extreme of each.
//!
//! Invariant: NaN comes last, in both directions; equal elements keep their order. Strings compare by their bytes, which
//! for UTF-8 is the order of code points. Rows are runs of equal length. Does not split work over threads.

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
    match (T::EQUAL_ARE_ALIKE, descending) {
        (true, false) => row.sort_unstable_by(|a, b| a.place(*b)),
        (true, true) => row.sort_unstable_by(|a, b| b.place(*a)),
        (false, _) => row.sort_by(|a, b| a.order(*b, descending)),
    }
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
        check(&(0..500).map(|i| i * 7919 % 499).collect::<Vec<i32>>());
    }
}
