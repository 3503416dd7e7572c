//! How often what a class of Python says of itself may lead back to it.

use crate::error::raised;
use extenso_types::Error;
use pyo3::prelude::*;
use std::cell::Cell;

/// More levels than any value has, and fewer than the stack holds.
const MAX_DEPTH: usize = 100;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// One level, until it is dropped.
struct Level;

impl Drop for Level {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// What `f` gives, one level deeper; `what` names what may lead back to itself.
///
/// Errors: those of `f`; too many levels.
pub fn deeper<T>(py: Python<'_>, what: &str, f: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    if DEPTH.get() == MAX_DEPTH {
        let error = Error::value(format!("{what} is deeper than {MAX_DEPTH}")).wanted("fewer levels");
        return Err(raised(py, error.hint("It may contain itself.")));
    }
    DEPTH.set(DEPTH.get() + 1);
    let _level = Level;
    f()
}
