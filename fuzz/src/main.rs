//! The fuzzer: drives the readers of outside bytes with mutated input, on a stable compiler and without any tool.
//!
//! Invariant: a seed gives one sequence of inputs. A target gives a value or an error; a panic or memory out of proportion
//! ends the run with the input as a Rust byte literal and exit code 1. The input of a hang or of an abort is left in a file.

mod clock;
mod driver;
mod memory;
mod mutate;
mod outcomes;
mod targets;
mod watch;

use driver::run;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use targets::{TARGETS, Target};
use watch::{Watch, end_when_it_hangs};

const USAGE: &str = "extenso-fuzz [--seconds N] [--seed N] [TARGET]";

struct Options {
    seconds: f64,
    seed: u64,
    target: Option<&'static Target>,
}

fn main() -> ExitCode {
    match options(std::env::args().skip(1)) {
        Ok(options) => fuzz(&options),
        Err(text) => {
            let names: Vec<&str> = TARGETS.iter().map(|t| t.name).collect();
            eprintln!("{text}\nUsage: {USAGE}\nTargets: {}", names.join(", "));
            ExitCode::FAILURE
        }
    }
}

fn options(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { seconds: 10.0, seed: 1, target: None };
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|n| n.parse::<u32>().ok()).ok_or(format!("`{arg}` wants a number"));
        match arg.as_str() {
            "--seconds" => options.seconds = number()?.into(),
            "--seed" => options.seed = number()?.into(),
            name => {
                let found = TARGETS.iter().find(|t| t.name == name);
                options.target = Some(found.ok_or(format!("there is no target `{name}`"))?);
            }
        }
    }
    Ok(options)
}

/// Runs the target that is named, or all in turn, each for its share of the time.
fn fuzz(options: &Options) -> ExitCode {
    let all: Vec<&Target> = TARGETS.iter().filter(|t| options.target.is_none_or(|only| only.name == t.name)).collect();
    let share = Duration::from_secs_f64(options.seconds / all.len() as f64);
    std::panic::set_hook(Box::new(|_| {}));
    let path = current_input();
    let Ok(mut watch) = Watch::new(&path) else {
        eprintln!("{} cannot be written", path.display());
        return ExitCode::FAILURE;
    };
    eprintln!("If the process ends without a report, {} has the input.", path.display());
    end_when_it_hangs(path.clone());
    for target in all {
        match run(target, options.seed, share, &mut |input| watch.begin(input)) {
            Ok(report) => println!("{:10} {report}", target.name),
            Err(failure) => {
                println!("{failure}");
                return ExitCode::FAILURE;
            }
        }
    }
    drop(std::fs::remove_file(path));
    ExitCode::SUCCESS
}

fn current_input() -> PathBuf {
    std::env::temp_dir().join(format!("extenso-fuzz-{}", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brief(target: &Target, seconds: f64) -> Result<driver::Report, driver::Failure> {
        run(target, 1, Duration::from_secs_f64(seconds), &mut |_| {})
    }

    /// Memory is counted for the process, so that one test runs them all.
    #[test]
    fn every_target_runs_briefly_and_what_breaks_the_rules_is_caught() {
        let _turn = memory::tests::alone();
        for target in TARGETS {
            // A panic that is caught may still be shown with its callers, and looking up their names takes much memory.
            let shown = std::panic::take_hook();
            std::panic::set_hook(Box::new(|_| {}));
            let report = brief(target, 0.3);
            std::panic::set_hook(shown);
            let report = report.unwrap_or_else(|failure| panic!("{failure}"));
            assert!(report.executions > 0 && report.corpus >= report.seeds, "{}: {report}", target.name);
            assert!(report.kinds.0 + report.kinds.1 > 0, "{} notes nothing: {report}", target.name);
        }
        let broken = Target {
            name: "broken",
            corpus: || vec![b"abc".to_vec()],
            dictionary: &[],
            structure: mutate::Structure::Bytes,
            cost: 64,
            run: |bytes, _| assert!(!bytes.contains(&b'!'), "found it"),
        };
        let failure = brief(&broken, 20.0).err().expect("some mutation has a '!'").to_string();
        assert!(failure.contains("broken") && failure.contains("found it") && failure.contains("b\""), "{failure}");
        let greedy = Target { name: "greedy", run: |_, _| drop(std::hint::black_box(vec![1_u8; 64 << 20])), ..broken };
        let failure = brief(&greedy, 20.0).err().expect("the first input takes too much").to_string();
        assert!(failure.contains("3 bytes took 671") && failure.contains("are in proportion"), "{failure}");
    }

    #[test]
    fn an_unknown_target_is_named() {
        assert!(
            options(["--seconds".to_string(), "5".to_string(), "jsn".to_string()].into_iter())
                .is_err_and(|e| e.contains("jsn"))
        );
    }
}
