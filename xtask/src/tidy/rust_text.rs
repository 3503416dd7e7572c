//! Rust source without what only looks like code: comments and literals become spaces, line by line.
//!
//! A lexer for exactly that question; it knows no other token.

/// Returns `text` with every comment and every string and character literal blanked, line breaks kept.
pub fn code(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    while let Some(&byte) = bytes.get(out.len()) {
        let at = out.len();
        match literal_end(bytes, at) {
            Some(end) => blank(&mut out, &bytes[at..end]),
            None => out.push(byte),
        }
    }
    // A blanked region begins and ends at an ASCII character, so what is left is whole characters.
    String::from_utf8_lossy(&out).into_owned()
}

fn blank(out: &mut Vec<u8>, region: &[u8]) {
    out.extend(region.iter().map(|&byte| if byte == b'\n' { b'\n' } else { b' ' }));
}

/// Returns the end of the comment or literal that starts at `at`.
fn literal_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    match rest {
        [b'/', b'/', ..] => Some(at + find(rest, 0, b"\n")),
        [b'/', b'*', ..] => Some(at + block_comment(rest)),
        [b'"', ..] => Some(at + quoted(rest, b'"')),
        [b'r', b'"' | b'#', ..] => raw_string(rest).map(|length| at + length),
        [b'\'', ..] => character(rest).map(|length| at + length),
        _ => None,
    }
}

fn find(bytes: &[u8], from: usize, wanted: &[u8]) -> usize {
    let found = bytes[from..].windows(wanted.len()).position(|window| window == wanted);
    found.map_or(bytes.len(), |at| from + at)
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (1, 2);
    while depth > 0 && at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    at
}

fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    rest.len().min(at + 1)
}

// `r#name` is an identifier; a raw string has a quote after its hashes.
fn raw_string(rest: &[u8]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|&&byte| byte == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return None;
    }
    let close = [b"\"".as_slice(), &rest[1..=hashes]].concat();
    Some(rest.len().min(find(rest, 2 + hashes, &close) + close.len()))
}

// A quote that does not close after one character starts a lifetime.
fn character(rest: &[u8]) -> Option<usize> {
    if rest.get(1) == Some(&b'\\') {
        return Some(quoted(rest, b'\''));
    }
    let first = rest.get(1..)?.iter().skip(1).take_while(|&&byte| byte & 0xC0 == 0x80).count();
    (rest.get(2 + first) == Some(&b'\'')).then_some(3 + first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let words: Vec<String> = code(text).split_whitespace().map(str::to_string).collect();
        assert_eq!(words.join(" "), expect, "{text}");
        assert_eq!(code(text).lines().count(), text.lines().count(), "{text}");
        assert_eq!(code(text).len(), text.len(), "{text}");
    }

    #[test]
    fn comments_and_literals_are_no_code() {
        check("a // b\nc", "a c");
        check("a /* b /* c */ d */ e", "a e");
        check(r#"a "b \" c" d"#, "a d");
        check("a \"b\nc\" d", "a d");
        check("a r#\"b \" c\"# d", "a d");
        check("a br\"b\\\" d", "a b d");
        check(r"a '\'' b '\u{1F}' c", "a b c");
        check("a 'é' b '\"' c", "a b c");
    }

    #[test]
    fn lifetimes_and_raw_identifiers_are_code() {
        check("fn f<'a>(x: &'a str, y: &'static T)", "fn f<'a>(x: &'a str, y: &'static T)");
        check("r#type r#\"x\"#", "r#type");
    }

    #[test]
    fn an_open_literal_ends_with_the_file() {
        for text in ["\"a", "r#\"a", "/* a", "'\\", "// a", "'", "\"\\", "r#", "r\""] {
            assert_eq!(code(text).len(), text.len(), "{text}");
        }
    }
}
