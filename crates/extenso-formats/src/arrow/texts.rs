//! Texts that are read as bytes, so that one that is not UTF-8 is a fault of its row, and looked at once.
//!
//! Invariant: the field of such bytes says that they are texts. No value is made of them before they were proven to be.

use super::levels::inside;
use arrow_schema::{DataType, Field, FieldRef};
use extenso_types::DType;
use std::sync::Arc;

/// Where the metadata of a field of bytes says that they are texts.
const TEXT: &str = "extenso:text";

/// The field by which texts come as the bytes that they are, at any level, for arrays whose texts nobody looked at.
///
/// A text that is not UTF-8 is then a fault of its row. Words of dictionaries, and what runs repeat, stay as they are.
///
/// ```
/// # use extenso_formats::arrow::{schema::{DataType, Field}, with_bytes};
/// let field = with_bytes(&Field::new("name", DataType::Utf8, true).into());
/// assert_eq!(*field.data_type(), DataType::Binary);
/// ```
pub fn with_bytes(field: &FieldRef) -> FieldRef {
    inside(field, &mut with_bytes).or_else(|| as_bytes(field)).unwrap_or_else(|| field.clone())
}

/// The field of the bytes that texts are; none of a field of something else, or of a type of an extension.
pub fn as_bytes(field: &Field) -> Option<FieldRef> {
    let bytes = match field.data_type() {
        DataType::Utf8 => DataType::Binary,
        DataType::LargeUtf8 => DataType::LargeBinary,
        DataType::Utf8View => DataType::BinaryView,
        _ => return None,
    };
    if super::import::extension_name(field).is_some() {
        return None;
    }
    let mut metadata = field.metadata().clone();
    metadata.insert(TEXT.into(), String::new());
    Some(Arc::new(field.clone().with_data_type(bytes).with_metadata(metadata)))
}

/// What the bytes of a field are.
pub fn dtype_of(field: &Field) -> DType {
    if field.metadata().contains_key(TEXT) { DType::String } else { DType::Bytes }
}

/// The type of an array of a field before its texts were bytes.
pub fn given(field: &FieldRef, data_type: &DataType) -> DataType {
    let field = Arc::new(field.as_ref().clone().with_data_type(data_type.clone()));
    let inner = inside(&field, &mut |part| {
        let data_type = given(part, part.data_type());
        Arc::new(part.as_ref().clone().with_data_type(data_type))
    });
    match (inner, data_type, dtype_of(&field)) {
        (Some(field), ..) => field.data_type().clone(),
        (None, DataType::Binary, DType::String) => DataType::Utf8,
        (None, DataType::LargeBinary, DType::String) => DataType::LargeUtf8,
        (None, DataType::BinaryView, DType::String) => DataType::Utf8View,
        (None, other, _) => other.clone(),
    }
}
