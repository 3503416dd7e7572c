//! `cargo xtask bench`: measures calls from Rust by criterion, counts their instructions by gungraun, and measures the release
//! wheel.
//!
//! `--peers` installs the libraries that it is measured beside, and measures whole workloads too. They get an environment
//! of their own, so that the tests never see them.

use crate::Outcome;
use crate::python::{PEERS, TOOLS, Venv};
use crate::repo::Repo;
use crate::steps::{Steps, succeed};

const SCRIPT: &str = "benches/run.py";
const WORKLOADS: &str = "benches/workloads.py";
/// The version of gungraun, whose two halves want to be of one.
const GUNGRAUN: &str = "0.17.2";

/// Runs the benchmarks of Rust, builds the wheel and runs those of Python.
pub fn run(repo: &Repo, args: &[String]) -> Outcome {
    let (peers, passed) = split(args);
    let mut steps = Steps::start();
    times_and_counts(repo, &mut steps)?;
    let venv = match peers {
        false => Venv::make(repo, &mut steps, "venv", &[TOOLS])?,
        true => Venv::make(repo, &mut steps, "venv-peers", &[TOOLS, PEERS])?,
    };
    venv.install_wheel(&mut steps)?;
    let calls = succeed(venv.command("python").arg(SCRIPT).args(passed));
    let workloads = if peers { succeed(venv.command("python").arg(WORKLOADS)) } else { Ok(()) };
    calls.and(workloads)
}

/// Runs the benches of criterion, and those of gungraun where valgrind is there.
fn times_and_counts(repo: &Repo, steps: &mut Steps) -> Outcome {
    steps.command("times", repo.cargo("bench --package extenso-testkit --bench times"))?;
    if repo.command("valgrind").arg("--version").output().is_err() {
        println!("valgrind is not installed: no instructions are counted");
        return Ok(());
    }
    let tools = repo.target.join("tools");
    let mut install = repo.cargo("install --quiet --locked --version");
    install.args([GUNGRAUN, "--root"]).arg(&tools).arg("gungraun-runner");
    steps.command("gungraun-runner", install)?;
    let mut counts = repo.cargo("bench --package extenso-testkit --features counts --bench counts");
    counts.env("GUNGRAUN_RUNNER", tools.join("bin/gungraun-runner"));
    // Names of functions stand behind the debug symbols, which a release has not.
    counts.env("CARGO_PROFILE_BENCH_DEBUG", "line-tables-only").env("CARGO_PROFILE_BENCH_STRIP", "none");
    steps.command("counts", counts)
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
