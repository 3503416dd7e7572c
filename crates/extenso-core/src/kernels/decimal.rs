//! Floats from their decimal text and back, each rounded once.
//!
//! Invariant: a parsed float is the value of its dtype nearest to the decimal text, ties to even, as IEEE 754 asks;
//! what is written reads back as the same bits. Integers need none of this.
//! Infinities and NaN have no digits, and what they are called is for the format to say.

use half::{bf16, f16};
use std::cmp::Ordering;
use std::io::Write;

/// A float dtype as decimal text.
pub trait Float: Copy {
    /// The nearest value to the number in a text; none if it is no decimal number, or would be an infinity.
    fn parse(text: &str) -> Option<Self>;

    /// The nearest value to `digits * 10^exponent`, where one rounding of exact floats gives it; none elsewhere.
    ///
    /// Source: W. D. Clinger, "How to read floating point numbers accurately", 1990.
    fn scaled(digits: u64, exponent: i32) -> Option<Self>;

    /// The nearest value to the number of at most seven `digits`, the last `decimals` of them behind the point, at most seven.
    #[inline]
    fn few(digits: u32, decimals: u32, negative: bool) -> Option<Self> {
        let value = Self::scaled(u64::from(digits), -decimals.cast_signed())?;
        Some(if negative { value.negated() } else { value })
    }

    /// The nearest value to a float that this dtype holds exactly or not at all.
    fn exact(value: f64) -> Self;

    /// Whether a float that was rounded to f64 and then to this dtype is surely what it would be if it were rounded once.
    fn is_rounded_once(value: f64) -> bool;

    /// The value with the other sign.
    fn negated(self) -> Self;

    /// The same value.
    fn wide(self) -> f64;

    /// Appends the shortest text that reads back as this value, which is finite: `1.0`, `0.1`, `1e16`, `-2.5e-7`.
    fn write(self, out: &mut Vec<u8>);
}

impl Float for f64 {
    #[inline]
    fn few(digits: u32, decimals: u32, negative: bool) -> Option<f64> {
        let value = f64::from(digits) / POWERS[decimals as usize & 7];
        Some(f64::from_bits(value.to_bits() | u64::from(negative) << 63))
    }

    fn parse(text: &str) -> Option<f64> {
        text.parse().ok().filter(|value: &f64| value.is_finite())
    }

    fn scaled(digits: u64, exponent: i32) -> Option<f64> {
        let power = *POWERS.get(exponent.unsigned_abs() as usize)?;
        let exact = (digits <= 1 << f64::MANTISSA_DIGITS).then_some(digits as f64)?;
        Some(if exponent < 0 { exact / power } else { exact * power })
    }

    fn negated(self) -> f64 {
        -self
    }

    fn exact(value: f64) -> f64 {
        value
    }

    fn is_rounded_once(_: f64) -> bool {
        true
    }

    fn wide(self) -> f64 {
        self
    }

    fn write(self, out: &mut Vec<u8>) {
        if let Some(few) = Few::of(self.abs(), 1e5, |units| units as f64 / 1e4, 999_999_999_999_999) {
            few.append(self.is_sign_negative(), out);
        } else if is_plain(self.wide()) {
            out.extend_from_slice(zmij::Buffer::new().format_finite(self).as_bytes());
        } else {
            append(out, format_args!("{self:?}"));
        }
    }
}

impl Float for f32 {
    #[inline]
    fn few(digits: u32, decimals: u32, negative: bool) -> Option<f32> {
        // Both are exact in f32, and their quotient is rounded once.
        let value = digits as f32 / SMALL_POWERS[decimals as usize & 7];
        Some(f32::from_bits(value.to_bits() | u32::from(negative) << 31))
    }

    fn parse(text: &str) -> Option<f32> {
        text.parse().ok().filter(|value: &f32| value.is_finite())
    }

    fn scaled(digits: u64, exponent: i32) -> Option<f32> {
        let wide = f64::scaled(digits, exponent)?;
        f32::is_rounded_once(wide).then_some(wide as f32)
    }

    fn negated(self) -> f32 {
        -self
    }

    fn exact(value: f64) -> f32 {
        value as f32
    }

    #[inline(always)]
    fn is_rounded_once(value: f64) -> bool {
        // It errs only where the first result is midway between two of f32, or is none of its normal numbers.
        let is_midway = value.to_bits() & MIDWAY_MASK == MIDWAY;
        let size = value.abs();
        let fits = (size == 0.0) | ((size >= f64::from(f32::MIN_POSITIVE)) & (size < f64::from(f32::MAX)));
        fits & !is_midway
    }

    fn wide(self) -> f64 {
        f64::from(self)
    }

    fn write(self, out: &mut Vec<u8>) {
        // Below this, ten-thousandths are exact.
        if let Some(few) = Few::of(self.abs().wide(), 1600.0, |units| f64::from(units as f32 / 1e4), 999_999) {
            few.append(self.is_sign_negative(), out);
        } else if is_plain(self.wide()) {
            out.extend_from_slice(zmij::Buffer::new().format_finite(self).as_bytes());
        } else {
            append(out, format_args!("{self:?}"));
        }
    }
}

impl Float for f16 {
    fn scaled(_: u64, _: i32) -> Option<f16> {
        None
    }

    fn parse(text: &str) -> Option<f16> {
        parse_small(text, 11, -24).map(f16::exact).filter(|value| value.is_finite())
    }

    fn negated(self) -> f16 {
        -self
    }

    fn exact(value: f64) -> f16 {
        f16::from_f64(value)
    }

    fn is_rounded_once(_: f64) -> bool {
        false
    }

    fn wide(self) -> f64 {
        f64::from(self)
    }

    fn write(self, out: &mut Vec<u8>) {
        write_small(f64::from(self), |text| f16::parse(text).map(f64::from), out);
    }
}

impl Float for bf16 {
    fn scaled(_: u64, _: i32) -> Option<bf16> {
        None
    }

    fn parse(text: &str) -> Option<bf16> {
        parse_small(text, 8, -133).map(bf16::exact).filter(|value| value.is_finite())
    }

    fn negated(self) -> bf16 {
        -self
    }

    fn exact(value: f64) -> bf16 {
        bf16::from_f64(value)
    }

    fn is_rounded_once(_: f64) -> bool {
        false
    }

    fn wide(self) -> f64 {
        f64::from(self)
    }

    fn write(self, out: &mut Vec<u8>) {
        write_small(f64::from(self), |text| bf16::parse(text).map(f64::from), out);
    }
}

/// The powers of ten that f64 holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// The first powers of ten as f32, which holds them exactly.
const SMALL_POWERS: [f32; 8] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7];

/// The bits of an f64 that f32 does not have, and what they are midway between two of its numbers.
const MIDWAY_MASK: u64 = (1 << 29) - 1;
const MIDWAY: u64 = 1 << 28;

/// A number of at most four decimals, of which most floats are one that people wrote.
struct Few {
    /// Its ten-thousandths.
    units: u64,
    /// How many decimals it has.
    decimals: u32,
}

impl Few {
    /// The one that reads back as `size`, which is not negative and below `limit`, if it has no more digits than `most`: of numbers
    /// that have as few, no two are the same float, so that it is the shortest. `nearest` is the float nearest to some units.
    #[inline]
    fn of(size: f64, limit: f64, nearest: impl Fn(u64) -> f64, most: u64) -> Option<Few> {
        if size.is_nan() || size >= limit {
            return None;
        }
        let units = (size * 1e4 + 0.5) as u64;
        if nearest(units) != size {
            return None;
        }
        let part = units % 10_000;
        let (decimals, rest) = match part {
            0 => (0, 10_000),
            _ if part.is_multiple_of(1000) => (1, 1000),
            _ if part.is_multiple_of(100) => (2, 100),
            _ if part.is_multiple_of(10) => (3, 10),
            _ => (4, 1),
        };
        (units / rest <= most).then_some(Few { units, decimals })
    }

    /// Appends its text, which has one decimal at least.
    #[inline]
    fn append(&self, negative: bool, out: &mut Vec<u8>) {
        let digit = |number: u64, unit: u64| b'0' + (number / unit % 10) as u8;
        let (whole, part) = (self.units / 10_000, self.units % 10_000);
        // A sign, five digits at most, the point and four decimals.
        let (mut text, mut end) = ([b'-'; 16], usize::from(negative));
        for unit in [10_000, 1000, 100, 10, 1] {
            text[end % 16] = digit(whole, unit);
            end += usize::from(whole >= unit || unit == 1);
        }
        let decimals = [b'.', digit(part, 1000), digit(part, 100), digit(part, 10), digit(part, 1)];
        text[end % 8..][..5].copy_from_slice(&decimals);
        let before = out.len();
        // All are copied, which is less work than to copy as many as there are.
        out.extend_from_slice(&text);
        out.truncate(before + end + 1 + self.decimals.max(1) as usize);
    }
}

fn append(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to a vector does not fail.
    let _ = out.write_fmt(text);
}

/// Whether a float stands in its text without an exponent, in that of `zmij` as in that of Rust.
fn is_plain(value: f64) -> bool {
    value == 0.0 || (1e-4..1e6).contains(&value.abs())
}

/// Rounds a decimal text to `precision` significant bits, subnormals to multiples of `2^least`.
///
/// Rounding through f64 errs only where the f64 is midway between two neighbours and the text is not; so the text
/// decides there. (The conversions of `half` cannot be used: with F16C they round twice, through f32.)
fn parse_small(text: &str, precision: i32, least: i32) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    if !value.is_finite() {
        return None;
    }
    let size = value.abs();
    let exponent = (size.to_bits() >> 52) as i32 - 1023;
    let unit = f64::from(2).powi((exponent - precision + 1).max(least));
    let units = size / unit;
    let whole = units.trunc();
    let rounded = match units - whole {
        0.5 => match compare(text, size) {
            Ordering::Less => whole,
            Ordering::Equal => units.round_ties_even(),
            Ordering::Greater => whole + 1.0,
        },
        _ => units.round(),
    };
    Some((rounded * unit).copysign(value))
}

/// Compares the size of a decimal text with a positive float, exactly.
fn compare(text: &str, size: f64) -> Ordering {
    // A value midway between two small floats has fewer than 200 significant digits.
    let (exponent, digits) = normalize(text);
    let (other_exponent, other_digits) = normalize(&format!("{size:.200e}"));
    exponent.cmp(&other_exponent).then_with(|| digits.cmp(&other_digits))
}

/// The exponent of the first significant digit, and the digits up to the last that is not zero.
fn normalize(text: &str) -> (i64, Vec<u8>) {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let point = mantissa.find('.').unwrap_or(mantissa.len()) as i64;
    let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    digits.drain(..zeros);
    digits.truncate(digits.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1));
    // An exponent too long for i64 belongs to zero or infinity, which are never compared.
    let exponent: i64 = exponent.parse().unwrap_or(0);
    (exponent.saturating_add(point - zeros as i64), digits)
}

/// Appends the fewest digits, of those correctly rounded from the value, that read back as it.
fn write_small(value: f64, read: impl Fn(&str) -> Option<f64>, out: &mut Vec<u8>) {
    let short = (0..8).map(|digits| format!("{value:.digits$e}")).find(|text| read(text) == Some(value));
    // A decimal of so few digits is its own shortest text as f64.
    short.and_then(|text| text.parse().ok()).unwrap_or(value).write(out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_of_few_decimals_are_written_as_rust_shows_them() {
        let mut out = Vec::new();
        for units in
            (0..60_000_u64).chain((60_000..20_000_000).step_by(97)).chain((20_000_000..1_100_000_000).step_by(9973))
        {
            let value = units as f64 / 1e4;
            for value in [value, -value, f64::from_bits(value.to_bits() + 1)] {
                out.clear();
                value.write(&mut out);
                assert_eq!(out, format!("{value:?}").as_bytes());
                out.clear();
                let narrow = value as f32;
                narrow.write(&mut out);
                // Of two texts as short and as near there may be either.
                let text = String::from_utf8_lossy(&out);
                assert_eq!((text.parse(), text.len()), (Ok(narrow), format!("{narrow:?}").len()), "{text}");
            }
        }
    }

    #[test]
    fn floats_are_written_as_rust_shows_them() {
        let check = |value: f64| {
            let (mut wide, mut narrow) = (Vec::new(), Vec::new());
            value.write(&mut wide);
            (value as f32).write(&mut narrow);
            // Of two texts as short and as near, each takes its own.
            let alike = |text: &[u8], shown: &str| text == shown.as_bytes() || text.len() == shown.len();
            assert!(alike(&wide, &format!("{value:?}")), "{value:?}");
            assert!(alike(&narrow, &format!("{:?}", value as f32)), "{:?}", value as f32);
            let (wide, narrow) = (String::from_utf8_lossy(&wide), String::from_utf8_lossy(&narrow));
            assert!(!value.is_finite() || f64::parse(&wide).map(f64::to_bits) == Some(value.to_bits()), "{wide}");
            let small = value as f32;
            assert!(!small.is_finite() || f32::parse(&narrow).map(f32::to_bits) == Some(small.to_bits()), "{narrow}");
        };
        [0.0, -0.0, 1.0, -1.5, 0.1, 0.1 + 0.2, 1e-4, 0.000_1, 123_456.7, 999_999.9, 1e6, 1e16, 1e-7, 0.3, 2.5e-4]
            .into_iter()
            .for_each(check);
        let mut state = 3_u64;
        for i in 0..100_000_i32 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let decimals = f64::from(10).powi(i % 9);
            check(((state >> 32) as f64 / 1000.0).round() / decimals);
            check(f64::from_bits(state));
            check(f64::from(f32::from_bits((state >> 32) as u32)));
        }
    }

    #[test]
    fn what_is_scaled_is_what_is_parsed() {
        let mut state = 7_u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (digits, exponent) = (state >> 10 >> (state % 54), (state >> 20) as i32 % 24);
            let text = format!("{digits}e{exponent}");
            let alike = |a: Option<f64>, b: Option<f64>| a.is_none() || a.map(f64::to_bits) == b.map(f64::to_bits);
            assert!(alike(f64::scaled(digits, exponent), f64::parse(&text)), "{text}");
            let (narrow, parsed) = (f32::scaled(digits, exponent), f32::parse(&text));
            assert!(alike(narrow.map(f64::from), parsed.map(f64::from)), "{text}");
        }
        assert_eq!(f32::scaled(16_777_217, 0), None, "midway between two numbers");
    }

    #[test]
    fn few_digits_are_what_is_parsed() {
        for i in 0..200_000_u32 {
            let (digits, decimals, negative) = (i.wrapping_mul(2_654_435_761) % 10_000_000, i % 8, i % 3 == 0);
            let text = format!("{}{digits}e-{decimals}", if negative { "-" } else { "" });
            let (wide, narrow) = (f64::few(digits, decimals, negative), f32::few(digits, decimals, negative));
            assert_eq!(wide.map(f64::to_bits), f64::parse(&text).map(f64::to_bits), "{text}");
            assert_eq!(narrow.map(f32::to_bits), f32::parse(&text).map(f32::to_bits), "{text}");
        }
    }

    fn text_of<T: Float>(value: T) -> String {
        let mut out = Vec::new();
        value.write(&mut out);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn every_half_reads_back_from_its_text() {
        for bits in 0..=u16::MAX {
            let (h, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            if h.is_finite() {
                assert_eq!(f16::parse(&text_of(h)).map(f16::to_bits), Some(bits), "{}", text_of(h));
            }
            if b.is_finite() {
                assert_eq!(bf16::parse(&text_of(b)).map(bf16::to_bits), Some(bits), "{}", text_of(b));
            }
        }
        assert_eq!([text_of(f16::from_f32(0.1)), text_of(bf16::from_f32(0.1))], ["0.1", "0.1"]);
        assert_eq!([text_of(f16::MAX), text_of(f16::from_bits(1))], ["65500.0", "6e-8"]);
        assert_eq!(
            [text_of(1e300), text_of(-0.0), text_of(1e16), text_of(5e-324)],
            ["1e300", "-0.0", "1e16", "5e-324"]
        );
        assert_eq!([text_of(0.1_f32), text_of(f32::MAX)], ["0.1", "3.4028235e38"]);
    }

    /// At, just below and just above the middle of each pair of neighbours.
    fn check_middles<T: Float>(limit: u16, from_bits: fn(u16) -> T, to_f64: fn(T) -> f64, to_bits: fn(T) -> u16) {
        for bits in (0..limit).step_by(7) {
            let middle = (to_f64(from_bits(bits)) + to_f64(from_bits(bits + 1))) / 2.0;
            let exact = format!("{middle:.170e}");
            let (digits, exponent) = exact.split_once('e').expect("an exponent");
            let even = if bits % 2 == 0 { bits } else { bits + 1 };
            let parse = |text: String| to_bits(T::parse(&text).expect("finite"));
            assert_eq!(parse(exact.clone()), even, "{exact}");
            assert_eq!(parse(format!("{digits}1e{exponent}")), bits + 1, "above {exact}");
            let last = digits.trim_end_matches('0');
            let (head, digit) = last.split_at(last.len() - 1);
            let lower = format!("{head}{}{}e{exponent}", char::from(digit.as_bytes()[0] - 1), "9".repeat(60));
            assert_eq!(parse(lower), bits, "below {exact}");
        }
    }

    #[test]
    fn small_floats_are_rounded_once() {
        check_middles(f16::MAX.to_bits(), f16::from_bits, f64::from, f16::to_bits);
        check_middles(bf16::MAX.to_bits(), bf16::from_bits, f64::from, bf16::to_bits);
        // Rounding through f64 or f32 first would lose the last digit of these.
        assert_eq!(f16::parse("1.00048828125000000000000000000000001"), Some(f16::from_bits(0x3c01)));
        assert_eq!(f16::parse("+1.00048828125000000000000000000000001"), Some(f16::from_bits(0x3c01)));
        assert_eq!(f32::parse("1.00000005960464477540"), Some(1.0 + f32::EPSILON));
    }

    #[test]
    fn what_rounds_to_infinity_is_no_number() {
        assert!(f16::parse("65519.999").is_some() && f16::parse("65520").is_none() && f16::parse("-1e999").is_none());
        assert!(bf16::parse("3.39e38").is_some() && bf16::parse("3.4e38").is_none());
        assert!(
            f32::parse("3.4028235e38").is_some() && f32::parse("3.5e38").is_none() && f64::parse("1e309").is_none()
        );
        assert_eq!(f64::parse("1e-999").map(f64::to_bits), Some(0));
        assert_eq!(f16::parse("-1e-999999999999999999999").map(f16::to_bits), Some(0x8000));
    }
}
