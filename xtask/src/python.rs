//! Python environments under the target directory, and the wheel in them.
//!
//! An environment is made again when its interpreter or one of its requirement files changes, never changed in place:
//! what is installed is what the files say.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::repo::Repo;
use crate::steps::{Steps, succeed};

/// The tools and libraries of the tests.
pub const TOOLS: &str = "python/requirements-dev.txt";
/// The libraries that the benchmarks measure beside Extenso.
pub const PEERS: &str = "benches/requirements.txt";

/// A virtual environment with the requirements installed.
pub struct Venv<'repo> {
    repo: &'repo Repo,
    dir: PathBuf,
}

impl<'repo> Venv<'repo> {
    /// Makes the environment `name` with everything that `requirements` name, or finds it as it was made.
    pub fn make(repo: &'repo Repo, steps: &mut Steps, name: &str, requirements: &[&str]) -> Outcome<Venv<'repo>> {
        let venv = Venv { repo, dir: repo.target.join(name) };
        let stamp = stamp(repo, requirements)?;
        let stamp_file = venv.dir.join("requirements.stamp");
        if fs::read_to_string(&stamp_file).is_ok_and(|made| made == stamp) {
            return Ok(venv);
        }
        steps.task(name, &requirements.join(" "), || {
            venv.build(requirements)?;
            fs::write(&stamp_file, &stamp).map_err(|error| format!("{}: {error}", stamp_file.display()))
        })?;
        Ok(venv)
    }

    fn build(&self, requirements: &[&str]) -> Outcome {
        succeed(self.repo.command("python3").args(["-m", "venv", "--clear"]).arg(&self.dir))?;
        let mut pip = self.tool("python", "-m pip install --quiet --disable-pip-version-check");
        for file in requirements {
            pip.args(["--requirement", file]);
        }
        succeed(&mut pip)
    }

    /// Builds the release wheel with the environment's maturin and installs it over the one before.
    pub fn install_wheel(&self, steps: &mut Steps) -> Outcome {
        let wheels = self.repo.target.join("wheels");
        let mut maturin = self.tool("maturin", "build --release --manifest-path python/Cargo.toml");
        maturin.arg("--out").arg(&wheels).arg("--target-dir").arg(&self.repo.target);
        maturin.arg("--interpreter").arg(self.bin("python"));
        steps.task("wheel", "maturin build --release", || {
            clear(&wheels)?;
            succeed(&mut maturin)
        })?;

        let mut pip = self.tool("python", "-m pip install --quiet --disable-pip-version-check");
        pip.args(["--force-reinstall", "--no-deps"]).arg(only_wheel(&wheels)?);
        steps.command("install", pip)
    }

    /// Returns a command of the environment with `args`, a line of words.
    pub fn tool(&self, program: &str, args: &str) -> Command {
        let mut command = self.command(program);
        command.args(args.split_whitespace());
        command
    }

    /// Returns a command of the environment that sees no other Python.
    pub fn command(&self, program: &str) -> Command {
        let mut command = self.repo.command(self.bin(program));
        command.env("VIRTUAL_ENV", &self.dir).env_remove("PYTHONPATH").env_remove("PYTHONHOME");
        command
    }

    /// Where a program of the environment is.
    pub fn bin(&self, program: &str) -> PathBuf {
        self.dir.join("bin").join(program)
    }
}

fn stamp(repo: &Repo, requirements: &[&str]) -> Outcome<String> {
    let version = repo
        .command("python3")
        .args(["-c", "import sys; print(sys.executable, sys.version)"])
        .output()
        .map_err(|error| format!("`python3` did not start: {error}. Wanted: CPython 3.11 or later."))?;
    let mut stamp = String::from_utf8_lossy(&version.stdout).into_owned();
    for file in requirements {
        let text = fs::read_to_string(repo.root.join(file)).map_err(|error| format!("{file}: {error}"))?;
        stamp.push_str(&text);
    }
    Ok(stamp)
}

// Maturin only adds, and a wheel of an older version must not be the one that is installed.
fn clear(wheels: &Path) -> Outcome {
    match fs::remove_dir_all(wheels) {
        Err(error) if wheels.exists() => Err(format!("{}: {error}", wheels.display())),
        _ => Ok(()),
    }
}

fn only_wheel(wheels: &Path) -> Outcome<PathBuf> {
    let entries = fs::read_dir(wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    let found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .collect();
    match found.as_slice() {
        [wheel] => Ok(wheel.clone()),
        _ => Err(format!("{}: wanted one wheel, found {}", wheels.display(), found.len())),
    }
}
