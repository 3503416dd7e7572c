//! `cargo xtask fuzz`: drives the readers of outside bytes with mutated input.
//!
//! The arguments are the fuzzer's own; a run without `--seconds` takes a minute. With `--coverage` it also says how much of the
//! readers was reached, and is slower.

use crate::repo::Repo;
use crate::steps::succeed;
use crate::{Outcome, coverage};

const SECONDS: &str = "60";
const COVERAGE: &str = "--coverage";

/// Runs every target, or the one that is named.
pub fn run(repo: &Repo, args: &[String]) -> Outcome {
    let own: Vec<String> = args.iter().filter(|arg| *arg != COVERAGE).cloned().collect();
    if own.len() < args.len() {
        return coverage::run(repo, "extenso-fuzz", &arguments(&own));
    }
    succeed(repo.cargo("run --release --package extenso-fuzz --").args(arguments(&own)))
}

fn arguments(args: &[String]) -> Vec<String> {
    let mut all = args.to_vec();
    if !args.iter().any(|arg| arg == "--seconds") {
        all.splice(0..0, ["--seconds".to_string(), SECONDS.to_string()]);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(args: &str, expect: &str) {
        let words: Vec<String> = args.split_whitespace().map(str::to_string).collect();
        assert_eq!(arguments(&words).join(" "), expect);
    }

    #[test]
    fn a_run_is_bounded_and_the_bound_can_be_chosen() {
        check("", "--seconds 60");
        check("json", "--seconds 60 json");
        check("--seconds 5 json", "--seconds 5 json");
    }
}
