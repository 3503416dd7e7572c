//! Regular expressions on strings.
//!
//! Invariant: one search takes time linear in the text, and a pattern is compiled within a fixed size. Replacing all matches takes
//! a search for each, so that some patterns take time quadratic in the text.

use super::super::args::{data, tensor_spec};
use super::texts::{Texts, bytes_of, grown};
use super::{bits, string_spec};
use crate::attrs::{AttrSet, Attrs};
use crate::op::{Class, OpDef, OutputSpecs};
use crate::value::{Outputs, Value};
use extenso_types::{DType, Error, LeafSpec, Result};
use regex::{Captures, Regex, RegexBuilder};
use std::cell::RefCell;

/// The most bytes that a compiled pattern takes.
const COMPILED: usize = 1 << 22;
/// The bytes of a pattern that errors show.
const SHOWN: usize = 200;
/// The patterns that a thread keeps compiled.
const KEPT: usize = 32;

crate::attrs! {
    /// A regular expression.
    pub struct Pattern { pattern: String }
    /// The attributes of `regex_replace`.
    pub struct Replace { pattern: String, rewrite: String, replace_all: bool = true }
}

crate::ops! {
    /// Ops that look for regular expressions.
    pub static TEXT_PATTERNS;

    /// Whether `pattern` matches the whole of each string. The syntax is that of the Rust crate `regex`, which is close to RE2's.
    ///
    /// Errors: a pattern that does not compile, or takes more than 4 MiB when it does.
    REGEX_FULL_MATCH: regex_full_match(x; Pattern { pattern: String }) = OpDef::general(Class::UnaryElementwise, infer_match, run_match)
        .alias_tf("strings.regex_full_match")
        .examples(&[("regex_full_match([\"a1\", \"a1b\", \"\"], \"[a-z][0-9]+\")", "[True, False, False]")]);

    /// Each string with the matches of `pattern` replaced by `rewrite`, all of them or the first alone.
    ///
    /// In `rewrite`, `\1` to `\9` stand for the groups of the pattern, `\0` for the whole match, and `\\` for a backslash. A group
    /// that takes no part in a match is empty. The syntax of the pattern is that of the Rust crate `regex`, which is close to RE2's.
    /// One search takes time linear in the text; with some patterns all matches together take time quadratic in it.
    /// Errors: a pattern that does not compile, or takes more than 4 MiB when it does; a group that it does not have; another
    /// character after a backslash in `rewrite`.
    REGEX_REPLACE: regex_replace(x; Replace { pattern: String, rewrite: String, replace_all: bool }) = OpDef::general(Class::UnaryElementwise, infer_replace, run_replace)
        .alias_tf("strings.regex_replace")
        .examples(&[("regex_replace([\"a1b22\", \"c\"], \"[0-9]+\", \"#\")", "[\"a#b#\", \"c\"]"), ("regex_replace([\"k=v, x=y\"], \"(\\\\w)=(\\\\w)\", \"\\\\2:\\\\1\")", "[\"v:k, y:x\"]")]);
}

thread_local! {
    /// Compiled patterns, the one that was used last in front.
    static PATTERNS: RefCell<Vec<(String, Regex)>> = const { RefCell::new(Vec::new()) };
}

/// The compiled pattern.
///
/// Errors: it does not compile, or is too large.
pub(super) fn compiled(pattern: &str) -> Result<Regex> {
    PATTERNS.with_borrow_mut(|kept| {
        let item = match kept.iter().position(|(text, _)| text == pattern) {
            Some(at) => kept.remove(at),
            None => (pattern.to_string(), compile(pattern)?),
        };
        let regex = item.1.clone();
        kept.truncate(KEPT - 1);
        kept.insert(0, item);
        Ok(regex)
    })
}

fn compile(pattern: &str) -> Result<Regex> {
    RegexBuilder::new(pattern).size_limit(COMPILED).build().map_err(|e| {
        let text = e.to_string();
        // The text repeats the pattern, and says in the last line what is wrong.
        let why = if pattern.len() <= SHOWN { &text } else { text.lines().last().unwrap_or_default() };
        Error::value(format!("the pattern does not compile: {why}"))
            .wanted("a regular expression of the Rust crate regex")
    })
}

/// The compiled pattern of whole texts.
///
/// Errors: the pattern by itself does not compile, or is too large.
fn compiled_whole(pattern: &str) -> Result<Regex> {
    compiled(pattern)?;
    // A comment at the end of the pattern reaches to the end of the line, and would take the bracket with it.
    compiled(&format!(r"\A(?:{pattern})\z")).or_else(|_| compiled(&format!("\\A(?:{pattern}\n)\\z")))
}

fn infer_match(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let shape = string_spec(args)?.shape.clone();
    compiled_whole(&Pattern::of(attrs)?.pattern)?;
    Ok(tensor_spec(DType::Bool, shape))
}

fn run_match(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let pattern = compiled_whole(&Pattern::of(attrs)?.pattern)?;
    let x = data(args, 0)?;
    bits(x, |i| Ok(pattern.is_match(x.str_at(i)?)))
}

/// A part of a rewrite.
#[derive(PartialEq, Debug)]
enum Part<'a> {
    Text(&'a str),
    Group(usize),
}

/// The parts of a rewrite.
///
/// Errors: a group from `groups` on; a backslash before anything but a digit or a backslash.
fn parts(rewrite: &str, groups: usize) -> Result<Vec<Part<'_>>> {
    let mut parts = Vec::new();
    let mut rest = rewrite;
    while let Some(at) = rest.find('\\') {
        parts.push(Part::Text(&rest[..at]));
        let next = rest[at + 1..].chars().next();
        parts.push(match next.map(|c| (c, c.to_digit(10))) {
            Some((_, Some(group))) => Part::Group(group_below(group, groups)?),
            Some(('\\', None)) => Part::Text("\\"),
            _ => {
                let found = next.map_or("nothing".to_string(), |c| format!("'{c}'"));
                return Err(Error::value(format!("the rewrite has {found} after a backslash"))
                    .wanted("a digit, for a group, or a second backslash"));
            }
        });
        rest = &rest[at + 2..];
    }
    parts.push(Part::Text(rest));
    parts.retain(|part| *part != Part::Text(""));
    Ok(parts)
}

fn group_below(group: u32, groups: usize) -> Result<usize> {
    usize::try_from(group).ok().filter(|group| *group < groups).ok_or_else(|| {
        Error::value(format!("the rewrite names group {group}, and the pattern has {}", groups - 1))
            .wanted("a group of the pattern")
    })
}

fn infer_replace(args: &[LeafSpec], attrs: &dyn AttrSet) -> Result<OutputSpecs> {
    let (shape, replace) = (string_spec(args)?.shape.clone(), Replace::of(attrs)?);
    parts(&replace.rewrite, compiled(&replace.pattern)?.captures_len())?;
    Ok(tensor_spec(DType::String, shape))
}

fn run_replace(args: &[Value], attrs: &dyn AttrSet, _: &[LeafSpec]) -> Result<Outputs> {
    let (x, replace) = (data(args, 0)?, Replace::of(attrs)?);
    let pattern = compiled(&replace.pattern)?;
    let parts = parts(&replace.rewrite, pattern.captures_len())?;
    let most = if replace.replace_all { usize::MAX } else { 1 };
    // What groups hold together is no longer than the text, for each group that is written.
    let (bytes, groups) = (bytes_of(x)?, parts.iter().filter(|part| matches!(part, Part::Group(_))).count());
    let finds = bytes.saturating_add(x.len()).min(x.len().saturating_mul(most));
    let size = bytes.saturating_mul(groups + 1).saturating_add(finds.saturating_mul(replace.rewrite.len()));
    grown(x.dtype(), x.dims(), size, |i, out| {
        let text = x.str_at(i)?;
        let mut end = 0;
        for groups in pattern.captures_iter(text).take(most) {
            let whole = groups.get_match();
            out.write(&text.as_bytes()[end..whole.start()])?;
            rewrite(&parts, &groups, out)?;
            end = whole.end();
        }
        out.push(&text.as_bytes()[end..])
    })
}

fn rewrite(parts: &[Part<'_>], groups: &Captures<'_>, out: &mut Texts) -> Result<()> {
    parts.iter().try_for_each(|part| match part {
        Part::Text(text) => out.write(text.as_bytes()),
        Part::Group(group) => out.write(groups.get(*group).map_or("", |found| found.as_str()).as_bytes()),
    })
}
