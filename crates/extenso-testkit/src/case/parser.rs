//! Expressions from tokens.
//!
//! Invariant: what is accepted is a Python expression; recursion is at most `MAX_NESTING` deep.
//! Knows nothing of Markdown; statements are in `statement`.

mod statement;

pub(super) use statement::{Parsed, statements};

use super::lexer::{Place, Spanned, Token};
use super::{Expr, MAX_NESTING, ParseError};

/// Words that Python does not let one use as a name.
const KEYWORDS: &[&str] = &[
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
    "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise",
    "return", "try", "while", "with", "yield",
];

const AN_EXPRESSION: &str = "an expression: a literal, a name or a call";

/// Parses tokens that are one expression.
pub(super) fn expression(tokens: &[Spanned]) -> Result<Expr, ParseError> {
    let mut parser = Parser::new(tokens);
    parser.skip_newlines();
    let expr = parser.expr()?;
    parser.skip_newlines();
    match parser.token() {
        Token::End => Ok(expr),
        _ => Err(parser.wanted("the end of the expression")),
    }
}

/// Reads forward over a token list that ends in `End`, which it never passes.
struct Parser<'a> {
    tokens: &'a [Spanned],
    next: usize,
    open: usize,
}

impl<'a> Parser<'a> {
    fn new(tokens: &'a [Spanned]) -> Self {
        Self { tokens, next: 0, open: 0 }
    }

    fn expr(&mut self) -> Result<Expr, ParseError> {
        match self.token().clone() {
            Token::Mark("-") => self.negative(),
            Token::Int(digits) => self.int(&digits),
            Token::Float(value) => self.literal(Expr::Float(value)),
            Token::Str(text) => self.literal(Expr::Str(text)),
            Token::Name(name) => self.name(name),
            Token::Mark("[") => self.items("[", "]", Self::expr).map(|(items, _)| Expr::List(items)),
            Token::Mark("(") => self.group(),
            Token::Mark("{") => self.dict(),
            Token::Mark(_) | Token::Newline | Token::End => Err(self.wanted(AN_EXPRESSION)),
        }
    }

    fn literal(&mut self, expr: Expr) -> Result<Expr, ParseError> {
        self.advance();
        Ok(expr)
    }

    fn negative(&mut self) -> Result<Expr, ParseError> {
        self.advance();
        match self.token().clone() {
            Token::Int(digits) => self.int(&format!("-{digits}")),
            Token::Float(value) => self.literal(Expr::Float(-value)),
            Token::Name(name) if name == "inf" => self.literal(Expr::Float(f64::NEG_INFINITY)),
            _ => Err(self.wanted("a number or `inf` after the minus")),
        }
    }

    fn int(&mut self, text: &str) -> Result<Expr, ParseError> {
        let value = text.parse().map_err(|_| self.wanted("an integer of at most 128 bits"))?;
        self.literal(Expr::Int(value))
    }

    fn name(&mut self, name: String) -> Result<Expr, ParseError> {
        if let Some(literal) = named_literal(&name) {
            return self.literal(literal);
        }
        self.not_keyword(&name)?;
        self.advance();
        match self.token() {
            Token::Mark("(") => self.call(name),
            _ => Ok(Expr::Name(name)),
        }
    }

    fn not_keyword(&self, name: &str) -> Result<(), ParseError> {
        match KEYWORDS.contains(&name) {
            true => Err(self.wanted("a name that is not one of Python's keywords")),
            false => Ok(()),
        }
    }

    fn call(&mut self, function: String) -> Result<Expr, ParseError> {
        let (mut args, mut kwargs) = (Vec::new(), Vec::new());
        self.items("(", ")", |parser| {
            match parser.keyword(&kwargs)? {
                Some(key) => kwargs.push((key, parser.expr()?)),
                None if kwargs.is_empty() => args.push(parser.expr()?),
                None => return Err(parser.wanted("a keyword argument, as all that follow one")),
            }
            Ok(())
        })?;
        Ok(Expr::Call { function, args, kwargs })
    }

    /// Takes `key=` if it stands here.
    fn keyword(&mut self, before: &[(String, Expr)]) -> Result<Option<String>, ParseError> {
        let [Spanned { token: Token::Name(key), .. }, Spanned { token: Token::Mark("="), .. }, ..] =
            &self.tokens[self.next..]
        else {
            return Ok(None);
        };
        self.not_keyword(key)?;
        if matches!(key.as_str(), "None" | "True" | "False") || holds_key(before, key) {
            return Err(self.wanted("a keyword that this call does not have yet"));
        }
        self.advance();
        self.advance();
        Ok(Some(key.clone()))
    }

    /// Reads `(a)`, which is `a`, or a tuple.
    fn group(&mut self) -> Result<Expr, ParseError> {
        let (mut items, trailing_comma) = self.items("(", ")", Self::expr)?;
        match items.pop() {
            Some(only) if items.is_empty() && !trailing_comma => Ok(only),
            last => {
                items.extend(last);
                Ok(Expr::Tuple(items))
            }
        }
    }

    fn dict(&mut self) -> Result<Expr, ParseError> {
        let mut entries = Vec::new();
        self.items("{", "}", |parser| {
            let start = parser.spanned().clone();
            let key = parser.text("a string as key")?;
            if holds_key(&entries, &key) {
                return Err(error_at(&start, "a key that this dict does not have yet"));
            }
            parser.expect(":", "`:` after the key")?;
            entries.push((key, parser.expr()?));
            Ok(())
        })?;
        Ok(Expr::Dict(entries))
    }

    /// Reads bracketed items with commas between them, and says whether a comma stood after the last.
    fn items<T>(
        &mut self,
        open: &'static str,
        close: &'static str,
        mut item: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<(Vec<T>, bool), ParseError> {
        let line = self.place().line;
        if self.open == MAX_NESTING {
            return Err(self.wanted(format!("at most {MAX_NESTING} open brackets")));
        }
        self.expect(open, "an opening bracket")?;
        self.open += 1;
        let mut items = Vec::new();
        let mut comma = true;
        while *self.token() != Token::Mark(close) {
            if !comma {
                return Err(self.wanted(format!("`,` or `{close}` after an item of the `{open}` in line {line}")));
            }
            items.push(item(self)?);
            comma = self.take(",");
        }
        self.advance();
        self.open -= 1;
        Ok((items, comma))
    }

    fn text(&mut self, wanted: &str) -> Result<String, ParseError> {
        let Token::Str(text) = self.token().clone() else {
            return Err(self.wanted(wanted));
        };
        self.advance();
        Ok(text)
    }

    fn expect(&mut self, mark: &'static str, wanted: &str) -> Result<(), ParseError> {
        match self.take(mark) {
            true => Ok(()),
            false => Err(self.wanted(wanted)),
        }
    }

    fn take(&mut self, mark: &'static str) -> bool {
        let here = *self.token() == Token::Mark(mark);
        if here {
            self.advance();
        }
        here
    }

    fn skip_newlines(&mut self) {
        while *self.token() == Token::Newline {
            self.advance();
        }
    }

    fn advance(&mut self) {
        self.next = (self.next + 1).min(self.tokens.len() - 1);
    }

    fn spanned(&self) -> &Spanned {
        &self.tokens[self.next]
    }

    fn token(&self) -> &Token {
        &self.spanned().token
    }

    fn place(&self) -> Place {
        self.spanned().place
    }

    fn wanted(&self, wanted: impl Into<String>) -> ParseError {
        error_at(self.spanned(), wanted)
    }
}

fn named_literal(name: &str) -> Option<Expr> {
    match name {
        "None" => Some(Expr::None),
        "True" => Some(Expr::Bool(true)),
        "False" => Some(Expr::Bool(false)),
        "nan" => Some(Expr::Float(f64::NAN)),
        "inf" => Some(Expr::Float(f64::INFINITY)),
        _ => None,
    }
}

fn holds_key(entries: &[(String, Expr)], key: &str) -> bool {
    entries.iter().any(|(name, _)| name == key)
}

fn error_at(spanned: &Spanned, wanted: impl Into<String>) -> ParseError {
    let found = match &spanned.token {
        Token::Name(text) | Token::Int(text) => format!("`{text}`"),
        Token::Float(value) => format!("`{value:?}`"),
        Token::Str(_) => "a string".to_string(),
        Token::Mark(mark) => format!("`{mark}`"),
        Token::Newline => "the end of the line".to_string(),
        Token::End => "the end of the text".to_string(),
    };
    ParseError::new(spanned.place, found, wanted)
}
