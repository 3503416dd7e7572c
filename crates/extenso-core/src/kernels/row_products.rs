//! Sums of the products of rows, in one pass that stores no product.
//!
//! Invariant: each sum has the bits that it has where the products are stored and summed by [`super::reduce`]: a product is
//! rounded, lane j takes every sixteenth of them, and the lanes meet in the order of that page.

use super::elementary::canonical_f32;
use super::isa::{Isa, isa, multiversion};
use super::reduce::{CacheLine, LANES, LEAF};
use super::reducers::{Reducer, Sum};
use super::short_rows::{Lanes, ROWS, meet};
use extenso_types::DType;
use std::hint::black_box;

/// Where the rows of one factor are.
#[derive(Clone, Copy)]
pub struct Factor<'a> {
    /// The elements, as bytes.
    pub bytes: &'a [u8],
    /// The first element of each row.
    pub at: &'a [usize],
}

/// Sums the products of rows of a number of elements: `sums(x, y, n, out)`.
pub type RowSums = fn(Factor<'_>, Factor<'_>, usize, &mut [u8]);

/// In the place of a number of elements that is known when this is compiled.
const ANY: usize = 0;

/// Whether rows of `n` elements can be summed so: whole groups of lanes, and one leaf at most.
pub fn fits(n: usize) -> bool {
    n > 0 && n.is_multiple_of(LANES) && n <= LEAF
}

/// The kernel for a dtype, if there is one.
pub fn kernel(dtype: DType) -> Option<RowSums> {
    macro_rules! of {
        ($t:ty, $first:expr) => {{
            fn run(x: Factor<'_>, y: Factor<'_>, n: usize, out: &mut [u8]) {
                let (xs, ys) = (bytemuck::cast_slice(x.bytes), bytemuck::cast_slice(y.bytes));
                let out = bytemuck::cast_slice_mut(out);
                let done = $first(xs, x.at, ys, y.at, n, out);
                rows::<Sum, $t>(xs, &x.at[done..], ys, &y.at[done..], n, &mut out[done..]);
            }
            Some(run)
        }};
    }
    match dtype {
        DType::F32 => of!(f32, |x, xs, y, ys, n, out: &mut [f32]| match n {
            LANES => groups::<LANES>(x, xs, y, ys, n, out),
            _ => groups::<ANY>(x, xs, y, ys, n, out),
        }),
        DType::F64 => of!(f64, |_, _, _, _, _, _: &mut [f64]| 0),
        _ => None,
    }
}

/// Sums as many rows as make whole groups, where there are instructions that let the lanes of several rows meet in registers.
///
/// Gives how many rows that are. `N` is the number of elements, or [`ANY`].
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
fn groups<const N: usize>(x: &[f32], xs: &[usize], y: &[f32], ys: &[usize], n: usize, out: &mut [f32]) -> usize {
    macro_rules! all {
        ($rows:literal, $group:ident) => {{
            let rows = xs.as_chunks::<$rows>().0.iter().zip(ys.as_chunks::<$rows>().0);
            let outs = out.as_chunks_mut::<$rows>().0;
            for ((xs, ys), out) in rows.zip(&mut *outs) {
                // SAFETY: `isa()` only gives instruction sets that this machine was found to support.
                unsafe { $group::<N>(x, xs, y, ys, n, out) };
            }
            $rows * outs.len()
        }};
    }
    match isa() {
        Isa::Avx512 => all!(16, sixteen_avx512),
        Isa::Avx2 => all!(8, eight_avx2),
        Isa::Baseline => 0,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn groups<const N: usize>(_: &[f32], _: &[usize], _: &[f32], _: &[usize], _: usize, _: &mut [f32]) -> usize {
    0
}

/// The sum of two vectors of which one holds the first halves of the lanes of two rows, the other the second halves.
#[cfg(target_arch = "x86_64")]
macro_rules! halves {
    ($add:ident, $shuffle:ident, $low:literal, $high:literal; $a:expr, $b:expr) => {{
        let (a, b) = ($a, $b);
        $add($shuffle::<$low>(a, b), $shuffle::<$high>(a, b))
    }};
}

/// Sums sixteen rows. Two neighbours become one vector of both their halves, and so four times; then they are put in order.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[target_feature(enable = "avx512f")]
fn sixteen_avx512<const N: usize>(
    x: &[f32],
    xs: &[usize; 16],
    y: &[f32],
    ys: &[usize; 16],
    n: usize,
    out: &mut [f32; 16],
) {
    use std::arch::x86_64::{
        _mm512_add_ps, _mm512_loadu_ps, _mm512_mul_ps, _mm512_permutexvar_ps, _mm512_setr_epi32, _mm512_setzero_ps,
        _mm512_shuffle_f32x4, _mm512_shuffle_ps, _mm512_storeu_ps,
    };
    // SAFETY: a group has sixteen floats.
    let load = |group: &[f32; LANES]| unsafe { _mm512_loadu_ps(group.as_ptr()) };
    let n = if N == ANY { n } else { N };
    let row = |i: usize| {
        let (x, y) = (&x[xs[i]..xs[i] + n], &y[ys[i]..ys[i] + n]);
        let groups = x.as_chunks().0.iter().zip(y.as_chunks().0);
        groups.fold(_mm512_setzero_ps(), |sum, (x, y)| _mm512_add_ps(sum, _mm512_mul_ps(load(x), load(y))))
    };
    let of_two = |i: usize| halves!(_mm512_add_ps, _mm512_shuffle_f32x4, 0x44, 0xee; row(i), row(i + 1));
    let of_four = |i: usize| halves!(_mm512_add_ps, _mm512_shuffle_f32x4, 0x88, 0xdd; of_two(i), of_two(i + 2));
    let of_eight = |i: usize| halves!(_mm512_add_ps, _mm512_shuffle_ps, 0x44, 0xee; of_four(i), of_four(i + 4));
    let sums = halves!(_mm512_add_ps, _mm512_shuffle_ps, 0x88, 0xdd; of_eight(0), of_eight(8));
    let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    // SAFETY: there is room for sixteen floats.
    unsafe { _mm512_storeu_ps(out.as_mut_ptr(), _mm512_permutexvar_ps(order, sums)) };
    *out = out.map(canonical_f32);
}

/// Sums eight rows, whose lanes are two vectors each: these meet first, then neighbours as those of sixteen rows do.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[target_feature(enable = "avx2")]
fn eight_avx2<const N: usize>(x: &[f32], xs: &[usize; 8], y: &[f32], ys: &[usize; 8], n: usize, out: &mut [f32; 8]) {
    use std::arch::x86_64::{
        _mm256_add_ps, _mm256_loadu_ps, _mm256_mul_ps, _mm256_permute2f128_ps, _mm256_permutevar8x32_ps,
        _mm256_setr_epi32, _mm256_setzero_ps, _mm256_shuffle_ps, _mm256_storeu_ps,
    };
    // SAFETY: half a group has eight floats.
    let load = |half: &[f32; LANES / 2]| unsafe { _mm256_loadu_ps(half.as_ptr()) };
    let n = if N == ANY { n } else { N };
    let row = |i: usize| {
        let (x, y) = (&x[xs[i]..xs[i] + n], &y[ys[i]..ys[i] + n]);
        let mut sums = [_mm256_setzero_ps(); 2];
        for (x, y) in x.as_chunks::<LANES>().0.iter().zip(y.as_chunks::<LANES>().0) {
            for (sum, (x, y)) in sums.iter_mut().zip(x.as_chunks().0.iter().zip(y.as_chunks().0)) {
                *sum = _mm256_add_ps(*sum, _mm256_mul_ps(load(x), load(y)));
            }
        }
        _mm256_add_ps(sums[0], sums[1])
    };
    let of_two = |i: usize| halves!(_mm256_add_ps, _mm256_permute2f128_ps, 0x20, 0x31; row(i), row(i + 1));
    let of_four = |i: usize| halves!(_mm256_add_ps, _mm256_shuffle_ps, 0x44, 0xee; of_two(i), of_two(i + 2));
    let sums = halves!(_mm256_add_ps, _mm256_shuffle_ps, 0x88, 0xdd; of_four(0), of_four(4));
    let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    // SAFETY: there is room for eight floats.
    unsafe { _mm256_storeu_ps(out.as_mut_ptr(), _mm256_permutevar8x32_ps(sums, order)) };
    *out = out.map(canonical_f32);
}

/// What products are made of.
trait Times: Copy + 'static {
    fn times(self, other: Self) -> Self;
}

impl Times for f32 {
    #[inline(always)]
    fn times(self, other: f32) -> f32 {
        self * other
    }
}

impl Times for f64 {
    #[inline(always)]
    fn times(self, other: f64) -> f64 {
        self * other
    }
}

multiversion! {
    fn rows<R: Reducer<T>, T: Times>(x: &[T], xs: &[usize], y: &[T], ys: &[usize], n: usize, out: &mut [R::Out]) {
        let mut lanes: Lanes<R::Acc> = CacheLine([[R::IDENTITY; LANES]; ROWS]);
        for ((out, xs), ys) in out.chunks_mut(ROWS).zip(xs.chunks(ROWS)).zip(ys.chunks(ROWS)) {
            for ((lanes, &x_at), &y_at) in lanes.0.iter_mut().zip(xs).zip(ys) {
                *lanes = lanes_of_products::<R, T>(&x[x_at..x_at + n], &y[y_at..y_at + n]);
            }
            let mut results = [R::finish(R::IDENTITY); ROWS];
            meet::<R, T>(&mut lanes, &mut results);
            match <&mut [R::Out; ROWS]>::try_from(&mut *out) {
                Ok(out) => *out = results,
                Err(_) => out.copy_from_slice(&results[..out.len()]),
            }
        }
    }
}

/// The lanes of the products of whole groups.
#[inline(always)]
fn lanes_of_products<R: Reducer<T>, T: Times>(x: &[T], y: &[T]) -> [R::Acc; LANES] {
    let mut lanes = [R::IDENTITY; LANES];
    for (x, y) in x.as_chunks::<LANES>().0.iter().zip(y.as_chunks::<LANES>().0) {
        for j in 0..LANES {
            lanes[j] = R::combine(lanes[j], R::load(x[j].times(y[j])));
        }
        // Left alone, the compiler vectorises across groups, with gathers; this costs no instruction.
        black_box(());
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::super::isa::{supported, with_isa};
    use super::super::reduce::sum;
    use super::*;

    #[test]
    fn sums_have_the_bits_of_stored_products() {
        for n in [16, 32, 48, 1024] {
            let numbers = |count: usize, by: usize| -> Vec<f32> {
                (0..count).map(|i| ((i * by) % 1013) as f32 / 77.0 - 6.5).collect()
            };
            let (mut x, y) = (numbers(5 * n, 7919), numbers(37 * n, 104_729));
            (x[3], x[2 * n]) = (f32::NAN, f32::INFINITY);
            let (xs, ys): (Vec<usize>, Vec<usize>) = (0..37).map(|i| (i % 5 * n, i * n)).unzip();
            let products = |i: usize| -> Vec<f32> { (0..n).map(|j| x[xs[i] + j] * y[ys[i] + j]).collect() };
            let wanted: Vec<u32> = (0..37).map(|i| sum::<f32>(&products(i)).to_bits()).collect();
            for &isa in supported() {
                let mut out = vec![0.0_f32; 37];
                let run = kernel(DType::F32).expect("a kernel");
                let (x, y) = (bytemuck::cast_slice(&x), bytemuck::cast_slice(&y));
                let (x, y) = (Factor { bytes: x, at: &xs }, Factor { bytes: y, at: &ys });
                with_isa(isa, || run(x, y, n, bytemuck::cast_slice_mut(&mut out)));
                assert_eq!(out.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), wanted, "{isa}, rows of {n}");
            }
        }
    }
}
