//! Maps of which the one half was read for the sake of the other.
//!
//! Invariant: what is left is what the paths name; a map without one of its halves is a list of records.

use crate::project::Wanted;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, FixedSizeListArray, GenericListArray, OffsetSizeTrait, StructArray};
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use std::sync::Arc;

type Result<T> = std::result::Result<T, ArrowError>;

/// The rows without the halves of maps that nobody wants.
///
/// Errors: none that an array that was made has; what Arrow says, all the same.
pub fn wanted_halves(rows: StructArray, wanted: &Wanted) -> Result<StructArray> {
    if wanted.is_all() { Ok(rows) } else { record(&rows, wanted) }
}

fn record(rows: &StructArray, wanted: &Wanted) -> Result<StructArray> {
    let (mut fields, mut columns): (Vec<FieldRef>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for (field, column) in rows.fields().iter().zip(rows.columns()) {
        if let Some(wanted) = wanted.field(field.name()) {
            let column = array(column, wanted)?;
            fields.push(retyped(field, &column));
            columns.push(column);
        }
    }
    StructArray::try_new_with_length(fields.into(), columns, rows.nulls().cloned(), rows.len())
}

fn array(array: &ArrayRef, wanted: &Wanted) -> Result<ArrayRef> {
    let Some(item) = wanted.item().filter(|_| !wanted.is_all()) else {
        let fields = !wanted.is_all() && matches!(array.data_type(), DataType::Struct(_));
        return if fields { Ok(Arc::new(record(array.as_struct(), wanted)?)) } else { Ok(array.clone()) };
    };
    match array.data_type() {
        DataType::List(field) => list(field, array.as_list::<i32>(), item),
        DataType::LargeList(field) => list(field, array.as_list::<i64>(), item),
        DataType::FixedSizeList(field, size) => {
            let lists = array.as_fixed_size_list();
            let (values, nulls) = (self::array(lists.values(), item)?, lists.nulls().cloned());
            let field = retyped(field, &values);
            Ok(Arc::new(FixedSizeListArray::try_new_with_length(field, *size, values, nulls, lists.len())?))
        }
        DataType::Map(..) if !item.is_all() => {
            let map = array.as_map();
            let entries: ArrayRef = Arc::new(record(map.entries(), item)?);
            let field = Field::new("item", entries.data_type().clone(), false);
            let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
            Ok(Arc::new(GenericListArray::<i32>::try_new(Arc::new(field), offsets, entries, nulls)?))
        }
        _ => Ok(array.clone()),
    }
}

fn list<O: OffsetSizeTrait>(field: &FieldRef, lists: &GenericListArray<O>, item: &Wanted) -> Result<ArrayRef> {
    let values = array(lists.values(), item)?;
    let (field, offsets, nulls) = (retyped(field, &values), lists.offsets().clone(), lists.nulls().cloned());
    Ok(Arc::new(GenericListArray::<O>::try_new(field, offsets, values, nulls)?))
}

fn retyped(field: &FieldRef, array: &ArrayRef) -> FieldRef {
    Arc::new(field.as_ref().clone().with_data_type(array.data_type().clone()))
}
