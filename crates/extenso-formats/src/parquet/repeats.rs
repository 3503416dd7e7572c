//! Texts that are written as the lengths of all and then their bytes, and as what they share with the one before and the rest (Apache Parquet,
//! "Encodings": DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY): how many lengths they have, and how many bytes they come to.
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
        let mut pages = Pages::of(source, chunk)?;
        let mut bytes = 0_usize;
        while let Some(page) = pages.next()? {
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

/// Proves that no page has more lengths than values: the crate makes memory for as many as it says.
///
/// Errors: it has; pages that are malformed.
pub fn prove_lengths(source: &ParquetSource, chunk: &ColumnChunkMetaData) -> Result<()> {
    let column = chunk.column_descr();
    let levels = (column.max_rep_level() > 0, column.max_def_level() > 0);
    guarded(|| {
        let mut pages = Pages::of(source, chunk)?;
        while let Some(page) = pages.next()? {
            let lists = match page.encoding() {
                Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
                Encoding::DELTA_BYTE_ARRAY => 2,
                _ => continue,
            };
            let lengths = values_of(&page, levels).and_then(|values| most_lengths(values, lists));
            let values = page.num_values() as usize;
            match lengths {
                Some(lengths) if lengths <= values => {}
                Some(lengths) => {
                    return Err(ParquetError::General(format!("a page of {values} values has {lengths} lengths")));
                }
                None => return Err(ParquetError::General("lengths lead outside their page".into())),
            }
        }
        Ok::<_, ParquetError>(())
    })
}

/// The pages of a chunk, unpacked, as far as they were proven: up to the last value.
struct Pages {
    reader: SerializedPageReader<ParquetSource>,
    /// How many values are left.
    values: i64,
}

impl Pages {
    fn of(source: &ParquetSource, chunk: &ColumnChunkMetaData) -> std::result::Result<Pages, ParquetError> {
        let reader = SerializedPageReader::new(Arc::new(source.clone()), chunk, 0, None)?;
        Ok(Pages { reader, values: chunk.num_values() })
    }

    fn next(&mut self) -> std::result::Result<Option<Page>, ParquetError> {
        if self.values <= 0 {
            return Ok(None);
        }
        let page = self.reader.get_next_page()?;
        if let Some(Page::DataPage { num_values, .. } | Page::DataPageV2 { num_values, .. }) = &page {
            self.values -= i64::from(*num_values);
        }
        Ok(page)
    }
}

/// How many integers the longest has of so many lists of packed ones that bytes begin with; none if they lead outside.
fn most_lengths(bytes: &[u8], lists: usize) -> Option<usize> {
    let (mut rest, mut most) = (bytes, 0);
    // A page of nulls may have no bytes.
    for list in 0..if bytes.is_empty() { 0 } else { lists } {
        let head = Packed::of(&mut rest)?;
        most = most.max(head.total);
        if list + 1 < lists {
            head.pass(&mut rest)?;
        }
    }
    Some(most)
}

/// What a list of packed integers begins with (DELTA_BINARY_PACKED).
struct Packed {
    /// How many parts a block has, and how many integers each.
    parts: usize,
    each: usize,
    /// How many integers there are, and the first.
    total: usize,
    first: i64,
}

impl Packed {
    /// Reads what stands before the blocks; none if it ends, or if the crate would not read them.
    fn of(bytes: &mut &[u8]) -> Option<Packed> {
        /// What the numbers of integers of a block and of a part of it are multiples of.
        const BLOCK: u64 = 128;
        const PART: u64 = 32;
        let (block, parts, total) = (varint(bytes)?, varint(bytes)?, varint(bytes)?);
        let each = block.checked_div(parts).filter(|each| *each > 0 && block % BLOCK == 0 && each % PART == 0)?;
        let size = |n: u64| usize::try_from(n).ok();
        Some(Packed { parts: size(parts)?, each: size(each)?, total: size(total)?, first: signed(varint(bytes)?) })
    }

    /// Passes over the blocks. The bytes of parts that have no integer are left out, and those of a part that has some are there for all.
    fn pass(&self, bytes: &mut &[u8]) -> Option<()> {
        let mut left = self.total.saturating_sub(1);
        while left > 0 {
            varint(bytes)?;
            for width in bytes.split_off(..self.parts)? {
                if left > 0 {
                    bytes.split_off(..self.each.checked_mul(usize::from(*width))? / 8)?;
                }
                left = left.saturating_sub(self.each);
            }
        }
        Some(())
    }
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
    let Packed { parts, each, total, first } = Packed::of(&mut rest)?;
    let (mut value, mut sum, mut left) = (first, 0_usize, total.min(count));
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
        let widths = rest.split_off(..parts)?;
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
    use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, LargeStringArray, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ArrowReaderMetadata;
    use parquet::file::properties::{WriterProperties, WriterVersion};

    fn file(texts: ArrayRef, version: WriterVersion) -> ParquetSource {
        encoded(texts, version, Encoding::DELTA_BYTE_ARRAY).into()
    }

    fn encoded(texts: ArrayRef, version: WriterVersion, encoding: Encoding) -> Vec<u8> {
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_writer_version(version)
            .set_encoding(encoding)
            .set_data_page_row_count_limit(100)
            .set_write_batch_size(50);
        let rows = RecordBatch::try_from_iter([("t", texts)]).expect("rows");
        let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties.build())).expect("a writer");
        writer.write(&rows).expect("writes");
        writer.into_inner().expect("a file")
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

    #[test]
    fn more_lengths_than_values_are_refused() {
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..300).map(|i| format!("text {i}"))));
        let fixed: ArrayRef =
            Arc::new(FixedSizeBinaryArray::try_from_iter((0..300_u32).map(u32::to_le_bytes)).expect("bytes"));
        let cases = [
            (&texts, Encoding::DELTA_LENGTH_BYTE_ARRAY, 1),
            (&texts, Encoding::DELTA_BYTE_ARRAY, 2),
            (&fixed, Encoding::DELTA_BYTE_ARRAY, 2),
        ];
        for (column, encoding, lists) in cases {
            let whole = encoded(column.clone(), WriterVersion::PARQUET_1_0, encoding);
            // Blocks of 128 integers, 4 parts, and 100 integers in all.
            let heads: Vec<usize> = (0..whole.len()).filter(|at| whole[*at..].starts_with(&[128, 1, 4, 100])).collect();
            assert_eq!(heads.len(), 3 * lists);
            assert!(read_parquet(&whole.clone().into(), &ParquetOptions::default()).is_ok());
            for head in heads {
                let mut bytes = whole.clone();
                bytes[head + 3] = 101;
                let source: ParquetSource = bytes.into();
                let options = ParquetOptions::default();
                let read = read_parquet(&source, &options).map(drop);
                let mut blocks = read_parquet_blocks(&source, 1000, options).expect("opens");
                for read in [read, blocks.next().expect("a block").map(drop)] {
                    let error = read.expect_err("lengths that lie").to_string();
                    assert!(error.contains("column 't'") && error.contains("100 values has 101 lengths"), "{error}");
                }
            }
        }
    }
}
