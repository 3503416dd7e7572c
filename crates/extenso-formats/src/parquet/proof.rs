//! Proof of the sizes that a Parquet file tells, before memory is made for them.
//!
//! Invariant: after the proof, every page lies inside its column chunk and the chunk inside the file, the pages of a chunk have
//! as many values as the footer says and no more lengths than values, and no page or column is out of proportion to the bytes that it is made of.

use super::project::LeafColumn;
use super::repeats::prove_lengths;
use super::source::ParquetSource;
use super::thrift::{PageHeader, is_struct, page_header, schema_levels};
use crate::arrow::too_deep;
use crate::project::MAX_LEVELS;
use extenso_types::{Error, Result};
use parquet::basic::Type as Physical;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};
use std::collections::VecDeque;
use std::sync::Arc;

/// What a file begins and ends with.
pub const MAGIC: &[u8; 4] = b"PAR1";

/// How large a page, and how many values of all columns together, may be whatever they are made of.
const MOST: u64 = 1 << 26;

/// How much larger they may be for each byte that they are made of.
const RATIO: u64 = 1 << 10;

/// How deep the groups of a schema may nest: lists and maps are two each, and all lie in the one that is the rows.
const GROUPS: usize = 2 * MAX_LEVELS + 1;

/// Proves that the file ends with metadata whose lists are no longer than its bytes, and whose schema the crate can follow down.
///
/// Errors: no Parquet file; encrypted metadata; metadata that is cut short or lies; columns that nest too deep.
pub fn prove_footer(source: &ParquetSource) -> Result<()> {
    let size = source.size();
    let tail = source.range(size.saturating_sub(8), 8)?;
    if let Some(b"PARE") = tail.last_chunk::<4>() {
        return Err(
            Error::data("the metadata is encrypted").wanted("a Parquet file with metadata that is not encrypted")
        );
    }
    if tail.last_chunk::<4>() != Some(MAGIC) || tail.len() < 8 {
        return Err(Error::data("the last four bytes are not 'PAR1'").wanted("a Parquet file, complete"));
    }
    let length = tail.first_chunk::<4>().map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)));
    let start = size
        .checked_sub(8 + length)
        .ok_or_else(|| Error::data(format!("the metadata is said to have {length} bytes, and the file has {size}")))?;
    let metadata = source.range(start, length)?;
    match schema_levels(&metadata, GROUPS).filter(|_| is_struct(&metadata)) {
        Some(levels) if levels > GROUPS => Err(too_deep(MAX_LEVELS)),
        Some(_) => Ok(()),
        None => {
            Err(Error::data(format!("the metadata at byte {start} is malformed")).wanted("a Parquet file, complete"))
        }
    }
}

/// A page of a column chunk.
#[derive(Clone, Copy, Debug)]
pub struct PagePlace {
    /// Where its header begins.
    pub start: u64,
    /// How many bytes it has, with its header.
    pub length: u64,
    /// How many bytes its content has, unpacked.
    pub unpacked: u64,
    kind: i64,
    encoding: i64,
}

impl PagePlace {
    /// Whether its values begin with lists of lengths.
    fn has_lengths(&self) -> bool {
        /// The numbers of DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY.
        const OF_LENGTHS: [i64; 2] = [6, 7];
        !self.is_dictionary() && OF_LENGTHS.contains(&self.encoding)
    }

    pub fn is_dictionary(&self) -> bool {
        self.kind == PageHeader::DICTIONARY
    }
}

/// The pages of leaf columns in row groups.
#[derive(Debug)]
pub struct Pages {
    /// In their order.
    leaves: Vec<usize>,
    /// Those of each leaf, in one row group after another.
    chunks: Vec<Vec<PagePlace>>,
}

impl Pages {
    /// The pages of a leaf in the row group of this place among those that were asked for.
    pub fn of(&self, group: usize, leaf: usize) -> Option<&[PagePlace]> {
        let place = self.leaves.binary_search(&leaf).ok()?;
        self.chunks.get(group * self.leaves.len() + place).map(Vec::as_slice)
    }
}

/// All leaf columns, and the numbers of those that are read.
type Chosen<'c> = (&'c [LeafColumn], &'c [usize]);

/// Proves the pages of these leaf columns, which stand in their order, in these row groups, and that they are not too many values to be held
/// at once; gets where they are.
///
/// Errors, with the row group, the column and the byte: pages beyond the chunk, or with other numbers than the footer; sizes out of
/// proportion.
pub fn prove_pages(
    source: &ParquetSource,
    metadata: &ParquetMetaData,
    groups: &[usize],
    columns: Chosen<'_>,
) -> Result<Pages> {
    let (mut all, mut items, mut chunks) = (Counts::of(columns), Counts::of(columns), Vec::new());
    for group in groups {
        prove_group(source, metadata, *group, columns, |place, chunk, values, pages| {
            let values = values.saturating_mul(weight(chunk));
            all.add(place, values);
            items.add(place, if chunk.max_rep_level() > 0 { values } else { 0 });
            chunks.push(pages);
        })?;
    }
    let hint = match items.in_proportion(source) {
        Ok(()) => "Read it in blocks of rows, or fewer row groups or columns",
        Err(_) => "Read fewer row groups or columns, or write smaller row groups",
    };
    all.in_proportion(source).map_err(|e| e.hint(hint))?;
    Ok(Pages { leaves: columns.1.to_vec(), chunks })
}

/// Proves the pages of these leaf columns in a row group, and gives each to `proven`, by its place among them, with how many values it has
/// and where its pages are.
fn prove_group(
    source: &ParquetSource,
    metadata: &ParquetMetaData,
    number: usize,
    (columns, leaves): Chosen<'_>,
    mut proven: impl FnMut(usize, &ColumnDescriptor, u64, Vec<PagePlace>),
) -> Result<()> {
    let group = metadata.row_group(number);
    let of_group = |e: Error| e.at(format!("row group {number}"));
    let rows = u64::try_from(group.num_rows()).map_err(|_| of_group(Error::data("its number of rows is negative")))?;
    for (i, leaf) in leaves.iter().enumerate() {
        let place = |e: Error| of_group(e.at(format!("column '{}'", columns[*leaf].path)));
        let chunk = group.columns().get(*leaf).ok_or_else(|| place(Error::data("the row group lacks it")))?;
        let (values, pages) = prove_chunk(source, chunk).map_err(place)?;
        if values < rows {
            return Err(place(Error::data(format!("it has {values} values, and its row group {rows} rows"))));
        }
        if pages.iter().any(PagePlace::has_lengths) {
            prove_lengths(source, chunk).map_err(place)?;
        }
        proven(i, chunk.column_descr(), values, pages);
    }
    Ok(())
}

/// How many values columns have together.
struct Counts<'c> {
    columns: Chosen<'c>,
    all: u64,
    each: Vec<u64>,
}

impl<'c> Counts<'c> {
    fn of(columns: Chosen<'c>) -> Counts<'c> {
        Counts { columns, all: 0, each: vec![0; columns.1.len()] }
    }

    fn add(&mut self, place: usize, values: u64) {
        self.all = self.all.saturating_add(values);
        self.each[place] = self.each[place].saturating_add(values);
    }

    /// Checks that so many values may be made of a file at once.
    ///
    /// Errors: they are too many, with the column that has the most.
    fn in_proportion(&self, source: &ParquetSource) -> Result<()> {
        let most = most(source);
        if self.all <= most {
            return Ok(());
        }
        let what = format!("the columns have {} values in a file of {} bytes", self.all, source.size());
        let (columns, leaves) = self.columns;
        let error = match self.each.iter().zip(leaves).max() {
            Some((values, leaf)) => Error::data(format!("{what}, '{}' alone {values}", columns[*leaf].path)),
            None => Error::data(what),
        };
        Err(error.wanted(format!("at most {most} values to be read at once")))
    }
}

/// How many rows of these leaf columns may be read at once, by the values of those that are in no list.
pub fn most_rows(source: &ParquetSource, schema: &SchemaDescriptor, leaves: &[usize]) -> usize {
    let flat = leaves.iter().map(|leaf| schema.column(*leaf)).filter(|column| column.max_rep_level() == 0);
    let values = flat.map(|column| weight(&column)).fold(0, u64::saturating_add);
    usize::try_from(most(source) / values.max(1)).unwrap_or(usize::MAX).max(1)
}

/// How many values one of a column counts as: more, where each has many bytes.
fn weight(column: &ColumnDescriptor) -> u64 {
    match column.physical_type() {
        Physical::FIXED_LEN_BYTE_ARRAY => u64::try_from(column.type_length()).unwrap_or(0).div_ceil(8).max(1),
        _ => 1,
    }
}

/// The row groups of a file that is read some rows at a time: each is proven before its rows are read.
#[derive(Debug)]
pub struct Ahead {
    source: ParquetSource,
    metadata: Arc<ParquetMetaData>,
    columns: Vec<LeafColumn>,
    leaves: Vec<usize>,
    /// Those that were not proven yet.
    groups: VecDeque<usize>,
    /// How many rows there are before them.
    rows: u64,
}

impl Ahead {
    /// Nothing is proven yet of these leaf columns in these row groups.
    pub fn new(
        source: &ParquetSource,
        metadata: &Arc<ParquetMetaData>,
        groups: &[usize],
        (columns, leaves): Chosen<'_>,
    ) -> Ahead {
        let (source, metadata, groups) = (source.clone(), metadata.clone(), groups.iter().copied().collect());
        Ahead { source, metadata, columns: columns.to_vec(), leaves: leaves.to_vec(), groups, rows: 0 }
    }

    /// Proves the row groups that begin before so many rows, or there.
    ///
    /// Errors: those of [`prove_pages`]; lists of one row group that have too many items, since one row may have all of them.
    pub fn prove(&mut self, rows: usize) -> Result<()> {
        let columns = (&*self.columns, &*self.leaves);
        while let Some(group) = self.groups.pop_front_if(|_| self.rows <= rows as u64) {
            let mut items = Counts::of(columns);
            prove_group(&self.source, &self.metadata, group, columns, |place, chunk, values, _| {
                items.add(place, if chunk.max_rep_level() > 0 { values.saturating_mul(weight(chunk)) } else { 0 });
            })?;
            items.in_proportion(&self.source).map_err(|e| {
                e.hint("Read fewer columns, or write smaller row groups").at(format!("row group {group}"))
            })?;
            let rows = u64::try_from(self.metadata.row_group(group).num_rows()).unwrap_or(0);
            self.rows = self.rows.saturating_add(rows);
        }
        Ok(())
    }
}

/// How much may be made of a file, however small it is.
pub fn most(source: &ParquetSource) -> u64 {
    MOST.max(source.size().saturating_mul(RATIO))
}

/// Proves the pages of one chunk, and gets how many values they have, and where they are.
///
/// Errors: as [`prove_pages`], without the column.
pub fn prove_chunk(source: &ParquetSource, chunk: &ColumnChunkMetaData) -> Result<(u64, Vec<PagePlace>)> {
    let wanted = u64::try_from(chunk.num_values()).map_err(|_| Error::data("the number of values is negative"))?;
    let (mut at, length) = byte_range(chunk)?;
    let end = at.checked_add(length).filter(|end| *end <= source.size());
    let end = end.ok_or_else(|| {
        let what = format!("the column lies at byte {at} and has {length} bytes, and the file has {}", source.size());
        Error::data(what)
    })?;
    let (mut values, mut pages) = (0_u64, Vec::new());
    while at < end && values < wanted {
        let header = header(source, at, end)?;
        let refuse = |what: String| Error::data(what).at(format!("the page at byte {at}"));
        let sizes =
            (u64::try_from(header.compressed), u64::try_from(header.uncompressed), u64::try_from(header.values));
        let (Ok(compressed), Ok(uncompressed), Ok(count)) = sizes else {
            return Err(refuse("a size is negative".into()));
        };
        let start = at + header.len as u64;
        if compressed > end - start {
            return Err(refuse(format!("it has {compressed} bytes, and its column {} more", end - start)));
        }
        if uncompressed > MOST.max(compressed.saturating_mul(RATIO)) {
            let error = refuse(format!("{compressed} bytes would become {uncompressed}"));
            return Err(error.wanted(format!("at most {MOST} bytes, or {RATIO} times as many")));
        }
        values = values.saturating_add(count);
        if header.kind != PageHeader::INDEX {
            let length = start + compressed - at;
            let PageHeader { kind, encoding, .. } = header;
            pages.push(PagePlace { start: at, length, unpacked: uncompressed, kind, encoding });
        }
        at = start + compressed;
    }
    if values != wanted {
        return Err(Error::data(format!("the pages have {values} values, and the metadata says {wanted}")));
    }
    Ok((values, pages))
}

/// Where a chunk lies. The footer's own numbers may be anything.
fn byte_range(chunk: &ColumnChunkMetaData) -> Result<(u64, u64)> {
    let first = chunk.dictionary_page_offset().filter(|at| *at > 0).unwrap_or_else(|| chunk.data_page_offset());
    let range = u64::try_from(first).ok().zip(u64::try_from(chunk.compressed_size()).ok());
    range.ok_or_else(|| Error::data("the place of the column is negative"))
}

/// Enough for a header without statistics, and for one with the longest that writers make.
const HEADERS: [u64; 2] = [256, 1 << 20];

fn header(source: &ParquetSource, at: u64, end: u64) -> Result<PageHeader> {
    for length in HEADERS {
        if let Some(header) = page_header(&source.range(at, length.min(end - at))?) {
            return Ok(header);
        }
    }
    Err(Error::data("its header is malformed").at(format!("the page at byte {at}")))
}

/// Checks that a file and its row groups tell of as many rows, and that what has none has no values.
///
/// Errors: they do not.
pub fn prove_counts(metadata: &ParquetMetaData) -> Result<()> {
    let odd = |what: String| Error::data(what).wanted("a Parquet file, complete");
    let mut sum = 0_i64;
    for (i, group) in metadata.row_groups().iter().enumerate() {
        let rows = group.num_rows();
        let values = group.columns().iter().map(|chunk| chunk.num_values()).max().unwrap_or(0);
        if rows < 0 || (rows == 0 && values > 0) {
            return Err(odd(format!("row group {i} has {rows} rows, and a column of {values} values")));
        }
        sum = sum.saturating_add(rows);
    }
    match metadata.file_metadata().num_rows() {
        all if all == sum => Ok(()),
        all => Err(odd(format!("the metadata says {all} rows, and its row groups {sum}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ParquetOptions, ParquetSource, read_parquet, read_parquet_blocks};
    use arrow_array::{ArrayRef, FixedSizeBinaryArray, Int64Array, ListArray, RecordBatch, StructArray};
    use arrow_buffer::OffsetBuffer;
    use arrow_schema::{DataType, Field};
    use parquet::arrow::ArrowWriter;
    use parquet::basic::Compression;
    use parquet::file::properties::WriterProperties;
    use std::sync::Arc;

    #[test]
    fn pages_that_lie_are_refused_before_they_are_unpacked() {
        let column: ArrayRef = Arc::new(Int64Array::from(vec![0; 300_000]));
        let batch = RecordBatch::try_from_iter([("x", column)]).expect("a column");
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_dictionary_enabled(false)
            .set_data_page_size_limit(1 << 30)
            .set_data_page_row_count_limit(1 << 30);
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build())).expect("a writer");
        writer.write(&batch).and_then(|()| writer.close()).expect("writes");
        // The header of the only page has its kind and then how many bytes it has, unpacked.
        assert_eq!(bytes[4..7], [0x15, 0, 0x15]);
        bytes[7..11].copy_from_slice(&[0xfe, 0xff, 0xff, 0x7f]);
        let source: ParquetSource = bytes.into();
        let options = ParquetOptions::default();
        let whole = read_parquet(&source, &options).map(drop);
        let mut blocks = read_parquet_blocks(&source, 10, options).expect("opens");
        for read in [whole, blocks.next().expect("a block").map(drop)] {
            let error = read.expect_err("a page that lies").to_string();
            assert!(error.contains("column 'x'") && error.contains("would become 134217727"), "{error}");
        }
    }

    #[test]
    fn a_column_out_of_proportion_is_named_with_its_row_group() {
        let width = 1 << 16;
        let items = Arc::new(Field::new("item", DataType::FixedSizeBinary(width), true));
        let nulls = Arc::new(FixedSizeBinaryArray::new_null(width, 9000));
        let list: ArrayRef = Arc::new(ListArray::new(items, OffsetBuffer::from_lengths([9000]), nulls, None));
        let field = Arc::new(Field::new("list", list.data_type().clone(), true));
        let user: ArrayRef = Arc::new(StructArray::from(vec![(field, list)]));
        let few: ArrayRef =
            Arc::new(ListArray::from_iter_primitive::<arrow_array::types::Int8Type, _, _>([Some([Some(1)])]));
        let batch = RecordBatch::try_from_iter([("few", few), ("user", user)]).expect("columns");
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).expect("a writer");
        writer.write(&batch).and_then(|()| writer.close()).expect("writes");
        let source: ParquetSource = bytes.into();
        let options = ParquetOptions::default();
        let whole = read_parquet(&source, &options).map(drop);
        let mut blocks = read_parquet_blocks(&source, 1, options).expect("opens");
        let block = blocks.next().expect("a block").map(drop);
        for (read, place) in [(whole, "the columns have"), (block, "row group 0: the columns have")] {
            let error = read.expect_err("too many values").to_string();
            assert!(error.starts_with(&format!("{place} 73728001 values in a file of ")), "{error}");
            assert!(error.contains(", 'user.list[*]' alone 73728000.\nWanted: at most 67108864 values"), "{error}");
            assert!(error.contains("write smaller row groups"), "{error}");
        }
    }
}
