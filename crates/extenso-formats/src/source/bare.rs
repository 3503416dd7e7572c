//! Records of which nothing is needed but how many they are, such as the items of a list that is counted.
//!
//! A spec of records without fields says how many there are, which no file does. So these records are read as booleans, which nobody looks at.
//!
//! Invariant: the booleans have the rows and the nulls of the records.

use crate::arrow::nulls_of;
use crate::records::is;
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, GenericListArray, GenericListViewArray, OffsetSizeTrait,
    StructArray, make_array,
};
use arrow_buffer::{BooleanBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use extenso_ext::{MaskedTensorSpec, StructSpec};
use extenso_types::{DType, Dim, ExtSpec, Segment, Shape, Spec, TensorSpec};
use std::sync::Arc;

fn is_bare(ext: &ExtSpec) -> bool {
    is::<StructSpec>(ext) && ext.components.is_empty()
}

/// The spec with booleans for records without fields, and for each of its leaves the one of `places` that it is; none for the booleans.
pub fn spec_of(spec: &Spec, places: &[usize]) -> (Spec, Vec<Option<usize>>) {
    fn below(spec: &Spec, left: &mut &[usize], out: &mut Vec<Option<usize>>) -> Spec {
        match spec {
            Spec::Ext(ext) if is_bare(ext) => {
                out.push(None);
                TensorSpec::new(DType::Bool, Shape::new([Dim::any()])).into()
            }
            Spec::Ext(ext) => {
                let part = |(segment, spec): &(Segment, Spec)| (segment.clone(), below(spec, left, out));
                let components = ext.components.iter().map(part).collect();
                Spec::from(ExtSpec { def: ext.def.clone(), static_data: ext.static_data.clone(), components })
            }
            Spec::Tensor(_) | Spec::Partition(_) => {
                let first = left.split_first().map(|(first, rest)| {
                    *left = rest;
                    *first
                });
                out.push(first);
                spec.clone()
            }
        }
    }
    let (mut left, mut out) = (places, Vec::new());
    let spec = below(spec, &mut left, &mut out);
    (spec, out)
}

/// The array with booleans where the spec has records without fields.
///
/// Errors: none that an array that was made has; what Arrow says, all the same.
pub fn array_of(array: &ArrayRef, spec: &Spec) -> Result<ArrayRef, ArrowError> {
    let Spec::Ext(ext) = spec else { return Ok(array.clone()) };
    match array.data_type() {
        _ if is_bare(ext) => {
            let bits = BooleanBuffer::new_unset(array.len());
            Ok(Arc::new(BooleanArray::new(bits, nulls_of(array.as_ref()))))
        }
        _ if is::<MaskedTensorSpec>(ext) => match ext.component(&Segment::Itself) {
            Some(inner) => array_of(array, inner),
            None => Ok(array.clone()),
        },
        DataType::Struct(_) => record(array.as_struct(), ext),
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            rows(array, list.offsets(), list.values(), ext)
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            rows(array, list.offsets(), list.values(), ext)
        }
        DataType::FixedSizeList(..) => equal_rows(array, array.as_fixed_size_list(), ext),
        DataType::ListView(_) => views(array, array.as_list_view::<i32>(), ext),
        DataType::LargeListView(_) => views(array, array.as_list_view::<i64>(), ext),
        DataType::RunEndEncoded(ends, values) => runs(array, ends, values, spec),
        DataType::Map(..) => {
            let map = array.as_map();
            rows(array, map.offsets(), &(Arc::new(map.entries().clone()) as ArrayRef), ext)
        }
        _ => Ok(array.clone()),
    }
}

fn record(record: &StructArray, ext: &ExtSpec) -> Result<ArrayRef, ArrowError> {
    let mut fields = Vec::with_capacity(record.num_columns());
    let mut columns = Vec::with_capacity(record.num_columns());
    for (field, column) in record.fields().iter().zip(record.columns()) {
        let wanted = ext.component(&Segment::field(field.name().as_str()));
        let column = wanted.map_or_else(|| Ok(column.clone()), |spec| array_of(column, spec))?;
        // Runs and words say by their values that a record is missing, of which a field need not tell.
        let field = field.as_ref().clone().with_nullable(true);
        fields.push(Arc::new(field.with_data_type(column.data_type().clone())));
        columns.push(column);
    }
    let nulls = record.nulls().cloned();
    Ok(Arc::new(StructArray::try_new_with_length(fields.into(), columns, nulls, record.len())?))
}

fn rows<O: OffsetSizeTrait>(
    array: &ArrayRef,
    offsets: &OffsetBuffer<O>,
    items: &ArrayRef,
    ext: &ExtSpec,
) -> Result<ArrayRef, ArrowError> {
    let Some((field, changed)) = changed(items, ext)? else { return Ok(array.clone()) };
    let nulls = array.nulls().cloned();
    Ok(Arc::new(GenericListArray::<O>::try_new(field, offsets.clone(), changed, nulls)?))
}

fn runs(array: &ArrayRef, ends: &FieldRef, values: &FieldRef, spec: &Spec) -> Result<ArrayRef, ArrowError> {
    let data = array.to_data();
    let [at, of] = data.child_data() else { return Ok(array.clone()) };
    let changed = array_of(&make_array(of.clone()), spec)?.to_data();
    let values = values.as_ref().clone().with_data_type(changed.data_type().clone());
    let (at, data_type) = (at.clone(), DataType::RunEndEncoded(ends.clone(), Arc::new(values)));
    Ok(make_array(data.into_builder().data_type(data_type).child_data(vec![at, changed]).build()?))
}

fn equal_rows(array: &ArrayRef, lists: &FixedSizeListArray, ext: &ExtSpec) -> Result<ArrayRef, ArrowError> {
    let Some((field, changed)) = changed(lists.values(), ext)? else { return Ok(array.clone()) };
    let (size, nulls) = (lists.value_length(), array.nulls().cloned());
    Ok(Arc::new(FixedSizeListArray::try_new_with_length(field, size, changed, nulls, array.len())?))
}

fn views<O: OffsetSizeTrait>(
    array: &ArrayRef,
    lists: &GenericListViewArray<O>,
    ext: &ExtSpec,
) -> Result<ArrayRef, ArrowError> {
    let Some((field, changed)) = changed(lists.values(), ext)? else { return Ok(array.clone()) };
    let (offsets, sizes, nulls) = (lists.offsets().clone(), lists.sizes().clone(), array.nulls().cloned());
    Ok(Arc::new(GenericListViewArray::<O>::try_new(field, offsets, sizes, changed, nulls)?))
}

/// The items of lists with booleans for records without fields; none if there are no such records.
fn changed(items: &ArrayRef, ext: &ExtSpec) -> Result<Option<(Arc<Field>, ArrayRef)>, ArrowError> {
    let item = ext.components.iter().map(|(_, spec)| spec).find(|spec| !matches!(spec, Spec::Partition(_)));
    let changed = item.map_or_else(|| Ok(items.clone()), |item| array_of(items, item))?;
    let field = || Arc::new(Field::new("item", changed.data_type().clone(), true));
    Ok(if Arc::ptr_eq(&changed, items) { None } else { Some((field(), changed)) })
}
