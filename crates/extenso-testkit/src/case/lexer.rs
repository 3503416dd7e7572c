//! Tokens of the case grammar.
//!
//! Invariant: a line break is a token only where no bracket is open, so that a token list is cut into statements by its
//! line breaks; the last token is always the end.
//! Does not check that brackets match: the parser does.

mod string;

use super::error::ParseError;

/// A line and a column, both from 1; the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// One token. An integer keeps its digits, because only with its sign is its range known.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name(String),
    Int(String),
    Float(f64),
    Str(String),
    Mark(&'static str),
    Newline,
    End,
}

/// A token and where it begins.
#[derive(Clone, Debug)]
pub(super) struct Spanned {
    pub(super) token: Token,
    pub(super) place: Place,
}

/// Longer marks stand before their own beginnings.
const MARKS: &[&str] = &["==", "~=", "=", "(", ")", "[", "]", "{", "}", ",", ":", "-"];

/// Cuts `text` into tokens; its first line has the number `first_line`.
pub(super) fn tokens(text: &str, first_line: usize) -> Result<Vec<Spanned>, ParseError> {
    refuse_control_characters(text, first_line)?;
    let mut lexer = Lexer { rest: text, place: Place { line: first_line, column: 1 }, open: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blank();
        let place = lexer.place;
        let token = lexer.token()?;
        let ended = token == Token::End;
        tokens.push(Spanned { token, place });
        if ended {
            return Ok(tokens);
        }
    }
}

/// Python treats some of these as white space, some as line ends and some as errors, by version.
fn refuse_control_characters(text: &str, first_line: usize) -> Result<(), ParseError> {
    for (line, number) in text.split('\n').zip(first_line..) {
        if let Some(index) = line.chars().position(|c| c.is_ascii_control() && c != '\t') {
            let place = Place { line: number, column: index + 1 };
            return Err(ParseError::new(place, "a control character", "an escape for it in a string"));
        }
    }
    Ok(())
}

struct Lexer<'a> {
    rest: &'a str,
    place: Place,
    open: usize,
}

impl Lexer<'_> {
    /// Skips spaces and comments, and inside brackets line breaks too.
    fn skip_blank(&mut self) {
        loop {
            let open = self.open > 0;
            self.take_while(|c| matches!(c, ' ' | '\t') || (open && c == '\n'));
            if self.peek() != Some('#') {
                return;
            }
            self.take_while(|c| c != '\n');
        }
    }

    fn token(&mut self) -> Result<Token, ParseError> {
        match self.peek() {
            None => Ok(Token::End),
            Some('\n') => {
                self.bump();
                Ok(Token::Newline)
            }
            Some('"' | '\'') => self.string().map(Token::Str),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                Ok(Token::Name(self.take_while(|c| c.is_ascii_alphanumeric() || c == '_')))
            }
            Some(_) if self.at_number() => self.number(),
            Some(c) => self.mark(c),
        }
    }

    fn at_number(&self) -> bool {
        let digits = self.rest.strip_prefix('.').unwrap_or(self.rest);
        digits.starts_with(|c: char| c.is_ascii_digit())
    }

    /// Reads all that touches a number, so that `1_000`, `0x10` and `2nd` are errors and not two tokens.
    fn number(&mut self) -> Result<Token, ParseError> {
        let place = self.place;
        let mut last = ' ';
        let text = self.take_while(|c| {
            let signs_exponent = matches!(last, 'e' | 'E') && matches!(c, '+' | '-');
            last = c;
            c.is_ascii_alphanumeric() || matches!(c, '.' | '_') || signs_exponent
        });
        if text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0')) {
            return Ok(Token::Int(text));
        }
        let float = text.contains(['.', 'e', 'E']).then(|| text.parse().ok()).flatten();
        float.map(Token::Float).ok_or_else(|| {
            ParseError::new(place, format!("`{text}`"), "a number in decimal digits, as 12, -0.5 or 1e-6")
        })
    }

    fn mark(&mut self, first: char) -> Result<Token, ParseError> {
        let Some(mark) = MARKS.iter().find(|mark| self.rest.starts_with(**mark)) else {
            return Err(ParseError::new(self.place, format!("`{first}`"), "a statement of the case grammar"));
        };
        for _ in mark.chars() {
            self.bump();
        }
        match *mark {
            "(" | "[" | "{" => self.open += 1,
            ")" | "]" | "}" => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        Ok(Token::Mark(mark))
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.rest = &self.rest[next.len_utf8()..];
        self.place = match next {
            '\n' => Place { line: self.place.line + 1, column: 1 },
            _ => Place { column: self.place.column + 1, ..self.place },
        };
        Some(next)
    }

    fn take_while(&mut self, mut wanted: impl FnMut(char) -> bool) -> String {
        let mut taken = String::new();
        while let Some(next) = self.peek().filter(|c| wanted(*c)) {
            self.bump();
            taken.push(next);
        }
        taken
    }
}
