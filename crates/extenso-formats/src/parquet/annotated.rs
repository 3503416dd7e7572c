//! Annotations of columns that other readers know a type by, where the crate writes none: of uuids and of JSON texts.
//!
//! Invariant: a file has the columns that the crate would write, each of the same bytes.

use super::project::item;
use arrow_schema::{DataType, Fields, Schema};
use parquet::arrow::ArrowSchemaConverter;
use parquet::basic::LogicalType;
use parquet::errors::Result;
use parquet::schema::types::{SchemaDescriptor, Type};
use std::sync::Arc;

/// What the columns of a file are; none where the crate says all that there is to say.
///
/// Errors: a type that the crate does not write.
pub fn annotated(schema: &Schema) -> Result<Option<SchemaDescriptor>> {
    let mut wanted = Vec::new();
    annotations(schema.fields(), &mut wanted);
    if wanted.iter().all(Option::is_none) {
        return Ok(None);
    }
    let plain = ArrowSchemaConverter::new().convert(schema)?;
    let root = with(plain.root_schema(), &mut wanted.into_iter())?;
    Ok(Some(SchemaDescriptor::new(Arc::new(root))))
}

/// Adds what each leaf column is annotated as.
fn annotations(fields: &Fields, out: &mut Vec<Option<LogicalType>>) {
    for field in fields {
        match (field.data_type(), item(field.data_type())) {
            (DataType::Struct(fields), _) => annotations(fields, out),
            (_, Some(item)) => annotations(&Fields::from(vec![item.clone()]), out),
            (found, None) => out.push(match (field.extension_type_name(), found) {
                (Some("arrow.uuid"), DataType::FixedSizeBinary(16)) => Some(LogicalType::Uuid),
                (Some("arrow.json"), DataType::Utf8 | DataType::LargeUtf8) => Some(LogicalType::Json),
                _ => None,
            }),
        }
    }
}

/// A type whose leaf columns have the next of these annotations.
fn with(found: &Type, next: &mut dyn Iterator<Item = Option<LogicalType>>) -> Result<Type> {
    match found {
        Type::GroupType { basic_info, fields } => {
            let fields = fields.iter().map(|field| with(field, next).map(Arc::new)).collect::<Result<_>>()?;
            Ok(Type::GroupType { basic_info: basic_info.clone(), fields })
        }
        Type::PrimitiveType { basic_info, physical_type, type_length, .. } => {
            let Some(Some(annotation)) = next.next() else { return Ok(found.clone()) };
            Type::primitive_type_builder(basic_info.name(), *physical_type)
                .with_repetition(basic_info.repetition())
                .with_logical_type(Some(annotation))
                .with_length(*type_length)
                .with_id(basic_info.has_id().then(|| basic_info.id()))
                .build()
        }
    }
}
