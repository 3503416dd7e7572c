//! Paths: the names of leaves in nested records, nests and components.
//!
//! Invariant: `parse` of a path's text is the path; any UTF-8 field name can be written, quoted if need be.

use crate::{Error, Result};
use std::fmt;
use std::sync::Arc;

/// One step of a path.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Segment {
    /// A field of a record or an entry of a dict: `.name`, or `."any text"`; `["any text"]` is read as the same.
    Field(Arc<str>),
    /// An item of a list or tuple: `[3]`.
    Index(usize),
    /// All items of a ragged list: `[*]`.
    Each,
    /// A component that is no field of the record: `@row_splits`, `@mask`.
    Component(Arc<str>),
    /// The component that holds the value itself, which adds nothing to the text: the values of a masked tensor.
    Itself,
}

impl Segment {
    /// A field step.
    pub fn field(name: impl Into<Arc<str>>) -> Segment {
        Segment::Field(name.into())
    }

    /// A component step.
    pub fn component(name: impl Into<Arc<str>>) -> Segment {
        Segment::Component(name.into())
    }
}

/// A place in a nest: `user.history[*].item_id`.
///
/// ```
/// # use extenso_types::Path;
/// let p: Path = "user.history[*].\"item id\"@mask".parse().unwrap();
/// assert_eq!(p.to_string(), "user.history[*].\"item id\"@mask");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Path(Vec<Segment>);

impl Path {
    /// The path of the whole.
    pub fn root() -> Path {
        Path(Vec::new())
    }

    /// This path and one more step.
    pub fn child(&self, segment: Segment) -> Path {
        let mut segments = self.0.clone();
        segments.push(segment);
        Path(segments)
    }

    /// The steps.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Whether this is the path of the whole.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `self` is `other` or a place inside it.
    pub fn starts_with(&self, other: &Path) -> bool {
        self.0.starts_with(&other.0)
    }
}

impl FromIterator<Segment> for Path {
    fn from_iter<I: IntoIterator<Item = Segment>>(iter: I) -> Path {
        Path(iter.into_iter().collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Field(name) => {
                    f.write_str(if i > 0 { "." } else { "" })?;
                    write_name(f, name)?;
                }
                Segment::Index(n) => write!(f, "[{n}]")?,
                Segment::Each => f.write_str("[*]")?,
                Segment::Component(name) => {
                    f.write_str("@")?;
                    write_name(f, name)?;
                }
                Segment::Itself => {}
            }
        }
        Ok(())
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn write_name(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    if is_plain(name) {
        return f.write_str(name);
    }
    write!(f, "\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

impl std::str::FromStr for Path {
    type Err = Error;

    /// Reads a path.
    ///
    /// Errors: an empty name, an open quote or bracket, a character that starts no step.
    fn from_str(text: &str) -> Result<Path> {
        let mut rest = text;
        let mut segments = Vec::new();
        while !rest.is_empty() {
            let (segment, tail) = parse_segment(rest, segments.is_empty()).ok_or_else(|| {
                Error::value(format!("'{text}' is not a path: it breaks off at '{rest}'"))
                    .wanted("steps like `.name`, `.\"any name\"`, `[3]`, `[*]`, `@component`")
            })?;
            segments.push(segment);
            rest = tail;
        }
        Ok(Path(segments))
    }
}

fn parse_segment(text: &str, first: bool) -> Option<(Segment, &str)> {
    if let Some(tail) = text.strip_prefix("[*]") {
        return Some((Segment::Each, tail));
    }
    if let Some(tail) = text.strip_prefix('[').filter(|tail| tail.starts_with('"')) {
        let (name, tail) = parse_name(tail)?;
        return Some((Segment::field(name), tail.strip_prefix(']')?));
    }
    if let Some(tail) = text.strip_prefix('[') {
        let (digits, tail) = tail.split_once(']')?;
        return Some((Segment::Index(digits.parse().ok()?), tail));
    }
    if let Some(tail) = text.strip_prefix('@') {
        let (name, tail) = parse_name(tail)?;
        return Some((Segment::component(name), tail));
    }
    let tail = text.strip_prefix('.').or(first.then_some(text))?;
    let (name, tail) = parse_name(tail)?;
    Some((Segment::field(name), tail))
}

fn parse_name(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
        let (name, tail) = text.split_at(end);
        return is_plain(name).then(|| (name.to_string(), tail));
    };
    let mut name = String::new();
    let mut chars = quoted.char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            '"' => return Some((name, &quoted[i + 1..])),
            '\\' => name.push(chars.next()?.1),
            c => name.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) {
        let path: Path = text.parse().expect("a path");
        assert_eq!(path.to_string(), text);
    }

    #[test]
    fn text_and_path_are_one() {
        for text in ["", "a", "a.b[*].c", "a[3].b", "x@row_splits", "\"a.b\".\"\\\"q\\\\\"[*]@mask", "größe"] {
            check(text);
        }
    }

    #[test]
    fn a_quoted_name_may_stand_in_brackets() {
        let path: Path = "a[\"k\"][\"b c\"][*]".parse().expect("a path");
        assert_eq!(path.to_string(), "a.k.\"b c\"[*]");
    }

    #[test]
    fn malformed_paths_are_errors() {
        for text in ["a..b", "a[", "a[x]", "a[\"k\"", "\"open", ".\"", "a b", "@", "[99999999999999999999999]"] {
            assert!(text.parse::<Path>().is_err(), "{text}");
        }
    }
}
