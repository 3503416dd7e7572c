//! Letters: the case of strings beyond `upper` and `lower`, and what kinds of characters they are made of.
//!
//! Invariant: mappings and kinds are Unicode's, character by character; a final sigma is all that depends on its neighbours.

use super::super::args::{data, tensor_spec};
use super::case::{Case, in_case};
use super::pattern::compiled;
use super::{bits, infer_string, string_spec};
use crate::attrs::AttrSet;
use crate::op::{Class, Fact, OpDef, OutputSpecs};
use crate::value::{Outputs, Value};
use extenso_types::{DType, LeafSpec, Result};

crate::ops! {
    /// Ops on letters.
    pub static TEXT_LETTERS;

    /// Each string with its first character in title case and the rest in lower case, by the full Unicode mapping.
    ///
    /// Errors: bytes.
    CAPITALIZE: capitalize(x) = OpDef::general(Class::UnaryElementwise, infer_string, |args, _, _| in_case(data(args, 0)?, &CAPITALIZED))
        .examples(&[("capitalize([\"aBC d\", \"ﬁn\"])", "[\"Abc d\", \"Fin\"]")]);

    /// Each string with the first letter of each word in title case and the rest in lower case.
    ///
    /// A word is a run of letters that have a case, as of Python's `str.title`: an apostrophe ends it. Errors: bytes.
    TITLE: title(x) = OpDef::general(Class::UnaryElementwise, infer_string, |args, _, _| in_case(data(args, 0)?, &TITLED))
        .examples(&[("title([\"two WORDS\", \"a1b ǆ\"])", "[\"Two Words\", \"A1B ǅ\"]")]);

    /// Each string with lower case for upper and upper case for lower, by the full Unicode mapping. Errors: bytes.
    SWAPCASE: swapcase(x) = OpDef::general(Class::UnaryElementwise, infer_string, |args, _, _| in_case(data(args, 0)?, &SWAPPED))
        .examples(&[("swapcase([\"aB\", \"Straße\"])", "[\"Ab\", \"sTRASSE\"]")]);

    /// Each string without differences of case, to be compared: full Unicode case folding.
    ///
    /// Two strings that differ in case alone fold to the same. Errors: bytes.
    CASEFOLD: casefold(x) = OpDef::general(Class::UnaryElementwise, infer_string, |args, _, _| in_case(data(args, 0)?, &FOLDED))
        .facts(&[Fact::Idempotent])
        .examples(&[("casefold([\"Straße\", \"ΟΔΟΣ\"])", "[\"strasse\", \"οδοσ\"]")]);

    /// Whether each string has characters, and all are letters: of the Unicode category L. Errors: bytes.
    IS_ALPHA: is_alpha(x) = OpDef::general(Class::UnaryElementwise, infer_kind, |args, _, _| of_kind(args, |text| filled(text, u8::is_ascii_alphabetic), r"\A\p{L}+\z"))
        .examples(&[("is_alpha([\"aß日\", \"a1\", \"\"])", "[True, False, False]")]);

    /// Whether each string has characters, and all are decimal digits, of any script: the Unicode category Nd, as of Python's `str.isdecimal`.
    ///
    /// Errors: bytes.
    IS_DIGIT: is_digit(x) = OpDef::general(Class::UnaryElementwise, infer_kind, |args, _, _| of_kind(args, |text| filled(text, u8::is_ascii_digit), r"\A\p{Nd}+\z"))
        .examples(&[("is_digit([\"12\", \"٣\", \"½\", \"\"])", "[True, True, False, False]")]);

    /// Whether each string has characters, and all are numbers: of the Unicode category N, with fractions and Roman numerals. Errors: bytes.
    IS_NUMERIC: is_numeric(x) = OpDef::general(Class::UnaryElementwise, infer_kind, |args, _, _| of_kind(args, |text| filled(text, u8::is_ascii_digit), r"\A\p{N}+\z"))
        .examples(&[("is_numeric([\"12\", \"½Ⅷ\", \"-1\"])", "[True, True, False]")]);

    /// Whether each string has characters, and all are letters or numbers: of the Unicode categories L and N. Errors: bytes.
    IS_ALNUM: is_alnum(x) = OpDef::general(Class::UnaryElementwise, infer_kind, |args, _, _| of_kind(args, |text| filled(text, u8::is_ascii_alphanumeric), r"\A[\p{L}\p{N}]+\z"))
        .examples(&[("is_alnum([\"a1\", \"½\", \"a b\"])", "[True, True, False]")]);

    /// Whether each string has characters, and all are Unicode white space. Errors: bytes.
    IS_SPACE: is_space(x) = OpDef::general(Class::UnaryElementwise, infer_kind, |args, _, _| of_kind(args, |text| filled(text, |byte| matches!(byte, b'\t'..=b'\r' | b' ')), r"\A\p{White_Space}+\z"))
        .examples(&[("is_space([\" \u{3000}\", \"\", \" a\"])", "[True, False, False]")]);

    /// Whether all characters of each string are ASCII; an empty string has none that is not. Errors: bytes.
    IS_ASCII: is_ascii(x) = OpDef::general(Class::UnaryElementwise, infer_kind, |args, _, _| {
            let x = data(args, 0)?;
            bits(x, |i| Ok(x.text_at(i)?.is_ascii()))
        })
        .examples(&[("is_ascii([\"a~\\n\", \"ß\", \"\"])", "[True, False, True]")]);

    /// Whether all characters of each string can be seen, or are a space: none of the Unicode categories C and Z but that.
    ///
    /// An empty string has none that cannot. Errors: bytes.
    IS_PRINTABLE: is_printable(x) = OpDef::general(Class::UnaryElementwise, infer_kind, |args, _, _| of_kind(args, |text| text.iter().all(|byte| matches!(byte, b' '..=b'~')), r"\A(?:[^\p{C}\p{Z}]| )*\z"))
        .examples(&[("is_printable([\"a ß\", \"a\\n\", \"\"])", "[True, False, True]")]);

    /// Whether each string has a letter in upper case, and none in lower or title case. Errors: bytes.
    IS_UPPER: is_upper(x) = OpDef::general(Class::UnaryElementwise, infer_kind, |args, _, _| of_kind(args, |text| one_case(text, u8::is_ascii_uppercase, u8::is_ascii_lowercase), r"\A[^\p{Lowercase}\p{Lt}]*\p{Uppercase}[^\p{Lowercase}\p{Lt}]*\z"))
        .examples(&[("is_upper([\"AB 1\", \"Ab\", \"1\"])", "[True, False, False]")]);

    /// Whether each string has a letter in lower case, and none in upper or title case. Errors: bytes.
    IS_LOWER: is_lower(x) = OpDef::general(Class::UnaryElementwise, infer_kind, |args, _, _| of_kind(args, |text| one_case(text, u8::is_ascii_lowercase, u8::is_ascii_uppercase), r"\A[^\p{Uppercase}\p{Lt}]*\p{Lowercase}[^\p{Uppercase}\p{Lt}]*\z"))
        .examples(&[("is_lower([\"ab 1\", \"Ab\", \"1\"])", "[True, False, False]")]);

    /// Whether each string has words, and each begins with a letter in upper or title case and goes on in lower case.
    ///
    /// A word is a run of letters that have a case, as for `title`. Errors: bytes.
    IS_TITLE: is_title(x) = OpDef::general(Class::UnaryElementwise, infer_kind, |args, _, _| of_kind(args, in_title_case, r"\A\P{Cased}*(?:[\p{Uppercase}\p{Lt}]\p{Lowercase}*(?:\P{Cased}+|\z))+\z"))
        .examples(&[("is_title([\"Two Words\", \"TwO\", \"1\"])", "[True, False, False]")]);
}

fn infer_kind(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    Ok(tensor_spec(DType::Bool, string_spec(args)?.shape.clone()))
}

/// Whether strings match a pattern of this file; `ascii` says the same of those that are ASCII.
fn of_kind(args: &[Value], ascii: impl Fn(&[u8]) -> bool + Sync, pattern: &str) -> Result<Outputs> {
    let (x, pattern) = (data(args, 0)?, compiled(pattern)?);
    bits(x, |i| match x.text_at(i)? {
        text if text.is_ascii() => Ok(ascii(text)),
        _ => Ok(pattern.is_match(x.str_at(i)?)),
    })
}

fn filled(text: &[u8], kind: impl Fn(&u8) -> bool) -> bool {
    !text.is_empty() && text.iter().all(kind)
}

fn one_case(text: &[u8], wanted: impl Fn(&u8) -> bool, other: impl Fn(&u8) -> bool) -> bool {
    text.iter().any(wanted) && !text.iter().any(other)
}

fn in_title_case(text: &[u8]) -> bool {
    let (mut inside, mut words) = (false, false);
    for byte in text {
        if byte.is_ascii_alphabetic() && inside == byte.is_ascii_uppercase() {
            return false;
        }
        inside = byte.is_ascii_alphabetic();
        words |= inside;
    }
    words
}

const CAPITALIZED: Case = Case {
    ascii: <[u8]>::make_ascii_lowercase,
    placed: Some(|text| text.iter_mut().take(1).for_each(|first| first.make_ascii_uppercase())),
    any: capitalized,
};

const TITLED: Case = Case {
    ascii: <[u8]>::make_ascii_lowercase,
    placed: Some(|text| {
        let mut inside = false;
        for byte in text {
            if !std::mem::replace(&mut inside, byte.is_ascii_alphabetic()) {
                byte.make_ascii_uppercase();
            }
        }
    }),
    any: titled,
};

const SWAPPED: Case = Case {
    ascii: |text| text.iter_mut().for_each(|byte| *byte ^= u8::from(byte.is_ascii_alphabetic()) << 5),
    placed: None,
    any: swapped,
};

const FOLDED: Case = Case { ascii: <[u8]>::make_ascii_lowercase, placed: None, any: casefolded };

pub(super) fn capitalized(text: &str) -> String {
    let mut first = true;
    recased(text, |c, lower, out| if std::mem::take(&mut first) { push_title(c, out) } else { out.push_str(lower) })
}

pub(super) fn titled(text: &str) -> String {
    let mut inside = false;
    recased(text, |c, lower, out| {
        if inside {
            out.push_str(lower)
        } else {
            push_title(c, out)
        }
        inside = c.is_lowercase() || c.is_uppercase() || title_of(c) == Some(c);
    })
}

pub(super) fn swapped(text: &str) -> String {
    recased(text, |c, lower, out| match c {
        _ if c.is_uppercase() => out.push_str(lower),
        _ if c.is_lowercase() => out.extend(c.to_uppercase()),
        _ => out.push(c),
    })
}

/// The text that `f` makes of each character and its lower case where it stands, so that a final sigma has its form.
fn recased(text: &str, mut f: impl FnMut(char, &str, &mut String)) -> String {
    let lower = text.to_lowercase();
    let (mut at, mut out) = (0, String::with_capacity(text.len()));
    for c in text.chars() {
        // Both forms of the small sigma have two bytes, so that lengths do not depend on the context.
        let end = at + c.to_lowercase().map(char::len_utf8).sum::<usize>();
        f(c, &lower[at..end], &mut out);
        at = end;
    }
    out
}

/// Appends the title case of a character: `UnicodeData.txt` and `SpecialCasing.txt` by rule.
fn push_title(c: char, out: &mut String) {
    if let Some(c) = title_of(c) {
        return out.push(c);
    }
    let upper: Vec<char> = c.to_uppercase().collect();
    let with_iota = matches!(u32::from(c), 0x1FB2..=0x1FF7);
    for (i, c) in upper.into_iter().enumerate() {
        match c {
            // Greek letters with an iota below keep it there.
            '\u{399}' if with_iota && i > 0 => out.push('\u{345}'),
            // The letter behind an apostrophe that is part of U+0149 stays in upper case.
            _ if i == 0 || with_iota || c == 'N' => out.push(c),
            _ => out.extend(c.to_lowercase()),
        }
    }
}

/// The title case of a character that has one of its own, neither its upper case nor the beginning of it.
fn title_of(c: char) -> Option<char> {
    let code = u32::from(c);
    let title = match code {
        0x1C4..=0x1CC => 0x1C5 + (code - 0x1C4) / 3 * 3,
        0x1F1..=0x1F3 => 0x1F2,
        0x10D0..=0x10FA | 0x10FD..=0x10FF => code,
        0x1F80..=0x1FAF => code | 8,
        0x1FB3 | 0x1FBC | 0x1FC3 | 0x1FCC | 0x1FF3 | 0x1FFC => code & !0xF | 0xC,
        _ => return None,
    };
    char::from_u32(title)
}

pub(super) fn casefolded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() { out.push(c.to_ascii_lowercase()) } else { out.extend(folded(c)) }
    }
    out
}

/// The full case folding of a character: `CaseFolding.txt` by rule.
fn folded(c: char) -> impl Iterator<Item = char> {
    let fold = match u32::from(c) {
        // Cherokee folds to its older letters, which are in upper case.
        code @ 0x13F8..=0x13FD => char::from_u32(code - 8),
        code @ 0xAB70..=0xABBF => char::from_u32(code - 0xAB70 + 0x13A0),
        0x131 | 0x13A0..=0x13F5 => Some(c),
        _ => None,
    };
    let by_rule = fold.is_none().then(|| c.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase));
    fold.into_iter().chain(by_rule.into_iter().flatten())
}
