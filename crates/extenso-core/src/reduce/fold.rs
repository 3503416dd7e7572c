//! The folds: for each dtype a kernel as functions on bytes.
//!
//! Invariant: what a fold does is the reducer of its name in `kernels`; nothing else computes here.

use crate::kernels::reduce::{self as k, Tree};
use crate::offsets::{Offsets, with_offsets};
use extenso_types::{DType, Error, Result};
use half::{bf16, f16};

/// How elements fold into one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // The variants' names are their meaning.
pub enum Fold {
    Sum,
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
    /// Folds the rows between ends.
    pub(super) between: fn(&[u8], &[usize], &mut [u8]),
    /// Begins a fold that takes a row leaf by leaf.
    pub(super) begin: fn() -> Box<dyn Partial>,
}

/// The fold of booleans from the number of set bits and of all.
pub(super) type OfBits = fn(usize, usize) -> i64;

/// A fold in progress.
pub(super) trait Partial: Send {
    /// Takes the next leaf.
    fn push(&mut self, leaf: &[u8]);
    /// Writes the result.
    fn finish(&self, out: &mut [u8]);
}

struct Of<R: k::Reducer<T>, T>(Tree<R, T>);

impl<R: k::Reducer<T> + Send, T: crate::tensor::Element> Partial for Of<R, T>
where
    R::Out: bytemuck::Pod,
    Tree<R, T>: Send,
{
    fn push(&mut self, leaf: &[u8]) {
        self.0.extend(bytemuck::cast_slice(leaf));
    }

    fn finish(&self, out: &mut [u8]) {
        bytemuck::cast_slice_mut::<u8, R::Out>(out)[0] = R::finish(self.0.root());
    }
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
        FoldKernel {
            out: <Out as crate::tensor::Element>::DTYPE,
            rows: by_rows,
            segments,
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
            Fold::Prod => fold_table!(dtype, k::Prod),
            Fold::Max => fold_table!(dtype, k::Max),
            Fold::Min => fold_table!(dtype, k::Min),
            Fold::Any | Fold::All => None,
        }
    }

    /// The fold of booleans, if there is one: the result's dtype and the function of (set bits, all bits).
    pub(super) fn of_bits(self) -> Option<(DType, OfBits)> {
        match self {
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
            (number, Fold::Any | Fold::All) => number.is_numeric().then_some(DType::Bool),
            (number, Fold::Sum | Fold::Prod | Fold::Max | Fold::Min) => self.kernel(number).map(|k| k.out),
        };
        out.ok_or_else(|| Error::dtype(format!("the op does not take {dtype}")).wanted("numbers or booleans"))
    }
}
