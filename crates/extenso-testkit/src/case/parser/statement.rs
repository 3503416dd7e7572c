//! Statements: bindings and cases.
//!
//! Invariant: a statement begins at the start of a line and ends at its end; only open brackets carry it over lines.
//! Knows nothing of Markdown, and does not check that names are bound.

use super::{Parser, error_at};
use crate::case::lexer::{Spanned, Token};
use crate::case::{Claim, Expr, ParseError};

/// A statement before it is told where it stands.
pub(in crate::case) enum Parsed {
    Bind { name: String, expr: Expr },
    Case { expr: Expr, claim: Claim },
}

/// Parses tokens that are statements, one to a line, each with the line on which it begins.
pub(in crate::case) fn statements(tokens: &[Spanned]) -> Result<Vec<(usize, Parsed)>, ParseError> {
    let mut parser = Parser::new(tokens);
    let mut statements = Vec::new();
    loop {
        parser.skip_newlines();
        if *parser.token() == Token::End {
            return Ok(statements);
        }
        let place = parser.place();
        if place.column != 1 {
            return Err(parser.wanted("a statement at the start of the line"));
        }
        statements.push((place.line, parser.statement()?));
    }
}

impl Parser<'_> {
    fn statement(&mut self) -> Result<Parsed, ParseError> {
        let start = self.spanned().clone();
        let expr = self.expr()?;
        let parsed = match (expr, self.claim_mark()) {
            (Expr::Name(name), Some("=")) => Parsed::Bind { name, expr: self.expr()? },
            (_, Some("=")) => return Err(error_at(&start, "a name to bind, before `=`")),
            (expr @ (Expr::Call { .. } | Expr::Name(_)), Some(mark)) => Parsed::Case { expr, claim: self.claim(mark)? },
            (_, Some(_)) => return Err(error_at(&start, "a call, or a bound name, to claim something of")),
            (_, None) => return Err(self.wanted("`==`, `~=`, `raises` or, after a name, `=`")),
        };
        match self.token() {
            Token::Newline | Token::End => Ok(parsed),
            _ => Err(self.wanted("the end of the statement")),
        }
    }

    /// Takes the mark between the two sides of a statement, if one stands here.
    fn claim_mark(&mut self) -> Option<&'static str> {
        let mark = match self.token() {
            Token::Mark(mark @ ("=" | "==" | "~=")) => mark,
            Token::Name(name) if name == "raises" => "raises",
            _ => return None,
        };
        self.advance();
        Some(mark)
    }

    fn claim(&mut self, mark: &str) -> Result<Claim, ParseError> {
        match mark {
            "==" => self.expr().map(Claim::Equals),
            "~=" => self.expr().map(Claim::Near),
            _ => self.texts().map(Claim::Raises),
        }
    }

    fn texts(&mut self) -> Result<Vec<String>, ParseError> {
        let mut texts = vec![self.text("a string that the error's text contains")?];
        while matches!(self.token(), Token::Name(name) if name == "and") {
            self.advance();
            texts.push(self.text("another string that the error's text contains")?);
        }
        Ok(texts)
    }
}
