//! Columns that were read apart, put together to the fields that they are leaves of.
//!
//! Invariant: what is put together has one shape: the same rows, lists of the same lengths, the same nulls, which the file says once
//! for each leaf. A file that says it differently is refused.

use super::project::item;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, GenericListArray, OffsetSizeTrait, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType, Field, Fields};
use std::sync::Arc;

/// The leaf columns that are read together: each alone, where structs and lists put them together again.
pub fn units(fields: &Fields, chosen: &[usize]) -> Vec<Vec<usize>> {
    let (mut next, mut out) = (0, Vec::new());
    fields.iter().for_each(|field| below(field.data_type(), false, &mut next, &mut out));
    for unit in &mut out {
        unit.retain(|leaf: &usize| chosen.binary_search(leaf).is_ok());
    }
    out.retain(|unit| !unit.is_empty());
    out
}

fn below(data_type: &DataType, together: bool, next: &mut usize, out: &mut Vec<Vec<usize>>) {
    let apart = matches!(data_type, DataType::Struct(_) | DataType::List(_) | DataType::LargeList(_));
    let children: Vec<&DataType> = match (data_type, item(data_type)) {
        (DataType::Struct(fields), _) => fields.iter().map(|field| field.data_type()).collect(),
        (_, Some(field)) => vec![field.data_type()],
        (_, None) => {
            if !together {
                out.push(Vec::new());
            }
            out.last_mut().into_iter().for_each(|unit| unit.push(*next));
            *next += 1;
            return;
        }
    };
    if !apart && !together {
        out.push(Vec::new());
    }
    children.into_iter().for_each(|child| below(child, together || !apart, next, out));
}

/// Structs of the same rows, of which each has the leaves behind those of the one before, as one; none of none.
///
/// Errors: they differ in more than in their leaves.
pub fn join_all(mut parts: Vec<StructArray>) -> Result<Option<StructArray>, ArrowError> {
    // Neighbours first, so that no field is moved more often than the number of parts can be halved.
    while parts.len() > 1 {
        let pairs = parts.chunks(2).map(|pair| match pair {
            [a, b] => join(a, b),
            _ => Ok(pair[0].clone()),
        });
        parts = pairs.collect::<Result<_, _>>()?;
    }
    Ok(parts.pop())
}

/// Two structs of the same rows, of which the second has the leaves behind those of the first.
///
/// Errors: they differ in more than in their leaves.
fn join(a: &StructArray, b: &StructArray) -> Result<StructArray, ArrowError> {
    if a.len() != b.len() || missing(a) != missing(b) {
        return Err(differ(a.len(), b.len()));
    }
    let mut fields: Vec<Arc<Field>> = a.fields().iter().cloned().collect();
    let mut columns = a.columns().to_vec();
    for (i, (field, column)) in b.fields().iter().zip(b.columns()).enumerate() {
        match (fields.last(), columns.last()) {
            (Some(last), Some(left)) if i == 0 && last.name() == field.name() && nested(last.data_type()) => {
                let joined = join_arrays(left, column)?;
                let field = last.as_ref().clone().with_data_type(joined.data_type().clone());
                fields.pop();
                columns.pop();
                fields.push(Arc::new(field));
                columns.push(joined);
            }
            _ => {
                fields.push(field.clone());
                columns.push(column.clone());
            }
        }
    }
    StructArray::try_new_with_length(fields.into(), columns, a.nulls().cloned(), a.len())
}

/// The nulls, if there are any: a leaf may say that all are there, or say nothing.
fn missing(array: &dyn Array) -> Option<&NullBuffer> {
    array.nulls().filter(|nulls| nulls.null_count() > 0)
}

fn nested(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Struct(_) | DataType::List(_) | DataType::LargeList(_))
}

fn join_arrays(a: &ArrayRef, b: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match (a.data_type(), b.data_type()) {
        (DataType::Struct(_), DataType::Struct(_)) => Ok(Arc::new(join(a.as_struct(), b.as_struct())?)),
        (DataType::List(_), DataType::List(_)) => lists(a.as_list::<i32>(), b.as_list::<i32>()),
        (DataType::LargeList(_), DataType::LargeList(_)) => lists(a.as_list::<i64>(), b.as_list::<i64>()),
        _ => Err(differ(a.len(), b.len())),
    }
}

fn lists<O: OffsetSizeTrait>(a: &GenericListArray<O>, b: &GenericListArray<O>) -> Result<ArrayRef, ArrowError> {
    if a.offsets() != b.offsets() || missing(a) != missing(b) {
        return Err(differ(a.values().len(), b.values().len()));
    }
    let (DataType::List(field) | DataType::LargeList(field)) = a.data_type() else {
        return Err(differ(a.len(), b.len()));
    };
    let values = join_arrays(a.values(), b.values())?;
    let field = field.as_ref().clone().with_data_type(values.data_type().clone());
    let list = GenericListArray::<O>::try_new(Arc::new(field), a.offsets().clone(), values, a.nulls().cloned())?;
    Ok(Arc::new(list))
}

fn differ(a: usize, b: usize) -> ArrowError {
    ArrowError::ParseError(format!("columns of one record differ in their rows, lists or nulls ({a} and {b} items)"))
}
