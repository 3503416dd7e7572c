//! Fast reading of what records have most of: nested values that nobody needs, and lists of floats.
//!
//! Eight bytes are looked at together. Invariant: what is accepted here is JSON and has the value that the careful reader gives; what is
//! odd in any way is no answer, and left to that reader, which knows what to say. The text is UTF-8.

use extenso_core::kernels::decimal::Float;

/// How deep a value that is read over here may nest.
const MAX_DEPTH: u32 = u128::BITS;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Where the value that starts at a byte ends.
pub fn skip(text: &[u8], mut at: usize) -> Option<usize> {
    // One bit per open container, the innermost lowest: whether it is an object.
    let (mut objects, mut depth) = (0_u128, 0);
    loop {
        at = match *text.get(at)? {
            b'"' => string(text, at + 1)?,
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
                    break;
                }
                (b'}', 1) | (b']', 0) => (objects, depth, at) = (objects >> 1, depth - 1, at + 1),
                _ => return None,
            }
        }
    }
}

/// Reads the list of floats that starts at a byte: where it ends, and how many there are.
pub fn floats<T: Float>(text: &[u8], at: usize, out: &mut Vec<T>) -> Option<(usize, usize)> {
    let before = out.len();
    let mut at = space(text, at + 1);
    if *text.get(at)? == b']' {
        return Some((at + 1, 0));
    }
    loop {
        let (value, end) = float(text, at)?;
        out.push(value);
        at = space(text, end);
        match *text.get(at)? {
            b',' => at = space(text, at + 1),
            b']' => return Some((at + 1, out.len() - before)),
            _ => return None,
        }
    }
}

fn float<T: Float>(text: &[u8], at: usize) -> Option<(T, usize)> {
    let negative = *text.get(at)? == b'-';
    match short(text, at + usize::from(negative)) {
        Some((digits, exponent, end)) if !matches!(text.get(end), Some(b'e' | b'E')) => {
            if let Some(value) = T::scaled(digits, exponent) {
                return Some((if negative { value.negated() } else { value }, end));
            }
        }
        _ => {}
    }
    let end = number(text, at)?;
    let value = std::str::from_utf8(text.get(at..end)?).ok().and_then(T::parse)?;
    Some((value, end))
}

/// A number of few digits without sign and exponent: its digits, the power of ten that scales them, and where it ends.
fn short(text: &[u8], at: usize) -> Option<(u64, i32, usize)> {
    let (whole, n) = run(text, at)?;
    if n == 0 || n > 1 && text.get(at) == Some(&b'0') {
        return None;
    }
    let end = at + n;
    if text.get(end) != Some(&b'.') {
        return Some((whole, 0, end));
    }
    let (part, n) = run(text, end + 1)?;
    if n == 0 {
        return None;
    }
    Some((whole * POWERS.get(n)? + part, -i32::try_from(n).ok()?, end + 1 + n))
}

const POWERS: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// The value of fewer than eight digits that start at a byte, and their number; none for more, and near the end of the text.
///
/// The digits are moved to the end of eight, and neighbours are joined three times: to numbers of two, four and eight digits.
fn run(text: &[u8], at: usize) -> Option<(u64, usize)> {
    let digits = eight(text, at)? ^ (ONES * 0x30);
    let odd = not_digits(digits);
    if odd == 0 {
        return None;
    }
    let n = odd.trailing_zeros() / 8;
    if n == 0 {
        return Some((0, 0));
    }
    let pairs = (digits << (64 - 8 * n)).wrapping_mul(10 << 8 | 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_ffff_0000_ffff;
    Some((fours.wrapping_mul(10_000 << 32 | 1) >> 32, n as usize))
}

/// The highest bit of each byte that is none of 0 to 9; those behind the first may be wrong.
fn not_digits(bytes: u64) -> u64 {
    (bytes.wrapping_add(ONES * 0x76) | bytes) & HIGHS
}

/// Behind the digits that start at a byte.
fn digits(text: &[u8], mut at: usize) -> usize {
    while let Some(bytes) = eight(text, at) {
        let odd = not_digits(bytes ^ (ONES * 0x30));
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
pub fn number(text: &[u8], at: usize) -> Option<usize> {
    let start = at + usize::from(*text.get(at)? == b'-');
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

/// Behind the end of a string, of which a byte is the first or stands inside.
fn string(text: &[u8], mut at: usize) -> Option<usize> {
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
            b'"' => return Some(at + 1),
            b'\\' => escape(text, at + 1)?,
            _ => return None,
        };
    }
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

/// Behind a key, its colon and the space around it.
fn key(text: &[u8], at: usize) -> Option<usize> {
    let colon = (*text.get(at)? == b'"').then(|| string(text, at + 1)).flatten()?;
    let colon = space(text, colon);
    (*text.get(colon)? == b':').then(|| space(text, colon + 1))
}

fn word(text: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    text.get(at..)?.starts_with(word).then_some(at + word.len())
}

#[inline]
fn space(text: &[u8], mut at: usize) -> usize {
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
            let list = format!("[{}]", texts.join(" ,"));
            let (mut wide, mut narrow) = (Vec::new(), Vec::new());
            assert_eq!(floats::<f64>(list.as_bytes(), 0, &mut wide), Some((list.len(), 4)), "{list}");
            assert_eq!(floats::<f32>(list.as_bytes(), 0, &mut narrow), Some((list.len(), 4)), "{list}");
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
