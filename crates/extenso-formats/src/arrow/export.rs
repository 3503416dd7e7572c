//! Values to Arrow.

mod typed;

use super::levels::checked_levels;
use super::registered;
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, LargeListArray, ListArray, StructArray, make_array,
    new_empty_array,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_data::ArrayData;
use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use extenso_core::{Ext, ExtensionType, Offsets, Storage, Tensor, Value, ops};
use extenso_ext::{MaskedTensor, RaggedTensor, StructTensor, UnionTensor, outer, shape_of};
use extenso_types::{DType, Dim, Error, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// The array of a value, sharing its buffers.
///
/// Shapes: the outer axis is the array's length; further dense axes are fixed-size lists.
/// Errors: a scalar, a symbol, a type that Arrow has no array for, or that nests too deep.
pub fn to_arrow(value: &Value) -> Result<ArrayRef> {
    to_arrow_field(value).map(|(_, array)| array)
}

/// The array of a value and its field, which says what type of an extension it is.
///
/// Errors: as [`to_arrow`].
pub fn to_arrow_field(value: &Value) -> Result<(FieldRef, ArrayRef)> {
    let column = column(value)?;
    checked_levels(column.array.data_type())?;
    Ok((column.field(""), column.array))
}

/// An array, and what its field says beside its type.
struct Column {
    array: ArrayRef,
    metadata: HashMap<String, String>,
    /// Whether the order of a dictionary means something.
    ordered: bool,
}

impl Column {
    fn plain(array: ArrayRef) -> Column {
        Column { array, metadata: HashMap::new(), ordered: false }
    }

    /// The array under the name of an extension type.
    fn named(array: ArrayRef, name: &str, metadata: String) -> Column {
        let metadata = [
            (EXTENSION_TYPE_NAME_KEY.to_string(), name.to_string()),
            (EXTENSION_TYPE_METADATA_KEY.to_string(), metadata),
        ];
        Column { metadata: metadata.into(), ..Column::plain(array) }
    }

    fn field(&self, name: &str) -> FieldRef {
        // Whether there is a null is for the data to say: batches of one schema may differ in it.
        let field = Field::new(name, self.array.data_type().clone(), true).with_metadata(self.metadata.clone());
        Arc::new(if self.ordered { field.with_dict_is_ordered(true) } else { field })
    }
}

fn column(value: &Value) -> Result<Column> {
    match value {
        Value::Tensor(tensor) => dense(tensor).map(Column::plain),
        Value::Partition(_) => Err(Error::dtype("a row partition has no array of its own").wanted("a ragged tensor")),
        Value::Ext(ext) => extension(value, ext),
    }
}

fn extension(value: &Value, ext: &Ext) -> Result<Column> {
    if let Ok(ragged) = RaggedTensor::from_value(value) {
        return list(&ragged).map(Column::plain);
    }
    if let Ok(masked) = MaskedTensor::from_value(value) {
        return optional(&masked);
    }
    if let Ok(record) = StructTensor::from_value(value) {
        return structs(&record).map(Column::plain);
    }
    match typed::column_of(value)? {
        Some(column) => Ok(column),
        None => components(value, ext),
    }
}

/// A value of another type: a struct of its components, under the name of the type.
///
/// Errors: components of other lengths than the first, so that they are no columns.
fn components(value: &Value, ext: &Ext) -> Result<Column> {
    let spec = ext.spec()?;
    let at = |e: Error| e.at(format!("component of {}", spec.def));
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (i, ((segment, _), part)) in spec.components.iter().zip(ext.components()?).enumerate() {
        let part = column(&part).map_err(at)?;
        fields.push(part.field(&registered::column_name(i, segment)));
        columns.push(part.array);
    }
    let len = match columns.first() {
        Some(first) => first.len(),
        None => match outer(value) {
            Some(Dim::Known(len)) => len,
            _ => 0,
        },
    };
    if let Some(other) = columns.iter().find(|other| other.len() != len) {
        return Err(Error::shape(format!("a {} has components of {len} and of {} items", spec.def, other.len()))
            .wanted("components of one length, which are columns"));
    }
    let array = StructArray::try_new_with_length(fields.into(), columns, None, len).map_err(arrow)?;
    Ok(Column::named(Arc::new(array), spec.def.name().as_str(), registered::metadata(&spec)?))
}

fn arrow(e: ArrowError) -> Error {
    Error::internal(format!("Arrow refuses what was proven: {e}"))
}

fn data_type(dtype: DType) -> Result<DataType> {
    Ok(match dtype {
        DType::Bool => DataType::Boolean,
        DType::I8 => DataType::Int8,
        DType::I16 => DataType::Int16,
        DType::I32 => DataType::Int32,
        DType::I64 => DataType::Int64,
        DType::U8 => DataType::UInt8,
        DType::U16 => DataType::UInt16,
        DType::U32 => DataType::UInt32,
        DType::U64 => DataType::UInt64,
        DType::F16 => DataType::Float16,
        DType::F32 => DataType::Float32,
        DType::F64 => DataType::Float64,
        DType::BF16 | DType::String | DType::Bytes | DType::Variant => {
            return Err(Error::dtype(format!("{dtype} has no Arrow array of fixed width")).hint("Cast it to f32."));
        }
    })
}

fn dense(tensor: &Tensor) -> Result<ArrayRef> {
    in_lists(flat(tensor)?, tensor.data()?.dims())
}

/// Elements in lists of one size for each axis behind the first.
fn in_lists(elements: ArrayRef, dims: &[usize]) -> Result<ArrayRef> {
    items_in_lists(Column::plain(elements), dims).map(|column| column.array)
}

/// As [`in_lists`], of elements whose field says more than their type.
fn items_in_lists(elements: Column, dims: &[usize]) -> Result<Column> {
    if dims.is_empty() {
        return Err(Error::shape("a scalar has no array").wanted("at least a vector").hint("Use `expand_dims`."));
    }
    (1..dims.len()).rev().try_fold(elements, |items, axis| {
        let size = i32::try_from(dims[axis])
            .map_err(|_| Error::shape(format!("an axis of {} is too long for Arrow", dims[axis])))?;
        // Lists of no items do not tell how many they are.
        let lists = dims[..axis].iter().product();
        let list = FixedSizeListArray::try_new_with_length(items.field("item"), size, items.array, None, lists);
        Ok(Column::plain(Arc::new(list.map_err(arrow)?)))
    })
}

fn flat(tensor: &Tensor) -> Result<ArrayRef> {
    let dense = tensor.data()?;
    match dense.storage() {
        Storage::Bits(bits) => Ok(Arc::new(BooleanArray::new(bits.clone(), None))),
        Storage::Fixed(_) => of_width(data_type(dense.dtype())?, dense.len(), tensor.buffer()?),
        Storage::Text { offsets, bytes } => text(tensor.dtype(), offsets, bytes),
        Storage::Boxed(_) => Err(Error::dtype("boxed values have no Arrow array")),
    }
}

/// An array of one buffer.
fn of_width(data_type: DataType, len: usize, buffer: Buffer) -> Result<ArrayRef> {
    let data = ArrayData::builder(data_type).len(len).add_buffer(buffer).align_buffers(true).build();
    Ok(make_array(data.map_err(arrow)?))
}

/// Arrow's constructors want every byte of the buffer to be text, used or not; its validation of parts asks what we prove.
fn text(dtype: DType, offsets: &Offsets, bytes: &Buffer) -> Result<ArrayRef> {
    let (data_type, cuts) = match (offsets, dtype) {
        (Offsets::I32(o), DType::String) => (DataType::Utf8, o.inner()),
        (Offsets::I64(o), DType::String) => (DataType::LargeUtf8, o.inner()),
        (Offsets::I32(o), _) => (DataType::Binary, o.inner()),
        (Offsets::I64(o), _) => (DataType::LargeBinary, o.inner()),
    };
    if offsets.len() == 1 {
        // Readers take no text to lie in no bytes, wherever the only offset is.
        return Ok(new_empty_array(&data_type));
    }
    let builder = ArrayData::builder(data_type).len(offsets.len() - 1);
    let data = builder.add_buffer(cuts.clone()).add_buffer(bytes.clone()).build();
    Ok(make_array(data.map_err(arrow)?))
}

fn list(ragged: &RaggedTensor) -> Result<ArrayRef> {
    let values = column(ragged.values())?;
    let rows = ragged.partition().data()?;
    if let Some(length) = rows.uniform_row_length().filter(|n| i32::try_from(*n).is_ok()) {
        let items = Column { array: values.array.slice(rows.first(), rows.last() - rows.first()), ..values };
        return items_in_lists(items, &[rows.nrows(), length]).map(|column| column.array);
    }
    let field = values.field("item");
    Ok(match rows.offsets() {
        Offsets::I32(o) => {
            Arc::new(ListArray::try_new(field, OffsetBuffer::new(o.clone()), values.array, None).map_err(arrow)?)
        }
        Offsets::I64(o) => {
            Arc::new(LargeListArray::try_new(field, OffsetBuffer::new(o.clone()), values.array, None).map_err(arrow)?)
        }
    })
}

fn optional(masked: &MaskedTensor) -> Result<Column> {
    let mask: &Tensor = masked.mask();
    let [n] = mask.data()?.dims() else { return inside(masked) };
    if let Ok(union) = UnionTensor::from_value(masked.values()) {
        return typed::masked_union(&union, mask.data()?.bits()?);
    }
    let values = column(masked.values())?;
    if *n != values.array.len() {
        return Err(Error::shape(format!("a mask of {n} is over {} values", values.array.len())));
    }
    let array = with_nulls(&values.array, NullBuffer::new(mask.data()?.bits()?.clone()))?;
    Ok(Column { array, ..values })
}

/// The array with this validity. Bits may begin inside a byte: what Arrow proves of data made of parts takes such a validity, of the array
/// or of what is inside it, for one that is too short.
fn with_nulls(array: &ArrayRef, nulls: NullBuffer) -> Result<ArrayRef> {
    let nulls = Some(nulls);
    let made = match array.data_type() {
        DataType::Boolean => return Ok(Arc::new(BooleanArray::new(array.as_boolean().values().clone(), nulls))),
        DataType::List(item) => {
            let list = array.as_list();
            ListArray::try_new(item.clone(), list.offsets().clone(), list.values().clone(), nulls).map(as_array)
        }
        DataType::LargeList(item) => {
            let list = array.as_list();
            LargeListArray::try_new(item.clone(), list.offsets().clone(), list.values().clone(), nulls).map(as_array)
        }
        DataType::FixedSizeList(item, size) => {
            let items = array.as_fixed_size_list().values().clone();
            FixedSizeListArray::try_new_with_length(item.clone(), *size, items, nulls, array.len()).map(as_array)
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns().to_vec();
            StructArray::try_new_with_length(fields.clone(), columns, nulls, array.len()).map(as_array)
        }
        _ => array.to_data().into_builder().nulls(nulls).build().map(make_array),
    };
    made.map_err(arrow)
}

fn as_array(array: impl Array + 'static) -> ArrayRef {
    Arc::new(array)
}

/// Values whose inner elements may be missing: nulls inside lists of one size.
fn inside(masked: &MaskedTensor) -> Result<Column> {
    let (mask, dims) = (masked.mask(), masked.mask().data()?.dims());
    let sizes = shape_of(&masked.values().spec()?).to_dims();
    let inner = sizes.as_ref().and_then(|sizes| sizes.get(dims.len()..)).filter(|_| !dims.is_empty());
    let inner = inner.ok_or_else(|| {
        Error::shape(format!("a mask of {} has no Arrow validity", mask.spec())).wanted("a mask of the outer axis")
    })?;
    let count = dims.iter().product();
    let long = |size: usize| i64::try_from(size).map_err(|_| Error::shape(format!("an axis of {size} is too long")));
    let flat: Vec<i64> = std::iter::once(count).chain(inner.iter().copied()).map(long).collect::<Result<_>>()?;
    let flat = MaskedTensor::new(ops::reshape(masked.values(), flat)?, mask.with_dims(&[count])?)?;
    items_in_lists(optional(&flat)?, dims)
}

fn structs(record: &StructTensor) -> Result<ArrayRef> {
    if let Some(dims) = record.shape().to_dims().filter(|dims| dims.len() > 1) {
        let rows = ops::reshape(record.clone().into_value(), vec![-1_i64])?;
        return in_lists(structs(&StructTensor::from_value(&rows)?)?, &dims);
    }
    let mut fields = Vec::new();
    let mut columns = Vec::new();
    for name in record.field_names() {
        let column = column(record.field(name)?).map_err(|e| e.at(format!("field '{name}'")))?;
        fields.push(column.field(name));
        columns.push(column.array);
    }
    let shape = record.shape();
    // The spec of a field of a type that is not known here need not tell how many it has; its array does.
    let n = match shape.dims() {
        Some([n]) => n.known().or_else(|| columns.first().map(|column| column.len())),
        _ => None,
    };
    let n =
        n.ok_or_else(|| Error::shape(format!("a struct of shape {shape} has no array")).wanted("a vector of structs"))?;
    if let Some((name, column)) = record.field_names().zip(&columns).find(|(_, column)| column.len() != n) {
        return Err(Error::shape(format!("{} values are of {n} records", column.len()))
            .wanted("one number of rows")
            .at(format!("field '{name}'")));
    }
    Ok(Arc::new(StructArray::try_new_with_length(fields.into(), columns, None, n).map_err(arrow)?))
}
