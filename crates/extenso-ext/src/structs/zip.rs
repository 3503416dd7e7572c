//! Records of values that stand side by side, and the values of records.

use super::path::{masked_by, select};
use super::{Field, StructTensor};
use crate::args::{int, typed};
use crate::axes::{outer, rank, zeros, zeros_of};
use crate::masked::{MaskedTensor, lists_there, trailing};
use crate::ragged::RaggedTensor;
use extenso_core::{ExtensionType, MAX_RANK, Value, ops};
use extenso_types::{Dim, Error, Result, Shape};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Records of these fields, as deep inside as the lists of the deepest one go, or `depth_limit` axes deep. Awkward Array's name.
///
/// Lists at one depth have the same lengths in all fields that have them; a field that has no list there is repeated for each
/// item. Where the list of one field is missing, that of records is. Errors: lists of other lengths, with the field; no field; a limit
/// below 1.
///
/// ```
/// # use extenso_ext::{constant, to_literal, zip};
/// let (n, m) = (constant(vec![vec![1, 2], vec![3]]).unwrap(), constant(vec!["a", "b"]).unwrap());
/// let both = zip([("n", n), ("m", m)], None).unwrap();
/// let wanted = r#"[[{"n": 1, "m": "a"}, {"n": 2, "m": "a"}], [{"n": 3, "m": "b"}]]"#;
/// assert_eq!(to_literal(&both).unwrap().to_string(), wanted);
/// ```
pub fn zip<N: Into<Arc<str>>, V: Into<Value>>(
    fields: impl IntoIterator<Item = (N, V)>,
    depth_limit: Option<i64>,
) -> Result<Value> {
    let fields: Vec<Field> = fields.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    checked(&fields, depth_limit).and_then(|depth| zipped(fields, depth)).map_err(|e| e.at_part("zip"))
}

/// How many axes the records may have.
fn checked(fields: &[Field], depth_limit: Option<i64>) -> Result<usize> {
    if fields.is_empty() {
        return Err(Error::value("there is no field").wanted("at least one value with its name"));
    }
    let limit = depth_limit.unwrap_or(int(MAX_RANK));
    usize::try_from(limit).ok().filter(|limit| *limit > 0).ok_or_else(|| {
        Error::value(format!("depth_limit is {limit}")).wanted("at least 1, or none for as deep as the fields go")
    })
}

fn zipped(mut fields: Vec<Field>, depth: usize) -> Result<Value> {
    let ranks: Result<Vec<usize>> = fields.iter().map(|(_, value)| rank(value)).collect();
    let ranks = ranks?;
    let axes = ranks.iter().copied().max().unwrap_or(0).min(depth);
    if axes > 1 && fields.iter().all(|(_, value)| is_of_one_size(value)) {
        return in_lists(fields, depth, axes);
    }
    let of_lists = fields.iter().zip(&ranks).filter(|(_, rank)| **rank > 1);
    let of_lists: Vec<Value> = of_lists.map(|((_, value), _)| value.clone()).collect();
    if axes > 1
        && let Some((lists, there)) = lists_there(&of_lists)?
    {
        let of_lists = fields.iter_mut().zip(ranks).filter(|(_, rank)| *rank > 1);
        of_lists.zip(lists).for_each(|(((_, value), _), lists)| *value = lists);
        return masked_by(zipped(fields, depth)?, &there);
    }
    if let Some(rows) = fields.iter().find_map(|(_, value)| typed::<RaggedTensor>(value)).filter(|_| axes > 1) {
        let rows = rows.compact()?;
        for ((name, value), rank) in fields.iter_mut().zip(ranks) {
            *value = in_rows(value, rank, &rows).map_err(|e| e.at(format!("field '{name}'")))?;
        }
        return Ok(rows.with_values(zipped(fields, depth - 1)?)?.into_value());
    }
    in_records(fields, depth)
}

/// Records of fields whose outer axes are of one size.
fn in_records(mut fields: Vec<Field>, depth: usize) -> Result<Value> {
    let ranks: Vec<usize> = fields.iter().map(|(_, value)| rank(value)).collect::<Result<_>>()?;
    let most = ranks.iter().copied().max().unwrap_or(0);
    let (deepest, axes) = (ranks.iter().position(|rank| *rank == most).unwrap_or(0), most.min(depth));
    let like = fields[deepest].1.clone();
    for ((name, value), rank) in fields.iter_mut().zip(ranks) {
        if rank < axes {
            *value = repeated(value, rank, &like, axes).map_err(|e| e.at(format!("field '{name}'")))?;
        }
    }
    let dim = |axis| if axis == 0 { Ok(outer(&like).unwrap_or_else(Dim::any)) } else { crate::axes::dim(&like, axis) };
    let dims: Result<Vec<Dim>> = (0..axes).map(dim).collect();
    Ok(StructTensor::new(Shape::new(dims?), fields)?.guarded()?.into_value())
}

/// The values of a field as rows cut them: its own, or one for each item of its row.
fn in_rows(value: &Value, rank: usize, rows: &RaggedTensor) -> Result<Value> {
    match rank {
        0 => Ok(value.clone()),
        1 => ops::gather_rows_of(value, rows.partition()),
        _ => typed(value).map_or_else(|| RaggedTensor::of_uniform(value), Ok)?.compact()?.values_in(rows.partition()),
    }
}

/// Whether the lists of a value, if it has some, have one size.
fn is_of_one_size(value: &Value) -> bool {
    match typed::<MaskedTensor>(value) {
        Some(masked) => is_of_one_size(masked.values()),
        None => typed::<RaggedTensor>(value).is_none(),
    }
}

/// Records in lists of one size, which are missing where those of a field are.
fn in_lists(mut fields: Vec<Field>, depth: usize, axes: usize) -> Result<Value> {
    let mut masks = BTreeMap::<usize, Value>::new();
    let is_of_lists = |x: &MaskedTensor| {
        let inside = rank(x.values()).map_or(axes, |all| all.min(axes));
        x.mask_rank().is_ok_and(|own| (1..inside).contains(&own))
    };
    for (_, value) in &mut fields {
        while let Some(masked) = typed::<MaskedTensor>(value).filter(is_of_lists) {
            let (own, mask) = (masked.mask_rank()?, Value::from(masked.mask().clone()));
            let both = masks.remove(&own).map_or(Ok(mask.clone()), |other| ops::logical_and(other, &mask))?;
            masks.insert(own, both);
            *value = masked.values().clone();
        }
    }
    let whole = in_records(fields, depth)?;
    masks.into_values().rev().try_fold(whole, |whole, mask| masked_by(whole, mask.tensor()?))
}

/// A value of fewer axes, repeated along the further axes of `like`.
fn repeated(value: &Value, rank: usize, like: &Value, axes: usize) -> Result<Value> {
    if rank == 0 && axes == 1 {
        return ops::take(ops::expand_dims(value, 0)?, zeros(like)?, 0);
    }
    ops::broadcast_like(trailing(value, axes - rank)?, zeros_of(like, axes)?)
}

/// The fields of records, each with their rows and missing where they are: the reverse of [`zip`].
///
/// Errors: a value that is no record, nor rows of records.
///
/// ```
/// # use extenso_ext::{Literal, constant, to_literal, unzip};
/// let x = constant(vec![vec![Literal::record([("n", 1)])], vec![]]).unwrap();
/// let fields = unzip(&x).unwrap();
/// assert_eq!((&*fields[0].0, to_literal(&fields[0].1).unwrap().to_string()), ("n", "[[1], []]".to_string()));
/// ```
pub fn unzip(x: &Value) -> Result<Vec<(Arc<str>, Value)>> {
    let field = |name: Arc<str>| Ok((name.clone(), select(x, &name)?));
    names(x).and_then(|names| names.into_iter().map(field).collect()).map_err(|e| e.at_part("unzip"))
}

fn names(x: &Value) -> Result<Vec<Arc<str>>> {
    if let Some(rows) = typed::<RaggedTensor>(x) {
        return names(rows.values());
    }
    if let Some(masked) = typed::<MaskedTensor>(x) {
        return names(masked.values());
    }
    Ok(super::update::records(x)?.fields().iter().map(|(name, _)| name.clone()).collect())
}
