//! `cargo xtask bench`: measures the release wheel.
//!
//! `--peers` installs the libraries that it is measured beside. They get an environment of their own, so that the
//! tests never see them.

use crate::Outcome;
use crate::python::{PEERS, TOOLS, Venv};
use crate::repo::Repo;
use crate::steps::{Steps, succeed};

const SCRIPT: &str = "benches/run.py";

/// Builds the wheel and runs the benchmarks; every argument but `--peers` goes to the script.
pub fn run(repo: &Repo, args: &[String]) -> Outcome {
    let (flags, passed): (Vec<_>, Vec<_>) = args.iter().partition(|arg| *arg == "--peers");
    let mut steps = Steps::start();
    let venv = match flags.is_empty() {
        true => Venv::make(repo, &mut steps, "venv", &[TOOLS])?,
        false => Venv::make(repo, &mut steps, "venv-peers", &[TOOLS, PEERS])?,
    };
    venv.install_wheel(&mut steps)?;
    succeed(venv.command("python").arg(SCRIPT).args(passed))
}
