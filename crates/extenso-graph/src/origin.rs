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

/// The places at which the ops of one step are called: in each file the first and the last line.
#[derive(Clone, Default, Debug)]
pub(crate) struct Lines(SmallVec<[(Arc<str>, u32, u32); 1]>);

impl Lines {
    pub(crate) fn add(&mut self, origin: Option<&Origin>) {
        let Some(Origin { file, line }) = origin else { return };
        match self.0.iter_mut().find(|(known, ..)| known == file) {
            Some((_, first, last)) => (*first, *last) = ((*first).min(*line), (*last).max(*line)),
            None => self.0.push((file.clone(), *line, *line)),
        }
    }

    /// The error of a step with these places below it.
    #[cold]
    pub(crate) fn note(&self, error: Error) -> Error {
        let place = |(file, first, last): &(Arc<str>, u32, u32)| match first == last {
            true => format!("line {first} of {file}"),
            false => format!("lines {first} to {last} of {file}"),
        };
        let places: Vec<String> = self.0.iter().map(place).collect();
        let note = format!("Called in {}.", places.join(" or "));
        if places.is_empty() || error.notes().contains(&note) { error } else { error.note(note) }
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
        assert!(text(&lines).ends_with("\nCalled in lines 3 to 7 of a.py or line 2 of b.py."), "{}", text(&lines));
    }

    #[test]
    fn what_is_applied_again_is_called_where_it_was() {
        let origin = Origin { file: "a.py".into(), line: 7 };
        assert_eq!(at(Some(&origin), current), Some(origin));
        assert_eq!(current(), None);
    }
}
