//! Arrow to values.

mod layouts;
mod typed;

use super::levels::checked_levels;
use super::texts::dtype_of;
use crate::caught::caught;
use crate::columns::{BadRows, Misfits, OnError};
use crate::looks::{Seen, judged};
use crate::ops::any_rows;
use crate::policy::halved;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ByteArrayType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, FixedSizeListArray, GenericByteArray, StructArray};
use arrow_buffer::BooleanBuffer;
use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Field, FieldRef};
use extenso_core::kernels::pool::affordable;
use extenso_core::{ExtensionType, MAX_EMPTY, RowPartition, Tensor, Value, ops};
use extenso_ext::{MaskedTensor, RaggedTensor, StructTensor, shape_of};
use extenso_types::{DType, Error, Path, Result, Segment, Shape};
use std::sync::Arc;

#[cfg(feature = "ipc")]
pub(super) use layouts::runs_of;
pub(crate) use layouts::without_runs;
pub(super) use layouts::{Items, lists_of};
pub(crate) use layouts::{nulls_of, picked_of, repeated, uniform_items};

/// The value of an array, sharing its buffers.
///
/// Shapes: the array's length is the outer axis. Views, list views and run-end encoded arrays are converted, decimals of fewer than 16
/// bytes widened; a null array is a masked tensor of f64 without a value.
/// Errors: a type that has no value, with its path, or that nests too deep; offsets or text that are malformed.
pub fn from_arrow(array: &dyn Array) -> Result<Value> {
    from_arrow_field(&field_of(array), array)
}

/// The value of an array whose field says what type of an extension it is.
///
/// Errors: as [`from_arrow`].
pub fn from_arrow_field(field: &FieldRef, array: &dyn Array) -> Result<Value> {
    Ok(rows_of_field(field, array, 0, OnError::Raise)?.0)
}

/// As [`from_arrow_field`], with the rows that a user's type refuses left out or replaced by defaults, and noted; rows are counted from `start`.
///
/// Errors: as [`from_arrow_field`].
pub(crate) fn rows_of_field(
    field: &FieldRef,
    array: &dyn Array,
    start: usize,
    on_error: OnError,
) -> Result<(Value, BadRows)> {
    checked_levels(array.data_type())?;
    let read = |array: &dyn Array| {
        let read = value(&Path::root(), field, array);
        // What no row has may be what failed.
        let nested = array.data_type().is_nested();
        read.or_else(|failed| if nested { value(&Path::root(), field, &*alone(array, failed)?) } else { Err(failed) })
    };
    let value = match read(array) {
        Err(_) if on_error != OnError::Raise => {
            let decode = |rows: &ArrayRef, at: usize, _: OnError| {
                Ok((rows_of_field(field, rows.as_ref(), at, OnError::Raise)?.0, Misfits::default()))
            };
            return halved(&array.slice(0, array.len()), start, Vec::new(), on_error, (&decode, None));
        }
        read => read?,
    };
    let spec = any_rows(&value.spec()?);
    judged(value, BadRows::default(), Seen::from(start, &[]), &spec, on_error)
}

/// A copy of an array without what none of its items has.
///
/// Errors: what a read of the array failed with, where there is no memory for a copy, or none can be made.
pub(crate) fn alone(array: &dyn Array, failed: Error) -> Result<ArrayRef> {
    if affordable(array.get_array_memory_size()).is_err() {
        return Err(failed);
    }
    match caught(|| picked_of(array, std::iter::once(0..array.len()), array.len())) {
        Ok(Ok(copy)) => Ok(copy),
        Ok(Err(_)) | Err(_) => Err(failed),
    }
}

/// The field of an array that comes without one.
pub(crate) fn field_of(array: &dyn Array) -> FieldRef {
    Arc::new(Field::new("", array.data_type().clone(), true))
}

/// The name of the extension type that a field says its array is of.
pub(super) fn extension_name(field: &Field) -> Option<&str> {
    field.metadata().get(EXTENSION_TYPE_NAME_KEY).map(String::as_str)
}

fn value(at: &Path, field: &FieldRef, array: &dyn Array) -> Result<Value> {
    let plain = plain(at, field, array)?;
    match layouts::validity_of(array) {
        None => Ok(plain),
        Some(nulls) => {
            let mask = Tensor::from_bits(&[array.len()], nulls.into_inner())?;
            Ok(MaskedTensor::new(plain, mask)?.into_value())
        }
    }
}

/// The value of an array whatever its validity is.
pub(super) fn plain(at: &Path, field: &FieldRef, array: &dyn Array) -> Result<Value> {
    if let Some(typed) = typed::typed(at, field, array) {
        return typed;
    }
    match array.data_type() {
        DataType::Null => layouts::nothing(array.len()).map_err(|e| e.at_path(at)),
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
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            texts(DType::String, array).map_err(|e| e.at_path(at))
        }
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            texts(dtype_of(field), array).map_err(|e| e.at_path(at))
        }
        DataType::List(_)
        | DataType::LargeList(_)
        | DataType::ListView(_)
        | DataType::LargeListView(_)
        | DataType::Map(..) => list(at, array),
        DataType::FixedSizeList(..) => fixed(at, array.as_fixed_size_list()),
        DataType::Struct(_) => record(at, array.as_struct()),
        DataType::RunEndEncoded(_, values) => {
            layouts::runs(array, |array| plain(at, values, array)).map_err(|e| e.at_path(at))
        }
        other => Err(Error::dtype(format!("'{at}' has the Arrow type {other}"))
            .wanted("booleans, numbers, strings, bytes, lists or structs")
            .hint(format!("Cast the column '{}' to one of these before.", field.name()))),
    }
}

/// So many numbers, all of them missing.
fn missing(len: usize) -> Result<Value> {
    affordable(len.saturating_mul(size_of::<f64>()))?;
    let mask = Tensor::from_bits(&[len], BooleanBuffer::new_unset(len))?;
    Ok(MaskedTensor::new(Tensor::from_vec(vec![0.0_f64; len]), mask)?.into_value())
}

fn numbers<T: ArrowPrimitiveType>(dtype: DType, array: &dyn Array) -> Result<Value> {
    let buffer = array.as_primitive::<T>().values().inner().clone();
    Ok(Tensor::from_buffer(dtype, &[array.len()], buffer)?.into())
}

/// Strings or bytes, of any layout.
///
/// Errors: strings that are not UTF-8; views that say more bytes than there is memory for.
pub(super) fn texts(dtype: DType, array: &dyn Array) -> Result<Value> {
    fn of<T: ByteArrayType>(dtype: DType, array: &GenericByteArray<T>) -> Result<Value> {
        let offsets = layouts::offsets(array.offsets());
        Ok(Tensor::from_text(dtype, &[array.len()], offsets, array.values().clone())?.into())
    }
    match array.data_type() {
        DataType::Utf8 => of(dtype, array.as_string::<i32>()),
        DataType::LargeUtf8 => of(dtype, array.as_string::<i64>()),
        DataType::Utf8View => layouts::views(dtype, array.as_string_view()),
        DataType::Binary => of(dtype, array.as_binary::<i32>()),
        DataType::LargeBinary => of(dtype, array.as_binary::<i64>()),
        DataType::BinaryView => layouts::views(dtype, array.as_binary_view()),
        other => Err(Error::internal(format!("{other} has no texts"))),
    }
}

fn list(at: &Path, array: &dyn Array) -> Result<Value> {
    let lists = lists_of(at, array).ok_or_else(|| Error::internal(format!("{} has no lists", array.data_type())))?;
    let (offsets, items) = lists?;
    let values = value(&at.child(Segment::Each), &items.field, items.array.as_ref())?;
    let partition = RowPartition::from_offsets(offsets, items.array.len())?;
    Ok(RaggedTensor::from_partition(values, partition)?.into_value())
}

fn fixed(at: &Path, array: &FixedSizeListArray) -> Result<Value> {
    let DataType::FixedSizeList(field, size) = array.data_type() else {
        return Err(Error::internal("lists of one size are of another type"));
    };
    let size = usize::try_from(*size).map_err(|_| Error::data(format!("'{at}' has lists of a negative size")))?;
    let values = value(&at.child(Segment::Each), field, layouts::seen_items(array).as_ref())?;
    let in_lists = |items: &Tensor| {
        let inner = items.data()?.dims()[1..].iter().copied();
        let dims: Vec<usize> = [array.len(), size].into_iter().chain(inner).collect();
        items.with_dims(&dims)
    };
    if let Ok(masked) = MaskedTensor::from_value(&values)
        && let Value::Tensor(items) = masked.values()
    {
        return Ok(MaskedTensor::new(in_lists(items)?, in_lists(masked.mask())?)?.into_value());
    }
    match &values {
        Value::Tensor(items) => in_lists(items).map(Value::Tensor),
        Value::Partition(_) | Value::Ext(_) => {
            if let Some(made) = with_axis(&values, array.len(), size) {
                return Ok(made);
            }
            let partition = RowPartition::of_length(array.len(), size, DType::I64)?;
            Ok(RaggedTensor::from_partition(values, partition)?.into_value())
        }
    }
}

/// The items with an axis of one size behind the first; none of items of several sizes, and of a type that knows no axes.
fn with_axis(items: &Value, lists: usize, size: usize) -> Option<Value> {
    let dims = shape_of(&items.spec().ok()?).to_dims()?;
    let dims = [lists, size].into_iter().chain(dims.get(1..)?.iter().copied());
    let dims: Vec<i64> = dims.map(i64::try_from).collect::<std::result::Result<_, _>>().ok()?;
    ops::reshape(items, dims).ok()
}

fn record(at: &Path, array: &StructArray) -> Result<Value> {
    // Nulls that stand beside data are as many as that has items, however many these are.
    let beside = || array.columns().iter().any(|column| column.get_buffer_memory_size() >= array.len().div_ceil(8));
    let value = |at: &Path, field: &FieldRef, column: &dyn Array| match column.data_type() {
        DataType::Null if column.len() > MAX_EMPTY && beside() => missing(column.len()).map_err(|e| e.at_path(at)),
        _ => value(at, field, column),
    };
    let field = |(field, column): (&FieldRef, &ArrayRef)| {
        let name: Arc<str> = field.name().as_str().into();
        Ok((name.clone(), value(&at.child(Segment::Field(name)), field, column.as_ref())?))
    };
    // What a field is where its record is missing says nothing.
    let columns: Vec<ArrayRef> = match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        Some(there) => {
            array.columns().iter().map(|column| layouts::without_unseen(column.clone(), there.inner())).collect()
        }
        None => array.columns().to_vec(),
    };
    let fields: Result<Vec<_>> = array.fields().iter().zip(&columns).map(field).collect();
    Ok(StructTensor::from_fields(Shape::known(&[array.len()]), fields?)?.into_value())
}
