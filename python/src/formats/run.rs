//! A function over records: of any format that a source is told or said to be, into a value or into a file.

use super::parquet::{Told, told};
use super::report::PyBadRows;
use super::source::Source;
use super::{framing_of, message_of, with_bytes, with_messages};
use crate::error::{OrRaise, guarded, raised};
use crate::tensor::PyTensor;
use extenso_core::Value;
use extenso_formats::proto::{Content, Framing, run_messages};
use extenso_formats::source::{
    Blocks, Format, SinkOptions, open_file, open_messages, open_reader, run_bytes, run_to_file,
};
use extenso_formats::{BadRows, OnError, Rows, SourceOptions};
use extenso_graph::Concrete;
use extenso_types::{Error, Nest, Result};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the keywords of `run` say of messages.
pub struct Said<'a, 'py> {
    pub descriptor: Option<&'a Bound<'py, PyAny>>,
    pub message: Option<&'a str>,
    pub framing: Option<&'a str>,
    pub target_message: Option<&'a str>,
}

impl Said<'_, '_> {
    /// How the records are read.
    ///
    /// Errors: some of the keywords without others that they want.
    pub fn source(&self, py: Python<'_>, on_error: OnError) -> PyResult<SourceOptions> {
        let content = match (self.descriptor, self.message) {
            (Some(descriptor), Some(name)) => Some(Content::Message(message_of(descriptor, name)?)),
            (None, Some(name)) => Some(Content::of_examples(name).ok_or_else(|| partial(py))?),
            (Some(_), None) if self.target_message.is_none() => return Err(partial(py)),
            (Some(_) | None, None) => None,
        };
        let format = match self.framing.map(|name| framing_of(py, name)).transpose()? {
            Some(_) if content.is_none() => return Err(partial(py)),
            Some(Framing::TfRecord) => Some(Format::TfRecord),
            Some(Framing::Delimited) => Some(Format::Protobuf),
            None => None,
        };
        Ok(SourceOptions { format, on_error, content, ..SourceOptions::default() })
    }

    /// How the results are written.
    ///
    /// Errors: a name without a descriptor.
    pub fn sink(&self, py: Python<'_>, source: &SourceOptions) -> PyResult<SinkOptions> {
        let json = match (self.target_message, self.descriptor) {
            (Some(name), Some(descriptor)) => Some(message_of(descriptor, name)?),
            (Some(_), None) => return Err(partial(py)),
            (None, _) => None,
        };
        let of_records = match &source.content {
            Some(Content::Message(message)) => Some(message.clone()),
            Some(Content::Examples(_)) | None => None,
        };
        Ok(SinkOptions { message: json.clone().or(of_records), json, ..SinkOptions::default() })
    }
}

fn partial(py: Python<'_>) -> PyErr {
    let error = Error::value("some arguments of protocol buffers are given, and others are not");
    let error = error.wanted("`descriptor` and `message` for records, `descriptor` and `target_message` for results");
    raised(py, error.at("run"))
}

/// Whether a source is messages, each an object by itself.
fn is_list(source: &Bound<'_, PyAny>) -> bool {
    source.is_instance_of::<PyList>() || source.is_instance_of::<PyTuple>() || source.is_instance_of::<PyTensor>()
}

/// Runs a function on all records of a source.
pub fn run(
    function: &Arc<Concrete>,
    source: &Bound<'_, PyAny>,
    options: &SourceOptions,
) -> PyResult<Rows<Nest<Value>>> {
    if let Some(content) = options.content.as_ref() {
        if is_list(source) {
            return with_messages(source, None, |list| run_messages(function, list, content, options.on_error));
        }
        return run_whole(function, source, options);
    }
    match told(source)? {
        Told::Parquet(file) => {
            let run = || extenso_formats::source::run_parquet(function, &file, options.on_error);
            source.py().detach(|| guarded(run)).or_raise()
        }
        Told::Other(source) => run_whole(function, &source, options),
    }
}

fn run_whole(
    function: &Arc<Concrete>,
    source: &Bound<'_, PyAny>,
    options: &SourceOptions,
) -> PyResult<Rows<Nest<Value>>> {
    let options = match Source::of(source)? {
        Source::Path(path) => options.named(&path),
        Source::Bytes(_) | Source::Text(_) | Source::Rows(_) | Source::File(_) => options.clone(),
    };
    with_bytes(source, |bytes| run_bytes(function, bytes, &options))
}

/// Runs a function on the records of a source, block by block, into a file; the rows that did not fit are given back under a policy other
/// than raising.
pub fn run_to<'py>(
    function: &Arc<Concrete>,
    source: &Bound<'py, PyAny>,
    target: &Path,
    options: &SourceOptions,
    sink: &SinkOptions,
) -> PyResult<Option<Bound<'py, PyBadRows>>> {
    let py = source.py();
    let bad = if options.content.is_some() && is_list(source) {
        with_messages(source, None, |list| into_file(function, open_messages(function, list, options)?, target, sink))?
    } else {
        let source = match Source::of(source)? {
            Source::Path(path) => Opening::Path(path),
            other => Opening::Reader(other.reader()?),
        };
        let run = || {
            let source: Box<dyn Blocks> = match source {
                Opening::Path(path) => open_file(function, &path, options)?,
                Opening::Reader(reader) => open_reader(function, reader, options)?,
            };
            into_file(function, source, target, sink)
        };
        py.detach(|| guarded(run)).or_raise()?
    };
    match options.on_error {
        OnError::Raise => Ok(None),
        OnError::Skip | OnError::Default => Bound::new(py, PyBadRows::new(bad)).map(Some),
    }
}

fn into_file(
    function: &Arc<Concrete>,
    source: Box<dyn Blocks + '_>,
    target: &Path,
    sink: &SinkOptions,
) -> Result<BadRows> {
    let mut all = BadRows::default();
    run_to_file(function, source, target, sink, &mut |done, bad| {
        all.first.clone_from(&done.first);
        all.rows.extend(&bad.rows);
        (0..bad.defaulted.len()).for_each(|i| all.defaulted.push(bad.defaulted.get(i)));
    })?;
    Ok(all)
}

enum Opening {
    Path(PathBuf),
    Reader(Box<dyn std::io::BufRead + Send>),
}
