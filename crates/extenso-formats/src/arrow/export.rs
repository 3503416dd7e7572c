//! Values to Arrow.

use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, LargeListArray, ListArray, StructArray, make_array,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use extenso_core::{Dense, ExtensionType, Offsets, Storage, Tensor, Value};
use extenso_ext::{MaskedTensor, RaggedTensor, StructTensor};
use extenso_types::{DType, Error, Result};
use std::sync::Arc;

/// The array of a value, sharing its buffers.
///
/// Shapes: the outer axis is the array's length; further dense axes are fixed-size lists.
/// Errors: a scalar, a symbol, a type that Arrow has no array for.
pub fn to_arrow(value: &Value) -> Result<ArrayRef> {
    match value {
        Value::Tensor(tensor) => dense(tensor.data()?),
        Value::Partition(_) => Err(Error::dtype("a row partition has no array of its own").wanted("a ragged tensor")),
        Value::Ext(_) => extension(value),
    }
}

/// The array of a value and its field, which says what type of an extension it is.
///
/// Errors: as [`to_arrow`].
pub fn to_arrow_field(value: &Value) -> Result<(FieldRef, ArrayRef)> {
    let array = to_arrow(value)?;
    Ok((Arc::new(Field::new("", array.data_type().clone(), array.nulls().is_some())), array))
}

fn extension(value: &Value) -> Result<ArrayRef> {
    if let Ok(ragged) = RaggedTensor::from_value(value) {
        return list(&ragged);
    }
    if let Ok(masked) = MaskedTensor::from_value(value) {
        return optional(&masked);
    }
    let record = StructTensor::from_value(value).map_err(|_| {
        Error::dtype(format!("a {} has no Arrow array", value.ext().map_or("value".into(), |e| e.def().to_string())))
    })?;
    structs(&record)
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

fn dense(tensor: &Dense) -> Result<ArrayRef> {
    let dims = tensor.dims();
    if dims.is_empty() {
        return Err(Error::shape("a scalar has no array").wanted("at least a vector").hint("Use `expand_dims`."));
    }
    (1..dims.len()).rev().try_fold(flat(tensor)?, |items, axis| {
        let field = Arc::new(Field::new("item", items.data_type().clone(), false));
        let size = i32::try_from(dims[axis])
            .map_err(|_| Error::shape(format!("an axis of {} is too long for Arrow", dims[axis])))?;
        // Lists of no items do not tell how many they are.
        let lists = dims[..axis].iter().product();
        let list = FixedSizeListArray::try_new_with_length(field, size, items, None, lists);
        Ok(Arc::new(list.map_err(arrow)?) as ArrayRef)
    })
}

fn flat(tensor: &Dense) -> Result<ArrayRef> {
    match tensor.storage() {
        Storage::Bits(bits) => Ok(Arc::new(BooleanArray::new(bits.clone(), None))),
        Storage::Fixed(buffer) => {
            let data =
                ArrayData::builder(data_type(tensor.dtype())?).len(tensor.len()).add_buffer(buffer.clone()).build();
            Ok(make_array(data.map_err(arrow)?))
        }
        Storage::Text { offsets, bytes } => text(tensor.dtype(), offsets, bytes),
        Storage::Boxed(_) => Err(Error::dtype("boxed values have no Arrow array")),
    }
}

/// Arrow's constructors want every byte of the buffer to be text, used or not; its validation of parts asks what we prove.
fn text(dtype: DType, offsets: &Offsets, bytes: &Buffer) -> Result<ArrayRef> {
    let (data_type, cuts) = match (offsets, dtype) {
        (Offsets::I32(o), DType::String) => (DataType::Utf8, o.inner()),
        (Offsets::I64(o), DType::String) => (DataType::LargeUtf8, o.inner()),
        (Offsets::I32(o), _) => (DataType::Binary, o.inner()),
        (Offsets::I64(o), _) => (DataType::LargeBinary, o.inner()),
    };
    let builder = ArrayData::builder(data_type).len(offsets.len() - 1);
    let data = builder.add_buffer(cuts.clone()).add_buffer(bytes.clone()).build();
    Ok(make_array(data.map_err(arrow)?))
}

fn list(ragged: &RaggedTensor) -> Result<ArrayRef> {
    let values = to_arrow(ragged.values())?;
    let field = Arc::new(Field::new("item", values.data_type().clone(), values.nulls().is_some()));
    Ok(match ragged.partition().data()?.offsets() {
        Offsets::I32(o) => {
            Arc::new(ListArray::try_new(field, OffsetBuffer::new(o.clone()), values, None).map_err(arrow)?)
        }
        Offsets::I64(o) => {
            Arc::new(LargeListArray::try_new(field, OffsetBuffer::new(o.clone()), values, None).map_err(arrow)?)
        }
    })
}

fn optional(masked: &MaskedTensor) -> Result<ArrayRef> {
    let values = to_arrow(masked.values())?;
    let mask: &Tensor = masked.mask();
    let [n] = mask.data()?.dims() else {
        return Err(
            Error::shape(format!("a mask of {} has no Arrow validity", mask.spec())).wanted("a mask of the outer axis")
        );
    };
    if *n != values.len() {
        return Err(Error::shape(format!("a mask of {n} is over {} values", values.len())));
    }
    let nulls = NullBuffer::new(mask.data()?.bits()?.clone());
    let data = values.into_data().into_builder().nulls(Some(nulls)).build().map_err(arrow)?;
    Ok(make_array(data))
}

fn structs(record: &StructTensor) -> Result<ArrayRef> {
    let mut fields = Vec::new();
    let mut columns = Vec::new();
    for name in record.field_names() {
        let column = to_arrow(record.field(name)?).map_err(|e| e.at(format!("field '{name}'")))?;
        fields.push(Arc::new(Field::new(name.to_string(), column.data_type().clone(), column.nulls().is_some())));
        columns.push(column);
    }
    let shape = record.shape();
    let n = match shape.dims() {
        Some([n]) => n.known(),
        _ => None,
    };
    let n =
        n.ok_or_else(|| Error::shape(format!("a struct of shape {shape} has no array")).wanted("a vector of structs"))?;
    Ok(Arc::new(StructArray::try_new_with_length(fields.into(), columns, None, n).map_err(arrow)?))
}
