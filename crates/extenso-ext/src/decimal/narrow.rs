//! Decimals of 16 bytes by integers of 128 bits, and of 64 where they fit.
//!
//! Invariant: what is made here is what integers of 256 bits make; where that is not sure, or an error, nothing is made.

use super::power;
use crate::written::{digits, each};
use extenso_core::{Dense, Outputs, Tensor};
use extenso_types::Result;

/// The cells of 16 bytes; none of wider ones.
///
/// Errors: another dtype than u8.
pub(super) fn cells_of(x: &Dense) -> Result<Option<&[[u8; 16]]>> {
    let bytes = x.as_slice::<u8>()?;
    Ok((x.dims().last() == Some(&16)).then_some(bytes.as_chunks::<16>().0))
}

/// Ten to this power; none if 128 bits do not hold it.
pub(super) fn power_of_ten(exponent: i64) -> Option<i128> {
    power(exponent)?.to_i128()
}

/// Cells of 16 bytes with these axes before them, of the integer at each place; none if one is none, or has more digits than the precision.
///
/// Errors: another number of cells than the axes say.
pub(super) fn made(
    outer: &[usize],
    precision: i64,
    integer: impl Fn(usize) -> Option<i128> + Sync,
) -> Result<Option<Outputs>> {
    let Some(most) = power_of_ten(precision) else { return Ok(None) };
    let fits = |v: &i128| *v < most && *v > -most;
    let cell = |i: usize| integer(i).filter(fits).map(i128::to_le_bytes);
    let Some(cells) = each(outer.iter().product(), cell) else { return Ok(None) };
    let dims: Vec<usize> = outer.iter().copied().chain([16]).collect();
    Ok(Some(Outputs::from_iter([Tensor::from_vec(cells.into_flattened()).with_dims(&dims)?.into()])))
}

/// The quotient without what is left, and that; none if the divisor is zero.
pub(super) fn divided(value: i128, by: i128) -> Option<(i128, i128)> {
    match (i64::try_from(value), i64::try_from(by)) {
        (Ok(value), Ok(by)) => Some((value.checked_div(by)?.into(), value.checked_rem(by)?.into())),
        _ => Some((value.checked_div(by)?, value.checked_rem(by)?)),
    }
}

/// The integer divided by another, rounded half to even.
pub(super) fn rounded(value: i128, by: i128) -> Option<i128> {
    let (whole, rest) = divided(value, by)?;
    // What is left is compared with what is missing, since its double may not fit.
    let rest = rest.unsigned_abs();
    let left = by.unsigned_abs() - rest;
    let up = rest > left || (rest == left && whole & 1 != 0);
    if up { whole.checked_add(if (value < 0) == (by < 0) { 1 } else { -1 }) } else { Some(whole) }
}

/// The powers of ten that are floats.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// Ten to this power as a float; none if it is none.
pub(super) fn float_power(exponent: u64) -> Option<f64> {
    POWERS.get(usize::try_from(exponent).ok()?).copied()
}

/// How integers get more digits behind the point, or fewer.
#[derive(Clone, Copy)]
pub(super) struct Shift {
    power: i128,
    down: bool,
}

impl Shift {
    /// So many more digits; none if 128 bits do not hold the power of ten.
    pub(super) fn of(by: i64) -> Option<Shift> {
        Some(Shift { power: power_of_ten(by.checked_abs()?)?, down: by < 0 })
    }

    /// The integer with the digits, rounded half to even.
    pub(super) fn shifted(self, value: i128) -> Option<i128> {
        match (self.down, self.power) {
            (_, 1) => Some(value),
            (true, power) => rounded(value, power),
            (false, power) => match (i64::try_from(value), i64::try_from(power)) {
                (Ok(value), Ok(power)) => Some(i128::from(value) * i128::from(power)),
                _ => value.checked_mul(power),
            },
        }
    }
}

/// The integers as i64; none if one does not fit, if cells are wider, or without data.
pub(super) fn small(cells: &Tensor) -> Option<Tensor> {
    let dense = cells.data().ok()?;
    let (cells, (_, outer)) = (cells_of(dense).ok()??, dense.dims().split_last()?);
    let integers = each(cells.len(), |i| i64::try_from(i128::from_le_bytes(cells[i])).ok())?;
    Tensor::from_vec(integers).with_dims(outer).ok()
}

/// Appends the text of an integer with `scale` digits behind the point.
pub(super) fn write(value: i128, scale: i64, out: &mut Vec<u8>) {
    if value < 0 {
        out.push(b'-');
    }
    match usize::try_from(scale) {
        Ok(scale) => {
            digits(value.unsigned_abs(), scale + 1, out);
            if scale > 0 {
                out.insert(out.len() - scale, b'.');
            }
        }
        Err(_) => {
            digits(value.unsigned_abs(), 1, out);
            let zeros = if value == 0 { 0 } else { usize::try_from(-scale).unwrap_or(0) };
            out.resize(out.len() + zeros, b'0');
        }
    }
}

/// The number nearest to the integer divided by a power of ten; none if that is not sure.
///
/// Source: W. Clinger, "How to Read Floating Point Numbers Accurately": the quotient of two exact floats is rounded once.
pub(super) fn float(value: i128, power: f64) -> Option<f64> {
    let value = i64::try_from(value).ok().filter(|v| v.unsigned_abs() <= 1 << 53)?;
    Some(value as f64 / power)
}

/// The same as f32; none as well where the f64 lies in the middle of two of them, and does not say which is nearer.
pub(super) fn float_32(value: i128, power: f64) -> Option<f32> {
    let wide = float(value, power)?;
    (wide.to_bits() & 0x1fff_ffff != 0x1000_0000).then_some(wide as f32)
}

/// The integer of the shortest text of a float at a scale, rounded half to even; none if it is so near to the middle of two that its
/// text is to be looked at.
///
/// The text and the product are off by half a unit in the last place each, together by less than 2^-8 of those below 2^44.
pub(super) fn of_float(value: f64, power: f64, down: bool) -> Option<i128> {
    let scaled = if down { value / power } else { value * power };
    if scaled.is_nan() || scaled.abs() >= 17_592_186_044_416.0 {
        return None;
    }
    let nearest = scaled.round_ties_even();
    ((scaled - nearest).abs() < 0.5 - 1.0 / 128.0).then_some(i128::from(nearest as i64))
}

/// The integer of a text of digits with a sign and a point, rounded half to even; none of a longer or of another text.
pub(super) fn spelled(text: &[u8], scale: i64) -> Option<i128> {
    let (negative, value, behind) = few_digits(text)?;
    let value = Shift::of(scale - behind)?.shifted(i128::from(value))?;
    Some(if negative { -value } else { value })
}

/// The same where nothing is rounded, and the integer has so many digits at most; none as well where that is not quickly told.
pub(super) fn exact(text: &[u8], precision: i64, scale: i64) -> Option<i128> {
    let (negative, value, behind) = few_digits(text)?;
    let shift = u32::try_from(scale.checked_sub(behind)?).ok().filter(|shift| *shift <= 19)?;
    let value = i128::from(value) * 10_i128.pow(shift);
    let most = u32::try_from(precision).ok().and_then(|digits| 10_i128.checked_pow(digits)).unwrap_or(i128::MAX);
    (value < most).then_some(if negative { -value } else { value })
}

/// The sign, the digits as a number, and how many of them stand behind the point; none of a longer or of another text.
fn few_digits(text: &[u8]) -> Option<(bool, u64, i64)> {
    let (negative, rest) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let (mut value, mut count, mut point) = (0_u64, 0, None);
    for byte in rest {
        match byte {
            b'0'..=b'9' if count < 18 => (value, count) = (10 * value + u64::from(byte - b'0'), count + 1),
            b'.' if point.is_none() => point = Some(count),
            _ => return None,
        }
    }
    (count > 0).then_some((negative, value, point.map_or(0, |point| count - point)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decimal::{arithmetic, shown};
    use arrow_buffer::i256;

    fn wide(value: i128) -> i256 {
        i256::from_i128(value)
    }

    /// Integers at and beside what 64 and 128 bits hold, and powers of ten.
    fn integers() -> Vec<i128> {
        let ends = [0, i128::from(i64::MAX), i128::from(i64::MIN), i128::MAX, i128::MIN + 1, 15, 25, 50, 150, 250];
        let powers = (0..39).filter_map(power_of_ten);
        ends.into_iter().chain(powers).flat_map(|v| [v, v.saturating_sub(1), v.saturating_add(1), -v]).collect()
    }

    #[test]
    fn integers_of_128_bits_are_rounded_as_those_of_256() {
        let all = integers();
        for (value, by) in all.iter().flat_map(|value| all.iter().map(move |by| (*value, *by))) {
            if let Some(found) = rounded(value, by) {
                assert_eq!(Some(wide(found)), arithmetic::rounded(wide(value), wide(by)), "{value} by {by}");
            }
        }
        for (value, by) in all.iter().flat_map(|value| (-40..40).map(move |by| (*value, by))) {
            if let Some(found) = Shift::of(by).and_then(|shift| shift.shifted(value)) {
                assert_eq!(Some(wide(found)), arithmetic::shifted(wide(value), by), "{value} shifted {by}");
            }
        }
    }

    #[test]
    fn texts_are_those_of_256_bits() {
        for (value, scale) in integers().into_iter().flat_map(|value| (-5..77).map(move |scale| (value, scale))) {
            let mut text = Vec::new();
            write(value, scale, &mut text);
            assert_eq!(String::from_utf8(text).as_deref(), Ok(shown(wide(value), scale).as_str()));
        }
    }

    #[test]
    fn exact_integers_of_texts_are_not_rounded() {
        for value in integers() {
            for (behind, scale, precision) in [(0, 0, 38), (2, 2, 10), (2, 5, 20), (5, 2, 20), (3, 30, 38), (1, 4, 76)]
            {
                let text = shown(wide(value), behind);
                let wanted = || {
                    let moved = value.checked_mul(10_i128.checked_pow(u32::try_from(scale - behind).ok()?)?)?;
                    let most = 10_i128.checked_pow(precision).unwrap_or(i128::MAX);
                    (moved.unsigned_abs() < most.unsigned_abs()).then_some(moved)
                };
                if let Some(found) = exact(text.as_bytes(), precision.into(), scale) {
                    assert_eq!(Some(found), wanted(), "{text} at {scale} of {precision}");
                }
            }
        }
        assert_eq!((exact(b"-12.5", 10, 2), exact(b"1.255", 10, 2), exact(b"99.9", 2, 1)), (Some(-1250), None, None));
        assert_eq!((exact(b"", 10, 2), exact(b"-", 10, 2), exact(b".", 10, 2)), (None, None, None));
    }

    #[test]
    fn floats_are_those_of_the_text() {
        let mut some = integers();
        some.extend((0..20_000_i128).map(|i| i * i * 7_919 + i));
        // Beside the middle of two neighbours among the f32.
        some.extend((0..2_000_i128).map(|i| 16_777_217 + 2 * i));
        for (value, scale) in some.into_iter().flat_map(|value| [0_u64, 1, 2, 7, 22].map(|scale| (value, scale))) {
            let (text, power) = (shown(wide(value), scale as i64), float_power(scale).expect("a float"));
            if let Some(found) = float(value, power) {
                assert_eq!(found.to_bits(), text.parse::<f64>().expect("a number").to_bits(), "{text}");
            }
            if let Some(found) = float_32(value, power) {
                assert_eq!(found.to_bits(), text.parse::<f32>().expect("a number").to_bits(), "{text}");
            }
        }
    }

    #[test]
    fn texts_and_floats_are_read_as_by_256_bits() {
        for i in -30_000_i32..30_000 {
            for value in [f64::from(i) / 1_000.0, f64::from(i) * 0.005, f64::from(i).powi(5) / 3.0] {
                let text = format!("{value:?}");
                for scale in [-3, 0, 2, 5] {
                    let wanted = arithmetic::spelled(&text, scale);
                    if let Some(found) =
                        of_float(value, float_power(i64::unsigned_abs(scale)).expect("a float"), scale < 0)
                    {
                        assert_eq!(Some(wide(found)), wanted, "{text} at {scale}");
                    }
                    if let Some(found) = spelled(text.as_bytes(), scale) {
                        assert_eq!(Some(wide(found)), wanted, "{text} at {scale}");
                    }
                }
            }
        }
        for odd in ["", "-", ".", "1e5", "+-1", "1.2.3", "nan", "1234567890123456789"] {
            assert_eq!(spelled(odd.as_bytes(), 2), None, "{odd}");
        }
        assert_eq!(of_float(f64::NAN, 1.0, false), None);
        assert_eq!(of_float(f64::INFINITY, 1.0, false), None);
    }
}
