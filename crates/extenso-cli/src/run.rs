//! `extenso run`: a saved function over lines of JSON, with a progress bar.
//!
//! Invariant: the output file appears under its name whole or not at all.

use crate::Failure;
use clap::{Args, ValueEnum};
use extenso::formats::{OnError, Progress, run_lines, run_ndjson};
use extenso::{Concrete, save};
use indicatif::{ProgressBar, ProgressStyle};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// How much text one block has: enough to fill the threads, little beside the memory.
const BLOCK: usize = 8 << 20;

#[derive(Args)]
pub struct Run {
    /// The file, or the directory of its members.
    file: PathBuf,
    /// Lines of JSON, or one array of records; `-` is standard input.
    #[arg(long, short, default_value = "-", value_name = "FILE")]
    input: PathBuf,
    /// Where the results go, one line for each row; `-` is standard output.
    #[arg(long, short, default_value = "-", value_name = "FILE")]
    output: PathBuf,
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
    /// The run fails and writes nothing.
    Raise,
    /// The row is left out and counted.
    Skip,
    /// The row holds zeros and empty lists, and is counted.
    Default,
}

impl Run {
    pub fn run(&self) -> Result<(), Failure> {
        let module = save::load(&self.file)?;
        let function = self.function_of(&module)?;
        let started = Instant::now();
        let done = if is_dash(&self.output) {
            self.pass(&function, &mut BufWriter::new(std::io::stdout().lock()))?
        } else {
            self.pass_to_file(&function)?
        };
        self.report(&done, started.elapsed().as_secs_f64());
        Ok(())
    }

    fn function_of(&self, module: &save::Module) -> Result<Arc<Concrete>, Failure> {
        match (&self.function, module.functions.as_slice()) {
            (Some(name), _) => Ok(module.function(name)?.clone()),
            (None, [only]) => Ok(only.clone()),
            (None, several) => {
                let names: Vec<_> = several.iter().map(|f| f.name()).collect();
                let error = extenso::Error::value(format!("the file has {} functions", several.len()));
                Err(error.wanted("one").hint(format!("Choose by `--function`: {}", names.join(", "))).into())
            }
        }
    }

    /// Writes beside the output and gives the file its name at the end.
    fn pass_to_file(&self, function: &Arc<Concrete>) -> Result<Progress, Failure> {
        let mut name = self.output.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.part", std::process::id()));
        let part = self.output.with_file_name(name);
        let shown = part.display().to_string();
        let file = File::create_new(&part).map_err(Failure::io(&shown))?;
        let mut sink = BufWriter::new(file);
        let done = self.pass(function, &mut sink).and_then(|done| {
            sink.get_ref().sync_all().map_err(Failure::io(&shown))?;
            std::fs::rename(&part, &self.output).map_err(Failure::io(&self.output.display().to_string()))?;
            Ok(done)
        });
        if done.is_err() {
            let _ = std::fs::remove_file(&part);
        }
        done
    }

    fn pass(&self, function: &Arc<Concrete>, sink: &mut dyn Write) -> Result<Progress, Failure> {
        let (mut source, size): (Box<dyn BufRead>, _) = if is_dash(&self.input) {
            (Box::new(BufReader::new(std::io::stdin())), None)
        } else {
            let path = self.input.display().to_string();
            let file = File::open(&self.input).map_err(Failure::io(&path))?;
            let size = file.metadata().map_err(Failure::io(&path))?.len();
            (Box::new(BufReader::new(file)), Some(size))
        };
        let on_error = self.on_error.into();
        let head = source.fill_buf().map_err(Failure::io(&self.input.display().to_string()))?;
        if head.trim_ascii_start().first() == Some(&b'[') {
            return self.array(function, &mut source, sink);
        }
        let bar = self.bar(size);
        let mut sink = Watched { sink, failed: None };
        let done = run_lines(function, source, &mut sink, on_error, BLOCK, &mut |done| {
            bar.set_position(done.bytes as u64);
            bar.set_message(format!("{} rows", done.rows));
        });
        bar.finish_and_clear();
        match sink.failed {
            Some(kind) => Err(Failure::io(&self.output.display().to_string())(kind.into())),
            None => Ok(done?),
        }
    }

    /// An array of records is read whole: it has no lines to cut it at.
    fn array(
        &self,
        function: &Arc<Concrete>,
        source: &mut dyn BufRead,
        sink: &mut dyn Write,
    ) -> Result<Progress, Failure> {
        let mut text = Vec::new();
        source.read_to_end(&mut text).map_err(Failure::io(&self.input.display().to_string()))?;
        let ran = run_ndjson(function, &text, self.on_error.into())?;
        sink.write_all(&ran.value)
            .and_then(|()| sink.flush())
            .map_err(Failure::io(&self.output.display().to_string()))?;
        let rows = ran.value.iter().filter(|byte| **byte == b'\n').count();
        Ok(Progress { rows, bytes: text.len(), bad: ran.bad.count(), first: ran.bad.first })
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
            eprintln!("{}", bad.error);
        }
        if done.bad > 0 {
            eprintln!("{} of {} rows did not fit.", done.bad, done.rows);
        }
        if !self.quiet {
            let speed = done.rows as f64 / seconds.max(1e-9);
            let size = crate::inspect::size(done.bytes as u64);
            eprintln!("{} rows, {size}, {seconds:.2} s, {speed:.0} rows/s", done.rows);
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

fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A sink that keeps why it failed: whether the reader of a pipe went away is known to nobody else.
struct Watched<'a> {
    sink: &'a mut dyn Write,
    failed: Option<std::io::ErrorKind>,
}

impl Watched<'_> {
    fn noted<T>(&mut self, done: std::io::Result<T>) -> std::io::Result<T> {
        if let Err(e) = &done
            && e.kind() != std::io::ErrorKind::Interrupted
        {
            self.failed = Some(e.kind());
        }
        done
    }
}

impl Write for Watched<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let done = self.sink.write(bytes);
        self.noted(done)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let done = self.sink.flush();
        self.noted(done)
    }
}
