//! How often each small integer is there.

use super::args::{data, one_tensor, spec_of, tensor_spec};
use super::{cast, reshape, scatter_add_like, whole, zeros_like};
use crate::attrs::{AttrSet, Attrs};
use crate::kernels::pool::{Block, affordable};
use crate::op::{Class, OpDef, OutputSpecs};
use crate::ops::reduction::dtype_of;
use crate::tensor::{Element, Storage, Tensor};
use crate::threads::{pieces, side_by_side};
use crate::value::{Arg, Outputs, Value};
use extenso_types::{DType, DTypeKind, Dim, Error, LeafSpec, Result, Shape};
use smallvec::smallvec;

crate::attrs! {
    /// The attributes of `bin_counts`.
    pub struct BinCounts { minlength: i64 = 0 }
}

crate::ops! {
    /// Counts.
    pub static COUNTING;

    /// How often each of 0, 1, 2 and so on is there, as i64, up to the largest element, or for at least `minlength` numbers.
    ///
    /// Shapes: the result is a vector. `bincount` takes weights too. Errors: no integers; one below zero, with its position; a
    /// largest element whose counts memory does not hold; a negative `minlength`.
    BIN_COUNTS: bin_counts(x; BinCounts { minlength: i64 }) = OpDef::general(Class::Structural, infer, run)
        .examples(&[("bin_counts([1, 3, 1])", "[0, 2, 0, 1]"), ("bin_counts([0], minlength=3)", "[1, 0, 0]")]);
}

/// How often each of 0, 1, 2 and so on is there, as i64; or with `weights` the sum of those that stand beside it: of integers in 64 bits, of floats in
/// their dtype.
///
/// Shapes: `weights` has the shape of `x`; the result is a vector up to the largest element, or of `minlength` numbers where these are
/// more. Errors: as [`bin_counts`]; weights of another shape, or no numbers.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = Tensor::from_vec(vec![1, 3, 1]);
/// assert_eq!(ops::bincount(&x, None, 0).unwrap().to_string(), "[0, 2, 0, 1]");
/// let weights = Tensor::from_vec(vec![0.5, 1.0, 2.0]);
/// assert_eq!(ops::bincount(&x, Some(weights.into()), 0).unwrap().to_string(), "[0.0, 2.5, 0.0, 1.0]");
/// ```
pub fn bincount(x: impl Into<Arg>, weights: Option<Value>, minlength: i64) -> Result<Value> {
    let x = x.into();
    let summed = |x: &Value| {
        let counts = bin_counts(x, minlength)?;
        let Some(weights) = weights else { return Ok(counts) };
        let (shape, given) = (x.tensor()?.shape(), weights.tensor()?.shape());
        if !shape.is_compatible_with(&given) {
            return Err(
                Error::shape(format!("weights have shape {given}, and x {shape}")).wanted("a weight for each element")
            );
        }
        let weights = match dtype_of(&weights)? {
            DType::Bool => cast(weights, DType::F64)?,
            dtype if dtype.kind() == DTypeKind::Signed => cast(weights, DType::I64)?,
            dtype if dtype.kind() == DTypeKind::Unsigned => cast(weights, DType::U64)?,
            _ => weights,
        };
        let zeros = cast(zeros_like(counts)?, dtype_of(&weights)?)?;
        scatter_add_like(reshape(weights, vec![-1_i64])?, reshape(whole(x)?, vec![-1_i64])?, zeros)
    };
    x.value().and_then(summed).map_err(|e| e.at_part("bincount"))
}

fn minlength(attrs: &dyn AttrSet) -> Result<usize> {
    let wanted = BinCounts::of(attrs)?.minlength;
    usize::try_from(wanted)
        .map_err(|_| Error::value(format!("minlength is {wanted}")).wanted("a number that is not negative"))
}

fn infer(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let x = spec_of(args, 0)?;
    minlength(attrs)?;
    if !x.dtype.is_integer() {
        return Err(Error::dtype(format!("found {}", x.dtype)).wanted("integers"));
    }
    Ok(tensor_spec(DType::I64, Shape::new([Dim::any()])))
}

fn run(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, least) = (data(args, 0)?, minlength(attrs)?);
    macro_rules! by_dtype {
        ($($d:ident $t:ty),*) => {
            match x.dtype() {
                $(DType::$d => counts(x.as_slice::<$t>()?, least, |x| usize::try_from(x).ok())?,)*
                other => return Err(Error::dtype(format!("found {other}")).wanted("integers")),
            }
        };
    }
    one_tensor(by_dtype!(I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64))
}

fn counts<T: Element + Ord + std::fmt::Display>(
    x: &[T],
    least: usize,
    bin: impl Fn(T) -> Option<usize> + Sync,
) -> Result<Tensor> {
    let (Some(&low), Some(&high)) = (x.iter().min(), x.iter().max()) else { return of_bins(&[], least, &bin) };
    if bin(low).is_none() {
        let at = x.iter().position(|x| bin(*x).is_none()).unwrap_or(0);
        return Err(Error::value(format!("the element at [{at}] is {}", x[at])).wanted("integers from 0 on"));
    }
    let bins = bin(high).unwrap_or(usize::MAX).saturating_add(1).max(least);
    of_bins(x, bins, &bin).map_err(|e| e.at(format!("counts of 0 to {}", bins - 1)))
}

/// The counts in so many bins; parts of many elements are counted side by side.
fn of_bins<T: Element>(x: &[T], bins: usize, bin: &(impl Fn(T) -> Option<usize> + Sync)) -> Result<Tensor> {
    affordable(bins.saturating_mul(size_of::<i64>()))?;
    let mut block = Block::zeroed(bins * size_of::<i64>());
    let out = block.slice_mut::<i64>();
    let add = |x: &[T], out: &mut [i64]| {
        x.iter().filter_map(|x| bin(*x)).for_each(|bin| out[bin] += 1);
    };
    // A part has counts of its own, which must be few beside its elements.
    const FEW: usize = 16;
    let parts = pieces(x.len()).min(x.len() / (FEW * bins.max(1))).max(1);
    if parts == 1 {
        add(x, out);
    } else {
        let made = side_by_side(x.chunks(x.len().div_ceil(parts)).collect(), |x| {
            let mut out = vec![0_i64; bins];
            add(x, &mut out);
            out
        });
        made.iter().for_each(|counts| out.iter_mut().zip(counts).for_each(|(out, count)| *out += count));
    }
    Ok(Tensor::from_dense(DType::I64, smallvec![bins], Storage::Fixed(block.elements())))
}
