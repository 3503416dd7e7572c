//! Layouts that no tensor has: views, list views, runs; and what every layout has alike: validity and lists.
//!
//! Invariant: what is converted takes memory that there is, however small the array is that asks for it.

use arrow_array::cast::AsArray;
use arrow_array::types::{ByteViewType, Int16Type, Int32Type, Int64Type, RunEndIndexType};
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericByteViewArray, GenericListArray, GenericListViewArray, OffsetSizeTrait,
    RunArray, StructArray,
};
use arrow_buffer::{
    ArrowNativeType, BooleanBuffer, BooleanBufferBuilder, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer,
};
use arrow_data::transform::MutableArrayData;
use arrow_schema::{DataType, FieldRef};
use extenso_core::kernels::pool::affordable;
use extenso_core::{MAX_EMPTY, Offsets, Tensor, Value, join_text, ops};
use extenso_types::{DType, Error, Path, Result};
use std::sync::Arc;

/// The items of lists: their field, and the array of all.
pub struct Items {
    pub field: FieldRef,
    pub array: ArrayRef,
}

/// Which items are there, where some are not: those of dictionaries and runs by what they stand for.
pub fn nulls_of(array: &dyn Array) -> Option<NullBuffer> {
    let nulls = match array.data_type() {
        // Where every word is there, the validity is that of the codes, as it stands.
        DataType::Dictionary(..) if nulls_of(array.as_any_dictionary().values().as_ref()).is_none() => {
            array.nulls().cloned()
        }
        DataType::Dictionary(..) | DataType::RunEndEncoded(..) | DataType::Union(..) | DataType::Null => {
            array.logical_nulls()
        }
        _ => array.nulls().cloned(),
    };
    nulls.filter(|nulls| nulls.null_count() > 0)
}

/// Which items are there, where the value does not say so itself.
pub fn validity_of(array: &dyn Array) -> Option<NullBuffer> {
    match array.data_type() {
        DataType::Union(..) => None,
        _ => nulls_of(array),
    }
}

/// `len` numbers under nulls.
///
/// Errors: more than would be there of records without fields.
pub fn nothing(len: usize) -> Result<Value> {
    if len > MAX_EMPTY {
        return Err(Error::shape(format!("a null array has {len} items")).wanted(format!("at most {MAX_EMPTY}")));
    }
    Ok(Tensor::from_vec(vec![0.0_f64; len]).into())
}

/// Offsets keep their width and their buffer.
pub fn offsets<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>) -> Offsets {
    let buffer: Buffer = offsets.inner().inner().clone();
    let n = offsets.len();
    match O::IS_LARGE {
        true => Offsets::I64(ScalarBuffer::new(buffer, 0, n)),
        false => Offsets::I32(ScalarBuffer::new(buffer, 0, n)),
    }
}

/// How lists of any layout are cut, and their items; none of an array without lists.
///
/// Errors: list views that take more memory than there is.
pub fn lists_of(at: &Path, array: &dyn Array) -> Option<Result<(Offsets, Items)>> {
    fn plain<O: OffsetSizeTrait>(field: &FieldRef, array: &GenericListArray<O>) -> (Offsets, Items) {
        (offsets(array.offsets()), Items { field: field.clone(), array: array.values().clone() })
    }
    match array.data_type() {
        DataType::List(field) => Some(Ok(plain(field, array.as_list::<i32>()))),
        DataType::LargeList(field) => Some(Ok(plain(field, array.as_list::<i64>()))),
        DataType::ListView(field) => Some(viewed(field, array.as_list_view::<i32>()).map_err(|e| e.at_path(at))),
        DataType::LargeListView(field) => Some(viewed(field, array.as_list_view::<i64>()).map_err(|e| e.at_path(at))),
        DataType::Map(field, _) => {
            let map = array.as_map();
            let entries: ArrayRef = std::sync::Arc::new(map.entries().clone());
            Some(Ok((offsets(map.offsets()), Items { field: field.clone(), array: entries })))
        }
        DataType::FixedSizeList(field, size) => {
            let lists = array.as_fixed_size_list();
            let size = usize::try_from(*size).unwrap_or(0);
            let cut = Offsets::from_lengths(std::iter::repeat_n(size, array.len()));
            Some(cut.map(|cut| (cut, Items { field: field.clone(), array: uniform_items(lists) })))
        }
        _ => None,
    }
}

/// The items of lists of one size; a slice of the lists does not cut them.
pub fn uniform_items(array: &FixedSizeListArray) -> ArrayRef {
    let size = usize::try_from(array.value_length()).unwrap_or(0);
    let first = usize::try_from(array.value_offset(0)).unwrap_or(0);
    array.values().slice(first, array.len() * size)
}

/// The items of lists of one size, without nulls where all of them stand in lists that are null themselves, whose items some writers say are
/// null too.
pub fn seen_items(array: &FixedSizeListArray) -> ArrayRef {
    let items = uniform_items(array);
    let Some(lists) = array.nulls() else { return items };
    let size = usize::try_from(array.value_length()).unwrap_or(0);
    without_unseen(items, &repeated(lists.inner(), size))
}

/// The items without nulls where all of them are unseen, down through records and lists of one size.
pub fn without_unseen(items: ArrayRef, seen: &BooleanBuffer) -> ArrayRef {
    let shown = items.nulls().is_some_and(|nulls| (&!nulls.inner() & seen).count_set_bits() > 0);
    let nulls = items.nulls().filter(|_| shown).cloned();
    let there = || nulls.as_ref().map_or_else(|| seen.clone(), |nulls| seen & nulls.inner());
    let made: std::result::Result<ArrayRef, arrow_schema::ArrowError> = match items.data_type() {
        DataType::FixedSizeList(field, size) => {
            let seen = repeated(&there(), usize::try_from(*size).unwrap_or(0));
            let inner = without_unseen(uniform_items(items.as_fixed_size_list()), &seen);
            FixedSizeListArray::try_new_with_length(field.clone(), *size, inner, nulls, items.len())
                .map(|made| Arc::new(made) as ArrayRef)
        }
        DataType::Struct(fields) => {
            let there = there();
            let columns = items.as_struct().columns().iter().map(|column| without_unseen(column.clone(), &there));
            StructArray::try_new_with_length(fields.clone(), columns.collect(), nulls, items.len())
                .map(|made| Arc::new(made) as ArrayRef)
        }
        _ if items.nulls().is_none() || shown => return items,
        _ => items.to_data().into_builder().nulls(None).build().map(arrow_array::make_array),
    };
    made.unwrap_or(items)
}

/// Each bit so many times.
pub fn repeated(bits: &BooleanBuffer, times: usize) -> BooleanBuffer {
    let mut out = BooleanBufferBuilder::new(bits.len().saturating_mul(times));
    bits.iter().for_each(|bit| out.append_n(times, bit));
    out.finish()
}

/// List views as lists: the values as they stand where the views are in order, otherwise picked view by view.
fn viewed<O: OffsetSizeTrait>(field: &FieldRef, array: &GenericListViewArray<O>) -> Result<(Offsets, Items)> {
    let view = |i: usize| {
        let size = if array.is_valid(i) { array.value_size(i).as_usize() } else { 0 };
        (array.value_offset(i).as_usize(), size)
    };
    let lengths = || (0..array.len()).map(|i| view(i).1);
    let in_order = (1..array.len()).all(|i| view(i).0 == view(i - 1).0 + view(i - 1).1);
    let values = array.values();
    let cut = Offsets::from_lengths(lengths())?;
    if in_order {
        let (first, len) = (if array.is_empty() { 0 } else { view(0).0 }, cut.last());
        return Ok((cut, Items { field: field.clone(), array: values.slice(first, len) }));
    }
    let total = lengths().try_fold(0_usize, usize::checked_add).unwrap_or(usize::MAX);
    affordable(total.saturating_mul(8))?;
    let picked = (0..array.len()).map(|i| view(i).0..view(i).0 + view(i).1);
    Ok((cut, Items { field: field.clone(), array: picked_of(values.as_ref(), picked, total)? }))
}

/// Strings or bytes of views, one after the other.
///
/// Errors: more bytes than there is memory for, which views may say of few.
pub fn views<T: ByteViewType + ?Sized>(dtype: DType, array: &GenericByteViewArray<T>) -> Result<Value> {
    let text = |i: usize| -> &[u8] { if array.is_valid(i) { array.value(i).as_ref() } else { &[] } };
    let total = (0..array.len()).map(|i| text(i).len()).try_fold(0_usize, usize::checked_add);
    affordable(total.unwrap_or(usize::MAX).saturating_add(array.len().saturating_mul(8)))?;
    let (offsets, bytes) = join_text((0..array.len()).map(text));
    Ok(Tensor::from_text(dtype, &[array.len()], offsets, bytes)?.into())
}

/// The values of runs, each as often as its run is long.
///
/// Errors: more values than there is memory for, which few runs may say.
pub fn runs(array: &dyn Array, values: impl Fn(&dyn Array) -> Result<Value>) -> Result<Value> {
    let (runs, of) = runs_of(array)?;
    ops::take(values(of.as_ref())?, Tensor::from_vec(runs), 0_i64)
}

/// The array whose items are those of runs, each as often as its run is long.
///
/// Errors: as [`runs`].
pub fn without_runs(array: &dyn Array) -> Result<ArrayRef> {
    let (runs, values) = runs_of(array)?;
    let places = || runs.iter().map(|&run| usize::try_from(run).unwrap_or(0));
    let sizes: Vec<usize> =
        (0..values.len()).map(|i| values.slice(i, 1).to_data().get_slice_memory_size().unwrap_or(usize::MAX)).collect();
    let total = places().map(|run| sizes.get(run).copied().unwrap_or(0)).try_fold(0_usize, usize::checked_add);
    affordable(total.unwrap_or(usize::MAX))?;
    picked_of(values.as_ref(), places().map(|run| run..run + 1), runs.len())
}

/// For each item the run that it is in, and the values of the runs.
///
/// Errors: as [`runs`].
pub fn runs_of(array: &dyn Array) -> Result<(Vec<i64>, ArrayRef)> {
    fn picked<R: RunEndIndexType>(array: &RunArray<R>) -> Result<(Vec<i64>, ArrayRef)> {
        affordable(array.len().saturating_mul(16))?;
        let ends = array.run_ends();
        let (offset, len, mut indices) = (ends.offset(), array.len(), Vec::with_capacity(array.len()));
        for (run, end) in ends.values().iter().enumerate() {
            let end = end.as_usize().saturating_sub(offset).min(len);
            let run = i64::try_from(run).unwrap_or(i64::MAX);
            indices.resize(end.max(indices.len()), run);
        }
        if indices.len() < len {
            return Err(Error::data(format!("the runs end at {}", indices.len())).wanted(format!("{len} items")));
        }
        Ok((indices, array.values().clone()))
    }
    let missing = || Error::internal("runs of another width than i16, i32 and i64");
    if let Some(array) = array.as_any().downcast_ref::<RunArray<Int16Type>>() {
        picked(array)
    } else if let Some(array) = array.as_any().downcast_ref::<RunArray<Int32Type>>() {
        picked(array)
    } else {
        picked(array.as_any().downcast_ref::<RunArray<Int64Type>>().ok_or_else(missing)?)
    }
}

/// The items of an array in these ranges.
pub fn picked_of(
    array: &dyn Array,
    ranges: impl Iterator<Item = std::ops::Range<usize>>,
    total: usize,
) -> Result<ArrayRef> {
    let source = array.to_data();
    let mut picked = MutableArrayData::new(vec![&source], false, total);
    for range in ranges {
        picked.try_extend(0, range.start, range.end).map_err(|e| Error::data(e.to_string()))?;
    }
    Ok(arrow_array::make_array(picked.freeze()))
}
