//! Running folds along an axis.

use super::args::{one_tensor, spec_of, tensor_spec};
use super::lines::{Lines, same_shape};
use super::recurrence::where_reached;
use super::{abs, linear_scan, multiply, ones_like, shift_in, zero_for_nan};
use crate::attrs::{AttrSet, Attrs};
use crate::grad::{GradCx, one};
use crate::kernels::map::Number;
use crate::kernels::pool::{Block, affordable};
use crate::kernels::scan::scan_rows;
use crate::op::{Class, Fact, OpDef, OutputSpecs};
use crate::reduce::Fold;
use crate::tensor::{Dense, Element, Storage, Tensor, bytes_of_bits};
use crate::value::{Outputs, Value};
use extenso_types::{DType, Error, LeafSpec, Result};
use half::{bf16, f16};
use std::ops::Range;

crate::attrs! {
    /// The attributes of a running fold.
    pub struct Cumulative { axis: i64 = -1, reverse: bool = false }
}

crate::ops! {
    /// Running folds.
    pub static CUMULATIVE;

    /// The sums of the elements up to each, along `axis`; with `reverse`, of those from each on.
    ///
    /// Integers and booleans sum in 64 bits, and wrap. Floats are added one after the other. Errors: an axis out of range.
    CUMULATIVE_SUM: cumulative_sum(x; Cumulative { axis: i64, reverse: bool }) = OpDef::general(Class::Axiswise, infer_sum, run_sum)
        .facts(&[Fact::Linear])
        .grad(|cx| {
            let attrs: &Cumulative = cx.attrs()?;
            one(cumulative_sum(cx.g(), attrs.axis, !attrs.reverse))
        })
        .alias_tf("cumsum")
        .examples(&[("cumulative_sum([1.0, 2.0, 4.0])", "[1.0, 3.0, 7.0]"), ("cumulative_sum([[1, 2], [3, 4]], axis=0, reverse=True)", "[[4, 6], [3, 4]]")]);

    /// The products of the elements up to each, along `axis`; with `reverse`, of those from each on.
    ///
    /// Integers and booleans multiply in 64 bits, and wrap. Floats are multiplied one after the other. Errors: an axis out of
    /// range.
    CUMULATIVE_PROD: cumulative_prod(x; Cumulative { axis: i64, reverse: bool }) = OpDef::general(Class::Axiswise, infer_prod, run_prod)
        .grad(|cx| {
            let Cumulative { axis, reverse } = *cx.attrs::<Cumulative>()?;
            let shifted = |x: &Value, value: f64, by: i64| shift_in(x, value, axis, by);
            one(grad_products(cx, reverse, &shifted, &|x, link| linear_scan(x, link, axis, !reverse)))
        })
        .alias_tf("cumprod")
        .examples(&[("cumulative_prod([1.0, 2.0, 4.0])", "[1.0, 2.0, 8.0]")]);
}

/// The gradient of running products.
///
/// With `p` the product of what comes before an element, and `s = g + x' s'` over the next element and its own `s`, the
/// gradient is `p s`. Nothing is divided, so that zeros are right. An element behind all products that matter is not looked at.
pub(super) fn grad_products(
    cx: &GradCx<'_>,
    reverse: bool,
    shifted: &dyn Fn(&Value, f64, i64) -> Result<Value>,
    scanned: &dyn Fn(&Value, &Value) -> Result<Value>,
) -> Result<Value> {
    let before = shifted(cx.y(), 1.0, if reverse { -1 } else { 1 })?;
    let link = if reverse { shifted(&cx.args[0], 0.0, 1)? } else { cx.args[0].clone() };
    let reached = scanned(&abs(cx.g())?, &ones_like(&link)?)?;
    let link = if reverse { where_reached(link, shifted(&reached, 0.0, 1)?)? } else { where_reached(link, &reached)? };
    zero_for_nan(multiply(before, scanned(cx.g(), &link)?)?, reached)
}

fn infer_sum(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    infer(Fold::Sum, args, attrs)
}

fn infer_prod(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    infer(Fold::Prod, args, attrs)
}

fn infer(fold: Fold, args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let x = spec_of(args, 0)?;
    Ok(tensor_spec(fold.out_dtype(x.dtype)?, same_shape(x, Cumulative::of(attrs)?.axis)?))
}

/// One running fold over elements of a type, in a wider one, written in a third.
macro_rules! scan {
    ($lines:expr, $spans:expr, $reverse:expr, $x:expr, $start:expr, |$acc:ident: $wide:ty, $e:ident| $step:expr, $narrow:expr => $out:ty) => {{
        affordable($x.len().saturating_mul(size_of::<$out>()))?;
        // What is outside every row stays zero.
        let mut block = Block::zeroed($x.len() * size_of::<$out>());
        let out = block.slice_mut::<$out>();
        scan_rows($x, $spans, $reverse, $start, |$acc: $wide, $e| $step, $narrow, out);
        finish::<$out>(&$lines, block)
    }};
}

/// The arms of dtypes: integers in 64 bits, floats in their wide type.
macro_rules! by_dtype {
    ($lines:expr, $spans:expr, $reverse:expr; $one:expr, $int:ident; $float_one:expr, $op:tt;
     $($d:ident $t:ty as $wide:ty),*; $($fd:ident $ft:ty),*) => {{
        let (lines, spans, reverse) = ($lines, $spans, $reverse);
        let data = lines.data()?;
        match data.dtype() {
            $(DType::$d => {
                let x = data.as_slice::<$t>()?;
                scan!(lines, spans, reverse, x, $one, |acc: $wide, x| acc.$int(<$wide>::from(x)), |sum| sum => $wide)
            })*
            $(DType::$fd => {
                let x = data.as_slice::<$ft>()?;
                scan!(lines, spans, reverse, x, $float_one, |acc: <$ft as Number>::Wide, x| acc $op x.widen(), <$ft>::narrow => $ft)
            })*
            DType::Bool => {
                affordable(data.len())?;
                let bytes = bytes_of_bits(data.bits()?);
                scan!(lines, spans, reverse, &bytes[..], $one, |acc: i64, x| acc.$int(i64::from(x)), |sum| sum => i64)
            }
            other @ (DType::String | DType::Bytes | DType::Variant) => {
                Err(Error::dtype(format!("the op does not take {other}")).wanted("numbers or booleans"))
            }
        }
    }};
    ($($rest:tt)*) => {
        by_dtype!($($rest)*;
            I8 i8 as i64, I16 i16 as i64, I32 i32 as i64, I64 i64 as i64,
            U8 u8 as u64, U16 u16 as u64, U32 u32 as u64, U64 u64 as u64;
            F16 f16, BF16 bf16, F32 f32, F64 f64)
    };
}

fn run_sum(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let attrs = Cumulative::of(attrs)?;
    let lines = Lines::of(&args[0], attrs.axis)?;
    let spans = lines.spans()?;
    sums(lines, spans, attrs.reverse)
}

fn run_prod(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let attrs = Cumulative::of(attrs)?;
    let lines = Lines::of(&args[0], attrs.axis)?;
    let spans = lines.spans()?;
    products(lines, spans, attrs.reverse)
}

/// Running sums of the parts of lines. Of floats they start at the zero that changes no other.
pub(super) fn sums(lines: Lines, spans: impl Iterator<Item = Range<usize>>, reverse: bool) -> Result<Outputs> {
    by_dtype!(lines, spans, reverse; 0, wrapping_add; -0.0, +)
}

/// Running products of the parts of lines.
pub(super) fn products(lines: Lines, spans: impl Iterator<Item = Range<usize>>, reverse: bool) -> Result<Outputs> {
    by_dtype!(lines, spans, reverse; 1, wrapping_mul; 1.0, *)
}

fn finish<T: Element>(lines: &Lines, block: Block) -> Result<Outputs> {
    let dims = lines.data().map(Dense::dims)?.into();
    one_tensor(lines.back(Tensor::from_dense(T::DTYPE, dims, Storage::Fixed(block.elements())))?)
}
