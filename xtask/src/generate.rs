//! `cargo xtask gen`: writes the files that the op tables generate.
//!
//! The generator is an example of the testkit, because only a crate above the tables can read them.

use crate::repo::Repo;
use crate::steps::succeed;
use crate::{Outcome, only};

/// Writes the generated files, or with `--check` fails when one of them is not what would be written.
pub fn run(repo: &Repo, args: &[String]) -> Outcome {
    only(args, &["--check"])?;
    succeed(repo.example("gen")?.args(args))
}

/// Fails when a generated file is stale, and says how to refresh it.
pub fn check(repo: &Repo) -> Outcome {
    run(repo, &["--check".to_string()])
        .map_err(|failure| format!("{failure}. Where it names stale files, run `cargo xtask gen`."))
}
