//! The folds: for each dtype a kernel as functions on bytes.
//!
//! Invariant: what a fold does is the reducer of its name in `kernels`; nothing else computes here.

use crate::kernels::columns::{Columns, RowsOf, columns_reduce};
use crate::kernels::reduce::{self as k, LEAF, Tree};
use crate::offsets::{Offsets, with_offsets};
use crate::threads::{pieces_of, side_by_side};
use extenso_types::{DType, Error, Result};
use half::{bf16, f16};
use smallvec::SmallVec;
use std::any::Any;
use std::ops::Range;

/// Work below this many elements stays on the calling thread.
pub(super) const PARALLEL: usize = 1 << 17;

/// How elements fold into one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // The variants' names are their meaning.
pub enum Fold {
    Sum,
    SumHigh,
    Prod,
    Max,
    Min,
    Any,
    All,
}

/// A fold over numbers of one dtype, as functions on bytes.
#[derive(Clone, Copy)]
pub struct FoldKernel {
    /// The dtype of the result.
    pub out: DType,
    /// Folds each run of `n` elements.
    pub(super) rows: fn(&[u8], usize, &mut [u8]),
    /// Folds the rows of offsets.
    pub(super) segments: fn(&[u8], &Offsets, &mut [u8]),
    /// Folds the columns of matrices whose rows a function gives.
    pub(super) columns: fn(&[u8], &Columns<'_>, &RowsOf<'_>, &mut [u8]),
    /// Folds the rows between ends.
    pub(super) between: fn(&[u8], &[usize], &mut [u8]),
    /// Begins a fold that takes a row leaf by leaf.
    pub(super) begin: fn() -> Box<dyn Partial>,
}

/// The fold of booleans from the number of set bits and of all.
pub(super) type OfBits = fn(usize, usize) -> i64;

/// A fold in progress.
pub(super) trait Partial: Any + Send {
    /// Takes the next elements, which follow whole leaves.
    fn push(&mut self, elements: &[u8]);
    /// Takes what a fold of the same kernel has of the elements that follow; both have pieces of a row that [`fold_long`] cut.
    fn merge(&mut self, right: &dyn Partial);
    /// Writes the result.
    fn finish(&self, out: &mut [u8]);
}

struct Of<R: k::Reducer<T>, T>(Tree<R, T>);

impl<R: k::Reducer<T> + Send, T: crate::tensor::Element> Partial for Of<R, T>
where
    R::Out: bytemuck::Pod,
    Tree<R, T>: Send,
{
    fn push(&mut self, elements: &[u8]) {
        self.0.extend(bytemuck::cast_slice(elements));
    }

    fn merge(&mut self, right: &dyn Partial) {
        let right: &dyn Any = right;
        if let Some(Of(right)) = right.downcast_ref::<Self>() {
            self.0.merge(right);
        }
    }

    fn finish(&self, out: &mut [u8]) {
        bytemuck::cast_slice_mut::<u8, R::Out>(out)[0] = R::finish(self.0.root());
    }
}

/// The folds of one row by several kernels.
pub(super) type Partials = SmallVec<[Box<dyn Partial>; 2]>;

/// Folds a row of `n` elements that is longer than a leaf, in pieces side by side.
///
/// `fold` pushes the elements of a range. Ranges begin at whole leaves, as many as make the result that of the row in one piece.
/// Errors: the first of `fold`, in the order of the elements.
pub(super) fn fold_long<E: Send>(
    kernels: &[&FoldKernel],
    n: usize,
    fold: impl Fn(Range<usize>, &mut Partials) -> std::result::Result<(), E> + Sync,
) -> std::result::Result<Partials, E> {
    let begin = || kernels.iter().map(|kernel| (kernel.begin)()).collect::<Partials>();
    let leaves = n.div_ceil(LEAF).div_ceil(pieces_of(n, PARALLEL)).next_power_of_two();
    let ranges = (0..n).step_by(leaves * LEAF).map(|from| from..n.min(from + leaves * LEAF)).collect();
    let done = side_by_side(ranges, |range| {
        let mut partials = begin();
        fold(range, &mut partials).map(|()| partials)
    });
    let mut done = done.into_iter();
    let mut all = done.next().unwrap_or_else(|| Ok(begin()))?;
    for right in done {
        all.iter_mut().zip(&right?).for_each(|(left, right)| left.merge(&**right));
    }
    Ok(all)
}

macro_rules! fold_kernel {
    ($reducer:ty, $t:ty) => {{
        type Out = <$reducer as k::Reducer<$t>>::Out;
        fn by_rows(x: &[u8], n: usize, out: &mut [u8]) {
            let (x, out) = (bytemuck::cast_slice::<u8, $t>(x), bytemuck::cast_slice_mut::<u8, Out>(out));
            k::equal_rows_reduce::<$reducer, $t>(x, n, out);
        }
        fn segments(x: &[u8], offsets: &Offsets, out: &mut [u8]) {
            let (x, out) = (bytemuck::cast_slice::<u8, $t>(x), bytemuck::cast_slice_mut::<u8, Out>(out));
            with_offsets!(offsets, o => k::segment_reduce::<$reducer, $t, _>(x, o, out));
        }
        fn between(x: &[u8], ends: &[usize], out: &mut [u8]) {
            let (x, out) = (bytemuck::cast_slice::<u8, $t>(x), bytemuck::cast_slice_mut::<u8, Out>(out));
            k::rows_reduce::<$reducer, $t>(x, ends, out);
        }
        fn columns(x: &[u8], columns: &Columns<'_>, rows: &RowsOf<'_>, out: &mut [u8]) {
            let (x, out) = (bytemuck::cast_slice::<u8, $t>(x), bytemuck::cast_slice_mut::<u8, Out>(out));
            columns_reduce::<$reducer, $t>(x, columns, rows, out);
        }
        FoldKernel {
            out: <Out as crate::tensor::Element>::DTYPE,
            rows: by_rows,
            segments,
            columns,
            between,
            begin: || Box::new(Of::<$reducer, $t>(Tree::new())),
        }
    }};
}

macro_rules! fold_table {
    ($dtype:expr, $reducer:ty; $($d:ident $t:ty),*) => {
        match $dtype {
            $(DType::$d => Some(fold_kernel!($reducer, $t)),)*
            DType::Bool | DType::String | DType::Bytes | DType::Variant => None,
        }
    };
    ($dtype:expr, $reducer:ty) => {
        fold_table!($dtype, $reducer; I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16, BF16 bf16, F32 f32, F64 f64)
    };
}

impl Fold {
    /// The kernel for numbers of a dtype, if there is one.
    pub fn kernel(self, dtype: DType) -> Option<FoldKernel> {
        match self {
            Fold::Sum => fold_table!(dtype, k::Sum),
            Fold::SumHigh if dtype == DType::I64 => Some(fold_kernel!(k::SumHigh, i64)),
            Fold::SumHigh if dtype == DType::U64 => Some(fold_kernel!(k::SumHigh, u64)),
            Fold::Prod => fold_table!(dtype, k::Prod),
            Fold::Max => fold_table!(dtype, k::Max),
            Fold::Min => fold_table!(dtype, k::Min),
            Fold::SumHigh | Fold::Any | Fold::All => None,
        }
    }

    /// What folds the results of this fold of parts into its result of the whole.
    pub fn of_parts(self) -> Fold {
        match self {
            Fold::Sum | Fold::SumHigh => Fold::Sum,
            Fold::Prod | Fold::Max | Fold::Min | Fold::Any | Fold::All => self,
        }
    }

    /// The fold of booleans, if there is one: the result's dtype and the function of (set bits, all bits).
    pub(super) fn of_bits(self) -> Option<(DType, OfBits)> {
        match self {
            Fold::SumHigh => None,
            Fold::Sum => Some((DType::I64, |set, _| i64::try_from(set).unwrap_or(i64::MAX))),
            Fold::Prod => Some((DType::I64, |set, n| i64::from(set == n))),
            Fold::Max | Fold::Any => Some((DType::Bool, |set, _| i64::from(set > 0))),
            Fold::Min | Fold::All => Some((DType::Bool, |set, n| i64::from(set == n))),
        }
    }

    /// Whether numbers are folded as what they are not: zero.
    pub(super) fn tests_numbers(self, dtype: DType) -> bool {
        matches!(self, Fold::Any | Fold::All) && dtype != DType::Bool
    }

    /// The dtype of the result.
    ///
    /// Errors: the fold does not take the dtype.
    pub fn out_dtype(self, dtype: DType) -> Result<DType> {
        let out = match (dtype, self) {
            (DType::Bool, _) => self.of_bits().map(|(out, _)| out),
            (DType::String | DType::Bytes, Fold::Max | Fold::Min) => Some(dtype),
            (number, Fold::Any | Fold::All) => number.is_numeric().then_some(DType::Bool),
            (number, Fold::Sum | Fold::SumHigh | Fold::Prod | Fold::Max | Fold::Min) => {
                self.kernel(number).map(|k| k.out)
            }
        };
        let wanted = match self {
            Fold::SumHigh => "integers of 64 bits",
            Fold::Max | Fold::Min => "numbers, booleans or texts",
            Fold::Sum | Fold::Prod | Fold::Any | Fold::All => "numbers or booleans",
        };
        out.ok_or_else(|| Error::dtype(format!("the op does not take {dtype}")).wanted(wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::with_threads;

    #[test]
    fn a_long_row_is_the_same_in_pieces() {
        // Of many magnitudes, so that another order of additions gives other bits.
        let x: Vec<f32> = (0..1_000_003_u32)
            .map(|i| i.wrapping_mul(2_654_435_761))
            .map(|i| (i as i32 as f32) * f32::from_bits((i % 40 + 100) << 23))
            .collect();
        for fold in [Fold::Sum, Fold::Prod, Fold::Max, Fold::Min] {
            let kernel = fold.kernel(DType::F32).expect("a kernel");
            for n in [1025, 2048, 131_072, 131_073, 500_000, x.len()] {
                let mut wanted = [0; 4];
                (kernel.rows)(bytemuck::cast_slice(&x[..n]), n, &mut wanted);
                for threads in [1, 2, 3, 7] {
                    let folded = with_threads(threads, || {
                        fold_long::<()>(&[&kernel], n, |range, partials| {
                            partials[0].push(bytemuck::cast_slice(&x[range]));
                            Ok(())
                        })
                    });
                    let mut found = [0; 4];
                    folded.expect("a fold")[0].finish(&mut found);
                    assert_eq!(found, wanted, "{fold:?} of {n} on {threads} threads");
                }
            }
        }
    }
}
