//! `extenso run`: a saved function over the records of a file, with a progress bar.
//!
//! Invariant: the output file appears under its name whole or not at all.

use crate::messages::Messages;
use crate::{Failure, tell};
use clap::{Args, ValueEnum};
use extenso::formats::source::{
    BadRowsFile, Block, Blocks, Format, SinkOptions, Watch, is_same, open_file, open_reader, open_sink, run_blocks,
    run_to_file,
};
use extenso::formats::{BadRows, OnError, Progress, SourceOptions};
use extenso::{Concrete, Error, save};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Instant;

#[derive(Args)]
pub struct Run {
    /// The file, or the directory of its members.
    file: PathBuf,
    /// The records: JSON, CSV, an Arrow file or stream, messages or TFRecords, packed by gzip or zstd or not, Avro or Parquet; `-` is standard input.
    #[arg(value_name = "DATA", conflicts_with = "input")]
    data: Option<PathBuf>,
    /// The same, by name.
    #[arg(long, short, value_name = "DATA")]
    input: Option<PathBuf>,
    /// Where the results go: Parquet where the name ends in `.parquet`, Avro for `.avro`, an Arrow file for `.arrow`, a stream for `.arrows`, CSV for `.csv`, messages for `.pb` and `.binpb`, TFRecords for `.tfrecord`, otherwise a line of JSON for each row; `-` is standard output.
    #[arg(long, short, default_value = "-", value_name = "FILE")]
    output: PathBuf,
    /// What the records are, where neither their first bytes nor the name say it: json, csv, parquet, avro, arrow, arrows, protobuf, tfrecord.
    #[arg(long, value_name = "FORMAT")]
    from: Option<Format>,
    /// What the results are written as, whatever the name: json, csv, parquet, avro, arrow, arrows, protobuf, tfrecord.
    #[arg(long, value_name = "FORMAT")]
    to: Option<Format>,
    #[command(flatten)]
    messages: Messages,
    /// The message that each result is, where messages are written, or lines of JSON, which are then in the JSON form of it; without it, messages are those of the records.
    #[arg(long, value_name = "NAME")]
    to_message: Option<String>,
    /// Where the rows that did not fit are told of, one line of JSON for each.
    #[arg(long, value_name = "FILE")]
    bad_rows: Option<PathBuf>,
    /// The function, if the file has several.
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// What happens to a row that does not fit.
    #[arg(long, value_enum, default_value_t = Policy::Raise)]
    on_error: Policy,
    /// No progress bar and no summary.
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Policy {
    /// The run fails, and no file is written; what went to standard output before, did.
    Raise,
    /// The row is left out and counted.
    Skip,
    /// The row holds zeros and empty lists, and is counted.
    Default,
}

impl Run {
    pub fn run(&self) -> Result<(), Failure> {
        let module = save::load(&self.file)?;
        let function = function_of(&module, self.function.as_deref())?;
        let started = Instant::now();
        let done = self.pass(&function)?;
        self.report(&done, started.elapsed().as_secs_f64());
        Ok(())
    }

    fn pass(&self, function: &Arc<Concrete>) -> Result<Progress, Failure> {
        if !is_dash(&self.output) && is_same(&self.output, &self.file) {
            let error = Error::value(format!("'{}' is the saved function itself", self.output.display()));
            return Err(error.wanted("another file for the results").at("--output").into());
        }
        if self.bad_rows.as_deref().is_some_and(is_dash) {
            let error = Error::value("'-' is no file");
            return Err(error.wanted("a file, for results and summary have the other streams").at("--bad-rows").into());
        }
        let (source, size) = self.source(function)?;
        let data = self.data.as_deref().or(self.input.as_deref()).unwrap_or(Path::new("-"));
        let of_run = [
            Some(if is_dash(data) { Path::new("/dev/stdin") } else { data }),
            Some(if is_dash(&self.output) { Path::new("/dev/stdout") } else { &*self.output }),
            Some(&*self.file),
            self.messages.descriptor(),
        ];
        let of_run: Vec<&Path> = of_run.into_iter().flatten().collect();
        let created = self.bad_rows.as_deref().map(|path| BadRowsFile::create(path, &of_run));
        let mut bad_rows = created.transpose()?;
        let bar = self.bar(size);
        let mut watch = |done: &Progress, bad: &BadRows| {
            bar.set_position(done.bytes as u64);
            bar.set_message(format!("{} rows", done.rows));
            bad_rows.as_mut().map_or(Ok(()), |file| file.write(bad))
        };
        let done = if is_dash(&self.output) {
            self.print(function, source, &mut watch)
        } else {
            run_to_file(function, source, &self.output, &self.sink()?, &mut watch)
                .map_err(|error| named(error, &self.output).into())
        };
        bar.finish_and_clear();
        done
    }

    /// The records, and how many bytes they are in if that is known.
    fn source(&self, function: &Arc<Concrete>) -> Result<(Box<dyn Blocks>, Option<u64>), Failure> {
        let (on_error, content) = (self.on_error.into(), self.messages.content(self.to_message.is_some())?);
        let options = SourceOptions { format: self.from, on_error, content, ..SourceOptions::default() };
        let dash = Path::new("-");
        let data = self.data.as_deref().or(self.input.as_deref()).unwrap_or(dash);
        let size = match is_dash(data) {
            true => None,
            false => Some(std::fs::metadata(data).map_err(Failure::io(&data.display().to_string()))?.len()),
        };
        Ok((opened(function, data, &options)?, size))
    }

    /// How the results are written.
    fn sink(&self) -> Result<SinkOptions, Failure> {
        let named = self.to_message.as_deref();
        let format = self.to.or_else(|| Format::of_name(&self.output)).unwrap_or(Format::Json);
        if named.is_some() && !matches!(format, Format::Json | Format::Protobuf | Format::TfRecord) {
            let error = Error::value("the results are no messages");
            return Err(error.wanted("an output of messages, or of JSON").at("--to-message").into());
        }
        let message = self.messages.of_results(named)?;
        Ok(SinkOptions { format: self.to, delimiter: None, json: message.clone().filter(|_| named.is_some()), message })
    }

    /// Runs into standard output.
    fn print(
        &self,
        function: &Arc<Concrete>,
        source: Box<dyn Blocks>,
        watch: &mut Watch<'_>,
    ) -> Result<Progress, Failure> {
        let failed = Mutex::new(None);
        let output = Watched { sink: BufWriter::new(std::io::stdout()), failed: &failed };
        let sink = open_sink(&self.sink()?, Box::new(output))?;
        let done = run_blocks(function, source, sink, watch);
        match failed.into_inner().ok().flatten() {
            Some(kind) => Err(Failure::io("standard output")(std::io::Error::from(kind))),
            None => Ok(done?),
        }
    }

    fn bar(&self, size: Option<u64>) -> ProgressBar {
        if self.quiet {
            return ProgressBar::hidden();
        }
        let (bar, template) = match size {
            Some(size) => (ProgressBar::new(size), "{bar:32} {percent:>3}%  {msg}  {bytes_per_sec}  {eta} left"),
            None => (ProgressBar::new_spinner(), "{spinner} {msg}  {bytes}  {bytes_per_sec}"),
        };
        // The template is constant, so it is one.
        bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
    }

    fn report(&self, done: &Progress, seconds: f64) {
        for bad in &done.first {
            tell(&bad.error);
        }
        if done.bad > 0 {
            tell(&format_args!("{} of {} rows did not fit.", done.bad, done.rows));
        }
        if !self.quiet {
            let speed = done.rows as f64 / seconds.max(1e-9);
            let size = crate::inspect::size(done.bytes as u64);
            tell(&format_args!("{} rows, {size}, {seconds:.2} s, {speed:.0} rows/s", done.rows));
        }
    }
}

impl From<Policy> for OnError {
    fn from(policy: Policy) -> OnError {
        match policy {
            Policy::Raise => OnError::Raise,
            Policy::Skip => OnError::Skip,
            Policy::Default => OnError::Default,
        }
    }
}

/// The records of a file, or of standard input where the name is `-`. Errors name it.
pub fn opened(function: &Arc<Concrete>, data: &Path, options: &SourceOptions) -> Result<Box<dyn Blocks>, Failure> {
    let blocks = match is_dash(data) {
        true => open_reader(function, Box::new(BufReader::new(std::io::stdin())), options),
        false => open_file(function, data, options),
    };
    let path = if is_dash(data) { PathBuf::from("standard input") } else { data.to_path_buf() };
    match blocks {
        Ok(blocks) => Ok(Box::new(NamedBlocks { path, blocks })),
        Err(error) => Err(of_source(error, &path).into()),
    }
}

/// The blocks of a source, whose errors name it.
struct NamedBlocks {
    path: PathBuf,
    blocks: Box<dyn Blocks>,
}

impl Blocks for NamedBlocks {
    fn next(&mut self) -> extenso::Result<Option<Block>> {
        self.blocks.next().map_err(|error| of_source(error, &self.path))
    }
}

/// The error of a source, which names it.
fn of_source(error: Error, path: &Path) -> Error {
    if error.is_io() { named(error, path) } else { error.at(path.display().to_string()) }
}

/// What the operating system refused, with the file that it is about unless it names one.
fn named(error: Error, path: &Path) -> Error {
    if error.is_io() && error.file().is_none() {
        return error.with_file(path).at(format!("'{}'", path.display()));
    }
    error
}

fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The function of this name, or the only one.
pub fn function_of(module: &save::Module, name: Option<&str>) -> Result<Arc<Concrete>, Failure> {
    match (name, module.functions.as_slice()) {
        (Some(name), _) => Ok(module.function(name)?.clone()),
        (None, [only]) => Ok(only.clone()),
        (None, several) => {
            let names: Vec<_> = several.iter().map(|f| f.name()).collect();
            let error = Error::value(format!("the file has {} functions", several.len()));
            Err(error.wanted("one").hint(format!("Choose by `--function`: {}", names.join(", "))).into())
        }
    }
}

/// A sink that keeps why it failed: whether the reader of a pipe went away is known to nobody else.
struct Watched<'a, W> {
    sink: W,
    failed: &'a Mutex<Option<std::io::ErrorKind>>,
}

impl<W> Watched<'_, W> {
    fn noted<T>(&self, done: std::io::Result<T>) -> std::io::Result<T> {
        if let Err(e) = &done
            && e.kind() != std::io::ErrorKind::Interrupted
            && let Ok(mut failed) = self.failed.lock()
        {
            *failed = Some(e.kind());
        }
        done
    }
}

impl<W: Write> Write for Watched<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let done = self.sink.write(bytes);
        self.noted(done)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let done = self.sink.flush();
        self.noted(done)
    }
}
