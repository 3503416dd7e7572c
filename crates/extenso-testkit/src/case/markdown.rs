//! The `case` blocks of a Markdown file.
//!
//! Invariant: a fence that looks like a `case` block is one or is an error; nothing meant to run is passed over.
//! Knows headings and fences only: every other line is prose.

use super::lexer::{self, Place};
use super::parser::{self, Parsed};
use super::{Block, Case, ParseError, Statement};

/// Collects the `case` blocks of `text` in order.
pub(super) fn blocks(file: &str, text: &str) -> Result<Vec<Block>, ParseError> {
    let mut blocks = Vec::new();
    let mut headings = Headings::default();
    let mut lines = text.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        let Some(fence) = Fence::opened_by(line, number)? else {
            headings.see(line);
            continue;
        };
        match fence.body(&mut lines) {
            _ if !fence.is_case => {}
            Some(body) => blocks.push(block(file, headings.path(), number, &body.join("\n"))?),
            None => return Err(error(number, "a `case` block without its end", "a closing fence")),
        }
    }
    Ok(blocks)
}

fn block(file: &str, heading: Vec<String>, line: usize, body: &str) -> Result<Block, ParseError> {
    let title = heading.join(" > ");
    let placed = |(line, parsed)| match parsed {
        Parsed::Bind { name, expr } => Statement::Bind { name, expr, line },
        Parsed::Case { expr, claim } => {
            Statement::Case(Case { expr, claim, file: file.to_string(), title: title.clone(), line })
        }
    };
    let parsed = parser::statements(&lexer::tokens(body, line + 1)?)?;
    Ok(Block { file: file.to_string(), statements: parsed.into_iter().map(placed).collect(), heading, line })
}

/// The headings above the current line, outermost first, each with its level.
#[derive(Default)]
struct Headings(Vec<(usize, String)>);

impl Headings {
    fn see(&mut self, line: &str) {
        let text = line.trim_start_matches('#');
        let level = line.len() - text.len();
        if (1..=6).contains(&level) && text.starts_with(' ') {
            self.0.retain(|(above, _)| *above < level);
            self.0.push((level, text.trim().to_string()));
        }
    }

    fn path(&self) -> Vec<String> {
        self.0.iter().map(|(_, text)| text.clone()).collect()
    }
}

/// The fence around a block: only a line of the same mark, at least as long, closes it.
struct Fence {
    mark: char,
    length: usize,
    is_case: bool,
}

impl Fence {
    fn opened_by(line: &str, number: usize) -> Result<Option<Self>, ParseError> {
        let Some((mark, length, info)) = fence_line(line.trim_start()) else {
            return Ok(None);
        };
        let is_case = info == "case";
        if info.to_ascii_lowercase().starts_with("case") && (!is_case || line.starts_with([' ', '\t'])) {
            return Err(error(
                number,
                format!("`{}`", line.trim_end()),
                "a fence at the start of the line with the info string `case`",
            ));
        }
        Ok(Some(Self { mark, length, is_case }))
    }

    /// Takes the lines up to the closing fence, or all of them and gives none.
    fn body<'a>(&self, lines: &mut impl Iterator<Item = (&'a str, usize)>) -> Option<Vec<&'a str>> {
        let mut body = Vec::new();
        for (line, _) in lines {
            if fence_line(line.trim_start()).is_some_and(|fence| self.is_closed_by(fence)) {
                return Some(body);
            }
            body.push(line);
        }
        None
    }

    fn is_closed_by(&self, (mark, length, info): (char, usize, &str)) -> bool {
        mark == self.mark && length >= self.length && info.is_empty()
    }
}

/// Splits a line that begins with three or more backticks or tildes into mark, length and info string.
fn fence_line(line: &str) -> Option<(char, usize, &str)> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = line.trim_start_matches(mark);
    let length = line.len() - info.len();
    // Backticks in the info string make the line inline code, as ```` ```case``` ```` is.
    let is_fence = length >= 3 && !(mark == '`' && info.contains('`'));
    is_fence.then(|| (mark, length, info.trim()))
}

fn error(line: usize, found: impl Into<String>, wanted: &str) -> ParseError {
    ParseError::new(Place { line, column: 1 }, found, wanted)
}
