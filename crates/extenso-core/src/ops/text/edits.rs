//! Finding, replacing and filling up: ops on strings whose patterns stand for themselves.
//!
//! Invariant: positions and widths are in characters for strings and in bytes for bytes; no op cuts a character.

use super::super::args::{data, one_tensor, tensor_spec};
use super::texts::{ITEM, Texts, bytes_of, grown, mapped, parts};
use super::{in_chars, infer_string, infer_text, nth, part, place, string_spec, text_spec};
use crate::attrs::{AttrSet, Attrs};
use crate::elementwise::position;
use crate::kernels::pool::affordable;
use crate::op::{Class, Fact, OpDef, OutputSpecs};
use crate::tensor::{Dense, Tensor};
use crate::threads::side_by_side;
use crate::value::{Outputs, Value};
use extenso_types::{DType, Error, LeafSpec, Result};
use memchr::memmem::{Finder, FinderRev};

crate::attrs! {
    /// The attributes of `string_replace`.
    pub struct ReplaceText { old: String, new: String, count: i64 = -1 }
    /// The attributes of `string_count`.
    pub struct CountText { pattern: String }
    /// The attributes of `string_find`, `string_rfind` and `string_index`.
    pub struct FindText { pattern: String, unit: String = "char".to_string() }
    /// The attributes of `removeprefix`.
    pub struct Prefix { prefix: String }
    /// The attributes of `removesuffix`.
    pub struct Suffix { suffix: String }
    /// The attributes of `string_slice`.
    pub struct SliceText { start: Option<i64> = None, stop: Option<i64> = None, step: i64 = 1, unit: String = "char".to_string() }
    /// The attributes of `string_replace_slice`.
    pub struct ReplaceSlice { start: i64, stop: i64, new: String, unit: String = "char".to_string() }
    /// The attributes of `string_repeat`.
    pub struct RepeatText { count: i64 }
    /// The attributes of `ljust`, `rjust` and `center`.
    pub struct Justify { width: i64, fill: String = " ".to_string() }
    /// The attributes of `zfill`.
    pub struct ZeroFill { width: i64 }
}

crate::ops! {
    /// Ops that find, replace and fill up.
    pub static TEXT_EDITS;

    /// Each string with `new` for `old`, which stands for itself: everywhere from the front, or at most `count` times if that is not negative.
    ///
    /// Errors: an empty `old`.
    STRING_REPLACE: string_replace(x; ReplaceText { old: String, new: String, count: i64 }) = OpDef::general(Class::UnaryElementwise, infer_replace, run_replace)
        .examples(&[("string_replace([\"a.b.c\", \"b\"], \".\", \"--\")", "[\"a--b--c\", \"b\"]"), ("string_replace([\"aaa\"], \"a\", \"\", count=2)", "[\"a\"]")]);

    /// How often `pattern`, which stands for itself, is in each string without overlap, as i64.
    ///
    /// An empty pattern is in front of each character and at the end.
    STRING_COUNT: string_count(x; CountText { pattern: String }) = OpDef::general(Class::UnaryElementwise, infer_count, run_count)
        .examples(&[("string_count([\"banana\", \"\"], \"an\")", "[2, 0]"), ("string_count([\"aaa\"], \"aa\")", "[1]")]);

    /// Where `pattern`, which stands for itself, first is in each string, in characters (`unit="char"`) or bytes (`unit="byte"`), as i64.
    ///
    /// Where it is not, -1. Errors: another unit; characters of bytes.
    STRING_FIND: string_find(x; FindText { pattern: String, unit: String }) = OpDef::general(Class::UnaryElementwise, infer_find, run_find)
        .examples(&[("string_find([\"größe\", \"ab\"], \"ße\")", "[3, -1]"), ("string_find([\"größe\"], \"ße\", unit=\"byte\")", "[4]")]);

    /// Where `pattern`, which stands for itself, last is in each string, in characters (`unit="char"`) or bytes (`unit="byte"`), as i64.
    ///
    /// Where it is not, -1. Errors: another unit; characters of bytes.
    STRING_RFIND: string_rfind(x; FindText { pattern: String, unit: String }) = OpDef::general(Class::UnaryElementwise, infer_find, run_rfind)
        .examples(&[("string_rfind([\"a/b/c\", \"a\"], \"/\")", "[3, -1]")]);

    /// Where `pattern`, which stands for itself, first is in each string, in characters (`unit="char"`) or bytes (`unit="byte"`), as i64.
    ///
    /// Errors: a string without it, with its position; another unit; characters of bytes.
    STRING_INDEX: string_index(x; FindText { pattern: String, unit: String }) = OpDef::general(Class::UnaryElementwise, infer_find, run_index)
        .examples(&[("string_index([\"k=v\", \"key=\"], \"=\")", "[1, 3]")]);

    /// Each string without `prefix` in front, once; a string that does not begin with it stays.
    REMOVEPREFIX: removeprefix(x; Prefix { prefix: String }) = OpDef::general(Class::UnaryElementwise, infer_text, run_removeprefix)
        .examples(&[("removeprefix([\"id_7\", \"7\", \"id_id_\"], \"id_\")", "[\"7\", \"7\", \"id_\"]")]);

    /// Each string without `suffix` behind, once; a string that does not end with it stays.
    REMOVESUFFIX: removesuffix(x; Suffix { suffix: String }) = OpDef::general(Class::UnaryElementwise, infer_text, run_removesuffix)
        .examples(&[("removesuffix([\"7 kg\", \"7\"], \" kg\")", "[\"7\", \"7\"]")]);

    /// Every `step`-th character of each string (`unit="char"`) or byte of each byte string (`unit="byte"`) from `start` to before `stop`.
    ///
    /// The rules are those of Python's slices: negative places count from the end, what is not there is left out, and a negative step
    /// goes backwards. Errors: a step of zero; another unit; characters of bytes; bytes of a string.
    STRING_SLICE: string_slice(x; SliceText { start: Option<i64>, stop: Option<i64>, step: i64, unit: String }) = OpDef::general(Class::UnaryElementwise, infer_slice, run_slice)
        .examples(&[("string_slice([\"größe\", \"a\"], 1, -1)", "[\"röß\", \"\"]"), ("string_slice([\"abcdef\"], step=-2)", "[\"fdb\"]")]);

    /// Each string with `new` in the place of its characters (`unit="char"`) or bytes (`unit="byte"`) from `start` to before `stop`.
    ///
    /// Places are those of Python's slices: negative ones count from the end, and where `stop` is not behind `start`, `new` is put in
    /// at `start`. Errors: another unit; characters of bytes; bytes of a string.
    STRING_REPLACE_SLICE: string_replace_slice(x; ReplaceSlice { start: i64, stop: i64, new: String, unit: String }) = OpDef::general(Class::UnaryElementwise, infer_replace_slice, run_replace_slice)
        .examples(&[("string_replace_slice([\"größe\", \"a\"], 1, 3, \"--\")", "[\"g--ße\", \"a--\"]"), ("string_replace_slice([\"abc\"], -1, -2, \"+\")", "[\"ab+c\"]")]);

    /// Each string `count` times in a row. Errors: a negative count; more memory than the system gives.
    STRING_REPEAT: string_repeat(x; RepeatText { count: i64 }) = OpDef::general(Class::UnaryElementwise, infer_repeat, run_repeat)
        .examples(&[("string_repeat([\"ab\", \"\"], 2)", "[\"abab\", \"\"]")]);

    /// Each string with the character `fill` behind it up to `width` characters; a longer string stays.
    ///
    /// Errors: a negative width; a `fill` that is not one character; bytes.
    LJUST: ljust(x; Justify { width: i64, fill: String }) = OpDef::general(Class::UnaryElementwise, infer_justify, |args, attrs, _| justified(args, attrs, |missing, _| (0, missing)))
        .facts(&[Fact::Idempotent])
        .examples(&[("ljust([\"ab\", \"größer\"], 4, \".\")", "[\"ab..\", \"größer\"]")]);

    /// Each string with the character `fill` in front of it up to `width` characters; a longer string stays.
    ///
    /// Errors: a negative width; a `fill` that is not one character; bytes.
    RJUST: rjust(x; Justify { width: i64, fill: String }) = OpDef::general(Class::UnaryElementwise, infer_justify, |args, attrs, _| justified(args, attrs, |missing, _| (missing, 0)))
        .facts(&[Fact::Idempotent])
        .examples(&[("rjust([\"ab\", \"größer\"], 4, \".\")", "[\"..ab\", \"größer\"]")]);

    /// Each string with the character `fill` on both sides up to `width` characters; a longer string stays.
    ///
    /// An odd one stands in front where the width is odd, and behind otherwise, as of Python's `str.center`.
    /// Errors: a negative width; a `fill` that is not one character; bytes.
    CENTER: center(x; Justify { width: i64, fill: String }) = OpDef::general(Class::UnaryElementwise, infer_justify, |args, attrs, _| justified(args, attrs, centered))
        .facts(&[Fact::Idempotent])
        .examples(&[("center([\"ab\", \"a\"], 5, \"*\")", "[\"**ab*\", \"**a**\"]")]);

    /// Each string with zeros in front up to `width` characters, behind a sign that it begins with. Errors: a negative width; bytes.
    ZFILL: zfill(x; ZeroFill { width: i64 }) = OpDef::general(Class::UnaryElementwise, infer_zfill, run_zfill)
        .facts(&[Fact::Idempotent])
        .examples(&[("zfill([\"7\", \"-7\", \"+12345\"], 4)", "[\"0007\", \"-007\", \"+12345\"]")]);
}

fn infer_replace(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    if ReplaceText::of(attrs)?.old.is_empty() {
        return Err(Error::value("the text to replace is empty")
            .wanted("a text of at least one character")
            .hint("`regex_replace(x, '', new)` writes between all characters."));
    }
    infer_text(args, attrs)
}

fn run_replace(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, ReplaceText { old, new, count }) = (data(args, 0)?, ReplaceText::of(attrs)?);
    let (finder, most) = (Finder::new(old), usize::try_from(*count).unwrap_or(usize::MAX));
    let bytes = bytes_of(x)?;
    let finds = (bytes / old.len().max(1)).saturating_add(x.len()).min(x.len().saturating_mul(most));
    grown(x.dtype(), x.dims(), finds.saturating_mul(new.len()).saturating_add(bytes), |i, out| {
        let (text, mut end) = (x.text_at(i)?, 0);
        for at in finder.find_iter(text).take(most) {
            out.write(&text[end..at])?;
            out.write(new.as_bytes())?;
            end = at + old.len();
        }
        out.push(&text[end..])
    })
}

/// An integer for each text.
pub(super) fn integers(x: &Dense, f: impl Fn(usize) -> Result<i64> + Sync) -> Result<Outputs> {
    let made = side_by_side(parts(x.len(), ITEM), |items| items.map(&f).collect::<Result<Vec<i64>>>());
    let mut made = made.into_iter().collect::<Result<Vec<_>>>()?;
    let integers = if made.len() == 1 { made.remove(0) } else { made.concat() };
    one_tensor(Tensor::from_vec(integers).with_dims(x.dims())?)
}

pub(super) fn int(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn infer_count(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    Ok(tensor_spec(DType::I64, text_spec(args)?.shape.clone()))
}

fn run_count(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, CountText { pattern }) = (data(args, 0)?, CountText::of(attrs)?);
    if pattern.is_empty() && x.dtype() == DType::String {
        return integers(x, |i| Ok(int(x.str_at(i)?.chars().count() + 1)));
    }
    let finder = Finder::new(pattern);
    integers(x, |i| Ok(int(finder.find_iter(x.text_at(i)?).count())))
}

fn infer_find(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let spec = text_spec(args)?;
    in_chars(&FindText::of(attrs)?.unit, spec.dtype)?;
    Ok(tensor_spec(DType::I64, spec.shape.clone()))
}

/// The place of the byte at `at`, in the unit.
pub(super) fn in_unit(x: &Dense, i: usize, at: usize, unit: &str) -> Result<i64> {
    let chars = in_chars(unit, x.dtype())?;
    Ok(int(if chars { x.str_at(i)?[..at].chars().count() } else { at }))
}

fn run_find(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, FindText { pattern, unit }) = (data(args, 0)?, FindText::of(attrs)?);
    let finder = Finder::new(pattern);
    integers(x, |i| finder.find(x.text_at(i)?).map_or(Ok(-1), |at| in_unit(x, i, at, unit)))
}

fn run_rfind(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, FindText { pattern, unit }) = (data(args, 0)?, FindText::of(attrs)?);
    let finder = FinderRev::new(pattern);
    integers(x, |i| finder.rfind(x.text_at(i)?).map_or(Ok(-1), |at| in_unit(x, i, at, unit)))
}

fn run_index(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, FindText { pattern, unit }) = (data(args, 0)?, FindText::of(attrs)?);
    let finder = Finder::new(pattern);
    integers(x, |i| match finder.find(x.text_at(i)?) {
        Some(at) => in_unit(x, i, at, unit),
        None => Err(Error::value(format!("the string at position {:?} is without {pattern:?}", position(i, x.dims())))
            .wanted("the pattern in every string")
            .hint("`string_find` gives -1 where it is not.")),
    })
}

fn run_removeprefix(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, prefix) = (data(args, 0)?, Prefix::of(attrs)?.prefix.as_bytes());
    mapped(x, |i, out| {
        let text = x.text_at(i)?;
        out.push(text.strip_prefix(prefix).unwrap_or(text))
    })
}

fn run_removesuffix(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, suffix) = (data(args, 0)?, Suffix::of(attrs)?.suffix.as_bytes());
    mapped(x, |i, out| {
        let text = x.text_at(i)?;
        out.push(text.strip_suffix(suffix).unwrap_or(text))
    })
}

fn infer_slice(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let SliceText { step, unit, .. } = SliceText::of(attrs)?;
    let specs = infer_parts(args, unit)?;
    if *step == 0 {
        return Err(Error::value("the step is 0").wanted("a step forwards or backwards"));
    }
    Ok(specs)
}

/// Texts of which parts are taken by a unit.
fn infer_parts(args: &[LeafSpec], unit: &str) -> Result<OutputSpecs> {
    let spec = text_spec(args)?;
    if !in_chars(unit, spec.dtype)? && spec.dtype == DType::String {
        return Err(Error::dtype("a part of the bytes of a string may be no string")
            .wanted("bytes, for `unit='byte'`")
            .hint("Or count characters: `unit='char'`, which takes strings."));
    }
    Ok(tensor_spec(spec.dtype, spec.shape.clone()))
}

fn infer_replace_slice(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    infer_parts(args, &ReplaceSlice::of(attrs)?.unit)
}

fn run_replace_slice(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, ReplaceSlice { start, stop, new, unit }) = (data(args, 0)?, ReplaceSlice::of(attrs)?);
    let chars = in_chars(unit, x.dtype())?;
    let size = x.len().saturating_mul(new.len()).saturating_add(bytes_of(x)?);
    grown(x.dtype(), x.dims(), size, |i, out| {
        let text = x.text_at(i)?;
        let (from, to) = if chars {
            let text = x.str_at(i)?;
            // What is before a place, if that counts from the end, is what the rest is behind.
            let at = |place: i64| part(text, place, usize::MAX).len();
            (text.len() - at(*start), text.len() - at(*stop))
        } else {
            (place(*start, text.len()), place(*stop, text.len()))
        };
        out.write(&text[..from])?;
        out.write(new.as_bytes())?;
        out.push(&text[to.max(from)..])
    })
}

fn run_slice(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, slice) = (data(args, 0)?, SliceText::of(attrs)?);
    if !in_chars(&slice.unit, x.dtype())? {
        return mapped(x, |i, out| {
            let text = x.text_at(i)?;
            if slice.step == 1 {
                let (from, to) = ends(slice, text.len());
                return out.push(&text[from..to]);
            }
            places(slice, text.len()).try_for_each(|at| out.write(&text[at..=at]))?;
            out.end()
        });
    }
    mapped(x, |i, out| {
        let text = x.str_at(i)?;
        if slice.step == 1 {
            return out.push(between(slice, text).as_bytes());
        }
        // Where its characters begin, and its end.
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        places(slice, starts.len() - 1).try_for_each(|at| out.write(&text.as_bytes()[starts[at]..starts[at + 1]]))?;
        out.end()
    })
}

/// The characters from one place to another.
fn between<'a>(slice: &SliceText, text: &'a str) -> &'a str {
    // Where both count from the front, what is behind needs no look.
    let from_front = slice.start.is_none_or(|at| at >= 0) && slice.stop.is_some_and(|at| at >= 0);
    let n = if from_front || text.is_ascii() { text.len() } else { text.chars().count() };
    let (from, to) = ends(slice, n);
    let rest = &text[nth(text, from)..];
    &rest[..nth(rest, to - from)]
}

/// The first place that a slice of step 1 takes of `n` items, and the one behind its last.
fn ends(slice: &SliceText, n: usize) -> (usize, usize) {
    let size = int(n);
    let place = |at: i64| if at < 0 { (at.saturating_add(size)).max(0) } else { at.min(size) };
    let (from, to) = (slice.start.map_or(0, place), slice.stop.map_or(size, place));
    (usize::try_from(from).unwrap_or(0), usize::try_from(to.max(from)).unwrap_or(0))
}

/// The places that a slice takes of `n` items, as Python's slices do.
fn places(slice: &SliceText, n: usize) -> impl Iterator<Item = usize> {
    let n = int(n);
    let (low, high) = if slice.step > 0 { (0, n) } else { (-1, n - 1) };
    let place = |at: i64| if at < 0 { (at + n).max(low) } else { at.min(high) };
    let (first, end) = if slice.step > 0 { (low, high) } else { (high, low) };
    let (first, end) = (slice.start.map_or(first, place), slice.stop.map_or(end, place));
    let forwards = slice.step > 0;
    std::iter::successors(Some(first), move |at| at.checked_add(slice.step))
        .take_while(move |at| if forwards { *at < end } else { *at > end })
        .filter_map(|at| usize::try_from(at).ok())
}

fn infer_repeat(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let count = RepeatText::of(attrs)?.count;
    if count < 0 {
        return Err(Error::value(format!("the count is {count}")).wanted("a count that is not negative"));
    }
    infer_text(args, attrs)
}

fn run_repeat(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, count) = (data(args, 0)?, usize::try_from(RepeatText::of(attrs)?.count).unwrap_or(usize::MAX));
    affordable(bytes_of(x)?.saturating_mul(count))?;
    mapped(x, |i, out| {
        out.write_times(x.text_at(i)?, count)?;
        out.end()
    })
}

/// A width, which is not negative.
fn width(width: i64) -> Result<usize> {
    usize::try_from(width)
        .map_err(|_| Error::value(format!("the width is {width}")).wanted("a width that is not negative"))
}

fn infer_justify(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let justify = Justify::of(attrs)?;
    width(justify.width)?;
    if justify.fill.chars().count() != 1 {
        return Err(Error::value(format!("the fill is {:?}", justify.fill)).wanted("one character"));
    }
    infer_string(args, attrs)
}

/// Strings with fills in front and behind; `sides` divides what is missing up to the width.
fn justified(args: &[Value], attrs: &dyn AttrSet, sides: fn(usize, usize) -> (usize, usize)) -> Result<Outputs> {
    let (x, justify) = (data(args, 0)?, Justify::of(attrs)?);
    let (width, fill) = (width(justify.width)?, justify.fill.as_bytes());
    affordable(x.len().saturating_mul(width))?;
    mapped(x, |i, out| {
        let (front, back) = sides(missing(x.str_at(i)?, width), width);
        filled(x.text_at(i)?, (front, back), fill, out)
    })
}

/// The characters that a text is short of a width.
fn missing(text: &str, width: usize) -> usize {
    width.saturating_sub(text.chars().count())
}

fn centered(missing: usize, width: usize) -> (usize, usize) {
    let front = missing / 2 + (missing & width & 1);
    (front, missing - front)
}

fn filled(text: &[u8], (front, back): (usize, usize), fill: &[u8], out: &mut Texts) -> Result<()> {
    out.write_times(fill, front)?;
    out.write(text)?;
    out.write_times(fill, back)?;
    out.end()
}

fn infer_zfill(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    width(ZeroFill::of(attrs)?.width)?;
    let spec = string_spec(args)?;
    Ok(tensor_spec(DType::String, spec.shape.clone()))
}

fn run_zfill(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, width) = (data(args, 0)?, width(ZeroFill::of(attrs)?.width)?);
    affordable(x.len().saturating_mul(width))?;
    mapped(x, |i, out| {
        let text = x.str_at(i)?;
        let (sign, digits) = text.split_at(usize::from(text.starts_with(['+', '-'])));
        out.write(sign.as_bytes())?;
        filled(digits.as_bytes(), (missing(text, width), 0), b"0", out)
    })
}
