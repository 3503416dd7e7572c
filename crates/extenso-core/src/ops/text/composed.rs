//! Functions of strings that are compositions of ops.

use super::super::{add, as_string, greater_equal, string_decode, string_encode, string_join, where_};
use super::{string_find, string_rfind, substr_each, to_hash_bucket_fast, to_hash_bucket_strong};
use crate::value::{Arg, Scalar, Value};
use extenso_types::{Error, Result};

/// What stands before the first `sep` of each string, `sep` itself, and what stands behind it.
///
/// A string without `sep` is all before it, and the other two are empty, as of Python's `str.partition`. Each has the shape of `x`.
///
/// Errors: an empty `sep`; no strings.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let [key, sep, value] = ops::string_partition(Tensor::strings(&[2], &["a=b=c", "d"]).unwrap(), "=").unwrap();
/// assert_eq!(key.to_string(), r#"["a", "d"]"#);
/// assert_eq!((sep.to_string(), value.to_string()), (r#"["=", ""]"#.into(), r#"["b=c", ""]"#.into()));
/// ```
pub fn string_partition(x: impl Into<Arg>, sep: &str) -> Result<[Value; 3]> {
    let parts = |x: &Arg| {
        let (found, at) = place_of(sep, string_find(x, sep, "char")?)?;
        let before = substr_each(x, 0, where_(&found, &at, i64::MAX)?)?;
        let after = substr_each(x, where_(&found, behind(&at, sep)?, i64::MAX)?, i64::MAX)?;
        Ok([before, where_(found, sep, "")?, after])
    };
    parts(&x.into()).map_err(|e: Error| e.at_part("string_partition"))
}

/// What stands before the last `sep` of each string, `sep` itself, and what stands behind it.
///
/// A string without `sep` is all behind it, and the other two are empty, as of Python's `str.rpartition`. Each has the shape of `x`.
///
/// Errors: an empty `sep`; no strings.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let [folder, _, name] = ops::string_rpartition(Tensor::strings(&[2], &["a/b/c", "d"]).unwrap(), "/").unwrap();
/// assert_eq!((folder.to_string(), name.to_string()), (r#"["a/b", ""]"#.into(), r#"["c", "d"]"#.into()));
/// ```
pub fn string_rpartition(x: impl Into<Arg>, sep: &str) -> Result<[Value; 3]> {
    let parts = |x: &Arg| {
        let (found, at) = place_of(sep, string_rfind(x, sep, "char")?)?;
        let before = substr_each(x, 0, where_(&found, &at, 0)?)?;
        let after = substr_each(x, where_(&found, behind(&at, sep)?, 0)?, i64::MAX)?;
        Ok([before, where_(found, sep, "")?, after])
    };
    parts(&x.into()).map_err(|e: Error| e.at_part("string_rpartition"))
}

/// Whether a separator is found, and its place.
///
/// Errors: an empty separator.
fn place_of(sep: &str, place: Value) -> Result<(Value, Value)> {
    if sep.is_empty() {
        return Err(Error::value("the separator is empty").wanted("a text of at least one character"));
    }
    Ok((greater_equal(&place, 0)?, place))
}

/// The place behind a separator that begins at one.
fn behind(at: &Value, sep: &str) -> Result<Value> {
    add(at, i64::try_from(sep.chars().count()).unwrap_or(i64::MAX))
}

/// The template with the text of one value in the place of each `{}`, elementwise: `values` broadcast.
///
/// `{{` and `}}` are brackets. Numbers are written as by `as_string`.
///
/// Errors: another number of values than of `{}`; a single bracket; bytes; shapes that do not broadcast.
///
/// ```
/// # use extenso_core::{Arg, Tensor, ops};
/// let rows = Tensor::from_vec(vec![1_i64, 2]);
/// let text = ops::string_format("{}: {{{}}}", &[rows.into(), Arg::from("x")]).unwrap();
/// assert_eq!(text.to_string(), r#"["1: {x}", "2: {x}"]"#);
/// ```
pub fn string_format(template: &str, values: &[Arg]) -> Result<Value> {
    formatted(template, values).map_err(|e| e.at_part("string_format"))
}

fn formatted(template: &str, values: &[Arg]) -> Result<Value> {
    let texts = between_places(template)?;
    if texts.len() != values.len() + 1 {
        return Err(Error::value(format!(
            "the template has {} places, and {} values are given",
            texts.len() - 1,
            values.len()
        ))
        .wanted("a value for each {}"));
    }
    let mut parts = Vec::with_capacity(texts.len() + values.len());
    for (i, text) in texts.into_iter().enumerate() {
        parts.push(Arg::Scalar(Scalar::Str(text)));
        if let Some(value) = values.get(i) {
            parts.push(as_string(value)?.into());
        }
    }
    string_join(Arg::List(parts), "")
}

/// The texts around the places of a template, one more than there are places.
fn between_places(template: &str) -> Result<Vec<String>> {
    let mut texts = vec![String::new()];
    let mut rest = template.chars();
    while let Some(c) = rest.next() {
        let next = rest.clone().next();
        match (c, next, texts.last_mut()) {
            ('{', Some('}'), _) => texts.push(String::new()),
            ('{', Some('{'), Some(text)) | ('}', Some('}'), Some(text)) => text.push(c),
            ('{' | '}', _, _) => {
                return Err(Error::value(format!("the template has a single '{c}'"))
                    .wanted("{} for a value")
                    .hint("A bracket is written twice: {{ or }}. `format_float` writes floats with so many digits."));
            }
            (c, _, Some(text)) => {
                text.push(c);
                continue;
            }
            (_, _, None) => {}
        }
        rest.next();
    }
    Ok(texts)
}

/// Bytes in one encoding as bytes in another: `utf-8`, `utf-16-be`, `utf-16-le`, `utf-32-be` or `utf-32-le`.
///
/// What is no text is an error (`errors="strict"`), becomes U+FFFD (`"replace"`), or is left out (`"ignore"`).
///
/// Errors: bytes that are no text, with their position; another encoding; strings.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = Tensor::byte_strings(&[1], &["a"]).unwrap();
/// let y = ops::unicode_transcode(x, "utf-8", "utf-16-be", "strict").unwrap();
/// assert_eq!(ops::hex_encode(y).unwrap().to_string(), r#"["0061"]"#);
/// ```
pub fn unicode_transcode(x: impl Into<Arg>, from: &str, to: &str, errors: &str) -> Result<Value> {
    let texts = string_decode(x, from, errors).map_err(|e| e.at_part("unicode_transcode"))?;
    string_encode(texts, to).map_err(|e| e.at_part("unicode_transcode"))
}

/// The bucket of each string or byte string, or of each number's text, from 0 to below `buckets`, as i64.
///
/// Without a key the buckets are those of `to_hash_bucket_fast`, with one those of `to_hash_bucket_strong`; integers fall where
/// TensorFlow's feature columns and Keras put them.
///
/// Errors: fewer than one bucket.
///
/// ```
/// # use extenso_core::{Tensor, ops};
/// let x = ops::hash_bucket(Tensor::from_vec(vec![5_i64, 8, 123456]), 10, None).unwrap();
/// assert_eq!(x.to_string(), "[1, 7, 8]");
/// ```
pub fn hash_bucket(x: impl Into<Arg>, buckets: i64, key: Option<[i64; 2]>) -> Result<Value> {
    let x = x.into();
    let hashed = |texts: &Arg| match key {
        None => to_hash_bucket_fast(texts, buckets),
        Some(key) => to_hash_bucket_strong(texts, buckets, key.to_vec()),
    };
    // What has no text may be bytes, which are hashed as they stand.
    let found = match as_string(&x) {
        Ok(texts) => hashed(&texts.into()),
        Err(no_text) => hashed(&x).map_err(|_| no_text),
    };
    found.map_err(|e| e.at_part("hash_bucket"))
}
