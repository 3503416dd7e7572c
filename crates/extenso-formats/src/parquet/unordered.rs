//! Categories whose order Parquet does not keep.
//!
//! Invariant: no category is read as ordered whose words may stand in another order than they had.

use crate::arrow::inside;
use arrow_schema::FieldRef;
use parquet::file::metadata::ParquetMetaData;
use std::sync::Arc;

/// Whether the words of a dictionary are in the order that they had: Arrow's C++ library writes all of them, in theirs, for each row group, where
/// other writers begin with those that come first.
pub fn keeps_order(metadata: &ParquetMetaData) -> bool {
    let writer = metadata.file_metadata().created_by();
    metadata.num_row_groups() < 2 && writer.is_some_and(|writer| writer.starts_with("parquet-cpp"))
}

/// The field without the order of categories, in it and below it; none if there is no order.
pub fn unordered(field: &FieldRef) -> Option<FieldRef> {
    let mut found = false;
    let made = inside(field, &mut |part| {
        let made = unordered(part);
        found |= made.is_some();
        made.unwrap_or_else(|| part.clone())
    });
    match made {
        Some(made) => Some(made).filter(|_| found),
        None if field.dict_is_ordered() == Some(true) => {
            Some(Arc::new(field.as_ref().clone().with_dict_is_ordered(false)))
        }
        None => None,
    }
}
