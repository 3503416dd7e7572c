//! Ops on strings: each string on its own, case, white space, parts.
//!
//! A string is Unicode: characters are code points, and no op cuts one. Ops that look at bytes alone take tensors of bytes too.

mod case;
mod composed;
mod convert;
mod each;
mod edits;
mod encode;
mod extract;
mod hash;
mod join;
mod letters;
mod pattern;
mod split;
mod texts;
mod unicode;

pub use composed::*;
pub(super) use convert::write_number;
pub use convert::*;
pub use each::*;
pub use edits::*;
pub use encode::*;
pub use extract::*;
pub(super) use hash::bucket;
pub use hash::*;
pub use join::*;
pub use letters::*;
pub use pattern::*;
pub use split::*;
pub use unicode::*;

use super::args::{data, one_tensor, spec_of, tensor_spec};
use super::elementwise_text::each_bit;
use super::sorting::indices;
use crate::attrs::{AttrSet, Attrs};
use crate::kernels::gather::text_lengths;
use crate::offsets::with_offsets;
use crate::op::{Class, Fact, OpDef, OutputSpecs};
use crate::tensor::{Dense, Tensor};
use crate::threads::{pieces, side_by_side};
use crate::value::{Outputs, Value};
use case::{Case, in_case};
use extenso_types::{DType, Error, LeafSpec, Result, TensorSpec};
use memchr::memmem::Finder;
use texts::mapped;

crate::attrs! {
    /// The attributes of `string_length`.
    pub struct StringLength { unit: String = "char".to_string() }
    /// The attributes of `strip`, `lstrip` and `rstrip`.
    pub struct Strip { chars: Option<String> = None }
    /// A text that is looked for as it stands.
    pub struct Literally { pattern: String }
    /// The attributes of `substr`.
    pub struct Substr { start: i64, length: Option<i64> = None, unit: String = "char".to_string() }
}

crate::ops! {
    /// Ops on strings.
    pub static TEXT;

    /// The length of each string in Unicode characters (`unit="char"`) or bytes (`unit="byte"`), as i64.
    ///
    /// Errors: another unit; characters of a tensor of bytes.
    STRING_LENGTH: string_length(x; StringLength { unit: String }) = OpDef::general(Class::UnaryElementwise, infer_length, run_length)
        .examples(&[("string_length([\"a\", \"größe\"])", "[1, 5]")]);

    /// Upper case by the full Unicode mapping, which can lengthen a string.
    UPPER: upper(x) = OpDef::general(Class::UnaryElementwise, infer_string, |args, _, _| in_case(data(args, 0)?, &UPPER_CASE))
        .facts(&[Fact::Idempotent])
        .alias_tf("strings.upper")
        .examples(&[("upper([\"straße\", \"A\"])", "[\"STRASSE\", \"A\"]")]);

    /// Lower case by the full Unicode mapping, final sigma included.
    LOWER: lower(x) = OpDef::general(Class::UnaryElementwise, infer_string, |args, _, _| in_case(data(args, 0)?, &LOWER_CASE))
        .facts(&[Fact::Idempotent])
        .alias_tf("strings.lower")
        .examples(&[("lower([\"ABC\", \"ΟΔΟΣ\"])", "[\"abc\", \"οδος\"]")]);

    /// Each string without the characters at both ends that are in `chars`; without `chars`, without Unicode white space there.
    ///
    /// Errors: bytes.
    STRIP: strip(x; Strip { chars: Option<String> }) = OpDef::general(Class::UnaryElementwise, infer_string, |args, attrs, _| stripped(args, attrs, true, true))
        .facts(&[Fact::Idempotent])
        .alias_tf("strings.strip")
        .examples(&[("strip([\" a b\", \"c\u{3000}\"])", "[\"a b\", \"c\"]"), ("strip([\"..a.b;\"], chars=\".;\")", "[\"a.b\"]")]);

    /// Each string without the characters in front that are in `chars`; without `chars`, without Unicode white space there.
    ///
    /// Errors: bytes.
    LSTRIP: lstrip(x; Strip { chars: Option<String> }) = OpDef::general(Class::UnaryElementwise, infer_string, |args, attrs, _| stripped(args, attrs, true, false))
        .facts(&[Fact::Idempotent])
        .examples(&[("lstrip([\"  a \", \"b\"])", "[\"a \", \"b\"]")]);

    /// Each string without the characters behind that are in `chars`; without `chars`, without Unicode white space there.
    ///
    /// Errors: bytes.
    RSTRIP: rstrip(x; Strip { chars: Option<String> }) = OpDef::general(Class::UnaryElementwise, infer_string, |args, attrs, _| stripped(args, attrs, false, true))
        .facts(&[Fact::Idempotent])
        .examples(&[("rstrip([\" a  \", \"b\"])", "[\" a\", \"b\"]")]);

    /// Whether each string begins with `pattern`, which stands for itself. Bytes are compared with its UTF-8.
    STARTS_WITH: starts_with(x; Literally { pattern: String }) = OpDef::general(Class::UnaryElementwise, infer_bool, |args, attrs, _| tested(args, attrs, <[u8]>::starts_with))
        .examples(&[("starts_with([\"abc\", \"cab\", \"\"], \"ab\")", "[True, False, False]")]);

    /// Whether each string ends with `pattern`, which stands for itself. Bytes are compared with its UTF-8.
    ENDS_WITH: ends_with(x; Literally { pattern: String }) = OpDef::general(Class::UnaryElementwise, infer_bool, |args, attrs, _| tested(args, attrs, <[u8]>::ends_with))
        .examples(&[("ends_with([\"abc\", \"cab\", \"\"], \"ab\")", "[False, True, False]")]);

    /// Whether `pattern`, which stands for itself, is somewhere in each string. Bytes are compared with its UTF-8.
    CONTAINS: contains(x; Literally { pattern: String }) = OpDef::general(Class::UnaryElementwise, infer_bool, run_contains)
        .examples(&[("contains([\"abc\", \"cab\", \"a b\"], \"ab\")", "[True, True, False]")]);

    /// The part of each string from `start`, of `length` characters (`unit="char"`) or bytes (`unit="byte"`).
    ///
    /// A negative `start` counts from the end, and one beyond the string is moved to it, as Python's slices do; a string
    /// that is too short gives what is there. Bytes are cut out of tensors of bytes alone: a part of a string's bytes may be no string.
    /// Errors: a negative length; another unit; characters of bytes; bytes of a string.
    SUBSTR: substr(x; Substr { start: i64, length: Option<i64>, unit: String }) = OpDef::general(Class::UnaryElementwise, infer_substr, run_substr)
        .examples(&[("substr([\"größe\", \"ab\"], 2, 2)", "[\"öß\", \"\"]"), ("substr([\"größe\", \"ab\"], -3)", "[\"öße\", \"ab\"]")]);

    /// The characters of each string, or the bytes of each byte string, from the last to the first.
    STRING_REVERSE: string_reverse(x) = OpDef::general(Class::UnaryElementwise, infer_text, run_reverse)
        .facts(&[Fact::Involution])
        .examples(&[("string_reverse([\"abc\", \"größe\"])", "[\"cba\", \"eßörg\"]")]);
}

/// The spec of the first argument, which is strings or bytes.
fn text_spec(args: &[LeafSpec]) -> Result<&TensorSpec> {
    let spec = spec_of(args, 0)?;
    match spec.dtype {
        DType::String | DType::Bytes => Ok(spec),
        other => Err(Error::dtype(format!("the op does not take {other}")).wanted("strings")),
    }
}

/// The spec of the first argument, which is strings.
fn string_spec(args: &[LeafSpec]) -> Result<&TensorSpec> {
    let spec = text_spec(args)?;
    if spec.dtype == DType::String {
        return Ok(spec);
    }
    Err(Error::dtype("the op does not take bytes").wanted("strings"))
}

fn infer_text(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    let spec = text_spec(args)?;
    Ok(tensor_spec(spec.dtype, spec.shape.clone()))
}

fn infer_string(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    Ok(tensor_spec(DType::String, string_spec(args)?.shape.clone()))
}

fn infer_bool(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    Ok(tensor_spec(DType::Bool, text_spec(args)?.shape.clone()))
}

/// Whether the unit is a character; false for a byte.
///
/// Errors: another unit; characters of bytes.
fn in_chars(unit: &str, dtype: DType) -> Result<bool> {
    match (unit, dtype) {
        ("byte", _) => Ok(false),
        ("char", DType::String) => Ok(true),
        ("char", _) => Err(Error::dtype("bytes have no characters").wanted("strings").hint("Or write `unit='byte'`.")),
        (other, _) => Err(Error::value(format!("the unit is '{other}'")).wanted("'char' or 'byte'")),
    }
}

fn infer_length(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let spec = text_spec(args)?;
    in_chars(&StringLength::of(attrs)?.unit, spec.dtype)?;
    Ok(tensor_spec(DType::I64, spec.shape.clone()))
}

fn run_length(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let x = data(args, 0)?;
    let chars = in_chars(&StringLength::of(attrs)?.unit, x.dtype())?;
    let (offsets, bytes) = x.text()?;
    if chars && !bytes.as_slice()[offsets.first()..offsets.last()].is_ascii() {
        let length = |i: usize| Ok(i64::try_from(x.str_at(i)?.chars().count()).unwrap_or(i64::MAX));
        return one_tensor(numbers(x.dims(), length)?);
    }
    one_tensor(indices(x.dims().into(), |out| {
        let part = out.len().div_ceil(pieces(out.len())).max(1);
        let parts = out.chunks_mut(part).enumerate().collect();
        side_by_side(parts, |(at, out): (usize, &mut [i64])| {
            with_offsets!(offsets, o => text_lengths(&o[at * part..=at * part + out.len()], out));
        });
        Ok(())
    })?)
}

/// A number for each element.
///
/// Errors: the first of `f`.
fn numbers(dims: &[usize], f: impl Fn(usize) -> Result<i64> + Sync) -> Result<Tensor> {
    indices(dims.into(), |out| {
        let part = out.len().div_ceil(pieces(out.len())).max(1);
        let parts = out.chunks_mut(part).enumerate().collect();
        let done = side_by_side(parts, |(at, out): (usize, &mut [i64])| {
            (at * part..).zip(out).try_for_each(|(i, out)| f(i).map(|number| *out = number))
        });
        done.into_iter().collect()
    })
}

const UPPER_CASE: Case = Case { ascii: <[u8]>::make_ascii_uppercase, placed: None, any: str::to_uppercase };
const LOWER_CASE: Case = Case { ascii: <[u8]>::make_ascii_lowercase, placed: None, any: str::to_lowercase };

fn stripped(args: &[Value], attrs: &dyn AttrSet, front: bool, back: bool) -> Result<Outputs> {
    let chars = Strip::of(attrs)?.chars.as_deref();
    let goes = |c: char| chars.map_or(c.is_whitespace(), |chars| chars.contains(c));
    let x = data(args, 0)?;
    let mut is_ascii_that_goes = [false; 256];
    (0..128_u8).for_each(|byte| is_ascii_that_goes[usize::from(byte)] = goes(char::from(byte)));
    let stays = |byte: &u8| !is_ascii_that_goes[usize::from(*byte)];
    mapped(x, |i, out| {
        let text = x.text_at(i)?;
        let from = if front { text.iter().position(stays).unwrap_or(text.len()) } else { 0 };
        let to = if back { text.iter().rposition(stays).map_or(from, |last| last + 1) } else { text.len() };
        let text = &text[from..to];
        if text.is_ascii() {
            return out.push(text);
        }
        let text = x.str_at(i)?;
        let text = if front { text.trim_start_matches(goes) } else { text };
        out.push(if back { text.trim_end_matches(goes) } else { text }.as_bytes())
    })
}

/// A boolean for each element.
fn bits(x: &Dense, holds: impl Fn(usize) -> Result<bool> + Sync) -> Result<Outputs> {
    one_tensor(Tensor::from_bits(x.dims(), each_bit(x.len(), holds)?)?)
}

fn tested(args: &[Value], attrs: &dyn AttrSet, holds: fn(&[u8], &[u8]) -> bool) -> Result<Outputs> {
    let (x, pattern) = (data(args, 0)?, Literally::of(attrs)?.pattern.as_bytes());
    bits(x, |i| Ok(holds(x.text_at(i)?, pattern)))
}

fn run_contains(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, finder) = (data(args, 0)?, Finder::new(&Literally::of(attrs)?.pattern));
    bits(x, |i| Ok(finder.find(x.text_at(i)?).is_some()))
}

fn infer_substr(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let (spec, Substr { length, unit, .. }) = (text_spec(args)?, Substr::of(attrs)?);
    if !in_chars(unit, spec.dtype)? && spec.dtype == DType::String {
        return Err(Error::dtype("a part of the bytes of a string may be no string")
            .wanted("bytes, for `unit='byte'`")
            .hint("Or count characters: `unit='char'`, which takes strings."));
    }
    if let Some(length) = length.filter(|length| *length < 0) {
        return Err(Error::value(format!("the length is {length}")).wanted("a length that is not negative"));
    }
    Ok(tensor_spec(spec.dtype, spec.shape.clone()))
}

fn run_substr(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let x = data(args, 0)?;
    let Substr { start, length, unit } = Substr::of(attrs)?;
    let length = length.map_or(usize::MAX, |length| usize::try_from(length).unwrap_or(usize::MAX));
    if in_chars(unit, x.dtype())? {
        return mapped(x, |i, out| out.push(part(x.str_at(i)?, *start, length).as_bytes()));
    }
    mapped(x, |i, out| {
        let text = x.text_at(i)?;
        let from = place(*start, text.len());
        out.push(&text[from..from.saturating_add(length).min(text.len())])
    })
}

/// The place that a start means among `n` items.
fn place(start: i64, n: usize) -> usize {
    let size = usize::try_from(start.unsigned_abs()).unwrap_or(usize::MAX);
    if start < 0 { n.saturating_sub(size) } else { size.min(n) }
}

fn part(text: &str, start: i64, length: usize) -> &str {
    let steps = usize::try_from(start.unsigned_abs()).unwrap_or(usize::MAX);
    let from = match (start < 0, steps) {
        (false, steps) => nth(text, steps),
        (true, steps) => text.char_indices().rev().nth(steps - 1).map_or(0, |(at, _)| at),
    };
    let rest = &text[from..];
    &rest[..nth(rest, length)]
}

/// Where character `n` begins; the end if there are fewer.
fn nth(text: &str, n: usize) -> usize {
    // A text has no more characters than bytes, so that no character needs a look.
    if n >= text.len() { text.len() } else { text.char_indices().nth(n).map_or(text.len(), |(at, _)| at) }
}

fn run_reverse(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let x = data(args, 0)?;
    mapped(x, |i, out| {
        let text = x.text_at(i)?;
        if x.dtype() == DType::String && !text.is_ascii() {
            return out.push(x.str_at(i)?.chars().rev().collect::<String>().as_bytes());
        }
        if let Some(to) = out.place(text.len())? {
            to.copy_from_slice(text);
            to.reverse();
        }
        Ok(())
    })
}
