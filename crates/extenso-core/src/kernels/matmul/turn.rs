//! Rows turned into columns of a panel.
//!
//! Knows nothing of products: elements are moved.

use super::Chain;
use crate::kernels::isa::isa;
use std::ops::Range;

/// Writes the steps `ks` of each row, of `k` elements, as a column of a panel of `width`; columns without a row become zeros.
pub(super) fn turn<T: Chain>(rows: &[T], k: usize, ks: Range<usize>, width: usize, panel: &mut [T]) {
    let Some(count) = rows.len().checked_div(k) else { return };
    let steps = ks.len();
    let panel = &mut panel[..steps * width];
    if count < width {
        panel.chunks_exact_mut(width).for_each(|step| step[count..].fill(T::default()));
    }
    let squares = T::squares(isa());
    let lanes = squares.map_or(FEW, |(lanes, _)| lanes);
    for first in (0..count).step_by(lanes) {
        let (rows, last) = (&rows[first * k + ks.start..], count.min(first + lanes));
        let done = match squares {
            Some((_, squares)) if last - first == lanes => squares(rows, k, steps, width, &mut panel[first..]),
            _ => 0,
        };
        for (step, panel) in panel.chunks_exact_mut(width).enumerate().skip(done) {
            for (place, x) in panel[first..last].iter_mut().zip(rows[step..].iter().step_by(k)) {
                *place = *x;
            }
        }
    }
}

/// How many rows are walked side by side where no instructions turn them.
const FEW: usize = 8;

/// Turns as many rows as there are lanes: `squares(rows, k, steps, width, panel)` gives how many of the steps it wrote.
pub(super) type Squares<T> = fn(&[T], usize, usize, usize, &mut [T]) -> usize;

/// Defines [`Squares`]. Each part of 128 bits of a vector gets some steps of a row, and small squares of them are turned at once.
macro_rules! squares {
    ($($name:ident, $T:ident, $lanes:literal lanes, $features:literal; rows $rows:tt $parts:tt, $side:literal steps;
       $widen:ident, $insert:ident, $store:ident; |$x:ident| $turned:expr;)*) => {$(
        #[cfg(target_arch = "x86_64")]
        #[allow(unsafe_code)]
        pub(super) fn $name(rows: &[$T], k: usize, steps: usize, width: usize, panel: &mut [$T]) -> usize {
            use std::arch::x86_64::*;
            #[target_feature(enable = $features)]
            fn turn(rows: &[$T], k: usize, steps: usize, width: usize, panel: &mut [$T]) {
                for step in (0..steps).step_by($side) {
                    // SAFETY: the caller has checked that the last of these steps of the last row is there.
                    let load = |row: usize| unsafe { _mm_loadu_si128(rows.as_ptr().add(row * k + step).cast()) };
                    let $x = squares!(load, $side, $widen, $insert, $rows, $parts);
                    for (i, x) in $turned.into_iter().enumerate() {
                        // SAFETY: the caller has checked that the last step of the panel has room for all lanes.
                        unsafe { $store(panel.as_mut_ptr().add((step + i) * width).cast(), x) };
                    }
                }
            }
            let whole = steps / $side * $side;
            if whole > 0 {
                assert!(rows.len() >= ($lanes - 1) * k + whole && panel.len() >= (whole - 1) * width + $lanes);
                // SAFETY: `Chain::squares` gives this function where `isa()` has the instructions.
                unsafe { turn(rows, k, whole, width, panel) };
            }
            whole
        }
    )*};
    ($load:ident, $side:literal, $widen:ident, $insert:ident, [$($row:literal)*], $parts:tt) => {
        [$(squares!($load, $row, $side, $widen, $insert, $parts)),*]
    };
    ($load:ident, $row:literal, $side:literal, $widen:ident, $insert:ident, [$($part:literal)*]) => {{
        let row = $widen($load($row));
        $(let row = $insert::<$part>(row, $load($row + $part * $side));)*
        row
    }};
}

squares! {
    f32_avx512, f32, 16 lanes, "avx512f"; rows [0 1 2 3] [1 2 3], 4 steps;
    _mm512_castsi128_si512, _mm512_inserti32x4, _mm512_storeu_si512; |x| {
        let low = [_mm512_unpacklo_epi32(x[0], x[1]), _mm512_unpacklo_epi32(x[2], x[3])];
        let high = [_mm512_unpackhi_epi32(x[0], x[1]), _mm512_unpackhi_epi32(x[2], x[3])];
        [
            _mm512_unpacklo_epi64(low[0], low[1]),
            _mm512_unpackhi_epi64(low[0], low[1]),
            _mm512_unpacklo_epi64(high[0], high[1]),
            _mm512_unpackhi_epi64(high[0], high[1]),
        ]
    };
    f32_avx2, f32, 8 lanes, "avx2"; rows [0 1 2 3] [1], 4 steps;
    _mm256_castsi128_si256, _mm256_inserti128_si256, _mm256_storeu_si256; |x| {
        let low = [_mm256_unpacklo_epi32(x[0], x[1]), _mm256_unpacklo_epi32(x[2], x[3])];
        let high = [_mm256_unpackhi_epi32(x[0], x[1]), _mm256_unpackhi_epi32(x[2], x[3])];
        [
            _mm256_unpacklo_epi64(low[0], low[1]),
            _mm256_unpackhi_epi64(low[0], low[1]),
            _mm256_unpacklo_epi64(high[0], high[1]),
            _mm256_unpackhi_epi64(high[0], high[1]),
        ]
    };
    f64_avx512, f64, 8 lanes, "avx512f"; rows [0 1] [1 2 3], 2 steps;
    _mm512_castsi128_si512, _mm512_inserti32x4, _mm512_storeu_si512;
    |x| [_mm512_unpacklo_epi64(x[0], x[1]), _mm512_unpackhi_epi64(x[0], x[1])];
    f64_avx2, f64, 4 lanes, "avx2"; rows [0 1] [1], 2 steps;
    _mm256_castsi128_si256, _mm256_inserti128_si256, _mm256_storeu_si256;
    |x| [_mm256_unpacklo_epi64(x[0], x[1]), _mm256_unpackhi_epi64(x[0], x[1])];
}
