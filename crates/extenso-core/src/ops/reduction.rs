//! Reductions over axes.

use super::rearrange::{int, rank_of};
use crate::attrs::{AttrSet, Axes};
use crate::grad::{GradCx, one};
use crate::kernels::map::{BlockKernel, Done};
use crate::kernels::means::{quotient_of, total};
use crate::op::OpDef;
use crate::ops::{
    bitwise_right_shift, broadcast_like, cast, cumulative_prod, divide, equal, expand_dims_at, multiply, ones_like,
    shift_in, where_, zero_for_nan, zeros_like,
};
use crate::reduce::{Fold, Reduce, normalize_axes};
use crate::tensor::{Element, Tensor};
use crate::value::{Arg, Value};
use extenso_types::{DType, Result};
use smallvec::SmallVec;

crate::ops! {
    /// Reductions.
    pub static REDUCTIONS;

    /// Sums over `axis`. An empty row gives zero. Integers and booleans sum in 64 bits.
    SUM: sum(x; Reduce { axis: Axes, keepdims: bool }) = OpDef::reduction(Fold::Sum)
        .facts(&[crate::op::Fact::Linear])
        .grad(|cx| one(broadcast_like(unreduced(cx, cx.g())?, &cx.args[0])))
        .alias_tf("reduce_sum")
        .examples(&[("sum([[1.0, 2.0], [3.0, 4.0]], axis=0)", "[4.0, 6.0]"), ("sum([[1.0, 2.0], [], [4.0]], axis=-1)", "[3.0, 0.0, 4.0]")]);

    /// Sums the upper 32 bits of integers of 64 bits over `axis`: each is `bitwise_right_shift(x, 32)`.
    ///
    /// Beside `sum`, which wraps, it says how often that wrapped.
    SUM_HIGH: sum_high(x; Reduce { axis: Axes, keepdims: bool }) = OpDef::reduction(Fold::SumHigh)
        .part()
        .examples(&[("sum_high([4294967296, 8589934592, 5])", "3"), ("sum_high([[4294967296, -1], [], [7]], axis=-1)", "[0, 0, 0]")]);

    /// The mean of integers by their `sum`, which may have wrapped, their `sum_high` and their number, rounded once. Of none it is NaN.
    ///
    /// The three are of one dtype, i64 or u64.
    MEAN_OF_SUMS: mean_of_sums(sum, high, count) = OpDef::elementwise(mean_kernel)
        .part()
        .examples(&[("mean_of_sums([7, 9], [0, 0], [2, 2])", "f64([3.5, 4.5])")]);

    /// Multiplies over `axis`. An empty row gives one. Integers and booleans multiply in 64 bits.
    PROD: prod(x; Reduce { axis: Axes, keepdims: bool }) = OpDef::reduction(Fold::Prod)
        .grad(|cx| one(times_others(cx)))
        .alias_tf("reduce_prod")
        .examples(&[("prod([[1, 2], [3, 4]], axis=1)", "[2, 12]")]);

    /// The largest element over `axis`; NaN if one is. An empty row gives -inf, or the smallest integer.
    ///
    /// Texts are in the order of their bytes. They, times, decimals and categories have no such end: the result of rows is missing where
    /// one is empty, and that under a mask where all is missing. Errors: of these, an axis without elements.
    MAX: max(x; Reduce { axis: Axes, keepdims: bool }) = OpDef::reduction(Fold::Max)
        .grad(|cx| one(shared_among_ties(cx)))
        .alias_tf("reduce_max")
        .examples(&[("max([[1.0, 5.0], [3.0, 2.0]], axis=-1)", "[5.0, 3.0]"), ("max([\"b\", \"a\"])", "string(\"b\")")]);

    /// The smallest element over `axis`; NaN if one is. An empty row gives inf, or the largest integer.
    ///
    /// Of texts, times, decimals and categories as `max`. Errors: of these, an axis without elements.
    MIN: min(x; Reduce { axis: Axes, keepdims: bool }) = OpDef::reduction(Fold::Min)
        .grad(|cx| one(shared_among_ties(cx)))
        .alias_tf("reduce_min")
        .examples(&[("min([[1.0, 5.0], [3.0, 2.0]], axis=-1)", "[1.0, 2.0]"), ("min([\"b\", \"a\"])", "string(\"a\")")]);

    /// Whether any element over `axis` is true, or a number that is not zero. An empty row gives false.
    ANY: any(x; Reduce { axis: Axes, keepdims: bool }) = OpDef::reduction(Fold::Any)
        .alias_tf("reduce_any")
        .examples(&[("any([[True, False], [False, False]], axis=1)", "[True, False]"), ("any([[0, 2], [0, 0]], axis=1)", "[True, False]")]);

    /// Whether all elements over `axis` are true, or numbers that are not zero. An empty row gives true.
    ALL: all(x; Reduce { axis: Axes, keepdims: bool }) = OpDef::reduction(Fold::All)
        .alias_tf("reduce_all")
        .examples(&[("all([[True, False], [True, True]], axis=1)", "[False, True]"), ("all([0.5, 0.0])", "False")]);
}

/// The mean over `axis`: the sum divided by the count, f64 for integers and booleans. An empty row gives NaN.
///
/// A composition: the sum divided by the number of elements, which is counted where sizes are not known. Of integers it is exact but for
/// one rounding, whatever their sum, and f16 and bf16 are summed in f32.
///
/// ```
/// # use extenso_core::{Tensor, attrs::Axes, ops};
/// let nanoseconds = Tensor::from_vec(vec![1_700_000_000_000_000_000_i64; 10]);
/// assert_eq!(ops::mean(nanoseconds, Axes::All, false).unwrap().to_string(), "1.7e18");
/// ```
pub fn mean(x: impl Into<Arg>, axis: impl Into<Axes>, keepdims: bool) -> Result<Value> {
    quotient(&x.into(), &axis.into(), keepdims).map_err(|e| e.at_part("mean"))
}

fn quotient(x: &Arg, axis: &Axes, keepdims: bool) -> Result<Value> {
    let count = counted(x, axis, keepdims)?;
    let quotient = |x: Arg, dtype: DType| divide(cast(sum(x, axis.clone(), keepdims)?, dtype)?, cast(&count, dtype)?);
    match x.value().and_then(dtype_of)? {
        narrow @ (DType::F16 | DType::BF16) => cast(quotient(cast(x, DType::F32)?.into(), DType::F32)?, narrow),
        wide @ (DType::I32 | DType::U32 | DType::I64 | DType::U64) => {
            match of_integers(x, wide, axis, keepdims, &count) {
                // A type that knows sums alone.
                Err(error) if error.is_dispatch() => quotient(cast(x, DType::F64)?.into(), DType::F64),
                mean => mean,
            }
        }
        dtype if dtype.is_float() => quotient(x.clone(), dtype),
        // The sum of narrower ones is exact in f64.
        _ => quotient(x.clone(), DType::F64),
    }
}

fn of_integers(x: &Arg, dtype: DType, axis: &Axes, keepdims: bool, count: &Value) -> Result<Value> {
    let total = sum(x, axis.clone(), keepdims)?;
    let high = match dtype {
        DType::I64 | DType::U64 => sum_high(x, axis.clone(), keepdims)?,
        _ => bitwise_right_shift(&total, 32)?,
    };
    mean_of_sums(&total, high, cast(count, dtype_of(&total)?)?)
}

fn mean_kernel(dtypes: &[DType], _: &dyn AttrSet) -> Option<BlockKernel> {
    match dtypes {
        [DType::I64, DType::I64, DType::I64] => Some(BlockKernel::new(DType::F64, means::<i64>)),
        [DType::U64, DType::U64, DType::U64] => Some(BlockKernel::new(DType::F64, means::<u64>)),
        _ => None,
    }
}

fn means<T: Element + Into<i128>>(ins: &[&[u8]], out: &mut [u8], _: usize) -> Done {
    let [sum, high, count] = [0, 1, 2].map(|i| bytemuck::cast_slice::<u8, T>(ins[i]));
    let out = bytemuck::cast_slice_mut::<u8, f64>(out);
    for (i, out) in out.iter_mut().enumerate() {
        *out = quotient_of(total(sum[i].into(), high[i].into()), count[i].into());
    }
    Ok(())
}

/// How many elements there are over `axis`, as i64: one number where the sizes are known, otherwise of the shape of a sum.
pub(super) fn counted(x: &Arg, axis: &Axes, keepdims: bool) -> Result<Value> {
    if let Arg::Value(Value::Tensor(x)) = x
        && let Some(dims) = x.shape().dims()
    {
        let axes = match axis {
            Axes::All => (0..dims.len()).collect(),
            Axes::List(axes) => normalize_axes(axes, dims.len())?,
        };
        let sizes: Option<SmallVec<[usize; 4]>> = axes.iter().map(|axis| dims[*axis].known()).collect();
        if let Some(n) = sizes.and_then(|sizes| i64::try_from(sizes.iter().product::<usize>()).ok()) {
            return Ok(Tensor::scalar(n).into());
        }
    }
    // Booleans are counted in 64 bits, so that counts are exact in every dtype that can hold them.
    sum(cast(ones_like(x)?, DType::Bool)?, axis.clone(), keepdims)
}

/// The dtype of the elements: that of the first leaf that is no mask, if there is one; of a value without tensors that of floats.
pub(super) fn dtype_of(value: &Value) -> Result<DType> {
    let mut leaves = Vec::new();
    value.push_leaves(&mut leaves)?;
    let dtypes = || leaves.iter().filter_map(|leaf| leaf.tensor().ok()).map(crate::Tensor::dtype);
    Ok(dtypes().find(|dtype| *dtype != DType::Bool).or_else(|| dtypes().next()).unwrap_or(DType::F64))
}

/// `v`, of the reduced shape, with the folded axes back as axes of size 1.
fn unreduced(cx: &GradCx<'_>, v: &Value) -> Result<Value> {
    let attrs: &Reduce = cx.attrs()?;
    match &attrs.axis {
        Axes::List(axes) if !attrs.keepdims => expand_dims_at(v, axes.clone()),
        Axes::All | Axes::List(_) => Ok(v.clone()),
    }
}

/// The gradient of a product: for each element that of all others, which a zero among them does not spoil.
fn times_others(cx: &GradCx<'_>) -> Result<Value> {
    let x = &cx.args[0];
    let attrs: &Reduce = cx.attrs()?;
    let axes = match &attrs.axis {
        Axes::All => (0..rank_of(x)?).map(int).collect(),
        Axes::List(axes) => axes.clone(),
    };
    let g = broadcast_like(unreduced(cx, cx.g())?, x)?;
    let (mut grad, mut lines) = (g.clone(), x.clone());
    for axis in axes {
        let before = cumulative_prod(shift_in(&lines, 1.0, axis, 1)?, axis, false)?;
        let after = cumulative_prod(shift_in(&lines, 1.0, axis, -1)?, axis, true)?;
        grad = multiply(grad, multiply(before, after)?)?;
        lines = prod(lines, axis, true)?;
    }
    zero_for_nan(grad, g)
}

fn shared_among_ties(cx: &GradCx<'_>) -> Result<Value> {
    let x = &cx.args[0];
    let attrs: &Reduce = cx.attrs()?;
    let y = broadcast_like(unreduced(cx, cx.y())?, x)?;
    let g = broadcast_like(unreduced(cx, cx.g())?, x)?;
    let hit = where_(equal(x, y)?, ones_like(x)?, zeros_like(x)?)?;
    let ties = broadcast_like(sum(&hit, attrs.axis.clone(), true)?, x)?;
    zero_for_nan(divide(multiply(&g, hit)?, ties)?, g)
}
