//! Writes the files that the op tables generate, or checks that they are fresh: `gen [--check]`.
//!
//! Invariant: what is generated says `@generated` in front and depends on the declarations alone. A further file is
//! one line of [`FILES`] and one module.

mod manual;
mod stubs;

use std::path::Path;
use std::process::ExitCode;

/// A file and what it should hold.
struct Generated {
    /// Its place in the repository.
    path: &'static str,
    /// Its text, which may keep some of the old one.
    make: fn(&str) -> Result<String, String>,
}

const FILES: &[Generated] = &[
    Generated { path: "book/ops.md", make: |_| Ok(manual::ops()) },
    Generated { path: "python/extenso/_core.pyi", make: stubs::stubs },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let done = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => FILES.iter().try_for_each(|file| write(&root, file)),
        ["--check"] => check(&root),
        _ => Err(format!("unknown arguments {args:?}. Wanted: none, or --check.")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("gen: {text}");
            ExitCode::FAILURE
        }
    }
}

fn write(root: &Path, file: &Generated) -> Result<(), String> {
    let (old, new) = texts(root, file)?;
    if old != new {
        std::fs::write(root.join(file.path), new).map_err(|e| format!("{}: {e}", file.path))?;
        println!("wrote {}", file.path);
    }
    Ok(())
}

/// Checks all, so that one run names every stale file.
fn check(root: &Path) -> Result<(), String> {
    let mut stale = Vec::new();
    for file in FILES {
        let (old, new) = texts(root, file)?;
        if old != new {
            stale.push(file.path);
        }
    }
    if stale.is_empty() { Ok(()) } else { Err(format!("stale: {}. Run `cargo xtask gen`.", stale.join(", "))) }
}

/// The text that stands there, and the one that should.
fn texts(root: &Path, file: &Generated) -> Result<(String, String), String> {
    let old = std::fs::read_to_string(root.join(file.path)).unwrap_or_default();
    let new = (file.make)(&old).map_err(|e| format!("{}: {e}", file.path))?;
    Ok((old, new))
}
