//! Schemas with types that Arrow's crates do not know: integers of 128 bits, which polars writes.
//!
//! Invariant: a column of such a type is in the schema as cells of as many bytes, with a note, so that the others can be read; one that is asked
//! for is refused by `known`.

use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::{FixedSizeBinary, Int, Type};
use arrow_schema::{Field, FieldRef, Schema};
use extenso_types::{Error, Path, Result, Segment};
use std::sync::Arc;

/// Where the metadata of a column say which part of it is of which type that nobody knows.
const LACKING: &str = "extenso:lacking";

/// How many bits and bytes the integers have.
const BITS: i32 = 128;
const BYTES: i32 = 16;

/// A part of a column, and where its type and its width stand.
struct Lacking {
    column: usize,
    what: String,
    kind: usize,
    width: usize,
}

/// The schema in the bytes of a message, a footer or the like, in which `of` finds it; none if it is not there.
pub fn schema_in(bytes: &[u8], of: impl Fn(&[u8]) -> Option<arrow_ipc::Schema<'_>>) -> Option<Schema> {
    let found = of(bytes)?;
    let mut lacking = Vec::new();
    for (column, field) in found.fields().into_iter().flatten().enumerate() {
        below(&Path::root(), field, column, &mut lacking);
    }
    if lacking.is_empty() {
        return Some(fb_to_schema(found));
    }
    // The two types have the same layout: a width of four bytes at the same place of the table.
    debug_assert_eq!(Int::VT_BITWIDTH, FixedSizeBinary::VT_BYTEWIDTH);
    let mut changed = bytes.to_vec();
    for part in &lacking {
        *changed.get_mut(part.kind)? = Type::FixedSizeBinary.0;
        changed.get_mut(part.width..part.width.checked_add(4)?)?.copy_from_slice(&BYTES.to_le_bytes());
    }
    let schema = fb_to_schema(of(&changed)?);
    let noted = |(column, field): (usize, &FieldRef)| match lacking.iter().find(|part| part.column == column) {
        Some(part) => {
            let mut metadata = field.metadata().clone();
            metadata.insert(LACKING.into(), part.what.clone());
            Arc::new(Field::clone(field).with_metadata(metadata))
        }
        None => field.clone(),
    };
    let fields: Vec<FieldRef> = schema.fields().iter().enumerate().map(noted).collect();
    Some(Schema::new_with_metadata(fields, schema.metadata))
}

fn below(at: &Path, field: arrow_ipc::Field<'_>, column: usize, out: &mut Vec<Lacking>) {
    let at = at.child(Segment::field(field.name().unwrap_or_default()));
    if let Some(int) = field.type_as_int().filter(|int| int.bitWidth() == BITS) {
        let name = if int.is_signed() { "Int128" } else { "UInt128" };
        let place = |start: usize, offset: u16| start + usize::from(offset);
        let kind = place(field._tab.loc(), field._tab.vtable().get(arrow_ipc::Field::VT_TYPE_TYPE));
        let width = place(int._tab.loc(), int._tab.vtable().get(Int::VT_BITWIDTH));
        out.push(Lacking { column, what: format!("column '{at}' is of type {name}"), kind, width });
    }
    field.children().into_iter().flatten().for_each(|child| below(&at, child, column, out));
}

/// Checks that a column that is asked for is of types that are known.
///
/// Errors: it is not, with the part and its type.
pub fn known(field: &Field) -> Result<()> {
    match field.metadata().get(LACKING) {
        None => Ok(()),
        Some(what) => {
            let error = Error::dtype(what.clone()).wanted("integers of at most 64 bits, or decimals");
            Err(error.hint("Write it as one of these, or leave it out by `paths`"))
        }
    }
}

/// Makes the first cells of the message of a schema integers of as many bits.
#[cfg(test)]
pub fn make_unknown(message: &mut [u8]) {
    let found = arrow_ipc::root_as_message(message).expect("a message").header_as_schema().expect("a schema");
    let cells =
        found.fields().into_iter().flatten().find_map(|field| Some((field, field.type_as_fixed_size_binary()?)));
    let (field, cells) = cells.expect("cells");
    let kind = field._tab.loc() + usize::from(field._tab.vtable().get(arrow_ipc::Field::VT_TYPE_TYPE));
    let width = cells._tab.loc() + usize::from(cells._tab.vtable().get(FixedSizeBinary::VT_BYTEWIDTH));
    message[kind] = Type::Int.0;
    message[width..width + 4].copy_from_slice(&BITS.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::{ArrowOptions, read_ipc};
    use arrow_array::{ArrayRef, FixedSizeBinaryArray, Int64Array, RecordBatch};
    use arrow_ipc::writer::StreamWriter;

    #[test]
    fn columns_beside_those_that_nobody_knows_are_read() {
        let cells: ArrayRef = Arc::new(FixedSizeBinaryArray::new(BYTES, vec![1_u8; 32].into(), None));
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![7, 8]));
        let batch = RecordBatch::try_from_iter([("i", cells), ("a", numbers)]).expect("a batch");
        let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
        writer.write(&batch).expect("writes");
        let mut bytes = writer.into_inner().expect("a stream");
        make_unknown(&mut bytes[8..]);
        let read = |paths: Option<&str>| {
            let paths = paths.map(|path| vec![path.parse().expect("a path")]);
            let rows = read_ipc(bytes.clone().into(), &ArrowOptions { paths, ..ArrowOptions::default() })?;
            Ok::<_, Error>(extenso_ext::to_literal(&rows.value)?.to_string())
        };
        assert_eq!(read(Some("a")).expect("reads"), r#"[{"a": 7}, {"a": 8}]"#);
        for asked in [None, Some("i")] {
            let error = read(asked).expect_err("nobody knows it").to_string();
            assert!(
                error.starts_with("column 'i' is of type UInt128.\nWanted: integers of at most 64 bits"),
                "{error}"
            );
        }
    }
}
