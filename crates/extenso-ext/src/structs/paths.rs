//! Functions of paths in nested records: parts of records, and what is known of the field at a path.
//!
//! Names and meaning are those of struct2tensor (Google). A path is of names alone; rows and masks on the way are passed
//! through, and what is missing outside is missing inside. Composed of ops, so that all are traced as they run.

use super::levels::{lift, rows_and_parents, with_added};
use super::names::FieldPath;
use super::path::{masked_by, select};
use super::update::{each_record, in_rows, only_fields, records, with_field, with_replaced};
use crate::args::{int, typed};
use crate::axes::{positions, rank, zeros_of};
use crate::masked::{MaskedTensor, fill_none, lists_of, missing_lists, trailing};
use crate::missing::{as_rows, is_valid};
use crate::ragged::{self, RaggedTensor};
use extenso_core::{ExtensionType, Value, ops};
use extenso_types::{DType, Error, Result};
use std::sync::Arc;

/// The records with some fields only, which keep their places: `docs.n` stays in the records of `docs`.
///
/// Errors: a path that leads nowhere; a field that is named twice, or as a whole and in part.
///
/// ```
/// # use extenso_ext::{FieldPath, Literal, constant, paths, to_literal};
/// let doc = Literal::record([("n", 1), ("m", 2)]);
/// let x = constant(vec![Literal::record([("docs", vec![doc])])]).unwrap();
/// let part = paths::project(&x, [["docs", "n"]]).unwrap();
/// assert_eq!(to_literal(&part).unwrap().to_string(), r#"[{"docs": [{"n": 1}]}]"#);
/// ```
pub fn project<P: Into<FieldPath>>(x: &Value, paths: impl IntoIterator<Item = P>) -> Result<Value> {
    let paths: Vec<FieldPath> = paths.into_iter().map(Into::into).collect();
    projected(x, &paths).map_err(|e| e.at_part("project"))
}

fn projected(x: &Value, paths: &[FieldPath]) -> Result<Value> {
    paths.iter().try_for_each(|path| path.split().map(|_| ()))?;
    let names: Vec<&[Arc<str>]> = paths.iter().map(FieldPath::names).collect();
    only_fields(x, &names)
}

/// What stands at a path in all records, in one vector; with `index`, records that have a new field of this name: the position
/// of the record at the root that each was in.
///
/// Lists on the way are joined; a missing list counts as empty, a missing item stays.
/// Errors: a path that leads nowhere; `index` for what is no record, or of a name that is there already.
///
/// ```
/// # use extenso_ext::{Literal, constant, paths, to_literal};
/// let user = |docs: Vec<i64>| Literal::record([("docs", docs.into_iter().map(|n| Literal::record([("n", n)])).collect::<Vec<_>>())]);
/// let x = constant(vec![user(vec![1, 2]), user(vec![]), user(vec![3])]).unwrap();
/// let docs = paths::reroot(&x, "docs", Some("user")).unwrap();
/// let wanted = r#"[{"n": 1, "user": 0}, {"n": 2, "user": 0}, {"n": 3, "user": 2}]"#;
/// assert_eq!(to_literal(&docs).unwrap().to_string(), wanted);
/// ```
pub fn reroot(x: &Value, path: impl Into<FieldPath>, index: Option<&str>) -> Result<Value> {
    let path = path.into();
    rerooted(x, &path, index).map_err(|e| e.at(format!("'{path}'")).at("reroot"))
}

fn rerooted(x: &Value, path: &FieldPath, index: Option<&str>) -> Result<Value> {
    path.split()?;
    let root = if rank(x)? == 0 { ops::expand_dims(x, 0)? } else { x.clone() };
    let lists = lift(&root, path.names(), 1)?;
    let (values, parents) = if rank(&lists)? > 1 {
        rows_and_parents(&lists)?
    } else {
        let parents = positions(&lists)?;
        (lists, parents)
    };
    match index {
        None => Ok(values),
        Some(name) => {
            let name: Arc<str> = name.into();
            each_record(&values, &|records| with_added(records, &name, parents.clone()))
        }
    }
}

/// Whether the field at a path has a value in each of its records: an item of a list, or the value itself.
///
/// Shapes: the rows of the records that have the field. Errors: a path that leads nowhere.
///
/// ```
/// # use extenso_ext::{Literal, constant, paths};
/// let user = |docs: Vec<i64>| Literal::record([("docs", docs)]);
/// let x = constant(vec![user(vec![1, 2]), user(vec![])]).unwrap();
/// assert_eq!(paths::has(&x, "docs").unwrap().to_string(), "[True, False]");
/// ```
pub fn has(x: &Value, path: impl Into<FieldPath>) -> Result<Value> {
    of_field(x, path.into(), "has", &|field, axes| ops::greater(count(field, axes)?, 0))
}

/// How many values the field at a path has in each of its records: the items of a list; of a single value one, or none where it
/// is missing. A missing list counts as empty.
///
/// Shapes: the rows of the records that have the field; i64. Errors: a path that leads nowhere.
///
/// ```
/// # use extenso_ext::{Literal, constant, paths};
/// let user = |docs: Vec<i64>| Literal::record([("docs", docs)]);
/// let x = constant(vec![user(vec![1, 2]), user(vec![])]).unwrap();
/// assert_eq!(paths::size(&x, "docs").unwrap().to_string(), "[2, 0]");
/// ```
pub fn size(x: &Value, path: impl Into<FieldPath>) -> Result<Value> {
    of_field(x, path.into(), "size", &count)
}

fn count(field: &Value, axes: usize) -> Result<Value> {
    if rank(field)? <= axes {
        return ops::cast(is_valid(field, None)?, DType::I64);
    }
    match masked_lists(field, axes)? {
        Some(masked) => {
            let mask = trailing(&masked.mask().clone().into(), axes - masked.mask_rank()?)?;
            ops::where_(mask, count(masked.values(), axes)?, 0)
        }
        None => ragged::num(field.clone(), int(axes)),
    }
}

/// The field, if lists are missing in it as a whole.
fn masked_lists(field: &Value, axes: usize) -> Result<Option<MaskedTensor>> {
    let Some(masked) = typed::<MaskedTensor>(field) else { return Ok(None) };
    Ok((masked.mask_rank()? <= axes).then_some(masked))
}

/// The position of each value of the field at a path among those of its record; 0 for a single value.
///
/// Shapes: those of the field, up to its list; i64. Errors: a path that leads nowhere.
///
/// ```
/// # use extenso_ext::{Literal, constant, paths, to_literal};
/// let user = |docs: Vec<i64>| Literal::record([("docs", docs)]);
/// let x = constant(vec![user(vec![7, 8]), user(vec![9])]).unwrap();
/// assert_eq!(to_literal(&paths::local_index(&x, "docs").unwrap()).unwrap().to_string(), "[[0, 1], [0]]");
/// ```
pub fn local_index(x: &Value, path: impl Into<FieldPath>) -> Result<Value> {
    of_field(x, path.into(), "local_index", &places)
}

fn places(field: &Value, axes: usize) -> Result<Value> {
    if let Some(masked) = masked_lists(field, axes)? {
        return masked_by(places(masked.values(), axes)?, masked.mask());
    }
    if rank(field)? <= axes { zeros_of(field, axes) } else { ragged::local_index(field.clone(), int(axes)) }
}

/// The records with the items of the list at a path where `mask` is true alone.
///
/// Shapes: the mask has the rows of the field; what is missing in it is not true. Errors: a path that leads nowhere, or to no
/// list; a mask that is not boolean, or of other rows.
///
/// ```
/// # use extenso_ext::{Literal, constant, paths, to_literal};
/// let user = |docs: Vec<i64>| Literal::record([("docs", docs)]);
/// let x = constant(vec![user(vec![1, 2]), user(vec![3])]).unwrap();
/// let mask = constant(vec![vec![true, false], vec![true]]).unwrap();
/// let kept = paths::filter(&x, "docs", &mask).unwrap();
/// assert_eq!(to_literal(&kept).unwrap().to_string(), r#"[{"docs": [1]}, {"docs": [3]}]"#);
/// ```
pub fn filter(x: &Value, path: impl Into<FieldPath>, mask: &Value) -> Result<Value> {
    let kept = |field: &Value, axes: usize, mask: Option<&Value>| {
        check_list(field, axes)?;
        let mask = mask.ok_or_else(|| Error::internal("the mask is lost"))?;
        if axes == 0 {
            return ops::boolean_mask(field, fill_none(mask, false)?, 0);
        }
        let Some(there) = missing_lists(mask).filter(|lists| lists.mask_rank().is_ok_and(|axes| axes == 1)) else {
            return ops::boolean_mask(field, fill_none(&as_rows(mask)?.into_value(), false)?, 0);
        };
        // Where there is no list of the mask, nothing is kept.
        let there_alone = |lists: &Value| as_rows(lists)?.only_where(there.mask()).map(ExtensionType::into_value);
        let kept = fill_none(&there_alone(there.values())?, false)?;
        let cut = there_alone(&lists_of(field))?;
        let cut = missing_lists(field).map_or_else(|| Ok(cut.clone()), |lists| masked_by(cut.clone(), lists.mask()))?;
        ops::boolean_mask(cut, kept, 0)
    };
    changed(x, path.into(), "filter", Some(mask), &kept)
}

/// The records with the list at a path sliced, by the rules of Python's slices: the items from `begin` to before `end`.
///
/// Errors: a path that leads nowhere, or to no list.
///
/// ```
/// # use extenso_ext::{Literal, constant, paths, to_literal};
/// let user = |docs: Vec<i64>| Literal::record([("docs", docs)]);
/// let x = constant(vec![user(vec![1, 2, 3]), user(vec![4])]).unwrap();
/// let last = paths::slice(&x, "docs", Some(-2), None).unwrap();
/// assert_eq!(to_literal(&last).unwrap().to_string(), r#"[{"docs": [2, 3]}, {"docs": [4]}]"#);
/// ```
pub fn slice(x: &Value, path: impl Into<FieldPath>, begin: Option<i64>, end: Option<i64>) -> Result<Value> {
    let part = |field: &Value, axes: usize, _: Option<&Value>| {
        check_list(field, axes)?;
        ops::slice(field, int(axes), begin.unwrap_or(0), end.map(|end| vec![end]), 1)
    };
    changed(x, path.into(), "slice", None, &part)
}

fn check_list(field: &Value, axes: usize) -> Result<()> {
    if rank(field)? > axes {
        return Ok(());
    }
    Err(Error::shape("there is one value in each record").wanted("a list in each record"))
}

/// The records with what `f` makes of the values at some paths as the field `to`, which is replaced or added.
///
/// The values have the rows of their records, from the root; the result has those of the records at `to`.
/// Errors: those of `f`; a path that leads nowhere; a result of other rows.
///
/// ```
/// # use extenso_ext::{FieldPath, Literal, constant, paths, to_literal};
/// # use extenso_core::ops;
/// let x = constant(vec![Literal::record([("a", 1), ("b", 2)])]).unwrap();
/// let sum = paths::apply(&x, ["a", "b"], |values| ops::add(&values[0], &values[1]), "sum").unwrap();
/// assert_eq!(to_literal(&sum).unwrap().to_string(), r#"[{"a": 1, "b": 2, "sum": 3}]"#);
/// ```
pub fn apply<P: Into<FieldPath>>(
    x: &Value,
    paths: impl IntoIterator<Item = P>,
    f: impl FnOnce(&[Value]) -> Result<Value>,
    to: impl Into<FieldPath>,
) -> Result<Value> {
    let values: Result<Vec<Value>> = paths.into_iter().map(|path| value_at(x, &path.into())).collect();
    values
        .and_then(|values| with_field(x, &to.into(), &f(&values).map_err(Error::settled)?))
        .map_err(|e| e.at_part("apply"))
}

fn value_at(x: &Value, path: &FieldPath) -> Result<Value> {
    path.split()
        .and_then(|_| path.names().iter().try_fold(x.clone(), |value, name| select(&value, name)))
        .map_err(|e| e.at(format!("'{path}'")))
}

/// What is made of a field and of the number of axes of its records.
type OfField<'a> = &'a dyn Fn(&Value, usize) -> Result<Value>;

/// The values of a function of the field at a path, in the rows of its records.
fn of_field(x: &Value, path: FieldPath, what: &str, f: OfField<'_>) -> Result<Value> {
    let found = path.split().and_then(|(way, name)| of_records(x, way, name, f));
    found.map_err(|e| e.at(format!("'{path}'")).at(what))
}

fn of_records(x: &Value, way: &[Arc<str>], name: &Arc<str>, f: OfField<'_>) -> Result<Value> {
    if let Some(masked) = typed::<MaskedTensor>(x) {
        return masked_by(of_records(masked.values(), way, name, f)?, masked.mask());
    }
    if let Some(rows) = typed::<RaggedTensor>(x) {
        return Ok(rows.with_values(of_records(rows.values(), way, name, f)?)?.into_value());
    }
    let records = records(x)?;
    match way.split_first() {
        None => f(records.field(name)?, records.rank()),
        Some((first, rest)) => of_records(records.field(first)?, rest, name, f),
    }
}

/// What a field becomes, by the number of axes of its records and a value with its rows.
type NewField<'a> = &'a dyn Fn(&Value, usize, Option<&Value>) -> Result<Value>;

/// The records with the field at a path replaced by what `f` makes of it.
fn changed(x: &Value, path: FieldPath, what: &str, with: Option<&Value>, f: NewField<'_>) -> Result<Value> {
    let made = path.split().and_then(|(way, name)| changed_below(x, way, name, with, f));
    made.map_err(|e| e.at(format!("'{path}'")).at(what))
}

fn changed_below(x: &Value, way: &[Arc<str>], name: &Arc<str>, with: Option<&Value>, f: NewField<'_>) -> Result<Value> {
    if let Some(masked) = typed::<MaskedTensor>(x) {
        let (values, with) = match with {
            Some(with) => with_those_there(&masked, with).map(|(values, with)| (values, Some(with)))?,
            None => (masked.values().clone(), None),
        };
        let values = changed_below(&values, way, name, with.as_ref(), f)?;
        return Ok(MaskedTensor::new(values, masked.mask().clone())?.into_value());
    }
    if let Some(rows) = typed::<RaggedTensor>(x) {
        let (rows, inner) = match with {
            Some(with) => in_rows(rows, with).map(|(rows, inner)| (rows, Some(inner)))?,
            None => (rows, None),
        };
        let values = changed_below(rows.values(), way, name, inner.as_ref(), f)?;
        return Ok(rows.with_values(values)?.into_value());
    }
    let records = records(x)?;
    let (name, made) = match way.split_first() {
        None => (name, f(records.field(name)?, records.rank(), with)?),
        Some((first, rest)) => (first, changed_below(records.field(first)?, rest, name, with, f)?),
    };
    with_replaced(&records, name, made)
}

/// The values under a mask and what stands beside them, which has nothing to say where they are missing.
fn with_those_there(masked: &MaskedTensor, with: &Value) -> Result<(Value, Value)> {
    let values = masked.values();
    if masked.mask_rank()? != 1 || rank(with)? < 2 {
        return Ok((values.clone(), with.clone()));
    }
    match typed::<RaggedTensor>(values) {
        Some(rows) => {
            let with = as_rows(&lists_of(with))?.only_where(masked.mask())?;
            Ok((rows.only_where(masked.mask())?.into_value(), with.into_value()))
        }
        None => Ok((values.clone(), masked_by(with.clone(), masked.mask())?)),
    }
}
