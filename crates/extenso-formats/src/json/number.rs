//! The names that JSON gives to floats that are no numbers.

use extenso_core::kernels::decimal::Float;

/// The value of a name: `NaN`, `Infinity`, `-Infinity`.
pub fn named<T: Float>(name: &str) -> Option<T> {
    let value = match name {
        "NaN" => f64::NAN,
        "Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        _ => return None,
    };
    Some(T::exact(value))
}

/// The digits of a number that has few of them and no exponent: their value, the power of ten that scales it, and its sign.
///
/// The text is a number of JSON.
pub fn short(text: &[u8]) -> Option<(u64, i32, bool)> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.len() > MAX_SHORT {
        return None;
    }
    let (mut value, mut point) = (0_u64, None);
    for (i, byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => value = value * 10 + u64::from(byte - b'0'),
            b'.' => point = Some(i),
            _ => return None,
        }
    }
    let decimals = point.map_or(0, |point| digits.len() - 1 - point);
    Some((value, -i32::try_from(decimals).ok()?, negative))
}

/// So many digits and a point have a value below 2^63.
const MAX_SHORT: usize = 19;

/// Appends the text of a float: the shortest that reads back as it, or its name in quotes.
pub fn write<T: Float>(value: T, out: &mut Vec<u8>) {
    match value.wide() {
        v if v.is_nan() => out.extend_from_slice(b"\"NaN\""),
        f64::INFINITY => out.extend_from_slice(b"\"Infinity\""),
        f64::NEG_INFINITY => out.extend_from_slice(b"\"-Infinity\""),
        _ => value.write(out),
    }
}
