//! Parts of strings by regular expressions, and pieces from the back.
//!
//! Invariant: a partition has as many values as there are pieces. Rows are made of both above, in `extenso-ext`.

use super::super::args::{data, one_tensor, tensor_spec};
use super::edits::{in_unit, int, integers};
use super::pattern::{Pattern, compiled};
use super::split::{Split, partition_spec, rows, vector};
use super::texts::{ITEM, mapped_with, parts};
use super::{bits, in_chars, split, string_spec};
use crate::attrs::{AttrSet, Attrs};
use crate::kernels::pool::affordable;
use crate::op::{Class, Fact, OpDef, OutputSpecs};
use crate::tensor::{Dense, Tensor};
use crate::threads::side_by_side;
use crate::value::{Outputs, Value};
use extenso_types::{DType, Dim, Error, LeafSpec, Result, Shape};
use regex::Regex;

crate::attrs! {
    /// The attributes of `match_like`.
    pub struct Like { pattern: String, ignore_case: bool = false }
    /// The attributes of `regex_find`.
    pub struct FindPattern { pattern: String, unit: String = "char".to_string() }
    /// The attributes of `regex_extract`.
    pub struct Extract { pattern: String, group: i64 = 1, default: String = String::new() }
    /// The attributes of `regex_find_values`.
    pub struct FindAll { pattern: String, group: i64 = 0 }
    /// How a string is split by a pattern: at most `maxsplit` times unless that is negative.
    pub struct RegexSplit { pattern: String, maxsplit: i64 = -1 }
}

crate::ops! {
    /// Ops that take parts by a pattern.
    pub static TEXT_PARTS;

    /// Whether `pattern` matches somewhere in each string. The syntax is that of the Rust crate `regex`, which is close to RE2's.
    ///
    /// Errors: a pattern that does not compile, or takes more than 4 MiB when it does.
    REGEX_CONTAINS: regex_contains(x; Pattern { pattern: String }) = OpDef::general(Class::UnaryElementwise, infer_contains, run_contains)
        .examples(&[("regex_contains([\"a1b\", \"ab\"], \"[0-9]\")", "[True, False]")]);

    /// Whether each string as a whole is like `pattern`, as SQL has it: `%` stands for any characters, `_` for one.
    ///
    /// A backslash takes the meaning from the character behind it. Errors: a backslash at the end.
    MATCH_LIKE: match_like(x; Like { pattern: String, ignore_case: bool }) = OpDef::general(Class::UnaryElementwise, infer_like, run_like)
        .examples(&[("match_like([\"data.csv\", \"data.csv.gz\"], \"%.csv\")", "[True, False]"), ("match_like([\"A1\", \"a12\"], \"a_\", ignore_case=True)", "[True, False]")]);

    /// How often `pattern` matches in each string without overlap, as i64.
    ///
    /// Errors: a pattern that does not compile, or takes more than 4 MiB when it does.
    REGEX_COUNT: regex_count(x; Pattern { pattern: String }) = OpDef::general(Class::UnaryElementwise, infer_count, run_count)
        .examples(&[("regex_count([\"a1b22\", \"c\"], \"[0-9]+\")", "[2, 0]")]);

    /// Where `pattern` first matches in each string, in characters (`unit="char"`) or bytes (`unit="byte"`), as i64; -1 where it does not.
    ///
    /// Errors: a pattern that does not compile, or takes more than 4 MiB when it does; another unit.
    REGEX_FIND: regex_find(x; FindPattern { pattern: String, unit: String }) = OpDef::general(Class::UnaryElementwise, infer_place, run_place)
        .examples(&[("regex_find([\"größe7\", \"ab\"], \"[0-9]\")", "[5, -1]"), ("regex_find([\"größe7\"], \"[0-9]\", unit=\"byte\")", "[7]")]);

    /// What a group of `pattern` matches, in its first match in each string; group 0 is the whole match.
    ///
    /// Where the pattern does not match, or the group takes no part, `default`. Errors: a pattern that does not compile, or takes
    /// more than 4 MiB when it does; a group that it does not have.
    REGEX_EXTRACT: regex_extract(x; Extract { pattern: String, group: i64, default: String }) = OpDef::general(Class::UnaryElementwise, infer_extract, run_extract)
        .examples(&[("regex_extract([\"id=7;\", \"id=\", \"x\"], \"id=([0-9]*)\", default=\"?\")", "[\"7\", \"\", \"?\"]"), ("regex_extract([\"a1b2\"], \"[a-z]([0-9])\", group=0)", "[\"a1\"]")]);

    /// What a group of `pattern` matches, in all matches in all strings, one after the other: a vector; group 0 is the whole match.
    ///
    /// A group that takes no part is empty. `regex_count` has the number in each string, and `regex_find_all` makes rows of them.
    /// Errors: a pattern that does not compile, or takes more than 4 MiB when it does; a group that it does not have.
    REGEX_FIND_VALUES: regex_find_values(x; FindAll { pattern: String, group: i64 }) = OpDef::general(Class::Structural, infer_find, run_find)
        .part()
        .examples(&[("regex_find_values([\"a1b22\", \"c\", \"3\"], \"[0-9]+\")", "[\"1\", \"22\", \"3\"]"), ("regex_find_values([\"k=v, x=y\"], \"(\\\\w)=(\\\\w)\", group=2)", "[\"v\", \"y\"]")]);

    /// Where the groups of `pattern` begin and end in its first match in each string, in bytes, as i64: -1 for both where a group takes no part.
    ///
    /// An axis of groups and one of size 2 stand behind those of the strings. `regex_groups` makes records of them.
    /// Errors: a pattern that does not compile, or takes more than 4 MiB when it does.
    REGEX_GROUP_SPANS: regex_group_spans(x; Pattern { pattern: String }) = OpDef::general(Class::Structural, infer_spans, run_spans)
        .part()
        .examples(&[("regex_group_spans([\"id=7;\", \"x\"], \"id=([0-9]*)(!)?\")", "[[[3, 4], [-1, -1]], [[-1, -1], [-1, -1]]]")]);

    /// The pieces of all strings between the matches of `pattern`, one after the other: a vector. `regex_split` makes rows of them.
    ///
    /// After `maxsplit` splits the rest is one piece. Errors: a pattern that does not compile, or takes more than 4 MiB when it does.
    REGEX_SPLIT_VALUES: regex_split_values(x; RegexSplit { pattern: String, maxsplit: i64 }) = OpDef::general(Class::Structural, infer_split_values, run_split_values)
        .part()
        .examples(&[("regex_split_values([\"a1b22c\", \"\"], \"[0-9]+\")", "[\"a\", \"b\", \"c\", \"\"]"), ("regex_split_values([\"a1b2c\"], \"[0-9]\", maxsplit=1)", "[\"a\", \"b2c\"]")]);

    /// The row partition that cuts `regex_split_values` into a row for each string, with splits of i64.
    ///
    /// Errors: a pattern that does not compile, or takes more than 4 MiB when it does.
    REGEX_SPLIT_PARTITION: regex_split_partition(x; RegexSplit { pattern: String, maxsplit: i64 }) = OpDef::general(Class::Structural, infer_split_partition, run_split_partition)
        .facts(&[Fact::Covers])
        .part()
        .examples(&[("regex_split_partition([\"a1b22c\", \"\"], \"[0-9]+\")", "partition_from_lengths([3, 1])")]);

    /// The pieces of all strings, split from the back, one after the other: a vector. `string_rsplit` makes rows of them.
    ///
    /// Without `sep` a string is split at runs of Unicode white space, and no piece is empty; with it at every `sep`, and pieces may be.
    /// After `maxsplit` splits the front is one piece, as of Python's `str.rsplit`. Errors: an empty `sep`.
    RSPLIT_VALUES: rsplit_values(x; Split { sep: Option<String>, maxsplit: i64 }) = OpDef::general(Class::Structural, split::infer_values, run_rsplit_values)
        .part()
        .examples(&[("rsplit_values([\"a b c\", \"\"], maxsplit=1)", "[\"a b\", \"c\"]"), ("rsplit_values([\"a-b-c\"], sep=\"-\", maxsplit=1)", "[\"a-b\", \"c\"]")]);

    /// The row partition that cuts `rsplit_values` into a row for each string, with splits of i64. Errors: an empty `sep`.
    RSPLIT_PARTITION: rsplit_partition(x; Split { sep: Option<String>, maxsplit: i64 }) = OpDef::general(Class::Structural, split::infer_partition, run_rsplit_partition)
        .facts(&[Fact::Covers])
        .part()
        .examples(&[("rsplit_partition([\"a b c\", \"\"], maxsplit=1)", "partition_from_lengths([2, 0])")]);
}

/// A tensor of the shape of the strings, if the pattern compiles.
fn elementwise(args: &[LeafSpec], dtype: DType, pattern: &str) -> Result<OutputSpecs> {
    let shape = string_spec(args)?.shape.clone();
    compiled(pattern)?;
    Ok(tensor_spec(dtype, shape))
}

/// A vector of strings, if the pattern compiles.
fn pieces_spec(args: &[LeafSpec], pattern: &str) -> Result<OutputSpecs> {
    elementwise(args, DType::String, pattern)?;
    Ok(tensor_spec(DType::String, Shape::new([Dim::any()])))
}

/// An integer for each string.
fn counts(x: &Dense, count: impl Fn(&str) -> usize + Sync) -> Result<Outputs> {
    integers(x, |i| Ok(int(count(x.str_at(i)?))))
}

fn infer_contains(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    elementwise(args, DType::Bool, &Pattern::of(attrs)?.pattern)
}

fn run_contains(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, pattern) = (data(args, 0)?, compiled(&Pattern::of(attrs)?.pattern)?);
    bits(x, |i| Ok(pattern.is_match(x.str_at(i)?)))
}

/// The regular expression of an SQL pattern.
///
/// Errors: a backslash at the end.
fn like(like: &Like) -> Result<Regex> {
    let mut pattern = String::from(if like.ignore_case { r"(?si)\A" } else { r"(?s)\A" });
    let mut rest = like.pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            '%' => pattern.push_str(".*"),
            '_' => pattern.push('.'),
            '\\' => {
                let next = rest.next().ok_or_else(|| {
                    Error::value("the pattern ends in a backslash").wanted("a character behind it").hint(r"Write `\\`.")
                })?;
                pattern.push_str(&regex::escape(next.encode_utf8(&mut [0; 4])));
            }
            c => pattern.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    pattern.push_str(r"\z");
    compiled(&pattern)
}

fn infer_like(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let shape = string_spec(args)?.shape.clone();
    like(Like::of(attrs)?)?;
    Ok(tensor_spec(DType::Bool, shape))
}

fn run_like(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, pattern) = (data(args, 0)?, like(Like::of(attrs)?)?);
    bits(x, |i| Ok(pattern.is_match(x.str_at(i)?)))
}

fn infer_count(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    elementwise(args, DType::I64, &Pattern::of(attrs)?.pattern)
}

fn run_count(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let pattern = compiled(&Pattern::of(attrs)?.pattern)?;
    counts(data(args, 0)?, |text| pattern.find_iter(text).count())
}

fn infer_place(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let FindPattern { pattern, unit } = FindPattern::of(attrs)?;
    in_chars(unit, string_spec(args)?.dtype)?;
    elementwise(args, DType::I64, pattern)
}

fn run_place(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, FindPattern { pattern, unit }) = (data(args, 0)?, FindPattern::of(attrs)?);
    let pattern = compiled(pattern)?;
    integers(x, |i| pattern.find(x.str_at(i)?).map_or(Ok(-1), |found| in_unit(x, i, found.start(), unit)))
}

/// The names of a pattern's groups, from the first on; a group without a name has its number.
///
/// Errors: the pattern does not compile, or takes more than 4 MiB when it does.
pub fn group_names(pattern: &str) -> Result<Vec<String>> {
    let pattern = compiled(pattern)?;
    let names = pattern.capture_names().enumerate().skip(1);
    Ok(names.map(|(i, name)| name.map_or_else(|| i.to_string(), str::to_string)).collect())
}

/// The group as a place among those of the pattern.
///
/// Errors: the pattern does not have it.
fn group(pattern: &Regex, group: i64) -> Result<usize> {
    let groups = pattern.captures_len();
    usize::try_from(group).ok().filter(|group| *group < groups).ok_or_else(|| {
        Error::value(format!("group {group} is asked for, and the pattern has {}", groups - 1))
            .wanted("a group of the pattern")
            .hint("Group 0 is the whole match; brackets in the pattern make more.")
    })
}

fn infer_extract(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let extract = Extract::of(attrs)?;
    let specs = elementwise(args, DType::String, &extract.pattern)?;
    group(&compiled(&extract.pattern)?, extract.group)?;
    Ok(specs)
}

fn run_extract(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, extract) = (data(args, 0)?, Extract::of(attrs)?);
    let pattern = compiled(&extract.pattern)?;
    let group = group(&pattern, extract.group)?;
    mapped_with(
        x,
        || pattern.capture_locations(),
        |groups, i, out| {
            let text = x.str_at(i)?;
            let found = pattern.captures_read(groups, text).and_then(|_| groups.get(group));
            out.push(found.map_or(extract.default.as_str(), |(from, to)| &text[from..to]).as_bytes())
        },
    )
}

fn infer_spans(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let (spec, pattern) = (string_spec(args)?, compiled(&Pattern::of(attrs)?.pattern)?);
    let shape = match spec.shape.dims() {
        Some(dims) => Shape::new(dims.iter().copied().chain([(pattern.captures_len() - 1).into(), 2.into()])),
        None => Shape::unknown(),
    };
    Ok(tensor_spec(DType::I64, shape))
}

fn run_spans(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, pattern) = (data(args, 0)?, compiled(&Pattern::of(attrs)?.pattern)?);
    let count = pattern.captures_len() - 1;
    affordable(x.len().saturating_mul(2 * count).saturating_mul(size_of::<i64>()))?;
    let spans = side_by_side(parts(x.len(), ITEM * count.max(1)), |items| {
        let (mut groups, mut spans) = (pattern.capture_locations(), Vec::with_capacity(2 * count * items.len()));
        for i in items {
            let found = pattern.captures_read(&mut groups, x.str_at(i)?).is_some();
            let span = |group| groups.get(group).filter(|_| found).map_or([-1, -1], |(from, to)| [int(from), int(to)]);
            spans.extend((1..=count).flat_map(span));
        }
        Result::Ok(spans)
    });
    let spans = spans.into_iter().collect::<Result<Vec<_>>>()?.concat();
    let dims: Vec<usize> = x.dims().iter().copied().chain([count, 2]).collect();
    one_tensor(Tensor::from_vec(spans).with_dims(&dims)?)
}

fn infer_find(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let find = FindAll::of(attrs)?;
    let specs = pieces_spec(args, &find.pattern)?;
    group(&compiled(&find.pattern)?, find.group)?;
    Ok(specs)
}

fn run_find(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, find) = (data(args, 0)?, FindAll::of(attrs)?);
    let pattern = compiled(&find.pattern)?;
    let group = group(&pattern, find.group)?;
    vector(x.len(), |i, out| {
        let text = x.str_at(i)?;
        if group == 0 {
            return pattern.find_iter(text).try_for_each(|found| out.push(found.as_str().as_bytes()));
        }
        let mut found = pattern.captures_iter(text).map(|groups| groups.get(group).map_or("", |found| found.as_str()));
        found.try_for_each(|found| out.push(found.as_bytes()))
    })
}

/// The pieces of a text between matches.
fn between<'a>(text: &'a str, pattern: &'a Regex, split: &RegexSplit) -> impl Iterator<Item = &'a str> {
    pattern.splitn(text, usize::try_from(split.maxsplit).unwrap_or(usize::MAX).saturating_add(1))
}

fn infer_split_values(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    pieces_spec(args, &RegexSplit::of(attrs)?.pattern)
}

fn run_split_values(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, split) = (data(args, 0)?, RegexSplit::of(attrs)?);
    let pattern = compiled(&split.pattern)?;
    vector(x.len(), |i, out| between(x.str_at(i)?, &pattern, split).try_for_each(|piece| out.push(piece.as_bytes())))
}

fn infer_split_partition(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    compiled(&RegexSplit::of(attrs)?.pattern)?;
    Ok(partition_spec(&string_spec(args)?.shape))
}

fn run_split_partition(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, split) = (data(args, 0)?, RegexSplit::of(attrs)?);
    let pattern = compiled(&split.pattern)?;
    rows(x, |i| Ok(between(x.str_at(i)?, &pattern, split).count()))
}

/// The pieces of a text, split from the back, in their order.
fn from_back<'a>(text: &'a str, split: &Split) -> Vec<&'a str> {
    let most = usize::try_from(split.maxsplit).unwrap_or(usize::MAX);
    let mut pieces = match &split.sep {
        Some(sep) => text.rsplitn(most.saturating_add(1), sep.as_str()).collect(),
        None => words_from_back(text, most),
    };
    pieces.reverse();
    pieces
}

/// Words between white space, the last in front; before `most` of them the rest, with the white space at its front.
fn words_from_back(text: &str, most: usize) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_end();
    while !rest.is_empty() && words.len() < most {
        let word = rest.rsplit(char::is_whitespace).next().unwrap_or(rest);
        words.push(word);
        rest = rest[..rest.len() - word.len()].trim_end();
    }
    words.extend((!rest.is_empty()).then_some(rest));
    words
}

fn run_rsplit_values(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, split) = (data(args, 0)?, Split::of(attrs)?);
    vector(x.len(), |i, out| {
        from_back(x.str_at(i)?, split).into_iter().try_for_each(|piece| out.push(piece.as_bytes()))
    })
}

fn run_rsplit_partition(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, split) = (data(args, 0)?, Split::of(attrs)?);
    rows(x, |i| Ok(from_back(x.str_at(i)?, split).len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, sep: Option<&str>, maxsplit: i64, wanted: &[&str]) {
        let split = Split { sep: sep.map(str::to_string), maxsplit };
        assert_eq!(from_back(text, &split), wanted, "{text:?} at {sep:?}, {maxsplit}");
    }

    #[test]
    fn strings_are_split_from_the_back_as_python_splits_them() {
        check("  a b  c ", None, -1, &["a", "b", "c"]);
        check("  a b  c ", None, 1, &["  a b", "c"]);
        check("  a b  c ", None, 0, &["  a b  c"]);
        check(" a", None, 1, &["a"]);
        check(" \u{3000}\t", None, -1, &[]);
        check("", Some(","), -1, &[""]);
        check(",a,,b", Some(","), 2, &[",a", "", "b"]);
        check("a,b", Some(","), 0, &["a,b"]);
    }
}
