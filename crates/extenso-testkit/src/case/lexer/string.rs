//! String literals and their escapes.
//!
//! Invariant: an escape means here what it means in Python; one that Python would pass through, or that names no
//! character, is an error.
//! Has no prefixes, no triple quotes and no named characters.

use super::{Lexer, ParseError};

/// The escapes of one letter.
const ESCAPES: &[(char, char)] = &[
    ('\\', '\\'),
    ('\'', '\''),
    ('"', '"'),
    ('a', '\x07'),
    ('b', '\x08'),
    ('f', '\x0c'),
    ('n', '\n'),
    ('r', '\r'),
    ('t', '\t'),
    ('v', '\x0b'),
];

/// The escapes by hexadecimal number, with the digits that each takes.
const HEX_ESCAPES: &[(char, usize)] = &[('x', 2), ('u', 4), ('U', 8)];

impl Lexer<'_> {
    /// Reads the string literal that begins here.
    pub(super) fn string(&mut self) -> Result<String, ParseError> {
        let unclosed = ParseError::new(self.place, "a string without its end", "the closing quote on the same line");
        let quote = self.bump();
        let mut text = String::new();
        loop {
            let place = self.place;
            match self.bump() {
                next if next == quote => return Ok(text),
                Some('\\') => {
                    let escaped = self.escape();
                    text.push(escaped.ok_or_else(|| {
                        ParseError::new(place, "an escape that names no character", "one of Python's escapes")
                    })?);
                }
                Some(next) if next != '\n' => text.push(next),
                _ => return Err(unclosed),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let letter = self.peek()?;
        if letter.is_digit(8) {
            return self.digits(1, 3, 8).filter(|code| *code < 256).and_then(char::from_u32);
        }
        self.bump();
        if let Some((_, digits)) = HEX_ESCAPES.iter().find(|(name, _)| *name == letter) {
            return self.digits(*digits, *digits, 16).and_then(char::from_u32);
        }
        ESCAPES.iter().find(|(name, _)| *name == letter).map(|(_, meaning)| *meaning)
    }

    fn digits(&mut self, least: usize, most: usize, radix: u32) -> Option<u32> {
        let mut left = most;
        let digits = self.take_while(|c| {
            let taken = left > 0 && c.is_digit(radix);
            left -= usize::from(taken);
            taken
        });
        (digits.len() >= least).then(|| u32::from_str_radix(&digits, radix).ok()).flatten()
    }
}
