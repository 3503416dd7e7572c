//! The largest and the smallest of texts, which are in the order of their bytes.
//!
//! Invariant: a result is the first extreme of its texts, as it stands there. Texts have no identity: of no texts along an axis there is
//! no largest, and an empty row gives an empty text.

use super::{Fold, block_of, over_threads};
use crate::kernels::extremes::{extreme_rows, extremes_of};
use crate::kernels::pool::affordable;
use crate::ops::{Run, assemble, permute};
use crate::partition::Rows;
use crate::tensor::{Dense, Tensor};
use extenso_types::{DType, DTypeKind, Dims, Error, Result};
use smallvec::smallvec;

/// Whether the fold picks one of texts.
pub(super) fn picks(fold: Fold, dtype: DType) -> bool {
    matches!(fold, Fold::Max | Fold::Min) && dtype.kind() == DTypeKind::Text
}

/// The error of an axis without texts.
pub(super) fn no_text() -> Error {
    Error::value("the axis has no element, and texts have no largest or smallest of none")
        .wanted("at least one element")
        .hint("In rows and under masks the result is missing: `mask(x, is_there)`.")
}

/// The extreme of each run of `n` texts.
///
/// Errors: runs of none.
pub(super) fn of_runs(fold: Fold, x: &Dense, rows: usize, n: usize, out_dims: Dims) -> Result<Tensor> {
    if n == 0 {
        return Err(no_text());
    }
    let texts = texts(x)?;
    let mut found = block_of(rows, size_of::<i64>())?;
    over_threads(rows, rows * n, found.bytes_mut(), |from, out| {
        let out: &mut [i64] = bytemuck::cast_slice_mut(out);
        extreme_rows(&texts[from * n..(from + out.len()) * n], n, fold == Fold::Max, out);
    });
    let start = |(row, at): (usize, &i64)| row * n + usize::try_from(*at).unwrap_or(0);
    let runs = found.slice_mut::<i64>().iter().enumerate().map(|at| Run { source: Some(0), start: start(at), len: 1 });
    assemble(x.dtype(), out_dims, &[x], runs)
}

/// The extreme of each row of a partition, and of each column of values of so many columns; an empty text where there is none.
pub(super) fn of_segments(fold: Fold, x: &Dense, rows: &Rows, columns: usize, out_dims: Dims) -> Result<Tensor> {
    if columns == 1 {
        return of_columns(fold, x, rows, 1, out_dims);
    }
    let flat = Tensor::from_dense(x.dtype(), smallvec![rows.nvalues(), columns], x.storage().clone());
    let by_column = permute(flat.data()?, &[1, 0])?;
    let found = of_columns(fold, by_column.data()?, rows, columns, smallvec![columns, rows.nrows()])?;
    permute(found.data()?, &[1, 0])?.with_dims(&out_dims)
}

fn of_columns(fold: Fold, x: &Dense, rows: &Rows, columns: usize, out_dims: Dims) -> Result<Tensor> {
    let texts = texts(x)?;
    let count = columns.saturating_mul(rows.nrows());
    let mut found = block_of(count, size_of::<i64>())?;
    let found = found.slice_mut::<i64>();
    found.fill(-1);
    let row = |i: usize| {
        let (before, row) = (i / rows.nrows() * rows.nvalues(), rows.row(i % rows.nrows()));
        before + row.start..before + row.end
    };
    extremes_of(&texts, (0..count).map(row), fold == Fold::Max, found);
    let runs = found.iter().enumerate().map(|(i, at)| match usize::try_from(*at) {
        Ok(at) => Run { source: Some(0), start: row(i).start + at, len: 1 },
        Err(_) => Run { source: None, start: 0, len: 1 },
    });
    assemble(x.dtype(), out_dims, &[x], runs)
}

fn texts(x: &Dense) -> Result<Vec<&[u8]>> {
    affordable(x.len().saturating_mul(size_of::<&[u8]>()))?;
    (0..x.len()).map(|i| x.text_at(i)).collect()
}
