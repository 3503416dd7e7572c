//! Invariant: what is merged is finished; no marker of unfinished work, no test that is switched off.

use super::rust_text::code;
use super::{Fault, File, named};

const IN_RUST: [(&str, &str); 4] = [
    ("todo!", "Write the code"),
    ("unimplemented!", "Write the code, or return an error that says what is refused"),
    ("dbg!", "Remove it"),
    ("#[ignore", "Make the test run, or remove it"),
];

// In two pieces, because the rule reads this file too.
const MARKER: &str = concat!("FIX", "ME");

/// Finds unfinished work in code.
pub fn faults(files: &[File]) -> Vec<Fault> {
    let rust = named(files, &[".rs"]).flat_map(rust_faults);
    let marked = named(files, &[".rs", ".py", ".pyi", ".toml", ".sh"]).flat_map(marked_faults);
    rust.chain(marked).collect()
}

fn rust_faults(file: &File) -> Vec<Fault> {
    let code = code(&file.text);
    let mut faults = Vec::new();
    for (at, line) in code.lines().enumerate() {
        for (word, advice) in IN_RUST {
            if starts_word(line, word) {
                faults.push(Fault::at(file, at, format!("`{word}` is unfinished work. {advice}.")));
            }
        }
    }
    faults
}

fn starts_word(line: &str, word: &str) -> bool {
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_'))
}

fn marked_faults(file: &File) -> Vec<Fault> {
    let lines = file.text.lines().enumerate().filter(|(_, line)| line.contains(MARKER));
    lines
        .map(|(at, _)| Fault::at(file, at, format!("`{MARKER}` is unfinished work. Do it or open an issue.")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::{MARKER, faults};

    #[test]
    fn unfinished_work_is_found() {
        let text = "fn f() {\n    todo!()\n}\nfn g() { unimplemented!(\"x\") }\nlet x = dbg!(y);\n#[ignore = \"slow\"]";
        check(faults, &[("a.rs", text)], &["a.rs:2", "a.rs:4", "a.rs:5", "a.rs:6"]);
        check(faults, &[("a.py", &format!("x = 1\n# {MARKER} later"))], &["a.py:2"]);
    }

    #[test]
    fn words_that_only_look_like_it_are_not() {
        let text = "// todo!() later\nlet x = \"dbg!(y)\";\nnot_todo!();\n#![doc(html_no_source)]";
        check(faults, &[("a.rs", text), ("a.md", MARKER)], &[]);
    }
}
