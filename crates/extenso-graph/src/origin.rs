//! Origins: where in the program that traces a function its ops are called.
//!
//! Invariant: an origin says nothing of what is computed, and no file keeps it. What fails when a graph runs names it.

use extenso_types::Error;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::sync::{Arc, OnceLock};

/// A place in a source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The file, as its language names it.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
}

static FIND: OnceLock<fn() -> Option<Origin>> = OnceLock::new();

thread_local! {
    /// That of a node which is applied again.
    static APPLIED: RefCell<Option<Origin>> = const { RefCell::new(None) };
}

/// Says how the place is found at which an op is called while a function is traced: what a host language knows. The first one counts.
pub fn find_origins_by(find: fn() -> Option<Origin>) {
    let _ = FIND.set(find);
}

/// The place at which an op is called now.
pub(crate) fn current() -> Option<Origin> {
    APPLIED.with_borrow(Clone::clone).or_else(|| FIND.get().and_then(|find| find()))
}

/// What `f` gives, whose ops are called where a node was.
pub(crate) fn at<R>(origin: Option<&Origin>, f: impl FnOnce() -> R) -> R {
    struct Before(Option<Origin>);
    impl Drop for Before {
        fn drop(&mut self) {
            APPLIED.set(self.0.take());
        }
    }
    let Some(origin) = origin else { return f() };
    let _before = Before(APPLIED.replace(Some(origin.clone())));
    f()
}

/// The places at which the ops of one step are called: in each file the lines, in order.
#[derive(Clone, Default, Debug)]
pub(crate) struct Lines(SmallVec<[InFile; 1]>);

type InFile = (Arc<str>, SmallVec<[u32; 3]>);

/// So many runs of lines of a file are named, and so many files: a step of more is told by its first and last.
const NAMED: usize = 4;

impl Lines {
    pub(crate) fn add(&mut self, origin: Option<&Origin>) {
        let Some(Origin { file, line }) = origin else { return };
        let Some((_, lines)) = self.0.iter_mut().find(|(known, _)| known == file) else {
            self.0.push((file.clone(), SmallVec::from_slice(&[*line])));
            return;
        };
        if let Err(place) = lines.binary_search(line) {
            lines.insert(place, *line);
        }
    }

    /// The error of a step with these places below it.
    #[cold]
    pub(crate) fn note(&self, error: Error) -> Error {
        let mut places: Vec<String> = self.0.iter().take(NAMED).map(|(file, lines)| told(file, lines)).collect();
        if self.0.len() > NAMED {
            places.push("other files".into());
        }
        let note = format!("Called in {}.", places.join(" or "));
        if places.is_empty() || error.notes().contains(&note) { error } else { error.note(note) }
    }
}

/// Some lines of a file, in words.
fn told(file: &str, lines: &[u32]) -> String {
    let file = match file.is_empty() || file.contains(char::is_control) {
        true => format!("{file:?}"),
        false => file.to_string(),
    };
    let mut runs: Vec<(u32, u32)> = lines
        .chunk_by(|a, b| a.checked_add(1) == Some(*b))
        .filter_map(|run| Some((*run.first()?, *run.last()?)))
        .collect();
    if let [(first, _), .., (_, last)] = runs[..]
        && runs.len() > NAMED
    {
        runs = vec![(first, last)];
    }
    let words: Vec<String> = runs
        .iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first} to {last}") })
        .collect();
    let many = if lines.len() > 1 { "lines" } else { "line" };
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{many} {} and {last} of {file}", others.join(", ")),
        _ => format!("{many} {} of {file}", words.concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_step_stand_below_its_error_once() {
        let origin = |file: &str, line| Origin { file: file.into(), line };
        let mut lines = Lines::default();
        let text = |lines: &Lines| lines.note(lines.note(Error::value("it is wrong"))).to_string();
        assert_eq!(text(&lines), Error::value("it is wrong").to_string());
        lines.add(Some(&origin("a.py", 7)));
        assert!(text(&lines).ends_with("\nCalled in line 7 of a.py."), "{}", text(&lines));
        lines.add(Some(&origin("b.py", 2)));
        lines.add(Some(&origin("a.py", 3)));
        lines.add(None);
        lines.add(Some(&origin("a.py", 4)));
        assert!(
            text(&lines).ends_with("\nCalled in lines 3 to 4 and 7 of a.py or line 2 of b.py."),
            "{}",
            text(&lines)
        );
        (0..5).for_each(|i| lines.add(Some(&origin("a.py", 10 + 2 * i))));
        (0..5).for_each(|i| lines.add(Some(&origin(&format!("\n{i}"), 1))));
        let wanted =
            "lines 3 to 18 of a.py or line 2 of b.py or line 1 of \"\\n0\" or line 1 of \"\\n1\" or other files.";
        assert!(text(&lines).ends_with(wanted), "{}", text(&lines));
    }

    #[test]
    fn what_is_applied_again_is_called_where_it_was() {
        let origin = Origin { file: "a.py".into(), line: 7 };
        assert_eq!(at(Some(&origin), current), Some(origin));
        assert_eq!(current(), None);
    }
}
