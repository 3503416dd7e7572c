//! How many bytes texts come to that are written as what they share with the one before, and the rest (Apache Parquet, "Encodings":
//! DELTA_BYTE_ARRAY).
//!
//! Invariant: no text is made to know that. Pages of other encodings count as nothing, since they are as long as their texts.

use super::ParquetSource;
use super::guarded;
use extenso_types::Result;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use std::sync::Arc;

/// How many bytes the texts of a chunk come to; where they are more than `most`, a number above it.
///
/// Errors: pages that are malformed.
pub fn repeated_bytes(source: &ParquetSource, chunk: &ColumnChunkMetaData, most: usize) -> Result<usize> {
    let column = chunk.column_descr();
    let levels = (column.max_rep_level() > 0, column.max_def_level() > 0);
    guarded(|| {
        let mut pages = SerializedPageReader::new(Arc::new(source.clone()), chunk, 0, None)?;
        let mut bytes = 0_usize;
        while let Some(page) = pages.get_next_page()? {
            let Some(values) = values_of(&page, levels) else {
                return Err(ParquetError::General("levels lead outside their page".into()));
            };
            if page.encoding() == Encoding::DELTA_BYTE_ARRAY {
                let shared = sum_of(values, page.num_values() as usize, most - bytes.min(most));
                let shared = shared.ok_or_else(|| ParquetError::General("lengths lead outside their page".into()))?;
                bytes = bytes.saturating_add(shared).saturating_add(values.len());
            }
            if bytes > most {
                break;
            }
        }
        Ok::<_, ParquetError>(bytes)
    })
}

/// The values of a page, behind the levels of repetition and definition that it has; none if these lead outside.
fn values_of(page: &Page, (repeats, defined): (bool, bool)) -> Option<&[u8]> {
    match page {
        Page::DictionaryPage { buf, .. } => Some(buf),
        Page::DataPage { buf, .. } => {
            let behind = |bytes: &[u8]| {
                let (length, _) = bytes.split_first_chunk::<4>()?;
                usize::try_from(u32::from_le_bytes(*length)).ok()?.checked_add(4)
            };
            let mut values: &[u8] = buf;
            for _ in 0..usize::from(repeats) + usize::from(defined) {
                values = values.get(behind(values)?..)?;
            }
            Some(values)
        }
        Page::DataPageV2 { buf, rep_levels_byte_len, def_levels_byte_len, .. } => {
            buf.get(rep_levels_byte_len.checked_add(*def_levels_byte_len)? as usize..)
        }
    }
}

/// The sum of the packed integers that bytes begin with, at most `count` of them (DELTA_BINARY_PACKED); it may end above `most`. None if they lead outside.
fn sum_of(bytes: &[u8], count: usize, most: usize) -> Option<usize> {
    let mut rest = bytes;
    let (block, minis) = (varint(&mut rest)?, varint(&mut rest)?);
    let total = usize::try_from(varint(&mut rest)?).ok()?.min(count);
    let each = usize::try_from(block.checked_div(minis)?).ok().filter(|each| *each > 0)?;
    let mut value = signed(varint(&mut rest)?);
    let (mut sum, mut left) = (0_usize, total);
    let mut add = |value: i64| {
        sum = sum.saturating_add(usize::try_from(value).unwrap_or(0));
        sum <= most
    };
    if left == 0 || !add(value) {
        return Some(sum);
    }
    left -= 1;
    while left > 0 {
        let least = signed(varint(&mut rest)?);
        let widths = rest.split_off(..usize::try_from(minis).ok()?)?;
        for width in widths {
            if left == 0 {
                break;
            }
            let width = usize::from(*width);
            let packed = rest.split_off(..(each.checked_mul(width)?.div_ceil(8)).min(rest.len()))?;
            for i in 0..each.min(left) {
                value =
                    value.wrapping_add(least).wrapping_add(number(packed, i.checked_mul(width)?, width)?.cast_signed());
                left -= 1;
                if !add(value) {
                    return Some(sum);
                }
            }
        }
    }
    Some(sum)
}

/// The number of `width` bits at a bit; none if it ends outside.
fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    if width == 0 {
        return Some(0);
    }
    let mut word = [0; 16];
    let from = bytes.get(at / 8..(at + width).div_ceil(8)).filter(|_| width <= 64)?;
    word.get_mut(..from.len())?.copy_from_slice(from);
    let bits = u128::from_le_bytes(word) >> (at % 8);
    u64::try_from(bits & (u128::MAX >> (128 - width))).ok()
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let (mut value, mut shift) = (0_u64, 0);
    loop {
        let byte = *bytes.split_off_first()?;
        value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        shift += 7;
        if byte < 0x80 || shift > 63 {
            return Some(value);
        }
    }
}

fn signed(zigzag: u64) -> i64 {
    (zigzag >> 1).cast_signed() ^ -((zigzag & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::super::{ParquetOptions, read_parquet, read_parquet_blocks};
    use super::*;
    use arrow_array::{Array, ArrayRef, LargeStringArray, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ArrowReaderMetadata;
    use parquet::file::properties::{WriterProperties, WriterVersion};

    fn file(texts: ArrayRef, version: WriterVersion) -> ParquetSource {
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_writer_version(version)
            .set_encoding(Encoding::DELTA_BYTE_ARRAY)
            .set_data_page_row_count_limit(100)
            .set_write_batch_size(50);
        let rows = RecordBatch::try_from_iter([("t", texts)]).expect("rows");
        let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties.build())).expect("a writer");
        writer.write(&rows).expect("writes");
        writer.into_inner().expect("a file").into()
    }

    #[test]
    fn the_sum_is_that_of_the_texts() {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            let texts: Vec<Option<String>> =
                (0..1000).map(|i| (i % 11 != 3).then(|| "prefix ".repeat(i % 13) + &i.to_string())).collect();
            let all: usize = texts.iter().flatten().map(String::len).sum();
            let source = file(std::sync::Arc::new(StringArray::from(texts.clone())), version);
            let metadata = ArrowReaderMetadata::load(&source, Default::default()).expect("metadata");
            let chunk = metadata.metadata().row_group(0).column(0).clone();
            let found = repeated_bytes(&source, &chunk, usize::MAX).expect("pages");
            // What else stands in a page are lengths.
            assert!(all <= found && found <= all + chunk.uncompressed_size() as usize, "{all} {found}");
            assert!(repeated_bytes(&source, &chunk, 100).expect("pages") > 100);
            let rows = read_parquet(&source, &ParquetOptions::default()).expect("rows").value;
            assert_eq!(crate::looks::rows_of(&rows), Some(1000));
        }
    }

    #[test]
    fn texts_that_repeat_without_end_are_refused() {
        let text = "x".repeat(1 << 20);
        let texts: ArrayRef = std::sync::Arc::new(LargeStringArray::from_iter_values(std::iter::repeat_n(&text, 100)));
        let source = file(texts.slice(0, 100), WriterVersion::PARQUET_2_0);
        assert!(source.size() < 1 << 22, "{}", source.size());
        let metadata = ArrowReaderMetadata::load(&source, Default::default()).expect("metadata");
        let chunk = metadata.metadata().row_group(0).column(0).clone();
        assert!(repeated_bytes(&source, &chunk, usize::MAX).expect("pages") >= 100 << 20);
        assert!(read_parquet_blocks(&source, 10, ParquetOptions::default()).is_ok());
    }
}
