//! Tables: the row of names, the rows behind it, and what their cells are.

use super::cell::shown;
use super::infer::{Found, seen};
use super::lines::{self, Line, Lines, Syntax};
use super::path_of;
use crate::columns::OnError;
use crate::failure::Failure;
use crate::parts::{self, Start};
use crate::project::Wanted;
use crate::seen::Place;
use extenso_core::kernels::pool::affordable;
use extenso_core::side_by_side;
use extenso_types::{Error, Path, Result, Spec};
use std::collections::HashSet;
use std::sync::Arc;

/// The columns of a table, as its first row names them.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    syntax: Syntax,
    /// The paths that the names of the columns say.
    pub paths: Arc<[Path]>,
}

/// About how many bytes of memory a column takes beside its name.
const COLUMN: usize = 1 << 8;

impl Table {
    /// Reads the names of the columns; the rows behind them, and where in the text these start.
    ///
    /// Errors: no names; names that are not UTF-8; more than there is memory for; a delimiter that is a quote or an end of line.
    pub fn begin(text: &[u8], delimiter: u8) -> Result<(Table, &[u8], Start)> {
        check_delimiter(delimiter)?;
        let mut line = Line::default();
        let mut lines = Lines::new(text, Syntax { delimiter, blank: false });
        let of_names = |e: Error| e.at("the row of names");
        if !lines.next(&mut line).map_err(|failure| of_names(failure.error()))? {
            return Err(Error::data("there is no row of names").wanted("the names of the columns in the first row"));
        }
        affordable(line.size().saturating_mul(4).saturating_add(line.len().saturating_mul(COLUMN)))
            .map_err(of_names)?;
        let taken: HashSet<&[u8]> = line.cells().filter(|name| name.starts_with(b"column_")).collect();
        let path = |(i, name): (usize, &[u8])| {
            let name = std::str::from_utf8(name).map_err(|_| {
                let what = format!("the name {} of column {} is not UTF-8", shown(name), i + 1);
                of_names(Error::data(what).wanted("UTF-8 text"))
            })?;
            // Other writers leave the column of their own row numbers without a name.
            let own = format!("column_{i}");
            let free = || !taken.contains(own.as_bytes());
            Ok(path_of(if name.is_empty() && free() { &own } else { name }))
        };
        let paths = line.cells().enumerate().map(path).collect::<Result<Arc<[Path]>>>()?;
        let table = Table { syntax: Syntax { delimiter, blank: paths.len() == 1 }, paths };
        Ok((table, &text[lines.at()..], Start { row: 0, byte: lines.at() }))
    }

    /// Calls `row` with each row of a text that begins with a row, until it says that there are enough; how many there were.
    ///
    /// Errors: the text ends inside a quoted cell, with row and byte; those of `row`.
    pub fn each_row<'t>(
        &self,
        text: &'t [u8],
        start: Start,
        mut row: impl FnMut(&Line<'t>, usize, usize) -> Result<bool>,
    ) -> Result<usize> {
        let (mut lines, mut line, mut rows) = (Lines::new(text, self.syntax), Line::default(), 0);
        loop {
            let next = lines.next(&mut line);
            let (number, byte) = (start.row + rows, start.byte + line.start());
            if !next.map_err(|failure| failure.finish(number, byte).2)? {
                return Ok(rows);
            }
            rows += 1;
            if !row(&line, number, byte)? {
                return Ok(rows);
            }
        }
    }

    pub fn lengths(&self, line: &Line<'_>) -> Box<Failure> {
        let what = format!("the row has {} cells", line.len());
        Failure::new(0, Error::data(what).wanted(format!("{}, as the row of names", self.paths.len())))
    }

    /// The next piece of whole rows of about this size, and what is left.
    pub fn piece<'t>(&self, text: &'t [u8], size: usize) -> (&'t [u8], &'t [u8]) {
        lines::rows(text, self.syntax.delimiter, size)
    }
}

/// Errors: a delimiter that is a quote, an end of line, or a part of a character.
pub fn check_delimiter(delimiter: u8) -> Result<()> {
    if delimiter.is_ascii() && !matches!(delimiter, b'"' | b'\n' | b'\r') {
        return Ok(());
    }
    let error = Error::value(format!("the delimiter is {:?}", char::from(delimiter)));
    Err(error.wanted("a character of ASCII that ends no line and is no quote"))
}

/// What was found in the rows of a table so far.
pub(crate) struct Inference {
    table: Table,
    found: Vec<Found>,
    on_error: OnError,
}

impl Inference {
    /// Nothing yet.
    pub fn new(table: Table, on_error: OnError) -> Inference {
        let found = vec![Found::default(); table.paths.len()];
        Inference { table, found, on_error }
    }

    /// Looks at the rows of a text, at most so many; how many there were.
    ///
    /// Errors: under the policy that raises, a row of another length; a table that is cut off.
    pub fn note(&mut self, text: &[u8], start: Start, most: usize) -> Result<usize> {
        let Some(size) = parts::piece(text.len()).filter(|_| most >= text.len()) else {
            return self.part(text, start, most);
        };
        let (mut rest, mut pieces) = (text, Vec::new());
        while !rest.is_empty() {
            let byte = start.byte + text.len() - rest.len();
            let piece;
            (piece, rest) = self.table.piece(rest, size);
            pieces.push((piece, byte));
        }
        let looked = side_by_side(pieces.clone(), |(piece, byte)| {
            let mut part = Inference::new(self.table.clone(), self.on_error);
            part.part(piece, Start { row: 0, byte }, usize::MAX).map(|rows| (part.found, rows))
        });
        let mut rows = 0;
        for ((piece, byte), looked) in pieces.into_iter().zip(looked) {
            let Ok((found, more)) = looked else {
                // An error names its row, which is known now.
                return self.part(piece, Start { row: start.row + rows, byte }, most).map(|more| rows + more);
            };
            self.found.iter_mut().zip(&found).for_each(|(all, found)| all.add(found, start.row + rows));
            rows += more;
        }
        Ok(rows)
    }

    fn part(&mut self, text: &[u8], start: Start, most: usize) -> Result<usize> {
        let Inference { table, found, on_error } = self;
        if most == 0 {
            return Ok(0);
        }
        let mut left = most;
        table.each_row(text, start, |line, row, byte| {
            left -= 1;
            if line.len() == found.len() {
                found.iter_mut().zip(line.cells()).for_each(|(found, cell)| found.note(cell, Place { row, byte }));
            } else if *on_error == OnError::Raise {
                return Err(table.lengths(line).finish(row, byte).2);
            }
            Ok(left > 0)
        })
    }

    /// Whether something was seen in each column.
    pub fn is_settled(&self) -> bool {
        self.found.iter().all(Found::is_settled)
    }

    /// The spec of what is wanted of the rows.
    ///
    /// Errors: two columns of one name that are wanted; a path that leads nowhere.
    pub fn spec(&self, wanted: &Wanted) -> Result<Spec> {
        seen(&self.table.paths, &self.found, wanted).and_then(|seen| seen.batch(wanted))
    }
}
