//! `cargo xtask tidy`: the house rules that no compiler checks, and whether generated files are fresh.
//!
//! A rule is a function from the files of the repository to faults; it reads nothing else, so its test is a literal.
//! A fault says where, what, and what to do.

use std::fmt;

use crate::repo::{File, Repo};
use crate::{Outcome, generate, only};

mod invariants;
mod layers;
mod leftovers;
mod length;
mod links;
mod machine_paths;
mod module_docs;
mod public_items;
mod rust_text;
mod shown_op;
mod unsafe_code;

/// A place that breaks a rule.
#[derive(Debug)]
struct Fault {
    path: String,
    line: usize,
    what: String,
}

struct Rule {
    name: &'static str,
    check: fn(&[File]) -> Vec<Fault>,
}

const RULES: [Rule; 10] = [
    Rule { name: "layers", check: layers::faults },
    Rule { name: "public items", check: public_items::faults },
    Rule { name: "unsafe", check: unsafe_code::faults },
    Rule { name: "leftovers", check: leftovers::faults },
    Rule { name: "machine paths", check: machine_paths::faults },
    Rule { name: "links", check: links::faults },
    Rule { name: "invariants", check: invariants::faults },
    Rule { name: "shown op", check: shown_op::faults },
    Rule { name: "module docs", check: module_docs::faults },
    Rule { name: "file length", check: length::faults },
];

/// Checks the house rules, then that no generated file is stale.
pub fn run(repo: &Repo, args: &[String]) -> Outcome {
    only(args, &[])?;
    house_rules(repo)?;
    generate::check(repo)
}

/// Checks every rule, so that one run shows all faults.
pub fn house_rules(repo: &Repo) -> Outcome {
    let files = repo.files()?;
    length::warnings(&files).iter().for_each(|fault| eprintln!("warning: {fault}"));
    let count: usize = RULES.iter().map(|rule| report(rule, &files)).sum();
    match count {
        0 => {
            println!("tidy: {} rules hold in {} files", RULES.len(), files.len());
            Ok(())
        }
        _ => Err(format!("tidy: {count} faults")),
    }
}

fn report(rule: &Rule, files: &[File]) -> usize {
    let faults = (rule.check)(files);
    faults.iter().for_each(|fault| eprintln!("{}: {fault}", rule.name));
    faults.len()
}

impl Fault {
    /// Makes the fault at a line that is counted from 0.
    fn at(file: &File, index: usize, what: impl Into<String>) -> Fault {
        Fault { path: file.path.clone(), line: index + 1, what: what.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Returns the files whose name ends so.
fn named<'a>(files: &'a [File], ends: &'a [&str]) -> impl Iterator<Item = &'a File> {
    files.iter().filter(move |file| ends.iter().any(|end| file.path.ends_with(end)))
}

/// Tells whether `text` holds `word` with no letter, digit or `_` on either side of it.
fn has_word(text: &str, word: &str) -> bool {
    let inside = |next: Option<char>| next.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word)
        .any(|(at, _)| !inside(text[..at].chars().next_back()) && !inside(text[at + word.len()..].chars().next()))
}

#[cfg(test)]
mod testing {
    use super::{Fault, File};

    /// Checks that a rule finds in `files`, pairs of path and text, exactly the faults at `expect`, as `path:line`.
    pub fn check(rule: fn(&[File]) -> Vec<Fault>, files: &[(&str, &str)], expect: &[&str]) {
        let files: Vec<File> =
            files.iter().map(|(path, text)| File { path: path.to_string(), text: text.to_string() }).collect();
        let faults = rule(&files);
        let places: Vec<String> = faults.iter().map(|fault| format!("{}:{}", fault.path, fault.line)).collect();
        assert_eq!(places, expect, "{faults:#?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stands_alone() {
        assert!(has_word("unsafe { x }", "unsafe"));
        assert!(has_word("(unsafe)", "unsafe"));
        assert!(!has_word("unsafe_code", "unsafe"));
        assert!(!has_word("not_unsafe", "unsafe"));
        assert!(has_word("unsafe_code unsafe", "unsafe"));
    }

    #[test]
    fn a_fault_names_file_and_line() {
        let file = File { path: "a/b.rs".to_string(), text: String::new() };
        assert_eq!(Fault::at(&file, 2, "Wanted: c.").to_string(), "a/b.rs:3: Wanted: c.");
    }
}
