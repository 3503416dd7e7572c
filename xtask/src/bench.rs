//! `cargo xtask bench`: measures the release wheel.
//!
//! `--peers` installs the libraries that it is measured beside, and measures whole workloads too. They get an environment
//! of their own, so that the tests never see them.

use crate::Outcome;
use crate::python::{PEERS, TOOLS, Venv};
use crate::repo::Repo;
use crate::steps::{Steps, succeed};

const SCRIPT: &str = "benches/run.py";
const WORKLOADS: &str = "benches/workloads.py";

/// Builds the wheel and runs the benchmarks.
pub fn run(repo: &Repo, args: &[String]) -> Outcome {
    let (peers, passed) = split(args);
    let mut steps = Steps::start();
    let venv = match peers {
        false => Venv::make(repo, &mut steps, "venv", &[TOOLS])?,
        true => Venv::make(repo, &mut steps, "venv-peers", &[TOOLS, PEERS])?,
    };
    venv.install_wheel(&mut steps)?;
    let calls = succeed(venv.command("python").arg(SCRIPT).args(passed));
    let workloads = if peers { succeed(venv.command("python").arg(WORKLOADS)) } else { Ok(()) };
    calls.and(workloads)
}

/// Whether the peers are wanted, and what goes to the script: every other argument but the `--` before them.
fn split(args: &[String]) -> (bool, Vec<&str>) {
    let peers = args.iter().any(|arg| arg == "--peers");
    (peers, args.iter().map(String::as_str).filter(|arg| !matches!(*arg, "--peers" | "--")).collect())
}

#[cfg(test)]
mod tests {
    use super::split;

    fn check(args: &str, expect: (bool, &[&str])) {
        let args: Vec<String> = args.split_whitespace().map(str::to_string).collect();
        assert_eq!(split(&args), (expect.0, expect.1.to_vec()));
    }

    #[test]
    fn the_script_gets_what_is_neither_ours_nor_a_separator() {
        check("", (false, &[]));
        check("-- --build", (false, &["--build"]));
        check("--peers -- --build --json", (true, &["--build", "--json"]));
        check("--build --peers", (true, &["--build"]));
    }
}
