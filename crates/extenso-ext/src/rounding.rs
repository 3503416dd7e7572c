//! Numbers rounded to decimal digits.

use crate::DecimalTensor;
use crate::args::typed_ref;
use crate::decimal::rounded;
use crate::meaning::nested::{below, innermost};
use extenso_core::{ExtensionType, Value, ops};
use extenso_types::{DType, DTypeKind, Error, Result};

/// Numbers rounded to so many digits behind the point, or before it if `digits` is negative; of two as near to the even one.
///
/// A float is scaled by a power of ten, rounded and scaled back in 64 bits, as NumPy does. Integers are exact; one that is rounded up beyond
/// its dtype wraps. Decimals have as many digits behind the point as they are rounded to. Errors: other elements than numbers; integers rounded to more than 18 digits before the point.
///
/// ```
/// # use extenso_ext::{constant, round_to};
/// assert_eq!(round_to(&constant(vec![1.256, 2.5]).unwrap(), 1).unwrap().to_string(), "[1.3, 2.5]");
/// assert_eq!(round_to(&constant(vec![15, 25, -26]).unwrap(), -1).unwrap().to_string(), "[20, 20, -30]");
/// ```
pub fn round_to(x: &Value, digits: i64) -> Result<Value> {
    let rounded = || match innermost(x) {
        Value::Tensor(tensor) => match tensor.dtype().kind() {
            DTypeKind::Float if digits != 0 => floats(x, tensor.dtype(), digits),
            DTypeKind::Signed | DTypeKind::Unsigned if digits < 0 => integers(x, tensor.dtype(), digits.unsigned_abs()),
            _ => ops::round(x),
        },
        inner if typed_ref::<DecimalTensor>(&inner).is_some() => below(x, &|x| match typed_ref::<DecimalTensor>(x) {
            Some(x) => Ok(rounded(&x, digits)?.into_value()),
            None => Ok(x.clone()),
        }),
        Value::Partition(_) | Value::Ext(_) => ops::round(x),
    };
    rounded().map_err(|e| e.at_part("round_to"))
}

fn floats(x: &Value, dtype: DType, digits: i64) -> Result<Value> {
    let wide = if dtype == DType::F64 { x.clone() } else { ops::cast(x, DType::F64)? };
    let power = 10_f64.powi(i32::try_from(digits.unsigned_abs()).unwrap_or(i32::MAX).min(308));
    let made = if digits > 0 {
        ops::divide(ops::round(ops::multiply(&wide, power)?)?, power)?
    } else {
        ops::multiply(ops::round(ops::divide(&wide, power)?)?, power)?
    };
    // A number too large to be scaled has no digits there.
    let made = ops::where_(ops::isfinite(&made)?, made, &wide)?;
    if dtype == DType::F64 { Ok(made) } else { ops::cast(made, dtype) }
}

fn integers(x: &Value, dtype: DType, digits: u64) -> Result<Value> {
    let step = u32::try_from(digits).ok().filter(|digits| *digits <= 18).map(|digits| 10_i64.pow(digits));
    let step = step.ok_or_else(|| {
        Error::value(format!("integers are rounded to {digits} digits before the point")).wanted("at most 18")
    })?;
    let wide = if dtype == DType::U64 { x.clone() } else { ops::cast(x, DType::I64)? };
    let rest = ops::remainder(&wide, step)?;
    let (down, left) = (ops::subtract(&wide, &rest)?, ops::subtract(step, &rest)?);
    let odd = ops::equal(ops::remainder(ops::floor_divide(&wide, step)?, 2)?, 1)?;
    let tied = ops::logical_and(ops::equal(&rest, &left)?, odd)?;
    let up = ops::logical_or(ops::greater(rest, left)?, tied)?;
    let wide = if dtype == DType::U64 { DType::U64 } else { DType::I64 };
    let made = ops::add(down, ops::multiply(ops::cast(up, wide)?, step)?)?;
    if dtype == DType::U64 { Ok(made) } else { ops::cast(made, dtype) }
}
