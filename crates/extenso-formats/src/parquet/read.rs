//! Reading: a whole file as one value, or blocks of rows one after another.
//!
//! Invariant: a leaf column is decoded once, into one array for all row groups, so that nothing is copied to put row groups together;
//! leaf columns are decoded on several threads. Usual columns are decoded by `decode`; where blocks of rows are read, the crate decodes.

use super::batches::Reader;
use super::decode::{Asked, Budget, decode};
use super::guarded;
use super::halves::wanted_halves;
use super::join::{join_all, units};
use super::meant::{in_units, loaded, meant, units_of};
use super::project::{LeafColumn, columns_of_paths, columns_of_spec, leaf_columns};
use super::proof::{Ahead, Pages, most, most_rows, prove_counts, prove_footer, prove_pages};
use super::prune::{Condition, prune};
use super::source::ParquetSource;
use super::times::given;
use super::views::{TEXTS, viewed};
use super::wider::wider;
use crate::arrow::{checked_columns, checked_decimals, field_of, first_rows, known, rows_of_field};
use crate::columns::{BadRows, OnError};
use crate::needs::{in_column, named};
use crate::ops::any_rows;
use crate::policy::{array_rows, field_rows, only_column};
use crate::project::Wanted;
use crate::run::Rows;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_schema::{ArrowError, Field, Fields};
use extenso_core::{Value, side_by_side};
use extenso_types::{Error, Path, Result, Segment, Spec};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use std::collections::HashSet;
use std::sync::Arc;

/// How Parquet is read: `ParquetOptions::default()` reads all of a file as what it is.
#[derive(Clone, Default, Debug)]
pub struct ParquetOptions {
    /// What the records are; what the file says, if there is none.
    pub spec: Option<Spec>,
    /// What is read of them: the parts at or below these paths, such as `items[*].price`. Everything, if there is none.
    pub paths: Option<Vec<Path>>,
    /// Which row groups are read, in this order; all, if there is none.
    pub row_groups: Option<Vec<usize>>,
    /// Conditions on columns. A row group is left out whole if its statistics say that no row of it fits all of them.
    pub prune: Vec<Condition>,
    /// What becomes of a row that does not fit the spec.
    pub on_error: OnError,
}

/// Reads a Parquet file as one batch, whose outer axis is the rows.
///
/// Errors: a file that is malformed, or whose sizes are out of proportion to its bytes; columns that are packed by Brotli or LZO; a path that leads nowhere; a row group that there is not;
/// a column that does not fit the spec, with path, what came and what is wanted; a row that does not fit, unless `on_error` says
/// otherwise.
///
/// ```
/// # use extenso_ext::{constant, to_literal};
/// # use extenso_formats::{ParquetOptions, decode_ndjson, encode_parquet, infer_spec, read_parquet};
/// # use extenso_types::Nest;
/// let rows = br#"{"id": 1, "items": [{"sku": "a", "price": 2.5}]}
/// {"id": 2, "items": []}"#;
/// let value = extenso_formats::read_json(rows, &Default::default()).unwrap().value;
/// let file = encode_parquet(&Nest::Leaf(value)).unwrap();
/// let options = ParquetOptions { paths: Some(vec!["items[*].price".parse().unwrap()]), ..Default::default() };
/// let read = read_parquet(&file.into(), &options).unwrap();
/// assert_eq!(to_literal(&read.value).unwrap().to_string(), r#"[{"items": [{"price": 2.5}]}, {"items": []}]"#);
/// assert_eq!(read.visited, [("items[*].price".parse().unwrap(), 2)]);
/// ```
pub fn read_parquet(source: &ParquetSource, options: &ParquetOptions) -> Result<Rows> {
    let opened = Opened::new(source, options)?;
    let rows = opened.whole()?;
    Ok(Rows { visited: opened.visited(), ..opened.value(&rows, 0)? })
}

/// Reads a Parquet file in blocks of `rows` rows; the last one may have fewer, and so may those whose texts have more than 512 MB, or whose values
/// are out of proportion to the file. One block is held at a time.
///
/// Errors: blocks of no rows; one row whose texts have more; those of [`read_parquet`]. Each block may be an error, after which there are no more.
///
/// ```
/// # use extenso_formats::{ParquetOptions, encode_parquet, read_parquet_blocks};
/// # use extenso_types::Nest;
/// let value = extenso_formats::read_json(b"{\"x\": 1}\n{\"x\": 2}\n{\"x\": 3}", &Default::default()).unwrap().value;
/// let file = encode_parquet(&Nest::Leaf(value)).unwrap();
/// let blocks = read_parquet_blocks(&file.into(), 2, ParquetOptions::default()).unwrap();
/// let texts: Vec<String> = blocks.map(|b| extenso_ext::to_literal(&b.unwrap().value).unwrap().to_string()).collect();
/// assert_eq!(texts, [r#"[{"x": 1}, {"x": 2}]"#, r#"[{"x": 3}]"#]);
/// ```
pub fn read_parquet_blocks(source: &ParquetSource, rows: usize, options: ParquetOptions) -> Result<ParquetBlocks> {
    if rows == 0 {
        return Err(Error::value("the blocks have 0 rows").wanted("at least one").at("rows"));
    }
    ParquetBlocks::new(Opened::new(source, &options)?, rows)
}

/// Reads a Parquet file in blocks of about so many bytes.
///
/// Errors: those of [`read_parquet_blocks`].
pub(crate) fn blocks_of(source: &ParquetSource, bytes: usize, options: &ParquetOptions) -> Result<ParquetBlocks> {
    let opened = Opened::new(source, options)?;
    let rows = opened.rows_of(bytes)?;
    ParquetBlocks::new(opened, rows)
}

/// The blocks that [`read_parquet_blocks`] reads.
pub struct ParquetBlocks {
    opened: Opened,
    reader: Reader,
    row: usize,
    given: bool,
    ended: bool,
}

impl ParquetBlocks {
    fn new(opened: Opened, rows: usize) -> Result<ParquetBlocks> {
        let reader = opened.batches(rows)?;
        Ok(ParquetBlocks { opened, reader, row: 0, given: false, ended: false })
    }

    /// How many rows were read.
    pub(crate) fn rows(&self) -> usize {
        self.row
    }

    /// The next block, or the first `most` rows of it; none at the end.
    pub(crate) fn block(&mut self, most: usize) -> Result<Option<Rows>> {
        let batch = match self.reader.next()? {
            Some(batch) => batch,
            // A file without rows is a block without rows, which still tells what the records are.
            None if !self.given => self.opened.empty()?,
            None => return Ok(None),
        };
        self.given = true;
        let batch = match first_rows(Arc::new(batch), most)?.as_struct_opt() {
            Some(batch) => batch.clone(),
            None => return Err(Error::internal("rows are no records")),
        };
        let rows = self.opened.value(&batch, self.row)?;
        self.row += batch.len();
        Ok(Some(rows))
    }
}

impl Iterator for ParquetBlocks {
    type Item = Result<Rows>;

    fn next(&mut self) -> Option<Result<Rows>> {
        if self.ended {
            return None;
        }
        let block = self.block(usize::MAX).transpose();
        self.ended = !matches!(block, Some(Ok(_)));
        block
    }
}

/// How few and how many rows a block has, whatever their size.
const FEWEST: usize = 1 << 10;
const MOST: usize = 1 << 20;

/// A file whose metadata was read, and what is wanted of it.
pub(crate) struct Opened {
    source: ParquetSource,
    metadata: ArrowReaderMetadata,
    columns: Vec<LeafColumn>,
    chosen: Vec<usize>,
    groups: Vec<usize>,
    wanted: Wanted,
    spec: Option<Spec>,
    /// Whether the only column is the value of the spec, and not a field of it.
    column: bool,
    on_error: OnError,
}

impl Opened {
    fn new(source: &ParquetSource, options: &ParquetOptions) -> Result<Opened> {
        let mut opened = Opened::metadata(source)?;
        let fields = opened.metadata.schema().fields().clone();
        let wanted = Wanted::of_paths(options.paths.as_deref()).map_err(|e| e.at("paths"))?;
        opened.spec =
            options.spec.as_ref().map(|spec| wanted.of(&any_rows(spec))).transpose().map_err(|e| e.at("paths"))?;
        opened.chosen = match &opened.spec {
            Some(spec) => {
                opened.metadata = in_units(opened.metadata.clone(), &units_of(&opened.columns, spec))?;
                opened.column = in_column(spec, &named(&fields))?;
                columns_of_spec(&fields, spec, opened.column)?
            }
            None => columns_of_paths(&fields, &wanted).map_err(|e| e.at("paths"))?,
        };
        if let Some(groups) = &options.row_groups {
            opened.choose_groups(groups)?;
        }
        let groups = std::mem::take(&mut opened.groups);
        let pruned = prune(opened.metadata.metadata(), &opened.columns, groups, &options.prune);
        opened.groups = pruned.map_err(|e| e.at("prune"))?;
        opened.known()?;
        if let Some(spec) = &opened.spec {
            // A missing column is told of before a row is read, with all the columns that there are.
            opened
                .rows_by(spec, &opened.no_rows()?, 0, OnError::Raise)
                .map(drop)
                .or_else(|e| if e.is_missing() { Err(e) } else { Ok(()) })?;
        }
        (opened.wanted, opened.on_error) = (wanted, options.on_error);
        Ok(opened)
    }

    /// A file, of which nothing is wanted yet but its row groups.
    pub fn metadata(source: &ParquetSource) -> Result<Opened> {
        prove_footer(source)?;
        let metadata = loaded(source)?;
        checked_columns(metadata.schema().fields())?;
        let metadata = meant(metadata)?;
        let columns = leaf_columns(metadata.schema().fields());
        let there = metadata.parquet_schema().num_columns();
        if columns.len() != there {
            let what = format!("the file has {there} columns, and its Arrow schema {}", columns.len());
            return Err(Error::data(what));
        }
        let groups = (0..metadata.metadata().num_row_groups()).collect();
        prove_counts(metadata.metadata())?;
        let (chosen, wanted, spec, on_error) = (Vec::new(), Wanted::all(), None, OnError::Raise);
        Ok(Opened { source: source.clone(), metadata, columns, chosen, groups, wanted, spec, column: false, on_error })
    }

    /// The columns of the file.
    pub fn fields(&self) -> &Fields {
        self.metadata.schema().fields()
    }

    /// Wants the columns that records of this spec are made of, or a value of it in the only `column`.
    ///
    /// Errors: the file lacks a field that is not optional.
    pub fn choose(&mut self, spec: &Spec, column: bool) -> Result<()> {
        self.metadata = in_units(self.metadata.clone(), &units_of(&self.columns, spec))?;
        self.chosen = columns_of_spec(self.metadata.schema().fields(), spec, column)?;
        self.known()
    }

    /// Checks that the chosen columns are of types that are known, and makes the keys of categories wide enough for the words of all row groups.
    ///
    /// Errors: a type is not known, with its column; dictionaries that are malformed.
    fn known(&mut self) -> Result<()> {
        let of = |leaf: &usize| self.columns[*leaf].path.segments().first();
        let chosen: HashSet<&Segment> = self.chosen.iter().filter_map(of).collect();
        let is_chosen = |field: &Field| chosen.contains(&Segment::field(field.name().as_str()));
        let fields = self.metadata.schema().fields().iter();
        fields.filter(|field| !field.metadata().is_empty() && is_chosen(field)).try_for_each(|field| known(field))?;
        self.codecs()?;
        let chosen = (&*self.groups, &*self.chosen);
        self.metadata = wider(&self.source, self.metadata.clone(), &mut self.columns, chosen)?;
        Ok(())
    }

    fn choose_groups(&mut self, groups: &[usize]) -> Result<()> {
        let there = self.metadata.metadata().num_row_groups();
        if let Some(beyond) = groups.iter().find(|group| **group >= there) {
            let error = Error::index(format!("row group {beyond} is asked for, and the file has {there}"));
            return Err(error.wanted(format!("numbers below {there}")).at("row_groups"));
        }
        self.groups = groups.to_vec();
        Ok(())
    }

    /// How many rows the row groups have.
    pub fn rows(&self) -> Result<usize> {
        let rows = self.groups.iter().map(|group| self.metadata.metadata().row_group(*group).num_rows());
        let total = rows.map(|n| usize::try_from(n).ok()).try_fold(0_usize, |a, n| a.checked_add(n?));
        total.ok_or_else(|| Error::data("the row groups have more rows than there are numbers"))
    }

    /// The columns that are read, and how many values each has.
    pub fn visited(&self) -> Vec<(Path, usize)> {
        let values = |leaf: usize| -> i64 {
            let groups = self.groups.iter().filter_map(|g| self.metadata.metadata().row_group(*g).columns().get(leaf));
            groups.map(|chunk| chunk.num_values()).sum()
        };
        let visited = |leaf: &usize| (self.columns[*leaf].path.clone(), usize::try_from(values(*leaf)).unwrap_or(0));
        self.chosen.iter().map(visited).collect()
    }

    /// How many rows have about so many bytes.
    pub fn rows_of(&self, bytes: usize) -> Result<usize> {
        let rows = self.rows()?;
        let size = usize::try_from(self.size_of(&self.chosen)).unwrap_or(usize::MAX).max(1);
        let few = (rows as f64 * bytes as f64 / size as f64) as usize;
        Ok(few.clamp(FEWEST, MOST))
    }

    /// How many bytes the pages of leaf columns have, unpacked.
    fn size_of(&self, leaves: &[usize]) -> i64 {
        let groups = self.groups.iter().map(|group| self.metadata.metadata().row_group(*group).columns());
        let chunks = groups.flat_map(|columns| leaves.iter().filter_map(|leaf| columns.get(*leaf)));
        chunks.map(|chunk| chunk.uncompressed_size()).fold(0, i64::saturating_add)
    }

    /// Batches of so many rows, whose texts are read by this metadata.
    fn reader(
        &self,
        viewed: &ArrowReaderMetadata,
        leaves: &[usize],
        rows: usize,
        budget: Option<&Arc<Budget>>,
    ) -> Result<Reader> {
        let mask = ProjectionMask::leaves(self.metadata.parquet_schema(), leaves.iter().copied());
        let fields = self.none(mask.clone())?.schema().fields().clone();
        let batches = guarded(|| {
            ParquetRecordBatchReaderBuilder::new_with_metadata(self.source.clone(), viewed.clone())
                .with_projection(mask)
                .with_row_groups(self.groups.clone())
                .with_batch_size(rows)
                .build()
        })?;
        Ok(Reader::new(batches, fields, budget.cloned()))
    }

    /// No rows of leaf columns.
    fn none(&self, mask: ProjectionMask) -> Result<RecordBatch> {
        guarded(|| {
            let none = ParquetRecordBatchReaderBuilder::new_with_metadata(self.source.clone(), self.metadata.clone());
            let reader = none.with_projection(mask).with_row_groups(Vec::new()).build()?;
            let schema = arrow_array::RecordBatchReader::schema(&reader);
            Ok::<_, ParquetError>(RecordBatch::new_empty(schema))
        })
    }

    /// The metadata by which the crate reads leaf columns.
    fn viewed(&self, leaves: &[usize]) -> Result<ArrowReaderMetadata> {
        let most = usize::try_from(most(&self.source)).unwrap_or(usize::MAX).max(TEXTS);
        viewed(&self.source, &self.metadata, &self.columns, (&self.groups, leaves), most)
    }

    /// Checks that what is wanted is packed by a codec that is read.
    ///
    /// Errors: another codec, with the column.
    fn codecs(&self) -> Result<()> {
        let groups = self.groups.iter().map(|group| self.metadata.metadata().row_group(*group).columns());
        let chunks = groups.flat_map(|columns| self.chosen.iter().filter_map(|leaf| Some((leaf, columns.get(*leaf)?))));
        for (leaf, chunk) in chunks {
            let codec = match chunk.compression() {
                Compression::BROTLI(_) => "Brotli",
                Compression::LZO => "LZO",
                _ => continue,
            };
            let error = Error::value(format!("column '{}' is packed by {codec}", self.columns[*leaf].path));
            let error = error.wanted("Snappy, gzip, zstd, LZ4, or nothing");
            return Err(error.hint("Write the file with another codec, or leave the column out by `paths`"));
        }
        Ok(())
    }

    /// The rows in batches of a size, one after another; of fewer rows, where so many would be out of proportion to the file.
    ///
    /// Errors: columns that cannot be read.
    pub fn batches(&self, rows: usize) -> Result<Reader> {
        self.codecs()?;
        let rows = rows.min(most_rows(&self.source, self.metadata.parquet_schema(), &self.chosen));
        let ahead = Ahead::new(&self.source, self.metadata.metadata(), &self.groups, (&self.columns, &self.chosen));
        Ok(self.reader(&self.viewed(&self.chosen)?, &self.chosen, rows, None)?.proving(ahead, (rows, self.rows()?)))
    }

    /// No rows of what is wanted.
    ///
    /// Errors: columns that cannot be read.
    pub fn empty(&self) -> Result<StructArray> {
        let mask = ProjectionMask::leaves(self.metadata.parquet_schema(), self.chosen.iter().copied());
        given(self.none(mask)?.into())
    }

    /// No rows of all columns that there are.
    ///
    /// Errors: none that a file without rows has.
    pub fn no_rows(&self) -> Result<StructArray> {
        given(RecordBatch::new_empty(self.metadata.schema().clone()).into())
    }

    /// All rows as one array.
    ///
    /// Errors: columns that cannot be read.
    pub fn whole(&self) -> Result<StructArray> {
        self.codecs()?;
        let rows = self.rows()?;
        let pages = prove_pages(&self.source, self.metadata.metadata(), &self.groups, (&self.columns, &self.chosen))?;
        if self.chosen.is_empty() || rows == 0 {
            return if rows == 0 { self.empty() } else { Ok(StructArray::new_empty_fields(rows, None)) };
        }
        let mut parts = units(self.metadata.schema().fields(), &self.chosen);
        // The largest is begun with, so that no thread is left with it at the end.
        parts.sort_by_key(|unit| std::cmp::Reverse(self.size_of(unit)));
        let budget = self.budget();
        let mut read = self.usual(&pages, &mut parts, &budget)?;
        let viewed = if parts.is_empty() { self.metadata.clone() } else { self.viewed(&parts.concat())? };
        let others = side_by_side(parts, |unit| Ok((unit[0], self.unit(&viewed, &unit, rows, &budget)?)));
        read.append(&mut others.into_iter().collect::<Result<_>>()?);
        read.sort_by_key(|(first, _)| *first);
        let joined = guarded(|| {
            let parts = read.into_iter().map(|(_, part)| part).collect();
            Ok::<_, ArrowError>(join_all(parts)?.unwrap_or_else(|| StructArray::new_empty_fields(rows, None)))
        })?;
        given(joined)
    }

    /// All rows of the usual columns, which are taken out of the units.
    fn usual(
        &self,
        pages: &Pages,
        parts: &mut Vec<Vec<usize>>,
        texts: &Arc<Budget>,
    ) -> Result<Vec<(usize, StructArray)>> {
        let alone = parts.iter().filter(|unit| unit.len() == 1).map(|unit| unit[0]);
        let leaves: Vec<usize> = alone.collect();
        let (metadata, fields) = (self.metadata.metadata(), self.metadata.schema().fields());
        let (source, columns, groups) = (&self.source, &*self.columns, &*self.groups);
        let asked = Asked { source, metadata, fields, columns, groups, pages, texts };
        let read: Vec<(usize, StructArray)> =
            leaves.iter().zip(decode(asked, &leaves)?).filter_map(|(leaf, rows)| Some((*leaf, rows?))).collect();
        let known: HashSet<usize> = read.iter().map(|(leaf, _)| *leaf).collect();
        parts.retain(|unit| unit.len() > 1 || !known.contains(&unit[0]));
        Ok(read)
    }

    /// How many bytes the texts of a whole read may have.
    fn budget(&self) -> Arc<Budget> {
        Arc::new(Budget::new(usize::try_from(most(&self.source)).unwrap_or(usize::MAX).max(TEXTS)))
    }

    /// All rows of columns that are read together.
    fn unit(
        &self,
        viewed: &ArrowReaderMetadata,
        leaves: &[usize],
        rows: usize,
        budget: &Arc<Budget>,
    ) -> Result<StructArray> {
        let name = || format!("column '{}'", self.columns[leaves[0]].path);
        let mut reader = self.reader(viewed, leaves, rows, Some(budget)).map_err(|e| e.at(name()))?;
        let mut batches = Vec::new();
        while let Some(batch) = reader.stored().map_err(|e| e.at(name()))? {
            batches.push(batch);
        }
        let found: usize = batches.iter().map(|batch| batch.len()).sum();
        if found != rows {
            return Err(Error::data(format!("{name} has {found} rows, and the metadata says {rows}", name = name())));
        }
        if let [_] = batches[..] {
            return Ok(batches.swap_remove(0));
        }
        guarded(|| {
            let parts: Vec<&dyn Array> = batches.iter().map(|batch| batch as &dyn Array).collect();
            arrow_select::concat::concat(&parts).map(|rows| rows.as_struct().clone())
        })
    }

    /// The value of rows, of which the first has the number `start`.
    fn value(&self, rows: &StructArray, start: usize) -> Result<Rows> {
        checked_decimals(rows)?;
        let (value, bad) = match (&self.spec, self.on_error) {
            (None, _) => {
                let rows = guarded(|| wanted_halves(rows.clone(), &self.wanted))?;
                rows_of_field(&field_of(&rows), &rows, start, self.on_error)?
            }
            (Some(spec), on_error) => self.rows_by(spec, rows, start, on_error)?,
        };
        Ok(Rows { value, bad, visited: Vec::new() })
    }

    /// The rows as a value of a spec, which they are or have in their only column.
    fn rows_by(&self, spec: &Spec, rows: &StructArray, start: usize, on_error: OnError) -> Result<(Value, BadRows)> {
        let rows: ArrayRef = Arc::new(rows.clone());
        if !self.column {
            return array_rows(&rows, start, on_error, spec);
        }
        let (field, column) = only_column(&rows)?;
        field_rows(&field, &column, start, Vec::new(), on_error, spec)
    }
}

/// What a column is, if it is usual, and what the crate makes of it.
#[cfg(test)]
pub type BothWays = (Result<Option<StructArray>>, Result<StructArray>);

/// Both, for each column that is read alone.
#[cfg(test)]
pub fn both_ways(source: &ParquetSource) -> Result<Vec<BothWays>> {
    let opened = Opened::new(source, &ParquetOptions::default())?;
    let rows = opened.rows()?;
    let pages = prove_pages(source, opened.metadata.metadata(), &opened.groups, (&opened.columns, &opened.chosen))?;
    let alone = units(opened.metadata.schema().fields(), &opened.chosen).into_iter().filter(|unit| unit.len() == 1);
    let both = alone.map(|unit| {
        let budget = opened.budget();
        let usual = opened.usual(&pages, &mut vec![unit.clone()], &budget);
        let usual = usual.map(|mut read| read.pop().map(|(_, rows)| rows));
        (usual, opened.viewed(&unit).and_then(|viewed| opened.unit(&viewed, &unit, rows, &budget)))
    });
    Ok(both.collect())
}
