//! The order of elements: sorting rows, the positions that would sort them, the first extreme of each.
//!
//! Invariant: NaN comes last, in both directions; equal elements keep their order. Strings compare by their bytes, which
//! for UTF-8 is the order of code points. Rows are runs of equal length. Does not split work over threads.

use half::{bf16, f16};
use std::cmp::Ordering;

/// Elements that can be sorted.
pub trait Ordered: Copy {
    /// Whether the element has no place among the others, and comes last.
    fn is_last(self) -> bool;

    /// The order of two elements that have a place.
    fn place(self, other: Self) -> Ordering;

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
    ($($t:ty)* ; $($float:ty)*) => {
        $(impl Ordered for $t {
            #[inline(always)]
            fn is_last(self) -> bool { false }
            #[inline(always)]
            fn place(self, other: $t) -> Ordering { self.cmp(&other) }
        })*
        $(impl Ordered for $float {
            #[inline(always)]
            fn is_last(self) -> bool { self.is_nan() }
            #[inline(always)]
            fn place(self, other: $float) -> Ordering { self.partial_cmp(&other).unwrap_or(Ordering::Equal) }
        })*
    };
}
ordered! { bool i8 i16 i32 i64 u8 u16 u32 u64 &[u8]; f16 bf16 f32 f64 }

/// Sorts each row of `n` elements.
pub fn sort_rows<T: Ordered>(x: &[T], n: usize, descending: bool, out: &mut [T]) {
    out.copy_from_slice(x);
    out.chunks_mut(n.max(1)).for_each(|row| row.sort_by(|a, b| a.order(*b, descending)));
}

/// The positions in each row of `n` elements in the order that sorts it.
pub fn argsort_rows<T: Ordered>(x: &[T], n: usize, descending: bool, out: &mut [i64]) {
    for (row, out) in x.chunks(n.max(1)).zip(out.chunks_mut(n.max(1))) {
        out.iter_mut().zip(0..).for_each(|(at, i)| *at = i);
        out.sort_by(|a, b| row[*a as usize].order(row[*b as usize], descending));
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
