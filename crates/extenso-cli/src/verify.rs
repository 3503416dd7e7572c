//! `extenso verify`: whether the records of a file fit what a saved function needs, without running it.

use crate::Failure;
use crate::messages::Messages;
use crate::run::{function_of, opened};
use clap::Args;
use extenso::formats::source::Format;
use extenso::formats::{OnError, SourceOptions};
use extenso::save;
use std::io::Write;
use std::path::PathBuf;

#[derive(Args)]
pub struct Verify {
    /// The file, or the directory of its members.
    file: PathBuf,
    /// The records: JSON, CSV, an Arrow file or stream, messages or TFRecords, packed by gzip or zstd or not, Avro or Parquet; `-` is
    /// standard input.
    data: PathBuf,
    /// The function, if the file has several.
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// What the records are, where neither their first bytes nor the name say it: json, csv, parquet, avro, arrow, arrows, protobuf, tfrecord.
    #[arg(long, value_name = "FORMAT")]
    from: Option<Format>,
    #[command(flatten)]
    messages: Messages,
}

impl Verify {
    /// Decodes the first rows as far as the function needs them.
    pub fn run(&self) -> Result<(), Failure> {
        let module = save::load(&self.file)?;
        let function = function_of(&module, self.function.as_deref())?;
        let content = self.messages.content(false)?;
        let options =
            SourceOptions { format: self.from, on_error: OnError::Raise, content, ..SourceOptions::default() };
        let first = opened(&function, &self.data, &options)?.next()?;
        if let Some(block) = &first {
            function.check_sizes(&block.leaves)?;
        }
        let rows = first.map_or(0, |block| block.rows);
        let paths: Vec<String> = function.required_paths().iter().map(ToString::to_string).collect();
        let text = format!("The first {rows} rows fit. {} reads {}.\n", function.name(), listed(&paths));
        std::io::stdout().write_all(text.as_bytes()).map_err(Failure::io("standard output"))
    }
}

fn listed(paths: &[String]) -> String {
    if paths.is_empty() { "nothing of them".to_string() } else { paths.join(", ") }
}
