//! A function over records: of any format that a source is told or said to be, into a value or into a file.

use super::parquet::{Told, told};
use super::report::PyBadRows;
use super::source::{PyHeld, Source, chunk, is_once, of_source, opened};
use super::target::{PyTarget, path_of};
use super::watch::Watchers;
use super::{framing_of, message_of, of_objects, policy, with_bytes, with_messages, with_report};
use crate::arrow::{Coming, PyChunks, chunks, has_arrays};
use crate::error::{OrRaise, guarded, raised};
use crate::function::nest_to_py;
use crate::tensor::PyTensor;
use extenso_core::Value;
use extenso_formats::proto::{Content, Framing, run_messages};
use extenso_formats::source::{
    Asked, Blocks, Format, SinkOptions, open_arrays, open_file, open_messages, open_reader, open_sink, run_arrays,
    run_blocks, run_bytes, run_to_file, spec_of_arrays, spec_of_file, spec_of_reader,
};
use extenso_formats::{BadRows, JsonOptions, OnError, Progress, Rows, SourceOptions};
use extenso_graph::Concrete;
use extenso_types::{Error, Nest, Result, Spec};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use std::io::{BufRead, BufWriter};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// What the keywords of `run` say of formats and messages.
pub struct Said<'a, 'py> {
    pub format: Option<&'a str>,
    pub target_format: Option<&'a str>,
    pub descriptor: Option<&'a Bound<'py, PyAny>>,
    pub message: Option<&'a str>,
    pub framing: Option<&'a str>,
    pub target_message: Option<&'a str>,
}

impl Said<'_, '_> {
    /// How the records are read.
    ///
    /// Errors: some of the keywords without others that they want; a format and a framing that are two.
    pub fn source(&self, py: Python<'_>, on_error: OnError) -> PyResult<SourceOptions> {
        let content = match (self.descriptor, self.message) {
            (Some(descriptor), Some(name)) => Some(Content::Message(message_of(descriptor, name)?)),
            (None, Some(name)) => Some(Content::of_examples(name).ok_or_else(|| partial(py))?),
            (Some(_), None) if self.target_message.is_none() => return Err(partial(py)),
            (Some(_) | None, None) => None,
        };
        let framed = match self.framing.map(|name| framing_of(py, name)).transpose()? {
            Some(_) if content.is_none() => return Err(partial(py)),
            Some(Framing::TfRecord) => Some(Format::TfRecord),
            Some(Framing::Delimited) => Some(Format::Protobuf),
            None => None,
        };
        let named = format_of(self.format, "format")?;
        if let (Some(_), Some(_), true) = (named, framed, named != framed) {
            let error = Error::value("`format` and `framing` say two different things").wanted("one of them");
            return Err(raised(py, error.at("run")));
        }
        Ok(SourceOptions { format: named.or(framed), on_error, content, ..SourceOptions::default() })
    }

    /// How the results are written.
    ///
    /// Errors: a name without a descriptor; a format that is none.
    pub fn sink(&self, py: Python<'_>, source: &SourceOptions) -> PyResult<SinkOptions> {
        let json = match (self.target_message, self.descriptor) {
            (Some(name), Some(descriptor)) => Some(Content::Message(message_of(descriptor, name)?)),
            (Some(name), None) => Some(Content::of_examples(name).ok_or_else(|| partial(py))?),
            (None, _) => None,
        };
        let format = format_of(self.target_format, "target_format")?;
        Ok(SinkOptions { format, delimiter: None, message: json.clone().or_else(|| source.content.clone()), json })
    }
}

/// The format of this name.
///
/// Errors: another name.
pub fn format_of(name: Option<&str>, argument: &str) -> PyResult<Option<Format>> {
    name.map(|name| name.parse().map_err(|e: Error| e.at(argument))).transpose().or_raise()
}

/// The spec of the records of a source, of which the options of JSON say what is looked at.
///
/// Errors: those of `infer_spec`.
pub fn spec_in(py: Python<'_>, source: Source<'_>, options: &SourceOptions, looked: &JsonOptions) -> PyResult<Spec> {
    if let Source::Rows(_) = source {
        no_format(py, options)?;
    }
    if let Some(spec) = of_objects(py, &source, looked.clone(), usize::MAX)?.spec {
        return Ok(spec);
    }
    let asked = Asked { paths: looked.paths.clone(), sample: looked.sample };
    let opening = opening(source)?.0;
    let look = || match opening {
        Opening::Path(path) if is_once(&path) => spec_of_file(&path, options, &asked),
        Opening::Path(path) => opened(&path).and_then(|_| spec_of_file(&path, options, &asked)),
        Opening::Reader(reader) => spec_of_reader(reader, options, &asked),
    };
    py.detach(|| guarded(look)).or_raise()
}

fn partial(py: Python<'_>) -> PyErr {
    let error = Error::value("some arguments of protocol buffers are given, and others are not");
    let error = error.wanted("`descriptor` and `message` for records, `descriptor` and `target_message` for results");
    raised(py, error.at("run"))
}

/// A source that `run` is called with, and the spec of its records. What a file object or a pipe has is read once, and is the source then.
///
/// Errors: those of `infer_spec`; some of the keywords of messages without others.
pub fn with_spec<'py>(
    source: &Bound<'py, PyAny>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<(Bound<'py, PyAny>, Spec)> {
    let py = source.py();
    let keyword = |name: &str| match keywords.map(|keywords| keywords.get_item(name)).transpose()?.flatten() {
        Some(object) if !object.is_none() => Ok::<_, PyErr>(Some(object)),
        Some(_) | None => Ok(None),
    };
    let text = |name: &str| keyword(name)?.map(|object| object.extract::<String>()).transpose();
    let (format, message, framing, on_error) = (text("format")?, text("message")?, text("framing")?, text("on_error")?);
    let descriptor = keyword("descriptor")?.filter(|_| message.is_some());
    let said = Said {
        format: format.as_deref(),
        target_format: None,
        descriptor: descriptor.as_ref(),
        message: message.as_deref(),
        framing: framing.as_deref(),
        target_message: None,
    };
    let options = said.source(py, policy(py, on_error.as_deref().unwrap_or("raise"))?)?;
    if has_arrays(source)? && !is_list(source) {
        no_message(py, &options)?;
    }
    if options.content.is_some() {
        let spec = spec_of_reader(Box::new(std::io::empty()), &options, &Asked::default()).or_raise()?;
        return Ok((source.clone(), spec));
    }
    let looked = JsonOptions { on_error: options.on_error, ..JsonOptions::default() };
    if has_arrays(source)? {
        no_format(py, &options)?;
        let held = PyChunks(chunks(source, "run")?);
        let (field, arrays) = (&held.0.field, &held.0.arrays);
        let spec = py.detach(|| guarded(|| spec_of_arrays(field, arrays, &Asked::default()))).or_raise()?;
        return Ok((Bound::new(py, held)?.into_any(), spec));
    }
    if let Some(held) = PyHeld::of(source)? {
        let (bytes, options) = (held.get().bytes(py), options.named(held.get().path()));
        let spec = spec_in(py, Source::of(&bytes)?, &options, &looked)?;
        return Ok((held.into_any(), spec));
    }
    let source = match Source::of(source)? {
        Source::File(file) => PyBytes::new(py, &chunk(&file.call_method0("read")?)?).into_any(),
        _ => source.clone(),
    };
    let spec = spec_in(py, Source::of(&source)?, &options, &looked)?;
    Ok((source, spec))
}

/// Checks that objects that are records already are not said to have a format.
fn no_format(py: Python<'_>, options: &SourceOptions) -> PyResult<()> {
    if options.format.is_none() {
        return Ok(());
    }
    let error = Error::value("a list, a tensor or a table is records already, and has no format");
    Err(raised(py, error.wanted("bytes, a path or a file object").at("format")))
}

/// Checks that a table is not said to be messages.
fn no_message(py: Python<'_>, options: &SourceOptions) -> PyResult<()> {
    if options.content.is_none() {
        return Ok(());
    }
    let error = Error::value("a table is records already, and no messages").wanted("bytes, a path, or a list of bytes");
    Err(raised(py, error.hint("Give a column of messages as a list, or parse it with `ex.parse_proto`").at("message")))
}

/// Whether a source is records or messages, each an object by itself.
fn is_list(source: &Bound<'_, PyAny>) -> bool {
    source.is_instance_of::<PyList>() || source.is_instance_of::<PyTuple>() || source.is_instance_of::<PyTensor>()
}

/// A function over the records of a source.
pub struct Run<'a, 'py> {
    function: &'a Arc<Concrete>,
    source: Bound<'py, PyAny>,
    options: SourceOptions,
    watchers: Watchers,
}

impl<'a, 'py> Run<'a, 'py> {
    /// A run that is ready to begin.
    ///
    /// Errors: a format for objects, which have none.
    pub fn new(
        function: &'a Arc<Concrete>,
        source: &Bound<'py, PyAny>,
        options: SourceOptions,
        watchers: Watchers,
    ) -> PyResult<Run<'a, 'py>> {
        let (list, arrays) = (is_list(source), has_arrays(source)?);
        if list || arrays {
            no_format(source.py(), &options)?;
        }
        if arrays && !list {
            no_message(source.py(), &options)?;
        }
        let run = Run { function, source: source.clone(), options, watchers };
        if source.is_instance_of::<PyHeld>() { run.held() } else { Ok(run) }
    }

    /// The run over what a pipe has, which is looked at before it is read.
    fn held(self) -> PyResult<Run<'a, 'py>> {
        let Some(held) = PyHeld::of(&self.source)? else { return Ok(self) };
        let options = self.options.named(held.get().path());
        Ok(Run { source: held.get().bytes(held.py()), options, ..self })
    }

    /// The results, and the bad rows where the policy leaves some.
    pub fn results(self) -> PyResult<Bound<'py, PyAny>> {
        let (py, on_error) = (self.source.py(), self.options.on_error);
        if self.watchers.has_progress() {
            let error = Error::missing("`progress` is given, and no target").wanted("`target`");
            let hint = "Without a target all rows are decoded, and then the function runs once";
            return Err(raised(py, error.hint(hint).at("run")));
        }
        let run = self.held()?;
        let ran = run.ran()?;
        let mut watchers = run.watchers;
        let told = || {
            watchers.bad(&ran.bad)?;
            watchers.finish(&Progress::default())
        };
        py.detach(|| guarded(told)).or_raise()?;
        with_report(nest_to_py(py, &ran.value)?, ran.bad, on_error)
    }

    fn ran(&self) -> PyResult<Rows<Nest<Value>>> {
        let Run { function, source, options, .. } = self;
        if let Some(content) = options.content.as_ref() {
            if is_list(source) {
                return with_messages(source, None, "run", |list| {
                    run_messages(function, list, content, options.on_error)
                });
            }
            return self.whole(source);
        }
        if options.format.is_some() {
            return self.whole(source);
        }
        if has_arrays(source)? {
            let stream = Coming::of(source, "run")?;
            let field = stream.field.clone();
            let run = || run_arrays(function, &field, Box::new(stream), options.on_error);
            return source.py().detach(|| guarded(run).map_err(|e| of_source(e, None, "run"))).or_raise();
        }
        match told(source)? {
            Told::Parquet(file) => {
                let path = path_of(Some(source))?;
                let run = || extenso_formats::source::run_parquet(function, &file, options.on_error);
                source.py().detach(|| guarded(run).map_err(|e| of_source(e, path.as_deref(), "run"))).or_raise()
            }
            Told::Other(source) => self.whole(&source),
        }
    }

    fn whole(&self, source: &Bound<'_, PyAny>) -> PyResult<Rows<Nest<Value>>> {
        let options = match Source::of(source)? {
            Source::Path(path) => self.options.named(&path),
            Source::Bytes(_) | Source::Text(_) | Source::Rows(_) | Source::File(_) => self.options.clone(),
        };
        with_bytes(source, "run", |bytes| run_bytes(self.function, bytes, &options))
    }

    /// Runs block by block into a file; gives the bad rows where the policy leaves some.
    pub fn into_target(self, target: &Bound<'py, PyAny>, sink: &SinkOptions) -> PyResult<Bound<'py, PyAny>> {
        let Run { function, source, options, watchers } = self;
        let py = source.py();
        let target = match path_of(Some(target))? {
            Some(path) => Target::Path(path),
            None => Target::File(PyTarget::of(target)?),
        };
        let bad = if options.content.is_some() && is_list(&source) {
            let once = Mutex::new(Some((target, watchers)));
            with_messages(&source, None, "run", |list| {
                let held = once.lock().ok().and_then(|mut held| held.take());
                let (target, watchers) = held.ok_or_else(|| Error::internal("messages are read twice"))?;
                into_file(function, open_messages(function, list, &options)?, target, sink, watchers)
            })?
        } else if options.content.is_none() && has_arrays(&source)? {
            let stream = Coming::of(&source, "run")?;
            let field = stream.field.clone();
            let run = || {
                let blocks = open_arrays(function, &field, Box::new(stream), options.on_error)?;
                into_file(function, blocks, target, sink, watchers)
            };
            py.detach(|| guarded(run).map_err(|e| of_source(e, None, "run"))).or_raise()?
        } else {
            let (source, size) = opening(Source::of(&source)?)?;
            let watchers = watchers.of_size(size);
            let path = match &source {
                Opening::Path(path) => Some(path.clone()),
                Opening::Reader(_) => None,
            };
            let run = || {
                let source: Box<dyn Blocks> = match source {
                    Opening::Path(path) => open_file(function, &path, &options)?,
                    Opening::Reader(reader) => open_reader(function, reader, &options)?,
                };
                into_file(function, source, target, sink, watchers)
            };
            py.detach(|| guarded(run).map_err(|e| of_source(e, path.as_deref(), "run"))).or_raise()?
        };
        match options.on_error {
            OnError::Raise => Ok(py.None().into_bound(py)),
            OnError::Skip | OnError::Default => Bound::new(py, PyBadRows::new(bad)).map(Bound::into_any),
        }
    }
}

/// Where results go.
enum Target {
    Path(PathBuf),
    File(PyTarget),
}

enum Opening {
    Path(PathBuf),
    Reader(Box<dyn BufRead + Send>),
}

/// A source that is not opened yet, and how many bytes it has if that is known.
fn opening(source: Source<'_>) -> PyResult<(Opening, Option<u64>)> {
    Ok(match source {
        Source::Path(path) => {
            // What cannot be looked at is told of by who opens it.
            let about = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file);
            let size = about.map(|about| about.len());
            (Opening::Path(path), size)
        }
        other => {
            let size = other.size();
            (Opening::Reader(other.reader()?), size)
        }
    })
}

fn into_file(
    function: &Arc<Concrete>,
    source: Box<dyn Blocks + '_>,
    target: Target,
    sink: &SinkOptions,
    mut watchers: Watchers,
) -> Result<BadRows> {
    let mut all = BadRows::default();
    let mut watch = |done: &Progress, bad: &BadRows| {
        all.first.clone_from(&done.first);
        all.rows.extend(&bad.rows);
        (0..bad.defaulted.len()).for_each(|i| all.defaulted.push(bad.defaulted.get(i)));
        watchers.block(done, bad)
    };
    let done = match target {
        Target::Path(path) => run_to_file(function, source, &path, sink, &mut watch)?,
        Target::File(file) => {
            let sink = open_sink(sink, Box::new(BufWriter::with_capacity(WRITTEN, file)))?;
            run_blocks(function, source, sink, &mut watch)?
        }
    };
    watchers.finish(&done)?;
    Ok(all)
}

/// How much is written to a file object at a time.
const WRITTEN: usize = 1 << 16;
