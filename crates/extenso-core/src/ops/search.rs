//! Searching in sorted vectors.
//!
//! Invariant: the order is that of `sort`, so that NaN is behind everything.

use super::args::{data, spec_of, tensor_spec};
use super::sorting::{indices, sortable};
use crate::attrs::{AttrSet, Attrs};
use crate::kernels::order::Ordered;
use crate::op::{Class, OpDef, OutputSpecs};
use crate::ops::args::one_tensor;
use crate::tensor::Dense;
use crate::value::{Outputs, Value};
use extenso_types::{DType, Error, LeafSpec, Result};
use half::{bf16, f16};
use std::cmp::Ordering;

crate::attrs! {
    /// The attributes of `searchsorted`.
    pub struct SearchSorted { side: String = "left".into() }
}

crate::ops! {
    /// Searches.
    pub static SEARCHING;

    /// The positions in the sorted vector `x` at which each of `values` could enter and leave it sorted, as i64.
    ///
    /// With side "left" it is in front of equal elements, with "right" behind them. Shapes: the result has that of `values`.
    /// Errors: `x` is no vector; dtypes that differ; another side.
    SEARCHSORTED: searchsorted(x, values; SearchSorted { side: String }) = OpDef::general(Class::Structural, infer, run)
        .examples(&[("searchsorted([1, 3, 3, 5], [3, 0, 9])", "[1, 0, 4]"), ("searchsorted([1, 3, 3, 5], [3], side='right')", "[3]")]);
}

fn infer(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let (x, values) = (spec_of(args, 0)?, spec_of(args, 1)?);
    sortable(x)?;
    is_right(attrs)?;
    if x.dtype != values.dtype {
        return Err(Error::dtype(format!("{} is looked for among {}", values.dtype, x.dtype))
            .wanted("one dtype for both")
            .hint(format!("Write `cast(values, '{}')`.", x.dtype)));
    }
    if x.shape.rank().is_some_and(|rank| rank != 1) {
        return Err(Error::shape(format!("the sorted elements have shape {}", x.shape)).wanted("a vector"));
    }
    Ok(tensor_spec(DType::I64, values.shape.clone()))
}

fn is_right(attrs: &dyn AttrSet) -> Result<bool> {
    match SearchSorted::of(attrs)?.side.as_str() {
        "left" => Ok(false),
        "right" => Ok(true),
        other => Err(Error::value(format!("the side is '{other}'")).wanted("'left' or 'right'")),
    }
}

fn run(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, values, right) = (data(args, 0)?, data(args, 1)?, is_right(attrs)?);
    if x.dims().len() != 1 {
        return Err(Error::shape(format!("the sorted elements have {} axes", x.dims().len())).wanted("a vector"));
    }
    macro_rules! by_dtype {
        ($out:ident; $($d:ident $t:ty),*) => {
            match x.dtype() {
                $(DType::$d => places(x.as_slice::<$t>()?, values.as_slice::<$t>()?, right, $out),)*
                DType::Bool => places(&booleans(x)?, &booleans(values)?, right, $out),
                DType::String | DType::Bytes | DType::Variant => places(&texts(x)?, &texts(values)?, right, $out),
            }
        };
    }
    one_tensor(indices(values.dims().into(), |out| {
        by_dtype!(out; I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16, BF16 bf16, F32 f32, F64 f64);
        Ok(())
    })?)
}

fn booleans(x: &Dense) -> Result<Vec<bool>> {
    Ok(x.bits()?.iter().collect())
}

fn texts(x: &Dense) -> Result<Vec<&[u8]>> {
    (0..x.len()).map(|i| x.text_at(i)).collect()
}

fn places<T: Ordered>(sorted: &[T], values: &[T], right: bool, out: &mut [i64]) {
    for (out, value) in out.iter_mut().zip(values) {
        let before = |x: &T| match x.order(*value, false) {
            Ordering::Less => true,
            Ordering::Equal => right,
            Ordering::Greater => false,
        };
        *out = i64::try_from(sorted.partition_point(before)).unwrap_or(i64::MAX);
    }
}
