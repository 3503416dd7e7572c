//! The parts of arrays that paths lead to.
//!
//! Invariant: the rows stay as they are; a column that nobody wants is not looked at, and no buffer is copied.

use super::import::{extension_name, uniform_items};
use super::registered::frame;
use crate::names::some_names;
use crate::project::Wanted;
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, GenericListViewArray, OffsetSizeTrait, StructArray,
    make_array,
};
use arrow_schema::extension::EXTENSION_TYPE_METADATA_KEY;
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use extenso_types::{Error, Path, Result, Segment};
use std::sync::Arc;

/// The array with the wanted columns alone.
///
/// Errors: a path that leads nowhere.
pub fn part(at: &Path, field: &FieldRef, array: &ArrayRef, wanted: &Wanted) -> Result<(FieldRef, ArrayRef)> {
    if wanted.is_all() {
        return Ok((field.clone(), array.clone()));
    }
    check_whole(at, field, wanted)?;
    let kept: ArrayRef = match array.data_type() {
        DataType::Struct(_) => columns(at, array.as_struct(), wanted)?,
        DataType::List(item) => lists(at, item, array.as_list::<i32>(), wanted)?,
        DataType::LargeList(item) => lists(at, item, array.as_list::<i64>(), wanted)?,
        DataType::ListView(item) => views(at, item, array.as_list_view::<i32>(), wanted)?,
        DataType::LargeListView(item) => views(at, item, array.as_list_view::<i64>(), wanted)?,
        DataType::FixedSizeList(item, size) => {
            let lists = array.as_fixed_size_list();
            let inside = wanted.along_axis().ok_or_else(|| wanted.astray(at, "a list", "`[*]`"))?;
            let (item, items) = part(&at.child(Segment::Each), item, &uniform_items(lists), inside)?;
            let made = FixedSizeListArray::try_new_with_length(item, *size, items, lists.nulls().cloned(), lists.len());
            Arc::new(made.map_err(refused)?)
        }
        DataType::Map(entries, _) => {
            // Entries without a key or a value are no map, and read as the same records.
            let map = array.as_map();
            let all: ArrayRef = Arc::new(map.entries().clone());
            let (entries, kept) = items(at, entries, &all, wanted)?;
            let made = GenericListArray::<i32>::try_new(entries, map.offsets().clone(), kept, map.nulls().cloned());
            Arc::new(made.map_err(refused)?)
        }
        DataType::RunEndEncoded(ends, values) => runs(at, ends, values, array, wanted)?,
        other => {
            return Err(Error::missing(format!("the path goes on behind '{at}', which is {other}"))
                .wanted("fields of structs and `[*]` of lists"));
        }
    };
    let typed = Field::new(field.name(), kept.data_type().clone(), field.is_nullable());
    Ok((Arc::new(typed.with_metadata(field.metadata().clone())), kept))
}

/// Checks that no path leads into a value of a type of its own, which is made of all that it is stored as.
///
/// Errors: one does.
pub(crate) fn check_whole(at: &Path, field: &Field, wanted: &Wanted) -> Result<()> {
    let text = field.metadata().get(EXTENSION_TYPE_METADATA_KEY);
    match extension_name(field).zip(text) {
        Some((name, text)) if !wanted.is_all() && frame(name, text).is_some() => {
            Err(wanted.astray(at, &format!("a value of type {name}"), "the end of the path"))
        }
        _ => Ok(()),
    }
}

fn refused(e: ArrowError) -> Error {
    Error::data(format!("Arrow refuses the array: {e}"))
}

fn columns(at: &Path, array: &StructArray, wanted: &Wanted) -> Result<ArrayRef> {
    let names: Vec<&str> = array.column_names();
    if let Some(name) = wanted.names().find(|name| !names.contains(name)) {
        let path = at.child(Segment::field(name));
        return Err(
            Error::missing(format!("there is no column '{path}'")).wanted(format!("one of: {}", some_names(names)))
        );
    }
    let (mut fields, mut kept) = (Vec::new(), Vec::new());
    for (field, column) in array.fields().iter().zip(array.columns()) {
        if let Some(wanted) = wanted.field(field.name()) {
            let (field, column) = part(&at.child(Segment::field(field.name().as_str())), field, column, wanted)?;
            fields.push(field);
            kept.push(column);
        }
    }
    let made = StructArray::try_new_with_length(fields.into(), kept, array.nulls().cloned(), array.len());
    Ok(Arc::new(made.map_err(refused)?))
}

/// The wanted part of what is in lists.
fn items(at: &Path, field: &FieldRef, items: &ArrayRef, wanted: &Wanted) -> Result<(FieldRef, ArrayRef)> {
    let Some(wanted) = wanted.item() else {
        return Err(Error::missing(format!("'{at}' is a list")).wanted("`[*]` behind it"));
    };
    part(&at.child(Segment::Each), field, items, wanted)
}

fn lists<O: OffsetSizeTrait>(
    at: &Path,
    field: &FieldRef,
    array: &GenericListArray<O>,
    wanted: &Wanted,
) -> Result<ArrayRef> {
    let (field, items) = items(at, field, array.values(), wanted)?;
    let made = GenericListArray::<O>::try_new(field, array.offsets().clone(), items, array.nulls().cloned());
    Ok(Arc::new(made.map_err(refused)?))
}

fn views<O: OffsetSizeTrait>(
    at: &Path,
    field: &FieldRef,
    array: &GenericListViewArray<O>,
    wanted: &Wanted,
) -> Result<ArrayRef> {
    let (field, items) = items(at, field, array.values(), wanted)?;
    let (offsets, sizes) = (array.offsets().clone(), array.sizes().clone());
    let made = GenericListViewArray::<O>::try_new(field, offsets, sizes, items, array.nulls().cloned());
    Ok(Arc::new(made.map_err(refused)?))
}

/// Runs of the wanted part of each value: a path leads through runs as if there were none.
fn runs(at: &Path, ends: &FieldRef, values: &FieldRef, array: &ArrayRef, wanted: &Wanted) -> Result<ArrayRef> {
    let data = array.to_data();
    let [end, value] = data.child_data() else { return Err(Error::internal("runs without ends or values")) };
    let (values, kept) = part(at, values, &make_array(value.clone()), wanted)?;
    let children = vec![end.clone(), kept.to_data()];
    let built =
        data.clone().into_builder().data_type(DataType::RunEndEncoded(ends.clone(), values)).child_data(children);
    Ok(make_array(built.build().map_err(refused)?))
}
