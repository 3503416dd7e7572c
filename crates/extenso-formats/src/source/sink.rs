//! Where results go: lines of JSON, CSV, Parquet, Avro, files and streams of Arrow, or messages.
//!
//! Invariant: a file appears under its name whole or not at all.

use super::{Blocks, Format, Progress, Watch, plain_name, run_blocks};
#[cfg(feature = "parquet")]
use crate::arrow::{Vocabularies, in_schema, ipc::readable};
use crate::csv::delimiter_of_name;
use crate::csv::encode_rows;
#[cfg(feature = "proto")]
use crate::proto::Content;
use crate::run::encode_ndjson;
#[cfg(feature = "parquet")]
use arrow_schema::SchemaRef;
use extenso_core::Value;
use extenso_graph::Concrete;
use extenso_graph::save::archive::NewFile;
use extenso_types::{Error, Nest, Result};
use std::io::{BufWriter, Write};
use std::path::Path;

/// Takes results block by block.
pub trait Sink {
    /// Writes the results of one block.
    ///
    /// Errors: a result that the format cannot express; what the operating system refuses.
    fn write(&mut self, results: &Nest<Value>) -> Result<()>;

    /// Writes what is left.
    ///
    /// Errors: what the operating system refuses.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Lines of JSON.
pub struct NdjsonSink<W>(pub W);

impl<W: Write> Sink for NdjsonSink<W> {
    fn write(&mut self, results: &Nest<Value>) -> Result<()> {
        Ok(self.0.write_all(&encode_ndjson(results)?)?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        Ok(self.0.flush()?)
    }
}

/// Rows of a table.
pub struct CsvSink<W> {
    sink: W,
    delimiter: u8,
    begun: bool,
}

impl<W: Write> Sink for CsvSink<W> {
    fn write(&mut self, results: &Nest<Value>) -> Result<()> {
        // The names stand before the first block alone.
        let text = encode_rows(results, self.delimiter, !self.begun)?;
        self.begun = true;
        Ok(self.sink.write_all(&text)?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        Ok(self.sink.flush()?)
    }
}

#[cfg(feature = "parquet")]
impl<W: Write + Send> Sink for crate::parquet::ParquetWriter<W> {
    fn write(&mut self, results: &Nest<Value>) -> Result<()> {
        self.write(results)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok((*self).finish()?.flush()?)
    }
}

#[cfg(feature = "avro")]
impl<W: Write> Sink for crate::avro::AvroWriter<W> {
    fn write(&mut self, results: &Nest<Value>) -> Result<()> {
        self.write(results)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok((*self).finish()?.flush()?)
    }
}

/// An IPC file or stream of Arrow, a batch for each block.
#[cfg(feature = "parquet")]
pub struct ArrowSink<W: Write> {
    stream: bool,
    sinking: Sinking<W>,
}

#[cfg(feature = "parquet")]
enum Sinking<W: Write> {
    /// No block has said yet what the columns are.
    New(W),
    /// A file has one vocabulary for each dictionary.
    File(Box<arrow_ipc::writer::FileWriter<W>>, SchemaRef, Vocabularies),
    Stream(Box<arrow_ipc::writer::StreamWriter<W>>, SchemaRef),
    Failed,
}

#[cfg(feature = "parquet")]
impl<W: Write> Sinking<W> {
    fn open(sink: W, schema: SchemaRef, stream: bool) -> Result<Sinking<W>> {
        use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
        Ok(if stream {
            Sinking::Stream(Box::new(StreamWriter::try_new(sink, &schema).map_err(writing)?), schema)
        } else {
            let options = IpcWriteOptions::default().with_dictionary_handling(DictionaryHandling::Delta);
            let writer = FileWriter::try_new_with_options(sink, &schema, options).map_err(writing)?;
            Sinking::File(Box::new(writer), schema, Vocabularies::default())
        })
    }
}

#[cfg(feature = "parquet")]
impl<W: Write> ArrowSink<W> {
    /// A file or a stream that is written into `sink`.
    pub fn new(sink: W, stream: bool) -> ArrowSink<W> {
        ArrowSink { stream, sinking: Sinking::New(sink) }
    }
}

#[cfg(feature = "parquet")]
impl<W: Write> Sink for ArrowSink<W> {
    fn write(&mut self, results: &Nest<Value>) -> Result<()> {
        let batch = crate::arrow::record_batch(results)?;
        let mut opened = match std::mem::replace(&mut self.sinking, Sinking::Failed) {
            Sinking::New(sink) => Sinking::open(sink, batch.schema(), self.stream)?,
            other => other,
        };
        match &mut opened {
            Sinking::File(writer, schema, words) => {
                let batch = words.of_all(in_schema(batch, schema)?)?;
                readable(batch, false).try_for_each(|batch| writer.write(&batch?)).map_err(writing)?;
            }
            Sinking::Stream(writer, schema) => {
                let batch = in_schema(batch, schema)?;
                readable(batch, false).try_for_each(|batch| writer.write(&batch?)).map_err(writing)?;
            }
            Sinking::New(_) | Sinking::Failed => {
                return Err(failed());
            }
        }
        self.sinking = opened;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        match self.sinking {
            Sinking::File(writer, ..) => Ok(writer.into_inner().map_err(writing)?.flush()?),
            Sinking::Stream(writer, _) => Ok(writer.into_inner().map_err(writing)?.flush()?),
            Sinking::New(mut sink) => Ok(sink.flush()?),
            Sinking::Failed => Err(failed()),
        }
    }
}

#[cfg(feature = "parquet")]
fn failed() -> Error {
    Error::value("a write failed before").wanted("a new file")
}

/// The error of a writer of Arrow.
#[cfg(feature = "parquet")]
fn writing(e: arrow_schema::ArrowError) -> Error {
    match e {
        arrow_schema::ArrowError::IoError(_, e) => e.into(),
        other => Error::dtype(format!("Arrow refuses the value: {other}")),
    }
}

/// How results are written.
#[derive(Clone, Default, Debug)]
pub struct SinkOptions {
    /// What as; what the name of the file says if there is none, and lines of JSON if that says nothing.
    pub format: Option<Format>,
    /// What stands between the cells of CSV; what the name of the file says, and a comma if that says nothing.
    pub delimiter: Option<u8>,
    /// Which message the results are, where they are written as messages; byte strings are messages already.
    #[cfg(feature = "proto")]
    pub message: Option<Content>,
    /// Which message each line of JSON is, which is then in the JSON form of it; lines are the results themselves without one.
    #[cfg(feature = "proto")]
    pub json: Option<Content>,
}

/// A sink that writes into `sink`.
///
/// Errors: a format that this build does not have.
pub fn open_sink<'a>(options: &SinkOptions, sink: Box<dyn Write + Send + 'a>) -> Result<Box<dyn Sink + 'a>> {
    match options.format.unwrap_or(Format::Json) {
        Format::Json => lines(options, sink),
        Format::Csv => Ok(Box::new(CsvSink { sink, delimiter: options.delimiter.unwrap_or(b','), begun: false })),
        #[cfg(feature = "avro")]
        Format::Avro => Ok(Box::new(crate::avro::AvroWriter::of_blocks(sink, crate::avro::AvroCodec::default()))),
        #[cfg(feature = "parquet")]
        Format::Parquet => Ok(Box::new(crate::parquet::ParquetWriter::new(sink))),
        #[cfg(feature = "parquet")]
        format @ (Format::Arrow | Format::Arrows) => Ok(Box::new(ArrowSink::new(sink, format == Format::Arrows))),
        #[cfg(feature = "proto")]
        format @ (Format::Protobuf | Format::TfRecord) => {
            Ok(Box::new(super::MessageSink::new(sink, super::framing_of(format), options.message.clone())))
        }
        #[cfg(not(feature = "proto"))]
        Format::Protobuf | Format::TfRecord => {
            drop(sink);
            Err(Error::value("the target is of messages").wanted("a build with the feature `proto`"))
        }
        #[cfg(not(feature = "avro"))]
        Format::Avro => {
            drop(sink);
            Err(Error::value("the target is Avro").wanted("a build with the feature `avro`"))
        }
        #[cfg(not(feature = "parquet"))]
        Format::Parquet | Format::Arrow | Format::Arrows => {
            drop(sink);
            Err(Error::value("the target has columns").wanted("a build with the feature `parquet`"))
        }
    }
}

/// Lines of JSON: of the results, or of the messages that they are said to be.
#[cfg(feature = "proto")]
fn lines<'a>(options: &SinkOptions, sink: Box<dyn Write + Send + 'a>) -> Result<Box<dyn Sink + 'a>> {
    match &options.json {
        Some(Content::Message(message)) => Ok(Box::new(super::JsonMessageSink::new(sink, message.clone()))),
        Some(Content::Examples(_)) => {
            let error =
                Error::value("examples are written in their JSON form").wanted("TFRecords, or messages with lengths");
            Err(error.hint("Give the target such a name or format, or leave out the message").at("target"))
        }
        None => Ok(Box::new(NdjsonSink(sink))),
    }
}

/// Lines of JSON.
#[cfg(not(feature = "proto"))]
fn lines<'a>(_: &SinkOptions, sink: Box<dyn Write + Send + 'a>) -> Result<Box<dyn Sink + 'a>> {
    Ok(Box::new(NdjsonSink(sink)))
}

/// Runs a function on the blocks of a source as [`run_blocks`] does, and writes its results into a file; what its name ends in says what
/// it holds, unless the options do.
///
/// Errors: a name of a packed file, as none is packed here; those of [`run_blocks`], which leave no file behind.
pub fn run_to_file(
    function: &Concrete,
    source: Box<dyn Blocks + '_>,
    path: &Path,
    options: &SinkOptions,
    watch: &mut Watch<'_>,
) -> Result<Progress> {
    plain_name(path)?;
    let writing = |e| Error::of_file(path, e);
    let new = NewFile::create(path)?;
    let mut options = options.clone();
    options.format = options.format.or_else(|| Format::of_name(path));
    options.delimiter = options.delimiter.or(Some(delimiter_of_name(path)));
    let sink = open_sink(&options, Box::new(BufWriter::new(new.file().try_clone().map_err(writing)?)))?;
    let done = run_blocks(function, source, sink, watch)?;
    new.sync().map_err(writing)?;
    new.publish()?;
    Ok(done)
}
