//! Parts of strings in rows: pieces from the back, pieces and matches of patterns, groups as records.
//!
//! Compositions over ops: the parts of all strings, and the partition that makes a row of those of each string.

use crate::args::{int, typed};
use crate::axes::rank;
use crate::categorical::CategoricalTensor;
use crate::masked::MaskedTensor;
use crate::ragged::RaggedTensor;
use crate::structs::StructTensor;
use crate::text::deeper;
use extenso_core::{ExtensionType, Value, ops};
use extenso_types::{DType, Error, Result};
use std::sync::Arc;

/// The pieces of each string, split from the back, in one more axis: at `sep`, or at Unicode white space; at most `maxsplit` times
/// unless that is negative.
///
/// At white space no piece is empty; at `sep` pieces may be, as of Python's `str.rsplit`. A vector gives a ragged tensor, a scalar
/// a vector; missing strings stay missing. Errors: no strings; an empty `sep`.
///
/// ```
/// # use extenso_core::Tensor;
/// let x = Tensor::strings(&[1], &["a/b/c"]).unwrap();
/// let pieces = extenso_ext::string_rsplit(&x.into(), Some("/"), 1).unwrap();
/// assert_eq!(extenso_ext::to_literal(&pieces).unwrap().to_string(), r#"[["a/b", "c"]]"#);
/// ```
pub fn string_rsplit(x: &Value, sep: Option<&str>, maxsplit: i64) -> Result<Value> {
    let sep = sep.map(str::to_string);
    let pieces = |x: &Value| {
        Ok((ops::rsplit_values(x, sep.clone(), maxsplit)?, ops::rsplit_partition(x, sep.clone(), maxsplit)?))
    };
    deeper(x, &pieces).map_err(|e| e.at_part("string_rsplit"))
}

/// The pieces of each string between the matches of `pattern`, in one more axis; at most `maxsplit` splits unless that is negative.
///
/// A vector gives a ragged tensor, a scalar a vector; missing strings stay missing.
/// Errors: no strings; a pattern that does not compile, or takes more than 4 MiB when it does.
///
/// ```
/// # use extenso_core::Tensor;
/// let x = Tensor::strings(&[2], &["a, b;c", ""]).unwrap();
/// let pieces = extenso_ext::regex_split(&x.into(), "[,;] *", -1).unwrap();
/// assert_eq!(extenso_ext::to_literal(&pieces).unwrap().to_string(), r#"[["a", "b", "c"], [""]]"#);
/// ```
pub fn regex_split(x: &Value, pattern: &str, maxsplit: i64) -> Result<Value> {
    let pieces = |x: &Value| {
        Ok((ops::regex_split_values(x, pattern, maxsplit)?, ops::regex_split_partition(x, pattern, maxsplit)?))
    };
    deeper(x, &pieces).map_err(|e| e.at_part("regex_split"))
}

/// What a group of `pattern` matches, in all matches in each string, in one more axis; group 0 is the whole match.
///
/// A group that takes no part is empty. A vector gives a ragged tensor, a scalar a vector; missing strings stay missing.
/// Errors: no strings; a pattern that does not compile, or takes more than 4 MiB when it does; a group that it does not have.
///
/// ```
/// # use extenso_core::Tensor;
/// let x = Tensor::strings(&[2], &["a1b22", "c"]).unwrap();
/// let found = extenso_ext::regex_find_all(&x.into(), "[0-9]+", 0).unwrap();
/// assert_eq!(extenso_ext::to_literal(&found).unwrap().to_string(), r#"[["1", "22"], []]"#);
/// ```
pub fn regex_find_all(x: &Value, pattern: &str, group: i64) -> Result<Value> {
    let rows = |x: &Value| ops::partition_from_lengths(ops::regex_count(x, pattern)?);
    let found = |x: &Value| Ok((ops::regex_find_values(x, pattern, group)?, rows(x)?));
    deeper(x, &found).map_err(|e| e.at_part("regex_find_all"))
}

/// The strings of each innermost row that are not empty.
///
/// Errors: no strings; a scalar; rows in which strings may be missing.
///
/// ```
/// # use extenso_core::Tensor;
/// let x = extenso_ext::constant(vec![vec!["a", ""], vec![""]]).unwrap();
/// assert_eq!(extenso_ext::to_literal(&extenso_ext::drop_empty(&x).unwrap()).unwrap().to_string(), r#"[["a"], []]"#);
/// ```
pub fn drop_empty(x: &Value) -> Result<Value> {
    kept(x).map_err(|e| e.at_part("drop_empty"))
}

fn kept(x: &Value) -> Result<Value> {
    if let Some(x) = typed::<RaggedTensor>(x) {
        if rank(x.values())? > 1 || typed::<MaskedTensor>(x.values()).is_some() {
            return Ok(x.with_values(kept(x.values())?)?.into_value());
        }
        let x = x.compact()?;
        let full = ops::not_equal(x.values(), "")?;
        let values = ops::boolean_mask(x.values(), &full, 0)?;
        let lengths = ops::segment_sum(ops::cast(full, DType::I64)?, x.partition())?;
        return Ok(RaggedTensor::from_row_lengths(values, lengths.tensor()?)?.into_value());
    }
    if let Some(masked) = typed::<MaskedTensor>(x) {
        if masked.mask_rank()? < rank(x)? {
            return Ok(MaskedTensor::new(kept(masked.values())?, masked.mask().clone())?.into_value());
        }
        return Err(Error::value("some of the strings may be missing").wanted("strings that are all there"));
    }
    match rank(x)? {
        0 => Err(Error::shape("a scalar has no rows").wanted("at least a vector of strings")),
        1 => ops::boolean_mask(x, ops::not_equal(x, "")?, 0),
        _ => kept(&RaggedTensor::of_uniform(x)?.into_value()),
    }
}

/// What the groups of `pattern` match in the first match in each string, as records: a field for each group.
///
/// A field has the name of its group, or its number if it has none; it is missing where the pattern does not match, or the group
/// takes no part. Shapes: the records have the shape of `x`; missing strings are missing records.
/// Errors: no strings; a pattern without groups, or one that does not compile, or takes more than 4 MiB when it does.
///
/// ```
/// # use extenso_core::Tensor;
/// let x = Tensor::strings(&[2], &["k=v", "x"]).unwrap();
/// let found = extenso_ext::regex_groups(&x.into(), "(?P<key>[a-z])=(?P<value>[a-z])").unwrap();
/// let shown = r#"[{"key": "k", "value": "v"}, {"key": None, "value": None}]"#;
/// assert_eq!(extenso_ext::to_literal(&found).unwrap().to_string(), shown);
/// ```
pub fn regex_groups(x: &Value, pattern: &str) -> Result<Value> {
    let names = ops::group_names(pattern).map_err(|e| e.at_part("regex_groups"))?;
    if names.is_empty() {
        return Err(Error::value("the pattern has no group")
            .wanted("a group in brackets for each field")
            .hint("`regex_extract(x, pattern, group=0)` gives the whole match.")
            .at("regex_groups"));
    }
    records(x, pattern, &names).map_err(|e| e.at_part("regex_groups"))
}

fn records(x: &Value, pattern: &str, names: &[String]) -> Result<Value> {
    if let Some(x) = typed::<RaggedTensor>(x) {
        return Ok(x.with_values(records(x.values(), pattern, names)?)?.into_value());
    }
    if let Some(masked) = typed::<MaskedTensor>(x) {
        let inside = records(masked.values(), pattern, names)?;
        return Ok(MaskedTensor::new(inside, masked.mask().clone())?.into_value());
    }
    if let Some(words) = typed::<CategoricalTensor>(x) {
        return records(&words.decoded()?, pattern, names);
    }
    let spans = ops::regex_group_spans(x, pattern)?;
    // Groups begin and end between characters, so that their bytes are texts.
    let bytes = ops::string_encode(x, "utf-8".to_string())?;
    let field = |(group, name): (usize, &String)| Ok((Arc::from(name.as_str()), taking_part(&bytes, &spans, group)?));
    let fields = names.iter().enumerate().map(field).collect::<Result<Vec<(Arc<str>, Value)>>>()?;
    Ok(StructTensor::from_fields(x.tensor()?.shape().clone(), fields)?.into_value())
}

/// What a group matches, missing where it takes no part.
fn taking_part(bytes: &Value, spans: &Value, group: usize) -> Result<Value> {
    let of_group = ops::take(spans, int(group), -2)?;
    let (begin, end) = (ops::take(&of_group, 0, -1)?, ops::take(&of_group, 1, -1)?);
    let found = ops::substr_each(bytes, &begin, ops::subtract(end, &begin)?)?;
    let there = ops::greater_equal(begin, 0)?;
    let found = ops::string_decode(found, "utf-8".to_string(), "strict".to_string())?;
    Ok(MaskedTensor::new(found, there.tensor()?.clone())?.into_value())
}
