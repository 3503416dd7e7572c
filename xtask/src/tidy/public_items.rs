//! Invariant: a shipped extension type uses nothing that a user's type could not.
//!
//! The crate border already keeps private items away from extenso-ext; this rule adds the public ones that are hidden
//! from the documentation. Looks at items at the left margin, not at methods.

use super::rust_text::code;
use super::{Fault, File, has_word};

const USER: &str = "crates/extenso-ext/src/";
const BELOW: [&str; 2] = ["crates/extenso-types/src/", "crates/extenso-core/src/"];
const KINDS: [&str; 10] =
    ["fn ", "struct ", "enum ", "union ", "trait ", "mod ", "type ", "const ", "static ", "macro_rules! "];

/// Finds names of hidden items in extenso-ext.
pub fn faults(files: &[File]) -> Vec<Fault> {
    let below = files.iter().filter(|file| BELOW.iter().any(|path| file.path.starts_with(path)));
    let hidden: Vec<String> = below.flat_map(|file| hidden_items(&code(&file.text))).collect();
    files.iter().filter(|file| file.path.starts_with(USER)).flat_map(|file| uses(file, &hidden)).collect()
}

fn uses(file: &File, hidden: &[String]) -> Vec<Fault> {
    let code = code(&file.text);
    let mut faults = Vec::new();
    for (at, line) in code.lines().enumerate() {
        for name in hidden.iter().filter(|name| has_word(line, name)) {
            let what = format!("`{name}` is hidden from users. Document it below, or do without it here.");
            faults.push(Fault::at(file, at, what));
        }
    }
    faults
}

fn hidden_items(code: &str) -> Vec<String> {
    let mut lines = code.lines();
    let mut names = Vec::new();
    while let Some(line) = lines.next() {
        if line.starts_with("#[doc(hidden)]") {
            names.extend(lines.by_ref().find(|line| !line.trim().is_empty() && !line.starts_with("#[")).and_then(name));
        }
    }
    names
}

fn name(item: &str) -> Option<String> {
    let (_, rest) = KINDS.iter().find_map(|kind| item.split_once(kind))?;
    Some(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::faults;

    const CORE: (&str, &str) = (
        "crates/extenso-core/src/lib.rs",
        "/// Open.\npub fn open() {}\n#[doc(hidden)]\n#[inline]\npub fn secret() {}\n#[doc(hidden)]\npub mod private {\n    x\n}\n",
    );

    #[test]
    fn a_hidden_item_in_ext_is_found() {
        let ext =
            ("crates/extenso-ext/src/ragged.rs", "use extenso_core::open;\nextenso_core::secret();\nprivate::f();");
        check(faults, &[CORE, ext], &["crates/extenso-ext/src/ragged.rs:2", "crates/extenso-ext/src/ragged.rs:3"]);
    }

    #[test]
    fn open_items_and_other_crates_are_free() {
        let ext = ("crates/extenso-ext/src/ragged.rs", "use extenso_core::open;\n// secret\n");
        check(faults, &[CORE, ext, ("crates/extenso-graph/src/lib.rs", "extenso_core::secret();")], &[]);
    }
}
