//! Invariant: every crate begins by saying what it is.

use super::{Fault, File, named};

/// Finds crate roots that do not begin with a module doc.
pub fn faults(files: &[File]) -> Vec<Fault> {
    named(files, &["src/lib.rs", "src/main.rs"])
        .filter(|file| !file.text.trim_start().starts_with("//! "))
        .map(|file| Fault::at(file, 0, "no module doc. Begin with `//! What this is.`, then its invariant and limits."))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::faults;

    #[test]
    fn a_crate_without_a_doc_is_found() {
        let roots = [("crates/a/src/lib.rs", "// A.\n//! A."), ("crates/b/src/main.rs", "fn main() {}")];
        check(faults, &roots, &["crates/a/src/lib.rs:1", "crates/b/src/main.rs:1"]);
        check(faults, &[("crates/a/src/lib.rs", "\n//! A.\n"), ("crates/a/src/b.rs", "fn f() {}")], &[]);
    }
}
