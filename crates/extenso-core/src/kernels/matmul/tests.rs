//! Products beside their formula, word by word.

use super::*;
use crate::kernels::isa::{supported, with_isa};
use half::{bf16, f16};

fn numbers<T>(n: usize, seed: u32, of: impl Fn(f32) -> T) -> Vec<T> {
    (0..n as u32).map(|i| of(((i + seed).wrapping_mul(0x9e37_79b9) >> 8) as f32 * 2.0_f32.powi(-23) - 1.0)).collect()
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
        (200, 9, 33), (2, 4096, 33), (131, 301, 1), (70, 67, 3), (1100, 5, 2), (40, 130, 15), (16, 64, 1), (1, 200, 150),
        (6, 131, 77), (17, 1, 3), (40, 16, 1), (33, 9, 1), (50, 8, 7), (21, 3, 1), (19, 9, 2), (16, 17, 1),
    ];
    // Rows without a zero, and rows as they are behind a `relu`.
    for ((m, k, n), least) in sizes.into_iter().flat_map(|size| [(size, -1.0), (size, 0.0)]) {
        let (a, b) = (numbers(m * k, 1, |x| of(x.max(least))), numbers(k * n, 2, of));
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

/// The formula of the page of [`dots`], word by word.
fn halved<T: Float>(a: &[T], b: &[T]) -> T {
    let mut chains = vec![T::Acc::default(); 4 * 64 / size_of::<T::Acc>()];
    let (lanes, mut all) = (chains.len(), a.iter().zip(b).map(|(a, b)| (a.widen(), b.widen())));
    for (p, (a, b)) in all.by_ref().take(a.len() / lanes * lanes).enumerate() {
        chains[p % lanes] = a.fma(b, chains[p % lanes]);
    }
    while chains.len() > 1 {
        let second = chains.split_off(chains.len() / 2);
        chains.iter_mut().zip(second).for_each(|(x, y)| *x = *x + y);
    }
    T::round(all.fold(chains[0], |sum, (a, b)| a.fma(b, sum)))
}

fn check_dots<T: Float + bytemuck::Pod>(of: impl Fn(f32) -> T + Copy) {
    for (m, k) in [(0, 3), (1, 0), (1, 1), (3, 15), (2, 16), (1, 63), (5, 64), (2, 65), (3, 200), (1, 1024), (70, 333)]
    {
        let (a, b) = (numbers(m * k, 1, of), numbers(k, 2, of));
        let wanted: Vec<T> = (0..m).map(|i| halved(&a[i * k..][..k], &b)).collect();
        for &isa in supported() {
            let mut out = vec![of(7.0); m];
            with_isa(isa, || dots(&a, &b, &mut out));
            assert_eq!(bits(&out), bits(&wanted), "{m} {k} {isa}");
        }
    }
}

#[test]
fn a_dot_product_is_chains_that_are_added_by_halves() {
    check_dots::<f32>(|x| x);
    check_dots::<f64>(f64::from);
    check_dots::<f16>(f16::from_f32);
    check_dots::<bf16>(bf16::from_f32);
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

/// Weights whose products with a row round to zeros of either sign, and one that is no number with a zero too.
#[test]
fn steps_of_zeros_are_left_out_where_no_bit_hangs_on_them() {
    let (k, n) = (130, 40);
    let a: Vec<f32> = (0..k).map(|p| [0.0, -1e-30, -0.0, 1e-30, 0.0][p % 5]).collect();
    for wrong in [1e-30, f32::INFINITY, f32::NAN] {
        let mut b = numbers(k * n, 2, |x| x * 1e-18);
        b[65 * n + 3] = wrong;
        let wanted = chains(k, n, &a, &b);
        assert_eq!(wanted[3].is_nan(), !wrong.is_finite());
        for &isa in supported() {
            let mut out = vec![7.0; n];
            with_isa(isa, || matmul_packed(1, &a, &PackedB::pack(k, n, &b, Layout::InOut), &mut out));
            assert_eq!(bits(&out), bits(&wanted), "{wrong} {isa}");
        }
    }
}
