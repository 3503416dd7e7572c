//! Categories of which the row groups have more words together than their keys count: the keys are made wider.
//!
//! Invariant: words are those of the dictionaries that chunks begin with. A column that has no more of them than its keys count keeps its
//! keys, however often its row groups repeat them.

use super::decode::array;
use super::meant::with_fields;
use super::project::{LeafColumn, leaf_columns};
use super::proof::prove_chunk;
use super::{ParquetSource, guarded};
use crate::arrow::inside;
use arrow_array::types::LargeBinaryType;
use arrow_schema::{DataType, FieldRef};
use extenso_types::{Error, Result};
use foldhash::HashSet;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::basic::Type as Physical;
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use std::sync::Arc;

/// The metadata, and the columns, in which the keys of these leaf columns count the words of these row groups.
///
/// Errors: dictionaries that are malformed, with the column.
pub fn wider(
    source: &ParquetSource,
    metadata: ArrowReaderMetadata,
    columns: &mut Vec<LeafColumn>,
    (groups, leaves): (&[usize], &[usize]),
) -> Result<ArrowReaderMetadata> {
    let mut wide = Vec::new();
    for leaf in leaves {
        let Some(most) = columns.get(*leaf).and_then(|column| most_words(&column.data_type)) else { continue };
        let chunks = groups.iter().filter_map(|group| metadata.metadata().row_group(*group).columns().get(*leaf));
        if has_more_words(source, chunks, most).map_err(|e| e.at(format!("column '{}'", columns[*leaf].path)))? {
            wide.push(*leaf);
        }
    }
    if wide.is_empty() {
        return Ok(metadata);
    }
    let mut next = 0;
    let fields = metadata.schema().fields().iter().map(|field| below(field, &mut next, &wide)).collect();
    let metadata = with_fields(metadata.metadata().clone(), metadata.schema(), fields)?;
    *columns = leaf_columns(metadata.schema().fields());
    Ok(metadata)
}

/// How many words the keys of categories count; none of other types, and of keys that count as many as there are.
fn most_words(data_type: &DataType) -> Option<usize> {
    let DataType::Dictionary(keys, _) = data_type else { return None };
    match **keys {
        DataType::Int8 => Some(1 << 7),
        DataType::UInt8 => Some(1 << 8),
        DataType::Int16 => Some(1 << 15),
        DataType::UInt16 => Some(1 << 16),
        _ => None,
    }
}

/// Whether the dictionaries of these chunks have more words than so many.
fn has_more_words<'a>(
    source: &ParquetSource,
    chunks: impl Iterator<Item = &'a ColumnChunkMetaData>,
    most: usize,
) -> Result<bool> {
    let mut words = HashSet::<Vec<u8>>::default();
    for chunk in chunks {
        prove_chunk(source, chunk)?;
        let first = guarded(|| SerializedPageReader::new(Arc::new(source.clone()), chunk, 0, None)?.get_next_page())?;
        let Some(Page::DictionaryPage { buf, num_values, .. }) = first else { continue };
        let count = num_values as usize;
        if chunk.column_descr().physical_type() == Physical::BYTE_ARRAY {
            let found = array::<LargeBinaryType>(&buf, count);
            let found =
                found.map_err(|_| Error::data("the Parquet data is malformed: a dictionary ends inside a word"))?;
            words.extend(found.iter().flatten().map(<[u8]>::to_vec));
        } else if let Some(width) = buf.len().checked_div(count).filter(|width| *width > 0) {
            words.extend(buf.chunks_exact(width).map(<[u8]>::to_vec));
        }
        if words.len() > most {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The field with wide keys in the place of those of these leaf columns.
fn below(field: &FieldRef, next: &mut usize, wide: &[usize]) -> FieldRef {
    inside(field, &mut |field| below(field, next, wide)).unwrap_or_else(|| {
        let leaf = *next;
        *next += 1;
        match field.data_type() {
            DataType::Dictionary(_, words) if wide.contains(&leaf) => {
                let data_type = DataType::Dictionary(Box::new(DataType::Int32), words.clone());
                Arc::new(field.as_ref().clone().with_data_type(data_type))
            }
            _ => field.clone(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::{ParquetOptions, read_parquet, read_parquet_blocks};
    use super::*;
    use arrow_array::types::Int8Type;
    use arrow_array::{ArrayRef, DictionaryArray, Int8Array, RecordBatch, StringArray};
    use extenso_core::Value;
    use extenso_ext::to_literal;
    use parquet::arrow::ArrowWriter;
    use std::ops::Range;

    /// A file with a row group for each of these ranges of words, and the rows of it as a literal.
    fn file(groups: &[Range<usize>]) -> (ParquetSource, String) {
        let word = |i: usize| format!("w{i}");
        let batch = |words: &Range<usize>| {
            let keys = Int8Array::from_iter_values((0..words.len()).map(|i| i as i8));
            let words = Arc::new(StringArray::from_iter_values(words.clone().map(word)));
            let column: ArrayRef = Arc::new(DictionaryArray::<Int8Type>::new(keys, words));
            RecordBatch::try_from_iter([("x", column)]).expect("a column")
        };
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch(&groups[0]).schema(), None).expect("a writer");
        for group in groups {
            writer.write(&batch(group)).and_then(|()| writer.flush()).expect("writes");
        }
        writer.close().expect("writes");
        let rows = groups.iter().flat_map(Clone::clone).map(|i| format!("{{\"x\": \"w{i}\"}}"));
        (bytes.into(), format!("[{}]", rows.collect::<Vec<_>>().join(", ")))
    }

    fn told(value: &Value) -> (String, String) {
        (to_literal(value).expect("a literal").to_string(), value.spec().expect("a spec").to_string())
    }

    #[test]
    fn keys_are_as_wide_as_the_words_of_all_row_groups_want() {
        for (groups, keys) in [
            (&[0..100, 100..200, 200..300][..], "i32"),
            (&[0..128, 128..129], "i32"),
            (&[0..100, 0..100, 50..128], "i8"),
            (&[0..64, 64..128], "i8"),
        ] {
            let (source, rows) = file(groups);
            let whole = read_parquet(&source, &ParquetOptions::default()).expect("reads").value;
            let (read, spec) = told(&whole);
            assert_eq!(read, rows);
            assert!(spec.contains(&format!("CategoricalTensor({keys}[")), "{spec}");
            for size in [70, 1000] {
                let blocks = read_parquet_blocks(&source, size, ParquetOptions::default()).expect("opens");
                let blocks = blocks.map(|block| told(&block.expect("reads").value));
                let inner: Vec<String> = blocks.map(|(rows, _)| rows[1..rows.len() - 1].to_string()).collect();
                assert_eq!(format!("[{}]", inner.join(", ")), rows);
            }
        }
    }
}
