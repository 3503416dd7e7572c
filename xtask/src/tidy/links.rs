//! Invariant: a relative link in a page leads to a file or directory of the repository.
//!
//! Does not look at anchors, and never at the network.

use super::{Fault, File, named};

/// Finds relative links of Markdown pages that lead nowhere.
pub fn faults(files: &[File]) -> Vec<Fault> {
    named(files, &[".md"]).flat_map(|page| page_faults(page, files)).collect()
}

fn page_faults(page: &File, files: &[File]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (at, line) in prose(&page.text) {
        for target in targets(&line).into_iter().filter(|target| is_relative(target)) {
            if !resolve(&page.path, target).is_some_and(|path| exists(&path, files)) {
                let what =
                    format!("the link `{target}` leads nowhere. Name a file of the repository, relative to the page.");
                faults.push(Fault::at(page, at, what));
            }
        }
    }
    faults
}

/// Returns the numbered lines outside of fenced blocks, code spans removed.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            // The pieces between backticks are text, code, text, ...
            (None, None) => lines.push((at, line.split('`').step_by(2).collect())),
        }
    }
    lines
}

/// Returns what `[text](target)` and `[label]: target` point at.
fn targets(line: &str) -> Vec<&str> {
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let definition = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]: "))
        .and_then(|(_, rest)| rest.split_whitespace().next());
    inline.chain(definition).map(|target| target.trim_matches(['<', '>'])).collect()
}

fn is_relative(target: &str) -> bool {
    !target.is_empty() && !target.starts_with('#') && !target.contains("://") && !target.starts_with("mailto:")
}

/// Returns the path from the root, or none where the link leaves the repository or starts at a root of its own.
fn resolve(page: &str, target: &str) -> Option<String> {
    let target = target.split(['#', '?']).next()?;
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            "" => return None,
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn exists(path: &str, files: &[File]) -> bool {
    let below = |file: &File| file.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
    path.is_empty() || files.iter().any(|file| file.path == path || below(file))
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::faults;

    const OTHERS: [(&str, &str); 2] = [("README.md", ""), ("crates/a/src/lib.rs", "")];

    fn page(text: &str, expect: &[&str]) {
        check(faults, &[OTHERS[0], OTHERS[1], ("book/one.md", text)], expect);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        page("x\n[a](missing.md)", &["book/one.md:2"]);
        page("[a](../README.md) [b](../READ.md)", &["book/one.md:1"]);
        page("[a]: ../missing.md", &["book/one.md:1"]);
        page("[a](../../README.md)", &["book/one.md:1"]);
        page("[a](/README.md)", &["book/one.md:1"]);
        page("![a](plot.png)", &["book/one.md:1"]);
        page("[`a`](missing.md)", &["book/one.md:1"]);
    }

    #[test]
    fn a_link_to_a_file_or_a_directory_holds() {
        page("[a](one.md#top) [b](../README.md \"title\") [c](../crates/a) [d](../crates/a/src/) [e](..)", &[]);
        page("[a]: <../README.md>", &[]);
    }

    #[test]
    fn other_addresses_and_code_are_not_looked_at() {
        page("[a](https://example.org/x) [b](#here) [c](mailto:a@example.org)", &[]);
        page("`[a](missing.md)`\n```\n[a](missing.md)\n~~~\n```\n", &[]);
    }
}
