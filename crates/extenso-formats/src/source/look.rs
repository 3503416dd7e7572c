//! What the records of a source are: a spec that all of those that were looked at can be read by.
//!
//! | of | it is |
//! |---|---|
//! | JSON, CSV | what their values were seen to be |
//! | Parquet, Avro, Arrow | what the file says that they are; masked is what was seen to be missing |
//! | messages | what their descriptor says |
//!
//! Invariant: one block is held. The spec is that of the value that the reader of the format gives, with any number of rows.

#[cfg(feature = "proto")]
use super::no_content;
use super::unpack::unpacked;
use super::{Format, Opened, SourceOptions, Unpacked, csv, json, opened};
#[cfg(feature = "ipc")]
use crate::arrow::picked;
#[cfg(feature = "ipc")]
use crate::ops::any_rows;
use crate::project::Wanted;
#[cfg(feature = "proto")]
use crate::proto::{Content, ProtobufOptions, proto_spec};
#[cfg(feature = "ipc")]
use extenso_core::Value;
#[cfg(feature = "ipc")]
use extenso_types::Bindings;
use extenso_types::{Error, Path, Result, Spec};
use std::io::BufRead;
use std::path::Path as FilePath;

/// What of a source is looked at: `Asked::default()` is all of it.
#[derive(Clone, Default, Debug)]
pub struct Asked {
    /// The parts at or below these paths, such as `items[*].price`; everything, if there is none.
    pub paths: Option<Vec<Path>>,
    /// How many records; all, if there is none. One behind them that does not fit the spec is a bad row.
    pub sample: Option<usize>,
}

/// Rows that are looked at, some at a time.
pub(crate) trait Look {
    /// Looks at the next rows, at most so many; how many there were, and none at the end.
    ///
    /// Errors: malformed bytes; under the policy that raises, rows that do not fit what was seen before.
    fn look(&mut self, most: usize) -> Result<Option<usize>>;

    /// The spec of all rows that were looked at.
    ///
    /// Errors: rows that have none.
    fn spec(&self) -> Result<Spec>;
}

/// The spec of the records of a file, of any format, packed or not.
///
/// ```
/// # use extenso_formats::source::{Asked, SourceOptions, spec_of_reader};
/// let rows = &b"id,score\n1,0.5\n2,\n"[..];
/// let options = SourceOptions { format: Some("csv".parse().unwrap()), ..SourceOptions::default() };
/// assert_eq!(
///     spec_of_reader(Box::new(rows), &options, &Asked::default()).unwrap().to_string(),
///     "StructTensor(id: i64[?], score: MaskedTensor(f64[?], @mask: bool[?]), rank=1)"
/// );
/// ```
///
/// Errors: malformed bytes; under the policy that raises, rows that contradict others; a path that leads nowhere; messages of which nothing says what
/// they are, and examples, whose features a spec must say; what the operating system refuses.
pub fn spec_of_file(path: &FilePath, options: &SourceOptions, asked: &Asked) -> Result<Spec> {
    let found = opened(path, options).and_then(|(opened, options)| match opened {
        #[cfg(feature = "parquet")]
        Opened::Columns(source) => {
            looked_at(Box::new(super::parquet::ParquetLook::new(&source, asked, &options)?), asked, || ())
        }
        Opened::Reader(source) => look(source, &options, asked),
    });
    // What the operating system refuses names the file already.
    let named = |e: Error| if e.is_io() { e } else { e.at(path.display().to_string()) };
    found.map_err(|e| named(e).at("infer_spec"))
}

/// The spec of the records of a stream: see [`spec_of_file`].
///
/// Errors: as [`spec_of_file`].
pub fn spec_of_reader<'a>(
    source: Box<dyn BufRead + Send + 'a>,
    options: &SourceOptions,
    asked: &Asked,
) -> Result<Spec> {
    look(source, options, asked).map_err(|e| e.at("infer_spec"))
}

fn look<'a>(source: Box<dyn BufRead + Send + 'a>, options: &SourceOptions, asked: &Asked) -> Result<Spec> {
    let Unpacked { head, packed, source } = unpacked(source, options.block)?;
    #[cfg(feature = "proto")]
    if let Some(content) = &options.content {
        return spec_of_content(content, asked);
    }
    let rows: Box<dyn Look + 'a> = match options.format_of(&head) {
        Format::Json => Box::new(json::JsonLook::new(source, asked.wanted()?, options)),
        Format::Csv => Box::new(csv::CsvLook::new(source, asked.wanted()?, options)?),
        #[cfg(feature = "ipc")]
        Format::Arrow | Format::Arrows => Box::new(super::arrow::ArrowLook::new(source, asked)?),
        #[cfg(feature = "avro")]
        Format::Avro => Box::new(super::avro::AvroLook::new(source, asked, options)?),
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(super::parquet::ParquetLook::new(&super::whole_columns(source)?, asked, options)?),
        #[cfg(feature = "proto")]
        Format::Protobuf | Format::TfRecord => return Err(no_content()),
        #[cfg(not(all(feature = "ipc", feature = "avro", feature = "parquet", feature = "proto")))]
        other => return Err(super::not_built(other)),
    };
    looked_at(rows, asked, || packed.iter().for_each(|packed| packed.begin_block()))
}

/// The spec of rows that were not looked at yet; `begin` is called before each block.
fn looked_at(mut rows: Box<dyn Look + '_>, asked: &Asked, begin: impl Fn()) -> Result<Spec> {
    let mut left = asked.most()?;
    while left > 0 {
        begin();
        match rows.look(left)? {
            Some(looked) => left = left.saturating_sub(looked),
            None => break,
        }
    }
    rows.spec()
}

/// The spec of messages, which are not looked at.
#[cfg(feature = "proto")]
fn spec_of_content(content: &Content, asked: &Asked) -> Result<Spec> {
    match content {
        Content::Message(message) => {
            proto_spec(message, &ProtobufOptions { paths: asked.paths.clone(), ..ProtobufOptions::default() })
        }
        Content::Examples(_) => {
            let error = Error::missing("the features of examples are said by no descriptor").wanted("a spec of them");
            Err(error.hint("Write the spec: one field for each feature that is read"))
        }
    }
}

impl Asked {
    /// How many records are looked at, at most.
    ///
    /// Errors: a sample of no records.
    pub(crate) fn most(&self) -> Result<usize> {
        match self.sample {
            Some(0) => Err(Error::value("the sample has 0 records").wanted("at least one").at("sample")),
            sample => Ok(sample.unwrap_or(usize::MAX)),
        }
    }

    /// What is wanted.
    ///
    /// Errors: an empty list; a path with other steps than fields and `[*]`.
    pub(crate) fn wanted(&self) -> Result<Wanted> {
        Wanted::of_paths(self.paths.as_deref()).map_err(|e| e.at("paths"))
    }
}

/// What the values of one source have in common: a value without rows.
#[cfg(feature = "ipc")]
#[derive(Default)]
pub(crate) struct Common(Option<Value>);

#[cfg(feature = "ipc")]
impl Common {
    /// Adds a value.
    ///
    /// Errors: one that is of another type than those before.
    pub fn add(&mut self, value: Value) -> Result<()> {
        let none = picked(vec![value], Vec::new())?;
        self.0 = Some(match self.0.take() {
            Some(common) if any_rows(&common.spec()?).accepts(&none.spec()?, &mut Bindings::default()) => common,
            Some(common) => picked(vec![common, none], Vec::new())?,
            None => none,
        });
        Ok(())
    }

    /// The spec of each of them, with any number of rows.
    pub fn spec(&self) -> Result<Spec> {
        let common = self.0.as_ref().ok_or_else(|| Error::internal("nothing was looked at"))?;
        Ok(any_rows(&common.spec()?))
    }
}
