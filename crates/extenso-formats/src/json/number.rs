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

/// Appends the text of a float: the shortest that reads back as it, or its name in quotes.
pub fn write<T: Float>(value: T, out: &mut Vec<u8>) {
    match value.wide() {
        v if v.is_nan() => out.extend_from_slice(b"\"NaN\""),
        f64::INFINITY => out.extend_from_slice(b"\"Infinity\""),
        f64::NEG_INFINITY => out.extend_from_slice(b"\"-Infinity\""),
        _ => value.write(out),
    }
}
