//! Invariant: no file names a place that exists on one machine only.

use super::{Fault, File};

// In two pieces each, because the rule reads this file too.
const ROOTS: [&str; 5] =
    [concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/ho", "me/"), concat!("/Us", "ers/"), concat!("/t", "mp/")];

/// Finds absolute paths below the directories where people and build machines keep their files.
pub fn faults(files: &[File]) -> Vec<Fault> {
    files.iter().flat_map(file_faults).collect()
}

fn file_faults(file: &File) -> Vec<Fault> {
    let lines = file.text.lines().enumerate();
    lines
        .filter_map(|(at, line)| {
            let root = ROOTS.iter().find(|root| starts_path(line, root))?;
            Some(Fault::at(file, at, format!("a path below `{root}` is of one machine. Write a relative one.")))
        })
        .collect()
}

// `docs/work/x`, `$DIR/work/x` and `example.org/home/x` go through a directory of that name; they do not start there.
fn starts_path(line: &str, root: &str) -> bool {
    line.match_indices(root).any(|(at, _)| {
        let inside = |before: char| before.is_alphanumeric() || "._-*~$})".contains(before);
        let named = |after: char| after.is_alphanumeric() || after == '_' || after == '.';
        !line[..at].ends_with(inside) && line[at + root.len()..].starts_with(named)
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::{ROOTS, faults};

    #[test]
    fn a_path_of_one_machine_is_found() {
        for root in ROOTS {
            check(faults, &[("a.md", &format!("first\nsee `{root}ada/x.toml`"))], &["a.md:2"]);
            check(faults, &[("a.json", &format!("\"file://{root}ada\""))], &["a.json:1"]);
        }
    }

    #[test]
    fn a_relative_path_is_not() {
        for root in ROOTS {
            check(faults, &[("a.md", &format!("docs{root}x https://example.org{root}x $DIR{root}x"))], &[]);
            check(faults, &[("a.rs", &format!("\"{root}\""))], &[]);
        }
    }
}
