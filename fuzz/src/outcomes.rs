//! What inputs led to: the kinds of values and of errors that were seen.
//!
//! An error's kind is its text without what is particular to one input: numbers, and what stands in quotes.

use extenso_types::Result;
use std::collections::BTreeSet;
use std::fmt::Display;

/// Longer texts are of one kind if they begin alike.
const LONGEST: usize = 100;

/// The kinds seen so far.
#[derive(Default)]
pub struct Outcomes {
    values: BTreeSet<String>,
    errors: BTreeSet<String>,
    fresh: bool,
}

impl Outcomes {
    /// Notes a result, and gives the value if there is one.
    pub fn of<T>(&mut self, place: &str, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                let kind = kind(&format!("{place}: {error}"));
                self.fresh |= self.errors.insert(kind);
                None
            }
        }
    }

    /// Notes what a value is like.
    pub fn value(&mut self, place: &str, like: impl Display) {
        self.fresh |= self.values.insert(kind(&format!("{place}: {like}")));
    }

    /// Whether something new was noted since the last call.
    pub fn take_fresh(&mut self) -> bool {
        std::mem::take(&mut self.fresh)
    }

    /// How many kinds of values and of errors there are.
    pub fn counts(&self) -> (usize, usize) {
        (self.values.len(), self.errors.len())
    }
}

fn kind(text: &str) -> String {
    let mut kind = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if kind.len() > LONGEST {
            break;
        }
        match c {
            '0'..='9' => {
                while chars.next_if(|c| c.is_ascii_digit() || *c == '.').is_some() {}
                kind.push('0');
            }
            '\'' | '"' | '`' => {
                while let Some(inside) = chars.next() {
                    match inside {
                        '\\' => drop(chars.next()),
                        end if end == c => break,
                        _ => {}
                    }
                }
                kind.push(c);
            }
            c => kind.push(c),
        }
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;
    use extenso_types::Error;

    #[test]
    fn errors_that_differ_in_numbers_and_names_are_of_one_kind() {
        let mut outcomes = Outcomes::default();
        for (text, fresh) in [("row 12: 'a' came", true), ("row 3: 'bc' came", false), ("row 3: nothing came", true)] {
            assert!(outcomes.of::<()>("json", Err(Error::value(text))).is_none());
            assert_eq!(outcomes.take_fresh(), fresh, "{text}");
        }
        assert_eq!(outcomes.of("json", Ok(7)), Some(7));
        assert_eq!((outcomes.take_fresh(), outcomes.counts()), (false, (0, 2)));
    }
}
