//! Cells: what they are, and how they go into columns.
//!
//! Invariant: a number is exact or rounded once, or refused; nothing is pushed for a cell that is refused.

use crate::columns::Column;
use crate::names::plain;
use crate::seen::{self, Sign};
use extenso_core::kernels::decimal::Float;
use extenso_core::kernels::digits::{POWERS, ZEROS, joined, not_digits};

/// How much of a cell a message shows.
const SHOWN: usize = 40;

/// A cell as a message shows it.
pub fn shown(cell: &[u8]) -> String {
    let text = String::from_utf8_lossy(&cell[..cell.len().min(SHOWN)]);
    format!("'{}{}'", plain(&text), if cell.len() > SHOWN { "..." } else { "" })
}

/// Pushes the boolean or number that a cell is; whether it is one that the column holds.
pub fn push_scalar(cell: &[u8], column: &mut Column) -> bool {
    // Most numbers are few digits with nothing around them.
    match (&mut *column, Plain::of(cell)) {
        (Column::I64(numbers), Some(Plain { value, negative, decimals: 0 })) => {
            numbers.push(if negative { -value } else { value });
            return true;
        }
        (Column::F64(numbers), Some(plain)) if let Some(number) = plain.float() => {
            numbers.push(number);
            return true;
        }
        (Column::F32(numbers), Some(plain)) if let Some(number) = plain.float() => {
            numbers.push(number);
            return true;
        }
        _ => {}
    }
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

/// A number of at most eighteen digits, with a point between them or none, and a sign before them or none.
struct Plain {
    value: i64,
    negative: bool,
    /// How many digits stand behind the point.
    decimals: usize,
}

impl Plain {
    #[inline]
    fn of(cell: &[u8]) -> Option<Plain> {
        let (negative, digits) = match cell {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        if digits.len() > MOST || !digits.first()?.is_ascii_digit() || !digits.last()?.is_ascii_digit() {
            return None;
        }
        let (mut value, end) = run(digits, 0, 0);
        let decimals = match digits[end..] {
            [] => 0,
            [b'.', ..] => {
                let point = end;
                let end;
                (value, end) = run(digits, value, point + 1);
                (end == digits.len()).then(|| end - point - 1)?
            }
            _ => return None,
        };
        Some(Plain { value, negative, decimals })
    }

    /// The float, where one rounding gives it.
    #[inline]
    fn float<T: Float>(&self) -> Option<T> {
        let value = T::scaled(self.value.cast_unsigned(), -i32::try_from(self.decimals).ok()?)?;
        Some(if self.negative { value.negated() } else { value })
    }
}

/// The value with the digits from a byte on behind it, and where these end. It wraps where there are too many.
#[inline(always)]
fn run(digits: &[u8], mut value: i64, mut at: usize) -> (i64, usize) {
    while let Some(word) = digits.get(at..).and_then(|rest| rest.first_chunk()) {
        let bytes = u64::from_le_bytes(*word) ^ ZEROS;
        let n = not_digits(bytes).trailing_zeros() / 8;
        if n > 0 {
            value = value.wrapping_mul(POWERS[n as usize]).wrapping_add(joined(bytes << (64 - 8 * n)).cast_signed());
        }
        at += n as usize;
        if n < 8 {
            return (value, at);
        }
    }
    while let Some(byte) = digits.get(at).filter(|byte| byte.is_ascii_digit()) {
        (value, at) = (value.wrapping_mul(10).wrapping_add(i64::from(byte - b'0')), at + 1);
    }
    (value, at)
}

/// So many digits have a value that fits i64.
const MOST: usize = 18;

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
    // Fifteen digits are below 2^53.
    cell.len() > 15 && std::str::from_utf8(cell.trim_ascii()).is_ok_and(seen::is_rounded)
}

/// What a cell of digits is that may have a point between them and a minus before them; none of any other, and of many digits.
#[inline]
fn digits(cell: &[u8]) -> Option<Sign> {
    let digits = cell.strip_prefix(b"-").unwrap_or(cell);
    let ([b'0'..=b'9', .., b'0'..=b'9'] | [b'0'..=b'9']) = digits else { return None };
    let others = digits.iter().fold(0_usize, |others, byte| others + usize::from(!byte.is_ascii_digit()));
    match others {
        // Zero has no sign.
        0 if digits.len() <= MOST && digits[0] != b'0' => {
            Some(if digits.len() < cell.len() { Sign::Negative } else { Sign::Int })
        }
        1 if digits.len() <= 64 && digits.contains(&b'.') => Some(Sign::Float),
        _ => None,
    }
}

/// What a cell is by itself; a name of a float is one, since it stands without quotes.
pub fn sign(cell: &[u8]) -> Sign {
    if cell.is_empty() {
        return Sign::Null;
    }
    if let Some(sign) = digits(cell) {
        return sign;
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
