//! Splitting strings into rows: one more ragged axis.
//!
//! Compositions over ops: the pieces of all strings, and the partition that makes a row of those of each string.

use crate::args::typed;
use crate::axes::{one_row, rank};
use crate::masked::MaskedTensor;
use crate::ragged::RaggedTensor;
use crate::structs::masked_by;
use extenso_core::{ExtensionType, Value, ops};
use extenso_types::{DTypeKind, Error, Result};

/// The pieces of each string, in one more axis: at `sep`, or at Unicode white space; at most `maxsplit` times unless that is negative.
///
/// At white space no piece is empty; at `sep` pieces may be, as of Python's `str.split`. A vector gives a ragged tensor, a scalar
/// a vector; missing strings stay missing. Errors: no strings; an empty `sep`.
///
/// ```
/// # use extenso_core::Tensor;
/// let x = Tensor::strings(&[2], &["a b", ""]).unwrap();
/// assert_eq!(extenso_ext::to_literal(&extenso_ext::string_split(&x.into(), None, -1).unwrap()).unwrap().to_string(), r#"[["a", "b"], []]"#);
/// ```
pub fn string_split(x: &Value, sep: Option<&str>, maxsplit: i64) -> Result<Value> {
    let sep = sep.map(str::to_string);
    let pieces =
        |x: &Value| Ok((ops::split_values(x, sep.clone(), maxsplit)?, ops::split_partition(x, sep.clone(), maxsplit)?));
    deeper(x, &pieces).map_err(|e| e.at_part("string_split"))
}

/// The characters of each string, in one more axis: strings of one Unicode code point each.
///
/// A vector gives a ragged tensor, a scalar a vector; missing strings stay missing. Errors: no strings.
pub fn string_characters(x: &Value) -> Result<Value> {
    let pieces = |x: &Value| Ok((ops::character_values(x)?, of_characters(x)?));
    deeper(x, &pieces).map_err(|e| e.at_part("string_characters"))
}

/// The partition that makes a row of the characters of each string of a vector.
pub(crate) fn of_characters(x: &Value) -> Result<Value> {
    ops::partition_from_lengths(ops::string_length(x, "char")?)
}

/// The pieces of all strings of a vector, and the partition that makes a row of those of each.
pub(crate) type Pieces<'a> = &'a dyn Fn(&Value) -> Result<(Value, Value)>;

/// The strings taken apart, in one more axis.
pub(crate) fn deeper(x: &Value, pieces: Pieces<'_>) -> Result<Value> {
    if let Some(x) = typed::<RaggedTensor>(x) {
        return Ok(x.with_values(deeper(x.values(), pieces)?)?.into_value());
    }
    if let Some(masked) = typed::<MaskedTensor>(x) {
        let values = masked.values();
        if crate::dtype_of(&values.spec()?).is_some_and(|dtype| dtype.kind() != DTypeKind::Text) {
            // The op says what it takes.
            return deeper(values, pieces);
        }
        let inside = if typed::<RaggedTensor>(values).is_some() {
            values.clone()
        } else if masked.mask_rank()? < rank(values)? {
            // A list that is missing stays so.
            let inside = if values.tensor().is_ok() { masked.filled("")? } else { values.clone() };
            return masked_by(deeper(&inside, pieces)?, masked.mask());
        } else if rank(values)? > 1 {
            // A mask covers no ragged axis: the mask goes into the rows.
            return deeper(&RaggedTensor::of_uniform(x)?.into_value(), pieces);
        } else {
            masked.filled("")?
        };
        return Ok(MaskedTensor::new(deeper(&inside, pieces)?, masked.mask().clone())?.into_value());
    }
    match rank(x)? {
        0 => Ok(pieces(&ops::expand_dims(x, 0)?)?.0),
        1 => {
            let (values, partition) = pieces(x)?;
            Ok(RaggedTensor::from_partition(values, partition.partition()?.clone())?.into_value())
        }
        _ => deeper(&RaggedTensor::of_uniform(x)?.into_value(), pieces),
    }
}

/// What stands around rows before n-grams are taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NgramPads {
    /// The text in front.
    pub left: String,
    /// The text behind.
    pub right: String,
    /// How often at most; otherwise, and never more, one time less than the width.
    pub most: Option<i64>,
}

/// The n-grams of each innermost row: each `width` neighbours joined, with `separator` between them; of several widths, those of the
/// first in front.
///
/// A row shorter than a width has none of it. With `pads`, texts that stand for nothing are put around each row first, so that the
/// ends are in as many n-grams as what is between. Errors: no strings; a scalar; no width, or one below one; rows in which strings may
/// be missing; a negative number of pads.
///
/// ```
/// # use extenso_core::Tensor;
/// # use extenso_ext::{NgramPads, string_ngrams};
/// let x = Tensor::strings(&[3], &["a", "b", "c"]).unwrap().into();
/// assert_eq!(string_ngrams(&x, &[2], " ", None).unwrap().to_string(), r#"["a b", "b c"]"#);
/// let pads = NgramPads { left: "<".into(), right: ">".into(), most: None };
/// assert_eq!(string_ngrams(&x, &[3, 2], "", Some(&pads)).unwrap().to_string(), r#"["<<a", "<ab", "abc", "bc>", "c>>", "<a", "ab", "bc", "c>"]"#);
/// ```
pub fn string_ngrams(x: &Value, widths: &[i64], separator: &str, pads: Option<&NgramPads>) -> Result<Value> {
    let of_width = |&width: &i64| match pads {
        Some(pads) if width > 1 => neighbours(&padded(x, pads, width - 1)?, width, separator),
        _ => neighbours(x, width, separator),
    };
    let all = || {
        if let Some(most) = pads.and_then(|pads| pads.most).filter(|most| *most < 0) {
            return Err(Error::value(format!("the number of pads is {most}")).wanted("a number that is not negative"));
        }
        let mut grams = widths.iter().map(of_width).collect::<Result<Vec<Value>>>()?;
        match grams.len() {
            0 => Err(Error::value("no width is given").wanted("at least one width")),
            1 => Ok(grams.remove(0)),
            _ => ops::concat(grams, -1),
        }
    };
    all().map_err(|e| e.at_part("string_ngrams"))
}

/// The innermost rows with texts around them, as often as n-grams want.
fn padded(x: &Value, pads: &NgramPads, wanted: i64) -> Result<Value> {
    let often = pads.most.map_or(wanted, |most| most.min(wanted));
    let mut widths = vec![0; 2 * rank(x)?];
    let at = widths.len().checked_sub(2).ok_or_else(no_neighbours)?;
    widths[at] = often;
    let behind = ops::pad(x, pads.left.as_str(), widths.clone())?;
    widths.swap(at, at + 1);
    ops::pad(behind, pads.right.as_str(), widths)
}

fn no_neighbours() -> Error {
    Error::shape("a scalar has no neighbours").wanted("at least a vector of strings")
}

fn neighbours(x: &Value, width: i64, separator: &str) -> Result<Value> {
    if let Some(x) = typed::<RaggedTensor>(x) {
        if rank(x.values())? > 1 {
            return Ok(x.with_values(neighbours(x.values(), width, separator)?)?.into_value());
        }
        let values = ops::ngram_values(x.values(), x.partition(), width, separator)?;
        let counts = ops::subtract(x.row_lengths()?, width.saturating_sub(1))?;
        return Ok(RaggedTensor::from_row_lengths(values, ops::maximum(counts, 0)?.tensor()?)?.into_value());
    }
    // Whole rows may be missing; strings in a row may not, which the op says.
    if let Some(masked) = typed::<MaskedTensor>(x)
        && masked.mask_rank()? < rank(x)?
    {
        let values = neighbours(masked.values(), width, separator)?;
        return masked_by(values, masked.mask());
    }
    match rank(x)? {
        0 => Err(no_neighbours()),
        1 => ops::ngram_values(x, one_row(x)?, width, separator),
        _ => neighbours(&RaggedTensor::of_uniform(x)?.into_value(), width, separator),
    }
}
