//! Matrix products.
//!
//! Invariant: every element of a product is one chain `acc = fma(a[i, p], b[p, j], acc)`, from +0 on, over all p in
//! increasing order. So a row of a batch has the bits of that row alone, whatever the instruction set, the layout of
//! `b` and the split of rows over threads. f16 and bf16 carry the chain in f32 and round once; a NaN is the canonical
//! one.
//!
//! `b` is read in panels, a few vectors wide, that lie in memory as they are walked; a tile of a few rows by a few
//! vectors stays in registers. Blocks of p only store and reload the accumulators. Does not split work over threads.

mod floats;

pub use floats::{Chain, Float};

use std::hint::black_box;
use std::ops::Range;

use super::isa::{Isa, isa, multiversion};

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
    if !reads_panels(m, layout)
        && n >= unit::<T::Acc>()
        && let (Some(a), Some(b), Some(out)) = (T::carried(a), T::carried(b), T::carried_mut(out))
    {
        return run(&Job { m, k, n, a, b, in_place: true }, out);
    }
    matmul_packed(m, a, &PackedB::pack(k, n, b, layout), out);
}

/// Whether a product of so many rows reads panels: to pack costs more than the product of a few rows.
pub fn reads_panels(m: usize, layout: Layout) -> bool {
    layout == Layout::OutIn || m > FEW_ROWS
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

    /// Writes the rows of `b`, of `k` elements each, as columns of a panel.
    fn transpose<T: Float>(k: usize, b: &[T], width: usize, panel: &mut [T::Acc]) {
        // Blocks that stay in the nearest cache: a few rows of the panel, of which as many columns are filled at a time.
        const SIDE: usize = 8;
        for (block, panel) in panel.chunks_mut(SIDE * width).enumerate() {
            for (group, b) in b.chunks(SIDE * k).enumerate() {
                let mut square = [[T::Acc::default(); SIDE]; SIDE];
                for (column, b) in b.chunks_exact(k).enumerate() {
                    for (row, b) in square.iter_mut().zip(&b[block * SIDE..]) {
                        row[column] = b.widen();
                    }
                }
                for (row, square) in panel.chunks_exact_mut(width).zip(&square) {
                    row[group * SIDE..][..SIDE].copy_from_slice(square);
                }
            }
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
}

/// Rows that one or two tiles cover.
const FEW_ROWS: usize = 6;

/// Rows that a panel is read for at a time.
pub const ROWS: usize = 192;

/// The panels of weights are this many units wide, a unit being one cache line.
const WIDE: usize = 4;

impl<T: Float> PackedB<T> {
    /// Packs `b`, which has `k` inputs and `n` outputs.
    pub fn pack(k: usize, n: usize, b: &[T], layout: Layout) -> Self {
        let mut panels = vec![T::Acc::default(); k * n.next_multiple_of(unit::<T::Acc>()) + unit::<T::Acc>()];
        let start = panels.as_ptr().align_offset(64).min(unit::<T::Acc>());
        for columns in columns::<T::Acc>(n, false) {
            let (valid, width) = (columns.start..columns.end.min(n), columns.len());
            let panel = &mut panels[start + k * columns.start..][..k * width];
            match layout {
                Layout::InOut => {
                    for (p, row) in panel.chunks_exact_mut(width).enumerate() {
                        widen(&b[p * n..][valid.clone()], &mut row[..valid.len()]);
                    }
                }
                Layout::OutIn => transpose(k, &b[valid.start * k..valid.end * k], width, panel),
            }
        }
        PackedB { k, n, panels, start }
    }

    fn job<'x>(&'x self, m: usize, a: &'x [T::Acc]) -> Job<'x, T::Acc> {
        Job { m, k: self.k, n: self.n, a, b: &self.panels[self.start..], in_place: false }
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

/// A product to be made of `a` and of panels, or of a plain `k x n` matrix where `in_place`.
struct Job<'x, T> {
    m: usize,
    k: usize,
    n: usize,
    a: &'x [T],
    b: &'x [T],
    in_place: bool,
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

// A tile has 6 rows, as many as are left, or 1, and of columns what the registers then hold: 24 of 32 for accumulators, or 12 of 16.
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
    // Few rows read a panel but once; in place some columns come twice, which only chains from start to end bear.
    for ks in ranges(job.k, if job.m <= FEW_ROWS { job.k } else { STEPS }) {
        for rows in ranges(job.m, ROWS) {
            for columns in columns::<T>(job.n, job.in_place) {
                let panel = job.panel(columns, ks.clone());
                if panel.columns.len() == UNIT {
                    strips::<T, UNIT, UNIT, UNIT>(job, &panel, rows.clone(), out);
                } else {
                    strips::<T, OF_6, OF_3, OF_1>(job, &panel, rows.clone(), out);
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

impl<'x, T> Job<'x, T> {
    fn panel(&self, columns: Range<usize>, ks: Range<usize>) -> Panel<'x, T> {
        let (start, stride, shift) =
            if self.in_place { (0, self.n, columns.start) } else { (self.k * columns.start, columns.len(), 0) };
        let b = &self.b[start + ks.start * stride..start + ks.end * stride];
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
    while rows.end - row >= 6 {
        strip::<T, 6, OF_6>(job, panel, row, out);
        row += 6;
    }
    match rows.end - row {
        5 => strip::<T, 5, OF_3>(job, panel, row, out),
        4 => strip::<T, 4, OF_3>(job, panel, row, out),
        3 => strip::<T, 3, OF_3>(job, panel, row, out),
        // A row alone has as many chains as its columns: more of them at a time.
        _ => (row..rows.end).for_each(|row| strip::<T, 1, OF_1>(job, panel, row, out)),
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
    let mut step = |p: usize, b: &[T; C]| {
        for i in 0..R {
            let x = rows[i][p];
            for j in 0..C {
                acc[i][j] = x.fma(b[j], acc[i][j]);
            }
        }
        // Keeps the compiler from vectorising across steps; it costs no instruction.
        black_box(());
    };
    if panel.stride == C && shift == 0 {
        // A stride that the compiler knows: a row alone waits for nothing but its chains.
        let (b, _) = panel.b.as_chunks::<C>();
        b.iter().take(steps).enumerate().for_each(|(p, b)| step(p, b));
    } else {
        let columns = panel.b.chunks_exact(panel.stride).map_while(|b| b[shift..].first_chunk::<C>());
        columns.take(steps).enumerate().for_each(|(p, b)| step(p, b));
    }
    // In memory the columns are neighbours, which is how the compiler finds the vectors.
    black_box(acc)
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
mod tests {
    use super::super::isa::{supported, with_isa};
    use super::*;
    use half::{bf16, f16};

    fn numbers<T>(n: usize, seed: u32, of: impl Fn(f32) -> T) -> Vec<T> {
        (0..n as u32)
            .map(|i| of(((i + seed).wrapping_mul(0x9e37_79b9) >> 8) as f32 * 2.0_f32.powi(-23) - 1.0))
            .collect()
    }

    fn transposed<T: Copy>(k: usize, n: usize, b: &[T]) -> Vec<T> {
        (0..k * n).map(|i| b[i % k * n + i / k]).collect()
    }

    /// The formula of the module's page, word by word.
    fn chains<T: Float>(k: usize, n: usize, a: &[T], b: &[T]) -> Vec<T> {
        let element = |row: &[T], j: usize| {
            T::round((0..k).fold(T::Acc::default(), |acc, p| row[p].widen().fma(b[p * n + j].widen(), acc)))
        };
        a.chunks_exact(k).flat_map(|row| (0..n).map(move |j| element(row, j))).collect()
    }

    fn bits<T: bytemuck::NoUninit>(x: &[T]) -> &[u8] {
        bytemuck::cast_slice(x)
    }

    fn check<T: Float + bytemuck::Pod>(of: impl Fn(f32) -> T + Copy) {
        #[rustfmt::skip]
        let sizes = [
            (1, 1, 1), (1, 5, 16), (2, 300, 17), (3, 40, 100), (4, 7, 63), (5, 3, 130), (13, 600, 70),
            (200, 9, 33), (2, 4096, 33),
        ];
        for (m, k, n) in sizes {
            let (a, b) = (numbers(m * k, 1, of), numbers(k * n, 2, of));
            let wanted = chains(k, n, &a, &b);
            for &isa in supported() {
                for (layout, b) in [(Layout::InOut, b.clone()), (Layout::OutIn, transposed(k, n, &b))] {
                    let mut out = vec![of(7.0); m * n];
                    with_isa(isa, || matmul(m, k, n, &a, &b, layout, &mut out));
                    assert_eq!(bits(&out), bits(&wanted), "{m} {k} {n} {layout:?} {isa}");

                    // A row equals the same row in a batch, packed or not.
                    let packed = PackedB::pack(k, n, &b, layout);
                    for i in 0..m {
                        let mut row = vec![of(7.0); n];
                        with_isa(isa, || matmul_packed(1, &a[i * k..][..k], &packed, &mut row));
                        assert_eq!(bits(&row), bits(&wanted[i * n..][..n]), "row {i}: {m} {k} {n} {layout:?} {isa}");
                        with_isa(isa, || matmul(1, k, n, &a[i * k..][..k], &b, layout, &mut row));
                        assert_eq!(bits(&row), bits(&wanted[i * n..][..n]), "row {i}: {m} {k} {n} {layout:?} {isa}");
                    }
                }
            }
        }
    }

    #[test]
    fn an_element_is_one_chain_in_every_isa_and_row_equals_batch() {
        check::<f32>(|x| x);
        check::<f64>(f64::from);
        check::<f16>(f16::from_f32);
        check::<bf16>(bf16::from_f32);
    }

    #[test]
    fn a_product_over_nothing_is_zero() {
        let mut out = [7.0_f32; 6];
        matmul(2, 0, 3, &[], &[], Layout::OutIn, &mut out);
        assert_eq!(out, [0.0; 6]);
        let mut out = [7.0_f32; 40];
        matmul(2, 0, 20, &[], &[], Layout::InOut, &mut out);
        assert_eq!(out, [0.0; 40]);
        matmul::<f32>(0, 3, 2, &[], &[0.0; 6], Layout::InOut, &mut []);
        matmul::<f32>(3, 2, 0, &[0.0; 6], &[], Layout::InOut, &mut []);
    }

    #[test]
    fn nan_is_canonical() {
        let mut out = [0.0_f32; 2];
        matmul(1, 2, 2, &[f32::INFINITY, 1.0], &[0.0, 1.0, -f32::NAN, f32::NEG_INFINITY], Layout::InOut, &mut out);
        assert_eq!(out.map(f32::to_bits), [f32::NAN.to_bits(); 2]);
    }
}
