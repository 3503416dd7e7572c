//! The fields by which messages are read: those that hold what has nulls of its own may have some, and texts are bytes.
//!
//! Invariant: nothing but what fields say of nulls and of texts is changed; the former in records alone, where Arrow's reader refuses a union or
//! runs whose children have nulls. What is null, the arrays say.

use crate::arrow::levels::inside;
use crate::arrow::texts::as_bytes;
use arrow_schema::{DataType, Field, FieldRef, Schema};
use std::sync::Arc;

/// The schema by which such records are read.
pub fn relaxed(schema: Schema) -> Schema {
    let fields = schema.fields().iter().map(|field| below(field, false)).collect::<Vec<FieldRef>>();
    Schema::new_with_metadata(fields, schema.metadata)
}

fn below(field: &FieldRef, in_record: bool) -> FieldRef {
    let is_record = matches!(field.data_type(), DataType::Struct(_));
    let made = inside(field, &mut |part| below(part, is_record)).or_else(|| as_bytes(field));
    let made = made.unwrap_or_else(|| field.clone());
    let holds_nulls = matches!(made.data_type(), DataType::Union(..) | DataType::RunEndEncoded(..));
    if in_record && holds_nulls { Arc::new(Field::clone(&made).with_nullable(true)) } else { made }
}
