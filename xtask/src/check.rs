//! `cargo xtask test`: everything a change must pass, the quick steps first.
//!
//! The wheel is built in the release profile and the Rust tests in the dev profile, so neither order saves a compile.

use crate::python::{TOOLS, Venv};
use crate::repo::{Repo, TESTED};
use crate::steps::{Steps, succeed};
use crate::{Outcome, only, tidy};

/// Runs all steps, or those of one flag; the first failure ends the run.
pub fn run(repo: &Repo, args: &[String]) -> Outcome {
    only(args, &["--rust", "--python", "--quick"])?;
    let mut steps = Steps::start();
    match args {
        [] => rust(repo, &mut steps).and_then(|()| python(repo, &mut steps))?,
        [flag] if flag == "--rust" => rust(repo, &mut steps)?,
        [flag] if flag == "--python" => python(repo, &mut steps)?,
        [_] => quick(repo, &mut steps)?,
        _ => return Err("wanted: at most one of --rust, --python, --quick".to_string()),
    }
    steps.finish();
    Ok(())
}

fn rust(repo: &Repo, steps: &mut Steps) -> Outcome {
    steps.command("format", repo.cargo("fmt --all --check"))?;
    steps.command("clippy", repo.cargo("clippy --workspace --all-targets -- -D warnings"))?;
    // Each format is there without the others.
    for features in ["", "ipc", "proto", "avro", "parquet"] {
        let of = format!("--package extenso-formats --no-default-features --features={features}");
        steps.command(&format!("formats: {features}"), repo.cargo(&format!("clippy {of} -- -D warnings")))?;
        steps
            .command(&format!("tests: {features}"), repo.cargo(&format!("clippy {of} --all-targets -- -D warnings")))?;
    }
    steps.command("cargo test", repo.cargo(&format!("test {TESTED}")))?;
    steps.task("recipes", "the main job, on 300 records", || succeed(repo.example("recipes")?.arg("300")))?;
    steps.task("tidy", "house rules and generated files", || tidy::run(repo, &[]))
}

fn quick(repo: &Repo, steps: &mut Steps) -> Outcome {
    steps.command("format", repo.cargo("fmt --all --check"))?;
    steps.task("house rules", "tidy without the generated files", || tidy::house_rules(repo))?;
    steps.command("cargo test", repo.cargo(&format!("test {TESTED} --lib --bins --tests")))
}

fn python(repo: &Repo, steps: &mut Steps) -> Outcome {
    let venv = Venv::make(repo, steps, "venv", &[TOOLS])?;
    venv.install_wheel(steps)?;
    steps.command("pytest", venv.tool("pytest", "python/tests"))?;

    let mut mypy = venv.tool("mypy", "--strict extenso");
    mypy.current_dir(repo.root.join("python"));
    steps.command("mypy", mypy)?;

    // A module of the package is named as a library is: one that is not found would be taken for the other.
    let mut pyright = venv.tool("basedpyright", "--project python --pythonpath");
    pyright.arg(venv.bin("python"));
    steps.command("basedpyright", pyright)?;

    let mut stubtest = venv.tool("python", "-m mypy.stubtest");
    stubtest.args(stubbed_modules(&repo.files()?.iter().map(|file| file.path.as_str()).collect::<Vec<_>>()));
    steps.command("stubtest", stubtest)
}

/// Returns the modules that have a stub beside or instead of a source, by their dotted names.
fn stubbed_modules(paths: &[&str]) -> Vec<String> {
    paths
        .iter()
        .filter_map(|path| path.strip_prefix("python/")?.strip_suffix(".pyi"))
        .filter(|path| path.starts_with("extenso/"))
        .map(|path| path.strip_suffix("/__init__").unwrap_or(path).replace('/', "."))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stubtest_sees_every_stub_of_the_package() {
        let paths = [
            "python/extenso/_core.pyi",
            "python/extenso/nest.py",
            "python/extenso/strings/__init__.pyi",
            "python/tests/helper.pyi",
        ];
        assert_eq!(stubbed_modules(&paths), ["extenso._core", "extenso.strings"]);
    }
}
