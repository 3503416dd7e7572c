//! Where the repository is, where its build output goes, and which files belong to it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::Outcome;
use crate::steps::succeed;

/// The packages that `cargo test` takes. The binding is a library for the Python process and does not link without one; pytest
/// covers it.
pub const TESTED: &str = "--workspace --exclude extenso-py";

/// The repository that the command works on.
pub struct Repo {
    /// The directory of the workspace manifest.
    pub root: PathBuf,
    /// Where cargo, and the Python environments, put what they build.
    pub target: PathBuf,
}

/// A file of the repository.
pub struct File {
    /// From the root, with `/` between the parts.
    pub path: String,
    /// Its whole content; empty for a link and for bytes that are not text.
    pub text: String,
}

impl Repo {
    /// Finds the repository from the package directory that `cargo run` announces.
    pub fn find() -> Outcome<Repo> {
        let package = env::var_os("CARGO_MANIFEST_DIR").ok_or("run this as `cargo xtask`")?;
        let root = Path::new(&package).parent().ok_or("the xtask package has no parent directory")?;
        let target = env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into());
        Ok(Repo { root: root.to_path_buf(), target: root.join(target) })
    }

    /// Returns a command that starts in the root.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        command
    }

    /// Returns a cargo command with `args`, a line of words.
    pub fn cargo(&self, args: &str) -> Command {
        let mut command = self.command("cargo");
        command.args(args.split_whitespace());
        command
    }

    /// Returns a command that runs an example, which is what the tests have built or is built now.
    ///
    /// `cargo run --package` takes the features that the one package asks for, and so builds all that is below it again. So does a
    /// build without a test of the derive macro: what it alone is made of is then left to another kind of link-time optimisation.
    pub fn example(&self, name: &str) -> Outcome<Command> {
        succeed(&mut self.cargo(&format!("build --quiet {TESTED} --test derive --example {name}")))?;
        Ok(self.command(self.target.join("debug/examples").join(name)))
    }

    /// Reads every file that git tracks or would track, sorted by path.
    pub fn files(&self) -> Outcome<Vec<File>> {
        let mut paths = self.git_files()?;
        paths.sort();
        paths.dedup();
        Ok(paths.into_iter().filter_map(|path| self.file(path)).collect())
    }

    fn git_files(&self) -> Outcome<Vec<String>> {
        let output = self
            .command("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .output()
            .map_err(|error| format!("git ls-files: {error}"))?;
        if !output.status.success() {
            return Err(format!("git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim()));
        }
        let names = String::from_utf8_lossy(&output.stdout);
        Ok(names.split('\0').filter(|name| !name.is_empty()).map(str::to_string).collect())
    }

    // A file deleted since the last commit is still listed. A link repeats what is read under its own name.
    fn file(&self, path: String) -> Option<File> {
        let full = self.root.join(&path);
        let meta = fs::symlink_metadata(&full).ok()?;
        let bytes = if meta.is_file() { fs::read(full).ok()? } else { Vec::new() };
        let text = String::from_utf8(bytes).unwrap_or_default();
        Some(if text.contains('\0') { File { path, text: String::new() } } else { File { path, text } })
    }
}
