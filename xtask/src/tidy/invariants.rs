//! Invariant: every test that ARCHITECTURE.md names for an invariant exists.
//!
//! The page names one as ``test: `name` ``, or several after one `tests:`.

use super::{Fault, File};

const PAGE: &str = "ARCHITECTURE.md";
const HOMES: [&str; 3] = ["crates/", "python/tests/", "xtask/src/"];

/// Finds named tests that do not exist, and a page that names none.
pub fn faults(files: &[File]) -> Vec<Fault> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else {
        let page = File { path: PAGE.to_string(), text: String::new() };
        return vec![Fault::at(&page, 0, "the page is missing. Write it: code map, and invariants with their tests.")];
    };
    let tests: Vec<(usize, &str)> =
        page.text.lines().enumerate().flat_map(|(at, line)| tests(line).map(move |test| (at, test))).collect();
    if tests.is_empty() {
        return vec![Fault::at(page, 0, "no invariant names its test. Write ``test: `name` `` beside each.")];
    }
    let missing = tests.into_iter().filter(|(_, test)| !exists(test, files));
    missing.map(|(at, test)| Fault::at(page, at, missing_test(test))).collect()
}

fn missing_test(test: &str) -> String {
    format!("no `fn {test}` in {} and no `def {test}` there. Write the test or correct the name.", HOMES.join(", "))
}

fn tests(line: &str) -> impl Iterator<Item = &str> {
    let names = ["test: `", "tests: `"].iter().find_map(|mark| Some(line.split_once(mark)?.1));
    // After the mark, the pieces between backticks are name, text, name, ...
    let pieces = names.into_iter().flat_map(|rest| rest.split('`').step_by(2));
    pieces
        .filter_map(|name| name.rsplit("::").next())
        .map(|name| name.trim_end_matches("()"))
        .filter(|name| !name.is_empty())
}

fn exists(test: &str, files: &[File]) -> bool {
    let homes = files.iter().filter(|file| HOMES.iter().any(|home| file.path.starts_with(home)));
    homes.flat_map(|file| file.text.lines()).any(|line| defines(line, test))
}

fn defines(line: &str, test: &str) -> bool {
    ["fn ", "def "].iter().any(|keyword| {
        let name = line.split_once(keyword).and_then(|(_, rest)| rest.trim_start().strip_prefix(test));
        name.is_some_and(|rest| rest.starts_with(['(', '<']))
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::faults;

    const RUST: (&str, &str) = ("crates/a/tests/b.rs", "#[test]\nfn offsets_never_decrease() {}\n");
    const PYTHON: (&str, &str) = ("python/tests/test_a.py", "def test_rows(x: int) -> None: ...\n");

    fn page(text: &str, expect: &[&str]) {
        check(faults, &[RUST, PYTHON, ("ARCHITECTURE.md", text)], expect);
    }

    #[test]
    fn a_test_that_does_not_exist_is_found() {
        page("1. Proven (test: `offsets_never_decrease`)\n2. Same (test: `row_is_batch`)", &["ARCHITECTURE.md:2"]);
        page("1. Proven (test: `offsets_never`)", &["ARCHITECTURE.md:1"]);
        page("tests: `test_rows`, `row_is_batch`.", &["ARCHITECTURE.md:1"]);
    }

    #[test]
    fn tests_of_both_languages_count() {
        page("tests: `partition::offsets_never_decrease`, `test_rows`.", &[]);
    }

    #[test]
    fn a_page_without_tests_is_no_page() {
        page("1. All is well.", &["ARCHITECTURE.md:1"]);
        check(faults, &[RUST], &["ARCHITECTURE.md:1"]);
    }
}
