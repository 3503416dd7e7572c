//! Arrow's IPC files and streams: the batches of bytes as one value, and a value as a file.
//!
//! Invariant: the buffers of the value are those of the bytes, but for compressed ones. Bytes from outside give a value or an error: what Arrow's reader would
//! panic on is caught, and lengths are checked before they are used.

mod cover;
mod lacking;
mod nodes;
mod relaxed;
mod shared;
mod stream;

pub(crate) use stream::{IpcReader, guarded};

use super::chunks::{ArrowOptions, from_chunks};
use super::decimals::checked_decimals;
use super::decode::{columns_there, named};
use super::export::to_arrow_field;
use super::levels::checked_columns;
use crate::names::some_names;
use crate::needs::record_of;
use crate::project::Wanted;
use crate::records::is;
use crate::run::Rows;
use crate::source::{MOST, RATIO, unpack};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, StructArray};
use arrow_buffer::Buffer;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_ipc::{CompressionType, Message, MessageHeader, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use cover::covered;
use extenso_core::Value;
use extenso_core::kernels::pool::affordable;
use extenso_ext::StructSpec;
use extenso_types::{Error, Path, Result, Segment};
pub(crate) use lacking::known;
#[cfg(all(test, feature = "parquet"))]
pub(crate) use lacking::make_unknown;
use lacking::schema_in;
use nodes::checked_lengths;
use relaxed::relaxed;
use shared::{apart, without_bytes};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

const MAGIC: &[u8] = b"ARROW1";

/// Whether bytes begin as a file does, and not as a stream.
pub(crate) fn is_ipc_file(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The key in a schema's metadata under which the name of the only column stands, where the value is that column.
const ROOT: &str = "extenso:value";

/// The rows of an IPC file or stream, which its first bytes tell apart; a struct of its columns.
///
/// Columns that neither `spec` nor `paths` ask for are not decoded. Buffers may be compressed, by LZ4 or zstd; the others are those of `bytes`, which
/// may be a file that is mapped into memory. The whole may be packed by gzip or zstd.
///
/// Errors: bytes that are neither, with the place of the first message that is malformed; those of [`from_chunks`].
///
/// ```
/// # use extenso_core::{ExtensionType, Tensor};
/// # use extenso_formats::arrow::{ArrowOptions, read_ipc, write_ipc};
/// let x = extenso_ext::constant(vec![vec![1, 2], vec![], vec![3]]).unwrap();
/// let bytes = write_ipc(&x, false).unwrap();
/// let again = read_ipc(bytes.into(), &ArrowOptions::default()).unwrap();
/// assert_eq!(extenso_ext::to_literal(&again.value).unwrap().to_string(), "[[1, 2], [], [3]]");
/// ```
pub fn read_ipc(bytes: Buffer, options: &ArrowOptions) -> Result<Rows> {
    match unpack(&bytes)? {
        Cow::Borrowed(_) => guarded(|| read(&bytes, options)),
        Cow::Owned(plain) => guarded(|| read(&plain.into(), options)),
    }
}

fn read(bytes: &Buffer, options: &ArrowOptions) -> Result<Rows> {
    let messages = if bytes.starts_with(MAGIC) { of_file(bytes)? } else { of_stream(bytes)? };
    let batches = decoded(messages, options)?;
    match batches.schema.metadata().get(ROOT) {
        Some(name) => {
            let (i, field) = batches.schema.column_with_name(name).ok_or_else(|| {
                Error::data(format!("the file says that its value is '{name}'")).wanted("a column of this name")
            })?;
            let chunks: Vec<ArrayRef> = batches.arrays.iter().map(|batch| batch.column(i).clone()).collect();
            from_chunks(&Arc::new(field.clone()), &chunks, options)
        }
        None => {
            let fields = batches.schema.fields().clone();
            let field: FieldRef = Arc::new(Field::new("", DataType::Struct(fields), false));
            let chunks: Vec<ArrayRef> = batches.arrays.into_iter().map(|batch| Arc::new(batch) as ArrayRef).collect();
            from_chunks(&field, &chunks, options)
        }
    }
}

/// The batches of a file or stream.
struct Batches {
    schema: SchemaRef,
    arrays: Vec<StructArray>,
}

/// One message: its place, its head, and the bytes behind it.
struct Part {
    at: usize,
    head: Buffer,
    body: Buffer,
}

impl Part {
    fn is_dictionary(&self) -> bool {
        root_as_message(&self.head).is_ok_and(|head| head.header_type() == MessageHeader::DictionaryBatch)
    }
}

/// The schema of a file or stream, and its dictionaries and batches in order.
struct Messages {
    schema: Schema,
    version: MetadataVersion,
    parts: Vec<Part>,
}

fn malformed(at: usize, what: impl std::fmt::Display) -> Error {
    Error::data(format!("the IPC bytes are malformed: {what}")).at(format!("byte {at}"))
}

/// The bytes of a range that a file says.
fn cut(bytes: &Buffer, at: usize, len: usize) -> Result<Buffer> {
    if at.checked_add(len).is_none_or(|end| end > bytes.len()) {
        return Err(malformed(at, format!("{len} bytes are said to be here, of {} in all", bytes.len())));
    }
    Ok(bytes.slice_with_length(at, len))
}

fn size(at: usize, bytes: &[u8]) -> Result<usize> {
    let size = <[u8; 4]>::try_from(bytes).map_err(|_| malformed(at, "a length is cut off"))?;
    usize::try_from(i32::from_le_bytes(size)).map_err(|_| malformed(at, "a length is negative"))
}

/// The message at `at`, and where the next begins; none at the end of a stream.
fn message(bytes: &Buffer, at: usize) -> Result<Option<(Part, usize)>> {
    if at >= bytes.len() {
        return Ok(None);
    }
    let mut start = at;
    let mut len = cut(bytes, start, 4)?;
    if len.as_slice() == [0xff; 4] {
        start += 4;
        len = cut(bytes, start, 4)?;
    }
    let len = size(start, &len)?;
    if len == 0 {
        return Ok(None);
    }
    let head = cut(bytes, start + 4, len)?;
    let behind = start + 4 + len;
    let body = cut(bytes, behind, body_length(at, &head)?)?;
    let next = behind + body.len();
    Ok(Some((Part { at, head, body }, next)))
}

fn body_length(at: usize, head: &[u8]) -> Result<usize> {
    let length = root_as_message(head).map_err(|e| malformed(at, e))?.bodyLength();
    usize::try_from(length).map_err(|_| malformed(at, "a length is negative"))
}

/// The schema that the first message of a stream is.
fn schema_of(part: &Part) -> Result<(Schema, MetadataVersion)> {
    let head = root_as_message(&part.head).map_err(|e| malformed(part.at, e))?;
    let schema = schema_in_message(&part.head).ok_or_else(|| malformed(part.at, "the first message is no schema"))?;
    Ok((relaxed(schema), head.version()))
}

/// The schema of a message; none of one that has none.
pub(crate) fn schema_in_message(message: &[u8]) -> Option<Schema> {
    schema_in(message, |message| root_as_message(message).ok()?.header_as_schema())
}

/// Whether bytes are the message of a schema.
pub(crate) fn is_schema(message: &[u8]) -> bool {
    root_as_message(message).is_ok_and(|message| message.header_as_schema().is_some())
}

fn of_stream(bytes: &Buffer) -> Result<Messages> {
    let Some((first, mut at)) = message(bytes, 0)? else {
        return Err(malformed(0, "there is no message").wanted("an IPC file or stream of Arrow"));
    };
    let (schema, version) = schema_of(&first)?;
    let mut parts = Vec::new();
    while let Some((part, next)) = message(bytes, at)? {
        parts.push(part);
        at = next;
    }
    // Its end is a length of 0; what is filled up with zeros ends there too.
    let behind = bytes[at..].strip_prefix(&[0xff; 4]).unwrap_or(&bytes[at..]);
    if behind.iter().any(|byte| *byte != 0) {
        return Err(more_behind(at));
    }
    Ok(Messages { schema, version, parts })
}

/// That a stream ends before its bytes do: rows would be lost without a word.
fn more_behind(at: usize) -> Error {
    malformed(at, "the stream ends, and more bytes stand behind it").wanted("one stream, complete")
}

fn of_file(bytes: &Buffer) -> Result<Messages> {
    let end = bytes.len();
    let odd = |what: &str| malformed(end, what).wanted("a file that ends with its footer");
    let tail = end.checked_sub(10).ok_or_else(|| odd("the file is cut off"))?;
    if &bytes[end - 6..] != MAGIC {
        return Err(odd("the file does not end as it begins"));
    }
    let len = size(tail, &bytes[tail..tail + 4])?;
    let at = tail.checked_sub(len).ok_or_else(|| odd("the footer is longer than the file"))?;
    let footer = cut(bytes, at, len)?;
    let schema = schema_in(&footer, |footer| root_as_footer(footer).ok()?.schema());
    let footer = root_as_footer(&footer).map_err(|e| malformed(at, e))?;
    let schema = relaxed(schema.ok_or_else(|| odd("the footer has no schema"))?);
    let mut parts = Vec::new();
    let blocks = footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
    let mut last = MAGIC.len().next_multiple_of(8);
    for block in blocks {
        let start = usize::try_from(block.offset()).map_err(|_| odd("a batch begins before the file"))?;
        let (part, behind) = message(bytes, start)?.ok_or_else(|| odd("a batch is empty"))?;
        last = last.max(behind);
        parts.push(part);
    }
    if let Some(place) = batch_behind(&bytes.slice_with_length(0, at), last) {
        return Err(malformed(place, "the footer does not tell of this batch").wanted("a file that was not damaged"));
    }
    Ok(Messages { schema, version: footer.version(), parts })
}

/// Where the next batch stands behind the messages of a file that are told of, which may be its schema alone.
fn batch_behind(bytes: &Buffer, mut at: usize) -> Option<usize> {
    while let Ok(Some((part, next))) = message(bytes, at) {
        let kind = root_as_message(&part.head).ok()?.header_type();
        if matches!(kind, MessageHeader::RecordBatch | MessageHeader::DictionaryBatch) {
            return Some(at);
        }
        at = next;
    }
    None
}

fn decoded(messages: Messages, options: &ArrowOptions) -> Result<Batches> {
    let columns = needed(&messages.schema, options)?;
    let mut decoding = Decoding::new(messages.schema, messages.version, columns);
    in_proportion(&messages.parts)?;
    let mut arrays = Vec::new();
    for part in &messages.parts {
        arrays.extend(decoding.take(part)?);
    }
    Ok(Batches { schema: decoding.schema()?, arrays })
}

/// Checks that batches that are held together do not hold far more bytes than they have.
fn in_proportion(parts: &[Part]) -> Result<()> {
    let (mut bytes, mut held) = (0_u64, 0_u64);
    for part in parts {
        let head = root_as_message(&part.head).map_err(|e| malformed(part.at, e))?;
        let dictionary = head.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
        let Some(batch) = head.header_as_record_batch().or(dictionary) else { continue };
        bytes = bytes.saturating_add(part.body.len() as u64);
        held = held.saturating_add(buffers(part, batch)?);
    }
    let most = TOGETHER.max(RATIO.saturating_mul(bytes));
    if held <= most {
        return Ok(());
    }
    let error = Error::data(format!("batches of {bytes} bytes together hold {held}"));
    let error = error.wanted(format!("at most {RATIO} times as many, or {} MB", TOGETHER >> 20));
    Err(error.hint("Run a function over them, which holds one batch at a time"))
}

/// What decodes the dictionaries and batches behind a schema.
struct Decoding {
    whole: SchemaRef,
    version: MetadataVersion,
    /// Which columns are decoded; all, if there is none to leave out.
    columns: Option<Vec<usize>>,
    dictionaries: HashMap<i64, ArrayRef>,
    /// How many bytes the messages had so far.
    bytes: u64,
    /// How many bytes items take by themselves that share them in the messages.
    apart: u64,
    /// How many bytes numbers take that runs of them say, or nulls.
    in_runs: u64,
}

impl Decoding {
    fn new(schema: Schema, version: MetadataVersion, columns: Option<Vec<usize>>) -> Decoding {
        Decoding {
            whole: Arc::new(schema),
            version,
            columns,
            dictionaries: HashMap::new(),
            bytes: 0,
            apart: 0,
            in_runs: 0,
        }
    }

    /// What the batches have.
    fn schema(&self) -> Result<SchemaRef> {
        match &self.columns {
            Some(columns) => Ok(Arc::new(self.whole.project(columns).map_err(|e| malformed(0, e))?)),
            None => Ok(self.whole.clone()),
        }
    }

    /// The batch that a message is; none of a dictionary, which is kept.
    fn take(&mut self, part: &Part) -> Result<Option<StructArray>> {
        let fault = |e: ArrowError| malformed(part.at, e);
        self.bytes = self.bytes.saturating_add(part.body.len() as u64);
        let head: Message<'_> = root_as_message(&part.head).map_err(|e| malformed(part.at, e))?;
        match head.header_type() {
            MessageHeader::DictionaryBatch => {
                let batch = head.header_as_dictionary_batch().ok_or_else(|| malformed(part.at, "no dictionary"))?;
                batch.data().map_or(Ok(()), |data| plausible(part, data, None))?;
                read_dictionary(&part.body, batch, &self.whole, &mut self.dictionaries, &self.version)
                    .map_err(fault)?;
                let words = self.dictionaries.get(&batch.id()).cloned();
                words.map_or(Ok(()), |words| self.bounded(part, words.as_ref()))?;
                Ok(None)
            }
            MessageHeader::RecordBatch => {
                let batch = head.header_as_record_batch().ok_or_else(|| malformed(part.at, "no batch"))?;
                plausible(part, batch, Some(&self.whole))?;
                let (whole, columns) = (self.whole.clone(), self.columns.as_deref());
                let batch = read_record_batch(&part.body, batch, whole, &self.dictionaries, columns, &self.version);
                let records = StructArray::from(batch.map_err(fault)?);
                self.bounded(part, &records)?;
                checked_decimals(&records)?;
                Ok(Some(records))
            }
            _ => Err(malformed(part.at, "a message is neither a dictionary nor a batch")),
        }
    }

    /// Checks that items that share bytes do not take far more by themselves than there came, and numbers in runs and nulls no more than is
    /// stated.
    fn bounded(&mut self, part: &Part, array: &dyn Array) -> Result<()> {
        let most = IN_RUNS.max(RATIO.saturating_mul(self.bytes));
        self.in_runs = self.in_runs.saturating_add(without_bytes(array));
        if self.in_runs > most {
            let what = format!("runs of numbers and nulls say {} bytes, of {} bytes", self.in_runs, self.bytes);
            let error = malformed(part.at, what);
            return Err(error.wanted(format!("at most {RATIO} times as many, or {} MB", IN_RUNS >> 20)));
        }
        let most = MOST.max(RATIO.saturating_mul(self.bytes));
        let size = apart(array, most.saturating_sub(self.apart)).ok_or_else(|| {
            let what =
                format!("items that share their bytes take more than {most} by themselves, of {} bytes", self.bytes);
            malformed(part.at, what).wanted(format!("at most {RATIO} times as many, or {} MB", MOST >> 20))
        })?;
        self.apart = self.apart.saturating_add(size);
        Ok(())
    }
}

/// How many items a column may have without a bit of the batch for each, as nulls have.
const BARE: usize = 1 << 14;

/// How many bytes numbers may take that runs of them or nulls say, and a batch that is compressed, whatever the messages have: honest runs may be
/// long, and zstd packs what is one number over and over to the 30,000th part.
const IN_RUNS: u64 = 256 << 20;

/// How many bytes batches that are held together may hold, whatever they have.
const TOGETHER: u64 = 4 * IN_RUNS;

/// Checks that a batch has a bit for each item that it says outside of runs, so that what is made of it is in proportion, and that its buffers
/// lie in it.
fn plausible(part: &Part, batch: arrow_ipc::RecordBatch<'_>, schema: Option<&Schema>) -> Result<()> {
    let bytes = usize::try_from(buffers(part, batch)?).unwrap_or(usize::MAX);
    proportionate(part, bytes)?;
    let lengths: Vec<i64> = batch.nodes().into_iter().flatten().map(|node| node.length()).collect();
    checked_lengths(batch.length(), &lengths, schema, bytes.saturating_mul(8).saturating_add(BARE)).map_err(|fault| {
        let error = malformed(part.at, format!("{fault}, of a batch of {bytes} bytes"));
        error.wanted(format!("at most {BARE} items without a bit each, and {} in runs", nodes::IN_RUNS))
    })
}

/// How many bytes a batch has, unpacked.
///
/// Errors: buffers that do not lie in it.
fn buffers(part: &Part, batch: arrow_ipc::RecordBatch<'_>) -> Result<u64> {
    let (mut bytes, packed) = (0_usize, batch.compression().is_some());
    for buffer in batch.buffers().into_iter().flatten() {
        let (start, length) = (usize::try_from(buffer.offset()), usize::try_from(buffer.length()));
        let range = start.ok().zip(length.ok()).and_then(|(start, length)| Some(start..start.checked_add(length)?));
        let Some(inside) = range.and_then(|range| part.body.get(range)) else {
            let (start, length) = (buffer.offset(), buffer.length());
            return Err(malformed(part.at, format!("a buffer of {length} bytes begins at {start}"))
                .wanted(format!("one within the {} bytes of the batch", part.body.len())));
        };
        bytes = bytes.saturating_add(if packed { unpacked(part.at, inside)? } else { 0 });
    }
    Ok(if packed { bytes } else { part.body.len() } as u64)
}

/// How many bytes a buffer of a compressed batch says that it holds.
fn unpacked(at: usize, buffer: &[u8]) -> Result<usize> {
    let Some((length, rest)) = buffer.split_first_chunk::<8>() else {
        // A buffer without bytes has no length before them either.
        return if buffer.is_empty() {
            Ok(0)
        } else {
            Err(malformed(at, "the length of a compressed buffer is cut off"))
        };
    };
    match i64::from_le_bytes(*length) {
        // The buffer is not compressed.
        -1 => Ok(rest.len()),
        length => usize::try_from(length).map_err(|_| malformed(at, "a length is negative")),
    }
}

/// Checks that a batch does not hold far more bytes than it has.
fn proportionate(part: &Part, bytes: usize) -> Result<()> {
    let most = IN_RUNS.max(RATIO.saturating_mul(part.body.len() as u64));
    if bytes as u64 > most {
        let error = Error::data(format!("a batch of {} bytes holds {bytes}", part.body.len()));
        let error = error.wanted(format!("at most {RATIO} times as many, or {} MB", IN_RUNS >> 20));
        return Err(error.hint("Write it in batches of fewer rows").at(format!("byte {}", part.at)));
    }
    affordable(bytes)
}

/// The columns that are asked for; all, if there is none to leave out.
///
/// Errors: a path or a field that leads to none; a column of a type that nobody knows.
fn needed(schema: &Schema, options: &ArrowOptions) -> Result<Option<Vec<usize>>> {
    let columns = asked(schema, options)?;
    let is_asked = |column: &usize| columns.as_ref().is_none_or(|columns| columns.contains(column));
    schema.fields().iter().enumerate().filter(|(i, _)| is_asked(i)).try_for_each(|(_, field)| known(field))?;
    Ok(columns)
}

fn asked(schema: &Schema, options: &ArrowOptions) -> Result<Option<Vec<usize>>> {
    if schema.metadata().contains_key(ROOT) {
        return Ok(None);
    }
    let wanted = Wanted::of_paths(options.paths.as_deref()).map_err(|e| e.at("paths"))?;
    let named: Option<Vec<String>> = match &options.spec {
        // An only column may be the value itself.
        Some(spec) => match record_of(spec).filter(|ext| is::<StructSpec>(ext) && schema.fields().len() > 1) {
            Some(ext) => {
                let fields = named(ext).filter(|(name, _)| wanted.field(name).is_some());
                columns_there(&Path::root(), schema.fields(), fields.clone())?;
                Some(fields.map(|(name, _)| name.to_string()).collect())
            }
            None => None,
        },
        None if wanted.is_all() => None,
        None => {
            let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            if let Some(name) = wanted.names().find(|name| !names.contains(name)) {
                let path = Path::root().child(Segment::field(name));
                return Err(Error::missing(format!("there is no column '{path}'"))
                    .wanted(format!("one of: {}", some_names(names))));
            }
            Some(wanted.names().map(str::to_string).collect())
        }
    };
    let place = |named: Vec<String>| {
        let columns = schema.fields().iter().enumerate();
        columns.filter(|(_, field)| named.contains(field.name())).map(|(i, _)| i).collect()
    };
    Ok(named.map(place))
}

/// How the buffers of a file are compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IpcCompression {
    /// Frames of LZ4: fast.
    Lz4,
    /// zstd: small.
    Zstd,
}

/// The bytes of an IPC file, or of a stream, with one batch: a struct as its columns, anything else as one column.
///
/// Errors: those of [`to_arrow`](super::to_arrow).
pub fn write_ipc(value: &Value, stream: bool) -> Result<Vec<u8>> {
    write_ipc_compressed(value, stream, None)
}

/// As [`write_ipc`], with compressed buffers.
///
/// Errors: those of [`to_arrow`](super::to_arrow).
///
/// ```
/// # use extenso_core::Tensor;
/// # use extenso_formats::arrow::{ArrowOptions, IpcCompression, read_ipc, write_ipc_compressed};
/// let zeros = Tensor::from_vec(vec![0_i64; 10_000]).into();
/// let bytes = write_ipc_compressed(&zeros, false, Some(IpcCompression::Zstd)).unwrap();
/// assert!(bytes.len() < 2000);
/// assert_eq!(read_ipc(bytes.into(), &ArrowOptions::default()).unwrap().value.to_string(), zeros.to_string());
/// ```
pub fn write_ipc_compressed(value: &Value, stream: bool, compression: Option<IpcCompression>) -> Result<Vec<u8>> {
    let batch = batch_of(value)?;
    let fault = |e: ArrowError| Error::dtype(format!("Arrow does not write the value: {e}"));
    let codec = compression.map(|compression| match compression {
        IpcCompression::Lz4 => CompressionType::LZ4_FRAME,
        IpcCompression::Zstd => CompressionType::ZSTD,
    });
    let (schema, options) = (batch.schema(), IpcWriteOptions::default().try_with_compression(codec).map_err(fault)?);
    let mut out = Vec::new();
    if stream {
        let mut writer = StreamWriter::try_new_with_options(&mut out, &schema, options).map_err(fault)?;
        readable(batch, codec.is_some())
            .try_for_each(|batch| writer.write(&batch?))
            .and_then(|()| writer.finish())
            .map_err(fault)?;
    } else {
        let mut writer = FileWriter::try_new_with_options(&mut out, &schema, options).map_err(fault)?;
        readable(batch, codec.is_some())
            .try_for_each(|batch| writer.write(&batch?))
            .and_then(|()| writer.finish())
            .map_err(fault)?;
    }
    Ok(out)
}

/// The rows in as many batches as are needed for [`read_ipc`] to take them: rows without a bit each are many in none. Lists of unions are
/// as Arrow's writer wants them.
pub(crate) fn readable(
    batch: RecordBatch,
    compressed: bool,
) -> impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>> {
    let size = |column: &ArrayRef| column.to_data().get_slice_memory_size().unwrap_or(0);
    let bits = batch.columns().iter().map(size).sum::<usize>().saturating_mul(8);
    let n = batch.num_rows();
    let bare = if n > bits.saturating_add(BARE) { BARE } else { n.max(1) };
    // However well they pack, rows of about a half of what a batch may hold are well within that.
    let half = usize::try_from(IN_RUNS / 2).unwrap_or(usize::MAX);
    let parts = if compressed { (bits / 8).div_ceil(half).max(1) } else { 1 };
    let at_once = bare.min(n.div_ceil(parts).max(1));
    // No rows are a batch too.
    (0..n.max(1)).step_by(at_once).map(move |start| covered(batch.slice(start, at_once.min(n - start))))
}

fn batch_of(value: &Value) -> Result<RecordBatch> {
    let (field, array) = to_arrow_field(value)?;
    let fault = |e: ArrowError| Error::internal(format!("Arrow refuses a batch of arrays: {e}"));
    let options = RecordBatchOptions::new().with_row_count(Some(array.len()));
    let named = field.metadata().is_empty() && array.nulls().is_none();
    if let Some(columns) = array.as_struct_opt().filter(|_| named) {
        checked_columns(columns.fields())?;
        let schema = Arc::new(Schema::new(columns.fields().clone()));
        return RecordBatch::try_new_with_options(schema, columns.columns().to_vec(), &options).map_err(fault);
    }
    let metadata = HashMap::from([(ROOT.to_string(), "value".to_string())]);
    let schema = Schema::new_with_metadata(vec![field.as_ref().clone().with_name("value")], metadata);
    checked_columns(schema.fields())?;
    RecordBatch::try_new_with_options(Arc::new(schema), vec![array], &options).map_err(fault)
}
