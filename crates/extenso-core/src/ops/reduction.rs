//! Reductions over axes.

use super::rearrange::{int, rank_of};
use crate::attrs::Axes;
use crate::grad::{GradCx, one};
use crate::op::OpDef;
use crate::ops::{
    broadcast_like, cast, cumulative_prod, divide, equal, expand_dims_at, multiply, ones_like, shift, where_,
    zeros_like,
};
use crate::reduce::{Fold, Reduce, normalize_axes};
use crate::tensor::Tensor;
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

    /// Multiplies over `axis`. An empty row gives one. Integers and booleans multiply in 64 bits.
    PROD: prod(x; Reduce { axis: Axes, keepdims: bool }) = OpDef::reduction(Fold::Prod)
        .grad(|cx| one(times_others(cx)))
        .alias_tf("reduce_prod")
        .examples(&[("prod([[1, 2], [3, 4]], axis=1)", "[2, 12]")]);

    /// The largest element over `axis`; NaN if one is. An empty row gives -inf, or the smallest integer.
    MAX: max(x; Reduce { axis: Axes, keepdims: bool }) = OpDef::reduction(Fold::Max)
        .grad(|cx| one(shared_among_ties(cx)))
        .alias_tf("reduce_max")
        .examples(&[("max([[1.0, 5.0], [3.0, 2.0]], axis=-1)", "[5.0, 3.0]")]);

    /// The smallest element over `axis`; NaN if one is. An empty row gives inf, or the largest integer.
    MIN: min(x; Reduce { axis: Axes, keepdims: bool }) = OpDef::reduction(Fold::Min)
        .grad(|cx| one(shared_among_ties(cx)))
        .alias_tf("reduce_min")
        .examples(&[("min([[1.0, 5.0], [3.0, 2.0]], axis=-1)", "[1.0, 2.0]")]);

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
/// A composition: the sum divided by the number of elements, which is counted where sizes are not known. What its own dtype may not
/// hold is summed in a wider one: integers of 64 bits in f64, f16 and bf16 in f32.
///
/// ```
/// # use extenso_core::{Tensor, attrs::Axes, ops};
/// let nanoseconds = Tensor::from_vec(vec![1_700_000_000_000_000_000_i64; 10]);
/// assert_eq!(ops::mean(nanoseconds, Axes::All, false).unwrap().to_string(), "1.7e18");
/// ```
pub fn mean(x: impl Into<Arg>, axis: impl Into<Axes>, keepdims: bool) -> Result<Value> {
    quotient(&x.into(), &axis.into(), keepdims).map_err(|e| e.at("mean"))
}

fn quotient(x: &Arg, axis: &Axes, keepdims: bool) -> Result<Value> {
    let count = counted(x, axis, keepdims)?;
    let quotient = |x: Arg, dtype: DType| divide(cast(sum(x, axis.clone(), keepdims)?, dtype)?, cast(&count, dtype)?);
    match x.value().and_then(dtype_of)? {
        narrow @ (DType::F16 | DType::BF16) => cast(quotient(cast(x, DType::F32)?.into(), DType::F32)?, narrow),
        DType::I64 | DType::U64 => quotient(cast(x, DType::F64)?.into(), DType::F64),
        dtype if dtype.is_float() => quotient(x.clone(), dtype),
        _ => quotient(x.clone(), DType::F64),
    }
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

pub(super) fn dtype_of(value: &Value) -> Result<DType> {
    let mut leaves = Vec::new();
    value.push_leaves(&mut leaves)?;
    let tensor = leaves.iter().find_map(|leaf| leaf.tensor().ok().filter(|t| t.dtype() != DType::Bool));
    Ok(tensor.map_or(DType::F64, crate::Tensor::dtype))
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
    let (mut grad, mut lines) = (broadcast_like(unreduced(cx, cx.g())?, x)?, x.clone());
    for axis in axes {
        let before = cumulative_prod(shift(&lines, 1.0, axis, 1)?, axis, false)?;
        let after = cumulative_prod(shift(&lines, 1.0, axis, -1)?, axis, true)?;
        grad = multiply(grad, multiply(before, after)?)?;
        lines = prod(lines, axis, true)?;
    }
    Ok(grad)
}

fn shared_among_ties(cx: &GradCx<'_>) -> Result<Value> {
    let x = &cx.args[0];
    let attrs: &Reduce = cx.attrs()?;
    let y = broadcast_like(unreduced(cx, cx.y())?, x)?;
    let g = broadcast_like(unreduced(cx, cx.g())?, x)?;
    let hit = where_(equal(x, y)?, ones_like(x)?, zeros_like(x)?)?;
    let ties = broadcast_like(sum(&hit, attrs.axis.clone(), true)?, x)?;
    divide(multiply(g, hit)?, ties)
}
