//! Arrow's types beyond numbers, text and lists: times, decimals, dictionaries, unions, and the registered extension types.
//!
//! Invariant: buffers are shared, with two exceptions: codes of which one under a null is no place of a category, and codes and words of a
//! dictionary of which a word is null, are written anew. No word is null in a value: elements of such a word are missing.

use super::{extension_name, nulls_of, picked_of, plain, value};
use crate::arrow::registered;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, UnionArray};
use arrow_buffer::NullBuffer;
use arrow_schema::extension::EXTENSION_TYPE_METADATA_KEY;
use arrow_schema::{DataType, Field, FieldRef, IntervalUnit, TimeUnit, UnionFields};
use extenso_core::{ExtensionType, Tensor, Value, ops};
use extenso_ext::{
    Bool8Tensor, CategoricalTensor, DateTensor, DecimalTensor, DurationTensor, FixedBytesTensor, IntervalTensor,
    JsonTensor, TimeTensor, TimestampTensor, UnionChild, UnionTensor, outer,
};
use extenso_types::{DType, Dim, Error, Path, Result, Segment};
use std::sync::Arc;

/// The value of an array of such a type; none of another.
pub fn typed(at: &Path, field: &FieldRef, array: &dyn Array) -> Option<Result<Value>> {
    if let Some(made) = named(at, field, array) {
        return Some(made);
    }
    let len = array.len();
    Some(match array.data_type() {
        DataType::Timestamp(unit, zone) => numbers(DType::I64, array).and_then(|values| {
            Ok(TimestampTensor::new(values, short(*unit), zone.as_deref().filter(|zone| !zone.is_empty()))?
                .into_value())
        }),
        DataType::Date32 => numbers(DType::I32, array).and_then(|v| Ok(DateTensor::new(v, "d")?.into_value())),
        DataType::Date64 => numbers(DType::I64, array).and_then(|v| Ok(DateTensor::new(v, "ms")?.into_value())),
        DataType::Time32(unit) => {
            numbers(DType::I32, array).and_then(|v| Ok(TimeTensor::new(v, short(*unit))?.into_value()))
        }
        DataType::Time64(unit) => {
            numbers(DType::I64, array).and_then(|v| Ok(TimeTensor::new(v, short(*unit))?.into_value()))
        }
        DataType::Duration(unit) => {
            numbers(DType::I64, array).and_then(|v| Ok(DurationTensor::new(v, short(*unit))?.into_value()))
        }
        DataType::Interval(unit) => {
            let (unit, width) = match unit {
                IntervalUnit::YearMonth => ("month", 4),
                IntervalUnit::DayTime => ("day_time", 8),
                IntervalUnit::MonthDayNano => ("month_day_nano", 16),
            };
            cells(&[len, width], array).and_then(|v| Ok(IntervalTensor::new(v, unit)?.into_value()))
        }
        DataType::Decimal32(precision, scale) => narrow(array, 4, *precision, *scale),
        DataType::Decimal64(precision, scale) => narrow(array, 8, *precision, *scale),
        DataType::Decimal128(precision, scale) => decimal(&[len, 16], array, *precision, *scale),
        DataType::Decimal256(precision, scale) => decimal(&[len, 32], array, *precision, *scale),
        DataType::FixedSizeBinary(width) => fixed_bytes(at, array, *width, None),
        DataType::Dictionary(..) => dictionary(at, field, array),
        DataType::Union(fields, _) => union(at, fields, array.as_union()),
        _ => return None,
    })
}

/// The value of an array whose field names an extension type that is known here.
fn named(at: &Path, field: &FieldRef, array: &dyn Array) -> Option<Result<Value>> {
    let (name, data_type) = (extension_name(field)?, array.data_type());
    match (name, data_type) {
        ("arrow.bool8", DataType::Int8) => {
            Some(numbers(DType::I8, array).and_then(|v| Ok(Bool8Tensor::new(v)?.into_value())))
        }
        ("arrow.json", DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) => {
            let text = unnamed(at, field, array).and_then(|text| text.tensor().cloned());
            Some(text.and_then(|text| Ok(JsonTensor::new(text)?.into_value())))
        }
        ("arrow.uuid", DataType::FixedSizeBinary(16)) => Some(fixed_bytes(at, array, 16, Some("uuid"))),
        ("arrow.fixed_shape_tensor", DataType::FixedSizeList(..)) => Some(fixed_shape(at, field, array)),
        _ => {
            let text = field.metadata().get(EXTENSION_TYPE_METADATA_KEY)?;
            let frame = registered::frame(name, text)?;
            Some(
                frame
                    .and_then(|frame| registered::rebuilt(&frame, unnamed(at, field, array)?))
                    .map_err(|e| e.at_path(at)),
            )
        }
    }
}

/// The value of the storage of an extension type.
fn unnamed(at: &Path, field: &FieldRef, array: &dyn Array) -> Result<Value> {
    let bare = arrow_schema::Field::new(field.name(), field.data_type().clone(), field.is_nullable());
    plain(at, &std::sync::Arc::new(bare), array)
}

fn short(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    }
}

/// The buffer of an array of fixed width as numbers.
fn numbers(dtype: DType, array: &dyn Array) -> Result<Tensor> {
    let width = dtype.width().ok_or_else(|| Error::internal(format!("{dtype} has no width")))?;
    fixed(dtype, &[array.len()], width, array)
}

/// The buffer of an array of fixed width as its bytes.
fn cells(dims: &[usize; 2], array: &dyn Array) -> Result<Tensor> {
    fixed(DType::U8, dims, dims[1], array)
}

fn fixed(dtype: DType, dims: &[usize], width: usize, array: &dyn Array) -> Result<Tensor> {
    let data = array.to_data();
    let missing = || Error::data(format!("the buffer of {} is too short", array.data_type()));
    let buffer = data.buffers().first().ok_or_else(missing)?;
    let (from, len) = (data.offset().checked_mul(width), array.len().checked_mul(width));
    let (Some(from), Some(len)) = (from, len) else { return Err(missing()) };
    if from.checked_add(len).is_none_or(|end| end > buffer.len()) {
        return Err(missing());
    }
    Tensor::from_buffer(dtype, dims, buffer.slice_with_length(from, len))
}

fn decimal(dims: &[usize; 2], array: &dyn Array, precision: u8, scale: i8) -> Result<Value> {
    Ok(DecimalTensor::new(cells(dims, array)?, precision.into(), scale.into())?.into_value())
}

/// Decimals of fewer bytes, written into 16 each.
fn narrow(array: &dyn Array, width: usize, precision: u8, scale: i8) -> Result<Value> {
    let narrow = cells(&[array.len(), width], array)?;
    let mut wide = Vec::with_capacity(narrow.as_slice::<u8>()?.len() * (16 / width));
    for cell in narrow.as_slice::<u8>()?.chunks_exact(width) {
        let fill = if cell.last().is_some_and(|top| *top >= 0x80) { 0xff } else { 0 };
        wide.extend_from_slice(cell);
        wide.extend(std::iter::repeat_n(fill, 16 - width));
    }
    let cells = Tensor::new::<u8>(&[array.len(), 16], &wide)?;
    Ok(DecimalTensor::new(cells, precision.into(), scale.into())?.into_value())
}

fn fixed_bytes(at: &Path, array: &dyn Array, width: i32, kind: Option<&str>) -> Result<Value> {
    let width = usize::try_from(width).map_err(|_| Error::data(format!("'{at}' has a negative width")))?;
    Ok(FixedBytesTensor::new(cells(&[array.len(), width], array)?, kind)?.into_value())
}

/// Codes and vocabulary.
fn dictionary(at: &Path, field: &FieldRef, array: &dyn Array) -> Result<Value> {
    let any = array.as_any_dictionary();
    let (keys, mut words) = (any.keys(), any.values().clone());
    let mut codes = plain(at, &super::field_of(keys), keys)?.tensor()?.clone();
    if !array.is_empty() {
        codes = within(codes, keys.nulls(), words.len().max(1))?;
    }
    if let Some(nulls) = nulls_of(words.as_ref()) {
        (codes, words) = without_nulls(&codes, words.as_ref(), &nulls)?;
    }
    // What the field of a dictionary says its type is, is said of the words.
    let inner = Field::new("", words.data_type().clone(), true).with_metadata(field.metadata().clone());
    let inner = Arc::new(inner);
    let mut categories = value(&at.child(Segment::component("categories")), &inner, words.as_ref())?;
    if words.is_empty() && !array.is_empty() {
        // Codes of nothing but nulls mean nothing; a vocabulary of one keeps them places.
        categories = crate::arrow::decode::defaults(&categories.spec()?, 1)?;
    }
    let ordered = field.dict_is_ordered().unwrap_or(false);
    Ok(CategoricalTensor::new(codes, categories, ordered)?.into_value())
}

/// Codes that are places, also where they are null.
fn within(codes: Tensor, nulls: Option<&NullBuffer>, count: usize) -> Result<Tensor> {
    let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else { return Ok(codes) };
    let wide = ops::cast(&codes, DType::I64)?;
    let place = |code: &i64| usize::try_from(*code).is_ok_and(|code| code < count);
    if wide.tensor()?.as_slice::<i64>()?.iter().all(place) {
        return Ok(codes);
    }
    let there = Tensor::from_bits(&[codes.data()?.len()], nulls.inner().clone())?;
    ops::where_(there, &codes, ops::zeros_like(&codes)?)?.tensor().cloned()
}

/// The words that are there, and codes of them; those of the others are places of no meaning.
fn without_nulls(codes: &Tensor, words: &dyn Array, nulls: &NullBuffer) -> Result<(Tensor, ArrayRef)> {
    let mut count = 0;
    let places = nulls.iter().map(|there| {
        count += i64::from(there);
        if there { count - 1 } else { 0 }
    });
    let places = Tensor::from_vec(places.collect::<Vec<i64>>());
    let moved = ops::cast(ops::take(places, codes, 0_i64)?, codes.dtype())?;
    let there = nulls.inner().set_slices().map(|(from, to)| from..to);
    Ok((moved.tensor()?.clone(), picked_of(words, there, words.len() - nulls.null_count())?))
}

fn union(at: &Path, fields: &UnionFields, array: &UnionArray) -> Result<Value> {
    let len = array.len();
    let tags = Tensor::from_buffer(DType::I8, &[len], array.type_ids().inner().clone())?;
    let offsets = array.offsets().map(|offsets| Tensor::from_buffer(DType::I32, &[len], offsets.inner().clone()));
    let child = |(id, field): (i8, &FieldRef)| {
        let place = usize::try_from(id).unwrap_or(0);
        let values = value(&at.child(Segment::Index(place)), field, array.child(id).as_ref())?;
        if matches!(outer(&values), None | Some(Dim::Var(_))) {
            return Err(Error::internal("a child of a union has no length"));
        }
        Ok(UnionChild { id, name: field.name().as_str().into(), values })
    };
    let children: Result<Vec<UnionChild>> = fields.iter().map(child).collect();
    Ok(UnionTensor::new(tags, offsets.transpose()?, children?)?.into_value())
}

/// Lists of one size with the shape that their metadata say; axes that are stored in another order are moved.
fn fixed_shape(at: &Path, field: &FieldRef, array: &dyn Array) -> Result<Value> {
    let flat = unnamed(at, field, array)?;
    let text = field.metadata().get(EXTENSION_TYPE_METADATA_KEY).map_or("", String::as_str);
    let odd = || Error::data(format!("the metadata of the tensors are {text:?}")).wanted("a shape");
    let (shape, order) = registered::tensor_shape(text).ok_or_else(odd)?;
    let tensor = flat.tensor().map_err(|_| {
        Error::data(format!("'{at}' has tensors with nulls inside")).wanted("tensors whose elements are all there")
    })?;
    let dims: Vec<usize> = std::iter::once(array.len()).chain(shape).collect();
    let stored = tensor.with_dims(&dims).map_err(|e| e.at_path(at))?;
    let Some(order) = order else { return Ok(stored.into()) };
    let axis = |axis: usize| i64::try_from(axis).unwrap_or(i64::MAX).saturating_add(1);
    let axes: Vec<i64> = std::iter::once(0).chain(order.into_iter().map(axis)).collect();
    ops::transpose(stored, Some(axes)).map_err(|e| e.at_path(at))
}
