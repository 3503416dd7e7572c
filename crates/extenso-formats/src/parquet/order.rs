//! The order of categories, which Parquet does not keep: a writer begins with the words that come first. It stands in the metadata of
//! the field, which other readers pass over.
//!
//! Invariant: an order is told that the words of all batches have, and is given back to words that are all of it.

use super::project::item;
use crate::arrow::inside;
use crate::categories::check;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeStringArray, RecordBatch, StringArray, make_array};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, FieldRef, Schema};
use extenso_core::{Tensor, ops};
use extenso_types::{DType, Result};
use jiter::JsonValue;
use std::collections::HashMap;
use std::sync::Arc;

/// Where the metadata of a field has the words of its dictionary in their order.
pub const ORDER: &str = "extenso:order";

/// How many bytes the words of an order have at most that is kept.
const MOST: usize = 1 << 16;

/// For each dictionary that has an order its words; none where batches have several orders.
#[derive(Default, Debug)]
pub struct Orders(Vec<Option<Vec<String>>>);

impl Orders {
    /// Adds the words of a batch.
    pub fn add(&mut self, batch: &RecordBatch) {
        let mut found = Vec::new();
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            gather(field, &column.to_data(), &mut found);
        }
        if self.0.is_empty() {
            self.0 = found;
            return;
        }
        for (known, found) in self.0.iter_mut().zip(found) {
            *known = match (known.take(), found) {
                (Some(a), Some(b)) if a.starts_with(&b) => Some(a),
                (Some(a), Some(b)) if b.starts_with(&a) => Some(b),
                _ => None,
            };
        }
    }

    /// The schema that a file tells: no dictionary is said to be ordered, and its field says the order.
    pub fn told(&self, schema: &Schema) -> Schema {
        let mut orders = self.0.iter();
        let fields: Vec<FieldRef> = schema.fields().iter().map(|field| told(field, &mut orders)).collect();
        Schema::new_with_metadata(fields, schema.metadata().clone())
    }
}

fn is_ordered(field: &Field) -> bool {
    field.dict_is_ordered() == Some(true)
}

/// Adds the words of the ordered dictionaries at and below a field.
fn gather(field: &Field, data: &ArrayData, out: &mut Vec<Option<Vec<String>>>) {
    match (field.data_type(), data.child_data()) {
        (DataType::Struct(fields), columns) => {
            fields.iter().zip(columns).for_each(|(field, column)| gather(field, column, out));
        }
        (DataType::Dictionary(..), [words]) if is_ordered(field) => out.push(words_of(&make_array(words.clone()))),
        (other, [items]) => {
            if let Some(item) = item(other) {
                gather(item, items, out);
            }
        }
        _ => {}
    }
}

/// Texts that are few; none of other values.
fn words_of(words: &ArrayRef) -> Option<Vec<String>> {
    let words: Vec<Option<&str>> = match words.data_type() {
        DataType::Utf8 => words.as_string::<i32>().iter().collect(),
        DataType::LargeUtf8 => words.as_string::<i64>().iter().collect(),
        _ => return None,
    };
    let size: usize = words.iter().flatten().map(|word| word.len() + 1).sum();
    if size > MOST { None } else { words.into_iter().map(|word| word.map(String::from)).collect() }
}

fn told(field: &FieldRef, orders: &mut dyn Iterator<Item = &Option<Vec<String>>>) -> FieldRef {
    if let Some(made) = inside(field, &mut |part| told(part, orders)) {
        return made;
    }
    if !is_ordered(field) {
        return field.clone();
    }
    let mut metadata = field.metadata().clone();
    if let Some(Some(words)) = orders.next() {
        let mut text = Vec::new();
        for (i, word) in words.iter().enumerate() {
            text.push(if i == 0 { b'[' } else { b',' });
            crate::json::write_string(word.as_bytes(), &mut text);
        }
        text.extend_from_slice(if words.is_empty() { b"[]" } else { b"]" });
        metadata.insert(ORDER.into(), String::from_utf8_lossy(&text).into_owned());
    }
    Arc::new(field.as_ref().clone().with_dict_is_ordered(false).with_metadata(metadata))
}

/// A dictionary whose words stand in the order that its field tells, and that field; none where words are not of it.
///
/// Errors: none that dictionaries have which were read.
pub fn restored(field: &Field, array: &ArrayRef) -> Result<Option<(FieldRef, ArrayRef)>> {
    let Some((order, places)) = field.metadata().get(ORDER).and_then(|text| found(text, array)) else {
        return Ok(None);
    };
    let (DataType::Dictionary(keys, words), Some(any)) = (array.data_type(), array.as_any_dictionary_opt()) else {
        return Ok(None);
    };
    let Some(dtype) = dtype_of(keys).filter(|dtype| check(order.len(), *dtype).is_ok()) else { return Ok(None) };
    let given = if places.is_empty() { vec![0; array.len()] } else { any.normalized_keys() };
    let codes: Vec<i64> = given.into_iter().map(|key| places.get(key).copied().unwrap_or(0)).collect();
    let codes = ops::cast(Tensor::from_vec(codes), dtype)?;
    let order: ArrayRef = match **words {
        DataType::Utf8 => Arc::new(StringArray::from(order)),
        _ => Arc::new(LargeStringArray::from(order)),
    };
    let made = ArrayData::builder(array.data_type().clone()).len(array.len()).nulls(array.nulls().cloned());
    let Ok(made) = made.add_buffer(codes.tensor()?.buffer()?).add_child_data(order.to_data()).build() else {
        return Ok(None);
    };
    let mut metadata = field.metadata().clone();
    metadata.remove(ORDER);
    let field = field.clone().with_dict_is_ordered(true).with_metadata(metadata);
    Ok(Some((Arc::new(field), make_array(made))))
}

/// The words of an order, and the places of those of an array in it.
fn found(text: &str, array: &ArrayRef) -> Option<(Vec<String>, Vec<i64>)> {
    // No text of this length was written.
    if text.len() > 8 * MOST {
        return None;
    }
    let words = words_of(array.as_any_dictionary_opt()?.values())?;
    let json = JsonValue::parse(text.as_bytes(), false).ok()?;
    let JsonValue::Array(items) = &json else { return None };
    let word = |item: &JsonValue<'_>| match item {
        JsonValue::Str(word) => Some(word.to_string()),
        _ => None,
    };
    let order: Vec<String> = items.iter().map(word).collect::<Option<_>>()?;
    let places: HashMap<&str, i64> = order.iter().map(String::as_str).zip(0..).collect();
    let of_words = words.iter().map(|word| places.get(word.as_str()).copied()).collect::<Option<Vec<i64>>>()?;
    let distinct = places.len() == order.len();
    distinct.then_some((order, of_words))
}

fn dtype_of(keys: &DataType) -> Option<DType> {
    Some(match keys {
        DataType::Int8 => DType::I8,
        DataType::Int16 => DType::I16,
        DataType::Int32 => DType::I32,
        DataType::Int64 => DType::I64,
        DataType::UInt8 => DType::U8,
        DataType::UInt16 => DType::U16,
        DataType::UInt32 => DType::U32,
        DataType::UInt64 => DType::U64,
        _ => return None,
    })
}
