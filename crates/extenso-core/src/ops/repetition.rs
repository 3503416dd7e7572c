//! Elements repeated for the values of their rows: what `gather_rows_of` gives, for every dtype.
//!
//! Invariant: values outside every row are zeros, empty texts or false; nothing reads them, and no row owns them.

use super::assemble::gathered;
use super::{Run, assemble};
use crate::kernels::gather;
use crate::kernels::pool::{Block, affordable};
use crate::kernels::reduce::Offset;
use crate::offsets::with_offsets;
use crate::partition::Rows;
use crate::tensor::{Dense, Elements, Storage, Tensor, bits_in_runs, element_count};
use crate::threads::{pieces, side_by_side, split_at_lengths};
use crate::value::{Outputs, Value};
use arrow_buffer::BooleanBuffer;
use extenso_types::{Dims, Result};
use smallvec::smallvec;

/// The elements of the outer axis, each as often as its row is long.
///
/// Errors: more elements than memory holds; boxed values, of which there is no zero, where values are outside every row.
pub(super) fn repeat_rows(x: &Dense, rows: &Rows) -> Result<Outputs> {
    let inner: usize = x.dims()[1..].iter().product();
    let mut dims = Dims::from_slice(x.dims());
    dims[0] = rows.nvalues();
    element_count(&dims)?;
    let storage = match x.storage() {
        Storage::Fixed(elements) => {
            let width = inner * x.dtype().width().unwrap_or(1);
            affordable(rows.nvalues().saturating_mul(width))?;
            Storage::Fixed(numbers(elements, width, rows))
        }
        Storage::Bits(bits) if inner == 1 => Storage::Bits(booleans(bits, rows)?),
        Storage::Text { .. } if inner == 1 && rows.covers_all() => {
            return one(gathered(x, &rows.row_ids()?, dims)?);
        }
        Storage::Bits(_) | Storage::Text { .. } | Storage::Boxed(_) => return one(in_runs(x, rows, inner, dims)?),
    };
    one(Tensor::from_dense(x.dtype(), dims, storage))
}

fn one(tensor: Tensor) -> Result<Outputs> {
    Ok(smallvec![Value::Tensor(tensor)])
}

fn numbers(elements: &[u8], width: usize, rows: &Rows) -> Elements {
    let mut block = Block::new(rows.nvalues() * width);
    let (before, rest) = block.bytes_mut().split_at_mut(rows.first() * width);
    let (inside, behind) = rest.split_at_mut((rows.last() - rows.first()) * width);
    before.fill(0);
    behind.fill(0);
    if !inside.is_empty() {
        with_offsets!(rows.offsets(), offsets => fill(elements, width, offsets, inside));
    }
    block.elements()
}

/// Fills the values of all rows, large ones in several pieces side by side.
fn fill<O: Offset + Sync>(elements: &[u8], width: usize, offsets: &[O], out: &mut [u8]) {
    let count = pieces(out.len().div_ceil(8));
    if count == 1 {
        return gather::repeat_rows(elements, width, offsets, out);
    }
    let (first, values) = (offsets[0].index(), out.len() / width);
    let row_of = |piece: usize| offsets.partition_point(|at| at.index() - first < values * piece / count);
    let last = offsets.len() - 1;
    let cuts: Vec<usize> =
        (0..=count).map(|piece| if piece == count { last } else { row_of(piece).min(last) }).collect();
    let cuts = || cuts.windows(2).map(|cut| &offsets[cut[0]..=cut[1]]);
    let outs = split_at_lengths(out, cuts().map(|o| (o[o.len() - 1].index() - o[0].index()) * width));
    let begins = cuts().scan(0, |row, o| Some(std::mem::replace(row, *row + o.len() - 1)));
    side_by_side(begins.zip(cuts()).zip(outs).collect(), |((row, offsets), out)| {
        gather::repeat_rows(&elements[row * width..], width, offsets, out)
    });
}

fn booleans(bits: &BooleanBuffer, rows: &Rows) -> Result<BooleanBuffer> {
    bits_in_runs(rows.nvalues(), |out| {
        out.fill(false, rows.first());
        rows.lengths().enumerate().for_each(|(row, n)| out.fill(bits.value(row), n));
        out.fill(false, rows.nvalues() - rows.last());
    })
}

fn in_runs(x: &Dense, rows: &Rows, inner: usize, dims: Dims) -> Result<Tensor> {
    let outside = |n: usize| Run { source: None, start: 0, len: n * inner };
    let of_row = |i: usize| {
        let run = Run { source: Some(0), start: i * inner, len: inner };
        std::iter::repeat_n(run, rows.row(i).len())
    };
    let runs = std::iter::once(outside(rows.first()))
        .chain((0..rows.nrows()).flat_map(of_row))
        .chain(std::iter::once(outside(rows.nvalues() - rows.last())));
    assemble(x.dtype(), dims, &[x], runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offsets::Offsets;
    use crate::partition::RowPartition;
    use crate::threads::with_threads;

    fn check(x: &Tensor, rows: &Rows) {
        let dense = x.data().expect("data");
        let inner = dense.dims()[1..].iter().product();
        let mut dims = Dims::from_slice(dense.dims());
        dims[0] = rows.nvalues();
        let wanted = in_runs(dense, rows, inner, dims).expect("runs");
        let found = repeat_rows(dense, rows).expect("repeated");
        assert_eq!(format!("{:?}", found[0].tensor().expect("a tensor")), format!("{wanted:?}"), "{x:?}");
    }

    #[test]
    fn every_dtype_is_repeated_as_its_runs_are() {
        let offsets = [
            Offsets::I32(vec![2, 3, 3, 6].into()),
            Offsets::I64(vec![0, 4, 60, 60].into()),
            Offsets::I64(vec![0, 0, 0, 0].into()),
        ];
        for offsets in offsets {
            let partition = RowPartition::from_offsets(offsets, 64).expect("proven");
            let rows = partition.data().expect("data");
            check(&Tensor::from_vec(vec![1_u8, 2, 3]), rows);
            check(&Tensor::from_vec(vec![1_i16, 2, 3]), rows);
            check(&Tensor::from_vec(vec![1.5_f32, -0.0, 3.0]), rows);
            check(&Tensor::from_vec(vec![1_i64, 2, 3]), rows);
            check(&Tensor::new(&[3, 3], &[1_u8, 2, 3, 4, 5, 6, 7, 8, 9]).expect("a matrix"), rows);
            check(&Tensor::new::<f64>(&[3, 0], &[]).expect("empty"), rows);
            check(&Tensor::bools(&[3], &[true, false, true]).expect("three"), rows);
            check(&Tensor::bools(&[3, 2], &[true, false, true, true, false, false]).expect("six"), rows);
            check(&Tensor::strings(&[3], &["a", "", "größe"]).expect("three"), rows);
        }
        let whole = RowPartition::from_lengths([2, 0, 1]).expect("lengths");
        check(&Tensor::strings(&[3], &["a", "", "größe"]).expect("three"), whole.data().expect("data"));
    }

    #[test]
    fn threads_change_no_value() {
        let lengths = (0..20_000_usize).map(|i| (i * 7919) % 50 + if i == 3 { 200_000 } else { 0 });
        let partition = RowPartition::from_lengths(lengths).expect("lengths");
        let x = Tensor::from_vec((0..20_000).collect::<Vec<i64>>());
        let of = |n| with_threads(n, || repeat_rows(x.data()?, partition.data()?)).expect("repeated");
        let (one, three) = (of(1), of(3));
        let slice = |outputs: &Outputs| outputs[0].tensor().expect("a tensor").as_slice::<i64>().expect("i64").to_vec();
        assert_eq!(slice(&one), partition.data().expect("data").row_ids().expect("few"));
        assert_eq!(slice(&one), slice(&three));
    }
}
