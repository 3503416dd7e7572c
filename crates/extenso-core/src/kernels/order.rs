//! The order of elements: sorting rows, the positions that would sort them.
//!
//! Invariant: NaN comes last, in both directions; equal elements keep their order. Strings compare by their bytes, which
//! for UTF-8 is the order of code points. Rows are runs of equal length. Does not split work over threads.

use super::isa::multiversion;
use super::radix::sort_by_digits;
use super::ranks::leading;
use half::{bf16, f16};
use std::cmp::Ordering;

/// Elements that can be sorted.
pub trait Ordered: Copy {
    /// The numbers that order as elements do.
    type Key: Copy + Default + Ord + Into<u64>;

    /// Whether elements of equal rank cannot be told apart, and none is last.
    const EQUAL_ARE_ALIKE: bool;

    /// Whether the element has no place among the others, and comes last.
    fn is_last(self) -> bool;

    /// The order of two elements that have a place.
    fn place(self, other: Self) -> Ordering;

    /// A number that orders as the element does, if there is one; elements of equal rank have equal numbers.
    fn key(self, descending: bool) -> Option<Self::Key>;

    /// A number that orders as the element does as far as it goes, of those that have no key.
    #[inline(always)]
    fn leading(self) -> u128 {
        0
    }

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
    ($($float:ident as $bits:ident;)* | $($t:ty as $key:ty: |$x:ident| $of:expr $(, $leading:ident)?;)*) => {
        $(impl Ordered for $t {
            type Key = $key;
            const EQUAL_ARE_ALIKE: bool = true;
            #[inline(always)]
            fn is_last(self) -> bool { false }
            #[inline(always)]
            fn place(self, other: $t) -> Ordering { self.cmp(&other) }
            #[inline(always)]
            fn key(self, descending: bool) -> Option<$key> {
                let $x = self;
                let key: Option<$key> = $of;
                Some(if descending { !key? } else { key? })
            }
            $(#[inline(always)]
            fn leading(self) -> u128 { $leading(self) })?
        })*
        $(impl Ordered for $float {
            type Key = $bits;
            const EQUAL_ARE_ALIKE: bool = false;
            #[inline(always)]
            fn is_last(self) -> bool { self.is_nan() }
            #[inline(always)]
            fn place(self, other: $float) -> Ordering { self.partial_cmp(&other).unwrap_or(Ordering::Equal) }
            /// The bits of a number, turned so that they order as numbers do; both zeros are one, and NaN is behind all.
            #[inline(always)]
            fn key(self, descending: bool) -> Option<$bits> {
                const SIGN: $bits = 1 << ($bits::BITS - 1);
                let (bits, size) = (self.to_bits(), self.to_bits() & !SIGN);
                let key = if bits > SIGN { !bits } else { size | SIGN };
                let key = if descending { !key } else { key };
                Some(if size > $float::INFINITY.to_bits() { $bits::MAX } else { key })
            }
        })*
    };
}
ordered! {
    f16 as u16;
    bf16 as u16;
    f32 as u32;
    f64 as u64;
    |
    bool as u8: |x| Some(u8::from(x));
    u8 as u8: |x| Some(x);
    u16 as u16: |x| Some(x);
    u32 as u32: |x| Some(x);
    u64 as u64: |x| Some(x);
    i8 as u8: |x| Some(x.cast_unsigned() ^ 1 << 7);
    i16 as u16: |x| Some(x.cast_unsigned() ^ 1 << 15);
    i32 as u32: |x| Some(x.cast_unsigned() ^ 1 << 31);
    i64 as u64: |x| Some(x.cast_unsigned() ^ 1 << 63);
    &[u8] as u64: |_x| None, leading;
}

/// Sorts each row of `n` elements.
pub fn sort_rows<T: Ordered>(x: &[T], n: usize, descending: bool, out: &mut [T]) {
    let mut spare = Vec::new();
    out.copy_from_slice(x);
    out.chunks_mut(n.max(1)).for_each(|row| sort_row(row, descending, &mut spare));
}

/// Sorts a row. `spare` is memory that rows use one after the other.
pub fn sort_row<T: Ordered>(row: &mut [T], descending: bool, spare: &mut Vec<T>) {
    let Some(&first) = row.first() else { return };
    if let Some(ranks) = Ranks::of(row, descending) {
        let mut unsorted = [first; SHORT];
        unsorted[..row.len()].copy_from_slice(row);
        return unsorted.iter().zip(&ranks.0[..row.len()]).for_each(|(x, rank)| row[*rank as usize] = *x);
    }
    let key = |x: T| x.key(descending).unwrap_or_default();
    match first.key(descending) {
        Some(_) if row.is_sorted_by_key(|x| key(*x)) => {}
        None => row.sort_by(|a, b| a.order(*b, descending)),
        Some(_) if row.len() >= LONG * size_of::<T::Key>() => {
            spare.resize(row.len().max(spare.len()), first);
            sort_by_digits(row, &mut spare[..row.len()], key);
        }
        Some(_) if T::EQUAL_ARE_ALIKE => row.sort_unstable_by_key(|x| key(*x)),
        Some(_) => row.sort_by_key(|x| key(*x)),
    }
}

/// Rows of at least so many elements for each digit of their keys are sorted by digits.
const LONG: usize = 64;

/// Rows of so many elements for each value that their keys can have are sorted by counting those.
const FEW: usize = 4;

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
        keys.iter_mut().zip(row.iter().filter_map(|x| x.key(descending))).for_each(|(to, key)| *to = key.into());
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
    starts: Vec<usize>,
    narrow: Vec<u64>,
    spare: Vec<u64>,
    wide: Vec<u128>,
    texts: Vec<(u128, usize)>,
}

/// The positions in a row in the order that sorts it, equal elements in theirs.
///
/// Few keys beside the elements are counted, and each position goes to the next place of its key. Other numbers are sorted with their
/// positions in the low bits, so that no comparison looks elsewhere: in 64 bits where the keys of the row are near each other,
/// otherwise in 128. Texts are sorted beside their first bytes, so that few comparisons look at them.
pub fn argsort<T: Ordered>(row: &[T], descending: bool, out: &mut [i64], scratch: &mut Scratch) {
    if let Some(ranks) = Ranks::of(row, descending) {
        return ranks.0[..row.len()].iter().zip(0..).for_each(|(rank, i)| out[*rank as usize] = i);
    }
    let has_keys = row.first().is_some_and(|x| x.key(descending).is_some());
    if has_keys && row.is_sorted_by_key(|x| x.key(descending)) {
        return out.iter_mut().zip(0..).for_each(|(at, i)| *at = i);
    }
    let keys = || row.iter().filter_map(|x| x.key(descending)).map(Into::into);
    let (low, high) = keys().fold((u64::MAX, 0), |(low, high), key| (low.min(key), high.max(key)));
    let bits = usize::BITS - row.len().leading_zeros();
    if !has_keys {
        scratch.texts.clear();
        scratch.texts.reserve_exact(row.len());
        scratch.texts.extend(row.iter().map(|x| if descending { !x.leading() } else { x.leading() }).zip(0..));
        scratch.texts.sort_unstable_by(|(x, a), (y, b)| {
            x.cmp(y).then_with(|| row[*a].order(row[*b], descending)).then_with(|| a.cmp(b))
        });
        out.iter_mut().zip(&scratch.texts).for_each(|(at, (_, i))| *at = *i as i64);
    } else if row.len() >= LONG * size_of::<T::Key>() && high - low < (row.len() / FEW) as u64 {
        let place = |key: u64| (key - low) as usize;
        scratch.starts.clear();
        scratch.starts.resize(place(high) + 1, 0);
        keys().for_each(|key| scratch.starts[place(key)] += 1);
        scratch.starts.iter_mut().fold(0, |start, count| start + std::mem::replace(count, start));
        for (key, i) in keys().zip(0..) {
            let at = &mut scratch.starts[place(key)];
            out[*at] = i;
            *at += 1;
        }
    } else if high.saturating_sub(low).leading_zeros() >= bits {
        scratch.narrow.clear();
        scratch.narrow.reserve_exact(row.len());
        scratch.narrow.extend(keys().zip(0_u64..).map(|(key, i)| (key - low) << bits | i));
        if row.len() >= LONG * size_of::<T::Key>() {
            // The positions are in order already.
            scratch.spare.resize(row.len(), 0);
            sort_by_digits(&mut scratch.narrow, &mut scratch.spare, |key| key >> bits);
        } else {
            scratch.narrow.sort_unstable();
        }
        let mask = (1 << bits) - 1;
        out.iter_mut().zip(&scratch.narrow).for_each(|(at, key)| *at = (key & mask) as i64);
    } else {
        scratch.wide.clear();
        scratch.wide.reserve_exact(row.len());
        scratch.wide.extend(keys().zip(0_u64..).map(|(key, i)| u128::from(key) << 64 | u128::from(i)));
        scratch.wide.sort_unstable();
        out.iter_mut().zip(&scratch.wide).for_each(|(at, key)| *at = *key as i64);
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
            sort_row(&mut sorted, descending, &mut Vec::new());
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
            sort_row(&mut sorted, false, &mut Vec::new());
            assert_eq!(bits(&sorted), bits(&wanted));
        }
    }

    /// Compares a sort with the old way: the elements at the positions that a stable sort by comparison gives.
    fn check_bits<T: Ordered + bytemuck::NoUninit>(of: impl Fn(u64) -> T) {
        for n in [0_u64, 1, 2, 15, 16, 17, 63, 64, 65, 1000, 70_000] {
            let x: Vec<T> = (0..n).map(|i| of((i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20)).collect();
            for descending in [false, true] {
                let mut order: Vec<i64> = (0..n as i64).collect();
                order.sort_by(|a, b| x[*a as usize].order(x[*b as usize], descending));
                let wanted: Vec<T> = order.iter().map(|i| x[*i as usize]).collect();
                let mut sorted = x.clone();
                sort_rows(&x, x.len(), descending, &mut sorted);
                assert_eq!(bytemuck::cast_slice::<T, u8>(&sorted), bytemuck::cast_slice::<T, u8>(&wanted), "{n}");
                let mut found = vec![0; x.len()];
                argsort(&x, descending, &mut found, &mut Scratch::default());
                assert_eq!(found, order, "{n}");
            }
        }
    }

    #[test]
    fn a_sort_takes_the_elements_in_their_order() {
        let nan = |i: u64| f32::from_bits(0x7fc0_0000 | (i as u32 & 0xff) | (i as u32 & 1) << 31);
        let float = |i: u64| match i % 100 {
            0 => nan(i / 100),
            1 => [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY][i as usize / 100 % 4],
            2..50 => (i / 100 % 50) as f32 - 25.0,
            _ => f32::from_bits((i >> 8) as u32),
        };
        check_bits(float);
        check_bits(nan);
        check_bits(|i| [0.0_f64, -0.0][i as usize % 2]);
        check_bits(|i| f64::from(float(i)) * 1e100);
        check_bits(|i| f64::from_bits(i.wrapping_mul(i)));
        check_bits(|i| f16::from_bits(i as u16));
        check_bits(|i| bf16::from_bits(i as u16));
        check_bits(|i| i as u8);
        check_bits(|i| i as i8);
        check_bits(|i| i as u16);
        check_bits(|i| i as i16);
        check_bits(|i| i as u32);
        check_bits(|i| i as i32);
        check_bits(|i| i.wrapping_mul(i));
        check_bits(|i| i.wrapping_mul(i).cast_signed());
        check_bits(|i| (i % 1000) as i64 - 500);
        check_bits(|i| i % 3 == 0);
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
