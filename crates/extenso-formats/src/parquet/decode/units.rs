//! The columns of a read: pieces of all of them are decoded side by side, and put together in order.
//!
//! Invariant: a column has as many rows as the metadata says, or is refused by name. One that is not usual is left to the crate.

use super::super::project::{LeafColumn, width};
use super::super::proof::{PagePlace, Pages};
use super::super::{ParquetSource, guarded};
use super::build::rows;
use super::column::Column;
use super::texts::Budget;
use super::values::Dictionary;
use super::way::Way;
use super::{Stop, bad};
use arrow_array::StructArray;
use arrow_schema::{Field, Fields};
use extenso_core::{in_order, side_by_side};
use extenso_types::{Error, Path};
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::page_index::offset_index::PageLocation;
use parquet::file::serialized_reader::SerializedPageReader;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// How many unpacked bytes are a piece of work, at least, if a column has as many.
const PIECE: u64 = 1 << 18;

/// What is decoded.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub source: &'a ParquetSource,
    pub metadata: &'a ParquetMetaData,
    pub fields: &'a Fields,
    /// All leaf columns.
    pub columns: &'a [LeafColumn],
    pub groups: &'a [usize],
    /// The pages of all columns that are decoded.
    pub pages: &'a Pages,
    /// How many bytes texts may have.
    pub texts: &'a Arc<Budget>,
}

/// The rows of a column, as a struct of its top field; none, if the column is not usual.
pub type Decoded = Option<StructArray>;

/// Decodes these leaf columns, side by side.
///
/// Errors: the first column that is malformed, by name.
pub fn decode(asked: Asked<'_>, leaves: &[usize]) -> Result<Vec<Decoded>, Error> {
    let firsts = first_leaves(asked.fields);
    let units: Vec<Option<Unit<'_>>> = leaves.iter().map(|leaf| Unit::new(asked, &firsts, *leaf)).collect();
    let mut columns: Vec<Option<Column>> = units.iter().map(|unit| unit.as_ref().map(Unit::empty)).collect();
    let mut pieces =
        units.iter().zip(0..).flat_map(|(unit, place)| unit.iter().flat_map(move |unit| unit.pieces(place)));
    let mut failed = None;
    let put = |made: Made<'_>| match made.put(&mut columns) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    };
    in_order(|| pieces.next(), |piece| piece.make(asked.source), put);
    if let Some(error) = failed {
        return Err(error);
    }
    let finish = |(unit, column): (&Option<Unit<'_>>, Option<Column>)| {
        let Some((unit, column)) = unit.as_ref().zip(column) else { return Ok(None) };
        guarded(|| rows(column, &unit.way)).map(Some).map_err(|e| unit.named(e))
    };
    side_by_side(units.iter().zip(columns).collect(), finish).into_iter().collect()
}

/// The number of the first leaf of each field.
fn first_leaves(fields: &Fields) -> Vec<usize> {
    let next = |next: &mut usize, field: &Arc<Field>| {
        *next += width(field.data_type());
        Some(*next - width(field.data_type()))
    };
    fields.iter().scan(0, next).collect()
}

/// A column that is usual, as far as the metadata tells.
struct Unit<'a> {
    way: Way,
    path: &'a Path,
    chunks: Vec<Chunk<'a>>,
    budget: &'a Arc<Budget>,
}

/// The part of a column in one row group.
struct Chunk<'a> {
    metadata: &'a ColumnChunkMetaData,
    pages: &'a [PagePlace],
    /// How many rows and entries there are to be at its end, with those of the groups before.
    ends: (usize, usize),
    dictionary: Mutex<Option<Arc<Dictionary>>>,
}

/// Some pages of a chunk.
struct Piece<'a> {
    unit: &'a Unit<'a>,
    /// The place of the unit among all.
    place: usize,
    chunk: &'a Chunk<'a>,
    pages: &'a [PagePlace],
    first: bool,
    last: bool,
}

/// What was made of a piece.
struct Made<'a>(Piece<'a>, Result<Column, Stop>);

impl<'a> Unit<'a> {
    fn new(asked: Asked<'a>, firsts: &[usize], leaf: usize) -> Option<Unit<'a>> {
        let schema = asked.metadata.file_metadata().schema_descr();
        if leaf >= schema.num_columns() {
            return None;
        }
        let column = schema.column(leaf);
        // A field may have no leaf, and then the next begins where it does.
        let top = firsts.partition_point(|first| *first <= leaf).checked_sub(1)?;
        let root = schema.root_schema().get_fields().get(schema.get_column_root_idx(leaf))?;
        let way = Way::new(&asked.fields[top], leaf - firsts[top], root, &column)?;
        let mut ends = (0_usize, 0_usize);
        let chunks = asked.groups.iter().enumerate().map(|(i, group)| {
            let group = asked.metadata.row_group(*group);
            let metadata = group.columns().get(leaf)?;
            ends.0 = ends.0.checked_add(usize::try_from(group.num_rows()).ok()?)?;
            ends.1 = ends.1.checked_add(usize::try_from(metadata.num_values()).ok()?)?;
            let pages = asked.pages.of(i, leaf)?;
            usual(metadata).then(|| Chunk { metadata, pages, ends, dictionary: Mutex::default() })
        });
        let chunks = chunks.collect::<Option<_>>()?;
        Some(Unit { way, path: &asked.columns.get(leaf)?.path, chunks, budget: asked.texts })
    }

    fn named(&self, error: Error) -> Error {
        error.at(format!("column '{}'", self.path))
    }

    fn empty(&self) -> Column {
        Column::new(&self.way, self.budget)
    }

    /// How many values there may be: those of the metadata, if the bytes look as if they were so many.
    fn room(&self) -> usize {
        let wanted = self.chunks.last().map_or(0, |chunk| chunk.ends.1);
        let unpacked = self.chunks.iter().flat_map(|chunk| chunk.pages).map(|page| page.unpacked);
        let bits = unpacked.fold(0, u64::saturating_add).saturating_mul(8);
        wanted.min(usize::try_from(bits).unwrap_or(usize::MAX))
    }

    /// The pages of all chunks, in pieces.
    fn pieces(&'a self, place: usize) -> impl Iterator<Item = Piece<'a>> {
        let pieces = move |chunk: &'a Chunk<'a>| {
            let piece = move |(pages, first, last)| Piece { unit: self, place, chunk, pages, first, last };
            chunk.pieces().map(piece)
        };
        self.chunks.iter().flat_map(pieces)
    }
}

impl<'a> Piece<'a> {
    fn make(self, source: &ParquetSource) -> Made<'a> {
        let made = guarded(|| Ok::<_, ParquetError>(self.column(source)));
        Made(self, made.unwrap_or_else(|error| Err(error.into())))
    }

    fn column(&self, source: &ParquetSource) -> Result<Column, Stop> {
        let (way, mut column) = (&self.unit.way, self.unit.empty());
        let (dictionary, pages) = match self.chunk.pages.first().filter(|page| page.is_dictionary()) {
            Some(first) => {
                let dictionary = self.chunk.dictionary(source, first, way)?;
                (Some(dictionary), self.pages.get(usize::from(self.first)..).unwrap_or_default())
            }
            None => (None, self.pages),
        };
        for (i, page) in read(source, self.chunk.metadata, pages)?.enumerate() {
            let page = page.map_err(|e| bad(e.to_string()))?;
            column.add(&page, dictionary.as_deref(), way, self.first && i == 0)?;
        }
        Ok(column)
    }

    /// Puts what was made of the piece behind the others of the column.
    fn put(&self, column: &mut Column, made: Column) -> Result<(), Stop> {
        if column.entries == 0 {
            column.values.reserve(self.unit.room())?;
        }
        guarded(|| column.append(&self.unit.way, made))?;
        let (found, wanted) = ((column.rows(), column.entries), self.chunk.ends);
        if self.last && found != wanted {
            let rows = format!("the column has {} rows of {} values", found.0, found.1);
            return Err(bad(format!("{rows}, and the metadata says {} of {}", wanted.0, wanted.1)));
        }
        Ok(())
    }
}

impl Made<'_> {
    /// Puts a piece behind the others of its column. A column of which a piece is not usual is given up.
    ///
    /// Errors: a piece that is malformed; other numbers than the metadata says.
    fn put(self, columns: &mut [Option<Column>]) -> Result<(), Error> {
        let Made(piece, made) = self;
        let Some(place) = columns.get_mut(piece.place) else { return Ok(()) };
        let Some(column) = place else { return Ok(()) };
        match made.and_then(|made| piece.put(column, made)) {
            Ok(()) => Ok(()),
            Err(Stop::Unusual) => {
                *place = None;
                Ok(())
            }
            Err(Stop::Bad(error)) => Err(piece.unit.named(error)),
        }
    }
}

/// Whether the metadata tells of no encoding that is not usual.
fn usual(chunk: &ColumnChunkMetaData) -> bool {
    let usual = |encoding| {
        // Packed levels stand in the metadata of columns that have none.
        #[allow(deprecated)]
        let levels = Encoding::BIT_PACKED;
        let values = [Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY, Encoding::PLAIN_DICTIONARY];
        encoding == levels || values.contains(&encoding)
    };
    chunk.encodings().all(usual)
}

impl<'a> Chunk<'a> {
    /// The pages in pieces of about one size, with whether they are the first and the last.
    fn pieces(&'a self) -> impl Iterator<Item = (&'a [PagePlace], bool, bool)> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let (rest, mut size) = (self.pages.get(at..).filter(|rest| !rest.is_empty())?, 0);
            let enough = |page: &PagePlace| {
                size += page.unpacked;
                size >= PIECE && !page.is_dictionary()
            };
            let n = rest.iter().position(enough).map_or(rest.len(), |last| last + 1);
            let piece = (&rest[..n], at == 0, n == rest.len());
            at += n;
            Some(piece)
        })
    }

    /// The dictionary, which whoever is first reads.
    fn dictionary(&self, source: &ParquetSource, page: &PagePlace, way: &Way) -> Result<Arc<Dictionary>, Stop> {
        let mut known = self.dictionary.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(dictionary) = &*known {
            return Ok(dictionary.clone());
        }
        let page = read(source, self.metadata, std::slice::from_ref(page))?.next();
        let page = page.ok_or(Stop::Unusual)?.map_err(|e| bad(e.to_string()))?;
        let dictionary = Arc::new(Dictionary::new(way.kind, &page)?);
        *known = Some(dictionary.clone());
        Ok(dictionary)
    }
}

/// Reads these pages of a chunk, unpacked.
fn read(
    source: &ParquetSource,
    chunk: &ColumnChunkMetaData,
    pages: &[PagePlace],
) -> Result<impl Iterator<Item = Result<Page, ParquetError>>, Stop> {
    let location = |page: &PagePlace| {
        let length = i32::try_from(page.length).map_err(|_| Stop::Unusual)?;
        let offset = i64::try_from(page.start).map_err(|_| Stop::Unusual)?;
        Ok(PageLocation { offset, compressed_page_size: length, first_row_index: 0 })
    };
    let locations: Vec<PageLocation> = pages.iter().map(location).collect::<Result<_, Stop>>()?;
    let n = locations.len();
    let open = || {
        let mut reader = SerializedPageReader::new(Arc::new(source.clone()), chunk, 0, Some(locations))?;
        // Where the pages are not the first, the reader would begin with what is before them.
        if n > 0 && reader.peek_next_page()?.is_some_and(|page| page.is_dict) {
            reader.skip_next_page()?;
        }
        Ok::<_, ParquetError>(reader)
    };
    Ok(guarded(open)?.take(n))
}
