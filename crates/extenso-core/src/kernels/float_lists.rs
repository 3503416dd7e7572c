//! Lists of decimal floats, read eight numbers at a time.
//!
//! What ends numbers is looked for in whole blocks of text; then the characters before each end are one or two words of a lane.
//! All lanes take the point out from between the digits, join neighbours to one integer, and divide it by a power of ten.
//!
//! Invariant: what is read here is the value of its dtype nearest to the text, which is a number as JSON has it; where a number
//! is not of the usual form, it and all behind it are left to the caller.

use super::bits::test;
use super::decimal::Float;
use super::digits::{ZEROS, joined, not_digits};
use super::isa::multiversion;

/// So many numbers are read together.
const LANES: usize = 8;

/// So many bytes are looked at together, and so many blocks before numbers are read.
const BLOCK: usize = 64;
const BLOCKS: usize = 4;

/// So many characters a number has at most, with its sign and a space before it.
const LONGEST: usize = 16;

/// What was read of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Read {
    /// Where the next number is to be read, or behind the list.
    pub end: usize,
    /// Whether the list ended.
    pub is_whole: bool,
}

multiversion! {
    /// Reads numbers from `at` on, as many as have no exponent and at most sixteen characters, a space before them among these,
    /// and a comma or the end of the list behind them.
    pub fn read<T: Float>(text: &[u8], at: usize, out: &mut Vec<T>) -> Read {
        let mut at = at;
        let (mut ends, mut padded) = (Ends::none(), [0; LONGEST + BLOCK * BLOCKS]);
        loop {
            let window = window(text, at, &mut padded);
            ends.find(window);
            if ends.n == 0 {
                break;
            }
            for i in (0..ends.n).step_by(LANES) {
                let mut values = [T::exact(0.0); LANES];
                if !ends.numbers(window, i).values(ends.n - i, &mut values) {
                    return Read { end: at + ends.starts(i), is_whole: false };
                }
                out.extend_from_slice(&values);
            }
            out.truncate(out.len() - (ends.n.next_multiple_of(LANES) - ends.n));
            at += ends.starts(ends.n);
            if ends.is_last {
                return Read { end: at, is_whole: true };
            }
        }
        Read { end: at, is_whole: false }
    }
}

type Window = [u8; LONGEST + BLOCK * BLOCKS];

/// The text from a byte on, and what stands before it.
#[inline(always)]
fn window<'a>(text: &'a [u8], at: usize, padded: &'a mut Window) -> &'a Window {
    if let Some(window) = at.checked_sub(LONGEST).and_then(|from| text.get(from..)?.first_chunk()) {
        return window;
    }
    padded.fill(0);
    let before = at.min(LONGEST);
    let part = text.get(at - before..).unwrap_or_default();
    let part = &part[..part.len().min(padded.len() + before - LONGEST)];
    padded[LONGEST - before..][..part.len()].copy_from_slice(part);
    padded
}

/// Where numbers end in a window.
struct Ends {
    /// The places of what ends them, each behind that of the one before. The first is that of what stands before all of them.
    at: [u8; 1 + BLOCK * BLOCKS + LANES],
    n: usize,
    /// Whether the last of them ends the list.
    is_last: bool,
}

impl Ends {
    #[inline(always)]
    fn none() -> Ends {
        Ends { at: [u8::MAX; 1 + BLOCK * BLOCKS + LANES], n: 0, is_last: false }
    }

    /// Where number `i` starts.
    #[inline(always)]
    fn starts(&self, i: usize) -> usize {
        usize::from(self.at[i].wrapping_add(1)) + if i > 0 && self.at[i] == u8::MAX { 256 } else { 0 }
    }

    #[inline(always)]
    fn find(&mut self, window: &Window) {
        (self.n, self.is_last) = (0, false);
        for (block, first) in window[LONGEST..].as_chunks::<BLOCK>().0.iter().zip((0..).step_by(BLOCK)) {
            let (mut commas, mut brackets) = ([0], [0]);
            test(block, &mut commas, |byte| byte == b',');
            test(block, &mut brackets, |byte| byte == b']');
            // What stands behind a bracket is none of this list.
            let bracket = brackets[0] & brackets[0].wrapping_neg();
            let mut ends = (commas[0] & bracket.wrapping_sub(1)) | bracket;
            let n = ends.count_ones() as usize;
            for i in (0..n).step_by(LANES) {
                let Some(places) = self.at[1 + self.n + i..].first_chunk_mut::<LANES>() else { return };
                for place in places {
                    *place = (ends.trailing_zeros() as u8).wrapping_add(first);
                    ends &= ends.wrapping_sub(1);
                }
            }
            self.n += n;
            self.is_last = bracket != 0;
            if self.is_last {
                break;
            }
        }
        // Behind the last there are short ones, which nobody looks at.
        let last = self.at[self.n];
        if let Some(places) = self.at[1 + self.n..].first_chunk_mut::<LANES>() {
            places.iter_mut().zip(1..).for_each(|(place, i)| *place = last.wrapping_add(2 * i));
        }
    }

    /// The numbers from `i` on; those beyond the last are anything.
    #[inline(always)]
    fn numbers(&self, window: &Window, i: usize) -> Numbers {
        let word = |at: usize| window[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let mut numbers = Numbers { high: [0; LANES], low: [0; LANES], len: [0; LANES] };
        let (Some(before), Some(at)) = (self.at[i..].first_chunk::<LANES>(), self.at[i + 1..].first_chunk::<LANES>())
        else {
            return numbers;
        };
        for i in 0..LANES {
            let end = usize::from(at[i]);
            (numbers.low[i], numbers.high[i]) = (word(end), word(end + 8));
            numbers.len[i] = at[i].wrapping_sub(before[i]).wrapping_sub(1).into();
        }
        numbers
    }
}

/// The sixteen characters before the ends of numbers, the last in the highest byte, and how many of them are the number's.
struct Numbers {
    high: [u64; LANES],
    low: [u64; LANES],
    len: [u64; LANES],
}

impl Numbers {
    /// Writes the values of the first `n`; no if one is not of the usual form.
    #[inline(always)]
    fn values<T: Float>(&self, n: usize, out: &mut [T; LANES]) -> bool {
        // Most lists have none that is longer than a word.
        let is_long = self.len.iter().fold(0, |any, len| any | u64::from(*len > LONGEST as u64 / 2));
        if is_long == 0 { self.values_of::<T, true>(n, out) } else { self.values_of::<T, false>(n, out) }
    }

    #[inline(always)]
    fn values_of<T: Float, const SHORT: bool>(&self, n: usize, out: &mut [T; LANES]) -> bool {
        let mut odd = 0;
        for (i, value) in out.iter_mut().enumerate() {
            let (wide, is_odd) = value_of::<SHORT>(self.high[i], self.low[i], self.len[i]);
            odd |= u64::from((is_odd | !T::is_rounded_once(wide)) & (i < n));
            *value = T::exact(wide);
        }
        odd == 0
    }
}

/// The value of the last `len` of sixteen characters, and whether they are anything but a usual number behind one space or none.
/// If they are `SHORT`, those of `low` are not looked at.
///
/// Source: W. D. Clinger, "How to read floating point numbers accurately", 1990, for the quotient.
#[inline(always)]
fn value_of<const SHORT: bool>(high: u64, low: u64, len: u64) -> (f64, bool) {
    const HALF: u64 = LONGEST as u64 / 2;
    let first = |len: u64| {
        let (word, places) = if !SHORT && len > HALF { (low, 2 * HALF) } else { (high, HALF) };
        word >> (places.wrapping_sub(len).wrapping_mul(8) & 63) & 0xff
    };
    let is_long = len > 2 * HALF;
    let len = len.wrapping_sub(u64::from(first(len) == u64::from(b' ')));
    let is_negative = first(len) == u64::from(b'-');
    let len = len.wrapping_sub(u64::from(is_negative));
    let first = first(len);
    // What stands before the number becomes digits 0.
    let of_high =
        if SHORT || len < HALF { u64::MAX << (64_u64.wrapping_sub(len.wrapping_mul(8)) & 63) } else { u64::MAX };
    let of_low = if !SHORT && len > HALF { u64::MAX << (128_u64.wrapping_sub(len.wrapping_mul(8)) & 63) } else { 0 };
    let (high, low) = ((high ^ ZEROS) & of_high, (low ^ ZEROS) & of_low);
    // Of the bytes that are no digits, the lowest bits.
    let (in_high, in_low) = (not_digits(high) >> 7, not_digits(low) >> 7);
    let is_more_than_a_point =
        not_a_point(high, in_high) | not_a_point(low, in_low) != 0 || in_high != 0 && in_low != 0;
    let has_point = in_high | in_low != 0;
    let behind = if SHORT || in_high != 0 { in_high.leading_zeros() } else { 64 + in_low.leading_zeros() };
    let decimals = if has_point { u64::from(behind) / 8 } else { 0 };
    let whole = len.wrapping_sub(decimals + u64::from(has_point));
    // What stands before the point moves up by a byte.
    let (high_closed, low_closed) = (closed(high, in_high) | low >> 56, closed(low, in_low));
    let low = if in_high != 0 { low << 8 } else { low_closed };
    let high = if in_high != 0 { high_closed } else { high };
    let digits = joined(low) * 100_000_000 + joined(high);
    let is_odd = is_more_than_a_point
        | (has_point & (decimals == 0))
        | is_long
        | (whole.wrapping_sub(1) >= 2 * HALF)
        | ((whole > 1) & (first == u64::from(b'0')))
        | (digits > 1 << f64::MANTISSA_DIGITS);
    let factor = |bit: u64, power: f64| if decimals & bit != 0 { power } else { 1.0 };
    let power = factor(1, 1e1) * factor(2, 1e2) * factor(4, 1e4) * if SHORT { 1.0 } else { factor(8, 1e8) };
    let size = digits.cast_signed() as f64 / power;
    (f64::from_bits(size.to_bits() | u64::from(is_negative) << 63), is_odd)
}

/// Ones in the bytes whose lowest bits are given.
#[inline(always)]
fn whole_bytes(lowest: u64) -> u64 {
    (lowest << 8).wrapping_sub(lowest)
}

/// Zero if one byte is no digit and that is a point, or there is none.
#[inline(always)]
fn not_a_point(bytes: u64, odd: u64) -> u64 {
    (odd & odd.wrapping_sub(1)) | ((bytes & whole_bytes(odd)) ^ (odd * u64::from(b'.' ^ b'0')))
}

/// The bytes without one, if its lowest bit is given: those below it move up.
#[inline(always)]
fn closed(bytes: u64, lowest: u64) -> u64 {
    let below = if lowest == 0 { 0 } else { lowest.wrapping_sub(1) };
    (bytes & !(below | whole_bytes(lowest))) | (bytes & below) << 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::isa::{supported, with_isa};

    /// What is read of a list: as many numbers as this, and where the next would be.
    fn check<T: Float>(numbers: &[String], between: &str, bits: fn(&str) -> Option<u64>, of: fn(T) -> u64) -> usize {
        let text = format!("[{}],[4]", numbers.join(between));
        let mut found = Vec::new();
        for &isa in supported() {
            with_isa(isa, || {
                let mut out = vec![T::exact(7.0)];
                let read = read(text.as_bytes(), 1, &mut out);
                let rest = &text[read.end..];
                let n = out.len() - 1;
                assert_eq!(read.is_whole, n == numbers.len(), "{isa}: {text}");
                match numbers.get(n) {
                    Some(next) => assert!(rest.trim_start().starts_with(next), "{isa}: {rest} of {text}"),
                    None => assert_eq!(rest, ",[4]", "{isa}: {text}"),
                }
                for (number, value) in numbers.iter().zip(&out[1..]) {
                    assert_eq!(bits(number), Some(of(*value)), "{isa}: {number}");
                }
                found.push(n);
            });
        }
        assert!(found.iter().all(|n| *n == found[0]), "{found:?} on {:?}", supported());
        found[0]
    }

    fn check_both(numbers: &[String], between: &str) -> (usize, usize) {
        let wide = check::<f64>(numbers, between, |text| Some(text.parse::<f64>().ok()?.to_bits()), f64::to_bits);
        let narrow = |text: &str| Some(text.parse::<f32>().ok()?.to_bits().into());
        (wide, check::<f32>(numbers, between, narrow, |value| value.to_bits().into()))
    }

    #[test]
    fn numbers_are_those_of_their_texts() {
        let mut state = 5_u64;
        let mut next = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 20) % n
        };
        for len in (0..90).chain([300, 1000]) {
            let usual = |next: &mut dyn FnMut(u64) -> u64| {
                let (sign, whole, decimals) = (["", "-"][next(2) as usize], next(7), next(8) as usize);
                let whole =
                    if whole == 0 { 0 } else { 10_u64.pow(whole as u32 - 1) + next(10_u64.pow(whole as u32 - 1)) };
                let part = next(10_u64.pow(decimals as u32));
                if decimals == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part:0decimals$}") }
            };
            let numbers: Vec<String> = (0..=len).map(|_| usual(&mut next)).collect();
            for between in [",", ", "] {
                let (wide, narrow) = check_both(&numbers, between);
                assert_eq!(wide, numbers.len());
                // One that is midway between two numbers of f32 is left.
                assert!(narrow == numbers.len() || len > 50, "{narrow} of {numbers:?}");
            }
            let odd = ["1e5", "12345678901234567", "0.123456789012345", "9007199254740993", "-1.5E-3"];
            let mut others = numbers.clone();
            let at = next(numbers.len() as u64) as usize;
            others[at] = odd[next(odd.len() as u64) as usize].to_owned();
            // What stands before it is read as far as it is not read together with it.
            assert!((at.saturating_sub(LANES - 1)..=at).contains(&check_both(&others, ",").0));
        }
    }

    #[test]
    fn what_is_no_number_is_left() {
        let bad = [
            "01", "-01", "1.", ".5", "-", "", "-.5", "1..2", "1.2.3", "+1", "1 2", " ", "  1", "0x1", "NaN", "1.5.",
            "--1", "/", ":",
        ];
        for bad in bad {
            let text = format!("                [{bad},1.5]");
            let mut out = Vec::new();
            assert_eq!(read::<f64>(text.as_bytes(), 17, &mut out), Read { end: 17, is_whole: false }, "{bad}");
            assert_eq!(out, []);
        }
        for text in ["", "1", "1,", "1.5,2", "1.5, "] {
            let mut out = Vec::new();
            let read = read::<f64>(text.as_bytes(), 0, &mut out);
            assert!(!read.is_whole && read.end <= text.len(), "{text}");
        }
        assert_eq!(read::<f32>(b"1,", 9, &mut Vec::new()), Read { end: 9, is_whole: false });
    }
}
