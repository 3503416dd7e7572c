//! How many bytes the items of a batch take by themselves, where their layout lets them share bytes: views, list views, runs.
//!
//! Invariant: what is counted is no less than the elements that a value has of them; counting takes a number for each item of list views
//! and runs that are not all as wide, and no memory otherwise.

use crate::arrow::import::{runs_of, uniform_items};
use arrow_array::cast::AsArray;
use arrow_array::{Array, GenericListArray, GenericListViewArray, OffsetSizeTrait, UnionArray};
use arrow_buffer::ArrowNativeType;
use arrow_data::ArrayData;
use arrow_schema::DataType;

/// The bytes that items take by themselves, of those parts of an array where they share bytes; none if they are more than `most`.
pub fn apart(array: &dyn Array, most: u64) -> Option<u64> {
    match array.data_type() {
        data_type if !shares(data_type) => Some(0),
        // They have a bound of their own: see `numbers_in_runs`.
        data_type if are_runs_of_numbers(data_type) => Some(0),
        DataType::Utf8View => total(array.as_string_view().lengths().map(u64::from), most),
        DataType::BinaryView => total(array.as_binary_view().lengths().map(u64::from), most),
        DataType::List(_) => apart(array.as_list::<i32>().values().as_ref(), most),
        DataType::LargeList(_) => apart(array.as_list::<i64>().values().as_ref(), most),
        DataType::Map(..) => apart(array.as_map().entries(), most),
        DataType::Struct(_) => {
            let columns = array.as_struct().columns().iter().map(|column| apart(column.as_ref(), most));
            total(columns.collect::<Option<Vec<u64>>>()?.into_iter(), most)
        }
        DataType::ListView(item) if item.data_type().primitive_width().is_some() => {
            total(of_views(array.as_list_view::<i32>()), most)
        }
        DataType::LargeListView(item) if item.data_type().primitive_width().is_some() => {
            total(of_views(array.as_list_view::<i64>()), most)
        }
        _ => ends(array, most)?.last().copied(),
    }
}

/// The bytes that items take for which a batch has no bytes: nulls of no type, and numbers in runs.
pub fn without_bytes(array: &dyn Array) -> u64 {
    numbers_in_runs(array).saturating_add(nulls(&array.to_data()))
}

/// The bytes that the numbers take which stand under nulls of no type.
fn nulls(data: &ArrayData) -> u64 {
    match data.data_type() {
        DataType::Null => (data.len() as u64).saturating_mul(width(&DataType::Null) as u64),
        _ => data.child_data().iter().map(nulls).fold(0, u64::saturating_add),
    }
}

/// The bytes that numbers take which runs say, of those columns that need no counting: each counts for the place of its run, at least.
fn numbers_in_runs(array: &dyn Array) -> u64 {
    match array.data_type() {
        data_type if are_runs_of_numbers(data_type) => {
            let width = size_of::<u64>().max(runs_width(data_type));
            (array.len() as u64).saturating_mul(width as u64)
        }
        DataType::Struct(_) => {
            let columns = array.as_struct().columns().iter().map(|column| numbers_in_runs(column.as_ref()));
            columns.fold(0, u64::saturating_add)
        }
        _ => 0,
    }
}

fn are_runs_of_numbers(data_type: &DataType) -> bool {
    matches!(data_type, DataType::RunEndEncoded(_, values) if values.data_type().primitive_width().is_some())
}

fn runs_width(data_type: &DataType) -> usize {
    match data_type {
        DataType::RunEndEncoded(_, values) => width(values.data_type()),
        other => width(other),
    }
}

/// The bytes of each view of items that all take as many.
fn of_views<O: OffsetSizeTrait>(array: &GenericListViewArray<O>) -> impl Iterator<Item = u64> {
    let width = width(array.values().data_type()) as u64;
    array.value_sizes().iter().map(move |size| (size.as_usize() as u64).saturating_mul(width).max(1))
}

fn total(mut sizes: impl Iterator<Item = u64>, most: u64) -> Option<u64> {
    sizes.try_fold(0, |total, size| add(total, size, most))
}

fn add(total: u64, size: u64, most: u64) -> Option<u64> {
    total.checked_add(size).filter(|total| *total <= most)
}

fn shares(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8View
        | DataType::BinaryView
        | DataType::ListView(_)
        | DataType::LargeListView(_)
        | DataType::RunEndEncoded(..) => true,
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => shares(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| shares(field.data_type())),
        DataType::Union(fields, _) => fields.iter().any(|(_, field)| shares(field.data_type())),
        _ => false,
    }
}

/// The bytes before each item, and those of all; none if they are more than `most`.
fn ends(array: &dyn Array, most: u64) -> Option<Vec<u64>> {
    let len = array.len();
    match array.data_type() {
        DataType::Utf8View => summed(array.as_string_view().lengths().map(u64::from), most),
        DataType::BinaryView => summed(array.as_binary_view().lengths().map(u64::from), most),
        DataType::Utf8 => cuts(array.as_string::<i32>().value_offsets(), most),
        DataType::LargeUtf8 => cuts(array.as_string::<i64>().value_offsets(), most),
        DataType::Binary => cuts(array.as_binary::<i32>().value_offsets(), most),
        DataType::LargeBinary => cuts(array.as_binary::<i64>().value_offsets(), most),
        DataType::List(_) => lists(array.as_list::<i32>(), most),
        DataType::LargeList(_) => lists(array.as_list::<i64>(), most),
        DataType::ListView(_) => list_views(array.as_list_view::<i32>(), most),
        DataType::LargeListView(_) => list_views(array.as_list_view::<i64>(), most),
        DataType::Map(..) => {
            let map = array.as_map();
            let items = ends(map.entries(), most)?;
            summed(
                map.value_offsets().windows(2).map(|cut| between(&items, cut[0].as_usize(), cut[1].as_usize())),
                most,
            )
        }
        DataType::FixedSizeList(_, width) => {
            let (items, width) = (uniform_items(array.as_fixed_size_list()), width.as_usize());
            let items = ends(items.as_ref(), most)?;
            summed((0..len).map(|i| between(&items, i * width, (i + 1) * width)), most)
        }
        DataType::Struct(_) => {
            let columns = array.as_struct().columns().iter().map(|column| ends(column.as_ref(), most));
            let columns = columns.collect::<Option<Vec<_>>>()?;
            summed((0..len).map(|i| columns.iter().map(|ends| between(ends, i, i + 1)).sum()), most)
        }
        DataType::Union(..) => union(array.as_union(), most),
        DataType::RunEndEncoded(..) => {
            let (runs, values) = runs_of(array).ok()?;
            let values = ends(values.as_ref(), most)?;
            let value = |run: i64| usize::try_from(run).map_or(0, |run| between(&values, run, run + 1));
            summed(runs.into_iter().map(value), most)
        }
        other => summed(std::iter::repeat_n(width(other) as u64, len), most),
    }
}

/// The bytes of an item of a type whose items all take as many.
fn width(data_type: &DataType) -> usize {
    match data_type {
        DataType::Dictionary(codes, _) => width(codes),
        DataType::FixedSizeBinary(width) => width.as_usize(),
        DataType::Null => size_of::<f64>(),
        other => other.primitive_width().unwrap_or(1),
    }
}

/// The bytes of the items in a range, each of which counts for one at least.
fn between(ends: &[u64], from: usize, to: usize) -> u64 {
    let bytes = ends.get(to).zip(ends.get(from)).map_or(0, |(to, from)| to.saturating_sub(*from));
    bytes.max(to.saturating_sub(from) as u64).max(1)
}

fn summed(sizes: impl Iterator<Item = u64>, most: u64) -> Option<Vec<u64>> {
    let mut ends = Vec::with_capacity(sizes.size_hint().0 + 1);
    ends.push(0);
    let mut total = 0_u64;
    for size in sizes {
        total = add(total, size, most)?;
        ends.push(total);
    }
    Some(ends)
}

fn cuts<O: OffsetSizeTrait>(offsets: &[O], most: u64) -> Option<Vec<u64>> {
    summed(offsets.windows(2).map(|cut| (cut[1] - cut[0]).as_usize() as u64), most)
}

fn lists<O: OffsetSizeTrait>(array: &GenericListArray<O>, most: u64) -> Option<Vec<u64>> {
    let items = ends(array.values().as_ref(), most)?;
    summed(array.value_offsets().windows(2).map(|cut| between(&items, cut[0].as_usize(), cut[1].as_usize())), most)
}

fn list_views<O: OffsetSizeTrait>(array: &GenericListViewArray<O>, most: u64) -> Option<Vec<u64>> {
    let items = ends(array.values().as_ref(), most)?;
    let views = array.value_offsets().iter().zip(array.value_sizes()).map(|(from, size)| {
        let from = from.as_usize();
        between(&items, from, from.saturating_add(size.as_usize()))
    });
    summed(views, most)
}

fn union(array: &UnionArray, most: u64) -> Option<Vec<u64>> {
    let DataType::Union(fields, _) = array.data_type() else { return None };
    let children = fields.iter().map(|(id, _)| Some((id, ends(array.child(id).as_ref(), most)?)));
    let children = children.collect::<Option<Vec<_>>>()?;
    let element = |i: usize| {
        let child = children.iter().find(|(id, _)| *id == array.type_id(i));
        child.map_or(0, |(_, ends)| between(ends, array.value_offset(i), array.value_offset(i) + 1))
    };
    summed((0..array.len()).map(element), most)
}
