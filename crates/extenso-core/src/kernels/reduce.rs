//! Reductions: sum, product, maximum and minimum of a slice, and of every row of a ragged one.
//!
//! Invariant: a result is a fixed function of the elements in their order; the shape of the computation depends on
//! their number alone, not on address, instruction set, vector width or threads. The shape:
//!
//! * A *leaf* is 1024 consecutive elements from the start; the last leaf may be shorter.
//! * In a leaf, 16 lanes start from the identity, and lane j takes elements j, j + 16, j + 32, ... in order. Then lane j
//!   meets lane j + 8 for j < 8, lane j + 4 for j < 4, lane j + 2 for j < 2, and lane 0 meets lane 1. Rows shorter than
//!   16 are no exception: a lane that takes nothing stays the identity, which changes no bit of what it meets.
//! * Leaves meet as a binary counter counts: two neighbours of 2^k leaves each become one of 2^(k+1), and what remains
//!   at the end meets from the right. Hence a slice may be cut into pieces of 2^k leaves and a shorter last one that are
//!   reduced apart, see [`Tree::merge`].
//!
//! Float sums and products round at each step (f16 and bf16 in f32, and once at the end); integers are summed in 64
//! bits and wrap. The maximum and minimum of floats are NaN when an element is, and order -0 below +0.
//! Does not split work over threads.

use super::isa::multiversion;
use super::reducers::{Lane, SHORT};
pub use super::reducers::{Max, Min, Prod, Reducer, Sum, SumHigh};
use super::short_rows::{FEW, Lanes, ROWS, reduce_block};
use std::hint::black_box;

/// The number of elements of a leaf.
pub const LEAF: usize = 1024;
pub(super) const LANES: usize = 16;

/// Reduces a slice.
pub fn reduce<R: Reducer<T>, T: Copy>(x: &[T]) -> R::Out {
    if x.len() <= LEAF {
        let mut acc = [R::IDENTITY];
        leaves::<R, T>(x, &mut acc);
        return R::finish(acc[0]);
    }
    let mut tree = Tree::<R, T>::new();
    tree.extend(x);
    tree.finish()
}

/// Reduces each row `values[offsets[i]..offsets[i + 1]]` into `out[i]`, which has the bits of [`reduce`] on that row.
///
/// Offsets never decrease and lie within `values`; `out` has one element less than `offsets`.
pub fn segment_reduce<R: Reducer<T>, T: Copy, O: Offset>(values: &[T], offsets: &[O], out: &mut [R::Out]) {
    by_rows::<R, T>(values, out, |i| offsets[i].index());
}

/// Reduces each run of `n` elements into `out`, which has the bits of [`reduce`] on that run.
pub fn equal_rows_reduce<R: Reducer<T>, T: Copy>(values: &[T], n: usize, out: &mut [R::Out]) {
    by_rows::<R, T>(values, out, |i| i * n);
}

/// Reduces each row `values[ends[i]..ends[i + 1]]` into `out[i]`, which has the bits of [`reduce`] on that row.
pub fn rows_reduce<R: Reducer<T>, T: Copy>(values: &[T], ends: &[usize], out: &mut [R::Out]) {
    rows::<R, T>(values, ends, out);
}

/// Reduces the rows between offsets. These are brought to one form first, so that the loops are compiled once for all.
fn by_rows<R: Reducer<T>, T: Copy>(values: &[T], out: &mut [R::Out], offset: impl Fn(usize) -> usize) {
    const BLOCK: usize = 64;
    let mut ends = [0; BLOCK + 1];
    for (block, out) in out.chunks_mut(BLOCK).enumerate() {
        let ends = &mut ends[..=out.len()];
        for (i, end) in ends.iter_mut().enumerate() {
            *end = offset(block * BLOCK + i);
        }
        rows::<R, T>(values, ends, out);
    }
}

multiversion! {
    /// Reduces the leaves of `x` one by one.
    fn leaves<R: Reducer<T>, T: Copy>(x: &[T], out: &mut [R::Acc]) {
        for (x, out) in x.chunks(LEAF).zip(out) {
            *out = leaf::<R, T>(x);
        }
    }

    /// Reduces each row `values[ends[i]..ends[i + 1]]`.
    fn rows<R: Reducer<T>, T: Copy>(values: &[T], ends: &[usize], out: &mut [R::Out]) {
        let mut lanes: Option<Lanes<R::Acc>> = None;
        for (block, out) in out.chunks_mut(ROWS).enumerate() {
            let ends = &ends[block * ROWS..][..=out.len()];
            if out.len() <= FEW {
                out.iter_mut().zip(ends.windows(2)).for_each(|(out, row)| *out = reduce_row::<R, T>(values, row[0], row[1]));
                continue;
            }
            // Empty rows fill the block.
            let mut all = [0; ROWS + 1];
            all.iter_mut().enumerate().for_each(|(i, end)| *end = ends[i.min(out.len())]);
            let mut results = [R::finish(R::IDENTITY); ROWS];
            // A few rows need none, and to make them takes as long as these rows.
            let lanes = match &mut lanes {
                Some(lanes) => lanes,
                none => none.insert(CacheLine([[R::IDENTITY; LANES]; ROWS])),
            };
            reduce_block::<R, T>(values, &all, lanes, &mut results);
            match <&mut [R::Out; ROWS]>::try_from(&mut *out) {
                Ok(out) => *out = results,
                Err(_) => out.copy_from_slice(&results[..out.len()]),
            }
        }
    }
}

/// Reduces `values[start..end]`. Inlined into the caller's loop.
#[inline(always)]
pub(super) fn reduce_row<R: Reducer<T>, T: Copy>(values: &[T], start: usize, end: usize) -> R::Out {
    if end - start > LEAF {
        return reduce::<R, T>(&values[start..end]);
    }
    R::finish(meet::<R, T>(lanes_of::<R, T>(values, start, end)))
}

/// Reduces at most [`LEAF`] elements to one leaf, to be handed to [`Tree::push`]. Inlined into the caller's loop.
#[inline(always)]
pub fn leaf<R: Reducer<T>, T: Copy>(x: &[T]) -> R::Acc {
    meet::<R, T>(lanes_of::<R, T>(x, 0, x.len()))
}

/// The lanes of `values[start..end]`, which are at most one leaf.
#[inline(always)]
pub(super) fn lanes_of<R: Reducer<T>, T: Copy>(values: &[T], start: usize, end: usize) -> [R::Acc; LANES] {
    let x = &values[start..end];
    let Some(&first) = x.first() else { return [R::IDENTITY; LANES] };
    let (groups, rest) = x.as_chunks();
    // Where enough values follow, the last group is read in place.
    if let Some(last) = values[end - rest.len()..].first_chunk() {
        return groups_and_rest::<R, T>(groups, last, rest.len());
    }
    let mut last = [first; LANES];
    for j in 0..LANES {
        // Past the end stands any element.
        last[j] = x[(LANES * groups.len() + j).min(x.len() - 1)];
    }
    groups_and_rest::<R, T>(groups, &last, rest.len())
}

/// The lanes of whole groups and the first `rest` elements of one more.
#[inline(always)]
fn groups_and_rest<R: Reducer<T>, T: Copy>(groups: &[[T; LANES]], last: &[T; LANES], rest: usize) -> [R::Acc; LANES] {
    let mut lanes = [R::IDENTITY; LANES];
    for group in groups {
        for j in 0..LANES {
            lanes[j] = R::combine(lanes[j], R::load(group[j]));
        }
        // Left alone, the compiler vectorises across groups, with gathers; this costs no instruction.
        black_box(());
    }
    // Loaded in full and then masked, without a branch: the lengths of short rows are past predicting.
    let taken = &R::Acc::TAKEN[SHORT - rest..][..LANES];
    for j in 0..LANES {
        lanes[j] = R::combine(lanes[j], R::load(last[j]).where_taken(taken[j], R::IDENTITY));
    }
    lanes
}

/// Lets lanes meet.
#[inline(always)]
fn meet<R: Reducer<T>, T: Copy>(lanes: [R::Acc; LANES]) -> R::Acc {
    // In memory the lanes are neighbours, which is how the compiler finds the vectors in all of the above.
    let mut lanes = black_box(CacheLine(lanes)).0;
    halve::<R, T, 8>(&mut lanes);
    halve::<R, T, 4>(&mut lanes);
    halve::<R, T, 2>(&mut lanes);
    R::combine(lanes[0], lanes[1])
}

// A vector that lies across two lines is slow to read back.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct CacheLine<A>(pub A);

#[inline(always)]
fn halve<R: Reducer<T>, T, const HALF: usize>(lanes: &mut [R::Acc; LANES]) {
    for j in 0..HALF {
        lanes[j] = R::combine(lanes[j], lanes[j + HALF]);
    }
}

/// Offsets of rows, as wide as they came.
pub trait Offset: Copy {
    /// The offset as an index; offsets of a proven partition are never negative.
    fn index(self) -> usize;
}

impl Offset for i32 {
    #[inline(always)]
    fn index(self) -> usize {
        self as usize
    }
}

impl Offset for i64 {
    #[inline(always)]
    fn index(self) -> usize {
        self as usize
    }
}

/// The leaves of a slice so far, as a binary counter of finished subtrees.
#[derive(Clone)]
pub struct Tree<R: Reducer<T>, T> {
    // subtrees[k] holds 2^k leaves where bit k of `leaves` is set.
    subtrees: [R::Acc; LEVELS],
    leaves: u64,
}

// Enough for 2^64 elements.
const LEVELS: usize = 55;

impl<R: Reducer<T>, T> Tree<R, T> {
    /// Gives the tree of no leaves.
    pub fn new() -> Self {
        Tree { subtrees: [R::IDENTITY; LEVELS], leaves: 0 }
    }

    /// Appends a leaf. None follows one that is shorter than [`LEAF`].
    #[inline(always)]
    pub fn push(&mut self, leaf: R::Acc) {
        self.push_subtree(0, leaf);
    }

    /// Appends the leaves of `x`, which follows whole leaves.
    pub fn extend(&mut self, x: &[T])
    where
        T: Copy,
    {
        const LEAVES: usize = 16;
        for x in x.chunks(LEAVES * LEAF) {
            let mut accs = [R::IDENTITY; LEAVES];
            let accs = &mut accs[..x.len().div_ceil(LEAF)];
            leaves::<R, T>(x, accs);
            accs.iter().for_each(|&leaf| self.push(leaf));
        }
    }

    /// Appends all leaves of `right`, with the same bits as if they had been pushed here.
    ///
    /// The leaves so far are a multiple of some power of two that is not less than the number of leaves of `right`.
    pub fn merge(&mut self, right: &Self) {
        for level in (0..LEVELS).rev().filter(|level| right.leaves >> level & 1 == 1) {
            self.push_subtree(level, right.subtrees[level]);
        }
    }

    /// Gives the accumulator of all leaves, the identity if there are none.
    #[inline(always)]
    pub fn root(&self) -> R::Acc {
        let levels = (0..LEVELS).filter(|level| self.leaves >> level & 1 == 1);
        levels.map(|level| self.subtrees[level]).reduce(|right, left| R::combine(left, right)).unwrap_or(R::IDENTITY)
    }

    /// Gives the result.
    pub fn finish(&self) -> R::Out {
        R::finish(self.root())
    }

    #[inline(always)]
    fn push_subtree(&mut self, level: usize, subtree: R::Acc) {
        debug_assert!(self.leaves.trailing_zeros() as usize >= level, "subtrees meet at multiples of their size");
        let (mut acc, mut at) = (subtree, level);
        while self.leaves >> at & 1 == 1 {
            acc = R::combine(self.subtrees[at], acc);
            at += 1;
        }
        self.subtrees[at] = acc;
        self.leaves += 1 << level;
    }
}

impl<R: Reducer<T>, T> Default for Tree<R, T> {
    fn default() -> Self {
        Tree::new()
    }
}

macro_rules! named {
    ($($R:ident: $reduce:ident, $segment:ident;)*) => {$(
        #[doc = concat!("Reduces a slice by [`", stringify!($R), "`].")]
        pub fn $reduce<T: Copy>(x: &[T]) -> <$R as Reducer<T>>::Out
        where
            $R: Reducer<T>,
        {
            reduce::<$R, T>(x)
        }

        #[doc = concat!("Reduces each row by [`", stringify!($R), "`]; see [`segment_reduce`].")]
        pub fn $segment<T: Copy, O: Offset>(values: &[T], offsets: &[O], out: &mut [<$R as Reducer<T>>::Out])
        where
            $R: Reducer<T>,
        {
            segment_reduce::<$R, T, O>(values, offsets, out);
        }
    )*};
}
named! {
    Sum: sum, segment_sum;
    Prod: prod, segment_prod;
    Max: max, segment_max;
    Min: min, segment_min;
}

#[cfg(test)]
mod tests {
    use super::super::isa::{supported, with_isa};
    use super::*;
    use half::{bf16, f16};

    const LENGTHS: [usize; 17] =
        [0, 1, 2, 7, 15, 16, 17, 31, 33, 100, 1023, 1024, 1025, 2048, 3000, 7 * 1024, 11 * 1024 + 5];

    /// Numbers of many magnitudes, so that another order of additions gives other bits.
    fn numbers(n: usize) -> Vec<f64> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        (0..n).map(|_| (next() as i32 as f64) * 2.0_f64.powi((next() % 16) as i32 - 36)).collect()
    }

    fn bits<T: bytemuck::NoUninit>(x: T) -> Vec<u8> {
        bytemuck::bytes_of(&x).to_vec()
    }

    /// The formula of the module's page, word by word.
    fn sum_by_the_formula(x: &[f32]) -> f32 {
        fn leaf(x: &[f32]) -> f32 {
            let mut lanes: Vec<f32> = (0..16).map(|j| x.iter().skip(j).step_by(16).fold(0.0, |a, b| a + b)).collect();
            for half in [8, 4, 2, 1] {
                lanes = (0..half).map(|j| lanes[j] + lanes[j + half]).collect();
            }
            lanes[0]
        }
        // The greatest power of two of leaves is one subtree, and the rest another.
        fn tree(leaves: &[f32]) -> f32 {
            match leaves {
                [] => 0.0,
                &[leaf] => leaf,
                _ => {
                    let (left, right) = leaves.split_at(1 << (leaves.len() - 1).ilog2());
                    tree(left) + tree(right)
                }
            }
        }
        tree(&x.chunks(1024).map(leaf).collect::<Vec<_>>())
    }

    #[test]
    fn sum_is_its_formula_in_every_isa() {
        let x: Vec<f32> = numbers(12 * 1024).into_iter().map(|x| x as f32).collect();
        for n in LENGTHS {
            for &isa in supported() {
                let y = with_isa(isa, || sum(&x[..n]));
                assert_eq!(y.to_bits(), sum_by_the_formula(&x[..n]).to_bits(), "{n} {isa}");
            }
        }
    }

    #[test]
    fn sum_depends_on_n_alone() {
        let x: Vec<f32> = numbers(12 * 1024).into_iter().map(|x| x as f32).collect();
        for n in LENGTHS {
            let wanted = sum(&x[..n]).to_bits();
            for shift in 0..16 {
                let moved = [&vec![1.0; shift], &x[..n], &[1.0; 3][..]].concat();
                assert_eq!(sum(&moved[shift..shift + n]).to_bits(), wanted, "{n} {shift}");
            }
        }
    }

    #[test]
    fn leaves_split_anywhere_give_the_same_bits() {
        let x: Vec<f32> = numbers(37 * LEAF + 100).into_iter().map(|x| x as f32).collect();
        for part in [1, 2, 4, 8, 16, 32, 64] {
            let mut whole = Tree::<Sum, f32>::new();
            for x in x.chunks(part * LEAF) {
                let mut piece = Tree::new();
                piece.extend(x);
                whole.merge(&piece);
            }
            assert_eq!(whole.finish().to_bits(), sum(&x).to_bits(), "{part} leaves");
        }
    }

    fn check_rows<R: Reducer<T>, T: Copy>(of: impl Fn(f64) -> T)
    where
        R::Out: bytemuck::NoUninit + Default,
    {
        let values: Vec<T> = numbers(14_000).into_iter().map(of).collect();
        // Short rows, equal ones, some of which fill their groups, middling ones, and very long ones among others.
        let equal = [[16; 20], [32; 20], [3; 20]].concat();
        let lengths = (0..130).map(|i| i % 41).chain(equal).chain((0..40).map(|i| 50 + i % 71));
        let lengths = lengths.chain([1024, 0, 1025, 3000, 5]);
        let offsets: Vec<i64> = std::iter::once(3)
            .chain(lengths.scan(3, |end, len| {
                *end += len;
                Some(*end)
            }))
            .collect();
        let short: Vec<i32> = offsets.iter().map(|&offset| offset as i32).collect();
        let row = |i: usize| &values[offsets[i] as usize..offsets[i + 1] as usize];
        let wanted: Vec<_> =
            (0..offsets.len() - 1).map(|i| bits(with_isa(supported()[0], || reduce::<R, T>(row(i))))).collect();
        for &isa in supported() {
            // Values end where the last row does, or go on.
            for end in [values.len(), offsets[offsets.len() - 1] as usize] {
                let (mut out, mut out_short) =
                    (vec![R::Out::default(); wanted.len()], vec![R::Out::default(); wanted.len()]);
                with_isa(isa, || segment_reduce::<R, T, i64>(&values[..end], &offsets, &mut out));
                with_isa(isa, || segment_reduce::<R, T, i32>(&values[..end], &short, &mut out_short));
                for i in 0..wanted.len() {
                    assert_eq!(bits(out[i]), wanted[i], "{isa} row {i}");
                    assert_eq!(bits(out_short[i]), wanted[i], "{isa} row {i}");
                    assert_eq!(bits(with_isa(isa, || reduce::<R, T>(row(i)))), wanted[i], "{isa} row {i}");
                }
            }
        }
    }

    #[test]
    fn a_segment_is_the_reduction_of_its_row_in_every_isa() {
        macro_rules! check {
            ($($T:ident: $of:expr;)*) => {$(
                check_rows::<Sum, $T>($of);
                check_rows::<Prod, $T>($of);
                check_rows::<Max, $T>($of);
                check_rows::<Min, $T>($of);
            )*};
        }
        check! {
            f32: |x| x as f32; f64: |x| x; f16: f16::from_f64; bf16: bf16::from_f64;
            i8: |x| x as i8; i16: |x| x as i16; i32: |x| x as i32; i64: |x| x as i64;
            u8: |x| x as u8; u16: |x| x as u16; u32: |x| x as u32; u64: |x| x as u64;
        }
    }

    #[test]
    fn extremes_propagate_nan_and_order_zeros() {
        for x in [[0.0_f32, -0.0], [-0.0, 0.0]] {
            assert_eq!(max(&x).to_bits(), 0.0_f32.to_bits());
            assert_eq!(min(&x).to_bits(), (-0.0_f32).to_bits());
        }
        for nan in [f64::NAN, -f64::NAN] {
            assert_eq!(max(&[f64::INFINITY, nan, 1.0]).to_bits(), f64::NAN.to_bits());
            assert_eq!(min(&[f64::NEG_INFINITY, nan, 1.0]).to_bits(), f64::NAN.to_bits());
            assert_eq!(sum(&[nan, 1.0]).to_bits(), f64::NAN.to_bits());
        }
        assert_eq!(sum(&[f32::INFINITY, f32::NEG_INFINITY]).to_bits(), f32::NAN.to_bits());
        assert_eq!((max(&[-1.5_f32, -2.5]), min(&[-1.5_f32, 2.5])), (-1.5, -1.5));
    }

    #[test]
    fn a_reduction_of_nothing_is_the_identity() {
        assert_eq!((sum::<f32>(&[]), prod::<f32>(&[])), (0.0, 1.0));
        assert_eq!((max::<f32>(&[]), min::<f32>(&[])), (f32::NEG_INFINITY, f32::INFINITY));
        assert_eq!((max::<f16>(&[]), min::<bf16>(&[])), (f16::NEG_INFINITY, bf16::INFINITY));
        assert_eq!((sum::<i8>(&[]), prod::<u8>(&[]), max::<i8>(&[]), min::<u16>(&[])), (0, 1, i8::MIN, u16::MAX));
    }

    #[test]
    fn integers_are_summed_in_64_bits_and_wrap() {
        assert_eq!((sum(&[100_i8; 40]), sum(&[200_u8; 40]), prod(&[-2_i8; 11])), (4000, 8000, -2048));
        assert_eq!((sum(&[i64::MAX, 1]), prod(&[u64::MAX, 2])), (i64::MIN, u64::MAX - 1));
    }

    #[test]
    fn sixteen_bit_floats_round_once() {
        assert_eq!(sum(&[f16::from_f32(0.1); 5000]), f16::from_f32(f16::from_f32(0.1).to_f32() * 5000.0));
        assert_eq!(prod(&[bf16::from_f32(3.0), bf16::from_f32(7.0)]), bf16::from_f32(21.0));
    }
}
