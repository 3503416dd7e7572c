//! Zeros under nulls.
//!
//! Invariant: what lies under a null is zero, so that one spec and the same records give the same bits whatever they are read from. The
//! decoder leaves there what it happened to write. A field that may not be null has no nulls, though what it is a part of may have some.

use super::views::texts_of;
use crate::arrow::repeated;
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, GenericListArray, GenericListViewArray, MapArray,
    OffsetSizeTrait, StructArray, make_array, new_null_array,
};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, FieldRef, Fields};
use std::sync::Arc;

/// The rows of these fields, with zeros under their nulls. Texts that are views and are not to be are made texts.
///
/// Errors: texts that their type does not hold; else none that an array that was made has, and what Arrow says, all the same.
pub fn zeroed(rows: StructArray, fields: &Fields) -> Result<StructArray, ArrowError> {
    record(rows, fields.clone(), None)
}

/// The nulls of a value and of what it is a part of.
fn with(nulls: Option<&NullBuffer>, above: Option<&NullBuffer>) -> Option<NullBuffer> {
    NullBuffer::union(nulls, above).filter(|nulls| nulls.null_count() > 0)
}

fn record(rows: StructArray, fields: Fields, above: Option<&NullBuffer>) -> Result<StructArray, ArrowError> {
    let n = rows.len();
    let (_, columns, nulls) = rows.into_parts();
    let all = with(nulls.as_ref(), above);
    let column = |(field, column): (&FieldRef, ArrayRef)| {
        let column = array(column, field.data_type(), all.as_ref())?;
        if field.is_nullable() { Ok(column) } else { all_there(column, all.as_ref()) }
    };
    let columns = fields.iter().zip(columns).map(column).collect::<Result<_, ArrowError>>()?;
    StructArray::try_new_with_length(fields, columns, nulls, n)
}

/// The array of a field that may not be null, without the nulls that the decoder gives it where what it is a part of is null.
fn all_there(array: ArrayRef, above: Option<&NullBuffer>) -> Result<ArrayRef, ArrowError> {
    match (array.nulls(), above) {
        (Some(own), Some(above)) if above.contains(own) => {
            let data = array.to_data();
            let words = with_a_word(&data)?;
            Ok(make_array(data.into_builder().nulls(None).child_data(words).build()?))
        }
        _ => Ok(array),
    }
}

/// The parts of an array, with a word of no meaning where places that nobody sees have none to be places of.
fn with_a_word(data: &ArrayData) -> Result<Vec<ArrayData>, ArrowError> {
    match (data.data_type(), data.child_data()) {
        (DataType::Dictionary(_, words), [none]) if none.is_empty() && !data.is_empty() => {
            Ok(vec![new_null_array(words, 1).to_data().into_builder().nulls(None).build()?])
        }
        (_, parts) => Ok(parts.to_vec()),
    }
}

fn array(array: ArrayRef, wanted: &DataType, above: Option<&NullBuffer>) -> Result<ArrayRef, ArrowError> {
    match (array.data_type(), wanted) {
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let rows = array.as_struct().clone();
            drop(array);
            Ok(Arc::new(record(rows, fields.clone(), above)?))
        }
        (DataType::List(_), DataType::List(item)) => list::<i32>(array, item),
        (DataType::LargeList(_), DataType::LargeList(item)) => list::<i64>(array, item),
        (DataType::ListView(_), DataType::ListView(item)) => list_view::<i32>(array, item),
        (DataType::LargeListView(_), DataType::LargeListView(item)) => list_view::<i64>(array, item),
        (DataType::FixedSizeList(..), DataType::FixedSizeList(item, _)) => lists_of_a_size(array, item, above),
        (DataType::Map(..), DataType::Map(entries, sorted)) => map(array, entries, *sorted),
        (DataType::Boolean, _) => Ok(booleans(&array, above)),
        (found, wanted) if found != wanted => texts_of(&array, wanted, with(array.nulls(), above).as_ref()),
        (data_type, _) => match (width_of(data_type), with(array.nulls(), above)) {
            (Some(width), Some(nulls)) => numbers(array, width, &nulls),
            _ => Ok(array),
        },
    }
}

/// How many bytes each value has, where all have as many.
fn width_of(data_type: &DataType) -> Option<usize> {
    match data_type {
        DataType::FixedSizeBinary(width) => usize::try_from(*width).ok().filter(|width| *width > 0),
        // The first place is one of every dictionary that has a value.
        DataType::Dictionary(keys, _) => keys.primitive_width(),
        data_type => data_type.primitive_width(),
    }
}

/// Items of a null list are none, so that the nulls of lists are not those of items.
fn list<O: OffsetSizeTrait>(array: ArrayRef, item: &FieldRef) -> Result<ArrayRef, ArrowError> {
    let list = array.as_list::<O>().clone();
    drop(array);
    let (_, offsets, values, nulls) = list.into_parts();
    let values = self::array(values, item.data_type(), None)?;
    Ok(Arc::new(GenericListArray::<O>::try_new(item.clone(), offsets, values, nulls)?))
}

fn list_view<O: OffsetSizeTrait>(array: ArrayRef, item: &FieldRef) -> Result<ArrayRef, ArrowError> {
    let list = array.as_list_view::<O>().clone();
    drop(array);
    let (_, offsets, sizes, values, nulls) = list.into_parts();
    let values = self::array(values, item.data_type(), None)?;
    Ok(Arc::new(GenericListViewArray::<O>::try_new(item.clone(), offsets, sizes, values, nulls)?))
}

fn map(array: ArrayRef, field: &FieldRef, sorted: bool) -> Result<ArrayRef, ArrowError> {
    let map = array.as_map().clone();
    drop(array);
    let (_, offsets, entries, nulls, _) = map.into_parts();
    let fields = match field.data_type() {
        DataType::Struct(fields) => fields.clone(),
        _ => entries.fields().clone(),
    };
    Ok(Arc::new(MapArray::try_new(field.clone(), offsets, record(entries, fields, None)?, nulls, sorted)?))
}

/// Items of a null list of one size are there, and are null with it.
fn lists_of_a_size(array: ArrayRef, field: &FieldRef, above: Option<&NullBuffer>) -> Result<ArrayRef, ArrowError> {
    let list = array.as_fixed_size_list().clone();
    drop(array);
    let n = list.len();
    let (_, size, values, nulls) = list.into_parts();
    let each = usize::try_from(size).unwrap_or(0);
    let all = with(nulls.as_ref(), above).map(|nulls| NullBuffer::new(repeated(nulls.inner(), each)));
    let mut values = self::array(values, field.data_type(), all.as_ref())?;
    if !field.is_nullable() {
        values = all_there(values, all.as_ref())?;
    }
    Ok(Arc::new(FixedSizeListArray::try_new_with_length(field.clone(), size, values, nulls, n)?))
}

fn booleans(array: &ArrayRef, above: Option<&NullBuffer>) -> ArrayRef {
    let bits = array.as_boolean();
    match with(bits.nulls(), above) {
        Some(nulls) => {
            let there: &BooleanBuffer = nulls.inner();
            Arc::new(BooleanArray::new(bits.values() & there, bits.nulls().cloned()))
        }
        None => array.clone(),
    }
}

/// Numbers of `width` bytes; in place, where the memory is this array's alone.
fn numbers(array: ArrayRef, width: usize, nulls: &NullBuffer) -> Result<ArrayRef, ArrowError> {
    let data = array.to_data();
    drop(array);
    let (data_type, len, own) = (data.data_type().clone(), data.len(), data.nulls().cloned());
    let words = data.child_data().to_vec();
    let (start, buffer) = (data.offset() * width, data.buffers().first().cloned().unwrap_or_default());
    drop(data);
    let mut bytes = buffer.into_mutable().unwrap_or_else(|shared| shared.as_slice().to_vec().into());
    for (i, value) in bytes.as_slice_mut()[start..].chunks_exact_mut(width).take(len).enumerate() {
        if nulls.is_null(i) {
            value.fill(0);
        }
    }
    let buffer = arrow_buffer::Buffer::from(bytes).slice(start);
    let data = ArrayData::builder(data_type).len(len).nulls(own).add_buffer(buffer).child_data(words);
    let data = data.align_buffers(true).build()?;
    Ok(make_array(data))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{DictionaryArray, FixedSizeBinaryArray, Float32Array, Int8Array, Int64Array, StringArray};
    use arrow_schema::Field;

    #[test]
    fn bytes_of_one_width_under_a_null_are_zero() {
        let nulls = Some(NullBuffer::from(vec![true, false, true]));
        let cells: ArrayRef = Arc::new(FixedSizeBinaryArray::new(2, b"aabbcc".into(), nulls));
        let field = Field::new("c", cells.data_type().clone(), true);
        let rows = StructArray::new(vec![field].into(), vec![cells], None);
        let rows = zeroed(rows.clone(), rows.fields()).expect("an array");
        assert_eq!(rows.column(0).as_fixed_size_binary().value_data(), b"aa\0\0cc");
    }

    #[test]
    fn places_under_the_nulls_of_records_have_a_word() {
        let places = Int8Array::new(vec![7, 7].into(), Some(NullBuffer::new_null(2)));
        let words = Arc::new(StringArray::from(Vec::<&str>::new()));
        let codes: ArrayRef = Arc::new(DictionaryArray::try_new(places, words).expect("a dictionary"));
        let field = Field::new("c", codes.data_type().clone(), false);
        let rows = StructArray::new(vec![field].into(), vec![codes], Some(NullBuffer::new_null(2)));
        let column = zeroed(rows.clone(), rows.fields()).expect("an array").column(0).clone();
        assert_eq!((column.null_count(), column.as_any_dictionary().values().len()), (0, 1));
    }

    #[test]
    fn what_lies_under_a_null_is_zero() {
        let nulls = |bits: &[bool]| Some(NullBuffer::from(bits.to_vec()));
        let numbers: ArrayRef = Arc::new(Int64Array::new(vec![7, 8, 9].into(), nulls(&[true, false, true])));
        let floats: ArrayRef = Arc::new(Float32Array::from(vec![1.0, 2.0, 3.0]));
        let bits: ArrayRef = Arc::new(BooleanArray::new(vec![true; 3].into(), nulls(&[false, true, true])));
        let field = |name: &str, array: &ArrayRef| Field::new(name, array.data_type().clone(), true);
        let fields = vec![field("n", &numbers), field("f", &floats), field("b", &bits)];
        let rows = StructArray::new(fields.into(), vec![numbers, floats, bits], nulls(&[true, true, false]));
        for rows in [rows.clone(), rows.slice(1, 2)] {
            let skipped = 3 - rows.len();
            let zeroed = zeroed(rows.clone(), rows.fields()).expect("an array");
            let of = |n: &[i64]| n[skipped..].to_vec();
            let numbers = zeroed.column(0).as_any().downcast_ref::<Int64Array>().expect("numbers");
            assert_eq!(numbers.values().to_vec(), of(&[7, 0, 0]));
            let floats = zeroed.column(1).as_any().downcast_ref::<Float32Array>().expect("floats");
            assert_eq!(floats.values().to_vec(), [1.0_f32, 2.0, 0.0][skipped..]);
            let bits: Vec<bool> = zeroed.column(2).as_boolean().values().iter().collect();
            assert_eq!(bits, [false, true, false][skipped..]);
        }
    }
}
