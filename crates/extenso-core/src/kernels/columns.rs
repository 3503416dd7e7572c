//! Reductions of the columns of matrices, many columns side by side.
//!
//! Invariant: a column has the bits that [`super::reduce`] gives of its elements alone, by the formula on that page; how many columns
//! are beside it changes no bit. Does not split work over threads.

use super::isa::multiversion;
use super::reduce::{CacheLine, LANES, LEAF, Tree};
use super::reducers::Reducer;
use std::ops::Range;

/// So many columns at a time: their lanes stay in the nearest cache.
const WIDE: usize = 64;

/// The lanes of some columns.
type Lanes<A> = CacheLine<[[A; WIDE]; LANES]>;

/// The rows of each of some matrices.
pub type RowsOf<'a> = dyn Fn(usize) -> Range<usize> + 'a;

/// Where the elements of some columns are.
#[derive(Clone, Debug)]
pub struct Columns<'a> {
    /// Elements from one row of a matrix to the next.
    pub stride: usize,
    /// The columns that are reduced.
    pub range: Range<usize>,
    /// Which row stands in the place of each, if they are not one after the other.
    pub places: Option<&'a [i64]>,
}

impl Columns<'_> {
    /// The place of a row among those of the elements.
    #[inline(always)]
    fn place(&self, row: usize) -> usize {
        // There are no more rows than memory has bytes, and a place below zero is none of them.
        self.places.map_or(row, |places| places[row] as usize)
    }
}

/// Reduces the columns of each matrix into `out`: as many results for each as there are columns.
///
/// `rows` gives the rows of matrix i, whose places lie within `values`.
pub fn columns_reduce<R: Reducer<T>, T: Copy>(
    values: &[T],
    columns: &Columns<'_>,
    rows: &RowsOf<'_>,
    out: &mut [R::Out],
) {
    if columns.range.is_empty() {
        return;
    }
    let mut lanes: Lanes<R::Acc> = CacheLine([[R::IDENTITY; WIDE]; LANES]);
    for (i, out) in out.chunks_mut(columns.range.len()).enumerate() {
        let rows = rows(i);
        for (at, out) in columns.range.clone().step_by(WIDE).zip(out.chunks_mut(WIDE)) {
            match rows.len() <= LEAF {
                true => leaf::<R, T>(values, at, columns, rows.clone(), &mut lanes, out),
                false => long::<R, T>(values, at, columns, rows.clone(), &mut lanes, out),
            }
        }
    }
}

/// Reduces columns that are longer than a leaf.
fn long<R: Reducer<T>, T: Copy>(
    values: &[T],
    at: usize,
    columns: &Columns<'_>,
    rows: Range<usize>,
    lanes: &mut Lanes<R::Acc>,
    out: &mut [R::Out],
) {
    let mut trees = vec![Tree::<R, T>::new(); out.len()];
    for start in rows.clone().step_by(LEAF) {
        let end = rows.end.min(start + LEAF);
        fold::<R, T>(values, at, columns, start..end, lanes, out.len());
        trees.iter_mut().zip(&lanes.0[0]).for_each(|(tree, leaf)| tree.push(*leaf));
    }
    out.iter_mut().zip(&trees).for_each(|(out, tree)| *out = tree.finish());
}

/// Reduces columns that are a leaf at most.
fn leaf<R: Reducer<T>, T: Copy>(
    values: &[T],
    at: usize,
    columns: &Columns<'_>,
    rows: Range<usize>,
    lanes: &mut Lanes<R::Acc>,
    out: &mut [R::Out],
) {
    fold::<R, T>(values, at, columns, rows, lanes, out.len());
    out.iter_mut().zip(&lanes.0[0]).for_each(|(out, acc)| *out = R::finish(*acc));
}

multiversion! {
    /// Folds `wide` columns from `at` on of some rows, at most a leaf, into the first lane.
    fn fold<R: Reducer<T>, T: Copy>(
        values: &[T],
        at: usize,
        columns: &Columns<'_>,
        rows: Range<usize>,
        lanes: &mut Lanes<R::Acc>,
        wide: usize,
    ) {
        let n = rows.len();
        // Lanes that take nothing change no bit of what they meet, and are left out.
        let used = n.next_power_of_two().min(LANES);
        for lane in &mut lanes.0[..used] {
            lane[..wide].fill(R::IDENTITY);
        }
        for (i, row) in rows.enumerate() {
            let row = &values[columns.place(row) * columns.stride + at..][..wide];
            for (lane, x) in lanes.0[i % LANES][..wide].iter_mut().zip(row) {
                *lane = R::combine(*lane, R::load(*x));
            }
        }
        let mut half = used / 2;
        while half > 0 {
            let (left, right) = lanes.0.split_at_mut(half);
            for (left, right) in left.iter_mut().zip(right) {
                for (left, right) in left[..wide].iter_mut().zip(&right[..wide]) {
                    *left = R::combine(*left, *right);
                }
            }
            half /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::isa::{supported, with_isa};
    use super::super::reduce::{Max, Min, Prod, Sum, reduce};
    use super::*;

    fn check<R: Reducer<f32, Out = f32>>() {
        let (stride, n) = (70, 2100);
        let values: Vec<f32> = (0..stride * n)
            .map(|i| (i as u32).wrapping_mul(2_654_435_761))
            .map(|i| (i as i32 as f32) * f32::from_bits((i % 20 + 100) << 23))
            .collect();
        let ends = [0, 0, 1, 3, 8, 17, 33, 100, 1124, 1124, 2100];
        let places: Vec<i64> = (0..n).map(|row| (row * 1009 % n) as i64).collect();
        let ways = || supported().iter().flat_map(|isa| [(*isa, None), (*isa, Some(&places[..]))]);
        for (range, (isa, places)) in
            [0..1, 3..5, 0..64, 1..70].into_iter().flat_map(|r| ways().map(move |way| (r.clone(), way)))
        {
            let columns = Columns { stride, range: range.clone(), places };
            let at = |row: usize| places.map_or(row, |places| places[row] as usize);
            let mut found = vec![0.0; (ends.len() - 1) * range.len()];
            with_isa(isa, || columns_reduce::<R, f32>(&values, &columns, &|i| ends[i]..ends[i + 1], &mut found));
            for (i, found) in found.chunks(range.len()).enumerate() {
                for (column, found) in range.clone().zip(found) {
                    let alone: Vec<f32> = (ends[i]..ends[i + 1]).map(|row| values[at(row) * stride + column]).collect();
                    assert_eq!(found.to_bits(), reduce::<R, f32>(&alone).to_bits(), "{range:?} {i} {column} {isa}");
                }
            }
        }
    }

    #[test]
    fn columns_have_the_bits_of_each_alone() {
        check::<Sum>();
        check::<Prod>();
        check::<Max>();
        check::<Min>();
    }
}
