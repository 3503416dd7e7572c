//! The one error of the case parser.
//!
//! Invariant: line and column count from 1, the column in characters.
//! Knows nothing of why a case fails: that is the runner's to say.

use std::fmt;

use super::lexer::Place;

/// Where a text left the grammar, what stood there, and what was wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    file: Option<String>,
    place: Place,
    found: String,
    wanted: String,
}

impl ParseError {
    pub(super) fn new(place: Place, found: impl Into<String>, wanted: impl Into<String>) -> Self {
        Self { file: None, place, found: found.into(), wanted: wanted.into() }
    }

    pub(super) fn in_file(self, file_name: &str) -> Self {
        Self { file: Some(file_name.to_string()), ..self }
    }

    /// Tells the line, from 1, in the text that was given.
    pub fn line(&self) -> usize {
        self.place.line
    }

    /// Tells the column, from 1, in characters.
    pub fn column(&self) -> usize {
        self.place.column
    }

    /// Tells what was wanted at that place.
    pub fn wanted(&self) -> &str {
        &self.wanted
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
        }
        let Place { line, column } = self.place;
        write!(f, "{line}:{column}: found {}. Wanted: {}.", self.found, self.wanted)
    }
}

impl std::error::Error for ParseError {}
