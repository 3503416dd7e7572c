//! Arrow to values.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, FixedSizeListArray, GenericByteArray, GenericListArray, OffsetSizeTrait, StructArray};
use arrow_buffer::{Buffer, OffsetBuffer};
use arrow_schema::DataType;
use extenso_core::{ExtensionType, Offsets, RowPartition, Tensor, Value};
use extenso_ext::{MaskedTensor, RaggedTensor, StructTensor};
use extenso_types::{DType, Error, Path, Result, Segment, Shape};
use std::sync::Arc;

/// The value of an array, sharing its buffers.
///
/// Shapes: the array's length is the outer axis. Null, dictionary, union, temporal and decimal arrays have no value yet.
/// Errors: such a type, with its path; offsets or text that are malformed.
pub fn from_arrow(array: &dyn Array) -> Result<Value> {
    value(&Path::root(), array)
}

fn value(at: &Path, array: &dyn Array) -> Result<Value> {
    let plain = plain(at, array)?;
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => Ok(plain),
        Some(nulls) => {
            let mask = Tensor::from_bits(&[array.len()], nulls.inner().clone())?;
            Ok(MaskedTensor::new(plain, mask)?.into_value())
        }
    }
}

fn plain(at: &Path, array: &dyn Array) -> Result<Value> {
    match array.data_type() {
        DataType::Boolean => Ok(Tensor::from_bits(&[array.len()], array.as_boolean().values().clone())?.into()),
        DataType::Int8 => numbers::<Int8Type>(DType::I8, array),
        DataType::Int16 => numbers::<Int16Type>(DType::I16, array),
        DataType::Int32 => numbers::<Int32Type>(DType::I32, array),
        DataType::Int64 => numbers::<Int64Type>(DType::I64, array),
        DataType::UInt8 => numbers::<UInt8Type>(DType::U8, array),
        DataType::UInt16 => numbers::<UInt16Type>(DType::U16, array),
        DataType::UInt32 => numbers::<UInt32Type>(DType::U32, array),
        DataType::UInt64 => numbers::<UInt64Type>(DType::U64, array),
        DataType::Float16 => numbers::<Float16Type>(DType::F16, array),
        DataType::Float32 => numbers::<Float32Type>(DType::F32, array),
        DataType::Float64 => numbers::<Float64Type>(DType::F64, array),
        DataType::Utf8 => text(DType::String, array.as_string::<i32>()),
        DataType::LargeUtf8 => text(DType::String, array.as_string::<i64>()),
        DataType::Binary => text(DType::Bytes, array.as_binary::<i32>()),
        DataType::LargeBinary => text(DType::Bytes, array.as_binary::<i64>()),
        DataType::List(_) => list(at, array.as_list::<i32>()),
        DataType::LargeList(_) => list(at, array.as_list::<i64>()),
        DataType::FixedSizeList(..) => fixed(at, array.as_fixed_size_list()),
        DataType::Struct(_) => record(at, array.as_struct()),
        other => Err(Error::dtype(format!("'{at}' has the Arrow type {other}"))
            .wanted("booleans, numbers, strings, bytes, lists or structs")
            .hint("Cast the column to one of these before.")),
    }
}

fn numbers<T: ArrowPrimitiveType>(dtype: DType, array: &dyn Array) -> Result<Value> {
    let buffer = array.as_primitive::<T>().values().inner().clone();
    Ok(Tensor::from_buffer(dtype, &[array.len()], buffer)?.into())
}

/// Offsets keep their width and their buffer.
fn offsets<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>) -> Offsets {
    let buffer: Buffer = offsets.inner().inner().clone();
    let n = offsets.len();
    match O::IS_LARGE {
        true => Offsets::I64(arrow_buffer::ScalarBuffer::new(buffer, 0, n)),
        false => Offsets::I32(arrow_buffer::ScalarBuffer::new(buffer, 0, n)),
    }
}

fn text<T: arrow_array::types::ByteArrayType>(dtype: DType, array: &GenericByteArray<T>) -> Result<Value> {
    let offsets = offsets(array.offsets());
    Ok(Tensor::from_text(dtype, &[array.len()], offsets, array.values().clone())?.into())
}

fn list<O: OffsetSizeTrait>(at: &Path, array: &GenericListArray<O>) -> Result<Value> {
    let values = value(&at.child(Segment::Each), array.values().as_ref())?;
    let partition = RowPartition::from_offsets(offsets(array.offsets()), array.values().len())?;
    Ok(RaggedTensor::from_partition(values, partition)?.into_value())
}

fn fixed(at: &Path, array: &FixedSizeListArray) -> Result<Value> {
    let size = usize::try_from(array.value_length())
        .map_err(|_| Error::data(format!("'{at}' has lists of a negative size")))?;
    // The child is not cut by a slice of the list.
    let first = array.value_offset(0);
    let child = array.values().slice(usize::try_from(first).unwrap_or(0), array.len() * size);
    let values = value(&at.child(Segment::Each), child.as_ref())?;
    match &values {
        Value::Tensor(t) => {
            let inner = t.data()?.dims()[1..].iter().copied();
            let dims: Vec<usize> = [array.len(), size].into_iter().chain(inner).collect();
            Ok(t.with_dims(&dims)?.into())
        }
        Value::Partition(_) | Value::Ext(_) => {
            let partition = RowPartition::from_lengths(std::iter::repeat_n(size, array.len()))?;
            Ok(RaggedTensor::from_partition(values, partition)?.into_value())
        }
    }
}

fn record(at: &Path, array: &StructArray) -> Result<Value> {
    let field = |(field, column): (&Arc<arrow_schema::Field>, &arrow_array::ArrayRef)| {
        let name: Arc<str> = field.name().as_str().into();
        Ok((name.clone(), value(&at.child(Segment::Field(name)), column.as_ref())?))
    };
    let fields: Result<Vec<_>> = array.fields().iter().zip(array.columns()).map(field).collect();
    Ok(StructTensor::from_fields(Shape::known(&[array.len()]), fields?)?.into_value())
}
