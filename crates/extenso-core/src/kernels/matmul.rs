//! Matrix products.
//!
//! Invariant: every element of a product is one chain `acc = fma(a[i, p], b[p, j], acc)`, from +0 on, over all p in
//! increasing order. So a row of a batch has the bits of that row alone, whatever the instruction set, the layout of
//! `b` and the split of rows over threads. f16 and bf16 carry the chain in f32 and round once; a NaN is the canonical
//! one, and a zero is +0.
//!
//! A product of one column and many steps is made by [`dots`], which has a formula of its own: one chain is no work for many lanes.
//!
//! `b` is read in panels, a few vectors wide, that lie in memory as they are walked; a tile of a few rows by a few
//! vectors stays in registers. Blocks of p only store and reload the accumulators. Where `b` has few columns the sides
//! change places: rows of `a` are turned into panels, piece by piece, unless they are short. Does not split work over threads.

mod dots;
mod floats;
mod turn;
mod zeros;

pub use dots::{dots, is_dots};
pub use floats::{Chain, Float};

use std::hint::black_box;
use std::ops::Range;

use super::isa::{Isa, isa, multiversion};
use turn::turn;

/// How the weights `b` lie in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// `k x n`, row-major: the rows are the inputs.
    InOut,
    /// `n x k`, row-major: the rows are the outputs.
    OutIn,
}

/// Multiplies `a`, `m x k` row-major, by `b` into `out`, `m x n` row-major.
///
/// For a `b` that is used again, see [`PackedB`].
pub fn matmul<T: Float>(m: usize, k: usize, n: usize, a: &[T], b: &[T], layout: Layout, out: &mut [T]) {
    if has_few_columns::<T>(m, n) && k > 0 {
        return few_columns(k, n, a, b, layout, out);
    }
    if !reads_panels::<T>(m)
        && (layout == Layout::OutIn && k > 0 || layout == Layout::InOut && n >= unit::<T::Acc>())
        && let (Some(a), Some(b), Some(out)) = (T::carried(a), T::carried(b), T::carried_mut(out))
    {
        let b = if layout == Layout::OutIn { Weights::Rows(b) } else { Weights::Plain(b) };
        return run(&Job { m, k, n, a, b }, out);
    }
    matmul_packed(m, a, &PackedB::pack(k, n, b, layout), out);
}

/// Whether a product of so many rows reads panels: to pack costs more than the product of a few rows.
pub fn reads_panels<T: Float>(m: usize) -> bool {
    m > FEW_ROWS || T::carried(&[]).is_none()
}

/// Whether a product of `m` rows and `n` columns is made of the rows of `a` turned into panels: no weights are packed.
pub fn has_few_columns<T: Float>(m: usize, n: usize) -> bool {
    let unit = unit::<T::Acc>();
    m >= unit && (1..unit).contains(&n)
}

/// The product where `b` has few columns: the columns of `b` by the rows of `a`, turned.
fn few_columns<T: Float>(k: usize, n: usize, a: &[T], b: &[T], layout: Layout, out: &mut [T]) {
    let mut columns = vec![T::Acc::default(); n * k];
    match layout {
        Layout::OutIn => widen(b, &mut columns),
        Layout::InOut => columns.iter_mut().enumerate().for_each(|(i, x)| *x = b[i % k * n + i / k].widen()),
    }
    if k <= if n == 1 { SHORT } else { SHORT / 2 } {
        return short_chains(k, n, a, &columns, out);
    }
    let rows = if T::carried(a).is_some() { 1024 } else { 64 }.min(out.len() / n);
    let mut wide = vec![T::Acc::default(); if T::carried(a).is_some() { 0 } else { rows * k }];
    let mut made = vec![T::Acc::default(); rows * n];
    for (a, out) in a.chunks(rows * k).zip(out.chunks_mut(rows * n)) {
        let (rows, made) = (out.len() / n, &mut made[..out.len()]);
        let a = T::carried(a).unwrap_or_else(|| {
            widen(a, &mut wide[..a.len()]);
            &wide[..a.len()]
        });
        run(&Job { m: n, k, n: rows, a: &columns, b: Weights::Rows(a) }, made);
        for (row, out) in out.chunks_exact_mut(n).enumerate() {
            out.iter_mut().zip(made[row..].iter().step_by(rows)).for_each(|(out, x)| *out = T::round(*x));
        }
    }
}

/// Chains of at most so many steps are worth no panel; of half as many, where there are several columns.
const SHORT: usize = 16;

multiversion! {
    /// The product of rows of at most [`SHORT`] elements by `n` columns, which follow each other.
    fn short_chains<T: Float>(k: usize, n: usize, a: &[T], columns: &[T::Acc], out: &mut [T]) {
        macro_rules! of_length {
            ($($k:literal)*) => {
                match k {
                    $($k => chains_of::<T, $k>(n, a, columns, out),)*
                    _ => chains_of::<T, SHORT>(n, a, columns, out),
                }
            };
        }
        of_length!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    }
}

/// Each row waits for its own chain only, and the compiler knows how long that is.
#[inline(always)]
fn chains_of<T: Float, const K: usize>(n: usize, a: &[T], columns: &[T::Acc], out: &mut [T]) {
    let (rows, columns) = (a.as_chunks::<K>().0, columns.as_chunks::<K>().0);
    for (row, out) in rows.iter().zip(out.chunks_exact_mut(n)) {
        for (column, out) in columns.iter().zip(out) {
            let mut chain = T::Acc::default();
            for p in 0..K {
                chain = row[p].widen().fma(column[p], chain);
            }
            *out = T::round(chain);
        }
    }
}

/// Multiplies `a`, `m x k` row-major, by packed weights into `out`, `m x n` row-major.
pub fn matmul_packed<T: Float>(m: usize, a: &[T], b: &PackedB<T>, out: &mut [T]) {
    let (k, n) = (b.k, b.n);
    if let (Some(a), Some(out)) = (T::carried(a), T::carried_mut(out)) {
        return run(&b.job(m, a), out);
    }
    const WIDENED: usize = 48;
    let rows = WIDENED.min(m);
    let (mut wide_a, mut wide_out) = (vec![T::Acc::default(); rows * k], vec![T::Acc::default(); rows * n]);
    for rows in ranges(m, WIDENED) {
        let (wide_a, wide_out) = (&mut wide_a[..rows.len() * k], &mut wide_out[..rows.len() * n]);
        widen(&a[rows.start * k..rows.end * k], wide_a);
        run(&b.job(rows.len(), wide_a), wide_out);
        round(wide_out, &mut out[rows.start * n..rows.end * n]);
    }
}

multiversion! {
    fn widen<T: Float>(x: &[T], out: &mut [T::Acc]) {
        for (out, x) in out.iter_mut().zip(x) {
            *out = x.widen();
        }
    }

    fn round<T: Float>(x: &[T::Acc], out: &mut [T]) {
        for (out, x) in out.iter_mut().zip(x) {
            *out = T::round(*x);
        }
    }
}

/// Weights in the order in which products read them.
///
/// Panels follow each other: as many of four cache lines' width as fit, then single ones, the last filled up with
/// zeros. Within a panel, row p follows row p - 1.
pub struct PackedB<T: Float> {
    k: usize,
    n: usize,
    panels: Vec<T::Acc>,
    // The first element that starts a cache line.
    start: usize,
    // Whether no weight is infinite or NaN.
    finite: bool,
}

/// The rows of a tile: products of as many, or of a multiple, have no smaller tiles at their end.
pub const TILE_ROWS: usize = 6;

/// Rows that one or two tiles cover.
const FEW_ROWS: usize = TILE_ROWS;

/// Rows that a panel is read for at a time.
pub const ROWS: usize = 192;

/// The panels of weights are this many units wide, a unit being one cache line.
const WIDE: usize = 4;

impl<T: Float> PackedB<T> {
    /// Packs `b`, which has `k` inputs and `n` outputs.
    pub fn pack(k: usize, n: usize, b: &[T], layout: Layout) -> Self {
        let mut panels = vec![T::Acc::default(); k * n.next_multiple_of(unit::<T::Acc>()) + unit::<T::Acc>()];
        let start = panels.as_ptr().align_offset(64).min(unit::<T::Acc>());
        let mut wide = vec![];
        for columns in columns::<T::Acc>(n, false) {
            let (valid, width) = (columns.start..columns.end.min(n), columns.len());
            let panel = &mut panels[start + k * columns.start..][..k * width];
            match layout {
                Layout::InOut => {
                    for (p, row) in panel.chunks_exact_mut(width).enumerate() {
                        widen(&b[p * n..][valid.clone()], &mut row[..valid.len()]);
                    }
                }
                Layout::OutIn => {
                    let rows = &b[valid.start * k..valid.end * k];
                    let rows = T::carried(rows).unwrap_or_else(|| {
                        wide.resize(rows.len(), T::Acc::default());
                        widen(rows, &mut wide);
                        &wide
                    });
                    turn(rows, k, 0..k, width, panel);
                }
            }
        }
        let finite = panels.iter().all(|x| x.is_finite());
        PackedB { k, n, panels, start, finite }
    }

    fn job<'x>(&'x self, m: usize, a: &'x [T::Acc]) -> Job<'x, T::Acc> {
        let panels = &self.panels[self.start..];
        let skips = m == 1 && self.finite && zeros::are_many(a);
        Job { m, k: self.k, n: self.n, a, b: if skips { Weights::Skipped(panels) } else { Weights::Panels(panels) } }
    }

    /// The number of inputs.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The number of outputs.
    pub fn n(&self) -> usize {
        self.n
    }
}

/// A product to be made.
struct Job<'x, T> {
    m: usize,
    k: usize,
    n: usize,
    a: &'x [T],
    b: Weights<'x, T>,
}

/// What panels are made of.
enum Weights<'x, T> {
    /// Panels as [`PackedB`] has them.
    Panels(&'x [T]),
    /// Panels of finite weights, for one row of which many elements are zero.
    Skipped(&'x [T]),
    /// A `k x n` matrix, whose rows are read where they are.
    Plain(&'x [T]),
    /// An `n x k` matrix, whose rows are turned into columns, a piece at a time that stays in the nearest cache.
    Rows(&'x [T]),
}

/// The elements of a cache line.
const fn unit<T: Chain>() -> usize {
    64 / size_of::<T>()
}

/// The columns of each panel. In place the last panel moves back over columns that others have too: each is a chain of
/// its own, so it comes out the same twice.
fn columns<T: Chain>(n: usize, in_place: bool) -> impl Iterator<Item = Range<usize>> {
    let (unit, wide) = (unit::<T>(), WIDE * unit::<T>());
    let wides = if in_place { n / wide } else { n.next_multiple_of(unit) / wide };
    let singles = (n - (wides * wide).min(n)).div_ceil(unit);
    let single =
        move |i: usize| if in_place { (wides * wide + i * unit).min(n - unit) } else { wides * wide + i * unit };
    let wides = (0..wides).map(move |i| i * wide..(i + 1) * wide);
    wides.chain((0..singles).map(single).map(move |start| start..start + unit))
}

#[allow(unsafe_code)]
fn run<T: Chain>(job: &Job<T>, out: &mut [T]) {
    match isa() {
        // SAFETY: `isa()` only gives instruction sets that this machine was found to support.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { avx512(job, out) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { avx2(job, out) },
        #[cfg(not(target_arch = "x86_64"))]
        Isa::Avx512 | Isa::Avx2 => narrow(job, out),
        Isa::Baseline => narrow(job, out),
    }
}

// A tile has 6 rows, or as many as are left, and of columns what the registers then hold: 24 of 32 for accumulators, or 12 of 16.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
fn avx512<T: Chain>(job: &Job<T>, out: &mut [T]) {
    match unit::<T>() {
        8 => blocks::<T, 8, 32, 32, 32>(job, out),
        _ => blocks::<T, 16, 64, 64, 64>(job, out),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
fn avx2<T: Chain>(job: &Job<T>, out: &mut [T]) {
    narrow(job, out);
}

#[inline(always)]
fn narrow<T: Chain>(job: &Job<T>, out: &mut [T]) {
    match unit::<T>() {
        8 => blocks::<T, 8, 8, 8, 32>(job, out),
        _ => blocks::<T, 16, 16, 16, 64>(job, out),
    }
}

/// Walks the product in blocks that stay in the caches: of p, then of rows, then panel by panel.
#[inline(always)]
fn blocks<T: Chain, const UNIT: usize, const OF_6: usize, const OF_3: usize, const OF_1: usize>(
    job: &Job<T>,
    out: &mut [T],
) {
    const STEPS: usize = 256;
    const TURNED: usize = 64;
    if let Weights::Skipped(panels) = job.b {
        return zeros::row::<T, UNIT, OF_1>(job.a, job.n, panels, out);
    }
    let (plain, turned) = (matches!(job.b, Weights::Plain(_)), matches!(job.b, Weights::Rows(_)));
    let mut piece = if turned { vec![T::default(); (WIDE * TURNED.min(job.k) + 1) * UNIT] } else { vec![] };
    let start = piece.as_ptr().align_offset(64).min(piece.len());
    // Few rows read a panel but once; a plain matrix has columns that come twice, which only chains from start to end bear.
    for ks in ranges(job.k, if job.m <= FEW_ROWS || turned { job.k } else { STEPS }) {
        for rows in ranges(job.m, ROWS) {
            for columns in columns::<T>(job.n, plain) {
                for part in ranges(ks.len(), if turned { TURNED } else { ks.len() }) {
                    let ks = ks.start + part.start..ks.start + part.end;
                    let panel = job.panel(columns.clone(), ks, &mut piece[start..]);
                    if panel.columns.len() == UNIT {
                        strips::<T, UNIT, UNIT, UNIT>(job, &panel, rows.clone(), out);
                    } else {
                        strips::<T, OF_6, OF_3, OF_1>(job, &panel, rows.clone(), out);
                    }
                }
            }
        }
    }
}

/// `0..n` in ranges of `step`; one empty range for no elements.
fn ranges(n: usize, step: usize) -> impl Iterator<Item = Range<usize>> {
    let step = step.max(1);
    (0..n.max(1)).step_by(step).map(move |start| start.min(n)..(start + step).min(n))
}

/// The steps `ks` of some columns of `b`: `b[p * stride + shift + c]` belongs to step p and column c of the panel.
struct Panel<'x, T> {
    b: &'x [T],
    stride: usize,
    shift: usize,
    columns: Range<usize>,
    ks: Range<usize>,
}

impl<T: Chain> Job<'_, T> {
    /// The steps `ks` of some columns; `piece` has room for those of rows that are turned.
    fn panel<'x>(&'x self, columns: Range<usize>, ks: Range<usize>, piece: &'x mut [T]) -> Panel<'x, T> {
        let (width, n) = (columns.len(), self.n);
        let (b, stride, shift) = match self.b {
            Weights::Panels(b) | Weights::Skipped(b) => {
                (&b[(self.k * columns.start + ks.start * width)..][..ks.len() * width], width, 0)
            }
            Weights::Plain(b) => (&b[ks.start * n..ks.end * n], n, columns.start),
            Weights::Rows(b) => {
                let rows = &b[columns.start * self.k..columns.end.min(n) * self.k];
                turn(rows, self.k, ks.clone(), width, piece);
                (&*piece, width, 0)
            }
        };
        Panel { b, stride, shift, columns, ks }
    }
}

#[inline(always)]
fn strips<T: Chain, const OF_6: usize, const OF_3: usize, const OF_1: usize>(
    job: &Job<T>,
    panel: &Panel<T>,
    rows: Range<usize>,
    out: &mut [T],
) {
    let mut row = rows.start;
    while matches!(rows.end - row, 6 | 9..) {
        strip::<T, 6, OF_6>(job, panel, row, out);
        row += 6;
    }
    // Seven or eight rows are two tiles: one or two rows alone wait for the panel longer than they compute.
    if rows.end - row > 6 {
        strip::<T, 4, OF_3>(job, panel, row, out);
        row += 4;
    }
    match rows.end - row {
        5 => strip::<T, 5, OF_3>(job, panel, row, out),
        4 => strip::<T, 4, OF_3>(job, panel, row, out),
        3 => strip::<T, 3, OF_3>(job, panel, row, out),
        // Loops and functions that are always inlined: what is a call has not the instructions of the caller.
        _ => {
            for row in row..rows.end {
                strip::<T, 1, OF_1>(job, panel, row, out);
            }
        }
    }
}

#[inline(always)]
fn strip<T: Chain, const R: usize, const C: usize>(job: &Job<T>, panel: &Panel<T>, row: usize, out: &mut [T]) {
    let mut rows = [job.a; R];
    for (i, a) in rows.iter_mut().enumerate() {
        *a = &job.a[(row + i) * job.k..][panel.ks.clone()];
    }
    for c in (0..panel.columns.len()).step_by(C) {
        let column = panel.columns.start + c;
        let mut acc = [[T::default(); C]; R];
        if panel.ks.start > 0 {
            for i in 0..R {
                load(&out[(row + i) * job.n..][column..job.n.min(column + C)], &mut acc[i]);
            }
        }
        let acc = tile(rows, panel, panel.shift + c, acc);
        for i in 0..R {
            store(&acc[i], &mut out[(row + i) * job.n..][column..job.n.min(column + C)]);
        }
    }
}

/// Continues the chains of a tile by the steps of a panel.
#[inline(always)]
fn tile<T: Chain, const R: usize, const C: usize>(
    mut rows: [&[T]; R],
    panel: &Panel<T>,
    shift: usize,
    mut acc: [[T; C]; R],
) -> [[T; C]; R] {
    let steps = panel.ks.len();
    for row in &mut rows {
        *row = &row[..steps];
    }
    // Loops and functions that are always inlined: what is a call has not the instructions of the caller.
    if panel.stride == C && shift == 0 {
        // A stride that the compiler knows: a row alone waits for nothing but its chains.
        let (b, _) = panel.b.as_chunks::<C>();
        for (p, b) in b.iter().take(steps).enumerate() {
            step(rows, p, b, &mut acc);
        }
    } else {
        for p in 0..steps {
            if let Some(b) = panel.b[p * panel.stride + shift..].first_chunk() {
                step(rows, p, b, &mut acc);
            }
        }
    }
    // In memory the columns are neighbours, which is how the compiler finds the vectors.
    black_box(acc)
}

/// One step of all chains of a tile.
#[inline(always)]
fn step<T: Chain, const R: usize, const C: usize>(rows: [&[T]; R], p: usize, b: &[T; C], acc: &mut [[T; C]; R]) {
    for i in 0..R {
        let x = rows[i][p];
        for j in 0..C {
            acc[i][j] = x.fma(b[j], acc[i][j]);
        }
    }
    // Keeps the compiler from vectorising across steps; it costs no instruction.
    black_box(());
}

#[inline(always)]
fn load<T: Chain, const C: usize>(out: &[T], acc: &mut [T; C]) {
    match out.first_chunk::<C>() {
        Some(out) => *acc = *out,
        None => acc[..out.len()].copy_from_slice(out),
    }
}

#[inline(always)]
fn store<T: Chain, const C: usize>(acc: &[T; C], out: &mut [T]) {
    let acc = acc.map(T::canonical);
    match out.first_chunk_mut::<C>() {
        Some(out) => *out = acc,
        None => out.copy_from_slice(&acc[..out.len()]),
    }
}

#[cfg(test)]
mod tests;
