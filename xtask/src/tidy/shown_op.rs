//! Invariant: the op that CONTRIBUTING.md shows stands verbatim in the file that the page names for it.
//!
//! It is the page's first block of `text`; the paragraph before names the file. Indentation may differ, nothing else.

use super::{Fault, File};

const PAGE: &str = "CONTRIBUTING.md";

/// Finds a page that shows no op, or one that the tables do not have.
pub fn faults(files: &[File]) -> Vec<Fault> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else { return Vec::new() };
    let lines: Vec<&str> = page.text.lines().collect();
    let Some(start) = lines.iter().position(|line| *line == "```text") else {
        return vec![Fault::at(page, 0, "the page shows no op. Write a declaration of a table in a block of ```text.")];
    };
    let block: Vec<&str> = lines[start + 1..].iter().copied().take_while(|line| *line != "```").collect();
    let paragraph = lines[..start].iter().rev().skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty());
    let Some(named) = paragraph.flat_map(|line| line.split('`')).find(|word| word.ends_with(".rs")) else {
        return vec![Fault::at(page, start, "no file is named for the op. Name its table in the paragraph before.")];
    };
    match files.iter().find(|file| file.path == named) {
        None => vec![Fault::at(page, start, format!("`{named}` does not exist. Name the table that has the op."))],
        Some(table) if stands_in(&block, table) => Vec::new(),
        Some(_) => vec![Fault::at(page, start, format!("`{named}` has no such lines. Copy the declaration from it."))],
    }
}

fn stands_in(block: &[&str], table: &File) -> bool {
    let lines: Vec<&str> = table.text.lines().map(str::trim).collect();
    !block.is_empty() && lines.windows(block.len()).any(|part| part.iter().zip(block).all(|(a, b)| *a == b.trim()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::faults;

    const TABLE: (&str, &str) = ("crates/a/ops/b.rs", "    /// Doubles.\n    TWICE: twice(x) =\n        f(&[1, 2]);\n");

    fn page(text: &str, expect: &[&str]) {
        check(faults, &[TABLE, ("CONTRIBUTING.md", text)], expect);
    }

    #[test]
    fn an_op_that_the_table_has_may_be_shown() {
        page("One of\n`crates/a/ops/b.rs`:\n\n```text\n/// Doubles.\nTWICE: twice(x) =\n    f(&[1, 2]);\n```\n", &[]);
    }

    #[test]
    fn an_op_that_differs_from_the_table_is_found() {
        page("`crates/a/ops/b.rs`:\n\n```text\nTWICE: twice(x) =\n    f(&[2]);\n```\n", &["CONTRIBUTING.md:3"]);
        page("`crates/a/ops/b.rs`:\n\n```text\n/// Doubles.\n    f(&[1, 2]);\n```\n", &["CONTRIBUTING.md:3"]);
        page("`crates/a/ops/b.rs`:\n\n```text\n```\n", &["CONTRIBUTING.md:3"]);
    }

    #[test]
    fn a_page_names_the_table_that_it_shows_an_op_of() {
        page("`crates/a/ops/c.rs`:\n\n```text\n/// Doubles.\n```\n", &["CONTRIBUTING.md:3"]);
        page("`crates/a/ops/b.rs`:\n\nOne op:\n\n```text\n/// Doubles.\n```\n", &["CONTRIBUTING.md:5"]);
        page("No op.\n", &["CONTRIBUTING.md:1"]);
    }
}
