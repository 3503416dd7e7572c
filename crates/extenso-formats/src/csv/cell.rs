//! Cells: what they are, and how they go into columns.
//!
//! Invariant: a number is exact or rounded once, or refused; nothing is pushed for a cell that is refused.

use crate::columns::Column;
use crate::names::plain;
use crate::seen::{self, Sign};
use extenso_core::kernels::decimal::Float;

/// How much of a cell a message shows.
const SHOWN: usize = 40;

/// A cell as a message shows it.
pub fn shown(cell: &[u8]) -> String {
    let text = String::from_utf8_lossy(&cell[..cell.len().min(SHOWN)]);
    format!("'{}{}'", plain(&text), if cell.len() > SHOWN { "..." } else { "" })
}

/// Pushes the boolean or number that a cell is; whether it is one that the column holds.
pub fn push_scalar(cell: &[u8], column: &mut Column) -> bool {
    let Ok(text) = std::str::from_utf8(cell.trim_ascii()) else { return false };
    macro_rules! pushed {
        ($column:expr; $($variant:ident: $read:expr),*) => {
            match $column {
                Column::Bits(bits) => boolean(text).map(|bit| bits.push(bit)),
                $(Column::$variant(numbers) => $read(text).map(|number| numbers.push(number)),)*
                Column::Text(_) | Column::Offsets(_) => None,
            }
        };
    }
    let pushed = pushed!(column;
        I8: integer, I16: integer, I32: integer, I64: integer, U8: integer, U16: integer, U32: integer, U64: integer,
        F16: float, BF16: float, F32: float, F64: float);
    pushed.is_some()
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// Integers without a sign have a zero with one too.
fn integer<T: std::str::FromStr>(text: &str) -> Option<T> {
    let zeros = |text: &&str| text.bytes().all(|digit| digit == b'0');
    text.parse().ok().or_else(|| text.strip_prefix('-').filter(zeros)?.parse().ok())
}

fn float<T: Float>(text: &str) -> Option<T> {
    T::parse(text).or_else(|| named(text).map(T::exact))
}

/// The float that is no number of this name.
fn named(text: &str) -> Option<f64> {
    match text {
        "NaN" | "nan" => Some(f64::NAN),
        "Infinity" | "inf" => Some(f64::INFINITY),
        "-Infinity" | "-inf" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// Whether a cell is an integer that f64 does not hold.
pub fn is_rounded(cell: &[u8]) -> bool {
    std::str::from_utf8(cell.trim_ascii()).is_ok_and(seen::is_rounded)
}

/// What a cell is by itself; a name of a float is one, since it stands without quotes.
pub fn sign(cell: &[u8]) -> Sign {
    if cell.is_empty() {
        return Sign::Null;
    }
    let Ok(text) = std::str::from_utf8(cell.trim_ascii()) else { return Sign::Text };
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if boolean(text).is_some() {
        Sign::Bool
    } else if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        match (integer::<i64>(text), integer::<u64>(text)) {
            (Some(value), _) if value < 0 => Sign::Negative,
            (Some(_), _) => Sign::Int,
            (None, Some(_)) => Sign::Big,
            (None, None) => Sign::Huge,
        }
    } else if float::<f64>(text).is_some() {
        Sign::Float
    } else {
        Sign::Text
    }
}
