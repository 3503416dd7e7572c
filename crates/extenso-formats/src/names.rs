//! Names from outside in errors.
//!
//! Invariant: an error is a line that a terminal shows as it is, of a length that does not grow with the data.

/// How many names an error lists, and how many characters of each.
const NAMES: usize = 20;
const CHARACTERS: usize = 80;

/// The first of these names.
pub fn some_names<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    let mut names = names.into_iter();
    let mut shown: Vec<String> = names.by_ref().take(NAMES).map(|name| plain(name.as_ref())).collect();
    if names.next().is_some() {
        shown.push("...".into());
    }
    shown.join(", ")
}

/// The first characters of a text, without any that would move the cursor.
pub fn plain(text: &str) -> String {
    let mut out = String::new();
    for (i, c) in text.chars().enumerate() {
        match c {
            _ if i == CHARACTERS => {
                out.push_str("...");
                break;
            }
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_few_and_short_and_move_no_cursor() {
        assert_eq!(some_names(["a", "b"]), "a, b");
        assert_eq!(plain("\u{1b}[31mé"), "\\u{1b}[31mé");
        let many: Vec<String> = (0..1000).map(|i| format!("{i}{}", "x".repeat(1000))).collect();
        let shown = some_names(&many);
        assert!(shown.len() < (NAMES + 1) * (CHARACTERS + 10) && shown.ends_with(", ..."), "{shown}");
    }
}
