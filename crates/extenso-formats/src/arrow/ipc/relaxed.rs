//! Fields that say that they have no nulls, and hold what has nulls of its own.
//!
//! Invariant: nothing but what fields say of nulls is changed, and that in records alone, where Arrow's reader refuses a union or runs whose
//! children have nulls. What is null, the arrays say.

use arrow_schema::{DataType, Field, FieldRef, Schema};
use std::sync::Arc;

/// The schema by which such records are read.
pub fn relaxed(schema: Schema) -> Schema {
    let fields = schema.fields().iter().map(|field| below(field, false)).collect::<Vec<FieldRef>>();
    Schema::new_with_metadata(fields, schema.metadata)
}

fn below(field: &FieldRef, in_record: bool) -> FieldRef {
    let item = |item: &FieldRef| below(item, false);
    let data_type = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(|field| below(field, true)).collect()),
        DataType::List(inner) => DataType::List(item(inner)),
        DataType::LargeList(inner) => DataType::LargeList(item(inner)),
        DataType::ListView(inner) => DataType::ListView(item(inner)),
        DataType::LargeListView(inner) => DataType::LargeListView(item(inner)),
        DataType::FixedSizeList(inner, size) => DataType::FixedSizeList(item(inner), *size),
        DataType::Union(fields, mode) => {
            DataType::Union(fields.iter().map(|(id, field)| (id, item(field))).collect(), *mode)
        }
        other => other.clone(),
    };
    let holds_nulls = matches!(data_type, DataType::Union(..) | DataType::RunEndEncoded(..));
    let relaxed = Field::clone(field).with_data_type(data_type);
    Arc::new(if in_record && holds_nulls { relaxed.with_nullable(true) } else { relaxed })
}
