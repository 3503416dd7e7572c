//! The fuzzer: drives the readers of outside bytes with mutated input, on a stable compiler and without any tool.
//!
//! Invariant: a seed gives one sequence of inputs. A target gives a value or an error; a panic, a hang or memory out of
//! proportion ends the run with the input as a Rust byte literal and exit code 1.

mod driver;
mod memory;
mod mutate;
mod targets;

use driver::{Limits, run};
use std::process::ExitCode;
use std::time::Duration;
use targets::{TARGETS, Target};

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
    for target in all {
        match run(target, options.seed, &Limits::of(share)) {
            Ok(count) => println!("{:10} {count:9} inputs, each a value or an error", target.name),
            Err(failure) => {
                println!("{failure}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_runs_briefly() {
        for target in TARGETS {
            let limits = Limits::of(Duration::from_secs_f64(0.3));
            let count = run(target, 1, &limits).unwrap_or_else(|failure| panic!("{failure}"));
            assert!(count > 0, "{}: no input was run", target.name);
        }
    }

    #[test]
    fn a_panic_is_caught_with_its_input() {
        let target = Target {
            name: "panics",
            corpus: || vec![b"abc".to_vec()],
            dictionary: &[],
            run: |bytes| assert!(!bytes.contains(&b'!'), "found it"),
        };
        let failure =
            run(&target, 1, &Limits::of(Duration::from_secs(20))).expect_err("some mutation has a '!'").to_string();
        assert!(failure.contains("panics") && failure.contains("found it") && failure.contains("b\""), "{failure}");
    }

    #[test]
    fn an_unknown_target_is_named() {
        assert!(
            options(["--seconds".to_string(), "5".to_string(), "jsn".to_string()].into_iter())
                .is_err_and(|e| e.contains("jsn"))
        );
    }
}
