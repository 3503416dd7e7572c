//! Strings as bytes and bytes as strings: encodings, base64 and hexadecimal digits.
//!
//! Invariant: what was encoded decodes to the same; bytes from outside are checked, and a fault is named with its position.

use super::super::args::{data, tensor_spec};
use super::texts::{Texts, made};
use super::{string_spec, text_spec};
use crate::attrs::{AttrSet, Attrs};
use crate::elementwise::position;
use crate::op::{Class, OpDef, OutputSpecs};
use crate::tensor::Dense;
use crate::value::{Outputs, Value};
use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use extenso_types::{DType, Error, LeafSpec, Result};

crate::attrs! {
    /// The attributes of `string_encode`.
    pub struct Encoding { encoding: String = "utf-8".to_string() }
    /// The attributes of `string_decode`.
    pub struct Decoding { encoding: String = "utf-8".to_string(), errors: String = "strict".to_string() }
    /// The attributes of `base64_encode`.
    pub struct ToBase64 { url: bool = false, pad: bool = true }
    /// The attributes of `base64_decode`.
    pub struct FromBase64 { url: bool = false }
}

crate::ops! {
    /// Ops between strings and bytes.
    pub static TEXT_BYTES;

    /// The bytes of each string in an encoding: `utf-8`, `utf-16-be`, `utf-16-le`, `utf-32-be` or `utf-32-le`, without a mark of the order.
    ///
    /// Errors: another encoding; bytes.
    STRING_ENCODE: string_encode(x; Encoding { encoding: String }) = OpDef::general(Class::UnaryElementwise, infer_encode, run_encode)
        .examples(&[("string_encode([\"größe\", \"\"])", "hex_decode([\"6772c3b6c39f65\", \"\"])"), ("string_encode([\"ab\"], \"utf-16-le\")", "hex_decode([\"61006200\"])")]);

    /// The string of each of some bytes in an encoding: `utf-8`, `utf-16-be`, `utf-16-le`, `utf-32-be` or `utf-32-le`.
    ///
    /// What is no text is an error (`errors="strict"`), becomes U+FFFD (`"replace"`), or is left out (`"ignore"`). A mark of the order
    /// is a character like others. Errors: bytes that are no text, with their position; another encoding; strings.
    STRING_DECODE: string_decode(x; Decoding { encoding: String, errors: String }) = OpDef::general(Class::UnaryElementwise, infer_decode, run_decode)
        .examples(&[("string_decode(hex_decode([\"c3b6\", \"61\"]))", "[\"ö\", \"a\"]"), ("string_decode(hex_decode([\"61ff62\"]), errors=\"ignore\")", "[\"ab\"]")]);

    /// The bytes of each string, or of each byte string, in base64; with the letters for addresses (`url=True`), or without padding (`pad=False`).
    BASE64_ENCODE: base64_encode(x; ToBase64 { url: bool, pad: bool }) = OpDef::general(Class::UnaryElementwise, infer_to_digits, run_to_base64)
        .examples(&[("base64_encode([\"a\", \"größe\", \"\"])", "[\"YQ==\", \"Z3LDtsOfZQ==\", \"\"]"), ("base64_encode([\"a>?\", \"a\"], url=True, pad=False)", "[\"YT4_\", \"YQ\"]")]);

    /// The bytes that each string is in base64, padded or not; with the letters for addresses if `url=True`.
    ///
    /// Errors: a string that is no base64, with its position.
    BASE64_DECODE: base64_decode(x; FromBase64 { url: bool }) = OpDef::general(Class::UnaryElementwise, infer_from_digits, run_from_base64)
        .examples(&[("base64_decode([\"YQ==\", \"YQ\", \"\"])", "string_encode([\"a\", \"a\", \"\"])")]);

    /// The bytes of each string, or of each byte string, as two hexadecimal digits each, in lower case.
    HEX_ENCODE: hex_encode(x) = OpDef::general(Class::UnaryElementwise, infer_to_digits, run_to_hex)
        .examples(&[("hex_encode([\"az\", \"ö\", \"\"])", "[\"617a\", \"c3b6\", \"\"]")]);

    /// The bytes that each string is in hexadecimal digits, of lower or upper case.
    ///
    /// Errors: a string that is no pairs of hexadecimal digits, with its position.
    HEX_DECODE: hex_decode(x) = OpDef::general(Class::UnaryElementwise, infer_from_digits, run_from_hex)
        .examples(&[("hex_decode([\"617A\", \"\"])", "string_encode([\"az\", \"\"])")]);
}

/// An encoding: the bytes of a unit, and whether the high byte is first.
#[derive(Clone, Copy)]
enum Units {
    Bytes,
    Pairs { high_first: bool },
    Fours { high_first: bool },
}

/// The encoding of a name.
///
/// Errors: another name.
fn units(name: &str) -> Result<Units> {
    match name {
        "utf-8" => Ok(Units::Bytes),
        "utf-16-be" => Ok(Units::Pairs { high_first: true }),
        "utf-16-le" => Ok(Units::Pairs { high_first: false }),
        "utf-32-be" => Ok(Units::Fours { high_first: true }),
        "utf-32-le" => Ok(Units::Fours { high_first: false }),
        other => Err(Error::value(format!("the encoding is '{other}'"))
            .wanted("'utf-8', 'utf-16-be', 'utf-16-le', 'utf-32-be' or 'utf-32-le'")),
    }
}

fn infer_encode(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    units(&Encoding::of(attrs)?.encoding)?;
    Ok(tensor_spec(DType::Bytes, string_spec(args)?.shape.clone()))
}

fn run_encode(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, units) = (data(args, 0)?, units(&Encoding::of(attrs)?.encoding)?);
    made(DType::Bytes, x.dims(), |i, out| {
        write_encoded(x.str_at(i)?, units, out)?;
        out.end()
    })
}

fn write_encoded(text: &str, units: Units, out: &mut Texts) -> Result<()> {
    match units {
        Units::Bytes => out.write(text.as_bytes()),
        Units::Pairs { high_first } => text
            .encode_utf16()
            .try_for_each(|unit| out.write(&if high_first { unit.to_be_bytes() } else { unit.to_le_bytes() })),
        Units::Fours { high_first } => text
            .chars()
            .map(u32::from)
            .try_for_each(|unit| out.write(&if high_first { unit.to_be_bytes() } else { unit.to_le_bytes() })),
    }
}

/// What comes of bytes that are no text.
#[derive(Clone, Copy, PartialEq)]
enum Faults {
    Error,
    Replace,
    Ignore,
}

fn faults(name: &str) -> Result<Faults> {
    match name {
        "strict" => Ok(Faults::Error),
        "replace" => Ok(Faults::Replace),
        "ignore" => Ok(Faults::Ignore),
        other => Err(Error::value(format!("errors is '{other}'")).wanted("'strict', 'replace' or 'ignore'")),
    }
}

fn infer_decode(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let (spec, decoding) = (text_spec(args)?, Decoding::of(attrs)?);
    units(&decoding.encoding)?;
    faults(&decoding.errors)?;
    if spec.dtype != DType::Bytes {
        return Err(Error::dtype("the op does not take strings").wanted("bytes: strings are decoded already"));
    }
    Ok(tensor_spec(DType::String, spec.shape.clone()))
}

fn run_decode(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, decoding) = (data(args, 0)?, Decoding::of(attrs)?);
    let (units, faults) = (units(&decoding.encoding)?, faults(&decoding.errors)?);
    made(DType::String, x.dims(), |i, out| {
        let faultless = decoded(x.text_at(i)?, units, |part| match part {
            Some(text) => out.write(text.as_bytes()).map(|()| true),
            None if faults == Faults::Error => Ok(false),
            None if faults == Faults::Replace => out.write("\u{FFFD}".as_bytes()).map(|()| true),
            None => Ok(true),
        })?;
        if !faultless {
            return Err(no_text(&decoding.encoding, i, x));
        }
        out.end()
    })
}

fn no_text(encoding: &str, i: usize, x: &Dense) -> Error {
    Error::value(format!("the bytes at position {:?} are no text in {encoding}", position(i, x.dims())))
        .wanted("bytes of that encoding")
        .hint("Or say what is to come of such bytes: `errors='replace'` or `errors='ignore'`.")
}

/// Calls `f` with the parts of a text, none for each fault, until it answers false; whether it never did.
fn decoded(bytes: &[u8], units: Units, mut f: impl FnMut(Option<&str>) -> Result<bool>) -> Result<bool> {
    match units {
        Units::Bytes => {
            for chunk in bytes.utf8_chunks() {
                if !f(Some(chunk.valid()))? || !chunk.invalid().is_empty() && !f(None)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Units::Pairs { high_first } => {
            let (pairs, rest) = bytes.as_chunks::<2>();
            let units = pairs.iter().map(|&b| if high_first { u16::from_be_bytes(b) } else { u16::from_le_bytes(b) });
            each(char::decode_utf16(units).map(std::result::Result::ok), rest, f)
        }
        Units::Fours { high_first } => {
            let (fours, rest) = bytes.as_chunks::<4>();
            let units = fours.iter().map(|&b| if high_first { u32::from_be_bytes(b) } else { u32::from_le_bytes(b) });
            each(units.map(char::from_u32), rest, f)
        }
    }
}

/// Calls `f` with each character, none for a fault; bytes that make no whole unit are one.
fn each(
    chars: impl Iterator<Item = Option<char>>,
    rest: &[u8],
    mut f: impl FnMut(Option<&str>) -> Result<bool>,
) -> Result<bool> {
    for c in chars.chain((!rest.is_empty()).then_some(None)) {
        let mut bytes = [0; 4];
        if !f(c.map(|c| &*c.encode_utf8(&mut bytes)))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Strings of letters and digits for strings or bytes.
fn infer_to_digits(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    Ok(tensor_spec(DType::String, text_spec(args)?.shape.clone()))
}

/// Bytes for strings of letters and digits.
fn infer_from_digits(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    Ok(tensor_spec(DType::Bytes, string_spec(args)?.shape.clone()))
}

fn base64(url: bool, pad: bool) -> GeneralPurpose {
    let config =
        GeneralPurposeConfig::new().with_encode_padding(pad).with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(if url { &URL_SAFE } else { &STANDARD }, config)
}

fn run_to_base64(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, ToBase64 { url, pad }) = (data(args, 0)?, ToBase64::of(attrs)?);
    let engine = base64(*url, *pad);
    made(DType::String, x.dims(), |i, out| out.push(engine.encode(x.text_at(i)?).as_bytes()))
}

fn run_from_base64(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, engine) = (data(args, 0)?, base64(FromBase64::of(attrs)?.url, true));
    made(DType::Bytes, x.dims(), |i, out| {
        let read = engine.decode(x.text_at(i)?);
        out.push(&read.map_err(|e| no_digits("base64", &e.to_string(), i, x))?)
    })
}

fn no_digits(what: &str, why: &str, i: usize, x: &Dense) -> Error {
    Error::value(format!("the string at position {:?} is no {what}: {why}", position(i, x.dims())))
        .wanted(format!("the text of bytes in {what}"))
}

fn run_to_hex(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let x = data(args, 0)?;
    made(DType::String, x.dims(), |i, out| {
        let pair = |byte: &u8| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
        x.text_at(i)?.iter().try_for_each(|byte| out.write(&pair(byte)))?;
        out.end()
    })
}

fn run_from_hex(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let x = data(args, 0)?;
    made(DType::Bytes, x.dims(), |i, out| {
        let (pairs, rest) = x.text_at(i)?.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(no_digits("hex", "the number of digits is odd", i, x));
        }
        for [high, low] in pairs {
            let byte = digit(*high).zip(digit(*low)).map(|(high, low)| high << 4 | low);
            out.write(&[byte.ok_or_else(|| no_digits("hex", "a character is no digit of it", i, x))?])?;
        }
        out.end()
    })
}

/// The value of a hexadecimal digit.
fn digit(c: u8) -> Option<u8> {
    char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}
