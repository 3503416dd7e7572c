//! Where records come from and where results go: formats told by what a source begins with, by its name, or by choice.
//!
//! | a source begins with | it is |
//! |---|---|
//! | `1f 8b 08`, `28 b5 2f fd` | gzip, zstd: what is packed in it is looked at the same way, but not unpacked again |
//! | `PAR1` | Parquet |
//! | `Obj`, `01` | Avro |
//! | `ARROW1`, `ff ff ff ff` | a file or a stream of Arrow's IPC |
//! | a length, and a schema of Arrow that is as long | a stream of Arrow before 0.15 |
//! | anything else | what its name ends in, otherwise JSON |
//!
//! Of messages, which are told by no first byte, the caller says what they are; where the name ends as that of JSON they are in their JSON form, otherwise they are TFRecords if the first checksum says so, otherwise they
//! have a varint for the length before each.
//!
//! Invariant: a source gives blocks of rows one after another and holds one of them; of each it decodes the leaves that a function needs,
//! whatever the format. Unpacking is streamed; what has to be held whole is bounded by the bytes that it is packed in.

#[cfg(feature = "ipc")]
mod arrays;
#[cfg(feature = "ipc")]
mod arrow;
#[cfg(feature = "avro")]
mod avro;
mod csv;
mod json;
mod look;
#[cfg(feature = "proto")]
mod messages;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "ipc")]
mod rows;
mod run;
mod sink;
mod told;
mod unpack;

#[cfg(test)]
mod tests;

#[cfg(feature = "ipc")]
pub use arrays::{Arrays, open_arrays, run_arrays, spec_of_arrays};
#[cfg(feature = "ipc")]
pub use arrow::run_arrow;
pub(crate) use json::JsonBlocks;
pub use look::{Asked, spec_of_file, spec_of_reader};
#[cfg(feature = "proto")]
pub(crate) use messages::JsonMessageSink;
#[cfg(feature = "proto")]
pub use messages::MessageSink;
#[cfg(feature = "parquet")]
pub use parquet::run_parquet;
pub use run::{Progress, Watch, run_blocks};
pub use sink::{NdjsonSink, Sink, SinkOptions, open_sink, run_to_file};
pub use told::{BadRowsFile, is_same};
pub use unpack::unpack;
#[cfg(feature = "ipc")]
pub(crate) use unpack::{MOST, RATIO};
pub(crate) use unpack::{Packed, Unpacked, is_packed, reading, refused, unpacked};

use crate::columns::{BadRows, Decoded, OnError};
use crate::csv::delimiter_of_name;
use crate::looks::Seen;
#[cfg(feature = "proto")]
use crate::proto::{Content, Framing, Messages, run_messages};
use crate::records::{RecordSpec, placed};
use crate::run::{Rows, run_decoded, run_leaves};
use extenso_core::Value;
use extenso_graph::Concrete;
use extenso_types::{Error, Nest, Result};
#[cfg(feature = "proto")]
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

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

/// The leaves of decoded rows, which have these numbers in the source, and which of them are bad.
///
/// Errors: a row that a user's type refuses, under the policy that raises; what cannot be made of all of them, with their numbers.
fn leaves_of(
    records: &RecordSpec,
    decoded: Decoded,
    rows: Range<usize>,
    on_error: OnError,
) -> Result<(Vec<Option<Value>>, BadRows)> {
    let leaves = records
        .leaves(decoded.columns, decoded.rows)
        .map_err(|e| placed(e, &format!("rows {} to {}", rows.start, rows.end.saturating_sub(1))))?;
    records.judged(leaves, decoded.bad, Seen::from(rows.start, &decoded.starts), on_error)
}

/// What records are stored as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Lines of JSON, or an array of records.
    Json,
    /// Parquet.
    Parquet,
    /// Object container files of Avro.
    Avro,
    /// CSV: a row of names, and rows of cells.
    Csv,
    /// A file of Arrow's IPC.
    Arrow,
    /// A stream of Arrow's IPC.
    Arrows,
    /// Messages of protocol buffers, each with its length before it.
    Protobuf,
    /// TFRecords: messages with lengths and checksums.
    TfRecord,
}

/// The names of formats, the endings of file names that they are known by.
const FORMATS: [(Format, &str, &[&str]); 8] = [
    (Format::Json, "json", &["json", "ndjson", "jsonl"]),
    (Format::Parquet, "parquet", &["parquet", "pq"]),
    (Format::Avro, "avro", &["avro"]),
    (Format::Csv, "csv", &["csv", "tsv"]),
    (Format::Arrow, "arrow", &["arrow", "feather"]),
    (Format::Arrows, "arrows", &["arrows"]),
    (Format::Protobuf, "protobuf", &["pb", "binpb"]),
    (Format::TfRecord, "tfrecord", &["tfrecord", "tfrecords"]),
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
        if is_packed_name(name) {
            return Format::of_name(Path::new(name.file_stem()?));
        }
        FORMATS.iter().find(|(_, _, endings)| endings.contains(&&*ending)).map(|(format, _, _)| *format)
    }

    /// The format that a source with these first bytes is, if they say so.
    pub fn of_head(head: &[u8]) -> Option<Format> {
        const MAGIC: [(&[u8], Format); 4] = [
            (b"PAR1", Format::Parquet),
            (b"Obj\x01", Format::Avro),
            (b"ARROW1", Format::Arrow),
            (&[0xff; 4], Format::Arrows),
        ];
        let found = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, format)| *format);
        #[cfg(feature = "ipc")]
        let found = found.or_else(|| {
            let schema = head.get(4..unpack::old_schema(head)?)?;
            crate::arrow::is_schema(schema).then_some(Format::Arrows)
        });
        found
    }
}

impl std::str::FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Format> {
        // Records of JSON line by line have names of their own.
        let is_called = |(format, known, endings): &&(Format, &str, &[&str])| {
            *known == name || (*format == Format::Json && endings.contains(&name))
        };
        let found = FORMATS.iter().find(is_called).map(|(format, _, _)| *format);
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
    /// What its name says that it is, which counts where its first bytes say nothing.
    pub named: Option<Format>,
    /// What becomes of a row that does not fit.
    pub on_error: OnError,
    /// What stands between the cells of CSV: a comma, where neither this nor the name says otherwise.
    pub delimiter: Option<u8>,
    /// About how many bytes of rows are decoded at a time.
    pub block: usize,
    /// What the messages are, of a source of messages.
    #[cfg(feature = "proto")]
    pub content: Option<Content>,
}

impl Default for SourceOptions {
    fn default() -> SourceOptions {
        SourceOptions {
            format: None,
            named: None,
            on_error: OnError::Raise,
            delimiter: None,
            block: BLOCK,
            #[cfg(feature = "proto")]
            content: None,
        }
    }
}

impl SourceOptions {
    /// The options for a source of this name, which says what its first bytes do not.
    pub fn named(&self, path: &Path) -> SourceOptions {
        let delimiter = self.delimiter.or(Some(delimiter_of_name(path)));
        SourceOptions { named: Format::of_name(path), delimiter, ..self.clone() }
    }

    /// What a source with these first bytes is.
    fn format_of(&self, head: &[u8]) -> Format {
        #[cfg(feature = "proto")]
        if self.content.is_some() {
            // Any first bytes may be those of a message.
            let told = (Framing::of_head(head) == Framing::TfRecord).then_some(Format::TfRecord);
            let named = self.named.filter(|format| matches!(format, Format::Json | Format::TfRecord));
            return self.format.or(told).or(named).unwrap_or(Format::Protobuf);
        }
        self.format.or_else(|| Format::of_head(head)).or(self.named).unwrap_or(Format::Json)
    }
}

/// Checks that the name of a file to be written says that it is plain: files that are packed are read, and none is written.
///
/// Errors: an ending that says packed.
pub fn plain_name(path: &Path) -> Result<()> {
    if !is_packed_name(path) {
        return Ok(());
    }
    let error = Error::value(format!("'{}' is the name of a packed file", path.display()));
    Err(error.wanted("a name without such an ending").hint("Pack the file that was written").at("target"))
}

/// Whether the name says that a file is packed.
fn is_packed_name(path: &Path) -> bool {
    path.extension()
        .and_then(|ending| ending.to_str())
        .is_some_and(|ending| PACKED.contains(&&*ending.to_ascii_lowercase()))
}

/// Checks that a file whose name says that it is packed has as many bytes as tell so: of fewer, all rows would be lost without a word.
///
/// Errors: fewer bytes; what the operating system refuses.
pub fn check_packed(path: &Path, file: &File) -> Result<()> {
    /// As many bytes as what zstd begins with; gzip has more.
    const FEWEST: u64 = 4;
    let about = file.metadata().map_err(|e| Error::of_file(path, e))?;
    if !about.is_file() || about.len() >= FEWEST || !is_packed_name(path) {
        return Ok(());
    }
    let error = Error::data(format!("the file has {} bytes, and its name says that it is packed", about.len()));
    Err(error.wanted("the file as it was packed, complete"))
}

/// What the names of packed files end in.
const PACKED: [&str; 4] = ["gz", "gzip", "zst", "zstd"];

/// Enough to fill the threads, and little beside the memory.
const BLOCK: usize = 8 << 20;

/// Opens a file of records for a function.
///
/// Errors: an argument that no record can express; a format that a packed file cannot be; what the operating system refuses; those of the format's own reader.
pub fn open_file(function: &Arc<Concrete>, path: &Path, options: &SourceOptions) -> Result<Box<dyn Blocks>> {
    let (opened, options) = opened(path, options)?;
    match opened {
        #[cfg(feature = "parquet")]
        Opened::Columns(source) => Ok(Box::new(parquet::open_parquet(function, &source, &options)?)),
        Opened::Reader(source) => open_reader(function, source, &options),
    }
}

/// A file of records.
enum Opened {
    /// One that is read in ranges.
    #[cfg(feature = "parquet")]
    Columns(crate::parquet::ParquetSource),
    /// One that is read from its start.
    Reader(Box<dyn BufRead + Send>),
}

/// Opens a file, with the options that its name says.
///
/// Errors: what the operating system refuses; no Parquet, where the file begins as Parquet.
fn opened(path: &Path, options: &SourceOptions) -> Result<(Opened, SourceOptions)> {
    let refused = |e| Error::of_file(path, e);
    let file = File::open(path).map_err(refused)?;
    check_packed(path, &file)?;
    // A pipe is opened once, and gives its bytes once.
    let again = file.metadata().map_err(refused)?.is_file();
    let mut file = BufReader::new(file);
    let head = file.fill_buf().map_err(refused)?;
    let options = options.named(path);
    #[cfg(feature = "parquet")]
    if again && !is_packed(head) && options.format_of(head) == Format::Parquet {
        return Ok((Opened::Columns(crate::parquet::ParquetSource::open(path)?), options));
    }
    #[cfg(feature = "ipc")]
    let has_footer = again && options.format_of(head) == Format::Arrow && crate::arrow::is_ipc_file(head);
    let _ = (head, again);
    #[cfg(feature = "ipc")]
    // What was cut off is told before the first batch and not behind the last.
    if has_footer && !ends_as_file(&mut file).map_err(refused)? {
        let error = Error::data("the IPC bytes are malformed: the file does not end as it begins");
        return Err(error.wanted("a file that ends with its footer"));
    }
    Ok((Opened::Reader(Box::new(file)), options))
}

/// Whether the last bytes of an IPC file are those of a whole one; the next byte that is read is its first.
///
/// Errors: what the operating system refuses.
#[cfg(feature = "ipc")]
fn ends_as_file(file: &mut BufReader<File>) -> std::io::Result<bool> {
    use std::io::{Read, Seek, SeekFrom};

    let mut end = [0; 6];
    let read = file.seek(SeekFrom::End(-6)).and_then(|_| file.read_exact(&mut end));
    file.rewind()?;
    Ok(read.is_ok() && crate::arrow::is_ipc_file(&end))
}

/// Opens a stream of records for a function, packed or not.
///
/// Errors: as [`open_file`]. Parquet has its metadata at the end, and is read whole before.
pub fn open_reader<'a>(
    function: &Arc<Concrete>,
    source: Box<dyn BufRead + Send + 'a>,
    options: &SourceOptions,
) -> Result<Box<dyn Blocks + 'a>> {
    let Unpacked { head, packed, source } = unpacked(source, options.block)?;
    let blocks: Box<dyn Blocks + 'a> = match options.format_of(&head) {
        Format::Json => Box::new(json::JsonBlocks::new(function, source, options)?),
        Format::Csv => Box::new(csv::CsvBlocks::new(function, source, options)?),
        #[cfg(feature = "ipc")]
        Format::Arrow | Format::Arrows => Box::new(arrow::open_arrow(function, source, options.on_error)?),
        #[cfg(feature = "avro")]
        Format::Avro => Box::new(avro::open_avro(function, source, options)?),
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(parquet::open_parquet(function, &whole_columns(source)?, options)?),
        #[cfg(feature = "proto")]
        format @ (Format::Protobuf | Format::TfRecord) => {
            let (framing, content) = (framing_of(format), content_of(options)?);
            Box::new(messages::MessageBlocks::of_file(function, source, framing, content, options)?)
        }
        #[cfg(not(all(feature = "ipc", feature = "avro", feature = "parquet", feature = "proto")))]
        other => return Err(not_built(other)),
    };
    Ok(match packed {
        Some(packed) => Box::new(PackedBlocks { packed, blocks }),
        None => blocks,
    })
}

/// The error of a source that this build has no reader of.
#[cfg(not(all(feature = "ipc", feature = "avro", feature = "parquet", feature = "proto")))]
fn not_built(format: Format) -> Error {
    let feature = match format {
        Format::Parquet => "parquet",
        Format::Avro => "avro",
        Format::Protobuf | Format::TfRecord => "proto",
        Format::Json | Format::Csv | Format::Arrow | Format::Arrows => "ipc",
    };
    Error::value(format!("the source is {format:?}")).wanted(format!("a build with the feature `{feature}`"))
}

/// A stream of Parquet, whose metadata is at its end.
#[cfg(feature = "parquet")]
fn whole_columns(mut source: Box<dyn BufRead + Send + '_>) -> Result<crate::parquet::ParquetSource> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes).map_err(reading)?;
    Ok(bytes.into())
}

/// The blocks of what is packed, each of which has a bound.
struct PackedBlocks<'a> {
    packed: Arc<Packed>,
    blocks: Box<dyn Blocks + 'a>,
}

impl Blocks for PackedBlocks<'_> {
    fn next(&mut self) -> Result<Option<Block>> {
        self.packed.begin_block();
        let block = self.blocks.next()?;
        Ok(block.map(|block| Block { bytes: self.packed.bytes(), ..block }))
    }
}

#[cfg(feature = "proto")]
fn framing_of(format: Format) -> Framing {
    if format == Format::TfRecord { Framing::TfRecord } else { Framing::Delimited }
}

#[cfg(feature = "proto")]
fn content_of(options: &SourceOptions) -> Result<&Content> {
    options.content.as_ref().ok_or_else(no_content)
}

#[cfg(feature = "proto")]
fn no_content() -> Error {
    let error = Error::missing("the source is of messages, and nothing says of which").wanted("a message");
    error.hint("Give a descriptor and the name of the message, or one of TensorFlow's examples").at("source")
}

/// Opens messages in memory for a function: a list of them, or the bytes of a file as they are framed.
///
/// Errors: no content in the options; an argument that the messages cannot be read as.
#[cfg(feature = "proto")]
pub fn open_messages<'a>(
    function: &Arc<Concrete>,
    source: Messages<'a>,
    options: &SourceOptions,
) -> Result<Box<dyn Blocks + 'a>> {
    let of_list = |list| messages::MessageBlocks::of_list(function, list, content_of(options)?, options);
    let (bytes, framing) = match source {
        Messages::Each(list) => return Ok(Box::new(of_list(Cow::Borrowed(list))?)),
        Messages::Texts(texts) => {
            let list = (0..texts.len()).map(|i| texts.text_at(i)).collect::<Result<_>>()?;
            return Ok(Box::new(of_list(Cow::Owned(list))?));
        }
        Messages::Delimited(bytes) => (bytes, Framing::Delimited),
        Messages::TfRecord(bytes) => (bytes, Framing::TfRecord),
    };
    Ok(Box::new(messages::MessageBlocks::of_file(function, Box::new(bytes), framing, content_of(options)?, options)?))
}

/// Runs a function on all records in memory, of any format, packed or not.
///
/// Errors: rows that do not fit, unless `on_error` says otherwise; malformed bytes; messages without a content in the options; those of the ops.
pub fn run_bytes(function: &Arc<Concrete>, bytes: &[u8], options: &SourceOptions) -> Result<Rows<Nest<Value>>> {
    let bytes = unpack(bytes)?;
    match options.format_of(&bytes) {
        Format::Json => {
            let records = RecordSpec::of(function)?;
            let decoded = json::decoder_of(records.plan(), options)?.records(&bytes, options.on_error)?;
            run_decoded(function, &records, decoded, 0, options.on_error)
        }
        #[cfg(feature = "ipc")]
        Format::Arrow | Format::Arrows => run_arrow(function, &*bytes, options.on_error),
        #[cfg(feature = "proto")]
        format @ (Format::Protobuf | Format::TfRecord) => {
            run_messages(function, framing_of(format).messages(&bytes), content_of(options)?, options.on_error)
        }
        #[cfg(feature = "parquet")]
        Format::Parquet => run_parquet(function, &bytes.into_owned().into(), options.on_error),
        // A source without a way of its own gives all in one block; one of a format that is not built in says so.
        _ => {
            let whole = SourceOptions { block: usize::MAX, ..options.clone() };
            let block = open_reader(function, Box::new(&*bytes), &whole)?.next()?;
            let Block { leaves, bad, .. } = block.ok_or_else(|| Error::internal("a source gave no block"))?;
            Ok(Rows { value: run_leaves(function, &leaves)?, bad, visited: Vec::new() })
        }
    }
}

/// Opens records in memory for a function.
///
/// Errors: as [`open_file`].
pub fn open_bytes<'a>(
    function: &Arc<Concrete>,
    bytes: Vec<u8>,
    options: &SourceOptions,
) -> Result<Box<dyn Blocks + 'a>> {
    open_reader(function, Box::new(Cursor::new(bytes)), options)
}
