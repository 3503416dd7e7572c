//! The command line: `extenso inspect FILE` shows a saved function, `extenso run FILE DATA` runs it over records, `extenso verify FILE DATA` says
//! whether they fit.
//!
//! Knows no file format and no op: what it shows and does is the facade's. Results go to standard output or a file, everything
//! else to standard error. An error exits with 1, wrong usage with 2.

mod inspect;
mod messages;
mod run;
mod tree;
mod verify;

use clap::{Parser, Subcommand};
use std::io::Write;
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "extenso", version, about = "Saved functions over nested records: look at them, run them.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Shows a saved file: its functions, what they read of a record, their graphs, its types.
    Inspect(inspect::Inspect),
    /// Runs a saved function over the records of a file.
    Run(run::Run),
    /// Says whether the records of a file fit a saved function, without running it.
    Verify(verify::Verify),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Inspect(inspect) => inspect.run(),
        Command::Run(run) => run.run(),
        Command::Verify(verify) => verify.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of a pipe went away: there is nobody left to tell.
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            tell(&format_args!("extenso: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Writes lines to standard error, if anybody reads it, without what data may have in it that moves the cursor of a terminal.
fn tell(lines: &dyn std::fmt::Display) {
    let mut shown = String::new();
    for c in lines.to_string().chars() {
        if c.is_control() && c != '\n' { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    let _ = writeln!(std::io::stderr(), "{shown}");
}

/// Why a command failed.
#[derive(Debug)]
enum Failure {
    Extenso(extenso::Error),
    Io(String, std::io::Error),
}

impl Failure {
    fn is_broken_pipe(&self) -> bool {
        matches!(self, Failure::Io(_, e) if e.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// The error of the operating system over a file.
    fn io(path: &str) -> impl FnOnce(std::io::Error) -> Failure {
        let path = path.to_string();
        |e| Failure::Io(path, e)
    }
}

impl From<extenso::Error> for Failure {
    fn from(e: extenso::Error) -> Failure {
        Failure::Extenso(e)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Extenso(e) => e.fmt(f),
            Failure::Io(path, e) => write!(f, "{path}: {e}."),
        }
    }
}
