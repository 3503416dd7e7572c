//! Numbers of f64 as those of a narrower dtype, and whether they are any.

use extenso_types::{DType, Error, Result};
use half::{bf16, f16};

/// The nearest number of a dtype.
pub fn nearest(number: f64, dtype: DType) -> f64 {
    match dtype {
        DType::F16 => f16::from_f64(number).to_f64(),
        DType::BF16 => bf16::from_f64(number).to_f64(),
        DType::F32 => f64::from(number as f32),
        _ => number,
    }
}

/// The largest number of a dtype that is less.
pub fn below(number: f64, dtype: DType) -> f64 {
    let found = nearest(number, dtype);
    if found < number {
        return found;
    }
    // The numbers of a dtype stand in the order of their bits, but for the sign.
    let down = |bits: u16| match bits {
        0 | 0x8000 => 0x8001,
        bits if bits < 0x8000 => bits - 1,
        bits => bits + 1,
    };
    match dtype {
        DType::F16 => f16::from_bits(down(f16::from_f64(number).to_bits())).to_f64(),
        DType::BF16 => bf16::from_bits(down(bf16::from_f64(number).to_bits())).to_f64(),
        DType::F32 => f64::from((number as f32).next_down()),
        _ => number.next_down(),
    }
}

/// Checks that a number is finite.
///
/// Errors: it is not, with its name.
pub fn finite(name: &str, number: f64) -> Result<()> {
    if number.is_finite() {
        return Ok(());
    }
    Err(Error::value(format!("{name} is {number}")).wanted("a finite number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_is_less_and_there_is_nothing_between() {
        for (number, dtype, wanted) in [
            (1.0, DType::F64, 1.0 - f64::EPSILON / 2.0),
            (1.0, DType::F32, 1.0 - f64::from(f32::EPSILON) / 2.0),
            (1.0, DType::F16, 1.0 - f64::powi(2.0, -11)),
            (1.0, DType::BF16, 1.0 - f64::powi(2.0, -8)),
            (0.0, DType::F16, -f64::powi(2.0, -24)),
            (-1.0, DType::BF16, -1.0 - f64::powi(2.0, -7)),
            (1.0 + f64::powi(2.0, -20), DType::F16, 1.0),
        ] {
            assert_eq!(below(number, dtype), wanted, "{number} {dtype}");
            assert_eq!(nearest(wanted, dtype), wanted);
        }
    }
}
