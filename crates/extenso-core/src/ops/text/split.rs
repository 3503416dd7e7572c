//! Splitting strings: the pieces of all strings one after the other, and the partition that makes a row of those of each.
//!
//! Invariant: the partition has as many values as there are pieces. Rows are made of both above, in `extenso-ext`.

use super::super::args::{data, one_tensor, tensor_spec};
use super::join::{join, rows_of};
use super::string_spec;
use super::texts::{ITEM, Texts, in_parts, int};
use crate::attrs::{AttrSet, Attrs};
use crate::kernels::marks::Marks;
use crate::kernels::pool::{Block, affordable};
use crate::offsets::Offsets;
use crate::op::{Class, Fact, OpDef, OutputSpecs};
use crate::partition::RowPartition;
use crate::tensor::Dense;
use crate::threads::{pieces as thread_pieces, side_by_side};
use crate::value::{Outputs, Value};
use arrow_buffer::ScalarBuffer;
use extenso_types::{DType, Dim, Error, LeafSpec, PartitionSpec, Result, Shape};
use smallvec::smallvec;
use std::ops::Range;

crate::attrs! {
    /// How a string is split: at `sep`, or at white space; at most `maxsplit` times unless that is negative.
    pub struct Split { sep: Option<String> = None, maxsplit: i64 = -1 }
    /// The attributes of `ngram_values`.
    pub struct Ngrams { width: i64, separator: String = " ".to_string() }
}

crate::ops! {
    /// Ops that split strings.
    pub static TEXT_SPLITS;

    /// The pieces of all strings, one after the other: a vector. `string_split` makes rows of them.
    ///
    /// Without `sep` a string is split at runs of Unicode white space, and no piece is empty; with it at every `sep`, and pieces may be.
    /// After `maxsplit` splits the rest is one piece, as of Python's `str.split`. Errors: an empty `sep`.
    SPLIT_VALUES: split_values(x; Split { sep: Option<String>, maxsplit: i64 }) = OpDef::general(Class::Structural, infer_values, run_values)
        .part()
        .examples(&[("split_values([\"a b\", \"\", \" c \"])", "[\"a\", \"b\", \"c\"]"), ("split_values([\"a,,b\", \"\"], sep=\",\")", "[\"a\", \"\", \"b\", \"\"]")]);

    /// The row partition that cuts `split_values` into a row for each string, with splits of i64.
    ///
    /// Errors: an empty `sep`.
    SPLIT_PARTITION: split_partition(x; Split { sep: Option<String>, maxsplit: i64 }) = OpDef::general(Class::Structural, infer_partition, run_partition)
        .facts(&[Fact::Covers])
        .part()
        .examples(&[("split_partition([\"a b\", \"\", \" c \"])", "partition_from_lengths([2, 0, 1])"), ("split_partition([\"a,,b\", \"\"], sep=\",\")", "partition_from_lengths([3, 1])")]);

    /// The characters of all strings, one after the other: a vector of strings of one Unicode code point each.
    ///
    /// `string_length` has their number in each string, and `string_characters` makes rows of them.
    CHARACTER_VALUES: character_values(x) = OpDef::general(Class::Structural, infer_characters, run_characters)
        .part()
        .examples(&[("character_values([\"ab\", \"\", \"ö\"])", "[\"a\", \"b\", \"ö\"]")]);

    /// The n-grams of all rows, one after the other: each `width` neighbours of a row joined, with `separator` between them.
    ///
    /// A row shorter than `width` has none. `string_ngrams` makes rows of them. Errors: a width below one.
    NGRAM_VALUES: ngram_values(values, partition; Ngrams { width: i64, separator: String }) = OpDef::general(Class::Segment, infer_ngrams, run_ngrams)
        .part()
        .examples(&[("ngram_values([\"a\", \"b\", \"c\", \"d\"], partition_from_lengths([3, 1]), width=2)", "[\"a b\", \"b c\"]")]);
}

fn check(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<Shape> {
    let spec = string_spec(args)?;
    if Split::of(attrs)?.sep.as_deref() == Some("") {
        return Err(Error::value("the separator is empty")
            .wanted("a text to split at, or none for white space")
            .hint("`string_characters` splits between all characters."));
    }
    Ok(spec.shape.clone())
}

pub(super) fn infer_values(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    check(args, attrs)?;
    Ok(tensor_spec(DType::String, Shape::new([Dim::any()])))
}

pub(super) fn infer_partition(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    Ok(partition_spec(&check(args, attrs)?))
}

/// A row for each element of a tensor of this shape.
pub(super) fn partition_spec(shape: &Shape) -> OutputSpecs {
    let count = |dims: &[Dim]| dims.iter().map(|dim| dim.known()).product::<Option<usize>>();
    let nrows = match shape.dims() {
        Some([n]) => *n,
        Some(dims) => count(dims).map_or_else(Dim::any, Dim::Known),
        None => Dim::any(),
    };
    smallvec![LeafSpec::Partition(PartitionSpec::new(nrows, Dim::any(), DType::I64))]
}

fn run_values(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, split) = (data(args, 0)?, Split::of(attrs)?);
    let texts = in_parts(x.len(), |mut items, out| match at_byte(split) {
        Some(byte) => pieces_at(x, byte, items, out),
        None => items.try_for_each(|i| pieces(x.str_at(i)?, split, |piece| out.push(piece.as_bytes()))),
    })?;
    let n = texts.len();
    one_tensor(texts.finish(DType::String, &[n])?)
}

/// Pushes the pieces of these elements between the bytes at which they are split, which are looked for in all of them at once.
fn pieces_at(x: &Dense, byte: u8, mut items: Range<usize>, out: &mut Texts) -> Result<()> {
    let (offsets, bytes) = x.text()?;
    let start = offsets.get(items.start);
    let bytes = &bytes.as_slice()[start..offsets.get(items.end)];
    let marks = Marks::of(bytes, byte);
    let (before, ends, made) = out.more(items.len() + marks.count(), bytes.len() - marks.count())?;
    let (mut from, mut at, mut ends) = (0, 0, ends.iter_mut());
    let mut push = |to: usize, next: usize| {
        copy(&bytes[from..], to - from, &mut made[at..]);
        at += to - from;
        from = next;
        if let Some(end) = ends.next() {
            *end = i64::try_from(before + at).unwrap_or(i64::MAX);
        }
    };
    let end_of = |item: usize| offsets.get(item + 1) - start;
    for at in marks.places() {
        while let Some(end) = items.clone().next().map(end_of).filter(|end| at >= *end) {
            items.next();
            push(end, end);
        }
        push(at, at + 1);
    }
    items.map(end_of).for_each(|end| push(end, end));
    Ok(())
}

/// Copies `len` bytes; behind a few it copies some more where there is room, which is less work.
#[inline(always)]
fn copy(from: &[u8], len: usize, to: &mut [u8]) {
    const FEW: usize = 16;
    match (from.first_chunk::<FEW>(), to.first_chunk_mut::<FEW>()) {
        (Some(from), Some(to)) if len <= FEW => *to = *from,
        _ => to[..len].copy_from_slice(&from[..len]),
    }
}

/// The byte at every one of which strings are split, if that is how.
fn at_byte(split: &Split) -> Option<u8> {
    match split.sep.as_deref().map(str::as_bytes) {
        Some([byte]) if split.maxsplit < 0 => Some(*byte),
        Some(_) | None => None,
    }
}

fn run_partition(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, split) = (data(args, 0)?, Split::of(attrs)?);
    if let Some(byte) = at_byte(split) {
        let (offsets, bytes) = x.text()?;
        let (start, end) = (offsets.first(), offsets.last());
        let marks = Marks::of(&bytes.as_slice()[start..end], byte);
        return rows(x, |i| Ok(1 + marks.count_in(offsets.get(i) - start..offsets.get(i + 1) - start)));
    }
    rows(x, |i| {
        let mut count = 0;
        pieces(x.str_at(i)?, split, |_| {
            count += 1;
            Ok(())
        })?;
        Ok(count)
    })
}

/// The partition of a row for each element, as long as `length` says of it.
///
/// Errors: the first of `length`; more rows than there is memory for.
pub(super) fn rows(x: &Dense, length: impl Fn(usize) -> Result<usize> + Sync) -> Result<Outputs> {
    let len = (x.len() + 1).saturating_mul(size_of::<i64>());
    affordable(len)?;
    let mut block = Block::new(len);
    let (first, ends) = block.slice_mut::<i64>().split_at_mut(1);
    first.fill(0);
    let write = |(first, ends): (usize, &mut [i64])| {
        (first..).zip(ends).try_fold(0, |sum, (row, end)| {
            *end = sum + int(length(row)?);
            Result::Ok(*end)
        })
    };
    let total = match thread_pieces(x.len().saturating_mul(ITEM)) {
        1 => write((0, ends))?,
        n => {
            let part = x.len().div_ceil(n).max(1);
            let parts = ends.chunks_mut(part).enumerate().map(|(i, ends)| (i * part, ends)).collect();
            let sums = side_by_side(parts, write);
            ends.chunks_mut(part).zip(sums).try_fold(0, |before, (ends, sum)| {
                ends.iter_mut().for_each(|end| *end += before);
                sum.map(|sum| before + sum)
            })?
        }
    };
    let offsets = Offsets::I64(ScalarBuffer::new(block.freeze(), 0, x.len() + 1));
    Ok(smallvec![Value::Partition(RowPartition::from_offsets(offsets, usize::try_from(total).unwrap_or(usize::MAX))?)])
}

/// What `f` pushes for each of so many elements, one after the other.
pub(super) fn vector(n: usize, f: impl Fn(usize, &mut Texts) -> Result<()> + Sync) -> Result<Outputs> {
    let texts = in_parts(n, |mut items, out| items.try_for_each(|i| f(i, out)))?;
    let n = texts.len();
    one_tensor(texts.finish(DType::String, &[n])?)
}

/// Calls `f` with each piece of a text.
fn pieces<'a>(text: &'a str, split: &Split, f: impl FnMut(&'a str) -> Result<()>) -> Result<()> {
    let most = usize::try_from(split.maxsplit).unwrap_or(usize::MAX);
    match &split.sep {
        Some(sep) => text.splitn(most.saturating_add(1), sep.as_str()).try_for_each(f),
        None => words(text, most, f),
    }
}

/// Words between white space; behind `most` of them the rest, with the white space at its end.
fn words<'a>(text: &'a str, most: usize, mut f: impl FnMut(&'a str) -> Result<()>) -> Result<()> {
    let mut rest = text.trim_start();
    for _ in 0..most {
        if rest.is_empty() {
            return Ok(());
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        f(&rest[..end])?;
        rest = rest[end..].trim_start();
    }
    if rest.is_empty() { Ok(()) } else { f(rest) }
}

fn infer_characters(args: &[LeafSpec], _: &dyn AttrSet) -> Result<OutputSpecs> {
    string_spec(args)?;
    Ok(tensor_spec(DType::String, Shape::new([Dim::any()])))
}

fn run_characters(args: &[Value], _: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let x = data(args, 0)?;
    vector(x.len(), |i, out| {
        let mut bytes = [0; 4];
        x.str_at(i)?.chars().try_for_each(|c| out.push(c.encode_utf8(&mut bytes).as_bytes()))
    })
}

/// The width of n-grams.
///
/// Errors: below one.
fn width(attrs: &dyn AttrSet) -> Result<usize> {
    let width = Ngrams::of(attrs)?.width;
    usize::try_from(width)
        .ok()
        .filter(|width| *width > 0)
        .ok_or_else(|| Error::value(format!("the width is {width}")).wanted("at least one"))
}

fn infer_ngrams(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let values = string_spec(args)?;
    let partition = args.get(1).ok_or_else(|| Error::value("argument 2 is missing"))?.partition()?;
    width(attrs)?;
    match values.shape.dims() {
        Some([outer]) if !outer.is_compatible_with(partition.nvalues) => {
            Err(Error::shape(format!("{outer} values are given to a partition of {}", partition.nvalues))
                .wanted("as many values as the partition cuts"))
        }
        Some([_]) | None => Ok(tensor_spec(DType::String, Shape::new([Dim::any()]))),
        Some(_) => Err(Error::shape(format!("the values have shape {}", values.shape)).wanted("a vector of strings")),
    }
}

fn run_ngrams(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, rows, width) = (data(args, 0)?, rows_of(args)?, width(attrs)?);
    if x.dims() != [rows.nvalues()] {
        return Err(Error::shape(format!("{:?} values are given to a partition of {}", x.dims(), rows.nvalues())));
    }
    let separator = Ngrams::of(attrs)?.separator.as_bytes();
    let starts = |row: &Range<usize>| row.start..(row.end + 1).saturating_sub(width).max(row.start);
    let each = || (0..rows.nrows()).map(|row| rows.row(row));
    // A string is in as many grams as begin at it or before, as far as one reaches.
    let (offsets, _) = x.text()?;
    let of_row = |row: Range<usize>| {
        let grams = starts(&row).len();
        let times = |i: usize| (i - row.start + 1).min(row.end - i).min(width).min(grams);
        let texts = row.clone().map(|i| (offsets.get(i + 1) - offsets.get(i)).saturating_mul(times(i)));
        let between = grams.saturating_mul(width.saturating_sub(1)).saturating_mul(separator.len());
        texts.fold(between, usize::saturating_add)
    };
    let (grams, bytes) = each()
        .fold((0, 0_usize), |(grams, bytes), row| (grams + starts(&row).len(), bytes.saturating_add(of_row(row))));
    let mut out = Texts::with_room(grams, bytes)?;
    for row in each() {
        for start in starts(&row) {
            join((start..start + width).map(|i| x.text_at(i)), separator, &mut out)?;
        }
    }
    one_tensor(out.finish(DType::String, &[grams])?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Tensor;
    use crate::threads::with_threads;

    fn check(text: &str, sep: Option<&str>, maxsplit: i64, wanted: &[&str]) {
        let mut found = Vec::new();
        let split = Split { sep: sep.map(str::to_string), maxsplit };
        pieces(text, &split, |piece| {
            found.push(piece);
            Ok(())
        })
        .expect("nothing fails");
        assert_eq!(found, wanted, "{text:?} at {sep:?}, {maxsplit}");
    }

    #[test]
    fn many_strings_are_split_as_each_alone() {
        let texts: Vec<&str> = (0..30_000).map(|i| ["a b", "", "c", " d  e ", "f g h"][i * 7919 % 5]).collect();
        let x = Tensor::strings(&[texts.len()], &texts).expect("texts");
        for (sep, threads) in [(Some(" "), 1), (Some(" "), 2), (None, 1), (None, 2)] {
            let split = Split { sep: sep.map(str::to_string), maxsplit: -1 };
            let (mut wanted, mut lengths) = (Vec::new(), Vec::new());
            for text in &texts {
                let before = wanted.len();
                pieces(text, &split, |piece| {
                    wanted.push(piece);
                    Ok(())
                })
                .expect("nothing fails");
                lengths.push(wanted.len() - before);
            }
            let (values, rows) = with_threads(threads, || {
                let values = split_values(&x, split.sep.clone(), -1).expect("pieces");
                (values, split_partition(&x, split.sep.clone(), -1).expect("rows"))
            });
            let (values, rows) = (values.tensor().expect("a tensor"), rows.partition().expect("rows"));
            let (values, rows) = (values.data().expect("data"), rows.data().expect("data"));
            assert!(rows.lengths().eq(lengths) && rows.nvalues() == wanted.len(), "{sep:?}, {threads} threads");
            assert!(
                (0..values.len()).map(|i| values.str_at(i).expect("a text")).eq(wanted),
                "{sep:?}, {threads} threads"
            );
        }
    }

    #[test]
    fn strings_are_split_as_python_splits_them() {
        check("  a b  c ", None, -1, &["a", "b", "c"]);
        check("  a b  c ", None, 1, &["a", "b  c "]);
        check("  a b  c ", None, 0, &["a b  c "]);
        check("a ", None, 1, &["a"]);
        check(" \u{3000}\t", None, -1, &[]);
        check("", None, 0, &[]);
        check("", Some(","), -1, &[""]);
        check(",a,,b", Some(","), -1, &["", "a", "", "b"]);
        check(",a,,b", Some(","), 2, &["", "a", ",b"]);
        check("a,b", Some(","), 0, &["a,b"]);
        check("aXXb", Some("XX"), i64::MAX, &["a", "b"]);
    }
}
