//! Records with other fields: replaced, added, left out. What is not named is shared, buffers and all.

use super::names::FieldPath;
use super::{Field, StructTensor};
use crate::args::{typed, typed_ref};
use crate::masked::MaskedTensor;
use crate::ragged::{RaggedTensor, has_rows};
use extenso_core::{ExtensionType, Value};
use extenso_types::{Error, Result};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// The records with these fields replaced or added, one after the other.
///
/// Errors: those of [`with_field`], of the first update that does not fit.
pub(super) fn with_each(records: &StructTensor, updates: &[(FieldPath, Value)]) -> Result<Value> {
    let (mut value, mut left) = (records.clone().into_value(), updates);
    while let Some(((path, new), behind)) = left.split_first() {
        let fields: Vec<(&Arc<str>, &Value)> = left.iter().map_while(|update| own_field(records, update)).collect();
        match typed_ref::<StructTensor>(&value).filter(|_| fields.len() > 1) {
            Some(known) => {
                let updated = known.replaced(&fields)?.into_value();
                (value, left) = (updated, &left[fields.len()..]);
            }
            None => (value, left) = (with_field(&value, path, new)?, behind),
        }
    }
    Ok(value)
}

/// The name and the value of an update that puts no records in rows and leads to no records inside.
fn own_field<'a>(records: &StructTensor, (path, new): &'a (FieldPath, Value)) -> Option<(&'a Arc<str>, &'a Value)> {
    match path.names() {
        [name] if records.rank() < 2 || typed_ref::<RaggedTensor>(new).is_none() => Some((name, new)),
        _ => None,
    }
}

/// The value with `new` as the field that names lead to; `new` has the rows of the records on the way.
///
/// Errors: a name on the way that is no field; a new field of other rows or of another shape, with its name.
pub(super) fn with_field(value: &Value, path: &FieldPath, new: &Value) -> Result<Value> {
    let (way, name) = path.split()?;
    put(value, way, name, new).map_err(|e| at(e, path))
}

fn at(error: Error, path: &FieldPath) -> Error {
    match path.names() {
        [_] => error,
        _ => error.at(format!("'{path}'")),
    }
}

fn put(value: &Value, way: &[Arc<str>], name: &Arc<str>, new: &Value) -> Result<Value> {
    if let Some(masked) = typed::<MaskedTensor>(value) {
        let values = put(masked.values(), way, name, &under_mask(&masked, new))?;
        return Ok(MaskedTensor::new(values, masked.mask().clone())?.into_value());
    }
    if let Some(rows) = typed::<RaggedTensor>(value) {
        let (rows, inner) = in_rows(rows, new).map_err(|e| e.at(format!("field '{name}'")))?;
        return Ok(rows.with_values(put(rows.values(), way, name, &inner)?)?.into_value());
    }
    let records = records(value)?;
    let (name, new) = match way.split_first() {
        None => (name, new.clone()),
        Some((first, rest)) => (first, put(records.field(first)?, rest, name, new)?),
    };
    with_replaced(&records, name, new)
}

/// The records with one field replaced, or added at the end. Where the field is ragged along an axis of the records, these stand in rows
/// of one length from then on: whether lists of records happen to have one length must not decide what their fields may be.
pub(super) fn with_replaced(records: &StructTensor, name: &Arc<str>, new: Value) -> Result<Value> {
    if records.rank() < 2 || typed_ref::<RaggedTensor>(&new).is_none() {
        return Ok(records.replaced(&[(name, &new)])?.into_value());
    }
    let rows = RaggedTensor::of_uniform(&records.clone().into_value())?;
    let (rows, inner) = in_rows(rows, &new).map_err(|e| e.at(format!("field '{name}'")))?;
    Ok(rows.with_values(with_replaced(&*self::records(rows.values())?, name, inner)?)?.into_value())
}

/// What stands under the mask of some records: where rows of records are missing as a whole, the rows of the value, which are missing
/// there too; anything else as it is, because a list may be missing in a record that is there.
pub(super) fn under_mask(records: &MaskedTensor, value: &Value) -> Value {
    if typed::<RaggedTensor>(records.values()).is_some() { rows_of(value) } else { value.clone() }
}

/// The rows of a value, whether or not they are missing; anything else as it is.
pub(super) fn rows_of(value: &Value) -> Value {
    match typed::<MaskedTensor>(value) {
        Some(masked) if typed::<RaggedTensor>(masked.values()).is_some() => masked.values().clone(),
        _ => value.clone(),
    }
}

/// The rows, and the values of `new` as they cut them; where its rows are missing, so are the records of these.
pub(super) fn in_rows(rows: RaggedTensor, new: &Value) -> Result<(RaggedTensor, Value)> {
    let new = &rows_of(new);
    let given = typed::<RaggedTensor>(new).map_or_else(|| RaggedTensor::of_uniform(new), Ok);
    let given = given.map_err(|e| e.note("The records stand in rows, and their new field must have the same rows."))?;
    // Lists in rows are not aligned with rows that leave some of their values out.
    let apart = has_rows(given.values()) && !given.partition().same(rows.partition());
    let rows = if apart { rows.compact()? } else { rows };
    let values = given.values_in(rows.partition())?;
    Ok((rows, values))
}

/// The records that a value is.
///
/// Errors: it is no struct.
pub(super) fn records(value: &Value) -> Result<Cow<'_, StructTensor>> {
    typed_ref(value).ok_or_else(|| {
        let found = value.spec().map_or_else(|_| "a value".to_string(), |spec| spec.to_string());
        Error::dtype(format!("found {found}")).wanted("records, or rows of records")
    })
}

/// The value with its records replaced by what `f` makes of them.
pub(super) fn each_record(value: &Value, f: &dyn Fn(&StructTensor) -> Result<Value>) -> Result<Value> {
    if let Some(records) = typed_ref::<StructTensor>(value) {
        return f(&records);
    }
    if let Some(masked) = typed_ref::<MaskedTensor>(value) {
        return Ok(MaskedTensor::new(each_record(masked.values(), f)?, masked.mask().clone())?.into_value());
    }
    match typed_ref::<RaggedTensor>(value) {
        Some(rows) => Ok(rows.with_values(each_record(rows.values(), f)?)?.into_value()),
        None => {
            let records = records(value)?;
            f(&records)
        }
    }
}

/// The value without the field that names lead to.
///
/// Errors: a name that is no field.
pub(super) fn without_field(value: &Value, names: &[Arc<str>]) -> Result<Value> {
    let Some((name, rest)) = names.split_first() else { return Ok(value.clone()) };
    each_record(value, &|records| {
        let inner = records.field(name)?;
        if !rest.is_empty() {
            return with_replaced(records, name, without_field(inner, rest)?);
        }
        let kept = records.fields.iter().filter(|(known, _)| known != name).cloned().collect();
        Ok(records.with_fields(kept)?.into_value())
    })
}

/// A name, and the paths behind it.
type Group<'a> = (&'a Arc<str>, Vec<&'a [Arc<str>]>);

/// The value with the fields that some paths lead to only, in the order in which they are first named.
///
/// Errors: a name that is no field; a field that is named twice, or as a whole and in part.
pub(super) fn only_fields(value: &Value, paths: &[&[Arc<str>]]) -> Result<Value> {
    if paths.iter().any(|path| path.is_empty()) {
        let whole = Error::value("a field is named twice, or as a whole and in part").wanted("each field once");
        return if paths.len() == 1 { Ok(value.clone()) } else { Err(whole) };
    }
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places: HashMap<&Arc<str>, usize> = HashMap::new();
    for (name, rest) in paths.iter().filter_map(|path| path.split_first()) {
        let at = *places.entry(name).or_insert(groups.len());
        match groups.get_mut(at) {
            Some((_, inner)) => inner.push(rest),
            None => groups.push((name, vec![rest])),
        }
    }
    each_record(value, &|records| {
        let places = records.places(groups.len());
        let field = |(name, inner): &Group<'_>| {
            let found = places.get(*name).map_or_else(|| records.field(name), |at| Ok(&records.fields[*at].1));
            let kept = only_fields(found?, inner).map_err(|e| e.at(format!("field '{name}'")))?;
            Ok(((*name).clone(), kept))
        };
        let fields: Result<Vec<Field>> = groups.iter().map(field).collect();
        Ok(records.with_fields(fields?)?.into_value())
    })
}
