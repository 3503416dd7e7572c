//! The largest elements of rows and columns: the first extreme, and the first few.
//!
//! Invariant: of equal elements the first is taken. Elements with keys are compared by these, many at once; others one by one. Rows
//! are runs of equal length. Does not split work over threads.

use super::isa::multiversion;
use super::order::Ordered;
use std::cmp::Ordering;
use std::ops::Range;

/// So many elements are looked at together.
const TOGETHER: usize = 512;

/// Rows of fewer elements are looked at one by one.
const SHORT: usize = 48;

/// Where rows stand.
pub trait Spans: Iterator<Item = Range<usize>> {}
impl<R: Iterator<Item = Range<usize>>> Spans for R {}

/// The positions of the `k` largest elements of each row of `n`, the largest first, of equal ones the first.
pub fn top_rows<T: Ordered>(x: &[T], n: usize, k: usize, out: &mut [i64]) {
    // Without rows, even one as long as a row may be would be too much.
    if k == 0 || x.is_empty() {
        return;
    }
    let mut best = Vec::new();
    for (row, out) in x.chunks(n.max(1)).zip(out.chunks_mut(k)) {
        match row[0].key(true) {
            Some(_) => top_keys(row, out, &mut best),
            None => top_by_order(row, out),
        }
    }
}

/// The positions of the first keys of a row. Few of its elements are ever held: once there are enough, none that is behind all of
/// these is taken up.
fn top_keys<T: Ordered>(row: &[T], out: &mut [i64], best: &mut Vec<(T::Key, usize)>) {
    let k = out.len();
    let mut last = None;
    best.clear();
    for (start, some) in (0..).step_by(TOGETHER).zip(row.chunks(TOGETHER)) {
        // What comes later is behind what is equal to it.
        let fits = |key: T::Key| last.is_none_or(|last| key < last);
        if fits(least_key(some)) {
            let keys = some.iter().map(|x| x.key(true).unwrap_or_default());
            best.extend(keys.zip(start..).filter(|(key, _)| fits(*key)));
        }
        if best.len() > 2 * k + TOGETHER {
            last = Some(best.select_nth_unstable(k - 1).1.0);
            best.truncate(k);
        }
    }
    best.sort_unstable();
    out.iter_mut().zip(&*best).for_each(|(at, (_, i))| *at = *i as i64);
}

/// The same for elements that have no keys.
fn top_by_order<T: Ordered>(row: &[T], out: &mut [i64]) {
    let k = out.len();
    let order = |a: &i64, b: &i64| row[*a as usize].order(row[*b as usize], true).then(a.cmp(b));
    let mut all: Vec<i64> = (0..row.len() as i64).collect();
    if k < all.len() {
        all.select_nth_unstable_by(k - 1, order);
    }
    all[..k].sort_unstable_by(order);
    out.copy_from_slice(&all[..k]);
}

multiversion! {
    /// The least key of elements in decreasing order.
    fn least_key<T: Ordered>(x: &[T]) -> T::Key {
        let key = |x: T| x.key(true).unwrap_or_default();
        x.first().map_or(T::Key::default(), |first| folded(x, key(*first), key, |a, b| if b < a { b } else { a }))
    }

    /// The position of the first extreme of each row of `n` elements; of the first NaN, if there is one.
    pub fn extreme_rows<T: Ordered>(x: &[T], n: usize, largest: bool, out: &mut [i64]) {
        for (row, out) in x.chunks(n.max(1)).zip(out) {
            *out = extreme(row, largest) as i64;
        }
    }

    /// The same of rows of any length, each where it stands; an empty one has none.
    pub fn extremes_of<T: Ordered, R: Spans>(x: &[T], rows: R, largest: bool, out: &mut [i64]) {
        for (row, out) in rows.zip(out) {
            let row = &x[row];
            if !row.is_empty() {
                *out = extreme(row, largest) as i64;
            }
        }
    }

    /// The same of columns: those from the column `from` on of rows of `width` elements. Elements have keys.
    pub fn extreme_columns<T: Ordered>(x: &[T], width: usize, from: usize, largest: bool, out: &mut [i64]) {
        for (part, out) in out.chunks_mut(TOGETHER).enumerate() {
            let (mut best, from) = ([T::Key::default(); TOGETHER], from + part * TOGETHER);
            out.fill(0);
            for (i, row) in x.chunks_exact(width).enumerate() {
                for ((x, best), at) in row[from..from + out.len()].iter().zip(&mut best).zip(&mut *out) {
                    let key = x.key(!largest).unwrap_or_default();
                    *at = if key > *best { i as i64 } else { *at };
                    *best = key.max(*best);
                }
            }
        }
    }
}

/// The position of the first extreme. That is the greatest key: NaN has the greatest in either direction.
#[inline(always)]
fn extreme<T: Ordered>(row: &[T], largest: bool) -> usize {
    if row.first().is_none_or(|x| x.key(!largest).is_none()) {
        return extreme_by_order(row, largest);
    }
    let key = |x: T| x.key(!largest).unwrap_or_default();
    if row.len() < SHORT {
        let later = |(best, at): (T::Key, usize), (i, x): (usize, &T)| {
            let key = key(*x);
            (key.max(best), if key > best { i } else { at })
        };
        return row.iter().enumerate().fold((T::Key::default(), 0), later).1;
    }
    let (mut best, mut from) = (T::Key::default(), 0);
    for (start, some) in (0..).step_by(TOGETHER).zip(row.chunks(TOGETHER)) {
        let found = folded(some, T::Key::default(), key, |a, b| if b > a { b } else { a });
        if found > best {
            (best, from) = (found, start);
        }
    }
    from + row[from..].iter().position(|x| key(*x) == best).unwrap_or(0)
}

/// Keys folded in lanes, each beginning with `start`, so that many elements are looked at at once.
#[inline(always)]
fn folded<T: Copy, K: Copy>(x: &[T], start: K, key: impl Fn(T) -> K, fold: impl Fn(K, K) -> K) -> K {
    const LANES: usize = 16;
    let (groups, rest) = x.as_chunks::<LANES>();
    let mut lanes = [start; LANES];
    for group in groups {
        for (lane, x) in lanes.iter_mut().zip(group) {
            *lane = fold(*lane, key(*x));
        }
    }
    for (lane, x) in lanes.iter_mut().zip(rest) {
        *lane = fold(*lane, key(*x));
    }
    lanes.into_iter().fold(start, fold)
}

/// The same for elements that have no keys.
fn extreme_by_order<T: Ordered>(row: &[T], largest: bool) -> usize {
    let wanted = if largest { Ordering::Greater } else { Ordering::Less };
    let later = |best: usize, i: usize| if row[i].place(row[best]) == wanted { i } else { best };
    (0..row.len()).fold(0, later)
}

#[cfg(test)]
mod tests {
    use super::super::isa::{supported, with_isa};
    use super::super::order::{Scratch, argsort};
    use super::*;
    use half::{bf16, f16};

    /// The position of the first extreme, by its definition.
    fn first<T: Ordered>(row: &[T], largest: bool) -> i64 {
        let (mut best, wanted) = (0, if largest { Ordering::Greater } else { Ordering::Less });
        for (i, x) in row.iter().enumerate() {
            if x.is_last() {
                return i as i64;
            }
            if x.place(row[best]) == wanted {
                best = i;
            }
        }
        best as i64
    }

    fn check<T: Ordered>(of: impl Fn(u64) -> T) {
        for n in [1_usize, 2, 3, 63, 64, 65, 300, 1000] {
            let x: Vec<T> = (0..7 * n as u64).map(|i| of((i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20)).collect();
            let mut order = vec![0; n];
            argsort(&x[..n], true, &mut order, &mut Scratch::default());
            for k in [1, 2, 10, n / 2 + 1, n].into_iter().filter(|k| *k <= n) {
                let mut top = vec![0; k];
                top_rows(&x[..n], n, k, &mut top);
                assert_eq!(top, order[..k], "{k} of {n}");
            }
            for largest in [false, true] {
                let mut found = vec![9; 7];
                extreme_rows(&x, n, largest, &mut found);
                assert_eq!(found, x.chunks(n).map(|row| first(row, largest)).collect::<Vec<_>>(), "{n}");
                if x[0].key(false).is_some() {
                    let mut found = vec![9; n];
                    let (left, right) = found.split_at_mut(n / 3);
                    extreme_columns(&x, n, 0, largest, left);
                    extreme_columns(&x, n, n / 3, largest, right);
                    let column = |i: usize| x.iter().skip(i).step_by(n).copied().collect::<Vec<_>>();
                    assert_eq!(found, (0..n).map(|i| first(&column(i), largest)).collect::<Vec<_>>(), "{n}");
                }
            }
        }
    }

    #[test]
    fn extremes_are_the_first_of_their_order_in_every_isa() {
        let float = |i: u64| [f32::NAN, -f32::NAN, 0.0, -0.0, f32::INFINITY, -f32::INFINITY][i as usize % 6];
        let rare = |i: u64| if i % 100 < 6 { float(i) } else { (i % 1000) as f32 - 500.0 };
        for &isa in supported() {
            with_isa(isa, || {
                check(rare);
                check(float);
                check(|i| f16::from_f32(rare(i)));
                check(|i| bf16::from_f32(rare(i)));
                check(|i| f64::from(rare(i)));
                check(|i| (i % 1000) as f64 - 1000.0);
                check(|i| (i % 3) as i8 + i8::MIN);
                check(|i| (i % 3) as u8);
                check(|i| (i % 30_000) as i16);
                check(|i| (i % 30_000) as u16);
                check(|i| i as i32);
                check(|i| i as u32);
                check(|i| i.wrapping_mul(i).cast_signed());
                check(|i| u64::MAX - i % 2);
                check(|i| i % 2 == 0);
                check(|i| [&b"b"[..], b"", b"c", b"a"][i as usize % 4]);
            });
        }
    }

    #[test]
    fn many_are_found_in_any_order() {
        for n in [5_000_i32, 70_000] {
            for (k, x) in [
                (10, (0..n).collect::<Vec<_>>()),
                (3_000, (0..n).rev().collect()),
                (700, (0..n).map(|i| i % 9).collect()),
            ] {
                let (mut top, mut order) = (vec![0; k], vec![0; x.len()]);
                top_rows(&x, x.len(), k, &mut top);
                argsort(&x, true, &mut order, &mut Scratch::default());
                assert_eq!(top, order[..k], "{k} of {n}");
            }
        }
    }
}
