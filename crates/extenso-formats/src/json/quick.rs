//! Fast reading of records in which nothing is odd.
//!
//! Eight bytes are looked at together. Invariant: what is accepted here is JSON and has the value that the careful reader gives; what is
//! odd in any way is no answer, and left to that reader, which knows what to say. The text is UTF-8.

mod record;

pub use record::Scratch;

use super::number as decimal;
use extenso_core::kernels::decimal::Float;
use extenso_core::kernels::digits::{HIGHS, ONES, POWERS, ZEROS, joined, not_digits};
use extenso_core::kernels::float_lists::{self, Read};
use std::str::FromStr;

/// How deep a value that is read over here may nest.
const MAX_DEPTH: u32 = u128::BITS;

/// Where the value that starts at a byte ends.
pub fn skip(text: &[u8], mut at: usize) -> Option<usize> {
    // One bit per open container, the innermost lowest: whether it is an object.
    let (mut objects, mut depth) = (0_u128, 0);
    loop {
        at = match *text.get(at)? {
            b'"' => string(text, at + 1)?.0,
            b'-' | b'0'..=b'9' => number(text, at)?,
            b't' => word(text, at, b"true")?,
            b'f' => word(text, at, b"false")?,
            b'n' => word(text, at, b"null")?,
            b'{' | b'[' if depth == MAX_DEPTH => return None,
            open @ (b'{' | b'[') => {
                let (is_object, first) = (open == b'{', space(text, at + 1));
                if *text.get(first)? == if is_object { b'}' } else { b']' } {
                    first + 1
                } else {
                    (objects, depth) = (objects << 1 | u128::from(is_object), depth + 1);
                    at = if is_object { key(text, first)? } else { first };
                    continue;
                }
            }
            _ => return None,
        };
        loop {
            if depth == 0 {
                return Some(at);
            }
            at = space(text, at);
            match (*text.get(at)?, objects & 1) {
                (b',', 1) => {
                    at = key(text, space(text, at + 1))?;
                    break;
                }
                (b',', _) => {
                    at = space(text, at + 1);
                    // Most of what nobody needs are lists of numbers, whose signs no branch foresees.
                    let first = *text.get(at)?;
                    if !(first.is_ascii_digit() | (first == b'-')) {
                        break;
                    }
                    at = number(text, at)?;
                }
                (b'}', 1) | (b']', 0) => (objects, depth, at) = (objects >> 1, depth - 1, at + 1),
                _ => return None,
            }
        }
    }
}

/// Reads the list of floats that starts at a byte: how many there are, and where it ends.
fn floats<T: Float>(text: &[u8], at: usize, out: &mut Vec<T>) -> Option<(usize, usize)> {
    if *text.get(at)? != b'[' {
        return None;
    }
    let before = out.len();
    let mut at = space(text, at + 1);
    if *text.get(at)? == b']' {
        return Some((0, at + 1));
    }
    let mut are_usual = true;
    loop {
        let mut read = Read { end: at, is_whole: false };
        if are_usual && goes_on(text, at) {
            read = float_lists::read(text, at, out);
            are_usual = read.end > at;
        }
        if !read.is_whole {
            read = short_floats(text, read.end, out);
        }
        if read.is_whole {
            return Some((out.len() - before, read.end));
        }
        let (value, end) = float(text, space(text, read.end))?;
        out.push(value);
        at = space(text, end);
        match *text.get(at)? {
            b',' => at = space(text, at + 1),
            b']' => return Some((out.len() - before, at + 1)),
            _ => return None,
        }
    }
}

/// Whether a list goes on for so long that reading several of its numbers at a time is faster.
#[inline(always)]
fn goes_on(text: &[u8], at: usize) -> bool {
    let next = text.get(at..).and_then(|text| text.first_chunk::<64>());
    // All bytes are looked at, as that is a few comparisons of many at once.
    next.is_some_and(|next| !next.iter().fold(false, |ends, byte| ends | (*byte == b']')))
}

/// Reads some numbers of a list, as long as they are short and nothing stands between them but a comma.
#[inline(always)]
fn short_floats<T: Float>(text: &[u8], mut at: usize, out: &mut Vec<T>) -> Read {
    /// After so many, whether the list goes on is looked at again.
    const FEW: usize = 24;
    for _ in 0..FEW {
        let Some((negative, short)) = Short::signed_at(text, at) else { break };
        let is_last = match text.get(short.end) {
            Some(b',') => false,
            Some(b']') => true,
            _ => break,
        };
        let Some(value) = T::few(short.value(), short.decimals, negative) else { break };
        out.push(value);
        at = short.end + 1;
        if is_last {
            return Read { end: at, is_whole: true };
        }
    }
    Read { end: at, is_whole: false }
}

#[inline(always)]
fn float<T: Float>(text: &[u8], at: usize) -> Option<(T, usize)> {
    let negative = *text.get(at)? == b'-';
    if let Some(short) = Short::whole_at(text, at + usize::from(negative))
        && let Some(value) = T::few(short.value(), short.decimals, negative)
    {
        return Some((value, short.end));
    }
    long_float(text, at)
}

/// Reads a number of many digits, with an exponent, or near the end of the text; or the name of what is no number.
#[cold]
fn long_float<T: Float>(text: &[u8], at: usize) -> Option<(T, usize)> {
    if text[at] == b'"' {
        let (end, _) = string(text, at + 1)?;
        let name = std::str::from_utf8(text.get(at + 1..end - 1)?).ok()?;
        return decimal::named(name).map(|value| (value, end));
    }
    let end = number(text, at)?;
    let digits = text.get(at..end)?;
    let short = decimal::short(digits).and_then(|(value, exponent, negative)| {
        let value = T::scaled(value, exponent)?;
        Some(if negative { value.negated() } else { value })
    });
    let value = short.or_else(|| T::parse(std::str::from_utf8(digits).ok()?))?;
    Some((value, end))
}

/// Fewer than eight characters that are digits, with a point among them or none.
struct Short {
    /// The digits, the last in the highest byte.
    digits: u64,
    /// How many of them stand behind the point.
    decimals: u32,
    /// Where they end.
    end: usize,
}

impl Short {
    /// The longest that starts at a byte, if it is a number that more digits, another point or an exponent could only follow.
    #[inline(always)]
    fn at(text: &[u8], at: usize) -> Option<Short> {
        Short::of(eight(text, at)?, at)
    }

    /// As [`Short::at`], behind a sign or none.
    #[inline(always)]
    fn signed_at(text: &[u8], at: usize) -> Option<(bool, Short)> {
        // To read both words and take one is shorter than to wait for the place of the second.
        let nine: &[u8; 9] = text.get(at..)?.first_chunk()?;
        let (plain, behind) = (eight(nine, 0)?, eight(nine, 1)?);
        let negative = plain & 0xff == u64::from(b'-');
        let word = std::hint::select_unpredictable(negative, behind, plain);
        Some((negative, Short::of(word, at + usize::from(negative))?))
    }

    #[inline(always)]
    fn of(word: u64, at: usize) -> Option<Short> {
        let bytes = word ^ ZEROS;
        // Of bytes there are the highest bits: seven more than eight times the place.
        let odd = not_digits(bytes);
        let (first, others) = (odd.trailing_zeros(), odd & odd.wrapping_sub(1));
        if first == 7 || odd == 0 || first > 15 && bytes & 0xff == 0 {
            return None;
        }
        if bytes >> (first - 7) & 0xff != u64::from(b'.' ^ b'0') {
            return Some(Short { digits: bytes << (71 - first), decimals: 0, end: at + first as usize / 8 });
        }
        let second = others.trailing_zeros();
        if others == 0 || second == first + 8 {
            return None;
        }
        // The point is taken out from between the digits.
        let before = ((odd ^ others) >> 7) - 1;
        let digits = (bytes & before | bytes >> 8 & !before) << (79 - second);
        Some(Short { digits, decimals: (second - first) / 8 - 1, end: at + second as usize / 8 })
    }

    /// A number that starts at a byte and is no longer than this.
    #[inline(always)]
    fn whole_at(text: &[u8], at: usize) -> Option<Short> {
        Short::at(text, at).filter(|short| !matches!(text.get(short.end), Some(b'e' | b'E' | b'.')))
    }

    #[inline(always)]
    fn value(&self) -> u32 {
        // Seven digits at most.
        joined(self.digits) as u32
    }
}

/// Reads the integer that starts at a byte, without point and exponent.
#[inline]
fn integer<T: TryFrom<i64> + FromStr>(text: &[u8], at: usize) -> Option<(T, usize)> {
    let negative = *text.get(at)? == b'-';
    let start = at + usize::from(negative);
    let (mut value, mut end) = (0_i64, start);
    // More digits than an integer has are not looked at, and make it wrap only where it is read again.
    while let Some(bytes) = eight(text, end) {
        let bytes = bytes ^ ZEROS;
        let n = not_digits(bytes).trailing_zeros() / 8;
        if n > 0 {
            value = value.wrapping_mul(POWERS[n as usize]).wrapping_add(joined(bytes << (64 - 8 * n)).cast_signed());
            end += n as usize;
        }
        if n < 8 || end - start > MAX_DIGITS {
            break;
        }
    }
    while let Some(byte) = text.get(end).filter(|byte| byte.is_ascii_digit())
        && end - start <= MAX_DIGITS
    {
        (value, end) = (value.wrapping_mul(10).wrapping_add(i64::from(byte - b'0')), end + 1);
    }
    if end - start > MAX_DIGITS {
        return long_integer(text, at);
    }
    if end == start || end - start > 1 && text[start] == b'0' || matches!(text.get(end), Some(b'.' | b'e' | b'E')) {
        return None;
    }
    T::try_from(if negative { -value } else { value }).ok().map(|value| (value, end))
}

/// So many digits have a value that fits i64.
const MAX_DIGITS: usize = 18;

fn long_integer<T: FromStr>(text: &[u8], at: usize) -> Option<(T, usize)> {
    let end = number(text, at)?;
    // One with a point or an exponent is none.
    std::str::from_utf8(text.get(at..end)?).ok()?.parse().ok().map(|value| (value, end))
}

/// Behind the digits that start at a byte.
fn digits(text: &[u8], mut at: usize) -> usize {
    while let Some(bytes) = eight(text, at) {
        let odd = not_digits(bytes ^ ZEROS);
        if odd != 0 {
            return at + odd.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while text.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}

/// Behind the number that starts at a byte.
#[inline(always)]
pub fn number(text: &[u8], at: usize) -> Option<usize> {
    let start = at + usize::from(*text.get(at)? == b'-');
    match Short::whole_at(text, start) {
        Some(short) => Some(short.end),
        None => long_number(text, start),
    }
}

/// Behind a number without sign.
#[cold]
fn long_number(text: &[u8], start: usize) -> Option<usize> {
    let mut at = match *text.get(start)? {
        b'0' if text.get(start + 1).is_some_and(u8::is_ascii_digit) => return None,
        b'0' => start + 1,
        b'1'..=b'9' => digits(text, start + 1),
        _ => return None,
    };
    if text.get(at) == Some(&b'.') {
        at = some_digits(text, at + 1)?;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        at = some_digits(text, at + 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-'))))?;
    }
    Some(at)
}

/// Behind the digits that start at a byte, of which there are some.
fn some_digits(text: &[u8], at: usize) -> Option<usize> {
    let end = digits(text, at);
    (end > at).then_some(end)
}

/// Behind the end of a string, of which a byte is the first or stands inside, and whether there is an escape in what is left of it.
#[inline]
fn string(text: &[u8], mut at: usize) -> Option<(usize, bool)> {
    let mut escaped = false;
    loop {
        at = match eight(text, at) {
            Some(bytes) => match special(bytes) {
                0 => {
                    at += 8;
                    continue;
                }
                found => at + found.trailing_zeros() as usize / 8,
            },
            None => at + text.get(at..)?.iter().position(|byte| matches!(byte, 0..0x20 | b'"' | b'\\'))?,
        };
        at = match *text.get(at)? {
            b'"' => return Some((at + 1, escaped)),
            b'\\' => escape(text, at + 1)?,
            _ => return None,
        };
        escaped = true;
    }
}

/// How many bytes of a text come before the first that has an escape in JSON.
pub fn plain_len(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(bytes) = eight(text, at) {
        match special(bytes) {
            0 => at += 8,
            found => return at + found.trailing_zeros() as usize / 8,
        }
    }
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| matches!(byte, 0..0x20 | b'"' | b'\\')).unwrap_or(rest.len())
}

/// The highest bit of each byte that is a quote, a backslash or a control character; those behind the first may be wrong.
fn special(bytes: u64) -> u64 {
    let zero = |bytes: u64| bytes.wrapping_sub(ONES) & !bytes;
    let control = bytes.wrapping_sub(ONES * 0x20) & !bytes;
    (zero(bytes ^ (ONES * 0x22)) | zero(bytes ^ (ONES * 0x5c)) | control) & HIGHS
}

/// Behind an escape; halves of a character are left to the careful reader.
fn escape(text: &[u8], at: usize) -> Option<usize> {
    match *text.get(at)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 1),
        b'u' => {
            let hex = text.get(at + 1..at + 5)?;
            let is_half = matches!(hex, [b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F', ..]);
            (!is_half && hex.iter().all(u8::is_ascii_hexdigit)).then_some(at + 5)
        }
        _ => None,
    }
}

/// Behind the key at a byte, its colon and the space around it; and the name, if no escape is in it.
pub fn named(text: &[u8], at: usize) -> Option<(usize, &[u8])> {
    let value = key(text, at)?;
    let (end, escaped) = string(text, at + 1)?;
    (!escaped).then_some((value, &text[at + 1..end - 1]))
}

/// Behind a key, its colon and the space around it.
fn key(text: &[u8], at: usize) -> Option<usize> {
    let (colon, _) = (*text.get(at)? == b'"').then(|| string(text, at + 1)).flatten()?;
    let colon = space(text, colon);
    (*text.get(colon)? == b':').then(|| space(text, colon + 1))
}

fn word(text: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    text.get(at..)?.starts_with(word).then_some(at + word.len())
}

#[inline]
pub fn space(text: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = text.get(at) {
        at += 1;
    }
    at
}

#[inline]
fn eight(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::skip::skip as careful;
    use jiter::Jiter;

    /// Values of every kind, and what is nearly one.
    const TEXTS: &[&str] = &[
        r#"{"a":[1,2.5,-0.25e+3,{"b":null}],"c":"x\n\u00e9yz \"q\"","d":[[],{}, true ,false]} "#,
        r#"[0.1234,-0.5,12345678.9,0.12345678901234567,1e300,-0.0,7,100000000000000000000]"#,
        r#""\ud83d\ude00 \u0041 \ud800 tail of the string, longer than eight""#,
        r#"[01,1.,.5,-,1e,+1,--1,1..2,0x1,NaN]"#,
        "[\"a\tb\",1 , 2\n]",
    ];

    /// Where the careful reader is behind one value.
    fn end(text: &[u8]) -> Option<usize> {
        let mut jiter = Jiter::new(text);
        let peek = jiter.peek().ok()?;
        careful(&mut jiter, peek).ok()?;
        Some(jiter.current_index())
    }

    #[test]
    fn what_is_read_over_is_what_the_careful_reader_reads_over() {
        let mut state = 11_u64;
        let mut next = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).expect("31 bits") % n
        };
        let odd = b"\"\\[]{},:0123456789.eE+-tfnu \n\x01";
        for text in TEXTS {
            for _ in 0..20_000 {
                let mut changed = text.as_bytes().to_vec();
                for _ in 0..next(3) {
                    let at = next(changed.len());
                    changed[at] = odd[next(odd.len())];
                }
                changed.truncate(changed.len() - next(4).min(changed.len()));
                if std::str::from_utf8(&changed).is_err() {
                    continue;
                }
                let start = changed.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
                let (quick, careful) = (skip(&changed, start), end(&changed));
                assert!(quick.is_none() || quick == careful, "{}", changed.escape_ascii());
            }
        }
        assert_eq!(skip(TEXTS[0].as_bytes(), 0), end(TEXTS[0].as_bytes()));
    }

    #[test]
    fn floats_are_those_of_their_texts() {
        let mut state = 5_u64;
        for n in 0..50_000_u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(n | 1);
            let (whole, part) = (state >> 40 >> (state % 24), state >> 20 & 0xff_ffff);
            let texts =
                [format!("-{whole}.{part}"), format!("{whole}"), format!("0.{part:04}"), format!("{whole}.{part}e-3")];
            let (between, times) = ([" ,", ","][n as usize / 4 % 2], 1 + n as usize % 4);
            let texts: Vec<String> = std::iter::repeat_n(texts, times).flatten().collect();
            let list = format!("[{}]", texts.join(between));
            let (mut wide, mut narrow) = (Vec::new(), Vec::new());
            assert_eq!(floats::<f64>(list.as_bytes(), 0, &mut wide), Some((4 * times, list.len())), "{list}");
            assert_eq!(floats::<f32>(list.as_bytes(), 0, &mut narrow), Some((4 * times, list.len())), "{list}");
            let wanted: Vec<u64> = texts.iter().filter_map(|text| text.parse::<f64>().ok()).map(f64::to_bits).collect();
            assert_eq!(wide.iter().map(|float| float.to_bits()).collect::<Vec<_>>(), wanted, "{list}");
            let wanted: Vec<u32> = texts.iter().filter_map(|text| text.parse::<f32>().ok()).map(f32::to_bits).collect();
            assert_eq!(narrow.iter().map(|float| float.to_bits()).collect::<Vec<_>>(), wanted, "{list}");
        }
        for bad in ["[1,]", "[,1]", "[1 2]", "[01]", "[1.]", "[-]", "[1e]", "[1", "[\"1\"]", "[1e999]", "[.5]"] {
            assert_eq!(floats::<f64>(bad.as_bytes(), 0, &mut Vec::new()), None, "{bad}");
        }
    }
}
