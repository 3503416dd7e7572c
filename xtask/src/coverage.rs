//! Coverage of a run by a stable compiler alone: rustc counts, and the counters are read from the profile it leaves.
//!
//! Only the crates that read outside bytes are counted. A counter stands for a region of code, several of which may share one.
//! The layout of the profile is LLVM's, `compiler-rt/include/profile/InstrProfData.inc`; another version of it is an error.

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::Outcome;
use crate::repo::Repo;
use crate::steps::succeed;

/// Set where this program stands in for rustc.
const WRAPPER: &str = "EXTENSO_COUNTED";
const COUNTED: [&str; 2] = ["extenso_formats", "extenso_graph"];

/// Whether cargo calls this program as its compiler.
pub fn is_compiler() -> bool {
    env::var_os(WRAPPER).is_some()
}

/// Compiles as rustc does, with counters in the crates that are counted: `args` begins with the compiler.
pub fn compile(args: &[String]) -> ExitCode {
    let Some((rustc, rest)) = args.split_first() else { return ExitCode::FAILURE };
    let counted = rest.windows(2).any(|pair| pair[0] == "--crate-name" && COUNTED.contains(&pair[1].as_str()));
    // The program that links them brings the runtime that writes the profile.
    let links = rest.windows(2).any(|pair| pair[0] == "--crate-name" && pair[1] == "extenso_fuzz");
    let more: &[&str] = if counted || links { &["-C", "instrument-coverage"] } else { &[] };
    match Command::new(rustc).args(rest).args(more).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Builds a program of the workspace with counters, runs it, and says how many of them were reached.
pub fn run(repo: &Repo, package: &str, args: &[String]) -> Outcome {
    let this = env::current_exe().map_err(|error| format!("this program has no path: {error}"))?;
    let target = repo.target.join("counted");
    let profile = target.join("run.profraw");
    let mut cargo = repo.cargo(&format!("run --release --package {package} --"));
    cargo.args(args).env("CARGO_TARGET_DIR", &target);
    cargo.env("RUSTC_WORKSPACE_WRAPPER", this).env(WRAPPER, "1").env("LLVM_PROFILE_FILE", &profile);
    succeed(&mut cargo)?;
    let (reached, all) = counters(&profile)?;
    let percent = 100.0 * reached as f64 / all.max(1) as f64;
    println!("coverage   {reached} of {all} counters of {} reached, {percent:.0} %", COUNTED.join(" and "));
    Ok(())
}

/// The counters that are not zero, and all.
fn counters(profile: &Path) -> Outcome<(usize, usize)> {
    let bytes = std::fs::read(profile).map_err(|error| format!("{}: {error}", profile.display()))?;
    read(&bytes).ok_or_else(|| format!("{} is no profile of the version that is known", profile.display()))
}

/// Words of the header, by place.
const MAGIC: u64 = u64::from_le_bytes(*b"\x81rforpl\xff");
const VERSION: u64 = 10;
const HEADER: usize = 16;
const RECORD: usize = 64;

fn read(bytes: &[u8]) -> Option<(usize, usize)> {
    let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let size = |place: usize| usize::try_from(word(8 * place)?).ok();
    // The upper byte of the version has flags.
    if word(0)? != MAGIC || word(8)? & 0x00ff_ffff_ffff_ffff != VERSION {
        return None;
    }
    let (ids, records, padding, all) = (size(2)?, size(3)?, size(4)?, size(5)?);
    let first = (8 * HEADER).checked_add(ids)?.checked_add(records.checked_mul(RECORD)?)?.checked_add(padding)?;
    let counters = bytes.get(first..first.checked_add(all.checked_mul(8)?)?)?;
    let reached = counters.chunks_exact(8).filter(|counter| counter.iter().any(|byte| *byte != 0)).count();
    Some((reached, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(version: u64, records: u64, counters: &[u64]) -> Vec<u8> {
        let mut words = vec![MAGIC, version, 8, records, 0, counters.len() as u64];
        words.resize(HEADER, 0);
        words.push(7);
        words.extend(vec![1; usize::try_from(records).expect("few") * RECORD / 8]);
        words.extend(counters);
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn counters_that_are_not_zero_are_reached() {
        assert_eq!(read(&profile(VERSION, 3, &[0, 5, 1 << 40, 0, 1])), Some((3, 5)));
        assert_eq!(read(&profile(VERSION | 1 << 60, 0, &[])), Some((0, 0)));
    }

    #[test]
    fn another_version_or_half_a_profile_is_refused() {
        assert_eq!(read(&profile(9, 1, &[1])), None);
        let whole = profile(VERSION, 1, &[1, 2]);
        (0..whole.len()).for_each(|n| assert_eq!(read(&whole[..n]), None, "{n}"));
    }
}
