//! Lists that cover their items, where unions lie in them: Arrow's writer leaves out the items outside all rows, but not those of the unions
//! among them, whose tags would then be those of other items.
//!
//! Invariant: the elements are the same, and arrays without unions in lists are left as they stand.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, OffsetSizeTrait, RecordBatch, RecordBatchOptions, make_array};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};
use std::sync::Arc;

/// The batch whose lists of unions cover their items.
///
/// Errors: none that arrays that were made have; what Arrow says, all the same.
pub fn covered(batch: RecordBatch) -> Result<RecordBatch, ArrowError> {
    if !batch.columns().iter().any(|column| unions_in_lists(column.data_type(), false)) {
        return Ok(batch);
    }
    let columns = batch.columns().iter().map(array).collect::<Result<_, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(batch.schema(), columns, &options)
}

/// Whether a union lies in a list, as the type itself may do.
fn unions_in_lists(data_type: &DataType, in_list: bool) -> bool {
    match data_type {
        DataType::Union(fields, _) => {
            in_list || fields.iter().any(|(_, field)| unions_in_lists(field.data_type(), false))
        }
        DataType::List(item) | DataType::LargeList(item) | DataType::Map(item, _) => {
            unions_in_lists(item.data_type(), true)
        }
        DataType::FixedSizeList(item, _) => unions_in_lists(item.data_type(), in_list),
        DataType::Struct(fields) => fields.iter().any(|field| unions_in_lists(field.data_type(), in_list)),
        DataType::Dictionary(_, values) => unions_in_lists(values, false),
        _ => false,
    }
}

fn array(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    if !unions_in_lists(array.data_type(), false) {
        return Ok(array.clone());
    }
    let data = array.to_data();
    let inner = |child: &ArrayRef| self::array(child).map(|child| child.to_data());
    let made = match rows(array) {
        Some((offsets, items)) => data.into_builder().buffers(vec![offsets]).child_data(vec![inner(&items)?]),
        None => {
            let children = data.child_data().iter().map(|child| inner(&make_array(child.clone())));
            let children = children.collect::<Result<_, _>>()?;
            data.into_builder().child_data(children)
        }
    };
    Ok(make_array(made.build()?))
}

/// The offsets of lists from 0 on, and the items that are in rows; none of an array without rows.
fn rows(array: &ArrayRef) -> Option<(Buffer, ArrayRef)> {
    match array.data_type() {
        DataType::List(_) => Some(cut(array.as_list::<i32>().offsets(), array.as_list::<i32>().values())),
        DataType::LargeList(_) => Some(cut(array.as_list::<i64>().offsets(), array.as_list::<i64>().values())),
        DataType::Map(..) => {
            let map = array.as_map();
            Some(cut(map.offsets(), &(Arc::new(map.entries().clone()) as ArrayRef)))
        }
        _ => None,
    }
}

fn cut<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>, items: &ArrayRef) -> (Buffer, ArrayRef) {
    let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
    let from_zero: ScalarBuffer<O> = offsets.iter().map(|&offset| offset - first).collect();
    (from_zero.into_inner(), items.slice(first.as_usize(), (last - first).as_usize()))
}
