//! Reductions of many short rows, a block of rows at a time.
//!
//! Invariant: a row has the lanes, and its lanes meet in the order, of the formula on the page of [`super::reduce`]; how many
//! rows are beside it, and how long those are, changes no bit. Does not know leaves: rows are at most one leaf long.
//!
//! Short rows are slow one by one for two reasons. How many groups of elements a row has is past predicting, and a wrong guess
//! costs more than the groups; so all rows of a block take as many groups as its longest one, and elements behind a row's end
//! count as nothing. And few lanes are left when they meet; so the lanes of all rows of a block meet side by side.

use super::reduce::{CacheLine, LANES, LEAF, lanes_of, reduce_row};
use super::reducers::{Lane, Reducer, SHORT};
use std::hint::black_box;

/// The number of rows of a block.
pub(super) const ROWS: usize = 16;

/// So few rows are reduced one by one.
pub(super) const FEW: usize = 3;

/// The lanes of the rows of a block, where they are neighbours in memory; that is how the compiler finds the vectors.
pub(super) type Lanes<A> = CacheLine<[[A; LANES]; ROWS]>;

/// Reduces the rows of one block, `values[ends[i]..ends[i + 1]]`. Inlined into the caller's loop.
#[inline(always)]
pub(super) fn reduce_block<R: Reducer<T>, T: Copy>(
    values: &[T],
    ends: &[usize; ROWS + 1],
    lanes: &mut Lanes<R::Acc>,
    out: &mut [R::Out; ROWS],
) {
    let longest = ends.windows(2).fold(0, |longest, row| longest.max(row[1] - row[0]));
    let shortest = ends.windows(2).fold(longest, |shortest, row| shortest.min(row[1] - row[0]));
    let groups = longest.div_ceil(LANES);
    if shortest == longest && groups > 0 && longest == groups * LANES && longest <= LEAF {
        for (lanes, row) in lanes.0.iter_mut().zip(values[ends[0]..ends[ROWS]].chunks_exact(longest)) {
            *lanes = whole_lanes::<R, T>(row);
        }
        return meet::<R, T>(lanes, out);
    }
    // Elements behind a row's end are loaded, and must be there.
    if longest <= SHORT && ends[ROWS - 1] + groups * LANES <= values.len() {
        for (lanes, row) in lanes.0.iter_mut().zip(ends.windows(2)) {
            *lanes = masked_lanes::<R, T>(&values[row[0]..row[0] + groups * LANES], row[1] - row[0]);
        }
    } else if longest <= LEAF {
        for (lanes, row) in lanes.0.iter_mut().zip(ends.windows(2)) {
            *lanes = lanes_of::<R, T>(values, row[0], row[1]);
        }
    } else {
        return out
            .iter_mut()
            .zip(ends.windows(2))
            .for_each(|(out, row)| *out = reduce_row::<R, T>(values, row[0], row[1]));
    }
    meet::<R, T>(lanes, out);
}

/// The lanes of whole groups.
#[inline(always)]
fn whole_lanes<R: Reducer<T>, T: Copy>(x: &[T]) -> [R::Acc; LANES] {
    let mut lanes = [R::IDENTITY; LANES];
    for group in x.as_chunks::<LANES>().0 {
        for j in 0..LANES {
            lanes[j] = R::combine(lanes[j], R::load(group[j]));
        }
        black_box(());
    }
    lanes
}

/// The lanes of the first `n` elements of whole groups.
#[inline(always)]
fn masked_lanes<R: Reducer<T>, T: Copy>(x: &[T], n: usize) -> [R::Acc; LANES] {
    let mut lanes = [R::IDENTITY; LANES];
    let taken = &R::Acc::TAKEN[SHORT - n..][..x.len()];
    for (group, taken) in x.as_chunks::<LANES>().0.iter().zip(taken.as_chunks::<LANES>().0) {
        for j in 0..LANES {
            lanes[j] = R::combine(lanes[j], R::load(group[j]).where_taken(taken[j], R::IDENTITY));
        }
        // Left alone, the compiler vectorises across groups, with gathers; this costs no instruction.
        black_box(());
    }
    lanes
}

/// Lets the lanes of each row meet.
#[inline(always)]
pub(super) fn meet<R: Reducer<T>, T: Copy>(lanes: &mut Lanes<R::Acc>, out: &mut [R::Out; ROWS]) {
    let lanes = &mut black_box(lanes).0;
    let mut four = CacheLine([[R::IDENTITY; 4]; ROWS]);
    for (lanes, four) in lanes.iter_mut().zip(&mut four.0) {
        let mut eight = [R::IDENTITY; 8];
        for j in 0..8 {
            eight[j] = R::combine(lanes[j], lanes[j + 8]);
        }
        lanes[..8].copy_from_slice(&eight);
        // Each row is a vector here; left alone, the compiler makes vectors across the rows.
        black_box(());
        let mut half = [R::IDENTITY; 4];
        for j in 0..4 {
            half[j] = R::combine(lanes[j], lanes[j + 4]);
        }
        *four = half;
        black_box(());
    }
    let four = &black_box(&four).0;
    for (out, [a, b, c, d]) in out.iter_mut().zip(four) {
        *out = R::finish(R::combine(R::combine(*a, *c), R::combine(*b, *d)));
    }
}
