//! Where records come from and where results go: formats told by what a source begins with, by its name, or by choice.
//!
//! | a source begins with | it is |
//! |---|---|
//! | `1f 8b`, `28 b5 2f fd` | gzip, zstd: what is packed in it is looked at the same way |
//! | `PAR1` | Parquet |
//! | `ARROW1`, `ff ff ff ff` | a file or a stream of Arrow's IPC |
//! | anything else | what its name ends in: `.csv`, `.arrows`, otherwise JSON |
//!
//! Invariant: a source gives blocks of rows one after another and holds one of them; of each it decodes the leaves that a function needs,
//! whatever the format. Unpacking is streamed; what has to be held whole is bounded by the bytes that it is packed in.

#[cfg(feature = "ipc")]
mod arrow;
#[cfg(feature = "ipc")]
mod bare;
mod csv;
mod json;
#[cfg(feature = "ipc")]
mod needs;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "ipc")]
mod rows;
mod run;
mod sink;
mod unpack;

#[cfg(test)]
mod tests;

#[cfg(feature = "ipc")]
pub use arrow::run_arrow;
pub(crate) use json::JsonBlocks;
#[cfg(feature = "parquet")]
pub use parquet::run_parquet;
pub use run::{Progress, run_blocks};
#[cfg(feature = "parquet")]
pub use sink::ParquetSink;
pub use sink::{NdjsonSink, Sink, open_sink, run_to_file};
pub(crate) use unpack::{MOST, RATIO, reading, unpack, unpacked};

use crate::columns::{BadRows, OnError};
use crate::run::{Rows, run_records};
use extenso_core::Value;
use extenso_graph::Concrete;
use extenso_types::{Error, Nest, Result};
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows of a source, decoded as far as a function needs them.
#[derive(Debug)]
pub struct Block {
    /// The leaves of the function's argument; none where a leaf is not needed.
    pub leaves: Vec<Option<Value>>,
    /// How many rows of the source were read so far, bad ones included.
    pub rows: usize,
    /// How many bytes of the source were read so far.
    pub bytes: u64,
    /// The rows that did not fit.
    pub bad: BadRows,
}

/// A source of records for one function.
pub trait Blocks: Send {
    /// The next rows; none at the end.
    ///
    /// Errors: rows that do not fit, under the policy that raises; what the operating system refuses.
    fn next(&mut self) -> Result<Option<Block>>;
}

/// What records are stored as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Lines of JSON, or an array of records.
    Json,
    /// Parquet.
    Parquet,
    /// CSV: a row of names, and rows of cells.
    Csv,
    /// A file of Arrow's IPC.
    Arrow,
    /// A stream of Arrow's IPC.
    Arrows,
}

/// The names of formats, the endings of file names that they are known by.
const FORMATS: [(Format, &str, &[&str]); 5] = [
    (Format::Json, "json", &["json", "ndjson", "jsonl"]),
    (Format::Parquet, "parquet", &["parquet", "pq"]),
    (Format::Csv, "csv", &["csv", "tsv"]),
    (Format::Arrow, "arrow", &["arrow", "feather"]),
    (Format::Arrows, "arrows", &["arrows"]),
];

impl Format {
    /// The format that a file of this name holds, if its ending says so; that of something packed is looked at without the ending of
    /// the packing.
    ///
    /// ```
    /// # use extenso_formats::source::Format;
    /// assert_eq!(Format::of_name("scores.parquet".as_ref()), Some(Format::Parquet));
    /// assert_eq!(Format::of_name("rows.ndjson.gz".as_ref()), Some(Format::Json));
    /// assert_eq!(Format::of_name("rows".as_ref()), None);
    /// ```
    pub fn of_name(name: &Path) -> Option<Format> {
        let ending = name.extension()?.to_str()?.to_ascii_lowercase();
        if matches!(&*ending, "gz" | "gzip" | "zst" | "zstd") {
            return Format::of_name(Path::new(name.file_stem()?));
        }
        FORMATS.iter().find(|(_, _, endings)| endings.contains(&&*ending)).map(|(format, _, _)| *format)
    }

    /// The format that a source with these first bytes is, if they say so.
    pub fn of_head(head: &[u8]) -> Option<Format> {
        const MAGIC: [(&[u8], Format); 3] =
            [(b"PAR1", Format::Parquet), (b"ARROW1", Format::Arrow), (&[0xff; 4], Format::Arrows)];
        MAGIC.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, format)| *format)
    }
}

impl std::str::FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Format> {
        let found = FORMATS.iter().find(|(_, known, _)| *known == name).map(|(format, _, _)| *format);
        found.ok_or_else(|| {
            let names: Vec<&str> = FORMATS.iter().map(|(_, name, _)| *name).collect();
            Error::value(format!("found '{name}'")).wanted(format!("one of {}", names.join(", "))).at("format")
        })
    }
}

/// How a source is read.
#[derive(Clone, Debug)]
pub struct SourceOptions {
    /// What it is; found out, if there is none.
    pub format: Option<Format>,
    /// What becomes of a row that does not fit.
    pub on_error: OnError,
    /// What stands between the cells of CSV.
    pub delimiter: u8,
    /// About how many bytes of rows are decoded at a time.
    pub block: usize,
}

impl Default for SourceOptions {
    fn default() -> SourceOptions {
        SourceOptions { format: None, on_error: OnError::Raise, delimiter: b',', block: BLOCK }
    }
}

/// Enough to fill the threads, and little beside the memory.
const BLOCK: usize = 8 << 20;

/// Opens a file of records for a function.
///
/// Errors: an argument that no record can express; a format that a packed file cannot be; what the operating system refuses; those of the format's own reader.
pub fn open_file(function: &Arc<Concrete>, path: &Path, options: &SourceOptions) -> Result<Box<dyn Blocks>> {
    let refused = |e: std::io::Error| Error::io(format!("'{}': {e}", path.display()));
    let mut file = BufReader::new(File::open(path).map_err(refused)?);
    let head = file.fill_buf().map_err(refused)?;
    if options.format.or_else(|| Format::of_head(head)) == Some(Format::Parquet) {
        return columns(function, path, options);
    }
    let format = options.format.or_else(|| Format::of_name(path));
    let tabs = path.to_str().is_some_and(|name| name.contains(".tsv"));
    let delimiter = if tabs && options.delimiter == b',' { b'\t' } else { options.delimiter };
    open_reader(function, Box::new(file), &SourceOptions { format, delimiter, ..options.clone() })
}

#[cfg(feature = "parquet")]
fn columns(function: &Arc<Concrete>, path: &Path, options: &SourceOptions) -> Result<Box<dyn Blocks>> {
    let source = crate::parquet::ParquetSource::open(path)?;
    Ok(Box::new(parquet::ParquetBlocks::new(function, &source, options)?))
}

#[cfg(not(feature = "parquet"))]
fn columns(_: &Arc<Concrete>, path: &Path, _: &SourceOptions) -> Result<Box<dyn Blocks>> {
    Err(Error::value(format!("'{}' is Parquet", path.display())).wanted("a build with the feature `parquet`"))
}

/// Opens a stream of records for a function, packed or not.
///
/// Errors: as [`open_file`]. Parquet has its metadata at the end, and is read whole before.
pub fn open_reader(
    function: &Arc<Concrete>,
    source: Box<dyn BufRead + Send>,
    options: &SourceOptions,
) -> Result<Box<dyn Blocks>> {
    let read = Arc::new(AtomicU64::new(0));
    let counted = BufReader::new(Counted { source, read: read.clone() });
    let (head, packed, source) = unpacked(Box::new(counted))?;
    match Format::of_head(&head).filter(|_| options.format.is_none()).or(options.format) {
        Some(Format::Parquet) => whole_columns(function, source, options),
        Some(Format::Arrow | Format::Arrows) => batches(function, source, packed.then_some(read), options.on_error),
        Some(Format::Csv) => {
            let read = packed.then_some(read);
            Ok(Box::new(csv::CsvBlocks::new(function, source, read, options)?))
        }
        Some(Format::Json) | None => {
            let read = packed.then_some(read);
            Ok(Box::new(JsonBlocks::new(function, source, read, options)?))
        }
    }
}

#[cfg(feature = "parquet")]
fn whole_columns(
    function: &Arc<Concrete>,
    mut source: Box<dyn BufRead + Send>,
    options: &SourceOptions,
) -> Result<Box<dyn Blocks>> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes).map_err(reading)?;
    Ok(Box::new(parquet::ParquetBlocks::new(function, &bytes.into(), options)?))
}

#[cfg(not(feature = "parquet"))]
fn whole_columns(_: &Arc<Concrete>, _: Box<dyn BufRead + Send>, _: &SourceOptions) -> Result<Box<dyn Blocks>> {
    Err(Error::value("the source is Parquet").wanted("a build with the feature `parquet`"))
}

#[cfg(feature = "ipc")]
fn batches(
    function: &Arc<Concrete>,
    source: Box<dyn BufRead + Send>,
    packed: Option<Arc<AtomicU64>>,
    on_error: OnError,
) -> Result<Box<dyn Blocks>> {
    Ok(Box::new(arrow::ArrowBlocks::new(function, source, packed, on_error)?))
}

#[cfg(not(feature = "ipc"))]
fn batches(
    _: &Arc<Concrete>,
    _: Box<dyn BufRead + Send>,
    _: Option<Arc<AtomicU64>>,
    _: OnError,
) -> Result<Box<dyn Blocks>> {
    Err(Error::value("the source is of Arrow's IPC").wanted("a build with the feature `ipc`"))
}

/// Runs a function on all records in memory: JSON, or a file or stream of Arrow's IPC, packed or not. What their first bytes do not say,
/// `format` does.
///
/// Errors: rows that do not fit, unless `on_error` says otherwise; malformed bytes; those of the ops.
pub fn run_bytes(
    function: &Arc<Concrete>,
    bytes: &[u8],
    format: Option<Format>,
    on_error: OnError,
) -> Result<Rows<Nest<Value>>> {
    let bytes = unpack(bytes)?;
    match Format::of_head(&bytes).or(format) {
        #[cfg(feature = "ipc")]
        Some(Format::Arrow | Format::Arrows) => run_arrow(function, &*bytes, on_error),
        _ => run_records(function, &bytes, on_error),
    }
}

/// Opens records in memory for a function.
///
/// Errors: as [`open_file`].
pub fn open_bytes(function: &Arc<Concrete>, bytes: Vec<u8>, options: &SourceOptions) -> Result<Box<dyn Blocks>> {
    open_reader(function, Box::new(Cursor::new(bytes)), options)
}

/// A reader that says how much was read of it.
struct Counted<R> {
    source: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n = self.source.read(out)?;
        self.read.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}
