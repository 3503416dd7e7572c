//! Maps of which the one half was read for the sake of the other.
//!
//! Invariant: what is left is what the paths name; a map without one of its halves is a list of records.

use crate::project::Wanted;
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, GenericListViewArray, OffsetSizeTrait, StructArray,
};
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
    let item = match array.data_type() {
        DataType::FixedSizeList(..) => wanted.along_axis(),
        _ => wanted.item(),
    };
    let Some(item) = item.filter(|_| !wanted.is_all()) else {
        let fields = !wanted.is_all() && matches!(array.data_type(), DataType::Struct(_));
        return if fields { Ok(Arc::new(record(array.as_struct(), wanted)?)) } else { Ok(array.clone()) };
    };
    match array.data_type() {
        DataType::List(field) => list(field, array.as_list::<i32>(), item),
        DataType::LargeList(field) => list(field, array.as_list::<i64>(), item),
        DataType::ListView(field) => views(field, array.as_list_view::<i32>(), item),
        DataType::LargeListView(field) => views(field, array.as_list_view::<i64>(), item),
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

fn views<O: OffsetSizeTrait>(field: &FieldRef, views: &GenericListViewArray<O>, item: &Wanted) -> Result<ArrayRef> {
    let values = array(views.values(), item)?;
    let (field, offsets, sizes) = (retyped(field, &values), views.offsets().clone(), views.sizes().clone());
    Ok(Arc::new(GenericListViewArray::<O>::try_new(field, offsets, sizes, values, views.nulls().cloned())?))
}

fn retyped(field: &FieldRef, array: &ArrayRef) -> FieldRef {
    Arc::new(field.as_ref().clone().with_data_type(array.data_type().clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Int64Array, MapArray, StringArray};

    #[test]
    fn a_half_of_maps_in_views_is_left_out() {
        let (keys, values) = (StringArray::from(vec!["a", "b"]), Int64Array::from(vec![1, 2]));
        let fields = vec![Field::new("key", DataType::Utf8, false), Field::new("value", DataType::Int64, true)];
        let entries = StructArray::new(fields.into(), vec![Arc::new(keys), Arc::new(values)], None);
        let entry = Arc::new(Field::new("entries", entries.data_type().clone(), false));
        let maps: ArrayRef =
            Arc::new(MapArray::new(entry, arrow_buffer::OffsetBuffer::from_lengths([1, 1]), entries, None, false));
        let item = Arc::new(Field::new("item", maps.data_type().clone(), true));
        let narrow = GenericListViewArray::<i32>::new(item.clone(), vec![0].into(), vec![2].into(), maps.clone(), None);
        let wide = GenericListViewArray::<i64>::new(item, vec![0].into(), vec![2].into(), maps, None);
        for column in [Arc::new(narrow) as ArrayRef, Arc::new(wide)] {
            let rows = StructArray::try_from(vec![("x", column)]).expect("rows");
            let wanted = Wanted::of_paths(Some(&["x[*][*].key".parse().expect("a path")])).expect("paths");
            let left = wanted_halves(rows, &wanted).expect("halves").data_type().to_string();
            assert!(left.contains("key") && !left.contains("value"), "{left}");
        }
    }
}
