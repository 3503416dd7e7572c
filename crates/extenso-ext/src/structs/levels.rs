//! Fields moved between the levels of nested records: up into the records around them, down into the records inside.
//!
//! Names and meaning are those of struct2tensor (Google): `promote` joins the lists between the two levels, `broadcast`
//! repeats a field for each record below. Composed of ops on row partitions, so that both are traced as they run.

use super::StructTensor;
use super::handlers::has_rows;
use super::names::FieldPath;
use super::path::masked_by;
use super::update::{each_record, records, with_replaced};
use crate::args::{int, typed, typed_ref};
use crate::axes::{dim, rank, zeros};
use crate::masked::MaskedTensor;
use crate::missing::as_rows;
use crate::ragged::{RaggedTensor, cut_like};
use extenso_core::{ExtensionType, RowPartition, Tensor, Value, ops};
use extenso_types::{DType, Error, Result};
use std::sync::Arc;

/// The records with the field at `path` also at `to`, one or more levels further up: `docs.tokens` as `tokens` has, for each
/// record, the tokens of all its docs in one list.
///
/// A list between the levels is joined with the lists inside it, a single value becomes an item of the list. A missing list
/// counts as empty, a missing item stays.
/// Errors: `to` is not in records that `path` goes through; there is a field already.
///
/// ```
/// # use extenso_ext::{Literal, constant, index, promote, to_literal};
/// let doc = |tokens: Vec<i64>| Literal::record([("tokens", tokens)]);
/// let user = |docs: Vec<Literal>| Literal::record([("docs", docs)]);
/// let x = constant(vec![user(vec![doc(vec![7, 17]), doc(vec![3, 13])]), user(vec![doc(vec![5, 15])])]).unwrap();
/// let tokens = index(&promote(&x, ["docs", "tokens"], "tokens").unwrap(), &["tokens".into()]).unwrap();
/// assert_eq!(to_literal(&tokens).unwrap().to_string(), "[[7, 17, 3, 13], [5, 15]]");
/// ```
pub fn promote(x: &Value, path: impl Into<FieldPath>, to: impl Into<FieldPath>) -> Result<Value> {
    let (path, to) = (path.into(), to.into());
    promoted(x, &path, &to).map_err(|e| e.at(format!("'{path}' to '{to}'")).at_part("promote"))
}

/// The records with the field at `path` also at `to`, one or more levels further down: `id` as `docs.id` has the id of the
/// record in each of its docs.
///
/// Errors: `to` is not in records below those that have the field; there is a field already.
///
/// ```
/// # use extenso_ext::{Literal, broadcast, constant, index, to_literal};
/// let doc = |n: i64| Literal::record([("n", n)]);
/// let user = |id: i64, docs: Vec<Literal>| Literal::record([("id", Literal::from(id)), ("docs", docs.into())]);
/// let x = constant(vec![user(7, vec![doc(1), doc(2)]), user(8, vec![])]).unwrap();
/// let ids = index(&broadcast(&x, "id", ["docs", "id"]).unwrap(), &["docs".into(), "id".into()]).unwrap();
/// assert_eq!(to_literal(&ids).unwrap().to_string(), "[[7, 7], []]");
/// ```
pub fn broadcast(x: &Value, path: impl Into<FieldPath>, to: impl Into<FieldPath>) -> Result<Value> {
    let (path, to) = (path.into(), to.into());
    pushed(x, &path, &to).map_err(|e| e.at(format!("'{path}' to '{to}'")).at_part("broadcast"))
}

fn promoted(x: &Value, path: &FieldPath, to: &FieldPath) -> Result<Value> {
    let ((way, _), (target, name)) = (path.split()?, to.split()?);
    if target.len() >= way.len() || !way.starts_with(target) {
        return Err(Error::value("the new field is not above the other")
            .wanted("a new name in records that the path goes through, above those with the field")
            .hint("Each level of a path is a name of its own: 'docs', then 'tokens'."));
    }
    let inner = &path.names()[target.len()..];
    in_records(x, target, &|records| lifted(records, inner, name))
}

/// The records with the field that `inner` leads to as their own; records of several axes stand in rows then, as what is joined does.
fn lifted(records: &StructTensor, inner: &[Arc<str>], name: &Arc<str>) -> Result<Value> {
    if records.rank() < 2 {
        return with_added(records, name, lift(records.field(&inner[0])?, &inner[1..], records.rank())?);
    }
    let rows = RaggedTensor::of_uniform(&records.clone().into_value())?;
    Ok(rows.with_values(lifted(&*self::records(rows.values())?, inner, name)?)?.into_value())
}

fn pushed(x: &Value, path: &FieldPath, to: &FieldPath) -> Result<Value> {
    let ((way, source), (target, name)) = (path.split()?, to.split()?);
    if way.len() >= target.len() || !target.starts_with(way) {
        return Err(Error::value("the new field is not below the other")
            .wanted("a new name in records below those with the field"));
    }
    let inner = &target[way.len()..];
    in_records(x, way, &|records| {
        let below = push(records.field(&inner[0])?, &inner[1..], name, records.field(source)?, records.rank())?;
        with_replaced(records, &inner[0], below)
    })
}

/// The value with the records at the end of `way` replaced.
fn in_records(x: &Value, way: &[Arc<str>], f: &dyn Fn(&StructTensor) -> Result<Value>) -> Result<Value> {
    each_record(x, &|records| match way.split_first() {
        None => f(records),
        Some((name, rest)) => with_replaced(records, name, in_records(records.field(name)?, rest, f)?),
    })
}

/// The records with a field of a new name.
///
/// Errors: there is one of this name.
pub(super) fn with_added(records: &StructTensor, name: &Arc<str>, value: Value) -> Result<Value> {
    if records.field(name).is_ok() {
        return Err(Error::value(format!("there is a field '{name}' already")).wanted("a new name"));
    }
    with_replaced(records, name, value)
}

/// The field that `names` lead to below `x`, as a field of records with `axes` axes, which `x` is a field of.
pub(super) fn lift(x: &Value, names: &[Arc<str>], axes: usize) -> Result<Value> {
    let Some((name, rest)) = names.split_first() else { return Ok(x.clone()) };
    if let Some(masked) = typed_ref::<MaskedTensor>(x)
        && masked.mask_rank()? <= axes
    {
        return masked_list(lift(masked.values(), names, axes)?, masked.mask());
    }
    if rank(x)? > axes {
        return lift_list(x, names, axes);
    }
    lift(records(x)?.field(name)?, rest, axes)
}

/// The value, missing where it is and where the mask says so; a list that is missing is not one of missing items.
fn masked_list(value: Value, mask: &Tensor) -> Result<Value> {
    let own = typed::<MaskedTensor>(&value).map_or(Ok(0), |masked| masked.mask_rank())?;
    let lists = own == 2 && rank(&mask.clone().into())? == 1;
    masked_by(if lists { as_rows(&value)?.into_value() } else { value }, mask)
}

/// The same where `x` is a list in each record: the field's lists in one list are joined.
fn lift_list(x: &Value, names: &[Arc<str>], axes: usize) -> Result<Value> {
    match axes {
        0 => joined(lift(x, names, 1)?),
        1 => {
            let rows = rows_of(x)?;
            join_rows(lift(rows.values(), names, 1)?, rows.partition())
        }
        _ => Err(Error::shape(format!("the records have {axes} axes")).wanted("one record, or a vector of records")),
    }
}

/// The items of lists in one list, and for each the position of its list. A missing list counts as empty.
pub(super) fn rows_and_parents(x: &Value) -> Result<(Value, Value)> {
    let (rows, mask) = rows_and_mask(x)?;
    let (rows, kept) = present(rows, mask)?;
    let rows = rows.compact()?;
    let places = ops::value_rowids(rows.partition())?;
    let parents = match kept {
        Some(kept) => ops::take(ops::value_rowids(&kept)?, places, 0)?,
        None => places,
    };
    Ok((rows.values().clone(), parents))
}

/// A list in each element as rows, and which lists there are.
fn rows_and_mask(x: &Value) -> Result<(RaggedTensor, Option<Tensor>)> {
    if let Some(masked) = typed::<MaskedTensor>(x).filter(|x| x.mask_rank().is_ok_and(|rank| rank == 1)) {
        return Ok((rows_of(masked.values())?, Some(masked.mask().clone())));
    }
    Ok((rows_of(x)?, None))
}

fn rows_of(x: &Value) -> Result<RaggedTensor> {
    typed(x).map_or_else(|| RaggedTensor::of_uniform(x), Ok)
}

/// A vector of lists as one list; a vector of single values is one.
fn joined(x: Value) -> Result<Value> {
    if rank(&x)? < 2 {
        return Ok(x);
    }
    let (rows, mask) = rows_and_mask(&x)?;
    Ok(present(rows, mask)?.0.compact()?.values().clone())
}

/// The lists that are there, and which ones these are; a missing list must not bring its values in.
fn present(rows: RaggedTensor, mask: Option<Tensor>) -> Result<(RaggedTensor, Option<RowPartition>)> {
    let Some(mask) = mask else { return Ok((rows, None)) };
    let kept = ops::partition_from_lengths(ops::cast(mask, DType::I64)?)?.partition()?.clone();
    let there = ops::gather_rows_of(rows.into_value(), &kept)?;
    Ok((RaggedTensor::from_value(&there)?, Some(kept)))
}

/// The values of each row, joined where they are lists.
fn join_rows(values: Value, partition: &RowPartition) -> Result<Value> {
    let whole = RaggedTensor::from_partition(values, partition.clone())?;
    if rank(whole.values())? < 2 {
        return Ok(whole.into_value());
    }
    let whole = whole.compact()?;
    let (inner, mask) = rows_and_mask(whole.values())?;
    let (inner, kept) = present(inner, mask)?;
    let inner = inner.compact()?;
    let outer = match kept {
        // As many lists as there are in each row.
        Some(kept) => {
            let lengths = ops::segment_sum(ops::row_lengths(&kept)?, whole.partition())?;
            cut_like(lengths, whole.partition())?
        }
        None => whole.partition().clone(),
    };
    let lengths = ops::segment_sum(ops::row_lengths(inner.partition())?, &outer)?;
    let partition = cut_like(lengths, inner.partition())?;
    Ok(RaggedTensor::from_partition(inner.values().clone(), partition)?.into_value())
}

/// `x`, a field of records with `axes` axes, with `value` of those records as the field `name` below `way`.
fn push(x: &Value, way: &[Arc<str>], name: &Arc<str>, value: &Value, axes: usize) -> Result<Value> {
    if let Some(masked) = typed::<MaskedTensor>(x) {
        return Ok(
            MaskedTensor::new(push(masked.values(), way, name, value, axes)?, masked.mask().clone())?.into_value()
        );
    }
    if rank(x)? > axes {
        return push_into_list(x, way, name, value, axes);
    }
    let below = records(x)?;
    match way.split_first() {
        None => with_added(&below, name, value.clone()),
        Some((first, rest)) => with_replaced(&below, first, push(below.field(first)?, rest, name, value, axes)?),
    }
}

fn push_into_list(x: &Value, way: &[Arc<str>], name: &Arc<str>, value: &Value, axes: usize) -> Result<Value> {
    if axes == 0 {
        let repeated = ops::take(ops::expand_dims(value, 0)?, zeros(x)?, 0)?;
        return push(x, way, name, &repeated, 1);
    }
    // What has rows of its own is not repeated along an axis, but for each record of a list.
    let rows = if axes == 1 && has_rows(value) { Some(rows_of(x)?) } else { typed(x) };
    if let Some(rows) = rows {
        let repeated = ops::gather_rows_of(value, rows.partition())?;
        return Ok(rows.with_values(push(rows.values(), way, name, &repeated, 1)?)?.into_value());
    }
    let size = dim(x, axes)?.known().ok_or_else(|| {
        Error::shape(format!("the size of axis {axes} is not known while tracing"))
            .wanted("lists of a known size, or rows")
    })?;
    let repeated = ops::take(
        ops::expand_dims(value, int(axes))?,
        crate::axes::filled(Tensor::scalar(0_i64), &[size])?,
        int(axes),
    )?;
    push(x, way, name, &repeated, axes + 1)
}
