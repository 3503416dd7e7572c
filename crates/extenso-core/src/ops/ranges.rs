//! How many numbers stand between two, by steps.

use super::args::{data, one_tensor, spec_of, tensor_spec};
use super::sorting::indices;
use crate::attrs::AttrSet;
use crate::kernels::map::Number;
use crate::op::{Class, OpDef, OutputSpecs};
use crate::tensor::Dense;
use crate::value::{Outputs, Value};
use extenso_types::{DType, Error, LeafSpec, Result};
use half::{bf16, f16};

crate::ops! {
    /// Ranges.
    pub static RANGES;

    /// For each row how many numbers there are from its start by steps of its delta up to its limit and without it, as i64.
    ///
    /// None where the steps lead away from the limit. Shapes: vectors of one length. Errors: a delta of zero, with its row;
    /// floats that are not finite; dtypes or lengths that differ.
    RANGE_LENGTHS: range_lengths(starts, limits, deltas) = OpDef::general(Class::Structural, infer, run)
        .part()
        .examples(&[("range_lengths([0, 5, 2], [3, 0, 2], [1, -2, 1])", "[3, 3, 0]"), ("range_lengths([0.0], [1.0], [0.3])", "[4]")]);
}

fn infer(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let (starts, limits, deltas) = (spec_of(args, 0)?, spec_of(args, 1)?, spec_of(args, 2)?);
    if !starts.dtype.is_numeric() || limits.dtype != starts.dtype || deltas.dtype != starts.dtype {
        return Err(Error::dtype(format!("the arguments are {starts}, {limits} and {deltas}"))
            .wanted("numbers of one dtype")
            .hint(format!("Write `cast(x, '{}')` around an argument.", starts.dtype)));
    }
    let alike = limits.shape.is_compatible_with(&starts.shape) && deltas.shape.is_compatible_with(&starts.shape);
    if !alike || starts.shape.rank().is_some_and(|rank| rank != 1) {
        return Err(Error::shape(format!(
            "the arguments have shapes {}, {} and {}",
            starts.shape, limits.shape, deltas.shape
        ))
        .wanted("vectors of one length")
        .hint("Write `broadcast_like(x, limits)` around an argument."));
    }
    Ok(tensor_spec(DType::I64, starts.shape.clone()))
}

fn run(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (starts, limits, deltas) = (data(args, 0)?, data(args, 1)?, data(args, 2)?);
    if starts.dims() != limits.dims() || starts.dims() != deltas.dims() {
        return Err(Error::shape("the arguments have different lengths").wanted("vectors of one length"));
    }
    macro_rules! by_dtype {
        (ints: $($i:ident $u:ty),*; floats: $($f:ident $t:ty),*) => {
            match starts.dtype() {
                $(DType::$i => lengths::<$u>([starts, limits, deltas], |[a, b, d]| whole([a.into(), b.into(), d.into()])),)*
                $(DType::$f => lengths::<$t>([starts, limits, deltas], |x| broken(x.map(|x| f64::from(x.widen())))),)*
                other @ (DType::Bool | DType::String | DType::Bytes | DType::Variant) => {
                    Err(Error::dtype(format!("the op does not take {other}")).wanted("numbers"))
                }
            }
        };
    }
    by_dtype!(ints: I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64; floats: F16 f16, BF16 bf16, F32 f32, F64 f64)
}

fn lengths<T: Number>(args: [&Dense; 3], count: impl Fn([T; 3]) -> Result<i64>) -> Result<Outputs> {
    let [starts, limits, deltas] = [args[0].as_slice::<T>()?, args[1].as_slice::<T>()?, args[2].as_slice::<T>()?];
    one_tensor(indices(args[0].dims().into(), |out| {
        for (i, out) in out.iter_mut().enumerate() {
            *out = count([starts[i], limits[i], deltas[i]]).map_err(|e| e.at(format!("row {i}")))?;
        }
        Ok(())
    })?)
}

/// How many of whole numbers.
fn whole([start, limit, delta]: [i128; 3]) -> Result<i64> {
    if delta == 0 {
        return Err(no_step());
    }
    // Rounded up; nothing if the step leads away.
    let count = ((limit - start + delta - delta.signum()) / delta).max(0);
    i64::try_from(count).map_err(|_| too_many(count))
}

/// How many of floats.
fn broken([start, limit, delta]: [f64; 3]) -> Result<i64> {
    if delta == 0.0 {
        return Err(no_step());
    }
    if ![start, limit, delta].iter().all(|x| x.is_finite()) {
        let what = format!("the range is from {start} to {limit} by {delta}");
        return Err(Error::value(what).wanted("finite numbers"));
    }
    let count = ((limit - start) / delta).ceil().max(0.0);
    if count < 9e15 { Ok(count as i64) } else { Err(too_many(count)) }
}

fn no_step() -> Error {
    Error::value("the delta is 0").wanted("a step that is not zero")
}

fn too_many(count: impl std::fmt::Display) -> Error {
    Error::value(format!("the range has {count} elements")).wanted("as many as memory holds")
}
