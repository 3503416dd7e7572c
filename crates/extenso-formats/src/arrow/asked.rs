//! Arrays in the layout that a reader asks for: maps, tensors of one shape, lists and texts of the other width, views, and nulls where all is
//! missing; at every level, in words of dictionaries and children of unions too.
//!
//! Invariant: the elements are the same and share their buffers, but for offsets of the other width, views, and tensors whose axes are stored
//! in another order; what cannot be had as asked stays as it is, which the C interface allows.

use super::export::to_arrow;
use super::import::from_arrow;
use super::registered::tensor_shape;
use arrow_array::cast::AsArray;
use arrow_array::types::{BinaryType, ByteArrayType, LargeBinaryType, LargeUtf8Type, Utf8Type};
use arrow_array::{
    Array, ArrayRef, BinaryViewArray, FixedSizeListArray, GenericByteArray, GenericListArray, MapArray, NullArray,
    OffsetSizeTrait, StringViewArray, StructArray, UnionArray, new_empty_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::extension::EXTENSION_TYPE_METADATA_KEY;
use arrow_schema::{DataType, Field, FieldRef};
use extenso_core::ops;
use std::sync::Arc;

/// The array in the layout of a field that is asked for, with that field; both as they are where the layout is of other elements.
///
/// ```
/// # use arrow_array::Array;
/// # use arrow_schema::{DataType, Field};
/// # use extenso_formats::arrow::{asked, to_arrow_field};
/// # use extenso_ext::constant;
/// let (field, rows) = to_arrow_field(&constant(vec![vec![1, 2], vec![]]).unwrap()).unwrap();
/// let wanted = DataType::LargeList(Field::new("item", DataType::Int64, true).into());
/// let (_, large) = asked(field, rows, &Field::new("", wanted.clone(), true));
/// assert_eq!((large.data_type(), large.len()), (&wanted, 2));
/// ```
pub fn asked(field: FieldRef, array: ArrayRef, wanted: &Field) -> (FieldRef, ArrayRef) {
    match column(&array, &field, wanted) {
        Some(made) => {
            let nullable = wanted.is_nullable() || made.logical_null_count() > 0;
            (Arc::new(wanted.clone().with_nullable(nullable)), made)
        }
        None => (field, array),
    }
}

/// An array of one field as one of another; none if that has other elements.
fn column(array: &ArrayRef, own: &Field, wanted: &Field) -> Option<ArrayRef> {
    match wanted.extension_type_name() {
        Some("arrow.fixed_shape_tensor") => {
            let (sizes, order) = tensor_shape(wanted.metadata().get(EXTENSION_TYPE_METADATA_KEY)?)?;
            let stored = order.map_or_else(|| Some(array.clone()), |order| as_stored(array, &order))?;
            if axes(stored.data_type()).0 == sizes { elements(&stored, wanted.data_type()) } else { None }
        }
        // Who asks for no meaning gets what it is stored as.
        None => elements(array, wanted.data_type()),
        name if name == own.extension_type_name() && said(own) == said(wanted) => elements(array, wanted.data_type()),
        _ => None,
    }
}

/// Tensors whose axes are given in this order, with their axes as they are stored.
fn as_stored(array: &ArrayRef, order: &[usize]) -> Option<ArrayRef> {
    let place = |axis: usize| i64::try_from(order.iter().position(|given| *given == axis)? + 1).ok();
    let axes: Option<Vec<i64>> = std::iter::once(Some(0)).chain((0..order.len()).map(place)).collect();
    to_arrow(&ops::transpose(from_arrow(array.as_ref()).ok()?, Some(axes?)).ok()?).ok()
}

/// What the type of a field says beside its name.
fn said(field: &Field) -> &str {
    field.metadata().get(EXTENSION_TYPE_METADATA_KEY).map_or("", String::as_str)
}

fn elements(array: &ArrayRef, wanted: &DataType) -> Option<ArrayRef> {
    if array.data_type() == wanted {
        return Some(array.clone());
    }
    match (array.data_type(), wanted) {
        // Where all is missing nothing is of another type.
        (_, DataType::Null) if array.logical_null_count() == array.len() => Some(Arc::new(NullArray::new(array.len()))),
        (DataType::List(own), _) => of_lists(array.as_list::<i32>(), own, wanted),
        (DataType::LargeList(own), _) => of_lists(array.as_list::<i64>(), own, wanted),
        (DataType::FixedSizeList(own, _), DataType::FixedSizeList(item, size)) => {
            of_sizes(array.as_fixed_size_list(), own, item, *size)
        }
        (DataType::Struct(own), DataType::Struct(fields)) => {
            let records = array.as_struct();
            let named = own.len() == fields.len() && own.iter().zip(fields).all(|(a, b)| a.name() == b.name());
            let columns = named.then(|| columns(records, fields))??;
            made(StructArray::try_new_with_length(fields.clone(), columns, records.nulls().cloned(), records.len()))
        }
        (DataType::Dictionary(keys, _), DataType::Dictionary(wanted, words)) if keys == wanted => {
            let array = array.as_any_dictionary();
            Some(array.with_values(elements(array.values(), words)?))
        }
        (DataType::Union(own, mode), DataType::Union(fields, wanted))
            if mode == wanted && own.len() == fields.len() =>
        {
            let union = array.as_union();
            let children = own.iter().zip(fields.iter()).map(|((id, own), (number, wanted))| {
                let same = id == number && own.name() == wanted.name();
                if same { column(union.child(id), own, wanted) } else { None }
            });
            let (tags, offsets) = (union.type_ids().clone(), union.offsets().cloned());
            made(UnionArray::try_new(fields.clone(), tags, offsets, children.collect::<Option<_>>()?))
        }
        (DataType::Utf8, DataType::LargeUtf8) => of_width::<Utf8Type, LargeUtf8Type>(array),
        (DataType::LargeUtf8, DataType::Utf8) => of_width::<LargeUtf8Type, Utf8Type>(array),
        (DataType::Binary, DataType::LargeBinary) => of_width::<BinaryType, LargeBinaryType>(array),
        (DataType::LargeBinary, DataType::Binary) => of_width::<LargeBinaryType, BinaryType>(array),
        (DataType::Utf8, DataType::Utf8View) => Some(Arc::new(StringViewArray::from(array.as_string::<i32>()))),
        (DataType::LargeUtf8, DataType::Utf8View) => Some(Arc::new(StringViewArray::from(array.as_string::<i64>()))),
        (DataType::Binary, DataType::BinaryView) => Some(Arc::new(BinaryViewArray::from(array.as_binary::<i32>()))),
        (DataType::LargeBinary, DataType::BinaryView) => {
            Some(Arc::new(BinaryViewArray::from(array.as_binary::<i64>())))
        }
        _ => None,
    }
}

/// Texts with offsets of the other width.
fn of_width<T: ByteArrayType, U: ByteArrayType>(array: &ArrayRef) -> Option<ArrayRef> {
    let array = array.as_bytes::<T>();
    let offsets = offsets::<T::Offset, U::Offset>(array.offsets())?;
    made(GenericByteArray::<U>::try_new(offsets, array.values().clone(), array.nulls().cloned()))
}

/// The columns of records as those of other fields, by their place.
fn columns(records: &StructArray, fields: &arrow_schema::Fields) -> Option<Vec<ArrayRef>> {
    let each = records.columns().iter().zip(records.fields()).zip(fields);
    each.map(|((array, own), wanted)| column(array, own, wanted)).collect()
}

fn of_lists<O: OffsetSizeTrait>(list: &GenericListArray<O>, own: &Field, wanted: &DataType) -> Option<ArrayRef> {
    match wanted {
        DataType::List(item) => in_rows::<O, i32>(list, own, item),
        DataType::LargeList(item) => in_rows::<O, i64>(list, own, item),
        DataType::Map(entries, sorted) => {
            let (DataType::Struct(fields), DataType::Struct(_)) = (entries.data_type(), own.data_type()) else {
                return None;
            };
            let records = list.values().as_struct();
            if records.num_columns() != 2 || fields.len() != 2 || records.null_count() > 0 {
                return None;
            }
            let columns = columns(records, fields)?;
            let records = StructArray::try_new(fields.clone(), columns, None).ok()?;
            let offsets = offsets::<O, i32>(list.offsets())?;
            made(MapArray::try_new(entries.clone(), offsets, records, list.nulls().cloned(), *sorted))
        }
        _ => None,
    }
}

fn in_rows<O: OffsetSizeTrait, P: OffsetSizeTrait>(
    list: &GenericListArray<O>,
    own: &Field,
    item: &FieldRef,
) -> Option<ArrayRef> {
    let (values, offsets) = (column(list.values(), own, item)?, offsets::<O, P>(list.offsets())?);
    made(GenericListArray::<P>::try_new(item.clone(), offsets, values, list.nulls().cloned()))
}

/// Offsets of the other width; none if the last one does not fit.
fn offsets<O: OffsetSizeTrait, P: OffsetSizeTrait>(offsets: &OffsetBuffer<O>) -> Option<OffsetBuffer<P>> {
    if let Some(same) = (offsets as &dyn std::any::Any).downcast_ref::<OffsetBuffer<P>>() {
        return Some(same.clone());
    }
    let wide: Option<Vec<P>> = offsets.iter().map(|offset| P::from_usize(offset.as_usize())).collect();
    Some(OffsetBuffer::new(wide?.into()))
}

/// The sizes of the axes of lists of one size, and what lies inside.
fn axes(data_type: &DataType) -> (Vec<usize>, &DataType) {
    let (mut sizes, mut inner) = (Vec::new(), data_type);
    while let DataType::FixedSizeList(item, size) = inner {
        sizes.push(usize::try_from(*size).unwrap_or(0));
        inner = item.data_type();
    }
    (sizes, inner)
}

/// Lists of one size as lists of as many elements in all: one axis for several, or the same axes of other items.
fn of_sizes(list: &FixedSizeListArray, own: &Field, item: &FieldRef, size: i32) -> Option<ArrayRef> {
    let nulls: Option<NullBuffer> = list.nulls().cloned();
    let values = if size == list.value_length() {
        column(list.values(), own, item)?
    } else {
        let (sizes, inner) = axes(list.data_type());
        let product = sizes.iter().try_fold(1_usize, |product, size| product.checked_mul(*size))?;
        if i32::try_from(product).ok()? != size || inner != item.data_type() {
            return None;
        }
        flat(list.values())?
    };
    made(FixedSizeListArray::try_new_with_length(item.clone(), size, values, nulls, list.len()))
}

/// What lies inside lists of one size, none of which is missing.
fn flat(array: &ArrayRef) -> Option<ArrayRef> {
    let Some(list) = array.as_fixed_size_list_opt() else { return Some(array.clone()) };
    if list.null_count() > 0 {
        return None;
    }
    if list.value_length() == 0 { Some(new_empty_array(axes(list.data_type()).1)) } else { flat(list.values()) }
}

fn made<A: Array + 'static>(array: Result<A, arrow_schema::ArrowError>) -> Option<ArrayRef> {
    array.ok().map(|array| Arc::new(array) as ArrayRef)
}
